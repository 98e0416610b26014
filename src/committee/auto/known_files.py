"""New files for a fitted committee, read as it knows its columns and never inferred anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.auto.columns import ColumnUse
from committee.base.arrays import Rows
from committee.io.column_format import ColumnFormat, FileFormat
from committee.io.csv_table import CsvOptions, CsvTable
from committee.io.errors import TableFileError, listed, no_column
from committee.io.reading import FileTable, read_table_file
from committee.tables.column import Column, Level
from committee.tables.source import Source


@dataclass(frozen=True, eq=False)
class KnownTable:
    """New rows in files, and the model that they are for.

    Attributes
    ----------
    table : FileTable
        The cells.
    model : CommitteeClassifier or CommitteeRegressor
        Fitted.
    """

    table: FileTable
    model: Any

    @classmethod
    def open(
        cls, model: Any, paths: Sequence[str | Path], options: CsvOptions | None = None
    ) -> KnownTable:
        """Read files; the columns that the model uses have to be there."""
        names = names_of(model)
        file_format = getattr(model, "file_format_", None)
        known = [names] if file_format is None else [file_format.names, names]
        table = read_table_file(paths, options, known)
        used = [use.name for use in model.columns_ if use.use != "dropped"]
        missing = [name for name in used if name not in table.names]
        if len(missing) == 1:
            raise TableFileError(f"{no_column(missing[0], table.names, table.title)}")
        if missing:
            raise TableFileError(
                f"{table.title} lacks {len(missing)} columns of the training table: "
                f"{listed(missing)}. Its columns are {listed(table.names)}"
            )
        return cls(table, model)

    @property
    def X(self) -> Source:
        """The columns that the model was fitted to, in its order."""
        if not isinstance(self.table, CsvTable):
            return self.table.source(names_of(self.model))
        known = {
            feature.name: feature.levels
            for feature in self.model._reader.schema.features
            if feature.levels is not None
        }
        found = None if hasattr(self.model, "file_format_") else self.table.decided()
        formats = tuple(_format(self.model, use, found) for use in self.model.columns_)
        marks = getattr(self.model, "file_format_", FileFormat(formats)).marks
        # Nothing depends on what was dropped: it is not even looked at.
        dropped = {use.name for use in self.model.columns_ if use.use == "dropped"}
        return self.table.source(FileFormat(formats, marks), known, dropped)

    def target(self, name: str) -> tuple[NDArray[Any], Rows]:
        """Return the true values of a target, and the rows that have one.

        Labels are codes of the classes of the model.
        """
        column = self._target_column(name)
        rows = np.flatnonzero(~column.missing())
        if len(rows) == 0:
            raise TableFileError(f"the column {name!r} of {self.table.title} is empty")
        present = column if len(rows) == len(column.values) else column.take(rows)
        if hasattr(self.model, "classes_"):
            return _codes(present, self.model.classes_, name), rows
        if present.levels is not None:
            raise TableFileError(
                f"the column {name!r} of {self.table.title} holds text (such as "
                f"{present.levels[0]!r}); expected numbers, as in training"
            )
        return np.asarray(present.values, np.float64), rows

    def _target_column(self, name: str) -> Column:
        if name not in self.table.names:
            raise TableFileError(no_column(name, self.table.names, self.table.title))
        if not isinstance(self.table, CsvTable):
            return self.table.source([name]).column(0)
        if hasattr(self.model, "classes_"):  # labels are words, whatever they look like
            labels = tuple(self.model.classes_.tolist())
            wanted = FileFormat((ColumnFormat(name, "category"),))
            return self.table.source(wanted, {name: tuple(map(str, labels))}).column(0)
        known = getattr(self.model, "file_format_", None)
        wanted_format = None if known is None else known.of(name)
        return self.table.source(
            FileFormat((wanted_format or ColumnFormat(name, "number"),))
        ).column(0)


def known_rows(model: Any, X: Any) -> Any:
    """Return the rows of a file, or of several; anything else as it is."""
    if isinstance(X, str | Path):
        return KnownTable.open(model, [X]).X
    if isinstance(X, list | tuple) and X and all(isinstance(each, str | Path) for each in X):
        return KnownTable.open(model, X).X
    return X


def names_of(model: Any) -> tuple[str, ...]:
    """Return the names of the columns that a model was fitted to."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise TableFileError(
            "the model was fitted to a table without names of columns, and cannot read files"
        )
    return tuple(names.tolist())


def _format(model: Any, use: ColumnUse, found: FileFormat | None) -> ColumnFormat:
    """Return how a column of a model is written in files."""
    if found is None:
        known: ColumnFormat | None = model.file_format_.of(use.name)
        if known is not None:
            return known
    wanted = "category" if use.kind == "ordered" else use.kind
    here = None if found is None else found.of(use.name)
    if here is not None and here.kind == wanted:
        return replace(here, note="")
    return ColumnFormat(use.name, wanted)


def _codes(column: Column, classes: NDArray[Any], name: str) -> NDArray[np.int32]:
    """Return the places of labels among the classes, whatever the type of both."""
    category = column.as_category()
    levels: tuple[Level, ...] = category.levels or ()
    place = {_word(label): code for code, label in enumerate(classes.tolist())}
    unknown = [level for level in levels if _word(level) not in place]
    if unknown:
        raise TableFileError(
            f"the column {name!r} holds {unknown[0]!r}; the classes of the model are "
            f"{listed(map(str, classes.tolist()))}"
        )
    codes = np.array([place[_word(level)] for level in levels], np.int32)
    found: NDArray[np.int32] = codes[category.values]
    return found


def _word(label: Any) -> str:
    """Return what different writings of a label have in common: 1, 1.0, "1" and True, "true"."""
    text = str(label).strip()
    try:
        return str(float(text))
    except ValueError:
        return text.lower() if text.lower() in ("true", "false") else text
