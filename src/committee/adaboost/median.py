"""The weighted median of predictions, by which AdaBoost.R2 combines its members."""

from __future__ import annotations

import numpy as np

from committee.base.arrays import Floats

_BLOCK = 4096  # rows at a time, for the working memory


def weighted_lower_median(predicted: Floats, weights: Floats) -> Floats:
    """Return, for each row, the least prediction with half of the weight at or below it.

    Parameters
    ----------
    predicted : ndarray of float64, shape (n_rows, n_members)
        Prediction of each member.
    weights : ndarray of float64, shape (n_members,)
        Their weights.

    Returns
    -------
    medians : ndarray of float64, shape (n_rows,)
        Always the prediction of a member.

    Examples
    --------
    >>> weighted_lower_median(np.array([[3.0, 1.0, 2.0]]), np.array([5.0, 1.0, 1.0])).tolist()
    [3.0]
    """
    medians = np.empty(len(predicted))
    for begin in range(0, len(predicted), _BLOCK):
        block = predicted[begin : begin + _BLOCK]
        order = np.argsort(block, axis=1, kind="stable")
        sums = np.cumsum(weights[order], axis=1)
        place = (sums >= 0.5 * sums[:, -1:]).argmax(axis=1)
        rows = np.arange(len(block))
        medians[begin : begin + _BLOCK] = block[rows, order[rows, place]]
    return medians


class RunningMedian:
    """The weighted lower medians of rows, while members come one by one.

    Predictions are kept in order, so that one more member takes time in the number of members, and
    not a sort.

    Parameters
    ----------
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> running = RunningMedian(1)
    >>> for value, weight in ((3.0, 5.0), (1.0, 1.0), (2.0, 1.0)):
    ...     running.add(np.array([value]), weight)
    >>> running.medians().tolist()
    [3.0]
    """

    def __init__(self, n_rows: int) -> None:
        self._predicted = np.empty((n_rows, 0))
        self._weights = np.empty((n_rows, 0))

    @property
    def n_members(self) -> int:
        """Number of members so far."""
        return int(self._predicted.shape[1])

    def add(self, predicted: Floats, weight: float) -> None:
        """Add a member: behind all with the same prediction or a lower one."""
        n_rows, n_members = self._predicted.shape
        places = (self._predicted <= predicted[:, np.newaxis]).sum(axis=1)
        is_old = np.ones((n_rows, n_members + 1), bool)
        is_old[np.arange(n_rows), places] = False
        for name, new in (("_predicted", predicted), ("_weights", np.full(n_rows, weight))):
            merged = np.empty((n_rows, n_members + 1))
            merged[is_old] = getattr(self, name).ravel()
            merged[np.arange(n_rows), places] = new
            setattr(self, name, merged)

    def medians(self) -> Floats:
        """Return the medians of the members so far."""
        sums = np.cumsum(self._weights, axis=1)
        places = (sums >= 0.5 * sums[:, -1:]).argmax(axis=1)
        medians: Floats = self._predicted[np.arange(len(places)), places]
        return medians
