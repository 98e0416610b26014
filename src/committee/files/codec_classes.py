"""The classes that a model file may hold, found by name.

Estimators that `committee` exports are known without further ado, private ones and records by
`register`. A file gives names only: nothing is imported because a file says so.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from committee.files.archive import BadContent

Class = TypeVar("Class", bound=type)

_registry: dict[str, type] = {}

# Linear models of scikit-learn, the usual meta-learners of stacks: fitted, they are a few arrays.
LINEAR_MODELS = ("LinearRegression", "LogisticRegression", "Ridge", "RidgeCV")


def register(cls: Class) -> Class:
    """Allow instances of a class in model files, under the name of the class.

    An estimator (a class with ``get_params``) is stored by its parameters and its fitted
    attributes: names that end with "_", and private ones declared in ``_stored_attributes``.
    Names in ``_derived_attributes`` are left out. Any other class is a record: its fields, those
    of the dataclass or of ``_stored_fields``, are both attributes and constructor arguments. Older
    files may lack those in ``_later_fields``, which take their defaults.
    After loading, ``_validate_loaded()`` is called where it exists: it raises ValueError if the
    parts do not fit each other, and builds the derived attributes again.
    Estimators that ``committee`` exports are known without registration.

    Parameters
    ----------
    cls : type
        The class. Its name must not be taken by another registered class.

    Returns
    -------
    cls : type
        The same class, so that this works as a decorator.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from committee.files.codec import decode, encode, register
    >>> @register
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
    if not (is_estimator(cls) or field_names(cls) is not None):
        raise TypeError(f"{cls.__name__} needs get_params, dataclass fields or _stored_fields")
    known = _registry.get(cls.__name__, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"the name {cls.__name__} is taken by {known.__module__}")
    _registry[cls.__name__] = cls
    return cls


def _package() -> ModuleType:
    import committee

    return committee


def storable_class(name: str) -> type | None:
    """Find a class by its public name: registered, part of a table schema, or exported."""
    if name in _registry:
        return _registry[name]
    if name == "FeatureInfo":
        from committee.tables.column import FeatureInfo

        return FeatureInfo
    if name == "TableSchema":
        from committee.tables.table import TableSchema

        return TableSchema
    if name in LINEAR_MODELS:
        import sklearn.linear_model

        linear: type = getattr(sklearn.linear_model, name)
        return linear
    if name in getattr(_package(), "__all__", ()):
        cls = getattr(_package(), name)
        if isinstance(cls, type) and is_estimator(cls) and cls.__module__.startswith("committee."):
            return cls
    return None


def is_estimator(cls: type) -> bool:
    """Tell whether instances are stored by parameters and fitted attributes."""
    return callable(getattr(cls, "get_params", None))


def field_names(cls: type) -> tuple[str, ...] | None:
    """Return the fields of a record, None for a class that is none."""
    declared: tuple[str, ...] | None = getattr(cls, "_stored_fields", None)
    if declared is None and dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls) if field.init)
    return declared


def parameter_names(cls: type) -> set[str]:
    """Return the names that the constructor accepts."""
    parameters = inspect.signature(cls).parameters.values()
    return {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}


def may_be_attribute(cls: type, name: str) -> bool:
    """Tell whether a file may set this attribute of an estimator."""
    if name in getattr(cls, "_stored_attributes", ()):
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
    if type(model).__name__ not in LINEAR_MODELS:
        return params
    usual = type(model)().get_params(deep=False)
    return {name: value for name, value in params.items() if value is not usual[name]}


def build(cls: type, arguments: Mapping[str, Any]) -> Any:
    """Call the constructor with values of a file."""
    try:
        return cls(**arguments)
    except Exception as error:  # the constructor of a registered class may raise anything
        raise BadContent(f"it holds a {cls.__name__} that cannot be built: {error}") from error


def validated(obj: Any) -> Any:
    """Return a loaded object after its own check that its parts fit each other."""
    check: Callable[[], None] | None = getattr(obj, "_validate_loaded", None)
    name = type(obj).__name__
    try:
        if check is not None:
            check()
        elif name in _SCHEMA_CHECKS and not _SCHEMA_CHECKS[name](obj):
            raise ValueError("a field has a wrong type")
    except Exception as error:  # checks meet hostile values and may stumble in any way
        raise BadContent(f"it holds a {name} that is not valid: {error}") from error
    return obj


def _is_feature_info(info: Any) -> bool:
    from committee.tables.column import Kind

    return (
        type(info.name) is str
        and type(info.kind) is Kind
        and type(info.label) is str
        and type(info.has_missing) is bool
        and (info.levels is None or type(info.levels) is tuple)
    )


def _is_table_schema(schema: Any) -> bool:
    from committee.tables.column import FeatureInfo

    names = schema.names
    return (
        type(schema.features) is tuple
        and all(type(feature) is FeatureInfo for feature in schema.features)
        and (names is None or (type(names) is tuple and all(type(name) is str for name in names)))
    )


def _is_linear_model(model: Any) -> bool:
    """Whether the arrays of a fitted linear model fit each other."""
    if not hasattr(model, "coef_"):
        return True
    coefficients, start = np.asarray(model.coef_), np.asarray(model.intercept_)
    n_rows = len(coefficients) if coefficients.ndim == 2 else 1
    n_classes = len(model.classes_) if hasattr(model, "classes_") else 0
    return (
        coefficients.dtype.kind == start.dtype.kind == "f"
        and 1 <= coefficients.ndim <= 2
        and start.size in (1, n_rows)
        and coefficients.shape[-1] == model.n_features_in_
        and (n_classes == 0 or n_rows == (1 if n_classes == 2 else n_classes))
    )


_SCHEMA_CHECKS = {
    "FeatureInfo": _is_feature_info,
    "TableSchema": _is_table_schema,
    **dict.fromkeys(LINEAR_MODELS, _is_linear_model),
}
