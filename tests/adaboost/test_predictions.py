"""Predictions of AdaBoost: probabilities, contributions, importances, the trace, rules."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from adaboost_tools import BOTH, ENGINE, VARIANTS
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from committee import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
)

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


# --- numbers --------------------------------------------------------------------------------------


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
