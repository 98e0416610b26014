"""Features as a matrix of numbers, for models that take no categories and no missing values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import FLAG, REAL, Part, instance, real, tuple_of, whole
from committee.tables.column import Column
from committee.tables.source import Matrix, Source

_MOST_LEVELS = 30  # levels of a category that get a column of their own
_MOST_SAMPLED = 100_000  # rows from which quantiles are taken
_LARGEST = 5.0  # scaled numbers are cut off here, because of outliers


@register("auto.NumberScale")
@dataclass(frozen=True)
class NumberScale:
    """How the values of a numeric feature are scaled.

    Attributes
    ----------
    centre, width : float
        The median, and half the distance between the 5 % and 95 % quantiles.
    has_missing : bool
        Whether missing values get a column of their own.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "centre": REAL,
        "width": real(5e-324),
        "has_missing": FLAG,
    }

    centre: float
    width: float
    has_missing: bool

    def columns(self, values: Floats) -> list[Floats]:
        missing = np.isnan(values)
        scaled = (np.where(missing, self.centre, values) - self.centre) / self.width
        parts = [np.clip(scaled, -_LARGEST, _LARGEST)]
        return [*parts, missing.astype(np.float64)] if self.has_missing else parts


@register("auto.LevelColumns")
@dataclass(frozen=True)
class LevelColumns:
    """Which levels of a category have a column of their own.

    Attributes
    ----------
    codes : tuple of int
        The codes of these levels; other levels and missing values are zero in all columns.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "codes": tuple_of(whole(0, 2**16)),
    }

    codes: tuple[int, ...]

    def columns(self, column: Column) -> list[Floats]:
        return [(column.values == code).astype(np.float64) for code in self.codes]


@register("auto.MatrixEncoder")
@dataclass(frozen=True, eq=False)
class MatrixEncoder:
    """Scales numbers and gives each frequent level of a category a column.

    It looks at the cells alone, never at a target.

    Attributes
    ----------
    parts : tuple of NumberScale and LevelColumns
        One for each feature.

    Examples
    --------
    >>> from committee.tables.source import open_source
    >>> table = open_source([[1.0, "a"], [2.0, "b"], [3.0, "a"]])
    >>> MatrixEncoder.of(table).apply(table)[:, 1:].tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "parts": tuple_of(instance(NumberScale, LevelColumns), least=1),
    }

    parts: tuple[NumberScale | LevelColumns, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns of the matrix."""
        return sum(
            len(part.codes) if isinstance(part, LevelColumns) else 1 + part.has_missing
            for part in self.parts
        )

    @classmethod
    def of(cls, source: Source) -> MatrixEncoder:
        """Find the scales and the frequent levels of a table."""
        if isinstance(source, Matrix) and np.isfinite(source.values).all():
            return cls(tuple(_scales(source.values)))
        return cls(tuple(_part_of(source.column(place)) for place in range(source.n_features)))

    def apply(self, source: Source) -> Floats:
        """Return the matrix of a table with the same features."""
        columns: list[Floats] = []
        for place, part in enumerate(self.parts):
            column = source.column(place)
            if isinstance(part, LevelColumns):
                columns += part.columns(column)
            else:
                columns += part.columns(_reals(column))
        return np.column_stack(columns)


def _scales(values: NDArray[Any]) -> Iterator[NumberScale]:
    """Yield the scales of finite columns, as `_part_of` does, all at once."""
    sample = values[:: max(1, len(values) // _MOST_SAMPLED)]
    ends = values.max(axis=0).astype(np.float64) - values.min(axis=0)
    quantiles = np.quantile(np.asarray(sample, np.float64), [0.05, 0.5, 0.95], axis=0)
    for (low, centre, high), span in zip(quantiles.T, ends, strict=True):
        yield NumberScale(float(centre), float((high - low) / 2 or span or 1.0), False)


def _part_of(column: Column) -> NumberScale | LevelColumns:
    if column.levels is not None:
        counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
        order = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
        return LevelColumns(tuple(int(code) for code in order if counts[code] > 0))
    values = _reals(column)
    missing = np.isnan(values)
    present = values[~missing & np.isfinite(values)]
    if len(present) == 0:
        return NumberScale(0.0, 1.0, bool(missing.any()))
    step = max(1, len(present) // _MOST_SAMPLED)
    low, centre, high = np.quantile(present[::step], [0.05, 0.5, 0.95]).tolist()
    width = (high - low) / 2 or float(present.max() - present.min()) or 1.0
    return NumberScale(centre, width, bool(missing.any()))


def _reals(column: Column) -> Floats:
    values = np.asarray(column.values, np.float64)
    if column.mask is not None:
        values = np.where(column.mask.astype(bool), np.nan, values)
    return values
