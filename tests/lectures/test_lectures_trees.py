"""What the lectures say about single trees, stumps and information gain, computed."""

import math

import numpy as np
import pandas as pd
import pytest
from tree_tools import node_masks

from committee import DecisionTreeClassifier, DecisionTreeRegressor, export_rules
from committee.datasets import load_latitudes

WEATHER = """
sunny hot high no no
sunny hot high yes no
overcast hot high no yes
rain mild high no yes
rain cool normal no yes
rain cool normal yes no
overcast cool normal yes yes
sunny mild high no no
sunny cool normal no yes
rain mild normal no yes
sunny mild normal yes yes
overcast mild high yes yes
overcast hot normal no yes
rain mild high yes no
"""


@pytest.fixture
def weather():
    """The 14 days of Quinlan's weather table: attributes, and whether to play."""
    rows = [line.split() for line in WEATHER.split("\n") if line]
    table = pd.DataFrame(rows, columns=["outlook", "temperature", "humidity", "windy", "play"])
    return table.drop(columns="play"), table["play"]


def entropy(*counts):
    return -sum(c / sum(counts) * math.log2(c / sum(counts)) for c in counts if c)


def id3_stump(table, y):
    return DecisionTreeClassifier(criterion="entropy", category_split="fanout", max_depth=1).fit(
        table, y
    )


def gain_of_root(model):
    """Information gain of the root's split: entropy before less mean entropy after."""
    tree = model.tree_
    children = list(tree.children(0))
    shares = tree.weighted_n_node_samples[children] / tree.weighted_n_node_samples[0]
    return tree.impurity[0] - shares @ tree.impurity[children]


# --- entropy and information gain -------------------------------------------------------------


def test_entropy_is_in_bits(weather):
    table, y = weather
    assert id3_stump(table, y).tree_.impurity[0] == pytest.approx(0.940286, abs=1e-6)
    coin = DecisionTreeClassifier(criterion="entropy").fit([[0], [0]], [0, 1])
    assert coin.tree_.impurity[0] == pytest.approx(1.0)
    die = DecisionTreeClassifier(criterion="entropy").fit(np.zeros((8, 1)), range(8))
    assert die.tree_.impurity[0] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("attribute", "gain"),
    [("outlook", 0.247), ("humidity", 0.152), ("windy", 0.048), ("temperature", 0.029)],
)
def test_information_gain_of_the_weather_attributes(attribute, gain, weather):
    table, y = weather
    model = id3_stump(table[[attribute]], y)
    assert model.get_n_leaves() == table[attribute].nunique()
    assert round(gain_of_root(model), 3) == pytest.approx(gain)


def test_the_gain_of_outlook_by_hand(weather):
    table, y = weather
    by_hand = entropy(9, 5) - 5 / 14 * entropy(2, 3) - 4 / 14 * entropy(4) - 5 / 14 * entropy(3, 2)
    assert gain_of_root(id3_stump(table, y)) == pytest.approx(by_hand, rel=1e-12)


def test_id3_asks_for_the_outlook_first_then_for_humidity_and_wind(weather):
    table, y = weather
    model = DecisionTreeClassifier(criterion="entropy", category_split="fanout").fit(table, y)
    tree = model.tree_
    names = list(table.columns)
    assert names[tree.feature[0]] == "outlook"
    asked = {}
    for child in tree.children(0):
        (level,) = tree.branch(0, child).levels
        asked[level] = None if tree.feature[child] < 0 else names[tree.feature[child]]
    assert asked == {"sunny": "humidity", "overcast": None, "rain": "windy"}
    assert model.score(table, y) == 1.0
    assert model.get_depth() == 2
    assert model.get_n_leaves() == 5


def test_information_gain_is_never_negative(rng):
    for _ in range(20):
        levels = rng.choice(list("abcd"), 30)
        y = rng.integers(0, 3, 30)
        assert gain_of_root(id3_stump(pd.DataFrame({"c": levels}), y)) >= -1e-12


