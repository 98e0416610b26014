"""Bad parameters of AdaBoost, fits that fail, interruption, progress."""

import pickle
import threading

import numpy as np
import pytest
from adaboost_tools import BOTH, Scripted, flipped, follow
from sklearn.base import clone

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

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
    ("numeric_text", "text"),
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


def test_m1_is_for_votes_for_a_class_only(noisy):
    (X, y), _ = noisy
    with pytest.raises(ValueError, match=r'multiclass must be "SAMME" with variant=\'real\''):
        AdaBoostClassifier(variant="real", multiclass="M1").fit(X, y)
