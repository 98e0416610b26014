"""Targets, sample weights and class weights."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.utils.class_weight import compute_sample_weight

from committee.tables.class_weights import class_weights
from committee.tables.target import check_same_length, read_classes, read_reals, read_weights

# --- Classes ------------------------------------------------------------------------------------


def labels_of(target, output=0):
    return target.classes[output][target.codes[:, output]].tolist()


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([3, 1, 3], [1, 3]),
        ([-1, 10**12, -1], [-1, 10**12]),
        ([2.0, 0.0, 2.0], [0.0, 2.0]),
        ([True, False, True], [False, True]),
        (["b", "a", "b"], ["a", "b"]),
        (np.array(["b", "a", "b"]), ["a", "b"]),
        (np.array(["b", "a", "b"], object), ["a", "b"]),
        (np.array([3, 1, 3], object), [1, 3]),
        (np.array([1, 1, 0], np.uint8), [0, 1]),
        (np.array([2**63 - 1, 0, 0]), [0, 2**63 - 1]),
        (np.array([-(2**63), 2**63 - 1, 0]), [-(2**63), 0, 2**63 - 1]),
        ([7, 7, 7], [7]),
        (pd.Series(["b", "a", "b"]), ["a", "b"]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series(pd.Categorical(["b", "a"], categories=["b", "zz", "a"])), ["a", "b"]),
        (pd.Categorical(["b", "a"], categories=["b", "zz", "a"]), ["a", "b"]),
        # Three levels in a circle: no order that is its own inverse.
        (pd.Categorical(["c", "b", "a"], categories=["b", "c", "a"]), ["a", "b", "c"]),
        (pd.Series(["a", "b", "c"], dtype=pd.CategoricalDtype(["c", "a", "b"])), ["a", "b", "c"]),
        (pl.Series(["c", "a", "b"], dtype=pl.Enum(["b", "c", "a"])), ["a", "b", "c"]),
        (pd.Categorical([30, 10, 20], categories=[20, 30, 10]), [10, 20, 30]),
        (pd.Series([2, 1], dtype="Int64"), [1, 2]),
        (pd.Series([True, False], dtype="boolean"), [False, True]),
        (pl.Series(["b", "a", "b"]), ["a", "b"]),
        (pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])), ["a", "b"]),
        (pl.Series([True, False]), [False, True]),
        (pa.chunked_array([["b"], ["a"]]), ["a", "b"]),
    ],
)
def test_classes_are_the_sorted_distinct_labels(y, classes):
    target = read_classes(y)
    assert target.n_outputs == 1
    assert target.classes[0].tolist() == classes
    assert labels_of(target) == list(y.to_pylist() if hasattr(y, "to_pylist") else y)
    assert target.codes.dtype == np.int32
    assert target.codes.shape == (len(y), 1)
    assert target.codes.flags.c_contiguous


@pytest.mark.parametrize("dtype", ["i8", "i4", "i1", "u1", "u4", "f8", "f4", "?", "U3", "O"])
def test_classes_have_the_type_that_numpy_unique_gives(dtype):
    y = np.array([1, 0, 1]).astype(bool if dtype == "?" else dtype)
    if dtype == "O":
        y = np.array(["b", "a", "b"], object)
    expected = np.unique(y)
    classes = read_classes(y).classes[0]
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(classes, expected)


@pytest.mark.parametrize("spread", [3, 100, 10**6])
def test_codes_of_integers_equal_those_of_numpy_unique(spread):
    y = np.random.default_rng(0).integers(-spread, spread, 200)
    expected, codes = np.unique(y, return_inverse=True)
    target = read_classes(y)
    np.testing.assert_array_equal(target.classes[0], expected)
    np.testing.assert_array_equal(target.codes[:, 0], codes)


@pytest.mark.parametrize(
    "y",
    [
        np.array([["a", "x"], ["b", "x"], ["a", "y"]]),
        [["a", "x"], ["b", "x"], ["a", "y"]],
        pd.DataFrame({"p": ["a", "b", "a"], "q": ["x", "x", "y"]}),
        pl.DataFrame({"p": ["a", "b", "a"], "q": ["x", "x", "y"]}),
    ],
    ids=["array", "list", "pandas", "polars"],
)
def test_several_outputs_have_classes_of_their_own(y):
    target = read_classes(y)
    assert [classes.tolist() for classes in target.classes] == [["a", "b"], ["x", "y"]]
    assert labels_of(target, 0) == ["a", "b", "a"]
    assert labels_of(target, 1) == ["x", "x", "y"]


def test_outputs_may_differ_in_type():
    target = read_classes([["a", 1], ["b", 2]])
    assert [classes.tolist() for classes in target.classes] == [["a", "b"], [1, 2]]


@pytest.mark.parametrize("read", [read_classes, read_reals])
@pytest.mark.parametrize(
    "y", [np.array([[1], [2]]), [[1], [2]], pd.DataFrame({"y": [1, 2]}), pl.DataFrame({"y": [1]})]
)
def test_a_column_vector_is_one_output(read, y):
    read(y)  # no warning, as with scikit-learn's trees


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        ([0.5, 1.0], ValueError, "Unknown label type: continuous"),
        (pl.Series([0.5, 1.0]), ValueError, "Unknown label type: continuous"),
        (np.array(["a", 1], object), ValueError, "Unknown label type: y mixes text and numbers"),
        (np.array(["2020-01-01"], "M8[D]"), ValueError, "Unknown label type: datetime"),
        ([1.0, np.nan], ValueError, r"Input y contains NaN\."),
        ([1, None], ValueError, r"Input y contains NaN\."),
        (["a", None], ValueError, r"Input y contains NaN\."),
        ([None, None], ValueError, r"Input y contains NaN\."),
        (pd.Series(["a", None]), ValueError, r"Input y contains NaN\."),
        (pd.Series([1, None], dtype="Int64"), ValueError, r"Input y contains NaN\."),
        (pl.Series(["a", None]), ValueError, r"Input y contains NaN\."),
        (np.ma.MaskedArray([1, 2], [0, 1]), ValueError, r"Input y contains NaN\."),
        ([1.0, np.inf], ValueError, "Input y contains infinity"),
        ([1j, 0], ValueError, "Complex data not supported"),
        (None, ValueError, "requires y to be passed, but the target y is None"),
        (3, ValueError, r"y should be a 1d array, got an array of shape \(\)"),
        ("a", ValueError, "y should be a 1d array"),
        (np.zeros((2, 2, 2)), ValueError, "y should be a 1d array"),
        ([[1, 2], [3]], ValueError, "y must be a 1d array or have rows of the same length"),
        (np.zeros((2, 0)), ValueError, "y has 0 columns"),
        ([], ValueError, r"y has 0 sample\(s\)"),
        (sparse.csr_array(np.eye(2)), TypeError, "y must be dense"),
        (pl.LazyFrame({"y": [1]}), TypeError, r"collect\(\)"),
        (np.zeros(2, [("a", "f8")]), TypeError, "structured array"),
        ([{"a": 1}], TypeError, "y holds a cell of type dict"),
    ],
)
def test_what_cannot_be_classes_is_refused(y, error, message):
    with pytest.raises(error, match=message):
        read_classes(y)


# --- Real targets -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        [1, 2.5],
        np.array([1, 2.5], np.float32),
        np.array([1, 2.5], object),
        [Decimal(1), Decimal("2.5")],
        pd.Series([1, 2.5]),
        pd.Series([1, 2.5], dtype="Float64"),
        pl.Series([1.0, 2.5]),
        pl.Series([Decimal("1"), Decimal("2.5")]),
        pa.chunked_array([[1.0], [2.5]]),
    ],
)
def test_real_targets_are_float64_with_a_column_for_each_output(y):
    values, is_1d = read_reals(y)
    assert is_1d
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    np.testing.assert_array_equal(values, [[1.0], [2.5]])


def test_integers_and_booleans_are_real_targets():
    np.testing.assert_array_equal(read_reals([True, False])[0].ravel(), [1.0, 0.0])
    np.testing.assert_array_equal(read_reals(np.array([2**60]))[0].ravel(), [2.0**60])


def test_several_real_outputs_keep_their_columns():
    values, is_1d = read_reals(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}))
    assert not is_1d
    np.testing.assert_array_equal(values, [[1, 0.5], [2, 1.5]])


def test_the_callers_array_is_never_handed_out():
    y = np.array([1.0, 2.0])
    assert not np.shares_memory(read_reals(y)[0], y)
    weights = np.array([1.0, 2.0])
    assert not np.shares_memory(read_weights(weights, 2), weights)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan], r"Input y contains NaN\."),
        ([1.0, None], r"Input y contains NaN\."),
        ([None], r"Input y contains NaN\."),
        (
            [1.0, -np.inf],
            r"Input y contains infinity or a value too large for dtype\('float64'\)\.",
        ),
        (["1", "2"], "y holds text or categories .such as '1'.; a regressor needs numbers"),
        (pd.Series([1, 2], dtype="category"), "y holds text or categories"),
        (np.array(["2020"], "M8[Y]"), "y holds datetime values; a regressor needs numbers"),
        ([1j], "Complex data not supported"),
        (None, "requires y to be passed"),
    ],
)
def test_what_cannot_be_a_real_target_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        read_reals(y)


def test_different_lengths_of_x_and_y_are_told_in_scikit_learns_words():
    check_same_length(3, 3)
    message = r"Found input variables with inconsistent numbers of samples: \[3, 2\]"
    with pytest.raises(ValueError, match=message):
        check_same_length(3, 2)


# --- Sample weights -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights",
    [
        [0, 2, 1],
        np.array([0, 2, 1], np.uint8),
        np.array([0, 2, 1], object),
        pd.Series([0, 2, 1], dtype="Int64"),
        pl.Series([0.0, 2.0, 1.0]),
        pa.chunked_array([[0.0, 2.0, 1.0]]),
    ],
)
def test_weights_are_float64(weights):
    read = read_weights(weights, 3)
    assert read.dtype == np.float64
    assert read.tolist() == [0.0, 2.0, 1.0]


def test_one_number_stands_for_all_rows_and_ones_are_no_weights():
    assert read_weights(2, 3).tolist() == [2.0, 2.0, 2.0]
    assert read_weights(np.float32(0.5), 2).tolist() == [0.5, 0.5]
    assert read_weights(None, 3) is None
    assert read_weights(1.0, 3) is None
    assert read_weights(np.ones(3), 3) is None
    assert read_weights(np.array([True, False]), 2).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, np.nan, 1], "Input sample_weight contains NaN"),
        (pd.Series([1, None, 1], dtype="Int64"), "Input sample_weight contains NaN"),
        (pl.Series([1, None, 1]), "Input sample_weight contains NaN"),
        ([1, None, 1], "Input sample_weight contains NaN"),
        (np.ma.MaskedArray([1, 1, 1], [0, 1, 0]), "Input sample_weight contains NaN"),
        ([1, np.inf, 1], "Input sample_weight contains infinity"),
        ([1, 1, -2], "Negative values in data passed to `sample_weight`.* got -2.0 for row 2"),
        (-1.0, "Negative values"),
        ([0, 0, 0], "Sample weights must contain at least one non-zero number"),
        (0, "Sample weights must contain at least one non-zero number"),
        ([1, 1], r"sample_weight.shape == \(2,\), expected \(3,\)!"),
        (np.ones((3, 2)), "Sample weights must be 1D array or scalar, got 2D array"),
        (pd.DataFrame({"a": [1, 1, 1]}), "must be 1D array or scalar, got 2D array"),
        (["1", "2", "3"], "sample_weight must be real numbers"),
        (np.array(["1", 2, 3], object), "sample_weight must be real numbers"),
        ([1j, 1, 1], "sample_weight must be real numbers"),
        (1j, "sample_weight must be real numbers"),
        ([1e308] * 3, "the sum of sample_weight is too large"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        read_weights(weights, 3)


# --- Class weights ------------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 3.0, 2: 0.5}, {1: 4}])
def test_class_weights_equal_those_of_scikit_learn(class_weight):
    y = np.array([0, 0, 1, 2, 2, 2])
    expected = compute_sample_weight(class_weight, y)
    factors = class_weights(class_weight, read_classes(y), None)
    np.testing.assert_allclose(factors, expected, rtol=1e-15)


@pytest.mark.parametrize(
    "class_weight", ["balanced", [{0: 2, 1: 3}, {5: 0.5, 6: 7}], [{0: 2, 1: 3}, "balanced"]]
)
def test_the_class_weights_of_several_outputs_multiply(class_weight):
    y = np.array([[0, 5], [0, 6], [1, 6], [1, 6]])
    if class_weight == "balanced":
        expected = compute_sample_weight("balanced", y)
    else:
        expected = np.prod(
            [compute_sample_weight(choice, y[:, k]) for k, choice in enumerate(class_weight)],
            axis=0,
        )
    np.testing.assert_allclose(class_weights(class_weight, read_classes(y), None), expected)


def test_balanced_counts_a_row_of_weight_two_twice_and_one_of_weight_zero_not():
    y = np.array([0, 0, 1, 2, 2, 3])
    weights = np.array([2.0, 1.0, 3.0, 1.0, 0.0, 0.0])  # class 3 is absent
    factors = class_weights("balanced", read_classes(y), weights)
    repeated = np.repeat(y, weights.astype(int))
    expected = dict(zip(repeated, compute_sample_weight("balanced", repeated), strict=True))
    present = weights > 0
    np.testing.assert_allclose(factors[present], [expected[label] for label in y[present]])
    assert np.all(np.isfinite(factors))


def test_labels_of_any_type_can_have_weights():
    assert class_weights({"a": 2}, read_classes(["a", "b"]), None).tolist() == [2.0, 1.0]
    assert class_weights({True: 2}, read_classes([True, False]), None).tolist() == [2.0, 1.0]
    assert class_weights({1: 2}, read_classes([1.0, 0.0]), None).tolist() == [2.0, 1.0]
    assert class_weights(None, read_classes([0, 1]), None) is None
    # A class that the rows at hand lack, as in a fold, is no mistake.
    assert class_weights({0: 2, 1: 3, 2: 4}, read_classes([0, 1]), None).tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("class_weight", "error", "message"),
    [
        ("heavy", ValueError, "class_weight must be None, \"balanced\", .*; got 'heavy'"),
        (3, TypeError, "class_weight must be None"),
        ({"0": 2.0}, ValueError, r"The classes, \[0, 1\], are not in class_weight.*names \['0'\]"),
        ({0: -1.0}, ValueError, "class_weight of 0 must be a number >= 0; got -1.0"),
        ({0: np.nan}, ValueError, "class_weight of 0 must be a number >= 0; got nan"),
        ({0: "2"}, TypeError, "class_weight of 0 must be a number >= 0; got '2'"),
        ({0: 0, 1: 0}, ValueError, "class_weight leaves every row with weight zero"),
        ([{0: 1}, {0: 1}], ValueError, "number of elements in class_weight should match number"),
    ],
)
def test_class_weights_that_make_no_sense_are_refused(class_weight, error, message):
    with pytest.raises(error, match=message):
        class_weights(class_weight, read_classes([0, 1]), None)


def test_one_dict_for_several_outputs_is_refused():
    with pytest.raises(ValueError, match="For multi-output, class_weight should be a list of dict"):
        class_weights({0: 1}, read_classes([[0, 1], [1, 0]]), None)
