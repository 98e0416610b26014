"""Early stopping of AdaBoost, and the temperature of its probabilities."""

import math

import numpy as np
import pytest
from adaboost_tools import BOTH, votes_of
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.naive_bayes import GaussianNB

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

# --- early stopping -------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2), GaussianNB()])
def test_early_stopping_goes_back_to_the_best_round(estimator, noisy):
    (X, y), held = noisy
    whole = AdaBoostClassifier(estimator, n_estimators=60, calibration=None).fit(X, y)
    scores = list(whole.staged_score(*held))
    model = AdaBoostClassifier(
        estimator, n_estimators=60, n_iter_no_change=6, calibration=None
    ).fit(X, y, eval_set=held)
    n_run = len(model.validation_scores_)
    np.testing.assert_allclose(model.validation_scores_, scores[:n_run], rtol=1e-12)
    best = int(np.argmax(model.validation_scores_)) + 1
    assert len(model) == len(model.trace_) == best
    assert n_run == min(best + 6, len(whole))
    np.testing.assert_array_equal(model.estimator_weights_, whole.estimator_weights_[:best])
    assert model.score(*held) == pytest.approx(max(scores[:n_run]))
    np.testing.assert_array_equal(model.trace_.validation_score, model.validation_scores_[:best])


def test_rows_held_out_are_not_learnt_from(noisy):
    (X, y), _ = noisy
    model = AdaBoostClassifier(
        n_estimators=50,
        n_iter_no_change=4,
        validation_fraction=0.2,
        keep_weights=True,
        random_state=3,
    ).fit(X, y)
    held = model.trace_.distributions[0] == 0
    assert held.sum() == 40
    assert (model.trace_.distributions[:, held] == 0).all()
    assert (model.trace_.distributions[:, ~held] > 0).all()
    np.testing.assert_allclose(model.trace_.distributions.sum(axis=1), 1)
    assert model.score(X[held], y[held]) == pytest.approx(model.validation_scores_.max())
    stages = np.array(list(model.staged_score(X[~held], y[~held])))
    np.testing.assert_allclose(model.trace_.train_error, 1 - stages, atol=1e-12)
    # Each class has its share of them.
    assert abs(y[held].mean() - y.mean()) < 0.02
    alone = AdaBoostClassifier(n_estimators=len(model)).fit(X[~held], y[~held])
    np.testing.assert_array_equal(alone.estimator_errors_, model.estimator_errors_)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("estimator", [None, "tree"])
def test_rows_held_out_keep_their_weights(cls, estimator, noisy, rng):
    (X, y), _ = noisy
    if cls is AdaBoostRegressor:
        y = y + X[:, 0]
    if estimator == "tree":
        is_class = cls is AdaBoostClassifier
        estimator = (DecisionTreeClassifier if is_class else DecisionTreeRegressor)(max_depth=2)
    weights = rng.uniform(0.2, 3, 200)
    given = weights.copy()
    model = cls(estimator, n_estimators=15, n_iter_no_change=15, random_state=0)
    model.set_params(keep_weights=True).fit(X, y, weights)
    np.testing.assert_array_equal(weights, given)
    held = model.trace_.distributions[0] == 0
    assert 10 <= held.sum() <= 40
    expected = list(model.staged_score(X[held], y[held], weights[held]))
    assert len(expected) == len(model) > 1
    np.testing.assert_allclose(model.validation_scores_[: len(model)], expected, rtol=1e-9)
    # The others start with their share of the weight.
    share = np.where(held, 0, weights)
    np.testing.assert_allclose(model.trace_.distributions[0], share / share.sum(), rtol=1e-9)


def test_scores_of_validation_rows_are_those_that_are_asked_for(noisy):
    (X, y), held = noisy
    params = {"n_estimators": 25, "n_iter_no_change": 25, "calibration": None}
    by_name = AdaBoostClassifier(scoring="neg_log_loss", **params).fit(X, y, eval_set=held)
    whole = AdaBoostClassifier(n_estimators=25, calibration=None).fit(X, y)
    expected = [-log_loss(held[1], p) for p in whole.staged_predict_proba(held[0])]
    np.testing.assert_allclose(by_name.validation_scores_, expected, rtol=1e-9)
    assert len(by_name) == np.argmax(expected) + 1
    by_metric = AdaBoostClassifier(scoring=balanced_accuracy_score, **params)
    by_metric.fit(X, y, eval_set=held)
    expected = [balanced_accuracy_score(held[1], each) for each in whole.staged_predict(held[0])]
    np.testing.assert_allclose(by_metric.validation_scores_, expected)
    weight = np.linspace(0.1, 2, 100)
    weighted = AdaBoostClassifier(**params).fit(X, y, eval_set=(*held, weight))
    expected = list(whole.staged_score(*held, weight))
    np.testing.assert_allclose(weighted.validation_scores_, expected, rtol=1e-12)


