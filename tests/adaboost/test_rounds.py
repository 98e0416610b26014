"""Rounds of AdaBoost beside naive ones and scikit-learn's: errors, weights, bounds, margins."""

import math

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from adaboost_tools import VARIANTS, Scripted, assert_same_committee, flipped, follow, votes_of
from reference_adaboost import (
    best_stump,
    confidence_rated,
    discrete,
    gentle_scores,
    log_odds,
    real_scores,
    stump_learner,
    threshold_of,
)
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from committee import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
)
from committee.adaboost.vote_fit import _is_stump

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


# --- scikit-learn ---------------------------------------------------------------------------------


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
    else:  # the product is no bound of the errors of these
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
