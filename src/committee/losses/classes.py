"""Losses of classes: log loss of two and of several classes, and exponential loss.

The target holds codes: 0 and 1, or 0 to K - 1. Two classes have one score, whose sign is the
class; K classes have K scores, of which the largest wins. Exponents are clipped to +-300.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from committee.base.arrays import Floats
from committee.base.params import check_bool, check_choice, check_int
from committee.files.codec_classes import register
from committee.losses.arithmetic import (
    LARGEST,
    LEAST_PREDICTED,
    MAX_EXPONENT,
    Target,
    bounded_exp,
    shorten,
    sums_of_leaves,
    weighted_mean,
)
from committee.losses.loss import Loss


def class_loss(loss: Any, n_classes: int) -> Loss:
    """Return the loss of a name; a loss object is returned as it is, if it is for these classes.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or Loss
        "exponential" is for two classes only.
    n_classes : int
        Number of classes of the target; one class is boosted as two.

    Examples
    --------
    >>> class_loss("log_loss", 2), class_loss("log_loss", 3)
    (BinaryLogLoss(), MultinomialLogLoss(n_classes=3))
    """
    if isinstance(loss, Loss):
        if loss.n_classes is None:
            raise ValueError(f"loss must be a loss of classes for a classifier; got {loss!r}")
        if loss.n_classes != max(n_classes, 2):
            raise ValueError(f"loss must be for {n_classes} classes; got {loss!r}")
        return loss
    if not isinstance(loss, str):
        raise TypeError(f'loss must be "log_loss", "exponential" or a Loss; got {loss!r}')
    check_choice("loss", loss, ("log_loss", "exponential"))
    if loss == "log_loss":
        return BinaryLogLoss() if n_classes <= 2 else MultinomialLogLoss(n_classes)
    if n_classes > 2:
        raise ValueError(f'loss "exponential" is for two classes; got {n_classes} classes')
    return Exponential()


class _ClassLoss(Loss):
    """What losses of classes share."""

    _name = ""

    def check_target(self, y: Target) -> None:
        """Raise ValueError unless the target holds codes of classes."""
        n_classes = self.n_classes or 0
        codes = np.asarray(y)
        kinds = "0 and 1" if n_classes == 2 else f"0 to {n_classes - 1}"
        accepted = f'loss "{self._name}" needs a target of class codes, {kinds}'
        if codes.dtype.kind not in "biuf" or codes.ndim != 1 or len(codes) == 0:
            raise ValueError(f"{accepted}; got an array of {codes.dtype}, shape {codes.shape}")
        # NaN is in no range.
        is_code = (codes >= 0) & (codes < n_classes)
        if codes.dtype.kind == "f":
            is_code &= codes == np.floor(codes)
        wrong = np.flatnonzero(~is_code)
        if len(wrong) > 0:
            raise ValueError(f"{accepted}; got {codes[wrong[0]]} in row {wrong[0]}")

    def safe_steps(self, steps: Floats) -> Floats:
        """Return ``sign(step) log(1 + |step|)``, which cannot overshoot.

        For a row of a class of probability 1e-6 the Newton step is a million; this one is 14.
        """
        return shorten(steps)


class _TwoClassLoss(_ClassLoss):
    """What losses of two classes share: one score, of which the sign is the class."""

    n_classes = 2

    def predictions(self, scores: Floats) -> Floats:
        """Return the code of the likelier class; 0 for a score of zero."""
        return (scores > 0).astype(np.float64)

    def scores_of(self, predicted: Floats) -> Floats:
        """Return the logarithms of the odds of code 1."""
        logs = _logs(predicted)
        return logs[:, 1:] - logs[:, :1]


@register("BinaryLogLoss")
@dataclass(frozen=True)
class BinaryLogLoss(_TwoClassLoss):
    """Log loss of two classes, log(1 + e^(-score)) for code 1 and log(1 + e^score) for code 0.

    The score is the logarithm of the odds of code 1. The negative gradient is y - p, and the
    hessian p (1 - p).

    Examples
    --------
    >>> import numpy as np
    >>> loss, y = BinaryLogLoss(), np.array([0, 1, 1, 1])
    >>> start = loss.initial_scores(y, None)
    >>> loss.probabilities(start).round(9).tolist()
    [[0.25, 0.75]]
    >>> gradient, hessian = loss.gradients(y, np.zeros(4))
    >>> (-gradient).tolist(), hessian.tolist()
    ([-0.5, 0.5, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25])
    >>> round(loss.mean_loss(y, np.zeros(4), None), 4)
    0.6931
    """

    _name = "log_loss"

    def initial_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return the logarithm of the odds, finite for a class without rows."""
        return np.array([_log_odds(y, weights)])

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return -log of the probability of the row's class."""
        margin = _signs(y) * scores
        return np.log1p(np.exp(-np.abs(margin))) + np.maximum(-margin, 0.0)

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return p - y and p (1 - p), without cancellation where p is near 0 or 1."""
        # Few arrays are made: in large tables making them costs as much as the exponentials.
        smaller = np.abs(scores)
        np.negative(np.minimum(smaller, MAX_EXPONENT, out=smaller), out=smaller)
        np.exp(smaller, out=smaller)
        larger = 1.0 / (1.0 + smaller)
        smaller *= larger
        is_one = np.asarray(y) == 1
        miss = np.where(is_one == (scores > 0), smaller, larger)
        larger *= smaller
        return np.negative(miss, out=miss, where=is_one), larger

    def probabilities(self, scores: Floats) -> Floats:
        """Return 1 - p and p, for p = 1 / (1 + e^-score)."""
        return _two_probabilities(scores)


@register("MultinomialLogLoss")
@dataclass(frozen=True)
class MultinomialLogLoss(_ClassLoss):
    """Log loss of several classes (cross-entropy), with a score and a tree for each class.

    Probabilities are the softmax of the scores. For class k the negative gradient is 1 - p for
    rows of the class and -p for others, and the hessian p (1 - p): the diagonal of the matrix of
    second derivatives.

    Parameters
    ----------
    n_classes : int
        At least 2.

    Notes
    -----
    Scores have one degree of freedom too many (a number added to all K changes nothing). Friedman
    (2001) and LightGBM therefore shorten steps by (K - 1) / K, the hessian times K / (K - 1);
    XGBoost doubles the hessian. This loss has no such factor, like scikit-learn's
    HistGradientBoosting: it would be a learning rate by another name. For two classes use
    `BinaryLogLoss`: with two scores both move by a Newton step, their difference by two.

    Scores start at the logarithms of the class shares (lecture 002 starts at 1/K everywhere,
    which softmax ignores).

    Examples
    --------
    >>> import numpy as np
    >>> loss, y = MultinomialLogLoss(3), np.array([0, 1, 1, 2])
    >>> start = loss.initial_scores(y, None)
    >>> loss.probabilities(start[np.newaxis]).round(9).tolist()
    [[0.25, 0.5, 0.25]]
    >>> gradient, hessian = loss.gradients(y, np.tile(start, (4, 1)))
    >>> (-gradient[0]).round(9).tolist()
    [0.75, -0.5, -0.25]
    >>> hessian[0].round(9).tolist()
    [0.1875, 0.25, 0.1875]
    """

    n_classes: int = field()  # without it, the default would be that of the base class
    _name = "log_loss"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_classes", check_int("n_classes", self.n_classes, 2))
        object.__setattr__(self, "n_scores", self.n_classes)

    def initial_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return the logarithms of the class shares, finite for classes without rows."""
        is_class = [(y == code).astype(np.float64) for code in range(self.n_classes)]
        shares = np.array([weighted_mean(each, weights) for each in is_class])
        return _logs(shares)

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return -log of the probability of the row's class."""
        below_top = _below_top(scores)
        own = np.take_along_axis(below_top, _codes(y)[:, np.newaxis], axis=1)[:, 0]
        losses: Floats = np.log(np.exp(below_top).sum(axis=1)) - own
        return losses

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return p - 1 for the row's class and p for others, and p (1 - p)."""
        shares = self.probabilities(scores)
        # Next to 1, where 1 - p has rounded to zero, the hessian stays positive.
        hessian = shares * np.maximum(1.0 - shares, np.finfo(np.float64).epsneg)
        shares[np.arange(len(shares)), _codes(y)] -= 1.0
        return shares, hessian

    def predictions(self, scores: Floats) -> Floats:
        """Return the code of the likeliest class, the first of equals."""
        codes: Floats = scores.argmax(axis=1).astype(np.float64)
        return codes

    def scores_of(self, predicted: Floats) -> Floats:
        """Return the logarithms of probabilities."""
        return _logs(predicted)

    def probabilities(self, scores: Floats) -> Floats:
        """Return the softmax of each row, every class at least about e^-300."""
        parts = np.exp(np.maximum(_below_top(scores), -MAX_EXPONENT))
        parts /= parts.sum(axis=1, keepdims=True)
        return parts


