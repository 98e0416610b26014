"""Losses of the residual y - score: squared, absolute, Huber and quantile.

A score is the prediction. But for the squared error, the second derivative is zero or does not
depend on the distance of the minimum: trees are grown on gradients with a hessian of 1, and the
leaves take the median, quantile or M-estimate of their residuals (Friedman 2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_real, is_real
from committee.files.codec_classes import register
from committee.losses.arithmetic import (
    LARGEST,
    Target,
    check_numbers,
    group_quantiles,
    residuals,
    safe_ratio,
    saturated,
    sums_of_leaves,
    weighted_mean,
    weighted_quantile,
)
from committee.losses.loss import Loss


@register("SquaredError")
@dataclass(frozen=True)
class SquaredError(Loss):
    """Half the squared error, (y - score)^2 / 2; the model is the mean.

    The negative gradient is the residual y - score: boosting fits trees to residuals.

    Examples
    --------
    The four rows of lecture 004, and their residuals from the mean:

    >>> import numpy as np
    >>> loss, y = SquaredError(), np.array([60.0, 70.0, 65.0, 30.0])
    >>> start = loss.initial_scores(y, None)
    >>> start.tolist()
    [56.25]
    >>> gradient, hessian = loss.gradients(y, np.full(4, start))
    >>> (-gradient).tolist()
    [3.75, 13.75, 8.75, -26.25]
    """

    has_unit_hessian = True
    depends_on_residual_only = True

    def check_target(self, y: Target) -> None:
        """Raise ValueError unless the target is finite."""
        check_numbers(y, "squared_error")

    def initial_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return the weighted mean."""
        return np.array([weighted_mean(_numbers(y), weights)])

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return half the squared residuals."""
        with np.errstate(over="ignore"):
            return saturated(residuals(y, scores) ** 2 / 2)

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return score - y, and ones."""
        return -residuals(y, scores), np.ones(scores.shape)


