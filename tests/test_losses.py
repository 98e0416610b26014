"""Losses: derivatives and minima found by other means, weights, extremes, lecture formulas."""

import copy
import math
import pickle
import time
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from sklearn._loss import loss as peer_losses
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor as TheirBoosting
from sklearn.metrics import (
    log_loss,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_tweedie_deviance,
)

from committee.files.codec import decode, encode
from committee.losses import (
    AbsoluteError,
    BinaryLogLoss,
    Exponential,
    Gamma,
    Huber,
    Loss,
    MultinomialLogLoss,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
    get_loss,
)
from committee.losses.weighted_statistics import group_quantiles, weighted_mean, weighted_quantile

SMOOTH = [
    SquaredError(),
    Poisson(),
    Gamma(),
    Tweedie(1.1),
    Tweedie(1.9),
    BinaryLogLoss(),
    MultinomialLogLoss(2),
    MultinomialLogLoss(4),
    Exponential(),
]
STEPPED = [
    AbsoluteError(),
    Huber(delta=0.7),
    Quantile(0.2),
    Quantile((0.9, 0.1, 0.5)),
]
LOSSES = SMOOTH + STEPPED
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

name_of = repr


def draw_target(loss, rng, n_rows):
    """A target that suits the loss."""
    if loss.n_classes is not None:
        return np.concatenate([np.arange(loss.n_classes), rng.integers(0, loss.n_classes, n_rows)])[
            :n_rows
        ]
    if isinstance(loss, Gamma):
        return rng.gamma(2.0, size=n_rows)
    if isinstance(loss, Poisson | Tweedie):
        return rng.poisson(1.5, n_rows) * rng.uniform(0.5, 1.5, n_rows)
    return rng.normal(size=n_rows)


def shape_of(loss, n_rows):
    return (n_rows,) if loss.n_scores == 1 else (n_rows, loss.n_scores)


def same_scores(loss, scores, n_rows):
    return np.broadcast_to(scores, (n_rows, loss.n_scores)).reshape(shape_of(loss, n_rows)).copy()


def moved(scores, column, by):
    """Scores with one column moved."""
    scores = scores.copy()
    if scores.ndim == 1:
        scores += by
    else:
        scores[:, column] += by
    return scores


