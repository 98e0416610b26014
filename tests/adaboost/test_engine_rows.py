"""The weighted rows of AdaBoost in the engine, against sums made by hand."""

import math

import numpy as np
import pytest
from adaboost_engine_tools import CRITERIA, WEIGHTS, dataset_of, make_classes, make_weights, ones
from reference_adaboost import class_sums

from committee import _core


def shares_by_hand(weights, groups, y, n_groups, n_classes):
    weights = weights / weights.max()  # the sum of huge weights is not a number
    total = math.fsum(weights)
    sums = [class_sums(y, weights, groups == group, n_classes) for group in range(n_groups)]
    return np.array(sums) / total


# --- rows: shares ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("n_classes", [2, 5])
def test_shares_are_the_sums_of_weights_to_the_last_digits(n_classes, kind, rng):
    y = make_classes(rng, 500, n_classes)
    weights = make_weights(kind, rng, 500)
    groups = rng.integers(0, 3, 500).astype(np.uint32)
    rows = _core.BoostedRows(y, n_classes, weights)
    expected = shares_by_hand(ones(weights, 500), groups, y, 3, n_classes)
    # Sums are exact but for what lies below 2^-110 in each weight; two roundings and a division.
    np.testing.assert_allclose(rows.shares(groups, 3), expected, rtol=1e-15, atol=500 * 2.0**-109)
    distribution = rows.distribution()
    assert math.fsum(distribution) == pytest.approx(1.0, abs=1e-14)
    scaled = ones(weights, 500) / ones(weights, 500).max()
    np.testing.assert_allclose(distribution, scaled / math.fsum(scaled), rtol=1e-15, atol=0)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_the_order_of_rows_does_not_change_a_bit_of_shares(kind, rng):
    y = make_classes(rng, 400, 3)
    weights = make_weights(kind, rng, 400)
    groups = rng.integers(0, 4, 400).astype(np.uint32)
    factors = np.exp(rng.normal(size=(4, 3)))
    results = []
    for order in (np.arange(400), np.arange(400)[::-1], rng.permutation(400)):
        own = None if weights is None else weights[order]
        rows = _core.BoostedRows(y[order], 3, own)
        before = rows.shares(groups[order], 4)
        rows.reweigh(groups[order], factors, float((before * factors).sum()))
        distribution = np.empty(400)
        distribution[order] = rows.distribution()
        results.append((before, rows.shares(groups[order], 4), distribution))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_row_of_weight_two_is_the_row_twice_to_the_last_bit(rng):
    y = make_classes(rng, 60, 3)
    weights = rng.integers(0, 4, 60).astype(float)
    groups = rng.integers(0, 2, 60).astype(np.uint32)
    repeated = np.repeat(np.arange(60), weights.astype(int))
    weighted = _core.BoostedRows(y, 3, weights)
    twice = _core.BoostedRows(y[repeated], 3)
    for _ in range(40):
        factors = np.exp(rng.normal(size=(2, 3)))
        shares = weighted.shares(groups, 2)
        np.testing.assert_array_equal(shares, twice.shares(groups[repeated], 2))
        growth = float((shares * factors).sum())
        weighted.reweigh(groups, factors, growth)
        twice.reweigh(groups[repeated], factors, growth)
        sums = np.bincount(repeated, twice.distribution(), 60)
        np.testing.assert_allclose(weighted.distribution(), sums, rtol=1e-15, atol=0)
        votes = rng.normal(size=(2, 3))
        assert weighted.add_votes(groups, votes) == twice.add_votes(groups[repeated], votes)
    assert (weighted.distribution()[weights == 0] == 0).all()


