"""What voting classifiers and regressors share: members, weights, and asking all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from committee.base.params import check_choice, check_real
from committee.combining.combiner import CommitteeModel, ask_each
from committee.combining.level_one import LevelOne, check_answers, count_fits, fit_layer
from committee.combining.level_one_plan import LevelOnePlan
from committee.combining.voting.means import COMBINATIONS
from committee.members.named_members import Named, check_class_counts
from committee.members.output import Output
from committee.members.team import Floats, Team
from committee.tables.native_table import AnyTable


class VotingModel(TransformerMixin, CommitteeModel):
    """Base class of the voting estimators."""

    _stored_attributes = ("_outputs", "_names", "_counts")
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

    def _more_attributes(self, team: Team) -> dict[str, Any]:
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
        choice = self._weight_choice()
        given = None if isinstance(choice, str) else self._given_weights(choice, pairs)
        team, seed = self._assemble(X, y, sample_weight, fit_params, pairs)
        outputs = self._outputs_of(team, pairs)
        layer = self._fit_members(team, pairs, outputs, groups, seed, wants=given is None)
        weights = given if given is not None else self._weigh(choice, team, layer)
        attributes: dict[str, Any] = {
            "estimators_": layer.members,
            "named_estimators_": self._named_fitted(pairs, layer.members),
            "weights_": weights / weights.sum(),
            "_counts": weights,
            "_outputs": layer.outputs,
            "_names": [name for name, _ in pairs],
        }
        self._adopt(team, attributes | self._more_attributes(team))

    def _fit_members(
        self,
        team: Team,
        pairs: Named,
        outputs: Sequence[Output],
        groups: Any,
        seed: int,
        *,
        wants: bool,
    ) -> LevelOne:
        is_planned = wants or self._is_prefit
        plan = self._plan(team, groups, seed) if is_planned else LevelOnePlan("splits", [[]])
        n_fits = len(pairs)
        if wants:
            n_fits = count_fits(pairs, plan, len(plan.layers[0]), len(team.y), refit=True)
        return fit_layer(
            team,
            pairs,
            outputs,
            plan,
            plan.layers[0],
            refit=True,
            wants_predictions=wants,
            progress=self._progress(n_fits),
        )

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

    def _weigh(self, choice: str, team: Team, layer: LevelOne) -> Floats:
        """Return the weights that predictions on unseen rows speak for."""
        kept = layer.covered if team.weights is None else layer.covered & (team.weights > 0)
        if not kept.any():
            raise ValueError("no row has a prediction of every member; cv leaves nothing to learn")
        predicted = np.stack([each[kept] for each in layer.predictions])
        weights = None if team.weights is None else team.weights[kept]
        found = self._learn_weights(choice, predicted, team.y[kept], weights)
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

    # ---- asking ----

    def _ask(self, X: Any, outputs: Sequence[Output] | None = None) -> Floats:
        """Return what members say: (n_members, n_rows, n_columns)."""
        table = X if isinstance(X, AnyTable) else self._open(X)
        return np.stack(list(ask_each(self.estimators_, outputs or self._outputs, table)))

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "estimators_"):
            return
        check_answers(self.estimators_, self._outputs)
        n_members = len(self.estimators_)
        if self._names != [name for name, _ in self._checked_lists()[0]]:
            raise ValueError("members and names do not fit each other")
        for weights in (self.weights_, self._counts):
            if weights.dtype != np.float64 or weights.shape != (n_members,):
                raise ValueError("members and weights do not fit each other")
            if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.any()):
                raise ValueError("the weights are no weights")
        check_class_counts(self, self._outputs)
        self.named_estimators_ = self._named_fitted(self._checked_lists()[0], self.estimators_)
