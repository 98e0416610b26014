"""Conventions of scikit-learn for estimators made of another estimator: tags and routing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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

    def __len__(self) -> int:
        """Return the number of members."""
        self._check_fitted()
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        """Return a member."""
        self._check_fitted()
        return self.estimators_[index]

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
        if not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"[{', '.join(params)}] are passed to {method} but are not among its arguments. "
                "sklearn.set_config(enable_metadata_routing=True) lets the members request them"
            )
        routed = process_routing(self, method, **params)
        callee = "fit" if method == "fit" else self._callee(method)
        return dict(routed.estimator[callee])


def takes_weights(estimator: Any) -> bool:
    """Whether members take a row once with its number of draws, instead of repeated rows."""
    if get_config()["enable_metadata_routing"]:
        return bool(get_routing_for_object(estimator).consumes("fit", ("sample_weight",)))
    return bool(has_fit_parameter(estimator, "sample_weight"))


def wants_weights(name: str, estimator: Any) -> bool:
    """Whether a member is given the weights of rows; raise if it cannot take them.

    With scikit-learn's routing a member may have chosen to get none.
    """
    if takes_weights(estimator):
        return True
    if not has_fit_parameter(estimator, "sample_weight") and not hasattr(estimator, "steps"):
        raise TypeError(f"Underlying estimator {name} does not support sample weights.")
    if not get_config()["enable_metadata_routing"]:
        raise TypeError(f"Underlying estimator {name} does not support sample weights.")
    request = getattr(get_routing_for_object(estimator), "fit", None)
    if request is not None and is_false(request.requests.get("sample_weight")):
        return False
    raise TypeError(
        f"Underlying estimator {name} has no request for weights; set it by "
        "set_fit_request(sample_weight=True), or False"
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
