"""Out-of-bag rows of a forest: its estimates, when to stop growing, and what is kept of them.

The engine adds up predictions of trees for the rows they have not drawn; the draws are made again
from the plan. Everything else is that of all bagged ensembles, see `evaluation/oob.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.sampling import row_seed
from committee.base.work import Progress
from committee.evaluation.oob import OobEstimates, OobRecorder, curve_points
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import NOTHING, Part, array

if TYPE_CHECKING:
    from committee import _core
    from committee.forests.fit import ForestJob

# Early stopping looks at the error whenever so many trees have been added: single trees would make
# a curve of noise, and many of them a late stop.
TREES_PER_LOOK = 10


class ForestTally:
    """Sums of predictions of trees for the rows they have not drawn.

    Parameters
    ----------
    job : ForestJob
        Has the table and the draws.
    target : ScoredTarget
        The training target.
    is_hard : bool
        Add up votes instead of probabilities.
    """

    def __init__(self, job: ForestJob, target: ScoredTarget, is_hard: bool) -> None:
        self.sums = np.zeros((target.n_rows, target.n_values))
        self.votes = np.zeros(target.n_rows, np.uint32)
        self._job, self._target, self._is_hard = job, target, is_hard

    def add(self, forest: _core.Forest, begin: int, end: int) -> Floats:
        """Add the trees from `begin` to before `end`; return the error of each by itself.

        The error is NaN for a tree that left no row out.
        """
        errors, weights = self._add(forest, begin, end, self.sums, self.votes, self._target.weights)
        return np.where(weights > 0, errors, np.nan)

    def add_rows_without_weight(self, forest: _core.Forest) -> None:
        """Add all trees for the rows of weight zero, which `add` passes over."""
        is_absent = ~self._target.counted
        if is_absent.any():
            sums, votes = np.zeros_like(self.sums), np.zeros_like(self.votes)
            self._add(forest, 0, forest.n_trees, sums, votes, None)
            self.sums[is_absent], self.votes[is_absent] = sums[is_absent], votes[is_absent]

    def means(self) -> Floats:
        """Return the mean predictions; NaN for rows that every tree has drawn."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.sums / self.votes[:, None])

    def error(self) -> float:
        """Return the error of the trees so far: one minus accuracy, or one minus R2."""
        rows = np.flatnonzero((self.votes > 0) & self._target.counted)
        if len(rows) == 0:
            return np.inf
        error = 1.0 - OobMetric(self._target, True).score(self.means(), rows)
        return np.inf if np.isnan(error) else error

    def _add(
        self,
        forest: _core.Forest,
        begin: int,
        end: int,
        sums: Floats,
        votes: NDArray[np.uint32],
        weights: Floats | None,
    ) -> tuple[Floats, Floats]:
        sampler = self._job.draws.rows
        assert sampler is not None
        return forest.add_out_of_bag(
            self._job.table,
            sampler.plan,
            row_seed(sampler.seed),
            sums,
            votes,
            begin=begin,
            end=end,
            classes=self._target.codes,
            reals=self._target.reals,
            weights=weights,
            hard=self._is_hard,
            n_threads=self._job.n_threads,
        )


def is_flat(errors: list[float], n_looks: int, tol: float) -> bool:
    """Whether the last looks at the error show no improvement on the best one before them.

    Parameters
    ----------
    errors : list of float
        The error at each look.
    n_looks : int
        How many looks without an improvement are enough.
    tol : float
        Smallest relative decrease that is an improvement.

    Examples
    --------
    >>> is_flat([0.5, 0.3, 0.2, 0.21, 0.2], 2, tol=0.01)
    True
    >>> is_flat([0.5, 0.3, 0.2, 0.21, 0.18], 2, tol=0.01)
    False
    """
    if len(errors) <= n_looks:
        return False
    return min(errors[-n_looks:]) >= (1.0 - tol) * min(errors[:-n_looks])


