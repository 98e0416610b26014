"""Pictures of ensembles: what is drawn is what was given."""

import sys

import numpy as np
import pytest

from committee.evaluation.importance import Importances
from committee.evaluation.oob import OobCurve
from committee.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from committee.forests.tuning import TuningCandidate, TuningResult
from committee.plots.contributions import plot_contributions
from committee.plots.forest import plot_oob_curve, plot_proximity, plot_tuning
from committee.plots.importances import plot_importances
from committee.plots.intervals import plot_intervals
from committee.plots.votes import plot_votes

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def classes(rng):
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] > 0, "high", "low")
    return RandomForestClassifier(15, oob_score=True, random_state=0).fit(X, y), X, y


def shown(ax):
    """Draw the figure, so that errors of drawing show."""
    ax.figure.canvas.draw()
    return ax


def test_a_curve_is_drawn_with_its_last_score(classes):
    curve = OobCurve(np.array([1, 2, 4]), np.array([0.5, 0.7, 0.75]))
    ax = shown(plot_oob_curve(curve))
    assert ax.lines[0].get_xydata().tolist() == [[1, 0.5], [2, 0.7], [4, 0.75]]
    assert [text.get_text() for text in ax.texts] == ["0.75"]
    assert ax.get_xscale() == "log"
    again = plot_oob_curve(classes[0], label="forest", ax=ax)
    assert again is ax
    (name,) = [text.get_text() for text in ax.get_legend().get_texts()]
    assert name == f"forest, {classes[0].oob_score_:.3g}"


def test_bars_are_importances_in_order():
    found = Importances(np.array([[0.0, 2.0], [4.0, 6.0], [-1.0, 1.0]]), ("a", "b", "c"), "gain")
    ax = shown(plot_importances(found, top=2))
    assert [bar.get_width() for bar in ax.patches] == [1.0, 5.0]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b"]
    assert ax.get_xlabel() == "gain"
    scores = shown(plot_importances(found, by="score"))
    assert [bar.get_width() for bar in scores.patches] == [0.0, 1.0, 5.0]


def test_spreads_of_importances_are_one_standard_deviation_over_trees():
    found = Importances(np.array([[0.0, 2.0], [4.0, 8.0]]), ("a", "b"), "gain")
    ax = shown(plot_importances(found))
    (lines,) = ax.collections
    np.testing.assert_allclose(
        [segment[:, 0] for segment in lines.get_segments()], [[0.0, 2.0], [4.0, 8.0]]
    )
    assert not shown(plot_importances(found, by="score")).collections


def test_a_band_of_intervals_lies_between_their_bounds():
    bounds = np.array([[0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 3.0, 5.0]])
    ax = shown(plot_intervals([3, 1, 2], bounds, style="band"))
    corners = ax.collections[0].get_paths()[0].vertices
    for place, low, high in [(3, 0.0, 2.0), (1, 1.0, 3.0), (2, 2.0, 5.0)]:
        edges = corners[corners[:, 0] == place, 1]
        assert (edges.min(), edges.max()) == (low, high)


@pytest.mark.parametrize("style", ["band", "bars"])
def test_intervals_are_drawn_with_what_they_miss(style):
    bounds = np.array([[0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])
    ax = shown(plot_intervals([3, 1, 2], bounds, [1.0, 2.0, 9.0], style=style))
    assert ax.get_title() == "2 of 3 values inside (66.7 %)"
    middle = ax.lines[0].get_xydata().tolist()
    assert middle == [[1, 2.0], [2, 3.0], [3, 1.0]]
    assert ax.lines[-1].get_xydata().tolist() == [[2, 9.0]]
    assert len(ax.collections) == 1


def test_a_fan_has_a_band_for_each_pair_of_quantiles():
    ax = shown(plot_intervals(np.arange(4), np.arange(20.0).reshape(4, 5)))
    assert len(ax.collections) == 2
    assert len(ax.lines) == 1


def test_votes_of_classes_are_shares_of_trees(classes):
    model, X, _ = classes
    ax = shown(plot_votes(model, X[:1]))
    votes = np.array([tree.predict(X[:1])[0] for tree in model.estimators_])
    expected = [(votes == label).mean() for label in ("high", "low")]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(expected)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), model.predict_proba(X[:1])[0])


def test_votes_of_numbers_are_a_histogram(rng):
    X = rng.normal(size=(60, 2))
    model = RandomForestRegressor(30, random_state=0).fit(X, X[:, 0])
    ax = shown(plot_votes(model, X[:1]))
    assert sum(bar.get_height() for bar in ax.patches) == 30
    assert ax.lines[0].get_xdata()[0] == pytest.approx(model.predict(X[:1])[0])


