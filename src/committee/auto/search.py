"""The search: candidates are fitted in a fixed order of steps, as long as the budget lasts.

The order does not depend on the budget. It is that of a row of plans, each for twice the work of
the one before, and each goes on with the fits of the others. Within a plan a candidate may use a
share of the work that those before it have left. So there is a committee early, good candidates
get most of the work, and a search that was ended by a clock is repeated by the work that it did.

Two things are done whatever the budget: a first model, of the first candidate that an automatic
budget has room for; and at the end the constant, which costs nothing and keeps a committee from
being worse.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from committee.auto.fold_members import FoldData, FoldMember
from committee.auto.given import ConstantCandidate
from committee.auto.leaderboard import Entry, Leaderboard
from committee.auto.ledger import MICRO, Ledger, micro
from committee.auto.portfolio import Candidate
from committee.auto.runs import ForeignRun, Run, begin_run
from committee.auto.watching import SearchStep, notify
from committee.base.arrays import Floats
from committee.base.warn import warn
from committee.evaluation.scored_target import OobMetric

_log = logging.getLogger(__name__)

_FIRST_SHARE, _SHARE = 0.6, 0.5  # of the work that is left, for the first candidate and others
_UNKNOWN = 1.5  # a candidate of unknown speed is taken for so much slower than the others
_PLANS = 7  # plans up to the automatic budget, each twice the one before


Made = TypeVar("Made")


@dataclass
class Interrupts:
    """Ctrl-C: once there is a committee, the first one ends the search and keeps what there is.

    Attributes
    ----------
    has_come : bool
        Whether it has; the next one raises, and so does one before there is something to keep.
    """

    has_come: bool = False

    def note(self, n_models: int) -> None:
        """Take note of an interrupt inside of ``except KeyboardInterrupt``, or raise it again."""
        if self.has_come or n_models == 0:
            raise
        self.has_come = True
        warn(
            f"the search was interrupted; the committee is chosen from the {n_models} model(s) "
            "fitted so far"
        )

    def finish(self, work: Callable[[], Made], n_models: int) -> Made:
        """Return what work makes that comes after the search; it is begun again once."""
        try:
            return work()
        except KeyboardInterrupt:
            self.note(n_models)
            return work()


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found.

    Attributes
    ----------
    fold_members : list of FoldMember
        The fitted candidates, in the order of the portfolio.
    reason : str
        Why it ended, in words.
    """

    fold_members: list[FoldMember]
    reason: str


