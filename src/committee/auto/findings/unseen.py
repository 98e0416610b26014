"""Predictions of the training rows by models that have not seen them: what all findings rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.tables.column import Column
from committee.tables.source import Columns, Matrix, Source

_MOST_ROWS = 20_000  # that are looked at where fewer than all will do

# Given rows of the table and the number of a fold, returns what the models of the fold predict.
Predicting = Callable[[Source, int], Floats]


@dataclass(frozen=True, eq=False)
class Unseen:
    """A committee on rows that its models were not fitted to.

    Parameters
    ----------
    target : ScoredTarget
        The truth.
    metric : OobMetric
        What members were chosen by, of the same rows.
    rows : ndarray of int
        Where these rows stand in the table, which may have more.
    tests : sequence of ndarray of int
        Which of them each fold holds.
    combined : ndarray of float64, shape (n_rows, n_values)
        Probabilities or numbers of the committee.
    members : sequence of ndarray of float64
        Those of each member.
    predict : callable
        What the models of a fold predict for other rows.
    kind : {"folds", "groups", "times", "part"}, default="folds"
        How rows were held out: in folds, in folds of whole groups, as later rows, or once.
    decided : ndarray of int or None, default=None
        The class of each row that the committee decides for; None is the most probable one.
    shown : callable or None, default=None
        Turns probabilities into what the metric looks at, where that is the classes decided for.
    shares : ndarray of float64, shape (n_members,), or None, default=None
        Weights of the members; None is equal ones.
    """

    target: ScoredTarget
    metric: OobMetric
    rows: Rows
    tests: Sequence[Rows]
    combined: Floats
    members: Sequence[Floats]
    predict: Predicting
    kind: str = "folds"
    decided: NDArray[np.integer] | None = None
    shown: Callable[[Floats], Floats] | None = None
    shares: Floats | None = None

    def as_scored(self, values: Floats) -> Floats:
        """Return predictions as the metric looks at them."""
        return values if self.shown is None else self.shown(values)

    def classes(self, values: Floats) -> NDArray[np.integer]:
        """Return the classes that probabilities stand for: the decided ones, of the committee."""
        is_own = values is self.combined and self.decided is not None
        return self.decided if is_own and self.decided is not None else values.argmax(axis=1)

    @cached_property
    def weights(self) -> Floats:
        """Weights of the rows."""
        weights = self.target.weights
        return np.ones(self.target.n_rows) if weights is None else weights

    @property
    def member_weights(self) -> Floats:
        """Weights of the members."""
        return np.ones(len(self.members)) if self.shares is None else self.shares

    @cached_property
    def constant(self) -> Floats:
        """The prediction that looks at no column: the mean, or the shares of the classes."""
        target = self.target
        if target.codes is None:
            return np.atleast_1d(np.average(target.table[:, 0], weights=self.weights))
        counts = np.bincount(target.codes[:, 0], self.weights, minlength=self.combined.shape[1])
        return np.asarray(counts / counts.sum())

    @cached_property
    def constants(self) -> Floats:
        """The constant for each row."""
        return np.tile(self.constant, (self.target.n_rows, 1))

    @cached_property
    def truth(self) -> Floats:
        """The target as columns: numbers, or 1 in the column of the class."""
        if self.target.codes is None:
            return np.asarray(self.target.table, np.float64)
        return np.eye(self.combined.shape[1])[self.target.codes[:, 0]]

    @cached_property
    def some_rows(self) -> Rows:
        """Rows that stand for all, evenly spread, where the table is long."""
        step = -(-self.target.n_rows // _MOST_ROWS)
        return np.arange(0, self.target.n_rows, step)


def variants(source: Source, rows: Rows, changes: Sequence[tuple[int, Rows]]) -> Source:
    """Return some rows once for each change, one block after the other.

    Parameters
    ----------
    source : Source
        The table.
    rows : ndarray of int
        Its rows.
    changes : sequence of (place, rows)
        In each block the column at `place` has the cells of other rows; -1 changes nothing.

    Examples
    --------
    >>> from committee.tables.source import open_source
    >>> table = open_source([[1.0, 5.0], [2.0, 6.0]])
    >>> found = variants(table, np.array([0, 1]), [(-1, np.array([])), (0, np.array([1, 0]))])
    >>> found.column(0).values.tolist(), found.column(1).values.tolist()
    ([1.0, 2.0, 2.0, 1.0], [5.0, 6.0, 5.0, 6.0])
    """
    n_rows = len(rows)
    same = np.tile(rows, len(changes))
    if isinstance(source, Matrix):
        values = source.values[same]
        for block, (place, others) in enumerate(changes):
            if place >= 0:
                own = slice(block * n_rows, (block + 1) * n_rows)
                values[own, place] = source.values[others, place]
        return Matrix(values, source.label, source.names)
    blocks: dict[int, list[int]] = {}
    for block, (place, _) in enumerate(changes):
        blocks.setdefault(place, []).append(block)

    def read(position: int, where: str) -> Column:
        which = same
        if position in blocks:
            which = same.copy()
            for block in blocks[position]:
                which[block * n_rows : (block + 1) * n_rows] = changes[block][1]
        return source.column(position).take(which)

    return Columns(len(same), source.n_features, source.names, read)
