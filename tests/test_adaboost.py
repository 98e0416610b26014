"""What AdaBoost promises: rounds, weights, votes, probabilities, any learner, any table."""

import math
import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.ensemble
import sklearn.tree
from reference_adaboost import (
    best_stump,
    confidence_rated,
    discrete,
    gentle_scores,
    log_odds,
    lower_median,
    r2,
    real_scores,
    regression_stump_learner,
    stump_learner,
    threshold_of,
)
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from scipy.stats import chisquare
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss, mean_absolute_error
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)
from committee.adaboost.fit import _is_stump
from committee.adaboost.median import RunningMedian

BOTH = [AdaBoostClassifier, AdaBoostRegressor]

# Every kind of committee of classes in which nothing is drawn.
VARIANTS = {
    "discrete": {},
    "error": {"criterion": "error"},
    "M1": {"multiclass": "M1", "criterion": "error"},
    "real": {"variant": "real"},
    "gentle": {"variant": "gentle"},
    "slow": {"learning_rate": 0.3},
    "hist": {"split_finding": "hist", "max_bins": 12},
    "trees": {"estimator": DecisionTreeClassifier(max_depth=2)},
    "real trees": {"estimator": DecisionTreeClassifier(max_depth=2), "variant": "real"},
    "foreign": {"estimator": GaussianNB()},
    "foreign gentle": {"estimator": GaussianNB(), "variant": "gentle"},
}
ENGINE = [name for name in VARIANTS if "foreign" not in name]


@pytest.fixture(params=[2, 3])
def n_classes(request):
    return request.param


@pytest.fixture
def case(n_classes, rng):
    """Numbers, classes and weights in which no two stumps are equally good."""
    X = rng.normal(size=(70, 3)).astype(np.float32).astype(float)
    y = np.digitize(X[:, 0] + X[:, 1] / 2 + rng.normal(size=70) / 2, np.arange(n_classes - 1) - 0.4)
    y[:n_classes] = np.arange(n_classes)
    return X, y, rng.uniform(0.5, 1.5, 70)


@pytest.fixture
def frame(rng):
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.choice(["x", "y", "z"], 120)})
    X["c"] = pd.Categorical(rng.choice(["u", "v"], 120), ["v", "u", "w"])
    X["d"] = rng.integers(-3, 4, 120)
    y = np.where(X["a"] + (X["b"] == "x") + rng.normal(size=120) / 2 > 0.3, "yes", "no")
    X.loc[rng.random(120) < 0.1, "a"] = np.nan
    X.loc[rng.random(120) < 0.1, "b"] = None
    return X, y


def votes_of(model, X, n_classes):
    """Sums of votes, from what members predict and their weights (discrete variant)."""
    votes = np.zeros((len(X), n_classes))
    for member, weight in zip(model.estimators_, model.estimator_weights_, strict=True):
        predicted = np.searchsorted(model.classes_, member.predict(X))
        votes[np.arange(len(X)), predicted] += weight
    return votes


def assert_same_committee(a, b, X):
    """Bit by bit, but for the temperature, which is a sum over rows in their order."""
    np.testing.assert_array_equal(a.estimator_errors_, b.estimator_errors_)
    np.testing.assert_array_equal(a.estimator_weights_, b.estimator_weights_)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    if hasattr(a, "decision_function"):
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-8)


# --- rounds against the naive committee -----------------------------------------------------------


@pytest.mark.parametrize("multiclass", ["SAMME", "M1"])
@pytest.mark.parametrize("learning_rate", [1.0, 0.4])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_rounds_are_those_of_the_naive_committee(
    criterion, learning_rate, multiclass, case, n_classes
):
    X, y, weight = case
    model = AdaBoostClassifier(
        n_estimators=10,
        criterion=criterion,
        learning_rate=learning_rate,
        multiclass=multiclass,
        keep_weights=True,
    ).fit(X, y, weight)
    learn = stump_learner(X, y, criterion)
    rounds = discrete(learn, y, n_classes, 10, weight, learning_rate, multiclass)
    if n_classes > 2 and criterion == "error":
        # A row of the third class is wrong on both sides: several stumps are equally good.
        for error, distribution in zip(model.trace_.error, model.trace_.distributions, strict=True):
            best = best_stump(X, y, distribution, criterion)
            assert error == pytest.approx(best.left_over, rel=1e-12)
        return
    assert len(model) == len(rounds) > 1
    trace = model.trace_
    for name in ("error", "weight", "normalizer", "train_error"):
        expected = [getattr(each, name) for each in rounds]
        np.testing.assert_allclose(getattr(trace, name), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        trace.distributions, [each.distribution for each in rounds], rtol=1e-12
    )
    np.testing.assert_allclose(votes_of(model, X, n_classes), rounds[-1].votes, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), rounds[-1].votes.argmax(axis=1))
    for member, each in zip(model.estimators_, rounds, strict=True):
        stump = best_stump(X, y, each.distribution, criterion)
        assert member.tree_.feature[0] == stump.feature
        assert member.tree_.threshold[0] == threshold_of(stump, X)


