"""Charts of one number against another: calibration, curves, residuals, effects of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.report.charts import WIDTH, Scale, axes, block, dot, figure, line, points, text
from committee.report.html import Html, join, tag
from committee.report.words import cut, percent, short

_LEFT, _TOP, _SIZE = 48, 24, 300


class Effect(Protocol):
    """Predictions by the groups of a column; see `committee.auto.findings.effects`."""

    name: str
    labels: tuple[str, ...]
    positions: Floats
    shares: Floats
    classes: NDArray[np.int64]
    predicted: Floats
    spread: Floats
    observed: Floats


def _square(low: float, high: float) -> tuple[Scale, Scale]:
    bottom = _TOP + _SIZE - 24
    return Scale(low, high, _LEFT, WIDTH - 8), Scale(low, high, bottom, _TOP)


def agreement(bins: Floats, labels: tuple[str, str], title: str, note: str) -> Html:
    """Draw truth against prediction: points with their spread, and the diagonal."""
    is_share = bool((bins[:, :2] >= 0).all() and (bins[:, :2] <= 1).all())
    low, high = (0.0, 1.0) if is_share else (float(bins[:, :4].min()), float(bins[:, :4].max()))
    across, up = _square(low, high)
    parts = [
        axes(across, up, labels),
        line(across(low), up(low), across(high), up(high), "ideal"),
    ]
    for predicted, truth, below, above, _ in bins.tolist():
        x = across(predicted)
        parts += [line(x, up(below), x, up(above), "error"), dot(x, up(truth))]
    return figure(WIDTH, _TOP + _SIZE + 16, title, parts, note)


def shares(
    curve: Sequence[tuple[float, float]],
    labels: tuple[str, str],
    title: str,
    note: str = "",
    ideal: Sequence[tuple[float, float]] = (),
) -> Html:
    """Draw a curve between shares, and the one that knows nothing."""
    across, up = _square(0.0, 1.0)
    parts = [axes(across, up, labels)]
    if ideal:
        path = points([(across(x), up(y)) for x, y in ideal])
        parts.append(tag("polyline", points=path, class_="ideal"))
    path = points([(across(x), up(y)) for x, y in curve])
    parts.append(tag("polyline", points=path, class_="curve"))
    return figure(WIDTH, _TOP + _SIZE + 16, title, parts, note)


def residuals(predicted: Floats, quantiles: Floats, title: str, note: str) -> Html:
    """Draw the spread of residuals in each bin of predictions."""
    low, high = float(min(quantiles.min(), 0.0)), float(max(quantiles.max(), 0.0))
    first, last = float(predicted.min()), float(predicted.max())
    room = (last - first) * 0.04 or 1.0
    across = Scale(first - room, last + room, _LEFT, WIDTH - 8)
    up = Scale(low, high, _TOP + 230, _TOP)
    parts = [axes(across, up, ("prediction", "truth minus prediction"))]
    for middle, (bottom, lower, median, upper, top) in zip(
        predicted.tolist(), quantiles.tolist(), strict=True
    ):
        x = across(middle)
        parts += [
            line(x, up(bottom), x, up(top), "error"),
            block(x - 5, up(upper), 10, up(lower) - up(upper), "box"),
            line(x - 7, up(median), x + 7, up(median), "error"),
        ]
    parts.append(line(across.begin, up(0.0), across.end, up(0.0), "ideal"))
    return figure(WIDTH, _TOP + 270, title, parts, note)


# --- effects ------------------------------------------------------------------------------------


def effect(found: Effect, classes: Sequence[str], title: str) -> Html:
    """Draw predictions by the values of a column, above how many rows have them.

    Parameters
    ----------
    found : Effect
        Of the column.
    classes : sequence of str
        Names of its curves.
    title : str
        Read aloud.
    """
    n_ranges = int(np.isfinite(found.positions).sum())
    is_number = n_ranges >= 3 and n_ranges >= len(found.positions) - 1
    return _by_number(found, classes, title) if is_number else _by_level(found, classes, title)


def _heights(found: Effect) -> Scale:
    """Return a scale that all predictions and means of the target are within."""
    seen = found.observed[np.isfinite(found.observed)]
    ends = [found.predicted - found.spread, found.predicted + found.spread]
    ends += [seen] if len(seen) and found.predicted.shape[1] == 1 else []
    low, high = min(float(each.min()) for each in ends), max(float(each.max()) for each in ends)
    room = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    low, high = low - room, high + room
    if len(found.classes):
        low, high = max(low, 0.0), min(high, 1.0)
    return Scale(low, high, _TOP + 170, _TOP)


def _by_number(found: Effect, classes: Sequence[str], title: str) -> Html:
    up = _heights(found)
    known = np.isfinite(found.positions)
    has_rest = not known.all()
    values = found.positions[known].tolist()
    across = Scale(values[0], values[-1], _LEFT + 6, WIDTH - (58 if has_rest else 12))
    places = [across(value) for value in values] + ([WIDTH - 28.0] if has_rest else [])
    parts = [axes(Scale(0, 1, _LEFT, across.end), up, ("", "prediction"), ticked=False)]
    parts += _names_below(found, across, up)
    if has_rest:
        parts.append(text("missing", WIDTH - 28, up.begin + 17, "middle small"))
    n, is_alone = len(values), found.predicted.shape[1] == 1
    for k in range(found.predicted.shape[1]):
        mean, error = found.predicted[:, k].tolist(), found.spread[:, k].tolist()
        if is_alone:
            edges = [(x, up(m + s)) for x, m, s in zip(places, mean, error, strict=True)][:n]
            lower = [(x, up(m - s)) for x, m, s in zip(places, mean, error, strict=True)][:n]
            parts.append(tag("polygon", points=points(edges + lower[::-1]), class_="band"))
        middle = [(x, up(m)) for x, m in zip(places, mean, strict=True)]
        parts.append(tag("polyline", points=points(middle[:n]), class_=f"c{k + 1}"))
        parts += [dot(*place, f"c{k + 1}") for place in middle[n:]]
    if is_alone:
        seen = zip(places, found.observed[:, 0].tolist(), strict=True)
        parts += [dot(x, up(v), "point other", 3.0) for x, v in seen if math.isfinite(v)]
    parts += _rows_below(found, places, up)
    return figure(WIDTH, up.begin + 62, title, parts, _key(found, classes))


def _names_below(found: Effect, across: Scale, up: Scale) -> list[Html]:
    """Return round numbers, or the first and the last value of dates and of ordered levels."""
    y = up.begin + 17
    first = found.labels[0].removeprefix("up to ")
    if _is_number(first):
        return [text(short(value), across(value), y, "middle small") for value in across.ticks]
    n_ranges = int(np.isfinite(found.positions).sum())
    last = found.labels[n_ranges - 1].removeprefix("above ")
    end = text(cut(last, 16), across.end, y, "right small")
    return [text(cut(first, 16), _LEFT, y, "small"), end]


def _is_number(words: str) -> bool:
    try:
        float(words)
    except ValueError:
        return False
    return True


def _by_level(found: Effect, classes: Sequence[str], title: str) -> Html:
    heights = _heights(found)
    across = Scale(heights.low, heights.high, 6, WIDTH - 62)
    parts, bottom = [], 34 * len(found.labels)
    for value in across.ticks:
        parts.append(line(across(value), 2, across(value), bottom + 2, "track"))
        parts.append(text(short(value), across(value), bottom + 16, "middle small"))
    for place, label in enumerate(found.labels):
        y = 34 * place + 22.0
        parts.append(text(cut(label, 40), 4, y - 10))
        parts.append(text(percent(float(found.shares[place])), WIDTH - 4, y + 5, "right small"))
        pairs = zip(found.predicted[place].tolist(), found.spread[place].tolist(), strict=True)
        for k, (value, error) in enumerate(pairs):
            parts.append(line(across(value - error), y, across(value + error), y, "error"))
            parts.append(dot(across(value), y, f"c{k + 1}"))
        seen = float(found.observed[place, 0])
        if found.predicted.shape[1] == 1 and math.isfinite(seen):
            parts.append(dot(across(seen), y, "point other", 3.0))
    return figure(WIDTH, bottom + 22, title, parts, _key(found, classes))


def _rows_below(found: Effect, places: Sequence[float], up: Scale) -> list[Html]:
    """Return bars of the shares of the rows."""
    high = float(found.shares.max()) or 1.0
    bottom = up.begin + 54
    return [
        block(x - 4, bottom - 26 * share / high, 8, 26 * share / high, "bar weak")
        for x, share in zip(places, found.shares.tolist(), strict=True)
    ]


def _key(found: Effect, classes: Sequence[str]) -> Html:
    """Return what the colours are."""
    if found.predicted.shape[1] == 1:
        names = [("k1", "prediction where all rows have this value"), ("k2", "mean of the target")]
    else:
        names = [(f"k{k + 1}", cut(name, 24)) for k, name in enumerate(classes)]
    keys = [tag("span", tag("span", class_=f"key {kind}"), name, " ") for kind, name in names]
    return join(keys)
