"""Write the way back of the map of the lectures: from names of the API to where they are used.

    python tools/lecture_map.py           # says whether the page is up to date
    python tools/lecture_map.py --write   # writes it

The tables of `docs/lectures/index.md` are written by hand, a row for each item; the table of names
below them is made of these.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "lectures" / "index.md"
BEGIN, END = "<!-- written by tools/lecture_map.py -->\n", "<!-- end -->\n"
ROW = re.compile(
    r"^\| (?P<item>[^|]+) \| \[(?P<where>[^\]]+)\]\((?P<link>[^)]+)\) \| (?P<names>.+) \|$"
)


@dataclass(frozen=True)
class Item:
    """A row of the map: what, where, by which names."""

    text: str
    where: str
    link: str
    names: tuple[str, ...]


def items(page: str) -> list[Item]:
    """Return the rows of the tables."""
    found = []
    for line in page.splitlines():
        row = ROW.match(line)
        if row:
            names = tuple(re.findall(r"`(\w+)`", row["names"]))
            found.append(Item(row["item"], row["where"], row["link"], names))
    return found


def way_back(rows: list[Item]) -> str:
    """Return a table of names, each with the places where it is used."""
    lines = ["| name | items |", "|---|---|"]
    for name in sorted({name for row in rows for name in row.names}, key=str.lower):
        places = [f"[{row.text}]({row.link})" for row in rows if name in row.names]
        lines.append(f"| `{name}` | {'; '.join(places)} |")
    return "\n".join(lines) + "\n"


def mapped(page: str) -> str:
    """Return the page with the way back as the tables have it."""
    head, _, rest = page.partition(BEGIN)
    return head + BEGIN + way_back(items(head)) + END + rest.partition(END)[2]


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    if "--write" in sys.argv:
        PAGE.write_text(mapped(text), encoding="utf-8")
    elif mapped(text) != text:
        sys.exit("docs/lectures/index.md is not up to date: python tools/lecture_map.py --write")
