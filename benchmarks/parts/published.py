"""Error rates of trees by cross-validation, beside what others have published for C4.5.

The folder of real tables is named by the environment variable COMMITTEE_DATA. Published figures are
means of ten-fold cross-validations on the same data, over other folds: they say whether an
implementation is in its right place, not which one is better.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.contestants.contestant import Contestant, libraries_here
from benchmarks.harness.datasets import FOLDER_VARIABLE, TableInfo, list_tables, read_table
from benchmarks.harness.fresh import run_fresh
from benchmarks.harness.measure import say
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal

N_FOLDS = 10


@dataclass(frozen=True, slots=True)
class PublishedSize:
    """How much to measure."""

    repeats: int
    max_rows: int


@dataclass(frozen=True)
class PublishedPart:
    """Error rates in percent on named tables."""

    name: str
    title: str
    contestants: tuple[Contestant, ...]
    published: Mapping[str, float | None]  # error of C4.5 in percent, by table; None: not known
    source: str
    sizes: Mapping[str, PublishedSize]
    tolerance: float  # percent that the first contestant may be worse than published

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return libraries_here(self.contestants)

    def run(self, size: str, resamples: int | None) -> dict[str, Any] | None:
        """Measure table by table, each in a process of its own."""
        settings = self.sizes[size]
        tables = [each for each in list_tables(settings.max_rows) if each.name in self.published]
        if not tables:
            say(f"  no tables: {FOLDER_VARIABLE} does not name a folder with some")
            return None
        errors = {
            table.name: run_fresh(
                "benchmarks.parts.published:errors_on_table",
                table=asdict(table),
                contestants=[asdict(each) for each in self.contestants],
                repeats=resamples or settings.repeats,
            )
            for table in tables
        }
        return {"repeats": resamples or settings.repeats, "errors": errors}

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return the result as lines of Markdown."""
        rows = [
            (
                name,
                *(f"{errors[each.label]:.1f}" for each in self.contestants),
                _text(self.published[name]),
            )
            for name, errors in result["errors"].items()
        ]
        head = ("error in %", *(each.label for each in self.contestants), "C4.5, published")
        return [
            f"Ten folds, {result['repeats']} times over. Published: {self.source}.",
            "",
            *markdown.table(head, rows),
        ]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare the result with what was published."""
        first = self.contestants[0].label
        differences = [
            errors[first] - published
            for name, errors in result["errors"].items()
            if (published := self.published[name]) is not None
        ]
        if not differences:
            return []
        mean = statistics.mean(differences)
        text = (
            f"error of {first} on {len(differences)} tables, mean difference from what is "
            f"published for C4.5: at most {self.tolerance:g} %"
        )
        return [Goal(text, f"{mean:+.2f} %", mean <= self.tolerance)]


def errors_on_table(
    table: dict[str, Any], contestants: list[dict[str, Any]], repeats: int
) -> dict[str, float]:
    """Return the mean error in percent of each contestant over the same folds."""
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

    warnings.filterwarnings("ignore", message="The least populated class")
    info = TableInfo(**table)
    X, y = read_table(info)
    folds = RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=repeats, random_state=0)
    found = {}
    for each in (Contestant(**fields) for fields in contestants):
        scores = cross_val_score(each.build(), X, y.astype(str), cv=folds, error_score="raise")
        found[each.label] = 100 * (1 - float(scores.mean()))
        say(f"  {info.name}, {each.label}: {found[each.label]:.2f} %")
    return found


def _text(published: float | None) -> str:
    return "" if published is None else f"{published:.1f}"
