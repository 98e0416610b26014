"""Nets as estimators: what they learn and promise."""

import pickle
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss, mean_squared_error, r2_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import committee
from committee.files.archive import BadContent
from committee.files.codec import decode, encode
from committee.nets.classifier import NetClassifier
from committee.nets.cost import epoch_cost
from committee.nets.fold_fits import NetFoldFits
from committee.nets.regressor import NetRegressor

SMALL = {"n_units": 32, "random_state": 0}


@parametrize_with_checks([NetClassifier(n_units=32), NetRegressor(n_units=32, learning_rate=0.01)])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def mixed(rng, n_rows=400):
    """A table of all kinds of columns, with classes and numbers that depend on three of them."""
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.normal(size=n_rows),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), "D"),
            "empty": np.nan,
            "same": 3.0,
        }
    )
    y = np.abs(table["a"]) + (table["colour"] == "red") + 0.2 * rng.normal(size=n_rows)
    table.loc[::7, "b"] = np.nan
    return table, np.digitize(y, [0.7, 1.4]), y.to_numpy()


# --- learning -----------------------------------------------------------------------------------


def test_learns_the_parity_of_two_numbers(rng):
    X = rng.normal(size=(900, 4))
    y = X[:, 0] * X[:, 1] > 0
    model = NetClassifier(**SMALL).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.9


def test_learns_two_spirals(rng):
    t = rng.uniform(1, 9, 1200)
    side = rng.integers(0, 2, 1200)
    angle = t + np.pi * side
    X = np.column_stack([t * np.cos(angle), t * np.sin(angle)]) + 0.05 * rng.normal(size=(1200, 2))
    model = NetClassifier(random_state=0, learning_rate=0.01).fit(X[:800], side[:800])
    assert model.score(X[800:], side[800:]) > 0.95


def test_learns_a_linear_function_in_any_units(rng):
    X = rng.uniform(-1, 1, size=(500, 3))
    y = X @ [1.0, -2.0, 0.5]
    model = NetRegressor(**SMALL, learning_rate=0.01).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.98
    for scale, origin in ((1e300, 0.0), (1e-300, 0.0), (1.0, 1e9)):
        other = clone(model).fit(X[:400] * scale, y[:400] * scale + origin)
        predicted = (other.predict(X[400:] * scale) - origin) / scale
        assert r2_score(y[400:], predicted) > 0.98


def test_learns_from_levels_missing_values_and_dates(rng):
    table, classes, numbers = mixed(rng)
    model = NetClassifier(**SMALL).fit(table, classes)
    assert model.score(table, classes) > 0.8
    assert NetRegressor(**SMALL).fit(table, numbers).score(table, numbers) > 0.8
    is_missing = (rng.random(300) < 0.5).astype(int)
    column = np.where(is_missing, np.nan, rng.normal(size=300)).reshape(-1, 1)
    assert NetClassifier(**SMALL).fit(column, is_missing).score(column, is_missing) == 1


def test_probabilities_are_those_of_a_column_of_noise(rng):
    X, y = rng.normal(size=(2000, 1)), rng.random(2000) < 0.3
    shares = NetClassifier(**SMALL).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares[:, 1], y.mean(), atol=0.1)


# --- rows and weights ---------------------------------------------------------------------------


def same_predictions(first, second, X):
    method = "predict_proba" if hasattr(first, "classes_") else "predict"
    np.testing.assert_array_equal(getattr(first, method)(X), getattr(second, method)(X))


@pytest.mark.parametrize("is_class", [True, False])
def test_a_row_of_weight_two_is_the_row_twice_and_one_of_weight_zero_is_absent(is_class, rng):
    table, classes, numbers = mixed(rng, 120)
    y = classes if is_class else numbers
    model = (NetClassifier if is_class else NetRegressor)(**SMALL, max_epochs=8)
    weights = rng.integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = model.fit(table, y, weights)
    repeated = clone(model).fit(table.iloc[rows].reset_index(drop=True), y[rows])
    same_predictions(weighted, repeated, table)
    assert weighted.validation_losses_.tolist() == repeated.validation_losses_.tolist()


