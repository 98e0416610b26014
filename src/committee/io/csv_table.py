"""CSV files as a table: read by what they hold, or as a model knows its columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee._core import CsvCells
from committee.base.work import resolve_threads
from committee.io.column_format import DATE_ORDERS, ColumnFormat, FileFormat
from committee.io.content import as_utf8
from committee.io.csv_column import CsvColumn, CsvPart, Stray, WrittenNumbers
from committee.io.deciding import decide
from committee.io.dialect import (
    DELIMITER_NAMES,
    check_delimiter,
    find_delimiter,
    named_columns,
    table_begin,
)
from committee.io.errors import TableFileError, counted, listed, no_column
from committee.tables.column import Column, Level, category_column
from committee.tables.numeric_text import number_of
from committee.tables.source import Columns

_ROW_NAME = "row name"


@dataclass(frozen=True)
class CsvOptions:
    """What a user says about files; None is found out.

    Attributes
    ----------
    delimiter : str or None
        What stands between cells.
    decimal : {".", ","} or None
        The decimal mark.
    encoding : str or None
        A name that Python knows.
    date_order : {"ymd", "dmy", "mdy"} or None
        What comes first in dates.
    has_header : bool
        Whether the first line holds the names of columns.
    missing : tuple of str
        Cells that mean "missing" besides the usual ones.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    date_order: str | None = None
    has_header: bool = True
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value, accepted in (
            ("decimal", self.decimal, (".", ",")),
            ("date_order", self.date_order, ("ymd", "dmy", "mdy")),
        ):
            if value is not None and value not in accepted:
                raise TableFileError(
                    f"{name} must be one of {', '.join(map(repr, accepted))}; got {value!r}"
                )

    @property
    def marks(self) -> tuple[str, ...]:
        """The further marks as cells are compared with them."""
        return tuple(mark.strip().lower() for mark in self.missing)


@dataclass(frozen=True, eq=False)
class CsvTable:
    """The cells of one or several files with the same columns.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    parts : sequence of CsvPart
        The files.
    delimiter : str
        Of the first one; empty where the cells are from JSON.
    notes : list of str
        What the user should know about the files.
    """

    names: tuple[str, ...]
    parts: Sequence[CsvPart]
    delimiter: str
    options: CsvOptions = CsvOptions()
    notes: list[str] = field(default_factory=list)
    _columns: dict[Any, CsvColumn] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return sum(part.cells.n_rows for part in self.parts)

    @property
    def title(self) -> str:
        """The files, for messages."""
        more = f" and {len(self.parts) - 1} more" if len(self.parts) > 1 else ""
        return self.parts[0].name + more

    def column(self, name: str, marks: tuple[str, ...] = ()) -> CsvColumn:
        """Return a column by its name."""
        if name not in self.names:
            raise TableFileError(no_column(name, self.names, self.title))
        key = (name, marks)
        if key not in self._columns:
            self._columns[key] = CsvColumn(name, self.names.index(name), self.parts, marks)
        return self._columns[key]

    def texts(self, name: str) -> list[str]:
        """Return the cells of a column as they are written."""
        codes, names = self.column(name).texts(trimmed=False)
        cells: list[str] = np.array(names, object)[codes].tolist()
        return cells

    def decided(self) -> FileFormat:
        """Find out what the columns are."""
        columns = [self.column(name, self.options.marks) for name in self.names]
        found = decide(columns, self.delimiter, self.options.decimal, self.options.date_order)
        return FileFormat(tuple(found), self.options.marks)

    def source(
        self,
        file_format: FileFormat,
        levels: Mapping[str, tuple[Level, ...]] | None = None,
        empty: Collection[str] = (),
    ) -> Columns:
        """Return the columns of a format, in its order; those that the files lack are empty.

        All of them are read here, and the text of the files is needed no longer.

        Parameters
        ----------
        file_format : FileFormat
            How they are read.
        levels : mapping of str to tuple or None, default=None
            Levels that a model knows, by the names of columns. They are no marks of missing cells.
        empty : collection of str, default=()
            Columns that are not read.
        """
        marks = tuple(dict.fromkeys((*file_format.marks, *self.options.marks)))
        columns = []
        for wanted in file_format.columns:
            if wanted.name in self.names and wanted.name not in empty:
                known = (levels or {}).get(wanted.name)
                used = wanted.with_options(self.options.decimal, self.options.date_order)
                columns.append(_read(self.column(wanted.name, marks), used, known))
            else:
                columns.append(Column("number", np.full(self.n_rows, np.nan)))

        def read(position: int, where: str) -> Column:
            return columns[position]

        return Columns(self.n_rows, len(columns), file_format.names, read, is_frame=True)


