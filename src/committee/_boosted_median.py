"""The weighted median of what members say, as AdaBoost.R2 has it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BLOCK = 4096  # rows at a time, for the working memory


def weighted_lower_median(said: Floats, weights: Floats) -> Floats:
    """Return, for each row, the least answer with half of the weight at or below it.

    Parameters
    ----------
    said : ndarray of float64, shape (n_rows, n_members)
        What each member says.
    weights : ndarray of float64, shape (n_members,)
        Their weights.

    Returns
    -------
    medians : ndarray of float64, shape (n_rows,)
        Always the answer of a member.

    Examples
    --------
    >>> weighted_lower_median(np.array([[3.0, 1.0, 2.0]]), np.array([5.0, 1.0, 1.0])).tolist()
    [3.0]
    """
    medians = np.empty(len(said))
    for begin in range(0, len(said), _BLOCK):
        block = said[begin : begin + _BLOCK]
        order = np.argsort(block, axis=1, kind="stable")
        sums = np.cumsum(weights[order], axis=1)
        place = (sums >= 0.5 * sums[:, -1:]).argmax(axis=1)
        rows = np.arange(len(block))
        medians[begin : begin + _BLOCK] = block[rows, order[rows, place]]
    return medians
