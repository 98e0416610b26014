"""Keeps the docstrings of related estimators the same where they speak of the same thing.

Docstrings are whole in every class, for `help()`, editors and the API page, but the text of a
parameter or an attribute is written in one class: a regressor takes it from the classifier, and
`shared_docs.toml` lists what families take from each other and what differs on purpose. Methods
take from the method of the same name.

Run `python tools/shared_docs.py` for a list of differences, with `--write` to end them. That edits
lines of docstrings only. In a regressor "classifier" becomes "regressor", a default is always that
of the class's own signature, and a parameter that has no entry yet gets one.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent.parent / "src" / "committee"
TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@dataclass
class Entry:
    """The lines about one parameter or attribute; `first` is the number of the first, from 0."""

    section: str
    first: int
    lines: list[str]


@dataclass
class Documented:
    """A class or method: its file, its entries by name, and the defaults of its parameters."""

    path: Path
    entries: dict[str, Entry]
    defaults: dict[str, str]


@dataclass
class Edit:
    """Lines of a file from `first` to before `end`, which become others, and the reason."""

    path: Path
    first: int
    end: int
    lines: list[str]
    reason: str


def read(root: Path) -> dict[str, Documented]:
    """Return the estimators in the files of a folder, and their methods as "Class.method"."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text("utf-8")
        for cls in ast.parse(text).body:
            if isinstance(cls, ast.ClassDef) and cls.name.endswith(("Classifier", "Regressor")):
                for method in [each for each in cls.body if isinstance(each, ast.FunctionDef)]:
                    is_constructor = method.name == "__init__"
                    name = cls.name if is_constructor else f"{cls.name}.{method.name}"
                    entries = read_entries(cls if is_constructor else method, text.splitlines())
                    found[name] = Documented(path, entries, read_defaults(method.args))
    return found


def read_entries(node: ast.ClassDef | ast.FunctionDef, lines: list[str]) -> dict[str, Entry]:
    """Return what stands in Parameters and Attributes of a docstring."""
    entries: dict[str, Entry] = {}
    if ast.get_docstring(node) is None:
        return entries
    docstring, section, entry = node.body[0], "", None
    heading = re.compile(rf" {{{docstring.col_offset}}}([^ ,]+)")
    inside = lines[docstring.lineno : docstring.end_lineno]
    for number, (line, following) in enumerate(pairwise(inside), docstring.lineno):
        if is_rule(following):
            section, entry = line.strip(), None
        elif section in ("Parameters", "Attributes") and not is_rule(line):
            named = heading.match(line)
            if named and not lines[number - 1].endswith("\\"):
                entry = entries[named[1]] = Entry(section, number, [])
            if entry is not None:
                entry.lines.append(line)
    for entry in entries.values():
        while not entry.lines[-1]:
            entry.lines.pop()
    return entries


def is_rule(line: str) -> bool:
    """Whether a line underlines the title of a section."""
    return re.fullmatch(" *-{3,}", line) is not None


def read_defaults(arguments: ast.arguments) -> dict[str, str]:
    """Return the defaults of parameters, as docstrings write them."""
    positional = arguments.posonlyargs + arguments.args
    pairs = [
        *zip(positional[::-1], arguments.defaults[::-1], strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {each.arg: ast.unparse(value).replace("'", '"') for each, value in pairs if value}


def source_of(documented: dict[str, Documented], taker: str, name: str) -> str | None:
    """Return where the text of an entry is taken from; None if it is written in its own class."""
    for source, names in TABLES["takes"].get(taker, {}).items():
        if name in names.split():
            return str(source)
    classifier = documented.get(taker.replace("Regressor", "Classifier"))
    if "Regressor" not in taker or classifier is None or name not in classifier.entries:
        return None
    is_own = name in TABLES["own"].get(taker, "").split()
    return None if is_own else taker.replace("Regressor", "Classifier")


def text_of(documented: dict[str, Documented], taker: str, name: str) -> list[str]:
    """Return the lines that an entry should have."""
    source = source_of(documented, taker, name)
    if source is None:
        return documented[taker].entries[name].lines
    lines = text_of(documented, source, name)
    if "Regressor" in taker:
        for word, other in [("Classifier", "Regressor"), ("classifier", "regressor")]:
            lines = [line.replace(word, other) for line in lines]
    default = documented[taker].defaults.get(name)
    if default is not None and default != documented[source].defaults.get(name):
        lines = [re.sub("default=.*", f"default={default}", lines[0]), *lines[1:]]
    return lines


def edits(documented: dict[str, Documented]) -> Iterator[Edit]:
    """Yield what has to change for each entry to have the text of its source."""
    for taker, each in documented.items():
        for name, entry in each.entries.items():
            lines = text_of(documented, taker, name)
            if lines != entry.lines:
                reason = f"{taker}: {name} is not as in {source_of(documented, taker, name)}"
                yield Edit(each.path, entry.first, entry.first + len(entry.lines), lines, reason)
        yield from additions(documented, taker)


def additions(documented: dict[str, Documented], taker: str) -> Iterator[Edit]:
    """Yield the parameters of a regressor that only its classifier documents yet."""
    each = documented[taker]
    classifier = documented.get(taker.replace("Regressor", "Classifier"), each)
    place = min((entry.first for entry in each.entries.values()), default=0)
    for name in classifier.entries:
        if name in each.entries:
            place = each.entries[name].first + len(each.entries[name].lines)
        elif name in each.defaults and place:
            lines = text_of(documented, taker, name)
            yield Edit(each.path, place, place, lines, f"{taker}: {name} has no entry")


def faults(documented: dict[str, Documented]) -> Iterator[str]:
    """Yield what the tables say in vain, and equal texts of classes that they do not know of."""
    for taker, names in TABLES["own"].items():
        classifier = documented[taker.replace("Regressor", "Classifier")]
        for name in names.split():
            ours, theirs = (each.entries.get(name) for each in (documented[taker], classifier))
            if ours is None or theirs is None or ours.lines == theirs.lines:
                yield f"own: {name} of {taker} does not differ from that of the classifier"
    for taker, sources in TABLES["takes"].items():
        for source, names in sources.items():
            for name in names.split():
                if not all(name in documented[each].entries for each in (taker, source)):
                    yield f"takes: {taker} and {source} do not both have {name}"
    written: dict[tuple[str, ...], str] = {}
    for taker, each in documented.items():
        for name, entry in each.entries.items():
            if "." not in taker and source_of(documented, taker, name) is None:
                other = written.setdefault(tuple(entry.lines), taker)
                if other != taker:
                    yield f"takes: {name} is the same in {other} and {taker}"


def apply(changes: list[Edit]) -> None:
    """Rewrite the files, from the last line up, so that numbers of lines stay true."""
    for change in sorted(changes, key=lambda each: (each.first, each.end), reverse=True):
        lines = change.path.read_text("utf-8").split("\n")
        lines[change.first : change.end] = change.lines
        change.path.write_text("\n".join(lines), "utf-8")


def main(arguments: list[str], root: Path = SOURCES) -> int:
    documented = read(root)
    changes, wrong = list(edits(documented)), list(faults(documented))
    if "--write" in arguments:
        apply(changes)
    else:
        wrong += [change.reason for change in changes]
    print("\n".join(wrong) or "Shared entries of docstrings are the same.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
