"""How the decision of a classifier is found: thresholds and weights of classes for a metric.

Decisions are tuned on predictions of rows that models have not seen. Few rows say little about the
best threshold, and calibrated probabilities say what to expect, so that the truth of a row counts
as a mixture of both: with n rows its class has the share n / (n + 1000), its probabilities the
rest. On the binary tables of the tuning half this was better than either alone from 200 to 4,000
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.auto.decision import Decision, cost_matrix, expected_costs, positive_code
from committee.base.arrays import Floats
from committee.base.params import check_real
from committee.combining.selection.candidate_scores import one_hot
from committee.evaluation.scored_target import OobMetric, ScoredTarget, is_scorer, resolve_metric

_HALF = 1000.0  # rows with which classes and probabilities count the same
_N_THRESHOLDS = 200
_FEW_THRESHOLDS = 40  # for metrics that are computed one threshold after the other
_POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of shares of classes, that probabilities are divided by

# Of calibrated probabilities the largest is right most often; and precision or recall alone would
# be best with hardly any positives, or with nothing else.
_UNTUNED = ("accuracy", "precision", "recall")

# Metrics that know a positive class; scikit-learn takes the label 1 for it.
_OF_POSITIVE = ("f1", "precision", "recall", "jaccard", "average_precision")


@dataclass(frozen=True, eq=False)
class DecisionRules:
    """What the user asked for, and the data of the answer.

    Parameters
    ----------
    classes : ndarray
        The labels.
    scoring : str or callable
        What predictions are scored by.
    threshold : "auto", float or None
        See `CommitteeClassifier`.
    costs : array-like, dict or None
        See `CommitteeClassifier`.
    positive : object
        Label of the positive class, or None.
    """

    classes: NDArray[Any]
    scoring: Any
    threshold: Any
    costs: Any
    positive: Any

    def __post_init__(self) -> None:
        """Check what was asked for."""
        if self.costs is not None:
            if self.threshold not in ("auto", None):
                raise ValueError(
                    f"threshold and costs cannot both be given; got threshold={self.threshold!r}. "
                    "Costs have a threshold of their own"
                )
        elif isinstance(self.threshold, str):
            if self.threshold != "auto":
                raise ValueError(
                    f'threshold must be "auto", a number in (0, 1) or None; got {self.threshold!r}'
                )
        elif self.threshold is not None:
            check_real("threshold", self.threshold, 0.0, 1.0, include_low=False, include_high=False)
            if len(self.names) != 2:
                raise ValueError(
                    f'threshold must be "auto" or None for {len(self.names)} classes; got '
                    f"{self.threshold!r}. Use costs to weigh more classes"
                )
        _ = self._positive, self._matrix

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(label) for label in self.classes.tolist())

    @cached_property
    def _positive(self) -> int:
        return positive_code(self.positive, self.classes)

    @cached_property
    def _matrix(self) -> Floats | None:
        return None if self.costs is None else cost_matrix(self.costs, self.classes)

    @cached_property
    def scores_labels(self) -> bool:
        """Whether the metric looks at predicted classes, not at probabilities."""
        return scores_labels(self.scoring)

    def decide(self, shares: Floats, target: ScoredTarget) -> Decision:
        """Return the decision that suits some rows best.

        Parameters
        ----------
        shares : ndarray of float64, shape (n_rows, n_classes)
            Their probabilities, by models that have not seen them.
        target : ScoredTarget
            Their classes and weights.
        """
        plain = Decision("largest", self.names, self._positive)
        if self._matrix is not None:
            return replace(plain, kind="costs", costs=self._matrix, **self._costs(shares, target))
        if self.threshold is None:
            return plain
        if not isinstance(self.threshold, str):
            value = float(self.threshold)
            return replace(plain, kind="threshold", threshold=value, reason="as given")
        if not self.scores_labels or metric_label(self.scoring) in _UNTUNED:
            return plain
        tuned = _Tuner(target, shares, OobMetric(target, self.scoring, "scoring"))
        reason = f"chosen for {metric_label(self.scoring)}"
        if len(self.names) == 2:
            threshold = tuned.threshold(self._positive)
            return replace(plain, kind="threshold", threshold=threshold, reason=reason)
        return replace(plain, kind="weights", weights=tuned.weights(), reason=reason)

    def answered(self, shares: Floats, target: ScoredTarget) -> Floats:
        """Return probabilities as the metric shall see them, decided by the same rows."""
        return self.shown(self.decide(shares, target), shares) if self.scores_labels else shares

    def shown(self, decision: Decision, shares: Floats) -> Floats:
        """Return one for the class that is decided for, where the metric looks at classes."""
        return as_scored(decision, shares, self.scoring)

    def _costs(self, shares: Floats, target: ScoredTarget) -> dict[str, Any]:
        assert self._matrix is not None
        assert target.codes is not None
        costs, codes, weights = self._matrix, target.codes[:, 0], target.weights
        predicted = expected_costs(shares, costs).argmin(axis=1)
        mean = np.average(costs[codes, predicted], weights=weights)
        always = np.average(costs[codes], axis=0, weights=weights).min()
        return {"cost": float(mean), "constant_cost": float(always)}


def scores_labels(scoring: Any) -> bool:
    """Whether a metric looks at predicted classes, not at probabilities."""
    known = resolve_metric(scoring, "scoring")
    return not is_scorer(known) or known._response_method == "predict"


def as_scored(decision: Decision | None, values: Floats, scoring: Any) -> Floats:
    """Return predictions as a metric shall see them: it may look at the classes decided for."""
    if decision is None or decision.kind == "largest" or not scores_labels(scoring):
        return values
    return np.asarray(np.eye(values.shape[1])[decision.codes(values)])


def scoring_of(scoring: Any, positive: Any, classes: Any) -> Any:
    """Return a scorer that knows the positive class, for names of metrics that have one.

    Parameters
    ----------
    scoring : str or callable
        As the user gave it.
    positive : object
        Label of the positive class; None is the second of two.
    classes : ndarray
        The labels.

    Examples
    --------
    >>> scoring_of("f1", None, np.array(["no", "yes"]))
    make_scorer(f1_score, response_method='predict', pos_label=yes)
    """
    if not isinstance(scoring, str) or scoring not in _OF_POSITIVE or len(classes) != 2:
        return scoring
    from sklearn.metrics import get_scorer, make_scorer

    known = get_scorer(scoring)
    label = classes[positive_code(positive, classes)]
    own = make_scorer(known._score_func, response_method=known._response_method, pos_label=label)
    own.__name__ = scoring  # as leaderboards and reports call it
    return own


def metric_label(scoring: Any) -> str:
    """Return what a metric is called."""
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))


# --- tuning ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Tuner:
    """Rows that a decision is tuned on.

    Parameters
    ----------
    target : ScoredTarget
        Their classes.
    shares : ndarray of float64
        Their probabilities.
    metric : OobMetric
        What is to be large; it looks at classes.
    """

    target: ScoredTarget
    shares: Floats
    metric: OobMetric

    def threshold(self, positive: int) -> float:
        """Return the best threshold of the positive class."""
        own = self.shares[:, positive]
        known = self.metric.oob_score
        is_known = isinstance(known, str) or is_scorer(known)
        fast = _FAST.get(metric_label(known)) if is_known else None
        among = _thresholds(own, _N_THRESHOLDS if fast else _FEW_THRESHOLDS)
        order = np.argsort(own, kind="stable")
        truth = self._soft_truth[order]
        below = np.concatenate([np.zeros((1, 2)), np.cumsum(truth, axis=0)])
        below = below[np.searchsorted(own[order], among, side="left")]  # rows that are negative
        tables = np.empty((len(among), 2, 2))
        tables[:, :, 1 - positive] = below
        tables[:, :, positive] = np.maximum(truth.sum(axis=0) - below, 0.0)
        if fast:
            scores = fast(tables, positive)
        else:
            scores = np.array([self._score(table) for table in tables])
        if np.isnan(scores).all():
            return 0.5
        best = scores >= np.nanmax(scores) - 1e-12
        ties = among[best]
        return float(ties[np.abs(ties - 0.5).argmin()])  # of equal ones, the least surprising

    def weights(self) -> Floats:
        """Return the best weights of classes, among powers of what their shares are divided by."""
        counts = self._soft_truth.sum(axis=0)
        priors = np.maximum(counts / counts.sum(), 1e-12)
        among = [priors**-power for power in _POWERS]
        scores = []
        for weights in among:
            codes = (self.shares * weights).argmax(axis=1)
            table = np.zeros((len(counts), len(counts)))
            np.add.at(table.T, codes, self._soft_truth)
            scores.append(self._score(table))
        best = among[int(np.nanargmax(scores))] if not np.isnan(scores).all() else among[0]
        return np.asarray(best / best.max())

    @cached_property
    def _soft_truth(self) -> Floats:
        """The classes of the rows, mixed with what the probabilities expect, times weights."""
        n_rows = len(self.shares)
        share = n_rows / (n_rows + _HALF)
        truth = share * one_hot(self.target) + (1 - share) * self.shares
        weights = self.target.weights
        return truth if weights is None else truth * weights[:, np.newaxis]

    def _score(self, table: Floats) -> float:
        """Return the score of a table of true by predicted classes."""
        true, predicted = np.nonzero(table > 0)
        pairs = ScoredTarget(
            true[:, np.newaxis].astype(np.int32),
            self.target.classes,
            weights=table[true, predicted],
        )
        values = np.eye(len(table))[predicted]
        try:
            metric = replace(self.metric, target=pairs)
            if not metric._weighs:  # it counts rows: as many as the weights say, nearly
                return self._counted(table)
            return metric.score(values, np.arange(len(true)))
        except ValueError:
            return float("nan")

    def _counted(self, table: Floats) -> float:
        scale = min(1.0, 2000 / max(table.sum(), 1e-12))
        counts = np.round(table * scale).astype(np.int64)
        true, predicted = np.nonzero(counts)
        times = counts[true, predicted]
        true, predicted = np.repeat(true, times), np.repeat(predicted, times)
        rows = ScoredTarget(true[:, np.newaxis].astype(np.int32), self.target.classes)
        return replace(self.metric, target=rows).score(
            np.eye(len(table))[predicted], np.arange(len(true))
        )


def _thresholds(shares: Floats, n_most: int) -> Floats:
    """Return thresholds between the probabilities that occur, and 0.5."""
    known = np.unique(np.quantile(shares, np.linspace(0, 1, n_most)))
    middles = (known[1:] + known[:-1]) / 2
    inside = middles[(middles > 0) & (middles < 1)]
    return np.unique(np.append(inside, 0.5))


# Scores of many tables of true by predicted classes at once, given the place of the positive class.
_Fast = Callable[[Floats, int], Floats]


def _f1(tables: Floats, positive: int) -> Floats:
    right = tables[:, positive, positive]
    return _ratio(2 * right, tables[:, positive].sum(axis=1) + tables[:, :, positive].sum(axis=1))


def _balanced(tables: Floats, positive: int) -> Floats:
    return np.asarray(sum(_ratio(tables[:, k, k], tables[:, k].sum(axis=1)) for k in range(2)) / 2)


def _matthews(tables: Floats, positive: int) -> Floats:
    both = tables[:, 0, 0] * tables[:, 1, 1] - tables[:, 0, 1] * tables[:, 1, 0]
    ends = tables.sum(axis=1).prod(axis=1) * tables.sum(axis=2).prod(axis=1)
    return _ratio(both, np.sqrt(ends))


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.zeros_like(above), where=below > 0))


_FAST: dict[str, _Fast] = {
    "f1": _f1,
    "f1_macro": lambda tables, positive: (_f1(tables, 0) + _f1(tables, 1)) / 2,
    "balanced_accuracy": _balanced,
    "matthews_corrcoef": _matthews,
}
