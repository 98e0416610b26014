"""Points in the plane with their classes: examples that are drawn, and tables that are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats

Codes = NDArray[np.intp]
Axis = tuple[float, float]

MAX_POINTS = 1000
MAX_CLASSES = 4

_DIGITS = 4  # of drawn coordinates
_FIELD = (-1.2, 1.2)


@dataclass(frozen=True, eq=False)
class Points:
    """Points in the plane.

    Attributes
    ----------
    places : ndarray of float64, shape (n_points, 2)
        What is drawn across and up.
    codes : ndarray of int
        The class of each point, as a position in `classes`.
    classes : tuple of str
        Names of the classes.
    names : tuple of two str
        Of the features.
    axes : pair of pairs of floats
        Ends of the picture, across and up.
    """

    places: Floats
    codes: Codes
    classes: tuple[str, ...]
    names: tuple[str, str]
    axes: tuple[Axis, Axis]

    def to_json(self) -> dict[str, Any]:
        """Return what the page reads."""
        return {
            "x": self.places[:, 0].tolist(),
            "y": self.places[:, 1].tolist(),
            "class": self.codes.tolist(),
            "classes": list(self.classes),
            "names": list(self.names),
            "axes": {"x": list(self.axes[0]), "y": list(self.axes[1])},
        }


def axes_around(places: Floats) -> tuple[Axis, Axis]:
    """Return ends of a picture that leave some space around all points."""
    found = []
    for values in places.T:
        low, high = float(values.min()), float(values.max())
        space = 0.08 * (high - low) or 1.0
        found.append((low - space, high + space))
    return found[0], found[1]


# --- examples -----------------------------------------------------------------------------------


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
