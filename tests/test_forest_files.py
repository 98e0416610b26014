"""Forests come back from files, pickles and copies as they were; broken files are refused."""

import copy
import json
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from test_forests import ALL, CLASSIFIERS, assert_same_forests, make_data
from tree_tools import make_weight

from committee import (
    ExtraTreesRegressor,
    ModelFileError,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
    save,
)
from committee.datasets import load_penguins
from committee.files import codec as _codec

# The least parameters that make a fitted forest of each kind that files know.
CASES = [
    {},
    {"criterion": "other", "max_leaf_nodes": 9},
    {"bootstrap": True, "oob_score": True, "uncertainty": True, "n_estimators": 70},
    {"draw_features": "tree", "max_features": 2, "category_split": "fanout"},
    {"bootstrap": False, "max_samples": 0.5, "uncertainty": True},
]


def fitted(cls, params, rng, n_outputs=1, weights="none"):
    X, y = make_data(cls, rng, n_outputs=n_outputs)
    params = {"n_estimators": 4, "random_state": 7, **params}
    if params.get("criterion") == "other":
        params["criterion"] = "entropy" if cls in CLASSIFIERS else "absolute_error"
    return cls(**params).fit(X, y, make_weight(weights, rng, len(X))), X


def assert_same_models(a, b, X):
    assert_same_forests(a, b)
    assert repr(a) == repr(b)
    assert set(vars(a)) == set(vars(b))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)
    for left, right in zip(a.estimators_samples_, b.estimators_samples_, strict=True):
        np.testing.assert_array_equal(left, right)
    if hasattr(a, "oob_score_"):
        assert a.oob_score_632_plus_ == b.oob_score_632_plus_
        np.testing.assert_array_equal(a.oob_curve_.score, b.oob_curve_.score)
    if a._train is not None:
        np.testing.assert_array_equal(a._train.leaves, b._train.leaves)


@pytest.mark.parametrize("weights", ["none", "parts"])
@pytest.mark.parametrize("params", CASES, ids=lambda params: ",".join(params) or "plain")
@pytest.mark.parametrize("cls", ALL)
def test_a_forest_comes_back_as_it_was(cls, params, weights, rng, tmp_path):
    model, X = fitted(cls, params, rng, weights=weights)
    save(model, tmp_path / "forest")
    assert_same_models(model, load(tmp_path / "forest"), X)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        assert_same_models(model, pickle.loads(pickle.dumps(model, protocol)), X)
    assert_same_models(model, copy.deepcopy(model), X)


@pytest.mark.parametrize("cls", ALL)
def test_several_outputs_and_unfitted_forests_come_back(cls, rng, tmp_path):
    model, X = fitted(cls, {"bootstrap": True, "oob_score": True, "n_estimators": 40}, rng, 2)
    save(model, tmp_path / "forest")
    loaded = load(tmp_path / "forest")
    assert_same_models(model, loaded, X)
    if cls in CLASSIFIERS:
        for left, right in zip(
            model.oob_decision_function_, loaded.oob_decision_function_, strict=True
        ):
            np.testing.assert_array_equal(left, right)
    save(cls(max_depth=3), tmp_path / "unfitted")
    assert repr(load(tmp_path / "unfitted")) == repr(cls(max_depth=3))


def test_a_loaded_forest_goes_on_growing(rng, tmp_path):
    X, y = make_data(RandomForestClassifier, rng)
    model = RandomForestClassifier(4, warm_start=True, random_state=None).fit(X, y)
    save(model, tmp_path / "forest")
    loaded = load(tmp_path / "forest").set_params(n_estimators=9).fit(X, y)
    assert_same_forests(loaded, model.set_params(n_estimators=9).fit(X, y))


