"""The same trees as scikit-learn's on data without ties.

Two features that split a node into the same two groups tie, and scikit-learn then decides by its
random state; two thresholds of one feature tie as well. Data counts as free of ties here when
scikit-learn grows one tree for several random states and for mirrored features. Features are
representable in float32, which is what scikit-learn's trees read.
"""

from functools import partial
from itertools import product

import numpy as np
import pytest
import sklearn.tree
from packaging.version import Version
from peer_versions import SKLEARN
from reference import Limits, NaiveTree
from tree_tools import leaf_partition, make_tree

CRITERIA = ("gini", "entropy", "log_loss", "squared_error", "absolute_error", "poisson")
REGRESSION = CRITERIA[3:]


def peer_tree(criterion, **params):
    if criterion in REGRESSION:
        return sklearn.tree.DecisionTreeRegressor(criterion=criterion, **params)
    return sklearn.tree.DecisionTreeClassifier(criterion=criterion, **params)


def is_same_tree(a, b):
    return a.tree_.node_count == b.tree_.node_count and all(
        np.array_equal(getattr(a.tree_, name), getattr(b.tree_, name))
        for name in ("feature", "threshold", "children_left", "children_right")
    )


def without_ties(draw, criterion, **params):
    """Draw tables until scikit-learn's tree depends neither on its random state nor on the sign
    of the features, which decide between features and between thresholds that tie.
    """
    mirror_params = dict(params)
    if "monotonic_cst" in params:
        mirror_params["monotonic_cst"] = [-sign for sign in params["monotonic_cst"]]
    for _ in range(50):
        X, y, weight = draw()
        models = [
            peer_tree(criterion, random_state=state, **params).fit(X, y, sample_weight=weight)
            for state in range(4)
        ]
        mirror = peer_tree(criterion, random_state=0, **mirror_params)
        mirror.fit(-X, y, sample_weight=weight)
        if leaf_partition(mirror.apply(-X)) == leaf_partition(models[0].apply(X)) and all(
            is_same_tree(models[0], other) for other in models[1:]
        ):
            return X, y, weight, models[0]
    raise AssertionError("every table drawn has ties")


def make_data(rng, criterion, n_rows=400, missing=0.0, weighted=True):
    X = rng.normal(size=(n_rows, 4)).astype(np.float32).astype(np.float64)
    signal = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n_rows)
    y = np.exp(signal) if criterion in REGRESSION else np.digitize(signal, [-0.7, 0.6])
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, rng.uniform(0.5, 2.0, n_rows) if weighted else None


def assert_same_as_peer(ours, peer, X):
    """The same nodes; scikit-learn numbers them depth first, so they are met along the rows.

    Structure and thresholds must be equal bit for bit. Sums of 400 numbers in another order
    differ by about 400 * 1e-16, and scikit-learn computes impurities as differences of squares.
    """
    pairs = node_pairs(ours.tree_, peer.tree_)
    assert len(pairs) == ours.tree_.node_count == peer.tree_.node_count
    mine, theirs = pairs.T
    for name in ("feature", "threshold"):
        a, b = getattr(ours.tree_, name)[mine], getattr(peer.tree_, name)[theirs]
        np.testing.assert_array_equal(a, b, err_msg=name)
    for name in ("impurity", "value", "weighted_n_node_samples"):
        a, b = getattr(ours.tree_, name)[mine], getattr(peer.tree_, name)[theirs]
        scale = np.abs(b).max()
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12 * scale, err_msg=name)
    np.testing.assert_array_equal(peer.apply(X), theirs[np.argsort(mine)][ours.apply(X)])
    np.testing.assert_allclose(
        ours.feature_importances_, peer.feature_importances_, rtol=1e-9, atol=1e-12
    )


def node_pairs(ours, theirs):
    """(our node, their node) for all nodes, walked from the root in step."""
    pairs = [(0, 0)]
    for mine, peer in pairs:
        children = ours.children_left[mine], ours.children_right[mine]
        others = theirs.children_left[peer], theirs.children_right[peer]
        assert (children[0] < 0) == (others[0] < 0), f"one of nodes {mine}, {peer} is a leaf"
        if children[0] >= 0:
            pairs += zip(children, others, strict=True)
    return np.array(pairs)


