"""Stacks and threads, failed fits, raw tables, names of columns, what is refused."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
    RidgeCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from team_tools import Says, SaysNumber, classifiers, own_classifiers, regressors

import committee
from committee import (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EnsembleSelectionClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)

# --- promises -------------------------------------------------------------------------------------


def test_results_do_not_depend_on_workers_and_members_keep_theirs(iris):
    X, y = iris
    members = [
        ("forest", RandomForestClassifier(5, n_jobs=7)),
        ("boosting", GradientBoostingClassifier(n_estimators=5, subsample=0.7)),
        ("near", KNeighborsClassifier(3, n_jobs=2)),
        ("line", LogisticRegression()),
    ]
    stack = StackingClassifier(members, "convex", cv=2, random_state=3, leak_check=True)
    found = [clone(stack).set_params(n_jobs=n).fit(X, y) for n in (1, 2, 1)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(found[0].leak_report_.found, other.leak_report_.found)
    assert [m.get_params().get("n_jobs") for m in found[1].estimators_[:3]] == [7, None, 2]
    assert members[0][1].random_state is None
    other = clone(found[0]).set_params(random_state=4).fit(X, y)
    assert (other.predict_proba(X) != found[0].predict_proba(X)).any()


def test_progress_is_told_if_asked(iris, capfd):
    StackingClassifier(own_classifiers(), cv=2, leak_check=True).fit(*iris)
    assert capfd.readouterr() == ("", "")
    StackingClassifier(own_classifiers(), cv=2, verbose=2).fit(*iris)
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 9
    assert told[-1].startswith("StackingClassifier: 9 of 9 fits")
    late = [[("late", DecisionTreeClassifier())]]
    for options in ({"layers": late}, {"refit": False}, {"cv": 0.5}, {"layers": late, "cv": 0.5}):
        StackingClassifier(own_classifiers(), **{"cv": 2, "verbose": 2} | options).fit(*iris)
        done = [line.split()[1:4:2] for line in capfd.readouterr().err.splitlines()]
        assert [int(n) for n, _ in done] == list(range(1, len(done) + 1)), options
        assert done[-1][0] == done[-1][1], options


def test_a_failed_fit_leaves_the_stack_as_it_was(iris):
    X, y = iris
    stack = StackingClassifier(classifiers(), keep_level_one=True, leak_check=True).fit(X, y)
    before = dict(vars(stack))
    with pytest.raises(ValueError, match="NaN"):
        stack.fit(np.where(X > 2, np.nan, X), y)
    stack.final_estimator = LinearSVC(C=-1)
    before["final_estimator"] = stack.final_estimator
    with pytest.raises(ValueError, match=r"(?s)C") as caught:
        stack.fit(X, y)
    assert "final_estimator" in "".join(caught.value.__notes__)
    assert vars(stack) == before
    stack.set_params(final_estimator=None, leak_check=False, keep_level_one=False).fit(X, y)
    assert not hasattr(stack, "leak_report_")
    assert not hasattr(stack, "level_one_")


def test_raw_tables_reach_own_members_and_pass_through(rng):
    n_rows = 60
    columns = {
        "a": rng.choice(["x", "y", "z"], n_rows).tolist(),
        "b": [None if k % 7 == 0 else float(k % 10) for k in range(n_rows)],
    }
    y = np.where(np.array(columns["a"]) == "x", "yes", "no")
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        for passthrough in (False, True):
            final = DecisionTreeClassifier(max_depth=3) if passthrough else None
            stack = StackingClassifier(
                own_classifiers(), final, passthrough=passthrough, cv=2, keep_level_one=True
            ).fit(frame, y)
            assert stack.score(frame, y) == 1.0
            assert stack.score(frame[["b", "a"]], y) == 1.0  # matched by name
            if passthrough:
                assert type(stack.level_one_) is type(frame)
                assert list(stack.level_one_.columns)[-2:] == ["a", "b"]
    shuffled = pd.DataFrame(columns, index=rng.permutation(n_rows))
    pandas = clone(stack).fit(shuffled, y)
    np.testing.assert_array_equal(pandas.predict_proba(shuffled), stack.predict_proba(frame))


def test_columns_are_matched_by_name(iris):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    stack = StackingClassifier(classifiers(), passthrough=True, cv=2).fit(frame, iris[1])
    expected = stack.predict_proba(frame)
    np.testing.assert_array_equal(stack.predict_proba(frame[list("dbca")]), expected)
    with pytest.raises(ValueError, match=r"(?s)unseen.*e.*missing.*a"):
        stack.predict(frame.rename(columns={"a": "e"}))
    with pytest.raises(ValueError, match="missing"):
        stack.predict(frame[list("abc")])
    with pytest.warns(UserWarning, match="feature names"):
        stack.predict(frame.to_numpy())
    with pytest.raises(ValueError, match="3 features"):
        stack.predict(frame.to_numpy()[:, :3])


def told_about_names(model, method, X):
    """Return what is warned about: the file that is blamed, and the message."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(model, method)(X)
    return [(each.filename, str(each.message)) for each in caught]


