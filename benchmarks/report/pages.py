"""The pages of the documentation, from results: `python -m benchmarks.report.pages`.

Each suite has a page with all its tables, docs/benchmarks/<suite>.md, which is generated as a
whole. In docs/benchmarks.md and benchmarks/README.md only lines between markers are generated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.report.markdown import (
    NOT_MEASURED,
    Goal,
    Part,
    page_section,
    read_results,
    table,
    verdict,
    write_section,
)

RESULTS = Path(__file__).resolve().parents[1] / "results"
DOCS = Path(__file__).resolve().parents[2] / "docs"
README = RESULTS.parent / "README.md"
TITLES = {
    "trees": "Trees",
    "forests": "Forests and bagging",
    "boosting": "Gradient boosting",
    "adaboost": "AdaBoost",
    "quinlan": "ID3 and C4.5",
    "stacking": "Stacking",
    "committee": "The committee in one line",
}
_RANK = "mean rank of the defaults on the test half: committee better than CatBoost"
_STUMPS = "predict 100,000 rows by the committee of 100,000 x 28: committee stumps, 2 threads"
# What docs/benchmarks.md starts with: suite, part, and how the text of the goal begins.
HEADLINES = (
    ("trees", "fit-100k", "fit 100,000 rows: committee hist, 2 threads"),
    ("trees", "fit-1m", "fit 1,000,000 rows: committee hist, 2 threads"),
    ("trees", "fit-1m", "predict 500,000 rows: committee hist, 2 threads"),
    ("forests", "forest-s", "fit 20,000 x 20: committee forest, 2 threads at least 20x"),
    ("forests", "forest-100k", "fit 100,000 x 28: committee forest, 2 threads at least 20x"),
    ("forests", "forest-100k", "predict 100,000 rows by the forest"),
    ("forests", "extra-s", "fit 20,000 x 20: committee extra-trees"),
    ("forests", "regression-20k", "fit 20,000 x 28: committee regression forest"),
    ("boosting", "speed-s", "fit 20,000 x 20: committee, 2 threads at least 2x faster than the"),
    ("boosting", "speed-m", "fit 100,000 x 100: committee, 2 threads at least 2x faster than the"),
    ("boosting", "speed-l", "fit 1,000,000 x 28: committee, 2 threads at least 2x faster than the"),
    ("boosting", "predict", "predict 100,000 rows by the 100 trees of 100,000 x 28: committee, 2"),
    ("boosting", "accuracy", _RANK),
    ("adaboost", "stumps-s", "fit 20,000 x 20: committee stumps, 2 threads"),
    ("adaboost", "stumps-100k", "fit 100,000 x 28: committee stumps, 2 threads"),
    ("adaboost", "stumps-100k", _STUMPS),
    ("quinlan", "levels", "fit 100,000 x 20 levels: committee C4.5, 1 thread"),
    ("quinlan", "port", "fit 2,000 x 20 levels: committee C4.5, 1 thread"),
    ("quinlan", "published", "error of committee C4.5"),
    ("stacking", "stack-s", "fit 20,000 x 20: committee stack, 2 threads"),
    ("stacking", "adult", "fit adult, members with all threads"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A goal, and the part of a suite it belongs to."""

    suite: str
    part: Part
    goal: Goal


@cache
def suite_parts(suite: str) -> tuple[Part, ...]:
    """Return all parts of a suite, measured or not."""
    parts: tuple[Part, ...] = import_module(f"benchmarks.suites.{suite}").PARTS
    return parts


@cache
def suite_results(suite: str) -> dict[str, Any]:
    """Return the records of the parts that were measured."""
    return read_results(RESULTS / f"{suite}.json")


def suite_goals(suite: str) -> Iterator[Measured]:
    """Yield every goal of a suite once."""
    seen = set()
    for part in suite_parts(suite):
        if part.name not in suite_results(suite):
            continue
        for goal in part.goals(suite_results(suite)[part.name]["result"]):
            if goal not in seen:
                seen.add(goal)
                yield Measured(suite, part, goal)


def suite_page(suite: str) -> str:
    """Return the page with all tables of a suite."""
    lines = [
        f"# Benchmarks: {TITLES[suite]}",
        "",
        f"Generated from `benchmarks/results/{suite}.json`; do not edit. What the columns mean and "
        "how it is measured: [Benchmarks](../benchmarks.md#how-it-is-measured).",
        f"`python -m benchmarks.run {suite} --full` repeats all tables, `--only PART` one of them.",
        "",
        *page_section(suite_parts(suite), suite_results(suite), suite),
    ]
    return "\n".join(lines).rstrip() + "\n"


def summary_sections() -> dict[str, list[str]]:
    """Return the generated sections of docs/benchmarks.md by the names of their markers."""
    return {
        "ratios": _ratios(),
        "counts": _counts(),
        "missed": _missed(),
        "unmeasured": _unmeasured(),
    }


def commands() -> list[str]:
    """Return the section of benchmarks/README.md with the command of each table."""
    rows = [
        (part.title, f"`python -m benchmarks.run {suite} --full --only {part.name}`")
        for suite in TITLES
        for part in suite_parts(suite)
    ]
    return table(("table", "command"), rows, n_left=2)


def write_pages() -> None:
    """Write the page of each suite and the generated sections of the summary."""
    (DOCS / "benchmarks").mkdir(exist_ok=True)
    for suite in TITLES:
        (DOCS / "benchmarks" / f"{suite}.md").write_text(suite_page(suite), encoding="utf-8")
    for name, lines in summary_sections().items():
        write_section(DOCS / "benchmarks.md", name, lines)
    write_section(README, "commands", commands())


def _ratios() -> list[str]:
    rows = []
    for suite, part, beginning in HEADLINES:
        (found,) = (
            each.goal
            for each in suite_goals(suite)
            if each.part.name == part and each.goal.text.startswith(beginning)
        )
        rows.append((_link(suite), found.text, found.measured, verdict(found)))
    return table(("suite", "goal", "measured", "met"), rows, n_left=2)


def _counts() -> list[str]:
    rows = []
    for suite in TITLES:
        goals = [each.goal for each in suite_goals(suite)]
        n_met = sum(goal.is_met for goal in goals)
        n_open = sum(goal.measured == NOT_MEASURED for goal in goals)
        n_missed = len(goals) - n_met - n_open
        rows.append((_link(suite), *(str(n) for n in (len(goals), n_met, n_missed, n_open))))
    return table(("suite", "goals", "met", "missed", "not measured"), rows)


def _missed() -> list[str]:
    rows = [
        (_part_link(each), each.goal.text, each.goal.measured)
        for suite in TITLES
        for each in suite_goals(suite)
        if verdict(each.goal) == "**missed**"
    ]
    return table(("part", "goal", "measured"), rows, n_left=2)


def _unmeasured() -> list[str]:
    lines = []
    for suite in TITLES:
        parts = [part for part in suite_parts(suite) if part.name not in suite_results(suite)]
        if parts:
            titles = "; ".join(f"{part.title} (`{part.name}`)" for part in parts)
            lines.append(f"- {_link(suite)}: {titles}")
    return lines


def _link(suite: str) -> str:
    return f"[{TITLES[suite]}](benchmarks/{suite}.md)"


def _part_link(measured: Measured) -> str:
    title = measured.part.title
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    return f"[{title}](benchmarks/{measured.suite}.md#{anchor})"


if __name__ == "__main__":
    write_pages()
