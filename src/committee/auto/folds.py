"""Folds of the rows that all candidates share."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.base.arrays import Rows
from committee.evaluation.content_order import ContentOrder, row_keys, with_columns
from committee.evaluation.scored_target import ScoredTarget
from committee.tables.source import Source
from committee.tables.table import read_table

# Up to so many rows, so many folds; of more rows a part is held out once.
N_FOLDS = ((59, 5), (60_000, 8), (150_000, 4))
_HELD_OUT = 0.1  # share of the rows

Split = tuple[Rows, Rows]


def shared_splits(features: Source, target: ScoredTarget, groups: Any, seed: int) -> list[Split]:
    """Return the rows outside and inside of each fold."""
    n_rows = target.n_rows
    n_folds = next((folds for limit, folds in N_FOLDS if n_rows <= limit), 1)
    everything = np.arange(n_rows)
    tests = _folds(features, target, groups, min(n_folds, n_rows // 2), seed)
    return [(np.setdiff1d(everything, test), test) for test in tests]


def _folds(
    features: Source, target: ScoredTarget, groups: Any, n_folds: int, seed: int
) -> list[Rows]:
    """Deal the rows into folds by what they hold, so that copies of a row are together."""
    keys = row_keys(*read_table(features), seed)
    counts = np.ones(target.n_rows, np.int64)
    if target.codes is None:
        order = ContentOrder(keys, counts, with_columns(keys, target.table), groups=groups)
    else:
        order = ContentOrder(keys, counts, classes=target.codes[:, 0], groups=groups)
    parts = order.folds(n_folds) if n_folds > 1 else [order.part(_HELD_OUT)]
    return [np.flatnonzero(part) for part in parts]
