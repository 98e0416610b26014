"""Where the opinions come from that a meta-learner, or weights of votes, are learnt from.

*Level-one data* are opinions of members on rows that they have not seen. A plan says which rows a
member learns from and which it is then asked about, for each layer of a stack. Every plan is
checked: no row is on both sides of a split.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from committee.base.params import check_int, check_real, is_int, is_real
from committee.base.sampling import number_groups
from committee.evaluation.early_stopping import fold_rows, held_out_rows

Rows = NDArray[np.int64]
Split = tuple[Rows, Rows]
Floats = NDArray[np.float64]

_N_FOLDS = 5
_NAMES = ("prefit", "oob", "loo", "time")


@dataclass(frozen=True, eq=False)
class LevelOnePlan:
    """Which rows members learn from, and which they are asked about.

    Parameters
    ----------
    source : {"splits", "oob", "prefit"}
        Splits of the rows, out-of-bag rows where members have them, or members that are fitted
        already.
    layers : list of list of (train, test)
        The splits of each layer. With "oob" for members without out-of-bag rows.
    """

    source: str
    layers: list[list[Split]]


@dataclass(frozen=True, eq=False)
class PlanRows:
    """What a plan looks at: the rows.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    y : ndarray
        Class codes, or numbers.
    is_classifier : bool
        Whether they are codes.
    weights : ndarray of float64 or None
        A row of weight zero is absent.
    groups : array-like or None
        Rows of a group stay together.
    X : object
        The table, for splitters that look at it.
    seed : int
        Decides who is held out.
    """

    n_rows: int
    y: NDArray[Any]
    is_classifier: bool
    weights: Floats | None
    groups: Any
    X: Any
    seed: int

    @property
    def present(self) -> Rows:
        """The rows that are there."""
        if self.weights is None:
            return np.arange(self.n_rows)
        return np.flatnonzero(self.weights)

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


def check_cv(cv: Any) -> None:
    """Raise unless `cv` is one of what is accepted."""
    is_text = isinstance(cv, str)
    if cv is None or (is_text and cv in _NAMES) or (not is_text and hasattr(cv, "split")):
        return
    if is_int(cv):
        check_int("cv", cv, 2)
    elif is_real(cv):
        check_real("cv", cv, 0.0, 1.0, include_low=False, include_high=False)
    elif isinstance(cv, str) or not isinstance(cv, Iterable):
        kind = ValueError if isinstance(cv, str) else TypeError
        raise kind(
            "cv must be None, a number of folds, a share of rows to hold out between 0 and 1, "
            '"loo", "time", "oob", "prefit", a splitter or a list of (train, test) rows; got '
            f"{cv!r}"
        )


def plan_level_one(cv: Any, rows: PlanRows, n_layers: int) -> LevelOnePlan:
    """Return the plan of `n_layers` layers.

    Parameters
    ----------
    cv : object
        See `check_cv`.
    rows : PlanRows
        The rows.
    n_layers : int
        Layers of members.

    Returns
    -------
    plan : LevelOnePlan
        Splits for each layer.

    Examples
    --------
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> rows = PlanRows(6, y, True, None, None, y, seed=0)
    >>> [test.tolist() for _, test in plan_level_one(3, rows, 1).layers[0]]
    [[0, 3], [1, 4], [2, 5]]
    """
    check_cv(cv)
    if isinstance(cv, str) and cv == "prefit":
        return LevelOnePlan("prefit", [[]] * n_layers)
    if is_real(cv) and not is_int(cv):
        return LevelOnePlan("splits", _hold_out_chain(float(cv), rows, n_layers))
    is_oob = isinstance(cv, str) and cv == "oob"
    splits = _splits(None if is_oob else cv, rows)
    # Members draw rows and not groups, so groups are kept together by folds.
    source = "oob" if is_oob and rows.groups is None else "splits"
    return LevelOnePlan(source, [splits] * n_layers)


def is_forward(plan: LevelOnePlan) -> bool:
    """Whether rows are asked about that come after all those learnt from, as in time.

    Examples
    --------
    >>> early, late = np.arange(3), np.arange(3, 6)
    >>> [is_forward(LevelOnePlan("splits", [[pair]])) for pair in [(early, late), (late, early)]]
    [True, False]
    """
    splits = plan.layers[0]
    if plan.source != "splits" or not splits:
        return False
    return all(train.max() < test.min() for train, test in splits)


def _splits(cv: Any, rows: PlanRows) -> list[Split]:
    if cv is None or is_int(cv) or isinstance(cv, str):
        # A row of weight zero is absent before rows are dealt.
        present = rows.present
        y = rows.y[present]
        groups = rows.groups
        if groups is not None:
            groups = number_groups(groups, rows.n_rows)[1][present]
        splitter = _own_splitter(cv, rows.is_classifier, groups is not None)
        _check_enough(splitter, len(present))
        if isinstance(splitter, TimeSeriesSplit):
            groups = None  # looked at below
        return _checked(splitter.split(np.zeros((len(y), 1)), y, groups), rows, present)
    pairs = cv.split(rows.X, rows.y, rows.groups) if hasattr(cv, "split") else cv
    return _checked(pairs, rows, np.arange(rows.n_rows))


def _own_splitter(cv: Any, is_classifier: bool, has_groups: bool) -> Any:
    if isinstance(cv, str):
        if cv == "time":
            return TimeSeriesSplit(_N_FOLDS)
        return LeaveOneGroupOut() if has_groups else LeaveOneOut()
    n_folds = _N_FOLDS if cv is None else int(cv)
    if has_groups:
        return StratifiedGroupKFold(n_folds) if is_classifier else GroupKFold(n_folds)
    return StratifiedKFold(n_folds) if is_classifier else KFold(n_folds)


def _check_enough(splitter: Any, n_rows: int) -> None:
    n_folds = getattr(splitter, "n_splits", 2)
    if n_rows < n_folds + isinstance(splitter, TimeSeriesSplit):
        raise ValueError(
            f"cv deals the rows into {n_folds} parts, but there are only {n_rows} rows "
            f"(n_samples={n_rows}); give a smaller cv"
        )


def _checked(pairs: Iterable[Any], rows: PlanRows, places: Rows) -> list[Split]:
    """Return splits as row numbers without absent rows; raise if one would leak."""
    is_present = np.zeros(rows.n_rows, bool)
    is_present[rows.present] = True
    numbers = None if rows.groups is None else number_groups(rows.groups, rows.n_rows)[1]
    found = []
    for number, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"cv must give pairs of (train, test) rows; got {pair!r}")
        train, test = (_row_numbers(part, len(places), number) for part in pair)
        train, test = places[train], places[test]
        both = np.intersect1d(train, test)
        if len(both):
            raise ValueError(
                f"split {number} of cv tests {len(both)} rows that it also trains on (row "
                f"{both[0]} for one): members would be asked about rows that they have seen"
            )
        train, test = train[is_present[train]], test[is_present[test]]
        if numbers is not None:
            _check_groups(numbers, train, test, number)
        if len(train) and len(test):
            found.append((train, test))
    if not found:
        raise ValueError("cv gives no split with rows to train on and rows to test")
    return found


def _check_groups(numbers: NDArray[Any], train: Rows, test: Rows, number: int) -> None:
    shared = np.isin(numbers[test], numbers[train])
    if shared.any():
        raise ValueError(
            f"split {number} of cv has rows of one group on both sides (row {test[shared][0]} for "
            "one); leave groups out, or give a cv that keeps them together: a number of folds, "
            "a share of rows to hold out, or a splitter that looks at groups"
        )


def _row_numbers(part: Any, n_rows: int, number: int) -> Rows:
    rows = np.asarray(part)
    if rows.dtype.kind == "b" and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.dtype.kind not in "iu" and rows.size:
        raise TypeError(f"split {number} of cv must hold row numbers; got {rows.dtype}")
    rows = rows.astype(np.int64).ravel()
    if len(rows) and (rows.min() < 0 or rows.max() >= n_rows):
        raise ValueError(
            f"split {number} of cv must hold row numbers from 0 to {n_rows - 1}; got "
            f"{rows.min()} to {rows.max()}"
        )
    return rows


def _hold_out_chain(share: float, rows: PlanRows, n_layers: int) -> list[list[Split]]:
    """Deal the rows into one part more than there are layers.

    Each layer learns from its own part and is asked about all parts that follow.
    """
    generator = rows.generator()
    classes = rows.y.astype(np.int32) if rows.is_classifier else None
    options: dict[str, Any] = {"classes": classes, "groups": rows.groups}
    n_present = len(rows.present)
    if n_present < n_layers + 1:
        raise ValueError(
            f"a share of rows to hold out for {n_layers} layers needs more than {n_layers} rows; "
            f"got {n_present} sample(s)"
        )
    held_out = held_out_rows(rows.n_rows, share, generator, weights=rows.weights, **options)
    parts = [np.setdiff1d(rows.present, held_out), held_out]
    if n_layers > 1:
        weights = np.zeros(rows.n_rows)
        weights[held_out] = 1.0
        later = fold_rows(rows.n_rows, n_layers, generator, weights=weights, **options)
        parts = [parts[0], *later]
    if len(parts) <= n_layers:
        raise ValueError(
            f"cv={share} holds out {len(held_out)} rows, too few for {n_layers} layers; hold out "
            "a larger share"
        )
    return [
        [(parts[layer], np.sort(np.concatenate(parts[layer + 1 :])))] for layer in range(n_layers)
    ]
