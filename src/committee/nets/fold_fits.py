"""Nets fitted to each split of a table, with one number of epochs for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from committee.base.arrays import Rows
from committee.nets.epochs import EpochChoice, EpochSearch
from committee.nets.net_model import FoldRows, NetFit, NetModel, NetSettings


@dataclass(frozen=True, eq=False)
class NetFoldFits:
    """The fits of a net to all splits, which share the knots of the whole table.

    `search` runs their epochs, `models` returns the nets after the best one of a choice.

    Attributes
    ----------
    model : NetClassifier or NetRegressor
        Its parameters are those of all fits.
    fit : NetFit
        What the fits have in common.
    parts : list of (rows, held out rows)
        Of each fit.
    search : EpochSearch
        The epochs so far.

    Examples
    --------
    >>> import numpy as np
    >>> from committee.nets.classifier import NetClassifier
    >>> X = np.linspace(-1, 1, 60).reshape(-1, 1)
    >>> even, odd = np.arange(0, 60, 2), np.arange(1, 60, 2)
    >>> model = NetClassifier(n_units=16, random_state=0)
    >>> fits = NetFoldFits.begin(model, X, X[:, 0] > 0, None, [(odd, even), (even, odd)])
    >>> for _ in range(5):
    ...     fits.search.step()
    >>> models = fits.models(fits.search.choice)
    >>> len(models), models[0].n_epochs_ <= 5
    (2, True)
    """

    model: NetModel
    fit: NetFit
    parts: list[FoldRows]
    search: EpochSearch

    @classmethod
    def begin(
        cls,
        model: NetModel,
        X: Any,
        y: Any,
        sample_weight: Any,
        splits: Sequence[tuple[Rows, Rows]],
    ) -> NetFoldFits:
        """Prepare the fits of a net to the first rows of each split.

        The second rows of a split are watched. Rows in neither, such as later ones where splits go
        forward in time, are absent.
        """
        settings = replace(NetSettings.of(model), early_stopping=True)
        fit = NetFit(settings, model._task, X, y, sample_weight)
        parts = [fit.split(train, test) for train, test in splits]
        return cls(model, fit, parts, fit.search(parts))

    def models(self, choice: EpochChoice) -> list[Any]:
        """Return an estimator for each fold."""
        models = []
        for attributes in self.fit.attributes(self.parts, choice):
            fitted = clone(self.model)
            fitted._replace_fitted(attributes)
            models.append(fitted)
        return models
