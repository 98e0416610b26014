"""Numbers written as text: where they are read as numbers, and where they are only pointed out."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier as PeerTree

import committee
from committee.tables.numeric_text import number_of
from committee.tables.table import read_table

CONVERTED = "written as text, which are read as numbers"
SUSPECTED = "nearly all numbers; it is read as categories"


@pytest.fixture
def numbers(rng):
    return rng.normal(size=(120, 3))


def as_objects(X):
    cells = np.empty(X.shape, object)
    cells[:] = [[str(cell) for cell in row] for row in X]
    return cells


def labels_of(X, **choice):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [info.label for info in read_table(X, **choice)[1].features]


# --- Arrays and lists ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", [lambda X: X.astype(str), as_objects, lambda X: as_objects(X).tolist()]
)
@pytest.mark.parametrize(
    "make",
    [
        lambda: committee.DecisionTreeClassifier(max_depth=3),
        committee.C45Classifier,
        lambda: committee.RandomForestClassifier(5, random_state=0),
        lambda: committee.GradientBoostingClassifier(n_estimators=5, random_state=0),
        lambda: committee.AdaBoostClassifier(n_estimators=5, random_state=0),
        lambda: committee.BaggingClassifier(n_estimators=3, random_state=0),
        lambda: committee.BaggingClassifier(
            committee.GradientBoostingClassifier(n_estimators=3), n_estimators=3, random_state=0
        ),
        lambda: committee.StackingClassifier(
            [
                ("tree", committee.DecisionTreeClassifier(max_depth=3)),
                ("forest", committee.RandomForestClassifier(5)),
            ],
            cv=3,
            random_state=0,
        ),
        lambda: committee.VotingClassifier(
            [("tree", committee.DecisionTreeClassifier()), ("linear", LogisticRegression())]
        ),
    ],
)
def test_arrays_of_text_give_the_model_of_their_numbers_and_one_warning(make, form, numbers):
    y = (numbers[:, 0] + numbers[:, 1] > 0).astype(int)
    expected = make().fit(numbers, y)
    text = form(numbers)
    if isinstance(expected, committee.VotingClassifier):
        text = as_objects(numbers)  # LogisticRegression refuses other text in predict
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make().fit(text, y)
    assert [w.category for w in caught if CONVERTED in str(w.message)] == [UserWarning]
    if not hasattr(model, "estimator_") and not hasattr(model, "estimators"):  # no threads
        assert caught[0].filename == __file__  # it points at the call of fit
    for asked in (numbers, text):
        assert np.array_equal(model.predict_proba(asked), expected.predict_proba(numbers))


def test_scikit_learn_reads_the_same_numbers(numbers):
    y = (numbers[:, 0] > 0).astype(int)
    text = numbers.astype(np.float32).astype(str)
    with pytest.warns(UserWarning, match=CONVERTED):
        model = committee.DecisionTreeClassifier().fit(text, y)
    peer = PeerTree().fit(text, y)
    assert np.array_equal(model.predict(text), peer.predict(text))
    assert model.tree_.threshold == pytest.approx(peer.tree_.threshold)


def test_columns_are_decided_one_by_one():
    X = np.array([["1.5", "red", "1", "7"], ["2", "blue", "x", "nan"], ["-3e2", "red", "2", " 8 "]])
    with pytest.warns(UserWarning, match=r"^columns 0 and 3 of X hold numbers written as text"):
        _, schema = read_table(X)
    assert [info.label for info in schema.features] == ["number", "category", "category", "number"]
    assert [info.from_text for info in schema.features] == [True, False, False, True]
    tree = committee.DecisionTreeRegressor(numeric_text="number").fit(X, [1.0, 2.0, 3.0])
    assert tree.predict(X).tolist() == [1.0, 2.0, 3.0]


def test_text_and_numbers_side_by_side_in_a_column_are_numbers():
    X = np.array([[1, 1.5], ["2", 2.5], [None, "3.5"], [4.0, float("nan")]], object)
    with pytest.warns(UserWarning, match=CONVERTED):
        _, schema = read_table(X)
    assert [info.label for info in schema.features] == ["number", "number"]


def test_large_whole_numbers_stay_distinct():
    X = np.array([["9007199254740993"], ["9007199254740992"], ["1"]])
    with pytest.warns(UserWarning, match=CONVERTED):
        info = read_table(X)[1].features[0]
    assert info.label == "integer"


@pytest.mark.parametrize(
    ("text", "number"),
    [("1_000", None), ("1,5", None), ("0x10", None), ("", None), ("١٢", 12.0), ("-inf", -np.inf)],
)
def test_what_is_a_number(text, number):
    assert number_of(text) == number


# --- Data frames --------------------------------------------------------------------------------


def frames_of(columns):
    return [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]


@pytest.mark.parametrize("kind", range(3))
def test_text_of_frames_stays_a_category_with_a_warning_that_names_the_column(kind, numbers):
    columns = {"size": numbers[:, 0].astype(str).tolist(), "b": numbers[:, 1].tolist()}
    with pytest.warns(UserWarning, match=r"- column 'size': 120 different numbers") as caught:
        _, schema = read_table(frames_of(columns)[kind])
    assert [info.label for info in schema.features] == ["category", "number"]
    assert len(caught) == 1
    assert "'b'" not in str(caught[0].message)
    assert SUSPECTED in str(caught[0].message)


def test_the_marks_are_named_where_only_a_few_are_not_numbers():
    power = [str(value) for value in range(46, 230, 2)] * 4
    power[3], power[50], power[99], power[7] = "?", "n/a", "1,234", "?"
    with pytest.warns(UserWarning, match=re.escape("no numbers are '1,234', '?', 'n/a'")):
        read_table(pd.DataFrame({"horsepower": power}))
    with pytest.warns(UserWarning, match=r"364 of 368 cells"):  # arrays with such marks too
        read_table(np.array(power).reshape(-1, 1))


@pytest.mark.parametrize(
    "cells",
    [
        ["1010", "8010", "5020", "6020"] * 50,  # codes: few distinct values
        [f"a{value}" for value in range(200)],
        ["1", "2", "3", None] * 9,
        [str(value) for value in range(100)] + ["word"] * 100,
        ["1", "2", "?"],
    ],
)
def test_other_text_of_frames_is_read_without_a_warning(cells):
    for frame in frames_of({"a": cells}):
        assert read_table(frame)[1].features[0].label == "category"


def test_category_dtypes_are_never_touched(numbers):
    text = pd.Series(numbers[:, 0].astype(str)).astype("category")
    for choice in ("auto", "number", "category"):
        _, schema = read_table(pd.DataFrame({"a": text}), numeric_text=choice)
        assert schema.features[0].label == "category"
        for frame in (
            pl.DataFrame({"a": text.astype(str).tolist()}, schema={"a": pl.Categorical}),
            pa.table({"a": pa.array(text.astype(str)).dictionary_encode()}),
        ):
            assert read_table(frame, numeric_text=choice)[1].features[0].label == "category"


# --- The parameter ------------------------------------------------------------------------------


def test_number_reads_text_of_frames_too_and_takes_marks_for_missing():
    frame = pd.DataFrame({"a": ["1", "2.5", "?", None, "N/A"], "b": list("vwxyz")})
    _, schema = read_table(frame, numeric_text="number")
    assert [info.label for info in schema.features] == ["number", "category"]
    model = committee.DecisionTreeRegressor(numeric_text="number").fit(
        frame[["a"]], [1, 2, 3, 3, 3]
    )
    assert model.predict(frame[["a"]]).tolist() == [1, 2, 3, 3, 3]
    assert model.schema_.features[0].has_missing
    # Text that is no number is missing, as a level is that fit has not seen.
    assert model.predict(pd.DataFrame({"a": ["-", "what?", "7"]})).tolist() == [3, 3, 2]


def test_category_keeps_all_text_without_warnings(numbers):
    text = numbers.astype(str)
    for X in (text, pd.DataFrame(text, columns=list("abc"))):
        assert labels_of(X, numeric_text="category") == ["category"] * 3
        read_table(X, numeric_text="category")


def test_columns_named_as_categories_are_not_converted():
    X = np.array([["1", "1"], ["2", "2"]])
    with pytest.warns(UserWarning, match="column 1 of X holds numbers"):
        _, schema = read_table(X, [0])
    assert [info.label for info in schema.features] == ["category", "number"]


@pytest.mark.parametrize(
    ("choice", "error"), [("text", ValueError), (None, TypeError), (True, TypeError)]
)
def test_a_wrong_choice_is_refused(choice, error):
    message = 'numeric_text must be "auto", "number" or "category"; got'
    with pytest.raises(error, match=message):
        committee.DecisionTreeClassifier(numeric_text=choice).fit([[1.0], [2.0]], [0, 1])


def test_every_estimator_with_categorical_features_has_the_parameter():
    for name in committee.__all__:
        cls = getattr(committee, name)
        if hasattr(cls, "_get_param_names"):
            params = cls._get_param_names()
            assert ("numeric_text" in params) == ("categorical_features" in params), name


def test_members_of_a_stack_have_parameters_of_their_own(numbers):
    y = (numbers[:, 0] > 0).astype(int)
    tree = committee.DecisionTreeClassifier(numeric_text="category")
    stack = committee.StackingClassifier([("tree", tree)], cv=3).fit(numbers.astype(str), y)
    assert stack.estimators_[0].schema_.features[0].label == "category"


# --- Fitted on numbers, given text --------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        lambda values: pd.Series(values).astype("category"),
        lambda values: pd.Series(values.astype(str)).astype("category"),
        lambda values: pd.Series(values.astype(str)),
        lambda values: pl.Series(values.astype(str)),
        lambda values: pl.Series(values.astype(str)).cast(pl.Categorical),
    ],
)
@pytest.mark.parametrize("dtype", [float, int, bool])
def test_a_model_of_numbers_predicts_the_same_from_text_of_them(text, dtype, rng):
    values = rng.integers(0, 9, 60).astype(dtype)
    frame = pd.DataFrame({"a": values, "b": rng.normal(size=60)})
    y = rng.normal(size=60)
    model = committee.RandomForestRegressor(5, random_state=0).fit(frame, y)
    column = text(values.astype(int) if dtype is bool else values)
    make = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    other = make({"a": column, "b": frame["b"].to_numpy()})
    assert np.array_equal(model.predict(other), model.predict(frame))


def test_missing_cells_of_such_text_are_missing(rng):
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0]})
    model = committee.DecisionTreeRegressor().fit(frame, [1.0, 2.0, 3.0, 4.0])
    text = pd.DataFrame({"a": pd.Series(["1", "2", None, "4"])})
    assert model.predict(text).tolist() == [1, 2, 3, 4]


def test_text_that_is_no_number_is_refused_by_a_model_of_numbers():
    model = committee.DecisionTreeClassifier().fit(pd.DataFrame({"a": [1, 2]}), [0, 1])
    message = r"column 'a' holds text \(such as 'two'\); expected numbers, as in fit"
    with pytest.raises(ValueError, match=message):
        model.predict(pd.DataFrame({"a": ["1", "two"]}))


@pytest.mark.parametrize("cls", ["DecisionTree", "RandomForest", "GradientBoosting", "AdaBoost"])
def test_a_loaded_model_reads_text_as_the_saved_one(cls, numbers, tmp_path):
    text = numbers.astype(str)
    model = getattr(committee, f"{cls}Regressor")(numeric_text="number")
    if cls != "DecisionTree":
        model.set_params(n_estimators=3)
    model.fit(text, numbers[:, 0])
    committee.save(model, tmp_path / "model")
    loaded = committee.load(tmp_path / "model")
    text[0, :] = "?"
    assert np.array_equal(loaded.predict(text), model.predict(text))
    assert np.array_equal(loaded.predict(numbers)[1:], model.predict(text)[1:])
    assert loaded.schema_ == model.schema_


def test_neighbours_are_found_among_numbers_written_as_text(numbers):
    y = (numbers[:, 0] > 0).astype(int)
    members = [
        ("stump", committee.DecisionTreeClassifier(max_depth=1)),
        ("other", committee.DecisionTreeClassifier(max_depth=1, max_features=1, random_state=5)),
    ]
    expected = committee.DynamicSelectionClassifier(members, cv=3, random_state=0).fit(numbers, y)
    model = committee.DynamicSelectionClassifier(members, cv=3, random_state=0)
    with pytest.warns(UserWarning, match=CONVERTED):
        model.fit(numbers.astype(str), y)
    assert np.array_equal(model.predict(numbers.astype(str)), expected.predict(numbers))
