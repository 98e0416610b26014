"""Curves of AdaBoost with matplotlib: errors from round to round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.adaboost.classifier import AdaBoostClassifier
from committee.adaboost.regressor import AdaBoostRegressor
from committee.base.arrays import Floats
from committee.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    axes_or_new,
    legend,
    line_by_round,
    mark_round,
    name_axes,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_adaboost"]


def plot_adaboost(model: AdaBoostClassifier | AdaBoostRegressor, *, ax: Axes | None = None) -> Axes:
    """Draw the errors of weak learners and committee, and the bound, round by round.

    Parameters
    ----------
    model : AdaBoostClassifier or AdaBoostRegressor
        A fitted model.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        Lines for the weighted error of each learner (a regressor's mean loss), for the training
        error of the committee so far, for the bound that it stays below and the simpler bound by
        the edges of the learners, and for the error of validation rows, each as far as it is known;
        a grey dotted line is chance. Another score than accuracy has an axis of its own on the
        right. A dot is the best round.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, plot_adaboost
    >>> from committee.datasets import load_ten_points
    >>> X, y = load_ten_points()
    >>> model = AdaBoostClassifier(n_estimators=3, criterion="error").fit(X, y)
    >>> ax = plot_adaboost(model)
    >>> [line.get_label() for line in ax.lines][:3]
    ['learner of the round', 'committee, bound', 'bound by edges']
    """
    if not isinstance(model, AdaBoostClassifier | AdaBoostRegressor):
        raise TypeError(
            "model must be a fitted AdaBoostClassifier or AdaBoostRegressor; got "
            f"{type(model).__name__}"
        )
    model._check_fitted()
    trace, is_regressor = model.trace_, isinstance(model, AdaBoostRegressor)
    ax = axes_or_new(ax, "plot_adaboost", (6.4, 3.8))
    line_by_round(ax, trace.error, "learner of the round", color=GREY, linewidth=1.2)
    line_by_round(ax, trace.bound, "committee, bound", color=ORANGE, linewidth=1.6, linestyle="--")
    line_by_round(
        ax, trace.edge_bound, "bound by edges", color=ORANGE, linewidth=1.2, linestyle=":"
    )
    line_by_round(ax, trace.train_error, "committee, training rows", color=BLUE, linewidth=2)
    scores: Floats | None = getattr(model, "validation_scores_", None)
    lines = list(ax.lines)
    if scores is not None:
        lines += _draw_scores(ax, scores, len(model), is_accuracy=_is_accuracy(model))
    if is_regressor or model._rule.variant == "discrete":
        chance = 0.5 if is_regressor else model._rule.chance
        lines.append(ax.axhline(chance, color=INK, linewidth=1, linestyle=":", label="chance"))
    name_axes(ax, x="rounds", y="mean loss" if is_regressor else "error")
    ax.set_ylim(bottom=0)
    tidy(ax)
    legend(ax, handles=lines)
    return ax


def _is_accuracy(model: AdaBoostClassifier | AdaBoostRegressor) -> bool:
    return isinstance(model, AdaBoostClassifier) and model.scoring in (None, "accuracy")


def _draw_scores(ax: Any, scores: Floats, n_kept: int, *, is_accuracy: bool) -> list[Any]:
    """Draw validation scores, as errors where they are shares of right rows."""
    axis, values, label = ax, 1 - scores, "committee, validation rows"
    if not is_accuracy:
        axis, values, label = ax.twinx(), scores, "validation score"
        name_axes(axis, y="validation score")
        axis.spines[["top"]].set_visible(False)
    rounds = np.arange(1, len(values) + 1)
    (line,) = axis.plot(rounds, values, color=GREEN, linewidth=2, label=label)
    mark_round(axis, values, n_kept - 1, GREEN)
    return [line]