def needs_right_peer(criterion, missing):
    """Skip what old versions of scikit-learn compute wrongly."""
    if Version("1.9") > SKLEARN and criterion == "poisson" and missing:
        pytest.skip("before 1.9 poisson forgets rows with missing values")
    if Version("1.8") > SKLEARN and (missing or criterion == "absolute_error"):
        pytest.skip("before 1.8 missing values and weighted medians have bugs")


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_the_naive_oracle_grows_the_peers_tree(criterion, missing, rng):
    needs_right_peer(criterion, missing)
    # Our trees are compared with the oracle, so it is itself checked here.
    draw = partial(make_data, rng, criterion, 80, missing=missing)
    for limits in (
        {"max_depth": 3, "min_samples_leaf": 4},
        {"max_leaf_nodes": 6, "min_samples_leaf": 3},
        {"min_weight_fraction_leaf": 0.1, "min_samples_split": 12},
        {"min_impurity_decrease": 0.02, "min_samples_leaf": 4},
    ):
        X, y, weight, peer = without_ties(draw, criterion, **limits)
        naive = NaiveTree(criterion, Limits(**limits)).fit(X, y, weight)
        leaves = {tuple(np.flatnonzero(leaf.mask)) for leaf in naive.leaves()}
        assert leaves == leaf_partition(peer.apply(X))
        for node, mask in enumerate(peer.decision_path(X).toarray().astype(bool).T):
            _, _, impurity, value = naive.stats(mask)
            np.testing.assert_allclose(peer.tree_.impurity[node], impurity, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(peer.tree_.value[node], value, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": 3, "min_samples_leaf": 5},
        {"min_samples_leaf": 20, "min_samples_split": 60},
        {"min_weight_fraction_leaf": 0.05},
        {"min_impurity_decrease": 0.02, "min_samples_leaf": 5},
        {"max_leaf_nodes": 8, "min_samples_leaf": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("criterion", "missing", "weighted"),
    [
        (criterion, missing, weighted)
        for criterion, missing, weighted in product(CRITERIA, (0.0, 0.15), (False, True))
        # scikit-learn has no missing values with absolute_error. Without weights the median of an
        # even number of rows is any number between two, so that neighbouring thresholds tie.
        if criterion != "absolute_error" or (weighted and not missing)
    ],
)
def test_the_same_tree_on_data_without_ties(criterion, missing, weighted, limits, rng):
    needs_right_peer(criterion, missing)
    draw = partial(make_data, rng, criterion, missing=missing, weighted=weighted)
    X, y, weight, peer = without_ties(draw, criterion, **limits)
    ours = make_tree(criterion, split_finding="exact", **limits).fit(X, y, sample_weight=weight)
    assert_same_as_peer(ours, peer, X)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize(
    "limits",
    [
        {"min_samples_leaf": 0.05},
        {"min_samples_split": 0.2, "min_samples_leaf": 3},
        {"max_features": 1.0, "max_depth": 2},
        {"max_features": 4, "max_depth": 2},
    ],
    ids=str,
)
def test_fractions_of_rows_and_features_mean_the_same(criterion, limits, rng):
    draw = partial(make_data, rng, criterion)
    X, y, weight, peer = without_ties(draw, criterion, **limits)
    ours = make_tree(criterion, split_finding="exact", **limits).fit(X, y, sample_weight=weight)
    assert_same_as_peer(ours, peer, X)


@pytest.mark.parametrize("criterion", REGRESSION)
def test_a_fully_grown_regression_tree_predicts_as_the_peer(criterion, rng):
    # Leaves of one row each: whatever the ties, training rows are reproduced.
    X, y, _ = make_data(rng, criterion)
    ours = make_tree(criterion).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), y, rtol=1e-12)
    assert ours.get_n_leaves() == peer_tree(criterion).fit(X, y).get_n_leaves() == len(y)


