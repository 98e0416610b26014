"""What scikit-learn's forests refuse as the value of a parameter, forests here refuse too."""

import numpy as np
import pytest
import sklearn.ensemble

import committee

NAMES = [
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
]
VALUES = {
    "n_estimators": [0, -1, 1.5, "few"],
    "criterion": ["deviance", 1],
    "max_depth": [0, -1, 1.5],
    "min_samples_split": [1, 0, 0.0, 1.5],
    "min_samples_leaf": [0, 0.0, 1.0, 1.5],
    "min_weight_fraction_leaf": [-0.1, 0.6, "few"],
    "max_features": [0, 0.0, 1.5, "auto"],
    "max_leaf_nodes": [1, 0, 2.5],
    "min_impurity_decrease": [-1.0, "few"],
    "bootstrap": ["yes", 2],
    "oob_score": ["no such scorer", 3],
    "n_jobs": ["many", 1.5],
    "random_state": [-1, "seed", 1.5],
    "verbose": [-1, "much"],
    "warm_start": ["yes", 2],
    "ccp_alpha": [-1.0, "little"],
    "max_samples": [0, 0.0, -1, "half"],
    "monotonic_cst": ["up", [1, 0], [2, 0, 0]],
    "class_weight": ["heavy"],
}


def refuses(model, X, y):
    try:
        model.fit(X, y)
    except (TypeError, ValueError):
        return True
    return False


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(n, p) for n in NAMES for p in VALUES if p != "class_weight" or n.endswith("Classifier")],
)
def test_values_that_scikit_learn_refuses_are_refused(name, parameter, rng):
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int)
    for value in VALUES[parameter]:
        params = {"n_estimators": 2, "bootstrap": True} | {parameter: value}
        theirs = getattr(sklearn.ensemble, name)(**params)
        assert refuses(theirs, X, y), f"{value!r} is fine there: it does not belong here"
        with pytest.raises((TypeError, ValueError), match=parameter):
            getattr(committee, name)(**params).fit(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_more_features_than_there_are_means_all(name, rng):
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    fitted = [
        getattr(committee, name)(5, max_features=number, random_state=0).fit(X, y).predict(X)
        for number in (None, 100)
    ]
    np.testing.assert_array_equal(*fitted)
