"""How good a selected committee will be on new rows.

The score of a committee on the rows that selected it is too good. Here rows are drawn with
replacement, the committee is selected and calibrated by those drawn, and scored on those that were
not (bootstrap bias corrected cross-validation; Tsamardinos, Greasidou and Borboudakis 2018).
No model is fitted for it: all predictions are out-of-fold already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from committee.base.arrays import Floats, Rows
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, Part, whole

# Returns what a committee that was selected on some rows predicts on all rows.
Selecting = Callable[[Rows], Floats]

_MOST_ROWS = 20_000  # of a resample: beyond, the error of the estimate is small anyway


@register("auto.ScoreEstimate")
@dataclass(frozen=True)
class ScoreEstimate:
    """The score to expect on new rows.

    Attributes
    ----------
    score : float
        Corrected for the selection; the greater the better.
    naive : float
        On the rows that selected the committee, not corrected.
    standard_error : float
        Of `score`, as an estimate of the score on very many new rows.
    n_rows : int
        Number of rows that it rests on.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "score": NUMBER,
        "naive": NUMBER,
        "standard_error": NUMBER,
        "n_rows": whole(1),
    }

    score: float
    naive: float
    standard_error: float
    n_rows: int

    def interval(self, coverage: float = 0.9, n_new: int | None = None) -> tuple[float, float]:
        """Return between which limits the score lies.

        Parameters
        ----------
        coverage : float, default=0.9
            How often the interval should hold the score.
        n_new : int or None, default=None
            For the score on so many new rows; None is very many.
        """
        from scipy.special import ndtri

        variance = self.standard_error**2
        if n_new is not None:
            variance *= 1.0 + self.n_rows / n_new
        half = float(ndtri((1 + coverage) / 2)) * variance**0.5
        return self.score - half, self.score + half


def estimate_score(
    predictions: MemberPredictions,
    naive: Floats,
    select: Selecting,
    metric: OobMetric,
    seed: int,
    n_resamples: int = 60,
) -> ScoreEstimate:
    """Estimate the score of a committee that was selected on all rows.

    Parameters
    ----------
    predictions : MemberPredictions
        Of all candidates, on rows that they have not seen.
    naive : ndarray of float64
        Predictions of the selected committee on these rows.
    select : callable
        Given rows, returns the predictions of the committee that these select.
    metric : OobMetric
        Scores predictions.
    seed : int
        Of the draws.
    n_resamples : int, default=60
        Number of draws.
    """
    n_rows = predictions.n_rows
    generator = np.random.default_rng(seed)
    everything = np.arange(n_rows)
    differences, scores = [], []
    own = metric.score(naive, everything)
    for _ in range(n_resamples):
        drawn = generator.integers(n_rows, size=min(n_rows, _MOST_ROWS))
        rest = np.setdiff1d(everything, drawn)
        try:
            chosen = select(drawn)
            inside, outside = metric.score(chosen, drawn), metric.score(chosen, rest)
            scores.append(metric.score(naive, drawn))
        except ValueError:  # a draw without one of the classes
            continue
        differences.append(inside - outside)
    if len(scores) < 2:
        return ScoreEstimate(own, own, float("nan"), n_rows)
    # What selection gains on rows that select, more than on others, is taken off.
    optimism = max(float(np.mean(differences)), 0.0)
    error = float(np.std(scores, ddof=1)) * (min(n_rows, _MOST_ROWS) / n_rows) ** 0.5
    return ScoreEstimate(own - optimism, own, error, n_rows)


def metric_of(target: ScoredTarget, scoring: object) -> OobMetric:
    """Return the metric that predictions are scored by."""
    return OobMetric(target, scoring, "scoring")
