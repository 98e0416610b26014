"""What fits log: how large the table was, what came out and why it ended; nothing by default."""

import logging
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.linear_model import LogisticRegression, Ridge

from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    CommitteeClassifier,
    DecisionTreeClassifier,
    EnsembleSelectionClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from committee.base.work import FitLog, in_order, running_fit
from committee.boosting import defaults
from committee.datasets import load_penguins

X, Y = make_classification(200, 8, n_informative=4, flip_y=0.1, random_state=0)
X_REAL, Y_REAL = make_friedman1(200, noise=1.0, random_state=0)


@pytest.fixture
def lines(caplog):
    """Fit an estimator; return the messages of a level."""

    def of(model, X, y, level=logging.INFO, **options):
        caplog.clear()
        with caplog.at_level(level, logger="committee"):
            model.fit(X, y, **options)
        records = [each for each in caplog.records if each.name.startswith("committee")]
        return [each.getMessage() for each in records if each.levelno == level]

    return of


def test_nothing_is_printed_by_default_and_one_handler_is_silent():
    code = (
        "import committee, logging\n"
        "X, y = [[1.0], [2.0], [3.0], [4.0]] * 10, [0, 0, 1, 1] * 10\n"
        "committee.GradientBoostingClassifier(random_state=0).fit(X, y)\n"
        "committee.RandomForestClassifier(5, random_state=0).fit(X, y)\n"
        "log = logging.getLogger('committee')\n"
        "print(log.handlers, log.level, logging.getLogger().handlers)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[<NullHandler (NOTSET)>] 0 []"
    assert done.stderr == ""


SMALL_TREE = DecisionTreeClassifier(max_depth=2)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=3),
        RandomForestClassifier(3, random_state=0),
        AdaBoostClassifier(n_estimators=3),
        BaggingClassifier(n_estimators=3, random_state=0),
        VotingClassifier([("a", SMALL_TREE), ("b", LogisticRegression())]),
        StackingClassifier([("a", RandomForestClassifier(2)), ("b", LogisticRegression())]),
        EnsembleSelectionClassifier([("a", SMALL_TREE), ("b", LogisticRegression())]),
        CommitteeClassifier(budget=0.01, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_logs_the_table_at_the_begin_and_what_came_out_at_the_end(lines, model):
    begin, end = lines(model, X, Y)
    name = type(model).__name__
    assert begin == f"{name}: 200 rows, 8 columns"
    assert re.fullmatch(rf"{name}: .*\d.*, \d+\.\d\d s", end)


def test_boosting_logs_the_rounds_that_held_out_rows_chose(lines):
    model = GradientBoostingRegressor(random_state=0, learning_rate=0.3)
    _, end = lines(model, X_REAL, Y_REAL)
    choice = model.round_choice_
    assert f": {model.n_estimators_} rounds, chosen on held-out rows" in end
    assert f"{choice.n_rounds} of {len(choice.mean)} rounds" in end
    assert f"in {choice.n_folds} folds" in end


def test_the_details_of_boosting_have_its_parts_and_why_no_more_rounds_were_tried(lines):
    model = GradientBoostingRegressor(random_state=0, learning_rate=0.3)
    details = lines(model, X_REAL, Y_REAL, logging.DEBUG)
    choice = model.round_choice_
    (sizes,) = [each for each in details if "held out in turn" in each]
    assert sum(map(int, re.search(r"\[(.*)\]", sizes)[1].split(", "))) == 200
    (tried,) = [each for each in details if "by part" in each]
    parts = list(map(int, re.search(r"by part \[(.*)\]", tried)[1].split(", ")))
    assert len(parts) == choice.n_folds
    assert all(1 <= part <= len(choice.mean) for part in parts)
    assert f"none of the last {len(choice.mean) - choice.n_rounds} was better" in tried
    assert any("n_estimators=" in each and "learning_rate=0.3" in each for each in details)


def test_the_limit_of_rounds_is_logged(lines, monkeypatch):
    monkeypatch.setattr(defaults, "_MOST_ROUNDS", 20)
    model = GradientBoostingRegressor(learning_rate=1e-4, random_state=0)
    details = lines(model, X_REAL, Y_REAL, logging.DEBUG)
    (tried,) = [each for each in details if "by part" in each]
    assert len(model.round_choice_.mean) == 20
    assert tried.endswith("the limit was reached")


def test_early_stopping_logs_the_best_round_and_the_rounds_made(lines):
    model = GradientBoostingRegressor(
        n_estimators=500, learning_rate=0.5, n_iter_no_change=4, random_state=0
    )
    _, end = lines(model, X_REAL, Y_REAL)
    n_made = len(model.training_log_)
    assert model.n_estimators_ < n_made < 500
    assert f": {model.n_estimators_} rounds, the best of {n_made}: no improvement since" in end


@pytest.mark.parametrize(
    ("options", "n_rounds", "reason"),
    [
        ({"n_estimators": 7}, 7, "7 rounds, as given"),
        ({"n_estimators": 50, "callbacks": lambda n, log: n == 5}, 5, "a callback ended the fit"),
        ({"n_estimators": 4, "n_iter_no_change": 9}, 4, "the best of 4: the limit was reached"),
    ],
)
def test_boosting_logs_why_there_are_no_more_rounds(lines, options, n_rounds, reason):
    model = GradientBoostingRegressor(random_state=0, **options)
    _, end = lines(model, X_REAL, Y_REAL)
    assert model.n_estimators_ == n_rounds
    assert f": {n_rounds} rounds" in end
    assert reason in end


def test_columns_are_logged_by_kind(lines):
    details = lines(RandomForestClassifier(2, random_state=0), *load_penguins(), logging.DEBUG)
    (binned,) = [each for each in details if "columns: " in each]
    assert set(binned.partition("columns: ")[2].split(", ")) == {"2 category", "5 number"}


def test_a_forest_logs_where_its_error_became_flat(lines):
    model = RandomForestClassifier(500, early_stopping=True, random_state=0)
    _, end = lines(model, X, Y)
    assert model.n_trees_ < 500
    assert f": {model.n_trees_} of 500 trees: the out-of-bag error is flat" in end


def test_adaboost_logs_a_perfect_learner_and_one_of_chance(lines):
    separable = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    _, end = lines(AdaBoostClassifier(), *separable)
    assert "1 of 1 rounds: the last learner makes no error" in end
    same = [[1.0]] * 4, [0, 1, 0, 1]
    with pytest.warns(UserWarning, match="chance"):
        _, end = lines(AdaBoostClassifier(), *same)
    assert "1 of 1 rounds: the learner of round 1 was no better than chance" in end


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (AdaBoostClassifier(n_estimators=300, n_iter_no_change=5, random_state=0), (X, Y)),
        (AdaBoostRegressor(n_estimators=300, n_iter_no_change=5, random_state=0), (X_REAL, Y_REAL)),
    ],
    ids=["classes", "numbers"],
)
def test_adaboost_logs_rounds_kept_and_rounds_made(lines, model, table):
    _, end = lines(model, *table)
    n_kept, n_made = len(model.estimators_), len(model.validation_scores_)
    assert n_made < 300
    assert f": {n_kept} of {n_made} rounds: no better score of held-out rows since" in end