# --- derivatives --------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_gradients_are_the_numerical_derivatives_of_the_loss(loss, rng):
    n_rows, step = 300, 1e-6
    y = draw_target(loss, rng, n_rows)
    scores = rng.normal(size=shape_of(loss, n_rows))
    gradient, hessian = loss.gradients(y, scores)
    assert gradient.shape == hessian.shape == scores.shape
    for column in range(loss.n_scores):
        up = loss.row_losses(y, moved(scores, column, step))
        down = loss.row_losses(y, moved(scores, column, -step))
        slopes = gradient.reshape(n_rows, -1)[:, column]
        np.testing.assert_allclose((up - down) / (2 * step), slopes, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", SMOOTH, ids=name_of)
def test_hessians_are_the_numerical_derivatives_of_the_gradients(loss, rng):
    n_rows, step = 300, 1e-6
    y = draw_target(loss, rng, n_rows)
    scores = rng.normal(size=shape_of(loss, n_rows))
    _, hessian = loss.gradients(y, scores)
    for column in range(loss.n_scores):
        up, _ = loss.gradients(y, moved(scores, column, step))
        down, _ = loss.gradients(y, moved(scores, column, -step))
        bends = ((up - down) / (2 * step)).reshape(n_rows, -1)[:, column]
        np.testing.assert_allclose(
            hessian.reshape(n_rows, -1)[:, column], bends, rtol=1e-6, atol=1e-7
        )
    assert (hessian > 0).all()


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_a_unit_hessian_is_promised_where_it_is_one(loss, rng):
    y = draw_target(loss, rng, 50)
    _, hessian = loss.gradients(y, rng.normal(size=shape_of(loss, 50)))
    assert (hessian == 1).all() == loss.has_unit_hessian
    assert loss in SMOOTH or (loss.has_unit_hessian and loss.refits_leaves)


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_nothing_is_written_into_and_column_order_gives_the_same(loss, rng):
    y = draw_target(loss, rng, 40)
    scores = rng.normal(size=shape_of(loss, 40))
    y.flags.writeable = scores.flags.writeable = False
    first, second = loss.gradients(y, scores), loss.gradients(y, np.asfortranarray(scores))
    for row_wise, column_wise in zip(first, second, strict=True):
        np.testing.assert_array_equal(row_wise, column_wise)
    loss.row_losses(y, scores)
    loss.predictions(scores)
    loss.leaf_value(y, scores, None)


# --- the loss of a row --------------------------------------------------------------------------


def test_losses_are_those_of_the_metrics(rng):
    n_rows = 100
    weights = rng.uniform(size=n_rows)
    scores = rng.normal(size=n_rows)
    counts = draw_target(Poisson(), rng, n_rows)
    positive = draw_target(Gamma(), rng, n_rows)
    means = np.exp(scores)
    for loss, y, deviance in [
        (Poisson(), counts, mean_poisson_deviance(counts, means, sample_weight=weights)),
        (Gamma(), positive, mean_gamma_deviance(positive, means, sample_weight=weights)),
        (
            Tweedie(1.4),
            counts,
            mean_tweedie_deviance(counts, means, sample_weight=weights, power=1.4),
        ),
    ]:
        assert loss.mean_loss(y, scores, weights) == pytest.approx(deviance / 2, rel=1e-12)
    y = rng.normal(size=n_rows)
    pinball = mean_pinball_loss(y, scores, sample_weight=weights, alpha=0.3)
    assert Quantile(0.3).mean_loss(y, scores, weights) == pytest.approx(pinball, rel=1e-12)
    table = rng.normal(size=(n_rows, 2))
    both = [Quantile(q).mean_loss(y, table[:, k], weights) for k, q in enumerate((0.3, 0.8))]
    assert Quantile((0.3, 0.8)).mean_loss(y, table, weights) == pytest.approx(sum(both))
    codes = draw_target(MultinomialLogLoss(3), rng, n_rows)
    table = rng.normal(size=(n_rows, 3))
    for loss, labels, raw in [
        (MultinomialLogLoss(3), codes, table),
        (BinaryLogLoss(), codes > 0, scores),
    ]:
        expected = log_loss(labels, loss.probabilities(raw), sample_weight=weights)
        assert loss.mean_loss(labels, raw, weights) == pytest.approx(expected, rel=1e-12)


def test_deviances_are_zero_at_the_target_and_keep_their_resolution():
    for loss in (Poisson(), Gamma(), Tweedie(1.5)):
        for y in (1e-9, 1.0, 1e9):
            target, scores = np.array([y]), np.log([y])
            assert loss.row_losses(target, scores)[0] == 0.0
            # Half the deviance of a small relative error e is y^(2 - power) e^2 / 2.
            power = {Poisson: 1.0, Gamma: 2.0}.get(type(loss), 1.5)
            near = loss.row_losses(target, scores + 1e-4)[0]
            assert near == pytest.approx(y ** (2 - power) * 1e-8 / 2, rel=1e-3)


def test_derivatives_agree_with_scikit_learn_on_ordinary_rows(rng):
    n_rows = 200
    scores = rng.normal(size=n_rows)
    for ours, theirs in [
        (SquaredError(), peer_losses.HalfSquaredError()),
        (AbsoluteError(), peer_losses.AbsoluteError()),
        (Quantile(0.3), peer_losses.PinballLoss(quantile=0.3)),
        (Huber(delta=0.5), peer_losses.HuberLoss(delta=0.5)),
        (Poisson(), peer_losses.HalfPoissonLoss()),
        (Gamma(), peer_losses.HalfGammaLoss()),
        (Tweedie(1.3), peer_losses.HalfTweedieLoss(power=1.3)),
        (BinaryLogLoss(), peer_losses.HalfBinomialLoss()),
        (Exponential(), peer_losses.ExponentialLoss()),
    ]:
        y = draw_target(ours, rng, n_rows).astype(np.float64)
        gradient, hessian = ours.gradients(y, scores)
        their_gradient, their_hessian = theirs.gradient_hessian(y, scores)
        np.testing.assert_allclose(gradient, their_gradient, rtol=1e-9, atol=1e-12)
        if not ours.has_unit_hessian:
            np.testing.assert_allclose(hessian, their_hessian, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            ours.initial_scores(y, None)[0],
            theirs.fit_intercept_only(y) if ours in SMOOTH else ours.initial_scores(y, None)[0],
            rtol=1e-9,
        )


# --- constants that minimise --------------------------------------------------------------------


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


# --- steps that do not overshoot ----------------------------------------------------------------


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


# --- weighted quantiles -------------------------------------------------------------------------


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


# --- weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [*LOSSES, Huber(0.7)], ids=name_of)
def test_weight_zero_is_absent_and_weight_two_is_twice(loss, rng):
    n_rows = 60
    y = draw_target(loss, rng, n_rows)
    scores = rng.normal(size=shape_of(loss, n_rows))
    counts = rng.integers(0, 3, n_rows)
    rows = np.repeat(np.arange(n_rows), counts)
    weights = counts.astype(np.float64)
    prepared = loss.prepare(y, scores, weights)
    assert prepared == loss.prepare(y[rows], scores[rows], None)
    weighted = [
        loss.initial_scores(y, weights),
        prepared.leaf_value(y, scores, weights, loss.n_scores - 1),
        prepared.mean_loss(y, scores, weights),
    ]
    repeated = [
        loss.initial_scores(y[rows], None),
        prepared.leaf_value(y[rows], scores[rows], None, loss.n_scores - 1),
        prepared.mean_loss(y[rows], scores[rows], None),
    ]
    for ours, expected in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14)
    if isinstance(loss, AbsoluteError | Quantile):
        np.testing.assert_array_equal(weighted[0], repeated[0])
        assert weighted[1] == repeated[1]
    present = counts > 0
    np.testing.assert_array_equal(
        weighted[0], loss.initial_scores(y[present], weights[present]), strict=True
    )


