"""Pruning an ensemble: the order beside brute force, same predictions, draws, files, errors."""

import numpy as np
import pytest
import sklearn.ensemble as theirs
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

import committee
from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    DecisionTreeClassifier,
    EnsembleSelectionClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    plot_pruning,
    prune_ensemble,
)


@pytest.fixture(scope="module")
def classes():
    X, y = make_classification(400, 8, n_informative=5, n_classes=3, flip_y=0.2, random_state=1)
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def numbers():
    return make_regression(400, 6, n_informative=4, noise=30, random_state=2)


NAMED = [
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=4)),
    ("line", LogisticRegression()),
    ("deep", DecisionTreeClassifier()),
]
CLASSIFIERS = [
    RandomForestClassifier(12, random_state=0),
    RandomForestClassifier(12, voting="hard", max_leaf_nodes=5, random_state=0),
    BaggingClassifier(n_estimators=10, max_features=0.5, random_state=0),
    BaggingClassifier(n_estimators=10, voting="hard", weighting="oob", random_state=0),
    BaggingClassifier(GaussianNB(), 10, max_features=0.5, random_state=0),
    VotingClassifier(NAMED, voting="soft", weights=[1, 2, 1, 0]),
    VotingClassifier(NAMED),
    theirs.RandomForestClassifier(12, random_state=0),
    theirs.BaggingClassifier(GaussianNB(), 10, max_features=0.5, random_state=0),
    theirs.VotingClassifier(NAMED, voting="soft", weights=[1, 2, 1, 1]),
    theirs.VotingClassifier(NAMED, voting="hard"),
]
REGRESSORS = [
    RandomForestRegressor(12, random_state=0),
    ExtraTreesRegressor(12, random_state=0),
    BaggingRegressor(n_estimators=10, weighting="oob", random_state=0),
    theirs.ExtraTreesRegressor(12, random_state=0),
    theirs.VotingRegressor([("line", LinearRegression()), ("trees", RandomForestRegressor(5))]),
]


def opinions_one_by_one(model, X):
    """Class probabilities of trees, asked as estimators."""
    return np.array([tree.predict_proba(X) for tree in model.estimators_])


def naive_order(predicted, loss):
    """Greedy forward selection without replacement, each committee evaluated from scratch."""
    order = []
    while len(order) < len(predicted):
        rest = [j for j in range(len(predicted)) if j not in order]
        order.append(min(rest, key=lambda j: loss(predicted[[*order, j]].mean(axis=0))))
    return order


def test_the_order_is_that_of_brute_force(classes):
    X, y = classes
    forest = RandomForestClassifier(15, random_state=0).fit(X[:200], y[:200])
    truth = np.eye(3)[np.searchsorted(forest.classes_, y[200:])]

    def brier(p):
        return ((p - truth) ** 2).sum(axis=1).mean()

    predicted = opinions_one_by_one(forest, X[200:])
    _, path = prune_ensemble(forest, X[200:], y[200:])
    order = naive_order(predicted, brier)
    assert path.members.tolist() == order
    expected = [-brier(predicted[order[: k + 1]].mean(axis=0)) for k in range(15)]
    np.testing.assert_allclose(path.promised, expected, rtol=1e-10)
    np.testing.assert_allclose(path.full_score, -brier(forest.predict_proba(X[200:])), rtol=1e-10)
    np.testing.assert_allclose(path.accuracy[-1], forest.score(X[200:], y[200:]), rtol=1e-10)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: f"{type(m).__module__}.{m}"[:60])
def test_a_pruned_classifier_is_the_mean_of_its_members(model, classes):
    X, y = classes
    model = model.fit(X[:200], y[:200])
    before = model.predict(X)
    small, path = prune_ensemble(model, X[200:], y[200:], n_members=3)
    assert type(small) is type(model)
    assert len(small.estimators_) == path.n_kept == 3
    assert (model.predict(X) == before).all()
    again, whole = prune_ensemble(small, X[200:], y[200:], n_members=3)
    np.testing.assert_allclose(whole.promised[-1], path.promised[2], rtol=1e-9)
    assert (again.predict(X) == small.predict(X)).all()
    if not isinstance(model, VotingClassifier | theirs.VotingClassifier):
        assert small.n_estimators == 3


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: f"{type(m).__module__}.{m}"[:60])
def test_a_pruned_regressor_is_the_mean_of_its_members(model, numbers):
    X, y = numbers
    model.fit(X[:200], y[:200])
    small, path = prune_ensemble(model, X[200:], y[200:], n_members=2)
    error = np.mean((small.predict(X[200:]) - y[200:]) ** 2)
    np.testing.assert_allclose(path.promised[1], -error, rtol=1e-6)
    assert path.to_frame().columns.tolist() == ["member", "promised", "found", "cost", "r2"]


