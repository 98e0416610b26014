"""The committee in the metrics that people ask for, beside the one that chose it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from committee.auto.findings.errors import area, precision_area
from committee.auto.findings.unseen import Unseen
from committee.base.arrays import Floats, Rows
from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, array, tuple_of
from committee.losses.arithmetic import weighted_quantile

_LEAST = 1e-15  # a probability is no smaller

# Scores predictions of some rows; the greater the better.
_Scoring = Callable[[Unseen, Floats, Rows], float]


@register("auto.ScoreFindings")
@dataclass(frozen=True, eq=False)
class ScoreFindings:
    """Scores on unseen rows, not corrected for the choice of members.

    Attributes
    ----------
    names : tuple of str
        Metrics, by scikit-learn's names of their scorers.
    values : ndarray of float64, shape (n_metrics, 3)
        The score of the committee, its standard error from the spread over the folds, and the
        score of the constant. The greater the better; NaN where there is none.
    folds : ndarray of float64, shape (n_folds, 2)
        In each fold the score of the committee and of the constant, by the metric that chose it.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "names": tuple_of(TEXT, "metrics"),
        "values": array("f8", "metrics", 3),
        "folds": array("f8", None, 2),
    }

    names: tuple[str, ...]
    values: Floats
    folds: Floats

    @classmethod
    def of(cls, unseen: Unseen) -> ScoreFindings:
        """Score a committee."""
        n_classes = 0 if unseen.target.codes is None else unseen.combined.shape[1]
        metrics = _of_numbers if not n_classes else _of_two if n_classes == 2 else _of_many
        everything = np.arange(unseen.target.n_rows)
        values = []
        for metric in metrics.values():
            own = metric(unseen, unseen.combined, everything)
            parts = np.array([metric(unseen, unseen.combined, test) for test in unseen.tests])
            error = float(np.std(parts, ddof=1) / len(parts) ** 0.5) if len(parts) > 1 else np.nan
            values.append([own, error, metric(unseen, unseen.constants, everything)])
        return cls(tuple(metrics), np.array(values), _folds(unseen))


def _folds(unseen: Unseen) -> Floats:
    found = np.full((len(unseen.tests), 2), np.nan)
    for fold, test in enumerate(unseen.tests):
        for place, values in enumerate((unseen.combined, unseen.constants)):
            try:
                found[fold, place] = unseen.metric.score(unseen.as_scored(values), test)
            except ValueError:  # a fold without one of the classes has no score
                continue
    return found


def _mean(values: Floats, weights: Floats) -> float:
    return float(np.average(values, weights=weights))


# --- classes ------------------------------------------------------------------------------------


def _log_loss(unseen: Unseen, values: Floats, rows: Rows) -> float:
    own = values[rows, _codes(unseen, rows)]
    return _mean(np.log(np.maximum(own, _LEAST)), unseen.weights[rows])


def _brier(unseen: Unseen, values: Floats, rows: Rows) -> float:
    return -_mean((values[rows, 1] - unseen.truth[rows, 1]) ** 2, unseen.weights[rows])


def _accuracy(unseen: Unseen, values: Floats, rows: Rows) -> float:
    is_right = unseen.classes(values)[rows] == _codes(unseen, rows)
    return _mean(is_right.astype(np.float64), unseen.weights[rows])


def _balanced_accuracy(unseen: Unseen, values: Floats, rows: Rows) -> float:
    codes, weights = _codes(unseen, rows), unseen.weights[rows]
    is_right = unseen.classes(values)[rows] == codes
    n_classes = values.shape[1]
    whole = np.bincount(codes, weights, minlength=n_classes)
    right = np.bincount(codes, weights * is_right, minlength=n_classes)
    return float((right[whole > 0] / whole[whole > 0]).mean())


def _f1(unseen: Unseen, values: Floats, rows: Rows) -> float:
    """Of the second class of two; of more classes the mean of those that occur."""
    codes, weights = _codes(unseen, rows), unseen.weights[rows]
    best, n_classes = unseen.classes(values)[rows], values.shape[1]
    right = np.bincount(codes, weights * (best == codes), minlength=n_classes)
    whole = np.bincount(codes, weights, minlength=n_classes)
    both = whole + np.bincount(best, weights, minlength=n_classes)
    scores = 2 * right / np.where(both > 0, both, 1.0)
    return float(scores[1] if n_classes == 2 else scores[both > 0].mean())


def _matthews(unseen: Unseen, values: Floats, rows: Rows) -> float:
    """Of any number of classes (Gorodkin 2004); zero where all predictions are alike."""
    codes, weights, n_classes = _codes(unseen, rows), unseen.weights[rows], values.shape[1]
    best = unseen.classes(values)[rows]
    true = np.bincount(codes, weights, minlength=n_classes)
    predicted = np.bincount(best, weights, minlength=n_classes)
    whole, right = float(weights.sum()), float(weights[best == codes].sum())
    above = right * whole - float((true * predicted).sum())
    below = (whole**2 - float((predicted**2).sum())) * (whole**2 - float((true**2).sum()))
    return above / math.sqrt(below) if below > 0 else 0.0


def _area(unseen: Unseen, values: Floats, rows: Rows) -> float:
    return area(values[rows, 1], _codes(unseen, rows) == 1, unseen.weights[rows])


def _precision_area(unseen: Unseen, values: Floats, rows: Rows) -> float:
    return precision_area(values[rows, 1], _codes(unseen, rows) == 1, unseen.weights[rows])


def _codes(unseen: Unseen, rows: Rows) -> Rows:
    assert unseen.target.codes is not None
    return np.asarray(unseen.target.codes[rows, 0], np.int64)


# --- numbers ------------------------------------------------------------------------------------


def _errors(unseen: Unseen, values: Floats, rows: Rows) -> Floats:
    return np.asarray(np.abs(values[rows, 0] - unseen.truth[rows, 0]))


def _root_mean_squared_error(unseen: Unseen, values: Floats, rows: Rows) -> float:
    return -math.sqrt(_mean(_errors(unseen, values, rows) ** 2, unseen.weights[rows]))


def _absolute_error(unseen: Unseen, values: Floats, rows: Rows) -> float:
    return -_mean(_errors(unseen, values, rows), unseen.weights[rows])


def _median_error(unseen: Unseen, values: Floats, rows: Rows) -> float:
    return -weighted_quantile(_errors(unseen, values, rows), unseen.weights[rows], 0.5)


def _r2(unseen: Unseen, values: Floats, rows: Rows) -> float:
    truth, weights = unseen.truth[rows, 0], unseen.weights[rows]
    spread = _mean((truth - _mean(truth, weights)) ** 2, weights)
    if spread <= 0:
        return float("nan")
    return 1 - _mean(_errors(unseen, values, rows) ** 2, weights) / spread


_of_numbers: dict[str, _Scoring] = {
    "neg_root_mean_squared_error": _root_mean_squared_error,
    "neg_mean_absolute_error": _absolute_error,
    "neg_median_absolute_error": _median_error,
    "r2": _r2,
}
_of_many: dict[str, _Scoring] = {
    "neg_log_loss": _log_loss,
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "f1_macro": _f1,
    "matthews_corrcoef": _matthews,
}
_of_two: dict[str, _Scoring] = {
    "neg_log_loss": _log_loss,
    "neg_brier_score": _brier,
    "roc_auc": _area,
    "average_precision": _precision_area,
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "f1": _f1,
    "matthews_corrcoef": _matthews,
}
