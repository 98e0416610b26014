"""What is fitted in a round of boosting: trees of the engine, or any regressor.

A learner looks at the objective and the scores of all training rows, fits one *member* for each
column of scores, and adds what they say to the scores, in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.base.sampling import member_seed, seeded_clone
from committee.boosting.monotone_steps import monotone_steps
from committee.losses.loss import Loss
from committee.losses.objective import Objective, Pair
from committee.tables.native_table import AnyTable

if TYPE_CHECKING:
    from committee import _core

Floats = NDArray[np.float64]
Sample = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class TreeLearner:
    """Fits a tree of the engine for each column of scores.

    Parameters
    ----------
    booster : Booster
        The engine, with the binned table and the weights.
    table : _core.Table
        The table itself.
    learning_rate : float
        Factor of each step.
    seed : int
        Seed of the ensemble.
    ccp_alpha : float
        Strength of pruning, in units of the mean loss.
    directions : list of int or None
        Monotone constraints.
    n_threads : int
        Threads to use.
    """

    booster: Any
    table: _core.Table
    learning_rate: float
    seed: int
    ccp_alpha: float = 0.0
    directions: Sequence[int] | None = None
    n_threads: int = 1

    def fit(
        self,
        objective: Objective,
        scores: Floats,
        number: int,
        sample: Sample | None,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[list[_core.Tree], float]:
        """Grow the trees of round `number`, and add their steps to the scores.

        Return the trees and a bound of what the round has added to any score.
        """
        pairs = objective.gradients(scores)
        loss = objective.losses[0]
        # Leaves of all columns are found from the scores before the round.
        before = scores.copy(order="F") if loss.refits_leaves and loss.n_scores > 1 else scores
        trees, longest = [], 0.0
        for column, pair in enumerate(pairs):
            seed = member_seed(self.seed, number * len(pairs) + column)
            tree, leaves = self._grow(pair, seed, sample)
            tree, values = self._with_steps(tree, leaves, objective, before, column, sample)
            if leaves is None:
                self.booster.add_to(tree, scores[:, column], self.n_threads)
            else:
                scores[:, column] += values[leaves]
            trees.append(tree)
            longest = max(longest, *_ends(values))
        return trees, longest

    def say(self, tree: _core.Tree, table: _core.Table) -> Floats:
        """Return what a tree adds to the scores of some rows."""
        return tree.predict(table, self.n_threads)[:, 0]

    def _grow(
        self, pair: Pair, seed: int, sample: Sample | None
    ) -> tuple[_core.Tree, NDArray[np.uint32] | None]:
        """Return a tree, and the leaves of all rows if the booster no longer knows them."""
        tree = self.booster.grow(
            *pair, learning_rate=self.learning_rate, seed=seed, sample=sample, progress=None
        )
        if self.ccp_alpha == 0:
            return tree, None
        tree = tree.prune(self.ccp_alpha)
        return tree, tree.apply(self.table, self.n_threads)

    def _with_steps(
        self,
        tree: _core.Tree,
        leaves: NDArray[np.uint32] | None,
        objective: Objective,
        scores: Floats,
        column: int,
        sample: Sample | None,
    ) -> tuple[_core.Tree, Floats]:
        """Return the tree with the steps that the loss wants, and these steps, one a node.

        Newton steps stay as they are, unless they are longer than is safe.
        """
        loss, _ = objective.loss_of(column)
        if loss.refits_leaves:
            leaves = self.booster.leaves() if leaves is None else leaves
            rows = slice(None) if sample is None else np.flatnonzero(sample)
            steps = objective.leaf_values(scores, column, rows, leaves, tree.n_nodes)
            if self.directions is not None:
                steps = monotone_steps(tree.arrays(), steps, self.directions)
            with np.errstate(over="ignore"):
                return self._valued(tree, self.learning_rate * steps)
        shrunk = tree.arrays()["values"][:, 0]
        if type(loss).safe_steps is Loss.safe_steps or self.learning_rate == 0:
            return tree, shrunk
        shorter = shorter_steps(shrunk, loss.safe_steps(shrunk / self.learning_rate))
        return (tree, shrunk) if shorter is None else self._valued(tree, shorter)

    def _valued(self, tree: _core.Tree, values: Floats) -> tuple[_core.Tree, Floats]:
        values = np.ascontiguousarray(values)
        if not np.isfinite(values).all():
            raise left_range()
        return self.booster.with_leaf_values(tree, values), values


def left_range() -> ValueError:
    """Return the error of scores that grow without bounds."""
    return ValueError(
        "the scores have left the range of float64: lower learning_rate, or check that the "
        "gradients of the loss are right"
    )


def _ends(values: Floats) -> tuple[float, float]:
    """Return the size of the least and of the largest value; infinite if one is not a number."""
    ends = abs(float(values.min())), abs(float(values.max()))
    return ends if np.isfinite(ends[0] + ends[1]) else (np.inf, np.inf)


def shorter_steps(shrunk: Floats, safe: Floats) -> Floats | None:
    """Return shrunk Newton steps, none longer than the safe one; None if all are short enough.

    The loss falls all the way to a safe step, so that a shorter one is safe too: where the
    learning rate has made steps short, nothing changes.

    Examples
    --------
    >>> shorter_steps(np.array([0.1, -5.0]), np.array([0.7, -3.0])).tolist()
    [0.1, -3.0]
    >>> shorter_steps(np.array([0.1]), np.array([0.7]))
    """
    too_long = np.abs(shrunk) > np.abs(safe)
    return np.where(too_long, safe, shrunk) if too_long.any() else None


@dataclass(frozen=True, eq=False)
class AnyLearner:
    """Fits a regressor to the negative gradients: the residuals, for squared error.

    Parameters
    ----------
    estimator : regressor
        The template.
    table : AnyTable
        The training table.
    learning_rate : float
        Factor of what members say.
    seed : int
        Seed of the ensemble.
    weighs : bool
        Whether members are told the weights.
    rows : ndarray of int or None
        Rows to learn from, without those held out; None: all.
    """

    estimator: Any
    table: AnyTable
    learning_rate: float
    seed: int
    weighs: bool
    rows: NDArray[np.intp] | None = None

    def fit(
        self,
        objective: Objective,
        scores: Floats,
        number: int,
        sample: Sample | None,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[list[Any], float]:
        """Fit the members of round `number`, and add what they say to the scores.

        Return the members and a bound of what the round has added to any score.
        """
        pairs = objective.gradients(scores)
        rows = self.rows if sample is None else np.flatnonzero(sample)
        table = self.table.take(rows, None)
        chosen = slice(None) if rows is None else rows
        options = {}
        if self.weighs and objective.weights is not None:
            options["sample_weight"] = objective.weights[chosen]
        members, longest = [], 0.0
        for column, (gradient, _) in enumerate(pairs):
            index = number * len(pairs) + column
            member = seeded_clone(self.estimator, member_seed(self.seed, index))
            member.fit(table, -gradient[chosen], **options)
            predicted = self.say(member, self.table.native)
            scores[:, column] += predicted
            members.append(member)
            longest = max(longest, *_ends(predicted))
        return members, longest

    def say(self, member: Any, table: Any) -> Floats:
        """Return what a member adds to the scores of some rows."""
        values = np.asarray(member.predict(table), np.float64)
        return self.learning_rate * values.reshape(len(values))
