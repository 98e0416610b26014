"""The rounds of boosting: from first scores to members and a log, and how many rounds to make.

The number is the one at which rows that were held out are predicted best. The rows are dealt into
folds. A fit for each fold learns from the other folds, all of them round by round side by side, and
the minimum of the mean of their validation curves is the number of rounds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.base.warn import warn
from committee.base.work import Progress, in_order
from committee.boosting.defaults import BoostingChoices
from committee.boosting.training_data import RoundDraws, RoundRows, TrainingRows
from committee.boosting.tree_learner import left_range
from committee.evaluation.early_stopping import Stopper, Watch
from committee.evaluation.training_log import LOGGED, LogWriter, TrainingLog, of_columns
from committee.files.codec_classes import register
from committee.files.parts import FLAG, Part, array, whole
from committee.losses.arithmetic import LARGEST, mean_loss
from committee.losses.objective import Objective

_log = logging.getLogger(__name__)

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
    scorer : Objective
        The same with the loss that all rounds are measured by.
    scores : ndarray of float64, shape (n_rows, n_columns), Fortran-ordered
        Scores of all training rows, so far.
    present : ndarray of uint8 or None
        Rows to learn from; None: all.
    draws : RoundDraws or None
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
        Whether the log has the loss of the training rows.
    others : dict of str to Watch
        All validation rows by their names, where there are several sets; `watch` is among them.
    table : object, default=None
        The training table, as the learner reads it.

    Attributes
    ----------
    best_scores : ndarray of float64 or None
        Scores of the validation rows after the best round.
    """

    learner: Any
    objective: Objective
    scorer: Objective
    scores: Floats
    present: NDArray[np.uint8] | None
    draws: RoundDraws | None
    watch: Watch | None
    stopper: Stopper
    callbacks: Sequence[Callback] = ()
    log: TrainingLog = field(default_factory=TrainingLog.empty)
    notes_training: bool = True
    others: dict[str, Watch] = field(default_factory=dict)
    table: Any = None
    best_scores: Floats | None = None

    def run(self, begin: int, end: int, progress: Progress) -> list[list[Any]]:
        """Boost from round `begin` to before `end`; return the members of each round."""
        started = time.monotonic()
        notes_oob = self.draws is not None and self.notes_training
        before = self.scorer.row_losses(self.scores) if notes_oob else None
        rounds: list[list[Any]] = []
        writer = LogWriter(self.log, self._columns_of_others())
        bound = float(np.abs(self.scores).max(initial=0.0))
        for number in range(begin, end):
            sample = self._rows(number)
            members, longest = self.learner.fit(
                self.objective.prepared(self.scores), self.scores, number, sample
            )
            bound += longest
            if not bound < LARGEST and not np.isfinite(self.scores).all():
                raise left_range()
            rounds.append(members)
            entries: dict[str, float] = {}
            if before is not None and sample is not None:
                losses = self.scorer.row_losses(self.scores)
                entries = self._losses(losses, before, sample)
                before = losses
            elif self.notes_training:
                entries = {"train_loss": self.scorer.mean_loss(self.scores)}
            wants_stop = self._watch(members, entries, number + 1)
            writer.add(entries | {"seconds": time.monotonic() - started})
            progress.show(number + 1, _in_words(entries))
            if _called(self.callbacks, number + 1, writer.log) or wants_stop:
                break
        self.log = writer.log
        return rounds

    def _rows(self, number: int) -> RoundRows | None:
        """Return the rows of a round; None is all of them."""
        if self.draws is not None:
            return self.draws(number)
        return None if self.present is None else RoundRows(self.present)

    def _losses(self, losses: Floats, before: Floats, sample: RoundRows) -> dict[str, float]:
        """Return the mean losses of the rows that were drawn, and of those that were not."""
        weights = self.scorer.weights
        if sample.weights is not None and weights is not None:
            drawn, rest = sample.weights, weights - sample.weights
        else:
            own = np.ones(len(losses)) if weights is None else weights
            drawn, rest = own * sample.mask, own * (1 - sample.mask)
        entries = {"train_loss": _mean_of(losses, drawn)}
        if rest.any():
            loss = _mean_of(losses, rest)
            entries["oob_loss"] = loss
            entries["oob_improvement"] = _mean_of(before, rest) - loss
        return entries

    def _watch(self, members: list[Any], entries: dict[str, float], n_rounds: int) -> bool:
        """Add the loss of validation rows to the log; return whether to stop."""
        if self.watch is None:
            return False
        entries |= self._look(self.watch, members)
        for name, other in self.others.items():
            found = entries if other is self.watch else self._look(other, members)
            for what in ("loss", "score"):
                if f"validation_{what}" in found:
                    entries[f"{name}_{what}"] = found[f"validation_{what}"]
        wants_stop = self.stopper.add(self.watch.badness(entries, n_rounds))
        if self.stopper.best == n_rounds:
            self.best_scores = self.held_out_scores()
        return wants_stop

    def held_out_scores(self) -> Floats:
        """Return a copy of the scores of the validation rows as they are now."""
        assert self.watch is not None
        if self.watch.rows is not None:
            return np.asfortranarray(self.scores[self.watch.rows])
        assert self.watch.scores is not None
        return self.watch.scores.copy(order="F")

    def after(self, scores: Floats, rounds: Sequence[Sequence[Any]]) -> Floats:
        """Return scores of held-out rows of the training table after some more rounds."""
        assert self.watch is not None
        scores = scores.copy(order="F")
        for members in rounds:
            for column, member in enumerate(members):
                scores[:, column] += self.learner.steps(member, self.table)[self.watch.rows]
        return scores

    def _look(self, watch: Watch, members: list[Any]) -> dict[str, float]:
        """Add members to the scores of validation rows; return their loss and score."""
        if watch.scores is not None:
            for column, member in enumerate(members):
                watch.scores[:, column] += self.learner.steps(member, watch.table)
        return watch.look(self.scores)

    def _columns_of_others(self) -> list[str]:
        kinds = ["loss"] if self.watch is None or self.watch.scoring is None else ["loss", "score"]
        return [f"{name}_{kind}" for name in self.others for kind in kinds]


