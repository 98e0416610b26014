"""The bytes of a model file: a zip of stored entries, each aligned to 64 bytes.

Every byte that is not content (local headers, padding, directory, end record) follows from the
names, sizes and CRCs of the entries. The reader therefore builds these bytes again and compares:
a flipped bit, a gap, an overlap or a second entry of the same name cannot go unnoticed.

    header.json | arrays/0.npy | arrays/1.npy | ... | SHA256SUMS | directory | end record

Everything wrong with a file is a BadContent error here; `model_file.py` adds the path.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

HEADER_NAME = "header.json"
SUMS_NAME = "SHA256SUMS"
MAX_HEADER_BYTES = 64 * 2**20
ALIGNMENT = 64

# Sizes and offsets from here on need the zip64 fields. Tests lower it to see them used.
ZIP64_LIMIT = 0xFFFF_FFFF
ZIP64_COUNT = 0xFFFF

_ALIGNMENT_FIELD = 0xD935  # the zip extra field that Android's zipalign introduced
_DATE = 0x0021  # 1980-01-01, the first day of zip: the same model gives the same bytes
_MODE = 0o100644 << 16
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64 = struct.Struct("<4sIQI")
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_HEADER = re.compile(
    rb"\{'descr': '([^']{2,24})', 'fortran_order': False, 'shape': \(([0-9, ]{0,700})\), \} *\n"
)
_DTYPE = re.compile(
    r"\|[biu]1|<[iu][248]|<f[248]|<c(8|16)|<[mM]8(\[[0-9]{0,9}[a-zA-Z]{1,2}\])?"
    r"|<U[1-9][0-9]{0,8}|\|S[1-9][0-9]{0,8}"
)
_MAX_DIMENSIONS = 32

Array = npt.NDArray[Any]


class BadContent(ValueError):
    """Something in a model file is not as it must be; the message goes on after the file name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the archive: the start of its local header, and its entry in the directory."""

    name: str
    size: int
    crc: int
    offset: int

    def local_header(self) -> bytes:
        """Build the bytes before the data, padded so that the data starts on a multiple of 64."""
        size, extra, version = self.size, b"", 10
        if size >= ZIP64_LIMIT:
            extra, version = struct.pack("<2H2Q", 1, 16, size, size), 45
            size = 0xFFFF_FFFF
        name = self.name.encode("ascii")
        used = self.offset + _LOCAL.size + len(name) + len(extra) + 6
        padding = -used % ALIGNMENT
        extra += struct.pack("<3H", _ALIGNMENT_FIELD, 2 + padding, ALIGNMENT) + bytes(padding)
        fields = (version, 0, 0, 0, _DATE, self.crc, size, size, len(name), len(extra))
        return _LOCAL.pack(b"PK\x03\x04", *fields) + name + extra

    def directory_record(self) -> bytes:
        """Build the record of this entry in the directory at the end of the file."""
        size, offset, large, version = self.size, self.offset, b"", 10
        if size >= ZIP64_LIMIT:
            large, size = struct.pack("<2Q", size, size), 0xFFFF_FFFF
        if offset >= ZIP64_LIMIT:
            large, offset = large + struct.pack("<Q", offset), 0xFFFF_FFFF
        if large:
            large, version = struct.pack("<2H", 1, len(large)) + large, 45
        name = self.name.encode("ascii")
        return (
            _CENTRAL.pack(
                b"PK\x01\x02",
                *((3 << 8) | version, version, 0, 0, 0, _DATE, self.crc, size, size),
                *(len(name), len(large), 0, 0, 0, _MODE, offset),
            )
            + name
            + large
        )


def _end_record(n_entries: int, start: int, length: int) -> bytes:
    """Build what follows the directory, which has `length` bytes from offset `start` on."""
    large = b""
    if n_entries >= ZIP64_COUNT or start >= ZIP64_LIMIT or length >= ZIP64_LIMIT:
        counts = (n_entries, n_entries, length, start)
        large = _END64.pack(b"PK\x06\x06", _END64.size - 12, (3 << 8) | 45, 45, 0, 0, *counts)
        large += _LOCATOR64.pack(b"PK\x06\x07", 0, start + length, 1)
        n_entries, start, length = 0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF
    return large + _END.pack(b"PK\x05\x06", 0, 0, n_entries, n_entries, length, start, 0)


def _sums_line(name: str, digest: str) -> str:
    return f"{digest}  {name}\n"


def write_archive(file: BinaryIO, header: bytes, arrays: Sequence[Array]) -> None:
    """Write a whole archive to an empty file; the arrays are as `portable_array` returns them."""
    entries: list[Entry] = []
    sums: list[str] = []
    offset = 0

    def add(name: str, chunks: Iterable[bytes | memoryview]) -> None:
        nonlocal offset
        chunks = list(chunks)
        crc, digest = 0, hashlib.sha256()
        for chunk in chunks:
            crc = zlib.crc32(chunk, crc)
            digest.update(chunk)
        entry = Entry(name, sum(len(chunk) for chunk in chunks), crc, offset)
        local = entry.local_header()
        for chunk in (local, *chunks):
            file.write(chunk)
        entries.append(entry)
        sums.append(_sums_line(name, digest.hexdigest()))
        offset += len(local) + entry.size

    add(HEADER_NAME, [header])
    for index, array in enumerate(arrays):
        add(_array_name(index), [_npy_header(array.dtype.str, array.shape), _bytes_of(array)])
    add(SUMS_NAME, ["".join(sums).encode("ascii")])
    directory = b"".join(entry.directory_record() for entry in entries)
    file.write(directory)
    file.write(_end_record(len(entries), offset, len(directory)))


def read_header(file: BinaryIO, file_size: int) -> bytes:
    """Return the first entry, `header.json`, which keeps its place in every format version."""
    start = _read(file, 0, min(ALIGNMENT, file_size))
    if not start.startswith(b"PK\x03\x04"):
        raise BadContent("it is not a committee model file" + ("" if start else " (it is empty)"))
    if len(start) < ALIGNMENT:
        raise BadContent("it is truncated")
    _, _, _, method, _, _, crc, _, size, name_length, _ = _LOCAL.unpack_from(start)
    if start[_LOCAL.size : _LOCAL.size + name_length] != HEADER_NAME.encode("ascii"):
        raise BadContent("it is a zip file, but not a committee model file")
    if method != 0:
        raise BadContent(f"its entry {HEADER_NAME} is compressed; model files are stored plainly")
    if size > MAX_HEADER_BYTES:
        raise BadContent(f"its {HEADER_NAME} has {size} bytes; at most {MAX_HEADER_BYTES} are read")
    if ALIGNMENT + size > file_size:
        raise BadContent("it is truncated")
    entry = Entry(HEADER_NAME, size, crc, 0)
    data = _read(file, ALIGNMENT, size)
    if entry.local_header() != start or zlib.crc32(data) != crc:
        raise BadContent(f"it is damaged: the checksum of {HEADER_NAME} does not match")
    return data


def read_arrays(file: BinaryIO, file_size: int) -> list[Array]:
    """Check every byte of the archive and return its arrays."""
    arrays: list[Array] = []
    sums: list[str] = []
    for entry, data_offset in _entries(file, file_size):
        digest = hashlib.sha256()
        if entry.name.endswith(".npy"):
            array, crc = _read_npy(file, data_offset, entry, digest)
            arrays.append(array)
        else:
            data = _read(file, data_offset, entry.size)
            digest.update(data)
            crc = zlib.crc32(data)
            if entry.name == SUMS_NAME and data != "".join(sums).encode("ascii"):
                raise BadContent(f"it is damaged: {SUMS_NAME} does not match the contents")
        if crc != entry.crc:
            raise BadContent(f"it is damaged: the checksum of {entry.name} does not match")
        sums.append(_sums_line(entry.name, digest.hexdigest()))
    return arrays


def _entries(file: BinaryIO, file_size: int) -> Iterator[tuple[Entry, int]]:
    """Yield each entry with the offset of its data, after checking all bytes around the data."""
    n_entries, start, length = _directory_place(file, file_size)
    directory = _read(file, start, length)
    position, offset = 0, 0
    for index in range(n_entries):
        entry, method, record_length = _parse_record(directory, position)
        expected = _expected_name(index, n_entries)
        if entry.name != expected:
            raise BadContent(f"it has the entry {entry.name!r} where {expected!r} is expected")
        if method != 0:
            raise BadContent(
                f"its entry {entry.name} is compressed; model files are stored plainly"
            )
        if entry.offset != offset:
            raise BadContent(f"its entry {entry.name} overlaps another or leaves a gap")
        if entry.directory_record() != directory[position : position + record_length]:
            raise BadContent(f"it is damaged: the directory record of {entry.name} is not valid")
        local = entry.local_header()
        end = offset + len(local) + entry.size
        if end > start:
            raise BadContent(
                f"its entry {entry.name} claims {entry.size} bytes, more than there are"
            )
        if _read(file, offset, len(local)) != local:
            raise BadContent(f"it is damaged: the local header of {entry.name} is not valid")
        yield entry, offset + len(local)
        position, offset = position + record_length, end
    if position != length or offset != start:
        raise BadContent("it has bytes that belong to no entry")


def _directory_place(file: BinaryIO, file_size: int) -> tuple[int, int, int]:
    """Return the number of entries, and offset and length of the directory."""
    truncated = "it is truncated, or something was appended to it"
    if file_size < _END.size:
        raise BadContent(truncated)
    fields = _END.unpack(_read(file, file_size - _END.size, _END.size))
    if fields[0] != b"PK\x05\x06":
        raise BadContent(truncated)
    n_entries, length, start = fields[3], fields[5], fields[6]
    tail = _END.size
    if n_entries == 0xFFFF:
        tail += _LOCATOR64.size + _END64.size
        if file_size < tail:
            raise BadContent(truncated)
        large = _END64.unpack(_read(file, file_size - tail, _END64.size))
        n_entries, length, start = large[7:10]
    if start + length + tail != file_size:
        raise BadContent(truncated)
    if _read(file, file_size - tail, tail) != _end_record(n_entries, start, length):
        raise BadContent("it is damaged: the end record is not valid")
    if not 2 <= n_entries <= length // _CENTRAL.size:
        raise BadContent(f"it announces {n_entries} entries, which its directory does not hold")
    return n_entries, start, length


def _parse_record(directory: bytes, position: int) -> tuple[Entry, int, int]:
    """Return the entry, its compression method and the length of its directory record."""
    if position + _CENTRAL.size > len(directory):
        raise BadContent("it is damaged: its directory is too short")
    fields = _CENTRAL.unpack_from(directory, position)
    method, crc, size, offset = fields[4], fields[7], fields[9], fields[16]
    name_start = position + _CENTRAL.size
    extra_start = name_start + fields[10]
    extra = directory[extra_start : extra_start + fields[11]]
    large = [
        number for (number,) in struct.iter_unpack("<Q", extra[4 : 4 + (len(extra) - 4) // 8 * 8])
    ]
    if size == 0xFFFF_FFFF and large:
        size, large = large[0], large[2:]
    if offset == 0xFFFF_FFFF and large:
        offset = large[0]
    name = directory[name_start:extra_start].decode("ascii", "backslashreplace")
    return Entry(name, size, crc, offset), method, _CENTRAL.size + fields[10] + fields[11]


def _expected_name(index: int, n_entries: int) -> str:
    if index == 0:
        return HEADER_NAME
    return SUMS_NAME if index == n_entries - 1 else _array_name(index - 1)


def _array_name(index: int) -> str:
    return f"arrays/{index}.npy"


def _read(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    data = file.read(length)
    if len(data) != length:
        raise BadContent("it is truncated")
    return data


def portable_array(array: Array) -> Array:
    """Return the array in C order and little endian, or raise TypeError if no file can hold it."""
    dtype = array.dtype.newbyteorder("<")
    if _DTYPE.fullmatch(dtype.str) is None or array.ndim > _MAX_DIMENSIONS:
        raise TypeError(f"an array of dtype {array.dtype} with {array.ndim} dimensions")
    # Not ascontiguousarray, which turns an array without dimensions into one of length 1.
    return np.asarray(array, dtype=np.dtype(dtype.str), order="C")


def portable_dtype(text: str) -> np.dtype[Any]:
    """Return the dtype that `text` spells, one of those a model file may hold."""
    try:
        dtype = np.dtype(text) if _DTYPE.fullmatch(text) else None
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or dtype.str != text:
        raise BadContent(f"it holds an array of dtype {text!r}, which model files do not have")
    return dtype


def check_items(array: Array) -> Array:
    """Refuse items that NumPy assumes never to meet: booleans above 1, characters beyond Unicode.

    Also turns a little-endian array into the byte order of the machine.
    """
    if array.size and array.dtype.kind == "b" and array.view(np.uint8).max() > 1:
        raise BadContent("it holds a boolean that is neither 0 nor 1")
    if array.size and array.dtype.kind == "U":
        characters = array.reshape(-1).view(np.dtype("<u4"))
        if characters.max() > 0x10FFFF:
            raise BadContent("it holds text with a character beyond Unicode")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _npy_header(descr: str, shape: tuple[int, ...]) -> bytes:
    sizes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}".encode("ascii")
    text += b" " * (-(len(_NPY_MAGIC) + 2 + len(text) + 1) % ALIGNMENT) + b"\n"
    return _NPY_MAGIC + struct.pack("<H", len(text)) + text


def _bytes_of(array: Array) -> memoryview:
    # Through uint8, because dates and text do not offer their memory themselves.
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def _read_npy(file: BinaryIO, offset: int, entry: Entry, digest: Any) -> tuple[Array, int]:
    """Read one array into memory of its own; return it and the CRC of the entry."""
    wrong = f"its entry {entry.name} is not a plain .npy array (version 1.0, C order)"
    start = _read(file, offset, min(entry.size, len(_NPY_MAGIC) + 2))
    if len(start) < len(_NPY_MAGIC) + 2 or not start.startswith(_NPY_MAGIC):
        raise BadContent(wrong)
    (length,) = struct.unpack_from("<H", start, len(_NPY_MAGIC))
    if len(start) + length > entry.size:
        raise BadContent(wrong)
    text = _read(file, offset + len(start), length)
    match = _NPY_HEADER.fullmatch(text)
    if match is None:
        raise BadContent(wrong)
    dtype = portable_dtype(match[1].decode("ascii", "replace"))
    shape = tuple(int(number) for number in re.findall(rb"[0-9]{1,20}", match[2]))
    if _npy_header(dtype.str, shape) != start + text or len(shape) > _MAX_DIMENSIONS:
        raise BadContent(wrong)
    n_bytes = math.prod(shape) * dtype.itemsize
    if len(start) + length + n_bytes != entry.size:
        raise BadContent(
            f"its entry {entry.name} announces {n_bytes} bytes, which it does not hold"
        )
    try:
        array = np.empty(shape, dtype)
    except (OverflowError, ValueError) as error:  # no bytes, but other lengths beyond all measure
        raise BadContent(f"its entry {entry.name} has the impossible shape {shape}") from error
    items = _bytes_of(array)
    if items and file.readinto(items) != n_bytes:  # type: ignore[attr-defined]
        raise BadContent("it is truncated")
    digest.update(start + text)
    digest.update(items)
    return check_items(array), zlib.crc32(items, zlib.crc32(start + text))
