"""Sums of products, and least squares on top of them: right, and the same bits in every way."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from committee import _core
from committee.base.products import dot, row_products, weighted_products, weighted_sum
from committee.combining.least_squares import nonnegative_weights, triangular_factor

SHAPES = [(1, 1, 1), (3, 2, 5), (4, 4, 8), (33, 130, 7), (70, 9, 513), (5, 300, 258)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["product", "squared_difference", "absolute_difference"])
def test_sums_of_pairs_of_rows_are_those_of_numpy_for_any_threads_and_instructions(
    shape, kind, rng
):
    left, right = rng.normal(size=shape[::2]), rng.normal(size=shape[1:])
    gaps = left[:, None] - right
    naive = {
        "product": left[:, None] * right,
        "squared_difference": gaps**2,
        "absolute_difference": np.abs(gaps),
    }[kind]
    found = _core.row_sums(left, right, kind=kind)
    assert_allclose(found, naive.sum(axis=2), rtol=1e-12, atol=1e-12)
    assert_array_equal(found, _core.row_sums(left, right, kind=kind, n_threads=3))
    if kind == "product":
        assert_array_equal(found, row_products(left, right))
        assert_array_equal(found, row_products(right, left).T)
    try:
        for level in ("scalar", "avx2"):
            _core.set_simd_level(level)
            assert_array_equal(found, _core.row_sums(left, right, kind=kind))
    finally:
        _core.set_simd_level("auto")


def test_wrong_rows_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        _core.row_sums(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(ValueError, match="kind must be"):
        _core.row_sums(np.ones((2, 3)), np.ones((2, 3)), kind="sum")


@pytest.mark.parametrize("n_rows", [1, 40, 150])
def test_weighted_products_are_symmetric_to_the_last_bit(n_rows, rng):
    rows, weights = rng.normal(size=(n_rows, 60)), rng.random(60)
    found = weighted_products(rows, weights)
    assert_allclose(found, rows * weights @ rows.T, rtol=1e-12, atol=1e-12)
    assert_array_equal(found, found.T)


def test_a_weight_of_zero_leaves_infinity_out():
    values = np.array([[1.0, 2.0], [np.inf, np.nan]])
    assert weighted_sum(np.array([3.0, 0.0]), values).tolist() == [3.0, 6.0]
    assert dot(np.array([True, False]), np.array([0.5, 7.0])) == 0.5


@pytest.mark.parametrize("shape", [(1, 1), (9, 4), (4, 9), (200, 6)])
def test_the_triangular_factor_has_the_products_of_the_columns(shape, rng):
    matrix = rng.normal(size=shape) * np.logspace(-4, 4, shape[1])
    factor = triangular_factor(matrix.T)
    assert_array_equal(factor, np.triu(factor))
    lengths = np.sqrt((matrix**2).sum(axis=0))
    assert_allclose(
        factor.T @ factor / np.outer(lengths, lengths),
        matrix.T @ matrix / np.outer(lengths, lengths),
        atol=1e-13,
    )


def test_weights_that_are_not_negative_are_as_good_as_scipys(rng):
    for trial in range(300):
        n_rows, n_columns = rng.integers(1, 15), rng.integers(1, 8)
        matrix, target = rng.normal(size=(n_rows, n_columns)), rng.normal(size=n_rows)
        if trial % 3 == 0:
            matrix = matrix * np.logspace(-6, 6, n_columns)
        if trial % 5 == 0:
            matrix[:, 0] = matrix[:, -1]  # one column twice
        if trial % 7 == 0:
            target = target * 1e-30
        found = nonnegative_weights(matrix.T, target)
        best = nnls(matrix, target)[1]
        assert found.min() >= 0
        assert (
            np.sqrt(((matrix @ found - target) ** 2).sum())
            <= best * (1 + 1e-9) + 1e-12 * np.abs(target).max()
        )
