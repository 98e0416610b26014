"""Model files: round trip, atomic saving, and what a damaged or hostile file does (not much)."""

import hashlib
import io
import json
import os
import pathlib
import random
import stat
import struct
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from committee.files import archive as _archive
from committee.files import codec as _codec
from committee.files import model_file as _model_file
from committee.files.archive import write_archive
from committee.files.codec import register
from committee.files.codec_values import SIMPLE_READERS
from committee.files.model_file import ModelFileError, load, save


@register("Drawer")
class Drawer(BaseEstimator):
    def __init__(self, size=3, estimator=None):
        self.size = size
        self.estimator = estimator


def drawer():
    model = Drawer(size=5, estimator=Drawer(size=float("nan")))
    model.classes_ = np.array(["no", "yes"])
    model.weights_ = np.arange(12.0).reshape(3, 4)
    model.empty_ = np.empty((0, 2), np.int32)
    model.flags_ = np.array([True, False, True])
    return model


def state(model):
    """Everything in a model, as something that can be compared."""
    members = vars(model).items()
    return {
        name: state(obj)
        if isinstance(obj, Drawer)
        else (str(obj.dtype), obj.shape, obj.tobytes())
        if isinstance(obj, np.ndarray)
        else repr(obj)
        for name, obj in members
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.committee"


@pytest.fixture
def saved(path):
    save(drawer(), path)
    return path


def write(path, root=None, arrays=(), header=None, header_bytes=None):
    """A file with correct checksums around any header and arrays."""
    full = {"format": "committee-model", "version": 1, "committee": "0", "root": root}
    data = header_bytes if header_bytes is not None else json.dumps(header or full).encode()
    with open(path, "wb") as file:
        write_archive(file, data, arrays)


# ---- what is written ----


def test_a_model_comes_back(saved):
    assert state(load(saved)) == state(drawer())
    assert state(load(str(saved))) == state(drawer())


def test_loaded_arrays_belong_to_the_model_and_can_be_changed(saved):
    weights = load(saved).weights_
    assert weights.flags.owndata
    weights[0, 0] = 5


def test_the_same_model_gives_the_same_bytes(saved, tmp_path):
    save(load(saved), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_the_file_is_a_zip_of_stored_entries_aligned_to_64_bytes(saved):
    data = saved.read_bytes()
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        infos = archive.infolist()
    names = ["header.json", *(f"arrays/{i}.npy" for i in range(4)), "SHA256SUMS"]
    assert [info.filename for info in infos] == names
    for info in infos:
        assert info.compress_type == zipfile.ZIP_STORED
        name_length, extra_length = struct.unpack_from("<2H", data, info.header_offset + 26)
        assert (info.header_offset + 30 + name_length + extra_length) % 64 == 0


def test_numpy_reads_the_arrays_and_their_data_can_be_mapped(saved):
    with zipfile.ZipFile(saved) as archive:
        loaded = np.load(io.BytesIO(archive.read("arrays/1.npy")), allow_pickle=False)
        infos = {info.filename: info for info in archive.infolist()}
    np.testing.assert_array_equal(loaded, drawer().weights_)
    info = infos["arrays/1.npy"]
    data = saved.read_bytes()
    start = data.index(b"\x93NUMPY", info.header_offset)
    length = 10 + struct.unpack_from("<H", data, start + 8)[0]
    assert (start + length) % 64 == 0
    mapped = np.memmap(saved, np.float64, "r", start + length, (3, 4))
    np.testing.assert_array_equal(mapped, drawer().weights_)


def test_sha256sum_can_check_an_unpacked_file(saved, tmp_path):
    with zipfile.ZipFile(saved) as archive:
        lines = archive.read("SHA256SUMS").decode().splitlines()
        for line, name in zip(lines, archive.namelist(), strict=False):
            assert line == f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name}"
    assert len(lines) == 5


def test_the_header_is_json_that_names_format_and_class(saved):
    with zipfile.ZipFile(saved) as archive:
        header = json.loads(archive.read("header.json"))
    assert (header["format"], header["version"]) == ("committee-model", 1)
    assert header["root"]["estimator"]["class"] == "Drawer"
    assert header["root"]["estimator"]["params"]["size"] == 5


@pytest.mark.parametrize("count", [2, 0xFFFF])
def test_large_files_use_zip64(path, monkeypatch, count):
    monkeypatch.setattr(_archive, "ZIP64_LIMIT", 1000)
    monkeypatch.setattr(_archive, "ZIP64_COUNT", count)
    arrays = [np.arange(n, dtype=np.float64) for n in (500, 3, 900)]
    save(arrays, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.infolist()[1].file_size == 128 + 4000
        assert np.load(io.BytesIO(archive.read("arrays/2.npy")))[-1] == 899
    for one, other in zip(load(path), arrays, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- saving ----


def test_saving_replaces_a_file_and_leaves_nothing_else(saved):
    save([1, 2], saved)
    assert load(saved) == [1, 2]
    assert os.listdir(saved.parent) == [saved.name]


@pytest.mark.parametrize("fails", ["write_archive", "fsync", "replace"])
def test_a_failed_save_leaves_the_old_file_and_no_other(saved, monkeypatch, fails):
    def fail(*args):
        raise OSError(28, "No space left on device")

    before = saved.read_bytes()
    monkeypatch.setattr(_archive if fails == "write_archive" else os, fails, fail)
    with pytest.raises(OSError, match="No space left"):
        save([1, 2], saved)
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_an_interrupted_save_leaves_the_old_file_and_no_other(saved, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_archive, "write_archive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save([1, 2], saved)
    assert os.listdir(saved.parent) == [saved.name]
    assert state(load(saved)) == state(drawer())


def test_what_cannot_be_stored_is_refused_before_a_file_appears(path):
    with pytest.raises(TypeError, match=r"^Drawer\.estimator: cannot be stored safely: function"):
        save(Drawer(estimator=lambda: 0), path)
    assert os.listdir(path.parent) == []


def test_a_header_that_could_not_be_read_is_not_written(path, monkeypatch):
    monkeypatch.setattr(_archive, "MAX_HEADER_BYTES", 1000)
    with pytest.raises(ValueError, match=r"takes 10[0-9]{2} bytes of JSON; at most 1000"):
        save("x" * 1000, path)
    assert os.listdir(path.parent) == []


def test_a_folder_or_a_missing_folder_is_a_clear_error(tmp_path):
    with pytest.raises(IsADirectoryError, match="cannot replace a folder"):
        save(1, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"folder of the model file does not exist.*'.*no"):
        save(1, tmp_path / "no" / "model")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="not inside a folder"):
        save(1, tmp_path / "file" / "model")


posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


@posix
def test_permissions_follow_the_umask_or_the_old_file(tmp_path):
    # In a process of its own, because the umask belongs to the whole process.
    code = (
        "import os, sys; os.umask(0o027)\n"
        "from committee.files.model_file import save\n"
        "save(1, 'new'); open('old', 'w').close(); os.chmod('old', 0o640); os.umask(0)\n"
        "save(1, 'old')\n"
        "print(*(oct(os.stat(name).st_mode & 0o777) for name in ('new', 'old')))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.stdout.split() == ["0o640", "0o640"]


@posix
def test_a_link_stays_a_link(saved, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(saved)
    save([1], link)
    assert link.is_symlink()
    assert load(saved) == [1]


@posix
def test_a_pipe_is_neither_replaced_nor_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="device or pipe"):
        save(1, pipe)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(pipe)


# ---- files that cannot be opened, are damaged, or are something else ----


def test_errors_of_the_file_system_pass_through(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_every_truncation_is_detected(saved):
    data = saved.read_bytes()
    for length in {*range(0, len(data), 97), *range(70), *range(len(data) - 70, len(data))}:
        saved.write_bytes(data[:length])
        with pytest.raises(ModelFileError, match=r"cannot load .*model\.committee': it"):
            load(saved)


def test_a_flipped_bit_is_detected_wherever_it_is(saved):
    data = bytearray(saved.read_bytes())
    draw = random.Random(0)
    for position in range(draw.randrange(3), len(data), 3):
        bit = 1 << draw.randrange(8)
        data[position] ^= bit
        saved.write_bytes(data)
        with pytest.raises(ModelFileError, match=r"cannot load .*model\.committee': it"):
            load(saved)
        data[position] ^= bit


def scrambled(data, draw):
    data = bytearray(data)
    start, stop = sorted(draw.choices(range(len(data)), k=2))
    stop = min(stop + 1, start + 80)
    what = draw.choice(["noise", "remove", "repeat", "zeros", "append"])
    if what == "noise":
        data[start:stop] = draw.randbytes(stop - start)
    elif what == "remove":
        del data[start:stop]
    elif what == "repeat":
        data[start:start] = data[start:stop]
    elif what == "zeros":
        data[start:stop] = bytes(stop - start)
    else:
        data += draw.randbytes(stop - start)
    return bytes(data)


def test_a_scrambled_file_is_detected(saved):
    draw = random.Random(0)
    original = saved.read_bytes()
    for _ in range(300):
        data = scrambled(original, draw)
        saved.write_bytes(data)
        if data == original:
            assert state(load(saved)) == state(drawer())
        else:
            with pytest.raises(ModelFileError):
                load(saved)


def test_other_files_are_told_apart(path):
    path.write_bytes(b"")
    with pytest.raises(ModelFileError, match="not a committee model file \\(it is empty\\)"):
        load(path)
    path.write_bytes(b"\x80\x04\x95 a pickle")
    with pytest.raises(ModelFileError, match="it is not a committee model file"):
        load(path)
    np.savez(path.with_suffix(".npz"), a=np.arange(100))
    with pytest.raises(ModelFileError, match="zip file, but not a committee model file"):
        load(path.with_suffix(".npz"))
    write(path, header={"format": "other-model", "version": 1})
    with pytest.raises(ModelFileError, match="zip file, but not a committee model file"):
        load(path)


def test_a_newer_format_says_so_even_if_the_rest_has_changed(path):
    write(path, header={"format": "committee-model", "version": 7, "new": [1]})
    path.write_bytes(path.read_bytes() + b"anything")
    with pytest.raises(ModelFileError, match=r"version 7; this committee reads versions up to 1"):
        load(path)


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None])
def test_a_version_that_is_none_is_refused(path, version):
    write(
        path, header={"format": "committee-model", "version": version, "committee": "", "root": 1}
    )
    with pytest.raises(ModelFileError, match="no format version"):
        load(path)


# ---- hostile zips: each has correct checksums ----


def hostile_zip(path, entries, method=zipfile.ZIP_STORED):
    """A zip by zipfile with these entries, and a first entry just as the format wants it."""
    header = b'{"format":"committee-model","version":1,"committee":"0","root":null}'
    write(path, header_bytes=header)
    first = path.read_bytes()[: 64 + len(header)]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        info = zipfile.ZipInfo("header.json")
        info.extra = first[41:64]
        archive.writestr(info, header)
        for name, data in entries:
            archive.writestr(name, data)
    path.write_bytes(first + stream.getvalue()[len(first) :])


def test_compressed_entries_are_refused(path):
    hostile_zip(path, [("arrays/0.npy", bytes(10**6)), ("SHA256SUMS", "")], zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="cannot load"):
        load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", " " * 1000)
    with pytest.raises(ModelFileError, match=r"header\.json is compressed"):
        load(path)


@pytest.mark.parametrize(
    "names",
    [
        ["../evil", "SHA256SUMS"],
        ["/etc/evil", "SHA256SUMS"],
        ["arrays/1.npy", "SHA256SUMS"],
        ["header.json", "SHA256SUMS"],
        ["notes.txt", "SHA256SUMS"],
        ["arrays/0.npy", "arrays/0.npy", "SHA256SUMS"],
        ["SHA256SUMS", "SHA256SUMS"],
        ["arrays/\N{PENGUIN}.npy", "SHA256SUMS"],
    ],
)
def test_unexpected_entries_are_refused(path, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns about repeated names
        hostile_zip(path, [(name, b"") for name in names])
    with pytest.raises(ModelFileError, match="cannot load"):
        load(path)


def test_entry_names_are_checked_one_by_one(path, monkeypatch):
    for name in ("../evil", "/evil", "header.json", "arrays/1.npy"):
        with monkeypatch.context() as patch:
            patch.setattr(_archive, "_array_name", lambda index, name=name: name)
            write(path, [{"array": 0}], [np.arange(3)])
        with pytest.raises(
            ModelFileError, match=f"entry '{name}' where 'arrays/0.npy' is expected"
        ):
            load(path)


def edit(path, old, new, count=1):
    data = path.read_bytes()
    assert data.count(old) >= count
    path.write_bytes(data.replace(old, new))


def test_overlapping_entries_are_refused(path):
    # Two arrays of the same bytes, the second of which the directory puts on top of the first.
    write(path, [{"array": 0}, {"array": 1}], [np.arange(3), np.arange(3)])
    with zipfile.ZipFile(path) as archive:
        first, second = (archive.getinfo(f"arrays/{i}.npy").header_offset for i in (0, 1))
    data = path.read_bytes()
    place = data.rindex(struct.pack("<I", second), 0, data.rindex(b"arrays/1.npy"))
    path.write_bytes(data[:place] + struct.pack("<I", first) + data[place + 4 :])
    with pytest.raises(ModelFileError, match=r"arrays/1\.npy overlaps another or leaves a gap"):
        load(path)


@pytest.mark.parametrize("size", [0xFFFF_FFFE, 2**31, 100_000])
def test_an_entry_larger_than_the_file_is_refused_before_memory_is_taken(path, size):
    write(path, [{"array": 0}], [np.arange(3)])
    edit(path, struct.pack("<2I", 152, 152), struct.pack("<2I", size, size), 2)
    with pytest.raises(ModelFileError, match=f"claims {size} bytes, more than there are"):
        load(path)


def npy(descr="'<f8'", order="False", shape="(2,)", data=bytes(16), version=b"\x01\x00", pad=True):
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64 if pad else 0) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(), None),
        (npy(descr="'|O'"), "dtype '|O'"),
        (npy(descr="'>f8'"), "dtype '>f8'"),
        (npy(descr="'<f16'", shape="(1,)"), "dtype '<f16'"),
        (npy(descr="'<M8[xx]'"), "dtype '<M8[xx]'"),
        (npy(descr="'<U0'"), "dtype '<U0'"),
        (npy(descr="[('a', '<f8')]"), "not a plain .npy array"),
        (npy(order="True"), "not a plain .npy array"),
        (npy(shape="(2, )"), "not a plain .npy array"),
        (npy(shape="(02,)"), "not a plain .npy array"),
        (npy(shape="(-2,)"), "not a plain .npy array"),
        (npy(shape="(" + "1, " * 39 + "2)"), "not a plain .npy array"),
        (npy(shape="(__import__('os'),)"), "not a plain .npy array"),
        (npy(pad=False), "not a plain .npy array"),
        (npy(version=b"\x02\x00"), "not a plain .npy array"),
        (npy()[:60], "not a plain .npy array"),
        (npy()[:7], "not a plain .npy array"),
        (b"", "not a plain .npy array"),
        (npy(shape="(3,)"), "announces 24 bytes"),
        (npy(shape="(1,)"), "announces 8 bytes"),
        (npy(shape="(2147483648, 2147483648)"), "announces 36893488147419103232 bytes"),
        (npy(shape="(0, 4611686018427387904, 8)", data=b""), "impossible shape"),
        (npy(shape="(0, 99999999999999999999)", data=b""), "impossible shape"),
        (npy(descr="'|b1'", data=b"\x00\x02"), "neither 0 nor 1"),
        (npy(descr="'<U2'", data=b"\xff" * 16), "beyond Unicode"),
    ],
)
def test_an_array_must_be_plain(path, monkeypatch, content, message):
    with monkeypatch.context() as patch:
        patch.setattr(_archive, "_npy_header", lambda descr, shape: content)
        write(path, {"array": 0}, [np.empty(0)])
    if message is None:
        np.testing.assert_array_equal(load(path), [0, 0])
    else:
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert message in str(caught.value)


