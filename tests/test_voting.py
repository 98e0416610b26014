"""Voting: rules, combinations, weights and ties; scikit-learn's results; who voted what."""

import inspect
import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import sklearn.ensemble
from scipy import sparse, stats
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from team_tools import Says, SaysNumber, classifiers, committee_of, regressors

from committee import (
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from committee.combining.convex_weights import blend_weights, mixture_weights
from committee.combining.voting.means import combine
from committee.combining.voting.votes import fewest_that

RULES = ["hard", "plurality", "majority", "soft", "confidence", "weighted"]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[:120], y[:120]


def own_classifiers():
    return [
        ("tree", DecisionTreeClassifier(max_depth=2)),
        ("c45", C45Classifier()),
        ("extra", ExtraTreesClassifier(4, random_state=0)),
    ]


# --- the same as scikit-learn's -----------------------------------------------------------------

OPTIONS = [
    {},
    {"voting": "soft"},
    {"voting": "soft", "weights": [1, 2, 0.5]},
    {"weights": [3, 1, 1]},
    {"voting": "soft", "flatten_transform": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("kind", ["numbers", "labels", "two classes", "weights", "frame", "sparse"])
def test_a_classifier_is_scikit_learns(kind, options, iris):
    X, y = iris
    weights = None
    params = {}
    members = classifiers()
    if kind == "labels":
        y = np.array(["setosa", "versicolor", "virginica"])[y]
    elif kind == "two classes":
        X, y = X[50:], y[50:]
    elif kind == "weights":
        weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
        params = {"sample_weight": weights}
        members[2] = ("tree", sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=0))
    elif kind == "frame":
        X = pd.DataFrame(X, columns=list("abcd"))
    elif kind == "sparse":
        X = sparse.csr_matrix(X)
        members[1] = ("tree", sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=0))
    theirs = sklearn.ensemble.VotingClassifier(members, **options).fit(X, y, **params)
    ours = VotingClassifier(members, **options).fit(X, y, weights)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    if options.get("voting") == "soft":
        np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    if options.get("flatten_transform", True):
        names = theirs.get_feature_names_out()
        assert ours.get_feature_names_out().tolist() == names.tolist()
    assert ours.named_estimators_.keys() == theirs.named_estimators_.keys()
    assert ours.le_.classes_.tolist() == theirs.le_.classes_.tolist()


@pytest.mark.parametrize("options", [{}, {"voting": "soft"}, {"weights": "learned", "cv": 3}])
def test_one_class_is_voted_for_by_members_that_take_it(options, iris):
    X, y = iris[0][:30], np.full(30, 7)
    members = [("bayes", GaussianNB()), ("near", KNeighborsClassifier())]
    voting = VotingClassifier(members, **options).fit(X, y)
    assert voting.predict(X).tolist() == y.tolist()
    if "cv" not in options:
        theirs = sklearn.ensemble.VotingClassifier(members, **options).fit(X, y)
        assert theirs.predict(X).tolist() == y.tolist()
    members.append(("line", LogisticRegression()))
    with pytest.raises(ValueError, match="y has 1 class, 7, and the member 'line' could not"):
        VotingClassifier(members, **options).fit(X, y)


@pytest.mark.parametrize("options", [{}, {"weights": [1, 2, 0.5]}], ids=repr)
@pytest.mark.parametrize("kind", ["array", "frame", "weights"])
def test_a_regressor_is_scikit_learns(kind, options, diabetes):
    X, y = diabetes
    members, weights, params = regressors(), None, {}
    if kind == "frame":
        X = pd.DataFrame(X, columns=[f"c{k}" for k in range(10)])
    if kind == "weights":
        weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
        params = {"sample_weight": weights}
        members[2] = ("tree", sklearn.tree.DecisionTreeRegressor(max_depth=2, random_state=0))
    theirs = sklearn.ensemble.VotingRegressor(members, **options).fit(X, y, **params)
    ours = VotingRegressor(members, **options).fit(X, y, weights)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_a_dropped_member_is_as_in_scikit_learn(iris, diabetes):
    for members, pair, (X, y) in (
        (classifiers(), (VotingClassifier, sklearn.ensemble.VotingClassifier), iris),
        (regressors(), (VotingRegressor, sklearn.ensemble.VotingRegressor), diabetes),
    ):
        ours, theirs = (
            cls(members, weights=[1, 5, 2]).set_params(line="drop").fit(X, y) for cls in pair
        )
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        assert ours.named_estimators_["line"] == theirs.named_estimators_["line"] == "drop"
        assert len(ours.estimators_) == 2
        np.testing.assert_allclose(ours.weights_, [5 / 7, 2 / 7])


def test_parameters_of_members_are_reached_by_name(iris):
    model = VotingClassifier(classifiers(), voting="soft")
    theirs = sklearn.ensemble.VotingClassifier(classifiers(), voting="soft")
    assert set(theirs.get_params()) <= set(model.get_params())
    model.set_params(near__n_neighbors=7, line=LogisticRegression(C=0.5))
    assert model.get_params()["near__n_neighbors"] == 7
    assert model.get_params()["line__C"] == 0.5
    assert clone(model).get_params()["near__n_neighbors"] == 7
    search = GridSearchCV(model, {"near__n_neighbors": [1, 9], "voting": ["hard", "soft"]}, cv=3)
    search.fit(*iris)
    assert set(search.best_params_) == {"near__n_neighbors", "voting"}
    with pytest.raises(ValueError, match="nobody"):
        model.set_params(nobody__C=1)


def test_a_committee_is_a_step_of_a_pipeline_and_writes_frames(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), VotingClassifier(classifiers(), voting="soft"))
    theirs = make_pipeline(
        StandardScaler(), sklearn.ensemble.VotingClassifier(classifiers(), voting="soft")
    )
    np.testing.assert_array_equal(model.fit(X, y).predict(X), theirs.fit(X, y).predict(X))
    for library, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        told = VotingClassifier(classifiers()).set_output(transform=library).fit(X, y).transform(X)
        assert isinstance(told, frame)
        assert list(told.columns) == [f"votingclassifier_{n}" for n in ("line", "bayes", "near")]


