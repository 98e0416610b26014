"""A warm start with other parameters than those of the last fit warns."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.linear_model import Lasso, Ridge

from committee import GradientBoostingRegressor, load, save

CHANGES = {
    "max_depth": 2,
    "max_leaf_nodes": 3,
    "min_samples_leaf": 5,
    "min_samples_split": 60,
    "min_weight_fraction_leaf": 0.1,
    "min_impurity_decrease": 0.01,
    "max_features": 1,
    "subsample": 0.5,
    "l1_regularization": 1.0,
    "l2_regularization": 0.0,
    "min_child_weight": 3.0,
    "max_splits": 2,
    "max_bins": 8,
    "split_finding": "exact",
    "growth": "level",
    "ccp_alpha": 0.01,
    "features_per_tree": 1,
    "features_per_level": 1,
    "monotonic_cst": [1, 0, 0],
    "interaction_cst": "no_interactions",
    "category_smoothing": 1.0,
}


@pytest.fixture
def fitted(rng):
    X = rng.normal(size=(100, 3))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=100) / 4
    model = GradientBoostingRegressor(n_estimators=2, warm_start=True, random_state=0)
    return model.fit(X, y).set_params(n_estimators=4), X, y


def test_every_parameter_of_trees_is_watched():
    refused = {"loss", "init", "categorical_features", "numeric_text", "category_encoding"}
    stopping = {"early_stopping", "n_iter_no_change", "tol", "scoring"}
    validation = {"validation_fraction", "validation_part"}
    of_losses = {"alpha", "quantiles", "power"}  # another loss: refused
    others = {"criterion", "learning_rate", "n_estimators", "random_state", "warm_start"}
    silent = {"verbose", "callbacks", "n_jobs"}
    known = refused | stopping | validation | of_losses | others | silent | {"estimator"}
    params = set(GradientBoostingRegressor().get_params())
    assert params - known == set(CHANGES)


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_parameter_of_trees_is_named(name, fitted):
    model, X, y = fitted
    model.set_params(**{name: CHANGES[name]})
    with pytest.warns(UserWarning, match=f"with other parameters .*[:;] {name} was ") as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert model.n_estimators_ == 4
    model.set_params(n_estimators=6).fit(X, y)  # nothing has changed since


@pytest.mark.parametrize(
    "params",
    [
        {"learning_rate": 0.05},
        {"max_leaf_nodes": 4},  # what "auto" was
        {"min_samples_leaf": 4, "l2_regularization": 3, "subsample": 1.0, "max_features": None},
        {"verbose": 0, "n_jobs": 1, "callbacks": []},
        {"tol": 1e-3, "n_iter_no_change": 3, "early_stopping": False},
    ],
    ids=str,
)
def test_other_parameters_may_change(params, fitted):
    model, X, y = fitted
    model.set_params(**params).fit(X, y)
    assert model.n_estimators_ == 4


def test_rounds_of_both_parameters_are_kept(fitted):
    model, X, y = fitted
    with pytest.warns(UserWarning, match="max_depth was None and is 1"):
        model.set_params(max_depth=1).fit(X, y)
    depths = [tree.get_depth() for tree in model.estimators_[:, 0]]
    assert min(depths[:2]) > 1
    assert depths[2:] == [1, 1]


def test_equal_lists_and_arrays_are_no_change(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = GradientBoostingRegressor(
        n_estimators=2, warm_start=True, monotonic_cst=[1, 0], random_state=0
    ).fit(X, y)
    model.set_params(n_estimators=3, monotonic_cst=np.array([1, 0])).fit(X, y)
    model.monotonic_cst[1] = -1
    with pytest.warns(UserWarning, match="monotonic_cst was"):
        model.set_params(n_estimators=4).fit(X, y)


@pytest.mark.parametrize("changed", [Ridge(alpha=9.0), Lasso()])
def test_a_changed_weak_learner_is_named(changed, rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = GradientBoostingRegressor(n_estimators=2, warm_start=True, estimator=Ridge())
    model.fit(X, y).set_params(n_estimators=3, estimator=Ridge()).fit(X, y)
    with pytest.warns(UserWarning, match="estimator was Ridge"):
        model.set_params(n_estimators=4, estimator=changed).fit(X, y)


@pytest.mark.parametrize("way", ["file", "pickle"])
def test_models_that_were_stored_are_compared_too(way, fitted, tmp_path):
    model, X, y = fitted
    if way == "file":
        save(model, tmp_path / "model.committee")
        back = load(tmp_path / "model.committee")
    else:
        back = pickle.loads(pickle.dumps(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back.fit(X, y)
    with pytest.warns(UserWarning, match="max_depth was None and is 2"):
        back.set_params(n_estimators=6, max_depth=2).fit(X, y)
