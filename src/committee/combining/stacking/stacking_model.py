"""What stacking classifiers and regressors share: layers of members, and a meta-learner on top."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from committee.base.arrays import Floats, Rows
from committee.base.params import check_bool, check_choice, check_real, is_false, is_real
from committee.base.warn import warn
from committee.base.work import Progress, plain_algebra
from committee.combining.combiner import CommitteeModel, check_member_kind
from committee.combining.convex_weights import ConvexClassifier, ConvexRegressor
from committee.combining.level_one import (
    LayerPlan,
    LevelOne,
    LevelOnePlan,
    Named,
    layer_members,
)
from committee.combining.routing import Routed, route_to_final
from committee.combining.splits import within
from committee.combining.stacking.label_sets import check_label_codes
from committee.combining.stacking.leakage import LeakReport
from committee.combining.stacking.passthrough import with_columns
from committee.files.parts import FITTED, TEXT, Part, instance, list_of, maybe, whole
from committee.members.diagram import side_by_side, visual_block
from committee.members.loaded_members import (
    check_class_counts,
    check_classifier,
    check_member,
    check_outputs,
    check_regressor,
)
from committee.members.output import Output, OutputRule, none_predicted, predict_each
from committee.members.training import TrainingData, is_own, one_class_error, rows_of
from committee.tables.native_table import AnyTable


@dataclass(frozen=True, eq=False)
class StackRules(ABC):
    """How a stack is fitted, whatever the rows.

    Parameters
    ----------
    title : str
        Of the estimator, in messages.
    lists : list of list of (name, estimator)
        The members of each layer.
    final : estimator
        The meta-learner, not fitted.
    cv : object
        See `check_cv`.
    outputs : OutputRule
        How the outputs of members are chosen.
    refit, passthrough, verbose
        Parameters of the estimator.
    has_default_final : bool
        Whether the meta-learner is the default one.
    """

    title: str
    lists: list[Named]
    final: Any
    cv: Any
    outputs: OutputRule
    refit: bool
    passthrough: bool
    verbose: int
    has_default_final: bool

    @abstractmethod
    def final_values(self, final: Any, features: Any, n_classes: int) -> Floats:
        """Return the predictions of the meta-learner, of which losses are made."""

    @abstractmethod
    def losses(self, values: Floats, y: NDArray[Any]) -> Floats:
        """Return the loss of each row, of predictions of members or of the meta-learner."""

    @abstractmethod
    def comparable(self, values: Floats) -> Floats:
        """Return predictions in a form of which a mean can be taken."""

    @abstractmethod
    def fit_final(self, final: Any, features: Any, y: NDArray[Any], params: dict[str, Any]) -> Any:
        """Return a meta-learner, fitted to features."""

    def progress(self, n_fits: int) -> Progress:
        return Progress(self.title, "fits", max(1, n_fits), int(self.verbose))

    def features(
        self, predictions: Sequence[Floats], outputs: Sequence[Output], table: AnyTable
    ) -> Any:
        """Turn predictions into columns for the next layer, before those of the table if passed."""
        pairs = zip(outputs, predictions, strict=True)
        columns = [output.meta_columns(each) for output, each in pairs]
        return with_columns(columns, table.native) if self.passthrough else np.hstack(columns)


def through_layers(
    rules: StackRules, table: AnyTable, layers: Sequence[tuple[Sequence[Any], Sequence[Output]]]
) -> Iterator[tuple[list[Floats], Any]]:
    """Yield, for each fitted layer, the predictions of its members and the columns made of them."""
    shown = table
    for members, outputs in layers:
        predictions = list(predict_each(members, outputs, shown))
        features = rules.features(predictions, outputs, table)
        yield predictions, features
        shown = AnyTable(features, may_be_empty=True)


class FittedStack:
    """Layers of members and the meta-learner, fitted to training data.

    Attributes
    ----------
    layers : list of LevelOne
        Fitted layers.
    predictions : list of ndarray
        Level-one predictions of the last layer, on `rows`.
    level_one : array or table
        The features that the meta-learner was fitted to.
    rows, y, weights
        The rows that have level-one data, their targets and their weights.
    final : estimator
        The fitted meta-learner.
    """

    def __init__(self, rules: StackRules, data: TrainingData, plan: LevelOnePlan) -> None:
        self.layers: list[LevelOne] = []
        self.rows: Rows = np.arange(len(data.y))
        plans = [
            LayerPlan(layer_members(pairs, rules.outputs, data), plan.source, splits, rules.refit)
            for pairs, splits in zip(rules.lists, plan.layers, strict=True)
        ]
        progress = rules.progress(sum(layer.n_fits(len(data.y)) for layer in plans))
        shown = data
        for number, layer_plan in enumerate(plans):
            splits = list(layer_plan.splits)
            if len(self.rows) < len(data.y):  # the layer before has not predicted all of them
                splits = within(splits, self.rows, len(data.y))
            if not splits and plan.source == "splits":
                raise ValueError(
                    f"cv leaves no rows for layer {number + 1}: its members would predict rows "
                    "that no split tests"
                )
            layer = replace(layer_plan, splits=splits).fit(shown, progress)
            kept = layer.kept_rows(shown.weights)
            self.layers.append(layer)
            self.rows = self.rows[kept]
            self.predictions = [each[kept] for each in layer.predictions]
            source = data.table.part(self.rows)
            self.level_one = rules.features(self.predictions, layer.outputs, source)
            shown = shown.part(kept, AnyTable(self.level_one))
        self.y, self.weights = shown.y, shown.weights
        self.final = fit_final(rules, data, self.level_one, self.rows)

    def outputs_of(self, rules: StackRules, table: AnyTable) -> tuple[list[Floats], Any]:
        """Return the predictions of the last members on a table, and the columns made of them."""
        layers = [(layer.estimators, layer.outputs) for layer in self.layers]
        *_, last = through_layers(rules, table, layers)
        return last


def fit_final(rules: StackRules, data: TrainingData, features: Any, rows: Rows) -> Any:
    """Return the meta-learner, fitted to predictions of members on rows of training data."""
    final = rules.final
    if isinstance(final, FrozenEstimator):
        return final
    own, n_rows = data.fit_params.get("final_estimator", {}), len(data.y)
    params = {key: rows_of(value, rows, n_rows) for key, value in own.items()}
    if "final_estimator" not in data.declined:
        weights = data.weights_for(final, rows)
        params |= {} if weights is None else {"sample_weight": weights}
    n_cells = len(rows) * AnyTable(features).n_features
    try:
        with plain_algebra(n_cells, is_own(final)):
            return rules.fit_final(clone(final), features, data.y[rows], params)
    except (TypeError, ValueError) as error:
        alone = one_class_error("the final_estimator", data.labels, error)
        if alone is not None:
            raise alone from error
        more = ", and the columns of X (passthrough=True)" if rules.passthrough else ""
        error.add_note(f"This is the final_estimator, fitted to predictions of members{more}")
        raise


class StackingModel(TransformerMixin, CommitteeModel):
    """Base class of the stacking estimators."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_features_in_": maybe(whole(1, size="features")),
        "layers_": list_of(list_of(FITTED, least=1), "layers", least=1),
        "_outputs": list_of(list_of(instance(Output)), "layers"),
        "final_estimator_": FITTED,
        "stack_method_": list_of(TEXT),
        "leak_report_": maybe(instance(LeakReport)),
    }
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

    _rules_class: type[StackRules]
    _leak_check_class: Any  # LeakCheck, which fits stacks itself

    def _check_target(self, data: TrainingData) -> None:
        """Raise unless everything that is switched on can be done with this target."""

    @abstractmethod
    def _linear_final(self) -> Any:
        """Return the meta-learner that None stands for."""

    @abstractmethod
    def _convex_final(self, outputs: Sequence[Output], weights: list[float] | None) -> Any:
        """Return a mixture of the members, with given weights or weights to be learnt."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        if self.passthrough:  # the meta-learner reads the table as well
            final = self.final_estimator
            is_given = not (final is None or isinstance(final, str))
            try:
                own = get_tags(final if is_given else self._linear_final()).input_tags
            except Exception:  # fit refuses it
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

    def _sk_visual_block_(self) -> Any:
        """Return what notebooks show: the layers, and the meta-learner after them."""
        final = self._linear_final() if self.final_estimator is None else self.final_estimator
        lists = [*self._member_lists(), [("final_estimator", final)]]
        blocks = tuple(side_by_side(pairs, dash_wrapped=False) for pairs in lists)
        return visual_block("serial", blocks, dash_wrapped=False)

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
        """Return how arguments reach members and meta-learner, for scikit-learn's routing."""
        router = super().get_metadata_routing()
        final = getattr(self, "final_estimator_", self.final_estimator)
        if final is None or isinstance(final, str):
            return router
        mapping = MethodMapping().add(caller="predict", callee="predict")
        return router.add(final_estimator_=final, method_mapping=mapping)

    def _routed(self, sample_weight: Any, fit_params: Mapping[str, Any]) -> Routed:
        routed, final = super()._routed(sample_weight, fit_params), self.final_estimator
        is_fitted = not (final is None or isinstance(final, str | FrozenEstimator))
        if is_fitted and (fit_params or sample_weight is not None):
            return route_to_final(final, sample_weight, fit_params, routed)
        return routed

    # ---- fitting ----

    @property
    def _reads_cells(self) -> bool:
        return bool(self.passthrough)

    @property
    def _outcome(self) -> str:
        return f"{super()._outcome}, combined by {type(self.final_estimator_).__name__}"

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any]
    ) -> None:
        self._check_switches()
        lists = self._checked_lists()
        data, seed = self._assemble(X, y, sample_weight, fit_params, lists[0])
        outputs = [member.output for member in layer_members(lists[-1], self._output_rule, data)]
        rules = self._rules(lists, self._final(outputs))
        self._check_target(data)
        # The check for leaks looks for twins of rows across the folds.
        needs_folds = not is_false(self.leak_check)
        plan = self._plan(data, lists, groups, seed, needs_folds=needs_folds)
        report = self._check_leakage(rules, data, plan, groups, seed)
        if report is not None and report.leaked and self.on_leak == "fallback":
            final = self._convex_final(outputs, report.simple_weights)
            rules = replace(rules, final=final, has_default_final=False)
        stack = FittedStack(rules, data, plan)
        first = stack.layers[0]
        attributes: dict[str, Any] = {
            "estimators_": first.estimators,
            "named_estimators_": self._named_fitted(lists[0], first.estimators),
            "layers_": [layer.estimators for layer in stack.layers],
            "final_estimator_": stack.final,
            "stack_method_": [output.form for output in first.outputs],
            "_outputs": [layer.outputs for layer in stack.layers],
        }
        if report is not None:
            attributes["leak_report_"] = report
        if self.keep_level_one:
            attributes["level_one_"] = stack.level_one
            attributes["level_one_rows_"] = stack.rows
        self._adopt(data, attributes)

    def _rules(self, lists: list[Named], final: Any) -> StackRules:
        return self._rules_class(
            type(self).__name__,
            lists,
            final,
            self.cv,
            self._output_rule,
            bool(self.refit),
            bool(self.passthrough),
            self.verbose,
            self.final_estimator is None,
        )

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

    def _check_leakage(
        self, rules: StackRules, data: TrainingData, plan: LevelOnePlan, groups: Any, seed: int
    ) -> LeakReport | None:
        """Find out whether level-one data leak, where the parameters want it; warn if they do."""
        if is_false(self.leak_check):
            return None
        share = float(self.leak_check) if is_real(self.leak_check) else 0.25
        check = self._leak_check_class(rules, data, plan, groups, seed, share)
        report: LeakReport = check.report()
        if report.leaked:
            if self.on_leak == "raise":
                raise ValueError(report.message)
            warn(report.message)
        return report

    # ---- predicting ----

    @property
    def _member_outputs(self) -> list[Output]:
        return self._outputs[0]

    @property
    def _member_weights(self) -> Floats | None:
        is_mean = isinstance(self.final_estimator_, ConvexClassifier | ConvexRegressor)
        # With several layers it weighs the members of the last one.
        return self.final_estimator_.weights_ if is_mean and len(self.layers_) == 1 else None

    def _predict_final(self, method: str, X: Any, **params: Any) -> Any:
        """Return the predictions of the meta-learner."""
        if params and get_config()["enable_metadata_routing"]:
            params = process_routing(self, method, **params).final_estimator_[method]
        table, features = self._meta_features(X)
        if table.n_rows == 0 and not is_own(self.final_estimator_):
            return none_predicted(self.final_estimator_, method)
        with table.quiet():
            return getattr(self.final_estimator_, method)(features, **params)

    def _meta_features(self, X: Any) -> tuple[AnyTable, Any]:
        """Return a table, and the columns that the meta-learner gets for it."""
        table = self._open(X)
        rules = self._rules([], None)
        layers = zip(self.layers_, self._outputs, strict=True)
        with table.quiet():
            *_, (_, features) = through_layers(rules, table, list(layers))
        return table, features

    def transform(self, X: Any) -> Any:
        """Return the features of the meta-learner: predictions of the last layer of members.

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
            n_columns = output.n_meta_columns
            numbers = [""] if n_columns == 1 else [str(k) for k in range(n_columns)]
            names += [f"{type(self).__name__.lower()}_{name}{number}" for number in numbers]
        if self.passthrough:
            names += _own_names(self, input_features)
        return np.array(names, dtype=object)

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "layers_"):
            return
        check_bool("passthrough", self.passthrough)
        lists, n_columns = self._checked_lists(), self._n_features
        for members, outputs, pairs in zip(self.layers_, self._outputs, lists, strict=True):
            if len(pairs) != len(members):
                raise ValueError("a layer does not fit its members")
            check_class_counts(self, outputs)
            check_outputs(members, outputs, n_columns)
            n_columns = sum(output.n_meta_columns for output in outputs)
            n_columns += self._n_features if self.passthrough else 0
        self._check_loaded_final(n_columns)
        if self.stack_method_ != [output.form for output in self._outputs[0]]:
            raise ValueError("the methods do not fit the outputs")
        self.estimators_ = self.layers_[0]
        self.named_estimators_ = self._named_fitted(lists[0], self.estimators_)

    def _check_loaded_final(self, n_columns: int) -> None:
        final = self.final_estimator_
        if self._member_kind != "classifier":
            check_regressor(final, n_columns)
        elif isinstance(self.classes_, list):
            check_member(final, n_columns)
            check_label_codes(getattr(final, "classes_", None), self.classes_)
        else:
            check_classifier(final, n_columns, np.arange(len(self.classes_)))


def _own_names(model: Any, input_features: Any) -> list[str]:
    if input_features is not None:
        return [str(name) for name in input_features]
    names = getattr(model, "feature_names_in_", None)
    return [f"x{k}" for k in range(model.n_features_in_)] if names is None else list(names)
