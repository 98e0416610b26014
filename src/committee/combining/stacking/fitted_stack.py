"""Layers of members and a meta-learner on top, fitted to the rows of a team.

Predictions of members become columns for the next layer, beside those of the table if wanted.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack as sparse_hstack
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, StratifiedKFold

from committee.combining.level_one import LevelOne, count_fits, fit_layer
from committee.combining.level_one_plan import LevelOnePlan, Split
from committee.members.meta_estimator import wants_weights
from committee.members.named_members import Named
from committee.members.output import Output
from committee.members.parallel import is_own, plain_algebra, rows_of
from committee.members.team import Rows, Team, fit_codes, one_class_error
from committee.tables.frame import as_narwhals
from committee.tables.native_table import AnyTable

Floats = NDArray[np.float64]

# Log-odds are told of probabilities up to so near to zero and one: a forest of a hundred trees that
# says zero may be wrong once in a while, and infinite columns would decide everything.
LEAST_SHARE = 0.01


def meta_features(
    predictions: Sequence[Floats], outputs: Sequence[Output], table: AnyTable | None
) -> Any:
    """Return predictions as columns, before those of a table where one is given.

    Examples
    --------
    >>> predicted = [np.array([[0.5, 0.5], [1.0, 0.0]])]
    >>> meta_features(predicted, [Output("predict_proba", 2)], None).tolist()
    [[0.5], [0.0]]
    >>> log_odds = Output("predict_proba", 2, as_log_odds=True)
    >>> meta_features(predicted, [log_odds], None).round(2).tolist()
    [[0.0], [-4.6]]
    """
    columns = [_columns(each, output) for each, output in zip(predictions, outputs, strict=True)]
    return np.hstack(columns) if table is None else with_columns(columns, table.native)


def n_meta_columns(output: Output) -> int:
    """Return the number of columns that a prediction becomes."""
    if output.n_labels:
        return output.n_labels
    return 1 if output.n_classes in (0, 2) or output.method == "predict" else output.n_classes


def _columns(prediction: Floats, output: Output) -> Floats:
    """Return a prediction as columns for a learner, as scikit-learn has them."""
    if output.n_classes and output.method == "predict":
        return np.asarray(prediction.argmax(axis=1)[:, np.newaxis], np.float64)
    if output.n_classes == 2 and prediction.shape[1] == 2:
        prediction = prediction[:, 1:]  # the other is what is left to one
    return log_odds(prediction) if output.as_log_odds else prediction


def log_odds(shares: Floats) -> Floats:
    """Return log(p / (1 - p)) of probabilities, those next to zero and one drawn in."""
    inner = np.clip(shares, LEAST_SHARE, 1 - LEAST_SHARE)
    return np.asarray(np.log(inner) - np.log1p(-inner))


def with_columns(columns: Sequence[Floats], table: Any) -> Any:
    """Return columns of numbers before those of a table, as a table that a learner can read.

    Tables of numbers become an array, as in scikit-learn; frames with other columns stay frames.
    """
    if issparse(table):
        return sparse_hstack([*columns, table], format=table.format)
    if isinstance(table, np.ndarray):
        return np.hstack([*columns, table])
    frame = as_narwhals(table)
    if frame is table:
        return np.hstack([*columns, np.asarray(table)])
    if all(dtype.is_numeric() for dtype in frame.schema.values()):
        return np.hstack([*columns, frame.to_numpy()])
    return _beside_frame(np.hstack(columns), table, frame)


def _beside_frame(values: Floats, table: Any, frame: Any) -> Any:
    import narwhals as nw

    names = []
    for number in range(values.shape[1]):
        name = f"opinion{number}"
        while name in frame.columns:
            name += "_"
        names.append(name)
    backend = nw.get_native_namespace(frame)
    columns = [
        nw.new_series(name, np.ascontiguousarray(values[:, k]), backend=backend)
        for k, name in enumerate(names)
    ]
    if hasattr(table, "index"):  # pandas puts rows side by side by their labels
        columns = [
            nw.from_native(c.to_native().set_axis(table.index), series_only=True) for c in columns
        ]
    return frame.with_columns(*columns).select(*names, *frame.columns).to_native()


class FittedStack:
    """Layers of members and the meta-learner, fitted to the rows of a team.

    Attributes
    ----------
    layers : list of LevelOne
        Fitted layers.
    predictions : list of ndarray
        Level-one predictions of the last layer, on `rows`.
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
            outputs = model._outputs_of(team, pairs)
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
                    outputs,
                    plan,
                    splits,
                    refit=model.refit,
                    wants_predictions=True,
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
            raise ValueError("no row has a prediction of every member; cv leaves no level-one data")
        return kept

    def _table_of(self, layer: LevelOne, kept: Rows) -> Any:
        source = AnyTable(self._team.table.take(self.rows, None))
        predictions = [each[kept] for each in layer.predictions]
        return self._model._features(predictions, layer.outputs, source)

    def _finish(self, shown: Team, final: Any) -> None:
        layer = self.layers[-1]
        kept = self._kept(layer, shown)
        self.rows = self.rows[kept]
        self.predictions = [each[kept] for each in layer.predictions]
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
        Predictions of members.
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
        error.add_note(f"This is the final_estimator, fitted to predictions of members{more}")
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
