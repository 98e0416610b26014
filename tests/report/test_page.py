"""The page of a report: its sections, its tables and charts, its colours, and what it escapes."""

import copy
import itertools
import re

import numpy as np
import pandas as pd
import pytest
from report.conftest import ATTRIBUTE, IMAGE, SCRIPT
from report.report_tools import Page, contrast, palettes

import committee
from committee.report.html import tag
from committee.report.page import page

# Some targets follow from one column, which has tests of its own.
pytestmark = pytest.mark.filterwarnings("ignore:the column .* the target")

KINDS = ("binary", "penguins", "numbers")
SECTIONS = [
    "result",
    "data",
    "validation",
    "leaderboard",
    "members",
    "errors",
    "columns",
    "tree",
    "intervals",
    "costs",
    "use",
    "card",
]


@pytest.mark.parametrize("kind", KINDS)
def test_all_sections_are_there_in_order_and_the_page_is_whole(kind, pages):
    found = Page(pages[kind])
    assert [each["attrs"]["id"] for each in found.all("section")] == SECTIONS
    assert found.unbalanced == []
    assert found.open == []
    assert len(pages[kind].encode()) < 500_000
    assert not re.search(r"(?i)\bnan\b|\binf\b", " ".join(e["text"] for e in found.all("main")))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_loaded_and_nothing_is_run(kind, pages):
    found = Page(pages[kind])
    assert found.all("script", "img", "link", "iframe", "object", "embed", "base", "form") == []
    for element in found.elements:
        for name, value in element["attrs"].items():
            assert not name.startswith("on")
            assert name not in ("src", "srcset", "action", "xlink:href")
            assert name != "href" or value.startswith("#")
    style = found.all("style")[0]["text"]
    assert "url(" not in style
    assert "@import" not in style
    (policy,) = [e for e in found.all("meta") if "http-equiv" in e["attrs"]]
    assert policy["attrs"]["content"].startswith("default-src 'none'")


