"""Voting, stacking, bagging and AdaBoost refuse the parameters that scikit-learn's classes refuse.

Where they accept more, that is listed here and documented at the parameter.
"""

import numpy as np
import pytest
import sklearn.ensemble
from peer_versions import needs_sklearn
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

import committee

NAMES = ["Voting", "Stacking", "Bagging", "AdaBoost"]
CASES = [f"{name}{kind}" for name in NAMES for kind in ("Classifier", "Regressor")]
POOL = [-1, 0, 1, 2, 3, 0.0, 0.5, 1.0, 1.5, 2.5, float("nan"), float("inf"), "text", "auto"]
POOL += ["sqrt", "hard", "", b"x", None, [], [1], {}, object(), object, (), (1, 2), True, False]
POOL += [np.array([1.0, 2.0]), np.array(3), slice(2)]

# What these classes accept and scikit-learn's do not.
MORE = {
    "cv": lambda v: isinstance(v, float) and 0 < v < 1,  # a share of rows to hold out
    "max_samples": lambda v: isinstance(v, float) and 1 < v < 100,  # more draws than rows
    "oob_score": callable,  # a metric
    "max_features": lambda v: v is None or (isinstance(v, str) and v == "sqrt"),
}


def members(kind):
    estimator = LogisticRegression() if kind == "Classifier" else LinearRegression()
    return [("a", estimator), ("b", estimator)]


def values(parameter, kind):
    if parameter == "estimators":
        pairs = members(kind)
        return [*POOL, tuple(pairs), dict(pairs), [pair[1] for pair in pairs]]
    return POOL


@needs_sklearn("1.9", "parameters differ")
@pytest.mark.parametrize("name", CASES)
def test_what_scikit_learn_refuses_is_refused(name):
    kind = "Classifier" if name.endswith("Classifier") else "Regressor"
    constraints = getattr(sklearn.ensemble, name)._parameter_constraints
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y = (X[:, 0] > 0).astype(int) if kind == "Classifier" else X[:, 0]
    n_refused = 0
    for parameter in constraints:
        for value in values(parameter, kind):
            try:
                validate_parameter_constraints(constraints, {parameter: value}, name)
                continue
            except InvalidParameterError:
                n_refused += 1
            if parameter in MORE and MORE[parameter](value):
                continue
            is_named = name.startswith(("Voting", "Stacking"))
            given = {"estimators": members(kind)} if is_named else {}
            model = getattr(committee, name)(**(given | {parameter: value}))
            with pytest.raises((TypeError, ValueError)) as caught:
                model.fit(X, y)
            assert parameter in str(caught.value), (parameter, value, caught.value)
    assert n_refused > 50


@pytest.mark.parametrize("name", ["BaggingClassifier", "BaggingRegressor"])
def test_more_features_than_there_are_are_refused_as_in_scikit_learn(name):
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 1, 0])
    for module in (sklearn.ensemble, committee):
        with pytest.raises(ValueError, match="max_features must be <= n_features"):
            getattr(module, name)(max_features=3).fit(X, y)


@pytest.mark.parametrize("name", ["bootstrap", "bootstrap_features"])
def test_switches_of_numpy_are_as_good_as_pythons(name):
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 1, 0])
    found, expected = (
        committee.BaggingClassifier(3, random_state=0, **{name: kind(1)})
        .set_params(estimator=None, n_estimators=3)
        .fit(X, y)
        for kind in (np.bool_, bool)
    )
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
