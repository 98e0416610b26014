"""Seeds for all tests: one fixed seed by default, another through an environment variable."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

# `reference` and `tree_tools` are imported by name from every folder of tests.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def seed():
    """The seed of a test; COMMITTEE_TEST_SEED=7 runs the suite with another one."""
    return int(os.environ.get("COMMITTEE_TEST_SEED", "0"))


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)