@register("AbsoluteError")
@dataclass(frozen=True)
class AbsoluteError(Loss):
    """The absolute error, ``|y - score|``; the model is the median, and outliers hardly matter.

    The negative gradient is the sign of the residual, zero for a residual of zero. A leaf takes
    the weighted median of its residuals.

    Examples
    --------
    >>> import numpy as np
    >>> loss, y = AbsoluteError(), np.array([1.0, 2.0, 3.0, 1000.0])
    >>> loss.initial_scores(y, None).tolist()
    [2.5]
    >>> loss.leaf_value(y, np.zeros(4), np.array([3.0, 1.0, 1.0, 0.0]))
    1.0
    """

    refits_leaves = True
    has_unit_hessian = True
    depends_on_residual_only = True

    def check_target(self, y: Target) -> None:
        """Raise ValueError unless the target is finite."""
        check_numbers(y, "absolute_error")

    def initial_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return the weighted median."""
        return np.array([weighted_quantile(_numbers(y), weights, 0.5)])

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return absolute residuals."""
        return np.abs(residuals(y, scores))

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return the sign of score - y, and ones."""
        return np.sign(-residuals(y, scores)), np.ones(scores.shape)

    def leaf_values(
        self,
        y: Target,
        scores: Floats,
        weights: Floats | None,
        leaf: NDArray[np.integer],
        n_leaves: int,
        column: int = 0,
    ) -> Floats:
        """Return the weighted median of the residuals of each leaf."""
        return group_quantiles(residuals(y, scores), weights, leaf, n_leaves, 0.5)


@register("Huber")
@dataclass(frozen=True)
class Huber(Loss):
    r"""Squared error for small residuals r, absolute error beyond a point `delta`.

    .. math:: r^2 / 2 \text{ if } |r| \le \delta, \quad \delta |r| - \delta^2 / 2 \text{ otherwise}

    Both branches meet at `delta` in value and slope. (Lecture 002 prints ``delta / 2`` in the
    outer branch and the inner slope with the wrong sign; with those the loss would jump.)

    Parameters
    ----------
    quantile : float, default=0.9
        In (0, 1). `delta` is this weighted quantile of \|residual\|, estimated anew for each
        round (`prepare`): this share of the rows counts as inliers. scikit-learn's ``alpha``.
    delta : float or None, default=None
        A fixed `delta`, in units of the target; `quantile` is then not used.

    Notes
    -----
    A leaf takes one step from the median m of its residuals towards the M-estimate, as Friedman
    (2001) does: m plus the mean of ``clip(r - m, -delta, delta)``. The first score is the median,
    and the minimum itself if `delta` is fixed.

    Losses of two rounds compare only at the same `delta`: to stop early, keep one prepared loss.

    Examples
    --------
    >>> import numpy as np
    >>> y, scores = np.array([0.0, 1.0, 2.0, 50.0]), np.ones(4)
    >>> loss = Huber(quantile=0.7).prepare(y, scores, None)
    >>> loss
    Huber(quantile=0.7, delta=1.0)
    >>> loss.row_losses(y, scores).tolist()
    [0.5, 0.0, 0.5, 48.5]
    >>> gradient, hessian = loss.gradients(y, scores)
    >>> (-gradient).tolist()
    [-1.0, 0.0, 1.0, 1.0]
    """

    quantile: float = 0.9
    delta: float | None = None
    refits_leaves = True
    has_unit_hessian = True
    depends_on_residual_only = True

    def __post_init__(self) -> None:
        share = check_real("quantile", self.quantile, 0, 1, include_low=False, include_high=False)
        delta = check_real("delta", self.delta, 0, include_low=False, none=True)
        object.__setattr__(self, "quantile", share)
        object.__setattr__(self, "delta", delta)

    def check_target(self, y: Target) -> None:
        """Raise ValueError unless the target is finite."""
        check_numbers(y, "huber")

    def prepare(self, y: Target, scores: Floats, weights: Floats | None) -> Huber:
        """Return a loss with `delta` estimated from the rows, unless it is fixed.

        Keep the loss that the user gave, and prepare that one for each round: a prepared loss has
        a fixed `delta`.
        """
        if self.delta is not None:
            return self
        sizes = np.abs(residuals(y, scores))
        delta = weighted_quantile(sizes, weights, self.quantile)
        if delta == 0:
            # Most rows are fitted exactly. The least error left over keeps a slope to descend.
            left = sizes[sizes > 0] if weights is None else sizes[(sizes > 0) & (weights > 0)]
            delta = float(left.min()) if len(left) > 0 else 1.0
        return replace(self, delta=delta)

    def initial_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return the weighted median; for a fixed `delta`, the minimum itself."""
        values = _numbers(y)
        median = weighted_quantile(values, weights, 0.5)
        if self.delta is None:
            return np.array([median])
        # Newton steps on a slope of straight pieces, kept between bounds: at median +- delta half
        # of the rows pull back as hard as any row can.
        low, high = median - self.delta, median + self.delta
        score = median
        for _ in range(100):
            errors = residuals(values, np.array(score))
            pull = weighted_mean(self._clipped(errors), weights)
            inside = weighted_mean((np.abs(errors) < self.delta).astype(np.float64), weights)
            low, high = (score, high) if pull > 0 else (low, score)
            nearer = score + pull / inside if inside > 0 else low / 2 + high / 2
            if abs(nearer - score) <= 1e-12 * self.delta + 1e-15 * abs(score):
                break
            score = nearer if low < nearer < high else low / 2 + high / 2
        return np.array([min(max(score, -LARGEST), LARGEST)])

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return half the squares of small residuals, and straight lines beyond."""
        sizes = np.abs(residuals(y, scores))
        delta = self._known_delta()
        inner = np.minimum(sizes, delta)
        with np.errstate(over="ignore"):
            return saturated(inner * (sizes - inner / 2))

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return score - y, clipped to +-delta, and ones."""
        return -self._clipped(residuals(y, scores)), np.ones(scores.shape)

    def leaf_values(
        self,
        y: Target,
        scores: Floats,
        weights: Floats | None,
        leaf: NDArray[np.integer],
        n_leaves: int,
        column: int = 0,
    ) -> Floats:
        """Return Friedman's one-step M-estimate of the residuals of each leaf."""
        errors = residuals(y, scores)
        medians = group_quantiles(errors, weights, leaf, n_leaves, 0.5)
        pulls = self._clipped(residuals(errors, medians[leaf]))
        ones = np.ones(len(errors))
        pull, total = sums_of_leaves([pulls, ones], weights, leaf, n_leaves)
        return medians + safe_ratio(pull, total)

    def _clipped(self, errors: Floats) -> Floats:
        delta = self._known_delta()
        return np.clip(errors, -delta, delta)

    def _known_delta(self) -> float:
        if self.delta is None:
            raise ValueError("Huber without delta must be prepared: prepare(y, scores, weights)")
        return self.delta


