"""Diagnoses: planted cases get the planted answer, numbers are those of naive loops."""

import itertools
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as sk
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

import committee as cm
from committee.evaluation.calibration import Calibration
from committee.evaluation.member_errors import MemberTally


class Says:
    """A classifier that votes as its column says."""

    def __init__(self, column, classes=(0, 1)):
        self.column, self.classes_ = column, np.asarray(classes)

    def predict(self, X):
        return self.classes_[np.asarray(X)[:, self.column].astype(int)]


class Sure:
    """A classifier whose probability of class 1 is its column."""

    def __init__(self, column):
        self.column, self.classes_ = column, np.array([0, 1])

    def predict_proba(self, X):
        shares = np.asarray(X)[:, self.column]
        return np.column_stack([1 - shares, shares])

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


class Number:
    """A regressor that predicts its column."""

    def __init__(self, column):
        self.column = column

    def predict(self, X):
        return np.asarray(X, float)[:, self.column]


def kinds(found):
    return [each.kind for each in found.advice]


def about(found, kind):
    (advice,) = [each for each in found.advice if each.kind == kind]
    return advice


def team(columns, cls=Number):
    return [(f"m{k}", cls(k)) for k in range(columns)]


# --- planted cases ------------------------------------------------------------------------------


def votes_of(rng, rates, n_rows=20_000):
    """Votes of members that err independently with these rates, about a fair coin."""
    y = rng.integers(0, 2, n_rows)
    is_wrong = rng.random((n_rows, len(rates))) < np.asarray(rates)
    return np.where(is_wrong, 1 - y[:, None], y[:, None]), y


def test_independent_members_do_what_the_lecture_computes(rng):
    X, y = votes_of(rng, [0.3] * 21)
    found = cm.diagnose(team(21, Says), X, y)
    theory = {each.what: each.error_rate for each in found.combining}
    assert theory["if errors were independent"] == pytest.approx(binom.sf(10, 21, 0.3), abs=2e-3)
    assert theory["measured: majority of members"] == pytest.approx(0.0264, abs=4e-3)
    assert theory["with the correlation found"] == pytest.approx(0.0264, abs=6e-3)
    assert abs(found.diversity.means["correlation"]) < 0.01
    assert found.votes.strength == pytest.approx(0.4, abs=0.01)
    assert found.votes.correlation == pytest.approx(1 / 21, abs=0.01)
    assert kinds(found) == ["more_members"]


def test_independent_errors_are_divided_by_the_number_of_members(rng):
    y = rng.normal(size=20_000)
    X = y[:, None] + rng.normal(size=(20_000, 10))
    found = cm.diagnose(team(10), X, y)
    assert found.errors.worth == pytest.approx(10, abs=0.3)
    assert found.errors.limit == pytest.approx(0, abs=0.01)
    assert found.errors.at(40) == pytest.approx(1 / 40, abs=0.01)
    assert "halve" in about(found, "more_members").text


def test_how_many_members_would_be_enough(rng):
    y = rng.normal(size=20_000)
    X = y[:, None] + rng.normal(size=(20_000, 1)) + rng.normal(size=(20_000, 8))
    found = cm.diagnose(team(8), X, y)  # the limit is 1, a member has 2
    assert found.errors.limit == pytest.approx(1, abs=0.05)
    assert found.errors.members_for(0.01) == pytest.approx(100, abs=8)
    enough = found.errors.members_for(0.01)
    assert f"with {enough} in place of 8" in about(found, "more_members").text
    many = y[:, None] + rng.normal(size=(20_000, 1)) + 0.3 * rng.normal(size=(20_000, 80))
    found = cm.diagnose(team(80), many, y)
    assert found.errors.members_for(0.01) == pytest.approx(9, abs=1)
    assert "would do within 1 %" in about(found, "enough_members").text


def test_clones_are_found_and_count_once(rng):
    y = rng.normal(size=2000)
    X = y[:, None] + rng.normal(size=(2000, 5))
    X[:, 3] = X[:, 1]
    X[:, 4] = X[:, 1] + 1e-6 * rng.normal(size=2000)
    found = cm.diagnose(team(5), X, y)
    assert about(found, "clones").members == ("m1", "m3", "m4")
    # The errors of one member have a weight of three fifths, of the others one each.
    assert found.errors.worth == pytest.approx(1 / (0.6**2 + 2 * 0.2**2), rel=0.1)
    all_same = cm.diagnose(team(3), X[:, [1, 1, 1]], y)
    assert kinds(all_same) == ["clones"]
    assert "All 3 members" in all_same.advice[0].text