@pytest.mark.parametrize("lightest", [1e-30, 1e-40, 1e-300, 5e-324])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_row_is_too_light_for_a_leaf(criterion, lightest):
    y = np.array([0, 0, 1], np.int32)
    weights = np.array([1e30, 1e30, lightest])
    _, dataset = dataset_of(np.array([[0.0], [0.0], [1.0]]), weights)
    rows = _core.BoostedRows(y, 2, weights)
    tree, groups, shares, _ = _core.StumpBooster(dataset, rows, criterion=criterion).find()
    assert groups.tolist() == [1, 1, 2]
    assert tree.arrays()["values"].tolist() == [[1.0, shares[2, 1]], [1.0, 0.0], [0.0, 1.0]]
    assert 0 < shares[2, 1] < 1e-29
    assert rows.distribution()[2] > 0


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-300, 1e300])
def test_weights_may_be_of_any_size(unit):
    rows = _core.BoostedRows(np.array([0, 1, 0], np.int32), 2, np.array([1, 2, 1]) * unit)
    assert rows.distribution().tolist() == [0.25, 0.5, 0.25]
    assert rows.shares(np.zeros(3, np.uint32), 1).tolist() == [[0.5, 0.5]]


def test_a_light_row_does_not_hide_what_large_factors_leave():
    # The light row is in shares with 2^-110, and so the growth is said to be 1e37 instead of 1e-20.
    rows = _core.BoostedRows(np.array([0, 0, 1], np.int32), 2, np.array([1.0, 0.5, 1e-200]))
    groups = np.array([0, 0, 1], np.uint32)
    factors = np.array([[1e-20, 1.0], [1.0, 1e70]])
    rows.reweigh(groups, factors, float((rows.shares(groups, 2) * factors).sum()))
    np.testing.assert_allclose(rows.distribution(), [2 / 3, 1 / 3, 1e-110 / 1.5], rtol=1e-12)
    np.testing.assert_allclose(rows.shares(groups, 2)[0], [1, 0], rtol=1e-15)


@pytest.mark.parametrize("power", [-900, -1, 1, 900])
def test_the_unit_of_weights_does_not_matter(power, rng):
    y = make_classes(rng, 100, 2)
    weights = rng.uniform(0.1, 1.0, 100)
    groups = rng.integers(0, 2, 100).astype(np.uint32)
    one, other = (_core.BoostedRows(y, 2, each) for each in (weights, weights * 2.0**power))
    np.testing.assert_array_equal(one.shares(groups, 2), other.shares(groups, 2))
    np.testing.assert_array_equal(one.distribution(), other.distribution())


# --- rows: rounds ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["none", "whole", "parts", "wide"])
def test_weights_follow_their_logarithms_over_hundreds_of_rounds(kind, rng):
    # Factors of all sizes, so that weights soon differ by hundreds of orders of magnitude and all
    # of them have to be scaled again and again.
    n_rows, n_classes, n_groups = 80, 3, 4
    y = make_classes(rng, n_rows, n_classes)
    weights = ones(make_weights(kind, rng, n_rows), n_rows)
    rows = _core.BoostedRows(y, n_classes, None if kind == "none" else weights)
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    for number in range(300):
        groups = rng.integers(0, n_groups, n_rows).astype(np.uint32)
        steps = rng.normal(size=(n_groups, n_classes)) * 8
        if number % 3:
            steps *= rng.random(steps.shape) < 0.5  # most rows keep their weight
        shares = rows.shares(groups, n_groups)
        rows.reweigh(groups, np.exp(steps), float((shares * np.exp(steps)).sum()))
        logs = logs + steps[groups, y]
        if number % 20 == 0:
            scaled = np.exp(logs - logs.max())
            expected = scaled / math.fsum(scaled)
            got = rows.distribution()
            # A factor is rounded in each round.
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-250)
            assert math.fsum(got) == pytest.approx(1.0, abs=1e-13)
            hand = shares_by_hand(got, groups, y, n_groups, n_classes)
            np.testing.assert_allclose(
                rows.shares(groups, n_groups), hand, rtol=4e-15, atol=n_rows * 2.0**-104
            )
    assert np.ptp(logs[weights > 0]) > 100 * math.log(10)


