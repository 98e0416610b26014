"""Tables of levels: seconds of a fit, with limits, and against peers that take much longer.

Levels are made by a fixed law: the class depends on a few columns and on two that agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.contestants.contestant import Contestant, libraries_here, taking_part
from benchmarks.harness.fresh import run_fresh
from benchmarks.harness.measure import measure_call, say
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, best, factor, not_measured, number

N_LEVELS = 5


@dataclass(frozen=True, slots=True)
class LevelsSize:
    """How much to measure."""

    n_rows: int
    n_features: int
    rounds: int


@dataclass(frozen=True)
class LevelsPart:
    """Fits of a table of levels; with a peer, how many times slower that is."""

    name: str
    title: str
    contestants: tuple[Contestant, ...]
    sizes: Mapping[str, LevelsSize]
    limit: float | None = None  # seconds
    peer: str = ""
    speed: float = 1.0  # that each of ours is promised to be faster than the peer

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries in it."""
        return libraries_here(self.contestants)

    def run(self, size: str, resamples: int | None) -> dict[str, Any] | None:
        """Measure each contestant in a process of its own."""
        settings = self.sizes[size]
        readings = {
            each.key: run_fresh(
                "benchmarks.parts.levels:fit_levels",
                python=each.python,
                contestant=asdict(each),
                size=asdict(settings) | {"rounds": resamples or settings.rounds},
            )
            for each in taking_part(self.contestants)
        }
        return {"settings": asdict(settings), "readings": readings}

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return the result as lines of Markdown."""
        settings, readings = result["settings"], result["readings"]
        theirs = best(readings[self.peer]) if self.peer in readings else None
        rows = [
            (
                key,
                number(best(found)),
                "" if theirs is None else factor(theirs, best(found)),
                f"{found[0]['accuracy']:.4f}",
                f"{found[0]['nodes']:,}" if found[0]["nodes"] else "",
            )
            for key, found in readings.items()
        ]
        head = ("fit", "s", f"speed against {self.peer}" if theirs else "", "accuracy", "nodes")
        return [
            f"{settings['n_rows']:,} rows, {settings['n_features']} columns of {N_LEVELS} levels; "
            f"the best seconds of {settings['rounds']}, accuracy on the training rows.",
            "",
            *markdown.table(head, rows),
        ]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare the result with what was promised."""
        settings, readings = result["settings"], result["readings"]
        where = f"{settings['n_rows']:,} x {settings['n_features']} levels"
        found = []
        for contestant in self.contestants:
            if contestant.library != "committee":
                continue
            key = contestant.key
            if self.limit is not None:
                text = f"fit {where}: {key} in under {self.limit:g} s"
                seconds = best(readings[key])
                found.append(Goal(text, f"{number(seconds)} s", seconds < self.limit))
            if self.peer:
                text = f"fit {where}: {key} at least {self.speed:g}x faster than {self.peer}"
                if self.peer not in readings:
                    found.append(not_measured(text))
                    continue
                theirs, mine = best(readings[self.peer]), best(readings[key])
                found.append(Goal(text, factor(theirs, mine), theirs / mine >= self.speed))
        return found


def fit_levels(contestant: dict[str, Any], size: dict[str, Any]) -> list[dict[str, Any]]:
    """Fit a contestant several times."""
    runner = Contestant(**contestant)
    X, y = draw_levels(size["n_rows"], size["n_features"])
    X = X.astype("float64") if runner.library != "committee" else as_categories(X)
    runner.build().fit(X[: len(y) // 10], y[: len(y) // 10])  # imports, pools of threads
    found = []
    for _ in range(size["rounds"]):
        reading, model = measure_call(lambda: runner.build().fit(X, y))
        say(f"  fit, {runner.key}: {reading.wall:.4g} s")
        view = getattr(model, "tree_", None)
        nodes = int(getattr(view, "node_count", 0))
        accuracy = float((model.predict(X) == y).mean())
        found.append({**asdict(reading), "accuracy": accuracy, "nodes": nodes})
    return found


def draw_levels(n_rows: int, n_features: int) -> tuple[Any, Any]:
    """Return level numbers and classes."""
    import numpy as np

    rng = np.random.default_rng(2029)
    X = rng.integers(0, N_LEVELS, (n_rows, n_features))
    score = 2.0 * (X[:, 0] == 1) + 1.5 * (X[:, 1] > 2) - 2.0 * (X[:, 2] == X[:, 3]) + (X[:, 4] == 0)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(1 - score))).astype(np.int64)
    return X, y


def as_categories(X: Any) -> Any:
    """Return level numbers as a data frame of categories."""
    import pandas as pd

    names = [f"level {code}" for code in range(N_LEVELS)]
    columns = {f"x{i}": pd.Categorical.from_codes(X[:, i], names) for i in range(X.shape[1])}
    return pd.DataFrame(columns)
