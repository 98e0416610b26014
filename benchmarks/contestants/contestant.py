"""Contestants: an estimator of a library with its settings and its number of threads.

A contestant is plain data, so that a fresh process can build it and a result can record it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

import numpy as np
from benchmarks.harness.fresh import resolve
from benchmarks.harness.measure import say

# The environment variable of `run.py --max-threads`: what a small run may use of a busy machine.
MAX_THREADS = "COMMITTEE_MAX_THREADS"
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "sklearnex": "scikit-learn-intelex"}


@dataclass(frozen=True, slots=True)
class Contestant:
    """An estimator with its settings."""

    label: str
    estimator: str  # "module:class"
    params: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    threads_parameter: str | None = None  # None: the estimator has one thread by nature
    encode: bool = False  # categories become numbers first, for estimators that need it
    package: str = ""  # what to import, if the estimator is an adapter of ours
    python_variable: str = ""  # the environment variable that names its own interpreter
    layout: str = "C"  # of the training array: "F" is column by column
    simd: str = ""  # the instruction set of ours, for the whole process; empty: the best there is

    @property
    def library(self) -> str:
        """Name of the package to import."""
        return self.package or self.estimator.partition(":")[0].partition(".")[0]

    @property
    def key(self) -> str:
        """Label and threads: unique within a part."""
        return f"{self.label}, {self.threads} thread{'s' if self.threads > 1 else ''}"

    @property
    def python(self) -> str:
        """The interpreter that runs it."""
        return os.environ[self.python_variable] if self.python_variable else sys.executable

    def arrange(self, X: Any) -> Any:
        """Return a training array in the layout that suits the library."""
        return np.asarray(X, order="F" if self.layout == "F" else "C")

    def build(self) -> Any:
        """Return the estimator, not yet fitted."""
        if self.simd:
            resolve("committee._core:set_simd_level")(self.simd)
        params = {name: _value(value) for name, value in self.params.items()}
        if self.threads_parameter is not None:
            params[self.threads_parameter] = self.threads
        model = resolve(self.estimator)(**params)
        return with_encoding(model) if self.encode else model

    def missing(self) -> str | None:
        """Say what keeps it from taking part; None: nothing."""
        if self.python_variable:
            if self.python_variable not in os.environ:
                return f"{self.python_variable} does not name its interpreter"
            return None
        if find_spec(self.library) is None:
            return f"{self.library} is not installed"
        module, _, name = self.estimator.partition(":")
        if not hasattr(import_module(module), name):
            return f"{module} has no {name}"
        return None if has_simd(self.simd) else f"no instructions {self.simd} here"


def allowed_threads(*wanted: int) -> tuple[int, ...]:
    """Return the numbers of threads that may be used; one thread always may."""
    limit = int(os.environ.get(MAX_THREADS, max(wanted)))
    return tuple(threads for threads in wanted if threads <= max(1, limit))


def has_simd(level: str) -> bool:
    """Tell whether ours can be told to use an instruction set."""
    if not level:
        return True
    try:
        resolve("committee._core:set_simd_level")(level)
        resolve("committee._core:set_simd_level")("auto")
    except ValueError:
        return False
    return True


def ours(label: str, estimator: str, /, *, threads: int = 1, **params: Any) -> Contestant:
    """Return a contestant of this library."""
    return Contestant(
        f"committee {label}".strip(), f"committee:{estimator}", params, threads, "n_jobs"
    )


def libraries_here(contestants: Iterable[Contestant]) -> tuple[str, ...]:
    """Return the import names of those that can run in this interpreter."""
    return tuple(
        each.library for each in contestants if not each.python_variable and not each.missing()
    )


def nested(estimator: str, **params: Any) -> dict[str, Any]:
    """Return an estimator ("module:class") as the value of a parameter of a contestant."""
    return {"build": estimator, "params": params}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping) and "build" in value:
        return resolve(value["build"])(**value["params"])
    return value


def taking_part(contestants: Iterable[Contestant]) -> list[Contestant]:
    """Return those that can run here, and say why the others cannot."""
    present = []
    for contestant in contestants:
        reason = contestant.missing()
        if reason is None:
            present.append(contestant)
        else:
            say(f"  left out, {contestant.key}: {reason}")
    return present


def with_encoding(model: Any) -> Any:
    """Put the usual preparation of a raw table before an estimator that takes only numbers.

    Levels are numbered; levels that training did not see become -1. Missing values stay missing:
    scikit-learn's trees send them to the better side, which serves them better than imputation.
    """
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    is_text = make_column_selector(dtype_include=["category", "object", "string"])
    columns = make_column_transformer((encoder, is_text), remainder="passthrough")
    return make_pipeline(columns, model)


def versions(libraries: Iterable[str]) -> dict[str, str]:
    """Return the versions of packages by their import names."""
    found = {}
    for library in sorted({*libraries, "numpy"}):
        name = _DISTRIBUTIONS.get(library, library)
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # a source folder on the path is not installed
            found[name] = str(resolve(f"{library}:__version__"))
    return found
