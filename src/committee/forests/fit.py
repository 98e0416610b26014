"""What the forest estimators share in fitting: from a table to a forest.

A fit reads the table, plans the draws and hands a `ForestJob` to the engine. Fitted attributes are
set together at the very end, so a fit that fails or is interrupted leaves the estimator as it was.
A job holds everything that decides the trees. Tree number i depends on the job and on i only, so
that trees can be grown in any portions: all at once, more of them later, or in batches until the
out-of-bag error is flat.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.base.params import (
    check_bool,
    check_choice,
    check_int,
    check_real,
    check_seed,
    is_false,
)
from committee.base.sampling import RowSampler, plan_features, plan_rows, row_seed, tree_seed
from committee.base.slicing import Draws, refuse_changes
from committee.base.warn import warn
from committee.base.work import FitLog, Progress, resolve_threads
from committee.evaluation.oob import OobEstimates
from committee.evaluation.scored_target import ScoredTarget, resolve_metric
from committee.forests.fitted_forest import FittedForest
from committee.forests.forest_oob import (
    ForestTally,
    grow_until_flat,
    keep_training,
    record_out_of_bag,
)
from committee.tables.table import TableSchema, bin_table, fingerprint, read_table
from committee.tables.target import RowWeights, check_same_length, read_weights
from committee.trees.engine_settings import EngineTarget, tree_settings


@dataclass(frozen=True, eq=False)
class ForestDraws:
    """What trees draw, and the seed of it all.

    Parameters
    ----------
    seed : int
        Each use of it derives a seed of its own.
    rows : RowSampler or None
        Rows of each tree; None if every tree learns from all rows.
    features : RowSampler or None
        Features of each tree; None if features are drawn at each node, or not at all.
    """

    seed: int
    rows: RowSampler | None
    features: RowSampler | None

    @property
    def leaves_rows_out(self) -> bool:
        """Whether there are out-of-bag rows."""
        return self.rows is not None and self.rows.leaves_rows_out

    def are_those_of(self, seed: int, rows: Draws | None, features: Draws | None) -> bool:
        """Whether these are the draws of a fit before."""
        pairs = ((self.rows, rows), (self.features, features))
        return self.seed == seed and all(
            a.draws_like(b) if a is not None and b is not None else a is b for a, b in pairs
        )


@dataclass(frozen=True, eq=False)
class ForestJob:
    """Everything that decides the trees of a forest.

    Parameters
    ----------
    table : _core.Table
        The training table.
    dataset : _core.BinnedDataset
        Its codes.
    target : EngineTarget
        Classes or numbers.
    settings : dict
        Settings of a tree.
    draws : ForestDraws
        Rows and features of each tree.
    weights : ndarray of float64 or None
        Weights of the rows in every tree. Weights that are draw probabilities are not among them.
    counts : ndarray of uint32 or None
        Repetitions of the rows; None takes them from the weights.
    balance_classes : bool
        Give the classes of each sample the same weight.
    ccp_alpha : float
        Strength of pruning.
    n_threads : int
        Threads to use; the trees do not depend on it.
    leaf_smoothing : float, default=0.0
        Rows with the class shares of its parent that are added to each leaf.
    """

    table: _core.Table
    dataset: _core.BinnedDataset
    target: EngineTarget
    settings: dict[str, Any]
    draws: ForestDraws
    weights: Floats | None
    counts: NDArray[np.uint32] | None
    balance_classes: bool
    ccp_alpha: float
    n_threads: int
    leaf_smoothing: float = 0.0

    def grow(self, begin: int, end: int, progress: Callable[[int], object] | None) -> _core.Forest:
        """Grow the trees with numbers from `begin` to before `end`."""
        rows, features = self.draws.rows, self.draws.features
        return _core.grow_forest(
            self.dataset,
            end - begin,
            classes=self.target.classes,
            n_classes=self.target.n_classes,
            reals=self.target.reals,
            weights=self.weights,
            counts=self.counts,
            settings=self.settings,
            first_tree=begin,
            tree_seed=tree_seed(self.draws.seed),
            plan=None if rows is None else rows.plan,
            row_seed=0 if rows is None else row_seed(rows.seed),
            feature_plan=None if features is None else features.plan,
            feature_seed=0 if features is None else row_seed(features.seed),
            balance_classes=self.balance_classes,
            ccp_alpha=self.ccp_alpha,
            leaf_smoothing=self.leaf_smoothing,
            n_threads=self.n_threads,
            progress=progress or _nothing,
        )

    def grow_up_to(self, kept: _core.Forest | None, end: int, progress: Progress) -> _core.Forest:
        """Return a forest of `end` trees, or more if so many are kept from an earlier fit."""
        begin = 0 if kept is None else kept.n_trees
        if kept is not None and begin >= end:
            return kept
        report = progress.counting_from(begin)
        grown = self.grow(begin, end, report)
        progress.show(end)
        if kept is None:
            return grown
        try:
            return _core.Forest.join([kept, grown])
        except ValueError as error:
            raise ValueError(
                "warm_start=True cannot add trees of another criterion; set warm_start=False to "
                "start anew"
            ) from error


def _nothing(n_done: int) -> None:
    """Run some Python now and then, so that a thread other than the main one can be interrupted."""


class ForestModel(FittedForest, ABC):
    """Base class of the estimators that are a forest of the engine."""

    # Groups are those of the splitter of a search, unless they are asked for.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": False}

    n_estimators: int
    criterion: str
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_features: int | float | str | None
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    bootstrap: bool
    oob_score: Any
    n_jobs: int | None
    random_state: Any
    verbose: int
    warm_start: bool
    ccp_alpha: float
    max_samples: int | float | None
    monotonic_cst: Any
    draw_features: str
    count_constant: bool
    split_finding: str
    max_bins: int
    category_split: str
    level_penalty: float
    categorical_features: Any
    numeric_text: str
    early_stopping: bool
    n_iter_no_change: int
    tol: float
    uncertainty: bool

    _criteria: tuple[str, ...] = ()
    _reads_tables = True  # also those that were opened before, see tables/native_table.py

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the target."""

    def _check_target(self, target: ScoredTarget) -> None:
        """Raise unless the criterion can be computed for this target."""

    def _class_factors(self, target: ScoredTarget) -> tuple[Floats | None, bool]:
        """Return what class weights multiply rows by, and whether samples are balanced."""
        return None, False

    def _smoothing_of_leaves(self) -> float:
        """Check and return how many rows of its parent's shares are added to each leaf."""
        return 0.0

    def _strata(self, target: ScoredTarget) -> tuple[NDArray[np.int32] | None, bool]:
        """Return the strata to draw from, and whether they are balanced."""
        return None, False

    def _target_attributes(self, target: ScoredTarget) -> dict[str, Any]:
        """Return the fitted attributes that describe the target."""
        return {"n_outputs_": target.n_outputs}

    @abstractmethod
    def _oob_attributes(self, estimates: OobEstimates, target: ScoredTarget) -> dict[str, Any]:
        """Return the fitted attributes of the out-of-bag estimates."""

    # ---- fitting ----

    @property
    def _draws_rows(self) -> bool:
        return self.bootstrap or self.max_samples is not None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Class labels, or finite numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            With `bootstrap`, draw probabilities up to a factor: trees then see only how often a
            row was drawn. Without, weights of the rows in every tree. A row of weight zero is
            absent in either case.
        groups : array-like of shape (n_rows,) or None, default=None
            Rows with the same value are drawn together, or not at all.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._check_switches()
        with FitLog(type(self).__name__) as log:
            self._fit(X, y, sample_weight, groups, log)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, log: FitLog) -> None:
        table, schema = read_table(X, self.categorical_features, self.numeric_text)
        log.begin(table.n_rows, schema.n_features)
        weights = read_weights(sample_weight, table.n_rows)
        target = self._read_target(y, weights)
        check_same_length(table.n_rows, target.n_rows)
        self._check_target(target)
        n_kept = self._n_kept()
        job, schema = self._plan(table, schema, target, groups, is_new=n_kept == 0)
        attributes = self._target_attributes(target)
        if n_kept:
            self._check_continues(job, schema, target, attributes)
        forest = self._grow(job, target, self._forest if n_kept else None)
        attributes |= self._look_back(job, target, forest)
        attributes |= {
            "_forest": forest,
            "_row_sampler": job.draws.rows,
            "_feature_sampler": job.draws.features,
            "_seed": job.draws.seed,
            "_n_rows": table.n_rows,
            "_fingerprint": fingerprint(forest, table, target.table),
            "schema_": schema,
            "n_features_in_": schema.n_features,
        }
        if schema.names is not None:
            attributes["feature_names_in_"] = np.array(schema.names, dtype=object)
        self._replace_fitted(attributes)
        is_all = forest.n_trees == self.n_estimators
        reason = "as given" if is_all else "the out-of-bag error is flat"
        log.end("%d of %d trees: %s", forest.n_trees, self.n_estimators, reason)

    def _check_switches(self) -> None:
        check_int("n_estimators", self.n_estimators, 1, 2**31 - 1)
        for name in (
            "bootstrap",
            "warm_start",
            "early_stopping",
            "uncertainty",
            "count_constant",
        ):
            check_bool(name, getattr(self, name))
        check_choice("draw_features", self.draw_features, ("node", "tree"))
        check_choice("split_finding", self.split_finding, ("auto", "hist", "exact"))
        check_int("n_iter_no_change", self.n_iter_no_change, 1)
        check_real("tol", self.tol, 0.0)
        is_switch = isinstance(self.verbose, bool | np.bool_)
        check_int("verbose", int(self.verbose) if is_switch else self.verbose, 0)
        resolve_metric(self.oob_score)

    def _n_kept(self) -> int:
        """Return how many trees stay: those of the last fit with warm_start, else none."""
        n_kept = self.n_trees_ if self.warm_start and hasattr(self, "_forest") else 0
        if n_kept > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={n_kept} when warm_start==True"
            )
        if n_kept == self.n_estimators:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return n_kept

    def _plan(
        self,
        table: _core.Table,
        schema: TableSchema,
        target: ScoredTarget,
        groups: Any,
        is_new: bool,
    ) -> tuple[ForestJob, TableSchema]:
        """Check the parameters, plan the draws and bin the table."""
        n_classes = [len(labels) for labels in target.classes]
        engine_target = EngineTarget(target.codes, n_classes, target.reals)
        factors, balance_classes = self._class_factors(target)
        rows = RowWeights.combine(table.n_rows, target.weights, factors)
        seed = check_seed(self.random_state) if is_new else self._seed
        sampler = None
        if self._draws_rows:
            strata, is_balanced = self._strata(target)
            sampler = plan_rows(
                table.n_rows,
                seed,
                bootstrap=self.bootstrap,
                max_samples=self.max_samples,
                weights=self._draw_weights(rows),
                groups=groups,
                strata=strata,
                balanced=is_balanced,
            )
        self._check_draws(sampler, groups)
        n_rows, total = _rows_of_a_tree(sampler, rows)
        settings = tree_settings(self, schema, engine_target, n_rows, total)
        features = None
        if self.draw_features == "tree" and settings["max_features"] < schema.n_features:
            features = plan_features(schema.n_features, seed, settings["max_features"])
            settings["max_features"] = schema.n_features
        settings["random_thresholds"] = self._splitter == "random"
        settings["count_constant"] = self.count_constant
        settings["shuffle_features"] = True
        ccp_alpha = check_real("ccp_alpha", self.ccp_alpha, 0.0)
        n_threads = resolve_threads(self.n_jobs)
        is_exact = self.split_finding == "exact"
        dataset, schema = bin_table(
            self, table, schema, rows.weights, exact=is_exact, n_threads=n_threads
        )
        job = ForestJob(
            table,
            dataset,
            engine_target,
            settings,
            ForestDraws(seed, sampler, features),
            self._tree_weights(rows, groups),
            None if sampler is not None else rows.counts,
            balance_classes,
            ccp_alpha,
            n_threads,
            self._smoothing_of_leaves(),
        )
        return job, schema

    def _draw_weights(self, rows: RowWeights) -> Floats | None:
        """Return draw probabilities: the weights, or who may be drawn without replacement."""
        if self.bootstrap or rows.weights is None:
            return rows.weights
        return (rows.weights > 0).astype(np.float64)

    def _tree_weights(self, rows: RowWeights, groups: Any) -> Floats | None:
        """Return the weights that trees see: none where they are draw probabilities."""
        if not self.bootstrap or rows.weights is None:
            return rows.weights
        # A row of weight zero is never drawn, except by its group.
        is_present = rows.weights > 0
        return None if groups is None or is_present.all() else is_present.astype(np.float64)

    def _check_draws(self, sampler: RowSampler | None, groups: Any) -> None:
        if groups is not None and sampler is None:
            raise ValueError(
                "groups says which rows are drawn together, but no rows are drawn; set "
                "bootstrap=True or max_samples"
            )
        wanted = [n for n in ("oob_score", "early_stopping") if not is_false(getattr(self, n))]
        if wanted and (sampler is None or not sampler.leaves_rows_out):
            raise ValueError(
                f"{wanted[0]} needs out-of-bag rows, but every tree learns from all rows: set "
                "bootstrap=True or lower max_samples, and have several rows or groups"
            )

    def _check_continues(
        self,
        job: ForestJob,
        schema: TableSchema,
        target: ScoredTarget,
        attributes: dict[str, Any],
    ) -> None:
        """Check that new trees can join those of the last fit."""
        draws = self._row_sampler, self._feature_sampler
        changed = {
            f"the number of rows, {self._n_rows} and now {target.n_rows}": (
                target.n_rows != self._n_rows
            ),
            "the columns of X": schema != self.schema_,
            "what is drawn (random_state, the parameters of draws, groups or weights)": (
                target.n_rows == self._n_rows and not job.draws.are_those_of(self._seed, *draws)
            ),
        }
        for name, value in attributes.items():
            known = getattr(self, name)
            changed[f"{name}, {known!r} and now {value!r}"] = not _is_equal(known, value)
        found = [what for what, has_changed in changed.items() if has_changed]
        if not found and fingerprint(self._forest, job.table, target.table) != self._fingerprint:
            found = ["the cells of X or the target, or trees were left out or joined"]
        refuse_changes("trees", found)

    def _grow(
        self, job: ForestJob, target: ScoredTarget, kept: _core.Forest | None
    ) -> _core.Forest:
        progress = Progress(type(self).__name__, "trees", self.n_estimators, int(self.verbose))
        if not self.early_stopping:
            return job.grow_up_to(kept, self.n_estimators, progress)
        tally = ForestTally(job, target, self._is_hard)
        looks, tol = self.n_iter_no_change, self.tol
        return grow_until_flat(job, kept, self.n_estimators, tally, looks, tol, progress)

    def _look_back(
        self, job: ForestJob, target: ScoredTarget, forest: _core.Forest
    ) -> dict[str, Any]:
        """Return what is known of the training rows now: out-of-bag estimates, and a record."""
        attributes: dict[str, Any] = {"_train": None}
        values = None
        if not is_false(self.oob_score):
            estimates = record_out_of_bag(job, target, forest, self.oob_score, self._is_hard)
            attributes |= self._oob_attributes(estimates, target)
            values = estimates.values
        if self.uncertainty:
            if values is None and job.draws.leaves_rows_out:
                tally = ForestTally(job, target, self._is_hard)
                tally.add(forest, 0, forest.n_trees)
                tally.add_rows_without_weight(forest)
                values = tally.means()
            attributes["_train"] = keep_training(job, target, forest, values)
        return attributes


def _rows_of_a_tree(sampler: RowSampler | None, rows: RowWeights) -> tuple[int, float]:
    """Return how many rows a tree learns from, and their weight; a mean where it differs."""
    if sampler is None:
        return rows.n_counted, rows.total
    n_drawn = float(sampler.n_draws)
    if sampler.unit_of_row is not None:
        sizes = np.bincount(sampler.unit_of_row)
        n_drawn *= float(np.average(sizes, weights=sampler.unit_weights))
    n_rows = max(1, round(n_drawn))
    if sampler.with_replacement or rows.weights is None:
        return n_rows, float(n_rows)
    return n_rows, rows.total * n_drawn / int((rows.weights > 0).sum())


def _is_equal(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_is_equal, a, b))
    return bool(np.array_equal(a, b))
