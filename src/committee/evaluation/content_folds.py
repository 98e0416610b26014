"""Folds that depend on what rows hold and not on where they stand.

Rows are dealt in an order that only their cells and classes decide, so that no seed is needed. A
row of weight two is dealt as that row twice: one of the two may be held out and the other not, as
with any two rows that happen to be alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def content_folds(
    keys: NDArray[np.uint64], codes: NDArray[np.int32], counts: NDArray[np.uint32], n_folds: int
) -> list[NDArray[np.int64]]:
    """Deal rows into folds like cards, class by class, in the order of their keys.

    Parameters
    ----------
    keys : ndarray of uint64
        See `row_keys`.
    codes : ndarray of int32
        Classes.
    counts : ndarray of uint32
        How often each row counts. Each repetition is a card of its own.
    n_folds : int
        Number of folds.

    Returns
    -------
    folds : list of ndarray of int64, shape (n_rows,)
        How often each row is held out in each fold; folds that hold out nothing are left out. The
        only row of a class is never held out, for it would be unknown to those who learn.

    Examples
    --------
    >>> keys, codes = np.arange(4, dtype=np.uint64), np.zeros(4, np.int32)
    >>> [fold.tolist() for fold in content_folds(keys, codes, np.array([1, 1, 3, 1], np.uint32), 2)]
    [[1, 0, 2, 0], [0, 1, 1, 1]]
    """
    order = np.lexsort((keys, codes))
    own = counts[order].astype(np.int64)
    ends = np.cumsum(own)
    # Cards are numbered within their class.
    totals = np.bincount(codes, counts).astype(np.int64)
    firsts = (np.cumsum(totals) - totals)[codes[order]]
    begins, ends = ends - own - firsts, ends - firsts
    is_alone = totals[codes[order]] < 2
    folds = []
    for fold in range(n_folds):
        # How many of the numbers begin ... end - 1 are fold, fold + n_folds, ...
        held_out = (ends - fold - 1) // n_folds - (begins - fold - 1) // n_folds
        result = np.zeros(len(counts), np.int64)
        result[order] = np.where(is_alone, 0, held_out)
        if result.any():
            folds.append(result)
    return folds
