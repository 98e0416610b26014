"""One column of a table: how its cells are read, and the form in which the engine gets them.

A column is recognised by its *label*: "number", "boolean", "integer" (beyond 2**53, where doubles
would merge neighbours), "datetime", "timedelta" (both microseconds), "ordered" (the ranks of levels
that have an order) or "category". The label fixes the *kind*, which is how the engine compares
values. Arrays are handed over without a copy wherever
their type allows it. Everything here works on NumPy arrays; data frames come in `frame.py`.
"""

import datetime as dt
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.files.codec_classes import register
from committee.files.parts import FLAG, NOTHING, TEXT, Part, instance, one_of, tuple_of

Level = str | int | float | bool

# Doubles hold every integer up to here; beyond it neighbours may become equal.
MAX_EXACT_INTEGER = 2**53
# The engine stores the level of a category in at most 16 bits, and keeps one code for "missing".
MAX_LEVELS = 65_535

# Types the engine reads in place.
DIRECT_TYPES = frozenset(np.dtype(t) for t in ("float64", "float32", "int64", "int32", "uint8"))
_SMALL_INTEGERS = frozenset(np.dtype(t) for t in ("int8", "int16", "uint16"))
_MICROSECONDS = {"M": "datetime64[us]", "m": "timedelta64[us]"}


@register("kind")
class Kind(IntEnum):
    """How the engine compares the values of a feature."""

    REAL = 0
    INTEGER = 1
    CATEGORY = 2


_KIND_OF_LABEL = {
    "number": Kind.REAL,
    "boolean": Kind.REAL,
    "integer": Kind.INTEGER,
    "datetime": Kind.INTEGER,
    "timedelta": Kind.INTEGER,
    "ordered": Kind.REAL,
    "category": Kind.CATEGORY,
}


