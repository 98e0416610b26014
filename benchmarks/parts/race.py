"""Contestants in processes of their own: fit, scores, prediction, single rows, stored bytes.

For each resample every contestant gets a process with the same rows, in the interpreter it needs.
The processes work in turn, one at a time, and measure themselves, so that one pass gives
interleaved times and paired scores.
"""

from __future__ import annotations

import contextlib
import statistics
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contestants.contestant import Contestant, taking_part
from benchmarks.harness.datasets import FOLDER_VARIABLE, is_there
from benchmarks.harness.fresh import Worker, run_fresh
from benchmarks.harness.measure import paired_difference, say
from benchmarks.harness.scores import HIGHER_IS_BETTER
from benchmarks.parts.fit import FitResult
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, not_measured

TOLERANCE = 0.005  # scores that differ by less than this share are equal


@dataclass(frozen=True, slots=True)
class RaceSize:
    """How much to measure; single rows and stored bytes only on the first resample."""

    n_train: int
    n_test: int
    resamples: int
    predict_rounds: int = 3
    single_row_calls: int = 1000


@dataclass(frozen=True)
class RacePart:
    """Contestants on one problem, compared with one of them, the peer.

    Contestants that cannot run here are left out: their promises count as not measured.
    """

    name: str
    title: str
    problem: str
    contestants: tuple[Contestant, ...]
    peer: str  # key of a contestant
    sizes: Mapping[str, RaceSize]  # without "quick": the part is too large for it
    metric: str = "log_loss"  # the first to look at; its kind tells classes from numbers
    noun: str = "forest"
    note: str = ""  # what the reader of the tables must know
    promises: tuple[Callable[[RaceResult], Goal], ...] = field(default=())

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries without which there is nothing to compare."""
        return ("sklearn",)

    def run(self, size: str, resamples: int | None) -> dict[str, Any] | None:
        """Measure all resamples."""
        settings = self.sizes.get(size)
        if settings is None:
            say(f"  only in full runs: {self.problem} is too large for a {size} one")
            return None
        if not is_there(self.problem):
            say(f"  no {self.problem}: {FOLDER_VARIABLE} does not name a folder with it")
            return None
        contestants = taking_part(self.contestants)
        count = resamples or settings.resamples
        rounds = []
        found: dict[str, str] = {}
        for resample in range(count):
            say(f" resample {resample + 1} of {count}")
            with tempfile.TemporaryDirectory() as folder:
                self._store(settings, resample, folder)
                n_features = int(np.load(Path(folder) / "X_train.npy", mmap_mode="r").shape[1])
                record, more = _race(contestants, settings, folder, self.metric, resample)
            rounds.append(record)
            found.update(more)
        return {
            "problem": self.problem,
            "settings": {**asdict(settings), "n_features": n_features},
            "metric": self.metric,
            "noun": self.noun,
            "peer": self.peer,
            "contestants": [asdict(contestant) for contestant in contestants],
            "versions": found,
            "rounds": rounds,
        }

    def _store(self, settings: RaceSize, resample: int, folder: str) -> None:
        run_fresh(
            "benchmarks.harness.datasets:store_split",
            name=self.problem,
            n_train=settings.n_train,
            n_test=settings.n_test,
            resample=resample,
            folder=folder,
        )

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return tables of fits, of scores, of predictions, of single rows and of files."""
        reader = RaceResult(result)
        tables = (_fits, _scores, _predictions, _single_rows, _stored)
        caption = [*_caption(reader), *([self.note, ""] if self.note else [])]
        return [*caption, *(line for each in tables for line in each(reader))]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Check the promises."""
        return [promise(RaceResult(result)) for promise in self.promises]


def _race(
    contestants: list[Contestant], settings: RaceSize, folder: str, metric: str, resample: int
) -> tuple[dict[str, Any], dict[str, str]]:
    """Let the contestants work in turn; return what they measured and their versions."""
    with contextlib.ExitStack() as stack:
        workers = {}
        for each in contestants:
            worker = Worker(
                "benchmarks.parts.session:Session",
                python=each.python,
                folder=folder,
                contestant=asdict(each),
                metric=metric,
            )
            workers[each.key] = stack.enter_context(worker)
        fits = {key: worker.call("fit") for key, worker in workers.items()}
        predictions: dict[str, list[Any]] = {key: [] for key in workers}
        for _ in range(settings.predict_rounds):
            for key, worker in workers.items():
                predictions[key].append(worker.call("predict"))
        record = {"resample": resample, "fits": fits, "predictions": predictions}
        single, stored = {}, {}
        if resample == 0:
            for key, worker in workers.items():
                if settings.single_row_calls:
                    single[key] = worker.call("single_row", n_calls=settings.single_row_calls)
                stored[key] = worker.call("stored")
        found = {}
        for worker in workers.values():
            found.update(worker.call("versions"))
    return {**record, "single_row": single, "stored": stored}, found


# ---- reading results ----


class RaceResult(FitResult):
    """What the readers of a result ask it."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        super().__init__(result)
        self.noun = result["noun"]

    @property
    def subject(self) -> str:
        """Say what was fitted."""
        return f"{self.settings['n_train']:,} x {self.settings['n_features']}"

    @property
    def keys(self) -> list[str]:
        """The contestants that took part."""
        return list(self.rounds[0]["fits"])

    @property
    def metrics(self) -> list[str]:
        """The names of the scores."""
        return list(self.rounds[0]["fits"][self.keys[0]]["scores"])

    def scores(self, key: str, metric: str) -> list[float]:
        """Return a score of a contestant on each resample."""
        return [fit["scores"][metric] for fit in self.fits(key)]

    def compare(self, key: str, peer: str, metric: str) -> tuple[float, float]:
        """Return mean and standard error of the score minus the peer's on the same resamples."""
        return paired_difference(self.scores(key, metric), self.scores(peer, metric))

    def fastest(self, keys: tuple[str, ...]) -> str | None:
        """Return the contestant with the shortest fit; None if none took part."""
        present = [key for key in keys if self.has(key)]
        return min(present, key=lambda key: markdown.best(self.fits(key)), default=None)

    def stored(self, key: str) -> Mapping[str, int] | None:
        """Return bytes and nodes of the stored model of the first resample."""
        found: Mapping[str, int] | None = self.rounds[0]["stored"].get(key)
        return found


