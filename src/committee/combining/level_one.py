"""Level-one data: predictions of members on rows that they have not been fitted to.

A meta-learner, or weights of votes, are learnt from them. A plan has the rows that members are
fitted to and those that they predict afterwards, for each layer of a stack. Every plan is checked:
no row is on both sides of a split.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from committee.base.arrays import Floats, Rows
from committee.base.params import check_int, check_real, is_int, is_real
from committee.base.sampling import SeedUse, number_groups, parameter_seed
from committee.base.warn import warn
from committee.base.work import Progress
from committee.combining.fold_mean import FoldMean
from committee.combining.splits import Split, hold_out_chain
from committee.members.output import Output, OutputRule, has_out_of_bag
from committee.members.training import Task, TrainingData, is_own

Named = list[tuple[str, Any]]

_N_FOLDS = 5
_NAMES = ("prefit", "oob", "loo", "time")

# --- the rows of each fit -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LevelOnePlan:
    """Which rows members are fitted to, and which they predict afterwards.

    Parameters
    ----------
    source : {"splits", "oob", "prefit"}
        Splits of the rows, out-of-bag rows where members have them, or members that are fitted
        already.
    layers : list of list of (train, test)
        The splits of each layer. With "oob" for members without out-of-bag rows, none where all
        have them.
    """

    source: str
    layers: list[list[Split]]

    @property
    def is_forward(self) -> bool:
        """Whether all rows that are predicted come after those that are fitted to, as in time.

        Examples
        --------
        >>> early, late = np.arange(3), np.arange(3, 6)
        >>> pairs = [(early, late), (late, early)]
        >>> [LevelOnePlan("splits", [[pair]]).is_forward for pair in pairs]
        [True, False]
        """
        splits = self.layers[0]
        if self.source != "splits" or not splits:
            return False
        return all(train.max() < test.min() for train, test in splits)


@dataclass(frozen=True, eq=False)
class PlanRows:
    """The rows that are split.

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
        The table, for splitters that read it.
    seed : int
        Decides which rows are held out.
    """

    n_rows: int
    y: NDArray[Any]
    is_classifier: bool
    weights: Floats | None
    groups: Any
    X: Any
    seed: int

    @classmethod
    def of(cls, data: TrainingData, groups: Any, seed: int) -> PlanRows:
        """Return the rows of training data."""
        is_classifier, X = data.labels is not None, data.table.native
        own = parameter_seed(seed, SeedUse.SPLITS)
        return cls(len(data.y), data.y, is_classifier, data.weights, groups, X, own)

    @cached_property
    def present(self) -> Rows:
        """The rows that are there."""
        if self.weights is None:
            return np.arange(self.n_rows)
        return np.flatnonzero(self.weights)

    @cached_property
    def group_numbers(self) -> NDArray[Any] | None:
        """The number of the group of each row; None without groups."""
        return None if self.groups is None else number_groups(self.groups, self.n_rows)[1]


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


def plan_level_one(
    cv: Any, rows: PlanRows, n_layers: int, *, needs_folds: bool = True
) -> LevelOnePlan:
    """Return the plan of `n_layers` layers.

    Parameters
    ----------
    cv : object
        See `check_cv`.
    rows : PlanRows
        The rows.
    n_layers : int
        Layers of members.
    needs_folds : bool, default=True
        Whether there are members without out-of-bag rows, which need folds with "oob".

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
        return LevelOnePlan("splits", hold_out_chain(float(cv), rows, n_layers))
    is_oob = isinstance(cv, str) and cv == "oob"
    # Members draw rows and not groups, so groups are kept together by folds.
    source = "oob" if is_oob and rows.groups is None else "splits"
    if source == "oob" and not needs_folds:
        return LevelOnePlan(source, [[]] * n_layers)
    return LevelOnePlan(source, [_splits(None if is_oob else cv, rows)] * n_layers)


def _splits(cv: Any, rows: PlanRows) -> list[Split]:
    if cv is None or is_int(cv) or isinstance(cv, str):
        # A row of weight zero is absent before rows are dealt.
        present, groups = rows.present, rows.group_numbers
        y = rows.y[present]
        groups = None if groups is None else groups[present]
        splitter = _own_splitter(cv, y, groups, rows.is_classifier)
        if isinstance(splitter, TimeSeriesSplit):
            groups = None  # checked below
        return _checked(splitter.split(np.zeros((len(y), 1)), y, groups), rows, present)
    pairs = cv.split(rows.X, rows.y, rows.groups) if hasattr(cv, "split") else cv
    return _checked(pairs, rows, np.arange(rows.n_rows))


