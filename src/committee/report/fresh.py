"""The section on rows that the user gave with their truth: the score there and the expected one."""

from __future__ import annotations

import math
from typing import Any

from committee.report.html import Html, join, paragraph, table
from committee.report.verdict import ends
from committee.report.words import capital, count, cut, metric_name, number, shown


def fresh_rows(model: Any, fresh: Any) -> Html:
    """Return the score on other rows beside the one that was promised, and the worst rows."""
    metric = model.leaderboard_.metric
    low, high = ends(model, 0.9, fresh.n_rows)
    own = shown(fresh.score, metric)
    if math.isnan(own):
        text = f"{capital(metric_name(metric))} cannot be measured: the rows are of one class."
        return join([paragraph(text, kind="warn"), *_listed(fresh)])
    is_within = low <= own <= high
    is_better = fresh.score > model.score_.score
    verdict = "as expected" if is_within else "better than expected" if is_better else "worse"
    text = (
        f"On {count(fresh.n_rows, 'row')} the {metric_name(metric)} is {number(own)}; for so many "
        f"rows {number(low)} to {number(high)} was expected in nine cases of ten: {verdict}."
    )
    caution = "If the committee was fitted to these rows, the score is too good to be true."
    if not is_within and not is_better:
        caution = (
            "These rows differ from those of training, or their truth was read in another way."
        )
    first = [
        paragraph(text, kind=None if is_within or is_better else "warn"),
        paragraph(caution, kind="soft"),
    ]
    return join([*first, *_listed(fresh)])


def _listed(fresh: Any) -> list[Html]:
    """Return other scores, and the worst rows where they were asked for."""
    rows = [
        [capital(metric_name(name)), number(shown(values[0], name)), number(shown(values[2], name))]
        for name, values in zip(fresh.scores.names, fresh.scores.values.tolist(), strict=True)
    ]
    head = ["metric", "committee", "constant"]
    parts = [table(head, rows, caption="Scores on the rows given")]
    if fresh.worst:
        cells = [[cut(cell, 40) for cell in row] for row in fresh.worst]
        caption = "The worst rows, as asked for"
        parts.append(table(list(fresh.names), cells, caption=caption, wide=True))
    return parts
