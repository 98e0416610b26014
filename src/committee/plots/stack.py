"""Stacks with matplotlib: layers of members, and weights of the meta-learner."""

from __future__ import annotations

from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.arrays import Floats
from committee.plots.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    name_axes,
    new_axes,
    tidy_bars,
)
from committee.trees.tree_layout import faded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from committee.combining.stacking.leakage import LeakReport

__all__ = ["plot_stack"]

_LINE = 13  # letters of a name in a line of its box
_ROOM = 0.35  # more room before the meta-learner, for weights


def plot_stack(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a stack: its layers, and the weights that the meta-learner gives to members.

    Parameters
    ----------
    model : fitted StackingClassifier or StackingRegressor
        What to draw.
    ax : matplotlib Axes, default=None
        Where to draw the layers. None makes a figure, with a second panel beside them if the model
        has a `leak_report_`: the losses in the level-one data (circles), and those on rows that no
        member was fitted to (dots, with two standard errors of the difference).

    Returns
    -------
    ax : matplotlib Axes
        The axes of the layers. Lines to a meta-learner with weights or coefficients are as wide as
        these, orange where they are negative. Of several classes it is the mean coefficient of a
        member's probability of a class in the score of that class.

    Examples
    --------
    >>> from committee import ExtraTreesClassifier, RandomForestClassifier
    >>> from committee import StackingClassifier, plot_stack
    >>> from committee.datasets import load_penguins
    >>> members = [
    ...     ("forest", RandomForestClassifier(random_state=0)),
    ...     ("extra", ExtraTreesClassifier(random_state=0)),
    ... ]
    >>> stack = StackingClassifier(members, "convex").fit(*load_penguins())
    >>> "7 columns" in [text.get_text() for text in plot_stack(stack).texts]
    True
    """
    if not hasattr(model, "layers_") or not hasattr(model, "_member_lists"):
        raise TypeError(
            f"model must be a fitted stack, such as StackingClassifier; got {type(model).__name__}"
        )
    names = [
        [name for name, each in pairs if not isinstance(each, str)]
        for pairs in model._member_lists()
    ]
    report = getattr(model, "leak_report_", None)
    tall = max(len(layer) for layer in names)
    if ax is None:
        # Layers beside each other, and a panel of its own for the report.
        wide = 2.7 + 1.75 * len(names)
        size = (max(wide, 4.6), max(2.4, 0.7 + 0.62 * tall))
        if report is None:
            ax = new_axes("plot_stack", size)
        else:
            whole = (size[0] + 3.6, max(size[1], 1.4 + 0.34 * len(report.names)))
            pair = new_axes("plot_stack", whole, n_columns=2, widths=[size[0], 3.3])
            ax = pair[0]
            _draw_report(report, pair[1])
    _draw_layers(model, names, ax)
    drawn: Axes = ax
    return drawn


def meta_weights(final: Any, n_members: int, n_classes: int) -> Floats | None:
    """Return the weight of each member in a meta-learner; None if it has no weights.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> line = LinearRegression().fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [1.0, 2.0, 3.0])
    >>> meta_weights(line, 2, 0).round(6).tolist()
    [2.0, 1.0]
    """
    found = getattr(final, "weights_", getattr(final, "coef_", None))
    if found is None:
        return None
    values = np.atleast_2d(np.asarray(found, np.float64))
    if len(values) == 1:
        return values[0, :n_members] if values.shape[1] >= n_members else None
    if len(values) != n_classes or values.shape[1] < n_members * n_classes:
        return None  # members that vote, or give scores of another kind
    own = values[:, : n_members * n_classes].reshape(n_classes, n_members, n_classes)
    return np.asarray(np.einsum("kmk->m", own) / n_classes)


def _draw_layers(model: Any, names: list[list[str]], ax: Any) -> None:
    n_classes = len(getattr(model, "classes_", ()))
    weights = meta_weights(model.final_estimator_, len(names[-1]), n_classes)
    steps = [["table"], *names, ["meta"]]
    last = len(steps) - 1
    across = [*map(float, range(last)), last + _ROOM]
    spots = [
        [(across[step], (len(layer) - 1) / 2 - place) for place in range(len(layer))]
        for step, layer in enumerate(steps)
    ]
    tall = max(len(layer) for layer in steps)
    for here, there in pairwise(spots[:-1]):
        for start in here:
            for end in there:
                _draw_line(ax, start, end, GREY, 0.8)
    for place, start in enumerate(spots[-2]):
        _draw_weight(ax, start, spots[-1][0], weights, place)
    if model.passthrough:
        _draw_bypass(ax, spots, -tall / 2 - 0.2)
    _draw_box(ax, spots[0][0], f"{model.n_features_in_} columns", "white")
    for layer, own in zip(names, spots[1:-1], strict=True):
        for name, spot in zip(layer, own, strict=True):
            _draw_box(ax, spot, _in_lines(name), faded(BLUE, 0.16))
    final = type(model.final_estimator_).__name__
    _draw_box(ax, spots[-1][0], _wrapped(final), faded(ORANGE, 0.2))
    ax.set_xlim(-0.55, across[-1] + 0.6)
    ax.set_ylim(-tall / 2 - 0.2 - 0.3 * model.passthrough, tall / 2 + 0.45)
    for x, title in zip(across, ["table", *_layer_titles(names), "meta-learner"], strict=True):
        ax.text(x, tall / 2 + 0.1, title, ha="center", va="bottom", color=GREY, fontsize="small")
    ax.axis("off")


def _draw_bypass(ax: Any, spots: list[list[tuple[float, float]]], lowest: float) -> None:
    """Draw the way of the columns of the table past the first members."""
    for (x, y), *_ in (each[-1:] for each in spots[2:]):
        path = [spots[0][0], (0.0, lowest), (x, lowest), (x, y)]
        ax.plot(*zip(*path, strict=True), ":", color=GREY, linewidth=1.4, zorder=1)


def _layer_titles(names: list[list[str]]) -> list[str]:
    if len(names) == 1:
        return ["members"]
    return [f"layer {number}" for number in range(1, len(names) + 1)]


def _draw_weight(ax: Any, start: Any, end: Any, weights: Floats | None, place: int) -> None:
    """Draw the line of a member to the meta-learner, with its weight."""
    if weights is None:
        _draw_line(ax, start, end, GREY, 1.2)
        return
    largest = float(np.abs(weights).max()) or 1.0
    weight = float(weights[place])
    width = 0.8 + 6.0 * abs(weight) / largest
    color = ORANGE if weight < 0 else BLUE if weight else GREY
    _draw_line(ax, start, end, color, width, "-" if weight else ":")
    spot = np.array(start) + 0.52 * (np.array(end) - np.array(start))
    ax.text(
        *spot,
        f"{weight:.2f}",
        ha="center",
        va="center",
        fontsize="small",
        color=INK,
        bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"},
        zorder=4,
    )


def _draw_line(ax: Any, start: Any, end: Any, color: str, width: float, style: str = "-") -> None:
    ax.plot(
        [start[0], end[0]],
        [start[1], end[1]],
        style,
        color=color,
        linewidth=width,
        solid_capstyle="round",
        alpha=0.85,
        zorder=1,
    )


def _draw_box(ax: Any, spot: tuple[float, float], text: str, color: str) -> None:
    box = {"boxstyle": "round,pad=0.5", "facecolor": color, "edgecolor": INK, "linewidth": 0.8}
    ax.text(*spot, text, ha="center", va="center", color=INK, bbox=box, zorder=3)


def _in_lines(name: str) -> str:
    r"""Return the name of a member in two lines at most, which fit between two layers.

    Examples
    --------
    >>> _in_lines("forest"), _in_lines("forest_of_many_deep_trees")
    ('forest', 'forest_of_\nmany_deep_\u2026')
    """
    lines = [line.replace("_ ", "_") for line in wrap(name.replace("_", "_ "), _LINE)] or [name]
    return "\n".join(lines[:2]) + "\u2026" * (len(lines) > 2)


def _wrapped(name: str) -> str:
    """Return a long class name in two lines."""
    for ending in ("Classifier", "Regressor", "Regression", "CV"):
        if name.endswith(ending) and len(name) > 10:
            return f"{name.removesuffix(ending)}\n{ending}"
    return name


def _draw_report(report: LeakReport, ax: Any) -> None:
    """Draw losses in the level-one data and on unseen rows, the stack at the bottom."""
    places = np.arange(len(report.names))[::-1]
    suspects = set(report.suspects)
    for place, name, promised, found, error in zip(
        places, report.names, report.promised, report.found, report.error, strict=True
    ):
        color = ORANGE if name in suspects else BLUE
        ax.plot([found - 2 * error, found + 2 * error], [place] * 2, color=GREY, linewidth=1)
        ax.plot([promised, found], [place] * 2, color=color, linewidth=2.2)
        ax.plot(found, place, "o", color=color, markersize=7, zorder=3)
        ax.plot(
            promised,
            place,
            "o",
            markerfacecolor="white",
            markeredgecolor=color,
            markeredgewidth=1.8,
            markersize=7,
            zorder=3,
        )
    ax.set_ylim(-0.6, len(places) - 0.4)
    low, high = ax.get_xlim()
    if low > 0:
        ax.set_xlim(0 if low < 0.4 * high else low, high)
    name_axes(ax, x="loss: \u25cb level-one data   \u25cf unseen rows")
    title = "leaked" if report.leaked else "no sign of leakage"
    ax.set_title(title, color=ORANGE if report.leaked else INK, fontsize="medium")
    tidy_bars(ax, places, report.names)