@pytest.mark.parametrize("unit", [1e-300, 1e300, 5e-324])
@pytest.mark.parametrize("loss", [*LOSSES, Huber(0.7)], ids=name_of)
def test_only_ratios_of_weights_count(loss, unit, rng):
    y = draw_target(loss, rng, 50)
    scores = rng.normal(size=shape_of(loss, 50))
    weights = rng.integers(1, 4, 50).astype(np.float64)
    prepared = loss.prepare(y, scores, weights)
    assert loss.prepare(y, scores, weights * unit) == prepared
    for ask in (
        lambda each: loss.initial_scores(y, each),
        lambda each: prepared.leaf_value(y, scores, each),
        lambda each: prepared.mean_loss(y, scores, each),
    ):
        np.testing.assert_allclose(ask(weights * unit), ask(weights), rtol=1e-9)


def test_the_mean_of_large_numbers_keeps_its_resolution(rng):
    assert weighted_mean(np.full(7, 0.1)) == 0.1
    assert weighted_mean(1e9 + np.array([-1.0, 1.0, 0.5, -0.5])) == 1e9
    assert math.isfinite(weighted_mean(np.full(10, 1.7e308)))


# --- extremes -----------------------------------------------------------------------------------


def extreme_targets(loss):
    if loss.n_classes is not None:
        return [np.arange(6) % loss.n_classes, np.zeros(6, int), np.r_[np.zeros(5, int), 1]]
    targets = [np.array([1e9, 1e9 + 1, 2e9]), np.array([1e-9, 3e-9, 2e-9]), np.full(4, 7.0)]
    targets += [np.array([5e-324, 1e-300, 1e300]), np.array([1.7e308, 1.0, 1e308])]
    if isinstance(loss, Gamma):
        return targets
    targets += [np.array([0.0, 0.0, 1e-9]), np.array([0.0, 1e9])]
    if isinstance(loss, Poisson | Tweedie):
        return targets
    return [*targets, np.array([-1.7e308, 1.7e308, 0.0]), np.zeros(3)]


