"""Stacking: scikit-learn's results, layers, convex weights, the leak check, and what is refused."""

import copy
import inspect
import pickle
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
from sklearn.datasets import load_diabetes, load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from team_tools import Says, SaysNumber, WantsAllCodes, classifiers, regressors

import committee
from committee import (
    BaggingClassifier,
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EnsembleSelectionClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from committee.combining.convex_weights import blend_weights, mixture_weights
from committee.members.output import Output
from committee.members.team import Team, fit_codes
from committee.tables.native_table import AnyTable


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


def own_classifiers():
    return [
        ("tree", DecisionTreeClassifier(max_depth=3)),
        ("c45", C45Classifier()),
        ("extra", ExtraTreesClassifier(4, random_state=0)),
    ]


# --- the same as scikit-learn's -----------------------------------------------------------------


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
        with pytest.raises(TypeError, match=r"line.*set_fit_request"):
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


# --- naive loops --------------------------------------------------------------------------------


def test_a_stack_agrees_with_a_naive_loop(iris):
    """Two layers, out of folds, with weights: written out."""
    X, y = iris
    folds = np.arange(150) % 3
    weights = np.random.default_rng(0).integers(1, 4, 150).astype(float)
    first, second = GaussianNB(), LogisticRegression()
    model = StackingClassifier(
        [("first", first)],
        LogisticRegression(),
        layers=[[("second", second)]],
        cv=PredefinedSplit(folds),
        keep_level_one=True,
    ).fit(X, y, weights)

    def out_of_folds(member, Z):
        predicted = np.zeros((150, 3))
        for fold in range(3):
            train = folds != fold
            fitted = clone(member).fit(Z[train], y[train], weights[train])
            predicted[~train] = fitted.predict_proba(Z[~train])
        return predicted

    level_one = out_of_folds(first, X)
    level_two = out_of_folds(second, level_one)
    np.testing.assert_allclose(model.level_one_, level_two, atol=1e-12)
    final = LogisticRegression().fit(level_two, y, weights)
    whole = clone(first).fit(X, y, weights).predict_proba(X)
    whole = clone(second).fit(level_one, y, weights).predict_proba(whole)
    np.testing.assert_allclose(model.predict_proba(X), final.predict_proba(whole), atol=1e-9)


def test_a_row_of_weight_two_is_the_row_twice_and_of_weight_zero_absent(iris, rng):
    X, y = iris
    counts = rng.integers(0, 3, len(y))
    twice = np.repeat(np.arange(len(y)), counts)
    folds = rng.integers(0, 3, len(y))
    members = own_classifiers()[:2]
    for options in (
        {"final_estimator": "convex"},
        {"final_estimator": DecisionTreeClassifier(max_depth=2), "passthrough": True},
        {"final_estimator": "convex", "refit": False},
        {
            "final_estimator": "convex",
            "layers": [[("late", DecisionTreeClassifier(max_depth=2, split_finding="exact"))]],
        },
    ):
        one = StackingClassifier(members, cv=PredefinedSplit(folds), **options).fit(X, y, counts)
        two = StackingClassifier(members, cv=PredefinedSplit(folds[twice]), **options)
        two.fit(X[twice], y[twice])
        np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-6)
    present = counts > 0
    one = StackingClassifier(members, "convex", cv=3, leak_check=True, random_state=0)
    absent = clone(one).fit(X, y, present.astype(float)).leak_report_
    left = clone(one).fit(X[present], y[present]).leak_report_
    np.testing.assert_allclose(absent.found, left.found)
    np.testing.assert_allclose(absent.promised, left.promised)


def test_the_convex_meta_learner_has_the_best_weights(iris, diabetes):
    X, y = iris
    stack = StackingClassifier(classifiers(), "convex", cv=3, keep_level_one=True).fit(X, y)
    predicted = stack.level_one_.reshape(150, 3, 3)
    weights = mixture_weights(predicted[np.arange(150), :, y])
    np.testing.assert_allclose(stack.final_estimator_.weights_, weights)
    mixed = np.einsum("nmk,m->nk", stack.transform(X).reshape(150, 3, 3), weights)
    np.testing.assert_allclose(stack.predict_proba(X), mixed)
    two = StackingClassifier(classifiers(), "convex", cv=3).fit(X[50:], y[50:])
    shares = two.transform(X) @ two.final_estimator_.weights_
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], shares)
    X, y = diabetes
    stack = StackingRegressor(regressors(), "convex", cv=3, keep_level_one=True).fit(X, y)
    weights = blend_weights(stack.level_one_, y)
    np.testing.assert_allclose(stack.predict(X), stack.transform(X) @ weights)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["auto", "predict", "decision_function"])
def test_members_without_probabilities_vote_in_the_convex_mixture(method, n_classes, iris):
    X, y = iris
    X, y = X[y < n_classes], y[y < n_classes]
    members = [("line", LogisticRegression()), ("svc", LinearSVC())]
    stack = StackingClassifier(members, "convex", cv=3, stack_method=method).fit(X, y)
    p = stack.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert stack.score(X, y) > 0.9


def test_level_one_data_may_lack_a_class(iris):
    X, y = iris
    X, y = X[:120], np.array(["a", "b", "c"])[y[:120]]
    splits = [(np.arange(120), []), (np.r_[0:40, 50:90, 100:120], np.r_[40:50, 90:100])][1:]
    for final in ("convex", None, DecisionTreeClassifier()):
        stack = StackingClassifier(classifiers(), final, cv=splits).fit(X, y)
        assert stack.predict_proba(X).shape == (120, 3)
        assert stack.predict(X[:3]).tolist() == ["a"] * 3


