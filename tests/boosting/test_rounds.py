"""Rounds of boosting: what is validated and remembered, where they start, what they draw."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    mean_absolute_error,
    mean_pinball_loss,
    mean_squared_error,
    roc_auc_score,
)
from sklearn.tree import DecisionTreeRegressor

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee.boosting.tree_learner import shorter_steps
from committee.losses import BinaryLogLoss, MultinomialLogLoss, SquaredError
from committee.losses.loss import Loss
from committee.losses.objective import fast_loss


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(300, 4))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=300) / 2


def quantile_model(**params):
    return GradientBoostingRegressor(
        loss="quantile", quantiles=[0.1, 0.9], n_estimators=3, **params
    )


# --- validation ---------------------------------------------------------------------------------


def test_scores_of_several_quantiles_are_refused(numbers):
    X, y = numbers
    with pytest.raises(ValueError, match="scoring must be None with Quantile"):
        quantile_model(early_stopping=True, scoring="neg_mean_absolute_error").fit(X, y)
    model = quantile_model(early_stopping=True).fit(X, y)
    with pytest.raises(ValueError, match="score is R2 of one prediction a row"):
        model.score(X, y)
    assert mean_pinball_loss(y, model.predict(X)[:, 1], alpha=0.9) < 0.5
    single = GradientBoostingRegressor(loss="quantile", quantiles=[0.5], n_estimators=3)
    assert single.fit(X, y).score(X, y) > 0


def test_a_score_that_is_not_a_number_is_named_with_its_round(numbers):
    X, y = numbers
    rounds = []

    def sometimes(y_true, y_pred):
        rounds.append(0)
        return np.nan if len(rounds) == 4 else 1.0

    model = GradientBoostingRegressor(early_stopping=True, scoring=lambda y, p: np.nan)
    with pytest.raises(ValueError, match=r"scoring=.*gave NaN for the validation rows in round 1"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="gave NaN for the validation rows in round 4"):
        model.set_params(scoring=sometimes).fit(X, y)


class Undefined(SquaredError):
    def row_losses(self, y, scores):
        losses = super().row_losses(y, scores)
        return np.where(np.abs(scores) > 0.01, np.nan, losses)


def test_a_loss_that_is_not_a_number_is_named(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(loss=Undefined(), init="zero", early_stopping=True)
    with pytest.raises(ValueError, match=r"the loss Undefined.* gave NaN .* in round 1"):
        model.fit(X, y)


def test_targets_of_validation_rows_must_suit_the_loss(numbers):
    X, y = numbers
    y, wrong = np.abs(y), np.abs(y)
    wrong[7] = -1.0
    model = GradientBoostingRegressor(loss="poisson", n_estimators=3)
    with pytest.raises(ValueError, match='eval_set: loss "poisson" needs a target with all y'):
        model.fit(X, y, eval_set=(X, wrong))
    present = np.ones(300)
    present[7] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, eval_set=(X, wrong, present))
    short = np.delete(np.arange(300), 7)
    alone = GradientBoostingRegressor(loss="poisson", n_estimators=3)
    alone.fit(X, y, eval_set=(X[short], y[short]))
    np.testing.assert_allclose(
        model.training_log_.validation_loss, alone.training_log_.validation_loss
    )


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie", "squared_error", "huber"])
def test_training_rows_of_weight_zero_may_hold_what_the_loss_cannot_take(loss, numbers):
    X, y = numbers
    y = np.abs(y) + 0.1
    weights = np.ones(300)
    weights[:20] = 0.0
    spoilt = y.copy()
    spoilt[:20] = -1.0
    model = GradientBoostingRegressor(loss=loss, n_estimators=3)
    without = model.fit(X[20:], y[20:]).predict(X)
    np.testing.assert_allclose(model.fit(X, spoilt, weights).predict(X), without, rtol=1e-9)


def test_a_metric_without_weights_does_not_see_rows_of_weight_zero(numbers):
    X, y = numbers
    weights = (np.arange(300) >= 100).astype(float)
    seen = []

    def metric(y_true, y_pred):
        seen.append(len(y_true))
        return -np.mean(np.abs(y_true - y_pred))

    GradientBoostingRegressor(n_estimators=2, scoring=metric).fit(X, y, eval_set=(X, y, weights))
    assert set(seen) == {200}


# --- warm start ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_a_warm_start_remembers_the_best_round(scoring, rng):
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)  # noise: the first rounds are best
    options = {"learning_rate": 0.5, "scoring": scoring, "random_state": 0}
    new = (rng.normal(size=(200, 3)), rng.normal(size=200))
    whole = GradientBoostingRegressor(n_estimators=12, **options).fit(X, y, eval_set=new)
    parts = GradientBoostingRegressor(n_estimators=6, warm_start=True, **options)
    parts.fit(X, y, eval_set=new).set_params(n_estimators=12).fit(X, y, eval_set=new)
    assert parts.best_iteration_ == whole.best_iteration_ <= 6
    # Early stopping then goes back to it.
    parts.set_params(n_estimators=30, n_iter_no_change=3).fit(X, y, eval_set=new)
    assert parts.n_estimators_ == whole.best_iteration_
    last = list(whole.staged_predict(X))[parts.n_estimators_ - 1]
    np.testing.assert_array_equal(parts.predict(X), last)


def test_a_warm_start_after_early_stopping_does_not_get_worse(numbers):
    X, y = numbers
    new = (X[200:], y[200:])
    model = GradientBoostingRegressor(
        n_estimators=200, n_iter_no_change=5, learning_rate=0.5, warm_start=True
    ).fit(X[:200], y[:200], eval_set=new)
    n_rounds, loss = model.n_estimators_, model.training_log_.validation_loss.min()
    model.set_params(n_estimators=n_rounds + 5).fit(X[:200], y[:200], eval_set=new)
    assert model.n_estimators_ == n_rounds
    assert model.training_log_.validation_loss[n_rounds - 1] == loss
    # Other validation rows have another history.
    model.set_params(n_estimators=n_rounds + 6).fit(X[:200], y[:200], eval_set=(X, y))
    assert model.n_estimators_ >= n_rounds


def test_the_tolerance_of_a_warm_start_is_of_the_first_start(numbers):
    X, y = numbers
    options = {"n_iter_no_change": 3, "tol": 0.02, "warm_start": True, "learning_rate": 0.1}
    whole = GradientBoostingRegressor(n_estimators=200, **options).fit(X, y, eval_set=(X, y))
    parts = GradientBoostingRegressor(n_estimators=5, **options).fit(X, y, eval_set=(X, y))
    parts.set_params(n_estimators=200).fit(X, y, eval_set=(X, y))
    assert parts.n_estimators_ == whole.n_estimators_ < 200


def test_a_warm_start_needs_the_same_rows_loss_and_init(numbers):
    X, y = numbers
    first = GradientBoostingRegressor(n_estimators=2, warm_start=True, random_state=0)
    for params, other in (
        ({"loss": "huber", "alpha": 0.9}, {"alpha": 0.5}),
        ({"loss": "tweedie", "power": 1.5}, {"power": 1.2}),
        ({"loss": "quantile", "quantiles": [0.1, 0.9]}, {"quantiles": [0.2, 0.8]}),
        ({"init": "zero"}, {"init": None}),
        ({"init": "mean"}, {"init": None}),
        ({"init": Ridge(1.0)}, {"init": Ridge(2.0)}),
        ({"init": Ridge(1.0)}, {"init": LinearRegression()}),
    ):
        model = GradientBoostingRegressor(**first.get_params()).set_params(**params)
        model.fit(X, np.abs(y)).set_params(n_estimators=4).fit(X, np.abs(y))
        with pytest.raises(ValueError, match="have changed"):
            model.set_params(n_estimators=6, **other).fit(X, np.abs(y))
    first.fit(X, y)
    with pytest.raises(ValueError, match="have changed"):
        first.set_params(n_estimators=4).fit(X[:, ::-1], y)
    own = GradientBoostingRegressor(
        n_estimators=2, warm_start=True, estimator=DecisionTreeRegressor(max_depth=2)
    ).fit(X, y)
    with pytest.raises(ValueError, match="have changed"):
        own.set_params(n_estimators=4).fit(X[::-1], y)


def test_outputs_of_a_warm_start_keep_their_own_huber_delta(numbers):
    X, y = numbers
    y = np.column_stack([y, 100 * y**2])
    whole = GradientBoostingRegressor(loss="huber", n_estimators=6).fit(X, y)
    parts = GradientBoostingRegressor(loss="huber", n_estimators=3, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(parts.train_score_, whole.train_score_)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


# --- init ---------------------------------------------------------------------------------------


def test_an_init_classifier_that_misses_a_class_is_placed_by_its_labels(rng):
    X, y = rng.normal(size=(60, 2)), np.array(["a", "b", "c"])[np.arange(60) % 3]
    weights = (y != "a").astype(float)  # rows of weight zero are absent, also for the start
    model = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=1, learning_rate=0.0)
    shares = model.fit(X, y, weights).predict_proba(X)
    assert model.init_.classes_.tolist() == ["b", "c"]
    np.testing.assert_allclose(shares[:, 1:], model.init_.predict_proba(X), atol=1e-9)
    assert (shares[:, 0] < 1e-9).all()
    # One class is left: the second of two.
    two = np.where(y == "a", "a", "b")
    model.set_params(init=OnlyB()).fit(X, two)
    assert (model.predict_proba(X)[:, 1] > 0.99).all()


class OnlyB(DummyClassifier):
    """Has seen class b alone."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X[y == "b"], y[y == "b"])


