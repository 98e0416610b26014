"""From the parameters of an estimator to what the engine needs: settings, target and weights.

Trees and forests have these parameters in common; one function checks them for both.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.params import (
    check_choice,
    check_int,
    check_int_or_fraction,
    check_max_features,
    check_monotonic_cst,
    check_real,
)
from committee.tables.table import Kind, SharedTable, TableSchema
from committee.tables.target import are_repetitions

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EngineTarget:
    """The target as the engine takes it: classes of each output, or real numbers.

    Parameters
    ----------
    classes : ndarray of int32, shape (n_rows, n_outputs), or None
        Class codes.
    n_classes : list of int
        Number of classes of each output; empty for regression.
    reals : ndarray of float64, shape (n_rows, n_outputs), or None
        Regression targets.
    """

    classes: NDArray[np.int32] | None
    n_classes: list[int]
    reals: NDArray[np.float64] | None

    @property
    def _table(self) -> NDArray[Any]:
        values = self.reals if self.classes is None else self.classes
        assert values is not None
        return values

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._table)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self._table.shape[1])


@dataclass(frozen=True)
class RowWeights:
    """Weights of the rows, and how many rows each stands for.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    weights : ndarray of float64 or None
        Weight of each row, None for all one.
    counts : ndarray of uint32 or None
        Repetitions of each row; None lets the weights say it: whole weights are repetitions,
        with any other weights a row counts once.
    """

    n_rows: int
    weights: NDArray[np.float64] | None
    counts: NDArray[np.uint32] | None

    @classmethod
    def combine(
        cls,
        n_rows: int,
        sample_weight: NDArray[np.float64] | None,
        factors: NDArray[np.float64] | None,
    ) -> RowWeights:
        """Multiply sample weights by class weights; only the former say how often a row counts."""
        if factors is None:
            return cls(n_rows, sample_weight, None)
        own = np.ones(n_rows) if sample_weight is None else sample_weight
        with np.errstate(over="ignore", under="ignore"):
            weights = own * factors
            is_finite = np.isfinite(weights.sum())
        if not is_finite or ((weights == 0) & (own > 0) & (factors > 0)).any():
            raise ValueError(
                "class_weight times sample_weight leaves the range of float64; scale one of them"
            )
        return cls(n_rows, weights, _repetitions(own))

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    @property
    def n_counted(self) -> int:
        """Number of rows with a positive weight, repetitions included."""
        if self.weights is None:
            return self.n_rows
        return int(self.repetitions[self.weights > 0].sum(dtype=np.int64))

    @property
    def repetitions(self) -> NDArray[np.uint32]:
        """How often each row counts."""
        if self.counts is not None:
            return self.counts
        if self.weights is None:
            return np.ones(self.n_rows, np.uint32)
        return _repetitions(self.weights)


def _repetitions(weights: NDArray[np.float64]) -> NDArray[np.uint32]:
    counts: NDArray[np.uint32]
    counts = (weights if are_repetitions(weights) else weights > 0).astype(np.uint32)
    return counts


def tree_settings(
    model: Any, schema: TableSchema, target: EngineTarget, n_rows: int, total: float
) -> dict[str, Any]:
    """Check the parameters of an estimator that shape a tree; return them for the engine.

    Parameters
    ----------
    model : estimator
        Has the parameters, and the names of its criteria as `_criteria`.
    schema : TableSchema
        The features.
    target : EngineTarget
        The target.
    n_rows : int
        Rows that a tree learns from, which `min_samples_split` and the like are fractions of.
    total : float
        Their weight.

    Returns
    -------
    settings : dict
        All but the seed, the number of threads and how thresholds are found.
    """
    check_choice("criterion", model.criterion, model._criteria)
    check_choice("category_split", model.category_split, ("subset", "fanout"))
    is_friedman = model.criterion == "friedman_mse"
    settings: dict[str, Any] = {
        "criterion": "squared_error" if is_friedman else model.criterion,
        "fan_out_categories": model.category_split == "fanout",
        "level_penalty": check_real("level_penalty", model.level_penalty, 0.0),
        "min_rows_split": min(
            check_int_or_fraction("min_samples_split", model.min_samples_split, n_rows, 2),
            n_rows + 1,  # as good as any larger number
        ),
        "min_rows_leaf": min(
            check_int_or_fraction(
                "min_samples_leaf", model.min_samples_leaf, n_rows, include_one=False
            ),
            n_rows + 1,
        ),
        "min_weight_leaf": total
        * check_real("min_weight_fraction_leaf", model.min_weight_fraction_leaf, 0.0, 0.5),
        "min_impurity_decrease": check_real(
            "min_impurity_decrease", model.min_impurity_decrease, 0.0
        ),
        "max_features": check_max_features(model.max_features, schema.n_features),
    }
    max_depth = check_int("max_depth", model.max_depth, 1, none=True)
    if max_depth is not None:
        settings["max_depth"] = min(max_depth, 2**32 - 1)
    max_leaf_nodes = check_int("max_leaf_nodes", model.max_leaf_nodes, 2, none=True)
    if max_leaf_nodes is not None:
        settings["max_leaf_nodes"] = min(max_leaf_nodes, 2**32 - 1)
    directions = _monotonic(model.monotonic_cst, schema, target)
    if directions is not None:
        settings["monotonic"] = directions
    return settings


def _monotonic(monotonic_cst: Any, schema: TableSchema, target: EngineTarget) -> list[int] | None:
    directions = check_monotonic_cst(monotonic_cst, schema.n_features, schema.names)
    if directions is None:
        return None
    if target.n_outputs > 1:
        raise ValueError(
            "Monotonicity constraints are not supported with multiple output targets; "
            f"y has {target.n_outputs}, set monotonic_cst=None"
        )
    if target.n_classes and target.n_classes[0] > 2:
        raise ValueError(
            "Monotonicity constraints are not supported with multiclass classification; "
            f"y has {target.n_classes[0]} classes, set monotonic_cst=None"
        )
    for feature, direction in zip(schema.features, directions, strict=True):
        if direction and feature.kind == Kind.CATEGORY:
            raise ValueError(
                f"monotonic_cst constrains {feature.name!r}, a category: its levels have no order"
            )
    return directions


def bin_table(
    model: Any,
    table: _core.Table,
    schema: TableSchema,
    weights: NDArray[np.float64] | None,
    *,
    exact: bool,
    n_threads: int,
) -> tuple[_core.BinnedDataset, TableSchema]:
    """Bin a table; return it with the schema completed by what training saw.

    A table of several fits is binned once, by the weights that all of them share.
    """
    max_bins = check_int("max_bins", model.max_bins, 2, 255)
    n_levels = [len(feature.levels or ()) for feature in schema.features]

    def bin_by(own: _core.Table, by: NDArray[np.float64] | None) -> _core.BinnedDataset:
        if _log.isEnabledFor(logging.DEBUG):
            labels = Counter(feature.label for feature in schema.features)
            kinds = ", ".join(f"{count} {label}" for label, count in labels.items())
            what = "ranks of values" if exact else f"at most {max_bins} bins a column"
            _log.debug("%d rows in %s; columns: %s", own.n_rows, what, kinds)
        return _core.BinnedDataset(
            own, by, n_levels, max_bins=max_bins, exact=exact, n_threads=n_threads
        )

    if isinstance(table, SharedTable):
        dataset = table.binned((max_bins, exact), bin_by)
    else:
        dataset = bin_by(table, weights)
    return dataset, schema.completed(dataset)


def check_reals(
    criterion: str, values: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> None:
    """Raise unless the criterion can be computed for these targets."""
    if criterion == "poisson":
        _check_counts(values, weights)
    elif criterion != "absolute_error":
        _check_squares(values)


def _check_squares(values: NDArray[np.float64]) -> None:
    with np.errstate(over="ignore"):
        is_finite = np.isfinite(np.ptp(values, axis=0) ** 2).all()
    if not is_finite:
        raise ValueError(
            f"y holds values up to {np.abs(values).max():.3g}: squared errors leave the range of "
            "float64; divide y by a constant, or choose the absolute error"
        )


def _check_counts(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> None:
    present = values if weights is None else values[weights > 0]
    if (present < 0).any():
        raise ValueError(
            "Some value(s) of y are negative which is not allowed for Poisson regression."
        )
    if (present.sum(axis=0) <= 0).any():
        raise ValueError(
            "Sum of y is not strictly positive which is necessary for Poisson regression."
        )
