"""Variants, scripted weak learners and comparisons for tests of AdaBoost."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
)

BOTH = [AdaBoostClassifier, AdaBoostRegressor]


# Every kind of committee of classes in which nothing is drawn.
VARIANTS = {
    "discrete": {},
    "error": {"criterion": "error"},
    "M1": {"multiclass": "M1", "criterion": "error"},
    "real": {"variant": "real"},
    "gentle": {"variant": "gentle"},
    "slow": {"learning_rate": 0.3},
    "hist": {"split_finding": "hist", "max_bins": 12},
    "trees": {"estimator": DecisionTreeClassifier(max_depth=2)},
    "real trees": {"estimator": DecisionTreeClassifier(max_depth=2), "variant": "real"},
    "foreign": {"estimator": GaussianNB()},
    "foreign gentle": {"estimator": GaussianNB(), "variant": "gentle"},
}
ENGINE = [name for name in VARIANTS if "foreign" not in name]


def votes_of(model, X, n_classes):
    """Sums of votes, from what members predict and their weights (discrete variant)."""
    votes = np.zeros((len(X), n_classes))
    for member, weight in zip(model.estimators_, model.estimator_weights_, strict=True):
        predicted = np.searchsorted(model.classes_, member.predict(X))
        votes[np.arange(len(X)), predicted] += weight
    return votes


def assert_same_committee(a, b, X):
    """Bit by bit, but for the temperature, which is a sum over rows in their order."""
    np.testing.assert_array_equal(a.estimator_errors_, b.estimator_errors_)
    np.testing.assert_array_equal(a.estimator_weights_, b.estimator_weights_)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    if hasattr(a, "decision_function"):
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-8)


class Scripted(ClassifierMixin, BaseEstimator):
    """Says what the script has for its round; the first column of X is the number of the row."""

    script: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.answers_ = np.asarray(type(self).script.pop(0))
        return self

    def predict(self, X):
        return self.answers_[np.asarray(X)[:, 0].astype(int)]


def follow(script, y, **params):
    """Boost learners that say what is in the script."""
    Scripted.script = [np.asarray(each) for each in script]
    X = np.arange(float(len(y)))[:, None]
    params = {"n_estimators": len(script), "calibration": None, "keep_weights": True} | params
    return AdaBoostClassifier(Scripted(), **params).fit(X, y), X


def flipped(y, wrong, n_classes=2):
    """The right answers but for some rows."""
    predicted = np.array(y)
    predicted[wrong] = (predicted[wrong] + 1) % n_classes
    return predicted
