"""A table for tests of gradient boosting."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def table(rng):
    """A table of numbers, categories and missing values, with classes and positive numbers."""
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    X["d"] = rng.choice(["x", "y", "z"], 400)
    signal_ = X["a"] + (X["d"] == "x") + np.sin(2 * X["b"])
    X.loc[rng.random(400) < 0.1, "b"] = np.nan
    numbers = np.exp(signal_ / 2 + rng.normal(size=400) / 4)
    return X, np.digitize(signal_, [0.0, 1.0]), numbers.to_numpy()
