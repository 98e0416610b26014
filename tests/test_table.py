"""What is read from each sort of table, seen through a table that records what it is given."""

import datetime as dt
import gc
import pickle
import re
import subprocess
import sys
import warnings
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from committee.tables import table as _table
from committee.tables.table import FeatureInfo, Kind, TableSchema, read_table

NAME = "DecisionTreeClassifier"
DAY = 86_400_000_000  # microseconds


class RecordingTable:
    """Stands in for the engine's table and keeps what it is given."""

    def __init__(self, n_rows):
        self.n_rows = n_rows
        self.matrix = None
        self.columns = []

    @classmethod
    def from_matrix(cls, matrix):
        table = cls(len(matrix))
        table.matrix = matrix
        table.columns = [(0, matrix[:, j], None) for j in range(matrix.shape[1])]
        return table

    @property
    def n_features(self):
        return len(self.columns)

    def add_column(self, kind, values, mask):
        assert len(values) == self.n_rows
        assert values.ndim == 1
        assert values.dtype in ("f8", "f4", "i8", "i4", "u1")
        assert mask is None or (mask.dtype == np.uint8 and mask.shape == values.shape)
        if kind == Kind.CATEGORY:
            assert values.dtype == np.int32
            assert mask is None
        self.columns.append((kind, values, mask))

    def cells(self, position=0):
        """The values as Python objects, None where missing."""
        kind, values, mask = self.columns[position]
        hidden = np.zeros(len(values), bool) if mask is None else mask.astype(bool)
        if values.dtype.kind == "f":
            hidden = hidden | np.isnan(values)
        if kind == Kind.CATEGORY:
            hidden = values < 0
        return [None if h else v for v, h in zip(values.tolist(), hidden, strict=True)]


@pytest.fixture
def recording(monkeypatch):
    monkeypatch.setattr(_table, "_core", SimpleNamespace(Table=RecordingTable))


def read_one(values, **options):
    """Read a table of one column: its info and its cells (levels instead of codes)."""
    table, schema = read_table(values, **options)
    info = schema.features[0]
    cells = table.cells()
    if info.levels is not None:
        cells = [None if code is None else info.levels[code] for code in cells]
    return info, cells


# --- The real engine ----------------------------------------------------------------------------


def test_the_engine_accepts_every_form_of_table():
    frame = pd.DataFrame(
        {"a": [1.0, 2.0], "b": ["x", None], "c": pd.to_datetime(["2020-01-01", None])}
    )
    table, schema = read_table(frame)
    assert (table.n_rows, table.n_features) == (2, 3)
    assert table.kinds == [0, 2, 1]
    for form in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert schema.read(form, NAME).kinds == [0, 2, 1]


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "g", "i8", "i4", "i2", "u1", "u4", "u8", "?"])
def test_the_engine_accepts_every_numeric_matrix_in_any_layout(dtype):
    base = np.array([[0, 1, 0], [1, 0, 1], [1, 1, 0], [0, 0, 1]], dtype)
    for X in (base, np.asfortranarray(base), base[::2], base[:, ::-1], base.T):
        table, schema = read_table(X)
        assert (table.n_rows, table.n_features) == X.shape
        assert schema.read(X, NAME).n_rows == len(X)
    readonly = base.copy()
    readonly.flags.writeable = False
    assert read_table(readonly)[0].n_rows == 4


def test_the_engine_keeps_the_arrays_alive():
    table = read_table(np.arange(8.0).reshape(4, 2))[0]
    gc.collect()
    assert (table.n_rows, table.n_features) == (4, 2)


# --- Arrays -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_numeric_matrix_is_not_copied(dtype, order):
    X = np.array([[0, 1], [2, 3]], dtype=dtype, order=order)
    table, schema = read_table(X)
    assert table.matrix is X
    assert schema.read(X, NAME).matrix is X
    assert schema.features[1] == FeatureInfo("x1", Kind.REAL, None, "number")


@pytest.mark.usefixtures("recording")
def test_a_boolean_matrix_is_a_view_of_bytes():
    X = np.array([[True, False], [False, False]])
    table, schema = read_table(X)
    assert np.shares_memory(table.matrix, X)
    assert table.matrix.dtype == np.uint8
    assert [info.label for info in schema.features] == ["boolean", "boolean"]


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    ("dtype", "becomes"),
    [("f2", "f4"), ("g", "f8"), (">f8", "f8"), ("i1", "i4"), ("u2", "i4"), ("u4", "i8")],
)
def test_other_number_types_become_the_nearest_the_engine_reads(dtype, becomes):
    table, _ = read_table(np.array([[1], [100]], dtype))
    assert table.matrix.dtype == becomes
    assert table.cells() == [1, 100]


