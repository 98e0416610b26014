"""The classes that a model file may hold, found by their tags.

A tag stands in a file in place of a class. It never changes, whatever becomes of the name and
of the module of the class. Estimators that `committee` exports have their public name as tag; other
classes get one by `register`. Nothing but a public name is imported because a file names it.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

from committee.files.archive import BadContent
from committee.files.parts import COMMON_PARTS, check_common, check_parts, declared_parts
from committee.files.sklearn_classes import SKLEARN, sklearn_class
from committee.files.sklearn_stored import Stored, parameter_defaults, sklearn_version

Class = TypeVar("Class", bound=type)

_classes: dict[str, type] = {}  # by tag: estimators and records
_enums: dict[str, type[IntEnum]] = {}
_tags: dict[type, str] = {}  # of all of these


def register(tag: str) -> Callable[[Class], Class]:
    """Return a decorator that allows instances of a class in model files.

    An estimator (a class with ``get_params``) is stored by its parameters and its fitted
    attributes: names that end with "_", and private ones declared in ``_stored_parts``.
    Names in ``_derived_attributes`` are left out. Any other class is a record: its fields, those
    of the dataclass or of ``_stored_fields``, are both attributes and constructor arguments. Older
    files may lack those in ``_later_fields``, which take their defaults; those in
    ``_optional_fields`` are left out of all files while they have their defaults. Records of a
    class with ``_is_shared``, which are never changed and hold no arrays, are written once where
    several are equal. An ``IntEnum`` is stored as the tag with its number.
    Parameters, attributes and fields have in files the names that they have in Python, or those
    of the dict ``_stored_names``: ``{"name in Python": "name in files"}``.
    What is loaded has to be as ``_stored_parts`` declares (see `committee.files.parts`). Then
    ``_validate_loaded()`` is called where it exists: it raises ValueError if the parts do not fit
    each other, and builds the derived attributes again.
    Estimators that ``committee`` exports are known without registration.

    Parameters
    ----------
    tag : str
        What files call the class, for ever: it stays when the class is renamed. No other class
        may have it, and for an enum it must not be one of the tags in docs/model-file.md.

    Returns
    -------
    decorate : callable
        Takes the class and returns the same class.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from committee.files.codec import decode, encode, register
    >>> @register("Bounds")
    ... @dataclass
    ... class Bounds:
    ...     low: float
    ...     high: float
    >>> value, arrays = encode(Bounds(0.25, 0.5))
    >>> value
    {'record': {'class': 'Bounds', 'fields': {'low': 0.25, 'high': 0.5}}}
    >>> decode(value, arrays)
    Bounds(low=0.25, high=0.5)
    """

    def decorate(cls: Class) -> Class:
        registry: dict[str, Any] = _enums if issubclass(cls, IntEnum) else _classes
        if registry is _classes and not is_estimator(cls) and field_names(cls) is None:
            raise TypeError(f"{cls.__name__} needs get_params, dataclass fields or _stored_fields")
        known = registry.get(tag, cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"the tag {tag} is taken by {known.__module__}.{known.__qualname__}")
        _tags.pop(known, None)  # the same class before its module was loaded again
        registry[tag], _tags[cls] = cls, tag
        return cls

    return decorate


def _package() -> ModuleType:
    import committee

    return committee


def storable_class(tag: str) -> type | None:
    """Find an estimator or a record by its tag."""
    if tag in _classes:
        return _classes[tag]
    if tag in SKLEARN:
        return sklearn_class(tag)
    if tag in getattr(_package(), "__all__", ()):
        cls = getattr(_package(), tag)
        if isinstance(cls, type) and is_estimator(cls):
            return cls
    return None


def enum_class(tag: str) -> type[IntEnum] | None:
    """Find an enum by its tag."""
    return _enums.get(tag)


def tag_of(cls: type) -> str | None:
    """Return what files call a class; None if it cannot be stored."""
    if cls in _tags:
        return _tags[cls]
    return cls.__name__ if storable_class(cls.__name__) is cls else None


def stored_names(cls: type) -> dict[str, str]:
    """Return the names in files of what has another name in Python."""
    names: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        names |= vars(base).get("_stored_names", {})
    return names


def python_name(cls: type, stored: str) -> str | None:
    """Return the name in Python of a name in a file; None if there is none."""
    names = stored_names(cls)
    for name, other in names.items():
        if other == stored:
            return name
    return None if stored in names else stored


def sklearn_entry(cls: type) -> Stored | None:
    """Return how a class of scikit-learn is stored; None for other classes."""
    is_known = cls.__name__ in SKLEARN and sklearn_class(cls.__name__) is cls
    return SKLEARN[cls.__name__] if is_known else None


def is_estimator(cls: type) -> bool:
    """Tell whether instances are stored by parameters and fitted attributes."""
    return callable(getattr(cls, "get_params", None))


def field_names(cls: type) -> tuple[str, ...] | None:
    """Return the fields of a record, None for a class that is none."""
    if sklearn_entry(cls) is not None and not is_estimator(cls):
        return tuple(parameter_defaults(cls))
    declared: tuple[str, ...] | None = getattr(cls, "_stored_fields", None)
    if declared is None and dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls) if field.init)
    return declared


def is_shared(cls: type) -> bool:
    """Return whether equal records of a class are written once."""
    return bool(getattr(cls, "_is_shared", False))


def optional_fields(cls: type) -> dict[str, Any]:
    """Return the fields of a record that files hold only if they differ from these defaults."""
    declared = getattr(cls, "_optional_fields", ())
    if not declared:
        return {}
    return {each.name: each.default for each in dataclasses.fields(cls) if each.name in declared}


@cache  # an ensemble may have many members of a class, and signatures take long
def parameter_names(cls: type) -> frozenset[str]:
    """Return the names of parameters that files may hold."""
    entry = sklearn_entry(cls)
    if entry is not None:
        return frozenset(parameter_defaults(cls)) - frozenset(entry.unstored)
    parameters = inspect.signature(cls).parameters.values()
    return frozenset(
        p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    )


def may_be_attribute(cls: type, name: str) -> bool:
    """Tell whether a file may set this attribute of an estimator."""
    entry = sklearn_entry(cls)
    if entry is not None:
        return entry.may_be_attribute(cls, name)
    if name in declared_parts(cls) and name not in parameter_names(cls):
        return True
    # A name that the class itself defines (a method, a property) is never an instance's own.
    is_public = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*_", name) is not None
    is_derived = name in getattr(cls, "_derived_attributes", ())
    return is_public and not is_derived and not hasattr(cls, name)


def stored_params(model: Any) -> dict[str, Any]:
    """Return the parameters that a file holds.

    Of estimators of scikit-learn these are the ones that differ from their defaults: other
    versions may have other parameters.
    """
    params: dict[str, Any] = model.get_params(deep=False)
    if sklearn_entry(type(model)) is None:
        return params
    cls: type = type(model)
    usual, known = parameter_defaults(cls), parameter_names(cls)
    return {k: value for k, value in params.items() if k in known and value is not usual[k]}


def fitted_attributes(model: Any) -> dict[str, Any]:
    """Return the attributes that a file holds; raise TypeError if one is not known."""
    cls, entry = type(model), sklearn_entry(type(model))
    if entry is not None:
        return entry.attributes(model)
    left_out = {
        *model.get_params(deep=False),
        *getattr(cls, "_derived_attributes", ()),
        *getattr(cls, "_unstored_attributes", ()),
    }
    attributes = {name: obj for name, obj in vars(model).items() if name not in left_out}
    for name in attributes:
        if not may_be_attribute(cls, name):
            raise TypeError(
                f".{name}: cannot be stored: fitted attributes of {cls.__name__} end with "
                '"_" or are declared in its _stored_parts'
            )
    return attributes


def build(cls: type, arguments: Mapping[str, Any]) -> Any:
    """Call the constructor with values of a file."""
    try:
        return cls(**arguments)
    except Exception as error:  # the constructor of a registered class may raise anything
        raise BadContent(f"it holds a {cls.__name__} that cannot be built: {error}") from error


def is_fitted(attributes: Mapping[str, Any]) -> bool:
    """Whether a fit has set some of the attributes."""
    return not attributes.keys() <= {"_sklearn_output_config"}  # which `set_output` sets


def check_declared(cls: type, members: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """Raise BadContent unless the parts of an object are what its class declares.

    Parameters
    ----------
    cls : type
        The class.
    members : dict
        Parameters of an estimator, or fields of a record.
    attributes : dict
        Fitted attributes of an estimator; none if it is not fitted.
    """
    entry = sklearn_entry(cls)
    declared = declared_parts(cls) if entry is None else entry.declared
    given = {**members, **attributes}
    parts = {name: part for name, part in declared.items() if name in given}
    try:
        if is_fitted(attributes):
            parameters = parameter_names(cls)
            parts |= {name: part for name, part in declared.items() if name not in parameters}
            check_common(attributes)
            parts = COMMON_PARTS | parts
        check_parts(given, parts)
    except Exception as error:  # checks meet hostile values and may stumble in any way
        raise BadContent(f"it holds a {cls.__name__} that is not valid: {error}") from error


def validated(obj: Any, attributes: Mapping[str, Any] | None = None) -> Any:
    """Return a loaded object after its own check that its parts fit each other."""
    check: Callable[[], None] | None = getattr(obj, "_validate_loaded", None)
    entry = sklearn_entry(type(obj))
    try:
        if check is not None:
            check()
        elif entry is not None and is_fitted(attributes or {}):
            entry.trial(obj)
    except Exception as error:  # checks meet hostile values and may stumble in any way
        where = "" if entry is None else f" in scikit-learn {sklearn_version()}"
        raise BadContent(
            f"it holds a {type(obj).__name__} that is not valid{where}: {error}"
        ) from error
    return obj