@pytest.mark.parametrize("loss", [*LOSSES, Huber(0.7)], ids=name_of)
def test_everything_is_finite_for_finite_input(loss):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in extreme_targets(loss):
            loss.check_target(y)
            n_rows = len(y)
            spread = np.geomspace(1e-300, 1e300, n_rows)
            for weights in (None, np.full(n_rows, 1e-300), spread, np.eye(n_rows)[0]):
                start = loss.initial_scores(y, weights)
                assert np.isfinite(start).all()
                for size in (0.0, 1.0, 40.0, 1e3, 1e300, 1.7e308):
                    scores = np.resize([size, -size, 0.0], shape_of(loss, n_rows))
                    for given in (scores, same_scores(loss, start, n_rows)):
                        check_finite(loss.prepare(y, given, weights), y, given, weights)


def check_finite(loss, y, scores, weights):
    gradient, hessian = loss.gradients(y, scores)
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()
    assert (hessian > 0).all()
    assert np.isfinite(loss.row_losses(y, scores)).all()
    assert math.isfinite(loss.mean_loss(y, scores, weights))
    assert np.isfinite(loss.predictions(scores)).all()
    leaf = np.arange(len(y)) % 2
    for column in range(loss.n_scores):
        values = loss.leaf_values(y, scores, weights, leaf, 3, column)
        assert np.isfinite(values).all()
        assert np.isfinite(loss.safe_steps(values)).all()
    if loss.n_classes is not None:
        shares = loss.probabilities(scores)
        assert ((shares >= 0) & (shares <= 1)).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)


def test_gradients_of_sure_and_wrong_rows_do_not_cancel():
    y, scores = np.array([1, 1, 0, 0]), np.array([50.0, -50.0, 50.0, -50.0])
    gradient, hessian = BinaryLogLoss().gradients(y, scores)
    small = math.exp(-50)
    np.testing.assert_allclose(gradient, [-small, -1, 1, small], rtol=1e-12)
    np.testing.assert_allclose(hessian, small, rtol=1e-12)


def test_a_class_without_rows_has_a_finite_start_and_hardly_any_probability():
    y = np.array([0, 0, 2, 2])
    loss = MultinomialLogLoss(4)
    shares = loss.probabilities(loss.initial_scores(y, None)[np.newaxis])[0]
    np.testing.assert_allclose(shares, [0.5, 0, 0.5, 0], atol=1e-11)
    for loss in (BinaryLogLoss(), Exponential()):
        for code in (0, 1):
            start = loss.initial_scores(np.full(5, code), None)
            assert loss.probabilities(start)[0, code] == pytest.approx(1, abs=1e-11)
            assert loss.predictions(start)[0] == code


# --- Huber's delta ------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.3, 1.0, 2.5])
def test_hubers_loss_and_slope_are_continuous_at_delta(delta):
    """Lecture 002, corrected: the outer branch is delta |r| - delta^2 / 2, not - delta / 2."""
    loss = Huber(delta=delta)
    for sign in (-1, 1):
        r = sign * delta * np.array([1 - 1e-9, 1, 1 + 1e-9, 3])
        losses = loss.row_losses(r, np.zeros(4))
        assert losses[:3] == pytest.approx(np.full(3, delta**2 / 2), rel=1e-8)
        assert losses[3] == pytest.approx(delta * 3 * delta - delta**2 / 2)
        negative = -loss.gradients(r, np.zeros(4))[0]
        assert negative == pytest.approx(sign * delta * np.array([1, 1, 1, 1]), rel=1e-8)
        # The inner negative gradient is t - y, the residual; the slide has the wrong sign.
        inner = -loss.gradients(np.array([sign * delta / 2]), np.zeros(1))[0]
        assert inner[0] == pytest.approx(sign * delta / 2)


