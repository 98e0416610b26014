"""Targets of several labels each of which a row has or has not, for stacking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from committee._voice import Voice

Floats = NDArray[np.float64]


def is_label_set(y: Any) -> bool:
    """Whether a target tells of several labels, a column each.

    Examples
    --------
    >>> is_label_set([[0, 1], [1, 1]]), is_label_set([0, 1]), is_label_set([[0], [1]])
    (True, False, False)
    """
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] < 2:
        return False
    return bool(type_of_target(values) == "multilabel-indicator")


def read_label_sets(y: Any) -> tuple[NDArray[np.int64], list[NDArray[Any]]]:
    """Return codes, a column for each label, and the values that they stand for.

    Examples
    --------
    >>> codes, values = read_label_sets([[0, 1], [1, 1]])
    >>> codes.tolist(), [each.tolist() for each in values]
    ([[0, 0], [1, 0]], [[0, 1], [1]])
    """
    found = [np.unique(column, return_inverse=True) for column in np.asarray(y).T]
    return np.column_stack([codes for _, codes in found]), [values for values, _ in found]


def named_label_sets(codes: Any, values: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return what codes stand for."""
    columns = np.asarray(codes).astype(np.intp).T
    return np.column_stack([own[column] for own, column in zip(values, columns, strict=True)])


def first_shares(final: Any, answer: Any, n_labels: int) -> Floats:
    """Return the probabilities of the first value of each label, as scikit-learn tells them."""
    return 1.0 - Voice("predict_proba", 0, n_labels=n_labels).label_columns(final, answer)


def refuse_label_sets(switches: dict[str, bool]) -> None:
    """Raise if something is switched on that knows of one class a row only."""
    for name, is_on in switches.items():
        if is_on:
            raise ValueError(
                f"{name} takes a y with one class for each row; got several labels. "
                "sklearn.multioutput.MultiOutputClassifier makes a stack for each label"
            )
