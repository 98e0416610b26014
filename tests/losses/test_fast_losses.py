"""The losses of the engine are those of the loss classes, to many digits, in one pass."""

import numpy as np
import pytest

from committee import _core
from committee.losses import get_loss
from committee.losses.objective import fast_loss

# Below e^-708 the engine returns e^-708.
LEAST = np.exp(-708.0)


def log_loss_of(n_classes):
    return get_loss("log_loss", n_classes=n_classes)


def two_class_losses(codes, scores):
    """Row by row in extended precision."""
    margin = np.where(codes == 1, scores, -scores).astype(np.longdouble)
    return np.log1p(np.exp(-np.abs(margin))) + np.maximum(-margin, 0)


def class_losses(codes, scores):
    """Row by row in extended precision; what the other classes add is not lost next to one."""
    scores = scores.astype(np.longdouble)
    rows = np.arange(len(codes))
    top = scores.argmax(axis=1)
    below = scores - scores[rows, top][:, None]
    others = np.exp(below)
    others[rows, top] = 0
    return np.log1p(others.sum(axis=1)) - below[rows, codes]


def fast_of(codes, n_classes, n_threads=1):
    return fast_loss(log_loss_of(n_classes), codes, n_threads)


@pytest.mark.parametrize("n_rows", [1, 3, 4, 63, 64, 65, 4096, 4099, 10_000])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 1.0, 6.9, 7.0, 30.0, 300.0, 800.0])
def test_the_mean_log_loss_has_the_digits_of_extended_precision(spread, n_rows, rng):
    codes = rng.integers(0, 2, n_rows).astype(np.int32)
    scores = np.asfortranarray(rng.uniform(-spread, spread, (n_rows, 1)))
    expected = float(two_class_losses(codes, scores[:, 0]).mean())
    found = fast_of(codes, 2).mean_loss(scores, None)
    assert found == pytest.approx(expected, rel=1e-11, abs=LEAST)


@pytest.mark.parametrize("score", [5.0, 6.93, 6.94, 20.0, 36.0, 40.0, 300.0, 700.0, 800.0])
@pytest.mark.parametrize("n_wrong", [0, 1])
def test_rows_that_are_nearly_certain_keep_relative_accuracy(score, n_wrong, rng):
    # 1 + e^-40 is one: their losses must not be read off a product of such factors.
    codes = rng.integers(0, 2, 200).astype(np.int32)
    scores = np.where(codes == 1, score, -score) * rng.uniform(0.9, 1.0, 200)
    scores[:n_wrong] *= -1
    expected = float(two_class_losses(codes, scores).mean())
    found = fast_of(codes, 2).mean_loss(np.asfortranarray(scores[:, None]), None)
    assert found == pytest.approx(expected, rel=1e-11, abs=LEAST)
    three = np.zeros((200, 3), order="F")
    three[:, 1] = scores
    three[:, 2] = -1e4
    found = fast_of(codes, 3).mean_loss(three, None)
    assert found == pytest.approx(expected, rel=1e-11, abs=3 * LEAST)


@pytest.mark.parametrize("n_rows", [1, 15, 17, 1023, 1025, 4097])
@pytest.mark.parametrize("n_classes", [3, 5, 30])
@pytest.mark.parametrize("spread", [0.0, 1.0, 20.0, 300.0, 800.0])
def test_the_mean_loss_of_several_classes_has_many_digits(spread, n_classes, n_rows, rng):
    codes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    scores = np.asfortranarray(rng.uniform(-spread, spread, (n_rows, n_classes)))
    expected = float(class_losses(codes, scores).mean())
    fast = fast_of(codes, n_classes)
    found = fast.mean_loss(scores, None)
    assert found == pytest.approx(expected, rel=1e-11, abs=n_classes * LEAST)
    scores[np.arange(n_rows), codes] = spread + 35  # all of them certain and right
    expected = float(class_losses(codes, scores).mean())
    assert fast.mean_loss(scores, None) == pytest.approx(expected, rel=1e-11, abs=n_classes * LEAST)


def test_several_likeliest_classes_share_a_row(rng):
    codes = rng.integers(0, 4, 50).astype(np.int32)
    scores = np.zeros((50, 4), order="F")
    scores[:, 3] = -40.0
    fast = fast_of(codes, 4)
    expected = float(class_losses(codes, scores).mean())
    assert fast.mean_loss(scores, None) == pytest.approx(expected, rel=1e-12)
    gradients = np.column_stack([gradient for gradient, _ in fast.gradients(scores)])
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(gradients, shares - np.eye(4)[codes], rtol=1e-12)