def test_columns_are_matched_by_name_for_an_init_model_too(rng):
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = frame["a"] - 2 * frame["c"] + rng.normal(size=80) / 10
    other = frame[["c", "a", "b"]]
    for init in (LinearRegression(), DecisionTreeRegressor(max_depth=3)):
        model = GradientBoostingRegressor(init=init, n_estimators=3).fit(frame, y)
        expected = model.predict(frame)
        np.testing.assert_array_equal(model.predict(other), expected)
        *_, last = model.staged_predict(other)
        np.testing.assert_array_equal(last, expected)
        parts = model.predict_contributions(other)
        np.testing.assert_allclose(parts.sum(axis=1), expected)
        model.set_params(n_estimators=4).fit(frame, y, eval_set=(other, y))
        np.testing.assert_allclose(
            model.training_log_.validation_loss, model.training_log_.train_loss
        )


def test_an_init_model_does_not_see_rows_of_weight_zero(numbers):
    X, y = numbers
    weights = (np.arange(300) >= 50).astype(float)
    model = GradientBoostingRegressor(init=NoWeights(), n_estimators=2)
    expected = model.fit(X[50:], y[50:]).predict(X)
    np.testing.assert_allclose(model.fit(X, y, weights).predict(X), expected)
    with pytest.raises(ValueError, match="does not support sample weights"):
        model.fit(X, y, weights + 1)


