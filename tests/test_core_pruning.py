"""Cost-complexity pruning of the core: scikit-learn's trees, and a naive weakest-link search."""

import time
from itertools import pairwise

import numpy as np
import pytest
from hand_trees import FAN_OUT, REAL, TreeBuilder, view_of_sklearn
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from committee import _core

# Sums in another order than scikit-learn's.
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def core_tree_of(model):
    view, order = view_of_sklearn(model)
    return view._tree, order


def regression_tree(**parameters):
    X, y = load_diabetes(return_X_y=True)
    # Random weights, so that no two links are equally weak.
    weight = np.random.default_rng(3).random(len(y)) + 0.5
    return DecisionTreeRegressor(random_state=0, **parameters).fit(X, y, weight), X, y, weight


def classification_tree(**parameters):
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(3).random(len(y)) + 0.5
    model = DecisionTreeClassifier(random_state=0, **parameters).fit(X, y, weight)
    return model, X, y, weight


@pytest.mark.parametrize("make", [regression_tree, classification_tree])
def test_the_path_is_that_of_scikit_learn(make):
    model, X, y, weight = make()
    expected = model.cost_complexity_pruning_path(X, y, weight)
    alphas, impurities = core_tree_of(model)[0].pruning_path()
    np.testing.assert_allclose(alphas, expected.ccp_alphas, **CLOSE)
    np.testing.assert_allclose(impurities, expected.impurities, **CLOSE)