def grow_until_flat(
    job: ForestJob,
    kept: _core.Forest | None,
    n_most: int,
    tally: ForestTally,
    n_looks: int,
    tol: float,
    progress: Progress,
) -> _core.Forest:
    """Grow trees until the out-of-bag error is flat, at most `n_most`.

    When to stop does not depend on the number of threads: with many of them trees are grown ahead
    of the looks, and those beyond the stop are dropped.
    """
    forest = kept
    n_kept = 0 if kept is None else kept.n_trees
    n_ahead = -(-job.n_threads // TREES_PER_LOOK) * TREES_PER_LOOK
    n_seen = 0
    errors: list[float] = []
    while n_seen < n_most and not is_flat(errors, n_looks, tol):
        end = min(n_seen + TREES_PER_LOOK, n_most)
        if forest is None or forest.n_trees < end:
            forest = job.grow_up_to(forest, min(n_seen + n_ahead, n_most), progress)
        tally.add(forest, n_seen, end)
        errors.append(tally.error())
        n_seen = end
    assert forest is not None
    return forest.part(0, max(n_seen, n_kept))


def record_out_of_bag(
    job: ForestJob, target: ScoredTarget, forest: _core.Forest, oob_score: Any, is_hard: bool
) -> OobEstimates:
    """Return the out-of-bag estimates of a grown forest; warn if rows have none."""
    recorder = OobRecorder(target, oob_score, forest.n_trees)
    tally = ForestTally(job, target, is_hard)
    begin = 0
    for end in curve_points(forest.n_trees):
        errors = tally.add(forest, begin, end)
        if end == forest.n_trees:
            tally.add_rows_without_weight(forest)
        recorder.add_segment(tally.sums, tally.votes, errors, is_total=True)
        begin = end
    train = forest.predict(job.table, hard=is_hard, n_threads=job.n_threads) / forest.n_trees
    return recorder.finish(train)


@register("TrainingRecord")
@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """What a forest keeps of its training rows, for intervals, quantiles and sets.

    Parameters
    ----------
    classes : ndarray of int32, shape (n_rows, n_outputs), or None
        Class codes; None for regression.
    reals : ndarray of float64, shape (n_rows, n_outputs), or None
        Regression targets; None for classification.
    weights : ndarray of float64 or None
        Sample weights.
    oob_values : ndarray of float64, shape (n_rows, n_values), or None
        Mean over the trees that have not drawn the row, NaN if there are none; None if trees learn
        from all rows.
    leaves : ndarray of unsigned int, shape (n_rows, n_trees)
        Number of the leaf of each row among the leaves of each tree.
    """

    classes: NDArray[np.int32] | None
    reals: Floats | None
    weights: Floats | None
    oob_values: Floats | None
    leaves: NDArray[np.unsignedinteger]

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.leaves)

    _stored_parts: ClassVar[dict[str, Part]] = {
        "classes": NOTHING | array("i4", "rows", "outputs", low=0),
        "reals": NOTHING | array("f8", "rows", "outputs", finite=True),
        "weights": NOTHING | array("f8", "rows", low=0.0, finite=True),
        "oob_values": NOTHING | array("f8", "rows", "values"),
        "leaves": array("u", "rows", "trees"),
    }

    def _validate_loaded(self) -> None:
        if (self.classes is None) == (self.reals is None):
            raise ValueError("the target is missing")

    def fits(self, forest: _core.Forest, n_classes: list[int] | None, n_outputs: int) -> bool:
        """Whether leaves, targets and values are those of such a forest."""
        target = self.reals if n_classes is None else self.classes
        values = self.oob_values
        return (
            target is not None
            and self.leaves.shape[1] == forest.n_trees
            and bool((self.leaves < forest.leaf_counts()).all())
            and target.shape[1] == n_outputs
            and (n_classes is None or bool((target < n_classes).all()))
            and (values is None or values.shape[1] == forest.n_values)
        )


def keep_training(
    job: ForestJob, target: ScoredTarget, forest: _core.Forest, oob_values: Floats | None
) -> TrainingRecord:
    """Return what is kept of the training rows."""
    leaves = forest.apply(job.table, True, n_threads=job.n_threads)
    narrow = np.min_scalar_type(int(forest.leaf_counts().max()) - 1)
    return TrainingRecord(
        target.codes, target.reals, target.weights, oob_values, leaves.astype(narrow)
    )
