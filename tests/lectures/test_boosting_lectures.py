"""What the lectures say about gradient boosting and stagewise fitting, computed."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from committee import DecisionTreeRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from committee.losses import Exponential, Huber, SquaredError

# --- forward stagewise additive modelling (002) -------------------------------------------------


def stumps(X):
    """What every stump of +1 and -1 says about the rows, both ways round."""
    votes = []
    for column in X.T:
        values = np.unique(column)
        for threshold in (values[:-1] + values[1:]) / 2:
            say = np.where(column <= threshold, 1.0, -1.0)
            votes += [say, -say]
    return np.array(votes)


def best_coefficient(y, scores, votes, loss):
    return minimize_scalar(
        lambda beta: loss(y, scores + beta * votes).sum(),
        bounds=(0, 10),
        method="bounded",
        options={"xatol": 1e-10},
    )


def first_least(values):
    """The first of the least values; those that differ by rounding are equal."""
    return int(np.argmax(values <= np.min(values) + 1e-9))


def stagewise(X, y, loss, n_rounds):
    """Forward stagewise additive modelling: one stump and one coefficient a round, no other change.

    Works for any loss: the coefficient of every stump is found numerically, and the stump whose
    best coefficient lowers the loss most is taken.
    """
    scores, chosen = np.zeros(len(y)), []
    candidates = stumps(X)
    for _ in range(n_rounds):
        results = [best_coefficient(y, scores, votes, loss) for votes in candidates]
        best = first_least([result.fun for result in results])
        chosen.append((best, results[best].x))
        scores = scores + results[best].x * candidates[best]
    return scores, chosen


def discrete_adaboost(X, y, n_rounds):
    """AdaBoost as the lectures have it: weights, errors, and half the log-odds as a say."""
    weights, scores, chosen = np.full(len(y), 1 / len(y)), np.zeros(len(y)), []
    candidates = stumps(X)
    for _ in range(n_rounds):
        errors = (weights * (candidates != y)).sum(axis=1)
        best = first_least(errors)
        say = 0.5 * math.log((1 - errors[best]) / errors[best])
        chosen.append((best, say))
        scores = scores + say * candidates[best]
        weights = weights * np.exp(-say * y * candidates[best])
        weights /= weights.sum()
    return scores, chosen


@pytest.fixture
def two_classes(rng):
    X = rng.normal(size=(30, 2))
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(size=30) > 0, 1.0, -1.0)


def exponential(y, scores):
    return np.exp(-y * scores)


def test_stagewise_fitting_of_the_exponential_loss_is_discrete_adaboost(two_classes):
    X, y = two_classes
    scores, chosen = stagewise(X, y, exponential, 8)
    expected, rounds = discrete_adaboost(X, y, 8)
    assert [stump for stump, _ in chosen] == [stump for stump, _ in rounds]
    np.testing.assert_allclose([beta for _, beta in chosen], [say for _, say in rounds], atol=1e-6)
    np.testing.assert_allclose(scores, expected, atol=1e-5)


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
    scores, _ = discrete_adaboost(X, y, 3)
    assert not np.allclose(model.decision_function(X), scores, atol=1e-3)
    assert model.train_score_[0] <= exponential(y, discrete_adaboost(X, y, 1)[0]).mean() + 1e-9
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


def test_the_example_of_four_rows():
    # The slide's last residual is -26.75; they have to add up to zero: -26.25.
    y = np.array([60.0, 70.0, 65.0, 30.0])
    model = GradientBoostingRegressor(
        n_estimators=1, max_splits=2, min_samples_leaf=1, l2_regularization=0.0, learning_rate=0.2
    )
    # One feature that puts rows 1 and 3 into a leaf, as the tree of the slide does.
    X = np.array([[1.0], [2.0], [1.0], [3.0]])
    model.fit(X, y)
    assert model.init_.predict(X)[0] == 56.25
    residuals = -SquaredError().gradients(y, np.full(4, 56.25))[0]
    assert residuals.tolist() == [3.75, 13.75, 8.75, -26.25]
    assert residuals.sum() == 0
    # ID 3: the leaf {1, 3} has the mean 6.25.
    assert model.predict(X)[2] == pytest.approx(56.25 + 0.2 * 6.25)
    np.testing.assert_allclose(
        model.predict(X), 56.25 + 0.2 * np.array([6.25, 13.75, 6.25, -26.25])
    )


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
