"""Recorded runs: a page that needs nothing else, and says what is true."""

import base64
import gzip
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from committee.play.examples import example_points
from committee.play.recording import Recording, recorded_page

SCRIPT = Path(__file__).parents[2] / "docs" / "_extensions" / "lectures.py"


@pytest.fixture(scope="module")
def lectures():
    """The module that writes the page of the site."""
    return runpy.run_path(str(SCRIPT))


@pytest.fixture(scope="module")
def recordings(lectures):
    return lectures["RECORDINGS"]


@pytest.fixture(scope="module")
def address(lectures, tmp_path_factory):
    """The page as a file."""
    path = tmp_path_factory.mktemp("lectures") / "lectures.html"
    path.write_text(lectures["page"](), "utf-8")
    return path.as_uri()


def setup_of(page):
    return json.loads(re.search(r'id="setup">(.*?)</script>', page, re.DOTALL).group(1))


def test_a_recording_holds_the_run(recordings):
    recorded = recordings[1].to_json()
    answer = json.loads(gzip.decompress(base64.b64decode(recorded["answer"])))
    assert answer == json.loads(json.dumps(recordings[1].answer()))
    assert recorded == recordings[1].to_json()  # byte for byte


def test_the_page_is_small_and_names_no_other_place(lectures):
    page = lectures["page"]()
    assert len(page) < 300_000
    places = re.findall(r"https?://[^\s\"']+", page)
    assert {each for each in places if "www.w3.org" not in each} == set()


def test_what_the_page_says_about_the_lectures_is_true(recordings):
    runs = {each.name: each.answer()["rounds"] for each in recordings}
    trees = runs["bagging"]
    assert len(trees) == 21
    assert trees[-1]["oob_error"] < np.mean([each["member_oob_error"] for each in trees]) - 0.03
    assert [round(each["error"], 2) for each in runs["ten"]] == [0.3, 0.21, 0.14]
    gains = [each["gain"] for each in runs["xor"]]
    assert (round(gains[0], 2), round(gains[1], 2)) == (0.05, 0.84)
    errors = [each["committee_error"] for each in runs["xor"]]
    n_points = runs["xor"][0]["n"]["node"]
    assert (round(errors[5] * n_points), round(errors[6] * n_points)) == (6, 1)
    assert [each["weight"] for each in runs["voting"]] == [0.2, 0.3, 0.5]


def test_text_is_no_html():
    points = example_points("ten")
    words = "</script><img src=x onerror=alert(1)>"
    order = {"method": "tree", "rounds": 2}
    recording = Recording(words, words, words, words, (words,), points, order)
    page = recorded_page([recording.to_json()])
    assert words not in page
    assert setup_of(page)["recordings"][0]["title"] == words


def test_the_page_plays_without_a_server(window, address, recordings):
    window.look(1280, 900, "light")
    window.console()
    window.open(address)
    names = [each.name for each in recordings]
    pictures = set()
    for number, name in enumerate(names):
        window.run("document.querySelectorAll('#methods button')[arguments[0]].click()", number)
        window.wait(
            f"document.querySelectorAll('#methods button')[{number}].ariaPressed === 'true'"
        )
        window.wait("document.querySelectorAll('.equation').length")
        window.press("right")
        pictures.add(window.run("return document.getElementById('plane').toDataURL()"))
        assert window.run("return document.getElementById('where').textContent").startswith(
            "2 of"
        ), name
    assert len(pictures) == len(names)
    assert window.run("return performance.getEntriesByType('resource').length") == 0
    assert window.console() == []


def test_an_address_leads_to_a_round_on_a_phone(window, address):
    window.look(390, 800, "dark")
    window.open("about:blank")
    window.open(address + "#run=ten&round=3")
    window.wait("document.getElementById('where').textContent === '3 of 3'")
    assert "0.923" in window.run("return document.getElementById('formula').textContent")
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert window.run(wide) <= 0
    before = window.run("return document.getElementById('plane').toDataURL()")
    box = window.run(
        "const b = document.getElementById('plane').getBoundingClientRect();"
        "return [b.left + b.width / 2, b.top + b.height / 2]"
    )
    window.pointer(tuple(box))  # places nothing here, but moves the cross
    assert window.run("return document.getElementById('plane').toDataURL()") != before
    assert window.console() == []