@pytest.mark.parametrize("factor", [1e-200, 1e-3, 1e3, 1e200])
def test_one_factor_for_all_changes_no_share(factor, rng):
    y = make_classes(rng, 50, 2)
    groups = rng.integers(0, 2, 50).astype(np.uint32)
    rows = _core.BoostedRows(y, 2, rng.uniform(0.1, 1, 50))
    before = rows.shares(groups, 2)
    for _ in range(10):
        rows.reweigh(groups, np.full((2, 2), factor), factor)
        np.testing.assert_allclose(rows.shares(groups, 2), before, rtol=1e-13)


def test_the_first_round_of_the_ten_points_gives_fourteenths_and_sixths():
    y = np.repeat([0, 1], 5).astype(np.int32)
    wrong = np.zeros(10, np.uint32)
    wrong[[0, 1, 7]] = 1
    rows = _core.BoostedRows(y, 2)
    np.testing.assert_array_equal(rows.shares(wrong, 2), [[0.3, 0.4], [0.2, 0.1]])
    # Three of ten are wrong: they are multiplied by 7/3, and all by their sum, 14/10.
    rows.reweigh(wrong, np.array([[1.0, 1.0], [7 / 3, 7 / 3]]), 1.4)
    np.testing.assert_allclose(rows.distribution(), np.where(wrong, 1 / 6, 1 / 14), rtol=1e-15)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_votes_add_up_and_the_share_of_wrong_rows_is_counted(kind, rng):
    y = make_classes(rng, 90, 3)
    weights = make_weights(kind, rng, 90)
    rows = _core.BoostedRows(y, 3, weights)
    given = ones(weights, 90) / ones(weights, 90).max()
    scores = np.zeros((90, 3))
    for number in range(12):
        groups = rng.integers(0, 4, 90).astype(np.uint32)
        votes = rng.normal(size=(4, 3)).round(1) * (number > 0)  # at first all are zero: a tie
        wrong = rows.add_votes(groups, votes)
        scores += votes[groups]
        np.testing.assert_array_equal(rows.scores(), scores)
        expected = math.fsum(given[scores.argmax(axis=1) != y]) / math.fsum(given)
        assert wrong == pytest.approx(expected, rel=1e-15, abs=1e-30)
        # The share is by the weights that were given, whatever has become of them.
        rows.reweigh(groups, np.exp(votes), float((rows.shares(groups, 4) * np.exp(votes)).sum()))


@pytest.mark.parametrize("n_threads", [2, 3])
@pytest.mark.parametrize("kind", ["none", "heavy tail"])
def test_rows_are_the_same_for_any_number_of_threads(kind, n_threads, rng):
    n_rows = 60_000  # several parts
    y = make_classes(rng, n_rows, 3)
    weights = make_weights(kind, rng, n_rows)
    one = _core.BoostedRows(y, 3, weights)
    more = _core.BoostedRows(y, 3, weights, n_threads=n_threads)
    for _ in range(8):
        groups = rng.integers(0, 3, n_rows).astype(np.uint32)
        votes = rng.normal(size=(3, 3)) * 2
        shares = one.shares(groups, 3)
        np.testing.assert_array_equal(shares, more.shares(groups, 3))
        assert one.add_votes(groups, votes) == more.add_votes(groups, votes)
        for rows in (one, more):
            rows.reweigh(groups, np.exp(votes), float((shares * np.exp(votes)).sum()))
        np.testing.assert_array_equal(one.distribution(), more.distribution())
    np.testing.assert_array_equal(one.scores(), more.scores())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": [0, 2]}, "class code"),
        ({"classes": [-1, 0]}, "class code"),
        ({"n_classes": 0}, "classes"),
        ({"n_classes": 70_000}, "classes"),
        ({"weights": [0.0, 0.0]}, "no row has a positive weight"),
        ({"classes": []}, "no row has a positive weight"),
        ({"weights": [1.0, -1.0]}, "weights must be"),
        ({"weights": [1.0, np.nan]}, "weights must be"),
        ({"weights": [1.0, np.inf]}, "weights must be"),
        ({"weights": [1.0]}, "weights must have one entry a row"),
    ],
    ids=str,
)
def test_bad_rows_are_refused(arguments, message):
    given = {"classes": [0, 1], "n_classes": 2, "weights": None} | arguments
    weights = None if given["weights"] is None else np.array(given["weights"])
    with pytest.raises(ValueError, match=message):
        _core.BoostedRows(np.array(given["classes"], np.int32), given["n_classes"], weights)


