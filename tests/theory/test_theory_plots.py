"""Pictures of the theory show the numbers of its functions."""

import math

import numpy as np
import pytest

from committee import (
    AdaBoostClassifier,
    DecisionTreeRegressor,
    plot_adaboost,
    plot_average_variance,
    plot_bias_variance,
    plot_committee_error,
    plot_majority,
    plot_majority_error,
)
from committee.theory import (
    average_variance,
    bias_variance,
    bias_variance_curve,
    committee_error,
    majority_error,
    wrong_members,
)

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_bars_are_the_probabilities_of_wrong_members():
    ax = plot_majority(20, 0.4, correlation=0.1)
    bars = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in ax.patches}
    found = np.array([bars[k] for k in range(21)])
    np.testing.assert_allclose(found, wrong_members(20, 0.4, correlation=0.1))
    assert legend_of(ax) == ["majority right", "tie", "majority wrong"]
    error = majority_error(20, 0.4, correlation=0.1)
    assert ax.get_title().endswith(f"correlated by 0.1: majority {error:.3g}")
    assert legend_of(plot_majority(3, [0.1, 0.2, 0.3])) == ["majority right", "majority wrong"]


def test_of_many_members_only_visible_bars_are_drawn():
    ax = plot_majority(1001, 0.3)
    assert 60 < len(ax.patches) < 200
    assert sum(bar.get_height() for bar in ax.patches) > 0.999


def test_curves_of_majorities_are_their_errors():
    ax = plot_majority_error([1, 11, 50], tie="wrong")
    one, eleven, fifty = ax.lines[:3]
    np.testing.assert_allclose(one.get_ydata(), one.get_xdata(), atol=1e-12)
    place = 50  # a rate of 0.25
    assert eleven.get_xdata()[place] == 0.25
    assert eleven.get_ydata()[place] == majority_error(11, 0.25)
    assert fifty.get_ydata()[90] == majority_error(50, fifty.get_xdata()[90], tie="wrong")
    assert legend_of(ax) == ["1 member", "11 members", "50 members"]
    given = plt.subplots()[1]
    assert plot_majority_error(range(1, 14, 2), ax=given) is given


def test_the_variance_falls_to_its_limit():
    ax = plot_average_variance([0.0, 0.3], sigma2=2.0, n_members=30)
    assert ax.lines[1].get_ydata()[9] == average_variance(0.3, 2.0, 10)
    assert [list(line.get_ydata()) for line in ax.lines[2:]] == [[0.6, 0.6]]
    assert ax.get_xscale() == "log"


def test_the_error_of_a_committee_against_its_size(rng):
    y = rng.normal(size=80)
    predictions = y + rng.normal(size=80) / 2 + rng.normal(size=(6, 80))
    ax = plot_committee_error(predictions, y)
    first, forecast, independent, limit = ax.lines
    for m in (1, 3, 6):
        measured = np.mean((predictions[:m].mean(axis=0) - y) ** 2)
        assert first.get_ydata()[m - 1] == pytest.approx(measured)
    found = committee_error(predictions, y)
    assert forecast.get_ydata()[-1] == pytest.approx(found.committee)
    assert independent.get_ydata()[-1] == pytest.approx(found.independent)
    assert limit.get_ydata()[0] == found.at(math.inf)
    with pytest.raises(ValueError, match="predictions must be those of two members or more"):
        plot_committee_error(predictions[:1], y)


def test_bias_and_variance_are_lines_for_numbers_and_bars_for_names(rng):
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    options = {"n_rounds": 5, "random_state": 0}
    by_depth = {depth: DecisionTreeRegressor(max_depth=depth) for depth in (8, 1, 2)}
    found = bias_variance_curve(by_depth, X, y, **options)
    ax = plot_bias_variance(found, name="max_depth")
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["bias"].get_xdata().tolist() == [1, 2, 8]
    assert lines["bias"].get_ydata().tolist() == [found[k].bias for k in (1, 2, 8)]
    assert lines["variance"].get_ydata()[2] == found[8].variance
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("max_depth", "squared error")
    by_name = {f"depth {depth}": tree for depth, tree in by_depth.items()}
    ax = plot_bias_variance(bias_variance_curve(by_name, X, y, **options))
    assert legend_of(ax) == ["bias", "variance"]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(by_name)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[:3] == [found[k].bias for k in (8, 1, 2)]
    alone = bias_variance(by_depth[2], X, y, **options)
    assert len(plot_bias_variance(alone).patches) == 2
    with pytest.raises(TypeError, match="result must be what bias_variance_curve"):
        plot_bias_variance(alone.error)


def test_the_noise_has_its_part(rng):
    def draw(rng):
        X = rng.normal(size=(50, 1))
        return X, X[:, 0] + rng.normal(size=50)

    X, y = draw(rng)
    trees = {depth: DecisionTreeRegressor(max_depth=depth) for depth in (1, 3)}
    found = bias_variance_curve(trees, draw, test=(X, y), truth=X[:, 0], n_rounds=4)
    assert [line.get_label() for line in plot_bias_variance(found).lines][-1] == "noise"
    named = bias_variance_curve({"tree": trees[3]}, draw, test=(X, y), truth=X[:, 0], n_rounds=4)
    assert legend_of(plot_bias_variance(named)) == ["noise", "bias", "variance"]


def test_the_curves_of_adaboost_have_the_bound_by_edges(rng):
    X = rng.normal(size=(60, 2))
    model = AdaBoostClassifier(n_estimators=6).fit(X, X[:, 0] + X[:, 1] > 0)
    lines = {line.get_label(): line for line in plot_adaboost(model).lines}
    np.testing.assert_array_equal(lines["bound by edges"].get_ydata(), model.trace_.edge_bound)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_majority(0, 0.3), "n must be an int >= 1"),
        (lambda: plot_majority(math.inf, 0.3), "n must be an int in"),
        (lambda: plot_majority_error([]), "n_members must hold a number or more"),
        (lambda: plot_majority_error([2.5]), "n_members must be an int >= 1"),
        (lambda: plot_average_variance(2.0), "rho must be"),
        (lambda: plot_average_variance(n_members=1), "n_members must be an int >= 2"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
