"""Columns as rows of the first layer of a net."""

import numpy as np
import pytest

from committee.nets.encoder import NO_ROW, LevelRows, NetEncoder, NumberKnots
from committee.tables.column import Column


def number(values):
    return Column("number", np.asarray(values, np.float64))


@pytest.mark.parametrize("weighted", [False, True])
def test_knots_are_quantiles(weighted, rng):
    values = rng.normal(size=500).round(1)
    weights = rng.integers(0, 4, 500).astype(float) if weighted else None
    knots = NumberKnots.of(number(values), weights, 9).knots
    shares = np.linspace(0, 1, 9)
    counted = values if weights is None else np.repeat(values, weights.astype(int))
    expected = np.quantile(counted, shares, method="inverted_cdf")
    np.testing.assert_array_equal(knots, np.unique(expected))


def test_a_value_heavier_than_its_share_is_a_knot_beside_the_quantiles_of_the_rest(rng):
    positive = rng.exponential(size=100)
    values = np.concatenate([np.zeros(900), positive])
    knots = NumberKnots.of(number(values), None, 9).knots
    others = np.quantile(positive, np.linspace(0, 1, 8), method="inverted_cdf")
    np.testing.assert_array_equal(knots, np.append(0.0, others))


def test_places_and_fractions_are_those_of_linear_interpolation(rng):
    values = np.concatenate([rng.exponential(size=300), [-5.0, 99.0, np.inf, -np.inf]])
    part = NumberKnots.of(number(values), None, 12)
    places, fractions = part.places(number(values))
    expected = np.interp(values, part.knots, np.arange(part.n_knots))
    np.testing.assert_allclose(places + fractions, expected, rtol=1e-12, atol=1e-12)
    assert ((places >= 0) & (places < part.n_knots - 1)).all()
    assert ((fractions >= 0) & (fractions <= 1)).all()


def test_missing_values_have_a_row_of_their_own_after_the_knots():
    part = NumberKnots.of(number([1.0, 2.0, 3.0]), None, 3)
    places, fractions = part.places(number([np.nan, 2.0]))
    assert places.tolist() == [3, 1]
    assert fractions.tolist() == [0.0, 0.0]
    masked = Column("integer", np.array([7, 2]), np.array([1, 0], np.uint8))
    assert part.places(masked)[0].tolist() == [3, 1]


@pytest.mark.parametrize(
    "values",
    [[5.0] * 4, [np.nan] * 3, [0.0] * 2, [1.7e308] * 2, [-1.7e308, 1.7e308, 0.0], [5e-324, 0.0]],
)
def test_extreme_columns_have_finite_codes(values):
    encoder = NetEncoder.of([number(values)], None, 17)
    codes, fractions = encoder.apply([number(values)], len(values))
    assert np.isfinite(fractions).all()
    assert (codes < encoder.parts[0].n_rows).all()
    assert len(encoder.knots) == encoder.parts[0].n_rows


def test_frequent_levels_have_rows_of_their_own_and_rare_ones_share_one():
    codes = np.array([0] * 5 + [1] * 2 + [2] * 3 + [3] * 1 + [-1] * 4, np.int32)
    column = Column("category", codes, None, ("a", "b", "c", "d"))
    part = LevelRows.of(column, None)
    places, fractions = part.places(column)
    a, b, c, d, missing = (places[codes == code][0] for code in (0, 1, 2, 3, -1))
    assert b == d
    assert len({a, b, c, missing}) == 4 == part.n_rows
    assert not fractions.any()
    # Counts are of weights, and a level that fit did not see (-2) has no row.
    light = LevelRows.of(column, np.full(len(codes), 0.5))
    assert light.n_rows == 1
    unseen = Column("category", np.array([-2, 0], np.int32), None, column.levels)
    found, _ = NetEncoder((part,)).apply([unseen], 2)
    assert found[:, 0].tolist() == [NO_ROW, a]


def test_rows_of_features_follow_each_other():
    category = Column("category", np.array([0, 0, 0, 1, 1, 1], np.int32), None, ("a", "b"))
    columns = [number([0.0, 1, 2, 3, 4, 5]), category, number([9.0] * 6)]
    encoder = NetEncoder.of(columns, None, 3)
    codes, _ = encoder.apply(columns, 6)
    assert encoder.features == [(3, 4), (0, 3), (2, 3)]
    assert codes[:, 1].tolist() == [4, 4, 4, 5, 5, 5]
    assert (codes[:, 2] >= 7).all()
