"""Rounds of stumps in the engine: sums kept from round to round, any number of threads."""

import gc

import numpy as np
import pandas as pd
import pytest
from adaboost_engine_tools import (
    CRITERIA,
    assert_same_trees,
    boost,
    dataset_of,
    make_classes,
    split_of,
    threshold_of,
)

from committee import _core


@pytest.fixture
def levels():
    """The instruction sets of this processor; the choice is put back afterwards."""
    every = ["scalar", "avx2", "avx512"]
    _core.set_simd_level("auto")
    yield every[: every.index(_core.simd_level()) + 1]
    _core.set_simd_level("auto")


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("is_gradual", [True, False])
def test_sums_kept_from_round_to_round_are_those_added_up_anew(is_gradual, n_classes, exact, rng):
    # The long-lived booster adds differences; the fresh one has rows that never noted any.
    n_rows = 300
    levels = rng.integers(0, 400, n_rows)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "n": rng.integers(0, 30, n_rows),
            "c": pd.Categorical.from_codes(levels, [f"l{k}" for k in range(400)]),
            "d": pd.Categorical.from_codes(levels % 4, list("abcd")),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "x"] = np.nan
    y = make_classes(rng, n_rows, n_classes)
    weights = rng.integers(0, 3, n_rows).astype(float)
    _, dataset = dataset_of(frame, weights, exact)
    rows = _core.BoostedRows(y, n_classes, weights)
    booster = _core.StumpBooster(dataset, rows, level_penalty=2.0)
    history = []
    for number in range(60):
        tree, groups, shares, _ = booster.find()
        if number in (0, 1, 2, 7, 30, 59):
            fresh = _core.BoostedRows(y, n_classes, weights)
            for past in history:
                fresh.reweigh(*past)
            np.testing.assert_array_equal(rows.distribution(), fresh.distribution())
            again, same_groups, same_shares, _ = _core.StumpBooster(
                dataset, fresh, level_penalty=2.0
            ).find()
            assert_same_trees([tree.arrays()], [again.arrays()])
            np.testing.assert_array_equal(groups, same_groups)
            np.testing.assert_array_equal(shares, same_shares)
        # Some rows change, or all of them, by factors that soon spread weights very widely.
        logs = rng.normal(size=shares.shape) * 8
        if is_gradual:
            logs *= rng.random(logs.shape) < 0.4
        step = (np.array(groups), np.exp(logs), float((shares * np.exp(logs)).sum()))
        history.append(step)
        rows.reweigh(*step)
    positive = rows.distribution()[weights > 0]
    assert positive.max() / max(positive.min(), 1e-300) > 1e30


