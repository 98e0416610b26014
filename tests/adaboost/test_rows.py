"""Weights of rows, and tables of every kind."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from adaboost_tools import ENGINE, VARIANTS, assert_same_committee
from reference_adaboost import (
    discrete,
    stump_learner,
)
from sklearn.base import clone

from committee import (
    AdaBoostClassifier,
)

# --- weights of rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_a_row_of_weight_zero_is_absent(name, case):
    X, y, _ = case
    weight = np.ones(70)
    weight[10::3] = 0.0
    calibration = "auto" if name in ENGINE else None
    model = AdaBoostClassifier(n_estimators=8, calibration=calibration, **VARIANTS[name])
    a = clone(model).fit(X, y, weight)
    b = clone(model).fit(X[weight > 0], y[weight > 0])
    assert a.temperature_ == pytest.approx(b.temperature_, rel=1e-9)
    if name in ENGINE:
        assert_same_committee(a, b, X)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_row_of_weight_two_is_the_row_twice(name, case, rng):
    X, y, _ = case
    weight = np.r_[np.ones(6, int), rng.integers(0 if name in ENGINE else 1, 4, 64)]
    repeated = np.repeat(np.arange(70), weight)
    model = AdaBoostClassifier(n_estimators=8, **VARIANTS[name])
    a = clone(model).fit(X, y, weight)
    b = clone(model).fit(X[repeated], y[repeated])
    assert a.temperature_ == pytest.approx(b.temperature_, rel=1e-6)
    np.testing.assert_allclose(a.estimator_errors_, b.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))


@pytest.mark.parametrize("name", [*ENGINE, "foreign"])
def test_the_order_of_rows_does_not_matter(name, case, rng):
    X, y, weight = case
    order = rng.permutation(70)
    model = AdaBoostClassifier(n_estimators=8, **VARIANTS[name])
    a = clone(model).fit(X, y, weight)
    b = clone(model).fit(X[order], y[order], weight[order])
    assert a.temperature_ == pytest.approx(b.temperature_, rel=1e-6)
    if name in ENGINE and "trees" not in name:
        assert_same_committee(a, b, X)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e300])
def test_the_unit_of_weights_does_not_matter(unit, case):
    X, y, weight = case
    a = AdaBoostClassifier(n_estimators=10).fit(X, y, weight)
    b = AdaBoostClassifier(n_estimators=10).fit(X, y, weight * unit)
    np.testing.assert_allclose(a.estimator_errors_, b.estimator_errors_, rtol=1e-12)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-8)


def test_weights_of_very_different_sizes_are_all_taken_seriously(case, n_classes, rng):
    X, y, _ = case
    weight = 10 ** rng.uniform(-9, 9, 70)
    model = AdaBoostClassifier(n_estimators=8).fit(X, y, weight)
    rounds = discrete(stump_learner(X, y), y, n_classes, 8, weight)
    assert len(model) == len(rounds)
    np.testing.assert_allclose(
        model.estimator_errors_, [each.error for each in rounds], rtol=1e-11, atol=0
    )
    np.testing.assert_array_equal(model.predict(X), rounds[-1].votes.argmax(axis=1))


@pytest.mark.parametrize("name", VARIANTS)
def test_the_model_is_the_same_for_any_number_of_threads(name, rng):
    X = rng.normal(size=(3000, 5))
    y = np.digitize(X[:, 0] + X[:, 1] / 2 + rng.normal(size=3000) / 3, [-0.3, 1.0])
    params = {"n_estimators": 12, "keep_weights": True, **VARIANTS[name]}
    one, two = (AdaBoostClassifier(n_jobs=n_jobs, **params).fit(X, y) for n_jobs in (1, 2))
    assert_same_committee(one, two, X)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.trace_.distributions, two.trace_.distributions)
    np.testing.assert_array_equal(one.trace_.train_error, two.trace_.train_error)


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENGINE)
def test_raw_tables_of_every_kind_give_the_same_committee(name, frame):
    X, y = frame
    model = AdaBoostClassifier(n_estimators=10, **VARIANTS[name])
    plain = X.assign(c=X["c"].astype(str))
    a = clone(model).fit(plain, y)
    b = clone(model).fit(pl.from_pandas(plain), pl.Series(y))
    assert_same_committee(a, b, plain)
    np.testing.assert_array_equal(a.predict(pl.from_pandas(plain)), a.predict(plain))
    np.testing.assert_array_equal(a.predict(plain[list("dcba")]), a.predict(plain))
    assert a.feature_names_in_.tolist() == list("abcd")
    assert a.score(plain, y) > 0.7
    with_categories = clone(model).fit(X, y)
    np.testing.assert_allclose(with_categories.estimator_errors_, a.estimator_errors_, rtol=1e-12)


def test_levels_that_were_never_seen_go_with_the_rest(frame):
    X, y = frame
    model = AdaBoostClassifier(n_estimators=10).fit(X.assign(c=X["c"].astype(str)), y)
    new = X.head(4).assign(b=["never", None, "x", "seen"], c="other")
    p = model.predict_proba(new)
    assert np.isfinite(p).all()
    with pytest.raises(ValueError, match="feature"):
        model.predict(X[["a", "b"]])


def test_sparse_tables_and_lists_are_read(case):
    X, y, _ = case
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    for table in (sp.csr_matrix(X), sp.csc_array(X), X.tolist()):
        assert_same_committee(model, clone(model).fit(table, y), X)
        np.testing.assert_array_equal(model.predict(table), model.predict(X))


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
def test_numeric_columns_can_be_categories(variant, rng):
    X = rng.integers(0, 6, (200, 2)).astype(float)
    y = np.isin(X[:, 0], [0, 2, 5]).astype(int)
    number = AdaBoostClassifier(n_estimators=1, variant=variant).fit(X, y)
    category = AdaBoostClassifier(n_estimators=1, variant=variant, categorical_features=[0])
    category.fit(X, y)
    assert category.score(X, y) == 1
    assert number.score(X, y) < 0.9


@pytest.mark.parametrize("name", [each for each in VARIANTS if "foreign" not in each])
@pytest.mark.parametrize(
    ("X", "y"),
    [([[1.0], [2.0], [3.0]], ["a", "a", "a"]), ([[1.0]], ["a"]), ([[np.nan], [np.nan]], [3, 3])],
    ids=["one class", "one row", "nothing known"],
)
def test_one_class_is_always_said(name, X, y):
    model = AdaBoostClassifier(**VARIANTS[name]).fit(X, y)
    assert model.predict(X).tolist() == y
    assert model.predict_proba(X).tolist() == [[1.0]] * len(y)
    assert model.score(X, y) == 1
    assert len(model) == 1
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
def test_columns_that_tell_nothing_do_no_harm(variant, case):
    X, y, weight = case
    more = np.column_stack([np.ones(70), X, np.full(70, np.nan)])
    a = AdaBoostClassifier(n_estimators=9, variant=variant).fit(X, y, weight)
    b = AdaBoostClassifier(n_estimators=9, variant=variant).fit(more, y, weight)
    np.testing.assert_array_equal(a.estimator_errors_, b.estimator_errors_)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(more))
    assert b.feature_importances_[[0, 4]].tolist() == [0, 0]


# --- numbers --------------------------------------------------------------------------------------


def test_boosting_goes_on_when_weights_have_drifted_far_apart(rng):
    # After a few hundred rounds the weights of rows differ by more than doubles resolve.
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    for split_finding in ("exact", "hist"):
        model = AdaBoostClassifier(
            n_estimators=1000, split_finding=split_finding, keep_weights=True, calibration=None
        )
        model.fit(X, y)
        assert len(model) == 1000
        assert np.ptp(np.log2(model.trace_.distributions[-1])) > 53
