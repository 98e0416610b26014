"""Contributions of features: they are Shapley values, by enumeration of all sets of features."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from hand_trees import (
    FAN_OUT,
    INTEGER,
    NO_CHILD,
    REAL,
    SUBSET,
    TreeBuilder,
    bit_set,
    child_of,
    level_list,
)
from sklearn.exceptions import NotFittedError
from tree_tools import make_case, make_target, make_tree, make_weight

from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    _core,
)
from committee.datasets import load_penguins

# Sums of a few dozen products, each with a relative error of 1e-16.
TOLERANCE = {"rtol": 1e-11, "atol": 1e-12}

# --- the oracle ---------------------------------------------------------------------------------


def children_of(arrays, node):
    first = int(arrays["first_child"][node])
    kind = int(arrays["feature_and_flags"][node]) >> 24 & 3
    n_children = 2
    if kind == FAN_OUT:
        n_children = int(arrays["category_data"][int(arrays["threshold"][node])])
    return range(first, first + n_children)


def leaf_weight(arrays, node):
    """The weight of the leaves below a node."""
    if arrays["first_child"][node] == 0:
        return arrays["weight"][node]
    return sum(leaf_weight(arrays, child) for child in children_of(arrays, node))


def expectation(arrays, row, known, node=0):
    """What a tree is expected to say about a row of which only some features are known."""
    if arrays["first_child"][node] == 0:
        return arrays["values"][node]
    children = children_of(arrays, node)
    if (int(arrays["feature_and_flags"][node]) & 0xFFFFFF) in known:
        return expectation(arrays, row, known, children[child_of(arrays, node, row)])
    weights = np.array([leaf_weight(arrays, child) for child in children])
    values = [expectation(arrays, row, known, child) for child in children]
    return weights @ np.array(values) / weights.sum()


def naive_contributions(tree, row):
    """Shapley values of the features, and the expectation with none known."""
    arrays, n = tree.arrays(), tree.n_features
    expected = {
        known: expectation(arrays, row, known)
        for size in range(n + 1)
        for known in combinations(range(n), size)
    }
    result = np.zeros((n + 1, tree.n_values))
    result[n] = expected[()]
    for feature in range(n):
        for known, value in expected.items():
            if feature not in known:
                weight = factorial(len(known)) * factorial(n - 1 - len(known)) / factorial(n)
                more = expected[tuple(sorted((*known, feature)))]
                result[feature] += weight * (more - value)
    return result


# --- random trees of every kind of split --------------------------------------------------------

KINDS = [0, 0, 1, 1, 2, 2]
N_LEVELS = 7
BIG = 2**60


def random_tree(rng, n_splits, n_values=2):
    builder = TreeBuilder()
    for _ in range(n_splits):
        leaves = [node for node, first in enumerate(builder.first_child) if first == 0]
        node, feature = int(rng.choice(leaves)), int(rng.integers(len(KINDS)))
        left = bool(rng.integers(2))
        listed = np.flatnonzero(rng.random(N_LEVELS) < 0.5).tolist()
        if KINDS[feature] == 0:
            builder.split(node, feature, REAL, rng.normal(), missing_left=left)
        elif KINDS[feature] == 1:
            threshold = BIG + int(rng.integers(9))
            builder.split(node, feature, INTEGER, threshold, missing_left=left)
        elif rng.random() < 0.4:
            n_children = int(rng.integers(2, 5))
            children = rng.integers(0, n_children, N_LEVELS)
            children = np.where(rng.random(N_LEVELS) < 0.2, NO_CHILD, children).tolist()
            data = [n_children, int(rng.integers(n_children)), N_LEVELS, *children]
            builder.split(node, feature, FAN_OUT, data, missing_left=left, n_children=n_children)
        else:
            data = bit_set(listed, N_LEVELS) if rng.random() < 0.5 else level_list(listed)
            builder.split(node, feature, SUBSET, data, missing_left=left)
    n = len(builder.threshold)
    weight = rng.uniform(0.1, 5.0, n)
    arrays = builder.arrays(rng.normal(size=(n, n_values)), rng.random(n), weight, np.ones(n))
    return _core.Tree(len(KINDS), KINDS, arrays)


def random_rows(rng, n_rows):
    """A Table, and its rows as Python numbers; None is missing."""
    missing = rng.random((n_rows, 4)) < 0.2
    reals = np.where(missing[:, :2], np.nan, rng.normal(size=(n_rows, 2)))
    integers = BIG + rng.integers(9, size=(n_rows, 2))
    levels = rng.integers(-1, N_LEVELS + 2, size=(n_rows, 2)).astype(np.int32)
    table = _core.Table(n_rows)
    for i in range(2):
        table.add_column(0, np.ascontiguousarray(reals[:, i]))
    for i in range(2):
        mask = np.ascontiguousarray(missing[:, 2 + i]).astype(np.uint8)
        table.add_column(1, np.ascontiguousarray(integers[:, i]), mask)
    for i in range(2):
        table.add_column(2, np.ascontiguousarray(levels[:, i]))
    numbers = np.hstack([reals.astype(object), integers, levels])
    numbers[:, :4][missing] = None
    return table, numbers.tolist()


@pytest.mark.parametrize("n_splits", [0, 1, 2, 5, 12, 25])
def test_contributions_are_shapley_values(rng, n_splits):
    for _ in range(3):
        tree = random_tree(rng, n_splits)
        table, rows = random_rows(rng, 4)
        expected = [naive_contributions(tree, row) for row in rows]
        np.testing.assert_allclose(tree.contributions(table), expected, **TOLERANCE)


def test_no_rows_have_no_contributions(rng):
    table, _ = random_rows(rng, 0)
    assert random_tree(rng, 5).contributions(table).shape == (0, len(KINDS) + 1, 2)


def test_a_forest_adds_up_the_contributions_of_its_trees(rng):
    trees = [random_tree(rng, n_splits) for n_splits in (0, 3, 30, 9)]
    table, _ = random_rows(rng, 50)
    forest = _core.Forest.from_trees(trees, "squared_error", [], keep_all=True)
    weights = np.array([0.5, 2.0, -1.0, 0.0])
    expected = sum(w * tree.contributions(table) for w, tree in zip(weights, trees, strict=True))
    found = forest.contributions(table, tree_weights=weights)
    np.testing.assert_allclose(found, expected, **TOLERANCE)
    np.testing.assert_allclose(
        found.sum(axis=1), forest.predict(table, tree_weights=weights), **TOLERANCE
    )
    plain = sum(tree.contributions(table) for tree in trees)
    np.testing.assert_allclose(forest.contributions(table), plain, **TOLERANCE)


def oracle_cell(value, is_level):
    """A cell of the oracle's matrix as the core sees it."""
    if np.isnan(value):
        return -1 if is_level else None
    return int(value) if is_level else value


