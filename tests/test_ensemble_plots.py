"""Pictures of any ensemble: what is drawn is what the models predict."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as sk
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_moons
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

import committee as cm
from committee.theory import margins

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_windows():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(120, noise=0.3, random_state=0)
    return X, np.array(["left", "right"])[y]


@pytest.fixture(scope="module")
def surface():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (120, 2))
    return X, X[:, 0] ** 2 + X[:, 1] + rng.normal(0, 0.2, 120)


def n_circled(ax):
    (rings,) = [each for each in ax.collections if each.get_label() == "wrong"]
    return len(rings.get_offsets())


# --- decisions ----------------------------------------------------------------------------------

PAIR = [("line", LogisticRegression()), ("bayes", GaussianNB())]
CLASSIFIERS = [
    cm.RandomForestClassifier(3, random_state=0),
    cm.AdaBoostClassifier(n_estimators=3),
    cm.GradientBoostingClassifier(n_estimators=3),
    cm.VotingClassifier(PAIR),
    cm.StackingClassifier(PAIR),
    cm.DynamicSelectionClassifier(PAIR),
    sk.BaggingClassifier(n_estimators=3, random_state=0),
    sk.GradientBoostingClassifier(n_estimators=3, random_state=0),
    sk.VotingClassifier(PAIR),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda each: repr(each)[:40])
def test_wrong_rows_of_the_ensemble_and_of_members_are_circled(model, moons):
    X, y = moons
    model.fit(X, y)
    axes = cm.plot_decision(model, X, y)
    assert n_circled(axes[-1]) == (model.predict(X) != y).sum()
    name, error = axes[-1].get_title().split("\n")
    assert float(error.removeprefix("error ")) == pytest.approx(1 - model.score(X, y), abs=5e-4)
    assert len(axes) == 4 - ("Boosting" in repr(model)) - ("estimators=[" in repr(model))
    if "Gradient" in repr(model):
        staged = list(model.staged_predict(X))
        assert name == "all 3 rounds"
        assert [n_circled(ax) for ax in axes[:-1]] == [(each != y).sum() for each in staged[:-1]]


def test_members_are_chosen_by_name_or_place(moons):
    X, y = moons
    team = cm.VotingClassifier(PAIR, voting="soft").fit(X, y)
    axes = cm.plot_decision(team, X, y, members=["bayes", 0])
    assert [ax.get_title().split("\n")[0] for ax in axes] == ["bayes", "line", "ensemble of 2"]
    wrong = [(member.fit(X, y).predict(X) != y).sum() for _, member in PAIR[::-1]]
    assert [n_circled(ax) for ax in axes[:-1]] == wrong
    boosting = cm.GradientBoostingClassifier(n_estimators=9).fit(X, y)
    axes = cm.plot_decision(boosting, X, y, members=[2, 8], n_columns=1)
    assert [ax.get_title().split("\n")[0] for ax in axes] == [
        "after round 2",
        "after round 8",
        "all 9 rounds",
    ]


def middles(mesh):
    """The values of a map and the middles of its cells."""
    corners = mesh.get_coordinates()
    points = (corners[1:, 1:] + corners[:-1, :-1]) / 2
    return np.ravel(mesh.get_array()), points.reshape(-1, 2)


@pytest.mark.parametrize(
    "model",
    [
        cm.BaggingRegressor(n_estimators=3, random_state=0),
        cm.GradientBoostingRegressor(n_estimators=4),
        sk.VotingRegressor([("line", LinearRegression()), ("tree", cm.DecisionTreeRegressor())]),
    ],
    ids=lambda each: repr(each)[:30],
)
def test_maps_of_numbers_hold_the_predictions(model, surface):
    X, y = surface
    axes = cm.plot_decision(model.fit(X, y), X, y)
    values, points = middles(axes[-1].collections[0])
    assert_allclose(values, model.predict(points), atol=1e-9)
    error = np.sqrt(np.mean((model.predict(X) - y) ** 2))
    assert axes[-1].get_title().endswith(f"RMSE {error:.3g}")
    limits = {ax.collections[0].get_clim() for ax in axes}
    assert limits == {(y.min(), y.max())}


def test_one_column_of_numbers_is_drawn_as_lines(surface):
    X, y = surface
    frame = pd.DataFrame({"width": X[:, 0]})
    model = cm.BaggingRegressor(n_estimators=7, random_state=0).fit(frame, y)
    (ax,) = cm.plot_decision(model, frame, y)
    *members, whole = ax.lines[1:]
    assert len(members) == 7
    grid = pd.DataFrame({"width": whole.get_xdata()})
    assert_allclose(whole.get_ydata(), model.predict(grid))
    assert_allclose(members[2].get_ydata(), model.estimators_[2].predict(grid))
    assert ax.get_xlabel() == "width"


def test_decisions_in_plain_words(moons):
    X, y = moons
    forest = cm.RandomForestClassifier(2, random_state=0).fit(X, y)
    wide = cm.RandomForestClassifier(2, random_state=0).fit(np.c_[X, X], y)
    with pytest.raises(ValueError, match="X must have two numeric columns to be drawn; it has 4"):
        cm.plot_decision(wide, np.c_[X, X], y)
    with pytest.raises(ValueError, match=r"members must be .*got 2"):
        cm.plot_decision(forest, X, y, members=[2])
    with pytest.raises(ValueError, match="members must be among"):
        cm.plot_decision(forest, X, y, members=["tree"])
    with pytest.raises(TypeError, match="model must be a fitted ensemble"):
        cm.plot_decision([forest], X, y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        cm.plot_decision(forest, X, y[1:])


# --- residuals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        cm.GradientBoostingRegressor(n_estimators=6, learning_rate=0.5),
        sk.GradientBoostingRegressor(n_estimators=6, learning_rate=0.5),
        sk.HistGradientBoostingRegressor(max_iter=6, learning_rate=0.5),
    ],
    ids=lambda each: type(each).__module__[:14],
)
def test_residuals_and_steps_are_those_of_the_rounds(model, surface):
    X, y = surface
    x = X[:, :1]
    staged = list(model.fit(x, y).staged_predict(x))
    pairs = cm.plot_residuals(model, x, y, rounds=[1, 3])
    top, bottom = pairs[1]
    assert_allclose(bottom.lines[0].get_ydata(), y - staged[1])
    grid = top.lines[-1].get_xdata()[:, None]
    new = list(model.staged_predict(grid))
    assert_allclose(top.lines[-1].get_ydata(), new[2])
    assert_allclose(bottom.lines[1].get_ydata(), new[2] - new[1], atol=1e-12)
    first = pairs[0][1]
    assert_allclose(first.lines[0].get_ydata(), y - y.mean(), rtol=1e-6)
    assert_allclose(first.lines[1].get_ydata(), new[0] - y.mean(), atol=1e-6)


def test_other_losses_are_fitted_to_negative_gradients(surface):
    X, y = surface
    model = cm.GradientBoostingRegressor(n_estimators=3, loss="absolute_error").fit(X, y)
    _, bottom = cm.plot_residuals(model, X, y, rounds=[2], feature=1)[0]
    before = next(iter(model.staged_predict(X)))
    assert_array_equal(bottom.lines[0].get_ydata(), np.sign(y - before))
    assert_array_equal(bottom.lines[0].get_xdata(), X[:, 1])
    classifier = cm.GradientBoostingClassifier(n_estimators=3).fit(X, y > 0)
    top, bottom = cm.plot_residuals(classifier, X, y > 0, rounds=[2])[0]
    probability = next(iter(classifier.staged_predict_proba(X)))[:, 1]
    assert_allclose(bottom.lines[0].get_ydata(), (y > 0) - probability)
    assert top.get_ylabel() == "log-odds"
    scores = list(classifier.staged_decision_function(X))[1]
    assert_allclose(top.lines[1].get_ydata(), scores)


def test_residuals_in_plain_words(surface):
    X, y = surface
    model = cm.GradientBoostingRegressor(n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match="model must be fitted gradient boosting"):
        cm.plot_residuals(cm.RandomForestRegressor(2).fit(X, y), X, y)
    with pytest.raises(ValueError, match="feature must be"):
        cm.plot_residuals(model, X, y, feature=2)
    with pytest.raises(ValueError, match="there is no 'a'"):
        cm.plot_residuals(model, X, y, feature="a")
    three = cm.GradientBoostingClassifier(n_estimators=2).fit(X, np.digitize(y, [-1, 1]))
    with pytest.raises(ValueError, match="one score"):
        cm.plot_residuals(three, X, np.digitize(y, [-1, 1]))
    theirs = sk.GradientBoostingClassifier(n_estimators=2).fit(X, y > 0)
    with pytest.raises(ValueError, match="of this library"):
        cm.plot_residuals(theirs, X, y > 0)
    with pytest.raises(ValueError, match=r"rounds must be .*got 3"):
        cm.plot_residuals(model, X, y, rounds=[3])


# --- margins and probabilities ------------------------------------------------------------------


def drawn_margins(line):
    """The margins that a curve was drawn from."""
    return line.get_xdata()[1:-1]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda each: repr(each)[:40])
def test_margins_of_any_ensemble_end_with_those_of_its_probabilities(model, moons):
    X, y = moons
    model.fit(X, y)
    last = cm.plot_margins(model, X, y).lines[-2]
    if isinstance(model, cm.AdaBoostClassifier):
        expected = model.margins(X, y)
    elif hasattr(model, "predict_proba"):
        expected = margins(model.predict_proba(X), y, model.classes_)
    else:
        votes = [model.classes_[member.predict(X)] == y for member in model.estimators_]
        expected = 2 * np.mean(votes, axis=0) - 1
    assert_allclose(drawn_margins(last), np.sort(expected), atol=1e-9)


def test_margins_after_some_members(moons):
    X, y = moons
    forest = cm.RandomForestClassifier(30, random_state=0).fit(X, y)
    ax = cm.plot_margins(forest, X, y, rounds=[1, 4])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["1 member", "4 members"]
    shares = np.mean([tree.predict_proba(X) for tree in forest.estimators_[:4]], axis=0)
    assert_allclose(drawn_margins(ax.lines[1]), np.sort(margins(shares, y, forest.classes_)))
    with pytest.raises(ValueError, match="come in no order"):
        cm.plot_margins(cm.VotingClassifier(PAIR).fit(X, y), X, y, rounds=[1])


def test_calibration_is_that_of_scikit_learn(moons):
    X, y = make_moons(2000, noise=0.4, random_state=0)
    model = LogisticRegression().fit(X, y)
    line = cm.plot_calibration(model, X, y).lines[0]
    shares = model.predict_proba(X)[:, 1]
    share, mean = calibration_curve(y, shares, n_bins=10, strategy="quantile")
    assert_allclose(line.get_xdata(), mean, atol=2e-3)
    assert_allclose(line.get_ydata(), share, atol=2e-2)


def test_calibration_of_several_models_and_weights(moons):
    X, y = moons
    models = {name: member.fit(X, y) for name, member in PAIR}
    counts = np.arange(len(y)) % 3
    ax = cm.plot_calibration(models, X, y, counts)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["line", "bayes"]
    twice = cm.plot_calibration(models, np.repeat(X, counts, axis=0), np.repeat(y, counts))
    for one, other in zip(ax.lines, twice.lines, strict=True):
        assert_allclose(one.get_xydata(), other.get_xydata(), atol=1e-12)
    with pytest.raises(TypeError, match="predict_proba"):
        cm.plot_calibration(sk.VotingClassifier(PAIR).fit(X, y), X, y)
    with pytest.raises(ValueError, match="one to 5 classifiers"):
        cm.plot_calibration({}, X, y)


# --- diagnoses ----------------------------------------------------------------------------------


def test_a_diagnosis_is_drawn_in_panels(moons, surface):
    X, y = moons
    forest = cm.RandomForestClassifier(20, max_depth=2, random_state=0).fit(X[::2], y[::2])
    found = cm.diagnose(forest, X[1::2], y[1::2])
    axes = cm.plot_diagnosis(found)
    assert list(axes) == ["members", "growth", "margins", "calibration"]
    dots = axes["members"].collections[0].get_offsets()
    assert_allclose(dots[:, 1], 1 - found.diversity.accuracy)
    assert_allclose(axes["growth"].lines[2].get_ydata(), found.growth.measured)
    assert_allclose(drawn_margins(axes["margins"].lines[0]), np.sort(found.margins))
    (bars,) = cm.plot_diagnosis(found, panels=["combining"]).values()
    widths = [bar.get_width() for bar in bars.patches]
    assert_allclose(widths, [each.error_rate for each in found.combining])
    X, y = surface
    numbers = cm.diagnose(cm.RandomForestRegressor(9, random_state=0).fit(X[::2], y[::2]), X, y)
    assert list(cm.plot_diagnosis(numbers)) == ["members", "growth", "combining"]
    boosting = cm.GradientBoostingRegressor(n_estimators=9).fit(X[::2], y[::2])
    (ax,) = cm.plot_diagnosis(cm.diagnose(boosting, X[1::2], y[1::2])).values()
    assert ax.get_xlabel() == "rounds"
    with pytest.raises(ValueError, match="panels must be"):
        cm.plot_diagnosis(numbers, panels=["margins"])
    with pytest.raises(TypeError, match="diagnosis must be"):
        cm.plot_diagnosis(forest)


def test_members_that_advice_is_about_are_named(surface):
    X, y = surface
    team = [("line", LinearRegression().fit(X, y)), ("twin", LinearRegression().fit(X, y))]
    team += [
        (f"tree{k}", cm.DecisionTreeRegressor(max_depth=k).fit(X[::2], y[::2])) for k in (1, 3)
    ]
    found = cm.diagnose(team, X, y)
    ax = cm.plot_diagnosis(found, panels=["members"])["members"]
    colors = ax.collections[0].get_facecolors()
    spotted = {name for each in found.advice for name in each.members}
    assert {"line", "twin"} <= spotted
    is_spotted = [name in spotted for name in found.names]
    assert [np.allclose(colors[k], colors[0]) for k in range(4)] == is_spotted