@pytest.mark.parametrize("kind", KINDS)
def test_headings_descend_by_one_and_links_lead_to_sections(kind, pages):
    found = Page(pages[kind])
    levels = [int(each["tag"][1]) for each in found.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels))
    ids = [e["attrs"]["id"] for e in found.elements if "id" in e["attrs"]]
    assert len(ids) == len(set(ids))
    assert {e["attrs"]["href"][1:] for e in found.all("a")} <= set(ids)
    assert {e["attrs"]["aria-labelledby"] for e in found.all("section")} <= set(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_charts_and_tables_are_told_to_those_who_do_not_see_them(kind, pages):
    found = Page(pages[kind])
    assert len(found.all("svg")) > 8
    for svg in found.all("svg"):
        assert svg["attrs"]["role"] == "img"
        assert len(svg["attrs"]["aria-label"]) > 5
    assert len(found.all("caption")) == len(found.all("table")) > 5
    assert all(cell["attrs"].get("scope") in ("row", "col") for cell in found.all("th"))
    # What scrolls is reached by the keyboard.
    scrolling = [e for e in found.all("div") if e["attrs"].get("class") == "scroll"]
    assert len(scrolling) == len(found.all("table"))
    assert all(e["attrs"]["tabindex"] == "0" for e in scrolling)


def test_names_and_labels_of_the_table_are_text_and_nothing_else(pages):
    found = Page(pages["binary"])
    assert found.all("script", "img") == []
    text = found.section("data")["text"]
    assert SCRIPT in text
    assert ATTRIBUTE[:5] in text
    assert IMAGE[:5] in text
    assert SCRIPT in found.section("errors")["text"]
    names = {name for element in found.elements for name in element["attrs"]}
    assert not [name for name in names if name.startswith("on") or "alert" in name]


def test_long_names_many_columns_and_many_classes_stay_within_the_size():
    rng = np.random.default_rng(0)
    names = [f"{k}{'<&>' * 100}" for k in range(260)]
    table = pd.DataFrame(rng.normal(size=(600, 260)).round(2), columns=names)
    y = np.array([f"{k % 120}{'&' * 200}" for k in range(600)])
    model = committee.CommitteeClassifier(budget=0.01, random_state=0).fit(table, y)
    text = page(model)
    found = Page(text)
    assert found.unbalanced == []
    assert len(text.encode()) < 500_000


def test_content_and_attributes_are_escaped_unless_they_are_html():
    inner = tag("b", "<i>")
    assert tag("p", inner, '"', title='a"b<') == (
        '<p title="a&quot;b&lt;"><b>&lt;i&gt;</b>&quot;</p>'
    )


# Text has a contrast of 4.5, marks one of 3 (WCAG 2.1, 1.4.3 and 1.4.11).
TEXTS = [
    ("ink", "paper"),
    ("ink", "card"),
    ("ink", "heat"),
    ("soft", "paper"),
    ("soft", "card"),
    ("strong", "paper"),
    ("warn", "warn-paper"),
]
MARKS = ["strong", "other", "soft", *(f"class-{k}" for k in range(1, 7))]


@pytest.mark.parametrize("mode", ["light", "dark", "print"])
def test_colours_can_be_told_from_their_background(mode, pages):
    colors = palettes(pages["penguins"])[mode]
    for text, paper in TEXTS:
        assert contrast(colors[text], colors[paper]) >= 4.5, (text, paper)
    for mark in MARKS:
        assert contrast(colors[mark], colors["paper"]) >= 3, mark
    # Weak bars stand beside their number, and need less.
    assert contrast(colors["weak"], colors["paper"]) >= 2


def test_the_measure_of_contrast_has_its_known_ends():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_of_a_loaded_model_is_the_same(kind, request, pages, tmp_path):
    model = request.getfixturevalue(kind)[0]
    committee.save(model, tmp_path / "model.committee")
    assert page(committee.load(tmp_path / "model.committee")) == pages[kind]


def test_the_result_is_that_of_the_model(penguins, pages):
    model = penguins[0]
    text = Page(pages["penguins"]).section("result")["text"]
    low, high = (-end for end in model.score_.interval(0.9)[::-1])
    for value in (-model.score_.score, max(low, 0), high, -model.findings_.constant_score):
        assert f"{value:.4g}" in text
    board = Page(pages["penguins"]).section("leaderboard")["text"]
    assert all(entry.name in board for entry in model.leaderboard_)


def test_the_call_that_repeats_a_fit_is_a_call_that_repeats_it(binary, pages):
    text = Page(pages["binary"]).section("costs")["text"]
    assert "committee.train(table, '<target>', budget=0.3, random_state=0)" in text
    assert "committee train table.csv --target '<target>' --budget 0.3 --seed 0" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "copies of a row in one fold"),
        ({"groups": np.arange(200) // 4}, "all rows of a group in one fold"),
        ({"time_order": np.arange(200)}, "sorted by time"),
    ],
)
def test_the_report_says_how_rows_were_held_out(options, words, rng):
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=200)
    model = committee.CommitteeRegressor(budget=0.02, random_state=0).fit(X, y, **options)
    assert words in Page(page(model)).section("validation")["text"]
    assert model.findings_.n_rows == 200
    # Of rows in the order of time, the first ones are only learned from.
    assert (model.findings_.n_unseen < 200) == ("time_order" in options)


def test_a_search_by_the_clock_is_repeated_by_its_work(rng):
    X = rng.normal(size=(100, 3))
    model = committee.CommitteeRegressor(time_limit=0.5, random_state=0).fit(X, X[:, 0])
    text = Page(page(model)).section("costs")["text"]
    assert f"CommitteeRegressor(random_state=0, budget={model.budget_!r})" in text
    again = committee.CommitteeRegressor(random_state=0, budget=model.budget_).fit(X, X[:, 0])
    assert np.array_equal(again.predict(X), model.predict(X))


def test_columns_that_do_not_help_are_called_that(rng):
    """A committee of noise is no better than the constant, and the report says so."""
    X, y = rng.normal(size=(150, 3)), rng.normal(size=150)
    model = committee.CommitteeRegressor(budget=0.05, random_state=0).fit(X, y)
    assert "no clear gain" in Page(page(model)).section("result")["text"]


def test_leaks_and_decisions_are_named(penguins):
    model = copy.copy(penguins[0])
    model.leaks_ = (f"the column {SCRIPT!r} says the same as the target",)
    model.decision_ = "'Gentoo' where its probability is at least 0.3"
    found = Page(page(model))
    assert f"The column {SCRIPT!r} says the same as the target" in found.section("data")["text"]
    assert "'Gentoo' where its probability is at least 0.3" in found.section("use")["text"]
    assert found.all("script") == []
