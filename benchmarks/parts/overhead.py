"""What a stack costs beyond the fits of its members, final estimator aside."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.harness.datasets import load_split
from benchmarks.harness.fresh import run_fresh
from benchmarks.harness.measure import say
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, number


@dataclass(frozen=True, slots=True)
class OverheadSize:
    """How much to measure."""

    n_rows: tuple[int, ...]
    rounds: int


@dataclass(frozen=True)
class OverheadPart:
    """Seconds of a stack, and of the same fits and predictions of its members one by one."""

    name: str
    title: str
    problem: str
    sizes: Mapping[str, OverheadSize]
    at_most: float  # share of the seconds of the members

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return ("committee",)

    def run(self, size: str, resamples: int | None) -> dict[str, Any]:
        """Measure size by size, each in a process of its own."""
        settings = self.sizes[size]
        readings = {
            str(n_rows): run_fresh(
                "benchmarks.parts.overhead:stack_and_members",
                problem=self.problem,
                n_rows=n_rows,
                rounds=resamples or settings.rounds,
            )
            for n_rows in settings.n_rows
        }
        return {"settings": asdict(settings), "readings": readings}

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return the result as lines of Markdown."""
        rows = []
        for n_rows, found in result["readings"].items():
            stack, final, members = (min(r[k] for r in found) for k in _KEYS)
            cells = map(number, (stack, final, members))
            rows.append((f"{int(n_rows):,}", *cells, f"{100 * _overhead(found):+.1f} %"))
        head = ("rows", "stack, s", "of it final estimator, s", "members one by one, s", "overhead")
        return [
            "The members one by one: each fitted to arrays of the rows of each fold, asked about "
            "the others, and fitted to all rows. Two threads, the best of each.",
            "",
            *markdown.table(head, rows),
        ]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare the overhead with what was promised."""
        return [
            Goal(
                f"a stack of {int(n_rows):,} rows: {100 * self.at_most:g} % over its members",
                f"{100 * _overhead(found):+.1f} %",
                _overhead(found) <= self.at_most,
            )
            for n_rows, found in result["readings"].items()
        ]


_KEYS = ("stack", "final", "members")


def _overhead(found: list[dict[str, float]]) -> float:
    stack, final, members = (min(reading[key] for reading in found) for key in _KEYS)
    return (stack - final) / members - 1


def stack_and_members(problem: str, n_rows: int, rounds: int) -> list[dict[str, float]]:
    """Fit the stack and its members in turn."""
    from benchmarks.contestants.stacks import N_FOLDS, own_members, own_stack
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    split = load_split(problem, n_rows, 1, 0)
    X, y = split.X_train, split.y_train
    folds = list(StratifiedKFold(N_FOLDS).split(X, y))
    own_stack(2).fit(X[:1000], y[:1000])  # imports, pools of threads
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        stack = own_stack(2, keep_level_one=True).fit(X, y)
        stacked = time.perf_counter()
        LogisticRegression().fit(stack.level_one_, y)
        final = time.perf_counter()
        for _, member in own_members(2):
            for train, test in folds:
                clone(member).fit(X[train], y[train]).predict_proba(X[test])
            clone(member).fit(X, y)
        end = time.perf_counter()
        reading = {"stack": stacked - start, "final": final - stacked, "members": end - final}
        say("  " + ", ".join(f"{key} {value:.4g} s" for key, value in reading.items()))
        found.append(reading)
    say(f"  overhead {statistics.fmean([_overhead([each]) for each in found]):+.1%}")
    return found
