"""What scikit-learn's gradient boosting refuses is refused here too, with few stated exceptions."""

import numpy as np
import pytest
import sklearn.ensemble
from boosting_tools import BOTH

from committee import GradientBoostingClassifier, GradientBoostingRegressor

SHARED = {
    "learning_rate": [-0.1, np.nan, np.inf, "fast", None, [], [0.1]],
    "n_estimators": [-1, 0, 1.0, 1.5, np.nan, "many", None, True, [3]],
    "subsample": [-0.5, 0.0, 0, 1.5, 2, np.nan, np.inf, "half", None, []],
    "min_samples_split": [-1, 0, 1, 0.0, 1.5, np.nan, "few", None, [2]],
    "min_samples_leaf": [-1, 0, 0.0, 1.0, 1.5, np.nan, "few", None, [2]],
    "min_weight_fraction_leaf": [-0.1, 0.6, 1, np.nan, "none", None],
    "max_depth": [-1, 0, 1.5, np.inf, "deep", []],
    "min_impurity_decrease": [-0.1, np.nan, np.inf, "none", None],
    "max_features": [-1, 0, 0.0, 1.5, np.nan, "all", []],
    "max_leaf_nodes": [-1, 0, 1, 2.5, np.inf, "many", []],
    "criterion": ["gini", None, 3],
    "init": ["median", 3, [], object()],
    "random_state": [-1, 1.5, "seed", []],
    "verbose": [-1, 1.5, "loud", None],
    "warm_start": [1.0, "yes", None, []],
    "validation_fraction": [-0.1, 0.0, 1.0, 1.5, np.nan, "tenth"],
    "n_iter_no_change": [-1, 0, 1.5, np.inf, "five", []],
    "tol": [-1e-4, np.nan, np.inf, "small", None],
    "ccp_alpha": [-0.1, np.nan, np.inf, "some", None],
    "loss": ["hinge", None, 3, []],
}
OF_NUMBERS = {"alpha": [-0.5, 0.0, 1.0, 1, 0, 1.5, np.nan, "most", None, []]}
# Histogram-based boosting takes these.
OF_HISTOGRAMS = {
    "l2_regularization": [-1.0, np.nan, np.inf, "some", None],
    "max_bins": [0, 1, 256, 10.5, "many", None],
    "interaction_cst": ["all", 3, {}, {0: 1}],
    "monotonic_cst": ["rising", 3],
    "categorical_features": ["some", 3],
    "early_stopping": ["yes", None, 1.0],
    "scoring": [3, []],
}


def cases(values):
    return [(name, value) for name, bad in values.items() for value in bad]


def fit(cls, name, value, n_rounds):
    X = np.random.default_rng(0).normal(size=(40, 3))
    cls(**{n_rounds: 2} | {name: value}).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(("name", "value"), cases(SHARED))
def test_what_scikit_learn_refuses_is_refused(cls, name, value):
    with pytest.raises((TypeError, ValueError)):
        fit(getattr(sklearn.ensemble, cls.__name__), name, value, "n_estimators")
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be .*; got "):
        fit(cls, name, value, "n_estimators")


@pytest.mark.parametrize(("name", "value"), cases(OF_NUMBERS))
def test_parameters_of_losses_are_checked_for_every_loss(name, value):
    with pytest.raises((TypeError, ValueError)):
        fit(sklearn.ensemble.GradientBoostingRegressor, name, value, "n_estimators")
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be .*; got "):
        fit(GradientBoostingRegressor, name, value, "n_estimators")


@pytest.mark.parametrize("value", [1.0, 2.0, 0, "gamma", None])
def test_the_power_of_tweedie_is_checked_for_every_loss(value):
    with pytest.raises((TypeError, ValueError), match=r"^power must be a number in \(1, 2\); got "):
        fit(GradientBoostingRegressor, "power", value, "n_estimators")


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(("name", "value"), cases(OF_HISTOGRAMS))
def test_what_histogram_boosting_of_scikit_learn_refuses_is_refused(cls, name, value):
    with pytest.raises((TypeError, ValueError)):
        fit(getattr(sklearn.ensemble, f"Hist{cls.__name__}"), name, value, "max_iter")
    with pytest.raises((TypeError, ValueError), match=name):
        fit(cls, name, value, "n_estimators")


def test_groups_of_features_may_be_a_view_but_not_used_up(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    groups = {"first": [0], "others": [1, 2]}
    settings = {"n_estimators": 3, "random_state": 0}
    view = GradientBoostingRegressor(interaction_cst=groups.values(), **settings).fit(X, y)
    listed = GradientBoostingRegressor(interaction_cst=[[0], [1, 2]], **settings).fit(X, y)
    np.testing.assert_array_equal(view.predict(X), listed.predict(X))
    with pytest.raises(TypeError, match="interaction_cst must be None"):
        GradientBoostingRegressor(interaction_cst=iter(groups.values())).fit(X, y)


def test_a_learning_rate_of_zero_keeps_the_first_scores(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    model = GradientBoostingRegressor(n_estimators=3, learning_rate=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_more_features_than_there_are_is_all_of_them(rng):
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    model = GradientBoostingClassifier(n_estimators=3, max_features=99, random_state=0).fit(X, y)
    other = GradientBoostingClassifier(n_estimators=3, max_features=None, random_state=0).fit(X, y)
    assert model.max_features_ == 3
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
