"""Samples of bagging, and the members of the engine beside members fitted one by one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from committee import DecisionTreeClassifier, DecisionTreeRegressor
from committee.bagging.classifier import BaggingClassifier
from committee.bagging.regressor import BaggingRegressor
from committee.trees.tree_members import TreeMembers

BOTH = [BaggingClassifier, BaggingRegressor]


# --- samples --------------------------------------------------------------------------------------


def test_weights_zero_are_never_drawn_and_weights_are_probabilities(iris):
    X, y = iris
    weights = np.where(y == 0, 0.0, np.where(y == 1, 3.0, 1.0))
    model = BaggingClassifier(n_estimators=60, random_state=0).fit(X, y, weights)
    rows = np.concatenate(model.estimators_samples_)
    drawn = np.bincount(y[rows], minlength=3) / len(rows)
    assert drawn[0] == 0
    assert drawn[1] == pytest.approx(0.75, abs=0.02)
    assert 0 not in model.predict(X)


@pytest.mark.parametrize("cls", BOTH)
def test_a_row_of_weight_two_is_worth_the_row_twice(cls, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    weights = rng.integers(0, 4, 30)
    model = cls(n_estimators=400, max_samples=1.0, random_state=seed)
    answer = "predict_proba" if cls is BaggingClassifier else "predict"
    weighted = getattr(clone(model).fit(X, y, weights), answer)(X)
    repeated = clone(model).set_params(random_state=seed + 1)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    # Means of 400 members each with a standard deviation of at most one half.
    assert np.abs(weighted - getattr(repeated, answer)(X)).max() < 5 * 0.5 * np.sqrt(2 / 400)


def test_groups_stay_together(iris):
    X, y = iris
    groups = np.arange(150) // 5
    model = BaggingClassifier(n_estimators=10, oob_score=True, random_state=0)
    model.fit(X, y, groups=groups)
    for rows in model.estimators_samples_:
        counts = np.bincount(rows, minlength=150).reshape(30, 5)
        assert (counts == counts[:, :1]).all()
    assert model.oob_never_ % 5 == 0


def test_groups_make_the_out_of_bag_score_honest(seed):
    rng = np.random.default_rng(seed)
    centres, labels = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    X = np.repeat(centres, 10, axis=0) + 0.01 * rng.normal(size=(400, 3))
    y, groups = np.repeat(labels, 10), np.repeat(np.arange(40), 10)
    model = BaggingClassifier(n_estimators=30, oob_score=True, random_state=seed)
    assert model.fit(X, y).oob_score_ > 0.97  # each row has nine twins in the sample
    assert model.fit(X, y, groups=groups).oob_score_ < 0.75  # nothing can be learnt


def test_strata_and_balance(iris):
    X, y = iris[0][:110], iris[1][:110]  # 50, 50 and 10 rows
    for stratify, expected in (("classes", [50, 50, 10]), ("balanced", [37, 37, 36])):
        model = BaggingClassifier(n_estimators=5, stratify=stratify, random_state=0).fit(X, y)
        for rows in model.estimators_samples_:
            assert np.bincount(y[rows]).tolist() == expected


def test_portions_are_disjoint_and_complete(iris):
    X, y = iris
    model = BaggingClassifier(n_estimators=7, partition=True, stratify="classes", oob_score=True)
    model.fit(X, y)
    rows = np.concatenate(model.estimators_samples_)
    assert sorted(rows) == list(range(150))
    assert {len(portion) for portion in model.estimators_samples_} == {21, 22}
    assert model.oob_never_ == 0
    assert model.oob_score_ > 0.85


def test_more_draws_than_rows(diabetes):
    X, y = diabetes
    model = BaggingRegressor(n_estimators=3, max_samples=2.5, random_state=0).fit(X, y)
    assert {len(rows) for rows in model.estimators_samples_} == {int(2.5 * len(y))}


# --- our own trees in the engine ------------------------------------------------------------------


def fit_both_ways(monkeypatch, model, X, y, **fit_params):
    """The model grown by the engine at once, and member by member."""
    whole = clone(model).fit(X, y, **fit_params)
    assert isinstance(whole.estimators_, TreeMembers)
    monkeypatch.setattr("committee.bagging.bagging_model.runs_in_engine", lambda job: False)
    single = clone(model).fit(X, y, **fit_params)
    monkeypatch.undo()
    assert isinstance(single.estimators_, list)
    return whole, single


@pytest.mark.filterwarnings("ignore:.*rows were drawn by every member")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_features": 2},
        {"bootstrap": False, "max_samples": 0.5},
        {"max_samples": 1.7},
        {"partition": True},
        {"voting": "hard", "weighting": "oob"},
        {"stratify": "balanced"},
        {"estimator": DecisionTreeClassifier(max_depth=3, class_weight="balanced")},
        {"estimator": DecisionTreeClassifier(class_weight={"setosa": 2.5}, max_features=2)},
        {"estimator": DecisionTreeClassifier(splitter="random", min_samples_leaf=0.05)},
        {"estimator": DecisionTreeClassifier(criterion="entropy", ccp_alpha=0.01)},
    ],
    ids=str,
)
def test_the_engine_grows_the_members_that_fitting_them_singly_gives(monkeypatch, options):
    X, codes = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[codes]
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    fit_params = {} if {"partition", "bootstrap"} & options.keys() else {"sample_weight": weights}
    model = BaggingClassifier(n_estimators=6, random_state=4, oob_score=True, **options)
    whole, single = fit_both_ways(monkeypatch, model, X, y, **fit_params)
    np.testing.assert_allclose(whole.predict_proba(X), single.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(
        whole.oob_decision_function_, single.oob_decision_function_, atol=1e-12
    )
    for number in range(6):
        columns = whole.estimators_features_[number]
        ours, theirs = whole.estimators_[number], single.estimators_[number]
        assert ours.tree_.node_count == theirs.tree_.node_count
        np.testing.assert_array_equal(ours.apply(X[:, columns]), theirs.apply(X[:, columns]))


@pytest.mark.parametrize("combine", ["mean", "median"])
def test_the_engine_grows_the_same_regressors(monkeypatch, combine, diabetes):
    X, y = diabetes
    tree = DecisionTreeRegressor(min_samples_leaf=3, max_features=0.5)
    model = BaggingRegressor(tree, 5, max_features=0.7, combine=combine, random_state=1)
    whole, single = fit_both_ways(monkeypatch, model, X, y, groups=np.arange(len(y)) // 2)
    np.testing.assert_allclose(whole.predict(X), single.predict(X), rtol=1e-12)
