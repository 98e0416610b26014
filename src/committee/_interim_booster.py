"""A stand-in for `_core.Booster` until the engine has one; to be deleted then.

A tree of the engine is grown on Newton targets -g / h with weights w h: without regularisation
the decrease of the squared error is the gain. Leaf values are then those of the real thing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee._tree_arrays import tree_from_arrays, tree_kinds

Floats = NDArray[np.float64]


class InterimBooster:
    """Has the interface of `_core.Booster`, and the table as well."""

    def __init__(
        self,
        dataset: _core.BinnedDataset,
        settings: dict[str, Any],
        weights: Floats | None = None,
        n_threads: int = 1,
        table: Any = None,
    ) -> None:
        for name in ("interactions", "features_per_tree", "features_per_level"):
            if name in settings:
                raise ValueError(
                    f"{name} is not yet there for exact search and for min_samples_split"
                )
        if settings.get("growth", "best") != "best":
            raise ValueError('growth must be "best" for exact search and min_samples_split, so far')
        self._dataset, self._settings, self._table = dataset, settings, table
        self._weights, self._n_threads = weights, n_threads
        self._leaves: NDArray[np.uint32] = np.zeros(dataset.n_rows, np.uint32)

    def grow(
        self,
        gradients: Floats,
        hessians: Floats | None,
        *,
        learning_rate: float,
        seed: int,
        sample: NDArray[np.uint8] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> _core.Tree:
        own = np.ones(len(gradients)) if self._weights is None else self._weights
        if sample is not None:
            own = own * (sample > 0)
        bends = np.ones(len(gradients)) if hessians is None else hessians
        tree = self._structure(gradients, bends, own, seed)
        self._leaves = tree.apply(self._table, self._n_threads)
        return self._valued(tree, own * gradients, own * bends, own, learning_rate)

    def _structure(self, gradients: Floats, bends: Floats, own: Floats, seed: int) -> _core.Tree:
        given = self._settings
        settings: dict[str, Any] = {
            "criterion": "squared_error",
            "min_rows_leaf": given.get("min_rows_leaf", 1),
            "min_rows_split": given.get("min_rows_split", 2),
            "min_weight_leaf": max(given.get("min_child_weight", 0.0), 1e-300),
            "max_features": given.get("features_per_node", self._dataset.n_features),
            "seed": seed,
            "n_threads": self._n_threads,
        }
        for name, theirs in (("max_leaf_nodes", "max_leaf_nodes"), ("max_depth", "max_depth")):
            if given.get(name):
                settings[theirs] = given[name]
        if given.get("monotonic"):
            settings["monotonic"] = given["monotonic"]
        heavy = own * bends
        if given.get("min_gain"):
            settings["min_impurity_decrease"] = 2 * given["min_gain"] / heavy.sum()
        safe = np.maximum(bends, 1e-300)
        is_whole = bool((own == np.floor(own)).all())
        counts = (own if is_whole else own > 0).astype(np.uint32)
        return _core.grow_tree(
            self._dataset,
            reals=np.clip(-gradients / safe, -1e100, 1e100)[:, np.newaxis],
            weights=heavy,
            counts=counts,
            settings=settings,
        )

    def _valued(
        self, tree: _core.Tree, slopes: Floats, bends: Floats, own: Floats, rate: float
    ) -> _core.Tree:
        arrays = dict(tree.arrays())
        n_nodes, firsts = tree.n_nodes, arrays["first_child"]
        sums = [np.bincount(self._leaves, each, n_nodes) for each in (slopes, bends, own)]
        for node in range(n_nodes - 1, -1, -1):
            if firsts[node]:
                for each in sums:
                    each[node] = each[firsts[node]] + each[firsts[node] + 1]
        slope, bend, weight = sums
        slope = np.sign(slope) * np.maximum(np.abs(slope) - self._settings.get("l1", 0.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.nan_to_num(slope / (bend + self._settings.get("l2", 0.0)), posinf=0)
            arrays["impurity"] = np.nan_to_num(-slope * steps / 2 / weight)
        arrays["values"] = (-rate * steps)[:, np.newaxis]
        arrays["weight"] = weight
        return tree_from_arrays(tree_kinds(tree), arrays)

    def leaves(self) -> NDArray[np.uint32]:
        return self._leaves

    def add_to(self, tree: _core.Tree, scores: Floats) -> None:
        scores += tree.arrays()["values"][self._leaves, 0]

    @staticmethod
    def with_leaf_values(tree: _core.Tree, values: Floats) -> _core.Tree:
        arrays = dict(tree.arrays()) | {"values": values[:, np.newaxis].copy()}
        return tree_from_arrays(tree_kinds(tree), arrays)
