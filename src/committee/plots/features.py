"""Bars of features with matplotlib: importances, and contributions to one prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_choice, check_int
from committee.evaluation.importance import Importances
from committee.plots.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    axes_or_new,
    name_axes,
    tidy_bars,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_contributions", "plot_importances"]


def plot_importances(
    result: Importances,
    *,
    top: int = 20,
    by: str = "mean",
    color: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw importances of features, the largest on top.

    Parameters
    ----------
    result : Importances
        What `permutation_importance` or `debiased_importance` of a forest returned.
    top : int, default=20
        Draw so many features.
    by : {"mean", "score"}, default="mean"
        Bars of means with thin lines of one standard deviation over the trees to either side, or
        bars of scores, mean over standard deviation.
    color : str or None, default=None
        Colour of the bars.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The axes.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_importances
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> ax = plot_importances(model.permutation_importance(X, y), top=3)
    >>> [tick.get_text() for tick in ax.get_yticklabels()][-1]
    'bill_length_mm'
    """
    check_choice("by", by, ("mean", "score"))
    top = check_int("top", top, 1)
    if not isinstance(result, Importances):
        raise TypeError(
            "result must be what permutation_importance or debiased_importance of a forest "
            f"returned; got {type(result).__name__}"
        )
    values = result.importances_mean if by == "mean" else result.score
    order = np.argsort(-values, kind="stable")[:top][::-1]
    ax = axes_or_new(ax, "plot_importances", (6.4, 0.9 + 0.3 * len(order)))
    places = np.arange(len(order))
    ax.barh(places, values[order], height=0.62, color=color or BLUE)
    if by == "mean":
        spread = result.importances_std[order]
        ax.hlines(places, values[order] - spread, values[order] + spread, color=INK, linewidth=1)
    ax.axvline(0, color=INK, linewidth=0.8)
    kind = result.kind if by == "mean" else f"{result.kind}: mean / standard deviation"
    name_axes(ax, x=kind)
    ax.set_ylim(-0.6, len(order) - 0.4)
    tidy_bars(ax, places, [result.feature_names[index] for index in order])
    return ax


def plot_contributions(
    model: Any, row: Any, *, label: Any = None, top: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw how the features of a row take a model from its mean to its prediction.

    Parameters
    ----------
    model : fitted tree or forest
        A model with `predict_contributions` and one output.
    row : table of one row
        With the columns of `fit`.
    label : class label or None, default=None
        Classifier only: the class whose probability is explained; None is the predicted one.
    top : int, default=10
        Features with a bar of their own, the largest contributions; one more bar has the others.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The axes. Bars are read upward: each begins where the one below has ended.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_contributions
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> ax = plot_contributions(model, X[:1], top=3)
    >>> [tick.get_text() for tick in ax.get_yticklabels()][0]
    '4 others'
    """
    top = check_int("top", top, 1)
    parts, what = _parts_of_row(model, row, label)
    names = [info.name for info in model.schema_.features]
    order = np.argsort(-np.abs(parts[:-1]), kind="stable")
    labels, widths = [names[index] for index in order[:top]], parts[order[:top]]
    if len(order) > top:
        n_others = len(order) - top
        labels.append(f"{n_others} others" if n_others > 1 else names[order[top]])
        widths = np.append(widths, parts[order[top:]].sum())
    labels, widths = labels[::-1], widths[::-1]
    ends = parts[-1] + np.cumsum(widths)
    ax = axes_or_new(ax, "plot_contributions", (6.4, 1.3 + 0.34 * len(labels)))
    places = np.arange(len(labels))
    colors = [BLUE if width >= 0 else ORANGE for width in widths]
    ax.barh(places, widths, left=ends - widths, height=0.62, color=colors)
    ax.vlines(ends[:-1], places[:-1], places[1:], color=GREY, linewidth=0.8)
    ax.axvline(parts[-1], color=GREY, linewidth=0.8, linestyle=":")
    for place, width, end in zip(places, widths, ends, strict=True):
        right = max(end, end - width)
        ax.annotate(
            f"{width:+.3g}",
            (right, place),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=INK,
        )
    ax.use_sticky_edges = False  # or there is no margin beside bars
    ax.margins(x=0.12)
    name_axes(ax, x=what)
    title = f"mean {parts[-1]:.3g}, this row {parts.sum():.3g}"
    name_axes(ax, title=title)
    tidy_bars(ax, places, labels)
    return ax


def _parts_of_row(model: Any, row: Any, label: Any) -> tuple[Floats, str]:
    """Return the contributions to one number about a row, and what this number is."""
    if not hasattr(model, "predict_contributions"):
        raise TypeError(
            "model must be a fitted tree or forest with predict_contributions; got "
            f"{type(model).__name__}"
        )
    found = model.predict_contributions(row)
    n_outputs = getattr(model, "n_outputs_", 1)
    if n_outputs > 1:
        raise ValueError(f"model must have one output to be drawn; it has {n_outputs}")
    if len(found) != 1:
        raise ValueError(f"row must be a table of one row; got {len(found)} rows")
    classes = model._class_labels()
    if classes is None:
        if label is not None:
            raise ValueError("label must be None: the model predicts a number")
        return found[0], "prediction"
    labels = list(classes[0])
    if label is not None and label not in labels:
        raise ValueError(f"label must be one of {classes[0].tolist()}; got {label!r}")
    if hasattr(model, "decision_function"):
        return _score_of_class(found, labels, label)
    index = labels.index(label) if label is not None else int(found[0].sum(axis=0).argmax())
    return found[0, :, index], f"probability of {labels[index]}"


def _score_of_class(found: Floats, labels: list[Any], label: Any) -> tuple[Floats, str]:
    """Return the contributions to the score of a class, in a model that adds up scores."""
    if found.ndim == 2:  # one score for two classes
        found = np.stack([-found, found], axis=2)
    index = labels.index(label) if label is not None else int(found[0].sum(axis=0).argmax())
    return found[0, :, index], f"score of {labels[index]}"
