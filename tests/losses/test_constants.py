"""Constants that minimise losses: starts, leaves, safe steps, weighted quantiles."""

import math
import time

import numpy as np
import pytest
from loss_tools import LOSSES, SMOOTH, draw_target, moved, name_of, same_scores, shape_of
from scipy.optimize import minimize, minimize_scalar
from sklearn.ensemble import GradientBoostingRegressor as TheirBoosting

from committee.losses import (
    AbsoluteError,
    Exponential,
    Gamma,
    Huber,
    Loss,
    MultinomialLogLoss,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
)
from committee.losses.arithmetic import group_quantiles, weighted_quantile

EXACT_LEAVES = [
    SquaredError(),
    AbsoluteError(),
    Quantile(0.2),
    Quantile(0.9),
    Poisson(),
    Gamma(),
    Tweedie(1.3),
    Exponential(),
]


# --- constants that minimise ----------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
@pytest.mark.parametrize("weighted", [False, True])
def test_initial_scores_minimise_the_loss(loss, weighted, rng):
    n_rows = 151
    y = draw_target(loss, rng, n_rows)
    weights = rng.uniform(size=n_rows) if weighted else None
    start = loss.initial_scores(y, weights)
    assert start.shape == (loss.n_scores,)

    def total(scores):
        return loss.mean_loss(y, same_scores(loss, scores, n_rows), weights)

    found = minimize(total, start + 0.1, method="Nelder-Mead", options={"fatol": 1e-13})
    assert total(start) <= found.fun + 1e-9
    if loss in SMOOTH and not isinstance(loss, MultinomialLogLoss):
        np.testing.assert_allclose(start, found.x, atol=1e-3)


@pytest.mark.parametrize("loss", SMOOTH, ids=name_of)
def test_the_search_of_the_base_class_finds_the_same_constant(loss, rng):
    y = draw_target(loss, rng, 100)
    weights = rng.uniform(size=100)
    found = Loss.initial_scores(loss, y, weights)
    exact = loss.initial_scores(y, weights)
    if isinstance(loss, MultinomialLogLoss):  # scores are free up to a number added to all
        found, exact = found - found.mean(), exact - exact.mean()
    np.testing.assert_allclose(found, exact, atol=1e-6)


@pytest.mark.parametrize("loss", EXACT_LEAVES, ids=name_of)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_value_of_a_leaf_minimises_the_loss(loss, weighted, rng):
    n_rows = 60
    y = draw_target(loss, rng, n_rows)
    scores = rng.normal(size=n_rows)
    weights = rng.integers(0, 4, n_rows).astype(np.float64) if weighted else None
    value = loss.leaf_value(y, scores, weights)

    def total(step):
        return loss.mean_loss(y, scores + step, weights)

    found = minimize_scalar(total, bracket=(value - 1, value + 1), options={"xtol": 1e-10})
    assert total(value) <= found.fun + 1e-12
    if loss in SMOOTH:
        assert value == pytest.approx(found.x, abs=1e-5)


@pytest.mark.parametrize("loss", [*LOSSES, Huber(delta=0.1)], ids=name_of)
def test_the_value_of_a_leaf_lowers_the_loss(loss, rng):
    for _ in range(20):
        y = draw_target(loss, rng, 30)
        scores = 4 * rng.normal(size=shape_of(loss, 30))
        if isinstance(loss, Huber):  # its step starts from the median
            scores += AbsoluteError().leaf_value(y, scores, None)
        before = loss.mean_loss(y, scores, None)
        for column in range(loss.n_scores):
            step = loss.leaf_value(y, scores, None, column)
            assert loss.mean_loss(y, moved(scores, column, step), None) <= before + 1e-12