def scores_as_well(
    key: str, peer: str, *metrics: str, tolerance: float = TOLERANCE
) -> tuple[Callable[[RaceResult], Goal], ...]:
    """Promise scores that are better or equal: within one standard error or the tolerance."""

    def promise(metric: str) -> Callable[[RaceResult], Goal]:
        return lambda result: _compare_scores(result, key, peer, metric, tolerance)

    return tuple(promise(metric) for metric in metrics)


def scores_as_well_as_the_fastest(
    key: str, peers: tuple[str, ...], metric: str, tolerance: float
) -> Callable[[RaceResult], Goal]:
    """Promise a score as good as that of the peer that fits fastest."""

    def check(result: RaceResult) -> Goal:
        fastest = result.fastest(peers)
        if fastest is None:
            return not_measured(f"{metric} on {result.subject}: {key} as good as the fastest peer")
        return _compare_scores(result, key, fastest, metric, tolerance)

    return check


def _compare_scores(result: RaceResult, key: str, peer: str, metric: str, tolerance: float) -> Goal:
    limit = f"within 1 error or {100 * tolerance:g} %"
    text = f"{metric} on {result.subject}: {key} as good as {peer} ({limit})"
    if not result.has(key, peer):
        return not_measured(text)
    mean, error = result.compare(key, peer, metric)
    loss = -mean if HIGHER_IS_BETTER[metric] else mean
    near = tolerance * abs(statistics.fmean(result.scores(peer, metric)))
    return Goal(text, markdown.with_error(mean, error), loss <= near or loss <= error)


def fits_faster_than_all(
    key: str, peers: tuple[str, ...], times: float
) -> Callable[[RaceResult], Goal]:
    """Promise that a contestant fits so many times faster than the fastest of the peers."""

    def check(result: RaceResult) -> Goal:
        text = f"fit {result.subject}: {key} at least {times:g}x faster than the fastest peer"
        fastest = result.fastest(peers)
        if fastest is None or not result.has(key):
            return not_measured(text)
        ratio = markdown.best(result.fits(fastest)) / markdown.best(result.fits(key))
        return Goal(text, f"{ratio:.2f}x ({fastest})", ratio >= times)

    return check


