"""What gradient boosting promises: losses, stopping, stages, warm start, weights, draws."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss, make_scorer, mean_absolute_error
from sklearn.tree import DecisionTreeRegressor

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee.losses import AbsoluteError, Exponential, Huber, Loss, Poisson, Quantile

BOTH = [GradientBoostingClassifier, GradientBoostingRegressor]
LOSSES = [
    "squared_error",
    "absolute_error",
    "huber",
    "quantile",
    "poisson",
    "gamma",
    "tweedie",
]


@pytest.fixture
def table(rng):
    """A table of numbers, categories and missing values, with classes and positive numbers."""
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    X["d"] = rng.choice(["x", "y", "z"], 400)
    signal_ = X["a"] + (X["d"] == "x") + np.sin(2 * X["b"])
    X.loc[rng.random(400) < 0.1, "b"] = np.nan
    numbers = np.exp(signal_ / 2 + rng.normal(size=400) / 4)
    return X, np.digitize(signal_, [0.0, 1.0]), numbers.to_numpy()


def target_of(cls, table):
    return table[1] if cls is GradientBoostingClassifier else table[2]


def assert_same(a, b, X):
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.train_score_, b.train_score_)


# --- losses -------------------------------------------------------------------------------------


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

    with pytest.raises(ValueError, match=r"must return a gradient and a hessian of shape \(400,\)"):
        GradientBoostingRegressor(loss=Flat(), init="zero").fit(X, y)


# --- start --------------------------------------------------------------------------------------


def test_the_start_is_the_minimum_zero_or_another_model(table):
    X, classes, y = table
    one = GradientBoostingRegressor(n_estimators=1, learning_rate=0.0)
    np.testing.assert_allclose(one.fit(X, y).predict(X), y.mean())
    np.testing.assert_allclose(one.set_params(init="zero").fit(X, y).predict(X), 0.0)
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


# --- stages and warm start ----------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_the_last_stage_is_the_prediction_and_stages_are_shorter_fits(cls, table):
    X, y = table[0], target_of(cls, table)
    model = cls(n_estimators=20).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 20
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_array_equal(stages[4], cls(n_estimators=5).fit(X, y).predict(X))
    if cls is GradientBoostingClassifier:
        *_, shares = model.staged_predict_proba(X)
        np.testing.assert_array_equal(shares, model.predict_proba(X))
        *_, scores = model.staged_decision_function(X)
        np.testing.assert_array_equal(scores, model.decision_function(X))


@pytest.mark.parametrize("params", [{}, {"subsample": 0.5}, {"loss": "other"}, {"init": "zero"}])
@pytest.mark.parametrize("cls", BOTH)
def test_a_warm_start_equals_one_go(cls, params, table):
    X, y = table[0], target_of(cls, table)
    params = dict(params)
    if params.get("loss") == "other":
        params["loss"] = "log_loss" if cls is GradientBoostingClassifier else "huber"
    whole = cls(n_estimators=9, random_state=3, **params).fit(X, y)
    parts = cls(n_estimators=2, random_state=3, warm_start=True, **params).fit(X, y)
    for n_rounds in (3, 9):
        parts.set_params(n_estimators=n_rounds).fit(X, y)
        assert parts.n_estimators_ == n_rounds
    assert_same(whole, parts, X)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        parts.fit(X, y)
    with pytest.raises(ValueError, match="must be larger or equal"):
        parts.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="have changed"):
        parts.set_params(n_estimators=10).fit(X, np.roll(y, 1))


# --- weights and draws --------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_a_row_of_weight_two_is_the_row_twice_and_of_weight_zero_absent(loss, table, rng):
    X, _, y = table
    weight = rng.integers(0, 3, 400)
    model = GradientBoostingRegressor(loss=loss, n_estimators=10)
    weighted = model.fit(X, y, weight).predict(X)
    rows = np.repeat(np.arange(400), weight)
    repeated = model.fit(X.iloc[rows], y[rows]).predict(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_of_weight_two_is_the_row_twice_for_classes(n_classes, table, rng):
    X, y = table[0], np.minimum(table[1], n_classes - 1)
    weight = rng.integers(0, 3, 400)
    rows = np.repeat(np.arange(400), weight)
    model = GradientBoostingClassifier(n_estimators=10)
    weighted = model.fit(X, y, weight).decision_function(X)
    repeated = model.fit(X.iloc[rows], y[rows]).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("cls", BOTH)
def test_only_ratios_of_weights_that_are_not_whole_matter(cls, table, rng):
    X, y = table[0], target_of(cls, table)
    weight = rng.uniform(0.5, 2, 400)
    first = cls(n_estimators=5).fit(X, y, weight).predict(X)
    for factor in (1 / 1024, 2.0**300, 2.0**-300):
        np.testing.assert_array_equal(
            cls(n_estimators=5).fit(X, y, weight * factor).predict(X), first
        )


def test_class_weights_are_row_weights(table):
    X, y, _ = table
    weights = {0: 1, 1: 3, 2: 2}
    a = GradientBoostingClassifier(n_estimators=5, class_weight=weights).fit(X, y)
    b = GradientBoostingClassifier(n_estimators=5).fit(X, y, [weights[label] for label in y])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X))
    balanced = GradientBoostingClassifier(n_estimators=1, learning_rate=0, class_weight="balanced")
    np.testing.assert_allclose(balanced.fit(X, y).predict_proba(X), 1 / 3)


@pytest.mark.parametrize("cls", BOTH)
def test_the_order_of_rows_does_not_matter(cls, table, rng):
    X, y = table[0], target_of(cls, table)
    order = rng.permutation(400)
    a = cls(n_estimators=10).fit(X, y)
    b = cls(n_estimators=10).fit(X.iloc[order], y[order])
    score = "decision_function" if cls is GradientBoostingClassifier else "predict"
    np.testing.assert_allclose(getattr(a, score)(X), getattr(b, score)(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("cls", BOTH)
def test_threads_change_nothing(cls, table):
    X, y = table[0], target_of(cls, table)
    params = {"n_estimators": 10, "subsample": 0.7, "random_state": 1}
    assert_same(cls(n_jobs=1, **params).fit(X, y), cls(n_jobs=3, **params).fit(X, y), X)


def test_draws_follow_the_seed(table):
    X, _, y = table
    for name, value in (
        ("subsample", 0.5),
        ("max_features", 1),
        ("features_per_tree", 2),
        ("features_per_level", 0.5),
    ):
        models = [
            GradientBoostingRegressor(n_estimators=5, random_state=seed, **{name: value}).fit(X, y)
            for seed in (0, 0, 1)
        ]
        assert_same(models[0], models[1], X)
        assert (models[0].predict(X) != models[2].predict(X)).any()


def test_out_of_bag_losses_are_those_of_the_rows_not_drawn(table):
    X, _, y = table
    model = GradientBoostingRegressor(n_estimators=30, subsample=0.5, random_state=0).fit(X, y)
    stages = np.array([np.full(400, y.mean()), *model.staged_predict(X)])
    losses = (y - stages) ** 2 / 2
    drawn = np.array([_sample(model, y, number) for number in range(30)])
    assert (drawn.sum(axis=1) == 200).all()
    expected = [losses[k + 1][~drawn[k]].mean() for k in range(30)]
    np.testing.assert_allclose(model.oob_scores_, expected)
    before = [losses[k][~drawn[k]].mean() for k in range(30)]
    np.testing.assert_allclose(model.oob_improvement_, np.subtract(before, expected), atol=1e-12)
    assert model.oob_score_ == model.oob_scores_[-1]
    with pytest.raises(AttributeError, match="subsample"):
        _ = GradientBoostingRegressor(n_estimators=2).fit(X, y).oob_improvement_


def _sample(model, y, number):
    from committee.base.sampling import plan_rows

    plan = plan_rows(len(y), model._seed, bootstrap=False, max_samples=len(y) // 2)
    return plan.counts(number) > 0


# --- early stopping -----------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_early_stopping_goes_back_to_the_best_round(cls, table):
    X, y = table[0], target_of(cls, table)
    model = cls(n_estimators=500, n_iter_no_change=5, learning_rate=0.5, random_state=0).fit(X, y)
    log = model.training_log_
    assert len(log) < 500
    assert model.n_estimators_ == model.best_iteration_ == log.validation_loss.argmin() + 1
    assert len(model.train_score_) == model.n_estimators_ == len(list(model.staged_predict(X)))
    again = cls(n_estimators=model.n_estimators_, learning_rate=0.5, random_state=0)
    assert again.fit(X, y).predict(X).shape == model.predict(X).shape


def test_validation_rows_given_are_looked_at_and_not_learnt(table):
    X, y, _ = table
    train, rest = (X[:300], y[:300]), (X[300:], y[300:])
    model = GradientBoostingClassifier(n_estimators=30).fit(*train, eval_set=rest)
    plain = GradientBoostingClassifier(n_estimators=30).fit(*train)
    assert_same(model, plain, X)
    stages = [log_loss(rest[1], p, labels=[0, 1, 2]) for p in model.staged_predict_proba(rest[0])]
    np.testing.assert_allclose(model.training_log_.validation_loss, stages)
    assert model.n_estimators_ == 30
    assert model.best_iteration_ == np.argmin(stages) + 1
    stopped = GradientBoostingClassifier(n_estimators=300, early_stopping=True)
    stopped.fit(*train, eval_set=[rest])
    np.testing.assert_array_equal(
        stopped.predict_proba(X), list(plain_stages(train, 300, X))[stopped.best_iteration_ - 1]
    )


def plain_stages(train, n_rounds, X):
    return GradientBoostingClassifier(n_estimators=n_rounds).fit(*train).staged_predict_proba(X)


def test_weights_of_validation_rows_count(table):
    X, _, y = table
    model = GradientBoostingRegressor(n_estimators=3)
    weight = (np.arange(100) < 50).astype(float)
    weighted = model.fit(X[:300], y[:300], eval_set=(X[300:], y[300:], weight)).training_log_
    half = model.fit(X[:300], y[:300], eval_set=(X[300:350], y[300:350])).training_log_
    np.testing.assert_allclose(weighted.validation_loss, half.validation_loss)


@pytest.mark.parametrize(
    "scoring",
    ["neg_mean_absolute_error", make_scorer(mean_absolute_error, greater_is_better=False)],
)
def test_a_scorer_decides(scoring, table):
    X, _, y = table
    model = GradientBoostingRegressor(
        n_estimators=200, early_stopping=True, scoring=scoring, learning_rate=0.5
    ).fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
    log = model.training_log_
    assert model.best_iteration_ == log.validation_score.argmax() + 1
    expected = [-mean_absolute_error(y[300:], p) for p in model.staged_predict(X[300:])]
    np.testing.assert_allclose(log.validation_score[: model.n_estimators_], expected)


def test_scorers_of_classes_see_labels_and_probabilities(table):
    X, y, _ = table
    labels = np.array(["low", "middle", "high"])[y]
    for scoring in ("accuracy", "neg_log_loss", "roc_auc_ovr", lambda a, b: np.mean(a == b)):
        model = GradientBoostingClassifier(n_estimators=8, early_stopping=True, scoring=scoring)
        assert np.isfinite(model.fit(X, labels).training_log_.validation_score).all()


def test_classes_groups_and_the_order_of_time_decide_who_is_held_out(rng):
    from committee.evaluation.early_stopping import held_out_rows

    classes = np.repeat(np.arange(3, dtype=np.int32), [180, 18, 2])
    held_out = held_out_rows(200, 0.1, rng, classes=classes)
    assert np.bincount(classes[held_out], minlength=3).tolist() == [18, 2, 0]
    groups = np.repeat(np.arange(20), 10)
    held_out = held_out_rows(200, 0.2, rng, groups=groups)
    assert len(held_out) == 40
    assert len(np.unique(groups[held_out])) == 4
    assert held_out_rows(200, 0.05, rng, last=True).tolist() == list(range(190, 200))
    present = np.arange(200) % 2 == 0
    assert present[held_out_rows(200, 0.3, rng, weights=present * 1.0)].all()
    assert len(held_out_rows(2, 0.01, rng)) == 1


def test_rows_held_out_leave_no_trace(table):
    X, _, y = table
    model = GradientBoostingRegressor(
        n_estimators=20, early_stopping=True, validation_part="last", tol=0.0, n_iter_no_change=20
    ).fit(X, y)
    spoilt = y.copy()
    spoilt[360:] *= -100
    other = GradientBoostingRegressor(
        n_estimators=20, early_stopping=True, validation_part="last", tol=0.0, n_iter_no_change=20
    ).fit(X, spoilt)
    np.testing.assert_array_equal(
        model.training_log_.train_loss[:5], other.training_log_.train_loss[:5]
    )
    alone = GradientBoostingRegressor(n_estimators=20).fit(X[:360], y[:360])
    np.testing.assert_allclose(model.training_log_.train_loss, alone.training_log_.train_loss)


def test_warm_start_goes_on_after_early_stopping(table):
    X, _, y = table
    model = GradientBoostingRegressor(
        n_estimators=300, n_iter_no_change=3, learning_rate=0.5, warm_start=True, random_state=0
    ).fit(X, y)
    n_first = model.n_estimators_
    model.set_params(early_stopping=False, n_estimators=n_first + 5)
    with pytest.raises(ValueError, match="have changed"):  # the rows held out would come back
        model.fit(X, y)
    model.set_params(early_stopping="auto", n_estimators=n_first + 50).fit(X, y)
    assert model.n_estimators_ >= n_first


# --- callbacks, progress, interrupts ------------------------------------------------------------


def test_callbacks_see_the_log_and_may_stop(table):
    X, _, y = table
    seen = []

    def note(n_rounds, log):
        seen.append((n_rounds, len(log), log.train_loss[-1]))

    def stop(n_rounds, log):
        return np.bool_(n_rounds == 4)

    model = GradientBoostingRegressor(callbacks=[note, stop]).fit(X, y)
    assert [row[:2] for row in seen] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert model.n_estimators_ == 4
    assert GradientBoostingRegressor(callbacks=stop).fit(X, y).n_estimators_ == 4


def test_progress_is_told_on_stderr(table, capsys):
    X, _, y = table
    GradientBoostingRegressor(n_estimators=20, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("GradientBoostingRegressor: 20 of 20 rounds")


def test_a_fit_that_fails_leaves_the_model_as_it_was(table):
    X, _, y = table
    model = GradientBoostingRegressor(n_estimators=5).fit(X, y)
    before = model.predict(X)

    def fail(n_rounds, log):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        model.set_params(callbacks=fail).fit(X[:100], y[:100])
    np.testing.assert_array_equal(model.predict(X), before)
    assert len(model.training_log_) == 5


def test_ctrl_c_ends_a_fit_soon_and_leaves_the_model_as_it_was(rng):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    X = rng.normal(size=(200_000, 20))
    y = X[:, 0] + rng.normal(size=len(X))
    model = GradientBoostingRegressor(n_estimators=3).fit(X[:1000], y[:1000])
    before = model.predict(X[:100])
    model.set_params(n_estimators=100_000)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = []
    timer = threading.Timer(
        0.7, lambda: (sent.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT))
    )
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        waited = time.monotonic() - sent[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, usual)
    assert waited < 1.0  # 0.2 s on an idle machine
    np.testing.assert_array_equal(model.predict(X[:100]), before)


# --- extremes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e9, 1e-9, 1e100, 1e-100])
def test_the_unit_of_the_target_does_not_matter(scale, table):
    X, _, y = table
    plain = GradientBoostingRegressor(n_estimators=10).fit(X, y)
    scaled = GradientBoostingRegressor(n_estimators=10).fit(X, y * scale)
    np.testing.assert_allclose(scaled.predict(X), plain.predict(X) * scale, rtol=1e-6)


def test_a_target_far_from_zero_keeps_its_resolution(table):
    X, _, y = table
    plain = GradientBoostingRegressor(n_estimators=10).fit(X, y).predict(X)
    shifted = GradientBoostingRegressor(n_estimators=10).fit(X, y + 1e9).predict(X)
    np.testing.assert_allclose(shifted - 1e9, plain, atol=1e-5)


def test_tiny_classes_and_extreme_weights_stay_finite(table, rng):
    X, _, _ = table
    y = np.zeros(400, int)
    y[7], y[9] = 1, 2
    weight = 10.0 ** rng.uniform(-12, 12, 400)
    for sample_weight in (None, weight):
        model = GradientBoostingClassifier(n_estimators=200, min_samples_leaf=1, learning_rate=1.0)
        p = model.fit(X, y, sample_weight).predict_proba(X)
        assert np.isfinite(p).all()
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.train_score_).all()
    for loss in LOSSES:
        target = 10.0 ** rng.uniform(-12, 12, 400)
        model = GradientBoostingRegressor(loss=loss, n_estimators=50, learning_rate=1.0)
        assert np.isfinite(model.fit(X, target, weight).predict(X)).all()


def test_one_class_one_row_and_constant_columns(rng):
    X = np.ones((30, 2))
    X[:, 1] = np.nan
    model = GradientBoostingClassifier(n_estimators=2).fit(X, ["a"] * 30)
    assert model.predict(X[:2]).tolist() == ["a", "a"]
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    y = rng.normal(size=30)
    np.testing.assert_allclose(
        GradientBoostingRegressor(n_estimators=2).fit(X, y).predict(X), y.mean()
    )
    assert GradientBoostingRegressor(n_estimators=2).fit([[1.0]], [5.0]).predict([[9.0]]) == [5.0]


def test_a_learning_rate_that_diverges_is_named(table):
    X, _, y = table
    with pytest.raises(ValueError, match="lower learning_rate"):
        GradientBoostingRegressor(learning_rate=1e200, l2_regularization=0.0).fit(X, y)


def test_categories_of_many_levels_are_taken(rng):
    levels = rng.integers(0, 1000, 3000)
    X = pd.DataFrame({"level": pd.Categorical([f"l{level}" for level in levels])})
    y = (levels % 2) + rng.normal(size=3000) / 10
    model = GradientBoostingRegressor(min_samples_leaf=1).fit(X, y)
    assert model.score(X, y) > 0.1
    assert np.isfinite(model.predict(pd.DataFrame({"level": ["never seen", None]}))).all()


@pytest.mark.parametrize("n_classes", [2, 5])
def test_losses_and_derivatives_of_the_engine_are_those_of_the_losses(n_classes, rng):
    from committee.losses import get_loss
    from committee.losses.fast import fast_loss

    loss = get_loss("log_loss", n_classes=n_classes)
    scores = np.asfortranarray(10.0 ** rng.uniform(-9, 3, size=(500, loss.n_scores)))
    scores *= rng.choice([-1, 1], scores.shape)
    codes = rng.integers(0, n_classes, 500).astype(np.int32)
    own_scores = scores[:, 0] if n_classes == 2 else scores
    expected = loss.gradients(codes, own_scores)
    for n_threads in (1, 2):
        fast = fast_loss(loss, codes, n_threads)
        losses = fast.row_losses(scores, np.empty(500))
        expected_losses = loss.row_losses(codes, own_scores)
        np.testing.assert_allclose(losses, expected_losses, rtol=1e-13, atol=1e-300)
        for column, (gradient, hessian) in enumerate(fast.gradients(scores)):
            for ours, theirs in zip((gradient, hessian), expected, strict=True):
                theirs = theirs.reshape(500, -1)[:, column]
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-15)


# --- constraints --------------------------------------------------------------------------------


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

    def n_leaves(**params):
        model = GradientBoostingRegressor(n_estimators=5, **params).fit(X, y)
        stages = list(model.staged_predict(X))
        np.testing.assert_allclose(
            model.train_score_, [np.mean((y - p) ** 2) / 2 for p in stages], rtol=1e-9
        )
        return sum(tree.get_n_leaves() for tree in model.estimators_.ravel())

    whole = n_leaves()
    assert n_leaves(ccp_alpha=0.01) < whole
    assert n_leaves(min_impurity_decrease=0.01) < whole
    assert n_leaves(ccp_alpha=10.0) == 5


# --- weak learners of one's own -----------------------------------------------------------------


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


# --- answers ------------------------------------------------------------------------------------


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


# --- peers --------------------------------------------------------------------------------------


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
