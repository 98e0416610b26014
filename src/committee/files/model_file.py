"""Saving and loading of models: `committee.save`, `committee.load`, `ModelFileError`.

`_codec` turns a model into JSON and arrays, `_archive` turns these into the bytes of a zip file.
Here they meet the file system. The format is described in docs/model-file.md.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

import numpy as np

from committee.files import archive as _archive
from committee.files import codec as _codec
from committee.files.archive import BadContent
from committee.files.codec_values import MAX_JSON_INT, encode_text

FORMAT_NAME = "committee-model"
FORMAT_VERSION = 1

# An object of a model takes up to three JSON levels, plus the header itself.
_MAX_JSON_DEPTH = 4 * _codec.MAX_DEPTH
# An empty list takes 3 bytes of JSON and 64 of memory: this keeps a small file from taking much.
MAX_JSON_CONTAINERS = 2**22


class ModelFileError(ValueError):
    """A file is not a model file, is damaged, or needs a newer version of committee.

    The message names the file and what is wrong with it. A file that raises this error was not
    used: no part of it became a model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import committee
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.txt")
    ...     _ = path.write_text("not a model")
    ...     try:
    ...         committee.load(path)
    ...     except committee.ModelFileError as error:
    ...         print(str(error).rpartition(": ")[2])
    it is not a committee model file
    """


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model to a file that is safe to open.

    The file is a zip of a JSON header and plain ``.npy`` arrays, with checksums and without
    pickle. It appears at once: until the new file is complete on disk, an old file of that name
    stays as it is. The same model gives the same bytes.

    Parameters
    ----------
    model : estimator
        An estimator of committee, fitted or not. Lists, tuples and dicts of estimators, arrays
        and plain Python values work too.
    path : str or os.PathLike
        Where to put the file. An existing file is replaced and keeps its permissions.

    Raises
    ------
    TypeError
        If a part of the model cannot be stored safely, such as an estimator of another library
        or a function. The message names the part.
    OSError
        If the file cannot be written. An old file of that name is left as it was.

    See Also
    --------
    load : Load a model again.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import committee
    >>> model = committee.DecisionTreeClassifier().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tree.committee")
    ...     committee.save(model, path)
    ...     loaded = committee.load(path)
    >>> loaded.predict([[0.0], [7.0]])
    array([0, 1])
    """
    target = os.path.realpath(os.fspath(path))
    permissions = _check_target(target)
    root, arrays = _codec.encode(model)
    header = _write_header(root)
    with _replacing(target, permissions) as file:
        _archive.write_archive(file, header, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` has written.

    Everything in the file is checked before the model is returned: checksums of every byte,
    sizes against the size of the file, the structure of every tree. No code of the file is run,
    so that a file of any origin can be opened without trusting it.

    Parameters
    ----------
    path : str or os.PathLike
        The model file.

    Returns
    -------
    model : estimator
        The model as it was saved.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, or was written in a newer format.
    OSError
        If the file cannot be read, for example FileNotFoundError.

    See Also
    --------
    save : Save a model; has an example.

    Examples
    --------
    >>> import committee
    >>> committee.load("no-such-model.committee")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no-such-model.committee'
    """
    name = os.fspath(path)
    # Opening a pipe would wait for a writer, so the kind of file is checked first.
    mode = os.stat(name).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ModelFileError(f"cannot load {name!r}: it is not a regular file")
    with open(name, "rb") as file:
        try:
            return _load(file)
        except BadContent as error:
            raise ModelFileError(f"cannot load {name!r}: {error}") from error


def _load(file: BinaryIO) -> Any:
    file_size = os.fstat(file.fileno()).st_size
    header = _read_json(_archive.read_header(file, file_size))
    # Format and version come first: a newer format may differ in everything that follows.
    if type(header) is not dict or header.get("format") != FORMAT_NAME:
        raise BadContent("it is a zip file, but not a committee model file")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise BadContent("its header has no format version")
    if version > FORMAT_VERSION:
        raise BadContent(
            f"it has the format version {version}; this committee reads versions up to "
            f"{FORMAT_VERSION}: install a newer committee"
        )
    if set(header) != {"format", "version", "committee", "root"}:
        raise BadContent("its header does not have exactly the members of format version 1")
    return _codec.decode(header["root"], _archive.read_arrays(file, file_size))


def _write_header(root: Any) -> bytes:
    import committee

    header = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "committee": encode_text(str(getattr(committee, "__version__", "unknown"))),
        "root": root,
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = text.encode("utf-8")
    if len(data) > _archive.MAX_HEADER_BYTES:
        raise ValueError(
            f"the model cannot be stored: what is not in arrays takes {len(data)} bytes of JSON; "
            f"at most {_archive.MAX_HEADER_BYTES} are possible"
        )
    if _json_shape(data)[1] > MAX_JSON_CONTAINERS:
        raise ValueError(
            f"the model cannot be stored: it has more than {MAX_JSON_CONTAINERS} lists and objects"
        )
    return data


def _read_json(data: bytes) -> Any:
    """Parse JSON as RFC 8259 has it, without repeated names, in bounded depth."""
    # The parser recurses in C, where a raised recursion limit would let it overflow the stack.
    depth, n_containers = _json_shape(data)
    if depth > _MAX_JSON_DEPTH:
        raise BadContent("its header is nested too deeply")
    if n_containers > MAX_JSON_CONTAINERS:
        raise BadContent(f"its header has more than {MAX_JSON_CONTAINERS} lists and objects")
    try:
        text = data.decode("utf-8")
        return json.loads(
            text,
            object_pairs_hook=_read_object,
            parse_int=_read_int,
            parse_float=_read_float,
            parse_constant=_refuse_constant,
        )
    except ValueError as error:
        raise BadContent(f"its header is not valid JSON ({error})") from error


def _json_shape(data: bytes) -> tuple[int, int]:
    """Count the levels and the number of JSON arrays and objects: brackets outside strings."""
    characters = np.frombuffer(data.replace(rb"\\", b"").replace(rb"\"", b""), np.uint8)
    is_outside = np.cumsum(characters == ord('"'), dtype=np.uint8) % 2 == 0
    opens = is_outside & ((characters == ord("[")) | (characters == ord("{")))
    closes = is_outside & ((characters == ord("]")) | (characters == ord("}")))
    steps = opens.view(np.int8) - closes.view(np.int8)
    depth = np.cumsum(steps[steps != 0], dtype=np.int32).max(initial=0)
    return int(depth), int(np.count_nonzero(opens))


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name appears twice in an object")
    return result


def _read_int(text: str) -> int:
    # Length first: the time to convert grows with the square of the number of digits.
    number = int(text) if len(text) <= 17 else MAX_JSON_INT
    if abs(number) >= MAX_JSON_INT:
        raise ValueError("an integer is too large")
    return number


def _read_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON value")


def _check_target(target: str) -> int | None:
    """Refuse what cannot become a model file; return the permissions of an existing one."""
    folder = os.path.dirname(target)
    if not os.path.exists(folder):
        raise FileNotFoundError(errno.ENOENT, "The folder of the model file does not exist", folder)
    if not os.path.isdir(folder):
        raise NotADirectoryError(errno.ENOTDIR, "The model file is not inside a folder", folder)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "A model file cannot replace a folder", target)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "A model file cannot replace a device or pipe", target)
    if not os.access(target, os.W_OK):  # a rename would get around the protection
        raise PermissionError(errno.EACCES, "The model file is write-protected", target)
    return stat.S_IMODE(mode)


@contextlib.contextmanager
def _replacing(target: str, permissions: int | None) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the place of `target` if all goes well."""
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}.tmp")
    # Created by os.open, not by tempfile, so that the umask decides about the permissions.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666 if permissions is None else permissions & 0o600)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if permissions is not None:
            os.chmod(temporary, permissions)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Put the new name on disk too, where the system lets a folder be synchronised."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
