"""Votes and stacks come back from files, pickles and copies; broken files are refused."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import ExtraTreeClassifier

from committee import (
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    ModelFileError,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    load,
    save,
)
from committee.files import codec as _codec
from committee.members.output import Output


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


def classifiers():
    return [
        ("tree", DecisionTreeClassifier(max_depth=3)),
        ("c45", C45Classifier()),
        ("boosting", GradientBoostingClassifier(n_estimators=3, random_state=0)),
    ]


def regressors():
    return [
        ("tree", DecisionTreeRegressor(max_depth=3)),
        ("forest", RandomForestRegressor(4, random_state=0)),
    ]


MODELS = [
    VotingClassifier(classifiers()),
    VotingClassifier(classifiers(), voting="soft", combine="trimmed", trim=0.1, weights=[1, 0, 2]),
    VotingClassifier(classifiers(), voting="majority", tie_break="soft", abstain_label=-1),
    VotingClassifier(classifiers(), voting="confidence", weights="learned", cv=2),
    VotingRegressor([*regressors(), ("gone", "drop")], combine="median"),
    VotingRegressor(regressors(), weights="inverse_error", cv=2),
    StackingClassifier(classifiers(), cv=2),
    StackingClassifier(classifiers(), "convex", cv=2, refit=False),
    StackingClassifier(classifiers(), "convex", cv=2, leak_check=0.3, random_state=0),
    StackingClassifier(
        classifiers(),
        DecisionTreeClassifier(max_depth=4),
        cv=2,
        passthrough=True,
        layers=[[("late", DecisionTreeClassifier(max_depth=2)), ("gone", "drop")]],
    ),
    StackingClassifier(classifiers(), stack_method="predict", cv=2, keep_level_one=True),
    StackingRegressor(regressors(), cv=2),
    StackingRegressor(regressors(), Ridge(0.5), cv=0.5, random_state=0, refit=False),
    StackingRegressor(regressors(), "convex", cv="oob", keep_level_one=True),
    StackingRegressor(regressors(), LinearRegression(), cv=2),
]


def assert_same_models(a, b, X):
    assert repr(a) == repr(b)
    assert set(vars(a)) == set(vars(b))
    for name in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(a, name):
            pd.testing.assert_frame_equal(*(pd.DataFrame(getattr(m, name)(X)) for m in (a, b)))
    assert a.get_feature_names_out().tolist() == b.get_feature_names_out().tolist()
    assert a.named_estimators_.keys() == b.named_estimators_.keys()
    if hasattr(a, "leak_report_"):
        assert a.leak_report_.to_frame().equals(b.leak_report_.to_frame())
        assert a.leak_report_.message == b.leak_report_.message
    if hasattr(a, "level_one_"):
        np.testing.assert_array_equal(np.asarray(a.level_one_), np.asarray(b.level_one_))
    if hasattr(a, "explain_vote"):
        assert str(a.explain_vote(X[:1])) == str(b.explain_vote(X[:1]))


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
def test_a_model_comes_back_as_it_was(model, frame, y, tmp_path):
    model = clone(model).fit(frame, y)
    save(model, tmp_path / "model")
    assert_same_models(model, load(tmp_path / "model"), frame)
    assert_same_models(model, pickle.loads(pickle.dumps(model)), frame)
    assert_same_models(model, copy.deepcopy(model), frame)
    again = clone(load(tmp_path / "model"))
    assert not hasattr(again, "estimators_")
    assert_same_models(model, again.fit(frame, y), frame)


@pytest.mark.parametrize(
    "model",
    [
        VotingClassifier(classifiers(), voting="soft"),
        VotingRegressor(regressors(), weights=[1, 2.5]),
        StackingClassifier(classifiers(), LogisticRegression(C=3.0), layers=[[("l", Ridge())]]),
        StackingRegressor(regressors(), RidgeCV(alphas=(1.0, 2.0)), cv="oob"),
    ],
    ids=["vote", "vote of numbers", "stack", "stack of numbers"],
)
def test_unfitted_models_come_back(model, tmp_path):
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert repr(loaded) == repr(model)
    assert not hasattr(loaded, "estimators_")


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_logistic_regression_predicts_the_same_bits(n_classes, rng, tmp_path):
    """Sums of products are rounded by the order of the coefficients in memory."""
    X = rng.normal(size=(400, 7))
    y = (X @ rng.normal(size=(7, n_classes))).argmax(axis=1)
    line = LogisticRegression()
    stack = StackingClassifier([("line", line), *classifiers()[:2]], line, cv=2, passthrough=True)
    save(stack.fit(X, y), tmp_path / "model")
    loaded = load(tmp_path / "model")
    more = rng.normal(size=(3000, 7))
    for a, b in (
        (stack, loaded),
        (stack.estimators_[0], loaded.estimators_[0]),
    ):
        for method in ("decision_function", "predict_proba"):
            np.testing.assert_array_equal(getattr(a, method)(more), getattr(b, method)(more))
    save(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("labels", [["a", "b"], [True, False], [0, 1], [-2.0, 7.0]], ids=repr)
def test_labels_of_every_kind_come_back(labels, tmp_path):
    X, y = [[1.0], [2.0]] * 4, labels * 4
    for model in (
        VotingClassifier(classifiers()[:2], voting="soft"),
        StackingClassifier(classifiers()[:2], "convex", cv=2),
        StackingClassifier(classifiers()[:2], cv=2),
    ):
        save(model.fit(X, y), tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert loaded.predict(X).tolist() == model.predict(X).tolist()
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_what_cannot_be_stored_safely_is_named(frame, y, tmp_path):
    X = frame[["c"]]
    foreign = ("bayes", ExtraTreeClassifier())
    pipeline = ("pipe", make_pipeline(FunctionTransformer(np.sqrt), LogisticRegression()))
    frozen = ("frozen", FrozenEstimator(ExtraTreeClassifier().fit(X, y)))
    for member in (foreign, pipeline, frozen):
        for cls in (VotingClassifier, StackingClassifier):
            model = cls([classifiers()[0], member]).fit(X, y)
            with pytest.raises(TypeError, match=r"ExtraTreeClassifier|FunctionTransformer"):
                save(model, tmp_path / "model")
            assert not (tmp_path / "model").exists()
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    model = StackingClassifier(classifiers(), ExtraTreeClassifier(), cv=2).fit(frame, y)
    with pytest.raises(TypeError, match="ExtraTreeClassifier"):
        save(model, tmp_path / "m")


# --- hostile files ------------------------------------------------------------------------------


def other_output(output, **changes):
    output = copy.copy(output)
    for name, value in changes.items():
        object.__setattr__(output, name, value)
    return output


def outputs_with(model, **changes):
    outputs = model._outputs
    if isinstance(outputs[0], list):
        return [[other_output(each, **changes) for each in layer] for layer in outputs]
    return [other_output(each, **changes) for each in outputs]


OF_BOTH = {
    "another method": lambda m: {"_outputs": outputs_with(m, method="set_params")},
    "a private method": lambda m: {"_outputs": outputs_with(m, method="__reduce__")},
    "a method that is no text": lambda m: {"_outputs": outputs_with(m, method=3)},
    "other classes": lambda m: {"_outputs": outputs_with(m, n_classes=7)},
    "classes that are no number": lambda m: {"_outputs": outputs_with(m, n_classes="many")},
    "labels of another length": lambda m: {"_outputs": outputs_with(m, labels=np.arange(9))},
    "no outputs": lambda m: {"_outputs": []},
    "outputs of another kind": lambda m: {"_outputs": 3},
    "fewer outputs": lambda m: {"_outputs": m._outputs[:-1]},
    "outputs that are text": lambda m: {"_outputs": ["predict"] * len(m._outputs)},
    "another number of features": lambda m: {"n_features_in_": -1},
    "features of another kind": lambda m: {"n_features_in_": "three"},
    "fewer names": lambda m: {"feature_names_in_": m.feature_names_in_[:1]},
    "fewer labels": lambda m: {"classes_": m.classes_[:2]},
}
OF_VOTES = {
    "no members": lambda m: {"estimators_": []},
    "members of another kind": lambda m: {"estimators_": 3},
    "fewer members": lambda m: {"estimators_": m.estimators_[:1]},
    "members that are text": lambda m: {"estimators_": ["a"] * 3},
    "members that cannot say it": lambda m: {"estimators_": [Output("predict", 3)] * 3},
    "fewer weights": lambda m: {"weights_": m.weights_[:1]},
    "weights of nothing": lambda m: {"_counts": m._counts * 0},
    "negative weights": lambda m: {"_counts": -m._counts},
    "weights that are no numbers": lambda m: {"weights_": m.weights_ * np.nan},
    "weights of another type": lambda m: {"_counts": m._counts.astype(np.float32)},
    "names of another length": lambda m: {"_names": ["a"]},
    "no names": lambda m: {"_names": None},
    "names that are no text": lambda m: {"_names": [1, 2, 3]},
    "priors of another length": lambda m: {"class_prior_": np.ones(1)},
}
OF_STACKS = {
    "no layers": lambda m: {"layers_": []},
    "layers of another kind": lambda m: {"layers_": 3},
    "a layer too many": lambda m: {"layers_": m.layers_ * 2},
    "fewer members in a layer": lambda m: {"layers_": [m.layers_[0][:1]]},
    "no meta-learner": lambda m: {"final_estimator_": None},
    "a meta-learner of numbers": lambda m: {
        "final_estimator_": LinearRegression().fit(np.zeros((2, 9)), [0.0, 1.0])
    },
    "a meta-learner of other columns": lambda m: {
        "final_estimator_": LogisticRegression().fit(np.eye(4), [0, 1, 2, 0])
    },
    "a meta-learner of other classes": lambda m: {
        "final_estimator_": LogisticRegression().fit(np.eye(9), [0, 1, 2, 3, 4] + [0] * 4)
    },
    "a report of text": lambda m: {"leak_report_": "fine"},
    "methods of another kind": lambda m: {"stack_method_": 3},
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("vote", name) for name in OF_BOTH | OF_VOTES),
        *(("stack", name) for name in OF_BOTH | OF_STACKS),
    ],
)
def test_parts_that_do_not_fit_each_other_are_refused(kind, name, frame, y, tmp_path):
    if kind == "vote":
        model = VotingClassifier(classifiers(), voting="soft").fit(frame, y)
    else:
        model = StackingClassifier(classifiers(), cv=2).fit(frame, y)
    for attribute, value in (OF_BOTH | OF_VOTES | OF_STACKS)[name](model).items():
        setattr(model, attribute, value)
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    "changes",
    [
        {"weights_": np.ones(1)},
        {"weights_": np.full(3, np.nan)},
        {"weights_": None},
        {"methods": ["predict_proba"] * 2},
        {"methods": ["__class__"] * 3},
        {"methods": []},
        {"methods": "predict"},
        {"n_classes": 0},
        {"n_classes": 10**9},
        {"n_classes": None},
    ],
    ids=repr,
)
def test_a_mixture_that_does_not_fit_is_refused(changes, frame, y):
    model = StackingClassifier(classifiers(), "convex", cv=2).fit(frame, y)
    for attribute, value in changes.items():
        setattr(model.final_estimator_, attribute, value)
    encoded, arrays = _codec.encode(model)
    with pytest.raises(ValueError, match="not valid"):
        _codec.decode(encoded, arrays)


def test_models_of_folds_that_do_not_fit_are_refused(frame, y):
    for changes in ({"estimators": []}, {"estimators": 3}, {"estimators": ["a"]}, {"output": None}):
        model = StackingClassifier(classifiers(), "convex", cv=2, refit=False).fit(frame, y)
        for attribute, value in changes.items():
            setattr(model.layers_[0][0], attribute, value)
        encoded, arrays = _codec.encode(model)
        with pytest.raises(ValueError, match="not valid"):
            _codec.decode(encoded, arrays)


def test_a_report_that_does_not_fit_is_refused(frame, y):
    for changes in (
        {"promised": np.ones(1)},
        {"found": None},
        {"names": ("a",)},
        {"names": (1, 2, 3, 4)},
        {"twins": "many"},
        {"mean_loss": None},
        {"n_rows": "all"},
        {"error": np.ones(4, np.int64)},
    ):
        model = StackingClassifier(classifiers(), "convex", cv=2, leak_check=True, random_state=0)
        model.fit(frame, y)
        for attribute, value in changes.items():
            object.__setattr__(model.leak_report_, attribute, value)
        encoded, arrays = _codec.encode(model)
        with pytest.raises(ValueError, match="not valid"):
            _codec.decode(encoded, arrays)


@pytest.mark.parametrize("cls", [VotingClassifier, StackingClassifier])
def test_a_damaged_file_is_refused(cls, frame, y, tmp_path):
    path = tmp_path / "model"
    save(cls(classifiers()[:2], cv=2).fit(frame, y), path)
    whole = path.read_bytes()
    for place in np.linspace(0, len(whole) - 1, 25).astype(int):
        content = bytearray(whole)
        content[place] ^= 0xFF
        path.write_bytes(bytes(content))
        with pytest.raises(ModelFileError):
            load(path)
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load(path)


def test_a_file_names_no_foreign_class(frame, y):
    model = StackingClassifier(classifiers(), cv=2).fit(frame, y)
    encoded, arrays = _codec.encode(model)
    text = json.dumps(encoded)
    for name in ("Pipelines", "os.system", "GridSearchCV", "ExtraTreeClassifier", "SVC"):
        changed = json.loads(text.replace('"LogisticRegression"', json.dumps(name)))
        with pytest.raises(ValueError, match=name):
            _codec.decode(changed, arrays)
