r"""Weights of members that are not negative and add up to one, learnt from level-one data.

For probabilities the weights minimise the log loss of the mixture
:math:`\sum_m w_m p_m`, for numbers the squared error of :math:`\sum_m w_m f_m`. Both are convex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from committee._any_table import AnyTable
from committee._codec_classes import register

Floats = NDArray[np.float64]

_MOST_STEPS = 2_000
_SMALL_STEP = 1e-9
_LEAST_SHARE = 1e-15  # of the class of a row: a member that is sure and wrong is not the end


def mixture_weights(
    shares: Floats, weights: Floats | None = None, *, n_steps: int = _MOST_STEPS
) -> Floats:
    """Return the weights of the mixture with the least log loss.

    Parameters
    ----------
    shares : ndarray of float64, shape (n_rows, n_members)
        The probability that each member gave to the class of the row.
    weights : ndarray of float64 or None
        Weights of the rows.
    n_steps : int
        Steps at most.

    Returns
    -------
    weights : ndarray of float64, shape (n_members,)
        Not negative, with a sum of one.

    Notes
    -----
    Each step of expectation maximisation multiplies a weight by the mean share that its member has
    in the mixture, which never makes the loss larger.

    Examples
    --------
    >>> mixture_weights(np.array([[0.9, 0.1], [0.8, 0.3]])).round(3).tolist()
    [1.0, 0.0]
    """
    shares = np.maximum(shares, _LEAST_SHARE)
    rows = np.full(len(shares), 1.0 / len(shares)) if weights is None else weights / weights.sum()
    found = np.full(shares.shape[1], 1.0 / shares.shape[1])
    for _ in range(n_steps):
        mixture = shares @ found
        factors = (rows / mixture) @ shares  # one where a weight may stay as it is
        found = found * factors
        found /= found.sum()
        # At the best weights no factor is above one.
        if factors.max() <= 1 + _SMALL_STEP:
            break
    found[found < 1e-12] = 0.0
    return np.asarray(found / found.sum())


def blend_weights(values: Floats, y: Floats, weights: Floats | None = None) -> Floats:
    """Return the weights with the least squared error.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_members)
        What each member predicts.
    y : ndarray of float64, shape (n_rows,)
        The truth.
    weights : ndarray of float64 or None
        Weights of the rows.

    Returns
    -------
    weights : ndarray of float64, shape (n_members,)
        Not negative, with a sum of one.

    Notes
    -----
    With weights that add up to one the error is a sum of the errors of the members. Non-negative
    least squares on these errors, with a last row that asks for the sum, finds the direction of
    the best weights exactly; they are then brought to a sum of one.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 3.0])
    >>> blend_weights(np.column_stack([y + 1, y - 1]), y).round(6).tolist()
    [0.5, 0.5]
    """
    errors = values - y[:, np.newaxis]
    if weights is not None:
        errors = errors * np.sqrt(weights / weights.sum())[:, np.newaxis]
    largest = float(np.abs(errors).max(initial=0.0))
    if largest == 0.0:
        return np.full(values.shape[1], 1.0 / values.shape[1])
    factor = np.linalg.qr(errors / largest, mode="r")  # as many rows as members
    system = np.vstack([factor, np.ones(values.shape[1]) * np.abs(factor).max()])
    aim = np.append(np.zeros(len(factor)), np.abs(factor).max())
    found, _ = nnls(system, aim)
    return np.asarray(found / found.sum())


class _Convex(BaseEstimator):
    """What both meta-learners share: columns of level-one data, member by member.

    Parameters
    ----------
    n_members : int
        Number of members; each has the same number of columns, which come first.
    weights : list of float or None
        Given weights, which are then not learnt.
    """

    weights_: Floats
    n_features_in_: int

    def __init__(self, n_members: int, weights: list[float] | None = None) -> None:
        self.n_members = n_members
        self.weights = weights

    def _opinions(self, X: Any, n_columns: int) -> Floats:
        """Return the columns of the members as (n_rows, n_members, n_columns)."""
        own = AnyTable(X).take(None, np.arange(self.n_members * n_columns))
        values = np.asarray(own.toarray() if issparse(own) else own, np.float64)
        return values.reshape(len(values), self.n_members, n_columns)

    def _learn(self, X: Any, learnt: Callable[[], Floats]) -> None:
        given = self.weights
        self.weights_ = learnt() if given is None else np.asarray(given, np.float64)
        self.n_features_in_ = AnyTable(X).n_features


@register
class ConvexClassifier(ClassifierMixin, _Convex):
    """A mixture of the probabilities of the members, see `mixture_weights`."""

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConvexClassifier:
        """Learn the weights."""
        self.classes_ = np.unique(y)
        said = self._shares(X)
        codes = np.searchsorted(self.classes_, y)
        own = np.take_along_axis(said, codes[:, np.newaxis, np.newaxis], axis=2)[:, :, 0]
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        self._learn(X, lambda: mixture_weights(own, weights))
        return self

    def _shares(self, X: Any) -> Floats:
        n_classes = len(self.classes_)
        said = self._opinions(X, 1 if n_classes == 2 else n_classes)
        if n_classes == 2:  #  classes: the column of the first was left out
            said = np.concatenate([1 - said, said], axis=2)
        return said

    def predict_proba(self, X: Any) -> Floats:
        """Return the mixture of the probabilities."""
        return np.asarray(np.einsum("nmk,m->nk", self._shares(X), self.weights_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest probability."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


@register
class ConvexRegressor(RegressorMixin, _Convex):
    """A weighted mean of the predictions of the members, see `blend_weights`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConvexRegressor:
        """Learn the weights."""
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        values, truth = self._opinions(X, 1)[:, :, 0], np.asarray(y, np.float64)
        self._learn(X, lambda: blend_weights(values, truth, weights))
        return self

    def predict(self, X: Any) -> Floats:
        """Return the weighted mean."""
        return np.asarray(self._opinions(X, 1)[:, :, 0] @ self.weights_)
