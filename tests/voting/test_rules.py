"""Rules of voting, means of numbers, and which member voted for what."""

import itertools

import numpy as np
import pytest
from scipy import stats
from team_tools import Says, SaysNumber, committee_of

from committee import (
    VotingClassifier,
    VotingRegressor,
)
from committee.combining.voting.means import combine
from committee.combining.voting.votes import fewest_that

RULES = ["hard", "plurality", "majority", "soft", "confidence", "weighted"]


# --- rules ----------------------------------------------------------------------------------------


def rows_of_votes(*votes):
    """One row for members that are sure of what they say."""
    n_classes = 3
    return np.concatenate([np.eye(n_classes)[vote] for vote in votes])[np.newaxis]


def test_a_majority_is_more_than_half_of_the_votes():
    tie = rows_of_votes(0, 0, 1, 1, 2)
    most = rows_of_votes(0, 2, 2, 2, 1)
    some = rows_of_votes(0, 0, 1, 2, 1)
    half = rows_of_votes(0, 0, 1, 1)
    strict = committee_of(VotingClassifier, 5, 3, voting="majority", abstain_label=-1)
    assert strict.predict(np.vstack([tie, most, some])).tolist() == [-1, 2, -1]
    assert strict.votes(most).agreement.tolist() == pytest.approx([0.6])
    lenient = committee_of(VotingClassifier, 5, 3, voting="majority")
    assert lenient.predict(np.vstack([tie, most])).tolist() == [0, 2]
    plural = committee_of(VotingClassifier, 5, 3, voting="plurality", abstain_label=-1)
    assert plural.predict(np.vstack([tie, most])).tolist() == [0, 2]
    ties = committee_of(VotingClassifier, 5, 3, tie_break="abstain", abstain_label="none")
    assert ties.predict(np.vstack([tie, most])).tolist() == ["none", 2]
    even = committee_of(VotingClassifier, 4, 3, voting="majority", abstain_label=-1)
    assert even.predict(half).tolist() == [-1]  # half is no majority


def test_ties_are_broken_as_asked():
    X = np.array([[0.6, 0.4, 0.1, 0.9]])  # one vote each; class 1 has the larger mean
    members = [("m0", Says(0)), ("m1", Says(2))]
    table, y = np.tile(np.eye(2), (1, 2))[[0, 1, 1]], [0, 1, 1]
    answers = {
        rule: VotingClassifier(members, tie_break=rule, abstain_label=9).fit(table, y).predict(X)
        for rule in ("first", "prior", "soft", "abstain")
    }
    assert {rule: each.tolist() for rule, each in answers.items()} == {
        "first": [0],
        "prior": [1],
        "soft": [1],
        "abstain": [9],
    }


def test_three_tenths_and_two_tenths_and_one_tenth_tie():
    """0.1 + 0.2 is not 0.3 to a computer: that must not decide a vote."""
    model = committee_of(
        VotingClassifier, 3, 2, weights=[0.3, 0.1, 0.2], tie_break="abstain", abstain_label=7
    )
    X = np.array([[1, 0, 0, 1, 0, 1], [0, 1, 1, 0, 1, 0.0]])
    assert model.predict(X).tolist() == [7, 7]


@pytest.mark.parametrize("rule", RULES)
def test_probabilities_add_up_to_one_and_agree_with_the_answer(rule, rng):
    model = committee_of(VotingClassifier, 5, 3, voting=rule, weights=[1, 2, 3, 4, 5.5])
    X = rng.dirichlet(np.ones(3), size=(200, 5)).reshape(200, 15)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


# --- combinations ---------------------------------------------------------------------------------


def naive_median(values, weights):
    """Half of the weight is below, half above; the middle of two where half is reached exactly."""
    pairs = sorted(zip(values, weights, strict=True))
    half, below, answers = sum(weights) / 2, 0.0, []
    for value, weight in pairs:
        if weight > 0 and below <= half <= below + weight:
            answers.append(value)
        below += weight
    return (answers[0] + answers[-1]) / 2


