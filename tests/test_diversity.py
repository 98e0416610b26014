"""Diversity: naive oracles with loops over rows, the decomposition, every kind of committee."""

import itertools

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as sk
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.svm import SVC

import committee as cm
from committee.datasets import load_penguins

MEASURES = ["q", "kappa", "disagreement", "double_fault", "correlation"]


@pytest.fixture
def classes(rng):
    X = rng.normal(size=(160, 5))
    y = np.array(["no", "may", "yes"])[np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.7])]
    return X, y


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(160, 5))
    return X, 1e6 + X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.3, 160)


class Says:
    """A classifier, or a regressor, that has made up its mind."""

    def __init__(self, answers, classes=None):
        self.answers = np.asarray(answers)
        if classes is not None:
            self.classes_ = np.asarray(classes)

    def predict(self, X):
        return self.answers[np.asarray(X)[:, 0].astype(int)]


def places(n_rows):
    return np.arange(n_rows, dtype=float)[:, None]


# --- oracles ------------------------------------------------------------------------------------


def naive_pair(first, second, y, weights):
    """Q, disagreement, double fault and correlation of two members, row by row."""
    n = {(a, b): 0.0 for a in (True, False) for b in (True, False)}
    for said, other, truth, weight in zip(first, second, y, weights, strict=True):
        n[said == truth, other == truth] += weight
    total = sum(n.values())
    n11, n10, n01, n00 = n[True, True], n[True, False], n[False, True], n[False, False]
    below = n11 * n00 + n10 * n01
    spread = (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00)
    return {
        "q": (n11 * n00 - n10 * n01) / below if below else np.nan,
        "disagreement": (n10 + n01) / total,
        "double_fault": n00 / total,
        "correlation": (n11 * n00 - n10 * n01) / np.sqrt(spread) if spread else np.nan,
    }


@pytest.mark.parametrize("is_weighted", [False, True])
def test_measures_of_pairs_are_those_of_their_definitions(classes, rng, is_weighted):
    X, y = classes
    forest = cm.RandomForestClassifier(5, max_depth=3, random_state=0).fit(X[:80], y[:80])
    X, y = X[80:], y[80:]
    weights = rng.uniform(0, 3, 80) if is_weighted else np.ones(80)
    found = cm.diversity(forest, X, y, weights if is_weighted else None)
    said = [tree.predict(X) for tree in forest.estimators_]
    for i, j in itertools.combinations(range(5), 2):
        expected = naive_pair(said[i], said[j], y, weights)
        expected["kappa"] = cohen_kappa_score(said[i], said[j], sample_weight=weights)
        for name, value in expected.items():
            assert_allclose(found.matrix(name)[i, j], value, rtol=1e-12, atol=1e-14)
            assert found.matrix(name)[j, i] == found.matrix(name)[i, j]
    for number, predicted in enumerate(said):
        assert_allclose(found.accuracy[number], np.average(predicted == y, weights=weights))
    assert_allclose(found.committee_accuracy, forest.score(X, y, weights))
    pairs = [(i, j) for i, j in itertools.combinations(range(5), 2)]
    for name in MEASURES:
        values = [found.matrix(name)[i, j] for i, j in pairs]
        assert_allclose(found.means[name], np.mean(values))


def naive_ambiguity(predictions, truth, member_weights, weights):
    """E_c, E_av and A, row by row and member by member."""
    combined = mean_error = ambiguity = 0.0
    for row, weight in enumerate(weights):
        mean = sum(w * said[row] for w, said in zip(member_weights, predictions, strict=True))
        combined += weight * ((mean - truth[row]) ** 2).sum()
        for w, said in zip(member_weights, predictions, strict=True):
            mean_error += weight * w * ((said[row] - truth[row]) ** 2).sum()
            ambiguity += weight * w * ((said[row] - mean) ** 2).sum()
    return np.array([combined, mean_error, ambiguity]) / sum(weights)


