"""Stacks of several labels a row."""

import copy

import numpy as np
import pandas as pd
import pytest
import sklearn
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import (
    RidgeClassifier,
)
from sklearn.model_selection import (
    PredefinedSplit,
)
from sklearn.neighbors import KNeighborsClassifier

import committee
from committee import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from committee.members.output import Output
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable


@pytest.fixture(scope="module")
def label_sets():
    """A table whose rows have some of three labels."""
    return make_multilabel_classification(120, 6, n_classes=3, random_state=0)


@pytest.mark.parametrize("method", ["auto", "predict"])
@pytest.mark.parametrize("passthrough", [False, True])
def test_several_labels_are_scikit_learns(method, passthrough, label_sets):
    X, y = label_sets
    members = [
        ("forest", sklearn.ensemble.RandomForestClassifier(10, random_state=0)),
        ("near", KNeighborsClassifier(5)),
        ("ridge", RidgeClassifier()),
    ]
    final = sklearn.ensemble.RandomForestClassifier(10, random_state=1)
    options = {"stack_method": method, "passthrough": passthrough, "cv": 3}
    theirs = sklearn.ensemble.StackingClassifier(members, final, **options).fit(X, y)
    ours = StackingClassifier(members, final, **options).fit(X, y)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-15)
    assert ours.stack_method_ == list(theirs.stack_method_)
    assert ours.score(X, y) == theirs.score(X, y)
    for own, other in zip(ours.classes_, theirs.classes_, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"refit": False},
        {"refit": False, "stack_method": "predict"},
        {"stack_method": "log_odds"},
        {"cv": 0.4},
        {"layers": [[("near", KNeighborsClassifier(5))]]},
    ],
)
def test_several_labels_with_members_of_this_library(options, label_sets, tmp_path):
    X, y = label_sets
    members = [
        ("forest", RandomForestClassifier(10, random_state=0)),
        ("extra", ExtraTreesClassifier(10, random_state=0)),
    ]
    stack = StackingClassifier(members, RandomForestClassifier(10, random_state=0), **options)
    stack.fit(X[:80], y[:80])
    told = stack.predict(X[80:])
    assert told.shape == (40, 3)
    by_chance = (y[80:] == y[:80].mean(axis=0).round()).mean()
    assert (told == y[80:]).mean() > by_chance
    shares = stack.predict_proba(X[80:])
    np.testing.assert_array_equal(told[shares > 0.5], 0)  # of the first value
    if "layers" not in options:
        committee.save(stack, tmp_path / "stack.committee")
        again = committee.load(tmp_path / "stack.committee")
        np.testing.assert_array_equal(again.predict_proba(X), stack.predict_proba(X))


def test_part_of_training_data_keeps_the_values_of_labels(label_sets):
    X, y = label_sets
    values = [np.array(["no", "yes"])] * 3
    fit_params = {"forest": {"shift": np.arange(120)}}
    data = TrainingData(AnyTable(X), y, None, np.arange(120.0), 2, 7, fit_params, values)
    rows = np.arange(10, 20)
    part = data.part(rows, AnyTable(X[rows]))
    assert part.values is values
    assert (part.labels, part.n_jobs, part.seed) == (None, 2, 7)
    np.testing.assert_array_equal(part.y, y[rows])
    np.testing.assert_array_equal(part.weights, rows)
    np.testing.assert_array_equal(part.fit_params["forest"]["shift"], rows)
    assert part.shared.source.n_rows == 10


def test_several_labels_take_a_leak_check_of_numpys_false(label_sets):
    X, y = label_sets
    forest = RandomForestClassifier(3, random_state=0)
    StackingClassifier([("forest", forest)], forest, leak_check=np.False_).fit(X, y)


