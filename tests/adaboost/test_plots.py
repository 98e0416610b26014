"""Pictures of AdaBoost: what is drawn is what happened."""

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    plot_adaboost,
    plot_margins,
    plot_rounds,
)
from committee.datasets import load_penguins, load_ten_points

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def lecture():
    X, y = load_ten_points()
    model = AdaBoostClassifier(n_estimators=3, criterion="error", keep_weights=True)
    return model.fit(X, y), X, y


@pytest.fixture
def rings(rng):
    """Three classes around the origin, two features."""
    X = rng.normal(size=(150, 2))
    return X, np.digitize(np.hypot(*X.T), [0.8, 1.5])


def shown(axes):
    """Draw the figure, so that errors of drawing show."""
    axes = axes if isinstance(axes, list) else [axes]
    axes[0].figure.canvas.draw()
    return axes


def points(ax, label):
    """Places and areas of the points with a label, by place."""
    (found,) = [each for each in ax.collections if each.get_label() == label]
    return {
        tuple(place): area
        for place, area in zip(
            np.asarray(found.get_offsets()).tolist(),
            np.broadcast_to(found.get_sizes(), len(found.get_offsets())).tolist(),
            strict=True,
        )
    }


def circled(ax):
    return set(points(ax, "wrong"))


def answer_at(ax, x, y):
    """The class whose colour the paper has at a point."""
    from matplotlib.colors import to_rgb

    from committee.trees.tree_layout import class_color, faded

    mesh = [each for each in ax.collections if hasattr(each, "_coordinates")]
    if mesh:
        across, up = mesh[0]._coordinates[0, :, 0], mesh[0]._coordinates[:, 0, 1]
        cells = np.asarray(mesh[0].get_array())
        color = cells[np.searchsorted(up, y) - 1, np.searchsorted(across, x) - 1]
    else:
        (color,) = [
            patch.get_facecolor()[:3]
            for patch in ax.patches
            if patch.contains_point(ax.transData.transform((x, y)))
        ]
    known = np.array([to_rgb(faded(class_color(code), 0.2)) for code in range(10)])
    (code,) = np.flatnonzero(np.abs(known - color).max(axis=1) < 0.01)
    return int(code)


# --- rounds -------------------------------------------------------------------------------------


def test_the_figures_of_the_lecture(lecture):
    model, X, y = lecture
    *rounds, last = shown(plot_rounds(model, X, y))
    # Weights by hand: three of ten wrong, then 1/14 and 1/6, then 1/22, 7/66 and 1/6.
    right = [{1, 2, 4, 3, 6, 9, 10}, {1, 2, 5, 8, 7, 9, 10}, {5, 8, 7, 3, 4, 6, 10}]
    weights = [
        dict.fromkeys(range(1, 11), 1 / 10),
        {x: 1 / 6 if x in (5, 7, 8) else 1 / 14 for x in range(1, 11)},
        {
            x: 7 / 66 if x in (5, 7, 8) else 1 / 6 if x in (3, 4, 6) else 1 / 22
            for x in range(1, 11)
        },
    ]
    area = None
    for ax, ok, weight in zip(rounds, right, weights, strict=True):
        drawn = points(ax, "1") | points(ax, "-1")
        assert len(drawn) == 10
        assert set(points(ax, "1")) == {tuple(row) for row in X[y == 1].tolist()}
        ratios = np.array([size / weight[place[0]] for place, size in drawn.items()])
        area = ratios[0] if area is None else area  # one scale for all panels
        assert ratios == pytest.approx(area)
        assert {place[0] for place in circled(ax)} == set(range(1, 11)) - ok
    lines = [[line.get_xydata().tolist() for line in ax.lines] for ax in rounds]
    assert lines == [[[[2.5, 0], [2.5, 1]]], [[[8.5, 0], [8.5, 1]]], [[[0, 6.5], [1, 6.5]]]]
    assert [ax.get_title().split("\n") for ax in [*rounds, last]] == [
        ["round 1", "error 0.300, weight 0.85, beta 0.42"],
        ["round 2", "error 0.214, weight 1.30, beta 0.65"],
        ["round 3", "error 0.136, weight 1.85, beta 0.92"],
        ["committee of 3", "training error 0.000"],
    ]
    assert circled(last) == set()


def test_the_paper_has_the_colour_of_the_answer(lecture):
    model, X, y = lecture
    *rounds, last = shown(plot_rounds(model, X, y))
    grid = np.random.default_rng(0).uniform(0.5, 10.4, size=(60, 2))
    for ax, asked in [*zip(rounds, model, strict=True), (last, model)]:
        predicted = np.searchsorted([-1, 1], asked.predict(grid))
        assert [answer_at(ax, *place) for place in grid] == predicted.tolist()


