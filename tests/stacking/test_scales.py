"""Stacks learn whatever the size of weights and targets; at ordinary sizes nothing is scaled."""

import numpy as np
import pytest
from packaging.version import Version
from peer_versions import SKLEARN
from scipy.sparse import csr_matrix
from sklearn.ensemble import StackingClassifier as ScikitClassifier
from sklearn.ensemble import StackingRegressor as ScikitRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.metrics import log_loss, r2_score
from sklearn.naive_bayes import GaussianNB

from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)

SCALES = [1e-300, 1e-30, 1e-5, 1.0, 1e30]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.normal(size=200)
    return X, y, rng.random(200) + 0.1


def numbers():
    return [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=4))]


def classes():
    return [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3))]


@pytest.mark.parametrize("weight", [None, *SCALES])
def test_classifiers_learn_with_weights_of_any_size(weight, rows):
    X, y, w = rows
    y = (y > 0.5).astype(int)
    weights = None if weight is None else w * weight
    stack = StackingClassifier(classes()).fit(X, y, weights)
    assert log_loss(y, stack.predict_proba(X)) < 0.35  # of the prior it is 0.69


@pytest.mark.parametrize("weight", [None, *SCALES])
@pytest.mark.parametrize("size", SCALES)
def test_regressors_learn_targets_of_any_size_with_weights_of_any_size(size, weight, rows):
    X, y, w = rows
    if weight == 1e30 and Version("1.9") > SKLEARN:
        pytest.skip("before 1.9 RidgeCV loses the digits of targets with such weights")
    weights = None if weight is None else w * weight
    stack = StackingRegressor(numbers()).fit(X, y * size, weights)
    assert r2_score(y, stack.predict(X) / size) > 0.8


@pytest.mark.parametrize("power", [-20, -100, -400])
@pytest.mark.parametrize("passthrough", [False, True])
def test_a_tiny_target_is_the_same_problem_in_another_unit(power, passthrough, rows):
    X, y, _ = rows
    y = np.round(y, 2)
    y = y * (1.5 / (0.5 * y.max() - 0.5 * y.min()))  # half its range is between 1 and 2
    tree = [("tree", DecisionTreeRegressor(max_depth=3))]
    usual = StackingRegressor(tree, passthrough=passthrough).fit(X, y)
    tiny = StackingRegressor(tree, passthrough=passthrough).fit(X, np.ldexp(y, power))
    np.testing.assert_array_equal(np.ldexp(tiny.predict(X), -power), usual.predict(X))
    final, other = tiny.final_estimator_, usual.final_estimator_
    assert final.alpha_ == other.alpha_
    np.testing.assert_array_equal(final.coef_[:1], other.coef_[:1])
    np.testing.assert_allclose(np.ldexp(final.best_score_, -2 * power), other.best_score_)


def test_sparse_columns_beside_predictions_of_a_tiny_target(rows):
    X, y, _ = rows
    X = np.where(np.abs(X) > 0.3, X, 0.0)
    tree = [("tree", DecisionTreeRegressor(max_depth=3))]
    stack = StackingRegressor(tree, passthrough=True).fit(csr_matrix(X), y * 1e-20)
    assert r2_score(y, stack.predict(csr_matrix(X)) * 1e20) > 0.7


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9])
def test_a_large_target_is_learnt_in_any_version_of_scikit_learn(size, rows):
    X, y, _ = rows
    middle = StackingRegressor(numbers()).fit(X, y * 100)  # large enough to feel no penalty
    large = StackingRegressor(numbers()).fit(X, y * size)
    np.testing.assert_allclose(large.predict(X) / size, middle.predict(X) / 100, atol=1e-4)


@pytest.mark.parametrize("weight", [0.01, 1.0, 700.0])
def test_ordinary_sizes_give_scikit_learns_stack_to_the_last_bit(weight, rows):
    X, y, w = rows
    for size in (0.2, 1.0, 1e6 if Version("1.9") <= SKLEARN else 30.0):
        ours = StackingRegressor([("line", LinearRegression())], cv=5).fit(X, y * size, w * weight)
        theirs = ScikitRegressor([("line", LinearRegression())], cv=5)
        theirs.fit(X, y * size, sample_weight=w * weight)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    codes = (y > 0.5).astype(int)
    ours = StackingClassifier([("bayes", GaussianNB())], cv=5).fit(X, codes, w * weight)
    theirs = ScikitClassifier([("bayes", GaussianNB())], cv=5)
    theirs.fit(X, codes, sample_weight=w * weight)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


def test_whole_weights_are_never_scaled(rows):
    X, y, _ = rows
    codes = (y > 0.5).astype(int)
    few = np.zeros(200)
    few[::40] = 1.0  # a mean of 1/40
    few[codes.argmax()] = few[(1 - codes).argmax()] = 1.0
    sure = np.concatenate([few, np.zeros(8000)])
    padded = np.vstack([X, np.zeros((8000, 3))]), np.concatenate([codes, np.zeros(8000, int)])
    model = VotingClassifier([("line", LogisticRegression())], voting="soft")
    expected = model.fit(X[few > 0], codes[few > 0]).predict_proba(X)
    found = model.fit(*padded, sure).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_given_meta_learners_keep_the_target_as_it_is(rows):
    X, y, _ = rows
    stack = StackingRegressor(numbers(), RidgeCV()).fit(X, y * 1e-30)
    assert np.ptp(stack.predict(X)) < 1e-33  # shrunk by absolute penalties: the user chose them
