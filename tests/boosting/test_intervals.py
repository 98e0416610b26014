"""Intervals of boosting have the coverage they promise."""

from copy import copy

import numpy as np
import pytest

from committee import GradientBoostingRegressor, load, save
from committee.evaluation.conformal import residual_bounds, widening


def rows(n_rows, seed):
    """Noise grows with the third column."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(size=(n_rows, 3))
    noise = generator.normal(size=n_rows) * (0.2 + X[:, 2])
    return X, np.sin(6 * X[:, 0]) + X[:, 1] + noise


X, Y = rows(600, 1)
NEW, TRUTH = rows(5000, 2)


def share(model, coverage, new=NEW, truth=TRUTH):
    low, high = model.predict_interval(new, coverage).T
    return ((low <= truth) & (truth <= high)).mean()


def boosting(**params):
    return GradientBoostingRegressor(random_state=0, **params)


# Twice the standard deviation of the coverage of 600 held-out rows, and what fits to fewer rows
# make wider.
def is_near(found, coverage):
    return -2 * np.sqrt(coverage * (1 - coverage) / 600) < found - coverage < 0.05


@pytest.fixture(scope="module")
def plain():
    return boosting().fit(X, Y)


@pytest.fixture(scope="module")
def between():
    return boosting(loss="quantile", quantiles=[0.1, 0.5, 0.9], learning_rate=0.1).fit(X, Y)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_intervals_hold_as_many_targets_as_promised(coverage, plain, between):
    for model in (plain, between):
        assert is_near(share(model, coverage), coverage)


def test_quantiles_alone_hold_too_few_and_are_widened_where_noise_is(between):
    low, _, high = between.predict(NEW).T
    assert ((low <= TRUTH) & (high >= TRUTH)).mean() < 0.77
    bounds = between.predict_interval(NEW, 0.8)
    wider = (bounds - np.column_stack([low, high])) @ [-1, 1] / 2
    np.testing.assert_allclose(wider, wider[0])
    widths = bounds @ [-1, 1]
    assert widths[NEW[:, 2] > 0.8].mean() > 1.5 * widths[NEW[:, 2] < 0.2].mean()


def test_bounds_are_quantiles_of_the_errors_on_validation_rows():
    late, truth = X[400:], Y[400:]
    model = boosting(n_iter_no_change=5).set_params(n_estimators=300)
    model.fit(X[:400], Y[:400], eval_set=(late, truth))
    assert model.n_estimators_ < 300  # the errors are those after the best round
    below, above = residual_bounds(truth - model.predict(late), 0.8)
    predicted = model.predict(NEW)
    np.testing.assert_allclose(
        model.predict_interval(NEW, 0.8), np.column_stack([predicted + below, predicted + above])
    )
    pair = boosting(n_estimators=40, loss="quantile", quantiles=[0.2, 0.7])
    pair.fit(X[:400], Y[:400], eval_set=(late, truth))
    low, high = pair.predict(late).T
    width = widening(low, high, truth, 0.8)
    expected = pair.predict(NEW) + width * np.array([-1, 1])
    np.testing.assert_allclose(pair.predict_interval(NEW, 0.8), expected)


def test_errors_of_folds_are_those_of_their_models():
    """Of one held-out part: a fit without it, with as many rounds, is the model of its fold."""
    cells = X.round(1)  # a part of the rows has all values, and the same bins
    params = {"validation_part": "last", "validation_fraction": 0.3, "subsample": 1.0}
    model = boosting(**params).fit(cells, Y)
    alone = boosting(**model.chosen_params_).fit(cells[:420], Y[:420])
    errors = np.sort(Y[420:] - alone.predict(cells[420:]))
    np.testing.assert_allclose(np.sort(model._errors.sketches[0].sizes), errors, rtol=1e-9)


@pytest.mark.parametrize(("loss", "draw"), [("poisson", "poisson"), ("gamma", "exponential")])
def test_intervals_of_positive_numbers_grow_with_the_prediction(loss, draw):
    means, later = np.exp(3 * X[:, 0]), np.exp(3 * NEW[:, 0])
    model = boosting(loss=loss).fit(X, getattr(np.random.default_rng(3), draw)(means))
    truth = getattr(np.random.default_rng(4), draw)(later)
    assert is_near(share(model, 0.9, truth=truth), 0.9)
    for part in (later < 4, later > 8):
        assert share(model, 0.9, NEW[part], truth[part]) > 0.82
    bounds = model.predict_interval(NEW)
    assert bounds.min() >= 0
    assert bounds[later > 15].mean() > 3 * bounds[later < 2].mean()


def test_each_output_has_its_own_bounds():
    both = np.column_stack([Y, 10 * Y])
    model = boosting(learning_rate=0.1).fit(X, both)
    bounds = model.predict_interval(NEW, 0.8)
    assert bounds.shape == (5000, 2, 2)
    for output, truth in enumerate((TRUTH, 10 * TRUTH)):
        low, high = bounds[:, output].T
        assert is_near(((low <= truth) & (truth <= high)).mean(), 0.8)


def test_weights_are_repetitions():
    weights = np.random.default_rng(0).integers(0, 3, 200)
    repeated = np.repeat(np.arange(200), weights)
    params = {"subsample": 1.0, "max_features": None}
    weighted = boosting(**params).fit(X[:200], Y[:200], weights.astype(float))
    twice = boosting(**params).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(
        weighted.predict_interval(NEW[:50]), twice.predict_interval(NEW[:50]), rtol=1e-9
    )


def test_intervals_are_stored_and_need_held_out_rows(plain, tmp_path):
    model = copy(plain)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_interval(NEW), model.predict_interval(NEW))
    few = boosting(n_estimators=5, early_stopping=True).fit(X[:30], Y[:30])
    assert np.isinf(few.predict_interval(NEW[:1], 0.99)).all()
    for none in (boosting(n_estimators=5).fit(X, Y), model[:5]):
        with pytest.raises(ValueError, match=r"predict_interval needs rows .* eval_set"):
            none.predict_interval(NEW)
    warm = model.set_params(n_estimators=model.n_estimators_ + 1, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="predict_interval needs rows"):
        warm.predict_interval(NEW)  # the errors were those of the rounds before
    for coverage in (0, 1, 1.5, True):
        with pytest.raises((ValueError, TypeError), match="coverage must be"):
            loaded.predict_interval(NEW, coverage)
