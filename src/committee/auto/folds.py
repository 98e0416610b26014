"""Folds of the rows that all candidates share.

Rows are dealt at random, by what they hold. With groups, those of a group are together. With times,
the rows are cut into stretches of time, and each of the later ones is predicted by models of the
rows before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Rows
from committee.base.sampling import number_groups
from committee.evaluation.content_order import ContentOrder, row_keys, with_columns
from committee.evaluation.scored_target import ScoredTarget
from committee.tables.column import numpy_column
from committee.tables.source import Source
from committee.tables.table import read_table

# Up to so many rows, so many folds; of more rows a part is held out once.
N_FOLDS = ((59, 5), (60_000, 8), (150_000, 4))
_HELD_OUT = 0.1  # share of the rows

# Stretches of time: the first ones are only learned from, and each of the others is a fold.
_STRETCHES, _ONLY_LEARNED = 8, 3
_BLOCKS_OF_FOLD = 5  # of time, in which rows are taken to be alike

Split = tuple[Rows, Rows]


@dataclass(frozen=True, eq=False)
class Splits:
    """Rows outside and inside of each fold.

    Attributes
    ----------
    folds : list of (train, test)
        The rows, ascending.
    blocks : ndarray of int or None
        For each row of the table, the number of what it belongs to: rows of a block are alike, and
        no evidence of their own.
    is_forward : bool
        Whether rows are predicted by rows before them; then the last models have seen most.
    """

    folds: list[Split]
    blocks: NDArray[np.intp] | None = None
    is_forward: bool = False

    @property
    def kind(self) -> str:
        """How rows were held out: "times", "groups", "part" (once) or "folds"."""
        if self.is_forward:
            return "times"
        if self.blocks is not None:
            return "groups"
        return "folds" if len(self.folds) > 1 else "part"

    @classmethod
    def of(cls, features: Source, target: ScoredTarget, order: RowOrder, seed: int) -> Splits:
        """Split the rows of a table."""
        if order.times is not None:
            return _forward(order.times)
        n_rows = target.n_rows
        n_folds = next((folds for limit, folds in N_FOLDS if n_rows <= limit), 1)
        everything = np.arange(n_rows)
        tests = _folds(features, target, order.groups, min(n_folds, n_rows // 2), seed)
        folds = [(np.setdiff1d(everything, test), test) for test in tests]
        blocks = None
        if order.groups is not None:
            blocks = number_groups(order.groups, n_rows)[1].astype(np.intp)
            if len(tests) < 2 and n_folds > 1:
                raise ValueError("groups must have two groups or more; got one")
        return cls(folds, blocks)


@dataclass(frozen=True, eq=False)
class RowOrder:
    """What is known of the rows besides their cells.

    Attributes
    ----------
    groups : ndarray or None
        Rows with the same value are in the same fold.
    times : ndarray of int64 or None
        Ranks of the times of the rows.
    """

    groups: NDArray[Any] | None = None
    times: NDArray[np.int64] | None = None

    @classmethod
    def read(cls, source: Source, groups: Any, time_order: Any) -> RowOrder:
        """Read arguments of `fit`: an array, or the name of a column, or None."""
        if groups is not None and time_order is not None:
            raise ValueError("groups and time_order cannot be used together: give one of them")
        if time_order is not None:
            return cls(times=_ranks(_entries(source, time_order, "time_order")))
        if groups is None:
            return cls()
        values = _entries(source, groups, "groups")
        return cls(groups=number_groups(values, source.n_rows)[1])

    def part(self, rows: Rows) -> RowOrder:
        """Return what is known of some rows."""
        groups = None if self.groups is None else self.groups[rows]
        return RowOrder(groups, None if self.times is None else self.times[rows])


def _entries(source: Source, given: Any, name: str) -> NDArray[Any]:
    """Return an entry for each row: those given, or those of the column of a name."""
    if isinstance(given, str):
        if source.names is None or given not in source.names:
            known = ", ".join(map(repr, (source.names or ())[:20])) or "no names"
            raise ValueError(
                f"{name} must be an array or the name of a column; got {given!r}, the table has "
                f"{known}"
            )
        column = source.column(source.names.index(given))
    else:
        entries = np.asarray(given)
        if entries.shape != (source.n_rows,):
            raise ValueError(
                f"{name} must have one entry a row, shape ({source.n_rows},); got shape "
                f"{entries.shape}"
            )
        column = numpy_column(entries, None, name)
    if column.missing().any():
        raise ValueError(f"{name} must not hold missing values")
    values: NDArray[Any] = np.asarray(column.values)
    return values if column.levels is None else np.array(column.levels, dtype=object)[values]


def _ranks(values: NDArray[Any]) -> NDArray[np.int64]:
    if values.dtype == object:
        values = np.array([str(value) for value in values.tolist()])  # dates as ISO text
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _forward(times: NDArray[np.int64]) -> Splits:
    """Split by time; rows of the same time are in the same stretch."""
    stretches = _stretches(times, _STRETCHES)
    n_stretches = int(stretches.max()) + 1
    if n_stretches < 2:
        raise ValueError("time_order must have two times or more; got one")
    first = min(_ONLY_LEARNED, n_stretches - 1)
    folds = [
        (np.flatnonzero(stretches < number), np.flatnonzero(stretches == number))
        for number in range(first, n_stretches)
    ]
    blocks = _stretches(times, _STRETCHES * _BLOCKS_OF_FOLD)
    return Splits(folds, blocks, is_forward=True)


def _stretches(times: NDArray[np.int64], n_stretches: int) -> NDArray[np.intp]:
    """Cut times into about equally many rows each.

    Examples
    --------
    >>> _stretches(np.array([3, 0, 1, 1, 2, 3]), 3).tolist()
    [2, 0, 1, 1, 1, 2]
    """
    counts = np.bincount(times)
    middle = np.cumsum(counts) - counts / 2
    numbers = (middle * n_stretches / len(times)).astype(np.intp)
    return np.unique(numbers, return_inverse=True)[1][times]


def _folds(
    features: Source, target: ScoredTarget, groups: Any, n_folds: int, seed: int
) -> list[Rows]:
    """Deal the rows into folds by what they hold, so that copies of a row are together."""
    keys = row_keys(*read_table(features), seed)
    counts = np.ones(target.n_rows, np.int64)
    if target.codes is None:
        order = ContentOrder(keys, counts, with_columns(keys, target.table), groups=groups)
    else:
        order = ContentOrder(keys, counts, classes=target.codes[:, 0], groups=groups)
    parts = order.folds(n_folds) if n_folds > 1 else [order.part(_HELD_OUT)]
    return [np.flatnonzero(part) for part in parts]
