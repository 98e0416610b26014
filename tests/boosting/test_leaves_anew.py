"""Leaves of the models of folds, estimated again on all rows, against a slow twin in NumPy."""

from dataclasses import replace

import numpy as np
import pytest

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee.boosting.fold_fits import FoldFits
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 4))
X[::9, 1] = np.nan
SIGNAL = X[:, 0] * X[:, 2] + 0.3 * RNG.normal(size=160)
TARGETS = {
    "numbers": 50 + SIGNAL,
    "two": (SIGNAL > 0).astype(int),
    "three": np.digitize(SIGNAL, [-0.5, 0.5]),
}
FOLDS = [(np.flatnonzero(np.arange(160) % 4 != k), np.flatnonzero(np.arange(160) % 4 == k))
         for k in range(3)]  # fmt: skip


def begun(kind, weights=None, **parameters):
    """Return fits to three folds after twenty rounds, and the target."""
    y = TARGETS[kind]
    labels = None if kind == "numbers" else np.unique(y)
    data = TrainingData(AnyTable(X), y, labels, weights, 1, 0)
    model = GradientBoostingRegressor if kind == "numbers" else GradientBoostingClassifier
    options = {"max_leaf_nodes": 6, "min_samples_leaf": 3, "random_state": 0} | parameters
    fits = FoldFits.begin(model(**options), data.shared, data.y, weights, FOLDS)
    fits.search.step(20)
    return fits, y


def derivatives(kind, y, scores):
    """Gradient and hessian of each column, written down from the losses."""
    if kind == "numbers":
        return [(scores[:, 0] - y, np.ones(len(y)))]
    if kind == "two":
        p = 1 / (1 + np.exp(-scores[:, 0]))
        return [(p - y, p * (1 - p))]
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    return [(p[:, k] - (y == k), p[:, k] * (1 - p[:, k])) for k in range(scores.shape[1])]


def twin(kind, model, y, weights, l1, l2):
    """The scores of all rows, leaf by leaf and row by row."""
    forests = model._sum.forests
    rate = model.learning_rate_
    scores = np.tile(model._start.constants, (len(y), 1)).astype(float)
    table = model._sum.read(X, "")
    for number in range(model.n_estimators_):
        pairs = derivatives(kind, y, scores)
        for column, (gradient, hessian) in enumerate(pairs):
            places = forests[column].tree(number).apply(table)
            for leaf in np.unique(places):
                rows = places == leaf
                slope = (weights * gradient)[rows].sum()
                curve = (weights * hessian)[rows].sum() + l2
                step = -np.sign(slope) * max(abs(slope) - l1, 0.0) / curve
                if (
                    kind != "numbers"
                ):  # no step is longer than log(1 + length), learning rate or not
                    step = np.sign(step) * min(abs(rate * step), np.log1p(abs(step))) / rate
                scores[rows, column] += rate * step
    return scores


@pytest.mark.parametrize("kind", list(TARGETS))
@pytest.mark.parametrize("is_weighted", [False, True])
def test_leaves_are_newton_steps_of_all_rows(kind, is_weighted):
    weights = RNG.integers(1, 4, 160).astype(float) if is_weighted else None
    l1, l2 = (0.3, 2.0) if kind == "two" else (0.0, 0.5)
    fits, y = begun(kind, weights, l1_regularization=l1, l2_regularization=l2)
    before = fits.models(fits.search.choice)
    after = fits.models_of_all_rows(fits.search.choice, [0, 2])
    for model, old in zip(after, (before[0], before[2]), strict=True):
        own = np.ones(160) if weights is None else weights
        expected = twin(kind, old, y, own, l1, l2)
        np.testing.assert_allclose(model._scores(X), expected, rtol=1e-9, atol=1e-9)
        assert not np.allclose(old._scores(X), expected)
        for new_forest, old_forest in zip(model._sum.forests, old._sum.forests, strict=True):
            for name, array in new_forest.arrays().items():  # the structure is the old one
                if "value" not in name:
                    assert np.array_equal(array, old_forest.arrays()[name]), name


@pytest.mark.parametrize("kind", list(TARGETS))
def test_of_its_own_rows_a_model_has_its_own_leaves(kind):
    fits, _ = begun(kind, subsample=1.0)
    own = replace(fits, rows=fits.folds[0].rows)
    (same,) = own.models_of_all_rows(fits.search.choice, [0])
    expected = fits.models(fits.search.choice)[0]
    np.testing.assert_allclose(same._scores(X), expected._scores(X), rtol=1e-10, atol=1e-12)


def test_threads_change_nothing():
    fits, _ = begun("three")
    alone = fits.models_of_all_rows(fits.search.choice, range(3))
    fits.search.n_workers = 3
    together = fits.models_of_all_rows(fits.search.choice, range(3))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one._scores(X), other._scores(X))


def test_leaves_that_are_no_plain_newton_steps_stay():
    for parameters in ({"loss": "absolute_error"}, {"monotonic_cst": [1, 0, 0, 0]}):
        fits, _ = begun("numbers", **parameters)
        (model,) = fits.models_of_all_rows(fits.search.choice, [0])
        assert np.array_equal(model._scores(X), fits.models(fits.search.choice)[0]._scores(X))
