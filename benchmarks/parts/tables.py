"""Real tables: accuracy and fit time on paired resamples of each table of a folder.

The folder is named by the environment variable COMMITTEE_DATA; its manifest.json gives name,
task, target and metric of each table. Fit seconds include whatever preparation a contestant needs.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from benchmarks.contestants.contestant import Contestant, taking_part
from benchmarks.harness.datasets import (
    FOLDER_VARIABLE,
    TableInfo,
    cut_table,
    list_tables,
    read_table,
)
from benchmarks.harness.fresh import run_fresh
from benchmarks.harness.measure import measure_call, paired_difference, say
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal

HIGHER_IS_BETTER = {"roc_auc": True, "log_loss": False, "rmse": False}


@dataclass(frozen=True, slots=True)
class TablesSize:
    """How much to measure."""

    max_rows: int
    resamples: int
    max_tables: int | None = None


@dataclass(frozen=True, slots=True)
class Duel:
    """Two contestants for classes and two for numbers: ours first, the peer second."""

    name: str
    classifiers: tuple[Contestant, Contestant]
    regressors: tuple[Contestant, Contestant]


@dataclass(frozen=True)
class TablesPart:
    """Duels on every table that is small enough."""

    name: str
    title: str
    duels: tuple[Duel, ...]
    sizes: Mapping[str, TablesSize]
    class_metric: str = ""  # of every table with classes; empty: that of the table
    only: tuple[str, ...] = ()  # names of tables; empty: all
    times: float = 0.0  # how much faster ours is promised to fit, at scores as good; 0: nothing is

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return tuple(each.library for duel in self.duels for each in duel.classifiers)

    def run(self, size: str, resamples: int | None) -> dict[str, Any] | None:
        """Measure table by table, each in a process of its own."""
        settings = self.sizes[size]
        tables = list_tables(settings.max_rows)
        if self.only:
            tables = [table for table in tables if table.name in self.only]
        tables = tables[: settings.max_tables]
        if self.class_metric:
            tables = [_with_metric(table, self.class_metric) for table in tables]
        if not tables:
            say(f"  no tables: {FOLDER_VARIABLE} does not name a folder with some")
            return None
        sides = [each for duel in self.duels for each in (*duel.classifiers, *duel.regressors)]
        if len(taking_part(sides)) < len(sides):
            return None
        found = []
        for table in tables:
            duels = {
                duel.name: [asdict(each) for each in _side(duel, table)] for duel in self.duels
            }
            scores = run_fresh(
                "benchmarks.parts.tables:duel_on_table",
                table=asdict(table),
                duels=duels,
                resamples=resamples or settings.resamples,
            )
            found.append({"name": table.name, "task": table.task, **scores})
        return {
            "settings": asdict(settings),
            "contestants": {
                duel.name: [asdict(each) for each in (*duel.classifiers, *duel.regressors)]
                for duel in self.duels
            },
            "tables": found,
        }

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return a summary and a table for each duel."""
        lines = [
            "A win or a loss is a mean difference larger than its standard error over the paired "
            "resamples; rank 1 is the better mean score, equal scores share 1.5.",
            "",
        ]
        names = list(result["tables"][0]["duels"])
        overview = ("settings", "wins", "ties", "losses", "mean rank", "fit time, geometric mean")
        lines += [*markdown.table(overview, [_summary(name, result) for name in names]), ""]
        for name in names:
            header = (name, "metric", "committee", "peer", "difference ± error", "s", "peer s")
            cells = [_row(table, name) for table in result["tables"]]
            if "constant" in result["tables"][0]:  # older results do not tell
                header = (*header, "constant")
                values = [markdown.number(table["constant"], 4) for table in result["tables"]]
                cells = [(*row, value) for row, value in zip(cells, values, strict=True)]
            lines += [*markdown.table(header, cells), ""]
        return lines

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare speed and scores, where something was promised: the rest is to look at."""
        if not self.times:
            return []
        pairs = [(table, name) for table in result["tables"] for name in table["duels"]]
        return [goal for table, name in pairs for goal in self._promised(table, name)]

    def _promised(self, table: Mapping[str, Any], name: str) -> list[Goal]:
        duel, where = table["duels"][name], f"{table['name']}, {name}"
        ratio = markdown.best(duel["peer"]) / markdown.best(duel["ours"])
        mean, error = paired_difference(*_scores(table, name))
        return [
            Goal(f"fit {where}: {self.times:g}x faster", f"{ratio:.1f}x", ratio >= self.times),
            Goal(
                f"{table['metric']} on {where}: as good as the peer's (within 1 error)",
                markdown.with_error(mean, error),
                _outcome(table, name)[0] >= 0,
            ),
        ]


def _with_metric(table: TableInfo, metric: str) -> TableInfo:
    return replace(table, metric=metric) if table.is_classification else table


def _side(duel: Duel, table: TableInfo) -> tuple[Contestant, Contestant]:
    return duel.classifiers if table.is_classification else duel.regressors


# ---- in the fresh process ----


def duel_on_table(
    table: dict[str, Any], duels: dict[str, list[dict[str, Any]]], resamples: int
) -> dict[str, Any]:
    """Fit both sides of each duel on the same resamples of a table."""
    info = TableInfo(**table)
    X, y = read_table(info)
    found: dict[str, Any] = {}
    for name, sides in duels.items():
        runs: list[list[dict[str, Any]]] = [[], []]
        runners = [Contestant(**side) for side in sides]
        for resample in range(resamples):
            parts = cut_table(X, y, info, resample)
            for runner, records in zip(runners, runs, strict=True):
                records.append(_fit_and_score(runner, parts, info))
        found[name] = {"ours": runs[0], "peer": runs[1]}
        means = [statistics.fmean(record["score"] for record in records) for records in runs]
        say(f"  {info.name}, {name}: {info.metric} {means[0]:.5g}, peer {means[1]:.5g}")
    constants = [
        _constant_score(cut_table(X, y, info, resample), info) for resample in range(resamples)
    ]
    return {
        "metric": info.metric,
        "constant": statistics.fmean(constants),
        "n_rows": len(y),
        "n_features": X.shape[1],
        "duels": found,
    }


def _constant_score(parts: list[Any], info: TableInfo) -> float:
    """Return the score of the same answer for every row."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    _, _, y_train, y_test = parts
    model = DummyClassifier() if info.is_classification else DummyRegressor()
    rows = np.zeros((len(y_train), 1))
    return _score(model.fit(rows, y_train), np.zeros((len(y_test), 1)), y_test, info)


