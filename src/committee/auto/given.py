"""Members that the user gives: which candidates there are, and tables for foreign estimators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from committee.auto.budget import forest_cost, round_cost
from committee.auto.portfolio import FEATURES, MATRIX, TABLE, Candidate, Size
from committee.boosting.fit import BoostingModel
from committee.forests.fit import ForestModel
from committee.members.meta_estimator import check_estimator_kind
from committee.tables.column import Column
from committee.tables.frame import make_frame
from committee.tables.native_table import AnyTable
from committee.tables.source import Columns, Matrix, Source
from committee.tables.sparse import SparseMatrix

_LEAVES = 31  # of the trees of a boosting model of the user's
_TREES = 100  # a foreign member is counted as a forest of so many

# Parameters by which estimators of other libraries take a number of threads.
_THREADS = ("n_jobs", "thread_count", "nthread", "num_threads")

_ACCEPTED = (
    'members must be "auto", a dict of names and estimators, or a list of "auto", names of '
    "members of the portfolio and (name, estimator) pairs"
)


@dataclass(frozen=True, eq=False)
class ForeignCandidate(Candidate):
    """An estimator of another library, which gets the rows as they came."""

    reads: str = TABLE


@dataclass(frozen=True, eq=False)
class ConstantCandidate(Candidate):
    """The prediction that looks at no column; it keeps a committee from being worse."""

    n_columns: int = 1  # of the matrix that it is given in predictions, and does not look at


def _constant(size: Size) -> Candidate:
    from sklearn.dummy import DummyClassifier, DummyRegressor

    model: Any = DummyClassifier(strategy="prior") if size.n_classes else DummyRegressor()
    return ConstantCandidate("constant", model, 1e-6, MATRIX, size.n_columns)


def chosen_candidates(
    members: Any, portfolio: Sequence[Candidate], size: Size, n_threads: int
) -> list[Candidate]:
    """Return the candidates that `members` asks for, in the order in which they are tried.

    Parameters
    ----------
    members : "auto", list or dict
        As given.
    portfolio : sequence of Candidate
        What "auto" stands for, besides a constant.
    size : Size
        Of the problem.
    n_threads : int
        For members of other libraries.
    """
    portfolio = [*portfolio[:1], _constant(size), *portfolio[1:]]
    known = {candidate.name: candidate for candidate in portfolio}
    found: dict[str, Candidate] = {}
    for item in _items(members):
        if isinstance(item, str):
            if item != "auto" and item not in known:
                names = ", ".join(map(repr, known))
                raise ValueError(f"{_ACCEPTED}; got the name {item!r}, the portfolio has {names}")
            # A given member takes the place of the one with its name.
            wanted = portfolio if item == "auto" else [known[item]]
            found |= {each.name: each for each in wanted if each.name not in found}
            continue
        name, estimator = item
        try:
            check_estimator_kind(estimator, "classifier" if size.n_classes else "regressor")
        except (TypeError, ValueError) as error:
            raise type(error)(f"members: {name!r}: {error}") from None
        found[name] = _given(name, estimator, size, n_threads)
    if not found:
        raise ValueError(f"{_ACCEPTED}; got {members!r}, which has none")
    return list(found.values())


def _items(members: Any) -> list[Any]:
    if isinstance(members, str):
        members = [members]
    if isinstance(members, dict):
        members = list(members.items())
    if not isinstance(members, list | tuple):
        raise TypeError(f"{_ACCEPTED}; got {type(members).__name__}")
    for item in members:
        is_pair = isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str)
        if not isinstance(item, str) and not is_pair:
            raise TypeError(f"{_ACCEPTED}; got the item {item!r}")
    names = [item[0] for item in members if not isinstance(item, str)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"members has {names.count(name)} members of the name {name!r}")
    return list(members)


def _given(name: str, estimator: Any, size: Size, n_threads: int) -> Candidate:
    """Return the candidate of an estimator of the user's."""
    if isinstance(estimator, BoostingModel) and estimator._reads_tables:
        cost = round_cost(size.n_rows, size.n_features, size.n_trees, _LEAVES)
        return Candidate(name, estimator, cost, FEATURES)
    if isinstance(estimator, ForestModel):
        cost = forest_cost(size.n_rows, size.n_features, estimator.n_estimators)
        return Candidate(name, estimator, cost, FEATURES)
    estimator = _with_threads(estimator, n_threads)
    return ForeignCandidate(name, estimator, forest_cost(size.n_rows, size.n_features, _TREES))


def _with_threads(estimator: Any, n_threads: int) -> Any:
    """Return a copy that uses so many threads, where it has no number of its own."""
    params, changes = estimator.get_params(deep=True), {}
    for key, value in params.items():
        before, _, name = key.rpartition("__")
        owner = params[before] if before else estimator
        # Linear models of scikit-learn take a number, but warn of it.
        is_deaf = type(owner).__module__.startswith("sklearn.linear_model")
        if name in _THREADS and value is None and not is_deaf:
            changes[key] = n_threads
    return clone(estimator).set_params(**changes) if changes else estimator


# --- tables for estimators of other libraries ---------------------------------------------------


def native_table(table: AnyTable) -> AnyTable:
    """Return a table as other libraries know it: rows that were read become a frame or an array."""
    if not isinstance(table.native, Matrix | Columns | SparseMatrix):
        return table
    return AnyTable(_native(table.native), may_be_empty=True)


def _native(source: Source) -> Any:
    if isinstance(source, SparseMatrix):
        return source.cells.tocsr()
    cells = [_cells(source.column(place)) for place in range(source.n_features)]
    if source.names is None:
        return np.column_stack(cells)
    return make_frame(dict(zip(source.names, cells, strict=True)))


def _cells(column: Column) -> Any:
    """Return the cells of a column in the types that a frame has for them."""
    if column.levels is not None or column.order is not None:
        levels = np.array([*(column.order or column.levels or ()), None], dtype=object)
        return levels[np.where(column.missing(), -1, column.values)]
    values = column.values
    if column.label in ("datetime", "timedelta"):
        values = values.astype(f"{'M' if column.label == 'datetime' else 'm'}8[us]")
        values[column.missing()] = "NaT"
        return values
    if column.mask is not None:
        return np.where(column.missing(), np.nan, values.astype(np.float64))
    return values.astype(bool) if column.label == "boolean" else values
