"""Reading of the scores of several libraries on real tables: standings, tables, goals."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.harness.halves import HALVES
from benchmarks.harness.standings import Standing, TableScores, standings
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, not_measured

CONSTANT = "constant"


class AccuracyResult:
    """What the readers of a result ask it."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.settings = result["settings"]
        self.tables: list[Mapping[str, Any]] = result["tables"]
        self.labels = [each["label"] for each in result["entrants"] if each["label"] != CONSTANT]

    def runs(self, table: Mapping[str, Any], label: str) -> list[Mapping[str, Any]]:
        """Return the runs of a library on a table."""
        found: list[Mapping[str, Any]] = table["runs"][label]
        return found

    def score(self, table: Mapping[str, Any], label: str) -> float | None:
        """Return the mean score; None if any seed has none."""
        return _mean([run.get("score") for run in self.runs(table, label)])

    def seconds(self, table: Mapping[str, Any], label: str) -> float | None:
        """Return the mean CPU seconds of a fit; None if any seed has none."""
        return _mean([run.get("cpu") for run in self.runs(table, label)])

    def timed_out(self, table: Mapping[str, Any]) -> list[str]:
        """Return the libraries that a time limit ended on a table."""
        return [
            label
            for label in self.labels
            if any("timeout" in run for run in self.runs(table, label))
        ]

    def compared(self, half: str) -> list[Mapping[str, Any]]:
        """Return the tables of a half ("all": of both) on which every library was let finish."""
        return [
            table
            for table in self.tables
            if half in ("all", table["half"]) and not self.timed_out(table)
        ]

    def standings(self, half: str) -> dict[str, Standing]:
        """Return the standing of each library."""
        return standings(
            TableScores(
                table["name"],
                table["metric"],
                self.score(table, CONSTANT) or 0.0,
                {label: self.score(table, label) for label in self.labels},
            )
            for table in self.compared(half)
        )

    def total_seconds(self, half: str, label: str) -> float:
        """Return the sum of mean seconds over the compared tables, failures left out."""
        return sum(self.seconds(table, label) or 0.0 for table in self.compared(half))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if len(known) == len(values) else None


def outranks(result: AccuracyResult, mine: str, peer: str, half: str) -> Goal:
    """Promise a lower mean rank on a half, or on all tables."""
    where = "all tables" if half == "all" else f"the {half} half"
    text = f"mean rank of the defaults on {where}: {mine} better than {peer}"
    found = result.standings(half)
    if mine not in found or peer not in found:
        return not_measured(text)
    ranks = [found[label].mean_rank for label in (mine, peer)]
    return Goal(text, f"{ranks[0]:.2f}, {ranks[1]:.2f}", ranks[0] < ranks[1])


def takes_a_share(result: AccuracyResult, mine: str, peer: str, share: float) -> Goal:
    """Promise at most a share of the seconds of a peer over all tables."""
    text = f"CPU seconds of the defaults on all tables: {mine} at most {share:g} of {peer}"
    if not {mine, peer} <= set(result.labels):
        return not_measured(text)
    both = [result.total_seconds("all", label) for label in (mine, peer)]
    ratio = both[0] / both[1] if both[1] else float("inf")
    return Goal(text, f"{ratio:.2f}", ratio <= share)


def is_safe(result: AccuracyResult, mine: str) -> list[Goal]:
    """Promise that no table is refused and none scored much worse than by the constant."""
    texts = (
        f"{mine} accepts every table",
        f"{mine} is nowhere more than 1 % worse than the constant",
    )
    if mine not in result.labels:
        return [not_measured(text) for text in texts]
    found = result.standings("all")[mine]
    stopped = [table["name"] for table in result.tables if mine in result.timed_out(table)]
    refused = found.failures + len(stopped)
    return [
        Goal(texts[0], f"{refused} refused", refused == 0),
        Goal(
            texts[1],
            f"{found.worse_than_constant} tables",
            found.worse_than_constant == 0 and refused == 0,
        ),
    ]


def overview(result: AccuracyResult) -> list[str]:
    """Return how it was scored and the standings in each half and over all tables."""
    lines = [
        "Defaults of each library, 75 % of the rows to train on, at most "
        f"{result.settings['train_rows']:,}. A score is the mean over "
        f"{result.settings['seeds']} seeds ({result.settings['large_seeds']} for tables of more "
        f"than {result.settings['large']:,} rows). A normalised score is the share of the best "
        "library's gain over the constant predictor: 1 is the best library, 0 the constant, and "
        "-1 the least, also for a failure. The win rate counts all pairs of libraries, a tie as a "
        "half. A failure has the last rank. Seconds are CPU seconds of fits on one "
        "thread, means added up over the tables.",
        "",
        *_left_out(result),
    ]
    for half in (*HALVES, "all"):
        lines += [*_standing_table(result, half), ""]
    return lines[:-1]


def _left_out(result: AccuracyResult) -> list[str]:
    stopped = {table["name"]: result.timed_out(table) for table in result.tables}
    skipped = [f"{name} ({', '.join(labels)})" for name, labels in stopped.items() if labels]
    if not skipped:
        return []
    limit = result.settings["seconds"]
    return [
        f"Not compared, because a fit was ended after {limit:g} s: {'; '.join(skipped)}.",
        "",
    ]


def _standing_table(result: AccuracyResult, half: str) -> list[str]:
    rows = []
    found = result.standings(half)
    for label in sorted(found, key=lambda each: found[each].mean_rank):
        standing = found[label]
        rows.append(
            (
                label,
                f"{standing.mean_rank:.2f}",
                f"{standing.normalised:.4f}",
                f"{100 * standing.win_rate:.0f} %",
                f"{standing.firsts}",
                f"{standing.failures}",
                f"{standing.worse_than_constant}",
                markdown.number(result.total_seconds(half, label)),
            )
        )
    where = "all tables" if half == "all" else f"half: {half}"
    header = (
        f"{where} ({len(result.compared(half))})",
        "mean rank",
        "normalised score",
        "win rate",
        "firsts",
        "failures",
        "over 1 % worse than constant",
        "s",
    )
    return markdown.table(header, rows)


def score_table(result: AccuracyResult) -> list[str]:
    """Return the mean scores of each table."""
    header = ("scores", "half", "metric", *result.labels, CONSTANT)
    return markdown.table(header, [_score_row(result, table) for table in result.tables])


def _score_row(result: AccuracyResult, table: Mapping[str, Any]) -> tuple[str, ...]:
    cells = [
        _cell(result.score(table, label), 5, label in result.timed_out(table))
        for label in (*result.labels, CONSTANT)
    ]
    return (f"{table['name']} ({table['n_rows']:,})", table["half"], table["metric"], *cells)


def time_table(result: AccuracyResult) -> list[str]:
    """Return the mean fit seconds of each table."""
    rows = []
    for table in result.tables:
        cells = [
            _cell(result.seconds(table, label), 3, label in result.timed_out(table))
            for label in result.labels
        ]
        rows.append((table["name"], *cells))
    return markdown.table(("CPU seconds of a fit", *result.labels), rows)


def _cell(value: float | None, digits: int, timed_out: bool) -> str:
    if value is not None:
        return markdown.number(value, digits)
    return "time limit" if timed_out else "failed"
