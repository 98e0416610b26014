"""Every method of the library on real tables: how accurate, and in what time.

    COMMITTEE_DATA=folder python -m benchmarks.studies.methods   # measure, print the table
    python -m benchmarks.studies.methods --render --chart docs/images/choosing.png

Every method at its defaults, on at most 2,000 training rows of each table; the committee in one
line with the budget of "fast". Scores by the metric of the table on held-out rows, as the share of
the gain over the constant that the best method of the table has. Nothing was chosen by this study,
so it looks at all tables.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import TableInfo, cut_table, list_tables, read_table
from benchmarks.harness.scores import table_score
from benchmarks.harness.standings import normalised, ranks
from benchmarks.studies.study import run

RESULTS = Path(__file__).resolve().parents[1] / "results" / "methods.json"
MOST_ROWS, TRAIN_ROWS, TEST_ROWS, MOST_CELLS = 60_000, 2_000, 5_000, 600_000
CONSTANT = "constant"


def _members(kind: str, seed: int) -> list[tuple[str, Any]]:
    """Return a forest, extra-trees and boosting."""
    import committee

    return [
        ("forest", getattr(committee, f"RandomForest{kind}")(random_state=seed)),
        ("extra", getattr(committee, f"ExtraTrees{kind}")(random_state=seed)),
        ("boosting", getattr(committee, f"GradientBoosting{kind}")(random_state=seed)),
    ]


def _single(name: str, **options: Any) -> Callable[[str, int], Any]:
    def make(kind: str, seed: int) -> Any:
        import committee

        return getattr(committee, f"{name}{kind}")(random_state=seed, **options)

    return make


def _vote(kind: str, seed: int) -> Any:
    import committee

    options = {"voting": "soft"} if kind == "Classifier" else {}
    return getattr(committee, f"Voting{kind}")(_members(kind, seed), **options)


def _stack(kind: str, seed: int) -> Any:
    import committee

    return getattr(committee, f"Stacking{kind}")(_members(kind, seed), random_state=seed)


METHODS: dict[str, Callable[[str, int], Any]] = {
    "one tree": _single("DecisionTree"),
    "one tree, 20 rows a leaf": _single("DecisionTree", min_samples_leaf=20),
    "bagging, 100 trees": _single("Bagging", n_estimators=100),
    "random forest": _single("RandomForest"),
    "extra-trees": _single("ExtraTrees"),
    "AdaBoost": _single("AdaBoost"),
    "gradient boosting": _single("GradientBoosting"),
    "voting: both forests and boosting": _vote,
    "stacking: the same": _stack,
    "committee in one line": _single("Committee", quality="fast"),
}


def scores(info: TableInfo, X: Any, y: Any, seed: int) -> dict[str, Any]:
    """Return score and seconds of each method on one cut of a table."""
    X_train, X_test, y_train, y_test = cut_table(X, y, info, seed)
    rows, held = slice(TRAIN_ROWS), slice(TEST_ROWS)
    X_train, y_train = X_train.iloc[rows], y_train[rows]
    X_test, y_test = X_test.iloc[held], y_test[held]
    if info.is_classification:
        known = np.isin(y_test, np.unique(y_train))
        X_test, y_test = X_test[known], np.searchsorted(np.unique(y_train), y_test[known])
        y_train = np.searchsorted(np.unique(y_train), y_train)
    kind = "Classifier" if info.is_classification else "Regressor"
    found: dict[str, Any] = {CONSTANT: {"score": _constant(info, y_train, y_test)}}
    for name, make in METHODS.items():
        model = make(kind, seed)
        begin = time.process_time()  # of all threads, whatever else the machine does
        model.fit(X_train, y_train)
        seconds = time.process_time() - begin
        is_class = info.is_classification
        predicted = model.predict_proba(X_test) if is_class else model.predict(X_test)
        score = table_score(info.metric, y_test, predicted)
        found[name] = {"score": float(f"{score:.6g}"), "seconds": round(seconds, 3)}
    return found


def _constant(info: TableInfo, y_train: Any, y_test: Any) -> float:
    if info.is_classification:
        predicted = np.tile(np.bincount(y_train) / len(y_train), (len(y_test), 1))
    else:
        predicted = np.full(len(y_test), np.mean(y_train))
    return float(table_score(info.metric, y_test, predicted))


def measure(n_seeds: int) -> list[dict[str, Any]]:
    """Return the scores on all tables."""
    import committee

    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2
    committee.CommitteeClassifier(budget=0.1).fit(X, y)  # imports are not counted
    entries = []
    for info in list_tables(MOST_ROWS):
        X, y = read_table(info)
        if min(len(X), TRAIN_ROWS) * X.shape[1] > MOST_CELLS:
            continue
        for seed in range(n_seeds):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                entry = {"table": info.name, "metric": info.metric, "seed": seed}
                entries.append(entry | {"methods": scores(info, X, y, seed)})
        print(info.name, flush=True)
    return entries


def standing(entries: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return for each method the mean normalised score with its error, mean rank and seconds."""
    shares: dict[str, list[float]] = {name: [] for name in METHODS}
    places: dict[str, list[float]] = {name: [] for name in METHODS}
    seconds: dict[str, list[float]] = {name: [] for name in METHODS}
    for table in dict.fromkeys(entry["table"] for entry in entries):
        runs = [entry for entry in entries if entry["table"] == table]
        metric = runs[0]["metric"]
        mean = {
            name: float(np.mean([run["methods"][name]["score"] for run in runs]))
            for name in (*METHODS, CONSTANT)
        }
        constant = mean.pop(CONSTANT)
        for name, share in normalised(mean, constant, metric).items():
            shares[name].append(share)
        for name, rank in ranks(mean, metric).items():
            places[name].append(rank)
        for name in METHODS:
            seconds[name].append(np.median([run["methods"][name]["seconds"] for run in runs]))
    return {
        name: {
            "share": float(np.mean(shares[name])),
            "error": float(np.std(shares[name], ddof=1) / np.sqrt(len(shares[name]))),
            "rank": float(np.mean(places[name])),
            "seconds": float(np.median(seconds[name])),
            "tables": len(shares[name]),
        }
        for name in METHODS
    }


def render(entries: list[dict[str, Any]]) -> str:
    """Return a table: share of the best gain, ranks, processor seconds."""
    found = standing(entries)
    lines = [
        "| method | share of the best gain | mean rank | processor seconds, median |",
        "|---|---:|---:|---:|",
    ]
    for name, each in found.items():
        lines.append(
            f"| {name} | {each['share']:.3f} ± {each['error']:.3f} | {each['rank']:.1f} "
            f"| {each['seconds']:.2g} |"
        )
    return "\n".join(lines)


def draw(entries: list[dict[str, Any]], path: Path) -> None:
    """Draw the share of the best gain of each method, with its seconds beside the name."""
    import matplotlib.pyplot as plt

    found = standing(entries)
    figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for place, (name, each) in enumerate(found.items()):
        color = "#d9822b" if "committee" in name else "#3b7dd8"
        ax.errorbar(each["share"], place, xerr=each["error"], fmt="o", color=color, capsize=3)
    names = [f"{name}   {each['seconds']:.2g} s" for name, each in found.items()]
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel("share of the best gain over a constant, and its standard error")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(color="#e6eaf0")
    ax.set_axisbelow(True)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    run(__doc__, RESULTS, measure, render, draw)
