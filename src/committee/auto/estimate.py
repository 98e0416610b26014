"""How good a selected committee will be on new rows.

The score of a committee on the rows that selected it is too good. Here rows are drawn with
replacement, the committee is selected and calibrated by those drawn, and scored on those that were
not (bootstrap bias corrected cross-validation; Tsamardinos, Greasidou and Borboudakis 2018).
No model is fitted for it: all predictions are out-of-fold already.

These predictions are of the models of one fold each, and new rows are predicted by the mean of the
models of all folds, which is better. By how much was measured on other tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.decision_rules import DecisionRules
from committee.auto.selection import Selection
from committee.base.arrays import Floats, Rows
from committee.base.work import in_order
from committee.combining.selection.candidate_scores import AnyMetric, MemberPredictions
from committee.evaluation.metric_names import scorer_name
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, Part, whole

N_RESAMPLES = 60

# The best score of a metric, and by which share of what is left to it the mean of the models of all
# folds is better on new rows than one of them: means over the tables that defaults are tuned on
# (benchmarks/studies/averaging.py). Where squares fall by twice the share, roots fall by it.
GAIN_OF_ERRORS = 0.019
_GAINS = {
    "roc_auc": (1.0, 0.026),
    "neg_log_loss": (0.0, 0.063),
    "neg_root_mean_squared_error": (0.0, GAIN_OF_ERRORS),
    "neg_mean_squared_error": (0.0, 2 * GAIN_OF_ERRORS),
}

# Of a draw: rows times members times values; but so many rows.
_MOST_NUMBERS, _LEAST_ROWS = 2**16, 500
_LEAST_DRAWS = 12
_NOTHING = 0.01  # of what a committee gains over a constant: too little to need one as a member
_CERTAIN = 0.97  # evidence that needs no constant besides
_LEAST_WEIGHT = 0.03  # of a member: less does nothing but take time in predictions
_SLOW = 4  # so many times fewer, and fewer draws, where a score takes milliseconds


@register("auto.ScoreEstimate")
@dataclass(frozen=True)
class ScoreEstimate:
    """The score to expect on new rows.

    Attributes
    ----------
    score : float
        Corrected for the selection, and for what the mean of the models of all folds gains; the
        greater the better.
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


def with_gain(score: float, scoring: Any) -> float:
    """Return the score of a mean of models, given that of one of them.

    Examples
    --------
    >>> round(with_gain(0.9, "roc_auc"), 4), with_gain(0.9, "accuracy")
    (0.9026, 0.9)
    """
    name = scorer_name(scoring)
    if not isinstance(name, str) or name not in _GAINS:
        return score
    best, gain = _GAINS[name]
    return best - (best - score) * (1.0 - gain)


@dataclass(frozen=True, eq=False)
class Draw:
    """What some rows, drawn with replacement, have selected.

    Attributes
    ----------
    rows : ndarray of int
        The rows.
    weights : ndarray of float64
        Of the members.
    gain : float
        By how much the score is better on these rows than on others.
    share : float
        Of all rows; less than one where rows are many.
    """

    rows: Rows
    weights: Floats
    gain: float
    share: float


