"""Peak memory of a fit, each in a fresh process that holds nothing but the data."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contestants.contestant import Contestant, libraries_here, taking_part, versions
from benchmarks.harness.fresh import run_fresh
from benchmarks.harness.measure import measure_memory, say
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, not_measured

WARM_UP_ROWS = 1000
INPUT_SHARE = 1.5  # of the input as float32; the codes come on top


@dataclass(frozen=True, slots=True)
class MemorySize:
    """How much to measure."""

    n_rows: int
    repeats: int


@dataclass(frozen=True, slots=True)
class MemoryShare:
    """The promise that `key` adds at most a share of what `peer` adds."""

    key: str
    peer: str
    share: float


@dataclass(frozen=True)
class MemoryPart:
    """Contestants fitted on one problem.

    The promise is a share of a peer's peak; without one, those of this library have a bound that
    follows from the size of the input.
    """

    name: str
    title: str
    problem: str
    contestants: tuple[Contestant, ...]
    sizes: Mapping[str, MemorySize]
    shares: tuple[MemoryShare, ...] = ()

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return libraries_here(self.contestants)

    def run(self, size: str, resamples: int | None) -> dict[str, Any]:
        """Measure each contestant in a process of its own; the worst of the repeats counts."""
        settings = self.sizes[size]
        contestants = taking_part(self.contestants)
        readings: dict[str, list[Any]] = {each.key: [] for each in contestants}
        bounds = {}
        found: dict[str, str] = {}
        with tempfile.TemporaryDirectory() as folder:
            shape: dict[str, Any] = {"n_train": settings.n_rows, "n_test": 1, "resample": 0}
            run_fresh(
                "benchmarks.harness.datasets:store_split", name=self.problem, folder=folder, **shape
            )
            for contestant in contestants:
                if contestant.library == "committee" and not self.shares:
                    exact = contestant.params.get("split_finding") == "exact"
                    bounds[contestant.key] = run_fresh(
                        "benchmarks.parts.memory:bound", folder=folder, exact=exact
                    )
            for _ in range(settings.repeats):
                for contestant in contestants:
                    reading = run_fresh(
                        "benchmarks.parts.memory:fit_memory",
                        python=contestant.python,
                        folder=folder,
                        contestant=asdict(contestant),
                    )
                    found.update(reading.pop("versions"))
                    readings[contestant.key].append(reading)
                    say(f"  memory, {contestant.key}: {reading['added'] / 2**20:.1f} MiB added")
        return {
            "problem": self.problem,
            "settings": asdict(settings),
            "contestants": [asdict(contestant) for contestant in contestants],
            "versions": found,
            "bounds": bounds,
            "readings": readings,
        }

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return a table of peaks and bounds."""
        rows = []
        for key in result["readings"]:
            limit = result["bounds"].get(key)
            cells = ("", "") if limit is None else (_mib(limit["bound"]), _mib(limit["codes"]))
            rows.append((key, _mib(_peak(result, key)), *cells))
        header = ("fit", "peak, MiB", "bound, MiB", "of it codes, MiB")
        first = next(iter(result["readings"].values()))[0]
        caption = (
            f"Problem: {result['problem']}, {result['settings']['n_rows']:,} rows of float32. "
            f"Resident memory beyond that before the fit ({first['method']}), the "
            f"worst process of {result['settings']['repeats']}."
        )
        if not result["bounds"]:
            return [caption, "", *markdown.table(header[:2], [row[:2] for row in rows])]
        caption += f" The bound is {INPUT_SHARE} x the input plus the codes."
        return [caption, "", *markdown.table(header, rows)]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare peaks with bounds, or with the peer's."""
        goals = []
        for key, limit in result["bounds"].items():
            peak = _peak(result, key)
            text = f"memory of fit, {key}: at most {_mib(limit['bound'])} MiB"
            goals.append(Goal(text, f"{_mib(peak)} MiB", peak <= limit["bound"]))
        return goals + [_compare(promise, result) for promise in self.shares]


def _peak(result: Mapping[str, Any], key: str) -> int:
    return max(int(reading["added"]) for reading in result["readings"][key])


def _compare(promise: MemoryShare, result: Mapping[str, Any]) -> Goal:
    text = f"memory of fit, {promise.key}: at most {promise.share:g} of {promise.peer}"
    if not {promise.key, promise.peer} <= set(result["readings"]):
        return not_measured(text)
    share = _peak(result, promise.key) / _peak(result, promise.peer)
    return Goal(text, f"{share:.2f}", share <= promise.share)


def fit_memory(folder: str, contestant: dict[str, Any]) -> dict[str, Any]:
    """Measure the peak of one fit; imports and pools of threads are there before it."""
    X, y = _load(folder)
    runner = Contestant(**contestant)
    X = runner.arrange(X)
    runner.build().fit(X[:WARM_UP_ROWS], y[:WARM_UP_ROWS])
    model = runner.build()
    reading, _ = measure_memory(lambda: model.fit(X, y))
    return {**asdict(reading), "versions": versions([runner.library])}


def bound(folder: str, exact: bool) -> dict[str, int]:
    """Return the bytes of the codes of a table, and the bound of a fit's memory."""
    from committee import _core
    from committee.tables.table import read_table

    X, _ = _load(folder)
    dataset = _core.BinnedDataset(read_table(X)[0], exact=exact)
    sizes = [dataset.n_codes(feature) for feature in range(dataset.n_features)]
    width = sum(1 if size <= 2**8 else 2 if size <= 2**16 else 4 for size in sizes)
    codes = width * len(X)
    return {"codes": codes, "bound": int(INPUT_SHARE * 4 * X.size) + codes}


def _load(folder: str) -> tuple[Any, Any]:
    return tuple(np.load(Path(folder) / f"{part}.npy") for part in ("X_train", "y_train"))


def _mib(n_bytes: float) -> str:
    return f"{n_bytes / 2**20:,.1f}"
