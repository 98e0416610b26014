"""AdaBoost.R2: rounds, drawn rows, weighted medians, early stopping."""

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from adaboost_tools import assert_same_committee
from reference_adaboost import (
    lower_median,
    r2,
    regression_stump_learner,
)
from scipy.stats import chisquare
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeRegressor,
)
from committee.adaboost.median import RunningMedian


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(50, 2))
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=50) / 3, rng.uniform(0.5, 1.5, 50)


@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_weighted_r2_is_that_of_the_naive_committee(loss, learning_rate, numbers):
    X, y, weight = numbers
    model = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=1),
        n_estimators=12,
        loss=loss,
        learning_rate=learning_rate,
        resampling=False,
        keep_weights=True,
    ).fit(X, y, weight)
    learn = regression_stump_learner(X, y)
    distributions, errors, weights, predicted = r2(learn, y, 12, weight, learning_rate, loss)
    assert len(model) == len(errors) > 3
    # Trees put weights and targets on a grid.
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
    np.testing.assert_allclose(model.estimator_weights_, weights, rtol=1e-8)
    np.testing.assert_allclose(model.trace_.distributions, distributions, rtol=1e-8)
    np.testing.assert_allclose(model.trace_.beta, np.array(errors) / (1 - np.array(errors)))
    for number, stage in enumerate(model.staged_predict(X), start=1):
        expected = [lower_median(row, weights[:number]) for row in predicted[:number].T]
        np.testing.assert_allclose(stage, expected, rtol=1e-9)
    np.testing.assert_array_equal(stage, model.predict(X))
    assert list(model.staged_score(X, y, weight))[-1] == model.score(X, y, weight)


class ScriptedNumbers(RegressorMixin, BaseEstimator):
    """Says what the script has for its round; the first column of X is the number of the row."""

    script: list = []  # noqa: RUF012
    drawn: list = []  # noqa: RUF012

    def fit(self, X, y):
        type(self).drawn.append(np.asarray(X)[:, 0].astype(int))
        self.answers_ = type(self).script.pop(0)
        return self

    def predict(self, X):
        return self.answers_[np.asarray(X)[:, 0].astype(int)]


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_learners_of_a_script_make_the_committee_of_scikit_learn(learning_rate, loss, rng):
    X, y = np.arange(30.0)[:, None], rng.normal(size=30)
    script = [y + rng.standard_t(3, size=30) for _ in range(7)]
    params = {"n_estimators": 7, "learning_rate": learning_rate, "loss": loss, "random_state": 0}
    ScriptedNumbers.script = script.copy()
    ours = AdaBoostRegressor(ScriptedNumbers(), **params).fit(X, y)
    ScriptedNumbers.script = script.copy()
    theirs = sklearn.ensemble.AdaBoostRegressor(ScriptedNumbers(), **params).fit(X, y)
    n_members = len(theirs.estimators_)
    assert len(ours) == n_members > 1
    np.testing.assert_allclose(
        ours.estimator_errors_, theirs.estimator_errors_[:n_members], rtol=1e-12
    )
    np.testing.assert_allclose(
        ours.estimator_weights_, theirs.estimator_weights_[:n_members], rtol=1e-11
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for a, b in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_weights_of_rows_say_how_often_they_are_drawn(rng):
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    weight = np.array([1.0, 2.0, 2.0, 4.0, 0.0, 1.0])
    ScriptedNumbers.drawn = []
    for seed in rng.integers(0, 2**31, 300):
        ScriptedNumbers.script = [y + 1]
        AdaBoostRegressor(ScriptedNumbers(), n_estimators=1, random_state=int(seed)).fit(
            X, y, weight
        )
    assert {len(each) for each in ScriptedNumbers.drawn} == {5}
    counts = np.bincount(np.concatenate(ScriptedNumbers.drawn), minlength=6)
    assert counts[4] == 0
    kept = weight > 0
    assert chisquare(counts[kept], 300 * weight[kept] / 2).pvalue > 1e-4
    assert counts[3] / counts[[0, 5]].mean() == pytest.approx(4, rel=0.2)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e9])
def test_the_unit_of_the_target_does_not_matter(scale, numbers):
    X, y, weight = numbers
    for params in ({"resampling": False}, {"random_state": 0}):
        a = AdaBoostRegressor(n_estimators=10, **params).fit(X, y, weight)
        b = AdaBoostRegressor(n_estimators=10, **params).fit(X, y * scale, weight)
        np.testing.assert_allclose(a.estimator_errors_, b.estimator_errors_, rtol=1e-7)
        np.testing.assert_allclose(b.predict(X), a.predict(X) * scale, rtol=1e-7)


