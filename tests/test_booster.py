"""What the booster of the engine promises beyond the best split (test_booster_oracle.py)."""

import numpy as np
import pytest

from committee import _core
from committee.tables.table import read_table


def make_dataset(rng, n_rows, weights=None, exact=False, kinds="nmfc"):
    """A binned table; kinds: n(umbers), m(issing), f(ew values), c(ategory), l(ong category)."""
    columns = []
    for kind in kinds:
        values = rng.normal(size=n_rows)
        if kind == "m":
            values[rng.random(n_rows) < 0.2] = np.nan
        if kind == "f":
            values = rng.integers(0, 4, n_rows).astype(float)
        levels = {"c": 6, "l": 400}.get(kind)
        columns.append(
            values if levels is None else [f"level {k}" for k in rng.integers(0, levels, n_rows)]
        )
    table, schema = read_table([list(row) for row in zip(*columns, strict=True)])
    levels = [len(feature.levels or ()) for feature in schema.features]
    return table, _core.BinnedDataset(table, weights, levels, exact=exact)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kinds", ["nmfc", "nl", "mmm"])
def test_rows_that_are_not_learnt_from_go_where_predictions_send_them(rng, exact, kinds):
    # Their values may lie between the codes, or miss where no other row does.
    weights = rng.choice([0.0, 1.0, 2.0], 400)
    table, dataset = make_dataset(rng, 400, weights, exact, kinds)
    booster = _core.Booster(dataset, {"max_leaf_nodes": 8, "min_rows_leaf": 3}, weights)
    for seed in range(4):
        sample = (rng.random(400) < 0.7).astype(np.uint8)
        tree = booster.grow(rng.normal(size=400), rng.random(400), seed=seed, sample=sample)
        np.testing.assert_array_equal(booster.leaves(), tree.apply(table))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("weights", [None, "parts", "whole"])
@pytest.mark.parametrize("hessians", [None, "some"])
def test_every_leaf_has_enough_rows(rng, exact, weights, hessians):
    n_rows = 300
    w = None
    if weights == "parts":
        w = rng.choice([50.5, 0.9, 0.1], n_rows)
    elif weights == "whole":
        w = rng.integers(1, 4, n_rows).astype(float)
    _, dataset = make_dataset(rng, n_rows, w, exact)
    h = None if hessians is None else rng.random(n_rows) ** 4
    settings = {"max_leaf_nodes": 0, "min_rows_leaf": 15, "growth": "depth"}
    tree = _core.Booster(dataset, settings, w).grow(rng.normal(size=n_rows), h)
    arrays = tree.arrays()
    is_leaf = arrays["first_child"] == 0
    assert is_leaf.sum() > 3
    assert arrays["n_rows"][is_leaf].min() >= 15


@pytest.mark.parametrize("exact", [False, True])
def test_weights_of_a_round_replace_the_first(rng, exact):
    first = rng.integers(1, 5, 300).astype(float)
    later = rng.integers(0, 2, 300) * first
    _, dataset = make_dataset(rng, 300, first, exact)
    settings = {"max_leaf_nodes": 9, "min_rows_leaf": 7}
    booster, expected = (_core.Booster(dataset, settings, each) for each in (first, later))
    gradients, hessians = rng.normal(size=300), rng.random(300)
    booster.grow(gradients, hessians)
    booster.weigh(later)
    trees = [each.grow(gradients, hessians).arrays() for each in (booster, expected)]
    for name, values in trees[0].items():
        np.testing.assert_array_equal(values, trees[1][name], err_msg=name)
    with pytest.raises(ValueError, match="weights must be finite and not negative"):
        booster.weigh(-first)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e300])
@pytest.mark.parametrize("weight", [1.0, 1e6, 0.3])
def test_units_of_targets_and_weights_do_not_matter(rng, scale, weight):
    table, dataset = make_dataset(rng, 1000, kinds="nn")
    gradients = rng.normal(size=1000) + np.sign(dataset.codes(0) - 127.5)
    weights = np.full(1000, weight)
    tree = _core.Booster(dataset, {"max_leaf_nodes": 4}, weights).grow(gradients * scale)
    plain = _core.Booster(dataset, {"max_leaf_nodes": 4}).grow(gradients)
    np.testing.assert_array_equal(tree.apply(table), plain.apply(table))
    ours, theirs = tree.arrays()["values"], plain.arrays()["values"]
    np.testing.assert_allclose(ours / scale, theirs, rtol=1e-12)


