"""The search for members: its order of steps, budgets that repeat it, clocks and interrupts."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from committee import CommitteeClassifier, CommitteeRegressor
from committee.auto.estimate import Resamples
from committee.auto.ledger import Ledger, micro
from committee.auto.runs import BoostingRun, ForestRun, Run, WholeRun
from committee.auto.search import leaderboard_of

X, Y = make_classification(200, n_classes=3, n_informative=5, random_state=0)


def fitted(**parameters):
    return CommitteeClassifier(random_state=0, **parameters).fit(X, Y)


def steps_of(monkeypatch, **parameters):
    """Fit, and return the candidates of all steps, and the model."""
    steps, step = [], Run.step

    def noted(self):
        step(self)
        steps.append(self.candidate.name)

    monkeypatch.setattr(Run, "step", noted)
    model = fitted(**parameters)
    monkeypatch.setattr(Run, "step", step)
    return steps, model


def test_a_ledger_lets_the_clock_do_what_a_budget_repeats():
    timed = Ledger(None, time_limit=1e9)
    assert timed.fits(50, 1.0)
    timed.used = 50
    assert not timed.fits(30, 2e9)  # too late for this one: from now on the budget is below 80
    assert timed.is_late
    assert timed.fits(29, 0.0)
    assert not timed.fits(30, 0.0)
    timed.used = 79
    again = Ledger(timed.used)
    again.used = 50
    assert not again.fits(30, 0.0)
    assert again.fits(29, 0.0)


def test_a_smaller_budget_does_the_first_steps_of_a_larger_one(monkeypatch):
    long, _ = steps_of(monkeypatch, budget=0.4)
    for budget in (0.04, 0.1, 0.25):
        short, model = steps_of(monkeypatch, budget=budget)
        # Steps that do not fit are passed over, those before are the same.
        is_same = [a == b for a, b in zip(short, long, strict=False)]
        n_same = is_same.index(False) if False in is_same else len(short)
        assert n_same >= 0.5 * len(short)
        assert micro(model.budget_) <= micro(budget)


@pytest.mark.parametrize("limit", [0.3, 1.0])
def test_the_budget_of_a_search_with_a_time_limit_repeats_it(monkeypatch, limit):
    timed_steps, timed = steps_of(monkeypatch, time_limit=limit)
    steps, again = steps_of(monkeypatch, budget=timed.budget_)
    assert steps == timed_steps
    assert again.budget_ == timed.budget_
    assert np.array_equal(again.predict_proba(X), timed.predict_proba(X))
    assert again.score_ == timed.score_


def test_without_a_step_that_fits_the_first_one_and_the_constant_are_done(monkeypatch):
    steps, model = steps_of(monkeypatch, budget=1e-6)
    assert steps == ["boosting", "constant"]
    assert model.budget_ > 1e-6
    steps, _ = steps_of(monkeypatch, time_limit=1e-6)
    assert steps == ["boosting", "constant"]


def test_where_a_round_of_boosting_takes_long_something_cheaper_comes_first(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(400), 3)
    table = np.c_[y + rng.normal(size=1200), rng.normal(size=1200)]
    steps, step = [], Run.step

    def noted(self):
        step(self)
        steps.append(self.candidate.name)

    monkeypatch.setattr(Run, "step", noted)
    model = CommitteeClassifier(random_state=0, budget=1e-6).fit(table, y)
    assert "boosting" not in steps
    assert model.score_.score > model.findings_.constant_score


@pytest.mark.parametrize("n_before", [1, 4, 9])
def test_an_interrupted_search_is_repeated_by_its_budget(monkeypatch, n_before):
    step, count = Run.step, []

    def interrupted(self):
        count.append(self)
        if len(count) == n_before + 1:
            raise KeyboardInterrupt
        step(self)

    monkeypatch.setattr(Run, "step", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        model = fitted(budget=0.4)
    assert model.interrupted_
    monkeypatch.setattr(Run, "step", step)
    again = fitted(budget=model.budget_)
    assert not again.interrupted_
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("kind", [BoostingRun, ForestRun, WholeRun])
def test_an_interrupt_inside_of_a_step_leaves_what_was_there_before(monkeypatch, kind):
    """The step of all kinds is cut; folds may have gone different ways."""
    step, count = kind._step, []

    def cut(self, made):
        result = step(self, made)
        if made is not None or kind is WholeRun:
            count.append(self)
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(kind, "_step", cut)
    with pytest.warns(UserWarning, match="interrupted"):
        model = fitted(budget=2.0)
    assert len(count) == 1
    monkeypatch.setattr(kind, "_step", step)
    again = fitted(budget=model.budget_)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_an_interrupt_after_the_search_keeps_the_committee_and_a_second_one_does_not(monkeypatch):
    plain = fitted(budget=0.05)
    run, n_interrupts = Resamples.estimate, [1]

    def interrupted(self):
        n_interrupts[0] -= 1
        if n_interrupts[0] >= 0:
            raise KeyboardInterrupt
        return run(self)

    monkeypatch.setattr(Resamples, "estimate", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        model = fitted(budget=0.05)
    assert model.interrupted_
    assert model.score_ == plain.score_
    n_interrupts[0] = 2
    before = dict(vars(model))
    with pytest.warns(UserWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(X[:60], Y[:60])
    assert vars(model) == before


def test_the_clock_counts_what_comes_after_the_search(monkeypatch):
    """With a clock that runs by steps, the search ends where the rest still fits in."""
    now, step, run = [0.0], Run.step, Resamples.estimate
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def slow_step(self):
        used = self.used
        step(self)
        seconds = 100 * (self.used - used) / 1e6
        now[0] += seconds
        self.so_far = replace(self.so_far, seconds=self.so_far.seconds + seconds)

    def slow_run(self):
        now[0] += 0.05
        return run(self)

    monkeypatch.setattr(Run, "step", slow_step)
    monkeypatch.setattr(Resamples, "estimate", slow_run)
    model = fitted(time_limit=20.0)
    assert 10.0 < now[0] < 20.0
    assert 0.1 < model.budget_ < 0.2


def test_scores_of_a_part_that_is_held_out_once(monkeypatch):
    """Of a long table one part is held out: scores and findings are of its rows."""
    import committee.auto.folds as folds

    monkeypatch.setattr(folds, "N_FOLDS", ((0, 8),))
    Z, z = make_regression(300, 5, noise=10.0, random_state=0)
    model = CommitteeRegressor(budget=0.2, random_state=0).fit(Z, z)
    assert model.score_.n_rows < 100
    assert model.findings_.n_rows == 300
    assert all(len(member.estimators) == 1 for member in model.members_)
    assert model.importances_.mean.max() > 0
    assert model.score_.score > model.findings_.constant_score


def test_the_error_of_a_leaderboard_is_that_of_the_mean_over_parts():
    values = np.array([1.0, 1.0, 2.0, 4.0, 6.0, 6.0])
    parts = [(None, np.array(rows)) for rows in ([0, 1], [2, 3], [4, 5])]
    data = SimpleNamespace(scored=np.arange(6), scored_parts=parts)
    metric = SimpleNamespace(
        score=lambda predictions, rows: float(predictions[rows].mean()), oob_score="mean"
    )
    members = [
        SimpleNamespace(predictions=each, candidate=SimpleNamespace(name=name), seconds=2.0)
        for name, each in [("flat", np.full(6, 3.0)), ("steep", values)]
    ]
    board = leaderboard_of(members, np.array([0.25, 0.75]), metric, data)
    steep, flat = board
    assert [steep.name, flat.name] == ["steep", "flat"]  # the best first
    assert steep.score == pytest.approx(20 / 6)
    # Parts score 1, 3 and 6: squares about their mean are 49/9 + 1/9 + 64/9, over two.
    assert steep.standard_error == pytest.approx((114 / 9 / 2 / 3) ** 0.5)
    assert (steep.weight, flat.weight) == (0.75, 0.25)
    assert flat.standard_error == 0.0
