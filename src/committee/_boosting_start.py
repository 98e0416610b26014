"""Where boosting starts: constants that minimise the loss, zero, or another model's predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from committee._any_table import AnyTable
from committee._codec_classes import register
from committee._meta_estimator import takes_weights
from committee._objective import Objective
from committee.losses import (
    BinaryLogLoss,
    Exponential,
    Gamma,
    Loss,
    MultinomialLogLoss,
    Poisson,
    Tweedie,
)

Floats = NDArray[np.float64]

# Probabilities and means of other models are kept this far from zero: their logarithms are finite.
_LEAST = 1e-12


@register
@dataclass(frozen=True, eq=False)
class BoostingStart:
    """The scores before the first round.

    Parameters
    ----------
    constants : ndarray of float64, shape (n_columns,)
        Scores that every row starts with; zero with a model.
    model : fitted estimator or None
        Its predictions, as scores, are the start.
    """

    constants: Floats
    model: Any = None

    def scores(self, X: Any, n_rows: int, loss: Loss) -> Floats:
        """Return the first scores of rows, Fortran-ordered."""
        start = np.empty((n_rows, len(self.constants)), order="F")
        start[:] = self.constants
        if self.model is not None:
            start += _scores_of(self.model, X, loss, len(self.constants))
        return start

    def _validate_loaded(self) -> None:
        constants = self.constants
        if not isinstance(constants, np.ndarray) or constants.dtype != np.float64:
            raise ValueError("the first scores are not numbers")
        if constants.ndim != 1 or not np.isfinite(constants).all():
            raise ValueError("the first scores are not a list of finite numbers")


def start_of(
    init: Any, X: Any, answers: NDArray[Any], rows: NDArray[np.intp] | None, objective: Objective
) -> BoostingStart:
    """Return the start that `init` asks for, fitted where it is an estimator.

    Parameters
    ----------
    init : None, "zero" or estimator
        What the user wants.
    X : table
        The training table.
    answers : ndarray
        Labels or numbers of all rows.
    rows : ndarray of int or None
        The rows to learn from; None: all.
    objective : Objective
        Of all rows.

    Returns
    -------
    start : BoostingStart
        The first scores.
    """
    if init is None:
        return BoostingStart(objective.initial_scores())
    zeros = np.zeros(objective.n_columns)
    if isinstance(init, str) and init == "zero":
        return BoostingStart(zeros)
    _check_init(init, objective.losses[0])
    table = AnyTable(X).take(rows, None)
    weights = objective.weights
    if rows is not None:
        answers, weights = answers[rows], None if weights is None else weights[rows]
    options = {}
    if weights is not None and (weights != 1).any():
        if not takes_weights(init):
            raise ValueError(f"The initial estimator {init!r} does not support sample weights.")
        options["sample_weight"] = weights
    return BoostingStart(zeros, clone(init).fit(table, answers, **options))


def _check_init(init: Any, loss: Loss) -> None:
    accepted = 'init must be None, "zero" or an estimator with fit and '
    method = "predict" if loss.n_classes is None else "predict_proba"
    if isinstance(init, str):
        raise ValueError(f"{accepted}{method}; got {init!r}")
    if isinstance(init, type) or not (hasattr(init, "fit") and hasattr(init, method)):
        raise ValueError(f"{accepted}{method}; got {init!r}")


def _scores_of(model: Any, X: Any, loss: Loss, n_columns: int) -> Floats:
    """Return what another model predicts, as raw scores of the loss."""
    if loss.n_classes is not None:
        return _scores_of_shares(np.asarray(model.predict_proba(X), np.float64), loss)
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
        if shares.shape[1] == 1:  # a single class is code 0
            return np.full((len(shares), 1), np.log(_LEAST))
        odds = logs[:, 1:] - logs[:, :1]
        return odds / 2 if isinstance(loss, Exponential) else odds
    raise ValueError(f'init must be None or "zero" with the loss {loss!r}')
