"""What the cells of the training table were like: ranges, shares of levels, missing values.

A profile has one entry for each column that is used, about its first feature: the column itself,
or the date before its parts. It holds quantiles and shares, and no row of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.columns import ColumnUse, date_part
from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, array, real, whole
from committee.tables.column import Column
from committee.tables.source import Matrix, Source

_N_QUANTILES = 33
_MOST_ROWS = 100_000  # that quantiles are taken of; both ends are of all rows


@register("auto.ColumnProfile")
@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """The cells of one column.

    Attributes
    ----------
    name : str
        Of the column.
    first : int
        Place of its first feature.
    n_features : int
        Number of its features.
    quantiles : ndarray of float64
        Of finite numbers or dates (microseconds since 1970), the least and the greatest at the
        ends; empty for categories and text.
    shares : ndarray of float64
        Shares of the levels of a category among the cells that are there; empty for others.
    missing : float
        Share of missing cells.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "name": TEXT,
        "first": whole(0, 2**24),
        "n_features": whole(1, 2**24),
        "quantiles": array("f8", None, finite=True),
        "shares": array("f8", None, low=0.0, finite=True),
        "missing": real(0.0),
    }

    name: str
    first: int
    n_features: int
    quantiles: Floats
    shares: Floats
    missing: float

    @property
    def is_number(self) -> bool:
        """Whether the column has an order."""
        return len(self.quantiles) > 0

    def draws(self, n_draws: int, generator: np.random.Generator) -> Floats:
        """Return values as they are common: numbers, or codes of levels; NaN and -1 are missing."""
        is_missing = generator.random(n_draws) < self.missing
        at = (np.arange(n_draws) + generator.random(n_draws)) / n_draws  # spread evenly
        generator.shuffle(at)
        if self.is_number:
            places = np.linspace(0, 1, len(self.quantiles))
            return np.where(is_missing, np.nan, np.interp(at, places, self.quantiles))
        if len(self.shares):
            codes = np.searchsorted(np.cumsum(self.shares), at * self.shares.sum(), side="right")
            return np.where(is_missing, -1.0, np.minimum(codes, len(self.shares) - 1))
        return np.full(n_draws, np.nan)  # text: nothing is known of it

    def _validate_loaded(self) -> None:
        if len(self.quantiles) and len(self.shares):
            raise ValueError("a column has quantiles or shares of levels")
        if (np.diff(self.quantiles) < 0).any() or self.missing > 1:
            raise ValueError("quantiles or missing values of a column are out of order")


def profiles(uses: Sequence[ColumnUse], features: Source) -> tuple[ColumnProfile, ...]:
    """Describe the columns of the training table that are used.

    Examples
    --------
    >>> from committee.auto.columns import FeatureReader
    >>> from committee.tables.source import open_source
    >>> table = open_source([[1.0, "a"], [2.0, "b"], [4.0, "a"], [3.0, None]])
    >>> reader = FeatureReader.of(table)
    >>> size, colour = profiles(reader.plan.uses, reader.read(table))
    >>> size.quantiles[[0, -1]].tolist(), colour.shares.round(2).tolist(), colour.missing
    ([1.0, 4.0], [0.67, 0.33], 0.25)
    """
    found, place = [], 0
    known = None  # of numbers that are all there, in one go
    if isinstance(features, Matrix) and np.isfinite(features.values).all():
        known = _quantiles(features.values)
    for use in uses:
        if use.use != "dropped" and known is not None:
            found.append(
                ColumnProfile(use.name, place, len(use.parts), known[place], np.empty(0), 0.0)
            )
        elif use.use != "dropped":
            found.append(_profile(use, place, features.column(place)))
        place += len(use.parts)
    return tuple(found)


def _profile(use: ColumnUse, place: int, column: Column) -> ColumnProfile:
    missing = column.missing()
    quantiles, shares = np.empty(0), np.empty(0)
    if column.levels is not None:
        counts = np.bincount(column.values[~missing], minlength=len(column.levels))
        shares = counts / max(counts.sum(), 1)
    elif use.use != "text":
        values = np.asarray(column.values[~missing], np.float64)
        values = values[np.isfinite(values)]
        if len(values):
            quantiles = _quantiles(values[:, np.newaxis])[0]
    return ColumnProfile(use.name, place, len(use.parts), quantiles, shares, float(missing.mean()))


def _quantiles(values: NDArray[Any]) -> Floats:
    """Return quantiles of each column, shape (n_columns, n_quantiles)."""
    sample = values[:: max(1, len(values) // _MOST_ROWS)]
    quantiles = np.quantile(np.asarray(sample, np.float64), np.linspace(0, 1, _N_QUANTILES), axis=0)
    quantiles[0], quantiles[-1] = values.min(axis=0), values.max(axis=0)
    return np.ascontiguousarray(quantiles.T)


def feature_column(use: ColumnUse, part: int, like: Column, values: Floats) -> Column:
    """Return a feature of a column whose first feature has the given values.

    Parameters
    ----------
    use : ColumnUse
        How the column is used.
    part : int
        Which of its features.
    like : Column
        The feature as it is in other rows: kinds and levels are taken from it.
    values : ndarray of float64
        Numbers, dates or codes; NaN is missing, as negative codes are.
    """
    if like.levels is not None:
        return Column("category", values.astype(np.int32), None, like.levels)
    if use.use == "text":
        return Column("number", np.full(len(values), np.nan))
    missing = np.isnan(values)
    if use.use == "date":
        micros = np.where(missing, 0, values).astype(np.int64)
        mask: NDArray[np.uint8] = missing.astype(np.uint8)
        return date_part(Column("datetime", micros, mask), use.parts[part], part)
    if like.values.dtype.kind == "f":
        return Column(like.label, values.astype(like.values.dtype), None, None, False, like.order)
    whole_numbers = np.where(missing, 0, np.round(values)).astype(like.values.dtype)
    return Column(like.label, whole_numbers, missing.astype(np.uint8), None, False, like.order)