@pytest.mark.usefixtures("recording")
def test_a_longdouble_beyond_float64_becomes_infinite():
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("longdouble is float64 here")
    table, _ = read_table(np.array([[np.longdouble("1e400")], [1]]))
    assert table.cells() == [np.inf, 1.0]


@pytest.mark.usefixtures("recording")
def test_infinite_values_are_values_and_nan_is_missing():
    info, cells = read_one(np.array([[np.inf], [-np.inf], [np.nan]]))
    assert info.kind == Kind.REAL
    assert cells == [np.inf, -np.inf, None]


@pytest.mark.usefixtures("recording")
def test_integers_beyond_2_to_the_53_stay_distinct():
    big = 2**53
    X = np.array([[1, big], [2, big + 1], [3, big + 2]])
    table, schema = read_table(X)
    assert [info.kind for info in schema.features] == [Kind.REAL, Kind.INTEGER]
    assert [info.label for info in schema.features] == ["number", "integer"]
    assert table.cells(1) == [big, big + 1, big + 2]
    assert np.shares_memory(table.columns[1][1], X)
    _, exact = read_table(np.array([[big], [-big]]))
    assert exact.features[0].kind == Kind.REAL
    _, negative = read_table(np.array([[-big - 1]]))
    assert negative.features[0].kind == Kind.INTEGER
    # At prediction doubles are fine: the engine rounds them down.
    assert schema.read(np.array([[1.0, 2.5]]), NAME).cells(1) == [2.5]


@pytest.mark.usefixtures("recording")
def test_unsigned_integers_from_2_to_the_63_are_refused_by_name():
    X = np.array([[1, 2**63], [2, 5]], np.uint64)
    with pytest.raises(ValueError, match=r"column 1 holds the integer 9223372036854775808"):
        read_table(X)
    with pytest.raises(ValueError, match=r"column 'big' holds the integer"):
        read_table(pd.DataFrame({"small": [1], "big": np.array([2**63], np.uint64)}))
    with pytest.raises(ValueError, match=r"column 0 holds the integer"):
        read_table(np.array([[2**70]], dtype=object))
    assert read_table(np.array([[2**62]], np.uint64))[1].features[0].kind == Kind.INTEGER


@pytest.mark.usefixtures("recording")
def test_masked_cells_are_missing():
    mask = [[True], [False], [False]]
    for data, expected in [
        ([[1.5], [2.5], [3.5]], [None, 2.5, 3.5]),
        ([[1], [2], [3]], [None, 2, 3]),
        ([[True], [False], [True]], [None, 0, 1]),
        ([["a"], ["b"], ["c"]], [None, "b", "c"]),
        ([[2**60], [2], [3]], [None, 2, 3]),
    ]:
        X = np.ma.MaskedArray(data, mask)
        before = X.data.copy()
        info, cells = read_one(X)
        assert cells == expected
        assert info.kind == (Kind.CATEGORY if info.levels else Kind.REAL)
        np.testing.assert_array_equal(X.data, before)
    plain = np.ma.MaskedArray([[1.0], [2.0]])
    assert np.shares_memory(read_table(plain)[0].matrix, plain.data)


