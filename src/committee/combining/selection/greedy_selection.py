"""Greedy forward selection: the next member is the one that helps the committee most.

Members may be taken again (Caruana et al. 2004), so that how often one was taken is its weight;
*bags* are selections from some of the members each, whose weights are averaged. Scores on the
rows used for the choice are too good; `cross_fitted` scores on other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.combining.selection.candidate_scores import (
    CommitteeScorer,
    MemberPredictions,
)
from committee.evaluation.early_stopping import fold_rows

_N_FOLDS = 5

# Scores that differ by less, relatively, are equal: the difference is rounding.
_EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Path:
    """Members in the order in which they joined.

    Parameters
    ----------
    members : ndarray of int64
        Their numbers; a member may join twice.
    scores : ndarray of float64
        The score of the committee after each.
    """

    members: NDArray[np.int64]
    scores: Floats

    @property
    def n_best(self) -> int:
        """The smallest number of steps with the best score."""
        return best_of(self.scores) + 1

    def weights(self, n_members: int, n_steps: int) -> Floats:
        """Return the weight of each member after some steps; they add up to one."""
        taken = self.members[:n_steps]
        return np.bincount(taken, minlength=n_members) / len(taken)


def best_of(scores: Floats) -> int:
    """Return the first of the best scores; NaN is the worst.

    Examples
    --------
    >>> best_of(np.array([np.nan, 0.3, 0.1 + 0.2]))
    1
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    best = float(known.max())
    slack = _EQUAL * abs(best) if np.isfinite(best) else 0.0
    return int((known >= best - slack).argmax())


def select_greedily(
    scorer: CommitteeScorer,
    n_steps: int,
    *,
    first: Sequence[int] = (),
    among: NDArray[np.int64] | None = None,
    step_weights: Floats | None = None,
    with_replacement: bool = True,
) -> Path:
    """Add members one after the other.

    Parameters
    ----------
    scorer : CommitteeScorer
        Scores committees.
    n_steps : int
        How many join.
    first : sequence of int, default=()
        Members that join first; the others are chosen.
    among : ndarray of int64 or None, default=None
        Members that may join; None is all.
    step_weights : ndarray of float64 or None, default=None
        What each member adds to its weight when it joins; None is equal weights.
    with_replacement : bool, default=True
        Whether a member may join more than once.

    Returns
    -------
    path : Path
        The members that joined, and the score after each step.
    """
    open_ = np.arange(scorer.n_members) if among is None else among
    step_weights = np.ones(scorer.n_members) if step_weights is None else step_weights
    weights = np.zeros(scorer.n_members)
    members, scores = [], []
    for number in range(n_steps):
        if number < len(first):
            member = first[number]
            weights[member] += step_weights[member]
            scores.append(scorer.of(weights))
        else:
            found = scorer.after(weights, step_weights, open_)
            place = best_of(found)
            member = int(open_[place])
            weights[member] += step_weights[member]
            scores.append(float(found[place]))
        members.append(member)
        if not with_replacement:
            open_ = open_[open_ != member]
    return Path(np.array(members, np.int64), np.array(scores))


@dataclass(frozen=True)
class SelectionRules:
    """How members are selected.

    Parameters
    ----------
    n_rounds : int
        Steps of each path.
    sorted_init : int or "auto"
        So many of the best members join first; "auto" takes as many as are best together.
    n_bags : int
        Number of paths.
    bag_fraction : float
        Share of the members that each of several paths may choose from.
    seed : int
        Decides which these are.
    """

    n_rounds: int
    sorted_init: int | str
    n_bags: int
    bag_fraction: float
    seed: int

    def paths(self, scorer: CommitteeScorer) -> list[Path]:
        """Return the path of each bag."""
        found = []
        for bag in range(self.n_bags):
            among = self._bag(bag, scorer.n_members)
            first = self._first(scorer, among)
            found.append(select_greedily(scorer, self.n_rounds, first=first, among=among))
        return found

    def _bag(self, bag: int, n_members: int) -> NDArray[np.int64]:
        """Return the members of a bag, ascending; a single bag has them all."""
        n_drawn = max(1, int(np.ceil(self.bag_fraction * n_members)))
        if self.n_bags == 1 or n_drawn >= n_members:
            return np.arange(n_members)
        generator = np.random.default_rng([self.seed, bag])
        return np.sort(generator.permutation(n_members)[:n_drawn])

    def _first(self, scorer: CommitteeScorer, among: NDArray[np.int64]) -> list[int]:
        if self.sorted_init == 0:
            return []
        scores = np.nan_to_num(scorer.alone()[among], nan=-np.inf)
        order = among[np.argsort(-scores, kind="stable")][: self.n_rounds]
        if isinstance(self.sorted_init, str):
            together = select_greedily(scorer, len(order), first=order.tolist())
            return [int(member) for member in order[: together.n_best]]
        return [int(member) for member in order[: self.sorted_init]]


def mean_weights(paths: Sequence[Path], n_members: int, n_steps: int | None = None) -> Floats:
    """Return the mean weights of some paths, each up to its best step or after `n_steps`."""
    parts = [path.weights(n_members, n_steps or path.n_best) for path in paths]
    total: Floats = sum(parts[1:], start=parts[0])
    return np.asarray(total / total.sum())


def cross_fitted(
    predictions: MemberPredictions,
    trial: Callable[[MemberPredictions, MemberPredictions], Floats],
    seed: int,
    groups: Any = None,
) -> Floats | None:
    """Score committees on rows that were not used for their choice.

    The rows are dealt into folds. Committees are chosen without a fold, and scored on it.

    Parameters
    ----------
    predictions : MemberPredictions
        Predictions of the members.
    trial : callable
        Given the predictions on rows used for the choice and on the others, returns scores.
    seed : int
        Decides which rows are in which fold.
    groups : array-like or None, default=None
        Rows of a group are in the same fold.

    Returns
    -------
    scores : ndarray of float64 or None
        Means over the folds, by the weights of their rows. None if rows or groups are too few, or
        the metric is not defined on so few of them.
    """
    target, n_rows = predictions.target, predictions.n_rows
    is_single = target.codes is not None and target.n_outputs == 1
    classes = target.codes[:, 0] if is_single and target.codes is not None else None
    found = []
    try:
        folds = fold_rows(
            n_rows, _N_FOLDS, np.random.default_rng(seed), classes=classes, groups=groups
        )
        if len(folds) < 2:
            return None
        for fold in folds:
            rest = np.setdiff1d(np.arange(n_rows), fold)
            found.append(trial(predictions.part(rest), predictions.part(fold)))
    except ValueError:
        return None
    sizes = [float(predictions.shares[fold].sum()) for fold in folds]
    return np.asarray(np.average(np.array(found), axis=0, weights=sizes))
