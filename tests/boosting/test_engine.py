"""Gradient boosting on the engine: settings that reach it, threads, large tables, constraints."""

import numpy as np
import pytest
from reference_booster import ReferenceBooster

from committee import GradientBoostingClassifier, GradientBoostingRegressor, _core
from committee.losses import get_loss
from committee.losses.objective import fast_loss


@pytest.fixture(scope="module")
def large():
    """Rows enough for several threads: histograms of small nodes are made by one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 8))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + rng.normal(size=200_000)
    return X, y


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("cls", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_threads_do_not_change_a_bit_of_a_large_fit(cls, subsample, large):
    X, y = large
    y = (y > 0).astype(int) if cls is GradientBoostingClassifier else y
    fits = [
        cls(n_estimators=3, subsample=subsample, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, 3)
    ]
    for column, forest in enumerate(fits[0]._sum.forests):
        arrays = forest.arrays()
        for other in fits[1:]:
            found = other._sum.forests[column].arrays()
            for name, expected in arrays.items():
                np.testing.assert_array_equal(found[name], expected)
    for other in fits[1:]:
        np.testing.assert_array_equal(other.train_score_, fits[0].train_score_)
        np.testing.assert_array_equal(other.predict(X[:1000]), fits[0].predict(X[:1000]))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_rows", [4095, 4096, 4097, 20_001])
def test_derivatives_of_many_rows_are_those_of_few(n_classes, n_rows, rng):
    loss = get_loss("log_loss", n_classes=n_classes)
    codes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    scores = np.asfortranarray(rng.normal(size=(n_rows, loss.n_scores)) * 5)
    own_scores = scores[:, 0] if n_classes == 2 else scores
    gradients, hessians = (each.reshape(n_rows, -1) for each in loss.gradients(codes, own_scores))
    one = fast_loss(loss, codes, 1).gradients(scores)
    one = [(gradient.copy(), hessian.copy()) for gradient, hessian in one]
    losses = fast_loss(loss, codes, 1).row_losses(scores, np.empty(n_rows))
    np.testing.assert_allclose(losses, loss.row_losses(codes, own_scores), rtol=1e-12)
    for column, (gradient, hessian) in enumerate(one):
        np.testing.assert_allclose(gradient, gradients[:, column], rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(hessian, hessians[:, column], rtol=1e-9, atol=1e-15)
    for n_threads in (2, 3):
        fast = fast_loss(loss, codes, n_threads)
        np.testing.assert_array_equal(fast.row_losses(scores, np.empty(n_rows)), losses)
        for ours, theirs in zip(fast.gradients(scores), one, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_instruction_sets_do_not_change_a_bit_of_a_fit_of_many_rows(rng):
    X = rng.normal(size=(10_000, 4)).round(2)
    y = X[:, 0] * X[:, 1] + rng.normal(size=10_000)
    answers = []
    try:
        for level in ("scalar", "auto"):
            _core.set_simd_level(level)
            number = GradientBoostingRegressor(n_estimators=5).fit(X, y)
            label = GradientBoostingClassifier(n_estimators=5).fit(X, y > 0)
            answers.append((number.predict(X), label.decision_function(X)))
    finally:
        _core.set_simd_level("auto")
    for plain, vector in zip(*answers, strict=True):
        np.testing.assert_array_equal(plain, vector)


@pytest.mark.parametrize("split_finding", ["hist", "exact"])
@pytest.mark.parametrize(
    "params",
    [
        {"l1_regularization": 5.0},
        {"l2_regularization": 7.0},
        {"growth": "level", "max_leaf_nodes": 6},
        {"growth": "depth", "max_leaf_nodes": 6},
        {"growth": "best", "max_leaf_nodes": 6},
        {"min_child_weight": 9.5},
        {"min_impurity_decrease": 0.05},
        {"max_depth": 2, "max_leaf_nodes": None},
        {"min_samples_leaf": 7},
    ],
    ids=str,
)
def test_parameters_reach_the_engine(params, split_finding, rng):
    X = np.round(rng.normal(size=(60, 3)) * 3)
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=60)
    plain = {"min_samples_leaf": 1, "l2_regularization": 0.0, "max_leaf_nodes": 8}
    model = GradientBoostingRegressor(
        n_estimators=3, learning_rate=0.5, split_finding=split_finding, **(plain | params)
    ).fit(X, y)
    names = {
        "l1_regularization": "l1",
        "l2_regularization": "l2",
        "min_samples_leaf": "min_rows_leaf",
    }
    settings = {names.get(name, name): value for name, value in (plain | params).items()}
    # A decrease is of the mean squared error, a gain of the sum of the halves.
    settings["min_gain"] = settings.pop("min_impurity_decrease", 0.0) * 60 / 2
    settings["max_leaf_nodes"] = settings["max_leaf_nodes"] or 0
    naive = ReferenceBooster(X, settings)
    scores = np.full(60, y.mean())
    for _ in range(3):
        naive.add_to(naive.grow(scores - y, learning_rate=0.5), scores)
    np.testing.assert_allclose(model.predict(X), scores, rtol=1e-9)


@pytest.mark.parametrize("ccp_alpha", [1e-3, 0.05])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_pruned_trees_keep_constraints_and_importances_are_not_negative(loss, ccp_alpha, rng):
    X = rng.uniform(-1, 1, size=(400, 3))
    y = np.exp(X[:, 0] - X[:, 1] + rng.normal(size=400))
    model = GradientBoostingRegressor(
        loss=loss,
        monotonic_cst=[1, -1, 0],
        ccp_alpha=ccp_alpha,
        min_samples_leaf=3,
        max_leaf_nodes=31,
        learning_rate=0.5,
        n_estimators=20,
    ).fit(X, y)
    free = GradientBoostingRegressor(**model.get_params()).set_params(ccp_alpha=0.0).fit(X, y)
    n_nodes = [sum(each._sum.forests[0].node_counts()) for each in (model, free)]
    assert n_nodes[0] < n_nodes[1]
    assert (model.feature_importances_ >= 0).all()
    for decreases in (model, free):
        assert (decreases._sum.forests[0].impurity_decreases() >= -1e-12).all()
    grid = np.linspace(-1, 1, 50)
    for row in X[:20]:
        for feature, direction in ((0, 1), (1, -1)):
            points = np.tile(row, (50, 1))
            points[:, feature] = grid
            assert (direction * np.diff(model.predict(points)) >= -1e-12).all()
