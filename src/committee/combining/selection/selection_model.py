"""What ensemble selection of classifiers and of regressors shares: fitting, and weighted means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from committee.base.arrays import Floats
from committee.base.params import check_bool, check_int, check_real
from committee.base.sampling import SeedUse, parameter_seed
from committee.combining.combiner import CommitteeModel
from committee.combining.level_one import LevelOne, Named
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.combining.selection.greedy_selection import SelectionRules
from committee.combining.selection.selection_record import Selection, select
from committee.evaluation.metric_names import scorer_name
from committee.evaluation.scored_target import ScoredTarget, resolve_metric
from committee.files.parts import FITTED, Part, array, instance, list_of, maybe, whole
from committee.members.loaded_members import check_class_counts, check_outputs
from committee.members.output import Output, predict_each
from committee.members.training import Task, TrainingData


class SelectionModel(CommitteeModel):
    """Base class of the estimators that select members from a library of models."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_features_in_": maybe(whole(1, size="features")),
        "estimators_": list_of(FITTED, "members", least=1),
        "_outputs": list_of(instance(Output), "members"),
        "weights_": array("f8", None, low=0.0, finite=True),
        "selection_": instance(Selection),
    }
    _stored_names: ClassVar[dict[str, str]] = {"_outputs": "_voices"}
    _derived_attributes = ("named_estimators_",)

    estimators: Any
    n_rounds: int
    scoring: Any
    sorted_init: int | str
    n_bags: int
    bag_fraction: float
    cv: Any
    refit: bool
    n_jobs: int | None
    verbose: int
    random_state: Any

    # Fitted attributes.
    weights_: Floats
    selection_: Selection
    feature_names_in_: NDArray[Any]
    _outputs: list[Output]

    _default_scoring: str

    # ---- fitting ----

    def _check_switches(self) -> None:
        super()._check_switches()
        check_int("n_rounds", self.n_rounds, 1)
        check_int("n_bags", self.n_bags, 1)
        check_real("bag_fraction", self.bag_fraction, 0.0, 1.0, include_low=False)
        check_bool("refit", self.refit)
        is_auto = isinstance(self.sorted_init, str) and self.sorted_init == "auto"
        if isinstance(self.sorted_init, str) and not is_auto:
            raise ValueError(f'sorted_init must be an int >= 0 or "auto"; got {self.sorted_init!r}')
        if not is_auto:
            check_int("sorted_init", self.sorted_init, 0)
        if self.scoring is not None and isinstance(resolve_metric(self.scoring, "scoring"), bool):
            raise TypeError(
                f"scoring must be None, a metric or the name of a scorer; got {self.scoring!r}"
            )

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any]
    ) -> None:
        self._check_switches()
        (pairs,) = self._checked_lists()
        data, seed = self._assemble(X, y, sample_weight, fit_params, pairs)
        layer = self._fit_layer(data, pairs, groups, seed, refit=self.refit, fits_whole=False)
        selection = self._select(data, layer, pairs, groups, seed)
        chosen = np.flatnonzero(selection.weights)
        members = self._finished(data, layer, pairs, chosen)
        attributes: dict[str, Any] = {
            "estimators_": members,
            "named_estimators_": self._named_chosen(chosen, members, selection),
            "weights_": selection.weights,
            "selection_": selection,
            "_outputs": [layer.members[place].output for place in chosen],
        }
        self._adopt(data, attributes)

    @property
    def _outcome(self) -> str:
        return f"{len(self.estimators_)} of {len(self.weights_)} members chosen"

    def _select(
        self, data: TrainingData, layer: LevelOne, pairs: Named, groups: Any, seed: int
    ) -> Selection:
        rows = layer.covered(data.weights)
        _check_predictions(pairs, layer.predictions, rows)
        weights = None if data.weights is None else data.weights[rows]
        truth = data.y[rows][:, np.newaxis]
        target = (
            ScoredTarget(reals=truth, weights=weights)
            if data.labels is None
            else ScoredTarget(truth.astype(np.int32), [data.labels], weights=weights)
        )
        scoring = self._default_scoring if self.scoring is None else scorer_name(self.scoring)
        rules = SelectionRules(
            self.n_rounds,
            self.sorted_init,
            self.n_bags,
            float(self.bag_fraction),
            parameter_seed(seed, SeedUse.BAGS),
        )
        return select(
            tuple(name for name, _ in pairs),
            MemberPredictions(
                np.stack([each[rows] for each in layer.predictions]), target, scoring
            ),
            rules,
            scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring)),
            None if groups is None else np.asarray(groups)[rows],
        )

    def _finished(
        self, data: TrainingData, layer: LevelOne, pairs: Named, chosen: NDArray[np.intp]
    ) -> list[Any]:
        """Return the chosen members; those that are to be fitted to all rows now are."""
        fitted = [layer.members[place].estimator for place in chosen]
        late = [k for k, estimator in enumerate(fitted) if estimator is None]
        templates = [
            data.template(pairs[chosen[k]][0], int(chosen[k]), pairs[chosen[k]][1]) for k in late
        ]
        tasks = [Task(template) for template in templates]
        results = data.run(tasks, self._progress(len(tasks), "chosen members"))
        for k, (estimator, _) in zip(late, results, strict=True):
            fitted[k] = estimator
        return fitted

    def _picked(self, numbers: NDArray[np.int64]) -> Self:
        """Return an ensemble of some of the chosen models; `selection_` is about all of them."""
        small, places = copy(self), np.flatnonzero(self.weights_)[numbers]
        small.estimators_ = [self.estimators_[number] for number in numbers]
        small._outputs = [self._outputs[number] for number in numbers]
        small.weights_ = np.zeros(len(self.weights_))
        small.weights_[places] = self.weights_[places] / self.weights_[places].sum()
        small.named_estimators_ = self._named_chosen(places, small.estimators_, self.selection_)
        return small

    def _named_chosen(
        self, places: NDArray[np.intp], members: list[Any], selection: Selection
    ) -> Bunch:
        return self._named_fitted([(selection.names[place], None) for place in places], members)

    # ---- predicting ----

    def _mean(self, X: Any) -> Floats:
        """Return the weighted mean of the predictions of the members."""
        table = self._open(X)
        predicted = predict_each(self.estimators_, self._outputs, table)
        pairs = zip(self._member_weights, predicted, strict=True)
        return np.asarray(sum(weight * each for weight, each in pairs))

    @property
    def _member_weights(self) -> Floats:
        return self.weights_[self.weights_ > 0]

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "estimators_"):
            return
        weights, selection = self.weights_, self.selection_
        if not np.isclose(weights.sum(), 1.0):
            raise ValueError("the weights do not add up to one")
        if len(self.estimators_) != int((weights > 0).sum()):
            raise ValueError("the weights do not fit the members")
        if len(selection.names) != len(weights):
            raise ValueError("the record of the selection does not fit the members")
        check_class_counts(self, self._outputs)
        check_outputs(self.estimators_, self._outputs, self._n_features)
        chosen = np.flatnonzero(weights)
        self.named_estimators_ = self._named_chosen(chosen, self.estimators_, selection)


def _check_predictions(pairs: Named, predictions: Sequence[Floats], rows: NDArray[np.intp]) -> None:
    """Raise unless there are rows on which every member predicts something finite."""
    for (name, _), predicted in zip(pairs, predictions, strict=True):
        if np.isnan(predicted).all() or not np.isfinite(predicted[rows]).all():
            raise ValueError(
                f"the member {name!r} predicts NaN or infinity, of which no mean can be made; fix "
                'it, or put "drop" in its place'
            )
    if len(rows) == 0:
        raise ValueError("no row has a prediction of every member; cv leaves no level-one data")
