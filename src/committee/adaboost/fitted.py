"""What both AdaBoost estimators share: conventions, checks of parameters, fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from committee.adaboost.trace import AdaBoostTrace, RoundLog
from committee.base.arrays import Floats
from committee.base.params import check_bool, check_int, check_real, check_verbose, or_auto
from committee.base.products import weighted_sum
from committee.base.slicing import sliced
from committee.base.work import resolve_threads
from committee.evaluation.scored_target import resolve_metric
from committee.files.parts import FITTED, Part, array, instance, list_of, maybe, whole
from committee.members.meta_estimator import MetaEstimator, check_estimator_kind
from committee.tables.native_table import AnyTable
from committee.tables.table import TableSchema
from committee.trees.tree_members import TreeMembers

# Parameters of the default tree, and their defaults: with an estimator they would be ignored.
_TREE_PARAMETERS = {
    "split_finding": "auto",
    "max_bins": 255,
    "categorical_features": None,
    "numeric_text": "auto",
}


class FittedAdaBoost(MetaEstimator):
    """Base class of the AdaBoost estimators."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_features_in_": maybe(whole(1, size="features")),
        "schema_": maybe(instance(TableSchema)),
        "estimators_": instance(TreeMembers) | list_of(FITTED, "members", least=1),
        "estimator_weights_": array("f8", "members", finite=True),
        "estimator_errors_": array("f8", "members", finite=True),
        "_log": instance(RoundLog),
    }

    estimator: Any
    n_estimators: int
    learning_rate: float
    random_state: Any
    criterion: str
    resampling: bool | str
    n_iter_no_change: int | None
    validation_fraction: float
    tol: float
    scoring: Any
    keep_weights: bool
    split_finding: str
    max_bins: int
    categorical_features: Any
    numeric_text: str
    n_jobs: int | None
    verbose: int

    # Fitted attributes.
    estimator_weights_: Floats
    estimator_errors_: Floats
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    schema_: TableSchema
    _log: RoundLog

    _default_criterion = ""

    # ---- fitting ----

    @abstractmethod
    def _default_tree(self) -> Any:
        """Return the learner that is used where none is given."""

    def _get_estimator(self) -> Any:
        return self._default_tree() if self.estimator is None else self.estimator

    def _threads(self) -> int:
        return resolve_threads(self.n_jobs)

    def _check_params(self) -> None:
        check_int("n_estimators", self.n_estimators, 1)
        check_real("learning_rate", self.learning_rate, 0.0, include_low=False)
        check_int("n_iter_no_change", self.n_iter_no_change, 1, none=True)
        check_real(
            "validation_fraction",
            self.validation_fraction,
            0.0,
            1.0,
            include_low=False,
            include_high=False,
        )
        check_real("tol", self.tol, 0.0)
        if not (isinstance(self.resampling, str) and self.resampling == "auto"):
            with or_auto():
                check_bool("resampling", self.resampling)
        check_bool("keep_weights", self.keep_weights)
        check_verbose(self.verbose)
        if self.scoring is not None and isinstance(resolve_metric(self.scoring, "scoring"), bool):
            raise TypeError(
                f"scoring must be None, a metric or the name of a scorer; got {self.scoring!r}"
            )
        check_estimator_kind(self._get_estimator(), get_tags(self).estimator_type)
        if self.estimator is None:
            return
        for name, default in {"criterion": self._default_criterion, **_TREE_PARAMETERS}.items():
            given = getattr(self, name)
            if not (given is default or (isinstance(given, str | int) and given == default)):
                raise ValueError(
                    f"{name} is a parameter of the default tree and must be {default!r} with an "
                    f"estimator, which has its own; got {given!r}"
                )

    # ---- fitted attributes ----

    def _open(self, X: Any) -> Any:
        """Read a table to predict from, as the members read it."""
        self._check_fitted()
        self._check_members()
        name = type(self).__name__
        if isinstance(self.estimators_, TreeMembers):
            return self.estimators_.schema.read(X, name)
        names = getattr(self, "feature_names_in_", None)
        return AnyTable.of_batch(X, names, self._n_features, name)

    def _sliced(self, index: slice) -> NDArray[np.int64]:
        return sliced(index, len(self), type(self).__name__, only_first=True)

    def _picked(self, numbers: NDArray[np.int64]) -> Self:
        """Return the committee after the first rounds."""
        small, members, n_rounds = copy(self), self.estimators_, len(numbers)
        if isinstance(members, TreeMembers):
            small.estimators_ = members.picked(numbers)
        else:
            small.estimators_ = list(members[:n_rounds])
        small.estimator_weights_ = self.estimator_weights_[:n_rounds]
        small.estimator_errors_ = self.estimator_errors_[:n_rounds]
        small._log = self._log.head(n_rounds)
        small.set_params(n_estimators=n_rounds)
        return small

    def _check_members(self) -> None:
        """Raise a ValueError unless each member has a weight: both may be shortened by hand."""
        n_members, n_weights = len(self.estimators_), len(self.estimator_weights_)
        if n_members == 0 or n_members != n_weights:
            raise ValueError(
                "estimators_ and estimator_weights_ must have the same length, at least 1; got "
                f"{n_members} and {n_weights}"
            )

    @property
    def trace_(self) -> AdaBoostTrace:
        """Error, weight and the like of each round, as a table."""
        self._check_fitted()
        members = self.estimators_
        trees = members if isinstance(members, TreeMembers) else None
        return AdaBoostTrace(self._log, trees, self._trace_kind(), self._edge_rate())

    @abstractmethod
    def _trace_kind(self) -> str:
        """Return what weights of members are, see `AdaBoostTrace`."""

    def _edge_rate(self) -> float | None:
        """Return the learning rate of the fit if edges bound the training error."""
        return None

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the decrease of impurity, averaged by the weights of members."""
        self._check_fitted()
        self._check_members()
        weights = np.abs(self.estimator_weights_)
        if isinstance(self.estimators_, TreeMembers):
            each = self.estimators_.forest.impurity_decreases(self._threads())
            sums = each.sum(axis=1, keepdims=True)
            each = np.divide(each, sums, out=np.zeros_like(each), where=sums > 0)
        else:
            try:
                each = np.array([member.feature_importances_ for member in self.estimators_])
            except AttributeError as error:
                raise AttributeError(
                    f"{type(self.estimators_[0]).__name__} has no feature_importances_; use "
                    "sklearn.inspection.permutation_importance"
                ) from error
        return np.asarray(weighted_sum(weights, each) / weights.sum())

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "estimators_"):
            return
        if not len(self._log) == len(self.estimators_) == len(self.estimator_weights_):
            raise ValueError("the rounds do not fit the members")
        if isinstance(self.estimators_, TreeMembers):
            self.schema_.check_model(self)
            if self.estimators_.schema != self.schema_:
                raise ValueError("the trees do not fit the schema")
