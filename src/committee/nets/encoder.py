"""Features as rows of the first layer of a net.

A number becomes its place between two *knots*, quantiles of the training rows, and the net learns
what each unit gets at each knot. A category becomes the number of its level; rare levels share one.
Only the cells decide, never a target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import Part, array, instance, tuple_of, whole
from committee.tables.column import Column
from committee.tables.table import TableSchema

# The row of a level that fit did not see, or of which it knows nothing: zeros.
NO_ROW = 2**32 - 1

_MOST_LEVELS = 255  # of a category that have a row of their own
_HALF_OF_LARGEST = np.finfo(np.float64).max / 2
_LEAST_COUNT = 3  # rows of such a level, or their weight

Codes = NDArray[np.uint32]
Fractions = NDArray[np.float32]


@register("nets.NumberKnots")
@dataclass(frozen=True, eq=False)
class NumberKnots:
    """Where the values of a numeric feature lie.

    Attributes
    ----------
    knots : ndarray of float64
        Ascending; values beyond the ends count as the ends.
    scaled : ndarray of float32
        The same for a net: about zero, not far from one.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "knots": array("f8", "knots", finite=True),
        "scaled": array("f4", "knots", finite=True),
    }

    knots: Floats
    scaled: NDArray[np.float32]

    @classmethod
    def of(cls, column: Column, weights: Floats | None, n_knots: int) -> NumberKnots:
        """Put knots at quantiles of the values."""
        values = _reals(column)
        present = np.isfinite(values)
        own = None if weights is None else weights[present]
        knots = _knots(values[present], own, n_knots)
        return cls(knots, _scaled(knots))

    @property
    def n_knots(self) -> int:
        return len(self.knots)

    @property
    def n_rows(self) -> int:
        """Rows of the table: one for each knot, and one for missing values."""
        return len(self.knots) + 1

    def places(self, column: Column) -> tuple[NDArray[np.int64], Floats]:
        """Return the knot before each value, and how far it is on its way to the next one."""
        values = _reals(column)
        missing = np.isnan(values)
        bounded = np.clip(np.where(missing, self.knots[0], values), self.knots[0], self.knots[-1])
        places = np.searchsorted(self.knots[1:-1], bounded, side="right")
        low, high = self.knots[places], self.knots[places + 1]
        # Halves, where the distance of the ends is too large for a double.
        part = 0.5 if self.knots[-1] / 2 - self.knots[0] / 2 > _HALF_OF_LARGEST else 1.0
        fractions = (bounded * part - low * part) / (high * part - low * part)
        return np.where(missing, len(self.knots), places), np.where(missing, 0.0, fractions)

    def _validate_loaded(self) -> None:
        if len(self.knots) < 2 or not (np.diff(self.knots) > 0).all():
            raise ValueError("knots must ascend")