def test_missing_values_alone_are_told_from_all_others(rng):
    values = rng.normal(size=200)
    values[:50] = np.nan
    table, _ = read_table(values.reshape(-1, 1).tolist())
    dataset = _core.BinnedDataset(table, None, [0])
    tree = _core.Booster(dataset, {"max_leaf_nodes": 2}).grow(np.r_[np.ones(50), -np.ones(150)])
    beyond, _ = read_table([[1e9], [-1e9], [np.nan]])
    assert len(set(tree.apply(beyond)[:2])) == 1
    assert tree.apply(beyond)[2] != tree.apply(beyond)[0]


def test_bounds_hold_in_inner_nodes_too(rng):
    _, dataset = make_dataset(rng, 500, kinds="nnn")
    settings = {"max_leaf_nodes": 16, "monotonic": [1, -1, 0]}
    arrays = _core.Booster(dataset, settings).grow(rng.normal(size=500)).arrays()
    first, n_nodes = arrays["first_child"], len(arrays["first_child"])
    inner = [node for node in range(n_nodes) if first[node] != 0]
    assert len(inner) > 5
    values = arrays["values"][:, 0]
    for node in inner:
        below = [values[child] for child in (first[node], first[node] + 1)]
        feature = arrays["feature_and_flags"][node] & 0xFFFFFF
        assert settings["monotonic"][feature] * (below[1] - below[0]) >= 0


@pytest.mark.parametrize(
    "call",
    [
        lambda b: b.grow(np.full(20, np.nan)),
        lambda b: b.grow(np.ones(20), -np.ones(20)),
        lambda b: b.grow(np.ones(19)),
        lambda b: b.grow(np.ones(20), learning_rate=np.nan),
        lambda b: b.with_leaf_values(b.grow(np.ones(20)), np.array([np.inf])),
        lambda b: b.grow(np.ones(20), sample=np.zeros(20, np.uint8)),
    ],
)
def test_bad_input_is_refused(rng, call):
    _, dataset = make_dataset(rng, 20, kinds="n")
    with pytest.raises(ValueError, match=r"must|no row"):
        call(_core.Booster(dataset))


def test_settings_are_checked(rng):
    _, dataset = make_dataset(rng, 20, kinds="n")
    for settings in ({"l2": -1.0}, {"min_rows_leaf": 0}, {"interactions": [[1]]}, {"colour": 1}):
        with pytest.raises(ValueError, match=r"must|interactions|unknown"):
            _core.Booster(dataset, settings)
    with pytest.raises(ValueError, match="weights"):
        _core.Booster(dataset, {}, -np.ones(20))


def test_scores_of_another_type_are_refused_instead_of_copied(rng):
    _, dataset = make_dataset(rng, 20, kinds="n")
    booster = _core.Booster(dataset)
    tree = booster.grow(rng.normal(size=20))
    with pytest.raises(TypeError):
        booster.add_to(tree, np.zeros(20, np.float32))
    with pytest.raises(TypeError):
        booster.add_to(tree, np.zeros((20, 2))[:, 0])


def test_probabilities_next_to_one_keep_their_digits():
    scores = np.asfortranarray([[0.0, -30.0, -35.0], [0.0, -38.0, -500.0]])
    gradients, hessians = np.empty_like(scores), np.empty_like(scores)
    _core.multinomial_gradients(np.array([0, 0], np.int32), scores, gradients, hessians)
    rest = np.exp([-30.0, -38.0]) + np.exp([-35.0, -500.0])
    np.testing.assert_allclose(gradients[:, 0], -rest, rtol=1e-12)
    np.testing.assert_allclose(hessians[:, 0], rest, rtol=1e-12)
