"""The additive model: the scores that boosting starts from, and the sum of all members.

Boosting starts from constants that minimise the loss, from zero, or from the predictions of another
model. Round i adds a member for each column of scores: a tree of the engine, or any regressor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from committee import _core
from committee.base.arrays import Floats
from committee.boosting.categories import TargetStatistics
from committee.evaluation.scored_target import ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import (
    FITTED,
    FLAG,
    NOTHING,
    NUMBER,
    TEXT,
    Part,
    array,
    instance,
    list_of,
    tuple_of,
    whole,
)
from committee.losses.loss import Loss
from committee.losses.objective import Objective
from committee.members.loaded_members import check_member, check_regressor
from committee.members.meta_estimator import takes_weights
from committee.tables.native_table import AnyTable, named_row
from committee.tables.table import TableSchema


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
        Whether `init` is "zero".
    places : ndarray of int64 or None
        Which of our classes each of the model's classes is; None for numbers.
    names : tuple of str or None
        Column names of the table that the model was fitted to.
    is_mean : bool
        Whether `init` is "mean".
    """

    constants: Floats
    model: Any = None
    is_zero: bool = False
    places: NDArray[np.int64] | None = None
    names: tuple[str, ...] | None = None
    is_mean: bool = False

    _later_fields: ClassVar[tuple[str, ...]] = ("is_mean",)
    _stored_parts: ClassVar[dict[str, Part]] = {
        "constants": array("f8", "columns", finite=True),
        "model": NOTHING | FITTED,
        "is_zero": FLAG,
        "places": NOTHING | array("i8", None, low=0),
        "names": NOTHING | tuple_of(TEXT),
        "is_mean": FLAG,
    }

    def scores(self, X: Any, n_rows: int, loss: Loss) -> Floats:
        """Return the first scores of rows, Fortran-ordered."""
        start = np.empty((n_rows, len(self.constants)), order="F")
        start[:] = self.constants
        if self.model is None or n_rows == 0:
            return start
        table = AnyTable(named_row(X, self.names))
        if self.names is not None and table.names is not None:
            name = type(self.model).__name__
            table = table.matched(self.names, len(self.names), name)
        if loss.n_classes is None:
            predicted = self._numbers(table.native)
        else:
            predicted = self._shares(table.native, loss.n_classes)
        start += loss.scores_of(predicted)
        return start

    def _numbers(self, X: Any) -> Floats:
        """Return what the model predicts, a column of numbers or one for each column of scores."""
        predicted = np.asarray(self.model.predict(X), np.float64)
        predicted = predicted[:, np.newaxis] if predicted.ndim == 1 else predicted
        n_columns = len(self.constants)
        if predicted.shape[1] not in (1, n_columns) or not np.isfinite(predicted).all():
            raise ValueError(
                f"init must predict finite numbers, one or {n_columns} a row; "
                f"got an array of shape {predicted.shape}"
            )
        return predicted

    def _shares(self, X: Any, n_classes: int) -> Floats:
        """Return the probabilities of our classes; zero for those that the model does not have."""
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
        """Whether this is a start by `init`, as far as simple parameters show."""
        if init is None or isinstance(init, str):
            kind = "zero" if self.is_zero else "mean" if self.is_mean else None
            return self.model is None and init == kind
        if type(init) is not type(self.model):
            return False
        given, used = init.get_params(), self.model.get_params()
        return all(_look_same(value, used.get(name)) for name, value in given.items())

    def check_fits(self, n_features: int, n_classes: int | None) -> None:
        """Raise ValueError unless a loaded start is for so many columns and classes."""
        if self.model is None:
            return
        if self.names is not None and len(self.names) != n_features:
            raise ValueError("the first model is fitted to other columns")
        if n_classes is None:
            check_regressor(self.model, n_features, len(self.constants))
            return
        check_member(self.model, n_features, "predict_proba")
        places = np.arange(n_classes) if self.places is None else self.places
        if len(self.model.classes_) != len(places) or len(set(places.tolist())) != len(places):
            raise ValueError("the classes of the first model are not those of places")
        if places.max() >= n_classes:
            raise ValueError("the first model knows other classes")


def _look_same(a: Any, b: Any) -> bool:
    simple = (str, int, float, bool, np.generic, type(None))
    if isinstance(a, simple) and isinstance(b, simple):
        return bool(a == b) or (a != a and b != b)
    return type(a) is type(b)


