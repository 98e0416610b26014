"""Forests of classes and of numbers: how each reads its target, weighs its rows and predicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from committee.base.arrays import Floats
from committee.base.params import check_choice, check_real
from committee.evaluation.oob import OobEstimates
from committee.evaluation.scored_target import ScoredTarget
from committee.files.parts import CLASS_PARTS, Part
from committee.forests.fit import ForestModel
from committee.forests.uncertainty import ClassifierUncertainty, RegressorUncertainty
from committee.tables.class_weights import class_weights
from committee.tables.target import ClassTarget, read_classes, read_reals
from committee.trees.engine_settings import check_reals
from committee.trees.trees import DecisionTreeClassifier, DecisionTreeRegressor


class ForestClassifier(ClassifierMixin, ClassifierUncertainty, ForestModel):
    """Base class of the forests that classify."""

    class_weight: Any
    leaf_smoothing: float
    stratify: str | None
    voting: str

    classes_: Any
    n_classes_: Any

    _criteria = DecisionTreeClassifier._criteria
    _stored_parts: ClassVar[dict[str, Part]] = CLASS_PARTS
    _tree_class = DecisionTreeClassifier

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    # ---- fitting ----

    def _check_switches(self) -> None:
        super()._check_switches()
        check_choice("voting", self.voting, ("soft", "hard"))
        check_choice("stratify", self.stratify, ("classes", "balanced"), none=True)
        presets = ("balanced", "balanced_subsample")
        if isinstance(self.class_weight, str) and self.class_weight not in presets:
            raise ValueError(
                'class_weight must be None, "balanced", "balanced_subsample", a dict from classes '
                f"to weights or a list of dicts (one an output); got {self.class_weight!r}"
            )

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        labels = read_classes(y)
        return ScoredTarget(labels.codes, labels.classes, None, weights)

    def _class_factors(self, target: ScoredTarget) -> tuple[Floats | None, bool]:
        choice = self.class_weight
        if choice is None:
            return None, False
        if isinstance(choice, str) and choice == "balanced_subsample":
            if self._draws_rows:
                return None, True
            choice = "balanced"
        assert target.codes is not None
        labels = ClassTarget(target.codes, target.classes, target.n_outputs)
        return class_weights(choice, labels, target.weights), False

    def _smoothing_of_leaves(self) -> float:
        smoothing = check_real("leaf_smoothing", self.leaf_smoothing, 0.0)
        if smoothing > 0 and self.monotonic_cst is not None:
            raise ValueError(
                "leaf_smoothing must be 0 with monotonic_cst: leaves drawn to their parents "
                f"could break the constraints; got {smoothing}"
            )
        return smoothing

    def _strata(self, target: ScoredTarget) -> tuple[NDArray[np.int32] | None, bool]:
        if self.stratify is None:
            return None, False
        if target.n_outputs > 1:
            raise ValueError(
                f"stratify must be None with several outputs; y has {target.n_outputs}"
            )
        assert target.codes is not None
        return np.ascontiguousarray(target.codes[:, 0]), self.stratify == "balanced"

    def _target_attributes(self, target: ScoredTarget) -> dict[str, Any]:
        n_classes = [len(labels) for labels in target.classes]
        is_single = target.n_outputs == 1
        return {
            "classes_": target.classes[0] if is_single else target.classes,
            "n_classes_": n_classes[0] if is_single else n_classes,
            "n_outputs_": target.n_outputs,
        }

    def _oob_attributes(self, estimates: OobEstimates, target: ScoredTarget) -> dict[str, Any]:
        shares: Any = target.probabilities(estimates.values)
        return estimates.attributes("oob_decision_function_", shares)

    # ---- predicting ----

    def _class_labels(self) -> list[NDArray[Any]]:
        return [self.classes_] if self.n_outputs_ == 1 else self.classes_

    @property
    def _is_hard(self) -> bool:
        return self.voting == "hard"

    def _split_outputs(self, values: Floats) -> list[Floats]:
        ends = np.cumsum(self.n_classes_)[:-1]
        return [np.ascontiguousarray(part) for part in np.split(values, ends, axis=1)]

    def _labels_of(self, values: Floats) -> NDArray[Any]:
        if self.n_outputs_ == 1:
            labels: NDArray[Any] = self.classes_[values.argmax(axis=1)]
            return labels
        parts = zip(self.classes_, self._split_outputs(values), strict=True)
        return np.column_stack([labels[part.argmax(axis=1)] for labels, part in parts])

    def _shares_of(self, values: Floats) -> Floats | list[Floats]:
        return values if self.n_outputs_ == 1 else self._split_outputs(values)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest averaged probability, or the most votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Class labels. A tie goes to the class that comes first in `classes_`.
        """
        return self._labels_of(self._means(X))

    def predict_proba(self, X: Any) -> Floats | list[Floats]:
        """Return the averaged probabilities of the trees, or the shares of their votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes), or a list of these
            One column a class, in the order of `classes_`; a list for several outputs.
        """
        return self._shares_of(self._means(X))

    def predict_log_proba(self, X: Any) -> Floats | list[Floats]:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        log_p : ndarray of float64, shape (n_rows, n_classes), or a list of these
            Minus infinity for classes that no tree believes in.
        """
        values = self._means(X)
        with np.errstate(divide="ignore"):
            return self._shares_of(np.log(values))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield what the first tree predicts, what the first two predict, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Class labels; the last are those of `predict`.
        """
        return (self._labels_of(values) for values in self._staged_means(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats | list[Floats]]:
        """Yield the probabilities of the first tree, of the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        p : ndarray of float64, shape (n_rows, n_classes), or a list of these
            The last are those of `predict_proba`.
        """
        return (self._shares_of(values) for values in self._staged_means(X))


class ForestRegressor(RegressorMixin, RegressorUncertainty, ForestModel):
    """Base class of the forests that predict numbers."""

    _criteria = DecisionTreeRegressor._criteria
    _tree_class = DecisionTreeRegressor

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        values, _ = read_reals(y)
        return ScoredTarget(None, [], values, weights)

    def _check_target(self, target: ScoredTarget) -> None:
        assert target.reals is not None
        check_reals(self.criterion, target.reals, target.weights)

    def _oob_attributes(self, estimates: OobEstimates, target: ScoredTarget) -> dict[str, Any]:
        values = estimates.values
        flat = values[:, 0] if target.n_outputs == 1 else values
        return estimates.attributes("oob_prediction_", flat)

    def _flat(self, values: Floats) -> Floats:
        return values[:, 0] if self.n_outputs_ == 1 else values

    def predict(self, X: Any) -> Floats:
        """Predict the mean of what the trees predict.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,) or (n_rows, n_outputs)
            Predictions.
        """
        return self._flat(self._means(X))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield what the first tree predicts, what the first two predict, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        y : ndarray of float64, shape (n_rows,) or (n_rows, n_outputs)
            The last are those of `predict`.
        """
        return (self._flat(values) for values in self._staged_means(X))
