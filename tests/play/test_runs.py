"""What a run tells is what the library answers, and what can be worked out by hand."""

import json
from fractions import Fraction

import numpy as np
import pytest
from play_tools import question, unpack
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import committee
from committee.play.examples import EXAMPLES, example_points
from committee.play.methods import METHODS
from committee.play.plane import share_parts
from committee.play.run import is_held_out, read_order, run


def answer(points, method, **more):
    return run(read_order(question(points, method, **more)))


def predictions(found, n_points):
    """The committee's class of each point after each round."""
    return unpack(found["committee_predictions"], "u1", len(found["rounds"]), n_points)


# --- AdaBoost: the lecture's numbers --------------------------------------------------------------


@pytest.fixture(scope="module")
def ten():
    return answer(example_points("ten"), "adaboost", rounds=3)


def test_the_ten_points_have_the_numbers_of_the_lecture(ten):
    errors = [Fraction(each["error"]).limit_denominator(100) for each in ten["rounds"]]
    assert errors == [Fraction(3, 10), Fraction(3, 14), Fraction(3, 22)]
    assert [round(each["beta"], 2) for each in ten["rounds"]] == [0.42, 0.65, 0.92]
    assert [each["committee_error"] for each in ten["rounds"]] == [0.3, 0.3, 0.0]
    assert ten["labels"] == ["x ≤ 2.5", "x ≤ 8.5", "y ≤ 6.5"]


def test_wrong_points_of_a_round_have_half_of_the_weight_in_the_next(ten):
    weights = unpack(ten["weights"], "<f4", 3, 10)
    assert np.allclose(weights[0], 1 / 10)
    assert sorted({Fraction(float(w)).limit_denominator(99) for w in weights[1]}) == [
        Fraction(1, 14),
        Fraction(1, 6),
    ]
    member = unpack(ten["member_predictions"], "u1", 3, 10)
    y = np.repeat([1, 0], 5)
    for number in (0, 1):
        assert weights[number + 1][member[number] != y].sum() == pytest.approx(0.5, abs=1e-6)


def test_cells_of_stumps_end_at_their_thresholds(ten):
    assert ten["plane"]["x"] == [0.0, 2.5, 8.5, 11.0]
    assert ten["plane"]["y"] == [0.0, 6.5, 11.0]
    shares = unpack(ten["committee"], "<u2", 3, 1, 2, 3)[2, 0] / 65535
    b1, b2, b3 = (each["beta"] for each in ten["rounds"])
    total = b1 + b2 + b3
    # Rows from below, columns from the left: who votes for the second class, +1.
    expected = np.array([[b1 + b2, b2, 0], [total, b2 + b3, b3]]) / total
    assert np.allclose(shares, expected, atol=1e-4)


def test_margins_are_votes_for_the_right_class_less_the_others(ten):
    margins = unpack(ten["margins"], "<f4", 3, 10)[2]
    b1, b2, b3 = (each["beta"] for each in ten["rounds"])
    # The point at (1, 2) is +1: two stumps say so, the third does not.
    assert margins[0] == pytest.approx((b1 + b2 - b3) / (b1 + b2 + b3), rel=1e-6)


# --- every method: the same as a fit of one's own -------------------------------------------------

TEAM = [
    ("tree", committee.DecisionTreeClassifier(max_depth=4)),
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
    ("bayes", GaussianNB()),
]
NAMES = [name for name, _ in TEAM]
BOOSTING = {"learning_rate": 0.3, "max_depth": 2, "l2_regularization": 1.0}

