"""Forests: each tree is what its draws make of it, and the forest is the mean of its trees."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, roc_auc_score
from tree_tools import make_case, make_target, make_weight

from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    _core,
)
from committee.base.sampling import member_seed, plan_features, plan_rows
from committee.datasets import load_penguins
from committee.forests.forest_oob import is_flat
from committee.tables.table import read_table

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
ALL = [*CLASSIFIERS, *REGRESSORS]
N_ROWS = 120


def make_data(cls, rng, n_rows=N_ROWS, n_outputs=1, kind="mixed"):
    """A small table of every kind of column, and a target with three classes or numbers."""
    is_classifier = cls in CLASSIFIERS
    criterion = "gini" if is_classifier else "squared_error"
    y = make_target(criterion, rng, n_rows, n_outputs, n_classes=3)
    return make_case(kind, rng, n_rows).table, y


def assert_same_forests(a, b):
    assert a.n_trees_ == b.n_trees_
    for index in range(a.n_trees_):
        left, right = a._forest.tree(index).arrays(), b._forest.tree(index).arrays()
        for name, array in left.items():
            np.testing.assert_array_equal(array, right[name], err_msg=f"tree {index}: {name}")


def assert_same_tree(found, expected, rtol=1e-12):
    """Structure to the bit; what inner nodes say is rebuilt from leaves, up to rounding."""
    for name, array in expected.arrays().items():
        if name in ("values", "impurity", "weight"):
            scale = max(float(np.abs(array).max()), 1e-300)
            np.testing.assert_allclose(
                found.arrays()[name], array, rtol=rtol, atol=rtol * scale, err_msg=name
            )
        else:
            np.testing.assert_array_equal(found.arrays()[name], array, err_msg=name)


# --- each tree is what its draws make of it -----------------------------------------------------


@pytest.mark.parametrize("draw_features", ["node", "tree"])
@pytest.mark.parametrize("weights", ["none", "whole", "parts"])
@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("cls", ALL)
def test_each_tree_is_grown_from_its_own_draws(cls, bootstrap, weights, draw_features, rng):
    X, y = make_data(cls, rng)
    weight = make_weight(weights, rng, N_ROWS)
    model = cls(
        n_estimators=3,
        max_features=2,
        bootstrap=bootstrap,
        random_state=5,
        draw_features=draw_features,
        min_samples_leaf=2,
    ).fit(X, y, weight)
    table, schema = read_table(X)
    levels = [len(feature.levels or ()) for feature in schema.features]
    dataset = _core.BinnedDataset(table, weight, levels)
    if cls in CLASSIFIERS:
        target = {"classes": y.reshape(-1, 1).astype(np.int32), "n_classes": [3]}
    else:
        target = {"reals": y.reshape(-1, 1)}
    rows, features = plan_rows(N_ROWS, 5, weights=weight), plan_features(3, 5, 2)
    for index in range(3):
        counts = rows.counts(index) if bootstrap else None
        settings = {
            "criterion": model.criterion,
            "random_thresholds": "Extra" in cls.__name__,
            "level_penalty": 2.0,
            "count_constant": False,
            "shuffle_features": True,
            "min_rows_leaf": 2,
            "seed": member_seed(5, index),
        }
        if draw_features == "node":
            settings["max_features"] = 2
        else:
            settings["allowed"] = features.rows(index).tolist()
        alone = _core.grow_tree(
            dataset,
            **target,
            weights=counts.astype(float) if bootstrap else weight,
            counts=counts,
            settings=settings,
            use_records=True,
        )
        assert alone.n_nodes > 5
        assert_same_tree(model._forest.tree(index), alone)
        assert_same_tree(model.estimators_[index]._tree, alone)


@pytest.mark.parametrize("cls", ALL)
def test_the_forest_is_the_same_for_any_number_of_threads(cls, rng):
    X, y = make_data(cls, rng)
    shared = {"n_estimators": 31, "random_state": 1, "bootstrap": True, "oob_score": True}
    models = [cls(n_jobs=n_jobs, **shared).fit(X, y) for n_jobs in (1, 2, 7)]
    for other in models[1:]:
        assert_same_forests(models[0], other)
        np.testing.assert_array_equal(models[0].predict(X), other.predict(X))
        np.testing.assert_array_equal(models[0].oob_curve_.score, other.oob_curve_.score)
        assert models[0].oob_score_632_plus_ == other.oob_score_632_plus_


@pytest.mark.parametrize("cls", ALL)
def test_every_instruction_set_grows_the_same_forest(cls, rng):
    X = rng.normal(size=(600, 5)).round(2)
    y = X[:, 0] * X[:, 1] + rng.normal(size=600)
    y = y > 0 if cls in CLASSIFIERS else y * 1e5
    model = cls(n_estimators=4, random_state=0, max_features=3)
    try:
        _core.set_simd_level("scalar")
        plain = clone(model).fit(X, y)
        expected = plain.predict(X)
        _core.set_simd_level("auto")
        assert_same_forests(plain, model.fit(X, y))
        np.testing.assert_array_equal(model.predict(X), expected)
    finally:
        _core.set_simd_level("auto")


def test_a_tree_that_draws_its_features_uses_no_others(rng):
    X, y = rng.normal(size=(300, 12)), rng.integers(0, 2, 300)
    model = RandomForestClassifier(20, draw_features="tree", max_features=3, random_state=0)
    used = []
    for tree, features in zip(model.fit(X, y).estimators_, model.estimators_features_, strict=True):
        asked = set(tree.tree_.feature[tree.tree_.feature >= 0].tolist())
        assert asked <= set(features.tolist())
        assert len(features) == 3
        used.append(asked)
    assert len(set.union(*used)) == 12
    by_node = RandomForestClassifier(20, max_features=3, random_state=0).fit(X, y)
    assert max(len(np.unique(t.tree_.feature)) for t in by_node.estimators_) > 4
    assert len(by_node.estimators_features_[0]) == 12


def test_seeds_decide_everything(rng):
    X, y = make_data(RandomForestRegressor, rng)
    first = RandomForestRegressor(5, random_state=3).fit(X, y)
    assert_same_forests(first, RandomForestRegressor(5, random_state=3).fit(X, y))
    other = RandomForestRegressor(5, random_state=4).fit(X, y)
    assert not np.array_equal(first.predict(X), other.predict(X))
    generator = np.random.default_rng(0)
    a = RandomForestRegressor(5, random_state=generator).fit(X, y).predict(X)
    b = RandomForestRegressor(5, random_state=generator).fit(X, y).predict(X)
    assert not np.array_equal(a, b)


def test_trees_keep_to_their_limits(rng):
    X, y = rng.normal(size=(400, 4)), rng.normal(size=400)
    limits = {
        "max_depth": lambda t: t.tree_.max_depth <= 3,
        "min_samples_leaf": lambda t: t.tree_.n_node_samples[t.tree_.feature < 0].min() >= 3,
        "max_leaf_nodes": lambda t: t.tree_.n_leaves <= 3,
        "min_weight_fraction_leaf": lambda t: (
            t.tree_.weighted_n_node_samples.min() >= 0.1 * 400 * (1 - 1e-9)
        ),
        "ccp_alpha": lambda t: t.tree_.node_count < 400,
    }
    values = {"min_weight_fraction_leaf": 0.1, "ccp_alpha": 0.02}
    for name, holds in limits.items():
        model = RandomForestRegressor(4, random_state=0, **{name: values.get(name, 3)}).fit(X, y)
        assert all(holds(tree) for tree in model.estimators_), name
        assert model.estimators_[0].tree_.node_count > 1, name


def test_monotone_constraints_hold_for_the_forest(rng):
    X = rng.uniform(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300)
    model = RandomForestRegressor(20, monotonic_cst=[1, 0], random_state=0).fit(X, y)
    line = np.column_stack([np.linspace(0, 1, 50), np.full(50, 0.5)])
    assert (np.diff(model.predict(line)) >= 0).all()


# --- what the forest predicts -------------------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("cls", ALL)
def test_predictions_are_the_means_over_the_trees(cls, n_outputs, rng):
    X, y = make_data(cls, rng, n_outputs=n_outputs)
    model = cls(n_estimators=6, max_depth=4, random_state=0).fit(X, y)
    assert model.n_outputs_ == n_outputs
    if cls in REGRESSORS:
        expected = np.mean([tree.predict(X) for tree in model.estimators_], axis=0)
        np.testing.assert_allclose(model.predict(X), expected, rtol=1e-13)
        assert model.predict(X).shape == y.shape
        return
    each = [tree.predict_proba(X) for tree in model.estimators_]
    found = model.predict_proba(X)
    if n_outputs == 1:
        each, found = [[shares] for shares in each], [found]
    assert len(found) == n_outputs
    labels = model.predict(X).reshape(N_ROWS, n_outputs)
    logs = model.predict_log_proba(X)
    for k in range(n_outputs):
        expected = np.mean([shares[k] for shares in each], axis=0)
        np.testing.assert_allclose(found[k], expected, rtol=1e-13, atol=1e-15)
        np.testing.assert_array_equal(labels[:, k], found[k].argmax(axis=1))
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(np.log(found[k]), logs if n_outputs == 1 else logs[k])


def test_votes_are_counted_and_probabilities_are_averaged():
    # Three leaves say 0.6, 0.6 and 0.0 for "a": two votes for "a", but a mean of 0.4.
    X, y = np.zeros((5, 1)), np.array(list("aaabb"))
    samples = ([1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 1, 1])
    trees = [DecisionTreeClassifier().fit(X, y, counts)._tree for counts in samples]
    soft = RandomForestClassifier(3, random_state=0).fit(X, y)
    soft._forest = _core.Forest.from_trees(trees, "gini", [2])
    np.testing.assert_allclose(soft.predict_proba([[0.0]]), [[0.4, 0.6]])
    assert soft.predict([[0.0]]) == ["b"]
    hard = soft.set_params(voting="hard")
    np.testing.assert_allclose(hard.predict_proba([[0.0]]), [[2 / 3, 1 / 3]])
    assert hard.predict([[0.0]]) == ["a"]


def test_hard_votes_of_a_grown_forest(rng):
    X, y = make_data(RandomForestClassifier, rng)
    model = RandomForestClassifier(9, max_depth=2, voting="hard", random_state=0).fit(X, y)
    votes = np.array([tree.predict(X) for tree in model.estimators_])
    shares = np.stack([(votes == k).mean(axis=0) for k in range(3)], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares)
    np.testing.assert_array_equal(model.predict(X), shares.argmax(axis=1))


@pytest.mark.parametrize("cls", ALL)
def test_stages_are_the_forests_of_the_first_trees(cls, rng):
    X, y = make_data(cls, rng)
    model = cls(n_estimators=5, random_state=0).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 5
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_array_equal(stages[0], model.estimators_[0].predict(X))
    shorter = cls(n_estimators=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(stages[2], shorter.predict(X))
    if cls in CLASSIFIERS:
        *_, last = model.staged_predict_proba(X)
        np.testing.assert_array_equal(last, model.predict_proba(X))


@pytest.mark.parametrize("cls", ALL)
def test_leaves_and_paths_are_those_of_the_trees(cls, rng):
    X, y = make_data(cls, rng)
    model = cls(n_estimators=4, random_state=0).fit(X, y)
    leaves = model.apply(X)
    path, ends = model.decision_path(X)
    assert path.shape == (N_ROWS, ends[-1])
    for index, tree in enumerate(model.estimators_):
        np.testing.assert_array_equal(leaves[:, index], tree.apply(X))
        part = path[:, ends[index] : ends[index + 1]]
        np.testing.assert_array_equal(part.toarray(), tree.decision_path(X).toarray())


@pytest.mark.parametrize("cls", ALL)
def test_importances_are_the_mean_over_the_trees(cls, rng):
    X, y = make_data(cls, rng, kind="missing")
    model = cls(n_estimators=6, random_state=0).fit(X, y)
    expected = np.mean([tree.feature_importances_ for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-9)
    assert model.feature_importances_.sum() == pytest.approx(1)
    flat = cls(n_estimators=2).fit(X, np.zeros(len(X)))
    assert flat.feature_importances_.tolist() == [0, 0, 0]


def test_the_trees_are_estimators_like_any_other(rng):
    X, y = load_penguins()
    model = RandomForestClassifier(10, min_samples_leaf=2, random_state=0).fit(X, y)
    trees = model.estimators_
    assert len(trees) == 10
    assert [type(tree) for tree in trees] == [DecisionTreeClassifier] * 10
    assert np.array_equal(trees[-1].predict(X), trees[9].predict(X))
    assert len(trees[2:5]) == 3
    with pytest.raises(IndexError):
        trees[10]
    tree = trees[0]
    assert tree.score(X, y) > 0.9
    assert tree.classes_.tolist() == model.classes_.tolist()
    assert (tree.min_samples_leaf, tree.max_features) == (2, "sqrt")
    assert tree.get_params() == {**model.estimator_.get_params(), "random_state": tree.random_state}
    assert "DecisionTreeClassifier" in repr(trees)
    assert (len(model), len(list(model))) == (10, 10)
    assert np.array_equal(model[3].predict(X), trees[3].predict(X))
    extra = ExtraTreesRegressor(3, split_finding="exact").fit(rng.normal(size=(20, 2)), range(20))
    assert type(extra.estimators_[1]) is DecisionTreeRegressor
    assert extra.estimators_[1].splitter == "random"
    assert extra.estimator_.split_finding == "exact"


def test_samples_are_drawn_again_as_they_were(rng):
    X, y = make_data(RandomForestClassifier, rng)
    model = RandomForestClassifier(4, max_samples=1.5, random_state=0).fit(X, y)
    assert [len(rows) for rows in model.estimators_samples_] == [N_ROWS * 3 // 2] * 4
    for rows, tree in zip(model.estimators_samples_, model.estimators_, strict=True):
        shares = np.bincount(y[rows], minlength=3) / len(rows)
        np.testing.assert_allclose(tree.tree_.value[0, 0], shares)
        assert tree.tree_.n_node_samples[0] == len(rows)
    everything = ExtraTreesClassifier(2).fit(X, y).estimators_samples_
    assert [rows.tolist() for rows in everything] == [list(range(N_ROWS))] * 2


# --- rows: weights, classes, groups -------------------------------------------------------------


def test_weights_are_draw_probabilities_with_bootstrap(rng):
    X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
    weight = np.where(y == 0, 3.0, 1.0)
    model = RandomForestClassifier(20, random_state=0).fit(X, y, weight)
    drawn = np.concatenate(model.estimators_samples_)
    share = 3 * (y == 0).sum() / (3 * (y == 0).sum() + (y == 1).sum())
    assert np.mean(y[drawn] == 0) == pytest.approx(share, abs=0.02)
    counts = model.estimators_[0].tree_.weighted_n_node_samples
    assert counts[0] == 1000  # trees see counts, not weights
    half = RandomForestClassifier(2, max_samples=0.5, random_state=0).fit(X, y, weight)
    assert len(half.estimators_samples_[0]) == int(0.5 * weight.sum())


@pytest.mark.parametrize("cls", ALL)
def test_rows_of_weight_zero_are_absent(cls, rng):
    X, y = make_data(cls, rng, kind="numeric")
    weight = make_weight("whole", rng, N_ROWS)
    keep = weight > 0
    model = cls(n_estimators=5, bootstrap=False, random_state=0)
    a, b = clone(model).fit(X, y, weight), clone(model).fit(X[keep], y[keep], weight[keep])
    assert_same_forests(a, b)
    drawn = cls(n_estimators=20, bootstrap=True, random_state=0).fit(X, y, weight)
    assert not np.isin(np.flatnonzero(~keep), np.concatenate(drawn.estimators_samples_)).any()
    groups = np.arange(N_ROWS) // 4
    grouped = cls(n_estimators=3, bootstrap=True, random_state=0).fit(X, y, weight, groups=groups)
    for rows, tree in zip(grouped.estimators_samples_, grouped.estimators_, strict=True):
        assert tree.tree_.n_node_samples[0] == keep[rows].sum() < len(rows)


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_class_weights_multiply_weights(cls, rng):
    X, y = make_data(cls, rng)
    weight = make_weight("parts", rng, N_ROWS)
    factor = np.array([1.0, 2.0, 0.5])[y]
    by_class = {0: 1.0, 1: 2.0, 2: 0.5}
    for bootstrap in (True, False):
        shared = {"n_estimators": 3, "bootstrap": bootstrap, "random_state": 0}
        a = cls(class_weight=by_class, **shared).fit(X, y, weight)
        b = cls(**shared).fit(X, y, weight * factor)
        assert_same_forests(a, b)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_balanced_classes(bootstrap, rng):
    X = rng.normal(size=(500, 3))
    y = (rng.random(500) < 0.05).astype(int)
    shared = {"n_estimators": 8, "bootstrap": bootstrap, "random_state": 0}
    model = RandomForestClassifier(class_weight="balanced", **shared).fit(X, y)
    roots = [tree.tree_.value[0, 0] for tree in model.estimators_]
    np.testing.assert_allclose(np.mean(roots, axis=0), [0.5, 0.5], atol=0.03)
    each = RandomForestClassifier(class_weight="balanced_subsample", **shared).fit(X, y)
    for tree in each.estimators_:
        np.testing.assert_allclose(tree.tree_.value[0, 0], [0.5, 0.5])
    if bootstrap:  # rows are drawn alike, and the sample is weighed
        plain = RandomForestClassifier(**shared).fit(X, y)
        assert all(map(np.array_equal, each.estimators_samples_, plain.estimators_samples_))
    else:
        assert_same_forests(each, model)


def test_a_class_that_a_sample_lacks_has_probability_zero_there(rng):
    X = rng.normal(size=(60, 2))
    y = np.array(["common"] * 59 + ["rare"])
    model = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    lacking = [59 not in rows for rows in model.estimators_samples_]
    assert 5 < sum(lacking) < 25
    for tree, lacks in zip(model.estimators_, lacking, strict=True):
        assert tree.predict_proba(X).shape == (60, 2)
        assert (tree.predict_proba(X)[:, 1].max() == 0) == lacks
    assert model.classes_.tolist() == ["common", "rare"]
    assert (
        model.oob_decision_function_[59, 1] == 0
    )  # no tree that has not drawn the row saw the class


def test_strata_and_balanced_samples(rng):
    X, y = rng.normal(size=(300, 2)), np.repeat([0, 1, 2], [200, 90, 10])
    kept = RandomForestClassifier(5, stratify="classes", random_state=0).fit(X, y)
    even = RandomForestClassifier(5, stratify="balanced", max_samples=30, random_state=0).fit(X, y)
    for rows in kept.estimators_samples_:
        assert np.bincount(y[rows]).tolist() == [200, 90, 10]
    for rows in even.estimators_samples_:
        assert np.bincount(y[rows]).tolist() == [10, 10, 10]


def test_groups_stay_together(rng):
    X, groups = rng.normal(size=(90, 2)), np.repeat(list("abcdefghi"), 10)
    model = RandomForestRegressor(10, oob_score=True, random_state=0)
    model.fit(X, rng.normal(size=90), groups=groups)
    for rows in model.estimators_samples_:
        counts = np.bincount(rows, minlength=90).reshape(9, 10)
        assert (counts == counts[:, :1]).all()
        assert counts[:, 0].sum() == 9


def test_samples_without_replacement(rng):
    X, y = make_data(RandomForestRegressor, rng)
    weight = make_weight("parts", rng, N_ROWS)
    model = RandomForestRegressor(
        8, bootstrap=False, max_samples=0.5, oob_score=True, random_state=0
    ).fit(X, y, weight)
    n_present = (weight > 0).sum()
    for rows, tree in zip(model.estimators_samples_, model.estimators_, strict=True):
        assert len(rows) == len(np.unique(rows)) == n_present // 2
        assert (weight[rows] > 0).all()
        assert tree.tree_.weighted_n_node_samples[0] == pytest.approx(weight[rows].sum())


# --- out of bag ---------------------------------------------------------------------------------


def naive_out_of_bag(model, X, n_values):
    """Sums and votes of the trees that have not drawn a row, tree by tree."""
    sums, votes = np.zeros((len(X), n_values)), np.zeros(len(X))
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(X)), rows)
        predicted = tree.predict_proba(X) if hasattr(tree, "classes_") else tree.predict(X)
        predicted = (
            np.hstack(predicted) if isinstance(predicted, list) else predicted.reshape(len(X), -1)
        )
        if getattr(model, "voting", "soft") == "hard":
            predicted = np.eye(n_values)[predicted.argmax(axis=1)]
        sums[out] += predicted[out]
        votes[out] += 1
    with np.errstate(invalid="ignore"):
        return sums / votes[:, None], votes


@pytest.mark.filterwarnings("ignore:.*rows were drawn by every member")
@pytest.mark.parametrize("n_trees", [3, 30])
@pytest.mark.parametrize("cls", [*ALL, "hard"])
def test_out_of_bag_rows_are_predicted_by_the_trees_that_have_not_drawn_them(cls, n_trees, rng):
    params = {"n_estimators": n_trees, "bootstrap": True, "oob_score": True, "random_state": 0}
    if cls == "hard":
        cls, params = RandomForestClassifier, {**params, "voting": "hard", "max_depth": 3}
    X, y = make_data(cls, rng)
    model = cls(**params).fit(X, y)
    is_classifier = cls in CLASSIFIERS
    values, votes = naive_out_of_bag(model, X, 3 if is_classifier else 1)
    found = model.oob_decision_function_ if is_classifier else model.oob_prediction_
    np.testing.assert_allclose(found.reshape(values.shape), values, rtol=1e-12, atol=1e-15)
    has = votes > 0
    if is_classifier:
        score = np.mean(values[has].argmax(axis=1) == y[has])
    else:
        score = 1 - np.mean((values[has, 0] - y[has]) ** 2) / y[has].var()
    assert model.oob_score_ == pytest.approx(score)
    assert model.oob_never_ == (~has).sum()
    assert model.oob_curve_.n_members[-1] == n_trees
    assert model.oob_curve_.score[-1] == model.oob_score_
    errors = []
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(N_ROWS), rows)
        loss = tree.predict(X) != y if is_classifier else (tree.predict(X) - y) ** 2
        errors.append(loss[out].mean())
    np.testing.assert_allclose(model.oob_member_errors_, errors)
    assert model.oob_member_error_ == pytest.approx(np.mean(errors))
    apparent = model.score(X, y)
    if n_trees == 30:
        assert model.oob_score_632_ == pytest.approx(0.368 * apparent + 0.632 * score)


def test_the_curve_is_that_of_smaller_forests(rng):
    X, y = make_data(RandomForestRegressor, rng)
    model = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    smaller = RandomForestRegressor(20, oob_score=True, random_state=0).fit(X, y)
    at = dict(zip(model.oob_curve_.n_members, model.oob_curve_.score, strict=True))
    assert at[20] == smaller.oob_score_


def test_rows_without_an_estimate_are_told(rng):
    X, y = make_data(RandomForestRegressor, rng)
    with pytest.warns(UserWarning, match="rows were drawn by every member") as record:
        model = RandomForestRegressor(2, oob_score=True, random_state=0).fit(X, y)
    assert record[0].filename == __file__
    assert np.isnan(model.oob_prediction_).sum() == model.oob_never_ > 0


def test_any_metric_and_several_outputs(rng):
    X, y = make_data(RandomForestClassifier, rng, n_outputs=2)
    shared = {"n_estimators": 30, "random_state": 0}
    model = RandomForestClassifier(oob_score=True, **shared).fit(X, y)
    values, _ = naive_out_of_bag(model, X, 6)
    assert [shares.shape for shares in model.oob_decision_function_] == [(N_ROWS, 3)] * 2
    np.testing.assert_allclose(np.hstack(model.oob_decision_function_), values, atol=1e-14)
    two = (y[:, 0] > 0).astype(int)
    auc = RandomForestClassifier(oob_score="roc_auc", **shared).fit(X, two)
    assert auc.oob_score_ == pytest.approx(roc_auc_score(two, auc.oob_decision_function_[:, 1]))
    own = RandomForestRegressor(oob_score=mean_squared_error, **shared).fit(X, y[:, 0])
    assert own.oob_score_ == pytest.approx(mean_squared_error(y[:, 0], own.oob_prediction_))
    both = RandomForestRegressor(oob_score=True, **shared).fit(X, y * 1.0)
    assert both.oob_prediction_.shape == (N_ROWS, 2)


def test_rows_of_weight_zero_are_predicted_but_not_scored(rng):
    X, y = make_data(RandomForestRegressor, rng)
    weight = np.ones(N_ROWS)
    weight[::3] = 0
    model = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(model.oob_prediction_[::3], model.predict(X)[::3])
    rows = weight > 0
    error = np.mean((model.oob_prediction_[rows] - y[rows]) ** 2)
    assert model.oob_score_ == pytest.approx(1 - error / y[rows].var())
    assert model.oob_never_ == 0


# --- more trees, and enough of them -------------------------------------------------------------


@pytest.mark.parametrize("random_state", [0, None])
@pytest.mark.parametrize("cls", ALL)
def test_a_warm_start_grows_the_forest_of_one_fit(cls, random_state, rng):
    X, y = make_data(cls, rng)
    model = cls(3, bootstrap=True, random_state=random_state, warm_start=True).fit(X, y)
    seed = model._seed
    model.set_params(n_estimators=25, oob_score=True).fit(X, y)
    whole = cls(25, bootstrap=True, random_state=seed, oob_score=True).fit(X, y)
    assert_same_forests(model, whole)
    assert model.oob_score_ == whole.oob_score_
    np.testing.assert_array_equal(model.oob_member_errors_, whole.oob_member_errors_)


def test_what_a_warm_start_refuses(rng):
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    model = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        model.fit(X, y)
    with pytest.raises(ValueError, match=r"n_estimators=4 must be larger .*len\(estimators_\)=5"):
        model.set_params(n_estimators=4).fit(X, y)
    model.set_params(n_estimators=8)
    for X2, y2 in ((X[:30], y[:30]), (X[:, :2], y), (X, y + 1)):
        with pytest.raises(ValueError, match="warm_start=True adds trees"):
            model.fit(X2, y2)
    with pytest.raises(ValueError, match="criterion"):
        model.set_params(criterion="entropy").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    model.set_params(warm_start=False, criterion="gini").fit(X[:30], y[:30])
    assert model.n_trees_ == 8


@pytest.mark.parametrize("cls", [RandomForestClassifier, RandomForestRegressor])
def test_growth_stops_when_the_out_of_bag_error_is_flat(cls, rng):
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + 0.5 * rng.normal(size=300)
    y = y > 0 if cls is RandomForestClassifier else y
    shared = {"random_state": 0, "oob_score": True}
    model = cls(500, early_stopping=True, **shared).fit(X, y)
    assert 60 <= model.n_trees_ < 400
    assert model.n_trees_ % 10 == 0
    assert len(model.estimators_) == model.n_trees_ == len(model.estimators_samples_)
    assert_same_forests(model, cls(model.n_trees_, **shared).fit(X, y))
    for n_jobs in (1, 15):
        other = cls(500, early_stopping=True, n_jobs=n_jobs, **shared).fit(X, y)
        assert other.n_trees_ == model.n_trees_
    # The rule, on the scores of forests of 10, 20, ... trees.
    errors = []
    for n_trees in range(10, model.n_trees_ + 10, 10):
        part = cls(n_trees, **shared)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *args, **kwargs: None)
            errors.append(1 - part.fit(X, y).oob_score_)
        assert is_flat(errors, 5, 0.01) == (n_trees == model.n_trees_)
    again = cls(40, early_stopping=True, warm_start=True, **shared).fit(X, y)
    assert again.n_trees_ == 40
    again.set_params(n_estimators=500).fit(X, y)
    assert_same_forests(again, model)


@pytest.mark.parametrize(
    ("errors", "n_looks", "tol", "flat"),
    [
        ([0.5, 0.5, 0.5], 2, 0.0, True),  # no decrease is no improvement
        ([0.5, 0.5, 0.499], 2, 0.0, False),
        ([0.5, 0.499, 0.5], 2, 0.0, False),  # some look was better, though not the last
        ([0.5, 0.5], 2, 0.0, False),  # two looks, and none before them
        ([0.25, 0.5, 0.5, 0.5], 3, 0.0, True),  # the best one is before them
        ([0.5, 0.25, 0.25, 0.25], 3, 0.0, False),
        ([1.0, 0.76], 1, 0.25, True),  # a decrease by 24 % of what was
        ([1.0, 0.74], 1, 0.25, False),
        ([0.0, 0.0, 0.0], 2, 0.01, True),
    ],
)
def test_growth_is_flat_where_the_last_looks_are_no_better_than_the_best_before(
    errors, n_looks, tol, flat
):
    assert is_flat(errors, n_looks, tol) is flat


@pytest.mark.parametrize("n_looks", [1, 3])
def test_a_forest_without_errors_stops_after_as_many_looks_as_it_has_patience(n_looks):
    X = np.repeat([0.0, 1.0], 40)[:, None]
    model = RandomForestClassifier(200, early_stopping=True, n_iter_no_change=n_looks)
    assert model.fit(X, X[:, 0] > 0).n_trees_ == 10 * (n_looks + 1)


def test_growth_without_a_flat_stretch_goes_to_the_end(rng):
    X, y = make_data(RandomForestRegressor, rng)
    model = RandomForestRegressor(35, early_stopping=True, tol=0.0, n_iter_no_change=9)
    assert model.fit(X, y).n_trees_ == 35
    assert not hasattr(model, "oob_score_")


def test_what_uncertainty_keeps(rng):
    X, y = make_data(RandomForestRegressor, rng)
    model = RandomForestRegressor(25, uncertainty=True, random_state=0).fit(X, y)
    assert model._train.leaves.dtype == np.uint8
    np.testing.assert_array_equal(model._train.leaves, model._forest.apply(model._read(X), True))
    np.testing.assert_array_equal(model._train.reals[:, 0], y)
    scored = RandomForestRegressor(25, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model._train.oob_values[:, 0], scored.oob_prediction_)
    assert scored._train is None
    extra = ExtraTreesClassifier(3, uncertainty=True).fit(X, y > 1)
    assert extra._train.oob_values is None
    assert extra._train.classes.tolist() == (y > 1).astype(int).reshape(-1, 1).tolist()


# --- tables and scales --------------------------------------------------------------------------


@pytest.mark.parametrize("cls", ALL)
def test_raw_tables_with_text_dates_and_gaps(cls, rng):
    n_rows = 200
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "colour": rng.choice(["red", "green", None], n_rows),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), "D"),
        }
    )
    frame.loc[::7, "size"] = np.nan
    y = ((frame["colour"] == "red") ^ (frame["day"] > pd.Timestamp("2020-02-15"))).astype(int)
    model = cls(n_estimators=30, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert model.feature_names_in_.tolist() == ["size", "colour", "day"]
    shuffled = frame[["day", "colour", "size"]]
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(frame))
    new = frame.assign(colour="blue").head(5)
    missing = frame.assign(colour=None).head(5)
    np.testing.assert_array_equal(model.predict(new), model.predict(missing))


@pytest.mark.parametrize("cls", REGRESSORS)
def test_small_differences_of_the_target_count_at_any_scale(cls, rng):
    X = rng.normal(size=(200, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    unit = cls(40, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    assert unit.oob_score_ > 0.9
    for scale in (2.0**30, 2.0**-30):
        scaled = clone(unit).fit(X, y * scale)
        np.testing.assert_array_equal(scaled.predict(X), unit.predict(X) * scale)
    # Rounding breaks the ties of nodes of two rows in another way, hence no equality here.
    for other in (y * 1e9, y * 1e-9, y + 1e9):
        assert clone(unit).fit(X, other).oob_score_ == pytest.approx(unit.oob_score_, abs=0.01)


def test_one_row_one_column_one_class():
    for cls in ALL:
        model = cls(n_estimators=3).fit([[1.0]], [1])
        assert model.predict([[5.0]]).tolist() == [1]
        assert model.feature_importances_.tolist() == [0]
        constant = cls(n_estimators=3).fit([[2.0]] * 10, [0, 1] * 5)
        assert constant.predict([[2.0]]).shape == (1,)


# --- beside scikit-learn ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees"])
def test_classifiers_are_as_good_as_scikit_learns(name):
    X, y = make_classification(1500, 12, n_informative=6, flip_y=0.1, random_state=3)
    theirs = getattr(sklearn.ensemble, f"{name}Classifier")
    ours = {"RandomForest": RandomForestClassifier, "ExtraTrees": ExtraTreesClassifier}[name]
    differences = []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(1500)
        train, test = order[:1000], order[1000:]
        losses = []
        for cls in (ours, theirs):
            shares = cls(60, random_state=seed).fit(X[train], y[train]).predict_proba(X[test])
            losses.append(
                (log_loss(y[test], shares), accuracy_score(y[test], shares.argmax(axis=1)))
            )
        differences.append(np.subtract(*losses))
    mean, error = np.mean(differences, axis=0), np.std(differences, axis=0) / np.sqrt(6)
    assert mean[0] < 0.01 + 2 * error[0]
    assert mean[1] > -0.005 - 2 * error[1]


@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees"])
def test_regressors_are_as_good_as_scikit_learns(name):
    X, y = load_diabetes(return_X_y=True)
    theirs = getattr(sklearn.ensemble, f"{name}Regressor")
    ours = {"RandomForest": RandomForestRegressor, "ExtraTrees": ExtraTreesRegressor}[name]
    differences = []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:300], order[300:]
        scores = [
            cls(60, max_features=0.5, random_state=seed)
            .fit(X[train], y[train])
            .score(X[test], y[test])
            for cls in (ours, theirs)
        ]
        differences.append(scores[0] - scores[1])
    error = np.std(differences) / np.sqrt(len(differences))
    assert np.mean(differences) > -0.005 - 2 * error


# --- fits that end early, and what is printed meanwhile -----------------------------------------


@pytest.fixture
def ctrl_c():
    """Sends SIGINT after a while; the handler is put back afterwards."""
    usual_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def send(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield send
    for timer in timers:
        timer.cancel()
        timer.join()
    signal.signal(signal.SIGINT, usual_handler)


def test_an_interrupted_fit_leaves_the_forest_as_it_was(ctrl_c, rng):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    X = rng.normal(size=(50_000, 10))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    model = RandomForestClassifier(5, oob_score=True, random_state=0, warm_start=True)
    with pytest.warns(UserWarning, match="drawn by every member"):
        model.fit(X[:500], y[:500])
    before, state = model.predict_proba(X[:100]), dict(vars(model))
    model.set_params(n_estimators=5000, warm_start=False)
    ctrl_c(0.2)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - begin < 10
    np.testing.assert_array_equal(model.predict_proba(X[:100]), before)
    assert {name for name in state if vars(model)[name] is not state[name]} <= {
        "n_estimators",
        "warm_start",
    }


def test_a_failing_metric_leaves_the_forest_as_it_was(rng):
    X, y = make_data(RandomForestRegressor, rng)
    model = RandomForestRegressor(20, random_state=0).fit(X, y)
    before = model.predict(X)
    state = vars(model).copy()

    def broken(y_true, y_pred):
        raise RuntimeError("no score today")

    model.set_params(oob_score=broken, random_state=1)
    with pytest.raises(RuntimeError, match="no score today"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)
    assert set(vars(model)) == set(state)


def test_progress_is_told_on_request(capsys, rng):
    X, y = make_data(RandomForestClassifier, rng)
    RandomForestClassifier(30).fit(X, y)
    assert capsys.readouterr() == ("", "")
    RandomForestClassifier(30, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "RandomForestClassifier: 30 of 30 trees" in err
    assert 1 <= err.count("\n") <= 11
    model = RandomForestClassifier(500, verbose=2, early_stopping=True, random_state=0).fit(X, y)
    assert f"{model.n_trees_} of 500 trees" in capsys.readouterr().err


def test_a_forest_learns_from_real_tables():
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_score_ > 0.94
    auc = ExtraTreesClassifier(50, bootstrap=True, oob_score="roc_auc", random_state=0).fit(X, y)
    assert auc.oob_score_ > 0.98