def test_metadata_are_routed_to_members_that_ask(iris):
    X, y = iris
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        members = [
            ("line", LogisticRegression().set_fit_request(sample_weight=True)),
            ("bayes", GaussianNB().set_fit_request(sample_weight=False)),
        ]
        theirs = sklearn.ensemble.VotingClassifier(members, voting="soft")
        theirs.fit(X, y, sample_weight=weights)
        ours = VotingClassifier(members, voting="soft").fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        VotingClassifier(classifiers()).fit(X, y, brightness=1)


def test_frozen_members_speak_of_labels(iris):
    X, y = iris
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = [(name, member.fit(X, labels)) for name, member in classifiers()]
    usual = VotingClassifier(classifiers()).fit(X, labels)
    frozen = VotingClassifier([(name, FrozenEstimator(each)) for name, each in fitted])
    np.testing.assert_array_equal(frozen.fit(X, labels).predict(X), usual.predict(X))
    mixed = VotingClassifier([("f", FrozenEstimator(fitted[0][1])), classifiers()[1]])
    assert mixed.set_params(voting="soft").fit(X, labels).score(X, labels) > 0.9
    ready = VotingClassifier(fitted, cv="prefit").fit(X, labels)
    np.testing.assert_array_equal(ready.predict(X), usual.predict(X))
    assert ready.estimators_[0] is fitted[0][1]


def test_fitted_members_may_know_more_or_other_labels(iris):
    X, y = iris
    labels = np.array(["a", "b", "c"])[y]
    fitted = [(name, member.fit(X, labels)) for name, member in classifiers()]
    known = VotingClassifier(fitted, cv="prefit").fit(X[:100], labels[:100])
    assert known.classes_.tolist() == ["a", "b", "c"]
    assert known.score(X, labels) > 0.9
    fewer = [("two", GaussianNB().fit(X[:100], labels[:100])), *fitted]
    soft = VotingClassifier(fewer, voting="soft", cv="prefit").fit(X, labels)
    np.testing.assert_allclose(soft.predict_proba(X).sum(axis=1), 1)
    assert soft.score(X, labels) > 0.9
    with pytest.raises(ValueError, match=r"classes|labels"):
        VotingClassifier([("codes", GaussianNB().fit(X, y))], cv="prefit").fit(X, labels)
    with pytest.raises(NotFittedError):
        VotingClassifier(classifiers(), cv="prefit", voting="soft", weights="learned").fit(X, y)


# --- rules --------------------------------------------------------------------------------------


def rows_of_votes(*votes):
    """One row for members that are sure of what they say."""
    n_classes = 3
    return np.concatenate([np.eye(n_classes)[vote] for vote in votes])[np.newaxis]


def test_a_majority_is_more_than_half_of_the_votes():
    tie = rows_of_votes(0, 0, 1, 1, 2)
    most = rows_of_votes(0, 2, 2, 2, 1)
    some = rows_of_votes(0, 0, 1, 2, 1)
    half = rows_of_votes(0, 0, 1, 1)
    strict = committee_of(VotingClassifier, 5, 3, voting="majority", abstain_label=-1)
    assert strict.predict(np.vstack([tie, most, some])).tolist() == [-1, 2, -1]
    assert strict.votes(most).agreement.tolist() == pytest.approx([0.6])
    lenient = committee_of(VotingClassifier, 5, 3, voting="majority")
    assert lenient.predict(np.vstack([tie, most])).tolist() == [0, 2]
    plural = committee_of(VotingClassifier, 5, 3, voting="plurality", abstain_label=-1)
    assert plural.predict(np.vstack([tie, most])).tolist() == [0, 2]
    ties = committee_of(VotingClassifier, 5, 3, tie_break="abstain", abstain_label="none")
    assert ties.predict(np.vstack([tie, most])).tolist() == ["none", 2]
    even = committee_of(VotingClassifier, 4, 3, voting="majority", abstain_label=-1)
    assert even.predict(half).tolist() == [-1]  # half is no majority


