"""Files as tables: to train on, and later as the model knows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from committee.io.column_format import FileFormat
from committee.io.content import as_utf8, name_of, read_content
from committee.io.csv_table import CsvOptions, CsvTable, open_csv, summary
from committee.io.csv_table import joined as joined_csv
from committee.io.errors import TableFileError
from committee.io.frame_file import FrameTable, is_frame, open_frame
from committee.io.frame_file import joined as joined_frames
from committee.io.json_lines import as_csv, is_json
from committee.tables.source import Source

FileTable = CsvTable | FrameTable


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """A table to train on.

    Attributes
    ----------
    source : Source
        Its columns.
    file_format : FileFormat or None
        How its files are written; None where columns have types of their own.
    notes : list of str
        What was found out, for the user.
    """

    source: Source
    file_format: FileFormat | None
    notes: list[str]


def read_table_file(
    paths: Sequence[str | Path],
    options: CsvOptions | None = None,
    known: Sequence[Sequence[str]] = (),
) -> FileTable:
    """Read one or several files with the same columns.

    Parameters
    ----------
    paths : sequence of str or Path
        CSV, JSON lines, Parquet or Feather, told apart by their content; packed by gzip, bzip2, xz
        or zip; "-" is standard input.
    options : CsvOptions or None, default=None
        What the user says about them.
    known : sequence of sequences of str, default=()
        Names of the columns that the files should have, in one of several ways.

    Returns
    -------
    table : CsvTable or FrameTable
        The cells, not yet read as anything.
    """
    if sum(str(path) == "-" for path in paths) > 1:
        raise TableFileError("standard input can be read once; got - twice")
    tables = [_read_one(path, options or CsvOptions(), known) for path in paths]
    frames = [table for table in tables if isinstance(table, FrameTable)]
    texts = [table for table in tables if isinstance(table, CsvTable)]
    if frames and texts:
        raise TableFileError(
            f"{frames[0].title} and {texts[0].title} are files of different kinds; convert one"
        )
    return joined_frames(frames) if frames else joined_csv(texts)


def _read_one(path: str | Path, options: CsvOptions, known: Sequence[Sequence[str]]) -> FileTable:
    name, data = name_of(path), read_content(path)
    if is_frame(data):
        return open_frame(name, data)
    if not is_json(data):
        return open_csv(name, data, options, known)
    text, begin, _ = as_utf8(data, options.encoding, name)
    rows, line = as_csv(text[begin:].decode(), name)
    plain = CsvOptions(delimiter=",", decimal=".", missing=options.missing)
    table = open_csv(name, rows, plain, known)
    return replace(table, parts=(replace(table.parts[0], line=line),), delimiter="")


def open_files(paths: Sequence[str | Path], options: CsvOptions | None = None) -> OpenedTable:
    """Read files to train on, and find out what their columns are."""
    table = read_table_file(paths, options)
    if isinstance(table, FrameTable):
        return OpenedTable(table.source(), None, table.summary())
    file_format = table.decided()
    return OpenedTable(table.source(file_format), file_format, summary(table, file_format.columns))
