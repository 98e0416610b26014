"""What the lectures say about gradient boosting and stagewise fitting, computed."""

import math
import warnings

import numpy as np
import pytest

from committee import (
    AdaBoostClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from committee.datasets import load_latitudes
from committee.losses import AbsoluteError, Exponential, Huber, SquaredError
from committee.theory import forward_stagewise, stump_basis

# --- forward stagewise additive modelling (002) -------------------------------------------------


@pytest.fixture
def two_classes(rng):
    X = rng.normal(size=(30, 2))
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(size=30) > 0, 1.0, -1.0)


def test_stagewise_fitting_of_the_exponential_loss_is_discrete_adaboost(two_classes):
    X, y = two_classes
    model = forward_stagewise(stump_basis(X), y, loss="exponential", n_steps=8)
    boosted = AdaBoostClassifier(n_estimators=8, criterion="error").fit(X, y)
    np.testing.assert_allclose(np.abs(model.coefficients), boosted.trace_.beta, rtol=1e-9)
    votes = [member.predict(X) for member in boosted]
    np.testing.assert_allclose(model.scores[-1], boosted.trace_.beta @ votes, atol=1e-9)
    np.testing.assert_allclose(model.losses, boosted.trace_.bound, rtol=1e-10)


def test_boosting_with_a_step_for_each_leaf_leaves_adaboost(two_classes):
    # Both choose a stump and lower the same loss; a step for each leaf is the confidence-rated form
    # of Schapire and Singer, which no coefficient times +1 and -1 can follow.
    X, y = two_classes
    model = GradientBoostingClassifier(
        loss=Exponential(refits_leaves=True),
        init="zero",
        learning_rate=1.0,
        max_splits=1,
        min_samples_leaf=1,
        l2_regularization=0.0,
        n_estimators=3,
    ).fit(X, y)
    discrete = forward_stagewise(stump_basis(X), y, loss="exponential", n_steps=3)
    assert not np.allclose(model.decision_function(X), discrete.scores[-1], atol=1e-3)
    assert model.train_score_[0] <= discrete.losses[0] + 1e-9
    first = model.estimators_[0, 0]
    leaves = first.apply(X)
    for leaf in np.unique(leaves):
        right, wrong = (y[leaves == leaf] > 0).sum(), (y[leaves == leaf] < 0).sum()
        if right and wrong:
            step = first.predict(X)[leaves == leaf]
            np.testing.assert_allclose(step, math.log(right / wrong) / 2)


# --- boosting with regression trees: h = 0, B, lambda, d (000) ----------------------------------


@pytest.mark.parametrize("n_splits", [1, 2, 4])
def test_boosting_from_zero_with_d_splits_is_the_algorithm_of_the_lecture(n_splits, rng):
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=80) / 3
    shrinkage, n_trees = 0.1, 40
    fitted, residuals = np.zeros(80), y.copy()
    for _ in range(n_trees):
        tree = DecisionTreeRegressor(max_leaf_nodes=n_splits + 1, split_finding="exact")
        step = shrinkage * tree.fit(X, residuals).predict(X)
        fitted, residuals = fitted + step, residuals - step
    model = GradientBoostingRegressor(
        init="zero",
        learning_rate=shrinkage,
        n_estimators=n_trees,
        max_splits=n_splits,
        min_samples_leaf=1,
        l2_regularization=0.0,
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), fitted, rtol=1e-7)
    assert all(tree.get_n_leaves() == n_splits + 1 for tree in model.estimators_[:, 0])


# --- the four rows (004) ------------------------------------------------------------------------


def latitudes(columns=None, **params):
    """Boosting of the four rows, with two splits a tree."""
    X, y = load_latitudes()
    X = X if columns is None else X[columns]
    params = {"n_estimators": 1, "max_splits": 2, "min_samples_leaf": 1} | params
    return GradientBoostingRegressor(l2_regularization=0.0, **params).fit(X, y), X, y


@pytest.mark.parametrize("init", [None, "mean"])
def test_the_example_of_four_rows_step_by_step(init):
    # In the order length, barbs, grayscale the tree is that of the slide: rows 1 and 3 in one leaf.
    model, X, y = latitudes(["length", "barbs", "grayscale"], init=init, learning_rate=0.2)
    first = model.init_.predict(X)
    assert first.tolist() == [56.25] * 4
    residuals = y - first
    assert residuals.tolist() == [3.75, 13.75, 8.75, -26.25]  # the slide's last is -26.75
    assert residuals.sum() == 0
    np.testing.assert_array_equal(-SquaredError().gradients(y, first)[0], residuals)
    tree = model.estimators_[0, 0]
    steps = [6.25, 13.75, 6.25, -26.25]
    np.testing.assert_allclose(tree.predict(X), np.multiply(0.2, steps))
    assert tree.apply(X)[0] == tree.apply(X)[2]
    (stage,) = model.staged_predict(X)
    np.testing.assert_allclose(stage, 56.25 + 0.2 * np.array(steps))
    assert model.predict(X)[2] == pytest.approx(56.25 + 0.2 * 6.25)  # "ID 3: 56.25 + alpha 6.25"


def test_in_the_order_of_the_slide_the_third_row_gets_another_step():
    model, X, _ = latitudes(learning_rate=1.0)
    assert list(X.columns) == ["grayscale", "length", "barbs"]
    np.testing.assert_allclose(model.predict(X) - 56.25, [3.75, 11.25, 11.25, -26.25])
    both = latitudes(["length", "barbs", "grayscale"], learning_rate=1.0)[0]
    assert both.train_score_[-1] == pytest.approx(model.train_score_[-1])  # equally good