@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
@pytest.mark.parametrize("variant", ["real", "gentle"])
def test_real_and_gentle_rounds_are_those_of_the_naive_committee(
    variant, learning_rate, case, n_classes
):
    X, y, weight = case
    model = AdaBoostClassifier(
        n_estimators=10, variant=variant, learning_rate=learning_rate, keep_weights=True
    ).fit(X, y, weight)
    rounds = confidence_rated(
        lambda distribution: best_stump(X, y, distribution).left,
        y,
        n_classes,
        10,
        variant,
        weight,
        learning_rate,
        smoothing=0.02,  # of the weight for each class, as is documented
    )
    assert len(model) == len(rounds) == 10
    for name in ("error", "weight", "normalizer", "train_error"):
        expected = [getattr(each, name) for each in rounds]
        np.testing.assert_allclose(getattr(model.trace_, name), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        model.trace_.distributions, [each.distribution for each in rounds], rtol=1e-11
    )
    votes = rounds[-1].votes
    # Divided by the number of members; for two classes twice their difference.
    scores = 2 * (votes[:, 1] - votes[:, 0]) / 10 if n_classes == 2 else votes / 10
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-11, atol=1e-13)
    softmax = np.exp(log_softmax(votes / model.temperature_, axis=1))
    np.testing.assert_allclose(model.predict_proba(X), softmax, rtol=1e-9)


@pytest.mark.parametrize("variant", ["real", "gentle"])
def test_any_learner_with_probabilities_is_boosted_as_real_and_gentle_are_defined(
    variant, case, n_classes
):
    X, y, weight = case
    model = AdaBoostClassifier(GaussianNB(), n_estimators=4, variant=variant).fit(X, y, weight)
    distribution, votes = weight / weight.sum(), np.zeros((70, n_classes))
    for number in range(4):
        learner = GaussianNB().fit(X, y, 70 * distribution)
        error = distribution[learner.predict(X) != y].sum()
        assert model.estimator_errors_[number] == pytest.approx(error, rel=1e-9)
        p = learner.predict_proba(X)
        rows = [real_scores(row, 0.02) if variant == "real" else gentle_scores(row) for row in p]
        votes += np.array(rows)
        distribution = distribution * np.exp(-np.array(rows)[np.arange(70), y])
        distribution /= distribution.sum()
    assert len(model) == 4
    scores = 2 * (votes[:, 1] - votes[:, 0]) if n_classes == 2 else votes
    np.testing.assert_allclose(model.decision_function(X), scores / 4, rtol=1e-7, atol=1e-9)


# --- scikit-learn -----------------------------------------------------------------------------


@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
def test_committees_of_stumps_are_those_of_scikit_learn(learning_rate, case, n_classes):
    # Tie-free and of the precision that scikit-learn reads. It weighs in another order, and takes
    # the wrong ones off by logarithms: rounding grows by a few units in each round.
    X, y, weight = case
    theirs = sklearn.ensemble.AdaBoostClassifier(
        sklearn.tree.DecisionTreeClassifier(max_depth=1),
        n_estimators=25,
        learning_rate=learning_rate,
        random_state=0,
    ).fit(X, y, weight)
    ours = AdaBoostClassifier(n_estimators=25, learning_rate=learning_rate).fit(X, y, weight)
    assert len(ours) == len(theirs.estimators_) == 25
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-11)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-10)
    new = np.concatenate([X, X[::-1] + 0.01])
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    np.testing.assert_allclose(
        ours.decision_function(new), theirs.decision_function(new), atol=1e-11
    )
    for name in ("staged_predict", "staged_decision_function"):
        for a, b in zip(getattr(ours, name)(new), getattr(theirs, name)(new), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-11)
    scores = list(theirs.staged_score(X, y, weight))
    np.testing.assert_allclose(list(ours.staged_score(X, y, weight)), scores, rtol=1e-14)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-10)


class Scripted(ClassifierMixin, BaseEstimator):
    """Says what the script has for its round; the first column of X is the number of the row."""

    script: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.answers_ = np.asarray(type(self).script.pop(0))
        return self

    def predict(self, X):
        return self.answers_[np.asarray(X)[:, 0].astype(int)]


def follow(script, y, **params):
    """Boost learners that say what is in the script."""
    Scripted.script = [np.asarray(each) for each in script]
    X = np.arange(float(len(y)))[:, None]
    params = {"n_estimators": len(script), "calibration": None, "keep_weights": True} | params
    return AdaBoostClassifier(Scripted(), **params).fit(X, y), X


def flipped(y, wrong, n_classes=2):
    """The right answers but for some rows."""
    predicted = np.array(y)
    predicted[wrong] = (predicted[wrong] + 1) % n_classes
    return predicted


def test_learners_of_a_script_are_weighed_as_by_scikit_learn():
    y = np.arange(12) % 3
    script = [flipped(y, wrong, 3) for wrong in ([0, 1], [2, 3, 4], [5, 6], [0, 7, 8])]
    ours, X = follow(script, y)
    Scripted.script = script.copy()
    theirs = sklearn.ensemble.AdaBoostClassifier(Scripted(), n_estimators=4).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-13)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-13)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-14)
    assert ours.estimator_errors_[0] == pytest.approx(2 / 12)
    assert ours.estimator_weights_[0] == pytest.approx(math.log(5) + math.log(2))


# --- weights, bounds, margins ---------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_distributions_add_up_to_one_and_stay_so(name, case):
    X, y, weight = case
    model = AdaBoostClassifier(n_estimators=15, keep_weights=True, **VARIANTS[name])
    distributions = model.fit(X, y, weight).trace_.distributions
    assert distributions.shape == (len(model), 70)
    assert (distributions > 0).all()
    for each in distributions:
        assert math.fsum(each) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(distributions[0], weight / weight.sum(), rtol=1e-14)
    assert AdaBoostClassifier(n_estimators=2).fit(X, y).trace_.distributions is None


