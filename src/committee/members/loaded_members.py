"""Whether the members that a model file holds can be used by their ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.members.output import Output


def check_member(member: Any, n_features: int, method: str = "predict") -> None:
    """Raise ValueError unless a loaded member is fitted, to so many columns.

    Parameters
    ----------
    member : estimator
        The member.
    n_features : int
        Columns of the tables that it predicts; 0 where its rows are no table.
    method : str, default="predict"
        The method that is called.
    """
    if not callable(getattr(member, method, None)):
        raise ValueError(f"a member has no {method}")
    if n_features and getattr(member, "n_features_in_", n_features) != n_features:
        raise ValueError("a member is fitted to another number of columns")


def check_regressor(member: Any, n_features: int, n_outputs: int = 1) -> None:
    """Raise ValueError unless a loaded member predicts numbers, so many for a row."""
    check_member(member, n_features)
    if getattr(member, "classes_", None) is not None:
        raise ValueError("a member predicts classes where numbers are expected")
    coefficients = np.ndim(getattr(member, "coef_", 0))
    n_known = len(member.coef_) if coefficients == 2 else n_outputs
    if getattr(member, "n_outputs_", n_known) != n_outputs or n_known != n_outputs:
        raise ValueError("a member predicts another number of outputs")


def check_classifier(
    member: Any, n_features: int, labels: NDArray[Any], method: str = "predict"
) -> None:
    """Raise ValueError unless a loaded member predicts some of these classes.

    Parameters
    ----------
    member : estimator
        The member. A classifier without `classes_` predicts what its ensemble can read.
    n_features : int
        Columns of the tables that it predicts.
    labels : ndarray
        The labels, or codes, that it may know.
    method : str, default="predict"
        The method that is called.
    """
    check_member(member, n_features, method)
    known = getattr(member, "classes_", None)
    if not isinstance(known, np.ndarray) or known.ndim != 1:
        raise ValueError("a member predicts no classes")
    if known.dtype.kind != labels.dtype.kind and {known.dtype.kind, labels.dtype.kind} & set("US"):
        raise ValueError("a member knows labels of another type")
    if not set(known.tolist()) <= set(labels.tolist()):
        raise ValueError("a member knows other classes")


def check_outputs(members: Sequence[Any], outputs: Sequence[Output], n_features: int) -> None:
    """Raise ValueError unless each loaded member gives the output that is stored for it.

    Parameters
    ----------
    members : sequence of estimators
        The members.
    outputs : sequence of Output
        How each is read.
    n_features : int
        Columns of the tables that they predict.
    """
    for member, output in zip(members, outputs, strict=True):
        own_check = getattr(member, "_check_output", None)
        if own_check is not None:
            own_check(output, n_features)
        elif output.n_labels:
            check_member(member, n_features, output.method)
            known = getattr(member, "classes_", None)
            if not isinstance(known, list) or len(known) != output.n_labels:
                raise ValueError("a member predicts another number of labels")
        elif output.n_classes:
            codes = np.arange(output.n_classes)
            labels = codes if output.labels is None else output.labels
            check_classifier(member, n_features, labels, output.method)
        else:
            check_regressor(member, n_features)


def check_class_counts(model: Any, outputs: Sequence[Output]) -> None:
    """Raise ValueError unless the members of a loaded model predict as many classes as it has."""
    classes = getattr(model, "classes_", ()) if model._member_kind == "classifier" else ()
    is_of_sets = type(classes) is list  # rows can have several labels
    expected = (len(classes), 0) if is_of_sets else (0, len(classes))
    accepted = {expected, (0, 0)} if model._other_kinds and not is_of_sets else {expected}
    if not {(output.n_labels, output.n_classes) for output in outputs} <= accepted:
        raise ValueError("members predict another number of classes")