class NoWeights(LinearRegression):
    def fit(self, X, y):
        return super().fit(X, y)


def test_init_is_what_the_fit_has_used(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=2).fit(X, y)
    model.set_params(init="zero")
    np.testing.assert_allclose(model.init_.predict(X[:1]), y.mean())
    model.fit(X, y).set_params(init=None)
    assert model.init_ == "zero"


# --- parameters ---------------------------------------------------------------------------------


def test_draws_of_features_are_draws_of_draws(rng):
    X, y = rng.normal(size=(500, 16)), rng.normal(size=500)
    model = GradientBoostingRegressor(
        features_per_tree=0.5, features_per_level=0.5, max_features=0.5, max_depth=1
    ).fit(X, y)
    assert model.max_features_ == 2
    sizes = [
        len(np.unique(tree.tree_.feature[tree.tree_.feature >= 0]))
        for tree in GradientBoostingRegressor(
            features_per_tree=0.25, features_per_level=0.25, n_estimators=30
        )
        .fit(X, y)
        .estimators_[:, 0]
    ]
    assert max(sizes) <= 4
    # Four of the tree's features, one of them at each level: every level has one feature alone.
    model = GradientBoostingRegressor(
        features_per_tree=0.25, features_per_level=0.25, n_estimators=10, growth="level"
    ).fit(X, y)
    for tree in model.estimators_[:, 0]:
        nodes, level = tree.tree_, [0]
        while level:
            used = {int(nodes.feature[node]) for node in level if nodes.feature[node] >= 0}
            assert len(used) <= 1
            level = [
                int(child)
                for node in level
                for child in (nodes.children_left[node], nodes.children_right[node])
                if child >= 0
            ]


