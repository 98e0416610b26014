"""Bagging beside scikit-learn's: its checks, its signature, its scores."""

import inspect

import numpy as np
import pytest
import sklearn
import sklearn.ensemble
from peer_versions import needs_sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import committee
from committee import DecisionTreeClassifier
from committee.bagging.classifier import BaggingClassifier
from committee.bagging.regressor import BaggingRegressor

BOTH = [BaggingClassifier, BaggingRegressor]
DRAWS = "rows are drawn by chance: equal in distribution, not in every draw"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": DRAWS,
    "check_sample_weight_equivalence_on_sparse_data": DRAWS,
}


@parametrize_with_checks(
    [
        BaggingClassifier(),
        BaggingRegressor(),
        BaggingClassifier(LogisticRegression(), 4, voting="hard", random_state=0),
        BaggingRegressor(Ridge(), 4, combine="median", max_features=0.7, random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- signature ------------------------------------------------------------------------------------


NEW_PARAMETERS = {
    "BaggingClassifier": {"stratify", "partition", "voting", "weighting"},
    "BaggingRegressor": {"partition", "combine", "weighting"},
}


@needs_sklearn("1.9", "max_samples has another default")
@pytest.mark.parametrize("cls", BOTH)
def test_the_constructor_has_scikit_learns_parameters_and_defaults(cls):
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__)).parameters
    ours = inspect.signature(cls).parameters
    assert set(ours) - set(theirs) == NEW_PARAMETERS[cls.__name__]
    for name, parameter in theirs.items():
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind), name


@needs_sklearn("1.8", "bagging of trees has a decision_function")
@pytest.mark.parametrize("cls", BOTH)
def test_public_methods_and_attributes_of_scikit_learn_exist(cls, iris):
    theirs = getattr(sklearn.ensemble, cls.__name__)(n_estimators=2, oob_score=False).fit(*iris)
    ours = cls(n_estimators=2).fit(*iris)
    names = {name for name in dir(theirs) if not name.startswith("_")} - {"estimator_params"}
    assert {name for name in names if not hasattr(ours, name)} == set()
    assert len(ours) == 2
    np.testing.assert_array_equal(ours[1].predict(iris[0]), ours.estimators_[1].predict(iris[0]))
    assert len(list(ours)) == len(ours.estimators_) == 2


# --- scikit-learn as a peer -----------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [GaussianNB(), DecisionTreeClassifier(max_depth=4)])
def test_scores_are_as_good_as_scikit_learns(estimator, seed):
    X, y = make_classification(1500, 10, n_informative=5, flip_y=0.1, random_state=seed)
    gaps = []
    for split in range(4):
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=split)
        losses = [
            log_loss(
                y_test,
                module.BaggingClassifier(estimator, 30, random_state=split)
                .fit(train, y_train)
                .predict_proba(test),
            )
            for module in (committee, sklearn.ensemble)
        ]
        gaps.append(losses[0] - losses[1])
    assert abs(np.mean(gaps)) < 0.01


def test_search_and_cross_validation_work(iris):
    X, y = iris
    search = GridSearchCV(
        BaggingClassifier(DecisionTreeClassifier(), 5, random_state=0),
        {"estimator__max_depth": [1, 3], "max_features": [1, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["estimator__max_depth"] == 3
    assert cross_val_score(BaggingRegressor(n_estimators=5), X, y, cv=3).shape == (3,)


def test_metadata_reaches_the_members(iris):
    X, y = iris

    class Takes(GaussianNB):
        def fit(self, X, y, sample_weight=None, colour=None):
            self.colour_ = colour
            self.length_ = len(X)
            return super().fit(X, y, sample_weight)

    model = BaggingClassifier(Takes(), 3, random_state=0)
    with pytest.raises(ValueError, match=r"\[colour\] are passed to fit but .*enable_metadata"):
        model.fit(X, y, colour=np.arange(150))
    with sklearn.config_context(enable_metadata_routing=True):
        member = Takes().set_fit_request(colour=True, sample_weight=True)
        model = BaggingClassifier(member, 3, random_state=0).fit(X, y, colour=np.arange(150))
        expected = [np.unique(rows) for rows in model.estimators_samples_]
        for member, rows in zip(model, expected, strict=True):
            assert np.array_equal(member.colour_, rows)
        # A member that does not request weights gets its rows repeated.
        repeated = BaggingClassifier(Takes().set_fit_request(colour=True), 3).fit(X, y)
        assert [member.length_ for member in repeated] == [150] * 3
