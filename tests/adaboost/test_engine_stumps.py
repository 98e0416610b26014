"""The stumps of AdaBoost in the engine, against searches made by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from adaboost_engine_tools import (
    CRITERIA,
    WEIGHTS,
    assert_same_trees,
    boost,
    dataset_of,
    make_classes,
    make_weights,
    ones,
    split_of,
    threshold_of,
)
from reference import ordered_partitions
from reference_adaboost import best_stump, class_sums, impure_weight, left_over
from tree_tools import make_case

from committee import _core

# Distributions add up to one; searches see multiples of 2^-56, and scores are doubles.
ROUNDING = 1e-13


# --- stumps ---------------------------------------------------------------------------------------


def coded(dataset):
    """The table as the engine sees it: codes, NaN where a value is missing."""
    columns = []
    for feature in range(dataset.n_features):
        codes = dataset.codes(feature).astype(float)
        n_values = dataset.n_codes(feature) - dataset.has_missing(feature)
        columns.append(np.where(codes >= n_values, np.nan, codes))
    return np.column_stack(columns)


def ordered_best(X, y, weight, criterion, categorical, n_classes):
    """What is left by the best stump if levels are put in the order of a class's share."""
    rows = weight > 0
    X, y, weight = X[rows], y[rows], weight[rows]
    best = math.inf
    for feature in categorical:
        for label in range(n_classes):
            for left, _ in ordered_partitions(X[:, feature], (y == label) * 1.0, weight):
                best = min(best, left_over(criterion, y, weight, left, n_classes))
    return best


def assert_best(tree, groups, X, y, weight, criterion, categorical=(), n_classes=2):
    """The stump leaves as little impurity as the best of all stumps."""
    best = best_stump(X, y, weight, criterion, categorical, n_classes)
    if best is None:
        assert tree.n_nodes == 1
        assert (groups == 0).all()
        return
    assert tree.n_nodes == 3
    found = left_over(criterion, y, weight, groups == 1, n_classes)
    bound = best.left_over
    if n_classes > 2 and categorical:
        # With three classes and more, not every subset of levels is tried.
        numeric = [k for k in range(X.shape[1]) if k not in categorical]
        others = best_stump(X[:, numeric], y, weight, criterion, (), n_classes)
        bound = min(
            ordered_best(X, y, weight, criterion, categorical, n_classes),
            others.left_over if others is not None else math.inf,
        )
        assert found >= best.left_over - ROUNDING
    assert found <= bound + ROUNDING


def assert_statistics(tree, groups, shares, y, distribution, counts, criterion, n_classes):
    """Values, weights, impurities and numbers of rows of the nodes are those of their rows."""
    arrays = tree.arrays()
    masks = [np.ones(len(y), bool)]
    if tree.n_nodes == 3:
        masks += [groups == 1, groups == 2]
    for node, mask in enumerate(masks):
        sums = np.array(class_sums(y, distribution, mask, n_classes))
        assert arrays["weight"][node] == pytest.approx(math.fsum(sums), rel=1e-13)
        np.testing.assert_allclose(arrays["values"][node], sums / math.fsum(sums), atol=1e-13)
        impurity = impure_weight(criterion, list(sums)) / math.fsum(sums)
        assert arrays["impurity"][node] == pytest.approx(impurity, rel=1e-9, abs=1e-12)
        assert arrays["n_rows"][node] == counts[mask].sum()
        if node > 0 or tree.n_nodes == 1:
            np.testing.assert_allclose(shares[node], sums, rtol=1e-13, atol=1e-16)
    if tree.n_nodes == 3:
        assert shares[0].tolist() == [0.0] * n_classes


def counts_of(weights, n_rows):
    weights = ones(weights, n_rows)
    if (weights == np.floor(weights)).all() and weights.sum() < 2**31:
        return weights.astype(int)
    return (weights > 0).astype(int)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", ["numeric", "missing", "category", "mixed"])
def test_every_stump_is_the_best_of_all_stumps(kind, criterion, exact, rng):
    for n_classes, weighing in zip([2, 2, 2, 3, 4, 5, 2], WEIGHTS, strict=True):
        case = make_case(kind, rng, 40)
        y = make_classes(rng, 40, n_classes)
        weights = make_weights(weighing, rng, 40)
        table, dataset = dataset_of(case.table, weights, exact)
        rows = _core.BoostedRows(y, n_classes, weights)
        booster = _core.StumpBooster(dataset, rows, criterion=criterion)
        for _ in range(3):
            tree, groups, shares, _ = booster.find()
            distribution = rows.distribution()
            assert_best(
                tree, groups, case.X, y, distribution, criterion, case.categorical, n_classes
            )
            counts = counts_of(weights, 40)
            assert_statistics(tree, groups, shares, y, distribution, counts, criterion, n_classes)
            is_counted = counts > 0
            np.testing.assert_array_equal(tree.apply(table)[is_counted], groups[is_counted])
            boost(rows, groups, shares)


