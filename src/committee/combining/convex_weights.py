r"""Weights of members that are not negative and add up to one, learnt from level-one data.

For probabilities the weights minimise the log loss of the mixture
:math:`\sum_m w_m p_m`, for numbers the squared error of :math:`\sum_m w_m f_m`. Both are convex.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from committee.base.arrays import Floats
from committee.base.products import weighted_sum
from committee.combining.least_squares import nonnegative_weights, triangular_factor
from committee.files.codec_classes import register
from committee.files.parts import Part, array, list_of, one_of, whole
from committee.members.output import METHODS
from committee.tables.native_table import AnyTable

_MOST_STEPS = 2_000
_SMALL_STEP = 1e-9
_LEAST_SHARE = 1e-15  # of the class of a row: a member that is sure and wrong does not decide alone


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
    members = np.ascontiguousarray(np.maximum(shares, _LEAST_SHARE).T)
    rows = np.full(len(shares), 1.0 / len(shares)) if weights is None else weights / weights.sum()
    found = np.full(len(members), 1.0 / len(members))
    for _ in range(n_steps):
        mixture = weighted_sum(found, members)
        factors = np.einsum("mr,r->m", members, rows / mixture)  # one where a weight may stay
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
    least squares on these errors, with a last row for the sum, finds the direction of
    the best weights exactly; they are then brought to a sum of one.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 3.0])
    >>> blend_weights(np.column_stack([y + 1, y - 1]), y).round(6).tolist()
    [0.5, 0.5]
    """
    errors = values - y[:, np.newaxis]
    largest = float(np.abs(errors).max(initial=0.0))
    if largest > 0.0:
        errors = errors / largest
    if weights is not None:
        errors = errors * np.sqrt(weights / weights.sum())[:, np.newaxis]
    factor = triangular_factor(errors.T)  # at most as many rows as members
    sizes = np.sqrt((factor**2).sum(axis=0))
    least = float(sizes.min())
    if least == 0.0:
        return np.asarray((sizes == 0.0) / (sizes == 0.0).sum())
    # Columns of one length, and a last row as large as the best member is wrong: members that are
    # far off do not drown the others.
    found = nonnegative_weights(
        (np.vstack([factor, np.full(len(sizes), least)]) / sizes).T,
        np.append(np.zeros(len(factor)), least),
    )
    found = found / sizes
    return np.asarray(found / found.sum())


class _Convex(BaseEstimator, ABC):
    """What both meta-learners share: weights, learnt or given."""

    weights: list[float] | None

    weights_: Floats
    n_features_in_: int

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_features_in_": whole(1, size="features"),
        "weights_": array("f8", "members", finite=True),
    }

    def _learn(self, X: Any, learnt: Callable[[], Floats]) -> None:
        given = self.weights
        self.weights_ = learnt() if given is None else np.asarray(given, np.float64)
        self.n_features_in_ = AnyTable(X).n_features


def _first_columns(X: Any, n_columns: int) -> Floats:
    own = AnyTable(X).take(None, np.arange(n_columns))
    return np.asarray(own.toarray() if issparse(own) else own, np.float64)


@register("ConvexClassifier")
class ConvexClassifier(ClassifierMixin, _Convex):
    """A mixture of the probabilities of the members, see `mixture_weights`.

    Members that have no probabilities vote.

    Parameters
    ----------
    n_classes : int
        Number of classes; targets are their codes.
    methods : list of str
        The form of the predictions of each member. Its columns follow those of the member before.
    weights : list of float or None
        Given weights, which are then not learnt.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_classes": whole(1, 2**20),
        "methods": list_of(one_of(*METHODS, "log_odds"), "members", least=1),
    }

    def __init__(
        self, n_classes: int, methods: list[str], weights: list[float] | None = None
    ) -> None:
        self.n_classes = n_classes
        self.methods = methods
        self.weights = weights

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The codes of the classes."""
        return np.arange(self.n_classes)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConvexClassifier:
        """Learn the weights."""
        predicted = self._shares(X)
        codes = np.asarray(y).astype(np.intp)[:, np.newaxis, np.newaxis]
        own = np.take_along_axis(predicted, codes, axis=2)[:, :, 0]
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        self._learn(X, lambda: mixture_weights(own, weights))
        return self

    def _widths(self) -> list[int]:
        """Return the number of columns of each member."""
        several = 1 if self.n_classes == 2 else self.n_classes
        return [1 if method == "predict" else several for method in self.methods]

    def _shares(self, X: Any) -> Floats:
        """Return the probabilities or votes of the members, (n_rows, n_members, n_classes)."""
        widths = self._widths()
        columns = _first_columns(X, sum(widths))
        parts = np.split(columns, np.cumsum(widths)[:-1], axis=1)
        return np.stack(
            [self._as_shares(part, how) for part, how in zip(parts, self.methods, strict=True)],
            axis=1,
        )

    def _as_shares(self, values: Floats, method: str) -> Floats:
        if method == "predict_proba":
            is_short = self.n_classes == 2  # the column of the first class was left out
            return np.hstack([1 - values, values]) if is_short else values
        if method == "log_odds":
            shares = self._as_shares(expit(values), "predict_proba")
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))
        is_short = method == "decision_function" and self.n_classes == 2
        scores = np.hstack([-values, values]) if is_short else values
        codes = values[:, 0].astype(np.intp) if method == "predict" else scores.argmax(axis=1)
        return np.asarray(np.eye(self.n_classes)[codes])

    def predict_proba(self, X: Any) -> Floats:
        """Return the mixture of the probabilities."""
        return np.asarray(np.einsum("nmk,m->nk", self._shares(X), self.weights_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest probability."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if hasattr(self, "weights_") and sum(self._widths()) != self.n_features_in_:
            raise ValueError("the methods of the members do not fit the columns")


@register("ConvexRegressor")
class ConvexRegressor(RegressorMixin, _Convex):
    """A weighted mean of the predictions of the members, see `blend_weights`.

    Parameters
    ----------
    n_members : int
        Number of members, whose columns come first.
    weights : list of float or None
        Given weights, which are then not learnt.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {"n_members": whole(1, size="members")}

    def __init__(self, n_members: int, weights: list[float] | None = None) -> None:
        self.n_members = n_members
        self.weights = weights

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConvexRegressor:
        """Learn the weights."""
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        values, truth = _first_columns(X, self.n_members), np.asarray(y, np.float64)
        self._learn(X, lambda: blend_weights(values, truth, weights))
        return self

    def predict(self, X: Any) -> Floats:
        """Return the weighted mean."""
        return weighted_sum(self.weights_, _first_columns(X, self.n_members).T)