def test_poisson_never_predicts_zero_where_the_peer_does_not(rng):
    def draw():
        X, y, weight = make_data(rng, "poisson")
        return X, np.where(y < np.median(y), 0.0, y), weight

    limits = {"max_depth": 5, "min_samples_leaf": 5}
    X, y, weight, peer = without_ties(draw, "poisson", **limits)
    ours = make_tree("poisson", split_finding="exact", **limits).fit(X, y, sample_weight=weight)
    assert ours.predict(X).min() > 0
    assert_same_as_peer(ours, peer, X)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_two_outputs_grow_the_same_tree(criterion, rng):
    def draw():
        X, first, weight = make_data(rng, criterion)
        return X, np.column_stack([first, make_data(rng, criterion)[1]]), weight

    limits = {"max_depth": 4, "min_samples_leaf": 8}
    X, y, weight, peer = without_ties(draw, criterion, **limits)
    ours = make_tree(criterion, split_finding="exact", **limits).fit(X, y, sample_weight=weight)
    assert_same_as_peer(ours, peer, X)
    if criterion in REGRESSION:
        np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-10)
    else:
        assert np.array_equal(ours.predict(X), peer.predict(X))
        for a, b in zip(ours.predict_proba(X), peer.predict_proba(X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3, 1: 2.0, 2: 1.1}], ids=str)
def test_class_weights_grow_the_same_tree(class_weight, rng):
    draw = partial(make_data, rng, "gini", weighted=False)
    limits = {"max_depth": 3, "min_samples_leaf": 8, "class_weight": class_weight}
    X, y, _, peer = without_ties(draw, "gini", **limits)
    ours = make_tree("gini", split_finding="exact", **limits).fit(X, y)
    assert_same_as_peer(ours, peer, X)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_the_pruning_path_is_the_same(criterion, rng):
    draw = partial(make_data, rng, criterion, 200)
    limits = {"min_samples_leaf": 6}
    X, y, weight, peer = without_ties(draw, criterion, **limits)
    theirs = peer.cost_complexity_pruning_path(X, y, sample_weight=weight)
    tree = make_tree(criterion, split_finding="exact", **limits)
    ours = tree.cost_complexity_pruning_path(X, y, sample_weight=weight)
    # Effective alphas are differences of sums of impurities: a few digits are lost.
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours.impurities, theirs.impurities, rtol=1e-8, atol=1e-12)
    for low, high in zip(theirs.ccp_alphas[:-1], theirs.ccp_alphas[1:], strict=True):
        alpha = (low + high) / 2
        tree.set_params(ccp_alpha=alpha).fit(X, y, sample_weight=weight)
        peer.set_params(ccp_alpha=alpha).fit(X, y, sample_weight=weight)
        assert leaf_partition(tree.apply(X)) == leaf_partition(peer.apply(X))
        np.testing.assert_allclose(tree.predict(X), peer.predict(X), rtol=1e-10)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_missing_values_at_prediction_take_the_same_side(criterion, rng):
    needs_right_peer(criterion, missing=True)
    # Where training had none missing, the larger child: by rows there, by weight here.
    limits = {"max_depth": 3, "min_samples_leaf": 9}
    for missing in (0.0, 0.2):  # without and with missing values in training
        draw = partial(make_data, rng, criterion, missing=missing, weighted=False)
        X, y, weight, peer = without_ties(draw, criterion, **limits)
        ours = make_tree(criterion, split_finding="exact", **limits)
        ours.fit(X, y, sample_weight=weight)
        holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
        np.testing.assert_allclose(ours.predict(holes), peer.predict(holes), rtol=1e-10)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_monotonic_constraints_grow_the_same_tree(criterion, rng):
    def draw():
        X, y, weight = make_data(rng, criterion)
        return X, (y > np.median(y)).astype(int) if criterion == "gini" else y, weight

    limits = {"max_depth": 4, "min_samples_leaf": 9, "monotonic_cst": [1, 0, -1, 0]}
    X, y, weight, peer = without_ties(draw, criterion, **limits)
    ours = make_tree(criterion, split_finding="exact", **limits).fit(X, y, sample_weight=weight)
    assert leaf_partition(ours.apply(X)) == leaf_partition(peer.apply(X))
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-10)


def test_binned_and_exact_search_generalise_alike(rng):
    # Not the same tree (255 bins), but as good a one: noise of the comparison is about 0.01.
    X, y, _ = make_data(rng, "gini", 6000)
    scores = []
    for search in ("hist", "exact"):
        model = make_tree("gini", split_finding=search, min_samples_leaf=20).fit(X[:4000], y[:4000])
        scores.append(model.score(X[4000:], y[4000:]))
    peer = peer_tree("gini", min_samples_leaf=20, random_state=0).fit(X[:4000], y[:4000])
    scores.append(peer.score(X[4000:], y[4000:]))
    assert np.ptp(scores) < 0.02
