"""Tables of very many columns of numbers: one array, with the results of single columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import committee
from committee import CommitteeClassifier, CommitteeRegressor
from committee.auto.columns import FeatureReader
from committee.auto.encoder import MatrixEncoder
from committee.auto.findings.unseen import variants
from committee.auto.profile import profiles
from committee.tables.source import Columns, Matrix, as_matrix, open_source

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 60)).round(3)
Y = (X[:, 3] + X[:, 7] > 0).astype(int)
NAMES = [f"c{k}" for k in range(60)]


@pytest.fixture(autouse=True)
def sixty_are_many(monkeypatch):
    """Let these tables be wide ones."""
    for module in ("committee.tables.frame", "committee.tables.source"):
        monkeypatch.setattr(f"{module}.MANY_COLUMNS", 60)
    monkeypatch.setattr("committee.tables.frame._SMALL_FRAME", 0)


def by_columns(table):
    """Return a table whose columns are read one by one."""
    source = open_source(table)
    return Columns(source.n_rows, source.n_features, source.names, lambda k, _: source.column(k))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_plans_scales_and_profiles_are_those_of_single_columns(dtype):
    table = (10 * X[:, :30]).astype(dtype)
    table[:, 4] = 7  # constant
    table[:, 5] = np.arange(60)  # the number of the row
    table[:, 6] = np.where(np.arange(60) < 58, 0, table[:, 6])  # all but the ends are equal
    whole, single = open_source(table), by_columns(table)
    reader, other = FeatureReader.of(whole), FeatureReader.of(single)
    assert reader.plan.uses == other.plan.uses
    assert {use.use for use in reader.plan.uses} == {"number", "dropped"}
    features, columns = reader.read(whole), other.read(single)
    assert isinstance(features, Matrix)
    assert not isinstance(columns, Matrix)
    assert features.names == columns.names
    for place in range(features.n_features):
        assert np.array_equal(features.column(place).values, columns.column(place).values)
    encoder = MatrixEncoder.of(features)
    assert encoder.parts == MatrixEncoder.of(columns).parts
    pairs = zip(
        profiles(reader.plan.uses, features), profiles(other.plan.uses, columns), strict=True
    )
    for own, expected in pairs:
        assert (own.name, own.first, own.missing) == (expected.name, expected.first, 0.0)
        assert np.array_equal(own.quantiles, expected.quantiles)


def test_rows_with_changed_cells_are_those_of_single_columns():
    rows, order = np.array([5, 2, 9]), np.array([9, 5, 2])
    changes = [(-1, rows), (3, order), (0, order), (3, rows)]
    found = variants(open_source(X[:, :5]), rows, changes)
    expected = variants(by_columns(X[:, :5]), rows, changes)
    assert isinstance(found, Matrix)
    for place in range(5):
        assert np.array_equal(found.column(place).values, expected.column(place).values)


def test_only_plain_numbers_become_an_array():
    frame = pd.DataFrame(X, columns=NAMES)
    assert isinstance(open_source(frame), Matrix)
    assert isinstance(open_source(pl.DataFrame(frame)), Matrix)
    mixed = open_source(frame.assign(c5="x"))
    assert as_matrix(mixed) is mixed
    numbers = by_columns(X)
    assert np.array_equal(as_matrix(numbers).values, X)
    few = by_columns(X[:, :10])
    assert as_matrix(few) is few
    huge = open_source(frame.assign(c5=2**60 + np.arange(60)))  # beyond doubles
    assert as_matrix(huge) is huge


def test_arrays_frames_and_files_make_the_same_committee(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    options = {"budget": 0.05, "random_state": 0}
    expected = CommitteeClassifier(**options).fit(X, Y)
    for table in (frame, by_columns(frame), pl.DataFrame(frame)):
        model = CommitteeClassifier(**options).fit(table, Y)
        assert np.array_equal(model.predict_proba(table), expected.predict_proba(X))
        assert model.leaks_ == expected.leaks_
        assert np.array_equal(model.importances_.mean, expected.importances_.mean)
    frame.assign(y=Y).to_csv(tmp_path / "t.csv", index=False)
    model = committee.train(tmp_path / "t.csv", "y", **options, verbose=0)
    assert np.array_equal(model.predict_proba(frame), expected.predict_proba(X))
    committee.save(model, tmp_path / "m.committee")
    loaded = committee.load(tmp_path / "m.committee")
    assert np.array_equal(loaded.predict_proba(frame[::-1]), model.predict_proba(frame)[::-1])


def test_missing_cells_and_infinities_in_a_wide_table():
    table = X.copy()
    table[::7, 3], table[1, 8], table[:, 9] = np.nan, np.inf, np.nan
    options = {"budget": 0.05, "random_state": 0}
    expected = CommitteeRegressor(**options).fit(by_columns(table), X[:, 7])
    model = CommitteeRegressor(**options).fit(table, X[:, 7])
    assert [use.use for use in model.columns_][8:10] == ["number", "dropped"]
    assert np.array_equal(model.predict(table), expected.predict(table))