@dataclass(eq=False)
class Search:
    """A search, which can go on after it has ended.

    Attributes
    ----------
    fold_data : FoldData
        What candidates are fitted to.
    candidates : sequence of Candidate
        In the order in which they are tried.
    metric : OobMetric
        Scores candidates, for a watcher.
    usual : int
        Millionths of a unit of an automatic budget, where one of the plans ends.
    name : str
        The class of the estimator, for messages.
    verbose : int
        1 writes a line to stderr for each candidate.
    """

    fold_data: FoldData
    candidates: Sequence[Candidate]
    metric: OobMetric
    usual: int
    name: str
    verbose: int
    runs: list[Run] = field(init=False)
    _ledger: Ledger = field(init=False)
    _rehearse: Callable[[Sequence[FoldMember]], float] = field(init=False)
    _blocked: set[int] = field(init=False)
    _n_rehearsed: int = field(init=False)

    def __post_init__(self) -> None:
        pairs = enumerate(self.candidates)
        self.runs = [begin_run(self.fold_data, candidate, number) for number, candidate in pairs]

    @property
    def used(self) -> int:
        """Millionths of a unit so far."""
        return sum(run.used for run in self.runs)

    @property
    def seconds(self) -> float:
        """What the fits took."""
        return sum(run.so_far.seconds for run in self.runs)

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return all(run.is_done for run in self.runs)

    def run(
        self,
        ledger: Ledger,
        rehearse: Callable[[Sequence[FoldMember]], float],
        interrupts: Interrupts,
    ) -> Found:
        """Do as many more steps as fit.

        Parameters
        ----------
        ledger : Ledger
            What may be done; what is done is counted there.
        rehearse : callable
            Given the members so far, returns how many seconds it will take to make a committee
            of them.
        interrupts : Interrupts
            Takes note of Ctrl-C.
        """
        self._ledger, self._rehearse = ledger, rehearse
        self._blocked, self._n_rehearsed = set(), 0
        try:
            self._work()
        except KeyboardInterrupt:
            interrupts.note(self._n_models)
        if not self._usable and not any(map(_is_constant, self.runs)):
            raise ValueError("all members failed") from self._failure
        fold_members = interrupts.finish(self._closed, self._n_models)
        if interrupts.has_come:
            reason = "the search was interrupted"
        elif self.is_done:
            reason = "all were tried"
        else:
            reason = "the time is up" if self._ledger.is_late else "the budget is used up"
        return Found(fold_members, reason)

    def _fold_members(self) -> list[FoldMember]:
        return [run.fold_member() for run in self._usable]

    def _closed(self) -> list[FoldMember]:
        """Return all members, and the constant, however early the search has ended."""
        for run in self.runs:
            if _is_constant(run) and not run.is_done:
                cost = run.cost
                run.step()
                self._ledger.used += cost
        return self._fold_members()

    @property
    def _usable(self) -> list[Run]:
        return [run for run in self.runs if run.is_usable]

    @property
    def _n_models(self) -> int:
        """How many there are to keep; a constant alone is none."""
        return sum(not _is_constant(run) for run in self._usable)

    @property
    def _failure(self) -> Exception | None:
        """What went wrong last."""
        found = [run.failure for run in self.runs if isinstance(run, ForeignRun)]
        return found[-1] if found else None

    def _work(self) -> None:
        self._look_ahead()
        plan = micro(self.usual / MICRO / 2**_PLANS)
        while any(self._may_go_on(run) for run in self.runs):
            before = 0
            for place, run in enumerate(self.runs):
                share = _SHARE if place else _FIRST_SHARE
                self._turn(run, int(share * (plan - before)))
                before += run.used
            plan *= 2

    def _may_go_on(self, run: Run) -> bool:
        return not (run.is_done or run.number in self._blocked or _is_constant(run))

    def _turn(self, run: Run, most: int) -> None:
        """Do steps of a candidate, which may use so much in all."""
        has_moved = False
        while self._may_go_on(run) and (self._is_due(run) or self._is_allowed(run, most)):
            if not self._is_due(run) and not self._fits(run):
                self._blocked.add(run.number)
                _log.debug("%s: no further, there is no room", run.candidate.name)
                break
            cost = run.cost
            run.step()
            self._ledger.used += cost
            has_moved = True
            if self._n_rehearsed == 0:
                self._look_ahead()
        if not has_moved:
            return
        self._look_ahead()
        self._show(run)

    def _is_due(self, run: Run) -> bool:
        """Whether the next step is done in any case: there is no model yet."""
        return self._n_models == 0 and run is self._first

    @property
    def _first(self) -> Run | None:
        """What gives the first models; where a round of boosting takes long, something cheaper."""
        among = [run for run in self.runs if self._may_go_on(run)]
        fitting = (run for run in among if run.used or run.least <= _FIRST_SHARE * self.usual)
        return next(fitting, min(among, key=lambda run: run.least, default=None))

    def _is_allowed(self, run: Run, most: int) -> bool:
        return (run.used + run.cost if run.used else max(run.least, run.cost)) <= most

    def _fits(self, run: Run) -> bool:
        """Whether the budget and the clock allow the next step, and to end after it."""
        return self._ledger.fits(run.rest, self._seconds(run) + run.closing_seconds)

    def _seconds(self, run: Run) -> float:
        """Return how long it will take to have more to use, by the speed so far."""
        if run.used:
            return run.so_far.seconds / run.used * run.rest
        return _UNKNOWN * self.seconds / self._ledger.used * run.rest

    def _look_ahead(self) -> None:
        """Estimate how long it will take to make a committee of the members that there are."""
        if self._ledger.time_limit is None or self._n_models == 0:
            return
        fold_members = self._fold_members()
        if len(fold_members) > self._n_rehearsed:
            self._n_rehearsed = len(fold_members)
            self._ledger.reserve = self._rehearse(fold_members)

    def _show(self, run: Run) -> None:
        if run.is_usable:
            notify(lambda: self._step(run))
        _log.debug("%s: %.2f s so far", run.candidate.name, run.so_far.seconds)
        if self.verbose:
            line = f"{self.name}: {run.candidate.name}, {run.so_far.seconds:.1f} s"
            sys.stderr.write(f"{line}; {self._ledger.units:.1f} units used\n")

    def _step(self, run: Run) -> SearchStep:
        predictions = run.fold_member().predictions
        name = self.metric.oob_score
        return SearchStep(
            run.candidate.name,
            name if isinstance(name, str) else getattr(name, "__name__", "score"),
            self.metric.score(predictions, self.fold_data.scored),
            self._ledger.units,
            math.inf if self._ledger.most is None else self._ledger.most / MICRO,
        )


def _is_constant(run: Run) -> bool:
    return isinstance(run.candidate, ConstantCandidate)


def leaderboard_of(
    fold_members: Sequence[FoldMember], weights: Floats, metric: OobMetric, fold_data: FoldData
) -> Leaderboard:
    """Score fitted candidates."""
    entries = []
    for fold_member, weight in zip(fold_members, weights.tolist(), strict=True):
        score = metric.score(fold_member.predictions, fold_data.scored)
        try:
            parts = [
                metric.score(fold_member.predictions, part) for _, part in fold_data.scored_parts
            ]
            error = float(np.std(parts, ddof=1) / len(parts) ** 0.5)
        except ValueError:  # a fold without one of the classes
            error = float("nan")
        entries.append(Entry(fold_member.candidate.name, score, error, weight, fold_member.seconds))
    entries.sort(key=lambda entry: -entry.score)
    name = metric.oob_score
    shown = name if isinstance(name, str) else getattr(name, "__name__", repr(name))
    return Leaderboard(shown, tuple(entries))
