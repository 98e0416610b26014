"""`committee.train`: kinds of targets, rows without one, files."""

import time

import numpy as np
import pandas as pd
import pytest

import committee
import committee.auto.train
from committee.auto.train import kind_of_target, open_table, pose
from committee.datasets import load_penguins
from committee.tables.source import open_source

# The columns of the table follow from each other; leaks have tests of their own.
pytestmark = pytest.mark.filterwarnings("ignore:the column .* the target")

TABLE = pd.DataFrame(
    {
        "length": [1.5, 2.25, 3.0, 4.0] * 10,
        "colour": ["red", "blü, dark", None, "red"] * 10,
        "wide": [1, 0, 0, 1] * 10,
    }
)


@pytest.mark.parametrize(
    ("values", "is_class"),
    [
        (["a", "b", "a"], True),
        ([True, False, True], True),
        ([0.0, 1.0, 1.0], True),
        ([1, 2, 3] * 5, True),
        ([1, 2, 3, 4], False),
        ([0.5, 1.0, 1.0], False),
        (list(range(100)), False),
    ],
)
def test_the_kind_of_a_target_follows_its_values(values, is_class):
    column = open_source(pd.DataFrame({"y": values})).column(0)
    found, reason = kind_of_target(column)
    assert found == is_class
    assert reason


def test_rows_without_a_target_are_left_out_with_a_warning(capsys):
    table = TABLE.assign(y=[*np.repeat([1.5, 2.5, 9.0], 13), None])
    with pytest.warns(UserWarning, match="1 row left out"):
        model = committee.train(table, "y", budget=0.1, random_state=0)
    assert model.findings_.n_rows == 39
    assert "regression of 'y'" in capsys.readouterr().err
    # A table may still have the column that is predicted.
    assert np.array_equal(model.predict(table), model.predict(table.drop(columns="y")))


def test_the_time_limit_counts_from_the_call_and_its_budget_is_printed(monkeypatch, capsys):
    table = TABLE.assign(y=np.arange(40) % 2)
    opened = committee.auto.train.open_table

    def slowly(data):
        time.sleep(0.3)
        return opened(data)

    monkeypatch.setattr(committee.auto.train, "open_table", slowly)
    begin = time.monotonic()
    model = committee.train(table, "y", time_limit=0.31, random_state=0)
    # The first model is made in any case: what matters is that the search has not gone on.
    assert len(model.leaderboard_) == 2, time.monotonic() - begin
    lines = capsys.readouterr().err
    assert f"budget={model.budget_:.10g} makes the same committee again" in lines
    again = committee.train(table, "y", budget=model.budget_, random_state=0)
    assert "makes the same" not in capsys.readouterr().err
    assert np.array_equal(model.predict_proba(TABLE), again.predict_proba(TABLE))


@pytest.mark.parametrize(
    ("target", "message"),
    [("colr", "no column 'colr'; did you mean 'colour'"), ("nothing", "is empty")],
)
def test_wrong_targets_are_named(target, message):
    with pytest.raises(ValueError, match=message):
        pose(open_table(TABLE.assign(nothing=np.nan)), target)


def test_a_path_and_the_table_in_it_make_the_same_committee(tmp_path):
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False, sep=";", decimal=",")
    with pytest.warns(UserWarning, match="10 rows left out"):
        from_file = committee.train(path, "colour", budget=0.1, random_state=0, verbose=0)
    with pytest.warns(UserWarning, match="10 rows left out"):
        from_frame = committee.train(TABLE, "colour", budget=0.1, random_state=0, verbose=0)
    assert np.array_equal(from_file.predict_proba(TABLE), from_frame.predict_proba(TABLE))
    assert from_file.file_format_.of("length").decimal == ","
    assert not hasattr(from_frame, "file_format_")


def test_several_paths_are_one_table(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    TABLE.head(30).to_csv(paths[0], index=False)
    TABLE.tail(10)[["wide", "colour", "length"]].to_csv(paths[1], index=False)
    source = open_table(paths).source
    assert source.column(0).values.tolist() == TABLE["length"].tolist()


def test_a_fitted_committee_predicts_paths(tmp_path):
    path = tmp_path / "new.csv"
    model = committee.train(TABLE, "wide", budget=0.1, random_state=0, verbose=0)
    TABLE.to_csv(path, index=False, sep=";", decimal=",")
    expected = model.predict_proba(TABLE)
    assert np.array_equal(model.predict_proba(path), expected)
    assert np.array_equal(model.predict_proba([str(path), path]), np.vstack([expected] * 2))
    with pytest.raises(FileNotFoundError):
        model.predict(tmp_path / "none.csv")


def test_one_row_may_be_a_dict_or_a_series():
    frame, y = load_penguins(backend="pandas")
    frame = frame.assign(species=y)
    model = committee.train(frame, "species", budget=0.1, random_state=0, verbose=0)
    row = frame.iloc[[5]]
    expected = model.predict_proba(row)
    given = row.iloc[0].to_dict()
    assert np.array_equal(model.predict_proba(given), expected)
    assert np.array_equal(model.predict_proba(row.iloc[0]), expected)
    given.pop("species")  # the target need not be there
    assert model.predict(given) == model.predict(row)
    assert model.explain(given) is not None
    with pytest.raises(ValueError, match="island"):
        model.predict({name: cell for name, cell in given.items() if name != "island"})