def test_ties_are_broken_as_asked():
    X = np.array([[0.6, 0.4, 0.1, 0.9]])  # one vote each; class 1 has the larger mean
    members = [("m0", Says(0)), ("m1", Says(2))]
    table, y = np.tile(np.eye(2), (1, 2))[[0, 1, 1]], [0, 1, 1]
    answers = {
        rule: VotingClassifier(members, tie_break=rule, abstain_label=9).fit(table, y).predict(X)
        for rule in ("first", "prior", "soft", "abstain")
    }
    assert {rule: each.tolist() for rule, each in answers.items()} == {
        "first": [0],
        "prior": [1],
        "soft": [1],
        "abstain": [9],
    }


def test_three_tenths_and_two_tenths_and_one_tenth_tie():
    """0.1 + 0.2 is not 0.3 to a computer: that must not decide a vote."""
    model = committee_of(
        VotingClassifier, 3, 2, weights=[0.3, 0.1, 0.2], tie_break="abstain", abstain_label=7
    )
    X = np.array([[1, 0, 0, 1, 0, 1], [0, 1, 1, 0, 1, 0.0]])
    assert model.predict(X).tolist() == [7, 7]


@pytest.mark.parametrize("rule", RULES)
def test_probabilities_add_up_to_one_and_agree_with_the_answer(rule, rng):
    model = committee_of(VotingClassifier, 5, 3, voting=rule, weights=[1, 2, 3, 4, 5.5])
    X = rng.dirichlet(np.ones(3), size=(200, 5)).reshape(200, 15)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


# --- combinations -------------------------------------------------------------------------------


def naive_median(values, weights):
    """Half of the weight is below, half above; the middle of two where half is reached exactly."""
    pairs = sorted(zip(values, weights, strict=True))
    half, below, answers = sum(weights) / 2, 0.0, []
    for value, weight in pairs:
        if weight > 0 and below <= half <= below + weight:
            answers.append(value)
        below += weight
    return (answers[0] + answers[-1]) / 2


def naive_trimmed(values, weights, trim):
    total = sum(weights)
    low, high = trim * total, (1 - trim) * total
    at, sums, kept = 0.0, 0.0, 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        part = max(0.0, min(at + weight, high) - max(at, low))
        sums, kept, at = sums + part * value, kept + part, at + weight
    return sums / kept


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1, 1], [2, 1, 0, 3, 1, 1], [1, 1, 8, 1, 2, 3]])
def test_combinations_agree_with_naive_loops(weights, rng):
    predicted = rng.lognormal(size=(6, 40, 2))
    weights = np.array(weights, float)
    for how, naive in (
        ("mean", lambda v: np.average(v, weights=weights)),
        ("median", lambda v: naive_median(v, weights)),
        ("trimmed", lambda v: naive_trimmed(v, weights, 0.15)),
        ("geometric", lambda v: stats.gmean(v, weights=weights)),
    ):
        found = combine(predicted, weights, how, 0.15)
        expected = np.apply_along_axis(naive, 0, predicted)
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=how)
    repeated = predicted.repeat(weights.astype(int), axis=0)  # a weight of two is the member twice
    for how in ("mean", "median", "trimmed", "geometric"):
        np.testing.assert_allclose(
            combine(predicted, weights, how, 0.2),
            combine(repeated, np.ones(len(repeated)), how, 0.2),
            rtol=1e-12,
        )


def test_combinations_agree_with_scipy(rng):
    predicted, even = rng.lognormal(size=(10, 50, 1)), np.ones(10)
    np.testing.assert_allclose(combine(predicted, even, "median", 0), np.median(predicted, axis=0))
    np.testing.assert_allclose(
        combine(predicted, even, "trimmed", 0.2), stats.trim_mean(predicted, 0.2)
    )
    np.testing.assert_allclose(combine(predicted, even, "geometric", 0), stats.gmean(predicted))


def test_a_regressor_combines_what_members_say(rng):
    X = rng.lognormal(size=(30, 5))
    members = [(f"m{k}", SaysNumber(k)) for k in range(5)]
    weights = np.array([1.0, 0, 2, 1, 3])
    for how, naive in (
        ("median", lambda v: naive_median(v, weights)),
        ("trimmed", lambda v: naive_trimmed(v, weights, 0.2)),
        ("geometric", lambda v: stats.gmean(v, weights=weights)),
    ):
        model = VotingRegressor(members, combine=how, weights=weights).fit(X, X[:, 0])
        np.testing.assert_allclose(model.predict(X), np.apply_along_axis(naive, 1, X))
    with pytest.raises(ValueError, match=r"positive.*m2.*-3.*row 1"):
        model.predict([[1, 1, 1, 1, 1], [1, 1, -3, 1, 1.0]])
    # A member without weight may say anything.
    X[:, 1] = np.inf
    assert np.isfinite(model.predict(X)).all()
    X[:, 1] = -1.0
    assert np.isfinite(model.predict(X)).all()


