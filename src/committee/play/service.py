"""What the page can ask: points of an example or of a file, and a run. Nothing here knows HTTP."""

from __future__ import annotations

import threading
from typing import Any

from committee.base.params import check_int
from committee.play.checks import as_number, as_object, as_text, refuse_unknown
from committee.play.examples import COLORS, EXAMPLES, example_points
from committee.play.methods import METHODS
from committee.play.points import MAX_CLASSES, MAX_POINTS
from committee.play.run import MAX_HELD_OUT, MAX_SEED, read_order, run
from committee.play.table import read_points

MAX_NOISE = 0.4

_one_at_a_time = threading.Lock()


def setup() -> dict[str, Any]:
    """Return what the page knows from the beginning: methods, examples and limits."""
    return {
        "methods": [method.to_json() for method in METHODS.values()],
        "examples": [
            {"name": each.name, "label": each.label, "is_drawn": each.is_drawn}
            | {"preview": _preview(each.name)}
            for each in EXAMPLES
        ],
        "colors": list(COLORS[:MAX_CLASSES]),
        "limits": {
            "points": MAX_POINTS,
            "noise": MAX_NOISE,
            "held_out": MAX_HELD_OUT,
            "seed": MAX_SEED,
        },
    }


def _preview(name: str) -> dict[str, Any]:
    """Return some points of an example for a small picture of it."""
    points = example_points(name, 90, 0.04).to_json()
    step = max(1, len(points["x"]) // 90)
    return {key: points[key][::step] for key in ("x", "y", "class")} | {"axes": points["axes"]}


def answer(question: str, content: Any) -> dict[str, Any]:
    """Answer a question of the page.

    Parameters
    ----------
    question : {"example", "table", "run"}
        What is asked for.
    content : object
        What came as JSON.

    Raises
    ------
    ValueError, TypeError
        If it cannot be answered, in words for the user.
    """
    with _one_at_a_time:
        return QUESTIONS[question](content)


def wait_until_idle(seconds: float) -> bool:
    """Wait for the answer that is being worked on, and let no other begin; at the end of a server.

    Returns
    -------
    is_idle : bool
        Whether nothing is at work any more.
    """
    return _one_at_a_time.acquire(timeout=seconds)


def _example(content: Any) -> dict[str, Any]:
    given = as_object("the request", content)
    refuse_unknown("the request", given, ("name", "n", "noise", "seed"))
    names = [each.name for each in EXAMPLES]
    name = as_text("name", given.get("name"))
    if name not in names:
        raise ValueError(f"name must be one of {names}; got {name[:40]!r}")
    points = example_points(
        name,
        check_int("n", given.get("n", 200), 2, MAX_POINTS),
        as_number("noise", given.get("noise", 0.1), 0.0, MAX_NOISE),
        check_int("seed", given.get("seed", 0), 0, MAX_SEED),
    )
    return points.to_json()


def _table(content: Any) -> dict[str, Any]:
    given = as_object("the request", content)
    refuse_unknown("the request", given, ("name", "text", "x", "y", "class"))
    name = as_text("name", given.get("name", "the table"))[:80]
    columns = [
        None if given.get(key) is None else as_text(key, given[key]) for key in ("x", "y", "class")
    ]
    found = read_points(name, as_text("text", given.get("text")).encode(), columns)
    return found.points.to_json() | {
        "columns": list(found.columns),
        "numbers": list(found.numbers),
        "groups": list(found.groups),
        "notes": found.notes,
    }


def _run(content: Any) -> dict[str, Any]:
    return run(read_order(content))


QUESTIONS = {"example": _example, "table": _table, "run": _run}
