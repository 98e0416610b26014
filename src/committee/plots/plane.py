"""Rows on the plane of two features, as ensembles and their members are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.adaboost.learners import codes_of
from committee.base.arrays import Floats
from committee.base.params import check_int
from committee.inspection.ensemble_members import class_labels
from committee.tables.native_table import AnyTable
from committee.tables.source import open_source
from committee.tables.target import check_same_length, read_known_classes, read_reals

Codes = NDArray[np.intp]

# Few rows of two classes are minus and plus, as on the blackboard; others have shapes.
_FEW_ROWS = 60
_MINUS = [(-1.0, -0.34), (1.0, -0.34), (1.0, 0.34), (-1.0, 0.34)]
_SHAPES = ("o", "s", "^", "D", "v", "p", "h", "<", ">", "d")


@dataclass(frozen=True, eq=False)
class PlaneRows:
    """Training rows as points of a plane, with their classes.

    Attributes
    ----------
    native : table
        As members read it.
    classes : ndarray
        Labels of all classes; empty for numbers.
    codes : ndarray of int
        The class of each row; zeros for numbers.
    numbers : ndarray of float64 or None
        The target of each row; None for classes.
    features : tuple of two ints
        Positions, in the order of `fit`, of what is drawn across and up.
    places : ndarray of float64, shape (n_rows, 2)
        Their values.
    names : tuple of two str
        Their names.
    is_plane : bool
        Whether the table has these two features only, so that each point has a prediction.
    """

    native: Any
    classes: NDArray[Any]
    codes: Codes
    numbers: Floats | None
    features: tuple[int, int]
    places: Floats
    names: tuple[str, str]
    is_plane: bool

    @property
    def has_place(self) -> NDArray[np.bool_]:
        """Whether a row has both values."""
        return np.isfinite(self.places[:, 0]) & np.isfinite(self.places[:, 1])

    @property
    def are_few(self) -> bool:
        """Whether there is room for large marks."""
        return len(self.codes) <= _FEW_ROWS

    def marker(self, code: int) -> Any:
        """Return how the rows of a class are drawn."""
        if self.are_few and len(self.classes) == 2:
            return (_MINUS, "P")[code]
        return _SHAPES[code % len(_SHAPES)]

    def limits(self, axis: int) -> tuple[float, float]:
        """Return the ends of the picture along an axis."""
        values = self.places[self.has_place, axis]
        low, high = float(values.min()), float(values.max())
        space = 0.09 * (high - low) or 0.5
        return low - space, high + space

    def predicted(self, model: Any) -> Codes:
        """Return the classes that a member or the committee predicts for the rows."""
        return codes_of(model.predict(self.native), self.classes)

    def predicted_at(self, model: Any, across: Floats, up: Floats) -> Codes:
        """Return the predicted classes of other points of the plane."""
        return codes_of(model.predict(self.table_at(across, up)), self.classes)

    def table_at(self, across: Floats, up: Floats) -> Any:
        """Return a table of other points of the plane, which members read as they read the rows."""
        columns = [across, up] if self.features[0] < self.features[1] else [up, across]
        return table_like(self.native, columns)


def read_rows(model: Any, X: Any, y: Any, features: Any) -> PlaneRows:
    """Return the rows of a table as points, by the two features to draw by."""
    native = in_order(model, X)
    source = open_source(native)
    chosen = _check_features(features, source, numeric_features(model, source))
    classes, codes, numbers = _read_target(model, y)
    check_same_length(source.n_rows, len(codes))
    places = np.column_stack([reals_of(source.column(place)) for place in chosen])
    rows = PlaneRows(
        native,
        classes,
        codes,
        numbers,
        chosen,
        places,
        (name_of(source, chosen[0]), name_of(source, chosen[1])),
        source.n_features == 2,
    )
    if not rows.has_place.any():
        raise ValueError(f"features {rows.names} must have values in some row of X")
    return rows


def _read_target(model: Any, y: Any) -> tuple[NDArray[Any], Codes, Floats | None]:
    labels = class_labels(model)
    if labels:
        return labels[0], read_known_classes(y, labels[0])[:, 0].astype(np.intp), None
    values = read_reals(y)[0][:, 0]
    return np.empty(0), np.zeros(len(values), np.intp), values


def in_order(model: Any, X: Any) -> Any:
    """Return a table with its columns in the order of `fit`; other columns are refused."""
    names = getattr(model, "feature_names_in_", None)
    table = AnyTable(X)
    n_features = int(getattr(model, "n_features_in_", table.n_features))
    known = None if names is None else tuple(names)
    if (known is None) != (table.names is None):
        return table.native  # members say what they think of that
    return table.matched(known, n_features, type(model).__name__).native


def _check_features(features: Any, source: Any, numeric: list[int]) -> tuple[int, int]:
    """Return the positions of the two features to draw by."""
    if features is None:
        if len(numeric) < 2:
            raise ValueError(f"X must have two numeric features to be drawn; it has {len(numeric)}")
        return numeric[0], numeric[1]
    if isinstance(features, str) or len(features) != 2:
        raise ValueError(f"features must be two names or positions; got {features!r}")
    first, second = (_position(entry, source) for entry in features)
    if first == second:
        raise ValueError(f"features must be two different features; got {features!r}")
    for place in (first, second):
        if place not in numeric:
            raise ValueError(
                f"features must be numeric to be drawn; {name_of(source, place)!r} is not"
            )
    return first, second


def _position(entry: Any, source: Any) -> int:
    if isinstance(entry, str):
        if source.names is None or entry not in source.names:
            raise ValueError(f"features must be columns of X; there is no {entry!r}")
        return int(source.names.index(entry))
    return check_int("features", entry, 0, source.n_features - 1)


def numeric_features(model: Any, source: Any) -> list[int]:
    """Return the positions of numbers that members take as numbers."""
    schema = getattr(model, "schema_", None)
    columns = (source.column(k) for k in range(source.n_features))
    seen = columns if schema is None else schema.features
    return [k for k, each in enumerate(seen) if each.label in ("number", "integer")]


def name_of(source: Any, place: int) -> str:
    """Return the name of a column."""
    return f"feature_{place}" if source.names is None else str(source.names[place])


def reals_of(column: Any) -> Floats:
    """Return a column of numbers, NaN where it has none."""
    values = np.array(column.values, np.float64)
    if column.mask is not None:
        values[np.asarray(column.mask, bool)] = np.nan
    return values


def table_like(native: Any, columns: list[Floats]) -> Any:
    """Return a table of new numbers that members read as they read the old one."""
    if isinstance(native, np.ndarray) or not hasattr(native, "columns"):
        return np.column_stack(columns)
    if hasattr(native, "column_names"):  # pyarrow
        return type(native).from_pydict(dict(zip(native.column_names, columns, strict=True)))
    return type(native)(dict(zip(native.columns, columns, strict=True)))
