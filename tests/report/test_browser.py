"""The report in a real browser: headless Chromium renders it without errors, wide and narrow."""

import re

import pytest

KINDS = ["binary", "penguins", "numbers"]

# What is wrong in a page, or has to be there.
MEASURE = """
  const narrow = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll("main *")].filter(e => !e.closest(".scroll, pre, svg")
    && e.getBoundingClientRect().right > narrow + 1).map(e => e.tagName);
  const tiny = [...document.querySelectorAll("svg text")].filter(e => e.getClientRects().length
    && !e.closest("details:not([open])")
    && parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getBoundingClientRect().width
    / e.ownerSVGElement.viewBox.baseVal.width < 10).length;
  return {
    sections: [...document.querySelectorAll("section")].map(e => [e.id, e.offsetHeight]),
    drawings: [...document.querySelectorAll("main > section svg")].filter(
      e => !e.closest("details:not([open])")).map(e => e.getBoundingClientRect().height),
    overflow: document.documentElement.scrollWidth - narrow,
    out, tiny,
    paper: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    requests: performance.getEntriesByType("resource").length,
  };
"""


@pytest.fixture
def measured(window, tmp_path):
    def measure(text, width, scheme):
        """Open a page, measure it, and return what was written to the console too."""
        path = tmp_path / "report.html"
        path.write_text(text, "utf-8")
        window.look(width, 900, scheme)
        window.open(path.as_uri())
        return window.run(MEASURE), window.console()

    return measure


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (390, "dark")])
def test_a_report_fits_its_window_and_shows_all_of_its_parts(kind, width, scheme, pages, measured):
    found, messages = measured(pages[kind], width, scheme)
    assert messages == []
    assert len(found["sections"]) == 12
    assert all(height > 60 for _, height in found["sections"])
    assert len(found["drawings"]) > 8
    assert min(found["drawings"]) > 15
    assert found["overflow"] <= 0
    assert found["out"] == []
    assert found["tiny"] == 0
    assert found["requests"] == 0
    colors = {"light": ("rgb(255, 255, 255)", "rgb(28, 35, 48)")}
    colors["dark"] = ("rgb(20, 24, 31)", "rgb(230, 234, 240)")
    assert (found["paper"], found["ink"]) == colors[scheme]


def test_a_broken_page_is_noticed(measured):
    """The measure itself: text that is too small, too wide parts, and errors are seen."""
    text = (
        "<main><section id=a style='width:800px'><svg viewBox='0 0 900 20' style='width:300px'>"
        "<text y=10 style='font-size:13px'>a</text></svg></section></main>"
        "<script>throw new Error('broken')</script>"
    )
    found, messages = measured(text, 390, "light")
    assert found["overflow"] > 0
    assert "SECTION" in found["out"]
    assert found["tiny"] == 1
    assert any("broken" in message for message in messages)


def test_a_report_can_be_printed(pages, measured, window):
    measured(pages["penguins"], 1100, "light")
    content = window.printed()
    assert content.startswith(b"%PDF")
    n_pages = len(re.findall(rb"/Type\s*/Page\b", content))
    assert 3 <= n_pages <= 20
