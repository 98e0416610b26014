"""Folds of the rows that all candidates share."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.base.arrays import Rows
from committee.evaluation.content_order import ContentOrder, row_keys, with_columns
from committee.evaluation.scored_target import ScoredTarget
from committee.tables.source import Source
from committee.tables.table import read_table

_N_FOLDS, _FEW_FOLDS = 8, 5
_FEW_ROWS = 60  # below them there are few folds

Split = tuple[Rows, Rows]


def shared_splits(features: Source, target: ScoredTarget, groups: Any, seed: int) -> list[Split]:
    """Return the rows outside and inside of each fold."""
    n_rows = target.n_rows
    n_folds = _N_FOLDS if n_rows >= _FEW_ROWS else min(_FEW_FOLDS, n_rows // 2)
    everything = np.arange(n_rows)
    tests = _folds(features, target, groups, n_folds, seed)
    return [(np.setdiff1d(everything, test), test) for test in tests]


def _folds(
    features: Source, target: ScoredTarget, groups: Any, n_folds: int, seed: int
) -> list[Rows]:
    """Deal the rows into folds by what they hold: copies of a row are in the same fold."""
    keys = row_keys(*read_table(features), seed)
    counts = np.ones(target.n_rows, np.int64)
    if target.codes is None:
        order = ContentOrder(keys, counts, with_columns(keys, target.table), groups=groups)
    else:
        order = ContentOrder(keys, counts, classes=target.codes[:, 0], groups=groups)
    return [np.flatnonzero(part) for part in order.folds(n_folds)]
