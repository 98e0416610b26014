"""The cells of CSV files in the engine, against Python's csv module and Python's numbers."""

import csv
import datetime as dt
import io
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from committee._core import CsvCells
from committee.io.column_format import NUMBER_MARKS

MARKS = list(NUMBER_MARKS)


def cells_of(text, delimiter=",", **options):
    return CsvCells(text.encode(), delimiter, has_header=False, **options)


def rows_of(cells):
    return [
        [cells.cell(row, column) for column in range(cells.n_columns)]
        for row in range(cells.n_rows)
    ]


def column_of(*texts):
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([t] for t in texts)
    return cells_of(stream.getvalue())


def numbers_of(cells, marks=MARKS, *style):
    ((values, summary),) = cells.numbers([0], marks, *style)
    return values, summary


def python_rows(text, delimiter):
    """Rows as Python reads them, empty lines left out; None if a quote is never closed."""
    rows = list(csv.reader(io.StringIO(text + "\nend", newline=""), delimiter=delimiter))
    return [row for row in rows[:-1] if row] if rows[-1] == ["end"] else None


@settings(max_examples=400, deadline=None)
@given(st.text(st.sampled_from(list('ab1é,;"\n\r')), max_size=60), st.sampled_from(",;"))
@example('a,"b""c"\r\n"d\n",e', ",")
@example('"a"b"c,d\n"",""', ",")
@example('x\ry\r\n\n"', ";")
def test_cells_are_those_of_pythons_csv_module(text, delimiter):
    expected = python_rows(text, delimiter)
    found = cells_of(text, delimiter)
    if expected is None:
        # An earlier row may have another width, which is told first.
        assert found.fault is not None
    elif len({len(row) for row in expected}) > 1:
        _line, width = found.fault
        odd = next(row for row in expected if len(row) != len(expected[0]))
        assert width == len(odd)
    else:
        assert found.fault is None
        assert rows_of(found) == expected


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=8)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=20),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_python_writes_is_read_again(rows, quoting, delimiter, line_end):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=line_end)
    writer.writerows(rows)
    found = cells_of(stream.getvalue(), delimiter)
    assert found.fault is None
    assert rows_of(found) == rows
    for column in range(3):
        codes, names = found.levels(column, trimmed=False)
        assert [names[code] for code in codes] == [row[column] for row in rows]
        assert len(set(names)) == len(names)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.booleans(), st.integers(0, 250))
def test_any_bytes_are_read_or_found_at_fault(data, has_header, begin):
    cells = CsvCells(data, ";", begin=begin, has_header=has_header)
    if cells.fault is not None:
        line, _width = cells.fault
        assert 1 <= line <= len(data) + 1
        return
    for column in range(cells.n_columns):
        cells.numbers([column], MARKS, ",", ".")
        cells.integers(column, MARKS)
        codes, _names = cells.levels(column)
        assert len(codes) == cells.n_rows
        for order in ("ymd", "dmy", "mdy", "clock"):
            cells.dates(column, MARKS, order)
    with pytest.raises(IndexError):
        cells.cell(cells.n_rows, 0)


def test_many_blocks_are_one_table_for_any_number_of_threads():
    # Quoted line ends everywhere, also where blocks would be cut.
    rng = np.random.default_rng(0)
    rows = [
        [f"{rng.normal():.6f}", "x\n" * int(rng.integers(3)), f'a "{k % 7}"'] for k in range(70_000)
    ]
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    assert len(stream.getvalue()) > 3 * 2**19
    for n_threads in (1, 3):
        cells = cells_of(stream.getvalue(), n_threads=n_threads)
        assert cells.n_rows == len(rows)
        values, _summary = numbers_of(cells)
        assert values.tolist() == [float(row[0]) for row in rows]
        codes, names = cells.levels(2)
        assert names == [f'a "{k}"' for k in range(7)]
        assert codes.tolist() == [k % 7 for k in range(70_000)]
        assert cells.line(69_999) == 1 + sum(1 + row[1].count("\n") for row in rows[:-1])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a,b\n1,2\n3\n4,5", (3, 1)),
        ('a,b\n"1\n1",2\r\n\r\n3,4,5\n', (5, 3)),
        ('a\r"b', (2, 0)),
        ('"', (1, 0)),
        ("a,b\n1,2", None),
    ],
)
def test_the_first_row_that_does_not_fit_is_named_by_its_line(text, fault):
    assert cells_of(text).fault == fault


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.floats(allow_nan=False).map(repr),
        st.integers(-(10**25), 10**25).map(str),
        st.decimals(allow_nan=False, allow_infinity=False).map(str),
        st.text(st.sampled_from("0123456789.eE+-"), min_size=1, max_size=12),
    )
)
@example("1e400")
@example("-1e-400")
@example("5e-324")
@example("0.000000000000000000000000000000000000000000001e46")
@example("9007199254740993")
@example(".5")
@example("5.")
@example("Infinity")
@example("+7")
def test_numbers_are_the_nearest_doubles_as_in_python(text):
    values, summary = numbers_of(column_of(text), [])
    try:
        expected = float(text)
    except ValueError:
        assert summary["first_other"] == 0
        return
    assert summary["first_other"] is None
    assert values[0] == expected
    assert math.copysign(1, values[0]) == math.copysign(1, expected)


@pytest.mark.parametrize(
    "text", ["1_000", "nan", "0x10", "1,5", "1 2", "e5", "+", "١", "1e", "--1"]
)
def test_other_texts_are_no_numbers(text):
    assert numbers_of(column_of("1", text), [])[1]["first_other"] == 1