def test_the_geometric_mean_of_members_that_rule_out_every_class_is_the_mean():
    model = committee_of(VotingClassifier, 2, 2, voting="soft", combine="geometric")
    np.testing.assert_allclose(model.predict_proba([[1, 0, 0, 1.0]]), [[0.5, 0.5]])
    p = np.sqrt(np.array([[0.9 * 0.4, 0.1 * 0.6]]))
    np.testing.assert_allclose(model.predict_proba([[0.9, 0.1, 0.4, 0.6]]), p / p.sum())


# --- weights ------------------------------------------------------------------------------------


def log_loss_of(weights, shares, rows):
    return -np.average(np.log(np.maximum(shares @ weights, 1e-300)), weights=rows)


@pytest.mark.parametrize("case", range(6))
def test_mixture_weights_are_the_best(case, rng):
    rng = np.random.default_rng([case, 1])
    n_members = [2, 3, 4, 3, 5, 2][case]
    shares = rng.beta(2, 1, size=(200, n_members))
    if case == 3:
        shares[::10, 0] = 0.0  # sure and wrong
    if case == 4:
        shares[:, 1] = shares[:, 0] * (1 + 1e-6 * rng.normal(size=200))  # nearly twins
    if case == 5:
        shares = 1e-8 * shares
    rows = rng.uniform(0, 2, 200) if case % 2 else np.ones(200)
    found = mixture_weights(shares, rows if case % 2 else None)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    starts = [np.full(n_members, 1 / n_members), *np.eye(n_members) * 0.8 + 0.2 / n_members]
    best = min(
        minimize(
            log_loss_of,
            start,
            (np.maximum(shares, 1e-15), rows),
            "SLSQP",
            bounds=[(0, 1)] * n_members,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        ).fun
        for start in starts
    )
    ours = log_loss_of(found, np.maximum(shares, 1e-15), rows)
    assert ours <= best + 1e-6


@pytest.mark.parametrize("scale", [1.0, 1e9, 1e-9, 1e-160, 1e150])
@pytest.mark.parametrize("kind", ["plain", "heavy tails", "one far off", "twins", "one perfect"])
def test_blend_weights_are_the_best(kind, scale, rng):
    y = rng.normal(size=300)
    errors = rng.normal(size=(300, 4)) * [1.0, 0.7, 1.3, 2.0] + [0.3, -0.5, 0, 1]
    if kind == "heavy tails":
        y = rng.standard_cauchy(size=300) * 100
        errors = errors * rng.standard_cauchy(size=(300, 1))
    if kind == "one far off":
        errors[:, 3] *= 1e9
    if kind == "twins":
        errors[:, 1] = errors[:, 0]
    if kind == "one perfect":
        errors[:, 2] = 0.0
    rows = rng.uniform(0.1, 2, 300)
    values = y[:, None] + errors
    errors = values - y[:, None]  # as rounded
    found = blend_weights(values * scale, y * scale, rows)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    gram = (errors * rows[:, None]).T @ errors / rows.sum()

    def best_of(places):
        """The best weights of some members: a linear system, kept if none is negative."""
        part = gram[np.ix_(places, places)]
        w = np.linalg.pinv(part / np.trace(part)) @ np.ones(len(places)) if part.any() else [1.0]
        w = np.asarray(w) / np.sum(w)
        return w @ part @ w if w.min() >= 0 else np.inf

    subsets = [list(s) for n in range(1, 5) for s in itertools.combinations(range(4), n)]
    best = min(best_of(s) for s in subsets)
    assert found @ gram @ found <= best * (1 + 1e-6) + 1e-30


def test_learnt_weights_are_judged_by_rows_that_members_have_not_seen(iris):
    X, y = iris
    folds = [(np.flatnonzero(np.arange(150) % 3 != k), np.arange(k, 150, 3)) for k in range(3)]
    members = [("near", KNeighborsClassifier(1)), ("bayes", GaussianNB())]
    members.append(("dummy", DummyClassifier()))
    predicted = np.zeros((3, 150), int)
    shares = np.zeros((3, 150, 3))
    for train, test in folds:
        for k, (_, member) in enumerate(members):
            fitted = clone(member).fit(X[train], y[train])
            predicted[k, test] = fitted.predict(X[test])
            shares[k, test] = fitted.predict_proba(X[test])
    right = (predicted == y).mean(axis=1)
    accuracy = VotingClassifier(members, weights="accuracy", cv=folds).fit(X, y).weights_
    np.testing.assert_allclose(accuracy, right / right.sum())
    error = ((1 - right) * 150 + 0.5) / 151  # half a wrong row, so that nobody decides alone
    odds = np.maximum(np.log((1 - error) / error) + math.log(2), 1e-6)
    for options in ({"weights": "log_odds"}, {"voting": "weighted"}):
        found = VotingClassifier(members, cv=folds, **options).fit(X, y).weights_
        np.testing.assert_allclose(found, odds / odds.sum(), atol=1e-9)
    soft = VotingClassifier(members, voting="soft", weights="learned", cv=folds).fit(X, y).weights_
    np.testing.assert_allclose(soft, mixture_weights(shares[:, np.arange(150), y].T), atol=1e-12)
    hard = VotingClassifier(members, weights="learned", cv=folds).fit(X, y).weights_
    votes = np.eye(3)[predicted].transpose(1, 2, 0).reshape(-1, 3)
    np.testing.assert_allclose(hard, blend_weights(votes, np.eye(3)[y].ravel()), atol=1e-12)


