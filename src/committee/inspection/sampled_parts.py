"""Contributions to any prediction, by sampling: columns are set one after the other.

In random orders the columns of a row take the place of those of another row; the mean change of the
prediction is the contribution of a column (Strumbelj and Kononenko 2014). Each order is gone
through backward too, so that what two columns do together is shared out without an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from committee.base.arrays import Floats, Rows
from committee.inspection.parts import Parts
from committee.tables.frame import as_narwhals, is_from
from committee.tables.native_table import AnyTable

_CELLS = 2_000_000  # of a table that is predicted at once

Predicting = Callable[[Any], Floats]


def sampled_parts(
    predict: Predicting, rows: AnyTable, others: AnyTable, n_samples: int, seed: int
) -> Parts:
    """Return the parts of predictions.

    Parameters
    ----------
    predict : callable
        Predicts a native table, shape (n_rows, n_values).
    rows : AnyTable
        The rows to explain.
    others : AnyTable
        Rows from which their columns are set, of the same kind.
    n_samples : int
        Orders of columns, each with another one of these rows.
    seed : int
        Of the orders and rows.

    Examples
    --------
    >>> table = AnyTable(np.array([[0.0, 0.0], [1.0, 2.0]]))
    >>> line = lambda X: X.sum(axis=1, keepdims=True)
    >>> parts = sampled_parts(line, AnyTable([[1.0, 2.0]]), table, 2, 0)
    >>> parts.base.tolist(), parts.of_columns[0, :, 0].tolist()
    ([1.5], [0.5, 1.0])
    """
    cells = _JoinedCells(rows, others)
    generator = np.random.default_rng(seed)
    drawn = _spread(predict(others.native), n_samples, generator)
    base: Any = 0.0
    of_columns: Any = 0.0
    for other in drawn.tolist():
        order = generator.permutation(rows.n_features)
        for way in (order, order[::-1]):
            values = _along(predict, cells, way, other)
            steps = np.empty_like(values[1:])
            steps[way] = np.diff(values, axis=0)
            of_columns = of_columns + steps
            base = base + values[0, 0]
    n_ways = 2 * n_samples
    return Parts(base / n_ways, np.ascontiguousarray(of_columns.transpose(1, 0, 2)) / n_ways)


def _spread(predicted: Floats, n_samples: int, generator: np.random.Generator) -> Rows:
    """Return rows at even steps from the lowest to the highest prediction.

    Their mean prediction, the base, is much closer to that of all rows than with rows at random.
    """
    likeliest = predicted.argmax(axis=1)
    order = np.lexsort((predicted[np.arange(len(predicted)), likeliest], likeliest))
    steps = (np.arange(n_samples) + generator.random()) * len(order) / n_samples
    return np.asarray(order[steps.astype(np.intp)])


def _along(predict: Predicting, cells: _JoinedCells, order: Rows, other: int) -> Floats:
    """Return predictions before any column is set, after the first one is, and so on.

    Of shape (n_columns + 1, n_rows, n_values).
    """
    n_steps, n_rows = len(order) + 1, cells.n_rows
    rank = np.empty(len(order), np.intp)
    rank[order] = np.arange(len(order))
    size = max(1, _CELLS // (len(order) * n_rows))
    found = []
    for begin in range(0, n_steps, size):
        steps = np.arange(begin, min(begin + size, n_steps))
        is_set = rank < steps[:, np.newaxis]
        own = np.arange(n_rows)[:, np.newaxis]
        places = np.where(is_set[:, np.newaxis], own, n_rows + other)
        table = cells.taken(places.reshape(-1, len(order)))
        found.append(predict(table).reshape(len(steps), n_rows, -1))
    return np.concatenate(found)


class _JoinedCells:
    """The cells of two tables, one below the other.

    Parameters
    ----------
    rows, others : AnyTable
        The tables, of one kind.
    """

    def __init__(self, rows: AnyTable, others: AnyTable) -> None:
        self.n_rows = rows.n_rows
        tables = [_dense(rows.native), _dense(others.native)]
        kinds = [type(each) for each in tables]
        if kinds[0] is not kinds[1]:
            raise TypeError(
                "background must be a table of the same kind as X, "
                f"{kinds[0].__name__}; got {kinds[1].__name__}"
            )
        if isinstance(tables[0], np.ndarray):
            self._cells: Any = np.concatenate(tables)
            return
        import narwhals as nw

        frames = [as_narwhals(each) for each in tables]
        if is_from("pandas", "DataFrame", tables[0]):
            frames = [nw.from_native(each) for each in _with_joint_levels(*tables)]
        first, second = frames
        second = second.rename(dict(zip(second.columns, first.columns, strict=True)))
        self._cells = nw.concat([first, second], how="vertical")

    def taken(self, places: NDArray[np.intp]) -> Any:
        """Return a native table: in each column, the cells at some places."""
        if isinstance(self._cells, np.ndarray):
            return np.take_along_axis(self._cells, places, axis=0)
        import narwhals as nw

        names = self._cells.columns
        columns = {name: self._cells[name][places[:, k]] for k, name in enumerate(names)}
        if is_from("pandas", "DataFrame", self._cells.to_native()):
            plain = {name: each.to_native().array for name, each in columns.items()}
            return type(self._cells.to_native())(plain)
        return nw.from_dict(columns).to_native()


def _dense(native: Any) -> Any:
    return native.toarray() if issparse(native) else native


def _with_joint_levels(first: Any, second: Any) -> tuple[Any, Any]:
    """Return pandas frames whose categories are of one type, or joining makes them objects."""
    first, second = first.copy(deep=False), second.copy(deep=False)
    second.columns = first.columns
    for name in first.columns:
        one, other = first[name], second[name]
        if str(one.dtype) == str(other.dtype) == "category" and one.dtype != other.dtype:
            levels = other.cat.categories.union(one.cat.categories, sort=False)
            first[name] = one.cat.set_categories(levels)
            second[name] = other.cat.set_categories(levels)
    return first, second