def start_of(init: Any, X: Any, target: ScoredTarget, objective: Objective) -> BoostingStart:
    """Return the start by `init`, fitted where it is an estimator.

    Parameters
    ----------
    init : None, "zero", "mean" or estimator
        The parameter of the estimator.
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
        return BoostingStart(objective.to_scores(objective.initial_scores()))
    if isinstance(init, str) and init == "mean":
        return BoostingStart(objective.to_scores(objective.mean_scores()), is_mean=True)
    zeros = np.zeros(objective.n_columns)
    if isinstance(init, str) and init == "zero":
        return BoostingStart(zeros, is_zero=True)
    _check_init(init, objective.losses[0])
    table, known, weights = AnyTable(X), target.y, objective.weights
    rows = None
    if weights is not None and (weights == 0).any():
        rows = np.flatnonzero(weights)
        known, weights = known[rows], weights[rows]
    options = {}
    if weights is not None and (weights != 1).any():
        if not takes_weights(init):
            raise ValueError(f"The initial estimator {init!r} does not support sample weights.")
        options["sample_weight"] = weights
    model = clone(init)
    model.fit(table.take(rows, None), known, **options)  # what `fit` returns is not used
    places = _places(model, target.classes[0]) if target.classes else None
    return BoostingStart(zeros, model, places=places, names=table.names)


def _places(model: Any, classes: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return the codes of the classes of a model; None if it has no `classes_`."""
    known = getattr(model, "classes_", None)
    if known is None:
        return None
    labels = classes.tolist()
    return np.array([labels.index(label) for label in np.asarray(known).tolist()], np.int64)


def _check_init(init: Any, loss: Loss) -> None:
    accepted = 'init must be None, "zero", "mean" or an estimator with fit and '
    method = "predict" if loss.n_classes is None else "predict_proba"
    if isinstance(init, str):
        raise ValueError(f"{accepted}{method}; got {init!r}")
    if isinstance(init, type) or not (hasattr(init, "fit") and hasattr(init, method)):
        raise ValueError(f"{accepted}{method}; got {init!r}")


# Staged sums are made for so many rounds at a time.
_STAGES = 16


@register("TreeSum")
@dataclass(frozen=True, eq=False)
class TreeSum:
    """Trees of the engine, a forest for each column of scores.

    Parameters
    ----------
    forests : list of _core.Forest
        All with the same number of trees.
    schema : TableSchema
        How tables are read.
    statistics : TargetStatistics or None, default=None
        What the trees read in place of some of the columns.
    """

    forests: list[_core.Forest]
    schema: TableSchema
    statistics: TargetStatistics | None = None

    _later_fields: ClassVar[tuple[str, ...]] = ("statistics",)
    _stored_parts: ClassVar[dict[str, Part]] = {
        "forests": list_of(instance(_core.Forest), "columns", least=1),
        "schema": instance(TableSchema),
        "statistics": NOTHING | instance(TargetStatistics),
    }

    @classmethod
    def of_rounds(
        cls,
        rounds: list[list[_core.Tree]],
        schema: TableSchema,
        statistics: TargetStatistics | None = None,
    ) -> TreeSum:
        """Make one of the trees of each round."""
        columns = zip(*rounds, strict=True)
        forests = [_core.Forest.from_trees(list(each), "squared_error", []) for each in columns]
        return cls(forests, schema, statistics)

    def head(self, n_rounds: int) -> TreeSum:
        """Return the sum of the first rounds."""
        return replace(self, forests=[forest.part(0, n_rounds) for forest in self.forests])

    def joined(self, more: TreeSum) -> TreeSum:
        """Return the sum with more rounds."""
        pairs = zip(self.forests, more.forests, strict=True)
        return replace(more, forests=[_core.Forest.join([a, b]) for a, b in pairs])

    @property
    def tree_schema(self) -> TableSchema:
        """The features as the trees read them."""
        return self.schema if self.statistics is None else self.statistics.schema(self.schema)

    def by_column(self, values: Floats) -> Floats:
        """Add up, in the second axis, what the trees' features have to the user's columns."""
        if self.statistics is None:
            return values
        return self.statistics.gather(values, self.schema.n_features)

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return self.forests[0].n_trees

    @property
    def n_columns(self) -> int:
        """Number of scores of a row."""
        return len(self.forests)

    def read(self, X: Any, name: str) -> _core.Table:
        """Read a table to predict from."""
        table = self.schema.read(X, name)
        return table if self.statistics is None else self.statistics.encode(table)

    def sums(self, table: _core.Table, n_threads: int) -> Floats:
        """Return the sums of all rounds, n_rows x n_columns, Fortran-ordered."""
        if self.n_columns == 1:
            return self.forests[0].predict(table, n_threads=n_threads)
        sums = np.empty((table.n_rows, self.n_columns), order="F")
        for column, forest in enumerate(self.forests):
            sums[:, column] = forest.predict(table, n_threads=n_threads)[:, 0]
        return sums

    def staged(self, table: _core.Table, n_threads: int) -> Iterator[Floats]:
        """Yield the sums of the first round, the first two, and so on."""
        # Trees are added one by one, as `predict` does: the last sum has the same bits.
        sums = np.zeros((table.n_rows, self.n_columns), order="F")
        for begin in range(0, self.n_rounds, _STAGES):
            end = min(begin + _STAGES, self.n_rounds)
            parts = [
                forest.part(begin, end).predict_each(table, n_threads)[:, :, 0]
                for forest in self.forests
            ]
            for index in range(end - begin):
                for column, part in enumerate(parts):
                    sums[:, column] += part[:, index]
                yield sums.copy(order="F")

    def replay(self, table: _core.Table, scores: Floats, n_threads: int) -> None:
        """Add all trees to the scores in the order of training: the same roundings."""
        for column, forest in enumerate(self.forests):
            for index in range(forest.n_trees):
                scores[:, column] += forest.tree(index).predict(table, n_threads)[:, 0]

    def _validate_loaded(self) -> None:
        forests = self.forests
        if self.statistics is not None and not self.statistics.fits(self.schema):
            raise ValueError("the target statistics do not fit the schema")
        self.tree_schema.check_trees(*forests)
        for forest in forests:
            if forest.n_trees != forests[0].n_trees or not forest.n_trees:
                raise ValueError("the columns differ in their number of trees, or have none")
            if forest.n_values != 1:
                raise ValueError("trees predict more than one number")