@pytest.mark.parametrize("name", ["discrete", "error", "M1", "slow", "trees", "foreign"])
def test_distributions_are_products_of_what_the_wrong_rounds_did(name, case, n_classes):
    X, y, weight = case
    model = AdaBoostClassifier(n_estimators=12, keep_weights=True, **VARIANTS[name])
    trace = model.fit(X, y, weight).trace_
    wrong = np.array([member.predict(X) != y for member in model.estimators_])
    for number, distribution in enumerate(trace.distributions):
        assert trace.error[number] == pytest.approx(math.fsum(distribution[wrong[number]]))
        logs = np.log(weight) + trace.weight[:number] @ wrong[:number]
        expected = np.exp(logs - logs.max())
        np.testing.assert_allclose(distribution, expected / expected.sum(), rtol=1e-11)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_normalizer_is_what_new_weights_add_up_to(name, case, n_classes):
    X, y, weight = case
    model = AdaBoostClassifier(n_estimators=12, keep_weights=True, **VARIANTS[name])
    trace = model.fit(X, y, weight).trace_
    if name in ("discrete", "error", "M1", "slow", "trees", "foreign"):
        error, beta = trace.error, trace.weight / 2
        Z = (1 - error) * np.exp(-beta) + error * np.exp(beta)
        np.testing.assert_allclose(trace.normalizer, Z, rtol=1e-13)
        np.testing.assert_array_equal(trace.beta, beta)
        if name != "slow" and (n_classes == 2 or name == "M1"):
            np.testing.assert_allclose(Z, 2 * np.sqrt(error * (1 - error)), rtol=1e-12)
    if n_classes == 2 or name in ("M1", "real", "gentle", "real trees", "foreign gentle"):
        assert (trace.normalizer < 1).all()  # the log(K - 1) of SAMME may make it larger


@pytest.mark.parametrize("name", VARIANTS)
def test_the_bound_holds_and_the_training_error_is_that_of_the_stages(name, case, n_classes):
    X, y, weight = case
    model = AdaBoostClassifier(n_estimators=30, **VARIANTS[name]).fit(X, y, weight)
    trace = model.trace_
    scores = np.array(list(model.staged_score(X, y, weight)))
    np.testing.assert_allclose(trace.train_error, 1 - scores, atol=1e-13)
    if n_classes == 2 or name == "M1":
        np.testing.assert_allclose(trace.bound, np.cumprod(trace.normalizer), rtol=1e-12)
        assert (trace.train_error <= trace.bound + 1e-12).all()
        assert "bound" in trace.to_frame()
    else:  # the product says nothing about the errors of these
        assert np.isnan(trace.bound).all()
        assert "bound" not in trace.to_frame()


def test_the_smaller_the_error_the_larger_the_weight():
    y = np.arange(40) % 2
    script = [flipped(y, np.arange(n_wrong)) for n_wrong in (1, 2, 5, 10, 15, 19, 21, 30, 39)]
    weights, errors = [], []
    for predicted in script:
        model, _ = follow([predicted], y)
        weights += model.estimator_weights_.tolist()
        errors += model.estimator_errors_.tolist()
    np.testing.assert_allclose(errors, np.array([1, 2, 5, 10, 15, 19, 21, 30, 39]) / 40)
    assert (np.diff(weights) < 0).all()
    np.testing.assert_allclose(weights, [log_odds(error) for error in errors])
    assert weights[6] == pytest.approx(-weights[5])


@pytest.mark.parametrize("name", ["discrete", "M1", "trees", "foreign", "slow"])
def test_margins_are_votes_for_the_class_less_the_best_other_ones(name, case, n_classes):
    X, y, weight = case
    model = AdaBoostClassifier(n_estimators=9, **VARIANTS[name]).fit(X, y, weight)
    votes = votes_of(model, X, n_classes) / np.abs(model.estimator_weights_).sum()
    others = np.where(np.eye(n_classes, dtype=bool)[y], -np.inf, votes).max(axis=1)
    margins = model.margins(X, y)
    np.testing.assert_allclose(margins, votes[np.arange(70), y] - others, atol=1e-13)
    np.testing.assert_array_equal(margins < 0, model.predict(X) != y)
    assert np.abs(margins).max() <= 1 + 1e-12
    with pytest.raises(ValueError, match="y"):
        model.margins(X, np.full(70, 17))


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


# --- fast stumps and trees ------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_stumps_of_the_engine_are_trees_of_one_split(criterion, variant, case):
    X, y, weight = case
    X = X.copy()
    X[::9, 1] = np.nan
    fast = DecisionTreeClassifier(max_depth=1, criterion=criterion)
    slow = clone(fast).set_params(max_leaf_nodes=2)
    assert _is_stump(fast)
    assert not _is_stump(slow)
    params = {"n_estimators": 15, "variant": variant}
    a = AdaBoostClassifier(fast, **params).fit(X, y, weight)
    b = AdaBoostClassifier(slow, **params).fit(X, y, weight)
    c = AdaBoostClassifier(criterion=criterion, **params).fit(X, y, weight)
    assert_same_committee(a, c, X)
    # Trees put weights on a grid of their own, which is coarser than that of stumps.
    np.testing.assert_allclose(a.estimator_errors_, b.estimator_errors_, rtol=1e-10)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-9)
    assert [each.tree_.threshold[0] for each in a] == [each.tree_.threshold[0] for each in b]


def test_stumps_of_categories_are_those_of_trees(frame, rng):
    X, y = frame
    weight = rng.uniform(0.5, 1.5, 120)
    a = AdaBoostClassifier(n_estimators=15).fit(X, y, weight)
    slow = DecisionTreeClassifier(max_depth=1, min_samples_split=3)
    assert not _is_stump(slow)
    b = AdaBoostClassifier(slow, n_estimators=15).fit(X, y, weight)
    assert a.trace_.rules == b.trace_.rules
    np.testing.assert_allclose(a.estimator_errors_, b.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-8)


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


