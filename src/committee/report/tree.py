"""The section that shows the committee as one small tree."""

from __future__ import annotations

import math
from typing import Any

from committee.report.charts import WIDTH, Scale, block, figure, line, text
from committee.report.html import Html, join, paragraph, tag
from committee.report.words import class_names, cut, metric_name, number, percent, shown

_ROW, _STEP = 36, 14  # heights of rows, and how far each level is indented
_BARS, _ROOM = 112, 112  # where bars begin, and what is left for the prediction on the right


def small_tree(model: Any) -> Html | None:
    """Return the tree, and how far it may stand for the committee."""
    tree = getattr(model, "small_tree_", None)
    if tree is None:
        return None
    is_classes = len(model.findings_.shares) > 0
    metric = model.leaderboard_.metric
    own, other = shown(tree.score, metric), shown(tree.committee_score, metric)
    agreed = (
        f"decides for the same class as the committee in {percent(tree.agreement)} of the rows"
        if is_classes
        else f"explains {percent(max(tree.agreement, 0.0))} of the variance of its predictions"
    )
    words = (
        "A tree of a few leaves that imitates the committee: it learnt from what the committee "
        "predicts for rows that its models have not seen. On rows that the tree has not seen, it "
        f"{agreed}."
    )
    if math.isfinite(own) and math.isfinite(other):
        words += (
            f" Its {metric_name(metric)} there is {number(own)}, that of the committee "
            f"{number(other)}: the difference is what so simple a model would cost."
        )
    code = "student = model.distill(table, y)  # a larger one, as a model of its own"
    return join([paragraph(words), _drawn(model, tree, is_classes), tag("pre", code)])


def _drawn(model: Any, tree: Any, is_classes: bool) -> Html:
    labels = class_names(model) if is_classes else []
    values = [_value(each, labels) for each in tree.values.tolist()]
    heights = [height for height, _ in values]
    low = 0.0 if is_classes else min(*heights, 0.0)
    high = 1.0 if is_classes else max(*heights, 0.0)
    scale = Scale(low, high, _BARS, WIDTH - _ROOM)
    parts, depths = [], tree.depths.tolist()
    for place, (words, depth, (height, value)) in enumerate(
        zip(tree.words, depths, values, strict=True)
    ):
        top, left = place * _ROW, 4 + _STEP * depth
        if depth:
            parts.append(line(left - 8, top + 11, left - 2, top + 11, "axis"))
            above = max(k for k in range(place) if depths[k] == depth - 1)
            parts.append(line(left - 8, above * _ROW + 32, left - 8, top + 11, "axis"))
        parts.append(text(cut(words, 38 - 2 * depth), left, top + 15))
        begin, end = sorted((scale(0.0), scale(height)))
        kind = "bar" if tree.is_leaf[place] else "bar weak"
        parts.append(block(begin, top + 21, max(end - begin, 1.0), 8, kind))
        parts.append(text(value, WIDTH - _ROOM + 8, top + 29))
        parts.append(text(percent(float(tree.shares[place])), WIDTH, top + 15, "right small"))
    what = _what(labels)
    note = f"Dark: leaves. {what} On the right: the share of the rows."
    title = f"The committee as a tree of {sum(tree.is_leaf)} leaves"
    return figure(WIDTH, len(values) * _ROW + 4, title, parts, note)


def _value(values: list[float], labels: list[str]) -> tuple[float, str]:
    """Return what a bar shows, and the prediction in words."""
    if len(labels) == 2:
        return values[1], f"{values[1]:.2f}"
    if labels:
        best = max(range(len(values)), key=values.__getitem__)
        return values[best], f"{cut(labels[best], 9)} {values[best]:.2f}"
    return values[0], number(values[0])


def _what(labels: list[str]) -> str:
    if len(labels) == 2:
        return f"Bars are the mean probability of {cut(labels[1])}."
    return "Bars are the largest mean probability." if labels else "Bars are the mean prediction."
