"""Stacks beside scikit-learn's: schemes, methods, metadata, parameters."""

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import sklearn.ensemble
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
)
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from team_tools import classifiers, own_classifiers, regressors

import committee
from committee import (
    C45Classifier,
    DecisionTreeClassifier,
    StackingClassifier,
    StackingRegressor,
)


def assert_same(ours, theirs, X):
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    told, expected = ours.transform(X), theirs.transform(X)
    if sparse.issparse(expected):
        told, expected = told.toarray(), expected.toarray()
    np.testing.assert_array_equal(told, expected)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    for method in ("predict_proba", "decision_function"):
        assert hasattr(ours, method) == hasattr(theirs, method)
        if hasattr(theirs, method):
            np.testing.assert_array_equal(getattr(ours, method)(X), getattr(theirs, method)(X))
    assert list(ours.stack_method_) == list(theirs.stack_method_)
    assert ours.named_estimators_.keys() == theirs.named_estimators_.keys()


SCHEMES = {
    "five": {},
    "three": {"cv": 3, "passthrough": True},
    "stratified": {"cv": StratifiedKFold(4, shuffle=True, random_state=0), "passthrough": True},
    "any": {"cv": KFold(3, shuffle=True, random_state=1)},
}


CASES = [
    ("three", "five"),
    ("three", "any"),
    ("two", "three"),
    ("two", "any"),
    ("labels", "stratified"),
    ("frame", "five"),
    ("frame", "three"),
    ("sparse", "stratified"),
    ("sparse", "any"),
]


@pytest.mark.parametrize(("kind", "scheme"), CASES)
def test_a_classifier_is_scikit_learns(kind, scheme, iris):
    X, y = iris
    members = classifiers()
    if kind == "two":
        X, y = X[50:], y[50:]
    elif kind == "labels":
        y = np.array(["setosa", "versicolor", "virginica"])[y]
    elif kind == "frame":
        X = pd.DataFrame(X, columns=list("abcd"))
    elif kind == "sparse":
        X = sparse.csr_matrix(X)
        members = [members[0], members[2]]
    options = SCHEMES[scheme]
    theirs = sklearn.ensemble.StackingClassifier(members, **options).fit(X, y)
    assert_same(StackingClassifier(members, **options).fit(X, y), theirs, X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["auto", "predict_proba", "decision_function", "predict"])
def test_every_stack_method_is_scikit_learns(method, n_classes, iris):
    X, y = iris
    X, y = X[y < n_classes], y[y < n_classes]
    line, near = LogisticRegression(), KNeighborsClassifier(3)
    members = {
        "auto": [("line", line), ("svc", LinearSVC()), ("near", near)],
        "predict_proba": [("line", line), ("near", near)],
        "decision_function": [("line", line), ("svc", LinearSVC()), ("one", SVC())],
        "predict": [("line", line), ("svc", LinearSVC()), ("near", near)],
    }[method]
    options = {"stack_method": method, "cv": 3}
    theirs = sklearn.ensemble.StackingClassifier(members, **options).fit(X, y)
    assert_same(StackingClassifier(members, **options).fit(X, y), theirs, X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_log_odds_are_those_of_probabilities_drawn_in(n_classes, iris, tmp_path):
    X, y = iris
    X, y = X[y < n_classes], np.array(["a", "b", "c"])[y[y < n_classes]]
    members = [("near", KNeighborsClassifier(3)), ("tree", DecisionTreeClassifier(max_depth=2))]
    options = {"cv": 3, "keep_level_one": True}
    plain = StackingClassifier(members, **options).fit(X, y)
    ours = StackingClassifier(members, stack_method="log_odds", **options).fit(X, y)
    assert ours.stack_method_ == ["log_odds", "log_odds"]
    with np.errstate(divide="ignore"):
        expected = np.clip(logit(plain.level_one_), -np.log(99), np.log(99))
    np.testing.assert_allclose(ours.level_one_, expected, atol=1e-12)
    final = LogisticRegression().fit(expected, y)
    columns = np.clip(logit(plain.transform(X)), -np.log(99), np.log(99))
    np.testing.assert_allclose(ours.transform(X), columns, atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), final.predict_proba(columns), atol=1e-6)
    assert ours.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    own = StackingClassifier(members[1:], stack_method="log_odds", cv=3).fit(X, y)
    committee.save(own, tmp_path / "stack.committee")
    again = committee.load(tmp_path / "stack.committee")
    np.testing.assert_allclose(again.predict_proba(X), own.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_convex_mixture_reads_log_odds_as_probabilities(n_classes, iris):
    X, y = iris
    X, y = X[y < n_classes], y[y < n_classes]
    members = [("line", LogisticRegression(C=0.01)), ("flat", LogisticRegression(C=0.001))]
    plain = StackingClassifier(members, "convex", cv=3).fit(X, y)
    ours = StackingClassifier(members, "convex", cv=3, stack_method="log_odds").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X), atol=0.02)


