"""What a raw table needs before models learn from it: which columns are used, and in which form.

A column that is constant or numbers the rows is left out, a date becomes its parts, text becomes
numbers. The plan is made from the cells alone, without the target, and is applied to every later
table in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.text import TextEncoder
from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import NOTHING, TEXT, Part, instance, one_of, tuple_of
from committee.tables.column import Column
from committee.tables.conform import conformed_column
from committee.tables.source import Columns, Matrix, Source, read_once
from committee.tables.table import TableSchema, read_table

# What a column can become.
USES = ("number", "category", "date", "text", "dropped")

# Parts of a date, besides the date itself; each is kept where it takes more than one value.
_PARTS = ("year", "month", "day", "weekday", "hour")

_DAY = 86_400_000_000  # microseconds

# A column with so large a share of distinct values names the rows, or is free text.
_DISTINCT = 0.9
_LEAST_ROWS = 30  # of which nothing is concluded from the number of distinct values

# Text has so many characters or words on average.
_CHARACTERS, _WORDS = 20.0, 2.5

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?Z?")


@register("auto.ColumnUse")
@dataclass(frozen=True)
class ColumnUse:
    """What was done to a column, and why.

    Attributes
    ----------
    name : str
        Of the column, or "x0", "x1", ... where the table has no names.
    kind : str
        How it was read: "number", "integer", "boolean", "datetime", "timedelta" or "category".
    use : {"number", "category", "date", "text", "dropped"}
        What members get.
    parts : tuple of str
        Names of the features made of it.
    note : str
        The reason, where there is something to say.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "name": TEXT,
        "kind": TEXT,
        "use": one_of(*USES),
        "parts": tuple_of(TEXT),
        "note": TEXT,
    }

    name: str
    kind: str
    use: str
    parts: tuple[str, ...]
    note: str = ""


@register("auto.TablePlan")
@dataclass(frozen=True, eq=False)
class TablePlan:
    """How the columns of a table become features.

    Attributes
    ----------
    uses : tuple of ColumnUse
        One for each column.
    encoders : tuple of (TextEncoder or None)
        One for each column; None but for text.

    Examples
    --------
    >>> from committee.tables.source import open_source
    >>> table = open_source([[1.0, 5.0, "a"], [2.0, 5.0, "b"], [3.0, 5.0, "a"]])
    >>> [use.use for use in TablePlan.of(table).uses]
    ['number', 'dropped', 'category']
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "uses": tuple_of(instance(ColumnUse), "columns", least=1),
        "encoders": tuple_of(NOTHING | instance(TextEncoder), "columns"),
    }

    uses: tuple[ColumnUse, ...]
    encoders: tuple[Any, ...]

    @classmethod
    def of(cls, source: Source) -> TablePlan:
        """Decide on each column of a table."""
        names = source.names or tuple(f"x{k}" for k in range(source.n_features))
        found = [_plan_column(name, source.column(place)) for place, name in enumerate(names)]
        if all(use.use == "dropped" for use, _ in found):
            raise ValueError(
                "no column of X can be learnt from: "
                + "; ".join(f"{use.name!r} is {use.note}" for use, _ in found[:5])
            )
        return cls(tuple(use for use, _ in found), tuple(encoder for _, encoder in found))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(part for use in self.uses for part in use.parts)

    def apply(self, source: Source) -> Columns:
        """Return the features of a table with the same columns; they are made when read."""
        places = [(k, part) for k, use in enumerate(self.uses) for part in range(len(use.parts))]
        texts: dict[int, Floats] = {}

        def read(position: int, where: str) -> Column:
            place, part = places[position]
            use, column = self.uses[place], source.column(place)
            if use.use == "date":
                return date_part(column, use.parts[part], part)
            if use.use == "text":
                if place not in texts:
                    texts[place] = self.encoders[place].apply(column)
                return Column("number", texts[place][:, part])
            return column

        return Columns(source.n_rows, len(places), self.names, read)

    def _validate_loaded(self) -> None:
        for use, encoder in zip(self.uses, self.encoders, strict=True):
            if (use.use == "text") != (type(encoder) is TextEncoder):
                raise ValueError("text needs an encoder, and nothing else does")
            if encoder is not None and encoder.n_parts != len(use.parts):
                raise ValueError("an encoder of text makes another number of features")


@register("auto.FeatureReader")
@dataclass(frozen=True, eq=False)
class FeatureReader:
    """Reads features from tables, always as in `fit`.

    Attributes
    ----------
    plan : TablePlan
        How columns become features.
    schema : TableSchema
        Kinds and levels of the features.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "plan": instance(TablePlan),
        "schema": instance(TableSchema),
    }

    plan: TablePlan
    schema: TableSchema

    @classmethod
    def of(cls, source: Source) -> FeatureReader:
        """Decide how the columns of a table are read."""
        plan = TablePlan.of(source)
        return cls(plan, read_table(plan.apply(source))[1])

    def read(self, source: Source) -> Source:
        """Return the features of a table with the columns of `fit`; each is made once."""
        matrix = self._matrix(source)
        if matrix is not None:
            return read_once(matrix)
        raw = self.plan.apply(source)

        def read(position: int, where: str) -> Column:
            return conformed_column(raw, position, self.schema.features[position])

        return read_once(Columns(raw.n_rows, raw.n_features, raw.names, read))

    def _matrix(self, source: Source) -> Matrix | None:
        """Return the features of a table of numbers at once, where columns stay as they are."""
        if not (isinstance(source, Matrix) and source.label == "number" and source.is_all_real()):
            return None
        if not self._takes_numbers:
            return None
        used = np.flatnonzero([use.use != "dropped" for use in self.plan.uses])
        is_all = len(used) == source.n_features
        matrix = source.take(None, None if is_all else used)
        return replace(matrix, names=self.schema.names)

    @cached_property
    def _takes_numbers(self) -> bool:
        """Whether all features are columns of numbers."""
        is_number = [use.use in ("number", "dropped") for use in self.plan.uses]
        return all(is_number) and all(each.label == "number" for each in self.schema.features)

    def _validate_loaded(self) -> None:
        if self.plan.names != self.schema.names:
            raise ValueError("the plan makes other features than the schema knows")


