"""What the tests of trees share: small tables of every kind, and a look inside fitted trees."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from reference import CLASSIFICATION, NaiveTree

from committee import DecisionTreeClassifier, DecisionTreeRegressor

# Statistics are sums of integers with at least 40 bits of resolution (about 1e-12 of the largest
# entry); impurities and decreases are differences of such sums, hence three digits less.
RTOL = 1e-9


@dataclass
class Case:
    """One table in the two forms that the estimator and the oracle read."""

    table: object  # array or DataFrame for the estimator
    X: np.ndarray  # numbers for the oracle: NaN is missing, categories are level numbers
    categorical: tuple[int, ...] = ()


def make_case(kind, rng, n_rows=40):
    """A small table: "numeric", "missing", "category" or "mixed"; few distinct values each."""
    numbers = np.round(rng.normal(size=(n_rows, 3)) * 3)
    if kind == "numeric":
        return Case(numbers, numbers)
    if kind == "missing":
        numbers[rng.random(numbers.shape) < 0.2] = np.nan
        return Case(numbers, numbers)
    levels = rng.integers(0, 5, size=(n_rows, 2)).astype(float)
    if kind == "category":
        return Case(_frame(levels, (0, 1)), levels, (0, 1))
    if kind == "mixed":
        X = np.column_stack([numbers[:, 0], levels[:, 0], numbers[:, 1]])
        X[rng.random(X.shape) < 0.15] = np.nan
        return Case(_frame(X, (1,)), X, (1,))
    raise ValueError(kind)


def _frame(X, categorical):
    """A DataFrame whose categorical columns hold the letters of their level numbers."""
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    for i in categorical:
        codes = np.where(np.isnan(X[:, i]), -1, X[:, i]).astype(int)
        frame[f"x{i}"] = pd.Categorical.from_codes(codes, list("abcde"))
    return frame


def make_target(criterion, rng, n_rows=40, n_outputs=1, n_classes=2):
    """Targets that fit the criterion, with every class present."""
    if criterion in CLASSIFICATION:
        y = rng.integers(0, n_classes, size=(n_rows, n_outputs))
        y[:n_classes] = np.arange(n_classes)[:, None]
        y[n_classes : 2 * n_classes] = np.arange(n_classes)[:, None]
    else:
        y = rng.gamma(1.0, 2.0, size=(n_rows, n_outputs)) + 0.01
    return y[:, 0] if n_outputs == 1 else y


def make_weight(kind, rng, n_rows=40):
    """None, whole numbers (some zero), or fractions (some zero)."""
    if kind == "none":
        return None
    weight = rng.integers(1, 4, n_rows) if kind == "whole" else rng.uniform(0.1, 3.0, n_rows)
    weight = weight.astype(float)
    weight[10:n_rows:7] = 0.0  # the first rows hold every class
    return weight


def make_tree(criterion, **params):
    if criterion in (*CLASSIFICATION, "log_loss"):
        return DecisionTreeClassifier(criterion=criterion, **params)
    return DecisionTreeRegressor(criterion=criterion, **params)


def node_masks(model, table):
    """Rows that pass each node (n_nodes x n_rows)."""
    return model.decision_path(table).toarray().astype(bool).T


def child_lists(model, table):
    """Children of each node, read off the paths of the rows, which go down the tree."""
    path = model.decision_path(table).tocsr()
    path.sort_indices()
    children = [set() for _ in range(path.shape[1])]
    for start, stop in zip(path.indptr[:-1], path.indptr[1:], strict=True):
        nodes = path.indices[start:stop]
        assert nodes[0] == 0
        for parent, child in pairwise(nodes):
            children[parent].add(int(child))
    return [sorted(each) for each in children]


def leaf_partition(leaves):
    """The groups of rows that share a leaf, whatever the leaves are called."""
    return {tuple(np.flatnonzero(leaves == leaf)) for leaf in np.unique(leaves)}


def assert_nodes_hold_what_their_rows_say(model, case, naive: NaiveTree):
    """Each node's counts, weight, impurity and value equal those of the rows that pass it."""
    tree = model.tree_
    masks = node_masks(model, case.table)
    assert tree.node_count == len(masks)
    scale = max(1.0, float(np.abs(naive.y).max()))
    for node, mask in enumerate(masks):
        n_rows, weight, impurity, value = naive.stats(mask)
        assert tree.n_node_samples[node] == n_rows
        np.testing.assert_allclose(tree.weighted_n_node_samples[node], weight, rtol=RTOL)
        np.testing.assert_allclose(tree.impurity[node], impurity, rtol=RTOL, atol=RTOL * scale)
        np.testing.assert_allclose(
            tree.value[node].reshape(value.shape), value, rtol=RTOL, atol=RTOL * 1e-3
        )


def assert_every_split_is_best(model, case, naive: NaiveTree, at_least: NaiveTree | None = None):
    """Each inner node gains as much as the best of all partitions; leaves could not be split.

    With `at_least` the gain lies between the best partitions of the two oracles (where a search
    need not try all subsets of levels), and leaves are those of the lesser one.
    """
    masks = node_masks(model, case.table)
    depths = np.zeros(len(masks), dtype=int)
    for node, children in enumerate(child_lists(model, case.table)):
        depths[children] = depths[node] + 1
        rows = masks[node] & (naive.weight > 0)
        low, _, partition = (at_least or naive).best_split(rows, depths[node])
        if not children:
            assert partition is None, f"node {node} could be split with a gain of {low}"
            continue
        high = naive.best_split(rows, depths[node])[0]
        gain = naive.decrease(rows, [masks[child] & rows for child in children])
        # Gains are shares of the training weight times impurity: so is the tolerance.
        _, weight, impurity, _ = naive.stats(rows)
        tolerance = RTOL * weight / naive.weight.sum() * impurity
        assert low - tolerance <= gain <= high + tolerance, f"node {node}: {low}, {gain}, {high}"


NODE_FIELDS = (
    "feature",
    "threshold",
    "children_left",
    "children_right",
    "missing_go_to_left",
    "n_node_samples",
    "weighted_n_node_samples",
    "impurity",
    "value",
)


def assert_same_nodes(a, b, rtol=0.0, fields=NODE_FIELDS):
    """Two fitted trees are the same node by node; numbers of leaves within `rtol`."""
    if a.tree_.splits_levels:  # `threshold` and `children_right` cannot be read
        assert "threshold" in fields
        fields = [name for name in fields if name not in ("threshold", "children_right")]
        ours, theirs = a._tree.arrays(), b._tree.arrays()
        for name in ("threshold", "category_data", "feature_and_flags", "first_child"):
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    for name in fields:
        left, right = np.asarray(getattr(a.tree_, name)), np.asarray(getattr(b.tree_, name))
        if rtol and name in ("weighted_n_node_samples", "impurity", "value"):
            np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol, err_msg=name)
        else:
            np.testing.assert_array_equal(left, right, err_msg=name)