# --- residuals, losses, classes (002) -----------------------------------------------------------


def test_boosting_without_shrinkage_adds_the_tree_of_the_residuals(rng):
    X = rng.normal(size=(60, 2))
    y = X[:, 0] ** 2 + rng.normal(size=60)
    model = GradientBoostingRegressor(
        n_estimators=4, learning_rate=1.0, max_splits=3, min_samples_leaf=1, l2_regularization=0.0
    ).fit(X, y)
    scores = np.full(60, y.mean())
    for stage in model.staged_predict(X):
        tree = DecisionTreeRegressor(max_leaf_nodes=4).fit(X, y - scores)
        scores = scores + tree.predict(X)
        np.testing.assert_allclose(stage, scores)


def test_huber_is_continuous_in_value_and_slope():
    loss = Huber(delta=2.0)
    y = np.zeros(2)
    around = np.array([2.0 - 1e-9, 2.0 + 1e-9])
    np.testing.assert_allclose(np.diff(loss.row_losses(y, around)), 0, atol=1e-8)
    np.testing.assert_allclose(np.diff(loss.gradients(y, around)[0]), 0, atol=1e-8)
    assert loss.row_losses(y, np.array([5.0, -5.0])).tolist() == [2 * 5 - 2**2 / 2] * 2


def test_k_classes_take_k_trees_a_round_and_follow_t_minus_p(rng):
    X, y = rng.normal(size=(90, 2)), np.arange(90) % 3
    model = GradientBoostingClassifier(n_estimators=4).fit(X, y)
    assert model.estimators_.shape == (4, 3)
    # Started from the logarithms of the priors, which differ from the lecture's 1 / K by a number
    # that is added to every score.
    start = model.init_.predict_proba(X[:1])
    np.testing.assert_allclose(start, 1 / 3)
    loss = model._loss
    gradient, _ = loss.gradients(y, np.zeros((90, 3)))
    np.testing.assert_allclose(-gradient, np.eye(3)[y] - 1 / 3)


def test_a_stump_has_one_inner_node(rng):
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    model = GradientBoostingRegressor(n_estimators=3, max_splits=1).fit(X, y)
    assert [tree.tree_.node_count for tree in model.estimators_[:, 0]] == [3, 3, 3]


# --- the absolute loss (002) --------------------------------------------------------------------


def test_the_absolute_loss_follows_signs_and_its_leaves_hold_medians(rng):
    X, y = rng.normal(size=(41, 2)), rng.normal(size=41) ** 3
    loss = AbsoluteError()
    start = np.full(41, np.median(y))
    np.testing.assert_array_equal(-loss.gradients(y, start)[0], np.sign(y - start))
    model = GradientBoostingRegressor(
        loss="absolute_error", n_estimators=2, learning_rate=1.0, max_splits=2, min_samples_leaf=5
    ).fit(X, y)
    assert model.init_.predict(X)[0] == np.median(y)
    scores = start
    for tree, stage in zip(model.estimators_[:, 0], model.staged_predict(X), strict=True):
        leaves = tree.apply(X)
        for leaf in np.unique(leaves):
            rows = leaves == leaf
            np.testing.assert_allclose(tree.predict(X)[rows], np.median((y - scores)[rows]))
        scores = stage
    # The lecture's start is the mean for every loss.
    mean = GradientBoostingRegressor(loss="absolute_error", init="mean", n_estimators=1).fit(X, y)
    assert mean.init_.predict(X)[0] == pytest.approx(y.mean())


# --- the gain of XGBoost (004) ------------------------------------------------------------------


def xgboost_gain(g, h, left, l2):
    """Half of G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2)."""

    def score(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + l2)

    return (score(left) + score(~left) - score(np.ones(len(g), bool))) / 2


@pytest.mark.parametrize("l2", [0.0, 1.0, 7.0])
def test_a_split_is_the_best_by_the_gain_of_xgboost_and_gamma_decides_on_it(l2, rng):
    # 004 has information gain there; it is the decrease of the loss to second order, less gamma.
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=60) > 0).astype(int)
    p = np.full(60, y.mean())
    g, h = p - y, p * (1 - p)
    params = {
        "n_estimators": 1,
        "learning_rate": 1.0,
        "max_splits": 1,
        "min_samples_leaf": 1,
        "min_child_weight": 0.0,
        "l2_regularization": l2,
    }
    tree = GradientBoostingClassifier(**params).fit(X, y).estimators_[0, 0].tree_
    feature, threshold = tree.feature[0], tree.threshold[0]
    gains = [
        xgboost_gain(g, h, column <= cut, l2) for column in X.T for cut in np.sort(column)[:-1]
    ]
    chosen = xgboost_gain(g, h, X[:, feature] <= threshold, l2)
    assert chosen == pytest.approx(max(gains), rel=1e-9)
    # `min_impurity_decrease` is gamma, twice and for each row.
    for factor, n_leaves in ((0.999, 2), (1.001, 1)):
        limit = 2 * factor * chosen / 60
        model = GradientBoostingClassifier(**params, min_impurity_decrease=limit)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*predicts the same for every row")
            assert model.fit(X, y).estimators_[0, 0].get_n_leaves() == n_leaves
