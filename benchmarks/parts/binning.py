"""Binning of a table of numbers: ours against the construction of LightGBM's Dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.harness.datasets import higgs
from benchmarks.harness.fresh import run_fresh
from benchmarks.harness.measure import interleave
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal

DTYPES = ("float32", "float64")
# LightGBM as it is fastest here: one dense block of rows, no messages.
LIGHTGBM_PARAMS = {"max_bin": 255, "verbosity": -1}


@dataclass(frozen=True, slots=True)
class BinningSize:
    """How much to measure: some processes, and rounds (A B A B ...) in each."""

    n_rows: int
    processes: int
    rounds: int


@dataclass(frozen=True)
class BinningPart:
    """Binning with each number of threads and each type of float."""

    name: str
    title: str
    sizes: Mapping[str, BinningSize]
    threads: tuple[int, ...] = (1, 2)
    promised: float = 3.0
    libraries: tuple[str, ...] = ("committee", "lightgbm")

    def run(self, size: str, resamples: int | None) -> dict[str, Any]:
        """Measure in several processes."""
        settings = self.sizes[size]
        runs = {
            dtype: [
                run_fresh(
                    "benchmarks.parts.binning:bin_in_turn",
                    n_rows=settings.n_rows,
                    dtype=dtype,
                    threads=self.threads,
                    rounds=settings.rounds,
                )
                for _ in range(settings.processes)
            ]
            for dtype in DTYPES
        }
        return {"settings": asdict(settings), "lightgbm_params": LIGHTGBM_PARAMS, "runs": runs}

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return one table for all types and threads."""
        rows = []
        readings = []
        for dtype, threads, ours, theirs in self._pairs(result):
            readings += [*ours, *theirs]
            walls = markdown.best(ours), markdown.best(theirs)
            cpus = markdown.best(ours, "cpu"), markdown.best(theirs, "cpu")
            times = map(markdown.number, (walls[0], cpus[0], walls[1], cpus[1]))
            rows.append((_key(dtype, threads), *times, markdown.factor(walls[1], walls[0])))
        header = ("input", "committee s", "CPU s", "LightGBM s", "CPU s", "speed")
        n_measured = result["settings"]["processes"] * result["settings"]["rounds"]
        caption = f"{result['settings']['n_rows']:,} rows x 28, best of {n_measured}."
        return [caption, "", *markdown.table(header, rows), *markdown.noise_note(readings)]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare the speeds with what is promised."""
        goals = []
        for dtype, threads, ours, theirs in self._pairs(result):
            ratio = markdown.best(theirs) / markdown.best(ours)
            text = f"bin {_key(dtype, threads)}: {self.promised:g}x faster than LightGBM"
            goals.append(Goal(text, f"{ratio:.1f}x", ratio >= self.promised))
        return goals

    def _pairs(self, result: Mapping[str, Any]) -> list[tuple[str, int, list[Any], list[Any]]]:
        return [
            (
                dtype,
                threads,
                *(
                    [reading for run in runs for reading in run[_key(library, threads)]]
                    for library in ("committee", "lightgbm")
                ),
            )
            for dtype, runs in result["runs"].items()
            for threads in self.threads
        ]


def _key(what: str, threads: int) -> str:
    return f"{what}, {threads} thread{'s' if threads > 1 else ''}"


def bin_in_turn(n_rows: int, dtype: str, threads: list[int], rounds: int) -> dict[str, Any]:
    """Bin with both libraries in turn."""
    X = higgs(n_rows)[0].astype(dtype)
    calls: dict[str, Callable[[], Any]] = {}
    for count in threads:
        calls[_key("committee", count)] = _our_binning(X, count)
        calls[_key("lightgbm", count)] = _their_binning(X, count)
    for call in (_our_binning(X[:1000], 2), _their_binning(X[:1000], 2)):
        call()
    return interleave(calls, rounds, f"bin {n_rows:,} rows of {dtype}")


def _our_binning(X: Any, n_threads: int) -> Callable[[], Any]:
    from committee import _core
    from committee.tables.table import read_table

    return lambda: _core.BinnedDataset(read_table(X)[0], n_threads=n_threads)


def _their_binning(X: Any, n_threads: int) -> Callable[[], Any]:
    import lightgbm

    params = {**LIGHTGBM_PARAMS, "num_threads": n_threads}
    return lambda: lightgbm.Dataset(X, params=dict(params)).construct()
