"""Growing a forest: what decides its trees, and when there are enough of them.

A `ForestJob` holds everything that decides the trees. Tree number i depends on the job and on i
only, so that trees can be grown in any portions: all at once, more of them later, or in batches
until the out-of-bag error is flat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.sampling import RowSampler, row_seed, tree_seed
from committee.base.work import Progress
from committee.trees.engine_settings import EngineTarget

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ForestDraws:
    """What trees draw, and the seed of it all.

    Parameters
    ----------
    seed : int
        Each use of it derives a seed of its own.
    rows : RowSampler or None
        Rows of each tree; None if every tree learns from all rows.
    features : RowSampler or None
        Features of each tree; None if features are drawn at each node, or not at all.
    """

    seed: int
    rows: RowSampler | None
    features: RowSampler | None

    @property
    def leaves_rows_out(self) -> bool:
        """Whether there are out-of-bag rows."""
        return self.rows is not None and self.rows.leaves_rows_out

    def is_like(self, other: ForestDraws) -> bool:
        """Whether both draw the same."""
        pairs = ((self.rows, other.rows), (self.features, other.features))
        return self.seed == other.seed and all(
            a.draws_like(b) if a is not None and b is not None else a is b for a, b in pairs
        )


@dataclass(frozen=True, eq=False)
class ForestJob:
    """Everything that decides the trees of a forest.

    Parameters
    ----------
    table : _core.Table
        The training table.
    dataset : _core.BinnedDataset
        Its codes.
    target : EngineTarget
        Classes or numbers.
    settings : dict
        Settings of a tree.
    draws : ForestDraws
        Rows and features of each tree.
    weights : ndarray of float64 or None
        Weights of the rows in every tree. Weights that are draw probabilities are not among them.
    counts : ndarray of uint32 or None
        Repetitions of the rows; None takes them from the weights.
    balance_classes : bool
        Give the classes of each sample the same weight.
    ccp_alpha : float
        Strength of pruning.
    n_threads : int
        Threads to use; the trees do not depend on it.
    """

    table: _core.Table
    dataset: _core.BinnedDataset
    target: EngineTarget
    settings: dict[str, Any]
    draws: ForestDraws
    weights: Floats | None
    counts: NDArray[np.uint32] | None
    balance_classes: bool
    ccp_alpha: float
    n_threads: int

    def grow(self, begin: int, end: int, progress: Callable[[int], object] | None) -> _core.Forest:
        """Grow the trees with numbers from `begin` to before `end`."""
        rows, features = self.draws.rows, self.draws.features
        return _core.grow_forest(
            self.dataset,
            end - begin,
            classes=self.target.classes,
            n_classes=self.target.n_classes,
            reals=self.target.reals,
            weights=self.weights,
            counts=self.counts,
            settings=self.settings,
            first_tree=begin,
            tree_seed=tree_seed(self.draws.seed),
            plan=None if rows is None else rows.plan,
            row_seed=0 if rows is None else row_seed(rows.seed),
            feature_plan=None if features is None else features.plan,
            feature_seed=0 if features is None else row_seed(features.seed),
            balance_classes=self.balance_classes,
            ccp_alpha=self.ccp_alpha,
            n_threads=self.n_threads,
            progress=progress or _nothing,
        )

    def grow_up_to(self, kept: _core.Forest | None, end: int, progress: Progress) -> _core.Forest:
        """Return a forest of `end` trees, or more if so many are kept from an earlier fit."""
        begin = 0 if kept is None else kept.n_trees
        if kept is not None and begin >= end:
            return kept
        report = progress.counting_from(begin)
        grown = self.grow(begin, end, report)
        progress.show(end)
        if kept is None:
            return grown
        try:
            return _core.Forest.join([kept, grown])
        except ValueError as error:
            raise ValueError(
                "warm_start=True cannot add trees of another criterion; set warm_start=False to "
                "start anew"
            ) from error


def _nothing(n_done: int) -> None:
    """Run some Python now and then, so that a thread other than the main one can be interrupted."""
