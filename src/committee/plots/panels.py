"""Panels side by side on the plane of two features, and rows as points in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_int
from committee.plots.plane import PlaneRows
from committee.plots.style import GREY, INK, name_axes, pyplot
from committee.trees.tree_layout import class_color

# Areas of markers in square points: that of a row of mean weight goes by the number of rows.
_SMALLEST_MEAN, _LARGEST_MEAN = 10.0, 240.0
_DOT = 2.0


def mean_area(n_rows: int) -> float:
    """Return the area of the marker of a row of mean weight."""
    return float(np.clip(max(2400 / n_rows, 400 / n_rows**0.5), _SMALLEST_MEAN, _LARGEST_MEAN))


def panels(name: str, n_panels: int, n_columns: int | None) -> list[Any]:
    """Return the axes of a new figure, for a plotting function `name`."""
    if n_columns is None:
        n_columns = n_panels if n_panels <= 4 else 3 if n_panels in (5, 6, 9) else 4
    n_columns = min(check_int("n_columns", n_columns, 1), n_panels)
    n_lines = -(-n_panels // n_columns)
    plt = pyplot(name)
    size = (2.75 * n_columns + 0.3, 2.95 * n_lines + 0.5)
    _, grid = plt.subplots(n_lines, n_columns, figsize=size, layout="constrained", squeeze=False)
    axes = list(grid.ravel())
    for idle in axes[n_panels:]:
        idle.remove()
    return axes[:n_panels]


def draw_points(ax: Any, rows: PlaneRows, areas: Floats, is_wrong: NDArray[np.bool_]) -> None:
    """Draw rows by class, as large as `areas` in square points, with a ring around wrong ones."""
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


def set_title(ax: Any, name: str, numbers: str) -> None:
    """Write a title of two lines."""
    name_axes(ax, title=f"{name}\n{numbers}")


def label_panels(axes: list[Any], rows: PlaneRows) -> None:
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
    if not len(rows.classes):
        return
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