@pytest.mark.usefixtures("recording")
def test_matrices_memmaps_and_objects_with_array_are_read(tmp_path):
    class Wrapper:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2.0]])

    memmap = np.memmap(tmp_path / "x", dtype="f8", mode="w+", shape=(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix([[1, 2], [3, 4]])
    assert read_table(matrix)[0].cells(1) == [2, 4]
    assert read_table(Wrapper())[0].cells(1) == [2.0]
    assert read_table(memmap)[0].n_features == 2


@pytest.mark.usefixtures("recording")
def test_lists_of_rows_keep_text_and_numbers_apart():
    table, schema = read_table([["a", 1], [float("nan"), 2.5], [None, None]])
    assert [info.label for info in schema.features] == ["category", "number"]
    assert table.cells(0) == [0, None, None]
    assert table.cells(1) == [1.0, 2.5, None]
    assert read_table([[1, 2], [3, 4]])[0].matrix.dtype == np.int64
    assert read_table(((1.5, 2), (3, 4)))[0].n_features == 2


# --- Columns of objects -------------------------------------------------------------------------


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    ("cells", "label", "expected"),
    [
        ([1, 2.5, None], "number", [1.0, 2.5, None]),
        ([1, None, np.int8(3)], "number", [1, None, 3]),
        ([2**60, None, 1], "integer", [2**60, None, 1]),
        ([True, None, False], "boolean", [1, None, 0]),
        ([True, 2, np.nan], "number", [1, 2, None]),
        ([Decimal("1.5"), None, Decimal("NaN")], "number", [1.5, None, None]),
        ([10**400, 1.5, -(10**400)], "number", [np.inf, 1.5, -np.inf]),
        (["b", "a", None], "category", ["b", "a", None]),
        (["1", "2", np.nan], "category", ["1", "2", None]),
        (["b", 1, 2.5], "category", ["b", 1, 2.5]),
        ([pd.NA, "x", pd.NaT], "category", [None, "x", None]),
        ([None, np.nan, pd.NA], "category", [None, None, None]),
        ([dt.date(1970, 1, 2), None, dt.date(1969, 12, 31)], "datetime", [DAY, None, -DAY]),
        ([pd.Timestamp("1970-01-02"), pd.NaT, np.datetime64("NaT")], "datetime", [DAY, None, None]),
        ([np.datetime64("1970-01-02", "ns"), None, None], "datetime", [DAY, None, None]),
        ([dt.timedelta(1), None, np.timedelta64(2, "D")], "timedelta", [DAY, None, 2 * DAY]),
        ([dt.time(1), None, dt.time(0, 0, 1)], "timedelta", [DAY // 24, None, 1_000_000]),
    ],
)
def test_what_the_cells_have_in_common_decides_about_an_object_column(cells, label, expected):
    X = np.empty((len(cells), 1), object)
    X[:, 0] = cells
    info, read = read_one(X)
    assert (info.label, read) == (label, expected)
    frame_info, frame_read = read_one(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))
    assert (frame_info.label, frame_read) == (label, expected)


@pytest.mark.usefixtures("recording")
def test_times_with_a_zone_are_read_in_utc():
    zone = dt.timezone(dt.timedelta(hours=2))
    moment = dt.datetime(1970, 1, 1, 2, tzinfo=zone)
    assert read_one([[moment], [dt.datetime(1970, 1, 2)]])[1] == [0, DAY]


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a", dt.date(2020, 1, 1)], "column 0 mixes text with dates or durations"),
        ([1, dt.date(2020, 1, 1)], "column 0 mixes datetime and integer cells"),
        ([1.5, dt.timedelta(1)], "column 0 mixes number and timedelta cells"),
    ],
)
def test_columns_that_mix_natures_are_refused(cells, message):
    with pytest.raises(ValueError, match=message):
        read_table([[cell] for cell in cells])


@pytest.mark.parametrize("cell", [{"foo": "bar"}, [1, 2], object(), b"x", {1}])
def test_cells_that_are_neither_numbers_nor_text_are_a_type_error(cell):
    X = np.zeros((3, 2), object)
    X[1, 1] = cell
    message = f"column 1 holds a cell of type {type(cell).__name__}; .*argument must be .* string.*"
    with pytest.raises(TypeError, match=message + " number"):
        read_table(X)


# --- Text and categories ------------------------------------------------------------------------


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", None, "a", "b"]),
        pd.Series(["b", None, "a", "b"], dtype="string"),
        pd.Series(["b", None, "a", "b"], dtype=object),
        pd.Series(["b", None, "a", "b"], dtype=pd.ArrowDtype(pa.string())),
        pl.Series(["b", None, "a", "b"]),
        pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
        pa.chunked_array([["b", None], ["a", "b"]]),
        pa.chunked_array([pa.array(["b", None, "a", "b"], pa.large_string())]),
    ],
    ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', 'arrow')}",
)
def test_text_has_its_sorted_distinct_values_as_levels(column):
    info, cells = read_one(frame_of(column))
    assert (info.name, info.kind, info.levels) == ("a", Kind.CATEGORY, ("a", "b"))
    assert cells == ["b", None, "a", "b"]


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["low", None, "high"], categories=["low", "mid", "high"])),
        pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "mid", "high"])),
        pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(
                    pa.array([0, None, 2], pa.int8()), ["low", "mid", "high"]
                )
            ]
        ),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_categories_keep_their_order_and_drop_what_does_not_occur(column):
    info, cells = read_one(frame_of(column))
    assert info.levels == ("low", "high")
    assert cells == ["low", None, "high"]


