"""Pictures of votes and stacks: what is drawn is what the models say."""

import sys
import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from committee.combining.stacking.classifier import StackingClassifier
from committee.combining.stacking.regressor import StackingRegressor
from committee.combining.voting.classifier import VotingClassifier
from committee.combining.voting.regressor import VotingRegressor
from committee.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from committee.plots.stack import meta_weights, plot_stack
from committee.plots.votes import plot_votes
from committee.trees.tree_layout import class_color
from committee.trees.trees import DecisionTreeClassifier

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")
to_rgb = pytest.importorskip("matplotlib.colors").to_rgb


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(90, 3))
    return X, np.array(["a", "b", "c"])[(X[:, 0] > -0.4) * 1 + (X[:, 0] > 0.4)]


def members():
    return [
        ("stump", DecisionTreeClassifier(max_depth=1)),
        ("bayes", GaussianNB()),
        ("forest", RandomForestClassifier(10, random_state=0)),
    ]


def shown(ax):
    """Draw the figure, so that errors of drawing show."""
    ax.figure.canvas.draw()
    return ax


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_a_map_of_votes_has_a_colour_for_each_vote_and_widths_by_weight(rows):
    X, y = rows
    model = VotingClassifier(members(), weights=[1, 2, 1]).fit(X, y)
    ax = shown(plot_votes(model, X[:8]))
    votes = model.votes(X[:8])
    columns = [*votes.predicted.T, votes.prediction]
    assert len(ax.images) == len(columns)
    codes = {label: code for code, label in enumerate("abc")}
    for image, predicted in zip(ax.images, columns, strict=True):
        expected = [to_rgb(class_color(codes[label])) for label in predicted]
        np.testing.assert_allclose(image.get_array()[:, 0, :], expected)
    widths = [image.get_extent()[1] - image.get_extent()[0] for image in ax.images]
    assert widths[:3] == pytest.approx([0.25, 0.5, 0.25])
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert ticks == ["stump\n0.25", "bayes\n0.5", "forest\n0.25", "committee\n"]
    assert [tick.get_text() for tick in ax.get_yticklabels()][:2] == ["row 0", "row 1"]


def test_many_rows_are_put_in_the_order_of_the_answers_and_the_truth_stands_beside_them(rows):
    X, y = rows
    model = VotingClassifier(members(), voting="soft").fit(X, y)
    ax = shown(plot_votes(model, X, y))
    assert len(ax.images) == 5
    answers = ax.images[3].get_array()[:, 0, :]
    n_runs = 1 + (np.abs(np.diff(answers, axis=0)).sum(axis=1) > 0).sum()
    assert n_runs == 3
    assert "90 rows" in ax.get_ylabel()


def test_a_committee_that_abstains_leaves_white_cells(rows):
    X, y = rows
    model = VotingClassifier(members()[:2], tie_break="abstain", abstain_label="?").fit(X, y)
    ax = shown(plot_votes(model, X))
    abstains = (model.predict(X) == "?").sum()
    assert abstains > 0
    is_white = (ax.images[2].get_array()[:, 0, :] == 1).all(axis=1)
    assert is_white.sum() == abstains


def test_votes_on_numbers_are_dots_around_the_answers(rows):
    X, _ = rows
    team = [("line", LinearRegression()), ("mean", DummyRegressor())]
    model = VotingRegressor(team, weights=[3, 1]).fit(X, X[:, 0])
    ax = shown(plot_votes(model, X[:20], X[:20, 0]))
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.sort(model.predict(X[:20])))
    assert len(ax.collections) == 2
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["line, 0.75", "mean, 0.25", "committee", "truth"]
    shown(plot_votes(model, X[:1]))


def test_lines_of_a_stack_are_as_wide_as_weights(rng):
    X = rng.normal(size=(120, 2))
    y = X[:, 0] - 2 * X[:, 1]
    team = [("line", LinearRegression()), ("mean", DummyRegressor())]
    model = StackingRegressor(team, "convex").fit(X, y)
    ax = shown(plot_stack(model))
    weights = model.final_estimator_.weights_
    assert all(f"{weight:.2f}" in texts(ax) for weight in weights)
    assert {"2 columns", "line", "mean", "Convex\nRegressor", "meta-learner"} <= set(texts(ax))
    widest = max(ax.lines, key=lambda line: line.get_linewidth())
    assert widest.get_linewidth() == pytest.approx(6.8)


