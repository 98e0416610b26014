"""Which rows each member of an ensemble learns from.

`plan_rows` turns the parameters (with or without replacement, how many, groups, strata, portions)
into a `RowSampler` with a plan of the engine. A draw depends on the plan, a seed and the number of
the member only, so that samples are never stored: they are drawn again where they are needed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from committee._core import SamplingPlan, derive_key
from committee.base.arrays import Floats
from committee.base.params import is_int, is_real
from committee.base.warn import warn
from committee.files.codec_classes import register
from committee.files.parts import FLAG, NOTHING, Part, array, whole


class SeedUse(IntEnum):
    """What a seed of its own is made for. A new use gets a new number; no number ever changes."""

    ROWS = 1  # rows that members draw
    MEMBERS = 2  # the members themselves
    FEATURES = 3  # features that whole members draw
    VALIDATION = 7  # rows held out to stop early
    ORDERS = 8  # orders of the rows for target statistics
    FOLDS = 9  # folds that choose the number of rounds
    SPLITS = 11  # splits of the rows for out-of-fold predictions
    OUTER = 12  # the outer split of the leakage check
    BAGS = 22  # bags of members in greedy selection
    COMMITTEE_FOLDS = 31  # folds of the committee in one line
    SCORE_ESTIMATE = 32  # resamples that its score is estimated by
    IMPORTANCES = 33  # rows and orders that its importances are measured on
    DIFFICULTY = 51  # the forest that expects its errors
    LEAKS = 52  # rows that single columns are scored on
    EXPLANATION = 53  # rows and orders of its explanations
    DISTILLATION = 54  # folds that models which imitate it are scored on


def row_seed(seed: int) -> int:
    """Seed of the draws of rows."""
    return derive_key(seed, SeedUse.ROWS)


def tree_seed(seed: int) -> int:
    """Seed of the members themselves; see `member_seed`."""
    return derive_key(seed, SeedUse.MEMBERS)


def feature_seed(seed: int) -> int:
    """Seed of the draws of features for whole members."""
    return derive_key(seed, SeedUse.FEATURES)


def member_seed(seed: int, member: int) -> int:
    """Seed of one member of an ensemble, in [0, 2**64)."""
    return derive_key(tree_seed(seed), member)


def parameter_seed(seed: int, index: int) -> int:
    """Seed of one of several parameters or of a `SeedUse`, in the range that all libraries take."""
    return derive_key(seed, index) >> 33


def seeded_clone(template: Any, seed: int) -> Any:
    """Return a copy of an estimator, each of its random states set by a seed of its own."""
    member = clone(template)
    names = sorted(member.get_params())
    wanted = [name for name in names if name.split("__")[-1] == "random_state"]
    return member.set_params(**{name: parameter_seed(seed, k) for k, name in enumerate(wanted)})


@register("RowSampler")
@dataclass(frozen=True, eq=False)
class RowSampler:
    """Draws of rows for the members of an ensemble. Make one by `plan_rows`.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    seed : int
        Seed of the ensemble; each use of it derives a seed of its own.
    n_draws : int
        Rows (or groups) in a sample, counted with repetitions; the least number for portions.
    with_replacement : bool
        Whether a row may be drawn twice.
    n_portions : int
        Into how many portions the rows are dealt out; 0 if samples are drawn.
    balanced : bool
        Whether each stratum gets the same number of draws.
    unit_of_row : ndarray of uint32 or None
        The group of each row; None if rows are drawn one by one.
    unit_weights : ndarray of float64 or None
        Draw probabilities of the units (rows or groups), up to a factor.
    unit_strata : ndarray of int32 or None
        Stratum of each unit.
    numbers : ndarray of int64 or None
        The numbers under which the members of a pruned ensemble made their draws; None if each is
        its place.

    Examples
    --------
    >>> sampler = plan_rows(6, seed=0)
    >>> int(sampler.counts(0).sum()), len(sampler.rows(1))
    (6, 6)
    """

    n_rows: int
    seed: int
    n_draws: int
    with_replacement: bool = True
    n_portions: int = 0
    balanced: bool = False
    unit_of_row: NDArray[np.uint32] | None = None
    unit_weights: Floats | None = None
    unit_strata: NDArray[np.int32] | None = None
    numbers: NDArray[np.int64] | None = None

    _later_fields: ClassVar[tuple[str, ...]] = ("numbers",)
    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_rows": whole(1, 2**32 - 1),
        "seed": whole(),
        "n_draws": whole(0, 2**32 - 1),
        "with_replacement": FLAG,
        "n_portions": whole(0, 2**32 - 1),
        "balanced": FLAG,
        "unit_of_row": NOTHING | array("u4", "rows"),
        "unit_weights": NOTHING | array("f8", "units", low=0.0, finite=True),
        "unit_strata": NOTHING | array("i4", "units"),
        "numbers": NOTHING | array("i8", None, low=0),
    }

    @cached_property
    def plan(self) -> SamplingPlan:
        """What may be drawn, for the engine."""
        members, shares = self._strata
        return SamplingPlan(
            self.n_rows,
            list(zip(members, shares, strict=True)),
            unit_of_row=self.unit_of_row,
            unit_weights=self.unit_weights,
            with_replacement=self.with_replacement or self.n_portions > 0,
            n_portions=self.n_portions,
        )

    def check_columns(self, n_features: int, n_members: int) -> None:
        """Raise ValueError unless loaded draws are of so many features, for so many members."""
        numbers = self.numbers
        if self.n_rows != n_features or (numbers is not None and len(numbers) < n_members):
            raise ValueError("the drawn features do not fit the table or the members")
        if n_members and not len(self.rows(0)):  # the plan refuses what cannot be drawn
            raise ValueError("members have drawn no features")

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a row that may be drawn can be missing from a sample."""
        if self.n_portions:
            return self.n_portions > 1
        present = self._present
        if not self.with_replacement:
            return self.n_draws < len(present)
        _, shares = self._strata
        return len(present) > len(shares)  # some stratum has a choice

    def counts(self, member: int) -> NDArray[np.uint32]:
        """Return how often a member draws each row."""
        return self.plan.draw(row_seed(self.seed), self.origin(member)[1])

    def picked(self, members: NDArray[np.int64]) -> RowSampler:
        """Return the draws of some members, who are now numbered 0, 1, ..."""
        return replace(self, numbers=members if self.numbers is None else self.numbers[members])

    def origin(self, member: int) -> tuple[int, int]:
        """Return the seed of the ensemble that a member was made in, and its number there."""
        return self.seed, member if self.numbers is None else int(self.numbers[member])

    def rows(self, member: int) -> NDArray[np.int64]:
        """Return the rows of a member in ascending order, a row drawn twice twice."""
        counts = self.counts(member)
        return np.repeat(np.arange(len(counts)), counts)

    def draws_like(self, other: object) -> bool:
        """Whether both draw the same samples."""
        return isinstance(other, RowSampler) and all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
        )

    @property
    def _present(self) -> NDArray[np.uint32]:
        """Units that may be drawn."""
        if self.unit_weights is not None:
            return np.flatnonzero(self.unit_weights > 0).astype(np.uint32)
        n_units = self.n_rows if self.unit_of_row is None else int(self.unit_of_row.max()) + 1
        return np.arange(n_units, dtype=np.uint32)

    @property
    def _strata(self) -> tuple[list[NDArray[np.uint32]], list[int]]:
        return _split_strata(
            self._present, self.unit_strata, self.unit_weights, self.n_draws, self.balanced
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # The plan belongs to the engine and is made again.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def _validate_loaded(self) -> None:
        units = self.unit_of_row
        n_units = self.n_rows if units is None else int(units.max()) + 1
        if n_units > self.n_rows or (units is not None and len(units) != self.n_rows):
            raise ValueError("the groups do not fit the rows")
        for each in (self.unit_weights, self.unit_strata):
            if each is not None and len(each) != n_units:
                raise ValueError("the weights or strata do not fit the rows")
        if self.unit_weights is not None and not self.unit_weights.any():
            raise ValueError("all weights are zero")


def sample_size(max_samples: Any, n_units: int, total: float, *, most: int | None = None) -> int:
    """Return how many units to draw.

    Parameters
    ----------
    max_samples : int, float or None
        None draws as many as there are, an int that many, a float that share of `total`; shares
        above one are fine.
    n_units : int
        Units there are.
    total : float
        Sum of the weights, `n_units` without weights.
    most : int or None
        The largest possible number, for draws without replacement.

    Returns
    -------
    n_draws : int
        At least one.

    Examples
    --------
    >>> sample_size(0.5, 10, 10.0), sample_size(None, 10, 10.0), sample_size(1.6, 10, 10.0)
    (5, 10, 16)
    """
    accepted = "None, an int >= 1 or a float > 0"
    if max_samples is None:
        n_draws = n_units if most is None else min(n_units, most)
    elif is_int(max_samples):
        n_draws = int(max_samples)
    elif is_real(max_samples):
        if not 0 < max_samples < np.inf:
            raise ValueError(f"max_samples must be {accepted}; got {max_samples!r}")
        n_draws = int(max(min(float(max_samples) * total, 2.0**31), 1))
        _warn_of_small_weights(max_samples, n_draws, n_units, total)
    else:
        raise TypeError(f"max_samples must be {accepted}; got {max_samples!r}")
    if n_draws < 1:
        raise ValueError(f"max_samples must be {accepted}; got {max_samples!r}")
    if n_draws >= 2**31:
        raise ValueError(f"max_samples must ask for less than 2**31 rows; got {max_samples!r}")
    if most is not None and n_draws > most:
        raise ValueError(
            f"max_samples={max_samples!r} asks for {n_draws} rows (or groups), but without "
            f"replacement at most {most} can be drawn, those of positive weight; lower max_samples "
            "or set bootstrap=True"
        )
    return n_draws


def _warn_of_small_weights(max_samples: float, n_draws: int, n_units: int, total: float) -> None:
    # Weights that add up to one are common, and a share of their sum is then next to nothing.
    if total < n_units and n_draws < min(max(10.0, n_units ** (1 / 3)), max_samples * n_units - 1):
        warn(
            f"max_samples={max_samples!r} is a share of the sum of sample_weight, {total:.4g}: "
            f"each sample has only {n_draws} of {n_units} rows (or groups). Scale the weights, or "
            "pass max_samples as an int"
        )


def plan_rows(
    n_rows: int,
    seed: int,
    *,
    bootstrap: bool = True,
    max_samples: Any = None,
    weights: Floats | None = None,
    groups: Any = None,
    strata: NDArray[np.int32] | None = None,
    balanced: bool = False,
    n_portions: int = 0,
) -> RowSampler:
    """Plan the draws of rows.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    seed : int
        Seed of the ensemble.
    bootstrap : bool
        With replacement, or without ("pasting").
    max_samples : int, float or None
        Size of a sample, see `sample_size`; in groups when there are groups.
    weights : ndarray of float64 or None
        Draw probabilities, up to a factor. Rows of weight zero are never drawn; a group has the
        sum of its rows.
    groups : array-like or None
        Rows with the same value are drawn together.
    strata : ndarray of int32 or None
        Codes 0, 1, ...: each stratum keeps its share of the sample.
    balanced : bool
        Each stratum gets the same number of draws instead.
    n_portions : int
        Deal the rows out to this many members, so that no row is in two of them; 0 draws.

    Returns
    -------
    sampler : RowSampler
        Samples of the members.

    Examples
    --------
    >>> sampler = plan_rows(6, seed=0, bootstrap=False, max_samples=3)
    >>> [int(sampler.counts(member).sum()) for member in range(3)]
    [3, 3, 3]
    """
    units: NDArray[np.uint32] | None = None
    n_units, unit_weights, unit_strata = n_rows, weights, strata
    if groups is not None:
        n_units, units = number_groups(groups, n_rows)
        if weights is not None:
            unit_weights = np.bincount(units, weights, n_units).astype(np.float64)
        if strata is not None:
            unit_strata = _strata_of_groups(strata, units, n_units)
    n_present = n_units if unit_weights is None else int((unit_weights > 0).sum())
    total = float(n_units if unit_weights is None else unit_weights.sum())
    if n_portions:
        if n_portions > n_present:
            raise ValueError(
                f"cannot deal {n_present} rows (or groups) out to {n_portions} members; "
                "n_estimators must not be larger than their number"
            )
        n_draws = n_present // n_portions
    else:
        n_draws = sample_size(max_samples, n_units, total, most=None if bootstrap else n_present)
    sampler = RowSampler(
        n_rows,
        seed,
        n_draws,
        bool(bootstrap),
        n_portions,
        balanced,
        units,
        unit_weights,
        unit_strata,
    )
    if not bootstrap and not n_portions:
        _check_shares(*sampler._strata)
    return sampler


def number_groups(groups: Any, n_rows: int) -> tuple[int, NDArray[np.uint32]]:
    """Return how many groups there are, and the group of each row.

    Examples
    --------
    >>> number_groups(["b", "a", "b"], 3)
    (2, array([1, 0, 1], dtype=uint32))
    """
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(
            f"groups must have one entry a row, shape ({n_rows},); got shape {values.shape}"
        )
    if values.dtype.kind == "O":
        # Objects of several types have no order; missing ones are unequal to themselves, or None.
        cells = values.tolist()
        if any(cell is None or type(cell).__name__ == "NAType" or cell != cell for cell in cells):
            raise _missing_group()
        code_of: dict[Any, int] = {}
        codes = [code_of.setdefault(cell, len(code_of)) for cell in cells]
        return len(code_of), np.array(codes, np.uint32)
    if (values.dtype.kind == "f" and np.isnan(values).any()) or (
        values.dtype.kind in "mM" and np.isnat(values).any()
    ):
        raise _missing_group()
    labels, numbers = np.unique(values, return_inverse=True)
    return len(labels), numbers.astype(np.uint32)


def _missing_group() -> ValueError:
    return ValueError("groups must not hold missing values; give such rows a group of their own")


def _strata_of_groups(
    strata: NDArray[np.int32], units: NDArray[np.uint32], n_units: int
) -> NDArray[np.int32]:
    """Return the stratum of each group: the one most of its rows belong to."""
    n_strata = int(strata.max()) + 1
    pairs = units.astype(np.int64) * n_strata + strata
    votes = np.bincount(pairs, minlength=n_units * n_strata).reshape(n_units, n_strata)
    return np.asarray(votes.argmax(axis=1), np.int32)


def _split_strata(
    present: NDArray[np.uint32],
    strata: NDArray[np.int32] | None,
    weights: Floats | None,
    n_draws: int,
    balanced: bool,
) -> tuple[list[NDArray[np.uint32]], list[int]]:
    """Return the units of each stratum and how many of them are drawn."""
    if strata is None:
        return [present], [n_draws]
    codes = strata[present]
    members = [present[codes == code] for code in np.unique(codes)]
    sizes = np.array(
        [len(each) if weights is None else weights[each].sum() for each in members], np.float64
    )
    shares = np.full(len(members), 1 / len(members)) if balanced else sizes / sizes.sum()
    # Largest remainders: whole numbers that add up to n_draws.
    exact = shares * n_draws
    counts = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - counts), kind="stable")
    counts[order[: n_draws - int(counts.sum())]] += 1
    return members, [int(count) for count in counts]


def _check_shares(members: list[NDArray[np.uint32]], shares: list[int]) -> None:
    for units, share in zip(members, shares, strict=True):
        if share > len(units):
            raise ValueError(
                f"a stratum has {len(units)} rows (or groups), fewer than the {share} to draw "
                "without replacement; lower max_samples or set bootstrap=True"
            )


def plan_features(
    n_features: int, seed: int, n_drawn: int, *, bootstrap: bool = False
) -> RowSampler:
    """Plan draws of features for whole members: random subspaces.

    Examples
    --------
    >>> sampler = plan_features(5, seed=1, n_drawn=2)
    >>> len(sampler.rows(0))
    2
    """
    return RowSampler(n_features, feature_seed(seed), n_drawn, bool(bootstrap))