@pytest.mark.parametrize("n_classes", [0, 2, 6])
@pytest.mark.parametrize("n_rows", [5, 67, 5000])
def test_rows_of_weight_zero_are_left_out_of_the_mean(n_classes, n_rows, rng):
    if n_classes == 0:
        loss, target = get_loss("squared_error"), rng.normal(size=n_rows)
    else:
        loss = log_loss_of(n_classes)
        target = rng.integers(0, n_classes, n_rows).astype(np.int32)
    scores = np.asfortranarray(rng.normal(size=(n_rows, loss.n_scores)) * 3)
    weights = (rng.random(n_rows) < 0.5).astype(float)
    weights[0] = 1.0
    scores[weights == 0] *= 1e3  # would be seen
    scores[np.flatnonzero(weights == 0)[:1]] = 1e200
    own = scores[:, 0] if loss.n_scores == 1 else scores
    expected = loss.row_losses(target, own)[weights == 1].mean()
    found = fast_loss(loss, target, 1).mean_loss(scores, weights)
    assert found == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("n_rows", [1, 4, 5, 4095, 9001])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9, 1e150])
def test_the_mean_squared_error_is_that_of_extended_precision(scale, n_rows, rng):
    target = rng.normal(size=n_rows) * scale
    scores = np.asfortranarray(rng.normal(size=(n_rows, 1)) * scale)
    expected = float((((scores[:, 0] - target).astype(np.longdouble)) ** 2 / 2).mean())
    fast = fast_loss(get_loss("squared_error"), target, 1)
    assert fast.mean_loss(scores, None) == pytest.approx(expected, rel=1e-12, abs=0.0)
    np.testing.assert_array_equal(fast.gradients(scores)[0][0], scores[:, 0] - target)


def test_a_mean_beyond_the_largest_number_is_none_and_gradients_stay_finite():
    target = np.array([1e308, -1e308, 0.0])
    scores = np.asfortranarray(-target[:, None])
    fast = fast_loss(get_loss("squared_error"), target, 1)
    assert fast.mean_loss(scores, None) is None
    assert fast.gradients(scores)[0][0].tolist() == [-1e300, 1e300, 0.0]
    assert fast.mean_loss(scores, np.array([0.0, 0.0, 1.0])) == 0.0


@pytest.mark.parametrize("n_classes", [0, 2, 3, 30])
@pytest.mark.parametrize("n_rows", [1, 6, 1030, 9000])
def test_derivatives_do_not_depend_on_the_loss_being_asked_for(n_classes, n_rows, rng):
    loss = get_loss("squared_error") if n_classes == 0 else log_loss_of(n_classes)
    target = rng.integers(0, max(n_classes, 2), n_rows).astype(np.int32)
    scores = np.asfortranarray(rng.normal(size=(n_rows, loss.n_scores)) * 9)
    weights = (rng.random(n_rows) < 0.7).astype(float)
    weights[0] = 1.0
    plain = [
        [None if each is None else each.copy() for each in pair]
        for pair in fast_loss(loss, target, 1).gradients(scores)
    ]
    losses = set()
    for n_threads in (1, 2, 3):
        fast = fast_loss(loss, target, n_threads)
        losses.add(fast.mean_loss(scores, weights))
        for pair, expected in zip(fast.gradients(scores), plain, strict=True):
            for each, other in zip(pair, expected, strict=True):
                assert (each is None) == (other is None)
                if each is not None:
                    np.testing.assert_array_equal(each, other)
        # The derivatives of other scores are not those that are remembered.
        fresh = fast.gradients(np.zeros_like(scores, order="F"))[0][0]
        assert not np.array_equal(fresh, plain[0][0])
    assert len(losses) == 1


@pytest.mark.parametrize("n_classes", [0, 2, 7])
def test_every_instruction_set_finds_the_same_losses_and_derivatives(n_classes, rng):
    loss = get_loss("squared_error") if n_classes == 0 else log_loss_of(n_classes)
    target = rng.integers(0, max(n_classes, 2), 3001).astype(np.int32)
    scores = np.asfortranarray(rng.normal(size=(3001, loss.n_scores)) * 20)
    found = []
    _core.set_simd_level("auto")
    every = ["scalar", "avx2", "avx512"]
    try:
        for level in every[: every.index(_core.simd_level()) + 1]:
            _core.set_simd_level(level)
            fast = fast_loss(loss, target, 1)
            mean = fast.mean_loss(scores, None)
            found.append((mean, [gradient.copy() for gradient, _ in fast.gradients(scores)]))
    finally:
        _core.set_simd_level("auto")
    for mean, gradients in found[1:]:
        assert mean == found[0][0]
        np.testing.assert_array_equal(gradients, found[0][1])
