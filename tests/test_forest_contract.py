"""Forests keep scikit-learn's conventions, and say in plain words what they do not accept."""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from committee import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
ALL = [*CLASSIFIERS, *REGRESSORS]

_DRAWN = "rows are drawn: a row of weight two is drawn more often, not the row twice"


def expected_failures(estimator):
    if not estimator.bootstrap:
        return {}
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": _DRAWN for kind in kinds}


@parametrize_with_checks(
    [
        *[cls(n_estimators=10) for cls in ALL],
        RandomForestClassifier(5, bootstrap=False, draw_features="tree", voting="hard"),
        RandomForestRegressor(5, bootstrap=False, split_finding="exact", max_leaf_nodes=9),
        ExtraTreesRegressor(5, criterion="absolute_error"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- signature ----------------------------------------------------------------------------------

NEW_PARAMETERS = {
    "draw_features",
    "count_constant",
    "early_stopping",
    "n_iter_no_change",
    "tol",
    "uncertainty",
    "split_finding",
    "max_bins",
    "category_split",
    "level_penalty",
    "categorical_features",
    "numeric_text",
}


@pytest.mark.parametrize("cls", ALL)
def test_the_constructor_has_scikit_learns_parameters_and_defaults(cls):
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__)).parameters
    ours = inspect.signature(cls).parameters
    new = NEW_PARAMETERS | (
        {"voting", "stratify", "leaf_smoothing"} if cls in CLASSIFIERS else set()
    )
    assert list(ours)[: len(theirs)] == list(theirs)
    assert set(ours) - set(theirs) == new
    for name, parameter in theirs.items():
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind), name
    assert all(ours[name].kind is inspect.Parameter.KEYWORD_ONLY for name in new)


def test_every_new_parameter_is_documented():
    page = (Path(__file__).parents[1] / "docs" / "defaults.md").read_text(encoding="utf-8")
    new = NEW_PARAMETERS | {"voting", "stratify", "leaf_smoothing"}
    assert {name for name in new if f"`{name}" not in page} == set()


@pytest.mark.parametrize("cls", ALL)
def test_public_methods_and_attributes_of_scikit_learns_forests_exist(cls, rng):
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    params = {"n_estimators": 30, "bootstrap": True, "oob_score": True}
    theirs = getattr(sklearn.ensemble, cls.__name__)(**params).fit(X, y)
    ours = cls(**params).fit(X, y)
    names = {name for name in dir(theirs) if not name.startswith("_")}
    # What the trees are made of, as a parameter of a private base class there.
    names -= {"estimator", "estimator_params"}
    if cls in REGRESSORS:
        names -= {"class_weight"}  # left there by a shared base class; no parameter
    assert {name for name in names if not hasattr(ours, name)} == set()
    for name in ("oob_decision_function_", "oob_prediction_", "feature_importances_"):
        if hasattr(theirs, name):
            assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))
    assert ours.apply(X).shape == theirs.apply(X).shape
    assert len(ours.decision_path(X)[1]) == len(theirs.decision_path(X)[1])


@pytest.mark.parametrize("cls", ALL)
def test_tags_say_what_forests_can_do(cls):
    tags = get_tags(cls())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.target_tags.multi_output
    if cls in CLASSIFIERS:
        assert tags.classifier_tags.multi_label


def test_repr_and_clone():
    model = RandomForestClassifier(20, draw_features="tree")
    assert repr(model) == "RandomForestClassifier(draw_features='tree', n_estimators=20)"
    assert clone(model).get_params() == model.get_params()
    fitted = model.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(clone(fitted), "classes_")


# --- scikit-learn's tools at work ---------------------------------------------------------------


