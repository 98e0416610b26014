"""The section on intervals and sets of classes: how often they hold the truth."""

from __future__ import annotations

from typing import Any

from committee.report.html import Html, join, paragraph, table, tag
from committee.report.words import margin, number, percent


def intervals(model: Any) -> Html | None:
    """Return how often intervals or sets hold the truth."""
    is_classes = len(model.findings_.shares) > 0
    rows = [
        [percent(promise), percent(share), margin(100 * error), number(size)]
        for promise, share, error, size in model.findings_.coverage.tolist()
    ]
    what = "sets of classes" if is_classes else "intervals"
    text = (
        f"How often {what} hold the truth, on rows that the models have not seen: those of each "
        "fold get those that the errors in the other folds make. Promise and measure should agree "
        "within the error."
    )
    size = "classes in a set" if is_classes else "mean width"
    head = ["promised", "measured", "error (points)", size]
    parts = [paragraph(text), table(head, rows, caption=f"Coverage of {what}")]
    method = "predict_set" if is_classes else "predict_interval"
    if hasattr(model, method):
        parts.append(tag("pre", f"model.{method}(table, coverage=0.9)"))
    return join(parts)
