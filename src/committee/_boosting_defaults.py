"""What gradient boosting does where the user says "auto": all automatic choices in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from committee._params import check_int, check_int_or_fraction, check_real


@dataclass(frozen=True)
class BoostingChoices:
    """The parameters of a fit that have an automatic value, decided.

    Parameters
    ----------
    n_estimators : int
        Number of rounds, or the most of them.
    learning_rate : float
        Factor of each step.
    max_leaf_nodes : int
        Most leaves of a tree; 0 is no limit.
    min_samples_leaf : int
        Rows that a leaf needs.
    l2_regularization : float
        Added to the sum of the hessians of a leaf.
    patience : int
        Rounds without an improvement after which early stopping ends the fit.
    """

    n_estimators: int
    learning_rate: float
    max_leaf_nodes: int
    min_samples_leaf: int
    l2_regularization: float
    patience: int


def choose(
    model: Any, n_rows: int, n_features: int, n_classes: int | None, loss: str
) -> BoostingChoices:
    """Check the parameters that may be "auto", and decide those that are.

    Parameters
    ----------
    model : estimator
        Has the parameters.
    n_rows : int
        Rows to learn from, repetitions included.
    n_features : int
        Number of features.
    n_classes : int or None
        Number of classes; None for regression.
    loss : str
        Name of the loss.

    Returns
    -------
    choices : BoostingChoices
        What the fit uses.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> names = "n_estimators learning_rate max_leaf_nodes min_samples_leaf l2_regularization"
    >>> model = SimpleNamespace(**dict.fromkeys(names.split(), "auto"))
    >>> model.max_splits = model.max_depth = model.n_iter_no_change = None
    >>> model.subsample = 1.0
    >>> choices = choose(model, 1000, 10, None, "squared_error")
    >>> choices.n_estimators, choices.learning_rate, choices.max_leaf_nodes
    (100, 0.1, 31)
    """
    n_estimators, rate = model.n_estimators, model.learning_rate
    min_samples, l2 = model.min_samples_leaf, model.l2_regularization
    n_drawn = max(1, int(n_rows * float(model.subsample)))  # rows of a round
    patience = check_int("n_iter_no_change", model.n_iter_no_change, 1, none=True)
    return BoostingChoices(
        100 if _is_auto(n_estimators) else check_int("n_estimators", n_estimators, 1, 2**31 - 1),
        0.1 if _is_auto(rate) else check_real("learning_rate", rate, 0.0),
        _most_leaves(model),
        20 if _is_auto(min_samples) else _rows_of_leaf(min_samples, n_drawn),
        1.0 if _is_auto(l2) else check_real("l2_regularization", l2, 0.0),
        10 if patience is None else patience,
    )


def _most_leaves(model: Any) -> int:
    """Return the limit of leaves: the user's, or 31 where nothing else bounds a tree."""
    splits = check_int("max_splits", model.max_splits, 1, 2**31, none=True)
    limits = [] if splits is None else [splits + 1]
    if not _is_auto(model.max_leaf_nodes):
        leaves = check_int("max_leaf_nodes", model.max_leaf_nodes, 2, 2**31, none=True)
        limits += [] if leaves is None else [leaves]
    elif not limits and model.max_depth is None:
        limits = [31]
    return min(limits, default=0)


def _rows_of_leaf(value: Any, n_rows: int) -> int:
    return min(check_int_or_fraction("min_samples_leaf", value, n_rows), n_rows + 1)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