@pytest.mark.parametrize("max_bins", [3, 8, 255])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_bins_are_cut_where_that_is_best(n_classes, max_bins, rng):
    X = rng.normal(size=(120, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = make_classes(rng, 120, n_classes)
    table, dataset = dataset_of(X, exact=False, max_bins=max_bins)
    assert max(dataset.n_codes(feature) for feature in range(3)) <= max_bins + 1
    rows = _core.BoostedRows(y, n_classes)
    booster = _core.StumpBooster(dataset, rows)
    for _ in range(4):
        tree, groups, shares, _ = booster.find()
        distribution = rows.distribution()
        assert_best(tree, groups, coded(dataset), y, distribution, "gini", (), n_classes)
        np.testing.assert_array_equal(tree.apply(table), groups)
        boost(rows, groups, shares)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("place", [1, 2, 700, 1022, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 2199])
def test_a_planted_cut_is_found_wherever_it_is(place, n_classes, rng):
    # Cuts are compared by the thousand and twenty-four; none may be lost between two lots.
    order = rng.permutation(2200)
    X = order[:, None].astype(float)
    y = (order >= place).astype(np.int32)
    table, dataset = dataset_of(X)
    rows = _core.BoostedRows(y, n_classes)
    tree, groups, shares, _ = _core.StumpBooster(dataset, rows).find()
    assert threshold_of(tree) == place - 0.5
    np.testing.assert_array_equal(groups, 1 + y)
    assert shares[1, 1] == shares[2, 0] == 0
    np.testing.assert_array_equal(tree.apply(table), groups)


@pytest.mark.parametrize("is_exact", [True, False])
def test_missing_values_go_where_they_belong(is_exact):
    values = [1.0, 2.0, 3.0, np.nan, np.nan]
    for y, left in (
        ([0, 0, 1, 1, 1], [1, 1, 0, 0, 0]),  # with the large values
        ([0, 1, 1, 0, 0], [1, 0, 0, 1, 1]),  # with the small ones
        ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0]),  # against all others
    ):
        table, dataset = dataset_of(np.array(values)[:, None], exact=is_exact)
        rows = _core.BoostedRows(np.array(y, np.int32), 2)
        tree, groups, _, _ = _core.StumpBooster(dataset, rows).find()
        assert (np.array(groups) == 1).astype(int).tolist() == left
        assert tree.apply(table).tolist() == groups.tolist()
    assert threshold_of(tree) == math.inf


@pytest.mark.parametrize("is_exact", [True, False])
def test_huge_integers_are_cut_exactly(is_exact):
    X = np.array([[2**60 + 1], [2**60 + 2], [2**60 + 3], [-(2**60)]])
    y = np.array([0, 0, 1, 0], np.int32)
    table, dataset = dataset_of(X, exact=is_exact)
    tree, groups, _, _ = _core.StumpBooster(dataset, _core.BoostedRows(y, 2)).find()
    assert split_of(tree)[:2] == (0, 1)
    assert threshold_of(tree) == 2**60 + 2
    assert tree.apply(table).tolist() == groups.tolist() == [1, 1, 2, 1]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_levels", [200, 300, 600])
def test_categories_of_many_levels_are_split_by_their_shares(n_levels, n_classes, rng):
    n_rows = 3 * n_levels
    levels = np.arange(n_rows) % n_levels
    y = make_classes(rng, n_rows, n_classes)
    column = pd.Categorical.from_codes(levels, [f"l{k}" for k in range(n_levels)])
    frame = pd.DataFrame({"c": column, "x": rng.normal(size=n_rows)})
    frame.loc[rng.random(n_rows) < 0.05, "c"] = None
    table, dataset = dataset_of(frame)
    weights = rng.integers(0, 3, n_rows).astype(float)
    rows = _core.BoostedRows(y, n_classes, weights)
    booster = _core.StumpBooster(dataset, rows)
    X = np.column_stack([frame["c"].cat.codes, frame["x"]]).astype(float)
    X[X[:, 0] < 0, 0] = np.nan
    for number in range(12):
        tree, groups, shares, _ = booster.find()
        np.testing.assert_array_equal(tree.apply(table)[weights > 0], groups[weights > 0])
        if number % 4 == 0:
            distribution = rows.distribution()
            best = ordered_best(X, y, distribution, "gini", (0,), n_classes)
            found = left_over("gini", y, distribution, np.array(groups) == 1, n_classes)
            assert found <= best + ROUNDING
        if boost(rows, groups, shares) == 0:
            break


def test_the_price_of_levels_lets_a_number_win(rng):
    # The category is a little better, by more levels than it is worth.
    levels = np.array([0, 1, 2, 3, 4, 5] * 10)
    y = (np.isin(levels, [0, 2, 4]) ^ (rng.random(60) < 0.3)).astype(np.int32)
    number = np.where(rng.random(60) < 0.45, 1 - y, y) + rng.random(60) / 2
    frame = pd.DataFrame({"c": pd.Categorical.from_codes(levels, list("abcdef")), "x": number})
    X = np.column_stack([levels, number])
    _, dataset = dataset_of(frame)
    rows = _core.BoostedRows(y, 2)
    impurity = impure_weight("gini", class_sums(y, rows.distribution(), y >= 0, 2))
    best = [best_stump(X[:, [k]], y, rows.distribution(), "gini", [0] * (k == 0)) for k in (0, 1)]
    gain = best[1].left_over - best[0].left_over
    assert gain > 0
    # Four levels beyond the two that any split needs, each at the impurity of an average row.
    price = gain / (4 * impurity / 60)
    for penalty, feature in ((0.0, 0), (price * 0.999, 0), (price * 1.001, 1), (1e9, 1)):
        tree, _, _, _ = _core.StumpBooster(dataset, rows, level_penalty=penalty).find()
        assert split_of(tree)[0] == feature


