"""What is remembered of a fit for its report: numbers about many rows, no row of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.evaluation.scored_target import ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, Part, array, whole

_N_BINS = 10
_LEAST_IN_BIN = 5  # rows; the mean of fewer would nearly be a row of the table


@register("auto.Findings")
@dataclass(frozen=True, eq=False)
class Findings:
    """How the committee predicts rows that its members have not seen.

    Attributes
    ----------
    n_rows, n_columns : int
        Size of the table.
    shares : ndarray of float64, shape (n_classes,)
        Share of each class; empty for numbers.
    quantiles : ndarray of float64, shape (5,)
        5 %, 25 %, 50 %, 75 % and 95 % quantiles of a numeric target; empty for classes.
    bins : ndarray of float64, shape (n_bins, 5)
        Rows in the order of their predictions, cut into bins of equal size. Of each: the mean
        prediction, the mean truth, the 10 % and 90 % quantiles of the truth (for classes the
        standard error of the share below and above), and the number of rows. For two classes of
        the second one, for more of the predicted one.
    confusion : ndarray of int64, shape (n_classes, n_classes)
        Rows by true and predicted class; empty for numbers.
    constant_score : float
        Score of predicting the mean, or the shares of the classes, for every row.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_rows": whole(1),
        "n_columns": whole(1),
        "shares": array("f8", "classes", low=0.0, finite=True),
        "quantiles": array("f8", None, finite=True),
        "bins": array("f8", None, 5, finite=True),
        "confusion": array("i8", "classes", "classes", low=0),
        "constant_score": NUMBER,
    }

    n_rows: int
    n_columns: int
    shares: Floats
    quantiles: Floats
    bins: Floats
    confusion: NDArray[np.int64]
    constant_score: float


def find(
    target: ScoredTarget,
    predicted: Floats,
    n_columns: int,
    constant_score: float,
    decided: NDArray[np.integer] | None = None,
) -> Findings:
    """Sum up predictions on rows that members have not seen, and the classes decided for."""
    weights = np.ones(target.n_rows) if target.weights is None else target.weights
    nothing = np.empty(0)
    if target.codes is None:
        truth = target.table[:, 0]
        quantiles = np.quantile(truth[weights > 0], [0.05, 0.25, 0.5, 0.75, 0.95])
        bins = _bins(predicted[:, 0], truth, is_share=False)
        confusion = np.empty((0, 0), np.int64)
        return Findings(len(truth), n_columns, nothing, quantiles, bins, confusion, constant_score)
    codes, n_classes = target.codes[:, 0], predicted.shape[1]
    best = predicted.argmax(axis=1) if decided is None else decided
    confusion = np.zeros((n_classes, n_classes), np.int64)
    np.add.at(confusion, (codes, best), 1)
    shares = np.bincount(codes, weights, minlength=n_classes) / weights.sum()
    if n_classes == 2:
        bins = _bins(predicted[:, 1], (codes == 1).astype(np.float64), is_share=True)
    else:
        rows = np.arange(len(codes))
        bins = _bins(predicted[rows, best], (codes == best).astype(np.float64), is_share=True)
    return Findings(len(codes), n_columns, shares, nothing, bins, confusion, constant_score)


def _bins(predicted: Floats, truth: Floats, *, is_share: bool) -> Floats:
    order = np.argsort(predicted, kind="stable")
    n_bins = min(_N_BINS, max(1, len(order) // _LEAST_IN_BIN))
    rows = []
    for part in np.array_split(order, n_bins):
        mean = truth[part].mean()
        if is_share:
            half = np.sqrt(mean * (1 - mean) / len(part))
            low, high = mean - half, mean + half
        else:
            low, high = np.quantile(truth[part], [0.1, 0.9])
        rows.append([predicted[part].mean(), mean, low, high, len(part)])
    return np.array(rows)


def constant_values(target: ScoredTarget) -> Floats:
    """Return the prediction that does not look at the columns, for each row."""
    if target.codes is None:
        mean = np.average(target.table[:, 0], weights=target.weights)
        return np.full((target.n_rows, 1), mean)
    counts = np.bincount(target.codes[:, 0], target.weights, minlength=len(target.classes[0]))
    return np.tile(counts / counts.sum(), (target.n_rows, 1))
