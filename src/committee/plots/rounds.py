"""Rounds of AdaBoost with matplotlib: a panel each, with the rows by weight and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.adaboost.classifier import AdaBoostClassifier
from committee.base.arrays import Floats
from committee.base.params import check_int
from committee.plots.plane import PlaneRows, read_rows
from committee.plots.regions import draw_map, draw_regions
from committee.plots.style import GREY, INK, name_axes, pyplot
from committee.trees.tree_layout import class_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_rounds"]

# Areas of markers in square points: that of a row of mean weight goes by the number of rows.
_SMALLEST_MEAN, _LARGEST_MEAN, _LARGEST = 10.0, 240.0, 1200.0
_DOT = 2.0

_FIRST_ROUNDS = 4


def plot_rounds(
    model: AdaBoostClassifier,
    X: Any,
    y: Any,
    *,
    rounds: Sequence[int] | None = None,
    features: Sequence[Any] | None = None,
    n_columns: int | None = None,
) -> list[Axes]:
    """Draw weights and predictions of some rounds, and the prediction of the whole committee.

    One panel for each round: the areas of the points are the weights of the rows in that round, on
    one scale for all panels, the rows that the weak learner gets wrong are circled, and its stump
    is a line with a side for each predicted class. The last panel is the committee of all rounds.

    Parameters
    ----------
    model : AdaBoostClassifier
        Fitted with ``keep_weights=True``.
    X : table of shape (n_rows, n_features)
        The training table, its rows in the order of `fit`. Rows without a value in one of the two
        features have no place in the picture.
    y : array-like of shape (n_rows,)
        Their classes.
    rounds : sequence of int or None, default=None
        Numbers of the rounds to draw, from one. None is all of up to five rounds, else the first
        four and the last.
    features : pair of names or positions, or None, default=None
        The two numeric features to draw by, across and up; None is the first two that are numeric.
        Stumps that split another feature have no line, and in tables of more than two features
        neither have other learners and the committee: their predictions depend on more features.
    n_columns : int or None, default=None
        Panels side by side; None is up to four.

    Returns
    -------
    axes : list of matplotlib Axes
        One for each round, and last the committee; ``axes[0].figure`` is the figure.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, plot_rounds
    >>> from committee.datasets import load_ten_points
    >>> X, y = load_ten_points()
    >>> model = AdaBoostClassifier(n_estimators=3, criterion="error", keep_weights=True)
    >>> axes = plot_rounds(model.fit(X, y), X, y)
    >>> print(axes[1].get_title())
    round 2
    error 0.214, weight 1.30, beta 0.65
    """
    if not isinstance(model, AdaBoostClassifier):
        raise TypeError(f"model must be a fitted AdaBoostClassifier; got {type(model).__name__}")
    distributions = _kept_distributions(model)
    numbers = check_rounds(rounds, len(model), _first_and_last)
    rows = read_rows(model, X, y, features)
    if distributions.shape[1] != len(rows.codes):
        raise ValueError(
            f"X must be the training table, which had {distributions.shape[1]} rows; got "
            f"{len(rows.codes)}"
        )
    predicted = {number: rows.predicted(model[number - 1]) for number in numbers}
    for number in numbers:
        _check_error(model, number, distributions[number - 1], predicted[number] != rows.codes)
    area = _area_of_weight(distributions[[0, *(number - 1 for number in numbers)]])
    axes = _panels(len(numbers) + 1, n_columns)
    for ax, number in zip(axes, numbers, strict=False):
        draw_regions(ax, model[number - 1], rows)
        is_wrong = predicted[number] != rows.codes
        _draw_points(ax, rows, area * distributions[number - 1], is_wrong)
        _set_title(ax, f"round {number}", _numbers_of_round(model, number))
    _draw_committee(axes[-1], model, rows, area * distributions[0])
    _label_panels(axes, rows)
    return axes


def check_rounds(rounds: Any, n_rounds: int, default: Any) -> list[int]:
    """Return the numbers of rounds to draw, checked, or those of a default rule."""
    if rounds is None:
        numbers: list[int] = default(n_rounds)
        return numbers
    listed = [rounds] if np.ndim(rounds) == 0 else list(rounds)
    if not listed:
        raise ValueError("rounds must name a round or more; got none")
    return [check_int("rounds", number, 1, n_rounds) for number in listed]


def _first_and_last(n_rounds: int) -> list[int]:
    return sorted({*range(1, min(n_rounds, _FIRST_ROUNDS) + 1), n_rounds})


def _kept_distributions(model: AdaBoostClassifier) -> Floats:
    model._check_fitted()
    found = model.trace_.distributions
    if found is None:
        raise ValueError(
            "keep_weights must be True in the model, or the weights of the rounds are not known; "
            "it was fitted with keep_weights=False"
        )
    return found


def _check_error(
    model: AdaBoostClassifier, number: int, weights: Floats, is_wrong: NDArray[np.bool_]
) -> None:
    """Refuse rows other than those of the fit, on which the error of a round differs."""
    if abs(float(weights[is_wrong].sum()) - model.estimator_errors_[number - 1]) > 1e-6:
        raise ValueError(
            "X and y must be the training rows in the order of fit; the error of round "
            f"{number} on them differs from that of the fit"
        )


def _numbers_of_round(model: AdaBoostClassifier, number: int) -> str:
    text = f"error {model.estimator_errors_[number - 1]:.3f}"
    if model._rule.variant != "discrete":  # all learners have the same weight
        return text
    weight = model.estimator_weights_[number - 1]
    return f"{text}, weight {weight:.2f}, beta {weight / 2:.2f}"


def _area_of_weight(distributions: Floats) -> float:
    """Return the area of a marker for a weight of one."""
    n_rows = max(int((distributions[0] > 0).sum()), 1)
    mean = float(np.clip(max(2400 / n_rows, 400 / n_rows**0.5), _SMALLEST_MEAN, _LARGEST_MEAN))
    return min(mean * n_rows, _LARGEST / float(distributions.max()))


def _panels(n_panels: int, n_columns: int | None) -> list[Any]:
    if n_columns is None:
        n_columns = n_panels if n_panels <= 4 else 3 if n_panels in (5, 6, 9) else 4
    n_columns = min(check_int("n_columns", n_columns, 1), n_panels)
    n_lines = -(-n_panels // n_columns)
    plt = pyplot("plot_rounds")
    size = (2.75 * n_columns + 0.3, 2.95 * n_lines + 0.5)
    _, grid = plt.subplots(n_lines, n_columns, figsize=size, layout="constrained", squeeze=False)
    axes = list(grid.ravel())
    for idle in axes[n_panels:]:
        idle.remove()
    return axes[:n_panels]


def _draw_points(ax: Any, rows: PlaneRows, areas: Floats, is_wrong: NDArray[np.bool_]) -> None:
    is_drawn = rows.has_place & (areas > 0)
    heavy_first = np.argsort(-areas, kind="stable")
    for code, label in enumerate(rows.classes):
        mine = heavy_first[(is_drawn & (rows.codes == code))[heavy_first]]
        color = class_color(code)
        spots = rows.places[mine]
        # A dot stays where a weight has become too small to be seen.
        ax.scatter(spots[:, 0], spots[:, 1], s=_DOT, color=color, linewidths=0, zorder=2)
        ax.scatter(
            spots[:, 0],
            spots[:, 1],
            s=areas[mine],
            marker=rows.marker(code),
            color=color,
            edgecolors="white",
            linewidths=0.6 if rows.are_few else 0.3,
            zorder=3,
            label=str(label),
        )
    wrong = np.flatnonzero(is_drawn & is_wrong)
    ax.scatter(
        rows.places[wrong, 0],
        rows.places[wrong, 1],
        s=(1.2 * np.sqrt(areas[wrong]) + (4 if rows.are_few else 2)) ** 2,
        facecolors="none",
        edgecolors=INK,
        linewidths=1.3 if rows.are_few else 0.8,
        zorder=4,
        label="wrong",
    )


def _draw_committee(ax: Any, model: AdaBoostClassifier, rows: PlaneRows, areas: Floats) -> None:
    if rows.is_plane:
        draw_map(ax, model, rows, list(model))
    is_wrong = rows.predicted(model) != rows.codes
    _draw_points(ax, rows, areas, is_wrong)
    error = model.trace_.train_error[-1]
    n_members = len(model)
    name = "the only learner" if n_members == 1 else f"committee of {n_members}"
    _set_title(ax, name, f"training error {error:.3f}")


def _set_title(ax: Any, name: str, numbers: str) -> None:
    name_axes(ax, title=f"{name}\n{numbers}")


def _label_panels(axes: list[Any], rows: PlaneRows) -> None:
    """Name the axes at the rim, and the classes below all panels."""
    figure = axes[0].figure
    n_columns = axes[0].get_subplotspec().get_gridspec().ncols
    for number, ax in enumerate(axes):
        ax.set_xlim(*rows.limits(0))
        ax.set_ylim(*rows.limits(1))
        ax.tick_params(labelsize="small", color=GREY, labelcolor=INK)
        ax.spines[:].set_color(GREY)
        if number % n_columns == 0:
            name_axes(ax, y=rows.names[1])
        else:
            ax.tick_params(labelleft=False)
        if number + n_columns >= len(axes):
            name_axes(ax, x=rows.names[0])
        else:
            ax.tick_params(labelbottom=False)
    figure.legend(
        handles=_legend_handles(rows),
        loc="outside lower center",
        ncols=min(len(rows.classes) + 1, 8),
        frameon=False,
        labelcolor=INK,
    )


def _legend_handles(rows: PlaneRows) -> list[Any]:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=rows.marker(code),
            markersize=9,
            color=class_color(code),
            markeredgecolor="white",
            label=str(label),
        )
        for code, label in enumerate(rows.classes)
    ]
    ring = Line2D([], [], linestyle="none", marker="o", markersize=11, markerfacecolor="none")
    ring.set(markeredgecolor=INK, markeredgewidth=1.3, label="wrong")
    return [*handles, ring]
