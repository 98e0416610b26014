"""A column without values in fit: nothing was learnt from it, so that anything may stand there."""

import numpy as np
import pandas as pd
import pytest

import committee
from committee.tables.table import read_table

Y = np.array([1.0, 2.0, 3.0, 4.0] * 5)
NUMBERS = Y + 0.25
LATER = {
    "text": ["x", "y"],
    "numbers": [1.5, 2],
    "dates": pd.to_datetime(["2020-01-01", "2021-01-01"]),
    "lists": [[1], [2, 3]],
    "booleans": [True, None],
    "nothing": [None, None],
}
MODELS = [
    committee.DecisionTreeRegressor(),
    committee.RandomForestRegressor(3, random_state=0),
    committee.GradientBoostingRegressor(n_estimators=3),
    committee.AdaBoostRegressor(n_estimators=3, random_state=0),
    committee.BaggingRegressor(n_estimators=3, random_state=0),
    committee.VotingRegressor([("tree", committee.DecisionTreeRegressor())]),
    committee.C45Classifier(),
    committee.ID3Classifier(),
]


def frame_of(nothing):
    return pd.DataFrame({"a": NUMBERS, "b": nothing})


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_column_of_nan_accepts_anything_later(model, later, tmp_path):
    y = (Y > 2).astype(int) if hasattr(model, "predict_proba") else Y
    model.fit(frame_of(np.full(20, np.nan)), y)
    other = pd.DataFrame({"a": NUMBERS[:2], "b": LATER[later]})
    assert np.array_equal(model.predict(other), model.predict(frame_of(np.nan))[:2])
    committee.save(model, tmp_path / "model")
    assert np.array_equal(committee.load(tmp_path / "model").predict(other), model.predict(other))


@pytest.mark.parametrize(
    "nothing",
    [
        np.full(20, np.nan),
        pd.Series(["NaT"] * 20, dtype="datetime64[ns]"),
        pd.array([pd.NA] * 20, "Int64"),
    ],
)
def test_columns_of_any_type_without_values_are_known_as_such(nothing):
    model = committee.DecisionTreeRegressor().fit(frame_of(nothing), Y)
    assert [feature.is_empty for feature in model.schema_.features] == [False, True]
    assert model.predict(frame_of(["words"] * 20)).tolist() == Y.tolist()


def test_rows_of_weight_zero_are_absent_here_too():
    column = np.full(20, np.nan)
    column[3] = 1.0
    weights = np.ones(20)
    weights[3] = 0.0
    model = committee.DecisionTreeRegressor().fit(frame_of(column), Y, sample_weight=weights)
    assert model.schema_.features[1].is_empty
    model = committee.DecisionTreeRegressor().fit(frame_of(column), Y)
    assert not model.schema_.features[1].is_empty
    with pytest.raises(ValueError, match="column 'b' holds text"):
        model.predict(frame_of(["words"] * 20))


def test_arrays_with_an_empty_column_are_read_in_place(rng):
    X = rng.normal(size=(20, 2))
    X[:, 1] = np.nan
    model = committee.DecisionTreeRegressor().fit(X, Y)
    X[:, 1] = 7.0
    assert model.predict(X).tolist() == Y.tolist()
    mixed = np.array([[X[0, 0], "seven"]], object)
    assert model.predict(mixed).tolist() == [1.0]


def test_neighbours_do_not_look_at_a_column_without_values():
    members = [("tree", committee.DecisionTreeClassifier(max_depth=1))]
    y = (Y > 2).astype(int)
    model = committee.DynamicSelectionClassifier(members, cv=2).fit(frame_of(np.nan), y)
    words = frame_of(["words"] * 20)
    assert np.array_equal(model.predict(words), model.predict(frame_of(np.nan)))
    _, schema = read_table(words)
    assert not schema.features[1].is_empty
