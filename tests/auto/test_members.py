"""Members of the user's own, groups and times of rows."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import committee
from committee import CommitteeClassifier, CommitteeRegressor, RandomForestClassifier
from committee.auto.fold_members import FoldData
from committee.auto.folds import RowOrder, Splits
from committee.evaluation.scored_target import ScoredTarget
from committee.tables.source import open_source

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "size": RNG.normal(size=120),
        "colour": RNG.choice(["red", "green"], 120),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(120), "D"),
    }
)
Y = np.where(
    TABLE["size"] + (TABLE["colour"] == "red") + 0.3 * RNG.normal(size=120) > 0.5, "b", "a"
)
PIPELINE = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["colour"]), ("passthrough", ["size"])),
    LogisticRegression(),
)


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no licence")

    def predict(self, X):
        return np.zeros(len(X))


class Counting(GaussianNB):
    """Notes the threads that it was given."""

    seen: ClassVar[list] = []

    def __init__(self, n_jobs=None):
        super().__init__()
        self.n_jobs = n_jobs

    def fit(self, X, y):
        self.seen.append(self.n_jobs)
        return super().fit(X, y)


def classifier(members, **parameters):
    return CommitteeClassifier(members=members, random_state=0, budget=0.3, **parameters)


def test_own_members_get_raw_tables_and_are_chosen_among_others():
    model = CommitteeClassifier(members=["extra-trees", ("pipeline", PIPELINE)], random_state=0)
    model.set_params(budget=2.0).fit(TABLE, Y)
    assert {entry.name for entry in model.leaderboard_} == {"extra-trees", "pipeline"}
    assert "pipeline" in model.member_names_  # the target is linear
    assert np.mean(model.predict(TABLE) == Y) > 0.8
    assert np.isfinite(model.importances_.mean).all()
    alone = CommitteeClassifier(members={"mine": PIPELINE}, budget=1.0, random_state=0)
    shares = alone.fit(TABLE, Y).predict_proba(TABLE)
    assert alone.member_names_ == ["mine"]
    # It is the mean of eight fits, made bolder by little.
    own = PIPELINE.fit(TABLE, Y).predict_proba(TABLE)
    assert np.abs(shares - own).max() < 0.1
    frame = committee.train(TABLE.assign(y=Y), "y", members={"mine": PIPELINE}, verbose=0)
    assert frame.member_names_ == ["mine"]
    assert np.mean(frame.predict(TABLE) == Y) > 0.8


def test_arrays_stay_arrays_for_foreign_members():
    X, y = make_regression(80, 3, random_state=0)
    members = {"line": LinearRegression(), "near": KNeighborsRegressor()}
    model = CommitteeRegressor(members=members, budget=5.0, random_state=0).fit(X, y)
    assert model.member_names_ == ["line"]
    assert np.allclose(model.predict(X), y)


def test_a_member_of_the_same_name_takes_the_place_of_one_of_the_portfolio():
    model = classifier(["auto", ("linear", PIPELINE)]).fit(TABLE, Y)
    names = [entry.name for entry in model.leaderboard_]
    assert len(set(names)) == len(names)
    few = classifier([("forest", RandomForestClassifier(10))]).fit(TABLE, Y)
    assert few.member_names_ == ["forest"]
    assert few.members_[0].estimators[0].n_estimators == 10


def test_a_member_that_fails_is_left_out_with_a_warning():
    with pytest.warns(UserWarning, match="'bad' failed and is left out: no licence"):
        model = classifier([("bad", Failing()), "linear"]).fit(TABLE, Y)
    assert model.member_names_ == ["linear"]
    with pytest.warns(UserWarning, match="no licence"), pytest.raises(ValueError) as found:  # noqa: PT011
        classifier({"bad": Failing()}).fit(TABLE, Y)
    assert str(found.value) == "all members failed"
    assert "no licence" in str(found.value.__cause__)


def test_foreign_members_are_told_how_many_threads_there_are():
    Counting.seen.clear()
    classifier({"mine": Counting()}, n_jobs=2).fit(TABLE[["size"]], Y)
    assert set(Counting.seen) == {2}


def test_a_committee_with_foreign_members_is_not_saved(tmp_path):
    model = classifier({"mine": Counting()}).fit(TABLE[["size"]], Y)
    with pytest.raises(TypeError, match="Counting"):
        committee.save(model, tmp_path / "model.committee")


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        (3, TypeError, "got int"),
        ([3], TypeError, "got the item 3"),
        ([], ValueError, "which has none"),
        ("top", ValueError, "'top'"),
        (["auto", "top"], ValueError, "'top'"),
        ({"a": KNeighborsRegressor()}, ValueError, "'a'.*regressor"),
        ({"a": KNeighborsClassifier}, TypeError, "'a'"),
        ([("a", GaussianNB()), ("a", GaussianNB())], ValueError, "2 members"),
    ],
)
def test_wrong_members_are_named(members, error, message):
    with pytest.raises(error, match=message) as found:
        classifier(members).fit(TABLE[["size"]], Y)
    assert "members" in str(found.value)


# --- groups and times ---------------------------------------------------------------------------


def splits(n_rows, **arguments):
    X = np.arange(n_rows, dtype=float).reshape(-1, 1)
    source, target = open_source(X), ScoredTarget(reals=X)
    order = RowOrder.read(source, arguments.get("groups"), arguments.get("time_order"))
    return Splits.of(source, target, order, 0)


def test_folds_go_forward_in_time_and_rows_of_one_time_are_together():
    times = np.random.default_rng(0).integers(0, 30, 400)
    found = splits(400, time_order=times)
    assert found.is_forward
    assert len(found.folds) == 5
    for train, test in found.folds:
        assert times[train].max() < times[test].min()
        assert len(np.intersect1d(times[train], times[test])) == 0
    tested = np.concatenate([test for _, test in found.folds])
    assert len(np.unique(tested)) == len(tested) > 200
    dates = np.datetime64("2020-01-01") + times
    for given in (times.tolist(), dates, dates.astype(str), times - 15.5):
        again = splits(400, time_order=given)
        assert all(
            np.array_equal(a[1], b[1]) for a, b in zip(found.folds, again.folds, strict=True)
        )


def test_blocks_are_groups_or_short_stretches_of_time():
    groups = np.repeat(np.arange(20), 10)
    found = splits(200, groups=groups)
    for train, test in found.folds:
        assert len(np.intersect1d(groups[train], groups[test])) == 0
    assert np.array_equal(np.unique(found.blocks, return_inverse=True)[1], groups)
    found = splits(200, time_order=np.arange(200))
    assert (np.diff(found.blocks) >= 0).all()
    assert len(np.unique(found.blocks)) == 40


def test_the_last_models_are_the_members_of_a_committee_in_time():
    model = classifier("auto").fit(TABLE, Y, time_order="day")
    assert all(len(member.estimators) == 1 for member in model.members_)
    again = classifier("auto").fit(TABLE, Y, time_order=TABLE["day"])
    assert np.array_equal(model.predict_proba(TABLE), again.predict_proba(TABLE))
    assert model.score_.n_rows < 120


def test_no_member_learns_from_rows_that_are_later_than_those_it_predicts(monkeypatch):
    """Numbers of the end that are thousands of times larger leave no trace before them."""
    seen, fold_member = {}, FoldData.fold_member

    def noted(fold_data, *arguments):
        found = fold_member(fold_data, *arguments)
        seen[found.candidate.name] = found.predictions[fold_data.splits[0][1], 0]
        return found

    monkeypatch.setattr(FoldData, "fold_member", noted)
    X = RNG.normal(size=(160, 3))
    y = X[:, 0] + 0.1 * RNG.normal(size=160)
    y[120:] += 1e4
    names = ["boosting", "net", "linear", "extra-trees"]
    model = CommitteeRegressor(members=names, budget=2.0, random_state=0)
    model.fit(X, y, time_order=np.arange(160))
    assert set(seen) == set(names)
    assert all(np.abs(predictions).max() < 10 for predictions in seen.values())


def test_rows_of_a_group_are_no_evidence_of_their_own():
    """The error of the score is that of groups: copies of rows do not make it smaller."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    one = CommitteeRegressor(members="linear", budget=0.1, random_state=0).fit(X, y)
    rows = np.repeat(np.arange(60), 10)
    many = CommitteeRegressor(members="linear", budget=0.1, random_state=0)
    grouped = many.fit(X[rows], y[rows], groups=rows).score_.standard_error
    assert 0.6 < grouped / one.score_.standard_error < 1.6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": [1, 2]}, "groups must have one entry a row"),
        ({"time_order": [1, 2]}, "time_order must have one entry a row"),
        ({"time_order": "year"}, "'year'.*'size'"),
        ({"groups": np.zeros(120)}, "two groups"),
        ({"time_order": np.zeros(120)}, "two times"),
        ({"time_order": np.r_[np.nan, np.ones(119)]}, "time_order must not hold missing"),
        ({"time_order": np.arange(120), "groups": np.arange(120)}, "give one of them"),
    ],
)
def test_wrong_groups_and_times_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        classifier("auto").fit(TABLE, Y, **arguments)
