"""The section on the table: what it holds, what was done to it, and what to look at twice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from committee.report.charts import spark
from committee.report.charts_rows import Mark, bars
from committee.report.html import Html, folded, join, paragraph, table, tag
from committee.report.verdict import is_clear
from committee.report.words import capital, class_names, count, cut, number, percent

_MOST_CLASSES = 20  # in the chart of their shares
_SHOWN = 25  # columns that are listed at once; the others are folded
_FEW_ROWS, _FEW_OF_CLASS = 200, 10
_MOSTLY_MISSING = 0.5
_DOMINANT = 0.8  # share of all importance: one column decides nearly everything
_SMALL_CALIBRATION = 3.0  # standard errors


def data(model: Any) -> Html:
    """Return what the table holds."""
    return join([_warnings(model), _size(model), _target(model), _columns(model)])


def _size(model: Any) -> Html:
    found = model.findings_
    used = [use for use in model.columns_ if use.use != "dropped"]
    n_made = sum(len(use.parts) for use in used)
    text = f"{count(found.n_rows, 'row')}, {count(found.n_columns, 'column')}; {len(used)} are used"
    if n_made != len(used):
        text += f", as {count(n_made, 'feature')}"
    return paragraph(text + ".")


def _target(model: Any) -> Html:
    found = model.findings_
    if len(found.shares):
        pairs = list(zip(class_names(model), found.shares.tolist(), strict=True))
        pairs.sort(key=lambda pair: -pair[1])
        shown = pairs[:_MOST_CLASSES]
        is_all = len(shown) == len(pairs)
        note = "" if is_all else f"The {_MOST_CLASSES} most frequent of {len(pairs)} classes."
        marks = [Mark(label, share, shown=percent(share)) for label, share in shown]
        return join([tag("h3", "Target"), bars(marks, "Share of the rows in each class", note)])
    names = ("5 %", "25 %", "50 %", "75 %", "95 %")
    values = [number(value) for value in found.quantiles.tolist()]
    quantiles = table(
        ["quantile", *names], [["target", *values]], caption="Quantiles of the target"
    )
    return join([tag("h3", "Target"), quantiles])


def _columns(model: Any) -> Html:
    profiles = {each.name: each for each in model.findings_.columns}
    importance = dict(zip(model.importances_.names, model.importances_.mean.tolist(), strict=True))
    uses = sorted(
        model.columns_, key=lambda use: (use.use == "dropped", -importance.get(use.name, -math.inf))
    )
    rows = [_row(use, profiles.get(use.name)) for use in uses if use.name in profiles]
    head = ["column", "used as", "missing", "distinct", "values", "spread", "note"]
    first = table(head, rows[:_SHOWN], caption="Columns, the most important first", wide=True)
    parts = [tag("h3", "Columns"), first]
    if len(rows) > _SHOWN:
        rest = table(head, rows[_SHOWN:], caption="The other columns", wide=True)
        parts.append(folded(f"{len(rows) - _SHOWN} more columns", rest))
    if len(uses) > len(rows):
        parts.append(
            paragraph(f"{len(uses) - len(rows):,} columns are not summed up.", kind="soft")
        )
    return join(parts)


def _row(use: Any, profile: Any) -> list[object]:
    values = ", ".join(cut(value, 20) for value in profile.values)
    if use.use in ("number", "date") and len(profile.values) == 3:
        low, middle, high = (cut(value, 20) for value in profile.values)
        values = f"{low} … {middle} … {high}"
    drawn: object = ""
    if len(profile.shares):
        drawn = spark(profile.shares.tolist(), f"Distribution of {cut(use.name)}")
    parts = f"features: {', '.join(use.parts)}" if len(use.parts) > 1 and not use.note else use.note
    missing = percent(profile.missing) if profile.missing else "0"
    distinct = f"{profile.n_distinct:,}"
    return [cut(use.name, 40), use.use, missing, distinct, values, drawn, cut(parts, 120)]


# --- what to look at twice ----------------------------------------------------------------------


def _warnings(model: Any) -> Html:
    found = [tag("li", each) for each in warnings(model)]
    if not found:
        return paragraph("Nothing about the table calls for caution.", kind="soft")
    return tag("div", tag("p", tag("b", "Look at these first")), tag("ul", *found), class_="warn")


def warnings(model: Any) -> Iterator[str]:
    """Yield what a careful reader would ask about, in words."""
    yield from _of_columns(model)
    yield from _of_rows(model)
    if not is_clear(model):
        yield "The committee is not clearly better than a constant."
    if model.interrupted_:
        yield "The search was interrupted: more time may find a better committee."
    weak = model.findings_.slices.weak
    if weak:
        yield (
            f"Predictions are clearly worse in {count(len(weak), 'part')} of the table, such as "
            f"{cut(weak[0].column)}: {cut(weak[0].group)} (see Errors)."
        )
    if _is_uncalibrated(model):
        yield "Probabilities are off in at least one range of predictions (see Errors)."


def _of_columns(model: Any) -> Iterator[str]:
    for leak in getattr(model, "leaks_", ()):
        yield f"A leak? {capital(str(leak))}. Is it known at the time of a prediction?"
    dropped = [use for use in model.columns_ if use.use == "dropped"]
    if dropped:
        names = ", ".join(f"{cut(use.name)} ({use.note})" for use in dropped[:8])
        more = f" and {len(dropped) - 8} more" if len(dropped) > 8 else ""
        yield f"{count(len(dropped), 'column')} left out: {names}{more}."
    means = [max(value, 0.0) for value in model.importances_.mean.tolist()]
    if len(means) > 2 and max(means) > _DOMINANT * sum(means) > 0:
        name = cut(model.importances_.ranking()[0])
        yield (
            f"{name} does nearly all of the work. Make sure that its value is known at the time of "
            "a prediction, and does not come from the target."
        )
    gaps = [each for each in model.findings_.columns if _MOSTLY_MISSING < each.missing < 1]
    if gaps:
        names = ", ".join(f"{cut(each.name)} ({percent(each.missing)})" for each in gaps[:8])
        more = f" and {len(gaps) - 8} more" if len(gaps) > 8 else ""
        yield f"Mostly missing: {names}{more}."


def _of_rows(model: Any) -> Iterator[str]:
    found = model.findings_
    if found.n_rows < _FEW_ROWS:
        yield f"The table has only {found.n_rows} rows: intervals are wide, weak slices unseen."
    if len(found.shares):
        counts = found.shares * found.n_rows
        rare = [
            str(label)
            for label, size in zip(model.classes_.tolist(), counts.tolist(), strict=True)
            if size < _FEW_OF_CLASS
        ]
        if rare:
            names = ", ".join(cut(name) for name in rare[:8])
            yield f"Classes with fewer than {_FEW_OF_CLASS} rows: {names}. Do not trust them alone."


def _is_uncalibrated(model: Any) -> bool:
    """Return whether the share of some bin is far from its mean probability."""
    if not len(model.findings_.shares):
        return False
    for predicted, share, low, high, n_rows in model.findings_.errors.bins.tolist():
        expected = (max(predicted * (1 - predicted), 1e-12) / n_rows) ** 0.5
        if abs(share - predicted) > _SMALL_CALIBRATION * max((high - low) / 2, expected):
            return True
    return False
