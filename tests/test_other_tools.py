"""Tools around scikit-learn take our models: skops, MLflow, shap, MAPIE, viewers of trees, queries.

Each test skips where its tool is not installed: `pip install '.[test,tools]'` brings them all.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CommitteeClassifier,
    CommitteeRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ID3Classifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    bootstrap_score,
    explain_rows,
)
from committee.datasets import load_penguins

# The tools warn of each other.
pytestmark = pytest.mark.filterwarnings("ignore:::(?!committee)")

PAGE = Path(__file__).parent.parent / "docs" / "guide" / "other-tools.md"
BLOCK = re.compile(r"^```(python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(PAGE.read_text(encoding="utf-8"))

CLASSIFIERS = [("tree", DecisionTreeClassifier(max_depth=3)), ("few", ID3Classifier(max_depth=2))]
REGRESSORS = [("tree", DecisionTreeRegressor(max_depth=3)), ("two", DecisionTreeRegressor())]
MODELS = [
    DecisionTreeClassifier(),
    DecisionTreeRegressor(),
    ID3Classifier(),
    C45Classifier(),
    RandomForestClassifier(3, oob_score=True, random_state=0),
    RandomForestRegressor(3, uncertainty=True, random_state=0),
    ExtraTreesClassifier(3, random_state=0),
    ExtraTreesRegressor(3, random_state=0),
    GradientBoostingClassifier(n_estimators=4, early_stopping=True, random_state=0),
    GradientBoostingRegressor(n_estimators=4, loss="huber", random_state=0),
    AdaBoostClassifier(n_estimators=3),
    AdaBoostRegressor(n_estimators=3, random_state=0),
    BaggingClassifier(n_estimators=3, random_state=0),
    BaggingRegressor(DecisionTreeRegressor(max_depth=2), 3, random_state=0),
    VotingClassifier(CLASSIFIERS, voting="soft"),
    VotingRegressor(REGRESSORS),
    StackingClassifier(CLASSIFIERS, random_state=0),
    StackingRegressor(REGRESSORS, random_state=0),
    EnsembleSelectionClassifier(CLASSIFIERS, random_state=0),
    EnsembleSelectionRegressor(REGRESSORS, random_state=0),
    DynamicSelectionClassifier(CLASSIFIERS, random_state=0),
    DynamicSelectionRegressor(REGRESSORS, random_state=0),
    CommitteeClassifier(budget=0.05, random_state=0),
    CommitteeRegressor(budget=0.05, random_state=0),
]


def table(n_rows=80):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows),
            "text": rng.choice(["red", "blue"], n_rows),
            "level": pd.Categorical(rng.choice(["S", "L"], n_rows), ["S", "L"], ordered=True),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n_rows), "D"),
            "is": rng.random(n_rows) < 0.5,
        }
    )
    X.loc[::9, "number"] = np.nan
    y = X["number"].fillna(1) + (X["text"] == "red")
    return X, y.to_numpy()


def fitted(model, X, y):
    if hasattr(model, "predict_proba"):
        return model.fit(X, np.where(y > 0.5, "yes", "no"))
    return model.fit(X, y)


def answers(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_skops_keeps_every_model(model):
    io = pytest.importorskip("skops.io")
    X, y = table()
    fitted(model, X, y)
    stored = io.dumps(model)
    trusted = io.get_untrusted_types(data=stored)
    loaded = io.loads(stored, trusted=trusted)
    np.testing.assert_array_equal(answers(loaded, X), answers(model, X))
    assert all(name.startswith(("committee.", "sklearn.")) for name in trusted), trusted
    if hasattr(model, "tree_"):
        assert loaded.tree_.n_leaves == model.tree_.n_leaves
        np.testing.assert_array_equal(loaded.tree_.value, model.tree_.value)


# --- shap -----------------------------------------------------------------------------------------


def dictionary(forest):
    """The trees of a forest in the form that shap reads."""
    trees = []
    for member in forest.estimators_:
        tree = member.tree_
        to_left = tree.missing_go_to_left == 1
        trees.append(
            {
                "children_left": tree.children_left,
                "children_right": tree.children_right,
                "children_default": np.where(to_left, tree.children_left, tree.children_right),
                "features": tree.feature,
                "thresholds": tree.threshold,
                "values": tree.value[:, 0] / len(forest.estimators_),
                "node_sample_weight": tree.weighted_n_node_samples,
            }
        )
    return {"trees": trees, "internal_dtype": np.float64, "input_dtype": np.float64}


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_shap_finds_the_same_values_in_our_trees(kind, rng):
    shap = pytest.importorskip("shap")
    X = rng.normal(size=(150, 4))
    X[::6, 1] = np.nan
    y = X[:, 0] * np.nan_to_num(X[:, 1]) + X[:, 2]
    forest = kind(5, random_state=0).fit(X, y if kind is RandomForestRegressor else y > 0)
    theirs = shap.TreeExplainer(dictionary(forest)).shap_values(X)
    ours = explain_rows(forest, X).contributions
    np.testing.assert_allclose(ours, np.reshape(theirs, ours.shape), atol=1e-12)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[9], MODELS[14], MODELS[22]])
def test_explanations_are_given_to_shap(model):
    pytest.importorskip("shap")
    X, y = table()
    found = explain_rows(fitted(model, X, y), X)
    given = found.to_shap()
    assert given.feature_names == list(X.columns)
    total = given.base_values + given.values.sum(axis=1)
    np.testing.assert_allclose(total, found.predictions, atol=1e-9)
    assert given.data.dtype == np.float64
    assert given.data[:3, 0].tolist() == pytest.approx(X["number"][:3].tolist(), nan_ok=True)
    assert given.display_data[1, 1] == X["text"][1]


def test_shap_without_shap_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shap", None)
    X, y = table()
    found = explain_rows(DecisionTreeRegressor().fit(X, y), X[:1])
    with pytest.raises(ImportError, match="pip install shap"):
        found.to_shap()


# --- queries --------------------------------------------------------------------------------------


def reader(frame):
    native = pa.Table.from_pandas(frame, preserve_index=False)
    return pa.RecordBatchReader.from_batches(native.schema, native.to_batches(max_chunksize=30))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_record_batches_are_read_as_the_table_that_they_are(model):
    X, y = table()
    frame = pa.Table.from_pandas(X, preserve_index=False)
    expected = answers(fitted(model, frame, y), frame)
    np.testing.assert_array_equal(answers(fitted(model, reader(X), y), reader(X)), expected)


def test_record_batches_are_read_by_functions_too():
    X, y = table()
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    options = {"n_resamples": 5, "random_state": 0}
    frame = pa.Table.from_pandas(X, preserve_index=False)
    scores = [bootstrap_score(tree, each, y, **options).score for each in (frame, reader(X))]
    assert scores[0] == scores[1]
    labels = pd.DataFrame({"y": np.where(y > 0, "a", "b")})
    model = DecisionTreeClassifier().fit(X, reader(labels))
    assert model.classes_.tolist() == ["a", "b"]
    bag = BaggingClassifier(LogisticRegression(), 2).fit(reader(X[["is"]]), labels["y"])
    assert len(bag.predict(reader(X[["is"]]))) == len(X)
    votes = VotingRegressor([("line", LinearRegression())]).fit(reader(X[["is"]]), y)
    assert len(votes.predict(reader(X[["is"]]))) == len(X)


def lazy_duckdb(frame):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False)), "df()"


def lazy_dask(frame):
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(frame, npartitions=2), "compute()"


def lazy_polars(frame):
    return pl.from_pandas(frame.astype({"level": str})).lazy(), "collect()"


@pytest.mark.parametrize("make", [lazy_duckdb, lazy_dask, lazy_polars])
def test_a_query_is_refused_with_the_call_that_runs_it(make):
    X, y = table()
    lazy, call = make(X)
    message = rf"^{{}} is a lazy frame of \w+, .* call its {re.escape(call)}"
    with pytest.raises(TypeError, match=message.format("X")):
        DecisionTreeRegressor().fit(lazy, y)
    with pytest.raises(TypeError, match=message.format("X")):
        VotingRegressor(REGRESSORS).fit(lazy, y)
    with pytest.raises(TypeError, match=message.format("X")):
        bootstrap_score(DecisionTreeRegressor(), lazy, y)
    with pytest.raises(TypeError, match=message.format("y")):
        DecisionTreeRegressor().fit(X, lazy)
    with pytest.raises(TypeError, match=message.format("sample_weight")):
        DecisionTreeRegressor().fit(X, y, sample_weight=lazy)
    eager = getattr(lazy, call[:-2])()
    assert len(DecisionTreeRegressor().fit(eager, y).predict(eager)) == len(X)


# --- viewers of trees -----------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS[:1] + MODELS[4:5] + MODELS[8:9], ids=repr)
def test_supertree_reads_trees_of_thresholds_and_refuses_others(model, tmp_path, monkeypatch):
    supertree = pytest.importorskip("supertree")
    monkeypatch.chdir(tmp_path)
    X, y = table()
    names, labels = ["number", "is"], ["no", "yes"]
    numbers = X[names].fillna(0.0).astype(float)
    codes = (y > 0.5).astype(int)
    model.fit(numbers.to_numpy(), codes)
    supertree.SuperTree(model, numbers, codes, names, labels).save_json_tree("tree")
    (written,) = tmp_path.iterdir()
    assert '"feature"' in written.read_text(encoding="utf-8")
    model.fit(X[["text"]], codes)
    with pytest.raises(ValueError, match=r"threshold cannot hold how node 0 divides .* 'text'"):
        supertree.SuperTree(model, numbers, codes, names, labels).save_json_tree("other")


# --- the page -------------------------------------------------------------------------------------


def tools_of(code):
    own = {"committee", "numpy", "sklearn", "pyarrow"}
    return set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)) - own


@pytest.mark.parametrize(
    "code",
    [
        code
        for language, code in BLOCK.findall(PAGE.read_text(encoding="utf-8"))
        if language == "py"
    ],
    ids=lambda code: "-".join(sorted(tools_of(code))) or "none",
)
def test_the_lines_of_the_page_work(code, tmp_path, monkeypatch):
    assert tools_of(code)
    for tool in sorted(tools_of(code)):
        pytest.importorskip(tool)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for language, before in BLOCKS:
        needs_few = "load_penguins" in before or "explain_rows\n" in before or "numbers =" in before
        if language == "python" and needs_few:
            exec(before, names)
    exec(code, names)
    assert len(load_penguins()[0]) == 344
