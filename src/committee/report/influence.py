"""The section on columns: how much the committee relies on each, and how predictions follow it."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.report.charts_rows import Mark, bars
from committee.report.charts_xy import effect
from committee.report.html import Html, folded, join, paragraph, side_by_side, tag
from committee.report.words import class_names, count, cut, metric_name

_FIRST, _MOST = 15, 60  # columns in the chart, and in the folded one
_OPEN = 4  # effects that are shown at once


def influence(model: Any) -> Html:
    """Return importances and effects."""
    return join([_importances(model), _effects(model)])


def _importances(model: Any) -> Html:
    found, metric = model.importances_, model.leaderboard_.metric
    order = np.argsort(-found.mean, kind="stable").tolist()
    marks = []
    for place in order:
        mean, error = float(found.mean[place]), float(found.standard_error[place])
        marks.append(Mark(found.names[place], mean, mean - error, mean + error, mean > 2 * error))
    text = (
        f"How much worse the {metric_name(metric)} gets when the values of a column are shuffled, "
        "on rows that the models have not seen, with its standard error over the folds. Pale bars "
        "may be chance. Columns that say the same share their importance: each looks small."
    )
    n_used = sum(use.use != "dropped" for use in model.columns_)
    if len(marks) < n_used:
        text += f" {count(len(marks), 'column')} of {n_used:,} were measured."
    title = f"Importance of the columns, {cut(marks[0].name)} first"
    parts = [paragraph(text), bars(marks[:_FIRST], title)]
    if len(marks) > _FIRST:
        rest = marks[_FIRST:_MOST]
        more = bars(rest, "Importance of the other columns")
        parts.append(folded(f"{len(rest)} more columns", more))
    return join(parts)


def _effects(model: Any) -> Html | None:
    found = model.findings_.effects
    if not found:
        return None
    classes = []
    if len(model.findings_.shares):
        labels = class_names(model)
        classes = [labels[code] for code in found[0].classes.tolist()]
    what, follows = "the prediction", "changes"
    if len(classes) == 1:
        what = f"the probability of {cut(classes[0])}"
    elif classes:
        what, follows = "the probabilities", "change"
    text = (
        f"How {what} {follows} when every row gets the same value in a column and keeps the rest "
        "(partial dependence). Grey bars or percentages say how many rows there are. "
    )
    if len(classes) < 2:
        text += (
            "The band is one standard error of the models of the folds. Orange dots are means of "
            "the target in the rows with these values: where line and dots part, other columns are "
            "behind it. "
        )
    text += "This is how the committee decides, not what causes what."
    drawn = [
        tag(
            "div",
            tag("h4", cut(each.name, 60)),
            effect(each, classes, f"{what} by {cut(each.name)}"),
        )
        for each in found
    ]
    parts = [tag("h3", "How predictions follow the columns"), paragraph(text)]
    parts.append(side_by_side(*drawn[:_OPEN]))
    if len(drawn) > _OPEN:
        parts.append(folded(f"{len(drawn) - _OPEN} more columns", side_by_side(*drawn[_OPEN:])))
    return join(parts)
