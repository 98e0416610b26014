"""Curves of AdaBoost with matplotlib: errors from round to round, and margins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.adaboost.classifier import AdaBoostClassifier
from committee.adaboost.regressor import AdaBoostRegressor
from committee.base.arrays import Floats
from committee.plots.rounds import check_rounds
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
    shades,
    tidy,
)
from committee.tables.target import check_same_length, read_known_classes
from committee.theory.margins import margins_of_codes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_adaboost", "plot_margins"]


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


def plot_margins(
    model: AdaBoostClassifier,
    X: Any,
    y: Any,
    *,
    rounds: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how margins are distributed after some rounds.

    The margin of a row is the share of the votes for its class minus the largest share of another:
    negative where the committee is wrong, one where all are right. A curve is the share of rows
    with at most each margin, so curves further right are better.

    Parameters
    ----------
    model : AdaBoostClassifier
        A fitted model.
    X : table of shape (n_rows, n_features)
        Rows with the columns of `fit`.
    y : array-like of shape (n_rows,)
        Their classes.
    rounds : sequence of int or None, default=None
        After which rounds, from one. None is the fifth, the last, and one between.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A curve for each number of rounds.

    References
    ----------
    Schapire, Freund, Bartlett and Lee (1998), Boosting the margin: a new explanation for the
    effectiveness of voting methods. Annals of Statistics 26, 1651-1686.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, plot_margins
    >>> from committee.datasets import load_ten_points
    >>> X, y = load_ten_points()
    >>> model = AdaBoostClassifier(n_estimators=3, criterion="error").fit(X, y)
    >>> ax = plot_margins(model, X, y, rounds=[1, 3])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1 round', '3 rounds']
    """
    if not isinstance(model, AdaBoostClassifier):
        raise TypeError(f"model must be a fitted AdaBoostClassifier; got {type(model).__name__}")
    model._check_fitted()
    if model.n_classes_ < 2:
        raise ValueError("model must know two classes or more: one alone has no margin")
    numbers = check_rounds(rounds, len(model), _fifth_and_last)
    margins = _staged_margins(model, X, y, numbers)
    ax = axes_or_new(ax, "plot_margins", (6.4, 3.8))
    low = min(-1.0, *(float(found.min()) for found in margins))
    high = max(1.0, *(float(found.max()) for found in margins))
    for number, found, color in zip(numbers, margins, shades(len(numbers)), strict=True):
        ordered = np.concatenate([[low], np.sort(found), [high]])
        shares = np.concatenate([[0.0], np.arange(1, len(found) + 1) / len(found), [1.0]])
        label = "1 round" if number == 1 else f"{number} rounds"
        ax.step(ordered, shares, where="post", color=color, linewidth=2, label=label)
    ax.axvline(0, color=INK, linewidth=1, linestyle=":")
    ax.set_xlim(low, high)
    ax.set_ylim(0, 1.02)
    name_axes(ax, x="margin", y="share of rows with at most this margin")
    tidy(ax)
    legend(ax, loc="upper left")
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


def _staged_margins(model: AdaBoostClassifier, X: Any, y: Any, numbers: list[int]) -> list[Floats]:
    """Return the margins after each of the numbered rounds."""
    codes = read_known_classes(y, model.classes_)[:, 0]
    sizes = np.cumsum(np.abs(model.estimator_weights_))
    found: dict[int, Floats] = {}
    for number, staged in enumerate(model._staged(X), start=1):
        if number > max(numbers):
            break
        if number not in numbers:
            continue
        check_same_length(len(staged), len(codes))
        found[number] = margins_of_codes(staged, codes) / sizes[number - 1]
    return [found[number] for number in numbers]


def _fifth_and_last(n_rounds: int) -> list[int]:
    first = min(5, n_rounds)
    return sorted({first, round((first * n_rounds) ** 0.5), n_rounds})