def test_delta_is_the_quantile_of_the_errors_and_the_loss_given_stays_as_it_was(rng):
    y, scores, weights = rng.normal(size=(3, 1001))
    loss = Huber(0.9)
    prepared = loss.prepare(y, scores, None)
    errors = np.abs(y - scores)
    assert prepared.delta == np.sort(errors)[900]
    assert loss == Huber(0.9)
    weights = np.abs(weights)
    heavy = weights[errors <= loss.prepare(y, scores, weights).delta].sum() / weights.sum()
    assert heavy == pytest.approx(0.9, abs=0.005)
    assert Huber(delta=2.0).prepare(y, scores, None) == Huber(delta=2.0)
    with pytest.raises(ValueError, match="must be prepared"):
        loss.gradients(y, scores)


def test_delta_is_positive_where_most_rows_are_fitted_exactly():
    y, scores = np.array([1.0] * 20 + [3.0]), np.ones(21)
    assert Huber(0.9).prepare(y, scores, None).delta == 2.0
    assert Huber(0.9).prepare(scores, scores, None).delta == 1.0
    assert Huber(0.9).prepare(y, scores, (y < 2).astype(float)).delta == 1.0


# --- links --------------------------------------------------------------------------------------


def test_predictions_are_in_units_of_the_target(rng):
    scores = rng.normal(size=20)
    np.testing.assert_array_equal(SquaredError().predictions(scores), scores)
    np.testing.assert_allclose(Poisson().predictions(scores), np.exp(scores))
    np.testing.assert_array_equal(BinaryLogLoss().predictions(scores), scores > 0)
    np.testing.assert_allclose(
        BinaryLogLoss().probabilities(scores)[:, 1], 1 / (1 + np.exp(-scores))
    )
    np.testing.assert_allclose(
        Exponential().probabilities(scores), BinaryLogLoss().probabilities(2 * scores)
    )
    table = rng.normal(size=(20, 3))
    shares = np.exp(table) / np.exp(table).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(MultinomialLogLoss(3).probabilities(table), shares)
    np.testing.assert_array_equal(MultinomialLogLoss(3).predictions(table), shares.argmax(axis=1))
    with pytest.raises(TypeError, match="a loss of numbers"):
        Poisson().probabilities(scores)


def test_predicted_quantiles_never_cross_and_sorting_does_no_harm(rng):
    loss = Quantile((0.9, 0.1, 0.5))
    y, scores = rng.normal(size=200), rng.normal(size=(200, 3))
    predicted = loss.predictions(scores)
    assert (predicted[:, 1] <= predicted[:, 2]).all()
    assert (predicted[:, 2] <= predicted[:, 0]).all()
    np.testing.assert_array_equal(np.sort(predicted, axis=1), np.sort(scores, axis=1))
    assert (loss.row_losses(y, predicted) <= loss.row_losses(y, scores) + 1e-12).all()
    assert Quantile((0.5,)).predictions(scores[:, 0]).shape == (200, 1)
    assert Quantile(0.5).predictions(scores[:, 0]).shape == (200,)


# --- what the lectures say ----------------------------------------------------------------------


def test_residuals_of_the_four_rows_of_lecture_004_add_up_to_zero():
    """60, 70, 65, 30: mean 56.25; the slide subtracts 56.75 from the last."""
    y, loss = np.array([60.0, 70.0, 65.0, 30.0]), SquaredError()
    start = loss.initial_scores(y, None)
    residual = -loss.gradients(y, np.full(4, start))[0]
    assert start[0] == 56.25
    assert residual.tolist() == [3.75, 13.75, 8.75, -26.25]
    assert residual.sum() == 0
    assert loss.leaf_value(y[[0, 2]], np.full(2, start), None) == 6.25


