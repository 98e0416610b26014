"""Majorities: SciPy's laws, enumeration of all outcomes, and draws of correlated members."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import betabinom, binom, multivariate_normal, norm

from committee.theory import majority_error, members_needed, wrong_members

MODELS = ["beta_binomial", "gaussian_copula"]


def enumerated(p, tie):
    """Error of a majority by adding up all 2^n outcomes."""
    total = 0.0
    for wrong in itertools.product([False, True], repeat=len(p)):
        probability = math.prod(q if w else 1 - q for q, w in zip(p, wrong, strict=True))
        share = {-1: 0.0, 0: tie, 1: 1.0}[int(np.sign(2 * sum(wrong) - len(p)))]
        total += probability * share
    return total


@pytest.mark.parametrize("n", [1, 2, 5, 20, 21, 1000])
@pytest.mark.parametrize("p", [0.0, 1e-9, 0.3, 0.5, 0.9, 1.0])
def test_independent_members_follow_the_binomial_law(n, p):
    law = binom(n, p)
    np.testing.assert_allclose(wrong_members(n, p), law.pmf(np.arange(n + 1)), rtol=1e-10)
    below, above = law.sf(n // 2), law.sf((n - 1) // 2)
    assert majority_error(n, p, tie="right") == pytest.approx(below, rel=1e-11)
    assert majority_error(n, p, tie="wrong") == pytest.approx(above, rel=1e-11)
    assert majority_error(n, p) == pytest.approx((below + above) / 2, rel=1e-11)


@pytest.mark.parametrize(("tie", "share"), [("right", 0.0), ("half", 0.5), ("wrong", 1.0)])
@pytest.mark.parametrize("p", [[0.1, 0.2, 0.3], [0.05, 0.5, 0.4, 0.2], [0.0, 1.0, 0.3, 0.3, 0.7]])
def test_unequal_members_are_all_outcomes_added_up(p, tie, share):
    assert majority_error(len(p), p, tie=tie) == pytest.approx(enumerated(p, share), rel=1e-13)
    assert math.fsum(wrong_members(len(p), p)) == pytest.approx(1.0, abs=1e-15)


def test_equal_members_given_one_by_one_are_those_given_by_one_number():
    for n in (4, 21):
        np.testing.assert_allclose(wrong_members(n, [0.3] * n), wrong_members(n, 0.3), rtol=1e-12)


@pytest.mark.parametrize("correlation", [0.01, 0.2, 0.7])
@pytest.mark.parametrize("n", [2, 21, 100])
def test_the_beta_binomial_law_is_that_of_scipy(n, correlation):
    size = (1 - correlation) / correlation
    law = betabinom(n, 0.3 * size, 0.7 * size)
    found = wrong_members(n, 0.3, correlation=correlation)
    np.testing.assert_allclose(found, law.pmf(np.arange(n + 1)), rtol=1e-9)
    error = majority_error(n, 0.3, correlation=correlation, tie="right")
    assert error == pytest.approx(law.sf(n // 2), rel=1e-9)


@pytest.mark.parametrize("dependence", MODELS)
def test_the_correlation_of_two_members_is_the_one_that_was_asked_for(dependence):
    for p, rho in ((0.3, 0.2), (0.05, 0.6), (0.5, 0.1)):
        both = wrong_members(2, p, correlation=rho, dependence=dependence)[2]
        assert (both - p * p) / (p * (1 - p)) == pytest.approx(rho, rel=1e-10)
        counts = wrong_members(9, p, correlation=rho, dependence=dependence)
        assert counts @ np.arange(10) == pytest.approx(9 * p, rel=1e-10)
        # The variance of a sum of correlated variables.
        spread = counts @ (np.arange(10) - 9 * p) ** 2
        assert spread == pytest.approx(9 * p * (1 - p) * (1 + 8 * rho), rel=1e-9)


def test_two_members_of_the_copula_are_a_bivariate_normal_law():
    p = [0.2, 0.4]
    counts = wrong_members(2, p, correlation=0.3)
    t = norm.ppf(p)
    spread = math.sqrt(0.2 * 0.8 * 0.4 * 0.6)
    latent = np.linspace(0.3, 0.6, 3001)
    both = [multivariate_normal.cdf(t, cov=[[1, r], [r, 1]]) for r in latent[::300]]
    correlations = (np.array(both) - 0.08) / spread
    r = np.interp(0.3, correlations, latent[::300])
    assert counts[2] == pytest.approx(0.08 + 0.3 * spread, rel=1e-9)
    # Three members, of whom the latent correlation is known: a trivariate law.
    cov = np.full((3, 3), r) + np.eye(3) * (1 - r)
    p3 = [0.2, 0.4, 0.2]
    rho3 = _mean_correlation(p3, r)
    all_three = multivariate_normal.cdf(norm.ppf(p3), cov=cov, maxpts=200_000)
    assert wrong_members(3, p3, correlation=rho3)[3] == pytest.approx(all_three, abs=2e-4)


def _mean_correlation(p, r):
    found = []
    for a, b in itertools.combinations(p, 2):
        both = multivariate_normal.cdf(norm.ppf([a, b]), cov=[[1, r], [r, 1]])
        found.append((both - a * b) / math.sqrt(a * (1 - a) * b * (1 - b)))
    return np.mean(found)


@pytest.mark.parametrize("dependence", MODELS)
def test_correlation_zero_and_one_are_independent_members_and_clones(dependence):
    for n in (5, 20, math.inf):
        nearly = majority_error(n, 0.3, correlation=1e-10, dependence=dependence)
        assert nearly == pytest.approx(majority_error(n, 0.3), abs=1e-8)
        clones = majority_error(n, 0.3, correlation=1.0, dependence=dependence)
        assert clones == pytest.approx(0.3, abs=1e-9)


@pytest.mark.parametrize("dependence", MODELS)
def test_correlated_members_lead_to_a_limit_above_zero(dependence):
    def error(n):
        return majority_error(n, 0.3, correlation=0.2, dependence=dependence)

    errors = [error(n) for n in (1, 3, 11, 101, 10_001)]
    assert errors[0] == pytest.approx(0.3)
    assert (np.diff(errors) < 0).all()
    limit = error(math.inf)
    assert errors[-1] == pytest.approx(limit, abs=2e-4)
    assert limit < errors[-1]
    assert majority_error(math.inf, 0.4) == 0.0
    assert majority_error(math.inf, 0.6) == 1.0
    assert majority_error(math.inf, 0.5) == 0.5


def test_an_even_member_changes_nothing_where_a_coin_decides_ties():
    for p in (0.1, 0.4, 0.7):
        assert majority_error(20, p) == pytest.approx(majority_error(19, p), rel=1e-12)


def test_draws_of_correlated_members_have_the_error_of_the_formula(rng):
    n_rows, p, rho = 200_000, 0.35, 0.15
    size = (1 - rho) / rho
    rates = rng.beta(p * size, (1 - p) * size, (n_rows, 1))
    wrong = (rng.uniform(size=(n_rows, 11)) < rates).sum(axis=1)
    expected = majority_error(11, p, correlation=rho)
    deviation = math.sqrt(expected * (1 - expected) / n_rows)
    assert (wrong > 5).mean() == pytest.approx(expected, abs=4 * deviation)


@pytest.mark.parametrize(
    ("error", "p", "options"),
    [
        (0.01, 0.3, {}),
        (0.01, 0.4, {}),
        (0.3, 0.3, {}),
        (0.2, 0.3, {"correlation": 0.2}),
        (0.19, 0.3, {"correlation": 0.2, "dependence": "gaussian_copula"}),
    ],
)
def test_members_needed_is_the_first_odd_number_that_is_enough(error, p, options):
    n = members_needed(error, p, **options)
    assert majority_error(n, p, **options) <= error
    assert n == 1 or majority_error(n - 2, p, **options) > error


def test_no_number_of_members_reaches_what_is_out_of_reach():
    assert members_needed(0.01, 0.5) is None
    assert members_needed(0.01, 0.6) is None
    assert members_needed(0.0, 0.3) is None
    assert members_needed(0.1, 0.3, correlation=0.2) is None
    assert members_needed(0.7, 0.6) == 1
    by_the_normal_law = (norm.isf(0.01) / 0.002) ** 2
    assert members_needed(0.01, 0.499) == pytest.approx(by_the_normal_law, rel=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: majority_error(0, 0.3), "n must be an int >= 1; got 0"),
        (lambda: majority_error(2.5, 0.3), "n must be an int >= 1; got 2.5"),
        (lambda: majority_error(3, 1.5), r"p must be a number in \[0, 1\]; got 1.5"),
        (lambda: majority_error(3, [0.1, 0.2]), r"p must be one number or n = 3 of them"),
        (lambda: majority_error(2, [0.1, np.nan]), r"p must hold numbers in \[0, 1\]; got nan"),
        (lambda: majority_error(3, 0.3, tie="coin"), 'tie must be "half", "wrong" or "right"'),
        (lambda: majority_error(3, 0.3, correlation=-0.1), "correlation must be a number"),
        (lambda: majority_error(3, 0.3, dependence="t"), "dependence must be"),
        (
            lambda: majority_error(3, [0.1, 0.2, 0.3], correlation=0.99),
            "correlation must be below 0.6",
        ),
        (
            lambda: majority_error(2, [0.1, 0.2], correlation=0.1, dependence="beta_binomial"),
            'dependence must be "gaussian_copula"',
        ),
        (lambda: majority_error(2, [0.0, 0.2], correlation=0.1), "p must be above 0 and below 1"),
        (lambda: majority_error(math.inf, [0.1]), "p must be one number"),
        (lambda: wrong_members(math.inf, 0.3), "n must be an int in"),
        (lambda: majority_error(10**9, 0.3, correlation=0.1), "n must be an int in"),
        (lambda: members_needed(-0.1, 0.3), "error must be a number"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
