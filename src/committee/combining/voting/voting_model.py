"""What voting classifiers and regressors share: members, their weights and their predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from committee.base.arrays import Floats
from committee.base.params import check_choice, check_real
from committee.combining.combiner import CommitteeModel
from committee.combining.level_one import LayerPlan, LevelOne, Named, layer_members
from committee.combining.voting.means import COMBINATIONS
from committee.files.parts import FITTED, TEXT, Part, array, instance, list_of, maybe, whole
from committee.members.loaded_members import check_class_counts, check_outputs
from committee.members.output import Output, predict_each
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable


class VotingModel(TransformerMixin, CommitteeModel):
    """Base class of the voting estimators."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_features_in_": maybe(whole(1, size="features")),
        "estimators_": list_of(FITTED, "members", least=1),
        "_outputs": list_of(instance(Output), "members"),
        "_names": list_of(TEXT, "members"),
        "_counts": array("f8", "members", low=0.0, finite=True),
        "weights_": array("f8", "members", low=0.0, finite=True),
    }
    _stored_names: ClassVar[dict[str, str]] = {"_outputs": "_voices"}
    _derived_attributes = ("named_estimators_",)

    estimators: Any
    weights: Any
    n_jobs: int | None
    verbose: bool
    combine: str
    trim: float
    cv: Any
    random_state: Any

    # Fitted attributes.
    weights_: Floats
    _outputs: list[Output]
    _names: list[str]
    _counts: Floats  # the weights before they were brought to a sum of one: no digit is lost

    _learnt_weights: tuple[str, ...] = ()

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _learn_weights(
        self, choice: str, predicted: Floats, y: NDArray[Any], weights: Floats | None
    ) -> Floats:
        """Return weights from predictions of members on rows that they have not seen."""

    def _check_members(self, pairs: Named) -> None:
        """Raise unless the members have what the parameters need."""

    def _more_attributes(self, data: TrainingData) -> dict[str, Any]:
        """Return more fitted attributes."""
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    # ---- fitting ----

    def _check_switches(self) -> None:
        super()._check_switches()
        check_choice("combine", self.combine, COMBINATIONS)
        check_real("trim", self.trim, 0.0, 0.5, include_high=False)

    def _weight_choice(self) -> Any:
        """Return how weights are found: a name, or what was given."""
        if isinstance(self.weights, str):
            return check_choice("weights", self.weights, self._learnt_weights)
        return self.weights

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any]
    ) -> None:
        self._check_switches()
        (pairs,) = self._checked_lists()
        self._check_members(pairs)
        choice = self._weight_choice()
        given = None if isinstance(choice, str) else self._given_weights(choice, pairs)
        data, seed = self._assemble(X, y, sample_weight, fit_params, pairs)
        layer = self._fit_members(data, pairs, groups, seed, wants=given is None)
        weights = given if given is not None else self._weigh(choice, data, layer)
        attributes: dict[str, Any] = {
            "estimators_": layer.estimators,
            "named_estimators_": self._named_fitted(pairs, layer.estimators),
            "weights_": weights / weights.sum(),
            "_counts": weights,
            "_outputs": layer.outputs,
            "_names": [name for name, _ in pairs],
        }
        self._adopt(data, attributes | self._more_attributes(data))

    def _fit_members(
        self, data: TrainingData, pairs: Named, groups: Any, seed: int, *, wants: bool
    ) -> LevelOne:
        if wants or self._is_prefit:
            return self._fit_layer(data, pairs, groups, seed, wants_predictions=wants)
        members = layer_members(pairs, self._output_rule, data)
        layer = LayerPlan(members, "splits", [], wants_predictions=False)
        return layer.fit(data, self._progress(len(pairs)))

    def _given_weights(self, weights: Any, pairs: Named) -> Floats:
        """Check weights that the user gave; return those of the members that take part."""
        if weights is None:
            return np.ones(len(pairs))
        try:
            found = np.asarray(weights, np.float64)
        except (TypeError, ValueError):
            found = np.full(0, np.nan)
        n_members = len(self.estimators)
        if found.shape != (n_members,):
            raise ValueError(
                f"Number of `estimators` and weights must be equal; got {np.size(weights)} "
                f"weights, {n_members} estimators"
            )
        kept = [name for name, _ in pairs]
        own = np.array(
            [w for w, (name, _) in zip(found, self.estimators, strict=True) if name in kept]
        )
        if not np.isfinite(own).all() or (own < 0).any() or not own.any():
            raise ValueError(
                f"weights must be finite, not negative and not all zero; got {weights!r}"
            )
        return own

    def _weigh(self, choice: str, data: TrainingData, layer: LevelOne) -> Floats:
        """Return the weights learnt from predictions on unseen rows."""
        kept = layer.kept_rows(data.weights)
        predicted = np.stack([each[kept] for each in layer.predictions])
        weights = None if data.weights is None else data.weights[kept]
        found = self._learn_weights(choice, predicted, data.y[kept], weights)
        return np.asarray(found / found.sum())

    def _picked(self, numbers: NDArray[np.int64]) -> Self:
        """Return an ensemble of some of the members; the others are dropped."""
        small, names = copy(self), [self._names[number] for number in numbers]
        small.estimators = [
            (name, member if name in names else "drop") for name, member in self.estimators
        ]
        small.estimators_ = [self.estimators_[number] for number in numbers]
        small._outputs = [self._outputs[number] for number in numbers]
        small._names = names
        small.weights_ = self.weights_[numbers] / self.weights_[numbers].sum()
        small._counts = self._counts[numbers]
        pairs = list(zip(names, small.estimators_, strict=True))
        small.named_estimators_ = small._named_fitted(pairs, small.estimators_)
        return small

    # ---- predicting ----

    def _predictions(self, X: Any, outputs: Sequence[Output] | None = None) -> Floats:
        """Return the predictions of each member, shape (n_members, n_rows, n_columns)."""
        table = X if isinstance(X, AnyTable) else self._open(X)
        return np.stack(list(predict_each(self.estimators_, outputs or self._outputs, table)))

    def _each_prediction(self, X: Any) -> Floats:
        return self._predictions(X)

    @property
    def _member_weights(self) -> Floats | None:
        return self.weights_

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "estimators_"):
            return
        self._check_switches()  # some of them take part in predictions
        if self._names != [name for name, _ in self._checked_lists()[0]]:
            raise ValueError("members and names do not fit each other")
        if not (self.weights_.any() and self._counts.any()):
            raise ValueError("all weights are zero")
        check_class_counts(self, self._outputs)
        check_outputs(self.estimators_, self._outputs, self._n_features)
        self.named_estimators_ = self._named_fitted(self._checked_lists()[0], self.estimators_)
