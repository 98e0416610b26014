"""Weights of members and of rows in voting."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from team_tools import classifiers, own_classifiers

from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    VotingClassifier,
    VotingRegressor,
)
from committee.combining.convex_weights import blend_weights, mixture_weights

RULES = ["hard", "plurality", "majority", "soft", "confidence", "weighted"]


# --- weights --------------------------------------------------------------------------------------


def log_loss_of(weights, shares, rows):
    return -np.average(np.log(np.maximum(shares @ weights, 1e-300)), weights=rows)


@pytest.mark.parametrize("case", range(6))
def test_mixture_weights_are_the_best(case, rng):
    rng = np.random.default_rng([case, 1])
    n_members = [2, 3, 4, 3, 5, 2][case]
    shares = rng.beta(2, 1, size=(200, n_members))
    if case == 3:
        shares[::10, 0] = 0.0  # sure and wrong
    if case == 4:
        shares[:, 1] = shares[:, 0] * (1 + 1e-6 * rng.normal(size=200))  # nearly twins
    if case == 5:
        shares = 1e-8 * shares
    rows = rng.uniform(0, 2, 200) if case % 2 else np.ones(200)
    found = mixture_weights(shares, rows if case % 2 else None)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    starts = [np.full(n_members, 1 / n_members), *np.eye(n_members) * 0.8 + 0.2 / n_members]
    best = min(
        minimize(
            log_loss_of,
            start,
            (np.maximum(shares, 1e-15), rows),
            "SLSQP",
            bounds=[(0, 1)] * n_members,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        ).fun
        for start in starts
    )
    ours = log_loss_of(found, np.maximum(shares, 1e-15), rows)
    assert ours <= best + 1e-6


@pytest.mark.parametrize("scale", [1.0, 1e9, 1e-9, 1e-160, 1e150])
@pytest.mark.parametrize("kind", ["plain", "heavy tails", "one far off", "twins", "one perfect"])
def test_blend_weights_are_the_best(kind, scale, rng):
    y = rng.normal(size=300)
    errors = rng.normal(size=(300, 4)) * [1.0, 0.7, 1.3, 2.0] + [0.3, -0.5, 0, 1]
    if kind == "heavy tails":
        y = rng.standard_cauchy(size=300) * 100
        errors = errors * rng.standard_cauchy(size=(300, 1))
    if kind == "one far off":
        errors[:, 3] *= 1e9
    if kind == "twins":
        errors[:, 1] = errors[:, 0]
    if kind == "one perfect":
        errors[:, 2] = 0.0
    rows = rng.uniform(0.1, 2, 300)
    values = y[:, None] + errors
    errors = values - y[:, None]  # as rounded
    found = blend_weights(values * scale, y * scale, rows)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    gram = (errors * rows[:, None]).T @ errors / rows.sum()

    def best_of(places):
        """The best weights of some members: a linear system, kept if none is negative."""
        part = gram[np.ix_(places, places)]
        w = np.linalg.pinv(part / np.trace(part)) @ np.ones(len(places)) if part.any() else [1.0]
        w = np.asarray(w) / np.sum(w)
        return w @ part @ w if w.min() >= 0 else np.inf

    subsets = [list(s) for n in range(1, 5) for s in itertools.combinations(range(4), n)]
    best = min(best_of(s) for s in subsets)
    assert found @ gram @ found <= best * (1 + 1e-6) + 1e-30


def test_learnt_weights_are_judged_by_rows_that_members_have_not_seen(iris):
    X, y = iris
    folds = [(np.flatnonzero(np.arange(150) % 3 != k), np.arange(k, 150, 3)) for k in range(3)]
    members = [("near", KNeighborsClassifier(1)), ("bayes", GaussianNB())]
    members.append(("dummy", DummyClassifier()))
    predicted = np.zeros((3, 150), int)
    shares = np.zeros((3, 150, 3))
    for train, test in folds:
        for k, (_, member) in enumerate(members):
            fitted = clone(member).fit(X[train], y[train])
            predicted[k, test] = fitted.predict(X[test])
            shares[k, test] = fitted.predict_proba(X[test])
    right = (predicted == y).mean(axis=1)
    accuracy = VotingClassifier(members, weights="accuracy", cv=folds).fit(X, y).weights_
    np.testing.assert_allclose(accuracy, right / right.sum())
    error = ((1 - right) * 150 + 0.5) / 151  # half a wrong row, so that nobody decides alone
    odds = np.maximum(np.log((1 - error) / error) + math.log(2), 1e-6)
    for options in ({"weights": "log_odds"}, {"voting": "weighted"}):
        found = VotingClassifier(members, cv=folds, **options).fit(X, y).weights_
        np.testing.assert_allclose(found, odds / odds.sum(), atol=1e-9)
    soft = VotingClassifier(members, voting="soft", weights="learned", cv=folds).fit(X, y).weights_
    np.testing.assert_allclose(soft, mixture_weights(shares[:, np.arange(150), y].T), atol=1e-12)
    hard = VotingClassifier(members, weights="learned", cv=folds).fit(X, y).weights_
    votes = np.eye(3)[predicted].transpose(1, 2, 0).reshape(-1, 3)
    np.testing.assert_allclose(hard, blend_weights(votes, np.eye(3)[y].ravel()), atol=1e-12)


def test_members_that_are_all_perfect_or_all_useless_count_alike(iris, rng):
    X, y = iris
    twins = [("a", DecisionTreeClassifier()), ("b", DecisionTreeClassifier())]
    for rule in ("accuracy", "log_odds", "learned"):
        for labels in (y, rng.permutation(y)):
            model = VotingClassifier(twins, weights=rule, cv=2).fit(X, labels)
            if rule != "learned":  # whichever of twins is taken is as good
                np.testing.assert_allclose(model.weights_, 0.5)
            assert model.weights_.sum() == pytest.approx(1)
    for target in (np.zeros(20), np.full(20, 1e300), np.arange(20.0) * 1e200):
        for rule in ("inverse_error", "learned"):
            members = [("a", DummyRegressor()), ("b", DummyRegressor(strategy="median"))]
            model = VotingRegressor(members, weights=rule, cv=2).fit(np.zeros((20, 1)), target)
            assert np.isfinite(model.predict([[0.0]])).all()
            assert model.weights_.sum() == pytest.approx(1)


def own_team(rule):
    return VotingClassifier(
        [
            ("tree", DecisionTreeClassifier(max_depth=3)),
            ("stump", DecisionTreeClassifier(max_depth=1)),
        ],
        **rule,
    )


@pytest.mark.parametrize(
    "rule",
    [{"voting": v} for v in RULES]
    + [{"weights": w} for w in ("accuracy", "log_odds", "learned")]
    + [{"voting": "soft", "weights": "learned", "combine": "trimmed"}, {"tie_break": "prior"}],
    ids=repr,
)
def test_a_row_of_weight_two_is_the_row_twice_and_of_weight_zero_absent(rule, iris, rng):
    X, y = iris
    counts = rng.integers(0, 3, len(y))
    twice = np.repeat(np.arange(len(y)), counts)
    folds = rng.integers(0, 3, len(y))
    weighted = own_team(rule | {"cv": PredefinedSplit(folds)}).fit(X, y, counts)
    repeated = own_team(rule | {"cv": PredefinedSplit(folds[twice])}).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_allclose(weighted.class_prior_, repeated.class_prior_)


@pytest.mark.parametrize("weights", [None, "inverse_error", "learned"])
def test_weights_of_rows_are_repetitions_for_numbers(weights, diabetes, rng):
    X, y = diabetes
    counts = rng.integers(0, 3, len(y))
    twice = np.repeat(np.arange(len(y)), counts)
    folds = rng.integers(0, 3, len(y))
    deep, flat = DecisionTreeRegressor(max_depth=4), DecisionTreeRegressor(max_depth=1)
    members = [("deep", deep), ("flat", flat)]
    one = VotingRegressor(members, weights=weights, cv=PredefinedSplit(folds)).fit(X, y, counts)
    two = VotingRegressor(members, weights=weights, cv=PredefinedSplit(folds[twice]))
    two.fit(X[twice], y[twice])
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8)
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-8)


@pytest.mark.parametrize("combine_by", ["mean", "median", "trimmed", "geometric"])
def test_a_member_of_weight_zero_is_absent(combine_by, iris):
    X, y = iris
    options = {"voting": "soft", "combine": combine_by}
    all_three = VotingClassifier(classifiers(), weights=[1, 0, 2], **options).fit(X, y)
    two = VotingClassifier(classifiers()[::2], weights=[1, 2], **options).fit(X, y)
    np.testing.assert_allclose(all_three.predict_proba(X), two.predict_proba(X), atol=1e-15)


# --- what is refused ------------------------------------------------------------------------------


def test_classes_that_a_fold_lacks_are_unlikely(iris):
    X, y = iris
    rare = np.r_[0:60, 100]
    model = VotingClassifier(own_classifiers(), voting="soft", weights="learned", cv=5)
    with pytest.warns(UserWarning, match="least populated"):
        model.fit(X[rare], y[rare])
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(model.weights_).all()
    kfold = VotingClassifier(classifiers(), voting="soft", weights="learned", cv=KFold(3))
    kfold.fit(X, y)  # each fold lacks a class
    np.testing.assert_allclose(kfold.predict_proba(X).sum(axis=1), 1)
