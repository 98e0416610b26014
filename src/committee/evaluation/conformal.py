"""Intervals and sets with a promised coverage, from out-of-bag predictions.

A *conformal* rule compares a new row with the training rows, each predicted by the trees that have
not drawn it. If new rows come from the same source, a new row is as likely as any training row to
have the k-th largest error, which is all that coverage needs: the forest may be as wrong as it
likes. The functions here work on plain arrays.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.products import row_products

Bools = NDArray[np.bool_]

# Cells of the largest working matrix (rows to predict x training rows), 32 MB.
_CELLS = 2**22


def conformal_quantile(scores: Floats, coverage: float) -> float:
    """Return what a new score does not exceed with the probability `coverage`, at least.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows,)
        Scores of rows that are exchangeable with the new one.
    coverage : float
        In (0, 1).

    Returns
    -------
    limit : float
        The score of rank ``ceil(coverage * (n_rows + 1))``; infinite if that is beyond the last.

    Examples
    --------
    >>> conformal_quantile(np.arange(1.0, 10.0), 0.8)
    8.0
    >>> conformal_quantile(np.arange(1.0, 4.0), 0.9)
    inf
    """
    rank = _upper_rank(len(scores), coverage)
    if rank > len(scores):
        return math.inf
    return float(np.partition(scores, rank - 1)[rank - 1])


def _upper_rank(n_rows: int, coverage: float) -> int:
    # The slack keeps 0.9 * (9 + 1) at nine, whatever the last bit of the product.
    return math.ceil(coverage * (n_rows + 1) * (1 - 1e-12))


def jackknife_plus(
    each: Floats, is_out: Bools, residuals: Floats, coverage: float
) -> tuple[Floats, Floats]:
    """Return the bounds of jackknife+-after-bootstrap.

    Each training row i stands for an ensemble of its own, the trees that have not drawn it, with
    the absolute error that this ensemble made on row i. The lower bound of a new row is a low
    quantile over i of *prediction of ensemble i for the new row - error i*, the upper bound a high
    one of *prediction + error*.

    Parameters
    ----------
    each : ndarray of float64, shape (n_new, n_trees)
        What each tree predicts for the new rows.
    is_out : ndarray of bool, shape (n_rows, n_trees)
        Whether a training row is out of the bag of a tree; each row of at least one.
    residuals : ndarray of float64, shape (n_rows,)
        Absolute out-of-bag errors of the training rows.
    coverage : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray of float64, shape (n_new,)
        Infinite where there are too few training rows for the coverage.

    References
    ----------
    B. Kim, C. Xu and R. Barber (2020), Predictive inference is free with the jackknife+-after-
    bootstrap, Advances in Neural Information Processing Systems 33.

    Examples
    --------
    >>> is_out = np.eye(9, dtype=bool)
    >>> each = np.full((1, 9), 5.0)
    >>> low, high = jackknife_plus(each, is_out, np.arange(1.0, 10.0), 0.8)
    >>> low.item(), high.item()
    (-3.0, 13.0)
    """
    n_new, n_rows = len(each), len(is_out)
    rank = _upper_rank(n_rows, coverage)
    if rank > n_rows:
        return np.full(n_new, -np.inf), np.full(n_new, np.inf)
    shares = is_out / is_out.sum(axis=1, keepdims=True)
    low, high = np.empty(n_new), np.empty(n_new)
    step = max(1, _CELLS // n_rows)
    for start in range(0, n_new, step):
        part = slice(start, start + step)
        centres = row_products(each[part], shares)
        high[part] = np.partition(centres + residuals, rank - 1, axis=1)[:, rank - 1]
        low[part] = np.partition(centres - residuals, n_rows - rank, axis=1)[:, n_rows - rank]
    return low, high


def residual_bounds(residuals: Floats, coverage: float) -> tuple[float, float]:
    """Return how far below and above the prediction the bounds lie.

    Parameters
    ----------
    residuals : ndarray of float64, shape (n_rows,)
        Truth minus out-of-bag prediction.
    coverage : float
        In (0, 1); half of what is missing to one is left out on each side.

    Returns
    -------
    below, above : float
        To be added to a prediction; infinite if there are too few rows.

    Examples
    --------
    >>> residual_bounds(np.arange(-9.0, 10.0), 0.8)
    (-8.0, 8.0)
    """
    side = (1 + coverage) / 2
    return -conformal_quantile(-residuals, side), conformal_quantile(residuals, side)


def widening(low: Floats, high: Floats, y: Floats, coverage: float) -> float:
    """Return by how much to widen intervals so that they have the coverage.

    Parameters
    ----------
    low, high : ndarray of float64, shape (n_rows,)
        Out-of-bag intervals of training rows.
    y : ndarray of float64, shape (n_rows,)
        Their targets.
    coverage : float
        In (0, 1).

    Returns
    -------
    width : float
        To be taken off `low` and added to `high`; negative if the intervals are too wide.

    Examples
    --------
    >>> y = np.arange(9.0)
    >>> widening(np.zeros(9), np.full(9, 4.0), y, 0.8)
    3.0
    """
    return conformal_quantile(np.maximum(low - y, y - high), coverage)


def label_scores(shares: Floats, method: str, chance: Floats) -> Floats:
    """Return how badly each class fits each row; the smaller the better.

    Parameters
    ----------
    shares : ndarray of float64, shape (n_rows, n_classes)
        Probabilities.
    method : {"lac", "aps"}
        "lac" is one minus the probability of the class. "aps" is the probability of all likelier
        classes, plus a random part of its own.
    chance : ndarray of float64, shape (n_rows,)
        That random part, uniform in [0, 1].

    Returns
    -------
    scores : ndarray of float64, shape (n_rows, n_classes)
        A score for each class.

    Examples
    --------
    >>> shares = np.array([[0.5, 0.2, 0.3]])
    >>> label_scores(shares, "lac", np.zeros(1)).tolist()
    [[0.5, 0.8, 0.7]]
    >>> label_scores(shares, "aps", np.full(1, 0.5)).tolist()
    [[0.25, 0.9, 0.65]]
    """
    if method == "lac":
        return np.asarray(1.0 - shares)
    order = np.argsort(-shares, axis=1, kind="stable")
    ordered = np.take_along_axis(shares, order, axis=1)
    reached = np.cumsum(ordered, axis=1) - (1.0 - chance[:, None]) * ordered
    scores = np.empty_like(shares)
    np.put_along_axis(scores, order, reached, axis=1)
    return scores


def class_limits(
    scores: Floats, codes: NDArray[np.integer], n_classes: int, coverage: float, by_class: bool
) -> Floats:
    """Return the largest score with which each class belongs to a set.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows,)
        Out-of-bag scores of the true classes.
    codes : ndarray of int, shape (n_rows,)
        The true classes.
    n_classes : int
        How many there are.
    coverage : float
        In (0, 1).
    by_class : bool
        Whether the coverage must hold for each class alone.

    Returns
    -------
    limits : ndarray of float64, shape (n_classes,)
        Infinite where there are too few rows for the coverage.

    Examples
    --------
    >>> scores, codes = np.arange(1.0, 10.0), np.array([0] * 4 + [1] * 5)
    >>> class_limits(scores, codes, 2, 0.8, by_class=False).tolist()
    [8.0, 8.0]
    >>> class_limits(scores, codes, 2, 0.8, by_class=True).tolist()
    [4.0, 9.0]
    """
    if not by_class:
        return np.full(n_classes, conformal_quantile(scores, coverage))
    return np.array(
        [conformal_quantile(scores[codes == code], coverage) for code in range(n_classes)]
    )
