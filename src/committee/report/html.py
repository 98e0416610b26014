"""HTML and SVG from Python: whatever is not marked as HTML is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

# Elements without content.
_EMPTY = frozenset({"rect", "line", "circle", "path", "polyline", "polygon", "meta", "br"})


class Html(str):
    """Text that is HTML already. Nothing else may put text into a page unescaped."""


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """Return an element.

    Parameters
    ----------
    name : str
        Of the element.
    *children : object
        Its content: `Html` as it is, anything else escaped as text; None is left out.
    **attributes : object
        Escaped; "class_" is "class", other underscores are hyphens. None is left out.

    Examples
    --------
    >>> tag("p", "1 < 2 ", tag("b", "so"), class_="soft")
    '<p class="soft">1 &lt; 2 <b>so</b></p>'
    >>> tag("text", '<script>', aria_label='"onload=')
    '<text aria-label="&quot;onload=">&lt;script&gt;</text>'
    """
    parts = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(_shown(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    head = f"<{name}{''.join(parts)}"
    if name in _EMPTY:
        return Html(f"{head}/>")
    return Html(f"{head}>{join(children)}</{name}>")


def join(children: Iterable[object]) -> Html:
    """Return parts one after the other; what is not HTML is escaped."""
    return Html("".join(_content(child) for child in children if child is not None))


def _content(child: object) -> str:
    return child if isinstance(child, Html) else escape(str(child), quote=True)


def _shown(value: object) -> str:
    """Return an attribute; coordinates need no more than a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def paragraph(*children: object, kind: str | None = None) -> Html:
    """Return a paragraph."""
    return tag("p", *children, class_=kind)


def table(
    head: Sequence[object], rows: Iterable[Sequence[object]], *, caption: str, wide: bool = False
) -> Html:
    """Return a table whose first column names the rows.

    Parameters
    ----------
    head : sequence
        Names of the columns.
    rows : iterable of sequences
        Cells; the first of each row is its name.
    caption : str
        What the table is about.
    wide : bool, default=False
        Whether cells are text that may wrap, instead of numbers.
    """
    top = tag("tr", *(tag("th", each, scope="col") for each in head))
    body = join(
        tag("tr", tag("th", first, scope="row"), *(_cell(each) for each in rest))
        for first, *rest in rows
    )
    inner = tag(
        "table",
        tag("caption", caption),
        tag("thead", top),
        tag("tbody", body),
        class_="wide" if wide else None,
    )
    # A region that scrolls has to be reached by the keyboard.
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _cell(content: Any) -> Html:
    return content if isinstance(content, Shaded) else tag("td", content)


class Shaded(Html):
    """A cell of a table with a background; see `shaded`."""


def shaded(content: object, share: float) -> Shaded:
    """Return a cell whose background is as strong as a share of one.

    Examples
    --------
    >>> shaded(12, 0.5)
    '<td class="heat" style="--share:50%">12</td>'
    """
    return Shaded(tag("td", content, class_="heat", style=f"--share:{round(100 * share)}%"))


def folded(summary: str, *children: object) -> Html:
    """Return content that is shown when its summary is pressed."""
    return tag("details", tag("summary", summary), *children)


def side_by_side(*children: object) -> Html:
    """Return parts beside each other where the window is wide enough."""
    return tag("div", *children, class_="beside")
