"""Committees that predict within a limit of time, which is counted."""

import numpy as np
import pytest
from sklearn.datasets import make_regression

import committee
from committee import (
    CommitteeClassifier,
    CommitteeRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from committee.auto.latency import LatencyLimit, prediction_cost
from committee.auto.selection import Selection
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.evaluation.scored_target import ScoredTarget

X, Y = make_regression(300, 6, noise=30.0, random_state=0)


def test_costs_grow_with_trees_leaves_features_and_folds():
    costs = {
        (n, leaf): prediction_cost(
            RandomForestRegressor(n, min_samples_leaf=leaf, random_state=0).fit(X, Y), "features", 6
        )
        for n in (5, 10)
        for leaf in (1, 10)
    }
    assert costs[5, 10] < costs[5, 1] < costs[10, 1]
    boosting = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, Y)
    assert prediction_cost(boosting, "features", 6) < prediction_cost(boosting, "features", 60)
    assert prediction_cost(boosting, "features", 6) < prediction_cost(boosting, "matrix", 6)


def predictions(n_members=6, seed=0):
    """Members of which each knows the truth but for noise of its own."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(400, 1))
    predicted = truth + 0.5 * rng.normal(size=(n_members, 400, 1))
    return MemberPredictions(predicted, ScoredTarget(reals=truth), "neg_mean_squared_error")


def test_selections_stay_within_the_limit_and_use_what_it_allows():
    known, every = predictions(), np.arange(400)
    costs = np.array([1.0, 2.0, 3.0, 1.5, 2.5, 4.0])
    free = Selection.of(known, every)
    assert np.array_equal(LatencyLimit(costs, 100.0).select(known, every).weights, free.weights)
    scores = []
    for most in (14.0, 8.0, 5.0, 2.0, 1.0):
        found = LatencyLimit(costs, most).select(known, every)
        assert costs[found.weights > 0].sum() <= most
        assert found.weights.sum() == pytest.approx(1.0)
        scores.append(((found.combine(known.predicted) - known.target.table) ** 2).mean())
    assert scores == sorted(scores)  # less time, larger errors: members are equally good


def test_without_a_member_that_is_fast_enough_the_fastest_is_chosen():
    found = LatencyLimit(np.array([3.0, 2.0, 5.0]), 1.0).select(predictions(3), np.arange(400))
    assert found.weights.tolist() == [0.0, 1.0, 0.0]


def test_a_committee_keeps_its_limit(tmp_path):
    free = CommitteeRegressor(budget=0.2, random_state=0).fit(X, Y**2)
    assert free.latency_ == pytest.approx(
        sum(
            prediction_cost(member, reads, 6)
            for member, reads in zip(free.members_, free._reads, strict=True)
        )
    )
    most = free.latency_ / 3
    model = CommitteeRegressor(budget=0.2, random_state=0, max_latency=most).fit(X, Y**2)
    assert 0 < model.latency_ <= most
    assert len(model.leaderboard_) == len(free.leaderboard_)
    assert model.score_.naive <= free.score_.naive
    committee.save(model, tmp_path / "model.committee")
    assert committee.load(tmp_path / "model.committee").latency_ == model.latency_


def test_a_limit_that_nothing_meets_warns():
    with pytest.warns(UserWarning, match="max_latency=1e-09"):
        model = CommitteeClassifier(budget=0.02, random_state=0, max_latency=1e-9).fit(X, Y > 0)
    assert len(model.members_) == 1


@pytest.mark.parametrize("value", [0, -1.0, "fast", np.inf])
def test_wrong_limits_are_named(value):
    with pytest.raises((TypeError, ValueError), match="max_latency"):
        CommitteeRegressor(max_latency=value).fit(X, Y)
