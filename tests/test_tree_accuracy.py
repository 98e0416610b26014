"""Numbers a user reads, at scales where sums cancel, underflow or are ruled by a few rows.

The oracle computes in exact fractions (in 60 digits where logarithms are involved). Node values,
impurities and importances must agree to 1e-9 or better: doubles carry 1e-16, and sums around a
centre lose little of it. Splits may be chosen by coarser sums, but they must be good ones: no
worse than 1e-6 of the best gain.
"""

import numpy as np
import pytest
from reference import (
    NaiveTree,
    exact_absolute_error,
    exact_class_shares,
    exact_mean,
    exact_poisson,
    exact_squared_error,
    weighted_median,
)
from tree_tools import make_tree, node_masks

N_ROWS = 120

TARGETS = {
    "around_1e9": lambda z: 1e9 + z,
    "around_minus_1e12": lambda z: -1e12 + z,
    "tiny_around_1e-9": lambda z: 1e-9 + 1e-12 * z,
    "tiny_1e-9": lambda z: 1e-9 * z,
    "tiny_1e-150": lambda z: 1e-150 * z,
    "huge_1e150": lambda z: 1e150 * z,
    "heavy_tail_2": lambda z: np.exp(2 * z),
    "heavy_tail_4": lambda z: np.exp(4 * z),
    "heavy_tail_16": lambda z: np.exp(16 * z),
    "one_giant": lambda z: np.where(np.arange(len(z)) == 17, 1e8, z),
    "plain": lambda z: z,
}
WEIGHTS = {
    "unit": lambda rng: np.ones(N_ROWS),
    "whole": lambda rng: rng.integers(0, 5, N_ROWS).astype(float),
    "1e-8_to_1e8": lambda rng: 10.0 ** rng.uniform(-8, 8, N_ROWS),
    "tiny": lambda rng: 1e-12 * rng.uniform(1, 2, N_ROWS),
    "large": lambda rng: 1e12 * rng.uniform(1, 2, N_ROWS),
}
EXACT = {
    "squared_error": (exact_mean, exact_squared_error),
    "absolute_error": (weighted_median, exact_absolute_error),
    "poisson": (exact_mean, exact_poisson),
}


def make_data(rng, target):
    X = rng.normal(size=(N_ROWS, 3))
    z = 0.7 * X[:, 0] + 0.5 * np.sign(X[:, 1]) + 0.4 * rng.normal(size=N_ROWS)
    return X, TARGETS[target](z)


