"""What a fit is given: the parameters of the estimator, and its task.

The task has what differs between boosting of classes and boosting of numbers: the target, the loss
and class weights.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.base import clone

from committee.base.arrays import Floats
from committee.base.params import check_bool, check_choice, check_int, check_real
from committee.evaluation.scored_target import ScoredTarget, resolve_metric
from committee.losses import Quantile, SquaredError, get_loss
from committee.losses.classes import class_loss
from committee.losses.loss import Loss
from committee.members.meta_estimator import check_estimator_kind
from committee.tables.class_weights import class_weights
from committee.tables.target import (
    ClassTarget,
    read_classes,
    read_known_classes,
    read_reals,
    warn_of_column,
)
from committee.trees.engine_settings import check_reals

# What shapes the members of a round.
_OF_ROUNDS = (
    "subsample",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_depth",
    "min_impurity_decrease",
    "max_features",
    "max_leaf_nodes",
    "ccp_alpha",
    "split_finding",
    "growth",
    "max_splits",
    "min_child_weight",
    "l1_regularization",
    "l2_regularization",
    "max_bins",
    "features_per_tree",
    "features_per_level",
    "monotonic_cst",
    "interaction_cst",
    "category_smoothing",
    "estimator",
)


@dataclass(frozen=True, eq=False)
class BoostingParameters:
    """The parameters of an estimator; the classes of the estimators document each."""

    loss: str | Loss
    learning_rate: float | str
    n_estimators: int | str
    subsample: float | str
    criterion: str
    min_samples_split: int | float
    min_samples_leaf: int | float | str
    min_weight_fraction_leaf: float
    max_depth: int | None
    min_impurity_decrease: float
    init: Any
    random_state: Any
    max_features: int | float | str | None
    verbose: int
    max_leaf_nodes: int | str | None
    warm_start: bool
    validation_fraction: float
    n_iter_no_change: int | None
    tol: float
    ccp_alpha: float
    split_finding: str
    growth: str
    max_splits: int | None
    min_child_weight: float
    l1_regularization: float
    l2_regularization: float | str
    max_bins: int
    features_per_tree: int | float | str | None
    features_per_level: int | float | str | None
    monotonic_cst: Any
    interaction_cst: Any
    categorical_features: Any
    numeric_text: str
    category_smoothing: float
    category_encoding: str
    early_stopping: bool | str
    validation_part: str
    scoring: Any
    estimator: Any
    callbacks: Any
    n_jobs: int | None
    # Of classifiers only.
    class_weight: Any = None
    # Of regressors only.
    alpha: float = 0.9
    quantiles: Any = None
    power: float = 1.5

    @classmethod
    def of(cls, model: Any) -> BoostingParameters:
        """Return the parameters that an estimator has now."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: getattr(model, name) for name in names if hasattr(model, name)})

    def stops_early(self, has_validation: bool) -> bool:
        """Whether the fit may end before all rounds are done; given validation rows may decide."""
        if not isinstance(self.early_stopping, str):
            return bool(self.early_stopping)
        is_open = isinstance(self.n_estimators, str)
        return self.n_iter_no_change is not None or (is_open and has_validation)

    def of_rounds(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return copies of the parameters that shape a round, apart from the learning rate.

        Parameters
        ----------
        chosen : dict
            The values of those that may be "auto"; see `BoostingChoices.params`.
        """
        values = {name: chosen.get(name, getattr(self, name)) for name in _OF_ROUNDS}
        return {name: _copied(value) for name, value in values.items()}

    def callback_list(self) -> list[Any]:
        """Return the callbacks; TypeError unless they are functions."""
        given = self.callbacks
        calls = [] if given is None else [given] if callable(given) else given
        if not isinstance(calls, list | tuple) or not all(map(callable, calls)):
            raise TypeError(
                "callbacks must be None, a function of (round, log) or a list of these; got "
                f"{given!r}"
            )
        for call in calls:
            _check_signature(call)
        return list(calls)

    def check(self, groups: Any) -> None:
        """Check what can be checked without a table; trees check what shapes them."""
        check_bool("warm_start", self.warm_start)
        _check_stopping(self.early_stopping)
        # Splits are found by second-order gain in any case.
        check_choice("criterion", self.criterion, ("friedman_mse", "squared_error", "deprecated"))
        check_choice("split_finding", self.split_finding, ("hist", "exact"))
        check_choice("category_encoding", self.category_encoding, ("auto", "subsets", "target"))
        check_choice("validation_part", self.validation_part, ("random", "last"))
        share = self.validation_fraction
        check_real("validation_fraction", share, 0, 1, include_low=False, include_high=False)
        check_real("tol", self.tol, 0.0)
        check_real("ccp_alpha", self.ccp_alpha, 0.0)
        is_switch = isinstance(self.verbose, bool | np.bool_)
        check_int("verbose", int(self.verbose) if is_switch else self.verbose, 0)
        if self.scoring is not None and isinstance(resolve_metric(self.scoring, "scoring"), bool):
            raise TypeError(
                f"scoring must be None, a metric or the name of a scorer; got {self.scoring!r}"
            )
        if self.estimator is not None:
            self._check_estimator()
        self.callback_list()
        if groups is not None and self.validation_part == "last":
            raise ValueError('groups must be None with validation_part="last"')

    def _check_estimator(self) -> None:
        check_estimator_kind(self.estimator, "regressor")
        for name in ("monotonic_cst", "interaction_cst"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} must be None with estimator={self.estimator!r}: constraints are "
                    "for the trees of this library"
                )


def _check_signature(callback: Any) -> None:
    """Raise TypeError unless a callback can be called with the number of rounds and the log."""
    try:
        found = inspect.signature(callback)
    except (TypeError, ValueError):  # some built-in functions do not say
        return
    try:
        found.bind(1, None)
    except TypeError as error:
        name = getattr(callback, "__name__", repr(callback))
        raise TypeError(
            "callbacks must be functions of two arguments, the number of rounds and the "
            f"TrainingLog so far; {name}{found} cannot be called with them ({error})"
        ) from error


def _copied(value: Any) -> Any:
    """Return a copy of what may be changed in place."""
    is_changeable = isinstance(value, list | dict | np.ndarray) or hasattr(value, "get_params")
    return clone(value, safe=False) if is_changeable else value


def _check_stopping(value: Any) -> None:
    if isinstance(value, bool | np.bool_) or (isinstance(value, str) and value == "auto"):
        return
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f'early_stopping must be True, False or "auto"; got {value!r}')


class BoostingTask(ABC):
    """What differs between boosting of classes and boosting of numbers.

    Parameters
    ----------
    params : BoostingParameters
        The parameters of the estimator.
    """

    # Whether predictions are numbers, around which there are intervals.
    has_intervals = False

    def __init__(self, params: BoostingParameters) -> None:
        self.params = params

    @abstractmethod
    def read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the target."""

    @abstractmethod
    def read_validation_target(
        self, y: Any, weights: Floats | None, known: ScoredTarget
    ) -> ScoredTarget:
        """Read the target of validation rows, which must fit that of the training rows."""

    @abstractmethod
    def make_loss(self, target: ScoredTarget) -> Loss:
        """Return the loss of the parameters; ValueError unless it is defined for the target."""

    def class_factors(self, target: ScoredTarget) -> Floats | None:
        """Return what class weights multiply rows by."""
        return None

    def attributes(self, target: ScoredTarget) -> dict[str, Any]:
        """Return the fitted attributes that describe the target."""
        return {"n_outputs_": target.n_outputs}

    def _check_loss(self, loss: Loss, target: ScoredTarget) -> None:
        if target.n_outputs > 1 and loss.n_scores > 1:
            raise ValueError(
                f"loss {loss!r} has {loss.n_scores} scores a row and y has {target.n_outputs} "
                "outputs; boost the outputs one by one"
            )
        if self.params.scoring is not None and loss.n_classes is None and loss.n_scores > 1:
            raise ValueError(
                f"scoring must be None with {loss!r}, which has {loss.n_scores} scores a row: a "
                "scorer compares one prediction a row, while the loss looks at all of them"
            )
        check_rows(loss, target)


class ClassTask(BoostingTask):
    """Boosting of classes."""

    def read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the labels of one output."""
        warn_of_column(y)
        labels = read_classes(y)
        if labels.n_outputs > 1:
            raise ValueError(
                f"y should be a 1d array, got {labels.n_outputs} columns instead: "
                "sklearn.multioutput.MultiOutputClassifier boosts each of them"
            )
        return ScoredTarget(labels.codes, labels.classes, None, weights)

    def read_validation_target(
        self, y: Any, weights: Floats | None, known: ScoredTarget
    ) -> ScoredTarget:
        """Read labels, which must be those of the training rows."""
        codes = read_known_classes(y, known.classes[0])
        return ScoredTarget(codes, known.classes, None, weights)

    def make_loss(self, target: ScoredTarget) -> Loss:
        """Return the loss for so many classes."""
        loss = class_loss(self.params.loss, len(target.classes[0]))
        self._check_loss(loss, target)
        if self.params.monotonic_cst is not None and loss.n_scores > 1:
            raise ValueError(
                "Monotonicity constraints are not supported with multiclass classification; "
                f"y has {len(target.classes[0])} classes, set monotonic_cst=None"
            )
        return loss

    def class_factors(self, target: ScoredTarget) -> Floats | None:
        """Return the weight of each row's class."""
        if self.params.class_weight is None:
            return None
        assert target.codes is not None
        labels = ClassTarget(target.codes, target.classes, 1)
        return class_weights(self.params.class_weight, labels, target.weights)

    def attributes(self, target: ScoredTarget) -> dict[str, Any]:
        """Return the classes."""
        labels = target.classes[0]
        return {"classes_": labels, "n_classes_": len(labels), "n_outputs_": 1}


class NumberTask(BoostingTask):
    """Boosting of numbers."""

    has_intervals = True

    def read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the numbers of one or more outputs."""
        values, _ = read_reals(y)
        return ScoredTarget(None, [], values, weights)

    def read_validation_target(
        self, y: Any, weights: Floats | None, known: ScoredTarget
    ) -> ScoredTarget:
        """Read as many outputs as training has."""
        values, _ = read_reals(y)
        if values.shape[1] != known.n_outputs:
            raise ValueError(f"eval_set has {values.shape[1]} outputs, but y has {known.n_outputs}")
        return ScoredTarget(None, [], values, weights)

    def make_loss(self, target: ScoredTarget) -> Loss:
        """Return the loss."""
        loss = get_loss(self.params.loss, **self._loss_settings())
        self._check_loss(loss, target)
        if isinstance(loss, SquaredError):
            assert target.reals is not None
            check_reals("squared_error", target.reals, target.weights)
        return loss

    def _loss_settings(self) -> dict[str, Any]:
        """Check the parameters of losses; return those of the loss that was given by name."""
        params = self.params
        name = params.loss if isinstance(params.loss, str) else ""
        alpha = check_real("alpha", params.alpha, 0, 1, include_low=False, include_high=False)
        power = check_real("power", params.power, 1, 2, include_low=False, include_high=False)
        if params.quantiles is not None:
            if name != "quantile":
                raise ValueError(
                    f'quantiles must be None unless loss="quantile"; got {params.quantiles!r}'
                )
            try:
                return {"quantile": Quantile(params.quantiles).q}
            except (TypeError, ValueError) as error:
                raise type(error)(f"quantiles: {error}") from error
        if name in ("quantile", "huber"):
            return {"quantile": alpha}
        return {"power": power} if name == "tweedie" else {}


def check_rows(loss: Loss, target: ScoredTarget) -> None:
    """Raise ValueError unless the loss is defined for each row of positive weight."""
    for column in target.table[target.counted].T:
        loss.check_target(column)