@pytest.mark.parametrize("make", [regression_tree, classification_tree])
def test_pruned_trees_predict_as_those_of_scikit_learn(make):
    model, X, *_ = make()
    tree, _ = core_tree_of(model)
    alphas = tree.pruning_path()[0]
    X32 = X.astype(np.float32)  # scikit-learn predicts on these
    table = _core.Table.from_matrix(X32)
    between = (alphas[1:-1] + alphas[2:]) / 2
    for alpha in [*between[:: max(1, len(between) // 6)], alphas[-1] * 0.999, alphas[-1] * 1.001]:
        pruned = tree.prune(alpha)
        expected, *_ = make(ccp_alpha=alpha)
        assert pruned.n_nodes == expected.tree_.node_count
        np.testing.assert_allclose(pruned.predict(table), expected.tree_.predict(X32), rtol=1e-12)


def test_ties_lead_to_the_trees_of_scikit_learn():
    """Unit weights make many links equally weak; between two alphas the tree is still unique."""
    X, y = load_iris(return_X_y=True)
    tree, _ = core_tree_of(DecisionTreeClassifier(random_state=0).fit(X, y))
    alphas = tree.pruning_path()[0]
    for low, high in pairwise(alphas):
        if high - low > 1e-6:
            expected = DecisionTreeClassifier(random_state=0, ccp_alpha=(low + high) / 2).fit(X, y)
            assert tree.prune((low + high) / 2).n_nodes == expected.tree_.node_count


def naive_path(arrays, n_children):
    """Collapses the weakest link again and again; returns alphas, impurities, collapsed nodes."""
    first_child = arrays["first_child"].astype(int)
    risk = arrays["weight"] / arrays["weight"][0] * arrays["impurity"]
    is_leaf = first_child == 0

    def leaves(node):
        if is_leaf[node]:
            return [node]
        children = range(first_child[node], first_child[node] + n_children[node])
        return [leaf for child in children for leaf in leaves(child)]

    below = {}
    for node in range(len(first_child) - 1, -1, -1):
        children = range(first_child[node], first_child[node] + n_children[node])
        below[node] = set(children).union(*(below[child] for child in children))
    gone = set()
    alphas, impurities, collapsed = [0.0], [risk[leaves(0)].sum()], [None]
    while not is_leaf[0]:
        strengths = {}
        for node in np.flatnonzero(~is_leaf):
            if node in gone:
                continue
            ends = leaves(node)
            strengths[node] = (risk[node] - risk[ends].sum()) / (len(ends) - 1)
        weakest = min(strengths, key=lambda node: (strengths[node], node))
        is_leaf[weakest] = True
        gone |= below[weakest]
        alphas.append(strengths[weakest])
        impurities.append(risk[leaves(0)].sum())
        collapsed.append(weakest)
    return np.array(alphas), np.array(impurities), collapsed


def random_fan_out_tree(rng, n_splits):
    """A tree of two kinds of nodes, each impurity below that of its parent."""
    builder = TreeBuilder()
    n_children, impurity, weight = {}, [1.0], [1.0]
    for _ in range(n_splits):
        leaves = [node for node, first in enumerate(builder.first_child) if first == 0]
        node = int(rng.choice(leaves[:12]))
        n = int(rng.integers(2, 5))
        if rng.random() < 0.5:
            n = 2
            builder.split(node, 0, REAL, 0.5, missing_left=False)
        else:
            data = [n, 0, n, *range(n)]
            builder.split(node, 1, FAN_OUT, data, missing_left=False, n_children=n)
        n_children[node] = n
        shares = rng.dirichlet(np.ones(n))
        weight += (weight[node] * shares).tolist()
        impurity += (impurity[node] * rng.random(n)).tolist()
    n_nodes = len(weight)
    values = np.arange(n_nodes, dtype=float)[:, None]  # a node is known by its value
    arrays = builder.arrays(values, impurity, weight, np.ones(n_nodes))
    return _core.Tree(2, [0, 2], arrays), [n_children.get(i, 0) for i in range(n_nodes)]


def test_trees_with_fan_outs_follow_the_weakest_link(rng):
    for _ in range(20):
        tree, n_children = random_fan_out_tree(rng, 30)
        alphas, impurities = tree.pruning_path()
        expected_alphas, expected_impurities, _ = naive_path(tree.arrays(), n_children)
        np.testing.assert_allclose(alphas, expected_alphas, **CLOSE)
        np.testing.assert_allclose(impurities, expected_impurities, **CLOSE)


def test_pruning_collapses_exactly_the_links_up_to_alpha(rng):
    for _ in range(5):
        tree, n_children = random_fan_out_tree(rng, 30)
        alphas, _, collapsed = naive_path(tree.arrays(), n_children)
        for step in range(len(alphas)):
            last = alphas[step + 1] if step + 1 < len(alphas) else alphas[step] + 1
            pruned = tree.prune((alphas[step] + last) / 2)
            arrays = pruned.arrays()
            nodes = arrays["values"][:, 0].astype(int)
            assert (np.diff(nodes) > 0).all()  # relative order is kept
            inner = set(nodes[arrays["first_child"] > 0])
            leaves = set(nodes[arrays["first_child"] == 0])
            assert not inner & set(collapsed[1 : step + 1])
            assert set(collapsed[step + 1 :]) <= inner
            assert all(n_children[node] for node in inner)
            # What is left is a sound tree of its own, without the data of the nodes cut off.
            _core.Tree(2, [0, 2], arrays)
            n_words = sum(
                3 + n_children[node]
                for node in inner
                if tree.arrays()["feature_and_flags"][node] >> 24 == FAN_OUT
            )
            assert len(arrays["category_data"]) == n_words
            assert leaves | inner == set(nodes)


def test_every_alpha_of_the_path_gives_the_tree_of_its_impurity():
    tree, _ = core_tree_of(regression_tree()[0])
    for alpha, impurity in zip(*(part[1:] for part in tree.pruning_path()), strict=True):
        arrays = tree.prune(alpha).arrays()
        leaves = arrays["first_child"] == 0
        share = arrays["weight"][leaves] / arrays["weight"][0]
        np.testing.assert_allclose((share * arrays["impurity"][leaves]).sum(), impurity, **CLOSE)


def test_equally_weak_links_go_together():
    """Two copies of the same split below the root: one alpha, twice on the path."""
    builder = TreeBuilder()
    builder.split(0, 0, REAL, 0.5, missing_left=False)
    builder.split(1, 0, REAL, 0.25, missing_left=False)
    builder.split(2, 0, REAL, 0.75, missing_left=False)
    arrays = builder.arrays(
        np.zeros((7, 1)), [1, 0.5, 0.5, 0, 0, 0, 0], [4, 2, 2, 1, 1, 1, 1], np.ones(7)
    )
    tree = _core.Tree(1, [0], arrays)
    assert [part.tolist() for part in tree.pruning_path()] == [
        [0.0, 0.25, 0.25, 0.5],
        [0.0, 0.25, 0.5, 1.0],
    ]
    assert tree.prune(0.2).n_nodes == 7
    assert tree.prune(0.25).n_nodes == 3
    assert tree.prune(0.5).n_nodes == 1


def test_a_parent_as_weak_as_its_child_swallows_it():
    builder = TreeBuilder()
    builder.split(0, 0, REAL, 0.5, missing_left=False)
    builder.split(2, 0, REAL, 0.75, missing_left=False)
    arrays = builder.arrays(np.zeros((5, 1)), [1, 0, 1, 0, 0], [4, 2, 2, 1, 1], np.ones(5))
    tree = _core.Tree(1, [0], arrays)
    assert tree.pruning_path()[0].tolist() == [0.0, 0.5]


def test_a_split_that_gains_nothing_goes_at_alpha_zero():
    builder = TreeBuilder()
    builder.split(0, 0, REAL, 0.5, missing_left=False)
    arrays = builder.arrays(np.zeros((3, 1)), [1, 1, 1], [2, 1, 1], np.ones(3))
    tree = _core.Tree(1, [0], arrays)
    assert tree.prune(0.0).n_nodes == 1
    assert tree.pruning_path()[0].tolist() == [0.0, 0.0]


def test_a_single_leaf_and_a_tree_without_weight_can_be_pruned():
    arrays = TreeBuilder().arrays(np.zeros((1, 1)), [0.5], [0.0], [0])
    tree = _core.Tree(0, [], arrays)
    assert tree.prune(1.0).n_nodes == 1
    assert [part.tolist() for part in tree.pruning_path()] == [[0.0], [0.0]]


@pytest.mark.parametrize("alpha", [-1e-9, float("nan"), float("-inf")])
def test_a_negative_alpha_is_refused(alpha):
    tree = _core.Tree(0, [], TreeBuilder().arrays(np.zeros((1, 1)), [0], [1], [1]))
    with pytest.raises(ValueError, match="alpha must be a number >= 0; got"):
        tree.prune(alpha)


@pytest.mark.parametrize("shape", ["balanced", "chain", "chain pruned from the top"])
def test_a_large_tree_of_any_depth_is_pruned_quickly(shape):
    n_inner = 150_000
    n = 2 * n_inner + 1
    first_child = np.zeros(n, np.uint32)
    if shape == "balanced":
        first_child[:n_inner] = 1 + 2 * np.arange(n_inner)
        level = np.floor(np.log2(np.arange(n) + 1))
    else:
        first_child[np.r_[0, 2 : 2 * n_inner : 2]] = 1 + 2 * np.arange(n_inner)
        level = (np.arange(n) + 1) // 2
    impurity = 1.0 / (1 + level) if shape != "chain pruned from the top" else 2 - level / n
    flags = np.zeros(n, np.uint32)
    tree = _core.Tree(
        1,
        [0],
        {
            "threshold": np.zeros(n, np.uint64),
            "feature_and_flags": flags,
            "first_child": first_child,
            "category_data": np.zeros(0, np.uint32),
            "values": np.zeros((n, 1)),
            "impurity": impurity,
            "weight": np.exp2(-level) if shape == "balanced" else 1.0 - level / n,
            "n_rows": np.ones(n, np.int64),
        },
    )
    begin = time.process_time()
    alphas, _ = tree.pruning_path()
    assert (np.diff(alphas) >= 0).all()
    assert tree.prune(alphas[-1]).n_nodes == 1
    assert time.process_time() - begin < 3
