"""Model files whose bytes are changed, with checksums, sizes and places put right again.

`hostile_models.py` changes what a file says; here its bytes change: of an array with its header, of
JSON, of the list of entries, of the records between them. `load` refuses the file by a
ModelFileError, or the model can be used; anything else is a fault.

`python tests/hostile_files.py SECONDS [SEED]` looks for faults for a longer time.
"""

import faulthandler
import hashlib
import io
import random
import sys
import tempfile
import time
import warnings
import zipfile
import zlib
from pathlib import Path

from hostile_models import METHODS, call, is_plain, plans

import committee
from committee.files import archive
from committee.files.model_file import ModelFileError

ODD = [
    b"",
    b"\0",
    b"\xff",
    b"-1",
    b"1e999",
    b"NaN",
    b"null",
    b'""',
    b"[]",
    b"{}",
    b"0",
    b"<f4",
    b"|O",
]
ODD += [b"(0,)", b"9" * 25, b"True", b"<i8", b"<U9", b"\x93NUMPY", b"PK\x03\x04", b'{"array":0}']


def file_of(name):
    """The bytes of the model file of a plan, with its table."""
    model, X, y = plans()[name]
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        committee.save(model.fit(X, y), Path(folder, "model"))
        return Path(folder, "model").read_bytes(), X


def unpacked(data):
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return [[name, opened.read(name)] for name in opened.namelist()][:-1]


def packed(entries):
    """Return a file with these entries, in which all that follows from their content is right."""
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in entries)
    body, directory = b"", b""
    for name, content in [*entries, (archive.SUMS_NAME, sums.encode())]:
        entry = archive.Entry(name, len(content), zlib.crc32(content), len(body))
        body += entry.local_header() + content
        directory += entry.directory_record()
    end = archive._end_record(len(entries) + 1, len(body), len(directory))
    return body + directory + end


def change_bytes(content, draw, other):
    """Change one place of some bytes."""
    # Headers of arrays are short and say the most: they are hit as often as what follows them.
    begin = draw.randrange(min(len(content), draw.choice([128, len(content)])) + 1)
    end = min(begin + draw.choice([0, 1, 1, 2, 4, 8, 64]), len(content))
    where = draw.randrange(len(other) + 1)
    flipped = bytes(byte ^ 1 << draw.randrange(8) for byte in content[begin:end])
    middle = draw.choice(
        [flipped, flipped, draw.choice(ODD), b"", other[where : where + end - begin]]
    )
    return content[:begin] + middle + content[end:]


def changed(data, draw):
    """Return a changed file and what was done to it."""
    entries = unpacked(data)
    done = []
    for _ in range(draw.choice([1, 1, 2])):
        place, other = draw.randrange(len(entries)), draw.randrange(len(entries))
        action = draw.choice(["bytes"] * 6 + ["content", "drop", "twice", "order", "name"])
        done.append(f"{action} {entries[place][0]}")
        if action == "bytes":
            entries[place][1] = change_bytes(entries[place][1], draw, entries[other][1])
        elif action == "content":
            entries[place][1] = entries[other][1]
        elif action == "drop" and len(entries) > 1:
            del entries[place]
        elif action == "twice":
            entries.insert(other, list(entries[place]))
        elif action == "order":
            entries[place], entries[other] = entries[other], entries[place]
        elif action == "name":
            entries[place][0] = draw.choice(["header.json", "arrays/0.npy", "../x", "", "a" * 300])
    if draw.random() < 0.6:  # the arrays are numbered as they are found
        for number, entry in enumerate(entries[1:]):
            entry[0] = f"arrays/{number}.npy"
    made = packed(entries)
    if draw.random() < 0.2:  # records between the entries are not put right
        made = change_bytes(made, draw, made)
        done.append("after packing")
    return made, "; ".join(done)


def check(data, X, path):
    """Load a file and use the model; return False if it is refused."""
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = committee.load(path)
        except ModelFileError:
            return False
        for name in METHODS:
            try:
                if hasattr(model, name):
                    call(model, name, X)
            except Exception as error:
                if not is_plain(error):
                    raise
        return True


def main(seconds, seed):
    faulthandler.enable()
    files = {name: file_of(name) for name in plans()}
    draw, begin, counts = random.Random(seed), time.monotonic(), [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() - begin < seconds:
            name, number = draw.choice(list(files)), draw.getrandbits(60)
            sys.stderr.write(f"{name} {number}\r")  # the last one, should the process end
            faulthandler.dump_traceback_later(60, exit=True)
            made, what = changed(files[name][0], random.Random(number))
            try:
                counts[check(made, files[name][1], Path(folder, "model"))] += 1
            except Exception as error:
                error.add_note(f"{name} {number}: {what}")
                raise
            faulthandler.cancel_dump_traceback_later()
    sys.stdout.write(f"{counts[0]} refused, {counts[1]} in use, 0 faults\n")


if __name__ == "__main__":
    main(float(sys.argv[1]), int([*sys.argv, 0][2]))
