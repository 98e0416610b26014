"""Recorded runs: a page that needs nothing else, and tells what the library would answer today."""

import base64
import gzip
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from play_tools import unpack

from committee.play.examples import example_points
from committee.play.recording import Recording, recorded_page

DOCS = Path(__file__).parents[2] / "docs" / "play"


@pytest.fixture(scope="module")
def recordings():
    return runpy.run_path(str(DOCS / "record.py"))["RECORDINGS"]


@pytest.fixture(scope="module")
def page():
    return (DOCS / "lectures.html").read_text("utf-8")


def setup_of(page):
    return json.loads(re.search(r'id="setup">(.*?)</script>', page, re.DOTALL).group(1))


def answer_of(recorded):
    return json.loads(gzip.decompress(base64.b64decode(recorded["answer"])))


def test_the_page_of_the_lectures_is_that_of_the_script(recordings, page):
    """Front end and words to the letter; runs as their models answer now, on any machine."""
    recorded = setup_of(page)["recordings"]
    assert recorded_page(recorded) == page, "run python docs/play/record.py"
    assert [each["name"] for each in recorded] == [each.name for each in recordings]
    for old, each in zip(recorded, recordings, strict=True):
        new = json.loads(json.dumps(each.to_json()))
        assert {**old, "answer": ""} == {**new, "answer": ""}
        assert_same_run(answer_of(old), answer_of(new))


def assert_same_run(old, new):
    for key, value in new.items():
        if key in ("committee", "member", "committee_points", "member_points"):
            shares = [unpack(each[key], "u1", -1).astype(int) for each in (old, new)]
            assert np.abs(shares[0] - shares[1]).max() <= 1
        elif key in ("weights", "margins"):
            assert np.allclose(*(unpack(each[key], "<f4", -1) for each in (old, new)), atol=1e-5)
        else:
            assert_alike(old[key], value)


def assert_alike(old, new):
    """Equal but for last digits of numbers."""
    if isinstance(new, dict):
        assert old.keys() == new.keys()
        old, new = list(old.values()), list(new.values())
    if isinstance(new, list):
        for one, other in zip(old, new, strict=True):
            assert_alike(one, other)
    else:
        assert old == (pytest.approx(new, rel=1e-6) if isinstance(new, float) else new)


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


def test_the_page_plays_without_a_server(window, page):
    window.look(1280, 900, "light")
    window.console()
    window.open((DOCS / "lectures.html").as_uri())
    names = [each["name"] for each in setup_of(page)["recordings"]]
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


def test_an_address_leads_to_a_round_on_a_phone(window):
    window.look(390, 800, "dark")
    window.open("about:blank")
    window.open((DOCS / "lectures.html").as_uri() + "#run=ten&round=3")
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
