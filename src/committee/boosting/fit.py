"""One fit of a gradient boosting estimator: from a table to fitted attributes.

`BoostingFit` reads the table, holds out validation rows, plans the draws and hands a `BoostingJob`
to its rounds. It does not change the estimator, but tells what its attributes should become.
"""

from __future__ import annotations

import warnings
import zlib
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.params import check_seed
from committee.base.sampling import RowSampler, number_groups, parameter_seed, plan_rows
from committee.base.work import Progress, resolve_threads
from committee.boosting.additive_model import LearnerSum, TreeSum
from committee.boosting.categories import TargetStatistics, encode_categories
from committee.boosting.defaults import choose
from committee.boosting.rounds import BoostingJob, RoundChoice, choose_rounds
from committee.boosting.settings import (
    booster_settings,
    boosting_weights,
    drawn_features,
    in_rows,
    limit_weight,
)
from committee.boosting.start import BoostingStart, start_of
from committee.boosting.weak_learners import AnyLearner, TreeLearner
from committee.evaluation.early_stopping import (
    Stopper,
    TrainingLog,
    Watch,
    fold_rows,
    held_out_rows,
)
from committee.evaluation.scored_target import ScoredTarget
from committee.losses.objective import Objective
from committee.members.meta_estimator import takes_weights
from committee.tables.native_table import AnyTable, data_fingerprint
from committee.tables.table import TableSchema, fingerprint, read_table
from committee.tables.target import check_same_length, read_weights
from committee.trees.engine_settings import RowWeights, bin_table

if TYPE_CHECKING:
    from committee.losses.loss import Loss

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# What seeds of their own are made for.
_VALIDATION, _ORDERS, _FOLDS = 7, 8, 9


