"""One column of one or several CSV files, read as this or that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee._core import CsvCells
from committee.base.arrays import Floats
from committee.io.column_format import MARKS, NUMBER_MARKS
from committee.io.errors import TableFileError

# Values, and a byte for each of them: 1 is missing.
Whole = tuple[NDArray[np.int64], NDArray[np.uint8]]


@dataclass(frozen=True, eq=False)
class CsvPart:
    """One file of a table.

    Attributes
    ----------
    name : str
        Of the file, for messages.
    cells : CsvCells
        Its cells.
    places : tuple of int
        Where the columns of the table stand in the file.
    line : callable
        The number of the line in which a row begins.
    """

    name: str
    cells: CsvCells
    places: tuple[int, ...]
    line: Callable[[int], int]
    _made: dict[Any, Any] = field(default_factory=dict)

    def plain_numbers(self, marks: list[str]) -> list[tuple[Floats | None, dict[str, Any]]]:
        """Return the numbers of all columns at once, which is faster than one by one."""
        key = tuple(marks)
        if key not in self._made:
            self._made[key] = self.cells.numbers(range(self.cells.n_columns), marks)
        found: list[tuple[Floats | None, dict[str, Any]]] = self._made[key]
        return found


@dataclass(frozen=True)
class Stray:
    """A cell that is something else than the others."""

    where: str
    cell: str

    def error(self, column: str, expected: str, hint: str = "") -> TableFileError:
        """Return the error about it."""
        return TableFileError(
            f"{self.where}, column {column!r}: {self.cell!r} is not {expected}, as in training"
            + hint
        )


@dataclass(frozen=True)
class WrittenNumbers:
    """A column of numbers, and how they are written."""

    values: Floats
    n_missing: int
    is_whole: bool
    is_beyond_doubles: bool
    has_leading_zero: bool
    has_decimal_mark: bool


@dataclass(frozen=True, eq=False)
class CsvColumn:
    """The cells of one column.

    Attributes
    ----------
    name : str
        Of the column.
    place : int
        Which column of the table it is.
    parts : sequence of CsvPart
        The files.
    marks : tuple of str
        Cells that mean "missing" besides the usual ones, in lower case.
    """

    name: str
    place: int
    parts: Sequence[CsvPart]
    marks: tuple[str, ...] = ()
    _made: dict[str, Any] = field(default_factory=dict)  # what is read twice: to decide, to use

    def plain_numbers(self) -> WrittenNumbers | Stray:
        """Return numbers without marks of thousands, or the first cell that is none."""
        return self._numbers(
            [part.plain_numbers(self._marks)[part.places[self.place]] for part in self.parts]
        )

    def numbers(self, decimal: str = ".", thousands: str = "") -> WrittenNumbers | Stray:
        """Return the numbers, or the first cell that is none."""
        found = []
        for part in self.parts:
            place = part.places[self.place]
            found += part.cells.numbers([place], self._marks, decimal, thousands)
            if found[-1][0] is None:
                break
        return self._numbers(found)

    def _numbers(
        self, found: Sequence[tuple[Floats | None, dict[str, Any]]]
    ) -> WrittenNumbers | Stray:
        values = []
        for part, (each, summary) in zip(self.parts, found, strict=False):
            if each is None:
                return self._stray(part, summary["first_other"])
            values.append(each)
        summaries = [summary for _, summary in found]
        return WrittenNumbers(
            _joined(values),
            sum(each["n_missing"] for each in summaries),
            all(each["is_whole"] for each in summaries),
            any(each["is_beyond_doubles"] for each in summaries),
            any(each["has_leading_zero"] for each in summaries),
            any(each["has_decimal_mark"] for each in summaries),
        )

    def integers(self, decimal: str = ".", thousands: str = "") -> Whole | Stray:
        """Return whole numbers and which of them are missing, or the first cell that is none."""
        return self._whole(
            lambda cells, place: cells.integers(place, self._marks, decimal, thousands)
        )

    def dates(self, order: str) -> Whole | Stray:
        """Return microseconds and which are missing, or the first cell that is no date.

        The order is "ymd", "dmy" or "mdy", or "clock" for times of day.
        """
        return self._whole(lambda cells, place: cells.dates(place, self._marks, order))

    def levels(self) -> tuple[NDArray[np.int32], list[str]]:
        """Return codes and the texts that they stand for, missing ones as they are written."""
        if "levels" not in self._made:
            self._made["levels"] = self.texts(trimmed=True)
        found: tuple[NDArray[np.int32], list[str]] = self._made["levels"]
        return found

    def texts(self, *, trimmed: bool) -> tuple[NDArray[np.int32], list[str]]:
        """Return the same, with spaces around or without."""
        found = [part.cells.levels(part.places[self.place], trimmed) for part in self.parts]
        if len(found) == 1:
            return found[0]
        code_of: dict[str, int] = {}
        codes = []
        for part_codes, names in found:
            new = [code_of.setdefault(name, len(code_of)) for name in names]
            codes.append(np.array(new, np.int32)[part_codes])
        return _joined(codes), list(code_of)

    def is_missing(self, text: str) -> bool:
        """Return whether a text means "missing" in a column of text."""
        return text.lower() in MARKS or text.lower() in self.marks

    def stray_of(self, text: str) -> Stray:
        """Return where a text first occurs."""
        for part in self.parts:
            codes, names = part.cells.levels(part.places[self.place])
            if text in names:
                return self._stray(part, int(np.argmax(codes == names.index(text))))
        raise AssertionError(f"{text!r} is in no file")

    @property
    def _marks(self) -> list[str]:
        return [*NUMBER_MARKS, *self.marks]

    def _whole(self, read: Callable[[CsvCells, int], tuple[Any, Any, int | None]]) -> Whole | Stray:
        values, missing = [], []
        for part in self.parts:
            each, hidden, other = read(part.cells, part.places[self.place])
            if other is not None:
                return self._stray(part, other)
            values.append(each)
            missing.append(hidden)
        return _joined(values), _joined(missing)

    def _stray(self, part: CsvPart, row: int) -> Stray:
        cell = part.cells.cell(row, part.places[self.place])
        return Stray(f"{part.name}, line {part.line(row)}", cell)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
