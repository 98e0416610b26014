"""Losses, the start, constraints, weak learners and answers of gradient boosting, beside peers."""

import numpy as np
import pandas as pd
import pytest
from boosting_tools import BOTH, LOSSES, assert_same, target_of
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss, mean_absolute_error
from sklearn.tree import DecisionTreeRegressor

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee.losses import AbsoluteError, Exponential, Huber, Loss, Poisson, Quantile

# --- losses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_falls_from_round_to_round_and_ends_far_below_the_constant(loss, table):
    X, _, y = table
    model = GradientBoostingRegressor(loss=loss, n_estimators=60).fit(X, y)
    curve = model.train_score_
    assert (np.diff(curve) <= 1e-12).all()
    assert curve[-1] < 0.6 * curve[0]
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_losses_of_classes_fall_and_probabilities_add_up(loss, table):
    X, classes, _ = table
    y = classes if loss == "log_loss" else classes > 0
    model = GradientBoostingClassifier(loss=loss, n_estimators=40).fit(X, y)
    assert (np.diff(model.train_score_) < 0).all()
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    if loss == "log_loss":
        assert model.train_score_[-1] == pytest.approx(log_loss(y, p))


def test_a_name_and_its_object_are_the_same_loss(table):
    X, classes, y = table
    pairs = [
        ({"loss": "absolute_error"}, {"loss": AbsoluteError()}),
        ({"loss": "huber", "alpha": 0.8}, {"loss": Huber(quantile=0.8)}),
        ({"loss": "quantile", "alpha": 0.3}, {"loss": Quantile(0.3)}),
        ({"loss": "quantile", "quantiles": (0.1, 0.9)}, {"loss": Quantile((0.1, 0.9))}),
        ({"loss": "poisson"}, {"loss": Poisson()}),
    ]
    for by_name, by_object in pairs:
        a = GradientBoostingRegressor(n_estimators=5, **by_name).fit(X, y)
        b = GradientBoostingRegressor(n_estimators=5, **by_object).fit(X, y)
        assert_same(a, b, X)
    a = GradientBoostingClassifier(n_estimators=5, loss="exponential").fit(X, classes > 0)
    b = GradientBoostingClassifier(n_estimators=5, loss=Exponential()).fit(X, classes > 0)
    assert_same(a, b, X)


def test_leaves_of_the_absolute_error_are_medians(table):
    X, _, y = table
    model = GradientBoostingRegressor(
        loss="absolute_error", n_estimators=1, learning_rate=1.0, max_splits=3
    ).fit(X, y)
    leaves = model.apply(X)[:, 0]
    for leaf in np.unique(leaves):
        assert model.predict(X)[leaves == leaf] == pytest.approx(np.median(y[leaves == leaf]))


def test_several_quantiles_hold_their_shares_and_never_cross(table, rng):
    X, _, y = table
    shares = [0.9, 0.1, 0.5]
    model = GradientBoostingRegressor(loss="quantile", quantiles=shares, min_samples_leaf=30)
    predicted = model.fit(X, y).predict(X)
    assert predicted.shape == (400, 3)
    assert (predicted[:, 1] <= predicted[:, 2]).all()
    assert (predicted[:, 2] <= predicted[:, 0]).all()
    for column, share in enumerate(shares):
        assert np.mean(y <= predicted[:, column]) == pytest.approx(share, abs=0.06)


def test_outputs_are_boosted_as_if_alone(table, rng):
    X, _, y = table
    both = np.column_stack([y, rng.normal(size=400)])
    model = GradientBoostingRegressor(n_estimators=7).fit(X, both)
    for column in range(2):
        alone = GradientBoostingRegressor(n_estimators=7).fit(X, both[:, column])
        np.testing.assert_array_equal(model.predict(X)[:, column], alone.predict(X))
    assert model.estimators_.shape == (7, 2)


class Cauchy(Loss):
    """A loss of one's own, from the docstring of `Loss`."""

    def row_losses(self, y, scores):
        return np.log1p((y - scores) ** 2) / 2

    def gradients(self, y, scores):
        residual = y - scores
        bound = 1 + residual**2
        return -residual / bound, 1 / bound


def test_a_loss_of_ones_own_ignores_gross_outliers(table):
    X, _, y = table
    spoilt = y.copy()
    spoilt[::10] = 1e6
    model = GradientBoostingRegressor(loss=Cauchy(), n_estimators=100).fit(X, spoilt)
    clean = np.ones(400, bool)
    clean[::10] = False
    assert mean_absolute_error(y[clean], model.predict(X)[clean]) < 0.5
    assert (np.diff(model.train_score_) <= 0).all()


