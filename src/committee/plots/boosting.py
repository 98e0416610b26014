"""Pictures of boosting with matplotlib: losses from round to round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.boosting.round_choice import RoundChoice
from committee.evaluation.training_log import TrainingLog
from committee.trees.tree_layout import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_training"]

_BLUE, _ORANGE, _GREEN, _GREY, _GRID = "#3b7dd8", "#d9822b", "#3a9b6f", "#9aa5b4", "#e6eaf0"
_PURPLE = "#8a63c9"


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
    ax = _axes(ax)
    watched = log.validation_score if score else log.validation_loss
    if not score:
        _line(ax, log.train_loss, "training rows", _GREY)
        _line(ax, log.oob_loss, "rows not drawn in the round", _GREEN)
    _line(ax, watched, "validation rows", _BLUE)
    if not np.isnan(watched).all():
        _mark(ax, watched, int(watched.argmax() if score else watched.argmin()))
    if choice is not None:
        _draw_choice(ax, choice)
    ax.set_xlabel("rounds", color=INK)
    ax.set_ylabel("score" if score else "loss", color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=_GRID)
    ax.set_axisbelow(True)
    if len(ax.lines) > 1:
        ax.legend(frameon=False, labelcolor=INK)
    return ax


def _line(ax: Any, values: NDArray[np.float64], label: str, color: str) -> None:
    if not np.isnan(values).all():
        ax.plot(np.arange(1, len(values) + 1), values, linewidth=2, color=color, label=label)


def _draw_choice(ax: Any, choice: RoundChoice) -> None:
    mean, error = choice.mean, choice.standard_error
    _line(ax, mean, "rows held out to choose", _PURPLE)
    rounds = np.arange(1, len(mean) + 1)
    ax.fill_between(rounds, mean - error, mean + error, color=_PURPLE, alpha=0.2, linewidth=0)
    _mark(ax, mean, choice.n_rounds - 1)


def _mark(ax: Any, values: NDArray[np.float64], index: int) -> None:
    """Mark the best round; what is said of it stays inside the picture."""
    share = index / len(values)
    side = "left" if share < 0.25 else "right" if share > 0.75 else "center"
    ax.plot([index + 1], [values[index]], "o", color=_ORANGE, markersize=6, zorder=3)
    ax.annotate(
        f"round {index + 1}, {values[index]:.3g}",
        (index + 1, values[index]),
        xytext=(0, 10),
        textcoords="offset points",
        ha=side,
        color=INK,
    )


def _axes(ax: Any) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plot_training needs matplotlib: pip install 'committee[plot]'"
        ) from error
    return plt.subplots(figsize=(6.4, 3.6), layout="constrained")[1]