# The settings of a run, and the model that a user would write.
MODELS = {
    "tree": (
        {"criterion": "entropy"},
        committee.DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=8),
    ),
    "bagging": (
        {"max_depth": 3, "max_samples": 0.5},
        committee.BaggingClassifier(
            committee.DecisionTreeClassifier(max_depth=3), 7, max_samples=0.5, random_state=3
        ),
    ),
    "forest": (
        {"max_depth": 5, "max_features": 1},
        committee.RandomForestClassifier(7, max_depth=5, max_features=1, random_state=3),
    ),
    "adaboost": (
        {"max_depth": 2, "learning_rate": 0.5},
        committee.AdaBoostClassifier(
            committee.DecisionTreeClassifier(max_depth=2, criterion="error"),
            n_estimators=7,
            learning_rate=0.5,
        ),
    ),
    "boosting": (
        BOOSTING,
        committee.GradientBoostingClassifier(n_estimators=7, min_samples_leaf=1, **BOOSTING),
    ),
    "voting": (
        {"members": NAMES, "weights": {"tree": 0.2, "logistic": 0.3, "bayes": 0.5}},
        committee.VotingClassifier(TEAM, voting="soft", weights=[0.2, 0.3, 0.5]),
    ),
    "stacking": (
        {"members": NAMES, "folds": 3},
        committee.StackingClassifier(TEAM, cv=3, stack_method="predict_proba", random_state=3),
    ),
}


@pytest.mark.parametrize("points", ["moons", "clouds"])
@pytest.mark.parametrize("method", METHODS)
def test_the_last_committee_is_the_model_that_a_user_would_fit(method, points, request):
    points = request.getfixturevalue(points)
    settings, model = MODELS[method]
    rounds = {"rounds": 7} if METHODS[method].rounds else {}
    found = answer(points, method, settings=settings, seed=3, **rounds)
    model.fit(points.places, points.codes)
    last = len(found["rounds"]) - 1
    across, up = (np.array(found["plane"][key]) for key in ("x", "y"))
    grid = np.meshgrid((across[1:] + across[:-1]) / 2, (up[1:] + up[:-1]) / 2)
    cells = np.column_stack([grid[0].ravel(), grid[1].ravel()])
    shares = unpack(found["committee"], "<u2", last + 1, -1, len(cells))[last] / 65535
    if method == "stacking":  # at the training points it tells what it has predicted
        assert (
            np.mean(model.predict(points.places) == predictions(found, len(points.codes))[-1]) == 1
        )
    else:
        assert (predictions(found, len(points.codes))[-1] == model.predict(points.places)).all()
    if method != "adaboost":  # whose probabilities are not shares of votes
        assert np.allclose(shares, model.predict_proba(cells).T[1:], atol=1e-4)
    errors = found["rounds"][-1]
    assert errors["committee_error"] == pytest.approx(1 - model.score(points.places, points.codes))
    assert errors["committee_unseen_error"] is None


@pytest.mark.parametrize("method", ["adaboost", "boosting", "forest"])
def test_each_round_is_that_of_the_model(method, clouds):
    settings, model = MODELS[method]
    found = answer(clouds, method, settings=settings, seed=3, rounds=7)
    model.fit(clouds.places, clouds.codes)
    staged = np.array(list(model.staged_predict(clouds.places)))
    assert (predictions(found, len(clouds.codes)) == staged).all()


@pytest.mark.parametrize("method", ["tree", "forest", "adaboost", "boosting"])
def test_cells_of_few_trees_are_exact_anywhere(method, moons, rng):
    settings, model = MODELS[method]
    found = answer(moons, method, settings=settings, seed=3, rounds=7)
    model.fit(moons.places, moons.codes)
    places = rng.uniform(-1.2, 1.2, (400, 2))
    across, up = (np.array(found["plane"][key]) for key in ("x", "y"))
    column = np.searchsorted(across, places[:, 0]) - 1
    row = np.searchsorted(up, places[:, 1]) - 1
    shape = (len(found["rounds"]), 1, len(up) - 1, len(across) - 1)
    shares = unpack(found["committee"], "<u2", *shape)[-1, 0, row, column]
    assert ((shares > 32767) == model.predict(places)).all()


# --- single methods -------------------------------------------------------------------------------


def gini(codes):
    return 1 - sum(np.mean(codes == code) ** 2 for code in np.unique(codes))


