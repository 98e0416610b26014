"""A fitted sum of members: trees of the engine, or any regressors.

Round i has one member for each column of scores. Sums start from zero; where boosting started is
added by whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.boosting.target_statistics import TargetStatistics
from committee.files.codec_classes import register
from committee.tables.native_table import AnyTable
from committee.tables.table import TableSchema

Floats = NDArray[np.float64]

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
        What the trees see in place of some of the columns.
    """

    forests: list[_core.Forest]
    schema: TableSchema
    statistics: TargetStatistics | None = None

    _later_fields: ClassVar[tuple[str, ...]] = ("statistics",)

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
        """The features as the trees see them."""
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
        if type(forests) is not list or type(self.schema) is not TableSchema or not forests:
            raise ValueError("a part is of another type")
        if self.statistics is not None and (
            type(self.statistics) is not TargetStatistics or not self.statistics.fits(self.schema)
        ):
            raise ValueError("the target statistics do not fit the schema")
        n_features = self.tree_schema.n_features
        for forest in forests:
            if type(forest) is not _core.Forest or forest.n_trees != forests[0].n_trees:
                raise ValueError("the columns differ in their number of trees")
            if (forest.n_features, forest.n_values) != (n_features, 1):
                raise ValueError("the trees do not fit the schema")
        if forests[0].n_trees == 0:
            raise ValueError("there are no trees")


@register("LearnerSum")
@dataclass(frozen=True, eq=False)
class LearnerSum:
    """Regressors of any kind.

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
        return AnyTable(X).matched(self.names, self.n_features, name, stacklevel=6)

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
        for column, member in enumerate(self.rounds[number]):
            values = np.asarray(member.predict(table.native), np.float64)
            scores[:, column] += self.rates[number] * values.reshape(len(values))

    def _validate_loaded(self) -> None:
        if type(self.rounds) is not list or not self.rounds:
            raise ValueError("there are no rounds")
        if len(self.rates) != len(self.rounds):
            raise ValueError("rounds and learning rates differ in number")
        if any(len(members) != self.n_columns for members in self.rounds):
            raise ValueError("rounds differ in their number of members")
