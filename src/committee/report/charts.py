"""Charts as SVG, drawn in the colours of the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from committee.base.arrays import Floats

_WIDTH, _ROW = 640, 26
_LABEL = 220  # width of the names on the left


def number(value: float) -> str:
    """Return a number with four digits.

    Examples
    --------
    >>> number(0.123456), number(12345.678), number(0.0)
    ('0.1235', '12,350', '0')
    """
    if value == 0:
        return "0"
    if 1e4 <= abs(value) < 1e15:
        return f"{float(f'{value:.4g}'):,.0f}"
    return f"{value:.4g}"


def bars(
    names: Sequence[str],
    values: Sequence[float],
    errors: Sequence[float] | None = None,
    *,
    title: str,
    marked: Sequence[bool] | None = None,
) -> str:
    """Draw a horizontal bar for each value, from zero, with its error.

    Parameters
    ----------
    names : sequence of str
        What the bars are of.
    values, errors : sequence of float
        Lengths, and half widths of the error bars.
    title : str
        Read aloud to those who do not see the chart.
    marked : sequence of bool or None, default=None
        Bars in the strong colour; None is all.
    """
    spread = [0.0] * len(values) if errors is None else list(errors)
    low = min(0.0, *(v - e for v, e in zip(values, spread, strict=True)))
    high = max(0.0, *(v + e for v, e in zip(values, spread, strict=True)))
    span = (high - low) or 1.0
    room = _WIDTH - _LABEL - 90

    def x(value: float) -> float:
        return _LABEL + room * (value - low) / span

    parts = []
    for place, (name, value, error) in enumerate(zip(names, values, spread, strict=True)):
        top = place * _ROW + 4
        middle = top + _ROW / 2 - 2
        shade = "bar" if marked is None or marked[place] else "bar weak"
        begin, end = sorted((x(0.0), x(value)))
        parts.append(
            f'<text class="name" x="{_LABEL - 8}" y="{middle + 4:.1f}">{escape(_cut(name))}</text>'
            f'<rect class="{shade}" x="{begin:.1f}" y="{top}" width="{max(end - begin, 1):.1f}" '
            f'height="{_ROW - 8}" rx="2"/>'
        )
        if error > 0:
            parts.append(
                f'<line class="error" x1="{x(value - error):.1f}" x2="{x(value + error):.1f}" '
                f'y1="{middle:.1f}" y2="{middle:.1f}"/>'
            )
        right = max(x(value + error), x(0.0)) + 6
        parts.append(f'<text x="{right:.1f}" y="{middle + 4:.1f}">{number(value)}</text>')
    return _svg(_WIDTH, len(values) * _ROW + 8, title, "".join(parts))


def curve(bins: Floats, *, title: str, across: str, up: str, is_share: bool) -> str:
    """Draw truth against prediction: points with their spread, and the diagonal."""
    size, left, bottom = 360, 64, 44
    values = bins[:, :4]
    low, high = (0.0, 1.0) if is_share else (float(values.min()), float(values.max()))
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return left + (size - left - 12) * (min(max(value, low), high) - low) / span

    def y(value: float) -> float:
        return size - bottom - (size - bottom - 12) * (min(max(value, low), high) - low) / span

    parts = [
        f'<line class="axis" x1="{left}" y1="{y(low)}" x2="{size - 12}" y2="{y(low)}"/>',
        f'<line class="axis" x1="{left}" y1="{y(low)}" x2="{left}" y2="12"/>',
        f'<line class="ideal" x1="{x(low)}" y1="{y(low)}" x2="{x(high)}" y2="{y(high)}"/>',
    ]
    parts += [
        f'<text class="middle" x="{x(value):.1f}" y="{size - bottom + 16}">{number(value)}'
        f'</text><text class="name" x="{left - 6}" y="{y(value) + 4:.1f}">{number(value)}</text>'
        for value in (low, (low + high) / 2, high)
    ]
    for predicted, truth, below, above, _ in bins.tolist():
        parts.append(
            f'<line class="error" x1="{x(predicted):.1f}" x2="{x(predicted):.1f}" '
            f'y1="{y(below):.1f}" y2="{y(above):.1f}"/>'
            f'<circle class="point" cx="{x(predicted):.1f}" cy="{y(truth):.1f}" r="4"/>'
        )
    parts.append(
        f'<text class="middle" x="{(left + size) / 2:.0f}" y="{size - 6}">{escape(across)}</text>'
        f'<text class="middle" transform="translate(14 {(size - bottom) / 2:.0f}) rotate(-90)">'
        f"{escape(up)}</text>"
    )
    return _svg(size, size, title, "".join(parts))


def _svg(width: int, height: int, title: str, content: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" '
        f'style="max-width:{width}px"><title>{escape(title)}</title>{content}</svg>'
    )


def _cut(name: str) -> str:
    return name if len(name) <= 30 else name[:29] + "…"
