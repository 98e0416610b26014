"""Leaves of trees that are there, estimated again on more rows than the trees were grown on.

A model of a fold has not seen its fold, so that predictions of these rows say how good it is. When
they have done so, the structure of its trees can stay and the steps of the leaves be those of all
rows: round by round, from the derivatives at the scores of the rounds before, as in the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from committee import _core
from committee.base.arrays import Floats
from committee.boosting.rounds import BoostingJob
from committee.boosting.tree_learner import TreeLearner
from committee.losses.loss import Loss
from committee.losses.objective import Objective, Pair


def has_newton_leaves(job: BoostingJob) -> bool:
    """Whether leaves are plain Newton steps, which `with_leaves_anew` can find again."""
    learner, loss = job.learner, type(job.objective.losses[0])
    return (
        isinstance(learner, TreeLearner)
        and learner.directions is None
        and not job.objective.losses[0].refits_leaves
        and loss.hessian_unit is Loss.hessian_unit
    )


def with_leaves_anew(
    rounds: Sequence[Sequence[_core.Tree]],
    job: BoostingJob,
    objective: Objective,
    weights: Floats | None,
    scores: Floats,
    penalties: tuple[float, float],
) -> list[list[_core.Tree]]:
    """Return the trees of rounds with leaves that all rows have a part in.

    Parameters
    ----------
    rounds : sequence of sequences of Tree
        A tree for each column of scores.
    job : BoostingJob
        The fit that has made them.
    objective : Objective
        Of all rows.
    weights : ndarray of float64 or None
        As a learner takes them; None is one for each row.
    scores : ndarray of float64, shape (n_rows, n_columns), Fortran-ordered
        Before the first round; those after the last one are left there.
    penalties : (float, float)
        The penalties l1 and l2.

    Returns
    -------
    rounds : list of lists of Tree
        Leaves that no row reaches stay as they are.
    """
    learner: TreeLearner = job.learner
    found = []
    for trees in rounds:
        pairs = objective.gradients(scores)
        anew = []
        for column, (tree, pair) in enumerate(zip(trees, pairs, strict=True)):
            leaves = tree.apply(learner.table, learner.n_threads)
            values = _values(tree, leaves, pair, weights, learner, objective.losses[0], penalties)
            scores[:, column] += values[leaves]
            anew.append(learner.booster.with_leaf_values(tree, values))
        found.append(anew)
    return found


def _values(
    tree: _core.Tree,
    leaves: Any,
    pair: Pair,
    weights: Floats | None,
    learner: TreeLearner,
    loss: Loss,
    penalties: tuple[float, float],
) -> Floats:
    """Return the values of all nodes, of which the leaves are steps."""
    gradient, hessian = pair
    if weights is not None:
        gradient = gradient * weights
        hessian = weights if hessian is None else hessian * weights
    values = tree.arrays()["values"][:, 0].copy()
    slope = np.bincount(leaves, gradient, minlength=len(values))
    curve = np.bincount(leaves, hessian, minlength=len(values)) + penalties[1]
    is_reached = (np.bincount(leaves, minlength=len(values)) > 0) & (curve > 0)
    shrunk = np.sign(slope) * np.maximum(np.abs(slope) - penalties[0], 0.0)
    steps = loss.safe_steps(-shrunk[is_reached] / curve[is_reached])
    raw = -shrunk[is_reached] / curve[is_reached] * learner.learning_rate
    values[is_reached] = np.where(np.abs(raw) > np.abs(steps), steps, raw)
    return values
