"""Rounds of AdaBoost with matplotlib: a panel each, with the rows by weight and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.adaboost.classifier import AdaBoostClassifier
from committee.base.arrays import Floats
from committee.base.params import check_int
from committee.plots.panels import draw_points, label_panels, mean_area, panels, set_title
from committee.plots.plane import PlaneRows, read_rows
from committee.plots.regions import draw_map, draw_regions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_rounds"]

_LARGEST = 1200.0  # area of a marker in square points
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
    axes = panels("plot_rounds", len(numbers) + 1, n_columns)
    for ax, number in zip(axes, numbers, strict=False):
        draw_regions(ax, model[number - 1], rows)
        is_wrong = predicted[number] != rows.codes
        draw_points(ax, rows, area * distributions[number - 1], is_wrong)
        set_title(ax, f"round {number}", _numbers_of_round(model, number))
    _draw_committee(axes[-1], model, rows, area * distributions[0])
    label_panels(axes, rows)
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
    return min(mean_area(n_rows) * n_rows, _LARGEST / float(distributions.max()))


def _draw_committee(ax: Any, model: AdaBoostClassifier, rows: PlaneRows, areas: Floats) -> None:
    if rows.is_plane:
        draw_map(ax, model, rows, list(model))
    is_wrong = rows.predicted(model) != rows.codes
    draw_points(ax, rows, areas, is_wrong)
    error = model.trace_.train_error[-1]
    n_members = len(model)
    name = "the only learner" if n_members == 1 else f"committee of {n_members}"
    set_title(ax, name, f"training error {error:.3f}")