def _fit_and_score(contestant: Contestant, parts: list[Any], info: TableInfo) -> dict[str, Any]:
    X_train, X_test, y_train, y_test = parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same advice of a library for every table
        reading, model = measure_call(lambda: contestant.build().fit(X_train, y_train))
        score = _score(model, X_test, y_test, info)
    return {**asdict(reading), "score": score}


def _score(model: Any, X: Any, truth: Any, info: TableInfo) -> float:
    from sklearn.metrics import log_loss, roc_auc_score

    if not info.is_classification:
        return float(np.sqrt(np.mean((truth - model.predict(X)) ** 2)))
    shares = model.predict_proba(X)
    if info.metric == "roc_auc":
        return float(roc_auc_score(truth, shares[:, 1]))
    return float(log_loss(truth, shares, labels=model.classes_))


# ---- reading results ----


def _scores(table: Mapping[str, Any], name: str) -> tuple[list[float], list[float]]:
    duel = table["duels"][name]
    ours, theirs = ([run["score"] for run in duel[side]] for side in ("ours", "peer"))
    return ours, theirs


def _outcome(table: Mapping[str, Any], name: str) -> tuple[int, float]:
    """Return 1, 0 or -1 for a win, a tie or a loss, and our rank."""
    mean, error = paired_difference(*_scores(table, name))
    gain = mean if HIGHER_IS_BETTER[table["metric"]] else -mean
    outcome = 0 if abs(gain) <= error else int(np.sign(gain))
    return outcome, 1.5 - 0.5 * float(np.sign(gain))


def _summary(name: str, result: Mapping[str, Any]) -> tuple[str, ...]:
    outcomes = [_outcome(table, name) for table in result["tables"]]
    counts = [sum(outcome == kind for outcome, _ in outcomes) for kind in (1, 0, -1)]
    rank = statistics.fmean(rank for _, rank in outcomes)
    ratios = []
    for table in result["tables"]:
        duel = table["duels"][name]
        ratios.append(markdown.best(duel["peer"]) / markdown.best(duel["ours"]))
    speed = f"{statistics.geometric_mean(ratios):.1f}x faster"
    return (name, *map(str, counts), f"{rank:.2f}, peer {3 - rank:.2f}", speed)


def _row(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    ours, theirs = _scores(table, name)
    mean, error = paired_difference(ours, theirs)
    means = [markdown.number(statistics.fmean(scores), 4) for scores in (ours, theirs)]
    duel = table["duels"][name]
    times = [markdown.number(markdown.best(duel[side]), 2) for side in ("ours", "peer")]
    return (
        f"{table['name']} ({table['n_rows']:,} x {table['n_features']})",
        table["metric"],
        *means,
        markdown.with_error(mean, error),
        *times,
    )
