"""What ensembles of named members share: parameters, reading the rows, and the fitted attributes.

Members are given as (name, estimator) pairs; ``name__parameter`` reaches their parameters, and the
text "drop" in place of an estimator leaves it out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from committee.base.arrays import Floats
from committee.base.params import Estimator, check_seed, check_verbose
from committee.base.work import FitLog, Progress, running_fit
from committee.combining.level_one import (
    LayerPlan,
    LevelOne,
    LevelOnePlan,
    Named,
    PlanRows,
    check_cv,
    layer_members,
    leaves_rows_out,
    plan_level_one,
)
from committee.combining.routing import Routed, route_to_members
from committee.members.diagram import side_by_side
from committee.members.meta_estimator import refuse_params
from committee.members.output import Output, OutputRule, will_have
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable
from committee.tables.target import (
    check_same_length,
    read_classes,
    read_reals,
    read_weights,
    warn_of_column,
)


class NamedMembers(Estimator, ABC):
    """Base class of estimators whose members are named."""

    estimators: Any

    # Fitted attributes.
    estimators_: list[Any]
    named_estimators_: Bunch
    n_features_in_: int

    _member_kind: str  # "classifier" or "regressor"
    _other_kinds: tuple[str, ...] = ()  # that members may be, too

    # ---- parameters ----

    def _member_lists(self) -> list[Any]:
        """Return the lists of members, layer after layer."""
        return [self.estimators]

    def _set_member_lists(self, lists: list[Named]) -> None:
        (self.estimators,) = lists

    @property
    def named_estimators(self) -> Bunch:
        """The members as given, by name."""
        return Bunch(**dict(pair for pairs in self._member_lists() for pair in pairs))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with `deep` also the members and theirs.

        Parameters
        ----------
        deep : bool, default=True
            Add the members by name, and their parameters as ``name__parameter``.

        Returns
        -------
        params : dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if not deep:
            return params
        pairs = self._pairs_by_name()
        params.update(pairs)
        for name, member in pairs.items():
            if hasattr(member, "get_params") and not isinstance(member, type):
                own = member.get_params(deep=True)
                params.update({f"{name}__{key}": value for key, value in own.items()})
        return params

    def _pairs_by_name(self) -> dict[str, Any]:
        try:
            return {name: member for each in self._member_lists() for name, member in each}
        except (TypeError, ValueError):  # no lists of pairs: fit refuses them
            return {}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, replace members by name, or set their parameters.

        Parameters
        ----------
        **params : dict
            Values by name, see `get_params`.

        Returns
        -------
        self : estimator
            The estimator.
        """
        own = super().get_params(deep=False)
        for name in [name for name in params if name in own]:
            setattr(self, name, params.pop(name))
        names = set(self._pairs_by_name())
        replaced = {name: params.pop(name) for name in list(params) if name in names}
        if replaced:
            self._set_member_lists(
                [
                    [(name, replaced.get(name, member)) for name, member in pairs]
                    for pairs in self._member_lists()
                ]
            )
        super().set_params(**params)
        return self

    # ---- checks ----

    def _checked_lists(self) -> list[Named]:
        """Return the members that take part, layer by layer; raise if they are no members."""
        lists = self._member_lists()
        where = ["estimators", *(f"layers[{layer}]" for layer in range(len(lists) - 1))]
        found = [
            _checked_pairs(pairs, name, self._member_kind, self._other_kinds)
            for pairs, name in zip(lists, where, strict=True)
        ]
        names = [name for pairs in lists for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"Names provided are not unique: {twice} occur more than once")
        taken = sorted(set(names) & set(super().get_params(deep=False)))
        if taken:
            raise ValueError(
                f"Estimator names conflict with constructor arguments: {taken}; give these "
                "members other names"
            )
        return found

    def _named_fitted(self, pairs: Named, members: Sequence[Any]) -> Bunch:
        """Return the fitted members of the first list by name."""
        fitted = dict(zip([name for name, _ in pairs], members, strict=True))
        return Bunch(**{name: fitted.get(name, "drop") for name, _ in self.estimators})

    def _sk_visual_block_(self) -> Any:
        """Return what notebooks show: the members, side by side."""
        return side_by_side(self.estimators)

    # ---- tags and routing ----

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            pairs = [pair for each in self._member_lists()[:1] for pair in each]
            members = [get_tags(member) for _, member in pairs if member != "drop"]
        except Exception:  # fit refuses members that cannot be used
            return tags
        tags.input_tags.sparse = all(member.input_tags.sparse for member in members)
        tags.input_tags.allow_nan = all(member.input_tags.allow_nan for member in members)
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how arguments of `fit` reach the members, for scikit-learn's routing."""
        router = MetadataRouter(owner=self).add_self_request(self)
        for pairs in self._member_lists():
            for name, member in pairs:
                if member != "drop":
                    mapping = MethodMapping().add(caller="fit", callee="fit")
                    router.add(**{name: member}, method_mapping=mapping)
        return router


