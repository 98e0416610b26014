"""Searches for the best model of a table within a time, beside single models at their defaults.

Everyone fits the same cuts of every table, each in a process of its own, with the same threads,
and is told the metric of the table. What was scored is kept (score_cache.py), so that rivals, which
take hours, are measured once for each of their versions. Besides scores the part records whether
the time was kept, what the fit needed of memory, the file and the time of predictions, and, for
ours, whether the stated intervals hold.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contestants.contestant import Contestant, taking_part
from benchmarks.harness.datasets import FOLDER_VARIABLE, TableInfo, list_tables
from benchmarks.harness.fresh import resolve, run_fresh
from benchmarks.harness.halves import half_of
from benchmarks.harness.measure import say
from benchmarks.harness.score_cache import RunKey, ScoreCache, fingerprint
from benchmarks.harness.selection import Selection
from benchmarks.harness.standings import Standing, TableScores, oriented, ranks, standings
from benchmarks.parts.accuracy import AccuracySize, Entrant, first_of_each_task, trials
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, not_measured

CONSTANT = "constant"
_TRIAL = "benchmarks.parts.search_trial:SearchTrial"
_DRAWS = 2000  # of tables, for the interval of a difference of ranks


@dataclass(frozen=True, slots=True)
class Searcher(Entrant):
    """A search that ends after so many seconds, or a single model without a limit."""

    seconds: float | None = None

    @property
    def version(self) -> str:
        """What must change before it is measured again: for ours, any of its code."""
        return entrant_version(self.classifier)


def entrant_version(contestant: Contestant) -> str:
    """Return the version of a library, asked in the interpreter that runs it."""
    library = contestant.library
    found = run_fresh(
        "benchmarks.contestants.contestant:versions",
        python=contestant.python,
        libraries=[library],
    )
    version = next(text for name, text in found.items() if name != "numpy")
    if library != "committee":
        return str(version)
    package, core = (Path(resolve(f"{each}:__file__")) for each in ("committee", "committee._core"))
    return f"{version}+{fingerprint(package.parent, core)}"


@dataclass(frozen=True)
class SearchPart:
    """Searchers on every table of the test half; the first is ours."""

    name: str
    title: str
    entrants: tuple[Searcher, ...]
    rivals: tuple[str, ...]  # labels of those that ours is to outrank
    quick: str  # ours with a short time
    yardstick: str  # the single model, without a limit, that `quick` is to equal
    sizes: Mapping[str, AccuracySize]
    selection: Selection | None = None

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries without which there is nothing to compare."""
        return ("sklearn", "pandas")

    def select(self, selection: Selection) -> SearchPart:
        """Return the part with what the command line chose."""
        known = [entrant.label for entrant in self.entrants]
        unknown = [name for name in selection.libraries if name not in known]
        if unknown:
            raise SystemExit(f"--library must be one of {', '.join(known)}; got {unknown[0]}")
        return replace(self, selection=selection)

    def run(self, size: str, resamples: int | None) -> dict[str, Any] | None:
        """Measure what is not known yet: all libraries on all tables, split by split."""
        if self.selection is None:
            raise ValueError("a SearchPart needs its selection before it runs")
        settings = self.sizes[size]
        settings = settings if resamples is None else replace(settings, seeds=resamples)
        tables = self._tables(settings)
        if not tables:
            say(f"  no tables: {FOLDER_VARIABLE} does not name a folder with those asked for")
            return None
        entrants = list(self._entrants())
        suffix = "" if size == "full" else f"-{size}"
        cache = ScoreCache.read(self.selection.folder / f"{self.name}-scores{suffix}.json")
        versions = {entrant.label: entrant.version for entrant in entrants}
        for seed in range(settings.seeds):
            for table in tables:
                for entrant in entrants:
                    _measure(table, entrant, versions[entrant.label], seed, settings, cache)
        result = {
            "settings": asdict(settings),
            "entrants": [asdict(entrant) for entrant in entrants],
            "versions": versions,
            "tables": [
                {
                    "name": table.name,
                    "metric": table.metric,
                    "n_rows": table.n_rows,
                    "runs": {
                        each.label: _known(table, each, versions[each.label], settings, cache)
                        for each in entrants
                    },
                }
                for table in tables
            ],
        }
        if self.selection.is_whole:
            return result
        for line in self.render(result):
            say(f"  {line}")
        return None

    def _tables(self, settings: AccuracySize) -> list[TableInfo]:
        assert self.selection is not None
        if self.selection.tables:
            return [table for table in list_tables(10**9) if table.name in self.selection.tables]
        half = self.selection.half or "test"
        found = [table for table in list_tables(settings.max_rows) if half_of(table.name) == half]
        if settings.tables_per_task is None:
            return found
        return list(first_of_each_task(found, settings.tables_per_task))

    def _entrants(self) -> Iterator[Searcher]:
        assert self.selection is not None
        wanted = self.selection.libraries
        for entrant in self.entrants:
            is_wanted = not wanted or entrant.label in (*wanted, CONSTANT)
            if is_wanted and len(taking_part([entrant.classifier, entrant.regressor])) == 2:
                yield entrant

    # ---- reading ----

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return standings, differences of ranks, promises of ours, and the scores."""
        reader = _Reader(result)
        return [
            *_overview(reader),
            "",
            *_differences(reader, self.entrants[0].label),
            "",
            *_costs(reader),
            "",
            *_scores(reader),
        ]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare ours with each rival, and with what was promised."""
        reader = _Reader(result)
        mine = self.entrants[0].label
        goals = [_outranks(reader, mine, rival) for rival in self.rivals]
        goals += [_wins_more(reader, mine, rival) for rival in self.rivals]
        goals.append(_is_not_worse(reader, self.quick, self.yardstick))
        for entrant in self.entrants:
            if entrant.seconds is not None and entrant.classifier.library == "committee":
                goals += _keeps_promises(reader, entrant)
        return goals


