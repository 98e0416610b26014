"""Losses of positive quantities with a logarithmic link: Poisson, gamma and Tweedie.

A score s is the logarithm of the prediction e^s. The losses are half the deviances: zero where the
prediction equals the target. They are written in d = s - log y, which neither cancels for large
targets nor overflows; exponents are clipped to +-300.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_bool, check_real
from committee.files.codec_classes import register
from committee.losses.arithmetic import (
    LARGEST,
    LEAST_PREDICTED,
    MAX_EXPONENT,
    Target,
    bounded_exp,
    check_numbers,
    saturated,
    shorten,
    sums_of_leaves,
    weighted_mean,
)
from committee.losses.loss import Loss


class _LogLinkLoss(Loss):
    """What the three losses share; all of them are the Tweedie deviance of a power in [1, 2]."""

    # power: 1 Poisson, 2 gamma. The gradient is e^((2 - power) s) - y e^((1 - power) s).

    least_prediction = 0.0

    def initial_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return the logarithm of the weighted mean."""
        mean = weighted_mean(np.asarray(y, np.float64), weights)
        return np.log([max(mean, np.exp(-MAX_EXPONENT))])

    def hessian_unit(self, initial: Floats) -> float:
        """Return the hessian of a row at the start: e^((2 - power) s).

        It has the unit of the target, so that what is added to sums of hessians must have it too.
        """
        return float(bounded_exp((2.0 - self._power) * initial)[0])

    @property
    @abstractmethod
    def _power(self) -> float:
        """The power of the mean that the variance grows with."""

    def predictions(self, scores: Floats) -> Floats:
        """Return e^score."""
        return bounded_exp(scores)

    def spread(self, predictions: Floats) -> Floats:
        """Return the root of the mean to the power that the variance grows with."""
        means = np.maximum(predictions, LEAST_PREDICTED)
        return np.asarray(means ** (self._power / 2))

    def scores_of(self, predicted: Floats) -> Floats:
        """Return the logarithms, finite for predictions of zero or less."""
        scores: Floats = np.log(np.maximum(predicted, LEAST_PREDICTED))
        return scores

    def safe_steps(self, steps: Floats) -> Floats:
        """Return ``sign(step) log(1 + |step|)``, which cannot overshoot.

        From a prediction of 1 the Newton step to a leaf of mean 1000 is 999 and would predict
        e^999; this one is log 1000.
        """
        return shorten(steps)

    def leaf_values(
        self,
        y: Target,
        scores: Floats,
        weights: Floats | None,
        leaf: NDArray[np.integer],
        n_leaves: int,
        column: int = 0,
    ) -> Floats:
        """Return the exact minimum, log(sum of observed parts / sum of predicted parts).

        At most 300 in size: a leaf of zeros would step to minus infinity.
        """
        top, bottom = sums_of_leaves(self._parts(y, scores), weights, leaf, n_leaves)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(bottom > 0, np.log(top) - np.log(bottom), 0.0)
        return np.clip(steps, -MAX_EXPONENT, MAX_EXPONENT)

    @abstractmethod
    def _parts(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return y e^((1 - power) s) and e^((2 - power) s); the gradient is their difference."""


@register("Poisson")
@dataclass(frozen=True)
class Poisson(_LogLinkLoss):
    """Half the Poisson deviance, for counts and other targets >= 0; the model is the mean.

    For a score s the prediction is e^s and the loss y log(y / e^s) - y + e^s.

    Parameters
    ----------
    refits_leaves : bool, default=False
        True: a leaf takes the exact best step, log(sum(y) / sum(e^s)), rather than a Newton step.

    Examples
    --------
    >>> import numpy as np
    >>> loss, y = Poisson(), np.array([0.0, 1.0, 5.0])
    >>> start = loss.initial_scores(y, None)
    >>> loss.predictions(start).round(9).tolist()
    [2.0]
    >>> gradient, hessian = loss.gradients(y, np.full(3, start))
    >>> (-gradient).round(9).tolist(), hessian.round(9).tolist()
    ([-2.0, -1.0, 3.0], [2.0, 2.0, 2.0])
    """

    refits_leaves: bool = False

    def __post_init__(self) -> None:
        check_bool("refits_leaves", self.refits_leaves)

    @property
    def _power(self) -> float:
        return 1.0

    def check_target(self, y: Target) -> None:
        """Raise ValueError unless all of y is >= 0 and some of it > 0."""
        _check_not_negative(y, "poisson")

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return half the Poisson deviances."""
        distance, is_zero = _distance(y, scores)
        distance = np.minimum(distance, MAX_EXPONENT)
        with np.errstate(over="ignore"):
            losses = y * (np.expm1(distance) - distance)
        return saturated(np.where(is_zero, bounded_exp(scores), losses))

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return e^s - y, and e^s."""
        observed, predicted = self._parts(y, scores)
        return predicted - observed, predicted

    def _parts(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        return np.minimum(np.asarray(y, np.float64), LARGEST), bounded_exp(scores)


@register("Gamma")
@dataclass(frozen=True)
class Gamma(_LogLinkLoss):
    """Half the gamma deviance, for targets > 0 with an error that grows with them.

    For a score s the prediction is e^s and the loss log(e^s / y) + y / e^s - 1.

    Parameters
    ----------
    refits_leaves : bool, default=False
        True: a leaf takes the exact best step, the logarithm of the mean of y / e^s, rather than
        a Newton step.

    Examples
    --------
    >>> import numpy as np
    >>> loss, y = Gamma(), np.array([1.0, 2.0, 9.0])
    >>> loss.predictions(loss.initial_scores(y, None)).round(9).tolist()
    [4.0]
    >>> gradient, hessian = loss.gradients(y, np.zeros(3))
    >>> gradient.round(9).tolist(), hessian.round(9).tolist()
    ([0.0, -1.0, -8.0], [1.0, 2.0, 9.0])
    """

    refits_leaves: bool = False

    def __post_init__(self) -> None:
        check_bool("refits_leaves", self.refits_leaves)

    @property
    def _power(self) -> float:
        return 2.0

    def check_target(self, y: Target) -> None:
        """Raise ValueError unless all of y is > 0."""
        values = check_numbers(y, "gamma")
        wrong = np.flatnonzero(values <= 0)
        if len(wrong) > 0:
            raise ValueError(
                'loss "gamma" needs a target with all y > 0; '
                f"got {values[wrong[0]]:g} in row {wrong[0]}"
            )

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return half the gamma deviances."""
        distance, _ = _distance(y, scores)
        distance = np.maximum(distance, -MAX_EXPONENT)
        return saturated(np.expm1(-distance) + distance)

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return 1 - y / e^s, and y / e^s."""
        observed, predicted = self._parts(y, scores)
        return predicted - observed, observed

    def _parts(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        distance, _ = _distance(y, scores)
        return bounded_exp(-distance), np.ones(scores.shape)


@register("Tweedie")
@dataclass(frozen=True)
class Tweedie(_LogLinkLoss):
    """Half the Tweedie deviance, for targets >= 0 that are often zero, such as claims.

    Between Poisson (power 1) and gamma (power 2); the variance of the target is taken to grow as
    its mean to that power. For a score s the prediction is e^s.

    Parameters
    ----------
    power : float, default=1.5
        In (1, 2), without the ends.
    refits_leaves : bool, default=False
        True: a leaf takes the exact best step, log(sum(y e^((1 - power) s)) /
        sum(e^((2 - power) s))), rather than a Newton step.

    Examples
    --------
    >>> import numpy as np
    >>> loss, y = Tweedie(1.5), np.array([0.0, 0.0, 9.0])
    >>> loss.predictions(loss.initial_scores(y, None)).round(9).tolist()
    [3.0]
    >>> gradient, hessian = loss.gradients(y, np.zeros(3))
    >>> gradient.tolist(), hessian.tolist()
    ([1.0, 1.0, -8.0], [0.5, 0.5, 5.0])
    """

    power: float = 1.5
    refits_leaves: bool = False

    def __post_init__(self) -> None:
        power = check_real("power", self.power, 1, 2, include_low=False, include_high=False)
        object.__setattr__(self, "power", power)
        check_bool("refits_leaves", self.refits_leaves)

    @property
    def _power(self) -> float:
        return self.power

    def check_target(self, y: Target) -> None:
        """Raise ValueError unless all of y is >= 0 and some of it > 0."""
        _check_not_negative(y, "tweedie")

    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return half the Tweedie deviances."""
        rise, fall = 2 - self.power, self.power - 1
        distance, is_zero = _distance(y, scores)
        shape = _bounded_expm1(rise * distance) / rise + _bounded_expm1(-fall * distance) / fall
        with np.errstate(over="ignore"):
            losses = np.power(np.asarray(y, np.float64), rise) * shape
        return saturated(np.where(is_zero, bounded_exp(rise * scores) / rise, losses))

    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return e^((2 - p) s) - y e^((1 - p) s), and its derivative."""
        observed, predicted = self._parts(y, scores)
        hessian = (2 - self.power) * predicted + (self.power - 1) * observed
        return predicted - observed, hessian

    def _parts(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        with np.errstate(over="ignore"):
            observed = np.minimum(y * bounded_exp((1 - self.power) * scores), LARGEST)
        return observed, bounded_exp((2 - self.power) * scores)


def _distance(y: Target, scores: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return score - log y, with y = 1 in place of zero, and where y is zero."""
    values = np.asarray(y, np.float64)
    is_zero = values == 0
    return scores - np.log(np.where(is_zero, 1.0, values)), is_zero


def _bounded_expm1(exponents: Floats) -> Floats:
    return np.expm1(np.minimum(exponents, MAX_EXPONENT))


def _check_not_negative(y: Target, name: str) -> None:
    values = check_numbers(y, name)
    accepted = f'loss "{name}" needs a target with all y >= 0 and a positive sum'
    wrong = np.flatnonzero(values < 0)
    if len(wrong) > 0:
        raise ValueError(f"{accepted}; got {values[wrong[0]]:g} in row {wrong[0]}")
    if not values.any():
        raise ValueError(f"{accepted}; got zeros only")
