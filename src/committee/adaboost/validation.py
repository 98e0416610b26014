"""Validation rows of AdaBoost: the score after each round, and when to stop."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.evaluation.early_stopping import Stopper
from committee.evaluation.scored_target import OobMetric, ScoredTarget


class ValidationRows:
    """Validation rows, and the best round so far.

    Parameters
    ----------
    model : estimator
        Has the parameters `scoring`, `n_iter_no_change` and `tol`.
    table : _core.Table or AnyTable
        The rows.
    target : ScoredTarget
        Their target.
    """

    def __init__(self, model: Any, table: Any, target: ScoredTarget) -> None:
        self.table, self.target = table, target
        self.has_default_score = model.scoring is None
        scoring = True if self.has_default_score else model.scoring
        self._metric = OobMetric(target, scoring, "scoring")
        self._stopper = Stopper(model.n_iter_no_change, float(model.tol))
        self._rows = np.flatnonzero(target.counted)

    @property
    def best(self) -> int:
        """Number of rounds with the best score, the first of equals."""
        return self._stopper.best

    @property
    def weights(self) -> Floats:
        """Weights of the rows."""
        target = self.target
        return np.ones(target.n_rows) if target.weights is None else target.weights

    def take(self, values: Floats, n_rounds: int) -> tuple[float, bool]:
        """Score the predictions after a round; return the score, and whether to stop."""
        score = self._metric.score(values, self._rows)
        if np.isnan(score):
            raise ValueError(
                f"scoring gave NaN for the validation rows in round {n_rounds}; give an eval_set "
                "of several rows, with rows of every class if there are classes, or leave "
                "scoring=None"
            )
        return score, self._stopper.add(-score)
