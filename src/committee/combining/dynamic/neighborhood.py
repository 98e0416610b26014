"""Rows of raw tables as points, and the nearest ones, with what is known about them.

A difference of one standard deviation in a number counts as one, another level of a category
counts as one, and so does "missing" beside a value; a distance is Euclidean or a sum of such
differences. Rows with the same point are merged into a *cell*, so that neither a row given twice
nor the order of rows makes a difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from committee import _core
from committee.base.arrays import Floats
from committee.base.work import resolve_threads
from committee.files.codec_classes import register
from committee.files.parts import FLAG, Part, array, instance, one_of, real, tuple_of
from committee.tables.column import Column, FeatureInfo
from committee.tables.conform import conformed_column
from committee.tables.native_table import AnyTable
from committee.tables.numeric_text import TextReader
from committee.tables.table import TableSchema

Places = NDArray[np.int64]

METRICS = ("euclidean", "manhattan")

_MOST_LEVELS = 64  # of a category; rarer ones count as one level
_FAR = 10.0  # standard deviations: what is further away, infinities too, is no further
_FAR_UNSCALED = 1e150
_FEW_COLUMNS = 16  # beyond, trees of points are slower than comparing all
_BLOCK, _MOST_PAIRS = 2048, 2**23  # rows at a time, and with all cells
_NO_LEVEL, _NO_LEVEL_OF_CELL = 254, 255  # codes that are never equal
_TIE = 1e-9  # distances that differ by less, relatively, may be equal


@dataclass(frozen=True, eq=False)
class CompactPoints:
    """Points with a code in place of the coordinates of each category, of which one is not zero.

    Parameters
    ----------
    numbers : ndarray of float64
        The other coordinates.
    codes : ndarray of uint8, shape (n_points, n_categories)
        Which coordinate of each category is not zero.
    nothing : int
        The code where all are zero.
    """

    numbers: Floats
    codes: NDArray[np.uint8]
    nothing: int

    @property
    def n_levels(self) -> Floats:
        """Number of categories of each point that have a level."""
        return np.asarray((self.codes != self.nothing).sum(axis=1), np.float64)


@register("RowEncoder")
@dataclass(frozen=True, eq=False)
class RowEncoder:
    """How rows become points.

    Parameters
    ----------
    schema : TableSchema
        The columns; categories with the levels that have a coordinate of their own.
    units, centres, scales : ndarray of float64
        A number x becomes (x / unit - centre) / scale.
    has_others : tuple of bool
        Whether a category has levels that share one coordinate.
    bound : float
        Coordinates of numbers end here.
    step : float
        Coordinate of a level.
    """

    schema: TableSchema
    units: Floats
    centres: Floats
    scales: Floats
    has_others: tuple[bool, ...]
    bound: float
    step: float

    _stored_parts: ClassVar[dict[str, Part]] = {
        "schema": instance(TableSchema),
        "units": array("f8", "features", low=5e-324, finite=True),
        "centres": array("f8", "features", finite=True),
        "scales": array("f8", "features", low=5e-324, finite=True),
        "has_others": tuple_of(FLAG, "features"),
        "bound": real(0.0),
        "step": real(0.0),
    }

    @classmethod
    def fit(cls, table: AnyTable, weights: Floats, metric: str, scale: bool) -> RowEncoder:
        """Learn from the rows of a table."""
        source = table.opened()
        text = TextReader("auto", source.is_frame)
        infos, has_others = [], []
        numbers = np.ones((3, table.n_features))
        for position in range(table.n_features):
            column = text.read(source.column(position), source.where(position))
            name = f"x{position}" if table.names is None else table.names[position]
            levels = column.levels
            if levels is None:
                values = _numbers(column)
                is_missing = np.isnan(values)
                has_missing, is_empty = bool(is_missing.any()), bool(is_missing.all())
                numbers[:, position] = _location(values, weights) if scale else (1.0, 0.0, 1.0)
                has_others.append(False)
            else:
                has_missing, is_empty = bool((column.values < 0).any()), False
                kept = _frequent_levels(column, weights)
                has_others.append(len(kept) < len(levels))
                levels = tuple(levels[code] for code in kept)
            info = FeatureInfo.of(name, column)
            info = replace(info, levels=levels, has_missing=has_missing, is_empty=is_empty)
            infos.append(info)
        step = math.sqrt(0.5) if metric == "euclidean" else 0.5  # a change moves two coordinates
        bound = _FAR if scale else _FAR_UNSCALED
        schema = TableSchema(tuple(infos), table.names)
        units, centres, scales = numbers
        return cls(schema, units, centres, scales, tuple(has_others), bound, step)

    def encode(self, table: AnyTable) -> Floats:
        """Return the points of the rows of a table, whose columns are those of `fit` in order."""
        source = table.opened()
        parts = [
            self._coordinates(conformed_column(source, position, info), position)
            for position, info in enumerate(self.schema.features)
        ]
        return np.ascontiguousarray(np.hstack(parts) + 0.0)  # no minus zero

    def _coordinates(self, column: Column, position: int) -> Floats:
        info = self.schema.features[position]
        if info.levels is not None:
            codes = column.values.astype(np.int64)
            n_levels = len(info.levels)
            codes = np.where(codes == -1, n_levels, np.where(codes == -2, n_levels + 1, codes))
            points = np.eye(n_levels + 2)[codes] * self.step
            is_kept = [True] * n_levels + [info.has_missing, self.has_others[position]]
            return np.asarray(points[:, is_kept])
        values = _numbers(column)
        is_missing = np.isnan(values)
        with np.errstate(over="ignore"):
            points = values / self.units[position] - self.centres[position]
            points = np.clip(points / self.scales[position], -self.bound, self.bound)
        points[is_missing] = 0.0
        if not info.has_missing:
            return np.asarray(points[:, np.newaxis])
        return np.column_stack([points, is_missing])

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of a point."""
        pairs = zip(self.schema.features, self.has_others, strict=True)
        return sum(
            (1 if info.levels is None else len(info.levels) + has_others) + info.has_missing
            for info, has_others in pairs
        )

    def _places_of_levels(self) -> list[slice]:
        """Return where the coordinates of the levels of each category are."""
        found, begin = [], 0
        for info, has_others in zip(self.schema.features, self.has_others, strict=True):
            n_levels = 1 if info.levels is None else len(info.levels) + has_others
            end = begin + n_levels + info.has_missing
            if info.levels is not None:
                found.append(slice(begin, end))
            begin = end
        return found

    def compact(self, points: Floats, nothing: int) -> CompactPoints:
        """Return points with one code for each category; `nothing` where it has no level."""
        places = self._places_of_levels()
        codes = np.full((len(points), len(places)), nothing, np.uint8)
        is_number = np.ones(points.shape[1], bool)
        for k, place in enumerate(places):
            is_number[place] = False
            own = points[:, place]
            known = own.any(axis=1)
            codes[known, k] = own[known].argmax(axis=1)
        return CompactPoints(np.ascontiguousarray(points[:, is_number]), codes, nothing)

    def _validate_loaded(self) -> None:
        if len(self.units) != self.schema.n_features:
            raise ValueError("the numbers do not fit the columns")


