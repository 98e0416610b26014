"""How `bootstrap_score` scores predictions: means over rows, and any other scorer."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import check_scoring, get_scorer_names

from committee.base.arrays import Floats
from committee.base.params import is_real
from committee.base.products import dot
from committee.evaluation.metric_names import scorer_name
from committee.evaluation.point632 import no_information_squared_error

# Scores that are means over rows, by name. For these each row is averaged over the resamples that
# left it out, and the no-information score has a closed form.
_CLASS_SCORES = ("accuracy", "neg_log_loss", "neg_brier_score")

_REAL_SCORES = ("r2", "neg_mean_squared_error", "neg_mean_absolute_error")
# A probability of zero would cost infinitely much; scikit-learn cuts at the same place.
_LEAST_PROBABILITY = float(np.finfo(np.float64).eps)

# Shuffles of y behind the no-information score of any other metric.
_N_SHUFFLES = 50


def choose_metric(
    estimator: Any,
    scoring: Any,
    classes: NDArray[Any] | None,
    target: NDArray[Any],
    weights: Floats | None,
) -> tuple[ClassMetric | RealMetric | AnyMetric, str]:
    if scoring is None:
        if classes is None and not is_regressor(estimator):
            raise ValueError(
                f"scoring must be given: {type(estimator).__name__} is neither a classifier nor "
                "a regressor"
            )
        scoring = "r2" if classes is None else "accuracy"
    scoring = scorer_name(scoring)
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(f"scoring must be a name, a callable or None; got {scoring!r}")
    if classes is not None and scoring in _CLASS_SCORES:
        return ClassMetric(scoring, classes), scoring
    if classes is None and scoring in _REAL_SCORES:
        return RealMetric(scoring, _scale(scoring, target, weights)), scoring
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise ValueError(
            "scoring must be one of sklearn.metrics.get_scorer_names(), a callable or None; "
            f"got {scoring!r}"
        )
    scorer = check_scoring(estimator, scoring)
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))
    measure = getattr(scorer, "_score_func", scorer)
    if weights is not None and "sample_weight" not in inspect.signature(measure).parameters:
        raise ValueError(f"sample_weight is given, but scoring {name!r} takes no sample_weight")
    return AnyMetric(scorer, name), name


def _scale(scoring: str, target: Floats, weights: Floats | None) -> Floats:
    if scoring != "r2":
        return np.ones(target.shape[1])
    if (target == target[0]).all(axis=0).any():
        raise ValueError(
            'y is constant, so "r2" is not defined; pass scoring="neg_mean_squared_error"'
        )
    centre = np.average(target, axis=0, weights=weights)
    return np.asarray(1 / np.average((target - centre) ** 2, axis=0, weights=weights))


@dataclass(frozen=True, eq=False)
class ClassMetric:
    """A mean over rows for classes. A "prediction" is the score for each possible true class."""

    name: str
    classes: NDArray[Any]

    def predict(self, model: Any, X: Any) -> Floats:
        if self.name == "accuracy":
            labels = np.asarray(model.predict(X)).reshape(-1, 1)
            return np.asarray(labels == self.classes, np.float64)
        if not hasattr(model, "predict_proba"):
            raise TypeError(
                f"scoring {self.name!r} needs probabilities, but {type(model).__name__} has no "
                "predict_proba"
            )
        shares = _aligned(model, np.asarray(model.predict_proba(X), np.float64), self.classes)
        if self.name == "neg_log_loss":
            clipped = shares.clip(_LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
            return np.asarray(np.log(clipped))
        # The squared distance from the corner of the class; of two classes one is enough.
        distance = 1 - 2 * shares + np.square(shares).sum(axis=1, keepdims=True)
        return np.asarray(-distance / 2 if len(self.classes) == 2 else -distance)

    def rows(self, predictions: Floats, target: NDArray[Any]) -> Floats:
        return np.asarray(predictions[np.arange(len(target)), target])

    def no_information(
        self, predictions: Floats, target: NDArray[Any], weights: Floats | None
    ) -> float:
        shares = np.bincount(target, weights, minlength=len(self.classes))
        means = np.average(predictions, axis=0, weights=weights)
        return dot(means, shares) / float(shares.sum())


@dataclass(frozen=True, eq=False)
class RealMetric:
    """A mean over rows for reals; `scale` makes squares of each output shares of its variance."""

    name: str
    scale: Floats

    def predict(self, model: Any, X: Any) -> Floats:
        return np.asarray(model.predict(X), np.float64).reshape(-1, len(self.scale))

    def rows(self, predictions: Floats, target: NDArray[Any]) -> Floats:
        errors = np.abs(target - predictions)
        losses = errors if self.name == "neg_mean_absolute_error" else errors**2
        return np.asarray(self._as_score(losses))

    def no_information(
        self, predictions: Floats, target: NDArray[Any], weights: Floats | None
    ) -> float:
        if self.name == "neg_mean_absolute_error":
            pairs = zip(target.T, predictions.T, strict=True)
            return float(self._as_score(np.array([_mean_distance(*p, weights) for p in pairs])))
        return float(self._as_score(no_information_squared_error(target, predictions, weights)))

    def _as_score(self, losses: Floats) -> Any:
        return (1.0 if self.name == "r2" else 0.0) - (losses * self.scale).mean(axis=-1)


def _mean_distance(target: Floats, predictions: Floats, weights: Floats | None) -> float:
    """Return the mean of |y_i - p_j| over all pairs, in O(n log n)."""
    given = np.ones(len(target)) if weights is None else weights
    order = np.argsort(target)
    values, mass = target[order], given[order]
    below = np.searchsorted(values, predictions)
    mass_below = np.concatenate([[0.0], np.cumsum(mass)])
    sum_below = np.concatenate([[0.0], np.cumsum(mass * values)])
    excess = predictions * (2 * mass_below[below] - mass_below[-1])
    distances = excess + sum_below[-1] - 2 * sum_below[below]
    return float(np.average(distances, weights=weights) / mass_below[-1])


@dataclass(frozen=True, eq=False)
class AnyMetric:
    """A scorer of scikit-learn or of the user's, which sees a model and a table."""

    scorer: Callable[..., Any]
    name: str

    def score(self, model: Answers, X: Any, y: NDArray[Any], weights: Floats | None) -> float:
        options = {} if weights is None else {"sample_weight": weights}
        value = self.scorer(model, X, y, **options)
        if not is_real(value):
            raise TypeError(f"scoring must give one number; {self.name} gave {value!r}")
        return float(value) + 0.0  # no "-0" for a loss of zero

    def try_score(
        self, model: Answers, X: Any, y: NDArray[Any], weights: Floats | None
    ) -> tuple[float, str]:
        """Score, or say why not: out of bag there may be one class only, for one."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            try:
                score = self.score(model, X, y, weights)
            except ValueError as error:  # the metric has worked on all rows
                return np.nan, str(error)
        return score, "it is not defined for all sets of rows" if np.isnan(score) else ""

    def no_information(
        self,
        model: Answers,
        X: Any,
        y: NDArray[Any],
        weights: Floats | None,
        rng: np.random.Generator,
    ) -> float:
        scores = []
        for _ in range(_N_SHUFFLES):
            order = rng.permutation(len(y))
            # A pair of a target and a prediction weighs what both weigh.
            both = None if weights is None else weights * weights[order]
            scores.append(self.score(model, X, y[order], both))
        return float(np.mean(scores))


class Answers:
    """A fitted model as metrics see it: it knows all classes, and predicts a table once.

    All else is the model's own, its class included.
    """

    def __init__(self, model: Any, classes: NDArray[Any] | None) -> None:
        self._model = model
        self._classes = classes
        self._known: dict[str, tuple[Any, Any]] = {}

    def __getattribute__(self, name: str) -> Any:
        # Metrics ask for the class in messages, and a user's may test it.
        if name == "__class__":
            return type(self._model)
        return super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._model, name)
        if name == "classes_" and self._classes is not None:
            return self._classes
        if name not in ("predict", "predict_proba", "decision_function"):
            return value
        if name == "decision_function" and self._misses_a_class():
            raise AttributeError("decision_function of a model that has not seen all classes")

        def answer(X: Any) -> Any:
            if name not in self._known or self._known[name][0] is not X:
                self._known[name] = X, self._align(name, value(X))
            return self._known[name][1]

        answer.__name__ = name  # by which scikit-learn knows them apart
        return answer

    def _misses_a_class(self) -> bool:
        return self._classes is not None and len(self._model.classes_) < len(self._classes)

    def _align(self, name: str, answer: Any) -> Any:
        if name == "predict_proba" and self._misses_a_class():
            return _aligned(self._model, answer, self._classes)
        return answer


def _aligned(model: Any, shares: Floats, classes: Any) -> Floats:
    """Return probabilities with a column for each class, also those the model has not seen."""
    if shares.shape[1] == len(classes):
        return shares
    place = {label: column for column, label in enumerate(classes.tolist())}
    aligned = np.zeros((len(shares), len(classes)))
    aligned[:, [place[label] for label in model.classes_.tolist()]] = shares
    return aligned
