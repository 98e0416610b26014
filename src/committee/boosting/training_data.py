"""What a fit learns from: the rows with their target and weights, and the table of the features."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee._core import derive_key
from committee.base.arrays import Floats, Rows
from committee.base.sampling import SeedUse
from committee.base.work import resolve_threads
from committee.boosting.additive_model import LearnerSum, TreeSum
from committee.boosting.categories import TargetStatistics, encode_categories
from committee.boosting.task import BoostingParameters
from committee.evaluation.content_order import (
    ContentOrder,
    ContentSampler,
    Counts,
    row_keys,
    table_keys,
    with_columns,
)
from committee.evaluation.scored_target import ScoredTarget
from committee.losses.loss import Loss
from committee.losses.objective import Objective
from committee.tables.native_table import AnyTable, data_fingerprint
from committee.tables.table import TableSchema, bin_table, fingerprint, read_table
from committee.tables.target import RowWeights


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows of a table: their target and weights, and which of them are held out.

    Rows that are held out stay in the table with a weight of zero: they are absent. Of a row of
    weight two one repetition may be held out, and the other learned from.

    Parameters
    ----------
    target : ScoredTarget
        The target of all rows.
    objective : Objective
        The loss with the target and the weights of all rows.
    repetitions : ndarray of int64
        How often each row counts among those to learn from.
    keys : ContentKeys
        Decide which rows are held out and drawn.
    groups : array-like or None
        Rows with the same value are held out and drawn together.
    has_weights : bool
        Whether rows to learn from differ in weight.
    held_out : ndarray of int64 or None, default=None
        How many repetitions of each row are held out.
    """

    target: ScoredTarget
    objective: Objective
    repetitions: Counts
    keys: ContentKeys
    groups: Any
    has_weights: bool
    held_out: Counts | None = None

    @classmethod
    def weighed(
        cls,
        target: ScoredTarget,
        loss: Loss,
        factors: Floats | None,
        groups: Any,
        keys: ContentKeys,
    ) -> TrainingRows:
        """Return rows with their sample weights times what class weights multiply them by."""
        combined = RowWeights.combine(target.n_rows, target.weights, factors)
        weights = boosting_weights(combined, target.weights)
        losses = (loss,) * target.n_outputs
        objective = Objective.centred(losses, target_columns(target), weights, keys.n_threads)
        repetitions = combined.repetitions.astype(np.int64)
        if weights is not None:
            repetitions[weights == 0] = 0
        has_weights = weights is not None and not ((weights == 0.0) | (weights == 1.0)).all()
        return cls(target, objective, repetitions, keys, groups, bool(has_weights))

    def without(self, part: Counts) -> TrainingRows:
        """Return the same rows with some repetitions of them held out."""
        left = self.repetitions - part
        weights = self.weights_of(left)
        return replace(
            self,
            objective=replace(self.objective, weights=weights),
            repetitions=left,
            held_out=part,
        )

    def weights_of(self, counts: Counts) -> Floats:
        """Return the weights of so many repetitions of each row."""
        if self.weights is None:
            return counts.astype(np.float64)
        return np.asarray(self.weights / np.maximum(self.repetitions, 1) * counts)

    def validation_part(self) -> tuple[Rows, ScoredTarget] | None:
        """Return the rows of which something is held out, and their target; None without."""
        held_out = self.held_out
        if held_out is None:
            return None
        rows = np.flatnonzero(held_out)
        part = self.target.part(rows)
        if part.weights is not None:
            share = held_out / np.maximum(held_out + self.repetitions, 1)
            part = replace(part, weights=part.weights * share[rows])
        return rows, part

    @property
    def n_rows(self) -> int:
        """Number of rows, with those that are absent."""
        return self.target.n_rows

    @property
    def n_counted(self) -> int:
        """Number of rows to learn from, repetitions included."""
        return int(self.repetitions.sum())

    @property
    def loss(self) -> Loss:
        """The loss, the same for all outputs."""
        return self.objective.losses[0]

    @property
    def weights(self) -> Floats | None:
        """Weights of the rows; None for all one."""
        return self.objective.weights

    @property
    def learner_weights(self) -> Floats | None:
        """Weights that a weak learner needs: none where all rows that it learns from count once."""
        return self.weights if self.has_weights else None

    @property
    def learned(self) -> Rows | None:
        """Rows to learn from; None is all of them."""
        return None if self.repetitions.all() else np.flatnonzero(self.repetitions)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.n_counted if self.weights is None else self.weights.sum())

    @property
    def mask(self) -> NDArray[np.uint8] | None:
        """Rows to learn from; None is all of them."""
        return None if self.repetitions.all() else (self.repetitions > 0).astype(np.uint8)

    @property
    def is_divisible(self) -> bool:
        """Whether there are several rows, of several classes."""
        codes = self.target.codes
        if codes is None or self.n_counted < 2:
            return self.n_counted > 1
        present = codes[self.repetitions > 0]
        return bool((present != present[0]).any())

    @property
    def order(self) -> ContentOrder:
        """The rows to learn from in the order of what they hold, to be held out or drawn."""
        keys, codes = self.keys.of_rows, self.target.codes
        if codes is None:
            targets, classes = with_columns(keys, self.target.table), None
        else:
            targets, classes = None, codes[:, 0]
        return ContentOrder(keys, self.repetitions, targets, classes, self.groups, self.weights)

    def draws(self, share: float, seed: int) -> RoundDraws | None:
        """Return the draws of each round; None if it learns from all rows."""
        return None if share == 1.0 else RoundDraws(self.order.sampler(share, seed), self)