def test_several_changes_between_two_searches_are_all_noted(rng):
    X, y = rng.normal(size=(200, 3)), make_classes(rng, 200, 2)
    _, dataset = dataset_of(X, exact=False)
    rows, fresh = _core.BoostedRows(y, 2), _core.BoostedRows(y, 2)
    booster = _core.StumpBooster(dataset, rows)
    booster.find()
    for _ in range(5):
        groups = rng.integers(0, 2, 200).astype(np.uint32)
        for each in (rows, fresh):
            each.reweigh(groups, np.array([[1.0, 1.1], [0.9, 1.0]]), 1.0)
    tree, _, _, _ = booster.find()
    expected, _, _, _ = _core.StumpBooster(dataset, fresh).find()
    assert_same_trees([tree.arrays()], [expected.arrays()])
    same, _, _, _ = booster.find()
    assert_same_trees([tree.arrays()], [same.arrays()])


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stumps_are_the_trees_of_depth_one_of_the_same_weights(n_classes, criterion, exact, rng):
    X = rng.normal(size=(400, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.digitize(X[:, 0] + rng.normal(size=400), np.arange(n_classes - 1)).astype(np.int32)
    y = np.where(np.isnan(X[:, 0]), 0, y).astype(np.int32)
    weights = rng.uniform(0.5, 1.5, 400)  # no two stumps are equally good
    _, dataset = dataset_of(X, weights, exact)
    rows = _core.BoostedRows(y, n_classes, weights)
    booster = _core.StumpBooster(dataset, rows, criterion=criterion)
    for _ in range(10):
        tree, groups, shares, _ = booster.find()
        grown = _core.grow_tree(
            dataset,
            classes=y[:, None],
            n_classes=[n_classes],
            weights=rows.distribution(),
            settings={"criterion": criterion, "max_depth": 1},
        )
        assert split_of(tree) == split_of(grown)
        assert threshold_of(tree) == threshold_of(grown)
        ours, theirs = tree.arrays(), grown.arrays()
        np.testing.assert_array_equal(ours["n_rows"], theirs["n_rows"])
        # The grower puts weights on a grid of its own.
        for name in ("values", "weight", "impurity"):
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-12)
        boost(rows, groups, shares)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stumps_are_the_same_for_any_number_of_threads(n_classes, exact, rng):
    n_rows = 40_000
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    frame["b"] = frame["b"].round(1)
    frame["e"] = pd.Categorical.from_codes(
        rng.integers(0, 300, n_rows), [f"l{k}" for k in range(300)]
    )
    frame.loc[rng.random(n_rows) < 0.05, "c"] = np.nan
    y = (frame["a"] + rng.normal(size=n_rows) > 0).to_numpy().astype(np.int32)
    y[: n_rows // 3] += n_classes - 2
    _, dataset = dataset_of(frame, exact=exact)
    runs = []
    for n_threads in (1, 2, 3):
        rows = _core.BoostedRows(y, n_classes, n_threads=n_threads)
        booster = _core.StumpBooster(dataset, rows, n_threads=n_threads)
        trees = []
        for _ in range(6):
            tree, groups, shares, _ = booster.find()
            trees.append(tree.arrays() | {"groups": np.array(groups), "shares": shares})
            boost(rows, groups, shares)
        runs.append(trees)
    assert_same_trees(runs[0], runs[1])
    assert_same_trees(runs[0], runs[2])


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n_rows", [2, 3, 9, 33, 1025, 5000])
def test_every_instruction_set_finds_the_same_stumps(levels, n_rows, exact, rng):
    X = rng.normal(size=(n_rows, 4)) * [1, 1, 30, 1]
    X[:, 2] = X[:, 2].round()
    X[rng.random(n_rows) < 0.1, 3] = np.nan
    y = (X[:, 0] + rng.normal(size=n_rows) > 0).astype(np.int32)
    y[:2] = 0, 1
    _, dataset = dataset_of(X, exact=exact)
    runs = []
    for level in levels:
        _core.set_simd_level(level)
        assert _core.simd_level() == level
        rows = _core.BoostedRows(y, 2)
        booster = _core.StumpBooster(dataset, rows)
        trees = []
        for _ in range(15):
            tree, groups, shares, _ = booster.find()
            trees.append(tree.arrays() | {"groups": np.array(groups), "shares": shares})
            if boost(rows, groups, shares) == 0:
                break
        runs.append(trees)
    for other in runs[1:]:
        assert_same_trees(runs[0], other)


def test_a_booster_keeps_what_it_looks_at():
    def make():
        _, dataset = dataset_of(np.arange(50.0)[:, None])
        rows = _core.BoostedRows(np.repeat([0, 1], 25).astype(np.int32), 2)
        return _core.StumpBooster(dataset, rows)

    booster = make()
    gc.collect()
    tree, groups, _, _ = booster.find()
    del booster
    gc.collect()
    assert threshold_of(tree) == 24.5
    assert groups.tolist() == [1] * 25 + [2] * 25
    with pytest.raises(ValueError, match="read-only"):
        groups[0] = 7


def test_the_last_booster_of_rows_takes_over():
    # Changes are noted once: of two boosters each would miss those that the other has taken.
    _, dataset = dataset_of(np.arange(4.0)[:, None])
    rows = _core.BoostedRows(np.array([0, 0, 1, 1], np.int32), 2)
    first, last = (_core.StumpBooster(dataset, rows) for _ in range(2))
    with pytest.raises(RuntimeError, match="taken over"):
        first.find()
    assert last.find()[0].n_nodes == 3


def test_bad_boosters_are_refused():
    _, dataset = dataset_of(np.arange(4.0)[:, None])
    rows = _core.BoostedRows(np.array([0, 1, 0], np.int32), 2)
    with pytest.raises(ValueError, match="as many rows"):
        _core.StumpBooster(dataset, rows)
    rows = _core.BoostedRows(np.array([0, 1, 0, 1], np.int32), 2)
    with pytest.raises(ValueError, match="criterion"):
        _core.StumpBooster(dataset, rows, criterion="squared_error")
    with pytest.raises(ValueError, match="criterion"):
        _core.StumpBooster(dataset, rows, criterion="luck")
    for penalty in (-1.0, np.nan):
        with pytest.raises(ValueError, match="level_penalty"):
            _core.StumpBooster(dataset, rows, level_penalty=penalty)
