"""A plugin of pytest that notes, for each test, the lines of Python and the blocks of C++ it runs.

Loaded by `python tools/mutate.py map`, which sets the variables that are read below.
"""

import ctypes
import os
import sqlite3
import time
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import coverage
import numpy as np
import pytest

FOLDER = Path(os.environ["MUTATION_MAP"])


def code_of(module: str) -> tuple[int, int]:
    """Where a loaded library begins, and how many bytes it spans."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    spans = [line.split()[0].split("-") for line in lines if line.endswith(module)]
    begin = min(int(span[0], 16) for span in spans)
    return begin, max(int(span[1], 16) for span in spans) - begin


class Recorder:
    """Switches the context of coverage, and empties the notes of blocks, before each test."""

    def __init__(self) -> None:
        package = os.environ["MUTATION_PACKAGE"]
        self.coverage = coverage.Coverage(
            data_file=FOLDER / "lines", config_file=False, include=[f"{package}/*"]
        )
        self.coverage.load()
        self.coverage.start()
        self.database = sqlite3.connect(FOLDER / "tests")
        self.database.execute(
            "create table if not exists test (name text primary key, seconds real, blocks blob)"
        )
        self.notes: Any = None

    def begin_blocks(self) -> None:
        from committee import _core  # only now: coverage has to see the import of the package

        begin, length = code_of(_core.__file__)
        self.notes = np.zeros(length, np.uint8)
        trace = ctypes.CDLL(os.environ["LD_PRELOAD"]).trace_range
        trace.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]
        trace(begin, length, self.notes.ctypes.data)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        if self.notes is None:
            self.begin_blocks()
        self.coverage.switch_context(item.nodeid)
        self.notes[:] = 0
        begin = time.perf_counter()
        result = yield
        seconds = time.perf_counter() - begin
        blocks = np.flatnonzero(self.notes.copy()).astype(np.uint32)
        row = (item.nodeid, seconds, zlib.compress(blocks.tobytes(), 1))
        self.database.execute("insert or replace into test values (?, ?, ?)", row)
        return result

    def pytest_sessionfinish(self) -> None:
        self.coverage.switch_context("")
        self.coverage.stop()
        self.coverage.save()
        self.database.commit()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder())
