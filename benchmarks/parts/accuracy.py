"""Defaults of several libraries on real tables: scores, ranks and failures.

Every library fits the same cuts of every table, each in a process of its own. What was scored is
kept (score_cache.py): a peer is measured once for each of its versions, ours once for each state of
its code. A fit that takes longer than the limit is ended and recorded as such. Only a run over all
tables and libraries becomes a result; a smaller one fills the cache and tells its standings.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.contestants.contestant import Contestant, taking_part, versions
from benchmarks.harness.datasets import FOLDER_VARIABLE, TableInfo, list_tables
from benchmarks.harness.fresh import Worker, resolve
from benchmarks.harness.halves import half_of
from benchmarks.harness.measure import say
from benchmarks.harness.score_cache import RunKey, ScoreCache, fingerprint
from benchmarks.harness.selection import Selection
from benchmarks.parts.accuracy_result import (
    CONSTANT,
    AccuracyResult,
    is_safe,
    outranks,
    overview,
    score_table,
    takes_a_share,
    time_table,
)
from benchmarks.report.markdown import Goal


@dataclass(frozen=True, slots=True)
class AccuracySize:
    """How much to measure. Tables with more than `large` rows have fewer seeds."""

    seeds: int
    seconds: float  # time limit of one fit
    large: int = 10**9
    large_seeds: int = 1
    train_rows: int = 10**9  # the most that are trained on
    max_rows: int = 10**9
    tables_per_task: int | None = None


@dataclass(frozen=True, slots=True)
class Entrant:
    """A library with its defaults, for classes and for numbers."""

    label: str
    classifier: Contestant
    regressor: Contestant

    def for_table(self, table: TableInfo) -> Contestant:
        """Return the one that a table needs."""
        return self.classifier if table.is_classification else self.regressor

    @property
    def version(self) -> str:
        """What must change before it is measured again: for ours, any of its code."""
        library = self.classifier.library
        found = versions([library])
        name = next(name for name in found if name != "numpy")
        if library != "committee":
            return found[name]
        package, core = (
            Path(resolve(f"{each}:__file__")) for each in ("committee", "committee._core")
        )
        return f"{found[name]}+{fingerprint(package.parent, core)}"


@dataclass(frozen=True)
class AccuracyPart:
    """Entrants on every table; the first is ours, one is the constant predictor."""

    name: str
    title: str
    entrants: tuple[Entrant, ...]
    sizes: Mapping[str, AccuracySize]
    slowest: str  # the peer of which ours may take a share of the time
    time_share: float = 0.2
    selection: Selection | None = None

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries without which there is nothing to compare."""
        return ("sklearn", "pandas")

    def select(self, selection: Selection) -> AccuracyPart:
        """Return the part with what the command line chose."""
        known = [entrant.label for entrant in self.entrants]
        unknown = [name for name in selection.libraries if name not in known]
        if unknown:
            raise SystemExit(f"--library must be one of {', '.join(known)}; got {unknown[0]}")
        return replace(self, selection=selection)

    def run(self, size: str, resamples: int | None) -> dict[str, Any] | None:
        """Measure what is not known yet."""
        if self.selection is None:
            raise ValueError("an AccuracyPart must be told its selection before it runs")
        settings = self._settings(size, resamples)
        tables = self._tables(settings)
        if not tables:
            say(f"  no tables: {FOLDER_VARIABLE} does not name a folder with those asked for")
            return None
        entrants = list(self._entrants())
        suffix = "" if size == "full" else f"-{size}"
        cache = ScoreCache.read(self.selection.folder / f"accuracy-scores{suffix}.json")
        found = [_measure_table(table, entrants, settings, cache) for table in tables]
        result = {
            "settings": asdict(settings),
            "entrants": [asdict(entrant) for entrant in entrants],
            "library_versions": {entrant.label: entrant.version for entrant in entrants},
            "tables": found,
        }
        if self.selection.is_whole:
            return result
        for line in overview(AccuracyResult(result)):
            say(f"  {line}")
        return None

    def _settings(self, size: str, seeds: int | None) -> AccuracySize:
        settings = self.sizes[size]
        if seeds is not None:
            settings = replace(settings, seeds=seeds, large_seeds=min(seeds, settings.large_seeds))
        limit = self.selection.seconds if self.selection else None
        return settings if limit is None else replace(settings, seconds=limit)

    def _tables(self, settings: AccuracySize) -> list[TableInfo]:
        assert self.selection is not None
        tables = list_tables(settings.max_rows)
        if self.selection.tables:  # asked for by name: of any size
            tables = [table for table in list_tables(10**9) if table.name in self.selection.tables]
        elif settings.tables_per_task is not None:
            tables = list(first_of_each_task(tables, settings.tables_per_task))
        half = self.selection.half
        return [table for table in tables if not half or half_of(table.name) == half]

    def _entrants(self) -> Iterator[Entrant]:
        assert self.selection is not None
        wanted = self.selection.libraries
        for entrant in self.entrants:
            is_wanted = not wanted or entrant.label in (*wanted, CONSTANT)
            if is_wanted and len(taking_part([entrant.classifier, entrant.regressor])) == 2:
                yield entrant

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return the standings in each half, then scores and seconds of each table."""
        reader = AccuracyResult(result)
        return [*overview(reader), "", *score_table(reader), "", *time_table(reader)]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare ours with each peer on the test half and on all tables."""
        reader = AccuracyResult(result)
        mine = self.entrants[0].label
        peers = [each.label for each in self.entrants[1:] if each.label != CONSTANT]
        goals = [outranks(reader, mine, peer, half) for half in ("test", "all") for peer in peers]
        goals.append(takes_a_share(reader, mine, self.slowest, self.time_share))
        return [*goals, *is_safe(reader, mine)]


