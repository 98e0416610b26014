"""Who gets which arguments of `fit`: members and meta-learner, by scikit-learn's metadata routing.

With routing switched on they decide; without it all of them get the weights of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing

from committee.members.meta_estimator import check_takes_weights, unrequested

# The arguments of each, and who gets no weights.
Routed = tuple[dict[str, dict[str, Any]], frozenset[str]]


def route_to_members(
    model: Any,
    members: Mapping[str, Any],
    sample_weight: Any,
    fit_params: Mapping[str, Any],
    is_prefit: bool,
) -> Routed:
    """Return the arguments of `fit` that go on to each member, and who gets no weights.

    Parameters
    ----------
    model : estimator
        The ensemble.
    members : mapping
        Its members, by name.
    sample_weight, fit_params
        The arguments.
    is_prefit : bool
        Whether the members are not fitted again.
    """
    if not get_config()["enable_metadata_routing"]:
        if sample_weight is not None and not is_prefit:
            for name, member in members.items():
                check_takes_weights(name, member)
        return {}, frozenset()
    # The ensemble itself looks at the weights, whatever the members do.
    own = model._get_metadata_request()
    own.fit.add_request(param="sample_weight", alias=True)
    router = model.get_metadata_routing().add_self_request(own)
    routed = process_routing(router, "fit", **_given(sample_weight, fit_params))
    params = {name: dict(routed[name].fit) for name in members}
    declined = frozenset(name for name in members if "sample_weight" not in params[name])
    for chosen in params.values():
        if chosen.get("sample_weight") is sample_weight:
            chosen.pop("sample_weight", None)  # every fit has these, with other things
    return params, declined


def route_to_final(
    final: Any, sample_weight: Any, fit_params: Mapping[str, Any], routed: Routed
) -> Routed:
    """Return the same with the meta-learner, which needs not request what its `fit` has.

    Parameters
    ----------
    final : estimator
        The meta-learner.
    sample_weight, fit_params
        The arguments.
    routed : tuple
        Those of the members.
    """
    params, declined = routed
    given = _given(sample_weight, fit_params)
    if not get_config()["enable_metadata_routing"]:
        check_takes_weights("final_estimator", final)
        return params, declined
    chosen = unrequested(final, given)
    if "sample_weight" not in chosen:
        declined |= {"final_estimator"}
    elif chosen["sample_weight"] is sample_weight:
        del chosen["sample_weight"]
    return params | {"final_estimator": chosen}, declined


def _given(sample_weight: Any, fit_params: Mapping[str, Any]) -> dict[str, Any]:
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return {**fit_params, **weights}
