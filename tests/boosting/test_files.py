"""Boosting models come back from files, pickles and copies; broken files are refused."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import ExtraTreeClassifier

from committee import (
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ModelFileError,
    load,
    save,
)
from committee.files import codec as _codec
from committee.losses import Huber, Loss


@pytest.fixture
def frame(rng):
    X = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["x", "y"], 90)})
    X.loc[::7, "a"] = np.nan
    return X


MODELS = [
    GradientBoostingClassifier(n_estimators=3),
    GradientBoostingClassifier(n_estimators=3, subsample=0.5, random_state=1, init="zero"),
    GradientBoostingRegressor(n_estimators=3, loss="quantile", quantiles=(0.1, 0.9)),
    GradientBoostingRegressor(n_estimators=3, loss=Huber(0.8)),
    GradientBoostingRegressor(n_estimators=9, loss="poisson", early_stopping=True, random_state=0),
    GradientBoostingRegressor(n_estimators=3, estimator=DecisionTreeRegressor(max_depth=2)),
    GradientBoostingRegressor(n_estimators=3, init=DecisionTreeRegressor(max_depth=1)),
]


def assert_same_models(a, b, X):
    assert repr(a) == repr(b)
    assert set(vars(a)) == set(vars(b))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.train_score_, b.train_score_)
    np.testing.assert_array_equal(a.training_log_.seconds, b.training_log_.seconds)
    if hasattr(a, "feature_importances_"):
        np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)
        np.testing.assert_array_equal(a.predict_contributions(X), b.predict_contributions(X))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_model_comes_back_as_it_was(model, frame, rng, tmp_path):
    y = rng.integers(0, 3, 90)
    model = copy.deepcopy(model).fit(frame, y)
    save(model, tmp_path / "model")
    assert_same_models(model, load(tmp_path / "model"), frame)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        assert_same_models(model, pickle.loads(pickle.dumps(model, protocol)), frame)
    assert_same_models(model, copy.deepcopy(model), frame)


def test_a_loaded_model_boosts_on(frame, rng, tmp_path):
    y = rng.normal(size=90)
    model = GradientBoostingRegressor(n_estimators=2, warm_start=True, subsample=0.5).fit(frame, y)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    for each in (model, loaded):
        each.set_params(n_estimators=5).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), loaded.predict(frame))


def test_unfitted_models_come_back(tmp_path):
    save(GradientBoostingClassifier(max_splits=3), tmp_path / "model")
    assert load(tmp_path / "model").get_params()["max_splits"] == 3


class Own(Loss):
    def row_losses(self, y, scores):
        return (y - scores) ** 2

    def gradients(self, y, scores):
        return scores - y, np.ones_like(scores)


def test_what_cannot_be_stored_safely_is_named(frame, rng, tmp_path):
    y = rng.normal(size=90)
    model = GradientBoostingRegressor(n_estimators=1, loss=Own()).fit(frame, y)
    with pytest.raises(TypeError, match="loss"):
        save(model, tmp_path / "model")
    foreign = GradientBoostingClassifier(n_estimators=1, init=ExtraTreeClassifier())
    with pytest.raises(TypeError, match="init"):
        save(foreign.fit(frame[["a"]].fillna(0), y > 0), tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_sum", None),
        ("_start", None),
        ("_loss", None),
        ("training_log_", 3),
        ("n_estimators_", 7),
        ("classes_", np.array([0, 1])),
        ("n_outputs_", 2),
    ],
)
def test_parts_that_do_not_fit_each_other_are_refused(name, value, frame, rng):
    model = GradientBoostingClassifier(n_estimators=2).fit(frame, rng.integers(0, 3, 90))
    setattr(model, name, value)
    encoded, arrays = _codec.encode(model)
    with pytest.raises(ValueError, match="not valid"):
        _codec.decode(encoded, arrays)


def test_a_damaged_file_is_refused(frame, rng, tmp_path):
    model = GradientBoostingClassifier(n_estimators=2).fit(frame, rng.integers(0, 3, 90))
    path = tmp_path / "model"
    save(model, path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(ModelFileError):
        load(path)