@pytest.mark.parametrize("category_split", ["subset", "fanout"])
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
@pytest.mark.parametrize("kind", ["numeric", "missing", "category", "mixed"])
def test_contributions_of_grown_trees_are_shapley_values(rng, kind, criterion, category_split):
    case = make_case(kind, rng)
    y = make_target(criterion, rng, n_classes=3)
    model = make_tree(criterion, max_leaf_nodes=12, category_split=category_split, level_penalty=0)
    model.fit(case.table, y, make_weight("fractions", rng))
    found = model.predict_contributions(case.table).reshape(40, case.X.shape[1] + 1, -1)
    for i in range(0, 40, 10):
        row = [oracle_cell(v, f in case.categorical) for f, v in enumerate(case.X[i].tolist())]
        np.testing.assert_allclose(found[i], naive_contributions(model._tree, row), **TOLERANCE)


# --- by hand ------------------------------------------------------------------------------------


def test_a_stump_by_hand():
    model = DecisionTreeRegressor().fit([[0.0], [0.0], [0.0], [1.0]], [1.0, 1.0, 1.0, 9.0])
    found = model.predict_contributions([[0.0], [1.0]])
    np.testing.assert_allclose(found, [[-2.0, 3.0], [6.0, 3.0]], rtol=1e-14)


def test_a_tree_without_splits_has_only_the_mean():
    model = DecisionTreeClassifier().fit([[0.0, 1.0]] * 3, ["a", "a", "a"])
    assert model.predict_contributions([[5.0, 5.0]]).tolist() == [[[0.0], [0.0], [1.0]]]


