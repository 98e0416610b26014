"""Which columns are categories, and tables that are read again for prediction."""

import datetime as dt
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from table_tools import DAY, MOMENT, NAME, read_one

from committee.tables.table import FeatureInfo, Kind, TableSchema, read_table

# --- categorical_features -------------------------------------------------------------------------


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


# --- Reading again --------------------------------------------------------------------------------


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
        ({"age": ["7 years"]}, "column 'age' holds text .such as '7 years'.; expected numbers"),
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
        "import sys, committee.tables.table, committee.tables.target, committee.tables.target;"
        "heavy = {'pandas', 'polars', 'pyarrow', 'narwhals', 'scipy', 'sklearn'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules);"
        "import numpy as np;"
        "committee.tables.table.read_table(np.zeros((2, 2)));"
        "committee.tables.target.read_classes([0, 1]);"
        "committee.tables.target.read_weights([1, 2], 2);"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
