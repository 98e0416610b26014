"""Pictures of trees: the layout, the matplotlib plot and the SVG of notebooks."""

import re
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sklearn
from hand_trees import view_of_sklearn
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from committee import DecisionTreeClassifier, ID3Classifier
from committee.plots.tree import plot_tree
from committee.trees.svg import tree_svg
from committee.trees.tree_layout import layout, shown_shares, wrapped

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def random_model(rng, n_rows=150, n_classes=3, **options):
    X = rng.normal(size=(n_rows, 4))
    names = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])
    y = names[rng.integers(0, n_classes, n_rows)]
    return TheirClassifier(random_state=0, **options).fit(X, y)


def test_neighbours_on_a_level_are_at_least_one_box_apart(rng):
    for n_rows in (2, 7, 40, 300):
        view, _ = view_of_sklearn(random_model(rng, n_rows))
        cards = layout(view, None, list("abcd"), 2)
        assert len(cards) == view.node_count
        assert min(card.x for card in cards) == 0
        for depth in range(view.max_depth + 1):
            places = [card.x for card in cards if card.depth == depth]
            assert all(b - a >= 1 - 1e-9 for a, b in pairwise(places))


def test_a_parent_sits_midway_above_its_children(rng):
    view, _ = view_of_sklearn(random_model(rng))
    cards = layout(view, None, list("abcd"), 2)
    for index, card in enumerate(cards):
        below = [child.x for child in cards if child.parent == index]
        if below:
            assert card.x == pytest.approx((below[0] + below[-1]) / 2)


def test_nodes_below_max_depth_are_counted_instead_of_drawn(rng):
    view, _ = view_of_sklearn(random_model(rng))
    cards = layout(view, 2, list("abcd"), 2)
    assert max(card.depth for card in cards) == 2
    drawn_leaves = sum(card.is_leaf for card in cards)
    assert drawn_leaves + sum(card.hidden_leaves for card in cards) == view.n_leaves


def box_patches(ax):
    return [p for p in ax.patches if isinstance(p, matplotlib.patches.FancyBboxPatch)]


def test_boxes_do_not_overlap_and_texts_stay_inside_theirs(rng):
    view, _ = view_of_sklearn(random_model(rng, max_depth=5), ["a", "bb", "a long name", "$x^2$"])
    texts = plot_tree(view)
    ax = plt.gca()
    renderer = ax.figure.canvas.get_renderer()
    boxes = [patch.get_window_extent(renderer) for patch in box_patches(ax)]
    assert len(boxes) == view.node_count
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
    for text in texts:
        extent = text.get_window_extent(renderer)
        assert any(
            box.x0 - 1 <= extent.x0 and extent.x1 <= box.x1 + 1 and box.y0 <= extent.y0
            for box in boxes
        ), text.get_text()


def test_boxes_say_what_was_asked_for():
    model = TheirClassifier().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    view, _ = view_of_sklearn(model, ["size"])
    words = [text.get_text() for text in plot_tree(view, node_ids=True)]
    assert words[:5] == ["size", "node = #0", "samples = 4", "impurity = 0.5", "value = [2, 2]"]
    assert words[5] == "low"
    words = [text.get_text() for text in plot_tree(view, label="root", proportion=True)]
    assert "samples = 100 %" in words
    assert "50 %" in words
    words = [
        text.get_text()
        for text in plot_tree(view, impurity=False, label="none", class_names=["H", "L"])
    ]
    assert words[:3] == ["size", "4", "[2, 2]"]
    assert "L" in words


def test_regression_trees_and_given_axes_work(rng):
    X = rng.normal(size=(60, 2))
    model = TheirRegressor(max_depth=3, random_state=0).fit(X, X[:, 0] * 1000)
    view, _ = view_of_sklearn(model)
    _, (left, right) = plt.subplots(1, 2, figsize=(12, 5))
    plot_tree(view, ax=right, filled=False, rounded=False, fontsize=6)
    assert len(box_patches(right)) == view.node_count
    assert not left.patches


def test_an_empty_current_figure_is_used_and_a_drawn_one_is_not():
    view, _ = view_of_sklearn(TheirClassifier().fit([[1.0], [2.0]], [0, 1]))
    figure = plt.figure()
    plot_tree(view)
    assert plt.get_fignums() == [figure.number]
    plot_tree(view)
    assert len(plt.get_fignums()) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "some"}, 'label must be "all", "root" or "none"; got \'some\''),
        ({"max_depth": -1}, "max_depth must be an int >= 0; got -1"),
        ({"precision": 1.5}, "precision must be an int >= 0; got 1.5"),
    ],
)
def test_wrong_options_are_named(options, message):
    view, _ = view_of_sklearn(TheirClassifier().fit([[1.0], [2.0]], [0, 1]))
    with pytest.raises(ValueError, match=message):
        plot_tree(view, **options)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    view, _ = view_of_sklearn(TheirClassifier().fit([[1.0], [2.0]], [0, 1]))
    with pytest.raises(ImportError, match=r"pip install 'committee\[plot\]'"):
        plot_tree(view)