def _measure(
    table: TableInfo,
    entrant: Searcher,
    version: str,
    seed: int,
    settings: AccuracySize,
    cache: ScoreCache,
) -> None:
    contestant = entrant.for_table(table)
    key = RunKey(table.name, seed, entrant.label, version, contestant.threads)
    if cache.find(key, settings.seconds) is not None:
        return
    for each, run in trials(table, contestant, [key], settings, _TRIAL):
        cache.put(each, run)
        shown = run.get("score", run.get("failure", run.get("timeout")))
        say(f"  {table.name}, seed {seed}, {entrant.label}: {shown}, {run.get('wall', 0):.1f} s")


def _known(
    table: TableInfo, entrant: Searcher, version: str, settings: AccuracySize, cache: ScoreCache
) -> list[dict[str, Any]]:
    threads = entrant.for_table(table).threads
    keys = [
        RunKey(table.name, seed, entrant.label, version, threads) for seed in range(settings.seeds)
    ]
    runs = (cache.find(key, settings.seconds) for key in keys)
    dropped = ("table", "library", "version", "threads")
    return [{k: v for k, v in run.items() if k not in dropped} for run in runs if run is not None]


class _Reader:
    """A result, as the readers below need it."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.settings = result["settings"]
        self.tables: list[Mapping[str, Any]] = result["tables"]
        self.labels = [each["label"] for each in result["entrants"] if each["label"] != CONSTANT]
        self.limits = {each["label"]: each["seconds"] for each in result["entrants"]}

    def score(self, table: Mapping[str, Any], label: str) -> float | None:
        scores = [run.get("score") for run in table["runs"][label]]
        known = [score for score in scores if score is not None]
        return statistics.fmean(known) if known and len(known) == len(scores) else None

    def scores(self, table: Mapping[str, Any]) -> dict[str, float | None]:
        return {label: self.score(table, label) for label in self.labels}

    def runs(self, label: str) -> list[Mapping[str, Any]]:
        """Return all runs that ended."""
        return [run for table in self.tables for run in table["runs"][label] if "score" in run]

    def standings(self) -> dict[str, Standing]:
        return standings(
            TableScores(
                table["name"],
                table["metric"],
                self.score(table, CONSTANT) or 0.0,
                self.scores(table),
            )
            for table in self.tables
        )

    def rank_differences(self, mine: str, other: str) -> np.ndarray[Any, Any]:
        """Return how far the other stands behind ours, table by table."""
        places = [ranks(self.scores(table), table["metric"]) for table in self.tables]
        return np.array([each[other] - each[mine] for each in places])

    def wins(self, mine: str, other: str) -> tuple[int, int]:
        """Return the number of tables on which ours is better, and the other."""
        pairs = [oriented(self.scores(table), table["metric"]) for table in self.tables]
        return (
            sum(each[mine] > each[other] for each in pairs),
            sum(each[other] > each[mine] for each in pairs),
        )


def mean_ranks(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean rank of each entrant, the best first."""
    found = _Reader(result).standings()
    pairs = sorted((standing.mean_rank, label) for label, standing in found.items())
    return {label: round(rank, 2) for rank, label in pairs}


