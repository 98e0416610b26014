"""What predictions cost, counted from what members are made of.

Seconds for 10,000 rows on one core of a server of 2023, by formulas: a choice of members that rests
on them is the same on any machine. They were fitted to measured times (docs/guide/committee.md) and
are within a factor of two to three of these. Reading text, which happens once, is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee.auto.fold_members import FoldMember
from committee.auto.portfolio import MATRIX
from committee.auto.selection import Selection
from committee.base.arrays import Floats, Rows
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.nets.net_model import NetModel

_READING = 2.6e-5  # of a feature, by each model
_ENCODING = 1.0e-4  # of a feature as a column of the matrix
_SMALL_TREE, _SMALL_LEAF = 2.0e-6, 1.2e-7  # of a tree that is not walked, and of each of its leaves
_LEVEL, _FAR_LEAF = 2.7e-5, 2.5e-8  # of a level of other trees; of a leaf, which may be far away
_WEIGHT = 2.5e-7  # of a weight between units of a net, for each member of the net
_NUMBER = 1.0e-5  # of a number that a model of another kind consists of
_UNKNOWN = 0.2  # of a model that nothing is known of

_MOST_MASKED = 64  # leaves of trees that are not walked

Select = Callable[[MemberPredictions, Rows], Selection]


def prediction_cost(member: Any, reads: str, n_features: int) -> float:
    """Return the seconds that a fitted member needs for 10,000 rows.

    Parameters
    ----------
    member : estimator
        A model, or the mean of models of folds.
    reads : str
        What it learns from.
    n_features : int
        Features of the table.

    Examples
    --------
    >>> from committee import RandomForestRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> small, large = (RandomForestRegressor(k, random_state=0).fit(X, X[:, 0]) for k in (5, 50))
    >>> prediction_cost(large, "features", 2) > 5 * prediction_cost(small, "features", 2)
    True
    """
    models = getattr(member, "estimators", [member])
    cost = _ENCODING * n_features if reads == MATRIX else 0.0
    return cost + sum(_READING * n_features + _model_cost(model) for model in models)


def committee_cost(fitted: Mapping[str, Any]) -> float:
    """Return the seconds that a committee with these fitted attributes needs for 10,000 rows."""
    n_features = fitted["_reader"].schema.n_features
    members = zip(fitted["members_"], fitted["_reads"], strict=True)
    return float(sum(prediction_cost(member, reads, n_features) for member, reads in members))


def _model_cost(model: Any) -> float:
    own = getattr(model, "_forest", None)
    forests = [own] if own is not None else getattr(getattr(model, "_sum", None), "forests", None)
    if forests:
        counts = np.concatenate([forest.leaf_counts() for forest in forests])
        return float(sum(_tree_cost(int(count)) for count in counts))
    if isinstance(model, NetModel):
        sizes = model._net.sizes
        return _WEIGHT * sizes.n_units**2 * sizes.n_layers * sizes.n_members
    numbers = [value.size for value in vars(model).values() if isinstance(value, np.ndarray)]
    is_known = any(name.endswith("_") for name in vars(model)) and sum(numbers) > 0
    return _NUMBER * sum(numbers) if is_known else _UNKNOWN


def _tree_cost(n_leaves: int) -> float:
    if n_leaves <= _MOST_MASKED:
        return _SMALL_TREE + _SMALL_LEAF * n_leaves
    return _LEVEL * math.log2(n_leaves) + _FAR_LEAF * n_leaves


@dataclass(frozen=True, eq=False)
class LatencyLimit:
    """A limit to what the predictions of a committee cost.

    Parameters
    ----------
    costs : ndarray of float64
        Seconds of each candidate for 10,000 rows.
    most : float
        Seconds that a committee may need.
    """

    costs: Floats
    most: float

    @classmethod
    def of(cls, fold_members: Sequence[FoldMember], n_features: int, most: float) -> LatencyLimit:
        """Count what fitted candidates cost."""
        costs = [
            prediction_cost(fold_member.member, fold_member.candidate.reads, n_features)
            for fold_member in fold_members
        ]
        return cls(np.array(costs), most)

    def select(self, predictions: MemberPredictions, rows: Rows) -> Selection:
        """Select members that together stay within the limit.

        While a selection is too expensive, the member with the least weight for its cost is taken
        from the candidates. If each alone is too expensive, the cheapest is selected.
        """
        among = np.flatnonzero(self.costs <= self.most)
        if len(among) == 0:
            among = np.array([int(self.costs.argmin())])
        while True:
            part = replace(predictions, predicted=predictions.predicted[among])
            found = Selection.of(part, rows)
            chosen = found.weights > 0
            if chosen.sum() == 1 or self.costs[among[chosen]].sum() <= self.most:
                weights = np.zeros(len(self.costs))
                weights[among] = found.weights
                return replace(found, weights=weights)
            worth = np.where(chosen, found.weights / self.costs[among], np.inf)
            among = np.delete(among, int(worth.argmin()))