def test_negative_gradients_of_lecture_002():
    t, f = np.array([2.0, -1.0, 0.5]), np.array([0.5, 1.0, 0.5])
    assert (-SquaredError().gradients(t, f)[0]).tolist() == (t - f).tolist()
    assert (-AbsoluteError().gradients(t, f)[0]).tolist() == [1.0, -1.0, 0.0]
    # K classes: 1-of-K targets minus probabilities; a start of 1/K everywhere is harmless.
    codes, scores = np.array([2, 0]), np.array([[0.1, -0.3, 0.8], [1.0, 0.0, -1.0]])
    loss = MultinomialLogLoss(3)
    one_of_k = np.eye(3)[codes]
    expected = one_of_k - loss.probabilities(scores)
    np.testing.assert_allclose(-loss.gradients(codes, scores)[0], expected)
    np.testing.assert_allclose(loss.probabilities(scores + 1 / 3), loss.probabilities(scores))


def test_the_best_step_of_exponential_loss_is_half_the_log_odds_of_a_vote():
    """Lectures 000 to 003: a vote of one sign for all rows, error 0.3, has beta = 0.42."""
    votes_right = np.array([1] * 7 + [0] * 3)
    loss = Exponential()
    beta = loss.leaf_value(votes_right, np.zeros(10), None)
    assert beta == pytest.approx(0.5 * math.log(0.7 / 0.3))
    assert round(beta, 2) == 0.42
    # After the step the weights e^(-y f) are 1/14 for right and 1/6 for wrong rows.
    weights = loss.row_losses(votes_right, np.full(10, beta))
    weights /= weights.sum()
    np.testing.assert_allclose(weights, [1 / 14] * 7 + [1 / 6] * 3)
    # Z = 2 sqrt(e (1 - e)) is what the loss has become.
    assert loss.mean_loss(votes_right, np.full(10, beta), None) == pytest.approx(
        2 * math.sqrt(0.3 * 0.7)
    )
    # A Newton step is Gentle AdaBoost's: the hyperbolic tangent of the best one.
    gradient, hessian = loss.gradients(votes_right, np.zeros(10))
    assert -gradient.sum() / hessian.sum() == pytest.approx(math.tanh(beta))


# --- names, errors, files -----------------------------------------------------------------------