def test_a_target_far_from_zero_is_learnt_as_well(numbers):
    X, y, _ = numbers
    y = y.round(3)
    a = AdaBoostRegressor(n_estimators=10, resampling=False).fit(X, y)
    b = AdaBoostRegressor(n_estimators=10, resampling=False).fit(X, y + 1e9)
    # The target itself has lost nine digits.
    np.testing.assert_allclose(b.predict(X) - 1e9, a.predict(X), atol=1e-5)
    np.testing.assert_allclose(a.estimator_errors_, b.estimator_errors_, rtol=1e-4)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_heavy_tails_do_not_break_the_rounds(loss, rng):
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + rng.standard_cauchy(40) ** 3
    model = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=1), n_estimators=15, loss=loss, resampling=False
    ).fit(X, y)
    _, errors, weights, predicted = r2(regression_stump_learner(X, y), y, 15, loss=loss)
    assert len(model) == len(errors)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-6)
    expected = [lower_median(row, weights) for row in predicted.T]
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-7, atol=1e-9)
    assert np.isfinite(model.estimator_weights_).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_deeper_trees_that_the_docstring_names_predict_better_than_the_default(seed):
    X, y = make_friedman1(1200, noise=1.0, random_state=seed)
    deeper = AdaBoostRegressor(DecisionTreeRegressor(max_depth=8), random_state=0)
    scores = [
        model.fit(X[:600], y[:600]).score(X[600:], y[600:])
        for model in (AdaBoostRegressor(random_state=0), deeper)
    ]
    assert scores[1] - scores[0] > 0.02


def test_predictions_of_the_default_drift_upward_where_the_target_is_skewed(rng):
    X = rng.uniform(size=(600, 3))
    y = np.exp(X[:, 0] + rng.normal(size=600))
    drift = AdaBoostRegressor(random_state=0).fit(X, y).predict(X).mean() - y.mean()
    assert drift > 0.1 * y.std()


@pytest.mark.parametrize("params", [{"resampling": False}, {"random_state": 0}])
def test_a_perfect_regressor_is_the_last_and_decides(params):
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1.0, 1.0, 5.0, 5.0])
    model = AdaBoostRegressor(n_estimators=9, **params).fit(X, y)
    assert model.estimator_errors_[-1] == 0
    assert model.estimator_weights_[-1] == pytest.approx(1 + model.estimator_weights_[:-1].sum())
    np.testing.assert_array_equal(model.predict(X), y)


def test_a_first_regressor_that_is_of_no_use_is_the_only_member():
    y = np.array([0.0, 1.0, 0.0, 1.0])
    ScriptedNumbers.script = [1 - y, y]
    X = np.arange(4.0)[:, None]
    model = AdaBoostRegressor(ScriptedNumbers(), n_estimators=2, random_state=0).fit(X, y)
    assert model.estimator_errors_.tolist() == [1.0]
    assert model.predict(X).tolist() == (1 - y).tolist()
    assert len(model) == 1


def test_predictions_are_weighted_medians_of_the_members(numbers):
    X, y, _ = numbers
    for estimator in (None, KNeighborsRegressor(3)):
        model = AdaBoostRegressor(estimator, n_estimators=15, random_state=0).fit(X, y)
        predicted = np.array([member.predict(X) for member in model])
        expected = [lower_median(row, model.estimator_weights_) for row in predicted.T]
        np.testing.assert_array_equal(model.predict(X), expected)
        assert model.score(X, y) > 0.6


def test_even_votes_give_the_lower_answer():
    y = np.array([0.0, 0.0, 0.0, 4.0])
    X = np.arange(4.0)[:, None]
    answers = np.array([[1.0, 0.0, 0.0, 4.0], [0.0, 1.0, 0.0, 4.0]])
    ScriptedNumbers.script = list(answers)
    model = AdaBoostRegressor(ScriptedNumbers(), n_estimators=2, random_state=0).fit(X, y)
    model.estimator_weights_ = np.array([1.0, 1.0])
    assert model.predict(X).tolist() == answers.min(axis=0).tolist()


