"""`committee.train`: kinds of targets, rows without one, files."""

import gzip

import numpy as np
import pandas as pd
import pytest
from committee.tables.csv_file import CsvError, as_numbers, read_csv

import committee
from committee.auto.train import kind_of_target, open_table, pose
from committee.tables.source import open_source

TABLE = pd.DataFrame(
    {
        "length": [1.5, 2.25, 3.0, 4.0] * 10,
        "colour": ["red", "blü, dark", None, "red"] * 10,
        "wide": [1, 0, 0, 1] * 10,
    }
)


@pytest.mark.parametrize(
    ("values", "is_class"),
    [
        (["a", "b", "a"], True),
        ([True, False, True], True),
        ([0.0, 1.0, 1.0], True),
        ([1, 2, 3] * 5, True),
        ([1, 2, 3, 4], False),
        ([0.5, 1.0, 1.0], False),
        (list(range(100)), False),
    ],
)
def test_the_kind_of_a_target_follows_its_values(values, is_class):
    column = open_source(pd.DataFrame({"y": values})).column(0)
    found, reason = kind_of_target(column)
    assert found == is_class
    assert reason


def test_rows_without_a_target_are_left_out_with_a_warning(capsys):
    table = TABLE.assign(y=[*np.repeat([1.5, 2.5, 9.0], 13), None])
    with pytest.warns(UserWarning, match="1 rows are left out"):
        model = committee.train(table, "y", budget=0.1, random_state=0)
    assert model.findings_.n_rows == 39
    assert "regression of 'y'" in capsys.readouterr().err
    # A table may still have the column that is predicted.
    assert np.array_equal(model.predict(table), model.predict(table.drop(columns="y")))


@pytest.mark.parametrize(("target", "message"), [("other", "got 'other'"), ("nothing", "is empty")])
def test_wrong_targets_are_named(target, message):
    with pytest.raises(ValueError, match=message):
        pose(open_source(TABLE.assign(nothing=np.nan)), target)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_files_of_the_world_are_read_alike(tmp_path, delimiter, encoding, is_packed):
    decimal = "," if delimiter == ";" else "."
    text = TABLE.to_csv(index=False, sep=delimiter, decimal=decimal, lineterminator="\r\n")
    data = text.encode(encoding)
    path = tmp_path / "table.csv"
    path.write_bytes(gzip.compress(data) if is_packed else data)
    table = open_table(path)
    assert table.names == tuple(TABLE.columns)
    assert table.column(0).values.tolist() == TABLE["length"].tolist()
    colours = table.column(1)
    assert colours.levels == ("blü, dark", "red")
    assert (colours.values < 0).tolist() == TABLE["colour"].isna().tolist()


def test_several_files_are_one_table_whatever_the_order_of_their_columns(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    TABLE.head(3).to_csv(paths[0], index=False)
    TABLE.tail(2)[["wide", "colour", "length"]].to_csv(paths[1], index=False)
    table = open_table(paths)
    assert table.column(0).values.tolist() == [1.5, 2.25, 3.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n3\n", "line 3"),
        ("a,a\n1,2\n", "several columns named 'a'"),
        ("1,2\n3,4\n", "names of the columns"),
    ],
)
def test_files_that_are_no_tables_are_named_with_the_line(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(CsvError, match=message) as raised:
        read_csv(path)
    assert "bad.csv" in str(raised.value)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", " 2.5 ", "NA", "-3e2"], [1.0, 2.5, np.nan, -300.0]),
        (["1_000"], None),
        (["inf", ""], [np.inf, np.nan]),
        (["1,5"], None),
    ],
)
def test_cells_are_numbers_only_if_all_of_them_are(cells, expected):
    found = as_numbers(cells)
    assert (found is None) == (expected is None)
    if expected is not None:
        assert np.array_equal(found, expected, equal_nan=True)


def test_decimal_commas_and_points_of_thousands():
    assert as_numbers(["1.234,5", "2"], has_decimal_comma=True).tolist() == [1234.5, 2.0]
