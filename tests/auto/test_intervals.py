"""Intervals and sets of classes of a committee: their coverage, and what they are made of."""

import numpy as np
import pytest

import committee
from committee import CommitteeClassifier, CommitteeRegressor
from committee.evaluation.conformal import conformal_quantile
from committee.evaluation.error_sketch import ErrorSketch


@pytest.mark.parametrize("n_rows", [1, 5, 30, 400])
@pytest.mark.parametrize("coverage", [0.05, 0.5, 0.8, 0.9, 0.95])
def test_limits_are_those_of_the_sorted_errors(n_rows, coverage):
    errors = np.random.default_rng(n_rows).normal(size=n_rows).round(1)
    sketch = ErrorSketch.of(errors)
    assert sketch.upper(coverage) == conformal_quantile(errors, coverage)
    assert sketch.lower(coverage) == -conformal_quantile(-errors, coverage)


def test_a_row_of_weight_two_is_the_row_twice():
    rng = np.random.default_rng(0)
    errors, weights, groups = rng.normal(size=50), rng.integers(1, 4, 50), rng.integers(0, 3, 50)
    rows = np.repeat(np.arange(50), weights)
    weighted = ErrorSketch.of(errors, weights.astype(float), groups, 3)
    repeated = ErrorSketch.of(errors[rows], None, groups[rows], 3)
    for name in ("sizes", "below", "upto", "ends"):
        assert np.array_equal(getattr(weighted, name), getattr(repeated, name))


def test_other_weights_count_by_their_shares():
    """Ten rows of which one has half of the weight: the median is that row."""
    errors = np.arange(10.0)
    weights = np.where(errors == 7, 9.0, 1.0) * 0.001
    assert ErrorSketch.of(errors, weights).upper(0.6) == 7.0


def test_sketches_of_many_rows_are_short_and_round_away_from_the_middle():
    errors = np.random.default_rng(0).normal(size=50_000)
    sketch = ErrorSketch.of(errors)
    assert len(sketch.sizes) <= 1000
    for coverage in (0.5, 0.8, 0.9, 0.95, 0.999):
        upper, lower = sketch.upper(coverage), sketch.lower(coverage)
        for limit, share in ((upper, (errors <= upper).mean()), (lower, (errors >= lower).mean())):
            assert np.isfinite(limit)
            assert coverage <= share < coverage + 0.003


def test_groups_have_limits_of_their_own_and_empty_ones_none():
    sketch = ErrorSketch.of(np.arange(20.0), None, np.repeat([0, 2], 10), 3)
    assert sketch.upper(0.9, 0) == 9.0
    assert sketch.upper(0.9, 2) == 19.0
    assert sketch.upper(0.1, 1) == np.inf


def noisy(n_rows, seed):
    """Numbers whose noise grows with the second column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] + np.exp(X[:, 1]) * rng.normal(size=n_rows)


def labelled(n_rows, seed):
    """Three classes, the last one rare and hard."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    y = (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)
    return X, np.where(X[:, 1] + rng.normal(size=n_rows) > 2.2, 2, y)


N_FITS, N_TRAIN, N_NEW = 10, 300, 1500


def tolerance(share):
    """Four standard errors of the mean coverage: the limit rests on N_TRAIN rows, the count on
    N_NEW, in each of N_FITS fits."""
    return 4 * np.sqrt(share * (1 - share) * (1 / N_TRAIN + 1 / N_NEW) / N_FITS)


@pytest.fixture(scope="module")
def regressors():
    models = []
    for seed in range(N_FITS):
        X, y = noisy(N_TRAIN, seed)
        models.append(CommitteeRegressor(budget=0.02, random_state=seed).fit(X, y))
    return models


@pytest.fixture(scope="module")
def classifiers():
    models = []
    for seed in range(N_FITS):
        X, y = labelled(N_TRAIN, seed)
        models.append(CommitteeClassifier(budget=0.02, random_state=seed).fit(X, y))
    return models


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_hold_their_share_of_new_rows(regressors, coverage):
    shares = []
    for seed, model in enumerate(regressors):
        X, y = noisy(N_NEW, 100 + seed)
        low, high = model.predict_interval(X, coverage).T
        assert (low <= high).all()
        shares.append(((low <= y) & (y <= high)).mean())
    assert np.mean(shares) == pytest.approx(coverage, abs=tolerance(coverage))


