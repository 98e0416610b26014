"""What stacking classifiers and regressors share: layers of members, and a meta-learner on top."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack as sparse_hstack
from scipy.sparse import issparse
from sklearn.base import TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from committee._any_table import AnyTable, reads_tables
from committee._frame import as_narwhals
from committee._leakage import LeakReport, compare, twin_share
from committee._level_one import LevelOne, check_answers, count_fits, fit_layer
from committee._level_one_plan import LevelOnePlan, PlanRows, Split, check_cv, plan_level_one
from committee._meta_estimator import wants_weights
from committee._named_members import (
    Named,
    NamedMembers,
    check_class_counts,
    check_member_kind,
)
from committee._params import check_bool, check_choice, check_int, check_real, check_seed, is_real
from committee._progress import Progress
from committee._sampling import parameter_seed
from committee._target import check_same_length
from committee._team import Floats, Rows, Team
from committee._validation import held_out_rows
from committee._voice import Voice
from committee._weights import read_weights

_SPLITS, _OUTER = 11, 12  # what seeds of their own are made for


class StackingModel(TransformerMixin, NamedMembers):
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
    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return class codes and labels, or numbers and None."""

    @abstractmethod
    def _voice(self, name: str, estimator: Any, labels: NDArray[Any] | None) -> Voice:
        """Return how a member is asked."""

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
        check_cv(self.cv)
        for name in ("passthrough", "refit", "keep_level_one"):
            check_bool(name, getattr(self, name))
        if self.layers is not None and not isinstance(self.layers, list | tuple):
            raise TypeError(f"layers must be None or a list of layers; got {self.layers!r}")
        check_choice("on_leak", self.on_leak, ("warn", "fallback", "raise"))
        if not isinstance(self.leak_check, bool | np.bool_):
            check_real(
                "leak_check", self.leak_check, 0.0, 1.0, include_low=False, include_high=False
            )
        is_switch = isinstance(self.verbose, bool | np.bool_)
        check_int("verbose", int(self.verbose) if is_switch else self.verbose, 0)

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
        table = AnyTable(X)
        codes, labels = self._read_target(y, lists[0])
        check_same_length(table.n_rows, len(codes))
        weights = read_weights(sample_weight, table.n_rows)
        seed = check_seed(self.random_state)
        team = Team(
            table,
            codes,
            labels,
            weights,
            self.n_jobs,
            None if self.random_state is None else seed,
            self._routed(fit_params),
        )
        voices = [self._voice(name, each, labels) for name, each in lists[-1]]
        final = self._final(voices)
        report = self._check_leakage(team, lists, final, groups, seed)
        if report is not None and report.leaked and self.on_leak == "fallback":
            final = self._convex_final(voices, report.simple_weights)
        plan = self._plan(team, groups, seed, len(lists))
        stack = _FittedStack(self, team, lists, plan, final)
        attributes: dict[str, Any] = {
            "estimators_": stack.layers[0].members,
            "named_estimators_": self._named_fitted(lists[0], stack.layers[0].members),
            "layers_": [layer.members for layer in stack.layers],
            "final_estimator_": stack.final,
            "stack_method_": [voice.method for voice in stack.layers[0].voices],
            "_voices": [layer.voices for layer in stack.layers],
            "n_features_in_": table.n_features,
        }
        if labels is not None:
            attributes["classes_"] = labels
        if table.names is not None:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        if report is not None:
            attributes["leak_report_"] = report
        if self.keep_level_one:
            attributes["level_one_"] = stack.level_one
            attributes["level_one_rows_"] = stack.rows
        for stale in ("feature_names_in_", "leak_report_", "level_one_", "level_one_rows_"):
            self.__dict__.pop(stale, None)
        self.__dict__.update(attributes)

    def _plan(self, team: Team, groups: Any, seed: int, n_layers: int) -> LevelOnePlan:
        rows = PlanRows(
            len(team.y),
            team.y,
            team.labels is not None,
            team.weights,
            groups,
            team.table.native,
            parameter_seed(seed, _SPLITS),
        )
        return plan_level_one(self.cv, rows, n_layers)

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

    def _progress(self, n_fits: int) -> Progress:
        return Progress(type(self).__name__, "fits", n_fits, int(self.verbose))

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
        stack = _FittedStack(self, part, lists, plan, clone(final))
        features, opinions = self._through(AnyTable(team.table.take(outer, None)), stack.layers)
        n_classes = 0 if team.labels is None else len(team.labels)
        found = [*opinions, self._final_values(stack.final, features, n_classes)]
        truth = team.y[outer]
        outer_weights = None if team.weights is None else team.weights[outer]
        if plan.source == "prefit":
            # Fitted members may have seen all rows. Copies of them that have not seen the outer
            # rows tell how good they can be there.
            promised, known, inner_weights = found, truth, outer_weights
            found = self._copies_found(part, lists, final, seed, inner_groups, team, outer)
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
        stack = _FittedStack(model, part, bare, plan, clone(final))
        features, opinions = model._through(AnyTable(team.table.take(outer, None)), stack.layers)
        n_classes = 0 if team.labels is None else len(team.labels)
        return [*opinions, model._final_values(stack.final, features, n_classes)]

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
        return LevelOnePlan(plan.source, [_placed(splits, place) for splits in plan.layers])

    # ---- asking ----

    def _open(self, X: Any) -> AnyTable:
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        return AnyTable(X).matched(
            None if names is None else tuple(names), self.n_features_in_, type(self).__name__, 6
        )

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
            opinions = [
                voice.ask(member, shown.shown_to(member) if reads_tables(member) else shown.native)
                for member, voice in zip(layer.members, layer.voices, strict=True)
            ]
        return self._features(opinions, layers[-1].voices, table), opinions

    def _features(
        self, opinions: Sequence[Floats], voices: Sequence[Voice], table: AnyTable
    ) -> Any:
        """Make opinions columns for the next layer, with `passthrough` before the table's own."""
        columns = [_columns(each, v) for each, v in zip(opinions, voices, strict=True)]
        return with_columns(columns, table.native) if self.passthrough else np.hstack(columns)

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
            n_columns = _n_columns(voice)
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
        self._check_loaded_final()
        if self.stack_method_ != [voice.method for voice in self._voices[0]]:
            raise ValueError("the methods do not fit the voices")
        if type(getattr(self, "leak_report_", None)) not in (type(None), LeakReport):
            raise ValueError("the report is none")
        self.estimators_ = self.layers_[0]
        self.named_estimators_ = self._named_fitted(lists[0], self.estimators_)

    def _check_loaded_final(self) -> None:
        final = self.final_estimator_
        if not callable(getattr(final, "predict", None)):
            raise ValueError("there is no meta-learner")
        n_columns = sum(map(_n_columns, self._voices[-1]))
        n_columns += self.n_features_in_ if self.passthrough else 0
        if final.n_features_in_ != n_columns:
            raise ValueError("the meta-learner has learnt from other columns")
        codes = getattr(final, "classes_", None)
        if (codes is None) == (self._member_kind == "classifier"):
            raise ValueError("the meta-learner is of another kind")
        if codes is not None and not set(codes.tolist()) <= set(range(len(self.classes_))):
            raise ValueError("the meta-learner has learnt other classes")


