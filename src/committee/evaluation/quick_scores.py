"""Scorers of scikit-learn that are asked for most, by their formulas.

For a thousand rows its checks take ten times as long as the metric, and early stopping scores
every round.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.base.work import resolve_threads

_LEAST_SHARE = float(np.finfo(np.float64).eps)  # as in scikit-learn
_NEARLY_ONE = 1e-8  # how far from one probabilities may add up to

Codes = NDArray[np.integer]


def quick_class_score(
    name: str, shares: Floats, codes: Codes, weights: Floats | None
) -> float | None:
    """Return the score of probabilities; None where scikit-learn has to compute it, or to refuse.

    Parameters
    ----------
    name : str
        Of the scorer.
    shares : ndarray of float64, shape (n_rows, n_classes)
        Probabilities.
    codes : ndarray of int, shape (n_rows,)
        The true classes.
    weights : ndarray of float64 or None
        Weights of the rows.

    Examples
    --------
    >>> shares = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
    >>> quick_class_score("roc_auc", shares, np.array([0, 1, 1]), None)
    1.0
    >>> quick_class_score("f1", shares, np.array([0, 1, 1]), None) is None
    True
    """
    score = _CLASS_SCORES.get(name)
    if score is None or not np.isfinite(shares).all():
        return None
    return score(shares, codes, weights)


def quick_real_score(
    name: str, predicted: Floats, truth: Floats, weights: Floats | None
) -> float | None:
    """Return the score of numbers; None where scikit-learn has to compute it, or to refuse.

    Parameters
    ----------
    name : str
        Of the scorer.
    predicted, truth : ndarray of float64, shape (n_rows, n_outputs)
        Numbers.
    weights : ndarray of float64 or None
        Weights of the rows.

    Examples
    --------
    >>> quick_real_score("neg_mean_squared_error", np.array([[1.0]]), np.array([[3.0]]), None)
    -4.0
    """
    loss = _REAL_LOSSES.get(name)
    if loss is None or not np.isfinite(predicted).all():
        return None
    return -loss(np.average(_POWERS[name](truth - predicted), axis=0, weights=weights))


def areas_under_curve(values: Floats, is_second: NDArray[np.bool_], weights: Floats) -> Floats:
    """Return the area under the ROC curve for each row of a matrix of values.

    It is the share of pairs of a row of either class in which the second class has the higher
    value; pairs that tie count half. NaN where there is no pair.

    Examples
    --------
    >>> is_second = np.array([False, True, False])
    >>> areas_under_curve(np.array([[1.0, 2.0, 2.0]]), is_second, np.ones(3)).tolist()
    [0.75]
    """
    second, first = weights * is_second, weights * ~is_second
    n_pairs = float(second.sum() * first.sum())
    if n_pairs == 0:
        return np.full(len(values), np.nan)
    right = _core.pairs_in_order(values, second, first, resolve_threads(None))
    return np.asarray(right / n_pairs)


def _accuracy(shares: Floats, codes: Codes, weights: Floats | None) -> float:
    return float(np.average(shares.argmax(axis=1) == codes, weights=weights))


def _area_under_curve(shares: Floats, codes: Codes, weights: Floats | None) -> float | None:
    if shares.shape[1] != 2:
        return None
    own = np.ones(len(codes)) if weights is None else weights
    area = float(areas_under_curve(shares[:, 1][np.newaxis], codes == 1, own)[0])
    return None if np.isnan(area) else area


def _minus_log_loss(shares: Floats, codes: Codes, weights: Floats | None) -> float | None:
    has_all = len(np.unique(codes)) == shares.shape[1]
    if not has_all or np.abs(shares.sum(axis=1) - 1).max() > _NEARLY_ONE:
        return None
    own = shares[np.arange(len(codes)), codes].clip(_LEAST_SHARE, 1 - _LEAST_SHARE)
    return float(np.average(np.log(own), weights=weights))


_CLASS_SCORES: dict[str, Callable[[Floats, Codes, Floats | None], float | None]] = {
    "accuracy": _accuracy,
    "roc_auc": _area_under_curve,
    "neg_log_loss": _minus_log_loss,
}
_POWERS: dict[str, Callable[[Floats], Floats]] = {
    "neg_mean_squared_error": np.square,
    "neg_root_mean_squared_error": np.square,
    "neg_mean_absolute_error": np.abs,
}
_REAL_LOSSES: dict[str, Callable[[Floats], float]] = {
    "neg_mean_squared_error": lambda means: float(means.mean()),
    "neg_root_mean_squared_error": lambda means: float(np.sqrt(means).mean()),
    "neg_mean_absolute_error": lambda means: float(means.mean()),
}
