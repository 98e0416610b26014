"""scikit-learn's conventions: its own checks, and its tools at work on our trees."""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier, VotingRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from committee import DecisionTreeClassifier, DecisionTreeRegressor

BOTH = [DecisionTreeClassifier, DecisionTreeRegressor]


@parametrize_with_checks([cls() for cls in BOTH])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        DecisionTreeClassifier(split_finding="hist", criterion="entropy"),
        DecisionTreeClassifier(criterion="error", max_leaf_nodes=20, category_split="fanout"),
        DecisionTreeRegressor(split_finding="hist", max_depth=8),
        DecisionTreeRegressor(criterion="absolute_error", splitter="random", random_state=0),
    ]
)
def test_scikit_learns_own_checks_pass_with_other_settings(estimator, check):
    check(estimator)


# --- signature --------------------------------------------------------------------------------

# Parameters whose default differs from scikit-learn's; docs/defaults.md has the reasons.
DIFFERENT_DEFAULTS = {}
NEW_PARAMETERS = {
    "split_finding",
    "max_bins",
    "categorical_features",
    "numeric_text",
    "category_split",
    "level_penalty",
    "n_jobs",
}


@pytest.mark.parametrize("cls", BOTH)
def test_the_constructor_has_scikit_learns_parameters_and_defaults(cls):
    theirs = inspect.signature(getattr(sklearn.tree, cls.__name__)).parameters
    ours = inspect.signature(cls).parameters
    assert set(theirs) <= set(ours)
    assert set(ours) - set(theirs) == NEW_PARAMETERS
    for name, parameter in theirs.items():
        expected = DIFFERENT_DEFAULTS.get((cls.__name__, name), parameter.default)
        assert ours[name].default == expected, name
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in ours.values())


def test_every_difference_from_scikit_learn_is_documented():
    page = (Path(__file__).parents[1] / "docs" / "defaults.md").read_text(encoding="utf-8")
    different = {name for _, name in DIFFERENT_DEFAULTS}
    assert {name for name in NEW_PARAMETERS | different if f"`{name}" not in page} == set()


@pytest.mark.parametrize("cls", BOTH)
def test_public_methods_and_attributes_of_scikit_learns_trees_exist(cls, rng):
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    theirs = getattr(sklearn.tree, cls.__name__)().fit(X, y)
    ours = cls().fit(X, y)
    names = {name for name in dir(theirs) if not name.startswith("_")}
    if cls is DecisionTreeRegressor:
        names -= {"class_weight"}  # left there by a shared base class; no parameter
    missing = {name for name in names if not hasattr(ours, name)}
    assert missing == set()
    node_names = {name for name in dir(theirs.tree_) if not name.startswith("_")}
    # The view has no spare room to tell the size of, and partial dependence goes through
    # sklearn.inspection, which asks this one only of scikit-learn's own classes.
    private = {"capacity", "compute_partial_dependence"}
    assert {name for name in node_names if not hasattr(ours.tree_, name)} <= private
    stump = cls(max_depth=1).fit(X, y).tree_
    assert stump.compute_node_depths().tolist() == [1, 2, 2]  # scikit-learn counts from one


def test_the_first_argument_may_not_be_positional_by_accident():
    with pytest.raises(TypeError):
        DecisionTreeClassifier("gini")


@pytest.mark.parametrize("cls", BOTH)
def test_tags_say_what_the_trees_can_do(cls):
    tags = get_tags(cls())
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.string
    assert tags.input_tags.sparse
    assert tags.target_tags.multi_output
    if cls is DecisionTreeClassifier:
        assert tags.classifier_tags.multi_class


@pytest.mark.parametrize("cls", BOTH)
def test_repr_shows_what_differs_from_the_defaults(cls):
    assert repr(cls()) == f"{cls.__name__}()"
    assert repr(cls(max_depth=3)) == f"{cls.__name__}(max_depth=3)"


def test_feature_names_are_kept_only_when_there_are_some(rng):
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    assert not hasattr(DecisionTreeRegressor().fit(X, y), "feature_names_in_")
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = DecisionTreeRegressor().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.feature_names_in_.dtype == object
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")


# --- tools ------------------------------------------------------------------------------------


