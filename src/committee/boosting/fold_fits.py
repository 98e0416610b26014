"""Boosting fitted to each split of a table, with one number of rounds for all.

`search` boosts all fits a few rounds at a time; `models` returns them with the chosen number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from committee.base.arrays import Rows
from committee.base.params import check_seed
from committee.base.work import resolve_threads
from committee.boosting.defaults import BoostingChoices
from committee.boosting.fit import BoostingFit, BoostingModel
from committee.boosting.rounds import BoostingJob, RoundChoice, RoundSearch, SearchEnd
from committee.boosting.task import BoostingParameters
from committee.boosting.training_data import TrainingRows, TrainingTable
from committee.tables.source import open_source

# Up to so many cells, the fits of several folds run side by side, with one thread each.
_SMALL_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class FoldFit:
    """The fit to the rows that a fold is predicted from.

    Attributes
    ----------
    table : TrainingTable
        The features in bins.
    rows : TrainingRows
        The rows, of which those of the fold and those that are left out have weight zero.
    job : BoostingJob
        Its rounds.
    """

    table: TrainingTable
    rows: TrainingRows
    job: BoostingJob


@dataclass(frozen=True, eq=False)
class FoldFits:
    """The fits to all splits, which share the bins of the whole table.

    `search` boosts all fits a few rounds at a time; `models` returns them with the chosen number.

    Attributes
    ----------
    model : estimator
        Its parameters are those of all fits.
    plan : BoostingFit
        What the fits have in common.
    choices : BoostingChoices
        Its parameters that were "auto".
    folds : list of FoldFit
        The fits.
    search : RoundSearch
        The rounds so far.
    """

    model: BoostingModel
    plan: BoostingFit
    choices: BoostingChoices
    folds: list[FoldFit]
    search: RoundSearch

    @classmethod
    def begin(
        cls,
        model: BoostingModel,
        X: Any,
        y: Any,
        sample_weight: Any,
        splits: Sequence[tuple[Rows, Rows]],
    ) -> FoldFits:
        """Prepare the fits of an estimator to the first rows of each split.

        The second rows of a split are watched. Rows in neither, such as later ones where splits go
        forward in time, are absent.
        """
        params = BoostingParameters.of(model)
        params.check(None)
        n_workers = resolve_threads(params.n_jobs) if _is_small(X) else 1
        if n_workers > 1:
            params = replace(params, n_jobs=1)
        seed = check_seed(params.random_state)
        plan = BoostingFit(params, model._task(params), None, seed, type(model).__name__, X, [])
        unbinned = TrainingTable.read(X, params)
        rows = plan.read_rows(y, sample_weight, None, unbinned)
        choices = plan.choose(unbinned, rows)
        table = plan.binned(unbinned, rows)
        folds = []
        for train, test in splits:
            absent, held_out = rows.repetitions.copy(), np.zeros_like(rows.repetitions)
            absent[train] = absent[test] = 0
            held_out[test] = rows.repetitions[test]
            fold = rows.without(absent).without(held_out)
            own = table if table.statistics is None else plan.binned(unbinned, fold)
            folds.append(FoldFit(own, fold, plan.fold_job(own, fold, choices)))
        jobs = [fold.job for fold in folds]
        ends = SearchEnd.of(choices)
        search = RoundSearch(jobs, choices.n_estimators, ends, n_workers, keeps_members=True)
        return cls(model, plan, choices, folds, search)

    def models(self, choice: RoundChoice) -> list[Any]:
        """Return an estimator for each fold, with the number of rounds that suits all best."""
        n_rounds = choice.n_rounds
        models = []
        for fold, rounds in zip(self.folds, self.search.made, strict=True):
            rate, start = self.choices.learning_rate, self.plan.start(fold.rows)
            attributes = self.plan.task.attributes(fold.rows.target) | {
                "_sum": self.plan.sum_of_rounds(rounds[:n_rounds], n_rounds, fold.table, rate),
                "training_log_": fold.job.log.head(n_rounds),
                "best_iteration_": n_rounds,
                "n_estimators_": n_rounds,
            }
            attributes |= self.plan.described(
                fold.table, fold.rows, self.choices, start, fold.job, choice, attributes
            )
            fitted = clone(self.model)
            fitted._replace_fitted(attributes)
            models.append(fitted)
        return models


def _is_small(X: Any) -> bool:
    """Whether fits to a table do better side by side than with several threads each."""
    source = open_source(X)
    return source.n_rows * source.n_features <= _SMALL_CELLS
