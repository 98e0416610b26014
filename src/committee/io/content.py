"""The bytes of a file, unpacked, and its text as UTF-8."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from committee.io.errors import TableFileError

# What packed files begin with.
_PACKED: dict[bytes, tuple[str, Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": ("gzip", gzip.decompress),
    b"BZh": ("bzip2", bz2.decompress),
    b"\xfd7zXZ\x00": ("xz", lzma.decompress),
}
_ZIP = b"PK\x03\x04"

# Marks at the beginning of a text; the longer ones first, because one begins as another does.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_LOOKED_AT = 2000  # bytes, for an encoding without a mark
_MANY_ZEROS = 0.3  # of the bytes: every second one of plain text in UTF-16


def name_of(path: str | Path) -> str:
    """Return how a file is called in messages."""
    return "standard input" if str(path) == "-" else str(path)


def read_content(path: str | Path) -> bytes:
    """Return the content of a file, unpacked; "-" is standard input.

    Raises
    ------
    TableFileError
        If a packed file is damaged, or holds several files. OSError if it cannot be read.
    """
    data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    if data.startswith(_ZIP):
        return _unzipped(data, name_of(path))
    for begin, (kind, unpack) in _PACKED.items():
        if data.startswith(begin):
            try:
                return unpack(data)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise TableFileError(
                    f"{name_of(path)} looks like {kind} and cannot be unpacked: {error}"
                ) from error
    return data


def _unzipped(data: bytes, name: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [each for each in archive.namelist() if not each.startswith("__MACOSX/")]
            files = [each for each in members if not each.endswith("/")]
            if len(files) != 1:
                raise TableFileError(
                    f"{name} holds {len(files)} files; expected one table. Unpack it, and give "
                    "the files that belong together"
                )
            return archive.read(files[0])
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise TableFileError(f"{name} looks like zip and cannot be unpacked: {error}") from error


def as_utf8(data: bytes, encoding: str | None, name: str) -> tuple[bytes, int, str | None]:
    r"""Return a text as UTF-8, where it begins, and a note on its encoding.

    Examples
    --------
    >>> as_utf8("naïve".encode("cp1252"), None, "a.csv")[::2]
    (b'na\xc3\xafve', 'read as cp1252, because it is no UTF-8')
    """
    if encoding is not None:
        return _decoded(data, encoding, name).encode(), 0, None
    for mark, found in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            if found == "utf-8":
                _decoded(data, found, name)
                return data, len(mark), None
            return _decoded(data, found, name).encode(), 0, f"read as {found.upper()}"
    head = data[:_LOOKED_AT]
    if head.count(0) > _MANY_ZEROS * len(head):
        found = "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
        return _decoded(data, found, name).encode(), 0, f"read as {found.upper()}"
    try:
        if not data.isascii():
            data.decode("utf-8")
    except UnicodeDecodeError:
        return _western(data)
    return data, 0, None


def _western(data: bytes) -> tuple[bytes, int, str]:
    for encoding in ("cp1252", "latin-1"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:  # five bytes mean nothing in cp1252
            continue
        return text.encode(), 0, f"read as {encoding}, because it is no UTF-8"
    raise AssertionError("Latin-1 reads any bytes")


def _decoded(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except LookupError as error:
        raise TableFileError(
            f"encoding must be one that Python knows, such as utf-8; got {encoding!r}"
        ) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableFileError(
            f"{name}, line {line}: the bytes are no {encoding.upper()}; name another encoding"
        ) from error
