"""Ensemble selection: the greedy algorithm beside a naive one, weights, promises, files, errors."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    roc_auc_score,
)
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import committee
from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from committee.combining.selection.candidate_scores import AnyMetric, MemberPredictions
from committee.combining.selection.greedy_selection import (
    SelectionRules,
    cross_fitted,
    mean_weights,
    select_greedily,
)
from committee.datasets import load_penguins
from committee.evaluation.scored_target import ScoredTarget


@pytest.fixture(scope="module")
def classes():
    return make_classification(240, 8, n_informative=4, n_classes=3, flip_y=0.2, random_state=1)


@pytest.fixture(scope="module")
def numbers():
    X, y = make_regression(200, 6, n_informative=4, noise=30, random_state=2)
    return X, y + 40 * np.sin(X[:, 0] * 3)


def library():
    return [
        ("line", LogisticRegression()),
        ("near", KNeighborsClassifier()),
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ]


def reals():
    return [
        ("line", LinearRegression()),
        ("near", KNeighborsRegressor()),
        ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
        ("mean", DummyRegressor()),
    ]


def random_opinions(rng, n_members=6, n_rows=60, n_classes=3, weights=None):
    predicted = rng.dirichlet(np.ones(n_classes), (n_members, n_rows))
    codes = rng.integers(0, n_classes, (n_rows, 1)).astype(np.int32)
    target = ScoredTarget(codes, [np.arange(n_classes)], weights=weights)
    return predicted, target


# --- the algorithm, beside one that looks at everything anew ------------------------------------


def naive_selection(predicted, score, n_rounds, first=()):
    """Greedy forward selection with replacement, each committee evaluated from scratch."""
    bag, scores = [], []
    for number in range(n_rounds):
        if number < len(first):
            bag.append(first[number])
        else:
            found = [score(predicted[[*bag, j]].mean(axis=0)) for j in range(len(predicted))]
            bag.append(int(np.argmax(found)))
        scores.append(score(predicted[bag].mean(axis=0)))
    return bag, scores


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["neg_log_loss", "accuracy", "neg_brier", "roc_auc_ovr"])
def test_picks_are_those_of_brute_force_for_classes(name, weighted, rng):
    weights = rng.uniform(0.5, 2, 60) if weighted else None
    predicted, target = random_opinions(rng, weights=weights)
    labels = target.codes[:, 0]

    def score(p):
        if name == "neg_log_loss":
            return -log_loss(labels, p, sample_weight=weights)
        if name == "accuracy":
            return accuracy_score(labels, p.argmax(axis=1), sample_weight=weights)
        if name == "roc_auc_ovr":
            return roc_auc_score(labels, p, multi_class="ovr", sample_weight=weights)
        return -np.average(((p - np.eye(3)[labels]) ** 2).sum(axis=1), weights=weights)

    path = select_greedily(MemberPredictions(predicted, target, name).scorer(), 12)
    members, scores = naive_selection(predicted, score, 12)
    assert path.members.tolist() == members
    np.testing.assert_allclose(path.scores, scores, rtol=1e-10)


@pytest.mark.parametrize(
    "name",
    ["neg_mean_squared_error", "neg_root_mean_squared_error", "r2", "neg_mean_absolute_error"],
)
def test_picks_are_those_of_brute_force_for_numbers(name, rng):
    y = rng.normal(size=80)
    predicted = y[:, None] + rng.normal(0, 1, (7, 80, 1))
    scorer = get_scorer(name)

    def score(values):
        return scorer._sign * scorer._score_func(y, values[:, 0])

    path = select_greedily(
        MemberPredictions(predicted, ScoredTarget(reals=y[:, None]), name).scorer(), 15
    )
    members, scores = naive_selection(predicted, score, 15)
    assert path.members.tolist() == members
    np.testing.assert_allclose(path.scores, scores, rtol=1e-10)


@pytest.mark.parametrize("name", ["neg_log_loss", "accuracy"])
def test_fast_scores_are_those_of_scikit_learns_scorers(name, rng):
    predicted, target = random_opinions(rng, weights=rng.integers(1, 4, 60).astype(float))
    predictions = MemberPredictions(predicted, target, name)
    fast, slow = predictions.scorer(), AnyMetric(predictions)
    weights, steps = rng.uniform(0, 1, 6), rng.uniform(0.5, 1, 6)
    assert type(fast) is not AnyMetric
    np.testing.assert_allclose(fast.of(weights), slow.of(weights), rtol=1e-12)
    some = np.array([4, 0, 2])
    expected = slow.after(weights, steps, some)
    np.testing.assert_allclose(fast.after(weights, steps, some), expected, rtol=1e-12)
    order = rng.permutation(6)
    np.testing.assert_allclose(fast.along(order, steps), slow.along(order, steps), rtol=1e-12)


def test_sorted_start_takes_as_many_of_the_best_as_are_best_together(rng):
    predicted, target = random_opinions(rng)
    scorer = MemberPredictions(predicted, target, "neg_log_loss").scorer()
    order = np.argsort(-scorer.alone())
    together = [
        -log_loss(target.codes[:, 0], predicted[order[: k + 1]].mean(axis=0)) for k in range(6)
    ]
    n_best = int(np.argmax(together)) + 1
    (path,) = SelectionRules(20, "auto", 1, 0.5, 0).paths(scorer)
    assert path.members[:n_best].tolist() == order[:n_best].tolist()
    (path,) = SelectionRules(20, 4, 1, 0.5, 0).paths(scorer)
    assert path.members[:4].tolist() == order[:4].tolist()
    (path,) = SelectionRules(20, 0, 1, 0.5, 0).paths(scorer)
    assert path.members.tolist() == select_greedily(scorer, 20).members.tolist()


def test_bags_pick_from_their_members_and_weights_are_averaged(rng):
    predicted, target = random_opinions(rng, n_members=9)
    scorer = MemberPredictions(predicted, target, "neg_log_loss").scorer()
    rules = SelectionRules(10, 0, 5, 0.4, seed=3)
    paths = rules.paths(scorer)
    for bag, path in enumerate(paths):
        members = rules._bag(bag, 9)
        assert len(members) == 4
        assert set(path.members) <= set(members)
    parts = [np.bincount(p.members[: p.n_best], minlength=9) / p.n_best for p in paths]
    np.testing.assert_allclose(mean_weights(paths, 9), np.mean(parts, axis=0), rtol=1e-12)
    assert len({tuple(path.members) for path in paths}) > 1


def test_of_equal_members_the_first_is_picked(rng):
    predicted, target = random_opinions(rng, n_members=2)
    twins = predicted[[0, 1, 0, 1, 1]]
    for name in ("neg_log_loss", "neg_brier", "accuracy", "roc_auc_ovr"):
        path = select_greedily(MemberPredictions(twins, target, name).scorer(), 8)
        assert set(path.members) <= {0, 1}


def test_the_selection_goes_back_to_its_best_round(rng):
    predicted, target = random_opinions(rng)
    scorer = MemberPredictions(predicted, target, "neg_log_loss").scorer()
    (path,) = paths = SelectionRules(30, 0, 1, 1.0, 0).paths(scorer)
    assert path.n_best == int(np.argmax(path.scores)) + 1 < 30
    np.testing.assert_allclose(scorer.of(mean_weights(paths, 6)), path.scores.max(), rtol=1e-12)


def test_members_join_once_without_replacement(rng):
    predicted, target = random_opinions(rng)
    path = select_greedily(
        MemberPredictions(predicted, target, "neg_brier").scorer(), 6, with_replacement=False
    )
    assert sorted(path.members) == list(range(6))


def test_what_is_found_is_judged_by_rows_without_a_say(rng):
    """Labels are noise, and so are the models: picking promises much, and nothing is there."""
    predicted, target = random_opinions(rng, n_members=40, n_rows=200, n_classes=2)
    predictions = MemberPredictions(predicted, target, "accuracy")
    rules = SelectionRules(10, 0, 1, 1.0, 0)

    def chosen(scorer):
        return mean_weights(rules.paths(scorer), 40)

    def trial(choosing, judging):
        return judging.scorer().of(chosen(choosing.scorer()))

    promised = predictions.scorer().of(chosen(predictions.scorer()))
    found = cross_fitted(predictions, trial, seed=0)
    assert promised > 0.6
    assert abs(found - 0.5) < 0.1


# --- the estimators -----------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "accuracy", "roc_auc_ovr"])
def test_the_classifier_is_greedy_selection_on_predictions_of_folds(scoring, classes):
    X, y = classes
    labels = np.array(["a", "b", "c"])[y]
    model = EnsembleSelectionClassifier(
        library(), n_rounds=15, scoring=scoring, sorted_init=0, cv=4
    ).fit(X, labels)
    predicted = np.array(
        [cross_val_predict(each, X, y, cv=4, method="predict_proba") for _, each in library()]
    )

    def score(p):
        if scoring == "accuracy":
            return accuracy_score(y, p.argmax(axis=1))
        return (
            roc_auc_score(y, p, multi_class="ovr") if scoring == "roc_auc_ovr" else -log_loss(y, p)
        )

    members, scores = naive_selection(predicted, score, 15)
    n_best = int(np.argmax(scores)) + 1
    np.testing.assert_allclose(
        model.weights_, np.bincount(members[:n_best], minlength=4) / n_best, rtol=1e-12
    )
    np.testing.assert_allclose(model.selection_.promised, max(scores), rtol=1e-10)
    np.testing.assert_allclose(
        model.selection_.own_scores, [score(p) for p in predicted], rtol=1e-10
    )
    whole = [each.fit(X, y).predict_proba(X) for _, each in library()]
    expected = np.tensordot(model.weights_, whole, axes=1)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10)
    assert (model.predict(X) == np.array(["a", "b", "c"])[expected.argmax(axis=1)]).all()


def test_the_regressor_is_greedy_selection_on_predictions_of_folds(numbers):
    X, y = numbers
    model = EnsembleSelectionRegressor(reals(), n_rounds=20, sorted_init=0, cv=KFold(5)).fit(X, y)
    predicted = np.array([cross_val_predict(each, X, y, cv=KFold(5)) for _, each in reals()])
    members, scores = naive_selection(predicted, lambda p: -mean_squared_error(y, p), 20)
    n_best = int(np.argmax(scores)) + 1
    np.testing.assert_allclose(
        model.weights_, np.bincount(members[:n_best], minlength=4) / n_best, rtol=1e-12
    )
    whole = np.array([each.fit(X, y).predict(X) for _, each in reals()])
    np.testing.assert_allclose(model.predict(X), model.weights_ @ whole, rtol=1e-10)


def test_models_that_do_not_help_are_not_fitted_again(classes):
    X, y = classes
    fits = []

    class Counted(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            fits.append(len(y))
            return super().fit(X, y, sample_weight)

    members = [("line", LogisticRegression()), ("guess", Counted())]
    model = EnsembleSelectionClassifier(members, scoring="accuracy", cv=3).fit(X, y)
    assert model.weights_.tolist() == [1.0, 0.0]
    assert model.named_estimators_.guess == "drop"
    assert len(model.estimators_) == 1
    assert sorted(fits) == [160, 160, 160]


@pytest.mark.parametrize("cv", [3, 0.3, "time", "oob", KFold(3), [(range(100), range(100, 240))]])
@pytest.mark.parametrize("refit", [True, False])
def test_every_kind_of_cv_works(cv, refit, classes):
    X, y = classes
    members = [
        ("forest", RandomForestClassifier(20, random_state=0)),
        ("line", LogisticRegression()),
        ("vote", LinearSVC()),
    ]
    model = EnsembleSelectionClassifier(members, cv=cv, refit=refit, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.5


def test_fitted_models_are_taken_as_they_are(classes):
    X, y = classes
    labels = np.array(["a", "b", "c"])[y]
    members = [(name, each.fit(X[:120], labels[:120])) for name, each in library()]
    model = EnsembleSelectionClassifier(members, cv="prefit").fit(X[120:], labels[120:])
    for name, member in members:
        assert model.named_estimators_[name] in (member, "drop")
    assert model.selection_.to_frame().loc["line", "score"] == pytest.approx(
        -log_loss(labels[120:], members[0][1].predict_proba(X[120:]))
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_seed_gives_the_same_model_for_any_number_of_workers(n_jobs, classes):
    X, y = classes
    members = [
        ("theirs", TheirForest(10)),
        ("ours", RandomForestClassifier(10)),
        ("boosting", GradientBoostingClassifier(n_estimators=10)),
    ]
    options = {"n_bags": 4, "random_state": 5, "cv": 0.4}
    one = EnsembleSelectionClassifier(members, n_jobs=1, **options).fit(X, y)
    two = EnsembleSelectionClassifier(members, n_jobs=n_jobs, **options).fit(X, y)
    assert one.weights_.tolist() == two.weights_.tolist()
    assert one.selection_.found == two.selection_.found
    assert (one.predict_proba(X) == two.predict_proba(X)).all()


@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_a_row_of_weight_two_is_the_row_twice_and_one_of_weight_zero_is_absent(scoring, classes):
    X, y = classes
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(y))
    twice = np.repeat(np.arange(len(y)), weights)
    train = np.arange(len(y)) < 150
    splits = [(np.flatnonzero(train), np.flatnonzero(~train))]
    places = [tuple(np.flatnonzero(np.isin(twice, part)) for part in splits[0])]
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
    members.append(("deep", DecisionTreeClassifier(max_depth=5)))
    options = {"n_rounds": 8, "scoring": scoring, "n_bags": 3, "random_state": 0}
    one = EnsembleSelectionClassifier(members, cv=splits, **options)
    one.fit(X, y, sample_weight=weights)
    two = EnsembleSelectionClassifier(members, cv=places, **options).fit(X[twice], y[twice])
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-12)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-6)


def test_raw_tables_and_metrics_of_ones_own(rng):
    X, y = load_penguins()
    members = [
        ("forest", RandomForestClassifier(20)),
        ("tree", DecisionTreeClassifier(max_depth=2)),
        ("gone", "drop"),
    ]
    model = EnsembleSelectionClassifier(
        members, scoring=lambda truth, predicted: (truth == predicted).mean(), random_state=0
    ).fit(X, y)
    assert model.score(X, y) > 0.95
    assert len(model.weights_) == 2
    assert model.named_estimators_.gone == "drop"
    assert list(model.feature_names_in_) == list(X.columns)
    shuffled = X[list(X.columns)[::-1]]
    assert (model.predict(shuffled) == model.predict(X)).all()


def test_groups_stay_together(classes):
    X, y = classes
    groups = np.arange(len(y)) // 4
    model = EnsembleSelectionClassifier(library(), cv=3, random_state=0)
    model.fit(X, y, groups=groups)
    assert np.isfinite(model.selection_.found)


def test_the_record_tells_members_steps_and_curves(classes):
    X, y = classes
    model = EnsembleSelectionClassifier(library(), n_rounds=7, n_bags=3, random_state=0).fit(X, y)
    record = model.selection_
    frame = record.to_frame()
    assert set(frame.index) == {"line", "near", "bayes", "tree"}
    assert frame["weight"].is_monotonic_decreasing
    assert record.steps().groupby("bag").size().tolist() == [7, 7, 7]
    assert list(record.curve().columns) == ["promised", "found"]
    assert "promised" in repr(record)
    assert "found" in repr(record)


# --- conventions and files ----------------------------------------------------------------------


@parametrize_with_checks(
    [
        EnsembleSelectionClassifier(
            [
                ("tree", DecisionTreeClassifier(max_depth=3)),
                ("line", LogisticRegression()),
            ],
            n_rounds=5,
            cv=3,
        ),
        EnsembleSelectionRegressor(
            [("tree", DecisionTreeRegressor(max_depth=3)), ("line", Ridge())], n_rounds=5, cv=3
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_parameters_of_members_are_reached_by_name(classes):
    model = EnsembleSelectionClassifier(library())
    model.set_params(tree__max_depth=7, line="drop")
    assert model.get_params()["tree__max_depth"] == 7
    model.fit(*classes)
    assert model.selection_.names == ("near", "bayes", "tree")


def test_models_are_saved_and_loaded(tmp_path, numbers):
    X, y = numbers
    members = [
        ("forest", RandomForestRegressor(10, random_state=0)),
        ("tree", DecisionTreeRegressor(max_depth=3)),
    ]
    for refit in (True, False):
        model = EnsembleSelectionRegressor(members, refit=refit, random_state=0).fit(X, y)
        committee.save(model, tmp_path / "model.committee")
        loaded = committee.load(tmp_path / "model.committee")
        assert (loaded.predict(X) == model.predict(X)).all()
        assert loaded.selection_.to_frame().equals(model.selection_.to_frame())
        assert loaded.selection_.steps().equals(model.selection_.steps())


@pytest.mark.parametrize(
    ("params", "kind", "match"),
    [
        ({"n_rounds": 0}, ValueError, "n_rounds must be .*got 0"),
        ({"n_rounds": 2.5}, TypeError, "n_rounds must be"),
        ({"n_bags": 0}, ValueError, "n_bags must be"),
        ({"bag_fraction": 0.0}, ValueError, "bag_fraction must be"),
        ({"bag_fraction": 1.5}, ValueError, "bag_fraction must be"),
        ({"sorted_init": -1}, ValueError, "sorted_init must be"),
        ({"sorted_init": "best"}, ValueError, "sorted_init must be .*\"auto\"; got 'best'"),
        ({"scoring": "nonsense"}, ValueError, "scoring must be .*got 'nonsense'"),
        ({"scoring": True}, TypeError, "scoring must be"),
        ({"scoring": 3}, TypeError, "scoring must be"),
        ({"scoring": mean_absolute_error}, ValueError, "cannot score"),
        ({"scoring": "roc_auc"}, ValueError, "roc_auc_ovr"),
        ({"refit": "yes"}, TypeError, "refit must be"),
        ({"cv": 1}, ValueError, "cv must be"),
        ({"verbose": -1}, ValueError, "verbose must be"),
        ({"estimators": []}, ValueError, "non-empty list"),
        ({"estimators": [("a", LinearRegression())]}, ValueError, "should be a classifier"),
        ({"estimators": [("n_bags", GaussianNB())]}, ValueError, "conflict"),
    ],
)
def test_bad_parameters_are_named(params, kind, match, classes):
    X, y = classes
    labels = np.array(["a", "b", "c"])[y]
    with pytest.raises(kind, match=match):
        EnsembleSelectionClassifier(**{"estimators": library()} | params).fit(X, labels)


def test_an_error_is_no_score_to_maximize(numbers):
    def pinball_loss(truth, predicted):
        return np.abs(truth - predicted).mean()

    with pytest.raises(ValueError, match="greater_is_better=False"):
        EnsembleSelectionRegressor(reals(), scoring=pinball_loss).fit(*numbers)
    scorer = make_scorer(pinball_loss, greater_is_better=False)
    model = EnsembleSelectionRegressor(reals(), scoring=scorer, n_rounds=5).fit(*numbers)
    assert model.selection_.promised < 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_member_without_finite_predictions_is_named(value, numbers):
    class Broken(LinearRegression):
        def predict(self, X):
            return np.full(len(X), value)

    with pytest.raises(ValueError, match="member 'broken' predicts NaN or infinity"):
        EnsembleSelectionRegressor([*reals(), ("broken", Broken())]).fit(*numbers)


def test_accuracy_of_many_classes_with_ties_is_that_of_the_first_of_the_best(rng):
    n_members, n_rows, n_classes = 6, 150, 12
    predicted = np.eye(n_classes)[
        rng.integers(0, n_classes, (n_members, n_rows))
    ]  # votes: many ties
    codes = rng.integers(0, n_classes - 1, (n_rows, 1)).astype(np.int32)  # a class without rows
    scorer = MemberPredictions(
        predicted, ScoredTarget(codes, [np.arange(n_classes)]), "accuracy"
    ).scorer()
    weights = np.array([1.0, 0, 2, 0, 0, 1])

    def naive(weights):
        return np.mean(np.tensordot(weights, predicted, 1).argmax(axis=1) == codes[:, 0])

    steps, everybody = np.ones(n_members), np.arange(n_members)
    expected = [naive(weights + np.eye(n_members)[k]) for k in everybody]
    np.testing.assert_allclose(scorer.after(weights, steps, everybody), expected)
    assert scorer.of(weights) == pytest.approx(naive(weights))