def test_labels_are_wrapped_and_cut():
    assert wrapped("a, b", 20) == ["a, b"]
    lines = wrapped(", ".join(f"level{i}" for i in range(30)), 20)
    assert len(lines) == 2
    assert all(len(line) <= 22 for line in lines)
    assert lines[1].endswith("…")


def test_the_svg_is_well_formed_and_self_contained(rng):
    view, _ = view_of_sklearn(random_model(rng, n_classes=6))
    svg = tree_svg(view, max_depth=3)
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    cards = [node for node in root.iter() if node.get("class") == "card"]
    assert len(cards) == len(layout(view, 3, list("abcd"), 2))
    with pytest.raises(ValueError, match="max_depth must be an int >= 0"):
        tree_svg(view, max_depth=-1)


def test_hostile_names_stay_text_in_the_svg():
    script = "<script>alert(1)</script>"
    table = pd.DataFrame({"<b>&\"'\x00name": [script, "b\x07", script, "b\x07"]})
    model = DecisionTreeClassifier().fit(table, ["</text><script>", "ok"] * 2)
    root = ET.fromstring(tree_svg(model))
    assert not [node for node in root.iter() if node.tag.endswith("script")]
    words = "".join(root.itertext())
    assert "<script>" in words
    assert "<b>" in words


def test_a_fitted_estimator_shows_its_tree_in_notebooks():
    model = DecisionTreeClassifier()
    assert model._repr_svg_() is None
    assert "committee-tree" not in model._repr_mimebundle_()["text/html"]
    model.fit([[1.0], [2.0]], [0, 1])
    assert model._repr_svg_().startswith("<svg")
    assert "committee-tree" in model._repr_mimebundle_()["text/html"]
    assert "committee-tree" in model._repr_html_()
    with sklearn.config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_a_notebook_picture_of_thousands_of_branches_shows_the_heaviest(rng):
    names = np.array([f"level {k}" for k in range(3000)])
    many = names[rng.integers(0, 3000, 9000)]
    X = pd.DataFrame({"many": many, "few": rng.choice([*"abc"], 9000)})
    model = ID3Classifier().fit(X, rng.integers(0, 2, 9000))
    svg = model._repr_svg_()
    assert len(svg) < 100_000
    words = [text for node in ET.fromstring(svg).iter() for text in node.itertext()]
    n_branches = len(model.tree_.children(0))
    assert f"… {n_branches - 12} more" in words
    cards = layout(model.tree_, 1, list(X.columns), 2, most_branches=12)
    drawn = [card.node for card in cards[1:] if card.n_branches == 1]
    weights = model.tree_.weighted_n_node_samples
    others = sorted(set(model.tree_.children(0)) - set(drawn))
    assert len(drawn) == 12
    assert weights[drawn].min() >= weights[others].max()
    assert [card.n_branches for card in cards[1:] if card.node < 0] == [n_branches - 12]


def test_a_notebook_picture_of_many_classes_is_small(rng):
    y = rng.integers(0, 1500, 6000)
    model = DecisionTreeClassifier(max_depth=4).fit(rng.normal(size=(6000, 2)), y)
    svg = model._repr_svg_()
    assert len(svg) < 100_000
    shares = shown_shares(model.tree_, 0)
    assert len(shares) == 21
    assert sum(share for _, share in shares) == pytest.approx(1)
    largest = np.sort(np.bincount(y))[::-1][:20] / 6000
    assert sorted(share for _, share in shares[:20]) == pytest.approx(sorted(largest))


def test_text_too_small_to_be_read_is_said(rng):
    view, _ = view_of_sklearn(random_model(rng, 300))
    ax = plt.figure(figsize=(4, 3)).add_subplot()
    with pytest.warns(UserWarning, match=r"plot_tree shrinks its text to \d\.\d points") as caught:
        plot_tree(view, ax=ax)
    width, height = map(
        float, re.search(r"need ([\d.]+) x ([\d.]+) or", str(caught[0].message)).groups()
    )
    ax = plt.figure(figsize=(width + 0.1, height + 0.1)).add_axes((0, 0, 1, 1))
    texts = plot_tree(view, ax=ax)  # without a warning
    assert texts[0].get_fontsize() >= 5
    plot_tree(view, ax=plt.figure(figsize=(4, 3)).add_subplot(), max_depth=1)