def test_the_fewest_members_that_lose_no_more_than_the_tolerance_are_kept(classes):
    X, y = classes
    forest = RandomForestClassifier(60, random_state=0).fit(X[:200], y[:200])
    for tolerance in (None, 0.0, 0.02, 10.0):
        small, path = prune_ensemble(forest, X[200:], y[200:], tolerance=tolerance)
        cost = path.to_frame()["cost"].to_numpy()
        is_enough = cost <= (tolerance or 0.0) + 1e-8
        assert path.n_kept == int(is_enough.argmax()) + 1 == len(small.estimators_)
        assert path.cost == cost[path.n_kept - 1]
    assert path.n_kept == 1


def test_any_metric_orders_members(classes):
    X, y = classes
    forest = RandomForestClassifier(6, random_state=0).fit(X[:200], y[:200])
    fast, path = prune_ensemble(forest, X[200:], y[200:], scoring="accuracy", n_members=3)

    def share_right(truth, predicted):
        return (truth == predicted).mean()

    slow, other = prune_ensemble(forest, X[200:], y[200:], scoring=share_right, n_members=3)
    assert path.members.tolist() == other.members.tolist()
    assert (fast.predict(X) == slow.predict(X)).all()
    np.testing.assert_allclose(path.found, other.found)


def test_rows_of_weight_zero_are_absent_and_two_is_twice(numbers):
    X, y = numbers
    forest = RandomForestRegressor(10, random_state=0).fit(X[:200], y[:200])
    weights = np.random.default_rng(0).integers(0, 3, 200)
    twice = np.repeat(np.arange(200, 400), weights)
    _, one = prune_ensemble(forest, X[200:], y[200:], sample_weight=weights)
    _, two = prune_ensemble(forest, X[twice], y[twice])
    assert one.members.tolist() == two.members.tolist()
    np.testing.assert_allclose(one.promised, two.promised, rtol=1e-10)


def test_several_outputs(numbers):
    X, y = numbers
    Y = np.column_stack([y, -y + X[:, 0]])
    forest = RandomForestRegressor(8, random_state=0).fit(X[:200], Y[:200])
    small, path = prune_ensemble(forest, X[200:], Y[200:], n_members=4)
    error = np.mean((small.predict(X[200:]) - Y[200:]) ** 2)
    np.testing.assert_allclose(path.promised[3], -error, rtol=1e-10)
    labels = (Y > 0).astype(int)
    forest = RandomForestClassifier(8, random_state=0).fit(X[:200], labels[:200])
    small, path = prune_ensemble(forest, X[200:], labels[200:], n_members=4)
    assert small.predict(X[200:]).shape == (200, 2)


def test_trees_keep_their_draws_and_what_is_known_of_training_rows_is_of_them(classes):
    X, y = classes
    forest = RandomForestClassifier(
        30, oob_score=True, uncertainty=True, draw_features="tree", random_state=0
    ).fit(X[:200], y[:200])
    small, path = prune_ensemble(forest, X[200:], y[200:], n_members=4)
    kept = np.sort(path.members[:4])
    for place, number in enumerate(kept):
        rows, features = forest.estimators_samples_, forest.estimators_features_
        assert (small.estimators_samples_[place] == rows[number]).all()
        assert (small.estimators_features_[place] == features[number]).all()
        assert (small.estimators_[place].predict(X) == forest.estimators_[number].predict(X)).all()
    assert not hasattr(small, "oob_score_")
    with pytest.raises(ValueError, match="this forest was pruned"):
        small.permutation_importance(X[:200], y[:200])
    with pytest.raises(ValueError, match="these have changed"):
        small.set_params(warm_start=True, n_estimators=9).fit(X[:200], y[:200])


def test_pruned_ensembles_are_saved_and_loaded(classes, tmp_path):
    X, y = classes
    for model in (CLASSIFIERS[0], CLASSIFIERS[2], VotingClassifier(NAMED[1::2])):
        model.fit(X[:200], y[:200])
        small, path = prune_ensemble(model, X[200:], y[200:], n_members=1)
        committee.save({"model": small, "path": path}, tmp_path / "pruned.committee")
        loaded = committee.load(tmp_path / "pruned.committee")
        assert (loaded["model"].predict(X) == small.predict(X)).all()
        assert loaded["path"].to_frame().equals(path.to_frame())
        if not isinstance(model, VotingClassifier):
            first = loaded["model"].estimators_samples_[0]
            assert (first == small.estimators_samples_[0]).all()


