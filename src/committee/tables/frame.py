"""Data frames (pandas, polars, pyarrow and what else narwhals reads) as columns for the engine.

narwhals gives one set of types and methods for all of them. Only categories and text are taken
from the library behind, because their codes and the order of their levels live there. narwhals is
imported on first use: a program that passes arrays never loads it.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.tables.column import Column, category_column, numpy_column, ordered_column

if TYPE_CHECKING:
    import narwhals as nw


# Up to this many cells, copying a frame of one type costs less than to look at its columns.
_SMALL_FRAME = 2**14
MANY_COLUMNS = 1000  # from so many on, numbers are one array

# Of so few rows and so many columns, copying columns of one type together costs less than to look
# at each of them; of fewer rows where cells are text. So many are copied at a time.
_FEW_ROWS, _FEW_TEXTS, _MANY_COLUMNS, _BLOCK = 1024, 256, 32, 256

# How a query becomes a frame in memory, by the library of the lazy frame.
_RUN_QUERY = {
    "POLARS": "collect()",
    "DUCKDB": "df()",
    "DASK": "compute()",
    "IBIS": "to_pandas()",
    "PYSPARK": "toPandas()",
    "PYSPARK_CONNECT": "toPandas()",
    "SQLFRAME": "toPandas()",
}

# Libraries to make a frame with, the preferred one first.
_BACKENDS = ("pandas", "polars", "pyarrow")


def is_from(library: str, name: str, value: Any) -> bool:
    """Whether the value is of a class of a library that may not be installed."""
    # A library that is not loaded cannot have made the value.
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, name))


def as_narwhals(X: Any, name: str = "X") -> Any:
    """`X` as a narwhals DataFrame or Series, or `X` itself if it is neither.

    Raises TypeError for lazy frames, which hold no rows yet.
    """
    if isinstance(X, list | tuple | dict | str | bytes | int | float) or X is None:
        return X
    import narwhals as nw

    # Before narwhals does so in words of its own. polars cannot hold a name twice.
    if is_from("pandas", "DataFrame", X):
        refuse_duplicates(list(X.columns))
    elif is_from("pyarrow", "Table", X):
        refuse_duplicates(X.column_names)
    frame = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        run = _RUN_QUERY.get(frame.implementation.name, "method for this")
        raise TypeError(
            f"{name} is a lazy frame of {type(X).__module__.split('.')[0]}, which holds a query "
            f"and no rows yet; call its {run} and pass the result"
        )
    return frame


def read_stream(X: Any) -> Any:
    """Return record batches of Arrow that can be read once as a table, anything else as it is.

    DuckDB and others answer queries with such a `RecordBatchReader`.
    """
    if not is_from("pyarrow", "RecordBatchReader", X):
        return X
    return X.read_all()


def refuse_duplicates(labels: Sequence[Any]) -> None:
    """Raise if two columns share a name: it would be unclear which one a model means."""
    if not all(isinstance(label, str | int | tuple) for label in labels):
        return
    counts = Counter(labels)
    if len(counts) < len(labels):
        repeated = [label for label, count in counts.items() if count > 1]
        raise ValueError(f"column names must be distinct; X has several columns named {repeated}")


def small_matrix(X: Any) -> NDArray[Any] | None:
    """Return a pandas or polars frame of one numeric type as an array if it is small or wide.

    A model in service predicts single rows, and reading them column by column is slow; so it is
    where columns are very many. None for other frames.
    """
    if is_from("pandas", "DataFrame", X):
        dtypes = set(X.dtypes)
    elif is_from("polars", "DataFrame", X):
        import polars as pl

        # Nulls become NaN in floats; other types would need a mask.
        dtypes = {np.dtype("f8") if dtype == pl.Float64 else dtype for dtype in X.dtypes}
    else:
        return None
    is_small = X.shape[0] * X.shape[1] <= _SMALL_FRAME
    if len(dtypes) != 1 or not (is_small or X.shape[1] >= MANY_COLUMNS):
        return None
    dtype = dtypes.pop()
    if not isinstance(dtype, np.dtype) or dtype.kind not in "fib":
        return None
    return np.asarray(X.to_numpy())


class ColumnBlocks:
    """Columns of a frame of few rows, of which many are copied at a time.

    Parameters
    ----------
    groups : iterable of sequence of int
        Positions of columns that make one matrix together.
    copy : callable
        Returns the matrix of some positions.
    """

    def __init__(
        self, groups: Iterable[Sequence[int]], copy: Callable[[Sequence[int]], NDArray[Any]]
    ) -> None:
        self._copy = copy
        self._blocks = [
            group[begin : begin + _BLOCK]
            for group in groups
            for begin in range(0, len(group), _BLOCK)
        ]
        self._place = {
            position: (number, k)
            for number, block in enumerate(self._blocks)
            for k, position in enumerate(block)
        }
        self._made: dict[int, NDArray[Any]] = {}

    def column(self, position: int) -> NDArray[Any] | None:
        """Return a column; None if it is in no group."""
        place = self._place.get(position)
        if place is None:
            return None
        number, k = place
        if number not in self._made:
            self._made[number] = np.asfortranarray(self._copy(self._blocks[number]))
        return self._made[number][:, k]


def column_blocks(X: Any) -> ColumnBlocks | None:
    """Return the columns of NumPy's types and of text of a wide pandas or polars frame.

    None for a frame of few columns or many rows, where each column is read for itself.
    """
    n_rows, n_columns = X.shape
    if n_rows > _FEW_ROWS or n_columns < _MANY_COLUMNS:
        return None
    groups: dict[Any, list[int]] = {}
    if is_from("pandas", "DataFrame", X):
        for position, dtype in enumerate(X.dtypes):
            is_plain = isinstance(dtype, np.dtype) and dtype.kind in "fiubMm"
            if is_plain or (n_rows <= _FEW_TEXTS and _is_text(dtype)):
                groups.setdefault(dtype, []).append(position)
        return ColumnBlocks(groups.values(), lambda block: _pandas_block(X.iloc[:, block]))
    if is_from("polars", "DataFrame", X):
        import polars as pl

        n_missing = X.null_count().row(0) if n_columns else ()
        for position, dtype in enumerate(X.dtypes):
            is_plain = dtype in (pl.Float64, pl.Float32)
            is_plain |= dtype.is_integer() and n_missing[position] == 0
            if is_plain or (n_rows <= _FEW_TEXTS and dtype == pl.String):
                groups.setdefault(dtype, []).append(position)
        return ColumnBlocks(groups.values(), lambda block: X[:, block].to_numpy())
    return None


def _is_text(dtype: Any) -> bool:
    """Whether columns of pandas hold text, or objects that may be text."""
    return dtype == np.dtype(object) or type(dtype).__name__ == "StringDtype"


def _pandas_block(block: Any) -> NDArray[Any]:
    is_plain = isinstance(block.dtypes.iloc[0], np.dtype)
    return np.asarray(block.to_numpy() if is_plain else block.to_numpy(dtype=object))


def pandas_column(native: Any, where: str) -> Column:
    """Read one column of a pandas frame; NumPy's own types need no help from narwhals."""
    if isinstance(native.dtype, np.dtype) and native.dtype.kind in "fiubMmc":
        return numpy_column(native.to_numpy(), None, where)
    if type(native.dtype).__name__ in ("PeriodDtype", "IntervalDtype"):
        return numpy_column(_points(native.array), None, where)
    import narwhals as nw

    return frame_column(nw.from_native(native, series_only=True), where)