# --- early stopping -------------------------------------------------------------------------------


@pytest.fixture
def noisy(rng):
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300) > 0.8).astype(int)
    return (X[:200], y[:200]), (X[200:], y[200:])


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2), GaussianNB()])
def test_early_stopping_goes_back_to_the_best_round(estimator, noisy):
    (X, y), held = noisy
    whole = AdaBoostClassifier(estimator, n_estimators=60, calibration=None).fit(X, y)
    scores = list(whole.staged_score(*held))
    model = AdaBoostClassifier(
        estimator, n_estimators=60, n_iter_no_change=6, calibration=None
    ).fit(X, y, eval_set=held)
    n_run = len(model.validation_scores_)
    np.testing.assert_allclose(model.validation_scores_, scores[:n_run], rtol=1e-12)
    best = int(np.argmax(model.validation_scores_)) + 1
    assert len(model) == len(model.trace_) == best
    assert n_run == min(best + 6, len(whole))
    np.testing.assert_array_equal(model.estimator_weights_, whole.estimator_weights_[:best])
    assert model.score(*held) == pytest.approx(max(scores[:n_run]))
    np.testing.assert_array_equal(model.trace_.validation_score, model.validation_scores_[:best])


def test_rows_held_out_are_not_learnt_from(noisy):
    (X, y), _ = noisy
    model = AdaBoostClassifier(
        n_estimators=50,
        n_iter_no_change=4,
        validation_fraction=0.2,
        keep_weights=True,
        random_state=3,
    ).fit(X, y)
    held = model.trace_.distributions[0] == 0
    assert held.sum() == 40
    assert (model.trace_.distributions[:, held] == 0).all()
    assert (model.trace_.distributions[:, ~held] > 0).all()
    np.testing.assert_allclose(model.trace_.distributions.sum(axis=1), 1)
    assert model.score(X[held], y[held]) == pytest.approx(model.validation_scores_.max())
    stages = np.array(list(model.staged_score(X[~held], y[~held])))
    np.testing.assert_allclose(model.trace_.train_error, 1 - stages, atol=1e-12)
    # Each class has its share of them.
    assert abs(y[held].mean() - y.mean()) < 0.02
    alone = AdaBoostClassifier(n_estimators=len(model)).fit(X[~held], y[~held])
    np.testing.assert_array_equal(alone.estimator_errors_, model.estimator_errors_)


def test_scores_of_validation_rows_are_those_that_are_asked_for(noisy):
    (X, y), held = noisy
    params = {"n_estimators": 25, "n_iter_no_change": 25, "calibration": None}
    by_name = AdaBoostClassifier(scoring="neg_log_loss", **params).fit(X, y, eval_set=held)
    whole = AdaBoostClassifier(n_estimators=25, calibration=None).fit(X, y)
    expected = [-log_loss(held[1], p) for p in whole.staged_predict_proba(held[0])]
    np.testing.assert_allclose(by_name.validation_scores_, expected, rtol=1e-9)
    assert len(by_name) == np.argmax(expected) + 1
    by_metric = AdaBoostClassifier(scoring=balanced_accuracy_score, **params)
    by_metric.fit(X, y, eval_set=held)
    expected = [balanced_accuracy_score(held[1], each) for each in whole.staged_predict(held[0])]
    np.testing.assert_allclose(by_metric.validation_scores_, expected)
    weight = np.linspace(0.1, 2, 100)
    weighted = AdaBoostClassifier(**params).fit(X, y, eval_set=(*held, weight))
    expected = list(whole.staged_score(*held, weight))
    np.testing.assert_allclose(weighted.validation_scores_, expected, rtol=1e-12)


def test_improvements_below_tol_do_not_count(noisy):
    (X, y), held = noisy
    params = {"n_estimators": 60, "n_iter_no_change": 3, "scoring": "neg_log_loss"}
    patient = AdaBoostClassifier(**params).fit(X, y, eval_set=held)
    strict = AdaBoostClassifier(tol=0.5, **params).fit(X, y, eval_set=held)
    assert len(strict.validation_scores_) == 4
    assert len(patient.validation_scores_) > 4


@pytest.mark.parametrize("cls", BOTH)
def test_a_bad_eval_set_is_named(cls, noisy):
    (X, y), (new, labels) = noisy
    with pytest.raises(TypeError, match="eval_set must be a tuple"):
        cls(n_estimators=2).fit(X, y, eval_set=[new, labels])
    with pytest.raises(ValueError, match="eval_set"):
        cls(n_estimators=2).fit(X, y, eval_set=(new[:, :2], labels))
    with pytest.raises(ValueError, match="eval_set"):
        cls(n_estimators=2).fit(X, y, eval_set=(new, labels[:5]))
    if cls is AdaBoostClassifier:
        with pytest.raises(ValueError, match="eval_set"):
            cls(n_estimators=2).fit(X, y, eval_set=(new, labels + 5))


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_probabilities_add_up_and_agree_with_the_predictions(name, case, n_classes):
    X, y, _ = case
    labels = np.array(["b", "a", "c"])[y]
    model = AdaBoostClassifier(n_estimators=12, **VARIANTS[name]).fit(X, labels)
    assert model.classes_.tolist() == ["a", "b", "c"][:n_classes]
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    scores = model.decision_function(X)
    if n_classes == 2:
        np.testing.assert_array_equal(scores > 0, model.predict(X) == "b")
    else:
        np.testing.assert_array_equal(scores.argmax(axis=1), p.argmax(axis=1))
    other = clone(model).set_params(calibration=None).fit(X, labels)
    assert other.temperature_ == 1
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    for stage, staged in zip(model.staged_predict(X), model.staged_predict_proba(X), strict=True):
        np.testing.assert_array_equal(stage, model.classes_[staged.argmax(axis=1)])


