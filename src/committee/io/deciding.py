"""What the columns of a file are: decided by all of their cells, and by those of other columns.

"1,234" is a number in two ways, and "03/04/2024" is two dates. Columns that can be read in one way
only decide for those that can be read in several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from committee.io.column_format import ColumnFormat
from committee.io.csv_column import CsvColumn, Stray, WrittenNumbers
from committee.tables.numeric_text import number_of

# Ways to write numbers besides plain ones: decimal mark and mark of thousands.
_NUMBER_STYLES = ((".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))

# A column of which this share are numbers was probably meant as one, if it has so many of them.
_NEARLY_ALL = 0.95
_MANY_NUMBERS = 10
_FEW_STRAYS = 3

_MOST_TRUE_WORDS = 30  # levels of a column of booleans: two words and marks


@dataclass(frozen=True)
class Choices:
    """The ways in which a column can be read, the preferred one first."""

    formats: tuple[ColumnFormat, ...]
    has_decimal_point: bool = False


def decide(
    columns: Sequence[CsvColumn],
    delimiter: str,
    decimal: str | None = None,
    date_order: str | None = None,
) -> list[ColumnFormat]:
    """Return the format of each column.

    Parameters
    ----------
    columns : sequence of CsvColumn
        All columns of a table.
    delimiter : str
        What stands between cells.
    decimal : {".", ","} or None, default=None
        The decimal mark, where a user names it.
    date_order : {"ymd", "dmy", "mdy"} or None, default=None
        What comes first in dates, where a user says so.
    """
    choices = [_choices(column, decimal, date_order) for column in columns]
    if decimal is None:
        decimal = _decimal_mark(columns, choices, delimiter)
        if decimal == ",":
            pairs = zip(columns, choices, strict=True)
            choices = [_with_points_of_thousands(column, choice) for column, choice in pairs]
    if date_order is None:
        sure = {each.formats[0].date_order for each in choices if _is_sure_date(each)}
        date_order = sure.pop() if len(sure) == 1 else None
    return [_chosen(each.formats, decimal, date_order) for each in choices]


def _choices(column: CsvColumn, decimal: str | None, date_order: str | None) -> Choices:
    plain = column.plain_numbers() if decimal != "," else Stray("", "")
    if isinstance(plain, WrittenNumbers):
        return Choices((_of_numbers(column, plain),), plain.has_decimal_mark)
    styles = []
    for mark, thousands in _NUMBER_STYLES:
        if decimal in (None, mark):
            found = column.numbers(mark, thousands)
            if isinstance(found, WrittenNumbers) and (mark, "") not in styles:
                styles.append((mark, thousands))
    if styles:
        formats = [ColumnFormat(column.name, "number", *style) for style in styles]
        return Choices(tuple(formats))
    orders = [order for order in ("ymd", "dmy", "mdy") if _are_dates(column, order)]
    if date_order in orders:
        orders = [date_order]
    if orders:
        # Of 03/04/2024 the month is first where slashes are usual, the day with other marks.
        if "mdy" in orders and "/" in _first_text(column):
            orders.reverse()
        dates = [ColumnFormat(column.name, "datetime", date_order=order) for order in orders]
        return Choices(tuple(dates))
    if _are_dates(column, "clock"):
        return Choices((ColumnFormat(column.name, "timedelta"),))
    return Choices((_of_text(column),))


def _of_numbers(column: CsvColumn, numbers: WrittenNumbers) -> ColumnFormat:
    if numbers.has_leading_zero:
        note = "numbers that begin with zero stay text"
        return ColumnFormat(column.name, "category", note=note)
    if numbers.is_whole and numbers.is_beyond_doubles:
        if isinstance(column.integers(), Stray):
            note = "numbers of more than 64 bits stay text"
            return ColumnFormat(column.name, "category", note=note)
        return ColumnFormat(column.name, "integer")
    return ColumnFormat(column.name, "number")


def _of_text(column: CsvColumn) -> ColumnFormat:
    codes, names = column.levels()
    present = [name for name in names if not column.is_missing(name)]
    words = {name.lower() for name in present} if len(names) <= _MOST_TRUE_WORDS else set()
    if words and words <= {"true", "false"}:
        return ColumnFormat(column.name, "boolean")
    strays = [name for name in present if number_of(name) is None]
    n_numbers = len(present) - len(strays)
    if n_numbers < _MANY_NUMBERS or len(strays) > n_numbers:
        return ColumnFormat(column.name, "category")
    counts = dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))
    n_strays = sum(counts[name] for name in strays)
    n_present = sum(counts[name] for name in present)
    if n_present - n_strays < _NEARLY_ALL * n_present:
        return ColumnFormat(column.name, "category")
    shown = ", ".join(repr(name) for name in strays[:_FEW_STRAYS])
    more = ", ..." if len(strays) > _FEW_STRAYS else ""
    note = (
        f"all but {n_strays} of {n_present} cells are numbers, and {shown}{more} make it text "
        f"({column.stray_of(strays[0]).where}); --missing {strays[0]!r} would read numbers"
    )
    return ColumnFormat(column.name, "category", note=note)


def _are_dates(column: CsvColumn, order: str) -> bool:
    return not isinstance(column.dates(order), Stray)


def _first_text(column: CsvColumn) -> str:
    """Return a cell that is not missing."""
    stray = column.plain_numbers()
    return stray.cell if isinstance(stray, Stray) else ""


def _is_sure_date(choices: Choices) -> bool:
    return len(choices.formats) == 1 and choices.formats[0].kind == "datetime"


def _decimal_mark(
    columns: Sequence[CsvColumn], choices: Sequence[Choices], delimiter: str
) -> str | None:
    """Return the decimal mark that some column is sure of; None if none or both are."""
    marks = {
        each.formats[0].decimal
        for each in choices
        if each.formats[0].kind == "number"
        and len({style.decimal for style in each.formats}) == 1
        and (each.formats[0].decimal == "," or each.formats[0].thousands)
    }
    has_points = any(
        each.has_decimal_point and _with_points_of_thousands(column, each) is each
        for column, each in zip(columns, choices, strict=True)
    )
    if has_points:
        marks.add(".")
    if len(marks) == 1:
        return marks.pop()
    is_open = any(len({style.decimal for style in each.formats}) == 2 for each in choices)
    return "," if is_open and not marks and delimiter == ";" else None


def _with_points_of_thousands(column: CsvColumn, choices: Choices) -> Choices:
    """Add that 1.234 may be more than a thousand, where all cells allow it."""
    if not choices.has_decimal_point or isinstance(column.numbers(",", "."), Stray):
        return choices
    thousands = ColumnFormat(column.name, "number", ",", ".")
    return replace(choices, formats=(*choices.formats, thousands))


def _chosen(
    formats: tuple[ColumnFormat, ...], decimal: str | None, date_order: str | None
) -> ColumnFormat:
    first = formats[0]
    if len(formats) == 1:
        return first
    if first.kind == "datetime":
        fitting = [each for each in formats if each.date_order == date_order]
        if fitting:
            return fitting[0]
        words = {"dmy": "the day", "mdy": "the month", "ymd": "the year"}[first.date_order]
        note = f"days and months look alike; {words} is taken to be first (--date-order)"
        return replace(first, note=note)
    fitting = [each for each in formats if each.decimal == decimal]
    chosen = fitting[0] if fitting else first
    if len({each.decimal for each in formats}) == 1:
        return chosen
    mark, role = chosen.decimal, "decimal marks"
    if chosen.thousands:
        mark, role = chosen.thousands, "marks of thousands"
    other = {".": ",", ",": "."}[chosen.decimal]
    marks = {".": "points", ",": "commas"}.get(mark, "spaces")
    return replace(chosen, note=f"{marks} are read as {role}, unless --decimal {other} is given")
