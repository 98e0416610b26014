"""A small SVG picture of a tree for notebooks, made by hand and self-contained.

The picture brings its own background, light or dark as the reader's system prefers, so it can be
read on any page. Every piece of text comes from the user's table and is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from committee.trees import tree_layout as picture
from committee.trees.conditions import class_names_of, feature_names_of
from committee.trees.tree_layout import INK, Card

if TYPE_CHECKING:
    from committee.trees.tree_view import TreeView

_CHAR = 7.5  # pixels of an average bold character at 12 px
_CARD_HEIGHT = 56.0
_LEVEL = 112.0
_GAP = 16.0
_MARGIN = 14.0
_LEGEND = 24.0
_LABEL_CHARS = 20
_LEGEND_CLASSES = 10
_MOST_BRANCHES = 12  # of a node: of ten thousand levels nobody sees any
_MOST_CARDS = 60

# Scoped to the class, because a notebook shares one page between all pictures.
_STYLE = f"""
.committee-tree {{ font-family: system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; }}
.committee-tree text {{ font-size: 11px; text-anchor: middle; fill: {INK}; }}
.committee-tree .title {{ font-size: 12px; font-weight: 600; }}
.committee-tree .key {{ text-anchor: start; }}
.committee-tree .page {{ fill: #ffffff; stroke: #e1e5eb; }}
.committee-tree .edge {{ fill: none; stroke: #aab4c2; }}
.committee-tree .card {{ stroke: #6b7686; }}
@media (prefers-color-scheme: dark) {{
.committee-tree .page {{ fill: #1b2028; stroke: #343c48; }}
.committee-tree .edge {{ stroke: #5d6878; }}
.committee-tree .out {{ fill: #dfe5ee; }}
}}
""".strip()


def tree_svg(estimator: Any, max_depth: int = 4) -> str:
    """Draw a fitted tree as SVG.

    Parameters
    ----------
    estimator : fitted DecisionTreeClassifier, DecisionTreeRegressor, or the ``tree_`` of one
        The tree to draw.
    max_depth : int, default=4
        Depth of the deepest nodes drawn.

    Returns
    -------
    svg : str
        An ``<svg>`` element without outside references.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1.0], [2.0], [8.0]], ["low", "low", "high"])
    >>> tree_svg(model)[:4]
    '<svg'
    """
    from committee.trees.export import check_at_least, view_of

    check_at_least("max_depth", max_depth, 0)
    view = view_of(estimator)
    return _Picture(view, max_depth).svg()


class TreeReprMixin:
    """Shows a fitted tree estimator as a picture in notebooks, an unfitted one as usual."""

    def _repr_svg_(self) -> str | None:
        return tree_svg(self) if hasattr(self, "tree_") else None

    def _repr_html_inner(self) -> str:
        return self._tree_html() + str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._tree_html() + bundle["text/html"]
        return bundle

    def _tree_html(self) -> str:
        svg = self._repr_svg_()
        return "" if svg is None else f'<div style="overflow-x:auto">{svg}</div>'


class _Picture:
    """The SVG of one tree; lengths are pixels."""

    def __init__(self, view: TreeView, max_depth: int) -> None:
        self.view = view
        self.names = feature_names_of(view, None)
        self.classes = class_names_of(view, None)
        self.cards = picture.layout(
            view,
            max_depth,
            self.names,
            precision=2,
            most_branches=_MOST_BRANCHES,
            most_cards=_MOST_CARDS,
        )
        self.titles = [self._title(card) for card in self.cards]
        self.labels = [picture.wrapped(card.branch, _LABEL_CHARS) for card in self.cards]
        self.card_width = 96.0
        for title, label in zip(self.titles, self.labels, strict=True):
            longest = max(map(len, [title, *label]))
            self.card_width = max(self.card_width, longest * _CHAR + 18)
        self.has_legend = self.classes is not None and view.n_outputs == 1
        self.top = _MARGIN + (_LEGEND if self.has_legend else 0.0)

    def svg(self) -> str:
        tree_width = (max(card.x for card in self.cards) + 1) * (self.card_width + _GAP) - _GAP
        legend, legend_width = self._legend()
        width = max(tree_width, legend_width) + 2 * _MARGIN
        self.left = (width - tree_width) / 2
        depth = max(card.depth for card in self.cards)
        hidden = 20.0 if any(card.hidden_leaves for card in self.cards) else 0.0
        height = self.top + depth * _LEVEL + _CARD_HEIGHT + hidden + _MARGIN
        edges = [self._edge(index) for index in range(1, len(self.cards))]
        cards = map(self._card, self.cards, self.titles)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="committee-tree" role="img" '
            f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
            f"<title>{escape(self._summary())}</title><style>{_STYLE}</style>"
            f'<rect class="page" x="0.5" y="0.5" width="{width - 1:.0f}" '
            f'height="{height - 1:.0f}" rx="10"/>'
            f"{legend}{''.join(edges)}{''.join(cards)}</svg>"
        )

    def _summary(self) -> str:
        view = self.view
        kind = "Regression" if self.classes is None else "Classification"
        return f"{kind} tree with {view.n_leaves} leaves, depth {view.max_depth}"

    def _title(self, card: Card) -> str:
        if card.n_branches > 1:
            return f"… {card.n_branches} more"
        if card.is_leaf:
            return picture.prediction_title(self.view, card.node, self.classes, 2)
        return picture.feature_title(self.view, card.node, self.names)

    def _top_of(self, card: Card) -> tuple[float, float]:
        """Middle of the top side of a card."""
        x = self.left + card.x * (self.card_width + _GAP) + self.card_width / 2
        return x, self.top + card.depth * _LEVEL

    def _legend(self) -> tuple[str, float]:
        if not self.has_legend or self.classes is None:
            return "", 0.0
        parts = []
        x = _MARGIN
        names = self.classes[0]
        for index, name in enumerate(names[:_LEGEND_CLASSES]):
            text = picture.shortened(name, 24)
            parts.append(
                f'<rect x="{x:.1f}" y="{_MARGIN - 2:.1f}" width="10" height="10" rx="2" '
                f'fill="{picture.class_color(index)}"/>'
                f'<text class="key out" x="{x + 15:.1f}" y="{_MARGIN + 7:.1f}">'
                f"{escape(text)}</text>"
            )
            x += 15 + len(text) * _CHAR + 12
        if len(names) > _LEGEND_CLASSES:
            more = f"… {len(names) - _LEGEND_CLASSES} more classes"
            parts.append(f'<text class="key out" x="{x:.1f}" y="{_MARGIN + 7:.1f}">{more}</text>')
            x += len(more) * _CHAR
        return "".join(parts), x - _MARGIN

    def _edge(self, index: int) -> str:
        card = self.cards[index]
        if card.n_branches > 1:
            return ""
        assert card.parent is not None
        x0, y0 = self._top_of(self.cards[card.parent])
        x1, y1 = self._top_of(card)
        y0 += _CARD_HEIGHT
        lines = self.labels[index]
        end = y1 - 4 - 13 * len(lines)
        middle = (y0 + end) / 2
        share = picture.weight_share(self.view, card.node)
        texts = "".join(
            f'<text class="out" x="{x1:.1f}" y="{y1 - 5 - 13 * (len(lines) - 1 - number):.1f}">'
            f"{escape(line)}</text>"
            for number, line in enumerate(lines)
        )
        return (
            f'<path class="edge" stroke-width="{1 + 7 * share:.1f}" '
            f'd="M{x0:.1f} {y0:.1f}C{x0:.1f} {middle:.1f} '
            f'{x1:.1f} {middle:.1f} {x1:.1f} {end:.1f}"/>'
            f"{texts}"
        )

    def _card(self, card: Card, title: str) -> str:
        x, y = self._top_of(card)
        if card.n_branches > 1:
            return f'<text class="out" x="{x:.1f}" y="{y + 18:.1f}">{title}</text>'
        width = self.card_width
        fill = picture.node_color(self.view, card.node)
        rows = int(self.view.n_node_samples[card.node])
        line = "1 row" if rows == 1 else f"{rows} rows"
        more = ""
        if card.hidden_leaves:
            more = (
                f'<text class="out" x="{x:.1f}" y="{y + _CARD_HEIGHT + 15:.1f}">'
                f"… {card.hidden_leaves} leaves</text>"
            )
        return (
            f"<g><title>{escape(self._details(card.node))}</title>"
            f'<rect class="card" x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{_CARD_HEIGHT:.0f}" rx="7" fill="{fill}" '
            f'stroke-width="{1.4 if card.is_leaf else 0.7}"/>'
            f'<text class="title" x="{x:.1f}" y="{y + 18:.1f}">{escape(title)}</text>'
            f'<text x="{x:.1f}" y="{y + 33:.1f}">{line}</text>'
            f"{self._bar(card.node, x - width / 2 + 9, y + 41, width - 18)}{more}</g>"
        )

    def _bar(self, node: int, left: float, top: float, width: float) -> str:
        """Shares of the classes, or where the value lies between the least and the greatest."""
        if self.view.n_outputs > 1:
            return ""
        if self.classes is None:
            dot = left + width * picture.value_position(self.view, node)
            return (
                f'<rect x="{left:.1f}" y="{top + 3:.1f}" width="{width:.1f}" height="1.5" '
                f'fill="#7c8797"/>'
                f'<circle cx="{dot:.1f}" cy="{top + 3.7:.1f}" r="3.6" fill="{INK}"/>'
            )
        parts = []
        for color, share in picture.shown_shares(self.view, node):
            parts.append(
                f'<rect x="{left:.2f}" y="{top:.1f}" width="{width * share:.2f}" height="7" '
                f'fill="{color}"/>'
            )
            left += width * share
        return "".join(parts)

    def _details(self, node: int) -> str:
        """Text shown when the pointer rests on a card."""
        lines = [f"node {node}", f"impurity {self.view.impurity[node]:.4g}"]
        value = self.view.value[node]
        if self.classes is None:
            lines += [f"value {number:.6g}" for number in value[:, 0]]
        else:
            for names, shares in zip(self.classes, value.tolist(), strict=True):
                pairs = sorted(zip(shares, names, strict=False), reverse=True)[:_LEGEND_CLASSES]
                lines += [f"{name}: {100 * share:.1f} %" for share, name in pairs if share > 0]
        return "\n".join(lines)
