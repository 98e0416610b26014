"""What the lectures say about bootstrap, bagged trees, random forests and extra-trees, computed."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification

from committee import (
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    _core,
)
from committee.theory import bias_variance_curve


@pytest.fixture
def noisy(rng):
    """Numbers of ten features, five of which matter, with noise of variance one (Friedman 1991)."""

    def draw(n_rows):
        X = rng.uniform(size=(n_rows, 10))
        signal = 10 * np.sin(math.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
        signal += 10 * X[:, 3] + 5 * X[:, 4]
        return X, signal + rng.normal(size=n_rows), signal

    return draw


# --- bootstrap ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [10, 100, 1000])
def test_a_row_stays_out_of_a_bootstrap_sample_with_probability_368(n_rows, rng):
    X, y = rng.normal(size=(n_rows, 1)), np.arange(n_rows) % 2
    n_trees = 200_000 // n_rows
    model = RandomForestClassifier(n_trees, max_depth=1, random_state=0).fit(X, y)
    out = 1 - np.mean([len(np.unique(rows)) / n_rows for rows in model.estimators_samples_])
    expected = (1 - 1 / n_rows) ** n_rows  # 0.3487, 0.3660, 0.3677, and 0.368 in the limit
    assert out == pytest.approx(expected, abs=0.005)
    assert round(expected, 4) == {10: 0.3487, 100: 0.3660, 1000: 0.3677}[n_rows]


def test_rows_never_vote_on_themselves_out_of_bag(rng):
    # Labels without any pattern: full trees know every row they have drawn, and nothing else.
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    model = RandomForestClassifier(200, oob_score=True, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.99
    assert abs(model.oob_score_ - 0.5) < 0.1
    # Each tree by itself, on the rows it has drawn and on the others.
    for tree, rows in zip(model.estimators_[:5], model.estimators_samples_[:5], strict=True):
        assert tree.score(X[rows], y[rows]) == 1
        out = np.setdiff1d(np.arange(400), rows)
        assert abs(tree.score(X[out], y[out]) - 0.5) < 0.2


def test_out_of_bag_is_nearly_the_error_on_new_rows(noisy):
    X, y, _ = noisy(600)
    X_new, y_new, _ = noisy(3000)
    model = RandomForestRegressor(200, max_features=0.4, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_score_ == pytest.approx(model.score(X_new, y_new), abs=0.03)
    assert model.score(X, y) > model.oob_score_ + 0.05


def test_the_mean_error_of_trees_is_not_the_error_of_the_forest(noisy):
    """Lecture 003 averages the errors of the trees; usually each row is asked of its trees."""
    X, y, _ = noisy(600)
    model = RandomForestRegressor(100, oob_score=True, random_state=0).fit(X, y)
    of_forest = np.mean((model.oob_prediction_ - y) ** 2)
    assert model.oob_member_error_ > 1.5 * of_forest


# --- voting and averaging -----------------------------------------------------------------------


def members(shares):
    """A forest of stumps without splits, each with its own share of the second class."""
    trees = []
    for share in shares:
        X, y = [[0.0], [0.0]], [0, 1]
        tree = DecisionTreeClassifier().fit(X, y, sample_weight=[1 - share, share])
        trees.append(tree._tree)
    model = RandomForestClassifier(len(trees), random_state=0).fit(X, y)
    model._forest = _core.Forest.from_trees(trees, "gini", [2])
    return model


def test_the_team_exercise_depends_on_the_way_of_voting():
    # A says 1 with confidence .8, B 0 with .7, C 1 with .9, D 0 with .5, E 0 with .6.
    team = members([0.8, 0.3, 0.9, 0.5, 0.4])
    assert team.predict_proba([[0.0]])[0, 1] == pytest.approx(0.58)
    assert team.predict([[0.0]]) == [1]
    team.set_params(voting="hard")
    assert team.predict_proba([[0.0]])[0].tolist() == pytest.approx([0.6, 0.4])
    assert team.predict([[0.0]]) == [0]


def test_probabilities_of_the_bag_are_the_means_of_the_members():
    shares = [0.1, 0.2, 0.7]
    assert members(shares).predict_proba([[0.0]])[0, 1] == pytest.approx(np.mean(shares))


def test_clones_add_nothing(noisy):
    X, y, _ = noisy(300)
    # No draw is left: all rows, all features, best thresholds.
    clones = RandomForestRegressor(20, bootstrap=False, max_features=None, random_state=0).fit(X, y)
    each = np.array([tree.predict(X) for tree in clones.estimators_])
    assert (each == each[0]).all()
    np.testing.assert_allclose(clones.predict(X), each[0], rtol=1e-14)


def test_a_committee_is_never_worse_than_its_members_on_average(noisy):
    X, y, _ = noisy(300)
    X_new, _, signal = noisy(1000)
    model = RandomForestRegressor(30, random_state=0).fit(X, y)
    each = np.array([tree.predict(X_new) for tree in model.estimators_])
    committee = np.mean((model.predict(X_new) - signal) ** 2)
    average = np.mean((each - signal) ** 2)
    ambiguity = np.mean((each - model.predict(X_new)) ** 2)
    assert committee == pytest.approx(average - ambiguity)
    assert committee > average / 30  # the errors are correlated


# --- random forests and extra-trees -------------------------------------------------------------


def test_features_are_drawn_for_each_node_or_for_each_tree(rng):
    X, y = rng.normal(size=(500, 16)), rng.integers(0, 2, 500)
    by_tree = RandomForestClassifier(10, draw_features="tree", random_state=0).fit(X, y)
    by_node = RandomForestClassifier(10, draw_features="node", random_state=0).fit(X, y)
    asked = [
        [len(set(tree.tree_.feature.tolist()) - {-2}) for tree in model.estimators_]
        for model in (by_tree, by_node)
    ]
    assert asked[0] == [4] * 10  # the square root of 16, drawn without replacement
    assert min(asked[1]) > 10


def test_rules_of_thumb_for_the_number_of_features(rng):
    X, y = rng.normal(size=(30, 20)), rng.integers(0, 2, 30)
    for rule, expected in (("sqrt", 4), ("log2", 4), ("log2+1", 5), (0.3, 6), (7, 7), (None, 20)):
        model = RandomForestClassifier(2, max_features=rule, draw_features="tree").fit(X, y)
        assert len(model.estimators_features_[0]) == expected


def test_fewer_features_make_trees_that_agree_less(noisy):
    X, y, _ = noisy(400)
    X_new, *_ = noisy(500)
    correlations = []
    for max_features in (10, 3, 1):
        model = RandomForestRegressor(20, max_features=max_features, random_state=0).fit(X, y)
        predicted = np.corrcoef([tree.predict(X_new) for tree in model.estimators_])
        correlations.append(predicted[np.triu_indices(20, 1)].mean())
    assert correlations[0] > correlations[1] > correlations[2]


def test_random_thresholds_trade_variance_for_bias(noisy):
    """Extra-trees draw thresholds only: the best of the drawn splits is still chosen."""
    X_new, _, signal = noisy(300)
    options = {"n_estimators": 30, "bootstrap": False, "max_features": 3, "min_samples_leaf": 5}
    found = bias_variance_curve(
        {"forest": RandomForestRegressor(**options), "extra": ExtraTreesRegressor(**options)},
        lambda _: noisy(150)[:2],
        test=(X_new, signal),
        n_rounds=15,
        random_state=0,
    )
    assert found["extra"].variance < found["forest"].variance
    assert found["extra"].bias > found["forest"].bias


def test_a_forest_beats_a_tree_and_the_error_settles(rng):
    X, y = make_classification(1200, 15, n_informative=6, flip_y=0.1, random_state=1)
    X_new, y_new, X, y = X[600:], y[600:], X[:600], y[:600]
    tree = DecisionTreeClassifier(random_state=0).fit(X, y).score(X_new, y_new)
    model = RandomForestClassifier(150, oob_score=True, random_state=0).fit(X, y)
    assert model.score(X_new, y_new) > tree + 0.05
    errors = 1 - model.oob_curve_.score
    assert errors[0] > errors[-1] + 0.05
    settled = errors[model.oob_curve_.n_members >= 75]
    assert np.ptp(settled) < 0.02


def test_impurity_importance_favours_features_of_many_values(rng):
    """Lecture 003 names this drawback: here no feature has anything to do with the target."""
    X = np.column_stack([rng.normal(size=800), rng.integers(0, 2, 800), rng.integers(0, 2, 800)])
    model = RandomForestClassifier(50, random_state=0).fit(X, rng.integers(0, 2, 800))
    assert model.feature_importances_[0] > 0.8
