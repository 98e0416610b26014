"""Fit, accuracy and prediction of contestants on paired resamples of a synthetic problem.

Each resample is one fresh process in which every contestant is fitted in turn on the same rows,
so that one pass gives interleaved times and paired scores. The fitted models then predict the
test rows, again in turn, and single rows.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from benchmarks.contestants.contestant import Contestant
from benchmarks.contestants.library_calls import core_predictor, describe_model
from benchmarks.harness.datasets import Split, load_split
from benchmarks.harness.fresh import run_fresh
from benchmarks.harness.measure import (
    interleave,
    measure_call,
    median_microseconds,
    paired_difference,
    say,
)
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, not_measured

WARM_UP_ROWS = 1000
SINGLE_ROWS = 500  # different rows in turn, so that caches are as cold as in real use


@dataclass(frozen=True, slots=True)
class FitSize:
    """How much to measure."""

    n_train: int
    n_test: int
    resamples: int
    predict_rounds: int = 5
    single_row_calls: int = 2000


@dataclass(frozen=True)
class FitPart:
    """Contestants on one problem, compared with one of them, the peer."""

    name: str
    title: str
    problem: str
    contestants: tuple[Contestant, ...]
    peer: str  # key of a contestant
    sizes: Mapping[str, FitSize]
    metric: str = "accuracy"  # or "rmse"
    promises: tuple[Callable[[FitResult], Goal], ...] = field(default=())

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return tuple(contestant.library for contestant in self.contestants)

    def run(self, size: str, resamples: int | None) -> dict[str, Any]:
        """Measure all resamples, each in a process of its own."""
        settings = self.sizes[size]
        count = resamples or settings.resamples
        contestants = [asdict(contestant) for contestant in self.contestants]
        rounds = []
        for resample in range(count):
            say(f" resample {resample + 1} of {count}")
            rounds.append(
                run_fresh(
                    "benchmarks.parts.fit:fit_round",
                    problem=self.problem,
                    settings=asdict(settings),
                    resample=resample,
                    contestants=contestants,
                    metric=self.metric,
                )
            )
        return {
            "problem": self.problem,
            "settings": asdict(settings),
            "metric": self.metric,
            "peer": self.peer,
            "contestants": contestants,
            "rounds": rounds,
        }

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return tables of fits, of predictions and of single rows."""
        reader = FitResult(result)
        return [*_caption(reader), *_fits(reader), *_predictions(reader), *_single_rows(reader)]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Check the promises."""
        return [promise(FitResult(result)) for promise in self.promises]


# ---- in the fresh process ----


def fit_round(
    problem: str,
    settings: dict[str, Any],
    resample: int,
    contestants: list[dict[str, Any]],
    metric: str,
) -> dict[str, Any]:
    """Fit each contestant on a resample, then predict with each."""
    size = FitSize(**settings)
    runners = [Contestant(**each) for each in contestants]
    split = load_split(problem, size.n_train, size.n_test, resample)
    for runner in runners:  # imports and pools of threads are not what is measured
        small = slice(0, WARM_UP_ROWS)
        runner.build().fit(split.X_train[small], split.y_train[small]).predict(split.X_test[small])
    models: dict[str, Any] = {}
    fits = {}
    for runner in runners:
        reading, model = measure_call(_fitting(runner, split))
        score = _score(metric, split.y_test, model.predict(split.X_test))
        models[runner.key] = model
        fits[runner.key] = {**asdict(reading), "score": score, **describe_model(model)}
        say(
            f"  fit, {runner.key}: {reading.wall:.4g} s (CPU {reading.cpu:.4g} s), "
            f"{metric} {score:.5g}"
        )
    predictions = interleave(_predictors(runners, models, split), size.predict_rounds, "predict")
    single = _time_single_rows(runners, models, split, size.single_row_calls)
    return {"resample": resample, "fits": fits, "predictions": predictions, "single_row": single}


def _fitting(contestant: Contestant, split: Split) -> Callable[[], Any]:
    return lambda: contestant.build().fit(split.X_train, split.y_train)


def _score(metric: str, truth: Any, predicted: Any) -> float:
    if metric == "accuracy":
        return float((truth == predicted).mean())
    return float(((truth - predicted) ** 2).mean() ** 0.5)


def _predictors(
    contestants: list[Contestant], models: Mapping[str, Any], split: Split
) -> dict[str, Callable[[], Any]]:
    calls: dict[str, Callable[[], Any]] = {}
    for contestant in contestants:
        model = models[contestant.key]
        calls[contestant.key] = partial(model.predict, split.X_test)
        if contestant.threads_parameter is None:
            key = f"{contestant.label}, halves in 2 threads"
            calls[key] = partial(_predict_in_halves, model, split.X_test)
    return calls


def _predict_in_halves(model: Any, X: Any) -> list[Any]:
    """Let a user's own two threads share the rows, the best such a library can do."""
    middle = len(X) // 2
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(model.predict, (X[:middle], X[middle:])))


