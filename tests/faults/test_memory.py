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
    """What a process of its own has found, by estimator."""
    if not sys.platform.startswith("linux"):
        pytest.skip("reads the size of the address space from /proc")
    child = [sys.executable, str(Path(__file__).parent / "memory_child.py")]
    more = {f"MALLOC_{name}_THRESHOLD_": "65536" for name in ("MMAP", "TRIM")}
    more["MALLOC_ARENA_MAX"] = "1"
    run = subprocess.run(
        child, env=os.environ | more, capture_output=True, text=True, check=False, timeout=300
    )
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 0, run.stderr
    return {name: rest for name, *rest in lines}


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_without_memory_fails_and_changes_nothing(name, found):
    outcomes, changed, works = found[name]
    assert set(outcomes) == {"MemoryError", "fitted"}
    assert not changed
    assert works
