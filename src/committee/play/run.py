"""A run: points and a method from the page, and all that the page draws of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_int
from committee.base.work import limited_threads
from committee.play.checks import as_list, as_number, as_object, as_text, refuse_unknown
from committee.play.methods import METHODS, Method
from committee.play.plane import Plane, packed, share_parts
from committee.play.points import MAX_CLASSES, MAX_POINTS, Axis, Codes
from committee.play.stages import Stages, Task, error_of, margins_of

MAX_HELD_OUT = 0.5
MAX_SEED = 2**31 - 1

_LARGEST = 1e12  # of coordinates
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, eq=False)
class Order:
    """What the page asks for, checked.

    Attributes
    ----------
    places : ndarray of float64, shape (n_points, 2)
        The points.
    codes : ndarray of int
        Their classes, of which some may have no points.
    axes : pair of pairs of floats
        Ends of the picture.
    names : tuple of two str
        Of the features.
    method : Method
        What is fitted.
    settings : dict
        Its settings.
    n_rounds : int
        Most rounds.
    held_out : float
        Share of the points that no fit sees.
    seed : int
        Of all draws.
    """

    places: Floats
    codes: Codes
    axes: tuple[Axis, Axis]
    names: tuple[str, str]
    method: Method
    settings: dict[str, Any]
    n_rounds: int
    held_out: float
    seed: int


_KEYS = ("points", "axes", "names", "method", "settings", "rounds", "held_out", "seed")


def read_order(content: Any) -> Order:
    """Check what came as JSON.

    Raises
    ------
    ValueError, TypeError
        Whatever it is, in words that name the part.
    """
    given = as_object("the request", content)
    refuse_unknown("the request", given, _KEYS)
    name = as_text("method", given.get("method"))
    if name not in METHODS:
        accepted = ", ".join(f'"{each}"' for each in METHODS)
        raise ValueError(f"method must be one of {accepted}; got {name[:40]!r}")
    method = METHODS[name]
    places, codes = _read_points(given.get("points"))
    n_rounds = 1
    if method.rounds is not None:
        n_rounds = method.rounds.check(given.get("rounds", method.rounds.default))
    return Order(
        places,
        codes,
        _read_axes(given.get("axes")),
        _read_names(given.get("names", ["x", "y"])),
        method,
        method.check(given.get("settings", {})),
        n_rounds,
        as_number("held_out", given.get("held_out", 0.0), 0.0, MAX_HELD_OUT),
        check_int("seed", given.get("seed", 0), 0, MAX_SEED),
    )


def _read_points(value: Any) -> tuple[Floats, Codes]:
    given = as_object("points", value)
    refuse_unknown("points", given, ("x", "y", "class"))
    columns = [as_list(f"points.{key}", given.get(key), MAX_POINTS) for key in ("x", "y", "class")]
    if len({len(column) for column in columns}) != 1:
        raise ValueError("points must have as many x as y and class")
    places = [[as_number("points.x and .y", each, -_LARGEST, _LARGEST) for each in column]
              for column in columns[:2]]  # fmt: skip
    codes = [check_int("points.class", each, 0, MAX_CLASSES - 1) for each in columns[2]]
    return np.array(places, np.float64).T.reshape(-1, 2), np.array(codes, np.intp)


def _read_axes(value: Any) -> tuple[Axis, Axis]:
    given = as_object("axes", value)
    refuse_unknown("axes", given, ("x", "y"))
    axes = []
    for key in ("x", "y"):
        ends = as_list(f"axes.{key}", given.get(key), 2)
        if len(ends) != 2:
            raise ValueError(f"axes.{key} must have two ends; got {len(ends)}")
        low, high = (as_number(f"axes.{key}", each, -2 * _LARGEST, 2 * _LARGEST) for each in ends)
        if not low < high:
            raise ValueError(f"axes.{key} must begin below their end; got {low:g} and {high:g}")
        axes.append((low, high))
    return axes[0], axes[1]


def _read_names(value: Any) -> tuple[str, str]:
    names = [as_text("names", each)[:60] for each in as_list("names", value, 2)]
    if len(names) != 2:
        raise ValueError(f"names must be those of two features; got {len(names)}")
    return names[0], names[1]


def is_held_out(codes: Codes, share: float, seed: int) -> NDArray[np.bool_]:
    """Return which points no fit sees: a share of each class, without its first point.

    It goes by the number of a point within its class, so that points that are added change nothing
    for those before.

    Examples
    --------
    >>> int(is_held_out(np.zeros(10, int), 0.3, seed=0).sum())
    3
    """
    found = np.zeros(len(codes), bool)
    for code in np.unique(codes):
        mine = np.flatnonzero(codes == code)
        spread = (np.arange(len(mine)) * _GOLDEN + 0.5 + 0.37 * seed + 0.61 * code) % 1.0
        found[mine] = spread < share
        found[mine[0]] = False
    return found


def run(order: Order) -> dict[str, Any]:
    """Fit a method and return all rounds of it, ready for JSON.

    Warnings become notes. (They are caught for the whole process, so one run is made at
    a time.)
    """
    present, codes = np.unique(order.codes, return_inverse=True)
    if len(present) < 2:
        raise ValueError("points of two classes or more are needed")
    train = ~is_held_out(codes, order.held_out, order.seed)
    if (np.ptp(order.places[train], axis=0) == 0).all():
        raise ValueError("points at two places or more are needed")
    task = Task(
        order.places[train],
        codes[train],
        order.names,
        len(present),
        order.n_rounds,
        order.seed,
        order.settings,
    )
    # Threads of other libraries cost more than they bring on so few points.
    with limited_threads(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stages = order.method.fit(task)
        plane = Plane.of(stages, len(present), order.axes)
        answers = _answers(stages, plane, order.places, codes, train)
    return {
        "method": order.method.name,
        "classes": present.tolist(),
        "names": list(order.names),
        "held_out": np.flatnonzero(~train).tolist(),
        "plane": plane.to_json(),
        "labels": stages.labels,
        "notes": list(dict.fromkeys(str(each.message) for each in caught)),
        **answers,
    }


def _answers(
    stages: Stages, plane: Plane, points: Floats, codes: Codes, train: NDArray[np.bool_]
) -> dict[str, Any]:
    """Ask the committee and the members at all cells and points, round by round."""
    cells = plane.places
    places = np.concatenate([cells, points])
    rounds = [dict(numbers) for numbers in stages.rounds]
    pictures: dict[str, Any] = {}
    found: list[Floats] = []
    for who, ask in (("committee", stages.committee), ("member", stages.members)):
        if who == "committee" or ask is not stages.committee:
            found = list(islice(ask(places), len(rounds)))
        at_points = [shares[len(cells) :].copy() for shares in found]
        if stages.unseen is not None:
            for shares, unseen in zip(at_points, stages.unseen, strict=True):
                shares[train] = unseen
        for numbers, shares in zip(rounds, at_points, strict=True):
            numbers[f"{who}_error"] = error_of(shares[train], codes[train])
            numbers[f"{who}_unseen_error"] = error_of(shares[~train], codes[~train])
        pictures[who] = packed([share_parts(each[: len(cells)]) for each in found], "<u2")
        pictures[f"{who}_points"] = packed([share_parts(each) for each in at_points], "<u2")
        pictures[f"{who}_predictions"] = packed([each.argmax(axis=1) for each in at_points], "u1")
        if who == "committee":
            pictures["margins"] = packed([margins_of(each, codes) for each in at_points], "<f4")
    weights = np.zeros((len(rounds), len(points)))
    weights[:, train] = stages.weights
    return {"rounds": rounds, "weights": packed(weights, "<f4"), **pictures}
