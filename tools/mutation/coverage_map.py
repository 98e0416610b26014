"""Which tests run which lines: made once by `make`, and asked by line afterwards.

Lines of Python come from contexts of coverage.py. Lines of C++ come from an engine whose basic
blocks report that they run (`trace.cpp`); a line belongs to the blocks that its machine code lies
in. The sources of that time are kept, so that lines are found again after the sources have changed.
"""

import bisect
import difflib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections import defaultdict
from functools import cache, cached_property
from pathlib import Path
from typing import IO

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
WORK = ROOT / "build" / "mutation"
FOLDER = WORK / "map"
SNAPSHOT = WORK / "snapshot"  # the sources that mutants are made of, whatever is edited meanwhile
TRACED = ["-DCOMMITTEE_FLAGS=-fsanitize-coverage=trace-pc -g1 -O1"]


def build_engine(source: Path, build: Path, options: list[str], log: IO[str] | None = None) -> Path:
    """Compile the engine of a source tree; returns the library."""
    folder = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True)
    configure = ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(build)]
    configure += ["-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-Dnanobind_DIR={folder.strip()}", *options]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", str(build), "-k0"], check=True, stdout=log)
    (library,) = build.glob("_core*.so")
    return library


def take_snapshot(to: Path) -> None:
    """Copy the sources."""
    shutil.rmtree(to / "src", ignore_errors=True)
    ignore = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src", to / "src", ignore=ignore)


def copy_package(to: Path, engine: Path, source: Path = ROOT) -> Path:
    """Put the package with another engine below a folder, from which it can be imported."""
    shutil.rmtree(to, ignore_errors=True)
    ignore = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(source / "src" / "committee", to / "committee", ignore=ignore)
    shutil.copy(engine, to / "committee")
    return to / "committee"


