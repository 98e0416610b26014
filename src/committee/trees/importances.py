"""How often, and for how much weight of rows, trees split by each feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.base.arrays import Floats

_FEATURE = (1 << 24) - 1


def split_counts(forest: Any, *, weighted: bool) -> Floats:
    """Count the splits of each feature over all trees.

    Parameters
    ----------
    forest : _core.Forest
        The trees.
    weighted : bool
        Count the weight of the rows that pass a split instead.

    Returns
    -------
    counts : ndarray of float64, shape (n_features,)
        Sums over the trees.
    """
    counts = np.zeros(forest.n_features)
    for index in range(forest.n_trees):
        nodes = forest.tree(index).arrays()
        inner = np.flatnonzero(nodes["first_child"])
        features = nodes["feature_and_flags"][inner] & _FEATURE
        weights = nodes["weight"][inner] if weighted else None
        counts += np.bincount(features, weights, forest.n_features)
    return counts