def _called(callbacks: Sequence[Callback], n_rounds: int, log: TrainingLog) -> bool:
    """Call every callback; return whether one of them returned True, and nothing else."""
    results = [callback(n_rounds, log) for callback in callbacks]
    return any(isinstance(each, bool | np.bool_) and bool(each) for each in results)


def _in_words(entries: Mapping[str, float]) -> str:
    """Return what progress says of a round.

    Examples
    --------
    >>> _in_words({"train_loss": 0.51234, "seconds": 2.0, "validation_loss": 0.6})
    'train loss 0.5123, validation loss 0.6'
    """
    has_names = not entries.keys() <= set(LOGGED)  # then one of them is that of `validation_loss`
    double = ("validation_loss", "validation_score") if has_names else ()
    return ", ".join(
        f"{name.replace('_', ' ')} {value:.4g}"
        for name, value in entries.items()
        if name.endswith(("_loss", "_score")) and name not in double
    )


def _mean_of(losses: Floats, weights: Floats) -> float:
    rows = np.flatnonzero(weights)
    return mean_loss(losses[rows], weights[rows])


_STEP = 10  # rounds that each fold is boosted before the curves are looked at

_LEAST_TRIED, _AT_THE_END = 50, 0.95  # a best round so late is where the rounds ended

_NOTHING = 1e-5  # share of the first loss that is not worth more rounds: the rest is rounding

# The last quarter of the rounds gains clearly where it has this share of what all have gained.
_LATE, _CLEARLY = 4, 0.01


