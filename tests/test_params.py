"""Parameter checks: what is accepted, and the words of what is not."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committee.base.params import (
    check_bool,
    check_choice,
    check_int,
    check_int_or_fraction,
    check_max_features,
    check_monotonic_cst,
    check_real,
    check_seed,
    is_false,
    is_true,
)


def test_switches_of_numpy_are_switches_and_numbers_are_none():
    assert is_false(False)
    assert is_false(np.False_)
    assert is_true(True)
    assert is_true(np.True_)
    for value in [0, 1, 0.0, None, "", np.int8(0), np.zeros(2), []]:
        assert not is_false(value)
        assert not is_true(value)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_integers_of_any_make_come_back_as_int(value):
    checked = check_int("max_depth", value, 1)
    assert (checked, type(checked)) == (3, int)
    assert check_int("max_depth", None, 1, none=True) is None


@pytest.mark.parametrize(
    ("options", "value", "error", "message"),
    [
        ({"low": 1, "none": True}, 0, ValueError, "max_depth must be an int >= 1 or None; got 0"),
        ({"low": 1}, None, TypeError, "max_depth must be an int >= 1; got None"),
        ({"low": 2, "high": 255}, 256, ValueError, r"must be an int in \[2, 255\]; got 256"),
        ({"low": 1}, True, TypeError, "got True"),
        ({"low": 1}, np.True_, TypeError, r"got (np.True_|True)"),
        ({"low": 1}, 2.0, TypeError, "got 2.0"),
        ({"low": 1}, math.nan, TypeError, "got nan"),
        ({"low": 1}, "3", TypeError, "got '3'"),
    ],
)
def test_what_is_no_integer_in_range_is_refused(options, value, error, message):
    with pytest.raises(error, match=message):
        check_int("max_depth", value, **options)


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), Fraction(1)])
def test_real_numbers_of_any_make_come_back_as_float(value):
    checked = check_real("alpha", value, 0.0)
    assert (checked, type(checked)) == (1.0, float)
    assert check_real("alpha", None, none=True) is None


@pytest.mark.parametrize(
    ("options", "value", "error", "message"),
    [
        ({"low": 0}, -1.0, ValueError, "alpha must be a finite number >= 0; got -1.0"),
        ({"low": 0, "include_low": False}, 0, ValueError, "a finite number > 0; got 0"),
        ({"high": 1}, 2, ValueError, "a finite number <= 1; got 2"),
        ({"low": 0, "high": 0.5}, 0.6, ValueError, r"a number in \[0, 0.5\]; got 0.6"),
        ({"low": 0, "high": 1, "include_high": False}, 1, ValueError, r"in \[0, 1\); got 1"),
        ({"low": 0, "high": 1, "include_low": False, "none": True}, 0, ValueError, r"\(0, 1\] or"),
        ({}, math.nan, ValueError, "alpha must be a finite number; got nan"),
        ({"low": 0}, math.inf, ValueError, "got inf"),
        ({}, "1", TypeError, "alpha must be a finite number; got '1'"),
        ({}, False, TypeError, "got False"),
        ({}, 1j, TypeError, "got 1j"),
        ({}, None, TypeError, "got None"),
    ],
)
def test_what_is_no_number_in_range_is_refused(options, value, error, message):
    with pytest.raises(error, match=message):
        check_real("alpha", value, **options)


def test_choices_are_listed_when_the_word_is_unknown():
    assert check_choice("splitter", "best", ("best", "random")) == "best"
    assert check_choice("splitter", None, ("best",), none=True) is None
    with pytest.raises(ValueError, match='splitter must be "best" or "random"; got \'worst\''):
        check_choice("splitter", "worst", ("best", "random"))
    with pytest.raises(TypeError, match='splitter must be "best" or None; got 1'):
        check_choice("splitter", 1, ("best",), none=True)
    with pytest.raises(TypeError, match="got \\['best'\\]"):
        check_choice("splitter", ["best"], ("best",))


def test_switches_are_booleans():
    assert check_bool("bootstrap", np.True_) is True
    with pytest.raises(TypeError, match="bootstrap must be True or False; got 1"):
        check_bool("bootstrap", 1)


@pytest.mark.parametrize(
    ("value", "n", "low", "count"),
    [(5, 3, 1, 5), (0.1, 25, 1, 3), (1.0, 7, 1, 7), (0.001, 10, 2, 2), (np.float32(0.5), 10, 1, 5)],
)
def test_counts_may_be_fractions(value, n, low, count):
    assert check_int_or_fraction("min_samples_leaf", value, n, low) == count


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (0, ValueError),
        (0.0, ValueError),
        (1.5, ValueError),
        (math.nan, ValueError),
        (True, TypeError),
        ("a", TypeError),
        (None, TypeError),
    ],
)
def test_what_is_neither_count_nor_fraction_is_refused(value, error):
    with pytest.raises(error, match=r"leaf must be an int >= 1 or a float in \(0, 1\]; got"):
        check_int_or_fraction("min_samples_leaf", value, 10)


def test_a_fraction_of_one_can_be_excluded():
    with pytest.raises(ValueError, match=r"a float in \(0, 1\) or None; got 1.0"):
        check_int_or_fraction("min_samples_leaf", 1.0, 10, include_one=False, none=True)
    assert check_int_or_fraction("max_samples", None, 10, none=True) is None


@given(st.integers(1, 10**6))
def test_features_by_rule_follow_their_formulas(n_features):
    assert check_max_features("sqrt", n_features) == max(1, int(math.sqrt(n_features)))
    assert check_max_features("log2", n_features) == max(1, int(math.log2(n_features)))
    breiman = min(n_features, int(math.log2(n_features) + 1))
    assert check_max_features("log2+1", n_features) == breiman
    assert check_max_features(None, n_features) == n_features


def test_features_by_number_or_fraction():
    assert check_max_features(np.int64(3), 10) == 3
    assert check_max_features(11, 10) == 10  # as scikit-learn does
    assert check_max_features(0.35, 10) == 3
    assert check_max_features(0.01, 10) == 1
    assert check_max_features(1.0, 10) == 10


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (0, ValueError),
        (-3, ValueError),
        (0.0, ValueError),
        (1.1, ValueError),
        ("all", ValueError),
        (math.nan, ValueError),
        (True, TypeError),
        ([1], TypeError),
    ],
)
def test_what_is_no_number_of_features_is_refused(value, error):
    message = r'max_features must be None, "sqrt", "log2", "log2\+1", an int >= 1 or a fl'
    with pytest.raises(error, match=message):
        check_max_features(value, 10)


def test_monotonic_constraints_by_position_or_name():
    assert check_monotonic_cst([1, 0, -1], 3) == [1, 0, -1]
    assert check_monotonic_cst(np.array([1.0, -1.0]), 2) == [1, -1]
    assert check_monotonic_cst({"b": -1}, 2, names=("a", "b")) == [0, -1]
    assert check_monotonic_cst(None, 2) is None
    assert check_monotonic_cst([0, 0], 2) is None


@pytest.mark.parametrize(
    ("value", "names", "error", "message"),
    [
        ([1], None, ValueError, "monotonic_cst must be None, 2 numbers .*; got 1 numbers"),
        ([1, 2], None, ValueError, "it holds 2"),
        ([1, 0.5], None, ValueError, "it holds 0.5"),
        ([1, math.nan], None, ValueError, "it holds nan"),
        ([1, True], None, ValueError, "it holds True"),
        ("up", None, TypeError, "got 'up'"),
        (1, None, TypeError, "got 1"),
        ({"a": 1}, None, ValueError, "X has no feature names"),
        ({"c": 1}, ("a", "b"), ValueError, r"monotonic_cst names \['c'\], which are no features"),
    ],
)
def test_wrong_monotonic_constraints_are_refused(value, names, error, message):
    with pytest.raises(error, match=message):
        check_monotonic_cst(value, 2, names)


def test_an_integer_is_its_own_seed_and_generators_move_on():
    assert check_seed(42) == 42
    assert check_seed(np.int32(7)) == 7
    assert check_seed(2**64 - 1) == 2**64 - 1
    for make in (np.random.RandomState, np.random.default_rng):
        first, again = make(0), make(0)
        seed = check_seed(first)
        assert seed == check_seed(again)
        assert seed != check_seed(first)
        assert 0 <= seed < 2**64


def test_no_seed_follows_numpys_global_state():
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(5)  # noqa: NPY002
        first = check_seed(None)
        np.random.seed(5)  # noqa: NPY002
        assert check_seed(None) == first
        assert check_seed(None) != first
    finally:
        np.random.set_state(state)  # noqa: NPY002


@pytest.mark.parametrize(
    ("value", "error"),
    [(-1, ValueError), (2**64, ValueError), (1.5, TypeError), (True, TypeError), ("a", TypeError)],
)
def test_what_is_no_seed_is_refused(value, error):
    with pytest.raises(error, match=r"random_state must be None, an int in \[0, 2\*\*64 - 1\]"):
        check_seed(value)