def make(tests: list[str]) -> None:
    """Run tests, all of them unless named, and note what they run."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    engine = build_engine(ROOT, WORK / "core-traced", TRACED)
    package = copy_package(WORK / "traced", engine)
    take_snapshot(FOLDER)
    trace = WORK / "libtrace.so"
    compiler = ["c++", "-O2", "-shared", "-fPIC", str(HERE / "trace.cpp"), "-o", str(trace)]
    subprocess.run(compiler, check=True)
    paths = [str(package.parent), str(HERE), os.environ.get("PYTHONPATH", "")]
    more = {
        "PYTHONPATH": os.pathsep.join(paths),
        "LD_PRELOAD": str(trace),
        "MUTATION_MAP": str(FOLDER),
        "MUTATION_PACKAGE": str(package),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "recorder", "-p", "no:cacheprovider"]
    subprocess.run([*command, *tests], cwd=ROOT, env=os.environ | more, check=False)
    keep_core_lines(engine)


# ---- machine code to lines ----


def keep_core_lines(engine: Path) -> None:
    """Write, for each line of the engine, the blocks that it is in."""
    code = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", engine], text=True)
    blocks, functions, called = [], [], False
    for line in code.splitlines():
        if name := re.match(r"([0-9a-f]+) <", line):
            functions.append(int(name[1], 16))
        if called and (address := re.match(r"\s*([0-9a-f]+):", line)):
            blocks.append(int(address[1], 16))  # where the call returns to: a block begins
        called = "<__sanitizer_cov_trace_pc@plt>" in line and "call" in line
    blocks.sort()
    functions.sort()
    found: dict[str, set[int]] = defaultdict(set)
    table = subprocess.check_output(["objdump", "-WL", engine], text=True)
    path = ""
    for line in table.splitlines():
        if line.endswith(":"):
            path = line.rstrip(":").partition("/src/core/")[2]
        entry = re.match(r"(\S+)\s+(\d+)\s+0x([0-9a-f]+)", line)
        if path and entry and path.endswith(entry[1]):
            address = int(entry[3], 16)
            block = bisect.bisect_right(blocks, address) - 1
            function = functions[bisect.bisect_right(functions, address) - 1]
            if block < 0 or blocks[block] < function:
                block += 1  # the function begins before its first block says so
            if block < len(blocks):
                found[f"{path}:{entry[2]}"].add(blocks[block])
    lines = {key: sorted(value) for key, value in found.items()}
    (FOLDER / "core.json").write_text(json.dumps(lines))


# ---- asking ----


class CoverageMap:
    """Which tests run a line, those that run little else first."""

    def __init__(self) -> None:
        self.lines = sqlite3.connect(FOLDER / "lines")
        rows = sqlite3.connect(FOLDER / "tests").execute("select name, seconds, blocks from test")
        self.seconds: dict[str, float] = {}
        self.blocks: dict[str, np.ndarray] = {}
        for name, seconds, blocks in rows:
            self.seconds[name] = seconds
            self.blocks[name] = np.frombuffer(zlib.decompress(blocks), np.uint32)
        self.core_lines = json.loads((FOLDER / "core.json").read_text())
        self.of_file: dict[str, list[str]] = defaultdict(list)
        for name in self.seconds:
            self.of_file[name.partition("::")[0]].append(name)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How much each test runs: lines of Python and blocks of C++."""
        sizes = {name: len(blocks) for name, blocks in self.blocks.items()}
        query = (
            "select context.context, numbits from line_bits join context on context.id=context_id"
        )
        for name, bits in self.lines.execute(query):
            if name in sizes:
                sizes[name] += int.from_bytes(bits, "little").bit_count()
        return sizes

    def covering(self, path: str, line: int) -> list[str]:
        """Tests that run a line of `src/...`; where none does, tests that run its file at all.

        A line that runs at import, such as a constant, belongs to its file in the same way.
        """
        lines = old_lines(path, line)
        find = self.core_tests if path.startswith("src/core/") else self.python_tests
        found = {name for each in lines for name in find(path, each)}
        if not found:
            found = set(find(path, None))
        return sorted(found, key=lambda name: (self.sizes[name], name))

    def python_tests(self, path: str, line: int | None) -> list[str]:
        query = (
            "select context.context, numbits from line_bits "
            "join context on context.id=context_id join file on file.id=file_id "
            "where file.path like ?"
        )
        rows = self.lines.execute(query, ["%/mutation/traced/" + path.removeprefix("src/")])
        return [
            name
            for name, bits in rows
            if name in self.seconds and (line is None or has_bit(bits, line))
        ]

    def core_tests(self, path: str, line: int | None) -> list[str]:
        path = path.removeprefix("src/core/")
        if line is None:
            keys = [key for key in self.core_lines if key.startswith(f"{path}:")]
        else:
            keys = [f"{path}:{line}"]
            if keys[0] not in self.core_lines:  # it shares code with its neighbours
                keys = [f"{path}:{line + step}" for step in (-2, -1, 1, 2)]
        blocks = [block for key in keys for block in self.core_lines.get(key, [])]
        wanted = np.unique(np.array(blocks, np.uint32))
        if not len(wanted):
            return []
        return [
            name
            for name, seen in self.blocks.items()
            if np.isin(wanted, seen, assume_unique=True).any()
        ]

    def neighbours(self, names: list[str]) -> list[str]:
        """The other tests of the same files: fixtures may have run the line for the first only."""
        known = set(names)
        files = {name.partition("::")[0] for name in names}
        rest = [name for file in files for name in self.of_file[file] if name not in known]
        return sorted(rest, key=lambda name: (self.sizes[name], name))


def has_bit(bits: bytes, line: int) -> bool:
    return line // 8 < len(bits) and bits[line // 8] >> line % 8 & 1 == 1


@cache
def matching(path: str) -> list[tuple[int, int, int]]:
    """Runs of equal lines: of the sources as they are, and as they were for the map."""
    old = FOLDER / path
    if not old.exists():
        return []
    now = (SNAPSHOT / path).read_text().splitlines()
    matcher = difflib.SequenceMatcher(None, now, old.read_text().splitlines(), autojunk=False)
    return [tuple(block) for block in matcher.get_matching_blocks()]


def old_lines(path: str, line: int) -> list[int]:
    """The numbers that a line had when the map was made: itself, or the lines around it."""
    before = 0
    for now, old, length in matching(path):
        if now <= line - 1 < now + length:
            return [old + line - now]
        if now > line - 1:
            return [before, old + 1]
        before = old + length
    return [before]
