"""Sums of products in one order, whatever the processor and the number of threads.

A library of linear algebra (behind `@`, `np.dot` and `np.linalg`) picks a kernel for the processor,
and kernels add in different orders: their results differ in the last digits. So numbers that users
see, and choices, are made of the sums here. NumPy's own sums have a fixed order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.base.work import resolve_threads


def dot(left: NDArray[np.generic], right: NDArray[np.generic]) -> float:
    """Return the scalar product of two vectors.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.multiply(left, right, dtype=np.float64).sum())


def weighted_sum(weights: Floats, values: NDArray[np.generic]) -> Floats:
    """Return the weighted sum over the first axis, added in its order; zero weights count nothing.

    Examples
    --------
    >>> weighted_sum(np.array([2.0, 0.0, 1.0]), np.arange(6.0).reshape(3, 2)).tolist()
    [4.0, 7.0]
    """
    total = np.zeros(values.shape[1:])
    for place in np.flatnonzero(weights):
        total += weights[place] * values[place]
    return total


def row_products(left: Floats, right: Floats) -> Floats:
    """Return the scalar products of all rows of one matrix with all rows of another.

    Examples
    --------
    >>> row_products(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[11.0, 2.0]]
    """
    return _core.row_sums(_rows(left), _rows(right), n_threads=resolve_threads(None))


def weighted_products(rows: Floats, weights: Floats) -> Floats:
    """Return the weighted products of all pairs of rows, symmetric to the last bit.

    Examples
    --------
    >>> weighted_products(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, 0.5])).tolist()
    [[3.0, 3.0], [3.0, 9.0]]
    """
    own, n_threads = _rows(rows), resolve_threads(None)
    upper = np.triu(
        _core.row_sums(_rows(rows * weights), own, upper_only=True, n_threads=n_threads)
    )
    return np.asarray(upper + np.triu(upper, 1).T)


def _rows(matrix: Floats) -> Floats:
    return np.ascontiguousarray(matrix, np.float64)
