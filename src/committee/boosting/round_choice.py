"""How many rounds to boost: the number at which rows that were held out are predicted best.

The rows are dealt into folds. A fit for each fold learns from the other folds, all of them round
by round side by side, and the mean of their validation curves says where to stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.progress import Progress
from committee.boosting.rounds import BoostingJob
from committee.files.codec_classes import register

Floats = NDArray[np.float64]

_STEP = 10  # rounds that each fold is boosted before the curves are looked at
_LEAST_TRIED, _AT_THE_END = 50, 0.95  # a best round so late is where the rounds ended
_NOTHING = 1e-5  # share of the first loss that is not worth more rounds: the rest is rounding


@register("RoundChoice")
@dataclass(frozen=True, eq=False, repr=False)
class RoundChoice:
    """What the held-out rows said of each number of rounds.

    Attributes
    ----------
    mean : ndarray of float64
        Mean over the folds of the loss of their held-out rows after each round; of the score where
        `scoring` is given.
    standard_error : ndarray of float64
        Standard error of that mean; NaN where only one part was held out.
    n_folds : int
        Number of parts that were held out, one after another.
    is_score : bool
        Whether more is better.

    Examples
    --------
    >>> choice = RoundChoice(np.array([0.6, 0.5, 0.7]), np.array([0.1, 0.1, 0.1]), 5)
    >>> choice.n_rounds, choice
    (2, RoundChoice(2 of 3 rounds, loss 0.5 ± 0.1 in 5 folds))
    """

    mean: Floats
    standard_error: Floats
    n_folds: int
    is_score: bool = False

    @classmethod
    def of_curves(cls, curves: Floats, is_score: bool) -> RoundChoice:
        """Return the choice of curves that should fall, one row for each fold."""
        n_folds = len(curves)
        # Squares and sums of huge losses overflow, those of tiny ones vanish.
        exponents = np.frexp(np.abs(curves).max(axis=0))[1]
        scaled = np.ldexp(curves, -exponents)
        spread = np.full(curves.shape[1], np.nan)
        if n_folds > 1:
            with np.errstate(invalid="ignore"):  # a score may be infinite
                spread = np.ldexp(scaled.std(axis=0, ddof=1) / np.sqrt(n_folds), exponents)
        mean = np.ldexp(scaled.mean(axis=0), exponents)
        return cls(-mean if is_score else mean, spread, n_folds, is_score)

    @property
    def n_rounds(self) -> int:
        """The best number of rounds."""
        return int(self.mean.argmax() if self.is_score else self.mean.argmin()) + 1

    def to_frame(self) -> Any:
        """Return a pandas data frame, its index the number of the round from one."""
        import pandas as pd

        columns = {"mean": self.mean, "standard_error": self.standard_error}
        index = pd.RangeIndex(1, len(self.mean) + 1, name="round")
        return pd.DataFrame(columns, index=index)

    def __repr__(self) -> str:
        best, what = self.n_rounds, "score" if self.is_score else "loss"
        value, error = self.mean[best - 1], self.standard_error[best - 1]
        spread = "" if np.isnan(error) else f" ± {error:.2g}"
        where = f"{self.n_folds} folds" if self.n_folds > 1 else "one held-out part"
        n_tried = len(self.mean)
        end = ", still improving" if self.is_still_improving else ""
        told = f"{best} of {n_tried} rounds, {what} {value:.4g}{spread} in {where}{end}"
        return f"RoundChoice({told})"

    @property
    def is_still_improving(self) -> bool:
        """Whether the limit of rounds came before the curve had turned.

        More rounds, or a larger `learning_rate`, would then do better.
        """
        n_tried = len(self.mean)
        return n_tried >= _LEAST_TRIED and self.n_rounds > _AT_THE_END * n_tried

    def _validate_loaded(self) -> None:
        for each in (self.mean, self.standard_error):
            if not isinstance(each, np.ndarray) or each.dtype != np.float64 or each.ndim != 1:
                raise ValueError("a curve is not a list of numbers")
        if len(self.mean) != len(self.standard_error) or len(self.mean) == 0:
            raise ValueError("the curves differ in length, or are empty")
        if np.isnan(self.mean).any():
            raise ValueError("the curve has gaps")
        if type(self.n_folds) is not int or self.n_folds < 1 or type(self.is_score) is not bool:
            raise ValueError("the number of folds or the kind of the curve is wrong")


def choose_rounds(
    jobs: Sequence[BoostingJob], most: int, patience: int, progress: Progress
) -> RoundChoice:
    """Boost all folds side by side until their mean curve has passed its best round.

    Parameters
    ----------
    jobs : sequence of BoostingJob
        One for each fold, watching the rows that it does not learn from.
    most : int
        Rounds to try at most.
    patience : int
        Rounds without a new best that end the search; at least a third of the best round's
        number, because long curves turn slowly.
    progress : Progress
        Told the number of rounds after each step.

    Returns
    -------
    choice : RoundChoice
        The curve, and its best round.
    """
    silent = Progress("", "", most, 0)
    is_score = any(job.watch is not None and job.watch.scoring is not None for job in jobs)
    for begin in range(0, most, _STEP):
        end = min(begin + _STEP, most)
        for job in jobs:
            job.run(begin, end, silent)  # the trees are not kept
        choice = RoundChoice.of_curves(np.array([_curve(job) for job in jobs]), is_score)
        progress.show(end)
        best = choice.n_rounds
        if end - best >= max(patience, best // 3) or _is_done(choice):
            break
    return choice


def _is_done(choice: RoundChoice) -> bool:
    return not choice.is_score and 0 <= choice.mean[-1] <= _NOTHING * choice.mean[0]


def _curve(job: BoostingJob) -> Floats:
    assert job.watch is not None
    return job.watch.history(job.log)
