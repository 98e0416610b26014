"""The booster of the engine finds what a naive booster in float64 finds."""

import numpy as np
import pytest
from reference_booster import ReferenceBooster
from tree_tools import make_case

from committee import _core
from committee.tables.table import read_table

# Gradients and hessians are put on a grid before splits are compared, hessians on a coarse one.
NEAR = 2e-2


def boosters(case, settings, weights=None, exact=False):
    table, schema = read_table(case.table)
    levels = [len(feature.levels or ()) for feature in schema.features]
    dataset = _core.BinnedDataset(table, weights, levels, exact=exact)
    engine = _core.Booster(dataset, settings, weights)
    return engine, ReferenceBooster(case.X, settings, weights, case.categorical), table


def masks_of(tree, leaves, n_rows):
    """The rows of each node, from the leaves that rows have reached."""
    masks = [leaves == node for node in range(tree.n_nodes)]
    firsts = tree.arrays()["first_child"]
    for node in range(tree.n_nodes - 1, -1, -1):
        if firsts[node]:
            masks[node] = masks[firsts[node]] | masks[firsts[node] + 1]
    return masks


def assert_splits_are_best(engine, naive, tree, leaves, tolerance):
    """Every split of the tree is as good as the best one, and every leaf has the best step."""
    arrays = tree.arrays()
    masks = masks_of(tree, leaves, len(leaves))
    values = arrays["values"][:, 0]
    for node, mask in enumerate(masks):
        first = arrays["first_child"][node]
        np.testing.assert_allclose(values[node], naive.step(mask), rtol=1e-9, atol=1e-12)
        weight = naive.weights[mask & naive.present].sum()
        assert arrays["weight"][node] == pytest.approx(weight)
        expected = -naive.score(mask) / weight if weight > 0 else 0.0
        assert arrays["impurity"][node] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        if first:
            best, _, _ = naive.best_split(mask)
            found = naive.gain(mask, masks[first])
            assert found >= best * (1 - tolerance) - 1e-12
            feature = arrays["feature_and_flags"][node] & 0xFFFFFF
            assert naive.is_allowed(mask, masks[first], feature, (-np.inf, np.inf))


def derivatives(kind, rng, n_rows):
    gradients = rng.normal(size=n_rows)
    return gradients, None if kind == "ones" else rng.uniform(0.05, 0.25, n_rows)


SETTINGS = [
    {"max_leaf_nodes": 8},
    {"max_leaf_nodes": 8, "l2": 1.0, "min_rows_leaf": 3, "min_child_weight": 0.2},
    {"max_leaf_nodes": 8, "l1": 0.3, "l2": 0.5, "category_smoothing": 0.0},
]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("hessians", ["ones", "parts"])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("kind", ["numeric", "missing", "category", "mixed"])
def test_every_split_is_the_best_and_every_leaf_takes_the_best_step(
    kind, settings, hessians, exact, rng
):
    tolerance = 1e-6 if hessians == "ones" else NEAR
    for _ in range(5):
        case = make_case(kind, rng, 60)
        engine, naive, table = boosters(case, settings, exact=exact)
        pair = derivatives(hessians, rng, 60)
        tree = engine.grow(*pair)
        naive.start(*pair)
        assert_splits_are_best(engine, naive, tree, engine.leaves(), tolerance)
        np.testing.assert_array_equal(engine.leaves(), tree.apply(table))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("weights", ["whole", "parts", "zeros"])
def test_weights_and_samples_count_as_in_the_naive_booster(weights, exact, rng):
    case = make_case("mixed", rng, 60)
    weight = {
        "whole": rng.integers(0, 4, 60).astype(float),
        "parts": rng.uniform(0.5, 2, 60),
        "zeros": (rng.random(60) < 0.7).astype(float),
    }[weights]
    settings = {"max_leaf_nodes": 6, "min_rows_leaf": 4, "l2": 1.0}
    engine, naive, _ = boosters(case, settings, weight, exact)
    gradients, _ = derivatives("ones", rng, 60)
    sample = (rng.random(60) < 0.8).astype(np.uint8)
    tree = engine.grow(gradients, None, sample=sample)
    naive.start(gradients, None, sample)
    assert_splits_are_best(engine, naive, tree, engine.leaves(), NEAR)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kind", ["numeric", "missing", "category", "mixed", "wide"])
@pytest.mark.parametrize("n_rows", [30, 80])
def test_rows_that_add_nothing_count_as_rows_of_their_side(n_rows, kind, exact, rng):
    # As rows with confident scores do: their derivatives are zero on the grid.
    settings = {"max_leaf_nodes": 4, "min_rows_leaf": 6, "l2": 0.1}
    n_split = 0
    for _ in range(12):
        case = make_case("missing" if kind == "wide" else kind, rng, n_rows)
        if kind == "wide":
            case.X[:] += rng.random(case.X.shape)
        engine, naive, table = boosters(case, settings, exact=exact)
        gradients, hessians = derivatives("parts", rng, n_rows)
        rest = rng.random(n_rows) < 0.7
        gradients[rest], hessians[rest] = 0.0, 0.0
        tree = engine.grow(gradients, hessians)
        naive.start(gradients, hessians)
        assert_splits_are_best(engine, naive, tree, engine.leaves(), NEAR)
        if tree.n_nodes == 1:
            best, _, _ = naive.best_split(np.ones(n_rows, bool))
            assert best == pytest.approx(0.0, abs=1e-9)
        n_split += tree.n_nodes > 1
        np.testing.assert_array_equal(engine.leaves(), tree.apply(table))
    assert n_split > 5


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("growth", ["best", "level", "depth"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"max_depth": 2, "max_leaf_nodes": 0},
        {"monotonic": [1, -1, 0]},
        {"interactions": [[0, 1], [2]]},
        {"min_gain": 1.5},
    ],
    ids=lambda more: "-".join(more) or "plain",
)
def test_whole_trees_are_those_of_the_naive_booster(growth, more, exact, rng):
    for _ in range(5):
        case = make_case("numeric", rng, 50)
        settings = {"max_leaf_nodes": 6, "growth": growth, "min_rows_leaf": 2, "l2": 0.1, **more}
        engine, naive, table = boosters(case, settings, exact=exact)
        gradients = rng.normal(size=50)
        ours = engine.grow(gradients, learning_rate=0.3)
        theirs = naive.grow(gradients, learning_rate=0.3)
        ours_say, theirs_say = np.zeros(50), np.zeros(50)
        engine.add_to(ours, ours_say)
        naive.add_to(theirs, theirs_say)
        np.testing.assert_allclose(ours_say, theirs_say, rtol=1e-9)
        np.testing.assert_allclose(theirs.predict(table)[:, 0], theirs_say)


def test_the_naive_booster_writes_trees_that_route_rows_as_it_does(rng):
    for kind in ("missing", "category", "mixed"):
        case = make_case(kind, rng, 60)
        _, naive, table = boosters(case, {"max_leaf_nodes": 9})
        tree = naive.grow(rng.normal(size=60))
        np.testing.assert_array_equal(tree.apply(table), naive.leaves())
        predicted = np.zeros(60)
        naive.add_to(naive.with_leaf_values(tree, np.arange(float(tree.n_nodes))), predicted)
        np.testing.assert_array_equal(predicted, naive.leaves())
