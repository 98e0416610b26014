"""Stages, warm starts, early stopping, callbacks, progress and interrupts of gradient boosting."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from boosting_tools import BOTH, assert_same, target_of
from sklearn.metrics import log_loss, make_scorer, mean_absolute_error

from committee import GradientBoostingClassifier, GradientBoostingRegressor

# --- stages and warm start ------------------------------------------------------------------------


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


# --- early stopping -------------------------------------------------------------------------------


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


# --- callbacks, progress, interrupts --------------------------------------------------------------


def test_callbacks_see_the_log_and_may_stop(table):
    X, _, y = table
    seen = []

    def note(n_rounds, log):
        seen.append((n_rounds, len(log), log.train_loss[-1]))

    def stop(n_rounds, log):
        return np.bool_(n_rounds == 4)

    model = GradientBoostingRegressor(callbacks=[note, stop]).fit(X, y)
    rounds = [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert [row[:2] for row in seen] == rounds + rounds  # of the search, then of the model
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
