"""Draws of rows and features: what a sample may hold, how often, and that it can be drawn again."""

import pickle

import numpy as np
import pytest
from scipy import stats

from committee._core import derive_key
from committee.base.sampling import member_seed, plan_features, plan_rows, row_seed, sample_size
from committee.files.codec import decode, encode


def all_counts(sampler, n_members):
    return np.array([sampler.counts(member) for member in range(n_members)])


# --- bootstrap and pasting ----------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "missing"), [(10, 0.3487), (100, 0.3660), (1000, 0.3677)])
def test_a_row_stays_out_of_a_bootstrap_sample_as_often_as_the_lecture_says(n_rows, missing, seed):
    assert (1 - 1 / n_rows) ** n_rows == pytest.approx(missing, abs=5e-5)
    n_members = 200_000 // n_rows
    counts = all_counts(plan_rows(n_rows, seed), n_members)
    share = (counts == 0).mean()
    # Rows of a sample are dependent, negatively: the binomial error is an upper bound.
    assert abs(share - missing) < 5 * np.sqrt(missing * (1 - missing) / counts.size)
    assert (counts > 0).mean() == pytest.approx(0.632, abs=0.025)


def test_every_row_is_drawn_equally_often_and_a_sample_has_the_size_of_the_table(seed):
    counts = all_counts(plan_rows(20, seed), 4000)
    assert (counts.sum(axis=1) == 20).all()
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 1e-4


def test_without_replacement_no_row_is_drawn_twice(seed):
    counts = all_counts(plan_rows(12, seed, bootstrap=False, max_samples=5), 3000)
    assert counts.max() == 1
    assert (counts.sum(axis=1) == 5).all()
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 1e-4


@pytest.mark.parametrize(
    ("max_samples", "expected"), [(None, 50), (7, 7), (200, 200), (0.5, 25), (1.6, 80), (1e-9, 1)]
)
def test_max_samples_says_how_many_rows_are_drawn(max_samples, expected):
    sampler = plan_rows(50, 0, max_samples=max_samples)
    assert sampler.n_draws == expected
    assert sampler.counts(3).sum() == expected
    assert len(sampler.rows(3)) == expected


def test_rows_are_the_counts_written_out():
    sampler = plan_rows(9, 4)
    assert np.array_equal(np.bincount(sampler.rows(2), minlength=9), sampler.counts(2))
    assert (np.diff(sampler.rows(2)) >= 0).all()


# --- weights ------------------------------------------------------------------------------------


def test_weights_are_draw_probabilities_and_zero_is_never_drawn(seed, rng):
    weights = rng.exponential(size=15)
    weights[[2, 9]] = 0
    counts = all_counts(plan_rows(15, seed, weights=weights), 4000)
    assert not counts[:, [2, 9]].any()
    present = weights > 0
    expected = weights[present] / weights.sum() * counts.sum()
    assert stats.chisquare(counts.sum(axis=0)[present], expected).pvalue > 1e-4


def scatter(x):
    """As in random.hpp."""
    mask = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


@pytest.mark.parametrize("weight", [1.0, 0.1, 3.0])
def test_equal_weights_draw_as_the_table_of_other_weights_would(seed, weight):
    # Each draw takes two numbers: an item, and whether it or its partner in the table is meant.
    present = np.array([0, 2, 3, 6, 7, 9, 10])
    weights = np.zeros(12)
    weights[present] = weight
    sampler = plan_rows(12, seed, max_samples=50, weights=weights)
    key = derive_key(derive_key(row_seed(seed), 4), 0)
    expected = np.zeros(12, int)
    for draw in range(50):
        number = scatter((key + 2 * draw * 0x9E3779B97F4A7C15) % 2**64)
        expected[present[((number >> 32) * len(present)) >> 32]] += 1
    np.testing.assert_array_equal(sampler.counts(4), expected)


def test_weighted_draws_without_replacement_follow_successive_draws(seed):
    weights = np.array([1.0, 2.0, 0.0, 5.0])
    counts = all_counts(plan_rows(4, seed, bootstrap=False, max_samples=2, weights=weights), 20_000)
    p = weights / weights.sum()
    # The first draw, or the second after another first one.
    included = p + np.array(
        [sum(p[j] * p[i] / (1 - p[j]) for j in range(4) if j != i) for i in range(4)]
    )
    np.testing.assert_allclose(counts.mean(axis=0), included, atol=0.02)
    assert not counts[:, 2].any()