def test_the_ambiguity_of_probabilities_is_that_of_the_definition(classes, rng):
    X, y = classes
    votes = sk.VotingClassifier(
        [("line", LogisticRegression()), ("tree", cm.DecisionTreeClassifier(max_depth=2))],
        voting="soft",
        weights=[3, 1],
    ).fit(X[:80], y[:80])
    weights = rng.uniform(0, 3, 80)
    found = cm.diversity(votes, X[80:], y[80:], weights)
    predictions = [member.predict_proba(X[80:]) for member in votes.estimators_]
    truth = (y[80:, None] == votes.classes_).astype(float)
    expected = naive_ambiguity(predictions, truth, [0.75, 0.25], weights)
    got = [found.combined_error, found.mean_error, found.ambiguity]
    assert_allclose(got, expected, rtol=1e-12)
    assert_allclose(found.committee_error, found.combined_error, rtol=1e-12)
    assert found.names == ("line", "tree")


def test_errors_of_numbers_are_those_of_the_definition(numbers, rng):
    X, y = numbers
    forest = cm.RandomForestRegressor(4, random_state=0).fit(X[:80], y[:80])
    weights = rng.uniform(0, 3, 80)
    found = cm.diversity(forest, X[80:], y[80:], weights)
    said = np.array([tree.predict(X[80:]) for tree in forest.estimators_])
    expected = naive_ambiguity(said[:, :, None], y[80:, None], np.full(4, 0.25), weights)
    got = [found.combined_error, found.mean_error, found.ambiguity]
    assert_allclose(got, expected, rtol=1e-9)  # the naive mean of numbers about 1e6 is rounded
    covariance = np.cov(said - y[80:], aweights=weights)
    spread = np.sqrt(np.diag(covariance))
    assert_allclose(found.correlation, covariance / np.outer(spread, spread), rtol=1e-9)
    assert found.measures == ("correlation",)
    assert found.q is None
    assert found.accuracy is None


# --- promises -----------------------------------------------------------------------------------

PAIR = [("line", LogisticRegression()), ("tree", cm.DecisionTreeClassifier(max_depth=3))]
REAL_PAIR = [("line", LinearRegression()), ("tree", cm.DecisionTreeRegressor(max_depth=3))]
CLASSIFIERS = [
    cm.RandomForestClassifier(7, random_state=0),
    cm.RandomForestClassifier(7, voting="hard", draw_features="tree", random_state=0),
    cm.BaggingClassifier(max_features=3, random_state=0),
    cm.BaggingClassifier(LogisticRegression(), 5, max_features=3, random_state=0),
    cm.AdaBoostClassifier(n_estimators=6),
    cm.AdaBoostClassifier(n_estimators=6, variant="real"),
    cm.StackingClassifier(PAIR),
    cm.StackingClassifier(PAIR, "convex", refit=False),
    sk.RandomForestClassifier(7, random_state=0),
    sk.BaggingClassifier(max_features=3, random_state=0),
    sk.AdaBoostClassifier(n_estimators=6, random_state=0),
    sk.VotingClassifier(PAIR, voting="soft"),
    sk.VotingClassifier([*PAIR, ("none", "drop")], weights=[1, 2, 3]),
    sk.StackingClassifier(PAIR),
]
REGRESSORS = [
    cm.RandomForestRegressor(7, random_state=0),
    cm.BaggingRegressor(LinearRegression(), 5, max_features=3, random_state=0),
    cm.AdaBoostRegressor(n_estimators=5, random_state=0),
    cm.StackingRegressor(REAL_PAIR, "convex"),
    sk.RandomForestRegressor(7, random_state=0),
    sk.BaggingRegressor(max_features=3, random_state=0),
    sk.VotingRegressor(REAL_PAIR, weights=[1, 2]),
]