def _numbers(column: Column) -> Floats:
    values = column.values.astype(np.float64)
    return values if column.mask is None else np.where(column.mask != 0, np.nan, values)


def _location(values: Floats, weights: Floats) -> tuple[float, float, float]:
    """Return unit, mean and standard deviation of the finite values.

    Sums are exact: they depend neither on the order of rows, nor on whether a row of weight two is
    given as two rows.
    """
    known = np.isfinite(values)
    values, weights = values[known], weights[known]
    unit = float(np.abs(values).max(initial=0.0))
    if unit == 0.0:
        return 1.0, 0.0, 1.0
    values, total = values / unit, math.fsum(weights)
    mean = math.fsum(weights * values) / total
    spread = math.sqrt(math.fsum(weights * (values - mean) ** 2) / total)
    # What rounding leaves of a constant is no spread.
    return unit, mean, spread if spread > 1e-15 else 1.0


def _frequent_levels(column: Column, weights: Floats) -> list[int]:
    codes, n_levels = column.values, len(column.levels or ())
    if n_levels <= _MOST_LEVELS:
        return list(range(n_levels))
    known = codes >= 0
    totals = np.bincount(codes[known], weights[known], minlength=n_levels)
    return sorted(np.argsort(-totals, kind="stable")[:_MOST_LEVELS].tolist())


