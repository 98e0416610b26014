"""A row of weight two is that row twice, and the order of rows does not matter, draws included."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from committee import GradientBoostingClassifier, GradientBoostingRegressor

DRAWS = {
    "rounds": {"learning_rate": 0.3},
    "one part": {"learning_rate": 0.3, "validation_fraction": 0.3},
    "subsample": {"n_estimators": 12, "subsample": 0.6},
    "subsample, few rows a leaf": {"n_estimators": 12, "subsample": 0.6, "min_samples_leaf": 2},
    "subsample, exact": {"n_estimators": 8, "subsample": 0.6, "split_finding": "exact"},
    "early stopping": {"n_estimators": 40, "learning_rate": 0.3, "early_stopping": True},
    "score": {"learning_rate": 0.3, "scoring": "accuracy"},
}
OF_NUMBERS = {
    "medians": {"n_estimators": 8, "subsample": 0.6, "loss": "absolute_error"},
    "huber": {"n_estimators": 20, "loss": "huber", "early_stopping": True},
    "any learner": {"n_estimators": 5, "subsample": 0.6, "estimator": Ridge()},
    "any learner that stops": {
        "n_estimators": 5,
        "early_stopping": True,
        "estimator": Ridge(),
        "n_iter_no_change": 2,
    },
}


@pytest.fixture(params=["numbers", "classes"])
def table(request, rng):
    """Cells, target and weights; few distinct values, so that bins do not depend on the rows."""
    X = rng.integers(0, 12, size=(150, 4)).astype(float)
    X[:30] = X[30:60]  # equal cells, other targets
    y = X[:, 0] + 5 * np.sin(X[:, 1]) + rng.normal(size=150)
    y[:10] = y[30:40]  # or the same
    weight = rng.integers(0, 4, 150).astype(float)
    if request.param == "numbers":
        return GradientBoostingRegressor, X, y, weight
    return GradientBoostingClassifier, X, np.digitize(y, [2.0, 9.0]), weight


def fitted(model, X, y, weight, rng, **options):
    """Return the model of weights, and of the same rows repeated in a random order."""
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight.astype(int)))
    other = {name: values[rows] for name, values in options.items()}
    weighted = clone(model).fit(X, y, weight, **options)
    return weighted, clone(model).fit(X[rows], y[rows], **other)


def assert_equal(weighted, repeated, X):
    assert weighted.n_estimators_ == repeated.n_estimators_
    np.testing.assert_allclose(weighted._scores(X), repeated._scores(X), rtol=1e-8, atol=1e-8)
    for name, column in weighted.training_log_.columns().items():
        if name != "seconds":
            other = repeated.training_log_.columns()[name]
            np.testing.assert_allclose(column, other, rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("draws", DRAWS)
def test_weights_are_rows_in_any_order(draws, table, rng):
    cls, X, y, weight = table
    params = dict(DRAWS[draws])
    if cls is GradientBoostingRegressor and "scoring" in params:
        params["scoring"] = "r2"
    model = cls(random_state=3, **params)
    weighted, repeated = fitted(model, X, y, weight, rng)
    assert_equal(weighted, repeated, X)
    if params.get("n_estimators") is None:
        np.testing.assert_allclose(weighted.round_choice_.mean, repeated.round_choice_.mean)
    once = clone(model).fit(X, y)
    assert not np.array_equal(once._scores(X), weighted._scores(X))  # weights matter here


@pytest.mark.parametrize("draws", OF_NUMBERS)
def test_weights_are_rows_for_other_losses_and_learners(draws, table, rng):
    cls, X, y, weight = table
    if cls is GradientBoostingRegressor:
        model = GradientBoostingRegressor(random_state=3, **OF_NUMBERS[draws])
        assert_equal(*fitted(model, X, y, weight, rng), X)


@pytest.mark.parametrize("draws", ["rounds", "subsample", "early stopping"])
def test_weights_are_rows_of_their_group(draws, table, rng):
    cls, X, y, weight = table
    model = cls(random_state=3, **DRAWS[draws])
    groups = rng.integers(0, 20, len(y))
    assert_equal(*fitted(model, X, y, weight, rng, groups=groups), X)


@pytest.mark.parametrize("draws", ["rounds", "early stopping"])
def test_the_last_rows_are_counted_with_their_weights(draws, table):
    cls, X, y, weight = table
    model = cls(random_state=3, validation_part="last", **DRAWS[draws])
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    assert_equal(clone(model).fit(X, y, weight), clone(model).fit(X[rows], y[rows]), X)


def test_the_unit_of_weights_that_are_not_whole_does_not_matter(table, rng):
    cls, X, y, _ = table
    weight = rng.uniform(0.1, 3, len(y))
    order = rng.permutation(len(y))
    model = cls(random_state=3, learning_rate=0.3)
    first = clone(model).fit(X, y, weight)
    other = clone(model).fit(X[order], y[order], 1.7 * weight[order])
    assert first.n_estimators_ == other.n_estimators_
    np.testing.assert_allclose(first._scores(X), other._scores(X), rtol=1e-7, atol=1e-7)


def test_members_of_bagging_do_not_learn_their_validation_rows(rng):
    """Noise is not learned, though a drawn sample has most of its rows more than once."""
    X, y = rng.normal(size=(300, 5)), rng.normal(size=300)
    weight = np.bincount(rng.integers(0, 300, 300), minlength=300).astype(float)
    model = GradientBoostingRegressor(random_state=0).fit(X, y, weight)
    assert model.n_estimators_ < 40
    assert model.score(X[weight == 0], y[weight == 0]) > -0.1