def _own_splitter(cv: Any, y: NDArray[Any], groups: Any, is_classifier: bool) -> Any:
    """Return the splitter that `cv` stands for, with fewer folds where there are few rows."""
    if isinstance(cv, str):
        if cv == "time":
            if len(y) < 2:
                raise ValueError(f"cv='time' needs two rows or more; got n_samples={len(y)}")
            return TimeSeriesSplit(_count_folds(_N_FOLDS, [(len(y) - 1, "later rows")]))
        return LeaveOneOut() if groups is None else LeaveOneGroupOut()
    most = [(len(y), "rows") if groups is None else (len(np.unique(groups)), "groups")]
    # Without two rows of one class there is nothing that folds could share evenly.
    n_largest = int(np.bincount(y).max()) if is_classifier else 1
    if n_largest > 1:
        most.append((n_largest, "rows of the largest class"))
    n_folds = _count_folds(_N_FOLDS if cv is None else int(cv), most)
    if groups is None:
        return StratifiedKFold(n_folds) if n_largest > 1 else KFold(n_folds)
    return StratifiedGroupKFold(n_folds) if n_largest > 1 else GroupKFold(n_folds)


def _count_folds(wanted: int, most: list[tuple[int, str]]) -> int:
    """Return how many folds there can be, of so many things; warn if they are fewer than wanted."""
    n_most, what = min(most)
    if n_most < 2:
        raise ValueError(
            f"cv deals the rows into {wanted} folds, but there are only {n_most} {what} "
            f"(n_samples={n_most}): members cannot predict rows that they have not seen"
        )
    if wanted > n_most:
        warn(
            f"cv deals the rows into {n_most} folds and not into {wanted}: there are only {n_most} "
            f"{what}"
        )
    return min(wanted, n_most)


def _checked(pairs: Iterable[Any], rows: PlanRows, places: Rows) -> list[Split]:
    """Return splits as row numbers without absent rows; raise if one would leak."""
    is_present = np.zeros(rows.n_rows, bool)
    is_present[rows.present] = True
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
                f"{both[0]} for one): members would predict rows that they have seen"
            )
        train, test = train[is_present[train]], test[is_present[test]]
        if rows.group_numbers is not None:
            _check_groups(rows.group_numbers, train, test, number)
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
            "a share of rows to hold out, or a splitter that reads groups"
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


# --- a layer of members -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FittedMember:
    """A member of a fitted layer.

    Parameters
    ----------
    estimator : estimator or None
        Fitted, to predict with; None if it was to be fitted to folds only.
    output : Output
        What it predicts.
    prediction : ndarray of float64, shape (n_rows, n_columns), or None
        The level-one data: predictions of models that were not fitted to the row, their mean where
        there are several, NaN where there is none.
    """

    estimator: Any
    output: Output
    prediction: Floats | None


@dataclass(frozen=True, eq=False)
class LevelOne:
    """A fitted layer of members and its level-one data.

    Parameters
    ----------
    members : list of FittedMember
        The members, all with predictions or all without.
    n_rows : int
        Number of rows that they were fitted to.
    """

    members: list[FittedMember]
    n_rows: int

    @property
    def estimators(self) -> list[Any]:
        return [member.estimator for member in self.members]

    @property
    def outputs(self) -> list[Output]:
        return [member.output for member in self.members]

    @property
    def predictions(self) -> list[Floats]:
        return [member.prediction for member in self.members if member.prediction is not None]

    def covered(self, weights: Floats | None) -> Rows:
        """Return the rows of positive weight on which every member has a prediction."""
        is_kept = np.ones(self.n_rows, bool) if weights is None else weights > 0
        for each in self.predictions:
            is_kept = is_kept & ~np.isnan(each).any(axis=1)
        return np.flatnonzero(is_kept)

    def kept_rows(self, weights: Floats | None) -> Rows:
        """Return the same rows; raise if there are none."""
        kept = self.covered(weights)
        if len(kept) == 0:
            raise ValueError("no row has a prediction of every member; cv leaves no level-one data")
        return kept


@dataclass(frozen=True, eq=False)
class LayerMember:
    """A member of a layer that is to be fitted.

    Parameters
    ----------
    name : str
        Its name.
    estimator : estimator
        What is copied and fitted.
    output : Output
        What it predicts.
    """

    name: str
    estimator: Any
    output: Output


def leaves_rows_out(estimator: Any, n_rows: int) -> bool:
    """Whether one fit of a member to so many rows has out-of-bag predictions."""
    return has_out_of_bag(estimator, n_rows, is_own=is_own(estimator))


def layer_members(pairs: Named, rule: OutputRule, data: TrainingData) -> list[LayerMember]:
    """Return named estimators as members of a layer."""
    return [
        LayerMember(name, each, rule.output(name, each, data.labels, data.values))
        for name, each in pairs
    ]