def _plan_column(name: str, column: Column) -> tuple[ColumnUse, TextEncoder | None]:
    def use(what: str, parts: Sequence[str] = (), note: str = "") -> ColumnUse:
        return ColumnUse(name, column.label, what, tuple(parts), note)

    missing = column.missing()
    if missing.all():
        return use("dropped", note="empty"), None
    if column.levels is not None:
        return _plan_levels(name, column, missing, use)
    values = column.values[~missing]
    if values.min() == values.max() and not missing.any():
        return use("dropped", note="constant"), None
    if column.label == "datetime":
        return use("date", _date_parts(name, column, missing)), None
    if _numbers_the_rows(column, missing):
        return use("dropped", note="the number of the row"), None
    return use("number", [name]), None


def _plan_levels(
    name: str, column: Column, missing: NDArray[np.bool_], use: Any
) -> tuple[ColumnUse, TextEncoder | None]:
    assert column.levels is not None
    present = column.values[~missing]
    counts = np.bincount(present, minlength=len(column.levels))
    n_distinct = int((counts > 0).sum())
    if n_distinct == 1 and not missing.any():
        return use("dropped", note="constant"), None
    levels = [str(level) for level in column.levels]
    if all(_ISO_DATE.fullmatch(level) for level in levels):
        dates = _parsed(column)
        note = "dates written as text"
        return use("date", _date_parts(name, dates, missing), note), None
    is_distinct = n_distinct > _DISTINCT * len(present) and len(present) >= _LEAST_ROWS
    weights = counts / counts.sum()
    if _is_text(levels, weights) and n_distinct > min(50, 0.2 * len(present)):
        encoder = TextEncoder.of(column)
        parts = [f"{name} [text {k}]" for k in range(encoder.n_parts)]
        return use("text", parts, "character n-grams, shortened to a few numbers"), encoder
    if is_distinct:
        return use("dropped", note="an identifier: nearly all values are distinct"), None
    return use("category", [name]), None


def _is_text(levels: Sequence[str], weights: Floats) -> bool:
    lengths = np.array([len(level) for level in levels])
    words = np.array([len(level.split()) for level in levels])
    return float(lengths @ weights) > _CHARACTERS and float(words @ weights) > _WORDS


def _numbers_the_rows(column: Column, missing: NDArray[np.bool_]) -> bool:
    """Whether each value is one more than the value of the row before."""
    if missing.any() or len(missing) < _LEAST_ROWS or column.label == "boolean":
        return False
    values = column.values
    with np.errstate(invalid="ignore", over="ignore"):
        return bool((values[1:] - values[:-1] == 1).all())


# --- dates --------------------------------------------------------------------------------------


def _parsed(column: Column) -> Column:
    """Return dates written as text as microseconds."""
    if column.levels is None:
        return column
    texts = [str(level).removesuffix("Z") for level in column.levels]
    try:
        levels = np.array(texts, "datetime64[us]").view(np.int64)
    except ValueError:  # a new table may hold anything
        levels = np.array([_microseconds(text) for text in texts]).view(np.int64)
    missing = column.values < 0
    not_a_time = np.datetime64("NaT", "us").view(np.int64)
    padded = np.append(levels, not_a_time)
    values = padded[np.where(missing, len(levels), column.values)]
    return Column("datetime", values, (values == not_a_time).astype(np.uint8))


def _microseconds(text: str) -> np.datetime64:
    try:
        return np.datetime64(text, "us")
    except ValueError:
        return np.datetime64("NaT", "us")


def _date_parts(name: str, column: Column, missing: NDArray[np.bool_]) -> list[str]:
    """Return the names of the parts that vary, after the date itself."""
    values = column.values[~missing]
    varying = [part for part in _PARTS if len(np.unique(_part(values, part))) > 1]
    return [name, *(f"{name} [{part}]" for part in varying)]


def date_part(column: Column, name: str, place: int) -> Column:
    dates = _parsed(column)
    if place == 0:
        return dates
    values = _part(dates.values, name.rpartition("[")[2].removesuffix("]"))
    return Column("number", np.where(dates.missing(), np.nan, values))


def _part(microseconds: NDArray[np.int64], part: str) -> Floats:
    days = microseconds // _DAY
    if part == "weekday":
        return np.asarray((days + 3) % 7, np.float64)  # Monday is 0
    if part == "hour":
        return np.asarray(microseconds % _DAY // 3_600_000_000, np.float64)
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    if part == "day":
        return np.asarray((dates - months).astype(np.int64) + 1, np.float64)
    years = dates.astype("datetime64[Y]")
    if part == "month":
        return np.asarray((months - years).astype(np.int64) + 1, np.float64)
    return np.asarray(years.astype(np.int64) + 1970, np.float64)
