"""Gradient boosting of other libraries as scikit-learn-like contestants, by their fastest calls.

All have the same settings: 100 rounds of 31 leaves grown best first, learning rate 0.1, 255 bins,
L2 penalty 1, at least 20 rows a leaf; binning is part of the fit. Where a library has no such
setting it gets the nearest one:

- XGBoost limits the sum of hessians of a leaf, not its rows. A row of log loss weighs at most 1/4,
  so 20 rows are 5; with squared error a row weighs 1. `tree_method="exact"` grows by levels only:
  depth 5, at most 32 leaves.
- CatBoost grows best first with `grow_policy="Lossguide"`, at most 16 levels deep; its own trees
  are symmetric: depth 5 is 32 leaves, without a limit of rows. Its random parts and extra Newton
  steps are switched off and it need not tell the training loss of each round.
- scikit-learn has no parameter for threads: the number of OpenMP threads is set around each call.

LightGBM's booster is kept as it is after training: the usual detour through its text format would
only cost time. Classes must be 0, 1, 2, ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

ROUNDS = 100
LEAVES = 31
DEPTH = 5  # of trees that cannot be limited by leaves
RATE = 0.1
BINS = 255
L2 = 1.0
MIN_ROWS = 20


class _Booster(ABC):
    """What the adapters share. `more` are further parameters under the library's own names."""

    def __init__(
        self,
        task: str = "classes",  # or "numbers"
        n_rounds: int = ROUNDS,
        n_jobs: int | None = 1,
        **more: Any,
    ) -> None:
        self.task = task
        self.n_rounds = n_rounds
        self.n_jobs = n_jobs
        self.more = more

    def set_params(self, n_jobs: int | None) -> Self:
        """Set the threads of later predictions; None is the library's own number."""
        self.n_jobs = n_jobs
        return self

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        """Bin and train."""
        self.n_classes_ = int(y.max()) + 1 if self.task == "classes" else 0
        self.model_ = self._train(X, y)
        return self

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return a column of probabilities for each class."""
        return _two_columns(self._answers(X))

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return numbers, or the most probable classes."""
        if self.task == "numbers":
            return self._answers(X)
        classes: NDArray[Any] = self.predict_proba(X).argmax(axis=1)
        return classes

    def _objective(self, binary: str, many: str, numbers: str) -> str:
        if self.task == "numbers":
            return numbers
        return binary if self.n_classes_ == 2 else many

    @abstractmethod
    def _train(self, X: NDArray[Any], y: NDArray[Any]) -> Any:
        """Train and return the peer's model."""

    @abstractmethod
    def _answers(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return predictions, or probabilities of classes."""


class LightGBM(_Booster):
    """`lightgbm.train` on a `Dataset`."""

    def _train(self, X: NDArray[Any], y: NDArray[Any]) -> Any:
        import lightgbm

        params = {
            "objective": self._objective("binary", "multiclass", "regression"),
            "num_class": max(1, self.n_classes_) if self.n_classes_ > 2 else 1,
            "num_leaves": LEAVES,
            "learning_rate": RATE,
            "max_bin": BINS,
            "lambda_l2": L2,
            "min_data_in_leaf": MIN_ROWS,
            "num_threads": self.n_jobs or 0,
            "verbosity": -1,
            **self.more,
        }
        data = lightgbm.Dataset(X, y, params=params)
        return lightgbm.train(params, data, self.n_rounds, keep_training_booster=True)

    def _answers(self, X: NDArray[Any]) -> NDArray[Any]:
        answers: NDArray[Any] = self.model_.predict(X, num_threads=self.n_jobs or 0)
        return answers


class XGBoost(_Booster):
    """`xgboost.train` on a `QuantileDMatrix`, which never holds the raw values."""

    def _train(self, X: NDArray[Any], y: NDArray[Any]) -> Any:
        import xgboost

        params = {
            **self._task_params(),
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": LEAVES,
            "max_depth": 0,
            "max_bin": BINS,
            "eta": RATE,
            "lambda": L2,
            "nthread": self.n_jobs or 0,
            "verbosity": 0,
            **self.more,
        }
        data = xgboost.QuantileDMatrix(X, y, max_bin=BINS, nthread=self.n_jobs)
        return xgboost.train(params, data, self.n_rounds)

    def _task_params(self) -> dict[str, Any]:
        params: dict[str, Any] = {
            "objective": self._objective("binary:logistic", "multi:softprob", "reg:squarederror"),
            "min_child_weight": MIN_ROWS if self.task == "numbers" else MIN_ROWS / 4,
        }
        return params if self.n_classes_ <= 2 else {**params, "num_class": self.n_classes_}

    def set_params(self, n_jobs: int | None) -> Self:
        """Set the threads of later predictions."""
        self.model_.set_param({"nthread": n_jobs or 0})
        return super().set_params(n_jobs)

    def _answers(self, X: NDArray[Any]) -> NDArray[Any]:
        answers: NDArray[Any] = self.model_.inplace_predict(X, validate_features=False)
        return answers


class XGBoostExact(XGBoost):
    """The search through sorted values, level by level."""

    def _train(self, X: NDArray[Any], y: NDArray[Any]) -> Any:
        import xgboost

        params = {
            **self._task_params(),
            "tree_method": "exact",
            "max_depth": DEPTH,
            "eta": RATE,
            "lambda": L2,
            "nthread": self.n_jobs or 0,
            "verbosity": 0,
            **self.more,
        }
        return xgboost.train(params, xgboost.DMatrix(X, y, nthread=self.n_jobs), self.n_rounds)


class CatBoost(_Booster):
    """`CatBoost` on a `Pool`."""

    growth: dict[str, Any] = {  # noqa: RUF012
        "grow_policy": "Lossguide",
        "max_leaves": LEAVES,
        "depth": 16,
        "min_data_in_leaf": MIN_ROWS,
    }

    def _train(self, X: NDArray[Any], y: NDArray[Any]) -> Any:
        import catboost

        params = {
            "loss_function": self._objective("Logloss", "MultiClass", "RMSE"),
            "iterations": self.n_rounds,
            "learning_rate": RATE,
            "border_count": BINS - 1,
            "l2_leaf_reg": L2,
            "boosting_type": "Plain",
            "bootstrap_type": "No",
            "random_strength": 0,
            "leaf_estimation_iterations": 1,
            "metric_period": self.n_rounds,
            "thread_count": self.n_jobs or -1,
            "allow_writing_files": False,
            "logging_level": "Silent",
            **self.growth,
            **self.more,
        }
        pool = catboost.Pool(X, y, thread_count=self.n_jobs or -1)
        return catboost.CatBoost(params).fit(pool)

    def _answers(self, X: NDArray[Any]) -> NDArray[Any]:
        kind = "RawFormulaVal" if self.task == "numbers" else "Probability"
        answers: NDArray[Any] = self.model_.predict(
            X, prediction_type=kind, thread_count=self.n_jobs or -1
        )
        return answers


class CatBoostSymmetric(CatBoost):
    """CatBoost's own kind of tree: one question a level."""

    growth: dict[str, Any] = {"grow_policy": "SymmetricTree", "depth": DEPTH}  # noqa: RUF012


class HistGradientBoosting(_Booster):
    """scikit-learn's histogram boosting."""

    def _train(self, X: NDArray[Any], y: NDArray[Any]) -> Any:
        from sklearn import ensemble

        kind = "Regressor" if self.task == "numbers" else "Classifier"
        model = getattr(ensemble, f"HistGradientBoosting{kind}")(
            max_iter=self.n_rounds,
            max_leaf_nodes=LEAVES,
            learning_rate=RATE,
            max_bins=BINS,
            l2_regularization=L2,
            min_samples_leaf=MIN_ROWS,
            early_stopping=False,
            **self.more,
        )
        with openmp().limit(limits=self.n_jobs):
            return model.fit(X, y)

    def _answers(self, X: NDArray[Any]) -> NDArray[Any]:
        ask = self.model_.predict if self.task == "numbers" else self.model_.predict_proba
        with openmp().limit(limits=self.n_jobs):
            answers: NDArray[Any] = ask(X)
        return answers


@cache
def openmp() -> Any:
    """Return the switch of the OpenMP threads; finding it takes longer than a small fit."""
    import sklearn.ensemble  # noqa: F401  its OpenMP must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")


def _two_columns(answers: NDArray[Any]) -> NDArray[Any]:
    """Put the probability of class 0 before that of class 1, where only the latter was told."""
    if answers.ndim == 2:
        return answers
    shares = np.empty((len(answers), 2), dtype=answers.dtype)
    shares[:, 1] = answers
    np.subtract(1, answers, out=shares[:, 0])
    return shares
