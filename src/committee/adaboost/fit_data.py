"""What a fit of AdaBoost begins with, for classes and for numbers: table, rows, weak learner.

The table is read once, by the schema of our trees or as members of any kind read it. Validation
rows stay in the table with a weight of zero: they are absent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from committee import _core
from committee.adaboost.learners import AnyFitter, Sample
from committee.base.arrays import Floats, Rows
from committee.base.params import check_seed
from committee.base.sampling import SeedUse, parameter_seed
from committee.base.work import running_fit
from committee.evaluation.early_stopping import held_out_rows
from committee.evaluation.scored_target import ScoredTarget
from committee.members.meta_estimator import takes_weights
from committee.tables.frame import read_stream
from committee.tables.native_table import AnyTable
from committee.tables.table import TableSchema, bin_table, read_table
from committee.tables.target import RowWeights, check_same_length, read_weights
from committee.trees.engine_settings import EngineTarget
from committee.trees.tree_members import TreeMembers
from committee.trees.trees import DecisionTreeClassifier, DecisionTreeRegressor


class FitData(ABC):
    """The table and the rows of a fit.

    Parameters
    ----------
    model : AdaBoostClassifier or AdaBoostRegressor
        The estimator, whose parameters have been checked one by one.
    X, y, sample_weight, eval_set, fit_params
        What `fit` was given.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: Any,
        fit_params: Mapping[str, Any],
    ) -> None:
        X = read_stream(X)
        self.model, self.X, self.fit_params = model, X, fit_params
        self.name = type(model).__name__
        self.template: Any = clone(model._get_estimator())
        self.n_threads: int = model._threads()
        # The table as the learner reads it; the schema is for trees of the engine only.
        self.table: Any
        self.schema: TableSchema | None = None
        if _runs_in_engine(self.template) and not fit_params:
            tree = self.template
            self.table, self.schema = read_table(X, tree.categorical_features, tree.numeric_text)
        else:
            self.table = AnyTable(X, is_table=None)
        self.n_rows: int = self.table.n_rows
        running_fit().begin(self.n_rows, self.table.n_features)
        weights = read_weights(sample_weight, self.n_rows)
        self.target = self._read_target(y, weights)
        check_same_length(self.n_rows, self.target.n_rows)
        self.seed = check_seed(model.random_state)
        factors = self._class_factors()
        self._hold_out(eval_set, factors)
        self.counted = RowWeights.combine(self.n_rows, self.weights, factors)
        self.weights: Floats | None = self.counted.weights
        self.n_counted = self.counted.n_counted
        self.resamples = self._resamples()
        if self.schema is not None:
            self._bin()

    @abstractmethod
    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the target of `fit`."""

    @abstractmethod
    def _read_more(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the target of validation rows."""

    def _class_factors(self) -> Floats | None:
        """Return what class weights multiply the weights of rows by."""
        return None

    # ---- rows ----

    def _hold_out(self, eval_set: Any, factors: Floats | None) -> None:
        """Choose the validation rows; of training rows class weights hold there too."""
        model, target = self.model, self.target
        self.weights = target.weights
        self.validation: tuple[Any, ScoredTarget] | None = None
        if eval_set is not None:
            self.validation = self._read_validation(eval_set)
        elif model.n_iter_no_change is not None:
            generator = np.random.default_rng(parameter_seed(self.seed, SeedUse.VALIDATION))
            held_out = held_out_rows(
                self.n_rows,
                model.validation_fraction,
                generator,
                weights=target.weights,
                classes=None if target.codes is None else target.codes[:, 0],
            )
            own = np.ones(self.n_rows) if target.weights is None else target.weights
            self.weights = own.copy()
            self.weights[held_out] = 0.0
            part = target.part(held_out)
            if factors is not None:
                part = replace(part, weights=own[held_out] * factors[held_out])
            self.validation = self.open_rows(held_out), part

    def _read_validation(self, eval_set: Any) -> tuple[Any, ScoredTarget]:
        if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
            raise TypeError(
                "eval_set must be a tuple (X, y) or (X, y, sample_weight); got "
                f"{type(eval_set).__name__}"
            )
        X, y, *weight = eval_set
        try:
            table = self._open(X)
            target = self._read_more(y, read_weights(weight[0] if weight else None, table.n_rows))
            check_same_length(table.n_rows, target.n_rows)
        except (TypeError, ValueError) as error:
            raise type(error)(f"eval_set: {error}") from error
        return table, target

    def open_rows(self, rows: Rows) -> Any:
        """Read some rows of the training table as another table."""
        table = self.table if self.schema is None else AnyTable(self.X)
        return self._open(table.take(rows, None))

    def _open(self, X: Any) -> Any:
        """Read another table with the columns of the training table."""
        if self.schema is not None:
            return self.schema.read(X, self.name)
        return AnyTable.of_batch(X, self.table.names, self.table.n_features, self.name)

    # ---- learners ----

    def _resamples(self) -> bool:
        """Whether learners are fitted to drawn rows; ValueError where they cannot be weighed."""
        choice = self.model.resampling
        weighs = self.schema is not None or takes_weights(self.template)
        if isinstance(choice, str):
            return not weighs
        if not choice and not weighs:
            raise ValueError(
                'resampling must be True or "auto" with an estimator that does not take '
                f"sample_weight; got False with {self.template!r}"
            )
        return bool(choice)

    def _bin(self) -> None:
        assert self.schema is not None
        self.dataset, self.schema = bin_table(
            self.template,
            self.table,
            self.schema,
            self.weights,
            exact=self.template._is_exact(self.n_rows),
            n_threads=self.n_threads,
        )

    def _sample(self, weights: Floats | None) -> Sample | None:
        """Return what draws rows, as many as there are; None where they are weighed.

        Whole weights are no reason to draw more: they may be numbers of people.
        """
        n_rows = self.n_rows if weights is None else int((weights > 0).sum())
        return Sample(n_rows, self.seed) if self.resamples else None

    def _fitter(self, y: NDArray[Any], counted: RowWeights, sample: Sample | None) -> AnyFitter:
        """Return what fits members of any kind."""
        return AnyFitter(
            self.template, self.table, y, counted.n_counted, sample, self.fit_params, self.seed
        )

    def _tree_settings(self, target: EngineTarget, counted: RowWeights) -> dict[str, Any]:
        """Return what the engine needs to grow trees on weights that add up to one."""
        assert self.schema is not None
        settings: dict[str, Any] = self.template._settings(self.schema, target, counted)
        settings["min_weight_leaf"] /= counted.total
        settings["n_threads"] = self.n_threads
        return settings

    def _gathered(
        self, members: list[Any], n_classes: list[int], labels: NDArray[Any] | None
    ) -> TreeMembers | list[Any]:
        """Return members as estimators: trees of the engine in a forest, others as they are."""
        if self.schema is None:
            return members
        names = {"log_loss": "entropy", "friedman_mse": "squared_error"}
        criterion = names.get(self.template.criterion, self.template.criterion)
        forest = _core.Forest.from_trees(members, criterion, n_classes)
        return TreeMembers(forest, self.schema, clone(self.template), self.seed, None, labels)

    def _table_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes that the table decides."""
        attributes: dict[str, Any] = {"estimator_": clone(self.model._get_estimator())}
        if self.table.n_features:
            attributes["n_features_in_"] = self.table.n_features
        names = self.table.names if self.schema is None else self.schema.names
        if names is not None:
            attributes["feature_names_in_"] = np.array(names, dtype=object)
        if self.schema is not None:
            attributes["schema_"] = self.schema
        return attributes


def _runs_in_engine(template: Any) -> bool:
    """Whether members are trees that the engine grows on one binned table."""
    if type(template) is DecisionTreeClassifier:
        return template.class_weight is None
    return type(template) is DecisionTreeRegressor
