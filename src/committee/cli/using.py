"""What `committee predict`, `evaluate` and `explain` do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import committee
from committee.auto.known_files import KnownTable
from committee.cli.words import importance_words, metric_words, score_words
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.io.csv_table import CsvOptions
from committee.io.errors import TableFileError, counted
from committee.io.writing import write_columns


def load_model(path: Path) -> Any:
    """Load a model of `committee train`."""
    model = committee.load(path)
    if not isinstance(model, committee.CommitteeClassifier | committee.CommitteeRegressor):
        raise committee.ModelFileError(
            f"{path} holds a {type(model).__name__}; expected a model of `committee train`"
        )
    return model


def write_predictions(
    model_path: Path,
    paths: Sequence[str],
    options: CsvOptions,
    output: str,
    keep: Sequence[str],
    interval: float | None,
    *,
    as_json: bool,
) -> None:
    """Write predictions for new files, in the order of their rows."""
    known = KnownTable.open(load_model(model_path), paths, options)
    kept: dict[str, Any] = {name: known.table.texts(name) for name in keep}
    found = predictions(known, interval)
    taken = sorted(set(kept) & set(found))
    if taken:
        raise TableFileError(
            f"the column {taken[0]!r} that is to be kept has the name of a prediction"
        )
    write_columns(kept | found, output, as_json=as_json)
    if output != "-":
        sys.stderr.write(
            f"committee: {counted(known.table.n_rows, 'prediction')} written to {output}\n"
        )


def predictions(known: KnownTable, interval: float | None) -> dict[str, Any]:
    """Return the columns of predictions, by their names."""
    model, X = known.model, known.X
    if not hasattr(model, "classes_"):
        found = {"prediction": model.predict(X)}
        if interval is not None:
            if not hasattr(model, "predict_interval"):
                raise ValueError("the model has no intervals")
            ends = model.predict_interval(X, interval)
            found |= {"low": ends[:, 0], "high": ends[:, 1]}
        return found
    if interval is not None:
        raise ValueError("interval is for numbers; the model predicts classes")
    shares = model.predict_proba(X)
    found = {"prediction": model.predict(X)}
    for place, label in enumerate(model.classes_.tolist()):
        found[f"probability of {label}"] = shares[:, place]
    return found


def evaluate_files(
    model_path: Path,
    paths: Sequence[str],
    options: CsvOptions,
    target: str | None,
    scoring: str | None,
) -> dict[str, Any]:
    """Score a model on files with a known target."""
    model = load_model(model_path)
    known = KnownTable.open(model, paths, options)
    name = target or getattr(model, "target_name_", None)
    if name is None:
        raise TableFileError("the model does not know its target; name it by --target")
    truth, rows = known.target(name)
    X = known.X
    n_left_out = X.n_rows - len(rows)
    if n_left_out:
        X = X.take(rows, None)
    if hasattr(model, "classes_"):
        scored = ScoredTarget(truth[:, np.newaxis], [model.classes_])
        values = model.predict_proba(X)
    else:
        scored = ScoredTarget(reals=truth[:, np.newaxis])
        values = model.predict(X)[:, np.newaxis]
    metric = scoring or model.leaderboard_.metric
    score = float(OobMetric(scored, metric, "scoring").score(values, np.arange(len(rows))))
    found: dict[str, Any] = {
        "metric": metric,
        "score": score,
        "rows": len(rows),
        "rows_without_target": n_left_out,
    }
    if metric == model.leaderboard_.metric:
        low, high = model.score_.interval(0.9, len(rows))
        found |= {"expected": [low, high]}
    return found


def evaluation_words(found: dict[str, Any]) -> str:
    """Return an evaluation in words."""
    words = f"{score_words(found['metric'], found['score'])} on {counted(found['rows'], 'row')}"
    if "expected" in found:
        sign = metric_words(found["metric"])[1]
        low, high = sorted(sign * end for end in found["expected"])
        words += f" (expected after training: {low:.4g} to {high:.4g}, in 9 of 10 cases)"
    if found["rows_without_target"]:
        words += f"; {counted(found['rows_without_target'], 'row')} without a target left out"
    return words


def explain_model(model_path: Path) -> dict[str, Any]:
    """Return what became of each column, and how much it matters."""
    model = load_model(model_path)
    importances = model.importances_
    measured = {
        name: (float(mean), float(error))
        for name, mean, error in zip(
            importances.names, importances.mean, importances.standard_error, strict=True
        )
    }
    order = {name: place for place, name in enumerate(importances.ranking())}
    uses = sorted(model.columns_, key=lambda use: order.get(use.name, len(order)))
    return {
        "metric": model.leaderboard_.metric,
        "columns": [
            {
                "name": use.name,
                "importance": measured.get(use.name, (None, None))[0],
                "standard_error": measured.get(use.name, (None, None))[1],
                "use": use.use,
                "note": use.note,
            }
            for use in uses
        ],
    }


def explanation_words(found: dict[str, Any]) -> str:
    """Return the same in words."""
    name, _ = metric_words(found["metric"])
    return (
        f"How much worse the {name} of unseen rows gets where the values of a column are "
        f"shuffled:\n{importance_words(found['columns'], found['metric'])}"
    )
