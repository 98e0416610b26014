"""Columns that give the target away: one of them alone predicts unseen rows almost perfectly.

Each column is cut into bins of its values, and the mean target of a bin on the rows outside of a
fold predicts the rows of the fold. What this explains of the target (of its ranks, for numbers) is
the score of the column: R2, or one minus the Brier score over that of the shares of the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.columns import ColumnUse
from committee.base.arrays import Floats, Rows
from committee.evaluation.scored_target import ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, one_of, real
from committee.tables.column import Column
from committee.tables.source import Matrix, Source

_LEAST_ROWS = 30
# Scores from which on a column is named: one wrong class in a hundred costs four times as much as
# one percent of noise. The best honest column of 25 real tables has 0.93 of a number, 0.54 of a
# class.
_SUSPICIOUS_NUMBER, _SUSPICIOUS_CLASS = 0.98, 0.95
_MOST_ROWS, _FEW_ROWS = 20_000, 300
_BIN_ROWS, _MOST_BINS = 8, 2048
_MOST_CELLS = 2**20  # bins times classes
_PRIOR = 0.1  # rows that the overall mean counts as in each bin
_BLOCK = 1000  # columns that are looked at together
_COLUMN_COST, _ROW_COST = 1e-4, 1.5e-7  # units of a column, and of a row of it


@register("auto.Leak")
@dataclass(frozen=True)
class Leak:
    """A column that gives the target away.

    Attributes
    ----------
    name : str
        Of the column.
    kind : {"equal", "order", "alone"}
        It says the same as the target; it numbers rows that are sorted by the target; or it
        predicts the target in another way.
    score : float
        What the column alone explains of the target of unseen rows; one is all.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "name": TEXT,
        "kind": one_of("equal", "order", "alone"),
        "score": real(),
    }

    name: str
    kind: str
    score: float

    def __str__(self) -> str:
        """Return what is wrong, in words."""
        if self.kind == "equal":
            return f"the column {self.name!r} says the same as the target"
        if self.kind == "order":
            return (
                f"the column {self.name!r} numbers rows that are sorted by the target, and "
                f"predicts it almost perfectly (score {self.score:.3f} of 1)"
            )
        return (
            f"the column {self.name!r} alone predicts the target of unseen rows almost perfectly "
            f"(score {self.score:.3f} of 1)"
        )


