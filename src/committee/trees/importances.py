"""How much trees rely on each feature: splits, weight of their rows, decrease of impurity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def impurity_decreases(
    nodes: Mapping[str, NDArray[Any]], n_children: NDArray[np.int64], n_features: int
) -> tuple[Floats, float]:
    """Add up by how much the splits of each feature lower the impurity of a tree.

    Parameters
    ----------
    nodes : mapping
        The arrays of the tree.
    n_children : ndarray of int64
        Number of children of each node.
    n_features : int
        Number of features.

    Returns
    -------
    sums : ndarray of float64, shape (n_features,)
        Weighted decreases, as shares of the impurity of the root.
    unit : float
        The impurity of the root; 1 where that is zero.
    """
    # Shares of the weight, and the impurity as a share of the root's: products cannot overflow.
    # (In boosting it is the second-order loss, and negative.)
    unit = abs(float(nodes["impurity"][0])) or 1.0
    weighted = (nodes["weight"] / nodes["weight"][0]) * (nodes["impurity"] / unit)
    inner = np.flatnonzero(nodes["first_child"])
    if inner.size == 0:
        return np.zeros(n_features), unit
    # Children are neighbours: sum weighted[first : first + n] for every inner node at once.
    first = nodes["first_child"][inner].astype(np.int64)
    bounds = np.column_stack([first, first + n_children[inner]]).ravel()
    below = np.add.reduceat(np.append(weighted, 0.0), bounds)[::2]
    features = nodes["feature_and_flags"][inner] & _FEATURE
    sums = np.bincount(features, weighted[inner] - below, minlength=n_features)
    return np.asarray(sums, np.float64), unit
