"""The gallery of the lectures: every item is on the map, and every name of the map is public.

The code of its pages is run by tests/test_docs.py.
"""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import committee
import committee.datasets
import committee.losses
import committee.theory

ROOT = Path(__file__).parent.parent.parent
PAGES = [page for page in sorted((ROOT / "docs/lectures").glob("*.md")) if page.stem != "index"]
MAP = (ROOT / "docs/lectures/index.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("lecture_map", ROOT / "tools/lecture_map.py")
    module = sys.modules["lecture_map"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_page_for_each_lecture():
    assert len(PAGES) == 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_section_of_a_page_is_on_the_map(page, tool):
    headings = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", heading.lower()).strip() for heading in headings]
    anchors = [f"{page.name}#{heading.replace(' ', '-')}" for heading in words]
    linked = {item.link for item in tool.items(MAP)}
    assert [anchor for anchor in anchors if anchor not in linked] == []


def test_the_names_of_the_map_are_public(tool):
    public = {*committee.__all__, "load", "save"}  # which `import *` leaves out
    for module in (committee.datasets, committee.losses, committee.theory):
        public |= set(module.__all__)
    names = {name for item in tool.items(MAP) for name in item.names}
    assert sorted(names - public) == []
    assert len(names) > 40


def test_the_way_back_is_that_of_the_tables(tool):
    assert tool.mapped(MAP) == MAP


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pictures_of_a_page_are_drawn_by_the_code_above_them(page):
    # docs/images/make.py saves what the block before a picture has drawn.
    text = page.read_text(encoding="utf-8")
    pictures = re.findall(r"\(\.\./images/(lecture-[\w-]+\.png)\)", text)
    assert pictures
    for name in pictures:
        above = text[: text.index(name)].rpartition("```python")[2]
        assert "plot_" in above or "plt." in above
        assert name.startswith(f"lecture-{page.stem}-")
        assert (ROOT / "docs/images" / name).exists()
