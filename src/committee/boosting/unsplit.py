"""The warning of a fit none of whose trees could be split: every row gets the same prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from committee import _core
from committee.base.warn import warn
from committee.boosting.defaults import BoostingChoices
from committee.boosting.training_data import TrainingRows


def warn_if_unsplit(
    name: str, rounds: Sequence[Sequence[Any]], rows: TrainingRows, choices: BoostingChoices
) -> None:
    """Warn if there was something to learn, and every tree is a single leaf.

    Parameters
    ----------
    name : str
        The class of the estimator.
    rounds : sequence of sequences of Tree
        The members of each round; weak learners of the user's are not looked at.
    rows : TrainingRows
        The rows that they were fitted to.
    choices : BoostingChoices
        The limits of the trees.
    """
    members = (member for members in rounds for member in members)
    if not all(isinstance(tree, _core.Tree) and tree.n_nodes == 1 for tree in members):
        return
    if not _varies(rows):
        return  # one prediction is the right one
    n_drawn, needed = max(1, int(rows.n_counted * choices.subsample)), 2 * choices.min_samples_leaf
    if n_drawn < needed:
        reason = (
            f"a split needs {needed} rows with min_samples_leaf={choices.min_samples_leaf}, and "
            f"a round has {n_drawn}"
        )
    else:
        reason = (
            "no feature differs between rows so that a split would lower the loss within the "
            "limits that were set (min_samples_leaf, min_samples_split, min_child_weight, "
            "min_impurity_decrease and their like)"
        )
    warn(f"{name} predicts the same for every row, because no tree could be split: {reason}.")


def _varies(rows: TrainingRows) -> bool:
    """Whether rows to learn from differ in the target."""
    present = rows.target.table[rows.repetitions > 0]
    return len(present) > 1 and bool((present != present[0]).any())
