"""Drawing trees with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from committee.base.warn import warn
from committee.plots.style import pyplot
from committee.trees import tree_layout
from committee.trees.conditions import class_names_of, feature_names_of, number_text, trimmed
from committee.trees.export import check_at_least, view_of
from committee.trees.tree_layout import INK, Card

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from committee.trees.tree_view import TreeView

__all__ = ["plot_tree"]

_FONT = 10.0  # points; every length below is in points at this font size
_LINE = 1.32 * _FONT
_PAD = 6.0
_BAR = 5.0
_CURVE = 26.0
_GAP = 14.0
_LABEL_WIDTH = 20  # characters
_MAX_INCHES = 80.0
_LISTED_CLASSES = 4
_READABLE = 0.5  # of the font size


def plot_tree(
    tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    label: str = "all",
    filled: bool = True,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = True,
    precision: int = 3,
    ax: Axes | None = None,
    fontsize: float | None = None,
) -> list[Text]:
    """Draw a tree with matplotlib.

    A box shows the feature that a node splits or, at a leaf, the prediction; the text above a box
    is the condition of the rows that reach it. Lines are as thick as their share of the rows.

    Parameters
    ----------
    tree : fitted DecisionTreeClassifier, DecisionTreeRegressor, or the ``tree_`` of one
        The tree to draw.
    max_depth : int, default=None
        Depth of the deepest nodes drawn; all when None.
    feature_names : sequence of str, default=None
        Names to print; those of the training table when None.
    class_names : sequence of str, default=None
        Names of the classes; the labels themselves when None.
    label : {"all", "root", "none"}, default="all"
        Where to name the numbers ("samples = 12" instead of "12").
    filled : bool, default=True
        Colour the boxes by class and purity, or by value.
    impurity : bool, default=True
        Show the impurity of each node.
    node_ids : bool, default=False
        Show the number of each node.
    proportion : bool, default=False
        Show shares instead of counts.
    rounded : bool, default=True
        Round the corners of the boxes.
    precision : int, default=3
        Digits after the point.
    ax : matplotlib Axes, default=None
        Where to draw. When None, an empty current figure is used, or a new one of fitting size.
    fontsize : float, default=None
        Size of the text in points; chosen to fit when None.

    Returns
    -------
    annotations : list of matplotlib Text
        The texts in the boxes, node by node.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, plot_tree
    >>> model = DecisionTreeClassifier().fit([[1.0], [2.0], [8.0]], ["low", "low", "high"])
    >>> texts = plot_tree(model, feature_names=["size"])
    >>> texts[0].get_text()
    'size'
    """
    plt = pyplot("plot_tree")
    view = view_of(tree)
    if label not in ("all", "root", "none"):
        raise ValueError(f'label must be "all", "root" or "none"; got {label!r}')
    if max_depth is not None:
        check_at_least("max_depth", max_depth, 0)
    check_at_least("precision", precision, 0)
    names = feature_names_of(view, feature_names)
    classes = class_names_of(view, class_names)
    words = _Words(
        view,
        names,
        classes,
        label=label,
        criterion=str(getattr(tree, "_impurity_name", "impurity")) if impurity else None,
        node_ids=node_ids,
        proportion=proportion,
        precision=precision,
    )
    cards = tree_layout.layout(view, max_depth, names, precision)
    boxes = [_Box(card, words.title(card), words.lines(card)) for card in cards]
    sheet = _Sheet.fitting(boxes)
    ax, scale = sheet.prepare_axes(plt, ax, fontsize)
    return _Drawing(ax, view, sheet, scale, filled=filled, rounded=rounded).draw(boxes)


@dataclass(slots=True)
class _Words:
    """Writes the lines of a box."""

    view: TreeView
    names: list[str]
    classes: list[list[str]] | None
    label: str
    criterion: str | None
    node_ids: bool
    proportion: bool
    precision: int

    def title(self, card: Card) -> str:
        if card.is_leaf:
            return tree_layout.prediction_title(self.view, card.node, self.classes, self.precision)
        return tree_layout.feature_title(self.view, card.node, self.names)

    def lines(self, card: Card) -> list[str]:
        view, node = self.view, card.node
        rows = f"{view.n_node_samples[node]}"
        if self.proportion:
            share = 100 * view.n_node_samples[node] / max(view.n_node_samples[0], 1)
            rows = f"{trimmed(f'{share:.1f}')} %"
        entries = [("samples", rows)]
        if self.node_ids:
            entries.insert(0, ("node", f"#{node}"))
        if self.criterion is not None:
            entries.append((self.criterion, self._number(float(view.impurity[node]))))
        if self.classes is None:
            if not card.is_leaf:
                value = tree_layout.prediction_title(view, node, None, self.precision)
                entries.append(("value", value))
        elif view.n_outputs == 1 and view.n_classes[0] <= _LISTED_CLASSES:
            entries.append(("value", self._class_values(node)))
        named = self.label == "all" or (self.label == "root" and node == 0)
        return [f"{name} = {text}" if named else text for name, text in entries]

    def _class_values(self, node: int) -> str:
        shares = self.view.value[node, 0]
        if not self.proportion:
            shares = shares * self.view.weighted_n_node_samples[node]
        return "[" + ", ".join(self._number(float(share)) for share in shares) + "]"

    def _number(self, number: float) -> str:
        return trimmed(number_text(number, self.precision))


@dataclass(slots=True)
class _Box:
    card: Card
    title: str
    lines: list[str]
    label: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.label = tree_layout.wrapped(self.card.branch, _LABEL_WIDTH) if self.card.branch else []


@dataclass(slots=True)
class _Sheet:
    """Sizes of the boxes and of the whole drawing, in points at the base font size."""

    box_width: float
    box_height: float
    n_lines: int
    level: float  # from the top of a box to the top of its child's box
    width: float
    height: float
    top: float = 4.0

    @classmethod
    def fitting(cls, boxes: list[_Box]) -> _Sheet:
        widest = 0.0
        for box in boxes:
            texts = [(box.title, "bold", 1.0)]
            texts += [(line, "normal", 0.86) for line in box.lines]
            texts += [(line, "normal", 0.9) for line in box.label]
            for text, weight, size in texts:
                widest = max(widest, _text_width(text, weight) * size)
        box_width = widest + 2 * _PAD
        n_lines = max(len(box.lines) for box in boxes)
        box_height = _LINE * (1.0 + 0.9 * n_lines) + _BAR + 2.2 * _PAD
        label = 0.9 * _LINE * max(len(box.label) for box in boxes)
        level = box_height + label + _CURVE
        columns = max(box.card.x for box in boxes) + 1
        levels = max(box.card.depth for box in boxes)
        hidden = 1.6 * _LINE if any(box.card.hidden_leaves for box in boxes) else 0.0
        height = levels * level + box_height + hidden + 8.0
        width = columns * (box_width + _GAP)
        return cls(box_width, box_height, n_lines, level, width, height)

    def prepare_axes(self, plt: Any, ax: Axes | None, fontsize: float | None) -> tuple[Any, float]:
        """Return axes whose data units are points, and the scale of the drawing."""
        if ax is None:
            ax = _empty_axes(plt)
        if ax is None:
            shrink = min(1.0, 72 * _MAX_INCHES / max(self.width, self.height))
            size = (self.width * shrink / 72, self.height * shrink / 72)
            figure = plt.figure(figsize=size)
            ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        extent = ax.get_window_extent()
        points = 72.0 / ax.figure.dpi
        width, height = extent.width * points, extent.height * points
        fit = min(width / self.width, height / self.height)
        scale = min(fit, 1.6) if fontsize is None else fontsize / _FONT
        if fontsize is None and scale < _READABLE:
            self._warn_of_size(scale, width, height)
        ax.set_xlim(-width / 2, width / 2)
        ax.set_ylim(-height, 0.0)
        ax.set_axis_off()
        # Spread the levels over axes that are taller than the drawing, within reason.
        levels = max(self.height - self.box_height, 1.0) / self.level
        spare = max(0.0, height / scale - self.height) / max(levels, 1.0)
        self.level += min(spare, 0.6 * self.box_height)
        self.top = max(4.0, (height / scale - self.height - spare * levels) / 2)
        return ax, scale

    def _warn_of_size(self, scale: float, width: float, height: float) -> None:
        """Say which size the drawing needs to be read."""
        needed = " x ".join(f"{_READABLE * side / 72:.1f}" for side in (self.width, self.height))
        warn(
            f"plot_tree shrinks its text to {_FONT * scale:.1f} points, which cannot be read: the "
            f"axes measure {width / 72:.1f} x {height / 72:.1f} inches, and these boxes need "
            f"{needed} or more. Give ax of a larger figure, a smaller max_depth, "
            "impurity=False, or fontsize for text that leaves its boxes"
        )


class _Drawing:
    """Puts boxes, lines and labels on axes whose data units are points."""

    def __init__(
        self, ax: Any, view: TreeView, sheet: _Sheet, scale: float, *, filled: bool, rounded: bool
    ) -> None:
        self.ax = ax
        self.view = view
        self.sheet = sheet
        self.scale = scale
        self.filled = filled
        self.rounded = rounded

    def draw(self, boxes: list[_Box]) -> list[Text]:
        self.texts: list[Text] = []
        for box in boxes:
            if box.card.parent is not None:
                self._edge(boxes[box.card.parent], box)
            if box.card.hidden_leaves:
                self._hidden(box)
        for box in boxes:
            self._box(box)
        return self.texts

    def _top(self, box: _Box) -> tuple[float, float]:
        """Middle of the top side of a box."""
        sheet = self.sheet
        x = (box.card.x + 0.5) * (sheet.box_width + _GAP) - sheet.width / 2
        return x * self.scale, -(sheet.top + box.card.depth * sheet.level) * self.scale

    def _edge(self, parent: _Box, child: _Box) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        x0, y0 = self._top(parent)
        x1, y1 = self._top(child)
        y0 -= self.sheet.box_height * self.scale
        label = 0.9 * _LINE * len(child.label) * self.scale
        end = y1 + label + 3 * self.scale
        middle = (y0 + end) / 2
        share = tree_layout.weight_share(self.view, child.card.node)
        path = Path(
            [(x0, y0), (x0, middle), (x1, middle), (x1, end)],
            [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
        )
        width = (0.8 + 7.0 * share) * self.scale
        self.ax.add_artist(
            PathPatch(path, fill=False, ec="#9aa5b5", lw=width, capstyle="butt", zorder=1)
        )
        for number, line in enumerate(reversed(child.label)):
            y = y1 + (2.0 + 0.9 * _LINE * number) * self.scale
            self._text(x1, y, line, 0.9, va="bottom", color=None)

    def _hidden(self, box: _Box) -> None:
        x, y = self._top(box)
        y -= self.sheet.box_height * self.scale
        self.ax.plot(
            [x, x], [y, y - 0.5 * _LINE * self.scale], ls=":", lw=1.2 * self.scale, color="#9aa5b5"
        )
        text = f"… {box.card.hidden_leaves} leaves"
        self._text(x, y - 0.55 * _LINE * self.scale, text, 0.86, va="top", color=None)

    def _box(self, box: _Box) -> None:
        from matplotlib.patches import FancyBboxPatch

        sheet, scale = self.sheet, self.scale
        x, top = self._top(box)
        width, height = sheet.box_width * scale, sheet.box_height * scale
        style = f"round,pad=0,rounding_size={6 * scale}" if self.rounded else "square,pad=0"
        fill = tree_layout.node_color(self.view, box.card.node) if self.filled else "white"
        self.ax.add_artist(
            FancyBboxPatch(
                (x - width / 2, top - height),
                width,
                height,
                boxstyle=style,
                fc=fill,
                ec="#6b7686",
                lw=(1.4 if box.card.is_leaf else 0.8) * scale,
                zorder=2,
            )
        )
        y = top - (_PAD + 0.45 * _LINE * (sheet.n_lines - len(box.lines))) * scale
        self.texts.append(self._text(x, y, box.title, 1.0, va="top", weight="bold"))
        for number, line in enumerate(box.lines):
            below = y - _LINE * (1.05 + 0.9 * number) * scale
            self.texts.append(self._text(x, below, line, 0.86, va="top"))
        left, bottom = x - width / 2 + _PAD * scale, top - height + _PAD * scale
        self._bar(box.card.node, left, bottom, width - 2 * _PAD * scale)

    def _bar(self, node: int, left: float, bottom: float, width: float) -> None:
        """Shares of the classes, or where the value lies between the least and the greatest."""
        from matplotlib.patches import Rectangle

        height = _BAR * self.scale
        if self.view.n_outputs > 1:
            return
        if self.view.classes is None:
            line = bottom + height / 2
            dot = left + width * tree_layout.value_position(self.view, node)
            self.ax.plot(
                [left, left + width], [line, line], color="#8b96a6", lw=1.2 * self.scale, zorder=3
            )
            self.ax.plot([dot], [line], "o", color=INK, ms=4.5 * self.scale, zorder=4)
            return
        for color, share in tree_layout.shown_shares(self.view, node):
            part = width * share
            self.ax.add_artist(
                Rectangle((left, bottom), part, height, fc=color, ec="none", zorder=3)
            )
            left += part

    def _text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        *,
        va: str,
        weight: str = "normal",
        color: str | None = INK,
    ) -> Text:
        options = {} if color is None else {"color": color}
        placed: Text = self.ax.text(
            x,
            y,
            text,
            ha="center",
            va=va,
            fontsize=_FONT * size * self.scale,
            weight=weight,
            parse_math=False,
            zorder=5,
            **options,
        )
        return placed


@lru_cache(maxsize=4096)
def _text_width(text: str, weight: str) -> float:
    """Width in points at the base font size; `$` must not start a formula."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(weight=weight, size=_FONT)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width)


def _empty_axes(plt: Any) -> Axes | None:
    """Return axes of the current figure that nothing has been drawn on, if there are any."""
    if not plt.get_fignums():
        return None
    figure = plt.gcf()
    if not figure.axes:
        ax: Axes = figure.add_subplot()
        return ax
    current: Axes = plt.gca()
    is_empty = not (current.lines or current.patches or current.texts or current.collections)
    return current if is_empty and not current.images else None