def test_too_few_rows_to_judge_are_told(classes):
    X, y = classes
    forest = RandomForestClassifier(5, random_state=0).fit(X[:200], y[:200])
    with pytest.warns(UserWarning, match="too few"):
        prune_ensemble(forest, X[:1], y[:1])


@pytest.mark.parametrize(
    ("options", "kind", "match"),
    [
        ({"n_members": 0}, ValueError, "n_members must be .*got 0"),
        ({"n_members": 99}, ValueError, "n_members must be .*got 99"),
        ({"tolerance": -1.0}, ValueError, "tolerance must be"),
        ({"tolerance": 0.1, "n_members": 2}, ValueError, "tolerance must be None with n_members"),
        ({"scoring": "nonsense"}, ValueError, "scoring must be"),
        ({"scoring": True}, TypeError, "scoring must be"),
        ({"y": ["d"] * 200}, ValueError, "y holds 'd', which is not among the classes"),
        ({"y": ["a"] * 7}, ValueError, "inconsistent"),
    ],
)
def test_bad_input_is_named(options, kind, match, classes):
    X, y = classes
    forest = RandomForestClassifier(5, random_state=0).fit(X[:200], y[:200])
    with pytest.raises(kind, match=match):
        prune_ensemble(forest, X[200:], **{"y": y[200:]} | options)


def test_only_means_and_votes_can_be_pruned(classes, numbers):
    X, y = classes
    for model in (
        AdaBoostClassifier(n_estimators=3),
        theirs.AdaBoostClassifier(n_estimators=3),
        theirs.GradientBoostingClassifier(n_estimators=3),
    ):
        with pytest.raises(TypeError, match="predict the mean of what its members predict"):
            prune_ensemble(model.fit(X, y), X, y)
    median = BaggingRegressor(combine="median", random_state=0).fit(*numbers)
    with pytest.raises(TypeError, match="predict the mean"):
        prune_ensemble(median, *numbers)
    for model in (RandomForestClassifier(), DecisionTreeClassifier()):
        name = type(model).__name__
        with pytest.raises(NotFittedError, match=f"fitted ensemble.*; got a {name} that is not"):
            prune_ensemble(model, X, y)


def test_what_is_no_ensemble_is_told(classes):
    X, y = classes
    for model in (DecisionTreeClassifier(), GaussianNB(), C45Classifier()):
        message = f"fitted ensemble.*; got a {type(model).__name__}, which has no members"
        with pytest.raises(TypeError, match=message):
            prune_ensemble(model.fit(X, y), X, y)
    for given in ([GaussianNB()], RandomForestClassifier, None):
        with pytest.raises(TypeError, match=r"ensemble must be a fitted ensemble.*; got "):
            prune_ensemble(given, X, y)


def test_the_picture_has_both_curves_and_the_pruned_ensemble(classes):
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = classes
    forest = RandomForestClassifier(25, random_state=0).fit(X[:200], y[:200])
    _, path = prune_ensemble(forest, X[200:], y[200:], n_members=7)
    ax = plot_pruning(path)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["rows that chose the order", "held-out rows"]
    assert ax.texts[0].get_text().startswith("7 of 25, cost")
    with pytest.raises(TypeError, match="path must be"):
        plot_pruning(forest)
    plt.close("all")


def test_a_selection_can_be_pruned_though_not_all_models_were_chosen(classes, tmp_path):
    X, y = classes
    guess = ("guess", DecisionTreeClassifier(min_samples_leaf=10**6))
    forests = [(f"seed{k}", RandomForestClassifier(30, random_state=k)) for k in range(2)]
    library = [guess, *forests]
    model = EnsembleSelectionClassifier(library, sorted_init=2, n_rounds=2).fit(X[:200], y[:200])
    chosen = np.flatnonzero(model.weights_)
    assert 1 < len(chosen) < chosen[-1] + 1  # some model before the last is left out
    small, path = prune_ensemble(model, X[200:], y[200:], n_members=1)

    (kept,) = chosen[path.members[:1]]
    name = library[kept][0]
    assert np.flatnonzero(small.weights_).tolist() == [kept]
    assert small.weights_.sum() == 1
    assert [n for n, each in small.named_estimators_.items() if each != "drop"] == [name]
    alone = model.named_estimators_[name]
    np.testing.assert_allclose(small.predict_proba(X), alone.predict_proba(X))
    assert len(model.estimators_) == len(chosen)  # as it was
    committee.save(small, tmp_path / "small.committee")
    loaded = committee.load(tmp_path / "small.committee")
    assert (loaded.predict(X) == small.predict(X)).all()
