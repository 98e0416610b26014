"""A column cut into a few groups of rows: ranges of numbers or dates, levels, missing values."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.tables.column import Column

# Names of groups that are no values.
OTHERS, MISSING = "other values", "missing"


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the rows of a column.

    Attributes
    ----------
    labels : tuple of str
        What is in each group.
    codes : ndarray of int64, shape (n_rows,)
        The group of each row.
    examples : ndarray of int64
        A row of each group, from its middle.
    positions : ndarray of float64
        The number in the middle of a range; NaN for levels, and for missing values.
    """

    labels: tuple[str, ...]
    codes: NDArray[np.int64]
    examples: Rows
    positions: Floats

    @classmethod
    def of(cls, column: Column, weights: Floats, most: int = 10) -> Groups:
        """Cut a column into at most so many groups, besides missing values.

        Parameters
        ----------
        column : Column
            The cells.
        weights : ndarray of float64
            Weights of the rows: ranges have about equal shares of them.
        most : int, default=10
            Number of ranges, or of levels with a group of their own.

        Examples
        --------
        >>> column = Column("number", np.array([3.0, 1.0, 2.0, 4.0]))
        >>> groups = Groups.of(column, np.ones(4), most=2)
        >>> groups.labels, groups.codes.tolist()
        (('up to 2', 'above 2'), [1, 0, 0, 1])
        """
        missing = column.missing()
        if column.levels is not None:
            labels, codes, positions = _levels(column, weights, most)
        else:
            labels, codes, positions = _ranges(column, missing, weights, most)
        if missing.any():
            codes[missing] = len(labels)
            labels, positions = [*labels, MISSING], [*positions, np.nan]
        sort_by = column.values if column.levels is None else np.zeros(len(codes))
        order = np.lexsort([sort_by, codes])
        ends = np.cumsum(np.bincount(codes, minlength=len(labels)))
        begins = np.r_[0, ends[:-1]]
        return cls(tuple(labels), codes, order[(begins + ends - 1) // 2], np.array(positions))


def in_order(column: Column) -> Column:
    """Return a category as the ranks of its sorted levels, for dates that are written as text."""
    if column.levels is None:
        return column
    names = [str(level) for level in column.levels]
    ranks = np.argsort(np.argsort(names, kind="stable"), kind="stable")
    missing = column.values < 0
    values = np.where(missing, 0, np.append(ranks, 0)[column.values]).astype(np.int32)
    return Column("ordered", values, missing.astype(np.uint8), order=tuple(sorted(names)))


def _levels(
    column: Column, weights: Floats, most: int
) -> tuple[list[str], NDArray[np.int64], list[float]]:
    """Return the frequent levels, the most frequent first, and the rest."""
    assert column.levels is not None
    present = column.values >= 0
    sizes = np.bincount(column.values[present], weights[present], minlength=len(column.levels))
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    n_own = len(order) if len(order) <= most else most - 1
    own = np.full(len(column.levels) + 1, n_own)
    own[order[:n_own]] = np.arange(n_own)
    labels = [str(column.levels[code]) for code in order[:n_own].tolist()]
    labels += [OTHERS] if n_own < len(order) else []
    return labels, own[column.values].astype(np.int64), [float("nan")] * len(labels)


def _ranges(
    column: Column, missing: NDArray[np.bool_], weights: Floats, most: int
) -> tuple[list[str], NDArray[np.int64], list[float]]:
    """Return ranges with about equal shares of the rows; few distinct values are on their own."""
    values = column.values
    present = values[~missing]
    distinct, inverse = np.unique(present, return_inverse=True)
    if len(distinct) <= most:
        codes = np.zeros(len(values), np.int64)
        codes[~missing] = inverse
        labels = [shown_value(column, value) for value in distinct.tolist()]
        return labels, codes, [float(value) for value in distinct.tolist()]
    sizes = np.bincount(inverse, weights[~missing])
    shares = np.cumsum(sizes) / sizes.sum()
    # The last value of each range: the first that completes its share.
    ends = np.unique(np.searchsorted(shares, np.arange(1, most) / most - 1e-12))
    cuts = distinct[ends[ends < len(distinct) - 1]]
    codes = np.searchsorted(cuts, values, side="left").astype(np.int64)
    codes[missing] = 0
    names = [shown_value(column, value) for value in cuts.tolist()]
    inner = [f"{low} to {high}" for low, high in pairwise(names)]
    labels = [f"up to {names[0]}", *inner, f"above {names[-1]}"]
    middles = [float(np.median(present[codes[~missing] == k])) for k in range(len(labels))]
    return labels, codes, middles


def shown_value(column: Column, value: float) -> str:
    """Return a cell as a reader knows it.

    Examples
    --------
    >>> shown_value(Column("datetime", np.array([0])), 86_400_000_000)
    '1970-01-02'
    """
    match column.label:
        case "boolean":
            return str(bool(value))
        case "datetime":
            return str(np.datetime64(int(value), "us")).removesuffix("T00:00:00.000000")[:16]
        case "timedelta":
            return str(dt.timedelta(microseconds=int(value)))
        case "ordered":
            assert column.order is not None
            return str(column.order[int(value)])
    if float(value).is_integer() and abs(value) < 1e5:
        return str(int(value))
    return f"{value:.4g}"
