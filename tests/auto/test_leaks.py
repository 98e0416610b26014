"""Columns that give the target away are named, and honest ones are not."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeRegressor

import committee
from committee import CommitteeClassifier, CommitteeRegressor
from committee.auto import leaks as leaks_file
from committee.auto.columns import FeatureReader
from committee.auto.leaks import LeakSearch
from committee.evaluation.scored_target import ScoredTarget
from committee.tables.source import open_source
from committee.tables.target import read_classes, read_reals

N_ROWS = 400


def search(table, y, units=1.0, tests=None, weights=None):
    """Leaks by name."""
    is_number = np.asarray(y).dtype.kind == "f"
    if is_number:
        target = ScoredTarget(reals=read_reals(y)[0], weights=weights)
    else:
        classes = read_classes(y)
        target = ScoredTarget(classes.codes, classes.classes, weights=weights)
    source = open_source(table)
    reader = FeatureReader.of(source)
    features = reader.read(source)
    if tests is None:
        tests = np.array_split(np.random.default_rng(0).permutation(len(table)), 8)
    found = LeakSearch.of(features, target, tests, features.n_features, units, 0)
    return {leak.name: leak for leak in found.run(reader.plan.uses, units)}


def noise(n_rows=N_ROWS, n_columns=3, seed=0):
    cells = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    return pd.DataFrame(cells, columns=[f"n{k}" for k in range(n_columns)])


RNG = np.random.default_rng(1)
Y = RNG.normal(size=N_ROWS)
LABELS = np.where(RNG.random(N_ROWS) < 0.5, "yes", "no")
FLIPPED = np.where(np.arange(N_ROWS) % 100 == 0, np.where(LABELS == "yes", "no", "yes"), LABELS)


@pytest.mark.parametrize(
    ("column", "y", "kind"),
    [
        (Y, Y, "equal"),
        (3 - 2 * Y, Y, "equal"),
        (np.exp(Y), Y, "alone"),
        (np.abs(Y) + np.where(Y < 0, 10, 0), Y, "alone"),
        (Y + 0.03 * RNG.normal(size=N_ROWS), Y, "alone"),
        (np.where(LABELS == "yes", "J", "N"), LABELS, "equal"),
        (np.where(LABELS == "yes", 7.5, 1.25), LABELS, "equal"),
        (FLIPPED, LABELS, "alone"),
        (np.where(LABELS == "yes", -1, 1) * RNG.uniform(1, 2, N_ROWS), LABELS, "alone"),
        (np.where(LABELS == "yes", RNG.choice(list("ab"), N_ROWS), "c"), LABELS, "alone"),
    ],
)
def test_a_column_that_gives_the_target_away_is_named(column, y, kind):
    found = search(noise().assign(status=column), y)
    assert list(found) == ["status"]
    assert found["status"].kind == kind
    assert 0.95 < found["status"].score <= 1
    assert "'status'" in str(found["status"])


@pytest.mark.parametrize(
    ("column", "y"),
    [
        (Y + 0.4 * RNG.normal(size=N_ROWS), Y),
        (np.where(RNG.random(N_ROWS) < 0.08, "no", LABELS), LABELS),
        (RNG.permutation(Y), Y),
        (RNG.choice([f"z{k}" for k in range(150)], N_ROWS), LABELS),
    ],
)
def test_strong_but_honest_columns_are_not_named(column, y):
    assert search(noise().assign(status=column), y) == {}


def test_numbers_of_rows_sorted_by_the_target_are_named():
    table = noise().assign(key=np.arange(N_ROWS) * 3 + 1000)
    found = search(table, np.sort(Y))
    assert found["key"].kind == "order"
    assert search(table, np.sort(LABELS))["key"].kind == "order"
    assert search(table, Y) == {}


def test_scores_are_those_of_a_tree_on_the_column():
    x = Y + 0.05 * RNG.normal(size=N_ROWS)
    found = search(noise().assign(x=x), Y)["x"].score
    ranks = rankdata(Y)
    tree = DecisionTreeRegressor(min_samples_leaf=5)
    predicted = cross_val_predict(tree, x[:, np.newaxis], ranks, cv=8)
    assert found == pytest.approx(1 - ((ranks - predicted) ** 2).mean() / ranks.var(), abs=0.01)


def test_a_row_of_weight_two_counts_like_the_row_twice():
    weights = RNG.integers(1, 4, N_ROWS)
    rows = np.repeat(np.arange(N_ROWS), weights)
    table = noise().assign(x=np.where(LABELS == "yes", RNG.choice(list("ab"), N_ROWS), "c"))
    tests = np.array_split(RNG.permutation(N_ROWS), 4)
    repeated = [np.flatnonzero(np.isin(rows, test)) for test in tests]
    once = search(table, LABELS, tests=tests, weights=weights.astype(float))
    twice = search(table.iloc[rows].reset_index(drop=True), LABELS[rows], tests=repeated)
    assert once["x"].score == pytest.approx(twice["x"].score)


def test_copies_of_rows_in_one_fold_make_no_leak():
    rows = np.repeat(np.arange(80), 5)
    table = noise(80).iloc[rows].reset_index(drop=True)
    tests = [np.flatnonzero(rows % 8 == fold) for fold in range(8)]
    assert search(table, LABELS[rows], tests=tests) == {}


def test_of_many_columns_few_are_judged_and_the_leak_is_among_them(monkeypatch):
    judged = []
    score = LeakSearch._score

    def counted(self, column, truth):
        judged.append(column)
        return score(self, column, truth)

    monkeypatch.setattr(LeakSearch, "_score", counted)
    table = noise(300, 2000).assign(status=Y[:300] + 0.01 * RNG.normal(size=300))
    found = search(table, Y[:300], units=0.02)
    assert list(found) == ["status"]
    # What judging costs by the formula is within the units.
    each = leaks_file._COLUMN_COST + leaks_file._ROW_COST * 300
    assert len(judged) * each <= 0.02


def test_of_many_rows_some_are_judged():
    table = noise(60_000, 2).assign(status=np.arange(60_000) % 7)
    y = np.arange(60_000) % 7 % 2
    assert list(search(table, y.astype(str))) == ["status"]


def test_fit_warns_of_leaks_and_notes_them(tmp_path):
    table = noise(120).assign(status=Y[:120])
    with pytest.warns(UserWarning, match="'status' says the same as the target"):
        model = CommitteeRegressor(budget=0.05, random_state=0).fit(table, Y[:120])
    notes = {use.name: use.note for use in model.columns_}
    assert "gives the target away" in notes["status"]
    assert not any(notes[f"n{k}"] for k in range(3))
    committee.save(model, tmp_path / "model.committee")
    assert committee.load(tmp_path / "model.committee").leaks_ == model.leaks_


def test_the_only_column_is_no_leak():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = Y[:100, np.newaxis]
        model = CommitteeClassifier(budget=0.02, random_state=0).fit(X, X[:, 0] > 0)
    assert model.leaks_ == ()
