"""How well the units of a search agree with the CPU seconds that candidates took.

    python -m benchmarks.studies.portfolio_costs folder

The folder is that of `benchmarks.studies.portfolio measure`. For each family of candidates: the
median of units by seconds, within what factor of it nine in ten are, and the constants that fit
best, to be written into `committee/auto/budget.py`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.studies.portfolio_pool import POOL
from numpy.typing import NDArray
from scipy.optimize import least_squares

from committee.auto.portfolio import Candidate, Size

LEAST_SECONDS = 0.02  # the clock is too coarse for less

Floats = NDArray[np.float64]


def read(folder: Path) -> list[tuple[dict[str, Any], Candidate]]:
    """Return what was counted for each candidate, and the candidate."""
    found = []
    for path in sorted(folder.glob("*/*.npz")):
        with np.load(path) as stored:
            counted = json.loads(str(stored["counted"])) if "counted" in stored.files else {}
        if counted.get("candidate") in POOL and counted["seconds"] >= LEAST_SECONDS:
            sizes = (counted[key] for key in ("n_rows", "n_features", "n_columns", "n_classes"))
            made = POOL[counted["candidate"]](Size(*sizes))
            assert made is not None
            found.append((counted, made))
    return found


def spread(units: Floats, seconds: Floats) -> str:
    """Return how units and seconds agree, in words."""
    ratios = units / seconds
    median = float(np.median(ratios))
    factor = float(np.exp(np.quantile(np.abs(np.log(ratios / median)), 0.9)))
    return f"median {median:.2f}, nine in ten within a factor of {factor:.1f} of it"


def fitted(model: Callable[[Floats], Floats], start: list[float], seconds: Floats) -> Floats:
    """Return the positive constants of a model whose logarithms are nearest."""

    def misses(logs: Floats) -> Floats:
        return np.log(model(np.exp(logs)) / seconds)

    found = least_squares(misses, np.log(start), loss="soft_l1")
    return np.asarray(np.exp(found.x))


def boosting(rows: list[tuple[dict[str, Any], Candidate]]) -> tuple[Floats, Floats, Floats]:
    """Return units, seconds and constants of boosting."""
    units, seconds, sizes = [], [], []
    for counted, made in rows:
        work = counted["n_folds"] - 1  # fits to all folds, in fits to all rows
        n_trees = max(counted["n_classes"], 1) if counted["n_classes"] != 2 else 1
        units.append(made.cost * work * counted["tried"])
        seconds.append(counted["seconds"])
        n_leaves = leaves_of(made, counted["n_rows"])
        of_round = n_trees * counted["tried"] * work
        sizes.append((counted["n_rows"], counted["n_features"], n_leaves, of_round))
    n_rows, n_features, n_leaves, n_rounds = np.array(sizes, np.float64).T

    def model(c: Floats) -> Floats:
        levels = n_rows * np.log2(n_leaves)
        tree = levels * (c[0] * n_features + c[1]) + c[2] * n_leaves * n_features + c[3]
        return np.asarray(n_rounds * tree)

    taken = np.array(seconds)
    return np.array(units), taken, fitted(model, [3e-10, 1e-8, 7e-8, 3e-5], taken)


def leaves_of(made: Candidate, n_rows: int) -> int:
    """Return the most leaves of a tree of a candidate."""
    leaves = made.estimator.max_leaf_nodes
    if leaves == "auto":
        leaves = 8 if n_rows <= 2_500 else 16
    return int(leaves or 2**made.estimator.max_depth)


def forests(rows: list[tuple[dict[str, Any], Candidate]]) -> tuple[Floats, Floats, Floats]:
    """Return units, seconds and constants of forests."""
    units, seconds, sizes = [], [], []
    for counted, made in rows:
        work = counted["n_folds"] - 1
        units.append(made.cost * work)
        seconds.append(counted["seconds"])
        share, n_features = made.estimator.max_features, counted["n_features"]
        tried = n_features**0.5 if share == "sqrt" else share * n_features
        is_numbers = counted["n_classes"] == 0
        sizes.append((counted["n_rows"], tried, made.estimator.n_estimators * work, is_numbers))
    n_rows, tried, n_trees, is_numbers = np.array(sizes, np.float64).T

    def model(c: Floats) -> Floats:
        row = c[0] * np.log2(n_rows) * (tried + c[3]) * np.where(is_numbers, c[1], 1.0)
        return np.asarray(n_trees * (n_rows * row + c[2]))

    taken = np.array(seconds)
    return np.array(units), taken, fitted(model, [1e-9, 5.0, 1e-4, 1.0], taken)


def main() -> None:
    """Print the agreement and the constants."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("folder", type=Path)
    rows = read(parser.parse_args().folder)
    for begin, measure in (("boosting", boosting), ("extra-trees", forests), ("forest", forests)):
        own = [row for row in rows if row[0]["candidate"].startswith(begin)]
        units, seconds, constants = measure(own)
        print(f"{begin}, {len(own)} fits: {spread(units, seconds)}")
        print("  best constants:", " ".join(f"{each:.2g}" for each in constants))
        for is_numbers in (False, True):
            part = np.array([(row[0]["n_classes"] == 0) == is_numbers for row in own])
            what = "numbers" if is_numbers else "classes"
            print(f"  {what}: {spread(units[part], seconds[part])}")
    own = [row for row in rows if row[0]["candidate"] == "linear"]
    units = np.array([made.cost * (counted["n_folds"] - 1) for counted, made in own])
    seconds = np.array([counted["seconds"] for counted, _ in own])
    print(f"linear, {len(own)} fits: {spread(units, seconds)}")


if __name__ == "__main__":
    main()
