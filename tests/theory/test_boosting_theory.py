"""Bounds of boosting, tables with a known edge, and stagewise fitting beside fitted models."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from committee import AdaBoostClassifier, GradientBoostingClassifier, GradientBoostingRegressor
from committee.losses import Exponential, Huber, Loss, MultinomialLogLoss, get_loss
from committee.theory import (
    boosting_bound,
    forward_stagewise,
    majority_table,
    margin_bound,
    rounds_needed,
    stump_basis,
)


@pytest.fixture
def two_classes(rng):
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(size=60) > 0, 1, -1)


# --- bounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("learning_rate", [0.1, 0.5, 1.0, 1.7, 2.0])
def test_the_bounds_hold_for_every_learning_rate(learning_rate, two_classes):
    X, y = two_classes
    model = AdaBoostClassifier(n_estimators=30, learning_rate=learning_rate).fit(X, y)
    trace = model.trace_
    bound = boosting_bound(trace.error, learning_rate=learning_rate)
    np.testing.assert_allclose(bound.product, trace.bound, rtol=1e-9)
    np.testing.assert_array_equal(bound.exponential, trace.edge_bound)
    assert (trace.train_error <= bound.product * (1 + 1e-12)).all()
    assert (bound.product <= bound.exponential * (1 + 1e-12)).all()
    np.testing.assert_allclose(bound.edges, 0.5 - trace.error)


def test_the_exponential_bound_is_never_below_the_product():
    errors = np.concatenate([[0.0, 1e-300, 1e-9], np.linspace(0.001, 0.999, 200), [1.0]])
    for eta in (1e-3, 0.3, 1.0, 1.5, 1.999, 2.0):
        each = [boosting_bound([error], learning_rate=eta) for error in errors]
        product = np.array([bound.product[0] for bound in each])
        exponential = np.array([bound.exponential[0] for bound in each])
        assert (product <= exponential * (1 + 1e-14)).all()


def test_the_trace_shows_the_bound_by_edges_where_it_is_one(two_classes, rng):
    X, y = two_classes
    assert "edge_bound" in AdaBoostClassifier(n_estimators=3).fit(X, y).trace_.columns()
    for options in ({"variant": "real"}, {"learning_rate": 2.5}):
        model = AdaBoostClassifier(n_estimators=3, **options).fit(X, y)
        assert "edge_bound" not in model.trace_.columns()
        assert np.isnan(model.trace_.edge_bound).all()
    three = rng.integers(0, 3, 60)
    samme = AdaBoostClassifier(n_estimators=3).fit(X, three)
    assert "edge_bound" not in samme.trace_.columns()


def test_no_more_rows_have_a_small_margin_than_the_bound_says(two_classes):
    X, y = two_classes
    model = AdaBoostClassifier(n_estimators=40, criterion="error").fit(X, y)
    found = model.margins(X, y)
    np.testing.assert_allclose(
        margin_bound(model.trace_.error, 0.0), boosting_bound(model.trace_.error).product
    )
    for theta in (0.0, 0.05, 0.1, 0.3):
        assert (found <= theta).mean() <= margin_bound(model.trace_.error, theta)[-1] + 1e-12
    # A reversed learner counts as well as it would the other way round.
    np.testing.assert_allclose(margin_bound([0.3, 0.8], 0.1), margin_bound([0.3, 0.2], 0.1))


def test_rounds_needed_is_the_first_number_that_is_enough():
    for edge, n_rows in ((0.1, 1000), (0.3, 50), (0.01, 10), (0.25, 1)):
        n_rounds = rounds_needed(edge, n_rows)
        products = boosting_bound(np.full(n_rounds, 0.5 - edge)).product
        assert products[-1] < 1 / n_rows
        assert n_rounds == 1 or products[-2] >= 1 / n_rows
        assert n_rounds <= math.log(n_rows) / (2 * edge**2) + 1


# --- weak learners with a known edge ------------------------------------------------------------


def test_every_distribution_leaves_a_column_the_edge(rng):
    X, y = majority_table(200, 7, n_others=3, random_state=1)
    assert X.shape == (200, 10)
    np.testing.assert_array_equal(y, np.sign(X[:, :7].sum(axis=1)))
    for concentration in (0.01, 0.1, 1.0, 10.0):
        for _ in range(20):
            weights = rng.dirichlet(np.full(200, concentration))
            right = ((X[:, :7] == y[:, None]) * weights[:, None]).sum(axis=0)
            assert right.max() >= 0.5 + 1 / 14 - 1e-12


def test_weak_learners_become_a_strong_one_in_time():
    X, y = majority_table(600, 9, n_others=5, random_state=0)
    new, truth = majority_table(4000, 9, n_others=5, random_state=1)
    n_rounds = rounds_needed(1 / 18, 600)
    model = AdaBoostClassifier(n_estimators=n_rounds, criterion="error").fit(X, y)
    assert (0.5 - model.trace_.error >= 1 / 18 - 1e-12).all()
    assert model.trace_.train_error[-1] == 0
    assert len(model) == n_rounds
    assert model.score(new, truth) > 0.99
    assert max(member.score(new, truth) for member in model.estimators_[:9]) < 0.7


# --- forward stagewise additive modelling -------------------------------------------------------


def test_stumps_of_the_basis_split_every_gap_and_can_be_evaluated_elsewhere(rng):
    X = np.array([[1.0, 5.0], [3.0, 5.0], [3.0, 7.0]])
    assert stump_basis(X).tolist() == [[-1, 1, 1], [-1, -1, 1]]
    assert stump_basis(X, at=[[2.5, 6.5], [0.0, 5.9]]).tolist() == [[1, -1], [1, -1]]
    many = rng.integers(0, 6, (40, 3))
    expected = sum(len(np.unique(column)) - 1 for column in many.T)
    assert stump_basis(many).shape == (expected, 40)


def test_stagewise_fitting_of_the_exponential_loss_is_adaboost(two_classes):
    X, y = two_classes
    model = forward_stagewise(stump_basis(X), y, loss="exponential", n_steps=25)
    boosted = AdaBoostClassifier(n_estimators=25, criterion="error").fit(X, y)
    np.testing.assert_allclose(np.abs(model.coefficients), boosted.trace_.beta, rtol=1e-9)
    np.testing.assert_allclose(model.losses, boosted.trace_.bound, rtol=1e-10)
    votes = np.array([member.predict(X) for member in boosted])
    np.testing.assert_allclose(model.scores[-1], boosted.trace_.beta @ votes, atol=1e-9)
    new = np.random.default_rng(5).normal(size=(50, 3))
    at_new = np.array([member.predict(new) for member in boosted])
    basis = stump_basis(X, at=new)
    np.testing.assert_allclose(model.predict(basis), boosted.trace_.beta @ at_new, atol=1e-9)


def residual_stumps(X):
    """A basis made anew in each step: stumps whose leaves hold the means of the residuals."""
    sides = stump_basis(X) > 0

    def basis(y, scores):
        left = y - scores
        means = [np.where(side, left[side].mean(), left[~side].mean()) for side in sides]
        return np.array(means)

    return basis


@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_stagewise_fitting_of_squared_errors_is_gradient_boosting(learning_rate, rng):
    X = rng.normal(size=(50, 3))
    y = X[:, 0] ** 2 + X[:, 1] + rng.normal(size=50)
    boosted = GradientBoostingRegressor(
        init="mean",
        n_estimators=12,
        learning_rate=learning_rate,
        max_splits=1,
        min_samples_leaf=1,
        l2_regularization=0.0,
    ).fit(X, y)
    model = forward_stagewise(
        residual_stumps(X), y, n_steps=12, learning_rate=learning_rate, start=y.mean()
    )
    np.testing.assert_allclose(model.coefficients, learning_rate, rtol=1e-9)
    for stage, scores in zip(boosted.staged_predict(X), model.scores, strict=True):
        np.testing.assert_allclose(scores, stage, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(2 * model.losses, np.mean((y - model.scores) ** 2, axis=1))


def test_stagewise_fitting_with_a_value_for_each_leaf_is_confidence_rated_boosting(two_classes):
    # Schapire and Singer: half the log-odds in each leaf; our boosting with refitted leaves does
    # so too, for the stump that it chooses by gradients.
    X, y = two_classes
    boosted = GradientBoostingClassifier(
        loss=Exponential(refits_leaves=True),
        init="zero",
        learning_rate=1.0,
        max_splits=1,
        min_samples_leaf=1,
        l2_regularization=0.0,
        n_estimators=1,
    ).fit(X, y)
    leaves = boosted.estimators_[0, 0].predict(X)
    model = forward_stagewise([leaves], y, loss="exponential", n_steps=1)
    assert model.coefficients[0] == pytest.approx(1.0, rel=1e-9)


class Cauchy(Loss):
    def row_losses(self, y, scores):
        return np.log1p((y - scores) ** 2) / 2

    def gradients(self, y, scores):
        residual = y - scores
        return -residual / (1 + residual**2), 1 / (1 + residual**2)


@pytest.mark.parametrize(
    "loss",
    ["squared_error", "absolute_error", Huber(delta=0.5), "log_loss", Cauchy()],
    ids=["squared_error", "absolute_error", "huber", "log_loss", "cauchy"],
)
def test_each_step_is_the_best_function_with_its_best_coefficient(loss, rng):
    X = rng.normal(size=(25, 2))
    y = X[:, 0] + rng.normal(size=25) / 3
    if loss == "log_loss":
        y = (y > 0).astype(float)
    basis = stump_basis(X)
    model = forward_stagewise(basis, y, loss=loss, n_steps=4)
    objective = get_loss(loss, n_classes=2) if loss == "log_loss" else get_loss(loss)
    scores = np.zeros(25)
    for k in range(4):
        found = [
            minimize_scalar(
                lambda a, h=h, s=scores: objective.mean_loss(y, s + a * h, None),
                bounds=(-20, 20),
                method="bounded",
                options={"xatol": 1e-9},
            ).fun
            for h in basis
        ]
        assert model.losses[k] <= min(found) + 1e-9
        scores = model.scores[k]
    assert (np.diff(model.losses) <= 1e-12).all()


def test_a_separable_table_gets_a_finite_coefficient():
    model = forward_stagewise([[-1.0, 1.0]], [-1, 1], loss="exponential", n_steps=1)
    assert np.isfinite(model.coefficients).all()
    assert model.losses[0] < 1e-20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: boosting_bound(0.3), "errors must be a list of numbers"),
        (lambda: boosting_bound([0.3, 1.2]), r"errors must hold numbers in \[0, 1\]; got 1.2"),
        (lambda: boosting_bound([0.3], learning_rate=2.5), "learning_rate must be a number"),
        (lambda: margin_bound([0.3], 1.0), r"margin must be a number in \[0, 1\)"),
        (lambda: rounds_needed(0.5, 10), r"edge must be a number in \(0, 0.5\)"),
        (lambda: rounds_needed(0.1, 0), "n_rows must be an int >= 1"),
        (lambda: majority_table(10, 4), "n_voters must be odd, or there are ties; got 4"),
        (lambda: majority_table(10, 3, n_others=-1), "n_others must be an int >= 0"),
        (lambda: forward_stagewise([1.0, 2.0], [1.0, 2.0]), "basis must have two dimensions"),
        (lambda: forward_stagewise([[1.0, np.nan]], [1.0, 2.0]), "basis must hold finite"),
        (lambda: forward_stagewise([[1.0, 2.0]], [1.0]), "inconsistent numbers"),
        (lambda: forward_stagewise([[1.0]], [2.0], loss="exponential"), "y must hold -1 and 1"),
        (lambda: forward_stagewise([[1.0]], [2.0], loss="log_loss"), "needs a target of class"),
        (lambda: forward_stagewise([[1.0]], [2.0], loss="hinge"), "loss must be"),
        (
            lambda: forward_stagewise([[1.0]], [1.0], loss=MultinomialLogLoss(3)),
            "loss must be for 2 classes",
        ),
        (lambda: forward_stagewise([[1.0]], [2.0], n_steps=0), "n_steps must be an int >= 1"),
        (lambda: stump_basis([1.0, 2.0]), "X must have two dimensions"),
        (lambda: stump_basis([[1.0], [2.0]], at=[[1.0, 2.0]]), "at must have 1 columns"),
        (lambda: stump_basis([[1.0], [1.0]]), "X must have a column of two values or more"),
        (
            lambda: forward_stagewise([[1.0], [2.0]], [1.0]).predict([[1.0]]),
            "basis must have the 2 functions of the fit",
        ),
        (
            lambda: forward_stagewise(lambda y, s: [y], [1.0]).predict([[1.0]]),
            "predict needs a basis that is the same in each step",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
