"""What the parts of a stored object have to be, as its class declares it.

A class has a dict ``_stored_parts``: for each field or fitted attribute a `Part`, the description
of what a model file may put there. Files are checked against it before anything uses the object,
so that the rest of the code may rely on types, shapes and ranges. Sizes that have to be equal have
a name: ``array("f8", "rounds")`` and ``array("f8", "rounds", "classes")`` share their length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

# The numbers that named sizes have had so far, for the parts of one object.
Sizes = dict[str, int]
Size = int | str | None


@dataclass(frozen=True)
class Part:
    """What a field or a fitted attribute has to be.

    Parameters
    ----------
    what : str
        For messages: "a float of at least 0".
    holds : callable
        ``holds(value, sizes)`` is whether a value is that, and notes the sizes it sees.
    is_optional : bool, default=False
        Whether an attribute may be absent.
    """

    what: str
    holds: Callable[[Any, Sizes], bool]
    is_optional: bool = False

    def __or__(self, other: Part) -> Part:
        """Accept the one or the other."""

        def either(value: Any, sizes: Sizes) -> bool:
            for part in (self, other):
                seen = dict(sizes)  # what does not hold notes no sizes
                if part.holds(value, seen):
                    sizes.update(seen)
                    return True
            return False

        return Part(f"{self.what} or {other.what}", either)


def maybe(part: Part) -> Part:
    """Return the same for an attribute that not every fitted estimator has."""
    return Part(part.what, part.holds, is_optional=True)


def declared_parts(cls: type) -> dict[str, Part]:
    """Return what a class and its bases declare in ``_stored_parts``.

    Examples
    --------
    >>> class Interval:
    ...     _stored_parts = {"low": REAL}
    >>> class Wide(Interval):
    ...     _stored_parts = {"high": REAL}
    >>> list(declared_parts(Wide))
    ['low', 'high']
    """
    parts: dict[str, Part] = {}
    for base in reversed(cls.__mro__):
        parts |= vars(base).get("_stored_parts", {})
    return parts


def check_parts(members: Mapping[str, Any], parts: Mapping[str, Part]) -> Sizes:
    """Raise ValueError unless the members of an object are as declared; return the sizes.

    Examples
    --------
    >>> parts = {"low": REAL, "values": array("f8", "rows")}
    >>> check_parts({"low": 0.5, "values": np.zeros(3)}, parts)
    {'rows': 3}
    >>> check_parts({"low": 1, "values": np.zeros(3)}, parts)
    Traceback (most recent call last):
    ValueError: low must be a finite float; got int
    """
    sizes: Sizes = {}
    for name, part in parts.items():
        if name not in members:
            if not part.is_optional:
                raise ValueError(f"{name} is missing")
        elif not part.holds(members[name], sizes):
            raise ValueError(f"{name} must be {part.what}; got {_label(members[name])}")
    return sizes


def _label(value: Any) -> str:
    """Describe a value without showing it: its repr could be long or fail."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    is_short = value is None or isinstance(value, bool)
    return repr(value) if is_short else type(value).__name__


def _fits(size: Size, number: int, sizes: Sizes) -> bool:
    """Whether a size is the given one, or the one noted under that name before."""
    if size is None:
        return True
    return number == (size if isinstance(size, int) else sizes.setdefault(size, number))


# ---- parts ----


def instance(*classes: type) -> Part:
    """Accept instances of some classes, not of their subclasses."""
    what = " or ".join(f"a {cls.__name__}" for cls in classes)
    return Part(what, lambda value, sizes: type(value) in classes)


def any_of(*classes: type) -> Part:
    """Accept instances of some classes and of their subclasses."""
    what = " or ".join(f"a {cls.__name__}" for cls in classes)
    return Part(what, lambda value, sizes: isinstance(value, classes))


def one_of(*values: Any) -> Part:
    """Accept some simple values, of their own type."""
    known = {(type(value), value) for value in values}

    def holds(value: Any, sizes: Sizes) -> bool:
        return type(value) in {kind for kind, _ in known} and (type(value), value) in known

    return Part(f"one of {', '.join(map(repr, values))}", holds)


def whole(low: int = 0, high: int = 2**64 - 1, size: Size = None) -> Part:
    """Accept an int in a range, which may itself be the number of something."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return type(value) is int and low <= value <= high and _fits(size, value, sizes)

    return Part(f"an int from {low} to {high}" if size is None else f"the number of {size}", holds)


def real(low: float = -math.inf, *, may_be_nan: bool = False) -> Part:
    """Accept a float that is finite (or NaN) and not below a bound."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if type(value) is not float:
            return False
        return value >= low and value < math.inf if value == value else may_be_nan

    bound = "" if low == -math.inf else f" of at least {low}"
    return Part(f"a float{bound}" if may_be_nan else f"a finite float{bound}", holds)