def test_regressors_that_take_weights_can_be_weighed(numbers):
    X, y, weight = numbers
    model = AdaBoostRegressor(LinearRegression(), n_estimators=3, resampling=False)
    model.fit(X, y, weight)
    line = LinearRegression().fit(X, y, weight)
    np.testing.assert_allclose(model[0].predict(X), line.predict(X))
    again = AdaBoostRegressor(LinearRegression(), n_estimators=3, resampling="auto")
    np.testing.assert_array_equal(again.fit(X, y, weight).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="resampling"):
        AdaBoostRegressor(KNeighborsRegressor(), resampling=False).fit(X, y)


@pytest.mark.parametrize("estimator", [None, DecisionTreeRegressor(max_depth=1)])
def test_weights_of_rows_are_repetitions_where_nothing_is_drawn(estimator, numbers, rng):
    X, y, _ = numbers
    weight = rng.integers(0, 4, 50)
    repeated = np.repeat(np.arange(50), weight)
    model = AdaBoostRegressor(estimator, n_estimators=8, resampling=False)
    a, b = clone(model).fit(X, y, weight), clone(model).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(a.estimator_errors_, b.estimator_errors_, rtol=1e-8)
    np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-8)
    kept = weight > 0
    c = clone(model).fit(X, y, kept * 1.0)
    d = clone(model).fit(X[kept], y[kept])
    np.testing.assert_allclose(c.predict(X), d.predict(X), rtol=1e-12)


def test_regression_stops_early_at_the_best_round(numbers):
    X, y, _ = numbers
    held = X[35:], y[35:]
    params = {"random_state": 0, "n_estimators": 60}
    whole = AdaBoostRegressor(**params).fit(X[:35], y[:35])
    scores = list(whole.staged_score(*held))
    model = AdaBoostRegressor(n_iter_no_change=4, **params).fit(X[:35], y[:35], eval_set=held)
    n_run = len(model.validation_scores_)
    np.testing.assert_allclose(model.validation_scores_, scores[:n_run], rtol=1e-12)
    assert len(model) == np.argmax(scores[:n_run]) + 1
    assert n_run <= len(model) + 4
    by_metric = AdaBoostRegressor(
        n_iter_no_change=60, scoring=lambda a, b: -mean_absolute_error(a, b), **params
    ).fit(X[:35], y[:35], eval_set=held)
    expected = [-mean_absolute_error(held[1], each) for each in whole.staged_predict(held[0])]
    np.testing.assert_allclose(by_metric.validation_scores_, expected, rtol=1e-12)


@pytest.mark.parametrize("resampling", [True, False])
def test_the_regressor_is_the_same_for_any_number_of_threads(resampling, rng):
    X = rng.normal(size=(3000, 4))
    y = X[:, 0] * X[:, 1] + rng.normal(size=3000) / 3
    one, two = (
        AdaBoostRegressor(n_estimators=8, resampling=resampling, random_state=0, n_jobs=n_jobs).fit(
            X, y
        )
        for n_jobs in (1, 2)
    )
    assert_same_committee(one, two, X)


def test_numbers_are_learnt_from_raw_tables(frame, rng):
    X, labels = frame
    y = (labels == "yes") * 2.0 + rng.normal(size=120) / 5
    model = AdaBoostRegressor(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.5
    np.testing.assert_array_equal(model.predict(X[list("dcba")]), model.predict(X))
    new = X.head(3).assign(b="never seen")
    assert np.isfinite(model.predict(new)).all()
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_one_row_and_one_value_are_enough():
    for X, y in (([[1.0]], [2.5]), ([[1.0], [2.0]], [7.0, 7.0])):
        model = AdaBoostRegressor(random_state=0).fit(X, y)
        assert model.predict(X).tolist() == y
        assert len(model) == 1


def test_whole_weights_do_not_multiply_the_rows_that_are_drawn(rng):
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    weights = np.full(40, 10**7)  # a table of so many rows would not fit the memory
    classifier = AdaBoostClassifier(KNeighborsClassifier(), n_estimators=2, random_state=0)
    assert classifier.fit(X, y, weights).score(X, y) > 0.8
    regressor = AdaBoostRegressor(LinearRegression(), n_estimators=2, random_state=0)
    assert regressor.fit(X, y, weights).score(X, y) > 0


def test_running_medians_are_those_of_all_members_so_far(rng):
    predicted, weights = rng.integers(0, 4, (30, 12)).astype(float), rng.uniform(0.1, 1.0, 12)
    running = RunningMedian(30)
    for n in range(12):
        running.add(predicted[:, n], weights[n])
        expected = [lower_median(row[: n + 1], weights[: n + 1]) for row in predicted]
        assert running.medians().tolist() == expected
