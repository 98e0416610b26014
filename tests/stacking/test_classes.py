"""Stacks beside naive loops, convex weights, and classes that some rows lack."""

import pickle

import numpy as np
import pytest
import sklearn
import sklearn.ensemble
from sklearn.base import clone
from sklearn.linear_model import (
    LogisticRegression,
)
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from team_tools import WantsAllCodes, classifiers, own_classifiers, regressors

from committee import (
    DecisionTreeClassifier,
    StackingClassifier,
    StackingRegressor,
)
from committee.combining.convex_weights import blend_weights, mixture_weights
from committee.members.training import fit_estimator

# --- naive loops ----------------------------------------------------------------------------------


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
            missing = 0.0 if method == "predict_proba" else told.min(axis=1)
            expected = np.tile(np.broadcast_to(missing, len(told))[:, None], n_classes)
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
    splits = [(rows % 3 > 0, (rows % 3 == 0) & (y != "b"))]  # no prediction of a row of class b
    stack = StackingClassifier(classifiers(), WantsAllCodes(), cv=splits).fit(X, y)
    usual = StackingClassifier(classifiers(), LogisticRegression(), cv=splits).fit(X, y)
    np.testing.assert_array_equal(stack.predict_proba(X), usual.predict_proba(X))
    np.testing.assert_array_equal(stack.predict(X), usual.predict(X))


def test_errors_that_codes_are_not_to_blame_for_are_those_of_the_first_try(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"Invalid classes: \[0 2\]"):
        fit_estimator(WantsAllCodes("some"), X[y != 1], y[y != 1], {}, is_classifier=True)
    with pytest.raises(ValueError, match="class_weight"):
        fit_estimator(WantsAllCodes("some"), X, y, {}, is_classifier=True)


# --- what is refused ------------------------------------------------------------------------------


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
    folds.fit(X[:100], y[:100])  # the member that predicts a class knows the other
    assert folds.level_one_[:, 0].tolist() == [1.0] * 50 + [0.0] * 50