def takes_the_mean(model):
    is_stack = "Stacking" in type(model).__name__
    return model.final_estimator == "convex" if is_stack else "AdaBoost" not in repr(model)


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=lambda each: repr(each)[:50])
def test_the_error_is_that_of_the_members_less_their_ambiguity(
    model, classes, numbers, as_frame, rng
):
    X, y = numbers if "Regressor" in type(model).__name__ else classes
    if as_frame:
        X = pd.DataFrame(X, columns=list("abcde"))
        y = y if y.dtype.kind == "f" else pd.Series(y).map({"no": 1, "may": 2, "yes": 5}).to_numpy()
    model.fit(X[:80], y[:80])
    found = cm.diversity(model, X[80:], y[80:], rng.uniform(0, 2, 80))
    parts = found.mean_error - found.ambiguity
    assert_allclose(found.combined_error, parts, rtol=1e-12)
    assert found.ambiguity >= 0
    assert len(found.names) == len(list(model.estimators_))
    if takes_the_mean(model) and not np.isnan(found.committee_error):
        assert_allclose(found.committee_error, found.combined_error, rtol=1e-6)
    if found.accuracy is not None:
        assert found.accuracy.max() > 0.35  # labels and codes are not mixed up


def same(one, other, exactly):
    for name in (*one.measures, "error", "combined_error", "mean_error", "ambiguity"):
        a, b = getattr(one, name), getattr(other, name)
        assert_array_equal(a, b) if exactly else assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_row_of_weight_two_is_that_row_twice_and_of_weight_zero_absent(kind, rng, request):
    X, y = request.getfixturevalue(kind)
    forests = {"classes": cm.RandomForestClassifier, "numbers": cm.RandomForestRegressor}
    model = forests[kind](6, random_state=0).fit(X[:80], y[:80])
    X, y = X[80:], y[80:]
    counts = rng.integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    weighted = cm.diversity(model, X, y, counts)
    same(weighted, cm.diversity(model, X[rows], y[rows]), exactly=False)
    absent = cm.diversity(model, X[counts > 0], y[counts > 0], counts[counts > 0])
    same(weighted, absent, exactly=True)


def test_blocks_of_rows_change_nothing(classes, numbers, monkeypatch):
    for (X, y), cls in ((classes, cm.RandomForestClassifier), (numbers, cm.RandomForestRegressor)):
        model = cls(6, random_state=0).fit(X[:80], y[:80])
        whole = cm.diversity(model, X[80:], y[80:])
        monkeypatch.setattr("committee.inspection.studied_rows._BLOCK_CELLS", 200)
        same(whole, cm.diversity(model, X[80:], y[80:]), exactly=False)
        monkeypatch.undo()


# --- what is not defined ------------------------------------------------------------------------


def test_undefined_values_are_nan_and_left_out_of_means():
    y = np.array(["a", "a", "b", "b"])
    always = Says(y, ["a", "b"])
    half = Says(["a", "b", "b", "a"], ["a", "b"])
    only = Says(["a"] * 4, ["a", "b"])
    found = cm.diversity([always, half, only], places(4), y)
    assert np.isnan(found.correlation[0, 1])  # one is always right
    assert np.isnan(found.q[0, 1])
    assert found.q[1, 2] == 0.0
    assert found.means["q"] == 0.0
    assert found.means["correlation"] == 0.0
    twins = cm.diversity([only, only], places(4), y)
    assert np.isnan(twins.kappa[0, 1])
    assert np.isnan(twins.means["kappa"])
    constant = cm.diversity([Says([2.0, 3.0]), Says([1.5, 2.0])], places(2), [1.0, 2.0])
    assert np.isnan(constant.correlation[0, 1])  # the first is off by one everywhere


def test_independent_errors_have_no_correlation_and_opposite_ones_minus_one():
    y = np.zeros(4, int)
    one, two = Says([0, 0, 1, 1], [0, 1]), Says([0, 1, 0, 1], [0, 1])
    found = cm.diversity([one, two], places(4), y)
    assert (found.q[0, 1], found.correlation[0, 1]) == (0.0, 0.0)
    assert (found.disagreement[0, 1], found.double_fault[0, 1]) == (0.5, 0.25)
    found = cm.diversity([one, Says([1, 1, 0, 0], [0, 1])], places(4), y)
    assert (found.q[0, 1], found.correlation[0, 1]) == (-1.0, -1.0)


