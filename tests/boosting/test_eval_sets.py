"""Validation rows that users give: one set or several, with names; and what they see of them."""

import re

import numpy as np
import pytest
import sklearn
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from committee import (
    DecisionTreeRegressor,
    EnsembleSelectionRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    bootstrap_score,
    load,
    save,
)

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(300, 3))
NUMBERS = X[:, 0] * X[:, 1] + GENERATOR.normal(size=300) / 2
CLASSES = np.where(NUMBERS > 0, "yes", "no")
FIRST, SECOND, THIRD = slice(0, 150), slice(150, 220), slice(220, 300)


def regressor(**params):
    return GradientBoostingRegressor(n_estimators=20, random_state=0, **params)


def rows(part, y=NUMBERS):
    return X[part], y[part]


# --- several sets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", [None, "rmse"])
def test_every_named_set_has_its_losses_and_scores(scoring):
    model = regressor(scoring=scoring)
    sets = {"early": (*rows(SECOND), np.arange(70.0)), "late": rows(THIRD)}
    log = model.fit(*rows(FIRST), eval_set=sets).training_log_
    for name, part, weights in (("early", SECOND, np.arange(70.0)), ("late", THIRD, None)):
        errors = [(y - NUMBERS[part]) ** 2 for y in model.staged_predict(X[part])]
        means = np.average(errors, axis=1, weights=weights)
        np.testing.assert_allclose(log.more[f"{name}_loss"], means / 2)
        if scoring:
            np.testing.assert_allclose(log.more[f"{name}_score"], -np.sqrt(means))
    np.testing.assert_array_equal(log.validation_loss, log.more["late_loss"])
    assert set(log.more) == {
        f"{n}_{w}" for n in sets for w in ("loss", "score")[: 1 + bool(scoring)]
    }
    assert list(log.to_frame())[-1] in log.more
    assert "early_loss" in repr(log)
    assert log.head(3).more["late_loss"].tolist() == log.more["late_loss"][:3].tolist()


def test_the_last_set_decides_when_to_stop():
    model = regressor(n_iter_no_change=3).set_params(n_estimators=500)
    alone = sklearn.base.clone(model).fit(*rows(FIRST), eval_set=rows(THIRD))
    several = sklearn.base.clone(model).fit(*rows(FIRST), eval_set=[rows(FIRST), rows(THIRD)])
    assert len(alone) == len(several) < 500
    assert set(several.training_log_.more) == {"validation_0_loss", "validation_1_loss"}
    np.testing.assert_array_equal(several.predict(X), alone.predict(X))
    one = sklearn.base.clone(model).fit(*rows(FIRST), eval_set=[rows(THIRD)])
    named = sklearn.base.clone(model).fit(*rows(FIRST), eval_set={"test": rows(THIRD)})
    for each in (one, named):
        assert each.training_log_.more == {}
        np.testing.assert_array_equal(each.predict(X), alone.predict(X))


def test_logs_of_several_sets_are_stored_and_continued(tmp_path):
    model = regressor(warm_start=True).fit(*rows(FIRST), eval_set=[rows(SECOND), rows(THIRD)])
    save(model, tmp_path / "model")
    more = load(tmp_path / "model").training_log_.more
    for name, column in model.training_log_.more.items():
        np.testing.assert_array_equal(more[name], column)
    model.set_params(n_estimators=25)
    model.fit(*rows(FIRST), eval_set={"validation_0": rows(SECOND), "new": rows(THIRD)})
    whole = regressor().set_params(n_estimators=25)
    whole.fit(*rows(FIRST), eval_set=[rows(SECOND), rows(THIRD)])
    columns, expected = model.training_log_.more, whole.training_log_.more
    np.testing.assert_array_equal(columns["validation_0_loss"], expected["validation_0_loss"])
    np.testing.assert_array_equal(columns["new_loss"][20:], expected["validation_1_loss"][20:])
    assert np.isnan(columns["new_loss"][:20]).all()
    assert np.isnan(columns["validation_1_loss"][20:]).all()


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ((X,), TypeError, r"eval_set must be a tuple .* got a tuple of 1"),
        ([], TypeError, "got an empty list"),
        ({}, TypeError, "got an empty dict"),
        ("no", TypeError, "got str"),
        ([X, NUMBERS], TypeError, "got ndarray"),
        ({1: rows(SECOND)}, TypeError, "text for names; got 1"),
        ({"train": rows(SECOND), "b": rows(THIRD)}, ValueError, "names other than 'train'"),
        ({"a": rows(SECOND), "b": (X, NUMBERS[:3])}, ValueError, "eval_set 'b': .*inconsistent"),
        ({"a": (X[:, :2], NUMBERS), "b": rows(THIRD)}, ValueError, "eval_set 'a': .*2 features"),
    ],
)
def test_what_is_no_eval_set_is_refused(given, kind, message):
    with pytest.raises(kind, match=message):
        regressor().fit(X, NUMBERS, eval_set=given)