def test_class_weights_that_are_not_whole_have_a_mean_of_one(numbers, rng):
    X, y = numbers
    labels = (y > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=5)
    ratio = model.set_params(class_weight={0: 0.001, 1: 0.003}).fit(X, labels).predict_proba(X)
    by_rows = GradientBoostingClassifier(n_estimators=5)
    by_rows.fit(X, labels, np.where(labels == 1, 0.003, 0.001))
    np.testing.assert_allclose(ratio, by_rows.predict_proba(X), rtol=1e-9)
    # A row of weight two is the row twice still.
    counts = rng.integers(1, 4, 300)
    model.set_params(class_weight={0: 0.5, 1: 1.7}, min_samples_leaf=1)
    weighted = model.fit(X, labels, counts).predict_proba(X)
    repeated = model.fit(np.repeat(X, counts, axis=0), np.repeat(labels, counts)).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


def test_a_fraction_of_rows_is_of_the_rows_of_a_round(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(
        min_samples_leaf=0.25, subsample=0.5, max_leaf_nodes=None, n_estimators=5, random_state=0
    ).fit(X, y)
    counts = [tree.tree_.n_node_samples for tree in model.estimators_[:, 0]]
    assert all(38 <= each.min() < 75 and len(each) > 1 for each in counts)


def test_constraints_need_trees(numbers):
    X, y = numbers
    for name, value in (("monotonic_cst", [1, 0, 0, 0]), ("interaction_cst", "no_interactions")):
        model = GradientBoostingRegressor(estimator=Ridge(), **{name: value})
        with pytest.raises(ValueError, match=f"{name} must be None with estimator=Ridge"):
            model.fit(X, y)


# --- rounds -------------------------------------------------------------------------------------


def test_the_fast_squared_error_has_the_bits_of_the_loss(rng):
    y = np.concatenate([rng.normal(size=5000) * 10.0 ** rng.integers(-9, 9, 5000), [1e308, -1e308]])
    scores = np.asfortranarray(np.append(rng.normal(size=5000), [-1e308, 1e308])[:, np.newaxis])
    loss = SquaredError()
    fast = fast_loss(loss, y, 1)
    ((gradient, hessian),) = fast.gradients(scores)
    assert hessian is None
    np.testing.assert_array_equal(gradient, loss.gradients(y, scores[:, 0])[0])
    losses = fast.row_losses(scores, np.empty(len(y)))
    np.testing.assert_array_equal(losses, loss.row_losses(y, scores[:, 0]))


class Plain(SquaredError):
    """The same loss without the fast path."""


@pytest.mark.parametrize("params", [{}, {"subsample": 0.5}, {"early_stopping": True}])
def test_the_fast_squared_error_makes_the_same_model(params, numbers):
    X, y = numbers
    options = {"n_estimators": 10, "random_state": 0, **params}
    fast = GradientBoostingRegressor(**options).fit(X, y)
    slow = GradientBoostingRegressor(loss=Plain(), **options).fit(X, y)
    np.testing.assert_array_equal(fast.predict(X), slow.predict(X))
    # The engine adds losses up in another order.
    np.testing.assert_allclose(fast.train_score_, slow.train_score_, rtol=1e-14)


class PlainBinary(BinaryLogLoss):
    """The same loss without the fast path."""


class PlainClasses(MultinomialLogLoss):
    """The same loss without the fast path."""


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"subsample": 0.5},
        {"early_stopping": True},
        {"scoring": "accuracy", "early_stopping": True},
        {"ccp_alpha": 1e-3},
        {"init": "zero"},
        {"estimator": Ridge()},
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighs", [False, True])
def test_derivatives_that_were_found_with_the_loss_are_those_of_the_scores(
    params, n_classes, weighs, numbers, rng
):
    X, y = numbers
    labels = np.digitize(y, np.quantile(y, [0.4, 0.8][: n_classes - 1]))
    weight = rng.integers(0, 3, len(y)) if weighs else None
    plain = PlainBinary() if n_classes == 2 else PlainClasses(3)
    watched = {} if "early_stopping" in params else {"eval_set": (X[:50], labels[:50])}
    fits = []
    for loss in ("log_loss", plain):
        model = GradientBoostingClassifier(
            loss=loss, n_estimators=6, random_state=0, warm_start=True, **params
        )
        model.fit(X, labels, weight, **watched)
        model.set_params(n_estimators=9, callbacks=lambda n, log: n == 8 and 1 / 0)
        with pytest.raises(ZeroDivisionError):  # an interrupted fit leaves nothing behind
            model.fit(X, labels, weight, **watched)
        model.set_params(callbacks=None, n_estimators=12).fit(X, labels, weight, **watched)
        fits.append(model)
    fast, slow = fits
    np.testing.assert_allclose(fast._scores(X), slow._scores(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fast.train_score_, slow.train_score_, rtol=1e-9)


@pytest.mark.parametrize("loss", [SquaredError(), BinaryLogLoss(), MultinomialLogLoss(3)])
def test_derivatives_found_with_the_loss_are_given_out_once(loss, rng):
    codes = rng.integers(0, 2, 50)
    fast = fast_loss(loss, codes, 1)
    first, second = (np.asfortranarray(rng.normal(size=(50, loss.n_scores))) for _ in range(2))
    fast.mean_loss(first, None)
    for scores in (first, second):
        given = scores[:, 0] if loss.n_scores == 1 else scores
        slopes = loss.gradients(codes, given)[0].reshape(scores.shape)
        found = np.column_stack([slope for slope, _ in fast.gradients(scores)])
        np.testing.assert_allclose(found, slopes, rtol=1e-12, atol=1e-14)


def test_logs_of_callbacks_do_not_change_later(numbers):
    X, y = numbers
    logs = []
    model = GradientBoostingRegressor(
        n_estimators=150, callbacks=lambda n_rounds, log: logs.append(log)
    ).fit(X, y)
    assert [len(log) for log in logs] == list(range(1, 151))
    for log in logs[::30]:
        np.testing.assert_array_equal(log.train_loss, model.train_score_[: len(log)])


def test_stages_are_the_bits_of_shorter_models(rng):
    X = rng.normal(size=(500, 3))
    labels = rng.integers(0, 3, 500)
    model = GradientBoostingClassifier(n_estimators=40).fit(X, labels)
    for number, stage in enumerate(model.staged_decision_function(X), 1):
        if number in (1, 16, 17, 33, 40):
            short = GradientBoostingClassifier(n_estimators=number).fit(X, labels)
            np.testing.assert_array_equal(stage, short.decision_function(X))


def test_steps_of_log_loss_are_never_longer_than_is_safe(rng):
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    model = GradientBoostingClassifier(
        learning_rate=1.0, n_estimators=60, min_samples_leaf=1, l2_regularization=0.0
    ).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert (np.diff(model.train_score_) <= 1e-12).all()
    assert shorter_steps(np.array([0.1]), np.array([0.2])) is None


class Runaway(Loss):
    """Steps far beyond the range of float64 after some rounds."""

    def row_losses(self, y, scores):
        return np.zeros(len(y))

    def gradients(self, y, scores):
        return np.where(y > 0, -1e300, 1e300), np.full(len(y), 1e-5)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile", "squared_error"])
def test_steps_that_leave_the_range_are_named(loss, numbers):
    X, y = numbers
    model = GradientBoostingRegressor(loss=loss, learning_rate=1e308)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="scores have left the range of float64: lower"):
            model.fit(X, 1e3 * y)