def test_dictionaries_of_several_chunks_are_joined(recording):
    chunks = [pa.array(["b"]).dictionary_encode(), pa.array(["a", None, "b"]).dictionary_encode()]
    info, cells = read_one(frame_of(pa.chunked_array(chunks)))
    assert cells == ["b", "a", None, "b"]
    assert set(info.levels) == {"a", "b"}


@pytest.mark.parametrize("index_type", [pa.uint8(), pa.uint32(), pa.int16()])
def test_dictionaries_may_have_unsigned_indices(index_type, recording):
    words = pa.array(["b", None, "a"]).dictionary_encode()
    column = words.cast(pa.dictionary(index_type, pa.string()))
    info, cells = read_one(frame_of(column))
    assert cells == ["b", None, "a"]
    assert set(info.levels) == {"a", "b"}


@pytest.mark.usefixtures("recording")
def test_categories_may_be_numbers_or_anything_with_a_text():
    numbers = pd.DataFrame({"a": pd.Categorical([3, 1, None])})
    assert read_one(numbers) == (
        FeatureInfo("a", Kind.CATEGORY, (1, 3), "category"),
        [3, 1, None],
    )
    intervals = pd.DataFrame({"a": pd.cut([0.5, 1.5], [0, 1, 2])})
    assert read_one(intervals)[0].levels == ("(0, 1]", "(1, 2]")


@pytest.mark.usefixtures("recording")
def test_more_levels_than_a_code_can_hold_are_refused_by_name():
    names = [f"id{i}" for i in range(65_536)]
    with pytest.raises(ValueError, match=r"column 'user' .* 65536 levels; at most 65535"):
        read_table(pl.DataFrame({"user": names}))
    _, schema = read_table(pl.DataFrame({"user": names[:-1]}))
    assert len(schema.features[0].levels) == 65_535
    # New levels at prediction are merely unseen, however many.
    unseen = schema.read(pl.DataFrame({"user": [f"new{i}" for i in range(70_000)]}), NAME)
    assert unseen.cells() == [None] * 70_000


# --- Data frames --------------------------------------------------------------------------------


def frame_of(column):
    if isinstance(column, pd.Series):
        return pd.DataFrame({"a": column})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"a": column})
    return pa.table({"a": column})