def test_members_that_are_all_perfect_or_all_useless_count_alike(iris, rng):
    X, y = iris
    twins = [("a", DecisionTreeClassifier()), ("b", DecisionTreeClassifier())]
    for rule in ("accuracy", "log_odds", "learned"):
        for labels in (y, rng.permutation(y)):
            model = VotingClassifier(twins, weights=rule, cv=2).fit(X, labels)
            if rule != "learned":  # whichever of twins is taken is as good
                np.testing.assert_allclose(model.weights_, 0.5)
            assert model.weights_.sum() == pytest.approx(1)
    for target in (np.zeros(20), np.full(20, 1e300), np.arange(20.0) * 1e200):
        for rule in ("inverse_error", "learned"):
            members = [("a", DummyRegressor()), ("b", DummyRegressor(strategy="median"))]
            model = VotingRegressor(members, weights=rule, cv=2).fit(np.zeros((20, 1)), target)
            assert np.isfinite(model.predict([[0.0]])).all()
            assert model.weights_.sum() == pytest.approx(1)


def own_team(rule):
    return VotingClassifier(
        [
            ("tree", DecisionTreeClassifier(max_depth=3)),
            ("stump", DecisionTreeClassifier(max_depth=1)),
        ],
        **rule,
    )


@pytest.mark.parametrize(
    "rule",
    [{"voting": v} for v in RULES]
    + [{"weights": w} for w in ("accuracy", "log_odds", "learned")]
    + [{"voting": "soft", "weights": "learned", "combine": "trimmed"}, {"tie_break": "prior"}],
    ids=repr,
)
def test_a_row_of_weight_two_is_the_row_twice_and_of_weight_zero_absent(rule, iris, rng):
    X, y = iris
    counts = rng.integers(0, 3, len(y))
    twice = np.repeat(np.arange(len(y)), counts)
    folds = rng.integers(0, 3, len(y))
    weighted = own_team(rule | {"cv": PredefinedSplit(folds)}).fit(X, y, counts)
    repeated = own_team(rule | {"cv": PredefinedSplit(folds[twice])}).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_allclose(weighted.class_prior_, repeated.class_prior_)


@pytest.mark.parametrize("weights", [None, "inverse_error", "learned"])
def test_weights_of_rows_are_repetitions_for_numbers(weights, diabetes, rng):
    X, y = diabetes
    counts = rng.integers(0, 3, len(y))
    twice = np.repeat(np.arange(len(y)), counts)
    folds = rng.integers(0, 3, len(y))
    deep, flat = DecisionTreeRegressor(max_depth=4), DecisionTreeRegressor(max_depth=1)
    members = [("deep", deep), ("flat", flat)]
    one = VotingRegressor(members, weights=weights, cv=PredefinedSplit(folds)).fit(X, y, counts)
    two = VotingRegressor(members, weights=weights, cv=PredefinedSplit(folds[twice]))
    two.fit(X[twice], y[twice])
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8)
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-8)


@pytest.mark.parametrize("combine_by", ["mean", "median", "trimmed", "geometric"])
def test_a_member_of_weight_zero_is_absent(combine_by, iris):
    X, y = iris
    options = {"voting": "soft", "combine": combine_by}
    all_three = VotingClassifier(classifiers(), weights=[1, 0, 2], **options).fit(X, y)
    two = VotingClassifier(classifiers()[::2], weights=[1, 2], **options).fit(X, y)
    np.testing.assert_allclose(all_three.predict_proba(X), two.predict_proba(X), atol=1e-15)


# --- who voted what -----------------------------------------------------------------------------


EXPLAINED = [
    ("hard", "first", "mean"),
    ("hard", "prior", "mean"),
    ("hard", "soft", "mean"),
    ("hard", "abstain", "mean"),
    ("majority", "first", "mean"),
    ("soft", "first", "mean"),
    ("soft", "soft", "median"),
    ("soft", "prior", "trimmed"),
    ("soft", "first", "geometric"),
    ("confidence", "first", "mean"),
    ("weighted", "abstain", "mean"),
]


