"""Tables for estimators of other libraries: rows and columns are taken, the kind of table stays.

A pandas or polars frame gives smaller frames with the same names and types, a sparse matrix sparse
ones. Cells are not read: text, dates and missing values reach members that can take them. Rows may
also be no table at all, such as a list of documents or an array of images: only members read them.
"""

from __future__ import annotations

import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier

from committee.base.arrays import Rows
from committee.base.warn import warn
from committee.tables.conform import match_names
from committee.tables.frame import as_narwhals, is_from, make_frame, read_stream
from committee.tables.source import (
    Columns,
    Matrix,
    SharedSource,
    Source,
    cells_by_name,
    is_array_like,
    open_any,
    open_source,
    read_once,
)
from committee.tables.sparse import SparseMatrix, checked_csr
from committee.tables.target import read_classes


class AnyTable:
    """A table of which rows and columns can be taken.

    Parameters
    ----------
    X : table
        A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list of rows.
    may_be_empty : bool, default=False
        Whether it may have no rows.
    is_table : bool or None, default=True
        Whether X has to be a table. False: its rows are for members alone to read, whatever they
        are. None: see `are_other_rows`.

    Attributes
    ----------
    native : object
        The table itself; lists become arrays and sparse matrices CSR. Rows that are no table stay
        as they are.
    names : tuple of str or None
        Column names, if they are text.
    n_rows, n_features : int
        Its size; no features where the rows are no table.

    Examples
    --------
    >>> table = AnyTable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> table.n_rows, table.take(np.array([2, 0]), np.array([1])).tolist()
    (3, [[6.0], [2.0]])
    """

    def __init__(self, X: Any, *, may_be_empty: bool = False, is_table: bool | None = True) -> None:
        self.names: tuple[str, ...] | None = None
        self._is_warned = False  # that names are missing, or that there are some
        self._opened: Source | None = None
        if are_other_rows(X) if is_table is None else not is_table:
            self.native, self.n_rows, self.n_features = X, _count_rows(X), 0
            return
        if issparse(X):
            self.native = _checked_sparse(X, may_be_empty)
            self.n_rows, self.n_features = self.native.shape
            return
        X = X if isinstance(X, np.ndarray) else read_stream(X)
        source = open_any(X) if may_be_empty else open_source(X)
        self.n_rows, self.n_features, self.names = source.n_rows, source.n_features, source.names
        self.native = X
        if isinstance(X, Matrix | Columns | SparseMatrix | SharedSource):
            return
        if isinstance(X, list | tuple):
            if isinstance(source, Matrix):
                self.native = source.values
            else:  # an array of objects, in which numbers beside text stay numbers
                self.native = np.array(X, dtype=object)
        elif isinstance(X, np.matrix) or (is_array_like(X) and not hasattr(X, "shape")):
            self.native = np.asarray(X)

    @property
    def is_table(self) -> bool:
        """Whether there are columns; otherwise only members know what a row is."""
        return self.n_features > 0

    def part(self, rows: Rows) -> AnyTable:
        """Return some rows as a table of their own."""
        return AnyTable(self.take(rows, None), is_table=self.is_table)

    def take(self, rows: Rows | None, columns: Rows | None) -> Any:
        """Return some rows and columns, in the given order; None takes all."""
        table = self.native
        if rows is None and columns is None:
            return table
        if rows is not None and not self.is_table:
            return take_rows(table, rows)
        if isinstance(table, Matrix | Columns | SparseMatrix | SharedSource):
            return open_source(table).take(rows, columns)
        if isinstance(table, np.ndarray) or issparse(table):
            taken = table if rows is None else table[rows]
            return taken if columns is None else taken[:, columns]
        if is_from("pandas", "DataFrame", table):
            return _take_pandas(table, rows, columns)
        return _take_frame(table, rows, columns)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_opened": None}  # other processes read for themselves

    def opened(self) -> Source:
        """Return the table for estimators that read it themselves; columns are read once."""
        if self._opened is None:
            self._opened = read_once(open_any(self.native))
        return self._opened

    def shown_to(self, member: Any, columns: Rows | None = None) -> Any:
        """Return the table, or some of its columns, in the form that suits an estimator."""
        return (
            self.opened() if columns is None and reads_tables(member) else self.take(None, columns)
        )

    @classmethod
    def of_batch(
        cls, X: Any, names: Sequence[str] | None, n_features: int, estimator_name: str
    ) -> AnyTable:
        """Return rows to predict: a table, also one without rows, or one row by names.

        See `open_batch` for what is one row, and `matched` for the columns. Without features the
        rows are for members alone to read, whatever they are.
        """
        if n_features == 0:
            return cls(X, is_table=False)
        if isinstance(X, list | tuple) and len(X) == 0:
            table = cls(np.empty((0, n_features)), may_be_empty=True)
            table.names = None if names is None else tuple(names)
            return table
        table = cls(named_row(X, names), may_be_empty=True)
        return table.matched(names, n_features, estimator_name)

    def matched(
        self, names: Sequence[str] | None, n_features: int, estimator_name: str
    ) -> AnyTable:
        """Return the table with the columns of `fit`, matched by name where both have names."""
        if names is not None and self.names is not None:
            if tuple(names) == self.names:
                return self
            places = np.array(match_names(tuple(names), self.names))
            return AnyTable(self.take(None, places), may_be_empty=True)
        if self.n_features != n_features:
            raise ValueError(
                f"X has {self.n_features} features, but {estimator_name} is expecting "
                f"{n_features} features as input"
            )
        if (names is None) != (self.names is None):
            given = "does not have valid" if self.names is None else "has"
            fitted = "without" if names is None else "with"
            warn(
                f"X {given} feature names, but {estimator_name} was fitted {fitted} feature names; "
                "its columns are taken in the order of fit"
            )
            self._is_warned = True
        return self

    def quiet(self) -> AbstractContextManager[Any]:
        """Keep members from repeating the warning of `matched` about names."""
        return unheard_names() if self._is_warned else nullcontext()


