"""No bit that the engine computes depends on whether the processor has fused multiply-add."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from processor_cases import CASES

from committee import _core

# The C library is told what not to use; other systems do not know the variable.
OLD = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable"}


@pytest.fixture(scope="module")
def digests():
    found = []
    for more in ({}, OLD):
        command = [sys.executable, str(Path(__file__).parent / "processor_cases.py")]
        run = subprocess.run(command, env=os.environ | more, capture_output=True, check=True)
        found.append(json.loads(run.stdout))
    if found[0]["c_library"] == found[1]["c_library"]:
        pytest.skip("the C library computes the same here, so that nothing would be tested")
    return found


@pytest.mark.parametrize("name", [case.__name__ for case in CASES[1:]])
def test_no_bit_depends_on_the_processor(name, digests):
    assert digests[0][name] == digests[1][name]


def test_logarithms_of_the_engine_are_logarithms(rng):
    # The loss of a row whose scores are equal is the logarithm of the number of classes.
    for n_classes in (1, 2, 3, 7, 100):
        losses = np.empty(1)
        scores = np.zeros((1, n_classes), order="F")
        _core.multinomial_losses(np.zeros(1, np.int32), scores, losses)
        assert losses[0] == pytest.approx(math.log(n_classes), rel=1e-15, abs=0)
    data = _core.BinnedDataset(_core.Table.from_matrix(np.zeros((60_000, 1))))
    for share in (0.5, 0.25, 0.001, *rng.random(30)):
        classes = (np.arange(60_000) < share * 60_000).astype(np.int32)[:, None]
        tree = _core.grow_tree(
            data, classes=classes, n_classes=[2], settings={"criterion": "entropy"}
        )
        p = classes.mean()
        expected = -p * math.log2(p) - (1 - p) * math.log2(1 - p)
        assert tree.arrays()["impurity"][0] == pytest.approx(expected, rel=1e-14)
