"""What stacking classifiers and regressors share: layers of members, and a meta-learner on top."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from committee.base.params import check_bool, check_choice, check_real, is_false, is_real
from committee.combining.combiner import CommitteeModel, ask_each
from committee.combining.level_one import LevelOne, check_answers
from committee.combining.stacking.fitted_stack import FittedStack, meta_features, n_meta_columns
from committee.combining.stacking.leak_check import LeakCheck
from committee.combining.stacking.leakage import LeakReport
from committee.members.named_members import (
    Named,
    check_class_counts,
    check_member_kind,
)
from committee.members.output import Output, check_label_codes
from committee.members.team import Floats, Team
from committee.tables.native_table import AnyTable


class StackingModel(TransformerMixin, CommitteeModel):
    """Base class of the stacking estimators."""

    _stored_attributes = ("_outputs",)
    _stored_names: ClassVar[dict[str, str]] = {"_outputs": "_voices"}
    _derived_attributes = ("estimators_", "named_estimators_")

    estimators: Any
    final_estimator: Any
    cv: Any
    n_jobs: int | None
    passthrough: bool
    verbose: int
    layers: Any
    refit: bool
    leak_check: bool | float
    on_leak: str
    keep_level_one: bool
    random_state: Any

    # Fitted attributes.
    final_estimator_: Any
    layers_: list[list[Any]]
    stack_method_: list[str]
    leak_report_: LeakReport
    _outputs: list[list[Output]]

    # ---- what classifiers and regressors do in their own way ----

    def _check_target(self, team: Team) -> None:
        """Raise unless everything that is switched on can be done with this target."""

    @abstractmethod
    def _linear_final(self) -> Any:
        """Return the meta-learner that None stands for."""

    @abstractmethod
    def _convex_final(self, outputs: Sequence[Output], weights: list[float] | None) -> Any:
        """Return a mixture of the members, with given weights or those that it learns."""

    @abstractmethod
    def _comparable(self, values: Floats) -> Floats:
        """Return predictions in a form of which a mean can be taken."""

    @abstractmethod
    def _losses(self, values: NDArray[Any], y: NDArray[Any]) -> Floats:
        """Return the loss of each row, of predictions or of what the meta-learner says."""

    @abstractmethod
    def _final_values(self, final: Any, features: Any, n_classes: int) -> Floats:
        """Return what losses are made of, from the meta-learner."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        if self.passthrough:  # the meta-learner reads the table as well
            final = self.final_estimator
            is_given = not (final is None or isinstance(final, str))
            try:
                own = get_tags(final if is_given else self._linear_final()).input_tags
            except Exception:  # fit says what is wrong
                return tags
            tags.input_tags.sparse &= own.sparse
            tags.input_tags.allow_nan &= own.allow_nan
        return tags

    # ---- parameters ----

    def _member_lists(self) -> list[Any]:
        return [self.estimators, *(self.layers or [])]

    def _set_member_lists(self, lists: list[Named]) -> None:
        self.estimators, *later = lists
        if self.layers is not None:
            self.layers = later

    def _check_switches(self) -> None:
        super()._check_switches()
        for name in ("passthrough", "refit", "keep_level_one"):
            check_bool(name, getattr(self, name))
        if self.layers is not None and not isinstance(self.layers, list | tuple):
            raise TypeError(f"layers must be None or a list of layers; got {self.layers!r}")
        check_choice("on_leak", self.on_leak, ("warn", "fallback", "raise"))
        if not isinstance(self.leak_check, bool | np.bool_):
            check_real(
                "leak_check", self.leak_check, 0.0, 1.0, include_low=False, include_high=False
            )

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how arguments of `fit` reach the members, for scikit-learn's routing."""
        router = super().get_metadata_routing()
        final = self.final_estimator
        if final is None or isinstance(final, str):
            return router
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return router.add(final_estimator=final, method_mapping=mapping)

    # ---- fitting ----

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any]
    ) -> None:
        self._check_switches()
        lists = self._checked_lists()
        team, seed = self._assemble(X, y, sample_weight, fit_params, lists[0])
        outputs = self._outputs_of(team, lists[-1])
        final = self._final(outputs)
        self._check_target(team)
        plan = self._plan(team, groups, seed, len(lists))
        report = self._check_leakage(
            lambda share: LeakCheck(self, team, lists, final, plan, groups, seed, share)
        )
        if report is not None and report.leaked and self.on_leak == "fallback":
            final = self._convex_final(outputs, report.simple_weights)
        stack = FittedStack(self, team, lists, plan, final)
        attributes: dict[str, Any] = {
            "estimators_": stack.layers[0].members,
            "named_estimators_": self._named_fitted(lists[0], stack.layers[0].members),
            "layers_": [layer.members for layer in stack.layers],
            "final_estimator_": stack.final,
            "stack_method_": [output.form for output in stack.layers[0].outputs],
            "_outputs": [layer.outputs for layer in stack.layers],
        }
        if report is not None:
            attributes["leak_report_"] = report
        if self.keep_level_one:
            attributes["level_one_"] = stack.level_one
            attributes["level_one_rows_"] = stack.rows
        self._adopt(team, attributes)

    def _final(self, outputs: Sequence[Output]) -> Any:
        final = self.final_estimator
        if final is None:
            return self._linear_final()
        if isinstance(final, str):
            check_choice("final_estimator", final, ("convex",))
            if self.passthrough:
                raise ValueError(
                    'final_estimator="convex" mixes the predictions of members and has no use '
                    "for other columns; set passthrough=False"
                )
            return self._convex_final(outputs, None)
        check_member_kind("final_estimator", final, self._member_kind)
        return clone(final)

    def _check_leakage(self, make_check: Callable[[float], LeakCheck]) -> LeakReport | None:
        """Look whether level-one data leak, where that is asked for; say so if they do."""
        if is_false(self.leak_check):
            return None
        share = float(self.leak_check) if is_real(self.leak_check) else 0.25
        report = make_check(share).report()
        if report.leaked:
            if self.on_leak == "raise":
                raise ValueError(report.message)
            warnings.warn(report.message, UserWarning, stacklevel=4)
        return report

    # ---- asking ----

    @property
    def _member_outputs(self) -> list[Output]:
        return self._outputs[0]

    def _ask_final(self, method: str, X: Any, **params: Any) -> Any:
        """Return what the meta-learner says about rows."""
        table, features = self._meta_features(X)
        with table.quiet():
            return getattr(self.final_estimator_, method)(features, **params)

    def _meta_features(self, X: Any) -> tuple[AnyTable, Any]:
        """Return a table, and what the meta-learner sees of it."""
        table = self._open(X)
        layers = [
            LevelOne(members, outputs, [], np.ones(0, bool))
            for members, outputs in zip(self.layers_, self._outputs, strict=True)
        ]
        with table.quiet():
            return table, self._through(table, layers)[0]

    def _through(self, table: AnyTable, layers: Sequence[LevelOne]) -> tuple[Any, list[Floats]]:
        """Send rows through fitted layers; return the last features and the last predictions."""
        shown = table
        predictions: list[Floats] = []
        for number, layer in enumerate(layers):
            if number:
                shown = AnyTable(self._features(predictions, layers[number - 1].outputs, table))
            predictions = list(ask_each(layer.members, layer.outputs, shown))
        return self._features(predictions, layers[-1].outputs, table), predictions

    def _features(
        self, predictions: Sequence[Floats], outputs: Sequence[Output], table: AnyTable
    ) -> Any:
        """Turn predictions into columns for the next layer, before those of the table if passed."""
        return meta_features(predictions, outputs, table if self.passthrough else None)

    def transform(self, X: Any) -> Any:
        """Return what the meta-learner sees of rows: the predictions of the last layer of members.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        features : ndarray of float64, shape (n_rows, n_columns)
            For each member its probabilities (that of the first of two classes is left out), their
            log-odds, decision function or prediction; with `passthrough` also the columns of X.
        """
        return self._meta_features(X)[1]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : list of str or None, default=None
            Names of the columns of X, which follow with `passthrough`.

        Returns
        -------
        names : ndarray of str
            The name of this class in small letters, the name of the member, and a number where a
            member has several columns.
        """
        self._check_fitted()
        pairs = [(n, e) for n, e in self._member_lists()[-1] if not isinstance(e, str)]
        names = []
        for (name, _), output in zip(pairs, self._outputs[-1], strict=True):
            n_columns = n_meta_columns(output)
            numbers = [""] if n_columns == 1 else [str(k) for k in range(n_columns)]
            names += [f"{type(self).__name__.lower()}_{name}{number}" for number in numbers]
        if self.passthrough:
            names += _own_names(self, input_features)
        return np.array(names, dtype=object)

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "layers_"):
            return
        if type(self.layers_) is not list or type(self._outputs) is not list:
            raise ValueError("the layers are no lists")
        lists = self._checked_lists()
        if not len(self.layers_) == len(self._outputs) == len(lists):
            raise ValueError("the layers do not fit each other")
        for members, outputs, pairs in zip(self.layers_, self._outputs, lists, strict=True):
            check_answers(members, outputs)
            if len(pairs) != len(members):
                raise ValueError("a layer does not fit its members")
            check_class_counts(self, outputs)
        self._check_loaded_final()
        if self.stack_method_ != [output.form for output in self._outputs[0]]:
            raise ValueError("the methods do not fit the voices")
        if type(getattr(self, "leak_report_", None)) not in (type(None), LeakReport):
            raise ValueError("the report is none")
        self.estimators_ = self.layers_[0]
        self.named_estimators_ = self._named_fitted(lists[0], self.estimators_)

    def _check_loaded_final(self) -> None:
        final = self.final_estimator_
        if not callable(getattr(final, "predict", None)):
            raise ValueError("there is no meta-learner")
        n_columns = sum(map(n_meta_columns, self._outputs[-1]))
        n_columns += self.n_features_in_ if self.passthrough else 0
        if final.n_features_in_ != n_columns:
            raise ValueError("the meta-learner has learnt from other columns")
        codes = getattr(final, "classes_", None)
        if (codes is None) == (self._member_kind == "classifier"):
            raise ValueError("the meta-learner is of another kind")
        if isinstance(self.__dict__.get("classes_"), list):
            check_label_codes(codes, self.classes_)
        elif codes is not None and not set(codes.tolist()) <= set(range(len(self.classes_))):
            raise ValueError("the meta-learner has learnt other classes")


def _own_names(model: Any, input_features: Any) -> list[str]:
    if input_features is not None:
        return [str(name) for name in input_features]
    names = getattr(model, "feature_names_in_", None)
    return [f"x{k}" for k in range(model.n_features_in_)] if names is None else list(names)
