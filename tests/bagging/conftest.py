"""Tables for tests of bagging."""

import pytest
from sklearn.datasets import load_diabetes, load_iris


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)
