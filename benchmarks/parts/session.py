"""One contestant in a process of its own: it fits, predicts and stores when it is asked to.

Runs in the interpreter of the contestant, which may be another one than that of the runner and
needs only NumPy and scikit-learn beside the contestant's library.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contestants.contestant import Contestant, versions
from benchmarks.contestants.library_calls import core_predictor, describe_model, stored_bytes
from benchmarks.harness.measure import measure_call, median_microseconds, say
from benchmarks.harness.scores import classification_scores, regression_scores

WARM_UP_ROWS = 1000
SINGLE_ROWS = 500  # different rows in turn, so that caches are as cold as in real use
SINGLE_ROW_SECONDS = 10.0  # slow peers make fewer calls


class Session:
    """A contestant, the data of one resample and, after `fit`, a model."""

    def __init__(self, folder: str, contestant: dict[str, Any], metric: str) -> None:
        """Load the data and do everything once on a few rows: imports, pools of threads."""
        self._runner = Contestant(**contestant)
        self._is_classifier = metric not in ("rmse", "mae")
        parts = ("X_train", "y_train", "X_test", "y_test")
        data = [np.load(Path(folder) / f"{part}.npy") for part in parts]
        self._X, self._y, self._X_test, self._y_test = data
        self._X = self._runner.arrange(self._X)
        # Every class must be in the sample, or peers with compiled models may stumble.
        few = np.linspace(0, len(self._y) - 1, min(WARM_UP_ROWS, len(self._y)), dtype=int)
        self._model = self._runner.build().fit(self._X[few], self._y[few])
        self._answer(self._X_test[:WARM_UP_ROWS])
        self._model = None

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries in this process."""
        return versions([self._runner.library])

    def fit(self) -> dict[str, Any]:
        """Fit on the training rows, score on the test rows."""
        self._model = None  # two models at a time are not needed
        reading, self._model = measure_call(lambda: self._runner.build().fit(self._X, self._y))
        scoring = classification_scores if self._is_classifier else regression_scores
        scores = scoring(self._y_test, self._answer(self._X_test))
        first = next(iter(scores))
        say(
            f"  fit, {self._runner.key}: {reading.wall:.4g} s (CPU {reading.cpu:.4g} s), "
            f"{first} {scores[first]:.5g}"
        )
        return {**asdict(reading), "scores": scores, **describe_model(self._model)}

    def predict(self) -> dict[str, Any]:
        """Predict the test rows: probabilities for classes."""
        reading, answer = measure_call(lambda: self._answer(self._X_test))
        del answer
        return asdict(reading)

    def single_row(self, n_calls: int) -> dict[str, float]:
        """Return median microseconds of one row: predict, with default threads, in the core."""
        rows = self._X_test[:SINGLE_ROWS]
        parameter = self._runner.threads_parameter
        found = {}
        for name, threads in {"predict": 1, "default": None}.items():
            if parameter == "n_jobs":
                self._model.set_params(n_jobs=threads)
            elif name == "default":
                continue
            found[name] = self._row_time(rows, n_calls)
        core = core_predictor(self._model, rows)
        if core is not None:
            found["core"] = median_microseconds(core, n_calls)
        if parameter == "n_jobs":
            self._model.set_params(n_jobs=self._runner.threads)
        text = ", ".join(f"{where} {value:.1f}" for where, value in found.items())
        say(f"  single row, {self._runner.key}: {text} microseconds")
        return found

    def stored(self) -> dict[str, int] | None:
        """Return bytes of the stored model and its nodes; None: it does not tell its nodes."""
        size = describe_model(self._model)
        if "nodes" not in size:
            return None
        return {"bytes": stored_bytes(self._model), "nodes": size["nodes"]}

    def _answer(self, X: Any) -> Any:
        return self._model.predict_proba(X) if self._is_classifier else self._model.predict(X)

    def _row_time(self, rows: Any, n_calls: int) -> float:
        start = time.perf_counter()
        self._answer(rows[:1])
        seconds = time.perf_counter() - start
        n_calls = max(20, min(n_calls, int(SINGLE_ROW_SECONDS / seconds)))
        return median_microseconds(
            lambda i: self._answer(rows[i % len(rows) : i % len(rows) + 1]), n_calls
        )
