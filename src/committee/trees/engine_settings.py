"""From the parameters of trees to what the engine needs: settings and target.

Trees and forests have these parameters in common; one function checks them for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.params import (
    check_choice,
    check_int,
    check_int_or_fraction,
    check_max_features,
    check_monotonic_cst,
    check_real,
)
from committee.tables.table import Kind, TableSchema


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