@register("LearnerSum")
@dataclass(frozen=True, eq=False)
class LearnerSum:
    """Regressors of any kind, a list of them for each round.

    Parameters
    ----------
    rounds : list of lists of estimators
        The members of each round.
    rates : list of float
        The learning rate of each round.
    names : tuple of str or None
        Column names.
    n_features : int
        Number of columns.
    """

    rounds: list[list[Any]]
    rates: list[float]
    names: tuple[str, ...] | None
    n_features: int

    _stored_parts: ClassVar[dict[str, Part]] = {
        "rounds": list_of(list_of(FITTED, "columns", least=1), "rounds", least=1),
        "rates": list_of(NUMBER, "rounds"),
        "names": NOTHING | tuple_of(TEXT, "features"),
        "n_features": whole(1, size="features"),
    }

    def head(self, n_rounds: int) -> LearnerSum:
        """Return the sum of the first rounds."""
        rounds, rates = self.rounds[:n_rounds], self.rates[:n_rounds]
        return LearnerSum(rounds, rates, self.names, self.n_features)

    def joined(self, more: LearnerSum) -> LearnerSum:
        """Return the sum with more rounds."""
        rounds, rates = [*self.rounds, *more.rounds], [*self.rates, *more.rates]
        return LearnerSum(rounds, rates, more.names, more.n_features)

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.rounds)

    @property
    def n_columns(self) -> int:
        """Number of scores of a row."""
        return len(self.rounds[0])

    def read(self, X: Any, name: str) -> AnyTable:
        """Read a table to predict from."""
        return AnyTable.of_batch(X, self.names, self.n_features, name)

    def sums(self, table: AnyTable, n_threads: int) -> Floats:
        """Return the sums of all rounds, n_rows x n_columns, Fortran-ordered."""
        sums = np.zeros((table.n_rows, self.n_columns), order="F")
        self.replay(table, sums, n_threads)
        return sums

    def staged(self, table: AnyTable, n_threads: int) -> Iterator[Floats]:
        """Yield the sums of the first round, the first two, and so on."""
        sums = np.zeros((table.n_rows, self.n_columns), order="F")
        for number in range(self.n_rounds):
            self._add(number, table, sums)
            yield sums.copy(order="F")

    def replay(self, table: AnyTable, scores: Floats, n_threads: int) -> None:
        """Add all members to the scores in the order of training."""
        for number in range(self.n_rounds):
            self._add(number, table, scores)

    def _add(self, number: int, table: AnyTable, scores: Floats) -> None:
        if table.n_rows == 0:  # which many estimators refuse
            return
        for column, member in enumerate(self.rounds[number]):
            values = np.asarray(member.predict(table.native), np.float64)
            scores[:, column] += self.rates[number] * values.reshape(len(values))

    def _validate_loaded(self) -> None:
        for members in self.rounds:
            for member in members:
                check_regressor(member, self.n_features)