@register("Neighborhood")
@dataclass(eq=False)
class Neighborhood:
    """Points with weights, and values that are known about them.

    Parameters
    ----------
    encoder : RowEncoder
        How rows become points.
    metric : {"euclidean", "manhattan"}
        The distance.
    points : ndarray of float64, shape (n_cells, n_coordinates)
        Distinct points, in ascending order.
    weights : ndarray of float64, shape (n_cells,)
        Weight of the rows of each; a row counts one on average, or its whole weight.
    values : ndarray of float64, shape (n_cells, n_values)
        Means over the rows of each.
    """

    encoder: RowEncoder
    metric: str
    points: Floats
    weights: Floats
    values: Floats

    _stored_parts: ClassVar[dict[str, Part]] = {
        "encoder": instance(RowEncoder),
        "metric": one_of(*METRICS),
        "points": array("f8", "cells", "coordinates", finite=True),
        "weights": array("f8", "cells", low=5e-324, finite=True),
        "values": array("f8", "cells", "values"),
    }

    @classmethod
    def fit(
        cls, table: AnyTable, values: Floats, weights: Floats | None, metric: str, scale: bool
    ) -> Neighborhood:
        """Remember rows and what is known about them."""
        counts = _counts(np.ones(table.n_rows) if weights is None else weights)
        encoder = RowEncoder.fit(table, counts, metric, scale)
        points, cell_of = np.unique(encoder.encode(table), axis=0, return_inverse=True)
        cell_of = cell_of.ravel()
        totals: Floats = np.bincount(cell_of, counts).astype(np.float64)
        sums = [np.bincount(cell_of, counts * column) for column in values.T]
        return cls(encoder, metric, points, totals, np.column_stack(sums) / totals[:, np.newaxis])

    def nearest(
        self, table: AnyTable, n_neighbors: int, n_jobs: int | None
    ) -> Iterator[tuple[slice, Places, Floats, Floats]]:
        """Yield blocks of rows with their nearest cells.

        Yields
        ------
        rows : slice
            The rows of the block.
        places, distances, counts : ndarray, shape (n_rows, n_cells)
            The cells from the nearest on, and how much of each counts: together `n_neighbors`, or
            the weight of all. The last one may count in part, those behind do not.
        """
        points = self.encoder.encode(table)
        n_jobs = resolve_threads(n_jobs) if len(points) > _BLOCK else 1
        size = max(1, min(_BLOCK, _MOST_PAIRS // len(self.points)))
        for begin in range(0, len(points), size):
            rows = slice(begin, min(begin + size, len(points)))
            places, distances = self._reach(points[rows], n_neighbors, n_jobs)
            own = self.weights[places]
            counts = np.clip(n_neighbors - (np.cumsum(own, axis=1) - own), 0.0, own)
            n_used = int((counts > 0).any(axis=0).sum())
            yield rows, places[:, :n_used], distances[:, :n_used], counts[:, :n_used]

    def _reach(self, points: Floats, n_neighbors: int, n_jobs: int) -> tuple[Places, Floats]:
        """Return so many cells that their weight is that of the wanted rows.

        And some more: of cells at one distance all are there or none, so that the first ones count.
        """
        n_cells = min(len(self.points), 2 * n_neighbors + 8)
        find = self._finder(points, n_jobs)
        while True:
            places, distances = self._measured(points, find(n_cells))
            if n_cells == len(self.points):
                return places, distances
            reached = self.weights[places].cumsum(axis=1)
            last = np.minimum((reached < n_neighbors).sum(axis=1), n_cells - 1)
            is_inside = distances[np.arange(len(last)), last] * (1 + _TIE) < distances[:, -1]
            if (reached[:, -1] >= n_neighbors).all() and is_inside.all():
                return places, distances
            n_cells = min(len(self.points), 2 * n_cells)

    def _finder(self, points: Floats, n_jobs: int) -> Callable[[int], Places]:
        """Return what finds so many cells near each point; more of them at little more cost."""
        if self.points.shape[1] > _FEW_COLUMNS:
            return partial(_nearest, self._sums(points, n_jobs))
        index = self._index()
        index.n_jobs = n_jobs
        return partial(index.kneighbors, points, return_distance=False)

    def _sums(self, points: Floats, n_threads: int) -> Floats:
        """Return squared or absolute differences of all pairs of points and cells.

        scikit-learn compares by a matrix product, whose last digits depend on the processor.
        """
        is_euclidean = self.metric == "euclidean"
        kind = "squared_difference" if is_euclidean else "absolute_difference"
        cells, own = self._compact_cells(), self.encoder.compact(points, _NO_LEVEL)
        sums = _core.row_sums(own.numbers, cells.numbers, kind=kind, n_threads=n_threads)
        if own.codes.shape[1]:
            matches = _core.row_matches(own.codes, cells.codes, n_threads)
            n_levels = own.n_levels[:, np.newaxis] + cells.n_levels
            step = self.encoder.step**2 if is_euclidean else self.encoder.step
            sums += step * (n_levels - 2.0 * matches)
        return sums

    def _compact_cells(self) -> CompactPoints:
        found = self.__dict__.get("_made_compact")
        if found is None:
            found = self.encoder.compact(self.points, _NO_LEVEL_OF_CELL)
            self.__dict__["_made_compact"] = found
        return found

    def _measured(self, points: Floats, places: Places) -> tuple[Places, Floats]:
        """Return cells in the order of their exact distances, and these."""
        distances = np.empty(places.shape)
        size = max(1, 2**22 // (places.shape[1] * points.shape[1]))
        for begin in range(0, len(points), size):
            part = slice(begin, begin + size)
            gaps = self.points[places[part]] - points[part, np.newaxis]
            if self.metric == "euclidean":
                distances[part] = np.sqrt((gaps**2).sum(axis=2))
            else:
                distances[part] = np.abs(gaps).sum(axis=2)
        order = np.lexsort((places, distances), axis=1)
        found = (np.take_along_axis(each, order, axis=1) for each in (places, distances))
        return tuple(found)  # type: ignore[return-value]

    def _index(self) -> NearestNeighbors:
        index = self.__dict__.get("_made")
        if index is None:
            index = NearestNeighbors(algorithm="kd_tree", metric=self.metric).fit(self.points)
            self.__dict__["_made"] = index
        return index

    def __getstate__(self) -> dict[str, Any]:
        made = ("_made", "_made_compact")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def _validate_loaded(self) -> None:
        if not len(self.points) or self.points.shape[1] != self.encoder.n_coordinates:
            raise ValueError("the points do not fit the columns")


def _nearest(sums: Floats, n_cells: int) -> Places:
    """Return the cells of the least sums of each point; of equal ones the first."""
    nearest = np.empty((len(sums), n_cells), np.int64)
    furthest = np.partition(sums, n_cells - 1, axis=1)[:, n_cells - 1]
    for place, (own, most) in enumerate(zip(sums, furthest, strict=True)):
        near = np.flatnonzero(own <= most)
        nearest[place] = near[np.argsort(own[near], kind="stable")[:n_cells]]
    return nearest


def _counts(weights: Floats) -> Floats:
    """Return how many rows each row stands for: whole weights, or others with a mean of one."""
    if (weights == np.floor(weights)).all():
        return weights
    return np.asarray(weights * (len(weights) / weights.sum()))
