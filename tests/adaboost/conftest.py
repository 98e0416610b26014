"""Tables for tests of AdaBoost."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(params=[2, 3])
def n_classes(request):
    return request.param


@pytest.fixture
def case(n_classes, rng):
    """Numbers, classes and weights in which no two stumps are equally good."""
    X = rng.normal(size=(70, 3)).astype(np.float32).astype(float)
    y = np.digitize(X[:, 0] + X[:, 1] / 2 + rng.normal(size=70) / 2, np.arange(n_classes - 1) - 0.4)
    y[:n_classes] = np.arange(n_classes)
    return X, y, rng.uniform(0.5, 1.5, 70)


@pytest.fixture
def frame(rng):
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.choice(["x", "y", "z"], 120)})
    X["c"] = pd.Categorical(rng.choice(["u", "v"], 120), ["v", "u", "w"])
    X["d"] = rng.integers(-3, 4, 120)
    y = np.where(X["a"] + (X["b"] == "x") + rng.normal(size=120) / 2 > 0.3, "yes", "no")
    X.loc[rng.random(120) < 0.1, "a"] = np.nan
    X.loc[rng.random(120) < 0.1, "b"] = None
    return X, y


@pytest.fixture
def noisy(rng):
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300) > 0.8).astype(int)
    return (X[:200], y[:200]), (X[200:], y[200:])