def test_grid_search_over_a_pipeline_finds_a_good_tree():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(
        StandardScaler().set_output(transform="pandas"), DecisionTreeClassifier(random_state=0)
    )
    grid = {
        "decisiontreeclassifier__max_depth": [1, 3, None],
        "decisiontreeclassifier__split_finding": ["exact", "hist"],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_params_["decisiontreeclassifier__max_depth"] != 1
    assert search.best_score_ > 0.9
    tree = search.best_estimator_[-1]
    assert tree.feature_names_in_.tolist() == list(X.columns)


def test_cross_validation_in_worker_processes_gives_the_same_scores():
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(max_depth=3)
    alone = cross_val_score(model, X, y, cv=3)
    workers = cross_val_score(model, X, y, cv=3, n_jobs=2)
    assert np.array_equal(alone, workers)
    assert alone.mean() > 0.2
    assert cross_val_predict(model, X, y, cv=3).shape == y.shape


def test_cross_validated_probabilities_have_one_column_a_class():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(min_samples_leaf=5)
    probability = cross_val_predict(model, X, y, cv=3, method="predict_proba")
    np.testing.assert_allclose(probability.sum(axis=1), 1)


def test_raw_tables_pass_through_column_transformers(rng):
    frame = pd.DataFrame({"size": rng.normal(size=60), "side": rng.choice(["n", "s"], 60)})
    y = frame["size"] + (frame["side"] == "n")
    scale = make_column_transformer(
        (StandardScaler(), ["size"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    model = make_pipeline(scale, DecisionTreeRegressor()).fit(frame, y)
    assert model.score(frame, y) == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["brute", "auto"])
def test_partial_dependence_of_a_planted_step(method, rng):
    X = rng.uniform(size=(300, 2))
    model = DecisionTreeRegressor(max_depth=2).fit(X, (X[:, 0] > 0.5) * 2.0)
    result = partial_dependence(model, X, [0], grid_resolution=11, method=method)
    curve = result["average"][0]
    assert curve[0] == pytest.approx(0)
    assert curve[-1] == pytest.approx(2)


def test_permutation_importance_finds_the_planted_feature(rng):
    frame = pd.DataFrame({"noise": rng.normal(size=200), "level": rng.choice(list("abc"), 200)})
    y = (frame["level"] == "b").astype(int)
    model = DecisionTreeClassifier().fit(frame, y)
    result = permutation_importance(model, frame, y, n_repeats=3, random_state=0)
    assert result.importances_mean[1] > 0.2
    assert result.importances_mean[0] == 0


def test_meta_estimators_take_our_trees():
    X, y = load_iris(return_X_y=True)
    bag = BaggingClassifier(DecisionTreeClassifier(), n_estimators=5, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.9
    vote = VotingRegressor([("a", DecisionTreeRegressor()), ("b", DecisionTreeRegressor())])
    assert vote.fit(X, y).score(X, y) > 0.9
    chain = ClassifierChain(DecisionTreeClassifier()).fit(X, np.column_stack([y > 0, y > 1]))
    assert chain.predict(X).shape == (150, 2)


def test_sample_weight_is_routed():
    X, y = load_iris(return_X_y=True)
    weight = (y != 2).astype(float)
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    pipeline.fit(X, y, decisiontreeclassifier__sample_weight=weight)
    assert 2 not in pipeline.predict(X)


def test_labels_come_back_as_they_were_given():
    X = [[0.0], [1.0], [2.0], [3.0]]
    for labels in (["b", "b", "a", "a"], [3, 3, -1, -1], [True, True, False, False]):
        model = DecisionTreeClassifier().fit(X, labels)
        assert model.predict(X).tolist() == labels
        assert model.classes_.tolist() == sorted(set(labels))
    named = pd.Series(["b", "b", "a", "a"], dtype="category")
    assert DecisionTreeClassifier().fit(X, named).predict(X).tolist() == list("bbaa")


def test_several_outputs_keep_their_shapes(rng):
    X = rng.normal(size=(40, 2))
    classes = np.column_stack([rng.integers(0, 2, 40), rng.integers(0, 3, 40)])
    model = DecisionTreeClassifier().fit(X, classes)
    assert model.predict(X).shape == (40, 2)
    assert [p.shape for p in model.predict_proba(X)] == [(40, 2), (40, 3)]
    assert model.n_outputs_ == 2
    assert list(model.n_classes_) == [2, 3]
    assert np.array_equal(model.predict(X), classes)
    numbers = rng.normal(size=(40, 3))
    model = DecisionTreeRegressor().fit(X, numbers)
    assert model.predict(X).shape == (40, 3)
    assert DecisionTreeRegressor().fit(X, numbers[:, :1]).predict(X).shape == (40,)