def test_contributions_lead_from_the_mean_to_the_prediction(classes):
    model, X, _ = classes
    ax = shown(plot_contributions(model, X[:1], label="low"))
    parts = model.predict_contributions(X[:1])[0, :, 1]
    widths = [bar.get_width() for bar in ax.patches]
    assert sorted(widths) == pytest.approx(sorted(parts[:-1]))
    assert abs(widths[-1]) == max(abs(parts[:-1]))  # the largest is on top
    assert ax.patches[0].get_x() == pytest.approx(parts[-1])
    top = ax.patches[-1]
    assert top.get_x() + top.get_width() == pytest.approx(model.predict_proba(X[:1])[0, 1])
    assert ax.get_xlabel() == "probability of low"


def test_small_contributions_are_drawn_together(rng):
    X = rng.normal(size=(60, 5))
    model = RandomForestRegressor(10, random_state=0).fit(X, X[:, 0])
    ax = shown(plot_contributions(model, X[:1], top=2))
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert labels[0] == "3 others"
    assert len(labels) == 3
    total = sum(bar.get_width() for bar in ax.patches)
    parts = model.predict_contributions(X[:1])[0]
    assert total == pytest.approx(parts[:-1].sum())


def test_a_search_is_a_line_for_each_kind_of_forest():
    tried = [
        TuningCandidate(name, number, 1.0 / number, 0.5, 0.1, 25 * number)
        for name in ("Forest", "Extra")
        for number in (1, 2, 4)
    ]
    ax = shown(plot_tuning(TuningResult(4, tuple(tried), 5, None, 350, 100)))
    assert len(ax.lines) == 2
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2", "4"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Forest", "Extra"]


def test_bars_of_a_search_are_one_standard_error_of_the_difference():
    tried = [TuningCandidate("Forest", n, 1.0 / n, 0.5, 0.1 * n, 25) for n in (1, 2, 4)]
    ax = shown(plot_tuning(TuningResult(4, tuple(tried), 2, None, 350, 25)))
    (bars,) = ax.containers[0].lines[2]
    ends = [[segment[0, 1], segment[1, 1]] for segment in bars.get_segments()]
    np.testing.assert_allclose(ends, [[0.9, 1.1], [0.3, 0.7], [-0.15, 0.65]])


def test_rows_of_a_class_lie_together(classes):
    model, X, y = classes
    ax = shown(plot_proximity(model, X, y, out_of_bag=True))
    high, low = (np.asarray(dots.get_offsets()) for dots in ax.collections)
    assert (len(high), len(low)) == ((y == "high").sum(), (y == "low").sum())
    apart = np.linalg.norm(high.mean(axis=0) - low.mean(axis=0))
    assert apart > 2 * min(high.std(axis=0).max(), low.std(axis=0).max())
    assert len(shown(plot_proximity(model, X)).collections) == 1
    assert len(shown(plot_proximity(model, X, X[:, 0])).figure.axes) == 2  # and a colour bar


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda m, X: plot_oob_curve([1, 2]), TypeError, "curve must be an OobCurve"),
        (lambda m, X: plot_intervals([1, 2], [[1, 2]]), ValueError, "bounds must have a row"),
        (lambda m, X: plot_intervals([1], [[1, 2]], style="fan"), ValueError, "style must be"),
        (lambda m, X: plot_votes(object(), X), TypeError, "must be a fitted forest or"),
        (lambda m, X: plot_votes(m, X), ValueError, "one row; got 80 rows"),
        (lambda m, X: plot_votes(m, X[:1], [1]), ValueError, "y must be None for a forest"),
        (
            lambda m, X: plot_contributions(object(), X),
            TypeError,
            "model must be a fitted estimator",
        ),
        (lambda m, X: plot_contributions(m, X), ValueError, "one row; got 80 rows"),
        (lambda m, X: plot_contributions(m, X[:1], label="?"), ValueError, "label must be one of"),
        (lambda m, X: plot_contributions(m, X[:1], top=0), ValueError, "top must be"),
        (lambda m, X: plot_proximity(m, np.zeros((3001, 3))), ValueError, "at most 3000 rows"),
    ],
)
def test_wrong_arguments_are_named(classes, draw, error, message):
    with pytest.raises(error, match=message):
        draw(classes[0], classes[1])


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"plot_intervals needs .*'committee\[plot\]'"):
        plot_intervals([1], [[1, 2]])