def test_one_strong_member_among_weak_ones_is_named(rng):
    X, y = votes_of(rng, [0.4, 0.4, 0.05, 0.4, 0.4], 3000)
    found = cm.diagnose(team(5, Says), X, y)
    assert about(found, "strong").members == ("m2",)
    assert "leak" not in kinds(found)
    assert "hurts" not in kinds(found)


def test_a_member_that_has_seen_the_rows_is_named(rng):
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    members = [
        ("line", LogisticRegression().fit(X[:200], y[:200])),
        ("bayes", GaussianNB().fit(X[:200], y[:200])),
        ("tree", cm.DecisionTreeClassifier().fit(X, y)),  # the rows to come as well
    ]
    found = cm.diagnose(members, X[200:], y[200:])
    assert about(found, "leak").members == ("tree",)
    assert "fitted to these rows" in about(found, "leak").text
    assert "strong" not in kinds(found)
    honest = [*members[:2], ("tree", cm.DecisionTreeClassifier(max_depth=2).fit(X[:200], y[:200]))]
    assert "leak" not in kinds(cm.diagnose(honest, X[200:], y[200:]))


def test_a_member_that_hurts_is_named_with_what_it_costs(rng):
    y = rng.normal(size=2000)
    X = y[:, None] + rng.normal(size=(2000, 8))
    X[:, 5] = 5 * rng.normal(size=2000)
    found = cm.diagnose(team(8), X, y)
    assert about(found, "hurts").members == ("m5",)
    without = np.mean((np.delete(X, 5, axis=1).mean(axis=1) - y) ** 2)
    assert f"to {without:.3g}." in about(found, "hurts").text


def test_members_that_err_alike_are_told_so(rng):
    y = rng.normal(size=2000)
    X = y[:, None] + rng.normal(size=(2000, 1)) + 0.1 * rng.normal(size=(2000, 6))
    found = cm.diagnose(team(6), X, y)
    assert "alike" in kinds(found)
    assert found.errors.correlation[0, 1] > 0.97
    assert "clones" not in kinds(found)


def test_noise_is_no_finding(rng):
    """Members that are as good as each other get no advice about any of them."""
    single = {"hurts", "strong", "leak", "clones"}
    for _ in range(20):
        y = rng.normal(size=300)
        shared = rng.normal(size=(300, 1))
        X = y[:, None] + shared + rng.normal(size=(300, 30))
        assert not single & set(kinds(cm.diagnose(team(30), X, y)))


@pytest.mark.parametrize(("power", "kind"), [(3.0, "over_confident"), (0.3, "too_careful")])
def test_probabilities_that_are_bent_are_too_bold_or_too_careful(power, kind, rng):
    true = rng.beta(2, 2, 20_000)
    y = (rng.random(20_000) < true).astype(int)
    bent = true**power / (true**power + (1 - true) ** power)
    X = np.column_stack([bent, bent])
    model = sk.VotingClassifier([("a", None), ("b", None)], voting="soft")
    model.estimators_, model.classes_ = [Sure(0), Sure(1)], np.array([0, 1])
    model.le_ = type("Codes", (), {"inverse_transform": staticmethod(lambda codes: codes)})()
    found = cm.diagnose(model, X, y)
    assert kind in kinds(found)
    # Bent by a power, they are mended by it.
    assert found.calibration.temperature == pytest.approx(power, rel=0.1)
    honest = Calibration.measure(np.column_stack([1 - true, true]), y, np.ones(20_000), "1")
    assert abs(honest.confidence - honest.accuracy) < 3 * honest.error
    assert honest.temperature == pytest.approx(1, abs=0.1)


def test_rows_with_wrong_labels_are_named(rng):
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0).astype(int)
    model = cm.RandomForestClassifier(30, max_features=None, random_state=0)
    model.fit(X[:200], y[:200])
    wrong = np.argsort(np.abs(X[200:, 0]))[-3:]
    told = y[200:].copy()
    told[wrong] = 1 - told[wrong]
    found = cm.diagnose(model, X[200:], told)
    assert set(np.argsort(found.margins)[:3]) == set(wrong)
    assert all(str(row) in about(found, "labels").text for row in wrong)


