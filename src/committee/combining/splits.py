"""Splits of rows into those that members are fitted to and those that they predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.arrays import Rows
from committee.evaluation.early_stopping import fold_rows, held_out_rows

if TYPE_CHECKING:
    from committee.combining.level_one import PlanRows

Split = tuple[Rows, Rows]


def hold_out_chain(share: float, rows: PlanRows, n_layers: int) -> list[list[Split]]:
    """Deal the rows into one part more than there are layers.

    Each layer is fitted to its own part and predicts all parts that follow.
    """
    generator = np.random.default_rng(rows.seed)
    classes = rows.y.astype(np.int32) if rows.is_classifier else None
    options: dict[str, Any] = {"classes": classes, "groups": rows.groups}
    n_present = len(rows.present)
    if n_present < n_layers + 1:
        raise ValueError(
            f"a share of rows to hold out for {n_layers} layers needs more than {n_layers} rows; "
            f"got {n_present} sample(s)"
        )
    held_out = held_out_rows(rows.n_rows, share, generator, weights=rows.weights, **options)
    parts = [np.setdiff1d(rows.present, held_out), held_out]
    if n_layers > 1:
        weights = np.zeros(rows.n_rows)
        weights[held_out] = 1.0
        later = fold_rows(rows.n_rows, n_layers, generator, weights=weights, **options)
        parts = [parts[0], *later]
    if len(parts) <= n_layers:
        raise ValueError(
            f"cv={share} holds out {len(held_out)} rows, too few for {n_layers} layers; hold out "
            "a larger share"
        )
    return [
        [(parts[layer], np.sort(np.concatenate(parts[layer + 1 :])))] for layer in range(n_layers)
    ]


def within(splits: Sequence[Split], rows: Rows, n_rows: int) -> list[Split]:
    """Return splits of a part of the rows, as places in that part."""
    place = np.full(n_rows, -1)
    place[rows] = np.arange(len(rows))
    return placed(splits, place)


def placed(splits: Sequence[Split], place: Rows) -> list[Split]:
    """Return splits with rows at other places; rows at place -1 are left out."""
    found = []
    for train, test in splits:
        train, test = place[train], place[test]
        train, test = train[train >= 0], test[test >= 0]
        if len(train) and len(test):
            found.append((train, test))
    return found
