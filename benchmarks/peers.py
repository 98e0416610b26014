"""Contestants: an estimator of a library with its settings and its number of threads.

A contestant is plain data, so that a fresh process can build it and a result can record it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from fresh import resolve

_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


@dataclass(frozen=True, slots=True)
class Contestant:
    """An estimator with its settings."""

    label: str
    estimator: str  # "module:class"
    params: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    threads_parameter: str | None = None  # None: the estimator has one thread by nature
    encode: bool = False  # categories become numbers first, for estimators that need it

    @property
    def library(self) -> str:
        """Name of the package to import."""
        return self.estimator.partition(":")[0].partition(".")[0]

    @property
    def key(self) -> str:
        """Label and threads: unique within a part."""
        return f"{self.label}, {self.threads} thread{'s' if self.threads > 1 else ''}"

    def build(self) -> Any:
        """Return the estimator, not yet fitted."""
        params = dict(self.params)
        if self.threads_parameter is not None:
            params[self.threads_parameter] = self.threads
        model = resolve(self.estimator)(**params)
        return with_encoding(model) if self.encode else model


def ours(label: str, estimator: str, *, threads: int = 1, **params: Any) -> Contestant:
    """Return a contestant of this library."""
    return Contestant(
        f"committee {label}".strip(), f"committee:{estimator}", params, threads, "n_jobs"
    )


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


def describe_model(model: Any) -> dict[str, int]:
    """Return the size of a fitted model, as far as it tells."""
    tree = getattr(model, "tree_", None)
    if tree is None:
        return {}
    return {"nodes": int(tree.node_count), "depth": int(tree.max_depth)}


def core_predictor(model: Any, rows: Any) -> Callable[[int], Any] | None:
    """Return a prediction of row i that starts in the C++ core, None for other libraries."""
    tree = getattr(model, "_tree", None)
    if tree is None:
        return None
    from committee import _core

    tables = [_core.Table.from_matrix(rows[i : i + 1]) for i in range(len(rows))]
    return lambda i: tree.predict(tables[i % len(tables)], 1)


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