@pytest.mark.parametrize("given", ["text", "numbers"])
@pytest.mark.parametrize("cls", [StackingClassifier, VotingClassifier, EnsembleSelectionClassifier])
def test_missing_names_are_warned_about_once(cls, given, rng):
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], 60), "b": rng.normal(size=60)})
    y = (frame["a"] == "x").to_numpy().astype(int)
    members = [*own_classifiers(), ("bag", BaggingClassifier(DecisionTreeClassifier(), 2))]
    if given == "numbers":
        frame["a"] = rng.normal(size=60)
        members += classifiers()
    options = {"cv": 2}
    if cls is VotingClassifier:
        options["tie_break"] = "soft"  # asks members twice
    if cls is StackingClassifier:
        layers = [[("late", DecisionTreeClassifier())]]
        options |= {"layers": layers, "passthrough": True}
        options["final_estimator"] = DecisionTreeClassifier(max_depth=2)
    model = cls(members, **options).fit(frame, y)
    bare = frame.to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
    for method in ("predict", "predict_proba"):
        ((where, message),) = told_about_names(model, method, bare)
        assert f"but {cls.__name__} was fitted with feature names" in message
        assert where == __file__
        expected = getattr(model, method)(frame)
        with pytest.warns(UserWarning, match="feature names"):
            np.testing.assert_array_equal(getattr(model, method)(bare), expected)
    unnamed = clone(model).fit(bare, y)
    ((_, message),) = told_about_names(unnamed, "predict", frame)
    assert "fitted without feature names" in message


