"""What `committee train`, `predict`, `evaluate` and `inspect` do."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import committee
from committee.auto.train import open_table, pose
from committee.cli.tables import predictions, read_for, write_csv
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.tables.csv_file import CsvError


def train(
    paths: Sequence[str], target: str, output: Path, report: Path | None, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Train a committee, save it, and return a summary of it."""
    task = parameters.pop("task")
    problem = pose(open_table(list(paths)), target, task)
    kind = "classification" if problem.is_classification else "regression"
    _say(
        parameters,
        f"{problem.X.n_rows} rows, {problem.X.n_features} columns; {kind} of "
        f"{target!r}: {problem.reason}",
    )
    if problem.n_left_out:
        _say(parameters, f"{problem.n_left_out} rows without {target!r} are left out")
    estimator: Any = (
        committee.CommitteeClassifier if problem.is_classification else committee.CommitteeRegressor
    )
    model = estimator(**parameters).fit(problem.X, problem.y)
    committee.save(model, output)
    if report is not None:
        model.report(report)
    return _summary(model) | {"task": kind, "model": str(output)}


def _say(parameters: dict[str, Any], line: str) -> None:
    if parameters["verbose"]:
        sys.stderr.write(f"committee: {line}\n")


def _summary(model: Any) -> dict[str, Any]:
    low, high = model.score_.interval(0.9)
    return {
        "metric": model.leaderboard_.metric,
        "score": model.score_.score,
        "interval": [low, high],
        "constant": model.findings_.constant_score,
        "budget": model.budget_,
        "interrupted": model.interrupted_,
        "members": {
            name: float(weight)
            for name, weight in zip(model.member_names_, model.weights_, strict=True)
        },
        "leaderboard": [vars(entry) for entry in model.leaderboard_],
    }


def describe(found: dict[str, Any]) -> str:
    """Return a summary in words."""
    low, high = found["interval"]
    members = ", ".join(f"{weight:.0%} {name}" for name, weight in found["members"].items())
    return (
        f"{found['metric']} to expect on new rows: {found['score']:.4g} "
        f"(90 % interval {low:.4g} to {high:.4g}; always the same prediction: "
        f"{found['constant']:.4g})\nmembers: {members}\n"
        f"work done: {found['budget']:g} units"
    )


def predict(model_path: Path, paths: Sequence[str], output: str, keep: Sequence[str]) -> int:
    """Write predictions for new files, in the order of their rows; return how many."""
    model = load(model_path)
    table, X = read_for(model, paths)
    kept: dict[str, Any] = {name: table.cells[table.column_of(name)] for name in keep}
    found = predictions(model, X)
    taken = sorted(set(kept) & set(found))
    if taken:
        raise CsvError(f"the column {taken[0]!r} that is to be kept has the name of a prediction")
    write_csv(kept | found, output)
    return table.n_rows


def evaluate(
    model_path: Path, paths: Sequence[str], target: str, scoring: str | None
) -> dict[str, Any]:
    """Score a model on files with a known target."""
    model = load(model_path)
    table, X = read_for(model, paths)
    cells = table.cells[table.column_of(target)]
    if hasattr(model, "classes_"):
        place = {str(label): code for code, label in enumerate(model.classes_.tolist())}
        numbers = {str(float(k)): v for k, v in place.items() if _is_number(k)}
        unknown = [c for c in cells if c.strip() not in place and _text(c) not in numbers]
        if unknown:
            raise CsvError(
                f"{target!r} holds {unknown[0]!r}; the model knows {', '.join(map(repr, place))}"
            )
        codes = np.array([place.get(c.strip(), numbers.get(_text(c), 0)) for c in cells], np.int32)
        known = ScoredTarget(codes[:, np.newaxis], [model.classes_])
        values = model.predict_proba(X)
    else:
        from committee.tables.csv_file import as_numbers

        truth = as_numbers(cells, table.has_decimal_comma)
        if truth is None or not np.isfinite(truth).all():
            raise CsvError(f"{target!r} must hold a number in each row")
        known, values = ScoredTarget(reals=truth[:, np.newaxis]), model.predict(X)[:, np.newaxis]
    metric = scoring or model.leaderboard_.metric
    score = OobMetric(known, metric, "scoring").score(values, np.arange(len(cells)))
    low, high = model.score_.interval(0.9, len(cells))
    return {"metric": metric, "score": score, "rows": len(cells), "expected": [low, high]}


def inspect(model_path: Path) -> str:
    """Return what a model file holds, in words."""
    model = load(model_path)
    lines = [f"{type(model).__name__}, {model.findings_.n_rows} rows", str(model.leaderboard_)]
    lines.append(describe(_summary(model)))
    lines.append("columns by importance: " + ", ".join(model.importances_.ranking()[:10]))
    return "\n".join(lines)


def load(path: Path) -> Any:
    """Load a model of `committee train`."""
    model = committee.load(path)
    if not isinstance(model, committee.CommitteeClassifier | committee.CommitteeRegressor):
        raise committee.ModelFileError(
            f"{path} holds a {type(model).__name__}; expected a model of `committee train`"
        )
    return model


def as_json(found: dict[str, Any]) -> str:
    """Return a summary as JSON."""
    return json.dumps(found, indent=2)


def _text(cell: str) -> str:
    return str(float(cell)) if _is_number(cell) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
