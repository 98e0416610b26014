"""Rows that no tree learns from: which they are, what is known of them by round, when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.base.sampling import number_groups
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.evaluation.training_log import TrainingLog
from committee.losses.objective import Objective


def held_out_rows(
    n_rows: int,
    fraction: float,
    generator: np.random.Generator,
    *,
    weights: Floats | None = None,
    classes: NDArray[np.int32] | None = None,
    groups: Any = None,
    last: bool = False,
) -> Rows:
    """Choose the rows of an inner validation part.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    fraction : float
        Share of the rows to hold out.
    generator : numpy Generator
        What draws them.
    weights : ndarray of float64 or None
        Only rows of positive weight are held out.
    classes : ndarray of int32 or None
        Class codes: each class keeps its share, and stays in training.
    groups : array-like or None
        Rows with the same value are kept together; the size of a group is its weight, so that
        a row of weight two counts as the row twice.
    last : bool, default=False
        Hold out the last rows instead: the table is in the order of time.

    Returns
    -------
    rows : ndarray of int
        Ascending; some rows are always left to learn from.

    Examples
    --------
    >>> held_out_rows(10, 0.2, np.random.default_rng(0), last=True).tolist()
    [8, 9]
    """
    rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights)
    if len(rows) < 2:
        raise ValueError(
            f"early stopping needs rows to validate on; got {len(rows)} sample(s) in all. Set "
            "early_stopping=False or give eval_set"
        )
    if last:
        return rows[-_share(len(rows), fraction) :]
    if groups is not None:
        return _some_groups(rows, _Groups.of(rows, groups, n_rows, weights), fraction, generator)
    if classes is None:
        return np.sort(generator.permutation(rows)[: _share(len(rows), fraction)])
    parts = []
    for code in np.unique(classes[rows]):
        of_class = generator.permutation(rows[classes[rows] == code])
        parts.append(of_class[: min(round(fraction * len(of_class)), len(of_class) - 1)])
    held_out = np.sort(np.concatenate(parts))
    # Where every class is tiny, any row is better than none.
    return held_out if len(held_out) else generator.permutation(rows)[:1]


def _share(n: int, fraction: float) -> int:
    return min(max(round(fraction * n), 1), n - 1)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of rows: the number of each row's group, and the weight of each group."""

    numbers: NDArray[np.uint32]
    sizes: Floats

    @classmethod
    def of(cls, rows: Rows, groups: Any, n_rows: int, weights: Floats | None) -> _Groups:
        """Return the groups of the rows that are there, two or more."""
        n_groups, numbers = number_groups(groups, n_rows)
        numbers = numbers[rows]
        own = np.ones(len(rows)) if weights is None else weights[rows]
        if len(np.unique(numbers)) < 2:
            raise ValueError(
                "groups must have two groups or more, one of them to validate on; got one"
            )
        return cls(numbers, np.bincount(numbers, own, n_groups).astype(np.float64))

    def drawn(self, generator: np.random.Generator) -> NDArray[np.uint32]:
        """Return the groups that have rows, in random order."""
        return generator.permutation(np.unique(self.numbers))


def _some_groups(
    rows: Rows, groups: _Groups, fraction: float, generator: np.random.Generator
) -> Rows:
    """Take whole groups, in drawn order, until they hold the wanted share of the weight."""
    order = groups.drawn(generator)
    sizes = groups.sizes[order]
    before = np.cumsum(sizes) - sizes
    n_taken = max(1, min(int((before < fraction * sizes.sum()).sum()), len(order) - 1))
    return rows[np.isin(groups.numbers, order[:n_taken])]


def fold_rows(
    n_rows: int,
    n_folds: int,
    generator: np.random.Generator,
    *,
    weights: Floats | None = None,
    classes: NDArray[np.int32] | None = None,
    groups: Any = None,
) -> list[Rows]:
    """Deal rows into parts that are held out in turns.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    n_folds : int
        Number of parts, two or more; there are fewer if there are not enough rows or groups.
    generator : numpy Generator
        What deals them.
    weights : ndarray of float64 or None
        Only rows of positive weight are held out, of which there are two or more.
    classes : ndarray of int32 or None
        Class codes: each part has its share of each class. The only row of a class is not held out.
    groups : array-like or None
        Rows with the same value are kept together; the size of a group is its weight, so that
        a row of weight two counts as the row twice.

    Returns
    -------
    parts : list of ndarray of int
        Ascending rows of each part, none of them empty.

    Examples
    --------
    >>> parts = fold_rows(7, 3, np.random.default_rng(0))
    >>> [len(part) for part in parts]
    [3, 2, 2]
    """
    rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights)
    if groups is not None:
        numbers = _folds_of_groups(_Groups.of(rows, groups, n_rows, weights), n_folds, generator)
    else:
        order = generator.permutation(len(rows))
        if classes is not None:
            codes = classes[rows]
            order = order[np.argsort(codes[order], kind="stable")]
            is_alone = (np.bincount(codes) == 1)[codes[order]]
            # Where every class has one row, any row is better than none.
            order = order if is_alone.all() else order[~is_alone]
        numbers = np.full(len(rows), -1)
        numbers[order] = np.arange(len(order)) % n_folds
    parts = [rows[numbers == number] for number in range(n_folds)]
    return [part for part in parts if len(part)]