@pytest.mark.parametrize("name", ENGINE)
def test_contributions_add_up_to_the_votes(name, case, n_classes):
    X, y, weight = case
    model = AdaBoostClassifier(n_estimators=8, **VARIANTS[name]).fit(X, y, weight)
    sums = model.predict_contributions(X).sum(axis=1)
    size = np.abs(model.estimator_weights_).sum()
    if n_classes == 2:
        np.testing.assert_allclose(sums, model.decision_function(X) * size / 2, atol=1e-10)
    else:
        logs = log_softmax(sums / model.temperature_, axis=1)
        np.testing.assert_allclose(np.exp(logs), model.predict_proba(X), rtol=1e-8)


def test_contributions_of_stumps_are_functions_of_one_feature_each(case, n_classes):
    X, y, weight = case
    X = np.column_stack([X, np.ones(70)])
    model = AdaBoostClassifier(n_estimators=8).fit(X, y, weight)
    values = model.predict_contributions(X).reshape(70, 5, -1)
    assert (values[:, 3] == 0).all()
    moved = X.copy()
    moved[:, 0] = X[::-1, 0]
    changed = model.predict_contributions(moved).reshape(70, 5, -1)
    np.testing.assert_allclose(changed[:, 1:], values[:, 1:], atol=1e-12)
    np.testing.assert_allclose(changed[:, 0], values[::-1, 0], atol=1e-12)
    foreign = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X[:, :3], y)
    with pytest.raises(AttributeError, match="predict_contributions"):
        foreign.predict_contributions(X[:, :3])


def test_importances_of_stumps_are_the_weights_of_those_that_ask_the_feature(case):
    X, y, weight = case
    model = AdaBoostClassifier(n_estimators=20).fit(X, y, weight)
    features = [member.tree_.feature[0] for member in model]
    expected = np.bincount(features, model.estimator_weights_, 3)
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), rtol=1e-10)
    foreign = AdaBoostClassifier(sklearn.tree.DecisionTreeClassifier(max_depth=2), n_estimators=4)
    foreign.fit(X, y, weight)
    by_hand = np.average(
        [member.feature_importances_ for member in foreign],
        axis=0,
        weights=foreign.estimator_weights_,
    )
    np.testing.assert_allclose(foreign.feature_importances_, by_hand)
    with pytest.raises(AttributeError, match="feature_importances_"):
        _ = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, y).feature_importances_


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=3)])
def test_the_temperature_makes_new_rows_likelier(estimator, variant, rng):
    # A fifth of the labels is noise, which long boosting learns by heart.
    X = rng.normal(size=(2200, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    y ^= rng.random(2200) < 0.2
    train, new = slice(0, 200), slice(200, None)
    n_rounds = 300 if estimator is None else 40
    model = AdaBoostClassifier(estimator, n_estimators=n_rounds, variant=variant)
    plain = clone(model).set_params(calibration=None).fit(X[train], y[train])
    model.set_params(calibration="folds").fit(X[train], y[train])
    assert model.temperature_ > 1
    losses = [log_loss(y[new], each.predict_proba(X[new])) for each in (plain, model)]
    assert losses[1] < losses[0]
    constant = log_loss(y[new], np.full(2000, y[train].mean()))
    assert losses[1] < constant
    np.testing.assert_array_equal(plain.predict(X[new]), model.predict(X[new]))


def test_the_temperature_is_the_one_under_which_validation_rows_are_likeliest(noisy, n_classes):
    (X, y), (new, labels) = noisy
    if n_classes == 3:
        y, labels = y + (X[:, 0] > 1), labels + (new[:, 0] > 1)
    model = AdaBoostClassifier(n_estimators=30).fit(X, y, eval_set=(new, labels))
    # Of n rows, each is right with probability (n + 1) / (n + 2).
    targets = np.full((100, n_classes), 1 / 102 / (n_classes - 1))
    targets[np.arange(100), labels] = 101 / 102
    votes = votes_of(model, new, n_classes)

    def loss(log_temperature):
        return -(targets * log_softmax(votes / math.exp(log_temperature), axis=1)).sum()

    best = minimize_scalar(loss, bounds=(-5, 8), method="bounded", options={"xatol": 1e-9})
    assert model.temperature_ == pytest.approx(math.exp(best.x), rel=1e-5)


def test_the_trace_is_a_table(case, n_classes):
    X, y, weight = case
    model = AdaBoostClassifier(n_estimators=14).fit(X, y, weight)
    trace = model.trace_
    table = trace.to_frame()
    assert table.index.tolist() == list(range(1, 15))
    assert table.index.name == "round"
    np.testing.assert_array_equal(table["error"], model.estimator_errors_)
    np.testing.assert_array_equal(table["weight"], model.estimator_weights_)
    assert "validation_score" not in table
    assert len(trace) == 14
    assert trace[0] == next(iter(trace)) == trace[:3][0]
    assert trace[-1]["weight"] == model.estimator_weights_[-1]
    with pytest.raises(IndexError):
        trace[14]
    assert repr(trace).count("\n") <= 12
    assert "error" in repr(trace)


def test_rules_say_what_stumps_ask_in_words(frame):
    simple = AdaBoostClassifier().fit([[1.0], [2.0]], ["no", "yes"])
    assert simple.trace_.rules == ["feature_0 <= 1.5: no, else yes"]
    X, y = frame
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    for member, rule in zip(model, model.trace_.rules, strict=True):
        assert rule.startswith(X.columns[member.tree_.feature[0]])
        assert rule.count("yes") + rule.count("no") >= 2
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=1).fit(X, y)
    assert deep.trace_.rules == ["a tree of 4 leaves"]
    assert AdaBoostClassifier(GaussianNB(), n_estimators=1).fit(X[["d"]], y).trace_.rules == []


def test_what_is_not_fitted_says_so():
    for cls in BOTH:
        model = cls()
        assert not hasattr(model, "trace_")
        assert not hasattr(model, "feature_importances_")
        for ask in (lambda m: m.predict([[1.0]]), len, iter, lambda m: m[0]):
            with pytest.raises(sklearn.exceptions.NotFittedError):
                ask(model)


# --- weights of rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_a_row_of_weight_zero_is_absent(name, case):
    X, y, _ = case
    weight = np.ones(70)
    weight[10::3] = 0.0
    calibration = "auto" if name in ENGINE else None
    model = AdaBoostClassifier(n_estimators=8, calibration=calibration, **VARIANTS[name])
    a = clone(model).fit(X, y, weight)
    b = clone(model).fit(X[weight > 0], y[weight > 0])
    assert a.temperature_ == pytest.approx(b.temperature_, rel=1e-9)
    if name in ENGINE:
        assert_same_committee(a, b, X)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_row_of_weight_two_is_the_row_twice(name, case, rng):
    X, y, _ = case
    weight = np.r_[np.ones(6, int), rng.integers(0 if name in ENGINE else 1, 4, 64)]
    repeated = np.repeat(np.arange(70), weight)
    model = AdaBoostClassifier(n_estimators=8, **VARIANTS[name])
    a = clone(model).fit(X, y, weight)
    b = clone(model).fit(X[repeated], y[repeated])
    assert a.temperature_ == pytest.approx(b.temperature_, rel=1e-6)
    np.testing.assert_allclose(a.estimator_errors_, b.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))


