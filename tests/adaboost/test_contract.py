"""scikit-learn's conventions: its own checks on the AdaBoost estimators, and parity of names."""

import inspect
from pathlib import Path

import numpy as np
import pytest
import sklearn.ensemble
from peer_versions import needs_sklearn
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

BOTH = [AdaBoostClassifier, AdaBoostRegressor]

# Rows are drawn at random: a row of weight two is drawn twice as often, and that is another draw.
DRAWS = {
    "check_sample_weight_equivalence_on_dense_data": "rows are drawn",
    "check_sample_weight_equivalence_on_sparse_data": "rows are drawn",
}


def draws(estimator):
    is_drawn = isinstance(estimator, AdaBoostRegressor) and estimator.resampling is True
    # The default trees fit the tables of these two checks perfectly, whatever is drawn.
    return DRAWS if is_drawn and estimator.estimator is not None else {}


@pytest.mark.filterwarnings("ignore:the first learner has an error:UserWarning")
@parametrize_with_checks(
    [
        AdaBoostClassifier(),
        AdaBoostClassifier(variant="real"),
        AdaBoostClassifier(variant="gentle", calibration="train"),
        AdaBoostClassifier(multiclass="M1", criterion="error"),
        AdaBoostClassifier(split_finding="hist", criterion="entropy", calibration=None),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=10),
        AdaBoostClassifier(LogisticRegression(), n_estimators=5),
        AdaBoostRegressor(),
        AdaBoostRegressor(resampling=False, loss="square"),
        AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), loss="exponential", resampling=False),
        AdaBoostRegressor(LinearRegression(), n_estimators=5),
    ],
    expected_failed_checks=draws,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@needs_sklearn("1.8", "there is one parameter more")
@pytest.mark.parametrize("cls", BOTH)
def test_the_constructor_has_scikit_learns_parameters_and_defaults(cls):
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__)).parameters
    ours = inspect.signature(cls).parameters
    for name, parameter in theirs.items():
        assert ours[name].default == parameter.default, name
        assert ours[name].kind == parameter.kind, name


@pytest.mark.parametrize("cls", BOTH)
def test_every_new_parameter_is_documented(cls):
    page = (Path(__file__).parents[2] / "docs" / "defaults.md").read_text(encoding="utf-8")
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__)).parameters
    new = set(inspect.signature(cls).parameters) - set(theirs)
    assert {name for name in new if f"`{name}" not in page} == set()


@needs_sklearn("1.8", "there is one parameter more")
@pytest.mark.parametrize("cls", BOTH)
def test_public_methods_and_attributes_of_scikit_learns_classes_exist(cls, rng):
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    theirs = getattr(sklearn.ensemble, cls.__name__)().fit(X, y)
    ours = cls().fit(X, y)
    names = {name for name in dir(theirs) if not name.startswith("_")}
    names -= {"estimator_params"}  # an implementation detail of their base class
    assert {name for name in names if not hasattr(ours, name)} == set()
    assert np.shape(ours.predict(X)) == np.shape(theirs.predict(X))