# --- boosting -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 5))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.7, 1200)
    return X[:400], y[:400], X[400:], y[400:]


BOOSTING = [cm.GradientBoostingRegressor, sk.GradientBoostingRegressor]


@pytest.mark.parametrize("cls", BOOSTING, ids=lambda cls: cls.__module__[:9])
def test_too_few_and_too_many_rounds_are_told_from_enough(cls, noisy):
    X, y, X_new, y_new = noisy
    few = cm.diagnose(cls(n_estimators=10, learning_rate=0.1, max_depth=3).fit(X, y), X_new, y_new)
    assert kinds(few) == ["more_rounds"]
    many = cls(n_estimators=200, learning_rate=1.0, max_depth=3).fit(X, y)
    found = cm.diagnose(many, X_new, y_new)
    assert kinds(found) == ["fewer_rounds"]
    staged = [np.mean((each - y_new) ** 2) for each in many.staged_predict(X_new)]
    measured = [staged[number - 1] for number in found.growth.numbers]
    assert_allclose(found.growth.measured, measured, rtol=1e-9)
    assert found.growth.best == found.growth.numbers[np.argmin(measured)]
    assert found.combining[0].squared_error == pytest.approx(staged[-1])


def test_rounds_of_classes_are_judged_by_log_loss(noisy):
    X, y, X_new, y_new = noisy
    for cls in (cm.GradientBoostingClassifier, sk.GradientBoostingClassifier):
        model = cls(n_estimators=20).fit(X, np.digitize(y, [-1, 1]))
        truth = np.digitize(y_new, [-1, 1])
        found = cm.diagnose(model, X_new, truth)
        expected = log_loss(truth, model.predict_proba(X_new))
        assert found.growth.measured[-1] == pytest.approx(expected)
        assert found.calibration.accuracy == pytest.approx(model.score(X_new, truth))
        assert found.errors is None
        with pytest.raises(ValueError, match="no predictions of their own"):
            found.to_frame()


def test_repeated_stumps_of_adaboost_are_no_clones(noisy):
    X, y, X_new, y_new = noisy
    model = cm.AdaBoostClassifier(n_estimators=60, random_state=0).fit(X, y > 0)
    found = cm.diagnose(model, X_new, y_new > 0)
    assert found.growth.measure == "error rate"
    assert found.growth.measured[-1] == pytest.approx(1 - model.score(X_new, y_new > 0))
    assert not {"clones", "alike", "hurts"} & set(kinds(found))
    assert_allclose(found.margins, model.margins(X_new, y_new > 0), atol=1e-12)


# --- training rows ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        cm.RandomForestRegressor(5, random_state=0),
        cm.BaggingRegressor(LinearRegression(), 5, random_state=0),
        cm.GradientBoostingRegressor(n_estimators=5, random_state=0),
        cm.GradientBoostingRegressor(n_estimators=5, loss="absolute_error"),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_rows_of_the_fit_are_noticed(model, noisy):
    X, y, X_new, y_new = noisy
    model.fit(X, y + 1e6)
    assert kinds(cm.diagnose(model, X, y + 1e6)) == ["training_rows"]
    assert "training_rows" not in kinds(cm.diagnose(model, X_new, y_new + 1e6))


def test_other_rows_with_the_same_targets_are_not_taken_for_those_of_the_fit(noisy):
    X, _, X_new, _ = noisy
    labels = np.repeat(["a", "b"], 200)
    table, new = (pd.DataFrame(each[:400], columns=list("abcde")) for each in (X, X_new))
    for model in (
        cm.RandomForestClassifier(5, random_state=0),
        cm.BaggingClassifier(n_estimators=5, random_state=0),
        cm.GradientBoostingClassifier(n_estimators=5),
        cm.CommitteeClassifier(budget=0.05, random_state=0),
    ):
        assert "training_rows" not in kinds(cm.diagnose(model.fit(table, labels), new, labels))