def test_fits_inside_of_a_stack_are_details_whatever_the_threads(lines):
    members = [("f", RandomForestClassifier(2)), ("t", SMALL_TREE)]
    for n_jobs in (1, 2):
        stack = StackingClassifier(members, cv=3, n_jobs=n_jobs, random_state=0)
        assert len(lines(stack, X, Y)) == 2
        details = lines(stack, X, Y, logging.DEBUG)
        fitted = [each for each in details if each.startswith("the member 'f': fitted to")]
        assert len(fitted) == 4  # three folds and all rows
        assert len([each for each in details if each.endswith("200 rows, 8 columns")]) == 1


def test_a_committee_logs_each_model_with_its_score_and_why_the_search_ended(lines, caplog):
    model = CommitteeClassifier(budget=0.1, random_state=0)
    details = lines(model, X, Y, logging.DEBUG)
    end = caplog.messages[-1]
    found = [re.fullmatch(r"(.*): score (\S+), \S+ s", each) for each in details]
    shown = dict(each.groups() for each in found if each)
    assert shown == {entry.name: f"{entry.score:.4g}" for entry in model.leaderboard_}
    assert f": {len(model.members_)} members, chosen from {len(model.leaderboard_)} of " in end
    assert f"score {model.score_.score:.4g}" in end
    assert "the budget is used up" in end
    limited = CommitteeClassifier(time_limit=1e-6, random_state=0)
    assert "the time is up" in lines(limited, X, Y)[1]


def test_a_fit_that_fails_logs_no_result_and_leaves_no_trace(lines, caplog):
    model = GradientBoostingRegressor(estimator=Ridge(alpha=-1.0), n_estimators=3)
    with pytest.raises(ValueError, match="alpha"):
        lines(model, X_REAL, Y_REAL)
    assert [each.getMessage() for each in caplog.records] == [
        "GradientBoostingRegressor: 200 rows, 10 columns"
    ]
    assert len(lines(RandomForestClassifier(2), X, Y)) == 2  # not taken for a fit inside


def test_threads_know_the_fit_that_started_them():
    with FitLog("outer") as log:
        seen = in_order(
            lambda _: running_fit(), [(i,) for i in range(4)], 2, use_threads=True, own=True
        )
        assert all(each is log for each in seen)


def test_a_model_is_the_same_with_and_without_a_log(lines):
    quiet = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, Y)
    loud = GradientBoostingClassifier(n_estimators=5, random_state=0)
    lines(loud, X, Y, logging.DEBUG)
    assert np.array_equal(quiet.predict_proba(X), loud.predict_proba(X))
