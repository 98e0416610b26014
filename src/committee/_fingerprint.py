"""Telling a training table from others, without keeping it."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def fingerprint(forest: Any, table: Any, target: NDArray[Any]) -> int:
    """Return a number for a training table: of its targets, and of its leaves in the first tree.

    Rows in another order, other rows or another target give another number, unless by chance.

    Parameters
    ----------
    forest : _core.Forest
        The trees.
    table : _core.Table
        The rows.
    target : ndarray of shape (n_rows, n_outputs)
        Class codes or numbers.

    Returns
    -------
    number : int
        In [0, 2**32).
    """
    leaves = forest.part(0, 1).apply(table)
    return zlib.crc32(np.ascontiguousarray(target).data, zlib.crc32(leaves.data))
