"""Which categories boosting encodes, and what is averaged by their levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.boosting.target_statistics import (
    TargetStatistics,
    columns_to_encode,
    encode_training,
)
from committee.evaluation.scored_target import OobTarget
from committee.losses.objective import Objective
from committee.tables.table import TableSchema

if TYPE_CHECKING:
    from committee import _core

Floats = NDArray[np.float64]

# Slopes of so many classes become numbers, those of the heaviest ones: a feature each.
_MOST_CLASSES = 10


def encode_categories(
    choice: str,
    table: _core.Table,
    schema: TableSchema,
    objective: Objective,
    target: OobTarget,
    seed: int,
) -> tuple[TargetStatistics | None, _core.Table, TableSchema]:
    """Put target statistics in the place of the categories that shall have them.

    Parameters
    ----------
    choice : {"auto", "subsets", "target"}
        Which categories.
    table : _core.Table
        The training table.
    schema : TableSchema
        Its features.
    objective : Objective
        The loss, the target and the weights of the rows.
    target : OobTarget
        The target, for the names of classes.
    seed : int
        Of the random orders of rows.

    Returns
    -------
    statistics : TargetStatistics or None
        What levels become; None if no category is encoded.
    table : _core.Table
        What the engine learns from.
    schema : TableSchema
        The user's features, with what was seen of missing values in those that are encoded.
    """
    weights = objective.weights
    features = columns_to_encode(choice, table, schema, weights)
    if not features:
        return None, table, schema
    chosen, names = _numbers(objective, target)
    slopes = slopes_of(objective)[:, chosen]
    return encode_training(table, schema, features, slopes, weights, names, seed)


def slopes_of(objective: Objective) -> Floats:
    """Return the negative gradients at the best constants, one column a score.

    They say what rows say about the target in the terms of the loss: for squared error the target
    minus its mean, for classes one or zero minus the share of the class. An outlier that moves no
    median moves no statistic either.

    Examples
    --------
    >>> from committee.losses import BinaryLogLoss
    >>> rows = np.asfortranarray([[1.0], [0.0], [0.0], [0.0]])
    >>> slopes_of(Objective((BinaryLogLoss(),), rows, None))[:, 0].round(6).tolist()
    [0.75, -0.25, -0.25, -0.25]
    """
    scores = np.empty((len(objective.y), objective.n_columns), order="F")
    scores[:] = objective.initial_scores()
    pairs = objective.prepared(scores).gradients(scores)
    return -np.column_stack([gradient for gradient, _ in pairs])


def _numbers(objective: Objective, target: OobTarget) -> tuple[list[int], tuple[str, ...]]:
    """Return the columns of scores whose slopes become statistics, and the names of these."""
    n_columns = objective.n_columns
    chosen, what = list(range(n_columns)), "target statistic"
    if n_columns == 1:
        return chosen, (what,)
    labels: list[Any] = [f"output {k}" for k in chosen]
    if target.classes:
        assert target.codes is not None
        totals = np.bincount(target.codes[:, 0], objective.weights, n_columns)
        chosen = sorted(np.argsort(-totals, kind="stable")[:_MOST_CLASSES].tolist())
        labels = target.classes[0].tolist()
    return chosen, tuple(f"{what} of {labels[k]}" for k in chosen)
