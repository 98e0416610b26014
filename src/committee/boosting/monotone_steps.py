"""Steps of leaves that keep to monotone constraints, where a loss has found them afresh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_FEATURE = (1 << 24) - 1


def monotone_steps(
    nodes: Mapping[str, NDArray[Any]], steps: Floats, directions: Sequence[int]
) -> Floats:
    """Clip the steps of leaves, so that they rise and fall with features as they must.

    At a split of a constrained feature the leaves of either side are kept on their side of the
    middle between the mean steps of both; bounds are handed down to all nodes below.

    Parameters
    ----------
    nodes : dict of ndarray
        The arrays of a tree.
    steps : ndarray of float64, shape (n_nodes,)
        Steps of the leaves; other entries are not looked at.
    directions : sequence of int
        -1, 0 or 1 for each feature.

    Returns
    -------
    steps : ndarray of float64, shape (n_nodes,)
        Steps of leaves, and means in the nodes above them.
    """
    firsts, weight = nodes["first_child"].astype(np.intp), nodes["weight"]
    features = nodes["feature_and_flags"] & _FEATURE
    means = steps.copy()
    inner = np.flatnonzero(firsts)
    for node in inner[::-1]:
        pair = slice(firsts[node], firsts[node] + 2)
        shares = weight[pair] / weight[pair].sum() if weight[pair].any() else np.full(2, 0.5)
        means[node] = shares @ means[pair]
    low, high = np.full(len(steps), -np.inf), np.full(len(steps), np.inf)
    for node in inner:
        left, right = firsts[node], firsts[node] + 1
        for child in (left, right):
            low[child], high[child] = low[node], high[node]
        direction = directions[features[node]]
        if direction:
            middle = np.clip(means[left] / 2 + means[right] / 2, low[node], high[node])
            below, above = (left, right) if direction > 0 else (right, left)
            high[below], low[above] = middle, middle
    return np.clip(means, low, high)
