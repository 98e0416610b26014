"""The vector kernels give the same bits as the plain ones."""

import numpy as np
import pytest

from committee import DecisionTreeClassifier, DecisionTreeRegressor, _core


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


def test_an_unknown_instruction_set_is_refused(levels):
    with pytest.raises(ValueError, match="no such instruction set"):
        _core.set_simd_level("abacus")