@register("RoundChoice")
@dataclass(frozen=True, eq=False, repr=False)
class RoundChoice:
    """How well held-out rows were predicted after each number of rounds.

    Attributes
    ----------
    mean : ndarray of float64
        Mean over the folds of the loss of their held-out rows after each round; of the score where
        `scoring` is given.
    standard_error : ndarray of float64
        Standard error of that mean; NaN where only one part was held out.
    n_folds : int
        Number of parts that were held out, one after another.
    is_score : bool
        Whether more is better.

    Examples
    --------
    >>> choice = RoundChoice(np.array([0.6, 0.5, 0.7]), np.array([0.1, 0.1, 0.1]), 5)
    >>> choice.n_rounds, choice
    (2, RoundChoice(2 of 3 rounds, loss 0.5 ± 0.1 in 5 folds))
    """

    mean: Floats
    standard_error: Floats
    n_folds: int
    is_score: bool = False

    _stored_parts: ClassVar[dict[str, Part]] = {
        "mean": array("f8", "rounds"),
        "standard_error": array("f8", "rounds"),
        "n_folds": whole(1),
        "is_score": FLAG,
    }

    @classmethod
    def of_curves(cls, curves: Floats, is_score: bool) -> RoundChoice:
        """Return the choice of curves that should fall, one row for each fold."""
        n_folds = len(curves)
        # Squares and sums of huge losses overflow, those of tiny ones vanish.
        exponents = np.frexp(np.abs(curves).max(axis=0))[1]
        scaled = np.ldexp(curves, -exponents)
        spread = np.full(curves.shape[1], np.nan)
        if n_folds > 1:
            with np.errstate(invalid="ignore"):  # a score may be infinite
                spread = np.ldexp(scaled.std(axis=0, ddof=1) / np.sqrt(n_folds), exponents)
        mean = np.ldexp(scaled.mean(axis=0), exponents)
        return cls(-mean if is_score else mean, spread, n_folds, is_score)

    @property
    def n_rounds(self) -> int:
        """The best number of rounds."""
        return int(self.mean.argmax() if self.is_score else self.mean.argmin()) + 1

    def to_frame(self) -> Any:
        """Return a pandas data frame, its index the number of the round from one."""
        import pandas as pd

        columns = {"mean": self.mean, "standard_error": self.standard_error}
        index = pd.RangeIndex(1, len(self.mean) + 1, name="round")
        return pd.DataFrame(columns, index=index)

    @property
    def summary(self) -> str:
        """The choice in words."""
        best, what = self.n_rounds, "score" if self.is_score else "loss"
        value, error = self.mean[best - 1], self.standard_error[best - 1]
        spread = "" if np.isnan(error) else f" ± {error:.2g}"
        where = f"{self.n_folds} folds" if self.n_folds > 1 else "one held-out part"
        n_tried = len(self.mean)
        end = ", still improving" if self.is_still_improving else ""
        return f"{best} of {n_tried} rounds, {what} {value:.4g}{spread} in {where}{end}"

    def __repr__(self) -> str:
        return f"RoundChoice({self.summary})"

    @property
    def is_still_improving(self) -> bool:
        """Whether the rounds ended while the last quarter of them still gained clearly.

        More rounds, or a larger `learning_rate`, would then do better.
        """
        n_tried = len(self.mean)
        if n_tried < _LEAST_TRIED or self.n_rounds <= _AT_THE_END * n_tried:
            return False
        gained, all_gained = self.gains(n_tried // _LATE)
        return gained >= _CLEARLY * all_gained

    def gains(self, n_last: int) -> tuple[float, float]:
        """Return what the last so many rounds have gained, and what all have."""
        curve = -self.mean if self.is_score else self.mean
        before, now = float(curve[:-n_last].min()), float(curve.min())
        with np.errstate(invalid="ignore"):  # a score may be infinite
            return before - now, float(curve[0]) - now

    def _validate_loaded(self) -> None:
        if not len(self.mean) or np.isnan(self.mean).any():
            raise ValueError("the curve is empty or has gaps")


@dataclass(frozen=True)
class SearchEnd:
    """When the curve of held-out rows says that more rounds need not be tried.

    Parameters
    ----------
    patience : int
        Rounds without a new best that end the search; at least a third of the best round's
        number, because long curves turn slowly.
    little : float
        Share of what was gained so far, or of the loss that is left if that is less. As many rounds
        as `patience`, or a quarter of all, that gain less than it end the search: curves of many
        classes fall by next to nothing for thousands of rounds.
    trifle : float
        The same as a share of what was gained, however little is left.
    n_cheap : int
        Rounds that cost so little that they may gain little.

    Examples
    --------
    >>> falling = RoundChoice(np.array([4.0, 3.0, 2.0, 1.0]), np.zeros(4), 5)
    >>> turned = RoundChoice(np.array([4.0, 3.0, 3.5, 4.0]), np.zeros(4), 5)
    >>> ends = SearchEnd(patience=2, little=0.01, trifle=0.0, n_cheap=0)
    >>> ends.reason(falling), ends.reason(turned)
    ('', 'none of the last 2 was better')
    """

    patience: int
    little: float
    trifle: float
    n_cheap: int

    @classmethod
    def of(cls, choices: BoostingChoices) -> SearchEnd:
        """Return what the choices of a fit say."""
        return cls(choices.patience, choices.little, choices.trifle, choices.n_cheap)

    def reason(self, choice: RoundChoice) -> str:
        """Return why the search ends here; empty if it goes on."""
        n_tried, best = len(choice.mean), choice.n_rounds
        if n_tried - best >= max(self.patience, best // 3):
            return f"none of the last {n_tried - best} was better"
        if not choice.is_score and 0 <= choice.mean[-1] <= _NOTHING * choice.mean[0]:
            return "nothing is left of the loss"
        n_last = max(self.patience, n_tried // _LATE)
        if n_tried <= max(n_last, self.n_cheap):
            return ""
        gained, all_gained = choice.gains(n_last)
        left = float(choice.mean.min())
        has_end = not choice.is_score and left >= 0
        worth = min(all_gained, left) if has_end else all_gained
        is_little = gained < max(self.little * worth, self.trifle * all_gained)
        return f"the last {n_last} gained next to nothing" if is_little else ""


@dataclass(eq=False)
class RoundSearch:
    """A search for the number of rounds, which goes on in steps of a few rounds of all folds.

    Parameters
    ----------
    jobs : sequence of BoostingJob
        One for each fold, watching the rows that it does not learn from.
    most : int
        Rounds to try at most.
    ends : SearchEnd
        When the curve ends the search.
    n_workers : int, default=1
        Threads that run jobs side by side.
    keeps_members : bool, default=False
        Whether `made` gets the members of all rounds.
    callbacks : sequence of callable, default=()
        Called with the number of rounds and a log of means over the folds; True ends the search.
    keeps_scores : bool, default=False
        Whether `best_scores` gets the scores of held-out rows.

    Attributes
    ----------
    n_rounds : int
        Rounds that all folds have done.
    made : list of lists
        The members of these rounds, for each job.
    choice : RoundChoice
        The curve so far, and its best round; after the first step.
    reason : str
        Why there are no more rounds; empty as long as it may go on.
    best_scores : list of ndarray of float64
        The scores of the rows held out of each job after the best number of rounds so far.
    """

    jobs: Sequence[BoostingJob]
    most: int
    ends: SearchEnd
    n_workers: int = 1
    keeps_members: bool = False
    callbacks: Sequence[Callback] = ()
    keeps_scores: bool = False
    n_rounds: int = 0
    best_scores: list[Floats] = field(default_factory=list)
    made: list[list[list[Any]]] = field(default_factory=list)
    choice: RoundChoice = field(init=False)
    reason: str = ""

    def step(self, n_rounds: int = _STEP) -> None:
        """Boost all folds by some rounds, and look at the curves."""
        end = min(self.n_rounds + n_rounds, self.most)
        scores = [job.held_out_scores() for job in self.jobs] if self.keeps_scores else []
        made = _side_by_side(self.jobs, self.n_rounds, end, self.n_workers)
        curves = np.array([_curve(job) for job in self.jobs])
        is_score = any(job.watch is not None and job.watch.scoring is not None for job in self.jobs)
        choice = RoundChoice.of_curves(curves, is_score)
        reason = self.ends.reason(choice) or ("the limit was reached" if end == self.most else "")
        called_off = self._call_each(end) if self.callbacks else None
        if called_off is not None:
            choice = RoundChoice.of_curves(curves[:, :called_off], is_score)
            reason = "a callback ended the search"
        # What is known of a step changes at once: after an interrupt the step before counts.
        own = (curves.argmin(axis=1) + 1).tolist()
        if reason:
            _log.debug("%s, by part %s; %s", choice.summary, own, reason)
        if self.keeps_members:
            before = self.made or [[] for _ in self.jobs]
            self.made = [[*old, *new] for old, new in zip(before, made, strict=True)]
        n_more = choice.n_rounds - self.n_rounds
        if n_more > 0:  # the best round is one of these
            trios = zip(self.jobs, scores, made, strict=False)
            self.best_scores = [job.after(each, new[:n_more]) for job, each, new in trios]
        self.choice, self.n_rounds, self.reason = choice, end, reason

    def _call_each(self, end: int) -> int | None:
        """Call the callbacks for each new round; return the round at which one wants to end."""
        log = _mean_log([job.log for job in self.jobs])
        for n_rounds in range(self.n_rounds + 1, end + 1):
            if _called(self.callbacks, n_rounds, log.head(n_rounds)):
                return n_rounds
        return None


def _mean_log(logs: Sequence[TrainingLog]) -> TrainingLog:
    """Return the means over the folds, as far as all of them know something."""
    tables = [log.columns() for log in logs]
    means = {name: np.mean([each[name] for each in tables], axis=0) for name in tables[0]}
    return of_columns(means, len(logs))


def choose_rounds(search: RoundSearch, progress: Progress) -> None:
    """Boost all folds side by side until their mean curve has turned, or falls too slowly.

    Parameters
    ----------
    search : RoundSearch
        Has not begun.
    progress : Progress
        Shows the number of rounds after each step.
    """
    while not search.reason:
        search.step()
        what = "validation score" if search.choice.is_score else "validation loss"
        progress.show(search.n_rounds, f"{what} {search.choice.mean[-1]:.4g}")


def _side_by_side(
    jobs: Sequence[BoostingJob], begin: int, end: int, n_workers: int
) -> list[list[list[Any]]]:
    """Run the same rounds of all jobs."""
    silent = Progress("", "", end, 0)
    calls = [(job, begin, end, silent) for job in jobs]
    workers = min(n_workers, len(jobs))
    return list(in_order(BoostingJob.run, calls, workers, use_threads=True, own=True))


def _curve(job: BoostingJob) -> Floats:
    assert job.watch is not None
    return job.watch.history(job.log)


def warn_if_unsplit(
    name: str, rounds: Sequence[Sequence[Any]], rows: TrainingRows, choices: BoostingChoices
) -> None:
    """Warn if every tree is a single leaf, although there was something to learn.

    Such a model predicts the same for every row.

    Parameters
    ----------
    name : str
        The class of the estimator.
    rounds : sequence of sequences of Tree
        The members of each round; weak learners of the user's are not looked at.
    rows : TrainingRows
        The rows that they were fitted to.
    choices : BoostingChoices
        The limits of the trees.
    """
    members = (member for members in rounds for member in members)
    if not all(isinstance(tree, _core.Tree) and tree.n_nodes == 1 for tree in members):
        return
    if not _varies(rows):
        return  # one prediction is the right one
    n_drawn, needed = max(1, int(rows.n_counted * choices.subsample)), 2 * choices.min_samples_leaf
    if n_drawn < needed:
        reason = (
            f"a split needs {needed} rows with min_samples_leaf={choices.min_samples_leaf}, and "
            f"a round has {n_drawn}"
        )
    else:
        reason = (
            "no feature differs between rows so that a split would lower the loss within the "
            "limits that were set (min_samples_leaf, min_samples_split, min_child_weight, "
            "min_impurity_decrease and their like)"
        )
    warn(f"{name} predicts the same for every row, because no tree could be split: {reason}.")


def _varies(rows: TrainingRows) -> bool:
    """Whether rows to learn from differ in the target."""
    present = rows.target.table[rows.repetitions > 0]
    return len(present) > 1 and bool((present != present[0]).any())