class Broken(Loss):
    def __init__(self, gradient, hessian):
        self.pair = gradient, hessian

    def row_losses(self, y, scores):
        return (y - scores) ** 2

    def gradients(self, y, scores):
        return tuple(np.full_like(scores, each) for each in self.pair)


def test_mistakes_in_a_loss_of_ones_own_are_named(table):
    X, _, y = table
    for pair, message in (
        ((np.nan, 1.0), "has a derivative of nan in row 0"),
        ((1.0, -1.0), "has a negative hessian"),
    ):
        with pytest.raises(ValueError, match=message):
            GradientBoostingRegressor(loss=Broken(*pair), init="zero").fit(X, y)

    class Flat(Cauchy):
        def gradients(self, y, scores):
            return np.zeros(3), np.ones(3)

    with pytest.raises(
        ValueError, match=r"must return the gradient, real numbers of shape \(400,\)"
    ):
        GradientBoostingRegressor(loss=Flat(), init="zero").fit(X, y)


# --- start ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss", ["absolute_error", "huber", "quantile", "poisson", "squared_error", Cauchy()]
)
def test_init_mean_predicts_the_mean_whatever_the_loss(loss, table):
    X, _, y = table
    y = y if isinstance(loss, Cauchy) else np.exp(y) + 1e6
    weights = np.arange(len(y)) % 3
    model = GradientBoostingRegressor(
        loss=loss, init="mean", n_estimators=1, learning_rate=0.0
    ).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(X), np.average(y, weights=weights), rtol=1e-12)
    np.testing.assert_allclose(model.init_.predict(X), np.average(y, weights=weights), rtol=1e-12)
    twice = np.column_stack([y, 3 * y])
    if loss != "poisson":
        predicted = model.fit(X, twice, sample_weight=weights).predict(X[:1])
        np.testing.assert_allclose(predicted[0], np.average(twice, axis=0, weights=weights))


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_init_mean_predicts_the_shares_of_the_classes(loss, table):
    X, classes, _ = table
    labels = classes > 0 if loss == "exponential" else classes
    model = GradientBoostingClassifier(loss=loss, init="mean", n_estimators=1, learning_rate=0.0)
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    predicted = model.fit(X, labels).predict_proba(X[:1])
    np.testing.assert_allclose(predicted[0], shares, rtol=1e-9)


def test_the_start_is_the_minimum_zero_or_another_model(table):
    X, classes, y = table
    one = GradientBoostingRegressor(n_estimators=1, learning_rate=0.0)
    np.testing.assert_allclose(one.fit(X, y).predict(X), y.mean())
    np.testing.assert_allclose(one.set_params(init="zero").fit(X, y).predict(X), 0.0)
    np.testing.assert_allclose(one.set_params(init="mean").fit(X, y).predict(X), y.mean())
    numbers = X[["a", "c"]]
    line = LinearRegression().fit(numbers, y)
    one.set_params(init=LinearRegression()).fit(numbers, y)
    np.testing.assert_allclose(one.predict(numbers), line.predict(numbers))
    np.testing.assert_allclose(one.init_.coef_, line.coef_)
    assert GradientBoostingRegressor(init="zero").fit(X, y).init_ == "zero"
    logistic = LogisticRegression().fit(numbers, classes)
    for labels, loss in (
        (classes, "log_loss"),
        (classes > 0, "log_loss"),
        (classes > 0, "exponential"),
    ):
        model = GradientBoostingClassifier(
            init=LogisticRegression(), n_estimators=1, learning_rate=0.0, loss=loss
        ).fit(numbers, labels)
        logistic.fit(numbers, labels)
        np.testing.assert_allclose(
            model.predict_proba(numbers), logistic.predict_proba(numbers), atol=1e-6
        )


def test_scores_of_an_init_model_are_on_the_scale_of_the_link(table):
    X, _, y = table
    numbers = X[["a", "c"]]
    model = GradientBoostingRegressor(
        init=DecisionTreeRegressor(max_depth=2), loss="poisson", n_estimators=1, learning_rate=0.0
    ).fit(numbers, y)
    tree = DecisionTreeRegressor(max_depth=2).fit(numbers, y)
    np.testing.assert_allclose(model.predict(numbers), tree.predict(numbers))


# --- constraints ----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson"])
def test_monotone_constraints_hold_for_every_loss(loss, rng):
    X = rng.uniform(-1, 1, size=(500, 3))
    y = np.exp(X[:, 0] - X[:, 1] + rng.normal(size=500))
    model = GradientBoostingRegressor(
        loss=loss, monotonic_cst=[1, -1, 0], min_samples_leaf=5, learning_rate=0.3
    ).fit(X, y)
    grid = np.linspace(-1, 1, 50)
    for row in X[:20]:
        for feature, direction in ((0, 1), (1, -1)):
            points = np.tile(row, (50, 1))
            points[:, feature] = grid
            assert (direction * np.diff(model.predict(points)) >= -1e-12).all()