@pytest.mark.parametrize(("rule", "tie_break", "combined"), EXPLAINED)
def test_flips_flip_and_no_fewer_members_do(rule, tie_break, combined, rng):
    n_members, n_classes = 5, 3
    n_flipped = 0
    for case in range(12):
        weights = rng.integers(1, 4, n_members) if case % 2 else np.ones(n_members)
        model = committee_of(
            VotingClassifier,
            n_members,
            n_classes,
            voting=rule,
            tie_break=tie_break,
            combine=combined,
            weights=weights,
            abstain_label=-1,
        )
        model.class_prior_ = np.array([0.2, 0.3, 0.5])
        p = rng.dirichlet(np.ones(n_classes), size=n_members)
        p = np.eye(n_classes)[p.argmax(axis=1)] if case % 3 == 0 else p.round(1)
        row = (p / p.sum(axis=1, keepdims=True)).reshape(1, -1)
        told = model.explain_vote(row)
        assert told.answer == model.predict(row)[0]

        def answer_if(places, row=row, told=told, model=model):
            changed = row.reshape(n_members, n_classes).copy()
            changed[list(places)] = np.eye(n_classes)[told.runner_up]
            return model.predict(changed.reshape(1, -1))[0]

        every = [s for n in range(1, 6) for s in itertools.combinations(range(n_members), n)]
        enough = [s for s in every if answer_if(s) == told.runner_up]
        flips = [told.names.index(name) for name in told.flips]
        assert len(flips) == min(map(len, enough), default=0)
        if flips:
            n_flipped += 1
            assert answer_if(flips) == told.runner_up != told.answer
        for place, name in enumerate(told.names):
            without = VotingClassifier(
                [pair for k, pair in enumerate(model.estimators) if k != place],
                voting=rule,
                tie_break=tie_break,
                combine=combined,
                weights=[w for k, w in enumerate(weights) if k != place],
                abstain_label=-1,
            ).fit(np.tile(np.eye(3), (1, 5)), [0, 1, 2])
            without.class_prior_ = model.class_prior_
            answer = without.predict(row)[0]
            assert told.without[place] == answer
            assert (name in told.decisive) == (answer != told.answer)
    assert n_flipped > 5


def test_flips_of_large_committees_flip():
    n_members = 60
    model = committee_of(VotingClassifier, n_members, 2)
    row = np.tile([1.0, 0.0], n_members)[np.newaxis]
    told = model.explain_vote(row)
    assert len(told.flips) == 31  # a tie is for the first class
    assert fewest_that(lambda sets: sets.sum(axis=1) > 99, np.ones(5), 9) == ()


def test_votes_are_told():
    model = committee_of(VotingClassifier, 3, 2, weights=[2, 1, 1])
    X = np.array([[1, 0, 0, 1, 0, 1], [0, 1, 0, 1, 0, 1.0]])
    votes = model.votes(X)
    assert votes.predicted.tolist() == [[0, 1, 1], [1, 1, 1]]
    assert votes.answer.tolist() == [0, 1]
    assert votes.agreement.tolist() == [0.5, 1.0]
    assert votes.to_frame().columns.tolist() == ["m0", "m1", "m2", "committee"]
    assert repr(votes) == "Votes(2 rows, 3 members)"
    told = model.explain_vote(X[:1])
    assert told.to_frame().loc["m0", "weight"] == 0.5
    assert "m0  says 0, weight 0.5" in str(told)
    with pytest.raises(ValueError, match="one row; got 2"):
        model.explain_vote(X)
    numbers = VotingRegressor([("a", SaysNumber(0)), ("b", SaysNumber(1))], weights=[3, 1])
    told = numbers.fit([[1.0, 2.0]], [1.0]).explain_vote([[4.0, 8.0]])
    assert (told.answer, told.without, told.predicted) == (5.0, (8.0, 4.0), (4.0, 8.0))
    assert numbers.votes([[4.0, 8.0]]).predicted.tolist() == [[4.0, 8.0]]


# --- promises -----------------------------------------------------------------------------------


def test_results_do_not_depend_on_workers_and_members_keep_theirs(iris):
    X, y = iris
    members = [
        ("forest", RandomForestClassifier(5, n_jobs=7)),
        ("tree", DecisionTreeClassifier(max_features=2, n_jobs=None)),
        ("near", KNeighborsClassifier(3, n_jobs=2)),
        ("line", LogisticRegression()),
    ]
    found = [
        VotingClassifier(members, voting="soft", weights="learned", n_jobs=n, random_state=3, cv=3)
        .fit(X, y)
        for n in (1, 2, 1)
    ]  # fmt: skip
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(found[0].weights_, other.weights_)
    assert [m.get_params().get("n_jobs") for m in found[1].estimators_[:3]] == [7, None, 2]
    assert members[0][1].random_state is None
    other = clone(found[0]).set_params(random_state=4).fit(X, y)
    assert (other.predict_proba(X) != found[0].predict_proba(X)).any()


def test_progress_is_told_if_asked(iris, capfd):
    VotingClassifier(own_classifiers()).fit(*iris)
    assert capfd.readouterr() == ("", "")
    VotingClassifier(own_classifiers(), weights="accuracy", cv=2, verbose=2).fit(*iris)
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 9
    assert told[-1].startswith("VotingClassifier: 9 of 9 fits")


def test_a_failed_fit_leaves_the_committee_as_it_was(iris):
    X, y = iris
    model = VotingClassifier(classifiers()).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2, np.nan, X), y)
    assert vars(model) == before


def test_columns_are_matched_by_name(iris):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    for members in (classifiers(), own_classifiers()):
        model = VotingClassifier(members).fit(frame, iris[1])
        expected = model.predict(frame)
        np.testing.assert_array_equal(model.predict(frame[list("dbca")]), expected)
        np.testing.assert_array_equal(model.predict(pl.DataFrame(frame.to_dict("list"))), expected)
        with pytest.raises(ValueError, match=r"(?s)unseen.*e.*missing.*a"):
            model.predict(frame.rename(columns={"a": "e"}))
        with pytest.raises(ValueError, match="missing"):
            model.predict(frame[list("abc")])
        with pytest.warns(UserWarning, match="feature names"):
            model.predict(frame.to_numpy())
        with pytest.raises(ValueError, match="3 features"):
            model.predict(frame.to_numpy()[:, :3])


