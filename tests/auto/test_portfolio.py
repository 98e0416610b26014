"""The candidates of a committee, and what they are counted to cost."""

import numpy as np
import pytest
from sklearn.base import clone

from committee.auto.budget import automatic_budget, forest_cost, linear_cost, round_cost
from committee.auto.portfolio import MATRIX, Size, portfolio
from committee.boosting.fit import BoostingModel

SIZES = {
    "numbers": Size(40, 3, 3, 0),
    "two classes": Size(40, 3, 3, 2),
    "three classes": Size(40, 3, 3, 3),
}


@pytest.mark.parametrize("task", SIZES)
def test_every_candidate_fits_and_predicts(task):
    X = np.random.default_rng(0).normal(size=(40, 3))
    n_classes = SIZES[task].n_classes
    y = np.arange(40) % n_classes if n_classes else X[:, 0]
    for candidate in portfolio(SIZES[task]):
        model = clone(candidate.estimator)
        if isinstance(model, BoostingModel):
            model.set_params(n_estimators=3)
        assert model.fit(X, y).predict(X).shape == (40,), candidate.name


def test_names_differ_and_the_first_candidate_can_stop_at_any_round():
    candidates = list(portfolio(Size(10_000, 20, 25, 2)))
    names = [candidate.name for candidate in candidates]
    assert len(set(names)) == len(names)
    assert isinstance(candidates[0].estimator, BoostingModel)
    assert [candidate.name for candidate in candidates if candidate.reads == MATRIX] == ["linear"]


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (Size(1_000, 20, 20, 2), Size(10_000, 20, 20, 2)),
        (Size(1_000, 20, 20, 2), Size(1_000, 200, 200, 2)),
        (Size(1_000, 20, 20, 3), Size(1_000, 20, 20, 6)),
        (Size(200_000, 20, 20, 0), Size(200_001, 20, 20, 0)),  # trees of more leaves
    ],
)
def test_larger_problems_cost_more(smaller, larger):
    pairs = zip(portfolio(smaller), portfolio(larger), strict=True)
    own = [(each, other) for each, other in pairs if isinstance(each.estimator, BoostingModel)]
    assert all(each.cost < other.cost for each, other in own)


def test_a_round_for_six_classes_costs_twice_one_for_three():
    assert round_cost(5_000, 30, 6, 16) == pytest.approx(2 * round_cost(5_000, 30, 3, 16))


def test_forests_cost_by_trees_and_those_of_numbers_more():
    of_classes = forest_cost(5_000, 10, 50)
    assert forest_cost(5_000, 10, 100) == pytest.approx(2 * of_classes)
    assert forest_cost(5_000, 10, 50, is_numbers=True) > of_classes


def test_linear_models_of_more_classes_cost_more():
    costs = [linear_cost(5_000, 40, n_classes) for n_classes in (0, 2, 3, 10)]
    assert costs == sorted(set(costs))


def test_the_whole_portfolio_fits_into_the_automatic_budget_of_a_common_table():
    """Eight folds, and as many rounds as boosting rarely exceeds on such a table."""
    size, folds, rounds = Size(10_000, 20, 25, 2), 7, 400
    units = sum(
        candidate.cost * folds * (rounds if isinstance(candidate.estimator, BoostingModel) else 1)
        for candidate in portfolio(size)
    )
    assert units < automatic_budget(10_000, 20, "good")
