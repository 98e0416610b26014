"""From the errors of members on the neighbours of a row to their weights on that row.

Arrays are n_rows x n_neighbours x n_members: whether a member was right (or its share of right rows
where several are alike), or its squared error. Neighbours come nearest first, with a count each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.base.arrays import Floats

_EQUAL = 1e-12  # relative: what differs by less is a tie


@dataclass(frozen=True, eq=False, repr=False)
class LocalCompetence:
    """The weights of members on rows, and their competence there.

    Attributes
    ----------
    names : tuple of str
        The members.
    competence : ndarray of float64, shape (n_rows, n_members)
        Accuracy of each member on the neighbours of a row; for numbers, the root of its mean
        squared error there.
    weight : ndarray of float64, shape (n_rows, n_members)
        Share that each has in the prediction; rows add up to one.
    radius : ndarray of float64, shape (n_rows,)
        Distance of the furthest neighbour.
    """

    names: tuple[str, ...]
    competence: Floats
    weight: Floats
    radius: Floats

    def to_frame(self) -> Any:
        """Return a pandas data frame, a row for each row and member."""
        import pandas as pd

        n_rows, n_members = self.weight.shape
        index = pd.MultiIndex.from_product([range(n_rows), self.names], names=["row", "member"])
        columns = {
            "competence": self.competence.ravel(),
            "weight": self.weight.ravel(),
            "radius": np.repeat(self.radius, n_members),
        }
        return pd.DataFrame(columns, index=index)

    def __repr__(self) -> str:
        means = self.weight.mean(axis=0)
        shown = ", ".join(f"{n} {w:.2f}" for n, w in zip(self.names, means, strict=True))
        return f"LocalCompetence of {len(self.weight)} rows; mean weights: {shown}"


def local_means(values: Floats, counts: Floats) -> Floats:
    """Return the mean over the neighbours of each row, n_rows x n_members."""
    sums = np.einsum("nkm,nk->nm", values, counts)
    return np.asarray(sums / counts.sum(axis=1, keepdims=True))


def by_distance(counts: Floats, distances: Floats) -> Floats:
    """Let neighbours count by the inverse of their distance; at distance zero no other counts.

    Examples
    --------
    >>> counts, distances = np.ones((2, 2)), np.array([[1.0, 2.0], [0.0, 2.0]])
    >>> by_distance(counts, distances).tolist()
    [[1.0, 0.5], [1.0, 0.0]]
    """
    nearest = distances[:, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        closeness = np.where(nearest > 0, nearest / distances, distances == 0)
    return np.asarray(counts * closeness)


def vote_weights(method: str, right: Floats, counts: Floats) -> Floats:
    """Return the weights of classifiers, n_rows x n_members.

    Parameters
    ----------
    method : {"knora-u", "knora-e", "ola"}
        See `DynamicSelectionClassifier`.
    right : ndarray of float64, shape (n_rows, n_neighbours, n_members)
        One where a member was right.
    counts : ndarray of float64, shape (n_rows, n_neighbours)
        How much each neighbour counts, zeros last.

    Returns
    -------
    weights : ndarray of float64
        Rows add up to one.

    Examples
    --------
    >>> right = np.array([[[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]])
    >>> vote_weights("knora-u", right, np.ones((1, 3))).tolist()
    [[0.4, 0.4, 0.2]]
    >>> vote_weights("knora-e", right, np.ones((1, 3))).tolist()
    [[1.0, 0.0, 0.0]]
    """
    shares = local_means(right, counts)
    if method == "ola":
        best = shares.max(axis=1, keepdims=True)
        return _shared((shares >= best * (1 - _EQUAL)).astype(np.float64))
    if method == "knora-e":
        chosen = _right_on_most(right, counts)
        # None was right on the nearest: all vote by what was right further away.
        is_empty = chosen.sum(axis=1, keepdims=True) == 0
        shares = np.where(is_empty, shares, chosen)
    return _shared(shares)


def _right_on_most(right: Floats, counts: Floats) -> Floats:
    """Return ones for members that were right on as many of the nearest as any member was."""
    is_right = np.asarray((right == 1.0) | (counts == 0)[:, :, np.newaxis])
    is_perfect = np.minimum.accumulate(is_right, axis=1)
    n_reached = (is_perfect.any(axis=2) & (counts > 0)).sum(axis=1)
    last = np.maximum(n_reached - 1, 0)
    chosen = is_perfect[np.arange(len(right)), last]
    return np.asarray(chosen & (n_reached > 0)[:, np.newaxis], np.float64)


def mean_weights(method: str, squares: Floats, counts: Floats) -> Floats:
    """Return the weights of regressors, n_rows x n_members.

    Parameters
    ----------
    method : {"weighted", "best"}
        See `DynamicSelectionRegressor`.
    squares : ndarray of float64, shape (n_rows, n_neighbours, n_members)
        Squared errors.
    counts : ndarray of float64, shape (n_rows, n_neighbours)
        How much each neighbour counts.

    Returns
    -------
    weights : ndarray of float64
        Rows add up to one.

    Examples
    --------
    >>> squares = np.array([[[1.0, 3.0], [1.0, 3.0]]])
    >>> mean_weights("weighted", squares, np.ones((1, 2))).tolist()
    [[0.75, 0.25]]
    """
    errors = local_means(squares, counts)
    best = errors.min(axis=1, keepdims=True)
    if method == "best":
        return _shared((errors <= best * (1 + _EQUAL)).astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Nothing overflows in the ratio to the best; a member without error leaves no other any.
        weights = np.where(best > 0, best / errors, errors == 0)
    return _shared(np.asarray(weights, np.float64))


def _shared(weights: Floats) -> Floats:
    """Return weights with a sum of one; equal ones where all are zero."""
    total = weights.sum(axis=1, keepdims=True)
    is_empty = total == 0
    return np.asarray(
        np.where(is_empty, 1.0, weights) / np.where(is_empty, weights.shape[1], total)
    )
