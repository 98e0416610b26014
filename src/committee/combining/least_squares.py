"""Least squares with weights that are not negative, in one order of operations.

SciPy has the same, by a library of linear algebra whose last digits differ between processors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.products import dot


def triangular_factor(columns: Floats) -> Floats:
    """Return the triangular factor of a QR decomposition, by Householder reflections.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_columns, n_rows)
        The columns of the matrix, one after the other.

    Returns
    -------
    factor : ndarray of float64, shape (min(n_rows, n_columns), n_columns)
        Upper triangular; its columns have the same lengths and angles.

    Examples
    --------
    >>> triangular_factor(np.array([[3.0, 4.0], [0.0, 5.0]])).round(6).tolist()
    [[-5.0, -4.0], [0.0, -3.0]]
    """
    left = np.array(columns, np.float64)
    n_columns, n_rows = left.shape
    n_steps = min(n_rows, n_columns)
    for step in range(n_steps):
        mirror = left[step, step:].copy()
        length = float(np.sqrt(np.square(mirror).sum()))
        if length == 0.0:
            continue
        mirror[0] += np.copysign(length, mirror[0])
        # Columns are mirrored at the plane that turns this one into a multiple of an axis.
        shares = (left[step:, step:] * mirror).sum(axis=1) * (2.0 / np.square(mirror).sum())
        left[step:, step:] -= shares[:, np.newaxis] * mirror
    return np.triu(left[:, :n_steps].T)


def nonnegative_weights(columns: Floats, target: Floats) -> Floats:
    """Return the weights that are not negative and come closest to a target.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_columns, n_rows)
        What is weighted.
    target : ndarray of float64, shape (n_rows,)
        The sum that is wanted.

    Returns
    -------
    weights : ndarray of float64, shape (n_columns,)
        With the least squared error (Lawson and Hanson 1974).

    Examples
    --------
    >>> nonnegative_weights(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([2.0, -1.0])).tolist()
    [2.0, 0.0]
    """
    n_columns, n_rows = columns.shape
    weights, is_used = np.zeros(n_columns), np.zeros(n_columns, bool)
    lengths = np.sqrt(np.square(columns).sum(axis=1))
    lengths[lengths == 0.0] = 1.0
    # A gain that is smaller is rounding.
    least = 10 * max(n_rows, n_columns) * np.finfo(float).eps * np.sqrt(dot(target, target))
    for _ in range(3 * n_columns):
        rest = target - (weights[:, np.newaxis] * columns).sum(axis=0)
        gains = np.where(is_used, -np.inf, (columns * rest).sum(axis=1) / lengths)
        if gains.max() <= least:
            break
        is_used[gains.argmax()] = True
        weights = _until_positive(columns, target, weights, is_used)
    return weights


def _until_positive(
    columns: Floats, target: Floats, weights: Floats, is_used: NDArray[np.bool_]
) -> Floats:
    """Return the best weights of the columns in use; those that would be negative fall out."""
    while True:
        best = np.zeros(len(weights))
        best[is_used] = _least_squares(columns[is_used], target)
        is_negative = is_used & (best <= 0)
        if not is_negative.any():
            return best
        # As far towards the best as no weight becomes negative.
        steps = weights[is_negative] / (weights[is_negative] - best[is_negative])
        weights = weights + float(steps.min()) * (best - weights)
        is_used &= ~(is_negative & (weights <= 1e-15 * weights.max()))
        is_used[np.flatnonzero(is_negative)[steps.argmin()]] = False
        weights = np.where(is_used, weights, 0.0)


def _least_squares(columns: Floats, target: Floats) -> Floats:
    factor = triangular_factor(np.vstack([columns, target]))
    n_columns = len(columns)
    weights = np.zeros(n_columns)
    for place in range(n_columns - 1, -1, -1):
        rest = factor[place, -1] - dot(factor[place, place:n_columns], weights[place:])
        weights[place] = rest / factor[place, place] if factor[place, place] else 0.0
    return weights
