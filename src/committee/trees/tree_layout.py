"""Where the nodes of a tree go in a picture, and what is written at them.

Used by the matplotlib plot and by the SVG of notebooks. A *card* is the box of one node: a title,
a few lines, and shares for a coloured bar. Cards are one unit wide apart; subtrees are pushed
together until their outlines touch, and a parent sits midway above its first and last child.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from committee.trees.branch import Branch
from committee.trees.conditions import (
    Condition,
    clean_name,
    level_text,
    number_text,
    start_condition,
    threshold_text,
    trimmed,
)
from committee.trees.tree_view import TreeView

INK = "#1f2733"
# Any two differ for readers with each kind of colour blindness (tests/test_colors.py).
_CLASS_COLORS = (
    "#3b6fb6",
    "#e08a1e",
    "#3f9b5c",
    "#561e4c",
    "#7dd3f8",
    "#a1370a",
    "#ab809c",
    "#efe91e",
    "#5d0e0a",
    "#4a5b49",
)
_REST = "#c3cad3"  # of classes that are too many to be seen
_MOST_SHARES = 20
_TINY_SHARE = 1e-9


@dataclass(slots=True)
class Card:
    """One drawn node: its place, the label of the branch that leads to it, and its content.

    The last card below a node may stand for several branches that are not drawn.
    """

    node: int
    parent: int | None
    depth: int
    x: float = 0.0
    branch: str = ""
    is_leaf: bool = True
    hidden_leaves: int = 0  # leaves below a node whose children are not drawn
    n_branches: int = 1  # that lead to the card: with more, they are no node


def layout(
    view: TreeView,
    max_depth: int | None,
    names: Sequence[str],
    precision: int,
    *,
    most_branches: int | None = None,
    most_cards: int | None = None,
) -> list[Card]:
    """Place the nodes down to `max_depth`, parents before their children.

    Parameters
    ----------
    view, max_depth, names, precision
        The tree, and how it is to be shown.
    most_branches : int or None, default=None
        Of a node with more branches, those of the heaviest children are drawn.
    most_cards : int or None, default=None
        Of a wider tree, the nodes that are furthest from the root are not drawn.
    """
    limit = view.max_depth if max_depth is None else max_depth
    leaves_below = _leaves_below(view)
    root = Card(0, None, 0)
    cards = [root]
    paths: list[dict[int, Condition]] = [{}]
    for index, card in enumerate(cards):  # grows while it runs
        if card.n_branches > 1:
            continue
        children = view.children(card.node)
        card.is_leaf = not children
        shown = _shown_children(view, children, most_branches)
        is_full = most_cards is not None and len(cards) + len(shown) > most_cards
        if card.depth >= limit or is_full:
            card.hidden_leaves = leaves_below[card.node] if children else 0
            continue
        for child in shown:
            branch = view.branch(card.node, child)
            before = paths[index].get(branch.feature)
            condition = before or start_condition(view, branch.feature, names, precision)
            condition = condition.narrowed(branch)
            label = branch_label(branch, condition, precision)
            cards.append(Card(child, index, card.depth + 1, branch=label))
            paths.append(paths[index] | {branch.feature: condition})
        n_left_out = len(children) - len(shown)
        if n_left_out:
            cards.append(Card(-1, index, card.depth + 1, n_branches=n_left_out))
            paths.append({})
    _place(cards)
    return cards


def _shown_children(view: TreeView, children: Sequence[int], most: int | None) -> Sequence[int]:
    """Return the heaviest children of a node, in order; never all but one."""
    if most is None or len(children) <= most + 1:
        return children
    weights = view.weighted_n_node_samples[list(children)]
    heaviest = np.argsort(-weights, kind="stable")[:most]
    return [children[place] for place in np.sort(heaviest).tolist()]


def shown_shares(view: TreeView, node: int) -> list[tuple[str, float]]:
    """Return colour and share of the classes of a node; small ones of very many are grey.

    Parameters
    ----------
    view : TreeView
        A tree with one output.
    node : int
        The node.
    """
    shares = view.value[node, 0]
    codes = np.flatnonzero(shares)
    if len(codes) > _MOST_SHARES:
        codes = np.sort(codes[np.argsort(-shares[codes], kind="stable")[:_MOST_SHARES]])
    parts = [(class_color(int(code)), float(shares[code])) for code in codes]
    rest = 1.0 - sum(share for _, share in parts)
    return [*parts, (_REST, rest)] if rest > _TINY_SHARE else parts


def branch_label(branch: Branch, condition: Condition, precision: int) -> str:
    """Short text for the line to a child: "≤ 43.2", "Biscoe, Dream", "> 3 or missing"."""
    missing = " or missing" if condition.names_missing and condition.takes_missing else ""
    if condition.levels is not None:
        if not condition.levels:
            return "missing" if condition.takes_missing else "other"
        return ", ".join(level_text(level) for level in condition.levels) + missing
    if branch.asks_presence:
        return "present" if branch.operator == "<=" else "missing"
    if branch.kind == "boolean":
        return condition.predicate().removeprefix("is ") + missing
    if branch.operator == "in":  # an interval
        return condition.predicate().replace("<=", "≤") + missing
    assert branch.threshold is not None
    text = threshold_text(branch.threshold, branch.kind, precision, condition.order)
    text = trimmed(text) if branch.kind == "number" else text
    return f"{'≤' if branch.operator == '<=' else '>'} {text}{missing}"


def feature_title(view: TreeView, node: int, names: Sequence[str]) -> str:
    """Name of the feature of a node's split, shortened when long."""
    return shortened(clean_name(names[int(view.feature[node])]), 30)