def _time_single_rows(
    contestants: list[Contestant], models: Mapping[str, Any], split: Split, n_calls: int
) -> dict[str, dict[str, float]]:
    rows = split.X_test[:SINGLE_ROWS]
    times: dict[str, dict[str, float]] = {}
    for contestant in contestants:
        model = models[contestant.key]
        public = _row_predictor(model, rows)
        found = {"predict": median_microseconds(public, n_calls)}
        if contestant.threads_parameter is not None:  # what a user who sets nothing waits
            model.set_params(**{contestant.threads_parameter: None})
            found["default"] = median_microseconds(public, n_calls)
        core = core_predictor(model, rows)
        if core is not None:
            found["core"] = median_microseconds(core, n_calls)
        times[contestant.key] = found
        text = ", ".join(f"{where} {value:.1f}" for where, value in found.items())
        say(f"  single row, {contestant.key}: {text} microseconds")
    return times


def _row_predictor(model: Any, rows: Any) -> Callable[[int], Any]:
    return lambda i: model.predict(rows[i % len(rows) : i % len(rows) + 1])


# ---- reading results ----

_PLACES = {"predict": "predict", "default": "predict with default threads", "core": "core"}


class FitResult:
    """What the readers of a result ask it."""

    noun = "tree"

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.settings: Mapping[str, Any] = result["settings"]
        self.problem: str = result["problem"]
        self.metric: str = result["metric"]
        self.peer: str = result["peer"]
        self.rounds: list[Mapping[str, Any]] = result["rounds"]

    @property
    def subject(self) -> str:
        """Say what was fitted."""
        return f"{self.settings['n_train']:,} rows"

    def has(self, *keys: str) -> bool:
        """Tell whether contestants took part."""
        return all(key in self.rounds[0]["fits"] for key in keys)

    def fits(self, key: str) -> list[Mapping[str, Any]]:
        """Return all fits of a contestant."""
        return [each["fits"][key] for each in self.rounds]

    def predictions(self, key: str) -> list[Mapping[str, Any]]:
        """Return all predictions of a contestant."""
        return [reading for each in self.rounds for reading in each["predictions"][key]]

    def difference(self, key: str) -> tuple[float, float]:
        """Return mean and standard error of the score minus the peer's on the same resamples."""
        scores = [[fit["score"] for fit in self.fits(name)] for name in (key, self.peer)]
        return paired_difference(scores[0], scores[1])

    def microseconds(self, key: str, where: str) -> float | None:
        """Return the best median time of one row.

        `where` is "predict", "default" (predict without a number of threads) or "core".
        """
        values = [each["single_row"].get(key, {}).get(where) for each in self.rounds]
        known = [value for value in values if value is not None]
        return min(known) if known else None


def fits_faster(key: str, times: float, peer: str | None = None) -> Callable[[FitResult], Goal]:
    """Promise that a contestant fits so many times faster than the peer (or another one)."""

    def check(result: FitResult) -> Goal:
        other = peer or result.peer
        claim = f"at least {times:g}x faster than {other}"
        if times < 1:
            claim = f"not slower than {other} (within {1 - times:.0%})"
        text = f"fit {result.subject}: {key} {claim}"
        if not result.has(key, other):
            return not_measured(text)
        ratio = markdown.best(result.fits(other)) / markdown.best(result.fits(key))
        return Goal(text, f"{ratio:.1f}x" if times >= 1 else f"{ratio:.2f}x", ratio >= times)

    return check