def _read(column: CsvColumn, wanted: ColumnFormat, known: tuple[Level, ...] | None) -> Column:
    found: Any
    match wanted.kind:
        case "number":
            is_plain = (wanted.decimal, wanted.thousands) == (".", "")
            found = (
                column.plain_numbers()
                if is_plain
                else column.numbers(wanted.decimal, wanted.thousands)
            )
            if isinstance(found, WrittenNumbers):
                return Column("number", found.values)
        case "integer":
            found = column.integers(wanted.decimal, wanted.thousands)
            if not isinstance(found, Stray):
                return Column("integer", found[0], _mask(found[1]))
        case "datetime":
            found = column.dates(wanted.date_order)
            if not isinstance(found, Stray):
                return Column("datetime", found[0], _mask(found[1]))
        case "timedelta":
            found = column.dates("clock")
            if not isinstance(found, Stray):
                return Column("timedelta", found[0], _mask(found[1]))
        case "boolean":
            found = _booleans(column)
            if isinstance(found, Column):
                return found
        case _:
            return _levels(column, known or ())
    raise found.error(wanted.name, wanted.words, _hint(column, wanted))


def _hint(column: CsvColumn, wanted: ColumnFormat) -> str:
    """Return which option would read a column that is not as a model knows it."""
    if wanted.kind == "number":
        other = wanted.with_options({".": ",", ",": "."}[wanted.decimal], None)
        if isinstance(column.numbers(other.decimal, other.thousands), WrittenNumbers):
            return f"; --decimal {other.decimal} would read it"
    if wanted.kind == "datetime":
        for order in DATE_ORDERS:
            if not isinstance(column.dates(order), Stray):
                return f"; --date-order {order} would read it"
    return ""


