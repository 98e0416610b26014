"""The page in a real browser: points are placed, rounds stepped through, the picture changes."""

import http.server
import json
import math
import threading

import numpy as np
import pytest

from committee.play.examples import EXAMPLES
from committee.play.methods import METHODS

PICTURE = "return document.getElementById('plane').toDataURL()"
FORMULA = "return document.getElementById('formula').textContent"
WHERE = "return document.getElementById('where').textContent"


class Page:
    """The page of a server, as its user sees it."""

    def __init__(self, window, url):
        self.window, self.url = window, url

    def open(self, address="", width=1280, scheme="light"):
        self.window.look(width, 900, scheme)
        self.window.open("about:blank")
        self.window.open(self.url + address)
        self.settle()

    def settle(self):
        """Wait until what was asked for is shown."""
        self.window.wait("document.documentElement.dataset.theme", 30)
        self.window.wait("!document.documentElement.hasAttribute('data-busy')", 30)

    def settled(self, script):
        self.settle()
        return self.window.run(script)

    @property
    def where(self):
        return self.settled(WHERE)

    @property
    def formula(self):
        return self.settled(FORMULA)

    @property
    def picture(self):
        return self.settled(PICTURE)

    @property
    def message(self):
        script = (
            "const e = document.getElementById('message'); return e.hidden ? '' : e.textContent"
        )
        return self.settled(script)

    def place(self, right, up):
        """Return the place in the window of shares of the plane, from its lower left corner."""
        box = self.window.run(
            "const b = document.getElementById('plane').getBoundingClientRect();"
            "return [b.left + 34, b.top + 8, b.width - 42, b.height - 32]"
        )
        return box[0] + right * box[2], box[1] + (1 - up) * box[3]

    def press(self, label):
        """Press a button by its text or name."""
        script = """
          const found = [...document.querySelectorAll("button")].filter(
            e => [e.textContent.trim(), e.getAttribute("aria-label")].includes(arguments[0]));
          if (found.length !== 1) throw new Error(arguments[0] + ": " + found.length);
          found[0].click();
        """
        self.window.run(script, label)
        self.settle()

    def address(self):
        """Return the part of the address that holds the state, once it is written."""
        return self.settled(
            "return new Promise(done => setTimeout(() => done(location.hash), 400))"
        )

    def points(self):
        """Return places and classes of points of one's own, from the address."""
        script = """
          const fields = new URLSearchParams(arguments[0].slice(1));
          const text = atob(fields.get("xy").replace(/-/g, "+").replace(/_/g, "/"));
          return [...text].map(each => each.charCodeAt(0));
        """
        values = np.array(self.window.run(script, self.address()), float).reshape(-1, 5)
        return (values[:, [0, 2]] * 256 + values[:, [1, 3]]) / 65535, values[:, 4].astype(int)


@pytest.fixture
def page(window, server):
    opened = Page(window, server.url)
    window.console()
    yield opened
    assert window.console() == []


def test_points_are_placed_by_pointer_and_the_picture_changes(page):
    page.open()
    page.press("Clear")
    assert "two classes" in page.message
    empty = page.picture
    for right, up in [(0.2, 0.3), (0.3, 0.7)]:
        page.window.pointer(page.place(right, up))
    page.press("orange")
    page.window.pointer(page.place(0.8, 0.5))
    assert page.picture != empty
    assert page.message == ""
    places, codes = page.points()
    assert np.allclose(places, [(0.2, 0.3), (0.3, 0.7), (0.8, 0.5)], atol=0.003)
    assert codes.tolist() == [0, 0, 1]
    assert "x ≤" in page.formula


