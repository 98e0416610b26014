"""Warnings point to the line of the user that called the library, however deep they arise."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import committee
from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    DecisionTreeClassifier,
    DynamicSelectionClassifier,
    EnsembleSelectionClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
    bootstrap_score,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] + RNG.normal(size=80) / 2 > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
TREE = DecisionTreeClassifier(max_depth=2)
NEAR = make_pipeline(FunctionTransformer(np.asarray), KNeighborsClassifier(3))
MEMBERS = [("tree", TREE), ("near", NEAR)]


def lines(call):
    """Return where warnings of a call point to: files and lines."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return {(each.filename, each.lineno) for each in caught}


def assert_here(call):
    assert lines(call) == {(__file__, call.__code__.co_firstlineno)}


ESTIMATORS = [
    TREE,
    C45Classifier(),
    RandomForestClassifier(2),
    ExtraTreesRegressor(2),
    BaggingClassifier(TREE, 2),
    BaggingClassifier(NEAR, 2),
    BaggingRegressor(n_estimators=2),
    GradientBoostingClassifier(n_estimators=2),
    GradientBoostingRegressor(n_estimators=2),
    AdaBoostClassifier(n_estimators=2),
    AdaBoostClassifier(NEAR, n_estimators=2),
    AdaBoostRegressor(n_estimators=2),
    VotingClassifier(MEMBERS),
    StackingClassifier(MEMBERS, cv=2),
    EnsembleSelectionClassifier(MEMBERS, cv=2),
    DynamicSelectionClassifier(MEMBERS, cv=2),
]
MANY_OUTPUTS = (
    DecisionTreeClassifier,
    RandomForestClassifier,
    ExtraTreesRegressor,
    BaggingRegressor,
    GradientBoostingRegressor,
)


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: str(model)[:60])
def test_names_that_are_missing_and_columns_as_targets_point_to_the_call(model):
    fitted = model.fit(FRAME, Y)
    assert_here(lambda: fitted.predict(X))
    assert_here(lambda: fitted.score(X, Y))
    if hasattr(fitted, "predict_proba"):
        assert_here(lambda: fitted.predict_proba(X))
    if hasattr(fitted, "staged_predict"):
        assert_here(lambda: list(fitted.staged_predict(X)))
    if not isinstance(model, MANY_OUTPUTS):
        assert_here(lambda: model.fit(FRAME, Y[:, np.newaxis]))


@pytest.mark.parametrize("cls", [GradientBoostingClassifier, AdaBoostClassifier])
def test_names_that_validation_rows_lack_point_to_fit(cls):
    model = cls(n_estimators=2, n_iter_no_change=1)
    assert_here(lambda: model.fit(FRAME, Y, eval_set=(X, Y)))
    base = AdaBoostClassifier(NEAR, n_estimators=2, n_iter_no_change=1)
    assert_here(lambda: base.fit(FRAME, Y, eval_set=(X, Y)))


def test_callers_of_scikit_learn_are_no_users():
    pipe = make_pipeline(FunctionTransformer(), RandomForestClassifier(2)).fit(FRAME, Y)
    assert_here(lambda: pipe.predict(X))
    y = Y[:, np.newaxis]
    assert_here(lambda: cross_val_score(GradientBoostingClassifier(n_estimators=2), X, y, cv=2))


@pytest.mark.parametrize("cls", [RandomForestClassifier, GradientBoostingClassifier])
def test_warm_starts_without_more_members_point_to_fit(cls):
    model = cls(n_estimators=2, warm_start=True).fit(X, Y)
    assert_here(lambda: model.fit(X, Y))
    bag = BaggingClassifier(TREE, 2, warm_start=True).fit(X, Y)
    assert_here(lambda: bag.fit(X, Y))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(2, oob_score=True),
        BaggingClassifier(NEAR, 2, oob_score=True),
        BaggingRegressor(n_estimators=2, oob_score=True),
    ],
    ids=repr,
)
def test_rows_that_are_never_out_of_bag_point_to_fit(model):
    assert_here(lambda: model.fit(X, Y))


def test_other_warnings_point_to_the_call():
    noise = RNG.integers(0, 2, 80)
    useless = AdaBoostClassifier(n_estimators=2)
    assert_here(lambda: useless.fit(np.zeros((80, 1)), np.tile([0, 1], 40)))
    weights = np.full(80, 1e-3)
    forest = RandomForestClassifier(2, max_samples=0.5)
    assert_here(lambda: forest.fit(X, Y, sample_weight=weights))
    bag = BaggingClassifier(TREE, 2, bootstrap=False)
    assert_here(lambda: bag.fit(X, Y, sample_weight=weights))
    leaky = StackingClassifier([("near", KNeighborsClassifier(1).fit(X, noise))], cv="prefit")
    leaky.set_params(leak_check=True)
    assert_here(lambda: leaky.fit(X, noise))
    assert_here(lambda: bootstrap_score(NEAR, X, Y, sample_weight=weights, n_resamples=20))
    numbers = VotingRegressor([("one", ExtraTreesRegressor(2))])
    assert_here(lambda: numbers.fit(X, Y[:, np.newaxis]))


def test_no_level_is_counted_by_hand():
    sources = Path(committee.__file__).parent.rglob("*.py")
    found = {path.name for path in sources if "warnings.warn(" in path.read_text("utf-8")}
    assert found == {"warn.py"}
