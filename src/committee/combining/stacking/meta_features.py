"""Opinions of members as columns that a learner can read, beside those of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack as sparse_hstack
from scipy.sparse import issparse

from committee.members.output import Voice
from committee.tables.frame import as_narwhals
from committee.tables.native_table import AnyTable

Floats = NDArray[np.float64]


# Log-odds are told of probabilities up to so near to zero and one: a forest of a hundred trees that
# says zero may be wrong once in a while, and infinite columns would decide everything.
LEAST_SHARE = 0.01


def meta_features(
    opinions: Sequence[Floats], voices: Sequence[Voice], table: AnyTable | None
) -> Any:
    """Return opinions as columns, before those of a table where one is given.

    Examples
    --------
    >>> said = [np.array([[0.5, 0.5], [1.0, 0.0]])]
    >>> meta_features(said, [Voice("predict_proba", 2)], None).tolist()
    [[0.5], [0.0]]
    >>> meta_features(said, [Voice("predict_proba", 2, as_log_odds=True)], None).round(2).tolist()
    [[0.0], [-4.6]]
    """
    columns = [_columns(each, voice) for each, voice in zip(opinions, voices, strict=True)]
    return np.hstack(columns) if table is None else with_columns(columns, table.native)


def n_meta_columns(voice: Voice) -> int:
    """Return the number of columns that an opinion becomes."""
    if voice.n_labels:
        return voice.n_labels
    return 1 if voice.n_classes in (0, 2) or voice.method == "predict" else voice.n_classes


def _columns(opinion: Floats, voice: Voice) -> Floats:
    """Return an opinion as columns for a learner, as scikit-learn has them."""
    if voice.n_classes and voice.method == "predict":
        return np.asarray(opinion.argmax(axis=1)[:, np.newaxis], np.float64)
    if voice.n_classes == 2 and opinion.shape[1] == 2:
        opinion = opinion[:, 1:]  # the other is what is left to one
    return log_odds(opinion) if voice.as_log_odds else opinion


def log_odds(shares: Floats) -> Floats:
    """Return log(p / (1 - p)) of probabilities, those next to zero and one drawn in."""
    inner = np.clip(shares, LEAST_SHARE, 1 - LEAST_SHARE)
    return np.asarray(np.log(inner) - np.log1p(-inner))


def with_columns(columns: Sequence[Floats], table: Any) -> Any:
    """Return columns of numbers before those of a table, as a table that a learner can read.

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
        name = f"opinion{number}"
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
