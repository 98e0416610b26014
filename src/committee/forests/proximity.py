"""How often two rows end in the same leaf of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from committee.base.arrays import Floats

# Cells of the dense matrix that is made at a time when only the nearest rows are kept.
_CELLS = 2**22


def proximities(left: csr_matrix, right: csr_matrix, top_k: int | None) -> Floats | csr_matrix:
    """Return the share of trees in which rows share a leaf.

    Parameters
    ----------
    left, right : csr_matrix, shape (n_left, n_leaves) and (n_right, n_leaves)
        The leaves that rows reach, see `_leaf_weights.leaf_matrix`. Rows may count some trees
        only; of two rows, trees count that both count.
    top_k : int or None
        Keep so many of the largest shares of each row; None keeps all.

    Returns
    -------
    shares : ndarray or csr_matrix, shape (n_left, n_right)
        Sparse with `top_k`.

    Examples
    --------
    >>> leaves = csr_matrix([[1.0, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1]])
    >>> proximities(leaves, leaves, None).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    n_trees = left[0].nnz if left.shape[0] else 0
    return _shares(left, right.T.tocsc(), None, None, float(n_trees), top_k)


def oob_proximities(
    leaves: csr_matrix, is_out: NDArray[np.bool_], top_k: int | None
) -> Floats | csr_matrix:
    """Return the shares of trees for which both rows are out of bag.

    Parameters
    ----------
    leaves : csr_matrix, shape (n_rows, n_leaves)
        The leaves of the training rows in all trees.
    is_out : ndarray of bool, shape (n_rows, n_trees)
        Whether a row is out of the bag of a tree.
    top_k : int or None
        See `proximities`.

    Returns
    -------
    shares : ndarray or csr_matrix, shape (n_rows, n_rows)
        NaN for two rows that are never out of bag together (zero in a sparse matrix).

    Examples
    --------
    >>> leaves = csr_matrix([[1.0, 0, 1, 0], [1, 0, 0, 1]])
    >>> is_out = np.array([[True, True], [True, False]])
    >>> oob_proximities(leaves, is_out, None).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    kept = leaves.copy()
    kept.data = kept.data * is_out.ravel()
    kept.eliminate_zeros()
    outside = is_out.astype(np.float32)
    return _shares(kept, kept.T.tocsc(), outside, outside.T, 0.0, top_k)


def _shares(
    left: csr_matrix,
    right: csr_matrix,
    left_out: NDArray[np.float32] | None,
    right_out: NDArray[np.float32] | None,
    n_trees: float,
    top_k: int | None,
) -> Floats | csr_matrix:
    n_left, n_right = left.shape[0], right.shape[1]
    step = max(1, _CELLS // max(1, n_right))
    parts = []
    out = np.empty((n_left, n_right)) if top_k is None else None
    for start in range(0, n_left, step):
        part = slice(start, start + step)
        together = (left[part] @ right).toarray()
        if left_out is None or right_out is None:
            together /= n_trees
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                together /= left_out[part] @ right_out
        if out is not None:
            out[part] = together
        else:
            parts.append(_largest(np.nan_to_num(together), min(top_k or 1, n_right)))
    if out is not None:
        return out
    return vstack(parts, format="csr") if parts else csr_matrix((0, n_right))


def _largest(shares: Floats, k: int) -> csr_matrix:
    """Keep the k largest positive entries of each row, the first of equals."""
    order = np.argsort(-shares, axis=1, kind="stable")[:, :k]
    rows = np.repeat(np.arange(len(shares)), k)
    columns = order.ravel()
    values = shares[rows, columns]
    matrix = csr_matrix((values, (rows, columns)), shape=shares.shape)
    matrix.eliminate_zeros()
    return matrix
