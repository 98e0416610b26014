"""Layers of members and a meta-learner on top, fitted to the rows of a team."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, StratifiedKFold

from committee.combining.level_one import LevelOne, count_fits, fit_layer
from committee.combining.level_one_plan import LevelOnePlan, Split
from committee.members.class_codes import fit_codes, one_class_error
from committee.members.meta_estimator import wants_weights
from committee.members.named_members import Named
from committee.members.parallel import is_own, plain_algebra, rows_of
from committee.members.team import Rows, Team
from committee.tables.native_table import AnyTable


class FittedStack:
    """Layers of members and the meta-learner, fitted to the rows of a team.

    Attributes
    ----------
    layers : list of LevelOne
        Fitted layers.
    opinions : list of ndarray
        Level-one opinions of the last layer, on `rows`.
    level_one : array or table
        The features that the meta-learner was fitted to.
    rows, y, weights
        The rows that have level-one data, their targets and their weights.
    final : estimator
        The fitted meta-learner.
    """

    def __init__(
        self, model: Any, team: Team, lists: list[Named], plan: LevelOnePlan, final: Any
    ) -> None:
        self._model, self._team = model, team
        n_fits = sum(
            count_fits(pairs, plan, len(splits), len(team.y), refit=model.refit)
            for pairs, splits in zip(lists, plan.layers, strict=True)
        )
        self._progress = model._progress(n_fits)
        self.layers: list[LevelOne] = []
        self.rows: Rows = np.arange(len(team.y))
        shown = team
        for number, pairs in enumerate(lists):
            if number:
                shown = self._next(shown)
            voices = model._voices_of(team, pairs)
            splits = _within(plan.layers[number], self.rows, len(team.y))
            if not splits and plan.source == "splits":
                raise ValueError(
                    f"cv leaves no rows for layer {number + 1}: its members would be asked about "
                    "rows that no split tests"
                )
            self.layers.append(
                fit_layer(
                    shown,
                    pairs,
                    voices,
                    plan,
                    splits,
                    refit=model.refit,
                    wants_opinions=True,
                    progress=self._progress,
                )
            )
        self._finish(shown, final)

    def _next(self, shown: Team) -> Team:
        """Return the rows that the last layer has level-one data of, for the next layer."""
        layer = self.layers[-1]
        kept = self._kept(layer, shown)
        self.rows = self.rows[kept]
        table = AnyTable(self._table_of(layer, kept))
        return shown.part(kept, table)

    def _kept(self, layer: LevelOne, shown: Team) -> Rows:
        is_present = layer.covered if shown.weights is None else layer.covered & (shown.weights > 0)
        kept = np.flatnonzero(is_present)
        if len(kept) == 0:
            raise ValueError("no row has an opinion of every member; cv leaves no level-one data")
        return kept

    def _table_of(self, layer: LevelOne, kept: Rows) -> Any:
        source = AnyTable(self._team.table.take(self.rows, None))
        opinions = [each[kept] for each in layer.opinions]
        return self._model._features(opinions, layer.voices, source)

    def _finish(self, shown: Team, final: Any) -> None:
        layer = self.layers[-1]
        kept = self._kept(layer, shown)
        self.rows = self.rows[kept]
        self.opinions = [each[kept] for each in layer.opinions]
        self.level_one = self._table_of(layer, kept)
        self.y = shown.y[kept]
        self.weights = None if shown.weights is None else shown.weights[kept]
        self._unfitted = final
        self.final = self._fit_final(self.level_one, self.rows)

    def _fit_final(self, features: Any, rows: Rows) -> Any:
        more = ", and the columns of X (passthrough=True)" if self._model.passthrough else ""
        return fit_final(self._unfitted, self._team, features, rows, more)

    def out_of_fold_final(self) -> NDArray[Any]:
        """Return what meta-learners that have not seen a row's level-one data say about it."""
        table, is_class = AnyTable(self.level_one), self._team.labels is not None
        if len(self.y) < 2:
            raise ValueError(
                "leak_check needs two rows with level-one data or more; got 1 after rows were kept "
                "apart. Give a cv that tests more rows"
            )
        n_folds = min(5, len(self.y))
        if is_class:  # as long as a class can be in every fold, each is
            n_folds = min(n_folds, max(2, int(np.bincount(self.y).max())))
        splitter = StratifiedKFold if is_class and np.bincount(self.y).max() > 1 else KFold
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            folds = list(splitter(n_folds).split(np.zeros((len(self.y), 1)), self.y))
        parts = []
        for train, test in folds:
            final = self._fit_final(table.take(train, None), self.rows[train])
            parts.append(self._model._final_values(final, table.take(test, None), self._n_classes))
        found = np.zeros((len(self.y), parts[0].shape[1]))
        for (_, test), values in zip(folds, parts, strict=True):
            found[test] = values
        return found

    @property
    def _n_classes(self) -> int:
        return 0 if self._team.labels is None else len(self._team.labels)


def fit_final(final: Any, team: Team, features: Any, rows: Rows, more: str = "") -> Any:
    """Return a meta-learner, fitted to what is told about rows of a team.

    Parameters
    ----------
    final : estimator
        What is copied and fitted.
    team : Team
        Has targets, weights and more arguments of `fit`.
    features : table
        Opinions of members.
    rows : ndarray of int
        The rows that they are about.
    more : str, default=""
        What else is among the features, for messages.
    """
    if isinstance(final, FrozenEstimator):
        return final
    own, n_rows = team.fit_params.get("final_estimator", {}), len(team.y)
    params = {key: rows_of(value, rows, n_rows) for key, value in own.items()}
    if team.weights is not None and wants_weights("final_estimator", final):
        params["sample_weight"] = team.weights[rows]
    try:
        with plain_algebra(AnyTable(features), is_own(final)):
            if team.labels is not None and not is_own(final):
                return fit_codes(clone(final), features, team.y[rows], params)
            return clone(final).fit(features, team.y[rows], **params)
    except (TypeError, ValueError) as error:
        alone = one_class_error("the final_estimator", team.labels, error)
        if alone is not None:
            raise alone from error
        error.add_note(f"This is the final_estimator, fitted to opinions of members{more}")
        raise


def _within(splits: Sequence[Split], rows: Rows, n_rows: int) -> list[Split]:
    """Return splits of a part of the rows, as places in that part."""
    if len(rows) == n_rows:
        return list(splits)
    place = np.full(n_rows, -1)
    place[rows] = np.arange(len(rows))
    return placed(splits, place)


def placed(splits: Sequence[Split], place: Rows) -> list[Split]:
    found = []
    for train, test in splits:
        train, test = place[train], place[test]
        train, test = train[train >= 0], test[test >= 0]
        if len(train) and len(test):
            found.append((train, test))
    return found
