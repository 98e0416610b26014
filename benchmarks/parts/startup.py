"""What an import adds to the start of a program, each in a fresh interpreter."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.harness.fresh import environment
from benchmarks.harness.measure import say
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal

_PROGRAM = """
import time
start = time.perf_counter()
{before}
middle = time.perf_counter()
{statement}
print(middle - start, time.perf_counter() - middle)
"""


@dataclass(frozen=True)
class StartupPart:
    """Statements timed after another import."""

    name: str
    title: str
    before: str
    statements: tuple[str, ...]
    limits: Mapping[str, float]  # promised seconds by statement
    repeats: Mapping[str, int]
    libraries: tuple[str, ...] = ("committee", "sklearn")

    def run(self, size: str, resamples: int | None) -> dict[str, Any]:
        """Time the statements in turn; a first round fills the caches and is dropped."""
        times: dict[str, list[dict[str, float]]] = {each: [] for each in self.statements}
        for repeat in range(self.repeats[size] + 1):
            for statement in self.statements:
                before, added = _time_import(self.before, statement)
                if repeat > 0:
                    times[statement].append({"before": before, "added": added})
        for statement in self.statements:
            say(f"  {statement}: {_median(times[statement], 'added'):.4f} s added")
        return {"before": self.before, "times": times}

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return a table of medians."""
        times = result["times"]
        every = [reading for readings in times.values() for reading in readings]
        rows = [(result["before"], f"{_median(every, 'before'):.3f}")]
        rows += [(f"then {each}", f"{_median(times[each], 'added'):.3f}") for each in times]
        count = len(next(iter(times.values())))
        caption = f"Median of {count} fresh interpreters, files in the cache of the system."
        return [caption, "", *markdown.table(("statement", "s"), rows)]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare the medians with the limits."""
        goals = []
        for statement, limit in self.limits.items():
            added = _median(result["times"][statement], "added")
            text = f"`{statement}` adds at most {limit:g} s to `{result['before']}`"
            goals.append(Goal(text, f"{added:.3f} s", added <= limit))
        return goals


def _time_import(before: str, statement: str) -> tuple[float, float]:
    program = _PROGRAM.format(before=before, statement=statement)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    first, second = map(float, done.stdout.split())
    return first, second


def _median(readings: list[dict[str, float]], key: str) -> float:
    return statistics.median(reading[key] for reading in readings)