class BoostingFit:
    """Everything that a fit looks at.

    Parameters
    ----------
    model : BoostingModel
        The estimator, whose parameters have been looked at one by one.
    X, y, sample_weight, eval_set, groups
        What `fit` was given.
    """

    def __init__(
        self, model: Any, X: Any, y: Any, sample_weight: Any, eval_set: Any, groups: Any
    ) -> None:
        self.model, self.X, self.eval_set, self.groups = model, X, eval_set, groups
        self.name = type(model).__name__
        self.is_warm: bool = model._is_warm
        # The table as the learner reads it; the schema is for trees only.
        self.table: Any
        self.schema: TableSchema | None
        if model.estimator is None:
            self.table, self.schema = read_table(X, model.categorical_features)
        else:
            self.table, self.schema = AnyTable(X), None
        self.raw_table, self.raw_schema = self.table, self.schema
        self.n_rows: int = self.table.n_rows
        own = read_weights(sample_weight, self.n_rows)
        self.target: ScoredTarget = model._read_target(y, own)
        check_same_length(self.n_rows, self.target.n_rows)
        self.loss: Loss = model._make_loss(self.target)
        self.seed: int = model._seed if self.is_warm else check_seed(model.random_state)
        self.stops: bool = model._stops or model._stops_on(eval_set)
        self._weigh(own)
        self.n_features: int = self.table.n_features
        n_columns = self.objective.n_columns
        self.choices = choose(
            model,
            self.n_counted,
            self.n_features,
            n_columns,
            is_divisible=self._is_divisible,
            is_warm=self.is_warm,
        )
        self.n_kept = self._count_kept()
        self.round_choice: RoundChoice | None = model.round_choice_ if self.is_warm else None

    def attributes(self) -> dict[str, Any]:
        """Run the rounds; return what is to be set."""
        self._bin()
        attributes: dict[str, Any] = self.model._target_attributes(self.target)
        if self.is_warm:
            self._check_continues(attributes)
        if self._chooses_rounds:
            self.round_choice = self._choose_rounds()
            self.choices = replace(self.choices, n_estimators=self.round_choice.n_rounds)
        learner = self._learner()
        start: BoostingStart = self.model._start if self.is_warm else self._start()
        job = self._job(learner, start)
        n_rounds = self.choices.n_estimators
        progress = Progress(self.name, "rounds", n_rounds, int(self.model.verbose))
        rounds = job.run(self.n_kept, n_rounds, progress)
        n_features = self.n_features
        attributes |= self._results(rounds, job)
        attributes |= {
            "_start": start,
            "_loss": job.scorer.losses[0],
            "_given_loss": self.loss,
            "_seed": self.seed,
            "_fingerprint": self._fingerprint(attributes["_sum"]),
            "_n_rows": self.n_rows,
            "n_features_in_": n_features,
            "n_trees_per_iteration_": self.objective.n_columns,
            "max_features_": drawn_features(self.model, self.choices, n_features)[2],
            "learning_rate_": self.choices.learning_rate,
            "round_choice_": self.round_choice,
            "chosen_params_": self.choices.params(attributes["n_estimators_"]),
        }
        names = self.table.names if self.schema is None else self.schema.names
        if names is not None:
            attributes["feature_names_in_"] = np.array(names, dtype=object)
        if self.schema is not None:
            attributes["schema_"] = self.schema
        return attributes

    # ---- rows ----

    def _weigh(self, own: Floats | None) -> None:
        """Weigh the rows, and hold some out where early stopping needs them.

        Rows that are held out stay in the table with a weight of zero: they are absent.
        """
        combined = RowWeights.combine(self.n_rows, own, self.model._class_factors(self.target))
        weights = boosting_weights(combined, own)
        self.weights = self.tree_weights = weights
        self.n_counted = combined.n_counted
        self.held_out: Rows | None = None
        self.learnt: Rows | None = None
        if weights is not None and ((weights == 0.0) | (weights == 1.0)).all():
            # Some rows are absent, the others count alike: the booster needs no weights.
            self.learnt, self.tree_weights = np.flatnonzero(weights), None
        losses = (self.loss,) * self.target.n_outputs
        n_threads = resolve_threads(self.model.n_jobs)
        self.objective = Objective(losses, _columns(self.target), weights, n_threads)
        if self.stops and self.eval_set is None:
            self._hold_out(
                held_out_rows(
                    self.n_rows,
                    self.model.validation_fraction,
                    np.random.default_rng(parameter_seed(self.seed, _VALIDATION)),
                    **self._strata(),
                    last=self.model.validation_part == "last",
                )
            )

    def _strata(self) -> dict[str, Any]:
        """Return what must be looked at where rows are held out."""
        codes = self.target.codes
        return {
            "weights": self.weights,
            "classes": None if codes is None else codes[:, 0],
            "groups": self.groups,
        }

    def _hold_out(self, rows: Rows) -> None:
        """Learn from all rows but these, which are watched."""
        weights = self.weights
        left = np.ones(self.n_rows) if weights is None else weights.copy()
        left[rows] = 0.0
        self.held_out, self.weights = rows, left
        # Where rows count alike, the booster is told by the sample which of them to use.
        self.tree_weights = None if self.tree_weights is None else left
        self.learnt = np.flatnonzero(left)
        self.n_counted = RowWeights(self.n_rows, left, None).n_counted
        self.objective = replace(self.objective, weights=left)

    @property
    def _mask(self) -> NDArray[np.uint8] | None:
        """Rows to learn from, where some are held out."""
        if self.learnt is None:
            return None
        mask = np.zeros(self.n_rows, np.uint8)
        mask[self.learnt] = 1
        return mask

    def _sampler(self) -> RowSampler | None:
        share = self.choices.subsample
        if share == 1.0:
            return None
        options: dict[str, Any] = {
            "bootstrap": False,
            "weights": self._chances(),
            "groups": self.groups,
        }
        n_units = plan_rows(self.n_rows, self.seed, **options).n_draws
        options["max_samples"] = max(1, int(share * n_units))
        return plan_rows(self.n_rows, self.seed, **options)

    def _chances(self) -> Floats | None:
        """Return which rows may be drawn: all alike, and groups alike whatever their size."""
        if self.weights is None or (self.weights > 0).all():
            return None
        rows = np.flatnonzero(self.weights)
        if self.groups is not None:  # one row speaks for its group
            _, numbers = number_groups(self.groups, self.n_rows)
            rows = rows[np.unique(numbers[rows], return_index=True)[1]]
        chances = np.zeros(self.n_rows)
        chances[rows] = 1.0
        return chances

    # ---- the number of rounds ----

    @property
    def _chooses_rounds(self) -> bool:
        """Whether held-out rows say how many rounds to do before all rows are learnt from."""
        return self.choices.n_folds > 0 and not self.stops

    @property
    def _is_divisible(self) -> bool:
        """Whether there are several rows, of several classes."""
        codes, weights = self.target.codes, self.weights
        if codes is None or self._n_present < 2:
            return self._n_present > 1
        present = codes if weights is None else codes[weights > 0]
        return bool((present != present[0]).any())

    @property
    def _n_present(self) -> int:
        return self.n_rows if self.weights is None else int(np.count_nonzero(self.weights))

    def _choose_rounds(self) -> RoundChoice:
        model, choices = self.model, self.choices
        generator = np.random.default_rng(parameter_seed(self.seed, _FOLDS))
        options = self._strata()
        if choices.n_folds == 1 or model.validation_part == "last":
            is_last = model.validation_part == "last"
            share = model.validation_fraction
            parts = [held_out_rows(self.n_rows, share, generator, **options, last=is_last)]
        else:
            parts = fold_rows(self.n_rows, choices.n_folds, generator, **options)
        noun = f"rounds at most, in {len(parts)} part{'s' if len(parts) > 1 else ''} to choose"
        progress = Progress(self.name, noun, choices.n_estimators, int(model.verbose))
        jobs = [self._fold(rows) for rows in parts]
        return choose_rounds(jobs, choices.n_estimators, choices.patience, progress)

    def _fold(self, rows: Rows) -> BoostingJob:
        """Return the rounds of a fit that learns from all rows but these, and watches them.

        The binned table is shared: bins do not look at the target. Target statistics do, and are
        made anew without the rows that are held out.
        """
        fold = copy(self)
        fold._hold_out(rows)
        if self.statistics is not None:
            fold._bin()
        fold.eval_set = None
        job = fold._job(fold._learner(), fold._start())
        job.callbacks = ()  # they hear of the rounds that become the model
        job.notes_training = False
        return job

    # ---- learner and start ----

    def _bin(self) -> None:
        """Encode long categories and bin the table, where trees learn from it."""
        self.dataset: Any = None
        self.statistics: TargetStatistics | None = None
        model, own = self.model, self.raw_schema
        if own is None:
            return
        self.statistics, self.table, own = encode_categories(
            model.category_encoding,
            self.raw_table,
            own,
            self.objective,
            self.target,
            parameter_seed(self.seed, _ORDERS),
        )
        self.dataset, seen = bin_table(
            model,
            self.table,
            own if self.statistics is None else self.statistics.schema(own),
            self.weights,
            exact=model.split_finding == "exact",
            n_threads=resolve_threads(model.n_jobs),
        )
        self.schema = seen if self.statistics is None else self.statistics.own_schema(own, seen)

    def _learner(self) -> TreeLearner | AnyLearner:
        if self.schema is None:
            return self._any_learner()
        model, rate = self.model, self.choices.learning_rate
        total = float(self.n_counted if self.weights is None else self.weights.sum())
        share = self.choices.subsample
        n_drawn = max(1, int(self.n_counted * share))
        settings = booster_settings(model, self.schema, self.choices, n_drawn, total * share)
        in_rows(settings, self.objective)
        weighs_hessians = self.weights is not None and self.loss.has_unit_hessian
        limit_weight(settings, model, n_drawn, total * share, weighs_hessians)
        if self.statistics is not None:
            self.statistics.widen(settings, self.n_features)
        n_threads = resolve_threads(model.n_jobs)
        booster = _core.Booster(self.dataset, settings, self.tree_weights, n_threads)
        alpha = model.ccp_alpha / 2  # scikit-learn's is of squared errors, twice the loss
        directions = settings.get("monotonic")
        return TreeLearner(booster, self.table, rate, self.seed, alpha, directions, n_threads)

    def _any_learner(self) -> AnyLearner:
        estimator = self.model.estimator
        weighs = takes_weights(estimator)
        if self.tree_weights is not None and not weighs:
            raise ValueError(
                f"estimator must take sample_weight to boost with weights; {estimator!r} does not"
            )
        rate = self.choices.learning_rate
        return AnyLearner(estimator, self.table, rate, self.seed, weighs, self.learnt)

    def _start(self) -> BoostingStart:
        return start_of(self.model.init, self.X, self.target, self.objective)

    # ---- the job ----

    def _job(self, learner: TreeLearner | AnyLearner, start: BoostingStart) -> BoostingJob:
        scores = start.scores(self.X, self.n_rows, self.loss)
        # All rounds are measured by one loss, that of the start.
        scorer, log = self.objective.prepared(scores), TrainingLog.empty()
        watch = self._watch(scorer, start)
        tol = float(self.model.tol)
        if watch is not None and self.model.scoring is None:
            # Relative to the loss of the start, so that it does not depend on units.
            tol *= abs(watch.badness(watch.look(scores), 0))
        if self.is_warm:
            log = self.model.training_log_.head(self.n_kept)
            self._replay(scores, watch)
        return BoostingJob(
            learner,
            self.objective,
            scorer,
            scores,
            self._mask,
            self._sampler(),
            watch,
            self._stopper(watch, scores, tol, log),
            self.model._callbacks(),
            log,
        )

    def _watch(self, scorer: Objective, start: BoostingStart) -> Watch | None:
        """Return the validation rows: those given, or those held out."""
        scoring, rows = self.model.scoring, self.held_out
        if self.eval_set is None:
            if rows is None:
                return None
            part = self.target.part(rows)
            return Watch(scorer.part(rows, part.weights), part, scoring, rows=rows)
        X, y, *weight = _opened(self.eval_set)
        try:
            table, n_rows = self._read_validation(X)
            weights = read_weights(weight[0] if weight else None, n_rows)
            part = self.model._read_new_target(y, weights, self.target)
            check_same_length(n_rows, part.n_rows)
            check_rows(self.loss, part)
        except (TypeError, ValueError) as error:
            raise type(error)(f"eval_set: {error}") from error
        scores = start.scores(X, n_rows, self.loss)
        objective = Objective(scorer.losses, _columns(part), weights)
        return Watch(objective, part, scoring, table=table, scores=scores)

    def _read_validation(self, X: Any) -> tuple[Any, int]:
        """Return a validation table as the learner takes it, and its number of rows."""
        if self.schema is not None:
            table = self.schema.read(X, self.name)
            table = table if self.statistics is None else self.statistics.encode(table)
            return table, table.n_rows
        fitted = self.table
        found = AnyTable(X).matched(fitted.names, fitted.n_features, self.name, stacklevel=6)
        return found.native, found.n_rows

    def _replay(self, scores: Floats, watch: Watch | None) -> None:
        """Add the rounds of the last fit to the scores of training and of validation rows."""
        sums, n_threads = self.model._sum, resolve_threads(self.model.n_jobs)
        sums.replay(self.table, scores, n_threads)
        if watch is not None and watch.scores is not None:
            table = sums.read(_opened(self.eval_set)[0], self.name)
            sums.replay(table, watch.scores, n_threads)

    def _stopper(
        self, watch: Watch | None, scores: Floats, tol: float, log: TrainingLog
    ) -> Stopper:
        """Return a stopper that remembers the rounds there are."""
        patience = self.choices.patience if self.stops else None
        if watch is None or not self.is_warm:
            return Stopper(patience, tol, self.n_kept)
        now = watch.badness(watch.look(scores), self.n_kept)
        before = watch.history(log)
        if before[-1] != now or np.isnan(before).any():
            before = np.array([now])  # other validation rows, or none: only this round is known
        stopper = Stopper(patience, tol, self.n_kept - len(before))
        for value in before.tolist():
            stopper.add(value)
        return stopper

    # ---- results ----

    def _results(self, rounds: list[list[Any]], job: BoostingJob) -> dict[str, Any]:
        """Return the model of the best round, and the log."""
        n_rounds = self.n_kept + len(rounds)
        best = n_rounds if job.watch is None else max(job.stopper.best, 1)
        last = best if self.stops else n_rounds
        kept = rounds[: max(last - self.n_kept, 0)]
        return {
            "_sum": self._sum(kept, last),
            "training_log_": job.log,
            "best_iteration_": best,
            "n_estimators_": last,
        }

    def _sum(self, rounds: list[list[Any]], n_rounds: int) -> TreeSum | LearnerSum:
        """Return the sum of all rounds: those of the last fit, and these."""
        rate = self.choices.learning_rate
        before: Any = self.model._sum if self.is_warm else None
        more: TreeSum | LearnerSum
        if not rounds:
            more = before.head(n_rounds)
            return more
        if self.schema is not None:
            more = TreeSum.of_rounds(rounds, self.schema, self.statistics)
        else:
            rates = [rate] * len(rounds)
            more = LearnerSum(rounds, rates, self.table.names, self.table.n_features)
        return more if before is None else before.joined(more)

    # ---- warm start ----

    def _count_kept(self) -> int:
        """Return how many rounds stay: those of the last fit with warm_start, else none."""
        n_kept = self.model._sum.n_rounds if self.is_warm else 0
        n_estimators = self.choices.n_estimators
        if n_kept > n_estimators:
            raise ValueError(
                f"n_estimators={n_estimators} must be larger or equal to "
                f"estimators_.shape[0]={n_kept} when warm_start==True"
            )
        if n_kept == n_estimators:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=4,
            )
        return n_kept

    def _fingerprint(self, total: TreeSum | LearnerSum) -> int:
        """Return a number that tells these rows, targets and weights from others."""
        columns = self.objective.y
        if isinstance(total, TreeSum):
            number = fingerprint(total.forests[0], self.table, columns)
        else:
            number = data_fingerprint(self.table, columns)
        return number if self.weights is None else zlib.crc32(self.weights.data, number)

    def _check_continues(self, attributes: dict[str, Any]) -> None:
        """Check that new rounds can join those of the last fit."""
        model = self.model
        is_same = (
            self.n_rows == model._n_rows
            and self.n_features == model.n_features_in_
            and getattr(model, "schema_", None) == self.schema
            and self._has_statistics_of(model._sum)
            and (self.loss is model._given_loss or self.loss == model._given_loss)
            and model._start.is_of(model.init)
        )
        for name, value in attributes.items():
            is_same = is_same and bool(np.array_equal(getattr(model, name), value))
        if not is_same or self._fingerprint(model._sum) != model._fingerprint:
            raise ValueError(
                "warm_start=True adds rounds that learn from the table of the last fit; the rows, "
                "columns, target, classes, weights, loss, init, category_encoding or weak learner "
                "have changed. Set warm_start=False to start anew"
            )

    def _has_statistics_of(self, total: TreeSum | LearnerSum) -> bool:
        """Whether the trees of the last fit see in the columns what new ones will see."""
        fitted = total.statistics if isinstance(total, TreeSum) else None
        return self.statistics is fitted if fitted is None else fitted.is_like(self.statistics)


def _opened(eval_set: Any) -> tuple[Any, ...]:
    if isinstance(eval_set, list) and len(eval_set) == 1:
        (eval_set,) = eval_set  # as LightGBM and XGBoost take it
    if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
        raise TypeError(
            "eval_set must be a tuple (X, y) or (X, y, sample_weight); got "
            f"{type(eval_set).__name__}"
        )
    return eval_set


def check_rows(loss: Loss, target: ScoredTarget) -> None:
    """Raise ValueError unless the loss is defined for each row of positive weight."""
    for column in target.table[target.counted].T:
        loss.check_target(column)


def _columns(target: ScoredTarget) -> NDArray[Any]:
    """Return the target with one contiguous column an output.

    Rows of weight zero are absent, and may hold what the loss cannot take: they get the target of
    another row.
    """
    if target.counted.all():
        return np.asfortranarray(target.table)
    columns = np.array(target.table, order="F")
    columns[~target.counted] = columns[target.counted.argmax()]
    return columns
