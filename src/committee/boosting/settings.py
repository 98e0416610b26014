"""From the parameters of a boosting estimator to the settings of the engine, and row weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
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
    or_auto,
)
from committee.boosting.defaults import BoostingChoices
from committee.losses.loss import Loss
from committee.losses.objective import Objective
from committee.tables.table import Kind, TableSchema
from committee.trees.engine_settings import RowWeights

Floats = NDArray[np.float64]

# Weights whose mean is this far from one are brought to it, whole or not: squares of their sums
# stay finite.
_FAR = 1e6


def booster_settings(
    model: Any, schema: TableSchema, choices: BoostingChoices, n_rows: int, total: float
) -> dict[str, Any]:
    """Check the parameters that shape a tree; return them for the engine.

    Parameters
    ----------
    model : estimator
        Has the parameters.
    schema : TableSchema
        The features.
    choices : BoostingChoices
        Parameters with an automatic value.
    n_rows : int
        Rows that a round learns from, repetitions included.
    total : float
        Their weight.

    Returns
    -------
    settings : dict
        What a booster takes.
    """
    settings: dict[str, Any] = {
        "max_leaf_nodes": choices.max_leaf_nodes,
        "min_rows_leaf": choices.min_samples_leaf,
        "min_child_weight": check_real("min_child_weight", model.min_child_weight, 0.0),
        "l1": check_real("l1_regularization", model.l1_regularization, 0.0),
        "l2": choices.l2_regularization,
        # scikit-learn's decrease is of squared errors, twice the loss.
        "min_gain": check_real("min_impurity_decrease", model.min_impurity_decrease, 0.0)
        * (total / 2),
        "growth": check_choice("growth", model.growth, ("best", "level", "depth")),
        "category_smoothing": check_real("category_smoothing", model.category_smoothing, 0.0),
    }
    max_depth = check_int("max_depth", model.max_depth, 1, none=True)
    if max_depth is not None:
        settings["max_depth"] = min(max_depth, 2**32 - 1)
    name, value = "min_samples_split", model.min_samples_split
    min_rows_split = min(check_int_or_fraction(name, value, n_rows, 2), n_rows + 1)
    if min_rows_split > 2 * settings["min_rows_leaf"]:  # else it follows
        settings["min_rows_split"] = min_rows_split
    _add_draws(settings, model, choices, schema.n_features)
    directions = _monotonic(model, schema)
    if directions is not None:
        settings["monotonic"] = directions
    if model.interaction_cst is not None:
        settings["interactions"] = interactions(model.interaction_cst, schema)
    return settings


def in_rows(settings: dict[str, Any], objective: Objective) -> None:
    """Bring penalties and limits that are counted in rows to the unit of the hessians.

    Several outputs share the engine's settings; the smallest unit keeps all of them learning.
    """
    if type(objective.losses[0]).hessian_unit is Loss.hessian_unit:
        return  # one, whatever the first scores are
    first = objective.initial_scores()
    parts = np.split(first, len(objective.losses))
    units = [loss.hessian_unit(part) for loss, part in zip(objective.losses, parts, strict=True)]
    for name in ("l1", "l2", "min_child_weight", "category_smoothing"):
        settings[name] *= min(units)


def limit_weight(
    settings: dict[str, Any], model: Any, n_rows: int, total: float, weighs_hessians: bool
) -> None:
    """Add `min_weight_fraction_leaf` to the settings, as one of the limits the engine has.

    Where hessians are weights it is a limit of those; else a share of the rows, which is the same
    without weights.
    """
    share = check_real("min_weight_fraction_leaf", model.min_weight_fraction_leaf, 0.0, 0.5)
    if weighs_hessians:
        settings["min_child_weight"] = max(settings["min_child_weight"], share * total)
    else:
        settings["min_rows_leaf"] = max(settings["min_rows_leaf"], math.ceil(share * n_rows))


def _add_draws(
    settings: dict[str, Any], model: Any, choices: BoostingChoices, n_features: int
) -> None:
    of_tree, of_level, of_node = drawn_features(model, choices, n_features)
    if of_tree < n_features:
        settings["features_per_tree"] = of_tree
    if of_level < of_tree:
        settings["features_per_level"] = of_level
    if of_node < of_level:
        settings["features_per_node"] = of_node


def drawn_features(model: Any, choices: BoostingChoices, n_features: int) -> tuple[int, int, int]:
    """Return how many features are drawn for a tree, of these for a level, of these for a node.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(features_per_tree=0.5, features_per_level=0.5)
    >>> drawn_features(model, SimpleNamespace(max_features=None), 20)
    (10, 5, 5)
    """
    of_tree = check_max_features(model.features_per_tree, n_features, "features_per_tree")
    of_level = check_max_features(model.features_per_level, of_tree, "features_per_level")
    with or_auto():
        return of_tree, of_level, check_max_features(choices.max_features, of_level)


def _monotonic(model: Any, schema: TableSchema) -> list[int] | None:
    directions = check_monotonic_cst(model.monotonic_cst, schema.n_features, schema.names)
    for feature, direction in zip(schema.features, directions or (), strict=False):
        if direction and feature.kind == Kind.CATEGORY:
            raise ValueError(
                f"monotonic_cst constrains {feature.name!r}, a category: its levels have no order"
            )
    return directions


def interactions(interaction_cst: Any, schema: TableSchema) -> list[list[int]]:
    """Return which features may meet in a branch, as lists of positions.

    Parameters
    ----------
    interaction_cst : {"no_interactions", "pairwise"} or sequence of groups of features
        Features by position or by name. Features in no group form one of their own, all together.
    schema : TableSchema
        The features.

    Returns
    -------
    groups : list of lists of int
        Every feature is in some group.
    """
    n_features = schema.n_features
    accepted = (
        'interaction_cst must be None, "no_interactions", "pairwise" or a list of groups of '
        "features, by position or name"
    )
    if isinstance(interaction_cst, str):
        if interaction_cst == "no_interactions":
            return [[feature] for feature in range(n_features)]
        if interaction_cst == "pairwise":
            return [[a, b] for a in range(n_features) for b in range(a + 1, n_features)] or [[0]]
        raise ValueError(f"{accepted}; got {interaction_cst!r}")
    if not isinstance(interaction_cst, Iterable):
        raise TypeError(f"{accepted}; got {interaction_cst!r}")
    groups = []
    for group in interaction_cst:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise TypeError(f"{accepted}; got the group {group!r}")
        groups.append(sorted({_position(feature, schema) for feature in group}))
    rest = sorted(set(range(n_features)) - {feature for group in groups for feature in group})
    return groups + ([rest] if rest else [])


def _position(feature: Any, schema: TableSchema) -> int:
    if isinstance(feature, str):
        if schema.names is None or feature not in schema.names:
            raise ValueError(f"interaction_cst names {feature!r}, which is no column of X")
        return schema.names.index(feature)
    is_position = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
    if not is_position or not 0 <= feature < schema.n_features:
        raise ValueError(
            f"interaction_cst holds {feature!r}; X has the positions 0 to {schema.n_features - 1}"
        )
    return int(feature)


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