def predicts_faster(key: str, peer: str, times: float) -> Callable[[FitResult], Goal]:
    """Promise that a contestant predicts so many times faster than another."""

    def check(result: FitResult) -> Goal:
        rows = f"{result.settings['n_test']:,} rows"
        text = f"predict {rows}: {key} at least {times:g}x faster than {peer}"
        if not {key, peer} <= set(result.rounds[0]["predictions"]):  # not all of them fit
            return not_measured(text)
        ratio = markdown.best(result.predictions(peer)) / markdown.best(result.predictions(key))
        return Goal(text, f"{ratio:.1f}x", ratio >= times)

    return check


def scores_equal(key: str) -> Callable[[FitResult], Goal]:
    """Promise a score not worse than the peer's by more than two standard errors."""

    def check(result: FitResult) -> Goal:
        mean, error = result.difference(key)
        gain = mean if result.metric == "accuracy" else -mean
        rows = f"{result.settings['n_train']:,} rows"
        text = f"{result.metric} of {key} on {rows} at least that of {result.peer} (2 errors)"
        is_met = gain >= 0 or gain >= -2 * error
        return Goal(text, markdown.with_error(mean, error), is_met)

    return check


def answers_within(key: str, where: str, limit: float) -> Callable[[FitResult], Goal]:
    """Promise an upper limit for one row, in microseconds."""

    def check(result: FitResult) -> Goal:
        place = f"{_PLACES[where]}, {key}"
        text = f"one row of the {result.noun} of {result.subject}, {place}: under {limit:g} µs"
        value = result.microseconds(key, where) if result.has(key) else None
        return not_measured(text) if value is None else Goal(text, f"{value:.1f}", value < limit)

    return check


def _caption(result: FitResult) -> list[str]:
    size = result.settings
    return [
        f"Problem: {result.problem}, {size['n_train']:,} training rows, {size['n_test']:,} test "
        f"rows; the best seconds of {len(result.rounds)} paired resamples. Speed and difference "
        f"compare with {result.peer}.",
        "",
    ]


def _fits(result: FitResult) -> list[str]:
    peer_wall = markdown.best(result.fits(result.peer))
    rows = []
    for key in result.rounds[0]["fits"]:
        fits = result.fits(key)
        mean, error = result.difference(key)
        wall = markdown.best(fits)
        rows.append(
            (
                key,
                markdown.number(wall),
                markdown.number(markdown.best(fits, "cpu")),
                markdown.factor(peer_wall, wall),
                f"{statistics.fmean(fit['score'] for fit in fits):.4f}",
                "" if key == result.peer else markdown.with_error(mean, error),
                f"{statistics.fmean(fit['nodes'] for fit in fits):,.0f}"
                if "nodes" in fits[0]
                else "",
            )
        )
    header = ("fit", "s", "CPU s", "speed", result.metric, "difference ± error", "nodes")
    readings = [fit for key in result.rounds[0]["fits"] for fit in result.fits(key)]
    return [*markdown.table(header, rows), *markdown.noise_note(readings), ""]


def _predictions(result: FitResult) -> list[str]:
    peer_wall = markdown.best(result.predictions(result.peer))
    rows = []
    for key in result.rounds[0]["predictions"]:
        readings = result.predictions(key)
        wall, cpu = markdown.best(readings), markdown.best(readings, "cpu")
        rows.append((key, *map(markdown.number, (wall, cpu)), markdown.factor(peer_wall, wall)))
    header = (f"predict {result.settings['n_test']:,} rows", "s", "CPU s", "speed")
    return [*markdown.table(header, rows), ""]


def _single_rows(result: FitResult) -> list[str]:
    rows = []
    for key in result.rounds[0]["single_row"]:
        times = [result.microseconds(key, where) for where in _PLACES]
        rows.append((key, *("" if time is None else f"{time:.1f}" for time in times)))
    return markdown.table(("one row", *(f"{place}, µs" for place in _PLACES.values())), rows)