def test_the_file_of_a_binary_forest_is_small(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    X, y = np.repeat(X, 8, axis=0), np.repeat(y, 8)
    X, y = X + rng.normal(size=X.shape) * X.std(axis=0), rng.permutation(y)
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    save(model, tmp_path / "forest")
    n_nodes = int(model._forest.node_counts().sum())
    assert n_nodes > 20_000
    assert (tmp_path / "forest").stat().st_size <= 16 * n_nodes
    assert len(pickle.dumps(model)) <= 16 * n_nodes


def test_raw_tables_are_read_the_same_after_loading(tmp_path):
    X, y = load_penguins()
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    save(model, tmp_path / "forest")
    loaded = load(tmp_path / "forest")
    shuffled = X[X.columns[::-1]]
    np.testing.assert_array_equal(loaded.predict_proba(shuffled), model.predict_proba(X))


def test_the_same_forest_gives_the_same_bytes(rng, tmp_path):
    model, _ = fitted(ExtraTreesRegressor, {"uncertainty": True}, rng)
    save(model, tmp_path / "a")
    save(load(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_reader_finds_the_trees_in_the_file(tmp_path):
    """The description in docs/model-file.md, read without the library."""
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    save(model, tmp_path / "forest")
    with zipfile.ZipFile(tmp_path / "forest") as archive:
        root = json.loads(archive.read("header.json"))["root"]
        stored = root["estimator"]["attributes"]["_forest"]["forest"]
        arrays = {}
        for name, reference in stored.items():
            with archive.open(f"arrays/{reference['array']}.npy") as file:
                arrays[name] = np.load(file)
    assert arrays["header"].tolist() == [1, 0, 0, 2]
    splits, counts = arrays["splits"], arrays["class_counts"].reshape(-1, 2)
    assert len(splits) == arrays["node_counts"].sum()
    assert len(counts) == (splits == 0).sum()
    tree = model.estimators_[0].tree_
    first = splits[: tree.node_count].astype(int)
    np.testing.assert_array_equal(np.where(first == 0, -2, (first - 1) // 4), tree.feature)
    thresholds = arrays["thresholds"].view(np.float64)[: (first > 0).sum()]
    np.testing.assert_array_equal(thresholds, tree.threshold[tree.feature >= 0])
    leaves = counts[: tree.n_leaves]
    np.testing.assert_array_equal(leaves.sum(axis=1), tree.n_node_samples[tree.feature < 0])


# --- what is refused ----------------------------------------------------------------------------


def parts_of(rng, cls=RandomForestClassifier, **params):
    """A fitted forest as JSON and arrays, to be broken."""
    model, _ = fitted(cls, params, rng)
    root, arrays = _codec.encode(model)
    return root, [array.copy() for array in arrays]


def attributes_of(root):
    return root["estimator"]["attributes"]


def test_forests_whose_parts_do_not_fit_are_refused(rng):
    spoilers = [
        lambda attributes: attributes.update(n_outputs_=2),
        lambda attributes: attributes.update(n_classes_=7),
        lambda attributes: attributes.update(_n_rows=5),
        lambda attributes: attributes.update(_row_sampler=3),
        lambda attributes: attributes.update(_train={"tuple": []}),
        lambda attributes: attributes.pop("_seed"),
        lambda attributes: attributes.update(_seed=-1),
        lambda attributes: attributes.pop("schema_"),
        lambda attributes: attributes["_forest"]["forest"].pop("splits"),
        lambda attributes: attributes.update(predict=1),
        lambda attributes: attributes.update(estimators_=[]),
    ]
    for spoil in spoilers:
        root, arrays = parts_of(rng)
        spoil(attributes_of(root))
        with pytest.raises(ValueError, match="it "):
            _codec.decode(root, arrays)


def test_forests_with_wrong_arrays_are_refused(rng):
    root, _ = parts_of(rng)
    for reference in attributes_of(root)["_forest"]["forest"].values():
        for spoil in (lambda a: a[:-1], lambda a: a.astype(np.float32), lambda a: a[:, None]):
            broken, arrays = parts_of(rng)
            index = reference["array"]
            if len(arrays[index]) == 0:
                continue
            arrays[index] = np.ascontiguousarray(spoil(arrays[index]))
            with pytest.raises(ValueError, match="forest"):
                _codec.decode(broken, arrays)


@pytest.mark.parametrize("cls", [RandomForestClassifier, RandomForestRegressor])
def test_random_changes_are_refused_or_harmless(cls, rng):
    model, X = fitted(cls, {"uncertainty": True}, rng)
    root, arrays = _codec.encode(model)
    refused = 0
    for _ in range(150):
        changed = [array.copy() for array in arrays]
        index = int(rng.integers(len(changed)))
        if changed[index].size == 0:
            continue
        flat = changed[index].reshape(-1).view(np.uint8)
        flat[rng.integers(len(flat))] ^= np.uint8(1 << rng.integers(8))
        try:
            _codec.decode(root, changed).predict(X)
        except ValueError:
            refused += 1
    assert refused > 5


def test_a_file_of_a_truncated_forest_is_refused(rng, tmp_path):
    model, _ = fitted(RandomForestRegressor, {}, rng)
    save(model, tmp_path / "forest")
    data = (tmp_path / "forest").read_bytes()
    (tmp_path / "forest").write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelFileError):
        load(tmp_path / "forest")