ARROW = pd.ArrowDtype
MOMENT = dt.datetime(1970, 1, 2)


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    ("column", "label", "expected"),
    [
        (pd.Series([1, None], dtype="Int64"), "number", [1, None]),
        (pd.Series([2**60, None], dtype="Int64"), "integer", [2**60, None]),
        (pd.Series([1, None], dtype="UInt8"), "number", [1, None]),
        (pd.Series([1.5, None], dtype="Float64"), "number", [1.5, None]),
        (pd.Series([1.5, None], dtype="Float32"), "number", [1.5, None]),
        (pd.Series([True, None], dtype="boolean"), "boolean", [1, None]),
        (pd.Series([True, False]), "boolean", [1, 0]),
        (pd.Series([1, 2], dtype="int16"), "number", [1, 2]),
        (pd.Series([0.0, 1.0], dtype="Sparse[float]"), "number", [0, 1]),
        (pd.Series([MOMENT, None], dtype="datetime64[ns]"), "datetime", [DAY, None]),
        (pd.Series([MOMENT, None], dtype="datetime64[s]"), "datetime", [DAY, None]),
        (pd.Series([MOMENT, None], dtype="datetime64[us, Etc/GMT+1]"), "datetime", None),
        (pd.Series([dt.timedelta(1), None]), "timedelta", [DAY, None]),
        (pd.Series([2**60, None], dtype=ARROW(pa.int64())), "integer", [2**60, None]),
        (pd.Series([MOMENT.date(), None], dtype=ARROW(pa.date32())), "datetime", [DAY, None]),
        (pd.Series([Decimal("1.5"), None], dtype=ARROW(pa.decimal128(9, 2))), "number", None),
        (pl.Series([1, None], dtype=pl.UInt8), "number", [1, None]),
        (pl.Series([2**60, None]), "integer", [2**60, None]),
        (pl.Series([1, None], dtype=pl.Int128), "number", [1, None]),
        (pl.Series([1.5, None, float("nan")]), "number", [1.5, None, None]),
        (pl.Series([True, None]), "boolean", [1, None]),
        (pl.Series([Decimal("1.5"), None]), "number", [1.5, None]),
        (pl.Series([MOMENT.date(), None]), "datetime", [DAY, None]),
        (pl.Series([MOMENT, None], dtype=pl.Datetime("ms")), "datetime", [DAY, None]),
        (pl.Series([MOMENT, None], dtype=pl.Datetime("ns", "UTC")), "datetime", [DAY, None]),
        (pl.Series([dt.timedelta(1), None]), "timedelta", [DAY, None]),
        (pl.Series([dt.time(1), None]), "timedelta", [DAY // 24, None]),
        (pl.Series([None, None]), "category", [None, None]),
        (pa.chunked_array([[1, None]]), "number", [1, None]),
        (pa.chunked_array([[1.5], [None]]), "number", [1.5, None]),
        (pa.chunked_array([[True, None]]), "boolean", [1, None]),
        (pa.chunked_array([[MOMENT, None]]), "datetime", [DAY, None]),
        (pa.chunked_array([[Decimal("1.5"), None]]), "number", [1.5, None]),
        (pa.chunked_array([pa.nulls(2)]), "category", [None, None]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")) or None,
)
def test_every_column_type_of_a_frame_is_read(column, label, expected):
    info, cells = read_one(frame_of(column))
    assert info.label == label
    if expected is None:  # a zone of UTC-1, and a decimal
        expected = [DAY + DAY // 24, None] if label == "datetime" else [1.5, None]
    assert cells == expected


@pytest.mark.usefixtures("recording")
def test_numeric_columns_of_frames_are_not_copied():
    values = np.arange(20_000.0)
    for frame in (pd.DataFrame({"a": values}, copy=False), pl.DataFrame({"a": pl.Series(values)})):
        table, _ = read_table(frame)
        native = frame["a"].to_numpy()
        assert np.shares_memory(table.columns[0][1], native)


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps"])
def test_dates_of_any_unit_count_microseconds(unit):
    X = np.array([["1971-01-01"], ["NaT"]], f"datetime64[{unit}]")
    expected = int(X[0, 0].astype("datetime64[us]").astype(int))
    info, cells = read_one(X)
    assert (info.kind, info.label) == (Kind.INTEGER, "datetime")
    assert cells == [expected, None]


def test_dates_beyond_the_range_of_microseconds_are_refused():
    with pytest.raises(ValueError, match="column 0 holds times too far from 1970"):
        read_table(np.array([[10**7]], "int64").view("datetime64[Y]"))


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([[1], [2]]),
        pl.Series([{"x": 1}, {"x": 2}]),
        pl.Series([b"a", b"b"]),
        pa.chunked_array([[[1], [2]]]),
    ],
    ids=["list", "struct", "binary", "arrow-list"],
)
def test_nested_columns_are_refused_by_name(column):
    with pytest.raises(TypeError, match=r"column 'a' has the type (List|Struct|Binary)"):
        read_table(frame_of(column))


def test_lazy_frames_ask_to_be_collected():
    with pytest.raises(TypeError, match=r"collect\(\)"):
        read_table(pl.LazyFrame({"a": [1]}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_two_columns_of_one_name_are_refused(frame):
    with pytest.raises(ValueError, match=r"distinct; X has several columns named \['a'\]"):
        read_table(frame)


@pytest.mark.usefixtures("recording")
def test_integer_labels_are_no_names_and_mixed_labels_are_an_error():
    _, schema = read_table(pd.DataFrame([[1, 2]]))
    assert schema.names is None
    assert [info.name for info in schema.features] == ["x0", "x1"]
    with pytest.raises(TypeError, match="Feature names are only supported if all input features"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", 1]))


# --- Sparse matrices ----------------------------------------------------------------------------


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("flavour", ["array", "matrix"])
def test_cells_that_a_sparse_matrix_does_not_store_are_zero(form, flavour):
    dense = np.array([[0.0, 1.5], [2.5, 0.0], [0.0, 0.0]])
    X = getattr(sparse, f"{form}_{flavour}")(dense)
    table, schema = read_table(X)
    np.testing.assert_array_equal(table.matrix, dense)
    assert schema.names is None
    np.testing.assert_array_equal(schema.read(X, NAME).matrix, dense)


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    ("stored", "dtype", "becomes"),
    [
        ([3.0, 255.0], "f8", "u1"),
        ([3.0, 256.0], "f8", "f4"),
        ([0.5, -1.0], "f8", "f4"),
        ([0.1, 1.0], "f8", "f8"),
        ([np.nan, 1.0], "f8", "f4"),
        ([np.inf, 1.0], "f8", "f4"),
        ([1e300, 1.0], "f8", "f8"),
        ([1, -1], "i8", "i4"),
        ([2**40, 1], "i8", "i8"),
        ([True, True], "?", "u1"),
    ],
)
def test_a_sparse_matrix_becomes_dense_in_the_smallest_exact_type(stored, dtype, becomes):
    X = sparse.csr_array(np.array([stored], dtype))
    table, _ = read_table(X)
    assert table.matrix.dtype == becomes
    np.testing.assert_array_equal(table.matrix, [stored])


@pytest.mark.usefixtures("recording")
def test_cells_stored_twice_count_as_their_sum_and_the_input_stays():
    X = sparse.csr_array(([200.0, 100.0], [0, 0], [0, 2]), shape=(1, 1))
    assert read_table(X)[0].cells() == [300.0]
    assert X.nnz == 2
    empty = sparse.csr_array((2, 2))
    assert read_table(empty)[0].cells(1) == [0, 0]


def test_a_sparse_matrix_too_wide_to_be_dense_is_refused_with_advice():
    X = sparse.csr_array((2**16, 2**15 + 1))
    with pytest.raises(ValueError, match=r"65536 x 32769 cells.* 2\*\*31 .*Keep fewer features"):
        read_table(X)
    _, schema = read_table(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="fewer rows at a time"):
        schema.read(sparse.csr_array((2**31, 2)), NAME)


# --- What is no table ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros(3), ValueError, "Expected 2D array, got 1D array instead.*Reshape your data"),
        ([1, 2], ValueError, "Reshape your data"),
        (["a", "b"], ValueError, "Reshape your data"),
        ([], ValueError, "Reshape your data"),
        (pd.Series([1]), ValueError, "Reshape your data"),
        (pl.Series([1]), ValueError, "Reshape your data"),
        (5, ValueError, "got scalar array instead.*Reshape your data"),
        (np.array(5), ValueError, "Reshape your data"),
        (sparse.coo_array(np.array([1, 2])), ValueError, "Reshape your data"),
        (np.zeros((1, 1, 1)), ValueError, "Found array with dim 3"),
        ([[[1]]], ValueError, "Found array with dim 3"),
        (np.zeros((1, 1), complex), ValueError, "Complex data not supported"),
        ([[1j]], ValueError, "Complex data not supported"),
        ([[1j, "a"]], ValueError, "Complex data not supported: column 0"),
        (sparse.csr_array(np.array([[1j]])), ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), ValueError, "Complex data not supported: column 'a'"),
        (np.zeros((0, 3)), ValueError, r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        ([[], []], ValueError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (sparse.csr_array((0, 2)), ValueError, r"0 sample\(s\)"),
        ([[1, 2], [3]], ValueError, r"the rows of X must have the same length; .* \[1, 2\]"),
        (np.zeros(2, [("a", "f8"), ("b", "i4")]), TypeError, "structured array.*pandas.DataFrame"),
        (np.array([[b"a"]]), TypeError, "decode the bytes to text"),
        ({"a": [1]}, TypeError, "X must be a table: .*; got dict"),
        (None, TypeError, "X must be a table: .*; got NoneType"),
        ("text", ValueError, "Reshape your data"),
    ],
)
def test_what_is_no_table_is_refused_in_plain_words(X, error, message):
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        read_table(X)


# --- categorical_features -----------------------------------------------------------------------


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("choice", [["b"], [1], [False, True], np.array([1]), ("b",)])
def test_numeric_columns_can_be_categories_by_name_position_or_mask(choice):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [30, 10, 30]})
    table, schema = read_table(frame, choice)
    assert schema.features[0].kind == Kind.REAL
    assert schema.features[1] == FeatureInfo("b", Kind.CATEGORY, (10, 30), "category")
    assert table.cells(1) == [1, 0, 1]
    new = schema.read(pd.DataFrame({"a": [0], "b": [20.0]}), NAME)
    assert new.cells(1) == [None]
    assert schema.read(pd.DataFrame({"a": [0], "b": [10.0]}), NAME).cells(1) == [0]


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("choice", [None, "from_dtype", [], [False]])
def test_without_a_choice_the_types_decide(choice):
    assert read_one(np.array([[1.0]]), categorical_features=choice)[0].kind == Kind.REAL
    assert read_one([["a"]], categorical_features=choice)[0].kind == Kind.CATEGORY


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    ("X", "levels"),
    [
        (np.array([[2.5], [np.nan], [-1.0]]), (-1.0, 2.5)),
        (np.array([[True], [True]]), (True,)),
        (np.array([["1970-01-02"], ["NaT"]], "M8[D]"), ("1970-01-02T00:00:00.000000",)),
        (np.array([[1], [1]], "m8[h]"), ("1:00:00",)),
        (pl.DataFrame({"a": [2**60, None]}), (2**60,)),
        (np.array([[np.nan]]), ()),
    ],
)
def test_any_column_can_be_a_category(X, levels):
    table, schema = read_table(X, [0])
    assert schema.features[0].levels == levels
    assert schema.read(X, NAME).cells() == table.cells()