@dataclass(frozen=True, eq=False)
class LayerPlan:
    """How a layer of members is fitted.

    Parameters
    ----------
    members : list of LayerMember
        The members.
    source : {"splits", "oob", "prefit"}
        See `LevelOnePlan`.
    splits : list of (train, test)
        The splits of this layer.
    refit : bool, default=True
        Fit the members to all rows in the end; otherwise the models of the splits are averaged.
    wants_predictions : bool, default=True
        Without, members are fitted to all rows and nothing else.
    fits_whole : bool, default=True
        Without, members that would be fitted once more, to all rows, are None: the predictions
        decide which of them are worth a fit.
    """

    members: list[LayerMember]
    source: str
    splits: Sequence[Split]
    refit: bool = True
    wants_predictions: bool = True
    fits_whole: bool = True

    def fit(self, data: TrainingData, progress: Progress) -> LevelOne:
        """Fit the members to the rows, and gather their level-one data."""
        n_rows = len(data.y)
        if self.source == "prefit":
            return LevelOne([self._predicted(member, data) for member in self.members], n_rows)
        tasks = [self._tasks(number, data) for number in range(len(self.members))]
        with warnings.catch_warnings():
            if self.source == "oob":  # rows without an out-of-bag prediction are left out here
                warnings.filterwarnings("ignore", message="(?s).*(out-of-bag|OOB)")
            results = iter(data.run([task for own in tasks for task in own], progress))
        fitted = []
        for member, own in zip(self.members, tasks, strict=True):
            fitted.append(self._finished(member, data, [(task, *next(results)) for task in own]))
        return LevelOne(fitted, n_rows)

    def n_fits(self, n_rows: int) -> int:
        """Return the number of fits."""
        if self.source == "prefit":
            return 0
        n_each = self.wants_predictions * len(self.splits) + (self.fits_whole and self._fits_all)
        return sum(1 if self._uses_oob(member, n_rows) else n_each for member in self.members)

    @property
    def _fits_all(self) -> bool:
        """Whether members are fitted to all rows, sooner or later."""
        return self.refit or not self.wants_predictions

    def _uses_oob(self, member: LayerMember, n_rows: int) -> bool:
        is_wanted = self.wants_predictions and self.source == "oob"
        return is_wanted and leaves_rows_out(member.estimator, n_rows)

    def _tasks(self, number: int, data: TrainingData) -> list[Task]:
        member = self.members[number]
        if self._uses_oob(member, len(data.y)):
            with_oob = clone(member.estimator).set_params(oob_score=True)
            return [Task(data.template(member.name, number, with_oob))]
        template = data.template(member.name, number, member.estimator)
        tasks = [Task(template)] if self.fits_whole and self._fits_all else []
        if self.wants_predictions:
            output, keeps = member.output, not self.refit
            tasks += [
                Task(template, train, test=test, output=output, keeps=keeps)
                for train, test in self.splits
            ]
        return tasks

    def _predicted(self, member: LayerMember, data: TrainingData) -> FittedMember:
        estimator, output = member.estimator, member.output
        predicted = data.predict(estimator, output) if self.wants_predictions else None
        return FittedMember(estimator, output, predicted)

    def _finished(
        self, member: LayerMember, data: TrainingData, results: list[tuple[Task, Any, Any]]
    ) -> FittedMember:
        """Return a member from what its tasks gave: fitted estimators and predictions."""
        output = member.output
        if self._uses_oob(member, len(data.y)):
            fitted = results[0][1]
            predicted = data.out_of_bag(fitted, output)
            own = member.estimator.get_params()["oob_score"]
            return FittedMember(fitted.set_params(oob_score=own), output, predicted)
        whole = [fitted for task, fitted, _ in results if task.train is None]
        folds = [(task.test, *found) for task, *found in results if task.train is not None]
        prediction = _mean_prediction(len(data.y), folds) if self.wants_predictions else None
        if self._fits_all:
            return FittedMember(whole[0] if whole else None, output, prediction)
        models = FoldMean(output, [fitted for _, fitted, _ in folds])
        return FittedMember(models, replace(output, labels=None), prediction)


def _mean_prediction(n_rows: int, folds: Sequence[tuple[Rows | None, Any, Any]]) -> Floats:
    """Return the mean over the models that predicted a row; NaN where none did."""
    total, counts = np.zeros((n_rows, folds[0][2].shape[1])), np.zeros(n_rows)
    for test, _, predicted in folds:
        total[test] += predicted
        counts[test] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(total / counts[:, np.newaxis])
