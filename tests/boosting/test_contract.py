"""Boosting keeps scikit-learn's conventions, and names in plain words what it does not accept."""

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
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from committee import GradientBoostingClassifier, GradientBoostingRegressor

BOTH = [GradientBoostingClassifier, GradientBoostingRegressor]


@parametrize_with_checks(
    [
        *[cls() for cls in BOTH],
        *[cls(n_estimators=10) for cls in BOTH],
        GradientBoostingClassifier(n_estimators=5, subsample=0.7, n_iter_no_change=3),
        GradientBoostingRegressor(
            n_estimators=9, learning_rate=0.5, loss="absolute_error", split_finding="exact"
        ),
        GradientBoostingRegressor(
            n_estimators=9, learning_rate=0.5, loss="huber", max_splits=4, early_stopping=True
        ),
    ]
)
# One of the checks puts all weight on one class.
@pytest.mark.filterwarnings("ignore:.* no tree could be split:UserWarning")
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- signature ----------------------------------------------------------------------------------

# Parameters whose default differs from scikit-learn's; docs/defaults.md has the reasons.
DIFFERENT_DEFAULTS = {
    "learning_rate": "auto",
    "n_estimators": "auto",
    "subsample": "auto",
    "max_features": "auto",
    "criterion": "friedman_mse",
    "min_samples_leaf": "auto",
    "max_depth": None,
    "max_leaf_nodes": "auto",
}
NEW_PARAMETERS = {
    "split_finding",
    "growth",
    "max_splits",
    "min_child_weight",
    "l1_regularization",
    "l2_regularization",
    "max_bins",
    "features_per_tree",
    "features_per_level",
    "monotonic_cst",
    "interaction_cst",
    "categorical_features",
    "numeric_text",
    "category_smoothing",
    "category_encoding",
    "early_stopping",
    "validation_part",
    "scoring",
    "estimator",
    "callbacks",
    "n_jobs",
}
OWN_PARAMETERS = {
    GradientBoostingClassifier: {"class_weight"},
    GradientBoostingRegressor: {"quantiles", "power"},
}


@pytest.mark.parametrize("cls", BOTH)
def test_the_constructor_has_scikit_learns_parameters_and_defaults(cls):
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__)).parameters
    ours = inspect.signature(cls).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    assert set(ours) - set(theirs) == NEW_PARAMETERS | OWN_PARAMETERS[cls]
    for name, parameter in theirs.items():
        assert ours[name].default == DIFFERENT_DEFAULTS.get(name, parameter.default), name
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in ours.values())


def test_every_difference_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "defaults.md").read_text(encoding="utf-8")
    names = NEW_PARAMETERS.union(*OWN_PARAMETERS.values(), DIFFERENT_DEFAULTS)
    assert {name for name in names if f"`{name}" not in page} == set()


