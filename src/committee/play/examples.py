"""Examples of points: drawn shapes, the ten points of the lecture, and penguins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from committee.base.arrays import Floats
from committee.datasets import load_ten_points, penguins_file
from committee.play.points import Codes, Points
from committee.play.table import read_points

Draw = Callable[[int, np.random.Generator], tuple[Floats, Codes]]

COLORS = ("blue", "orange", "green", "purple")  # names of classes, in the colours of the page

_DIGITS = 4  # of drawn coordinates
_FIELD = (-1.2, 1.2)


def _moons(n: int, rng: np.random.Generator) -> tuple[Floats, Codes]:
    codes = np.arange(n) % 2
    angle = np.pi * rng.random(n)
    side = np.where(codes == 0, 1.0, -1.0)
    across = side * (np.cos(angle) * 0.55 - 0.27)
    up = side * (np.sin(angle) * 0.65 - 0.2)
    return np.column_stack([across, up]), codes


def _circles(n: int, rng: np.random.Generator) -> tuple[Floats, Codes]:
    codes = np.arange(n) % 2
    angle, radius = 2 * np.pi * rng.random(n), np.where(codes == 0, 0.85, 0.4)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), codes


def _spirals(n: int, rng: np.random.Generator) -> tuple[Floats, Codes]:
    codes = np.arange(n) % 2
    way = np.sqrt(rng.random(n))
    angle = 3.2 * np.pi * way + np.pi * codes
    return np.column_stack([way * np.cos(angle), way * np.sin(angle)]) * 0.95, codes


def _xor(n: int, rng: np.random.Generator) -> tuple[Floats, Codes]:
    places = rng.uniform(-0.95, 0.95, (n, 2))
    places += 0.05 * np.sign(places)  # a gap between the quarters
    return places, (places[:, 0] * places[:, 1] < 0).astype(np.intp)


def _clouds(n: int, rng: np.random.Generator) -> tuple[Floats, Codes]:
    codes = np.arange(n) % 3
    centers = np.array([[-0.5, -0.35], [0.5, -0.35], [0.0, 0.5]])
    return centers[codes] + 0.16 * rng.normal(size=(n, 2)), codes


# Shapes that are drawn anew for each number of points, noise and seed.
_DRAWN: dict[str, Draw] = {
    "moons": _moons,
    "circles": _circles,
    "spirals": _spirals,
    "xor": _xor,
    "clouds": _clouds,
}


@dataclass(frozen=True)
class Example:
    """A set of points that the page offers.

    Attributes
    ----------
    name : str
        By which it is asked for.
    label : str
        Its name for people.
    """

    name: str
    label: str

    @property
    def is_drawn(self) -> bool:
        """Whether number of points, noise and seed mean something."""
        return self.name in _DRAWN


EXAMPLES = (
    Example("moons", "Moons"),
    Example("circles", "Circles"),
    Example("spirals", "Spirals"),
    Example("xor", "Xor"),
    Example("clouds", "Three clouds"),
    Example("ten", "Ten points"),
    Example("penguins", "Penguins"),
)


def example_points(name: str, n: int = 200, noise: float = 0.1, seed: int = 0) -> Points:
    """Return the points of an example.

    Parameters
    ----------
    name : str
        Of one of `EXAMPLES`.
    n : int
        Number of points, where they are drawn.
    noise : float
        Standard deviation of what is added to each coordinate of drawn points.
    seed : int
        Of the draws.

    Examples
    --------
    >>> points = example_points("ten")
    >>> points.places[0].tolist(), points.classes[points.codes[0]]
    ([1.0, 2.0], '+1')
    >>> example_points("moons", 50, 0.1, seed=1).axes[0]
    (-1.2, 1.2)
    """
    if name == "ten":
        places, labels = load_ten_points()
        axes = ((0.0, 11.0), (0.0, 11.0))
        return Points(places, (labels > 0).astype(np.intp), ("-1", "+1"), ("x", "y"), axes)
    if name == "penguins":
        columns = ("bill_length_mm", "bill_depth_mm", "species")
        return read_points("penguins.csv", penguins_file().read_bytes(), columns).points
    rng = np.random.default_rng(seed)
    places, codes = _DRAWN[name](n, rng)
    places = places + noise * rng.normal(size=places.shape)
    places = np.clip(places, 0.98 * _FIELD[0], 0.98 * _FIELD[1]).round(_DIGITS)
    classes = COLORS[: 3 if name == "clouds" else 2]
    return Points(places, codes.astype(np.intp), classes, ("x", "y"), (_FIELD, _FIELD))
