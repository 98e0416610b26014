"""Every example runs to its end, without a warning, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def run_example(path, folder):
    return subprocess.run(
        [sys.executable, "-W", "error", path],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_leaves_no_files(path, tmp_path):
    result = run_example(path, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()
    assert list(tmp_path.iterdir()) == []


def test_adaboost_by_hand_gets_every_point_right_after_three_rounds(tmp_path):
    path = next(path for path in EXAMPLES if path.stem == "adaboost_by_hand")
    lines = run_example(path, tmp_path).stdout.splitlines()
    assert [line.split("error ")[1][:4] for line in lines] == ["0.30", "0.21", "0.14"]
    assert lines[-1].endswith("gets 0 of 10 wrong")
