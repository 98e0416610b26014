"""The search: candidates are fitted in their order, as long as the budget lasts."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from committee.auto.bags import Bag, FoldTeams
from committee.auto.budget import Budget
from committee.auto.folds import Split
from committee.auto.leaderboard import Entry, Leaderboard
from committee.auto.portfolio import Candidate
from committee.base.arrays import Floats
from committee.base.warn import warn
from committee.boosting.fit import BoostingModel
from committee.evaluation.scored_target import OobMetric

_log = logging.getLogger(__name__)

_LEAST_ROUNDS = 50  # of boosting: fewer are not worth to begin
_FIRST_SHARE, _SHARE = 0.6, 0.5  # of the work that is left, for a candidate that may go on


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found.

    Attributes
    ----------
    bags : list of Bag
        The fitted candidates, in the order of the search.
    is_interrupted : bool
        Whether Ctrl-C ended it.
    reason : str
        Why it ended, in words.
    """

    bags: list[Bag]
    is_interrupted: bool
    reason: str


@dataclass(frozen=True, eq=False)
class Search:
    """A search that has not begun.

    Attributes
    ----------
    teams : FoldTeams
        What candidates are fitted to.
    candidates : sequence of Candidate
        In the order in which they are tried.
    budget : Budget
        What may be done; what was done is counted there.
    metric : OobMetric
        Scores candidates, for messages.
    name : str
        The class of the estimator, for messages.
    verbose : int
        1 writes a line to stderr for each candidate.
    """

    teams: FoldTeams
    candidates: Sequence[Candidate]
    budget: Budget
    metric: OobMetric
    name: str
    verbose: int

    def run(self) -> Found:
        """Fit candidates as long as the budget lasts.

        Once there is a member, the first Ctrl-C ends the search and keeps what there is.
        """
        bags: list[Bag] = []
        for number, candidate in enumerate(self.candidates):
            if bags and (self.budget.left < self._least(candidate) or self.budget.is_late()):
                _log.debug("%s: left out, %.1f units are left", candidate.name, self.budget.left)
                continue  # a later one may be cheaper
            share = _SHARE if bags else _FIRST_SHARE
            try:
                bags.append(self.teams.fit(candidate, number, self.budget, share))
            except KeyboardInterrupt:
                if not bags:
                    raise
                warn(
                    f"the search was interrupted; the committee is chosen from the {len(bags)} "
                    "model(s) fitted so far",
                )
                return Found(bags, True, "the search was interrupted")
            self._show(bags[-1])
        reason = "all were tried"
        if len(bags) < len(self.candidates):
            reason = "the time is up" if self.budget.is_late() else "the budget is used up"
        return Found(bags, False, reason)

    def _least(self, candidate: Candidate) -> float:
        """Return the units below which a candidate is not worth to begin."""
        units = candidate.cost * len(self.teams.splits) * self.teams.share_of_rows
        return units * (_LEAST_ROUNDS if isinstance(candidate.estimator, BoostingModel) else 1)

    def _show(self, bag: Bag) -> None:
        if _log.isEnabledFor(logging.DEBUG):
            score = self.metric.score(bag.predictions, np.arange(len(bag.predictions)))
            _log.debug("%s: score %.4g, %.2f s", bag.candidate.name, score, bag.seconds)
        if self.verbose:
            line = f"{self.name}: {bag.candidate.name}, {bag.seconds:.1f} s"
            units = f"{self.budget.used:.1f} of {self.budget.units:.1f} units used"
            sys.stderr.write(f"{line}; {units}\n")


def leaderboard_of(
    bags: Sequence[Bag], weights: Floats, metric: OobMetric, splits: Sequence[Split]
) -> Leaderboard:
    """Score fitted candidates."""
    everything = np.arange(metric.target.n_rows)
    entries = []
    for bag, weight in zip(bags, weights.tolist(), strict=True):
        score = metric.score(bag.predictions, everything)
        try:
            parts = [metric.score(bag.predictions, test) for _, test in splits]
            error = float(np.std(parts, ddof=1) / len(parts) ** 0.5)
        except ValueError:  # a fold without one of the classes
            error = float("nan")
        entries.append(Entry(bag.candidate.name, score, error, weight, bag.seconds))
    entries.sort(key=lambda entry: -entry.score)
    name = metric.oob_score
    shown = name if isinstance(name, str) else getattr(name, "__name__", repr(name))
    return Leaderboard(shown, tuple(entries))
