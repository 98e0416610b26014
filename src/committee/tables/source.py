"""Where the cells of a table come from: one matrix, or columns read one at a time.

`open_source` recognises what a user passed, refuses what is no table in plain words (with the
phrases that scikit-learn's checks look for), and reads no more than it must: a numeric matrix
stays the user's memory, columns are read when they are needed.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.tables.column import (
    Column,
    as_direct,
    complex_error,
    is_beyond_doubles,
    numpy_column,
)
from committee.tables.frame import (
    MANY_COLUMNS,
    as_narwhals,
    column_blocks,
    frame_column,
    is_from,
    pandas_column,
    read_stream,
    refuse_duplicates,
    small_matrix,
)
from committee.tables.sparse import SparseMatrix, is_sparse, open_sparse


class Kept:
    """Values made of a source, kept for later calls, also of other threads."""

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}
        self._locks: dict[Any, threading.Lock] = {}  # of values that are being made
        self._lock = threading.Lock()

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the value of a key, which is made on the first call.

        Calls with the same key wait for that one, calls with other keys do not.
        """
        if key in self._made:  # nothing is ever taken away
            return self._made[key]
        with self._lock:
            own = self._locks.setdefault(key, threading.Lock())
        with own:
            if key not in self._made:
                self._made[key] = make()
                self._locks.pop(key, None)
            return self._made[key]


@dataclass(frozen=True, eq=False)
class Matrix:
    """A 2-D numeric array in a type that the engine reads in place."""

    values: NDArray[Any]
    label: str = "number"
    names: tuple[str, ...] | None = None
    kept: Kept | None = None

    is_frame: ClassVar = False  # numbers need no decision by the types of columns

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    def where(self, position: int) -> str:
        return _where(self.names, position)

    def column(self, position: int) -> Column:
        values = self.values[:, position]
        if self.label == "boolean":
            return Column("boolean", values)
        return numpy_column(values, None, self.where(position))

    def is_all_real(self) -> bool:
        return not is_beyond_doubles(self.values)

    def take(self, rows: Rows | None, columns: Rows | None) -> "Matrix":
        values = self.values if rows is None else self.values[rows]
        if columns is None:
            return Matrix(values, self.label, self.names)
        return Matrix(values[:, columns], self.label, _names_at(self.names, columns))


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of any types; `read(position, where)` reads one of them.

    With `is_frame` columns have types of their own, as in a data frame.
    """

    n_rows: int
    n_features: int
    names: tuple[str, ...] | None
    read: Callable[[int, str], Column]
    kept: Kept | None = None
    is_frame: bool = False

    def where(self, position: int) -> str:
        return _where(self.names, position)

    def column(self, position: int) -> Column:
        return self.read(position, self.where(position))

    def take(self, rows: Rows | None, columns: Rows | None) -> "Columns":
        places = range(self.n_features) if columns is None else columns.tolist()

        def read(position: int, where: str) -> Column:
            column = self.read(places[position], where)
            return column if rows is None else column.take(rows)

        names = self.names if columns is None else _names_at(self.names, columns)
        n_rows = self.n_rows if rows is None else len(rows)
        return Columns(n_rows, len(places), names, read, is_frame=self.is_frame)


Source = Matrix | Columns | SparseMatrix


def as_matrix(source: Source) -> Source:
    """Return very many columns of nothing but numbers as one array; other tables as they are."""
    if not isinstance(source, Columns) or source.n_features < MANY_COLUMNS:
        return source
    columns = [source.column(position) for position in range(source.n_features)]
    is_plain = all(each.label == "number" and each.mask is None for each in columns)
    if not is_plain or len({each.values.dtype for each in columns}) > 1:
        return source
    return Matrix(np.column_stack([each.values for each in columns]), "number", source.names)


@dataclass(frozen=True, eq=False)
class SharedSource:
    """A table that several estimators are fitted to, with what all of them need made once.

    Only what depends on the cells alone is shared: columns as the engine reads them, and codes.

    Parameters
    ----------
    source : Source
        The table, from `read_once`.
    weights : ndarray of float64 or None
        Weights of the rows; those of weight zero are absent for all.
    whole : SharedSource or None
        What this is a part of, if it is one.
    rows : ndarray of int or None
        Which rows of it.
    """

    source: Source
    weights: Floats | None = None
    whole: "SharedSource | None" = None
    rows: Rows | None = None
    made: Kept = field(default_factory=Kept)

    def part(self, rows: Rows) -> "SharedSource":
        """Return some rows, which keep the kinds, levels and codes that they have here."""
        weights = None if self.weights is None else self.weights[rows]
        return SharedSource(self.source.take(rows, None), weights, self, rows)


def read_once(source: Source) -> Source:
    """Return a source that keeps its columns and the tables made of it, for many readers."""
    if not isinstance(source, Columns):
        return replace(source, kept=Kept())
    columns = Kept()

    def read(position: int, where: str) -> Column:
        column: Column = columns.once(position, lambda: source.read(position, where))
        return column

    return replace(source, read=read, kept=Kept())


def _names_at(names: tuple[str, ...] | None, columns: Rows) -> tuple[str, ...] | None:
    return None if names is None else tuple(names[column] for column in columns.tolist())


def _where(names: tuple[str, ...] | None, position: int) -> str:
    return f"column {position}" if names is None else f"column {names[position]!r}"


def open_source(X: Any) -> Source:
    """Recognise a table: array, masked array, data frame, sparse matrix or list of rows."""
    source = open_any(X)
    if source.n_rows == 0:
        raise _none_error("sample", shape=(0, source.n_features))
    return source


def open_batch(X: Any, names: Sequence[str] | None, n_features: int) -> Source:
    """Recognise rows to predict: any table, also one without rows, or one row by names.

    Parameters
    ----------
    X : table, dict or Series
        A dict from names to cells is one row; so is a pandas Series whose index holds names.
    names : sequence of str or None
        The names of the columns in `fit`.
    n_features : int
        Their number.

    Returns
    -------
    source : Source
        The rows.
    """
    if isinstance(X, list | tuple) and len(X) == 0:
        return Matrix(np.empty((0, n_features)), names=None if names is None else tuple(names))
    cells = cells_by_name(X, names)
    if cells is None:
        return open_any(X)
    values = list(cells.values())

    def read(position: int, where: str) -> Column:
        cell = np.empty(1, object)
        cell[0] = values[position]
        return numpy_column(cell, None, where)

    return Columns(1, len(values), tuple(cells), read, is_frame=True)


def cells_by_name(X: Any, names: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the cells of one row by the names of columns; None if X is no such row."""
    if isinstance(X, dict) and not is_sparse(X):  # a DOK matrix is a dict, too
        if names is None:
            raise ValueError("X is a dict, one row by names, but fit got a table without names")
        for name, cell in X.items():
            if not isinstance(cell, str) and hasattr(cell, "__len__"):
                raise TypeError(
                    "X as a dict is one row, with a single cell for each name; got "
                    f"{type(cell).__name__} for {name!r}. Pass several rows as a data frame"
                )
        return X
    if names is None or not is_from("pandas", "Series", X):
        return None
    labels = list(X.index)
    is_row = all(isinstance(label, str) for label in labels) and not set(labels).isdisjoint(names)
    if not is_row:
        return None
    refuse_duplicates(labels)
    return dict(zip(labels, X.tolist(), strict=True))


