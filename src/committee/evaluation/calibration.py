"""Whether probabilities come true, and one number that makes them bolder or more careful."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.evaluation.member_errors import as_counts

_LEAST = 1e-15  # a probability is no smaller
_SHRINKAGE = 50.0  # rows that a temperature of one is worth
_RANGE = 2.5  # of the logarithm of the temperature
_HALVINGS = 9  # of the range
_N_BINS = 10
_LEAST_IN_BIN = 5  # rows; the mean of fewer would nearly be a row of the table


@dataclass(frozen=True, eq=False)
class Calibration:
    """How probabilities and what has happened agree.

    Attributes
    ----------
    of : str
        Whose probability is looked at: of two classes the second one, else "the predicted class".
    bins : ndarray of float64, shape (n_bins, 5)
        Rows in the order of that probability, cut into bins of about equal weight. Of each: the
        mean probability, the share for which it came true, this share less and plus a standard
        error, and the number of rows.
    confidence : float
        Mean probability of the predicted class.
    accuracy : float
        Share of rows for which it is the true one.
    error : float
        Standard error of `confidence - accuracy`.
    temperature : float
        What the logarithms of probabilities would have to be divided by: above one where they are
        too bold. Drawn toward one where rows are few.
    """

    of: str
    bins: Floats
    confidence: float
    accuracy: float
    error: float
    temperature: float

    @classmethod
    def measure(
        cls, shares: Floats, codes: NDArray[np.integer], weights: Floats, second: str
    ) -> Self:
        """Compare probabilities with the classes of rows.

        Parameters
        ----------
        shares : ndarray of float64, shape (n_rows, n_classes)
            Probabilities.
        codes : ndarray of int
            The classes.
        weights : ndarray of float64
            Of the rows, all positive.
        second : str
            Name of the second class.

        Examples
        --------
        >>> shares = np.tile([0.1, 0.9], (1000, 1))
        >>> codes = np.repeat([0, 1], [300, 700])
        >>> found = Calibration.measure(shares, codes, np.ones(1000), "yes")
        >>> round(found.confidence - found.accuracy, 3), found.temperature > 2
        (0.2, True)
        """
        predicted = shares.argmax(axis=1)
        sure, is_right = shares[np.arange(len(codes)), predicted], predicted == codes
        gaps, counts = sure - is_right, as_counts(weights)
        mean = float(np.average(gaps, weights=weights))
        variance = float(np.average((gaps - mean) ** 2, weights=weights))
        is_pair = shares.shape[1] == 2
        bins = (
            reliability(shares[:, 1], codes == 1, weights)
            if is_pair
            else reliability(sure, is_right, weights)
        )
        return cls(
            second if is_pair else "the predicted class",
            bins,
            float(np.average(sure, weights=weights)),
            float(np.average(is_right, weights=weights)),
            (variance / max(float(counts.sum()) - 1.0, 1.0)) ** 0.5,
            fit_temperature(shares, codes, weights),
        )


def reliability(shares: Floats, is_so: NDArray[np.bool_], weights: Floats) -> Floats:
    """Return bins of rows by probability: see `Calibration.bins`.

    Examples
    --------
    >>> shares, is_so = np.repeat([0.9, 0.1], 5), np.repeat([True, False], [4, 6])
    >>> found = reliability(shares, is_so, np.ones(10))
    >>> found[:, [0, 1, 4]].round(2).tolist()
    [[0.1, 0.0, 5.0], [0.9, 0.8, 5.0]]
    """
    bins, counts = [], as_counts(weights)
    for rows in equal_parts(shares, weights):
        own = weights[rows]
        share = float(np.average(is_so[rows], weights=own))
        half = (share * (1 - share) / float(counts[rows].sum())) ** 0.5
        mean = np.average(shares[rows], weights=own)
        bins.append([mean, share, share - half, share + half, len(rows)])
    return np.array(bins)


def equal_parts(predicted: Floats, weights: Floats) -> list[NDArray[np.int64]]:
    """Return rows in the order of their predictions, in bins of about equal weight.

    Rows with the same prediction are in the same bin.

    Examples
    --------
    >>> predicted = np.repeat([0.3, 0.1, 0.2], [5, 10, 5])
    >>> [rows.tolist() for rows in equal_parts(predicted, np.ones(20))][1:]
    [[15, 16, 17, 18, 19], [0, 1, 2, 3, 4]]
    """
    order = np.argsort(predicted, kind="stable")
    in_order, total = predicted[order], as_counts(weights).sum()
    n_bins = min(_N_BINS, max(1, int(total // _LEAST_IN_BIN)))
    shares = np.cumsum(weights[order]) / weights.sum()
    last = np.searchsorted(shares, np.arange(1, n_bins) / n_bins - 1e-12)
    ends = np.unique(np.searchsorted(in_order, in_order[last], side="right"))
    return [rows for rows in np.split(order, ends) if len(rows)]


def with_temperature(shares: Floats, temperature: float) -> Floats:
    """Return probabilities whose logarithms are divided by a temperature.

    Examples
    --------
    >>> with_temperature(np.array([[0.2, 0.8]]), 0.5).round(3).tolist()
    [[0.059, 0.941]]
    """
    if temperature == 1.0:
        return shares
    logs = np.log(np.maximum(shares, _LEAST)) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit_temperature(shares: Floats, codes: NDArray[np.integer], weights: Floats | None) -> float:
    """Return the temperature with the least log loss, drawn toward one where rows are few.

    Parameters
    ----------
    shares : ndarray of float64, shape (n_rows, n_classes)
        Probabilities of rows that the members have not seen.
    codes : ndarray of int
        Their classes.
    weights : ndarray of float64 or None
        Their weights. Whole weights are repetitions; others get a mean of one.

    Examples
    --------
    >>> shares = np.tile([0.1, 0.9], (1000, 1))
    >>> codes = np.repeat([0, 1], [300, 700])
    >>> 2 < fit_temperature(shares, codes, None) < 3
    True
    """
    logs = np.log(np.maximum(shares.T, _LEAST, order="C"))  # rows last: sums over classes are fast
    truth = logs[codes, np.arange(len(codes))]
    parts = np.ones(len(codes)) if weights is None else as_counts(weights)

    def slope(log_temperature: float) -> float:
        """Return the derivative of the penalized loss."""
        inverse = np.exp(-log_temperature)
        powers = logs * inverse
        powers -= powers.max(axis=0)
        np.exp(powers, out=powers)
        means = (powers * logs).sum(axis=0) / powers.sum(axis=0)
        gain = float((parts * (truth - means)).sum())
        return float(gain * inverse + _SHRINKAGE * log_temperature)

    # The loss is convex in the inverse: its slope changes sign once.
    low, high = -_RANGE, _RANGE
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    below, above = slope(low), slope(high)  # nearly a straight line in between
    share = min(max(below / (below - above), 0.0), 1.0) if below < above else 0.5
    return float(np.exp(low + share * (high - low)))
