"""CSV files as they are in the world: any delimiter, decimal commas, quotes, encodings, gzip.

Cells stay text until it is known what a column holds: `CsvTable.inferred` finds it out when a
model is trained, `CsvTable.as_fitted` reads later files as the model knows its columns, so that a
file with a single row means the same as a long one.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from committee.tables.column import Column, FeatureInfo, category_column
from committee.tables.source import Columns

# Cells that mean "missing", whatever else stands in the column.
MISSING = frozenset(
    ["", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "none", "<NA>", "#N/A"]
)

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 50  # that the delimiter is found by


class CsvError(ValueError):
    """A CSV file that cannot be read as a table; the message names the file and the line."""


@dataclass(frozen=True, eq=False)
class CsvTable:
    """The cells of one or several CSV files with the same columns.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    cells : list of list of str
        The cells of each column.
    has_decimal_comma : bool
        Whether "1,5" is a number.
    """

    names: tuple[str, ...]
    cells: list[list[str]]
    has_decimal_comma: bool = False

    @property
    def n_rows(self) -> int:
        return len(self.cells[0])

    def column_of(self, name: str) -> int:
        """Return the place of a column."""
        if name not in self.names:
            raise CsvError(
                f"there is no column {name!r}; the columns are "
                + ", ".join(repr(each) for each in self.names[:20])
            )
        return self.names.index(name)

    def without(self, names: Iterable[str]) -> CsvTable:
        """Return the table without some columns."""
        left_out = set(names)
        kept = [place for place, name in enumerate(self.names) if name not in left_out]
        return CsvTable(
            tuple(self.names[place] for place in kept),
            [self.cells[place] for place in kept],
            self.has_decimal_comma,
        )

    def rows(self, places: NDArray[np.intp]) -> CsvTable:
        """Return some rows."""
        chosen = places.tolist()
        cells = [[column[row] for row in chosen] for column in self.cells]
        return CsvTable(self.names, cells, self.has_decimal_comma)

    def inferred(self) -> Columns:
        """Return the columns; those that hold nothing but numbers are numbers."""
        return self._source(lambda place, where: self._inferred(self.cells[place]))

    def as_fitted(self, features: Sequence[FeatureInfo]) -> Columns:
        """Return the columns as a model knows them; those that it does not know are left out."""
        known = {feature.name: feature for feature in features}
        table = self.without(name for name in self.names if name not in known)

        def read(place: int, where: str) -> Column:
            feature = known[table.names[place]]
            if feature.label == "category":
                return _levels(table.cells[place], self.has_decimal_comma, feature)
            return _numbers(table.cells[place], where, self.has_decimal_comma)

        return table._source(read)

    def _source(self, read: Callable[[int, str], Column]) -> Columns:
        return Columns(self.n_rows, len(self.names), self.names, read)

    def _inferred(self, cells: list[str]) -> Column:
        values = as_numbers(cells, self.has_decimal_comma)
        return _levels(cells, False, None) if values is None else Column("number", values)


def as_numbers(cells: Sequence[str], has_decimal_comma: bool = False) -> NDArray[np.float64] | None:
    """Return cells as numbers, NaN where they are missing; None if one is something else.

    Examples
    --------
    >>> as_numbers(["1.5", "?", "2"]).tolist()
    [1.5, nan, 2.0]
    >>> as_numbers(["1.5", "two"]) is None
    True
    """
    known: dict[str, float] = {}
    for cell in set(cells):
        text = cell.strip()
        if text in MISSING:
            known[cell] = np.nan
            continue
        number = _number(text, has_decimal_comma)
        if number is None:
            return None
        known[cell] = number
    return np.array([known[cell] for cell in cells], np.float64)


def _number(text: str, has_decimal_comma: bool) -> float | None:
    if has_decimal_comma:
        text = text.replace(".", "").replace(",", ".", 1)
    if "_" in text:  # Python's own notation
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _numbers(cells: Sequence[str], where: str, has_decimal_comma: bool) -> Column:
    values = as_numbers(cells, has_decimal_comma)
    if values is not None:
        return Column("number", values)
    wrong = next(cell for cell in cells if as_numbers([cell], has_decimal_comma) is None)
    raise CsvError(f"{where} holds {wrong!r}; expected numbers, as in fit")


def _levels(cells: Sequence[str], has_decimal_comma: bool, feature: FeatureInfo | None) -> Column:
    texts = sorted(set(cells))
    place = {text: number for number, text in enumerate(texts)}
    codes = np.array([place[cell] for cell in cells], np.int64)
    values: list[object] = [text.strip() for text in texts]
    if feature is not None and feature.levels and not isinstance(feature.levels[0], str):
        values = [_number(str(v), has_decimal_comma) for v in values]  # numbers as categories
    hidden = [v is None or v in MISSING for v in values]
    numbers = np.where(hidden, -1, np.arange(len(values)))
    merged: dict[object, int] = {}
    for number, value in enumerate(values):  # "a" and " a" are the same level
        if not hidden[number]:
            numbers[number] = merged.setdefault(value, number)
    return category_column(numbers[codes], values, keep_order=False, from_text=True)


# --- reading ------------------------------------------------------------------------------------


def read_csv(*paths: str | Path, delimiter: str | None = None) -> CsvTable:
    """Read one or several files with the same columns.

    Parameters
    ----------
    *paths : str or Path
        Files, plain or gzip; "-" is standard input.
    delimiter : str or None, default=None
        What stands between cells; None finds out whether it is a comma, a semicolon, a tab or a
        bar.

    Returns
    -------
    table : CsvTable
        The cells as text.

    Raises
    ------
    CsvError
        If a file is no table. OSError if it cannot be read.
    """
    tables = [_read_one(path, delimiter) for path in paths]
    first = tables[0]
    for path, table in zip(paths[1:], tables[1:], strict=True):
        if set(table.names) != set(first.names):
            odd = sorted(set(table.names) ^ set(first.names))[0]
            raise CsvError(f"{path} and {paths[0]} differ in the column {odd!r}")
    cells = [
        [cell for table in tables for cell in table.cells[table.column_of(name)]]
        for name in first.names
    ]
    return CsvTable(first.names, cells, any(table.has_decimal_comma for table in tables))


def _read_one(path: str | Path, delimiter: str | None) -> CsvTable:
    text = _text_of(path)
    if not text.strip():
        raise CsvError(f"{path} is empty")
    delimiter = delimiter or _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        # Programs that write the numbers of rows often leave their column without a name.
        header = [
            name.strip() or f"column {place}" for place, name in enumerate(next(reader), start=1)
        ]
        rows = []
        for row in reader:
            if len(row) != len(header):
                if not row or (len(header) > 1 and not any(row)):
                    continue  # an empty line
                raise CsvError(
                    f"line {reader.line_num} of {path} has {len(row)} cells; expected "
                    f"{len(header)}, as in the first line"
                )
            rows.append(row)
    except csv.Error as error:
        raise CsvError(f"line {reader.line_num} of {path}: {error}") from error
    _check_header(header, path)
    if not rows:
        raise CsvError(f"{path} has column names and no rows")
    cells = [list(column) for column in zip(*rows, strict=True)]
    return CsvTable(tuple(header), cells, delimiter == ";" and _has_decimal_comma(cells))


def _text_of(path: str | Path) -> str:
    data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError) as error:
            raise CsvError(f"{path} looks like gzip and cannot be unpacked: {error}") from error
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _delimiter(text: str) -> str:
    """Return the delimiter that gives the most columns, the same number in most lines."""
    lines = [line for line in text[:200_000].splitlines() if line.strip()][:_SAMPLE_LINES]

    def agreement(delimiter: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        width, count = Counter(widths).most_common(1)[0]
        return (count / len(widths) if width > 1 else 0.0), width

    return max(_DELIMITERS, key=agreement)


def _check_header(header: list[str], path: str | Path) -> None:
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise CsvError(f"{path} has several columns named {repeated[0]!r}")
    if len(header) > 1 and all(_number(name, False) is not None for name in header):
        raise CsvError(
            f"the first line of {path} holds numbers; it must hold the names of the columns"
        )


def _has_decimal_comma(cells: list[list[str]]) -> bool:
    """Whether some column is made of numbers only if commas are decimal points."""
    heads = [[cell for cell in column[:1000] if cell.strip() not in MISSING] for column in cells]
    return any(
        head and as_numbers(head) is None and as_numbers(head, True) is not None for head in heads
    )