def test_features_that_play_the_same_part_get_the_same():
    X = np.array([[0, 0, 7], [0, 1, 7], [1, 0, 7], [1, 1, 7]], dtype=float)
    model = DecisionTreeRegressor().fit(X, [0.0, 0.0, 0.0, 1.0])
    both = model.predict_contributions(X)[3]
    np.testing.assert_allclose(both, [0.375, 0.375, 0.0, 0.25], rtol=1e-14)
    assert both[2] == 0.0  # no node splits by the third feature


@pytest.mark.parametrize("n_features", [2, 7, 60, 201])
def test_many_features_that_must_all_agree_share_equally(n_features):
    # Leaf 1 after n_features questions, each answered yes by half of the weight; else 0.
    builder, node = TreeBuilder(), 0
    weight, values = [2.0**n_features], [0.0]
    for feature in range(n_features):
        _, node = builder.split(node, feature, REAL, 0.5, missing_left=True)
        weight += [2.0 ** (n_features - 1 - feature)] * 2
        values += [0.0, 0.0]
    values[node] = 1.0
    ones = np.ones(len(weight))
    arrays = builder.arrays(np.array(values)[:, None], ones, weight, ones)
    tree = _core.Tree(n_features, [0] * n_features, arrays)
    found = tree.contributions(_core.Table.from_matrix(np.ones((1, n_features))))[0, :, 0]
    mean = 2.0**-n_features
    np.testing.assert_allclose(found[:-1], (1 - mean) / n_features, rtol=1e-12)
    assert found[-1] == mean