def test_interactions_that_are_not_allowed_do_not_occur(rng):
    X = rng.normal(size=(500, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for constraint in ("no_interactions", [["a"], ["b"]], [[0], [1]]):
        model = GradientBoostingRegressor(interaction_cst=constraint).fit(frame, y)
        for tree in model.estimators_.ravel():
            used = set(tree.tree_.feature[tree.tree_.feature >= 0])
            assert len(used) <= 1
    free = GradientBoostingRegressor(interaction_cst="pairwise").fit(frame, y)
    assert free.score(frame, y) > model.score(frame, y) + 0.1


def test_limits_of_trees_are_kept(table):
    X, _, y = table
    for params, largest in (
        ({"max_splits": 3}, 4),
        ({"max_depth": 2}, 4),
        ({"max_leaf_nodes": 5}, 5),
    ):
        model = GradientBoostingRegressor(n_estimators=3, min_samples_leaf=1, **params).fit(X, y)
        leaves = [tree.get_n_leaves() for tree in model.estimators_.ravel()]
        assert max(leaves) == largest
    model = GradientBoostingRegressor(n_estimators=3, min_samples_split=200).fit(X, y)
    for tree in model.estimators_.ravel():
        inner = tree.tree_.children_left >= 0
        assert (tree.tree_.n_node_samples[inner] >= 200).all()
    wide = GradientBoostingRegressor(n_estimators=3, min_weight_fraction_leaf=0.3).fit(X, y)
    for tree in wide.estimators_.ravel():
        leaf = tree.tree_.children_left < 0
        assert (tree.tree_.n_node_samples[leaf] >= 120).all()


def test_pruning_and_a_minimal_decrease_make_smaller_trees(table):
    X, _, y = table
    trees = {"n_estimators": 5, "max_leaf_nodes": 31, "min_samples_leaf": 20}

    def n_leaves(**params):
        model = GradientBoostingRegressor(**trees, **params).fit(X, y)
        stages = list(model.staged_predict(X))
        np.testing.assert_allclose(
            model.train_score_, [np.mean((y - p) ** 2) / 2 for p in stages], rtol=1e-9
        )
        return sum(tree.get_n_leaves() for tree in model.estimators_.ravel())

    whole = n_leaves()
    assert n_leaves(ccp_alpha=0.01) < whole
    assert n_leaves(min_impurity_decrease=0.01) < whole
    with pytest.warns(UserWarning, match="no tree could be split"):
        assert n_leaves(ccp_alpha=10.0) == 5


# --- weak learners of one's own -------------------------------------------------------------------


def test_boosting_a_stump_of_scikit_learn_is_residual_fitting(table):
    X, _, y = table
    numbers = X[["a", "c"]]
    model = GradientBoostingRegressor(
        estimator=DecisionTreeRegressor(max_depth=1), n_estimators=10, learning_rate=0.5
    ).fit(numbers, y)
    scores = np.full(400, y.mean())
    for _ in range(10):
        scores += 0.5 * DecisionTreeRegressor(max_depth=1).fit(numbers, y - scores).predict(numbers)
    np.testing.assert_allclose(model.predict(numbers), scores)
    assert model.estimators_.shape == (10, 1)
    np.testing.assert_array_equal(list(model.staged_predict(numbers))[-1], model.predict(numbers))


def test_any_regressor_can_be_boosted(table, rng):
    X, classes, y = table
    numbers = X[["a", "c"]]
    model = GradientBoostingClassifier(
        estimator=Ridge(), n_estimators=200, subsample=0.8, n_iter_no_change=5, random_state=0
    ).fit(numbers, classes, rng.uniform(1, 2, 400))
    assert model.score(numbers, classes) > 0.55
    assert model.predict_proba(numbers).shape == (400, 3)
    assert np.isfinite(model.oob_improvement_).all()
    for answer in ("feature_importances_",):
        assert not hasattr(model, answer)
    with pytest.raises(AttributeError, match="estimator must be None"):
        model.predict_contributions(numbers)
    warm = GradientBoostingRegressor(estimator=Ridge(), n_estimators=2, warm_start=True)
    warm.fit(numbers, y).set_params(n_estimators=5).fit(numbers, y)
    whole = GradientBoostingRegressor(estimator=Ridge(), n_estimators=5).fit(numbers, y)
    np.testing.assert_allclose(warm.predict(numbers), whole.predict(numbers))


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_contributions_add_up_to_scores(cls, table):
    X, y = table[0], target_of(cls, table)
    model = cls(n_estimators=10).fit(X, y)
    parts = model.predict_contributions(X)
    scores = model.decision_function(X) if cls is GradientBoostingClassifier else model.predict(X)
    np.testing.assert_allclose(parts.sum(axis=1), scores)
    assert parts.shape[:2] == (400, 5)
    if cls is GradientBoostingRegressor:
        np.testing.assert_allclose(parts[:, -1], model.predict(X).mean(), rtol=1e-6)


def test_importances_find_the_features_that_matter(table):
    X, _, y = table
    model = GradientBoostingRegressor(n_estimators=30).fit(X, y)
    for kind in ("gain", "cover", "split"):
        shares = model.importances(kind)
        assert shares.sum() == pytest.approx(1)
        assert (shares >= 0).all()
        assert shares.argmin() == 2  # "c" is noise
    np.testing.assert_array_equal(model.feature_importances_, model.importances())
    with pytest.raises(ValueError, match="kind must be"):
        model.importances("weight")
    first = model.estimators_[0, 0]
    total = sum(
        tree.tree_.compute_feature_importances(normalize=False) for tree in model.estimators_[:, 0]
    )
    np.testing.assert_allclose(total / total.sum(), model.feature_importances_)
    assert first.predict(X).shape == (400,)


def test_the_sum_of_the_trees_is_the_model(table):
    X, _, y = table
    model = GradientBoostingRegressor(n_estimators=5).fit(X, y)
    total = model.init_.predict(X) + sum(tree.predict(X) for tree in model.estimators_[:, 0])
    np.testing.assert_allclose(model.predict(X), total)
    leaves = model.apply(X)
    np.testing.assert_array_equal(leaves[:, 2], model.estimators_[2, 0].apply(X))


def test_the_log_is_a_table(table):
    X, _, y = table
    model = GradientBoostingRegressor(n_estimators=25, subsample=0.5).fit(
        X[:300], y[:300], eval_set=(X[300:], y[300:])
    )
    frame = model.training_log_.to_frame()
    assert frame.index.tolist() == list(range(1, 26))
    expected = ["train_loss", "validation_loss", "oob_loss", "oob_improvement", "seconds"]
    assert frame.columns.tolist() == expected
    assert (np.diff(frame["seconds"]) >= 0).all()
    assert repr(model.training_log_).splitlines()[0].split() == ["round", *expected]


# --- peers ----------------------------------------------------------------------------------------


def test_squared_error_is_as_scikit_learns(rng):
    X, y = load_diabetes(return_X_y=True)
    params = {"learning_rate": 0.1, "min_samples_leaf": 20, "max_leaf_nodes": 8}
    ours = GradientBoostingRegressor(n_estimators=30, l2_regularization=0.0, **params).fit(X, y)
    theirs = HistGradientBoostingRegressor(max_iter=30, early_stopping=False, **params).fit(X, y)
    # Thresholds lie elsewhere between bins, and near ties fall otherwise; on training rows of
    # few distinct values the trees are nearly always the same.
    assert np.corrcoef(ours.predict(X), theirs.predict(X))[0, 1] > 0.999
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.005)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_log_loss_is_as_scikit_learns(load):
    X, y = load(return_X_y=True)
    params = {"learning_rate": 0.1, "min_samples_leaf": 20, "l2_regularization": 1.0}
    params["max_leaf_nodes"] = 8
    ours = GradientBoostingClassifier(n_estimators=30, **params).fit(X, y)
    theirs = HistGradientBoostingClassifier(max_iter=30, early_stopping=False, **params).fit(X, y)
    ours_loss = log_loss(y, ours.predict_proba(X))
    assert ours_loss == pytest.approx(log_loss(y, theirs.predict_proba(X)), rel=0.05)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_exact_trees_are_as_those_of_scikit_learns_gradient_boosting(loss):
    import sklearn.ensemble

    X, y = load_diabetes(return_X_y=True)
    params = {"n_estimators": 20, "max_depth": 3, "min_samples_leaf": 10, "loss": loss}
    ours = GradientBoostingRegressor(
        split_finding="exact", l2_regularization=0.0, learning_rate=0.1, **params
    ).fit(X, y)
    theirs = sklearn.ensemble.GradientBoostingRegressor(**params).fit(X, y)
    # Splits are by second-order gain there and here; ties of gradients of -q and 1 - q are many.
    assert np.corrcoef(ours.predict(X), theirs.predict(X))[0, 1] > 0.97