@dataclass(frozen=True, eq=False)
class ContentKeys:
    """Keys of the rows of a table: a number for each that only its cells and a seed decide.

    Parameters
    ----------
    table : TrainingTable
        The table as it was read.
    seed : int
        Seed of the ensemble.
    n_threads : int
        Threads to use.
    """

    table: TrainingTable
    seed: int
    n_threads: int

    @cached_property
    def of_rows(self) -> NDArray[np.uint64]:
        """The keys, which are made where something is held out or drawn."""
        seed, table = derive_key(self.seed, SeedUse.FOLDS), self.table
        if table.schema is not None:
            return row_keys(table.table, table.schema, seed, self.n_threads)
        try:
            return table_keys(table.table.opened(), seed)
        except (TypeError, ValueError):  # only the weak learner can read it: all rows differ
            generator = np.random.default_rng(seed)
            return generator.permutation(table.n_rows).astype(np.uint64)


@dataclass(frozen=True, eq=False)
class RoundRows:
    """The rows of a round.

    Parameters
    ----------
    mask : ndarray of uint8
        1 for rows of the round.
    weights : ndarray of float64 or None
        Weights of the rows in this round, where some repetitions of a row may be drawn; None
        where they are those of the fit.
    """

    mask: NDArray[np.uint8]
    weights: Floats | None = None


@dataclass(frozen=True, eq=False)
class RoundDraws:
    """Draws of the rows of each round.

    Parameters
    ----------
    sampler : ContentSampler
        Draws repetitions of rows.
    rows : TrainingRows
        The rows to draw from.
    """

    sampler: ContentSampler
    rows: TrainingRows

    def __call__(self, number: int) -> RoundRows:
        """Return the rows of a round."""
        counts = self.sampler.drawn(number)
        mask = (counts > 0).astype(np.uint8)
        return RoundRows(mask, self.rows.weights_of(counts) if self._has_repetitions else None)

    @cached_property
    def _has_repetitions(self) -> bool:
        return bool((self.rows.repetitions > 1).any())


# Weights whose mean is this far from one are brought to it, whole or not: squares of their sums
# stay finite.
_FAR = 1e6


def boosting_weights(rows: RowWeights, own: Floats | None) -> Floats | None:
    """Return the weights that boosting uses: whole ones as they are, others with a mean of one.

    Whole weights are repetitions. Of other weights only ratios should matter, yet what they are
    compared with (`l2_regularization`, `min_child_weight`) is counted in rows.

    Parameters
    ----------
    rows : RowWeights
        Sample weights times class weights.
    own : ndarray of float64 or None
        The sample weights alone: whole ones are repetitions.

    Returns
    -------
    weights : ndarray of float64 or None
        None for all one.

    Examples
    --------
    >>> weights = np.array([0.25, 0.75, 0.0])
    >>> boosting_weights(RowWeights(3, weights, None), weights).tolist()
    [0.5, 1.5, 0.0]
    """
    weights = rows.weights
    if weights is None:
        return None
    if weights[0] > 0 and (weights == weights[0]).all() and not _are_whole(weights[:1]):
        return None  # as many rows as without
    mean = float((weights / max(int((weights > 0).sum()), 1)).sum())
    own_is_whole = own is None or _are_whole(own)
    if own_is_whole and 1 / _FAR <= mean <= _FAR:
        if _are_whole(weights):
            return weights
        # Class weights that are not whole: the mean over the rows with their repetitions.
        mean = float((weights / max(rows.n_counted, 1)).sum())
    scaled = weights / mean
    # Ratios beyond 1e300 and the like: what has vanished is absent.
    return np.asarray(np.minimum(scaled, 1e12))


