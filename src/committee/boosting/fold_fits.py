"""Boosting fitted to all folds of a table but one, in turn, with one number of rounds for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from committee.base.arrays import Rows
from committee.base.params import check_seed
from committee.base.work import resolve_threads
from committee.boosting.fit import BoostingFit, BoostingModel
from committee.boosting.rounds import RoundChoice, SearchEnd, choose_rounds
from committee.boosting.task import BoostingParameters
from committee.boosting.training_data import TrainingTable
from committee.tables.source import open_source

# Up to so many cells, the fits of several folds run side by side, with one thread each.
_SMALL_CELLS = 2**22

Model = TypeVar("Model", bound=BoostingModel)


def fit_folds(
    model: Model,
    X: Any,
    y: Any,
    sample_weight: Any,
    parts: Sequence[Rows],
    may_go_on: Callable[[int], bool] = lambda n_rounds: True,
) -> tuple[list[Model], RoundChoice]:
    """Return copies of an estimator fitted to all rows but a part each."""
    params = BoostingParameters.of(model)
    params.check(None)
    n_workers = resolve_threads(params.n_jobs) if _is_small(X) else 1
    if n_workers > 1:
        params = replace(params, n_jobs=1)
    seed = check_seed(params.random_state)
    name = type(model).__name__
    plan = FoldFits(params, model._task(params), None, seed, name, X, None)
    fits, choice = plan.run_folds(y, sample_weight, parts, may_go_on, n_workers)
    models = []
    for attributes in fits:
        fitted = clone(model)
        fitted._replace_fitted(attributes)
        models.append(fitted)
    return models, choice


class FoldFits(BoostingFit):
    """The fits to all folds but one; they share the bins of the whole table."""

    def run_folds(
        self,
        y: Any,
        sample_weight: Any,
        parts: Sequence[Rows],
        may_go_on: Callable[[int], bool],
        n_workers: int,
    ) -> tuple[list[dict[str, Any]], RoundChoice]:
        """Fit to all rows but a part, for each part, with the number of rounds that suits all best.

        Parameters
        ----------
        y, sample_weight
            As in `fit`.
        parts : sequence of ndarray of int
            Rows that are held out, ascending.
        may_go_on : callable
            Called with the number of rounds so far; False ends the search for more.
        n_workers : int
            Fits that run side by side.

        Returns
        -------
        fits : list of dict
            The fitted attributes of each fit.
        choice : RoundChoice
            The mean of the validation curves.
        """
        unbinned = TrainingTable.read(self.X, self.params)
        rows = self._read_rows(y, sample_weight, None, unbinned)
        choices = self._choose(unbinned, rows)
        table = self._binned(unbinned, rows)
        folds = []
        for part in parts:
            held_out = np.zeros_like(rows.repetitions)
            held_out[part] = rows.repetitions[part]
            folds.append(rows.without(held_out))
        tables = [
            table if table.statistics is None else self._binned(unbinned, fold) for fold in folds
        ]
        jobs = [self._fold_job(own, fold, choices) for own, fold in zip(tables, folds, strict=True)]
        made: list[list[list[Any]]] = [[] for _ in jobs]
        choice = choose_rounds(
            jobs,
            choices.n_estimators,
            SearchEnd.of(choices),
            self._progress("rounds at most", choices.n_estimators),
            made,
            may_go_on,
            n_workers,
        )
        fits = []
        for own, fold, job, rounds in zip(tables, folds, jobs, made, strict=True):
            attributes = self.task.attributes(rows.target) | {
                "_sum": self._sum(
                    rounds[: choice.n_rounds], choice.n_rounds, own, choices.learning_rate
                ),
                "training_log_": job.log.head(choice.n_rounds),
                "best_iteration_": choice.n_rounds,
                "n_estimators_": choice.n_rounds,
            }
            start = self._start(fold)
            fits.append(
                attributes | self._described(own, fold, choices, start, job, choice, attributes)
            )
        return fits, choice


def _is_small(X: Any) -> bool:
    """Whether fits to a table do better side by side than with several threads each."""
    source = open_source(X)
    return source.n_rows * source.n_features <= _SMALL_CELLS