@pytest.mark.parametrize(
    ("text", "decimal", "thousands", "expected"),
    [
        ("1,5", ",", "", 1.5),
        ("-1.234.567,25", ",", ".", -1234567.25),
        ("1,234,567", ".", ",", 1234567.0),
        ("12,34", ".", ",", None),
        ("1,2345", ".", ",", None),
        ("1234,567", ".", ",", None),
        ("1.234", ",", "", None),
        ("1 234,5", ",", " ", 1234.5),
        ("1\u00a0234,5", ",", " ", 1234.5),
        ("1\u202f234", ".", " ", 1234.0),
        ("1'234.5", ".", "'", 1234.5),
        ("1,5e3", ",", "", 1500.0),
        (",5", ",", "", 0.5),
        ("1,", ".", ",", None),
        (",123", ".", ",", None),
    ],
)
def test_marks_of_decimals_and_thousands(text, decimal, thousands, expected):
    values, summary = numbers_of(column_of(text), MARKS, decimal, thousands)
    assert (summary["first_other"] is None) == (expected is not None)
    if expected is not None:
        assert values.tolist() == [expected]


def test_a_summary_says_how_numbers_are_written():
    whole = numbers_of(column_of("1", " -2 ", "n/A", ""), MARKS)
    assert np.array_equal(whole[0], [1, -2, np.nan, np.nan], equal_nan=True)
    assert whole[1] == {
        "first_other": None,
        "n_missing": 2,
        "is_whole": True,
        "is_beyond_doubles": False,
        "has_leading_zero": False,
        "has_decimal_mark": False,
    }
    assert numbers_of(column_of("1", "0123"), [])[1]["has_leading_zero"]
    assert not numbers_of(column_of("0", "0.5"), [])[1]["has_leading_zero"]
    assert numbers_of(column_of("9007199254740993"), [])[1]["is_beyond_doubles"]


def test_integers_keep_all_digits():
    values, missing, other = column_of("9007199254740993", "NA", "-9223372036854775808").integers(
        0, MARKS
    )
    assert other is None
    assert values[[0, 2]].tolist() == [9007199254740993, -(2**63)]
    assert missing.tolist() == [0, 1, 0]
    assert column_of("9223372036854775808").integers(0, MARKS)[2] == 0
    assert column_of("1.0").integers(0, MARKS)[2] == 0


@settings(max_examples=100, deadline=None)
@given(st.datetimes(min_value=dt.datetime(1, 1, 1), max_value=dt.datetime(9999, 12, 31)))
def test_dates_are_microseconds_since_1970(when):
    expected = (when - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    midnight = when.replace(hour=0, minute=0, second=0, microsecond=0)
    days = (midnight - dt.datetime(1970, 1, 1)).days * 86_400_000_000
    year = f"{when.year:04d}"
    for order, text, value in (
        ("ymd", when.isoformat(), expected),
        ("ymd", when.isoformat(" ") + "Z", expected),
        ("ymd", f"{year}/{when.month}/{when.day}", days),
        ("dmy", f"{when.day}.{when.month}.{year}", days),
        ("dmy", f"{when.day:02d}-{when.strftime('%b')}-{year}", days),
        ("mdy", f"{when.month}/{when.day}/{year}", days),
        ("mdy", f"{when.strftime('%B')} {when.day}, {year}", days),
        (
            "mdy",
            f"{when.month}/{when.day}/{year} {when.strftime('%I:%M %p')}",
            days + (when.hour * 60 + when.minute) * 60_000_000,
        ),
    ):
        values, _missing, other = column_of(text).dates(0, MARKS, order)
        assert other is None, text
        assert values.tolist() == [value], text


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ("ymd", "2023-02-29"),
        ("ymd", "2023-13-01"),
        ("ymd", "23-01-01"),
        ("dmy", "31/04/2024"),
        ("mdy", "13/01/2024"),
        ("dmy", "1.2.10"),
        ("dmy", "1/2-2024"),
        ("ymd", "2024-01-01T24:00"),
        ("ymd", "2024-01-01 10:00 + 2"),
        ("ymd", "2024-01-01x"),
        ("mdy", "Foo 3, 2024"),
        ("clock", "24:00"),
        ("clock", "12"),
        ("ymd", ""),
    ],
)
def test_impossible_dates_are_none(order, text):
    assert column_of(text).dates(0, [], order)[2] == 0


def test_times_and_zones():
    hour = 3_600_000_000
    assert column_of("08:30", "5:15:30.25 pm").dates(0, [], "clock")[0].tolist() == [
        8.5 * hour,
        17.25 * hour + 30_250_000,
    ]
    for text in ("1970-01-01 02:00+02:00", "1970-01-01T02:00:00+0200", "1969-12-31 19:00-05"):
        assert column_of(text).dates(0, [], "ymd")[0].tolist() == [0]
    assert column_of("31/12/69", "1/1/68").dates(0, [], "dmy")[0].tolist() == [
        -86_400_000_000,
        (dt.date(2068, 1, 1) - dt.date(1970, 1, 1)).days * 86_400_000_000,
    ]


def test_levels_are_without_spaces_and_in_order_of_appearance():
    codes, names = cells_of(' b ,1\n"a ""x"" ",2\nb,3\n\u00a0b,4').levels(0)
    assert names == ["b", 'a "x"']
    assert codes.tolist() == [0, 1, 0, 0]
    codes, names = cells_of(" b ,1\nb,3").levels(0, trimmed=False)
    assert names == [" b ", "b"]


def test_a_header_is_apart():
    cells = CsvCells(b' a ,"b""c"\n\n1,2\n', ",")
    assert cells.header == ["a", 'b"c']
    assert (cells.n_rows, cells.n_columns, cells.line(0)) == (1, 2, 3)
    with pytest.raises(ValueError, match="delimiter"):
        CsvCells(b"a", '"')