def predicts_faster_than_all(
    key: str, peers: tuple[str, ...], times: float
) -> Callable[[RaceResult], Goal]:
    """Promise that a contestant predicts so many times faster than the fastest of the peers."""

    def check(result: RaceResult) -> Goal:
        rows = f"{result.settings['n_test']:,} rows by the {result.noun} of {result.subject}"
        text = f"predict {rows}: {key} at least {times:g}x faster than the fastest peer"
        present = [peer for peer in peers if result.has(peer)]
        if not result.has(key) or not present:
            return not_measured(text)
        walls = {peer: markdown.best(result.predictions(peer)) for peer in present}
        fastest = min(walls, key=walls.__getitem__)
        ratio = walls[fastest] / markdown.best(result.predictions(key))
        return Goal(text, f"{ratio:.1f}x ({fastest})", ratio >= times)

    return check


def stores_within(key: str, limit: float) -> Callable[[RaceResult], Goal]:
    """Promise an upper limit of bytes for each node, all bytes of the file counted."""

    def check(result: RaceResult) -> Goal:
        text = f"file of the {result.noun} of {result.subject}, {key}: {limit:g} bytes a node"
        size = result.stored(key)
        if size is None:
            return not_measured(text)
        value = size["bytes"] / size["nodes"]
        return Goal(text, f"{value:.2f}", value <= limit)

    return check


def _caption(result: RaceResult) -> list[str]:
    size = result.settings
    return [
        f"Problem: {result.problem}, {size['n_train']:,} x {size['n_features']} training rows, "
        f"{size['n_test']:,} test rows; the best seconds of {len(result.rounds)} paired resamples. "
        f"Speed and difference compare with {result.peer}.",
        "",
    ]


def _fits(result: RaceResult) -> list[str]:
    peer_wall = markdown.best(result.fits(result.peer))
    rows = []
    for key in result.keys:
        fits = result.fits(key)
        wall = markdown.best(fits)
        times = map(markdown.number, (wall, markdown.best(fits, "cpu")))
        nodes = f"{fits[0]['nodes']:,}" if "nodes" in fits[0] else ""
        rows.append((key, *times, markdown.factor(peer_wall, wall), nodes))
    readings = [fit for key in result.keys for fit in result.fits(key)]
    header = ("fit", "s", "CPU s", "speed", "nodes")
    return [*markdown.table(header, rows), *markdown.noise_note(readings), ""]


def _scores(result: RaceResult) -> list[str]:
    rows = []
    for key in result.keys:
        cells = []
        for metric in result.metrics:
            mean = f"{statistics.fmean(result.scores(key, metric)):.4f}"
            difference = markdown.with_error(*result.compare(key, result.peer, metric))
            cells.append(mean if key == result.peer else f"{mean} ({difference})")
        rows.append((key, *cells))
    return [*markdown.table(("mean score (difference ± error)", *result.metrics), rows), ""]


def _predictions(result: RaceResult) -> list[str]:
    if not result.predictions(result.peer):
        return []
    peer_wall = markdown.best(result.predictions(result.peer))
    rows = []
    for key in result.keys:
        readings = result.predictions(key)
        wall, cpu = markdown.best(readings), markdown.best(readings, "cpu")
        rows.append((key, *map(markdown.number, (wall, cpu)), markdown.factor(peer_wall, wall)))
    header = (f"predict {result.settings['n_test']:,} rows", "s", "CPU s", "speed")
    return [*markdown.table(header, rows), ""]


def _single_rows(result: RaceResult) -> list[str]:
    places = {"predict": "1 thread", "default": "default threads", "core": "core"}
    rows = []
    for key in result.rounds[0]["single_row"]:
        times = [result.microseconds(key, where) for where in places]
        rows.append((key, *("" if time is None else f"{time:,.1f}" for time in times)))
    if not rows:
        return []
    return [*markdown.table(("one row", *(f"{each}, µs" for each in places.values())), rows), ""]


def _stored(result: RaceResult) -> list[str]:
    rows = []
    for key in result.keys:
        size = result.stored(key)
        if size is not None:
            per_node = f"{size['bytes'] / size['nodes']:.1f}"
            rows.append((key, f"{size['bytes'] / 2**20:,.1f}", f"{size['nodes']:,}", per_node))
    return markdown.table(("file", "MiB", "nodes", "bytes a node"), rows) if rows else []
