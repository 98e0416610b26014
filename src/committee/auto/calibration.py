"""Temperature scaling: one number that makes probabilities bolder or more careful."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats

_LEAST = 1e-15  # a probability is no smaller
_SHRINKAGE = 50.0  # rows that a temperature of one is worth
_RANGE = 2.5  # of the logarithm of the temperature
_HALVINGS = 9  # of the range


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
        Their weights.

    Examples
    --------
    >>> shares = np.tile([0.1, 0.9], (1000, 1))
    >>> codes = np.repeat([0, 1], [300, 700])
    >>> 2 < fit_temperature(shares, codes, None) < 3
    True
    """
    logs = np.log(np.maximum(shares.T, _LEAST, order="C"))  # rows last: sums over classes are fast
    truth = logs[codes, np.arange(len(codes))]
    parts = np.ones(len(codes)) if weights is None else weights
    penalty = _SHRINKAGE * parts.mean()

    def slope(log_temperature: float) -> float:
        """Return the derivative of the penalized loss."""
        inverse = np.exp(-log_temperature)
        powers = logs * inverse
        powers -= powers.max(axis=0)
        np.exp(powers, out=powers)
        means = (powers * logs).sum(axis=0) / powers.sum(axis=0)
        gain = float((parts * (truth - means)).sum())
        return float(gain * inverse + penalty * log_temperature)

    # The loss is convex in the inverse: its slope changes sign once.
    low, high = -_RANGE, _RANGE
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    below, above = slope(low), slope(high)  # nearly a straight line in between
    share = min(max(below / (below - above), 0.0), 1.0) if below < above else 0.5
    return float(np.exp(low + share * (high - low)))