def test_classes_that_a_fold_lacks_are_unlikely(iris):
    X, y = iris
    for method in ("predict_proba", "decision_function", "predict"):
        members = [("line", LogisticRegression()), ("again", LogisticRegression(C=0.1))]
        stack = StackingClassifier(members, stack_method=method, cv=KFold(3), keep_level_one=True)
        stack.fit(X, y)  # each fold lacks one of three classes
        assert np.isfinite(stack.level_one_).all()
        if method == "predict_proba":
            assert (stack.level_one_[np.arange(150), y] == 0).all()


def without_the_middle(iris):
    """Three or four classes, and folds of which each of the first two lacks one in the middle."""
    X, y = iris
    y = np.where((y == 2) & (np.arange(150) % 2 == 0), 3, y)
    folds = np.select([y == 1, y == 2], [0, 1], np.arange(150) % 3)
    return X, np.array(["a", "b", "c", "d"])[y], folds


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("method", ["predict_proba", "decision_function", "predict"])
def test_members_that_want_codes_without_gaps_have_them(method, n_classes, refit, iris):
    X, y, folds = without_the_middle(iris)
    if n_classes == 3:  # a fold of two classes has one score
        X, y, folds = X[y != "d"], y[y != "d"], folds[y != "d"]
    options = {"stack_method": method, "cv": PredefinedSplit(folds), "keep_level_one": True}
    final = DecisionTreeClassifier(max_depth=4)
    stack = StackingClassifier([("strict", WantsAllCodes())], final, refit=refit, **options)
    stack.fit(X, y)
    labels = np.unique(y)
    for fold in range(3):
        train, test = folds != fold, folds == fold
        alone = LogisticRegression().fit(X[train], y[train])
        told = getattr(alone, method)(X[test])
        if method == "predict":
            expected = np.searchsorted(labels, told)[:, None]
        else:
            told = np.column_stack([-told, told]) if told.ndim == 1 else told
            missing = 0.0 if method == "predict_proba" else told.min()
            expected = np.full((test.sum(), n_classes), min(missing, 0.0))
            expected[:, np.searchsorted(labels, alone.classes_)] = told
        np.testing.assert_array_equal(stack.level_one_[test], expected)
    usual = StackingClassifier([("line", LogisticRegression())], final, refit=refit, **options)
    usual.fit(X, y)
    np.testing.assert_array_equal(stack.predict_proba(X), usual.predict_proba(X))
    if refit:  # who has seen all classes is as it was
        assert type(stack.estimators_[0]) is WantsAllCodes
        assert stack.estimators_[0].classes_.tolist() == list(range(n_classes))
    else:
        assert all(type(each) is LogisticRegression for each in usual.estimators_[0].estimators)
        again = pickle.loads(pickle.dumps(stack))
        np.testing.assert_array_equal(again.predict(X), stack.predict(X))


def test_class_weights_go_with_the_classes_where_codes_are_changed(iris):
    X, y, folds = without_the_middle(iris)
    weights = {"a": 1.0, "b": 2.0, "c": 7.0, "d": 5.0}
    options = {"cv": PredefinedSplit(folds), "keep_level_one": True}
    stack = StackingClassifier([("strict", WantsAllCodes(weights))], **options).fit(X, y)
    usual = StackingClassifier([("line", LogisticRegression(class_weight=weights))], **options)
    np.testing.assert_array_equal(stack.level_one_, usual.fit(X, y).level_one_)
    plain = StackingClassifier([("strict", WantsAllCodes())], **options).fit(X, y)
    assert (plain.level_one_ != stack.level_one_).any()


def test_a_meta_learner_that_wants_codes_without_gaps_has_them(iris):
    X, y, _ = without_the_middle(iris)
    rows = np.arange(150)
    splits = [(rows % 3 > 0, (rows % 3 == 0) & (y != "b"))]  # no opinion on a row of class b
    stack = StackingClassifier(classifiers(), WantsAllCodes(), cv=splits).fit(X, y)
    usual = StackingClassifier(classifiers(), LogisticRegression(), cv=splits).fit(X, y)
    np.testing.assert_array_equal(stack.predict_proba(X), usual.predict_proba(X))
    np.testing.assert_array_equal(stack.predict(X), usual.predict(X))


def test_errors_that_codes_are_not_to_blame_for_are_those_of_the_first_try(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"Invalid classes: \[0 2\]"):
        fit_codes(WantsAllCodes("some"), X[y != 1], y[y != 1], {})
    with pytest.raises(ValueError, match="class_weight"):
        fit_codes(WantsAllCodes("some"), X, y, {})


# --- promises -----------------------------------------------------------------------------------