def test_a_split_of_a_tree_is_about_the_points_of_its_node(moons):
    found = answer(moons, "tree", rounds=6)
    weights = unpack(found["weights"], "<f4", len(found["rounds"]), len(moons.codes))
    wrong = []
    for numbers, inside in zip(found["rounds"], weights > 0, strict=True):
        values = moons.places[inside, numbers["feature"]]
        codes = moons.codes[inside]
        left = values <= numbers["threshold"]
        assert numbers["n"] == {"node": inside.sum(), "left": left.sum(), "right": (~left).sum()}
        rest = np.mean(left) * gini(codes[left]) + np.mean(~left) * gini(codes[~left])
        assert numbers["gain"] == pytest.approx(gini(codes) - rest)
        wrong.append(numbers["committee_error"])
    assert weights[0].all()
    assert len(set(found["labels"])) == 6
    assert wrong == sorted(wrong, reverse=True)


def test_bagging_counts_draws_and_tests_on_points_out_of_bag(moons):
    found = answer(moons, "bagging", rounds=25, settings={"max_depth": 3}, seed=5)
    tree = committee.DecisionTreeClassifier(max_depth=3)
    model = committee.BaggingClassifier(tree, 25, oob_score=True, random_state=5)
    model.fit(moons.places, moons.codes)
    weights = unpack(found["weights"], "<f4", 25, len(moons.codes))
    assert (weights.sum(axis=1) == 120).all()
    for numbers, counts, error in zip(
        found["rounds"], weights, model.oob_member_errors_, strict=True
    ):
        assert numbers["n_left_out"] == np.sum(counts == 0)
        assert numbers["member_oob_error"] == pytest.approx(error)
    for number, score in zip(model.oob_curve_.n_members, model.oob_curve_.score, strict=True):
        assert found["rounds"][number - 1]["oob_error"] == pytest.approx(1 - score)


@pytest.mark.parametrize("points", ["moons", "clouds"])
def test_the_formula_of_a_boosted_leaf_gives_its_value(points, request):
    points = request.getfixturevalue(points)
    found = answer(points, "boosting", rounds=6, settings={"l2_regularization": 2.0})
    for numbers in found["rounds"]:
        leaf = numbers["leaf"]
        step = leaf["residuals"] / (leaf["curvature"] + 2.0)
        assert leaf["value"] == pytest.approx(numbers["learning_rate"] * step)
    losses = [each["loss"] for each in found["rounds"]]
    assert losses == sorted(losses, reverse=True)
    assert [each["loss_before"] for each in found["rounds"][1:]] == losses[:-1]
    residuals = unpack(found["weights"], "<f4", 6, len(points.codes))
    shares = np.bincount(points.codes) / len(points.codes)
    assert np.allclose(residuals[0], 1 - shares[points.codes])


def test_members_of_a_stack_are_judged_on_points_they_have_not_seen(moons):
    settings = {"members": ["tree", "forest"], "folds": 4}
    found = answer(moons, "stacking", settings=settings)
    assert found["labels"] == ["Tree", "Forest", "Stack"]
    forest = committee.RandomForestClassifier(20, random_state=0).fit(moons.places, moons.codes)
    seen = 1 - forest.score(moons.places, moons.codes)
    assert found["rounds"][1]["fold_error"] > seen + 0.05
    final = found["rounds"][2]
    assert len(final["coefficients"]) == 2
    convex = answer(moons, "stacking", settings=settings | {"final": "convex"})["rounds"][2]
    assert sum(convex["coefficients"]) == pytest.approx(1)
    assert min(convex["coefficients"]) >= 0


def test_hard_votes_are_counted_with_their_weights(moons):
    weights = {"tree": 0.4, "logistic": 0.35, "bayes": 0.35}
    settings = {"members": NAMES, "weights": weights, "voting": "hard"}
    found = answer(moons, "voting", settings=settings)
    shape = (3, len(moons.codes))
    votes = unpack(found["member_predictions"], "u1", *shape)
    ones = sum(weights[name] * vote for name, vote in zip(NAMES, votes, strict=True))
    expected = (ones > sum(weights.values()) / 2).astype(int)
    assert (predictions(found, len(moons.codes))[-1] == expected).all()


# --- all of it ------------------------------------------------------------------------------------


