"""How AdaBoost turns predictions of a weak learner into votes, and its error into new weights.

The learner has put every row into a group (a leaf, or the class it predicts). The input of a round
is the *shares*: how much of the weight each class has in each group. Its output is two tables of
the same shape: votes, which are added to the scores of rows, and factors, which multiply their
weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import Part, one_of, real, whole

VARIANTS = ("discrete", "real", "gentle")
MULTICLASS = ("SAMME", "M1")

# An edge over chance below this is rounding.
NO_EDGE = 1e-10
# Its exponential is finite; only errors below 1e-217 would need more.
_LARGEST_EXPONENT = 500.0


def decisive_weight(sum_of_weights: float) -> float:
    """Return the weight of a perfect member, which would be infinite: it decides, and is finite."""
    return 1.0 + sum_of_weights


@dataclass(slots=True, eq=False)  # not frozen: there is one a round, and that takes its time
class WeightedVote:
    """The vote of a weak learner, its weight, and the update of the weights of rows.

    Attributes
    ----------
    error : float
        Share of the weight that the learner gets wrong.
    weight : float
        Weight of its vote.
    normalizer : float
        What the weights add up to after the round, before they are divided by it.
    votes, factors : ndarray of float64, shape (n_groups, n_classes)
        What is added to scores, and what weights are multiplied by.
    growth : float
        What the factors multiply the sum of all weights by.
    is_perfect : bool
        Whether nothing is wrong: there is nothing left to learn.
    is_useless : bool
        Whether the learner is no better than chance.
    """

    error: float
    weight: float
    normalizer: float
    votes: Floats
    factors: Floats
    growth: float
    is_perfect: bool
    is_useless: bool


@register("VoteRule")
@dataclass(frozen=True)
class VoteRule:
    r"""A variant of AdaBoost.

    Parameters
    ----------
    variant : {"discrete", "real", "gentle"}
        Members vote for a class, with the logarithm of probabilities, or with probabilities.
    multiclass : {"SAMME", "M1"}
        What error a learner may have: less than :math:`1 - 1/K`, or less than one half.
    n_classes : int
        Number of classes, K.
    learning_rate : float
        Factor of the weights of votes.
    smoothing : float
        Share of the weight that is added to each class of a group before probabilities are taken;
        "real" only.

    Examples
    --------
    >>> rule = VoteRule("discrete", "SAMME", 2, 1.0, 0.0)
    >>> vote = rule.vote(np.array([[0.5, 0.2], [0.1, 0.2]]), np.array([0, 1]), 0.0)
    >>> round(vote.error, 12), round(vote.weight, 3), round(vote.normalizer, 3)
    (0.3, 0.847, 0.917)
    """

    variant: str
    multiclass: str
    n_classes: int
    learning_rate: float
    smoothing: float

    _stored_parts: ClassVar[dict[str, Part]] = {
        "variant": one_of(*VARIANTS),
        "multiclass": one_of(*MULTICLASS),
        "n_classes": whole(1),
        "learning_rate": real(0.0),
        "smoothing": real(0.0),
    }

    @property
    def chance(self) -> float:
        """The error that a learner has to stay below."""
        return 0.5 if self.multiclass == "M1" else 1 - 1 / self.n_classes

    @property
    def has_bound(self) -> bool:
        """Whether the product of the normalizers bounds the training error."""
        return self.n_classes == 2 or (self.variant == "discrete" and self.multiclass == "M1")

    def vote(
        self,
        shares: Floats,
        predicted: NDArray[np.intp],
        sum_of_weights: float,
        predicted_shares: Floats | None = None,
    ) -> WeightedVote:
        """Return the weighted vote of a weak learner.

        Parameters
        ----------
        shares : ndarray of float64, shape (n_groups, n_classes)
            Share of all weight of each class in each group.
        predicted : ndarray of int, shape (n_groups,)
            The class that the learner predicts for each group.
        sum_of_weights : float
            Sum of the sizes of the weights of the members before.
        predicted_shares : ndarray of float64, shape (n_groups, n_classes), or None, default=None
            The shares as the learner predicts them, which its votes are made of; None: `shares`.
        """
        is_right = np.zeros(shares.shape, bool)
        is_right[np.arange(len(predicted)), predicted] = True
        total = float(shares.sum())
        # The wrong ones are added up, not taken off one: a small error keeps its digits.
        error = min(float(shares[~is_right].sum()) / total, 1.0)
        if self.variant == "discrete":
            return self._discrete_vote(is_right, error, sum_of_weights)
        own = shares if predicted_shares is None else predicted_shares
        votes = self.learning_rate * self.scores(own)
        factors = np.exp(np.clip(-votes, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
        growth = float((shares * factors).sum()) / total
        is_useless = error > 0 and growth >= 1 - NO_EDGE
        return WeightedVote(error, 1.0, growth, votes, factors, growth, error == 0, is_useless)

    def _discrete_vote(
        self, is_right: NDArray[np.bool_], error: float, sum_of_weights: float
    ) -> WeightedVote:
        weight = self.weight(error, sum_of_weights)
        factor = math.exp(min(weight, _LARGEST_EXPONENT))
        growth = (1 - error) + error * factor
        # The lectures multiply the right ones by exp(-weight / 2), the wrong ones by its inverse.
        is_perfect = error == 0 or (self.n_classes == 2 and error == 1)
        normalizer = 0.0 if is_perfect else growth * math.exp(-weight / 2)
        return WeightedVote(
            error,
            weight,
            normalizer,
            np.where(is_right, weight, 0.0),
            np.where(is_right, 1.0, factor),
            growth,
            is_perfect,
            self._is_useless(error),
        )

    def _is_useless(self, error: float) -> bool:
        if self.n_classes == 2:  # a learner that is mostly wrong votes for the other class
            return abs(1 - 2 * error) <= NO_EDGE
        return self.n_classes > 2 and error >= self.chance - NO_EDGE

    def weight(self, error: float, sum_of_weights: float = 0.0) -> float:
        r"""Return the weight of a vote.

        It is :math:`\eta (\log\frac{1 - \epsilon}{\epsilon} + \log(K - 1))`; M1 is without
        the last term. A perfect learner would have an infinite weight; it gets one more than all
        members before it together, so that it decides.

        Examples
        --------
        >>> rule = VoteRule("discrete", "SAMME", 2, 1.0, 0.0)
        >>> [round(rule.weight(error), 3) for error in (0.3, 0.5, 0.7)]
        [0.847, 0.0, -0.847]
        >>> rule.weight(0.0, sum_of_weights=2.5)
        3.5
        """
        if error == 0:
            return decisive_weight(sum_of_weights)
        if error == 1:
            return -decisive_weight(sum_of_weights)
        n_others = 1 if self.multiclass == "M1" else max(self.n_classes - 1, 1)
        return self.learning_rate * (math.log1p(-error) - math.log(error) + math.log(n_others))

    def scores(self, shares: Floats) -> Floats:
        """Return what members of "real" and "gentle" add to scores, learning rate aside.

        Those of "real" are logarithms of probabilities, those of "gentle" probabilities, both less
        what they would be if all classes were alike.

        Parameters
        ----------
        shares : ndarray of float64, shape (n_groups, n_classes)
            How much of each class a group has, by weight or probability.

        Returns
        -------
        scores : ndarray of float64, shape (n_groups, n_classes)
            Zeros for groups that have nothing.
        """
        n_classes = self.n_classes
        more = self.smoothing if self.variant == "real" else 0.0
        totals = shares.sum(axis=1, keepdims=True) + n_classes * more
        is_empty = totals == 0
        probabilities = np.where(is_empty, 1 / n_classes, (shares + more) / (totals + is_empty))
        centred: Floats
        if self.variant == "gentle":
            centred = (n_classes * probabilities - 1) / max(n_classes - 1, 1)
        else:
            logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
            centred = logs - logs.mean(axis=1, keepdims=True)
        return centred

    def lone(self, vote: WeightedVote, predicted: NDArray[np.intp]) -> WeightedVote:
        """Return the vote of a learner no better than chance that is the only member."""
        if self.variant != "discrete":
            return vote
        votes = np.zeros(vote.votes.shape)
        votes[np.arange(len(predicted)), predicted] = 1.0
        return replace(vote, weight=1.0, votes=votes)
