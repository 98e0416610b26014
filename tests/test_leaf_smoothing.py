"""Leaves whose class shares are drawn to those of their parents (`leaf_smoothing`)."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import committee
from committee import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    _core,
)
from committee.tables.table import read_table

FORESTS = [RandomForestClassifier, ExtraTreesClassifier]


@pytest.fixture
def X(rng):
    table = rng.normal(size=(150, 4))
    table[:, 2] = rng.integers(0, 3, 150)
    return table


@pytest.fixture
def y(X, rng):
    return np.digitize(X[:, 0] + X[:, 2] + rng.normal(size=150), [0.0, 2.0])


def shares_of(codes, weights, n_classes):
    totals = np.bincount(codes, weights, n_classes)
    return totals / totals.sum()


def naive_probabilities(plain, X, y, weights, strength, X_new):
    """Probabilities from training rows in the leaves of a forest without smoothing, and above."""
    classes = np.unique(y)
    codes = np.searchsorted(classes, y)
    total = np.zeros((len(X_new), len(classes)))
    for number, tree in enumerate(plain):
        drawn = weights
        if plain.bootstrap:
            drawn = np.bincount(plain.estimators_samples_[number], minlength=len(y)).astype(float)
        inside = tree.decision_path(X).toarray().astype(bool) & (drawn[:, None] > 0)
        for row, path in enumerate(tree.decision_path(X_new).toarray().astype(bool)):
            nodes = sorted(np.flatnonzero(path), key=lambda node: -inside[:, node].sum())
            leaf = inside[:, nodes[-1]]
            own = shares_of(codes[leaf], drawn[leaf], len(classes))
            if len(nodes) > 1:
                above = inside[:, nodes[-2]]
                prior = shares_of(codes[above], drawn[above], len(classes))
                weight = drawn[leaf].sum()
                own = (weight * own + strength * prior) / (weight + strength)
            total[row] += own
    return total / len(plain)


@pytest.mark.parametrize("strength", [0.3, 2.0])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"bootstrap": False},
        {"max_depth": 3, "min_samples_leaf": 4},
        {"categorical_features": [2], "category_split": "fanout"},
        {"ccp_alpha": 0.01},
        {"max_leaf_nodes": 6, "split_finding": "exact"},
    ],
    ids=str,
)
@pytest.mark.parametrize("cls", FORESTS)
def test_a_leaf_has_rows_with_the_shares_of_its_parent_too(cls, params, strength, X, y, rng):
    weights = np.ones(150) if "bootstrap" not in params else rng.integers(0, 3, 150) / 2
    given = None if "bootstrap" not in params else weights
    shared = {"n_estimators": 4, "random_state": 0} | params
    plain = cls(**shared).fit(X, y, given)
    smooth = cls(leaf_smoothing=strength, **shared).fit(X, y, given)
    X_new = rng.normal(size=(40, 4))
    X_new[:, 2] = rng.integers(0, 3, 40)
    expected = naive_probabilities(plain, X, y, weights, strength, X_new)
    assert_allclose(smooth.predict_proba(X_new), expected, atol=1e-12)
    assert not np.allclose(plain.predict_proba(X_new), expected)


def test_each_output_is_smoothed_by_its_own_shares(X, y):
    shared = {"n_estimators": 3, "max_depth": 2, "random_state": 1, "leaf_smoothing": 1.0}
    both = RandomForestClassifier(**shared).fit(X, np.column_stack([y, y]))
    one = RandomForestClassifier(**shared).fit(X, y)
    for part in both.predict_proba(X):
        assert_allclose(part, one.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("cls", FORESTS)
def test_no_full_grown_tree_is_sure_of_one_of_two_classes(cls, X, y):
    """The parent of a pure leaf has rows of both classes, or it would not have been split."""
    plain, smooth = (
        cls(1, leaf_smoothing=strength, random_state=0).fit(X, y > 0).predict_proba(X)
        for strength in (0.0, 0.1)
    )
    assert set(np.unique(plain)) == {0.0, 1.0}
    assert smooth.min() > 0
    assert_allclose(smooth.sum(axis=1), 1.0, atol=1e-15)


def test_everything_that_a_forest_says_agrees_with_its_trees(X, y):
    shared = {"n_estimators": 30, "oob_score": True, "random_state": 0}
    plain = RandomForestClassifier(**shared).fit(X, y)
    model = RandomForestClassifier(leaf_smoothing=0.5, **shared).fit(X, y)
    by_tree = np.array([tree.predict_proba(X) for tree in model])
    assert_allclose(model.predict_proba(X), by_tree.mean(axis=0), atol=1e-12)
    assert_allclose(list(model.staged_predict_proba(X))[-1], by_tree.mean(axis=0), atol=1e-12)
    assert_allclose(model.predict_contributions(X).sum(axis=1), by_tree.mean(axis=0), atol=1e-9)
    is_out = np.array([~np.isin(np.arange(150), rows) for rows in model.estimators_samples_])
    voted = is_out.any(axis=0)
    sums = (by_tree * is_out[:, :, None]).sum(axis=0)[voted]
    expected = sums / is_out.sum(axis=0)[voted, None]
    assert_allclose(model.oob_decision_function_[voted], expected, atol=1e-12)
    # The splits, and what is known of the rows in nodes, stay as they were.
    assert_allclose(model.feature_importances_, plain.feature_importances_, atol=1e-12)
    for smooth, tree in zip(model, plain, strict=True):
        assert_array_equal(smooth.tree_.threshold, tree.tree_.threshold)
        assert_allclose(smooth.tree_.impurity, tree.tree_.impurity, atol=1e-12)
        inner = tree.tree_.children_left >= 0
        assert_allclose(smooth.tree_.value[inner], tree.tree_.value[inner], atol=1e-12)


@pytest.mark.parametrize("cls", FORESTS)
def test_a_row_of_weight_two_is_the_row_twice(cls, X, y, rng):
    weights = rng.integers(0, 3, 150)
    rows = np.repeat(np.arange(150), weights)
    model = cls(5, bootstrap=False, leaf_smoothing=0.7, max_features=None, random_state=0)
    weighted = model.fit(X, y, weights).predict_proba(X)
    repeated = model.fit(X[rows], y[rows]).predict_proba(X)
    assert_allclose(weighted, repeated, atol=1e-12)


def test_threads_files_pickles_and_warm_starts_keep_the_bits(X, y, tmp_path):
    shared = {"leaf_smoothing": 0.3, "random_state": 0}
    model = RandomForestClassifier(8, n_jobs=1, **shared).fit(X, y)
    expected = model.predict_proba(X)
    grown = RandomForestClassifier(3, warm_start=True, **shared).fit(X, y)
    committee.save(model, tmp_path / "forest.committee")
    others = [
        RandomForestClassifier(8, n_jobs=2, **shared).fit(X, y),
        pickle.loads(pickle.dumps(model)),
        committee.load(tmp_path / "forest.committee"),
        grown.set_params(n_estimators=8).fit(X, y),
    ]
    for other in others:
        assert_array_equal(other.predict_proba(X), expected)
        assert other.leaf_smoothing == 0.3


@pytest.mark.parametrize(
    ("value", "error"), [(-0.1, ValueError), (np.nan, ValueError), ("some", TypeError)]
)
@pytest.mark.parametrize("cls", FORESTS)
def test_bad_strengths_are_named(cls, value, error):
    with pytest.raises(error, match="leaf_smoothing must be"):
        cls(leaf_smoothing=value).fit([[0.0], [1.0]], [0, 1])


def test_monotone_constraints_and_numbers_are_refused(X, y):
    model = RandomForestClassifier(leaf_smoothing=0.1, monotonic_cst=[1, 0, 0, 0])
    with pytest.raises(ValueError, match="leaf_smoothing must be 0 with monotonic_cst"):
        model.fit(X, y > 0)
    assert "leaf_smoothing" not in RandomForestRegressor().get_params()
    table, _ = read_table(X)
    dataset = _core.BinnedDataset(table, None, [0] * 4, max_bins=255)
    settings = {"criterion": "squared_error"}
    with pytest.raises(ValueError, match="only leaves of classes"):
        _core.grow_forest(dataset, 1, reals=X[:, :1].copy(), settings=settings, leaf_smoothing=1.0)