def test_a_float_is_a_share_of_the_weights():
    weights = np.array([1.0, 1.0, 2.0, 0.0])
    assert plan_rows(4, 0, max_samples=1.5, weights=weights).n_draws == 6


def test_weights_that_add_up_to_one_make_tiny_samples_and_a_warning():
    with pytest.warns(UserWarning, match=r"share of the sum of sample_weight, 1: each .* only 1 "):
        plan_rows(100, 0, max_samples=1.0, weights=np.full(100, 0.01))


# --- groups, strata, portions -------------------------------------------------------------------


@pytest.mark.parametrize("groups", [list("aabbbcdddd"), [3, 3, 1, 1, 1, 9, 0, 0, 0, 0]])
def test_a_group_is_drawn_whole_or_not_at_all(groups, seed):
    sampler = plan_rows(10, seed, groups=groups)
    counts = all_counts(sampler, 200)
    for group in set(groups):
        own = counts[:, np.array(groups) == group]
        assert (own == own[:, :1]).all()
    assert sampler.n_draws == 4  # groups, not rows
    assert len({tuple(row) for row in counts}) > 20


def test_a_group_weighs_what_its_rows_weigh(seed):
    weights = np.array([1.0, 1.0, 4.0, 0.0])
    counts = all_counts(plan_rows(4, seed, weights=weights, groups=list("aabc")), 3000)
    drawn = counts[:, [0, 2, 3]].sum(axis=0)
    assert drawn[2] == 0
    assert drawn[1] / drawn[0] == pytest.approx(2, rel=0.1)


def test_groups_of_mixed_objects_are_fine_and_missing_ones_are_not():
    assert plan_rows(3, 0, groups=np.array(["a", 1, "a"], dtype=object)).n_draws == 2
    for missing in ([1.0, np.nan, 2.0], np.array(["a", None, "b"], dtype=object)):
        with pytest.raises(ValueError, match="groups must not hold missing values"):
            plan_rows(3, 0, groups=missing)
    with pytest.raises(ValueError, match=r"one entry a row, shape \(3,\); got shape \(2,\)"):
        plan_rows(3, 0, groups=[1, 2])


@pytest.mark.parametrize("bootstrap", [True, False])
def test_strata_keep_their_shares(bootstrap, seed):
    strata = np.repeat([0, 1, 2], [50, 30, 20]).astype(np.int32)
    sampler = plan_rows(100, seed, bootstrap=bootstrap, max_samples=20, strata=strata)
    for member in range(20):
        drawn = np.bincount(strata[sampler.rows(member)], minlength=3)
        assert drawn.tolist() == [10, 6, 4]


def test_balanced_strata_get_the_same_number(seed):
    strata = np.repeat([0, 1], [90, 10]).astype(np.int32)
    sampler = plan_rows(100, seed, strata=strata, balanced=True)
    assert np.bincount(strata[sampler.rows(5)]).tolist() == [50, 50]
    with pytest.raises(ValueError, match=r"10 rows .* fewer than the 50 to draw without"):
        plan_rows(100, seed, strata=strata, balanced=True, bootstrap=False)


def test_portions_are_disjoint_complete_and_of_equal_size(seed):
    counts = all_counts(plan_rows(23, seed, n_portions=5), 5)
    assert (counts.sum(axis=0) == 1).all()
    assert sorted(counts.sum(axis=1)) == [4, 4, 5, 5, 5]


def test_portions_keep_groups_and_strata(seed):
    groups = np.repeat(np.arange(12), 3)
    counts = all_counts(plan_rows(36, seed, n_portions=4, groups=groups), 4)
    assert (counts.sum(axis=0) == 1).all()
    assert (counts.sum(axis=1) == 9).all()
    strata = (np.arange(40) < 8).astype(np.int32)
    counts = all_counts(plan_rows(40, seed, n_portions=4, strata=strata), 4)
    assert (counts[:, strata == 1].sum(axis=1) == 2).all()


