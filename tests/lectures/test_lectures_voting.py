"""What the lectures say about teams, votes and stacks, computed."""

import math

import numpy as np
import pytest
from team_tools import Says, SaysNumber, SpyRegressor, committee_of

from committee import StackingRegressor, VotingClassifier, VotingRegressor

# Lecture 003: members A to E say 1, 0, 1, 0, 0 and are so sure of it.
CONFIDENCE = [0.8, 0.7, 0.9, 0.5, 0.6]
VOTES = [1, 0, 1, 0, 0]


def team(**options):
    members = [(name, Says(2 * k)) for k, name in enumerate("ABCDE")]
    return VotingClassifier(members, **options).fit(np.tile(np.eye(2), (1, 5)), [0, 1])


def predictions():
    pairs = [[1 - c, c] if vote else [c, 1 - c] for vote, c in zip(VOTES, CONFIDENCE, strict=True)]
    return np.array(pairs).reshape(1, -1)


def test_the_team_votes_zero_by_majority():
    votes = team().votes(predictions())
    assert votes.predicted.tolist() == [VOTES]
    assert votes.prediction.tolist() == [0]
    assert team(voting="majority", abstain_label=-1).predict(predictions()).tolist() == [0]
    assert team().predict_proba(predictions()).tolist() == [[0.6, 0.4]]


def test_the_mean_probability_says_one():
    model = team(voting="soft")
    p = np.mean([0.8, 0.3, 0.9, 0.5, 0.4])
    assert p == pytest.approx(0.58)
    np.testing.assert_allclose(model.predict_proba(predictions()), [[0.42, 0.58]])
    assert model.predict(predictions()).tolist() == [1]


def test_the_sum_of_confidences_says_zero():
    model = team(voting="confidence")
    np.testing.assert_allclose(model.predict_proba(predictions()), [[1.8 / 3.5, 1.7 / 3.5]])
    assert model.predict(predictions()).tolist() == [0]


def test_the_team_of_numbers():
    predicted = np.array([[2.3, 9.1, 4.3, 4.1, 3.8]])
    members = [(name, SaysNumber(k)) for k, name in enumerate("ABCDE")]
    for combined, expected in (("mean", 4.72), ("median", 4.1)):
        model = VotingRegressor(members, combine=combined).fit(predicted, [0.0])
        assert model.predict(predicted)[0] == pytest.approx(expected)


def test_soft_votes_with_weights():
    """Lecture 004: 0.2 * 0.9 + 0.3 * 0.8 + 0.5 * 0.3 = 0.57."""
    model = committee_of(VotingClassifier, 3, voting="soft", weights=[0.2, 0.3, 0.5])
    row = [[0.9, 0.1, 0.8, 0.2, 0.3, 0.7]]
    np.testing.assert_allclose(model.predict_proba(row), [[0.57, 0.43]])
    assert model.predict(row).tolist() == [0]


def test_two_two_one_is_no_majority():
    row = np.concatenate([np.eye(3)[vote] for vote in (0, 0, 1, 1, 2)])[np.newaxis]
    options = {"abstain_label": "abstains"}
    majority = committee_of(VotingClassifier, 5, 3, voting="majority", **options)
    assert majority.predict(row).tolist() == ["abstains"]
    plurality = committee_of(VotingClassifier, 5, 3, voting="plurality", **options)
    assert plurality.predict(row).tolist() == [0]
    three = np.concatenate([np.eye(3)[vote] for vote in (2, 2, 2, 1, 0)])[np.newaxis]
    assert majority.predict(three).tolist() == [2]


@pytest.mark.parametrize(("n_members", "right"), [(5, 0.7), (11, 0.7), (21, 0.6)])
def test_independent_members_are_right_as_condorcet_says(n_members, right, rng):
    n_rows = 20_000
    is_right = rng.uniform(size=(n_rows, n_members)) < right
    votes = np.where(is_right[:, :, np.newaxis], [0.0, 1.0], [1.0, 0.0])  # the truth is 1
    model = committee_of(VotingClassifier, n_members, 2, voting="majority")
    found = (model.predict(votes.reshape(n_rows, -1)) == 1).mean()
    most = range(n_members // 2 + 1, n_members + 1)
    expected = sum(
        math.comb(n_members, k) * right**k * (1 - right) ** (n_members - k) for k in most
    )
    assert found == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / n_rows))
    assert expected > right


def test_a_stack_of_three_levels_cuts_the_rows_in_three():
    """Lecture 004: level one learns from a part, level two from another, the last from the rest."""
    X = np.arange(30.0)[:, np.newaxis]

    class Id(SpyRegressor):
        def predict(self, X):
            return np.asarray(X)[:, 0]

    stack = StackingRegressor(
        [("one", Id())], Id(), layers=[[("two", Id())]], cv=2 / 3, refit=False, random_state=0
    ).fit(X, X[:, 0])
    one, two = (layer[0].estimators[0].seen_ for layer in stack.layers_)
    three = stack.final_estimator_.seen_
    assert len(one) == len(two) == len(three) == 10
    assert sorted([*one, *two, *three]) == list(range(30))