def test_results_do_not_depend_on_workers_and_members_keep_theirs(iris):
    X, y = iris
    members = [
        ("forest", RandomForestClassifier(5, n_jobs=7)),
        ("boosting", GradientBoostingClassifier(n_estimators=5, subsample=0.7)),
        ("near", KNeighborsClassifier(3, n_jobs=2)),
        ("line", LogisticRegression()),
    ]
    stack = StackingClassifier(members, "convex", cv=2, random_state=3, leak_check=True)
    found = [clone(stack).set_params(n_jobs=n).fit(X, y) for n in (1, 2, 1)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(found[0].leak_report_.found, other.leak_report_.found)
    assert [m.get_params().get("n_jobs") for m in found[1].estimators_[:3]] == [7, None, 2]
    assert members[0][1].random_state is None
    other = clone(found[0]).set_params(random_state=4).fit(X, y)
    assert (other.predict_proba(X) != found[0].predict_proba(X)).any()


def test_progress_is_told_if_asked(iris, capfd):
    StackingClassifier(own_classifiers(), cv=2, leak_check=True).fit(*iris)
    assert capfd.readouterr() == ("", "")
    StackingClassifier(own_classifiers(), cv=2, verbose=2).fit(*iris)
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 9
    assert told[-1].startswith("StackingClassifier: 9 of 9 fits")
    late = [[("late", DecisionTreeClassifier())]]
    for options in ({"layers": late}, {"refit": False}, {"cv": 0.5}, {"layers": late, "cv": 0.5}):
        StackingClassifier(own_classifiers(), **{"cv": 2, "verbose": 2} | options).fit(*iris)
        done = [line.split()[1:4:2] for line in capfd.readouterr().err.splitlines()]
        assert [int(n) for n, _ in done] == list(range(1, len(done) + 1)), options
        assert done[-1][0] == done[-1][1], options


def test_a_failed_fit_leaves_the_stack_as_it_was(iris):
    X, y = iris
    stack = StackingClassifier(classifiers(), keep_level_one=True, leak_check=True).fit(X, y)
    before = dict(vars(stack))
    with pytest.raises(ValueError, match="NaN"):
        stack.fit(np.where(X > 2, np.nan, X), y)
    stack.final_estimator = LinearSVC(C=-1)
    before["final_estimator"] = stack.final_estimator
    with pytest.raises(ValueError, match=r"(?s)C") as caught:
        stack.fit(X, y)
    assert "final_estimator" in "".join(caught.value.__notes__)
    assert vars(stack) == before
    stack.set_params(final_estimator=None, leak_check=False, keep_level_one=False).fit(X, y)
    assert not hasattr(stack, "leak_report_")
    assert not hasattr(stack, "level_one_")


def test_raw_tables_reach_own_members_and_pass_through(rng):
    n_rows = 60
    columns = {
        "a": rng.choice(["x", "y", "z"], n_rows).tolist(),
        "b": [None if k % 7 == 0 else float(k % 10) for k in range(n_rows)],
    }
    y = np.where(np.array(columns["a"]) == "x", "yes", "no")
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        for passthrough in (False, True):
            final = DecisionTreeClassifier(max_depth=3) if passthrough else None
            stack = StackingClassifier(
                own_classifiers(), final, passthrough=passthrough, cv=2, keep_level_one=True
            ).fit(frame, y)
            assert stack.score(frame, y) == 1.0
            assert stack.score(frame[["b", "a"]], y) == 1.0  # matched by name
            if passthrough:
                assert type(stack.level_one_) is type(frame)
                assert list(stack.level_one_.columns)[-2:] == ["a", "b"]
    shuffled = pd.DataFrame(columns, index=rng.permutation(n_rows))
    pandas = clone(stack).fit(shuffled, y)
    np.testing.assert_array_equal(pandas.predict_proba(shuffled), stack.predict_proba(frame))


def test_columns_are_matched_by_name(iris):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    stack = StackingClassifier(classifiers(), passthrough=True, cv=2).fit(frame, iris[1])
    expected = stack.predict_proba(frame)
    np.testing.assert_array_equal(stack.predict_proba(frame[list("dbca")]), expected)
    with pytest.raises(ValueError, match=r"(?s)unseen.*e.*missing.*a"):
        stack.predict(frame.rename(columns={"a": "e"}))
    with pytest.raises(ValueError, match="missing"):
        stack.predict(frame[list("abc")])
    with pytest.warns(UserWarning, match="feature names"):
        stack.predict(frame.to_numpy())
    with pytest.raises(ValueError, match="3 features"):
        stack.predict(frame.to_numpy()[:, :3])


def told_about_names(model, method, X):
    """Return what is warned about: the file that is blamed, and the message."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(model, method)(X)
    return [(each.filename, str(each.message)) for each in caught]


@pytest.mark.parametrize("given", ["text", "numbers"])
@pytest.mark.parametrize("cls", [StackingClassifier, VotingClassifier, EnsembleSelectionClassifier])
def test_missing_names_are_warned_about_once(cls, given, rng):
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], 60), "b": rng.normal(size=60)})
    y = (frame["a"] == "x").to_numpy().astype(int)
    members = [*own_classifiers(), ("bag", BaggingClassifier(DecisionTreeClassifier(), 2))]
    if given == "numbers":
        frame["a"] = rng.normal(size=60)
        members += classifiers()
    options = {"cv": 2}
    if cls is VotingClassifier:
        options["tie_break"] = "soft"  # asks members twice
    if cls is StackingClassifier:
        layers = [[("late", DecisionTreeClassifier())]]
        options |= {"layers": layers, "passthrough": True}
        options["final_estimator"] = DecisionTreeClassifier(max_depth=2)
    model = cls(members, **options).fit(frame, y)
    bare = frame.to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
    for method in ("predict", "predict_proba"):
        ((where, message),) = told_about_names(model, method, bare)
        assert f"but {cls.__name__} was fitted with feature names" in message
        assert where == __file__
        expected = getattr(model, method)(frame)
        with pytest.warns(UserWarning, match="feature names"):
            np.testing.assert_array_equal(getattr(model, method)(bare), expected)
    unnamed = clone(model).fit(bare, y)
    ((_, message),) = told_about_names(unnamed, "predict", frame)
    assert "fitted without feature names" in message


def test_predict_passes_arguments_on(diabetes):
    from sklearn.gaussian_process import GaussianProcessRegressor

    X, y = diabetes
    stack = StackingRegressor(regressors(), GaussianProcessRegressor(), cv=2).fit(X[:40], y[:40])
    mean, spread = stack.predict(X[:5], return_std=True)
    assert mean.shape == spread.shape == (5,)


# --- the leak check -----------------------------------------------------------------------------


def noisy(seed, n_rows=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int), X[:, 0] + rng.normal(size=n_rows)


@pytest.mark.parametrize("seed", range(4))
def test_fitted_members_that_saw_the_rows_are_called(seed):
    X, y, z = noisy(seed)
    seen = [("deep", DecisionTreeClassifier().fit(X, y)), ("line", LogisticRegression().fit(X, y))]
    stack = StackingClassifier(seen, cv="prefit", leak_check=True, random_state=seed)
    with pytest.warns(UserWarning, match=r"leaked.*deep"):
        stack.fit(X, y)
    report = stack.leak_report_
    assert "deep" in report.suspects
    assert "line" not in report.suspects
    assert report.to_frame().loc["deep", "promised"] == 0.0
    assert "leaked: deep" in repr(report)
    deep = [("deep", DecisionTreeRegressor().fit(X, z))]
    numbers = StackingRegressor(deep, cv="prefit", leak_check=True, random_state=seed)
    with pytest.warns(UserWarning, match=r"leaked.*deep"):
        numbers.fit(X, z)


@pytest.mark.parametrize("seed", range(4))
def test_honest_members_are_not_called(seed):
    X, y, z = noisy(seed, 400)
    half = slice(0, 200)
    fitted = [
        ("deep", DecisionTreeClassifier().fit(X[half], y[half])),
        ("line", LogisticRegression().fit(X[half], y[half])),
    ]
    rest = slice(200, 400)
    ready = StackingClassifier(fitted, cv="prefit", leak_check=True, random_state=seed)
    assert not ready.fit(X[rest], y[rest]).leak_report_.leaked
    members = [("deep", DecisionTreeClassifier()), ("line", LogisticRegression())]
    numbers = [("deep", DecisionTreeRegressor()), ("line", LinearRegression())]
    for cv in (3, 0.3):
        for model, target in (
            (StackingClassifier(members, cv=cv), y),
            (StackingRegressor(numbers, cv=cv), z),
        ):
            model.set_params(leak_check=True, random_state=seed).fit(X, target)
            assert not model.leak_report_.leaked
            assert "no sign of leakage" in model.leak_report_.message


@pytest.mark.parametrize("n_rows", [8, 12, 20])
def test_few_rows_are_no_proof(n_rows):
    members = [("deep", DecisionTreeClassifier()), ("extra", ExtraTreesClassifier(3))]
    for seed in range(15):
        X, y, _ = noisy(seed, n_rows)
        y[:6] = [0, 1] * 3
        stack = StackingClassifier(members, "convex", cv=2, leak_check=True, random_state=seed)
        assert not stack.fit(X, y).leak_report_.leaked


def test_copies_of_rows_are_told():
    X, y, _ = noisy(0, 120)
    rows = np.tile(np.arange(120), 6)
    stack = StackingClassifier(
        [("deep", DecisionTreeClassifier())], cv=5, leak_check=True, random_state=0
    )
    groups = clone(stack).fit(X[rows], y[rows], groups=rows).leak_report_
    assert groups.twins == 0.0
    assert not groups.leaked
    report = stack.fit(X[rows], y[rows]).leak_report_
    assert report.twins > 0.9


def test_the_fallback_is_the_mean_or_the_best_member():
    X, y, z = noisy(1)
    for cls, trees, line, target in (
        (StackingClassifier, DecisionTreeClassifier, LogisticRegression, y),
        (StackingRegressor, DecisionTreeRegressor, LinearRegression, z),
    ):
        method = "predict_proba" if cls is StackingClassifier else "predict"
        a, b = trees().fit(X, target), line().fit(X, target)
        stack = cls([("deep", a), ("line", b)], cv="prefit", leak_check=True, on_leak="fallback")
        with pytest.warns(UserWarning, match="leaked"):
            stack.set_params(random_state=0).fit(X, target)
        assert stack.leak_report_.best_simple == "line"
        found = getattr(stack, method)(X)
        np.testing.assert_allclose(found, getattr(b, method)(X))
        twins = [("one", trees(max_depth=9)), ("two", trees(max_features=2, random_state=0))]
        ready = [(name, member.fit(X, target)) for name, member in twins]
        stack = cls(ready, cv="prefit", leak_check=True, on_leak="fallback", random_state=0)
        with pytest.warns(UserWarning, match="leaked"):
            stack.fit(X, target)
        assert stack.leak_report_.best_simple == "mean"
        mean = np.mean([getattr(member, method)(X) for _, member in ready], axis=0)
        np.testing.assert_allclose(getattr(stack, method)(X), mean)


def test_a_fallback_of_votes_and_scores_answers():
    X, y, _ = noisy(2)
    ready = [("deep", DecisionTreeClassifier().fit(X, y)), ("svc", LinearSVC().fit(X, y))]
    for method in ("auto", "predict"):
        stack = StackingClassifier(ready, cv="prefit", stack_method=method, leak_check=True)
        stack.set_params(on_leak="fallback", random_state=0)
        with pytest.warns(UserWarning, match="leaked"):
            stack.fit(X, y)
        assert stack.leak_report_.best_simple in ("svc", "mean")
        assert stack.predict_proba(X).shape == (300, 2)


def test_raise_raises_and_leaves_the_stack_unfitted():
    X, y, _ = noisy(0)
    stack = StackingClassifier(
        [("deep", DecisionTreeClassifier().fit(X, y))], cv="prefit", leak_check=True
    ).set_params(on_leak="raise", random_state=0)
    before = dict(vars(stack))
    with pytest.raises(ValueError, match=r"leaked.*deep"):
        stack.fit(X, y)
    assert vars(stack) == before
    with pytest.raises(NotFittedError):
        stack.predict(X)


def test_the_leak_check_takes_rare_classes_and_weights(iris):
    X, y = iris
    rare = np.r_[0:30, 50:80, 100:102]
    folds = KFold(3, shuffle=True, random_state=0)
    stack = StackingClassifier(own_classifiers(), DecisionTreeClassifier(), cv=folds)
    for seed in range(3):
        stack.set_params(leak_check=0.3, random_state=seed).fit(X[rare], y[rare])
        assert np.isfinite(stack.leak_report_.found).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = StackingClassifier(own_classifiers(), "convex", cv=2, leak_check=True)
        few.fit(X[[0, 1, 2, 50, 51, 52]], y[[0, 1, 2, 50, 51, 52]])
    assert few.leak_report_.names == ("tree", "c45", "extra", "stack")


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"final_estimator": "best"}, ValueError, "final_estimator must be .*convex.*; got 'best'"),
        ({"final_estimator": Ridge()}, ValueError, "'final_estimator' is a regressor"),
        ({"final_estimator": GaussianNB}, ValueError, "'final_estimator' should be a classifier"),
        ({"final_estimator": 3}, ValueError, "'final_estimator' should be a classifier"),
        ({"final_estimator": "convex", "passthrough": True}, ValueError, "passthrough=False"),
        ({"cv": 1}, ValueError, "cv must be .*; got 1"),
        ({"cv": 0}, ValueError, "cv must be .*; got 0"),
        ({"cv": 1.5}, ValueError, "cv must be .*; got 1.5"),
        ({"cv": "some"}, ValueError, "cv must be .*; got 'some'"),
        ({"cv": 1j}, TypeError, "cv must be .*; got 1j"),
        ({"stack_method": "guess"}, ValueError, "stack_method must be .*; got 'guess'"),
        ({"stack_method": None}, (TypeError, ValueError), "stack_method must be .*; got None"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be .*; got 0"),
        ({"passthrough": "yes"}, TypeError, "passthrough must be .*; got 'yes'"),
        ({"refit": 1}, TypeError, "refit must be .*; got 1"),
        ({"keep_level_one": None}, TypeError, "keep_level_one must be .*; got None"),
        ({"verbose": -1}, ValueError, "verbose must be .*; got -1"),
        ({"leak_check": 1.0}, ValueError, "leak_check must be .*; got 1.0"),
        ({"leak_check": 0.0}, ValueError, "leak_check must be .*; got 0.0"),
        ({"leak_check": "yes"}, TypeError, "leak_check must be .*; got 'yes'"),
        ({"on_leak": "cry"}, ValueError, "on_leak must be .*; got 'cry'"),
        ({"random_state": "luck"}, (TypeError, ValueError), "random_state must be .*; got 'luck'"),
        ({"layers": 3}, TypeError, "layers must be None or a list of layers; got 3"),
        ({"layers": "abc"}, TypeError, "layers must be None or a list of layers; got 'abc'"),
        ({"layers": [3]}, ValueError, r"layers\[0\]"),
        ({"layers": [("a", GaussianNB())]}, ValueError, r"layers\[0\]"),
        ({"layers": [[]]}, ValueError, r"layers\[0\].* non-empty"),
        ({"layers": [[("line", GaussianNB())]]}, ValueError, r"not unique: \['line'\]"),
        ({"layers": [[("cv", GaussianNB())]]}, ValueError, r"conflict.*\['cv'\]"),
        ({"layers": [[("late", Ridge())]]}, ValueError, "'late' is a regressor"),
        ({"estimators": None}, ValueError, "non-empty list"),
        ({"estimators": ()}, ValueError, "non-empty list"),
        ({"estimators": {"a": GaussianNB()}}, ValueError, "non-empty list"),
        ({"estimators": [("a", GaussianNB)]}, ValueError, "'a' should be a classifier"),
        ({"estimators": [("a", Ridge())]}, ValueError, "'a' is a regressor"),
        ({"estimators": [("a__b", GaussianNB())]}, ValueError, "must not contain __"),
        ({"estimators": [("refit", GaussianNB())]}, ValueError, r"conflict.*\['refit'\]"),
        ({"estimators": [("a", "drop")]}, ValueError, "All estimators are dropped"),
        (
            {"estimators": [("a", LinearSVC())], "stack_method": "predict_proba"},
            ValueError,
            "a does not implement the method predict_proba",
        ),
    ],
    ids=repr,
)
def test_wrong_parameters_are_named(options, kind, message, iris):
    stack = StackingClassifier(**{"estimators": classifiers()} | options)
    repr(stack)
    with pytest.raises(kind, match=message):
        stack.fit(*iris)
    assert not hasattr(stack, "estimators_")


def test_wrong_rows_are_refused(iris):
    X, y = iris
    stack = StackingClassifier(own_classifiers(), cv=2)
    with pytest.raises(NotFittedError):
        stack.predict(X)
    with pytest.raises(NotFittedError):
        stack.get_feature_names_out()
    with pytest.raises(ValueError, match="2 columns"):
        stack.fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="2 columns"):
        StackingRegressor(regressors()).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"inconsistent|rows"):
        stack.fit(X, y[:-1])
    for weights, message in (
        (np.ones(3), "sample_weight"),
        (-np.ones(150), "Negative"),
        (np.full(150, np.nan), "NaN"),
        (np.zeros(150), "non-zero"),
    ):
        with pytest.raises(ValueError, match=message):
            stack.fit(X, y, weights)
    for groups, message in ((np.arange(3), "groups"), ([None] * 150, "groups"), (0, "groups")):
        with pytest.raises(ValueError, match=message):
            stack.fit(X, y, groups=groups)
    with pytest.raises(TypeError, match="near does not support sample weights"):
        StackingClassifier(classifiers()).fit(X, y, np.arange(150) + 1)
    near = StackingClassifier(own_classifiers(), KNeighborsClassifier())
    with pytest.raises(TypeError, match="final_estimator does not support sample weights"):
        near.fit(X, y, np.arange(150) + 1)
    with pytest.raises(ValueError, match="trains on"):
        stack.set_params(cv=[(np.arange(150), np.arange(9))]).fit(X, y)
    with pytest.raises(ValueError, match="no rows for layer 2"):
        StackingClassifier(
            own_classifiers(),
            layers=[[("late", DecisionTreeClassifier())]],
            cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))],
        ).fit(X, y)
    with pytest.raises(NotFittedError):
        StackingClassifier(classifiers(), cv="prefit").fit(X, y)


def test_the_smallest_tables():
    one = StackingClassifier(own_classifiers(), DecisionTreeClassifier(), cv=2)
    assert one.fit([[1.0], [2.0]], ["a", "a"]).predict([[3.0]]).tolist() == ["a"]
    assert one.predict_proba([[3.0]]).tolist() == [[1.0]]
    convex = StackingClassifier(own_classifiers(), "convex", cv=2)
    assert convex.fit([[1.0], [2.0]], ["a", "a"]).predict([[3.0]]).tolist() == ["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        two = StackingClassifier(own_classifiers(), DecisionTreeClassifier(), cv="loo")
        assert two.fit([[1.0], [2.0]], ["a", "b"]).predict([[3.0]])[0] in ("a", "b")
    number = StackingRegressor([("t", DecisionTreeRegressor())], "convex", cv=2)
    assert number.fit([[1.0], [2.0]], [1.0, 2.0]).predict([[2.0]]).tolist() == [2.0]
    with pytest.raises(ValueError, match="5 parts, but there are only 2 rows"):
        StackingRegressor([("t", DecisionTreeRegressor())]).fit([[1.0], [2.0]], [1.0, 2.0])


ONE_CLASS_SCHEMES = [None, 3, 0.3, "loo", "time", "oob", KFold(3), TimeSeriesSplit(3)]


@pytest.mark.parametrize("cv", [*ONE_CLASS_SCHEMES, [(range(20), range(20, 30))]], ids=repr)
def test_one_class_is_told_by_members_that_take_it_and_named_if_one_does_not(cv, iris):
    X, y = iris[0][:30], np.full(30, "only")
    members = [*own_classifiers(), ("bayes", GaussianNB())]
    for final in ("convex", DecisionTreeClassifier(), KNeighborsClassifier()):
        stack = StackingClassifier(members, final, cv=cv, random_state=0).fit(X, y)
        assert stack.predict(X).tolist() == y.tolist()
        assert stack.predict_proba(X).tolist() == [[1.0]] * 30
    with pytest.raises(ValueError, match="y has 1 class, 'only', and the final_estimator"):
        StackingClassifier(members, cv=cv).fit(X, y)  # logistic regression takes two
    members.append(("line", LogisticRegression()))
    with pytest.raises(ValueError, match="y has 1 class, 'only', and the member 'line'") as caught:
        StackingClassifier(members, "convex", cv=cv).fit(X, y)
    assert "at least 2 classes" in str(caught.value)
    with pytest.raises(ValueError, match="at least 2 classes"):  # nor do theirs
        sklearn.ensemble.StackingClassifier(members, GaussianNB()).fit(X, y)


def test_a_fold_of_one_class_is_told(iris):
    X, y = iris
    stack = StackingClassifier([("line", LogisticRegression())], cv=KFold(2))
    with pytest.raises(ValueError, match="at least 2 classes") as caught:
        stack.fit(X[:100], y[:100])
    assert "'line', fitted to 50 rows of 1 class" in "".join(caught.value.__notes__)


def test_two_columns_of_a_member_that_knows_one_class_are_one(iris):
    """As XGBoost's classifiers have them, which take one class for the first of two."""

    class TwoColumns(WantsAllCodes):
        def fit(self, X, y, sample_weight=None):
            self.is_single_ = not np.any(y)
            if not self.is_single_:
                return super().fit(X, y, sample_weight)
            self.classes_ = np.array([0])
            return self

        def predict_proba(self, X):
            return np.tile([0.9, 0.1], (len(X), 1)) if self.is_single_ else super().predict_proba(X)

    X, y = iris
    options = {"final_estimator": "convex", "keep_level_one": True}
    alone = StackingClassifier([("two", TwoColumns())], **options).fit(X, np.full(150, "a"))
    assert alone.predict_proba(X).tolist() == [[1.0]] * 150
    folds = StackingClassifier([("two", TwoColumns())], cv=KFold(2), **options)
    folds.fit(X[:100], y[:100])  # who is asked about a class knows the other
    assert folds.level_one_[:, 0].tolist() == [1.0] * 50 + [0.0] * 50


def test_seeds_reach_members_that_have_none(diabetes):
    X, y = diabetes
    fixed = RandomForestRegressor(3, random_state=7)
    members = [("free", RandomForestRegressor(3)), ("fixed", fixed)]
    first, second = (StackingRegressor(members, cv=2, random_state=s).fit(X, y) for s in (1, 2))
    assert (first.transform(X)[:, 0] != second.transform(X)[:, 0]).any()
    np.testing.assert_array_equal(first.transform(X)[:, 1], second.transform(X)[:, 1])


def test_what_members_say_becomes_columns():
    X = np.array([[0.9, 0.1, 4.0], [0.2, 0.8, 5.0]] * 6)
    stack = StackingClassifier([("says", Says(0))], cv=2).fit(X, [0, 1] * 6)
    assert stack.transform(X)[:2].tolist() == [[0.1], [0.8]]
    numbers = StackingRegressor([("says", SaysNumber(2))], RidgeCV(), cv=2).fit(X, X[:, 2])
    assert numbers.transform(X)[:2].tolist() == [[4.0], [5.0]]


# --- several labels a row ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def label_sets():
    """A table whose rows have some of three labels."""
    return make_multilabel_classification(120, 6, n_classes=3, random_state=0)


@pytest.mark.parametrize("method", ["auto", "predict"])
@pytest.mark.parametrize("passthrough", [False, True])
def test_several_labels_are_scikit_learns(method, passthrough, label_sets):
    X, y = label_sets
    members = [
        ("forest", sklearn.ensemble.RandomForestClassifier(10, random_state=0)),
        ("near", KNeighborsClassifier(5)),
        ("ridge", RidgeClassifier()),
    ]
    final = sklearn.ensemble.RandomForestClassifier(10, random_state=1)
    options = {"stack_method": method, "passthrough": passthrough, "cv": 3}
    theirs = sklearn.ensemble.StackingClassifier(members, final, **options).fit(X, y)
    ours = StackingClassifier(members, final, **options).fit(X, y)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-15)
    assert ours.stack_method_ == list(theirs.stack_method_)
    assert ours.score(X, y) == theirs.score(X, y)
    for own, other in zip(ours.classes_, theirs.classes_, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"refit": False},
        {"refit": False, "stack_method": "predict"},
        {"stack_method": "log_odds"},
        {"cv": 0.4},
        {"layers": [[("near", KNeighborsClassifier(5))]]},
    ],
)
def test_several_labels_with_members_of_this_library(options, label_sets, tmp_path):
    X, y = label_sets
    members = [
        ("forest", RandomForestClassifier(10, random_state=0)),
        ("extra", ExtraTreesClassifier(10, random_state=0)),
    ]
    stack = StackingClassifier(members, RandomForestClassifier(10, random_state=0), **options)
    stack.fit(X[:80], y[:80])
    told = stack.predict(X[80:])
    assert told.shape == (40, 3)
    by_chance = (y[80:] == y[:80].mean(axis=0).round()).mean()
    assert (told == y[80:]).mean() > by_chance
    shares = stack.predict_proba(X[80:])
    np.testing.assert_array_equal(told[shares > 0.5], 0)  # of the first value
    if "layers" not in options:
        committee.save(stack, tmp_path / "stack.committee")
        again = committee.load(tmp_path / "stack.committee")
        np.testing.assert_array_equal(again.predict_proba(X), stack.predict_proba(X))