def array(dtype: str, *shape: Size, low: float = -math.inf, finite: bool = False) -> Part:
    """Accept an array.

    Parameters
    ----------
    dtype : str
        Its type, such as "f8", or the letters of the kinds that it may have, such as "iu".
    *shape : int, str or None
        Its size in each dimension: a number, the name of a number, or None for any.
    low : float, default=-inf
        What no entry is below.
    finite : bool, default=False
        Whether all entries have to be finite.
    """
    own = np.dtype(dtype) if any(letter.isdigit() for letter in dtype) else None

    def holds(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, np.ndarray) or value.ndim != len(shape):
            return False
        if value.dtype != own if own is not None else value.dtype.kind not in dtype:
            return False
        pairs = zip(shape, value.shape, strict=True)
        if not all(_fits(size, number, sizes) for size, number in pairs):
            return False
        if finite and not np.isfinite(value).all():
            return False
        return low == -math.inf or bool((value >= low).all())

    kind = dtype if own is None else own.name
    sizes = ", ".join("any" if size is None else str(size) for size in shape)
    more = (" finite" if finite else "") + ("" if low == -math.inf else f" entries from {low}")
    return Part(f"an array of {kind} of shape ({sizes}){' with' + more if more else ''}", holds)


def list_of(part: Part, size: Size = None, kind: Any = list, least: int = 0) -> Part:
    """Accept a list (or a tuple) of parts of one sort."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if type(value) is not kind or len(value) < least or not _fits(size, len(value), sizes):
            return False
        return all(part.holds(each, sizes) for each in value)

    return Part(f"a {kind.__name__} of {part.what}", holds)


def tuple_of(part: Part, size: Size = None, least: int = 0) -> Part:
    """Accept a tuple of parts of one sort."""
    return list_of(part, size, tuple, least)


def dict_of(part: Part) -> Part:
    """Accept a dict from text to parts of one sort."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if type(value) is not dict or not all(isinstance(name, str) for name in value):
            return False
        return all(part.holds(each, sizes) for each in value.values())

    return Part(f"a dict of {part.what}", holds)


def labels(size: Size = None) -> Part:
    """Accept an array of distinct labels of classes."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or not len(value):
            return False
        is_known = value.dtype.kind in "biufUSOMm" and len(set(value.tolist())) == len(value)
        return is_known and _fits(size, len(value), sizes)

    return Part("an array of distinct labels", holds)


def _are_names(value: Any, sizes: Sizes) -> bool:
    if not isinstance(value, np.ndarray) or value.dtype.kind != "O" or value.ndim != 1:
        return False
    is_text = all(type(name) is str for name in value.tolist())
    return is_text and _fits("features", len(value), sizes)


def _is_fitted(value: Any, sizes: Sizes) -> bool:
    if not callable(getattr(value, "get_params", None)) or isinstance(value, type):
        return False
    own = getattr(value, "__sklearn_is_fitted__", None)
    return any(name.endswith("_") for name in vars(value)) if own is None else bool(own())


NOTHING = Part("None", lambda value, sizes: value is None)
FLAG = Part("a bool", lambda value, sizes: type(value) is bool)
TEXT = Part("text", lambda value, sizes: type(value) is str)
REAL = real()
NUMBER = Part("a float", lambda value, sizes: type(value) is float)
LABELS = labels()
NAMES = Part("an array of a name for each feature", _are_names)
FITTED = Part("a fitted estimator", _is_fitted)
ANYTHING = Part("anything", lambda value, sizes: True)

# Attributes that mean the same in every estimator, and what they are.
COMMON_PARTS: dict[str, Part] = {
    "n_features_in_": maybe(whole(1, 2**32, "features")),
    "feature_names_in_": maybe(NAMES),
    "n_outputs_": maybe(whole(1, 2**32)),
    "n_classes_": maybe(whole(1) | list_of(whole(1))),
    "classes_": maybe(labels("classes") | list_of(LABELS, least=1)),
}


# Those that every fitted classifier has.
CLASS_PARTS: dict[str, Part] = {
    "classes_": LABELS | list_of(LABELS, least=1),
    "n_classes_": whole(1) | list_of(whole(1)),
}


def check_common(members: Mapping[str, Any]) -> None:
    """Raise ValueError unless numbers of classes and outputs fit the labels of a classifier."""
    labels: Any = members.get("classes_")
    if labels is None:
        return
    is_list = isinstance(labels, list)
    counts: Any = [len(each) for each in labels] if is_list else len(labels)
    if members.get("n_classes_", counts) != counts:
        raise ValueError("n_classes_ must be the number of labels of each output")
    if members.get("n_outputs_", 1) != (len(labels) if is_list else 1) and "n_outputs_" in members:
        raise ValueError("classes_ must be a list of labels for each of several outputs")
