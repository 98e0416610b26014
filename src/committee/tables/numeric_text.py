"""Numbers that are written as text: which columns of text are read as numbers.

A *mark* is a text such as "?" or "n/a" that stands for a missing number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from committee.base.warn import warn
from committee.tables.column import Column, object_column

MARKS = frozenset(
    ("", "?", "-", "--", ".", "na", "n/a", "#n/a", "n.a.", "<na>", "nan", "null", "none", "missing")
)

# A column of which this share are numbers was probably meant as one, if it has so many of them.
_NEARLY_ALL = 0.95
_MANY_NUMBERS = 10

# Of more levels than this, a few that lie far apart are looked at first.
_LOOKED_AT = 64

_SHOWN = 4


def number_of(level: Any) -> int | float | None:
    """Return the number that a level is or spells; None if it is none.

    Examples
    --------
    >>> [number_of(level) for level in ("1.5", " 7 ", "1e3", 4, "n/a", "1,234", "1_000")]
    [1.5, 7, 1000.0, 4, None, None, None]
    """
    if not isinstance(level, str):
        return level if isinstance(level, int | float) else None
    try:
        number = float(level)
    except ValueError:
        return None
    if "_" in level:  # Python's own notation
        return None
    # Doubles would merge neighbours among very large whole numbers.
    if -(2.0**63) <= number < 2.0**63 and level.strip().lstrip("+-").isdecimal():
        return int(level)
    return number


def as_numbers(column: Column, where: str) -> Column:
    """Return a category as numbers; levels that are none become missing."""
    numbers = [number_of(level) for level in column.levels or ()]
    # The code of a missing cell is -1 and points to the last number.
    known = object_column([*numbers, None], where)
    return replace(known.take(column.values), from_text=column.from_text)


def strays(column: Column) -> list[Any]:
    """Return the levels that are no numbers."""
    return [level for level in column.levels or () if number_of(level) is None]


class TextReader:
    """Reads the text columns of one table to fit on, and warns once about all of them.

    Parameters
    ----------
    choice : {"auto", "number", "category"}
        What numbers written as text are. "auto" makes numbers of them in arrays and lists.
    is_frame : bool
        Whether the table is a data frame, whose columns may have types that were chosen.
    """

    def __init__(self, choice: str, is_frame: bool) -> None:
        self._choice = choice
        self._converts = choice == "number" or not is_frame
        self._converted: list[str] = []
        self._suspected: list[str] = []

    def read(self, column: Column, where: str) -> Column:
        """Return a text column as it is, or as numbers."""
        if not column.from_text or self._choice == "category" or _is_wordy(column.levels or ()):
            return column
        others = strays(column)
        are_marks = all(isinstance(each, str) and each.strip().lower() in MARKS for each in others)
        if self._converts and (not others or (are_marks and self._choice == "number")):
            numbers = as_numbers(column, where)
            if not numbers.is_all_missing():
                if self._choice == "auto":
                    self._converted.append(where)
                return numbers
        self._suspect(column, others, where)
        return column

    def _suspect(self, column: Column, others: list[Any], where: str) -> None:
        """Note a category that was probably meant as a number."""
        levels = column.levels or ()
        is_number = np.array([number_of(level) is not None for level in levels] + [False])
        n_present = int((column.values >= 0).sum())
        n_numbers = int(is_number[column.values].sum())
        n_distinct = int(is_number.sum())
        is_probable = n_numbers >= _NEARLY_ALL * n_present and n_distinct >= _MANY_NUMBERS
        if not is_probable or not (others or 2 * n_distinct > n_numbers):
            return
        found = f"{where}: {n_distinct} different numbers in {n_numbers} of {n_present} cells"
        if others:
            shown = ", ".join(repr(each) for each in others[:_SHOWN])
            found += f"; no numbers are {shown}" + (", ..." if len(others) > _SHOWN else "")
        self._suspected.append(found)

    def warn(self) -> None:
        """Warn of what was read in another way than its type or its values suggest."""
        if self._converted:
            warn(
                f"{_listed(self._converted)} of X hold{'s' * (len(self._converted) == 1)} numbers "
                "written as text, which are read as numbers. Convert them before fit, or set "
                'numeric_text: "number" reads them without this warning, "category" keeps text'
            )
        if self._suspected:
            lines = "".join(f"\n- {found}" for found in self._suspected)
            warn(
                f"X holds text that is nearly all numbers; it is read as categories.{lines}\n"
                'Make such columns numbers before fit, or set numeric_text: "number" reads numbers '
                'and takes marks such as "?" for missing, "category" keeps text without this '
                "warning"
            )


def _is_wordy(levels: Sequence[Any]) -> bool:
    """Whether most of a few levels that lie far apart are no numbers, which is quick to see."""
    if len(levels) <= _LOOKED_AT:
        return False
    looked_at = levels[:: len(levels) // _LOOKED_AT + 1]
    return 2 * sum(number_of(level) is None for level in looked_at) > len(looked_at)


def _listed(names: list[str]) -> str:
    """Return "column 'a'", or several of them in one phrase."""
    shown = [name.removeprefix("column ") for name in names[:_SHOWN]]
    if len(names) == 1:
        return names[0]
    if len(names) > _SHOWN:
        return f"columns {', '.join(shown)} and {len(names) - _SHOWN} more"
    return f"columns {', '.join(shown[:-1])} and {shown[-1]}"
