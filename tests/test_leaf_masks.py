"""Masks of leaves: the same leaves and the same bits as walks down the trees, on every path."""

import threading

import numpy as np
import pytest
from hand_trees import FAN_OUT, INTEGER, REAL, SUBSET, TreeBuilder, bit_set, level_list

from committee import GradientBoostingClassifier, GradientBoostingRegressor, _core

BIG = 2**60
N_LEVELS = 70
N_ROWS = 700  # two blocks and a part
# Values of which each is a threshold somewhere: ties are as frequent as in real tables.
EDGES = [-np.inf, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1e-40, 0.1, 1.0, 1e300, np.inf]
NEIGHBOURS = [np.nextafter(0.1, 1), np.nextafter(1.0, 0), float(np.float32(0.1)), 2.0**53 + 2]
NUMBERS = np.array(EDGES + NEIGHBOURS)


@pytest.fixture(params=["scalar", "avx2", "avx512"])
def level(request):
    """Each instruction set that this processor has."""
    try:
        _core.set_simd_level(request.param)
    except ValueError:
        pytest.skip("not on this processor")
    yield request.param
    _core.set_simd_level("auto")


def split(rng, builder, node, feature, kind):
    left = bool(rng.integers(2))
    if kind == 0:
        threshold = rng.choice(NUMBERS) if rng.random() < 0.5 else rng.normal()
        return builder.split(node, feature, REAL, threshold, missing_left=left)
    if kind == 1:
        return builder.split(node, feature, INTEGER, BIG + rng.integers(-50, 50), missing_left=left)
    listed = np.flatnonzero(rng.random(N_LEVELS) < 0.5).tolist()
    data = bit_set(listed, N_LEVELS) if rng.random() < 0.5 else level_list(listed)
    return builder.split(node, feature, SUBSET, data, missing_left=left)


def make_tree(rng, kinds, n_leaves, shape="random", n_values=1):
    builder = TreeBuilder()
    leaves = [0]
    for _ in range(n_leaves - 1):
        place = {"left": 0, "right": -1, "random": int(rng.integers(len(leaves)))}[shape]
        feature = int(rng.integers(len(kinds)))
        node = leaves.pop(place)
        children = list(split(rng, builder, node, feature, kinds[feature]))
        at = len(leaves) if place == -1 else place
        leaves[at:at] = children
    n = len(builder.threshold)
    arrays = builder.arrays(rng.normal(size=(n, n_values)), np.ones(n), np.ones(n), np.ones(n))
    return _core.Tree(len(kinds), kinds, arrays)


def make_forest(trees):
    return _core.Forest.from_trees(trees, "squared_error", [], keep_all=True)


