"""Peak memory of a fit, each in a fresh process that holds nothing but the data."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import report
from fresh import run_fresh
from measure import measure_memory, say
from peers import Contestant
from report import Goal

WARM_UP_ROWS = 1000
INPUT_SHARE = 1.5  # of the input as float32; the codes come on top


@dataclass(frozen=True, slots=True)
class MemorySize:
    """How much to measure."""

    n_rows: int
    repeats: int


@dataclass(frozen=True)
class MemoryPart:
    """Contestants fitted on one problem, with a bound for those of this library."""

    name: str
    title: str
    problem: str
    contestants: tuple[Contestant, ...]
    sizes: Mapping[str, MemorySize]

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return tuple(contestant.library for contestant in self.contestants)

    def run(self, size: str, resamples: int | None) -> dict[str, Any]:
        """Measure each contestant in a process of its own; the worst of the repeats counts."""
        settings = self.sizes[size]
        readings: dict[str, list[Any]] = {each.key: [] for each in self.contestants}
        bounds = {}
        with tempfile.TemporaryDirectory() as folder:
            shape = {"n_train": settings.n_rows, "n_test": 1, "resample": 0}
            run_fresh("datasets:store_split", name=self.problem, folder=folder, **shape)
            for contestant in self.contestants:
                if contestant.library == "committee":
                    exact = contestant.params.get("split_finding") == "exact"
                    bounds[contestant.key] = run_fresh(
                        "parts.memory:bound", folder=folder, exact=exact
                    )
            for _ in range(settings.repeats):
                for contestant in self.contestants:
                    reading = run_fresh(
                        "parts.memory:fit_memory", folder=folder, contestant=asdict(contestant)
                    )
                    readings[contestant.key].append(reading)
                    say(f"  memory, {contestant.key}: {reading['added'] / 2**20:.1f} MiB added")
        return {
            "problem": self.problem,
            "settings": asdict(settings),
            "contestants": [asdict(contestant) for contestant in self.contestants],
            "bounds": bounds,
            "readings": readings,
        }

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return a table of peaks and bounds."""
        rows = []
        for key, readings in result["readings"].items():
            peak = max(reading["added"] for reading in readings)
            limit = result["bounds"].get(key)
            cells = ("", "") if limit is None else (_mib(limit["bound"]), _mib(limit["codes"]))
            rows.append((key, _mib(peak), *cells))
        header = ("fit", "peak, MiB", "bound, MiB", "of it codes, MiB")
        first = next(iter(result["readings"].values()))[0]
        caption = (
            f"Problem: {result['problem']}, {result['settings']['n_rows']:,} rows of float32. "
            f"Resident memory beyond that before the fit ({first['method']}), the "
            f"worst process of {result['settings']['repeats']}. The bound is {INPUT_SHARE} x the "
            "input plus the codes."
        )
        return [caption, "", *report.table(header, rows)]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare peaks with bounds."""
        goals = []
        for key, limit in result["bounds"].items():
            peak = max(reading["added"] for reading in result["readings"][key])
            text = f"memory of fit, {key}: at most {_mib(limit['bound'])} MiB"
            goals.append(Goal(text, f"{_mib(peak)} MiB", peak <= limit["bound"]))
        return goals


def fit_memory(folder: str, contestant: dict[str, Any]) -> dict[str, Any]:
    """Measure the peak of one fit; imports and pools of threads are there before it."""
    X, y = _load(folder)
    runner = Contestant(**contestant)
    runner.build().fit(X[:WARM_UP_ROWS], y[:WARM_UP_ROWS])
    model = runner.build()
    reading, _ = measure_memory(lambda: model.fit(X, y))
    return asdict(reading)


def bound(folder: str, exact: bool) -> dict[str, int]:
    """Return the bytes of the codes of a table, and the bound of a fit's memory."""
    from committee import _core
    from committee._table import read_table

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