def are_other_rows(X: Any) -> bool:
    """Whether X holds rows that are no table: documents, images, dicts, series of any length.

    Examples
    --------
    >>> are_other_rows(["a first text", "a second"]), are_other_rows(np.zeros((5, 28, 28)))
    (True, True)
    >>> are_other_rows([["a", 1.0], ["b", 2.0]]), are_other_rows(np.zeros((5, 28)))
    (False, False)
    """
    if isinstance(X, list | tuple):
        return len(X) > 0 and not _are_rows_of_cells(X)
    if isinstance(
        X, str | bytes | Mapping | Matrix | Columns | SparseMatrix | SharedSource
    ) or issparse(X):
        return False
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        return False
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) not in (0, 2)
    if is_array_like(X):
        return np.asarray(X).ndim not in (0, 2)
    is_frame = as_narwhals(X) is not X
    return not is_frame and hasattr(X, "__len__") and hasattr(X, "__getitem__")


def _count_rows(X: Any) -> int:
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except (IndexError, TypeError) as error:
        raise TypeError(f"X must be rows, such as a list; got {type(X).__name__}") from error


def _are_rows_of_cells(rows: Sequence[Any]) -> bool:
    """Whether a list has rows of one length, the cells of which have no parts."""
    if not all(_has_parts(row) for row in rows):
        return False
    return len({len(row) for row in rows}) == 1 and not any(_has_parts(cell) for cell in rows[0])


def _has_parts(value: Any) -> bool:
    is_single = isinstance(value, str | bytes | Mapping | set) or not hasattr(value, "__len__")
    return not is_single and getattr(value, "shape", None) != ()


