"""The same estimators fitted to many training sets, and their predictions for the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.base.arrays import Floats, Rows
from committee.base.work import Progress, count_workers, in_order
from committee.members.output import Output
from committee.members.training import Task, TrainingData, is_own
from committee.tables.native_table import AnyTable
from committee.theory.training_sets import DrawnSets, FreshSets, Target


@dataclass(eq=False)
class PredictingData(TrainingData):
    """Rows to fit to, with a table of other rows, which members predict instead of these.

    Parameters
    ----------
    others : AnyTable or None
        The rows to predict.
    """

    others: AnyTable | None = None

    def predict(
        self, member: Any, output: Output, rows: Rows | None = None, columns: Rows | None = None
    ) -> Floats:
        """Return the predictions of a fitted member for the other rows."""
        assert self.others is not None
        with self.others.quiet():
            return output.predict(member, self.others.shown_to(member))


@dataclass(frozen=True, eq=False)
class RepeatedFits:
    """Estimators, the rows that their fits predict, and how.

    Parameters
    ----------
    estimators : mapping of str to estimator
        What is fitted to each training set.
    test : AnyTable
        Rows to predict.
    method : {"predict", "predict_proba"}
        What is predicted.
    n_jobs : int or None
        Workers.
    seed : int
        Sets random states that are None, in each training set anew.
    verbose : int
        0 is silent.
    """

    estimators: Mapping[Any, Any]
    test: AnyTable
    method: str
    n_jobs: int | None
    seed: int
    verbose: int

    def run(self, sets: DrawnSets | FreshSets) -> Iterator[tuple[Any, Floats]]:
        """Yield the name of an estimator and the predictions of a fit, for all fits."""
        fits = self._drawn(sets) if isinstance(sets, DrawnSets) else self._fresh(sets)
        n_sets = len(sets.samples if isinstance(sets, DrawnSets) else sets.pairs)
        progress = Progress("bias_variance", "fits", n_sets * len(self.estimators), self.verbose)
        for name, predicted in fits:
            progress.advance()
            assert predicted is not None
            yield name, predicted

    def _drawn(self, sets: DrawnSets) -> Iterator[tuple[Any, Floats | None]]:
        """Fit to rows of one table: members of this library share its reading and its bins."""
        data = self._data(sets.table, sets.target)
        calls = [
            (data, name, k, rows) for k, rows in enumerate(sets.samples) for name in self.estimators
        ]
        tasks = [self._task(*call) for call in calls]
        for place, (_, predicted) in data.each(tasks):
            yield calls[place][1], predicted

    def _fresh(self, sets: FreshSets) -> Iterator[tuple[Any, Floats | None]]:
        """Fit to tables, each by itself."""
        calls, names = [], []
        for k, (table, target) in enumerate(sets.pairs):
            data = self._data(table, target)
            for name in self.estimators:
                calls.append((data, self._task(data, name, k, None)))
                names.append(name)
        own = all(is_own(estimator) for estimator in self.estimators.values())
        n_workers = min(count_workers(self.n_jobs, own), len(calls))
        found = in_order(_predicted, calls, n_workers, use_threads=own, own=own)
        yield from zip(names, found, strict=True)

    def _data(self, table: AnyTable, target: Target) -> PredictingData:
        return PredictingData(
            table,
            target.values,
            target.labels,
            n_jobs=self.n_jobs,
            seed=self.seed,
            others=self.test,
        )

    def _task(self, data: TrainingData, name: Any, number: int, rows: Rows | None) -> Task:
        n_classes = 0 if data.labels is None else len(data.labels)
        return Task(
            data.template(str(name), number, self.estimators[name]),
            rows,
            test=np.zeros(0, np.int64),  # rows of another table
            output=Output(self.method, n_classes),
            keeps=False,
        )


def _predicted(data: PredictingData, task: Task) -> Floats | None:
    return data.fit_and_predict(task)[1]