def test_a_leaf_of_huber_takes_friedmans_step(rng):
    loss, residual = Huber(delta=0.5), np.sort(rng.normal(size=21))
    weights = rng.uniform(size=21)
    median = np.median(residual)
    expected = median + np.mean(np.clip(residual - median, -0.5, 0.5))
    assert loss.leaf_value(residual + 3, np.full(21, 3.0), None) == pytest.approx(expected)
    below = np.cumsum(weights) / weights.sum()
    median = residual[np.searchsorted(below, 0.5)]
    expected = median + np.average(np.clip(residual - median, -0.5, 0.5), weights=weights)
    assert loss.leaf_value(residual, np.zeros(21), weights) == pytest.approx(expected)
    # No row beyond delta: it is the mean, as for squared error; delta of nothing: the median.
    assert Huber(delta=1e3).leaf_value(residual, np.zeros(21), None) == pytest.approx(
        residual.mean()
    )
    assert Huber(delta=1e-9).leaf_value(residual, np.zeros(21), None) == pytest.approx(residual[10])


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
@pytest.mark.parametrize("weighted", [False, True])
def test_all_leaves_in_one_go_are_the_leaves_one_by_one(loss, weighted, rng):
    n_rows, n_leaves = 500, 12
    y = draw_target(loss, rng, n_rows)
    scores = rng.normal(size=shape_of(loss, n_rows)).round(1)  # with ties
    leaf = rng.integers(0, n_leaves, n_rows)
    leaf[leaf == 5] = 6  # a leaf without rows
    weights = None
    if weighted:
        weights = rng.choice([0.0, 0.1, 1.0, 2.0, 1e-200, 1e200], n_rows)
        weights[leaf == 7] = 0.0  # and one with absent rows only
    for column in range(loss.n_scores):
        values = loss.leaf_values(y, scores, weights, leaf, n_leaves, column)
        assert values.shape == (n_leaves,)
        assert values[5] == 0.0
        for number in set(range(n_leaves)) - {5}:
            rows = leaf == number
            own = None if weights is None else weights[rows]
            single = loss.leaf_value(y[rows], scores[rows], own, column)
            np.testing.assert_allclose(values[number], single, rtol=1e-12, atol=1e-12)
            if loss.refits_leaves and not isinstance(loss, Huber):
                assert values[number] == single
        assert weights is None or values[7] == 0.0


def test_many_leaves_take_little_time(rng):
    n_rows = 100_000
    y, scores, weights = rng.normal(size=(3, n_rows))
    weights = np.abs(weights)
    loss = Huber().prepare(y, scores, weights)
    for n_leaves in (31, 70_000):
        leaf = rng.integers(0, n_leaves, n_rows)
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            loss.leaf_values(y, scores, weights, leaf, n_leaves)
            seconds.append(time.perf_counter() - start)
        assert min(seconds) < 0.5  # about 0.02 on a quiet machine


# --- steps that do not overshoot ------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss",
    [loss for loss in SMOOTH if not isinstance(loss, SquaredError | MultinomialLogLoss)],
    ids=name_of,
)
def test_safe_steps_stop_short_of_the_minimum(loss, rng):
    for _ in range(50):
        y = draw_target(loss, rng, 8)
        scores = rng.normal(scale=4, size=8)
        gradient, hessian = loss.gradients(y, scores)
        l2 = rng.choice([0.0, 1.0])
        step = loss.safe_steps(np.array([-gradient.sum() / (hessian.sum() + l2)]))[0]
        after, _ = loss.gradients(y, scores + step)
        # The slope has the sign it had before: the minimum lies further on.
        slope = (after.sum() + l2 * step) * np.sign(gradient.sum())
        assert slope >= -1e-9 * np.abs(gradient).max()


def test_safe_steps_are_needed():
    """A leaf far above the prediction: the Newton step of Poisson predicts e^999."""
    y, scores = np.full(5, 1000.0), np.zeros(5)
    gradient, hessian = Poisson().gradients(y, scores)
    newton = -gradient.sum() / hessian.sum()
    assert newton == pytest.approx(999)
    assert Poisson().safe_steps(np.array([newton]))[0] == pytest.approx(math.log(1000))
    assert SquaredError().safe_steps(np.array([newton]))[0] == newton


