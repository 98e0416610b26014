"""JSON as tables: an object for each row, in lines or in one array."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

from committee.io.errors import TableFileError


def is_json(data: bytes) -> bool:
    """Return whether a text looks like JSON with objects."""
    head = data[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
    return head.startswith(b"{") or (head.startswith(b"[") and head[1:].lstrip().startswith(b"{"))


def as_csv(text: str, name: str) -> tuple[bytes, Callable[[int], int]]:
    r"""Return objects as the text of a CSV file, and the number of the line of each row.

    Numbers keep their digits. Keys that a row lacks, and null, are missing.

    Examples
    --------
    >>> as_csv('{"a": 1.50, "b": "x"}\n\n{"b": null}', "t.jsonl")[0].split()
    [b'a,b', b'1.50,x', b',']
    """
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    names: dict[str, None] = {}
    for line, row in _objects(text, name):
        if not isinstance(row, dict):
            raise TableFileError(f"{name}, line {line}: expected an object for each row")
        for key, value in row.items():
            if isinstance(value, dict | list):
                raise TableFileError(
                    f"{name}, line {line}, column {key!r} holds an object or an array; expected "
                    "text, a number, true, false or null"
                )
            names[key] = None
        rows.append(row)
        lines.append(line)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(names)
    for row in rows:
        cells = [_cell(row.get(key)) for key in names]
        # A lone empty cell would be an empty line, which readers skip.
        stream.write('""\n') if cells == [""] else writer.writerow(cells)
    return stream.getvalue().encode("utf-8", "replace"), lines.__getitem__


def _objects(text: str, name: str) -> Iterator[tuple[int, Any]]:
    if text.lstrip().startswith("["):
        for row in _parsed(text, name, 1):
            yield 1, row
        return
    for line, each in enumerate(text.split("\n"), start=1):
        if each.strip():
            yield line, _parsed(each, name, line)


def _parsed(text: str, name: str, first_line: int) -> Any:
    try:
        return json.loads(
            text,
            parse_float=str,
            parse_int=str,
            parse_constant=str,
        )
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise TableFileError(f"{name}, line {line} is no JSON: {error.msg}") from error
    except RecursionError as error:
        raise TableFileError(f"{name}, line {first_line}: arrays within arrays") from error


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
