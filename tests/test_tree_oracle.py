"""Fitted trees against the naive oracle that tries every partition of every node.

Ties may be broken either way, so the tests compare what is unique: the gain of each split and
the statistics of each node. Tables have few distinct values, so that binned search sees
each of them and must find the best split too.
"""

import numpy as np
import pytest
from reference import CLASSIFICATION, REGRESSION, Limits, NaiveTree
from tree_tools import (
    Case,
    assert_every_split_is_best,
    assert_nodes_hold_what_their_rows_say,
    leaf_partition,
    make_case,
    make_target,
    make_tree,
    make_weight,
)

from committee import DecisionTreeClassifier

CRITERIA = (*CLASSIFICATION, *REGRESSION)
SEARCHES = ("exact", "hist")


def grow_both(case, y, weight, criterion, limits=None, naive_split="subset", **params):
    """The fast tree and the oracle with the same data; the oracle compares raw gains."""
    limits = limits or {}
    model = make_tree(criterion, random_state=0, level_penalty=0.0, **limits, **params)
    model.fit(case.table, y, sample_weight=weight)
    naive = NaiveTree(criterion, Limits(**limits), case.categorical, naive_split)
    return model, naive.set_data(case.X, y, weight)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
@pytest.mark.parametrize("kind", ["numeric", "missing"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_numeric_split_is_the_best_of_all(criterion, kind, weights, search, rng):
    case = make_case(kind, rng)
    y, weight = make_target(criterion, rng), make_weight(weights, rng)
    model, naive = grow_both(case, y, weight, criterion, split_finding=search)
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert_every_split_is_best(model, case, naive)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
@pytest.mark.parametrize("kind", ["category", "mixed"])
@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c != "absolute_error"])
def test_sorting_levels_finds_the_best_of_all_subsets(criterion, kind, weights, search, rng):
    # Two classes, or one target and an impurity that is concave in its mean: the best subset is
    # a prefix of the levels sorted by their mean target (Breiman et al. 1984, section 4.5).
    case = make_case(kind, rng)
    y, weight = make_target(criterion, rng), make_weight(weights, rng)
    model, naive = grow_both(case, y, weight, criterion, split_finding=search)
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert_every_split_is_best(model, case, naive)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("weights", ["none", "fractional"])
@pytest.mark.parametrize("kind", ["numeric", "missing"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_two_outputs_share_the_best_split(criterion, kind, weights, search, rng):
    case = make_case(kind, rng, 30)
    y = make_target(criterion, rng, 30, n_outputs=2, n_classes=3)
    weight = make_weight(weights, rng, 30)
    model, naive = grow_both(case, y, weight, criterion, split_finding=search)
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert_every_split_is_best(model, case, naive)


def test_outputs_may_have_different_numbers_of_classes(rng):
    case = make_case("mixed", rng)
    y = np.column_stack([make_target("gini", rng, n_classes=k) for k in (2, 5)])
    model, naive = grow_both(case, y, None, "gini")
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert [len(classes) for classes in model.classes_] == [2, 5]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_several_classes_get_the_best_split(criterion, n_classes, weights, search, rng):
    case = make_case("missing", rng)
    y, weight = make_target(criterion, rng, n_classes=n_classes), make_weight(weights, rng)
    model, naive = grow_both(case, y, weight, criterion, split_finding=search)
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert_every_split_is_best(model, case, naive)


@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_many_classes_get_the_best_split(criterion, has_missing, weights, rng):
    """More numbers would be in statistics by code than there are rows: they are not made."""
    X = rng.normal(size=(40, 3))
    X[rng.random(X.shape) < 0.2 * has_missing] = np.nan
    y, weight = np.repeat(np.arange(20), 2), make_weight(weights, rng)
    case = Case(X, X)
    model, naive = grow_both(case, y, weight, criterion, split_finding="exact")
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert_every_split_is_best(model, case, naive)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("criterion", ["gini", "error"])
def test_many_classes_are_searched_by_rows_as_by_codes(criterion, n_outputs, rng):
    """Rows are searched one after the other where squares of counts are exact, else by code."""
    X = rng.normal(size=(150, 3)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 60, (150, n_outputs))
    limits = {"min_weight_fraction_leaf": 0.02, "random_state": 0, "split_finding": "exact"}
    few = DecisionTreeClassifier(criterion=criterion, **limits).fit(X, y)
    # So many repetitions of a row that their squares are not.
    many = DecisionTreeClassifier(criterion=criterion, **limits).fit(X, y, np.full(150, 2.0**20))
    assert few.tree_.node_count > 30
    for name in ("feature", "threshold", "children_left", "missing_go_to_left"):
        np.testing.assert_array_equal(getattr(few.tree_, name), getattr(many.tree_, name))


def test_a_class_for_each_row_takes_no_cube_of_the_rows(rng):
    """Every cut is as good as any other: the tree is a chain of all rows."""
    X, y = rng.normal(size=(700, 2)), np.arange(700)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert (model.get_depth(), model.get_n_leaves()) == (699, 700)
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("kind", ["category", "mixed"])
@pytest.mark.parametrize(
    ("criterion", "n_outputs"),
    [(c, 1) for c in (*CLASSIFICATION, "absolute_error")] + [(c, 2) for c in CRITERIA],
)
def test_level_subsets_are_good_where_no_order_is_best(criterion, n_outputs, kind, search, rng):
    # Several classes, several outputs, medians: the search is a heuristic. Nodes must still tell
    # the truth, rows must not be left unsplit, and on average little gain may be given away.
    shares = []
    for _ in range(8):
        case = make_case(kind, rng)
        y = make_target(criterion, rng, n_outputs=n_outputs, n_classes=4)
        limits = {"max_depth": 1}
        model, naive = grow_both(case, y, None, criterion, limits, split_finding=search)
        assert_nodes_hold_what_their_rows_say(model, case, naive)
        root = np.ones(len(y), dtype=bool)
        leaves = model.apply(case.table)
        gain = naive.decrease(root, [leaves == leaf for leaf in np.unique(leaves)])
        shares.append(gain / naive.best_split(root)[0])
        assert shares[-1] <= 1 + 1e-9
    assert np.mean(shares) > 0.85


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("weights", ["none", "fractional"])
@pytest.mark.parametrize("kind", ["category", "mixed"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_fan_out_has_the_gain_of_one_child_a_level(criterion, kind, weights, search, rng):
    case = make_case(kind, rng)
    y, weight = make_target(criterion, rng, n_classes=3), make_weight(weights, rng)
    params = {"split_finding": search, "category_split": "fanout"}
    model, naive = grow_both(case, y, weight, criterion, None, "fanout", **params)
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert_every_split_is_best(model, case, naive)


LIMITS = [
    {"max_depth": 1},
    {"max_depth": 3},
    {"min_samples_split": 11},
    {"min_samples_leaf": 4},
    {"min_weight_fraction_leaf": 0.12},
    {"min_impurity_decrease": 0.02},
    {"min_samples_leaf": 3, "min_weight_fraction_leaf": 0.07, "max_depth": 4},
]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_the_best_split_within_the_limits_is_taken(criterion, limits, weights, search, rng):
    case = make_case("missing", rng)
    y, weight = make_target(criterion, rng), make_weight(weights, rng)
    model, naive = grow_both(case, y, weight, criterion, limits, split_finding=search)
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert_every_split_is_best(model, case, naive)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_level_subsets_within_limits_are_at_least_the_best_ordered_ones(
    criterion, weights, search, rng
):
    # A limit may forbid the best prefix of the sorted levels, and then some other subset may be
    # best: the search owes the best allowed prefix and cannot beat the best allowed subset.
    case = make_case("mixed", rng)
    y, weight = make_target(criterion, rng), make_weight(weights, rng)
    limits = {"min_samples_leaf": 4}
    model, naive = grow_both(case, y, weight, criterion, limits, split_finding=search)
    ordered = NaiveTree(criterion, Limits(**limits), case.categorical, "ordered")
    ordered.set_data(case.X, y, weight)
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    masks = model.decision_path(case.table).toarray().astype(bool).T
    assert all(naive.counts[mask].sum() >= 4 for mask in masks)
    assert_every_split_is_best(model, case, naive, at_least=ordered)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("kind", ["missing", "mixed"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
@pytest.mark.parametrize("max_leaf_nodes", [2, 5, 9])
def test_best_first_growth_takes_the_largest_decrease_first(
    criterion, kind, search, max_leaf_nodes, rng
):
    # Random fractional weights make all gains of interest different, so the leaves are unique.
    case = make_case(kind, rng)
    y, weight = make_target(criterion, rng), rng.uniform(0.5, 2.0, 40)
    limits = {"max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": 2}
    model, naive = grow_both(case, y, weight, criterion, limits, split_finding=search)
    naive.fit(case.X, y, weight)
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert model.get_n_leaves() == max_leaf_nodes
    if kind == "missing":  # limits and sorted levels: see above
        leaves = {tuple(np.flatnonzero(leaf.mask)) for leaf in naive.leaves()}
        assert leaf_partition(model.apply(case.table)) == leaves


@pytest.mark.parametrize("search", SEARCHES)
def test_one_row_tables_and_pure_targets_are_single_leaves(search, rng):
    case = make_case("numeric", rng)
    for y in (np.zeros(40), np.full(40, 0.1)):
        model = make_tree("squared_error", split_finding=search).fit(case.table, y)
        assert model.get_n_leaves() == 1
        assert np.all(model.predict(case.table) == y)
    model = make_tree("squared_error", split_finding=search).fit(case.table[:1], [3.5])
    assert model.predict(case.table[:2]).tolist() == [3.5, 3.5]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_importances_are_the_normalised_gains_of_the_oracle(criterion, rng):
    case = make_case("missing", rng)
    y, weight = make_target(criterion, rng), make_weight("fractional", rng)
    model, naive = grow_both(case, y, weight, criterion, split_finding="exact")
    gains = np.zeros(3)
    masks = model.decision_path(case.table).toarray().astype(bool).T
    left, right = model.tree_.children_left, model.tree_.children_right
    for node in np.flatnonzero(left >= 0):
        children = [masks[left[node]], masks[right[node]]]
        gains[model.tree_.feature[node]] += naive.decrease(masks[node], children)
    # A sum of up to 30 gains, each within 1e-9 of the node's weight times impurity.
    np.testing.assert_allclose(model.feature_importances_, gains / gains.sum(), rtol=1e-8)


@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c != "absolute_error"])
def test_levels_beyond_two_pay_two_impurities_of_an_average_row_each(criterion, weights, rng):
    # The root of a table with one category and one number, against the price written out here.
    n_wins = {True: 0, False: 0}
    for _ in range(16):
        n_levels = int(rng.integers(2, 8))
        category = rng.integers(0, n_levels, 40)
        number = rng.integers(0, 3, 40).astype(float)
        y, weight = make_target(criterion, rng), make_weight(weights, rng)
        table = np.empty((40, 2), dtype=object)
        table[:, 0] = [f"level {level}" for level in category]
        table[:, 1] = number
        model = make_tree(criterion, max_depth=1).fit(table, y, sample_weight=weight)
        gains = []
        for column, is_category in ((category, True), (number, False)):
            naive = NaiveTree(criterion, Limits(max_depth=1), (0,) if is_category else ())
            naive.set_data(column[:, None].astype(float), y, weight)
            everyone = np.ones(40, dtype=bool)
            gain = naive.best_split(everyone)[0]
            if is_category:
                n_rows, _, impurity, _ = naive.stats(everyone)
                n_present = len(np.unique(category[naive.weight > 0]))
                gain -= 2.0 * impurity / n_rows * (n_present - 2)
            gains.append(gain)
        category_wins = bool(gains[0] > gains[1])
        if abs(gains[0] - gains[1]) > 1e-9:
            assert model.tree_.feature[0] == (0 if category_wins else 1)
        n_wins[category_wins] += 1
    assert min(n_wins.values()) > 0  # both sides of the decision were seen
