"""The rows and the stumps of AdaBoost in the engine, against sums and searches done by hand."""

import gc
import math

import numpy as np
import pandas as pd
import pytest
from reference import ordered_partitions
from reference_adaboost import best_stump, class_sums, impure_weight, left_over
from tree_tools import make_case

from committee import _core
from committee.tables.table import read_table

CRITERIA = ["gini", "entropy", "error"]
WEIGHTS = ["none", "whole", "parts", "wide", "huge", "tiny", "heavy tail"]

# Distributions add up to one; searches see multiples of 2^-56, and scores are doubles.
ROUNDING = 1e-13


@pytest.fixture
def levels():
    """The instruction sets of this processor; the choice is put back afterwards."""
    every = ["scalar", "avx2", "avx512"]
    _core.set_simd_level("auto")
    yield every[: every.index(_core.simd_level()) + 1]
    _core.set_simd_level("auto")


def make_classes(rng, n_rows, n_classes):
    """Codes in which every class is present twice, in the rows that no weight leaves out."""
    y = rng.integers(0, n_classes, n_rows).astype(np.int32)
    y[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    return y


def make_weights(kind, rng, n_rows):
    if kind == "none":
        return None
    if kind == "whole":
        weights = rng.integers(1, 4, n_rows).astype(float)
        weights[10::5] = 0.0
        return weights
    weights = rng.uniform(0.1, 3.0, n_rows)
    weights[10::7] = 0.0
    if kind == "parts":
        return weights
    if kind in ("huge", "tiny"):
        return weights * (1e300 if kind == "huge" else 1e-300)
    if kind == "wide":
        return 10 ** rng.uniform(-12, 12, n_rows)
    return 1.0 / rng.random(n_rows) ** 6


def shares_by_hand(weights, groups, y, n_groups, n_classes):
    weights = weights / weights.max()  # the sum of huge weights is not a number
    total = math.fsum(weights)
    sums = [class_sums(y, weights, groups == group, n_classes) for group in range(n_groups)]
    return np.array(sums) / total


def ones(weights, n_rows):
    return np.ones(n_rows) if weights is None else weights


# --- rows: shares -------------------------------------------------------------------------------


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


# --- rows: rounds -------------------------------------------------------------------------------


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


# --- stumps -------------------------------------------------------------------------------------


def dataset_of(table, weights=None, exact=True, max_bins=255):
    read, schema = read_table(table)
    n_levels = [len(feature.levels or ()) for feature in schema.features]
    return read, _core.BinnedDataset(read, weights, n_levels, max_bins=max_bins, exact=exact)


def coded(dataset):
    """The table as the engine sees it: codes, NaN where a value is missing."""
    columns = []
    for feature in range(dataset.n_features):
        codes = dataset.codes(feature).astype(float)
        n_values = dataset.n_codes(feature) - dataset.has_missing(feature)
        columns.append(np.where(codes >= n_values, np.nan, codes))
    return np.column_stack(columns)


def split_of(tree):
    arrays = tree.arrays()
    flags = int(arrays["feature_and_flags"][0])
    return flags & 0xFFFFFF, (flags >> 24) & 3, bool(flags >> 26 & 1)


def threshold_of(tree):
    bits = tree.arrays()["threshold"][0]
    return float(bits.view(np.float64)) if split_of(tree)[1] == 0 else int(bits.view(np.int64))


def ordered_best(X, y, weight, criterion, categorical, n_classes):
    """What is left by the best stump if levels are put in the order of a class's share."""
    rows = weight > 0
    X, y, weight = X[rows], y[rows], weight[rows]
    best = math.inf
    for feature in categorical:
        for label in range(n_classes):
            for left, _ in ordered_partitions(X[:, feature], (y == label) * 1.0, weight):
                best = min(best, left_over(criterion, y, weight, left, n_classes))
    return best


def assert_best(tree, groups, X, y, weight, criterion, categorical=(), n_classes=2):
    """The stump leaves as little impurity as the best of all stumps."""
    best = best_stump(X, y, weight, criterion, categorical, n_classes)
    if best is None:
        assert tree.n_nodes == 1
        assert (groups == 0).all()
        return
    assert tree.n_nodes == 3
    found = left_over(criterion, y, weight, groups == 1, n_classes)
    bound = best.left_over
    if n_classes > 2 and categorical:
        # With three classes and more, not every subset of levels is tried.
        numeric = [k for k in range(X.shape[1]) if k not in categorical]
        others = best_stump(X[:, numeric], y, weight, criterion, (), n_classes)
        bound = min(
            ordered_best(X, y, weight, criterion, categorical, n_classes),
            others.left_over if others is not None else math.inf,
        )
        assert found >= best.left_over - ROUNDING
    assert found <= bound + ROUNDING


def assert_statistics(tree, groups, shares, y, distribution, counts, criterion, n_classes):
    """Values, weights, impurities and numbers of rows of the nodes are those of their rows."""
    arrays = tree.arrays()
    masks = [np.ones(len(y), bool)]
    if tree.n_nodes == 3:
        masks += [groups == 1, groups == 2]
    for node, mask in enumerate(masks):
        sums = np.array(class_sums(y, distribution, mask, n_classes))
        assert arrays["weight"][node] == pytest.approx(math.fsum(sums), rel=1e-13)
        np.testing.assert_allclose(arrays["values"][node], sums / math.fsum(sums), atol=1e-13)
        impurity = impure_weight(criterion, list(sums)) / math.fsum(sums)
        assert arrays["impurity"][node] == pytest.approx(impurity, rel=1e-9, abs=1e-12)
        assert arrays["n_rows"][node] == counts[mask].sum()
        if node > 0 or tree.n_nodes == 1:
            np.testing.assert_allclose(shares[node], sums, rtol=1e-13, atol=1e-16)
    if tree.n_nodes == 3:
        assert shares[0].tolist() == [0.0] * n_classes


def counts_of(weights, n_rows):
    weights = ones(weights, n_rows)
    if (weights == np.floor(weights)).all() and weights.sum() < 2**31:
        return weights.astype(int)
    return (weights > 0).astype(int)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", ["numeric", "missing", "category", "mixed"])
def test_every_stump_is_the_best_of_all_stumps(kind, criterion, exact, rng):
    for n_classes, weighing in zip([2, 2, 2, 3, 4, 5, 2], WEIGHTS, strict=True):
        case = make_case(kind, rng, 40)
        y = make_classes(rng, 40, n_classes)
        weights = make_weights(weighing, rng, 40)
        table, dataset = dataset_of(case.table, weights, exact)
        rows = _core.BoostedRows(y, n_classes, weights)
        booster = _core.StumpBooster(dataset, rows, criterion=criterion)
        for _ in range(3):
            tree, groups, shares, _ = booster.find()
            distribution = rows.distribution()
            assert_best(
                tree, groups, case.X, y, distribution, criterion, case.categorical, n_classes
            )
            counts = counts_of(weights, 40)
            assert_statistics(tree, groups, shares, y, distribution, counts, criterion, n_classes)
            is_counted = counts > 0
            np.testing.assert_array_equal(tree.apply(table)[is_counted], groups[is_counted])
            boost(rows, groups, shares)


def boost(rows, groups, shares):
    """One round of discrete AdaBoost; returns the error."""
    is_wrong = np.ones(shares.shape)
    is_wrong[np.arange(len(shares)), shares.argmax(axis=1)] = 0.0
    error = float((shares * is_wrong).sum())
    if error == 0:
        return 0.0
    factors = np.where(is_wrong > 0, (1 - error) / error * (shares.shape[1] - 1), 1.0)
    rows.reweigh(np.array(groups), factors, float((shares * factors).sum()))
    return error


@pytest.mark.parametrize("max_bins", [3, 8, 255])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_bins_are_cut_where_that_is_best(n_classes, max_bins, rng):
    X = rng.normal(size=(120, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = make_classes(rng, 120, n_classes)
    table, dataset = dataset_of(X, exact=False, max_bins=max_bins)
    assert max(dataset.n_codes(feature) for feature in range(3)) <= max_bins + 1
    rows = _core.BoostedRows(y, n_classes)
    booster = _core.StumpBooster(dataset, rows)
    for _ in range(4):
        tree, groups, shares, _ = booster.find()
        distribution = rows.distribution()
        assert_best(tree, groups, coded(dataset), y, distribution, "gini", (), n_classes)
        np.testing.assert_array_equal(tree.apply(table), groups)
        boost(rows, groups, shares)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("place", [1, 2, 700, 1022, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 2199])
def test_a_planted_cut_is_found_wherever_it_is(place, n_classes, rng):
    # Cuts are compared by the thousand and twenty-four; none may be lost between two lots.
    order = rng.permutation(2200)
    X = order[:, None].astype(float)
    y = (order >= place).astype(np.int32)
    table, dataset = dataset_of(X)
    rows = _core.BoostedRows(y, n_classes)
    tree, groups, shares, _ = _core.StumpBooster(dataset, rows).find()
    assert threshold_of(tree) == place - 0.5
    np.testing.assert_array_equal(groups, 1 + y)
    assert shares[1, 1] == shares[2, 0] == 0
    np.testing.assert_array_equal(tree.apply(table), groups)


@pytest.mark.parametrize("is_exact", [True, False])
def test_missing_values_go_where_they_belong(is_exact):
    values = [1.0, 2.0, 3.0, np.nan, np.nan]
    for y, left in (
        ([0, 0, 1, 1, 1], [1, 1, 0, 0, 0]),  # with the large values
        ([0, 1, 1, 0, 0], [1, 0, 0, 1, 1]),  # with the small ones
        ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0]),  # against all others
    ):
        table, dataset = dataset_of(np.array(values)[:, None], exact=is_exact)
        rows = _core.BoostedRows(np.array(y, np.int32), 2)
        tree, groups, _, _ = _core.StumpBooster(dataset, rows).find()
        assert (np.array(groups) == 1).astype(int).tolist() == left
        assert tree.apply(table).tolist() == groups.tolist()
    assert threshold_of(tree) == math.inf


@pytest.mark.parametrize("is_exact", [True, False])
def test_huge_integers_are_cut_exactly(is_exact):
    X = np.array([[2**60 + 1], [2**60 + 2], [2**60 + 3], [-(2**60)]])
    y = np.array([0, 0, 1, 0], np.int32)
    table, dataset = dataset_of(X, exact=is_exact)
    tree, groups, _, _ = _core.StumpBooster(dataset, _core.BoostedRows(y, 2)).find()
    assert split_of(tree)[:2] == (0, 1)
    assert threshold_of(tree) == 2**60 + 2
    assert tree.apply(table).tolist() == groups.tolist() == [1, 1, 2, 1]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_levels", [200, 300, 600])
def test_categories_of_many_levels_are_split_by_their_shares(n_levels, n_classes, rng):
    n_rows = 3 * n_levels
    levels = np.arange(n_rows) % n_levels
    y = make_classes(rng, n_rows, n_classes)
    column = pd.Categorical.from_codes(levels, [f"l{k}" for k in range(n_levels)])
    frame = pd.DataFrame({"c": column, "x": rng.normal(size=n_rows)})
    frame.loc[rng.random(n_rows) < 0.05, "c"] = None
    table, dataset = dataset_of(frame)
    weights = rng.integers(0, 3, n_rows).astype(float)
    rows = _core.BoostedRows(y, n_classes, weights)
    booster = _core.StumpBooster(dataset, rows)
    X = np.column_stack([frame["c"].cat.codes, frame["x"]]).astype(float)
    X[X[:, 0] < 0, 0] = np.nan
    for number in range(12):
        tree, groups, shares, _ = booster.find()
        np.testing.assert_array_equal(tree.apply(table)[weights > 0], groups[weights > 0])
        if number % 4 == 0:
            distribution = rows.distribution()
            best = ordered_best(X, y, distribution, "gini", (0,), n_classes)
            found = left_over("gini", y, distribution, np.array(groups) == 1, n_classes)
            assert found <= best + ROUNDING
        if boost(rows, groups, shares) == 0:
            break


def test_the_price_of_levels_lets_a_number_win(rng):
    # The category is a little better, by more levels than it is worth.
    levels = np.array([0, 1, 2, 3, 4, 5] * 10)
    y = (np.isin(levels, [0, 2, 4]) ^ (rng.random(60) < 0.3)).astype(np.int32)
    number = np.where(rng.random(60) < 0.45, 1 - y, y) + rng.random(60) / 2
    frame = pd.DataFrame({"c": pd.Categorical.from_codes(levels, list("abcdef")), "x": number})
    X = np.column_stack([levels, number])
    _, dataset = dataset_of(frame)
    rows = _core.BoostedRows(y, 2)
    impurity = impure_weight("gini", class_sums(y, rows.distribution(), y >= 0, 2))
    best = [best_stump(X[:, [k]], y, rows.distribution(), "gini", [0] * (k == 0)) for k in (0, 1)]
    gain = best[1].left_over - best[0].left_over
    assert gain > 0
    # Four levels beyond the two that any split needs, each at the impurity of an average row.
    price = gain / (4 * impurity / 60)
    for penalty, feature in ((0.0, 0), (price * 0.999, 0), (price * 1.001, 1), (1e9, 1)):
        tree, _, _, _ = _core.StumpBooster(dataset, rows, level_penalty=penalty).find()
        assert split_of(tree)[0] == feature


def test_where_nothing_can_be_split_there_is_a_leaf():
    X = np.array([[1.0, np.nan], [1.0, np.nan], [1.0, np.nan]])
    _, dataset = dataset_of(X)
    for y in ([0, 1, 0], [0, 0, 0]):
        rows = _core.BoostedRows(np.array(y, np.int32), 2)
        tree, groups, shares, _ = _core.StumpBooster(dataset, rows).find()
        assert tree.n_nodes == 1
        assert groups.tolist() == [0, 0, 0]
        np.testing.assert_allclose(shares, [[y.count(0) / 3, y.count(1) / 3]], rtol=1e-15)
    _, varied = dataset_of(np.array([[1.0], [2.0], [3.0]]))
    only = _core.BoostedRows(np.array([0, 1, 0], np.int32), 2, np.array([1.0, 0.0, 1.0]))
    assert _core.StumpBooster(varied, only).find()[0].n_nodes == 1


def test_rows_of_weight_zero_are_absent(rng):
    for exact in (True, False):
        for kind in ("numeric", "missing", "category", "mixed"):
            case = make_case(kind, rng, 60)
            y = make_classes(rng, 60, 3)
            weights = np.r_[np.ones(10), rng.integers(0, 2, 50)].astype(float)
            kept = weights > 0
            part = case.table[kept] if kind in ("numeric", "missing") else case.table.loc[kept]
            trees = []
            for table, own, given in ((case.table, y, weights), (part, y[kept], None)):
                _, dataset = dataset_of(table, given, exact)
                rows = _core.BoostedRows(own, 3, given)
                booster = _core.StumpBooster(dataset, rows)
                trees.append([])
                for _ in range(5):
                    tree, groups, shares, _ = booster.find()
                    boost(rows, groups, shares)
                    trees[-1].append(tree.arrays())
            assert_same_trees(*trees)


def test_a_row_of_weight_two_gives_the_stumps_of_the_row_twice(rng):
    for exact in (True, False):
        case = make_case("mixed", rng, 50)
        y = make_classes(rng, 50, 3)
        weights = np.r_[np.ones(10), rng.integers(0, 4, 40)].astype(float)
        repeated = np.repeat(np.arange(50), weights.astype(int))
        trees = []
        for table, own, given in (
            (case.table, y, weights),
            (case.table.iloc[repeated], y[repeated], None),
        ):
            _, dataset = dataset_of(table, given, exact)
            rows = _core.BoostedRows(own, 3, given)
            booster = _core.StumpBooster(dataset, rows, level_penalty=1.0)
            trees.append([])
            for _ in range(12):
                tree, groups, shares, _ = booster.find()
                boost(rows, groups, shares)
                trees[-1].append(tree.arrays())
        assert_same_trees(*trees)


def assert_same_trees(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert set(one) == set(other)
        for name, array in one.items():
            np.testing.assert_array_equal(array, other[name], err_msg=name)


# --- stumps: rounds -----------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("is_gradual", [True, False])
def test_sums_kept_from_round_to_round_are_those_added_up_anew(is_gradual, n_classes, exact, rng):
    # The long-lived booster adds differences; the fresh one has rows that never noted any.
    n_rows = 300
    levels = rng.integers(0, 400, n_rows)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "n": rng.integers(0, 30, n_rows),
            "c": pd.Categorical.from_codes(levels, [f"l{k}" for k in range(400)]),
            "d": pd.Categorical.from_codes(levels % 4, list("abcd")),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "x"] = np.nan
    y = make_classes(rng, n_rows, n_classes)
    weights = rng.integers(0, 3, n_rows).astype(float)
    _, dataset = dataset_of(frame, weights, exact)
    rows = _core.BoostedRows(y, n_classes, weights)
    booster = _core.StumpBooster(dataset, rows, level_penalty=2.0)
    history = []
    for number in range(60):
        tree, groups, shares, _ = booster.find()
        if number in (0, 1, 2, 7, 30, 59):
            fresh = _core.BoostedRows(y, n_classes, weights)
            for past in history:
                fresh.reweigh(*past)
            np.testing.assert_array_equal(rows.distribution(), fresh.distribution())
            again, same_groups, same_shares, _ = _core.StumpBooster(
                dataset, fresh, level_penalty=2.0
            ).find()
            assert_same_trees([tree.arrays()], [again.arrays()])
            np.testing.assert_array_equal(groups, same_groups)
            np.testing.assert_array_equal(shares, same_shares)
        # Some rows change, or all of them, by factors that soon spread weights very widely.
        logs = rng.normal(size=shares.shape) * 8
        if is_gradual:
            logs *= rng.random(logs.shape) < 0.4
        step = (np.array(groups), np.exp(logs), float((shares * np.exp(logs)).sum()))
        history.append(step)
        rows.reweigh(*step)
    positive = rows.distribution()[weights > 0]
    assert positive.max() / max(positive.min(), 1e-300) > 1e30


def test_several_changes_between_two_searches_are_all_noted(rng):
    X, y = rng.normal(size=(200, 3)), make_classes(rng, 200, 2)
    _, dataset = dataset_of(X, exact=False)
    rows, fresh = _core.BoostedRows(y, 2), _core.BoostedRows(y, 2)
    booster = _core.StumpBooster(dataset, rows)
    booster.find()
    for _ in range(5):
        groups = rng.integers(0, 2, 200).astype(np.uint32)
        for each in (rows, fresh):
            each.reweigh(groups, np.array([[1.0, 1.1], [0.9, 1.0]]), 1.0)
    tree, _, _, _ = booster.find()
    expected, _, _, _ = _core.StumpBooster(dataset, fresh).find()
    assert_same_trees([tree.arrays()], [expected.arrays()])
    same, _, _, _ = booster.find()
    assert_same_trees([tree.arrays()], [same.arrays()])


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stumps_are_the_trees_of_depth_one_of_the_same_weights(n_classes, criterion, exact, rng):
    X = rng.normal(size=(400, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.digitize(X[:, 0] + rng.normal(size=400), np.arange(n_classes - 1)).astype(np.int32)
    y = np.where(np.isnan(X[:, 0]), 0, y).astype(np.int32)
    weights = rng.uniform(0.5, 1.5, 400)  # no two stumps are equally good
    _, dataset = dataset_of(X, weights, exact)
    rows = _core.BoostedRows(y, n_classes, weights)
    booster = _core.StumpBooster(dataset, rows, criterion=criterion)
    for _ in range(10):
        tree, groups, shares, _ = booster.find()
        grown = _core.grow_tree(
            dataset,
            classes=y[:, None],
            n_classes=[n_classes],
            weights=rows.distribution(),
            settings={"criterion": criterion, "max_depth": 1},
        )
        assert split_of(tree) == split_of(grown)
        assert threshold_of(tree) == threshold_of(grown)
        ours, theirs = tree.arrays(), grown.arrays()
        np.testing.assert_array_equal(ours["n_rows"], theirs["n_rows"])
        # The grower puts weights on a grid of its own.
        for name in ("values", "weight", "impurity"):
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-12)
        boost(rows, groups, shares)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stumps_are_the_same_for_any_number_of_threads(n_classes, exact, rng):
    n_rows = 40_000
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    frame["b"] = frame["b"].round(1)
    frame["e"] = pd.Categorical.from_codes(
        rng.integers(0, 300, n_rows), [f"l{k}" for k in range(300)]
    )
    frame.loc[rng.random(n_rows) < 0.05, "c"] = np.nan
    y = (frame["a"] + rng.normal(size=n_rows) > 0).to_numpy().astype(np.int32)
    y[: n_rows // 3] += n_classes - 2
    _, dataset = dataset_of(frame, exact=exact)
    runs = []
    for n_threads in (1, 2, 3):
        rows = _core.BoostedRows(y, n_classes, n_threads=n_threads)
        booster = _core.StumpBooster(dataset, rows, n_threads=n_threads)
        trees = []
        for _ in range(6):
            tree, groups, shares, _ = booster.find()
            trees.append(tree.arrays() | {"groups": np.array(groups), "shares": shares})
            boost(rows, groups, shares)
        runs.append(trees)
    assert_same_trees(runs[0], runs[1])
    assert_same_trees(runs[0], runs[2])


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n_rows", [2, 3, 9, 33, 1025, 5000])
def test_every_instruction_set_finds_the_same_stumps(levels, n_rows, exact, rng):
    X = rng.normal(size=(n_rows, 4)) * [1, 1, 30, 1]
    X[:, 2] = X[:, 2].round()
    X[rng.random(n_rows) < 0.1, 3] = np.nan
    y = (X[:, 0] + rng.normal(size=n_rows) > 0).astype(np.int32)
    y[:2] = 0, 1
    _, dataset = dataset_of(X, exact=exact)
    runs = []
    for level in levels:
        _core.set_simd_level(level)
        assert _core.simd_level() == level
        rows = _core.BoostedRows(y, 2)
        booster = _core.StumpBooster(dataset, rows)
        trees = []
        for _ in range(15):
            tree, groups, shares, _ = booster.find()
            trees.append(tree.arrays() | {"groups": np.array(groups), "shares": shares})
            if boost(rows, groups, shares) == 0:
                break
        runs.append(trees)
    for other in runs[1:]:
        assert_same_trees(runs[0], other)


def test_a_booster_keeps_what_it_looks_at():
    def make():
        _, dataset = dataset_of(np.arange(50.0)[:, None])
        rows = _core.BoostedRows(np.repeat([0, 1], 25).astype(np.int32), 2)
        return _core.StumpBooster(dataset, rows)

    booster = make()
    gc.collect()
    tree, groups, _, _ = booster.find()
    del booster
    gc.collect()
    assert threshold_of(tree) == 24.5
    assert groups.tolist() == [1] * 25 + [2] * 25
    with pytest.raises(ValueError, match="read-only"):
        groups[0] = 7


def test_the_last_booster_of_rows_takes_over():
    # Changes are noted once: of two boosters each would miss those that the other has taken.
    _, dataset = dataset_of(np.arange(4.0)[:, None])
    rows = _core.BoostedRows(np.array([0, 0, 1, 1], np.int32), 2)
    first, last = (_core.StumpBooster(dataset, rows) for _ in range(2))
    with pytest.raises(RuntimeError, match="taken over"):
        first.find()
    assert last.find()[0].n_nodes == 3


def test_bad_boosters_are_refused():
    _, dataset = dataset_of(np.arange(4.0)[:, None])
    rows = _core.BoostedRows(np.array([0, 1, 0], np.int32), 2)
    with pytest.raises(ValueError, match="as many rows"):
        _core.StumpBooster(dataset, rows)
    rows = _core.BoostedRows(np.array([0, 1, 0, 1], np.int32), 2)
    with pytest.raises(ValueError, match="criterion"):
        _core.StumpBooster(dataset, rows, criterion="squared_error")
    with pytest.raises(ValueError, match="criterion"):
        _core.StumpBooster(dataset, rows, criterion="luck")
    for penalty in (-1.0, np.nan):
        with pytest.raises(ValueError, match="level_penalty"):
            _core.StumpBooster(dataset, rows, level_penalty=penalty)


def test_a_side_that_weighs_next_to_nothing_keeps_its_digits():
    # The best cut leaves 0.5 and 1e-16 of 2.1 on the right: as doubles, 2.1 - 0.5 - 1.6 is noise.
    _, dataset = dataset_of(np.arange(4.0)[:, None])
    rows = _core.BoostedRows(np.array([0, 0, 1, 1], np.int32), 2, np.array([0.7, 0.9, 0.5, 1e-16]))
    _, groups, _, predicted = _core.StumpBooster(dataset, rows).find()
    assert groups.tolist() == [1, 1, 2, 2]
    assert predicted[1:].tolist() == [0, 1]


def test_nodes_predict_what_their_values_say():
    # 0.1 + 0.2 and 0.3 differ in the last digit as sums, and are the same share.
    _, dataset = dataset_of(np.array([[0.0], [0.0], [0.0], [1.0]]))
    weights = np.array([0.1, 0.2, 0.3, 1.0])
    rows = _core.BoostedRows(np.array([1, 1, 0, 0], np.int32), 2, weights)
    tree, _, _, predicted = _core.StumpBooster(dataset, rows).find()
    assert predicted.tolist() == tree.arrays()["values"].argmax(axis=1).tolist()


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-300, 1.0, 1e300, 1.7e308 / 4])
def test_weights_may_be_at_the_ends_of_the_range_of_doubles(unit):
    weights = np.array([1.0, 2.0, 1.0]) * unit
    rows = _core.BoostedRows(np.array([0, 1, 0], np.int32), 2, weights)
    assert rows.distribution().tolist() == [0.25, 0.5, 0.25]
