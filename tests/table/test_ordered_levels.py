"""Ordered categories are read by their ranks: thresholds split them and predictions may rise."""

from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import committee
from committee.tables.table import Kind, read_table

SIZES = ("tiny", "small", "medium", "large", "huge")
CELLS = ["small", "huge", None, "medium", "tiny", "small", "large"]


def ordered(cells=CELLS, levels=SIZES):
    return pd.Series(pd.Categorical(cells, categories=list(levels), ordered=True))


def ranks(cells):
    return [np.nan if cell is None else float(SIZES.index(cell)) for cell in cells]


def arrow_table(cells=CELLS):
    codes = pa.array([None if cell is None else SIZES.index(cell) for cell in cells], pa.int8())
    return pa.table({"size": pa.DictionaryArray.from_arrays(codes, list(SIZES), ordered=True)})


@pytest.fixture
def frame(rng):
    cells = rng.choice(SIZES, 200)
    return pd.DataFrame({"size": ordered(cells), "x": rng.normal(size=200)})


@pytest.mark.parametrize("make", [lambda: pd.DataFrame({"size": ordered()}), arrow_table])
def test_ordered_levels_are_read_as_ranks(make):
    _, schema = read_table(make())
    info = schema.features[0]
    assert (info.label, info.kind, info.levels, info.order) == ("ordered", Kind.REAL, None, SIZES)


@pytest.mark.parametrize(
    "make",
    [
        lambda: committee.DecisionTreeRegressor(),
        lambda: committee.DecisionTreeRegressor(splitter="random", random_state=0),
        lambda: committee.RandomForestRegressor(5, random_state=0),
        lambda: committee.GradientBoostingRegressor(n_estimators=5),
        lambda: committee.AdaBoostRegressor(n_estimators=5, random_state=0),
        lambda: committee.C45Classifier(),
        lambda: committee.BaggingClassifier(committee.C45Classifier(), 3, random_state=0),
    ],
)
def test_the_model_is_that_of_the_ranks(make, frame, rng):
    y = frame["size"].cat.codes.to_numpy() + rng.normal(size=200)
    if hasattr(make(), "predict_proba"):
        y = y > 2
    by_rank = frame.assign(size=ranks(frame["size"]))
    model, expected = make().fit(frame, y), make().fit(by_rank, y)
    assert np.array_equal(model.predict(frame), expected.predict(by_rank))


def test_splits_are_thresholds_that_are_printed_by_the_names_of_levels():
    frame = pd.DataFrame({"size": ordered(), "x": 0.0})
    y = [1.0, 9.0, 2.0, 2.0, 1.0, 1.0, 9.0]
    model = committee.DecisionTreeRegressor().fit(frame, y)
    assert committee.export_text(model) == (
        "|--- size <= medium or missing\n"
        "|   |--- size <= small\n"
        "|   |   |--- value: [1.00]\n"
        "|   |--- size >  small or missing\n"
        "|   |   |--- value: [2.00]\n"
        "|--- size >  medium\n"
        "|   |--- value: [9.00]\n"
    )
    rules = committee.export_rules(model)
    assert [str(rule).split(" THEN")[0] for rule in rules] == [
        "IF size <= small",
        "IF small < size <= medium (or missing)",
        "IF size > medium",
    ]
    for cell, value in zip(CELLS, y, strict=True):
        assert rules.match({"size": cell, "x": 0.0}).prediction == value
    html = unescape(model._repr_html_())
    assert "≤ medium" in html
    assert "> small or missing" in html


def test_names_are_quoted_where_they_need_it():
    cells = pd.Categorical(["a, b", "c"], categories=["a, b", "c"], ordered=True)
    model = committee.DecisionTreeRegressor().fit(pd.DataFrame({"size": cells}), [0, 1])
    assert committee.export_text(model).startswith("|--- size <= 'a, b'\n")


def test_c45_names_levels_too():
    frame = pd.DataFrame({"size": ordered(["small", "large"] * 10)})
    model = committee.C45Classifier().fit(frame, ["no", "yes"] * 10)
    assert committee.export_text(model).startswith("|--- size <= medium\n")
    growth = model.explain_growth(frame, ["no", "yes"] * 10)
    assert growth[0].candidates[0].test == "<= medium"
    rules = model.extract_rules(frame, ["no", "yes"] * 10)
    assert "size <= medium" in str(rules)


def test_id3_sees_levels():
    frame = pd.DataFrame({"size": ordered(["small", "large", "tiny"] * 10)})
    model = committee.ID3Classifier(numeric="refuse").fit(frame, ["a", "b", "c"] * 10)
    assert model.schema_.features[0].levels == ("tiny", "small", "large")
    assert model.score(frame, ["a", "b", "c"] * 10) == 1.0


@pytest.mark.parametrize(
    "cls", ["DecisionTreeRegressor", "RandomForestRegressor", "GradientBoostingRegressor"]
)
def test_predictions_can_be_made_to_rise_with_the_levels(cls, frame, rng):
    y = frame["size"].cat.codes.to_numpy() % 3 + rng.normal(size=200)
    model = getattr(committee, cls)(monotonic_cst={"size": 1}, random_state=0).fit(frame, y)
    asked = pd.DataFrame({"size": ordered(SIZES), "x": 0.5})
    assert (np.diff(model.predict(asked)) >= 0).all()


