"""Conventions of scikit-learn for estimators made of another estimator: tags and routing."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import has_fit_parameter

from committee.base.params import Estimator, is_false
from committee.base.slicing import sliced
from committee.tables.native_table import reads_tables


class MetaEstimator(Estimator, ABC):
    """Base class of estimators whose members are copies of one template."""

    estimators_: Sequence[Any]

    @abstractmethod
    def _get_estimator(self) -> Any:
        """Return the template that the user gave, or the default."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            member = get_tags(self._get_estimator())
        except Exception:  # fit refuses an estimator that cannot be used
            return tags
        tags.input_tags.sparse = member.input_tags.sparse
        tags.input_tags.allow_nan = member.input_tags.allow_nan
        return tags

    @property
    def _reads_tables(self) -> bool:
        """Whether tables may have been opened before, see tables/native_table.py."""
        return reads_tables(self._get_estimator())

    @property
    def _n_features(self) -> int:
        """Number of features; 0 where the rows of `fit` were no table."""
        return getattr(self, "n_features_in_", 0)

    def __len__(self) -> int:
        """Return the number of members."""
        self._check_fitted()
        return len(self.estimators_)

    def __getitem__(self, index: int | slice) -> Any:
        """Return a member, or an ensemble of some of them: ``model[:50]`` has the first 50."""
        self._check_fitted()
        if isinstance(index, slice):
            return self._picked(self._sliced(index))
        return self.estimators_[index]

    @abstractmethod
    def _picked(self, numbers: NDArray[np.int64]) -> Self:
        """Return an ensemble of some of the members."""

    def _sliced(self, index: slice) -> NDArray[np.int64]:
        """Return the numbers of the members in a slice."""
        return sliced(index, len(self), type(self).__name__)

    def __iter__(self) -> Iterator[Any]:
        self._check_fitted()
        return iter(self.estimators_)

    def _callee(self, method: str) -> str:
        """Return the method of members that a method of the ensemble calls."""
        return method

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how arguments of methods reach the members, for scikit-learn's routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            if hasattr(type(self), method):
                mapping.add(caller=method, callee=self._callee(method))
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self._get_estimator(), method_mapping=mapping)

    def _routed(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of a method that go on to the members."""
        if not params:
            return {}
        refuse_params(method, params)
        routed = process_routing(self, method, **params)
        callee = "fit" if method == "fit" else self._callee(method)
        return dict(routed.estimator[callee])


def takes_weights(estimator: Any) -> bool:
    """Whether members take a row once with its number of draws, instead of repeated rows."""
    if get_config()["enable_metadata_routing"]:
        return bool(get_routing_for_object(estimator).consumes("fit", ("sample_weight",)))
    return bool(has_fit_parameter(estimator, "sample_weight"))


def check_takes_weights(name: str, estimator: Any) -> None:
    """Raise TypeError if `fit` of a member has no place for the weights of rows.

    Parameters
    ----------
    name : str
        Of the member.
    estimator : estimator
        The member. A pipeline passes arguments on to one of its steps, which it wants named.
    """
    found = inspect.signature(estimator.fit).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in found.values())
    if "sample_weight" not in found and (not takes_any or hasattr(estimator, "steps")):
        raise TypeError(
            f"Underlying estimator {type(estimator).__name__} does not support sample weights: "
            f"fit of {name!r} has no sample_weight"
        )


def unrequested(estimator: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return which arguments an estimator gets that need not request them.

    Scikit-learn's stacks give their meta-learner all arguments of `fit`. Here it gets those that
    its `fit` has, under the names that it requests them by, unless it has declined them.

    Parameters
    ----------
    estimator : estimator
        The meta-learner.
    params : mapping
        Arguments of `fit` of the ensemble.
    """
    request = getattr(get_routing_for_object(estimator), "fit", None)
    if request is None:  # a meta-estimator, which asks its own members
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=estimator).add(estimator=estimator, method_mapping=mapping)
        return dict(router.route_params(caller="fit", params=params).estimator.fit)
    chosen = {}
    for name, wanted in request.requests.items():
        given = wanted if isinstance(wanted, str) else name
        if given in params and not is_false(wanted):
            chosen[name] = params[given]
    return chosen


def refuse_params(method: str, params: Mapping[str, Any]) -> None:
    """Raise ValueError for arguments of members if routing is switched off."""
    if not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"[{', '.join(params)}] are passed to {method} but are not among its arguments. "
            "Passing them on to members is only supported if enable_metadata_routing=True: call "
            "sklearn.set_config(enable_metadata_routing=True), and let the members request them"
        )


def check_estimator_kind(estimator: Any, wanted: str) -> None:
    methods = ("fit", "predict", "get_params")
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in methods):
        raise TypeError(
            f"estimator must be an instance of a {wanted} with fit, predict and get_params, or "
            f"None; got {estimator!r}"
        )
    try:
        kind = get_tags(estimator).estimator_type
    except Exception:  # not all estimators have tags; without them nothing is known
        kind = None
    if kind in ("classifier", "regressor") and kind != wanted:
        raise ValueError(f"estimator must be a {wanted}; got {estimator!r}, a {kind}")