@pytest.mark.parametrize("name", [*ENGINE, "foreign"])
def test_the_order_of_rows_does_not_matter(name, case, rng):
    X, y, weight = case
    order = rng.permutation(70)
    model = AdaBoostClassifier(n_estimators=8, **VARIANTS[name])
    a = clone(model).fit(X, y, weight)
    b = clone(model).fit(X[order], y[order], weight[order])
    assert a.temperature_ == pytest.approx(b.temperature_, rel=1e-6)
    if name in ENGINE and "trees" not in name:
        assert_same_committee(a, b, X)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e300])
def test_the_unit_of_weights_does_not_matter(unit, case):
    X, y, weight = case
    a = AdaBoostClassifier(n_estimators=10).fit(X, y, weight)
    b = AdaBoostClassifier(n_estimators=10).fit(X, y, weight * unit)
    np.testing.assert_allclose(a.estimator_errors_, b.estimator_errors_, rtol=1e-12)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-8)


def test_weights_of_very_different_sizes_are_all_taken_seriously(case, n_classes, rng):
    X, y, _ = case
    weight = 10 ** rng.uniform(-9, 9, 70)
    model = AdaBoostClassifier(n_estimators=8).fit(X, y, weight)
    rounds = discrete(stump_learner(X, y), y, n_classes, 8, weight)
    assert len(model) == len(rounds)
    np.testing.assert_allclose(
        model.estimator_errors_, [each.error for each in rounds], rtol=1e-11, atol=0
    )
    np.testing.assert_array_equal(model.predict(X), rounds[-1].votes.argmax(axis=1))


@pytest.mark.parametrize("name", VARIANTS)
def test_the_model_is_the_same_for_any_number_of_threads(name, rng):
    X = rng.normal(size=(3000, 5))
    y = np.digitize(X[:, 0] + X[:, 1] / 2 + rng.normal(size=3000) / 3, [-0.3, 1.0])
    params = {"n_estimators": 12, "keep_weights": True, **VARIANTS[name]}
    one, two = (AdaBoostClassifier(n_jobs=n_jobs, **params).fit(X, y) for n_jobs in (1, 2))
    assert_same_committee(one, two, X)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.trace_.distributions, two.trace_.distributions)
    np.testing.assert_array_equal(one.trace_.train_error, two.trace_.train_error)


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENGINE)
def test_raw_tables_of_every_kind_give_the_same_committee(name, frame):
    X, y = frame
    model = AdaBoostClassifier(n_estimators=10, **VARIANTS[name])
    plain = X.assign(c=X["c"].astype(str))
    a = clone(model).fit(plain, y)
    b = clone(model).fit(pl.from_pandas(plain), pl.Series(y))
    assert_same_committee(a, b, plain)
    np.testing.assert_array_equal(a.predict(pl.from_pandas(plain)), a.predict(plain))
    np.testing.assert_array_equal(a.predict(plain[list("dcba")]), a.predict(plain))
    assert a.feature_names_in_.tolist() == list("abcd")
    assert a.score(plain, y) > 0.7
    with_categories = clone(model).fit(X, y)
    np.testing.assert_allclose(with_categories.estimator_errors_, a.estimator_errors_, rtol=1e-12)


