"""Where predictions of unseen rows are right and wrong: by prediction, by class, by threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.findings.unseen import Unseen
from committee.base.arrays import Floats
from committee.evaluation.calibration import equal_parts, reliability
from committee.files.codec_classes import register
from committee.files.parts import Part, array
from committee.losses.arithmetic import weighted_quantile

_N_THRESHOLDS = 60
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_SIZES = (0.5, 0.8, 0.9, 0.95, 0.99)
_MOST_CLASSES = 100  # of which areas are measured


@register("auto.ErrorFindings")
@dataclass(frozen=True, eq=False)
class ErrorFindings:
    """How predictions and truth agree.

    Attributes
    ----------
    bins : ndarray of float64, shape (n_bins, 5)
        Rows in the order of their predictions, cut into bins of equal size. Of each: the mean
        prediction, the mean truth, the 10 % and 90 % quantiles of the truth (for classes the
        standard error of the share below and above), and the number of rows. For two classes of
        the second one, for more of the predicted one.
    confusion : ndarray of float64, shape (n_classes, n_classes)
        Rows by true and predicted class, weights added up; empty for numbers.
    areas : ndarray of float64, shape (n_classes,)
        For each class the area under its ROC curve, each against all others; empty for numbers
        and for more than 100 classes.
    ranking : ndarray of float64, shape (n_thresholds, 3)
        For two classes: a threshold of the probability of the second class, and the shares of the
        rows of the second and of the first class that are not below it; else empty.
    residuals : ndarray of float64, shape (n_bins, 5)
        For numbers, the 10 %, 25 %, 50 %, 75 % and 90 % quantiles of truth minus prediction in
        each bin; else empty.
    sizes : ndarray of float64, shape (5,)
        For numbers, how large errors are at most in 50 %, 80 %, 90 %, 95 % and 99 % of the rows;
        else empty.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "bins": array("f8", None, 5, finite=True),
        "confusion": array("f8", "classes", "classes", low=0.0, finite=True),
        "areas": array("f8", None),
        "ranking": array("f8", None, 3, low=0.0, finite=True),
        "residuals": array("f8", None, 5, finite=True),
        "sizes": array("f8", None, low=0.0, finite=True),
    }

    bins: Floats
    confusion: Floats
    areas: Floats
    ranking: Floats
    residuals: Floats
    sizes: Floats

    @classmethod
    def of(cls, unseen: Unseen) -> ErrorFindings:
        """Compare predictions with the truth."""
        return _of_numbers(unseen) if unseen.target.codes is None else _of_classes(unseen)


def _of_numbers(unseen: Unseen) -> ErrorFindings:
    predicted, truth, weights = unseen.combined[:, 0], unseen.truth[:, 0], unseen.weights
    bins, residuals = [], []
    for rows in equal_parts(predicted, weights):
        own = weights[rows]
        errors = truth[rows] - predicted[rows]
        low, high = (weighted_quantile(truth[rows], own, share) for share in (0.1, 0.9))
        means = (np.average(values[rows], weights=own) for values in (predicted, truth))
        bins.append([*means, low, high, len(rows)])
        residuals.append([weighted_quantile(errors, own, share) for share in _QUANTILES])
    sizes = [weighted_quantile(np.abs(truth - predicted), weights, share) for share in _SIZES]
    no = np.empty((0, 3))
    return ErrorFindings(
        np.array(bins), np.empty((0, 0)), np.empty(0), no, np.array(residuals), np.array(sizes)
    )


def _of_classes(unseen: Unseen) -> ErrorFindings:
    assert unseen.target.codes is not None
    predicted, weights, codes = unseen.combined, unseen.weights, unseen.target.codes[:, 0]
    n_classes = predicted.shape[1]
    best = unseen.classes(predicted)
    confusion = np.zeros((n_classes, n_classes))
    np.add.at(confusion, (codes, best), weights)
    if n_classes == 2:
        shares, is_so = predicted[:, 1], codes == 1
        ranking = _ranking(shares, is_so, weights)
    else:
        shares, is_so = predicted[np.arange(len(codes)), best], codes == best
        ranking = np.empty((0, 3))
    areas = np.empty(0)
    if n_classes <= _MOST_CLASSES:
        areas = np.array([area(predicted[:, k], codes == k, weights) for k in range(n_classes)])
    none = np.empty((0, 5))
    bins = reliability(shares, is_so, weights)
    return ErrorFindings(bins, confusion, areas, ranking, none, np.empty(0))


def _counts_along(
    scores: Floats, is_so: NDArray[np.bool_], weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return distinct scores, falling, and the weight of both kinds of rows down to each."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    own = weights[order]
    found = np.cumsum(own * is_so[order])[ends]
    return scores[order][ends], found, np.cumsum(own)[ends] - found


def area(scores: Floats, is_so: NDArray[np.bool_], weights: Floats) -> float:
    """Return the area under the ROC curve; NaN without rows of both kinds.

    Examples
    --------
    >>> area(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]), np.ones(4))
    0.75
    """
    _, found, wrong = _counts_along(scores, is_so, weights)
    if found[-1] <= 0 or wrong[-1] <= 0:
        return float("nan")
    heights, widths = np.r_[0.0, found / found[-1]], np.diff(np.r_[0.0, wrong / wrong[-1]])
    return float((widths * (heights[1:] + heights[:-1]) / 2).sum())


def precision_area(scores: Floats, is_so: NDArray[np.bool_], weights: Floats) -> float:
    """Return the mean precision over the rows to be found; NaN without any.

    Examples
    --------
    >>> is_so = np.array([True, False, True])
    >>> round(precision_area(np.array([0.9, 0.8, 0.1]), is_so, np.ones(3)), 4)
    0.8333
    """
    _, found, wrong = _counts_along(scores, is_so, weights)
    if found[-1] <= 0:
        return float("nan")
    steps = np.diff(np.r_[0.0, found / found[-1]])
    return float((steps * found / (found + wrong)).sum())


def _ranking(scores: Floats, is_so: NDArray[np.bool_], weights: Floats) -> Floats:
    """Return some thresholds, evenly spread over the rows, with the shares that are above."""
    thresholds, found, wrong = _counts_along(scores, is_so, weights)
    shares = (found + wrong) / (found[-1] + wrong[-1])
    places = np.searchsorted(shares, np.arange(1, _N_THRESHOLDS + 1) / _N_THRESHOLDS - 1e-12)
    places = np.unique(np.minimum(places, len(shares) - 1))
    parts = [thresholds, found / max(found[-1], 1e-300), wrong / max(wrong[-1], 1e-300)]
    return np.column_stack([part[places] for part in parts])
