"""What columns of files are taken for, and what is said about it."""

import numpy as np
import pytest


def formats_of(opened):
    return {each.name: each for each in opened.file_format.columns}


def values_of(opened, name):
    column = opened.source.column(opened.source.names.index(name))
    if column.levels is None:
        hidden = column.missing()
        return [None if h else v for v, h in zip(column.values.tolist(), hidden, strict=True)]
    return [None if code < 0 else column.levels[code] for code in column.values.tolist()]


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2.5", "3e2"], "number", [1.0, -2.5, 300.0]),
        (["1", "NA", "-", "n/a", "null", "?", "NaN", "none"], "number", [1.0] + [None] * 7),
        (["", ""], "number", [None, None]),
        (["01234", "99999"], "category", ["01234", "99999"]),
        (["0", "10"], "number", [0.0, 10.0]),
        (["123456789012345678", "1"], "integer", [123456789012345678, 1]),
        (["123456789012345678901", "1"], "category", ["123456789012345678901", "1"]),
        (["True", "FALSE", "NA", "true"], "boolean", [1, 0, None, 1]),
        (["true", "maybe"], "category", ["true", "maybe"]),
        (["yes", "no"], "category", ["yes", "no"]),
        (["a", "NA", "?", "-", "null", " a "], "category", ["a", None, None, None, None, "a"]),
        (["none", "some"], "category", ["none", "some"]),
        (["1970-01-01", "1970-01-02T00:00:01"], "datetime", [0, 86_401_000_000]),
        (["01:00", "23:59:30"], "timedelta", [3_600_000_000, 86_370_000_000]),
        (["1970-01-01", "soon"], "category", ["1970-01-01", "soon"]),
    ],
)
def test_a_column_is_what_all_of_its_cells_are(read, cells, kind, values):
    opened = read("x,y\n" + "".join(f'1,"{cell}"\n' for cell in cells))
    assert formats_of(opened)["y"].kind == kind
    assert values_of(opened, "y") == values


def test_a_cell_at_the_end_of_a_long_file_decides(read):
    text = "x,y\n" + "1,2\n" * 200_000
    assert formats_of(read(text))["y"].kind == "number"
    assert formats_of(read(text + "1,two\n"))["y"].kind == "category"


@pytest.mark.parametrize(
    ("text", "decimal", "thousands", "value", "is_noted"),
    [
        ("a;b\n1,5;x\n", ",", "", 1.5, False),
        ("a;b\n1.234,5;x\n", ",", ".", 1234.5, False),
        ("a;b\n1,234;x\n", ",", "", 1.234, True),
        ("a;b\n1.234;x\n", ".", "", 1.234, False),
        ("a;b\n1.234;2,5\n", ",", ".", 1234.0, True),
        ('a,b\n"1,234",x\n', ".", ",", 1234.0, True),
        ('a,b\n"1,234",2.5\n', ".", ",", 1234.0, True),
        ('a,b\n"1,234.5",x\n', ".", ",", 1234.5, False),
        ("a\tb\n1 234,5\tx\n", ",", " ", 1234.5, False),
        ("a\tb\n1'234.5\tx\n", ".", "'", 1234.5, False),
        ("a\tb\n1,5\t2.5\n", ",", "", 1.5, False),
    ],
)
def test_decimal_marks_follow_from_sure_columns(read, text, decimal, thousands, value, is_noted):
    opened = read(text)
    found = formats_of(opened)["a"]
    assert (found.kind, found.decimal, found.thousands) == ("number", decimal, thousands)
    assert values_of(opened, "a") == [value]
    assert bool(found.note) == is_noted
    assert any("'a'" in note for note in opened.notes) == is_noted


def test_a_user_says_what_is_not_clear(read):
    text = 'a,b\n"1,234",03/04/2024\n'
    opened = read(text, decimal=",", date_order="dmy")
    assert values_of(opened, "a") == [1.234]
    assert formats_of(opened)["b"].date_order == "dmy"
    assert formats_of(read(text))["b"].date_order == "mdy"
    assert "--date-order" in formats_of(read(text))["b"].note


def test_dates_that_are_clear_decide_for_others(read):
    found = formats_of(read("a,b\n03/04/2024,31/12/2023\n"))
    assert (found["a"].date_order, found["a"].note) == ("dmy", "")


def test_a_column_of_nearly_only_numbers_is_text_and_this_is_said(read):
    text = "x,y\n" + "".join(f"{k},{k}\n" for k in range(100)) + "100,n.d.\n"
    found = formats_of(read(text))["y"]
    assert found.kind == "category"
    assert "line 102" in found.note
    assert "'n.d.'" in found.note
    opened = read(text, missing=("N.D.",))
    assert formats_of(opened)["y"].kind == "number"
    assert values_of(opened, "y")[-2:] == [99.0, None]
    assert opened.file_format.marks == ("n.d.",)


def test_numbers_are_those_of_pandas(read):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "whole": rng.integers(-1000, 1000, 300),
            "real": rng.normal(size=300) * 10.0 ** rng.integers(-20, 20, 300),
            "gaps": np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300)),
            "text": rng.choice(["a", 'b "c"', "d,e", "f\ng"], 300),
        }
    )
    opened = read(table.to_csv(index=False))
    for name in ("whole", "real", "gaps"):
        column = opened.source.column(table.columns.get_loc(name))
        assert np.array_equal(column.values, table[name], equal_nan=True)
    assert values_of(opened, "text") == table["text"].tolist()
