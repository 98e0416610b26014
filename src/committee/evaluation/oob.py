"""Out-of-bag estimates for everything bagged.

A member votes on the rows it has not drawn, and on no others: each row is predicted by the members
that do not know it, so their common prediction is as honest as one on new rows. A row that every
member has drawn has no prediction: NaN, never a guess.

    tally       sums of the members' values, and how many voted on each row
    recorder    follows an ensemble while it grows: tallies, error of each member, curve of scores
    estimates   what users read at the end
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.base.params import is_false
from committee.base.warn import warn
from committee.evaluation.point632 import combine_632
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import Part, array

# Weight of a member that is not known to be better than chance: next to none beside any other, and
# equal weights if no member is.
_LEAST_WEIGHT = 1e-6


@register("OobCurve")
@dataclass(frozen=True, eq=False)
class OobCurve:
    """Out-of-bag score against the number of members.

    Parameters
    ----------
    n_members : ndarray of int64
        Each number up to ten, then about 15 % more each time, and the last.
    score : ndarray of float64
        The score of the first so many members; NaN where the metric is not defined on the rows
        that have a prediction so far.

    Examples
    --------
    >>> curve = OobCurve(np.array([1, 2]), np.array([0.5, 0.75]))
    >>> len(curve), curve.n_members[curve.score.argmax()].item()
    (2, 2)
    """

    n_members: NDArray[np.int64]
    score: Floats

    def __len__(self) -> int:
        return len(self.n_members)

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_members": array("i8", "points", low=1),
        "score": array("f8", "points"),
    }


def curve_points(n_members: int) -> list[int]:
    """Return the numbers of members at which the curve has a point.

    Examples
    --------
    >>> curve_points(20)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20]
    """
    points = list(range(1, min(n_members, 10) + 1))
    while points[-1] < n_members:
        points.append(min(n_members, max(points[-1] + 1, int(points[-1] * 1.15))))
    return points


class MeanTally:
    """Weighted means of predictions of members, row by row.

    Examples
    --------
    >>> tally = MeanTally(2, 1)
    >>> tally.add(np.array([[4.0], [8.0]]), np.array([0]))
    >>> tally.add(np.array([[6.0], [7.0]]), np.array([0]))
    >>> tally.values().tolist()
    [[5.0], [nan]]
    """

    def __init__(self, n_rows: int, n_values: int) -> None:
        self.sums = np.zeros((n_rows, n_values))
        self.votes = np.zeros(n_rows)

    def add(self, values: Floats, rows: Rows, weight: float = 1.0) -> None:
        """Add the predictions of a member for all rows; only `rows` count."""
        self.sums[rows] += weight * values[rows]
        self.votes[rows] += weight

    def values(self) -> Floats:
        """Return the means; NaN for rows without a vote."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.sums / self.votes[:, None])


class MedianTally:
    """Weighted medians of predictions of members; keeps all of it."""

    def __init__(self, n_rows: int, n_values: int) -> None:
        self._shape = n_rows, n_values
        self._predicted: list[Floats] = []
        self._weights: list[Floats] = []

    def add(self, values: Floats, rows: Rows, weight: float = 1.0) -> None:
        """Add the predictions of a member for all rows; only `rows` count."""
        weights = np.zeros(self._shape[0])
        weights[rows] = weight
        self._predicted.append(values)
        self._weights.append(weights)

    @property
    def votes(self) -> Floats:
        """Total weight of the votes on each row."""
        return np.sum(self._weights, axis=0) if self._weights else np.zeros(self._shape[0])

    def values(self) -> Floats:
        """Return the medians; NaN for rows without a vote."""
        if not self._predicted:
            return np.full(self._shape, np.nan)
        return weighted_median(np.stack(self._predicted), np.stack(self._weights))


