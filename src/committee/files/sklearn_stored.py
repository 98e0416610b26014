"""How a class of scikit-learn is stored in a model file: its attributes, and a trial of them.

Attributes differ between versions of scikit-learn. A loaded estimator has to predict a few rows
before it is used (`Stored.trial`): one that lacks an attribute is refused, whatever the version.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from committee.files.parts import Part, maybe

_KINDS_OF_OUTPUT = (None, "default", "pandas", "polars")
_OUTPUT = Part(
    "a dict with the kind of the output",
    lambda value, sizes: value in [{}, *({"transform": kind} for kind in _KINDS_OF_OUTPUT)],
)

# Attributes of all of them.
_COMMON: dict[str, Part] = {
    "_sklearn_output_config": maybe(_OUTPUT),  # of set_output
}


@dataclass(frozen=True)
class Stored:
    """A class of scikit-learn in model files.

    Parameters
    ----------
    module : str
        Where it is imported from.
    parts : dict of Part
        Parameters and attributes that predictions need.
    unstored : tuple of str
        Attributes and parameters that are left out, because predictions do without them.
    rows : callable or None
        Makes rows for a trial of a fitted estimator; None: it is not tried.
    check : callable or None
        Raises ValueError unless the attributes of a loaded estimator fit each other.
    """

    module: str
    parts: Mapping[str, Part] = field(default_factory=dict)
    unstored: tuple[str, ...] = ()
    rows: Callable[[Any], Any] | None = None
    check: Callable[[Any], None] | None = None

    @property
    def declared(self) -> dict[str, Part]:
        """What parameters and attributes have to be."""
        return _COMMON | dict(self.parts)

    def may_be_attribute(self, cls: type, name: str) -> bool:
        """Whether a file may set an attribute: a declared one, or a public one as users read it."""
        if name in self.declared:
            return True
        return name.endswith("_") and not name.startswith("_") and not hasattr(cls, name)

    def attributes(self, model: Any) -> dict[str, Any]:
        """Return the fitted attributes to store; raise TypeError for an unknown private one."""
        cls: type = type(model)
        own, stored = parameter_defaults(cls), {}
        for name, value in vars(model).items():
            if name in own or name in self.unstored or name in _set_by_constructor(cls):
                continue
            if not self.may_be_attribute(cls, name):
                raise TypeError(
                    f".{name}: cannot be stored safely: this attribute of {cls.__name__} in "
                    f"scikit-learn {sklearn_version()} is not known to this committee. Store the "
                    "model by skops.io.dump, or by pickle for files that only you can write"
                )
            stored[name] = value
        return stored

    def trial(self, model: Any) -> None:
        """Raise ValueError unless a fitted estimator predicts or transforms a few rows."""
        if hasattr(model, "_parameter_constraints"):
            model._validate_params()
        if self.check is not None:
            self.check(model)
        rows = None if self.rows is None else self.rows(model)
        if rows is None:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rows of a trial have no names of columns
            for name in ("transform", "predict", "predict_proba"):
                if hasattr(model, name):
                    result = getattr(model, name)(rows)
                    if result.shape[0] != len(rows):
                        raise ValueError(f"{name} returns another number of rows")


def sklearn_version() -> str:
    """Return the version of scikit-learn that is installed."""
    import sklearn

    return str(sklearn.__version__)


@cache
def parameter_defaults(cls: type) -> dict[str, Any]:
    """Return the parameters of the constructor with their defaults, in order."""
    return {name: each.default for name, each in inspect.signature(cls).parameters.items()}


@cache
def _set_by_constructor(cls: type) -> frozenset[str]:
    """Return the attributes that every instance has, such as the fixed parameters of a base."""
    try:
        return frozenset(vars(cls()))
    except TypeError:  # it has parameters without a default
        return frozenset(parameter_defaults(cls))
