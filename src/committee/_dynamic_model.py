"""What dynamic selection of classifiers and of regressors share.

Members are judged on level-one data, that is on rows that they have not seen. A new row is answered
by members that did well on its nearest neighbours among these rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee._any_table import AnyTable, reads_tables
from committee._competence import LocalCompetence, by_distance, local_means
from committee._level_one import LevelOne, fit_layer
from committee._level_one_plan import PlanRows, check_cv, plan_level_one
from committee._named_members import Named, NamedMembers
from committee._neighborhood import METRICS, Neighborhood
from committee._params import check_bool, check_choice, check_int, check_seed
from committee._progress import Progress
from committee._sampling import parameter_seed
from committee._target import check_same_length
from committee._team import Floats, Team
from committee._voice import Voice
from committee._weights import read_weights

_SPLITS = 11  # as in stacking: the same seed holds out the same rows


class DynamicModel(NamedMembers):
    """Base class of the dynamic selections."""

    _stored_attributes = ("_voices", "_neighborhood")
    _derived_attributes = ("named_estimators_",)

    estimators: Any
    method: str
    n_neighbors: int
    weights: str
    metric: str
    scale: bool
    cv: Any
    refit: bool
    n_jobs: int | None
    verbose: int
    random_state: Any

    # Fitted attributes.
    n_level_one_rows_: int
    _voices: list[Voice]
    _neighborhood: Neighborhood

    _methods: tuple[str, ...]

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return class codes and labels, or numbers and None."""

    @abstractmethod
    def _voice(self, name: str, estimator: Any, labels: NDArray[Any] | None) -> Voice:
        """Return how a member is asked."""

    @abstractmethod
    def _judge(self, opinions: Sequence[Floats], y: NDArray[Any]) -> tuple[Floats, dict[str, Any]]:
        """Return how members did on level-one rows, and fitted attributes."""

    @abstractmethod
    def _weigh(self, values: Floats, counts: Floats) -> Floats:
        """Return the weights of members from how they did on neighbours."""

    @abstractmethod
    def _shown(self, values: Floats) -> Floats:
        """Return mean values of neighbours as a competence that users read."""

    # ---- fitting ----

    def _check_switches(self) -> None:
        check_choice("method", self.method, self._methods)
        check_int("n_neighbors", self.n_neighbors, 1)
        check_choice("weights", self.weights, ("uniform", "distance"))
        check_choice("metric", self.metric, METRICS)
        check_bool("scale", self.scale)
        check_bool("refit", self.refit)
        check_cv(self.cv)
        is_switch = isinstance(self.verbose, bool | np.bool_)
        check_int("verbose", int(self.verbose) if is_switch else self.verbose, 0)

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any]
    ) -> None:
        self._check_switches()
        (pairs,) = self._checked_lists()
        table = AnyTable(X)
        codes, labels = self._read_target(y, pairs)
        check_same_length(table.n_rows, len(codes))
        weights = read_weights(sample_weight, table.n_rows)
        seed = check_seed(self.random_state)
        own_seed = None if self.random_state is None else seed
        routed = self._routed(fit_params)
        team = Team(table, codes, labels, weights, self.n_jobs, own_seed, routed)
        layer = self._fit_members(team, pairs, groups, seed)
        is_kept = layer.covered if weights is None else layer.covered & (weights > 0)
        kept = np.flatnonzero(is_kept)
        if len(kept) == 0:
            raise ValueError("no row has an opinion of every member; cv leaves no level-one data")
        opinions = [each[kept] for each in layer.opinions]
        values, attributes = self._judge(opinions, codes[kept])
        neighborhood = Neighborhood.fit(
            AnyTable(table.take(kept, None)),
            values,
            None if weights is None else weights[kept],
            self.metric,
            bool(self.scale),
        )
        attributes |= {
            "estimators_": layer.members,
            "named_estimators_": self._named_fitted(pairs, layer.members),
            "n_features_in_": table.n_features,
            "n_level_one_rows_": len(kept),
            "_voices": layer.voices,
            "_neighborhood": neighborhood,
        }
        if labels is not None:
            attributes["classes_"] = labels
        if table.names is not None:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(attributes)

    def _fit_members(self, team: Team, pairs: Named, groups: Any, seed: int) -> LevelOne:
        n_rows, is_class = len(team.y), team.labels is not None
        rows = PlanRows(
            n_rows,
            team.y,
            is_class,
            team.weights,
            groups,
            team.table.native,
            parameter_seed(seed, _SPLITS),
        )
        plan = plan_level_one(self.cv, rows, 1)
        (splits,) = plan.layers
        n_fits = len(pairs) * (len(splits) * (plan.source != "prefit") + bool(self.refit))
        return fit_layer(
            team,
            pairs,
            [self._voice(name, each, team.labels) for name, each in pairs],
            plan,
            splits,
            refit=self.refit,
            wants_opinions=True,
            progress=Progress(type(self).__name__, "fits", max(n_fits, 1), int(self.verbose)),
        )

    # ---- asking ----

    def _open(self, X: Any) -> AnyTable:
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        return AnyTable(X).matched(
            None if names is None else tuple(names), self.n_features_in_, type(self).__name__, 5
        )

    def _local(self, table: AnyTable) -> tuple[Floats, Floats, Floats]:
        """Return weights of members, mean values on the neighbours, and distances reached."""
        n_members = len(self.estimators_)
        weights, means = np.empty((2, table.n_rows, n_members))
        radius = np.empty(table.n_rows)
        near = self._neighborhood
        for rows, places, distances, counts in near.nearest(table, self.n_neighbors, self.n_jobs):
            radius[rows] = np.where(counts > 0, distances, 0.0).max(axis=1)
            values = near.values[places]
            if self.weights == "distance":
                counts = by_distance(counts, distances)
            weights[rows] = self._weigh(values, counts)
            means[rows] = local_means(values, counts)
        return weights, means, radius

    def _mixed(self, X: Any) -> Floats:
        """Return the mean opinion of the members, each row with its own weights."""
        table = self._open(X)
        weights, _, _ = self._local(table)
        total: Floats | None = None
        for number, (member, voice) in enumerate(zip(self.estimators_, self._voices, strict=True)):
            shown = table.shown_to(member) if reads_tables(member) else table.native
            part = weights[:, number : number + 1] * voice.ask(member, shown)
            total = part if total is None else total + part
        assert total is not None
        return total

    def explain(self, X: Any) -> LocalCompetence:
        """Tell who is asked about rows, and how well each did on their neighbours.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        result : LocalCompetence
            `competence` and `weight` of each member for each row; ``to_frame()`` is a table.
        """
        weights, means, radius = self._local(self._open(X))
        names = tuple(n for n, each in self.named_estimators_.items() if not isinstance(each, str))
        return LocalCompetence(names, self._shown(means), weights, radius)

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "estimators_"):
            return
        n_members = len(self.estimators_)
        if len(self._voices) != n_members or not all(type(v) is Voice for v in self._voices):
            raise ValueError("the members do not fit their voices")
        if type(self._neighborhood) is not Neighborhood:
            raise ValueError("the level-one rows are of another type")
        if self._neighborhood.values.shape[1] != n_members:
            raise ValueError("the members do not fit what is known about them")
        if self._neighborhood.encoder.schema.n_features != self.n_features_in_:
            raise ValueError("the level-one rows do not fit the columns")
        if sum(not isinstance(each, str) for _, each in self.estimators) != n_members:
            raise ValueError("the fitted members are not those that were given")
        self.named_estimators_ = self._named_fitted(self._checked_lists()[0], self.estimators_)
