"""A forest as a weighting of its training rows.

The prediction of a forest is a weighted mean of the training targets: a row that shares the leaf of
a tree with the new row gets an equal part of that tree's weight. With the weights one can ask for
more than the mean, such as quantiles (Meinshausen 2006, Quantile regression forests). Weights are
sparse matrices: *rows to predict x leaves* times *leaves x training rows*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from committee.base.arrays import Floats

Leaves = NDArray[np.unsignedinteger]

# Entries of a product that are made at a time: rows to predict x trees x rows of a leaf.
_ENTRIES = 2**22


def leaf_matrix(leaves: Leaves, offsets: NDArray[np.int64]) -> csr_matrix:
    """Return which leaves rows reach, a column for each leaf of each tree.

    Parameters
    ----------
    leaves : ndarray of unsigned int, shape (n_rows, n_trees)
        Number of the leaf among the leaves of its tree.
    offsets : ndarray of int64, shape (n_trees + 1,)
        First column of each tree; the last is the number of columns.

    Returns
    -------
    matrix : csr_matrix, shape (n_rows, n_leaves)
        A one for each tree in each row.

    Examples
    --------
    >>> leaves = np.array([[0, 1], [1, 0]], np.uint32)
    >>> leaf_matrix(leaves, np.array([0, 2, 4])).toarray().astype(int).tolist()
    [[1, 0, 0, 1], [0, 1, 1, 0]]
    """
    n_rows, n_trees = leaves.shape
    columns = (leaves + offsets[:-1]).ravel()
    starts = np.arange(0, n_rows * n_trees + 1, n_trees)
    ones = np.ones(n_rows * n_trees)
    return csr_matrix((ones, columns, starts), shape=(n_rows, int(offsets[-1])))


@dataclass(frozen=True, eq=False)
class LeafMembers:
    """The training rows in each leaf of each tree, one after another.

    Parameters
    ----------
    offsets : ndarray of uint64, shape (n_leaves + 1,)
        Where the rows of each leaf begin.
    rows : ndarray of uint32
        Row numbers.
    counts : ndarray of uint32
        How often the tree has drawn the row.

    Examples
    --------
    >>> leaves = np.array([[0], [1], [0]], np.uint8)
    >>> members = LeafMembers.find(leaves, np.array([0, 2]), None)
    >>> members.rows.tolist(), members.offsets.tolist()
    ([0, 2, 1], [0, 2, 3])
    """

    offsets: NDArray[np.uint64]
    rows: NDArray[np.uint32]
    counts: NDArray[np.uint32]

    @classmethod
    def find(
        cls,
        leaves: Leaves,
        first_leaf: NDArray[np.int64],
        counts_of_tree: Callable[[int], NDArray[np.uint32]] | None,
        weights: Floats | None = None,
    ) -> LeafMembers:
        """Find the rows of each leaf.

        Parameters
        ----------
        leaves : ndarray of unsigned int, shape (n_rows, n_trees)
            Leaves of the training rows, as in `leaf_matrix`.
        first_leaf : ndarray of int64, shape (n_trees + 1,)
            First leaf of each tree.
        counts_of_tree : callable or None
            From the number of a tree to its draws of each row; None: each row once.
        weights : ndarray of float64 or None
            Rows of weight zero are left out.
        """
        n_rows, n_trees = leaves.shape
        rows, counts, sizes = [], [], []
        present = np.ones(n_rows, bool) if weights is None else weights > 0
        for tree in range(n_trees):
            drawn = present.astype(np.uint32)
            if counts_of_tree is not None:
                drawn *= counts_of_tree(tree)
            inside = np.flatnonzero(drawn)
            leaf = leaves[inside, tree]
            inside = inside[np.argsort(leaf, kind="stable")]
            rows.append(inside.astype(np.uint32))
            counts.append(drawn[inside])
            n_leaves = int(first_leaf[tree + 1] - first_leaf[tree])
            sizes.append(np.bincount(leaf, minlength=n_leaves))
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.uint64)
        return cls(offsets, np.concatenate(rows), np.concatenate(counts))

    def shares(self, n_rows: int, weights: Floats | None) -> csr_matrix:
        """Return the share of each training row in the value of each leaf.

        Parameters
        ----------
        n_rows : int
            Number of training rows.
        weights : ndarray of float64 or None
            Their weights.

        Returns
        -------
        matrix : csr_matrix, shape (n_leaves, n_rows)
            Each row adds up to one.
        """
        parts = self.counts.astype(np.float64)
        if weights is not None:
            parts *= weights[self.rows]
        starts = self.offsets.astype(np.int64)
        leaf = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        parts /= np.bincount(leaf, parts, minlength=len(starts) - 1)[leaf]
        shape = (len(starts) - 1, n_rows)
        return csr_matrix((parts, self.rows.astype(np.int32), starts), shape=shape)


def quantiles_of_rows(
    reached: csr_matrix, members: csr_matrix, y: Floats, quantiles: Floats
) -> Floats:
    """Return quantiles of the training targets, weighted by the forest.

    Parameters
    ----------
    reached : csr_matrix, shape (n_new, n_leaves)
        The leaves of the new rows; a row need not count all trees.
    members : csr_matrix, shape (n_leaves, n_rows)
        See `LeafMembers.shares`.
    y : ndarray of float64, shape (n_rows,)
        Training targets.
    quantiles : ndarray of float64, shape (n_quantiles,)
        In [0, 1].

    Returns
    -------
    values : ndarray of float64, shape (n_new, n_quantiles)
        The least target such that rows of that target or less have so much of the weight; NaN
        for rows that reach no leaf.

    Examples
    --------
    >>> reached, members = csr_matrix([[1.0]]), csr_matrix([[0.25, 0.25, 0.5]])
    >>> y = np.array([3.0, 1.0, 2.0])
    >>> quantiles_of_rows(reached, members, y, np.array([0.0, 0.25, 0.5, 1.0])).tolist()
    [[1.0, 1.0, 2.0, 3.0]]
    """
    order = np.argsort(y, kind="stable")
    ranked, y_ranked = members[:, order], y[order]
    values = np.full((reached.shape[0], len(quantiles)), np.nan)
    mean_size = max(1.0, members.nnz / max(1, members.shape[0]))
    per_row = max(1.0, reached.nnz / max(1, reached.shape[0]) * mean_size)
    step = max(1, int(_ENTRIES / per_row))
    for start in range(0, len(values), step):
        weights = (reached[start : start + step] @ ranked).tocsr()
        weights.sort_indices()
        values[start : start + step] = _row_quantiles(weights, y_ranked, quantiles)
    return values


def _row_quantiles(weights: csr_matrix, y: Floats, quantiles: Floats) -> Floats:
    """Return the quantiles of each row of weights, whose columns are in the order of y."""
    ends = weights.indptr[1:].astype(np.int64)
    starts = weights.indptr[:-1].astype(np.int64)
    filled = np.flatnonzero(ends > starts)
    values = np.full((len(ends), len(quantiles)), np.nan)
    if len(filled) == 0:
        return values
    starts, ends = starts[filled], ends[filled]
    # Row r occupies (r, r + 1] of one ascending list, so that one search serves all rows.
    below = np.cumsum(weights.data)
    before = np.concatenate([[0.0], below])[starts]
    row = np.repeat(np.arange(len(filled)), ends - starts)
    totals = below[ends - 1] - before
    shares = (below - before[row]) / totals[row] + row
    for column, quantile in enumerate(quantiles):
        # The slack lets a sum of thirds reach one third.
        found = np.searchsorted(shares, np.arange(len(filled)) + quantile - 1e-9)
        found = np.clip(found, starts, ends - 1)
        values[filled, column] = y[weights.indices[found]]
    return values


def leaf_spreads(members: csr_matrix, y: Floats) -> Floats:
    """Return the variance of the training targets in each leaf.

    Parameters
    ----------
    members : csr_matrix, shape (n_leaves, n_rows)
        See `LeafMembers.shares`.
    y : ndarray of float64, shape (n_rows,)
        Training targets.

    Returns
    -------
    variances : ndarray of float64, shape (n_leaves,)
        Weighted by the rows' shares.

    Examples
    --------
    >>> leaf_spreads(csr_matrix([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), np.array([1.0, 3.0, 7.0]))
    array([1., 0.])
    """
    middles = members @ y
    leaf = np.repeat(np.arange(members.shape[0]), np.diff(members.indptr))
    squares = members.data * (y[members.indices] - middles[leaf]) ** 2
    return np.bincount(leaf, squares, minlength=members.shape[0]).astype(np.float64)
