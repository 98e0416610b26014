"""Which members a committee has, and what they predict together."""

from __future__ import annotations

from dataclasses import dataclass

from committee.base.arrays import Floats, Rows
from committee.base.products import weighted_sum
from committee.combining.selection.candidate_scores import AnyMetric, MemberPredictions
from committee.combining.selection.greedy_selection import SelectionRules, mean_weights
from committee.evaluation.calibration import fit_temperature, with_temperature

_STEPS, _SLOW_STEPS = 25, 10  # of the greedy selection; where each score takes milliseconds


@dataclass(frozen=True, eq=False)
class Selection:
    """Weights of members, and how bold their mean is.

    Attributes
    ----------
    weights : ndarray of float64, shape (n_members,)
        They add up to one; 0 for candidates that are no members.
    temperature : float
        See `with_temperature`; 1 for numbers.
    """

    weights: Floats
    temperature: float

    @classmethod
    def of(cls, predictions: MemberPredictions, rows: Rows) -> Selection:
        """Select and calibrate by some of the rows."""
        part = predictions.part(rows)
        scorer = part.scorer()
        n_steps = _SLOW_STEPS if isinstance(scorer, AnyMetric) else _STEPS
        rules = SelectionRules(n_steps, 0, 1, 1.0, 0)
        return cls.calibrated(part, mean_weights(rules.paths(scorer), part.n_members))

    @classmethod
    def calibrated(cls, predictions: MemberPredictions, weights: Floats) -> Selection:
        """Return weights with the temperature that suits the rows of the predictions."""
        target = predictions.target
        if target.codes is None:
            return cls(weights, 1.0)
        shares, codes = predictions.mean(weights), target.codes[:, 0]
        return cls(weights, fit_temperature(shares, codes, target.weights))

    def combine(self, predicted: Floats) -> Floats:
        """Return what members predict together, whose predictions are given one by one."""
        mean = weighted_sum(self.weights / self.weights.sum(), predicted)
        return with_temperature(mean, self.temperature)

    @property
    def chosen(self) -> list[int]:
        """Places of the candidates that are members."""
        return [place for place, weight in enumerate(self.weights.tolist()) if weight > 0]
