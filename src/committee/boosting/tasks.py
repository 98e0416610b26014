"""What boosting of classes and boosting of numbers do each in their own way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor

from committee.base.params import check_real
from committee.boosting.model import BoostingModel, Floats
from committee.evaluation.scored_target import ScoredTarget
from committee.losses import Quantile, SquaredError, get_loss
from committee.losses.loss import Loss
from committee.tables.class_weights import class_weights
from committee.tables.target import (
    ClassTarget,
    read_classes,
    read_known_classes,
    read_reals,
    warn_of_column,
)
from committee.trees.engine_settings import check_reals


class BoostingClassifier(ClassifierMixin, BoostingModel):
    """Base class of boosting that classifies."""

    class_weight: Any

    classes_: NDArray[Any]
    n_classes_: int

    # ---- fitting ----

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        warn_of_column(y, stacklevel=5)
        labels = read_classes(y)
        if labels.n_outputs > 1:
            raise ValueError(
                f"y should be a 1d array, got {labels.n_outputs} columns instead: "
                "sklearn.multioutput.MultiOutputClassifier boosts each of them"
            )
        return ScoredTarget(labels.codes, labels.classes, None, weights)

    def _read_new_target(self, y: Any, weights: Floats | None, known: ScoredTarget) -> ScoredTarget:
        codes = read_known_classes(y, known.classes[0])
        return ScoredTarget(codes, known.classes, None, weights)

    def _make_loss(self, target: ScoredTarget) -> Loss:
        loss = get_loss(self.loss, n_classes=len(target.classes[0]))
        self._check_loss(loss, target)
        if self.monotonic_cst is not None and loss.n_scores > 1:
            raise ValueError(
                "Monotonicity constraints are not supported with multiclass classification; "
                f"y has {len(target.classes[0])} classes, set monotonic_cst=None"
            )
        return loss

    def _class_factors(self, target: ScoredTarget) -> Floats | None:
        if self.class_weight is None:
            return None
        assert target.codes is not None
        labels = ClassTarget(target.codes, target.classes, 1)
        return class_weights(self.class_weight, labels, target.weights)

    def _target_attributes(self, target: ScoredTarget) -> dict[str, Any]:
        labels = target.classes[0]
        return {"classes_": labels, "n_classes_": len(labels), "n_outputs_": 1}

    def _validate_loaded(self) -> None:
        super()._validate_loaded()
        if hasattr(self, "_sum"):
            n_classes = len(self.classes_)
            if self.n_classes_ != n_classes or self._loss.n_classes != max(n_classes, 2):
                raise ValueError("the classes do not fit the loss")

    def _constant_model(self) -> Any:
        start = self._start.constants[np.newaxis]
        shares = self._shares_of(np.asfortranarray(start))[0]
        rows = np.zeros((self.n_classes_, self.n_features_in_))
        return DummyClassifier(strategy="prior").fit(rows, self.classes_, shares)

    # ---- answers ----

    def _labels_of(self, scores: Floats) -> NDArray[Any]:
        codes = self._objective.predictions(scores).astype(np.intp)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def _shares_of(self, scores: Floats) -> Floats:
        shares = self._objective.probabilities(scores)
        return np.ones((len(shares), 1)) if self.n_classes_ == 1 else shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the likeliest class.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            Class labels. A tie goes to the class that comes first in `classes_`.
        """
        return self._labels_of(self._scores(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes)
            One column a class, in the order of `classes_`.
        """
        return self._shares_of(self._scores(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        log_p : ndarray of float64, shape (n_rows, n_classes)
            Finite.
        """
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    def decision_function(self, X: Any) -> Floats:
        """Return the raw scores.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            For two classes the logarithm of the odds of the second one (half of it with
            exponential loss), else logarithms of probabilities up to a number for each row.
        """
        return _flat(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield predictions after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        y : ndarray of shape (n_rows,)
            Class labels; the last are those of `predict`.
        """
        return (self._labels_of(scores) for scores in self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield probabilities after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        p : ndarray of float64, shape (n_rows, n_classes)
            The last are those of `predict_proba`.
        """
        return (self._shares_of(scores) for scores in self._staged_scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield raw scores after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            The last are those of `decision_function`.
        """
        return (_flat(scores) for scores in self._staged_scores(X))


class BoostingRegressor(RegressorMixin, BoostingModel):
    """Base class of boosting that predicts numbers."""

    alpha: float
    quantiles: Any
    power: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        values, _ = read_reals(y)
        return ScoredTarget(None, [], values, weights)

    def _read_new_target(self, y: Any, weights: Floats | None, known: ScoredTarget) -> ScoredTarget:
        values, _ = read_reals(y)
        if values.shape[1] != known.n_outputs:
            raise ValueError(f"eval_set has {values.shape[1]} outputs, but y has {known.n_outputs}")
        return ScoredTarget(None, [], values, weights)

    def _make_loss(self, target: ScoredTarget) -> Loss:
        loss = get_loss(self.loss, **self._loss_settings())
        self._check_loss(loss, target)
        if isinstance(loss, SquaredError):
            assert target.reals is not None
            check_reals("squared_error", target.reals, target.weights)
        return loss

    def _loss_settings(self) -> dict[str, Any]:
        """Return what the parameters tell a loss that was named."""
        is_quantile = isinstance(self.loss, str) and self.loss == "quantile"
        if self.quantiles is not None:
            if not is_quantile:
                raise ValueError(
                    f'quantiles must be None unless loss="quantile"; got {self.quantiles!r}'
                )
            try:
                return {"quantile": Quantile(self.quantiles).q}
            except (TypeError, ValueError) as error:
                raise type(error)(f"quantiles: {error}") from error
        settings: dict[str, Any] = {}
        if is_quantile or (isinstance(self.loss, str) and self.loss == "huber"):
            open_ends = {"include_low": False, "include_high": False}
            settings["quantile"] = check_real("alpha", self.alpha, 0, 1, **open_ends)
        if isinstance(self.loss, str) and self.loss == "tweedie":
            settings["power"] = self.power
        return settings

    def _constant_model(self) -> Any:
        start = np.asfortranarray(self._start.constants[np.newaxis])
        values = self._answers(start)
        rows = np.zeros((1, self.n_features_in_))
        return DummyRegressor(strategy="constant", constant=values[0]).fit(rows, values)

    def _answers(self, scores: Floats) -> Floats:
        return self._objective.predictions(scores)

    def predict(self, X: Any) -> Floats:
        """Predict numbers.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,), (n_rows, n_outputs) or (n_rows, n_quantiles)
            Predictions. Several quantiles of a row never cross.
        """
        return self._answers(self._scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R2, the share of the variance of the target that is explained.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            What is to be predicted.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.

        Returns
        -------
        score : float
            At most one. Several quantiles have no R2: a ValueError.
        """
        self._check_fitted()
        if self._loss.n_scores > 1:
            raise ValueError(
                f"score is R2 of one prediction a row, and {self._loss!r} has "
                f"{self._loss.n_scores}; sklearn.metrics.mean_pinball_loss measures a quantile"
            )
        return float(super().score(X, y, sample_weight))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield predictions after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        y : ndarray of float64
            The last are those of `predict`.
        """
        return (self._answers(scores) for scores in self._staged_scores(X))


def _flat(scores: Floats) -> Floats:
    return scores[:, 0] if scores.shape[1] == 1 else scores