@pytest.mark.parametrize(
    ("choice", "error", "message"),
    [
        ("all", ValueError, "categorical_features must be None, .*; got 'all'"),
        (3, TypeError, "categorical_features must be None, .*; got 3"),
        (["c"], ValueError, "categorical_features names 'c', which is no column of X"),
        ([2], ValueError, "holds the position 2; X has the positions 0 to 1"),
        ([-1], ValueError, "holds the position -1"),
        ([True], ValueError, "one for each of the 2 columns; got 1"),
        ([1.5], TypeError, "categorical_features must be None"),
        ([True, 1], TypeError, "categorical_features must be None"),
    ],
)
def test_a_wrong_choice_of_categories_is_named(choice, error, message):
    with pytest.raises(error, match=message):
        read_table(pd.DataFrame({"a": [1], "b": [2]}), choice)


def test_names_of_categories_need_a_table_with_names():
    with pytest.raises(ValueError, match="names the column 'a', but X has no column names"):
        read_table(np.zeros((1, 2)), ["a"])


# --- Reading again ------------------------------------------------------------------------------


@pytest.fixture
def schema(recording):
    frame = pd.DataFrame(
        {
            "age": [1, 2],
            "island": ["Dream", "Biscoe"],
            "seen": pd.to_datetime(["1970-01-02", "1970-01-03"]),
        }
    )
    return read_table(frame)[1]


