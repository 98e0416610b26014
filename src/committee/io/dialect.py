"""How the cells of a text stand apart: the delimiter, and the names in the first line."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import islice

from committee.io.errors import TableFileError
from committee.tables.numeric_text import MARKS, number_of

DELIMITERS = (",", ";", "\t", "|")
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

_SAMPLE = 100_000  # bytes that the delimiter is found by
_SAMPLE_ROWS = 50

# A table that begins with a title has so many columns, in so large a share of its first rows.
_LEAST_WIDTH, _MOSTLY = 3, 0.6

# The first line of some files of Excel.
_NAMED = re.compile(rb"sep=(.)[ \t]*\r?\n", re.IGNORECASE)


def find_delimiter(text: bytes, begin: int, known: Collection[str] = ()) -> tuple[str, int]:
    r"""Return what stands between cells, and where the table begins.

    Parameters
    ----------
    text : bytes
        UTF-8.
    begin : int
        Where its first line begins.
    known : collection of str, default=()
        Names of columns, of which the first line should have as many as possible.

    Returns
    -------
    delimiter : str
        The character.
    begin : int
        After a line that names the delimiter, if there is one.

    Examples
    --------
    >>> find_delimiter(b"name;size\nJo, Anne;1,5\n", 0)
    (';', 0)
    """
    named = _NAMED.match(text, begin)
    if named is not None and named.group(1) not in (b'"', b"\r"):
        return named.group(1).decode("latin-1"), named.end()
    sample = text[begin : begin + _SAMPLE]
    is_whole = len(sample) < _SAMPLE
    decoded = sample.decode("utf-8", "replace")

    def suits(delimiter: str) -> tuple[int, float, int]:
        rows = _rows(decoded, delimiter, is_whole)
        if not rows or len(rows[0]) < 2:
            return 0, 0.0, 0
        hits = len({name.strip() for name in rows[0]} & set(known))
        # Names of rows, and a delimiter at the end of lines, make one cell more than names.
        width, count = Counter(len(row) for row in rows[1:] or rows).most_common(1)[0]
        agreement = count / len(rows[1:] or rows) if 0 <= width - len(rows[0]) <= 1 else 0.0
        return hits, agreement, len(rows[0])

    best = max(DELIMITERS, key=suits)
    if suits(best)[2] == 0:  # one column, whose cells may hold any of them
        return next((each for each in DELIMITERS if each.encode() not in text), "\x1f"), begin
    return best, begin


def table_begin(text: bytes, begin: int, delimiter: str | None) -> tuple[int, int]:
    r"""Return where the names of the columns stand, after lines of a title or of comments.

    Parameters
    ----------
    text : bytes
        UTF-8.
    begin : int
        Where its first line begins.
    delimiter : str or None
        What stands between cells, if it is known.

    Returns
    -------
    begin : int
        Where the line begins.
    n_lines : int
        Number of lines before it that hold something.

    Examples
    --------
    >>> table_begin(b"Report of May\n\nname,size,age\nJo,5,1\nAl,6,2\n", 0, None)
    (15, 1)
    """
    sample = text[begin : begin + _SAMPLE].decode("utf-8", "replace")
    best, found = 0, (begin, 0)
    for each in DELIMITERS if delimiter is None else (delimiter,):
        starts, rows = _places_of_rows(sample, each)
        if not rows or len(rows[0]) != 1:
            continue
        width, count = Counter(map(len, rows)).most_common(1)[0]
        first = next(place for place, row in enumerate(rows) if len(row) == width)
        is_title = all(len(row) == 1 for row in rows[:first])
        if width > max(best, _LEAST_WIDTH - 1) and is_title and count >= _MOSTLY * len(rows):
            best, found = width, (begin + starts[first], first)
    return found


def _places_of_rows(text: str, delimiter: str) -> tuple[list[int], list[list[str]]]:
    """Return where the first rows begin, in bytes, and their cells."""
    place, starts, rows = 0, [], []
    with suppress(csv.Error):
        for line in islice(io.StringIO(text, newline=""), _SAMPLE_ROWS):
            row = next(csv.reader([line], delimiter=delimiter), [])
            if any(row):
                starts.append(place)
                rows.append(row)
            place += len(line.encode())
    return starts, rows


def _rows(text: str, delimiter: str, is_whole: bool) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a cell that is longer than its limit
        rows.extend(row for row in islice(reader, _SAMPLE_ROWS) if any(row))
    if not is_whole and 1 < len(rows) < _SAMPLE_ROWS:
        rows.pop()  # the end of the sample has cut it
    return rows


def check_delimiter(delimiter: str) -> str:
    """Return a delimiter that a user names, also in words."""
    words = {name: mark for mark, name in DELIMITER_NAMES.items()} | {"\\t": "\t", "space": " "}
    mark = words.get(delimiter.lower(), delimiter)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        raise TableFileError(
            f"delimiter must be one character, or comma, semicolon, tab or bar; got {delimiter!r}"
        )
    return mark


def named_columns(header: Sequence[str], where: str) -> tuple[tuple[str, ...], list[str]]:
    """Return names for all columns, each of them once, and what was changed.

    Examples
    --------
    >>> named_columns(["size", "", "size"], "a.csv")
    (('size', 'column 2', 'size.2'), ["two columns are named 'size'; the later one is 'size.2'"])
    """
    if len(header) > 1 and all(_is_value(name) for name in header):
        raise TableFileError(
            f"the first line of {where} holds no names of columns but values ({header[0]!r}, "
            f"{header[1]!r}); if the file has no names, say so by --no-header"
        )
    names: list[str] = []
    notes = []
    taken = set(header)
    for place, name in enumerate(header, start=1):
        # Programs that write the numbers of rows often leave their column without a name.
        unique = name or f"column {place}"
        count = 1
        while unique in names or (count > 1 and unique in taken):
            count += 1
            unique = f"{name}.{count}"
        if name and unique != name:
            notes.append(f"two columns are named {name!r}; the later one is {unique!r}")
        names.append(unique)
    return tuple(names), notes


def _is_value(name: str) -> bool:
    return bool(name) and (number_of(name) is not None or name.lower() in MARKS)
