"""What the columns of the training table hold: missing values, ranges, frequent levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.findings.groups import in_order, shown_value
from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, array, real, tuple_of, whole
from committee.tables.column import Column

_BINS, _LEVELS = 12, 5
_LEAST_ROWS = 5  # with a level that is named
_QUANTILES = (0.05, 0.5, 0.95)


@register("auto.ColumnSummary")
@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """The cells of a column.

    Attributes
    ----------
    name : str
        Of the column.
    missing : float
        Share of the rows without a value.
    n_distinct : int
        Number of different values, in the rows that were looked at.
    values : tuple of str
        The 5 %, 50 % and 95 % quantiles, or the most frequent levels.
    shares : ndarray of float64
        Shares of the rows in ranges of equal width between the outer quantiles, or with the most
        frequent levels.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "name": TEXT,
        "missing": real(0.0),
        "n_distinct": whole(0),
        "values": tuple_of(TEXT),
        "shares": array("f8", None, low=0.0, finite=True),
    }

    name: str
    missing: float
    n_distinct: int
    values: tuple[str, ...]
    shares: Floats

    @classmethod
    def of(cls, name: str, use: str, column: Column, weights: Floats) -> ColumnSummary:
        """Sum up a column that is used in some way; cells of dropped ones and of text stay out.

        Examples
        --------
        >>> column = Column("category", np.repeat([0, 1], [15, 5]), levels=("red", "blue"))
        >>> ColumnSummary.of("colour", "category", column, np.ones(20)).values
        ('red', 'blue')
        """
        gone = column.missing()
        missing = float(weights[gone].sum() / weights.sum())
        n_distinct = len(np.unique(column.values[~gone]))
        if use in ("dropped", "text") or gone.all():
            return cls(name, missing, n_distinct, (), np.empty(0))
        if column.levels is not None and use != "date":
            return cls(name, missing, n_distinct, *_levels(column, weights))
        column = in_order(column)
        return cls(name, missing, n_distinct, *_numbers(column, ~gone, weights))


def _levels(column: Column, weights: Floats) -> tuple[tuple[str, ...], Floats]:
    assert column.levels is not None
    present = column.values >= 0
    codes, n_levels = column.values[present], len(column.levels)
    sizes = np.bincount(codes, weights[present], minlength=n_levels)
    counts = np.bincount(codes, minlength=n_levels)
    order = [k for k in np.argsort(-sizes, kind="stable").tolist() if counts[k] >= _LEAST_ROWS]
    names = tuple(str(column.levels[code]) for code in order[:_LEVELS])
    return names, sizes[order[:_LEVELS]] / weights.sum()


def _numbers(
    column: Column, present: NDArray[np.bool_], weights: Floats
) -> tuple[tuple[str, ...], Floats]:
    values, own = np.asarray(column.values[present], np.float64), weights[present]
    order = np.argsort(values, kind="stable")
    along = np.cumsum(own[order]) / own.sum()
    places = np.minimum(np.searchsorted(along, np.array(_QUANTILES) - 1e-12), len(order) - 1)
    low, middle, high = column.values[present][order[places]].tolist()
    shown = tuple(shown_value(column, value) for value in (low, middle, high))
    # Integers beyond 2**53 may differ and be the same double.
    if not np.isfinite([low, high]).all() or float(low) >= float(high):
        return shown, np.empty(0)
    step = (float(high) - float(low)) / _BINS
    bins = np.clip((values - float(low)) / step, 0, _BINS - 1)
    return shown, np.bincount(bins.astype(np.int64), own, minlength=_BINS) / weights.sum()
