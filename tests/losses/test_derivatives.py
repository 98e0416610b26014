"""Losses and their derivatives, by other means; Huber's delta, links, lecture formulas."""

import math

import numpy as np
import pytest
from loss_tools import LOSSES, SMOOTH, draw_target, moved, name_of, shape_of
from sklearn._loss import loss as peer_losses
from sklearn.metrics import (
    log_loss,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_tweedie_deviance,
)

from committee.losses import (
    AbsoluteError,
    BinaryLogLoss,
    Exponential,
    Gamma,
    Huber,
    MultinomialLogLoss,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
)

# --- derivatives ----------------------------------------------------------------------------------


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


# --- the loss of a row ----------------------------------------------------------------------------


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


# --- Huber's delta --------------------------------------------------------------------------------


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


# --- links ----------------------------------------------------------------------------------------


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


# --- what the lectures say ------------------------------------------------------------------------


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