def test_searches_pipelines_and_chains():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        RandomForestClassifier(10, random_state=0), {"max_features": [1, "log2+1"]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.9
    pipeline = make_pipeline(StandardScaler(), ExtraTreesClassifier(10, random_state=0))
    alone = cross_val_score(pipeline, X, y, cv=3)
    assert np.array_equal(alone, cross_val_score(pipeline, X, y, cv=3, n_jobs=2))
    chain = ClassifierChain(RandomForestClassifier(5)).fit(X, np.column_stack([y > 0, y > 1]))
    assert chain.predict(X).shape == (150, 2)


def test_inspection_of_a_planted_step(rng):
    X = rng.uniform(size=(300, 2))
    model = RandomForestRegressor(20, random_state=0).fit(X, (X[:, 0] > 0.5) * 2.0)
    curve = partial_dependence(model, X, [0], grid_resolution=11)["average"][0]
    assert curve[0] == pytest.approx(0, abs=0.1)
    assert curve[-1] == pytest.approx(2, abs=0.1)
    drops = permutation_importance(model, X, (X[:, 0] > 0.5) * 2.0, n_repeats=2, random_state=0)
    assert drops.importances_mean[0] > 10 * abs(drops.importances_mean[1])


def test_weights_and_groups_are_routed(rng):
    X, y = load_iris(return_X_y=True)
    weight = (y != 2).astype(float)
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0))
    pipeline.fit(X, y, randomforestclassifier__sample_weight=weight)
    assert 2 not in pipeline.predict(X)
    groups = np.arange(150) // 10
    pipeline.fit(X, y, randomforestclassifier__groups=groups)
    for rows in pipeline[-1].estimators_samples_:
        assert len(np.unique(groups[rows])) < 15


def test_labels_come_back_as_they_were_given():
    X = [[0.0], [1.0], [2.0], [3.0]] * 5
    for labels in (["b", "b", "a", "a"], [3, 3, -1, -1], [True, True, False, False]):
        model = RandomForestClassifier(20, random_state=0).fit(X, labels * 5)
        assert model.predict(X[:4]).tolist() == labels
        assert model.classes_.tolist() == sorted(set(labels))
        assert model.estimators_[0].classes_.tolist() == sorted(set(labels))


# --- what is refused ----------------------------------------------------------------------------

BAD_PARAMETERS = [
    ("n_estimators", 0, ValueError, "n_estimators must be an int in"),
    ("n_estimators", 10.0, TypeError, "n_estimators must be an int in"),
    ("criterion", "variance", ValueError, "criterion must be"),
    ("max_depth", 0, ValueError, r"max_depth must be an int >= 1 or None; got 0"),
    ("min_samples_split", 1, ValueError, "min_samples_split must be an int >= 2"),
    ("max_features", "half", ValueError, 'max_features must be None, "sqrt"'),
    ("bootstrap", 1, TypeError, "bootstrap must be True or False; got 1"),
    ("oob_score", "no such score", ValueError, "oob_score must be True, False"),
    ("oob_score", 3, TypeError, "oob_score must be True, False"),
    ("n_jobs", 0, ValueError, "n_jobs must be None or an int other than 0"),
    ("random_state", "seed", TypeError, "random_state must be None, an int"),
    ("verbose", -1, ValueError, "verbose must be an int >= 0"),
    ("warm_start", None, TypeError, "warm_start must be True or False"),
    ("ccp_alpha", -1.0, ValueError, "ccp_alpha must be"),
    ("max_samples", 0.0, ValueError, "max_samples must be None, an int >= 1 or a float > 0"),
    ("max_samples", "all", TypeError, "max_samples must be None, an int >= 1 or a float > 0"),
    ("count_constant", 1, TypeError, "count_constant must be True or False"),
    ("draw_features", "forest", ValueError, 'draw_features must be "node" or "tree"'),
    ("early_stopping", "auto", TypeError, "early_stopping must be True or False"),
    ("n_iter_no_change", 0, ValueError, "n_iter_no_change must be an int >= 1; got 0"),
    ("tol", -0.1, ValueError, "tol must be a finite number >= 0; got -0.1"),
    ("uncertainty", 1, TypeError, "uncertainty must be True or False; got 1"),
    ("split_finding", "sketch", ValueError, 'split_finding must be "auto", "hist" or "exact"'),
    ("max_bins", 256, ValueError, r"max_bins must be an int in \[2, 255\]; got 256"),
    ("category_split", "all", ValueError, "category_split must be"),
    ("level_penalty", -1.0, ValueError, "level_penalty must be"),
    ("monotonic_cst", [1], ValueError, "monotonic_cst must be"),
]


