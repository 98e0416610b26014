"""Charts with a row for each name: bars from zero, and points with their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from committee.report.charts import WIDTH, Scale, block, dot, figure, line, text
from committee.report.html import Html
from committee.report.words import cut, number, short

_ROW = 34  # the name, and below it the mark
_ROOM = 62  # for the number on the right


@dataclass(frozen=True)
class Mark:
    """A row of a chart.

    Parameters
    ----------
    name : str
        What the row is about.
    value : float
        What is shown.
    low, high : float or None
        Ends of its error bar.
    is_strong : bool, default=True
        Whether it stands out.
    other : float or None, default=None
        A second value, as a ring.
    shown : str or None, default=None
        The value in words.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    is_strong: bool = True
    other: float | None = None
    shown: str | None = None

    @property
    def ends(self) -> list[float]:
        values = [self.value, self.low, self.high, self.other]
        return [value for value in values if value is not None and math.isfinite(value)]

    @property
    def words(self) -> str:
        return number(self.value) if self.shown is None else self.shown


def bars(marks: Sequence[Mark], title: str, note: str = "") -> Html:
    """Draw a horizontal bar from zero for each row, with its error."""
    ends = [end for mark in marks for end in mark.ends]
    scale = Scale(min(0.0, *ends), max(0.0, *ends), 4, WIDTH - _ROOM)
    parts = []
    for place, mark in enumerate(marks):
        top = place * _ROW
        parts.append(text(cut(mark.name, 46), 4, top + 12))
        begin, end = sorted((scale(0.0), scale(mark.value)))
        kind = "bar" if mark.is_strong else "bar weak"
        parts.append(block(begin, top + 17, max(end - begin, 1.0), 11, kind))
        parts += _error(mark, scale, top + 22.5)
        right = max(scale(max(mark.ends)), scale(0.0)) + 6
        parts.append(text(mark.words, right, top + 27))
    return figure(WIDTH, len(marks) * _ROW, title, parts, note)


def dots(marks: Sequence[Mark], title: str, note: str = "") -> Html:
    """Draw a point for each row on a scale that need not begin at zero, with its error."""
    ends = [end for mark in marks for end in mark.ends]
    low, high = min(ends), max(ends)
    room = (high - low) * 0.04 or abs(high) * 0.05 or 1.0
    scale = Scale(low - room, high + room, 6, WIDTH - _ROOM)
    height = len(marks) * _ROW
    parts = []
    for value in scale.ticks:
        parts.append(line(scale(value), 2, scale(value), height + 2, "track"))
        parts.append(text(short(value), scale(value), height + 16, "middle small"))
    for place, mark in enumerate(marks):
        top = place * _ROW
        parts.append(text(cut(mark.name, 46), 4, top + 12))
        parts += _error(mark, scale, top + 22.5)
        if mark.other is not None and math.isfinite(mark.other):
            parts.append(dot(scale(mark.other), top + 22.5, "point weak"))
        parts.append(dot(scale(mark.value), top + 22.5, "point" if mark.is_strong else "bar weak"))
        parts.append(text(mark.words, WIDTH - _ROOM + 8, top + 27))
    return figure(WIDTH, height + 22, title, parts, note)


def _error(mark: Mark, scale: Scale, y: float) -> list[Html]:
    if mark.low is None or mark.high is None:
        return []
    if not (math.isfinite(mark.low) and math.isfinite(mark.high)):
        return []
    return [line(scale(mark.low), y, scale(mark.high), y, "error")]


def pairs(values: Sequence[tuple[float, float]], names: tuple[str, str], title: str) -> Html:
    """Draw two points for each row, such as the scores of two predictions in each fold."""
    known = [(place, pair) for place, pair in enumerate(values) if all(map(math.isfinite, pair))]
    ends = [end for _, pair in known for end in pair]
    low, high = min(ends), max(ends)
    room = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    scale, height = Scale(low - room, high + room, 52, WIDTH - 10), 22 * len(known)
    parts = []
    for value in scale.ticks:
        parts.append(line(scale(value), 0, scale(value), height + 2, "track"))
        parts.append(text(short(value), scale(value), height + 16, "middle small"))
    for row, (place, (own, other)) in enumerate(known):
        y = 22 * row + 12
        parts.append(text(f"fold {place + 1}", 4, y + 4, "small"))
        parts.append(line(scale(own), y, scale(other), y, "axis"))
        parts.append(dot(scale(other), y, "point other"))
        parts.append(dot(scale(own), y, "point"))
    key = [
        dot(60, height + 32, "point"),
        text(names[0], 70, height + 36, "small"),
        dot(190, height + 32, "point other"),
        text(names[1], 200, height + 36, "small"),
    ]
    return figure(WIDTH, height + 44, title, [*parts, *key])
