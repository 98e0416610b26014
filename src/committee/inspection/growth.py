"""The error of a committee against its number of members or rounds, and whether more would help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.evaluation.member_errors import MemberErrors, as_counts
from committee.evaluation.oob import curve_points
from committee.inspection.studied_rows import Block, StudiedRows
from committee.tables.native_table import unheard_names

_LEAST = 1e-15  # a probability is no smaller
_LAST_PART = 0.8  # of the rounds: what those after it have gained


@dataclass(frozen=True, eq=False)
class Growth:
    """Error against the number of members, or of rounds.

    Attributes
    ----------
    of : {"members", "rounds"}
        Members that are alike can come in any order; rounds build on each other.
    measure : str
        What the error is: "squared error", "Brier score", "log loss", "error rate" or "loss".
    numbers : ndarray of int64
        Numbers of members or rounds.
    measured : ndarray of float64
        Error of the mean of the first so many members, with equal weights; or after so many
        rounds.
    expected : ndarray of float64
        What members with such errors have on average, by the formula; NaN for rounds.
    independent : ndarray of float64
        The same if their errors were uncorrelated: the mean error divided by the number; NaN for
        rounds.
    best : int
        The number of rounds with the least error; of members, the last.
    gain, gain_error : float
        What the last fifth of the rounds took off the error, and the standard error; NaN for
        members.
    loss, loss_error : float
        By how much the last round is worse than the best, and the standard error; NaN for members.
    """

    of: str
    measure: str
    numbers: NDArray[np.int64]
    measured: Floats
    expected: Floats
    independent: Floats
    best: int
    gain: float = np.nan
    gain_error: float = np.nan
    loss: float = np.nan
    loss_error: float = np.nan


class GrowthTally:
    """Adds up the errors of the first members, block of rows by block.

    Parameters
    ----------
    n_members : int
        Number of members.
    """

    def __init__(self, n_members: int) -> None:
        self._points = np.array(curve_points(n_members))
        self._sums, self._total = np.zeros(len(self._points)), 0.0

    def add(self, block: Block) -> None:
        """Add rows."""
        total = np.zeros_like(block.truth)
        place = 0
        for number, predicted in enumerate(block.predictions, start=1):
            total += predicted - block.truth
            if number == self._points[place]:
                squares = (total**2).sum(axis=1) / number**2
                self._sums[place] += float((squares * block.weights).sum())
                place += 1
        self._total += float(block.weights.sum())

    def result(self, errors: MemberErrors, measure: str) -> Growth:
        """Return the errors of all rows that were added, beside those of the formula."""
        numbers = self._points
        mean = float(errors.errors.mean())
        expected = np.array([errors.at(int(number)) for number in numbers])
        measured = self._sums / self._total
        return Growth(
            "members", measure, numbers, measured, expected, mean / numbers, int(numbers[-1])
        )


def growth_of_rounds(model: Any, rows: StudiedRows) -> Growth:
    """Return the error of rows after rounds of boosting, from its staged predictions."""
    measure, staged = _staged_losses(model, rows)
    with unheard_names():  # scikit-learn's AdaBoost gives arrays to itself
        numbers, kept = _some_of(staged)
    number = numbers[-1]
    each, weights = np.array(kept), rows.weights
    measured = (each * weights).sum(axis=1) / weights.sum()
    best = int(measured.argmin())
    before = int(np.searchsorted(numbers, max(1, _LAST_PART * number)))
    none = np.full(len(numbers), np.nan)
    return Growth(
        "rounds",
        measure,
        np.array(numbers),
        measured,
        none,
        none,
        numbers[best],
        *_difference(each[before] - each[-1], weights),
        *_difference(each[-1] - each[best], weights),
    )


def _some_of(staged: Iterator[Floats]) -> tuple[list[int], list[Floats]]:
    """Return the losses after each of the first rounds, ever fewer of the others, and the last."""
    numbers: list[int] = []
    kept: list[Floats] = []
    point, last, number = 1, np.empty(0), 0
    for losses in staged:
        number, last = number + 1, losses
        if number == point:
            numbers.append(number)
            kept.append(losses)
            point = number + 1 if number < 10 else max(number + 1, int(number * 1.15))
    if numbers[-1] != number:
        numbers.append(number)
        kept.append(last)
    return numbers, kept


def is_logged(model: Any, growth: Growth | None) -> bool:
    """Whether the errors of all rounds are those that AdaBoost has noted of its training rows."""
    noted = getattr(getattr(model, "trace_", None), "train_error", None)
    if growth is None or noted is None or len(noted) < growth.numbers[-1]:
        return False
    return bool(np.allclose(growth.measured, noted[growth.numbers - 1], rtol=1e-6, atol=1e-12))


def _staged_losses(model: Any, rows: StudiedRows) -> tuple[str, Iterator[Floats]]:
    X, truth = rows.native(), rows.truth
    codes = rows.codes
    if codes is None:
        return _staged_numbers(model, X, truth)
    if "AdaBoost" in type(model).__name__:  # minimises errors; probabilities come later
        staged = model.staged_predict(X)
        return "error rate", ((rows.codes_of(each) != codes).astype(np.float64) for each in staged)
    own = (np.arange(len(codes)), codes)
    shares = (rows.spread(np.asarray(each)) for each in model.staged_predict_proba(X))
    return "log loss", (-np.log(np.maximum(each[own], _LEAST)) for each in shares)


def _staged_numbers(model: Any, X: Any, truth: Floats) -> tuple[str, Iterator[Floats]]:
    """Return losses of numbers: those that boosting of this library minimises, or squared errors.

    Losses of scikit-learn that are not squares are known by name.
    """
    if hasattr(model, "_staged_scores"):
        objective = model._objective.of_rows(np.asfortranarray(truth), None)
        name = "squared error" if model.loss == "squared_error" else "loss"
        factor = 2.0 if name == "squared error" else 1.0  # half of it is minimised
        return name, (factor * objective.row_losses(s) for s in model._staged_scores(X))
    staged = (np.asarray(each, np.float64) - truth[:, 0] for each in model.staged_predict(X))
    if getattr(model, "loss", None) == "absolute_error":
        return "absolute error", (np.abs(each) for each in staged)
    return "squared error", (each**2 for each in staged)


def _difference(values: Floats, weights: Floats) -> tuple[float, float]:
    """Return a weighted mean and its standard error."""
    mean = float(np.average(values, weights=weights))
    variance = float(np.average((values - mean) ** 2, weights=weights))
    return mean, (variance / max(float(as_counts(weights).sum()) - 1.0, 1.0)) ** 0.5