def test_a_label_that_a_fold_lacks(label_sets):
    X, y = label_sets
    y = y.copy()
    y[:, 0] = np.arange(120) < 40  # in the first part only
    stack = StackingClassifier(
        [("forest", RandomForestClassifier(10, random_state=0))],
        RandomForestClassifier(10, random_state=0),
        cv=PredefinedSplit(np.arange(120) // 40),
        keep_level_one=True,
    ).fit(X, y)
    np.testing.assert_array_equal(stack.level_one_[:40, 0], 0)
    assert stack.level_one_[40:80, 0].max() > 0


def test_what_does_not_go_with_several_labels(label_sets):
    X, y = label_sets
    forest = RandomForestClassifier(3, random_state=0)
    members = [("forest", forest)]
    with pytest.raises(ValueError, match="final_estimator must be given for a y with several"):
        StackingClassifier(members).fit(X, y)
    for name, options in {
        'final_estimator="convex"': {"final_estimator": "convex"},
        "leak_check": {"final_estimator": forest, "leak_check": True},
        'cv="oob"': {"final_estimator": forest, "cv": "oob"},
    }.items():
        with pytest.raises(ValueError, match=f"{name} takes a y with one class for each row"):
            StackingClassifier(members, **options).fit(X, y)
    stack = StackingClassifier(members, forest).fit(X, y)
    with pytest.raises(TypeError, match="ensemble must predict the mean"):
        committee.prune_ensemble(stack, X, y)
    with pytest.raises(ValueError, match="y should be a 1d array, got 3 columns"):
        StackingClassifier(members, forest).fit(X, y + np.arange(120)[:, np.newaxis] % 3)


def test_stacks_of_stacks_tell_of_several_labels(label_sets):
    X, y = label_sets
    inner = StackingClassifier(
        [("near", KNeighborsClassifier(5))], RandomForestClassifier(10, random_state=1), cv=3
    )
    for other in (
        inner,
        sklearn.ensemble.StackingClassifier(inner.estimators, inner.final_estimator),
    ):
        forest = [("forest", RandomForestClassifier(10, random_state=0))]
        above = StackingClassifier(forest, other, cv=3).fit(X, y)
        shares, told = above.predict_proba(X), above.predict(X)
        np.testing.assert_array_equal(told[shares > 0.5], 0)
        below = StackingClassifier(
            [("stack", other)], RandomForestClassifier(10, random_state=0), keep_level_one=True
        ).fit(X, y)
        for label in range(3):
            assert np.corrcoef(below.level_one_[:, label], y[:, label])[0, 1] > 0.1


def test_fitted_members_may_have_other_values_of_labels(label_sets):
    X, y = label_sets
    final = RandomForestClassifier(10, random_state=0)
    plain = StackingClassifier(
        [("near", KNeighborsClassifier(5).fit(X, y))], final, cv="prefit"
    ).fit(X, y)
    for values in ((0, 255), (-1, 0), (1, 2), (False, True)):
        other = np.array(values)[y]
        for method in ("auto", "predict"):
            near = KNeighborsClassifier(5).fit(X, other)
            stack = StackingClassifier([("near", near)], final, cv="prefit", stack_method=method)
            stack.fit(X, other)
            expected = near.predict(X) == values[1] if method == "predict" else plain.transform(X)
            np.testing.assert_array_equal(stack.transform(X), expected)
            assert set(np.unique(stack.predict(X))) == set(values)
    few = KNeighborsClassifier(5).fit(X, y[:, :2])
    with pytest.raises(ValueError, match="a member predicts 2 labels, and y has 3"):
        StackingClassifier([("near", few)], final, cv="prefit").fit(X, y)


@pytest.mark.parametrize(
    "make",
    [
        lambda y: y.tolist(),
        lambda y: y.astype(float),
        lambda y: y.astype(object),
        lambda y: pd.DataFrame({"a": y[:, 0] > 0, "b": y[:, 1], "c": y[:, 2]}),
        lambda y: pd.DataFrame(y).astype("Int64"),
    ],
)
def test_several_labels_in_any_clothes(make, label_sets):
    X, y = label_sets
    members = [("forest", RandomForestClassifier(5, random_state=0))]
    stack = StackingClassifier(members, RandomForestClassifier(5, random_state=0), random_state=0)
    expected = clone(stack).fit(X, y).predict(X)
    np.testing.assert_array_equal(stack.fit(X, make(y)).predict(X), expected)


def test_targets_that_are_no_label_sets_are_told_as_before(iris):
    X, y = iris
    members = [("tree", DecisionTreeClassifier())]
    with pytest.raises(ValueError, match="y must be a 1d array or have rows of the same length"):
        StackingClassifier(members).fit(X, [[0, 1]] * 149 + [[0]])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        StackingClassifier(members).fit(X, np.column_stack([np.where(y, y, np.nan), y]))


def test_a_loaded_stack_of_several_labels_is_checked(label_sets):
    X, y = label_sets
    members = [("forest", RandomForestClassifier(5, random_state=0))]
    good = StackingClassifier(members, RandomForestClassifier(5, random_state=0)).fit(X, y)
    good._validate_loaded()
    two = np.array([0, 1])
    for classes in ([0, 1, 2], ["a", "b", "c"], [two[:0]] * 3, [two] * 2, [two[:1]] * 3, two):
        bad = copy.copy(good)
        bad.classes_ = classes
        with pytest.raises((ValueError, TypeError)):
            bad._validate_loaded()
    for output in (Output("predict_proba", 3), Output("predict_proba", 0, n_labels=2)):
        bad = copy.copy(good)
        bad._outputs = [[output]]
        with pytest.raises(ValueError, match="members predict another number of classes"):
            bad._validate_loaded()
    bad = copy.copy(good)
    bad.final_estimator_ = clone(good.final_estimator_).fit(good.transform(X), y * 2)
    with pytest.raises(ValueError, match="the meta-learner was fitted to other values of a label"):
        bad._validate_loaded()