class _FittedStack:
    """Layers of members and the meta-learner, fitted to the rows of a team.

    Attributes
    ----------
    layers : list of LevelOne
        Fitted layers.
    opinions : list of ndarray
        Level-one opinions of the last layer, on `rows`.
    level_one : array or table
        The features that the meta-learner was fitted to.
    rows, y, weights
        The rows that have level-one data, their targets and their weights.
    final : estimator
        The fitted meta-learner.
    """

    def __init__(
        self, model: StackingModel, team: Team, lists: list[Named], plan: LevelOnePlan, final: Any
    ) -> None:
        self._model, self._team = model, team
        n_fits = sum(
            count_fits(pairs, plan, len(splits), len(team.y), refit=model.refit)
            for pairs, splits in zip(lists, plan.layers, strict=True)
        )
        self._progress = model._progress(max(n_fits, 1))
        self.layers: list[LevelOne] = []
        self.rows: Rows = np.arange(len(team.y))
        shown = team
        for number, pairs in enumerate(lists):
            if number:
                shown = self._next(shown)
            voices = [model._voice(name, each, team.labels) for name, each in pairs]
            splits = _within(plan.layers[number], self.rows, len(team.y))
            if not splits and plan.source == "splits":
                raise ValueError(
                    f"cv leaves no rows for layer {number + 1}: its members would be asked about "
                    "rows that no split tests"
                )
            self.layers.append(
                fit_layer(
                    shown,
                    pairs,
                    voices,
                    plan,
                    splits,
                    refit=model.refit,
                    wants_opinions=True,
                    progress=self._progress,
                )
            )
        self._finish(shown, final)

    def _next(self, shown: Team) -> Team:
        """Return the rows that the last layer has level-one data of, for the next layer."""
        layer = self.layers[-1]
        kept = self._kept(layer, shown)
        self.rows = self.rows[kept]
        table = AnyTable(self._table_of(layer, kept))
        return shown.part(kept, table)

    def _kept(self, layer: LevelOne, shown: Team) -> Rows:
        is_present = layer.covered if shown.weights is None else layer.covered & (shown.weights > 0)
        kept = np.flatnonzero(is_present)
        if len(kept) == 0:
            raise ValueError("no row has an opinion of every member; cv leaves no level-one data")
        return kept

    def _table_of(self, layer: LevelOne, kept: Rows) -> Any:
        source = AnyTable(self._team.table.take(self.rows, None))
        opinions = [each[kept] for each in layer.opinions]
        return self._model._features(opinions, layer.voices, source)

    def _finish(self, shown: Team, final: Any) -> None:
        layer = self.layers[-1]
        kept = self._kept(layer, shown)
        self.rows = self.rows[kept]
        self.opinions = [each[kept] for each in layer.opinions]
        self.level_one = self._table_of(layer, kept)
        self.y = shown.y[kept]
        self.weights = None if shown.weights is None else shown.weights[kept]
        self._unfitted = final
        self.final = self._fit_final(final, self.level_one, self.y, self.weights)

    def _fit_final(self, final: Any, features: Any, y: NDArray[Any], weights: Any) -> Any:
        if isinstance(final, FrozenEstimator):
            return final
        params: dict[str, Any] = dict(self._team.fit_params.get("final_estimator", {}))
        if weights is not None and wants_weights("final_estimator", final):
            params["sample_weight"] = weights
        try:
            return clone(final).fit(features, y, **params)
        except (TypeError, ValueError) as error:
            more = ", and the columns of X (passthrough=True)" if self._model.passthrough else ""
            error.add_note(f"This is the final_estimator, fitted to opinions of members{more}")
            raise

    def out_of_fold_final(self) -> NDArray[Any]:
        """Return what meta-learners that have not seen a row's level-one data say about it."""
        from sklearn.model_selection import KFold, StratifiedKFold

        table, is_class = AnyTable(self.level_one), self._team.labels is not None
        n_folds = min(5, len(self.y))
        if is_class:  # as long as a class can be in every fold, each is
            n_folds = min(n_folds, max(2, int(np.bincount(self.y).max())))
        splitter = StratifiedKFold if is_class and np.bincount(self.y).max() > 1 else KFold
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            folds = list(splitter(n_folds).split(np.zeros((len(self.y), 1)), self.y))
        parts = []
        for train, test in folds:
            weights = None if self.weights is None else self.weights[train]
            final = self._fit_final(self._unfitted, table.take(train, None), self.y[train], weights)
            parts.append(self._model._final_values(final, table.take(test, None), self._n_classes))
        found = np.zeros((len(self.y), parts[0].shape[1]))
        for (_, test), values in zip(folds, parts, strict=True):
            found[test] = values
        return found

    @property
    def _n_classes(self) -> int:
        return 0 if self._team.labels is None else len(self._team.labels)