def test_reordered_columns_are_matched_by_name(schema):
    frame = pl.DataFrame(
        {"seen": [MOMENT], "age": [5.5], "island": ["Dream"]},
    )
    table = schema.read(frame, NAME)
    assert [table.cells(j) for j in range(3)] == [[5.5], [1], [DAY]]


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("n_rows", [2, 20_000])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_small_and_large_frames_of_one_type_are_read_alike(make, n_rows):
    columns = {name: np.full(n_rows, float(i)) for i, name in enumerate("abc")}
    table, schema = read_table(make(columns))
    assert schema.names == ("a", "b", "c")
    assert [info.name for info in schema.features] == ["a", "b", "c"]
    assert table.cells(2) == [2.0] * n_rows
    turned = schema.read(make({name: columns[name] for name in "cab"}), NAME)
    assert [turned.cells(j)[-1] for j in range(3)] == [0.0, 1.0, 2.0]


def test_missing_and_extra_columns_are_listed(schema):
    frame = pd.DataFrame({"age": [1], "isle": ["Dream"], "seen": [MOMENT]})
    expected = (
        "The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- isle\n"
        "Feature names seen at fit time, yet now missing:\n- island\n"
    )
    with pytest.raises(ValueError, match=re.escape(expected)):
        schema.read(frame, NAME)
    many = pd.DataFrame({f"c{i}": [1] for i in range(8)})
    with pytest.raises(ValueError, match=re.escape("- c0\n- c1\n- c2\n- c3\n- c4\n- ...\n")):
        schema.read(many, NAME)


def test_a_wrong_number_of_columns_is_told_in_scikit_learns_words(recording):
    _, schema = read_table(np.zeros((2, 2)))
    message = "X has 1 features, but DecisionTreeClassifier is expecting 2 features as input"
    for X in (np.zeros((2, 1)), [[1]], sparse.csr_array((2, 1)), pd.DataFrame({"a": [1]})):
        with pytest.raises(ValueError, match=message):
            schema.read(X, NAME)


