"""Going on with a search, and fitting members again."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

import committee
from committee import CommitteeClassifier, CommitteeRegressor
from committee.auto.runs import Run

X, Y = make_classification(200, n_classes=3, n_informative=5, random_state=0)
LABELS = np.array(["a", "b", "c"])[Y]


def fitted(budget=0.1):
    return CommitteeClassifier(budget=budget, random_state=0).fit(X, LABELS)


def test_more_steps_are_done_and_none_twice(monkeypatch):
    model = fitted()
    before, steps = model.budget_, []
    step = Run.step

    def noted(self):
        used = self.used
        step(self)
        steps.append(self.used - used)

    monkeypatch.setattr(Run, "step", noted)
    model.improve(X, LABELS, budget=0.2)
    assert before < model.budget_ <= before + 0.2
    assert sum(steps) / 1e6 == pytest.approx(model.budget_ - before)
    assert len(model.leaderboard_) > 2
    model.improve(X, LABELS, time_limit=1e-6)  # nothing has room
    assert sum(steps) / 1e6 == pytest.approx(model.budget_ - before)


def test_a_search_that_is_not_at_hand_is_repeated(tmp_path):
    model = fitted()
    path = tmp_path / "model.committee"
    committee.save(model, path)
    others = [committee.load(path), pickle.loads(pickle.dumps(model))]
    model.improve(X, LABELS, budget=0.1).improve(X, LABELS, budget=0.05)
    for other in others:
        other.improve(X, LABELS, budget=0.1)
        again = pickle.loads(pickle.dumps(other))  # of two calls
        for each in (other, again):
            each.improve(X, LABELS, budget=0.05)
            assert each.budget_ == model.budget_
            assert np.array_equal(each.predict_proba(X), model.predict_proba(X))


def test_an_improvement_that_fails_changes_nothing_and_the_next_one_begins_anew(monkeypatch):
    model, step = fitted(), Run.step
    expected = pickle.loads(pickle.dumps(model)).improve(X, LABELS, budget=0.1)
    before = dict(vars(model))

    def failing(self):
        step(self)
        raise RuntimeError("no memory")

    monkeypatch.setattr(Run, "step", failing)
    with pytest.raises(RuntimeError):
        model.improve(X, LABELS, budget=0.1)
    assert vars(model) == before
    monkeypatch.setattr(Run, "step", step)
    model.improve(X, LABELS, budget=0.1)
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("change", ["cell", "target", "order", "weights", "groups"])
def test_other_rows_are_refused(change):
    model, Z, z, weights, groups = fitted(0.05), X.copy(), LABELS.copy(), None, None
    if change == "cell":
        Z[17, 3] += 1e-9
    elif change == "target":
        z[17] = "a" if z[17] == "b" else "b"
    elif change == "order":
        Z, z = Z[::-1], z[::-1]
    elif change == "weights":
        weights = np.full(200, 2.0)
    else:
        groups = np.repeat(np.arange(20), 10)
    with pytest.raises(ValueError, match="needs what fit was given"):
        model.improve(Z, z, weights, groups=groups)


def test_rows_do_not_leave_the_process():
    model = fitted()
    assert len(pickle.dumps(model)) < len(pickle.dumps(model.members_)) * 1.5 + 50_000
    assert pickle.loads(pickle.dumps(model))._opened is None


def test_members_are_fitted_again_to_all_rows():
    model = fitted(0.5)
    names, weights, score = model.member_names_, model.weights_, model.score_
    n_trees = [
        m.estimators[0].n_trees_ for m in model.members_ if hasattr(m.estimators[0], "n_trees_")
    ]
    model.refit(X, LABELS)
    assert all(len(member.estimators) == 1 for member in model.members_)
    assert (model.member_names_, model.score_) == (names, score)
    assert np.array_equal(model.weights_, weights)
    again = [
        m.estimators[0].n_trees_ for m in model.members_ if hasattr(m.estimators[0], "n_trees_")
    ]
    assert len(again) == len(n_trees)
    assert np.mean(model.predict(X) == LABELS) > 0.9
    # The rows of two classes only: the third one keeps its place.
    two = LABELS != "c"
    shares = model.refit(X[two], LABELS[two]).predict_proba(X)
    assert shares.shape == (200, 3)
    assert shares[:, 2].max() < 0.05
    with pytest.raises(ValueError, match="the class 'd'"):
        model.refit(X, np.where(two, LABELS, "d"))


def test_rows_of_weight_zero_are_absent_where_members_are_fitted_again():
    """Also where a class has no other rows."""
    model = fitted(0.5)
    weights = np.where(LABELS == "c", 0.0, np.arange(200) % 2)
    shares = model.refit(X, LABELS, weights).predict_proba(X)
    rest = weights > 0
    assert np.array_equal(model.refit(X[rest], LABELS[rest]).predict_proba(X), shares)


def test_a_refitted_committee_of_numbers_is_like_the_committee(tmp_path):
    Z, z = make_regression(200, 5, noise=5.0, random_state=0)
    model = CommitteeRegressor(budget=0.5, random_state=0).fit(Z[:150], z[:150])
    before = model.predict(Z[150:])
    model.refit(Z[:150], z[:150])
    rest = model.predict(Z[150:])
    error = np.mean((before - z[150:]) ** 2)
    assert np.mean((rest - z[150:]) ** 2) < 1.5 * error
    committee.save(model, tmp_path / "m.committee")
    assert np.array_equal(committee.load(tmp_path / "m.committee").predict(Z[150:]), rest)
    # Later rows teach what earlier ones could not.
    later = model.refit(Z, z).predict(Z[150:])
    assert np.mean((later - z[150:]) ** 2) < error
