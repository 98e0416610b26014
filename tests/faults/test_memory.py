"""Where memory runs out, fits raise a MemoryError and leave the estimator as it was."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fault_models import NAMES

pytest.importorskip("resource", reason="needs limits of the address space")


@pytest.fixture(scope="module")
def found():
    """What a process of its own has found, by estimator; a crash is the lack of a line."""
    if not sys.platform.startswith("linux"):
        pytest.skip("reads the size of the address space from /proc")
    child = [sys.executable, str(Path(__file__).parent / "memory_child.py")]
    more = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    run = subprocess.run(
        child, env=os.environ | more, capture_output=True, text=True, check=False, timeout=300
    )
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return {name: rest for name, *rest in lines} | {"ended": (run.returncode, run.stderr)}


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_without_memory_fails_and_changes_nothing(name, found):
    assert found["ended"] == (0, "")
    outcomes, changed, works = found[name]
    assert set(outcomes) <= {"MemoryError", "fitted"}
    assert not changed
    assert works
