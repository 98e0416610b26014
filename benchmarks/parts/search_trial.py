"""A search on one real table, in a process of its own: time, memory, score, prediction, traits."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from benchmarks.harness.measure import measure_call, measure_memory
from benchmarks.harness.scores import table_score
from benchmarks.parts.trial import Trial, first_line

PREDICTED_ROWS = 10_000


class SearchTrial(Trial):
    """A table and a contestant that may be told the metric."""

    def run(self, seed: int) -> dict[str, Any]:
        """Fit and score; an exception of the library is a failure, which is a result."""
        X_train, X_test, y_train, y_test = self.cut(seed)
        params = {**self._contestant.params, "random_state": seed}
        if "metric" in params:
            params["metric"] = self._info.metric
        contestant = replace(self._contestant, params=params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                memory, (reading, model) = measure_memory(
                    lambda: measure_call(lambda: contestant.build().fit(X_train, y_train))
                )
                score = table_score(self._info.metric, y_test, self._answer(model, X_test))
                many = X_test.iloc[np.arange(PREDICTED_ROWS) % len(X_test)]
                self._answer(model, many)
                predicting, _ = measure_call(lambda: self._answer(model, many))
            except Exception as error:
                return {"failure": first_line(error)}
            traits = model.traits(X_test, y_test, score) if hasattr(model, "traits") else {}
        if not np.isfinite(score):
            return {"failure": f"its score is {score}", **asdict(reading)}
        return {
            "score": score,
            **asdict(reading),
            "n_test": len(y_test),
            "added_bytes": memory.added,
            "predict_seconds": predicting.wall,
            **traits,
        }
