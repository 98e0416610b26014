"""What `committee predict`, `evaluate` and `explain` do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import committee
from committee.auto.decision_rules import as_scored, scoring_of
from committee.auto.known_files import KnownTable
from committee.cli.words import interval_words, score_words
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.io.csv_table import CsvOptions
from committee.io.errors import TableFileError, counted
from committee.io.writing import write_columns
from committee.tables.source import Source

_NOVELTIES = 3  # columns with new values that are named


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
    is_quiet: bool,
) -> None:
    """Write predictions for new files, in the order of their rows."""
    known = KnownTable.open(load_model(model_path), paths, options)
    X = known.X
    found = predictions(known.model, X, interval)
    if not is_quiet:
        novelty = known.model.novelty(X)
        if novelty.rows.any():
            _say("; ".join(repr(novelty).splitlines()[: 1 + _NOVELTIES]))
    write_with_kept(known, keep, found, output, as_json=as_json, is_quiet=is_quiet)


def write_with_kept(
    known: KnownTable,
    keep: Sequence[str],
    found: dict[str, Any],
    output: str,
    *,
    as_json: bool,
    is_quiet: bool,
) -> None:
    """Write what was found for each row, after columns that are carried over."""
    kept: dict[str, Any] = {name: known.table.texts(name) for name in keep}
    taken = sorted(set(kept) & set(found))
    if taken:
        raise TableFileError(
            f"the column {taken[0]!r} that is to be kept has the name of a prediction"
        )
    write_columns(kept | found, output, as_json=as_json)
    if output != "-" and not is_quiet:
        _say(f"{counted(known.table.n_rows, 'row')} written to {output}")


def _say(line: str) -> None:
    sys.stderr.write(f"committee: {line}\n")


def predictions(model: Any, X: Source, interval: float | None = None) -> dict[str, Any]:
    """Return the columns of predictions, by their names."""
    if not hasattr(model, "classes_"):
        found = {"prediction": model.predict(X)}
        if interval is not None:
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
    metric = known_metric = scoring or model.leaderboard_.metric
    if hasattr(model, "classes_"):
        scored = ScoredTarget(truth[:, np.newaxis], [model.classes_])
        known_metric = scoring_of(metric, model.positive, model.classes_)
        values = as_scored(model.decision_, model.predict_proba(X), known_metric)
    else:
        scored = ScoredTarget(reals=truth[:, np.newaxis])
        values = model.predict(X)[:, np.newaxis]
    score = float(OobMetric(scored, known_metric, "scoring").score(values, np.arange(len(rows))))
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
        ends = interval_words(found["metric"], found["expected"])
        words += f" (expected after training: {ends}, in 9 of 10 cases)"
        low, high = found["expected"]
        if found["score"] > high:
            words += "; better than expected: are these rows of the training table?"
        elif found["score"] < low:
            words += "; worse than expected: these rows differ from those of training"
    if found["rows_without_target"]:
        words += f"; {counted(found['rows_without_target'], 'row')} without a target left out"
    return words
