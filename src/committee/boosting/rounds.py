"""The rounds of boosting: from first scores to members and a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.progress import Progress
from committee.base.sampling import RowSampler
from committee.boosting.weak_learners import left_range
from committee.evaluation.early_stopping import Stopper, Watch
from committee.evaluation.training_log import LogWriter, TrainingLog
from committee.losses.loss import LARGEST
from committee.losses.objective import Objective
from committee.losses.weighted_statistics import mean_loss

Floats = NDArray[np.float64]
Sample = NDArray[np.uint8]
Callback = Callable[[int, TrainingLog], Any]


@dataclass(eq=False)
class BoostingJob:
    """Everything that decides the rounds of a fit.

    Parameters
    ----------
    learner : TreeLearner or AnyLearner
        What is fitted in each round.
    objective : Objective
        What is minimised; weights are zero for rows that are held out.
    judge : Objective
        The same with the loss that all rounds are measured by.
    scores : ndarray of float64, shape (n_rows, n_columns), Fortran-ordered
        Scores of all training rows, so far.
    present : ndarray of uint8 or None
        Rows to learn from; None: all.
    sampler : RowSampler or None
        Rows of each round; None: all of them.
    watch : Watch or None
        Validation rows.
    stopper : Stopper
        When to stop.
    callbacks : sequence of callable
        Called with the number of rounds and the log after each; True stops.
    log : TrainingLog
        Of the rounds before these.
    notes_training : bool, default=True
        Whether the log tells the loss of the training rows.
    """

    learner: Any
    objective: Objective
    judge: Objective
    scores: Floats
    present: Sample | None
    sampler: RowSampler | None
    watch: Watch | None
    stopper: Stopper
    callbacks: Sequence[Callback] = ()
    log: TrainingLog = field(default_factory=TrainingLog.empty)
    notes_training: bool = True

    def run(self, begin: int, end: int, progress: Progress) -> list[list[Any]]:
        """Boost from round `begin` to before `end`; return the members of each round."""
        started = time.monotonic()
        notes_oob = self.sampler is not None and self.notes_training
        before = self.judge.row_losses(self.scores) if notes_oob else None
        rounds: list[list[Any]] = []
        writer = LogWriter(self.log)
        bound = float(np.abs(self.scores).max(initial=0.0))
        for number in range(begin, end):
            sample = self._sample(number)
            members, longest = self.learner.fit(
                self.objective.prepared(self.scores), self.scores, number, sample
            )
            bound += longest
            if not bound < LARGEST and not np.isfinite(self.scores).all():
                raise left_range()
            rounds.append(members)
            entries: dict[str, float] = {}
            if before is not None and sample is not None:
                losses = self.judge.row_losses(self.scores)
                entries = self._losses(losses, before, sample)
                before = losses
            elif self.notes_training:
                entries = {"train_loss": self.judge.mean_loss(self.scores)}
            wants_stop = self._watch(members, entries, number + 1)
            writer.add(entries | {"seconds": time.monotonic() - started})
            progress.show(number + 1)
            # Every callback hears of every round.
            answers = [callback(number + 1, writer.log) for callback in self.callbacks]
            if wants_stop or any(map(_is_true, answers)):
                break
        self.log = writer.log
        return rounds

    def _sample(self, number: int) -> Sample | None:
        if self.sampler is None:
            return self.present
        return (self.sampler.counts(number) > 0).astype(np.uint8)

    def _losses(self, losses: Floats, before: Floats, sample: Sample) -> dict[str, float]:
        """Return the mean losses of the rows that were drawn, and of those that were not."""
        weights = self.judge.weights
        rest = 1 - sample if self.present is None else self.present & (1 - sample)
        left_out = np.flatnonzero(rest)
        entries = {"train_loss": _mean_of(losses, weights, np.flatnonzero(sample))}
        if len(left_out) > 0:
            loss = _mean_of(losses, weights, left_out)
            entries["oob_loss"] = loss
            entries["oob_improvement"] = _mean_of(before, weights, left_out) - loss
        return entries

    def _watch(self, members: list[Any], entries: dict[str, float], n_rounds: int) -> bool:
        """Add what validation rows say to the log; return whether to stop."""
        if self.watch is None:
            return False
        if self.watch.scores is not None:
            for column, member in enumerate(members):
                self.watch.scores[:, column] += self.learner.say(member, self.watch.table)
        entries |= self.watch.look(self.scores)
        return self.stopper.add(self.watch.badness(entries, n_rounds))


def _is_true(answer: Any) -> bool:
    """Whether a callback said True; what else it may return does not end a fit."""
    return isinstance(answer, bool | np.bool_) and bool(answer)


def _mean_of(losses: Floats, weights: Floats | None, rows: NDArray[np.intp]) -> float:
    return mean_loss(losses[rows], None if weights is None else weights[rows])
