"""What the guides to voting and stacking claim, beyond what their code prints."""

import warnings
from math import comb

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import committee
from committee.combining.stacking.classifier import StackingClassifier
from committee.combining.stacking.leakage import compare
from committee.combining.stacking.regressor import StackingRegressor
from committee.forests.random_forest import RandomForestClassifier, RandomForestRegressor


def noisy(rng, n_rows):
    X = rng.normal(size=(n_rows, 5))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=n_rows)


def checked(members, X, y, **options):
    kind = StackingRegressor if y.dtype.kind == "f" else StackingClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stack = kind(members, cv="prefit", leak_check=True, random_state=0, **options).fit(X, y)
    return stack.leak_report_


def test_the_majority_of_eleven_errs_in_three_of_a_hundred_cases():
    terms = [comb(11, k) * 0.25**k * 0.75 ** (11 - k) for k in range(12)]
    assert sum(terms[6:]) == pytest.approx(0.0343, abs=5e-5)
    assert sum(terms[7:]) == pytest.approx(0.0076, abs=5e-5)  # the slide's bound


@pytest.mark.parametrize(
    ("promised", "is_suspect"), [(0.25, True), (0.35, True), (0.6, False), (0.95, False)]
)
def test_fitted_members_are_suspects_if_they_look_like_copies_that_saw_the_rows(
    promised, is_suspect
):
    found, seen = np.linspace(0.9, 1.1, 50), np.full(50, 0.2)
    own = np.full(50, promised)
    report = compare(["m"], [own, own], [found, found], found, (None, None), 0.0, [seen, seen])
    assert report.leaked == is_suspect
    report = compare(["m"], [own, own], [found, found], found, (None, None), 0.0)
    assert report.leaked == (promised < 0.9)


def test_a_forest_is_not_blamed_for_having_learnt_from_more_rows(rng):
    X, y = noisy(rng, 3000)
    forest = RandomForestRegressor(30, random_state=0)
    report = checked([("forest", forest.fit(X[600:], y[600:]))], X[:600], y[:600])
    assert report.promised[0] < report.found[0]
    assert not report.leaked
    report = checked([("forest", forest.fit(X[:600], y[:600]))], X[:600], y[:600])
    assert report.leaked
    np.testing.assert_allclose(report.seen[0], report.promised[0], rtol=0.5)


def test_fitted_members_that_saw_the_rows_are_found_in_stacks_of_classes_and_layers(rng):
    X, y = noisy(rng, 400)
    labels = np.where(y > 0, "yes", "no")
    seen = RandomForestClassifier(30, random_state=0).fit(X, labels)
    report = checked([("forest", seen)], X, labels, passthrough=True)
    assert report.suspects == ("forest", "stack")
    first = RandomForestRegressor(30, random_state=0).fit(X, y)
    predictions = first.predict(X).reshape(-1, 1)
    second = RandomForestRegressor(30, random_state=0).fit(predictions, y)
    report = checked([("first", first)], X, y, layers=[[("second", second)]])
    assert report.leaked
    assert report.seen.shape == (2,)


def test_weights_reach_the_copies_of_fitted_members(rng):
    X, y = noisy(rng, 300)
    weights = rng.integers(0, 3, 300).astype(float)
    forest = RandomForestRegressor(20, random_state=0).fit(X, y, sample_weight=weights)
    stack = StackingRegressor(
        [("forest", forest), ("line", LinearRegression().fit(X, y))],
        cv="prefit",
        leak_check=True,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stack.fit(X, y, sample_weight=weights)
    assert "forest" in stack.leak_report_.suspects


def test_losses_of_the_same_rows_are_compared_row_by_row():
    hard = np.array([0.0, 100.0, 0.0, 100.0])
    paired = compare(["m"], [hard, hard], [hard + 1, hard + 1], hard, (None, None), 0.0, [hard] * 2)
    apart = compare(["m"], [hard, hard], [hard + 1, hard + 1], hard, (None, None), 0.0)
    assert paired.error[0] == pytest.approx(0, abs=1e-12)
    assert apart.error[0] > 10
    assert apart.seen is None


def test_a_report_of_fitted_members_is_saved_with_the_stack(rng, tmp_path):
    X, y = noisy(rng, 200)
    fitted = [("forest", RandomForestRegressor(10, random_state=0).fit(X, y))]
    stack = StackingRegressor(fitted, cv="prefit", leak_check=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stack.fit(X, y)
    committee.save(stack, tmp_path / "stack.committee")
    report = committee.load(tmp_path / "stack.committee").leak_report_
    np.testing.assert_array_equal(report.seen, stack.leak_report_.seen)
    assert report.message == stack.leak_report_.message


def test_a_report_tells_of_identical_rows_even_where_losses_look_fine(rng):
    X, y = noisy(rng, 100)
    twice = rng.permutation(np.tile(np.arange(100), 2))
    stack = StackingRegressor([("line", LinearRegression())], leak_check=True, random_state=0)
    message = stack.fit(X[twice], y[twice]).leak_report_.message
    assert message.startswith("no sign of leakage")
    assert "% of the tested rows have an identical row" in message
    alone = stack.fit(X, y).leak_report_.message
    assert alone == "no sign of leakage: level-one data promise what new rows hold"
