"""Dynamic selection: naive oracles, promises, raw tables, accuracy where place matters."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import committee as cm
from committee import _core
from committee.combining.dynamic.neighborhood import Neighborhood
from committee.datasets import load_penguins

TREES = [("stump", cm.DecisionTreeClassifier(max_depth=1)), ("line", LogisticRegression())]
REAL_TREES = [("stump", cm.DecisionTreeRegressor(max_depth=1)), ("line", LinearRegression())]
THREE = [*TREES, ("tree", cm.DecisionTreeClassifier(max_depth=3))]
LEVEL_TREES = [(name, cm.DecisionTreeRegressor(max_depth=k)) for k, name in enumerate("ab", 1)]
REAL_THREE = [*REAL_TREES, ("tree", cm.DecisionTreeRegressor(max_depth=3))]


@pytest.fixture
def classes(rng):
    X = rng.normal(size=(150, 3))
    return X, np.digitize(X[:, 0] * X[:, 1] + rng.normal(0, 0.3, 150), [-0.3, 0.3])


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(150, 3))
    return X, X[:, 0] * X[:, 1] + rng.normal(0, 0.3, 150)


# --- oracles ------------------------------------------------------------------------------------


def naive_neighbors(X, row, k):
    """The nearest training rows in units of standard deviations."""
    distances = []
    for other, known in enumerate(X):
        gaps = [(a - b) / s for a, b, s in zip(row, known, X.std(axis=0), strict=True)]
        distances.append((sum(gap**2 for gap in gaps) ** 0.5, other))
    return [other for _, other in sorted(distances)[:k]]


def out_of_fold(member, X, y, folds, method):
    predicted = None
    for train, test in folds.split(X, y):
        answer = getattr(clone(member).fit(X[train], y[train]), method)(X[test])
        if predicted is None:
            predicted = np.zeros((len(y), *answer.shape[1:]))
        predicted[test] = answer
    return predicted


def naive_votes(method, right, near):
    """KNORA-U, KNORA-E and OLA as their papers have them, for one row."""
    n_members = right.shape[1]
    votes = np.array([sum(right[row, m] for row in near) for m in range(n_members)], float)
    if method == "ola":
        votes = (votes == votes.max()).astype(float)
    if method == "knora-e":
        for size in range(len(near), 0, -1):
            perfect = [all(right[row, m] for row in near[:size]) for m in range(n_members)]
            if any(perfect):
                votes = np.array(perfect, float)
                break
    return votes if votes.any() else np.ones(n_members)


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("method", ["knora-u", "knora-e", "ola"])
def test_the_classifier_does_what_a_loop_over_rows_does(classes, method, voting):
    X, y = classes
    X, y, new = X[:100], y[:100], X[100:]
    model = cm.DynamicSelectionClassifier(THREE, method=method, n_neighbors=5, voting=voting)
    model.fit(X, y)
    folds = StratifiedKFold(5)
    predictions = [out_of_fold(member, X, y, folds, "predict_proba") for _, member in THREE]
    right = np.column_stack([predicted.argmax(axis=1) == y for predicted in predictions])
    members = [clone(member).fit(X, y) for _, member in THREE]
    for number, row in enumerate(new):
        votes = naive_votes(method, right, naive_neighbors(X, row, 5))
        expected = np.zeros(3)
        for vote, member in zip(votes, members, strict=True):
            predicted = member.predict_proba([row])[0]
            expected += vote * (predicted if voting == "soft" else np.eye(3)[predicted.argmax()])
        expected /= votes.sum()
        assert_allclose(model.predict_proba(new[number : number + 1])[0], expected, rtol=1e-9)
    assert_array_equal(model.predict(new), model.predict_proba(new).argmax(axis=1))


@pytest.mark.parametrize("method", ["weighted", "best"])
def test_the_regressor_does_what_a_loop_over_rows_does(numbers, method):
    X, y = numbers
    X, y, new = X[:100], y[:100], X[100:]
    model = cm.DynamicSelectionRegressor(REAL_THREE, method=method, n_neighbors=5).fit(X, y)
    predicted = [out_of_fold(member, X, y, KFold(5), "predict") for _, member in REAL_THREE]
    members = [clone(member).fit(X, y) for _, member in REAL_THREE]
    expected = []
    for row in new:
        near = naive_neighbors(X, row, 5)
        errors = np.array([np.mean([(s[i] - y[i]) ** 2 for i in near]) for s in predicted])
        weights = 1 / errors if method == "weighted" else (errors == errors.min()).astype(float)
        answers = np.array([member.predict([row])[0] for member in members])
        expected.append(weights @ answers / weights.sum())
    assert_allclose(model.predict(new), expected, rtol=1e-8)


def test_neighbours_count_by_the_inverse_of_their_distance(numbers):
    X, y = numbers
    X, y, new = X[:100, :1], y[:100], X[100:105, :1]
    model = cm.DynamicSelectionRegressor(REAL_TREES, weights="distance", scale=False).fit(X, y)
    predicted = [out_of_fold(member, X, y, KFold(5), "predict") for _, member in REAL_TREES]
    for row, got in zip(new, model.explain(new).competence, strict=True):
        gaps = np.abs(X[:, 0] - row[0])
        near = np.argsort(gaps)[:7]
        squares = [np.average((s[near] - y[near]) ** 2, weights=1 / gaps[near]) for s in predicted]
        assert_allclose(got, np.sqrt(squares), rtol=1e-9)


# --- distances ----------------------------------------------------------------------------------


def distances_of(table, metric="euclidean", scale=True):
    from committee.tables.native_table import AnyTable

    opened = AnyTable(table)
    known = np.arange(opened.n_rows, dtype=float)[:, None]
    near = Neighborhood.fit(opened, known, None, metric, scale)
    (_, places, distances, _), *_ = near.nearest(opened, opened.n_rows, 1)
    result = np.full((opened.n_rows, opened.n_rows), np.nan)
    for row in range(opened.n_rows):
        result[row, near.values[places[row], 0].astype(int)] = distances[row]
    return result


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_levels_and_missing_values_differ_by_one(metric):
    table = pd.DataFrame({"a": ["x", "y", None, "z"], "b": [1.0, 1.0, 1.0, np.nan]})
    found = distances_of(table, metric)
    assert_allclose(found[0], [0, 1, 1, np.sqrt(2) if metric == "euclidean" else 2])


def test_a_standard_deviation_is_one_and_ten_are_the_most():
    found = distances_of(np.array([[0.0], [2.0], [4.0], [np.inf], [-np.inf]]))
    spread = np.std([0.0, 2.0, 4.0])
    assert_allclose(found[0, 1], 2 / spread)
    assert_allclose(found[3, 4], 20)
    assert_allclose(distances_of(np.array([[0.0], [3.0]]), scale=False)[0, 1], 3.0)
    assert_allclose(distances_of(np.array([[1e300], [-1e300], [0.0]]))[2, 0], np.sqrt(1.5))


def test_rare_levels_of_a_long_category_are_one(rng):
    names = [f"level {number:03}" for number in range(100)]
    table = pd.DataFrame({"a": names[:64] * 2 + names[64:]})
    found = distances_of(table.assign(b=np.arange(len(table), dtype=float)), scale=False)
    gap = found[130, 131] ** 2  # two rare levels: only b differs, by one
    assert_allclose(gap, 1.0)
    assert_allclose(found[0, 1] ** 2, 2.0)


def test_many_columns_find_the_same_neighbours_as_few(rng, monkeypatch):
    X, y = rng.normal(size=(120, 6)), rng.normal(size=120)
    few = cm.DynamicSelectionRegressor(REAL_TREES).fit(X, y).explain(X)
    monkeypatch.setattr("committee.combining.dynamic.neighborhood._FEW_COLUMNS", 2)
    many = cm.DynamicSelectionRegressor(REAL_TREES).fit(X, y).explain(X)
    assert_array_equal(few.competence, many.competence)
    assert_array_equal(few.radius, many.radius)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_many_levels_find_the_same_neighbours_as_their_coordinates(metric, rng, monkeypatch):
    """Levels are compared as codes: missing and unseen ones, and features without missing ones."""

    def rows(n_rows, levels):
        table = pd.DataFrame({f"c{k}": rng.choice([*levels], n_rows) for k in range(6)})
        table.loc[::5, "c1"] = None
        return table.assign(number=rng.normal(size=n_rows).round(1))

    X, new = rows(150, "abcd"), rows(60, "abcdxyz")
    new.loc[::4, "c0"] = None
    y = rng.normal(size=150)
    found = []
    for few in (16, 1000):  # beyond, trees of points compare all coordinates
        monkeypatch.setattr("committee.combining.dynamic.neighborhood._FEW_COLUMNS", few)
        model = cm.DynamicSelectionRegressor(LEVEL_TREES, metric=metric).fit(X, y)
        found.append(model.explain(new))
    assert_array_equal(found[0].competence, found[1].competence)
    assert_array_equal(found[0].radius, found[1].radius)


def test_equal_codes_are_counted(rng):
    left = rng.integers(0, 3, (40, 70), np.uint8)
    right = rng.integers(0, 3, (90, 70), np.uint8)
    expected = (left[:, None] == right).sum(axis=2)
    for n_threads in (1, 2):
        assert_array_equal(_core.row_matches(left, right, n_threads), expected)
    same = np.zeros((1, 20_000), np.uint8)  # more columns than a byte can count
    assert _core.row_matches(same, same).tolist() == [[20_000]]


# --- promises -----------------------------------------------------------------------------------


def fold_of(rows, n_folds=4):
    return [
        (np.flatnonzero(rows % n_folds != fold), np.flatnonzero(rows % n_folds == fold))
        for fold in range(n_folds)
    ]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_row_of_weight_two_is_that_row_twice_for_given_splits(kind, rng, request):
    X, y = request.getfixturevalue(kind)
    X = np.round(X)  # many rows are alike, and many equally far
    counts = rng.integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    if kind == "classes":
        trees = [(f"d{depth}", cm.DecisionTreeClassifier(max_depth=depth)) for depth in (1, 3)]
        make = cm.DynamicSelectionClassifier
    else:
        trees = [(f"d{depth}", cm.DecisionTreeRegressor(max_depth=depth)) for depth in (1, 3)]
        make = cm.DynamicSelectionRegressor
    weighted = make(trees, cv=fold_of(np.arange(len(y)))).fit(X, y, counts)
    repeated = make(trees, cv=fold_of(rows)).fit(X[rows], y[rows])
    assert_allclose(weighted.explain(X).weight, repeated.explain(X).weight, rtol=1e-9)
    if kind == "classes":
        assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)
    else:
        assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_a_row_of_weight_zero_is_absent(classes, rng):
    X, y = classes
    weights = rng.integers(0, 2, len(y)) * rng.uniform(0.5, 2, len(y))
    kept = weights > 0
    for method in ("knora-u", "knora-e"):
        model = cm.DynamicSelectionClassifier(THREE, method=method)
        one = clone(model).fit(X, y, weights).predict_proba(X)
        other = clone(model).fit(X[kept], y[kept], weights[kept]).predict_proba(X)
        assert_allclose(one, other, rtol=1e-9)


def test_light_rows_are_asked_until_they_weigh_enough(rng):
    X = np.arange(100.0)[:, None]
    weights = np.where(X[:, 0] < 50, 0.01, 1.99)
    from committee.tables.native_table import AnyTable

    near = Neighborhood.fit(AnyTable(X), X, weights, "euclidean", scale=False)
    (_, places, _, counts), *_ = near.nearest(AnyTable([[0.0]]), 3, 1)
    assert_allclose(counts.sum(), 3)
    assert places.shape[1] == 52  # fifty light rows, one heavy and a part of the next
    assert_allclose(counts[0, -1], 3 - 0.5 - 1.99)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_the_model_is_the_same_for_any_number_of_workers(kind, request, monkeypatch):
    X, y = request.getfixturevalue(kind)
    monkeypatch.setattr("committee.combining.dynamic.neighborhood._BLOCK", 40)
    make, members = {
        "classes": (cm.DynamicSelectionClassifier, DEPTHS),
        "numbers": (cm.DynamicSelectionRegressor, REAL_THREE),
    }[kind]
    answers = [make(members, n_jobs=n, random_state=3).fit(X, y).predict(X) for n in (1, 2)]
    assert_array_equal(*answers)


def test_order_of_rows_and_blocks_of_them_do_not_matter(classes, rng):
    X, y = classes
    model = cm.DynamicSelectionClassifier(THREE).fit(X, y)
    whole = model.predict_proba(X)
    order = rng.permutation(len(y))
    assert_allclose(model.predict_proba(X[order]), whole[order], rtol=1e-12)
    alone = np.vstack([model.predict_proba(X[row : row + 1]) for row in range(10)])
    assert_allclose(alone, whole[:10], rtol=1e-12)


def test_more_neighbours_than_rows_are_all_rows(numbers):
    X, y = numbers
    found = cm.DynamicSelectionRegressor(REAL_TREES, n_neighbors=10_000).fit(X, y).explain(X)
    assert_allclose(found.weight, np.broadcast_to(found.weight[0], found.weight.shape))


def test_a_member_that_makes_no_error_answers_alone():
    x = np.random.default_rng(0).uniform(size=(60, 1))
    members = [
        ("line", LinearRegression(fit_intercept=False)),
        ("none", cm.DecisionTreeRegressor()),
    ]
    y = np.zeros(60)
    model = cm.DynamicSelectionRegressor(members).fit(x, y)
    assert_allclose(model.explain(x).weight, 0.5)
    assert_array_equal(model.predict(x), y)


def test_nobody_right_lets_everybody_vote():
    X, y = np.arange(20.0)[:, None], np.tile([0, 1, 2, 2], 5)
    members = [(f"c{c}", DummyClassifier(strategy="constant", constant=c)) for c in (0, 1)]
    for method in ("knora-u", "knora-e", "ola"):
        model = cm.DynamicSelectionClassifier(members, method=method, n_neighbors=1).fit(X, y)
        assert_array_equal(model.explain([[2.2]]).weight, [[0.5, 0.5]])


# --- where place matters ------------------------------------------------------------------------


def test_members_that_are_good_in_different_places_beat_their_plain_vote(rng):
    X = rng.uniform(-1, 1, size=(900, 2))
    # On the left a slope decides, on the right another one: a line knows one side at best.
    y = np.where(X[:, 0] < 0, X[:, 1] > 0, X[:, 1] < 0).astype(int)
    train, test = slice(0, 600), slice(600, None)

    class Side(LogisticRegression):
        """Learns one half of the plane."""

        def __init__(self, sign=1):
            super().__init__()
            self.sign = sign

        def fit(self, X, y, sample_weight=None):
            mine = self.sign * X[:, 0] > 0
            return super().fit(X[mine], y[mine])

    members = [("left", Side(-1)), ("right", Side(1))]
    plain = np.mean([m.fit(X[train], y[train]).predict_proba(X[test]) for _, m in members], axis=0)
    vote = np.mean(plain.argmax(axis=1) == y[test])
    for method in ("knora-u", "knora-e", "ola"):
        model = cm.DynamicSelectionClassifier(members, method=method).fit(X[train], y[train])
        assert model.score(X[test], y[test]) > max(0.9, vote + 0.2)
    found = model.explain([[-0.6, 0.5], [0.6, 0.5]])
    assert found.weight[0, 0] == found.weight[1, 1] == 1.0


def test_local_errors_beat_the_mean_of_regressors(rng):
    x = rng.uniform(-2, 2, size=(600, 1))
    y = np.where(x[:, 0] < 0, 0.0, np.sign(np.sin(6 * x[:, 0]))) + rng.normal(0, 0.1, 600)
    members = [("zero", DummyRegressor()), ("tree", cm.DecisionTreeRegressor(max_depth=4))]
    means = np.mean([m.fit(x[:400], y[:400]).predict(x[400:]) for _, m in members], axis=0)
    plain = np.mean((means - y[400:]) ** 2)
    for method in ("weighted", "best"):
        model = cm.DynamicSelectionRegressor(members, method=method).fit(x[:400], y[:400])
        assert np.mean((model.predict(x[400:]) - y[400:]) ** 2) < 0.6 * plain


# --- tables, sources of predictions, files ------------------------------------------------------


@pytest.mark.parametrize("cv", [3, 0.3, "oob", "loo", StratifiedKFold(3)])
@pytest.mark.parametrize("refit", [True, False])
def test_raw_tables_and_every_source_of_opinions(cv, refit):
    X, y = load_penguins()
    X, y = X[::4], np.asarray(y)[::4]
    members = [
        ("tree", cm.DecisionTreeClassifier(max_depth=2)),
        ("forest", cm.RandomForestClassifier(5, random_state=0)),
    ]
    model = cm.DynamicSelectionClassifier(members, cv=cv, refit=refit, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    other = X.copy()
    other["island"] = other["island"].astype(object)
    other.iloc[:3, 0] = "Atlantis"
    other.iloc[:3, 1] = np.nan
    shares = model.predict_proba(other)
    assert_allclose(shares.sum(axis=1), 1)
    assert_array_equal(model.predict_proba(X[X.columns[::-1]]), model.predict_proba(X))


def test_fitted_members_are_judged_on_other_rows(classes):
    X, y = classes
    labels = np.array(["no", "may", "yes"])[y]
    members = [(name, clone(member).fit(X[:75], labels[:75])) for name, member in THREE]
    model = cm.DynamicSelectionClassifier(members, cv="prefit").fit(X[75:], labels[75:])
    assert model.estimators_[0] is members[0][1]
    assert model.score(X[75:], labels[75:]) > 0.5
    assert set(model.predict(X)) <= {"no", "may", "yes"}


@pytest.mark.parametrize("refit", [True, False])
def test_files_keep_the_model(tmp_path, refit):
    X, y = load_penguins()
    y = np.asarray(y)
    members = [
        ("tree", cm.DecisionTreeClassifier(max_depth=2)),
        ("forest", cm.RandomForestClassifier(5, random_state=0)),
        ("none", "drop"),
    ]
    model = cm.DynamicSelectionClassifier(members, method="knora-e", refit=refit).fit(X, y)
    cm.save(model, tmp_path / "model.committee")
    again = cm.load(tmp_path / "model.committee")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    regressor = cm.DynamicSelectionRegressor([("tree", cm.DecisionTreeRegressor(max_depth=3))])
    regressor.fit(X.drop(columns="body_mass_g"), X["body_mass_g"].fillna(4000.0))
    cm.save(regressor, tmp_path / "model.committee")
    again = cm.load(tmp_path / "model.committee")
    mine = X.drop(columns="body_mass_g")
    assert_array_equal(again.predict(mine), regressor.predict(mine))


def test_what_is_explained_is_what_votes(classes):
    X, y = classes
    model = cm.DynamicSelectionClassifier([*THREE, ("none", "drop")]).fit(X, y)
    found = model.explain(X)
    assert found.names == ("stump", "line", "tree")
    predicted = [member.predict_proba(X) for member in model.estimators_]
    mixed = sum(found.weight[:, [k]] * each for k, each in enumerate(predicted))
    assert_allclose(mixed, model.predict_proba(X))
    frame = found.to_frame()
    assert frame.shape == (450, 3)
    assert list(frame.columns) == ["competence", "weight", "radius"]
    assert "mean weights" in repr(found)
    assert cm.diversity(model, X, y).names == found.names


# --- scikit-learn -------------------------------------------------------------------------------

DEPTHS = [(f"d{depth}", cm.DecisionTreeClassifier(max_depth=depth)) for depth in (2, 5)]
REAL_DEPTHS = [(f"d{depth}", cm.DecisionTreeRegressor(max_depth=depth)) for depth in (2, 5)]


@parametrize_with_checks(
    [cm.DynamicSelectionClassifier(DEPTHS), cm.DynamicSelectionRegressor(REAL_DEPTHS)]
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_parameters_of_members_are_reached_by_name():
    model = cm.DynamicSelectionClassifier(THREE)
    assert model.get_params()["tree__max_depth"] == 3
    assert clone(model).set_params(tree__max_depth=2, line="drop").estimators[1] == ("line", "drop")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "knora"}, "method must be"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"weights": "heavy"}, "weights must be"),
        ({"metric": "cosine"}, "metric must be"),
        ({"voting": "loud"}, "voting must be"),
        ({"scale": 2}, "scale must be"),
        ({"cv": "always"}, "cv must be"),
        ({"estimators": []}, "estimators"),
        ({"estimators": REAL_TREES}, "should be a classifier"),
    ],
)
def test_errors_name_the_parameter(changes, words, classes):
    model = cm.DynamicSelectionClassifier(THREE).set_params(**changes)
    with pytest.raises((TypeError, ValueError), match=words):
        model.fit(*classes)