def test_circles_are_the_wrong_points_and_areas_the_weights_with_three_classes(rings):
    X, y = rings
    model = AdaBoostClassifier(n_estimators=12, keep_weights=True).fit(X, y)
    axes = shown(plot_rounds(model, X, y, rounds=[2, 7, 12], n_columns=2))
    D = model.trace_.distributions
    scales = []
    for ax, number in zip(axes, (2, 7, 12), strict=False):
        member = model[number - 1]
        wrong = {tuple(row) for row in X[member.predict(X) != y].tolist()}
        assert circled(ax) == wrong
        for label in range(3):
            drawn = points(ax, str(label))
            rows = np.flatnonzero(y == label)
            scales += [drawn[tuple(X[row].tolist())] / D[number - 1, row] for row in rows]
        (line,) = ax.lines
        place = line.get_xdata()[0] if member.tree_.feature[0] == 0 else line.get_ydata()[0]
        assert place == member.tree_.threshold[0]
    assert np.ptp(scales) < 1e-9 * scales[0]
    assert circled(axes[-1]) == {tuple(row) for row in X[model.predict(X) != y].tolist()}
    predicted = model.predict(X)
    assert [answer_at(axes[-1], *place) for place in X] == predicted.tolist()
    assert axes[0].get_subplotspec().get_gridspec().get_geometry() == (2, 2)


@pytest.mark.parametrize(
    ("n_rounds", "expected"), [(1, [1]), (5, [1, 2, 3, 4, 5]), (9, [1, 2, 3, 4, 9])]
)
def test_without_a_choice_the_first_rounds_and_the_last_are_drawn(rings, n_rounds, expected):
    X, y = rings
    model = AdaBoostClassifier(n_estimators=n_rounds, keep_weights=True).fit(X, y)
    axes = shown(plot_rounds(model, X, y))
    names = [ax.get_title().split("\n")[0] for ax in axes]
    assert names[:-1] == [f"round {number}" for number in expected]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_table_of_many_features_is_drawn_by_two_of_them(backend):
    pytest.importorskip(backend)
    X, y = load_penguins(backend=backend)
    model = AdaBoostClassifier(n_estimators=5, keep_weights=True).fit(X, y)
    axes = shown(plot_rounds(model, X, y, features=("flipper_length_mm", "bill_length_mm")))
    columns = X.to_pandas() if backend != "pandas" else X
    places = columns[["flipper_length_mm", "bill_length_mm"]].to_numpy(float)
    known = np.isfinite(places).all(axis=1)
    assert known.sum() == len(y) - 2  # two birds have no place
    for ax, member, rule in zip(axes, model, model.trace_.rules, strict=False):
        assert circled(ax) == {
            tuple(row) for row in places[known & (member.predict(X) != y)].tolist()
        }
        asked = rule.split()[0]
        if asked in ("flipper_length_mm", "bill_length_mm"):
            (line,) = ax.lines
            data = line.get_xdata() if asked == "flipper_length_mm" else line.get_ydata()
            assert data[0] == member.tree_.threshold[0]
            assert len(ax.patches) == 2
        else:
            assert len(ax.lines) == len(ax.patches) == 0
            assert [text.get_text() for text in ax.texts] == [f"splits by {asked}"]
    assert not axes[-1].patches
    assert not [e for e in axes[-1].collections if hasattr(e, "_coordinates")]
    assert axes[0].get_ylabel() == "bill_length_mm"
    assert [text.get_text() for text in axes[0].figure.legends[0].get_texts()] == [
        "Adelie", "Chinstrap", "Gentoo", "wrong",
    ]  # fmt: skip


def test_columns_in_another_order_and_frames_of_two_features(rings):
    pd = pytest.importorskip("pandas")
    X, y = rings
    frame = pd.DataFrame({"a": X[:, 0], "b": np.round(10 * X[:, 1]).astype(int)})
    model = AdaBoostClassifier(n_estimators=6, keep_weights=True).fit(frame, y)
    straight = shown(plot_rounds(model, frame, y))
    turned = shown(plot_rounds(model, frame[["b", "a"]], y, features=("b", "a")))
    predicted = model.predict(frame)
    for k, (a, b) in enumerate(frame.itertuples(index=False)):
        assert answer_at(straight[-1], a, b) == predicted[k]
        assert answer_at(turned[-1], b, a) == predicted[k]


@pytest.mark.parametrize(
    "learner", [LogisticRegression(), GaussianNB(), DecisionTreeClassifier(max_depth=3)]
)
def test_any_learner_has_a_map_of_its_answers(rings, learner):
    X, y = rings
    model = AdaBoostClassifier(learner, n_estimators=3, keep_weights=True).fit(X, y)
    axes = shown(plot_rounds(model, X, y))
    grid = np.random.default_rng(0).uniform(-1.5, 1.5, size=(50, 2))
    for ax, asked in [*zip(axes, model, strict=False), (axes[-1], model)]:
        predicted = asked.predict(grid)
        agree = np.mean([answer_at(ax, *place) == predicted[k] for k, place in enumerate(grid)])
        assert agree == 1.0 if isinstance(learner, DecisionTreeClassifier) else agree >= 0.9