def test_raw_tables_reach_own_members():
    X = pl.DataFrame({"a": ["x", "y", None, "x"] * 10, "b": [1.0, None, 3.0, 4.0] * 10})
    y = ["p", "q", "q", "p"] * 10
    for rule in RULES:
        model = VotingClassifier(own_classifiers(), voting=rule, cv=2).fit(X, y)
        assert model.score(X, y) == 1.0
        assert model.feature_names_in_.tolist() == ["a", "b"]


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"voting": "loud"}, ValueError, "voting must be .*soft.*; got 'loud'"),
        ({"voting": 3}, (TypeError, ValueError), "voting must be .*; got 3"),
        ({"weights": "mine"}, ValueError, "weights must be .*accuracy.*; got 'mine'"),
        ({"weights": [1, 2]}, ValueError, "weights must be equal; got 2 weights, 3 estimators"),
        ({"weights": [1, -2, 1]}, ValueError, "weights must be finite, not negative"),
        ({"weights": [1, np.nan, 1]}, ValueError, "weights must be finite"),
        ({"weights": [0, 0, 0]}, ValueError, "not all zero"),
        ({"weights": ["a", "b", "c"]}, ValueError, "weights"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be .*; got 0"),
        ({"n_jobs": 1.5}, TypeError, "n_jobs must be .*; got 1.5"),
        ({"flatten_transform": "yes"}, TypeError, "flatten_transform must be .*; got 'yes'"),
        ({"verbose": -1}, ValueError, "verbose must be .*; got -1"),
        ({"verbose": "much"}, TypeError, "verbose must be .*; got 'much'"),
        ({"combine": "sum"}, ValueError, "combine must be .*median.*; got 'sum'"),
        ({"combine": "median"}, ValueError, "combine='median' is for voting"),
        ({"trim": 0.5}, ValueError, r"trim must be .*0.5\); got 0.5"),
        ({"trim": "a"}, TypeError, "trim must be .*; got 'a'"),
        ({"tie_break": "coin"}, ValueError, "tie_break must be .*; got 'coin'"),
        ({"tie_break": "abstain"}, ValueError, "abstain_label"),
        ({"cv": 1}, ValueError, "cv must be .*; got 1"),
        ({"cv": "many"}, ValueError, "cv must be .*; got 'many'"),
        ({"cv": 1.5}, ValueError, "cv must be .*; got 1.5"),
        ({"cv": 1j}, TypeError, "cv must be .*; got 1j"),
        ({"random_state": "luck"}, (TypeError, ValueError), "random_state must be .*; got 'luck'"),
        ({"estimators": []}, ValueError, "non-empty list"),
        ({"estimators": None}, ValueError, "non-empty list"),
        ({"estimators": 3}, ValueError, "non-empty list"),
        ({"estimators": [GaussianNB()]}, ValueError, r"entry GaussianNB\(\)"),
        ({"estimators": [("a", GaussianNB(), 1)]}, ValueError, "entry"),
        ({"estimators": [(1, GaussianNB())]}, ValueError, "string"),
        ({"estimators": [("a", GaussianNB)]}, ValueError, "'a' should be a classifier"),
        ({"estimators": [("a", StandardScaler())]}, ValueError, "'a' should be a classifier"),
        ({"estimators": [("a", Ridge())]}, ValueError, "'a' is a regressor"),
        ({"estimators": [("a__b", GaussianNB())]}, ValueError, "must not contain __: got 'a__b'"),
        ({"estimators": [("trim", GaussianNB())]}, ValueError, r"conflict.*\['trim'\]"),
        ({"estimators": [("a", "drop")]}, ValueError, "All estimators are dropped"),
        (
            {"estimators": [("a", GaussianNB()), ("a", GaussianNB())]},
            ValueError,
            r"not unique: \['a'\]",
        ),
        ({"estimators": [("a", LinearSVC())], "voting": "soft"}, ValueError, "a .*predict_proba"),
        ({"estimators": [("a", LinearSVC())], "tie_break": "soft"}, ValueError, "predict_proba"),
    ],
    ids=repr,
)
def test_wrong_parameters_of_a_classifier_are_named(options, kind, message, iris):
    model = VotingClassifier(**{"estimators": classifiers()} | options)
    repr(model)
    with pytest.raises(kind, match=message):
        model.fit(*iris)
    assert not hasattr(model, "estimators_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "accuracy"}, "weights must be .*inverse_error.*; got 'accuracy'"),
        ({"combine": "harmonic"}, "combine must be"),
        ({"estimators": [("a", GaussianNB())]}, "'a' is a classifier"),
        ({"weights": np.ones((3, 1))}, "weights"),
    ],
    ids=repr,
)
def test_wrong_parameters_of_a_regressor_are_named(options, message, diabetes):
    with pytest.raises(ValueError, match=message):
        VotingRegressor(**{"estimators": regressors()} | options).fit(*diabetes)


