"""What out-of-bag predictions are compared with, and by which metric.

Predictions come as *values*: an array with a row for each row of the table and a column for each
class of each output (probabilities or shares of votes), or for each output (regression).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from committee.base.arrays import Floats, Rows
from committee.base.params import is_true
from committee.evaluation.metric_names import scorer_name
from committee.evaluation.point632 import (
    no_information_accuracy,
    no_information_score,
    no_information_squared_error,
)
from committee.evaluation.quick_scores import quick_class_score, quick_real_score


@dataclass(frozen=True, eq=False)
class ScoredTarget:
    """The target of the training rows.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows, n_outputs), or None
        Class codes; None for regression.
    classes : list of ndarray
        Labels of each output; empty for regression.
    reals : ndarray of float64, shape (n_rows, n_outputs), or None
        Regression targets; None for classification.
    weights : ndarray of float64 or None
        Weights of the rows. Rows of weight zero have predictions but count in no score.

    Examples
    --------
    >>> target = ScoredTarget(np.array([[0], [1]]), [np.array(["no", "yes"])])
    >>> target.answers(np.array([[0.3, 0.7], [0.6, 0.4]])).tolist()
    ['yes', 'no']
    """

    codes: NDArray[np.int32] | None = None
    classes: list[NDArray[Any]] = field(default_factory=list)
    reals: Floats | None = None
    weights: Floats | None = None

    @property
    def n_rows(self) -> int:
        return len(self.table)

    @property
    def n_outputs(self) -> int:
        return int(self.table.shape[1])

    @property
    def n_values(self) -> int:
        """Number of columns of the values."""
        return sum(len(labels) for labels in self.classes) or self.n_outputs

    @property
    def table(self) -> NDArray[Any]:
        """Class codes or numbers, one column an output."""
        table = self.reals if self.codes is None else self.codes
        assert table is not None
        return table

    @cached_property
    def y(self) -> NDArray[Any]:
        """The target as metrics see it: labels or numbers, one-dimensional for one output."""
        if self.codes is None:
            return self._flat(self.table)
        return self._labels(self.codes)

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Rows of positive weight."""
        return np.ones(self.n_rows, bool) if self.weights is None else self.weights > 0

    def best_codes(self, values: Floats) -> NDArray[np.int64]:
        """Return the class of the largest value in each output; the first class wins ties."""
        ends = np.cumsum([len(labels) for labels in self.classes])[:-1]
        parts = np.split(values, ends, axis=1)
        return np.column_stack([part.argmax(axis=1) for part in parts])

    def answers(self, values: Floats) -> NDArray[Any]:
        """Return predictions as metrics see them, in the form of `y`."""
        return self._labels(self.best_codes(values)) if self.classes else self._flat(values)

    def probabilities(self, values: Floats) -> Floats | list[Floats]:
        """Return the values of each output, as `predict_proba` gives them."""
        if self.n_outputs == 1:
            return values
        ends = np.cumsum([len(labels) for labels in self.classes])[:-1]
        return list(np.split(values, ends, axis=1))

    def error(self, values: Floats, rows: Rows) -> float:
        """Return the error rate or the mean squared error of a member on some rows.

        With several outputs it is the mean over them. NaN if no row counts.
        """
        rows = rows[self.counted[rows]]
        if len(rows) == 0:
            return float("nan")
        if self.codes is None:
            losses = (self.table[rows] - values[rows]) ** 2
        else:
            losses = (self.best_codes(values[rows]) != self.codes[rows]).astype(np.float64)
        return float(np.average(losses.mean(axis=1), weights=self.weights_of(rows)))

    def part(self, rows: Rows) -> ScoredTarget:
        """Return the target of some rows."""
        codes = None if self.codes is None else self.codes[rows]
        reals = None if self.reals is None else self.reals[rows]
        return ScoredTarget(codes, self.classes, reals, self.weights_of(rows))

    def weights_of(self, rows: Rows) -> Floats | None:
        return None if self.weights is None else self.weights[rows]

    def spread(self) -> float:
        """Return the variance of the target, the mean over the outputs."""
        middle = np.average(self.table, axis=0, weights=self.weights)
        return float(np.average((self.table - middle) ** 2, axis=0, weights=self.weights).mean())

    def _labels(self, codes: NDArray[Any]) -> NDArray[Any]:
        columns = [labels[codes[:, k]] for k, labels in enumerate(self.classes)]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def _flat(self, table: NDArray[Any]) -> NDArray[Any]:
        return table[:, 0] if self.n_outputs == 1 else table


