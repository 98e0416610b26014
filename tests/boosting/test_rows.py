"""Weights and draws of rows, extremes, threads."""

import numpy as np
import pandas as pd
import pytest
from boosting_tools import BOTH, LOSSES, assert_same, target_of

from committee import GradientBoostingClassifier, GradientBoostingRegressor

# --- weights and draws ----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_a_row_of_weight_two_is_the_row_twice_and_of_weight_zero_absent(loss, table, rng):
    X, _, y = table
    weight = rng.integers(0, 3, 400)
    model = GradientBoostingRegressor(loss=loss, n_estimators=10)
    weighted = model.fit(X, y, weight).predict(X)
    rows = np.repeat(np.arange(400), weight)
    repeated = model.fit(X.iloc[rows], y[rows]).predict(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_of_weight_two_is_the_row_twice_for_classes(n_classes, table, rng):
    X, y = table[0], np.minimum(table[1], n_classes - 1)
    weight = rng.integers(0, 3, 400)
    rows = np.repeat(np.arange(400), weight)
    model = GradientBoostingClassifier(n_estimators=10)
    weighted = model.fit(X, y, weight).decision_function(X)
    repeated = model.fit(X.iloc[rows], y[rows]).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("cls", BOTH)
def test_only_ratios_of_weights_that_are_not_whole_matter(cls, table, rng):
    X, y = table[0], target_of(cls, table)
    weight = rng.uniform(0.5, 2, 400)
    first = cls(n_estimators=5).fit(X, y, weight).predict(X)
    for factor in (1 / 1024, 2.0**300, 2.0**-300):
        np.testing.assert_array_equal(
            cls(n_estimators=5).fit(X, y, weight * factor).predict(X), first
        )


def test_class_weights_are_row_weights(table):
    X, y, _ = table
    weights = {0: 1, 1: 3, 2: 2}
    # Sample weights are repetitions, and the size of a table decides what is "auto".
    trees = {"n_estimators": 5, "max_leaf_nodes": 8, "min_samples_leaf": 5, "l2_regularization": 1}
    a = GradientBoostingClassifier(**trees, class_weight=weights).fit(X, y)
    b = GradientBoostingClassifier(**trees).fit(X, y, [weights[label] for label in y])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X))
    balanced = GradientBoostingClassifier(n_estimators=1, learning_rate=0, class_weight="balanced")
    np.testing.assert_allclose(balanced.fit(X, y).predict_proba(X), 1 / 3)