def test_losses_are_found_by_name():
    assert get_loss("squared_error") == SquaredError()
    assert get_loss("absolute_error") == AbsoluteError()
    assert get_loss("huber") == Huber(0.9)
    assert get_loss("huber", quantile=0.8, delta=2) == Huber(0.8, 2.0)
    assert get_loss("quantile", quantile=[0.1, 0.9]) == Quantile((0.1, 0.9))
    assert get_loss("poisson") == Poisson()
    assert get_loss("gamma") == Gamma()
    assert get_loss("tweedie", power=1.2) == Tweedie(1.2)
    assert get_loss("log_loss", n_classes=1) == BinaryLogLoss()
    assert get_loss("log_loss", n_classes=5) == MultinomialLogLoss(5)
    assert get_loss("exponential", n_classes=2) == Exponential()
    given = Quantile(0.3)
    assert get_loss(given) is given
    assert get_loss(BinaryLogLoss(), n_classes=2) == BinaryLogLoss()


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        (
            ("hinge",),
            {},
            ValueError,
            'loss must be "squared_error", .* or "tweedie"; got \'hinge\'',
        ),
        (("poisson",), {"n_classes": 2}, ValueError, 'must be "log_loss" or "exponential"'),
        (("log_loss",), {}, ValueError, "squared_error"),
        ((3,), {}, TypeError, '"tweedie" or a Loss; got 3'),
        ((Poisson,), {}, TypeError, "or a Loss; got"),
        (("exponential",), {"n_classes": 3}, ValueError, "two classes; got 3"),
        (("poisson",), {"quantile": 0.5}, ValueError, 'quantile must be None for loss "poisson"'),
        ((Poisson(),), {"power": 1.5}, ValueError, "power must be None for loss Poisson"),
        ((Poisson(),), {"n_classes": 2}, ValueError, "loss of classes for a classifier"),
        ((BinaryLogLoss(),), {}, ValueError, "loss of numbers for a regressor"),
        ((BinaryLogLoss(),), {"n_classes": 3}, ValueError, "for 3 classes; got BinaryLogLoss"),
        (("quantile",), {"quantile": 1.0}, ValueError, r"q must be a number in \(0, 1\); got 1.0"),
        (("quantile",), {"quantile": [0.1, 0.1]}, ValueError, "several different ones; got"),
        (("quantile",), {"quantile": []}, ValueError, "several different ones; got"),
        (("quantile",), {"quantile": "half"}, TypeError, "several different ones; got"),
        (("huber",), {"quantile": 0.0}, ValueError, r"quantile must be a number in \(0, 1\)"),
        (("huber",), {"delta": -1.0}, ValueError, "delta must be a finite number > 0"),
        (("tweedie",), {"power": 2}, ValueError, r"power must be a number in \(1, 2\); got 2"),
    ],
)
def test_wrong_losses_are_refused_in_plain_words(arguments, settings, error, message):
    with pytest.raises(error, match=message):
        get_loss(*arguments, **settings)


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (SquaredError(), [1.0, np.nan], '"squared_error" needs .* finite .* got nan in row 1'),
        (Quantile(), [[1.0], [2.0]], r"got an array of shape \(2, 1\)"),
        (AbsoluteError(), ["a", "b"], "got an array of"),
        (Huber(), [], r"got an array of shape \(0,\)"),
        (Poisson(), [1.0, -2.0], "y >= 0 and a positive sum; got -2 in row 1"),
        (Poisson(), [0.0, 0.0], "a positive sum; got zeros only"),
        (Tweedie(), [0.0, -1e-9], '"tweedie" needs .* got -1e-09 in row 1'),
        (Gamma(), [1.0, 0.0], "all y > 0; got 0 in row 1"),
        (BinaryLogLoss(), [0, 1, 2], "class codes, 0 and 1; got 2 in row 2"),
        (Exponential(), [-1, 1], '"exponential" needs .* got -1 in row 0'),
        (MultinomialLogLoss(3), [0, 3], "class codes, 0 to 2; got 3 in row 1"),
        (MultinomialLogLoss(3), [0, 1.5], "got 1.5 in row 1"),
        (BinaryLogLoss(), [0.0, np.nan], "got nan in row 1"),
        (BinaryLogLoss(), ["no", "yes"], "got an array of"),
    ],
)
def test_targets_that_do_not_suit_a_loss_are_refused(loss, y, message):
    with pytest.raises(ValueError, match=message):
        loss.check_target(np.array(y))


@pytest.mark.parametrize("loss", [*LOSSES, Huber(0.7)], ids=name_of)
def test_losses_are_values(loss):
    """They are equal if their settings are, and survive copies, pickle and model files."""
    assert (
        copy.deepcopy(loss) == clone(loss, safe=False) == pickle.loads(pickle.dumps(loss)) == loss
    )
    stored = decode(*encode(loss))
    assert stored == loss
    assert stored.n_scores == loss.n_scores
    assert hash(stored) == hash(loss)
    with pytest.raises(AttributeError):
        loss.n_scores = 7


def test_a_loss_of_ones_own_needs_two_methods(rng):
    class LogCosh(Loss):
        def row_losses(self, y, scores):
            return np.logaddexp(y - scores, scores - y) - math.log(2)

        def gradients(self, y, scores):
            slope = np.tanh(scores - y)
            return slope, 1 - slope**2

    loss, y = LogCosh(), rng.normal(5, 1, 100)
    start = loss.initial_scores(y, None)
    found = minimize_scalar(lambda score: loss.mean_loss(y, np.full(100, score), None))
    assert start == pytest.approx([found.x], abs=1e-6)
    leaf = np.arange(100) % 3
    values = loss.leaf_values(y, np.full(100, start), None, leaf, 3)
    assert values == pytest.approx([y[leaf == k].mean() - start[0] for k in range(3)], abs=0.2)
    assert get_loss(loss) is loss
    assert loss.prepare(y, y, None) is loss
    loss.check_target(y)
    with pytest.raises(TypeError, match=r"gradients.*row_losses"):
        Loss()  # names what a loss has to define