# What such a parameter may be besides a metric.
_SWITCHES = {"oob_score": "True, False", "scoring": "None"}

# A score from predicted values of some rows.
Score = Callable[[Floats, Rows], float]


@dataclass(frozen=True, eq=False)
class OobMetric:
    """A score of out-of-bag predictions; the greater the better unless the metric is the user's.

    Parameters
    ----------
    target : ScoredTarget
        What is compared with.
    oob_score : True, callable or str
        True is accuracy (all outputs right) or R2 (mean over the outputs). A callable is
        ``metric(y_true, y_pred)`` on labels or numbers, or a scorer that `make_scorer` of
        scikit-learn made. A name is that of a scorer, such as "roc_auc".
    name : str, default="oob_score"
        The parameter, for messages.

    Examples
    --------
    >>> target = ScoredTarget(np.array([[0], [1]]), [np.array(["no", "yes"])])
    >>> OobMetric(target, True).score(np.array([[0.9, 0.1], [0.8, 0.2]]), np.arange(2))
    0.5
    """

    target: ScoredTarget
    oob_score: Any
    name: str = "oob_score"

    def score(self, values: Floats, rows: Rows) -> float:
        """Return the score of the values of these rows."""
        if is_true(self.oob_score):
            return self._accuracy(values, rows) if self.target.classes else self._r2(values, rows)
        try:
            return self._score(values, rows)
        except (AttributeError, TypeError, ValueError) as error:
            name = self.oob_score if isinstance(self.oob_score, str) else "the metric"
            hint = ' ("roc_auc" is for two classes, "roc_auc_ovr" for more)'
            raise ValueError(
                f"{self.name}: {name} cannot score the predictions of this target: {error}"
                + (hint if scorer_name(name) == "roc_auc" else "")
            ) from error

    def _score(self, values: Floats, rows: Rows) -> float:
        metric = self._metric
        weights = self.target.weights_of(rows)
        quick = self._quick_score(values, rows, weights)
        if quick is not None:
            return quick
        options = {}
        if weights is not None and self._weighs:
            options["sample_weight"] = weights
        if is_scorer(metric):
            kind = _ClassifierView if self.target.classes else _RegressorView
            return float(metric(kind(self.target, values), rows, self.target.y[rows], **options))
        answers = self.target.answers(values[rows])
        return float(metric(self.target.y[rows], answers, **options))

    def _quick_score(self, values: Floats, rows: Rows, weights: Floats | None) -> float | None:
        name, target = scorer_name(self.oob_score), self.target
        if not isinstance(name, str) or len(rows) == 0:
            return None
        if target.codes is None:
            return quick_real_score(name, values[rows], target.table[rows], weights)
        if target.n_outputs > 1:
            return None
        return quick_class_score(name, values[rows], target.codes[rows, 0], weights)

    @cached_property
    def _metric(self) -> Any:
        return resolve_metric(self.oob_score, self.name)

    @cached_property
    def _weighs(self) -> bool:
        return _takes_weights(getattr(self._metric, "_score_func", self._metric))

    def no_information(self, values: Floats, rows: Rows) -> float:
        """Return the score if predictions and targets were paired at random."""
        target, weights = self.target, self.target.weights_of(rows)
        if is_true(self.oob_score) and target.reals is not None:
            errors = no_information_squared_error(target.reals[rows], values[rows], weights)
            return _r2_of(errors, target.reals[rows], weights)
        if is_true(self.oob_score) and target.codes is not None and target.n_outputs == 1:
            predicted = target.best_codes(values[rows])[:, 0]
            truth = target.codes[rows, 0]
            return no_information_accuracy(truth, predicted, target.n_values, weights)

        def score(order: NDArray[np.intp]) -> float:
            mixed = values.copy()
            mixed[rows] = values[rows[order]]
            return self.score(mixed, rows)

        return no_information_score(score, len(rows))

    def _accuracy(self, values: Floats, rows: Rows) -> float:
        assert self.target.codes is not None
        right = (self.target.best_codes(values[rows]) == self.target.codes[rows]).all(axis=1)
        return float(np.average(right, weights=self.target.weights_of(rows)))

    def _r2(self, values: Floats, rows: Rows) -> float:
        assert self.target.reals is not None
        truth, weights = self.target.reals[rows], self.target.weights_of(rows)
        errors = np.average((truth - values[rows]) ** 2, axis=0, weights=weights)
        return _r2_of(errors, truth, weights)