@pytest.mark.parametrize("cls", BOTH)
def test_the_order_of_rows_does_not_matter(cls, table, rng):
    X, y = table[0], target_of(cls, table)
    order = rng.permutation(400)
    a = cls(n_estimators=10).fit(X, y)
    b = cls(n_estimators=10).fit(X.iloc[order], y[order])
    score = "decision_function" if cls is GradientBoostingClassifier else "predict"
    np.testing.assert_allclose(getattr(a, score)(X), getattr(b, score)(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("cls", BOTH)
def test_threads_change_nothing(cls, table):
    X, y = table[0], target_of(cls, table)
    params = {"n_estimators": 10, "subsample": 0.7, "random_state": 1}
    assert_same(cls(n_jobs=1, **params).fit(X, y), cls(n_jobs=3, **params).fit(X, y), X)


def test_draws_follow_the_seed(table):
    X, _, y = table
    for name, value in (
        ("subsample", 0.5),
        ("max_features", 1),
        ("features_per_tree", 2),
        ("features_per_level", 0.5),
    ):
        models = [
            GradientBoostingRegressor(n_estimators=5, random_state=seed, **{name: value}).fit(X, y)
            for seed in (0, 0, 1)
        ]
        assert_same(models[0], models[1], X)
        assert (models[0].predict(X) != models[2].predict(X)).any()


def test_out_of_bag_losses_are_those_of_the_rows_not_drawn(table):
    X, _, y = table
    model = GradientBoostingRegressor(n_estimators=30, subsample=0.5, random_state=0).fit(X, y)
    stages = np.array([np.full(400, y.mean()), *model.staged_predict(X)])
    losses = (y - stages) ** 2 / 2
    drawn = _samples(model, X, y, 30)
    assert (drawn.sum(axis=1) == 200).all()
    expected = [losses[k + 1][~drawn[k]].mean() for k in range(30)]
    np.testing.assert_allclose(model.oob_scores_, expected)
    before = [losses[k][~drawn[k]].mean() for k in range(30)]
    np.testing.assert_allclose(model.oob_improvement_, np.subtract(before, expected), atol=1e-12)
    assert model.oob_score_ == model.oob_scores_[-1]
    with pytest.raises(AttributeError, match="subsample"):
        _ = GradientBoostingRegressor(n_estimators=2).fit(X, y).oob_improvement_


def _samples(model, X, y, n_rounds):
    from committee._core import derive_key
    from committee.base.sampling import SeedUse
    from committee.evaluation.content_order import ContentOrder, table_keys, with_columns

    keys = table_keys(X, derive_key(model._seed, SeedUse.FOLDS))
    order = ContentOrder(keys, np.ones(len(y), np.int64), with_columns(keys, y[:, np.newaxis]))
    sampler = order.sampler(model.subsample, model._seed)
    return np.array([sampler.drawn(number) > 0 for number in range(n_rounds)])


# --- extremes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e9, 1e-9, 1e100, 1e-100])
def test_the_unit_of_the_target_does_not_matter(scale, table):
    X, _, y = table
    plain = GradientBoostingRegressor(n_estimators=10).fit(X, y)
    scaled = GradientBoostingRegressor(n_estimators=10).fit(X, y * scale)
    np.testing.assert_allclose(scaled.predict(X), plain.predict(X) * scale, rtol=1e-6)


def test_a_target_far_from_zero_keeps_its_resolution(table):
    X, _, y = table
    plain = GradientBoostingRegressor(n_estimators=10).fit(X, y).predict(X)
    shifted = GradientBoostingRegressor(n_estimators=10).fit(X, y + 1e9).predict(X)
    np.testing.assert_allclose(shifted - 1e9, plain, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.* no tree could be split:UserWarning")
def test_tiny_classes_and_extreme_weights_stay_finite(table, rng):
    X, _, _ = table
    y = np.zeros(400, int)
    y[7], y[9] = 1, 2
    weight = 10.0 ** rng.uniform(-12, 12, 400)
    for sample_weight in (None, weight):
        model = GradientBoostingClassifier(n_estimators=200, min_samples_leaf=1, learning_rate=1.0)
        p = model.fit(X, y, sample_weight).predict_proba(X)
        assert np.isfinite(p).all()
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.train_score_).all()
    for loss in LOSSES:
        target = 10.0 ** rng.uniform(-12, 12, 400)
        model = GradientBoostingRegressor(loss=loss, n_estimators=50, learning_rate=1.0)
        assert np.isfinite(model.fit(X, target, weight).predict(X)).all()


def test_one_class_one_row_and_constant_columns(rng):
    X = np.ones((30, 2))
    X[:, 1] = np.nan
    model = GradientBoostingClassifier(n_estimators=2).fit(X, ["a"] * 30)
    assert model.predict(X[:2]).tolist() == ["a", "a"]
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    y = rng.normal(size=30)
    with pytest.warns(UserWarning, match="no tree could be split: no feature differs"):
        constant = GradientBoostingRegressor(n_estimators=2).fit(X, y)
    np.testing.assert_allclose(constant.predict(X), y.mean())
    assert GradientBoostingRegressor(n_estimators=2).fit([[1.0]], [5.0]).predict([[9.0]]) == [5.0]


def test_a_learning_rate_that_diverges_is_named(table):
    X, _, y = table
    with pytest.raises(ValueError, match="lower learning_rate"):
        GradientBoostingRegressor(learning_rate=1e200, l2_regularization=0.0).fit(X, y)


def test_categories_of_many_levels_are_taken(rng):
    levels = rng.integers(0, 1000, 3000)
    X = pd.DataFrame({"level": pd.Categorical([f"l{level}" for level in levels])})
    y = (levels % 2) + rng.normal(size=3000) / 10
    model = GradientBoostingRegressor(min_samples_leaf=1).fit(X, y)
    assert model.score(X, y) > 0.1
    assert np.isfinite(model.predict(pd.DataFrame({"level": ["never seen", None]}))).all()


@pytest.mark.parametrize("n_classes", [2, 5])
def test_losses_and_derivatives_of_the_engine_are_those_of_the_losses(n_classes, rng):
    from committee.losses import get_loss
    from committee.losses.objective import fast_loss

    loss = get_loss("log_loss", n_classes=n_classes)
    scores = np.asfortranarray(10.0 ** rng.uniform(-9, 3, size=(500, loss.n_scores)))
    scores *= rng.choice([-1, 1], scores.shape)
    codes = rng.integers(0, n_classes, 500).astype(np.int32)
    own_scores = scores[:, 0] if n_classes == 2 else scores
    expected = loss.gradients(codes, own_scores)
    for n_threads in (1, 2):
        fast = fast_loss(loss, codes, n_threads)
        losses = fast.row_losses(scores, np.empty(500))
        expected_losses = loss.row_losses(codes, own_scores)
        np.testing.assert_allclose(losses, expected_losses, rtol=1e-13, atol=1e-300)
        for column, (gradient, hessian) in enumerate(fast.gradients(scores)):
            for ours, theirs in zip((gradient, hessian), expected, strict=True):
                theirs = theirs.reshape(500, -1)[:, column]
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-15)
