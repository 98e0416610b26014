"""What nets learn from: encoded rows, targets and weights, and which rows are held out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats, Rows
from committee.evaluation.content_order import ContentOrder, Counts, row_keys, with_columns
from committee.evaluation.scored_target import ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import REAL, Part, real
from committee.nets.encoder import NetEncoder
from committee.nets.epochs import UnseenRows
from committee.tables.column import Column, FeatureInfo
from committee.tables.conform import conformed_column
from committee.tables.native_table import AnyTable
from committee.tables.source import Source
from committee.tables.table import TableSchema, read_table
from committee.tables.target import are_repetitions, check_same_length

# Whole weights with a larger mean would take too long as repetitions.
_MOST_REPEATED = 8


@register("nets.Scale")
@dataclass(frozen=True)
class Scale:
    """Numbers of a target in the units of a net, with a mean of zero and a spread of one.

    Parameters
    ----------
    unit : float
        The largest absolute value, by which others are divided first.
    centre, width : float
        Mean and spread after that.

    Examples
    --------
    >>> scale = Scale.of(np.array([1e300, 3e300]), None)
    >>> scale.to_net(np.array([3e300])).tolist(), scale.from_net(np.array([0.0])).tolist()
    ([1.0], [2e+300])
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "unit": real(5e-324),
        "centre": REAL,
        "width": real(5e-324),
    }

    unit: float
    centre: float
    width: float

    @classmethod
    def of(cls, values: Floats, weights: Floats | None) -> Scale:
        """Return the scale of some numbers."""
        unit = float(np.abs(values).max()) or 1.0
        shares = np.ones(len(values)) if weights is None else weights
        total = math.fsum(shares)
        centre = math.fsum(values / unit * shares) / total
        square = math.fsum((values / unit - centre) ** 2 * shares) / total
        return cls(unit, centre, math.sqrt(square) or 1.0)

    def to_net(self, values: Floats) -> Floats:
        """Return numbers in the units of the net."""
        return np.asarray((values / self.unit - self.centre) / self.width)

    def from_net(self, values: Floats | float) -> Floats:
        """Return what the net predicts in the units of the target."""
        return np.asarray((values * self.width + self.centre) * self.unit)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """A table as a net reads it, with its target.

    Parameters
    ----------
    encoder : NetEncoder
        Made the input.
    codes, fractions : ndarray
        The input.
    target : ScoredTarget
        Classes or numbers.
    order : ContentOrder
        The rows in an order that their content decides, each as often as it counts.
    learned : ndarray of float64
        Weight of each row in learning; zero for rows that are held out.
    is_repeated : bool
        Whether weights are small whole numbers, which repeat rows; others multiply gradients.
    """

    encoder: NetEncoder
    codes: NDArray[np.uint32]
    fractions: NDArray[np.float32]
    target: ScoredTarget
    order: ContentOrder
    learned: Floats
    is_repeated: bool

    def without(self, part: Counts) -> tuple[TrainingRows, UnseenRows]:
        """Return the rows without some repetitions, and these to measure a net on."""
        share = part / np.maximum(self.order.counts, 1)
        rest = replace(self, learned=self.learned * (1.0 - share))
        return rest, replace(self, learned=self.learned * share).as_unseen(rest.scale)

    def only(self, rows: Rows) -> TrainingRows:
        """Return the same with all other rows absent."""
        learned = np.zeros_like(self.learned)
        learned[rows] = self.learned[rows]
        return replace(self, learned=learned)

    def counts_of(self, rows: Rows) -> Counts:
        """Return how often each row counts, zero for others than these."""
        counts = np.zeros_like(self.order.counts)
        counts[rows] = self.order.counts[rows]
        return counts

    def as_unseen(self, scale: Scale | None) -> UnseenRows:
        """Return the rows to measure a net on."""
        rows = self.rows
        weights = None if self.is_repeated else self.learned[rows] / self.learned.max()
        return UnseenRows(
            self.codes[rows],
            self.fractions[rows],
            None if self.target.codes is None else self.target.codes[rows, 0],
            None if scale is None else scale.to_net(self.target.table[rows]),
            weights,
        )

    @property
    def rows(self) -> NDArray[np.uint32]:
        """Rows to learn from, in their order."""
        rows = self.order.by_content
        rows = rows[self.learned[rows] > 0]
        if self.is_repeated:
            rows = np.repeat(rows, self.learned[rows].astype(np.int64))
        return rows.astype(np.uint32)

    @property
    def scale(self) -> Scale | None:
        """The units of the target in learning; None for classes."""
        if self.target.codes is not None:
            return None
        rows = self.rows
        return Scale.of(
            self.target.table[rows, 0], None if self.is_repeated else self.learned[rows]
        )

    def trainer(self, shape: _core.NetShape, settings: dict[str, Any]) -> _core.NetTrainer:
        """Return a trainer of a net."""
        weights = None
        if not self.is_repeated:
            # A mean of one; in two steps, because sums of huge weights overflow.
            shares = self.learned / self.learned.max()
            mean = math.fsum(shares) / np.count_nonzero(shares)
            weights = (shares / mean).astype(np.float32)
        scale = self.scale
        reals = None
        if scale is not None:
            # Absent rows may hold anything.
            present = np.where(self.learned > 0, self.target.table[:, 0], scale.from_net(0.0))
            reals = scale.to_net(present).astype(np.float32)[:, np.newaxis]
        return _core.NetTrainer(
            shape,
            self.codes,
            self.fractions,
            settings,
            classes=None if scale is not None else np.ascontiguousarray(self.target.table[:, 0]),
            reals=reals,
            weights=weights,
        )


