"""Features of few values share bytes of a record, and the booster finds what it finds without."""

import numpy as np
import pandas as pd
import pytest
from reference_booster import ReferenceBooster

from committee import _core
from committee.tables.table import read_table


def few_and_wide(rng, n_rows, n_few=18, n_wide=3, n_levels=(2, 7, 16)):
    """A frame and its numbers: 2 to 16 codes, many codes, missing values, categories, constants."""
    columns = {}
    for i in range(n_few):
        values = rng.integers(0, 2 + i % 15, n_rows).astype(float)
        if i % 3 == 0:
            values[rng.random(n_rows) < 0.2] = np.nan
        columns[f"few{i}"] = values
        if i % 5 == 0:
            columns[f"constant{i}"] = np.full(n_rows, np.nan if i % 2 else 4.0)
    for i in range(n_wide):
        values = rng.normal(size=n_rows)
        if i % 2 == 0:
            values[rng.random(n_rows) < 0.1] = np.nan
        columns[f"wide{i}"] = values
    numbers = np.column_stack(list(columns.values()))
    levels = np.column_stack([rng.integers(-1, n, n_rows) for n in n_levels])
    frame = pd.DataFrame(columns)
    for i, n in enumerate(n_levels):
        frame[f"level{i}"] = pd.Categorical.from_codes(levels[:, i], range(n))
    X = np.column_stack([numbers, np.where(levels < 0, np.nan, levels)])
    return frame, X, tuple(range(numbers.shape[1], X.shape[1]))


def make_booster(frame, settings, weights=None, exact=False, n_threads=1):
    table, schema = read_table(frame)
    levels = [len(feature.levels or ()) for feature in schema.features]
    dataset = _core.BinnedDataset(table, weights, levels, exact=exact)
    return _core.Booster(dataset, settings, weights, n_threads), table


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "more",
    [{}, {"interactions": "halves"}, {"l1": 0.2}, {"growth": "level", "max_depth": 2}],
    ids=lambda more: "-".join(more) or "plain",
)
def test_trees_of_features_that_share_bytes_are_those_of_the_naive_booster(more, weighted, rng):
    frame, X, categorical = few_and_wide(rng, 90)
    settings = {"max_leaf_nodes": 4, "min_rows_leaf": 8, "l2": 0.1, **more}
    if "interactions" in settings:
        order = rng.permutation(X.shape[1]).tolist()
        settings["interactions"] = [order[::2], order[1::2]]
    weights = rng.integers(0, 4, 90).astype(float) if weighted else None
    engine, table = make_booster(frame, settings, weights)
    naive = ReferenceBooster(X, settings, weights, categorical)
    for column in (2, 5, 11):
        # The best feature is one of few values, with missing ones or without.
        signal = np.nan_to_num(X[:, column], nan=3.0) > 1
        gradients = rng.normal(size=90) + 2.0 * signal
        ours, theirs = engine.grow(gradients), naive.grow(gradients)
        used = [] if weights is None else np.flatnonzero(weights == 0)
        predicted, expected = np.zeros(90), np.zeros(90)
        engine.add_to(ours, predicted)
        naive.add_to(theirs, expected)
        assert ours.n_nodes == theirs.n_nodes > 3
        np.testing.assert_allclose(np.delete(predicted, used), np.delete(expected, used), rtol=1e-9)
        np.testing.assert_array_equal(engine.leaves(), ours.apply(table))


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(
    "draws",
    [
        {"features_per_tree": 20},
        {"features_per_level": 5},
        {"features_per_node": 4},
        {"features_per_tree": 40, "features_per_level": 20, "features_per_node": 6},
    ],
    ids=lambda draws: "-".join(name.rsplit("_", 1)[1] for name in draws),
)
def test_draws_of_features_give_the_tree_that_sorted_columns_give(draws, n_threads, rng):
    # Enough bytes for two groups, and rows for several threads. Exact splits use no records.
    n_rows = 8000
    frame, _, _ = few_and_wide(rng, n_rows, n_few=40, n_wide=0)
    for i in range(45):
        frame[f"many{i}"] = rng.integers(0, 40 + 5 * i % 200, n_rows).astype(float)
    weights = rng.integers(0, 3, n_rows).astype(float)
    settings = {"max_leaf_nodes": 12, "min_rows_leaf": 5, "l2": 1.0, **draws}
    by_bytes, _ = make_booster(frame, settings, weights, n_threads=n_threads)
    by_order, _ = make_booster(frame, settings, weights, exact=True)
    gradients = rng.normal(size=n_rows) + frame["few4"] * 0.3 - (frame["many3"] > 20)
    for seed in range(3):
        sample = (rng.random(n_rows) < 0.8).astype(np.uint8)
        grown = [
            booster.grow(np.asarray(gradients), seed=seed, sample=sample)
            for booster in (by_bytes, by_order)
        ]
        counts = sample * weights > 0
        np.testing.assert_array_equal(by_bytes.leaves()[counts], by_order.leaves()[counts])
        # Rows that are not learnt from may lie between thresholds; sums of leaves do not.
        for name in ("values", "n_rows", "weight"):
            np.testing.assert_array_equal(grown[0].arrays()[name], grown[1].arrays()[name])


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
def test_tables_of_a_few_rows_are_read_within_their_bounds(n_rows, rng):
    frame = pd.DataFrame({f"x{i}": rng.permutation(n_rows).astype(float) for i in range(33)})
    engine, _ = make_booster(frame, {"max_leaf_nodes": 0})
    naive = ReferenceBooster(frame.to_numpy(), {"max_leaf_nodes": 0})
    gradients = rng.normal(size=n_rows)
    predicted, expected = np.zeros(n_rows), np.zeros(n_rows)
    engine.add_to(engine.grow(gradients), predicted)
    naive.add_to(naive.grow(gradients), expected)
    np.testing.assert_allclose(predicted, expected, rtol=1e-9)