def test_coefficients_of_classes_are_those_of_a_member_in_the_score_of_the_class():
    final = LogisticRegression()
    final.coef_ = np.arange(18.0).reshape(3, 6)  # two members with three classes each
    by_hand = [(0 + 7 + 14) / 3, (3 + 10 + 17) / 3]
    assert meta_weights(final, 2, 3).tolist() == by_hand
    final.coef_ = np.array([[1.0, -2.0, 5.0]])
    assert meta_weights(final, 2, 2).tolist() == [1.0, -2.0]  # the third is a column of the table
    assert meta_weights(GaussianNB(), 2, 2) is None


def test_layers_and_columns_that_pass_by_are_drawn(rows):
    X, y = rows
    later = [[("second", LogisticRegression()), ("third", GaussianNB())]]
    final = RandomForestClassifier(5, random_state=0)
    model = StackingClassifier(members(), final, layers=later, passthrough=True).fit(X, y)
    ax = shown(plot_stack(model))
    assert {"layer 1", "layer 2", "second", "third", "RandomForest\nClassifier"} <= set(texts(ax))
    assert sum(line.get_linestyle() == ":" for line in ax.lines) == 2
    assert len(ax.figure.axes) == 1


def test_a_report_of_leakage_has_a_panel_of_its_own(rng):
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    fitted = [("forest", RandomForestRegressor(20, random_state=0).fit(X, y))]
    model = StackingRegressor(fitted, cv="prefit", leak_check=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    ax = shown(plot_stack(model))
    layers, panel = ax.figure.axes
    assert layers is ax
    assert panel.get_title() == "leaked"
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["forest", "stack"]
    own = plt.subplots()[1]
    assert plot_stack(model, ax=own) is own
    assert len(own.figure.axes) == 1


def test_wrong_arguments_are_named(rows):
    X, y = rows
    with pytest.raises(TypeError, match=r"must be a fitted stack.*got LogisticRegression"):
        plot_stack(LogisticRegression())
    with pytest.raises(TypeError, match="must be a fitted stack"):
        plot_stack(StackingClassifier(members()))
    model = VotingClassifier(members()).fit(X, y)
    with pytest.raises(ValueError, match="90"):
        plot_votes(model, X, y[:5])


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, rng):
    X = rng.normal(size=(30, 2))
    model = StackingRegressor([("line", LinearRegression())]).fit(X, X[:, 0])
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"plot_stack needs .*'committee\[plot\]'"):
        plot_stack(model)


def test_long_names_do_not_lie_over_each_other(rows):
    X, y = rows
    long = "a_tree_with_a_rather_long_name"
    trees = [(f"{long}{k}", DecisionTreeClassifier(max_depth=2)) for k in range(3)]
    votes = plot_votes(VotingClassifier(trees).fit(X, y), X)
    assert {label.get_rotation() for label in votes.get_xticklabels()} == {90.0}

    stack = plot_stack(StackingClassifier(trees).fit(X, y))
    stack.figure.canvas.draw()
    drawn = [text for text in stack.texts if text.get_text().startswith("a_tree")]
    boxes = [text.get_bbox_patch().get_window_extent() for text in drawn]
    assert len(boxes) == 3
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))
    assert max(box.width for box in boxes) < 130


def test_short_names_lie_flat_where_the_layout_leaves_room_for_them(rows):
    X, y = rows
    trees = [(f"tree {k}", DecisionTreeClassifier(max_depth=2)) for k in range(3)]
    ax = plot_votes(VotingClassifier(trees).fit(X, y), X, y)
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {0.0}
    ax.figure.canvas.draw()
    boxes = sorted(label.get_window_extent().extents.tolist() for label in ax.get_xticklabels())
    assert all(left[2] < right[0] for left, right in pairwise(boxes))