@pytest.mark.parametrize(
    ("groups", "table", "growth", "message"),
    [
        ([0, 2, 0], np.ones((2, 2)), 1.0, "group is out of range"),
        ([0, 1], np.ones((2, 2)), 1.0, "one entry a row"),
        ([0, 1, 0], np.ones((2, 3)), 1.0, "factors"),
        ([0, 1, 0], np.array([[1.0, np.nan], [1.0, 1.0]]), 1.0, "factors"),
        ([0, 1, 0], np.array([[1.0, np.inf], [1.0, 1.0]]), 1.0, "factors"),
        ([0, 1, 0], np.array([[1.0, 0.0], [1.0, 1.0]]), 1.0, "positive"),
        ([0, 1, 0], np.array([[1.0, -1.0], [1.0, 1.0]]), 1.0, "positive"),
        ([0, 1, 0], np.ones((2, 2)), 0.0, "positive"),
        ([0, 1, 0], np.ones((2, 2)), -1.0, "positive"),
        ([0, 1, 0], np.ones((2, 2)), np.nan, "positive"),
        ([0, 1, 0], np.ones((2, 2)), np.inf, "positive"),
        ([0, 1, 0], np.full((2, 2), 1e9), 1.0, "growth"),
        ([0, 1, 0], np.full((2, 2), 1e200), 1e-200, "growth"),
    ],
)
def test_bad_factors_are_refused(groups, table, growth, message):
    rows = _core.BoostedRows(np.array([0, 1, 1], np.int32), 2)
    with pytest.raises(ValueError, match=message):
        rows.reweigh(np.array(groups, np.uint32), table, growth)


@pytest.mark.parametrize("growth", [1.0, 1e3])
@pytest.mark.parametrize("kind", ["none", "whole"])
def test_rows_left_half_changed_are_of_no_use(kind, growth, rng):
    # No weight is too large here, but their sum is: it would not fit its integers.
    n_rows = 3000
    y = make_classes(rng, n_rows, 2)
    weights = None if kind == "none" else np.r_[2.0**20, np.ones(n_rows - 1)]
    rows = _core.BoostedRows(y, 2, weights)
    booster = _core.StumpBooster(dataset_of(rng.normal(size=(n_rows, 2)))[1], rows)
    groups = np.array(booster.find()[1])
    with pytest.raises(ValueError, match="growth"):
        rows.reweigh(groups, np.full((3, 2), 6e4 * growth), growth)
    for use in (booster.find, lambda: rows.shares(groups, 3)):
        with pytest.raises(RuntimeError, match="half changed"):
            use()


def test_bad_groups_and_votes_are_refused():
    rows = _core.BoostedRows(np.array([0, 1, 1], np.int32), 2)
    groups = np.array([0, 1, 0], np.uint32)
    with pytest.raises(ValueError, match="group is out of range"):
        rows.shares(groups, 1)
    with pytest.raises(ValueError, match="one entry a row"):
        rows.shares(groups[:2], 2)
    with pytest.raises(ValueError, match="group is out of range"):
        rows.add_votes(groups, np.zeros((1, 2)))
    with pytest.raises(ValueError, match="votes"):
        rows.add_votes(groups, np.zeros((2, 1)))
    with pytest.raises(ValueError, match="votes"):
        rows.add_votes(groups, np.full((2, 2), np.inf))
    assert rows.scores().tolist() == [[0.0, 0.0]] * 3
