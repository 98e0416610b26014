"""How much work a search may do, and how much it has done.

One unit is about one second of one core of a server of 2023. Work is counted by formulas of the
size of the table and of what was fitted, never by a clock: with the same budget a search makes the
same steps on any machine. A time limit stops it where the clock decides, and the work done until
then repeats it.
"""

from __future__ import annotations

import math

# Of a budget that is chosen automatically: units at so many cells, growing with the square root.
_UNITS, _CELLS = 60.0, 200_000
_LEAST_UNITS = 6.0
_FACTOR = {"fast": 1 / 6, "good": 1.0, "best": 6.0}
QUALITIES = tuple(_FACTOR)


def automatic_budget(n_rows: int, n_features: int, quality: str) -> float:
    """Return the units that a search may use where the user names none.

    Examples
    --------
    >>> automatic_budget(10_000, 20, "good")
    60.0
    """
    units = _UNITS * (n_rows * n_features / _CELLS) ** 0.5
    return float(round(max(units, _LEAST_UNITS) * _FACTOR[quality], 1))


# --- what fits cost -----------------------------------------------------------------------------


def round_cost(n_rows: int, n_features: int, n_trees: int, n_leaves: int) -> float:
    """Return the units of one round of boosting."""
    levels = max(1.0, math.sqrt(min(n_leaves, 127)) / 5.5)
    tree = 3.3e-9 * n_rows * n_features * levels + 2.5e-7 * n_leaves * n_features + 5e-5
    return n_trees * tree


def forest_cost(n_rows: int, n_features: float, n_trees: int) -> float:
    """Return the units of a forest that tries so many features at each node."""
    depth = max(n_rows, 2).bit_length()
    return n_trees * (1.8e-9 * n_rows * depth * n_features + 2e-5)


def linear_cost(n_rows: int, n_columns: int, n_classes: int) -> float:
    """Return the units of a linear model on a matrix."""
    return 4e-7 * n_rows * n_columns * max(n_classes, 1) * 0.5 + 5e-3
