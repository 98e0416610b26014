"""What `committee train` does."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from committee.auto.train import Problem, open_table, pose
from committee.cli.endings import INTERRUPTED_WITH_MODEL
from committee.cli.progress import shown_progress
from committee.cli.words import show, summary, summary_words
from committee.io.csv_table import CsvOptions
from committee.io.errors import TableFileError, counted, listed, no_column
from committee.io.reading import OpenedTable


@dataclass(frozen=True)
class Order:
    """What a user wants to have trained."""

    paths: list[str]
    target: str
    out: Path
    report: Path | None
    task: str
    positive: str | None
    ignored: tuple[str, ...]
    group: str | None
    time_order: str | None
    weight: str | None
    options: CsvOptions
    parameters: dict[str, Any]


def run_training(order: Order, *, as_json: bool, is_quiet: bool) -> int:
    """Train a committee, save it and print a summary; return the exit code."""
    model = train(order, is_quiet=is_quiet)
    if as_json:
        files = {
            "model": str(order.out),
            "report": None if order.report is None else str(order.report),
        }
        show(summary(model) | files, "", as_json=True)
    elif not is_quiet:
        show({}, f"{summary_words(model)}\n\n{_written(order, model)}", as_json=False)
    return INTERRUPTED_WITH_MODEL if model.interrupted_ else 0


def train(order: Order, *, is_quiet: bool) -> Any:
    """Train a committee, and write its files."""
    import committee

    def say(line: str) -> None:
        if not is_quiet:
            sys.stderr.write(f"committee: {line}\n")

    opened = open_table(order.paths, order.options)
    for note in opened.notes:
        say(note)
    helpers = [name for name in (order.group, order.weight) if name is not None]
    problem = pose(opened, order.target, order.task, (*order.ignored, *helpers))
    say(problem.words)
    if problem.n_left_out:
        say(f"{counted(problem.n_left_out, 'row')} left out, in which {order.target!r} is missing")
    parameters = order.parameters | _positive(order.positive, problem)
    with shown_progress(order.parameters["time_limit"], is_quiet=is_quiet):
        model = problem.fit(
            _weights(opened, order.weight, problem),
            _groups(opened, order.group, problem),
            order.time_order,
            **parameters,
        )
    committee.save(model, order.out)
    if order.report is not None:
        model.report(order.report)
    return model


def _positive(positive: str | None, problem: Problem) -> dict[str, Any]:
    """Return the positive class as a parameter of the estimator."""
    if positive is None:
        return {}
    if not problem.is_classification:
        raise ValueError(f"positive={positive!r} needs classes; {problem.words}")
    labels = {str(label): label for label in np.unique(problem.y).tolist()}
    folded = {name.lower(): label for name, label in labels.items()}
    if positive not in labels and positive.lower() not in folded:
        raise ValueError(f"positive must be one of the classes {listed(labels)}; got {positive!r}")
    return {"positive": labels.get(positive, folded.get(positive.lower()))}


def _cells(opened: OpenedTable, name: str, problem: Problem) -> Any:
    """Return a column of all rows that have a target."""
    names = opened.source.names or ()
    if name not in names:
        raise TableFileError(no_column(name, names, "the table"))
    column = opened.source.column(names.index(name))
    if problem.n_left_out:
        target = opened.source.column(names.index(problem.target))
        column = column.take(np.flatnonzero(~target.missing()))
    return column


def _weights(opened: OpenedTable, name: str | None, problem: Problem) -> Any:
    if name is None:
        return None
    column = _cells(opened, name, problem)
    if column.levels is not None or column.missing().any():
        raise TableFileError(f"the column {name!r} holds weights; expected a number in each row")
    return np.asarray(column.values, np.float64)


def _groups(opened: OpenedTable, name: str | None, problem: Problem) -> Any:
    if name is None:
        return None
    column = _cells(opened, name, problem).as_category()
    return np.asarray(column.values, np.int64)


def _written(order: Order, model: Any) -> str:
    size = order.out.stat().st_size / 1e6
    files = f"Saved {order.out} ({size:.1f} MB)"
    if order.report is not None:
        files += f" and {order.report}"
    if model.interrupted_:
        files = f"The search was interrupted. {files}"
    lines = [f"{files}. Next: committee predict {order.out} new.csv --out predictions.csv"]
    if model.interrupted_ or model.time_limit is not None:  # a clock cannot be repeated, work can
        lines.append(
            f"The same committee again: --budget {model.budget_:.10g}, without a time limit"
        )
    return "\n".join(lines)
