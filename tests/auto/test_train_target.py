"""`committee.train`: targets that are no columns, and what makes them classes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import committee

TABLE = pd.DataFrame(
    {
        "length": [1.5, 2.25, 3.0, 4.0] * 10,
        "colour": ["red", "blü, dark", None, "red"] * 10,
        "wide": np.random.default_rng(0).integers(0, 2, 40),
    }
)
SMALL = {"budget": 0.02, "random_state": 0, "verbose": 0}


@pytest.mark.parametrize("backend", ["pandas", "polars", "numpy", "list"])
def test_the_target_may_be_a_column_of_its_own(backend):
    cells = np.random.default_rng(1).choice(["yes", "no"], 40).astype(object)
    cells[::4] = None
    y = pd.Series(cells, name="churned", dtype=object)
    expected = committee.train(TABLE[y.notna()], y[y.notna()], **SMALL)
    given = {
        "pandas": y,
        "polars": pl.Series("churned", cells.tolist()),
        "numpy": cells,
        "list": cells.tolist(),
    }[backend]
    with pytest.warns(UserWarning, match="10 rows"):
        model = committee.train(TABLE, given, **SMALL)
    assert model.target_name_ == ("churned" if backend in ("pandas", "polars") else "target")
    assert np.array_equal(model.predict_proba(TABLE), expected.predict_proba(TABLE))


def test_a_series_with_the_name_of_a_column_takes_its_place():
    y = (TABLE["wide"] + 1).rename("wide")
    model = committee.train(TABLE, y, **SMALL)
    assert [use.name for use in model.columns_] == ["length", "colour"]
    assert model.classes_.tolist() == [1, 2]


def test_the_positive_class_and_costs_make_it_a_classification(capsys):
    table = TABLE.assign(y=np.r_[np.arange(30), [77] * 10])
    options = SMALL | {"verbose": 1}
    with pytest.raises(ValueError, match="positive is for two classes"):
        committee.train(table, "y", positive=77, **options)
    assert "classification of 'y': positive is given" in capsys.readouterr().err
    with pytest.raises(ValueError, match="costs is for classification"):
        committee.train(table, "y", costs=[[0, 1], [2, 0]], task="regression", **options)
    model = committee.train(TABLE, "wide", positive=0, threshold=0.2, **SMALL)
    assert model.decision_.positive == 0


def test_columns_without_names_are_targets_by_their_numbers():
    cells = TABLE[["length", "wide"]].to_numpy()
    expected = committee.train(cells[:, :1], cells[:, 1], **SMALL)
    for table, number in ((cells, 1), (pd.DataFrame(cells, columns=[10, 20]), 20)):
        model = committee.train(table, number, **SMALL)
        assert model.n_features_in_ == 1
        assert np.array_equal(
            model.predict_proba(cells[:, :1]), expected.predict_proba(cells[:, :1])
        )
    with pytest.raises(ValueError, match="numbered from 0 to 1; got 2"):
        committee.train(cells, 2, **SMALL)


def test_an_infinite_target_is_refused_in_words():
    for values in ([np.inf] * 40, [*range(39), -np.inf]):
        with pytest.raises(ValueError, match="'y' holds infinite values"):
            committee.train(TABLE.assign(y=values), "y", **SMALL)


@pytest.mark.parametrize(
    ("target", "error"), [([1, 2, 3], ValueError), (7, TypeError), (np.ones((40, 2)), ValueError)]
)
def test_targets_that_do_not_fit_are_named(target, error):
    with pytest.raises(error, match="target must"):
        committee.train(TABLE, target, **SMALL)