class CommitteeModel(NamedMembers):
    """Base class of voting, stacking, ensemble selection and dynamic selection."""

    cv: Any
    n_jobs: int | None
    verbose: int
    random_state: Any

    # Scikit-learn's routing asks the members; the ensemble uses these where it is told to.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": False, "groups": False}

    _outputs: Any  # fitted: what members predict

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], Any]:
        """Return class codes and labels, or numbers and None.

        Where rows can have several labels: a column of codes for each, and a list of their values.
        """

    @property
    @abstractmethod
    def _output_methods(self) -> tuple[str, ...]:
        """The methods of members of which the first that each has predicts."""

    @abstractmethod
    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any]
    ) -> None:
        """Do what `fit` promises."""

    # ---- fitting ----

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the members, and learn from rows that they have not seen how to combine them.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,)
            Class labels, or finite numbers. `StackingClassifier` also takes several labels a row,
            a column of 0 and 1 for each.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows, for members and for what is learnt from them; a row of weight zero
            is absent. Penalties of estimators of scikit-learn are absolute, so that the size of
            weights matters to them; tiny weights (a mean below 1/1024) are scaled for them.
        groups : array-like of shape (n_rows,) or None, default=None
            Rows with the same value are never on both sides of a split.
        **fit_params : dict
            Arguments for the `fit` of members that request them, with scikit-learn's metadata
            routing switched on.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        if fit_params:
            refuse_params("fit", fit_params)
        with FitLog(type(self).__name__) as log:
            self._fit(X, y, sample_weight, groups, fit_params)
            log.end("%s", self._outcome)
        return self

    def _check_switches(self) -> None:
        check_cv(self.cv)
        check_verbose(self.verbose)

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    @property
    def _reads_cells(self) -> bool:
        """Whether the ensemble itself looks at cells of the table, and not its members alone."""
        return False

    def _assemble(
        self, X: Any, y: Any, sample_weight: Any, fit_params: Mapping[str, Any], pairs: Named
    ) -> tuple[TrainingData, int]:
        """Read table, target and weights; return them as training data, and the seed."""
        table = AnyTable(X, is_table=True if self._reads_cells else None)
        running_fit().begin(table.n_rows, table.n_features)
        codes, labels = self._read_target(y, pairs)
        check_same_length(table.n_rows, len(codes))
        weights = read_weights(sample_weight, table.n_rows)
        seed = check_seed(self.random_state)
        member_seed = None if self.random_state is None else seed
        params, declined = self._routed(sample_weight, fit_params)
        values = labels if isinstance(labels, list) else None
        labels = None if isinstance(labels, list) else labels
        data = TrainingData(
            table,
            codes,
            labels,
            weights,
            self.n_jobs,
            member_seed,
            params,
            values,
            declined=declined,
            shows_ones=sample_weight is not None,
        )
        return data, seed

    def _routed(self, sample_weight: Any, fit_params: Mapping[str, Any]) -> Routed:
        """Return the arguments of `fit` that go on to each member, and who gets no weights."""
        if sample_weight is None and not fit_params:
            return {}, frozenset()
        members = {n: each for n, each in self._pairs_by_name().items() if not _is_dropped(each)}
        return route_to_members(self, members, sample_weight, fit_params, self._is_prefit)

    @property
    def _output_rule(self) -> OutputRule:
        return OutputRule(self._output_methods, self._is_prefit)

    def _plan(
        self,
        data: TrainingData,
        lists: Sequence[Named],
        groups: Any,
        seed: int,
        *,
        needs_folds: bool = False,
    ) -> LevelOnePlan:
        """Return which rows members are fitted to, and which they predict afterwards."""
        members = [member for pairs in lists for _, member in pairs]
        needs_folds |= not all(leaves_rows_out(member, len(data.y)) for member in members)
        rows = PlanRows.of(data, groups, seed)
        return plan_level_one(self.cv, rows, len(lists), needs_folds=needs_folds)

    def _fit_layer(
        self, data: TrainingData, pairs: Named, groups: Any, seed: int, **options: bool
    ) -> LevelOne:
        """Fit the one layer of members, with the options of `LayerPlan`."""
        plan, rule = self._plan(data, [pairs], groups, seed), self._output_rule
        layer = LayerPlan(layer_members(pairs, rule, data), plan.source, plan.layers[0], **options)
        return layer.fit(data, self._progress(layer.n_fits(len(data.y))))

    def _progress(self, n_all: int, noun: str = "fits") -> Progress:
        return Progress(type(self).__name__, noun, max(1, n_all), int(self.verbose))

    @property
    def _outcome(self) -> str:
        """What the fit made, in words."""
        return f"{len(self.estimators_)} members"

    def _adopt(self, data: TrainingData, attributes: dict[str, Any]) -> None:
        """Set all fitted attributes together, when nothing can fail any more."""
        table = data.table
        if table.is_table:
            attributes["n_features_in_"] = table.n_features
        if data.labels is not None or data.values is not None:
            attributes["classes_"] = data.labels if data.values is None else data.values
        if table.names is not None:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        self._replace_fitted(attributes)

    # ---- predicting ----

    @property
    def _member_outputs(self) -> list[Output]:
        """The output of each of `estimators_`."""
        outputs: list[Output] = self._outputs
        return outputs

    @property
    def _member_weights(self) -> Floats | None:
        """Weights of `estimators_` in the mean of their predictions; None where they are equal."""
        return None

    def _open(self, X: Any) -> AnyTable:
        """Return a table to predict, with the columns of `fit`."""
        self._check_fitted()
        found = getattr(self, "feature_names_in_", None)
        names = None if found is None else tuple(found)
        name = type(self).__name__
        return AnyTable.of_batch(X, names, self._n_features, name)

    @property
    def _n_features(self) -> int:
        """Number of features; 0 where the rows of `fit` were no table."""
        return getattr(self, "n_features_in_", 0)


