"""scikit-learn's conventions: its own checks on voting and stacking, and parity of names."""

from functools import partial

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from committee import (
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DynamicSelectionClassifier,
    EnsembleSelectionClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)

ALL = [VotingClassifier, VotingRegressor, StackingClassifier, StackingRegressor]


def classifiers():
    return [("tree", DecisionTreeClassifier(max_depth=3)), ("c45", C45Classifier())]


def regressors():
    return [
        ("tree", DecisionTreeRegressor(max_depth=3)),
        ("extra", ExtraTreesRegressor(5, random_state=0)),
    ]


def foreign_classifiers():
    return [("bayes", GaussianNB()), ("line", LogisticRegression())]


def foreign_regressors():
    return [("ridge", Ridge()), ("line", LinearRegression())]


# Only what solvers of scikit-learn round is excused.
ROUNDED = "Ridge on a sparse table stops at a tolerance"
DRAWN = "rows are drawn: a row of weight two is drawn twice as often, and that is another draw"


def excused(estimator):
    if estimator.cv == "oob":
        return dict.fromkeys(WEIGHTS, DRAWN)
    if isinstance(estimator, StackingRegressor) and estimator.passthrough:
        return {WEIGHTS[1]: ROUNDED}
    return {}


WEIGHTS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks(
    [
        VotingClassifier(classifiers()),
        VotingClassifier(classifiers(), voting="soft", combine="geometric", weights=[1, 2]),
        VotingClassifier(classifiers(), voting="soft", combine="trimmed", weights="learned", cv=2),
        VotingClassifier(foreign_classifiers(), voting="confidence"),
        VotingRegressor(regressors(), combine="median", weights=[1, 2]),
        VotingRegressor(regressors(), weights="inverse_error", cv=0.5, random_state=0),
        VotingRegressor(foreign_regressors(), combine="trimmed"),
        StackingClassifier(classifiers(), DecisionTreeClassifier(max_depth=2), cv=2),
        StackingClassifier(classifiers(), "convex", cv=0.4, refit=False, random_state=0),
        StackingClassifier(
            [("forest", RandomForestClassifier(5, random_state=0))], "convex", cv="oob"
        ),
        StackingClassifier(
            [classifiers()[0]],
            "convex",
            layers=[[("second", ExtraTreesClassifier(3, random_state=0))]],
            cv=2,
            leak_check=True,
            random_state=0,
        ),
        StackingClassifier(foreign_classifiers(), GaussianNB(), cv=2),
        StackingClassifier(classifiers(), cv=2, stack_method="log_odds"),
        StackingRegressor(regressors(), "convex", cv="time"),
        StackingRegressor(foreign_regressors(), cv=2, passthrough=True),
    ],
    expected_failed_checks=excused,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", ALL)
def test_public_methods_and_attributes_of_scikit_learns_classes_exist(cls, rng):
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    members = foreign_classifiers() if "Classifier" in cls.__name__ else foreign_regressors()
    theirs = getattr(sklearn.ensemble, cls.__name__)(members).fit(X, y)
    ours = cls(members).fit(X, y)
    names = {name for name in dir(theirs) if not name.startswith("_")}
    names -= {"stack_method"} if cls is StackingRegressor else set()  # no parameter of theirs
    assert {name for name in names if not hasattr(ours, name)} == set()


def test_tags_follow_who_reads_the_table():
    own = StackingClassifier(classifiers())
    assert own.__sklearn_tags__().input_tags.allow_nan
    assert not own.set_params(passthrough=True).__sklearn_tags__().input_tags.allow_nan
    own.set_params(final_estimator=DecisionTreeClassifier())
    assert own.__sklearn_tags__().input_tags.allow_nan
    mixed = VotingClassifier([*classifiers(), *foreign_classifiers()])
    assert not mixed.__sklearn_tags__().input_tags.allow_nan
    assert not mixed.__sklearn_tags__().input_tags.sparse


@pytest.mark.parametrize(
    "team",
    [
        StackingClassifier,
        partial(VotingClassifier, weights="learned"),
        EnsembleSelectionClassifier,
        DynamicSelectionClassifier,
    ],
)
@pytest.mark.parametrize("cv", [3, "oob"])
def test_progress_ends_with_the_last_fit(team, cv, capsys):
    X, y = np.arange(60.0).reshape(-1, 1), np.arange(60) % 2
    members = [("tree", DecisionTreeClassifier()), ("forest", RandomForestClassifier(20))]
    team(members, cv=cv, verbose=2).fit(X, y)

    told = [line for line in capsys.readouterr().err.splitlines() if " fits" in line]
    done, of, n_all = told[-1].split(": ")[1].split()[:3]
    assert (done, of) == (n_all, "of")
