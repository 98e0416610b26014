"""The committee in one small tree: conditions, shares and means that can be counted."""

import numpy as np
import pandas as pd
import pytest

import committee
from committee import CommitteeClassifier, CommitteeRegressor
from committee.auto.distillation import soft_rows

RNG = np.random.default_rng(0)


def steps(n_rows=400):
    """Return a table and a number that follows from two of its columns, without noise."""
    table = pd.DataFrame(
        {
            "colour": RNG.choice(["red", "green", "blue"], n_rows),
            "size": RNG.normal(size=n_rows).round(3),
            "noise": RNG.normal(size=n_rows),
        }
    )
    y = np.where(table["colour"] == "red", 10.0, np.where(table["size"] > 0, 4.0, 0.0))
    return table, y


def test_a_tree_of_steps_is_found_with_its_conditions_shares_and_means():
    table, y = steps()
    model = CommitteeRegressor(budget=0.3, random_state=0).fit(table, y)
    tree = model.small_tree_
    assert tree.words[0] == "all rows"
    assert tree.depths[0] == 0
    assert {"colour is red", "colour is blue or green"} <= set(tree.words)
    assert tree.agreement > 0.98
    red = tree.words.index("colour is red")
    assert tree.shares[red] == pytest.approx((table["colour"] == "red").mean(), abs=1e-9)
    assert tree.values[red, 0] == pytest.approx(10.0, abs=0.3)
    # Children are all of their parent.
    leaves = np.array(tree.is_leaf)
    assert tree.shares[leaves].sum() == pytest.approx(1.0)
    assert (tree.shares[leaves] @ tree.values[leaves])[0] == pytest.approx(tree.values[0, 0])
    assert tree.values[0, 0] == pytest.approx(y.mean(), abs=0.2)
    assert "colour is red: " in repr(tree)  # nothing is left to split there


def test_probabilities_add_up_and_scores_are_of_rows_the_tree_has_not_seen():
    table, y = steps()
    labels = np.array(["low", "middle", "high"])[np.searchsorted([2.0, 6.0], y)]
    labels[::7] = RNG.choice(["low", "middle", "high"], len(labels[::7]))
    model = CommitteeClassifier(budget=0.3, random_state=0).fit(table, labels)
    tree = model.small_tree_
    assert np.allclose(tree.values.sum(axis=1), 1.0)
    assert 0.8 < tree.agreement <= 1.0
    assert tree.committee_score == pytest.approx(model.score_.naive)
    assert model.findings_.constant_score < tree.score < 0


def test_weights_are_repetitions_in_the_means():
    table, y = steps(200)
    weights = 1.0 + (table["colour"] == "red")
    model = CommitteeRegressor(budget=0.1, random_state=0).fit(table, y, weights)
    tree = model.small_tree_
    red = weights[table["colour"] == "red"].sum() / weights.sum()
    assert tree.shares[tree.words.index("colour is red")] == pytest.approx(red)


def test_few_rows_constants_and_texts_have_no_tree():
    table, y = steps(40)
    assert not hasattr(CommitteeRegressor(budget=0.05, random_state=0).fit(table, y), "small_tree_")
    noise = RNG.normal(size=(100, 2))
    still = CommitteeRegressor(members=["constant"], random_state=0).fit(noise, np.ones(100))
    assert not hasattr(still, "small_tree_")
    words = np.array(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"])
    texts = [" ".join(RNG.choice(words, 8)) for _ in range(100)]
    model = CommitteeClassifier(budget=0.05, random_state=0).fit(
        pd.DataFrame({"text": texts}), ["alpha" in text[:20] for text in texts]
    )
    assert not hasattr(model, "small_tree_")


def test_it_is_saved_and_a_student_has_none_of_the_committee(tmp_path):
    table, y = steps()
    model = CommitteeRegressor(budget=0.05, random_state=0).fit(table, y)
    committee.save(model, tmp_path / "m.committee")
    loaded = committee.load(tmp_path / "m.committee").small_tree_
    assert repr(loaded) == repr(model.small_tree_)
    assert loaded.score == model.small_tree_.score
    assert not hasattr(model.distill(table, y), "small_tree_")


def test_of_very_many_classes_a_row_keeps_the_likeliest():
    shares = np.full((2, 200), 0.005)
    shares[1, 7] += 1e-4
    rows, codes, weights = soft_rows(shares / shares.sum(axis=1, keepdims=True))
    assert set(rows) == {0, 1}
    assert codes[rows == 1].tolist() == [7]
    assert np.isfinite(weights).all()
