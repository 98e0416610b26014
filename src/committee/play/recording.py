"""Runs that were recorded, as one HTML file: the same page, without a server."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from dataclasses import dataclass
from importlib import resources
from typing import Any

from committee.play.points import Points
from committee.play.run import read_order, run
from committee.play.server import with_setup
from committee.play.service import setup

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_IMPORT = re.compile(r'^import\s+(?:\{[^}]*\}\s+from\s+)?"\./([\w.]+)";\n', re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Recording:
    """A run to be shown, with words about it.

    Attributes
    ----------
    name, label : str
        In addresses, and on the button.
    title, lecture : str
        The heading, and where the example is from.
    text : tuple of str
        Paragraphs.
    points : Points
        What is learnt from.
    order : dict
        Method, settings, rounds, share held out and seed, as the page asks for them.
    place : tuple of two floats or None
        Where the cross is.
    """

    name: str
    label: str
    title: str
    lecture: str
    text: tuple[str, ...]
    points: Points
    order: dict[str, Any]
    place: tuple[float, float] | None = None

    def answer(self) -> dict[str, Any]:
        """Make the run."""
        points = self.points.to_json()
        given = {key: points[key] for key in ("x", "y", "class")}
        question = {"points": given, "axes": points["axes"], "names": points["names"]}
        return run(read_order(question | self.order))

    def to_json(self) -> dict[str, Any]:
        """Return what the page plays; the run is packed."""
        text = json.dumps(self.answer(), allow_nan=False)
        place = None if self.place is None else {"x": self.place[0], "y": self.place[1]}
        return {
            "name": self.name,
            "label": self.label,
            "title": self.title,
            "lecture": self.lecture,
            "text": list(self.text),
            "points": self.points.to_json(),
            "place": place,
            "answer": b64encode(gzip.compress(text.encode(), mtime=0)).decode(),
        }


def recorded_page(recordings: list[dict[str, Any]]) -> str:
    """Return a page that plays recordings and needs nothing else.

    Parameters
    ----------
    recordings : list of dict
        Of `Recording.to_json`.
    """
    files = resources.files("committee.play").joinpath("page")

    def read(name: str) -> str:
        return files.joinpath(name).read_text(encoding="utf-8")

    icon = b64encode(read("icon.svg").encode()).decode()
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    parts = {
        '<meta charset="utf-8">': f'<meta charset="utf-8">\n{policy}',
        'href="icon.svg"': f'href="data:image/svg+xml;base64,{icon}"',
        '<link rel="stylesheet" href="play.css">': f"<style>\n{read('play.css')}</style>",
        '<script type="module" src="app.js"></script>': (
            f'<script type="module">\n{_one_script("app.js", read)}</script>'
        ),
    }
    page = with_setup(
        read("index.html"),
        {"colors": setup()["colors"], "methods": [], "examples": [], "recordings": recordings},
    )
    for mark, part in parts.items():
        if page.count(mark) != 1:
            raise ValueError(f"the page must have {mark!r} once")
        page = page.replace(mark, part)
    return page


def _one_script(first: str, read: Any) -> str:
    """Return a module and all that it imports as one, each after what it needs.

    That no two modules use a name twice, a browser says when it reads the page.
    """
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        done[name] = ""  # so that a circle ends
        text = read(name)
        for needed in _IMPORT.findall(text):
            add(needed)
        del done[name]
        done[name] = re.sub(r"^export ", "", _IMPORT.sub("", text), flags=re.MULTILINE)

    add(first)
    return "\n".join(done.values())