@pytest.mark.parametrize("cls", BOTH)
def test_public_methods_and_attributes_of_scikit_learns_classes_exist(cls, rng):
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    params = {"n_estimators": 5, "subsample": 0.5}
    theirs = getattr(sklearn.ensemble, cls.__name__)(**params).fit(X, y)
    ours = cls(**params).fit(X, y)
    names = {name for name in dir(theirs) if not name.startswith("_")}
    names -= {"criterion"}
    if cls is GradientBoostingRegressor:
        names -= {"class_weight"}
    else:
        names -= {"alpha"}  # left there by a shared base class; no parameter
    assert {name for name in names if not hasattr(ours, name)} == set()
    for name in ("train_score_", "oob_improvement_", "oob_scores_", "feature_importances_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name)), name
    assert ours.estimators_.shape == theirs.estimators_.shape
    assert ours.apply(X).shape == theirs.apply(X).shape
    assert ours.init_.predict(X[:1]).shape == theirs.init_.predict(X[:1]).shape


@pytest.mark.parametrize("cls", BOTH)
def test_tags_say_what_boosting_can_do(cls):
    tags = get_tags(cls())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.target_tags.multi_output == (cls is GradientBoostingRegressor)


def test_repr_and_clone():
    model = GradientBoostingClassifier(n_estimators=20, max_splits=3)
    assert repr(model) == "GradientBoostingClassifier(max_splits=3, n_estimators=20)"
    assert clone(model).get_params() == model.get_params()
    fitted = model.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(clone(fitted), "classes_")


# --- scikit-learn's tools at work ---------------------------------------------------------------


def test_searches_and_pipelines():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=20, random_state=0)
    search = GridSearchCV(model, {"max_splits": [1, 7]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    pipeline = make_pipeline(StandardScaler(), model)
    alone = cross_val_score(pipeline, X, y, cv=3)
    assert np.array_equal(alone, cross_val_score(pipeline, X, y, cv=3, n_jobs=2))


def test_inspection_of_a_planted_step(rng):
    X = rng.uniform(size=(300, 2))
    y = (X[:, 0] > 0.5) * 2.0
    model = GradientBoostingRegressor().fit(X, y)
    curve = partial_dependence(model, X, [0], grid_resolution=11)["average"][0]
    assert curve[0] == pytest.approx(0, abs=0.1)
    assert curve[-1] == pytest.approx(2, abs=0.1)
    drops = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert drops.importances_mean[0] > 10 * abs(drops.importances_mean[1])
    classifier = GradientBoostingClassifier().fit(X, y)
    curve = partial_dependence(classifier, X, [0], grid_resolution=5)["average"][0]
    assert curve[-1] > curve[0]


def test_weights_groups_and_validation_rows_are_routed():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=5))
    name = "gradientboostingclassifier__"
    pipeline.fit(X, y, **{f"{name}sample_weight": (y != 2).astype(float)})
    assert 2 not in pipeline.predict(X)
    pipeline.fit(X, y, **{f"{name}groups": y, f"{name}eval_set": (X, y)})
    assert np.isfinite(pipeline[-1].training_log_.validation_loss).all()


def test_labels_come_back_as_they_were_given():
    X = [[0.0], [1.0], [2.0], [3.0]] * 5
    for labels in (["b", "b", "a", "a"], [3, 3, -1, -1], [True, True, False, False]):
        model = GradientBoostingClassifier(n_estimators=20, min_samples_leaf=1).fit(X, labels * 5)
        assert model.predict(X[:4]).tolist() == labels
        assert model.classes_.tolist() == sorted(set(labels))


