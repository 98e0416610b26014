"""Where boosting starts: constants that minimise the loss, zero, or another model's predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from committee.evaluation.scored_target import ScoredTarget
from committee.files.codec_classes import register
from committee.losses import (
    BinaryLogLoss,
    Exponential,
    Gamma,
    Loss,
    MultinomialLogLoss,
    Poisson,
    Tweedie,
)
from committee.losses.objective import Objective
from committee.members.meta_estimator import takes_weights
from committee.tables.native_table import AnyTable

Floats = NDArray[np.float64]

# Probabilities and means of other models are kept this far from zero: their logarithms are finite.
_LEAST = 1e-12


@register("BoostingStart")
@dataclass(frozen=True, eq=False)
class BoostingStart:
    """The scores before the first round.

    Parameters
    ----------
    constants : ndarray of float64, shape (n_columns,)
        Scores that every row starts with; zero with a model.
    model : fitted estimator or None
        Its predictions, as scores, are the start.
    is_zero : bool
        Whether the user asked for zero.
    places : ndarray of int64 or None
        Which of our classes each of the model's classes is; None for numbers.
    names : tuple of str or None
        Column names of the table that the model was fitted to.
    """

    constants: Floats
    model: Any = None
    is_zero: bool = False
    places: NDArray[np.int64] | None = None
    names: tuple[str, ...] | None = None

    def scores(self, X: Any, n_rows: int, loss: Loss) -> Floats:
        """Return the first scores of rows, Fortran-ordered."""
        start = np.empty((n_rows, len(self.constants)), order="F")
        start[:] = self.constants
        if self.model is None:
            return start
        table = AnyTable(X)
        if self.names is not None and table.names is not None:
            name = type(self.model).__name__
            table = table.matched(self.names, len(self.names), name, stacklevel=6)
        if loss.n_classes is None:
            start += _scores_of(self.model, table.native, loss, len(self.constants))
        else:
            start += _scores_of_shares(self._shares(table.native, loss.n_classes), loss)
        return start

    def _shares(self, X: Any, n_classes: int) -> Floats:
        """Return the probabilities of our classes; zero for those the model has not seen."""
        predicted = np.asarray(self.model.predict_proba(X), np.float64)
        places = np.arange(n_classes) if self.places is None else self.places
        if (
            predicted.ndim != 2
            or predicted.shape[1] != len(places)
            or not np.isfinite(predicted).all()
        ):
            raise ValueError(
                f"init must predict finite probabilities, {len(places)} a row; got an array of "
                f"shape {predicted.shape}"
            )
        shares = np.zeros((len(predicted), n_classes))
        shares[:, places] = predicted
        return shares

    def is_of(self, init: Any) -> bool:
        """Whether this is a start that `init` asks for, as far as simple parameters tell."""
        if init is None or isinstance(init, str):
            return self.model is None and self.is_zero == (init is not None)
        if type(init) is not type(self.model):
            return False
        given, used = init.get_params(), self.model.get_params()
        return all(_look_same(value, used.get(name)) for name, value in given.items())

    def _validate_loaded(self) -> None:
        constants = self.constants
        if not isinstance(constants, np.ndarray) or constants.dtype != np.float64:
            raise ValueError("the first scores are not numbers")
        if constants.ndim != 1 or not np.isfinite(constants).all():
            raise ValueError("the first scores are not a list of finite numbers")
        places = self.places
        if places is not None and (
            not isinstance(places, np.ndarray) or places.dtype != np.int64 or places.ndim != 1
        ):
            raise ValueError("the classes of the first model are not a list of numbers")


def _look_same(a: Any, b: Any) -> bool:
    simple = (str, int, float, bool, np.generic, type(None))
    if isinstance(a, simple) and isinstance(b, simple):
        return bool(a == b) or (a != a and b != b)
    return type(a) is type(b)


def start_of(init: Any, X: Any, target: ScoredTarget, objective: Objective) -> BoostingStart:
    """Return the start that `init` asks for, fitted where it is an estimator.

    Parameters
    ----------
    init : None, "zero" or estimator
        What the user wants.
    X : table
        The training table.
    target : ScoredTarget
        Labels or numbers of all rows.
    objective : Objective
        Of all rows; those of weight zero are absent or held out.

    Returns
    -------
    start : BoostingStart
        The first scores.
    """
    if init is None:
        return BoostingStart(objective.initial_scores())
    zeros = np.zeros(objective.n_columns)
    if isinstance(init, str) and init == "zero":
        return BoostingStart(zeros, is_zero=True)
    _check_init(init, objective.losses[0])
    table, answers, weights = AnyTable(X), target.y, objective.weights
    rows = None
    if weights is not None and (weights == 0).any():
        rows = np.flatnonzero(weights)
        answers, weights = answers[rows], weights[rows]
    options = {}
    if weights is not None and (weights != 1).any():
        if not takes_weights(init):
            raise ValueError(f"The initial estimator {init!r} does not support sample weights.")
        options["sample_weight"] = weights
    model = clone(init).fit(table.take(rows, None), answers, **options)
    places = _places(model, target.classes[0]) if target.classes else None
    return BoostingStart(zeros, model, places=places, names=table.names)


def _places(model: Any, classes: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return the codes of the classes that a model knows; None if it does not say."""
    known = getattr(model, "classes_", None)
    if known is None:
        return None
    labels = classes.tolist()
    return np.array([labels.index(label) for label in np.asarray(known).tolist()], np.int64)


def _check_init(init: Any, loss: Loss) -> None:
    accepted = 'init must be None, "zero" or an estimator with fit and '
    method = "predict" if loss.n_classes is None else "predict_proba"
    if isinstance(init, str):
        raise ValueError(f"{accepted}{method}; got {init!r}")
    if isinstance(init, type) or not (hasattr(init, "fit") and hasattr(init, method)):
        raise ValueError(f"{accepted}{method}; got {init!r}")


def _scores_of(model: Any, X: Any, loss: Loss, n_columns: int) -> Floats:
    """Return what another model predicts, as raw scores of the loss."""
    values = np.asarray(model.predict(X), np.float64)
    values = values[:, np.newaxis] if values.ndim == 1 else values
    if values.shape[1] not in (1, n_columns) or not np.isfinite(values).all():
        raise ValueError(
            f"init must predict finite numbers, one or {n_columns} a row; "
            f"got an array of shape {values.shape}"
        )
    if isinstance(loss, Poisson | Gamma | Tweedie):
        return np.log(np.maximum(values, _LEAST))
    return values


def _scores_of_shares(shares: Floats, loss: Loss) -> Floats:
    logs = np.log(np.maximum(shares, _LEAST))
    if isinstance(loss, MultinomialLogLoss):
        return logs
    if isinstance(loss, BinaryLogLoss | Exponential):
        odds = logs[:, 1:] - logs[:, :1]
        return odds / 2 if isinstance(loss, Exponential) else odds
    raise ValueError(f'init must be None or "zero" with the loss {loss!r}')