def test_improvements_below_tol_do_not_count(noisy):
    (X, y), held = noisy
    params = {"n_estimators": 60, "n_iter_no_change": 3, "scoring": "neg_log_loss"}
    patient = AdaBoostClassifier(**params).fit(X, y, eval_set=held)
    strict = AdaBoostClassifier(tol=0.5, **params).fit(X, y, eval_set=held)
    assert len(strict.validation_scores_) == 4
    assert len(patient.validation_scores_) > 4


@pytest.mark.parametrize("cls", BOTH)
def test_a_bad_eval_set_is_named(cls, noisy):
    (X, y), (new, labels) = noisy
    with pytest.raises(TypeError, match="eval_set must be a tuple"):
        cls(n_estimators=2).fit(X, y, eval_set=[new, labels])
    with pytest.raises(ValueError, match="eval_set"):
        cls(n_estimators=2).fit(X, y, eval_set=(new[:, :2], labels))
    with pytest.raises(ValueError, match="eval_set"):
        cls(n_estimators=2).fit(X, y, eval_set=(new, labels[:5]))
    if cls is AdaBoostClassifier:
        with pytest.raises(ValueError, match="eval_set"):
            cls(n_estimators=2).fit(X, y, eval_set=(new, labels + 5))


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=3)])
def test_the_temperature_makes_new_rows_likelier(estimator, variant, rng):
    # A fifth of the labels is noise, which long boosting learns by heart.
    X = rng.normal(size=(2200, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    y ^= rng.random(2200) < 0.2
    train, new = slice(0, 200), slice(200, None)
    n_rounds = 300 if estimator is None else 40
    model = AdaBoostClassifier(estimator, n_estimators=n_rounds, variant=variant)
    plain = clone(model).set_params(calibration=None).fit(X[train], y[train])
    model.set_params(calibration="folds").fit(X[train], y[train])
    assert model.temperature_ > 1
    losses = [log_loss(y[new], each.predict_proba(X[new])) for each in (plain, model)]
    assert losses[1] < losses[0]
    constant = log_loss(y[new], np.full(2000, y[train].mean()))
    assert losses[1] < constant
    np.testing.assert_array_equal(plain.predict(X[new]), model.predict(X[new]))


def test_the_temperature_is_the_one_under_which_validation_rows_are_likeliest(noisy, n_classes):
    (X, y), (new, labels) = noisy
    if n_classes == 3:
        y, labels = y + (X[:, 0] > 1), labels + (new[:, 0] > 1)
    model = AdaBoostClassifier(n_estimators=30).fit(X, y, eval_set=(new, labels))
    # Of n rows, each is right with probability (n + 1) / (n + 2).
    targets = np.full((100, n_classes), 1 / 102 / (n_classes - 1))
    targets[np.arange(100), labels] = 101 / 102
    votes = votes_of(model, new, n_classes)

    def loss(log_temperature):
        return -(targets * log_softmax(votes / math.exp(log_temperature), axis=1)).sum()

    best = minimize_scalar(loss, bounds=(-5, 8), method="bounded", options={"xatol": 1e-9})
    assert model.temperature_ == pytest.approx(math.exp(best.x), rel=1e-5)


# --- numbers --------------------------------------------------------------------------------------


def test_a_row_of_weight_zero_is_absent_from_the_folds_of_any_learner(rng):
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    weights = np.ones(60)
    weights[::3] = 0
    model = AdaBoostClassifier(GaussianNB(), n_estimators=5)
    weighted = clone(model).fit(X, y, weights)
    without = clone(model).fit(X[weights > 0], y[weights > 0])
    assert weighted.temperature_ == pytest.approx(without.temperature_, rel=1e-12)


def test_scores_of_probabilities_are_those_that_the_model_would_give(noisy):
    (X, y), held = noisy
    model = AdaBoostClassifier(n_estimators=25, scoring="neg_log_loss").fit(X, y, eval_set=held)
    assert -log_loss(held[1], model.predict_proba(held[0])) == pytest.approx(
        model.validation_scores_.max(), rel=1e-9
    )