def test_points_are_drawn_moved_and_removed_by_pointer(page):
    page.open("#points=ten&held_out=0&method=tree")
    page.press("Clear")
    page.window.pointer(page.place(0.1, 0.5), *[page.place(0.1 + k / 40, 0.5) for k in range(9)])
    n_drawn = len(page.points()[1])
    assert 5 <= n_drawn <= 9
    places, _ = page.points()
    page.window.pointer(page.place(*places[0]), page.place(0.6, 0.9))
    moved, _ = page.points()
    assert len(moved) == n_drawn
    assert np.allclose(moved[0], (0.6, 0.9), atol=0.003)
    assert np.allclose(moved[1:], places[1:])
    page.window.pointer(page.place(0.6, 0.9), button=2)
    assert len(page.points()[1]) == n_drawn - 1


def test_changes_are_taken_back(page):
    page.open("#points=ten&held_out=0&method=tree&round=2")
    where = page.where
    page.window.pointer(page.place(0.5, 0.3))
    page.press("Clear")
    assert page.points()[1].size == 0
    page.window.press("control+z")
    assert page.points()[1].size == 11
    page.window.press("control+z", "control+z", "control+z")
    assert "points=ten" in page.address()
    assert (page.message, page.where) == ("", where)


def test_a_finger_places_moves_and_scrolls(page):
    page.open("#points=ten&held_out=0&method=tree", width=390)
    page.window.pointer(page.place(0.5, 0.3), kind="touch")
    assert len(page.points()[1]) == 11
    places, _ = page.points()
    page.window.pointer(page.place(*places[-1]), page.place(0.7, 0.2), kind="touch")
    moved, _ = page.points()
    assert np.allclose(moved[-1], (0.7, 0.2), atol=0.01)
    steps = [page.place(0.25, 0.1 + 0.08 * k) for k in range(9)]
    page.window.pointer(*steps, kind="touch")
    assert len(page.points()[1]) == 11
    page.window.wait("scrollY > 0")


def test_the_keyboard_does_it_all(page):
    page.open("#points=ten&held_out=0&method=adaboost&rounds=3&round=1")
    page.window.press("right")
    assert page.where == "2 of 3"
    committee = page.picture
    page.window.press("v")
    assert page.picture != committee  # but the member
    page.window.press("v")
    assert page.picture == committee
    page.window.press("end")
    assert page.where == "3 of 3"
    page.window.press("home")
    assert page.where == "1 of 3"
    page.window.run("document.getElementById('plane').focus()")
    page.window.press("2", *["right"] * 10, "up", "enter")
    places, codes = page.points()
    assert len(codes) == 11
    assert codes[-1] == 1
    assert np.allclose(places[-1], (0.7, 0.52), atol=0.001)
    page.window.press("delete")
    assert len(page.points()[1]) == 10
    assert page.where.startswith("1 of")  # arrows moved the cross, and not the round
    page.window.press("escape", "right")
    assert page.where.startswith("2 of")


def test_rounds_show_their_numbers(page):
    page.open("#points=ten&held_out=0&method=adaboost&rounds=3&round=1")
    seen = []
    for error, beta in [("0.300", "0.424"), ("0.214", "0.650"), ("0.136", "0.923")]:
        assert error in page.formula
        assert beta in page.formula
        seen.append(page.picture)
        page.press("Next round")
    assert len(set(seen)) == 3
    assert page.where == "3 of 3"
    assert page.window.run("return document.getElementById('next').disabled")


def test_playing_goes_through_all_rounds(page):
    page.open("#points=ten&held_out=0&method=adaboost&rounds=4&round=1")
    page.press("Play")
    page.window.wait("document.getElementById('where').textContent === '4 of 4'", 30)
    page.window.wait("document.getElementById('play').ariaLabel === 'Play'")