def test_the_order_of_the_rows_does_not_matter(rng):
    table, classes, numbers = mixed(rng, 150)
    order = rng.permutation(150)
    shuffled = table.iloc[order].reset_index(drop=True)
    for model, y in ((NetClassifier(**SMALL), classes), (NetRegressor(**SMALL), numbers)):
        model.set_params(max_epochs=6)
        same_predictions(model.fit(table, y), clone(model).fit(shuffled, y[order]), table)


def test_weights_that_are_not_whole_weigh_losses(rng):
    # Cells say nothing, so that the best prediction is the weighted mean; 0.03 is four standard
    # deviations of what the held-out rows and the batches add.
    X, y = rng.integers(0, 2, (3000, 1)).astype(float), rng.random(3000) < 0.5
    weights = np.where(y, 0.75, 0.25) * 1e-3
    shares = NetClassifier(**SMALL, early_stopping=False, max_epochs=10).fit(X, y, weights)
    expected = weights[y].sum() / weights.sum()
    np.testing.assert_allclose(shares.predict_proba(X)[:, 1], expected, atol=0.03)
    numbers = np.where(y, 10.0, 20.0)
    model = NetRegressor(**SMALL, early_stopping=False, max_epochs=10).fit(X, numbers, weights)
    np.testing.assert_allclose(model.predict(X), np.average(numbers, weights=weights), atol=0.3)


@pytest.mark.parametrize("factor", [1e-300, 1e300, 1000.0])
def test_weights_that_are_all_the_same_are_none(factor, rng):
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    model = NetRegressor(**SMALL, max_epochs=4)
    plain, weighted = clone(model).fit(X, y), clone(model).fit(X, y, np.full(100, factor))
    np.testing.assert_allclose(weighted.predict(X), plain.predict(X), atol=0.3)


# --- promises -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [NetClassifier, NetRegressor])
def test_the_number_of_threads_does_not_matter(kind, rng):
    table, classes, numbers = mixed(rng)
    y = classes if kind is NetClassifier else numbers
    models = [kind(**SMALL, max_epochs=5, n_jobs=n).fit(table, y) for n in (1, 2, 3)]
    for other in models[1:]:
        same_predictions(models[0], other, table)


@pytest.mark.parametrize("kind", [NetClassifier, NetRegressor])
def test_a_model_comes_back_from_its_file(kind, rng, tmp_path):
    table, classes, numbers = mixed(rng)
    y = classes if kind is NetClassifier else numbers
    model = kind(**SMALL, max_epochs=5).fit(table, y)
    committee.save(model, tmp_path / "net.committee")
    loaded = committee.load(tmp_path / "net.committee")
    same_predictions(model, loaded, table)
    same_predictions(model, pickle.loads(pickle.dumps(model)), table)
    assert loaded.n_epochs_ == model.n_epochs_
    committee.save(kind(), tmp_path / "new.committee")
    assert not hasattr(committee.load(tmp_path / "new.committee"), "n_epochs_")


def fields(value):
    return value["record"]["fields"]


@pytest.mark.parametrize(
    "change",
    [
        lambda net, arrays: arrays.__setitem__(net["parameters"]["array"], np.zeros(7, "f4")),
        lambda net, arrays: arrays[net["parameters"]["array"]].__setitem__(3, np.nan),
        lambda net, arrays: net.update(is_class=False),
        lambda net, arrays: fields(net["sizes"]).update(n_units=24),
        lambda net, arrays: fields(net["sizes"]).update(n_outputs=2),
        lambda net, arrays: fields(net["encoder"])["parts"]["tuple"].pop(),
        lambda net, arrays: fields(net["encoder"])["parts"]["tuple"].reverse(),
        lambda net, arrays: fields(fields(net["encoder"])["parts"]["tuple"][2]).update(n_rows=3),
    ],
)
def test_parts_of_a_file_that_do_not_fit_are_refused(change, rng):
    table, classes, _ = mixed(rng, 100)
    model = NetClassifier(**SMALL, max_epochs=2).fit(table, classes)
    value, arrays = encode(model)
    arrays = [np.array(each) for each in arrays]
    assert decode(value, arrays).n_epochs_ == model.n_epochs_
    change(fields(value["estimator"]["attributes"]["_net"]), arrays)
    with pytest.raises(BadContent):
        decode(value, arrays)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(n_jobs, ctrl_c, rng):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    X = rng.normal(size=(20_000, 10))
    y = X[:, 0] > 0
    model = NetClassifier(random_state=0, n_jobs=n_jobs, max_epochs=2).fit(X[:100], y[:100])
    before = model.predict_proba(X[:50])
    model.set_params(max_epochs=10_000, early_stopping=False)
    ctrl_c(0.1)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - begin < 5
    np.testing.assert_array_equal(model.predict_proba(X[:50]), before)