def test_scores_that_leave_the_range_are_named(numbers):
    X, y = numbers
    for rate in (1e3, 1e4):
        with pytest.raises(ValueError, match="scores have left the range of float64"):
            GradientBoostingRegressor(
                loss=Runaway(),
                init="zero",
                n_estimators=100,
                learning_rate=rate,
                l2_regularization=0.0,
            ).fit(X, y)


class Middle(Loss):
    """Absolute errors, with medians written for one leaf."""

    refits_leaves = True

    def row_losses(self, y, scores):
        return np.abs(y - scores)

    def gradients(self, y, scores):
        return np.sign(scores - y), np.ones(len(y))

    def initial_scores(self, y, weights):
        return np.array([np.median(y if weights is None else y[weights > 0])])

    def leaf_value(self, y, scores, weights, column=0):
        return np.median(y - scores)


class Endless(Middle):
    def leaf_value(self, y, scores, weights, column=0):
        return np.inf if len(y) < 100 else super(Middle, self).leaf_value(y, scores, weights)


@pytest.mark.parametrize("params", [{}, {"subsample": 0.5}, {"early_stopping": True}])
def test_a_leaf_refit_of_ones_own_is_written_for_one_leaf(params, numbers):
    X, y = numbers
    options = {"n_estimators": 10, "random_state": 0, **params}
    own = GradientBoostingRegressor(loss=Middle(), **options).fit(X, y)
    ours = GradientBoostingRegressor(loss="absolute_error", **options).fit(X, y)
    np.testing.assert_allclose(own.predict(X), ours.predict(X), rtol=1e-12)
    with pytest.raises(ValueError, match="must have a finite leaf_value; got inf for a leaf of"):
        GradientBoostingRegressor(loss=Endless(), **options).fit(X, y)
    assert Loss.leaf_value(Middle(), y, np.zeros(300), None) == pytest.approx(np.sign(y).mean())


