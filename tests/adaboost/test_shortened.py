"""AdaBoost predicts from the members and weights that it has, also after users shortened them."""

import numpy as np
import pytest

import committee as cm

N_KEPT = 4
X = np.random.default_rng(0).normal(size=(400, 3))
TARGETS = {
    "two classes": (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int),
    "three classes": np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5]),
    "numbers": X[:, 0] + X[:, 1] * X[:, 2],
}


def fitted(target, **params):
    kind = cm.AdaBoostRegressor if target == "numbers" else cm.AdaBoostClassifier
    return kind(n_estimators=12, random_state=0, **params).fit(X, TARGETS[target])


def shortened(model, n_members=N_KEPT, n_weights=N_KEPT):
    model.estimators_ = model.estimators_[:n_members]
    model.estimator_weights_ = model.estimator_weights_[:n_weights]
    return model


@pytest.mark.parametrize("target", TARGETS)
def test_shortened_members_predict_as_the_rounds_so_far_did(target):
    model = fitted(target)
    expected = list(model.staged_predict(X))[:N_KEPT]
    assert len(model.estimators_) > N_KEPT
    shortened(model)
    np.testing.assert_array_equal(model.predict(X), expected[-1])
    np.testing.assert_array_equal(list(model.staged_predict(X)), expected)
    if target != "numbers":
        assert model.predict_proba(X).shape == (len(X), model.n_classes_)
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_shortened_probabilities_vote_as_well():
    model = fitted("three classes", variant="real")
    expected = list(model.staged_decision_function(X))[N_KEPT - 1]
    np.testing.assert_allclose(shortened(model).decision_function(X), expected, rtol=1e-12)


def test_changed_weights_count():
    model = fitted("two classes")
    second = model.estimators_[1].predict(X)
    assert (second != model.predict(X)).any()
    model.estimator_weights_ = np.where(np.arange(len(model.estimators_)) == 1, 1.0, 0.0)
    np.testing.assert_array_equal(model.predict(X), second)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("n_members", "n_weights"), [(4, 12), (12, 4), (0, 0)])
def test_members_without_weights_are_refused_by_name(target, n_members, n_weights):
    model = shortened(fitted(target), n_members, n_weights)
    message = f"estimators_ and estimator_weights_ .* got {n_members} and {n_weights}"
    with pytest.raises(ValueError, match=message):
        model.predict(X)
    with pytest.raises(ValueError, match=message):
        list(model.staged_predict(X))
