"""The report in a real browser: headless Chromium renders it without errors, wide and narrow.

The browser of the system is called by its command line, so that no package is needed. Where there
is none, these tests say so and are skipped.
"""

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape

import pytest

BROWSER = next(
    filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None
)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine")

KINDS = ["binary", "penguins", "numbers"]

# Put around a report: waits until it is rendered, measures it, and leaves what it has found.
MEASURE = """
<script>
addEventListener("load", () => {
  const page = document.getElementById("page").contentDocument;
  const narrow = page.documentElement.clientWidth;
  const out = [...page.querySelectorAll("main *")].filter(e => !e.closest(".scroll, pre, svg")
    && e.getBoundingClientRect().right > narrow + 1).map(e => e.tagName);
  const tiny = [...page.querySelectorAll("svg text")].filter(e => e.getClientRects().length
    && !e.closest("details:not([open])")
    && parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getBoundingClientRect().width
    / e.ownerSVGElement.viewBox.baseVal.width < 10).length;
  const found = {
    sections: [...page.querySelectorAll("section")].map(e => [e.id, e.offsetHeight]),
    drawings: [...page.querySelectorAll("main > section svg")].filter(
      e => !e.closest("details:not([open])")).map(e => e.getBoundingClientRect().height),
    overflow: page.documentElement.scrollWidth - narrow,
    out, tiny,
    paper: getComputedStyle(page.body).backgroundColor,
    ink: getComputedStyle(page.body).color,
    requests: page.defaultView.performance.getEntriesByType("resource").length,
  };
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script><pre id="found"></pre>
"""


def browse(folder, *options, url):
    """Run the browser with an empty profile; return what it prints, and its log."""
    command = [BROWSER, "--headless", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += ["--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")
    done = subprocess.run(
        [*command, *options, url], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout, done.stderr


def console(log):
    """What the page wrote to the console."""
    return [line for line in log.splitlines() if re.search(r"CONSOLE", line)]


def measured(folder, text, width, scheme):
    frame = (
        f'<iframe id="page" style="width:{width}px;height:4000px;border:0" srcdoc="{escape(text)}">'
    )
    (folder / "frame.html").write_text(f"<!doctype html>{MEASURE}{frame}</iframe>", "utf-8")
    printed, log = browse(
        folder,
        f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}",
        "--dump-dom",
        url=(folder / "frame.html").as_uri(),
    )
    found = re.search(r'<pre id="found">(.*?)</pre>', printed, re.DOTALL).group(1)
    return json.loads(unescape(found)), console(log)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (390, "dark")])
def test_a_report_fits_its_window_and_shows_all_of_its_parts(kind, width, scheme, pages, tmp_path):
    found, messages = measured(tmp_path, pages[kind], width, scheme)
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


def test_a_broken_page_is_noticed(tmp_path):
    """The measure itself: text that is too small, too wide parts, and errors are seen."""
    text = (
        "<main><section id=a style='width:800px'><svg viewBox='0 0 900 20' style='width:300px'>"
        "<text y=10 style='font-size:13px'>a</text></svg></section></main>"
        "<script>throw new Error('broken')</script>"
    )
    found, messages = measured(tmp_path, text, 390, "light")
    assert found["overflow"] > 0
    assert "SECTION" in found["out"]
    assert found["tiny"] == 1
    assert any("broken" in message for message in messages)


def test_a_report_can_be_printed(pages, tmp_path):
    (tmp_path / "report.html").write_text(pages["penguins"], "utf-8")
    paper = tmp_path / "report.pdf"
    browse(tmp_path, f"--print-to-pdf={paper}", url=(tmp_path / "report.html").as_uri())
    content = paper.read_bytes()
    assert content.startswith(b"%PDF")
    n_pages = len(re.findall(rb"/Type\s*/Page\b", content))
    assert 3 <= n_pages <= 20