def test_a_table_of_constants_gives_one_leaf_with_the_mean_step(rng):
    frame = pd.DataFrame({"a": np.full(50, 3.0), "b": np.full(50, np.nan)})
    weights = rng.integers(0, 3, 50).astype(float)
    sample = (rng.random(50) < 0.5).astype(np.uint8)
    engine, _ = make_booster(frame, {}, weights)
    gradients = rng.normal(size=50)
    tree = engine.grow(gradients, sample=sample)
    assert tree.n_nodes == 1
    step = -np.average(gradients, weights=weights * sample)
    assert tree.arrays()["values"][0, 0] == pytest.approx(step)
    assert engine.leaves().tolist() == [0] * 50


def test_a_sample_of_one_row_is_a_leaf_of_that_row(rng):
    frame, _, _ = few_and_wide(rng, 40)
    engine, _ = make_booster(frame, {"l2": 0.0})
    sample = np.zeros(40, np.uint8)
    sample[17] = 1
    gradients = rng.normal(size=40)
    tree = engine.grow(gradients, sample=sample)
    assert tree.n_nodes == 1
    assert tree.arrays()["values"][0, 0] == -gradients[17]


def test_a_category_of_256_codes_is_split_as_the_naive_booster_does(rng):
    n_rows, n_levels = 1500, 255
    levels = np.concatenate([np.arange(-1, n_levels), rng.integers(-1, n_levels, n_rows)])[:n_rows]
    frame = pd.DataFrame({"level": pd.Categorical.from_codes(levels, range(n_levels))})
    X = np.where(levels < 0, np.nan, levels)[:, None]
    settings = {"max_leaf_nodes": 2, "min_rows_leaf": 3}
    engine, table = make_booster(frame, settings)
    naive = ReferenceBooster(X, settings, categorical=(0,))
    gradients = rng.normal(size=n_rows) + rng.normal(size=n_levels + 1)[levels]
    predicted, expected = np.zeros(n_rows), np.zeros(n_rows)
    tree = engine.grow(gradients)
    engine.add_to(tree, predicted)
    naive.add_to(naive.grow(gradients), expected)
    np.testing.assert_allclose(predicted, expected, rtol=1e-9)
    np.testing.assert_array_equal(engine.leaves(), tree.apply(table))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("n_rows", [70_000, 200_000])
def test_threads_do_not_change_a_bit_of_sampled_and_weighted_trees(n_rows, exact, rng):
    frame = pd.DataFrame(
        {
            "real": rng.normal(size=n_rows),
            "few": rng.integers(0, 5, n_rows).astype(float),
            "two": np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(0, 2, n_rows)),
            "level": pd.Categorical.from_codes(rng.integers(-1, 9, n_rows), range(9)),
        }
    )
    weights = np.where(rng.random(n_rows) < 0.1, 0.0, rng.uniform(0.5, 2.0, n_rows))
    settings = {"max_leaf_nodes": 15, "min_rows_leaf": 20, "l2": 1.0}
    boosters = [
        make_booster(frame, settings, weights, exact, n_threads)[0] for n_threads in (1, 2, 3)
    ]
    signal = np.sin(2 * frame["real"]) + 0.3 * frame["few"] - frame["two"].fillna(2)
    for hessians in (None, rng.uniform(0.01, 0.25, n_rows)):
        gradients = np.asarray(signal + rng.normal(size=n_rows))
        sample = (rng.random(n_rows) < 0.6).astype(np.uint8)
        trees = [booster.grow(gradients, hessians, sample=sample) for booster in boosters]
        assert trees[0].n_nodes == 29
        # Sums of leaves beside NumPy, so that all of them are not wrong in the same way.
        counted = weights * sample
        leaves = boosters[0].leaves()
        slopes = np.bincount(leaves, counted * gradients, minlength=29)
        bends = counted if hessians is None else counted * hessians
        bends = np.bincount(leaves, bends, minlength=29)
        reached = bends > 0
        np.testing.assert_allclose(
            trees[0].arrays()["values"][reached, 0], -slopes[reached] / (bends[reached] + 1)
        )
        for booster, tree in zip(boosters[1:], trees[1:], strict=True):
            np.testing.assert_array_equal(booster.leaves(), leaves)
            for name, expected in trees[0].arrays().items():
                np.testing.assert_array_equal(tree.arrays()[name], expected)