def test_log_odds_need_probabilities(iris):
    message = "Underlying estimator svc does not implement the method predict_proba"
    with pytest.raises(ValueError, match=message):
        StackingClassifier([("svc", LinearSVC())], stack_method="log_odds").fit(*iris)


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("cv", [None, 3, KFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("kind", ["array", "frame", "sparse"])
def test_a_regressor_is_scikit_learns(kind, cv, passthrough, diabetes):
    X, y = diabetes
    members = regressors()
    if kind == "frame":
        X = pd.DataFrame(X, columns=[f"c{k}" for k in range(10)])
    elif kind == "sparse":
        X = sparse.csr_matrix(X)
        members = members[1:]
    options = {"cv": cv, "passthrough": passthrough}
    final = Ridge() if kind == "sparse" and passthrough else None
    theirs = sklearn.ensemble.StackingRegressor(members, final, **options).fit(X, y)
    assert_same(StackingRegressor(members, final, **options).fit(X, y), theirs, X)


def test_weights_dropped_members_and_fitted_ones_are_as_in_scikit_learn(iris):
    X, y = iris
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    members = [*classifiers()[:2], ("gone", "drop")]
    theirs = sklearn.ensemble.StackingClassifier(members).fit(X, y, sample_weight=weights)
    ours = StackingClassifier(members).fit(X, y, weights)
    assert len(ours.estimators_) == 2
    assert_same(ours, theirs, X)
    fitted = [(name, member.fit(X[::2], y[::2])) for name, member in classifiers()]
    theirs = sklearn.ensemble.StackingClassifier(fitted, cv="prefit").fit(X[1::2], y[1::2])
    ours = StackingClassifier(fitted, cv="prefit").fit(X[1::2], y[1::2])
    assert_same(ours, theirs, X)
    frozen = [(name, FrozenEstimator(member)) for name, member in fitted]
    np.testing.assert_array_equal(
        StackingClassifier(frozen).fit(X[1::2], y[1::2]).predict_proba(X), ours.predict_proba(X)
    )


def test_fitted_members_that_speak_of_labels_are_understood(iris):
    X, y = iris
    labels = np.array(["a", "b", "c"])[y]
    fitted = [(name, member.fit(X, labels)) for name, member in classifiers()]
    codes = [(name, member.fit(X, y)) for name, member in classifiers()]
    for method in ("auto", "predict"):
        options = {"cv": "prefit", "stack_method": method}
        told = StackingClassifier(fitted, **options).fit(X, labels).predict(X)
        expected = StackingClassifier(codes, **options).fit(X, y).predict(X)
        np.testing.assert_array_equal(told, np.array(["a", "b", "c"])[expected])
        frozen = [(name, FrozenEstimator(each)) for name, each in fitted]
        again = StackingClassifier(frozen, stack_method=method, cv=3, refit=False).fit(X, labels)
        np.testing.assert_array_equal(again.predict(X), told)
    with pytest.raises(ValueError, match="none of which"):
        StackingClassifier(codes, cv="prefit").fit(X, labels)


def test_parameters_are_reached_and_searched(iris):
    X, y = iris
    model = StackingClassifier(
        own_classifiers(), LogisticRegression(), layers=[[("second", DecisionTreeClassifier())]]
    )
    model.set_params(tree__max_depth=1, second__max_depth=4, final_estimator__C=0.5)
    params = clone(model).get_params()
    assert params["tree__max_depth"] == 1
    assert params["second__max_depth"] == 4
    assert params["final_estimator__C"] == 0.5
    model.set_params(second=C45Classifier(), tree="drop")
    assert isinstance(model.layers[0][0][1], C45Classifier)
    assert len(model.fit(X, y).estimators_) == 2
    grid = {"tree__max_depth": [1, 2], "final_estimator__C": [0.1, 1], "c45": ["drop"]}
    stack = StackingClassifier(own_classifiers()[:2], LogisticRegression(), cv=2)
    search = GridSearchCV(stack, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    assert set(StackingClassifier(own_classifiers()).get_params()) >= {"tree", "c45__confidence"}


def test_a_stack_in_a_pipeline_writes_frames(iris):
    X, y = iris
    ours = make_pipeline(StandardScaler(), StackingClassifier(classifiers())).fit(X, y)
    theirs = make_pipeline(StandardScaler(), sklearn.ensemble.StackingClassifier(classifiers()))
    np.testing.assert_array_equal(ours.predict(X), theirs.fit(X, y).predict(X))
    for library, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        stack = StackingClassifier(classifiers(), passthrough=True).set_output(transform=library)
        told = stack.fit(X, y).transform(X)
        assert isinstance(told, frame)
        assert list(told.columns) == stack.get_feature_names_out().tolist()
        assert told.shape == (150, 13)


def test_metadata_are_routed(iris):
    X, y = iris
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        members = [
            ("line", LogisticRegression().set_fit_request(sample_weight=True)),
            ("bayes", GaussianNB().set_fit_request(sample_weight=False)),
        ]
        final = LogisticRegression().set_fit_request(sample_weight=True)
        theirs = sklearn.ensemble.StackingClassifier(members, final)
        theirs.fit(X, y, sample_weight=weights)
        ours = StackingClassifier(members, final).fit(X, y, sample_weight=weights)
        assert_same(ours, theirs, X)
        unset = StackingClassifier([("line", LogisticRegression())], final)
        with pytest.raises(ValueError, match=r"not explicitly set .*LogisticRegression.fit"):
            unset.fit(X, y, sample_weight=weights)

    class Takes(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, colour=None):
            self.classes_, self.colour_ = np.unique(y), colour
            return self

        def predict_proba(self, X):
            assert len(self.colour_) in (100, 150)  # of the rows of the fold
            return np.full((len(X), 3), 1 / 3)

        def predict(self, X):
            return np.zeros(len(X), int)

    with sklearn.config_context(enable_metadata_routing=True):
        member = Takes().set_fit_request(colour=True)
        stack = StackingClassifier([("takes", member), classifiers()[1]], cv=3)
        stack.fit(X, y, colour=np.arange(150))
        assert stack.estimators_[0].colour_.tolist() == list(range(150))


class Coloured(ClassifierMixin, BaseEstimator):
    """Naive Bayes that wants to know the colour of each row: here its number in the whole table."""

    fits = ()  # tables and colours

    def fit(self, X, y, colour):
        assert len(colour) == len(X)
        type(self).fits += ((np.asarray(X), np.asarray(colour)),)
        self.model_ = GaussianNB(var_smoothing=0.1).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize("leak_check", [False, True])
@pytest.mark.parametrize("cv", [3, 0.4, KFold(3, shuffle=True, random_state=0), "prefit"], ids=repr)
def test_routed_arguments_go_with_the_rows(cv, leak_check, iris):
    """To members, to copies of fitted ones, and to meta-learners, of all layers and checks."""
    X, y = iris
    X = X + np.arange(150)[:, None] * 1e-6  # a row is known by its cells
    colour = np.arange(150)

    class Member(Coloured):
        fits = ()

    class Final(Coloured):
        fits = ()

    with sklearn.config_context(enable_metadata_routing=True):
        member, final = (cls().set_fit_request(colour=True) for cls in (Member, Final))
        given = clone(member).fit(X[::2], y[::2], colour[::2]) if cv == "prefit" else member
        stack = StackingClassifier([("m", given)], final, cv=cv, passthrough=True, random_state=0)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the level-one data leaked")
            stack.set_params(leak_check=leak_check).fit(X, y, colour=colour)
    for rows, told in Member.fits:
        np.testing.assert_array_equal(rows, X[told])
    for rows, told in Final.fits:
        np.testing.assert_array_equal(rows[:, -4:], X[told])
    # With a check also that of the other rows and five in its folds, or two on copies of members.
    n_more = 3 if cv == "prefit" else 6
    assert len(Final.fits) == 1 + leak_check * n_more


@pytest.mark.parametrize("cls", [StackingClassifier, StackingRegressor])
def test_the_constructor_has_scikit_learns_parameters_and_defaults(cls):
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__)).parameters
    ours = inspect.signature(cls).parameters
    for name, parameter in theirs.items():
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind), name