def make_table(rng, kinds, n_rows=N_ROWS, real_type=np.float64, missing=0.1):
    table = _core.Table(n_rows)
    for kind in kinds:
        is_missing = rng.random(n_rows) < missing
        if kind == 0:
            values = np.where(rng.random(n_rows) < 0.5, rng.choice(NUMBERS, n_rows), 0.0)
            values = np.where(values == 0.0, rng.normal(size=n_rows), values)
            values[:: n_rows // 3 + 1] = -0.0
            with np.errstate(over="ignore"):
                table.add_column(0, np.where(is_missing, np.nan, values).astype(real_type))
        elif kind == 1:
            values = BIG + rng.integers(-60, 60, n_rows)
            table.add_column(1, values, is_missing.astype(np.uint8))
        else:
            levels = rng.integers(-1, N_LEVELS + 40, n_rows)
            table.add_column(2, np.where(is_missing, -1, levels).astype(np.int32))
    return table


def check(forest, trees, table, n_rows=N_ROWS, n_values=1):
    """Sums, single trees and leaves against trees that walk row by row."""
    each = [tree.predict(table) for tree in trees]
    weights = np.linspace(-1.0, 2.0, len(trees))
    sums, weighted, stages = np.zeros((n_rows, n_values)), np.zeros((n_rows, n_values)), []
    for values, weight in zip(each, weights, strict=True):
        sums = sums + values
        weighted = weighted + weight * values
        stages.append(sums)
    for n_threads in (1, 2, 3):
        assert forest.predict(table, n_threads=n_threads).tobytes() == sums.tobytes()
    np.testing.assert_array_equal(forest.predict(table, tree_weights=weights), weighted)
    some = sorted({0, 1, len(trees) // 2, len(trees)})
    found = forest.predict(table, stages=some)
    for stage, number in zip(found, some, strict=True):
        want = stages[number - 1] if number else np.zeros((n_rows, n_values))
        np.testing.assert_array_equal(stage, want)
    np.testing.assert_array_equal(forest.predict_each(table), np.stack(each, axis=1))
    leaves, numbers = forest.apply(table), forest.apply(table, True)
    for index in range(len(trees)):
        again = forest.tree(index)
        np.testing.assert_array_equal(leaves[:, index], again.apply(table))
        order = np.cumsum(again.arrays()["first_child"] == 0) - 1
        np.testing.assert_array_equal(numbers[:, index], order[leaves[:, index]])


@pytest.mark.parametrize("real_type", [np.float64, np.float32])
@pytest.mark.parametrize("kinds", [[0, 0, 0], [0, 0, 0, 1, 1, 2], [2], [1]])
def test_forests_of_every_kind_of_split(rng, level, kinds, real_type):
    trees = [make_tree(rng, kinds, int(rng.integers(1, 65))) for _ in range(40)]
    forest = make_forest(trees)
    assert forest.has_leaf_masks
    for missing in (0.0, 0.1, 1.0):
        check(forest, trees, make_table(rng, kinds, N_ROWS, real_type, missing))


@pytest.mark.parametrize("shape", ["left", "right", "random"])
def test_trees_of_every_number_of_leaves(rng, level, shape):
    kinds = [0, 0, 1, 2]
    trees = [make_tree(rng, kinds, n, shape) for n in range(1, 65)]
    forest = make_forest(trees)
    assert forest.has_leaf_masks
    check(forest, trees, make_table(rng, kinds))


@pytest.mark.parametrize("n_rows", [64, 65, 127, 128, 255, 256, 257, 1025])
def test_every_number_of_rows(rng, level, n_rows):
    trees = [make_tree(rng, [0, 0], 31) for _ in range(5)]
    forest = make_forest(trees)
    assert forest.has_leaf_masks
    check(forest, trees, make_table(rng, [0, 0], n_rows), n_rows)


def test_trees_of_several_values(rng, level):
    trees = [make_tree(rng, [0, 0], 20, n_values=3) for _ in range(10)]
    forest = make_forest(trees)
    assert forest.has_leaf_masks
    check(forest, trees, make_table(rng, [0, 0]), n_values=3)


@pytest.mark.parametrize("real_type", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e37, 1e300])
def test_more_thresholds_than_a_byte_can_rank(rng, level, real_type, scale):
    thresholds = np.sort(rng.normal(size=2000)) * scale
    trees = []
    for some in thresholds.reshape(100, 20):
        builder = TreeBuilder()
        node = 0
        for threshold in some:  # a chain: the number of the leaf is the rank among these
            left = bool(rng.integers(2))
            node = builder.split(node, 0, REAL, threshold, missing_left=left)[1]
        n = len(builder.threshold)
        arrays = builder.arrays(rng.normal(size=(n, 1)), np.ones(n), np.ones(n), np.ones(n))
        trees.append(_core.Tree(1, [0], arrays))
    forest = make_forest(trees)
    assert forest.has_leaf_masks
    around = [thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)]
    values = np.concatenate([*around, [np.nan, np.inf, -np.inf, 0.0, -0.0]])
    with np.errstate(over="ignore"):
        column = values.astype(real_type)
    table = _core.Table(len(column))
    table.add_column(0, column)
    check(forest, trees, table, len(column))


def test_columns_of_whole_numbers(rng, level):
    trees = [make_tree(rng, [0], 30) for _ in range(10)]
    forest = make_forest(trees)
    for dtype in (np.uint8, np.int32, np.int64):
        table = _core.Table(N_ROWS)
        table.add_column(0, rng.integers(0, 3, N_ROWS).astype(dtype), np.eye(N_ROWS, dtype="u1")[5])
        check(forest, trees, table)


def test_what_does_not_fit_is_walked(rng):
    small = [make_tree(rng, [0, 2], 30) for _ in range(20)]
    large = make_tree(rng, [0, 2], 65)
    builder = TreeBuilder()
    data = [3, 1, 2, 0, 2]
    builder.split(0, 1, FAN_OUT, data, missing_left=False, n_children=3)
    arrays = builder.arrays(rng.normal(size=(4, 1)), np.ones(4), np.ones(4), np.ones(4))
    fan = _core.Tree(2, [0, 2], arrays)
    assert make_forest(small).has_leaf_masks
    table = make_table(rng, [0, 2])
    for odd in (large, fan):
        trees = [*small, odd]
        forest = make_forest(trees)
        assert not forest.has_leaf_masks
        check(forest, trees, table)
        assert forest.part(0, len(small)).has_leaf_masks
        assert not _core.Forest.join([make_forest(small), make_forest([odd])]).has_leaf_masks
    kinds = [0] * 60  # one tree that asks many features: reading them all would cost more
    assert not make_forest([make_tree(rng, kinds, 60)]).has_leaf_masks


def test_many_threads_may_ask_a_new_forest_at_once(rng):
    trees = [make_tree(rng, [0, 0, 2], 31) for _ in range(30)]
    table = make_table(rng, [0, 0, 2])
    expected = make_forest(trees).predict(table)
    forest = make_forest(trees)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(forest.predict(table))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(each.tobytes() == expected.tobytes() for each in found)


def test_rows_of_boosted_models_get_the_same_score_alone_and_among_others(rng, level):
    X = rng.normal(size=(600, 5)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=600)
    for model in (
        GradientBoostingRegressor(n_estimators=20, max_leaf_nodes=31),
        GradientBoostingClassifier(n_estimators=20, max_leaf_nodes=31),
    ):
        target = y if isinstance(model, GradientBoostingRegressor) else np.digitize(y, [-0.5, 0.5])
        model.fit(X, target)
        assert all(forest.has_leaf_masks for forest in model._sum.forests)
        ask = getattr(model, "decision_function", model.predict)
        staged = getattr(model, "staged_decision_function", model.staged_predict)
        together = ask(X)
        apart = np.concatenate([ask(X[i : i + 1]) for i in range(len(X))])
        assert together.tobytes() == apart.tobytes()
        np.testing.assert_array_equal(list(staged(X))[-1], together)
