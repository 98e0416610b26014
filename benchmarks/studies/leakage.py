"""How often `leak_check` of stacks calls leakage: where there is none, and where there is.

    COMMITTEE_DATA=folder python -m benchmarks.studies.leakage   # measure, print the table
    python -m benchmarks.studies.leakage --render   # the table again

The tables are those of the tuning half (`halves.py`), because thresholds may be chosen by what is
seen here; up to 1,000 rows of each are drawn anew for each seed. Losses that were promised and
found are kept in `results/leakage.json`, so that other thresholds can be tried without measuring
again.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import TableInfo, list_tables, read_table
from benchmarks.harness.halves import half_of
from benchmarks.studies.study import run

RESULTS = Path(__file__).resolve().parents[1] / "results" / "leakage.json"
N_ROWS = 1_000
N_TREES = 50
CASES = {
    "folds": "five folds",
    "oob": "out-of-bag rows",
    "fresh": "fitted members, other rows of the same number",
    "large": "fitted members, four times as many other rows",
    "seen": "fitted members, the same rows",
    "among": "fitted members, the same rows and four times as many others",
}

COLUMNS = ("promised", "found", "error", "seen")


def members(is_classification: bool, seed: int) -> list[tuple[str, Any]]:
    """Return members that take raw tables: a forest, extra-trees and boosting."""
    import committee

    kind = "Classifier" if is_classification else "Regressor"
    forest = getattr(committee, f"RandomForest{kind}")(N_TREES, random_state=seed)
    extra = getattr(committee, f"ExtraTrees{kind}")(N_TREES, bootstrap=True, random_state=seed)
    boosting = getattr(committee, f"GradientBoosting{kind}")
    return [
        ("forest", forest),
        ("extra", extra),
        ("boosting", boosting(n_estimators=N_TREES, random_state=seed)),
    ]


def check(case: str, X: Any, y: Any, is_classification: bool, seed: int) -> Any:
    """Return the report of a stack."""
    import committee

    kind = committee.StackingClassifier if is_classification else committee.StackingRegressor
    team = members(is_classification, seed)
    options = {"leak_check": True, "random_state": seed}
    rows = np.arange(len(y))
    if case in ("folds", "oob"):
        cv = None if case == "folds" else "oob"
        return kind(team, cv=cv, **options).fit(X, y).leak_report_
    # Rows come in a random order: the first ones are a sample.
    n_stacked = len(y) // 5 if case in ("large", "among") else len(y) // 2
    stacked, others = rows[:n_stacked], rows[n_stacked:]
    learnt = {"seen": stacked, "among": rows}.get(case, others)
    fitted = [(name, each.fit(X.iloc[learnt], y[learnt])) for name, each in team]
    return kind(fitted, cv="prefit", **options).fit(X.iloc[stacked], y[stacked]).leak_report_


def draw(info: TableInfo, X: Any, y: Any, seed: int) -> tuple[Any, Any]:
    """Return rows in a random order, with classes that have ten rows or more."""
    order = np.random.default_rng(seed).permutation(len(y))[:N_ROWS]
    X, y = X.iloc[order].reset_index(drop=True), y[order]
    if info.is_classification:
        labels, counts = np.unique(y.astype(str), return_counts=True)
        kept = np.isin(y.astype(str), labels[counts >= 10])
        X, y = X[kept].reset_index(drop=True), y[kept]
    return X, y


def measure(n_seeds: int) -> list[dict[str, Any]]:
    """Return what was promised and found, for all tables, seeds and cases."""
    found = []
    for info in list_tables(10**9):
        if half_of(info.name) != "tune":
            continue
        table = read_table(info)
        began = time.perf_counter()
        for seed in range(n_seeds):
            X, y = draw(info, *table, seed)
            for case in CASES:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    report = check(case, X, y, info.is_classification, seed)
                found.append(
                    {
                        "table": info.name,
                        "seed": seed,
                        "case": case,
                        "n_rows": len(y),
                        "twins": report.twins,
                        **{column: _rounded(getattr(report, column)) for column in COLUMNS},
                    }
                )
        print(f"{info.name}: {time.perf_counter() - began:.1f} s", flush=True)
    return found


def _rounded(column: Any) -> list[float] | None:
    return None if column is None else [float(f"{value:.5g}") for value in column]


def called(entries: list[dict[str, Any]], sure: float, matters: float) -> dict[str, float]:
    """Return the share of the stacks of each case that thresholds would call leaking."""
    from committee.combining.stacking.leakage import _LIKE_SEEN

    shares: dict[str, list[bool]] = {case: [] for case in CASES}
    for entry in entries:
        promised, found, error = (np.array(entry[c]) for c in ("promised", "found", "error"))
        gap = found - promised
        is_suspect = (gap > sure * error) & (gap > matters * np.abs(found))
        if entry["seen"] is not None:
            seen = np.array(entry["seen"])
            is_suspect &= np.abs(promised - seen) < _LIKE_SEEN * (found - seen)
        shares[entry["case"]].append(bool(is_suspect.any()))
    return {case: float(np.mean(each)) for case, each in shares.items() if each}


def render(entries: list[dict[str, Any]]) -> str:
    """Return the table of the guide, and what other thresholds would have done."""
    from committee.combining.stacking.leakage import _MATTERS, _SURE

    n_tables = len({entry["table"] for entry in entries})
    chosen = called(entries, _SURE, _MATTERS)
    counts = {case: sum(entry["case"] == case for entry in entries) for case in CASES}
    lines = [f"{n_tables} tables", "", "| level-one data from | stacks | called leaking |"]
    lines += ["|---|---|---|"]
    for case, share in chosen.items():
        lines.append(f"| {CASES[case]} | {counts[case]} | {share:.1%} |")
    lines += ["", "standard errors, share of the loss: " + ", ".join(chosen)]
    for sure in (2.0, 2.5, 3.0, 3.5, 4.0):
        for matters in (0.0, 0.05, 0.1, 0.2):
            shares = called(entries, sure, matters).values()
            lines.append(f"{sure}, {matters}: " + ", ".join(f"{share:.1%}" for share in shares))
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, RESULTS, measure, render)
