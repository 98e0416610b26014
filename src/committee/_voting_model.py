"""What voting classifiers and regressors share: members, weights, and asking all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from committee._any_table import AnyTable, reads_tables
from committee._combining import COMBINATIONS
from committee._level_one import LevelOne, check_answers, count_fits, fit_layer
from committee._level_one_plan import LevelOnePlan, PlanRows, check_cv, plan_level_one
from committee._named_members import Named, NamedMembers, check_class_counts
from committee._params import check_choice, check_int, check_real, check_seed
from committee._progress import Progress
from committee._sampling import parameter_seed
from committee._target import check_same_length
from committee._team import Floats, Team
from committee._voice import Voice
from committee._weights import read_weights

_SPLITS = 11  # what a seed of its own is made for


class VotingModel(TransformerMixin, NamedMembers):
    """Base class of the voting estimators."""

    _stored_attributes = ("_voices", "_names", "_counts")
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
    _voices: list[Voice]
    _names: list[str]
    _counts: Floats  # the weights before they were brought to a sum of one: no digit is lost

    _learnt_weights: tuple[str, ...] = ()

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return class codes and labels, or numbers and None."""

    @abstractmethod
    def _voice(self, name: str, estimator: Any, labels: NDArray[Any] | None) -> Voice:
        """Return how a member is asked."""

    @abstractmethod
    def _learn_weights(
        self, choice: str, said: Floats, y: NDArray[Any], weights: Floats | None
    ) -> Floats:
        """Return weights from opinions of members on rows that they have not seen."""

    def _more_attributes(self, team: Team) -> dict[str, Any]:
        """Return more fitted attributes."""
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    # ---- fitting ----

    def _check_switches(self) -> None:
        check_cv(self.cv)
        check_choice("combine", self.combine, COMBINATIONS)
        check_real("trim", self.trim, 0.0, 0.5, include_high=False)
        is_switch = isinstance(self.verbose, bool | np.bool_)
        check_int("verbose", int(self.verbose) if is_switch else self.verbose, 0)

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
        table = AnyTable(X)
        codes, labels = self._read_target(y, pairs)
        check_same_length(table.n_rows, len(codes))
        seed = check_seed(self.random_state)
        team = Team(
            table,
            codes,
            labels,
            read_weights(sample_weight, table.n_rows),
            self.n_jobs,
            None if self.random_state is None else seed,
            self._routed(fit_params),
        )
        voices = [self._voice(name, each, labels) for name, each in pairs]
        layer = self._fit_members(team, pairs, voices, groups, seed, wants=given is None)
        weights = given if given is not None else self._weigh(choice, team, layer)
        attributes: dict[str, Any] = {
            "estimators_": layer.members,
            "named_estimators_": self._named_fitted(pairs, layer.members),
            "weights_": weights / weights.sum(),
            "_counts": weights,
            "n_features_in_": table.n_features,
            "_voices": layer.voices,
            "_names": [name for name, _ in pairs],
        }
        if labels is not None:
            attributes["classes_"] = labels
        if table.names is not None:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        attributes |= self._more_attributes(team)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(attributes)

    def _fit_members(
        self,
        team: Team,
        pairs: Named,
        voices: Sequence[Voice],
        groups: Any,
        seed: int,
        *,
        wants: bool,
    ) -> LevelOne:
        if wants or self._is_prefit:
            rows = PlanRows(
                len(team.y),
                team.y,
                team.labels is not None,
                team.weights,
                groups,
                team.table.native,
                parameter_seed(seed, _SPLITS),
            )
            plan = plan_level_one(self.cv, rows, 1)
        else:
            plan = LevelOnePlan("splits", [[]])
        n_fits = len(pairs)
        if wants:
            n_fits = count_fits(pairs, plan, len(plan.layers[0]), len(team.y), refit=True)
        progress = Progress(type(self).__name__, "fits", n_fits, int(self.verbose))
        return fit_layer(
            team,
            pairs,
            voices,
            plan,
            plan.layers[0],
            refit=True,
            wants_opinions=wants,
            progress=progress,
        )

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

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
        """Return the weights that opinions on unseen rows speak for."""
        kept = layer.covered if team.weights is None else layer.covered & (team.weights > 0)
        if not kept.any():
            raise ValueError("no row has an opinion of every member; cv leaves nothing to learn")
        said = np.stack([each[kept] for each in layer.opinions])
        weights = None if team.weights is None else team.weights[kept]
        found = self._learn_weights(choice, said, team.y[kept], weights)
        return np.asarray(found / found.sum())

    # ---- asking ----

    def _ask(self, X: Any, voices: Sequence[Voice] | None = None) -> Floats:
        """Return what members say: (n_members, n_rows, n_columns)."""
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        table = AnyTable(X).matched(
            None if names is None else tuple(names), self.n_features_in_, type(self).__name__, 5
        )
        return np.stack(
            [
                voice.ask(member, table.shown_to(member) if reads_tables(member) else table.native)
                for member, voice in zip(self.estimators_, voices or self._voices, strict=True)
            ]
        )

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "estimators_"):
            return
        check_answers(self.estimators_, self._voices)
        n_members = len(self.estimators_)
        if self._names != [name for name, _ in self._checked_lists()[0]]:
            raise ValueError("members and names do not fit each other")
        for weights in (self.weights_, self._counts):
            if weights.dtype != np.float64 or weights.shape != (n_members,):
                raise ValueError("members and weights do not fit each other")
            if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.any()):
                raise ValueError("the weights are no weights")
        check_class_counts(self, self._voices)
        self.named_estimators_ = self._named_fitted(self._checked_lists()[0], self.estimators_)
