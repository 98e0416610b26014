"""Telling a training table from others, without keeping it."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.tables.native_table import AnyTable


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
    leaves: Any = forest.part(0, 1).apply(table)
    return zlib.crc32(np.ascontiguousarray(target).data, zlib.crc32(leaves.data))


def data_fingerprint(table: AnyTable, target: NDArray[Any]) -> int:
    """Return a number for the data of members of any kind: of targets, and of arrays of numbers.

    Cells of other tables are not looked at, because reading them is the work of the members.

    Examples
    --------
    >>> table, target = AnyTable([[1.0], [2.0]]), np.array([[0.0], [1.0]])
    >>> data_fingerprint(table, target) == data_fingerprint(table, 1 - target)
    False
    """
    number = zlib.crc32(np.ascontiguousarray(target).data)
    cells = table.native
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub":
        number = zlib.crc32(np.ascontiguousarray(cells).data, number)
    return number