# ---- hostile headers ----

START = b'{"format":"committee-model","version":1,"committee":"0","root":'


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (b"[1, 2]", None),
        (b"NaN", "NaN is not a JSON value"),
        (b"-Infinity", "-Infinity is not a JSON value"),
        (b"1e999", "a number is too large"),
        (b"9007199254740992", "an integer is too large"),
        (b"1" * 100_000, "an integer is too large"),
        (b"[" * 300 + b"]" * 300, "nested too deeply"),
        (b"[" * 10**6, "nested too deeply"),
        (b'{"a":' * 10**6, "nested too deeply"),
        (b'{"tuple": [' * 90 + b"]}" * 90, "levels deep"),
        (b'{"tuple": [], "tuple": []}', "a name appears twice"),
        (b'"\xff"', "not valid JSON"),
        (b'"\\', "not valid JSON"),
        (b"", "not valid JSON"),
        (b"1} {", "not valid JSON"),
        (b'1, "extra": 2', "members of format version 1"),
        (b'{"estimator": {"class": "posix.system", "params": {}, "attributes": {}}}', "not know"),
        (b'{"estimator": {"class": "save", "params": {}, "attributes": {}}}', "does not know"),
        (
            b'{"estimator": {"class": "Drawer", "params": {"a": 1}, "attributes": {}}}',
            "not have: a",
        ),
        (b'{"array": 0}', "array 0, which is used or does not exist"),
    ],
)
def test_a_header_must_be_plain(path, root, message):
    write(path, header_bytes=START + root + b"}")
    if message is None:
        assert load(path) == [1, 2]
    else:
        with pytest.raises(ModelFileError, match=message):
            load(path)


