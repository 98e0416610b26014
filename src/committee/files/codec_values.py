"""The simple values of a model file: numbers, text, bytes, dates, NumPy scalars and dtypes.

Each has a tag, a writer `(obj, path) -> payload` and a reader `(payload) -> obj`. Readers meet
hostile payloads: they raise BadContent, or one of the errors that `_codec` turns into it.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from committee.files.archive import BadContent, check_items, portable_array, portable_dtype

Payload = TypeVar("Payload")

# Integers below this are the same number for every reader of JSON.
MAX_JSON_INT = 2**53

_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_DTYPE_VALUE = re.compile(r"\|O|<U0|\|S0|>[iufcUmM][0-9]{1,9}(\[[0-9]{0,9}[a-zA-Z]{1,2}\])?")


def expect(kind: type[Payload], payload: Any) -> Payload:
    """Return the payload if it is of that very type (True is no int here)."""
    if type(payload) is not kind:
        raise BadContent(f"it has a {type(payload).__name__} where a {kind.__name__} is expected")
    return payload


def members_of(payload: Any, *names: str) -> list[Any]:
    """Return the members of a payload that must have exactly these names."""
    if set(expect(dict, payload)) != set(names):
        raise BadContent(f"it has an object without exactly the members {', '.join(names)}")
    return [payload[name] for name in names]


def cannot_store(obj: Any, path: str, what: str | None = None) -> TypeError:
    """Build the error for an object that a model file does not hold."""
    kind = type(obj)
    if what is None and hasattr(kind, "fit") and hasattr(kind, "get_params"):
        library = kind.__module__.partition(".")[0]
        return TypeError(
            f"{path}: cannot be stored safely: {kind.__name__}; a model file holds estimators of "
            "committee, linear models, arrays and plain Python values, because to read one of "
            f"{library!r} means to run code that the file names. Use members of committee, or "
            "store it by skops.io.dump, or by pickle for files that only you can write"
        )
    return TypeError(
        f"{path}: cannot be stored safely: {what or type(obj).__name__}; a model file holds "
        "estimators of committee, arrays and plain Python values (for other objects use pickle)"
    )


def encode_int(number: int) -> Any:
    """Write an integer; a large one in base 16, which Python reads in linear time."""
    return number if abs(number) < MAX_JSON_INT else {"int": f"{number:x}"}


def encode_float(number: float) -> Any:
    """Write a number; JSON has no name for nan and the infinities."""
    return number if math.isfinite(number) else {"float": str(number)}


def encode_text(text: str) -> Any:
    """Write text; lone surrogates, which are no Unicode, need a form of their own."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return {"surrogates": _to_base64(text.encode("utf-8", "surrogatepass"))}
    return text


def encode_scalar(scalar: np.generic, path: str) -> list[Any]:
    """Write a NumPy scalar as its dtype and its bytes."""
    if isinstance(scalar, np.str_):  # a dtype would lose trailing zero characters and ""
        return ["U", encode_text(str.__str__(scalar))]
    if isinstance(scalar, np.bytes_):
        return ["S", _to_base64(bytes(scalar))]
    try:
        array = portable_array(np.asarray(scalar))
    except TypeError:
        raise cannot_store(scalar, path) from None
    return [array.dtype.str, array.tobytes().hex()]


def encode_dtype(dtype: np.dtype[Any], path: str) -> str:
    """Write a dtype that is kept as a value, such as that of a target."""
    try:
        if decode_dtype(dtype.str) == dtype:
            return dtype.str
    except ValueError:
        pass
    raise cannot_store(dtype, path, f"the dtype {dtype}")


def decode_dtype(payload: Any) -> np.dtype[Any]:
    """Read a dtype; other than in arrays, `object` and big endian are harmless here."""
    text = expect(str, payload)
    return np.dtype(text) if _DTYPE_VALUE.fullmatch(text) else portable_dtype(text)


def _decode_int(payload: Any) -> int:
    text = expect(str, payload)
    if re.fullmatch("-?[0-9a-f]+", text) is None:
        raise BadContent("it holds a large integer that is not in base 16")
    return int(text, 16)


def _decode_surrogates(payload: Any) -> str:
    return _from_base64(payload).decode("utf-8", "surrogatepass")


def _decode_scalar(payload: Any) -> np.generic:
    dtype, value = expect(list, payload)
    if dtype == "U" and isinstance(value, str):
        return np.str_(value)
    if dtype == "U":
        return np.str_(_decode_surrogates(members_of(value, "surrogates")[0]))
    if dtype == "S":
        return np.bytes_(_from_base64(value))
    items = np.frombuffer(bytes.fromhex(expect(str, value)), portable_dtype(expect(str, dtype)))
    if len(items) != 1:
        raise BadContent("it holds a scalar with the wrong number of bytes")
    scalar: np.generic = check_items(items)[0]
    return scalar


def _encode_datetime(moment: datetime.datetime, path: str) -> list[int | None]:
    if moment.tzinfo is not None and type(moment.tzinfo) is not datetime.timezone:
        raise cannot_store(moment, path, f"a datetime in the time zone {moment.tzinfo}")
    offset = moment.utcoffset()
    microseconds = None if offset is None else offset // datetime.timedelta(microseconds=1)
    date = [moment.year, moment.month, moment.day]
    time = [moment.hour, moment.minute, moment.second, moment.microsecond]
    return [*date, *time, moment.fold, microseconds]


def _decode_datetime(payload: Any) -> datetime.datetime:
    *numbers, fold, offset = expect(list, payload)
    zone = None
    if offset is not None:
        zone = datetime.timezone(datetime.timedelta(microseconds=expect(int, offset)))
    year, month, day, hour, minute, second, microsecond = (expect(int, n) for n in numbers)
    return datetime.datetime(
        year, month, day, hour, minute, second, microsecond, zone, fold=expect(int, fold)
    )


def _decode_date(payload: Any) -> datetime.date:
    year, month, day = (expect(int, number) for number in expect(list, payload))
    return datetime.date(year, month, day)


def _decode_timedelta(payload: Any) -> datetime.timedelta:
    days, seconds, microseconds = (expect(int, number) for number in expect(list, payload))
    return datetime.timedelta(days, seconds, microseconds)


def _to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _from_base64(payload: Any) -> bytes:
    return base64.b64decode(expect(str, payload), validate=True)


# By exact type: a subclass may carry more than its base class, and is refused.
SIMPLE_WRITERS: Mapping[type, tuple[str, Callable[[Any, str], Any]]] = {
    bytes: ("bytes", lambda obj, path: _to_base64(obj)),
    datetime.date: ("date", lambda obj, path: [obj.year, obj.month, obj.day]),
    datetime.datetime: ("datetime", _encode_datetime),
    datetime.timedelta: (
        "timedelta",
        lambda obj, path: [obj.days, obj.seconds, obj.microseconds],
    ),
    decimal.Decimal: ("decimal", lambda obj, path: str(obj)),
}
SIMPLE_READERS: Mapping[str, Callable[[Any], Any]] = {
    "int": _decode_int,
    "float": lambda payload: _FLOATS[expect(str, payload)],
    "surrogates": _decode_surrogates,
    "bytes": _from_base64,
    "date": _decode_date,
    "datetime": _decode_datetime,
    "timedelta": _decode_timedelta,
    "decimal": lambda payload: decimal.Decimal(expect(str, payload)),
    "scalar": _decode_scalar,
    "dtype": decode_dtype,
}