def test_a_learner_that_sees_more_than_the_picture_has_no_map(rng):
    X = rng.normal(size=(60, 3))
    y = X.sum(axis=1) > 0
    model = AdaBoostClassifier(Perceptron(), n_estimators=2, keep_weights=True).fit(X, y)
    axes = shown(plot_rounds(model, X, y))
    assert [text.get_text() for text in axes[0].texts] == ["uses other features too"]
    assert not axes[0].patches


@pytest.mark.parametrize("variant", ["real", "gentle"])
def test_learners_without_a_weight_of_their_own_have_none_in_the_title(rings, variant):
    X, y = rings
    model = AdaBoostClassifier(n_estimators=2, variant=variant, keep_weights=True).fit(X, y)
    first, *_ = shown(plot_rounds(model, X, y))
    assert first.get_title() == f"round 1\nerror {model.estimator_errors_[0]:.3f}"


def test_validation_rows_have_no_weight_and_are_not_drawn(rings):
    X, y = rings
    model = AdaBoostClassifier(
        n_estimators=10, n_iter_no_change=10, keep_weights=True, random_state=0
    ).fit(X, y)
    first, *_ = shown(plot_rounds(model, X, y, rounds=1))
    n_drawn = sum(len(points(first, str(label))) for label in range(3))
    assert n_drawn == (model.trace_.distributions[0] > 0).sum() < len(y)


def test_the_rounds_name_what_they_cannot_draw(lecture, rings):
    model, X, y = lecture
    with pytest.raises(ValueError, match="keep_weights must be True"):
        plot_rounds(AdaBoostClassifier().fit(X, y), X, y)
    with pytest.raises(TypeError, match="model must be a fitted AdaBoostClassifier; got Ada"):
        plot_rounds(AdaBoostRegressor().fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"X must be the training table, which had 10 rows; got 9"):
        plot_rounds(model, X[:9], y[:9])
    with pytest.raises(ValueError, match="X and y must be the training rows"):
        plot_rounds(model, X[::-1], y)
    with pytest.raises(ValueError, match=r"rounds must be .*got 4"):
        plot_rounds(model, X, y, rounds=[1, 4])
    with pytest.raises(ValueError, match="rounds must name a round"):
        plot_rounds(model, X, y, rounds=[])
    with pytest.raises(ValueError, match="features must be two names or positions"):
        plot_rounds(model, X, y, features=[1])
    with pytest.raises(ValueError, match="features must be two different features"):
        plot_rounds(model, X, y, features=[1, 1])
    with pytest.raises(ValueError, match="there is no 'a'"):
        plot_rounds(model, X, y, features=["a", "b"])
    with pytest.raises(ValueError, match="n_columns must be"):
        plot_rounds(model, X, y, n_columns=0)
    one = AdaBoostClassifier(n_estimators=2, keep_weights=True).fit(X[:, :1], y)
    with pytest.raises(ValueError, match="X must have two numeric features to be drawn; it has 1"):
        plot_rounds(one, X[:, :1], y)
    birds, species = load_penguins()
    fitted = AdaBoostClassifier(n_estimators=2, keep_weights=True).fit(birds, species)
    with pytest.raises(ValueError, match="'island' is not"):
        plot_rounds(fitted, birds, species, features=("island", "year"))


def test_a_number_that_is_a_category_is_not_numeric(rings):
    X, y = rings
    X = np.column_stack([X, y])
    model = AdaBoostClassifier(n_estimators=2, keep_weights=True, categorical_features=[2])
    with pytest.raises(ValueError, match="'feature_2' is not"):
        plot_rounds(model.fit(X, y), X, y, features=(0, 2))


# --- curves -------------------------------------------------------------------------------------


def drawn_lines(ax):
    return {line.get_label(): line.get_ydata() for line in ax.lines}


def test_the_curves_are_the_trace(lecture):
    model, *_ = lecture
    (ax,) = shown(plot_adaboost(model))
    lines, trace = drawn_lines(ax), model.trace_
    assert lines["learner of the round"].tolist() == trace.error.tolist()
    assert lines["committee, training rows"].tolist() == trace.train_error.tolist()
    assert lines["committee, bound"].tolist() == trace.bound.tolist()
    assert list(lines["chance"]) == [0.5, 0.5]
    errors = np.array([3 / 10, 3 / 14, 3 / 22])
    assert lines["committee, bound"] == pytest.approx(
        np.cumprod(2 * np.sqrt(errors * (1 - errors)))
    )
    assert plot_adaboost(model, ax=ax) is ax


