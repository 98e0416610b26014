"""What stacking classifiers and regressors share: layers of members, and a meta-learner on top."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from committee._any_table import AnyTable
from committee._committee_model import CommitteeModel, ask_each
from committee._fitted_stack import FittedStack, placed
from committee._leakage import LeakReport, compare, twin_share
from committee._level_one import LevelOne, check_answers
from committee._level_one_plan import LevelOnePlan
from committee._meta_features import meta_features
from committee._named_members import (
    Named,
    check_class_counts,
    check_member_kind,
)
from committee._params import check_bool, check_choice, check_real, is_real
from committee._sampling import parameter_seed
from committee._team import Floats, Rows, Task, Team
from committee._validation import held_out_rows
from committee._voice import Voice

_SPLITS, _OUTER = 11, 12  # what seeds of their own are made for


class StackingModel(TransformerMixin, CommitteeModel):
    """Base class of the stacking estimators."""

    _stored_attributes = ("_voices",)
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
    _voices: list[list[Voice]]

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _linear_final(self) -> Any:
        """Return the meta-learner that None stands for."""

    @abstractmethod
    def _convex_final(self, voices: Sequence[Voice], weights: list[float] | None) -> Any:
        """Return a mixture of the members, with given weights or those that it learns."""

    @abstractmethod
    def _comparable(self, values: Floats) -> Floats:
        """Return opinions in a form of which a mean can be taken."""

    @abstractmethod
    def _losses(self, values: NDArray[Any], y: NDArray[Any]) -> Floats:
        """Return the loss of each row, of opinions or of what the meta-learner says."""

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
        voices = self._voices_of(team, lists[-1])
        final = self._final(voices)
        report = self._check_leakage(team, lists, final, groups, seed)
        if report is not None and report.leaked and self.on_leak == "fallback":
            final = self._convex_final(voices, report.simple_weights)
        plan = self._plan(team, groups, seed, len(lists))
        stack = FittedStack(self, team, lists, plan, final)
        attributes: dict[str, Any] = {
            "estimators_": stack.layers[0].members,
            "named_estimators_": self._named_fitted(lists[0], stack.layers[0].members),
            "layers_": [layer.members for layer in stack.layers],
            "final_estimator_": stack.final,
            "stack_method_": [voice.method for voice in stack.layers[0].voices],
            "_voices": [layer.voices for layer in stack.layers],
        }
        if report is not None:
            attributes["leak_report_"] = report
        if self.keep_level_one:
            attributes["level_one_"] = stack.level_one
            attributes["level_one_rows_"] = stack.rows
        self._adopt(team, attributes, ("leak_report_", "level_one_", "level_one_rows_"))

    def _final(self, voices: Sequence[Voice]) -> Any:
        final = self.final_estimator
        if final is None:
            return self._linear_final()
        if isinstance(final, str):
            check_choice("final_estimator", final, ("convex",))
            if self.passthrough:
                raise ValueError(
                    'final_estimator="convex" mixes the opinions of members and has no use '
                    "for other columns; set passthrough=False"
                )
            return self._convex_final(voices, None)
        check_member_kind("final_estimator", final, self._member_kind)
        return clone(final)

    # ---- leakage ----

    def _check_leakage(
        self, team: Team, lists: list[Named], final: Any, groups: Any, seed: int
    ) -> LeakReport | None:
        """Fit the stack to a part of the rows, and compare what it thinks of itself with the rest.

        The rest is seen by nobody: neither by members, nor by the meta-learner.
        """
        if isinstance(self.leak_check, bool | np.bool_) and not self.leak_check:
            return None
        share = float(self.leak_check) if is_real(self.leak_check) else 0.25
        classes = None if team.labels is None else team.y.astype(np.int32)
        generator = np.random.default_rng(parameter_seed(seed, _OUTER))
        is_time = isinstance(self.cv, str) and self.cv == "time"
        outer = held_out_rows(
            len(team.y),
            share,
            generator,
            weights=team.weights,
            classes=classes,
            groups=groups,
            last=is_time,
        )
        present = np.arange(len(team.y)) if team.weights is None else np.flatnonzero(team.weights)
        inner = np.setdiff1d(present, outer)
        part = team.part(inner, AnyTable(team.table.take(inner, None)))
        inner_groups = None if groups is None else np.asarray(groups)[inner]
        plan = self._inner_plan(part, inner, inner_groups, seed, len(lists), team)
        stack = FittedStack(self, part, lists, plan, clone(final))
        features, opinions = self._through(AnyTable(team.table.take(outer, None)), stack.layers)
        n_classes = 0 if team.labels is None else len(team.labels)
        found = [*opinions, self._final_values(stack.final, features, n_classes)]
        truth = team.y[outer]
        outer_weights = None if team.weights is None else team.weights[outer]
        seen = None
        if plan.source == "prefit":
            # Fitted members may have seen all rows. Copies of them that have not seen the outer
            # rows tell how good they can be there, copies that have how good cheating would be.
            promised, known, inner_weights = found, truth, outer_weights
            found = self._copies_found(part, lists, final, seed, inner_groups, team, outer)
            seen = self._copies_seen(team, lists, final, inner, outer)
        else:
            promised, known = [*stack.opinions, stack.out_of_fold_final()], stack.y
            inner_weights = stack.weights
        report = compare(
            [name for name, _ in lists[-1]],
            [self._losses(each, known) for each in promised],
            [self._losses(each, truth) for each in found],
            self._losses(_mean([self._comparable(each) for each in found[:-1]]), truth),
            (inner_weights, outer_weights),
            twin_share(team.table, plan.layers[0], inner),
            None if seen is None else [self._losses(each, truth) for each in seen],
        )
        if report.leaked:
            if self.on_leak == "raise":
                raise ValueError(report.message)
            warnings.warn(report.message, UserWarning, stacklevel=5)
        return report

    def _copies_found(
        self,
        part: Team,
        lists: list[Named],
        final: Any,
        seed: int,
        groups: Any,
        team: Team,
        outer: Rows,
    ) -> list[Floats]:
        """Fit copies of fitted members to the inner rows; return what they say of the others."""
        model = clone(self).set_params(cv=None)
        plan = model._plan(part, groups, seed, len(lists))
        bare = [[(name, _thawed(each)) for name, each in pairs] for pairs in lists]
        stack = FittedStack(model, part, bare, plan, clone(final))
        features, opinions = model._through(AnyTable(team.table.take(outer, None)), stack.layers)
        n_classes = 0 if team.labels is None else len(team.labels)
        return [*opinions, model._final_values(stack.final, features, n_classes)]

    def _copies_seen(
        self, team: Team, lists: list[Named], final: Any, inner: Rows, outer: Rows
    ) -> list[Floats]:
        """Fit copies of fitted members to all rows; return what they say of the outer ones."""
        model = clone(self).set_params(cv=None)
        shown, features = team, None
        opinions: list[Floats] = []
        for pairs in lists:
            if features is not None:
                shown = team.part(np.arange(len(team.y)), AnyTable(features))
            voices = model._voices_of(team, pairs)
            tasks = [Task(name, k, _thawed(each)) for k, (name, each) in enumerate(pairs)]
            members = [member for member, _ in shown.run(tasks, self._progress(len(tasks)))]
            opinions = [shown.ask(m, v, None) for m, v in zip(members, voices, strict=True)]
            features = model._features(opinions, voices, team.table)
        table = AnyTable(features)
        params = {} if team.weights is None else {"sample_weight": team.weights[inner]}
        meta = clone(final)
        if not isinstance(meta, FrozenEstimator):
            meta.fit(table.take(inner, None), team.y[inner], **params)
        n_classes = 0 if team.labels is None else len(team.labels)
        answers = model._final_values(meta, table.take(outer, None), n_classes)
        return [*(each[outer] for each in opinions), answers]

    def _inner_plan(
        self, part: Team, inner: Rows, groups: Any, seed: int, n_layers: int, team: Team
    ) -> LevelOnePlan:
        """Return the plan of the inner rows: the given splits without the others, or new ones."""
        is_made_here = self.cv is None or isinstance(self.cv, str | int | float)
        if is_made_here or hasattr(self.cv, "split"):  # also every text, which has the method
            return self._plan(part, groups, seed, n_layers)
        place = np.full(len(team.y), -1)
        place[inner] = np.arange(len(inner))
        plan = self._plan(team, None, seed, n_layers)
        return LevelOnePlan(plan.source, [placed(splits, place) for splits in plan.layers])

    # ---- asking ----

    def _meta_features(self, X: Any) -> Any:
        """Return what the meta-learner sees."""
        table = self._open(X)
        layers = [
            LevelOne(members, voices, [], np.ones(0, bool))
            for members, voices in zip(self.layers_, self._voices, strict=True)
        ]
        return self._through(table, layers)[0]

    def _through(self, table: AnyTable, layers: Sequence[LevelOne]) -> tuple[Any, list[Floats]]:
        """Send rows through fitted layers; return the last features and the last opinions."""
        shown = table
        opinions: list[Floats] = []
        for number, layer in enumerate(layers):
            if number:
                shown = AnyTable(self._features(opinions, layers[number - 1].voices, table))
            opinions = ask_each(layer.members, layer.voices, shown)
        return self._features(opinions, layers[-1].voices, table), opinions

    def _features(
        self, opinions: Sequence[Floats], voices: Sequence[Voice], table: AnyTable
    ) -> Any:
        """Make opinions columns for the next layer, with `passthrough` before the table's own."""
        return meta_features(opinions, voices, table if self.passthrough else None)

    def transform(self, X: Any) -> Any:
        """Return what the meta-learner sees of rows: the opinions of the last layer of members.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        features : ndarray of float64, shape (n_rows, n_columns)
            For each member its probabilities (that of the first of two classes is left out),
            decision function or prediction; with `passthrough` also the columns of X.
        """
        return self._meta_features(X)

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
        for (name, _), voice in zip(pairs, self._voices[-1], strict=True):
            n_columns = voice.n_classes if voice.method != "predict" else 1
            n_columns = 1 if voice.n_classes in (0, 2) else n_columns
            numbers = [""] if n_columns == 1 else [str(k) for k in range(n_columns)]
            names += [f"{type(self).__name__.lower()}_{name}{number}" for number in numbers]
        if self.passthrough:
            names += _own_names(self, input_features)
        return np.array(names, dtype=object)

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "layers_"):
            return
        if type(self.layers_) is not list or type(self._voices) is not list:
            raise ValueError("the layers are no lists")
        lists = self._checked_lists()
        if not len(self.layers_) == len(self._voices) == len(lists):
            raise ValueError("the layers do not fit each other")
        for members, voices, pairs in zip(self.layers_, self._voices, lists, strict=True):
            check_answers(members, voices)
            if len(pairs) != len(members):
                raise ValueError("a layer does not fit its members")
            check_class_counts(self, voices)
        if not callable(getattr(self.final_estimator_, "predict", None)):
            raise ValueError("there is no meta-learner")
        self.estimators_ = self.layers_[0]
        self.named_estimators_ = self._named_fitted(lists[0], self.estimators_)


def _thawed(estimator: Any) -> Any:
    """Return a copy that can be fitted anew."""
    return clone(estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator)


def _own_names(model: Any, input_features: Any) -> list[str]:
    if input_features is not None:
        return [str(name) for name in input_features]
    names = getattr(model, "feature_names_in_", None)
    return [f"x{k}" for k in range(model.n_features_in_)] if names is None else list(names)


def _mean(opinions: Sequence[Floats]) -> Floats:
    total: Floats = sum(opinions[1:], start=opinions[0])
    return np.asarray(total / len(opinions))
