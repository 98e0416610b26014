"""Voting and threads, failed fits, raw tables, names of columns, what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from team_tools import classifiers, own_classifiers, regressors

from committee import (
    DecisionTreeClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
    VotingRegressor,
)

RULES = ["hard", "plurality", "majority", "soft", "confidence", "weighted"]


# --- promises -------------------------------------------------------------------------------------


def test_results_do_not_depend_on_workers_and_members_keep_theirs(iris):
    X, y = iris
    members = [
        ("forest", RandomForestClassifier(5, n_jobs=7)),
        ("tree", DecisionTreeClassifier(max_features=2, n_jobs=None)),
        ("near", KNeighborsClassifier(3, n_jobs=2)),
        ("line", LogisticRegression()),
    ]
    found = [
        VotingClassifier(members, voting="soft", weights="learned", n_jobs=n, random_state=3, cv=3)
        .fit(X, y)
        for n in (1, 2, 1)
    ]  # fmt: skip
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(found[0].weights_, other.weights_)
    assert [m.get_params().get("n_jobs") for m in found[1].estimators_[:3]] == [7, None, 2]
    assert members[0][1].random_state is None
    other = clone(found[0]).set_params(random_state=4).fit(X, y)
    assert (other.predict_proba(X) != found[0].predict_proba(X)).any()


def test_progress_is_told_if_asked(iris, capfd):
    VotingClassifier(own_classifiers()).fit(*iris)
    assert capfd.readouterr() == ("", "")
    VotingClassifier(own_classifiers(), weights="accuracy", cv=2, verbose=2).fit(*iris)
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 9
    assert told[-1].startswith("VotingClassifier: 9 of 9 fits")


def test_a_failed_fit_leaves_the_committee_as_it_was(iris):
    X, y = iris
    model = VotingClassifier(classifiers()).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2, np.nan, X), y)
    assert vars(model) == before


def test_columns_are_matched_by_name(iris):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    for members in (classifiers(), own_classifiers()):
        model = VotingClassifier(members).fit(frame, iris[1])
        expected = model.predict(frame)
        np.testing.assert_array_equal(model.predict(frame[list("dbca")]), expected)
        np.testing.assert_array_equal(model.predict(pl.DataFrame(frame.to_dict("list"))), expected)
        with pytest.raises(ValueError, match=r"(?s)unseen.*e.*missing.*a"):
            model.predict(frame.rename(columns={"a": "e"}))
        with pytest.raises(ValueError, match="missing"):
            model.predict(frame[list("abc")])
        with pytest.warns(UserWarning, match="feature names"):
            model.predict(frame.to_numpy())
        with pytest.raises(ValueError, match="3 features"):
            model.predict(frame.to_numpy()[:, :3])


def test_raw_tables_reach_own_members():
    X = pl.DataFrame({"a": ["x", "y", None, "x"] * 10, "b": [1.0, None, 3.0, 4.0] * 10})
    y = ["p", "q", "q", "p"] * 10
    for rule in RULES:
        model = VotingClassifier(own_classifiers(), voting=rule, cv=2).fit(X, y)
        assert model.score(X, y) == 1.0
        assert model.feature_names_in_.tolist() == ["a", "b"]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"voting": "loud"}, ValueError, "voting must be .*soft.*; got 'loud'"),
        ({"voting": 3}, (TypeError, ValueError), "voting must be .*; got 3"),
        ({"weights": "mine"}, ValueError, "weights must be .*accuracy.*; got 'mine'"),
        ({"weights": [1, 2]}, ValueError, "weights must be equal; got 2 weights, 3 estimators"),
        ({"weights": [1, -2, 1]}, ValueError, "weights must be finite, not negative"),
        ({"weights": [1, np.nan, 1]}, ValueError, "weights must be finite"),
        ({"weights": [0, 0, 0]}, ValueError, "not all zero"),
        ({"weights": ["a", "b", "c"]}, ValueError, "weights"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be .*; got 0"),
        ({"n_jobs": 1.5}, TypeError, "n_jobs must be .*; got 1.5"),
        ({"flatten_transform": "yes"}, TypeError, "flatten_transform must be .*; got 'yes'"),
        ({"verbose": -1}, ValueError, "verbose must be .*; got -1"),
        ({"verbose": "much"}, TypeError, "verbose must be .*; got 'much'"),
        ({"combine": "sum"}, ValueError, "combine must be .*median.*; got 'sum'"),
        ({"combine": "median"}, ValueError, "combine='median' is for voting"),
        ({"trim": 0.5}, ValueError, r"trim must be .*0.5\); got 0.5"),
        ({"trim": "a"}, TypeError, "trim must be .*; got 'a'"),
        ({"tie_break": "coin"}, ValueError, "tie_break must be .*; got 'coin'"),
        ({"tie_break": "abstain"}, ValueError, "abstain_label"),
        ({"cv": 1}, ValueError, "cv must be .*; got 1"),
        ({"cv": "many"}, ValueError, "cv must be .*; got 'many'"),
        ({"cv": 1.5}, ValueError, "cv must be .*; got 1.5"),
        ({"cv": 1j}, TypeError, "cv must be .*; got 1j"),
        ({"random_state": "luck"}, (TypeError, ValueError), "random_state must be .*; got 'luck'"),
        ({"estimators": []}, ValueError, "non-empty list"),
        ({"estimators": None}, ValueError, "non-empty list"),
        ({"estimators": 3}, ValueError, "non-empty list"),
        ({"estimators": [GaussianNB()]}, ValueError, r"entry GaussianNB\(\)"),
        ({"estimators": [("a", GaussianNB(), 1)]}, ValueError, "entry"),
        ({"estimators": [(1, GaussianNB())]}, ValueError, "string"),
        ({"estimators": [("a", GaussianNB)]}, ValueError, "'a' should be a classifier"),
        ({"estimators": [("a", StandardScaler())]}, ValueError, "'a' should be a classifier"),
        ({"estimators": [("a", Ridge())]}, ValueError, "'a' is a regressor"),
        ({"estimators": [("a__b", GaussianNB())]}, ValueError, "must not contain __: got 'a__b'"),
        ({"estimators": [("trim", GaussianNB())]}, ValueError, r"conflict.*\['trim'\]"),
        ({"estimators": [("a", "drop")]}, ValueError, "All estimators are dropped"),
        (
            {"estimators": [("a", GaussianNB()), ("a", GaussianNB())]},
            ValueError,
            r"not unique: \['a'\]",
        ),
        ({"estimators": [("a", LinearSVC())], "voting": "soft"}, ValueError, "a .*predict_proba"),
        ({"estimators": [("a", LinearSVC())], "tie_break": "soft"}, ValueError, "predict_proba"),
    ],
    ids=repr,
)
def test_wrong_parameters_of_a_classifier_are_named(options, kind, message, iris):
    model = VotingClassifier(**{"estimators": classifiers()} | options)
    repr(model)
    with pytest.raises(kind, match=message):
        model.fit(*iris)
    assert not hasattr(model, "estimators_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "accuracy"}, "weights must be .*inverse_error.*; got 'accuracy'"),
        ({"combine": "harmonic"}, "combine must be"),
        ({"estimators": [("a", GaussianNB())]}, "'a' is a classifier"),
        ({"weights": np.ones((3, 1))}, "weights"),
    ],
    ids=repr,
)
def test_wrong_parameters_of_a_regressor_are_named(options, message, diabetes):
    with pytest.raises(ValueError, match=message):
        VotingRegressor(**{"estimators": regressors()} | options).fit(*diabetes)


def test_wrong_rows_are_refused(iris, diabetes):
    X, y = iris
    model = VotingClassifier(own_classifiers())
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="2 columns"):
        model.fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="2 columns"):
        VotingRegressor(regressors()).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"inconsistent|rows"):
        model.fit(X, y[:-1])
    for weights, message in (
        (np.ones(3), "sample_weight"),
        (-np.ones(150), "Negative"),
        (np.full(150, np.nan), "NaN"),
        (np.zeros(150), "non-zero"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, weights)
    with pytest.raises(ValueError, match="groups"):
        model.set_params(weights="accuracy").fit(X, y, groups=[1, 2])
    with pytest.raises(TypeError, match="does not support sample weights: fit of 'near'"):
        VotingClassifier(classifiers()).fit(X, y, np.arange(150) + 1)
    with pytest.raises(ValueError, match="rows that it also trains on"):
        model.set_params(weights="accuracy", cv=[(np.arange(150), np.arange(9))]).fit(X, y)
    with pytest.raises(ValueError, match=r"(?s)NaN.*member 'line'") as caught:
        VotingClassifier(classifiers()).fit(np.where(X > 2, np.nan, X), y)
    assert "member 'line'" in str(caught.value) + str(caught.value.__notes__)


def test_the_smallest_tables(iris):
    one = VotingClassifier(own_classifiers()).fit([[1.0], [2.0]], ["a", "a"])
    assert one.predict([[5.0]]).tolist() == ["a"]
    assert one.predict_proba([[5.0]]).tolist() == [[1.0]]
    told = one.explain_vote([[5.0]])
    assert (told.prediction, told.runner_up, told.flips) == ("a", None, ())
    two = VotingClassifier(own_classifiers(), voting="soft").fit([[1.0], [2.0]], ["a", "b"])
    assert two.predict_proba([[1.0]]).sum() == pytest.approx(1)
    single = VotingRegressor([("t", GradientBoostingRegressor(n_estimators=2))]).fit([[1.0]], [2.0])
    assert single.predict([[3.0]]).tolist() == [2.0]
    with pytest.warns(UserWarning, match="2 folds and not into 5: there are only 2 rows"):
        VotingClassifier(own_classifiers(), weights="accuracy").fit([[1.0], [2.0]], ["a", "b"])
