"""Scores of committees, from the predictions of their members on rows with a known target.

A committee is a weighted mean of predictions, and a *scorer* scores such means: one of them, or all
that come of one more member. The greater a score the better. Squared errors need only the products
of the members' errors, log loss only the probabilities of the true classes; any other metric needs
the mean itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.base.products import dot, weighted_products, weighted_sum
from committee.evaluation.metric_names import scorer_name
from committee.evaluation.quick_scores import areas_under_curve
from committee.evaluation.scored_target import OobMetric, ScoredTarget

# So many numbers are worked on at a time: they stay in the cache.
_BLOCK = 2**17

# scikit-learn's log loss does not let a probability be smaller.
_LEAST = float(np.finfo(np.float64).eps)

_FACTORS = 16  # probabilities that are multiplied before their logarithm is taken


@dataclass(frozen=True, eq=False)
class MemberPredictions:
    """Predictions of members on rows, and the target.

    Parameters
    ----------
    predicted : ndarray of float64, shape (n_members, n_rows, n_values)
        Probabilities, votes or numbers.
    target : ScoredTarget
        The truth, and the weights of the rows.
    scoring : str or callable
        "neg_log_loss", "neg_brier", "neg_mean_squared_error", "neg_root_mean_squared_error", "r2",
        "accuracy" and "roc_auc" are computed for all members at once; any other name of a scorer,
        metric or scorer one after the other.

    Examples
    --------
    >>> predicted = np.array([[[1.0], [2.0]], [[3.0], [2.0]]])
    >>> target = ScoredTarget(reals=np.array([[2.0], [2.0]]))
    >>> scorer = MemberPredictions(predicted, target, "neg_mean_squared_error").scorer()
    >>> scorer.alone().tolist(), scorer.of(np.array([1.0, 1.0]))
    ([-0.5, -0.5], -0.0)
    """

    predicted: Floats
    target: ScoredTarget
    scoring: Any

    @property
    def n_members(self) -> int:
        return len(self.predicted)

    @property
    def n_rows(self) -> int:
        return int(self.predicted.shape[1])

    def part(self, rows: Rows) -> MemberPredictions:
        """Return the predictions on some rows."""
        return replace(self, predicted=self.predicted[:, rows], target=self.target.part(rows))

    def mean(self, weights: Floats) -> Floats:
        """Return the weighted mean of the members."""
        return weighted_sum(weights / weights.sum(), self.predicted)

    def scorer(self) -> CommitteeScorer:
        """Return the scorer of committees of these members on these rows."""
        name, one_output = scorer_name(self.scoring), self.target.n_outputs == 1
        if self.target.classes:
            if name == "neg_brier":
                return SquaredError(self)
            if one_output and name == "neg_log_loss":
                return LogLoss(self)
            if one_output and name == "accuracy":
                return Accuracy(self)
            if one_output and name == "roc_auc" and len(self.target.classes[0]) == 2:
                return AreaUnderCurve(self)
        elif isinstance(name, str) and name in SQUARED and (one_output or name in _MEANS):
            return SquaredError(self)
        return AnyMetric(self)

    @cached_property
    def shares(self) -> Floats:
        """The share of each row in a mean over the rows."""
        weights = self.target.weights
        if weights is None:
            return np.full(self.n_rows, 1.0 / self.n_rows)
        return np.asarray(weights / weights.sum())


class CommitteeScorer(ABC):
    """Scores committees of the members of some predictions."""

    n_members: int

    @abstractmethod
    def of(self, weights: Floats) -> float:
        """Return the score of a weighted mean."""

    @abstractmethod
    def after(self, weights: Floats, steps: Floats, among: NDArray[np.int64]) -> Floats:
        """Return the score of each committee that comes of adding to the weight of one member.

        Parameters
        ----------
        weights : ndarray of float64, shape (n_members,)
            The committee so far.
        steps : ndarray of float64, shape (n_members,)
            What is added.
        among : ndarray of int64
            The members to add, one at a time.
        """

    def alone(self) -> Floats:
        """Return the score of each member by itself."""
        every = np.arange(self.n_members)
        return self.after(np.zeros(self.n_members), np.ones(self.n_members), every)

    def along(self, members: NDArray[np.int64], steps: Floats) -> Floats:
        """Return the score after each of some members has joined, in their order."""
        weights, scores = np.zeros(self.n_members), []
        for member in members:
            weights[member] += steps[member]
            scores.append(self.of(weights))
        return np.array(scores)


# --- squared errors -----------------------------------------------------------------------------

# With several outputs these are means over them, of which the others are not made.
_MEANS = ("neg_brier", "neg_mean_squared_error")

# The score that a mean squared error gives, by the variance of the target.
SQUARED: dict[str, Callable[[Any, float], Any]] = {
    "neg_brier": lambda error, spread: -error,
    "neg_mean_squared_error": lambda error, spread: -error,
    "neg_root_mean_squared_error": lambda error, spread: -np.sqrt(error),
    # As in scikit-learn, nothing is explained of a target without variance.
    "r2": lambda error, spread: 1 - error / spread if spread > 0 else np.where(error > 0, 0.0, 1.0),
}


class SquaredError(CommitteeScorer):
    """Squared errors of means, from the products of the errors of all pairs of members.

    The squared error of a weighted mean is w'Pw: a step costs no look at the rows.
    """

    def __init__(self, predictions: MemberPredictions) -> None:
        target = predictions.target
        self.n_members = predictions.n_members
        self._score_of, self._spread = SQUARED[predictions.scoring], 0.0
        if predictions.scoring == "r2":
            self._spread = target.spread()
        truth = one_hot(target) if target.classes else target.table
        errors = (predictions.predicted - truth).reshape(self.n_members, -1)
        shares = np.repeat(predictions.shares / target.n_outputs, truth.shape[1])
        self._products = weighted_products(errors, shares)

    def of(self, weights: Floats) -> float:
        share = weights / weights.sum()
        error = dot(share, self._cross(share))
        return float(self._score_of(max(error, 0.0), self._spread))

    def after(self, weights: Floats, steps: Floats, among: NDArray[np.int64]) -> Floats:
        cross, step = self._cross(weights), steps[among]
        own = step**2 * np.diagonal(self._products)[among]
        error = dot(weights, cross) + 2 * step * cross[among] + own
        error /= (weights.sum() + step) ** 2
        return np.asarray(self._score_of(np.maximum(error, 0.0), self._spread))

    def _cross(self, weights: Floats) -> Floats:
        return np.asarray(np.einsum("m,mn->n", weights, self._products))


def one_hot(target: ScoredTarget) -> Floats:
    """Return the truth as probabilities, the columns of all outputs side by side."""
    assert target.codes is not None
    parts = [np.eye(len(labels))[target.codes[:, k]] for k, labels in enumerate(target.classes)]
    return np.hstack(parts)


# --- one row at a time --------------------------------------------------------------------------


class _RowByRow(CommitteeScorer):
    """Scores that are means over the rows, of sums of predictions that all candidates share."""

    def __init__(self, predicted: Floats, predictions: MemberPredictions) -> None:
        self.n_members = predictions.n_members
        self._predicted = np.ascontiguousarray(predicted)  # members first, rows last
        self._shares = None if predictions.target.weights is None else predictions.shares

    @abstractmethod
    def _scores(self, sums: Floats, wholes: Floats) -> Floats:
        """Return the scores of committees from sums of predictions, and the weights in these."""

    def of(self, weights: Floats) -> float:
        sums = weighted_sum(weights, self._predicted)
        return float(self._scores(sums[np.newaxis], weights.sum(keepdims=True))[0])

    def after(self, weights: Floats, steps: Floats, among: NDArray[np.int64]) -> Floats:
        total, whole = weighted_sum(weights, self._predicted), weights.sum()
        size = max(1, _BLOCK // max(total.size, 1))
        scores = []
        for begin in range(0, len(among), size):
            part = among[begin : begin + size]
            sums = self._predicted[part]
            sums *= steps[part].reshape((-1,) + (1,) * total.ndim)
            sums += total
            scores.append(self._scores(sums, whole + steps[part]))
        return np.concatenate(scores)

    def along(self, members: NDArray[np.int64], steps: Floats) -> Floats:
        sums, whole, scores = np.zeros((1, *self._predicted.shape[1:])), np.zeros(1), []
        for member in members:
            sums += steps[member] * self._predicted[member]
            whole += steps[member]
            scores.append(float(self._scores(sums.copy(), whole)[0]))
        return np.array(scores)


class LogLoss(_RowByRow):
    """Minus the log loss: the mean logarithm of the probability of the true class."""

    def __init__(self, predictions: MemberPredictions) -> None:
        assert predictions.target.codes is not None
        codes = predictions.target.codes[:, 0]
        super().__init__(predictions.predicted[:, np.arange(len(codes)), codes], predictions)

    def _scores(self, sums: Floats, wholes: Floats) -> Floats:
        np.maximum(sums, _LEAST * wholes[:, np.newaxis], out=sums)
        if self._shares is not None:
            return np.asarray((np.log(sums) * self._shares).sum(axis=1) - np.log(wholes))
        # The logarithm of a product of some rows, which is neither too small nor too large for a
        # double, is faster than so many logarithms.
        n_rows = sums.shape[1]
        n_long = n_rows - n_rows % _FACTORS
        products = np.multiply.reduce(sums[:, :n_long].reshape(len(sums), _FACTORS, -1), axis=1)
        total = np.log(products).sum(axis=1) + np.log(sums[:, n_long:]).sum(axis=1)
        return np.asarray(total / n_rows - np.log(wholes))


class Accuracy(_RowByRow):
    """Share of the rows whose class has the largest mean; the first class wins ties."""

    def __init__(self, predictions: MemberPredictions) -> None:
        assert predictions.target.codes is not None
        codes = predictions.target.codes[:, 0]
        order = np.argsort(codes, kind="stable")  # rows of a class side by side
        super().__init__(predictions.predicted.transpose(0, 2, 1)[:, :, order], predictions)
        self._shares = None if self._shares is None else self._shares[order]
        sizes = np.bincount(codes, minlength=predictions.predicted.shape[2])
        ends = np.cumsum(sizes)
        self._rows_of = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]

    def _scores(self, sums: Floats, wholes: Floats) -> Floats:
        is_right = np.empty((len(sums), sums.shape[2]), bool)
        for code, rows in enumerate(self._rows_of):
            own = sums[:, code, rows]
            before = sums[:, :code, rows].max(axis=1, initial=-np.inf)
            behind = sums[:, code + 1 :, rows].max(axis=1, initial=-np.inf)
            is_right[:, rows] = (own > before) & (own >= behind)
        return np.asarray(
            is_right.mean(axis=1) if self._shares is None else (is_right * self._shares).sum(axis=1)
        )


class AreaUnderCurve(_RowByRow):
    """Area under the ROC curve of two classes: the share of pairs in the right order.

    NaN where the rows have one class.
    """

    def __init__(self, predictions: MemberPredictions) -> None:
        assert predictions.target.codes is not None
        super().__init__(predictions.predicted[:, :, 1], predictions)
        weights = predictions.target.weights
        self._weights = np.ones(predictions.n_rows) if weights is None else weights
        self._is_second = predictions.target.codes[:, 0] == 1

    def _scores(self, sums: Floats, wholes: Floats) -> Floats:
        return areas_under_curve(sums, self._is_second, self._weights)


# --- anything else ------------------------------------------------------------------------------


class AnyMetric(CommitteeScorer):
    """Any metric or scorer, computed for one committee after the other.

    Bags and rounds come upon the same committees again and again; each is scored once.
    """

    def __init__(self, predictions: MemberPredictions) -> None:
        self.n_members = predictions.n_members
        self._predicted = predictions.predicted
        self._metric = OobMetric(predictions.target, predictions.scoring, "scoring")
        self._all_rows: Rows = np.arange(predictions.n_rows)
        self._known: dict[bytes, float] = {}

    def of(self, weights: Floats) -> float:
        share = weights / weights.sum()
        return self._score(share, lambda: weighted_sum(share, self._predicted))

    def after(self, weights: Floats, steps: Floats, among: NDArray[np.int64]) -> Floats:
        total = weighted_sum(weights, self._predicted)
        return np.array([self._one_more(weights, total, int(k), steps[k]) for k in among])

    def _one_more(self, weights: Floats, total: Floats, member: int, step: float) -> float:
        share = weights.copy()
        share[member] += step
        whole = share.sum()
        return self._score(share / whole, lambda: (total + step * self._predicted[member]) / whole)

    def along(self, members: NDArray[np.int64], steps: Floats) -> Floats:
        total, whole, scores = np.zeros(self._predicted.shape[1:]), 0.0, []
        for member in members:
            total += steps[member] * self._predicted[member]
            whole += steps[member]
            scores.append(self._metric.score(total / whole, self._all_rows))
        return np.array(scores)

    def _score(self, share: Floats, mean: Callable[[], Any]) -> float:
        key = share.tobytes()
        if key not in self._known:
            self._known[key] = self._metric.score(np.asarray(mean()), self._all_rows)
        return self._known[key]
