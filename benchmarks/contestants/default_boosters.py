"""Boosting libraries with their default settings on raw tables, as a competent user calls them.

Columns of text and of levels are declared as categories in each library's own way. Beyond that:

- LightGBM and XGBoost refuse some characters in names: columns are named x0, x1, ...
- CatBoost wants categories as text: a missing one is the text "missing".
- HistGradientBoosting takes at most 255 levels a column: columns with more go through
  scikit-learn's TargetEncoder, as its own guide does it.

The seed and the number of threads are all that is set. Classes must be 0, 1, 2, ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

MAX_LEVELS = 255  # of HistGradientBoosting


class _Default(ABC):
    """What the adapters share."""

    def __init__(self, task: str, n_jobs: int = 1, random_state: int = 0) -> None:
        self.task = task  # "classes" or "numbers"
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Prepare the table and train."""
        self._fit(with_categories(X), y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return numbers, or classes."""
        return np.asarray(self.model_.predict(self._prepare(with_categories(X))))

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return a column of probabilities for each class."""
        return np.asarray(self.model_.predict_proba(self._prepare(with_categories(X))))

    def _fit(self, X: Any, y: NDArray[Any]) -> None:
        self.model_ = self._build().fit(self._prepare(X), y)

    def _kind(self, regressor: Any, classifier: Any) -> Any:
        return regressor if self.task == "numbers" else classifier

    @abstractmethod
    def _build(self) -> Any:
        """Return the peer's estimator, unfitted."""

    def _prepare(self, X: Any) -> Any:
        return X


class LightGBM(_Default):
    """LightGBM's scikit-learn interface."""

    def _build(self) -> Any:
        import lightgbm

        kind = self._kind(lightgbm.LGBMRegressor, lightgbm.LGBMClassifier)
        return kind(n_jobs=self.n_jobs, random_state=self.random_state, verbose=-1)

    def _prepare(self, X: Any) -> Any:
        return with_plain_names(X)


class XGBoost(_Default):
    """XGBoost's scikit-learn interface."""

    def _build(self) -> Any:
        import xgboost

        kind = self._kind(xgboost.XGBRegressor, xgboost.XGBClassifier)
        return kind(n_jobs=self.n_jobs, random_state=self.random_state, enable_categorical=True)

    def _prepare(self, X: Any) -> Any:
        return with_plain_names(X)


class CatBoost(_Default):
    """CatBoost: 1,000 rounds, a learning rate of its own choice, ordered target statistics."""

    def _fit(self, X: Any, y: NDArray[Any]) -> None:
        names = list(X.columns[is_category(X)])
        self.model_ = self._build().fit(self._prepare(X), y, cat_features=names)

    def _build(self) -> Any:
        import catboost

        kind = self._kind(catboost.CatBoostRegressor, catboost.CatBoostClassifier)
        return kind(
            thread_count=self.n_jobs,
            random_seed=self.random_state,
            allow_writing_files=False,
            logging_level="Silent",
        )

    def _prepare(self, X: Any) -> Any:
        names = X.columns[is_category(X)]
        text = {
            name: X[name].astype(object).where(X[name].notna(), "missing").astype(str)
            for name in names
        }
        return X.assign(**text)


class HistGradientBoosting(_Default):
    """scikit-learn's histogram boosting."""

    def _build(self) -> Any:
        from sklearn import ensemble

        return self._kind(
            ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingClassifier
        )(random_state=self.random_state)

    def _fit(self, X: Any, y: NDArray[Any]) -> None:
        from benchmarks.contestants.boosters import openmp
        from sklearn.compose import make_column_transformer
        from sklearn.model_selection import KFold, StratifiedKFold
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import TargetEncoder

        names = X.columns[is_category(X)]
        wide = [name for name in names if X[name].nunique() > MAX_LEVELS]
        model = self._build()
        if wide:
            folds = self._kind(KFold, StratifiedKFold)
            encoder = TargetEncoder(cv=folds(5, shuffle=True, random_state=self.random_state))
            columns = make_column_transformer((encoder, wide), remainder="passthrough")
            model = make_pipeline(columns.set_output(transform="pandas"), model)
        with openmp().limit(limits=self.n_jobs):
            self.model_ = model.fit(X, y)


class Constant(_Default):
    """The shares of the classes, or the mean."""

    def _build(self) -> Any:
        from sklearn.dummy import DummyClassifier, DummyRegressor

        return self._kind(DummyRegressor(), DummyClassifier(strategy="prior"))


def is_category(X: Any) -> NDArray[np.bool_]:
    """Tell which columns hold categories."""
    return np.array([str(dtype) == "category" for dtype in X.dtypes], dtype=bool)


def with_categories(X: Any) -> Any:
    """Declare columns of text as categories."""
    text = X.select_dtypes(include=["object", "string"]).columns
    return X.astype(dict.fromkeys(text, "category")) if len(text) else X


def with_plain_names(X: Any) -> Any:
    """Name the columns x0, x1, ..."""
    return X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)
