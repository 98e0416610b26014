"""The report of a committee: a page that answers how good it is, why, and how to use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from committee.report.data import data
from committee.report.errors import errors
from committee.report.fresh import fresh_rows
from committee.report.html import Html, join, tag
from committee.report.influence import influence
from committee.report.intervals import intervals
from committee.report.members import costs, leaderboard, members, validation
from committee.report.style import STYLE
from committee.report.tree import small_tree
from committee.report.use import card, use
from committee.report.verdict import verdict

# Sections in their order. One that has nothing to say returns None and is left out.
SECTIONS: tuple[tuple[str, str, Callable[[Any], Html | None]], ...] = (
    ("result", "Result", verdict),
    ("data", "Data and warnings", data),
    ("validation", "How it was validated", validation),
    ("leaderboard", "Leaderboard", leaderboard),
    ("members", "Members and their weights", members),
    ("errors", "Errors", errors),
    ("columns", "Columns that matter", influence),
    ("tree", "The committee in one small tree", small_tree),
    ("intervals", "Intervals", intervals),
    ("costs", "What it cost, and how to repeat it", costs),
    ("use", "How to use it", use),
    ("card", "Model card", card),
)

# The page runs no script and loads nothing, whatever a cell of the table may hold.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_report(model: Any, path: str | Path, fresh: Any = None) -> None:
    """Write the report of a fitted committee to an HTML file.

    Parameters
    ----------
    model : CommitteeClassifier or CommitteeRegressor
        Fitted.
    path : str or Path
        The file, which is replaced.
    fresh : Fresh or None, default=None
        What the committee does on other rows.
    """
    Path(path).write_text(page(model, fresh), encoding="utf-8")


def page(model: Any, fresh: Any = None) -> str:
    """Return the report of a fitted committee as HTML."""
    sections = []
    for anchor, name, make in SECTIONS:
        sections.append((anchor, name, make(model)))
        if anchor == "errors" and fresh is not None:
            sections.append(("rows", "The rows that you gave", fresh_rows(model, fresh)))
    present = [(anchor, name, content) for anchor, name, content in sections if content is not None]
    links = [tag("a", name, href=f"#{anchor}") for anchor, name, _ in present]
    body = [
        tag(
            "section",
            tag("h2", name, id=f"{anchor}-title"),
            content,
            id=anchor,
            aria_labelledby=f"{anchor}-title",
        )
        for anchor, name, content in present
    ]
    target = getattr(model, "target_name_", None)
    title = "Report of a committee" + (f" that predicts {target}" if target is not None else "")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width,initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("title", title),
        tag("style", Html(STYLE)),
    )
    top = tag("header", tag("h1", title), tag("nav", *links, aria_label="Sections"))
    whole = tag(
        "body",
        tag("a", "Skip to the content", class_="skip", href="#result"),
        top,
        tag("main", *body),
        tag("footer", tag("p", f"Written by {_version(model)}.", class_="soft")),
    )
    return "<!doctype html>" + tag("html", join([head, whole]), lang="en")


def _version(model: Any) -> str:
    return str(model.findings_.versions[0])
