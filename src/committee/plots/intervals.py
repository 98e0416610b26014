"""Prediction intervals and quantiles with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.params import check_choice
from committee.plots.style import (
    BLUE,
    INK,
    ORANGE,
    axes_or_new,
    name_axes,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_intervals"]


def plot_intervals(
    x: Any,
    bounds: Any,
    y: Any = None,
    *,
    style: str = "band",
    color: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw intervals or quantiles against a feature, or against the predictions.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
        Where to draw each row.
    bounds : array-like of shape (n_rows, n_bounds)
        Two bounds, from `predict_interval`, or ascending quantiles, from `predict_quantiles`:
        bands from the outermost pair inward, and a line for the middle one if their number is odd.
    y : array-like of shape (n_rows,) or None, default=None
        True values, drawn as points; those outside the outermost bounds in another colour.
    style : {"band", "bars"}, default="band"
        Bands for a feature with an order; a bar for each row where neighbours are unrelated.
    color : str or None, default=None
        Colour of the intervals.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The axes; the title has the number of values inside.

    Examples
    --------
    >>> from committee import plot_intervals
    >>> ax = plot_intervals([1, 2, 3], [[0, 2], [1, 3], [2, 4]], [1, 2, 9])
    >>> ax.get_title()
    '2 of 3 values inside (66.7 %)'
    """
    check_choice("style", style, ("band", "bars"))
    where, limits = np.asarray(x).ravel(), np.asarray(bounds, np.float64)
    if limits.ndim != 2 or len(limits) != len(where) or limits.shape[1] < 2:
        raise ValueError(
            "bounds must have a row for each entry of x and two columns or more; got shape "
            f"{limits.shape} for {len(where)} entries"
        )
    ax = axes_or_new(ax, "plot_intervals", (6.4, 3.8))
    order = np.argsort(where, kind="stable")
    fill = color or BLUE
    n_bounds = limits.shape[1]
    for pair in range(n_bounds // 2):
        low, high = limits[order, pair], limits[order, n_bounds - 1 - pair]
        if style == "band":
            ax.fill_between(where[order], low, high, color=fill, alpha=0.22, linewidth=0)
        else:
            ax.vlines(where[order], low, high, color=fill, alpha=0.35, linewidth=1.6)
    if n_bounds % 2:
        middle = limits[order, n_bounds // 2]
        ax.plot(where[order], middle, *(["_"] if style == "bars" else []), color=fill, linewidth=2)
    if y is not None:
        truth = np.asarray(y, np.float64).ravel()
        inside = (limits[:, 0] <= truth) & (truth <= limits[:, -1])
        for mask, ink, size in ((inside, INK, 3.0), (~inside, ORANGE, 4.5)):
            ax.plot(where[mask], truth[mask], ".", color=ink, markersize=size, alpha=0.8)
        title = f"{inside.sum()} of {len(inside)} values inside ({100 * inside.mean():.1f} %)"
        name_axes(ax, title=title)
    tidy(ax)
    return ax
