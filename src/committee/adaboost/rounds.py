"""The rounds of AdaBoost for classes: fit a weak learner, weigh its vote, update row weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.adaboost.learners import WeakLearner, WeakModel
from committee.adaboost.trace import RoundLog
from committee.adaboost.vote_rule import VoteRule, WeightedVote
from committee.base.arrays import Floats
from committee.base.work import Progress

if TYPE_CHECKING:
    from committee import _core

# Called after each round with the weak model, its vote and the number of rounds; returns the score
# of validation rows and whether to stop.
Validate = Callable[[WeakModel, WeightedVote, int], tuple[float, bool]]


@dataclass(eq=False)
class Rounds:
    """Members in the order of rounds, and their log.

    Attributes
    ----------
    members : list of _core.Tree or estimators
        One a round.
    log : RoundLog
        Error, weight and the like of each round.
    is_chance : bool
        Whether the first learner was no better than chance.
    ending : str
        Why there are no more rounds, in words.
    """

    members: list[Any] = field(default_factory=list)
    log: RoundLog = field(default_factory=RoundLog)
    is_chance: bool = False
    ending: str = "as given"

    @property
    def weights(self) -> Floats:
        """Weight of the vote of each member."""
        return np.array(self.log.weight)


def run_rounds(
    learner: WeakLearner,
    rows: _core.BoostedRows,
    rule: VoteRule,
    n_rounds: int,
    *,
    validate: Validate | None = None,
    keep_weights: bool = False,
    progress: Progress | None = None,
) -> Rounds:
    """Run up to `n_rounds` rounds.

    They end early when a learner is perfect (it is the last), when one is no better than chance (it
    is left out, unless it is the only one), and when `validate` returns True.
    """
    rounds = Rounds()
    bound, sum_of_weights = 1.0, 0.0
    for number in range(n_rounds):
        distribution = rows.distribution() if keep_weights else None
        # Where rows are drawn, chance may repeat the last learner, which is now no better than
        # guessing: another draw may be.
        for attempt in range(1 + learner.n_redraws):
            model = learner.fit(rows, number + attempt * 2**32)
            vote = rule.vote(model.shares, model.predicted, sum_of_weights, model.predicted_shares)
            if not vote.is_useless:
                break
        if vote.is_useless:
            if number > 0:
                rounds.ending = f"the learner of round {number + 1} was no better than chance"
                break
            # There has to be a member: it predicts the majority, or whatever it does.
            rounds.is_chance = True
            vote = rule.lone(vote, model.predicted)
        bound *= vote.normalizer
        sum_of_weights += abs(vote.weight)
        train_error = rows.add_votes(model.groups, vote.votes)
        rounds.members.append(model.member)
        score, stops = (np.nan, False) if validate is None else validate(model, vote, number + 1)
        rounds.log.add(
            distribution,
            error=vote.error,
            weight=vote.weight,
            normalizer=vote.normalizer,
            bound=bound if rule.has_bound else np.nan,
            train_error=train_error,
            validation_score=score,
        )
        if progress is not None:
            progress.show(number + 1)
        if rounds.is_chance:
            rounds.ending = "the learner of round 1 was no better than chance"
        elif vote.is_perfect:
            rounds.ending = "the last learner makes no error"
        elif stops:
            rounds.ending = "no better score of held-out rows since"
        if stops or vote.is_perfect or rounds.is_chance:
            break
        if number + 1 < n_rounds:
            rows.reweigh(model.groups, vote.factors, vote.growth)
    return rounds
