"""Columns of a later table in the form that they had in `fit`.

Columns are matched by name. Levels get the codes of training, numbers may be written as text, and
a column that changed its nature otherwise is an error that names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from committee.tables.column import Column, FeatureInfo
from committee.tables.numeric_text import as_numbers, strays
from committee.tables.source import Source

_PLURAL = {
    "number": "numbers",
    "integer": "numbers",
    "boolean": "numbers",
    "datetime": "dates",
    "timedelta": "durations",
}


def conformed_column(source: Source, position: int, feature: FeatureInfo) -> Column:
    """Return a column of a table as a feature needs it, or raise if it is of another nature."""
    if feature.is_empty:  # nothing was learnt from it: it is not even looked at
        return _missing(source.n_rows)
    column, where = source.column(position), source.where(position)
    if feature.order is not None:
        return _with_ranks(column, feature.order, where)
    if column.order is not None:
        column = column.as_category()
    if feature.levels is not None:
        return _with_levels(column.as_category(), feature.levels, where)
    expected = _PLURAL[feature.label]
    examples: Sequence[Any] = column.levels or ()
    if expected == "numbers" and examples:
        # A feature that was itself read from text takes other text for missing, as a category does.
        examples = () if feature.from_text else strays(column)
        column = column if examples else as_numbers(column, where)
    found = "text" if column.levels is not None else _PLURAL[column.label]
    if found == expected:
        return column
    if column.is_all_missing():
        return _missing(source.n_rows)
    example = f" (such as {examples[0]!r})" if examples else ""
    raise ValueError(f"{where} holds {found}{example}; expected {expected}, as in fit")


def _missing(n_rows: int) -> Column:
    return Column("number", np.full(n_rows, np.nan))


def _with_levels(column: Column, levels: tuple[Any, ...], where: str) -> Column:
    """Give the column the codes of training; -2 to levels that `fit` did not see."""
    given = column.levels or ()
    if given == levels:
        return column
    if given and levels:
        # Text "1" and the number 1 are different levels. If all of one sort meet all of the other,
        # the column was read in another way than in fit, and every row would be missing.
        _refuse_other_sort(given, levels, where)
    code_of = {level: code for code, level in enumerate(levels)}
    new_code = np.fromiter((code_of.get(level, -2) for level in given), np.int32, len(given))
    new_code = np.append(new_code, np.int32(-1))  # where code -1 points to
    return Column("category", new_code[column.values], None, levels)


def _with_ranks(column: Column, order: tuple[Any, ...], where: str) -> Column:
    """Give the column the ranks of training; levels that `fit` did not know are missing."""
    if column.order == order:
        return column
    column = column.as_category()
    given = column.levels or ()
    if given:
        _refuse_other_sort(given, order, where)
    rank_of = {level: float(rank) for rank, level in enumerate(order)}
    ranks = np.array([*(rank_of.get(level, np.nan) for level in given), np.nan])
    return Column("ordered", ranks[column.values], order=order)


def _refuse_other_sort(given: tuple[Any, ...], levels: tuple[Any, ...], where: str) -> None:
    given_text = {isinstance(level, str) for level in given}
    known_text = {isinstance(level, str) for level in levels}
    if not given_text & known_text:
        found, expected = ("text", "numbers") if given_text == {True} else ("numbers", "text")
        raise ValueError(
            f"{where} holds {found} (such as {given[0]!r}); expected a category whose levels are "
            f"{expected} (such as {levels[0]!r}), as in fit"
        )


def match_names(fitted: tuple[str, ...], given: tuple[str, ...]) -> Sequence[int]:
    """Return where the features of `fit` stand among the given names; raise if some do not."""
    if fitted == given:
        return range(len(given))
    position_of = {name: position for position, name in enumerate(given)}
    missing = sorted(set(fitted) - set(given))
    unexpected = sorted(set(given) - set(fitted))
    if not missing and not unexpected:
        return [position_of[name] for name in fitted]
    message = "The feature names should match those that were passed during fit.\n"
    if unexpected:
        message += "Feature names unseen at fit time:\n" + _bullets(unexpected)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _bullets(missing)
    raise ValueError(message)


def _bullets(names: list[str], limit: int = 5) -> str:
    shown = [f"- {name}\n" for name in names[:limit]]
    return "".join(shown) + ("- ...\n" if len(names) > limit else "")