@dataclass(frozen=True, eq=False)
class Resamples:
    """Draws of rows, what they select, and what it is worth on other rows.

    Attributes
    ----------
    predictions : MemberPredictions
        Of all candidates, on rows that they have not seen.
    seed : int
        Of the draws.
    n_threads : int
        Threads that work on draws side by side.
    blocks : ndarray of int or None
        Numbers of groups or of stretches of time, whose rows are drawn together.
    constant : int or None
        The place of the candidate that looks at no column.
    decisions : DecisionRules or None
        How classes are decided for, anew in each draw; None for numbers.
    select : callable
        Returns what some rows select.
    is_steady : bool
        Whether weights are the mean of those that draws select; else all rows select once.
    is_mean : bool
        Whether new rows are predicted by the mean of models of which each predicts some rows here.
    """

    predictions: MemberPredictions
    seed: int
    n_threads: int
    blocks: NDArray[np.intp] | None = None
    constant: int | None = None
    decisions: DecisionRules | None = None
    select: Callable[[MemberPredictions, Rows], Selection] = Selection.of
    is_steady: bool = True
    is_mean: bool = False

    @cached_property
    def n_draws(self) -> int:
        """Number of draws: fewer where each takes long."""
        if self._is_slow:
            return N_RESAMPLES // _SLOW
        size = self._most_rows * self.predictions.predicted[:, 0].size
        return min(max(N_RESAMPLES * _MOST_NUMBERS // size, _LEAST_DRAWS), N_RESAMPLES)

    @cached_property
    def _is_slow(self) -> bool:
        return isinstance(self.predictions.scorer(), AnyMetric)

    @cached_property
    def draws(self) -> list[Draw]:
        """All draws that have scores."""
        calls = [(number,) for number in range(self.n_draws)]
        workers = min(self.n_threads, self.n_draws)
        found = in_order(self.draw, calls, workers, use_threads=True, own=True)
        return [each for each in found if each is not None]

    def draw(self, number: int) -> Draw | None:
        """Return one draw; None where scores are not defined: one without one of the classes."""
        generator = np.random.default_rng([self.seed, number])
        n_drawn = min(self._n_units, self._most)
        units = generator.integers(self._n_units, size=n_drawn)
        is_out = np.ones(self._n_units, bool)
        is_out[units] = False
        others = np.flatnonzero(is_out)
        if len(others) > n_drawn:
            others = np.sort(generator.permutation(others)[:n_drawn])
        if len(others) == 0:
            return None
        drawn, rest = self._rows(units), self._rows(others)
        try:
            selection = self.select(self.predictions, drawn)
            inner = selection.combine(self.predictions.predicted[:, drawn])
            outer = selection.combine(self.predictions.predicted[:, rest])
            if self.decisions is not None:
                decision = self.decisions.decide(inner, self.predictions.target.part(drawn))
                inner, outer = (self.decisions.shown(decision, each) for each in (inner, outer))
            inside, outside = self._score(inner, drawn), self._score(outer, rest)
        except ValueError:
            return None
        share = n_drawn / self._n_units
        is_known = np.isfinite([inside, outside]).all()
        return Draw(drawn, selection.weights, inside - outside, share) if is_known else None

    @cached_property
    def selection(self) -> Selection:
        """The mean of what the draws select: steadier than what all rows select at once.

        As far as it is not clear that it will do better on new rows than the constant, it is drawn
        toward that.
        """
        everything = np.arange(self.predictions.n_rows)
        if not self.draws:
            return self.select(self.predictions, everything)
        selection = self._steady if self.is_steady else self.select(self.predictions, everything)
        evidence = self._evidence(selection)
        if evidence > _CERTAIN:
            return selection
        constant = np.eye(self.predictions.n_members)[self.constant]
        if evidence <= 0:
            return Selection(constant, 1.0)
        mixed = evidence * selection.weights + (1 - evidence) * constant
        return Selection.calibrated(self.predictions, mixed)

    @property
    def _steady(self) -> Selection:
        weights = np.mean([draw.weights for draw in self.draws], axis=0)
        weights[weights < min(_LEAST_WEIGHT, weights.max())] = 0.0
        found = Selection.calibrated(self.predictions, weights / weights.sum())
        if self.constant is None or not 0 < found.weights[self.constant] < 1:
            return found
        weights[self.constant] = 0.0
        others = Selection.calibrated(self.predictions, weights / weights.sum())
        # Metrics that look at the order of rows only see next to nothing of a constant, however
        # large its weight.
        constant = Selection(np.eye(self.predictions.n_members)[self.constant], 1.0)
        best, without, least = (self._score_of(each) for each in (found, others, constant))
        return others if without >= best - _NOTHING * abs(best - least) else found

    def _score_of(self, selection: Selection) -> float:
        seen = self._as_seen(selection.combine(self.predictions.predicted))
        return self._score(seen, np.arange(len(seen)))

    def _evidence(self, selection: Selection) -> float:
        """Return the share that what is gained over the constant has of what is seen of it.

        The square of a gain is expected to be that of the truth, and the variance of its error:
        the estimate of James and Stein.
        """
        if self.constant is None:
            return 1.0
        combined = self._as_seen(selection.combine(self.predictions.predicted))
        constant = self._as_seen(self.predictions.predicted[self.constant])

        def gain(rows: Rows) -> float:
            return self._score(combined[rows], rows) - self._score(constant[rows], rows)

        seen = gain(np.arange(len(constant))) - self._optimism
        share = float(np.mean([draw.share for draw in self.draws]))
        variance = float(np.var([gain(draw.rows) for draw in self.draws])) * share
        return 1.0 - variance / seen**2 if seen > 0 else 0.0

    def estimate(self) -> ScoreEstimate:
        """Estimate the score of the committee on new rows."""
        n_rows = self.predictions.n_rows
        own = self._score(self._answered, np.arange(n_rows))
        scores = [self._score(self._answered[draw.rows], draw.rows) for draw in self.draws]
        expected = own - self._optimism
        if self.gains:
            expected = with_gain(expected, self.predictions.scoring)
        if len(scores) < 2:
            return ScoreEstimate(expected, own, float("nan"), n_rows)
        # The variance of a score falls with the number of rows.
        share = float(np.mean([draw.share for draw in self.draws]))
        error = float(np.std(scores, ddof=1)) * share**0.5
        return ScoreEstimate(expected, own, error, n_rows)

    @property
    def gains(self) -> bool:
        """Whether new rows are predicted better than those here; a constant does not gain."""
        return self.is_mean and self.constant not in self.selection.chosen

    @cached_property
    def _optimism(self) -> float:
        """What selection gains on rows that select, more than on others; it falls with the rows."""
        gains = [draw.gain * draw.share for draw in self.draws]
        return max(float(np.mean(gains)), 0.0) if gains else 0.0

    @cached_property
    def combined(self) -> Floats:
        """What the committee predicts."""
        return self.selection.combine(self.predictions.predicted)

    @cached_property
    def _answered(self) -> Floats:
        """The same as the metric sees it."""
        return self._as_seen(self.combined)

    def _as_seen(self, values: Floats) -> Floats:
        if self.decisions is None:
            return values
        return self.decisions.answered(values, self.predictions.target)

    @cached_property
    def _places(self) -> list[Rows]:
        """The rows of each block."""
        assert self.blocks is not None
        order = np.argsort(self.blocks, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.blocks[order])) + 1)

    @cached_property
    def _n_units(self) -> int:
        return self.predictions.n_rows if self.blocks is None else len(self._places)

    @cached_property
    def _most(self) -> int:
        """Units of a draw."""
        return max(2, self._most_rows * self._n_units // self.predictions.n_rows)

    @cached_property
    def _most_rows(self) -> int:
        """Rows of a draw: so many that numbers do not take long."""
        n_rows = max(_MOST_NUMBERS // self.predictions.predicted[:, 0].size, _LEAST_ROWS)
        if self._is_slow:
            n_rows = max(n_rows // _SLOW, _LEAST_ROWS)
        return min(n_rows, self.predictions.n_rows)

    def _rows(self, units: Rows) -> Rows:
        if self.blocks is None:
            return units
        return np.concatenate([self._places[unit] for unit in units.tolist()])

    def _score(self, values: Floats, rows: Rows) -> float:
        """Return the score of the predictions for some rows."""
        target = self.predictions.target.part(rows)
        alone = MemberPredictions(values[np.newaxis], target, self.predictions.scoring)
        return alone.scorer().of(np.ones(1))