# What is wrong with the look of the page.
LOOK = """
  const width = document.documentElement.clientWidth;
  const seen = [...document.querySelectorAll("main *, header *")].filter(
    e => e.getClientRects().length
    && !e.closest(".hidden, canvas, math, svg, ol, nav, .file input"));
  const out = seen.filter(e => e.getBoundingClientRect().right > width + 1
    && !e.closest("#methods, .members ol")).map(e => e.tagName + "." + e.className);
  const small = [...document.querySelectorAll("main svg text")].filter(e =>
    parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getBoundingClientRect().width
    / e.ownerSVGElement.viewBox.baseVal.width < 9.5).length;
  const targets = seen.filter(e => e.matches("button, select, summary") ).filter(
    e => e.getBoundingClientRect().height < 24).map(e => e.textContent);
  const bad = /NaN|undefined|Infinity|\\[object/.test(document.body.innerText);
  return { out, small, targets, bad, overflow: document.documentElement.scrollWidth - width,
    pictures: document.querySelectorAll(".members li").length,
    curves: document.querySelectorAll("#errors path").length };
"""


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_shown_wide_and_narrow(page, method, width, scheme):
    points = "clouds" if scheme == "dark" else "moons"
    page.open(f"#method={method}&points={points}&n=60&round=2", width, scheme)
    found = page.settled(LOOK)
    assert page.message == ""
    assert found["out"] == []
    assert found["overflow"] <= 0
    assert found["small"] == 0
    assert found["targets"] == []
    assert not found["bad"]
    assert found["curves"] >= 2
    assert found["pictures"] == int(page.where.split()[-1])
    committee = page.picture
    page.window.press("v")
    if method != "stacking":  # whose members come one by one
        assert page.picture != committee


def test_the_address_holds_what_is_seen(page):
    page.open("#method=voting&points=circles&n=80&voting=hard&weights=tree:0.3&round=3&show=member")
    page.press("orange")
    page.window.pointer(page.place(0.5, 0.9))
    address = page.address()
    seen, formula, places = page.picture, page.formula, page.points()[0]
    page.open(address)
    assert page.address() == address
    assert (page.picture == seen, page.formula == formula) == (True, True)
    assert np.array_equal(page.points()[0], places)
    assert len(places) == 81


@pytest.mark.parametrize(
    "address",
    [
        "#method=<script>&points=own&xy=!!!&axes=1,2&names=x&classes=[",
        "#method=adaboost&rounds=1e9&max_depth=-4&points=moons&n=99999999&noise=NaN&held_out=7",
        "#points=own&xy=AAAA&axes=0,1,0,1&names=[1,2]&classes=[]&at=1e999,x&round=-5",
        "#members=os,tree&method=voting&weights=tree:9e9,__proto__:1",
        "#" + "x=1&" * 500,
    ],
)
def test_an_address_that_makes_no_sense_is_passed_over(page, address):
    page.open(address)
    assert page.where
    assert page.window.run("return document.querySelectorAll('script:not([type])').length") == 0


def test_examples_and_sliders_ask_again(page):
    page.open("#method=tree&points=moons&n=60")
    pictures = {page.picture}
    for example in EXAMPLES[1:4]:
        page.press(example.label)
        pictures.add(page.picture)
    assert len(pictures) == 4
    script = """
      const label = [...document.querySelectorAll("label")].find(
        e => e.textContent.startsWith(arguments[0]));
      const input = label.querySelector("input");
      input.value = arguments[1];
      input.dispatchEvent(new Event("input", { bubbles: true }));
    """
    page.window.run(script, "Splits", 3)
    page.window.wait("document.getElementById('where').textContent === '3 of 3'")
    before = page.picture
    page.window.run(script, "Noise", 0.4)
    assert page.picture != before
    page.press("Draw other points")
    assert page.settled("return location.hash") is not None


def test_a_file_is_opened_and_its_columns_are_chosen(page):
    page.open("#method=tree")
    rows = "\n".join(f"{k % 10},{k // 10},{k * k % 17},{'ab'[k % 10 > 4]}" for k in range(60))
    script = """
      const files = new DataTransfer();
      files.items.add(new File([arguments[0]], "own table.csv"));
      const input = document.getElementById("file");
      input.files = files.files;
      input.dispatchEvent(new Event("change"));
    """
    page.window.run(script, f"left,right,third,<b>kind</b>\n{rows}\n")
    page.window.wait("document.body.innerText.includes('own table.csv')")
    assert "left ≤ 4.5" in page.formula.replace("4.50", "4.5")
    choose = """
      const select = [...document.querySelectorAll("select")].find(
        e => e.closest("label").textContent.startsWith("Across"));
      select.value = "third";
      select.dispatchEvent(new Event("change"));
    """
    before = page.picture
    page.window.run(choose)
    page.window.wait(
        "document.getElementById('formula').textContent.includes('third')"
        " || document.getElementById('formula').textContent.includes('right')"
    )
    assert page.picture != before
    page.window.run(script, "no table at all")
    page.window.wait("!document.getElementById('message').hidden")
    assert "own table.csv" in page.message
    assert all("422" in each for each in page.window.console())


