"""Marks of comparisons with peers: what an old version does otherwise is no fault of ours."""

import pytest
import sklearn
from packaging.version import Version

SKLEARN = Version(sklearn.__version__)


def needs_sklearn(version, why):
    """Skip a comparison with a scikit-learn older than `version`."""
    return pytest.mark.skipif(Version(version) > SKLEARN, reason=f"before {version} {why}")