def open_any(X: Any) -> Source:
    """Recognise a table, also one without rows."""
    if isinstance(X, Matrix | Columns | SparseMatrix):  # opened before, see `read_once`
        return X
    if isinstance(X, SharedSource):
        return X.source
    if isinstance(X, np.ndarray):
        source = _open_array(X)
    elif isinstance(X, list | tuple):
        source = _open_array(_array_of_rows(X))
    elif is_sparse(X):
        source = _open_sparse(X)
    elif is_from("pandas", "DataFrame", X):
        source = _open_pandas(X)
    else:
        source = _open_other(X)
    if source.n_features == 0:
        raise _none_error("feature", shape=(source.n_rows, 0))
    return source


def is_array_like(X: Any) -> bool:
    """Whether NumPy can make an array of an object that is none."""
    return hasattr(X, "__array__") or hasattr(X, "__array_interface__")


def _open_other(X: Any) -> Source:
    X = read_stream(X)
    frame = as_narwhals(X)
    if frame is not X:
        return _open_frame(X, frame)
    if is_array_like(X):
        return _open_array(np.asarray(X))
    if np.isscalar(X):
        raise _shape_error(0)
    raise TypeError(
        "X must be a table: a NumPy array, a pandas, polars or pyarrow table, a SciPy sparse "
        f"matrix or a list of rows; got {type(X).__name__}"
    )


def _none_error(what: str, shape: tuple[int, int]) -> ValueError:
    return ValueError(
        f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
    )


def _shape_error(n_dims: int) -> ValueError:
    if n_dims > 2:
        return ValueError(f"X must be a table with 2 dimensions. Found array with dim {n_dims}")
    what = "scalar array" if n_dims == 0 else "1D array"
    return ValueError(
        f"Expected 2D array, got {what} instead. Reshape your data either using X.reshape(-1, 1) "
        "if it has a single feature or X.reshape(1, -1) if it is a single row"
    )


