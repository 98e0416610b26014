"""Means of members, bootstrap samples and margins beside naive sums and draws."""

import math

import numpy as np
import pytest

from committee import AdaBoostClassifier, RandomForestClassifier, diversity
from committee.theory import (
    average_variance,
    bootstrap_inclusion,
    committee_error,
    margins,
)

# --- E_c, E_av and ambiguity --------------------------------------------------------------------


@pytest.fixture
def members(rng):
    y = rng.normal(size=300)
    shared = 0.4 * rng.normal(size=300)
    return y + shared + 0.2 + rng.normal(size=(7, 300)), y


def test_committee_error_is_its_definitions(members):
    predictions, y = members
    found = committee_error(predictions, y)
    errors = predictions - y
    assert found.committee == pytest.approx(np.mean(errors.mean(axis=0) ** 2), rel=1e-12)
    assert found.average == pytest.approx(np.mean(errors**2), rel=1e-12)
    spread = np.mean((predictions - predictions.mean(axis=0)) ** 2)
    assert found.ambiguity == pytest.approx(spread, rel=1e-12)
    assert found.committee == pytest.approx(found.average - found.ambiguity, rel=1e-12)
    products = errors @ errors.T / 300
    pairs = products[np.triu_indices(7, 1)].mean()
    assert found.correlation == pytest.approx(pairs / found.average, rel=1e-12)
    assert found.limit == pytest.approx(pairs, rel=1e-12)
    assert found.independent == pytest.approx(found.average / 7)
    assert (found.n_members, found.n_rows) == (7, 300)


def test_the_forecast_for_fewer_members_is_the_mean_over_all_choices_of_them(members):
    import itertools

    predictions, y = members
    found = committee_error(predictions, y)
    for size in (1, 2, 4, 7):
        each = [
            np.mean((predictions[list(chosen)].mean(axis=0) - y) ** 2)
            for chosen in itertools.combinations(range(7), size)
        ]
        assert found.at(size) == pytest.approx(np.mean(each), rel=1e-12)
    assert found.at(math.inf) == pytest.approx(found.limit)


def test_weights_of_members_and_rows_count_as_they_should(members, rng):
    predictions, y = members
    rows = rng.integers(0, 3, 300)
    weighted = committee_error(predictions, y, sample_weight=rows)
    repeated = committee_error(np.repeat(predictions, rows, axis=1), np.repeat(y, rows))
    for name in ("committee", "average", "ambiguity", "correlation"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-12)
    assert weighted.n_rows == (rows > 0).sum()
    w = np.array([1.0, 2, 0, 1, 4, 1, 1])
    found = committee_error(predictions, y, weights=w)
    w = w / w.sum()
    mean = w @ predictions
    assert found.committee == pytest.approx(np.mean((mean - y) ** 2), rel=1e-12)
    assert found.average == pytest.approx(w @ ((predictions - y) ** 2).mean(axis=1), rel=1e-12)
    assert found.committee == pytest.approx(found.average - found.ambiguity, rel=1e-11)
    assert found.n_members == pytest.approx(1 / (w**2).sum())


def test_one_member_and_clones_gain_nothing():
    y = np.array([1.0, 2.0, 4.0])
    one = committee_error([[1.5, 2.5, 3.0]], y)
    assert one.committee == one.average
    assert one.ambiguity == 0
    assert math.isnan(one.correlation)
    clones = committee_error([[1.5, 2.5, 3.0]] * 4, y)
    assert clones.correlation == pytest.approx(1.0)
    assert clones.limit == pytest.approx(clones.committee)
    right = committee_error([y, y], y)
    assert right.committee == right.average == 0
    assert math.isnan(right.correlation)


def test_small_errors_of_large_numbers_keep_their_digits(rng):
    y = 1e9 + rng.integers(0, 8, 50)
    errors = rng.integers(-4, 5, (5, 50)) / 8
    found = committee_error(y + errors, y)
    assert found.average == pytest.approx(np.mean(errors**2), rel=1e-13)
    assert found.committee == pytest.approx(np.mean(errors.mean(axis=0) ** 2), rel=1e-12)


def test_probabilities_of_a_forest_have_the_decomposition_of_diversity(rng):
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    forest = RandomForestClassifier(12, random_state=0).fit(X[:100], y[:100])
    each = np.array([tree.predict_proba(X[100:]) for tree in forest.estimators_])
    found = committee_error(each, np.eye(2)[y[100:]])
    measured = diversity(forest, X[100:], y[100:])
    assert found.committee == pytest.approx(measured.combined_error, rel=1e-12)
    assert found.average == pytest.approx(measured.mean_error, rel=1e-12)
    assert found.ambiguity == pytest.approx(measured.ambiguity, rel=1e-12)


