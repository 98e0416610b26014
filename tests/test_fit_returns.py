"""What `fit` of a member returns does not matter: the member itself is fitted."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import committee
from committee import prune_ensemble


class NoneClassifier(LogisticRegression):
    """Logistic regression whose `fit` returns nothing."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


class OtherClassifier(LogisticRegression):
    """Logistic regression whose `fit` returns another model."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        return LogisticRegression(C=1e-9).fit(X, y)


class NoneRegressor(LinearRegression):
    """Linear regression whose `fit` returns nothing."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


class OtherRegressor(LinearRegression):
    """Linear regression whose `fit` returns another model."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        return LinearRegression().fit(X, -y)


CLASSIFIERS = {
    "voting": lambda m: committee.VotingClassifier([("a", m), ("b", m)], voting="soft"),
    "learnt votes": lambda m: committee.VotingClassifier([("a", m), ("b", m)], weights="learned"),
    "stacking": lambda m: committee.StackingClassifier([("a", m)], m, leak_check=True),
    "folds": lambda m: committee.StackingClassifier([("a", m)], m, refit=False),
    "layers": lambda m: committee.StackingClassifier([("a", m)], m, layers=[[("b", m)]]),
    "bagging": lambda m: committee.BaggingClassifier(m, 20, oob_score=True, random_state=0),
    "selection": lambda m: committee.EnsembleSelectionClassifier([("a", m), ("b", m)]),
    "dynamic": lambda m: committee.DynamicSelectionClassifier([("a", m), ("b", m)]),
    "adaboost": lambda m: committee.AdaBoostClassifier(m, n_estimators=3, random_state=0),
}
REGRESSORS = {
    "voting": lambda m: committee.VotingRegressor([("a", m), ("b", m)]),
    "stacking": lambda m: committee.StackingRegressor([("a", m)], m, leak_check=True),
    "folds": lambda m: committee.StackingRegressor([("a", m)], m, refit=False),
    "bagging": lambda m: committee.BaggingRegressor(m, 20, oob_score=True, random_state=0),
    "selection": lambda m: committee.EnsembleSelectionRegressor([("a", m), ("b", m)]),
    "dynamic": lambda m: committee.DynamicSelectionRegressor([("a", m), ("b", m)]),
    "adaboost": lambda m: committee.AdaBoostRegressor(m, n_estimators=3, random_state=0),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, X[:, 0] + 0.3 * rng.normal(size=60)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("member", [NoneClassifier, OtherClassifier])
def test_classifiers_are_members_whatever_fit_returns(name, member, rows):
    X, y = rows[0], (rows[1] > 0).astype(int)
    found = CLASSIFIERS[name](member()).fit(X, y)
    expected = CLASSIFIERS[name](LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    if hasattr(expected, "predict_proba"):
        np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("member", [NoneRegressor, OtherRegressor])
def test_regressors_are_members_whatever_fit_returns(name, member, rows):
    X, y = rows
    found = REGRESSORS[name](member()).fit(X, y)
    expected = REGRESSORS[name](LinearRegression()).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize("member", [NoneClassifier, OtherClassifier])
def test_bootstrap_scores_are_of_the_model_itself(member, rows):
    X, y = rows[0], (rows[1] > 0).astype(int)
    found = committee.bootstrap_score(member(), X, y, n_resamples=20, random_state=0)
    expected = committee.bootstrap_score(LogisticRegression(), X, y, n_resamples=20, random_state=0)
    assert found.score == expected.score


def test_pruned_ensembles_keep_such_members(rows):
    X, y = rows[0], (rows[1] > 0).astype(int)
    model = committee.BaggingClassifier(NoneClassifier(), 6, random_state=0).fit(X[:40], y[:40])
    small, _ = prune_ensemble(model, X[40:], y[40:], n_members=2)
    assert small.predict(X).shape == (60,)