def test_predict_passes_arguments_on(diabetes):
    from sklearn.gaussian_process import GaussianProcessRegressor

    X, y = diabetes
    stack = StackingRegressor(regressors(), GaussianProcessRegressor(), cv=2).fit(X[:40], y[:40])
    mean, spread = stack.predict(X[:5], return_std=True)
    assert mean.shape == spread.shape == (5,)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"final_estimator": "best"}, ValueError, "final_estimator must be .*convex.*; got 'best'"),
        ({"final_estimator": Ridge()}, ValueError, "'final_estimator' is a regressor"),
        ({"final_estimator": GaussianNB}, ValueError, "'final_estimator' should be a classifier"),
        ({"final_estimator": 3}, ValueError, "'final_estimator' should be a classifier"),
        ({"final_estimator": "convex", "passthrough": True}, ValueError, "passthrough=False"),
        ({"cv": 1}, ValueError, "cv must be .*; got 1"),
        ({"cv": 0}, ValueError, "cv must be .*; got 0"),
        ({"cv": 1.5}, ValueError, "cv must be .*; got 1.5"),
        ({"cv": "some"}, ValueError, "cv must be .*; got 'some'"),
        ({"cv": 1j}, TypeError, "cv must be .*; got 1j"),
        ({"stack_method": "guess"}, ValueError, "stack_method must be .*; got 'guess'"),
        ({"stack_method": None}, (TypeError, ValueError), "stack_method must be .*; got None"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be .*; got 0"),
        ({"passthrough": "yes"}, TypeError, "passthrough must be .*; got 'yes'"),
        ({"refit": 1}, TypeError, "refit must be .*; got 1"),
        ({"keep_level_one": None}, TypeError, "keep_level_one must be .*; got None"),
        ({"verbose": -1}, ValueError, "verbose must be .*; got -1"),
        ({"leak_check": 1.0}, ValueError, "leak_check must be .*; got 1.0"),
        ({"leak_check": 0.0}, ValueError, "leak_check must be .*; got 0.0"),
        ({"leak_check": "yes"}, TypeError, "leak_check must be .*; got 'yes'"),
        ({"on_leak": "cry"}, ValueError, "on_leak must be .*; got 'cry'"),
        ({"random_state": "luck"}, (TypeError, ValueError), "random_state must be .*; got 'luck'"),
        ({"layers": 3}, TypeError, "layers must be None or a list of layers; got 3"),
        ({"layers": "abc"}, TypeError, "layers must be None or a list of layers; got 'abc'"),
        ({"layers": [3]}, ValueError, r"layers\[0\]"),
        ({"layers": [("a", GaussianNB())]}, ValueError, r"layers\[0\]"),
        ({"layers": [[]]}, ValueError, r"layers\[0\].* non-empty"),
        ({"layers": [[("line", GaussianNB())]]}, ValueError, r"not unique: \['line'\]"),
        ({"layers": [[("cv", GaussianNB())]]}, ValueError, r"conflict.*\['cv'\]"),
        ({"layers": [[("late", KMeans())]]}, ValueError, "'late' is a clusterer"),
        ({"estimators": None}, ValueError, "non-empty list"),
        ({"estimators": ()}, ValueError, "non-empty list"),
        ({"estimators": {"a": GaussianNB()}}, ValueError, "non-empty list"),
        ({"estimators": [("a", GaussianNB)]}, ValueError, "'a' should be a classifier"),
        ({"estimators": [("a", KMeans())]}, ValueError, "'a' is a clusterer"),
        ({"estimators": [("a__b", GaussianNB())]}, ValueError, "must not contain __"),
        ({"estimators": [("refit", GaussianNB())]}, ValueError, r"conflict.*\['refit'\]"),
        ({"estimators": [("a", "drop")]}, ValueError, "All estimators are dropped"),
        (
            {"estimators": [("a", LinearSVC())], "stack_method": "predict_proba"},
            ValueError,
            "a does not implement the method predict_proba",
        ),
    ],
    ids=repr,
)
def test_wrong_parameters_are_named(options, kind, message, iris):
    stack = StackingClassifier(**{"estimators": classifiers()} | options)
    repr(stack)
    with pytest.raises(kind, match=message):
        stack.fit(*iris)
    assert not hasattr(stack, "estimators_")


