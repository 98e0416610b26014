"""The summary of a fitted committee in a notebook."""

from __future__ import annotations

from typing import Any

from committee.report.html import Html, folded, join, paragraph, tag
from committee.report.verdict import ends
from committee.report.words import count, cut, metric_name, number, percent, shown

_MOST = 10  # models that are listed

_STYLE = (
    ".committee-summary{font:14px/1.5 system-ui,sans-serif;max-width:44rem}"
    ".committee-summary table{border-collapse:collapse;margin:.4rem 0}"
    ".committee-summary th,.committee-summary td{padding:.15rem .6rem;text-align:right;"
    "border-bottom:1px solid rgba(128,128,128,.4)}"
    ".committee-summary th:first-child{text-align:left;font-weight:400}"
)


def summary(model: Any) -> str:
    """Return the score, the best models and the columns that matter as a piece of HTML."""
    metric, found = model.leaderboard_.metric, model.findings_
    low, high = ends(model)
    name = metric_name(metric)
    sentence = (
        f": expected {name} {number(shown(model.score_.score, metric))} (90 % interval "
        f"{number(low)} to {number(high)}; always predicting the same: "
        f"{number(shown(found.constant_score, metric))})."
    )
    rows = [
        tag(
            "tr",
            tag("th", cut(entry.name), scope="row"),
            tag("td", f"{number(shown(entry.score, metric))} ± {entry.standard_error:.2g}"),
            tag("td", percent(entry.weight) if entry.weight > 0 else "–"),
        )
        for entry in list(model.leaderboard_)[:_MOST]
    ]
    head = tag("tr", *(tag("th", each, scope="col") for each in ("model", name, "weight")))
    columns = ", ".join(cut(each, 24) for each in model.importances_.ranking()[:6])
    size = f"{count(found.n_rows, 'row')}, {count(found.n_columns, 'column')}"
    parts = [
        tag("style", Html(_STYLE)),
        paragraph(tag("strong", type(model).__name__), sentence),
        tag("table", tag("thead", head), tag("tbody", *rows)),
        paragraph(f"Fitted to {size}. Columns that matter most: {columns}."),
        paragraph("All of it: ", tag("code", 'model.report("report.html")')),
        folded("Parameters", tag("pre", _parameters(model))),
    ]
    return str(tag("div", join(parts), class_="committee-summary"))


def _parameters(model: Any) -> str:
    return "\n".join(f"{name}={value!r}" for name, value in model.get_params(deep=False).items())