def test_points_that_are_held_out_have_no_influence(moons):
    found = answer(moons, "adaboost", rounds=5, held_out=0.4)
    out = np.array(found["held_out"])
    assert 0.3 < len(out) / len(moons.codes) < 0.5
    weights = unpack(found["weights"], "<f4", 5, len(moons.codes))
    assert (weights[:, out] == 0).all()
    train = np.setdiff1d(np.arange(len(moons.codes)), out)
    stumps = committee.DecisionTreeClassifier(max_depth=1, criterion="error")
    model = committee.AdaBoostClassifier(stumps, n_estimators=5)
    model.fit(moons.places[train], moons.codes[train])
    errors = found["rounds"][-1]
    assert errors["committee_unseen_error"] == pytest.approx(
        1 - model.score(moons.places[out], moons.codes[out])
    )


def test_a_point_more_changes_nothing_about_who_is_held_out():
    codes = np.array([0, 1, 1, 2, 0, 1, 0, 0, 1, 2] * 6)
    for share in (0.0, 0.3, 0.5):
        found = is_held_out(codes, share, seed=4)
        for n_points in (1, 17, 40):
            assert (is_held_out(codes[:n_points], share, seed=4) == found[:n_points]).all()
        assert abs(found.mean() - share) < 0.06
    assert not is_held_out(np.array([0, 1, 2]), 0.5, seed=1).any()


def test_equal_shares_stay_with_the_first_class():
    assert share_parts(np.array([[0.5, 0.5], [1, 0], [0, 1]])).tolist() == [[32767, 0, 65535]]


@pytest.mark.parametrize("method", METHODS)
def test_the_largest_request_has_a_limited_answer(method):
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 1000)).tolist()
    codes = rng.integers(0, 4, 1000).tolist()
    content = {"points": {"x": x, "y": y, "class": codes}, "method": method}
    content["axes"] = {"x": [0, 1], "y": [0, 1]}
    if METHODS[method].rounds:
        content["rounds"] = 100
    found = run(read_order(content))
    pictures = len(found["committee"]) + len(found["member"])
    assert pictures <= 3_400_000  # 2.4 MB in base64, and the rims of cells
    assert len(json.dumps(found, allow_nan=False)) < 7_000_000


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "places",
    [
        [(0.0, 0.0), (1.0, 1.0)],
        [(0.5, 0.5)] * 12,
        [(-1e12, 1e12), (1e12, -1e12), (1e-300, 0.0), (0.0, 0.0)] * 3,
        [(0.0, k) for k in range(14)],
    ],
    ids=["two", "one place", "far", "a line"],
)
def test_hard_cases_have_an_answer_or_a_sentence(method, places):
    codes = [k % 2 for k in range(len(places))]
    x, y = ([place[axis] for place in places] for axis in (0, 1))
    axes = {"x": [-2e12, 2e12], "y": [-2e12, 2e12]}
    content = {"points": {"x": x, "y": y, "class": codes}, "axes": axes, "method": method}
    refusal = ""
    try:
        found = run(read_order(content | {"held_out": 0.3}))
    except ValueError as error:
        refusal = str(error)
    else:
        text = json.dumps(found, allow_nan=False)
        assert json.loads(text)["rounds"]
    assert refusal == "" or 20 < len(refusal) < 300


def test_classes_without_points_are_left_out(moons):
    content = question(moons, "forest", rounds=3)
    content["points"]["class"] = [3 * code for code in content["points"]["class"]]
    assert run(read_order(content))["classes"] == [0, 3]
    content["points"]["class"] = [2] * len(moons.codes)
    with pytest.raises(ValueError, match="two classes"):
        run(read_order(content))


def test_warnings_of_a_fit_are_notes():
    points = example_points("xor", 4, 0.0, seed=8)
    content = question(points, "adaboost", rounds=5)
    content["points"] = {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "class": [0, 1, 1, 0]}
    found = run(read_order(content))
    assert len(found["rounds"]) == 1
    assert "no better than chance" in found["notes"][0]


@pytest.mark.parametrize("name", [each.name for each in EXAMPLES])
def test_an_example_is_drawn_inside_of_its_axes_and_again_the_same(name):
    points, again = (example_points(name, 150, 0.4, seed=9) for _ in range(2))
    assert (points.places == again.places).all()
    low, high = np.array(points.axes).T
    assert (points.places > low).all()
    assert (points.places < high).all()
    assert set(points.codes) == set(range(len(points.classes)))
