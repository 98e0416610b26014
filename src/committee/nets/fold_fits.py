"""Nets fitted to all folds of a table but one, in turn, with one number of epochs for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from committee.base.arrays import Rows
from committee.nets.epochs import EpochChoice
from committee.nets.net_model import NetFit, NetModel, NetSettings

Model = TypeVar("Model", bound=NetModel)


def fit_net_folds(
    model: Model,
    X: Any,
    y: Any,
    sample_weight: Any,
    parts: Sequence[Rows],
    may_go_on: Callable[[int], bool] = lambda n_epochs: True,
) -> tuple[list[Model], EpochChoice]:
    """Return copies of an estimator fitted to all rows but a part each.

    Parameters
    ----------
    model : NetClassifier or NetRegressor
        Not fitted.
    X, y, sample_weight
        As in `fit`. Knots are those of the whole table; they do not look at the target.
    parts : sequence of ndarray of int
        Rows that are held out, which decide the number of epochs together.
    may_go_on : callable
        Called with the number of epochs so far; False ends the search for more.

    Returns
    -------
    models : list of estimators
        Fitted.
    choice : EpochChoice
        The number of epochs, and the mean loss after each.

    Examples
    --------
    >>> from committee.nets.classifier import NetClassifier
    >>> X = np.linspace(-1, 1, 60).reshape(-1, 1)
    >>> parts = [np.arange(0, 60, 2), np.arange(1, 60, 2)]
    >>> model = NetClassifier(n_units=16, max_epochs=5, random_state=0)
    >>> models, choice = fit_net_folds(model, X, X[:, 0] > 0, None, parts)
    >>> len(models), models[0].n_epochs_ == choice.n_epochs
    (2, True)
    """
    settings = replace(NetSettings.of(model), early_stopping=True)
    fit = NetFit(model, settings, X, y, sample_weight)
    folds = []
    for part in parts:
        held_out = np.zeros_like(fit.rows.order.counts)
        held_out[part] = fit.rows.order.counts[part]
        folds.append(fit.fold(held_out))
    fits, choice = fit.run(folds, may_go_on)
    models = []
    for attributes in fits:
        fitted = clone(model)
        fitted._replace_fitted(attributes)
        models.append(fitted)
    return models, choice