def test_rows_of_the_fit_of_classifiers_are_noticed(noisy):
    X, y, X_new, y_new = noisy
    labels, new = np.where(y > 0, "up", "down"), np.where(y_new > 0, "up", "down")
    for model in (
        cm.RandomForestClassifier(5, random_state=0),
        cm.BaggingClassifier(n_estimators=5, random_state=0),
        cm.AdaBoostClassifier(n_estimators=5),
        cm.GradientBoostingClassifier(n_estimators=5),
        cm.CommitteeClassifier(budget=0.05, random_state=0),
    ):
        model.fit(X, labels)
        assert "training_rows" in kinds(cm.diagnose(model, X, labels))
        assert "training_rows" not in kinds(cm.diagnose(model, X_new, new))


# --- oracles ------------------------------------------------------------------------------------


@pytest.fixture
def vectors(rng):
    """Predictions of five members for three classes, the truth and weights of rows."""
    predictions = rng.dirichlet(np.ones(3), (5, 60))
    codes = rng.integers(0, 3, 60)
    return predictions, np.eye(3)[codes], codes, rng.integers(0, 4, 60).astype(float)


def tallied(predictions, truth, weights, shares, own=None, size=17):
    rows = np.flatnonzero(weights)
    tally = MemberTally(np.asarray(shares), truth.shape[1])
    for begin in range(0, len(rows), size):
        part = rows[begin : begin + size]
        mine = None if own is None else own[part]
        tally.add(predictions[:, part], truth[part], weights[part], mine)
    return tally.result()


def test_errors_of_members_are_those_of_naive_loops(vectors, rng):
    predictions, truth, _, weights = vectors
    shares = np.array([0.1, 0.2, 0.3, 0.3, 0.1])
    own = rng.dirichlet(np.ones(3), 60)
    found = tallied(predictions, truth, weights, shares, own)
    total = weights.sum()

    def mean(values):
        return sum(w * value for w, value in zip(weights, values, strict=True)) / total

    errors = predictions - truth
    for i, j in itertools.product(range(5), repeat=2):
        product = mean((errors[i] * errors[j]).sum(axis=1))
        assert found.products[i, j] == pytest.approx(product, abs=1e-14)
        distance = mean(((predictions[i] - predictions[j]) ** 2).sum(axis=1))
        assert found.distances[i, j] == pytest.approx(distance, abs=1e-14)
        middle = [mean(errors[k]) for k in (i, j)]
        covariance = mean(((errors[i] - middle[0]) * (errors[j] - middle[1])).sum(axis=1))
        assert found.covariances[i, j] == pytest.approx(covariance, abs=1e-14)
    combined = np.einsum("m,mrv->rv", shares, errors)
    assert found.combined_error == pytest.approx(mean((combined**2).sum(axis=1)))
    assert found.combined_error == pytest.approx(found.mean_error - found.ambiguity)
    assert found.committee_error == pytest.approx(mean(((own - truth) ** 2).sum(axis=1)))
    shares_of_classes = mean(truth)
    assert found.constant_error == pytest.approx(
        mean(((truth - shares_of_classes) ** 2).sum(axis=1))
    )
    repeated = np.repeat(np.arange(60), weights.astype(int))
    for k in range(5):
        others = np.delete(shares, k) / (1 - shares[k])
        without = np.einsum("m,mrv->rv", others, np.delete(errors, k, axis=0))
        harm = ((combined**2).sum(axis=1) - (without**2).sum(axis=1))[repeated]
        assert found.harm[k] == pytest.approx(harm.mean())
        assert found.harm_error[k] == pytest.approx(harm.std(ddof=1) / len(repeated) ** 0.5)
        more = (errors[k] ** 2).sum(axis=1) - ((own - truth) ** 2).sum(axis=1)
        assert found.excess[k] == pytest.approx(more[repeated].mean())
        spread = more[repeated].std(ddof=1) / len(repeated) ** 0.5
        assert found.excess_error[k] == pytest.approx(spread)
    gap = (((own - truth) ** 2).sum(axis=1) - (combined**2).sum(axis=1))[repeated]
    assert found.gap == pytest.approx(gap.mean())
    assert found.gap_error == pytest.approx(gap.std(ddof=1) / len(repeated) ** 0.5)