def test_levels_that_were_never_seen_go_with_the_rest(frame):
    X, y = frame
    model = AdaBoostClassifier(n_estimators=10).fit(X.assign(c=X["c"].astype(str)), y)
    new = X.head(4).assign(b=["never", None, "x", "seen"], c="other")
    p = model.predict_proba(new)
    assert np.isfinite(p).all()
    with pytest.raises(ValueError, match="feature"):
        model.predict(X[["a", "b"]])


def test_sparse_tables_and_lists_are_read(case):
    X, y, _ = case
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    for table in (sp.csr_matrix(X), sp.csc_array(X), X.tolist()):
        assert_same_committee(model, clone(model).fit(table, y), X)
        np.testing.assert_array_equal(model.predict(table), model.predict(X))


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
def test_numeric_columns_can_be_categories(variant, rng):
    X = rng.integers(0, 6, (200, 2)).astype(float)
    y = np.isin(X[:, 0], [0, 2, 5]).astype(int)
    number = AdaBoostClassifier(n_estimators=1, variant=variant).fit(X, y)
    category = AdaBoostClassifier(n_estimators=1, variant=variant, categorical_features=[0])
    category.fit(X, y)
    assert category.score(X, y) == 1
    assert number.score(X, y) < 0.9


@pytest.mark.parametrize("name", [each for each in VARIANTS if "foreign" not in each])
@pytest.mark.parametrize(
    ("X", "y"),
    [([[1.0], [2.0], [3.0]], ["a", "a", "a"]), ([[1.0]], ["a"]), ([[np.nan], [np.nan]], [3, 3])],
    ids=["one class", "one row", "nothing known"],
)
def test_one_class_is_always_said(name, X, y):
    model = AdaBoostClassifier(**VARIANTS[name]).fit(X, y)
    assert model.predict(X).tolist() == y
    assert model.predict_proba(X).tolist() == [[1.0]] * len(y)
    assert model.score(X, y) == 1
    assert len(model) == 1
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
def test_columns_that_tell_nothing_do_no_harm(variant, case):
    X, y, weight = case
    more = np.column_stack([np.ones(70), X, np.full(70, np.nan)])
    a = AdaBoostClassifier(n_estimators=9, variant=variant).fit(X, y, weight)
    b = AdaBoostClassifier(n_estimators=9, variant=variant).fit(more, y, weight)
    np.testing.assert_array_equal(a.estimator_errors_, b.estimator_errors_)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(more))
    assert b.feature_importances_[[0, 4]].tolist() == [0, 0]


# --- parameters, failures, interruption -----------------------------------------------------------

BAD = [
    ("n_estimators", 0),
    ("n_estimators", 1.5),
    ("learning_rate", 0.0),
    ("learning_rate", -1),
    ("learning_rate", np.inf),
    ("learning_rate", "fast"),
    ("resampling", "sometimes"),
    ("resampling", 3),
    ("n_iter_no_change", 0),
    ("validation_fraction", 0.0),
    ("validation_fraction", 1.0),
    ("tol", -0.1),
    ("scoring", "no such scorer"),
    ("keep_weights", "yes"),
    ("criterion", "luck"),
    ("split_finding", "guess"),
    ("max_bins", 1),
    ("max_bins", 256),
    ("random_state", "seed"),
    ("verbose", -1),
    ("n_jobs", 0),
    ("categorical_features", ["no such column"]),
]


@pytest.mark.parametrize(
    ("cls", "name", "value"),
    [
        *((cls, *each) for cls in BOTH for each in BAD),
        (AdaBoostClassifier, "variant", "logit"),
        (AdaBoostClassifier, "multiclass", "SAMME.R"),
        (AdaBoostClassifier, "calibration", "isotonic"),
        (AdaBoostRegressor, "loss", "huber"),
    ],
)
def test_a_bad_parameter_is_named(cls, name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        cls(**{name: value}).fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("name", "value"), [("criterion", "error"), ("split_finding", "hist"), ("max_bins", 9)]
)
def test_parameters_of_the_default_tree_are_not_ignored_in_silence(cls, name, value):
    tree = DecisionTreeClassifier() if cls is AdaBoostClassifier else DecisionTreeRegressor()
    if (cls, name) == (AdaBoostRegressor, "criterion"):
        value = "absolute_error"
    with pytest.raises(ValueError, match=name):
        cls(tree, **{name: value}).fit([[1.0], [2.0]], [0, 1])


class Failing(Scripted):
    def predict(self, X):
        if not type(self).script:
            raise RuntimeError("out of script")
        return super().predict(X)


@pytest.mark.parametrize("cls", BOTH)
def test_a_failed_fit_leaves_the_estimator_as_it_was(cls, case):
    X, y, _ = case
    model = cls(n_estimators=5, n_iter_no_change=2, random_state=0).fit(X, y)
    before = pickle.dumps(model)
    for bad_X, bad_y in ((X, y[:5]), (X, np.full(70, np.nan)), (X.astype(complex), y)):
        with pytest.raises((TypeError, ValueError)):
            model.fit(bad_X, bad_y)
        assert pickle.dumps(model) == before
    model.predict(X)


def test_a_learner_that_fails_midway_leaves_the_estimator_as_it_was():
    y = np.arange(8) % 2
    model, X = follow([flipped(y, [0]), flipped(y, [1])], y)
    before = model.estimator_weights_.copy()
    Failing.script = [flipped(y, [0]), flipped(y, [1]), flipped(y, [2])]
    model.set_params(estimator=Failing(), n_estimators=9)
    with pytest.raises(RuntimeError, match="out of script"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.estimator_weights_, before)
    np.testing.assert_array_equal(model[0].predict(X), flipped(y, [0]))