def prediction_title(
    view: TreeView, node: int, classes: list[list[str]] | None, precision: int
) -> str:
    """Return what a node predicts: class names or numbers."""
    value = view.value[node]
    if classes is None:
        words = [trimmed(number_text(float(number), precision)) for number in value[:, 0]]
    else:
        words = [classes[output][best] for output, best in enumerate(value.argmax(axis=1))]
    return shortened(", ".join(words), 30)


def shortened(text: str, width: int) -> str:
    """Return text of at most `width` characters, cut in the middle where names differ least."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 3
    return text[: width - 1 - tail] + "…" + text[len(text) - tail :]


def wrapped(text: str, width: int, lines: int = 2) -> list[str]:
    """Break a label into lines of about `width` characters; what does not fit is left out."""
    out = [""]
    for word in text.split(" "):
        joined = f"{out[-1]} {word}" if out[-1] else word
        if len(joined) <= width or not out[-1]:
            out[-1] = joined
        else:
            out.append(word)
    if len(out) > lines:
        out = [*out[: lines - 1], out[lines - 1] + " …"]
    return [shortened(line, width + 2) for line in out]


# ---- colours ----


def class_color(index: int) -> str:
    """Colour of a class; distinct also beyond the hand-picked ones."""
    if index < len(_CLASS_COLORS):
        return _CLASS_COLORS[index]
    hue = (index * 0.618034) % 1.0
    red, green, blue = colorsys.hls_to_rgb(hue, 0.5, 0.45)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def faded(color: str, share: float) -> str:
    """Mix a colour with white; share 1 is the full colour."""
    parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    mixed = [round(255 + (part - 255) * share) for part in parts]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def value_position(view: TreeView, node: int) -> float:
    """Where the first value of a node lies between the least and the greatest, in [0, 1]."""
    values = view.value[:, 0, 0]
    low, high = float(values.min()), float(values.max())
    return 0.5 if high <= low else (float(values[node]) - low) / (high - low)


def weight_share(view: TreeView, node: int) -> float:
    """Share of the training weight that passes a node: how thick the line to it is."""
    weights = view.weighted_n_node_samples
    return min(1.0, float(weights[node] / weights[0])) if weights[0] > 0 else 0.0


def node_color(view: TreeView, node: int) -> str:
    """Fill of a card: the hue is the class, the strength its purity; or the height of the value."""
    if view.classes is None:
        return faded(_CLASS_COLORS[0], 0.08 + 0.5 * value_position(view, node))
    if view.n_outputs > 1:
        return faded(_CLASS_COLORS[0], 0.1)
    shares = view.value[node, 0]
    least = 1.0 / max(len(shares), 2)
    purity = max(0.0, (float(shares.max()) - least) / (1.0 - least))
    return faded(class_color(int(shares.argmax())), 0.1 + 0.4 * purity)


# ---- placing ----


def _leaves_below(view: TreeView) -> list[int]:
    counts = [1] * view.node_count
    for node in range(view.node_count - 1, -1, -1):
        children = view.children(node)
        if children:
            counts[node] = sum(counts[child] for child in children)
    return counts


def _place(cards: list[Card]) -> None:
    """Give each card its x: 0 is the leftmost, neighbours on a level are at least 1 apart.

    Children come after their parent in the list, so a pass backwards knows the outline of every
    subtree before it is needed: the x of its left and right border on each level below the root.
    """
    children: list[list[int]] = [[] for _ in cards]
    for index, card in enumerate(cards):
        if card.parent is not None:
            children[card.parent].append(index)
    offset = np.zeros(len(cards))  # relative to the parent
    outlines: list[tuple[list[float], list[float]]] = [([0.0], [0.0]) for _ in cards]
    for index in range(len(cards) - 1, -1, -1):
        below = children[index]
        if not below:
            continue
        left: list[float] = []
        right: list[float] = []
        for child in below:
            child_left, child_right = outlines[child]
            borders = zip(right, child_left, strict=False)
            shift = max((before - after + 1.0 for before, after in borders), default=0.0)
            offset[child] = shift
            left += [x + shift for x in child_left[len(left) :]]
            right = [x + shift for x in child_right] + right[len(child_right) :]
            outlines[child] = ([], [])
        middle = (offset[below[0]] + offset[below[-1]]) / 2
        offset[below] -= middle
        outlines[index] = ([0.0, *(x - middle for x in left)], [0.0, *(x - middle for x in right)])
    leftmost = min(outlines[0][0])
    for index, card in enumerate(cards):
        base = -leftmost if card.parent is None else cards[card.parent].x
        card.x = float(base + offset[index])
