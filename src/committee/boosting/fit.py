"""The fit of gradient boosting: from a table to fitted attributes, in the order of its steps."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from committee.base.arrays import Floats
from committee.base.params import check_seed
from committee.base.sampling import SeedUse, parameter_seed
from committee.base.warn import warn
from committee.base.work import FitLog, Progress, resolve_threads, running_fit
from committee.boosting.additive_model import BoostingStart, LearnerSum, TreeSum, start_of
from committee.boosting.any_learner import AnyLearner
from committee.boosting.defaults import BoostingChoices, choose
from committee.boosting.eval_sets import EvalSet, read_eval_sets
from committee.boosting.fitted import FittedBoosting, params_until
from committee.boosting.intervals import HeldOutErrors
from committee.boosting.rounds import (
    BoostingJob,
    RoundChoice,
    RoundSearch,
    SearchEnd,
    choose_rounds,
    warn_if_unsplit,
)
from committee.boosting.task import BoostingParameters, BoostingTask, check_rows
from committee.boosting.training_data import (
    ContentKeys,
    TrainingRows,
    TrainingTable,
    target_columns,
)
from committee.boosting.tree_learner import TreeLearner, drawn_features
from committee.boosting.warm_start import LastFit
from committee.evaluation.content_order import Counts
from committee.evaluation.early_stopping import Stopper, Watch
from committee.evaluation.training_log import TrainingLog
from committee.losses.objective import Objective
from committee.tables.target import check_same_length, read_weights

_log = logging.getLogger(__name__)


class BoostingModel(FittedBoosting):
    """Base class of the gradient boosting estimators."""

    # Groups are those of the splitter of a search, unless they are asked for.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": False}

    estimator: Any

    _task: ClassVar[type[BoostingTask]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _reads_tables(self) -> bool:
        """Whether tables may have been opened before: only the engine reads them."""
        return self.estimator is None and (self.init is None or isinstance(self.init, str))

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        groups: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Boost: fit one round of trees after another to what is still wrong.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Class labels, or finite numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows. A row of weight two counts as the row twice, a row of weight zero
            is absent. Weights that are not whole numbers are brought to a mean of one.
        eval_set : tuple (X, y) or (X, y, sample_weight), list or dict of these, or None
            Validation rows, whose loss is noted after each round; early stopping looks at them
            instead of holding out a part of the training rows. With ``n_estimators="auto"`` they
            decide when to stop, unless ``early_stopping=False``. Of several sets, which a dict
            gives names, the last decides; `training_log_` has a column for each.
        groups : array-like of shape (n_rows,) or None, default=None
            Rows with the same value are held out together, or not at all, and drawn together with
            `subsample`.
        X_val, y_val, sample_weight_val : table and array-like, or None, default=None
            Validation rows as scikit-learn's `HistGradientBoostingClassifier` takes them, in place
            of `eval_set`. A pipeline transforms X_val with ``transform_input=["X_val"]``.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        params = BoostingParameters.of(self)
        params.check(groups)
        is_warm = params.warm_start and hasattr(self, "_sum")
        last = LastFit(dict(vars(self))) if is_warm else None
        seed = check_seed(params.random_state) if last is None else last.seed
        name = type(self).__name__
        held = (eval_set, X_val, y_val, sample_weight_val)
        eval_sets = [] if all(each is None for each in held) else read_eval_sets(*held)
        plan = BoostingFit(params, self._task(params), last, seed, name, X, eval_sets)
        with FitLog(name):
            attributes = plan.run(y, sample_weight, groups)
        # All together at the end: a fit that fails leaves the estimator as it was.
        self._replace_fitted(attributes)
        return self


@dataclass(frozen=True, eq=False)
class BoostingFit:
    """One fit; `run` has its steps.

    Parameters
    ----------
    params : BoostingParameters
        The parameters of the estimator.
    task : BoostingTask
        What differs between classes and numbers.
    last : LastFit or None
        The fit whose rounds are kept; None to start anew.
    seed : int
        Seed of all draws.
    name : str
        The class of the estimator, for messages.
    X : table
        The training table.
    eval_sets : list of EvalSet
        Validation rows; the last ones decide when to stop.
    """

    params: BoostingParameters
    task: BoostingTask
    last: LastFit | None
    seed: int
    name: str
    X: Any
    eval_sets: list[EvalSet]

    def run(self, y: Any, sample_weight: Any, groups: Any) -> dict[str, Any]:
        """Fit; return the fitted attributes."""
        params, last = self.params, self.last
        unbinned = TrainingTable.read(self.X, params)
        rows = self.read_rows(y, sample_weight, groups, unbinned)
        running_fit().begin(unbinned.n_rows, unbinned.n_features)
        if self._stops and not self.eval_sets:
            rows = rows.without(self._held_out(rows))
            _log.debug("%s: learns from %d rows, others are held out", self.name, rows.n_counted)
        choices = self.choose(unbinned, rows)
        n_kept = 0 if last is None else last.count_kept(choices.n_estimators)
        table = self.binned(unbinned, rows)
        attributes = self.task.attributes(rows.target)
        if last is not None:
            last.check_continues(table, rows, params.init, attributes)
            last.warn_of_changes(params.of_rounds(choices.params(choices.n_estimators)))
        round_choice = None if last is None else last.round_choice
        errors: HeldOutErrors | None = None
        if choices.n_folds > 0 and not self._stops:
            # Held-out rows decide how many rounds to do before all rows are learned from.
            search = self._choose_rounds(unbinned, table, rows, choices)
            round_choice = search.choice
            errors = self._errors_of([job.watch for job in search.jobs], search.best_scores)
            choices = replace(choices, n_estimators=round_choice.n_rounds)
        start = self.start(rows) if last is None else last.start
        job = self._job(table, rows, choices, start)
        n_rounds = choices.n_estimators
        rounds = job.run(n_kept, n_rounds, self._progress("rounds", n_rounds))
        if last is None and (params.init is None or isinstance(params.init, str)):
            warn_if_unsplit(self.name, rounds, rows, choices)
        attributes |= self._results(rounds, job, n_kept, table, choices.learning_rate)
        if errors is None and job.watch is not None:
            best = job.best_scores if self._stops else None
            errors = self._errors_of([job.watch], [job.held_out_scores() if best is None else best])
        if errors is not None:
            attributes["_errors"] = errors
        searches = choices.n_folds > 0 and self._stops
        if searches and len(rounds) == n_rounds and not job.stopper.is_out_of_patience:
            self._warn_of_limit(choices)
        running_fit().end("%s", self._outcome(job, choices, round_choice, n_kept + len(rounds)))
        return attributes | self.described(
            table, rows, choices, start, job, round_choice, attributes
        )

    def described(
        self,
        table: TrainingTable,
        rows: TrainingRows,
        choices: BoostingChoices,
        start: BoostingStart,
        job: BoostingJob,
        round_choice: RoundChoice | None,
        fitted: dict[str, Any],
    ) -> dict[str, Any]:
        """Return the fitted attributes besides the trees and the log."""
        attributes: dict[str, Any] = {
            "_start": start,
            "_loss": job.scorer.losses[0],
            "_given_loss": rows.loss,
            "_seed": self.seed,
            "_fingerprint": table.fingerprint(rows, fitted["_sum"]),
            "_n_rows": table.n_rows,
            "n_features_in_": table.n_features,
            "n_trees_per_iteration_": rows.objective.n_columns,
            "max_features_": drawn_features(self.params, choices, table.n_features)[2],
            "learning_rate_": choices.learning_rate,
            "round_choice_": round_choice,
            "chosen_params_": choices.params(fitted["n_estimators_"]),
            "_params_of_rounds": self._params_of_rounds(choices, fitted["n_estimators_"]),
        }
        if table.names is not None:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        if table.schema is not None:
            attributes["schema_"] = table.schema
        return attributes

    def _params_of_rounds(
        self, choices: BoostingChoices, n_rounds: int
    ) -> list[tuple[int, dict[str, Any]]]:
        """Return the parameters of all rounds, see `FittedBoosting`."""
        before = [] if self.last is None else self.last.params_of_rounds
        if before and before[-1][0] >= n_rounds:
            return params_until(before, n_rounds)
        return [*before, (n_rounds, self.params.of_rounds(choices.params(n_rounds)))]

    def _outcome(
        self,
        job: BoostingJob,
        choices: BoostingChoices,
        round_choice: RoundChoice | None,
        n_made: int,
    ) -> str:
        """Return the number of rounds in words, and why there are no more."""
        if job.stopper.is_out_of_patience:
            return f"{max(job.stopper.best, 1)} rounds, the best of {n_made}: no improvement since"
        if n_made < choices.n_estimators:
            return f"{n_made} rounds: a callback ended the fit"
        if self._stops:
            return f"{max(job.stopper.best, 1)} rounds, the best of {n_made}: the limit was reached"
        if choices.n_folds > 0 and round_choice is not None:
            return f"{n_made} rounds, chosen on held-out rows ({round_choice.summary})"
        return f"{n_made} rounds, as given"

    # ---- rows and settings ----

    @property
    def _stops(self) -> bool:
        """Whether the fit may end before all rounds are done."""
        return self.params.stops_early(bool(self.eval_sets))

    def read_rows(
        self, y: Any, sample_weight: Any, groups: Any, table: TrainingTable
    ) -> TrainingRows:
        """Return the rows with their target, loss and weights."""
        weights = read_weights(sample_weight, table.n_rows)
        target = self.task.read_target(y, weights)
        check_same_length(table.n_rows, target.n_rows)
        loss, factors = self.task.make_loss(target), self.task.class_factors(target)
        keys = ContentKeys(table, self.seed, resolve_threads(self.params.n_jobs))
        return TrainingRows.weighed(target, loss, factors, groups, keys)

    def _held_out(self, rows: TrainingRows) -> Counts:
        """Return one part of the rows to validate on."""
        share, order = self.params.validation_fraction, rows.order
        return order.last_part(share) if self._holds_out_last else order.part(share)

    @property
    def _holds_out_last(self) -> bool:
        return self.params.validation_part == "last"

    def choose(self, table: TrainingTable, rows: TrainingRows) -> BoostingChoices:
        """Return the values of the parameters that may be "auto"."""
        choices = choose(
            self.params,
            rows.n_counted,
            table.n_features,
            rows.objective.n_columns,
            is_divisible=rows.is_divisible,
            kept=None if self.last is None else self.last.chosen_params,
        )
        _log.debug("%s: %s", self.name, choices)
        return choices

    def binned(self, table: TrainingTable, rows: TrainingRows) -> TrainingTable:
        """Return the features in bins, long categories as target statistics of these rows."""
        binned = table.binned(self.params, rows, parameter_seed(self.seed, SeedUse.ORDERS))
        if binned.statistics is not None:
            encoded = binned.statistics.features
            _log.debug("%s: target statistics in place of the columns %s", self.name, encoded)
        return binned

    # ---- the number of rounds ----

    def _choose_rounds(
        self,
        unbinned: TrainingTable,
        table: TrainingTable,
        rows: TrainingRows,
        choices: BoostingChoices,
    ) -> RoundSearch:
        """Return a search for the number of rounds, when it is done."""
        if choices.n_folds == 1 or self._holds_out_last:
            parts = [self._held_out(rows)]
        else:
            parts = rows.order.folds(choices.n_folds)
        jobs = []
        for part in parts:
            fold = rows.without(part)
            # Bins do not look at the target and are shared; target statistics are made anew.
            binned = table if table.statistics is None else self.binned(unbinned, fold)
            job = self.fold_job(binned, fold, choices)
            jobs.append(job)
        sizes = [int(part.sum()) for part in parts]
        _log.debug("%s: %s rows held out in turn to choose rounds", self.name, sizes)
        noun = f"rounds at most, in {len(parts)} part{'s' if len(parts) > 1 else ''} to choose"
        progress = self._progress(noun, choices.n_estimators)
        ends = SearchEnd.of(choices)
        search = RoundSearch(
            jobs,
            choices.n_estimators,
            ends,
            callbacks=self.params.callback_list(),
            keeps_scores=self.task.has_intervals,
        )
        choose_rounds(search, progress)
        if search.choice.is_still_improving and not ends.reason(search.choice):
            self._warn_of_limit(choices)
        return search

    def _errors_of(
        self, watches: Sequence[Watch | None], scores: Sequence[Floats]
    ) -> HeldOutErrors | None:
        """Return how far predictions of held-out rows are off, where intervals are made of it."""
        known = [watch for watch in watches if watch is not None]
        return HeldOutErrors.of(known, scores) if self.task.has_intervals else None

    def _warn_of_limit(self, choices: BoostingChoices) -> None:
        warn(
            f'{self.name}: n_estimators="auto" tries at most {choices.n_estimators} rounds on a '
            "table of this size, and the last of them still made predictions of held-out rows "
            "clearly better. Give a larger n_estimators, or a learning_rate above "
            f"{choices.learning_rate:g}.",
            ConvergenceWarning,
        )

    def fold_job(
        self, table: TrainingTable, fold: TrainingRows, choices: BoostingChoices
    ) -> BoostingJob:
        """Return the rounds of a fit that learns from all rows but a fold, and watches the fold."""
        alone = replace(self, eval_sets=[])
        job = alone._job(table, fold, choices, alone.start(fold))
        job.callbacks = ()  # these are called with the means over the folds
        job.notes_training = False
        return job

    # ---- the rounds ----

    def start(self, rows: TrainingRows) -> BoostingStart:
        """Return what the first scores of rows are."""
        return start_of(self.params.init, self.X, rows.target, rows.objective)

    def _job(
        self,
        table: TrainingTable,
        rows: TrainingRows,
        choices: BoostingChoices,
        start: BoostingStart,
    ) -> BoostingJob:
        """Return everything that decides the rounds."""
        learner_class = AnyLearner if table.schema is None else TreeLearner
        learner = learner_class.of(self.params, choices, table, rows, self.seed)
        scores = rows.objective.from_scores(start.scores(self.X, rows.n_rows, rows.loss))
        # All rounds are measured by one loss, that of the start.
        scorer = rows.objective.prepared(scores)
        *others, watch = self._watches(table, rows, scorer, start)
        tol = float(self.params.tol)
        if watch is not None and self.params.scoring is None:
            # Relative to the loss of the start, so that it does not depend on units.
            tol *= abs(watch.badness(watch.look(scores), 0))
        patience = choices.patience if self._stops else None
        log, stopper = TrainingLog.empty(), Stopper(patience, tol)
        if self.last is not None:
            self._replay(table, scores, [*others, watch])
            log, stopper = self.last.log, self.last.stopper(watch, scores, patience, tol)
        return BoostingJob(
            learner,
            rows.objective,
            scorer,
            scores,
            rows.mask,
            rows.draws(choices.subsample, self.seed),
            watch,
            stopper,
            self.params.callback_list(),
            log,
            others=self._named(others, watch),
            table=table.table if table.schema is not None else table.table.native,
        )

    def _watches(
        self, table: TrainingTable, rows: TrainingRows, scorer: Objective, start: BoostingStart
    ) -> list[Watch | None]:
        """Return the validation rows: those given, or those held out; None for none."""
        if self.eval_sets:
            return [self._watch_of(each, table, rows, scorer, start) for each in self.eval_sets]
        held_out = rows.validation_part()
        if held_out is None:
            return [None]
        numbers, part = held_out
        scoring = self.params.scoring
        return [Watch(scorer.part(numbers, part.weights), part, scoring, rows=numbers)]

    def _watch_of(
        self,
        given: EvalSet,
        table: TrainingTable,
        rows: TrainingRows,
        scorer: Objective,
        start: BoostingStart,
    ) -> Watch:
        """Return rows that `fit` was given."""
        try:
            validation, n_rows = table.read_validation(given.X, self.name)
            weights = read_weights(given.sample_weight, n_rows)
            part = self.task.read_validation_target(given.y, weights, rows.target)
            check_same_length(n_rows, part.n_rows)
            check_rows(rows.loss, part)
        except (TypeError, ValueError) as error:
            where = given.argument if len(self.eval_sets) == 1 else f"eval_set {given.name!r}"
            raise type(error)(f"{where}: {error}") from error
        scores = scorer.from_scores(start.scores(given.X, n_rows, rows.loss))
        objective = scorer.of_rows(target_columns(part), weights)
        return Watch(objective, part, self.params.scoring, table=validation, scores=scores)

    def _named(self, others: Sequence[Watch | None], watch: Watch | None) -> dict[str, Watch]:
        """Return the validation rows by the names of their columns, where there are several."""
        if not others:
            return {}
        names = [each.name for each in self.eval_sets]
        pairs = zip(names, [*others, watch], strict=True)
        return {name: each for name, each in pairs if each is not None}

    def _replay(
        self, table: TrainingTable, scores: Floats, watches: Sequence[Watch | None]
    ) -> None:
        """Add the rounds of the last fit to the scores of training and of validation rows."""
        assert self.last is not None
        total: Any = self.last.sum
        n_threads = resolve_threads(self.params.n_jobs)
        total.replay(table.table, scores, n_threads)
        for watch, given in zip(watches, self.eval_sets, strict=False):
            if watch is not None and watch.scores is not None:
                total.replay(total.read(given.X, self.name), watch.scores, n_threads)

    def _progress(self, noun: str, n_all: int) -> Progress:
        return Progress(self.name, noun, n_all, int(self.params.verbose))

    # ---- results ----

    def _results(
        self,
        rounds: list[list[Any]],
        job: BoostingJob,
        n_kept: int,
        table: TrainingTable,
        learning_rate: float,
    ) -> dict[str, Any]:
        """Return the model of the best round, and the log."""
        n_rounds = n_kept + len(rounds)
        best = n_rounds if job.watch is None else max(job.stopper.best, 1)
        last = best if self._stops else n_rounds
        kept = rounds[: max(last - n_kept, 0)]
        return {
            "_sum": self.sum_of_rounds(kept, last, table, learning_rate),
            "training_log_": job.log,
            "best_iteration_": best,
            "n_estimators_": last,
        }

    def sum_of_rounds(
        self, rounds: list[list[Any]], n_rounds: int, table: TrainingTable, learning_rate: float
    ) -> TreeSum | LearnerSum:
        """Return the sum of all rounds: those of the last fit, and these."""
        before: Any = None if self.last is None else self.last.sum
        more: TreeSum | LearnerSum
        if not rounds:
            more = before.head(n_rounds)
            return more
        if table.schema is not None:
            more = TreeSum.of_rounds(rounds, table.schema, table.statistics)
        else:
            rates = [learning_rate] * len(rounds)
            more = LearnerSum(rounds, rates, table.names, table.n_features)
        return more if before is None else before.joined(more)
