"""What is wrong with a file, in words of its user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_SHOWN = 20


class TableFileError(ValueError):
    """A file that cannot be read as a table; the message names the file and the line."""


def no_column(name: str, names: Sequence[str], where: str) -> str:
    """Say that a column is missing, and which one may be meant.

    Examples
    --------
    >>> no_column("churn", ["age", "churned"], "the table")
    "the table has no column 'churn'; did you mean 'churned'? Its columns are 'age', 'churned'"
    """
    lower = {each.lower().strip(): each for each in reversed(names)}
    close = [lower[each] for each in get_close_matches(name.lower().strip(), lower, n=3)]
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else "."
    return f"{where} has no column {name!r}{hint} Its columns are {listed(names)}"


def listed(names: Iterable[str]) -> str:
    """Return names in quotes, the first twenty of them.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    every = [repr(name) for name in names]
    rest = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + rest


def counted(n: int, what: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
