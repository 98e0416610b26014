"""What is read from arrays, lists and sparse matrices, and what is no table."""

import datetime as dt
import gc
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from table_tools import DAY, NAME, read_one

from committee.tables.source import open_source
from committee.tables.table import FeatureInfo, Kind, read_table

# --- The real engine ------------------------------------------------------------------------------


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


# --- Arrays ---------------------------------------------------------------------------------------


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
@pytest.mark.parametrize("dtype", ["M8[D]", "M8[s]", "M8[us]", "M8[ns]", "m8[s]", "m8[us]"])
def test_masked_times_are_missing_whatever_they_hide(dtype):
    days = np.array([0, 1, 3, 7, 9], "m8[D]").reshape(-1, 1)
    times = days.astype(dtype) if dtype[0] == "m" else (np.datetime64("1970-01-01") + days)
    X = np.ma.MaskedArray(times.astype(dtype), [[False], [True], [False], [True], [False]])
    X.data[4] = "NaT"
    info, cells = read_one(X)
    assert info.kind == Kind.INTEGER
    assert cells == [0, None, 3 * DAY, None, None]


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


# --- Columns of objects ---------------------------------------------------------------------------


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
        (["1", "b", np.nan], "category", ["1", "b", None]),
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


# --- Sparse matrices ------------------------------------------------------------------------------


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
    assert open_source(empty).column(1).values.tolist() == [0, 0]


def test_a_sparse_matrix_with_more_rows_than_can_be_numbered_is_refused():
    _, schema = read_table(np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"2147483648 rows.* pass fewer rows at a time"):
        schema.read(sparse.csr_array((2**31, 2)), NAME)


# --- What is no table -----------------------------------------------------------------------------


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
        pytest.param(
            sparse.coo_array(np.array([1, 2])),
            ValueError,
            "Reshape your data",
            marks=pytest.mark.skipif(
                sparse.coo_array(np.array([1, 2])).ndim == 2, reason="made a row by an old scipy"
            ),
        ),
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
