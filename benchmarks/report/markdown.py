"""From results to Markdown: number formats, tables, and the page between its markers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Goal:
    """Something promised, and what was measured."""

    text: str
    measured: str
    is_met: bool


def not_measured(text: str) -> Goal:
    """Return a goal of which nothing is known, for example because a peer was not there."""
    return Goal(text, NOT_MEASURED, False)


class Part(Protocol):
    """One measurement of a suite: it runs, and it reads its own result."""

    @property
    def name(self) -> str:
        """Short name, for `--only`."""

    @property
    def title(self) -> str:
        """Heading in the page."""

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""

    def run(self, size: str, resamples: int | None) -> dict[str, Any] | None:
        """Measure; `size` is "quick" or "full". None: there is nothing to measure."""

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return the result as lines of Markdown."""

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare the result with what was promised."""


def number(value: float, digits: int = 3) -> str:
    """Format with so many significant digits, without exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(0, decimals)}f}"


def factor(theirs: float, ours: float) -> str:
    """Format how many times faster (or smaller) ours is."""
    return f"{theirs / ours:.1f}x" if theirs / ours < 99.5 else f"{theirs / ours:.0f}x"


def with_error(mean: float, error: float) -> str:
    """Format a difference and its standard error, which one pair does not have."""
    sign = "-" if mean < 0 else "+"
    difference = f"{sign}{number(abs(mean))}"
    return difference if math.isnan(error) else f"{difference} ± {number(error, 2)}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], n_left: int = 1) -> list[str]:
    """Return a Markdown table: the first `n_left` columns to the left, the others to the right."""
    rule = "|---" * n_left + "|---:" * (len(header) - n_left) + "|"
    lines = [f"| {' | '.join(header)} |", rule]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def best(readings: Iterable[Mapping[str, Any]], key: str = "wall") -> float:
    """Return the least of the measured times."""
    return min(float(reading[key]) for reading in readings)


def noise_note(readings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say how busy others kept the machine during measurements long enough to tell."""
    known = [each["other_cores"] for each in readings if each["other_cores"] is not None]
    if not known:
        return []
    return ["", f"Other processes kept at most {max(known):.2f} cores busy during a measurement."]


def page_section(parts: Sequence[Part], results: Mapping[str, Any], suite: str) -> list[str]:
    """Return the section of a suite: goals first, then each part."""
    measured = [(part, results[part.name]) for part in parts if part.name in results]
    # Two promises may turn out to be the same: the fastest peer is known only now.
    goals = dict.fromkeys(
        goal for part, record in measured for goal in part.goals(record["result"])
    )
    lines = []
    if goals:
        rows = [(goal.text, goal.measured, verdict(goal)) for goal in goals]
        lines += ["## Goals", "", *table(("goal", "measured", "met"), rows), ""]
    for part, record in measured:
        lines += [f"## {part.title}", "", *part.render(record["result"]), ""]
        lines += [f"`python -m benchmarks.run {suite} --full --only {part.name}`", ""]
        lines += [_provenance(record), ""]
    return lines


def verdict(goal: Goal) -> str:
    """Return what the column "met" of a goal says."""
    if goal.is_met:
        return "yes"
    return "open" if goal.measured == NOT_MEASURED else "**missed**"


def _provenance(record: Mapping[str, Any]) -> str:
    where = record["environment"]
    loads = [record["load_before"], record["load_after"]]
    load = " to ".join("unknown" if each is None else f"{each[0]:.2f}" for each in loads)
    named = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    return (
        f"<small>{where['date']}, commit {where['commit']}, {record['size']} sizes, "
        f"{where['cpu']}, {where['cores']} cores, {where['memory_gib']} GiB, {where['system']}, "
        f"Python {where['python']}, {named}; load average {load}.</small>"
    )


def write_section(page: Path, name: str, lines: Sequence[str]) -> None:
    """Put lines between the markers of a section; a page without them gets them at its end."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = page.read_text() if page.exists() else "# Benchmarks\n"
    if begin not in text:
        text = f"{text.rstrip()}\n\n## {name.capitalize()}\n\n{begin}\n{end}\n"
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    body = "\n".join(lines).rstrip()
    page.write_text(f"{head}{begin}\n\n{body}\n\n{end}{tail}")


def read_results(path: Path) -> dict[str, Any]:
    """Return the records of parts measured before."""
    return dict(json.loads(path.read_text())["parts"]) if path.exists() else {}


def write_results(path: Path, suite: str, parts: Mapping[str, Any]) -> None:
    """Write all records of a suite."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"suite": suite, "parts": parts}, indent=1, default=float)
    path.write_text(text + "\n")
