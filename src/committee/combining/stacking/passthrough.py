"""Predictions of members as columns beside those of a table, for `passthrough=True`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import hstack as sparse_hstack
from scipy.sparse import issparse

from committee.base.arrays import Floats
from committee.tables.frame import as_narwhals


def with_columns(columns: Sequence[Floats], table: Any) -> Any:
    """Return columns of numbers before those of a table, as a table that an estimator can read.

    Tables of numbers become an array, as in scikit-learn; frames with other columns stay frames.
    """
    if issparse(table):
        return sparse_hstack([*columns, table], format=table.format)
    if isinstance(table, np.ndarray):
        return np.hstack([*columns, table])
    frame = as_narwhals(table)
    if frame is table:
        return np.hstack([*columns, np.asarray(table)])
    if all(dtype.is_numeric() for dtype in frame.schema.values()):
        return np.hstack([*columns, frame.to_numpy()])
    return _beside_frame(np.hstack(columns), table, frame)


def _beside_frame(values: Floats, table: Any, frame: Any) -> Any:
    import narwhals as nw

    names = []
    for number in range(values.shape[1]):
        name = f"prediction{number}"
        while name in frame.columns:
            name += "_"
        names.append(name)
    backend = nw.get_native_namespace(frame)
    columns = [
        nw.new_series(name, np.ascontiguousarray(values[:, k]), backend=backend)
        for k, name in enumerate(names)
    ]
    if hasattr(table, "index"):  # pandas puts rows side by side by their labels
        columns = [
            nw.from_native(c.to_native().set_axis(table.index), series_only=True) for c in columns
        ]
    return frame.with_columns(*columns).select(*names, *frame.columns).to_native()