def test_gain_prefers_attributes_with_many_values(weather):
    # A column that names the row has all the information and no use.
    table, y = weather
    table = table.assign(day=[f"D{i}" for i in range(14)])
    model = id3_stump(table, y)
    assert table.columns[model.tree_.feature[0]] == "day"
    assert gain_of_root(model) == pytest.approx(entropy(9, 5), rel=1e-12)


# --- shape of trees ---------------------------------------------------------------------------


def test_a_tree_is_a_set_of_rules_and_each_row_meets_exactly_one(weather):
    table, y = weather
    for category_split in ("fanout", "subset"):
        model = DecisionTreeClassifier(category_split=category_split).fit(table, y)
        rules = export_rules(model)
        assert len(rules) == model.get_n_leaves()
        for row, label, leaf in zip(table.to_dict("records"), y, model.apply(table), strict=True):
            (rule,) = [rule for rule in rules if rule.matches(row)]
            assert rule.prediction == label
            assert rule.leaf == leaf
        assert sum(rule.n_rows for rule in rules) == 14


def test_rules_cover_rows_never_seen_once(rng):
    table = pd.DataFrame(
        {"size": np.round(rng.normal(size=80), 2), "side": rng.choice(list("NESW"), 80)}
    )
    table.loc[::9, "size"] = np.nan
    model = DecisionTreeRegressor(min_samples_leaf=4).fit(table, rng.normal(size=80))
    rules = export_rules(model)
    new = pd.DataFrame({"size": rng.normal(size=60), "side": rng.choice(list("NESWX"), 60)})
    new.loc[::5, "size"] = np.nan
    for row, value in zip(new.to_dict("records"), model.predict(new), strict=True):
        (rule,) = [rule for rule in rules if rule.matches(row)]
        assert rule.prediction == value


@pytest.mark.parametrize("n_splits", [1, 2, 3, 7])
def test_d_splits_have_d_plus_one_leaves(n_splits, rng):
    # "Tree with d splits" of simple boosting counts splits, not depth.
    X = rng.normal(size=(100, 3))
    model = DecisionTreeRegressor(max_leaf_nodes=n_splits + 1).fit(X, rng.normal(size=100))
    n_inner = model.tree_.node_count - model.get_n_leaves()
    assert (n_inner, model.get_n_leaves()) == (n_splits, n_splits + 1)


def test_a_stump_is_one_inner_node(rng):
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    by_depth = DecisionTreeRegressor(max_depth=1).fit(X, y)
    by_leaves = DecisionTreeRegressor(max_leaf_nodes=2).fit(X, y)
    for stump in (by_depth, by_leaves):
        assert stump.tree_.node_count == 3
        assert stump.get_depth() == 1
    assert np.array_equal(by_depth.predict(X), by_leaves.predict(X))


def test_growth_stops_when_nodes_are_pure(weather):
    table, y = weather
    model = DecisionTreeClassifier().fit(table, y)
    is_leaf = model.tree_.children_left < 0
    assert np.all(model.tree_.impurity[is_leaf] == 0)
    assert np.all(model.tree_.impurity[~is_leaf] > 0)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_the_first_split_of_xor_gains_nothing_yet_the_tree_gets_pure(criterion):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    y = X[:, 0] ^ X[:, 1]
    model = DecisionTreeClassifier(criterion=criterion).fit(X, y)
    assert model.tree_.impurity[:3].tolist() == pytest.approx([model.tree_.impurity[0]] * 3)
    assert model.score(X, y) == 1.0
    assert model.get_n_leaves() == 4


def test_parity_of_four_bits_needs_all_sixteen_leaves():
    X = np.array([[i >> bit & 1 for bit in range(4)] for i in range(16)])
    y = X.sum(axis=1) % 2
    for model in (DecisionTreeClassifier(), DecisionTreeRegressor()):
        model.fit(X, y)
        assert model.get_n_leaves() == 16
        assert np.array_equal(model.predict(X), y)


