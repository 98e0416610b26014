"""How much better the mean of the models of all folds is than one of them, on new rows.

    COMMITTEE_DATA=tables python -m benchmarks.studies.averaging measure folder --seconds 6
    python -m benchmarks.studies.averaging learn folder

A row is predicted out of fold by the models of one fold, and a new row by the mean of the models of
all folds. So scores of rows that were held out promise a little less than the committee holds. On
the tables that defaults are tuned on, a committee is fitted and predicts rows that were cut off: as
it is, and with the models of one fold only, for each of the folds.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import TableInfo, cut_table, list_tables, read_table
from benchmarks.harness.halves import half_of
from benchmarks.harness.measure import say

import committee
from committee.combining.fold_mean import FoldMean

RESULTS = Path(__file__).resolve().parents[1] / "results" / "averaging.json"
MOST_ROWS = 50_000
SCORING = {"roc_auc": "roc_auc", "log_loss": "neg_log_loss", "rmse": "neg_root_mean_squared_error"}


def loss(metric: str, y: Any, model: Any, X: Any) -> float:
    """Return what the metric of a table leaves to be wished for."""
    from sklearn.metrics import log_loss, mean_squared_error, roc_auc_score

    if metric == "rmse":
        return float(np.sqrt(mean_squared_error(y, model.predict(X))))
    shares = model.predict_proba(X)
    if metric == "roc_auc":
        return 1.0 - float(roc_auc_score(y == model.classes_[1], shares[:, 1]))
    return float(log_loss(y, shares, labels=model.classes_))


def with_one_fold(model: Any, fold: int) -> Any:
    """Return a fitted committee of which each member has the model of one fold."""
    alone = copy(model)
    alone.members_ = [
        FoldMean(member.output, [member.estimators[fold]])
        if isinstance(member, FoldMean) and len(member.estimators) > 1
        else member
        for member in model.members_
    ]
    return alone


def measure(info: TableInfo, seed: int, seconds: float) -> dict[str, Any]:
    """Return the losses of a committee on rows that were cut off."""
    X_train, X_test, y_train, y_test = cut_table(*read_table(info), info, seed)
    kind = committee.CommitteeRegressor if info.metric == "rmse" else committee.CommitteeClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(
            time_limit=seconds, scoring=SCORING[info.metric], random_state=seed, verbose=0
        ).fit(X_train, y_train)
    sizes = [len(each.estimators) for each in model.members_ if isinstance(each, FoldMean)]
    n_folds = max(sizes, default=1)
    alone = [loss(info.metric, y_test, with_one_fold(model, k), X_test) for k in range(n_folds)]
    return {
        "table": info.name,
        "metric": info.metric,
        "seed": seed,
        "n_folds": n_folds,
        "mean": loss(info.metric, y_test, model, X_test),
        "alone": alone,
        "estimate": model.score_.score,
        "error": model.score_.standard_error,
        "n_rows": model.score_.n_rows,
        "n_new": len(y_test),
    }


def learn(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return by metric which share of the loss the mean saves: mean over tables, its error."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run["n_folds"] < 2 or min(run["alone"]) <= 0 or run["mean"] <= 0:
            continue
        gain = 1.0 - run["mean"] / float(np.mean(run["alone"]))
        for metric in (run["metric"], "all"):
            found[metric][run["table"]].append(gain)
    result = {}
    for metric, tables in found.items():
        gains = np.array([np.mean(each) for each in tables.values()])
        error = float(gains.std(ddof=1) / len(gains) ** 0.5) if len(gains) > 1 else None
        result[metric] = {
            "tables": len(gains),
            "gain": float(gains.mean()),
            "error": error,
            "median": float(np.median(gains)),
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["measure", "learn"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.what == "measure":
        for seed in range(options.seeds):
            for info in list_tables(MOST_ROWS):
                path = options.folder / f"{info.name}-{seed}.json"
                if half_of(info.name) == "test" or path.exists():
                    continue
                run = measure(info, seed, options.seconds)
                path.write_text(json.dumps(run))
                alone = float(np.mean(run["alone"]))
                say(f"  {info.name}, seed {seed}: {run['mean']:.4g}, alone {alone:.4g}")
        return
    result = learn([json.loads(path.read_text()) for path in sorted(options.folder.glob("*.json"))])
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    say(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
