"""Boosting from the predictions of another estimator."""

import numpy as np
import pytest
from boosting_tools import BOTH
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression

from committee import GradientBoostingClassifier, GradientBoostingRegressor


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
