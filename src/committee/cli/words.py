"""What commands say about a fitted committee: for people, and for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from committee.report.words import margin, metric_name, number, percent, seconds, shown

_COLUMNS_SHOWN = 8


def show(found: dict[str, Any], words: str, *, as_json: bool) -> None:
    """Print a result to standard output."""
    sys.stdout.write((json.dumps(_plain(found), indent=2) if as_json else words) + "\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    """Return a value without the numbers that JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def score_words(metric: str, score: float) -> str:
    """Return a score as it is usually written.

    Examples
    --------
    >>> score_words("neg_log_loss", -0.25), score_words("accuracy", 0.9)
    ('log loss 0.25', 'accuracy 0.9')
    """
    return f"{metric_name(metric)} {number(shown(score, metric))}"


def interval_words(metric: str, ends: Sequence[float]) -> str:
    """Return an interval of scores, the smaller number first."""
    low, high = sorted(shown(end, metric) for end in ends)
    return f"{number(low)} to {number(high)}"


def summary(model: Any) -> dict[str, Any]:
    """Return what there is to know about a committee, for programs."""
    low, high = model.score_.interval(0.9)
    is_classifier = hasattr(model, "classes_")
    found = {
        "task": "classification" if is_classifier else "regression",
        "target": getattr(model, "target_name_", None),
        "rows": model.findings_.n_rows,
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
        "columns": [
            {"name": use.name, "kind": use.kind, "use": use.use, "note": use.note}
            for use in model.columns_
        ],
    }
    if is_classifier:
        found["classes"] = model.classes_.tolist()
    return found


def summary_words(model: Any) -> str:
    """Return the same in words: the score to expect, the models, the columns."""
    return "\n".join([verdict(model), "", _board(model), "", *_columns(model)])


def verdict(model: Any) -> str:
    """Return the score to expect on new rows."""
    metric = model.leaderboard_.metric
    target = getattr(model, "target_name_", None)
    of_target = f" of {target!r}" if target is not None else ""
    constant = number(shown(model.findings_.constant_score, metric))
    words = (
        f"To expect on new rows{of_target}: {score_words(metric, model.score_.score)} "
        f"(90 % interval {interval_words(metric, model.score_.interval(0.9))}); "
        f"without a model {constant}"
    )
    confusion = model.findings_.errors.confusion
    if not confusion.size:
        return words
    right = np.trace(confusion) / confusion.sum()
    commonest = confusion.sum(axis=1).max() / confusion.sum()
    return (
        f"{words}\n{percent(right)} of unseen rows get the right class; the commonest class is "
        f"{percent(commonest)} of them"
    )


def _board(model: Any) -> str:
    metric = model.leaderboard_.metric
    rows = [
        (
            entry.name,
            f"{number(shown(entry.score, metric))} {margin(entry.standard_error)}",
            f"{entry.weight:.0%}" if entry.weight else "",
            seconds(entry.seconds),
        )
        for entry in model.leaderboard_
    ]
    return _aligned([("model", metric_name(metric), "weight", "time"), *rows])


def _aligned(rows: list[tuple[str, ...]]) -> str:
    """Lay out cells, the first column to the left and others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([f"{first:{widths[0]}}", *cells]).rstrip())
    return "\n".join(lines)


def _columns(model: Any) -> list[str]:
    dropped = [f"{use.name} ({use.note})" for use in model.columns_ if use.use == "dropped"]
    ranking = model.importances_.ranking()[:_COLUMNS_SHOWN]
    lines = [f"Columns, the most important first: {', '.join(ranking)}"]
    if dropped:
        more = f" and {len(dropped) - _COLUMNS_SHOWN} more" if len(dropped) > _COLUMNS_SHOWN else ""
        lines.append(f"Columns left out: {', '.join(dropped[:_COLUMNS_SHOWN])}{more}")
    return lines


def importance_words(rows: list[dict[str, Any]], metric: str) -> str:
    """Lay out columns by importance."""
    lines = [
        (
            row["name"],
            "" if row["importance"] is None else number(row["importance"]),
            "" if row["standard_error"] is None else margin(row["standard_error"]),
            f"{row['use']}{': ' + row['note'] if row['note'] else ''}",
        )
        for row in rows
    ]
    return _aligned([("column", f"worse {metric_name(metric)}", "", "read as"), *lines])