def test_intervals_are_wide_where_the_noise_is(regressors):
    quiet, loud = np.array([[0.0, -2.0, 0.0]]), np.array([[0.0, 2.0, 0.0]])
    widths = [
        [np.diff(model.predict_interval(X)).item() for X in (quiet, loud)] for model in regressors
    ]
    assert np.median(np.divide(*np.array(widths).T[::-1])) > 4  # the truth is e^4 = 55


@pytest.mark.parametrize("coverage", [0.6, 0.9])
def test_sets_hold_the_true_class_of_their_share_of_new_rows(classifiers, coverage):
    shares, filled = [], []
    for seed, model in enumerate(classifiers):
        X, y = labelled(N_NEW, 100 + seed)
        rows = np.arange(N_NEW)
        shares.append(model.predict_set(X, coverage, allow_empty=True)[rows, y].mean())
        sets = model.predict_set(X, coverage)
        assert sets.any(axis=1).all()
        filled.append(sets[rows, y].mean())
    assert np.mean(shares) == pytest.approx(coverage, abs=tolerance(coverage))
    assert np.mean(filled) >= np.mean(shares)


def test_sets_by_class_hold_rare_classes_as_often(classifiers):
    plain, by_class = [], []
    for seed, model in enumerate(classifiers):
        X, y = labelled(N_NEW, 100 + seed)
        X, y = X[y == 2], y[y == 2]
        plain.append(model.predict_set(X, 0.8)[:, 2].mean())
        by_class.append(model.predict_set(X, 0.8, by_class=True)[:, 2].mean())
    n_rare = 0.06 * N_TRAIN  # about so many training rows are of the rare class
    error = 4 * np.sqrt(0.8 * 0.2 / (n_rare * N_FITS))
    # At least the coverage, and one rank more where ranks are coarse.
    assert 0.8 - error < np.mean(by_class) < 0.8 + error + 1 / n_rare
    assert np.mean(plain) < np.mean(by_class) - 0.1


def test_too_few_rows_give_infinite_bounds_and_full_sets():
    X = np.arange(8.0)[:, np.newaxis]
    model = CommitteeRegressor(budget=0.02, random_state=0).fit(X, X[:, 0] ** 2)
    assert np.isinf(model.predict_interval(X, 0.9)).all()
    assert np.isfinite(model.predict_interval(X, 0.8)).all()
    model = CommitteeClassifier(budget=0.02, random_state=0).fit(X, [0, 1] * 4)
    assert model.predict_set(X, 0.9).all()


@pytest.mark.parametrize("coverage", [0.0, 1.0, "much", None])
def test_wrong_coverages_are_named(regressors, classifiers, coverage):
    for ask in (regressors[0].predict_interval, classifiers[0].predict_set):
        with pytest.raises((TypeError, ValueError), match="coverage"):
            ask(np.zeros((1, 3)), coverage)


def test_saved_models_give_the_same_intervals_and_sets(regressors, classifiers, tmp_path):
    X = noisy(50, 5)[0]
    for model, method in ((regressors[0], "predict_interval"), (classifiers[0], "predict_set")):
        committee.save(model, tmp_path / "model.committee")
        loaded = committee.load(tmp_path / "model.committee")
        assert np.array_equal(getattr(loaded, method)(X), getattr(model, method)(X))


def test_no_numbers_about_single_training_rows_are_kept(regressors):
    forest = regressors[0]._interval_rule.difficulty.forest
    lengths = [len(value) for value in vars(forest).values() if isinstance(value, np.ndarray)]
    assert N_TRAIN not in lengths
    assert not any(name.startswith("oob_") and name.endswith("_") for name in vars(forest))


def test_intervals_do_not_depend_on_the_number_of_threads():
    X, y = noisy(200, 0)
    fits = [CommitteeRegressor(budget=0.02, random_state=0, n_jobs=k).fit(X, y) for k in (1, 2)]
    assert np.array_equal(fits[0].predict_interval(X), fits[1].predict_interval(X))