def _folds_of_groups(groups: _Groups, n_folds: int, generator: np.random.Generator) -> Rows:
    """Return the fold of each row: groups go, the heaviest first, where there is least weight."""
    order, sizes = groups.drawn(generator), groups.sizes
    folds, filled = np.zeros(len(sizes), np.intp), np.zeros(n_folds)
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        folds[group] = filled.argmin()
        filled[folds[group]] += sizes[group]
    return folds[groups.numbers]


@dataclass(eq=False)
class Watch:
    """Validation rows, and what is known of them after each round.

    Parameters
    ----------
    objective : Objective
        Target and weights of these rows, with the loss that measures them.
    target : ScoredTarget
        The same for a scorer.
    scoring : str, callable or None
        The scorer; None is the loss.
    rows : ndarray of int or None
        The rows of the training table; None for a table of their own.
    table : object
        That table, as the learner reads it.
    scores : ndarray of float64 or None
        Scores of that table, Fortran-ordered; they grow with the model.
    """

    objective: Objective
    target: ScoredTarget
    scoring: Any = None
    rows: Rows | None = None
    table: Any = None
    scores: Floats | None = None

    def look(self, train_scores: Floats) -> dict[str, float]:
        """Return the entries of the log: loss, and score where there is a scorer."""
        if self.rows is None:
            assert self.scores is not None
            scores = self.scores
        else:
            scores = np.asfortranarray(train_scores[self.rows])
        entries = {"validation_loss": self.objective.mean_loss(scores)}
        if self.scoring is not None:
            entries["validation_score"] = self._score(scores)
        return entries

    def _score(self, scores: Floats) -> float:
        if self.target.classes:
            values = self.objective.probabilities(scores)[:, : self.target.n_values]
        else:
            values = self.objective.predictions(scores)
            values = values[:, np.newaxis] if values.ndim == 1 else values
        return self._metric.score(values, self._counted)

    @cached_property
    def _metric(self) -> OobMetric:
        return OobMetric(self.target, self.scoring, "scoring")

    @cached_property
    def _counted(self) -> Rows:
        return np.flatnonzero(self.target.counted)

    def history(self, log: TrainingLog) -> Floats:
        """Return what should fall after each round of a log."""
        return log.validation_loss if self.scoring is None else -log.validation_score

    def badness(self, entries: dict[str, float], n_rounds: int) -> float:
        """Return what should fall: the loss, or minus the score; ValueError if it is NaN."""
        name = "validation_loss" if self.scoring is None else "validation_score"
        value = entries[name]
        if np.isnan(value):
            what = (
                f"the loss {self.objective.losses[0]!r}"
                if self.scoring is None
                else f"scoring={self.scoring!r}"
            )
            raise ValueError(
                f"{what} gave NaN for the validation rows in round {n_rounds}; if it needs rows of "
                "every class, give an eval_set that has them, or leave scoring=None"
            )
        return value if self.scoring is None else -value


class Stopper:
    """Keeps the best round, and stops when there has been none for too long.

    Parameters
    ----------
    patience : int or None
        Rounds without an improvement of `tol` that end the fit; None never ends it.
    tol : float
        Least improvement that counts.
    first : int, default=0
        Rounds that there are already.

    Examples
    --------
    >>> stopper = Stopper(2, 0.0)
    >>> [stopper.add(value) for value in (3.0, 2.0, 2.5, 2.2)], stopper.best
    ([False, False, False, True], 2)
    """

    def __init__(self, patience: int | None, tol: float, first: int = 0) -> None:
        self._patience, self._tol = patience, tol
        self._n_rounds = first
        self.best = first
        self._least, self._goal = np.inf, np.inf
        self._since = 0

    def add(self, badness: float) -> bool:
        """Count one more round; return whether to stop."""
        self._n_rounds += 1
        if badness < self._least:
            self._least, self.best = badness, self._n_rounds
        if badness < self._goal:
            self._goal, self._since = badness - self._tol, 0
        else:
            self._since += 1
        return self.is_out_of_patience

    @property
    def is_out_of_patience(self) -> bool:
        """Whether there has been no improvement for too long."""
        return self._patience is not None and self._since >= self._patience
