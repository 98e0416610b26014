"""Stacks of three tree ensembles with different meta-learners, on real tables of classes.

    COMMITTEE_DATA=folder python -m benchmarks.studies.meta_learners   # measure, print the table
    python -m benchmarks.studies.meta_learners --render   # the table again

Log loss on held-out rows, relative to logistic regression on probabilities, which is the default.
The bound of log-odds (0.01, not 0.001) was chosen by one cut of each table, of both halves
(`halves.py`); on the tuning half alone it would have been the same.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contestants.stacks import own_members
from benchmarks.harness.datasets import TableInfo, cut_table, list_tables, read_table
from benchmarks.harness.halves import half_of
from benchmarks.studies.study import run

RESULTS = Path(__file__).resolve().parents[1] / "results" / "meta_learners.json"
MOST_ROWS = 20_000
MOST_CLASSES = 12
LEAST_SHARE = 1e-3  # of single members, which would otherwise pay without bound for a zero
STACKS: dict[str, dict[str, Any]] = {
    "logistic regression on probabilities": {},
    "logistic regression on log-odds": {"stack_method": "log_odds"},
    "convex": {"final_estimator": "convex"},
}
MEMBER = "the best member, as the test rows tell"


def losses(info: TableInfo, X: Any, y: Any, seed: int) -> dict[str, float]:
    """Return the log loss of each stack, and of its best member."""
    from sklearn.metrics import log_loss

    import committee

    X_train, X_test, y_train, y_test = cut_table(X, y, info, seed)
    found = {}
    for name, options in STACKS.items():
        stack = committee.StackingClassifier(own_members(), random_state=seed, **options)
        stack.fit(X_train, y_train)
        found[name] = log_loss(y_test, stack.predict_proba(X_test), labels=stack.classes_)
    predicted = [each.predict_proba(X_test) for each in stack.estimators_]
    bounded = [np.clip(each, LEAST_SHARE, 1) for each in predicted]
    found[MEMBER] = min(
        log_loss(y_test, each / each.sum(axis=1, keepdims=True), labels=stack.classes_)
        for each in bounded
    )
    return {name: float(f"{value:.6g}") for name, value in found.items()}


def measure(n_seeds: int) -> list[dict[str, Any]]:
    """Return the losses on all tables."""
    entries = []
    for info in list_tables(MOST_ROWS):
        if not info.is_classification:
            continue
        X, y = read_table(info)
        _, counts = np.unique(y.astype(str), return_counts=True)
        if len(counts) > MOST_CLASSES or counts.min() < 20:
            continue
        began = time.perf_counter()
        for seed in range(n_seeds):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                entry = {"table": info.name, "half": half_of(info.name), "seed": seed}
                entries.append(entry | losses(info, X, y, seed))
        print(f"{info.name}: {time.perf_counter() - began:.1f} s", flush=True)
    return entries


def render(entries: list[dict[str, Any]]) -> str:
    """Return a table: mean of relative losses, mean ranks, and where each is the best stack."""
    names = [*STACKS, MEMBER]
    lines = [
        "| | tables | mean relative loss | mean rank | better than the default |",
        "|---|---|---|---|---|",
    ]
    for half in ("tune", "test"):
        tables = sorted({entry["table"] for entry in entries if entry["half"] == half})
        mean = np.array(
            [
                [np.mean([e[name] for e in entries if e["table"] == table]) for name in names]
                for table in tables
            ]
        )
        ranks = 1 + (mean[:, :, None] > mean[:, None, :]).sum(axis=2)
        relative = mean / mean[:, :1]
        for place, name in enumerate(names):
            n_better = int((relative[:, place] < 1).sum())
            lines.append(
                f"| {half}: {name} | {len(tables)} | {relative[:, place].mean():.3f} "
                f"| {ranks[:, place].mean():.2f} | {n_better} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, RESULTS, measure, render)