def test_the_error_of_fewer_members_is_the_mean_over_all_choices_of_them(vectors):
    predictions, truth, _, weights = vectors
    found = tallied(predictions, truth, weights, np.full(5, 0.2))
    for n_members in range(1, 6):
        errors = []
        for chosen in itertools.combinations(range(5), n_members):
            mean = predictions[list(chosen)].mean(axis=0)
            errors.append(np.average(((mean - truth) ** 2).sum(axis=1), weights=weights))
        assert found.at(n_members) == pytest.approx(np.mean(errors))
    assert found.at(10**9) == pytest.approx(found.limit)
    n_members = found.members_for(0.05)
    assert found.at(n_members) <= 1.05 * found.limit < found.at(n_members - 1)


def test_errors_of_huge_targets_keep_their_digits(rng):
    y = 1e9 + rng.normal(size=500)
    X = y[:, None] + rng.normal(size=(500, 3))
    small = cm.diagnose(team(3), X - 1e9, y - 1e9)
    large = cm.diagnose(team(3), X, y)
    assert_allclose(large.errors.products, small.errors.products, rtol=1e-5, atol=1e-6)
    assert_allclose(large.errors.correlation, small.errors.correlation, rtol=1e-5, atol=1e-6)


def test_strength_and_correlation_are_those_of_breiman(rng):
    y = rng.integers(0, 3, 200)
    X = np.where(rng.random((200, 7)) < 0.6, y[:, None], rng.integers(0, 3, (200, 7)))
    weights = rng.integers(0, 3, 200)
    classes = np.arange(3)
    found = cm.diagnose([Says(k, classes) for k in range(7)], X, y, weights)
    rows = np.repeat(np.arange(200), weights)
    margins, raw = [], []
    for row in rows:
        shares = [np.mean(X[row] == label) for label in classes]
        others = [label for label in classes if label != y[row]]
        rival = max(others, key=lambda label: shares[label])
        margins.append(shares[y[row]] - shares[rival])
        raw.append((X[row] == y[row]).astype(float) - (X[row] == rival))
    assert found.votes.strength == pytest.approx(np.mean(margins))
    expected = np.var(margins) / np.std(raw, axis=0).mean() ** 2
    assert found.votes.correlation == pytest.approx(expected)
    bound = expected * (1 - np.mean(margins) ** 2) / np.mean(margins) ** 2
    assert found.votes.bound == pytest.approx(min(1.0, bound))
    present = np.flatnonzero(weights)
    lookup = dict(zip(rows, margins, strict=True))
    assert_allclose(found.margins, [lookup[row] for row in present], atol=1e-12)


def test_measured_errors_are_those_of_the_first_members(noisy):
    X, y, X_new, y_new = noisy
    model = sk.BaggingRegressor(n_estimators=13, random_state=0).fit(X, y)
    found = cm.diagnose(model, X_new, y_new).growth
    predictions = np.array([tree.predict(X_new) for tree in model.estimators_])
    for number, measured in zip(found.numbers, found.measured, strict=True):
        expected = np.mean((predictions[:number].mean(axis=0) - y_new) ** 2)
        assert measured == pytest.approx(expected)
    assert found.numbers[-1] == 13
    assert found.measured[-1] == pytest.approx(np.mean((model.predict(X_new) - y_new) ** 2))


def test_members_are_as_far_from_each_other_as_from_a_truth_that_is_like_them(rng):
    centre = rng.normal(size=(4000, 1))
    draws = centre + rng.normal(size=(4000, 9))
    found = cm.diagnose(team(8), draws[:, :8], draws[:, 8])
    assert found.spread_ratio == pytest.approx(1, abs=0.05)
    found = cm.diagnose(team(8), centre + 0.2 * rng.normal(size=(4000, 8)), draws[:, 8])
    assert found.spread_ratio == pytest.approx(0.2, abs=0.02)
    assert "spread" in kinds(found)


# --- weights, samples, every kind of ensemble ---------------------------------------------------


def numbers_of(found):
    """All numbers of a diagnosis but those of single rows."""
    values = [value for each in found.combining for value in (each.squared_error, each.error_rate)]
    for part in (found.growth, found.calibration, found.errors, found.votes):
        for field in () if part is None else fields(part):
            value = getattr(part, field.name)
            value = value[:, :4] if field.name == "bins" else value
            if field.name != "n_rows" and not isinstance(value, str):
                values += np.ravel(value).tolist()
    return np.array([*values, found.spread_ratio])


