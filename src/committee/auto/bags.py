"""Members fitted to folds, and their predictions on the rows that they have not seen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.auto.budget import Budget
from committee.auto.folds import Split
from committee.auto.portfolio import FEATURES, MATRIX, Candidate
from committee.base.arrays import Floats
from committee.base.work import Progress, resolve_threads
from committee.boosting.fit import BoostingModel
from committee.boosting.fold_fits import fit_folds
from committee.combining.fold_mean import FoldMean
from committee.members.output import Output
from committee.members.training import Task, TrainingData


@dataclass(frozen=True, eq=False)
class Bag:
    """A fitted member.

    Attributes
    ----------
    candidate : Candidate
        What was fitted.
    member : estimator
        Predicts by the mean of the models of the folds.
    output : Output
        How its predictions are read.
    predictions : ndarray of float64, shape (n_rows, n_values)
        On each training row by models that have not seen it.
    seconds : float
        What the fits took.
    """

    candidate: Candidate
    member: Any
    output: Output
    predictions: Floats
    seconds: float


@dataclass(frozen=True, eq=False)
class FoldTeams:
    """The training rows in the forms that members learn from, and their folds.

    Attributes
    ----------
    teams : dict of str to TrainingData
        By what is read: features, the matrix, the table.
    splits : sequence of (train, test)
        Rows of each fold.
    n_classes : int
        Number of classes; 0 for numbers.
    """

    teams: dict[str, TrainingData]
    splits: Sequence[Split]
    n_classes: int

    def fit(self, candidate: Candidate, number: int, budget: Budget, share: float) -> Bag:
        """Fit a candidate to the rows outside of each fold.

        Parameters
        ----------
        candidate : Candidate
            What is fitted.
        number : int
            Its place, which its seed depends on.
        budget : Budget
            What is done is counted there.
        share : float
            Of the work that is left, for boosting, which goes on as long as it improves.
        """
        begin = time.monotonic()
        cost = candidate.cost * self.share_of_rows * len(self.splits)
        team = self.teams[candidate.reads]
        output = self._output(candidate)
        template = team.template(candidate.name, number, candidate.estimator)
        if isinstance(candidate.estimator, BoostingModel):
            model = template.copy(resolve_threads(team.n_jobs))
            models = self._boosted(model, team, budget, cost, budget.left * share)
            predicted: list[Any] = [
                team.predict(fitted, output, test)
                for fitted, (_, test) in zip(models, self.splits, strict=True)
            ]
        else:
            tasks = [Task(template, train, test=test, output=output) for train, test in self.splits]
            results = team.run(tasks, Progress("", "", len(tasks), 0))
            budget.use(cost)
            models, predicted = [each for each, _ in results], [each for _, each in results]
        predictions = np.full((len(team.y), self.n_classes or 1), np.nan)
        for (_, test), part in zip(self.splits, predicted, strict=True):
            predictions[test] = part
        member = FoldMean(output, models)
        return Bag(candidate, member, output, predictions, time.monotonic() - begin)

    def _output(self, candidate: Candidate) -> Output:
        is_own = candidate.reads in (FEATURES, MATRIX)
        has_shares = self.n_classes and (is_own or hasattr(candidate.estimator, "predict_proba"))
        return Output("predict_proba" if has_shares else "predict", self.n_classes)

    @property
    def share_of_rows(self) -> float:
        """Share of the rows that the model of a fold learns from."""
        train, test = self.splits[0]
        return len(train) / (len(train) + len(test))

    def _boosted(
        self, model: Any, team: TrainingData, budget: Budget, cost: float, most: float
    ) -> list[Any]:
        """Return the models of all folds, with the number of rounds that suits all of them."""
        before = budget.used

        def may_go_on(n_rounds: int) -> bool:
            budget.used = before + n_rounds * cost
            return budget.used - before < most and not budget.is_late()

        parts = [test for _, test in self.splits]
        models: list[Any] = fit_folds(model, team.shared, team.y, team.weights, parts, may_go_on)[0]
        return models
