"""Trees as weak learners: their settings for the engine, and the trees of a round."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.base.params import (
    check_choice,
    check_int,
    check_int_or_fraction,
    check_max_features,
    check_monotonic_cst,
    check_real,
    or_auto,
)
from committee.base.products import dot
from committee.base.sampling import member_seed
from committee.base.warn import warn
from committee.base.work import resolve_threads
from committee.boosting.defaults import BoostingChoices
from committee.boosting.task import BoostingParameters
from committee.boosting.training_data import RoundRows, TrainingRows, TrainingTable
from committee.losses.loss import Loss
from committee.losses.objective import Objective, Pair
from committee.tables.table import Kind, TableSchema

# The bits of the feature in a node's feature and flags.
_FEATURE = (1 << 24) - 1


@dataclass(frozen=True, eq=False)
class TreeLearner:
    """Fits a tree of the engine for each column of scores.

    Parameters
    ----------
    booster : Booster
        The engine, with the binned table and the weights.
    table : _core.Table
        The table itself.
    learning_rate : float
        Factor of each step.
    seed : int
        Seed of the ensemble.
    ccp_alpha : float
        Strength of pruning, in units of the mean loss.
    directions : list of int or None
        Monotone constraints.
    n_threads : int
        Threads to use.
    """

    booster: Any
    table: _core.Table
    learning_rate: float
    seed: int
    ccp_alpha: float = 0.0
    directions: Sequence[int] | None = None
    n_threads: int = 1

    @classmethod
    def of(
        cls,
        params: BoostingParameters,
        choices: BoostingChoices,
        table: TrainingTable,
        rows: TrainingRows,
        seed: int,
    ) -> TreeLearner:
        """Return a learner with the settings of the parameters, for a table in bins."""
        assert table.schema is not None
        settings = booster_settings(params, choices, table.schema, rows)
        if table.statistics is not None:
            table.statistics.widen(settings, table.n_features)
        n_threads = resolve_threads(params.n_jobs)
        return cls(
            _core.Booster(table.dataset, settings, rows.learner_weights, n_threads),
            table.table,
            choices.learning_rate,
            seed,
            params.ccp_alpha / 2,  # scikit-learn's is of squared errors, twice the loss
            settings.get("monotonic"),
            n_threads,
        )

    def fit(
        self,
        objective: Objective,
        scores: Floats,
        number: int,
        sample: RoundRows | None,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[list[_core.Tree], float]:
        """Grow the trees of round `number`, and add their steps to the scores.

        Return the trees and a bound of what the round has added to any score.
        """
        pairs = objective.gradients(scores)
        if sample is not None and sample.weights is not None:
            self.booster.weigh(sample.weights)
            objective = replace(objective, weights=sample.weights)
        loss = objective.losses[0]
        # Leaves of all columns are found from the scores before the round.
        before = scores.copy(order="F") if loss.refits_leaves and loss.n_scores > 1 else scores
        trees, longest = [], 0.0
        for column, pair in enumerate(pairs):
            seed = member_seed(self.seed, number * len(pairs) + column)
            tree, leaves = self._grow(pair, seed, sample)
            tree, values = self._with_steps(tree, leaves, objective, before, column, sample)
            if leaves is None:
                self.booster.add_to(tree, scores[:, column], self.n_threads)
            else:
                scores[:, column] += values[leaves]
            trees.append(tree)
            longest = max(longest, largest_step(values))
        return trees, longest

    def steps(self, tree: _core.Tree, table: _core.Table) -> Floats:
        """Return what a tree adds to the scores of the rows of a table."""
        return tree.predict(table, self.n_threads)[:, 0]

    def _grow(
        self, pair: Pair, seed: int, sample: RoundRows | None
    ) -> tuple[_core.Tree, NDArray[np.uint32] | None]:
        """Return a tree, and the leaf of each row where the booster no longer has it."""
        mask = None if sample is None or sample.weights is not None else sample.mask
        tree = self.booster.grow(
            *pair, learning_rate=self.learning_rate, seed=seed, sample=mask, progress=None
        )
        if self.ccp_alpha == 0:
            return tree, None
        tree = tree.prune(self.ccp_alpha)
        return tree, tree.apply(self.table, self.n_threads)

    def _with_steps(
        self,
        tree: _core.Tree,
        leaves: NDArray[np.uint32] | None,
        objective: Objective,
        scores: Floats,
        column: int,
        sample: RoundRows | None,
    ) -> tuple[_core.Tree, Floats]:
        """Return the tree with the steps of the loss, and these steps, one a node.

        Newton steps stay as they are, unless they are longer than is safe.
        """
        loss, _ = objective.loss_of(column)
        if loss.refits_leaves:
            leaves = self.booster.leaves() if leaves is None else leaves
            rows = slice(None) if sample is None else np.flatnonzero(sample.mask)
            steps = objective.leaf_values(scores, column, rows, leaves, tree.n_nodes)
            if self.directions is not None:
                steps = monotone_steps(tree.arrays(), steps, self.directions)
            with np.errstate(over="ignore"):
                return self._valued(tree, self.learning_rate * steps)
        shrunk = tree.arrays()["values"][:, 0]
        if type(loss).safe_steps is Loss.safe_steps or self.learning_rate == 0:
            return tree, shrunk
        shorter = shorter_steps(shrunk, loss.safe_steps(shrunk / self.learning_rate))
        return (tree, shrunk) if shorter is None else self._valued(tree, shorter)

    def _valued(self, tree: _core.Tree, values: Floats) -> tuple[_core.Tree, Floats]:
        values = np.ascontiguousarray(values)
        if not np.isfinite(values).all():
            raise left_range()
        return self.booster.with_leaf_values(tree, values), values


def left_range() -> ValueError:
    """Return the error of scores that grow without bounds."""
    return ValueError(
        "the scores have left the range of float64: lower learning_rate, or check that the "
        "gradients of the loss are right"
    )


def largest_step(steps: Floats) -> float:
    """Return the size of the longest step; infinite if one is not a number."""
    low, high = abs(float(steps.min())), abs(float(steps.max()))
    return max(low, high) if np.isfinite(low + high) else np.inf


def shorter_steps(shrunk: Floats, safe: Floats) -> Floats | None:
    """Return shrunk Newton steps, none longer than the safe one; None if all are short enough.

    The loss falls all the way to a safe step, so that a shorter one is safe too: where the
    learning rate has made steps short, nothing changes.

    Examples
    --------
    >>> shorter_steps(np.array([0.1, -5.0]), np.array([0.7, -3.0])).tolist()
    [0.1, -3.0]
    >>> shorter_steps(np.array([0.1]), np.array([0.7]))
    """
    too_long = np.abs(shrunk) > np.abs(safe)
    return np.where(too_long, safe, shrunk) if too_long.any() else None


def monotone_steps(
    nodes: Mapping[str, NDArray[Any]], steps: Floats, directions: Sequence[int]
) -> Floats:
    """Clip the steps of leaves, so that they rise and fall with features as they must.

    At a split of a constrained feature the leaves of either side are kept on their side of the
    middle between the mean steps of both; bounds are handed down to all nodes below.

    Parameters
    ----------
    nodes : dict of ndarray
        The arrays of a tree.
    steps : ndarray of float64, shape (n_nodes,)
        Steps of the leaves; other entries are not looked at.
    directions : sequence of int
        -1, 0 or 1 for each feature.

    Returns
    -------
    steps : ndarray of float64, shape (n_nodes,)
        Steps of leaves, and means in the nodes above them.
    """
    firsts, weight = nodes["first_child"].astype(np.intp), nodes["weight"]
    features = nodes["feature_and_flags"] & _FEATURE
    means = steps.copy()
    inner = np.flatnonzero(firsts)
    for node in inner[::-1]:
        pair = slice(firsts[node], firsts[node] + 2)
        shares = weight[pair] / weight[pair].sum() if weight[pair].any() else np.full(2, 0.5)
        means[node] = dot(shares, means[pair])
    low, high = np.full(len(steps), -np.inf), np.full(len(steps), np.inf)
    for node in inner:
        left, right = firsts[node], firsts[node] + 1
        for child in (left, right):
            low[child], high[child] = low[node], high[node]
        direction = directions[features[node]]
        if direction:
            middle = np.clip(means[left] / 2 + means[right] / 2, low[node], high[node])
            below, above = (left, right) if direction > 0 else (right, left)
            high[below], low[above] = middle, middle
    return np.clip(means, low, high)


def booster_settings(
    params: BoostingParameters, choices: BoostingChoices, schema: TableSchema, rows: TrainingRows
) -> dict[str, Any]:
    """Check the parameters that shape a tree; return them for the engine.

    Parameters
    ----------
    params : BoostingParameters
        The parameters of the estimator.
    choices : BoostingChoices
        Those that may be "auto", decided.
    schema : TableSchema
        The features.
    rows : TrainingRows
        The rows to learn from, of which each round draws some.

    Returns
    -------
    settings : dict
        What a booster takes.
    """
    n_drawn = max(1, int(rows.n_counted * choices.subsample))
    total = rows.total * choices.subsample
    settings: dict[str, Any] = {
        "max_leaf_nodes": choices.max_leaf_nodes,
        "min_rows_leaf": choices.min_samples_leaf,
        "min_child_weight": check_real("min_child_weight", params.min_child_weight, 0.0),
        "l1": check_real("l1_regularization", params.l1_regularization, 0.0),
        "l2": choices.l2_regularization,
        # scikit-learn's decrease is of squared errors, twice the loss.
        "min_gain": check_real("min_impurity_decrease", params.min_impurity_decrease, 0.0)
        * (total / 2),
        "growth": check_choice("growth", params.growth, ("best", "level", "depth")),
        "category_smoothing": check_real("category_smoothing", params.category_smoothing, 0.0),
    }
    max_depth = check_int("max_depth", params.max_depth, 1, none=True)
    if max_depth is not None:
        settings["max_depth"] = min(max_depth, 2**32 - 1)
    name, value = "min_samples_split", params.min_samples_split
    min_rows_split = min(check_int_or_fraction(name, value, n_drawn, 2), n_drawn + 1)
    if min_rows_split > 2 * settings["min_rows_leaf"]:  # else it follows
        settings["min_rows_split"] = min_rows_split
    _add_draws(settings, params, choices, schema.n_features)
    directions = _monotonic(params, schema)
    if directions is not None:
        settings["monotonic"] = directions
    if params.interaction_cst is not None:
        settings["interactions"] = interactions(params.interaction_cst, schema)
    _count_in_rows(settings, rows.objective)
    _limit_weight(settings, params, rows, n_drawn, total)
    return settings


def _count_in_rows(settings: dict[str, Any], objective: Objective) -> None:
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


def _limit_weight(
    settings: dict[str, Any],
    params: BoostingParameters,
    rows: TrainingRows,
    n_drawn: int,
    total: float,
) -> None:
    """Add `min_weight_fraction_leaf` to the settings, as one of the limits the engine has.

    Where hessians are weights it is a limit of those; else a share of the rows, which is the same
    without weights.
    """
    share = check_real("min_weight_fraction_leaf", params.min_weight_fraction_leaf, 0.0, 0.5)
    if rows.weights is not None and rows.objective.losses[0].has_unit_hessian:
        settings["min_child_weight"] = max(settings["min_child_weight"], share * total)
    else:
        settings["min_rows_leaf"] = max(settings["min_rows_leaf"], math.ceil(share * n_drawn))


def _add_draws(
    settings: dict[str, Any], params: BoostingParameters, choices: BoostingChoices, n_features: int
) -> None:
    of_tree, of_level, of_node = drawn_features(params, choices, n_features)
    if of_tree < n_features:
        settings["features_per_tree"] = of_tree
    if of_level < of_tree:
        settings["features_per_level"] = of_level
    if of_node < of_level:
        settings["features_per_node"] = of_node


def drawn_features(
    params: BoostingParameters, choices: BoostingChoices, n_features: int
) -> tuple[int, int, int]:
    """Return how many features are drawn for a tree, of these for a level, of these for a node.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> params = SimpleNamespace(features_per_tree=0.5, features_per_level=0.5)
    >>> drawn_features(params, SimpleNamespace(max_features=None), 20)
    (10, 5, 5)
    """
    of_tree = check_max_features(params.features_per_tree, n_features, "features_per_tree")
    of_level = check_max_features(params.features_per_level, of_tree, "features_per_level")
    with or_auto():
        return of_tree, of_level, check_max_features(choices.max_features, of_level)


def _monotonic(params: BoostingParameters, schema: TableSchema) -> list[int] | None:
    directions = check_monotonic_cst(params.monotonic_cst, schema.n_features, schema.names)
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
    # An iterator would be used up by the first of several fits to choose the number of rounds.
    is_wrong = isinstance(interaction_cst, Mapping | Iterator)
    if is_wrong or not isinstance(interaction_cst, Iterable):
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


def warn_if_unsplit(
    name: str, rounds: Sequence[Sequence[Any]], rows: TrainingRows, choices: BoostingChoices
) -> None:
    """Warn if every tree is a single leaf, although there was something to learn.

    Such a model predicts the same for every row.

    Parameters
    ----------
    name : str
        The class of the estimator.
    rounds : sequence of sequences of Tree
        The members of each round; weak learners of the user's are not looked at.
    rows : TrainingRows
        The rows that they were fitted to.
    choices : BoostingChoices
        The limits of the trees.
    """
    members = (member for members in rounds for member in members)
    if not all(isinstance(tree, _core.Tree) and tree.n_nodes == 1 for tree in members):
        return
    if not _varies(rows):
        return  # one prediction is the right one
    n_drawn, needed = max(1, int(rows.n_counted * choices.subsample)), 2 * choices.min_samples_leaf
    if n_drawn < needed:
        reason = (
            f"a split needs {needed} rows with min_samples_leaf={choices.min_samples_leaf}, and "
            f"a round has {n_drawn}"
        )
    else:
        reason = (
            "no feature differs between rows so that a split would lower the loss within the "
            "limits that were set (min_samples_leaf, min_samples_split, min_child_weight, "
            "min_impurity_decrease and their like)"
        )
    warn(f"{name} predicts the same for every row, because no tree could be split: {reason}.")


def _varies(rows: TrainingRows) -> bool:
    """Whether rows to learn from differ in the target."""
    present = rows.target.table[rows.repetitions > 0]
    return len(present) > 1 and bool((present != present[0]).any())
