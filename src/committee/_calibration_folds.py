"""Folds that depend on what rows hold and not on where they stand.

Copies of a row are always in the same fold, so that none is learnt from while another is held out;
a row of weight two has the fold of that row twice, and no seed is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from committee import _core

Rows = NDArray[np.intp]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def row_keys(dataset: _core.BinnedDataset) -> NDArray[np.uint64]:
    """Return a number for each row that depends on its codes alone.

    Examples
    --------
    >>> from committee import _core
    >>> from committee._table import read_table
    >>> table, _ = read_table([[1.0, 5.0], [2.0, 5.0], [1.0, 5.0]])
    >>> keys = row_keys(_core.BinnedDataset(table, exact=True))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    keys = np.zeros(dataset.n_rows, np.uint64)
    for feature in range(dataset.n_features):
        keys = _mixed(keys ^ dataset.codes(feature).astype(np.uint64))
    return keys


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over all others (the finalizer of SplitMix64)."""
    keys = keys + _MULTIPLIER
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def content_folds(
    keys: NDArray[np.uint64], codes: NDArray[np.int32], is_counted: NDArray[np.bool_], n_folds: int
) -> list[Rows]:
    """Deal rows into folds, each class its share of each.

    Parameters
    ----------
    keys : ndarray of uint64
        From `row_keys`.
    codes : ndarray of int32
        Classes.
    is_counted : ndarray of bool
        Rows that are dealt.
    n_folds : int
        Number of folds.

    Returns
    -------
    folds : list of ndarray of int
        Ascending rows of each fold that has some. The rows of a class that are all alike are in
        no fold: it would be unknown to those who learn from the others.

    Examples
    --------
    >>> keys, codes = np.arange(6, dtype=np.uint64), np.zeros(6, np.int32)
    >>> [fold.tolist() for fold in content_folds(keys, codes, np.ones(6, bool), 3)]
    [[0, 3], [1, 4], [2, 5]]
    """
    rows = np.flatnonzero(is_counted)
    pairs = np.stack([codes[rows].astype(np.uint64), keys[rows]], axis=1)
    kinds, kind_of_row = np.unique(pairs, axis=0, return_inverse=True)
    place = np.arange(len(kinds)) - np.searchsorted(kinds[:, 0], kinds[:, 0])
    is_alone = np.bincount(kinds[:, 0].astype(np.intp))[kinds[:, 0].astype(np.intp)] == 1
    fold_of_kind = np.where(is_alone, n_folds, place % n_folds)
    fold_of_row = fold_of_kind[kind_of_row.reshape(-1)]
    folds = [rows[fold_of_row == fold] for fold in range(n_folds)]
    return [fold for fold in folds if len(fold)]
