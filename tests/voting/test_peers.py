"""Voting beside scikit-learn's: rules, weights, metadata, parameters."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import sklearn.ensemble
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from team_tools import classifiers, regressors

from committee import (
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)

# --- the same as scikit-learn's -------------------------------------------------------------------


OPTIONS = [
    {},
    {"voting": "soft"},
    {"voting": "soft", "weights": [1, 2, 0.5]},
    {"weights": [3, 1, 1]},
    {"voting": "soft", "flatten_transform": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("kind", ["numbers", "labels", "two classes", "weights", "frame", "sparse"])
def test_a_classifier_is_scikit_learns(kind, options, iris):
    X, y = iris
    weights = None
    params = {}
    members = classifiers()
    if kind == "labels":
        y = np.array(["setosa", "versicolor", "virginica"])[y]
    elif kind == "two classes":
        X, y = X[50:], y[50:]
    elif kind == "weights":
        weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
        params = {"sample_weight": weights}
        members[2] = ("tree", sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=0))
    elif kind == "frame":
        X = pd.DataFrame(X, columns=list("abcd"))
    elif kind == "sparse":
        X = sparse.csr_matrix(X)
        members[1] = ("tree", sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=0))
    theirs = sklearn.ensemble.VotingClassifier(members, **options).fit(X, y, **params)
    ours = VotingClassifier(members, **options).fit(X, y, weights)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    if options.get("voting") == "soft":
        np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    if options.get("flatten_transform", True):
        names = theirs.get_feature_names_out()
        assert ours.get_feature_names_out().tolist() == names.tolist()
    assert ours.named_estimators_.keys() == theirs.named_estimators_.keys()
    assert ours.le_.classes_.tolist() == theirs.le_.classes_.tolist()


@pytest.mark.parametrize("options", [{}, {"voting": "soft"}, {"weights": "learned", "cv": 3}])
def test_one_class_is_voted_for_by_members_that_take_it(options, iris):
    X, y = iris[0][:30], np.full(30, 7)
    members = [("bayes", GaussianNB()), ("near", KNeighborsClassifier())]
    voting = VotingClassifier(members, **options).fit(X, y)
    assert voting.predict(X).tolist() == y.tolist()
    if "cv" not in options:
        theirs = sklearn.ensemble.VotingClassifier(members, **options).fit(X, y)
        assert theirs.predict(X).tolist() == y.tolist()
    members.append(("line", LogisticRegression()))
    with pytest.raises(ValueError, match="y has 1 class, 7, and the member 'line' could not"):
        VotingClassifier(members, **options).fit(X, y)


@pytest.mark.parametrize("options", [{}, {"weights": [1, 2, 0.5]}], ids=repr)
@pytest.mark.parametrize("kind", ["array", "frame", "weights"])
def test_a_regressor_is_scikit_learns(kind, options, diabetes):
    X, y = diabetes
    members, weights, params = regressors(), None, {}
    if kind == "frame":
        X = pd.DataFrame(X, columns=[f"c{k}" for k in range(10)])
    if kind == "weights":
        weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
        params = {"sample_weight": weights}
        members[2] = ("tree", sklearn.tree.DecisionTreeRegressor(max_depth=2, random_state=0))
    theirs = sklearn.ensemble.VotingRegressor(members, **options).fit(X, y, **params)
    ours = VotingRegressor(members, **options).fit(X, y, weights)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_a_dropped_member_is_as_in_scikit_learn(iris, diabetes):
    for members, pair, (X, y) in (
        (classifiers(), (VotingClassifier, sklearn.ensemble.VotingClassifier), iris),
        (regressors(), (VotingRegressor, sklearn.ensemble.VotingRegressor), diabetes),
    ):
        ours, theirs = (
            cls(members, weights=[1, 5, 2]).set_params(line="drop").fit(X, y) for cls in pair
        )
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        assert ours.named_estimators_["line"] == theirs.named_estimators_["line"] == "drop"
        assert len(ours.estimators_) == 2
        np.testing.assert_allclose(ours.weights_, [5 / 7, 2 / 7])


def test_parameters_of_members_are_reached_by_name(iris):
    model = VotingClassifier(classifiers(), voting="soft")
    theirs = sklearn.ensemble.VotingClassifier(classifiers(), voting="soft")
    assert set(theirs.get_params()) <= set(model.get_params())
    model.set_params(near__n_neighbors=7, line=LogisticRegression(C=0.5))
    assert model.get_params()["near__n_neighbors"] == 7
    assert model.get_params()["line__C"] == 0.5
    assert clone(model).get_params()["near__n_neighbors"] == 7
    search = GridSearchCV(model, {"near__n_neighbors": [1, 9], "voting": ["hard", "soft"]}, cv=3)
    search.fit(*iris)
    assert set(search.best_params_) == {"near__n_neighbors", "voting"}
    with pytest.raises(ValueError, match="nobody"):
        model.set_params(nobody__C=1)


def test_a_committee_is_a_step_of_a_pipeline_and_writes_frames(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), VotingClassifier(classifiers(), voting="soft"))
    theirs = make_pipeline(
        StandardScaler(), sklearn.ensemble.VotingClassifier(classifiers(), voting="soft")
    )
    np.testing.assert_array_equal(model.fit(X, y).predict(X), theirs.fit(X, y).predict(X))
    for library, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        told = VotingClassifier(classifiers()).set_output(transform=library).fit(X, y).transform(X)
        assert isinstance(told, frame)
        assert list(told.columns) == [f"votingclassifier_{n}" for n in ("line", "bayes", "near")]


def test_metadata_are_routed_to_members_that_ask(iris):
    X, y = iris
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        members = [
            ("line", LogisticRegression().set_fit_request(sample_weight=True)),
            ("bayes", GaussianNB().set_fit_request(sample_weight=False)),
        ]
        theirs = sklearn.ensemble.VotingClassifier(members, voting="soft")
        theirs.fit(X, y, sample_weight=weights)
        ours = VotingClassifier(members, voting="soft").fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        VotingClassifier(classifiers()).fit(X, y, brightness=1)


def test_frozen_members_speak_of_labels(iris):
    X, y = iris
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = [(name, member.fit(X, labels)) for name, member in classifiers()]
    usual = VotingClassifier(classifiers()).fit(X, labels)
    frozen = VotingClassifier([(name, FrozenEstimator(each)) for name, each in fitted])
    np.testing.assert_array_equal(frozen.fit(X, labels).predict(X), usual.predict(X))
    mixed = VotingClassifier([("f", FrozenEstimator(fitted[0][1])), classifiers()[1]])
    assert mixed.set_params(voting="soft").fit(X, labels).score(X, labels) > 0.9
    ready = VotingClassifier(fitted, cv="prefit").fit(X, labels)
    np.testing.assert_array_equal(ready.predict(X), usual.predict(X))
    assert ready.estimators_[0] is fitted[0][1]


def test_fitted_members_may_know_more_or_other_labels(iris):
    X, y = iris
    labels = np.array(["a", "b", "c"])[y]
    fitted = [(name, member.fit(X, labels)) for name, member in classifiers()]
    known = VotingClassifier(fitted, cv="prefit").fit(X[:100], labels[:100])
    assert known.classes_.tolist() == ["a", "b", "c"]
    assert known.score(X, labels) > 0.9
    fewer = [("two", GaussianNB().fit(X[:100], labels[:100])), *fitted]
    soft = VotingClassifier(fewer, voting="soft", cv="prefit").fit(X, labels)
    np.testing.assert_allclose(soft.predict_proba(X).sum(axis=1), 1)
    assert soft.score(X, labels) > 0.9
    with pytest.raises(ValueError, match=r"classes|labels"):
        VotingClassifier([("codes", GaussianNB().fit(X, y))], cv="prefit").fit(X, labels)
    with pytest.raises(NotFittedError):
        VotingClassifier(classifiers(), cv="prefit", voting="soft", weights="learned").fit(X, y)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [VotingClassifier, VotingRegressor])
def test_the_constructor_has_scikit_learns_parameters_and_defaults(cls):
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__)).parameters
    ours = inspect.signature(cls).parameters
    for name, parameter in theirs.items():
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind), name


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_stacks_of_scikit_learn_can_be_members_before_they_are_fitted(voting, rng):
    """They hide predict and predict_proba as long as they have no meta-learner."""
    X = rng.normal(size=(90, 3))
    y = np.where(X[:, 0] + rng.normal(0, 0.3, 90) > 0, "yes", "no")
    stack = sklearn.ensemble.StackingClassifier(
        [("bayes", GaussianNB())], cv=3
    )  # hides predict_proba
    members = [("stack", stack), ("pipe", make_pipeline(StandardScaler(), stack))]
    ours = VotingClassifier(members, voting=voting).fit(X, y)

    theirs = sklearn.ensemble.VotingClassifier(members, voting=voting).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert StackingClassifier(members).fit(X, y).stack_method_ == ["predict_proba"] * 2
    with pytest.raises(ValueError, match="predict_proba"):
        VotingClassifier([("svc", LinearSVC())], voting="soft").fit(X, y)