def test_the_multiplexer_is_learnt_but_not_by_its_address_bits():
    # Six bits: two address bits choose one of four data bits. No address bit gains anything at
    # the root, so a greedy tree starts with a data bit and needs more than the 8 leaves that do.
    X = np.array([[i >> bit & 1 for bit in range(6)] for i in range(64)])
    y = X[np.arange(64), 2 + X[:, 0] + 2 * X[:, 1]]
    model = DecisionTreeClassifier().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.tree_.feature[0] >= 2
    assert model.get_n_leaves() > 8


def test_numbers_and_categories_go_into_one_tree():
    table = pd.DataFrame({"kind": ["a", "a", "b", "b"], "size": [1.0, 9.0, 1.0, 9.0]})
    y = [0.0, 1.0, 5.0, 5.0]
    model = DecisionTreeRegressor().fit(table, y)
    assert model.predict(table).tolist() == y
    assert set(model.tree_.feature) == {0, 1, -2}


# --- robustness -------------------------------------------------------------------------------


def test_an_outlier_of_a_feature_moves_nothing_but_its_own_row(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    last = np.argmax(X[:, 0])
    far = X.copy()
    far[last, 0] = 1e12
    for search in ("exact", "hist"):
        near_tree = DecisionTreeRegressor(split_finding=search).fit(X, y)
        far_tree = DecisionTreeRegressor(split_finding=search).fit(far, y)
        assert np.array_equal(near_tree.apply(X), far_tree.apply(far))


def test_ranks_are_all_a_tree_sees(rng):
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    ranks = X.argsort(axis=0).argsort(axis=0).astype(float)
    a = DecisionTreeClassifier(split_finding="exact").fit(X, y)
    b = DecisionTreeClassifier(split_finding="exact").fit(ranks, y)
    assert np.array_equal(a.apply(X), b.apply(ranks))


def test_median_leaves_ignore_an_outlier_of_the_target():
    # 003's team estimates 2.3, 9.1, 4.3, 4.1, 3.8: mean 4.72, median 4.1.
    X, y = np.zeros((5, 1)), [2.3, 9.1, 4.3, 4.1, 3.8]
    mean = DecisionTreeRegressor().fit(X, y)
    median = DecisionTreeRegressor(criterion="absolute_error").fit(X, y)
    assert mean.predict([[0.0]])[0] == pytest.approx(4.72)
    assert median.predict([[0.0]])[0] == pytest.approx(4.1)


def test_the_start_of_the_gradient_boosting_example():
    # 004: the mean is 56.25 and the residuals sum to zero; the slide's -26.75 must be -26.25.
    X, y = load_latitudes()
    root = DecisionTreeRegressor().fit(X, y).tree_.value[0].item()
    assert root == 56.25
    residuals = y - root
    assert residuals.tolist() == [3.75, 13.75, 8.75, -26.25]
    assert residuals.sum() == 0


def test_the_second_split_of_the_example_is_an_exact_tie():
    # Row 4 goes first. Of the others, by length or barbs row 2 goes, and rows 1 and 3 have 6.25 on
    # average, as on the slide; by grayscale row 1 goes, and rows 2 and 3 have 11.25. Both are as
    # good.
    X, y = load_latitudes()
    residuals = y - y.mean()
    left_over = []
    for columns in (["length", "barbs", "grayscale"], ["grayscale", "length", "barbs"]):
        tree = DecisionTreeRegressor(max_leaf_nodes=3).fit(X[columns], residuals)
        predicted = tree.predict(X[columns])
        left_over.append(((residuals - predicted) ** 2).sum())
        third = 6.25 if columns[0] == "length" else 11.25
        assert predicted[2] == pytest.approx(third)
        assert predicted[3] == pytest.approx(-26.25)
    assert left_over == pytest.approx([12.5, 12.5])


# --- stumps for AdaBoost ----------------------------------------------------------------------

# Ten points like the classic ones: three stumps err on three points each, no two on the same, so
# the rounds come out alike whichever of them is taken first.
TOY_X = np.array(
    [(1, 2), (2, 4), (5, 10), (8, 7), (7, 8), (3, 5), (4, 1), (6, 6), (9, 9), (10, 3)], dtype=float
)
TOY_Y = np.array([1, 1, 1, 1, 1, -1, -1, -1, -1, -1])


def best_stump_error(X, y, weight):
    """Smallest weighted error of all stumps, the two constant ones included."""
    errors = [weight[y == 1].sum(), weight[y == -1].sum()]
    for column in X.T:
        for cut in column:
            says_plus = np.where(column <= cut, 1, -1)
            errors += [weight[says_plus != y].sum(), weight[says_plus == y].sum()]
    return min(errors)


def test_three_rounds_of_adaboost_on_the_ten_points():
    weight = np.full(10, 0.1)
    votes = np.zeros(10)
    errors, alphas = [], []
    for _ in range(3):
        stump = DecisionTreeClassifier(criterion="error", max_depth=1)
        predicted = stump.fit(TOY_X, TOY_Y, sample_weight=weight).predict(TOY_X)
        error = weight[predicted != TOY_Y].sum()
        assert error == pytest.approx(best_stump_error(TOY_X, TOY_Y, weight), rel=1e-12)
        alpha = 0.5 * math.log((1 - error) / error)
        weight = weight * np.exp(-alpha * TOY_Y * predicted)
        weight /= weight.sum()
        votes += alpha * predicted
        errors.append(error)
        alphas.append(alpha)
        if len(errors) == 1:
            assert np.allclose(weight, np.where(predicted == TOY_Y, 1 / 14, 1 / 6))
    assert errors == pytest.approx([3 / 10, 3 / 14, 3 / 22], rel=1e-9)
    # From the unrounded errors: from .21 and .14 one would get .66 and .91.
    assert [round(alpha, 4) for alpha in alphas] == [0.4236, 0.6496, 0.9229]
    assert np.array_equal(np.sign(votes), TOY_Y)


def test_the_impurity_decrease_of_an_error_stump_is_the_error_it_removes():
    model = DecisionTreeClassifier(criterion="error", max_depth=1).fit(TOY_X, TOY_Y)
    tree = model.tree_
    assert tree.impurity[0] == 0.5
    shares = tree.weighted_n_node_samples[1:] / 10
    assert shares @ tree.impurity[1:] == pytest.approx(0.3)


def test_an_error_stump_minimises_the_weighted_error(rng):
    for _ in range(30):
        X = np.round(rng.normal(size=(25, 2)), 1)
        y = rng.choice([-1, 1], 25)
        weight = rng.dirichlet(np.ones(25))
        stump = DecisionTreeClassifier(criterion="error", max_depth=1)
        predicted = stump.fit(X, y, sample_weight=weight).predict(X)
        best = best_stump_error(X, y, weight)
        assert weight[predicted != y].sum() == pytest.approx(best, rel=1e-9)


def test_gini_need_not_minimise_the_error_but_error_does():
    # 20 rows of each class. "pure" sets nine of the ones apart: eleven errors, a Gini of 0.355.
    # "even" has five wrong on each side: ten errors, but a Gini of 0.375.
    y = np.repeat([0, 1], 20)
    pure = np.repeat([0, 1], [31, 9])
    even = np.repeat([0, 1, 0, 1], [15, 5, 5, 15])
    X = np.column_stack([pure, even])
    for criterion, feature, n_right in (("gini", 0, 29), ("error", 1, 30)):
        stump = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y)
        assert stump.tree_.feature[0] == feature
        assert (stump.predict(X) == y).sum() == n_right


def test_stump_thresholds_are_one_fewer_than_the_distinct_values(rng):
    # n + 1 thresholds a feature in the lecture: n - 1 between neighbours, and two outer ones that
    # give constant classifiers. Ties make it fewer: all are tried, so the planted one is found.
    values = np.arange(12.0)
    for planted in range(11):
        y = (values > planted).astype(int)
        rows = rng.permutation(np.repeat(np.arange(12), 2))
        stump = DecisionTreeClassifier(max_depth=1).fit(values[rows, None], y[rows])
        assert planted <= stump.tree_.threshold[0] < planted + 1
        masks = node_masks(stump, values[:, None])
        assert masks[stump.tree_.children_left[0]].sum() == planted + 1
