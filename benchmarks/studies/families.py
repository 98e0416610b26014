"""Bagging, boosting and stacking on real tables: errors, and their bias and variance.

    COMMITTEE_DATA=folder python -m benchmarks.studies.families   # measure, print the table
    python -m benchmarks.studies.families --render   # the table again

The comparison table that lectures end with, measured. Each method is fitted to as many bootstrap
samples of three quarters of a table as `--seeds` says, and its predictions of the rest are taken
apart: 0-1 loss into bias and net variance (Domingos 2000), squared error into bias and variance.
Bias contains the noise. All is relative to the error of one full tree on the same samples.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import TableInfo, list_tables, read_table
from benchmarks.studies.study import run

RESULTS = Path(__file__).resolve().parents[1] / "results" / "families.json"
MOST_ROWS, MOST_FEATURES = 3200, 40
LEAST_ROUNDS = 3  # an error has no variance without
NAMES = {
    "tree": "one full tree",
    "bagging": "bagging: 50 full trees",
    "boosting": "boosting: 100 rounds",
    "stacking": "stacking: forest, boosting, line",
}


def methods(X: Any, is_class: bool) -> dict[str, Any]:
    """Return the estimators by name."""
    from sklearn.linear_model import LogisticRegression, Ridge

    import committee

    kind = "Classifier" if is_class else "Regressor"
    tree, forest, boosting = (
        getattr(committee, f"{name}{kind}")
        for name in ("DecisionTree", "RandomForest", "GradientBoosting")
    )
    boosted = boosting(n_estimators=100, learning_rate=0.1, n_jobs=1, random_state=0)
    line = LogisticRegression(max_iter=2000) if is_class else Ridge()
    members = [
        ("forest", forest(50, n_jobs=1, random_state=0)),
        ("boosting", boosted),
        ("line", _on_matrix(X, line)),
    ]
    return {
        "tree": tree(),
        "bagging": getattr(committee, f"Bagging{kind}")(tree(), 50, n_jobs=1, random_state=0),
        "boosting": boosted,
        "stacking": getattr(committee, f"Stacking{kind}")(members, cv=5, random_state=0),
    }


def _on_matrix(X: Any, model: Any) -> Any:
    """Return a linear model that reads categories as indicators, and scaled numbers."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [name for name in X if X[name].dtype.kind in "fiub"]
    others = [name for name in X if name not in numbers]
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=5), others),
    )
    return make_pipeline(columns, model)


def parts_of_errors(info: TableInfo, n_rounds: int) -> dict[str, dict[str, float]]:
    """Return error, bias and variance of each method."""
    from committee.theory import bias_variance_curve

    X, y = read_table(info)
    found = bias_variance_curve(
        methods(X, info.is_classification), X, y, n_rounds=n_rounds, random_state=0, n_jobs=1
    )
    return {
        name: {
            "error": float(f"{found[name].error:.6g}"),
            "bias": float(f"{found[name].bias:.6g}"),
            "variance": float(f"{found[name].net_variance:.6g}"),
        }
        for name in NAMES
    }


def measure(n_rounds: int) -> list[dict[str, Any]]:
    """Return the parts of the errors on all tables."""
    entries = []
    for info in list_tables(MOST_ROWS):
        X, _ = read_table(info)
        if X.shape[1] > MOST_FEATURES:
            continue
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = parts_of_errors(info, max(n_rounds, LEAST_ROUNDS))
        entries.append({"table": info.name, "classes": info.is_classification} | found)
        print(f"{info.name}: {time.perf_counter() - began:.1f} s", flush=True)
    return entries


def render(entries: list[dict[str, Any]]) -> str:
    """Return a table of means over the tables, relative to the error of a tree."""
    errors = np.array([[entry[name]["error"] for name in NAMES] for entry in entries])
    ranks = 1 + (errors[:, :, None] > errors[:, None, :]).sum(axis=2)
    lines = ["| | error | bias | variance | mean rank | best |", "|---|---|---|---|---|---|"]
    for place, (name, words) in enumerate(NAMES.items()):
        cells = [
            np.mean([entry[name][part] / entry["tree"]["error"] for entry in entries])
            for part in ("error", "bias", "variance")
        ]
        n_best = int((ranks[:, place] == 1).sum())
        values = " | ".join(f"{value:.2f}" for value in cells)
        lines.append(f"| {words} | {values} | {ranks[:, place].mean():.1f} | {n_best} |")
    n_classes = sum(entry["classes"] for entry in entries)
    lines.append(f"\n{len(entries)} tables, {n_classes} of them of classes")
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, RESULTS, measure, render)