@pytest.mark.parametrize("seed", range(10))
def test_a_scrambled_header_with_a_correct_checksum_gives_a_model_or_an_error(saved, seed):
    draw = random.Random(seed)
    with zipfile.ZipFile(saved) as archive:
        header = archive.read("header.json")
        arrays = [np.load(io.BytesIO(archive.read(f"arrays/{i}.npy"))) for i in range(4)]
    root = header.index(b'"root"')
    for _ in range(40):
        data = bytearray(header)
        for _ in range(draw.randint(1, 3)):
            start = draw.randrange(root, len(data))
            length = draw.randrange(3)
            data[start : start + length] = bytes(draw.choices(b'[]{},:"-0129.eE\\_nax', k=length))
        write(saved, header_bytes=bytes(data), arrays=arrays)
        try:
            load(saved)
        except ModelFileError as error:
            assert "model.committee': it" in str(error)  # noqa: PT017


def test_brackets_in_text_are_no_depth(path):
    for text in ('[{"\\' * 1000, '"' + "[" * 1000, "\\" + "[" * 1000, '\\"' + "[" * 1000):
        save(text, path)
        assert load(path) == text


def test_a_raised_recursion_limit_does_not_crash_the_reader(path):
    write(path, header_bytes=START + b"[" * 10**6)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10**7)
    try:
        with pytest.raises(ModelFileError, match="nested too deeply"):
            load(path)
    finally:
        sys.setrecursionlimit(limit)


