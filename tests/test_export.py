"""Trees in words: the text and the rules."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hand_trees import INTEGER, REAL, SUBSET, TreeBuilder, level_list, random_view, view_of_sklearn
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor
from sklearn.tree import export_text as their_export_text

from committee import DecisionTreeClassifier, DecisionTreeRegressor, _core
from committee.tables.table import FeatureInfo, Kind, TableSchema, read_table
from committee.trees.export import export_rules, export_text
from committee.trees.tree_view import TreeView

OPTIONS = [
    {},
    {"max_depth": 2, "spacing": 2, "decimals": 3},
    {"max_depth": 0},
    {"show_weights": True, "feature_names": ["a", "b", "c", "d"]},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_text_of_a_numeric_tree_is_that_of_scikit_learn(options):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    for model in (
        TheirClassifier(random_state=0).fit(X, names),
        TheirRegressor(random_state=0, max_depth=4).fit(X, y + X[:, 0]),
    ):
        view, _ = view_of_sklearn(model)
        assert export_text(view, **options) == their_export_text(model, **options)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_text_of_an_estimator_is_that_of_scikit_learn_on_data_without_ties(task, rng):
    X = rng.normal(size=(120, 1)).astype(np.float32).astype(float)
    step = np.digitize(X[:, 0], [-0.7, 0.1, 0.9])
    if task == "classes":
        ours, theirs = DecisionTreeClassifier(), TheirClassifier(random_state=0)
    else:
        ours, theirs = DecisionTreeRegressor(), TheirRegressor(random_state=0)
    assert export_text(ours.fit(X, step)) == their_export_text(theirs.fit(X, step))


def test_a_threshold_that_two_digits_would_show_as_zero_keeps_its_digits():
    assert "feature_0 <= 2.35e-09" in export_text(chain_view([2.345e-9]))


def chain_view(thresholds):
    """One number, asked about again and again: the right child asks for the next threshold."""
    builder = TreeBuilder()
    node = 0
    for threshold in thresholds:
        node = builder.split(node, 0, REAL, threshold, missing_left=False)[1]
    n_nodes = len(builder.threshold)
    arrays = builder.arrays(np.zeros((n_nodes, 1)), *[np.ones(n_nodes)] * 3)
    info = FeatureInfo("x0", Kind.REAL, None, "number")
    return TreeView(_core.Tree(1, [0], arrays), TableSchema((info,), None), None)


def shop_view():
    """Node 0 asks for the date, 1 for the colour, 2 for being new, 3 for the colour again."""
    moment = int(np.datetime64("2024-03-01T12:30", "us").astype(np.int64))
    builder = TreeBuilder()
    builder.split(0, 0, INTEGER, moment, missing_left=True)
    builder.split(1, 1, SUBSET, level_list([0]), missing_left=False)
    builder.split(2, 2, REAL, 0.5, missing_left=False)
    builder.split(4, 1, SUBSET, level_list([2]), missing_left=True)
    builder.split(5, 3, INTEGER, 90_000_000_000, missing_left=True)
    n_nodes = len(builder.threshold)
    values = np.tile([0.25, 0.75], (n_nodes, 1))
    rows = np.arange(10, 10 + n_nodes)
    arrays = builder.arrays(values, np.zeros(n_nodes), rows, rows)
    tree = _core.Tree(4, [1, 2, 0, 1], arrays)
    infos = (
        FeatureInfo("sold", Kind.INTEGER, None, "datetime"),
        FeatureInfo("colour", Kind.CATEGORY, ("blue", "green, dark", "red"), "category"),
        FeatureInfo("is_new", Kind.REAL, None, "boolean"),
        FeatureInfo("age", Kind.INTEGER, None, "timedelta"),
    )
    schema = TableSchema(infos, tuple(info.name for info in infos))
    return TreeView(tree, schema, [np.array(["no", "yes"])])


def test_dates_levels_and_booleans_read_as_such():
    assert export_text(shop_view()).splitlines() == [
        "|--- sold <= 2024-03-01 12:30:00",
        "|   |--- colour in {blue}",
        "|   |   |--- class: yes",
        "|   |--- colour in {'green, dark', red} or other",
        "|   |   |--- colour in {'green, dark'} or other",
        "|   |   |   |--- class: yes",
        "|   |   |--- colour in {red}",
        "|   |   |   |--- class: yes",
        "|--- sold >  2024-03-01 12:30:00",
        "|   |--- is_new is False",
        "|   |   |--- age <= 1 day, 1:00:00",
        "|   |   |   |--- class: yes",
        "|   |   |--- age >  1 day, 1:00:00",
        "|   |   |   |--- class: yes",
        "|   |--- is_new is True",
        "|   |   |--- class: yes",
    ]


def test_the_way_of_missing_values_is_told_where_training_saw_some():
    builder = TreeBuilder()
    builder.split(0, 0, REAL, 1.5, missing_left=True)
    builder.split(1, 1, SUBSET, level_list([0]), missing_left=False)
    builder.split(2, 0, REAL, 3.0, missing_left=False)
    arrays = builder.arrays(np.zeros((7, 1)), *[np.ones(7)] * 3)
    infos = (
        FeatureInfo("size", Kind.REAL, None, "number", has_missing=True),
        FeatureInfo("word", Kind.CATEGORY, ("a", "b"), "category", has_missing=True),
    )
    schema = TableSchema(infos, ("size", "word"))
    view = TreeView(_core.Tree(2, [0, 2], arrays), schema, None)
    branches = [line.strip("|- ") for line in export_text(view).splitlines() if "size" in line]
    assert branches == ["size <= 1.50 or missing", "size >  1.50", "size <= 3.00", "size >  3.00"]
    premises = [" AND ".join(map(str, rule.conditions)) for rule in export_rules(view)]
    assert premises == [
        "size <= 1.5 (or missing) AND word in {a}",
        "size <= 1.5 (or missing) AND word in {b} (or missing or other)",
        "1.5 < size <= 3",
        "size > 3",
    ]


def test_rules_merge_what_a_path_asks_about_a_feature():
    rules = export_rules(shop_view(), target_name="returned")
    assert str(rules[2]) == (
        "IF sold <= 2024-03-01 12:30:00 AND colour in {red} THEN returned = yes"
        "  (support 18 rows, 75 % pure)"
    )
    assert rules[1].conditions[1].levels == ("green, dark",)
    model = TheirRegressor(random_state=0).fit([[1.0], [2.0], [3.0], [4.0]], [5.0, 1.0, 7.0, 2.5])
    lines = str(export_rules(view_of_sklearn(model)[0], feature_names=["size"])).splitlines()
    assert "IF 1.5 < size <= 2.5 THEN value = 1  (support 1 row)" in lines


def test_close_bounds_are_told_apart():
    rules = export_rules(chain_view([0.500012, 0.500028]))
    assert str(rules[1]).startswith("IF 0.50001 < feature_0 <= 0.50003 THEN")
    rules = export_rules(chain_view([0.0123456, 0.02]))
    assert str(rules[1]).startswith("IF 0.0123 < feature_0 <= 0.02 THEN")


def mixed_table(rng, n_rows, levels):
    """Numbers, wide integers, dates, durations, booleans and text, all with missing cells."""
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows),
            "wide": pd.array(2**60 + rng.integers(0, 6, n_rows), dtype="Int64"),
            "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n_rows), "D"),
            "flag": pd.array(rng.integers(0, 2, n_rows).astype(bool), dtype="boolean"),
            "word": pd.Series(rng.choice(levels, n_rows), dtype=object),
            "other": pd.Series(rng.choice(levels, n_rows), dtype=object),
        }
    )
    return frame.mask(pd.DataFrame(rng.random(frame.shape) < 0.15, columns=frame.columns))


def pick_threshold(rng, feature):
    day = int(np.datetime64("2024-01-01", "us").astype(np.int64))
    return [
        rng.normal(),
        2**60 + int(rng.integers(0, 6)),
        day + int(rng.integers(0, 90)) * 86_400_000_000,
        0.5,
    ][feature]


@pytest.mark.parametrize("repeat", range(20))
def test_every_row_meets_exactly_the_rule_of_its_leaf(repeat, seed):
    rng = np.random.default_rng([seed, repeat])
    train = mixed_table(rng, 60, list("abcde"))
    _, schema = read_table(train)
    view = random_view(rng, schema, pick_threshold)
    rules = export_rules(view)
    assert len(rules) == view.n_leaves
    table = mixed_table(rng, 80, list("abcdefgh"))  # f, g and h are unseen
    leaves = view.apply(table)
    for row, leaf in zip(table.to_dict("records"), leaves, strict=True):
        assert [rule.leaf for rule in rules if rule.matches(row)] == [leaf]
        assert rules.match(list(row.values())).leaf == leaf


def test_rules_of_an_estimator_cover_its_training_rows(rng):
    table = mixed_table(rng, 200, list("abcde"))
    y = np.where(table["word"].isin(["a", "c"]) ^ (table["number"] > 0), "in", "out")
    model = DecisionTreeClassifier().fit(table, y)
    rules = export_rules(model)
    assert sum(rule.n_rows for rule in rules) == 200
    leaves = model.apply(table)
    predicted = model.predict(table)
    for row, leaf, label in zip(table.to_dict("records"), leaves, predicted, strict=True):
        rule = rules.match(row)
        assert (rule.leaf, rule.prediction) == (leaf, label)


def test_conditions_read_moments_with_and_without_time_zones():
    condition = export_rules(shop_view())[0].conditions[0]
    assert condition.matches(dt.datetime(2024, 3, 1, 12, 30))
    assert not condition.matches(dt.datetime(2024, 3, 1, 12, 31))
    late = dt.timezone(dt.timedelta(hours=2))
    assert condition.matches(dt.datetime(2024, 3, 1, 14, 30, tzinfo=late))
    assert condition.matches(None)
    assert condition.matches(pd.NaT)
    assert condition.matches(pd.NA)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", None])
def test_rules_become_a_frame(backend):
    frame = export_rules(shop_view()).to_frame(backend)
    names = frame.column_names if hasattr(frame, "column_names") else list(frame.columns)
    assert names == ["rule", "prediction", "rows", "weight", "purity", "leaf"]
    assert len(frame["rows"]) == 6


def test_a_notebook_shows_hostile_levels_as_text():
    levels = ("<script>alert(1)</script>", "b")
    builder = TreeBuilder()
    builder.split(0, 0, SUBSET, level_list([0]), missing_left=False)
    arrays = builder.arrays([[1.0], [2.0], [3.0]], [1.0, 0.0, 0.0], [2, 1, 1], [2, 1, 1])
    tree = _core.Tree(1, [2], arrays)
    info = FeatureInfo("a\nb<i>", Kind.CATEGORY, levels, "category")
    rules = export_rules(TreeView(tree, TableSchema((info,), ("a\nb<i>",)), None))
    assert "<script>" not in rules._repr_html_()
    assert "<i>" not in rules._repr_html_()
    assert len(str(rules).splitlines()) == 2


def test_many_levels_are_shortened_in_text_but_kept_in_the_rule():
    levels = tuple(f"level{i}" for i in range(40))
    builder = TreeBuilder()
    builder.split(0, 0, SUBSET, level_list(range(20)), missing_left=False)
    arrays = builder.arrays([[1.0], [2.0], [3.0]], [1.0, 0.0, 0.0], [2, 1, 1], [2, 1, 1])
    info = FeatureInfo("word", Kind.CATEGORY, levels, "category")
    tree = _core.Tree(1, [2], arrays)
    rules = export_rules(TreeView(tree, TableSchema((info,), ("word",)), None))
    assert "... 8 more}" in str(rules[0])
    assert rules[0].conditions[0].levels == levels[:20]


def test_several_outputs_are_told_together():
    y = np.array([["a", "x"], ["a", "y"], ["b", "y"], ["b", "y"]])
    view, _ = view_of_sklearn(TheirClassifier(random_state=0).fit([[1], [2], [3], [4]], y))
    assert "class: [b, y]" in export_text(view)
    assert "THEN class_0 = b, class_1 = y  (support 2 rows)" in str(export_rules(view))
    assert export_rules(view)[-1].prediction == ("b", "y")


def test_a_tree_of_one_leaf_has_one_rule():
    view, _ = view_of_sklearn(TheirClassifier().fit([[1.0], [2.0]], ["a", "a"]))
    assert str(export_rules(view)) == "IF anything THEN class = a  (support 2 rows, 100 % pure)"
    assert export_text(view) == "|--- class: a\n"


def test_a_very_deep_tree_is_written_without_running_out_of_stack():
    view = chain_view(range(3000))
    assert len(export_rules(view)) == 3001
    assert "truncated branch of depth 2990" in export_text(view)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, "max_depth must be an int >= 0; got -1"),
        ({"spacing": 0}, "spacing must be an int >= 1; got 0"),
        ({"decimals": 1.5}, "decimals must be an int >= 0; got 1.5"),
        ({"feature_names": ["a"]}, "feature_names must contain 4 elements, got 1"),
        ({"class_names": ["a"]}, "class_names must contain 2 elements"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        export_text(shop_view(), **options)


def test_only_fitted_trees_can_be_written():
    with pytest.raises(NotFittedError):
        export_text(DecisionTreeClassifier())
    with pytest.raises(TypeError, match=r"tree must be a fitted .* got int"):
        export_rules(3)


@pytest.mark.parametrize(
    "column",
    [
        [True, False, None, None],
        [1.5, 2.5, None, None],
        [dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1), None, None],
    ],
    ids=["boolean", "number", "date"],
)
def test_a_split_on_presence_reads_as_one(column):
    table = pl.DataFrame({"b": column})
    model = DecisionTreeClassifier().fit(table, [0, 0, 1, 1])
    assert "b is present" in export_text(model)
    assert "b is missing" in export_text(model)
    rules = export_rules(model)
    assert [str(rule).split(" THEN ")[0] for rule in rules] == [
        "IF b is present",
        "IF b is missing",
    ]
    assert [rules.match({"b": value}).prediction for value in column] == [0, 0, 1, 1]


def test_a_row_of_a_frame_matches_and_a_missing_name_is_told():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "c": list("xxyy")})
    rules = export_rules(DecisionTreeClassifier().fit(frame, [0, 0, 1, 1]))
    assert [rules.match(frame.iloc[i]).prediction for i in range(4)] == [0, 0, 1, 1]
    with pytest.raises(KeyError, match="row has no value for 'a'"):
        rules.match({"b": 1.0})
