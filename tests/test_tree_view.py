"""The read-only view of a tree: scikit-learn's fields, branches, and rows that pass."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hand_trees import FAN_OUT, INTEGER, NO_CHILD, SUBSET, TreeBuilder, bit_set, level_list
from hand_trees import view_of_sklearn as copy_of
from peer_versions import needs_sklearn
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_graphviz

import committee
from committee import _core
from committee.tables.table import FeatureInfo, Kind, TableSchema
from committee.trees.tree_view import TreeView

NODE_FIELDS = (
    "feature",
    "threshold",
    "missing_go_to_left",
    "value",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
)


def sklearn_models(rng):
    X = rng.normal(size=(150, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 150)
    weight = rng.uniform(0.5, 2.0, 150)
    two = np.column_stack([y, rng.integers(0, 2, 150)])
    return X, [
        DecisionTreeClassifier(random_state=0).fit(X, y, sample_weight=weight),
        DecisionTreeClassifier(random_state=0, max_depth=5).fit(X, two),
        DecisionTreeRegressor(random_state=0, max_depth=4).fit(X, rng.normal(size=150)),
        DecisionTreeRegressor(random_state=0, max_depth=4).fit(X, rng.normal(size=(150, 2))),
        DecisionTreeClassifier().fit(X, np.zeros(150)),
    ]


@pytest.mark.parametrize("number", range(5))
def test_fields_are_those_of_scikit_learn(number, rng):
    _, models = sklearn_models(rng)
    theirs = models[number].tree_
    view, order = copy_of(models[number])
    for name in NODE_FIELDS:
        np.testing.assert_array_equal(getattr(view, name), getattr(theirs, name)[order], name)
    for name in ("node_count", "n_leaves", "max_depth", "n_features", "n_outputs", "max_n_classes"):
        assert getattr(view, name) == getattr(theirs, name), name
    np.testing.assert_array_equal(view.n_classes, theirs.n_classes)
    for name in ("children_left", "children_right"):
        ours, expected = getattr(view, name), getattr(theirs, name)[order]
        inner = expected != -1
        np.testing.assert_array_equal(ours == -1, ~inner)
        np.testing.assert_array_equal(order[ours[inner]], expected[inner])
    for normalize in (True, False):
        np.testing.assert_allclose(
            view.compute_feature_importances(normalize),
            theirs.compute_feature_importances(normalize),
            atol=1e-15,
        )


@pytest.mark.parametrize("number", range(5))
@needs_sklearn("1.8", "decision paths of missing values are wrong")
def test_rows_pass_the_nodes_they_pass_in_scikit_learn(number, rng):
    X, models = sklearn_models(rng)
    # scikit-learn compares in float32
    X = X.astype(np.float32)
    model = models[number]
    view, order = copy_of(model)
    np.testing.assert_array_equal(order[view.apply(X)], model.tree_.apply(X))
    np.testing.assert_array_equal(view.predict(X), model.tree_.predict(X))
    ours = view.decision_path(X).toarray()
    theirs = model.tree_.decision_path(X).toarray()
    np.testing.assert_array_equal(ours, theirs[:, order])


def test_arrays_are_read_only_and_made_once(rng):
    view, _ = copy_of(sklearn_models(rng)[1][0])
    for name in (*NODE_FIELDS, "children_left", "children_right", "n_classes"):
        array = getattr(view, name)
        assert getattr(view, name) is array
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_single_leaf_is_a_tree(rng):
    _, models = sklearn_models(rng)
    view, _ = copy_of(models[4])
    assert view.max_depth == 0
    assert view.children(0) == range(0)
    assert view.compute_feature_importances().tolist() == [0.0] * 4
    assert repr(view) == "TreeView(node_count=1, n_leaves=1, max_depth=0)"


def category_view():
    """Node 0 fans out to 1, 2, 3 over a, b, c; 1 asks for an integer, 2 for levels twice."""
    levels = ("a", "b", "c", "d", "e")
    builder = TreeBuilder()
    builder.split(0, 0, FAN_OUT, [3, 2, 4, 0, 1, 2, NO_CHILD], missing_left=False, n_children=3)
    builder.split(1, 1, INTEGER, 2**60 + 1, missing_left=True)
    builder.split(2, 0, SUBSET, bit_set([1, 3], 5), missing_left=True)
    builder.split(3, 0, SUBSET, level_list([0, 4]), missing_left=False)
    n_nodes = len(builder.threshold)
    weight = [10.0, 2.0, 3.0, 5.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0]
    impurity = [1.0, 0.5, 0.4, 0.2, 0.1, 0.0, 0.0, 0.3, 0.1, 0.0]
    arrays = builder.arrays(np.arange(n_nodes)[:, None], impurity, weight, np.ones(n_nodes))
    tree = _core.Tree(2, [2, 1], arrays)
    infos = (
        FeatureInfo("letter", Kind.CATEGORY, levels, "category"),
        FeatureInfo("id", Kind.INTEGER, None, "integer"),
    )
    return TreeView(tree, TableSchema(infos, ("letter", "id")), None)


def test_a_fan_out_has_all_its_children_and_known_levels_elsewhere_take_the_default():
    view = category_view()
    assert view.children(0) == range(1, 4)
    assert (view.children_left[0], view.n_children[0]) == (1, 3)
    assert view.splits_levels
    branches = [view.branch(0, child) for child in view.children(0)]
    assert [branch.levels for branch in branches] == [("a",), ("b",), ("c", "d", "e")]
    assert [branch.takes_missing for branch in branches] == [False, False, True]
    assert [branch.takes_unseen for branch in branches] == [False, False, True]
    assert view.missing_go_to_left[0] == 0


def test_arrays_that_cannot_hold_branches_of_levels_are_refused():
    fan_out = category_view()
    for name in ("threshold", "children_right"):
        with pytest.raises(ValueError, match=f"^{name} cannot hold how node 0 divides .* 'letter'"):
            getattr(fan_out, name)
    X = pd.DataFrame({"letter": list("abcabc")})
    model = committee.DecisionTreeClassifier().fit(X, [0, 1, 0, 0, 1, 0])
    subset = model.tree_
    assert subset.children_right.tolist() == [2, -1, -1]
    with pytest.raises(ValueError, match=r"; use branch\(node, child\), or plot_tree"):
        subset.threshold  # noqa: B018
    with pytest.raises(ValueError, match=r"^threshold cannot hold"):
        export_graphviz(model)


def test_an_integer_threshold_is_exact_in_its_branch():
    view = category_view()
    left, right = (view.branch(1, child) for child in view.children(1))
    assert left.threshold == 2**60 + 1
    assert (left.operator, left.takes_missing, left.takes_unseen) == ("<=", True, False)
    assert (right.operator, right.takes_missing) == (">", False)


def test_listed_levels_leave_the_default_child():
    view = category_view()
    left, right = (view.branch(2, child) for child in view.children(2))
    assert (left.levels, left.is_default) == (("a", "c", "e"), True)
    assert (right.levels, right.is_default) == (("b", "d"), False)
    left, right = (view.branch(3, child) for child in view.children(3))
    assert (left.levels, left.is_default) == (("a", "e"), False)
    assert (right.levels, right.is_default) == (("b", "c", "d"), True)


def test_importances_of_a_fan_out_count_every_child():
    importances = category_view().compute_feature_importances(normalize=False)
    at_root = 10 * 1.0 - (2 * 0.5 + 3 * 0.4 + 5 * 0.2)
    at_two = 3 * 0.4 - (1 * 0.0 + 2 * 0.3)
    at_three = 5 * 0.2 - (2 * 0.1 + 3 * 0.0)
    at_one = 2 * 0.5 - (1 * 0.1 + 1 * 0.0)
    np.testing.assert_allclose(importances, [(at_root + at_two + at_three) / 10, at_one / 10])


def test_wrong_nodes_are_named():
    view = category_view()
    with pytest.raises(ValueError, match=r"node must be in \[0, 10\); got 10"):
        view.children(10)
    with pytest.raises(ValueError, match="child must be one of the children of node 0; got 4"):
        view.branch(0, 4)


def test_a_view_survives_pickling():
    view = category_view()
    again = pickle.loads(pickle.dumps(view))
    np.testing.assert_array_equal(again.feature, view.feature)
    assert again.branch(0, 3) == view.branch(0, 3)