def test_wrong_rows_are_refused(iris, diabetes):
    X, y = iris
    model = VotingClassifier(own_classifiers())
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="2 columns"):
        model.fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="2 columns"):
        VotingRegressor(regressors()).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"inconsistent|rows"):
        model.fit(X, y[:-1])
    for weights, message in (
        (np.ones(3), "sample_weight"),
        (-np.ones(150), "Negative"),
        (np.full(150, np.nan), "NaN"),
        (np.zeros(150), "non-zero"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, weights)
    with pytest.raises(ValueError, match="groups"):
        model.set_params(weights="accuracy").fit(X, y, groups=[1, 2])
    with pytest.raises(TypeError, match="near does not support sample weights"):
        VotingClassifier(classifiers()).fit(X, y, np.arange(150) + 1)
    with pytest.raises(ValueError, match="rows that it also trains on"):
        model.set_params(weights="accuracy", cv=[(np.arange(150), np.arange(9))]).fit(X, y)
    with pytest.raises(ValueError, match=r"(?s)NaN.*member 'line'") as caught:
        VotingClassifier(classifiers()).fit(np.where(X > 2, np.nan, X), y)
    assert "member 'line'" in str(caught.value) + str(caught.value.__notes__)


def test_the_smallest_tables(iris):
    one = VotingClassifier(own_classifiers()).fit([[1.0], [2.0]], ["a", "a"])
    assert one.predict([[5.0]]).tolist() == ["a"]
    assert one.predict_proba([[5.0]]).tolist() == [[1.0]]
    told = one.explain_vote([[5.0]])
    assert (told.answer, told.runner_up, told.flips) == ("a", None, ())
    two = VotingClassifier(own_classifiers(), voting="soft").fit([[1.0], [2.0]], ["a", "b"])
    assert two.predict_proba([[1.0]]).sum() == pytest.approx(1)
    single = VotingRegressor([("t", GradientBoostingRegressor(n_estimators=2))]).fit([[1.0]], [2.0])
    assert single.predict([[3.0]]).tolist() == [2.0]
    with pytest.raises(ValueError, match="cv deals the rows into 5 parts, but there are only 2"):
        VotingClassifier(own_classifiers(), weights="accuracy").fit([[1.0], [2.0]], ["a", "b"])


def test_classes_that_a_fold_lacks_are_unlikely(iris):
    X, y = iris
    rare = np.r_[0:60, 100]
    model = VotingClassifier(own_classifiers(), voting="soft", weights="learned", cv=5)
    with pytest.warns(UserWarning, match="least populated"):
        model.fit(X[rare], y[rare])
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(model.weights_).all()
    kfold = VotingClassifier(classifiers(), voting="soft", weights="learned", cv=KFold(3))
    kfold.fit(X, y)  # each fold lacks a class
    np.testing.assert_allclose(kfold.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("cls", [VotingClassifier, VotingRegressor])
def test_the_constructor_has_scikit_learns_parameters_and_defaults(cls):
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__)).parameters
    ours = inspect.signature(cls).parameters
    for name, parameter in theirs.items():
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind), name


@pytest.mark.parametrize("label", ["?", -1, None])
def test_the_score_of_a_committee_that_abstains_with_any_label(label):
    X = np.eye(3)[np.r_[0:3, 0:3]]
    says = [("a", Says(0)), ("b", Says(3))]
    table = np.hstack([X, X[[0, 1, 2, 1, 2, 2]]])  # they disagree about rows 3 and 4
    y = np.array([0, 1, 2, 0, 1, 0])
    team = VotingClassifier(says, voting="majority", abstain_label=label).fit(table, y)

    assert team.score(table, y) == pytest.approx(3 / 6 if label is not None else 5 / 6)
    if label is not None:
        weights = [1, 0, 0, 1, 0, 0]
        assert team.score(table, y, sample_weight=weights) == 0.5
    with pytest.raises(ValueError, match="6"):
        team.score(table, y[:3])


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_stacks_of_scikit_learn_can_be_members_before_they_are_fitted(voting, rng):
    """They hide predict and predict_proba as long as they have no meta-learner."""
    X = rng.normal(size=(90, 3))
    y = np.where(X[:, 0] + rng.normal(0, 0.3, 90) > 0, "yes", "no")
    stack = sklearn.ensemble.StackingClassifier(
        [("bayes", GaussianNB())], cv=3
    )  # hides predict_proba
    members = [("stack", stack), ("pipe", make_pipeline(StandardScaler(), stack))]
    ours = VotingClassifier(members, voting=voting).fit(X, y)

    theirs = sklearn.ensemble.VotingClassifier(members, voting=voting).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert StackingClassifier(members).fit(X, y).stack_method_ == ["predict_proba"] * 2
    with pytest.raises(ValueError, match="predict_proba"):
        VotingClassifier([("svc", LinearSVC())], voting="soft").fit(X, y)