@register("Exponential")
@dataclass(frozen=True)
class Exponential(_TwoClassLoss):
    """Exponential loss of two classes, e^(-score) for code 1 and e^score for code 0: AdaBoost's.

    The score is half the logarithm of the odds of code 1. Rows that are badly wrong count
    exponentially: mislabelled rows do more harm than with log loss.

    Parameters
    ----------
    refits_leaves : bool, default=False
        False: a leaf takes the Newton step (W1 - W0) / (W1 + W0), where W1 and W0 are the sums of
        w e^(-score) and w e^score over its rows of code 1 and 0. This is Gentle AdaBoost (Friedman,
        Hastie and Tibshirani 2000), and what scikit-learn does. True: it takes the exact best
        step, log(W1 / W0) / 2 (Schapire and Singer 1999), at most 300 in size; leaves of one class
        then take very long steps.

    Notes
    -----
    Every leaf has a step of its own. Discrete AdaBoost gives all rows of a round the same
    coefficient and each a vote of -1 or +1; it lowers the same loss and parts company after the
    first rounds. Confidence-rated boosting (Schapire and Singer) is ``refits_leaves=True``.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> loss, y = Exponential(), np.array([0, 1, 1, 1])
    >>> start = loss.initial_scores(y, None)
    >>> loss.probabilities(start).round(9).tolist()
    [[0.25, 0.75]]
    >>> gradient, hessian = loss.gradients(y, np.zeros(4))
    >>> (-gradient).tolist(), hessian.tolist()
    ([-1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0])
    >>> round(loss.leaf_value(y, np.zeros(4), None), 4), round(math.log(3) / 2, 4)
    (0.5493, 0.5493)
    """

    refits_leaves: bool = False
    _name = "exponential"

    def __post_init__(self) -> None:
        check_bool("refits_leaves", self.refits_leaves)

    def initial_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return half the logarithm of the odds, finite for a class without rows."""
        return np.array([_log_odds(y, weights) / 2])

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return e^(-score) for code 1 and e^score for code 0."""
        return bounded_exp(-_signs(y) * scores)

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return minus or plus the row's loss, and the loss: its second derivative is itself."""
        losses = self.row_losses(y, scores)
        return -_signs(y) * losses, losses

    def leaf_values(
        self,
        y: Target,
        scores: Floats,
        weights: Floats | None,
        leaf: NDArray[np.integer],
        n_leaves: int,
        column: int = 0,
    ) -> Floats:
        """Return the exact minimum, log(W1 / W0) / 2, at most 300 in size."""
        losses = self.row_losses(y, scores)
        parts = [np.where(y == 1, losses, 0.0), np.where(y == 1, 0.0, losses)]
        ones, zeros = sums_of_leaves(parts, weights, leaf, n_leaves)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(ones + zeros > 0, (np.log(ones) - np.log(zeros)) / 2, 0.0)
        return np.clip(steps, -MAX_EXPONENT, MAX_EXPONENT)

    def safe_steps(self, steps: Floats) -> Floats:
        """Return the steps: Newton steps of this loss are between -1 and 1 and never overshoot."""
        return steps

    def scores_of(self, predicted: Floats) -> Floats:
        """Return half the logarithms of the odds of code 1."""
        return super().scores_of(predicted) / 2

    def probabilities(self, scores: Floats) -> Floats:
        """Return 1 - p and p, for p = 1 / (1 + e^(-2 score))."""
        return _two_probabilities(2.0 * np.clip(scores, -MAX_EXPONENT, MAX_EXPONENT))