def naive_trimmed(values, weights, trim):
    total = sum(weights)
    low, high = trim * total, (1 - trim) * total
    at, sums, kept = 0.0, 0.0, 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        part = max(0.0, min(at + weight, high) - max(at, low))
        sums, kept, at = sums + part * value, kept + part, at + weight
    return sums / kept


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1, 1], [2, 1, 0, 3, 1, 1], [1, 1, 8, 1, 2, 3]])
def test_combinations_agree_with_naive_loops(weights, rng):
    predicted = rng.lognormal(size=(6, 40, 2))
    weights = np.array(weights, float)
    for how, naive in (
        ("mean", lambda v: np.average(v, weights=weights)),
        ("median", lambda v: naive_median(v, weights)),
        ("trimmed", lambda v: naive_trimmed(v, weights, 0.15)),
        ("geometric", lambda v: stats.gmean(v, weights=weights)),
    ):
        found = combine(predicted, weights, how, 0.15)
        expected = np.apply_along_axis(naive, 0, predicted)
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=how)
    repeated = predicted.repeat(weights.astype(int), axis=0)  # a weight of two is the member twice
    for how in ("mean", "median", "trimmed", "geometric"):
        np.testing.assert_allclose(
            combine(predicted, weights, how, 0.2),
            combine(repeated, np.ones(len(repeated)), how, 0.2),
            rtol=1e-12,
        )


def test_combinations_agree_with_scipy(rng):
    predicted, even = rng.lognormal(size=(10, 50, 1)), np.ones(10)
    np.testing.assert_allclose(combine(predicted, even, "median", 0), np.median(predicted, axis=0))
    np.testing.assert_allclose(
        combine(predicted, even, "trimmed", 0.2), stats.trim_mean(predicted, 0.2)
    )
    np.testing.assert_allclose(combine(predicted, even, "geometric", 0), stats.gmean(predicted))


def test_a_regressor_combines_what_members_say(rng):
    X = rng.lognormal(size=(30, 5))
    members = [(f"m{k}", SaysNumber(k)) for k in range(5)]
    weights = np.array([1.0, 0, 2, 1, 3])
    for how, naive in (
        ("median", lambda v: naive_median(v, weights)),
        ("trimmed", lambda v: naive_trimmed(v, weights, 0.2)),
        ("geometric", lambda v: stats.gmean(v, weights=weights)),
    ):
        model = VotingRegressor(members, combine=how, weights=weights).fit(X, X[:, 0])
        np.testing.assert_allclose(model.predict(X), np.apply_along_axis(naive, 1, X))
    with pytest.raises(ValueError, match=r"positive.*m2.*-3.*row 1"):
        model.predict([[1, 1, 1, 1, 1], [1, 1, -3, 1, 1.0]])
    # A member without weight may say anything.
    X[:, 1] = np.inf
    assert np.isfinite(model.predict(X)).all()
    X[:, 1] = -1.0
    assert np.isfinite(model.predict(X)).all()


def test_the_geometric_mean_of_members_that_rule_out_every_class_is_the_mean():
    model = committee_of(VotingClassifier, 2, 2, voting="soft", combine="geometric")
    np.testing.assert_allclose(model.predict_proba([[1, 0, 0, 1.0]]), [[0.5, 0.5]])
    p = np.sqrt(np.array([[0.9 * 0.4, 0.1 * 0.6]]))
    np.testing.assert_allclose(model.predict_proba([[0.9, 0.1, 0.4, 0.6]]), p / p.sum())


# --- who voted what -------------------------------------------------------------------------------


EXPLAINED = [
    ("hard", "first", "mean"),
    ("hard", "prior", "mean"),
    ("hard", "soft", "mean"),
    ("hard", "abstain", "mean"),
    ("majority", "first", "mean"),
    ("soft", "first", "mean"),
    ("soft", "soft", "median"),
    ("soft", "prior", "trimmed"),
    ("soft", "first", "geometric"),
    ("confidence", "first", "mean"),
    ("weighted", "abstain", "mean"),
]


