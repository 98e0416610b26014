"""C4.5's pessimistic error (Quinlan 1993, section 4.2); see pessimistic_error.hpp of the core."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_real


def check_confidence(confidence: Any) -> float:
    """Return the confidence of an upper limit of errors, or raise with what is accepted."""
    return check_real("confidence", confidence, 0.0, 0.5, include_low=False)


def normal_deviate(confidence: float) -> float:
    """Return the deviate of the normal law that is exceeded with this probability.

    Quinlan interpolated a short table here (0.6925 at 0.25). The true value was chosen after Weka's
    J48 had been seen to make a tree of that size of the diabetes table.

    Examples
    --------
    >>> round(normal_deviate(0.25), 4)
    0.6745
    """
    return -NormalDist().inv_cdf(confidence)  # 1 - confidence would round to 1


def pessimistic_errors(n: Floats, errors: Floats, confidence: float) -> Floats:
    """Return the errors to expect of leaves or rules on rows like those they were made from.

    Parameters
    ----------
    n : ndarray of float64
        Number of training cases, above 0.
    errors : ndarray of float64
        How many of them are wrong.
    confidence : float
        Confidence of the upper limit.

    Returns
    -------
    expected : ndarray of float64
        Upper confidence limit of the error rate, times n.

    Examples
    --------
    Three leaves of Quinlan's example, and the leaf that replaces them (0.157 in his book):

    >>> n, errors = np.array([6.0, 9.0, 1.0, 16.0]), np.array([0.0, 0.0, 0.0, 1.0])
    >>> (pessimistic_errors(n, errors, 0.25) / n).round(3).tolist()
    [0.206, 0.143, 0.75, 0.155]
    """
    n, errors = np.asarray(n, np.float64), np.asarray(errors, np.float64)
    with np.errstate(divide="ignore", over="ignore"):
        none = n * (1 - confidence ** (1 / n))
    one = _approximate(n, np.ones_like(n), confidence)
    between = errors + none + errors * (one - none)
    some = errors + _approximate(n, errors, confidence)
    expected: Floats = np.where(errors < 1e-6, none, np.where(errors < 0.9999, between, some))
    return expected


def _approximate(n: Floats, errors: Floats, confidence: float) -> Floats:
    """Return what the normal approximation adds to one error or more."""
    z2 = normal_deviate(confidence) ** 2
    shifted = np.minimum(errors + 0.5, n)
    root = np.sqrt(z2 * (shifted * (1 - shifted / n) + z2 / 4))
    added = n * (shifted + z2 / 2 + root) / (n + z2) - errors
    return np.where(errors + 0.5 >= n, 0.67 * (n - errors), added)
