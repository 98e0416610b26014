"""Boosting from the predictions of another estimator."""

import numpy as np
import pytest
from boosting_tools import BOTH
from loss_tools import LOSSES, name_of
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee.losses import Loss


class FitReturnsNone(BaseEstimator):
    """An estimator whose `fit` forgets to return the estimator, as many home-made ones do."""

    def __init__(self, base=None):
        self.base = base

    def fit(self, X, y, sample_weight=None):
        self.base_ = clone(self.base).fit(X, y, sample_weight)
        if hasattr(self.base_, "classes_"):
            self.classes_ = self.base_.classes_

    def predict(self, X):
        return self.base_.predict(X)


class ForgetfulRegressor(RegressorMixin, FitReturnsNone):
    pass


class ForgetfulClassifier(ClassifierMixin, FitReturnsNone):
    def predict_proba(self, X):
        return self.base_.predict_proba(X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cls", BOTH)
def test_an_init_whose_fit_returns_none_is_the_start_nonetheless(cls, weighted, rng):
    X = rng.normal(size=(80, 2))
    weights = rng.integers(0, 3, 80) if weighted else None
    if cls is GradientBoostingClassifier:
        y, base, wrapper = (X[:, 0] > 0).astype(int), LogisticRegression(), ForgetfulClassifier
    else:
        y, base, wrapper = X @ [10.0, -7.0] + 3, LinearRegression(), ForgetfulRegressor
    models = [
        cls(n_estimators=3, init=init, random_state=0).fit(X, y, weights)
        for init in (base, wrapper(base))
    ]
    assert isinstance(models[1].init_, wrapper)
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))
    np.testing.assert_array_equal(models[0].train_score_, models[1].train_score_)


def test_a_linear_start_that_is_exact_leaves_nothing_to_boost(rng):
    X = rng.normal(size=(50, 2))
    y = X @ [10.0, -7.0] + 3
    model = GradientBoostingRegressor(n_estimators=2, init=ForgetfulRegressor(LinearRegression()))
    np.testing.assert_allclose(model.fit(X, y).predict(X), y, atol=1e-9)


def test_a_weak_learner_whose_fit_returns_none_is_fitted(rng):
    X = rng.normal(size=(50, 2))
    y = X @ [10.0, -7.0] + 3
    model = GradientBoostingRegressor(
        n_estimators=1, learning_rate=1.0, estimator=ForgetfulRegressor(LinearRegression())
    )
    np.testing.assert_allclose(model.fit(X, y).predict(X), y, atol=1e-9)


class SquaredLogarithm(Loss):
    """The squared error of logarithms: a loss of one's own with a link."""

    def row_losses(self, y, scores):
        return (np.log(y) - scores) ** 2 / 2

    def gradients(self, y, scores):
        return scores - np.log(y), np.ones(len(y))

    def predictions(self, scores):
        return np.exp(scores)


class WithScores(SquaredLogarithm):
    def scores_of(self, predicted):
        return np.log(predicted)


def test_a_loss_with_a_link_of_its_own_says_how_predictions_become_scores(rng):
    X = rng.uniform(size=(60, 2))
    y = 1 + X @ [10.0, 3.0]  # a linear start is exact
    model = GradientBoostingRegressor(
        n_estimators=2, init=LinearRegression(), loss=SquaredLogarithm()
    )
    with pytest.raises(ValueError, match=r"init must be .* does not define scores_of"):
        model.fit(X, y)
    np.testing.assert_allclose(model.set_params(loss=WithScores()).fit(X, y).predict(X), y)


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_scores_of_predictions_predict_them(loss, rng):
    if loss.n_classes is None:
        predicted = rng.uniform(0.5, 9.0, size=(20, loss.n_scores))
        back = loss.predictions(loss.scores_of(predicted)).reshape(predicted.shape)
        if loss.n_scores > 1:  # quantiles are put in the order of their shares
            back, predicted = np.sort(back), np.sort(predicted)
    else:
        predicted = rng.dirichlet(np.ones(loss.n_classes), 20)
        scores = loss.scores_of(predicted)
        assert scores.shape == (20, loss.n_scores)
        back = loss.probabilities(scores[:, 0] if loss.n_scores == 1 else scores)
    np.testing.assert_allclose(back, predicted, rtol=1e-12)