# --- Later tables -------------------------------------------------------------------------------


@pytest.fixture
def model(frame):
    return committee.DecisionTreeRegressor().fit(frame[["size"]], frame["size"].cat.codes)


@pytest.mark.parametrize(
    "column",
    [
        ordered(["huge", None, "tiny"]),
        ordered(["huge", None, "tiny"], ["huge", "tiny", "gigantic"]),
        pd.Series(["huge", None, "tiny"]),
        pd.Series(["huge", None, "tiny"], dtype="category"),
    ],
)
def test_levels_are_known_by_name_however_they_come(model, column):
    later = pd.DataFrame({"size": column})
    expected = model.predict(pd.DataFrame({"size": [None]}))[0]
    assert model.predict(later).tolist() == [4.0, expected, 0.0]
    assert model.predict(pl.DataFrame({"size": ["huge", None, "tiny"]})).tolist() == [
        4,
        expected,
        0,
    ]


def test_levels_that_fit_does_not_know_are_missing(model):
    missing = model.predict(pd.DataFrame({"size": [None]}))
    assert model.predict(pd.DataFrame({"size": ["gigantic"]})) == missing
    assert (
        model.predict(pd.DataFrame({"size": ordered(["gigantic"], ["tiny", "gigantic"])}))
        == missing
    )


def test_numbers_in_place_of_names_are_refused(model):
    with pytest.raises(ValueError, match=r"column 'size' holds numbers .* levels are text"):
        model.predict(pd.DataFrame({"size": [1, 2]}))


def test_levels_that_are_numbers_are_matched_by_value():
    grades = pd.Series(pd.Categorical([10, 30, 20, 30], categories=[30, 20, 10], ordered=True))
    y = [1.0, 3.0, 2.0, 3.0]
    model = committee.DecisionTreeRegressor().fit(pd.DataFrame({"grade": grades}), y)
    for later in (grades, pd.Series([10, 30, 20, 30]), pd.Series([10.0, 30.0, 20.0, 30.0])):
        assert model.predict(pd.DataFrame({"grade": later})).tolist() == y


def test_other_features_take_ordered_columns_for_what_they_are():
    text = pd.DataFrame({"a": ["x", "y", "z"] * 3})
    model = committee.DecisionTreeRegressor().fit(text, [0, 1, 2] * 3)
    later = pd.DataFrame({"a": ordered(["z", "x"], ["z", "x"])})
    assert model.predict(later).tolist() == [2, 0]
    model = committee.DecisionTreeRegressor().fit(pd.DataFrame({"a": [1, 2, 3]}), [0, 1, 2])
    assert model.predict(pd.DataFrame({"a": ordered([3, 1], [3, 2, 1])})).tolist() == [2, 0]


def test_a_saved_model_keeps_the_order(model, frame, tmp_path):
    committee.save(model, tmp_path / "model")
    loaded = committee.load(tmp_path / "model")
    assert loaded.schema_ == model.schema_
    assert np.array_equal(loaded.predict(frame[["size"]]), model.predict(frame[["size"]]))
    assert committee.export_text(loaded) == committee.export_text(model)


# --- What is not ordered ------------------------------------------------------------------------


def test_categorical_features_make_categories_of_ordered_columns():
    _, schema = read_table(pd.DataFrame({"size": ordered()}), ["size"])
    assert schema.features[0].levels == SIZES
    _, schema = read_table(pd.DataFrame({"size": ordered(["small", "tiny"])}), ["size"])
    assert schema.features[0].levels == ("tiny", "small")


def test_enums_of_polars_are_categories():
    # They are declared for plain sets of names as well.
    frame = pl.DataFrame({"size": CELLS}, schema={"size": pl.Enum(SIZES)})
    info = read_table(frame)[1].features[0]
    assert (info.label, info.levels) == ("category", SIZES)


def test_classes_have_no_order():
    y = ordered(["small", "huge", "medium"])
    model = committee.DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], y)
    assert model.classes_.tolist() == ["huge", "medium", "small"]
    assert model.predict([[1.0]]).tolist() == ["huge"]
    with pytest.raises(ValueError, match=r"y holds text or categories"):
        committee.DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], y)


def test_neighbours_are_near_in_rank(frame):
    y = (frame["size"].cat.codes > 2).to_numpy()
    by_rank = frame.assign(size=ranks(frame["size"]))
    members = [("a", committee.DecisionTreeClassifier(max_depth=1, max_features=1, random_state=0))]
    members.append(("b", committee.DecisionTreeClassifier(max_depth=1)))
    make = lambda: committee.DynamicSelectionClassifier(members, cv=3, random_state=0)  # noqa: E731
    model, expected = make().fit(frame, y), make().fit(by_rank, y)
    assert np.array_equal(model.predict(frame), expected.predict(by_rank))