def test_part_of_a_team_keeps_what_its_labels_stand_for(label_sets):
    X, y = label_sets
    values = [np.array(["no", "yes"])] * 3
    fit_params = {"forest": {"shift": np.arange(120)}}
    team = Team(AnyTable(X), y, None, np.arange(120.0), 2, 7, fit_params, values)
    rows = np.arange(10, 20)
    part = team.part(rows, AnyTable(X[rows]))
    assert part.values is values
    assert (part.labels, part.n_jobs, part.seed) == (None, 2, 7)
    np.testing.assert_array_equal(part.y, y[rows])
    np.testing.assert_array_equal(part.weights, rows)
    np.testing.assert_array_equal(part.fit_params["forest"]["shift"], rows)
    assert part.shared.source.n_rows == 10


def test_several_labels_take_a_leak_check_of_numpys_false(label_sets):
    X, y = label_sets
    forest = RandomForestClassifier(3, random_state=0)
    StackingClassifier([("forest", forest)], forest, leak_check=np.False_).fit(X, y)


def test_a_label_that_a_fold_lacks(label_sets):
    X, y = label_sets
    y = y.copy()
    y[:, 0] = np.arange(120) < 40  # in the first part only
    stack = StackingClassifier(
        [("forest", RandomForestClassifier(10, random_state=0))],
        RandomForestClassifier(10, random_state=0),
        cv=PredefinedSplit(np.arange(120) // 40),
        keep_level_one=True,
    ).fit(X, y)
    np.testing.assert_array_equal(stack.level_one_[:40, 0], 0)
    assert stack.level_one_[40:80, 0].max() > 0


def test_what_does_not_go_with_several_labels(label_sets):
    X, y = label_sets
    forest = RandomForestClassifier(3, random_state=0)
    members = [("forest", forest)]
    with pytest.raises(ValueError, match="final_estimator must be given for a y with several"):
        StackingClassifier(members).fit(X, y)
    for name, options in {
        'final_estimator="convex"': {"final_estimator": "convex"},
        "leak_check": {"final_estimator": forest, "leak_check": True},
        'cv="oob"': {"final_estimator": forest, "cv": "oob"},
    }.items():
        with pytest.raises(ValueError, match=f"{name} takes a y with one class for each row"):
            StackingClassifier(members, **options).fit(X, y)
    stack = StackingClassifier(members, forest).fit(X, y)
    with pytest.raises(TypeError, match="ensemble must predict the mean"):
        committee.prune_ensemble(stack, X, y)
    with pytest.raises(ValueError, match="y should be a 1d array, got 3 columns"):
        StackingClassifier(members, forest).fit(X, y + np.arange(120)[:, np.newaxis] % 3)


def test_stacks_of_stacks_tell_of_several_labels(label_sets):
    X, y = label_sets
    inner = StackingClassifier(
        [("near", KNeighborsClassifier(5))], RandomForestClassifier(10, random_state=1), cv=3
    )
    for other in (
        inner,
        sklearn.ensemble.StackingClassifier(inner.estimators, inner.final_estimator),
    ):
        forest = [("forest", RandomForestClassifier(10, random_state=0))]
        above = StackingClassifier(forest, other, cv=3).fit(X, y)
        shares, told = above.predict_proba(X), above.predict(X)
        np.testing.assert_array_equal(told[shares > 0.5], 0)
        below = StackingClassifier(
            [("stack", other)], RandomForestClassifier(10, random_state=0), keep_level_one=True
        ).fit(X, y)
        for label in range(3):
            assert np.corrcoef(below.level_one_[:, label], y[:, label])[0, 1] > 0.1


def test_fitted_members_may_have_other_values_of_labels(label_sets):
    X, y = label_sets
    final = RandomForestClassifier(10, random_state=0)
    plain = StackingClassifier(
        [("near", KNeighborsClassifier(5).fit(X, y))], final, cv="prefit"
    ).fit(X, y)
    for values in ((0, 255), (-1, 0), (1, 2), (False, True)):
        other = np.array(values)[y]
        for method in ("auto", "predict"):
            near = KNeighborsClassifier(5).fit(X, other)
            stack = StackingClassifier([("near", near)], final, cv="prefit", stack_method=method)
            stack.fit(X, other)
            expected = near.predict(X) == values[1] if method == "predict" else plain.transform(X)
            np.testing.assert_array_equal(stack.transform(X), expected)
            assert set(np.unique(stack.predict(X))) == set(values)
    few = KNeighborsClassifier(5).fit(X, y[:, :2])
    with pytest.raises(ValueError, match="a member tells of 2 labels, and y of 3"):
        StackingClassifier([("near", few)], final, cv="prefit").fit(X, y)


@pytest.mark.parametrize(
    "make",
    [
        lambda y: y.tolist(),
        lambda y: y.astype(float),
        lambda y: y.astype(object),
        lambda y: pd.DataFrame({"a": y[:, 0] > 0, "b": y[:, 1], "c": y[:, 2]}),
        lambda y: pd.DataFrame(y).astype("Int64"),
    ],
)
def test_several_labels_in_any_clothes(make, label_sets):
    X, y = label_sets
    members = [("forest", RandomForestClassifier(5, random_state=0))]
    stack = StackingClassifier(members, RandomForestClassifier(5, random_state=0), random_state=0)
    expected = clone(stack).fit(X, y).predict(X)
    np.testing.assert_array_equal(stack.fit(X, make(y)).predict(X), expected)


def test_targets_that_are_no_label_sets_are_told_as_before(iris):
    X, y = iris
    members = [("tree", DecisionTreeClassifier())]
    with pytest.raises(ValueError, match="y must be a 1d array or have rows of the same length"):
        StackingClassifier(members).fit(X, [[0, 1]] * 149 + [[0]])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        StackingClassifier(members).fit(X, np.column_stack([np.where(y, y, np.nan), y]))


def test_a_loaded_stack_of_several_labels_is_checked(label_sets):
    X, y = label_sets
    members = [("forest", RandomForestClassifier(5, random_state=0))]
    good = StackingClassifier(members, RandomForestClassifier(5, random_state=0)).fit(X, y)
    good._validate_loaded()
    two = np.array([0, 1])
    for classes in ([0, 1, 2], ["a", "b", "c"], [two[:0]] * 3, [two] * 2, [two[:1]] * 3, two):
        bad = copy.copy(good)
        bad.classes_ = classes
        with pytest.raises((ValueError, TypeError)):
            bad._validate_loaded()
    for output in (Output("predict_proba", 3), Output("predict_proba", 0, n_labels=2)):
        bad = copy.copy(good)
        bad._outputs = [[output]]
        with pytest.raises(ValueError, match="members speak of another number of classes"):
            bad._validate_loaded()
    bad = copy.copy(good)
    bad.final_estimator_ = clone(good.final_estimator_).fit(good.transform(X), y * 2)
    with pytest.raises(ValueError, match="the meta-learner has learnt other values of a label"):
        bad._validate_loaded()


def test_what_a_fitted_stack_asks_does_not_change(iris, tmp_path):
    X, y = iris
    stack = StackingClassifier([("tree", DecisionTreeClassifier(max_depth=2))]).fit(X, y)
    told = stack.predict_proba(X)
    stack.set_params(stack_method="log_odds")
    np.testing.assert_array_equal(stack.predict_proba(X), told)
    committee.save(stack, tmp_path / "stack.committee")
    again = committee.load(tmp_path / "stack.committee")
    np.testing.assert_array_equal(again.predict_proba(X), told)


def test_the_leak_check_takes_splits_of_these_very_rows(iris):
    X, y = iris
    folds = np.arange(150) % 3
    members = [("tree", DecisionTreeClassifier(max_depth=2))]
    options = {"leak_check": True, "random_state": 0}
    one = StackingClassifier(members, cv=PredefinedSplit(folds), **options).fit(X, y)
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    two = StackingClassifier(members, cv=splits, **options).fit(X, y)
    np.testing.assert_array_equal(one.leak_report_.found, two.leak_report_.found)
