"""Predictions of no rows, and of one row that is given by the names of its columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression, Ridge

import committee

RNG = np.random.default_rng(0)
NUMBERS = pd.DataFrame({"a": RNG.normal(size=40), "c": RNG.integers(0, 9, 40).astype(float)})
MIXED = NUMBERS.assign(
    b=RNG.choice(list("xyz"), 40),
    size=pd.Categorical(RNG.choice(["low", "high"], 40), categories=["low", "high"], ordered=True),
    day=pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(40), "D"),
)
CLASSES, REALS = RNG.choice(["u", "v", "w"], 40), RNG.normal(size=40)
TREES = [
    ("tree", committee.DecisionTreeClassifier()),
    ("forest", committee.RandomForestClassifier(2)),
]
OTHERS = [("tree", committee.DecisionTreeClassifier()), ("linear", LogisticRegression())]
CASES = [
    (committee.DecisionTreeClassifier(), MIXED),
    (committee.DecisionTreeRegressor(), MIXED),
    (committee.C45Classifier(), MIXED),
    (committee.ID3Classifier(), MIXED),
    (committee.RandomForestClassifier(3), MIXED),
    (committee.ExtraTreesRegressor(3), MIXED),
    (committee.GradientBoostingClassifier(n_estimators=3), MIXED),
    (committee.GradientBoostingRegressor(n_estimators=3), MIXED),
    (committee.AdaBoostClassifier(n_estimators=3), MIXED),
    (committee.AdaBoostRegressor(n_estimators=3), MIXED),
    (committee.BaggingClassifier(n_estimators=3), MIXED),
    (committee.VotingClassifier(TREES, voting="soft"), MIXED),
    (committee.StackingClassifier(TREES, cv=2), MIXED),
    (committee.EnsembleSelectionClassifier(TREES, cv=2), MIXED),
    (committee.DynamicSelectionClassifier(TREES, cv=2), MIXED),
    (committee.VotingClassifier(OTHERS), NUMBERS),
    (committee.StackingClassifier(OTHERS, cv=2, passthrough=True), NUMBERS),
    (committee.StackingRegressor([("linear", Ridge())], cv=2), NUMBERS),
    (committee.BaggingClassifier(LogisticRegression(), 3), NUMBERS),
    (committee.AdaBoostClassifier(LogisticRegression(), n_estimators=3), NUMBERS),
    (committee.AdaBoostRegressor(Ridge(), n_estimators=3), NUMBERS),
    (committee.GradientBoostingRegressor(estimator=Ridge(), n_estimators=3), NUMBERS),
    (committee.GradientBoostingClassifier(init=LogisticRegression(), n_estimators=3), NUMBERS),
]
METHODS = ("predict", "predict_proba", "decision_function", "transform")


@pytest.fixture(params=CASES, ids=lambda case: f"{type(case[0]).__name__}")
def fitted(request):
    model, X = request.param
    return model.fit(X, CLASSES if is_classifier(model) else REALS), X


def predictions(model, X):
    found = {}
    for method in METHODS:
        if hasattr(model, method):
            found[method] = np.asarray(getattr(model, method)(X))
    return found


def test_no_rows_have_no_predictions_of_the_right_shape(fitted):
    model, X = fitted
    expected = predictions(model, X)
    for nothing in (X.iloc[:0], []):
        for method, found in predictions(model, nothing).items():
            assert found.shape == (0, *expected[method].shape[1:])
            assert found.dtype == expected[method].dtype


def test_one_row_may_be_a_series_or_a_dict(fitted):
    model, X = fitted
    expected = predictions(model, X.iloc[7:8])
    row = X.iloc[7]
    for given in (row, row.to_dict(), row[::-1], dict(reversed(row.to_dict().items()))):
        for method, found in predictions(model, given).items():
            assert np.array_equal(found, expected[method])


@pytest.mark.parametrize(
    "nothing",
    [
        np.empty((0, 2)),
        np.empty((0, 2), np.int64),
        np.empty((0, 2), object),
        sp.csr_matrix((0, 2)),
        sp.coo_array((0, 2)),
        pd.DataFrame({0: [], 1: []}),
    ],
)
def test_no_rows_of_any_kind_of_table(nothing):
    X = NUMBERS.to_numpy()
    for model in (
        committee.RandomForestRegressor(2),
        committee.VotingRegressor(
            [("linear", Ridge()), ("tree", committee.DecisionTreeRegressor())]
        ),
    ):
        assert model.fit(X, REALS).predict(nothing).shape == (0,)


def test_no_rows_of_other_types_and_frames():
    model = committee.RandomForestClassifier(2).fit(MIXED, CLASSES)
    for nothing in (
        MIXED.iloc[:0].astype(object),
        pl.DataFrame(MIXED.iloc[:0].astype({"size": str})),
    ):
        assert model.predict_proba(nothing).shape == (0, 3)
    with pytest.raises(ValueError, match="yet now missing:\n- b"):
        model.predict(MIXED.iloc[:0].drop(columns="b"))


def test_fit_needs_rows():
    for X in (np.empty((0, 2)), [], sp.csr_matrix((0, 2))):
        with pytest.raises(ValueError, match=r"0 sample|1D array"):
            committee.DecisionTreeClassifier().fit(X, [])


@pytest.mark.parametrize(
    "model",
    [
        committee.DecisionTreeRegressor(),
        committee.VotingRegressor([("tree", committee.DecisionTreeRegressor())]),
    ],
)
def test_rows_by_name_are_checked(model):
    model.fit(NUMBERS, REALS)
    with pytest.raises(ValueError, match="yet now missing:\n- c"):
        model.predict({"a": 1.0})
    with pytest.raises(ValueError, match="unseen at fit time:\n- z"):
        model.predict({"a": 1.0, "c": 2.0, "z": 3.0})
    with pytest.raises(TypeError, match=r"single cell for each name; got list for 'a'"):
        model.predict({"a": [1.0, 2.0], "c": [2.0, 3.0]})
    with pytest.raises(ValueError, match="yet now missing:\n- c"):
        model.predict(pd.Series({"a": 1.0, "z": 3.0}))
    for column in (NUMBERS["a"], pd.Series({"x": 1.0, "y": 3.0})):  # no rows of this model
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
            model.predict(column)


def test_a_dict_needs_a_model_with_names():
    model = committee.DecisionTreeRegressor().fit(NUMBERS.to_numpy(), REALS)
    with pytest.raises(ValueError, match="fit got a table without names"):
        model.predict({"a": 1.0, "c": 2.0})
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        model.predict(NUMBERS.iloc[0])
