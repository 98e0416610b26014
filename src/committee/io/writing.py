"""Tables to files: CSV, JSON lines, Parquet and Feather, by the name of the file."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from committee.io.frame_file import write_frame

_JSON = (".jsonl", ".ndjson", ".json")
_FRAMES = (".parquet", ".feather")


def write_columns(
    columns: Mapping[str, Sequence[Any]], path: str, *, as_json: bool = False
) -> None:
    """Write columns to a file, or to standard output for "-".

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns by their names.
    path : str
        The file. What its name ends with decides: ".jsonl", ".parquet", ".feather", else CSV;
        ".gz" after it packs text. A file that exists is replaced as a whole.
    as_json : bool, default=False
        Write JSON lines whatever the name.
    """
    plain = path.removesuffix(".gz")
    lists = {
        name: cells.tolist() if isinstance(cells, np.ndarray) else list(cells)
        for name, cells in columns.items()
    }
    if plain.endswith(_FRAMES):
        write_frame(lists, path)
        return
    text = _json_lines(lists) if as_json or plain.endswith(_JSON) else _csv(lists)
    if path == "-":
        _write_out(text)
        return
    data = text.encode("utf-8", "replace")
    replace_file(Path(path), gzip.compress(data) if path.endswith(".gz") else data)


def _write_out(text: str) -> None:
    """Write to standard output, in UTF-8 whatever the terminal has."""
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
        return
    rest = memoryview(text.encode("utf-8", "replace"))
    while len(rest):  # without a buffer (python -u) a part may be written only
        rest = rest[stream.write(rest) :]
    stream.flush()


def replace_file(path: Path, data: bytes) -> None:
    """Write a file next to the place, then put it there: nobody reads half of one."""
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "the folder does not exist", str(path))
    if path.exists() and not path.is_file():  # a pipe or a device
        path.write_bytes(data)
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _csv(columns: Mapping[str, Sequence[Any]]) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()


def _json_lines(columns: Mapping[str, Sequence[Any]]) -> str:
    rows = zip(*columns.values(), strict=True)
    lines = [json.dumps(dict(zip(columns, row, strict=True)), default=str) for row in rows]
    return "".join(line + "\n" for line in lines)