def test_unseen_levels_and_values_out_of_range_are_predicted(rng):
    table, classes, _ = mixed(rng)
    model = NetClassifier(**SMALL, max_epochs=5).fit(table, classes)
    rows = table.head(3).copy()
    rows["colour"] = ["violet", "pink", None]
    rows["a"] = [np.inf, 1e300, -np.inf]
    rows["empty"] = "text"
    shares = model.predict_proba(rows)
    assert np.isfinite(shares).all()
    rows.loc[0, "colour"] = "another one"
    np.testing.assert_array_equal(model.predict_proba(rows)[0], shares[0])
    assert model.predict(table.head(0)).shape == (0,)


def test_the_best_epoch_is_kept_and_losses_are_those_of_the_rows_given(rng):
    table, classes, numbers = mixed(rng)
    others, codes, reals = mixed(rng)
    model = NetClassifier(**SMALL, patience=3).fit(table, classes, eval_set=(others, codes))
    losses = model.validation_losses_
    assert model.n_epochs_ == losses.argmin() + 1
    assert len(losses) in (model.n_epochs_ + 3, 100)
    assert log_loss(codes, model.predict_proba(others)) == pytest.approx(losses.min())
    weights = rng.uniform(0, 2, len(reals))
    own = (others, reals, weights)
    regressor = NetRegressor(**SMALL, patience=3).fit(table, numbers, eval_set=own)
    error = mean_squared_error(reals, regressor.predict(others), sample_weight=weights)
    assert 0.5 * error / numbers.var() == pytest.approx(regressor.validation_losses_.min())


def test_epochs_are_as_many_as_told_without_early_stopping(rng):
    table, classes, _ = mixed(rng, 100)
    model = NetClassifier(**SMALL, early_stopping=False, max_epochs=7).fit(table, classes)
    assert model.n_epochs_ == 7
    assert np.isnan(model.validation_losses_).all()


def test_verbose_prints_epochs(rng, capsys):
    table, classes, _ = mixed(rng, 100)
    NetClassifier(**SMALL, max_epochs=2, verbose=2).fit(table, classes)
    assert "NetClassifier: 2 of 2 epochs" in capsys.readouterr().err


# --- folds --------------------------------------------------------------------------------------


def fitted_folds(model, table, y, weights, parts, n_epochs=10**9):
    """Models of all folds after so many epochs at most, and the choice among the epochs."""
    splits = [(np.setdiff1d(np.arange(len(y)), part), part) for part in parts]
    fits = NetFoldFits.begin(model, table, y, weights, splits)
    while not fits.search.is_done and len(fits.search.choice.losses) < n_epochs:
        fits.search.step()
    return fits.models(fits.search.choice), fits.search.choice


@pytest.mark.parametrize("kind", [NetClassifier, NetRegressor])
def test_folds_have_one_number_of_epochs_that_suits_their_held_out_rows(kind, rng):
    table, classes, numbers = mixed(rng)
    y = classes if kind is NetClassifier else numbers
    weights = rng.integers(0, 3, len(y)).astype(float)
    parts = [np.arange(k, len(y), 4) for k in range(4)]
    model = kind(**SMALL, patience=3, n_jobs=2)
    models, choice = fitted_folds(model, table, y, weights, parts)
    assert {each.n_epochs_ for each in models} == {choice.n_epochs}
    assert choice.n_epochs == np.argmin(choice.losses) + 1
    losses = []
    for each, part in zip(models, parts, strict=True):
        own, rows = weights[part], table.iloc[part]
        if kind is NetClassifier:
            loss = log_loss(y[part], each.predict_proba(rows), sample_weight=own)
        else:
            rest = np.setdiff1d(np.arange(len(y)), part)
            mean = np.average(y[rest], weights=weights[rest])
            variance = np.average((y[rest] - mean) ** 2, weights=weights[rest])
            error = mean_squared_error(y[part], each.predict(rows), sample_weight=own)
            loss = 0.5 * error / variance
        losses.append(loss)
    totals = [weights[part].sum() for part in parts]
    assert np.average(losses, weights=totals) == pytest.approx(min(choice.losses))
    again, _ = fitted_folds(clone(model).set_params(n_jobs=1), table, y, weights, parts)
    same_predictions(models[2], again[2], table)


