"""Preprocessors, pipelines and small models of scikit-learn in model files, also as members."""

import copy
import json
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from hostile_models import columns
from packaging.version import Version
from peer_versions import SKLEARN
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn_zoo import BINARY, FRAME, LEVELS, NUMBERS, TARGET, zoo

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ModelFileError,
    StackingClassifier,
    VotingClassifier,
    load,
    save,
)
from committee.files import sklearn_classes
from committee.files.archive import BadContent
from committee.files.codec import decode, encode

ENCODER = OneHotEncoder(handle_unknown="ignore")
METHODS = ("transform", "predict", "predict_proba", "decision_function")


def shown(model):
    return re.sub("0x[0-9a-fA-F]+", "", repr(model))  # some objects have no other name


def plain(result):
    return pd.DataFrame(result.toarray() if issparse(result) else np.asarray(result))


def tags_in(value):
    if isinstance(value, list):
        return {tag for each in value for tag in tags_in(each)}
    if not isinstance(value, dict):
        return set()
    own = {value["class"]} if isinstance(value.get("class"), str) else set()
    return own | {tag for each in value.values() for tag in tags_in(each)}


@pytest.mark.parametrize("name", list(zoo()))
def test_an_estimator_of_scikit_learn_comes_back(name, tmp_path):
    model, X, y = zoo()[name]
    model.fit(X, y)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert shown(loaded) == shown(model)
    for method in METHODS:
        if hasattr(model, method):
            before, after = (getattr(each, method)(X) for each in (model, loaded))
            assert type(before) is type(after)
            pd.testing.assert_frame_equal(plain(before), plain(after), check_exact=True)
    if hasattr(model, "transform") and name != "isotonic":
        assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    save(loaded, tmp_path / "again")
    if Version("1.7") <= SKLEARN:  # older imputers get an attribute that they do not have
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    clone(loaded).fit(X, y)


def test_every_class_on_the_list_comes_back_somewhere():
    found = set()
    for model, X, y in zoo().values():
        found |= tags_in(encode(model.fit(X, y))[0])
    splitters = {
        tag
        for tag, each in sklearn_classes.SKLEARN.items()
        if each.module == "sklearn.model_selection"
    }
    slow = {"LogisticRegressionCV"}
    assert found == set(sklearn_classes.SKLEARN) - splitters - slow


@pytest.mark.parametrize(
    "model",
    [
        VotingClassifier([("p", make_pipeline(columns(ENCODER), LogisticRegression()))]),
        StackingClassifier(
            [("p", Pipeline([("m", GradientBoostingClassifier(n_estimators=2))]))],
            make_pipeline(StandardScaler(), LogisticRegression()),
            cv=StratifiedKFold(2, shuffle=True, random_state=np.random.RandomState(3)),
        ),
        BaggingClassifier(make_pipeline(columns(ENCODER), LogisticRegression()), 2),
        AdaBoostClassifier(make_pipeline(columns(ENCODER), LogisticRegression())),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore:estimator .* not fitted with sample_weight")
def test_members_behind_pipelines_come_back(model, tmp_path):
    X = FRAME[["a", "d"]].rename(columns={"d": "b"})
    if isinstance(model, AdaBoostClassifier):
        model = clone(model).set_params(n_estimators=2, resampling=True)
    model = clone(model).fit(X, BINARY)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert shown(loaded) == shown(model)


@pytest.mark.parametrize(
    "splitter",
    [
        KFold(3, shuffle=True, random_state=1),
        StratifiedKFold(4),
        GroupKFold(2),
        ShuffleSplit(2, test_size=0.3),
    ],
    ids=lambda splitter: type(splitter).__name__,
)
def test_splitters_come_back(splitter):
    loaded = decode(*encode(splitter))
    assert type(loaded) is type(splitter)
    assert vars(loaded) == vars(splitter)


def test_an_estimator_that_is_not_fitted_comes_back():
    for model, _, _ in zoo().values():
        assert shown(decode(*encode(model))) == shown(model)
    template = zoo()["pipeline"][0]
    assert shown(decode(*encode(clone(template)))) == shown(template)


# ---- what is not stored ----


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FunctionTransformer(np.log1p), r"^FunctionTransformer: .*FunctionTransformer: it calls"),
        (make_pipeline(FunctionTransformer(np.log1p)), r"^Pipeline\.steps\[0\]\[1\]: .*it calls"),
        (KNeighborsClassifier().fit(NUMBERS, BINARY), r"KNeighborsClassifier: it keeps rows"),
        (IsolationForest(), r"IsolationForest of 'sklearn'\. A model file holds .* skops"),
        (Ridge().set_params(alpha=np.add), r"^Ridge\.alpha: .*ufunc"),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_what_cannot_be_stored_is_named(model, message):
    with pytest.raises(TypeError, match=message):
        encode(model)


def test_an_attribute_of_another_version_is_named_with_the_version():
    model = StandardScaler().fit(NUMBERS)
    model._new = 1
    version = sklearn.__version__
    with pytest.raises(
        TypeError, match=rf"^StandardScaler\._new: .* scikit-learn {version} is not"
    ):
        encode(model)


def test_the_cache_of_a_pipeline_is_neither_stored_nor_loaded(tmp_path):
    model = Pipeline([("m", Ridge())], memory=str(tmp_path)).fit(NUMBERS, TARGET)
    value, arrays = encode(model)
    assert decode(value, arrays).memory is None
    value["estimator"]["params"]["memory"] = str(tmp_path)  # whose files would be unpickled
    with pytest.raises(BadContent, match="parameters that Pipeline does not have: memory"):
        decode(value, arrays)


# ---- files that do not fit ----


def attributes_of(value):
    return value["estimator"]["attributes"]


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("imputer", "_fit_dtype"),
        ("one hot", "_infrequent_enabled"),
        ("ordinal", "_missing_indices"),
        ("bins", "_encoder"),
        ("power", "_scaler"),
        ("columns", "_transformer_to_input_indices"),
        ("linear", "coef_"),
        ("scaler", "scale_"),
        ("pca", "_fit_svd_solver"),
    ],
)
def test_an_attribute_that_is_missing_is_a_clear_error(name, attribute, tmp_path, monkeypatch):
    model, X, y = zoo()[name]
    value, arrays = encode(model.fit(X, y))
    # As if the file came from a version that has no such attribute.
    gone = attributes_of(value).pop(attribute)
    kept = sorted(set(numbers_of(value)))
    value = renumbered(value, kept)
    assert gone is not None
    with pytest.raises(BadContent, match=rf"^it holds a {type(model).__name__} that is not valid"):
        decode(value, [arrays[number] for number in kept])


