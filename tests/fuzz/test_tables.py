"""Any table, target and weights: an estimator refuses them in words, or keeps its promises.

`COMMITTEE_LONG=1` draws many more tables, at random; else they are always the same.
"""

import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fault_models import LONG, NAMES, estimators, is_classifier
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import committee

PACKAGE = str(Path(committee.__file__).parent)
# They draw nothing at random, so that rows of weight zero leave no trace at all.
CERTAIN = {
    "C45Classifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ID3Classifier",
    "AdaBoostClassifier",
}
FLOATS = st.one_of(
    st.floats(-3, 3, width=32),
    st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 5e-324, 1e9, 1e9 + 1]),
)
LEVELS = st.sampled_from(["a", "b", "", "é", "a ", "1", "1.5", "nan", None])


def column(n_rows):
    """Cells of one kind as a pandas Series, with a name of the kind."""

    def cells(of):
        return st.lists(of, min_size=n_rows, max_size=n_rows)

    days = st.integers(-20_000, 40_000).map(lambda day: np.datetime64(day, "D"))
    spans = st.integers(-(10**6), 10**6).map(lambda second: np.timedelta64(second, "s"))
    maybe = st.one_of(st.none(), st.integers(-5, 5))
    return st.one_of(
        cells(FLOATS).map(lambda v: pd.Series(v, dtype=float)),
        cells(FLOATS).map(lambda v: pd.Series(np.clip(v, -3e38, 3e38), dtype="float32")),
        cells(st.integers(-3, 3)).map(lambda v: pd.Series(v, dtype="int8")),
        cells(st.integers(2**62, 2**62 + 3)).map(lambda v: pd.Series(v, dtype="int64")),
        cells(st.integers(0, 2**64 - 1)).map(lambda v: pd.Series(v, dtype="uint64")),
        cells(st.booleans()).map(lambda v: pd.Series(v, dtype=bool)),
        cells(maybe).map(lambda v: pd.Series(v, dtype="Int64")),
        cells(st.one_of(st.none(), st.booleans())).map(lambda v: pd.Series(v, dtype="boolean")),
        cells(LEVELS).map(lambda v: pd.Series(v, dtype=object)),
        cells(LEVELS).map(lambda v: pd.Series(v, dtype="category")),
        cells(st.sampled_from(["lo", "hi", None])).map(
            lambda v: pd.Series(pd.Categorical(v, ["lo", "mid", "hi"], ordered=True))
        ),
        cells(days | st.just(np.datetime64("NaT"))).map(lambda v: pd.Series(v, dtype="M8[s]")),
        cells(spans).map(lambda v: pd.Series(v, dtype="m8[s]")),
        st.just(pd.Series([None] * n_rows, dtype=object)),
        st.just(pd.Series([7.5] * n_rows)),
    )


@st.composite
def problems(draw, classes):
    """A table, a target and weights, or none."""
    n_rows = draw(st.sampled_from([1, 2, 3, 8, 20, 40]))
    n_columns = draw(st.sampled_from([0, 1, 2, 3, 5]))
    names = draw(st.sampled_from([list("abcde"), ["a", "a b", "<x>", "é", "e"]]))
    X = pd.DataFrame({name: draw(column(n_rows)) for name in names[:n_columns]})
    if classes:
        of = st.sampled_from(
            [st.booleans(), st.integers(0, 2), st.sampled_from(["x", "y", "a b"]), st.just(1)]
        )
    else:
        of = st.sampled_from(
            [st.floats(-3, 3), st.integers(-2, 2), st.floats(1e9, 1e9 + 9), st.just(2.0), FLOATS]
        )
    y = np.array(draw(st.lists(draw(of), min_size=n_rows, max_size=n_rows)))
    kind = draw(st.sampled_from(["none", "none", "whole", "real", "zero", "bad"]))
    weights = {
        "none": st.none(),
        "whole": st.integers(0, 3),
        "real": st.floats(0, 5),
        "zero": st.just(0.0),
        "bad": st.sampled_from([1.0, -1.0, np.nan, np.inf]),
    }[kind]
    if kind == "none":
        return X, y, None
    return X, y, np.array(draw(st.lists(weights, min_size=n_rows, max_size=n_rows)), float)


def fitted(model, X, y, weights):
    """Fit, or return None where the data are refused: on purpose, by a line of this package."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(X, y) if weights is None else model.fit(X, y, sample_weight=weights)
    except (ValueError, TypeError) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        line = frame.line or ""
        if frame.filename.startswith(PACKAGE) and ("raise " in line or "_core." in line):
            return None
        raise


def answered(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def check_answers(model, X, y):
    found = answered(model, X)
    assert len(found) == len(X)
    if is_classifier(model):
        if hasattr(model, "predict_proba"):
            assert (found >= 0).all()
            np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
        assert np.isin(model.predict(X), np.unique(y)).all()
    elif np.isfinite(y).all():
        assert np.isfinite(found).all()
    return found


def check_promises(name, model, problem):
    X, y, weights = problem
    found = check_answers(model, X, y)
    again = fitted(clone(model), X, y, weights)
    np.testing.assert_array_equal(answered(again, X), found)
    np.testing.assert_array_equal(answered(model, X[:1]), found[:1])
    if X.shape[1]:  # columns are matched by name
        np.testing.assert_array_equal(answered(model, X[X.columns[::-1]]), found)
    if name in CERTAIN and weights is not None and (weights == 0).any():
        kept = weights > 0
        less = fitted(clone(model), X[kept], y[kept], weights[kept])
        if is_classifier(model):  # a class of absent rows only is known, and has no share
            there = np.isin(model.classes_, less.classes_)
            assert not found[:, ~there].any()
            found = found[:, there]
        np.testing.assert_array_equal(answered(less, X), found)


@pytest.mark.parametrize("name", NAMES)
def test_any_table_is_refused_in_words_or_learnt_from(name):
    template = estimators()[name]
    slow = name.startswith(("Committee", "Dynamic", "Stacking", "EnsembleSel"))

    @given(problems(is_classifier(template)))
    @settings(
        max_examples=(60 if slow else 400) if LONG else (3 if slow else 10),
        derandomize=not LONG,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    def check(problem):
        model = fitted(clone(template), *problem)
        if model is not None:
            check_promises(name, model, problem)

    check()


@given(problems(classes=True))
@settings(
    max_examples=400 if LONG else 15,
    derandomize=not LONG,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_polars_and_pandas_are_read_alike(problem):
    X, y, weights = problem
    try:
        other = pl.from_pandas(X)
    except Exception:  # polars does not take every column of pandas
        return
    model = committee.DecisionTreeClassifier()
    one, two = (fitted(clone(model), table, y, weights) for table in (X, other))
    assert (one is None) == (two is None)
    if one is not None:
        np.testing.assert_array_equal(answered(one, X), answered(two, other))
