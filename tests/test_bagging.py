"""Bagging of any estimator: samples, members, how they are combined, and out-of-bag estimates."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import sklearn.ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import committee
from committee import DecisionTreeClassifier, DecisionTreeRegressor
from committee.bagging.classifier import BaggingClassifier
from committee.bagging.regressor import BaggingRegressor
from committee.datasets import load_penguins
from committee.members.parallel import in_order
from committee.trees.tree_members import TreeMembers

BOTH = [BaggingClassifier, BaggingRegressor]
DRAWS = "rows are drawn by chance: equal in distribution, not in every draw"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": DRAWS,
    "check_sample_weight_equivalence_on_sparse_data": DRAWS,
}


@parametrize_with_checks(
    [
        BaggingClassifier(),
        BaggingRegressor(),
        BaggingClassifier(LogisticRegression(), 4, voting="hard", random_state=0),
        BaggingRegressor(Ridge(), 4, combine="median", max_features=0.7, random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- signature ----------------------------------------------------------------------------------

NEW_PARAMETERS = {
    "BaggingClassifier": {"stratify", "partition", "voting", "weighting"},
    "BaggingRegressor": {"partition", "combine", "weighting"},
}


@pytest.mark.parametrize("cls", BOTH)
def test_the_constructor_has_scikit_learns_parameters_and_defaults(cls):
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__)).parameters
    ours = inspect.signature(cls).parameters
    assert set(ours) - set(theirs) == NEW_PARAMETERS[cls.__name__]
    for name, parameter in theirs.items():
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind), name


@pytest.mark.parametrize("cls", BOTH)
def test_public_methods_and_attributes_of_scikit_learn_exist(cls, iris):
    theirs = getattr(sklearn.ensemble, cls.__name__)(n_estimators=2, oob_score=False).fit(*iris)
    ours = cls(n_estimators=2).fit(*iris)
    names = {name for name in dir(theirs) if not name.startswith("_")} - {"estimator_params"}
    assert {name for name in names if not hasattr(ours, name)} == set()
    assert len(ours) == 2
    np.testing.assert_array_equal(ours[1].predict(iris[0]), ours.estimators_[1].predict(iris[0]))
    assert len(list(ours)) == len(ours.estimators_) == 2


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


# --- oracle -------------------------------------------------------------------------------------


def naive_members(model, estimator, X, y):
    """The members fitted once more, each to the rows it has drawn, written out."""
    pairs = zip(model.estimators_samples_, model.estimators_features_, strict=True)
    return [clone(estimator).fit(X[np.ix_(rows, columns)], y[rows]) for rows, columns in pairs]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bootstrap": False, "max_samples": 0.5},
        {"max_features": 2, "max_samples": 80},
        {"max_features": 0.5, "bootstrap_features": True},
        {"bootstrap": False, "max_samples": 1.0, "max_features": 0.75},
    ],
    ids=["bagging", "pasting", "patches", "features twice", "subspaces"],
)
@pytest.mark.parametrize("estimator", [GaussianNB(), KNeighborsClassifier(3)])
def test_probabilities_are_the_mean_of_naively_fitted_members(estimator, options, iris):
    X, y = iris
    model = BaggingClassifier(estimator, 7, stratify="classes", random_state=3, **options)
    members = naive_members(model.fit(X, y), estimator, X, y)
    pairs = zip(members, model.estimators_features_, strict=True)
    expected = np.mean([member.predict_proba(X[:, columns]) for member, columns in pairs], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), expected, atol=1e-9)
    assert np.array_equal(model.predict(X), expected.argmax(axis=1))


def test_out_of_bag_agrees_with_a_naive_loop(iris):
    X, y = iris
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = BaggingClassifier(GaussianNB(), 25, oob_score=True, random_state=0)
    model.fit(X, labels, weights)
    members = naive_members(model, GaussianNB(), X, y)
    total, votes = np.zeros((len(y), 3)), np.zeros(len(y))
    errors = []
    for member, rows in zip(members, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(y)), rows)
        total[out] += member.predict_proba(X[out])
        votes[out] += 1
        errors.append(np.average(member.predict(X[out]) != y[out], weights=weights[out]))
    assert votes.min() > 0
    expected = total / votes[:, None]
    np.testing.assert_allclose(model.oob_decision_function_, expected, atol=1e-12)
    score = accuracy_score(y, expected.argmax(axis=1), sample_weight=weights)
    assert model.oob_score_ == pytest.approx(score)
    np.testing.assert_allclose(model.oob_member_errors_, errors)
    assert model.oob_member_error_ == pytest.approx(np.mean(errors))
    assert model.oob_never_ == 0
    assert model.oob_curve_.score[-1] == model.oob_score_
    train = accuracy_score(labels, model.predict(X), sample_weight=weights)
    assert model.oob_score_632_ == pytest.approx(0.368 * train + 0.632 * score)


def test_out_of_bag_regression_agrees_with_a_naive_loop(diabetes):
    X, y = diabetes
    model = BaggingRegressor(LinearRegression(), 25, oob_score="neg_mean_squared_error")
    model.set_params(random_state=1).fit(X, y)
    predicted = np.full((25, len(y)), np.nan)
    members = naive_members(model, LinearRegression(), X, y)
    for number, (member, rows) in enumerate(zip(members, model.estimators_samples_, strict=True)):
        out = np.setdiff1d(np.arange(len(y)), rows)
        predicted[number, out] = member.predict(X[out])
    np.testing.assert_allclose(model.oob_prediction_, np.nanmean(predicted, axis=0))
    assert model.oob_score_ == pytest.approx(-mean_squared_error(y, np.nanmean(predicted, axis=0)))
    model.set_params(combine="median").fit(X, y)
    np.testing.assert_allclose(model.oob_prediction_, np.nanmedian(predicted, axis=0))


def test_rows_never_out_of_bag_are_nan_and_warned_about(iris):
    X, y = iris
    model = BaggingClassifier(n_estimators=2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="rows were drawn by every member") as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    in_all = set.intersection(*[set(rows) for rows in model.estimators_samples_])
    assert model.oob_never_ == len(in_all) > 0
    missing = np.isnan(model.oob_decision_function_).all(axis=1)
    assert set(np.flatnonzero(missing)) == in_all
    known = ~missing
    right = model.oob_decision_function_[known].argmax(axis=1) == y[known]
    assert model.oob_score_ == pytest.approx(right.mean())


# --- lectures -----------------------------------------------------------------------------------


def test_clones_of_a_deterministic_learner_add_nothing(diabetes):
    X, y = diabetes
    alone = DecisionTreeRegressor(max_depth=3).fit(X, y)
    clones = BaggingRegressor(DecisionTreeRegressor(max_depth=3), 8, bootstrap=False).fit(X, y)
    np.testing.assert_allclose(clones.predict(X), alone.predict(X))
    committee_of_samples = BaggingRegressor(DecisionTreeRegressor(max_depth=3), 8).fit(X, y)
    assert not np.allclose(committee_of_samples.predict(X), alone.predict(X))


def test_a_sample_holds_63_percent_of_the_rows(iris):
    model = BaggingClassifier(DummyClassifier(), 100, random_state=0).fit(*iris)
    shares = [len(np.unique(rows)) / 150 for rows in model.estimators_samples_]
    assert np.mean(shares) == pytest.approx(0.632, abs=0.01)


def test_bagging_makes_an_unstable_learner_better(seed):
    X, y = make_classification(600, 12, n_informative=6, flip_y=0.1, random_state=seed)
    train, test, y_train, y_test = train_test_split(X, y, random_state=seed)
    alone = DecisionTreeClassifier().fit(train, y_train).score(test, y_test)
    bagged = BaggingClassifier(n_estimators=60, oob_score=True, random_state=seed)
    bagged.fit(train, y_train)
    assert bagged.score(test, y_test) > alone
    assert bagged.oob_score_ == pytest.approx(bagged.score(test, y_test), abs=0.08)
    assert bagged.oob_score_ > 1 - bagged.oob_member_error_  # the team beats its members
    assert bagged.oob_score_ <= bagged.oob_score_632_plus_ <= bagged.oob_score_632_


class Fixed(ClassifierMixin, BaseEstimator):
    """Says what it was told to say: the first member the first answer, and so on."""

    def __init__(self, answers=None):
        self.answers = answers

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.number_ = next(TEAM)
        return self

    def predict_proba(self, X):
        share = self.answers[self.number_]
        return np.tile([1 - share, share], (len(X), 1))

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


TEAM = iter(())


def test_the_team_of_the_lecture_answers_by_probability_or_by_vote():
    # A: 1 (.8), B: 0 (.7), C: 1 (.9), D: 0 (.5), E: 0 (.6), as probabilities of class 1.
    answers = [0.8, 0.3, 0.9, 0.5, 0.4]
    X, y = np.zeros((6, 1)), [0, 1, 0, 1, 0, 1]
    global TEAM
    results = {}
    for voting in ("soft", "hard"):
        TEAM = iter(range(5))
        model = BaggingClassifier(Fixed(answers), 5, bootstrap=False, voting=voting).fit(X, y)
        results[voting] = model.predict_proba(X)[0, 1], model.predict(X)[0]
    assert results["soft"] == (pytest.approx(0.58), 1)
    assert results["hard"] == (pytest.approx(0.4), 0)


class Told(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.number_ = next(TEAM)
        return self

    def predict(self, X):
        return np.full(len(X), [2.3, 9.1, 4.3, 4.1, 3.8][self.number_])


def test_the_team_of_the_lecture_answers_by_mean_or_median():
    X, y = np.zeros((4, 1)), np.arange(4.0)
    global TEAM
    for combine, expected in (("mean", 4.72), ("median", 4.1)):
        TEAM = iter(range(5))
        model = BaggingRegressor(Told(), 5, bootstrap=False, combine=combine).fit(X, y)
        assert model.predict(X) == pytest.approx(np.full(4, expected))


# --- combinations -------------------------------------------------------------------------------


def test_hard_votes_and_weights_agree_with_hand_computation(iris):
    X, y = iris
    model = BaggingClassifier(
        GaussianNB(), 9, max_features=2, voting="hard", weighting="oob", random_state=2
    ).fit(X, y)
    votes = np.zeros((150, 3))
    weights = []
    columns = model.estimators_features_
    for number, member in enumerate(naive_members(model, GaussianNB(), X, y)):
        out = np.setdiff1d(np.arange(150), model.estimators_samples_[number])
        predicted = member.predict(X[:, columns[number]])
        error = ((predicted[out] != y[out]).sum() + 0.5) / (len(out) + 1)
        weights.append(np.log((1 - error) / error * 2))
        votes[np.arange(150), predicted] += weights[-1]
    np.testing.assert_allclose(model.estimator_weights_, weights / np.sum(weights))
    np.testing.assert_allclose(model.predict_proba(X), votes / np.sum(weights))
    assert np.array_equal(model.predict(X), votes.argmax(axis=1))
    assert len(model.oob_member_errors_) == 9
    assert not hasattr(model, "oob_score_")


@pytest.mark.parametrize("combine", ["mean", "median"])
def test_weighted_regression_agrees_with_hand_computation(combine, diabetes):
    X, y = diabetes
    model = BaggingRegressor(
        KNeighborsRegressor(), 9, max_features=3, weighting="oob", combine=combine, random_state=0
    ).fit(X, y)
    predicted = np.array(
        [
            member.predict(X[:, columns])
            for member, columns in zip(model, model.estimators_features_, strict=True)
        ]
    )
    errors = []
    for values, rows in zip(predicted, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(y)), rows)
        errors.append(((values - y)[out] ** 2).mean())
    weights = 1 / np.array(errors) / np.sum(1 / np.array(errors))
    np.testing.assert_allclose(model.estimator_weights_, weights)
    if combine == "mean":
        expected = weights @ predicted
    else:
        order = predicted.argsort(axis=0)
        above = np.cumsum(weights[order], axis=0) > 0.5
        expected = np.take_along_axis(predicted, order, axis=0)[above.argmax(axis=0), range(len(y))]
    np.testing.assert_allclose(model.predict(X), expected)


def test_weighting_helps_when_half_of_the_members_know_nothing(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 6)), None
    y = (X[:, 0] > 0).astype(int)
    options = {"n_estimators": 30, "max_features": 1, "random_state": seed, "voting": "hard"}
    plain = BaggingClassifier(DecisionTreeClassifier(max_depth=1), **options).fit(X, y)
    weighed = BaggingClassifier(DecisionTreeClassifier(max_depth=1), weighting="oob", **options)
    weighed.fit(X, y)
    knows = [columns[0] == 0 for columns in weighed.estimators_features_]
    assert (
        weighed.estimator_weights_[knows].min() > weighed.estimator_weights_[~np.array(knows)].max()
    )
    test = rng.normal(size=(1000, 6))
    truth = test[:, 0] > 0
    assert weighed.score(test, truth) > plain.score(test, truth)
    assert weighed.score(test, truth) > 0.95


def test_members_without_probabilities_vote(iris):
    X, y = iris
    model = BaggingClassifier(LinearSVC(), 5, random_state=0, oob_score=True)
    with pytest.warns(UserWarning, match="drawn by every member"):
        model.fit(X, y)
    votes = np.mean([np.eye(3)[member.predict(X)] for member in model], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), votes)
    assert model.decision_function(X).shape == (150, 3)
    mean = np.mean([member.decision_function(X) for member in model], axis=0)
    np.testing.assert_allclose(model.decision_function(X), mean)
    assert not hasattr(BaggingClassifier(), "decision_function")
    assert not hasattr(BaggingClassifier(LinearSVC(), voting="hard"), "decision_function")


def test_logarithms_of_tiny_probabilities_are_kept():
    X = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    y = [0, 0, 0, 1, 1, 1]
    model = BaggingClassifier(GaussianNB(), 5, stratify="classes", random_state=0).fit(X, y)
    far = model.predict_log_proba([[-1e4]])
    assert np.isfinite(far).all()
    assert far[0, 1] < -800


# --- a class that is missing from a sample ------------------------------------------------------


@pytest.mark.parametrize(
    "estimator", [KNeighborsClassifier(1), GaussianNB(), DecisionTreeClassifier()]
)
def test_a_class_missing_from_a_sample_has_probability_zero_there(estimator):
    X = np.arange(12.0).reshape(-1, 1)
    y = np.array(["a"] * 6 + ["b"] * 5 + ["rare"])
    model = BaggingClassifier(estimator, 15, oob_score=True, random_state=0).fit(X, y)
    has_rare = [11 in rows for rows in model.estimators_samples_]
    assert not all(has_rare)
    probability = model.predict_proba(X)
    assert probability.shape == (12, 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert probability[11, 2] <= np.mean(has_rare) + 1e-12
    assert model.oob_decision_function_[11, 2] == 0  # whoever has not seen it cannot name it


def test_decision_functions_of_members_that_miss_a_class_are_aligned():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)), rng.normal(3, 1, (20, 2)), [[9.0, -9.0]]])
    y = np.repeat([0, 1, 2], [20, 20, 1])
    model = BaggingClassifier(LogisticRegression(), 6, random_state=0).fit(X, y)
    assert {len(member.classes_) for member in model} == {2, 3}
    scores = model.decision_function(X)
    assert scores.shape == (41, 3)
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) == model.predict(X)).mean() > 0.9


def test_a_sample_of_one_class_does_not_stop_the_fit():
    X, y = np.arange(20.0).reshape(-1, 1), np.repeat([0, 1], [18, 2])
    model = BaggingClassifier(LogisticRegression(), 20, random_state=0).fit(X, y)
    assert any((rows < 18).all() for rows in model.estimators_samples_)
    assert model.predict_proba(X).shape == (20, 2)


def test_a_member_that_cannot_be_fitted_names_its_sample():
    class NeedsTwo(KNeighborsClassifier):
        def fit(self, X, y):
            if len(np.unique(y)) < 2:
                raise ValueError("one class is not enough")
            return super().fit(X, y)

    X, y = np.arange(20.0).reshape(-1, 1), np.repeat([0, 1], [18, 2])
    with pytest.raises(ValueError, match="one class is not enough") as caught:
        BaggingClassifier(NeedsTwo(1), 20, random_state=0).fit(X, y)
    (note,) = caught.value.__notes__
    assert "member" in note
    assert 'stratify="classes" keeps every class' in note
    BaggingClassifier(NeedsTwo(1), 20, random_state=0, stratify="classes").fit(X, y)


# --- samples ------------------------------------------------------------------------------------


def test_weights_zero_are_never_drawn_and_weights_are_probabilities(iris):
    X, y = iris
    weights = np.where(y == 0, 0.0, np.where(y == 1, 3.0, 1.0))
    model = BaggingClassifier(n_estimators=60, random_state=0).fit(X, y, weights)
    rows = np.concatenate(model.estimators_samples_)
    drawn = np.bincount(y[rows], minlength=3) / len(rows)
    assert drawn[0] == 0
    assert drawn[1] == pytest.approx(0.75, abs=0.02)
    assert 0 not in model.predict(X)


@pytest.mark.parametrize("cls", BOTH)
def test_a_row_of_weight_two_is_worth_the_row_twice(cls, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    weights = rng.integers(0, 4, 30)
    model = cls(n_estimators=400, max_samples=1.0, random_state=seed)
    answer = "predict_proba" if cls is BaggingClassifier else "predict"
    weighted = getattr(clone(model).fit(X, y, weights), answer)(X)
    repeated = clone(model).set_params(random_state=seed + 1)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    # Means of 400 members each with a standard deviation of at most one half.
    assert np.abs(weighted - getattr(repeated, answer)(X)).max() < 5 * 0.5 * np.sqrt(2 / 400)


def test_groups_stay_together(iris):
    X, y = iris
    groups = np.arange(150) // 5
    model = BaggingClassifier(n_estimators=10, oob_score=True, random_state=0)
    model.fit(X, y, groups=groups)
    for rows in model.estimators_samples_:
        counts = np.bincount(rows, minlength=150).reshape(30, 5)
        assert (counts == counts[:, :1]).all()
    assert model.oob_never_ % 5 == 0


def test_groups_make_the_out_of_bag_score_honest(seed):
    rng = np.random.default_rng(seed)
    centres, labels = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    X = np.repeat(centres, 10, axis=0) + 0.01 * rng.normal(size=(400, 3))
    y, groups = np.repeat(labels, 10), np.repeat(np.arange(40), 10)
    model = BaggingClassifier(n_estimators=30, oob_score=True, random_state=seed)
    assert model.fit(X, y).oob_score_ > 0.97  # each row has nine twins in the sample
    assert model.fit(X, y, groups=groups).oob_score_ < 0.75  # nothing can be learnt


def test_strata_and_balance(iris):
    X, y = iris[0][:110], iris[1][:110]  # 50, 50 and 10 rows
    for stratify, expected in (("classes", [50, 50, 10]), ("balanced", [37, 37, 36])):
        model = BaggingClassifier(n_estimators=5, stratify=stratify, random_state=0).fit(X, y)
        for rows in model.estimators_samples_:
            assert np.bincount(y[rows]).tolist() == expected


def test_portions_are_disjoint_and_complete(iris):
    X, y = iris
    model = BaggingClassifier(n_estimators=7, partition=True, stratify="classes", oob_score=True)
    model.fit(X, y)
    rows = np.concatenate(model.estimators_samples_)
    assert sorted(rows) == list(range(150))
    assert {len(portion) for portion in model.estimators_samples_} == {21, 22}
    assert model.oob_never_ == 0
    assert model.oob_score_ > 0.85


def test_more_draws_than_rows(diabetes):
    X, y = diabetes
    model = BaggingRegressor(n_estimators=3, max_samples=2.5, random_state=0).fit(X, y)
    assert {len(rows) for rows in model.estimators_samples_} == {int(2.5 * len(y))}


# --- promises -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [DecisionTreeClassifier(max_features=1), make_pipeline(StandardScaler(), SGDClassifier())],
)
def test_the_model_is_the_same_for_any_number_of_workers(estimator, iris):
    X, y = iris
    models = [
        BaggingClassifier(estimator, 25, max_features=3, oob_score=True, random_state=5, n_jobs=n)
        for n in (1, 2)
    ]
    one, two = [model.fit(X, y) for model in models]
    assert np.array_equal(one.oob_decision_function_, two.oob_decision_function_, equal_nan=True)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert np.array_equal(one.oob_curve_.score, two.oob_curve_.score, equal_nan=True)


def test_members_have_seeds_of_their_own_also_inside_pipelines(iris):
    X, y = iris
    tree = DecisionTreeClassifier(max_features=1)
    model = BaggingClassifier(make_pipeline(StandardScaler(), tree), 4, random_state=0).fit(X, y)
    seeds = [member[-1].random_state for member in model]
    assert len(set(seeds)) == 4
    assert all(0 <= seed < 2**31 for seed in seeds)
    again = BaggingClassifier(make_pipeline(StandardScaler(), tree), 4, random_state=0).fit(X, y)
    assert seeds == [member[-1].random_state for member in again]
    assert tree.random_state is None


def test_own_members_use_one_thread_each(iris):
    model = BaggingClassifier(n_estimators=2).fit(*iris)
    assert [member.n_jobs for member in model] == [1, 1]
    assert model.estimator_.n_jobs is None


@pytest.mark.parametrize("weighting", [None, "oob"])
def test_warm_start_equals_a_fit_from_scratch(weighting, diabetes):
    X, y = diabetes
    options = {"oob_score": True, "max_features": 0.5, "random_state": 3, "weighting": weighting}
    whole = BaggingRegressor(n_estimators=25, **options).fit(X, y)
    grown = BaggingRegressor(n_estimators=20, warm_start=True, **options).fit(X, y)
    old = grown.estimators_.forest
    grown.set_params(n_estimators=25).fit(X, y)
    assert len(grown.estimators_) == 25
    np.testing.assert_array_equal(old.node_counts(), grown.estimators_.forest.node_counts()[:20])
    for name in ("oob_prediction_", "oob_member_errors_"):
        np.testing.assert_array_equal(getattr(grown, name), getattr(whole, name))
    np.testing.assert_array_equal(grown.oob_curve_.score, whole.oob_curve_.score)
    np.testing.assert_array_equal(grown.predict(X), whole.predict(X))
    for mine, theirs in zip(grown.estimators_samples_, whole.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_warm_start_says_what_it_cannot_do(iris):
    X, y = iris
    model = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="adds no members"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal to"):
        model.set_params(n_estimators=2).fit(X, y)
    model.set_params(n_estimators=5)
    for other in ((X[:100], y[:100]), (X[:, :2], y), (X, y > 0)):
        with pytest.raises(ValueError, match="have changed"):
            model.fit(*other)
    with pytest.raises(ValueError, match="have changed"):
        clone(model).fit(X, y).set_params(n_estimators=9, max_samples=10).fit(X, y)
    with pytest.raises(ValueError, match="warm_start must be False with partition=True"):
        model.set_params(partition=True).fit(X, y)


TRIED = []


class Breaks(DecisionTreeClassifier):
    """Fits twice, then fails."""

    error = None

    def fit(self, X, y, sample_weight=None):
        if self.error is not None and len(TRIED) > 1:
            raise self.error
        TRIED.append(self)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("broken")])
@pytest.mark.parametrize("warm_start", [False, True])
def test_a_fit_that_fails_leaves_the_model_as_it_was(error, warm_start, iris, monkeypatch):
    X, y = iris
    model = BaggingClassifier(Breaks(), 3, max_samples=150, random_state=0, n_jobs=1)
    model.set_params(oob_score=True)
    with pytest.warns(UserWarning, match="drawn by every member"):
        model.fit(X[:120], y[:120])
    before = {name: id(value) for name, value in vars(model).items()}
    monkeypatch.setattr(Breaks, "error", error)
    TRIED.clear()
    model.set_params(n_estimators=6, warm_start=warm_start)
    with pytest.raises(type(error)):
        model.fit(X[:120], y[:120])
    after = {name: id(value) for name, value in vars(model).items()}
    for changed in ("n_estimators", "warm_start"):
        assert after.pop(changed)
        before.pop(changed)
    assert after == before


def test_verbose_tells_the_progress(iris, capsys):
    BaggingClassifier(GaussianNB(), n_estimators=20, verbose=1).fit(*iris)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("BaggingClassifier: 20 of 20 members")
    BaggingClassifier(n_estimators=20, verbose=1).fit(*iris)
    assert "BaggingClassifier: 20 of 20" in capsys.readouterr().err


def test_threads_of_our_members_keep_order_errors_and_configuration():
    def work(number):
        if number == 5:
            raise ValueError("the fifth")
        return number, sklearn.get_config()["enable_metadata_routing"]

    def calls(n):
        return in_order(work, [(i,) for i in range(n)], 2, use_threads=True, own=True)

    with sklearn.config_context(enable_metadata_routing=True):
        assert list(calls(5)) == [(i, True) for i in range(5)]
    assert list(calls(2)) == [(0, False), (1, False)]
    with pytest.raises(ValueError, match="the fifth"):
        list(calls(8))


# --- our own trees in the engine ------------------------------------------------------------------


def fit_both_ways(monkeypatch, model, X, y, **fit_params):
    """The model grown by the engine at once, and member by member."""
    whole = clone(model).fit(X, y, **fit_params)
    assert isinstance(whole.estimators_, TreeMembers)
    monkeypatch.setattr("committee.bagging.bagging_model.runs_in_engine", lambda job: False)
    single = clone(model).fit(X, y, **fit_params)
    monkeypatch.undo()
    assert isinstance(single.estimators_, list)
    return whole, single


@pytest.mark.filterwarnings("ignore:.*rows were drawn by every member")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_features": 2},
        {"bootstrap": False, "max_samples": 0.5},
        {"max_samples": 1.7},
        {"partition": True},
        {"voting": "hard", "weighting": "oob"},
        {"stratify": "balanced"},
        {"estimator": DecisionTreeClassifier(max_depth=3, class_weight="balanced")},
        {"estimator": DecisionTreeClassifier(class_weight={"setosa": 2.5}, max_features=2)},
        {"estimator": DecisionTreeClassifier(splitter="random", min_samples_leaf=0.05)},
        {"estimator": DecisionTreeClassifier(criterion="entropy", ccp_alpha=0.01)},
    ],
    ids=str,
)
def test_the_engine_grows_the_members_that_fitting_them_singly_gives(monkeypatch, options):
    X, codes = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[codes]
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    fit_params = {} if {"partition", "bootstrap"} & options.keys() else {"sample_weight": weights}
    model = BaggingClassifier(n_estimators=6, random_state=4, oob_score=True, **options)
    whole, single = fit_both_ways(monkeypatch, model, X, y, **fit_params)
    np.testing.assert_allclose(whole.predict_proba(X), single.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(
        whole.oob_decision_function_, single.oob_decision_function_, atol=1e-12
    )
    for number in range(6):
        columns = whole.estimators_features_[number]
        ours, theirs = whole.estimators_[number], single.estimators_[number]
        assert ours.tree_.node_count == theirs.tree_.node_count
        np.testing.assert_array_equal(ours.apply(X[:, columns]), theirs.apply(X[:, columns]))


@pytest.mark.parametrize("combine", ["mean", "median"])
def test_the_engine_grows_the_same_regressors(monkeypatch, combine, diabetes):
    X, y = diabetes
    tree = DecisionTreeRegressor(min_samples_leaf=3, max_features=0.5)
    model = BaggingRegressor(tree, 5, max_features=0.7, combine=combine, random_state=1)
    whole, single = fit_both_ways(monkeypatch, model, X, y, groups=np.arange(len(y)) // 2)
    np.testing.assert_allclose(whole.predict(X), single.predict(X), rtol=1e-12)


# --- tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_with_text_and_missing_values_reach_members_that_take_them(kind):
    X, y = load_penguins()
    if kind != "pandas":
        X = pl.from_pandas(X)
    if kind == "pyarrow":
        X = X.to_arrow()
    model = BaggingClassifier(n_estimators=15, max_features=4, oob_score=True, random_state=0)
    model.fit(X, y)
    assert model.oob_score_ > 0.9
    assert model.feature_names_in_.tolist()[0] == "island"
    for member, columns in zip(model, model.estimators_features_, strict=True):
        assert member.feature_names_in_.tolist() == model.feature_names_in_[columns].tolist()
    names = list(model.feature_names_in_)[::-1]
    mixed = X.select(names) if kind != "pandas" else X[names]
    assert np.array_equal(model.predict(mixed), model.predict(X))


@pytest.mark.parametrize("library", [pd, pl])
def test_pipelines_select_columns_by_name(library):
    X, y = load_penguins()
    frame = library.DataFrame({name: X[name].fillna(X[name].mode()[0]).tolist() for name in X})
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["island", "sex"]),
        (StandardScaler(), ["bill_length_mm", "body_mass_g"]),
    )
    pipeline = make_pipeline(encode, LogisticRegression())
    model = BaggingClassifier(pipeline, 5, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.95


def test_features_drawn_twice_have_distinct_names():
    X, y = load_penguins()
    model = BaggingClassifier(n_estimators=5, bootstrap_features=True, random_state=0).fit(X, y)
    columns = model.estimators_features_[0]
    assert len(set(columns)) < len(columns)
    assert len(set(model[0].feature_names_in_)) == len(columns)
    assert model.score(X, y) > 0.9
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)))
    BaggingRegressor(n_estimators=5, bootstrap_features=True).fit(numbers, numbers[0])


def test_sparse_tables_stay_sparse(iris):
    from scipy.sparse import coo_array, issparse

    class Sees(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            assert issparse(X)
            return super().fit(X.toarray(), y, sample_weight)

        def predict_proba(self, X):
            return super().predict_proba(X.toarray())

    X, y = iris
    model = BaggingClassifier(Sees(), 3, max_features=2, random_state=0).fit(coo_array(X), y)
    dense = BaggingClassifier(GaussianNB(), 3, max_features=2, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(coo_array(X)), dense.predict_proba(X))


def test_several_outputs_of_a_regression(diabetes):
    X, y = diabetes
    both = np.column_stack([y, -2 * y])
    model = BaggingRegressor(n_estimators=20, oob_score=True, random_state=0).fit(X, both)
    assert model.predict(X).shape == model.oob_prediction_.shape == both.shape
    np.testing.assert_allclose(model.predict(X)[:, 1], -2 * model.predict(X)[:, 0])
    known = ~np.isnan(model.oob_prediction_).any(axis=1)
    assert model.oob_score_ == pytest.approx(r2_score(both[known], model.oob_prediction_[known]))


def test_class_weights_are_given_by_label():
    X = [[0.0], [0.0], [0.0], [1.0]]
    y = ["no", "no", "yes", "yes"]
    tree = DecisionTreeClassifier(class_weight={"yes": 100.0})
    model = BaggingClassifier(tree, 5, bootstrap=False).fit(X, y)
    assert model.predict([[0.0]]) == ["yes"]
    assert tree.class_weight == {"yes": 100.0}


# --- scikit-learn as a peer ---------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [GaussianNB(), DecisionTreeClassifier(max_depth=4)])
def test_scores_are_as_good_as_scikit_learns(estimator, seed):
    X, y = make_classification(1500, 10, n_informative=5, flip_y=0.1, random_state=seed)
    gaps = []
    for split in range(4):
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=split)
        losses = [
            log_loss(
                y_test,
                module.BaggingClassifier(estimator, 30, random_state=split)
                .fit(train, y_train)
                .predict_proba(test),
            )
            for module in (committee, sklearn.ensemble)
        ]
        gaps.append(losses[0] - losses[1])
    assert abs(np.mean(gaps)) < 0.01


def test_search_and_cross_validation_work(iris):
    X, y = iris
    search = GridSearchCV(
        BaggingClassifier(DecisionTreeClassifier(), 5, random_state=0),
        {"estimator__max_depth": [1, 3], "max_features": [1, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["estimator__max_depth"] == 3
    assert cross_val_score(BaggingRegressor(n_estimators=5), X, y, cv=3).shape == (3,)


def test_metadata_reaches_the_members(iris):
    X, y = iris

    class Takes(GaussianNB):
        def fit(self, X, y, sample_weight=None, colour=None):
            self.colour_ = colour
            self.length_ = len(X)
            return super().fit(X, y, sample_weight)

    model = BaggingClassifier(Takes(), 3, random_state=0)
    with pytest.raises(ValueError, match=r"\[colour\] are passed to fit but .*enable_metadata"):
        model.fit(X, y, colour=np.arange(150))
    with sklearn.config_context(enable_metadata_routing=True):
        member = Takes().set_fit_request(colour=True, sample_weight=True)
        model = BaggingClassifier(member, 3, random_state=0).fit(X, y, colour=np.arange(150))
        expected = [np.unique(rows) for rows in model.estimators_samples_]
        for member, rows in zip(model, expected, strict=True):
            assert np.array_equal(member.colour_, rows)
        # A member that does not request weights gets its rows repeated.
        repeated = BaggingClassifier(Takes().set_fit_request(colour=True), 3).fit(X, y)
        assert [member.length_ for member in repeated] == [150] * 3


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_models_survive_pickle(cls, iris):
    X, y = iris
    model = cls(n_estimators=4, max_features=0.5, random_state=0).fit(X, y, np.arange(150.0))
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(X), model.predict(X))
    for mine, theirs in zip(copy.estimators_samples_, model.estimators_samples_, strict=True):
        assert np.array_equal(mine, theirs)


def test_models_of_our_members_survive_files_and_others_say_why_not(iris, tmp_path):
    X, y = iris
    path = tmp_path / "bag.committee"
    model = BaggingClassifier(
        n_estimators=30, oob_score=True, weighting="oob", max_features=0.5, random_state=0
    )
    committee.save(model.fit(X, y), path)
    copy = committee.load(path)
    assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(copy.oob_curve_.score, model.oob_curve_.score, equal_nan=True)
    for mine, theirs in zip(copy.estimators_samples_, model.estimators_samples_, strict=True):
        assert np.array_equal(mine, theirs)
    foreign = BaggingClassifier(GaussianNB()).fit(X, y)
    with pytest.raises(TypeError, match=r"GaussianNB; a model file .* 'sklearn' .*skops"):
        committee.save(foreign, path)


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an int >= 1; got 0"),
        ({"n_estimators": 2.0}, r"n_estimators must be an int >= 1; got 2\.0"),
        ({"max_samples": 0}, "max_samples must be None, an int >= 1 or a float > 0; got 0"),
        ({"max_features": 5}, "max_features must be <= n_features, here 4; got 5"),
        ({"max_features": 0.0}, "max_features must be None, "),
        ({"bootstrap": "yes"}, "bootstrap must be True or False; got 'yes'"),
        ({"voting": "loud"}, 'voting must be "soft" or "hard"; got'),
        ({"weighting": "train"}, 'weighting must be "oob" or None; got'),
        ({"stratify": True}, 'stratify must be "classes", "balanced" or None; got True'),
        ({"oob_score": "acuracy"}, "oob_score must be True, False, a metric"),
        ({"bootstrap": False, "oob_score": True}, "oob_score needs rows that some member has not"),
        ({"bootstrap": False, "weighting": "oob"}, 'weighting="oob" needs rows that some member'),
        ({"bootstrap": False, "max_samples": 151}, "at most 150 can be drawn"),
        ({"partition": True, "max_samples": 3}, "max_samples must be None with partition=True"),
        ({"partition": True, "n_estimators": 151}, "cannot deal 150 rows"),
        ({"partition": True, "stratify": "balanced"}, 'stratify must be None or "classes" with'),
        ({"n_jobs": 0}, "n_jobs must be None or an int other than 0"),
        ({"random_state": -1}, "random_state must be"),
        ({"verbose": -1}, "verbose must be an int >= 0"),
        ({"estimator": DecisionTreeRegressor()}, "estimator must be a classifier; got Dec"),
        ({"estimator": DecisionTreeClassifier}, "estimator must be an instance of a classifier"),
        ({"estimator": "tree"}, "estimator must be an instance of a classifier with fit"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_in_plain_words(options, message, iris):
    with pytest.raises((ValueError, TypeError), match=message):
        BaggingClassifier(**options).fit(*iris)


def test_input_that_makes_no_sense_is_refused_in_plain_words(iris):
    X, y = iris
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        BaggingClassifier().fit(X, y, -np.ones(150))
    with pytest.raises(ValueError, match="groups must have one entry a row"):
        BaggingClassifier().fit(X, y, groups=[1, 2])
    with pytest.raises(ValueError, match="y should be a 1d array, got an array of shape"):
        BaggingClassifier().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BaggingRegressor().fit(X, y[:-1])
    with pytest.raises(TypeError, match="unexpected keyword argument 'stratify'"):
        BaggingRegressor(stratify="classes")
    with pytest.raises(ValueError, match='combine must be "mean" or "median"'):
        BaggingRegressor(combine="mode").fit(X, y)
    with pytest.raises(NotFittedError, match="This BaggingRegressor instance is not fitted yet"):
        BaggingRegressor().predict(X)
    with pytest.warns(UserWarning, match="drawn without replacement: a row of weight two"):
        BaggingRegressor(bootstrap=False, max_samples=50).fit(X, y, np.ones(150) + y)
    model = BaggingClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but BaggingClassifier is expecting 4"):
        model.predict(X[:, :2])
