"""Parquet and Feather files, which pyarrow reads: their columns have types of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from committee.io.errors import TableFileError, counted, listed, no_column
from committee.tables.column import Column
from committee.tables.source import Columns, Source, open_source

_PARQUET, _FEATHER = b"PAR1", b"ARROW1"


def is_frame(data: bytes) -> bool:
    """Return whether the content of a file is Parquet or Feather."""
    return data.startswith((_PARQUET, _FEATHER))


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A table of pyarrow that was read from files."""

    title: str
    frame: Any
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.frame.column_names)

    @property
    def n_rows(self) -> int:
        return int(self.frame.num_rows)

    def texts(self, name: str) -> list[Any]:
        """Return the cells of a column."""
        if name not in self.names:
            raise TableFileError(no_column(name, self.names, self.title))
        cells: list[Any] = self.frame.column(name).to_pylist()
        return cells

    def source(self, names: Sequence[str] | None = None) -> Source:
        """Return columns by their names; those that the file lacks are empty."""
        source = open_source(self.frame)
        if names is None:
            return source
        wanted = tuple(names)

        def read(position: int, where: str) -> Column:
            name = wanted[position]
            if name not in self.names:
                return Column("number", np.full(self.n_rows, np.nan))
            return source.column(self.names.index(name))

        return Columns(self.n_rows, len(wanted), wanted, read, is_frame=True)

    def summary(self) -> list[str]:
        """Return the number of rows and columns, in words."""
        size = f"{counted(self.n_rows, 'row')}, {counted(len(self.names), 'column')}"
        return [f"{self.title}: {size}"]


def open_frame(name: str, data: bytes) -> FrameTable:
    """Read a Parquet or a Feather file."""
    pyarrow = _pyarrow(name)
    try:
        if data.startswith(_PARQUET):
            from pyarrow import parquet

            frame = parquet.read_table(pyarrow.BufferReader(data))
        else:
            from pyarrow import feather

            frame = feather.read_table(pyarrow.BufferReader(data))
    except (pyarrow.ArrowException, OSError) as error:
        first = (str(error).splitlines() or ["damaged"])[0]
        raise TableFileError(f"{name} cannot be read: {first}") from error
    if frame.num_rows == 0:
        raise TableFileError(f"{name} has no rows")
    return FrameTable(name, frame)


def joined(tables: Sequence[FrameTable]) -> FrameTable:
    """Put the rows of several files together."""
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    pyarrow = _pyarrow(first.title)
    for table in tables:
        odd = sorted(set(table.names) ^ set(first.names))
        if odd:
            raise TableFileError(
                f"{table.title} and {first.title} differ in the column {odd[0]!r}; the columns "
                f"are {listed(table.names)} and {listed(first.names)}"
            )
    try:
        frame = pyarrow.concat_tables(
            [table.frame.select(list(first.names)) for table in tables],
            promote_options="permissive",
        )
    except pyarrow.ArrowException as error:
        raise TableFileError(
            f"{first.title} and the other files differ in the types of columns: {error}"
        ) from error
    return FrameTable(f"{first.title} and {len(tables) - 1} more", frame)


def write_frame(columns: dict[str, Any], path: str) -> None:
    """Write columns to a Parquet file, or to a Feather file by its name."""
    pyarrow = _pyarrow(path)
    table = pyarrow.table({name: pyarrow.array(list(cells)) for name, cells in columns.items()})
    if path.endswith(".feather"):
        from pyarrow import feather

        feather.write_feather(table, path)
    else:
        from pyarrow import parquet

        parquet.write_table(table, path)


def _pyarrow(name: str) -> Any:
    try:
        import pyarrow
    except ModuleNotFoundError as error:
        raise TableFileError(
            f"{name}: Parquet and Feather need pyarrow; pip install 'committee[parquet]'"
        ) from error
    except ImportError as error:  # such as a pyarrow for a later NumPy
        raise TableFileError(f"{name}: pyarrow cannot be imported: {error}") from error
    return pyarrow