@dataclass(frozen=True, eq=False)
class LeakSearch:
    """The rows that single columns are scored on.

    Parameters
    ----------
    features : Source
        What models see.
    target : ScoredTarget
        The target of the same rows.
    folds : ndarray of int
        The fold of each row; copies of a row have to be in one.
    n_folds : int
        Number of folds.
    """

    features: Source
    target: ScoredTarget
    folds: NDArray[np.int64]
    n_folds: int

    @classmethod
    def of(
        cls,
        features: Source,
        target: ScoredTarget,
        tests: Sequence[Rows],
        n_columns: int,
        units: float,
        seed: int,
    ) -> LeakSearch:
        """Take so many rows that scoring the columns does not cost more than some units."""
        folds = np.full(target.n_rows, -1, np.int64)
        for number, test in enumerate(tests):
            folds[test] = number
        n_folds = len(tests)
        if n_folds < 2:  # one part was held out: copies in several folds are put up with
            folds, n_folds = np.arange(target.n_rows) % 3, 3
        fitting = (units / max(n_columns, 1) - _COLUMN_COST) / _ROW_COST
        most = int(np.clip(fitting, _FEW_ROWS, _MOST_ROWS))
        if target.n_rows > most:
            rows = np.sort(np.random.default_rng(seed).permutation(target.n_rows)[:most])
            features, target, folds = features.take(rows, None), target.part(rows), folds[rows]
        return cls(features, target, folds, n_folds)

    def run(self, uses: Sequence[ColumnUse], units: float) -> tuple[Leak, ...]:
        """Return the columns that give the target away.

        Where the units do not suffice for all columns, those are scored that are most correlated
        with the target.
        """
        used = sum(use.use != "dropped" for use in uses)
        if self.target.n_rows < _LEAST_ROWS or used < 2:
            return ()  # the only column is what there is to predict from
        truth = _Truth.of(self.target)
        places = _feature_places(uses)
        each = _COLUMN_COST + _ROW_COST * self.target.n_rows
        n_most = max(int(units / each), 50)
        if sum(len(found) for found in places) > n_most:
            places = self._most_correlated(places, truth, n_most)
        leaks = []
        for use, own in zip(uses, places, strict=True):
            scores = [self._score(self.features.column(place), truth) for place in own]
            best = max(scores, default=0.0)
            if best >= truth.suspicious:
                column = self.features.column(own[int(np.argmax(scores))])
                leaks.append(Leak(use.name, self._kind(column, truth), best))
        return tuple(leaks)

    def _score(self, column: Column, truth: _Truth) -> float:
        """Return what a column explains on rows of other folds; zero if it is little."""
        n_most = max(8, min(_MOST_BINS, truth.n_rows // _BIN_ROWS, _MOST_CELLS // truth.n_values))
        bins = _bins(column, n_most)
        if truth.explained(bins, None, 1) < truth.suspicious:
            return 0.0
        return truth.explained(bins, self.folds, self.n_folds)

    def _kind(self, column: Column, truth: _Truth) -> str:
        missing = column.missing()
        if not missing.any():
            if self.target.codes is not None:
                values = np.unique(column.values, return_inverse=True)[1]
                pairs = len(np.unique(np.column_stack([values, truth.codes]), axis=0))
                if pairs == values.max() + 1 == truth.n_values:
                    return "equal"
            elif column.levels is None and self.target.reals is not None:
                y = self.target.reals[:, 0]
                if abs(_correlation(np.asarray(column.values, np.float64), y)) > 1 - 1e-12:
                    return "equal"
        values = np.asarray(column.values, np.float64)
        if column.levels is None and not missing.any():
            steps = np.diff(values)
            if (values == np.floor(values)).all() and ((steps > 0).all() or (steps < 0).all()):
                return "order"
        return "alone"

    def _most_correlated(
        self, places: list[list[int]], truth: _Truth, n_most: int
    ) -> list[list[int]]:
        flat = [place for own in places for place in own]
        rows = np.arange(0, truth.n_rows, max(1, truth.n_rows // _FEW_ROWS))
        values = truth.values[rows]
        sizes = np.zeros(len(flat))
        for begin in range(0, len(flat), _BLOCK):
            block = flat[begin : begin + _BLOCK]
            cells = self._cells(block, rows)
            each = [np.abs(_correlations(cells, values[:, k])) for k in range(values.shape[1])]
            sizes[begin : begin + _BLOCK] = np.max(each, axis=0)
            is_category = np.isnan(cells).all(axis=0)  # codes have no order: all are judged
            sizes[begin : begin + _BLOCK][is_category] = np.inf
        kept = {flat[k] for k in np.argsort(-sizes, kind="stable")[:n_most].tolist()}
        return [[place for place in own if place in kept] for own in places]

    def _cells(self, places: list[int], rows: Rows) -> Floats:
        """Return columns of numbers, zero where they are not finite; of categories all are NaN."""
        if isinstance(self.features, Matrix):
            cells = np.asarray(self.features.values[np.ix_(rows, np.array(places))], np.float64)
            return np.nan_to_num(cells, posinf=0.0, neginf=0.0)
        columns = [self.features.column(place) for place in places]
        found = np.full((len(rows), len(places)), np.nan)
        for place, column in enumerate(columns):
            if column.levels is None:
                cells = np.asarray(column.values[rows], np.float64)
                found[:, place] = np.nan_to_num(cells, posinf=0.0, neginf=0.0)
        return found


@dataclass(frozen=True, eq=False)
class _Truth:
    """The target as numbers: ranks of one, or the classes.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_values)
        Ranks; of classes, the first few as columns of 0 and 1, to compute correlations with.
    codes : ndarray of int64
        Classes; zeros for numbers.
    weights : ndarray of float64
        Of the rows.
    n_values : int
        Number of classes, 1 for numbers.
    """

    values: Floats
    codes: NDArray[np.int64]
    weights: Floats
    n_values: int

    @classmethod
    def of(cls, target: ScoredTarget) -> _Truth:
        weights = np.ones(target.n_rows) if target.weights is None else target.weights
        if target.codes is not None:
            codes = target.codes[:, 0].astype(np.int64)
            n_classes = len(target.classes[0])
            values = np.eye(n_classes)[codes][:, : min(n_classes, 10)]
            return cls(values, codes, weights, n_classes)
        _, places, counts = np.unique(target.table[:, 0], return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts + 1) / 2)[places]  # equal ones share a rank
        ranks = (ranks - ranks.mean()) / max(ranks.std(), 1e-300)
        return cls(ranks[:, np.newaxis], np.zeros(len(ranks), np.int64), weights, 1)

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def suspicious(self) -> float:
        """The score from which on a column is named."""
        return _SUSPICIOUS_NUMBER if self.n_values == 1 else _SUSPICIOUS_CLASS

    def explained(
        self, bins: NDArray[np.int64], folds: NDArray[np.int64] | None, n_folds: int
    ) -> float:
        """Return the share of the target that means of bins explain, without the own fold."""
        n_bins, n_values = int(bins.max()) + 1, self.n_values
        cells = bins * n_values + self.codes
        amounts = self.weights if n_values > 1 else self.weights * self.values[:, 0]
        sums = np.bincount(cells, amounts, minlength=n_bins * n_values).reshape(n_bins, n_values)
        counts = np.bincount(bins, self.weights, minlength=n_bins)
        prior = sums.sum(axis=0) / counts.sum()
        errors, everything = 0.0, 0.0
        for fold in range(n_folds):
            if folds is None:
                test = np.arange(self.n_rows)
                means = sums / np.maximum(counts, 1e-300)[:, np.newaxis]
            else:
                test = np.flatnonzero(folds == fold)
                own = np.bincount(cells[test], amounts[test], minlength=n_bins * n_values)
                rest = counts - np.bincount(bins[test], self.weights[test], minlength=n_bins)
                above = sums - own.reshape(n_bins, n_values) + _PRIOR * prior
                means = above / (rest + _PRIOR)[:, np.newaxis]
            errors += self._loss(means, bins, test)
            everything += self._loss(np.broadcast_to(prior, means.shape), bins, test)
        return 1.0 - errors / everything if everything > 0 else 0.0

    def _loss(self, means: Floats, bins: NDArray[np.int64], test: Rows) -> float:
        """Return the weighted squared error on some rows, given the means of bins."""
        weights = self.weights[test]
        if self.n_values == 1:
            return float((weights * (self.values[test, 0] - means[bins[test], 0]) ** 2).sum())
        squares = (means**2).sum(axis=1)[bins[test]]
        own = means[bins[test], self.codes[test]]
        return float((weights * (1.0 - 2.0 * own + squares)).sum())


def _bins(column: Column, n_most: int) -> NDArray[np.int64]:
    """Return a number for each cell: its value, or one of so many ranges of equal size."""
    missing = column.missing()
    if column.levels is not None:
        return np.where(missing, len(column.levels), column.values).astype(np.int64)
    values = np.where(missing, 0, column.values) if missing.any() else column.values
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.r_[True, ordered[1:] != ordered[:-1]]
    if starts.sum() <= n_most:
        numbers = np.cumsum(starts) - 1
    else:  # equal values stay together
        first = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
        numbers = first * n_most // len(order)
    bins = np.empty(len(order), np.int64)
    bins[order] = numbers
    bins[missing] = numbers.max() + 1
    return bins


def _feature_places(uses: Sequence[ColumnUse]) -> list[list[int]]:
    """Return the places of the features of each column."""
    places, first = [], 0
    for use in uses:
        places.append(list(range(first, first + len(use.parts))))
        first += len(use.parts)
    return places


def _correlation(left: Floats, right: Floats) -> float:
    return float(_correlations(left[:, np.newaxis], right)[0])


def _correlations(left: Floats, right: Floats) -> Floats:
    """Return the correlation of each column with a number; zero where there is none."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        a, b = left - left.mean(axis=0), right - right.mean()
        below = np.sqrt((a * a).sum(axis=0) * (b * b).sum())
        found = (a * b[:, np.newaxis]).sum(axis=0) / below
    return np.where((below > 0) & np.isfinite(below), found, 0.0)


def noted(uses: Sequence[ColumnUse], leaks: Sequence[Leak]) -> tuple[ColumnUse, ...]:
    """Return what was done to columns, with a note on those that give the target away."""
    known = {leak.name: leak for leak in leaks}
    found = []
    for use in uses:
        if use.name in known:
            leak = known[use.name]
            note = f"gives the target away (score {leak.score:.3f} of 1)"
            use = replace(use, note=f"{use.note}; {note}" if use.note else note)
        found.append(use)
    return tuple(found)