def _are_whole(weights: Floats) -> bool:
    return bool((weights == np.floor(weights)).all())


def target_columns(target: ScoredTarget) -> NDArray[Any]:
    """Return the target with one contiguous column an output.

    Rows of weight zero are absent, and may hold what the loss cannot take: they get the target of
    another row.
    """
    if target.counted.all():
        return np.asfortranarray(target.table)
    columns = np.array(target.table, order="F")
    columns[~target.counted] = columns[target.counted.argmax()]
    return columns


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """The table of the features, as the weak learner reads it.

    Parameters
    ----------
    table : _core.Table or AnyTable
        The table itself: for trees with target statistics in place of long categories.
    schema : TableSchema or None
        The user's columns; None where the weak learner is no tree.
    dataset : _core.BinnedDataset or None, default=None
        The table in bins, for trees.
    statistics : TargetStatistics or None, default=None
        The statistics that replace categories.
    """

    table: Any
    schema: TableSchema | None
    dataset: Any = None
    statistics: TargetStatistics | None = None

    @classmethod
    def read(cls, X: Any, params: BoostingParameters) -> TrainingTable:
        """Read a table for trees, or keep it for a weak learner of the user's own."""
        if params.estimator is not None:
            return cls(AnyTable(X), None)
        return cls(*read_table(X, params.categorical_features, params.numeric_text))

    def binned(self, params: BoostingParameters, rows: TrainingRows, seed: int) -> TrainingTable:
        """Encode long categories and bin the table, where trees learn from it.

        Parameters
        ----------
        params : BoostingParameters
            How.
        rows : TrainingRows
            Target statistics are of the rows to learn from; bins do not look at the target.
        seed : int
            Of the random orders of target statistics.
        """
        own = self.schema
        if own is None:
            return self
        table, statistics = self.table, None
        if any(feature.levels is not None for feature in own.features):
            statistics, table, own = encode_categories(
                params.category_encoding, table, own, rows.objective, rows.target, seed
            )
        dataset, seen = bin_table(
            params,
            table,
            own if statistics is None else statistics.schema(own),
            rows.weights,
            exact=params.split_finding == "exact",
            n_threads=resolve_threads(params.n_jobs),
            spread=False,
        )
        schema = seen if statistics is None else statistics.own_schema(own, seen)
        return TrainingTable(table, schema, dataset, statistics)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.table.n_rows)

    @property
    def n_features(self) -> int:
        """Number of the user's columns."""
        return int(self.table.n_features if self.schema is None else self.schema.n_features)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the user's columns."""
        names: tuple[str, ...] | None
        names = self.table.names if self.schema is None else self.schema.names
        return names

    def read_validation(self, X: Any, name: str) -> tuple[Any, int]:
        """Return a validation table as the weak learner takes it, and its number of rows."""
        if self.schema is not None:
            table = self.schema.read(X, name)
            table = table if self.statistics is None else self.statistics.encode(table)
            return table, table.n_rows
        found = AnyTable.of_batch(X, self.names, self.n_features, name)
        return found.native, found.n_rows

    def fingerprint(self, rows: TrainingRows, total: TreeSum | LearnerSum) -> int:
        """Return a number that differs for other cells, targets or weights.

        Parameters
        ----------
        rows : TrainingRows
            Targets and weights.
        total : TreeSum or LearnerSum
            The fitted rounds: cells are compared by leaves of the first tree.
        """
        columns = rows.objective.y
        if isinstance(total, TreeSum):
            number = fingerprint(total.forests[0], self.table, columns)
        else:
            number = data_fingerprint(self.table, columns)
        return number if rows.weights is None else zlib.crc32(rows.weights.data, number)
