"""Targets and comparisons for tests of gradient boosting."""

import numpy as np

from committee import GradientBoostingClassifier, GradientBoostingRegressor

BOTH = [GradientBoostingClassifier, GradientBoostingRegressor]
LOSSES = [
    "squared_error",
    "absolute_error",
    "huber",
    "quantile",
    "poisson",
    "gamma",
    "tweedie",
]


def target_of(cls, table):
    return table[1] if cls is GradientBoostingClassifier else table[2]


def assert_same(a, b, X):
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.train_score_, b.train_score_)
