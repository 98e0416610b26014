"""Tables for the command line: CSV files, read as a model knows them, and predictions as CSV."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.tables.column import FeatureInfo
from committee.tables.csv_file import CsvError, CsvTable, read_csv
from committee.tables.source import Columns


def read_for(model: Any, paths: Sequence[str]) -> tuple[CsvTable, Columns]:
    """Return new files as text, and as the table that a model predicts."""
    table = read_csv(*paths)
    features = known_columns(model)
    missing = [feature.name for feature in features if feature.name not in table.names]
    if missing:
        raise CsvError(
            f"{', '.join(paths)}: column {missing[0]!r} of the training table is missing; the "
            f"columns are {', '.join(map(repr, table.names[:20]))}"
        )
    return table, table.as_fitted(features)


def known_columns(model: Any) -> list[FeatureInfo]:
    """Return the columns of the training table, as new files are to be read."""
    known = {feature.name: feature for feature in model._reader.schema.features}
    columns = []
    for use in model.columns_:
        if use.kind == "category" and use.use == "category":
            columns.append(known[use.name])
        else:  # dates and text stay text; nothing depends on columns that were dropped
            is_text = use.kind == "category" or use.use == "dropped"
            label = "category" if is_text else "number"
            kind = known[next(iter(known))].kind
            columns.append(FeatureInfo(use.name, kind, None, label))
    return columns


def predictions(model: Any, X: Columns) -> dict[str, NDArray[Any]]:
    """Return the columns of predictions, by their names."""
    if not hasattr(model, "predict_proba"):
        return {"prediction": model.predict(X)}
    shares = model.predict_proba(X)
    found = {"prediction": model.classes_[shares.argmax(axis=1)]}
    for place, label in enumerate(model.classes_.tolist()):
        found[f"probability of {label}"] = shares[:, place]
    return found


def write_csv(columns: dict[str, Sequence[Any]], path: str) -> None:
    """Write columns to a file, or to standard output for "-"."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    cells = [
        column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()
    ]
    writer.writerows(zip(*cells, strict=True))
    if path == "-":
        sys.stdout.write(text.getvalue())
    else:
        Path(path).write_text(text.getvalue(), encoding="utf-8")
