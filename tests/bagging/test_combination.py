"""Members of bagging combined: naive loops, lecture numbers, weights, classes that are missing."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC

from committee import DecisionTreeClassifier, DecisionTreeRegressor
from committee.bagging.classifier import BaggingClassifier
from committee.bagging.regressor import BaggingRegressor

# --- oracle ---------------------------------------------------------------------------------------


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


# --- lectures -------------------------------------------------------------------------------------


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


# --- combinations ---------------------------------------------------------------------------------


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


# --- a class that is missing from a sample --------------------------------------------------------


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