@register("FeatureInfo")
@dataclass(frozen=True)
class FeatureInfo:
    """What a model remembers about a feature it was fitted on.

    Parameters
    ----------
    name : str
        The column's name, or "x0", "x1", ... where the table had no names.
    kind : Kind
        How values are compared.
    levels : tuple or None
        The levels of a category in the order of their codes, None for other kinds.
    label : str
        "number", "integer", "boolean", "datetime", "timedelta", "ordered" or "category".
    has_missing : bool, default=False
        Whether training saw missing values in it.
    from_text : bool, default=False
        Whether its numbers were written as text.
    is_empty : bool, default=False
        Whether training saw nothing but missing values in it. Then a later table may hold anything
        there. Categories without values have no levels instead.
    order : tuple or None, default=None
        The levels of an ordered feature from the lowest to the highest, None for others.

    Examples
    --------
    >>> FeatureInfo("island", Kind.CATEGORY, ("Biscoe", "Dream"), "category").levels
    ('Biscoe', 'Dream')
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] | None
    label: str
    has_missing: bool = False
    from_text: bool = False
    is_empty: bool = False
    order: tuple[Level, ...] | None = None

    _optional_fields = ("from_text", "is_empty", "order")

    _stored_parts: ClassVar[dict[str, Part]] = {
        "name": TEXT,
        "kind": instance(Kind),
        "levels": NOTHING | tuple_of(instance(str, int, float, bool)),
        "label": one_of(*_KIND_OF_LABEL),
        "has_missing": FLAG,
        "from_text": FLAG,
        "is_empty": FLAG,
        "order": NOTHING | tuple_of(instance(str, int, float, bool)),
    }

    @classmethod
    def of(cls, name: str, column: "Column") -> "FeatureInfo":
        """Return what is to be remembered about a column."""
        from_text = column.from_text and column.levels is None
        return cls(
            name,
            column.kind,
            column.levels,
            column.label,
            from_text=from_text,
            order=column.order,
        )

    def _validate_loaded(self) -> None:
        if self.kind != _KIND_OF_LABEL[self.label]:
            raise ValueError(f"{self.label} is not a label of kind {self.kind.name.lower()}")
        if (self.levels is None) == (self.kind == Kind.CATEGORY):
            raise ValueError("categories have levels, and nothing else has")
        if (self.order is None) == (self.label == "ordered"):
            raise ValueError("ordered features have an order, and nothing else has")
        levels = [(type(level), level) for level in self.levels or self.order or ()]
        if len(set(levels)) != len(levels):
            raise ValueError("a level occurs twice")


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of one column in the form the engine reads.

    `values` holds doubles or integers, int64 microseconds for times and int32 codes for
    categories. `mask` (one byte a row, 1 = missing) goes with integers; floats mark missing by
    NaN and codes by -1. `levels` are those that occur, in the order of their codes. `from_text`
    marks a category whose cells are text, and numbers that were read from text. `order` are all
    levels of an ordered category, of which `values` holds the ranks.
    """

    label: str
    values: NDArray[Any]
    mask: NDArray[np.uint8] | None = None
    levels: tuple[Level, ...] | None = None
    from_text: bool = False
    order: tuple[Level, ...] | None = None

    @property
    def kind(self) -> Kind:
        return _KIND_OF_LABEL[self.label]

    def is_all_missing(self) -> bool:
        if len(self.values) == 0:
            return True
        if self.levels is not None:
            return len(self.levels) == 0
        if self.mask is not None:
            return bool(self.mask.all())
        return self.values.dtype.kind == "f" and bool(np.isnan(self.values).all())

    def missing(self) -> NDArray[np.bool_]:
        """Return which cells are missing, or hold a level that `fit` did not see."""
        if self.levels is not None:
            return np.asarray(self.values < 0)
        if self.mask is not None:
            return self.mask.astype(bool)
        if self.values.dtype.kind == "f":
            return np.asarray(np.isnan(self.values))
        return np.zeros(len(self.values), bool)

    def take(self, rows: NDArray[np.int64]) -> "Column":
        """Return some rows; levels stay, whether they occur or not."""
        mask = None if self.mask is None else self.mask[rows]
        # Not `replace`, which takes longer than all else where columns are many.
        return Column(self.label, self.values[rows], mask, self.levels, self.from_text, self.order)

    def as_category(self) -> "Column":
        """Return the column with its distinct values as levels (dates as text)."""
        if self.levels is not None:
            return self
        missing = np.zeros(len(self.values), bool) if self.mask is None else self.mask.astype(bool)
        if self.order is not None:
            codes = np.where(missing, -1, self.values)
            return category_column(codes, self.order, keep_order=True, from_text=False)
        if self.values.dtype.kind == "f":
            missing = missing | np.isnan(self.values)
        distinct, inverse = np.unique(self.values[~missing], return_inverse=True)
        codes = np.full(len(self.values), -1, np.int32)
        codes[~missing] = inverse
        if self.label == "boolean":
            distinct = distinct.astype(bool)
        elif self.label == "datetime":
            distinct = distinct.astype("datetime64[us]").astype(str)
        elif self.label == "timedelta":
            distinct = np.array([str(dt.timedelta(microseconds=int(v))) for v in distinct])
        return Column("category", codes, None, tuple(distinct.tolist()))


def category_column(
    codes: NDArray[Any], values: Sequence[Any], *, keep_order: bool, from_text: bool
) -> Column:
    """Make a category from codes into `values`; a negative code is missing.

    Only the values that occur become levels: sorted, or in the given order.
    """
    occurs = np.zeros(len(values) + 1, bool)
    occurs[codes] = True  # -1 marks the extra last entry
    used = np.flatnonzero(occurs[:-1])
    levels = [_level(values[i]) for i in used.tolist()]
    if not keep_order:
        # Numbers come before text where a column holds both.
        order = sorted(range(len(levels)), key=lambda i: (isinstance(levels[i], str), levels[i]))
        used = used[order]
        levels = [levels[i] for i in order]
    new_code = np.full(len(values) + 1, -1, np.int32)
    new_code[used] = np.arange(len(used), dtype=np.int32)
    return Column("category", new_code[codes], None, tuple(levels), from_text)


def ordered_column(codes: NDArray[Any], values: Sequence[Any]) -> Column:
    """Make a column of ranks from codes into `values`, which ascend; a negative code is missing."""
    order = tuple(_level(value) for value in values)
    if len(set(order)) < len(order):  # some look alike, as 1 and True do
        return category_column(codes, values, keep_order=True, from_text=False)
    missing = codes < 0
    ranks = np.where(missing, 0, codes).astype(np.int32)
    return Column("ordered", ranks, _byte_mask(missing), order=order)