def _r2_of(errors: Floats, truth: Floats, weights: Floats | None) -> float:
    """Return R2, the mean over the outputs, with scikit-learn's rules for a constant target."""
    if len(truth) < 2:
        return float("nan")
    middle = np.average(truth, axis=0, weights=weights)
    spread = np.average((truth - middle) ** 2, axis=0, weights=weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(spread > 0, 1 - errors / spread, np.where(errors > 0, 0.0, 1.0))
    return float(shares.mean())


def resolve_metric(oob_score: Any, name: str = "oob_score") -> Any:
    """Check `oob_score` or another such parameter; return False, True, a metric or a scorer.

    Examples
    --------
    >>> resolve_metric("roc_auc")
    make_scorer(roc_auc_score, response_method=('decision_function', 'predict_proba'))
    """
    if isinstance(oob_score, bool | np.bool_):
        return bool(oob_score)
    accepted = (
        f"{name} must be {_SWITCHES[name]}, a metric(y_true, y_pred) or the name of a scorer "
        'such as "roc_auc"'
    )
    if isinstance(oob_score, str):
        try:
            return get_scorer(scorer_name(oob_score))
        except ValueError as error:
            raise ValueError(
                f"{accepted}; got {oob_score!r}, which sklearn.metrics.get_scorer_names() does "
                "not list"
            ) from error
    if not callable(oob_score):
        raise TypeError(f"{accepted}; got {oob_score!r}")
    # What decides when to stop must know what is better; elsewhere a score is only shown.
    return _scorer_of(oob_score) if name == "scoring" else oob_score


def _scorer_of(metric: Any) -> Any:
    """Return scikit-learn's scorer of one of its metrics; other metrics are as they are.

    Examples
    --------
    >>> from sklearn.metrics import mean_squared_error
    >>> _scorer_of(mean_squared_error)
    make_scorer(mean_squared_error, greater_is_better=False, response_method='predict')
    """
    if is_scorer(metric):
        return metric
    for known in map(get_scorer, get_scorer_names()):
        if known._score_func is metric and not known._kwargs:
            return known
    name = getattr(metric, "__name__", "")
    if name.endswith(("_error", "_loss", "_deviance")):
        raise ValueError(
            f"scoring must grow as predictions get better; {name} looks like an error. Use "
            f"sklearn.metrics.make_scorer({name}, greater_is_better=False)"
        )
    return metric


def is_scorer(metric: Any) -> bool:
    """Whether the callable takes (estimator, X, y), as those of make_scorer do."""
    return hasattr(metric, "_score_func")


def _takes_weights(metric: Callable[..., Any]) -> bool:
    try:
        return "sample_weight" in inspect.signature(metric).parameters
    except ValueError:  # some built-in functions do not say
        return False


class _View(BaseEstimator):
    """A fitted model whose predictions are known; the table it predicts is row numbers."""

    def __init__(self, target: ScoredTarget, values: Floats) -> None:
        self.target = target
        self.values = values

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> Any:
        return self

    def predict(self, rows: Rows) -> NDArray[Any]:
        return self.target.answers(self.values[rows])


class _ClassifierView(ClassifierMixin, _View):
    @property
    def classes_(self) -> Any:
        classes = self.target.classes
        return classes[0] if len(classes) == 1 else classes

    def predict_proba(self, rows: Rows) -> Any:
        return self.target.probabilities(self.values[rows])


class _RegressorView(RegressorMixin, _View):
    pass
