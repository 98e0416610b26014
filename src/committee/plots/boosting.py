"""Pictures of boosting with matplotlib: losses from round to round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.boosting.rounds import RoundChoice
from committee.evaluation.training_log import TrainingLog
from committee.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    axes_or_new,
    legend,
    line_by_round,
    mark_round,
    name_axes,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_training"]


def plot_training(model: Any, *, score: bool = False, ax: Axes | None = None) -> Axes:
    """Draw the losses of the training and the validation rows against the number of rounds.

    Parameters
    ----------
    model : fitted gradient boosting model, or TrainingLog
        What to draw. Where the loss of validation rows rises again, the model overfits.
    score : bool, default=False
        Draw the score of the validation or held-out rows instead, for a model with `scoring`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A line for the training rows, one for validation rows, one for out-of-bag rows and one for
        the rows that were held out to choose the number of rounds, with a band of one standard
        error of the folds; each as far as there are such rows. A dot is the best round.

    Examples
    --------
    >>> from committee import GradientBoostingClassifier, plot_training
    >>> from committee.datasets import load_penguins
    >>> model = GradientBoostingClassifier(n_estimators=50, early_stopping=True, random_state=0)
    >>> ax = plot_training(model.fit(*load_penguins()))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['training rows', 'validation rows']
    """
    log = getattr(model, "training_log_", model)
    if not isinstance(log, TrainingLog):
        raise TypeError(
            "model must be a fitted gradient boosting model or its training_log_; got "
            f"{type(model).__name__}"
        )
    choice: RoundChoice | None = getattr(model, "round_choice_", None)
    if choice is not None and choice.is_score != score:
        choice = None
    if score and choice is None and np.isnan(log.validation_score).all():
        raise ValueError("score must be False: the model was fitted without scoring")
    ax = axes_or_new(ax, "plot_training", (6.4, 3.6))
    watched = log.validation_score if score else log.validation_loss
    if not score:
        line_by_round(ax, log.train_loss, "training rows", linewidth=2, color=GREY)
        line_by_round(ax, log.oob_loss, "rows not drawn in the round", linewidth=2, color=GREEN)
    line_by_round(ax, watched, "validation rows", linewidth=2, color=BLUE)
    if not np.isnan(watched).all():
        mark_round(ax, watched, int(watched.argmax() if score else watched.argmin()), ORANGE)
    if choice is not None:
        _draw_choice(ax, choice)
    name_axes(ax, x="rounds", y="score" if score else "loss")
    tidy(ax)
    if len(ax.lines) > 1:
        legend(ax)
    return ax


def _draw_choice(ax: Any, choice: RoundChoice) -> None:
    mean, error = choice.mean, choice.standard_error
    line_by_round(ax, mean, "rows held out to choose", linewidth=2, color=PURPLE)
    rounds = np.arange(1, len(mean) + 1)
    ax.fill_between(rounds, mean - error, mean + error, color=PURPLE, alpha=0.2, linewidth=0)
    mark_round(ax, mean, choice.n_rounds - 1, ORANGE)
