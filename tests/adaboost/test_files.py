"""AdaBoost models come back from files, pickles and copies; broken files are refused."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.tree import ExtraTreeClassifier

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ModelFileError,
    load,
    save,
)
from committee.files import codec as _codec


@pytest.fixture
def frame(rng):
    X = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["x", "y"], 90)})
    X["c"] = rng.integers(0, 5, 90)
    X.loc[::7, "a"] = np.nan
    return X


@pytest.fixture
def y(frame, rng):
    signal = frame["a"].fillna(0.5) + (frame["b"] == "x") + rng.normal(size=90) / 2
    return np.digitize(signal, [0.0, 1.0])


MODELS = [
    AdaBoostClassifier(n_estimators=4),
    AdaBoostClassifier(n_estimators=4, variant="real", keep_weights=True),
    AdaBoostClassifier(n_estimators=4, variant="gentle", calibration=None),
    AdaBoostClassifier(n_estimators=4, multiclass="M1", criterion="error"),
    AdaBoostClassifier(n_estimators=9, n_iter_no_change=3, scoring="neg_log_loss", random_state=0),
    AdaBoostClassifier(n_estimators=4, resampling=True, random_state=1, split_finding="hist"),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, variant="real"),
    AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=2, class_weight="balanced"), n_estimators=3
    ),
    AdaBoostRegressor(n_estimators=4, random_state=0),
    AdaBoostRegressor(n_estimators=4, resampling=False, loss="square", keep_weights=True),
    AdaBoostRegressor(n_estimators=9, n_iter_no_change=3, random_state=0, loss="exponential"),
    AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=4, resampling=False),
]

ANSWERS = [
    "predict",
    "predict_proba",
    "decision_function",
    "predict_contributions",
]


def same_arrays(a, b):
    assert (a is None) == (b is None)
    if a is not None:
        np.testing.assert_array_equal(a, b)


def assert_same_models(a, b, X, y):
    assert repr(a) == repr(b)
    assert set(vars(a)) == set(vars(b))
    for name in ANSWERS:
        if hasattr(a, name) and not (name == "predict_contributions" and "schema_" not in vars(a)):
            np.testing.assert_array_equal(getattr(a, name)(X), getattr(b, name)(X))
    for ours, theirs in zip(a.staged_predict(X), b.staged_predict(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    if hasattr(a, "margins"):
        np.testing.assert_array_equal(a.margins(X, y), b.margins(X, y))
        assert a.temperature_ == b.temperature_
    np.testing.assert_array_equal(a.estimator_weights_, b.estimator_weights_)
    np.testing.assert_array_equal(a.estimator_errors_, b.estimator_errors_)
    np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)
    assert a.trace_.to_frame().equals(b.trace_.to_frame())
    same_arrays(a.trace_.distributions, b.trace_.distributions)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_model_comes_back_as_it_was(model, frame, y, tmp_path):
    model = clone(model).fit(frame, y)
    assert len(model) > 1 or model.n_iter_no_change is not None
    save(model, tmp_path / "model")
    assert_same_models(model, load(tmp_path / "model"), frame, y)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        assert_same_models(model, pickle.loads(pickle.dumps(model, protocol)), frame, y)
    assert_same_models(model, copy.deepcopy(model), frame, y)
    again = clone(load(tmp_path / "model"))
    assert not hasattr(again, "estimators_")
    assert_same_models(model, again.fit(frame, y), frame, y)


@pytest.mark.parametrize("cls", [AdaBoostClassifier, AdaBoostRegressor])
def test_unfitted_models_come_back(cls, tmp_path):
    save(cls(n_estimators=3, learning_rate=0.5), tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.get_params()["learning_rate"] == 0.5
    assert not hasattr(loaded, "estimators_")


@pytest.mark.filterwarnings("ignore:the first learner has an error:UserWarning")
def test_small_committees_come_back(tmp_path):
    for X, y in (([[1.0]], ["a"]), ([[1.0], [1.0]], [0, 1]), ([[1.0], [2.0]], [True, False])):
        model = AdaBoostClassifier().fit(X, y)
        save(model, tmp_path / "model")
        loaded = load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_what_cannot_be_stored_safely_is_named(frame, y, tmp_path):
    model = AdaBoostClassifier(ExtraTreeClassifier(), n_estimators=2).fit(frame[["c"]], y)
    with pytest.raises(TypeError, match="estimator"):
        save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.predict_proba(frame[["c"]]), model.predict_proba(frame[["c"]])
    )


def changed(log, **changes):
    log = copy.deepcopy(log)
    for name, value in changes.items():
        setattr(log, name, value)
    return log


TAMPERED = {
    "no members": lambda m: {"estimators_": []},
    "members of another kind": lambda m: {"estimators_": 3},
    "fewer weights": lambda m: {"estimator_weights_": m.estimator_weights_[:-1]},
    "weights of another type": lambda m: {
        "estimator_weights_": m.estimator_weights_.astype(np.float32)
    },
    "an endless weight": lambda m: {"estimator_weights_": m.estimator_weights_ * np.inf},
    "weights that are no numbers": lambda m: {"estimator_weights_": m.estimator_weights_ * np.nan},
    "no weights": lambda m: {"estimator_weights_": None},
    "more errors": lambda m: {"estimator_errors_": np.zeros(len(m) + 1)},
    "a square of errors": lambda m: {"estimator_errors_": np.zeros((len(m), 1))},
    "no log": lambda m: {"_log": None},
    "a shorter log": lambda m: {"_log": m._log.head(1)},
    "an uneven log": lambda m: {"_log": changed(m._log, error=m._log.error[:1])},
    "a log of words": lambda m: {"_log": changed(m._log, error=["a"] * len(m))},
    "one distribution": lambda m: {"_log": changed(m._log, distributions=[np.ones(3)])},
    "distributions of words": lambda m: {"_log": changed(m._log, distributions=["a"] * len(m))},
    "another number of features": lambda m: {"n_features_in_": 7},
}
OF_CLASSES = {
    "no rule": lambda m: {"_rule": None},
    "other classes": lambda m: {"classes_": np.array([0, 1])},
    "renamed classes": lambda m: {"classes_": np.array([5, 6, 7])},
    "another number of classes": lambda m: {"n_classes_": 2},
    "no temperature": lambda m: {"temperature_": 0.0},
    "a negative temperature": lambda m: {"temperature_": -1.0},
    "a temperature that is no number": lambda m: {"temperature_": np.nan},
}


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        *((AdaBoostClassifier, name) for name in TAMPERED | OF_CLASSES),
        *((AdaBoostRegressor, name) for name in TAMPERED),
    ],
)
def test_parts_that_do_not_fit_each_other_are_refused(cls, name, frame, y, tmp_path):
    model = cls(n_estimators=3, random_state=0).fit(frame, y)
    for attribute, value in (TAMPERED | OF_CLASSES)[name](model).items():
        setattr(model, attribute, value)
    encoded, arrays = _codec.encode(model)
    with pytest.raises(ValueError, match="not valid"):
        _codec.decode(encoded, arrays)
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("variant", "logit"),
        ("multiclass", "M2"),
        ("n_classes", 2),
        ("n_classes", 0),
        ("learning_rate", np.inf),
        ("smoothing", -1.0),
        ("smoothing", "much"),
    ],
)
def test_a_rule_that_does_not_exist_is_refused(field, value, frame, y):
    model = AdaBoostClassifier(n_estimators=2).fit(frame, y)
    object.__setattr__(model._rule, field, value)
    encoded, arrays = _codec.encode(model)
    with pytest.raises(ValueError, match="not valid"):
        _codec.decode(encoded, arrays)


def test_trees_of_numbers_are_refused_by_a_classifier(frame, y):
    model = AdaBoostClassifier(n_estimators=2).fit(frame, y)
    model.estimators_ = AdaBoostRegressor(n_estimators=2, random_state=0).fit(frame, y).estimators_
    encoded, arrays = _codec.encode(model)
    with pytest.raises(ValueError, match="not valid"):
        _codec.decode(encoded, arrays)


@pytest.mark.parametrize("cls", [AdaBoostClassifier, AdaBoostRegressor])
def test_a_damaged_file_is_refused(cls, frame, y, tmp_path):
    path = tmp_path / "model"
    save(cls(n_estimators=2, random_state=0).fit(frame, y), path)
    whole = path.read_bytes()
    for place in np.linspace(0, len(whole) - 1, 40).astype(int):
        content = bytearray(whole)
        content[place] ^= 0xFF
        path.write_bytes(bytes(content))
        with pytest.raises(ModelFileError):
            load(path)
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load(path)
