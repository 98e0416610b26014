"""How much work a search may do, and how much it has done.

One unit is about one second of one core of a server of 2023. Work is counted by formulas of the
size of the table and of what was fitted, never by a clock: with the same budget a search makes the
same steps on any machine. A time limit stops it where the clock decides, and the work done until
then repeats it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

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
#
# The numbers are CPU seconds, fitted by least squares of logarithms to what candidates took on cuts
# of real tables (`benchmarks/studies/portfolio_costs.py`).


def round_cost(n_rows: int, n_features: int, n_trees: int, n_leaves: int) -> float:
    """Return the units of one round of boosting."""
    levels = math.log2(max(n_leaves, 2))
    rows = n_rows * levels * (4.8e-10 * n_features + 1.1e-8)
    return n_trees * (rows + 4e-8 * n_leaves * n_features + 3.5e-5)


def forest_cost(n_rows: int, n_features: float, n_trees: int, *, is_numbers: bool = False) -> float:
    """Return the units of a forest that tries so many features at each node.

    Trees of numbers are grown until no two targets of a leaf differ, those of classes end early.
    """
    depth = math.log2(max(n_rows, 2))
    row = 1.1e-9 * depth * (n_features + 4.0) * (5.5 if is_numbers else 1.0)
    return n_trees * (n_rows * row + 9e-5)


def linear_cost(n_rows: int, n_columns: int, n_classes: int) -> float:
    """Return the units of a linear model on a matrix; classes take iterations."""
    cell = 5e-8 * max(n_classes - 1, 1) if n_classes else 1.2e-8
    return cell * n_rows * n_columns + 2e-3


def leaves_cost(n_rows: int, n_leaves: NDArray[np.integer]) -> float:
    """Return the units of leaves estimated on so many rows, given the leaves of each tree."""
    levels = np.log2(np.maximum(n_leaves, 2))
    return float((3e-5 + n_rows * (1.2e-8 + 4e-9 * levels)).sum())
