"""Bias and variance of predictions by many fits, added up fit by fit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats


@dataclass(frozen=True)
class RowParts:
    """Parts of the expected loss of each test row.

    Attributes
    ----------
    main : ndarray
        The main prediction: the mean of all, or the class that is predicted most often.
    bias, variance, net_variance, biased_variance : ndarray of float64, shape (n_rows,)
        See `BiasVariance`.
    """

    main: Floats | NDArray[np.intp]
    bias: Floats
    variance: Floats
    net_variance: Floats
    biased_variance: Floats


@dataclass(eq=False)
class SquaredTally:
    """Sums of predictions of numbers or probabilities, and of their squares.

    Both are taken of the distance from the first prediction, so that large numbers that differ
    little keep their digits.

    Examples
    --------
    >>> tally = SquaredTally(np.array([[1.0]]))
    >>> for predicted in (2.0, 4.0):
    ...     tally.add(np.array([[predicted]]))
    >>> parts = tally.parts(ddof=0)
    >>> parts.main.tolist(), parts.bias.tolist(), parts.variance.tolist()
    ([[3.0]], [4.0], [1.0])
    """

    truth: Floats
    n_fits: int = 0
    _first: Floats = field(init=False)
    _sum: Floats = field(init=False)
    _squares: Floats = field(init=False)

    def add(self, predicted: Floats) -> None:
        """Add the predictions of a fit, n_rows x n_values."""
        if self.n_fits == 0:
            self._first = predicted
            self._sum, self._squares = np.zeros(predicted.shape), np.zeros(predicted.shape)
        off = predicted - self._first
        self._sum += off
        self._squares += off * off
        self.n_fits += 1

    def parts(self, ddof: int) -> RowParts:
        """Return bias and variance of each row; with `ddof` of one without bias themselves."""
        mean_off = self._sum / self.n_fits
        main = self._first + mean_off
        spread = self._squares - self._sum * mean_off
        variance = np.maximum(spread, 0.0).sum(axis=1) / (self.n_fits - ddof)
        bias = ((main - self.truth) ** 2).sum(axis=1)
        if ddof:  # the mean of so many fits varies too, which is no bias
            bias = bias - variance / self.n_fits
        return RowParts(main, bias, variance, variance, np.zeros(len(bias)))


@dataclass(eq=False)
class VoteTally:
    """How often each class was predicted for each row.

    Examples
    --------
    >>> tally = VoteTally(np.array([0, 1]), 2)
    >>> for predicted in ([0, 0], [0, 0], [1, 1]):
    ...     tally.add(np.eye(2)[predicted])
    >>> parts = tally.parts(ddof=0)
    >>> parts.main.tolist(), parts.bias.tolist(), parts.net_variance.round(2).tolist()
    ([0, 0], [0.0, 1.0], [0.33, -0.33])
    """

    truth: NDArray[np.intp]
    n_classes: int
    n_fits: int = 0
    _counts: Floats = field(init=False)

    def __post_init__(self) -> None:
        self._counts = np.zeros((len(self.truth), self.n_classes))

    def add(self, predicted: Floats) -> None:
        """Add the votes of a fit: one for a class of each row."""
        self._counts += predicted
        self.n_fits += 1

    def parts(self, ddof: int) -> RowParts:
        """Return bias and variance of each row."""
        rows = np.arange(len(self.truth))
        main = self._counts.argmax(axis=1)  # of equally many the first, whatever the order of fits
        variance = 1.0 - self._counts[rows, main] / self.n_fits
        is_biased = main != self.truth
        helping = np.where(is_biased, self._counts[rows, self.truth] / self.n_fits, 0.0)
        net = np.where(is_biased, -helping, variance)
        return RowParts(main, is_biased.astype(np.float64), variance, net, helping)


def mean_over_rows(values: Floats, weights: Floats | None) -> float:
    """Return the weighted mean of some values, added without rounding.

    Examples
    --------
    >>> mean_over_rows(np.array([1.0, 3.0]), np.array([1.0, 0.0]))
    1.0
    """
    if weights is None:
        return math.fsum(values) / len(values)
    return math.fsum(values * weights) / math.fsum(weights)