def test_columns_are_matched_by_name(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    frame["d"] = rng.choice(["x", "y"], 60)
    y = frame["a"] + (frame["d"] == "x")
    model = GradientBoostingRegressor(n_estimators=5).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert np.array_equal(model.predict(frame), model.predict(frame[["d", "c", "b", "a"]]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["a", "b", "c"]])


# --- what is refused ----------------------------------------------------------------------------

BAD_PARAMETERS = [
    ("loss", "hinge", ValueError, "loss must be"),
    ("loss", 3, TypeError, "loss must be"),
    ("learning_rate", -0.1, ValueError, "learning_rate must be a finite number >= 0"),
    ("learning_rate", "fast", TypeError, "learning_rate must be"),
    ("n_estimators", 0, ValueError, "n_estimators must be an int in"),
    ("n_estimators", 1.5, TypeError, "n_estimators must be an int in"),
    ("subsample", 0.0, ValueError, r"subsample must be a number in \(0, 1\]"),
    ("criterion", "gini", ValueError, "criterion must be"),
    ("min_samples_split", 1, ValueError, "min_samples_split must be"),
    ("min_samples_leaf", 0, ValueError, "min_samples_leaf must be"),
    ("min_weight_fraction_leaf", 0.6, ValueError, "min_weight_fraction_leaf must be"),
    ("max_depth", 0, ValueError, "max_depth must be an int >= 1 or None; got 0"),
    ("min_impurity_decrease", -1.0, ValueError, "min_impurity_decrease must be"),
    ("init", "median", ValueError, 'init must be None, "zero", "mean" or an estimator'),
    ("init", 3, ValueError, 'init must be None, "zero", "mean" or an estimator'),
    ("random_state", "seed", TypeError, "random_state must be"),
    ("max_features", 0, ValueError, "max_features must be"),
    ("features_per_tree", 2.0, ValueError, "features_per_tree must be"),
    ("features_per_level", "half", ValueError, "features_per_level must be"),
    ("verbose", -1, ValueError, "verbose must be an int >= 0"),
    ("max_leaf_nodes", 1, ValueError, "max_leaf_nodes must be"),
    ("max_splits", 0, ValueError, "max_splits must be"),
    ("warm_start", 1, TypeError, "warm_start must be True or False; got 1"),
    ("validation_fraction", 1.0, ValueError, "validation_fraction must be"),
    ("validation_part", "first", ValueError, "validation_part must be"),
    ("n_iter_no_change", 0, ValueError, "n_iter_no_change must be"),
    ("tol", -1.0, ValueError, "tol must be"),
    ("ccp_alpha", -1.0, ValueError, "ccp_alpha must be"),
    ("split_finding", "auto", ValueError, 'split_finding must be "hist" or "exact"'),
    ("growth", "wide", ValueError, "growth must be"),
    ("min_child_weight", -1.0, ValueError, "min_child_weight must be"),
    ("l1_regularization", -1.0, ValueError, "l1_regularization must be"),
    ("l2_regularization", -1.0, ValueError, "l2_regularization must be"),
    ("category_smoothing", -1.0, ValueError, "category_smoothing must be"),
    ("max_bins", 256, ValueError, "max_bins must be"),
    ("monotonic_cst", [1, 2, 0], ValueError, "monotonic_cst must be"),
    ("interaction_cst", "all", ValueError, "interaction_cst must be None"),
    ("interaction_cst", [[0, 9]], ValueError, "interaction_cst holds 9; X has the positions 0 to"),
    ("interaction_cst", [["a"]], ValueError, "interaction_cst names 'a', which is no column"),
    ("interaction_cst", 3, TypeError, "interaction_cst must be None"),
    ("early_stopping", "yes", ValueError, 'early_stopping must be True, False or "auto"'),
    ("early_stopping", 1, TypeError, 'early_stopping must be True, False or "auto"'),
    ("scoring", "no such score", ValueError, "scoring must be None, a metric"),
    ("scoring", True, TypeError, "scoring must be None, a metric"),
    ("estimator", "tree", TypeError, "estimator must be an instance of a regressor"),
    ("estimator", LogisticRegression(), ValueError, "estimator must be a regressor"),
    ("callbacks", 3, TypeError, "callbacks must be None, a function"),
    ("callbacks", [3], TypeError, "callbacks must be None, a function"),
    ("n_jobs", 0, ValueError, "n_jobs must be None or an int other than 0"),
]


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(("name", "value", "error", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_named(cls, name, value, error, message, rng):
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    model = cls(n_estimators=2).set_params(**{name: value})
    with pytest.raises(error, match=message):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("rounds", [3, "auto"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("learning_rate", -1.0),
        ("subsample", "all"),
        ("max_features", "some"),
        ("max_leaf_nodes", 1),
        ("min_samples_leaf", 0),
        ("l2_regularization", "none"),
    ],
)
def test_errors_say_where_auto_is_accepted(name, value, rounds, rng):
    model = GradientBoostingRegressor(**{"n_estimators": rounds} | {name: value})
    with pytest.raises((TypeError, ValueError)) as caught:
        model.fit(rng.normal(size=(30, 2)), rng.normal(size=30))
    message = str(caught.value)
    assert message.startswith(f"{name} must be ")
    assert message.endswith(f' or "auto"; got {value!r}')


@pytest.mark.parametrize(
    ("name", "value"),
    [("validation_fraction", 1.0), ("n_iter_no_change", 0), ("tol", -1.0), ("max_splits", 0)],
)
def test_what_an_automatic_number_of_rounds_does_not_need_is_checked(name, value, rng):
    model = GradientBoostingRegressor(early_stopping=False, **{name: value})
    with pytest.raises(ValueError, match=f"{name} must be"):
        model.fit(rng.normal(size=(30, 2)), rng.normal(size=30))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "quantile", "alpha": 1.0}, r"alpha must be a number in \(0, 1\)"),
        ({"loss": "tweedie", "power": 2.0}, r"power must be a number in \(1, 2\)"),
        ({"quantiles": [0.1, 0.9]}, 'quantiles must be None unless loss="quantile"'),
        ({"loss": "quantile", "quantiles": [0.1, 0.1]}, "q must be a number"),
        ({"loss": "log_loss"}, "loss must be"),
    ],
)
def test_bad_parameters_of_regression_losses_are_named(params, message, rng):
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(**params).fit(rng.normal(size=(30, 2)), rng.uniform(size=30))


