"""A stand-in for estimators of ours that are not there yet, to see that a suite works.

It takes our parameters and is scikit-learn's histogram boosting. Its figures mean nothing.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from benchmarks.contestants.boosters import HistGradientBoosting
from numpy.typing import NDArray

STAND_IN = "COMMITTEE_STAND_IN"  # the environment variable of `run.py --stand-in`


class _StandIn:
    task = "classes"

    def __init__(self, n_estimators: int = 100, n_jobs: int | None = None, **params: Any) -> None:
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs

    def set_params(self, n_jobs: int | None) -> Self:
        self.n_jobs = n_jobs
        return self

    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        numbers = _numbers(X)
        model = HistGradientBoosting(self.task, self.n_estimators, self.n_jobs)
        self.model_ = model.fit(numbers, np.asarray(y))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        return self.model_.predict(_numbers(X))


class GradientBoostingClassifier(_StandIn):
    """Stands in for classes."""

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return a column of probabilities for each class."""
        return self.model_.predict_proba(_numbers(X))


class GradientBoostingRegressor(_StandIn):
    """Stands in for numbers."""

    task = "numbers"


def _numbers(X: Any) -> NDArray[Any]:
    """Return a table as numbers; levels become their codes."""
    if isinstance(X, np.ndarray):
        return X
    columns = [
        X[name].cat.codes if str(X[name].dtype) == "category" else X[name] for name in X.columns
    ]
    return np.column_stack(columns)
