"""The check of fitted members that have seen the rows they are stacked on."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
)
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
)
from sklearn.svm import LinearSVC
from team_tools import own_classifiers

from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    StackingClassifier,
    StackingRegressor,
)

# --- the leak check -------------------------------------------------------------------------------


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


# --- several labels a row -------------------------------------------------------------------------


def test_the_leak_check_takes_splits_of_these_very_rows(iris):
    X, y = iris
    folds = np.arange(150) % 3
    members = [("tree", DecisionTreeClassifier(max_depth=2))]
    options = {"leak_check": True, "random_state": 0}
    one = StackingClassifier(members, cv=PredefinedSplit(folds), **options).fit(X, y)
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    two = StackingClassifier(members, cv=splits, **options).fit(X, y)
    np.testing.assert_array_equal(one.leak_report_.found, two.leak_report_.found)