PAIR = [("line", LogisticRegression()), ("tree", cm.DecisionTreeClassifier(max_depth=3))]
REAL_PAIR = [("line", LinearRegression()), ("tree", cm.DecisionTreeRegressor(max_depth=3))]
SMALL = {"n_estimators": 6, "random_state": 0}
ENSEMBLES = [
    cm.RandomForestClassifier(**SMALL),
    cm.RandomForestClassifier(**SMALL, voting="hard"),
    cm.ExtraTreesClassifier(**SMALL),
    cm.BaggingClassifier(LogisticRegression(), max_features=3, **SMALL),
    cm.AdaBoostClassifier(n_estimators=6),
    cm.AdaBoostClassifier(n_estimators=6, variant="real"),
    cm.GradientBoostingClassifier(n_estimators=6),
    cm.VotingClassifier(PAIR),
    cm.VotingClassifier(PAIR, voting="soft"),
    cm.StackingClassifier(PAIR),
    cm.EnsembleSelectionClassifier(PAIR),
    cm.DynamicSelectionClassifier(PAIR),
    sk.RandomForestClassifier(**SMALL),
    sk.BaggingClassifier(**SMALL),
    sk.AdaBoostClassifier(**SMALL),
    sk.GradientBoostingClassifier(**SMALL),
    sk.HistGradientBoostingClassifier(max_iter=2),
    sk.VotingClassifier(PAIR),
    sk.StackingClassifier(PAIR),
    cm.RandomForestRegressor(**SMALL),
    cm.BaggingRegressor(**SMALL, combine="median"),
    cm.AdaBoostRegressor(**SMALL),
    cm.GradientBoostingRegressor(n_estimators=6),
    cm.VotingRegressor(REAL_PAIR, combine="median"),
    cm.StackingRegressor(REAL_PAIR),
    cm.EnsembleSelectionRegressor(REAL_PAIR),
    cm.DynamicSelectionRegressor(REAL_PAIR),
    sk.ExtraTreesRegressor(**SMALL),
    sk.AdaBoostRegressor(**SMALL),
    sk.GradientBoostingRegressor(**SMALL, loss="absolute_error"),
    sk.VotingRegressor(REAL_PAIR),
    sk.StackingRegressor(REAL_PAIR),
]


@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda each: repr(each)[:60])
def test_any_ensemble_is_diagnosed_and_weights_are_repetitions(model, noisy, rng):
    X, y, X_new, y_new = noisy
    X_new, y_new = X_new[:150], y_new[:150]
    names = list("abcde")
    X, X_new = pd.DataFrame(X, columns=names), pd.DataFrame(X_new, columns=names)
    if hasattr(model, "predict_proba") or "Classifier" in type(model).__name__:
        labels = np.array(["low", "middle", "high"])
        y, y_new = labels[np.digitize(y, [-1, 1])], labels[np.digitize(y_new, [-1, 1])]
    model.fit(X, y)
    counts = rng.integers(0, 3, 150)
    rows = np.repeat(np.arange(150), counts)
    found = cm.diagnose(model, X_new, y_new, counts)
    twice = cm.diagnose(model, X_new.iloc[rows], y_new[rows])
    assert_allclose(numbers_of(found), numbers_of(twice), rtol=1e-7, atol=1e-12)
    score = model.score(X_new, y_new, counts)
    own = found.combining[-1]
    if y.dtype.kind == "f":
        spread = np.average((y_new - np.average(y_new, weights=counts)) ** 2, weights=counts)
        assert 1 - own.squared_error / spread == pytest.approx(score)
    else:
        assert 1 - own.error_rate == pytest.approx(score)
    assert "Advice" in repr(found)
    assert all(each.text.endswith(".") for each in found.advice)


def test_a_committee_in_one_line_is_diagnosed(noisy):
    X, y, X_new, y_new = noisy
    table = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    members = {
        "line": LinearRegression(),
        "forest": cm.RandomForestRegressor(20, random_state=0),
        "boosting": cm.GradientBoostingRegressor(n_estimators=50),
    }
    model = cm.CommitteeRegressor(budget=0.2, members=members, random_state=0)
    model.fit(table.drop(columns="y"), y)
    new = pd.DataFrame(X_new, columns=list("abcde"))
    found = cm.diagnose(model, new, y_new)
    assert found.names == tuple(model.member_names_)
    assert len(found.names) > 1
    assert found.errors.committee_error == pytest.approx(np.mean((model.predict(new) - y_new) ** 2))
    assert found.errors.combined_error == pytest.approx(found.errors.committee_error)
    assert cm.diversity(model, new, y_new).names == found.names