class OfClassifiers(CommitteeModel):
    """A committee of classifiers."""

    _member_kind = "classifier"

    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], Any]:
        warn_of_column(y)
        return read_labels(y, pairs if self._is_prefit else [], type(self).__name__)


class OfRegressors(CommitteeModel):
    """A committee of regressors."""

    _member_kind = "regressor"
    _output_methods = ("predict",)

    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], Any]:
        warn_of_column(y)
        values, _ = read_reals(y)
        if values.shape[1] > 1:
            raise ValueError(
                f"y should be a 1d array, got {values.shape[1]} columns instead: "
                "sklearn.multioutput.MultiOutputRegressor makes a committee for each of them"
            )
        return values[:, 0], None


def read_labels(y: Any, fitted: Named, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return class codes and labels; the classes of fitted members are among them.

    Parameters
    ----------
    y : array-like
        Labels.
    fitted : list of (name, estimator)
        Members that are fitted already.
    name : str
        Of the ensemble, for messages.

    Returns
    -------
    codes : ndarray of int32
        Class codes.
    labels : ndarray
        Sorted labels.
    """
    target = read_classes(y)
    if target.n_outputs > 1:
        raise ValueError(
            f"y should be a 1d array, got {target.n_outputs} columns instead: {name} has one "
            "output; sklearn.multioutput.MultiOutputClassifier makes one for each"
        )
    codes, labels = target.codes[:, 0], target.classes[0]
    known = [(name, np.asarray(m.classes_)) for name, m in fitted if hasattr(m, "classes_")]
    for member, own in known:
        if not set(own.tolist()) & set(labels.tolist()):
            raise ValueError(
                f"the fitted member {member!r} predicts the classes {own.tolist()[:5]}, none of "
                f"which are among the labels of y: {labels.tolist()[:5]}"
            )
    everything = np.unique(np.concatenate([labels, *(own for _, own in known)]))
    if len(everything) == len(labels):
        return codes, labels
    return np.searchsorted(everything, labels)[codes].astype(np.int32), everything


def _checked_pairs(pairs: Any, where: str, kind: str, others: tuple[str, ...]) -> Named:
    if not isinstance(pairs, list) or not pairs:
        raise ValueError(
            f"Invalid 'estimators' attribute, {where!r} should be a non-empty list of (string, "
            f"estimator) tuples; got {pairs!r}"
        )
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError(
                f"Invalid 'estimators' attribute, {where!r} should be a non-empty list of (string, "
                f"estimator) tuples; got the entry {pair!r}"
            )
        if "__" in pair[0]:
            raise ValueError(f"Estimator names must not contain __: got {pair[0]!r} in {where}")
    active = [(name, member) for name, member in pairs if not _is_dropped(member)]
    if not active:
        raise ValueError(
            f"All estimators are dropped. At least one is required to be a {kind}: {where}"
        )
    for name, member in active:
        check_member_kind(name, member, kind, others)
    return active


def _is_dropped(member: Any) -> bool:
    return isinstance(member, str) and member == "drop"


def check_member_kind(name: str, member: Any, kind: str, others: tuple[str, ...] = ()) -> None:
    """Raise unless a member can be fitted and predicts classes or numbers as wanted.

    Parameters
    ----------
    name : str
        Of the member.
    member : estimator
        The member.
    kind : {"classifier", "regressor"}
        What it should be.
    others : tuple of str, default=()
        What it may be as well.
    """
    can_fit = not isinstance(member, type) and hasattr(member, "fit")
    if not (can_fit and will_have(member, "predict")):
        raise ValueError(
            f"The estimator {name!r} should be a {kind}: an instance with fit and predict, or "
            f'"drop"; got {member!r}'
        )
    try:
        found = get_tags(member).estimator_type
    except Exception:  # not all estimators have tags; without them nothing is known
        found = None
    known = {"classifier", "regressor", "clusterer", "outlier_detector"}
    if found in known - {kind, *others}:
        raise ValueError(
            f"The estimator {type(member).__name__} should be a {kind}: {name!r} is a {found}"
        )