# --- variance, bootstrap ------------------------------------------------------------------------


def test_the_variance_of_drawn_means_is_that_of_the_formula(rng):
    rho, sigma2, n = 0.3, 2.0, 8
    common = rng.normal(size=(100_000, 1)) * math.sqrt(rho * sigma2)
    own = rng.normal(size=(100_000, n)) * math.sqrt((1 - rho) * sigma2)
    measured = (common + own).mean(axis=1).var()
    assert measured == pytest.approx(average_variance(rho, sigma2, n), rel=0.02)
    assert average_variance(rho, sigma2, math.inf) == pytest.approx(0.6)
    assert average_variance(-0.5, 1.0, 3) == 0.0  # as far apart as three can be


@pytest.mark.parametrize(("n", "m"), [(10, None), (10, 3), (50, 200), (1, None), (1, 0), (7, 0)])
def test_bootstrap_samples_hold_as_many_rows_as_the_formula_says(n, m, rng):
    draws = n if m is None else m
    samples = rng.integers(0, n, (20_000, draws))
    share = (samples == 0).any(axis=1).mean()
    assert bootstrap_inclusion(n, m) == pytest.approx(share, abs=0.015)
    assert bootstrap_inclusion(n, m) == pytest.approx(1 - (1 - 1 / n) ** draws, rel=1e-12)


def test_the_limit_of_bootstrap_samples_is_632():
    assert bootstrap_inclusion(math.inf) == pytest.approx(1 - math.exp(-1), rel=1e-15)
    assert bootstrap_inclusion(10**12) == pytest.approx(1 - math.exp(-1), rel=1e-11)


# --- margins ------------------------------------------------------------------------------------


def test_margins_of_adaboost_are_those_of_its_votes(rng):
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=80) / 2, [-0.5, 0.5])
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    votes = np.zeros((80, 3))
    for member, weight in zip(model, model.estimator_weights_, strict=True):
        votes[np.arange(80), member.predict(X)] += weight
    np.testing.assert_allclose(margins(votes, y), model.margins(X, y), atol=1e-12)


def test_margins_are_positive_where_the_votes_are_right(rng):
    shares = rng.dirichlet(np.ones(4), 100)
    y = rng.choice(["a", "b", "c", "d"], 100)
    found = margins(shares, y, classes=["a", "b", "c", "d"])
    is_right = np.array(["a", "b", "c", "d"])[shares.argmax(axis=1)] == y
    np.testing.assert_array_equal(found > 0, is_right)
    assert (np.abs(found) <= 1).all()
    np.testing.assert_allclose(margins(7 * shares, y), found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: committee_error([1.0, 2.0], [1.0, 2.0]), "predictions must have the shape"),
        (lambda: committee_error([[1.0, 2.0]], [1.0]), r"y must have the shape \(2,\)"),
        (lambda: committee_error([[1.0, np.nan]], [1.0, 2.0]), "predictions must hold finite"),
        (lambda: committee_error([[1.0]], [1.0], weights=[1, 1]), "weights must hold 1 numbers"),
        (lambda: committee_error([[1.0]], [1.0], weights=[-1]), "weights must be at least zero"),
        (lambda: committee_error([[1.0]], [1.0]).at(0), "n_members must be an int >= 1"),
        (lambda: average_variance(1.5, 1.0, 3), "rho must be a number"),
        (lambda: average_variance(-0.6, 1.0, 3), r"rho must be at least -1 / \(n_members - 1\)"),
        (lambda: average_variance(0.3, -1.0, 3), "sigma2 must be"),
        (lambda: average_variance(0.3, 1.0, 0), "n_members must be an int >= 1"),
        (lambda: bootstrap_inclusion(0), "n must be an int >= 1"),
        (lambda: bootstrap_inclusion(5, -1), "m must be an int >= 0"),
        (lambda: bootstrap_inclusion(math.inf, 5), "m must be None for n = inf"),
        (lambda: margins([[1.0], [2.0]], [0, 1]), "shares must have a column for each class"),
        (lambda: margins([[1.0, -1.0]], [0], classes=[0, 1]), "shares must hold finite numbers"),
        (lambda: margins([[0.0, 0.0]], [0], classes=[0, 1]), "row 0 has none"),
        (lambda: margins([[1.0, 0.0]], [0], classes=[0]), "classes must name the 2 columns"),
        (lambda: margins([[1.0, 0.0]], [5], classes=[0, 1]), "y has the labels"),
        (lambda: margins([[1.0, 0.0]], [0, 1], classes=[0, 1]), "inconsistent numbers"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
