"""The rounds of AdaBoost for classes: fit, judge, vote, weigh anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.adaboost.learners import Learner, Lesson
from committee.adaboost.trace import RoundLog
from committee.adaboost.vote_rule import Verdict, VoteRule
from committee.base.progress import Progress

if TYPE_CHECKING:
    from committee import _core

Floats = NDArray[np.float64]

# Called after each round with the lesson, the verdict and the number of rounds; returns the score
# of validation rows, NaN without such rows, and whether to stop.
Look = Callable[[Lesson, Verdict, int], tuple[float, bool]]


@dataclass(eq=False)
class Rounds:
    """Members in the order of rounds, and what happened.

    Attributes
    ----------
    members : list of _core.Tree or estimators
        One a round.
    log : RoundLog
        Their numbers.
    knows_nothing : bool
        Whether the first learner was no better than chance.
    """

    members: list[Any] = field(default_factory=list)
    log: RoundLog = field(default_factory=RoundLog)
    knows_nothing: bool = False

    @property
    def weights(self) -> Floats:
        """Weight of the vote of each member."""
        return np.array(self.log.weight)


def run_rounds(
    learner: Learner,
    rows: _core.BoostedRows,
    rule: VoteRule,
    n_rounds: int,
    *,
    look: Look | None = None,
    keep_weights: bool = False,
    progress: Progress | None = None,
) -> Rounds:
    """Run up to `n_rounds` rounds.

    They end early when a learner is perfect (it is the last), when one is no better than chance (it
    is left out, unless it is the only one), and when `look` says so.
    """
    rounds = Rounds()
    bound, sum_of_weights = 1.0, 0.0
    for number in range(n_rounds):
        distribution = rows.distribution() if keep_weights else None
        # Where rows are drawn, chance may repeat the last learner, which is now no better than
        # guessing: another draw may be.
        for attempt in range(1 + learner.n_redraws):
            lesson = learner.learn(rows, number + attempt * 2**32)
            verdict = rule.judge(lesson.shares, lesson.predicted, sum_of_weights, lesson.said)
            if not verdict.is_useless:
                break
        if verdict.is_useless:
            if number > 0:
                break
            # Somebody has to answer: the majority, or whatever the learner says.
            rounds.knows_nothing = True
            verdict = rule.lone(verdict, lesson.predicted)
        bound *= verdict.normalizer
        sum_of_weights += abs(verdict.weight)
        train_error = rows.add_votes(lesson.groups, verdict.votes)
        rounds.members.append(lesson.member)
        score, stops = (np.nan, False) if look is None else look(lesson, verdict, number + 1)
        rounds.log.add(
            distribution,
            error=verdict.error,
            weight=verdict.weight,
            normalizer=verdict.normalizer,
            bound=bound if rule.has_bound else np.nan,
            train_error=train_error,
            validation_score=score,
        )
        if progress is not None:
            progress.show(number + 1)
        if stops or verdict.is_perfect or rounds.knows_nothing:
            break
        if number + 1 < n_rounds:
            rows.reweigh(lesson.groups, verdict.factors, verdict.growth)
    return rounds