def test_many_members_are_sampled_and_it_says_so(noisy):
    X, y, X_new, y_new = noisy
    model = cm.RandomForestRegressor(300, random_state=0).fit(X, y)
    found = cm.diagnose(model, X_new, y_new, max_members=40)
    assert (found.n_members, len(found.names), len(found.errors)) == (300, 40, 40)
    assert "300 members (40 of them were looked at)" in repr(found)
    whole = cm.diagnose(model, X_new, y_new, max_members=300)
    assert "looked at" not in repr(whole)
    # The error of the ensemble is that of all members, and the sample tells of the others.
    assert found.errors.committee_error == pytest.approx(
        np.mean((model.predict(X_new) - y_new) ** 2)
    )
    assert found.errors.limit == pytest.approx(whole.errors.limit, rel=0.03)
    again = cm.diagnose(model, X_new, y_new, max_members=40)
    np.testing.assert_array_equal(numbers_of(found), numbers_of(again))
    other = cm.diagnose(model, X_new, y_new, max_members=40, random_state=1)
    assert other.names != found.names


def test_many_rows_are_sampled(noisy):
    X, y, X_new, y_new = noisy
    model = cm.RandomForestRegressor(5, random_state=0).fit(X, y)
    found = cm.diagnose(model, X_new, y_new, max_rows=50)
    assert found.n_rows == len(found.rows) == 50
    part = cm.diagnose(model, X_new[found.rows], y_new[found.rows])
    assert_allclose(numbers_of(part), numbers_of(found), rtol=1e-12)
    assert "few_rows" in kinds(found)


def test_the_table_of_members(noisy):
    X, y, X_new, y_new = noisy
    model = cm.RandomForestRegressor(5, random_state=0).fit(X, y)
    frame = cm.diagnose(model, X_new, y_new).to_frame()
    assert list(frame.columns) == ["weight", "error", "correlation", "excess", "harm"]
    errors = [np.mean((tree.predict(X_new) - y_new) ** 2) for tree in model.estimators_]
    assert_allclose(frame["error"], errors)
    assert_allclose(frame["excess"], errors - np.mean((model.predict(X_new) - y_new) ** 2))


def test_errors_in_plain_words(noisy):
    X, y, _, _ = noisy
    for wrong, kind, words in [
        (cm.DecisionTreeRegressor(max_depth=2).fit(X, y), TypeError, "must have members"),
        (cm.GradientBoostingRegressor(), ValueError, "not fitted"),
        ("forest", TypeError, "committee must be"),
        (cm.RandomForestRegressor(2).fit(X, np.column_stack([y, y])), ValueError, "one output"),
        (
            cm.GradientBoostingRegressor(n_estimators=2).fit(X, np.column_stack([y, y])),
            ValueError,
            "one output",
        ),
    ]:
        with pytest.raises(kind, match=words):
            cm.diagnose(wrong, X, y)
    model = cm.RandomForestRegressor(2, random_state=0).fit(X, y)
    for options, words in [
        ({"max_members": 1}, "max_members must be"),
        ({"max_rows": 0}, "max_rows must be"),
        ({"random_state": "x"}, "random_state"),
    ]:
        with pytest.raises((ValueError, TypeError), match=words):
            cm.diagnose(model, X, y, **options)
    one = cm.RandomForestClassifier(2).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="two classes or more"):
        cm.diagnose(one, X, np.zeros(len(X)))


# --- the report ---------------------------------------------------------------------------------


def test_the_report_of_a_committee_gives_the_advice_about_members(noisy):
    from committee.report.page import page

    X, y, _, _ = noisy
    members = {"line": LinearRegression(), "line2": LinearRegression()}
    model = cm.CommitteeRegressor(budget=0.1, members=members, random_state=0).fit(X, y)
    found = model.findings_
    assert found.members.errors.shape == (len(model.member_names_),)
    text = page(model)
    for each in found.member_advice(model.member_names_):
        assert each.text in text