@pytest.mark.parametrize("cls", [RandomForestClassifier, ExtraTreesRegressor])
@pytest.mark.parametrize(("name", "value", "error", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_named(cls, name, value, error, message):
    model = cls(**{name: value})
    if name == "max_samples":
        model.set_params(bootstrap=True)
    with pytest.raises(error, match=message):
        model.fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    assert not hasattr(model, "estimators_")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"voting": "loud"}, 'voting must be "soft" or "hard"'),
        ({"stratify": "rows"}, 'stratify must be "classes", "balanced" or None'),
        ({"class_weight": "even"}, 'class_weight must be None, "balanced", "balanced_subsample"'),
        ({"class_weight": {0: -1.0}}, "class_weight of 0 must be a number >= 0"),
        ({"bootstrap": False, "oob_score": True}, "oob_score needs out-of-bag rows"),
        ({"bootstrap": False, "early_stopping": True}, "early_stopping needs out-of-bag rows"),
        ({"bootstrap": False, "max_samples": 5}, "without replacement at most 4"),
    ],
)
def test_combinations_that_make_no_sense_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**params).fit([[1.0]] * 4, [0, 1, 0, 1])


def test_bad_tables_targets_and_groups_are_named(rng):
    X, y = rng.normal(size=(10, 2)), np.arange(10) % 2
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RandomForestClassifier().fit(X, y[:5])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        RandomForestRegressor().fit(X, np.full(10, np.nan))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        RandomForestClassifier().fit(X, rng.normal(size=10))
    with pytest.raises(ValueError, match="negative which is not allowed for Poisson"):
        RandomForestRegressor(criterion="poisson").fit(X, -y)
    with pytest.raises(ValueError, match="squared errors leave the range"):
        RandomForestRegressor().fit(X, y * 1e200)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        RandomForestRegressor().fit(X, y, -np.ones(10))
    with pytest.raises(ValueError, match="groups must have one entry a row"):
        RandomForestRegressor().fit(X, y, groups=[1, 2])
    with pytest.raises(ValueError, match="groups says which rows are drawn together"):
        ExtraTreesRegressor().fit(X, y, groups=y)
    with pytest.raises(ValueError, match="stratify must be None with several outputs"):
        RandomForestClassifier(stratify="classes").fit(X, np.column_stack([y, y]))


def test_small_weights_with_a_share_of_them_are_told(rng):
    X, y = rng.normal(size=(50, 2)), np.arange(50) % 2
    with pytest.warns(UserWarning, match="is a share of the sum of sample_weight") as record:
        RandomForestClassifier(3, max_samples=0.5).fit(X, y, np.full(50, 1 / 50))
    assert record[0].filename == __file__


@pytest.mark.parametrize("cls", ALL)
def test_an_unfitted_forest_says_so(cls):
    model = cls()
    for name in ("predict", "apply", "decision_path", "staged_predict"):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            list(getattr(model, name)([[1.0]]))
    for name in ("estimators_", "estimator_", "n_trees_", "feature_importances_"):
        assert not hasattr(model, name)
        with pytest.raises(NotFittedError, match=cls.__name__):
            getattr(model, name)


def test_tables_that_changed_since_fit_are_refused():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]})
    model = RandomForestClassifier(3).fit(frame, [0, 1, 0])
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing:\n- b"):
        model.predict(frame[["a"]])
    with pytest.raises(ValueError, match=r"column 'a' .*holds text"):
        model.predict(pd.DataFrame({"a": ["one"], "b": ["x"]}))