# --- X_val and y_val ------------------------------------------------------------------------------


def test_x_val_and_y_val_are_an_eval_set():
    model = regressor(n_iter_no_change=3)
    weights = np.arange(80.0)
    known = sklearn.base.clone(model).fit(*rows(FIRST), eval_set=(*rows(THIRD), weights))
    model.fit(*rows(FIRST), X_val=X[THIRD], y_val=NUMBERS[THIRD], sample_weight_val=weights)
    np.testing.assert_array_equal(
        model.training_log_.validation_loss, known.training_log_.validation_loss
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X_val": X}, "X_val is provided, but y_val was not provided"),
        ({"y_val": NUMBERS}, "y_val is provided, but X_val was not provided"),
        ({"sample_weight_val": NUMBERS}, "was not provided"),
        ({"X_val": X, "y_val": NUMBERS, "eval_set": (X, NUMBERS)}, "eval_set must be None"),
        ({"X_val": X, "y_val": NUMBERS[:3]}, "X_val and y_val: .*inconsistent"),
    ],
)
def test_halves_of_validation_rows_are_refused_as_in_scikit_learn(given, message):
    with pytest.raises(ValueError, match=message):
        regressor().fit(X, NUMBERS, **given)
    if set(given) in ({"X_val"}, {"y_val"}):
        with pytest.raises(ValueError, match=message):
            sklearn.ensemble.HistGradientBoostingRegressor().fit(X, NUMBERS, **given)


def test_a_pipeline_transforms_x_val():
    with sklearn.config_context(enable_metadata_routing=True):
        model = regressor(n_iter_no_change=3).set_fit_request(X_val=True, y_val=True)
        steps = [("scale", StandardScaler()), ("boost", model)]
        pipeline = Pipeline(steps, transform_input=["X_val"])
        pipeline.fit(*rows(FIRST), X_val=X[THIRD], y_val=NUMBERS[THIRD])
    scale = StandardScaler().fit(X[FIRST])
    known = regressor(n_iter_no_change=3)
    known.fit(
        scale.transform(X[FIRST]),
        NUMBERS[FIRST],
        eval_set=(scale.transform(X[THIRD]), NUMBERS[THIRD]),
    )
    np.testing.assert_array_equal(pipeline.predict(X), known.predict(scale.transform(X)))
    np.testing.assert_array_equal(
        pipeline[-1].training_log_.validation_loss, known.training_log_.validation_loss
    )


# --- names of scores ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "scorer"),
    [
        ("auc", "roc_auc"),
        ("AUC", "roc_auc"),
        ("binary_logloss", "neg_log_loss"),
        ("error", "accuracy"),
    ],
)
def test_names_of_other_libraries_are_scorers(name, scorer):
    fits = [
        GradientBoostingClassifier(n_estimators=5, scoring=each).fit(
            *rows(FIRST, CLASSES), eval_set=rows(THIRD, CLASSES)
        )
        for each in (name, scorer)
    ]
    np.testing.assert_array_equal(
        fits[0].training_log_.validation_score, fits[1].training_log_.validation_score
    )
    forests = [
        RandomForestClassifier(20, oob_score=each, random_state=0).fit(X, CLASSES)
        for each in (name, scorer)
    ]
    assert forests[0].oob_score_ == forests[1].oob_score_