# --- lists, labels, tables ----------------------------------------------------------------------


def test_a_list_of_fitted_estimators_is_a_committee(classes):
    X, y = classes
    line, tree = LogisticRegression().fit(X, y), cm.DecisionTreeClassifier(max_depth=2).fit(X, y)
    found = cm.diversity([("line", line), ("tree", tree)], X, y)
    mean = (line.predict_proba(X) + tree.predict_proba(X)) / 2
    assert found.names == ("line", "tree")
    assert found.committee_accuracy == np.mean(line.classes_[mean.argmax(axis=1)] == y)
    assert_allclose(found.committee_error, found.combined_error)


def test_members_that_predict_another_class_than_the_likeliest_are_asked_for_it(classes):
    X, y = classes

    class Odd(LogisticRegression):
        def predict(self, X):
            return np.roll(super().predict(X), 1)

    model = Odd().fit(X, y)
    found = cm.diversity([model, SVC().fit(X, y)], X, y)
    assert found.accuracy[0] == np.mean(model.predict(X) == y)


def test_a_label_that_nobody_knows_is_an_error_of_everybody(classes):
    X, y = classes
    forest = cm.RandomForestClassifier(5, random_state=0).fit(X, y)
    strange = y.astype(object).copy()
    strange[:10] = "zebra"
    found = cm.diversity(forest, X[:10], strange[:10])
    assert_array_equal(found.accuracy, np.zeros(5))
    assert_array_equal(found.double_fault, np.ones((5, 5)))
    assert found.mean_error >= 1.0


def test_raw_tables_are_taken():
    X, y = load_penguins()
    model = cm.RandomForestClassifier(5, random_state=0).fit(X, y)
    assert cm.diversity(model, X, y).committee_accuracy > 0.95


def test_frames_of_members_and_pairs(classes):
    X, y = classes
    found = cm.diversity(cm.RandomForestClassifier(4, random_state=0).fit(X, y), X, y)
    members, pairs = found.to_frame(), found.pairs()
    assert list(members.columns) == ["weight", "accuracy", "error", *MEASURES]
    assert list(pairs.columns) == ["first", "second", *MEASURES]
    assert len(pairs) == 6
    assert_allclose(pairs["kappa"].mean(), found.means["kappa"])
    assert_allclose(members["kappa"].iloc[0], found.kappa[0, 1:].mean())
    assert "ambiguity" in repr(found)


# --- pictures -----------------------------------------------------------------------------------


def test_the_picture_shows_every_pair(classes, numbers):
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = classes
    found = cm.diversity(cm.RandomForestClassifier(6, random_state=0).fit(X, y), X, y)
    heat, diagram = cm.plot_diversity(found, measure="double_fault")
    assert len(diagram.collections[0].get_offsets()) == 15
    assert "double fault" in heat.get_title()
    X, y = numbers
    found = cm.diversity(cm.RandomForestRegressor(20, random_state=0).fit(X, y), X, y)
    axes = plt.subplots(1, 2)[1]
    assert cm.plot_diversity(found, axes=axes)[1] is axes[1]
    with pytest.raises(ValueError, match="measure must be"):
        cm.plot_diversity(found, measure="kappa")
    with pytest.raises(TypeError, match="diversity must be"):
        cm.plot_diversity(X)
    plt.close("all")


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [cm.GradientBoostingClassifier(n_estimators=2), sk.GradientBoostingClassifier(n_estimators=2)],
)
def test_gradient_boosting_has_no_members_to_compare(model, classes):
    X, y = classes
    with pytest.raises(TypeError, match="steps of one sum"):
        cm.diversity(model.fit(X, y), X, y)


