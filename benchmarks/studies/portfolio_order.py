"""The order of candidates in which a committee gains most for its seconds.

The committee of some candidates is selected on out-of-fold predictions, as the library does it,
and scored on held-out rows. Its loss is log loss or RMSE relative to that of default boosting, in
logarithms, so that tables count alike; cuts of a table count as one table together. A twentieth of
the loss of a constant is added first: where nearly nothing is left of the loss, ratios are noise.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from benchmarks.studies.portfolio_table import Cache

from committee.auto.selection import Selection
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.evaluation.scored_target import ScoredTarget

FIRST = "boosting"  # losses are relative to its
_MOST_SELECTING = 4_000  # rows: enough to choose by, and the study is done in minutes
_SLACK = 0.05  # share of the constant's loss added to losses: nearly no loss is no loss
_LARGEST = 0.2  # of a logarithm: one table does not decide alone
_LEAST = 1e-15
_CONSTANT = 0.7  # the loss of a constant, about


@dataclass(eq=False)
class Cut:
    """All that was measured on one cut of a table.

    Attributes
    ----------
    table : str
        Name of the table.
    counted : dict of dict
        Seconds, rounds and so on by candidate.
    """

    table: str
    counted: dict[str, dict[str, Any]]
    out_of_fold: dict[str, Any]
    test: dict[str, Any]
    target: ScoredTarget
    y_test: Any
    known: dict[frozenset[str], tuple[float, dict[str, float]]] = field(default_factory=dict)

    @property
    def is_classes(self) -> bool:
        """Whether the target is a class."""
        return self.target.codes is not None

    def committee(self, names: Iterable[str]) -> tuple[float, dict[str, float]]:
        """Return the loss of the committee of some candidates, and their weights."""
        key = frozenset(name for name in names if name in self.counted)
        if key not in self.known:
            self.known[key] = self._committee(sorted(key))
        return self.known[key]

    def seconds(self, name: str) -> float:
        """Return the CPU seconds of a candidate."""
        return max(float(self.counted[name]["seconds"]), 1e-2)

    def loss(self, names: Iterable[str]) -> float:
        """Return the logarithm of the loss, relative to default boosting."""
        return loss_ratio(self, self.committee(names)[0], self.committee([FIRST])[0])

    @property
    def constant_loss(self) -> float:
        """The loss of the constant that suits the held-out rows best."""
        if not self.is_classes:
            return float(np.std(self.y_test))
        shares = np.bincount(self.y_test.astype(int)) / len(self.y_test)
        return float(-(shares * np.log(np.maximum(shares, _LEAST))).sum())

    def _committee(self, names: Sequence[str]) -> tuple[float, dict[str, float]]:
        if not names:
            return np.inf, {}
        predicted = np.stack([self.out_of_fold[name] for name in names])
        scoring = "neg_log_loss" if self.is_classes else "neg_root_mean_squared_error"
        predictions = MemberPredictions(predicted, self.target, scoring)
        selection = Selection.of(predictions, np.arange(predictions.n_rows))
        combined = selection.combine(np.stack([self.test[name] for name in names]))
        if self.is_classes:
            right = combined[np.arange(len(self.y_test)), self.y_test.astype(int)]
            loss = -np.log(np.maximum(right, _LEAST)).mean()
        else:
            loss = np.sqrt(np.mean((combined[:, 0] - self.y_test) ** 2))
        return float(loss), {
            name: float(weight) for name, weight in zip(names, selection.weights, strict=True)
        }


def loss_ratio(cut: Cut, loss: float, other: float) -> float:
    """Return the logarithm of a loss, relative to another."""
    slack = _SLACK * cut.constant_loss
    return float(np.clip(np.log((loss + slack) / (other + slack)), -_LARGEST, _LARGEST))


def read_all(cache: Cache) -> list[Cut]:
    """Return all cuts with all that was measured on them, and all of their rows."""
    cuts = []
    for folder in sorted(each for each in cache.folder.iterdir() if each.is_dir()):
        counted, inside, outside = {}, {}, {}
        for path in sorted(folder.glob("*.npz")):
            with np.load(path) as stored:
                if path.name == "truth.npz":
                    y, y_test, n_classes = stored["y"], stored["y_test"], int(stored["n_classes"])
                    continue
                entry = json.loads(str(stored["counted"]))
                name = entry["candidate"]
                counted[name] = entry
                inside[name] = stored["out_of_fold"].astype(np.float64)
                outside[name] = stored["test"].astype(np.float64)
        cuts.append(
            Cut(
                folder.name.rpartition("-")[0],
                counted,
                inside,
                outside,
                _target(y, n_classes),
                y_test,
            )
        )
    return cuts


def _target(y: Any, n_classes: int) -> ScoredTarget:
    if n_classes:
        return ScoredTarget(y[:, None].astype(np.int64), [np.arange(n_classes)])
    return ScoredTarget(reals=y[:, None])


def read_cuts(cache: Cache, names: Sequence[str]) -> list[Cut]:
    """Return the cuts on which all candidates were measured."""
    cuts = []
    for folder in sorted(each for each in cache.folder.iterdir() if each.is_dir()):
        if not all(cache.has(folder.name, name) for name in names):
            continue
        with np.load(folder / "truth.npz") as stored:
            y, y_test, n_classes = stored["y"], stored["y_test"], int(stored["n_classes"])
        rows = np.random.default_rng(0).permutation(len(y))[:_MOST_SELECTING]
        rows.sort()
        counted, inside, outside = {}, {}, {}
        for name in names:
            found = cache.read(folder.name, name)
            if found is None or not found[0]:
                continue
            counted[name] = found[0]
            inside[name] = found[1]["out_of_fold"][rows].astype(np.float64)
            outside[name] = found[1]["test"].astype(np.float64)
        table = folder.name.rpartition("-")[0]
        cuts.append(Cut(table, counted, inside, outside, _target(y[rows], n_classes), y_test))
    return cuts


def by_table(cuts: Sequence[Cut], values: Sequence[float]) -> dict[str, float]:
    """Return means over the cuts of each table."""
    found: dict[str, list[float]] = {}
    for cut, value in zip(cuts, values, strict=True):
        found.setdefault(cut.table, []).append(value)
    return {table: float(np.mean(own)) for table, own in found.items()}


def mean_loss(cuts: Sequence[Cut], names: Sequence[str]) -> float:
    """Return the mean over the tables of the relative losses, in logarithms."""
    return float(np.mean(list(by_table(cuts, [cut.loss(names) for cut in cuts]).values())))


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean over tables."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5)


def costs(cuts: Sequence[Cut], names: Sequence[str]) -> dict[str, float]:
    """Return seconds relative to default boosting: geometric means over the cuts."""
    found = {}
    for name in names:
        own = [cut for cut in cuts if name in cut.counted]
        ratios = [np.log(cut.seconds(name) / cut.seconds(FIRST)) for cut in own]
        found[name] = float(np.exp(np.mean(ratios)))
    return found


def order(cuts: Sequence[Cut], names: Sequence[str], n_most: int) -> list[str]:
    """Return candidates, next always the one that gains most for its seconds."""
    price = costs(cuts, names)
    chosen: list[str] = []
    now = _CONSTANT
    while len(chosen) < n_most:
        rest = [name for name in names if name not in chosen]
        after = {name: mean_loss(cuts, [*chosen, name]) for name in rest}
        best = max(rest, key=lambda name: (now - after[name]) / price[name])
        if now - after[best] <= 0:
            break
        chosen.append(best)
        now = after[best]
    return chosen


def within(cut: Cut, names: Sequence[str], seconds: float) -> list[str]:
    """Return the candidates that a search fits in so many seconds; the first at least."""
    chosen, spent = list(names[:1]), cut.seconds(names[0])
    for name in names[1:]:
        if name in cut.counted and spent + cut.seconds(name) <= seconds:
            chosen.append(name)
            spent += cut.seconds(name)
    return chosen


def left_out(cuts: Sequence[Cut], n_groups: int) -> list[tuple[list[Cut], list[Cut]]]:
    """Return the cuts of the other tables and those of some tables, for each group of these."""
    tables = sorted({cut.table for cut in cuts})
    groups = [set(tables[start::n_groups]) for start in range(n_groups)]
    return [
        (
            [cut for cut in cuts if cut.table not in group],
            [cut for cut in cuts if cut.table in group],
        )
        for group in groups
    ]