def test_validation_rows_are_drawn_as_errors_with_the_best_round(rings):
    X, y = rings
    model = AdaBoostClassifier(n_estimators=30, n_iter_no_change=30)
    model.fit(X[:100], y[:100], eval_set=(X[100:], y[100:]))
    (ax,) = shown(plot_adaboost(model))
    lines = drawn_lines(ax)
    assert "committee, bound" not in lines  # SAMME with three classes has none
    assert list(lines["chance"]) == pytest.approx([2 / 3, 2 / 3])
    expected = [np.mean(predicted != y[100:]) for predicted in model.staged_predict(X[100:])]
    assert lines["committee, validation rows"][: len(model)] == pytest.approx(expected)
    assert len(lines["committee, validation rows"]) == len(model.validation_scores_)
    (text,) = [text.get_text() for text in ax.texts]
    assert text == f"round {len(model)}, {min(expected):.3g}"


def test_another_score_has_an_axis_of_its_own(rings):
    X, y = rings
    model = AdaBoostClassifier(n_estimators=10, scoring="neg_log_loss", n_iter_no_change=10)
    (ax,) = shown(plot_adaboost(model.fit(X, y, eval_set=(X, y))))
    (other,) = [each for each in ax.figure.axes if each is not ax]
    assert other.lines[0].get_ydata().tolist() == model.validation_scores_.tolist()
    assert "validation score" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_regressor_has_the_losses_of_its_learners(rings):
    X, _ = rings
    model = AdaBoostRegressor(n_estimators=8, random_state=0).fit(X, X[:, 0])
    (ax,) = shown(plot_adaboost(model))
    lines = drawn_lines(ax)
    assert lines["learner of the round"].tolist() == model.estimator_errors_.tolist()
    assert set(lines) == {"learner of the round", "chance"}
    assert ax.get_ylabel() == "mean loss"


def test_curves_of_something_else_are_refused():
    with pytest.raises(TypeError, match="got DecisionTreeClassifier"):
        plot_adaboost(DecisionTreeClassifier())


# --- margins ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_curves_are_the_distributions_of_margins(rings, n_classes):
    X, y = rings
    y = np.minimum(y, n_classes - 1)
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    (ax,) = shown(plot_margins(model, X, y, rounds=[1, 6, 20]))
    curves = [line for line in ax.lines if line.get_label().endswith(("round", "rounds"))]
    assert [line.get_label() for line in curves] == ["1 round", "6 rounds", "20 rounds"]
    for line, number in zip(curves, (1, 6, 20), strict=True):
        shares = np.zeros((len(y), n_classes))
        for member, weight in zip(model[:number], model.estimator_weights_[:number], strict=True):
            shares[np.arange(len(y)), member.predict(X)] += weight
        shares /= model.estimator_weights_[:number].sum()
        own = shares[np.arange(len(y)), y].copy()
        shares[np.arange(len(y)), y] = -1
        margins = own - shares.max(axis=1)
        x, heights = line.get_data()
        for place in np.linspace(-0.95, 0.95, 40):
            drawn = heights[np.searchsorted(x, place, side="right") - 1]
            assert drawn == pytest.approx(np.mean(margins <= place))
        assert (x[0], heights[0], x[-1], heights[-1]) == (-1, 0, 1, 1)
    last = np.sort(model.margins(X, y))
    assert curves[-1].get_xdata()[1:-1] == pytest.approx(last)


@pytest.mark.parametrize(
    ("n_rounds", "names"),
    [(1, ["1 round"]), (3, ["3 rounds"]), (80, ["5 rounds", "20 rounds", "80 rounds"])],
)
def test_without_a_choice_an_early_a_middle_and_the_last_round_are_drawn(rings, n_rounds, names):
    X, y = rings
    model = AdaBoostClassifier(n_estimators=n_rounds).fit(X, y)
    (ax,) = shown(plot_margins(model, X, y))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == names


def test_margins_name_what_they_cannot_draw(rings):
    X, y = rings
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match=r"rounds must be .*got 0"):
        plot_margins(model, X, y, rounds=[0])
    with pytest.raises(TypeError, match="model must be a fitted ensemble of classes"):
        plot_margins(AdaBoostRegressor(), X, y)
    with pytest.raises(ValueError, match="one alone has no margin"):
        plot_margins(AdaBoostClassifier().fit(X, np.zeros(len(X))), X, np.zeros(len(X)))
    with pytest.raises(ValueError, match=r"inconsistent numbers"):
        plot_margins(model, X, y[:9])


@pytest.mark.parametrize("draw", [plot_rounds, plot_margins])
def test_without_matplotlib_the_message_says_what_to_install(lecture, monkeypatch, draw):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'committee\[plot\]'"):
        draw(*lecture)