def take_rows(values: Any, rows: Rows) -> Any:
    """Return some entries of a list, an array, a Series or another sequence, of the same kind.

    Examples
    --------
    >>> take_rows(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[row] for row in rows.tolist()]


@contextmanager
def unheard_names() -> Iterator[None]:
    """Silence the warning that a table has names of columns and a model has none, or vice versa."""
    with warnings.catch_warnings():
        message = "X (has|does not have valid) feature names, but"
        warnings.filterwarnings("ignore", message=message, category=UserWarning)
        yield


def reads_tables(estimator: Any) -> bool:
    """Whether an estimator of this library reads a table that was opened before.

    Such an estimator takes weights, and a row of weight zero is absent: samples of rows need no
    table of their own.
    """
    is_own = type(estimator).__module__.startswith("committee.")
    return is_own and bool(getattr(estimator, "_reads_tables", False))


def shown_target(estimator: Any, y: NDArray[Any]) -> Any:
    """Return a target in the form that suits an estimator: classes are read once for many."""
    return read_classes(y) if reads_tables(estimator) and is_classifier(estimator) else y


def named_row(X: Any, names: Sequence[str] | None) -> Any:
    """Return a dict or Series that is one row as a frame of this row; X if it is none."""
    cells = cells_by_name(X, names)
    if cells is None:
        return X
    if isinstance(X, dict):
        return make_frame({name: [cell] for name, cell in cells.items()})
    return X.to_frame().T.infer_objects()  # with the types of its cells


def _checked_sparse(X: Any, may_be_empty: bool) -> Any:
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a sparse array of {X.ndim} dimensions instead")
    for count, what in zip(X.shape, ("sample", "feature"), strict=True):
        if count == 0 and not (may_be_empty and what == "sample"):
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required."
            )
    return checked_csr(X)


def _take_frame(table: Any, rows: Rows | None, columns: Rows | None) -> Any:
    """Take from a frame that narwhals knows, or from what NumPy can read.

    Another kind of frame, which `open_any` knows, gives columns for members of this library only.
    """
    import narwhals as nw

    frame = as_narwhals(table)
    if frame is table:
        is_array = is_array_like(table)
        return AnyTable(np.asarray(table) if is_array else open_any(table)).take(rows, columns)
    if columns is not None:
        names = [frame.columns[place] for place in columns.tolist()]
        labels = distinct_names(names)
        pairs = zip(names, labels, strict=True)
        frame = frame.select(*[nw.col(name).alias(label) for name, label in pairs])
    return (frame if rows is None else frame[rows]).to_native()


def _take_pandas(table: Any, rows: Rows | None, columns: Rows | None) -> Any:
    taken = table if rows is None else table.iloc[rows]
    if columns is None:
        return taken
    taken = taken.iloc[:, columns]
    if len(set(columns.tolist())) == len(columns):
        return taken
    is_text = all(isinstance(name, str) for name in table.columns)
    labels = distinct_names(list(taken.columns)) if is_text else range(len(columns))
    return taken.set_axis(labels, axis="columns")


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return distinct names for columns of which some were drawn more than once.

    Examples
    --------
    >>> distinct_names(["a", "b", "a", "a"])
    ['a', 'b', 'a (2)', 'a (3)']
    """
    taken = set(names)
    counts: Counter[str] = Counter()
    result = []
    for name in names:
        counts[name] += 1
        label = name if counts[name] == 1 else f"{name} ({counts[name]})"
        while counts[name] > 1 and label in taken:
            label += "'"
        taken.add(label)
        result.append(label)
    return result


def data_fingerprint(table: AnyTable, target: NDArray[Any]) -> int:
    """Return a number for the data of members of any kind: of targets, and of arrays of numbers.

    Cells of other tables are not looked at, because reading them is the work of the members.

    Examples
    --------
    >>> table, target = AnyTable([[1.0], [2.0]]), np.array([[0.0], [1.0]])
    >>> data_fingerprint(table, target) == data_fingerprint(table, 1 - target)
    False
    """
    number = zlib.crc32(np.ascontiguousarray(target).data)
    cells = table.native
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub":
        number = zlib.crc32(np.ascontiguousarray(cells).data, number)
    return number
