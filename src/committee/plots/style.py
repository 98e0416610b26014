"""What all pictures share: colours, axes, labels, and lines from round to round.

Functions draw on the axes that a user gives, so the style is set on each artist and not through
matplotlib's settings. Colours of classes are in `trees/tree_layout.py`, which SVG uses too. Colours
that meet in a picture stay apart for colour-blind readers (tests/test_colors.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.trees.tree_layout import INK as INK

BLUE, ORANGE, GREEN, PURPLE = "#3b7dd8", "#d9822b", "#3a9b6f", "#6b2f86"
GREY, GRID = "#9aa5b4", "#e6eaf0"
PALE_TO_DARK = ("#b9d0ef", "#7fa9e3", "#3b7dd8", "#24508f", "#122a4d")


def pyplot(name: str) -> Any:
    """Return `matplotlib.pyplot`, which a plotting function `name` needs."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{name} needs matplotlib: pip install 'committee[plot]'") from error
    return plt


def axes_or_new(ax: Any, name: str, size: tuple[float, float]) -> Any:
    """Return the given axes, or those of a new figure of a size in inches."""
    return ax if ax is not None else new_axes(name, size)


def new_axes(name: str, size: tuple[float, float], n_columns: int = 1, widths: Any = None) -> Any:
    """Return the axes of a new figure: one, or an array of several side by side."""
    options = {"figsize": size, "layout": "constrained", "width_ratios": widths}
    return pyplot(name).subplots(1, n_columns, **options)[1]


def tidy(ax: Any, grid: str = "y") -> None:
    """Remove the lines at the top and on the right, and draw a pale grid along one axis."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color=GRID)
    ax.set_axisbelow(True)


def tidy_bars(ax: Any, places: Any, names: Any) -> None:
    """Name horizontal bars, which have a grid for their lengths and no line at their left."""
    ax.set_yticks(places, names, color=INK)
    tidy(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def plain_number(value: float, *, sign: bool = False) -> str:
    """Return a number with three digits, as a person would write it.

    Examples
    --------
    >>> [plain_number(value) for value in (0.12345, 12345.6, 0.0)]
    ['0.123', '12,346', '0']
    >>> plain_number(2.0, sign=True)
    '+2'
    """
    form = ",.0f" if 1000 <= abs(value) < 1e15 else ".3g"
    return format(value, f"+{form}" if sign else form)


def name_axes(
    ax: Any, x: str | None = None, y: str | None = None, title: str | None = None
) -> None:
    """Write names of the axes and a title."""
    if x:
        ax.set_xlabel(x, color=INK)
    if y:
        ax.set_ylabel(y, color=INK)
    if title:
        ax.set_title(title, color=INK, fontsize="medium")


def legend(ax: Any, **options: Any) -> None:
    """Draw a legend without a frame; options as of `Axes.legend`."""
    ax.legend(frameon=False, labelcolor=INK, **options)


def log_members(ax: Any) -> None:
    """Count members on a logarithmic axis with plain numbers."""
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")


def shades(n_curves: int) -> list[str]:
    """Return colours for curves in order: the more members or rounds, the darker.

    Examples
    --------
    >>> shades(2)
    ['#7fa9e3', '#122a4d']
    """
    last = len(PALE_TO_DARK) - 1
    if n_curves > last + 1:
        return [_between(last * place / (n_curves - 1)) for place in range(n_curves)]
    steps = [round(place * last / max(n_curves - 1, 1)) for place in range(n_curves)]
    if n_curves == 1:
        steps = [last]
    return [PALE_TO_DARK[max(step, 1) if n_curves < 4 else step] for step in steps]


def _between(place: float) -> str:
    """Return the colour at a place between two of the shades."""
    first = min(int(place), len(PALE_TO_DARK) - 2)
    pair = [[int(PALE_TO_DARK[first + k][i : i + 2], 16) for i in (1, 3, 5)] for k in (0, 1)]
    share = place - first
    mixed = [round((1 - share) * a + share * b) for a, b in zip(*pair, strict=True)]
    return "#" + "".join(f"{value:02x}" for value in mixed)


def line_by_round(ax: Any, values: Floats, name: str, **style: Any) -> None:
    """Draw a line of one value for each round, from round one; none where all are NaN."""
    if not np.isnan(values).all():
        ax.plot(np.arange(1, len(values) + 1), values, label=name, **style)


def mark_round(ax: Any, values: Floats, index: int, color: str) -> None:
    """Mark a round by a dot and its value, written inside the picture."""
    share = index / len(values)
    side = "left" if share < 0.25 else "right" if share > 0.75 else "center"
    ax.plot([index + 1], [values[index]], "o", color=color, markersize=6, zorder=3)
    ax.annotate(
        f"round {index + 1}, {values[index]:.3g}",
        (index + 1, values[index]),
        xytext=(0, 10),
        textcoords="offset points",
        ha=side,
        color=INK,
    )
