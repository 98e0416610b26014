"""One library on one real table, in a process of its own: a fit and a score for each seed."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from benchmarks.contestants.contestant import Contestant
from benchmarks.harness.datasets import TableInfo, cut_table, read_table
from benchmarks.harness.measure import measure_call
from benchmarks.harness.scores import table_score

LONGEST_MESSAGE = 200


class Trial:
    """A table and a contestant."""

    def __init__(
        self, table: dict[str, Any], contestant: dict[str, Any], train_rows: int = 10**9
    ) -> None:
        """Read the table; classes become 0, 1, 2, ... for everyone."""
        self._train_rows = train_rows
        self._info = TableInfo(**table)
        self._contestant = Contestant(**contestant)
        self._X, y = read_table(self._info)
        if self._info.is_classification:
            self._y = np.unique(y, return_inverse=True)[1].astype(np.int64)
        else:
            self._y = y.astype(np.float64)

    def run(self, seed: int) -> dict[str, Any]:
        """Fit and score; an exception of the library is a failure, which is a result."""
        X_train, X_test, y_train, y_test = self.cut(seed)
        params = {**self._contestant.params, "random_state": seed}
        contestant = replace(self._contestant, params=params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same advice of a library for every table
            try:
                reading, model = measure_call(lambda: contestant.build().fit(X_train, y_train))
                score = table_score(self._info.metric, y_test, self._answer(model, X_test))
            except Exception as error:
                return {"failure": first_line(error)}
        if not np.isfinite(score):
            return {"failure": f"its score is {score}", **asdict(reading)}
        return {"score": score, **asdict(reading)}

    def cut(self, seed: int) -> tuple[Any, Any, Any, Any]:
        """Return X_train, X_test, y_train and y_test of a seed."""
        X_train, X_test, y_train, y_test = cut_table(self._X, self._y, self._info, seed)
        # The rows have been shuffled: the first ones are a random part.
        return X_train[: self._train_rows], X_test, y_train[: self._train_rows], y_test

    def _answer(self, model: Any, X: Any) -> Any:
        return model.predict_proba(X) if self._info.is_classification else model.predict(X)


def first_line(error: Exception) -> str:
    """Return the kind of an error and the first line of its message."""
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:LONGEST_MESSAGE]