@pytest.mark.parametrize(("rule", "tie_break", "combined"), EXPLAINED)
def test_flips_flip_and_no_fewer_members_do(rule, tie_break, combined, rng):
    n_members, n_classes = 5, 3
    n_flipped = 0
    for case in range(12):
        weights = rng.integers(1, 4, n_members) if case % 2 else np.ones(n_members)
        model = committee_of(
            VotingClassifier,
            n_members,
            n_classes,
            voting=rule,
            tie_break=tie_break,
            combine=combined,
            weights=weights,
            abstain_label=-1,
        )
        model.class_prior_ = np.array([0.2, 0.3, 0.5])
        p = rng.dirichlet(np.ones(n_classes), size=n_members)
        p = np.eye(n_classes)[p.argmax(axis=1)] if case % 3 == 0 else p.round(1)
        row = (p / p.sum(axis=1, keepdims=True)).reshape(1, -1)
        told = model.explain_vote(row)
        assert told.prediction == model.predict(row)[0]

        def answer_if(places, row=row, told=told, model=model):
            changed = row.reshape(n_members, n_classes).copy()
            changed[list(places)] = np.eye(n_classes)[told.runner_up]
            return model.predict(changed.reshape(1, -1))[0]

        every = [s for n in range(1, 6) for s in itertools.combinations(range(n_members), n)]
        enough = [s for s in every if answer_if(s) == told.runner_up]
        flips = [told.names.index(name) for name in told.flips]
        assert len(flips) == min(map(len, enough), default=0)
        if flips:
            n_flipped += 1
            assert answer_if(flips) == told.runner_up != told.prediction
        for place, name in enumerate(told.names):
            without = VotingClassifier(
                [pair for k, pair in enumerate(model.estimators) if k != place],
                voting=rule,
                tie_break=tie_break,
                combine=combined,
                weights=[w for k, w in enumerate(weights) if k != place],
                abstain_label=-1,
            ).fit(np.tile(np.eye(3), (1, 5)), [0, 1, 2])
            without.class_prior_ = model.class_prior_
            answer = without.predict(row)[0]
            assert told.without[place] == answer
            assert (name in told.decisive) == (answer != told.prediction)
    assert n_flipped > 5


def test_flips_of_large_committees_flip():
    n_members = 60
    model = committee_of(VotingClassifier, n_members, 2)
    row = np.tile([1.0, 0.0], n_members)[np.newaxis]
    told = model.explain_vote(row)
    assert len(told.flips) == 31  # a tie is for the first class
    assert fewest_that(lambda sets: sets.sum(axis=1) > 99, np.ones(5), 9) == ()


def test_votes_are_told():
    model = committee_of(VotingClassifier, 3, 2, weights=[2, 1, 1])
    X = np.array([[1, 0, 0, 1, 0, 1], [0, 1, 0, 1, 0, 1.0]])
    votes = model.votes(X)
    assert votes.predicted.tolist() == [[0, 1, 1], [1, 1, 1]]
    assert votes.prediction.tolist() == [0, 1]
    assert votes.agreement.tolist() == [0.5, 1.0]
    assert votes.to_frame().columns.tolist() == ["m0", "m1", "m2", "committee"]
    assert repr(votes) == "Votes(2 rows, 3 members)"
    told = model.explain_vote(X[:1])
    assert told.to_frame().loc["m0", "weight"] == 0.5
    assert "m0  predicts 0, weight 0.5" in str(told)
    with pytest.raises(ValueError, match="one row; got 2"):
        model.explain_vote(X)
    numbers = VotingRegressor([("a", SaysNumber(0)), ("b", SaysNumber(1))], weights=[3, 1])
    told = numbers.fit([[1.0, 2.0]], [1.0]).explain_vote([[4.0, 8.0]])
    assert (told.prediction, told.without, told.predicted) == (5.0, (8.0, 4.0), (4.0, 8.0))
    assert numbers.votes([[4.0, 8.0]]).predicted.tolist() == [[4.0, 8.0]]


def test_a_committee_of_one_is_explained():
    alone = VotingClassifier([("one", Says(0))]).fit(np.eye(2), [0, 1])
    found = alone.explain_vote([[1.0, 0.0]])
    assert found.without == (found.prediction,)
    assert found.decisive == ()


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["?", -1, None])
def test_the_score_of_a_committee_that_abstains_with_any_label(label):
    X = np.eye(3)[np.r_[0:3, 0:3]]
    says = [("a", Says(0)), ("b", Says(3))]
    table = np.hstack([X, X[[0, 1, 2, 1, 2, 2]]])  # they disagree about rows 3 and 4
    y = np.array([0, 1, 2, 0, 1, 0])
    team = VotingClassifier(says, voting="majority", abstain_label=label).fit(table, y)

    assert team.score(table, y) == pytest.approx(3 / 6 if label is not None else 5 / 6)
    if label is not None:
        weights = [1, 0, 0, 1, 0, 0]
        assert team.score(table, y, sample_weight=weights) == 0.5
    with pytest.raises(ValueError, match="6"):
        team.score(table, y[:3])