# --- what users expect --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (mean_squared_error, "neg_mean_squared_error"),
        (mean_absolute_error, "neg_mean_absolute_error"),
    ],
)
def test_a_metric_of_scikit_learn_is_its_scorer(metric, name, numbers):
    X, y = numbers
    fits = [
        GradientBoostingRegressor(random_state=0, max_leaf_nodes=4, scoring=scoring).fit(X, y)
        for scoring in (metric, name)
    ]
    assert fits[0].n_estimators_ == fits[1].n_estimators_ > 10


def test_a_metric_of_probabilities_gets_probabilities(numbers):
    X, y = numbers
    options = {"n_estimators": 60, "n_iter_no_change": 60, "random_state": 0}
    fits = [
        GradientBoostingClassifier(scoring=scoring, **options).fit(X, y > 0)
        for scoring in (roc_auc_score, "roc_auc")
    ]
    logs = [fit.training_log_.columns()["validation_score"] for fit in fits]
    np.testing.assert_allclose(*logs, rtol=1e-12)  # of a name, by a formula of ours


def test_an_error_is_not_taken_for_a_score(numbers):
    X, y = numbers

    def my_error(truth, predicted):
        return float(np.abs(truth - predicted).mean())

    with pytest.raises(ValueError, match=r"scoring must grow .* my_error looks like an error"):
        GradientBoostingRegressor(scoring=my_error).fit(X, y)


@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_the_unit_of_a_positive_target_does_not_matter(loss, numbers):
    X, y = numbers
    y = np.exp(y / y.std())
    options = {"loss": loss, "n_estimators": 30, "random_state": 0}
    expected = GradientBoostingRegressor(**options).fit(X, y).predict(X)
    assert np.corrcoef(expected, y)[0, 1] > 0.8
    for unit in (1e-9, 1e9):
        found = GradientBoostingRegressor(**options).fit(X, y * unit).predict(X)
        np.testing.assert_allclose(found / unit, expected, rtol=0.02)


def test_where_there_is_nothing_to_learn_one_round_does(numbers):
    X, y = numbers
    assert GradientBoostingClassifier().fit(X, ["a"] * len(X)).n_estimators_ == 1
    assert GradientBoostingRegressor().fit(X[:1], y[:1]).n_estimators_ == 1
    weights = np.where(y > 0, 1.0, 0.0)
    assert GradientBoostingClassifier().fit(X, y > 0, weights).n_estimators_ == 1


def test_equal_weights_are_no_weights(rng):
    X = rng.normal(size=(2000, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=2000)
    options = {"n_estimators": 10, "random_state": 0}
    expected = GradientBoostingRegressor(**options).fit(X, y).predict(X)
    found = GradientBoostingRegressor(**options).fit(X, y, np.full(2000, 0.3)).predict(X)
    np.testing.assert_array_equal(found, expected)


def test_only_true_ends_a_fit(numbers):
    X, y = numbers
    for answer, n_rounds in (("no", 5), (1, 5), (None, 5), (True, 1), (np.True_, 1)):
        model = GradientBoostingRegressor(n_estimators=5, callbacks=lambda n, log, a=answer: a)
        assert model.fit(X, y).n_estimators_ == n_rounds


def test_errors_of_validation_rows_name_them(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=3)
    for bad in ((X[:, :2], y), (X, y[:-1]), (X, np.where(np.arange(len(y)) == 3, np.nan, y))):
        with pytest.raises(ValueError, match="eval_set: "):
            model.fit(X, y, eval_set=bad)


@pytest.mark.parametrize("quantiles", [[], [1.5], [0.5, 0.5], "half"])
def test_errors_of_quantiles_name_them(quantiles, numbers):
    X, y = numbers
    with pytest.raises((TypeError, ValueError), match="quantiles: "):
        GradientBoostingRegressor(loss="quantile", quantiles=quantiles).fit(X, y)
