"""Libraries that search for the best model of a table within a time, as a user calls them.

Each is told the metric of the table, the seconds, the threads and the seed; the rest is its own
choice. Rivals of ours need environments of their own, so this file imports nothing up front but
NumPy. `traits` says what else is known of a fitted model: of ours, how large its file is and
whether the intervals that it states hold on the test rows.
"""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

COVERAGE = 0.9  # of stated intervals


class AutoML(ABC):
    """What the adapters share."""

    def __init__(
        self, metric: str, seconds: float, n_jobs: int = 1, random_state: int = 0, **options: Any
    ) -> None:
        self.metric = metric  # by the manifest: "roc_auc", "log_loss" or "rmse"
        self.seconds = seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.options = options

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return self.metric == "rmse"

    @abstractmethod
    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Search."""

    @abstractmethod
    def predict(self, X: Any) -> NDArray[Any]:
        """Return numbers."""

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return a column of probabilities for each class."""

    def traits(self, X: Any, y: NDArray[Any], score: float) -> dict[str, Any]:
        """Return what else is worth recording; `score` is the one of the test rows."""
        return {}


class Committee(AutoML):
    """The committee in one line."""

    _SCORING = {  # noqa: RUF012
        "roc_auc": "roc_auc",
        "log_loss": "neg_log_loss",
        "rmse": "neg_root_mean_squared_error",
    }

    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Search."""
        import committee

        kind = committee.CommitteeRegressor if self.is_regression else committee.CommitteeClassifier
        self.model_ = kind(
            time_limit=self.seconds,
            scoring=self._SCORING[self.metric],
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            **self.options,
        ).fit(X, y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return numbers."""
        return np.asarray(self.model_.predict(X))

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return a column of probabilities for each class."""
        return np.asarray(self.model_.predict_proba(X))

    def traits(self, X: Any, y: NDArray[Any], score: float) -> dict[str, Any]:
        """Return the size of its file, and whether what it promises holds on the test rows."""
        import committee

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.committee"
            committee.save(self.model_, path)
            size = path.stat().st_size
        estimate = self.model_.score_
        low, high = estimate.interval(COVERAGE, len(y))
        greater = score if self.metric == "roc_auc" else -score
        found = {
            "file_bytes": size,
            "estimate": estimate.score,
            "interval": [low, high],
            "is_in_interval": bool(low <= greater <= high),
            "members": list(self.model_.member_names_),
            "tried": len(self.model_.leaderboard_.entries),
            "budget": self.model_.budget_,
        }
        if self.is_regression:
            lower, upper = np.asarray(self.model_.predict_interval(X, coverage=COVERAGE)).T
            found["covered"] = float(((lower <= y) & (y <= upper)).mean())
        else:
            sets = np.asarray(self.model_.predict_set(X, coverage=COVERAGE))
            codes = np.searchsorted(self.model_.classes_, y)
            found["covered"] = float(sets[np.arange(len(y)), codes].mean())
        return found


class AutoGluon(AutoML):
    """AutoGluon's TabularPredictor; `presets` is one of its presets."""

    _METRIC = {  # noqa: RUF012
        "roc_auc": "roc_auc",
        "log_loss": "log_loss",
        "rmse": "root_mean_squared_error",
    }
    _PROBLEM = {"roc_auc": "binary", "log_loss": "multiclass", "rmse": "regression"}  # noqa: RUF012

    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Search; its folder lives as long as the model."""
        from autogluon.tabular import TabularPredictor

        self._folder = tempfile.mkdtemp()
        self.model_ = TabularPredictor(
            label="_target",
            problem_type=self._PROBLEM[self.metric],
            eval_metric=self._METRIC[self.metric],
            path=self._folder,
            verbosity=0,
        ).fit(
            X.assign(_target=y),
            time_limit=self.seconds,
            num_cpus=self.n_jobs,
            num_gpus=0,
            **self.options,
        )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return numbers."""
        return np.asarray(self.model_.predict(X))

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return a column of probabilities for each class, in the order of their numbers."""
        shares = self.model_.predict_proba(X)
        return np.asarray(shares[sorted(shares.columns)])

    def traits(self, X: Any, y: NDArray[Any], score: float) -> dict[str, Any]:
        """Return what it tried and the size of its folder, which is removed."""
        board = self.model_.leaderboard()
        size = sum(path.stat().st_size for path in Path(self._folder).rglob("*") if path.is_file())
        shutil.rmtree(self._folder, ignore_errors=True)
        return {"file_bytes": size, "tried": len(board), "members": [self.model_.model_best]}


class FLAML(AutoML):
    """FLAML's AutoML."""

    _METRIC = {"roc_auc": "roc_auc", "log_loss": "log_loss", "rmse": "rmse"}  # noqa: RUF012

    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Search."""
        from flaml import AutoML as Search

        self.model_ = Search()
        self.model_.fit(
            X_train=X,
            y_train=y,
            task="regression" if self.is_regression else "classification",
            metric=self._METRIC[self.metric],
            time_budget=self.seconds,
            n_jobs=self.n_jobs,
            seed=self.random_state,
            verbose=0,
            log_file_name="",
            **self.options,
        )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return numbers."""
        return np.asarray(self.model_.predict(X))

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return a column of probabilities for each class."""
        return np.asarray(self.model_.predict_proba(X))

    def traits(self, X: Any, y: NDArray[Any], score: float) -> dict[str, Any]:
        """Return the library that it chose."""
        return {"members": [self.model_.best_estimator]}