def _level(value: Any) -> Level:
    """Return the value as a plain Python object that a model file can hold."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real | Decimal):
        return float(value)
    return str(value)


def numpy_column(values: NDArray[Any], mask: NDArray[np.bool_] | None, where: str) -> Column:
    """Read a 1-D array of any type; `mask` marks missing cells, `where` names it in errors."""
    match values.dtype.kind:
        case "f":
            return _float_column(values, mask)
        case "i" | "u":
            return _integer_column(values, mask, where)
        case "b":
            if not values.dtype.isnative or not values.flags.aligned:
                values = values.astype(bool)
            return Column("boolean", values.view(np.uint8), _byte_mask(mask))
        case "M" | "m":
            return _time_column(values, mask, where)
        case "U" | "T" | "O":
            cells = values.tolist()
            if mask is not None:
                cells = [None if hidden else cell for cell, hidden in zip(cells, mask, strict=True)]
            return object_column(cells, where)
        case "c":
            raise complex_error(where)
        case "S":
            raise _cell_error(where, bytes)
        case _:
            raise TypeError(f"{where} has the NumPy type {values.dtype}, which is not supported")


def complex_error(where: str) -> ValueError:
    """Return the error for complex numbers, in the words scikit-learn's checks look for."""
    return ValueError(
        f"Complex data not supported: {where} holds complex numbers, which have no order. "
        "Use their real and imaginary parts as two columns"
    )


def _cell_error(where: str, cell_type: type) -> TypeError:
    hint = "; decode the bytes to text first" if cell_type is bytes else ""
    return TypeError(
        f"{where} holds a cell of type {cell_type.__name__}; an argument must be a string or a "
        f"number, a boolean, a date, a duration or missing{hint}"
    )


def as_direct(values: NDArray[Any]) -> NDArray[Any]:
    """Return a numeric array in a type that the engine reads, copied only if needed."""
    dtype = values.dtype
    if dtype in DIRECT_TYPES:
        return values if values.flags.aligned else values.copy()
    if dtype.kind == "b":
        return values.view(np.uint8)
    if dtype.kind == "f":
        # A longdouble too large for float64 becomes infinite, which keeps its place in the order.
        with np.errstate(over="ignore"):
            return values.astype(np.float32 if dtype.itemsize <= 4 else np.float64)
    small = dtype.newbyteorder("=") in _SMALL_INTEGERS
    return values.astype(np.int32 if small else np.int64)


