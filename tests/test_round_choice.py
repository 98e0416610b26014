"""The automatic number of rounds: held-out rows choose it, all rows are then fitted with it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss, mean_squared_error

import committee
from committee import GradientBoostingClassifier, GradientBoostingRegressor, plot_training
from committee.boosting import defaults
from committee.boosting.rounds import RoundChoice, SearchEnd


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


def repeated(weight, *arrays):
    rows = np.repeat(np.arange(len(weight)), weight)
    return [array[rows] for array in arrays]


@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize(
    "params",
    [{"subsample": 0.8}, {"subsample": 1.0}, {"early_stopping": True, "n_estimators": 20}],
)
def test_a_row_of_weight_two_is_a_group_of_two_rows(kind, params, request, rng):
    X, y = request.getfixturevalue(kind)
    cls = GradientBoostingRegressor if kind == "numbers" else GradientBoostingClassifier
    # Draws number the groups: those of weight zero must not be there where rows are drawn.
    weight = rng.integers(params.get("subsample") == 0.8, 4, len(y))
    model = cls(learning_rate=0.2, random_state=0, **params)
    row = np.arange(len(y))
    weighted = clone(model).fit(X, y, weight, groups=row)
    X_twice, y_twice, group = repeated(weight, X, y, row)
    twice = clone(model).fit(X_twice, y_twice, groups=group)
    assert weighted.n_estimators_ == twice.n_estimators_
    np.testing.assert_allclose(weighted._scores(X), twice._scores(X), rtol=1e-9, atol=1e-9)


def test_threads_do_not_change_a_bit(classes):
    X, y = classes
    one = GradientBoostingClassifier(random_state=0, n_jobs=1).fit(X, y)
    two = GradientBoostingClassifier(random_state=0, n_jobs=2).fit(X, y)
    assert np.array_equal(one.round_choice_.mean, two.round_choice_.mean)
    assert same_scores(one, two, X)


def test_folds_make_target_statistics_without_the_rows_they_hold_out(rng):
    level = rng.integers(0, 30, 600)
    X = pd.DataFrame({"x": rng.integers(0, 9, 600), "level": [f"l{k}" for k in level]})
    y = rng.normal(size=30)[level] + rng.normal(size=600)
    part = np.arange(600) % 3
    model = GradientBoostingRegressor(subsample=1.0, max_features=None, random_state=0)
    choice = model.fit(X, y, groups=part).round_choice_
    settings = model.chosen_params_ | {"n_estimators": len(choice.mean)}
    curves = []
    for k in range(3):
        fold = GradientBoostingRegressor(**settings, random_state=0)
        fold.fit(X[part != k], y[part != k], eval_set=(X[part == k], y[part == k]))
        curves.append(fold.training_log_.validation_loss)
    np.testing.assert_allclose(choice.mean, np.mean(curves, axis=0), rtol=1e-9)


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**-300, 2.0**300, 2.0**900])
def test_units_of_the_loss_do_not_change_the_choice(factor, rng):
    curves = rng.uniform(1, 2, size=(5, 7))
    usual = RoundChoice.of_curves(curves, False)
    scaled = RoundChoice.of_curves(curves * factor, False)
    np.testing.assert_array_equal(scaled.mean, usual.mean * factor)
    np.testing.assert_array_equal(scaled.standard_error, usual.standard_error * factor)
    np.testing.assert_allclose(usual.mean, curves.mean(axis=0))


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


def test_a_single_row_is_not_boosted_for_long(rng):
    alone = GradientBoostingRegressor(random_state=0).fit([[1.0]], [3.0])
    twice = GradientBoostingRegressor(random_state=0).fit([[1.0], [2.0]], [3.0, 9.0], [2.0, 0.0])
    assert alone.n_estimators_ == 1
    for model in (alone, twice):
        assert model.predict([[5.0]]).tolist() == [3.0]


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson", "gamma"])
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_and_weights_of_any_size_are_finite(loss, scale, rng):
    X = pd.DataFrame({"x": rng.normal(size=90), "level": [f"l{k}" for k in np.arange(90) % 30]})
    y = scale * rng.uniform(0.5, 2, 90)
    weight = 10.0 ** rng.integers(-9, 10, 90)
    model = GradientBoostingRegressor(loss=loss, learning_rate=0.3, random_state=0)
    answers = model.fit(X, y, weight).predict(X)
    assert np.isfinite(answers).all()
    assert 0.1 * scale < answers.min() <= answers.max() < 10 * scale


def test_a_class_that_a_part_lacks_is_no_obstacle(numbers):
    X, _ = numbers
    label = np.arange(len(X)) // 80  # all rows of a class are one group
    model = GradientBoostingClassifier(random_state=0).fit(X, label, groups=label)
    assert np.isfinite(model.round_choice_.mean).all()
    assert np.isfinite(model.predict_proba(X)).all()
    last = GradientBoostingClassifier(validation_part="last", random_state=0).fit(X, label == 2)
    assert np.isfinite(last.round_choice_.mean).all()


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
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=7).fit(X, y, np.full(len(y), 3.0))
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


def test_callbacks_see_the_search_and_then_the_rounds_of_the_model(numbers):
    seen = []

    def note(n_rounds, log):
        seen.append((n_rounds, log.n_folds))

    model = GradientBoostingRegressor(random_state=0, callbacks=note).fit(*numbers)
    search = [n_rounds for n_rounds, n_folds in seen if n_folds]
    last = [n_rounds for n_rounds, n_folds in seen if not n_folds]
    assert seen == [(n, 5) for n in search] + [(n, 0) for n in last]
    assert last == list(range(1, model.n_estimators_ + 1))
    assert search == list(range(1, len(search) + 1))
    assert len(search) >= len(last)


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


CURVE = np.ones(3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("round_choice_", "none"),
        ("round_choice_", RoundChoice(CURVE, np.ones(2), 5)),
        ("round_choice_", RoundChoice(CURVE[:0], CURVE[:0], 5)),
        ("round_choice_", RoundChoice(CURVE.astype(np.float32), CURVE, 5)),
        ("round_choice_", RoundChoice(np.ones((3, 1)), CURVE, 5)),
        ("round_choice_", RoundChoice([1.0], CURVE, 5)),
        ("round_choice_", RoundChoice(CURVE * np.nan, CURVE, 5)),
        ("round_choice_", RoundChoice(CURVE, CURVE, 0)),
        ("round_choice_", RoundChoice(CURVE, CURVE, "5")),
        ("round_choice_", RoundChoice(CURVE, CURVE, 5, is_score=1)),
        ("chosen_params_", None),
        ("chosen_params_", [1]),
        ("chosen_params_", {"n_estimators": 3}),
        ("chosen_params_", {"callbacks": 3}),
        ("learning_rate", -1.0),
        ("learning_rate", "auto"),
        ("n_estimators", 0),
        ("subsample", 2.0),
        ("max_features", "most"),
        ("max_leaf_nodes", 1),
        ("min_samples_leaf", None),
        ("l2_regularization", np.nan),
    ],
)
def test_files_with_other_parts_are_refused(name, value, numbers, tmp_path):
    model = GradientBoostingRegressor(learning_rate=1.0, random_state=0).fit(*numbers)
    if name.endswith("_"):
        setattr(model, name, value)
    else:
        model.chosen_params_[name] = value
    committee.save(model, tmp_path / "model")
    with pytest.raises(committee.ModelFileError, match="not valid"):
        committee.load(tmp_path / "model")


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


def test_a_curve_that_has_not_turned_says_so():
    falling = RoundChoice(np.linspace(1.0, 0.5, 100), np.full(100, np.nan), 1)
    assert falling.is_still_improving
    assert "still improving" in repr(falling)
    turned = RoundChoice(np.abs(np.linspace(-1.0, 0.5, 100)), np.full(100, np.nan), 1)
    assert not turned.is_still_improving
    assert "still improving" not in repr(turned)


# --- the end of the search ------------------------------------------------------------------------


@pytest.fixture
def smooth(rng):
    """A function without noise: every round brings predictions closer."""
    X = rng.uniform(size=(300, 4))
    return X, 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * X[:, 2] ** 2 + 10 * X[:, 3]


@pytest.fixture
def little_work(monkeypatch):
    monkeypatch.setattr(defaults, "_WORK", 1)
    monkeypatch.setattr(defaults, "_LEAST_ROUNDS", 60)


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("given", ["folds", "eval_set"])
def test_a_limit_that_ends_the_search_is_named(given, smooth):
    X, y = smooth
    more = {"eval_set": (X[200:], y[200:])} if given == "eval_set" else {}
    message = 'n_estimators="auto" tries at most 60 rounds .* learning_rate above 0.05'
    model = GradientBoostingRegressor(learning_rate=0.05, random_state=0)
    with pytest.warns(ConvergenceWarning, match=message):
        model.fit(X[:200], y[:200], **more)
    assert model.n_estimators_ > 55
    # A given number is done as given, in silence.
    GradientBoostingRegressor(n_estimators=60, random_state=0).fit(X[:200], y[:200], **more)


@pytest.mark.usefixtures("little_work")
def test_rows_that_end_the_search_leave_nothing_to_warn_of(rng):
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + 3 * rng.normal(size=200)
    GradientBoostingRegressor(random_state=0).fit(X[:150], y[:150])
    GradientBoostingRegressor(random_state=0).fit(X[:150], y[:150], eval_set=(X[150:], y[150:]))


@pytest.mark.parametrize("factor", [2.0**-300, 1.0, 2.0**300])
@pytest.mark.parametrize(("base", "trifle"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.001)])
def test_a_search_ends_where_a_quarter_of_the_rounds_gains_next_to_nothing(base, trifle, factor):
    rounds = np.arange(1, 401)
    curve = base + 1 / rounds  # falls for ever
    ends = SearchEnd(patience=10, little=0.02, trifle=trifle, n_cheap=0)
    for n_tried in range(50, 400, 10):
        before, now = curve[n_tried - n_tried // 4 - 1], curve[n_tried - 1]
        gained = curve[0] - now
        is_little = before - now < max(0.02 * min(now, gained), trifle * gained)
        choice = RoundChoice(factor * curve[:n_tried], np.full(n_tried, np.nan), 1)
        assert bool(ends.reason(choice)) == is_little
        scored = RoundChoice(-factor * curve[:n_tried], np.full(n_tried, np.nan), 1, True)
        assert bool(ends.reason(scored)) == (before - now < 0.02 * gained)
        cheap = SearchEnd(patience=10, little=0.02, trifle=trifle, n_cheap=n_tried)
        assert not cheap.reason(choice)


def test_several_classes_are_predicted_better_than_by_a_hundred_rounds():
    X, y = load_digits(return_X_y=True)
    losses = {}
    for n_estimators in ("auto", 100):
        model = GradientBoostingClassifier(n_estimators=n_estimators, random_state=0)
        model.fit(X[::3], y[::3])
        losses[n_estimators] = log_loss(y[1::3], model.predict_proba(X[1::3]))
    assert losses["auto"] < 0.95 * losses[100]


def test_a_curve_of_many_classes_is_not_followed_for_thousands_of_rounds(rng, monkeypatch):
    X = rng.normal(size=(400, 6))
    y = (3 * (X[:, 0] > 0) + 2 * (X[:, 1] > 0) + (X[:, 2] > 0)).astype(int)
    monkeypatch.setattr(defaults, "_CHEAP_WORK", 0)
    short = GradientBoostingClassifier(random_state=0).fit(X, y)
    monkeypatch.setattr(defaults, "_LITTLE_OF_MANY", 0.0)
    monkeypatch.setattr(defaults, "_TRIFLE_OF_MANY", 0.0)
    long = GradientBoostingClassifier(random_state=0).fit(X, y)
    n_short, n_long = len(short.round_choice_.mean), len(long.round_choice_.mean)
    assert n_short < 0.6 * n_long
    assert np.array_equal(short.round_choice_.mean, long.round_choice_.mean[:n_short])
    assert short.round_choice_.mean.min() < 1.1 * long.round_choice_.mean.min()


def test_a_gain_that_is_small_beside_what_was_gained_is_no_improvement_to_speak_of():
    curve = 1 / np.sqrt(np.arange(1, 2001))
    assert not RoundChoice(curve, np.full(2000, np.nan), 1).is_still_improving
    assert RoundChoice(curve[:50], np.full(50, np.nan), 1).is_still_improving


def test_many_trees_a_round_look_at_a_quarter_of_the_features_or_at_six():
    shares = [defaults.automatic_values(1000, n, 3, True)["max_features"] for n in (4, 23, 24, 90)]
    assert shares == [6, 6, 0.25, 0.25]
    # Work counts what is looked at: a quarter for several classes, half for one tree a round.
    wide = [defaults.automatic_values(50_000, 100, k, True)["n_estimators"] for k in (1, 10)]
    assert wide == [1000, 200]
    # Where rounds are few, trees of several classes are larger.
    leaves = [defaults.automatic_values(40_000, n, 10, True)["max_leaf_nodes"] for n in (10, 100)]
    assert leaves == [16, 31]
