"""The metric that a committee is chosen by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.base.arrays import Floats, Rows
from committee.combining.selection.candidate_scores import AnyMetric, MemberPredictions
from committee.evaluation.scored_target import OobMetric


@dataclass(frozen=True, eq=False)
class CommitteeMetric(OobMetric):
    """A metric of which log loss, squared errors and accuracy take no time.

    scikit-learn checks its arguments for milliseconds, which count where thousands of scores of a
    few rows are asked for.

    Examples
    --------
    >>> from committee.evaluation.scored_target import ScoredTarget
    >>> target = ScoredTarget(reals=np.array([[1.0], [2.0]]))
    >>> metric = CommitteeMetric(target, "neg_mean_squared_error", "scoring")
    >>> metric.score(np.array([[1.0], [4.0]]), np.arange(2))
    -2.0
    """

    def score(self, values: Floats, rows: Rows) -> float:
        """Return the score of the values of these rows."""
        part = self.target.part(rows)
        scorer = MemberPredictions(values[np.newaxis, rows], part, self.oob_score).scorer()
        if isinstance(scorer, AnyMetric):
            return super().score(values, rows)
        return scorer.of(np.ones(1))
