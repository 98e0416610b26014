"""No bit of a model or of a prediction depends on the kernels of the linear algebra library.

OpenBLAS picks kernels for the processor, which add in different orders. Each of them that runs on
this processor is tried on the cases of `blas_cases.py`.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES_FILE = Path(__file__).parent / "blas_cases.py"
# Old, usual and new ones of x86. Others are kernels of one of these, or of other processors.
KERNELS = ["Prescott", "Haswell", "SkylakeX"]
CONTROL = "a_product_of_matrices_differs"


def names_of_cases():
    functions = [node for node in ast.parse(CASES_FILE.read_text()).body if is_case(node)]
    return [node.name for node in functions]


def is_case(node):
    return isinstance(node, ast.FunctionDef) and [ast.unparse(d) for d in node.decorator_list] == [
        "case"
    ]


@pytest.fixture(scope="module")
def digests():
    """Digests of each case, by the kernel that was really used."""
    runs = {
        kernel: subprocess.Popen(
            [sys.executable, str(CASES_FILE)],
            env=os.environ | {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "2"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for kernel in KERNELS
    }
    found, missing = {}, []
    for kernel, run in runs.items():
        out, err = run.communicate()
        if run.returncode < 0:  # an instruction that this processor does not have
            missing.append(kernel)
            continue
        assert run.returncode == 0, err
        result = json.loads(out)
        # A library without the kernel takes another; one that is not OpenBLAS has none of them.
        found[" and ".join(result["kernels"])] = result["digests"]
    if len(found) < 2:
        pytest.skip(f"only the kernel {list(found)} runs here, without {missing}")
    return found


def test_the_kernels_that_run_here_differ(digests):
    own = {kernel: each[CONTROL] for kernel, each in digests.items()}
    if len(set(own.values())) == 1:
        pytest.skip(f"the kernels {list(own)} give the same bits: nothing is tested here")


@pytest.mark.parametrize("name", [name for name in names_of_cases() if name != CONTROL])
def test_no_bit_depends_on_the_kernel(name, digests):
    own = {kernel: each[name] for kernel, each in digests.items()}
    assert len(set(own.values())) == 1, own
