r"""From sums of votes to probabilities.

In theory the best sum of votes for exponential loss is the logarithm of probability, up to a
constant, so that the softmax of the sums is the probability. On a finite table sums run ahead of
it: each round adds to the margin of rows that are right already. One number, the *temperature*,
divides the sums first, and is chosen so that rows that no member was fitted to are as likely as
possible. It does not change which class is the likeliest. Where there are many rows for each leaf
of the committee, the rows it was fitted to do as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from committee.base.arrays import Floats

_MOST_STEPS = 100


def link(scores: Floats, temperature: float) -> Floats:
    """Return the probabilities of the classes.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, n_classes)
        Sums of votes.
    temperature : float
        Divides them.

    Returns
    -------
    p : ndarray of float64, shape (n_rows, n_classes)
        Rows add up to one.

    Examples
    --------
    >>> link(np.array([[0.0, 0.0], [0.0, np.log(3.0)]]), 1.0).round(2).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    if scores.shape[1] == 2:  # the same, faster
        odds = (scores[:, 1] - scores[:, 0]) / temperature
        return np.column_stack([expit(-odds), expit(odds)])
    shares: Floats = softmax(scores / temperature, axis=1)
    return shares


def best_temperature(scores: Floats, codes: NDArray[np.int32], weights: Floats) -> float:
    """Return the temperature under which the classes of rows are likeliest.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, n_classes)
        Sums of votes for rows, best of members that were not fitted to the row.
    codes : ndarray of int32, shape (n_rows,)
        Classes.
    weights : ndarray of float64, shape (n_rows,)
        How often each row counts.

    Returns
    -------
    temperature : float
        1 where all scores are equal.

    Notes
    -----
    In the manner of Platt's scaling, n rows are taken to have their class with a probability of
    (n + 1) / (n + 2) only, so that rows that are all right do not make votes certain. (Platt counts
    the rows of each class; with many classes of few rows that was too much, and the log loss of new
    rows 2 % higher on 15 tables.) The likelihood is concave in 1 / temperature.

    Examples
    --------
    >>> votes = np.array([[0.0, 4.0]] * 4)
    >>> round(best_temperature(votes, np.array([1, 1, 1, 0]), np.full(4, 100.0)), 2)
    3.66
    """
    centred = scores - scores.mean(axis=1, keepdims=True)
    largest = float(np.abs(centred).max(initial=0.0))
    if largest == 0 or weights.sum() == 0:
        return 1.0
    centred /= largest
    targets = _smoothed(codes, weights, scores.shape[1])
    # What the scores would have to be on average: the slope is zero where they are.
    wanted = _total(weights, targets * centred)
    if wanted <= 0:
        return 1e6 * largest
    low, high, factor = 0.0, np.inf, 1.0
    for _ in range(_MOST_STEPS):
        shares = softmax(factor * centred, axis=1)
        predicted = shares * centred
        slope = wanted - _total(weights, predicted)
        low, high = (factor, high) if slope > 0 else (low, factor)
        means = predicted.sum(axis=1, keepdims=True)
        curvature = _total(weights, predicted * (centred - means))
        step = factor + slope / curvature if curvature > 0 else np.inf
        # Newton's step, unless it leaves what is known.
        after = step if low < step < high else 2 * factor if high == np.inf else (low + high) / 2
        is_close = abs(after - factor) <= 1e-12 * factor
        factor = after
        if is_close or factor > 1e12:
            break
    return largest / factor


def _total(weights: Floats, table: Floats) -> float:
    # Not by a product of matrices, which would wake the threads of linear algebra.
    return float((weights * table.sum(axis=1)).sum())


def _smoothed(codes: NDArray[np.int32], weights: Floats, n_classes: int) -> Floats:
    """Return the targets of rows: a little less than one for their class, the rest for others."""
    n_rows = float(weights.sum())
    own = (n_rows + 1) / (n_rows + 2)
    targets = np.full((len(codes), n_classes), (1 - own) / max(n_classes - 1, 1))
    targets[np.arange(len(codes)), codes] = own
    return targets
