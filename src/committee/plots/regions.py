"""Regions of the plane by the predicted class: sides of a stump, or a map of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from committee.adaboost.learners import codes_of
from committee.base.arrays import Floats
from committee.plots.plane import Codes, PlaneRows, name_of
from committee.plots.style import INK
from committee.tables.source import open_source
from committee.trees.tree_layout import class_color, faded

# Cells of a map along each axis, where no thresholds give their ends.
_MOST_CELLS = 300
_PLAIN = 0.2  # strength of colours, where nothing is known but the class


def draw_regions(ax: Any, member: Any, rows: PlaneRows) -> None:
    """Shade what a member predicts: sides of a stump, or a map where two features are all."""
    tree: Any = getattr(member, "tree_", None)
    n_nodes = 0 if tree is None else tree.node_count
    if n_nodes == 3 and int(tree.feature[0]) in rows.features and not tree.splits_levels:
        _draw_stump(ax, member, rows)
    elif rows.is_plane:
        draw_map(ax, member, rows, [member])
    elif n_nodes == 3:
        _note(ax, f"splits by {name_of(open_source(rows.native), int(tree.feature[0]))}")
    elif n_nodes != 1:
        _note(ax, "uses other features too")


def _draw_stump(ax: Any, stump: Any, rows: PlaneRows) -> None:
    tree = stump.tree_
    threshold = float(tree.threshold[0])
    is_across = int(tree.feature[0]) == rows.features[0]
    low, high = rows.limits(0 if is_across else 1)
    edge = min(max(threshold, low), high)
    span, line = (ax.axvspan, ax.axvline) if is_across else (ax.axhspan, ax.axhline)
    for side, (begin, end) in enumerate(((low, edge), (edge, high))):
        child = (tree.children_left, tree.children_right)[side][0]
        predicted = stump.classes_[int(np.argmax(tree.value[child, 0]))]
        code = int(codes_of([predicted], rows.classes)[0])
        span(begin, end, color=_paper(code), linewidth=0, zorder=0)
    if np.isfinite(threshold):
        line(threshold, color=INK, linewidth=2, zorder=1)


def draw_map(ax: Any, model: Any, rows: PlaneRows, members: Sequence[Any]) -> None:
    """Shade the plane by the class that a member or the committee predicts."""
    cells = Cells.of(rows, members)
    predicted = codes_of(model.predict(cells.table), rows.classes)
    draw_classes(ax, cells, predicted, np.full(len(predicted), _PLAIN))


@dataclass(frozen=True, eq=False)
class Cells:
    """The plane of two features, cut into cells.

    Attributes
    ----------
    edges : list of two ndarrays of float64
        Where cells end, across and up.
    table : table
        The middle of each cell, line by line.
    """

    edges: list[Floats]
    table: Any

    @classmethod
    def of(cls, rows: PlaneRows, members: Sequence[Any], n_cells: int = _MOST_CELLS) -> Self:
        """Cut the plane at the thresholds of trees, or evenly where others are among members."""
        trees = [getattr(member, "tree_", None) for member in members]
        edges = [
            cell_edges(trees, rows.features[axis], rows.limits(axis), n_cells) for axis in (0, 1)
        ]
        across, up = np.meshgrid(*((each[1:] + each[:-1]) / 2 for each in edges))
        return cls(edges, rows.table_at(across.ravel(), up.ravel()))

    def shaped(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of all cells as lines and columns."""
        lines, columns = (len(edge) - 1 for edge in self.edges[::-1])
        return values.reshape(lines, columns, *values.shape[1:])


def draw_classes(ax: Any, cells: Cells, codes: Codes, strengths: Floats) -> None:
    """Shade cells by class, with lines between the classes.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    cells : Cells
        The plane.
    codes : ndarray of int, shape (n_cells,)
        The predicted classes.
    strengths : ndarray of float64, shape (n_cells,)
        Of the colours, from zero for white to one.
    """
    colors = np.array([_rgb(class_color(code)) for code in range(int(codes.max()) + 1)])[codes]
    shades = 1.0 - strengths[:, np.newaxis] * (1.0 - colors)
    ax.pcolormesh(*cells.edges, cells.shaped(shades), zorder=0, rasterized=True)
    _draw_borders(ax, cells.edges, cells.shaped(codes))


def _draw_borders(ax: Any, edges: list[Floats], codes: Codes) -> None:
    """Draw a line where the predicted class changes from one cell to the next."""
    across, up = edges
    style = {"color": INK, "linewidth": 1.6, "zorder": 1, "capstyle": "projecting"}
    lines, columns = np.nonzero(codes[:, 1:] != codes[:, :-1])
    ax.vlines(across[columns + 1], up[lines], up[lines + 1], **style)
    lines, columns = np.nonzero(codes[1:] != codes[:-1])
    ax.hlines(up[lines + 1], across[columns], across[columns + 1], **style)


def cell_edges(
    trees: Sequence[Any], feature: int, limits: tuple[float, float], most: int
) -> Floats:
    """Return where cells of a map end: at the thresholds of trees, else at even steps.

    Parameters
    ----------
    trees : sequence
        Arrays of trees, as in ``tree_``; None among them stands for a model with other borders.
    feature : int
        The feature along the axis.
    limits : pair of floats
        Ends of the axis.
    most : int
        Most cells, and the number of even ones.
    """
    low, high = limits
    even = np.linspace(low, high, most + 1)
    if any(tree is None or getattr(tree, "splits_levels", False) for tree in trees):
        return even
    thresholds = [tree.threshold[tree.feature == feature] for tree in trees]
    inside = np.unique(np.concatenate(thresholds))
    inside = inside[(inside > low) & (inside < high)]
    return even if len(inside) >= most else np.concatenate([[low], inside, [high]])


def _paper(code: int) -> str:
    return faded(class_color(code), _PLAIN)


def _rgb(color: str) -> list[float]:
    return [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]


def _note(ax: Any, text: str) -> None:
    ax.annotate(
        text,
        (0.5, 0.03),
        xycoords="axes fraction",
        ha="center",
        va="bottom",
        fontsize="small",
        fontstyle="italic",
        color=INK,
    )
