"""Where memory runs out, fits raise a MemoryError and leave the estimator as it was."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fault_models import NAMES

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a process whose allocations fail has found, by estimator; and what it complained of."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not sys.platform.startswith("linux") or compiler is None:
        pytest.skip("loads a C file before the C library of Linux")
    library = str(tmp_path_factory.mktemp("malloc") / "failing_malloc.so")
    source = str(HERE / "failing_malloc.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    run = subprocess.run(
        [sys.executable, str(HERE / "memory_child.py"), library],
        env=os.environ | {"LD_PRELOAD": library},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return {name: rest for name, *rest in lines}, run.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_without_memory_fails_and_changes_nothing(name, found):
    by_name, complaints = found
    outcomes, changed, works = by_name[name]
    first, *later = outcomes
    assert first == "fitted", complaints
    assert {"MemoryError"} <= set(later) <= {"MemoryError", "fitted"}, complaints
    assert not changed
    assert works
