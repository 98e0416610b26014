"""Boosting of a handful of rows: it learns, or says why it cannot."""

import numpy as np
import pytest
import sklearn.ensemble
from boosting_tools import BOTH
from sklearn.linear_model import LinearRegression

from committee import GradientBoostingClassifier, GradientBoostingRegressor

LECTURE_X, LECTURE_Y = [[1.0], [2.0], [1.0], [3.0]], [60.0, 70.0, 65.0, 30.0]


def sums(n_rows, rng):
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(("params", "n_rounds"), [({}, 30), ({"n_estimators": 100}, 100)])
def test_the_four_rows_of_the_lecture_are_learned(params, n_rounds):
    model = GradientBoostingRegressor(random_state=0, **params).fit(LECTURE_X, LECTURE_Y)
    # Two rows on either side, their means 6.25 from that of all. A tenth of 2 / (2 + 3), the Newton
    # step with a penalty of 3, is made up for by each round.
    step = 6.25 * (1 - (1 - 0.1 * 2 / 5) ** n_rounds)
    expected = 56.25 + step * np.array([1, -1, 1, -1])
    np.testing.assert_allclose(model.predict(LECTURE_X), expected, rtol=1e-12)


@pytest.mark.parametrize("params", [{}, {"n_estimators": 100}])
@pytest.mark.parametrize("n_rows", [4, 6, 12, 19, 20, 30])
def test_a_threshold_is_learned_from_few_rows(n_rows, params):
    X = np.arange(n_rows)[:, np.newaxis]
    y = (X[:, 0] >= n_rows // 2).astype(int)
    model = GradientBoostingClassifier(random_state=0, **params).fit(X, y)
    assert model.score(X, y) == 1.0
    assert GradientBoostingRegressor(random_state=0, **params).fit(X, y).score(X, y) > 0.4


@pytest.mark.parametrize("seed", range(4))
def test_thirty_rows_are_learned_as_well_as_by_scikit_learn(seed):
    X, y = sums(30, np.random.default_rng(seed))
    theirs = sklearn.ensemble.GradientBoostingClassifier(random_state=0).fit(X, y)
    ours = GradientBoostingClassifier(n_estimators=100, random_state=0).fit(X, y)
    assert ours.score(X, y) >= theirs.score(X, y) - 1 / 30


def test_limits_grow_with_the_table(rng):
    def chosen(n_rows):
        X = rng.normal(size=(n_rows, 2))
        params = GradientBoostingRegressor(n_estimators=2).fit(X, X[:, 0]).chosen_params_
        names = ("max_leaf_nodes", "min_samples_leaf", "l2_regularization")
        return tuple(params[name] for name in names)

    assert [chosen(n) for n in (2, 6, 100, 500)] == [(4, 1, 3), (4, 2, 3), (4, 4, 3), (4, 20, 3)]
    assert chosen(501) == (31, 20, 1)


def test_a_weight_of_ten_is_ten_rows():
    X, y = np.arange(60.0)[:, np.newaxis], np.arange(60.0)
    weighted = GradientBoostingRegressor(n_estimators=2).fit(X, y, np.full(60, 10.0))
    assert weighted.chosen_params_["max_leaf_nodes"] == 31


@pytest.mark.parametrize("n_estimators", ["auto", 5])
def test_what_is_given_is_used(n_estimators, rng):
    given = {"max_leaf_nodes": 3, "min_samples_leaf": 1, "l2_regularization": 0.5}
    given |= {"learning_rate": 0.3, "max_features": 1, "subsample": 0.9}
    for n_rows in (10, 40):
        X, y = sums(n_rows, rng)
        model = GradientBoostingClassifier(n_estimators=n_estimators, random_state=0, **given)
        chosen = model.fit(X, y).chosen_params_
        assert {name: chosen[name] for name in given} == given


# --- what cannot be learned -----------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_too_few_rows_for_the_leaves_that_were_asked_for_are_named(cls, rng):
    X, y = sums(30, rng)
    reason = "no tree could be split: a split needs 40 rows with min_samples_leaf=20, and a round"
    with pytest.warns(UserWarning, match=f"{cls.__name__} predicts the same .* {reason} has 30"):
        model = cls(n_estimators=10, min_samples_leaf=20).fit(X, y)
    assert len(np.unique(model.predict(X))) == 1
    with pytest.warns(UserWarning, match="a round has 15"):
        cls(n_estimators=10, min_samples_leaf=20, subsample=0.5).fit(X, y)


def test_limits_that_forbid_every_split_are_named(rng):
    X, y = sums(100, rng)
    for params in ({"min_impurity_decrease": 1e3}, {"min_child_weight": 1e3}):
        with pytest.warns(UserWarning, match="no feature differs between rows so that a split"):
            GradientBoostingClassifier(n_estimators=3, **params).fit(X, y)


def test_nothing_is_said_where_one_prediction_is_right(rng):
    X = rng.normal(size=(30, 2))
    GradientBoostingRegressor(random_state=0).fit(X, np.full(30, 7.0))
    GradientBoostingClassifier(random_state=0).fit(X, ["a"] * 30)
    weight = np.r_[np.ones(15), np.zeros(15)]
    GradientBoostingRegressor(random_state=0).fit(X, 1 - weight, weight)
    line = 2 * X[:, 0]  # the start leaves nothing to learn but rounding
    GradientBoostingRegressor(init=LinearRegression(), n_estimators=2).fit(X, np.round(line, 3))