# --- features, seeds, files ---------------------------------------------------------------------


def test_features_are_drawn_with_or_without_replacement(seed):
    without = all_counts(plan_features(8, seed, 3), 2000)
    assert without.max() == 1
    assert stats.chisquare(without.sum(axis=0)).pvalue > 1e-4
    assert all_counts(plan_features(8, seed, 8, bootstrap=True), 10).max() > 1


def test_a_draw_depends_on_seed_and_member_only():
    first = plan_rows(50, 7)
    again = plan_rows(50, 7)
    assert np.array_equal(first.counts(3), again.counts(3))
    assert not np.array_equal(first.counts(3), first.counts(4))
    assert not np.array_equal(first.counts(3), plan_rows(50, 8).counts(3))
    assert member_seed(7, 3) == member_seed(7, 3) != member_seed(7, 4)


def test_samplers_survive_pickle_and_model_files(rng):
    sampler = plan_rows(
        12, 5, weights=rng.uniform(1, 2, 12), groups=list("abcdabcdabcd"), max_samples=3
    )
    for copy in (pickle.loads(pickle.dumps(sampler)), decode(*encode(sampler))):
        assert copy.draws_like(sampler)
        assert np.array_equal(all_counts(copy, 4), all_counts(sampler, 4))
    assert not plan_rows(12, 5).draws_like(sampler)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n_rows", 3),
        ("n_rows", -1),
        ("n_draws", 2**40),
        ("unit_weights", np.array([1.0])),
        ("unit_weights", np.full(12, np.nan)),
        ("unit_weights", np.zeros(12)),
        ("unit_of_row", np.full(12, 2**31, np.uint32)),
        ("unit_strata", np.zeros(5, np.int32)),
    ],
)
def test_a_damaged_sampler_is_refused(field, value):
    sampler = plan_rows(12, 5, weights=np.arange(12.0))
    sampler.__dict__[field] = value
    with pytest.raises(ValueError, match="RowSampler"):
        decode(*encode(sampler))


def test_whether_rows_can_stay_out_is_known():
    assert plan_rows(5, 0).leaves_rows_out
    assert not plan_rows(1, 0).leaves_rows_out
    assert not plan_rows(5, 0, bootstrap=False).leaves_rows_out
    assert plan_rows(5, 0, bootstrap=False, max_samples=4).leaves_rows_out
    assert not plan_rows(5, 0, n_portions=1).leaves_rows_out
    assert plan_rows(5, 0, n_portions=2).leaves_rows_out
    lone = np.arange(5, dtype=np.int32)
    assert not plan_rows(5, 0, strata=lone).leaves_rows_out


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, -3, 0.0, -0.5, np.nan, np.inf])
def test_an_impossible_size_is_refused(value):
    with pytest.raises(ValueError, match=r"max_samples must be None, an int >= 1 or a float > 0"):
        sample_size(value, 10, 10.0)


@pytest.mark.parametrize("value", ["all", True, [1]])
def test_a_size_of_another_type_is_refused(value):
    with pytest.raises(TypeError, match="max_samples must be None, an int >= 1 or a float > 0"):
        sample_size(value, 10, 10.0)


def test_too_many_rows_without_replacement_are_refused():
    with pytest.raises(ValueError, match=r"asks for 11 rows .* at most 10 can be drawn"):
        plan_rows(10, 0, bootstrap=False, max_samples=11)
    with pytest.raises(ValueError, match=r"cannot deal 3 rows .* out to 4 members"):
        plan_rows(3, 0, n_portions=4)
    with pytest.raises(ValueError, match=r"less than 2\*\*31 rows"):
        plan_rows(10, 0, max_samples=2**31)
    with pytest.raises(ValueError, match=r"less than 2\*\*31 rows"):
        plan_rows(10, 0, max_samples=1e300)


def test_pasting_all_rows_of_positive_weight_is_possible():
    sampler = plan_rows(4, 0, bootstrap=False, weights=np.array([1.0, 0.0, 2.0, 3.0]))
    assert sampler.counts(0).tolist() == [1, 0, 1, 1]