def test_where_nothing_can_be_split_there_is_a_leaf():
    X = np.array([[1.0, np.nan], [1.0, np.nan], [1.0, np.nan]])
    _, dataset = dataset_of(X)
    for y in ([0, 1, 0], [0, 0, 0]):
        rows = _core.BoostedRows(np.array(y, np.int32), 2)
        tree, groups, shares, _ = _core.StumpBooster(dataset, rows).find()
        assert tree.n_nodes == 1
        assert groups.tolist() == [0, 0, 0]
        np.testing.assert_allclose(shares, [[y.count(0) / 3, y.count(1) / 3]], rtol=1e-15)
    _, varied = dataset_of(np.array([[1.0], [2.0], [3.0]]))
    only = _core.BoostedRows(np.array([0, 1, 0], np.int32), 2, np.array([1.0, 0.0, 1.0]))
    assert _core.StumpBooster(varied, only).find()[0].n_nodes == 1


def test_rows_of_weight_zero_are_absent(rng):
    for exact in (True, False):
        for kind in ("numeric", "missing", "category", "mixed"):
            case = make_case(kind, rng, 60)
            y = make_classes(rng, 60, 3)
            weights = np.r_[np.ones(10), rng.integers(0, 2, 50)].astype(float)
            kept = weights > 0
            part = case.table[kept] if kind in ("numeric", "missing") else case.table.loc[kept]
            trees = []
            for table, own, given in ((case.table, y, weights), (part, y[kept], None)):
                _, dataset = dataset_of(table, given, exact)
                rows = _core.BoostedRows(own, 3, given)
                booster = _core.StumpBooster(dataset, rows)
                trees.append([])
                for _ in range(5):
                    tree, groups, shares, _ = booster.find()
                    boost(rows, groups, shares)
                    trees[-1].append(tree.arrays())
            assert_same_trees(*trees)


def test_a_row_of_weight_two_gives_the_stumps_of_the_row_twice(rng):
    for exact in (True, False):
        case = make_case("mixed", rng, 50)
        y = make_classes(rng, 50, 3)
        weights = np.r_[np.ones(10), rng.integers(0, 4, 40)].astype(float)
        repeated = np.repeat(np.arange(50), weights.astype(int))
        trees = []
        for table, own, given in (
            (case.table, y, weights),
            (case.table.iloc[repeated], y[repeated], None),
        ):
            _, dataset = dataset_of(table, given, exact)
            rows = _core.BoostedRows(own, 3, given)
            booster = _core.StumpBooster(dataset, rows, level_penalty=1.0)
            trees.append([])
            for _ in range(12):
                tree, groups, shares, _ = booster.find()
                boost(rows, groups, shares)
                trees[-1].append(tree.arrays())
        assert_same_trees(*trees)


# --- stumps: rounds -------------------------------------------------------------------------------


def test_a_side_that_weighs_next_to_nothing_keeps_its_digits():
    # The best cut leaves 0.5 and 1e-16 of 2.1 on the right: as doubles, 2.1 - 0.5 - 1.6 is noise.
    _, dataset = dataset_of(np.arange(4.0)[:, None])
    rows = _core.BoostedRows(np.array([0, 0, 1, 1], np.int32), 2, np.array([0.7, 0.9, 0.5, 1e-16]))
    _, groups, _, predicted = _core.StumpBooster(dataset, rows).find()
    assert groups.tolist() == [1, 1, 2, 2]
    assert predicted[1:].tolist() == [0, 1]


def test_nodes_predict_what_their_values_say():
    # 0.1 + 0.2 and 0.3 differ in the last digit as sums, and are the same share.
    _, dataset = dataset_of(np.array([[0.0], [0.0], [0.0], [1.0]]))
    weights = np.array([0.1, 0.2, 0.3, 1.0])
    rows = _core.BoostedRows(np.array([1, 1, 0, 0], np.int32), 2, weights)
    tree, _, _, predicted = _core.StumpBooster(dataset, rows).find()
    assert predicted.tolist() == tree.arrays()["values"].argmax(axis=1).tolist()


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-300, 1.0, 1e300, 1.7e308 / 4])
def test_weights_may_be_at_the_ends_of_the_range_of_doubles(unit):
    weights = np.array([1.0, 2.0, 1.0]) * unit
    rows = _core.BoostedRows(np.array([0, 1, 0], np.int32), 2, weights)
    assert rows.distribution().tolist() == [0.25, 0.5, 0.25]