def test_names_of_errors_are_minus_the_error():
    model = regressor(scoring="RMSE").fit(*rows(FIRST), eval_set=rows(THIRD))
    assert model.training_log_.validation_score[-1] == pytest.approx(
        -root_mean_squared_error(NUMBERS[THIRD], model.predict(X[THIRD]))
    )
    model = GradientBoostingClassifier(n_estimators=4, scoring="logloss")
    model.fit(*rows(FIRST, CLASSES), eval_set=rows(THIRD, CLASSES))
    assert model.training_log_.validation_score[-1] == pytest.approx(
        -log_loss(CLASSES[THIRD], model.predict_proba(X[THIRD]))
    )
    members = [("one", regressor()), ("two", regressor(max_depth=1))]
    library = EnsembleSelectionRegressor(members, scoring="rmse", cv=2, random_state=0)
    assert library.fit(X, NUMBERS).selection_.metric == "neg_root_mean_squared_error"
    found = bootstrap_score(
        DecisionTreeRegressor(), X, NUMBERS, scoring="rmse", n_resamples=40, random_state=0
    )
    assert found.score < 0
    with pytest.raises(ValueError, match=r"the name of a scorer .* got 'auk'"):
        regressor(scoring="auk").fit(X, NUMBERS)


# --- what is shown --------------------------------------------------------------------------------


def test_progress_has_the_losses(capsys):
    model = regressor(verbose=2).fit(*rows(FIRST), eval_set=rows(THIRD))
    lines = capsys.readouterr().err.splitlines()
    log = model.training_log_
    assert len(lines) == 20
    for line, train, validation in zip(lines, log.train_loss, log.validation_loss, strict=True):
        assert f" rounds, train loss {train:.4g}, validation loss {validation:.4g}, " in line
    regressor(verbose=2).fit(*rows(FIRST), eval_set=[rows(SECOND), rows(THIRD)])
    assert "validation 0 loss" in (err := capsys.readouterr().err)
    assert "validation loss" not in err
    GradientBoostingRegressor(verbose=2, random_state=0).fit(X, NUMBERS)
    assert re.search(r"in 5 parts to choose, validation loss 0\.\d+, ", capsys.readouterr().err)


def test_callbacks_see_the_folds_and_their_validation_loss():
    seen = []
    model = GradientBoostingRegressor(
        random_state=0, callbacks=lambda n, log: seen.append((n, log.n_folds, log))
    )
    model.fit(X, NUMBERS)
    search = [each for each in seen if each[1]]
    assert {n_folds for _, n_folds, _ in search} == {5}
    n_tried = len(model.round_choice_.mean)
    assert [n for n, _, _ in search] == list(range(1, n_tried + 1))
    np.testing.assert_allclose(search[-1][2].validation_loss, model.round_choice_.mean)
    assert all(len(log) == n for n, _, log in seen)
    rounds = [each for each in seen if not each[1]]
    assert [n for n, _, _ in rounds] == list(range(1, model.n_estimators_ + 1))


def test_a_callback_ends_the_search():
    model = GradientBoostingRegressor(
        random_state=0, callbacks=[lambda n, log: log.n_folds > 0 and n >= 13]
    )
    model.fit(X, NUMBERS)
    free = GradientBoostingRegressor(random_state=0).fit(X, NUMBERS)
    assert len(model.round_choice_.mean) == 13 < len(free.round_choice_.mean)
    np.testing.assert_array_equal(model.round_choice_.mean, free.round_choice_.mean[:13])
    assert model.n_estimators_ == model.round_choice_.mean.argmin() + 1


@pytest.mark.parametrize(
    "callback", [lambda env: None, lambda n, log, more: None, print, str.upper]
)
def test_callbacks_have_two_arguments(callback):
    model = regressor(callbacks=callback)
    if callback is print:  # takes anything
        return
    with pytest.raises(TypeError, match=r"callbacks must be functions of two arguments.* cannot"):
        model.fit(X, NUMBERS)
