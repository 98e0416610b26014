"""Pictures of boosting: what is drawn is what was seen."""

import sys

import numpy as np
import pytest

from committee import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    plot_contributions,
    plot_training,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def data(rng):
    X = rng.normal(size=(120, 3))
    return X, X[:, 0] + rng.normal(size=120)


def shown(ax):
    ax.figure.canvas.draw()
    return ax


def test_losses_are_drawn_with_the_best_round(data):
    X, y = data
    model = GradientBoostingRegressor(n_estimators=20, subsample=0.5, random_state=0)
    log = model.fit(X[:80], y[:80], eval_set=(X[80:], y[80:])).training_log_
    ax = shown(plot_training(model))
    lines = [line.get_ydata() for line in ax.lines]
    for line, expected in zip(
        lines, (log.train_loss, log.oob_loss, log.validation_loss), strict=False
    ):
        np.testing.assert_array_equal(line, expected)
    assert lines[3].tolist() == [log.validation_loss.min()]
    assert ax.texts[0].get_text().startswith(f"round {model.best_iteration_}, ")
    assert len(ax.get_legend().get_texts()) == 3
    assert shown(plot_training(log)).get_ylabel() == "loss"


def test_the_band_of_the_choice_is_one_standard_error_wide_on_each_side(data):
    model = GradientBoostingRegressor(n_estimators="auto", random_state=0).fit(*data)
    choice = model.round_choice_
    ax = shown(plot_training(model))
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    for number in (1, choice.n_rounds, len(choice.mean)):
        edges = np.unique(corners[corners[:, 0] == number, 1])
        mean, error = choice.mean[number - 1], choice.standard_error[number - 1]
        assert error > 0
        np.testing.assert_allclose(edges, [mean - error, mean + error])
    line = next(line for line in ax.lines if line.get_label() == "rows held out to choose")
    np.testing.assert_array_equal(line.get_ydata(), choice.mean)
    assert ax.lines[-1].get_xydata().tolist() == [
        [choice.n_rounds, choice.mean[choice.n_rounds - 1]]
    ]


def test_training_rows_alone_need_no_legend_and_axes_are_kept(data):
    _, ax = plt.subplots()
    assert plot_training(GradientBoostingRegressor(n_estimators=3).fit(*data), ax=ax) is ax
    assert ax.get_legend() is None
    assert len(ax.lines) == 1


def test_scores_are_drawn_where_there_are_some(data):
    X, y = data
    model = GradientBoostingRegressor(n_estimators=5, early_stopping=True, scoring="r2")
    ax = shown(plot_training(model.fit(X, y), score=True))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.training_log_.validation_score)
    assert ax.get_ylabel() == "score"
    with pytest.raises(ValueError, match="score must be False"):
        plot_training(GradientBoostingRegressor(n_estimators=2).fit(X, y), score=True)
    with pytest.raises(TypeError, match="model must be a fitted gradient boosting model"):
        plot_training(GradientBoostingRegressor())


def test_contributions_to_scores_are_drawn(data):
    X, y = data
    model = GradientBoostingRegressor(n_estimators=5).fit(X, y)
    assert shown(plot_contributions(model, X[:1])).get_xlabel() == "prediction"
    two = GradientBoostingClassifier(n_estimators=5).fit(X, np.where(y > 0, "b", "a"))
    assert shown(plot_contributions(two, X[:1], label="a")).get_xlabel() == "score of a"
    three = GradientBoostingClassifier(n_estimators=5).fit(X, np.digitize(y, [-1, 1]))
    predicted = f"score of {three.predict(X[:1])[0]}"
    assert shown(plot_contributions(three, X[:1])).get_xlabel() == predicted


def test_a_missing_matplotlib_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="committee\\[plot\\]"):
        plot_training(GradientBoostingRegressor(n_estimators=2).fit(*data))