def test_a_header_beyond_the_limit_is_not_read(path, monkeypatch):
    save("x" * 2000, path)
    monkeypatch.setattr(_archive, "MAX_HEADER_BYTES", 1000)
    with pytest.raises(ModelFileError, match="bytes; at most 1000 are read"):
        load(path)


def test_the_number_of_lists_is_limited_on_both_sides(path, monkeypatch):
    save([[], [[]], "[[[["], path)  # four lists and the object around them
    monkeypatch.setattr(_model_file, "MAX_JSON_CONTAINERS", 5)
    assert load(path) == [[], [[]], "[[[["]
    monkeypatch.setattr(_model_file, "MAX_JSON_CONTAINERS", 4)
    with pytest.raises(ModelFileError, match="its header has more than 4 lists and objects"):
        load(path)
    with pytest.raises(ValueError, match="cannot be stored: it has more than 4 lists"):
        save([[], [[]]], path)


def test_arrays_that_nothing_refers_to_are_refused(path):
    write(path, 1, [np.arange(3)])
    with pytest.raises(ModelFileError, match="1 arrays that nothing refers to"):
        load(path)


def test_format_constants_are_those_of_the_documentation():
    assert (_model_file.FORMAT_NAME, _model_file.FORMAT_VERSION) == ("committee-model", 1)
    assert _archive.MAX_HEADER_BYTES == 64 * 2**20
    assert _model_file.MAX_JSON_CONTAINERS == 4_194_304


def test_the_reader_of_the_documentation_reads_a_file(saved):
    page = pathlib.Path(__file__).parents[1].joinpath("docs", "model-file.md").read_text("utf-8")
    namespace = {}
    exec(page.split("```python\n")[-1].split("```")[0], namespace)
    root, arrays = namespace["read"](saved)
    attributes = root["estimator"]["attributes"]
    np.testing.assert_array_equal(arrays[attributes["weights_"]["array"]], drawer().weights_)
    assert arrays[attributes["classes_"]["array"]].tolist() == ["no", "yes"]


def test_the_documentation_names_every_tag():
    page = pathlib.Path(__file__).parents[1].joinpath("docs", "model-file.md").read_text("utf-8")
    tags = {*SIMPLE_READERS, *_codec._Decoder([])._readers}
    assert {tag for tag in tags if f"\n| `{tag}` |" not in page} == set()