def test_wrong_rows_are_refused(iris):
    X, y = iris
    stack = StackingClassifier(own_classifiers(), cv=2)
    with pytest.raises(NotFittedError):
        stack.predict(X)
    with pytest.raises(NotFittedError):
        stack.get_feature_names_out()
    with pytest.raises(ValueError, match="2 columns"):
        stack.fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="2 columns"):
        StackingRegressor(regressors()).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"inconsistent|rows"):
        stack.fit(X, y[:-1])
    for weights, message in (
        (np.ones(3), "sample_weight"),
        (-np.ones(150), "Negative"),
        (np.full(150, np.nan), "NaN"),
        (np.zeros(150), "non-zero"),
    ):
        with pytest.raises(ValueError, match=message):
            stack.fit(X, y, weights)
    for groups, message in ((np.arange(3), "groups"), ([None] * 150, "groups"), (0, "groups")):
        with pytest.raises(ValueError, match=message):
            stack.fit(X, y, groups=groups)
    with pytest.raises(TypeError, match="does not support sample weights: fit of 'near'"):
        StackingClassifier(classifiers()).fit(X, y, np.arange(150) + 1)
    near = StackingClassifier(own_classifiers(), KNeighborsClassifier())
    with pytest.raises(
        TypeError, match="does not support sample weights: fit of 'final_estimator'"
    ):
        near.fit(X, y, np.arange(150) + 1)
    with pytest.raises(ValueError, match="trains on"):
        stack.set_params(cv=[(np.arange(150), np.arange(9))]).fit(X, y)
    with pytest.raises(ValueError, match="no rows for layer 2"):
        StackingClassifier(
            own_classifiers(),
            layers=[[("late", DecisionTreeClassifier())]],
            cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))],
        ).fit(X, y)
    with pytest.raises(NotFittedError):
        StackingClassifier(classifiers(), cv="prefit").fit(X, y)


def test_the_smallest_tables():
    one = StackingClassifier(own_classifiers(), DecisionTreeClassifier(), cv=2)
    assert one.fit([[1.0], [2.0]], ["a", "a"]).predict([[3.0]]).tolist() == ["a"]
    assert one.predict_proba([[3.0]]).tolist() == [[1.0]]
    convex = StackingClassifier(own_classifiers(), "convex", cv=2)
    assert convex.fit([[1.0], [2.0]], ["a", "a"]).predict([[3.0]]).tolist() == ["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        two = StackingClassifier(own_classifiers(), DecisionTreeClassifier(), cv="loo")
        assert two.fit([[1.0], [2.0]], ["a", "b"]).predict([[3.0]])[0] in ("a", "b")
    number = StackingRegressor([("t", DecisionTreeRegressor())], "convex", cv=2)
    assert number.fit([[1.0], [2.0]], [1.0, 2.0]).predict([[2.0]]).tolist() == [2.0]
    with pytest.warns(UserWarning, match="2 folds and not into 5: there are only 2 rows"):
        StackingRegressor([("t", DecisionTreeRegressor())]).fit([[1.0], [2.0]], [1.0, 2.0])


def test_seeds_reach_members_that_have_none(diabetes):
    X, y = diabetes
    fixed = RandomForestRegressor(3, random_state=7)
    members = [("free", RandomForestRegressor(3)), ("fixed", fixed)]
    first, second = (StackingRegressor(members, cv=2, random_state=s).fit(X, y) for s in (1, 2))
    assert (first.transform(X)[:, 0] != second.transform(X)[:, 0]).any()
    np.testing.assert_array_equal(first.transform(X)[:, 1], second.transform(X)[:, 1])


def test_what_members_say_becomes_columns():
    X = np.array([[0.9, 0.1, 4.0], [0.2, 0.8, 5.0]] * 6)
    stack = StackingClassifier([("says", Says(0))], cv=2).fit(X, [0, 1] * 6)
    assert stack.transform(X)[:2].tolist() == [[0.1], [0.8]]
    numbers = StackingRegressor([("says", SaysNumber(2))], RidgeCV(), cv=2).fit(X, X[:, 2])
    assert numbers.transform(X)[:2].tolist() == [[4.0], [5.0]]


# --- several labels a row -------------------------------------------------------------------------


def test_what_a_fitted_stack_asks_does_not_change(iris, tmp_path):
    X, y = iris
    stack = StackingClassifier([("tree", DecisionTreeClassifier(max_depth=2))]).fit(X, y)
    told = stack.predict_proba(X)
    stack.set_params(stack_method="log_odds")
    np.testing.assert_array_equal(stack.predict_proba(X), told)
    committee.save(stack, tmp_path / "stack.committee")
    again = committee.load(tmp_path / "stack.committee")
    np.testing.assert_array_equal(again.predict_proba(X), told)