def test_names_on_one_side_only_are_a_warning(recording):
    named, unnamed = pd.DataFrame({"a": [1.0], "b": [2.0]}), np.array([[1.0, 2.0]])
    _, with_names = read_table(named)
    message = f"X does not have valid feature names, but {NAME} was fitted with feature names"
    with pytest.warns(UserWarning, match=message):
        assert with_names.read(unnamed, NAME).cells(1) == [2.0]
    _, without_names = read_table(unnamed)
    message = f"X has feature names, but {NAME} was fitted without feature names"
    with pytest.warns(UserWarning, match=message):
        assert without_names.read(named, NAME).cells(1) == [2.0]


def test_unseen_and_missing_levels_are_missing(schema):
    for islands in (
        ["Torgersen", None, "Biscoe"],
        pd.Categorical(["Torgersen", None, "Biscoe"], categories=["Torgersen", "x", "Biscoe"]),
        pd.Series(["Torgersen", None, "Biscoe"], dtype="string"),
    ):
        frame = pd.DataFrame({"age": [1] * 3, "island": islands, "seen": [MOMENT] * 3})
        assert schema.read(frame, NAME).cells(1) == [None, None, 0]


def test_a_column_that_is_all_missing_may_have_any_type(schema):
    for nothing in ([None, None], [np.nan, np.nan], pd.Series([None, None], dtype="string")):
        frame = pd.DataFrame({"age": nothing, "island": nothing, "seen": nothing})
        table = schema.read(frame, NAME)
        assert [table.cells(j) for j in range(3)] == [[None, None]] * 3


@pytest.mark.usefixtures("recording")
def test_a_column_without_values_in_fit_accepts_anything_later():
    _, schema = read_table(pd.DataFrame({"a": [None, None]}))
    assert schema.features[0].levels == ()
    for values in (["x"], [1.5], [None], [MOMENT]):
        assert schema.read(pd.DataFrame({"a": values}), NAME).cells() == [None]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"age": ["old"]}, "column 'age' holds text .such as 'old'.; expected numbers"),
        ({"age": ["7"]}, "column 'age' holds text .such as '7'.; expected numbers"),
        ({"age": [MOMENT]}, "column 'age' holds dates; expected numbers"),
        ({"island": [3]}, "column 'island' holds numbers .such as 3.; .* such as 'Biscoe'"),
        ({"seen": [7]}, "column 'seen' holds numbers; expected dates"),
        ({"seen": ["1970-01-02"]}, "column 'seen' holds text .*; expected dates"),
        ({"seen": [dt.timedelta(1)]}, "column 'seen' holds durations; expected dates"),
    ],
)
def test_a_column_that_changed_its_nature_is_named(schema, changed, message):
    frame = pd.DataFrame({"age": [1], "island": ["Dream"], "seen": [MOMENT]} | changed)
    with pytest.raises(ValueError, match=message.replace("; .* such", "; .*such")):
        schema.read(frame, NAME)


@pytest.mark.usefixtures("recording")
def test_levels_that_are_numbers_refuse_text():
    _, schema = read_table(np.array([[1.0], [2.0]]), [0])
    with pytest.raises(ValueError, match=r"column 0 holds text .* levels are numbers"):
        schema.read([["1"]], NAME)


@pytest.mark.usefixtures("recording")
def test_booleans_and_numbers_replace_each_other():
    _, schema = read_table(np.array([[True], [False]]))
    for X in (np.array([[1.0]]), np.array([[1]]), pd.DataFrame([[True]]), [[True]]):
        assert schema.read(X, NAME).cells() == [1]


def test_a_schema_can_be_pickled_and_compared(schema):
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert schema.n_features == 3
    assert schema == TableSchema(schema.features, schema.names)


def test_importing_loads_no_other_table_library():
    code = (
        "import sys, committee.tables.table, committee.tables.target, committee.tables.weights;"
        "heavy = {'pandas', 'polars', 'pyarrow', 'narwhals', 'scipy', 'sklearn'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules);"
        "import numpy as np;"
        "committee.tables.table.read_table(np.zeros((2, 2)));"
        "committee.tables.target.read_classes([0, 1]);"
        "committee.tables.weights.read_weights([1, 2], 2);"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
