"""The theory of forests applied to a forest: correlation and variance of its trees.

The mean of B trees, each with variance s2, any two with correlation rho, has the variance
``rho * s2 + (1 - rho) / B * s2``. More trees remove the second part only; drawing features and
rows makes rho small at the price of a larger s2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.theory.averaging import variance_of_mean


@dataclass(frozen=True, repr=False)
class VarianceDecomposition:
    """Correlation and variance of the trees of a forest, and what follows from them.

    Parameters
    ----------
    rho : float
        Correlation of two trees.
    tree_variance : float
        Variance of a tree, or its mean squared error with ``of="errors"``; summed over the classes
        or outputs.
    n_trees : int
        Trees of the forest.
    measured : float
        Variance (error) of forests that was measured directly.
    n_measured : int
        How many trees these forests have.
    of : {"variance", "errors"}
        What is decomposed.

    Examples
    --------
    >>> found = VarianceDecomposition(0.3, 1.0, 100, 0.37, 10, "variance")
    >>> round(found.forest_variance, 3), round(found.at(10), 3), found.limit
    (0.307, 0.37, 0.3)
    """

    rho: float
    tree_variance: float
    n_trees: int
    measured: float
    n_measured: int
    of: str

    def at(self, n_trees: int) -> float:
        """Return the variance of so many trees by the formula."""
        return variance_of_mean(self.rho, self.tree_variance, n_trees)

    @property
    def forest_variance(self) -> float:
        """Variance of this forest by the formula."""
        return self.at(self.n_trees)

    @property
    def limit(self) -> float:
        """What infinitely many trees would reach: ``rho * tree_variance``."""
        return self.rho * self.tree_variance

    def __repr__(self) -> str:
        noun = "variance" if self.of == "variance" else "squared error"
        return (
            f"VarianceDecomposition of the {noun}: correlation of two trees {self.rho:.3g}\n"
            f"  one tree {self.tree_variance:.4g}, {self.n_trees} trees "
            f"{self.forest_variance:.4g}, infinitely many {self.limit:.4g}\n"
            f"  measured with {self.n_measured} trees: {self.measured:.4g}"
        )


def between_and_within(predictions: Floats) -> tuple[float, float]:
    """Return the two parts of the variance of a tree, means over rows.

    Parameters
    ----------
    predictions : ndarray of float64, shape (n_sets, n_rows, n_trees, n_values)
        Predictions for the same rows by trees that learnt from independent training sets, some
        trees from each set.

    Returns
    -------
    between : float
        Variance between training sets of the mean of infinitely many trees: ``rho * s2``. Without
        bias, and so it may come out negative by chance.
    within : float
        Variance of trees of the same training set: ``(1 - rho) * s2``.

    Examples
    --------
    >>> clones = np.repeat(np.array([1.0, 3.0]), 5).reshape(2, 1, 5, 1)
    >>> between_and_within(clones)
    (2.0, 0.0)
    """
    n_trees = predictions.shape[2]
    within = float(predictions.var(axis=2, ddof=1).sum(axis=-1).mean())
    means = predictions.mean(axis=2)
    spread = float(means.var(axis=0, ddof=1).sum(axis=-1).mean())
    return spread - within / n_trees, within


class ErrorTally:
    """Adds up the errors of trees on their out-of-bag rows.

    Examples
    --------
    >>> tally = ErrorTally(2, 1)
    >>> for error in ([1.0, -2.0], [3.0, -2.0]):
    ...     tally.add(np.array(error).reshape(2, 1), np.array([True, True]))
    >>> alone, pairs, together = tally.means(np.ones(2))
    >>> alone, pairs, together
    (4.5, 3.5, 4.0)
    """

    def __init__(self, n_rows: int, n_values: int) -> None:
        self._sums = np.zeros((n_rows, n_values))
        self._squares = np.zeros(n_rows)
        self._n_trees = np.zeros(n_rows)

    @classmethod
    def merged(cls, tallies: Sequence[ErrorTally]) -> ErrorTally:
        """Return the tally of all trees of some tallies."""
        merged = cls(*tallies[0]._sums.shape)
        for each in tallies:
            merged._sums += each._sums
            merged._squares += each._squares
            merged._n_trees += each._n_trees
        return merged

    def add(self, errors: Floats, is_counted: NDArray[np.bool_]) -> None:
        """Add the errors of a tree, of shape (n_rows, n_values)."""
        errors = np.where(is_counted[:, None], errors, 0.0)
        self._sums += errors
        self._squares += (errors**2).sum(axis=1)
        self._n_trees += is_counted

    def mean_errors(self) -> Floats:
        """Return the mean error of the trees on each row; NaN for rows without a tree."""
        times = np.where(self._n_trees > 0, self._n_trees, np.nan)
        return np.asarray(self._sums / times[:, None])

    def row_errors(self, n_trees: int) -> Floats:
        """Return the squared error that so many trees would make on each row, on average.

        NaN for rows that fewer than two trees have left out.
        """
        times = np.where(self._n_trees > 1, self._n_trees, np.nan)
        alone = self._squares / times
        pairs = ((self._sums**2).sum(axis=1) - self._squares) / (times * (times - 1))
        return np.asarray(pairs + (alone - pairs) / n_trees)

    def means(self, weights: Floats) -> tuple[float, float, float]:
        """Return mean squares of a tree, mean products of two trees, and mean squares of all.

        Means over the rows that at least two trees have left out; NaN if there are none.
        """
        known = (self._n_trees > 1) & (weights > 0)
        if not known.any():
            return np.nan, np.nan, np.nan
        times, squares = self._n_trees[known], self._squares[known]
        together = (self._sums[known] ** 2).sum(axis=1)
        parts = (
            squares / times,
            (together - squares) / (times * (times - 1)),
            together / times**2,
        )
        alone, pairs, whole_forest = (
            float(np.average(part, weights=weights[known])) for part in parts
        )
        return alone, pairs, whole_forest
