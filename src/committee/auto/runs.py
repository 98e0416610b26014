"""Fits of candidates to all folds, in steps, so that a search can go on with any of them.

What a step does depends on the candidate and the steps before it, never on the budget or the clock.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from copy import copy
from typing import Any

from committee.auto.bags import Bag, FoldTeams
from committee.auto.ledger import micro
from committee.auto.portfolio import Candidate
from committee.base.work import in_order, plain_algebra, resolve_threads
from committee.boosting.fit import BoostingModel
from committee.boosting.fold_fits import FoldFits
from committee.forests.fit import ForestModel
from committee.members.training import Task

_STEP = 0.25  # units that a step should not exceed by far, where it can be made smaller
_MOST_ROUNDS, _LEAST_ROUNDS = 10, 30  # of boosting in a step; in all, to be worth beginning
_BAG_SHARE = 0.1  # of the time of a fit that a bag takes, as long as none was made
_MOST_TREES, _LEAST_TREES = 20, 5  # of a forest in a step


class Run(ABC):
    """The fits of one candidate.

    Parameters
    ----------
    teams : FoldTeams
        The rows.
    candidate : Candidate
        What is fitted.
    number : int
        Its place in the portfolio, which its seed depends on.

    Attributes
    ----------
    used : int
        Millionths of a unit so far.
    seconds : float
        What this took.
    is_done : bool
        Whether nothing is left to do.
    """

    def __init__(self, teams: FoldTeams, candidate: Candidate, number: int) -> None:
        self.teams, self.candidate, self.number = teams, candidate, number
        self.used = 0
        self.seconds = 0.0
        self._bag_rate = 0.0  # seconds of `bag` for a millionth of a unit
        self.is_done = False
        self._bag: Bag | None = None

    @property
    @abstractmethod
    def cost(self) -> int:
        """Millionths of a unit that the next step costs."""

    @property
    def least(self) -> int:
        """Millionths of a unit without which the candidate is not worth beginning."""
        return self.cost

    @property
    def has_begun(self) -> bool:
        return self.used > 0

    @property
    def is_stale(self) -> bool:
        """Whether steps were done since the last bag."""
        return self.has_begun and self._bag is None

    def step(self) -> None:
        """Do the next step; an interrupt leaves what was there before."""
        begin, cost = time.monotonic(), self.cost
        self._step()
        self.used += cost
        self.seconds += time.monotonic() - begin
        self._bag = None

    def bag(self) -> Bag:
        """Return the member that there is after the steps so far."""
        if self._bag is None:
            begin = time.monotonic()
            self._bag = self.teams.bag(self.candidate, self._models(), self.seconds)
            self._bag_rate = (time.monotonic() - begin) / self.used
        return self._bag

    @property
    def closing_seconds(self) -> float:
        """Return how long the next `bag` will take."""
        if not self.is_stale:
            return 0.0
        return self._bag_rate * self.used if self._bag_rate else _BAG_SHARE * self.seconds

    @abstractmethod
    def _step(self) -> None: ...

    @abstractmethod
    def _models(self) -> list[Any]:
        """Return a model for each fold."""


class BoostingRun(Run):
    """A step is a few rounds of all folds, which have one number of rounds."""

    def __init__(self, teams: FoldTeams, candidate: Candidate, number: int) -> None:
        super().__init__(teams, candidate, number)
        self._fits: FoldFits | None = None
        self._cost_of_round = candidate.cost * teams.work
        self._n_rounds = min(max(round(_STEP / self._cost_of_round), 1), _MOST_ROUNDS)

    @property
    def cost(self) -> int:
        return micro(self._n_rounds * self._cost_of_round)

    @property
    def least(self) -> int:
        return micro(_LEAST_ROUNDS * self._cost_of_round)

    def _step(self) -> None:
        if self._fits is None:
            team = self.teams.teams[self.candidate.reads]
            template = self.teams.template(self.candidate, self.number)
            model = template.copy(resolve_threads(team.n_jobs))
            parts = [test for _, test in self.teams.splits]
            self._fits = FoldFits.begin(model, team.shared, team.y, team.weights, parts)
        self._fits.search.step(self._n_rounds)
        self.is_done = bool(self._fits.search.reason)

    def _models(self) -> list[Any]:
        assert self._fits is not None
        return self._fits.models()


class ForestRun(Run):
    """A step is a few trees for each fold."""

    def __init__(self, teams: FoldTeams, candidate: Candidate, number: int) -> None:
        super().__init__(teams, candidate, number)
        self._n_all = int(candidate.estimator.n_estimators)
        self._cost_of_tree = candidate.cost * teams.work / self._n_all
        fitting = round(_STEP / self._cost_of_tree)
        self._n_at_once = min(max(fitting, _LEAST_TREES), _MOST_TREES)
        self._forests: list[Any] = []
        self._n_trees = 0

    @property
    def cost(self) -> int:
        return micro((self._next - self._n_trees) * self._cost_of_tree)

    @property
    def _next(self) -> int:
        return min(self._n_trees + self._n_at_once, self._n_all)

    def _step(self) -> None:
        team = self.teams.teams[self.candidate.reads]
        template = self.teams.template(self.candidate, self.number)
        parts, n_trees = self.teams.parts(self.candidate.reads), self._next
        n_workers = min(resolve_threads(team.n_jobs), len(parts))
        n_workers = n_workers if self.teams.is_small else 1
        n_threads = max(1, resolve_threads(team.n_jobs) // n_workers)

        def grow(fold: int) -> Any:
            forest = copy(self._forests[fold]) if self._forests else template.copy(n_threads)
            forest.set_params(n_estimators=n_trees, warm_start=True)
            return forest.fit(*parts[fold])

        calls = [(fold,) for fold in range(len(parts))]
        self._forests = list(in_order(grow, calls, n_workers, use_threads=True, own=True))
        self._n_trees = n_trees
        self.is_done = n_trees == self._n_all

    def _models(self) -> list[Any]:
        jobs = self.candidate.estimator.n_jobs
        return [copy(forest).set_params(warm_start=False, n_jobs=jobs) for forest in self._forests]


class WholeRun(Run):
    """The only step fits all folds."""

    def __init__(self, teams: FoldTeams, candidate: Candidate, number: int) -> None:
        super().__init__(teams, candidate, number)
        self._fitted: list[Any] = []

    @property
    def cost(self) -> int:
        return micro(self.candidate.cost * self.teams.work)

    def _step(self) -> None:
        team = self.teams.teams[self.candidate.reads]
        n_threads = resolve_threads(team.n_jobs)
        calls = [(task,) for task in _tasks(self)]
        n_workers = min(n_threads, len(calls))
        # One thread of linear algebra each: another number of them rounds otherwise.
        with plain_algebra(0, own=False):
            fits = in_order(team.fit, calls, n_workers, use_threads=True, own=True)
            self._fitted = list(fits)
        self.is_done = True

    def _models(self) -> list[Any]:
        return self._fitted


def begin_run(teams: FoldTeams, candidate: Candidate, number: int) -> Run:
    """Return the run that suits a candidate."""
    if isinstance(candidate.estimator, BoostingModel):
        return BoostingRun(teams, candidate, number)
    if isinstance(candidate.estimator, ForestModel):
        return ForestRun(teams, candidate, number)
    return WholeRun(teams, candidate, number)


def _tasks(run: Run) -> list[Task]:
    template = run.teams.template(run.candidate, run.number)
    return [Task(template, train) for train, _ in run.teams.splits]