@pytest.mark.parametrize("search", ["exact", "hist"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_node_values_and_impurities_are_exact_sums(criterion, target, weights, search, rng):
    X, y = make_data(rng, target)
    weight = WEIGHTS[weights](rng)
    model = make_tree(criterion, split_finding=search, max_depth=4)
    model.fit(X, y, sample_weight=weight)
    assert_nodes_are_exact(model, X, y, weight, criterion)


def assert_nodes_are_exact(model, X, y, weight, criterion):
    mean, impurity = EXACT[criterion]
    masks = node_masks(model, X) & (weight > 0)
    for node, mask in enumerate(masks):
        expected = mean(y[mask], weight[mask])
        np.testing.assert_allclose(model.tree_.value[node].item(), expected, rtol=1e-9)
        expected = impurity(y[mask], weight[mask])
        # An impurity is a mean of squares or distances: where those of a node are tiny against
        # y itself, rounding of the centre shows; 1e-15 of y is a few units in its last place.
        power = 2 if criterion == "squared_error" else 1
        noise = (4e-16 * np.abs(y[mask]).max()) ** power
        np.testing.assert_allclose(model.tree_.impurity[node], expected, rtol=1e-9, atol=noise)
        np.testing.assert_allclose(
            model.tree_.weighted_n_node_samples[node], weight[mask].sum(), rtol=1e-9
        )


POSITIVE = ("around_1e9", "tiny_around_1e-9", "heavy_tail_2", "heavy_tail_4", "heavy_tail_16")


@pytest.mark.parametrize("search", ["exact", "hist"])
@pytest.mark.parametrize("weights", ["unit", "whole", "1e-8_to_1e8"])
@pytest.mark.parametrize("target", POSITIVE)
def test_poisson_nodes_are_exact_sums(target, weights, search, rng):
    X, y = make_data(rng, target)
    weight = WEIGHTS[weights](rng)
    model = make_tree("poisson", split_finding=search, max_depth=4)
    model.fit(X, y, sample_weight=weight)
    masks = node_masks(model, X) & (weight > 0)
    for node, mask in enumerate(masks):
        expected = exact_mean(y[mask], weight[mask])
        np.testing.assert_allclose(model.tree_.value[node].item(), expected, rtol=1e-9)
        expected = exact_poisson(y[mask], weight[mask])
        # One row has no deviance; 60 digits leave a little.
        np.testing.assert_allclose(model.tree_.impurity[node], expected, rtol=1e-9, atol=1e-40)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_class_shares_are_exact_sums(criterion, weights, rng):
    X, z = make_data(rng, "plain")
    y = np.digitize(z, [-0.5, 0.5])
    weight = WEIGHTS[weights](rng)
    model = make_tree(criterion, max_depth=4).fit(X, y, sample_weight=weight)
    naive = NaiveTree(criterion).set_data(X, y, weight)
    for node, mask in enumerate(node_masks(model, X) & (weight > 0)):
        shares = exact_class_shares(y[mask], weight[mask], 3)
        np.testing.assert_allclose(model.tree_.value[node, 0], shares, rtol=1e-9, atol=1e-15)
        impurity = naive.stats(mask)[2]
        np.testing.assert_allclose(model.tree_.impurity[node], impurity, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("search", ["exact", "hist"])
@pytest.mark.parametrize("weights", ["unit", "whole", "1e-8_to_1e8"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_splits_stay_good_at_every_scale(criterion, target, weights, search, rng):
    X, y = make_data(rng, target)
    weight = WEIGHTS[weights](rng)
    model = make_tree(criterion, split_finding=search, max_depth=3)
    model.fit(X, y, sample_weight=weight)
    assert_splits_are_good(model, X, y, weight, criterion)


@pytest.mark.parametrize("weights", ["unit", "1e-8_to_1e8"])
@pytest.mark.parametrize("target", POSITIVE)
def test_poisson_splits_stay_good_at_every_scale(target, weights, rng):
    X, y = make_data(rng, target)
    weight = WEIGHTS[weights](rng)
    model = make_tree("poisson", max_depth=3).fit(X, y, sample_weight=weight)
    if target == "around_1e9":
        # Deviances of 1e-9 around means of 1e9 are below what the naive sums resolve, but there
        # half the deviance is the variance over twice the mean.
        assert_splits_are_good(model, X, y, weight, "squared_error")
    else:
        assert_splits_are_good(model, X, y, weight, "poisson")


@pytest.mark.parametrize("weights", ["1e-8_to_1e8", "tiny", "large"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_class_splits_stay_good_with_extreme_weights(criterion, weights, rng):
    X, z = make_data(rng, "plain")
    y = np.digitize(z, [-0.5, 0.5])
    weight = WEIGHTS[weights](rng)
    model = make_tree(criterion, max_depth=3).fit(X, y, sample_weight=weight)
    assert_splits_are_good(model, X, y, weight, criterion)


def assert_splits_are_good(model, X, y, weight, criterion):
    """Each split gains at least what the best of all splits does, less a millionth."""
    scale = np.abs(y).max() if criterion == "squared_error" and np.abs(y).max() > 1e100 else 1.0
    scale = np.abs(y).max() if np.abs(y).max() < 1e-100 else scale
    centre = np.median(y) if criterion in ("squared_error", "absolute_error") else 0.0
    y = (y - centre) / scale  # shifting and scaling y does not change which split is best
    naive = NaiveTree(criterion).set_data(X, y, weight)
    masks = node_masks(model, X) & (weight > 0)
    left, right = model.tree_.children_left, model.tree_.children_right
    assert left[0] > 0
    for node in np.flatnonzero(left >= 0):
        gain = naive.decrease(masks[node], [masks[left[node]], masks[right[node]]])
        best = naive.best_split(masks[node])[0]
        _, share, impurity, _ = naive.stats(masks[node])
        # Below 1e-12 of the node's impurity the naive oracle has no digits left either.
        noise = 1e-12 * impurity * share / naive.weight.sum()
        assert gain >= best * (1 - 1e-6) - noise, (node, gain, best)


@pytest.mark.parametrize("target", TARGETS)
def test_importances_are_exact_at_every_scale(target, rng):
    X, y = make_data(rng, target)
    weight = WEIGHTS["unit"](rng)
    model = make_tree("squared_error", max_depth=3).fit(X, y)
    masks = node_masks(model, X)
    scale = np.abs(y).max() if not 1e-100 < np.abs(y).max() < 1e100 else 1.0
    unscaled = [exact_squared_error(y[mask] / scale, weight[mask]) for mask in masks]
    error = [mask.sum() * each for mask, each in zip(masks, unscaled, strict=True)]
    gains = np.zeros(3)
    left, right = model.tree_.children_left, model.tree_.children_right
    for node in np.flatnonzero(left >= 0):
        gains[model.tree_.feature[node]] += error[node] - error[left[node]] - error[right[node]]
    np.testing.assert_allclose(model.feature_importances_, gains / gains.sum(), rtol=1e-8)


@pytest.mark.parametrize("search", ["exact", "hist"])
def test_a_shifted_target_gives_the_shifted_tree(search, rng):
    # 2**30 is exact in doubles next to multiples of 2**-20, so both targets are the same data.
    X = rng.normal(size=(300, 4))
    y = np.round(rng.normal(size=300) * 2**20) / 2**20
    plain = make_tree("squared_error", split_finding=search).fit(X, y)
    moved = make_tree("squared_error", split_finding=search).fit(X, y + 2.0**30)
    assert np.array_equal(plain.apply(X), moved.apply(X))
    np.testing.assert_allclose(moved.predict(X) - 2.0**30, plain.predict(X), atol=2e-7)


@pytest.mark.parametrize("power", [-400, -30, 30, 400])
def test_a_target_scaled_by_a_power_of_two_gives_the_scaled_tree(power, rng):
    X, y = make_data(rng, "heavy_tail_2")
    plain = make_tree("squared_error").fit(X, y)
    scaled = make_tree("squared_error").fit(X, np.ldexp(y, power))
    assert np.array_equal(plain.apply(X), scaled.apply(X))
    assert np.array_equal(scaled.predict(X), np.ldexp(plain.predict(X), power))


def test_two_outputs_of_very_different_scales_both_count(rng):
    # The impurity is the mean over outputs, so the large one rules; values of both stay exact.
    X = rng.normal(size=(80, 3))
    y = np.column_stack([1e9 + X[:, 0], 1e-9 * X[:, 1]])
    model = make_tree("squared_error", max_depth=3).fit(X, y)
    for node, mask in enumerate(node_masks(model, X)):
        expected = [exact_mean(column[mask], np.ones(mask.sum())) for column in y.T]
        np.testing.assert_allclose(model.tree_.value[node, :, 0], expected, rtol=1e-9)
