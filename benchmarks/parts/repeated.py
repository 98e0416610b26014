"""Short calls in one process, in turns: small fits, or what is done with one fitted model."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from benchmarks.contestants.contestant import Contestant, libraries_here, taking_part
from benchmarks.harness.datasets import load_split
from benchmarks.harness.fresh import resolve, run_fresh
from benchmarks.harness.measure import interleave
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, not_measured


@dataclass(frozen=True, slots=True)
class Repeats:
    """How much to measure."""

    n_rows: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Ratio:
    """The promise that `fast` takes at most so many times the seconds of `slow`."""

    fast: str
    slow: str
    at_most: float


@dataclass(frozen=True)
class SmallFitsPart:
    """Contestants fitted many times on a small table; the median counts."""

    name: str
    title: str
    problem: str
    contestants: tuple[Contestant, ...]
    sizes: Mapping[str, Repeats]
    promises: tuple[Ratio, ...] = ()

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return libraries_here(self.contestants)

    def run(self, size: str, resamples: int | None) -> dict[str, Any]:
        """Measure in one process."""
        settings = self.sizes[size]
        contestants = [asdict(each) for each in taking_part(self.contestants)]
        readings = run_fresh(
            "benchmarks.parts.repeated:fit_in_turn",
            problem=self.problem,
            contestants=contestants,
            **asdict(settings),
        )
        return {
            "problem": self.problem,
            "settings": asdict(settings),
            "contestants": contestants,
            "readings": readings,
        }

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return a table of medians and of best times."""
        size = result["settings"]
        caption = f"Problem: {result['problem']}, {size['n_rows']:,} rows, {size['rounds']} fits."
        return [caption, "", *_table("fit", result["readings"])]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare medians."""
        return [_check(promise, result["readings"], self.title) for promise in self.promises]


@dataclass(frozen=True)
class OperationsPart:
    """What a contestant of this library does with a fitted model, beside the fit itself."""

    name: str
    title: str
    problem: str
    contestant: Contestant
    operations: tuple[str, ...]  # functions of beyond.py
    sizes: Mapping[str, Repeats]
    promises: tuple[Ratio, ...] = ()
    libraries: tuple[str, ...] = ("committee", "sklearn")

    def run(self, size: str, resamples: int | None) -> dict[str, Any] | None:
        """Measure in one process."""
        settings = self.sizes[size]
        if not taking_part([self.contestant]):
            return None
        readings = run_fresh(
            "benchmarks.parts.repeated:operate_in_turn",
            problem=self.problem,
            contestant=asdict(self.contestant),
            operations=self.operations,
            **asdict(settings),
        )
        return {
            "problem": self.problem,
            "settings": asdict(settings),
            "contestants": [asdict(self.contestant)],
            "readings": readings,
        }

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return a table of the operations."""
        size = result["settings"]
        caption = (
            f"Problem: {result['problem']}, {size['n_rows']:,} rows, {size['rounds']} rounds; "
            f"{self.contestant.key}."
        )
        return [caption, "", *_table("operation", result["readings"])]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare medians."""
        return [_check(promise, result["readings"], self.title) for promise in self.promises]


# ---- in the fresh process ----


def fit_in_turn(
    problem: str, n_rows: int, rounds: int, contestants: list[dict[str, Any]]
) -> dict[str, Any]:
    """Fit each contestant in turn."""
    split = load_split(problem, n_rows, 0, 0)
    calls = {}
    for each in contestants:
        runner = Contestant(**each)
        calls[runner.key] = partial(_fit, runner, runner.arrange(split.X_train), split.y_train)
    for call in calls.values():  # imports and pools of threads are not what is measured
        call()
    return interleave(calls, rounds, f"fit {n_rows:,} rows")


def _fit(runner: Contestant, X: Any, y: Any) -> Any:
    return runner.build().fit(X, y)


def operate_in_turn(
    problem: str, n_rows: int, rounds: int, contestant: dict[str, Any], operations: list[str]
) -> dict[str, Any]:
    """Fit once, then do the operations in turn."""
    split = load_split(problem, n_rows, 0, 0)
    runner = Contestant(**contestant)
    model = runner.build().fit(split.X_train, split.y_train)
    calls = {
        name: partial(
            resolve(f"benchmarks.contestants.library_calls:{name}"),
            runner,
            model,
            split.X_train,
            split.y_train,
        )
        for name in operations
    }
    return interleave(calls, rounds, f"{n_rows:,} rows")


# ---- reading results ----


def _median(readings: list[Mapping[str, Any]]) -> float:
    return statistics.median(float(reading["wall"]) for reading in readings)


def _table(what: str, readings: Mapping[str, list[Mapping[str, Any]]]) -> list[str]:
    rows = []
    for key, values in readings.items():
        times = (_median(values), markdown.best(values), markdown.best(values, "cpu"))
        rows.append((key.replace("_", " "), *map(markdown.number, times)))
    every = [reading for values in readings.values() for reading in values]
    lines = markdown.table((what, "median s", "best s", "best CPU s"), rows)
    return [*lines, *markdown.noise_note(every)]


def _check(promise: Ratio, readings: Mapping[str, list[Mapping[str, Any]]], title: str) -> Goal:
    names = [name.replace("_", " ") for name in (promise.fast, promise.slow)]
    text = f"{title}: {names[0]} takes at most {promise.at_most:g} of {names[1]}"
    if promise.fast not in readings or promise.slow not in readings:
        return not_measured(text)
    ratio = _median(readings[promise.fast]) / _median(readings[promise.slow])
    return Goal(text, f"{ratio:.2f}", ratio <= promise.at_most)
