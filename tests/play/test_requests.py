"""Whatever a page sends that makes no sense is refused in a sentence that names it."""

import math

import pytest
from play_tools import question

from committee.datasets import penguins_file
from committee.play.examples import example_points
from committee.play.run import read_order
from committee.play.service import answer, setup
from committee.play.table import read_points

DEEP = {"x": [[[]]]}
MANY = [0] * 1001


def changed(**parts):
    return question(example_points("ten"), "adaboost") | parts


def with_points(**columns):
    points = {"x": [0, 1], "y": [0, 1], "class": [0, 1]} | columns
    return changed(points=points)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (None, "the request"),
        ([], "the request"),
        (changed(other=1), "other"),
        (changed(method="svm"), "method"),
        (changed(method=["tree"]), "method"),
        (changed(points=None), "points"),
        (changed(points=[1, 2]), "points"),
        (with_points(x=[0]), "as many x as y"),
        (with_points(x=["0", "1"]), "points.x"),
        (with_points(x=[0, math.nan]), "points.x"),
        (with_points(y=[0, math.inf]), "points.x and .y"),
        (with_points(x=[0, 10**400]), "a very large number"),
        (with_points(x=[0, True]), "points.x"),
        (with_points(x=DEEP), "points.x"),
        (with_points(**{"class": [0, 4]}), "points.class"),
        (with_points(**{"class": [0, -1]}), "points.class"),
        (with_points(**{"class": [0, 1.0]}), "points.class"),
        (with_points(x=MANY, y=MANY, **{"class": MANY}), "1,000 entries; got 1,001"),
        (with_points(z=[1, 2]), "z"),
        (changed(axes={"x": [0, 1]}), "axes.y"),
        (changed(axes={"x": [1, 0], "y": [0, 1]}), "axes.x"),
        (changed(axes={"x": [0, 0], "y": [0, 1]}), "axes.x"),
        (changed(axes={"x": [0, 1, 2], "y": [0, 1]}), "axes.x"),
        (changed(axes={"x": [0, math.inf], "y": [0, 1]}), "axes.x"),
        (changed(names=["x"]), "names"),
        (changed(names=[1, 2]), "names"),
        (changed(rounds=0), "rounds"),
        (changed(rounds=101), "rounds"),
        (changed(rounds=10**30), "rounds"),
        (changed(rounds="30"), "rounds"),
        (changed(seed=-1), "seed"),
        (changed(held_out=0.9), "held_out"),
        (changed(held_out=math.nan), "held_out"),
        (changed(settings=[]), "settings"),
        (changed(settings={"max_depth": 99}), "max_depth"),
        (changed(settings={"learning_rate": 0}), "learning_rate"),
        (changed(settings={"estimator": "os.system"}), "estimator"),
        (changed(method="tree", settings={"criterion": "__class__"}), "criterion"),
        (changed(method="tree", settings={"criterion": {}}), "criterion"),
        (changed(method="voting", settings={"members": "tree"}), "members"),
        (changed(method="voting", settings={"members": ["tree", "tree"]}), "members"),
        (changed(method="voting", settings={"members": [["tree"]]}), "members"),
        (changed(method="voting", settings={"weights": {"tree": -1}}), "weights of tree"),
        (changed(method="voting", settings={"weights": {"os": 1}}), "os"),
        (changed(method="stacking", settings={"members": ["tree"]}), "members"),
    ],
)
def test_a_senseless_run_is_refused(content, named):
    with pytest.raises((ValueError, TypeError)) as refused:
        read_order(content)
    assert named in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("asked", "content", "named"),
    [
        ("example", {"name": "etc/passwd"}, "name"),
        ("example", {"name": "moons", "n": 100_000}, "n must be"),
        ("example", {"name": "moons", "noise": -1}, "noise"),
        ("example", {"name": "moons", "seed": 2**40}, "seed"),
        ("table", {"text": 5}, "text"),
        ("table", {"text": ""}, "empty"),
        ("table", {"text": "a,b\n1,2\n", "path": "data.csv"}, "path"),
        ("table", {"text": "a,b\n1,2\n2,3\n"}, "two columns of numbers"),
        ("table", {"text": "a,b,c\n1,x,p\n2,y,q\n"}, "two columns of numbers"),
        ("table", {"text": "a,b\n1,p\n2,q\n3,r\n4,s\n5,t\n"}, "2 to 4 classes"),
        ("table", {"text": "a,b,c\n1,2,p\n2,3,q\n", "x": "d"}, "no column 'd'"),
        ("table", {"text": "a,b,c\n1,2,p\n2,3,q\n", "x": "c"}, "must hold numbers"),
        ("table", {"text": "a,b,c\n1,,p\n,3,q\n"}, "no row with values"),
    ],
)
def test_a_senseless_question_is_refused(asked, content, named):
    with pytest.raises((ValueError, TypeError)) as refused:
        answer(asked, content)
    assert named in str(refused.value)


def test_a_table_is_read_as_every_table():
    text = "Länge;Breite;Art\n1,5;2;a\n2,5;3;b\n;4;a\n3,5;1;b\n"
    found = answer("table", {"name": "t.csv", "text": text})
    assert (found["x"], found["y"], found["class"]) == ([1.5, 2.5, 3.5], [2, 3, 1], [0, 1, 1])
    assert found["names"] == ["Länge", "Breite"]
    assert found["classes"] == ["a", "b"]
    assert found["notes"] == ["left out: 1 row without a value"]


def test_columns_of_a_table_can_be_chosen():
    columns = ("flipper_length_mm", "body_mass_g", "species")
    found = read_points("penguins", penguins_file().read_bytes(), columns)
    assert found.columns == columns
    assert found.points.classes == ("Adelie", "Chinstrap", "Gentoo")
    assert "year" in found.numbers
    assert set(found.groups) == {"species", "island", "sex", "year"}


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("kind,a,b,other\nu,1,2,x\nv,2,3,y\n", "other"),
        ("kind,a,b,c\nu,1,2,1\nv,2,3,1\n", "kind"),
        ("a,kind,b,c,d\n1,u,2,5,6\n2,v,3,5,6\n", "kind"),
        ("a,b,c\n1.5,2.5,0\n2.5,3.5,1\n4.5,5.5,1\n6.5,7.5,1\n8.5,9.5,1\n", "c"),
    ],
)
def test_classes_are_looked_for_at_the_ends(text, classes):
    assert read_points("t.csv", text.encode()).columns[2] == classes


def test_of_many_rows_a_part_is_drawn():
    rows = "\n".join(f"{k},{k % 7},{'ab'[k % 2]}" for k in range(3000))
    found = read_points("long", f"x,y,kind\n{rows}\n".encode())
    assert len(found.points.codes) == 1000
    assert found.notes == ["drawn: 1,000 of 3,000 rows"]


def test_the_defaults_of_all_settings_are_accepted():
    for method in setup()["methods"]:
        settings = {each["name"]: each["default"] for each in method["settings"]}
        settings = {key: list(v) if isinstance(v, tuple) else v for key, v in settings.items()}
        order = read_order(changed(method=method["name"], settings=settings))
        assert order.settings.keys() == settings.keys()
