"""Targets far from zero lose nothing: boosting is exact to the last bit that a prediction has."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from reference_boosting import boosted_stumps
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import mean_absolute_percentage_error, mean_squared_error

from committee import GradientBoostingRegressor
from committee.losses import SquaredError

INTEGERS = np.random.default_rng(1).integers(0, 10, 40).astype(float)
REALS = np.random.default_rng(4).normal(size=40)
TARGETS = {
    "integers": INTEGERS,
    "1e9": 1e9 + INTEGERS / 8,
    "1e13": 1e13 + INTEGERS,
    "1e15": 1e15 + INTEGERS,
    "-1e15": -1e15 - INTEGERS,
    "1e-9": REALS * 1e-9,
    "1e-300": REALS * 1e-300,
    "heavy tails": np.random.default_rng(2).standard_cauchy(40) * 1e3,
    "logarithmic": np.exp(10 * np.random.default_rng(3).normal(size=40)),
    "outlier": np.append(1e15 + INTEGERS[1:], 2e15),
}


@pytest.mark.parametrize("name", TARGETS)
def test_stumps_are_those_of_exact_arithmetic(name, rng):
    y, x = TARGETS[name], rng.permutation(40).astype(float)
    model = GradientBoostingRegressor(
        n_estimators=60,
        learning_rate=0.125,
        max_splits=1,
        min_samples_leaf=1,
        l2_regularization=0,
        split_finding="exact",
    )
    predicted = model.fit(x[:, np.newaxis], y).predict(x[:, np.newaxis])
    exact = boosted_stumps(x.tolist(), y.tolist(), 60, 0.125)
    errors = [abs(Fraction(float(value)) - exact[row]) for row, value in enumerate(predicted)]
    assert max(errors) <= Fraction(float(2 * np.spacing(np.abs(y).max())))


@pytest.fixture
def shifted(rng):
    """A table with a target of small integers, and with the same 1e15 further up."""
    X = rng.normal(size=(300, 3))
    y = np.round(5 * np.sin(2 * X[:, 0]) + 3 * (X[:, 1] > 0) + rng.normal(size=300))
    return X, y, y + 1e15


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"loss": "absolute_error"},
        {"loss": "huber"},
        {"loss": "quantile", "quantiles": [0.2, 0.8]},
        {"early_stopping": True, "n_iter_no_change": 5},
        {"subsample": 0.5},
        {"estimator": LinearRegression()},
    ],
    ids=str,
)
def test_a_shifted_target_shifts_the_predictions(params, shifted):
    X, y, far = shifted
    # A penalty would make trees depend on the rounding of the first score, to 1/8.
    settings = {"n_estimators": 200, "l2_regularization": 0, "random_state": 0} | params
    near = GradientBoostingRegressor(**settings).fit(X, y)
    model = GradientBoostingRegressor(**settings).fit(X, far)
    assert model.n_estimators_ == near.n_estimators_
    # Predictions near 1e15 are multiples of 1/8.
    np.testing.assert_allclose(model.predict(X) - 1e15, near.predict(X), rtol=0, atol=0.13)
    np.testing.assert_allclose(model.train_score_, near.train_score_, rtol=0.02, atol=1e-3)


def test_a_start_far_from_zero_is_shifted_with_the_target(shifted):
    X, y, far = shifted
    settings = {"n_estimators": 200, "init": Ridge(), "random_state": 0}
    near = GradientBoostingRegressor(**settings).fit(X, y)
    model = GradientBoostingRegressor(**settings).fit(X, far)
    errors = [mean_squared_error(y, near.predict(X)), mean_squared_error(far, model.predict(X))]
    assert errors[1] < 1.1 * errors[0]


def test_an_eval_set_is_shifted_with_the_target(shifted):
    X, y, far = shifted
    logs = []
    for target in (y, far):
        model = GradientBoostingRegressor(n_estimators=30, max_leaf_nodes=31, min_samples_leaf=20)
        model.set_params(l2_regularization=1.0)  # longer steps than the target's resolution
        model.fit(X[:200], target[:200], eval_set=(X[200:], target[200:]))
        logs.append(model.training_log_.validation_loss)
    np.testing.assert_allclose(*logs, rtol=0.01)
    staged = list(model.staged_predict(X[200:]))
    losses = [mean_squared_error(far[200:], each) / 2 for each in staged]
    np.testing.assert_allclose(model.training_log_.validation_loss, losses, rtol=0.02)


def test_a_scorer_compares_predictions_in_units_of_the_target(shifted):
    X, _, far = shifted
    model = GradientBoostingRegressor(
        n_estimators=5, scoring="neg_mean_absolute_percentage_error", random_state=0
    )
    model.fit(X[:200], far[:200], eval_set=(X[200:], far[200:]))
    scores = [
        -mean_absolute_percentage_error(far[200:], each) for each in model.staged_predict(X[200:])
    ]
    np.testing.assert_allclose(model.training_log_.validation_score, scores, rtol=0.05)


def test_a_warm_start_of_a_far_target_is_one_fit(shifted):
    X, _, far = shifted
    whole = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, far)
    parts = GradientBoostingRegressor(n_estimators=8, random_state=0, warm_start=True).fit(X, far)
    parts.set_params(n_estimators=20).fit(X, far)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    np.testing.assert_array_equal(parts.train_score_, whole.train_score_)


def test_each_output_has_an_offset_of_its_own(shifted):
    X, y, far = shifted
    both = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, np.c_[y, -far])
    near = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, np.c_[y, -y])
    predicted = both.predict(X)
    np.testing.assert_allclose(predicted[:, 0], near.predict(X)[:, 0])
    np.testing.assert_allclose(predicted[:, 1] + 1e15, near.predict(X)[:, 1], atol=0.1)


def test_a_row_of_weight_two_is_that_row_twice_far_from_zero(shifted):
    X, _, far = shifted
    weights = np.random.default_rng(0).integers(0, 3, len(far))
    rows = np.repeat(np.arange(len(far)), weights)
    settings = {"n_estimators": 20, "random_state": 0}
    weighted = GradientBoostingRegressor(**settings).fit(X, far, weights)
    repeated = GradientBoostingRegressor(**settings).fit(X[rows], far[rows])
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


@dataclass(frozen=True)
class Relative(SquaredError):
    """Squared errors relative to the target: they do depend on the target itself."""

    has_unit_hessian = False

    def row_losses(self, y, scores):
        return ((y - scores) / y) ** 2 / 2

    def gradients(self, y, scores):
        return (scores - y) / y**2, 1 / y**2


def test_a_loss_of_ones_own_is_given_the_target_itself(rng):
    X = rng.normal(size=(60, 2))
    y = 1e6 + rng.integers(0, 10, 60)
    model = GradientBoostingRegressor(loss=Relative(), n_estimators=3)
    with pytest.warns(UserWarning, match="no tree could be split"):  # gradients of 1e-11
        model.fit(X, y)
    expected = Relative().row_losses(y, model.predict(X)).mean()
    np.testing.assert_allclose(model.train_score_[-1], expected, rtol=1e-6)
