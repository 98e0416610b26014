"""Which labels there are, and how each classifier of a committee is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from committee.members.named_members import Named, will_answer
from committee.members.output import Voice
from committee.tables.target import read_classes


def read_labels(y: Any, fitted: Named, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return class codes and labels; labels that fitted members know are among them.

    Parameters
    ----------
    y : array-like
        Labels.
    fitted : list of (name, estimator)
        Members that are fitted already.
    name : str
        Who asks, for messages.

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
                f"the fitted member {member!r} speaks of the classes {own.tolist()[:5]}, none of "
                f"which are among the labels of y: {labels.tolist()[:5]}"
            )
    everything = np.unique(np.concatenate([labels, *(own for _, own in known)]))
    if len(everything) == len(labels):
        return codes, labels
    return np.searchsorted(everything, labels)[codes].astype(np.int32), everything


def first_method(name: str, estimator: Any, methods: Sequence[str]) -> str:
    """Return the first of some methods that a member has."""
    method = next((each for each in methods if will_answer(estimator, each)), None)
    if method is None:
        raise ValueError(f"Underlying estimator {name} does not implement the method {methods[0]}.")
    return method


def class_voice(
    name: str, estimator: Any, labels: NDArray[Any], methods: Sequence[str], *, is_prefit: bool
) -> Voice:
    """Return how a classifier is asked.

    Parameters
    ----------
    name : str
        Of the member.
    estimator : classifier
        The member.
    labels : ndarray
        Labels of all classes.
    methods : sequence of str
        Methods to take the first of that the member has.
    is_prefit : bool
        Whether members are fitted already; they then speak of labels.

    Returns
    -------
    voice : Voice
        How to ask.
    """
    method = first_method(name, estimator, methods)
    speaks_labels = is_prefit or isinstance(estimator, FrozenEstimator)
    return Voice(method, len(labels), labels if speaks_labels else None)
