"""The report of a committee: a page that answers how good it is, why, and how to use it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from committee.report.charts import bars, curve, number

_MOST_CLASSES = 12  # in the table of confusions
_MOST_FEATURES = 25  # in the chart of importances

_STYLE = """
:root{--ink:#1c2330;--soft:#5b6575;--paper:#fff;--line:#d9dee6;--strong:#1f6f8b;--weak:#b9c9d2;
--warn:#8a4b00;--warnback:#fff4e2}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#a2adbb;--paper:#14181f;
--line:#333c48;--strong:#58b4d1;--weak:#3d4f5a;--warn:#ffcf8a;--warnback:#3a2a10}}
@media print{:root{--ink:#000;--soft:#333;--paper:#fff;--line:#999;--strong:#1f6f8b;--weak:#b9c9d2}
section{break-inside:avoid}nav{display:none}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:860px;padding:1.2rem;font:16px/1.55 system-ui,sans-serif;
color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .4rem;
border-top:1px solid var(--line);padding-top:1rem}
p{margin:.4rem 0}.soft{color:var(--soft)}.verdict{font-size:1.2rem}
.warn{color:var(--warn);background:var(--warnback);padding:.5rem .8rem;border-radius:6px}
table{border-collapse:collapse;font-size:.92rem}td,th{padding:.25rem .7rem;text-align:right;
border-bottom:1px solid var(--line)}td:first-child,th:first-child{text-align:left}
.scroll{overflow-x:auto}svg{width:100%;height:auto;display:block}
svg text{fill:var(--ink);font-size:13px}svg .name{text-anchor:end}svg .middle{text-anchor:middle}
.bar,.point{fill:var(--strong)}.bar.weak{fill:var(--weak)}.error{stroke:var(--ink);stroke-width:1.5}
.axis{stroke:var(--soft)}.ideal{stroke:var(--soft);stroke-dasharray:4 4}
nav a{margin-right:1rem;color:var(--strong)}code,pre{font-family:ui-monospace,monospace;
font-size:.9rem}pre{overflow-x:auto;padding:.7rem;border:1px solid var(--line);border-radius:6px}
"""


def write_report(model: Any, path: str | Path) -> None:
    """Write the report of a fitted committee to an HTML file."""
    Path(path).write_text(page(model), encoding="utf-8")


def page(model: Any) -> str:
    """Return the report of a fitted committee as HTML."""
    sections = [
        ("Result", _result(model)),
        ("Table", _table(model)),
        ("Models", _models(model)),
        ("Errors", _errors(model)),
        ("Columns that matter", _importances(model)),
        ("Use", _use(model)),
    ]
    links = "".join(f'<a href="#{_anchor(name)}">{escape(name)}</a>' for name, _ in sections)
    body = "".join(
        f'<section id="{_anchor(name)}"><h2>{escape(name)}</h2>{content}</section>'
        for name, content in sections
    )
    title = "Report of a committee"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><header><h1>{title}</h1><nav>{links}</nav></header><main>{body}</main></body></html>"
    )


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _shown(score: float, metric: str) -> str:
    """Return a score in the field's words: losses and errors without the minus sign."""
    return number(-score) if metric.startswith("neg_") else number(score)


def metric_name(metric: str) -> str:
    """Return the name of a metric in words.

    Examples
    --------
    >>> metric_name("neg_root_mean_squared_error"), metric_name("roc_auc")
    ('root mean squared error', 'roc auc')
    """
    return metric.removeprefix("neg_").replace("_", " ")


def _result(model: Any) -> str:
    score, metric = model.score_, model.leaderboard_.metric
    low, high = score.interval(0.9)
    ends = sorted(
        (_shown(low, metric), _shown(high, metric)), key=lambda t: float(t.replace(",", ""))
    )
    constant = model.findings_.constant_score
    best = model.leaderboard_.entries[0]
    lines = [
        f'<p class="verdict">On new rows expect a {escape(metric_name(metric))} of '
        f"<strong>{_shown(score.score, metric)}</strong> "
        f"(90 % interval {ends[0]} to {ends[1]}).</p>",
        f"<p>Always predicting the same would score {_shown(constant, metric)}; the best single "
        f"model, {escape(best.name)}, scores {_shown(best.score, metric)}.</p>",
        '<p class="soft">All scores are of rows that the models were not fitted to. The score of '
        "the committee is corrected for having been chosen by these rows: without the correction "
        f"it would be {_shown(score.naive, metric)}.</p>",
    ]
    if model.interrupted_:
        lines.append('<p class="warn">The search was interrupted; more time may find more.</p>')
    return "".join(lines)


def _table(model: Any) -> str:
    found = model.findings_
    lines = [f"<p>{found.n_rows:,} rows, {found.n_columns:,} columns.</p>"]
    if len(found.shares):
        shown = list(zip(model.classes_.tolist(), found.shares.tolist(), strict=True))
        shown = shown[:_MOST_CLASSES]
        lines.append(
            bars(
                [str(name) for name, _ in shown],
                [share for _, share in shown],
                title="Share of each class",
            )
        )
    else:
        rows = zip(("5 %", "25 %", "50 %", "75 %", "95 %"), found.quantiles.tolist(), strict=True)
        cells = "".join(f"<tr><td>{name}</td><td>{number(q)}</td></tr>" for name, q in rows)
        lines.append(f"<table><tr><th>quantile</th><th>target</th></tr>{cells}</table>")
    noted = [use for use in model.columns_ if use.note or use.use in ("dropped", "date", "text")]
    if noted:
        cells = "".join(
            f"<tr><td>{escape(use.name)}</td><td>{escape(use.use)}</td>"
            f"<td>{escape(use.note)}</td></tr>"
            for use in noted[:40]
        )
        lines.append(
            '<div class="scroll"><table><tr><th>column</th><th>used as</th><th>note</th></tr>'
            f"{cells}</table></div>"
        )
    return "".join(lines)


def _models(model: Any) -> str:
    board = model.leaderboard_
    entries = list(board)
    values = [-e.score if board.metric.startswith("neg_") else e.score for e in entries]
    chart = bars(
        [entry.name for entry in entries],
        values,
        [entry.standard_error for entry in entries],
        title=f"{metric_name(board.metric)} of each model",
        marked=[entry.weight > 0 for entry in entries],
    )
    cells = "".join(
        f"<tr><td>{escape(entry.name)}</td><td>{number(entry.weight)}</td>"
        f"<td>{entry.seconds:.1f} s</td></tr>"
        for entry in entries
    )
    return (
        f"<p>{escape(metric_name(board.metric)).capitalize()} of each model, with its standard "
        f"error; members of the committee are dark.</p>{chart}<div class=scroll><table>"
        f"<tr><th>model</th><th>weight</th><th>time</th></tr>{cells}</table></div>"
    )


def _errors(model: Any) -> str:
    found = model.findings_
    is_share = len(found.shares) > 0
    what = "share of rows" if is_share else "true value (10 % to 90 % of the rows)"
    lines = [
        "<p>Rows in the order of their predictions, cut into bins of equal size. Points on the "
        "dashed line are predicted right on average.</p>",
        curve(
            found.bins,
            title="Truth against prediction",
            across="predicted probability" if is_share else "prediction",
            up=what,
            is_share=is_share,
        ),
    ]
    if is_share and len(found.shares) <= _MOST_CLASSES:
        lines.append(_confusion(model.classes_.tolist(), found.confusion))
    return "".join(lines)


def _confusion(classes: Sequence[Any], counts: Any) -> str:
    head = "".join(f"<th>{escape(str(label))}</th>" for label in classes)
    rows = "".join(
        f"<tr><td>{escape(str(label))}</td>"
        + "".join(f"<td>{count:,}</td>" for count in row)
        + "</tr>"
        for label, row in zip(classes, counts.tolist(), strict=True)
    )
    return (
        "<p>Rows by true class (down) and predicted class (across):</p>"
        f'<div class="scroll"><table><tr><th></th>{head}</tr>{rows}</table></div>'
    )


def _importances(model: Any) -> str:
    found = model.importances_
    names, means, errors = found.names, found.mean, found.standard_error
    order = np.argsort(-means, kind="stable")[:_MOST_FEATURES].tolist()
    chart = bars(
        [names[place] for place in order],
        [float(means[place]) for place in order],
        [float(errors[place]) for place in order],
        title="Importance of each column",
    )
    return (
        "<p>How much worse the score gets when the values of a column are shuffled, on rows that "
        f"the models were not fitted to.</p>{chart}"
    )


def _use(model: Any) -> str:
    name = type(model).__name__
    call = "predict_proba(table)" if hasattr(model, "predict_proba") else "predict(table)"
    code = (
        f'import committee\n\nmodel = committee.load("model.committee")\npredictions = model.{call}'
    )
    params = ", ".join(f"{k}={v!r}" for k, v in model.get_params(deep=False).items())
    return (
        f"<pre>{escape(code)}</pre><p class=soft>The table needs the columns of the training "
        f"table, in any order. Fitted by <code>{escape(name)}({escape(params)})</code>.</p>"
    )
