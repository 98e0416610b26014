"""YDF's random forest as a scikit-learn-like contestant.

YDF reads a dictionary of columns, its fastest input; making it from the array is part of the
measured time (some milliseconds). Full depth, one row a leaf and averaged probabilities, as the
other contestants have them; its own defaults are a depth of 16, five rows a leaf and votes.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


class _YdfForest:
    """What the classifier and the regressor share.

    `num_candidate_attributes` 0 is YDF's own rule: the square root of the number of features,
    rounded up, for classes and a third for numbers. YDF 0.16 looks at one feature more than this
    parameter says (tests/test_benchmarks.py shows it), so k - 1 makes it look at k.
    """

    task = "CLASSIFICATION"

    def __init__(
        self,
        num_trees: int = 100,
        num_candidate_attributes: int = 0,
        num_threads: int = 1,
        random_seed: int = 0,
        **more: Any,
    ) -> None:
        self.num_threads = num_threads
        self._settings = {
            "num_trees": num_trees,
            "num_candidate_attributes": num_candidate_attributes,
            "random_seed": random_seed,
            "max_depth": -1,
            "min_examples": 1,
            "winner_take_all": False,
            "compute_oob_performances": False,
            **more,
        }

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        import ydf

        ydf.verbose(0)
        self.classes_ = np.unique(y)
        learner = ydf.RandomForestLearner(
            label="y",
            task=ydf.Task[self.task],
            num_threads=self.num_threads,
            **self._settings,
        )
        self.model_ = learner.train({**_columns(X), "y": y})
        return self

    @property
    def n_nodes(self) -> int:
        return int(self.model_.num_nodes())

    def save(self, path: str) -> None:
        self.model_.save(path, pure_serving=True)  # the smallest file that still predicts

    def _answers(self, X: NDArray[Any]) -> NDArray[Any]:
        answers: NDArray[Any] = self.model_.predict(_columns(X), num_threads=self.num_threads)
        return answers


class YdfForestClassifier(_YdfForest):
    """Random forest for classes."""

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return a column of probabilities for each class, in the order of `classes_`."""
        answers = self._answers(X)
        if answers.ndim == 1:
            return np.column_stack([1 - answers, answers])
        return answers[:, self._order()]

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the most probable classes."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _order(self) -> list[int]:
        # Classes are text in YDF, and their order is not that of numbers.
        names = self.model_.label_classes()
        return [names.index(str(each)) for each in self.classes_]


class YdfForestRegressor(_YdfForest):
    """Random forest for numbers."""

    task = "REGRESSION"

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the means of the trees."""
        return self._answers(X)


def _columns(X: NDArray[Any]) -> dict[str, NDArray[Any]]:
    return {f"f{j}": column for j, column in enumerate(np.ascontiguousarray(X.T))}
