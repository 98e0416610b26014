"""Targets of which rows can have several labels: each a column of two values."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.members.output import Output


def read_label_sets(y: Any) -> tuple[NDArray[np.int64], list[NDArray[Any]]] | None:
    """Return codes, a column for each label, and their values.

    None if the target is of another sort: there is one column, or there are more than two values,
    or other values than whole numbers.

    Examples
    --------
    >>> codes, values = read_label_sets([[0, 1], [1, 1]])
    >>> codes.tolist(), [each.tolist() for each in values]
    ([[0, 0], [1, 0]], [[0, 1], [1]])
    >>> read_label_sets([0, 1]), read_label_sets([["a", "b"]])
    (None, None)
    """
    numbers = _whole_numbers(y)
    if numbers is None or numbers.shape[1] < 2 or len(np.unique(numbers)) > 2:
        return None
    found = [np.unique(column, return_inverse=True) for column in numbers.T]
    return np.column_stack([codes for _, codes in found]), [values for values, _ in found]


def _whole_numbers(y: Any) -> NDArray[Any] | None:
    """Return a table of whole numbers or booleans as an array; None for anything else."""
    try:
        values = np.asarray(y)
    except ValueError:  # rows of different lengths
        return None
    if values.ndim != 2 or values.dtype.kind not in "biufO":
        return None
    if values.dtype.kind == "O":
        if not all(isinstance(each, Real | np.bool_) for each in values.ravel().tolist()):
            return None
        values = values.astype(np.float64)
    is_real = values.dtype.kind == "f"
    if is_real and (not np.isfinite(values).all() or (values != np.floor(values)).any()):
        return None
    return values


def named_label_sets(codes: Any, values: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the values of codes."""
    columns = np.asarray(codes).astype(np.intp).T
    return np.column_stack([own[column] for own, column in zip(values, columns, strict=True)])


def first_shares(final: Any, predicted: Any, n_labels: int) -> Floats:
    """Return the probabilities of the first value of each label, as scikit-learn has them."""
    return 1.0 - Output("predict_proba", 0, n_labels=n_labels).label_columns(final, predicted)


def refuse_label_sets(switches: dict[str, bool]) -> None:
    """Raise if something is switched on that is for one class a row only."""
    for name, is_on in switches.items():
        if is_on:
            raise ValueError(
                f"{name} takes a y with one class for each row; got several labels. "
                "sklearn.multioutput.MultiOutputClassifier makes a stack for each label"
            )


def check_label_codes(codes: Any, values: list[Any]) -> None:
    """Raise unless the labels of a loaded model and of its meta-learner fit each other."""
    for own in values:
        if not isinstance(own, np.ndarray) or own.ndim != 1 or len(own) not in (1, 2):
            raise ValueError("a label has one or two values")
    if type(codes) is not list or len(codes) != len(values):
        raise ValueError("the meta-learner was fitted to other labels")
    for own, known in zip(values, codes, strict=True):
        if not set(np.ravel(known).tolist()) <= set(range(len(own))):
            raise ValueError("the meta-learner was fitted to other values of a label")