@register("Quantile")
@dataclass(frozen=True)
class Quantile(Loss):
    r"""Quantile (pinball) loss: the model is a quantile of the target, or several at once.

    Residuals r > 0 cost q r and residuals r < 0 cost (1 - q) \|r\|. With several q a row has a
    score and each round a tree for every q, and the loss is the sum over them. A leaf takes the
    weighted quantile of its residuals: the least value that has at least the share q of the weight
    at or below it, and where it has exactly q, the middle of this value and the next.

    Parameters
    ----------
    q : float or sequence of float, default=0.5
        In (0, 1), each once.

    Notes
    -----
    Trees for several q may cross: the score for 0.9 below that for 0.1. `predictions` sorts the
    scores of each row, so that predicted quantiles never cross; that is never worse in the
    pinball loss, summed over q (Chernozhukov et al. 2010, Quantile and probability curves without
    crossing). Scores, gradients and losses are those before sorting.

    Examples
    --------
    >>> import numpy as np
    >>> loss, y = Quantile((0.1, 0.9)), np.arange(1.0, 12.0)
    >>> loss.initial_scores(y, None).tolist()
    [2.0, 10.0]
    >>> loss.predictions(np.array([[3.0, 5.0], [4.0, 2.0]])).tolist()
    [[3.0, 5.0], [2.0, 4.0]]
    >>> Quantile(0.9).row_losses(np.array([1.0, 3.0]), np.array([2.0, 2.0])).round(3).tolist()
    [0.1, 0.9]
    """

    q: float | Sequence[float] = 0.5
    refits_leaves = True
    has_unit_hessian = True
    depends_on_residual_only = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", _check_shares(self.q))
        object.__setattr__(self, "n_scores", len(self._shares))

    def check_target(self, y: Target) -> None:
        """Raise ValueError unless the target is finite."""
        check_numbers(y, "quantile")

    def initial_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return weighted quantiles."""
        values = _numbers(y)
        return np.array([weighted_quantile(values, weights, share) for share in self._shares])

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return the pinball loss of each row, summed over the quantiles."""
        errors = self._residuals(y, scores)
        losses = np.zeros(len(errors))
        for column, share in enumerate(self._shares):
            error = errors[:, column]
            losses += np.maximum(share * error, (share - 1) * error)
        return saturated(losses)

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return -q above the score and 1 - q below it (zero where they are equal), and ones."""
        errors = self._residuals(y, scores)
        gradient = np.empty_like(errors)
        for column, share in enumerate(self._shares):
            error = errors[:, column]
            gradient[:, column] = (error < 0) - share * (error != 0)
        return gradient.reshape(scores.shape), np.ones(scores.shape)

    def leaf_values(
        self,
        y: Target,
        scores: Floats,
        weights: Floats | None,
        leaf: NDArray[np.integer],
        n_leaves: int,
        column: int = 0,
    ) -> Floats:
        """Return the weighted quantile of the residuals of each leaf."""
        errors = residuals(y, scores if scores.ndim == 1 else scores[:, column])
        return group_quantiles(errors, weights, leaf, n_leaves, self._shares[column])

    def predictions(self, scores: Floats) -> Floats:
        """Return the scores of each row in the order of their q; one column for each q given."""
        if isinstance(self.q, float):
            return scores.reshape(len(scores))
        table = scores.reshape(len(scores), -1)
        ordered = np.empty_like(table)
        ordered[:, np.argsort(self._shares)] = np.sort(table, axis=1)
        return ordered

    def scores_of(self, predicted: Floats) -> Floats:
        """Return the predictions."""
        return predicted

    @property
    def _shares(self) -> tuple[float, ...]:
        return (self.q,) if isinstance(self.q, float) else tuple(self.q)

    def _residuals(self, y: Target, scores: Floats) -> Floats:
        """Return a column of residuals for each quantile."""
        return residuals(y[:, np.newaxis], scores.reshape(len(scores), -1))


def _check_shares(q: Any) -> float | tuple[float, ...]:
    if is_real(q):
        return check_real("q", q, 0, 1, include_low=False, include_high=False)
    accepted = "q must be a number in (0, 1), or several different ones"
    if isinstance(q, str) or not isinstance(q, Sequence | np.ndarray):
        raise TypeError(f"{accepted}; got {q!r}")
    shares = tuple(
        check_real("every q", share, 0, 1, include_low=False, include_high=False) for share in q
    )
    if len(shares) == 0 or len(set(shares)) < len(shares):
        raise ValueError(f"{accepted}; got {q!r}")
    return shares


def _numbers(y: Target) -> Floats:
    return np.asarray(y, np.float64)


# A target is shifted if half of it is nearer to the median than this share of the median. For other
# targets the rounding of scores with an offset is far below anything that matters.
_NEAR = 1 / 1024


def offset_of(loss: Loss, y: Target, weights: Floats | None) -> float:
    """Return what should be subtracted from a target before boosting; zero for most targets.

    Losses of `depends_on_residual_only` allow it. Scores near 1e15 are multiples of 1/8: shorter
    steps would vanish from the scores of the training rows, yet add up in the model. The median is
    subtracted from y and from the scores, which is exact.

    Parameters
    ----------
    loss : Loss
        The loss. Its own class has to say so: a class derived from it may depend on y itself.
    y : ndarray, shape (n_rows,)
        Target.
    weights : ndarray of float64 or None
        Weights of the rows; None: each row once.

    Examples
    --------
    >>> y = np.array([0.0, 1.0, 2.0])
    >>> offset_of(SquaredError(), y + 1e15, None), offset_of(SquaredError(), y, None)
    (1000000000000001.0, 0.0)
    """
    if not type(loss).__dict__.get("depends_on_residual_only", False):
        return 0.0
    values = _numbers(y)
    median = weighted_quantile(values, weights, 0.5)
    is_near = (np.abs(residuals(values, np.array(median))) <= _NEAR * abs(median)).astype(
        np.float64
    )
    return median if weighted_mean(is_near, weights) >= 0.5 else 0.0
