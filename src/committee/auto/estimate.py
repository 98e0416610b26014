"""How good a selected committee will be on new rows.

The score of a committee on the rows that selected it is too good. Here rows are drawn with
replacement, the committee is selected and calibrated by those drawn, and scored on those that were
not (bootstrap bias corrected cross-validation; Tsamardinos, Greasidou and Borboudakis 2018).
No model is fitted for it: all predictions are out-of-fold already.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.selection import Selection
from committee.base.arrays import Floats, Rows
from committee.base.work import in_order
from committee.combining.selection.candidate_scores import AnyMetric, MemberPredictions
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, Part, whole

N_RESAMPLES = 60

# Of a draw: rows times members times values; but so many rows.
_MOST_NUMBERS, _LEAST_ROWS = 2**16, 500
_SLOW = 4  # so many times fewer where the metric is not one of those that are fast


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


@dataclass(frozen=True, eq=False)
class Resamples:
    """Draws of rows, and what a committee that some rows select is worth on others.

    Attributes
    ----------
    predictions : MemberPredictions
        Of all candidates, on rows that they have not seen.
    selection : Selection
        What all rows select.
    seed : int
        Of the draws.
    n_threads : int
        Threads that work on draws side by side.
    blocks : ndarray of int or None
        Numbers of groups or of stretches of time, whose rows are drawn together.
    """

    predictions: MemberPredictions
    selection: Selection
    seed: int
    n_threads: int
    blocks: NDArray[np.intp] | None = None

    def run(self, n_resamples: int = N_RESAMPLES) -> ScoreEstimate:
        """Estimate the score of the committee that all rows select."""
        everything = np.arange(self.predictions.n_rows)
        own = self._score(self.combined, everything)
        calls = [(number,) for number in range(n_resamples)]
        workers = min(self.n_threads, n_resamples)
        found = in_order(self.draw, calls, workers, use_threads=True, own=True)
        draws = np.array([each for each in found if each is not None]).reshape(-1, 4)
        if len(draws) < 2:
            return ScoreEstimate(own, own, float("nan"), len(everything))
        # What selection gains on rows that select, more than on others, is taken off. It falls
        # with the number of rows that select, and so does the variance of a score.
        shares = draws[:, 3] / self._n_units
        optimism = max(float(((draws[:, 0] - draws[:, 1]) * shares).mean()), 0.0)
        error = float(np.std(draws[:, 2], ddof=1) * np.sqrt(shares.mean()))
        return ScoreEstimate(own - optimism, own, error, len(everything))

    def draw(self, number: int) -> tuple[float, float, float, float] | None:
        """Return scores of one draw: inside, outside, of the committee itself; and its size.

        None where they are not defined: a draw without one of the classes.
        """
        generator = np.random.default_rng([self.seed, number])
        n_drawn = min(self._n_units, self._most)
        units = generator.integers(self._n_units, size=n_drawn)
        is_out = np.ones(self._n_units, bool)
        is_out[units] = False
        others = np.flatnonzero(is_out)
        if len(others) > n_drawn:
            others = np.sort(generator.permutation(others)[:n_drawn])
        drawn, rest = self._rows(units), self._rows(others)
        try:
            selection = Selection.of(self.predictions, drawn)
            inside = self._score(selection.combine(self.predictions.predicted[:, drawn]), drawn)
            outside = self._score(selection.combine(self.predictions.predicted[:, rest]), rest)
            return inside, outside, self._score(self.combined[drawn], drawn), float(n_drawn)
        except ValueError:
            return None

    @cached_property
    def combined(self) -> Floats:
        """What the committee predicts that all rows select."""
        return self.selection.combine(self.predictions.predicted)

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
        """Units of a draw: so many that numbers do not take long."""
        n_rows = max(_MOST_NUMBERS // self.predictions.predicted[:, 0].size, _LEAST_ROWS)
        if isinstance(self.predictions.scorer(), AnyMetric):
            n_rows = max(n_rows // _SLOW, _LEAST_ROWS)
        return max(2, n_rows * self._n_units // self.predictions.n_rows)

    def _rows(self, units: Rows) -> Rows:
        if self.blocks is None:
            return units
        return np.concatenate([self._places[unit] for unit in units.tolist()])

    def _score(self, values: Floats, rows: Rows) -> float:
        """Return the score of the predictions for some rows."""
        target = self.predictions.target.part(rows)
        alone = MemberPredictions(values[np.newaxis], target, self.predictions.scoring)
        return alone.scorer().of(np.ones(1))