def _mask(missing: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    return missing if missing.any() else None


def _booleans(column: CsvColumn) -> Column | Stray:
    codes, names = column.levels()
    meanings = np.zeros(len(names), np.uint8)
    for code, name in enumerate(names):
        if column.is_missing(name):
            meanings[code] = 2
        elif name.lower() in ("true", "false"):
            meanings[code] = name.lower() == "true"
        else:
            return column.stray_of(name)
    values = meanings[codes]
    missing = (values == 2).astype(np.uint8)
    return Column("boolean", np.where(missing, 0, values).astype(np.uint8), _mask(missing))


def _levels(column: CsvColumn, known: tuple[Level, ...]) -> Column:
    """Return text as a category; a level that a model knows is never taken for missing."""
    codes, names = column.levels()
    values: list[Any] = list(names)
    if known and not any(isinstance(level, str) for level in known):
        by_word = {str(level).lower(): level for level in known}  # True and False too
        values = [by_word.get(name.lower(), number_of(name)) for name in names]
    hidden = np.array(
        [
            value is None or (name not in known and column.is_missing(name))
            for name, value in zip(names, values, strict=True)
        ],
        bool,
    )
    new = np.where(hidden, -1, np.arange(len(names)))
    return category_column(new[codes], values, keep_order=False, from_text=False)


# --- opening ------------------------------------------------------------------------------------


def open_csv(
    name: str,
    data: bytes,
    options: CsvOptions,
    known: Sequence[Sequence[str]] = (),
) -> CsvTable:
    """Read the cells of one file.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    data : bytes
        Its content, unpacked.
    options : CsvOptions
        What the user says.
    known : sequence of sequences of str, default=()
        Names of the columns that it should have, in one of several ways.
    """
    text, begin, note = as_utf8(data, options.encoding, name)
    if not text[begin:].strip():
        raise TableFileError(f"{name} is empty")
    n_above = 0  # lines of a title
    if options.has_header:
        begin, n_above = table_begin(
            text, begin, options.delimiter and check_delimiter(options.delimiter)
        )
    if options.delimiter is None:
        delimiter, begin = find_delimiter(text, begin, {name for names in known for name in names})
    else:
        delimiter = check_delimiter(options.delimiter)
    cells = CsvCells(
        text, delimiter, begin=begin, has_header=options.has_header, n_threads=resolve_threads(None)
    )
    _check(cells, name)
    header = cells.header if options.has_header else _names_without_header(cells, known)
    places, header = _places(cells, header, name, known)
    names, notes = named_columns(header, name)
    if len(header) > len(cells.header) and options.has_header:
        notes.append("a name is missing in the first line; the first column names the rows")
    if n_above:
        notes.insert(0, f"{counted(n_above, 'line')} above the names of columns left out")
    if note is not None:
        notes.insert(0, note)
    part = CsvPart(name, cells, places, cells.line)
    return CsvTable(names, (part,), delimiter, options, [f"{name}: {each}" for each in notes])


def _check(cells: CsvCells, name: str) -> None:
    if cells.fault is not None:
        line, width = cells.fault
        if width == 0:
            raise TableFileError(f"{name}, line {line}: a quote is opened and never closed")
        raise TableFileError(
            f"{name}, line {line}: {counted(width, 'cell')}; the rows before have {cells.n_columns}"
        )
    if cells.n_rows == 0:
        raise TableFileError(f"{name} has the names of columns and no rows")


def _names_without_header(cells: CsvCells, known: Sequence[Sequence[str]]) -> list[str]:
    """Return the names that a model knows if their number is right, else numbers of columns."""
    for names in known:
        if len(names) == cells.n_columns:
            return list(names)
    return [f"column {place}" for place in range(1, cells.n_columns + 1)]


def _places(
    cells: CsvCells, header: list[str], name: str, known: Sequence[Sequence[str]]
) -> tuple[tuple[int, ...], list[str]]:
    """Return where the columns stand, and their names; the header may be one cell short."""
    n_columns = cells.n_columns
    if len(header) == n_columns:
        return tuple(range(n_columns)), header
    if len(header) == n_columns - 1:
        if all(not text for text in cells.levels(n_columns - 1)[1]):
            return tuple(range(len(header))), header  # lines end with a delimiter
        n_distinct = len(cells.levels(0)[1])
        is_expected = any(_ROW_NAME in names for names in known) or not known
        if is_expected and n_distinct == cells.n_rows:  # as R writes tables
            return tuple(range(n_columns)), [_ROW_NAME, *header]
    raise TableFileError(
        f"{name}, line {cells.line(0)}: {counted(n_columns, 'cell')}; the first line has "
        f"{len(header)} names"
    )


def joined(tables: Sequence[CsvTable]) -> CsvTable:
    """Put the rows of several files together, whatever the order of their columns."""
    first = tables[0]
    parts = []
    for table in tables:
        odd = sorted(set(table.names) ^ set(first.names))
        if odd:
            raise TableFileError(
                f"{table.title} and {first.title} differ in the column {odd[0]!r}; the columns "
                f"are {listed(table.names)} and {listed(first.names)}"
            )
        (part,) = table.parts
        places = tuple(part.places[table.names.index(name)] for name in first.names)
        parts.append(CsvPart(part.name, part.cells, places, part.line))
    notes = [note for table in tables for note in table.notes]
    return CsvTable(first.names, parts, first.delimiter, first.options, notes)


def summary(table: CsvTable, formats: Iterable[ColumnFormat]) -> list[str]:
    """Return what was found out about files, a line each."""
    formats = list(formats)
    words = [counted(table.n_rows, "row"), counted(len(table.names), "column")]
    if table.delimiter and len(table.names) > 1:
        mark = DELIMITER_NAMES.get(table.delimiter, repr(table.delimiter))
        words.append(f"{mark} between cells")
    if any(each.decimal == "," for each in formats):
        words.append("decimal comma")
    lines = [f"{table.title}: {', '.join(words)}"]
    noted = [f"column {each.name!r}: {each.note}" for each in formats if each.note]
    return [*lines, *table.notes, *noted]
