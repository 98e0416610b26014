"""The automatic number of rounds: held-out rows choose it, all rows are then fitted with it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss, mean_squared_error

import committee
from committee import GradientBoostingClassifier, GradientBoostingRegressor, plot_training
from committee._round_choice import RoundChoice
from committee._validation import fold_rows


@pytest.fixture
def numbers(rng):
    """Few distinct values, so that bins do not depend on which rows there are."""
    X = rng.integers(0, 20, size=(240, 4)).astype(float)
    return X, X[:, 0] + 5 * np.sin(X[:, 1]) + rng.normal(size=240)


@pytest.fixture
def classes(rng):
    X = rng.integers(0, 20, size=(240, 4)).astype(float)
    return X, np.digitize(X[:, 0] + X[:, 1] + 4 * rng.normal(size=240), [12, 24])


def same_scores(a, b, X):
    return np.array_equal(a._scores(X), b._scores(X))


# --- the number -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_the_number_is_the_minimum_of_the_mean_curve_of_explicit_fits(kind, request):
    X, y = request.getfixturevalue(kind)
    cls = GradientBoostingRegressor if kind == "numbers" else GradientBoostingClassifier
    part = np.arange(len(y)) % 3  # three groups are three folds
    model = cls(subsample=1.0, random_state=0).fit(X, y, groups=part)
    curve = model.round_choice_.mean
    curves = []
    for k in range(3):
        settings = model.chosen_params_ | {"n_estimators": len(curve)}
        fold = cls(**settings, random_state=0)
        fold.fit(X[part != k], y[part != k], eval_set=(X[part == k], y[part == k]))
        curves.append(fold.training_log_.validation_loss)
    np.testing.assert_allclose(curve, np.mean(curves, axis=0), rtol=1e-9)
    error = np.std(curves, axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(model.round_choice_.standard_error, error, rtol=1e-6)
    assert model.n_estimators_ == np.mean(curves, axis=0).argmin() + 1 == model.best_iteration_
    assert model.round_choice_.n_folds == 3


def test_the_last_rows_alone_choose_where_the_order_is_of_time(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(subsample=1.0, validation_part="last", random_state=0)
    choice = model.fit(X, y).round_choice_
    settings = model.chosen_params_ | {"n_estimators": len(choice.mean)}
    fold = GradientBoostingRegressor(**settings, random_state=0)
    fold.fit(X[:216], y[:216], eval_set=(X[216:], y[216:]))
    np.testing.assert_allclose(choice.mean, fold.training_log_.validation_loss, rtol=1e-9)
    assert choice.n_folds == 1
    assert np.isnan(choice.standard_error).all()


def test_the_model_is_that_of_an_explicit_fit_of_all_rows(classes):
    X, y = classes
    model = GradientBoostingClassifier(random_state=3).fit(X, y)
    explicit = GradientBoostingClassifier(**model.chosen_params_, random_state=3).fit(X, y)
    assert model.n_estimators_ == explicit.n_estimators_ == len(model.training_log_)
    assert same_scores(model, explicit, X)
    assert explicit.round_choice_ is None
    assert explicit.chosen_params_ == model.chosen_params_


def test_rows_of_weight_zero_are_absent(numbers, rng):
    X, y = numbers
    weight = rng.integers(0, 3, len(y)).astype(float)
    there = weight > 0
    model = GradientBoostingRegressor(random_state=0, subsample=1.0).fit(X, y, weight)
    without = GradientBoostingRegressor(random_state=0, subsample=1.0)
    without.fit(X[there], y[there], weight[there])
    np.testing.assert_allclose(model.round_choice_.mean, without.round_choice_.mean, rtol=1e-9)
    assert model.n_estimators_ == without.n_estimators_


def test_threads_do_not_change_a_bit(classes):
    X, y = classes
    one = GradientBoostingClassifier(random_state=0, n_jobs=1).fit(X, y)
    two = GradientBoostingClassifier(random_state=0, n_jobs=2).fit(X, y)
    assert np.array_equal(one.round_choice_.mean, two.round_choice_.mean)
    assert same_scores(one, two, X)


def test_a_score_chooses_where_it_is_asked_for(numbers):
    X, y = numbers
    part = np.arange(len(y)) % 3
    model = GradientBoostingRegressor(subsample=1.0, scoring="r2", random_state=0)
    choice = model.fit(X, y, groups=part).round_choice_
    assert choice.is_score
    assert model.n_estimators_ == choice.mean.argmax() + 1
    assert 0 < choice.mean.max() < 1


# --- tables that are hard to divide ---------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [1, 2, 5, 30])
def test_tiny_tables_are_fitted(n_rows, rng):
    X, y = rng.normal(size=(n_rows, 2)), rng.normal(size=n_rows)
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    labels = np.arange(n_rows) % 3
    labels[-1] = 3  # a class with one row
    shares = GradientBoostingClassifier(random_state=0).fit(X, labels).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    alone = GradientBoostingClassifier(random_state=0).fit(X, np.arange(n_rows))
    assert np.isfinite(alone.predict_proba(X)).all()


def test_a_constant_target_needs_one_round(rng):
    X = rng.normal(size=(50, 2))
    model = GradientBoostingRegressor(random_state=0).fit(X, np.full(50, 7.0))
    assert model.n_estimators_ == 1
    np.testing.assert_allclose(model.predict(X), 7.0)
    one = GradientBoostingClassifier(random_state=0).fit(X, ["a"] * 50)
    assert one.predict_proba(X).tolist() == [[1.0]] * 50


def test_noise_is_not_learnt(rng):
    X, y = rng.normal(size=(600, 5)), rng.normal(size=600)
    model = GradientBoostingRegressor(random_state=0).fit(X[:300], y[:300])
    error = mean_squared_error(y[300:], model.predict(X[300:]))
    assert error < 1.02 * mean_squared_error(y[300:], np.full(300, y[:300].mean()))
    labels = (y > 0.8).astype(int)
    share = labels[:300].mean()
    two = GradientBoostingClassifier(random_state=0).fit(X[:300], labels[:300])
    constant = log_loss(labels[300:], np.full(300, share))
    assert log_loss(labels[300:], two.predict_proba(X[300:])[:, 1]) < 1.02 * constant


def test_folds_are_disjoint_and_keep_shares_groups_and_single_rows(rng):
    codes = np.array([0] * 40 + [1] * 11 + [2], np.int32)
    parts = fold_rows(52, 5, rng, classes=codes)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(51))  # not the only row of 2
    assert all(
        (codes[part] == 0).sum() == 8 and 2 <= (codes[part] == 1).sum() <= 3 for part in parts
    )
    groups = rng.integers(0, 12, 52)
    parts = fold_rows(52, 5, rng, groups=groups)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(52))
    assert sum(len(set(groups[part])) for part in parts) == len(set(groups))
    assert max(map(len, parts)) - min(map(len, parts)) <= 9
    present = rng.random(52) < 0.5
    assert present[np.concatenate(fold_rows(52, 3, rng, present=present))].all()
    with pytest.raises(ValueError, match="groups must have two groups or more"):
        fold_rows(4, 2, rng, groups=[1, 1, 1, 1])


# --- what else decides ----------------------------------------------------------------------------


def test_given_validation_rows_stop_the_fit_and_are_only_noted_without_early_stopping(numbers):
    X, y = numbers
    given = {"eval_set": (X[160:], y[160:])}
    model = GradientBoostingRegressor(random_state=0).fit(X[:160], y[:160], **given)
    assert model.round_choice_ is None
    assert model.n_estimators_ == model.training_log_.validation_loss.argmin() + 1
    assert len(model.training_log_) > model.n_estimators_
    noted = GradientBoostingRegressor(random_state=0, early_stopping=False)
    noted.fit(X[:160], y[:160], **given)
    assert noted.n_estimators_ == noted.round_choice_.n_rounds == len(noted.training_log_)
    assert not np.isnan(noted.training_log_.validation_loss).any()


def test_early_stopping_holds_out_rows_as_ever(numbers):
    model = GradientBoostingRegressor(early_stopping=True, random_state=0).fit(*numbers)
    assert model.round_choice_ is None
    assert model.n_estimators_ == model.training_log_.validation_loss.argmin() + 1


def test_a_given_number_leaves_all_other_automatic_values_plain(numbers):
    model = GradientBoostingRegressor(n_estimators=7).fit(*numbers)
    assert model.n_estimators_ == 7
    assert model.chosen_params_ == {
        "n_estimators": 7,
        "learning_rate": 0.1,
        "subsample": 1.0,
        "max_features": None,
        "max_leaf_nodes": 31,
        "min_samples_leaf": 20,
        "l2_regularization": 1.0,
    }


def test_warm_start_keeps_what_was_chosen_and_adds_what_is_asked_for(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(warm_start=True, random_state=0).fit(X, y)
    chosen, choice = model.chosen_params_, model.round_choice_
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        model.fit(X, y)
    assert model.chosen_params_ == chosen
    n_rounds = chosen["n_estimators"] + 5
    model.set_params(n_estimators=n_rounds).fit(X, y)
    once = GradientBoostingRegressor(**chosen | {"n_estimators": n_rounds}, random_state=0)
    assert same_scores(model, once.fit(X, y), X)
    assert model.round_choice_ is choice


def test_callbacks_hear_only_of_the_rounds_of_the_model(numbers):
    heard = []
    model = GradientBoostingRegressor(random_state=0, callbacks=lambda n, log: heard.append(n))
    model.fit(*numbers)
    assert heard == list(range(1, model.n_estimators_ + 1))


def test_progress_is_told_of_both_parts_and_only_when_asked(numbers, capsys):
    GradientBoostingRegressor(random_state=0).fit(*numbers)
    assert capsys.readouterr().err == ""
    model = GradientBoostingRegressor(random_state=0, verbose=1).fit(*numbers)
    told = capsys.readouterr().err
    assert "rounds at most, in 5 parts to choose" in told
    assert f"{model.n_estimators_} of {model.n_estimators_} rounds" in told


def test_a_fit_that_fails_while_choosing_leaves_the_model_as_it_was(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=3).fit(X, y)
    before, scores = dict(vars(model)), model.predict(X)
    calls = []

    def interrupted(y_true, y_pred):
        calls.append(0)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return 0.0

    model.set_params(n_estimators="auto", scoring=interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    model.set_params(n_estimators=3, scoring=None)
    assert vars(model) == before
    assert np.array_equal(model.predict(X), scores)


def test_a_weak_learner_of_ones_own_gets_a_hundred_rounds(numbers):
    model = GradientBoostingRegressor(estimator=Ridge()).fit(*numbers)
    assert model.n_estimators_ == 100
    assert model.round_choice_ is None


# --- what is kept of it ---------------------------------------------------------------------------


def test_the_choice_is_saved_shown_and_a_table(numbers, tmp_path):
    model = GradientBoostingRegressor(random_state=0).fit(*numbers)
    committee.save(model, tmp_path / "model")
    choice = committee.load(tmp_path / "model").round_choice_
    assert np.array_equal(choice.mean, model.round_choice_.mean)
    frame = choice.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["mean"].idxmin() == model.n_estimators_
    assert repr(choice).startswith(f"RoundChoice({model.n_estimators_} of {len(frame)} rounds")
    with pytest.raises(ValueError, match="differ in length"):
        RoundChoice(np.zeros(3), np.zeros(2), 5)._validate_loaded()


def test_the_curve_that_chose_is_drawn(numbers):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    model = GradientBoostingRegressor(random_state=0).fit(*numbers)
    ax = plot_training(model)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert np.array_equal(lines["rows held out to choose"], model.round_choice_.mean)
    assert ax.texts[0].get_text().startswith(f"round {model.n_estimators_}, ")
    with pytest.raises(ValueError, match="score must be False"):
        plot_training(model, score=True)
