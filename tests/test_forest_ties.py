"""Equal splits of several columns: a forest takes each of them equally often."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from committee import (
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    _core,
)
from committee.tables.table import read_table


def columns_of_splits(forest, n_columns):
    features = np.concatenate([tree.tree_.feature for tree in forest])
    return np.bincount(features[features >= 0], minlength=n_columns)


@pytest.mark.parametrize("n_copies", [2, 3, 8])
@pytest.mark.parametrize(
    "forest",
    [
        RandomForestRegressor(30, random_state=0),
        RandomForestRegressor(30, max_depth=3, random_state=0),
        RandomForestClassifier(30, max_features=None, random_state=0),
        RandomForestRegressor(30, split_finding="exact", random_state=0),
        RandomForestRegressor(10, criterion="absolute_error", random_state=0),
    ],
    ids=str,
)
def test_copies_of_a_column_are_split_equally_often(rng, forest, n_copies):
    X = np.repeat(rng.normal(size=(200, 1)), n_copies, axis=1)
    y = np.sin(3 * X[:, 0]) + rng.normal(size=200)
    if "Classifier" in str(forest):
        y = y > 0
    counts = columns_of_splits(forest.fit(X, y), n_copies)
    expected = counts.sum() / n_copies
    deviation = np.sqrt(expected * (1 - 1 / n_copies))
    assert_allclose(counts, expected, atol=4 * deviation)


def test_a_column_of_noise_does_not_win_by_coming_first(rng):
    """Trees of full depth end in nodes of few rows, which any column splits equally well."""
    signal = rng.uniform(size=(300, 3))
    y = 10 * signal[:, 0] + 5 * signal[:, 1] ** 2 + 3 * signal[:, 2]
    noise = rng.uniform(size=(300, 3))
    errors = []
    for X in (np.hstack([signal, noise]), np.hstack([noise, signal])):
        forest = RandomForestRegressor(50, oob_score=True, random_state=0).fit(X, y)
        errors.append(np.sqrt(np.mean((forest.oob_prediction_ - y) ** 2)))
    assert errors[1] == pytest.approx(errors[0], rel=0.03)


@pytest.mark.parametrize("forest_class", [RandomForestRegressor, ExtraTreesRegressor])
def test_the_order_of_ties_does_not_depend_on_threads(rng, forest_class):
    X, y = rng.integers(0, 3, (400, 6)), rng.integers(0, 4, 400)
    first, second = (forest_class(8, n_jobs=n, random_state=3).fit(X, y) for n in (1, 2))
    for one, other in zip(first, second, strict=True):
        assert_array_equal(one.tree_.feature, other.tree_.feature)
        assert_array_equal(one.tree_.threshold, other.tree_.threshold)


def test_shuffling_changes_the_order_of_features_and_nothing_else(rng):
    """Without ties the best split is the same in any order."""
    X, y = rng.normal(size=(60, 5)), rng.normal(size=(60, 1))
    table, _ = read_table(X)
    dataset = _core.BinnedDataset(table, None, [0] * 5, max_bins=255)
    options = {"criterion": "squared_error", "min_rows_leaf": 5}
    plain, shuffled = (
        _core.grow_tree(dataset, reals=y, settings=options | more)
        for more in ({}, {"shuffle_features": True})
    )
    for name, values in plain.arrays().items():
        assert_array_equal(values, shuffled.arrays()[name], err_msg=name)
