"""What a round costs: fits with few and with many rounds, on tables of several sizes.

The difference of both fits, divided by the difference of their rounds, is the time of a round;
reading the table, bins and what comes after the last round are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.contestants.contestant import Contestant, libraries_here, taking_part
from benchmarks.harness.datasets import higgs
from benchmarks.harness.fresh import run_fresh
from benchmarks.harness.measure import interleave
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, not_measured


@dataclass(frozen=True, slots=True)
class RoundsSize:
    """Numbers of rows and of features, every pair of them; how often each is measured."""

    rows: tuple[int, ...]
    features: tuple[int, ...]
    rounds: tuple[int, int]  # few and many
    repeats: int


@dataclass(frozen=True)
class RoundsPart:
    """Contestants with a parameter `n_estimators`, and whether their rounds cost O(d N)."""

    name: str
    title: str
    contestants: tuple[Contestant, ...]
    sizes: Mapping[str, RoundsSize]
    most_spread: float  # of nanoseconds a row and feature, between sizes

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return libraries_here(self.contestants)

    def run(self, size: str, resamples: int | None) -> dict[str, Any]:
        """Measure each size in a process of its own."""
        settings = self.sizes[size]
        contestants = [asdict(each) for each in taking_part(self.contestants)]
        found = []
        for n_rows in settings.rows:
            for n_features in settings.features:
                seconds = run_fresh(
                    "benchmarks.parts.rounds:seconds_of_a_round",
                    n_rows=n_rows,
                    n_features=n_features,
                    rounds=settings.rounds,
                    repeats=settings.repeats,
                    contestants=contestants,
                )
                found.append({"n_rows": n_rows, "n_features": n_features, "seconds": seconds})
        return {"settings": asdict(settings), "contestants": contestants, "found": found}

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return a table: microseconds of a round, and nanoseconds for each row and feature."""
        few, many = result["settings"]["rounds"]
        keys = list(result["found"][0]["seconds"])
        caption = (
            f"Problem: higgs; the best of {result['settings']['repeats']} fits of {many} rounds "
            f"less that of {few}. Microseconds a round (nanoseconds for each row and feature)."
        )
        rows = []
        for each in result["found"]:
            cells = [
                f"{1e6 * each['seconds'][key]:,.0f} ({_nanoseconds(each, key):.2f})" for key in keys
            ]
            rows.append((f"{each['n_rows']:,} x {each['n_features']}", *cells))
        return [caption, "", *markdown.table(("a round", *keys), rows)]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare the sizes."""
        goals = []
        for each in self.contestants:
            text = (
                f"{self.title}, {each.key}: nanoseconds for a row and feature differ by at most "
                f"{self.most_spread:g}x between sizes"
            )
            if each.key not in result["found"][0]["seconds"]:
                goals.append(not_measured(text))
                continue
            costs = [_nanoseconds(entry, each.key) for entry in result["found"]]
            spread = max(costs) / min(costs)
            goals.append(Goal(text, f"{spread:.2f}x", spread <= self.most_spread))
        return goals


def _nanoseconds(entry: Mapping[str, Any], key: str) -> float:
    return 1e9 * float(entry["seconds"][key]) / (entry["n_rows"] * entry["n_features"])


# ---- in the fresh process ----


def seconds_of_a_round(
    n_rows: int,
    n_features: int,
    rounds: Sequence[int],
    repeats: int,
    contestants: list[dict[str, Any]],
) -> dict[str, float]:
    """Return the seconds of a round of each contestant."""
    X, y = higgs(n_rows, n_features)
    calls = {}
    for each in contestants:
        runner = Contestant(**each)
        for n_rounds in rounds:
            calls[f"{runner.key} / {n_rounds}"] = _fit(runner, n_rounds, X, y)
    readings = interleave(calls, repeats, f"{n_rows:,} x {n_features}")
    few, many = rounds
    found = {}
    for each in contestants:
        key = Contestant(**each).key
        times = [markdown.best(readings[f"{key} / {n_rounds}"]) for n_rounds in (few, many)]
        found[key] = (times[1] - times[0]) / (many - few)
    return found


def _fit(runner: Contestant, n_rounds: int, X: Any, y: Any) -> Any:
    return lambda: runner.build().set_params(n_estimators=n_rounds).fit(X, y)
