"""Points from a CSV file: two columns of numbers, and one of a few classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from committee.base.arrays import Floats
from committee.io.csv_table import CsvOptions, open_csv
from committee.io.errors import TableFileError, counted, listed, no_column
from committee.play.points import MAX_CLASSES, MAX_POINTS, Codes, Points, axes_around
from committee.tables.column import Column, Level

_NUMBERS = ("number", "integer")


@dataclass(frozen=True, eq=False)
class TablePoints:
    """Points of a table, and which other columns there are.

    Attributes
    ----------
    points : Points
        The points.
    columns : tuple of three str
        What is drawn across, up, and by colour.
    numbers, groups : tuple of str
        Columns of numbers, and columns of few enough values to be classes.
    notes : list of str
        What was left out.
    """

    points: Points
    columns: tuple[str, str, str]
    numbers: tuple[str, ...]
    groups: tuple[str, ...]
    notes: list[str]


def read_points(
    name: str, content: bytes, columns: Sequence[str | None] = (None, None, None)
) -> TablePoints:
    r"""Read points from the content of a CSV file.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    content : bytes
        As it is in the file.
    columns : sequence of three str or None
        What to draw across, up, and by colour; None is chosen: the first numbers that are not the
        classes, and text of few levels, in the last or first column if it is there, else numbers
        of few values.

    Examples
    --------
    >>> found = read_points("small.csv", b"size,age,kind,id\n1,2,a,7\n3,4,b,8\n5,6,a,9\n")
    >>> found.columns, found.points.codes.tolist()
    (('size', 'age', 'kind'), [0, 1, 0])
    """
    table = open_csv(name, content, CsvOptions())
    file_format = table.decided()
    source = table.source(file_format)
    cells = {each: source.column(place) for place, each in enumerate(file_format.names)}
    for wanted in columns:
        if wanted is not None and wanted not in cells:
            raise TableFileError(no_column(wanted, tuple(cells), name))
    numbers = tuple(each for each, column in cells.items() if column.label in _NUMBERS)
    groups = tuple(each for each, column in cells.items() if _is_group(column))
    across, up, color = _choose(name, columns, cells, numbers, groups)
    places = np.column_stack([_reals(cells[across]), _reals(cells[up])])
    codes, classes = _classes(cells[color])
    rows = np.flatnonzero(np.isfinite(places).all(axis=1) & (codes >= 0))
    notes = []
    if len(rows) < len(codes):
        notes.append(f"left out: {counted(len(codes) - len(rows), 'row')} without a value")
    if len(rows) > MAX_POINTS:
        notes.append(f"drawn: {MAX_POINTS:,} of {len(rows):,} rows")
        rows = np.sort(np.random.default_rng(0).choice(rows, MAX_POINTS, replace=False))
    if len(rows) == 0:
        raise TableFileError(f"{name} has no row with values in {across!r}, {up!r} and {color!r}")
    axes = axes_around(places[rows])
    points = Points(places[rows], codes[rows], classes, (across, up), axes)
    return TablePoints(points, (across, up, color), numbers, groups, notes)


def _choose(
    name: str,
    columns: Sequence[str | None],
    cells: dict[str, Column],
    numbers: tuple[str, ...],
    groups: tuple[str, ...],
) -> tuple[str, str, str]:
    if not groups:
        raise TableFileError(
            f"{name} needs a column of 2 to {MAX_CLASSES} classes; its columns are {listed(cells)}"
        )
    texts = [each for each in groups if each not in numbers]
    names = tuple(cells)
    ends = [each for each in (names[-1], names[0]) if each in texts]
    color = columns[2] or [*ends, *texts[::-1], *groups[::-1]][0]
    if color not in groups:
        raise TableFileError(f"column {color!r} must have 2 to {MAX_CLASSES} different values")
    free = iter([each for each in numbers if each not in (*columns, color)])
    across, up = (each or next(free, None) for each in columns[:2])
    if across is None or up is None:
        raise TableFileError(
            f"{name} needs two columns of numbers besides {color!r}; there are {listed(numbers)}"
        )
    for each in (across, up):
        if each not in numbers:
            raise TableFileError(f"column {each!r} must hold numbers to be drawn")
    return across, up, color


def _is_group(column: Column) -> bool:
    return 2 <= len(column.as_category().levels or ()) <= MAX_CLASSES


def _classes(column: Column) -> tuple[Codes, tuple[str, ...]]:
    category = column.as_category()
    return category.values.astype(np.intp), tuple(map(_level_name, category.levels or ()))


def _level_name(level: Level) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)


def _reals(column: Column) -> Floats:
    """Return numbers; what is missing or infinite has no place in a picture."""
    return np.where(column.missing(), np.nan, column.values.astype(np.float64))
