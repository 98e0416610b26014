"""Fits of candidates to all folds, in steps, so that a search can go on with any of them.

What a step does depends on the candidate and the steps before it, never on the budget or the clock.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from committee.auto.fold_members import FoldData, FoldMember
from committee.auto.given import ConstantCandidate, ForeignCandidate
from committee.auto.ledger import micro
from committee.auto.portfolio import FEATURES, TABLE, Candidate
from committee.base.warn import warn
from committee.base.work import in_order, limited_threads, plain_algebra, resolve_threads
from committee.boosting.fit import BoostingModel
from committee.boosting.fold_fits import FoldFits
from committee.boosting.rounds import RoundChoice
from committee.forests.fit import ForestModel
from committee.members.training import Task
from committee.nets.epochs import EpochChoice
from committee.nets.fold_fits import NetFoldFits
from committee.nets.net_model import NetModel

_STEP = 0.25  # units that a step should not exceed by far, where it can be made smaller
_MOST_ROUNDS, _LEAST_ROUNDS = 10, 30  # of boosting in a step; in all, to be worth beginning
_LEAST_EPOCHS = 5  # of a net, to be worth beginning
_MEMBER_SHARE = 0.1  # share of the time of a fit that its member takes, until one was made
_MOST_TREES, _LEAST_TREES = 20, 5  # of a forest in a step


@dataclass(frozen=True, eq=False)
class Progressed:
    """How far a run has come.

    Attributes
    ----------
    used : int
        Millionths of a unit so far.
    seconds : float
        What this took.
    made : object
        What the models are made of.
    is_done : bool
        Whether nothing is left to do.
    """

    used: int = 0
    seconds: float = 0.0
    made: Any = None
    is_done: bool = False


class Run(ABC):
    """The fits of one candidate.

    Parameters
    ----------
    fold_data : FoldData
        The rows.
    candidate : Candidate
        What is fitted.
    number : int
        Its place in the portfolio, which its seed depends on.

    Attributes
    ----------
    so_far : Progressed
        How far it has come.
    """

    def __init__(self, fold_data: FoldData, candidate: Candidate, number: int) -> None:
        self.fold_data, self.candidate, self.number = fold_data, candidate, number
        self.so_far = Progressed()
        self._fold_member: tuple[Progressed, FoldMember] | None = None
        self._member_rate = 0.0  # seconds of `fold_member` for a millionth of a unit

    @property
    @abstractmethod
    def cost(self) -> int:
        """Millionths of a unit that the next step costs."""

    @property
    def least(self) -> int:
        """Millionths of a unit without which the candidate is not worth beginning."""
        return self.cost

    @property
    def used(self) -> int:
        return self.so_far.used

    @property
    def is_done(self) -> bool:
        return self.so_far.is_done

    @property
    def is_usable(self) -> bool:
        """Whether there are models."""
        return self.used > 0

    @property
    def rest(self) -> int:
        """Millionths of a unit until there is something more to use."""
        return self.cost

    def step(self) -> None:
        """Do the next step; an interrupt leaves what was there before."""
        begin, cost, before = time.monotonic(), self.cost, self.so_far
        made, is_done = self._step(before.made)
        seconds = before.seconds + time.monotonic() - begin
        self.so_far = Progressed(before.used + cost, seconds, made, is_done)

    def fold_member(self) -> FoldMember:
        """Return the member that there is after the steps so far."""
        now = self.so_far
        if self._fold_member is None or self._fold_member[0] is not now:
            begin = time.monotonic()
            fold_member = self._fold_member_of(now)
            self._fold_member, self._member_rate = (
                (now, fold_member),
                (time.monotonic() - begin) / now.used,
            )
        return self._fold_member[1]

    @property
    def closing_seconds(self) -> float:
        """Return how long the next `fold_member` will take."""
        if not self.is_usable or (
            self._fold_member is not None and self._fold_member[0] is self.so_far
        ):
            return 0.0
        return (
            self._member_rate * self.used
            if self._member_rate
            else _MEMBER_SHARE * self.so_far.seconds
        )

    def _fold_member_of(self, now: Progressed) -> FoldMember:
        return self.fold_data.fold_member(self.candidate, self._models(now.made), now.seconds)

    @abstractmethod
    def _step(self, made: Any) -> tuple[Any, bool]:
        """Go on from what is made; return what is then, and whether nothing is left to do."""

    @abstractmethod
    def _models(self, made: Any) -> list[Any]:
        """Return a model for each fold."""


class BoostingRun(Run):
    """A step is a few rounds of all folds, which have one number of rounds."""

    def __init__(self, fold_data: FoldData, candidate: Candidate, number: int) -> None:
        super().__init__(fold_data, candidate, number)
        self._fits: FoldFits | None = None
        self._cost_of_round = candidate.cost * fold_data.work
        self._n_rounds = min(max(round(_STEP / self._cost_of_round), 1), _MOST_ROUNDS)

    @property
    def cost(self) -> int:
        return micro(self._n_rounds * self._cost_of_round)

    @property
    def least(self) -> int:
        return micro(_LEAST_ROUNDS * self._cost_of_round)

    def _step(self, made: Any) -> tuple[RoundChoice, bool]:
        if self._fits is None:
            form = self.fold_data.form(self.candidate.reads)
            template = self.fold_data.template(self.candidate, self.number)
            model = template.copy(resolve_threads(form.n_jobs))
            splits = self.fold_data.splits
            self._fits = FoldFits.begin(model, form.shared, form.y, form.weights, splits)
        search = self._fits.search
        search.step(self._n_rounds)
        return search.choice, bool(search.reason)

    def _models(self, made: RoundChoice) -> list[Any]:
        assert self._fits is not None
        return self._fits.models(made)

    def _fold_member_of(self, now: Progressed) -> FoldMember:
        fits = self._fits
        assert fits is not None
        anew = partial(fits.models_of_all_rows, now.made)
        return replace(super()._fold_member_of(now), anew=anew)


class NetRun(Run):
    """A step is an epoch of all folds, which have one number of epochs."""

    def __init__(self, fold_data: FoldData, candidate: Candidate, number: int) -> None:
        super().__init__(fold_data, candidate, number)
        self._fits: NetFoldFits | None = None

    @property
    def cost(self) -> int:
        return micro(self.candidate.cost * self.fold_data.work)

    @property
    def least(self) -> int:
        return _LEAST_EPOCHS * self.cost

    def _step(self, made: Any) -> tuple[EpochChoice, bool]:
        if self._fits is None:
            form = self.fold_data.form(self.candidate.reads)
            template = self.fold_data.template(self.candidate, self.number)
            model = template.copy(resolve_threads(form.n_jobs))
            splits = self.fold_data.splits
            self._fits = NetFoldFits.begin(model, form.shared, form.y, form.weights, splits)
        search = self._fits.search
        search.step()
        return search.choice, search.is_done

    def _models(self, made: EpochChoice) -> list[Any]:
        assert self._fits is not None
        return self._fits.models(made)


class ForestRun(Run):
    """A step is a few trees for each fold."""

    def __init__(self, fold_data: FoldData, candidate: Candidate, number: int) -> None:
        super().__init__(fold_data, candidate, number)
        self._n_all = int(candidate.estimator.n_estimators)
        self._cost_of_tree = candidate.cost * fold_data.work / self._n_all
        fitting = round(_STEP / self._cost_of_tree)
        self._n_at_once = min(max(fitting, _LEAST_TREES), _MOST_TREES)

    @property
    def cost(self) -> int:
        before = self._n_trees(self.so_far.made)
        return micro((self._next(before) - before) * self._cost_of_tree)

    @staticmethod
    def _n_trees(forests: list[Any] | None) -> int:
        return forests[0].n_trees_ if forests else 0

    def _next(self, n_trees: int) -> int:
        return min(n_trees + self._n_at_once, self._n_all)

    def _step(self, made: list[Any] | None) -> tuple[list[Any], bool]:
        form = self.fold_data.form(self.candidate.reads)
        template = self.fold_data.template(self.candidate, self.number)
        parts, n_trees = (
            self.fold_data.fold_rows(self.candidate.reads),
            self._next(self._n_trees(made)),
        )
        n_workers = min(resolve_threads(form.n_jobs), len(parts)) if self.fold_data.is_small else 1
        n_threads = max(1, resolve_threads(form.n_jobs) // n_workers)

        def grow(fold: int) -> Any:
            forest = copy(made[fold]) if made else template.copy(n_threads)
            forest.set_params(n_estimators=n_trees, warm_start=True)
            return forest.fit(*parts[fold])

        calls = [(fold,) for fold in range(len(parts))]
        forests = list(in_order(grow, calls, n_workers, use_threads=True, own=True))
        return forests, n_trees == self._n_all

    def _models(self, made: list[Any]) -> list[Any]:
        jobs = self.candidate.estimator.n_jobs
        return [copy(forest).set_params(warm_start=False, n_jobs=jobs) for forest in made]


class WholeRun(Run):
    """The only step fits all folds."""

    @property
    def cost(self) -> int:
        return micro(self.candidate.cost * self.fold_data.work)

    def _step(self, made: Any) -> tuple[list[Any], bool]:
        form = self.fold_data.form(self.candidate.reads)
        template = self.fold_data.template(self.candidate, self.number)
        calls = [(Task(template, train),) for train, _ in self.fold_data.splits]
        n_workers = min(resolve_threads(form.n_jobs), len(calls))
        # One thread of linear algebra each: another number of them rounds otherwise.
        with plain_algebra(0, own=False):
            return list(in_order(form.fit, calls, n_workers, use_threads=True, own=True)), True

    def _models(self, made: list[Any]) -> list[Any]:
        return made


class ConstantRun(Run):
    """Fits the prediction that looks at no column; it needs no table."""

    def _nothing(self, n_rows: int) -> Any:
        """Return a table that takes no memory."""
        n_columns = getattr(self.candidate, "n_columns", 1)
        return np.broadcast_to(np.zeros(1), (n_rows, n_columns))

    @property
    def cost(self) -> int:
        return 1

    def _step(self, made: Any) -> tuple[list[Any], bool]:
        form, model = self.fold_data.form(FEATURES), self.candidate.estimator
        weights = np.ones(len(form.y)) if form.weights is None else form.weights
        fits = [
            clone(model).fit(self._nothing(len(train)), form.y[train], sample_weight=weights[train])
            for train, _ in self.fold_data.splits
        ]
        return fits, True

    def _models(self, made: list[Any]) -> list[Any]:
        return made

    def _fold_member_of(self, now: Progressed) -> FoldMember:
        output = self.fold_data.output(self.candidate)
        pairs = zip(now.made, self.fold_data.splits, strict=True)
        parts = [output.predict(model, self._nothing(len(test))) for model, (_, test) in pairs]
        return self.fold_data.fold_member(self.candidate, now.made, now.seconds, parts)


@dataclass(frozen=True)
class Failure:
    """Why a foreign member could not be fitted."""

    error: Exception


class ForeignRun(Run):
    """A step fits an estimator of another library to one fold, and predicts it.

    There is something to use when all folds are done. An estimator that fails is left out.
    """

    @property
    def cost(self) -> int:
        return micro(self.candidate.cost * self.fold_data.work / len(self.fold_data.splits))

    @property
    def rest(self) -> int:
        return self.cost * (len(self.fold_data.splits) - len(self.so_far.made or ()))

    @property
    def least(self) -> int:
        return self.rest

    @property
    def failure(self) -> Exception | None:
        made = self.so_far.made
        return made.error if isinstance(made, Failure) else None

    @property
    def is_usable(self) -> bool:
        return self.is_done and self.failure is None

    def _step(self, made: list[Any] | None) -> tuple[list[Any] | Failure, bool]:
        form, output = self.fold_data.form(TABLE), self.fold_data.output(self.candidate)
        before = made or []
        train, test = self.fold_data.splits[len(before)]
        template = self.fold_data.template(self.candidate, self.number)
        try:
            with limited_threads(resolve_threads(form.n_jobs)):
                model = form.fit(Task(template, train))
                predicted = form.predict(model, output, test)
            if not np.isfinite(predicted).all():
                raise ValueError("it predicts numbers that are not finite")
        except Exception as error:  # whatever it is, it is not ours
            warn(f"the member {self.candidate.name!r} failed and is left out: {error}")
            return Failure(error), True
        now = [*before, (model, predicted)]
        return now, len(now) == len(self.fold_data.splits)

    def _models(self, made: list[Any]) -> list[Any]:
        return [model for model, _ in made]

    def _fold_member_of(self, now: Progressed) -> FoldMember:
        parts = [predicted for _, predicted in now.made]
        return self.fold_data.fold_member(
            self.candidate, self._models(now.made), now.seconds, parts
        )


def begin_run(fold_data: FoldData, candidate: Candidate, number: int) -> Run:
    """Return the run that suits a candidate."""
    if isinstance(candidate.estimator, BoostingModel):
        return BoostingRun(fold_data, candidate, number)
    if isinstance(candidate.estimator, NetModel):
        return NetRun(fold_data, candidate, number)
    if isinstance(candidate.estimator, ForestModel):
        return ForestRun(fold_data, candidate, number)
    if isinstance(candidate, ConstantCandidate):
        return ConstantRun(fold_data, candidate, number)
    kind = ForeignRun if isinstance(candidate, ForeignCandidate) else WholeRun
    return kind(fold_data, candidate, number)