@pytest.mark.parametrize("cls", BOTH)
def test_a_second_fit_forgets_the_first(cls, frame, case):
    X, y, _ = case
    table, _ = frame
    model = cls(n_estimators=3, n_iter_no_change=2, random_state=0)
    model.fit(table.head(70), y)
    assert hasattr(model, "validation_scores_")
    assert hasattr(model, "feature_names_in_")
    model.set_params(n_iter_no_change=None).fit(X, y)
    fresh = clone(model).fit(X, y)
    assert set(vars(model)) == set(vars(fresh))
    np.testing.assert_array_equal(model.predict(X), fresh.predict(X))


@pytest.fixture
def ctrl_c():
    """Sends SIGINT after a while; the handler is put back afterwards."""
    usual_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def send(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield send
    for timer in timers:
        timer.cancel()
        timer.join()
    signal.signal(signal.SIGINT, usual_handler)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=4)),
        AdaBoostRegressor(loss="square", learning_rate=1e-4),  # slow, so that it goes on
    ],
    ids=repr,
)
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(model, n_jobs, ctrl_c, rng):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    X = rng.normal(size=(20_000, 10))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    model = clone(model).set_params(n_jobs=n_jobs, n_estimators=3)
    model.fit(X[:500], y[:500])
    before = model.predict(X[:1000])
    model.set_params(n_estimators=1_000_000)
    ctrl_c(0.1)  # the fit would take hours
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y + rng.random(len(X)) if isinstance(model, AdaBoostRegressor) else y)
    np.testing.assert_array_equal(model.predict(X[:1000]), before)


@pytest.mark.parametrize("cls", BOTH)
def test_progress_is_told_on_stderr_and_only_if_asked(cls, case, capsys):
    X, y, _ = case
    for verbose, n_lines in ((0, 0), (False, 0), (2, 4)):
        cls(n_estimators=4, verbose=verbose, random_state=0).fit(X, y)
        out, err = capsys.readouterr()
        assert out == ""
        assert len(err.splitlines()) == n_lines
    cls(n_estimators=40, verbose=1, random_state=0).fit(X, y)
    assert 4 <= len(capsys.readouterr().err.splitlines()) <= 20


# --- numbers --------------------------------------------------------------------------------------


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


def test_boosting_goes_on_when_weights_have_drifted_far_apart(rng):
    # After a few hundred rounds the weights of rows differ by more than doubles resolve.
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    for split_finding in ("exact", "hist"):
        model = AdaBoostClassifier(
            n_estimators=1000, split_finding=split_finding, keep_weights=True, calibration=None
        )
        model.fit(X, y)
        assert len(model) == 1000
        assert np.ptp(np.log2(model.trace_.distributions[-1])) > 53


def test_a_row_of_weight_zero_is_absent_from_the_folds_of_any_learner(rng):
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    weights = np.ones(60)
    weights[::3] = 0
    model = AdaBoostClassifier(GaussianNB(), n_estimators=5)
    weighted = clone(model).fit(X, y, weights)
    without = clone(model).fit(X[weights > 0], y[weights > 0])
    assert weighted.temperature_ == pytest.approx(without.temperature_, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_trace_tells_what_the_committee_says_also_where_votes_tie(n_classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(12, 2)).astype(float)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, 12 - n_classes))
    general = DecisionTreeClassifier(max_depth=1, max_leaf_nodes=2)  # not on the fast path
    for estimator in (None, general):
        model = AdaBoostClassifier(estimator, n_estimators=8, calibration=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # some tables tell nothing
            model.fit(X, y)
        scores = 1 - np.array(list(model.staged_score(X, y)))
        np.testing.assert_allclose(model.trace_.train_error, scores, atol=1e-15)
        assert model.score(X, y) == pytest.approx(1 - scores[-1])


def test_scores_of_probabilities_are_those_that_the_model_would_give(noisy):
    (X, y), held = noisy
    model = AdaBoostClassifier(n_estimators=25, scoring="neg_log_loss").fit(X, y, eval_set=held)
    assert -log_loss(held[1], model.predict_proba(held[0])) == pytest.approx(
        model.validation_scores_.max(), rel=1e-9
    )


def test_m1_is_for_votes_for_a_class_only(noisy):
    (X, y), _ = noisy
    with pytest.raises(ValueError, match=r'multiclass must be "SAMME" with variant=\'real\''):
        AdaBoostClassifier(variant="real", multiclass="M1").fit(X, y)


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


def test_many_rows_get_the_votes_that_few_get(rng):
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=400) > 1).astype(int)
    for estimator in (None, DecisionTreeClassifier(max_depth=3)):
        model = AdaBoostClassifier(estimator, n_estimators=20, calibration=None).fit(X, y)
        together = model.predict_proba(X)
        alone = np.concatenate([model.predict_proba(X[i : i + 40]) for i in range(0, 400, 40)])
        np.testing.assert_array_equal(together, alone)
        copied = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copied.predict_proba(X), together)


@pytest.mark.parametrize("seed", range(5))
def test_a_draw_that_repeats_the_last_stump_does_not_end_boosting(seed):
    # One feature of two values: most draws give the same stump, whose error is 1/2 by then.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(200, 3)).astype(float)
    y = ((X.sum(axis=1) >= 2) ^ (rng.random(200) < 0.2)).astype(int)
    model = AdaBoostClassifier(n_estimators=10, resampling=True, random_state=seed).fit(X, y)
    assert len(model) == 10
    assert (np.abs(model.estimator_errors_ - 0.5) > 1e-10).all()