def is_beyond_doubles(values: NDArray[Any]) -> bool:
    """Whether some integer is too large for doubles to tell it from its neighbours."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or values.size == 0:
        return False
    return int(values.max()) > MAX_EXACT_INTEGER or int(values.min()) < -MAX_EXACT_INTEGER


def _byte_mask(mask: NDArray[np.bool_] | None) -> NDArray[np.uint8] | None:
    if mask is None or not mask.any():
        return None
    return np.ascontiguousarray(mask).view(np.uint8)


def _float_column(values: NDArray[Any], mask: NDArray[np.bool_] | None) -> Column:
    direct = as_direct(values)
    if mask is not None and mask.any():
        direct = np.where(mask, direct.dtype.type(np.nan), direct)
    return Column("number", direct)


def _integer_column(values: NDArray[Any], mask: NDArray[np.bool_] | None, where: str) -> Column:
    if mask is not None and mask.any():
        values = np.where(mask, values.dtype.type(0), values)  # what is hidden must not count
    if values.dtype.kind == "u" and values.dtype.itemsize == 8 and values.size:
        check_fits_int64(int(values.max()), where)
    direct = as_direct(values)
    label = "integer" if is_beyond_doubles(direct) else "number"
    return Column(label, direct, _byte_mask(mask))


def check_fits_int64(value: int, where: str) -> None:
    """Raise if an integer needs more than 64 bits with sign."""
    if not -(2**63) <= value < 2**63:
        raise ValueError(
            f"{where} holds the integer {value}; integers must be in [-2**63, 2**63 - 1]. "
            "Convert the column to float64 if its last digits do not matter"
        )


def _time_column(values: NDArray[Any], mask: NDArray[np.bool_] | None, where: str) -> Column:
    """Dates or durations as microseconds; finer units are rounded down."""
    if np.datetime_data(values.dtype)[0] == "generic":
        values = values.astype("timedelta64[us]" if values.dtype.kind == "m" else "datetime64[D]")
    micros = values.astype(_MICROSECONDS[values.dtype.kind])
    missing = np.isnat(values)
    unit = np.datetime_data(values.dtype)[0]
    # NumPy wraps around silently when a coarse unit leaves the range of 64-bit microseconds.
    if unit not in ("us", "ns", "ps", "fs", "as") and np.any(
        (micros.astype(values.dtype) != values) & ~missing
    ):
        raise ValueError(f"{where} holds times too far from 1970 to count in microseconds")
    if mask is not None:
        missing |= mask
    label = "datetime" if values.dtype.kind == "M" else "timedelta"
    return Column(label, micros.view(np.int64), _byte_mask(missing))


def object_column(cells: list[Any], where: str) -> Column:
    """Read Python objects: what the cells have in common decides."""
    if any(_is_span(cell_type) for cell_type in set(map(type, cells))):
        cells = [_point(cell) if _is_span(type(cell)) else cell for cell in cells]
    families = {_family(cell_type, where) for cell_type in set(map(type, cells))}
    if "missing" in families or "number" in families:  # NaN hides among the numbers
        cells = [None if _is_missing(cell) else cell for cell in cells]
    families.discard("missing")
    if families <= {"number", "integer", "boolean"} and all(cell is None for cell in cells):
        families = set()
    if not families or "text" in families:
        if families & {"datetime", "timedelta"}:
            raise ValueError(f"{where} mixes text with dates or durations; make it one of them")
        return _text_column(cells)
    mask = np.fromiter((cell is None for cell in cells), bool, len(cells))
    if families == {"boolean"}:
        return numpy_column(np.array([bool(cell) for cell in cells]), mask, where)
    if families <= {"integer", "boolean"}:
        integers = [int(cell or 0) for cell in cells]
        check_fits_int64(max(integers), where)
        check_fits_int64(min(integers), where)
        return _integer_column(np.array(integers, np.int64), mask, where)
    if families <= {"number", "integer", "boolean"}:
        return Column("number", np.array([_as_float(cell) for cell in cells]))
    if families in ({"datetime"}, {"timedelta"}):
        unit = "datetime64[us]" if families == {"datetime"} else "timedelta64[us]"
        return _time_column(np.array([_as_time(cell) for cell in cells], unit), mask, where)
    raise ValueError(f"{where} mixes {' and '.join(sorted(families))} cells; make it one of them")


def _is_span(cell_type: type) -> bool:
    """Whether cells are periods or intervals of pandas."""
    is_from_pandas = cell_type.__module__.startswith("pandas")
    return is_from_pandas and cell_type.__name__ in ("Period", "Interval")


def _point(span: Any) -> Any:
    """Return the start of a period, the middle of an interval."""
    if type(span).__name__ == "Interval":
        return span.mid
    return np.datetime64(span.asfreq("us", "start").ordinal, "us")


def _text_column(cells: list[Any]) -> Column:
    code_of: dict[Any, int] = {}
    codes = np.fromiter(
        (-1 if cell is None else code_of.setdefault(cell, len(code_of)) for cell in cells),
        np.int32,
        len(cells),
    )
    return category_column(codes, list(code_of), keep_order=False, from_text=True)


def _family(cell_type: type, where: str) -> str:
    """Name what cells of a Python type are, to decide on the column."""
    if issubclass(cell_type, str):
        return "text"
    if cell_type is type(None) or cell_type.__name__ in ("NAType", "NaTType"):
        return "missing"
    if issubclass(cell_type, bool | np.bool_):
        return "boolean"
    # NumPy counts its timedelta64 among the integers, so times come first.
    if issubclass(cell_type, np.timedelta64 | dt.timedelta | dt.time):
        return "timedelta"
    if issubclass(cell_type, np.datetime64 | dt.date):
        return "datetime"
    if issubclass(cell_type, numbers.Integral):
        return "integer"
    if issubclass(cell_type, numbers.Real | Decimal):
        return "number"
    if issubclass(cell_type, numbers.Complex):
        raise complex_error(where)
    raise _cell_error(where, cell_type)


def _is_missing(cell: Any) -> bool:
    """None, NaN, and the NA and NaT of pandas (which equal nothing, not even themselves)."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return not isinstance(cell, str) and bool(cell != cell)


def _as_float(cell: Any) -> float:
    if cell is None:
        return float("nan")
    try:
        return float(cell)
    except OverflowError:  # an int beyond the doubles, in a column that also holds floats
        return float("inf") if cell > 0 else float("-inf")


def _as_time(cell: Any) -> Any:
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None:
        return cell.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(cell, dt.time):
        return dt.timedelta(
            hours=cell.hour,
            minutes=cell.minute,
            seconds=cell.second,
            microseconds=cell.microsecond,
        )
    return cell