def test_votes_follow_the_cross(page):
    page.open("#method=voting&points=moons&n=80&round=4")
    script = "return [...document.querySelectorAll('.vote')].length"
    assert page.settled(script) == 4
    texts = set()
    for at in [(0.1, 0.9), (0.9, 0.1)]:
        page.window.pointer(page.place(*at), button=2)  # removes nothing here
        texts.add(page.settled("return document.querySelector('.result').textContent"))
    assert len(texts) == 2


class OtherPage(http.server.BaseHTTPRequestHandler):
    """A page of somebody else on this machine."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another page</title><link rel=icon href='data:,'>")

    def log_message(self, *_):
        pass


def test_another_page_cannot_ask_read_or_frame_the_playground(window, server):
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OtherPage)
    thread = threading.Thread(target=other.serve_forever, args=(0.02,))
    thread.start()
    try:
        window.open(f"http://127.0.0.1:{other.server_port}/")
        script = """
          const [url, token] = arguments;
          const tries = {
            read: () => fetch(url).then(r => r.text()),
            ask: () => fetch(url + "ask/run", { method: "POST", body: "{}",
              headers: { "Content-Type": "application/json", "X-Committee-Token": token } }),
            blind: () => fetch(url + "ask/run", { method: "POST", body: "{}", mode: "no-cors" })
              .then(r => r.text()).then(text => { if (text === "") throw new Error("nothing"); }),
            script: () => new Promise((done, failed) => {
              const made = document.createElement("script");
              made.src = url + "app.js"; made.onload = done; made.onerror = failed;
              document.head.append(made); }),
          };
          return Promise.all(Object.entries(tries).map(async ([name, go]) => {
            try { await go(); return name; } catch { return ""; } }));
        """
        assert window.run(script, server.url, server.token) == ["", "", "", ""]
        frame = """
          const frame = document.createElement("iframe");
          frame.src = arguments[0];
          document.body.append(frame);
          return new Promise(done => frame.onload = () => {
            try { done(frame.contentDocument === null ? "closed" : "open"); }
            catch { done("closed"); } });
        """
        assert window.run(frame, server.url) == "closed"
        assert any("frame" in each.lower() for each in window.console())
    finally:
        other.shutdown()
        thread.join()
        other.server_close()


def test_a_server_that_has_gone_is_said(page, server, monkeypatch):
    page.open("#method=tree&points=moons&n=40")
    monkeypatch.setattr(server, "token", "another")
    page.press("Circles")
    assert "load the page again" in page.message
    errors = page.window.console()
    assert len(errors) == 1
    assert "403" in errors[0]


def test_the_plane_is_as_sharp_as_the_screen(page):
    page.window.look(1280, 900, "light", scale=2)
    page.window.open(page.url)
    page.settle()
    width, wide = page.window.run(
        "const c = document.getElementById('plane'); return [c.width, c.clientWidth]"
    )
    assert math.isclose(width, 2 * wide, abs_tol=6)


def test_the_setup_of_the_page_names_all_methods_and_examples(page):
    page.open()
    setup = json.loads(page.window.run("return document.getElementById('setup').textContent"))
    assert [each["name"] for each in setup["methods"]] == list(METHODS)
    texts = page.window.run(
        "return [...document.querySelectorAll('nav button')].map(e => e.textContent)"
    )
    assert texts == [each.label for each in METHODS.values()]
