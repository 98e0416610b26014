"""The .632 and .632+ estimates: between the score in training and the score on rows left out.

A model is too good on the rows it learnt from. On the rows that a bootstrap sample left out it is
a little too bad, because a sample holds only 63.2 % of the rows. Efron (1983) weighs the two, and
Efron and Tibshirani (1997) move the weight towards the rows left out when the model overfits.

They write errors. Here all numbers are scores, the greater the better: an error comes with a minus
sign, and every comparison is turned round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.products import dot


@dataclass(frozen=True)
class Point632:
    """Estimates from three scores.

    Parameters
    ----------
    point632 : float
        ``0.368 * apparent + 0.632 * left_out``.
    plus : float
        The .632+ estimate.
    weight : float
        Weight of the rows left out in `plus`, from 0.632 to 1.
    overfitting : float
        How far the score falls from the apparent one towards no information, from 0 to 1.
    """

    point632: float
    plus: float
    weight: float
    overfitting: float


def combine_632(apparent: float, left_out: float, no_information: float) -> Point632:
    """Weigh the scores (Efron and Tibshirani 1997, equations 24 to 32).

    Parameters
    ----------
    apparent : float
        Score on the training rows.
    left_out : float
        Score on rows that samples left out.
    no_information : float
        Score if the target had nothing to do with the features.

    Returns
    -------
    estimates : Point632
        Estimates and how they came about. NaN where a score is.

    Examples
    --------
    >>> estimates = combine_632(1.0, 0.5, 0.5)
    >>> round(estimates.point632, 3), round(estimates.plus, 3), estimates.overfitting
    (0.684, 0.5, 1.0)
    """
    point632 = 0.368 * apparent + 0.632 * left_out
    if math.isnan(point632 + no_information):
        return Point632(point632, math.nan, math.nan, math.nan)
    capped = max(left_out, no_information)
    overfitting = (apparent - capped) / (apparent - no_information) if capped < apparent else 0.0
    shift = 0.368 * 0.632 * overfitting / (1 - 0.368 * overfitting)
    weight = 0.632 / (1 - 0.368 * overfitting)
    return Point632(point632, point632 + (capped - apparent) * shift, weight, overfitting)


def no_information_accuracy(
    truth: NDArray[Any],
    predicted: NDArray[Any],
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the accuracy if predictions and classes were paired at random.

    Parameters
    ----------
    truth, predicted : ndarray of int, shape (n_rows,)
        Class codes 0, 1, ...
    n_classes : int
        Number of classes.
    weights : ndarray of float64 or None
        Weights of the rows.

    Returns
    -------
    accuracy : float
        The sum over the classes of their share times the share of their predictions.

    Examples
    --------
    >>> no_information_accuracy(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), 2)
    0.5
    """
    is_so = np.bincount(truth, weights, n_classes)
    is_predicted = np.bincount(predicted, weights, n_classes)
    return dot(is_so, is_predicted) / float(is_so.sum() * is_predicted.sum())


def no_information_squared_error(
    truth: NDArray[np.float64],
    predicted: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the mean squared error if predictions and targets were paired at random.

    Parameters
    ----------
    truth, predicted : ndarray of float64, shape (n_rows, n_outputs)
        Targets and predictions.
    weights : ndarray of float64 or None
        Weights of the rows.

    Returns
    -------
    errors : ndarray of float64, shape (n_outputs,)
        Mean over all pairs of a target and a prediction.

    Examples
    --------
    >>> no_information_squared_error(np.array([[0.0], [2.0]]), np.array([[1.0], [1.0]])).tolist()
    [1.0]
    """
    middle = np.average(truth, axis=0, weights=weights)
    mean_prediction = np.average(predicted, axis=0, weights=weights)
    spread = np.average((truth - middle) ** 2, axis=0, weights=weights)
    predicted_spread = np.average((predicted - mean_prediction) ** 2, axis=0, weights=weights)
    return np.asarray(spread + predicted_spread + (middle - mean_prediction) ** 2, np.float64)


def no_information_score(
    score: Callable[[NDArray[np.intp]], float], n_rows: int, n_rounds: int = 10
) -> float:
    """Estimate any score if predictions and targets were paired at random.

    Parameters
    ----------
    score : callable
        Given a permutation of the rows, the score of the predictions in this order.
    n_rows : int
        Number of rows.
    n_rounds : int
        Number of permutations; they are the same in every call.

    Returns
    -------
    score : float
        The mean over the permutations.

    Examples
    --------
    >>> y = np.arange(100) % 2
    >>> abs(no_information_score(lambda order: np.mean(y[order] == y), 100) - 0.5) < 0.1
    True
    """
    rng = np.random.default_rng(0)
    return float(np.mean([score(rng.permutation(n_rows)) for _ in range(n_rounds)]))