def _interval(differences: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean over tables."""
    generator = np.random.default_rng(0)
    n = len(differences)
    means = differences[generator.integers(0, n, (_DRAWS, n))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _overview(reader: _Reader) -> list[str]:
    found = reader.standings()
    rows = []
    for label in sorted(found, key=lambda each: found[each].mean_rank):
        standing = found[label]
        walls = [run["wall"] for run in reader.runs(label)]
        rows.append(
            (
                label,
                f"{standing.mean_rank:.2f}",
                f"{standing.normalised:.4f}",
                f"{100 * standing.win_rate:.0f} %",
                f"{standing.firsts}",
                f"{standing.failures}",
                markdown.number(statistics.fmean(walls)) if walls else "",
                markdown.number(max(walls)) if walls else "",
            )
        )
    header = (
        f"{len(reader.tables)} tables",
        "mean rank",
        "normalised score",
        "win rate",
        "firsts",
        "failures",
        "mean s",
        "longest s",
    )
    return [
        f"Tables of the test half with at most {reader.settings['max_rows']:,} rows, 75 % of "
        f"them to train on, {reader.settings['seeds']} splits. Everyone is told the metric and has "
        "two threads. A normalised score is the share of the best one's gain over the constant "
        "predictor. Seconds count from call to return of the fit.",
        "",
        *markdown.table(header, rows),
    ]


def _differences(reader: _Reader, mine: str) -> list[str]:
    rows = []
    for label in reader.labels:
        if label == mine or mine not in reader.labels:
            continue
        differences = reader.rank_differences(mine, label)
        low, high = _interval(differences)
        better, worse = reader.wins(mine, label)
        rows.append(
            (label, f"{differences.mean():+.2f}", f"{low:+.2f} to {high:+.2f}", f"{better}:{worse}")
        )
    return [
        "Ranks that each stands behind ours: mean over the tables, 95 % bootstrap interval over "
        "tables, and wins of ours to wins of theirs.",
        "",
        *markdown.table(("", "ranks behind", "interval", "wins"), rows),
    ]


def _costs(reader: _Reader) -> list[str]:
    rows = []
    for label in reader.labels:
        runs = reader.runs(label)
        if not runs:
            continue
        files = [run["file_bytes"] for run in runs if "file_bytes" in run]
        rows.append(
            (
                label,
                markdown.number(max(run["added_bytes"] for run in runs) / 2**20),
                markdown.number(max(run["predict_seconds"] for run in runs)),
                markdown.number(max(files) / 2**20) if files else "",
            )
        )
    header = ("most over all fits", "memory, MiB", "predict 10,000 rows, s", "file, MiB")
    return markdown.table(header, rows)


def _scores(reader: _Reader) -> list[str]:
    rows = []
    for table in reader.tables:
        scores = [reader.score(table, label) for label in (*reader.labels, CONSTANT)]
        cells = ["failed" if each is None else markdown.number(each, 5) for each in scores]
        rows.append((f"{table['name']} ({table['n_rows']:,})", table["metric"], *cells))
    return markdown.table(("mean scores", "metric", *reader.labels, CONSTANT), rows)


# ---- goals ----


def _outranks(reader: _Reader, mine: str, rival: str) -> Goal:
    text = f"mean rank on the test half: {mine} better than {rival}"
    if not {mine, rival} <= set(reader.labels):
        return not_measured(text)
    differences = reader.rank_differences(mine, rival)
    low, high = _interval(differences)
    mean = float(differences.mean())
    return Goal(text, f"{mean:+.2f} ranks ({low:+.2f} to {high:+.2f})", mean > 0)


def _wins_more(reader: _Reader, mine: str, rival: str) -> Goal:
    text = f"tables on which {mine} is better than {rival}: more than the other way round"
    if not {mine, rival} <= set(reader.labels):
        return not_measured(text)
    better, worse = reader.wins(mine, rival)
    return Goal(text, f"{better}:{worse}", better > worse)


def _is_not_worse(reader: _Reader, quick: str, yardstick: str) -> Goal:
    text = f"mean rank on the test half: {quick} not worse than {yardstick} without a limit"
    if not {quick, yardstick} <= set(reader.labels):
        return not_measured(text)
    mean = float(reader.rank_differences(quick, yardstick).mean())
    return Goal(text, f"{mean:+.2f} ranks", mean >= 0)


def _keeps_promises(reader: _Reader, entrant: Searcher) -> list[Goal]:
    label, limit = entrant.label, entrant.seconds or 0.0
    runs = reader.runs(label) if label in reader.labels else []
    allowed = max(1.05 * limit, limit + 0.5)

    def most(text: str, value: Callable[[Mapping[str, Any]], float], bound: float) -> Goal:
        if not runs:
            return not_measured(text)
        found = max(value(run) for run in runs)
        return Goal(text, markdown.number(found), found <= bound)

    goals = [
        most(f"{label}: {allowed:g} s at most from call to return", lambda r: r["wall"], allowed),
        most(f"{label}: memory of a fit under 1,500 MB", lambda r: r["added_bytes"] / 1e6, 1500),
        most(f"{label}: file under 50 MB", lambda r: r["file_bytes"] / 1e6, 50),
        most(f"{label}: 10,000 rows predicted within 1 s", lambda r: r["predict_seconds"], 1),
    ]
    text = f"{label}: 90 % intervals of the score hold in 85 to 95 % of all splits"
    held = [bool(run["is_in_interval"]) for run in runs]
    if held:
        share = statistics.fmean(held)
        goals.append(Goal(text, f"{100 * share:.0f} % of {len(held)}", 0.85 <= share <= 0.95))
    text = f"{label}: 90 % intervals and sets of predictions cover 89 to 91 % of the rows"
    covered = [run["covered"] for run in runs if "covered" in run]
    if covered:
        mean = statistics.fmean(covered)
        goals.append(Goal(text, f"{100 * mean:.1f} %", 0.89 <= mean <= 0.91))
    return goals