def numbers_of(value):
    """The numbers of the arrays that a value refers to."""
    if isinstance(value, list):
        return [number for each in value for number in numbers_of(each)]
    if not isinstance(value, dict):
        return []
    if set(value) & {"array", "transposed"}:
        return list(value.values())
    return [number for each in value.values() for number in numbers_of(each)]


def renumbered(value, kept):
    if isinstance(value, list):
        return [renumbered(each, kept) for each in value]
    if not isinstance(value, dict):
        return value
    if set(value) & {"array", "transposed"}:
        return {tag: kept.index(number) for tag, number in value.items()}
    return {key: renumbered(each, kept) for key, each in value.items()}


def test_the_columns_of_an_encoder_are_checked():
    """scikit-learn would make a sparse matrix whose indices lie outside of it."""
    value, arrays = encode(OneHotEncoder().fit(LEVELS))
    attributes_of(value)["_n_features_outs"] = [1, 1]
    with pytest.raises(BadContent, match="number of columns does not fit the categories"):
        decode(value, arrays)


def test_a_file_that_an_estimator_cannot_use_is_refused(tmp_path):
    model = make_pipeline(StandardScaler(), Ridge()).fit(NUMBERS, TARGET)
    model[1].coef_ = model[1].coef_[:2]
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"Ridge that is not valid: coef_ must be an array"):
        load(tmp_path / "model")
    model = StandardScaler().fit(NUMBERS)
    model.mean_ = None
    save(model, tmp_path / "model")
    version = sklearn.__version__
    with pytest.raises(ModelFileError, match=f"StandardScaler .* in scikit-learn {version}:"):
        load(tmp_path / "model")


def test_names_of_classes_are_those_of_the_list_only():
    value, arrays = encode(KFold(3))
    assert json.dumps(value)
    for name in ("RepeatedKFold", "cross_val_score", "GridSearchCV"):
        other = copy.deepcopy(value)
        other["record"]["class"] = name
        with pytest.raises(BadContent, match="does not know"):
            decode(other, arrays)


def test_a_boosted_start_of_scikit_learn_comes_back(tmp_path):
    start = make_pipeline(StandardScaler(), Ridge())
    model = GradientBoostingRegressor(n_estimators=2, init=start).fit(NUMBERS, TARGET)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(NUMBERS), model.predict(NUMBERS))
