"""Weights, extremes, names, errors and files of losses."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
from loss_tools import LOSSES, draw_target, name_of, same_scores, shape_of
from scipy.optimize import minimize_scalar
from sklearn.base import clone

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
from committee.losses.arithmetic import weighted_mean

# --- weights --------------------------------------------------------------------------------------


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


# --- extremes -------------------------------------------------------------------------------------


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


# --- names, errors, files -------------------------------------------------------------------------


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