@register("nets.LevelRows")
@dataclass(frozen=True, eq=False)
class LevelRows:
    """Which row of the table each level of a category has.

    Attributes
    ----------
    rows : ndarray of int32
        For each level, then for missing values.
    n_rows : int
        Number of rows.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "rows": array("i4", None, low=0),
        "n_rows": whole(1, 2**16 + 1),
    }

    rows: NDArray[np.int32]
    n_rows: int

    @classmethod
    def of(cls, column: Column, weights: Floats | None) -> LevelRows:
        """Give frequent levels rows of their own; the others share one."""
        n_levels = len(column.levels or ())
        codes = np.where(column.values < 0, n_levels, column.values)
        counts = np.bincount(codes, weights, minlength=n_levels + 1)
        order = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
        own = order[counts[order] >= _LEAST_COUNT]
        rows = np.full(n_levels + 1, len(own), np.int32)
        rows[own] = np.arange(len(own), dtype=np.int32)
        return cls(rows, len(own) + 1)

    @property
    def n_knots(self) -> int:
        return 0

    def places(self, column: Column) -> tuple[NDArray[np.int64], Floats]:
        """Return the row of each cell; -1 for levels that `fit` did not see."""
        codes = column.values.astype(np.int64)
        known = np.append(self.rows.astype(np.int64), -1)  # where -2 points to after the shift
        places = known[np.where(codes == -1, len(self.rows) - 1, np.where(codes < 0, -1, codes))]
        return places, np.zeros(len(codes))

    def _validate_loaded(self) -> None:
        if (self.rows >= self.n_rows).any():
            raise ValueError("a level has a row beyond the last")


@register("nets.NetEncoder")
@dataclass(frozen=True, eq=False)
class NetEncoder:
    """Turns the columns of a table into rows of the first layer of a net.

    Attributes
    ----------
    parts : tuple of NumberKnots and LevelRows
        One for each feature.

    Examples
    --------
    >>> column = Column("number", np.array([0.0, 1.0, 4.0, 8.0, np.nan]))
    >>> encoder = NetEncoder.of([column], None, 3)
    >>> codes, fractions = encoder.apply([column], 5)
    >>> encoder.parts[0].knots.tolist(), codes[:, 0].tolist(), fractions[:, 0].tolist()
    ([0.0, 1.0, 8.0], [0, 1, 1, 1, 3], [0.0, 0.0, 0.4285714328289032, 1.0, 0.0])
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "parts": tuple_of(instance(NumberKnots, LevelRows), least=1),
    }

    parts: tuple[NumberKnots | LevelRows, ...]

    @classmethod
    def of(cls, columns: Sequence[Column], weights: Floats | None, n_knots: int) -> NetEncoder:
        """Find the knots and the frequent levels of a table."""
        return cls(
            tuple(
                NumberKnots.of(column, weights, n_knots)
                if column.levels is None
                else LevelRows.of(column, weights)
                for column in columns
            )
        )

    def check_schema(self, schema: TableSchema) -> None:
        """Raise ValueError unless a loaded encoder fits the features of its model."""
        if len(self.parts) != schema.n_features:
            raise ValueError("the net has another number of features than the schema")
        for part, feature in zip(self.parts, schema.features, strict=True):
            n_levels = len(part.rows) - 1 if isinstance(part, LevelRows) else None
            if n_levels != (None if feature.levels is None else len(feature.levels)):
                raise ValueError(f"the net does not fit the feature {feature.name!r}")

    @property
    def features(self) -> list[tuple[int, int]]:
        """Knots and rows of each feature, for the engine."""
        return [(part.n_knots, part.n_rows) for part in self.parts]

    @property
    def knots(self) -> NDArray[np.float32]:
        """Values of the knots, for the engine: one for each row of the table."""
        values = []
        for part in self.parts:
            own = np.zeros(part.n_rows, np.float32)
            if isinstance(part, NumberKnots):
                own[: part.n_knots] = part.scaled
            values.append(own)
        return np.concatenate(values)

    def apply(self, columns: Sequence[Column], n_rows: int) -> tuple[Codes, Fractions]:
        """Return rows of the table, and how far numbers are on their way to the next row."""
        codes = np.empty((n_rows, len(self.parts)), np.uint32)
        fractions = np.empty((n_rows, len(self.parts)), np.float32)
        first = 0
        for k, (part, column) in enumerate(zip(self.parts, columns, strict=True)):
            places, own = part.places(column)
            codes[:, k] = np.where(places < 0, NO_ROW, places + first)
            fractions[:, k] = own
            first += part.n_rows
        return codes, fractions


def _reals(column: Column) -> Floats:
    values = np.asarray(column.values, np.float64)
    return values if column.mask is None else np.where(column.mask.astype(bool), np.nan, values)


def _knots(values: Floats, weights: Floats | None, n_knots: int) -> Floats:
    """Return distinct quantiles with the smallest and the largest value; at least two knots.

    A value heavier than its share is a knot, and the others are quantiles of the rest: a column
    that is mostly zero keeps its digits elsewhere.
    """
    if len(values) == 0:
        return np.array([0.0, 1.0])
    distinct, inverse = np.unique(values, return_inverse=True)
    counts = np.bincount(inverse, weights).astype(np.float64)
    distinct, counts = distinct[counts > 0], counts[counts > 0]
    is_heavy = counts > counts.sum() / n_knots
    rest, own = distinct[~is_heavy], counts[~is_heavy]
    knots = np.concatenate([distinct[is_heavy], distinct[:1], distinct[-1:]])
    if len(rest):
        knots = np.append(knots, _quantiles(rest, own, max(n_knots - is_heavy.sum(), 2)))
    knots = np.unique(knots)
    if len(knots) == 1:
        other = knots[0] - np.copysign(max(abs(knots[0]), 1.0), knots[0]) / 2
        return np.sort(np.append(knots, other))
    return knots


def _quantiles(values: Floats, counts: Floats, n_quantiles: int) -> Floats:
    """Return values at equal distances, the first and the last among them."""
    reached = np.cumsum(counts)
    wanted = np.linspace(0.0, reached[-1], n_quantiles)
    places = np.searchsorted(reached, wanted * (1 - 2.0**-40), side="right")
    return np.asarray(values[np.minimum(places, len(values) - 1)])


def _scaled(knots: Floats) -> NDArray[np.float32]:
    """Return knots with a mean of zero and a spread of one, without outliers."""
    places = np.linspace(-(3**0.5), 3**0.5, len(knots))
    return places.astype(np.float32)
