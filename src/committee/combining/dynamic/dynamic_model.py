"""What dynamic selection of classifiers and of regressors share.

Members are scored on level-one data, that is on rows that they have not seen. Members that did well
on the nearest neighbours of a new row among these predict it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_bool, check_choice, check_int
from committee.combining.combiner import CommitteeModel
from committee.combining.dynamic.competence import LocalCompetence, by_distance, local_means
from committee.combining.dynamic.neighborhood import METRICS, Neighborhood
from committee.files.parts import FITTED, Part, instance, list_of, whole
from committee.members.loaded_members import check_class_counts, check_outputs
from committee.members.output import Output, predict_each
from committee.tables.native_table import AnyTable


class DynamicModel(CommitteeModel):
    """Base class of the dynamic selections."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_features_in_": whole(1, size="features"),
        "estimators_": list_of(FITTED, "members", least=1),
        "_outputs": list_of(instance(Output), "members"),
        "_neighborhood": instance(Neighborhood),
    }
    _stored_names: ClassVar[dict[str, str]] = {"_outputs": "_voices"}
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
    _outputs: list[Output]
    _neighborhood: Neighborhood

    _methods: tuple[str, ...]

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _scorer(
        self, predictions: Sequence[Floats], y: NDArray[Any]
    ) -> tuple[Floats, dict[str, Any]]:
        """Return how members did on level-one rows, and fitted attributes."""

    @abstractmethod
    def _weigh(self, values: Floats, counts: Floats) -> Floats:
        """Return the weights of members from how they did on neighbours."""

    @abstractmethod
    def _shown(self, values: Floats) -> Floats:
        """Return mean values of neighbours as a competence that users read."""

    # ---- fitting ----

    def _check_switches(self) -> None:
        super()._check_switches()
        check_choice("method", self.method, self._methods)
        check_int("n_neighbors", self.n_neighbors, 1)
        check_choice("weights", self.weights, ("uniform", "distance"))
        check_choice("metric", self.metric, METRICS)
        check_bool("scale", self.scale)
        check_bool("refit", self.refit)

    @property
    def _reads_cells(self) -> bool:
        return True  # of neighbours

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any]
    ) -> None:
        self._check_switches()
        (pairs,) = self._checked_lists()
        data, seed = self._assemble(X, y, sample_weight, fit_params, pairs)
        table, weights = data.table, data.weights
        layer = self._fit_layer(data, pairs, groups, seed, refit=self.refit)
        kept = layer.kept_rows(weights)
        predictions = [each[kept] for each in layer.predictions]
        values, attributes = self._scorer(predictions, data.y[kept])
        neighborhood = Neighborhood.fit(
            AnyTable(table.take(kept, None)),
            values,
            None if weights is None else weights[kept],
            self.metric,
            bool(self.scale),
        )
        attributes |= {
            "estimators_": layer.estimators,
            "named_estimators_": self._named_fitted(pairs, layer.estimators),
            "n_level_one_rows_": len(kept),
            "_outputs": layer.outputs,
            "_neighborhood": neighborhood,
        }
        self._adopt(data, attributes)

    # ---- predicting ----

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
        """Return the mean prediction of the members, each row with its own weights."""
        table = self._open(X)
        weights, _, _ = self._local(table)
        predicted = predict_each(self.estimators_, self._outputs, table)
        return np.asarray(sum(weights[:, [number]] * each for number, each in enumerate(predicted)))

    def explain(self, X: Any) -> LocalCompetence:
        """Return the weights of members on rows, and how well each did on their neighbours.

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
        self._check_switches()  # some of them take part in predictions
        n_members = len(self.estimators_)
        check_class_counts(self, self._outputs)
        check_outputs(self.estimators_, self._outputs, self.n_features_in_)
        if self._neighborhood.values.shape[1] != n_members:
            raise ValueError("the members do not fit what is known about them")
        if self._neighborhood.encoder.schema.n_features != self.n_features_in_:
            raise ValueError("the level-one rows do not fit the columns")
        if sum(not isinstance(each, str) for _, each in self.estimators) != n_members:
            raise ValueError("the fitted members are not those that were given")
        self.named_estimators_ = self._named_fitted(self._checked_lists()[0], self.estimators_)