def _thawed(estimator: Any) -> Any:
    """Return a copy that can be fitted anew."""
    return clone(estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator)


def _within(splits: Sequence[Split], rows: Rows, n_rows: int) -> list[Split]:
    """Return splits of a part of the rows, as places in that part."""
    if len(rows) == n_rows:
        return list(splits)
    place = np.full(n_rows, -1)
    place[rows] = np.arange(len(rows))
    return _placed(splits, place)


def _placed(splits: Sequence[Split], place: Rows) -> list[Split]:
    found = []
    for train, test in splits:
        train, test = place[train], place[test]
        train, test = train[train >= 0], test[test >= 0]
        if len(train) and len(test):
            found.append((train, test))
    return found


def _n_columns(voice: Voice) -> int:
    """Return the number of columns that an opinion becomes."""
    return 1 if voice.n_classes in (0, 2) or voice.method == "predict" else voice.n_classes


def _columns(opinion: Floats, voice: Voice) -> Floats:
    """Return an opinion as columns for a learner, as scikit-learn has them."""
    if voice.n_classes and voice.method == "predict":
        return np.asarray(opinion.argmax(axis=1)[:, np.newaxis], np.float64)
    if voice.n_classes == 2 and opinion.shape[1] == 2:
        return opinion[:, 1:]  # the other is what is left to one
    return opinion


def with_columns(columns: Sequence[Floats], table: Any) -> Any:
    """Return columns of numbers before those of a table, as a table that a learner can read.

    Tables of numbers become an array, as in scikit-learn; frames with other columns stay frames.
    """
    if issparse(table):
        return sparse_hstack([*columns, table], format=table.format)
    if isinstance(table, np.ndarray):
        return np.hstack([*columns, table])
    frame = as_narwhals(table)
    if frame is table:
        return np.hstack([*columns, np.asarray(table)])
    if all(dtype.is_numeric() for dtype in frame.schema.values()):
        return np.hstack([*columns, frame.to_numpy()])
    import narwhals as nw

    values = np.hstack(columns)
    taken = set(frame.columns)
    names = []
    for number in range(values.shape[1]):
        name = f"opinion{number}"
        while name in taken:
            name += "_"
        names.append(name)
    backend = nw.get_native_namespace(frame)
    series = [
        nw.new_series(name, np.ascontiguousarray(values[:, k]), backend=backend)
        for k, name in enumerate(names)
    ]
    if hasattr(table, "index"):
        series = [
            nw.from_native(c.to_native().set_axis(table.index), series_only=True) for c in series
        ]
    return frame.with_columns(*series).select(*names, *frame.columns).to_native()


def _own_names(model: Any, input_features: Any) -> list[str]:
    if input_features is not None:
        return [str(name) for name in input_features]
    names = getattr(model, "feature_names_in_", None)
    return [f"x{k}" for k in range(model.n_features_in_)] if names is None else list(names)


def _mean(opinions: Sequence[Floats]) -> Floats:
    total: Floats = sum(opinions[1:], start=opinions[0])
    return np.asarray(total / len(opinions))
