"""Weak learners of any kind: perfect, useless and contrary ones, drawn rows, what is refused."""

import math

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from adaboost_tools import BOTH, ENGINE, VARIANTS, Scripted, assert_same_committee, flipped, follow
from reference_adaboost import (
    log_odds,
)
from scipy.stats import chisquare
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from committee import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
)

# --- good, bad and useless learners ---------------------------------------------------------------


class Contrary(ClassifierMixin, BaseEstimator):
    """Says the opposite of a stump."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        stump = sklearn.tree.DecisionTreeClassifier(max_depth=1, random_state=0)
        self.stump_ = stump.fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return self.classes_[1 - np.searchsorted(self.classes_, self.stump_.predict(X))]


@pytest.mark.parametrize("n_classes", [2], indirect=True)
def test_a_learner_that_is_mostly_wrong_votes_for_the_other_class(case):
    X, y, weight = case
    stump = sklearn.tree.DecisionTreeClassifier(max_depth=1)
    params = {"n_estimators": 12, "keep_weights": True, "calibration": "train"}
    usual = AdaBoostClassifier(stump, **params).fit(X, y, weight)
    wrong = AdaBoostClassifier(Contrary(), **params).fit(X, y, weight)
    assert (wrong.estimator_errors_ > 0.5).all()
    assert (wrong.estimator_weights_ < 0).all()
    np.testing.assert_allclose(wrong.estimator_errors_, 1 - usual.estimator_errors_, rtol=1e-12)
    np.testing.assert_allclose(wrong.estimator_weights_, -usual.estimator_weights_, rtol=1e-11)
    np.testing.assert_allclose(wrong.trace_.normalizer, usual.trace_.normalizer, rtol=1e-12)
    np.testing.assert_allclose(wrong.trace_.bound, usual.trace_.bound, rtol=1e-12)
    np.testing.assert_allclose(wrong.trace_.distributions, usual.trace_.distributions, rtol=1e-11)
    np.testing.assert_allclose(wrong.decision_function(X), usual.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(wrong.predict_proba(X), usual.predict_proba(X), rtol=1e-8)
    np.testing.assert_allclose(wrong.margins(X, y), usual.margins(X, y), atol=1e-12)
    np.testing.assert_array_equal(wrong.predict(X), usual.predict(X))


@pytest.mark.parametrize("name", [*ENGINE, "foreign"])
def test_a_perfect_learner_is_the_only_one_and_has_a_finite_weight(name):
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    y = np.array(["no", "no", "yes", "yes"])
    model = AdaBoostClassifier(**VARIANTS[name]).fit(X, y)
    assert len(model) == 1
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.trace_.train_error.tolist() == [0.0]
    assert model.predict(X).tolist() == y.tolist()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("is_contrary", [False, True])
def test_a_perfect_learner_decides_against_all_before_it(is_contrary):
    y = np.arange(10) % 2
    last = 1 - y if is_contrary else y
    script = [flipped(y, [0, 1]), flipped(y, [0, 1, 2]), last, flipped(y, [5])]
    model, X = follow(script, y)
    assert len(model) == 3
    before = model.estimator_weights_[:2]
    assert abs(model.estimator_weights_[2]) == pytest.approx(1 + np.abs(before).sum())
    assert (model.estimator_weights_[2] < 0) == is_contrary
    np.testing.assert_array_equal(model.predict(X), y)
    if not is_contrary:
        assert model.trace_.bound[-1] == 0
    assert model.trace_.train_error.tolist() == [0.2, 0.2, 0.0]


def test_boosting_stops_before_a_learner_that_is_no_better_than_chance():
    y = np.arange(10) % 2
    first = flipped(y, [0, 1, 2])
    # After the first round those three have half of the weight.
    for second in (first, flipped(y, [3, 4, 5, 6, 7, 8, 9])):
        model, _ = follow([first, second, flipped(y, [4])], y)
        assert len(model) == 1
        assert model.estimator_errors_.tolist() == [pytest.approx(0.3)]


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
def test_where_nothing_beats_chance_there_is_one_member_and_a_warning(variant):
    X = np.ones((6, 2))
    model = AdaBoostClassifier(variant=variant)
    with pytest.warns(UserWarning, match="no better than chance"):
        model.fit(X, ["b", "a", "b", "a", "b", "a"])
    assert len(model) == 1
    assert model.estimator_errors_.tolist() == [0.5]
    np.testing.assert_array_equal(model.predict_proba(X)[:, 0] >= 0.5, True)
    assert set(model.predict(X)) == {"a"}
    assert model.trace_.rules == ["always a"]


def test_the_majority_is_said_where_features_are_constant():
    X, y = np.ones((10, 1)), np.array([0] * 3 + [1] * 7)
    model = AdaBoostClassifier().fit(X, y)
    assert len(model) == 1  # after one round both classes weigh the same
    assert model.estimator_errors_[0] == pytest.approx(0.3)
    assert set(model.predict(X)) == {1}


def test_m1_needs_learners_that_are_right_half_of_the_time_samme_does_not():
    y = np.arange(30) % 3
    first = flipped(y, np.arange(9), 3)  # 0.3 of the weight is wrong
    second = flipped(y, np.arange(4, 20), 3)
    samme, _ = follow([first, second], y)
    m1, _ = follow([first, second], y, multiclass="M1")
    for model in (samme, m1):
        assert model.estimator_errors_[0] == pytest.approx(0.3)
    assert samme.estimator_weights_[0] == pytest.approx(math.log(7 / 3) + math.log(2))
    assert m1.estimator_weights_[0] == pytest.approx(math.log(7 / 3))
    assert len(samme) == 2
    assert 0.5 < samme.estimator_errors_[1] < 2 / 3
    assert samme.estimator_weights_[1] > 0
    assert len(m1) == 1  # its second error is more than half, too
    wrong = np.where(y != first, 7 / 3, 1.0)
    assert wrong[y != second].sum() / wrong.sum() > 0.5


def test_an_error_between_the_two_limits_alone_is_of_use_to_samme_only():
    y = np.arange(30) % 3
    predicted = flipped(y, np.arange(18), 3)
    model, _ = follow([predicted], y)
    assert model.estimator_weights_[0] == pytest.approx(math.log(12 / 18) + math.log(2))
    with pytest.warns(UserWarning, match="needs less than 1/2"):
        model, X = follow([predicted], y, multiclass="M1")
    assert model.estimator_weights_.tolist() == [1.0]
    np.testing.assert_array_equal(model.predict(X), predicted)


@pytest.mark.parametrize("n_classes", [2], indirect=True)
def test_two_classes_are_the_same_by_samme_and_m1(case):
    X, y, weight = case
    a = AdaBoostClassifier(n_estimators=20).fit(X, y, weight)
    b = AdaBoostClassifier(n_estimators=20, multiclass="M1").fit(X, y, weight)
    assert_same_committee(a, b, X)


# --- resampling -----------------------------------------------------------------------------------


class Recorder(Scripted):
    """Takes no weights; remembers how often each row was drawn."""

    drawn: list = []  # noqa: RUF012

    def fit(self, X, y):
        type(self).drawn.append(np.asarray(X)[:, 0].astype(int))
        return super().fit(X, y)


def test_rows_are_drawn_as_often_as_they_weigh(rng):
    y = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    X = np.arange(8.0)[:, None]
    start = np.array([1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0])
    first, second = flipped(y, [0, 3]), flipped(y, [1, 2])
    Recorder.drawn = []
    for seed in rng.integers(0, 2**31, 300):
        Recorder.script = [first, second]
        model = AdaBoostClassifier(
            Recorder(),
            n_estimators=2,
            random_state=int(seed),
            calibration=None,
            keep_weights=True,
        ).fit(X, y, start)
    assert len(Recorder.drawn) == 600
    # As many as there are rows, whatever they weigh.
    assert {len(each) for each in Recorder.drawn} == {8}
    again = start * np.where(first != y, 15 / 5, 1.0)
    np.testing.assert_allclose(model.trace_.distributions, [start / 20, again / again.sum()])
    for part, weights in ((Recorder.drawn[0::2], start), (Recorder.drawn[1::2], again)):
        counts = np.bincount(np.concatenate(part), minlength=8)
        assert chisquare(counts, counts.sum() * weights / weights.sum()).pvalue > 1e-4
        # The test can fail: it tells these weights from equal ones.
        assert chisquare(counts, np.full(8, counts.sum() / 8)).pvalue < 1e-4


def test_trees_of_the_engine_are_grown_from_drawn_rows_too(rng):
    # A tree without a split has the drawn shares of the classes as its value.
    X, y = np.ones((50, 1)), np.repeat([0, 1], [10, 40])
    shares, sizes = [], set()
    for seed in rng.integers(0, 2**31, 100):
        tree = DecisionTreeClassifier(max_depth=2)
        model = AdaBoostClassifier(tree, n_estimators=1, resampling=True, random_state=int(seed))
        model.fit(X, y)
        shares.append(model[0].tree_.value[0, 0, 1])
        sizes.add(int(model[0].tree_.weighted_n_node_samples[0]))
    assert sizes == {50}
    deviation = math.sqrt(0.8 * 0.2 / 50)
    assert np.mean(shares) == pytest.approx(0.8, abs=5 * deviation / 10)
    assert np.std(shares) == pytest.approx(deviation, rel=0.4)


def test_learners_that_take_no_weights_are_fitted_to_drawn_rows(case):
    X, y, _ = case
    model = AdaBoostClassifier(KNeighborsClassifier(5), n_estimators=8, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7
    assert len(model) > 1
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    assert AdaBoostClassifier(pipe, n_estimators=4, random_state=0).fit(X, y).score(X, y) > 0.6
    with pytest.raises(ValueError, match="resampling must be"):
        AdaBoostClassifier(KNeighborsClassifier(), resampling=False).fit(X, y)


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2), GaussianNB()])
def test_draws_depend_on_the_seed_alone(estimator, case):
    X, y, _ = case
    models = [
        AdaBoostClassifier(
            estimator, n_estimators=6, resampling=True, random_state=seed, n_jobs=n_jobs
        ).fit(X, y)
        for seed, n_jobs in ((1, 1), (1, 2), (2, 1))
    ]
    assert_same_committee(models[0], models[1], X)
    assert models[0].estimator_errors_.tolist() != models[2].estimator_errors_.tolist()
    # Errors are those of all rows in the distribution, whatever was drawn.
    stages = 1 - np.array(list(models[0].staged_score(X, y)))
    np.testing.assert_allclose(models[0].trace_.train_error, stages, atol=1e-12)


# --- learners of any kind -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        RidgeClassifier(),
        GaussianNB(),
        sklearn.tree.DecisionTreeClassifier(max_depth=2),
        DecisionTreeClassifier(max_depth=2, class_weight="balanced"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_any_classifier_is_boosted(estimator, case, n_classes):
    X, y, weight = case
    labels = np.array(["one", "two", "three"])[y]
    model = AdaBoostClassifier(estimator, n_estimators=6, random_state=0)
    model.fit(X, labels, weight)
    assert all(isinstance(member, type(estimator)) for member in model)
    weights = [log_odds(error, n_classes) for error in model.estimator_errors_]
    np.testing.assert_allclose(model.estimator_weights_, weights, rtol=1e-9)
    assert model.score(X, labels, weight) > 0.6
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_array_equal(last, model.predict_proba(X))
    assert model.estimator_.get_params() == estimator.get_params()
    assert not hasattr(estimator, "classes_")


def test_probabilities_are_asked_for_only_where_they_exist(case):
    X, y, _ = case
    with pytest.raises(ValueError, match='variant must be "discrete"'):
        AdaBoostClassifier(RidgeClassifier(), variant="real").fit(X, y)


def test_a_learner_that_says_what_is_no_class_is_refused(rng):
    y = np.arange(6) % 2
    with pytest.raises(ValueError, match="none of the classes"):
        follow([np.full(6, 9)], y)


@pytest.mark.parametrize("cls", BOTH)
def test_the_wrong_kind_of_estimator_is_refused(cls):
    other = LinearRegression() if cls is AdaBoostClassifier else LogisticRegression()
    with pytest.raises((TypeError, ValueError), match="estimator"):
        cls(other).fit([[1.0], [2.0]], [0, 1])


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_a_draw_that_repeats_the_last_stump_does_not_end_boosting(seed):
    # One feature of two values: most draws give the same stump, whose error is 1/2 by then.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(200, 3)).astype(float)
    y = ((X.sum(axis=1) >= 2) ^ (rng.random(200) < 0.2)).astype(int)
    model = AdaBoostClassifier(n_estimators=10, resampling=True, random_state=seed).fit(X, y)
    assert len(model) == 10
    assert (np.abs(model.estimator_errors_ - 0.5) > 1e-10).all()
