"""What all charts share: scales, ticks, the frame of a figure.

Charts are drawn 360 units wide, so that their text can be read on a phone; on a wide window two
stand side by side. Colours come from the style of the page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from committee.report.html import Html, join, tag
from committee.report.words import short

WIDTH = 360


def figure(
    width: int, height: float, title: str, content: Sequence[Html], note: object = ""
) -> Html:
    """Return a chart with what is read aloud to those who do not see it.

    Parameters
    ----------
    width, height : float
        Of the drawing.
    title : str
        What the chart says, in a sentence.
    content : sequence of Html
        Its elements.
    note : object
        Shown below the chart.
    """
    drawing = tag(
        "svg",
        *content,
        viewBox=f"0 0 {width} {math.ceil(height)}",
        role="img",
        aria_label=title,
    )
    return tag("figure", drawing, tag("figcaption", note) if note else None)


@dataclass(frozen=True)
class Scale:
    """Where numbers are on a line of the drawing.

    Parameters
    ----------
    low, high : float
        Numbers at the ends.
    begin, end : float
        Where these are drawn.
    """

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        share = (inside - self.low) / ((self.high - self.low) or 1.0)
        return self.begin + share * (self.end - self.begin)

    @property
    def ticks(self) -> list[float]:
        """Round numbers within the scale, at most six."""
        return ticks(self.low, self.high)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers between two.

    Examples
    --------
    >>> ticks(0.0, 1.0), ticks(-7.0, 23.0)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 10.0, 20.0])
    """
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    raw = span / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * k, 12) + 0.0 if step > 1e-9 else step * k for k in range(first, last + 1)]


def text(content: object, x: float, y: float, kind: str = "") -> Html:
    """Return a text; kinds are "right", "middle" and "small"."""
    return tag("text", content, x=float(x), y=float(y), class_=kind or None)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Html:
    """Return a line."""
    return tag("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=kind)


def dot(x: float, y: float, kind: str = "point", radius: float = 4.0) -> Html:
    """Return a point."""
    return tag("circle", cx=float(x), cy=float(y), r=radius, class_=kind)


def block(x: float, y: float, width: float, height: float, kind: str) -> Html:
    """Return a rectangle."""
    size = {"width": max(float(width), 0.0), "height": max(float(height), 0.0)}
    return tag("rect", x=float(x), y=float(y), **size, class_=kind)


def points(places: Sequence[tuple[float, float]]) -> str:
    """Return coordinates for a line through points."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def axes(across: Scale, up: Scale, labels: tuple[str, str], *, ticked: bool = True) -> Html:
    """Return the two axes of a chart, with round numbers and what they are.

    Parameters
    ----------
    across, up : Scale
        Of the two directions.
    labels : (str, str)
        Their names; that of the upward one stands above it.
    ticked : bool, default=True
        Whether there are numbers across.
    """
    parts = [
        line(across.begin, up.begin, across.end, up.begin, "axis"),
        line(across.begin, up.begin, across.begin, up.end, "axis"),
        text(labels[1], 2, up.end - 12, "small"),
        text(labels[0], (across.begin + across.end) / 2, up.begin + 36, "middle small"),
    ]
    for value in across.ticks if ticked else ():
        x = across(value)
        parts.append(line(x, up.begin, x, up.begin + 4, "axis"))
        parts.append(text(short(value), x, up.begin + 17, "middle small"))
    for value in up.ticks:
        y = up(value)
        parts.append(line(across.begin, y, across.end, y, "track"))
        parts.append(text(short(value), across.begin - 5, y + 4, "right small"))
    return join(parts)


def spark(shares: Sequence[float], title: str) -> Html:
    """Return a small drawing of a distribution, for a table."""
    high = max(shares) or 1.0
    width = 84 / len(shares)
    bars = [
        block(k * width, 22 - 22 * share / high, width - 1, 22 * share / high, "bar weak")
        for k, share in enumerate(shares)
    ]
    return tag("svg", *bars, viewBox="0 0 84 22", role="img", aria_label=title)
