"""The members of a fitted ensemble that votes or averages: what they say, and ensembles of fewer.

The ensembles of this library know how to leave members out (`_picked`); those of scikit-learn and
others like them are a list of members and a few lists beside it.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import Bunch

from committee.bagging.bagging_model import BaggingModel
from committee.combining.voting.voting_model import VotingModel
from committee.evaluation.oob import OOB_ATTRIBUTES
from committee.forests.fitted_forest import FittedForest
from committee.inspection.panel import make_panel
from committee.members.readings import MemberBlock
from committee.tables.native_table import AnyTable
from committee.trees.tree_members import TreeMembers

Floats = NDArray[np.float64]


def class_labels(ensemble: Any) -> list[NDArray[Any]]:
    """Return the labels of each output; nothing for a regressor."""
    if not is_classifier(ensemble):
        return []
    labels = ensemble.classes_
    return [np.asarray(each) for each in labels] if isinstance(labels, list) else [labels]


def ask_members(ensemble: Any, X: Any) -> tuple[Floats, Floats]:
    """Return what each member of an ensemble says, and the weights of the members.

    Parameters
    ----------
    ensemble : fitted estimator
        With `estimators_`.
    X : table
        Rows.

    Returns
    -------
    said : ndarray of float64, shape (n_members, n_rows, n_values)
        Probabilities, votes or numbers.
    weights : ndarray of float64, shape (n_members,)
        Their weights in the mean.
    """
    if isinstance(ensemble, FittedForest):
        predicted = ensemble._forest.predict_each(ensemble._read(X), ensemble._threads())
        predicted = predicted.transpose(1, 0, 2)
        return (
            _votes(predicted, class_labels(ensemble)) if ensemble._is_hard else predicted
        ), np.ones(len(predicted))
    if isinstance(ensemble, BaggingModel):
        return _ask_bagged(ensemble, X), ensemble._weights()
    if isinstance(ensemble, VotingModel):
        return ensemble._ask(X), ensemble.weights_
    return _ask_others(ensemble, X)


def _votes(predicted: Floats, labels: list[NDArray[Any]]) -> Floats:
    """Return votes for the class with the largest probability, in each output."""
    ends = np.cumsum([len(each) for each in labels])[:-1]
    parts = [
        np.eye(part.shape[2])[part.argmax(axis=2)] for part in np.split(predicted, ends, axis=2)
    ]
    return np.concatenate(parts, axis=2)


def _ask_bagged(ensemble: BaggingModel, X: Any) -> Floats:
    members = ensemble.estimators_
    if not isinstance(members, TreeMembers):
        return np.concatenate(list(ensemble._ask(MemberBlock.each, ensemble._open(X), {})))
    predicted = members.each(X, type(ensemble).__name__, 1)
    uses_votes = ensemble._reading(ensemble._n_values()).use_votes
    return _votes(predicted, class_labels(ensemble)) if uses_votes else predicted


def _ask_others(ensemble: Any, X: Any) -> tuple[Floats, Floats]:
    if not isinstance(ensemble.estimators_, list | tuple) or len(class_labels(ensemble)) > 1:
        raise _no_average(ensemble)
    panel, table = make_panel(ensemble), AnyTable(X)
    predicted = [panel.ask(number, table)[0] for number in range(len(panel))]
    return np.stack(predicted), panel.weights


def check_average(ensemble: Any, X: Any, predicted: Floats, weights: Floats) -> None:
    """Raise unless the ensemble predicts what the weighted mean of its members says."""
    mean = np.tensordot(weights / weights.sum(), predicted, axes=1)
    labels = class_labels(ensemble)
    if len(labels) == 1 and not hasattr(ensemble, "predict_proba"):
        is_same = np.mean(ensemble.predict(X) == labels[0][mean.argmax(axis=1)]) > 0.99
    else:
        told = ensemble.predict_proba(X) if labels else ensemble.predict(X)
        told = np.hstack(told) if isinstance(told, list) else np.asarray(told)
        is_same = np.allclose(mean, told.reshape(mean.shape), rtol=1e-4, atol=1e-6)
    if not is_same:
        raise _no_average(ensemble)


def _no_average(ensemble: Any) -> TypeError:
    return TypeError(
        "ensemble must predict the mean of what its members predict, or count their votes: a "
        f"forest, bagging or voting; what {type(ensemble).__name__} predicts is something else"
    )


def picked(ensemble: Any, numbers: NDArray[np.int64]) -> Any:
    """Return an ensemble of the same class, fitted, that has only some of the members."""
    if hasattr(ensemble, "_picked"):
        return ensemble._picked(numbers)
    small = copy(ensemble)
    for name in OOB_ATTRIBUTES:
        small.__dict__.pop(name, None)
    for name in ("estimators_", "estimators_features_", "_seeds"):
        if name in small.__dict__ and small.__dict__[name] is not None:
            values = small.__dict__[name]
            chosen = [values[number] for number in numbers]
            small.__dict__[name] = np.asarray(chosen) if isinstance(values, np.ndarray) else chosen
    params = ensemble.get_params(deep=False)
    if "n_estimators" in params:
        small.set_params(n_estimators=len(numbers))
    if "warm_start" in params:
        small.set_params(warm_start=False)
    if "estimators" in params:
        _drop_named(small, ensemble, numbers)
    return small


def _drop_named(small: Any, ensemble: Any, numbers: NDArray[np.int64]) -> None:
    """Leave named members out, as scikit-learn's voting has it."""
    names = [name for name, member in ensemble.estimators if not isinstance(member, str)]
    kept = {names[number]: ensemble.estimators_[number] for number in numbers}
    small.estimators = [
        (name, member if name in kept else "drop") for name, member in ensemble.estimators
    ]
    small.named_estimators_ = Bunch(
        **{name: kept.get(name, "drop") for name, _ in ensemble.estimators}
    )