def _signs(y: Target) -> Floats:
    """Return +1 for code 1 and -1 for code 0."""
    return np.where(y == 1, 1.0, -1.0)


def _codes(y: Target) -> NDArray[np.intp]:
    return np.asarray(y).astype(np.intp)


def _logs(shares: Floats) -> Floats:
    """Return logarithms, finite for a class without rows."""
    logs: Floats = np.log(np.maximum(shares, LEAST_PREDICTED))
    return logs


def _log_odds(y: Target, weights: Floats | None) -> float:
    share = weighted_mean((y == 1).astype(np.float64), weights)
    other = weighted_mean((y != 1).astype(np.float64), weights)
    return float(np.log(max(share, LEAST_PREDICTED)) - np.log(max(other, LEAST_PREDICTED)))


def _two_probabilities(log_odds: Floats) -> Floats:
    """Return the probabilities of both classes, each without cancellation."""
    flat = np.asarray(log_odds).reshape(-1)
    return np.column_stack([expit(-flat), expit(flat)])


def _below_top(scores: Floats) -> Floats:
    """Return how far each score is below the largest of its row; zero for the largest."""
    with np.errstate(over="ignore"):
        difference: Floats = scores - scores.max(axis=1, keepdims=True)
    return np.maximum(difference, -LARGEST)