# --- weighted quantiles ---------------------------------------------------------------------------


def naive_quantile(values, weights, share):
    """By counting, with whole weights: sort the repeated rows."""
    repeated = np.sort(np.repeat(values, weights))
    place = round(share * len(repeated), 9)
    if place == int(place) and 0 < place < len(repeated):
        return repeated[int(place) - 1] / 2 + repeated[int(place)] / 2
    return repeated[max(math.ceil(place) - 1, 0)]


def test_a_quantile_is_that_of_the_repeated_rows(rng):
    for _ in range(300):
        n_rows = int(rng.integers(1, 12))
        values = rng.normal(size=n_rows).round(1)
        counts = rng.integers(0, 4, n_rows)
        counts[rng.integers(n_rows)] += 1
        share = float(rng.choice([0.05, 0.1, 0.25, 0.3, 0.5, 0.55, 0.7, 0.9]))
        expected = naive_quantile(values, counts, share)
        for unit in (1.0, 0.1, 1e-300, 1e299):
            assert weighted_quantile(values, counts * unit, share) == expected
        assert weighted_quantile(np.repeat(values, counts), None, share) == expected


def test_quantiles_are_numpys_averaged_inverted_cdf(rng):
    values = rng.normal(size=40)
    for share in (0.1, 0.25, 0.33, 0.5, 0.77, 0.9):
        theirs = np.quantile(values, share, method="averaged_inverted_cdf")
        assert weighted_quantile(values, None, share) == pytest.approx(theirs, rel=1e-15)
    assert weighted_quantile(values, None, 0.5) == np.median(values)


def test_leaves_do_not_feel_the_weights_of_others(rng):
    values = rng.normal(size=3000)
    leaf = np.repeat([0, 1, 2], 1000)
    weights = np.repeat([1e300, 1.0, 1e-300], 1000) * np.tile(rng.integers(1, 4, 1000), 3)
    together = group_quantiles(values, weights, leaf, 3, 0.5)
    for number in range(3):
        rows = slice(1000 * number, 1000 * (number + 1))
        counts = np.rint(weights[rows] / weights[rows].min()).astype(int)
        assert together[number] == naive_quantile(values[rows], counts, 0.5)


def test_leaves_are_those_of_scikit_learns_boosting(rng):
    """One tree of absolute, quantile and Huber loss; odd leaves, where medians are unique.

    scikit-learn takes the lower of two middle values, we take their mean.
    """
    X = rng.normal(size=(105, 1)).round(0)
    X[np.argsort(X[:, 0])] = np.repeat(np.arange(5.0), 21)[:, np.newaxis]
    y = rng.normal(size=105) + X[:, 0]
    for loss, name, alpha in [
        (AbsoluteError(), "absolute_error", 0.9),
        (Quantile(0.3), "quantile", 0.3),
        (Huber(0.75), "huber", 0.75),
    ]:
        model = TheirBoosting(
            loss=name, alpha=alpha, n_estimators=1, learning_rate=1.0, max_leaf_nodes=5
        )
        model.fit(X, y, sample_weight=np.ones(105))
        _, leaf, sizes = np.unique(
            model.estimators_[0, 0].apply(X), return_inverse=True, return_counts=True
        )
        start = loss.initial_scores(y, None)
        np.testing.assert_allclose(start, model.init_.constant_.ravel(), rtol=1e-12)
        scores = np.full(105, start)
        values = loss.prepare(y, scores, None).leaf_values(y, scores, None, leaf, len(sizes))
        is_odd = sizes[leaf] % 2 == 1
        assert is_odd.any()
        predicted = model.predict(X)
        np.testing.assert_allclose(start + values[leaf][is_odd], predicted[is_odd], rtol=1e-9)