def test_a_very_deep_tree(rng):
    builder, node = TreeBuilder(), 0
    for depth in range(5000):
        node, _ = builder.split(node, depth % 3, REAL, -float(depth // 3), missing_left=False)
    n = len(builder.threshold)
    arrays = builder.arrays(rng.normal(size=(n, 1)), np.ones(n), np.ones(n), np.ones(n))
    tree = _core.Tree(3, [0, 0, 0], arrays)
    table = _core.Table.from_matrix(rng.uniform(-1700, 0, size=(20, 3)))
    found = tree.contributions(table).sum(axis=1)
    np.testing.assert_allclose(found, tree.predict(table), rtol=1e-9, atol=1e-9)


# --- promises -----------------------------------------------------------------------------------

FORESTS = [
    RandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestRegressor,
    ExtraTreesRegressor,
]


def prediction(model, X):
    """What contributions add up to."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("params", [{}, {"max_leaf_nodes": 31}, {"category_split": "fanout"}])
@pytest.mark.parametrize("make", FORESTS)
def test_contributions_of_a_forest_add_up_to_its_prediction(make, params):
    X, y = load_penguins()
    if issubclass(make, (RandomForestRegressor, ExtraTreesRegressor)):
        X, y = X.drop(columns="body_mass_g"), X["body_mass_g"].fillna(4000)
    model = make(20, random_state=0, **params).fit(X, y)
    found = model.predict_contributions(X)
    assert found.shape[:2] == (len(X), X.shape[1] + 1)
    np.testing.assert_allclose(found.sum(axis=1), prediction(model, X), rtol=1e-12, atol=1e-13)
    assert (found[:, -1] == found[0, -1]).all()


def test_votes_are_explained_where_trees_vote():
    X, y = load_penguins()
    model = RandomForestClassifier(20, max_depth=2, voting="hard", random_state=0).fit(X, y)
    found = model.predict_contributions(X)
    np.testing.assert_allclose(found.sum(axis=1), model.predict_proba(X), atol=1e-13)


@pytest.mark.parametrize("make", [DecisionTreeRegressor, RandomForestRegressor])
def test_several_numbers_have_an_axis_of_their_own(make, rng):
    X, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    model = make(random_state=0).fit(X, y)
    found = model.predict_contributions(X)
    assert found.shape == (60, 4, 2)
    np.testing.assert_allclose(found.sum(axis=1), model.predict(X), **TOLERANCE)


@pytest.mark.parametrize("make", [DecisionTreeClassifier, RandomForestClassifier])
def test_several_classes_are_a_list_as_in_predict_proba(make, rng):
    X = rng.normal(size=(60, 3))
    y = np.column_stack([rng.integers(0, 3, 60), rng.integers(0, 2, 60)])
    model = make(random_state=0).fit(X, y)
    found = model.predict_contributions(X)
    assert [part.shape for part in found] == [(60, 4, 3), (60, 4, 2)]
    for part, shares in zip(found, model.predict_proba(X), strict=True):
        np.testing.assert_allclose(part.sum(axis=1), shares, **TOLERANCE)


def test_a_feature_that_is_never_asked_gets_zero(rng):
    X = np.column_stack([rng.normal(size=300), np.zeros(300), rng.normal(size=300)])
    model = RandomForestRegressor(10, random_state=0).fit(X, X[:, 0] + X[:, 2])
    assert (model.predict_contributions(X)[:, 1] == 0).all()


def test_a_row_of_weight_two_equals_the_row_twice(rng):
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 3, 80)
    twice = rng.random(80) < 0.5
    weighted = DecisionTreeClassifier().fit(X, y, np.where(twice, 2.0, 1.0))
    repeated = DecisionTreeClassifier().fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    found, expected = (m.predict_contributions(X) for m in (weighted, repeated))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_rows", [1, 31, 32, 33, 700])
def test_the_same_bits_for_any_threads_and_for_single_rows(n_rows, rng):
    X, y = load_penguins()
    model = RandomForestClassifier(10, random_state=0, n_jobs=1).fit(X, y)
    rows = X.iloc[rng.integers(0, len(X), n_rows)]
    table = model.schema_.read(rows, "test")
    alone = model._forest.contributions(table, n_threads=1)
    assert alone.shape == (n_rows, X.shape[1] + 1, 3)
    for n_threads in (2, 3):
        shared = model._forest.contributions(table, n_threads=n_threads)
        np.testing.assert_array_equal(alone, shared)
    for i in range(0, n_rows, 100):
        table = model.schema_.read(rows.iloc[i : i + 1], "test")
        np.testing.assert_array_equal(model._forest.contributions(table)[0], alone[i])


def test_the_same_bits_with_and_without_avx2(rng):
    tree = random_tree(rng, 30)
    table, _ = random_rows(rng, 100)
    expected = tree.contributions(table)
    _core.set_simd_level("scalar")
    try:
        np.testing.assert_array_equal(tree.contributions(table), expected)
    finally:
        _core.set_simd_level("auto")


def test_targets_far_from_zero_keep_their_digits(rng):
    X, y = rng.normal(size=(200, 4)), np.round(rng.normal(size=200) * 8)
    near = DecisionTreeRegressor(max_depth=5).fit(X, y).predict_contributions(X)
    far = DecisionTreeRegressor(max_depth=5).fit(X, y + 1e9).predict_contributions(X)
    np.testing.assert_allclose(far[:, :-1], near[:, :-1], atol=1e-5)  # y + 1e9 has 1e-7


def test_columns_are_matched_by_name():
    X, y = load_penguins()
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    found = model.predict_contributions(X[X.columns[::-1]])
    np.testing.assert_array_equal(found, model.predict_contributions(X))


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [*FORESTS, DecisionTreeClassifier, DecisionTreeRegressor])
def test_an_estimator_that_is_not_fitted_says_so(make):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        make().predict_contributions([[1.0]])


def test_tables_of_other_columns_are_refused():
    model = DecisionTreeRegressor().fit(pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}), [0, 1])
    with pytest.raises(ValueError, match="b"):
        model.predict_contributions(pd.DataFrame({"a": [0.0]}))


def test_the_core_refuses_what_it_cannot_explain(rng):
    tree = random_tree(rng, 5)
    table, _ = random_rows(rng, 3)
    forest = _core.Forest.from_trees([tree], "squared_error", [])
    with pytest.raises(ValueError, match="the table has 2 features"):
        tree.contributions(_core.Table.from_matrix(np.ones((1, 2))))
    with pytest.raises(ValueError, match="the table has 2 features"):
        forest.contributions(_core.Table.from_matrix(np.ones((1, 2))))
    with pytest.raises(ValueError, match="n_threads must be an int >= 1; got 0"):
        tree.contributions(table, 0)
    with pytest.raises(ValueError, match="one entry a tree"):
        forest.contributions(table, tree_weights=np.ones(2))
    with pytest.raises(ValueError, match="only classes can be voted for"):
        forest.contributions(table, hard=True)