# --- Arrays and lists ---------------------------------------------------------------------------


def _open_array(X: NDArray[Any]) -> Source:
    if X.dtype.names is not None:
        raise TypeError(
            "X is a structured array, whose fields are no columns of a matrix; "
            "pass a data frame instead, for example pandas.DataFrame(X)"
        )
    if X.ndim != 2:
        raise _shape_error(X.ndim)
    if X.dtype.kind == "c":
        raise complex_error("X")
    mask = None
    if isinstance(X, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(X) if np.ma.is_masked(X) else None
    # np.matrix keeps two dimensions when sliced; a plain view does not.
    values = np.asarray(X.data if isinstance(X, np.ma.MaskedArray) else X)
    is_uint64 = values.dtype.kind == "u" and values.dtype.itemsize == 8
    if mask is None and values.dtype.kind in "fiub" and not is_uint64:
        return _named_matrix(values, None)

    def read(position: int, where: str) -> Column:
        hidden = None if mask is None else mask[:, position]
        return numpy_column(values[:, position], hidden, where)

    return Columns(values.shape[0], values.shape[1], None, read)


def _array_of_rows(rows: Sequence[Any]) -> NDArray[Any]:
    """Make a list of rows an array in which text and numbers stay what they are."""
    try:
        array = np.asarray(rows)
    except ValueError:  # rows of different lengths
        array = None
    if array is not None and array.dtype.kind in "fiubcMm":
        return array
    # NumPy would turn the numbers beside a text into text: keep the objects.
    try:
        cells = np.array(rows, dtype=object)
    except ValueError:
        cells = np.empty(0, dtype=object)
    if array is None and cells.ndim < 2:
        lengths = sorted({len(row) for row in rows if hasattr(row, "__len__")})
        raise ValueError(f"the rows of X must have the same length; got lengths {lengths}")
    return cells


def _open_sparse(X: Any) -> Source:
    if X.ndim != 2:
        raise _shape_error(X.ndim)
    if 0 in X.shape:
        return Matrix(np.empty(X.shape))
    cells = open_sparse(X)
    if isinstance(cells, SparseMatrix):
        return cells
    if cells.dtype == np.uint64:  # too large for int64: read by columns, to name the one at fault
        return _open_array(cells)
    return Matrix(as_direct(cells), "boolean" if X.dtype.kind == "b" else "number")


# --- Data frames --------------------------------------------------------------------------------


def _open_pandas(X: Any) -> Source:
    labels = list(X.columns)
    refuse_duplicates(labels)
    names = _feature_names(labels)
    matrix = small_matrix(X)
    if matrix is not None:
        return _named_matrix(matrix, names)

    blocks = column_blocks(X)

    def read(position: int, where: str) -> Column:
        cells = None if blocks is None else blocks.column(position)
        if cells is not None:
            return numpy_column(cells, None, where)
        return pandas_column(X.iloc[:, position], where)

    return Columns(X.shape[0], X.shape[1], names, read, is_frame=True)


def _named_matrix(values: NDArray[Any], names: tuple[str, ...] | None) -> Matrix:
    return Matrix(as_direct(values), "boolean" if values.dtype.kind == "b" else "number", names)


def _open_frame(X: Any, frame: Any) -> Source:
    import narwhals as nw

    if isinstance(frame, nw.Series):
        raise _shape_error(1)
    labels = list(frame.columns)
    refuse_duplicates(labels)
    names = _feature_names(labels)
    matrix = small_matrix(X)
    if matrix is not None:
        return _named_matrix(matrix, names)
    n_rows, n_features = frame.shape
    blocks = column_blocks(X)
    columns = list(frame.iter_columns()) if blocks is None else None

    def read(position: int, where: str) -> Column:
        cells = None if blocks is None else blocks.column(position)
        if cells is not None:
            return numpy_column(cells, None, where)
        own = frame[:, position] if columns is None else columns[position]
        return frame_column(own, where)

    return Columns(n_rows, n_features, names, read, is_frame=True)


def _feature_names(labels: list[Any]) -> tuple[str, ...] | None:
    """Return the labels if they are all text, None if none is, as scikit-learn has it."""
    types = sorted({type(label).__name__ for label in labels})
    if types == ["str"]:
        return tuple(labels)
    if "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {types} as feature name / column name types. "
            "Make them all text, for example by X.columns = X.columns.astype(str)"
        )
    return None