def weighted_median(values: Floats, weights: Floats) -> Floats:
    """Return the medians over members.

    Parameters
    ----------
    values : ndarray, shape (n_members, n_rows, n_values)
        Predictions of members.
    weights : ndarray, shape (n_members, n_rows)
        With which weight.

    Returns
    -------
    medians : ndarray, shape (n_rows, n_values)
        Where half of the weight is below and half above, the middle of the two neighbours; with
        equal weights the usual median. NaN where all weights are zero.

    Examples
    --------
    >>> values = np.array([2.3, 9.1, 4.3, 4.1, 3.8]).reshape(5, 1, 1)
    >>> weighted_median(values, np.ones((5, 1))).item()
    4.1
    """
    order = values.argsort(axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    spread = np.broadcast_to(weights[:, :, None], values.shape)
    below = np.cumsum(np.take_along_axis(spread, order, axis=0), axis=0)
    half = below[-1] / 2
    slack = 1e-12 * half  # sums of equal weights must tie
    low = (below >= half - slack).argmax(axis=0)
    # Beyond the middle: the first that has more than half of the weight below or at it.
    high = (below > half + slack).argmax(axis=0)
    pick = np.stack([np.where(half > 0, low, 0), np.where(half > 0, high, 0)])
    medians = np.take_along_axis(ordered, pick, axis=0).mean(axis=0)
    return np.where(half > 0, medians, np.nan)


@dataclass(frozen=True, eq=False)
class OobEstimates:
    """Out-of-bag estimates of an ensemble.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_values)
        Common prediction of the members that did not draw the row; NaN if there are none.
    score : float
        Metric of these predictions, on the rows that have one.
    curve : OobCurve
        The score against the number of members.
    member_errors : ndarray of float64, shape (n_members,)
        Error rate or mean squared error of each member on its own out-of-bag rows; NaN for a
        member that has none.
    n_never : int
        Rows that every member has drawn.
    score_632, score_632_plus : float
        Between the scores in training and out of bag; NaN if the former is not known.
    """

    values: Floats
    score: float
    curve: OobCurve
    member_errors: Floats
    n_never: int
    score_632: float
    score_632_plus: float

    def attributes(self, values_name: str, shaped: NDArray[Any] | None = None) -> dict[str, Any]:
        """Return the fitted attributes of an estimator.

        Parameters
        ----------
        values_name : str
            "oob_decision_function_" or "oob_prediction_".
        shaped : ndarray or None
            The values in the shape that users expect, if it is another.
        """
        return {
            "oob_score_": self.score,
            values_name: self.values if shaped is None else shaped,
            "oob_curve_": self.curve,
            "oob_member_errors_": self.member_errors,
            "oob_member_error_": _mean(self.member_errors),
            "oob_never_": self.n_never,
            "oob_score_632_": self.score_632,
            "oob_score_632_plus_": self.score_632_plus,
        }


# The attributes that exist only with `oob_score`.
OOB_ATTRIBUTES = (
    "oob_score_",
    "oob_decision_function_",
    "oob_prediction_",
    "oob_curve_",
    "oob_member_errors_",
    "oob_member_error_",
    "oob_never_",
    "oob_score_632_",
    "oob_score_632_plus_",
)


class OobRecorder:
    """Follows an ensemble member by member, or segment by segment.

    Parameters
    ----------
    target : ScoredTarget
        The training target.
    oob_score : bool, callable or str
        The metric, see `OobMetric`; False records errors and weights of members only.
    n_members : int
        How many there will be, which fixes the points of the curve.
    use_median : bool
        Combine by median instead of mean.
    is_weighted : bool
        Weigh members by their out-of-bag errors, see `vote_weight`.

    Examples
    --------
    >>> target = ScoredTarget(reals=np.array([[1.0], [2.0], [4.0]]))
    >>> recorder = OobRecorder(target, True, 2)
    >>> recorder.add(np.array([[1.0], [1.0], [4.0]]), np.array([2, 0, 1]))
    >>> recorder.add(np.array([[2.0], [2.0], [2.0]]), np.array([0, 3, 0]))
    >>> recorder.finish().member_errors.tolist()
    [1.0, 2.5]
    """

    def __init__(
        self,
        target: ScoredTarget,
        oob_score: Any,
        n_members: int,
        *,
        use_median: bool = False,
        is_weighted: bool = False,
    ) -> None:
        tally = MedianTally if use_median else MeanTally
        self.target = target
        self.errors: list[float] = []
        self.weights: list[float] = []
        self._metric = None if is_false(oob_score) else OobMetric(target, oob_score)
        self._is_weighted = is_weighted
        self._points = set(curve_points(n_members))
        self._curve: list[tuple[int, float]] = []
        self._tally = tally(target.n_rows, target.n_values)
        self._train = tally(target.n_rows, target.n_values)

    def add(self, values: Floats, counts: NDArray[Any]) -> None:
        """Add a member.

        Parameters
        ----------
        values : ndarray of float64, shape (n_rows, n_values)
            Its predictions for all rows, those it has drawn included.
        counts : ndarray of shape (n_rows,)
            How often it has drawn each row.
        """
        rows = np.flatnonzero(counts == 0)
        error = self.target.error(values, rows)
        n_counted = int(self.target.counted[rows].sum())
        weight = vote_weight(self.target, error, n_counted) if self._is_weighted else 1.0
        self.errors.append(error)
        self.weights.append(weight)
        if self._metric is None:
            return
        self._tally.add(values, rows, weight)
        self._train.add(values, np.arange(self.target.n_rows), weight)
        self._mark()

    def add_segment(
        self, sums: Floats, votes: NDArray[Any], errors: Floats, *, is_total: bool = False
    ) -> None:
        """Add members that the engine has added up.

        Parameters
        ----------
        sums : ndarray of float64, shape (n_rows, n_values)
            Sums of the values of these members over their out-of-bag rows.
        votes : ndarray, shape (n_rows,)
            For how many of them each row was out of bag.
        errors : ndarray of float64
            Error of each on its own out-of-bag rows, NaN without such rows.
        is_total : bool
            Whether `sums` and `votes` include all members before.
        """
        if not isinstance(self._tally, MeanTally) or self._is_weighted:
            raise TypeError("segments are added up without weights, for means only")
        if is_total:
            self._tally.sums[:], self._tally.votes[:] = sums, votes
        else:
            self._tally.sums += sums
            self._tally.votes += votes
        self.errors.extend(np.asarray(errors).tolist())
        self.weights.extend([1.0] * len(errors))
        self._mark()

    def score_now(self) -> float:
        """Return the score of the members so far; NaN where the metric is not defined."""
        assert self._metric is not None
        values = self._tally.values()
        rows = self._scored(self._tally.votes)
        if len(rows) == 0:
            return math.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that so few rows leave the metric undefined
            try:
                return self._metric.score(values, rows)
            except ValueError:
                return math.nan

    def _mark(self) -> None:
        if self._metric is not None and len(self.errors) in self._points:
            self._curve.append((len(self.errors), self.score_now()))

    def _scored(self, votes: NDArray[Any]) -> Rows:
        return np.flatnonzero((votes > 0) & self.target.counted)

    def finish(self, train_values: Floats | None = None) -> OobEstimates:
        """Return the estimates, and warn if rows have none.

        Parameters
        ----------
        train_values : ndarray of float64, shape (n_rows, n_values), or None
            Predictions of the whole ensemble for the training rows; None takes those of the
            members that were added one by one.
        """
        metric = self._metric
        assert metric is not None
        values = self._tally.values()
        rows = self._scored(self._tally.votes)
        n_never = int((self._tally.votes == 0).sum())
        if n_never:
            _warn_never(n_never, len(values))
        score = metric.score(values, rows) if len(rows) else math.nan
        if train_values is None and self._train.votes.any():
            train_values = self._train.values()
        score_632 = score_632_plus = math.nan
        if train_values is not None:
            everyone = np.flatnonzero(self.target.counted)
            apparent = metric.score(train_values, everyone)
            chance = metric.no_information(train_values, everyone)
            estimates = combine_632(apparent, score, chance)
            score_632, score_632_plus = estimates.point632, estimates.plus
        numbers, scores = zip(*self._curve, strict=True) if self._curve else ((), ())
        curve = OobCurve(np.array(numbers, np.int64), np.array(scores, np.float64))
        errors = np.array(self.errors)
        return OobEstimates(values, score, curve, errors, n_never, score_632, score_632_plus)


def vote_weight(target: ScoredTarget, error: float, n_rows: int) -> float:
    """Return the weight that a member earns by its error on its own out-of-bag rows.

    For K classes it is the log-odds against chance, ``log((1 - e) / e) + log(K - 1)``, where e
    is the error rate with half a wrong row added, so that a member without errors does not
    decide alone. For regression it is one over the mean squared error, at most a million over the
    variance of the target. A member no better than chance, or without out-of-bag rows, has next to
    no weight.

    Examples
    --------
    >>> target = ScoredTarget(np.array([[0], [1]]), [np.array(["no", "yes"])])
    >>> round(vote_weight(target, 0.1, 99), 3)
    2.154
    """
    if target.reals is not None:
        spread = target.spread() or 1.0
        if math.isnan(error):
            return _LEAST_WEIGHT / spread
        return 1 / max(error, 1e-6 * spread)
    if math.isnan(error):
        return _LEAST_WEIGHT
    smooth = (error * n_rows + 0.5) / (n_rows + 1)
    n_classes = max(len(target.classes[0]), 2)
    return max(math.log((1 - smooth) / smooth * (n_classes - 1)), _LEAST_WEIGHT)


def _mean(errors: Floats) -> float:
    known = errors[~np.isnan(errors)]
    return float(known.mean()) if len(known) else math.nan


def _warn_never(n_never: int, n_rows: int) -> None:
    warn(
        f"{n_never} of {n_rows} rows were drawn by every member and have no out-of-bag prediction: "
        "it is NaN there, and the out-of-bag scores leave these rows out. More members "
        "(n_estimators) or smaller samples (max_samples) leave fewer such rows"
    )