def test_targets_that_a_loss_cannot_take_are_named(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    for loss in ("poisson", "gamma", "tweedie"):
        with pytest.raises(ValueError, match=f'loss "{loss}" needs a target with all y'):
            GradientBoostingRegressor(loss=loss).fit(X, y)
    with pytest.raises(ValueError, match="squared errors leave the range"):
        GradientBoostingRegressor().fit(X, y * 1e300)
    with pytest.raises(ValueError, match="two classes"):
        GradientBoostingClassifier(loss="exponential").fit(X, np.arange(30) % 3)
    with pytest.raises(ValueError, match="boost the outputs one by one"):
        GradientBoostingRegressor(loss="quantile", quantiles=[0.1, 0.9]).fit(X, X)
    with pytest.raises(ValueError, match="1d array"):
        GradientBoostingClassifier().fit(X, np.ones((30, 2), int))


def test_bad_validation_rows_are_named(rng):
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    model = GradientBoostingClassifier(n_estimators=2)
    with pytest.raises(TypeError, match="eval_set must be a tuple"):
        model.fit(X, y, eval_set=X)
    with pytest.raises(ValueError, match=r"eval_set: y has the labels \[7\]"):
        model.fit(X, y, eval_set=(X, np.full(30, 7)))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.fit(X, y, eval_set=(X, y[:20]))
    with pytest.raises(ValueError, match="2 outputs"):
        GradientBoostingRegressor().fit(X, y, eval_set=(X, X))
    with pytest.raises(ValueError, match="eval_set"):
        GradientBoostingRegressor(early_stopping=True).fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="groups must have two groups"):
        model.set_params(early_stopping=True).fit(X, y, groups=np.zeros(30))
    with pytest.raises(ValueError, match="groups must be None"):
        model.set_params(validation_part="last").fit(X, y, groups=y)
    with pytest.raises(ValueError, match="scoring: roc_auc cannot score"):
        GradientBoostingRegressor(early_stopping=True, scoring="roc_auc").fit(X, X[:, 0])


def test_an_unfitted_model_says_so():
    for cls in BOTH:
        model = cls()
        with pytest.raises(NotFittedError, match="not fitted yet"):
            model.predict([[0.0]])
        with pytest.raises(NotFittedError, match="not fitted yet"):
            model.importances()
        for name in ("estimators_", "train_score_", "init_", "feature_names_in_"):
            assert not hasattr(model, name)


def test_monotone_classes_and_weights_without_an_ear_are_refused(rng):
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    with pytest.raises(ValueError, match="multiclass"):
        GradientBoostingClassifier(monotonic_cst=[1, 0]).fit(X, y)

    class Deaf(LinearRegression):
        def fit(self, X, y):
            return super().fit(X, y)

    weight = rng.uniform(size=30)
    with pytest.raises(ValueError, match="estimator must take sample_weight"):
        GradientBoostingRegressor(estimator=Deaf()).fit(X, y, weight)
    with pytest.raises(ValueError, match="does not support sample weights"):
        GradientBoostingRegressor(init=Deaf()).fit(X, y, weight)
    GradientBoostingRegressor(estimator=Ridge(), n_estimators=2).fit(X, y, weight)
