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
import types
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


def cannot_store(
    obj: Any, path: str, what: str | None = None, *, reason: str | None = None
) -> TypeError:
    """Build the error for an object that a model file does not hold."""
    kind = type(obj)
    if what is None and hasattr(kind, "fit") and hasattr(kind, "get_params"):
        why = f" of {kind.__module__.partition('.')[0]!r}" if reason is None else f": {reason}"
        return TypeError(
            f"{path}: cannot be stored safely: {kind.__name__}{why}. A model file holds estimators "
            "of committee, the common preprocessors and linear models of scikit-learn (see the "
            "page on model files), arrays and plain Python values. Use one of these, or store the "
            "model by skops.io.dump, or by pickle for files that only you can write"
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


# Classes and functions that are parameters of scikit-learn's estimators, by their names.
_TYPES: Mapping[str, type] = {
    **{kind.__name__: kind for kind in (bool, float, int, object, str)},
    **{
        f"numpy.{name}": getattr(np, name)
        for name in (
            *("number", "integer", "floating", "bool_", "object_", "str_"),
            *("float16", "float32", "float64", "int8", "int16", "int32", "int64"),
            *("uint8", "uint16", "uint32", "uint64", "datetime64", "timedelta64"),
        )
    },
}
_FUNCTIONS = (
    *("chi2", "f_classif", "f_regression", "r_regression"),
    *("mutual_info_classif", "mutual_info_regression"),
)


def _encode_type(kind: type, path: str) -> str:
    name = next((name for name, known in _TYPES.items() if known is kind), None)
    if name is None:
        raise cannot_store(kind, path, f"the class {kind.__name__}")
    return name


def _encode_function(function: Any, path: str) -> str:
    name = str(function.__name__)
    if name in _FUNCTIONS and function is _decode_function(name):
        return name
    raise cannot_store(function, path, "function")


def _decode_function(payload: Any) -> Any:
    import sklearn.feature_selection

    if expect(str, payload) not in _FUNCTIONS:
        raise BadContent("it holds a function that this committee does not know")
    return getattr(sklearn.feature_selection, payload)


def _encode_slice(part: slice, path: str) -> list[Any]:
    ends = [part.start, part.stop, part.step]
    if not all(end is None or type(end) in (int, str) for end in ends):
        raise cannot_store(part, path)
    return ends


def _decode_slice(payload: Any) -> slice:
    start, stop, step = expect(list, payload)
    if not all(end is None or type(end) in (int, str) for end in (start, stop, step)):
        raise BadContent("it holds a slice that is not from number to number")
    return slice(start, stop, step)


# Those whose state is two integers; NumPy checks that these fit.
_GENERATORS = ("PCG64", "PCG64DXSM")


def encode_generator(generator: np.random.Generator, path: str) -> dict[str, Any]:
    """Write the state of a generator of random numbers."""
    state: Any = generator.bit_generator.state
    name = str(state["bit_generator"])
    if name not in _GENERATORS:
        raise cannot_store(generator, path, f"a Generator on {name}")
    return {
        "name": name,
        "state": f"{state['state']['state']:x}",
        "inc": f"{state['state']['inc']:x}",
        "has_uint32": int(state["has_uint32"]),
        "uinteger": int(state["uinteger"]),
    }


def _decode_generator(payload: Any) -> np.random.Generator:
    name, state, inc, has_uint32, uinteger = members_of(
        payload, "name", "state", "inc", "has_uint32", "uinteger"
    )
    numbers = [_decode_int(number) for number in (state, inc)]
    if expect(str, name) not in _GENERATORS or not all(0 <= n < 2**128 for n in numbers):
        raise BadContent("it holds a generator whose state is out of range")
    if expect(int, has_uint32) not in (0, 1) or not 0 <= expect(int, uinteger) < 2**32:
        raise BadContent("it holds a generator whose state is out of range")
    generator: Any = getattr(np.random, name)(0)
    generator.state = {
        "bit_generator": name,
        "state": dict(zip(("state", "inc"), numbers, strict=True)),
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(generator)


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
    slice: ("slice", _encode_slice),
    type: ("type", _encode_type),
    types.FunctionType: ("function", _encode_function),
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
    "slice": _decode_slice,
    "type": lambda payload: _TYPES[expect(str, payload)],
    "function": _decode_function,
    "generator": _decode_generator,
}
