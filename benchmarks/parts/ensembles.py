"""Ensembles of members that are fitted one by one: how much of a fit is growing their trees.

The rest is reading the table, binning what each member has drawn, rounds, and Python. The folder of
real tables is named by the environment variable COMMITTEE_DATA.
"""

from __future__ import annotations

import statistics
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.contestants.contestant import Contestant, libraries_here
from benchmarks.harness.datasets import FOLDER_VARIABLE, TableInfo, list_tables, read_table
from benchmarks.harness.fresh import run_fresh
from benchmarks.harness.measure import measure_call, say
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, best, number


@dataclass(frozen=True, slots=True)
class EnsemblesSize:
    """How much to measure."""

    rounds: int
    max_rows: int


@dataclass(frozen=True)
class EnsemblesPart:
    """Seconds of ensembles on named tables, and of the engine's growth within them."""

    name: str
    title: str
    contestants: tuple[Contestant, ...]
    tables: tuple[str, ...]
    sizes: Mapping[str, EnsemblesSize]
    share: float  # of the CPU seconds of a fit, that growth is promised to have on the mean
    promised: str  # label of the contestants that this is promised of

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return libraries_here(self.contestants)

    def run(self, size: str, resamples: int | None) -> dict[str, Any] | None:
        """Measure table by table, each in a process of its own."""
        settings = self.sizes[size]
        tables = [each for each in list_tables(settings.max_rows) if each.name in self.tables]
        if not tables:
            say(f"  no tables: {FOLDER_VARIABLE} does not name a folder with some")
            return None
        rounds = resamples or settings.rounds
        readings = {
            table.name: run_fresh(
                "benchmarks.parts.ensembles:fit_ensembles",
                table=asdict(table),
                contestants=[asdict(each) for each in self.contestants],
                rounds=rounds,
            )
            for table in tables
        }
        return {"rounds": rounds, "readings": readings}

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return the result as lines of Markdown."""
        rows = []
        for name, by_contestant in result["readings"].items():
            for key, found in by_contestant.items():
                quickest = _quickest(found)
                rows.append(
                    (
                        name,
                        key,
                        number(quickest["wall"]),
                        number(quickest["cpu"]),
                        number(quickest["growth"]),
                        f"{100 * _share(quickest):.0f} %",
                        number(best(found, "predict")),
                        number(best(found, "walk")),
                    )
                )
        head = (
            *("table", "fit", "s", "CPU s", "growth, CPU s", "share of growth"),
            *("predict, s", "walk, CPU s"),
        )
        return [
            f"The best of {result['rounds']}. Growth is what the engine takes to grow all trees, "
            "walk what it takes to send the training rows down all of them; both without what the "
            "engine's own threads do for a single tree of a boosted committee.",
            "",
            *markdown.table(head, rows),
        ]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare the shares of growth with what was promised."""
        shares = [
            _share(_quickest(found))
            for by_contestant in result["readings"].values()
            for key, found in by_contestant.items()
            if key.startswith(self.promised)
        ]
        if not shares:
            return []
        mean = statistics.mean(shares)
        text = (
            f"{self.promised}: growing trees has at least {100 * self.share:g} % of the CPU "
            f"seconds of a fit, on the mean"
        )
        return [Goal(text, f"{100 * mean:.0f} %", mean >= self.share)]


def fit_ensembles(
    table: dict[str, Any], contestants: list[dict[str, Any]], rounds: int
) -> dict[str, list[dict[str, Any]]]:
    """Fit each contestant several times and let it predict the training rows."""
    warnings.filterwarnings("ignore")
    info = TableInfo(**table)
    X, y = read_table(info)
    y = y.astype(str)
    runners = [Contestant(**fields) for fields in contestants]
    found: dict[str, list[dict[str, Any]]] = {each.key: [] for each in runners}
    for each in runners:
        each.build().set_params(n_estimators=2).fit(X, y)  # imports, pools of threads
    for _ in range(rounds):
        for each in runners:
            with engine_seconds("grow_quinlan") as growth:
                reading, model = measure_call(lambda each=each: each.build().fit(X, y))
            with engine_seconds("predict_shares") as walk:
                predict, _ = measure_call(lambda model=model: model.predict_proba(X))
            seconds = {"growth": sum(growth), "predict": predict.wall, "walk": sum(walk)}
            found[each.key].append({**asdict(reading), **seconds})
            say(
                f"  {info.name}, {each.key}: fit {reading.wall:.4g} s, growth "
                f"{seconds['growth']:.4g} s, predict {predict.wall:.4g} s"
            )
    return found


@contextmanager
def engine_seconds(name: str) -> Iterator[list[float]]:
    """Collect the CPU seconds of each call of a function of the engine, in the caller's thread."""
    from committee import _core

    function = getattr(_core, name)
    seconds: list[float] = []
    lock = threading.Lock()

    def timed(*arguments: Any, **settings: Any) -> Any:
        start = time.thread_time()
        try:
            return function(*arguments, **settings)
        finally:
            taken = time.thread_time() - start
            with lock:
                seconds.append(taken)

    setattr(_core, name, timed)
    try:
        yield seconds
    finally:
        setattr(_core, name, function)


def _quickest(found: list[dict[str, Any]]) -> dict[str, Any]:
    return min(found, key=lambda reading: reading["wall"])


def _share(reading: Mapping[str, Any]) -> float:
    return float(reading["growth"] / reading["cpu"])