def test_errors_in_plain_words(classes):
    X, y = classes
    tree = cm.DecisionTreeClassifier(max_depth=2).fit(X, y)
    for wrong, kind, words in [
        ([], ValueError, "committee must be"),
        ("forest", TypeError, "committee must be"),
        ([tree, 3], TypeError, "entry 3"),
        (tree, TypeError, "estimators_"),
        (cm.RandomForestClassifier(), NotFittedError, "not fitted"),
        ([tree, cm.DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0])], ValueError, "both"),
    ]:
        with pytest.raises(kind, match=words):
            cm.diversity(wrong, X, y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        cm.diversity([tree, tree], X, y[:-1])
    two = np.column_stack([y, y])
    forest = cm.RandomForestClassifier(2).fit(X, two)
    with pytest.raises(ValueError, match="one output"):
        cm.diversity(forest, X, two)


# --- whom a committee weighs, and what its members speak of -------------------------------------


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_the_weights_of_a_selection_are_those_of_the_chosen_models(classes, numbers, kind):
    X, y = classes if kind == "Classifier" else numbers
    tree, forest = getattr(cm, f"DecisionTree{kind}"), getattr(cm, f"RandomForest{kind}")
    library = [
        ("stump", tree(max_depth=1)),
        ("tree", tree(max_depth=4)),
        ("useless", tree(max_depth=1, max_features=1, random_state=0)),
        ("forest", forest(20, random_state=0)),
    ]
    model = getattr(cm, f"EnsembleSelection{kind}")(library, random_state=0).fit(X[:100], y[:100])
    model.weights_ = np.array([0.0, 0.25, 0.0, 0.75])  # whatever the rows said
    members = [each.fit(X[:100], _codes(y[:100])) for _, each in (library[1], library[3])]
    model.estimators_, model._outputs = members, [model._outputs[0]] * 2
    model.named_estimators_ = {"tree": members[0], "forest": members[1]}

    found = cm.diversity(model, X[100:], y[100:])

    assert found.names == ("tree", "forest")
    assert_allclose(found.weights, [0.25, 0.75])
    assert_allclose(found.combined_error, found.committee_error)


def _codes(y):
    return np.unique(y, return_inverse=True)[1] if y.dtype.kind == "U" else y


def test_convex_weights_of_a_later_layer_are_not_those_of_the_first(numbers):
    X, y = numbers
    line, tree = LinearRegression(), cm.DecisionTreeRegressor(max_depth=3)
    stack = cm.StackingRegressor(
        [("line", line), ("tree", tree)], "convex", layers=[[("line2", line), ("tree2", tree)]]
    ).fit(X, y)

    assert_allclose(cm.diversity(stack, X, y).weights, [0.5, 0.5])


TEAMS = [
    cm.VotingClassifier,
    cm.StackingClassifier,
    cm.EnsembleSelectionClassifier,
    cm.DynamicSelectionClassifier,
]


@pytest.mark.parametrize("team", TEAMS)
def test_frozen_members_speak_of_labels_beside_others_that_speak_of_codes(classes, team):
    X, y = classes
    frozen = cm.DecisionTreeClassifier(max_depth=3).fit(X[:50], y[:50])
    members = [("frozen", FrozenEstimator(frozen)), ("tree", cm.DecisionTreeClassifier())]
    found = cm.diversity(team(members).fit(X[50:100], y[50:100]), X[100:], y[100:])

    alone = cm.DecisionTreeClassifier().fit(X[50:100], y[50:100])
    scores = {"frozen": frozen.score(X[100:], y[100:]), "tree": alone.score(X[100:], y[100:])}
    assert_allclose(found.accuracy, [scores[name] for name in found.names])


@pytest.mark.parametrize("team", TEAMS)
def test_labels_of_fitted_members_are_not_taken_for_codes(classes, team):
    X, y = classes
    y = _codes(y) + 1  # members that know 1 and 2 of 1, 2, 3: codes would look like that
    known = y[:100] < 3
    tree = cm.DecisionTreeClassifier().fit(X[:100][known], y[:100][known])
    found = cm.diversity(team([("tree", tree)], cv="prefit").fit(X[:100], y[:100]), X, y)

    assert_allclose(found.accuracy, [tree.score(X, y)])
