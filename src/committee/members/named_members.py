"""Conventions of scikit-learn for estimators made of several named ones.

Members are given as (name, estimator) pairs; ``name__parameter`` reaches their parameters, and the
text "drop" in place of an estimator leaves it out.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, Self

from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from committee.base.params import Estimator

Named = list[tuple[str, Any]]


class NamedMembers(Estimator, ABC):
    """Base class of estimators whose members are named."""

    estimators: Any

    # Fitted attributes.
    estimators_: list[Any]
    named_estimators_: Bunch
    n_features_in_: int

    _member_kind: str  # "classifier" or "regressor"

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
        except (TypeError, ValueError):  # no lists of pairs: fit says so
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
            _checked_pairs(pairs, name, self._member_kind)
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

    def _check_fitted(self) -> None:
        if not hasattr(self, "estimators_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    # ---- tags and routing ----

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            pairs = [pair for each in self._member_lists()[:1] for pair in each]
            members = [get_tags(member) for _, member in pairs if member != "drop"]
        except Exception:  # members that cannot be used say so in fit
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

    def _routed(self, params: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        """Return the arguments of `fit` that go on to each member."""
        if not params:
            return {}
        if not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"[{', '.join(params)}] are passed to fit but are not among its arguments. "
                "sklearn.set_config(enable_metadata_routing=True) lets the members request them"
            )
        routed = process_routing(self, "fit", **params)
        return {name: dict(each.fit) for name, each in routed.items()}


def _checked_pairs(pairs: Any, where: str, kind: str) -> Named:
    if not isinstance(pairs, Sequence) or isinstance(pairs, str) or len(pairs) == 0:
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
        check_member_kind(name, member, kind)
    return active


def _is_dropped(member: Any) -> bool:
    return isinstance(member, str) and member == "drop"


def check_member_kind(name: str, member: Any, kind: str) -> None:
    """Raise unless a member can be fitted and predicts what is asked for."""
    can_fit = not isinstance(member, type) and hasattr(member, "fit")
    if not (can_fit and will_answer(member, "predict")):
        raise ValueError(
            f"The estimator {name!r} should be a {kind}: an instance with fit and predict, or "
            f'"drop"; got {member!r}'
        )
    try:
        found = get_tags(member).estimator_type
    except Exception:  # tags are not everybody's; without them nothing is known
        found = None
    if found in ("classifier", "regressor", "clusterer", "outlier_detector") and found != kind:
        raise ValueError(
            f"The estimator {type(member).__name__} should be a {kind}: {name!r} is a {found}"
        )


def will_answer(member: Any, method: str) -> bool:
    """Whether a member has a method, once it is fitted."""
    if hasattr(member, method):
        return True
    # Before they are fitted, scikit-learn's stacks hide what their default meta-learner can.
    unset = [
        name
        for name, value in _params_of(member).items()
        if value is None and name.split("__")[-1] == "final_estimator"
    ]
    if not unset:
        return False
    whole = clone(member).set_params(**{name: LogisticRegression() for name in unset})
    return hasattr(whole, method)


def _params_of(member: Any) -> dict[str, Any]:
    return dict(member.get_params()) if hasattr(member, "get_params") else {}


def check_class_counts(model: Any, outputs: Sequence[Any]) -> None:
    """Raise unless the members of a loaded model speak of as many classes as it has."""
    if type(model.n_features_in_) is not int or model.n_features_in_ < 1:
        raise ValueError("the number of features is no number")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and len(names) != model.n_features_in_:
        raise ValueError("there must be a name for each feature")
    classes = model.classes_ if model._member_kind == "classifier" else ()
    is_of_sets = type(classes) is list  # rows can have several labels
    found = {(output.n_labels, output.n_classes) for output in outputs}
    if found != {(len(classes), 0) if is_of_sets else (0, len(classes))}:
        raise ValueError("members speak of another number of classes")