def _points(spans: Any) -> NDArray[Any]:
    """Return the starts of periods, the middles of intervals."""
    if hasattr(spans, "asfreq"):
        starts: NDArray[Any] = spans.asfreq("us", "start").asi8  # NaT is what NumPy has for it
        return starts.view("datetime64[us]")
    middles = spans.mid
    if getattr(middles, "tz", None) is not None:
        middles = middles.tz_convert(None)
    return np.asarray(middles)


def frame_column(series: "nw.Series[Any]", where: str) -> Column:
    """Read one column of a data frame."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_nested() or dtype == nw.Binary:
        raise TypeError(
            f"{where} has the type {dtype}; an argument must be a string or a number, a boolean, "
            "a date or a duration. Turn nested cells into columns of their own first"
        )
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        return _text_or_category(series, where)
    if dtype.is_integer():
        return _integers(series, where)
    if dtype.is_float():
        return numpy_column(_floats(series), None, where)
    if dtype == nw.Boolean:
        missing = series.is_null().to_numpy()
        filled = series.fill_null(False) if missing.any() else series
        return numpy_column(filled.to_numpy().astype(bool, copy=False), missing, where)
    if series.null_count() == len(series):
        # A column without values has no type, whatever placeholder its library stores.
        return numpy_column(np.full(len(series), None, object), None, where)
    return numpy_column(np.asarray(series.to_numpy()), None, where)


def _integers(series: "nw.Series[Any]", where: str) -> Column:
    import narwhals as nw

    if series.dtype in (nw.Int128, nw.UInt128):
        try:
            series = series.cast(nw.Int64)
        except Exception as error:  # each library has its own error for a cast that overflows
            raise ValueError(f"{where} holds integers beyond 2**63 - 1 or below -2**63") from error
    if series.null_count() == 0:
        return numpy_column(series.to_numpy(), None, where)
    missing = series.is_null().to_numpy()
    return numpy_column(series.fill_null(0).to_numpy(), missing, where)


def _floats(series: "nw.Series[Any]") -> Any:
    values = series.to_numpy()
    if values.dtype == object:  # a nullable column whose library does not turn nulls into NaN
        values = series.fill_null(float("nan")).to_numpy().astype(np.float64)
    return values


def _text_or_category(series: "nw.Series[Any]", where: str) -> Column:
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas categorical
        codes = native.cat.codes.to_numpy()
        if native.cat.ordered:
            return ordered_column(codes, native.cat.categories)
        return category_column(codes, native.cat.categories, keep_order=True, from_text=False)
    if hasattr(native, "factorize"):  # pandas text
        codes, levels = native.factorize()
        return category_column(np.asarray(codes), levels, keep_order=False, from_text=True)
    if is_from("polars", "Series", native):
        return _polars_text(native)
    if is_from("pyarrow", "ChunkedArray", native):
        return _arrow_text(native)
    return numpy_column(series.to_numpy().astype(object), None, where)


def _polars_text(native: Any) -> Column:
    import polars as pl

    if isinstance(native.dtype, pl.Enum):
        codes = native.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        names = native.dtype.categories.to_list()
        return category_column(codes, names, keep_order=True, from_text=False)
    text = native.cast(pl.String)
    levels = text.drop_nulls().unique().sort()
    places = pl.int_range(len(levels), dtype=pl.Int32, eager=True)
    codes = text.replace_strict(levels, places, default=-1, return_dtype=pl.Int32)
    from_text = native.dtype == pl.String
    return category_column(codes.to_numpy(), levels.to_list(), keep_order=True, from_text=from_text)


def _arrow_text(native: Any) -> Column:
    import pyarrow as pa

    is_dictionary = pa.types.is_dictionary(native.type)
    is_ordered = is_dictionary and native.type.ordered
    encoded = native.unify_dictionaries() if is_dictionary else native.dictionary_encode()
    combined = encoded.combine_chunks()
    indices = combined.indices
    if pa.types.is_unsigned_integer(indices.type):  # has no -1
        indices = indices.cast(pa.int64())
    codes = indices.fill_null(-1).to_numpy(zero_copy_only=False)
    levels = combined.dictionary.to_pylist()
    if None in levels:  # a dictionary may itself hold a null
        null_code = levels.index(None)
        codes = np.where(codes == null_code, -1, codes)
    elif is_ordered:
        return ordered_column(codes, levels)
    return category_column(codes, levels, keep_order=is_dictionary, from_text=not is_dictionary)


def make_frame(columns: Mapping[str, Sequence[Any]], backend: str | None = None) -> Any:
    """Make a data frame of an installed library from columns of Python values."""
    import narwhals as nw

    if backend is not None and backend not in _BACKENDS:
        accepted = ", ".join(f'"{name}"' for name in _BACKENDS)
        raise ValueError(f"backend must be one of {accepted} or None; got {backend!r}")
    for name in _BACKENDS if backend is None else (backend,):
        try:
            import_module(name)
        except ImportError:
            continue
        library: Any = name
        return nw.from_dict(dict(columns), backend=library).to_native()
    raise ImportError(
        f"a data frame needs {backend or 'pandas, polars or pyarrow'}; install one of them",
        name=backend or "pyarrow",
    )
