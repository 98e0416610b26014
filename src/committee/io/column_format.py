"""How the cells of a column are written: what is stored of a file, to read later ones alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, instance, one_of, tuple_of

KINDS = ("number", "integer", "boolean", "datetime", "timedelta", "category")
THOUSANDS = ("", ",", ".", " ", "'")
DATE_ORDERS = ("ymd", "dmy", "mdy")

# Cells that mean "missing" in any column, and those that do in columns of numbers and dates.
MARKS = ("", "?", "-", "na", "n/a", "#n/a", "<na>", "nan", "null")
NUMBER_MARKS = (*MARKS, "--", ".", "n.a.", "none", "missing", "nil", "nat", "#value!", "#div/0!")


@register("io.ColumnFormat")
@dataclass(frozen=True)
class ColumnFormat:
    """How a column is written.

    Attributes
    ----------
    name : str
        Of the column.
    kind : str
        What its cells are read as: "number", "integer" (beyond 2**53), "boolean", "datetime",
        "timedelta" (a time of day) or "category" (text).
    decimal : {".", ","}
        The decimal mark of numbers.
    thousands : str
        The mark of thousands; empty if there is none.
    date_order : {"ymd", "dmy", "mdy"}
        What comes first in a date.
    note : str
        Why it was decided so, where that was not clear.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "name": TEXT,
        "kind": one_of(*KINDS),
        "decimal": one_of(".", ","),
        "thousands": one_of(*THOUSANDS),
        "date_order": one_of(*DATE_ORDERS),
        "note": TEXT,
    }

    name: str
    kind: str
    decimal: str = "."
    thousands: str = ""
    date_order: str = "ymd"
    note: str = ""

    def with_options(self, decimal: str | None, date_order: str | None) -> ColumnFormat:
        """Return the format with what a user says about a file."""
        if decimal is not None and decimal != self.decimal:
            swapped = {",": ".", ".": ","}.get(self.thousands, self.thousands)
            return replace(self, decimal=decimal, thousands=swapped)
        if date_order is not None and self.kind == "datetime":
            return replace(self, date_order=date_order)
        return self

    @property
    def words(self) -> str:
        """What the cells are expected to be, in an error."""
        match self.kind:
            case "number" | "integer":
                comma = " with a decimal comma" if self.decimal == "," else ""
                return f"a number{comma}"
            case "boolean":
                return "true or false"
            case "datetime":
                order = {"ymd": "year", "dmy": "day", "mdy": "month"}[self.date_order]
                return f"a date with the {order} first"
            case "timedelta":
                return "a time of day"
        return "text"


@register("io.FileFormat")
@dataclass(frozen=True)
class FileFormat:
    """How the files of a table are written.

    Attributes
    ----------
    columns : tuple of ColumnFormat
        All columns of the file that a model was trained on, the target too.
    marks : tuple of str
        Cells that mean "missing" besides the usual ones, in lower case.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "columns": tuple_of(instance(ColumnFormat), least=1),
        "marks": tuple_of(TEXT),
    }

    columns: tuple[ColumnFormat, ...]
    marks: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(each.name for each in self.columns)

    def of(self, name: str) -> ColumnFormat | None:
        """Return the format of a column; None if there is no such column."""
        return next((each for each in self.columns if each.name == name), None)
