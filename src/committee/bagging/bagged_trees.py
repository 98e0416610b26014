"""Bagging of our own trees in the engine: one binned table, all members side by side.

The members are those that fitting one after the other would give, except that bins are cut once,
for the whole table, and that a member knows every class. They are kept as a forest; a member
becomes an estimator when it is read from `estimators_`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.bagging.samples import SampleFits
from committee.base.arrays import Floats
from committee.base.params import (
    check_choice,
    check_max_features,
    check_real,
    is_int,
)
from committee.base.work import Progress
from committee.evaluation.scored_target import ScoredTarget
from committee.forests.fit import ForestDraws, ForestJob
from committee.tables.class_weights import class_weights
from committee.tables.table import TableSchema, bin_table, read_table
from committee.tables.target import ClassTarget
from committee.trees.engine_settings import EngineTarget, check_reals, tree_settings
from committee.trees.tree_members import TreeMembers
from committee.trees.trees import DecisionTreeClassifier, DecisionTreeRegressor

if TYPE_CHECKING:
    from committee import _core


def runs_in_engine(fits: SampleFits) -> bool:
    """Whether the members can be grown by the engine at once."""
    tree, features, rows = fits.estimator, fits.draws.features, fits.draws.rows
    if (
        type(tree) not in (DecisionTreeClassifier, DecisionTreeRegressor)
        or fits.data.fit_params[""]
    ):
        return False
    if features is not None:
        # Parameters that name columns would mean the columns of each member.
        names_columns = tree.categorical_features is not None or tree.monotonic_cst is not None
        if features.with_replacement or names_columns:
            return False
    has_fractions = tree.min_weight_fraction_leaf != 0 or not (
        is_int(tree.min_samples_split) and is_int(tree.min_samples_leaf)
    )
    # Fractions are of the sample, whose size then differs from member to member.
    return not (has_fractions and (rows.unit_of_row is not None or rows.n_portions))


def plan_trees(
    fits: SampleFits, target: ScoredTarget, n_threads: int
) -> tuple[ForestJob, TableSchema]:
    """Return the job of the engine that fits the same members."""
    tree, draws = fits.estimator, fits.draws
    native = fits.data.table.native
    table, schema = read_table(native, tree.categorical_features, tree.numeric_text)
    engine_target, factors, is_balanced = _engine_target(tree, target)
    n_rows = draws.rows.n_draws
    settings = tree_settings(tree, schema, engine_target, n_rows, float(n_rows))
    splitter = check_choice("splitter", tree.splitter, ("best", "random"))
    settings["random_thresholds"] = splitter == "random"
    if draws.features is not None:
        # max_features of a member is about the features that it has.
        settings["max_features"] = check_max_features(tree.max_features, draws.features.n_draws)
    dataset, schema = bin_table(
        tree,
        table,
        schema,
        target.weights,
        exact=tree._is_exact(table.n_rows),
        n_threads=n_threads,
    )
    grow = ForestJob(
        table,
        dataset,
        engine_target,
        settings,
        ForestDraws(draws.seed, draws.rows, draws.features),
        factors,
        None,
        is_balanced,
        check_real("ccp_alpha", tree.ccp_alpha, 0.0),
        n_threads,
    )
    return grow, schema


def _engine_target(tree: Any, target: ScoredTarget) -> tuple[EngineTarget, Floats | None, bool]:
    """Return the target, what class weights multiply rows by, and whether samples are balanced."""
    if target.codes is None:
        assert target.reals is not None
        check_reals(tree.criterion, target.reals, target.weights)
        return EngineTarget(None, [], np.ascontiguousarray(target.reals)), None, False
    n_classes = [len(classes) for classes in target.classes]
    is_balanced = isinstance(tree.class_weight, str) and tree.class_weight == "balanced"
    codes = [np.arange(n) for n in n_classes]
    labels = ClassTarget(target.codes, codes, len(n_classes))
    factors = None if is_balanced else class_weights(tree.class_weight, labels, None)
    return EngineTarget(target.codes, n_classes, None), factors, is_balanced


def grow_members(
    fits: SampleFits,
    kept: TreeMembers | None,
    target: ScoredTarget,
    n_members: int,
    progress: Progress,
    n_threads: int,
) -> tuple[TreeMembers, _core.Table]:
    """Return all members, those of an earlier fit first, and the training table."""
    grow, schema = plan_trees(fits, target, n_threads)
    forest = grow.grow_up_to(None if kept is None else kept.forest, n_members, progress)
    return TreeMembers(
        forest, schema, fits.estimator, fits.draws.seed, fits.draws.features
    ), grow.table