@dataclass(frozen=True, eq=False)
class NetTable:
    """A training table before it is encoded.

    Parameters
    ----------
    columns : list of Column
        Its features.
    schema : TableSchema
        Their names, kinds and levels.
    table : _core.Table
        The same for the engine.
    """

    columns: list[Column]
    schema: TableSchema
    table: _core.Table

    @classmethod
    def read(cls, X: Any, categorical_features: Any, numeric_text: str) -> NetTable:
        """Read a table to fit on."""
        table, schema = read_table(X, categorical_features, numeric_text)
        columns = columns_of(AnyTable(X).opened(), schema)
        pairs = zip(schema.features, columns, strict=True)
        features = tuple(_completed(feature, column) for feature, column in pairs)
        return cls(columns, TableSchema(features, schema.names), table)

    def rows(self, target: ScoredTarget, seed: int, n_knots: int, n_threads: int) -> TrainingRows:
        """Encode the table and put its rows in order."""
        check_same_length(self.table.n_rows, target.n_rows)
        weights = target.weights
        n_rows = target.n_rows
        learned = np.ones(n_rows) if weights is None else weights
        encoder = NetEncoder.of(self.columns, _like_counts(weights), n_knots)
        codes, fractions = encoder.apply(self.columns, n_rows)
        counts = (learned > 0).astype(np.int64)
        if weights is not None and are_repetitions(weights):
            counts = weights.astype(np.int64)
        keys = row_keys(self.table, self.schema, seed, n_threads)
        if target.codes is None:
            targets, classes = with_columns(keys, target.table), None
        else:
            targets, classes = None, target.codes[:, 0]
        order = ContentOrder(keys, counts, targets, classes, None, weights)
        most = _MOST_REPEATED * np.count_nonzero(learned)
        is_repeated = are_repetitions(learned) and bool(learned.sum() <= most)
        return TrainingRows(encoder, codes, fractions, target, order, learned, is_repeated)


def columns_of(source: Source, schema: TableSchema) -> list[Column]:
    """Return the columns of a table as they were in `fit`."""
    return [
        conformed_column(source, position, feature)
        for position, feature in enumerate(schema.features)
    ]


def _completed(feature: FeatureInfo, column: Column) -> FeatureInfo:
    """Return a feature with what is known of missing values."""
    missing = column.missing()
    is_empty = feature.levels is None and bool(missing.all())
    return replace(feature, has_missing=bool(missing.any()), is_empty=is_empty)


def _like_counts(weights: Floats | None) -> Floats | None:
    """Return whole weights as they are, others with a mean of one; absent rows have zero."""
    if weights is None or are_repetitions(weights):
        return weights
    shares = weights / weights.max()
    return np.asarray(shares * (np.count_nonzero(shares) / math.fsum(shares)))
