"""What the lectures say about why ensembles work: majorities, means, bootstrap, weak and strong."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from team_tools import SpyRegressor

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    bootstrap_score,
)
from committee.theory import (
    average_variance,
    bias_variance_curve,
    boosting_bound,
    bootstrap_inclusion,
    committee_error,
    majority_error,
    majority_table,
    rounds_needed,
    wrong_members,
)

# --- majorities (000, 002, 004) -----------------------------------------------------------------


def test_21_classifiers_with_an_error_of_three_tenths():
    # 000, in R: dbinom(11, 21, 0.3) and pbinom(10, 21, 0.3).
    bars = wrong_members(21, 0.3)
    assert round(float(bars[11]), 8) == 0.01764978
    assert round(float(bars[:11].sum()), 7) == 0.9736101
    assert round(majority_error(21, 0.3), 8) == 0.02638994
    assert 1 - majority_error(21, 0.3) > 0.973


def test_b_classifiers_with_an_error_of_four_tenths_and_ties():
    # 002: the sum from B/2 + 1 is right for an even B only, and takes a tie as right.
    strict = sum(math.comb(20, k) * 0.4**k * 0.6 ** (20 - k) for k in range(11, 21))
    assert majority_error(20, 0.4, tie="right") == pytest.approx(strict)
    assert round(strict, 4) == 0.1275
    assert round(float(wrong_members(20, 0.4)[10]), 4) == 0.1171
    assert round(majority_error(20, 0.4, tie="wrong"), 4) == round(0.12752 + 0.11714, 4)
    assert round(majority_error(21, 0.4), 4) == 0.1744
    assert round(majority_error(101, 0.4), 4) == 0.0209


def test_the_error_goes_to_zero_below_one_half_and_to_one_above():
    for p, limit in ((0.49, 0.0), (0.5, 0.5), (0.51, 1.0)):
        assert majority_error(1_000_001, p) == pytest.approx(limit, abs=1e-9)
        assert majority_error(math.inf, p) == limit


def test_11_classifiers_with_an_error_of_a_quarter_and_the_number_of_ways():
    # 004 sums from k > ceil(n / 2), which leaves six wrong members out, and forgets C(n, k).
    right = sum(math.comb(11, k) * 0.25**k * 0.75 ** (11 - k) for k in range(6, 12))
    by_the_slide = sum(math.comb(11, k) * 0.25**k * 0.75 ** (11 - k) for k in range(7, 12))
    assert majority_error(11, 0.25) == pytest.approx(right)
    assert (round(right, 4), round(by_the_slide, 4)) == (0.0343, 0.0076)


def test_accuracy_and_diversity_decide_what_a_majority_is_worth():
    # 000: "depends on the accuracy and the diversity".
    assert majority_error(21, 0.2) < majority_error(21, 0.3)
    errors = [majority_error(21, 0.3, correlation=rho) for rho in (0.0, 0.1, 0.3, 1.0)]
    assert (np.diff(errors) > 0).all()
    assert errors[-1] == pytest.approx(0.3)  # a team of clones (003)


# --- means (002, 003) ---------------------------------------------------------------------------


def test_uncorrelated_errors_divide_the_error_of_a_committee_by_its_size(rng):
    # Columns of an orthogonal matrix: errors whose products are zero, to the last digits.
    errors = np.linalg.qr(rng.normal(size=(64, 8)))[0].T
    y = rng.normal(size=64)
    found = committee_error(y + errors, y)
    assert found.committee == pytest.approx(found.average / 8, rel=1e-9)
    assert found.correlation == pytest.approx(0.0, abs=1e-12)


def test_errors_of_trees_are_highly_correlated_and_a_committee_is_never_worse():
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(30, random_state=0).fit(X[:300], y[:300])
    each = np.array([tree.predict(X[300:]) for tree in forest.estimators_])
    found = committee_error(each, y[300:])
    mean = forest.predict(X[300:])
    assert found.committee == pytest.approx(np.mean((mean - y[300:]) ** 2), rel=1e-9)
    assert found.committee == pytest.approx(found.average - found.ambiguity)
    assert found.correlation > 0.3
    assert found.committee > 5 * found.independent


def test_the_variance_of_ten_and_of_a_hundred_trees():
    # 003, for rho 0.3 and a variance of one.
    assert round(average_variance(0.3, 1.0, 10), 3) == 0.37
    assert round(average_variance(0.3, 1.0, 100), 3) == 0.307
    assert average_variance(0.3, 1.0, math.inf) == 0.3


# --- bootstrap, pasting, patches, .632 (000, 002, 003, 004) -------------------------------------


@pytest.mark.parametrize(("n", "share"), [(10, 0.3487), (100, 0.3660), (1000, 0.3677)])
def test_the_share_of_rows_that_a_bootstrap_sample_leaves_out(n, share):
    assert round(1 - bootstrap_inclusion(n), 4) == share
    assert round(1 - bootstrap_inclusion(math.inf), 3) == 0.368


@pytest.mark.parametrize(
    ("options", "n_rows", "n_distinct", "n_features"),
    [
        ({}, 100, None, 8),  # bagging: as many rows, drawn with replacement
        ({"bootstrap": False, "max_samples": 0.4}, 40, 40, 8),  # pasting
        ({"max_samples": 30, "max_features": 0.5}, 30, None, 4),  # patches
        ({"bootstrap": False, "max_features": 3}, 100, 100, 3),  # subspaces
    ],
)
def test_sizes_of_bags_pastes_patches_and_subspaces(options, n_rows, n_distinct, n_features, rng):
    X, y = rng.normal(size=(100, 8)), rng.integers(0, 2, 100)
    model = BaggingClassifier(n_estimators=20, random_state=0, **options).fit(X, y)
    for rows, columns in zip(model.estimators_samples_, model.estimators_features_, strict=True):
        assert len(rows) == n_rows
        assert len(columns) == len(set(np.asarray(columns).tolist())) == n_features
    distinct = np.mean([len(np.unique(rows)) for rows in model.estimators_samples_])
    if n_distinct is not None:
        assert distinct == n_distinct
    else:
        assert distinct == pytest.approx(100 * bootstrap_inclusion(100, n_rows), abs=3)


def test_632_and_632_plus_weigh_the_error_of_rows_left_out(rng):
    # 000's averaged error of rows left out is pessimistic: a sample has 63.2 % of the rows.
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150], y[:150]
    found = bootstrap_score(KNeighborsClassifier(1), X, y, n_resamples=30, random_state=0)
    assert found.apparent_score == 1.0
    assert found.score_632 == pytest.approx(0.368 + 0.632 * found.oob_score)
    rate = (1 - found.oob_score) / (1 - found.no_information_score)
    assert found.overfitting_rate == pytest.approx(rate)
    weight = 0.632 / (1 - 0.368 * rate)
    assert found.weight == pytest.approx(weight)
    assert found.score_632_plus == pytest.approx((1 - weight) + weight * found.oob_score)
    assert found.oob_score < found.score_632_plus < found.score_632 < 1
    # Labels by lot: .632 promises two thirds, .632+ what there is.
    lots = bootstrap_score(
        KNeighborsClassifier(1), X, rng.permutation(y), n_resamples=30, random_state=0
    )
    assert lots.score_632_plus == pytest.approx(lots.no_information_score, abs=0.08)
    assert lots.score_632 > lots.score_632_plus + 0.1


def test_permutation_importance_over_its_spread(rng):
    # 003: the mean over the trees of what their error out of bag rises by, over its spread.
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + X[:, 1] / 2 > 0).astype(int)
    forest = RandomForestClassifier(40, random_state=0).fit(X, y)
    found = forest.permutation_importance(X, y)
    assert found.importances.shape == (3, 40)
    np.testing.assert_allclose(found.importances_mean, found.importances.mean(axis=1))
    spread = found.importances.std(axis=1)
    np.testing.assert_allclose(found.importances_std, spread)
    np.testing.assert_allclose(found.score, found.importances_mean / spread)
    assert found.importances_mean[0] > found.importances_mean[1] > 0.05
    # One tree by hand: its own rows out of bag, in the order of the table.
    tree, rows = forest.estimators_[0], forest.estimators_samples_[0]
    out = np.setdiff1d(np.arange(300), rows)
    wrong = np.mean(tree.predict(X[out]) != y[out])
    shuffled = []
    for _ in range(300):
        other = X[out].copy()
        other[:, 0] = rng.permutation(other[:, 0])
        shuffled.append(np.mean(tree.predict(other) != y[out]) - wrong)
    assert abs(found.importances[0, 0] - np.mean(shuffled)) < 4 * np.std(shuffled)


# --- bias and variance (001, 004) ---------------------------------------------------------------


def test_bagging_lowers_variance_and_leaves_the_bias_of_its_members():
    def draw(rng):
        return make_friedman1(100, random_state=int(rng.integers(2**31)))

    X, truth = make_friedman1(400, noise=0.0, random_state=1)
    tree = DecisionTreeRegressor()
    found = bias_variance_curve(
        {
            "tree": tree,
            "bagging": BaggingRegressor(tree, 30),
            "pasting": BaggingRegressor(tree, 30, bootstrap=False, max_samples=0.63),
            "half": BaggingRegressor(tree, 30, bootstrap=False, max_samples=0.2),
            "subspaces": BaggingRegressor(tree, 30, bootstrap=False, max_features=0.4),
        },
        draw,
        test=(X, truth),
        n_rounds=25,
        ddof=1,
        random_state=0,
    )
    assert found["bagging"].variance < 0.4 * found["tree"].variance
    # "Aggregation reduces both": the bias is that of trees on fewer rows, not below a tree's own.
    assert found["bagging"].bias > 0.9 * found["tree"].bias
    assert found["bagging"].bias == pytest.approx(found["pasting"].bias, rel=0.15)
    assert found["half"].bias > 1.3 * found["tree"].bias
    # "Sampling features trades more bias for a lower variance".
    assert found["subspaces"].bias > 1.5 * found["bagging"].bias
    assert found["subspaces"].variance < found["bagging"].variance


# --- weak and strong learners (001) -------------------------------------------------------------


def test_weak_learners_with_a_known_edge_are_boosted_to_a_strong_one():
    n_rows, n_voters = 400, 5
    edge = 1 / (2 * n_voters)
    X, y = majority_table(n_rows, n_voters, random_state=0)
    n_rounds = rounds_needed(edge, n_rows)
    assert n_rounds <= math.log(n_rows) / (2 * edge**2) + 1
    model = AdaBoostClassifier(n_estimators=n_rounds, criterion="error").fit(X, y)
    trace = model.trace_
    assert (0.5 - trace.error >= edge - 1e-12).all()  # no distribution takes the edge away
    guaranteed = boosting_bound(np.full(n_rounds, 0.5 - edge)).product
    assert (trace.train_error <= guaranteed[: len(model)]).all()
    assert guaranteed[-1] < 1 / n_rows
    assert trace.train_error[-1] == 0


def test_a_plain_majority_of_weak_learners_can_be_wrong_where_boosting_is_right(rng):
    # 001: "what if the majority of the weak learners are wrong?" Stumps of resampled rows agree on
    # one side of a band, and so most of them are wrong on the other.
    X = rng.uniform(-1, 1, (500, 1))
    y = (np.abs(X[:, 0]) < 0.4).astype(int)
    stump = DecisionTreeClassifier(max_depth=1)
    vote = BaggingClassifier(stump, 50, random_state=0).fit(X[:250], y[:250])
    boosted = AdaBoostClassifier(n_estimators=50).fit(X[:250], y[:250])
    assert vote.score(X[250:], y[250:]) < 0.8
    assert boosted.score(X[250:], y[250:]) > 0.97


# --- ways to train a blender (004) --------------------------------------------------------------


class RowId(SpyRegressor):
    """Answers whether a row was learned from; the table holds row numbers."""


@pytest.fixture
def numbered():
    return np.arange(24.0)[:, None], np.linspace(0, 1, 24)


def level_one(cv, numbered, **options):
    X, y = numbered
    stack = StackingRegressor([("spy", RowId())], LinearRegression(), cv=cv, **options)
    return stack.fit(X, y)


def test_hold_out_trains_the_blender_on_the_second_subset(numbered):
    X, y = numbered
    final = RowId()
    stack = StackingRegressor([("spy", RowId())], final, cv=0.25, refit=False, random_state=0)
    stack.fit(X, y)
    (member,) = stack.layers_[0][0].estimators
    assert member.n_rows_ == 18
    assert stack.final_estimator_.n_rows_ == 6


def test_leave_one_out_fits_a_member_for_each_row(numbered):
    X, y = numbered
    RowsSeen.counts.clear()
    StackingRegressor([("spy", RowsSeen())], LinearRegression(), cv="loo").fit(X, y)
    assert sorted(RowsSeen.counts) == [23] * 24 + [24]  # and one of all rows to predict with


class RowsSeen(SpyRegressor):
    counts: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        RowsSeen.counts.append(self.n_rows_)
        return self


def test_prefit_members_are_frozen_and_the_blender_learns_from_other_rows(numbered):
    X, y = numbered
    line = LinearRegression().fit(X[:12], y[:12])
    before = line.coef_.copy()
    stack = StackingRegressor([("line", line)], LinearRegression(), cv="prefit")
    stack.fit(X[12:], y[12:])
    assert stack.estimators_[0].coef_ == before
    np.testing.assert_allclose(stack.predict(X), y, atol=1e-9)