def test_a_fold_learns_nothing_from_the_targets_of_its_part(rng):
    table, _, numbers = mixed(rng, 120)
    parts = [np.arange(0, 120, 2), np.arange(1, 120, 2)]
    changed = numbers.copy()
    changed[parts[0]] = rng.permutation(changed[parts[0]])
    model = NetRegressor(**SMALL, max_epochs=3, patience=3)
    first, _ = fitted_folds(model, table, numbers, None, parts, 1)
    second, _ = fitted_folds(model, table, changed, None, parts, 1)
    np.testing.assert_allclose(first[0].predict(table), second[0].predict(table), rtol=0.05)
    assert (first[1].predict(table) != second[1].predict(table)).any()


def test_rows_outside_of_a_split_are_absent(rng):
    table, _, numbers = mixed(rng, 120)
    changed = np.r_[numbers[:80], 1000.0 * numbers[80:]]
    model, split = NetRegressor(**SMALL, max_epochs=3), (np.arange(60), np.arange(60, 80))
    found = []
    for y in (numbers, changed):
        fits = NetFoldFits.begin(model, table, y, None, [split])
        fits.search.step()
        found.append(fits.models(fits.search.choice)[0].predict(table))
    assert np.array_equal(*found)


def test_wide_tables_have_fewer_knots(rng):
    X, y = rng.normal(size=(60, 2000)), rng.normal(size=60)
    model = NetRegressor(n_units=256, max_epochs=1, random_state=0).fit(X, y)
    assert {part.n_knots for part in model._net.encoder.parts} == {7}


def test_an_epoch_costs_more_with_more_of_anything():
    usual = epoch_cost(1000, 10, 2)
    assert usual > 0
    for more in (
        epoch_cost(2000, 10, 2),
        epoch_cost(1000, 20, 2),
        epoch_cost(1000, 10, 9),
        epoch_cost(1000, 10, 2, n_units=256),
        epoch_cost(1000, 10, 2, n_layers=3),
        epoch_cost(1000, 10, 2, n_members=8),
    ):
        assert more > usual


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_units": 0}, "n_units must be an int in"),
        ({"n_layers": 1.5}, "n_layers must be an int"),
        ({"n_members": 300}, "n_members must be an int in"),
        ({"learning_rate": 0.0}, "learning_rate must be"),
        ({"max_epochs": 0}, "max_epochs must be"),
        ({"batch_size": "many"}, 'batch_size must be .*"auto"'),
        ({"batch_size": 0}, "batch_size must be"),
        ({"weight_decay": -1}, "weight_decay must be"),
        ({"dropout": 1.0}, "dropout must be"),
        ({"n_knots": 1}, "n_knots must be"),
        ({"early_stopping": "yes"}, "early_stopping must be True or False"),
        ({"patience": None}, "patience must be"),
        ({"validation_fraction": 1.0}, "validation_fraction must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"verbose": -1}, "verbose must be"),
    ],
)
def test_a_parameter_out_of_range_is_named(params, message):
    with pytest.raises((TypeError, ValueError), match=message):
        NetClassifier(**params).fit([[0.0], [1.0]], [0, 1])


def test_what_cannot_be_learned_is_refused(rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    with pytest.raises(ValueError, match="1d array, got 2 columns"):
        NetRegressor().fit(X, y)
    with pytest.raises(ValueError, match="eval_set must be None"):
        NetRegressor(early_stopping=False).fit(X, y[:, 0], eval_set=(X, y[:, 0]))
    with pytest.raises(TypeError, match="eval_set must be a tuple"):
        NetRegressor().fit(X, y[:, 0], eval_set=[X, y[:, 0]])
    with pytest.raises(ValueError, match="labels"):
        NetClassifier().fit(X, y[:, 0] > 0, eval_set=(X, ["a"] * 40))
    with pytest.raises(ValueError, match="eval_set has 2 outputs"):
        NetRegressor().fit(X, y[:, 0], eval_set=(X, y))