def first_of_each_task(tables: Sequence[TableInfo], count: int) -> Iterator[TableInfo]:
    """Return the first so many tables of each task."""
    seen: dict[str, int] = {}
    for table in tables:
        seen[table.task] = seen.get(table.task, 0) + 1
        if seen[table.task] <= count:
            yield table


# ---- measuring ----


def _measure_table(
    table: TableInfo, entrants: Sequence[Entrant], settings: AccuracySize, cache: ScoreCache
) -> dict[str, Any]:
    n_seeds = settings.large_seeds if table.n_rows > settings.large else settings.seeds
    runs = {}
    for entrant in entrants:
        runs[entrant.label] = _measure(table, entrant, n_seeds, settings, cache)
        say(f"  {table.name}, {entrant.label}: {_told(runs[entrant.label], table.metric)}")
    return {
        "name": table.name,
        "task": table.task,
        "metric": table.metric,
        "half": half_of(table.name),
        "n_rows": table.n_rows,
        "runs": runs,
    }


def _measure(
    table: TableInfo, entrant: Entrant, n_seeds: int, settings: AccuracySize, cache: ScoreCache
) -> list[dict[str, Any]]:
    """Return a run for each seed, from the cache where it is there."""
    version = entrant.version
    contestant = entrant.for_table(table)
    keys = [
        RunKey(table.name, seed, entrant.label, version, contestant.threads)
        for seed in range(n_seeds)
    ]
    known = {key: cache.find(key, settings.seconds) for key in keys}
    missing = [key for key in keys if known[key] is None]
    if missing:
        for key, run in trials(table, contestant, missing, settings):
            cache.put(key, run)
            known[key] = run
    return [_short(run) for run in known.values() if run is not None]


def trials(
    table: TableInfo,
    contestant: Contestant,
    keys: Sequence[RunKey],
    settings: AccuracySize,
    trial: str = "benchmarks.parts.trial:Trial",
) -> Iterator[tuple[RunKey, dict[str, Any]]]:
    """Fit seed by seed in one process; after a fit that did not end no other is tried."""
    left, seconds = list(keys), settings.seconds
    try:
        with Worker(
            trial,
            python=contestant.python,
            table=asdict(table),
            contestant=asdict(contestant),
            train_rows=settings.train_rows,
        ) as worker:
            while left:
                yield left[0], worker.call_within(seconds, "run", seed=left[0].seed)
                left.pop(0)
    except TimeoutError:
        for key in left:
            tried = "ended" if key is left[0] else f"not tried, seed {left[0].seed} was ended"
            yield key, {"timeout": f"{tried} after {seconds:g} s", "limit": seconds}
    except RuntimeError:  # the library took its process with it
        for key in left:
            yield key, {"failure": f"its process ended with seed {left[0].seed}"}


def _short(run: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("seed", "score", "wall", "cpu", "other_cores", "failure", "timeout")
    return {name: run[name] for name in kept if name in run}


def _told(runs: Sequence[Mapping[str, Any]], metric: str) -> str:
    for run in runs:
        for trouble in ("timeout", "failure"):
            if trouble in run:
                return f"{trouble}, {run[trouble]}"
    score = statistics.fmean(run["score"] for run in runs)
    wall = statistics.fmean(run["wall"] for run in runs)
    return f"{metric} {score:.5g}, {wall:.3g} s, {len(runs)} seeds"
