"""The vector kernels give the same bits as the plain ones."""

import numpy as np
import pytest

from committee import DecisionTreeClassifier, DecisionTreeRegressor, _core
from committee.tables.table import read_table


@pytest.fixture
def levels():
    """The instruction sets of this processor; the choice is put back afterwards."""
    every = ["scalar", "avx2", "avx512"]
    _core.set_simd_level("auto")
    yield every[: every.index(_core.simd_level()) + 1]
    _core.set_simd_level("auto")


@pytest.mark.parametrize("split_finding", ["exact", "hist"])
@pytest.mark.parametrize("n_rows", [2, 3, 17, 33, 500, 6000])
def test_every_instruction_set_grows_the_same_tree(levels, rng, n_rows, split_finding):
    X = rng.normal(size=(n_rows, 4)).round(2)
    y = X[:, 0] * X[:, 1] + rng.normal(size=n_rows)
    for estimator, target in (
        (DecisionTreeClassifier(split_finding=split_finding), y > 0),
        (DecisionTreeRegressor(split_finding=split_finding), y * 1e5),
    ):
        trees = []
        for level in levels:
            _core.set_simd_level(level)
            assert _core.simd_level() == level
            trees.append(estimator.fit(X, target)._tree.arrays())
        for name, array in trees[0].items():
            for other in trees[1:]:
                np.testing.assert_array_equal(array, other[name])


# Whether rows are counted by hessians, by hessians that say little, or one by one.
CONFIDENT = ["ones", "log loss", "nothing to learn from many"]


def derivatives_of_confidence(confidence, rng, n_rows):
    if confidence == "ones":
        return rng.normal(size=n_rows), None
    scores = rng.normal(size=n_rows) * 12
    share = 1 / (1 + np.exp(-scores))
    gradients, hessians = share - (rng.random(n_rows) < 0.5), share * (1 - share)
    if confidence != "log loss":
        rest = rng.random(n_rows) < 0.6
        gradients[rest], hessians[rest] = 0.0, 0.0
    return gradients, hessians


@pytest.mark.parametrize("confidence", CONFIDENT)
@pytest.mark.parametrize(
    "limits",
    [
        {"l2": 0.0},
        {"l2": 3.0, "min_rows_leaf": 12},
        {"l2": 1e-3, "min_rows_leaf": 5, "min_child_weight": 0.05},
        {"l2": 1e300, "min_rows_leaf": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_rows", [2, 9, 40, 300, 5000])
def test_every_instruction_set_grows_the_same_boosted_tree(levels, rng, n_rows, limits, confidence):
    # Few rows: most cells of a histogram are empty, and only the others are looked at.
    X = rng.normal(size=(n_rows, 6)) * [1, 1, 30, 1, 1, 1]
    X[:, 2:4] = X[:, 2:4].round()
    X[rng.random(X.shape) < 0.1] = np.nan
    table, _ = read_table(X)
    booster = _core.Booster(_core.BinnedDataset(table), {"max_leaf_nodes": 0, **limits})
    pair = derivatives_of_confidence(confidence, rng, n_rows)
    grown = []
    for level in levels:
        _core.set_simd_level(level)
        grown.append((booster.grow(*pair).arrays(), booster.leaves()))
    arrays, leaves = grown[0]
    is_leaf = arrays["first_child"] == 0
    if n_rows > 1000 and limits["l2"] < 1e300:
        assert is_leaf.sum() > 20
    if n_rows > 2 * limits.get("min_rows_leaf", 1):
        assert arrays["n_rows"][is_leaf].min() >= limits.get("min_rows_leaf", 1)
    for other, other_leaves in grown[1:]:
        np.testing.assert_array_equal(other_leaves, leaves)
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, other[name])


def test_an_unknown_instruction_set_is_refused(levels):
    with pytest.raises(ValueError, match="no such instruction set"):
        _core.set_simd_level("abacus")
