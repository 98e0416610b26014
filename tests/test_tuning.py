"""The out-of-bag search for the number of features."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier as TheirForest

from committee.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from committee.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from committee.forests.tuning import default_grid, tune_max_features


def few_signals(rng, n_rows):
    """Two features of twenty tell everything, so that drawing few of them is bad."""
    X = rng.normal(size=(n_rows, 20))
    return X, 2 * X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=n_rows)


def test_the_search_finds_the_number_that_is_best_on_new_rows(rng):
    X, y = few_signals(rng, 400)
    X_new, y_new = few_signals(rng, 2000)
    result = tune_max_features(RandomForestRegressor(60, random_state=0), X, y)
    errors = {}
    for number in default_grid(20):
        model = RandomForestRegressor(60, max_features=number, random_state=0).fit(X, y)
        errors[number] = ((model.predict(X_new) - y_new) ** 2).mean()
    assert errors[result.max_features] < 1.05 * min(errors.values())
    assert errors[1] > 2 * min(errors.values())
    assert result.candidates[0].n_trees == 25  # far behind, and dropped at once
    losses = dict(zip(*map(np.ndarray.tolist, result.curve()), strict=True))
    for number in (9, 18, 20):
        assert losses[number] == pytest.approx(errors[number], rel=0.25)


def test_losses_are_those_of_the_full_forest_foretold():
    ratios = []
    for seed in range(8):
        X, y = few_signals(np.random.default_rng(seed), 200)
        forest = RandomForestRegressor(300, random_state=seed)
        result = tune_max_features(forest, X, y, [6], n_trees=30, max_trees=30, refit=False)
        assert (result.n_trees_grown, result.forest) == (30, None)
        forest.set_params(max_features=6, oob_score=True)
        full = ((forest.fit(X, y).oob_prediction_ - y) ** 2).mean()
        few = ((forest.set_params(n_estimators=30).fit(X, y).oob_prediction_ - y) ** 2).mean()
        ratios.append((result.candidates[0].loss / full, few / full))
    foretold, plain = np.mean(ratios, axis=0)
    assert foretold == pytest.approx(1.0, abs=0.08)
    assert plain > 1.12  # thirty trees alone, eleven of them out of bag


def test_all_candidates_draw_the_same_rows_with_the_same_seed(rng):
    X, y = few_signals(rng, 200)
    forests = [RandomForestRegressor(30, random_state=5), RandomForestRegressor(30)]
    first, second = tune_max_features(forests, X, y, [6]).candidates
    assert first == second


def test_the_returned_forest_is_the_one_a_fit_would_give(rng):
    X, y = few_signals(rng, 200)
    for options in ({}, {"oob_score": True}):
        forest = RandomForestRegressor(40, random_state=3, **options)
        result = tune_max_features(forest, X, y)
        again = RandomForestRegressor(
            40, random_state=3, max_features=result.max_features, **options
        ).fit(X, y)
        np.testing.assert_array_equal(result.forest.predict(X), again.predict(X))
        assert result.forest.get_params() == again.get_params()
        assert hasattr(result.forest, "oob_score_") == bool(options)
        assert not hasattr(forest, "_forest")


def test_forests_and_extra_trees_race_each_other(rng):
    X, y = make_classification(300, 12, n_informative=4, random_state=0)
    forests = [
        RandomForestClassifier(50, random_state=0),
        ExtraTreesClassifier(50, bootstrap=True, random_state=0),
    ]
    result = tune_max_features(forests, X, y, [2, "sqrt", 0.5, None])
    assert [each.max_features for each in result.candidates] == [2, 3, 6, 12] * 2
    assert {each.estimator for each in result.candidates[4:]} == {"ExtraTreesClassifier"}
    best = result.candidates[result.best]
    assert best.difference == 0
    assert best.is_as_good
    assert type(result.forest).__name__ == best.estimator
    assert result.cost == pytest.approx(result.n_trees_grown / 50)
    assert result.n_trees_grown <= 8 * 50
    text = repr(result)
    assert "best" in text
    assert len(text.splitlines()) == 9


def test_the_error_rate_can_be_asked_for(rng):
    X, y = make_classification(300, 8, random_state=0)
    forest = RandomForestClassifier(30, random_state=0)
    result = tune_max_features(forest, X, y, [3], loss="error", max_trees=30)
    plain = RandomForestClassifier(30, max_features=3, oob_score=True, random_state=0).fit(X, y)
    assert result.candidates[0].loss == pytest.approx(1 - plain.oob_score_)
    with pytest.raises(ValueError, match='loss="error" is for classifiers with one output'):
        tune_max_features(RandomForestRegressor(10), X, y, loss="error", n_trees=10)


def test_rows_of_weight_zero_do_not_count(rng):
    X, y = few_signals(rng, 200)
    weights = np.ones(200)
    weights[100:] = 0
    y[100:] = 1e6
    forest = RandomForestRegressor(30, random_state=0)
    result = tune_max_features(forest, X, y, [20], sample_weight=weights)
    assert result.candidates[0].loss < 10


def test_the_search_does_not_depend_on_threads(rng):
    X, y = few_signals(rng, 150)
    found = [
        tune_max_features(RandomForestRegressor(30, random_state=0, n_jobs=n), X, y).candidates
        for n in (1, 2)
    ]
    assert found[0] == found[1]


def test_default_numbers_go_up_by_two_around_the_square_root():
    assert default_grid(1) == [1]
    assert default_grid(4) == [1, 2, 4]
    assert default_grid(100) == [1, 2, 5, 10, 20, 40, 80, 100]
    assert 500 > len(default_grid(10_000)) > 10


@pytest.mark.parametrize(
    ("forest", "options", "error", "message"),
    [
        (ExtraTreesRegressor(), {}, ValueError, "ExtraTreesRegressor learns from all rows"),
        (TheirForest(), {"grid": [1]}, TypeError, "must be a forest of this library"),
        ([], {}, ValueError, "got none"),
        (RandomForestRegressor(), {"grid": []}, ValueError, "at least one value"),
        (RandomForestRegressor(), {"grid": [0]}, ValueError, "grid must be None"),
        (RandomForestRegressor(), {"n_trees": 1}, ValueError, "n_trees must be an int >= 10"),
        (
            [RandomForestRegressor(5), RandomForestRegressor(6)],
            {},
            ValueError,
            "same n_estimators",
        ),
    ],
)
def test_wrong_arguments_are_named(rng, forest, options, error, message):
    X, y = few_signals(rng, 30)
    with pytest.raises(error, match=message):
        tune_max_features(forest, X, y, **options)
