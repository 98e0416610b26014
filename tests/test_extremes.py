"""Inputs at the edge of float64 and other corners that once went wrong."""

import pickle

import numpy as np
import pytest

from committee import DecisionTreeClassifier, DecisionTreeRegressor, _core


def test_one_class_with_a_monotone_constraint_is_a_single_leaf():
    model = DecisionTreeClassifier(monotonic_cst=[1]).fit([[0.0], [1.0]], [1, 1])
    assert model.predict_proba([[0.5]]).tolist() == [[1.0]]


@pytest.mark.parametrize("factors", [{0: 1.5e308, 1: 1.5e308}, {0: 1e-300, 1: 1.0}])
def test_class_weights_beyond_float64_are_refused(factors):
    weight = [1e-300, 1e-300, 1.0, 1.0] if factors[1] == 1.0 else None
    with pytest.raises(ValueError, match="class_weight times sample_weight leaves the range"):
        DecisionTreeClassifier(class_weight=factors).fit(
            [[0], [1], [2], [3]], [0, 0, 1, 1], sample_weight=weight
        )


@pytest.mark.parametrize("y", [[1e-5] * 3 + [1e9] * 3, [1e-13] * 3 + [1.0, 2.0, 3.0]])
def test_poisson_keeps_small_rates_apart_and_refuses_only_zero_ones(y):
    X = np.arange(6)[:, None]
    model = DecisionTreeRegressor(criterion="poisson").fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-12)
    zeros = DecisionTreeRegressor(criterion="poisson").fit(X, [0, 0, 0, 0, 0, 7])
    assert zeros.get_n_leaves() == 1  # every split would leave a side without any count


def test_absolute_error_splits_where_products_would_overflow():
    X, y = np.arange(40)[:, None], np.repeat([3e307, -3e307], 20)
    model = DecisionTreeRegressor(criterion="absolute_error").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


def test_targets_whose_squares_overflow_are_refused_and_large_ones_can_be_stored():
    with pytest.raises(ValueError, match="squared errors leave the range of float64"):
        DecisionTreeRegressor().fit([[0], [1]], [1e200, -1e200])
    model = DecisionTreeRegressor().fit([[0], [1]], [1e153, -1e153])
    assert pickle.loads(pickle.dumps(model)).predict([[0]]) == 1e153


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize(("y_power", "w_power"), [(-500, 0), (-20, -1000), (480, 0), (0, 900)])
def test_best_first_growth_does_not_depend_on_units(criterion, y_power, w_power, rng):
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=300)
    plain = DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=12).fit(X, y)
    scaled = DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=12).fit(
        X, np.ldexp(y, y_power), sample_weight=np.full(300, 2.0**w_power)
    )
    np.testing.assert_array_equal(plain.apply(X), scaled.apply(X))
    np.testing.assert_allclose(plain.feature_importances_, scaled.feature_importances_)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize(("n_rows", "fraction"), [(10, 0.1), (20, 0.3), (20, 0.2), (1000, 0.5)])
def test_a_leaf_of_exactly_the_least_weight_is_allowed(criterion, n_rows, fraction, rng):
    X, y = rng.normal(size=(n_rows, 1)), rng.normal(size=n_rows)
    params = {"criterion": criterion, "min_weight_fraction_leaf": fraction}
    plain = DecisionTreeRegressor(**params).fit(X, y)
    light = DecisionTreeRegressor(**params).fit(X, y, sample_weight=np.full(n_rows, 0.1))
    assert plain.get_n_leaves() > 1
    np.testing.assert_array_equal(plain.apply(X), light.apply(X))


def test_floats_on_a_column_of_huge_integers_are_compared_as_written():
    X = np.array([[0], [3], [4], [2**60]])
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    assert model.tree_.threshold[0] == 3
    assert model.predict([[2.5], [3.0], [3.5], [-1e300], [1e300]]).tolist() == [0, 0, 1, 0, 1]


def test_a_subclass_keeps_the_attributes_it_set_before_fit():
    class Centred(DecisionTreeRegressor):
        def fit(self, X, y, sample_weight=None):
            self.mean_ = np.mean(y)
            return super().fit(X, y - self.mean_, sample_weight)

    model = Centred().fit([[0.0], [1.0]], np.array([1.0, 3.0]))
    assert model.mean_ == 2.0
    assert model.predict([[1.0]]) == 1.0


def test_min_impurity_decrease_scales_with_the_target(rng):
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + rng.normal(size=200)
    large = DecisionTreeRegressor(min_impurity_decrease=0.01).fit(X, y)
    small = DecisionTreeRegressor(min_impurity_decrease=np.ldexp(0.01, -60)).fit(
        X, np.ldexp(y, -30)
    )
    assert 2 < large.get_n_leaves() < 50
    np.testing.assert_array_equal(large.apply(X), small.apply(X))


@pytest.mark.parametrize("weight", [1.0, 0.5, 0.1, 0.3])
def test_the_median_of_a_leaf_does_not_depend_on_the_unit_of_weights(weight):
    y = np.arange(1.0, 11.0)
    model = DecisionTreeRegressor(criterion="absolute_error").fit(
        np.zeros((10, 1)), y, sample_weight=np.full(10, weight)
    )
    assert model.predict([[0.0]]) == 5.5


def test_values_behind_a_heavy_one_have_bins_of_their_own():
    x = np.r_[np.arange(10.0), np.full(100_000, 50.0), np.arange(100.0, 350.0)]
    table = _core.Table.from_matrix(x[:, None])
    codes = _core.BinnedDataset(table).codes(0)
    used = np.unique(codes)
    assert used.tolist() == list(range(len(used)))  # no bin without values
    assert len(np.unique(codes[-250:])) > 240


@pytest.mark.parametrize("huge", [2**31, 2**62, 2**63, 2**64, 10**30])
def test_huge_integers_as_parameters_mean_what_they_say(huge):
    X, y = [[1.0], [2.0]], [0, 1]
    assert DecisionTreeClassifier(n_jobs=huge).fit(X, y).get_n_leaves() == 2
    assert DecisionTreeClassifier(max_depth=huge, max_leaf_nodes=huge).fit(X, y).get_n_leaves() == 2
    for name in ("min_samples_leaf", "min_samples_split"):
        assert DecisionTreeClassifier(**{name: huge}).fit(X, y).get_n_leaves() == 1
