"""What every tree promises, whatever the data: checked without a second implementation."""

import pickle

import numpy as np
import pandas as pd
import pytest
from reference import CLASSIFICATION, REGRESSION
from sklearn.base import clone
from tree_tools import (
    assert_same_nodes,
    child_lists,
    leaf_partition,
    make_case,
    make_target,
    make_tree,
    make_weight,
)

import committee

CRITERIA = (*CLASSIFICATION, *REGRESSION)
SEARCHES = ("exact", "hist")


def many_valued_frame(rng, n_rows=600):
    """Numbers with more distinct values than bins, missing values, and categories."""
    frame = pd.DataFrame(
        {
            "smooth": rng.normal(size=n_rows),
            "skewed": np.exp(3 * rng.normal(size=n_rows)),
            "coarse": rng.integers(0, 9, n_rows).astype(float),
            "level": pd.Categorical.from_codes(rng.integers(0, 7, n_rows), list("abcdefg")),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "smooth"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "level"] = np.nan
    return frame


def planted_target(criterion, frame, rng):
    """A target that depends on the columns, so that deep trees have something to find."""
    score = frame["smooth"].fillna(0.5) + 0.3 * frame["coarse"] + frame["level"].cat.codes % 3
    noisy = score.to_numpy() + rng.normal(size=len(frame))
    if criterion in CLASSIFICATION:
        return np.digitize(noisy, np.quantile(noisy, [0.3, 0.7]))
    return np.exp(noisy / 2)


# --- threads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_model_is_the_same_for_any_number_of_threads(criterion, search, rng):
    frame = many_valued_frame(rng, 30_000)
    y = planted_target(criterion, frame, rng)
    weight = rng.uniform(0.5, 2.0, len(y))
    depth = 6 if criterion == "absolute_error" else 12
    models = [
        make_tree(criterion, max_depth=depth, split_finding=search, n_jobs=n_jobs).fit(
            frame, y, sample_weight=weight
        )
        for n_jobs in (1, 2, 3)
    ]
    for other in models[1:]:
        assert_same_nodes(models[0], other)
        assert np.array_equal(models[0].predict(frame), other.predict(frame))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("params", [{"max_leaf_nodes": 200}, {"splitter": "random"}, {}], ids=str)
def test_full_growth_is_the_same_for_any_number_of_threads(params, search, rng):
    X = rng.normal(size=(30_000, 5)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=len(X)) > 0).astype(int)
    models = [
        make_tree("gini", split_finding=search, n_jobs=n, random_state=3, **params).fit(X, y)
        for n in (1, 2, 3)
    ]
    assert_same_nodes(models[0], models[1])
    assert_same_nodes(models[0], models[2])


def test_feature_draws_do_not_depend_on_threads(rng):
    X = rng.normal(size=(30_000, 8))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=len(X))
    models = [
        make_tree("squared_error", max_features=3, max_depth=8, random_state=1, n_jobs=n).fit(X, y)
        for n in (1, 2, 3)
    ]
    assert_same_nodes(models[0], models[1])
    assert_same_nodes(models[0], models[2])


# --- weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 7}, {"max_leaf_nodes": 20}], ids=str)
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_weight_zero_is_absent_and_weight_two_is_twice(criterion, search, limits, rng):
    frame = many_valued_frame(rng)
    y = planted_target(criterion, frame, rng)
    weight = rng.integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    params = {"split_finding": search, "min_samples_split": 5, **limits}
    weighted = make_tree(criterion, **params).fit(frame, y, sample_weight=weight)
    copied = make_tree(criterion, **params).fit(frame.iloc[repeated], y[repeated])
    assert_same_nodes(weighted, copied, rtol=1e-12)  # values: the order of float sums may differ
    assert np.array_equal(weighted.apply(frame), copied.apply(frame))


@pytest.mark.parametrize("category_split", ["subset", "fanout"])
@pytest.mark.parametrize("search", SEARCHES)
def test_a_level_of_weight_zero_rows_is_unseen(search, category_split, rng):
    levels = rng.choice(["north", "south", "east"], 90).astype(object)
    levels[:9] = "west"
    frame = pd.DataFrame({"side": levels, "size": rng.normal(size=90)})
    y = (frame["side"] == "north") * 3.0 + frame["size"] + (frame["side"] == "west") * 100
    weight = np.where(levels == "west", 0.0, 1.0)
    params = {"split_finding": search, "category_split": category_split}
    weighted = make_tree("squared_error", **params).fit(frame, y, sample_weight=weight)
    absent = make_tree("squared_error", **params).fit(frame[9:], y[9:])
    assert np.array_equal(weighted.predict(frame), absent.predict(frame))


@pytest.mark.parametrize("search", SEARCHES)
def test_values_of_weight_zero_rows_do_not_move_thresholds(search, rng):
    X = rng.normal(size=(700, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    ghosts = np.concatenate([X, rng.normal(size=(500, 2)) * 100, [[1e300, np.inf]]])
    y_ghosts = np.concatenate([y, np.full(501, 1e12)])
    weight = np.concatenate([np.ones(700), np.zeros(501)])
    plain = make_tree("squared_error", split_finding=search).fit(X, y)
    haunted = make_tree("squared_error", split_finding=search)
    haunted.fit(ghosts, y_ghosts, sample_weight=weight)
    assert_same_nodes(plain, haunted)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_scaling_all_weights_by_a_power_of_two_changes_nothing_but_the_weights(criterion, rng):
    frame = many_valued_frame(rng)
    y, weight = planted_target(criterion, frame, rng), rng.uniform(0.1, 1, 600)
    small = make_tree(criterion).fit(frame, y, sample_weight=weight)
    large = make_tree(criterion).fit(frame, y, sample_weight=weight * 2.0**40)
    fields = ("feature", "threshold", "children_left", "children_right", "impurity", "value")
    assert_same_nodes(small, large, fields=fields)


def test_class_weights_are_weights_of_the_rows(rng):
    case = make_case("mixed", rng, 80)
    y = make_target("gini", rng, 80, n_classes=3)
    by_class = {0: 1.5, 1: 0.25, 2: 3.0}
    weight = rng.uniform(0.5, 2, 80)
    a = make_tree("gini", class_weight=by_class).fit(case.table, y, sample_weight=weight)
    rows = weight * np.array([by_class[label] for label in y])
    b = make_tree("gini").fit(case.table, y, sample_weight=rows)
    assert_same_nodes(a, b)


def test_balanced_class_weights_make_the_root_uniform(rng):
    y = np.repeat([0, 1, 2], [5, 20, 75])
    model = make_tree("gini", class_weight="balanced").fit(rng.normal(size=(100, 2)), y)
    np.testing.assert_allclose(model.tree_.value[0], [[1 / 3] * 3], rtol=1e-12)


# --- search -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_binned_search_equals_exact_search_when_each_value_has_its_bin(criterion, weights, rng):
    X = rng.integers(-120, 120, size=(400, 3)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = make_target(criterion, rng, 400, n_classes=3)
    weight = make_weight(weights, rng, 400)
    exact, hist = (
        make_tree(criterion, split_finding=search).fit(X, y, sample_weight=weight)
        for search in SEARCHES
    )
    # Thresholds may lie at other places between the same two neighbours.
    fields = ("feature", "n_node_samples", "impurity", "value", "children_left", "children_right")
    assert_same_nodes(exact, hist, fields=fields)
    seen = X if weight is None else X[weight > 0]
    assert np.array_equal(exact.apply(seen), hist.apply(seen))


@pytest.mark.parametrize(
    "transform", [np.exp, np.cbrt, lambda x: 1e-30 * x**3], ids=["exp", "cbrt", "tiny cube"]
)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_monotone_transform_of_a_feature_leaves_the_exact_partition_unchanged(
    criterion, transform, rng
):
    X = rng.normal(size=(150, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = make_target(criterion, rng, 150)
    moved = np.column_stack([transform(X[:, 0]), X[:, 1], transform(X[:, 2] / 10)])
    a = make_tree(criterion, split_finding="exact").fit(X, y)
    b = make_tree(criterion, split_finding="exact").fit(moved, y)
    assert np.array_equal(a.apply(X), b.apply(moved))


@pytest.mark.parametrize("search", SEARCHES)
def test_constant_and_all_missing_features_never_split(search, rng):
    X = np.column_stack([np.full(60, 2.5), np.full(60, np.nan), rng.normal(size=60)])
    model = make_tree("squared_error", split_finding=search).fit(X, rng.normal(size=60))
    inner = model.tree_.children_left >= 0
    assert inner.any()
    assert set(model.tree_.feature[inner]) == {2}
    assert model.feature_importances_.tolist() == [0, 0, 1]


@pytest.mark.parametrize("search", SEARCHES)
def test_few_bins_still_cut_where_most_rows_are(search, rng):
    # A large part of the rows shares one value; the rest must still get bins of their own.
    x = np.where(rng.random(5000) < 0.9, 0.0, rng.normal(size=5000))
    y = (x > 0.5).astype(float)
    model = make_tree("squared_error", split_finding=search, max_bins=64).fit(x[:, None], y)
    assert np.mean((model.predict(x[:, None]) - y) ** 2) < 0.001


# --- thresholds -------------------------------------------------------------------------------

TINY = 5e-324
HUGE = 1.7e308
AWKWARD = {
    "neighbours": [1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), 1e16, 1e16 + 2, -1.0],
    "subnormals": [0.0, TINY, 2 * TINY, 3 * TINY, -TINY, -2 * TINY, 2.2250738585072014e-308],
    "huge": [HUGE, -HUGE, 1e308, -1e308, np.nextafter(HUGE, 0), 0.0, 1.7976931348623157e308],
    "infinite": [np.inf, -np.inf, HUGE, -HUGE, 0.0, 1.0],
    "signs": [-1.0, 1.0, 0.5, -0.5, TINY, -TINY],
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("values", AWKWARD.values(), ids=AWKWARD)
def test_awkward_neighbours_are_kept_apart(values, search, rng):
    x = rng.permutation(np.repeat(values, 3))[:, None]
    y = np.searchsorted(np.sort(values), x[:, 0]) ** 2 * 1.0
    model = make_tree("squared_error", split_finding=search).fit(x, y)
    assert np.array_equal(model.predict(x), y)
    assert model.get_n_leaves() == len(values)
    assert_rows_reach_their_leaf(model, x)


@pytest.mark.parametrize("search", SEARCHES)
def test_minus_zero_is_zero(search):
    x = np.array([[-0.0], [0.0], [-0.0], [0.0], [1.0]])
    y = np.array([0.0, 1.0, 0.0, 1.0, 5.0])
    model = make_tree("squared_error", split_finding=search).fit(x, y)
    assert model.predict(x).tolist() == [0.5, 0.5, 0.5, 0.5, 5.0]


@pytest.mark.parametrize("search", SEARCHES)
def test_float32_neighbours_are_kept_apart(search, rng):
    start = rng.normal(size=20).astype(np.float32)
    x = np.concatenate([start, np.nextafter(start, np.float32(np.inf))])[:, None]
    y = rng.normal(size=40)
    model = make_tree("squared_error", split_finding=search).fit(x, y)
    assert np.array_equal(model.predict(x), y)
    assert np.array_equal(model.predict(x.astype(np.float64)), y)
    wide = make_tree("squared_error", split_finding=search).fit(x.astype(np.float64), y)
    assert_same_nodes(model, wide)


BIG = 2**53


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_integers_beyond_2_to_53_stay_distinct_in_exact_search(container):
    x = np.array([BIG, BIG + 1, BIG + 2, BIG + 3, -BIG - 1, -BIG - 2, 2**63 - 1, 2**63 - 2])
    y = np.arange(8.0) ** 2
    table = container(x[:, None])
    if isinstance(table, pd.DataFrame):
        table.columns = ["big"]
    model = make_tree("squared_error", split_finding="exact").fit(table, y)
    assert np.array_equal(model.predict(table), y)
    assert_rows_reach_their_leaf(model, table)


def test_nullable_integers_beyond_2_to_53_stay_distinct_in_exact_search():
    frame = pd.DataFrame({"big": pd.array([BIG, BIG + 1, BIG + 2, None], dtype="Int64")})
    y = np.array([1.0, 5.0, 2.0, 9.0])
    model = make_tree("squared_error", split_finding="exact").fit(frame, y)
    assert np.array_equal(model.predict(frame), y)


def assert_rows_reach_their_leaf(model, table):
    """Counting the rows of each leaf by `apply` gives what training counted."""
    leaves, counts = np.unique(model.apply(table), return_counts=True)
    assert np.array_equal(model.tree_.n_node_samples[leaves], counts)
    assert len(leaves) == model.get_n_leaves()


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    "container",
    [
        lambda X: X,
        lambda X: X.astype(np.float32),
        lambda X: np.asfortranarray(X.astype(np.float32)),
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: (X * 50).astype(np.int64),
        lambda X: (X * 50).astype(np.int8),
        lambda X: pd.DataFrame(X.astype(np.float32), columns=["a", "b", "c"]),
        lambda X: X.tolist(),
    ],
    ids=["float64", "float32", "fortran", "strided", "int64", "int8", "frame", "lists"],
)
def test_training_rows_reach_their_training_leaf(container, search, rng):
    X = rng.normal(size=(1000, 3)) * 3
    table = container(np.clip(X, -2.5, 2.5))
    model = make_tree("squared_error", split_finding=search).fit(table, rng.normal(size=1000))
    assert_rows_reach_their_leaf(model, table)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_rows_of_mixed_tables_reach_their_training_leaf(criterion, search, rng):
    frame = many_valued_frame(rng)
    model = make_tree(criterion, split_finding=search)
    model.fit(frame, planted_target(criterion, frame, rng))
    assert_rows_reach_their_leaf(model, frame)


# --- nodes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_children_sum_to_their_parent(criterion, search, rng):
    frame = many_valued_frame(rng)
    y, weight = planted_target(criterion, frame, rng), rng.uniform(0.1, 2, 600)
    model = make_tree(criterion, split_finding=search, category_split="fanout")
    model.fit(frame, y, sample_weight=weight)
    tree = model.tree_
    for node, children in enumerate(child_lists(model, frame)):
        if not children:
            continue
        assert tree.n_node_samples[node] == tree.n_node_samples[children].sum()
        parts = tree.weighted_n_node_samples[children]
        np.testing.assert_allclose(parts.sum(), tree.weighted_n_node_samples[node], rtol=1e-12)
        # A split never makes the mean impurity worse; rounding may.
        assert parts @ tree.impurity[children] / parts.sum() <= tree.impurity[node] * (1 + 1e-9)
        if criterion != "absolute_error":
            mean = np.tensordot(parts, tree.value[children], axes=1) / parts.sum()
            np.testing.assert_allclose(mean, tree.value[node], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_probabilities_sum_to_one(criterion, rng):
    frame = many_valued_frame(rng)
    y = planted_target(criterion, frame, rng)
    model = make_tree(criterion, max_depth=4).fit(frame, y, sample_weight=rng.uniform(0, 1, 600))
    probability = model.predict_proba(frame)
    assert probability.dtype == np.float64
    assert probability.min() >= 0
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-15 * 4)
    assert np.array_equal(model.predict(frame), model.classes_[probability.argmax(axis=1)])
    with np.errstate(divide="ignore"):
        assert np.array_equal(model.predict_log_proba(frame), np.log(probability))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("n_splits", [1, 2, 5, 31])
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_max_leaf_nodes_of_d_plus_one_makes_exactly_d_splits(criterion, n_splits, search, rng):
    frame = many_valued_frame(rng)
    y = planted_target(criterion, frame, rng)
    model = make_tree(criterion, split_finding=search, max_leaf_nodes=n_splits + 1).fit(frame, y)
    assert model.get_n_leaves() == n_splits + 1
    assert np.count_nonzero(model.tree_.children_left >= 0) == n_splits
    assert model.tree_.node_count == 2 * n_splits + 1


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_best_first_growth_to_the_end_equals_depth_first(criterion, search, rng):
    frame = many_valued_frame(rng)
    y = planted_target(criterion, frame, rng)
    deep = make_tree(criterion, split_finding=search, min_samples_leaf=3).fit(frame, y)
    best = make_tree(criterion, split_finding=search, min_samples_leaf=3, max_leaf_nodes=10_000)
    best.fit(frame, y)
    assert leaf_partition(deep.apply(frame)) == leaf_partition(best.apply(frame))
    assert np.array_equal(deep.predict(frame), best.predict(frame))
    assert deep.get_depth() == best.get_depth()


def test_fan_out_keeps_to_max_leaf_nodes(rng):
    frame = many_valued_frame(rng)
    y = planted_target("gini", frame, rng)
    for limit in (2, 5, 8, 20):
        model = make_tree("gini", category_split="fanout", max_leaf_nodes=limit).fit(frame, y)
        assert 1 <= model.get_n_leaves() <= limit


def test_fan_out_children_are_as_large_as_min_samples_leaf(rng):
    frame = many_valued_frame(rng)
    y = planted_target("gini", frame, rng)
    model = make_tree("gini", category_split="fanout", min_samples_leaf=20).fit(frame, y)
    assert model.get_n_leaves() > 2
    assert model.tree_.n_node_samples.min() >= 20


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("growth", [{"max_depth": 6}, {"max_leaf_nodes": 40}, {}], ids=str)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_monotonic_constraints_hold_everywhere(criterion, growth, search, rng):
    X = rng.uniform(-1, 1, size=(400, 3))
    signal = np.sin(4 * X[:, 0]) + np.cos(5 * X[:, 1]) + X[:, 2] + 0.3 * rng.normal(size=400)
    y = (signal > 0.5).astype(int) if criterion in CLASSIFICATION else np.exp(signal)
    model = make_tree(criterion, split_finding=search, monotonic_cst=[1, -1, 0], **growth)
    model.fit(X, y)
    assert model.get_n_leaves() > 2
    steps = np.linspace(-1.2, 1.2, 121)
    for base in X[:25]:
        for feature, sign in ((0, 1), (1, -1)):
            line = np.tile(base, (len(steps), 1))
            line[:, feature] = steps
            if criterion in CLASSIFICATION:
                curve = model.predict_proba(line)[:, 1]
            else:
                curve = model.predict(line)
            assert np.all(sign * np.diff(curve) >= 0)


# --- pruning ----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_pruning_path_rises_and_gives_nested_trees(criterion, rng):
    frame = many_valued_frame(rng, 150)
    y = planted_target(criterion, frame, rng)
    path = make_tree(criterion).cost_complexity_pruning_path(frame, y)
    assert path.ccp_alphas[0] == 0
    assert np.all(np.diff(path.ccp_alphas) >= 0)
    assert np.all(np.diff(path.impurities) >= -1e-12)
    finer = make_tree(criterion).fit(frame, y).apply(frame)
    n_leaves = len(np.unique(finer))
    for alpha in path.ccp_alphas[:: max(1, len(path.ccp_alphas) // 6)]:
        pruned = make_tree(criterion, ccp_alpha=alpha).fit(frame, y)
        coarser = pruned.apply(frame)
        # Nested: rows of one finer leaf share a coarser leaf.
        assert len(set(zip(finer, coarser, strict=True))) == len(np.unique(finer))
        assert pruned.get_n_leaves() <= n_leaves
        n_leaves, finer = pruned.get_n_leaves(), coarser
    stump = make_tree(criterion, ccp_alpha=path.ccp_alphas[-1] * 1.01).fit(frame, y)
    assert stump.get_n_leaves() == 1


def test_pruning_works_with_fan_out(rng):
    frame = many_valued_frame(rng, 200)
    y = planted_target("gini", frame, rng)
    path = make_tree("gini", category_split="fanout").cost_complexity_pruning_path(frame, y)
    sizes = [
        make_tree("gini", category_split="fanout", ccp_alpha=alpha).fit(frame, y).get_n_leaves()
        for alpha in path.ccp_alphas[::5]
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


# --- missing values and levels ----------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("side", [0.0, 1.0])
def test_missing_values_go_to_the_better_side(side, search):
    x = np.array([1.0, 2.0, 3.0, 4.0, np.nan, np.nan])[:, None]
    y = np.array([0.0, 0.0, 1.0, 1.0, side, side])
    model = make_tree("squared_error", split_finding=search).fit(x, y)
    assert model.get_n_leaves() == 2
    assert np.array_equal(model.predict(x), y)


@pytest.mark.parametrize("search", SEARCHES)
def test_missing_against_the_rest_is_a_split(search):
    x = np.array([1.0, 2.0, 3.0, np.nan, np.nan])[:, None]
    y = np.array([0, 0, 0, 1, 1])
    model = make_tree("gini", split_finding=search).fit(x, y)
    assert model.get_n_leaves() == 2
    assert model.predict(x).tolist() == y.tolist()
    assert model.predict([[np.inf], [-np.inf]]).tolist() == [0, 0]


@pytest.mark.parametrize("side", ["left", "right"])
def test_missing_values_never_seen_in_training_follow_the_larger_child(side):
    x = np.arange(10.0)[:, None]
    y = (x[:, 0] >= (7 if side == "left" else 3)).astype(float)
    model = make_tree("squared_error").fit(x, y)
    assert model.predict([[np.nan]]).tolist() == [0.0 if side == "left" else 1.0]


@pytest.mark.parametrize("category_split", ["subset", "fanout"])
def test_unseen_levels_and_missing_ones_take_the_default_child(category_split):
    frame = pd.DataFrame({"c": ["a"] * 6 + ["b"] * 3 + ["d"] * 2})
    y = np.repeat([1.0, 5.0, 9.0], [6, 3, 2])
    model = make_tree("squared_error", category_split=category_split).fit(frame, y)
    assert np.array_equal(model.predict(frame), y)
    new = model.predict(pd.DataFrame({"c": ["zebra", None, "a"]}))
    assert new.tolist() == [1.0, 1.0, 1.0]  # the largest child at each node


def test_unseen_levels_follow_missing_ones_seen_in_training():
    frame = pd.DataFrame({"c": ["a"] * 6 + ["b"] * 3 + [None] * 2})
    y = np.repeat([1.0, 5.0, 5.0], [6, 3, 2])
    model = make_tree("squared_error").fit(frame, y)
    assert model.predict(pd.DataFrame({"c": ["zebra", None]})).tolist() == [5.0, 5.0]


def test_reordered_columns_are_matched_by_name(rng):
    frame = many_valued_frame(rng)
    y = planted_target("gini", frame, rng)
    model = make_tree("gini").fit(frame, y)
    shuffled = frame[["level", "coarse", "smooth", "skewed"]]
    assert np.array_equal(model.apply(frame), model.apply(shuffled))


# --- the object -------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize(
    "bad", [{"max_depth": 0}, {"criterion": "none"}, {"n_jobs": 0}, {"monotonic_cst": [3]}], ids=str
)
def test_a_failed_fit_leaves_the_model_as_it_was(criterion, bad, rng):
    frame = many_valued_frame(rng)
    y = planted_target(criterion, frame, rng)
    model = make_tree(criterion, max_depth=5).fit(frame, y)
    before, attributes = model.apply(frame), set(vars(model))
    kept = model.get_params()
    model.set_params(**bad)
    with pytest.raises((TypeError, ValueError)):
        model.fit(frame.iloc[:300, :2], y[:300])
    model.set_params(**kept)
    assert np.array_equal(model.apply(frame), before)
    assert set(vars(model)) == attributes
    assert model.n_features_in_ == 4


def test_a_fit_that_fails_on_its_data_leaves_the_model_as_it_was(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    model = make_tree("squared_error").fit(X, y)
    before = model.predict(X)
    for bad_X, bad_y in (
        (X[:, :2], np.full(50, np.nan)),
        (X[:, :2], y[:10]),
        (X[:0], y[:0]),
        (np.zeros((50, 0)), y),
    ):
        with pytest.raises(ValueError, match=r"\S"):
            model.fit(bad_X, bad_y)
        assert np.array_equal(model.predict(X), before)
        assert model.n_features_in_ == 3


@pytest.mark.parametrize("category_split", ["subset", "fanout"])
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_pickle_and_save_round_trips_predict_the_same_bits(
    criterion, category_split, rng, tmp_path
):
    frame = many_valued_frame(rng)
    y = planted_target(criterion, frame, rng)
    model = make_tree(criterion, category_split=category_split).fit(frame, y)
    path = tmp_path / "model.committee"
    committee.save(model, path)
    for other in (pickle.loads(pickle.dumps(model)), committee.load(path)):
        assert type(other) is type(model)
        assert other.get_params() == model.get_params()
        assert np.array_equal(other.predict(frame), model.predict(frame))
        assert np.array_equal(other.apply(frame), model.apply(frame))
        assert_same_nodes(model, other)
        assert other.feature_names_in_.tolist() == list(frame.columns)
        if criterion == "gini":
            assert np.array_equal(other.predict_proba(frame), model.predict_proba(frame))


def test_a_clone_fitted_again_is_the_same_model(rng):
    frame = many_valued_frame(rng)
    y = planted_target("gini", frame, rng)
    model = make_tree("gini", max_features=2, random_state=11).fit(frame, y)
    again = clone(model)
    assert not hasattr(again, "tree_")
    assert_same_nodes(model, again.fit(frame, y))


def test_fitting_twice_gives_the_same_model(rng):
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    model = make_tree("squared_error", random_state=0)
    first = pickle.loads(pickle.dumps(model.fit(X, y)))
    assert_same_nodes(first, model.fit(X, y))


def test_fit_does_not_change_its_input(rng):
    frame = many_valued_frame(rng)
    y, weight = planted_target("poisson", frame, rng), rng.uniform(0, 2, 600)
    copies = frame.copy(deep=True), y.copy(), weight.copy()
    make_tree("poisson").fit(frame, y, sample_weight=weight).predict(frame)
    pd.testing.assert_frame_equal(frame, copies[0])
    assert np.array_equal(y, copies[1])
    assert np.array_equal(weight, copies[2])


# --- random draws -----------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("params", [{"max_features": 1}, {"splitter": "random"}], ids=str)
def test_random_state_decides_the_draws(params, search, rng):
    X = rng.normal(size=(400, 6))
    y = X @ rng.normal(size=6) + rng.normal(size=400)
    models = [
        make_tree("squared_error", split_finding=search, random_state=s, **params).fit(X, y)
        for s in (0, 0, 1)
    ]
    assert_same_nodes(models[0], models[1])
    assert not np.array_equal(models[0].tree_.feature[:5], models[2].tree_.feature[:5]) or (
        not np.array_equal(models[0].tree_.threshold[:5], models[2].tree_.threshold[:5])
    )
    state = np.random.RandomState(5)
    model = make_tree("squared_error", random_state=state, **params).fit(X, y)
    assert model.get_n_leaves() > 10


@pytest.mark.parametrize("search", SEARCHES)
def test_random_thresholds_lie_inside_the_range_of_their_node(search, rng):
    X = rng.normal(size=(400, 4))
    X[:, 3] = np.round(X[:, 3])
    y = X[:, 0] + rng.normal(size=400)
    model = make_tree("squared_error", splitter="random", split_finding=search, random_state=0)
    model.fit(X, y)
    masks = model.decision_path(X).toarray().astype(bool).T
    for node in np.flatnonzero(model.tree_.children_left >= 0):
        values = X[masks[node], model.tree_.feature[node]]
        assert values.min() <= model.tree_.threshold[node] < values.max()
    assert_rows_reach_their_leaf(model, X)


def test_random_thresholds_are_spread_over_the_range():
    x = np.linspace(0.0, 1.0, 1001)[:, None]
    thresholds = [
        make_tree("squared_error", splitter="random", max_depth=1, random_state=s)
        .fit(x, x[:, 0])
        .tree_.threshold[0]
        for s in range(200)
    ]
    # Uniform in (0, 1): mean 1/2 with a standard error of 0.02, a quarter below 1/4.
    assert abs(np.mean(thresholds) - 0.5) < 0.08
    assert 0.1 < np.mean(np.array(thresholds) < 0.25) < 0.4


def test_max_features_draws_afresh_at_each_node_and_every_feature_gets_its_turn(rng):
    X = rng.normal(size=(500, 10))
    model = make_tree("squared_error", max_features=1, random_state=0).fit(X, rng.normal(size=500))
    used = np.bincount(model.tree_.feature[model.tree_.children_left >= 0], minlength=10)
    assert used.min() > 0.4 * used.mean()


def test_max_features_looks_further_when_the_drawn_features_are_constant(rng):
    X = np.column_stack([np.zeros((60, 9)), np.arange(60.0)])
    y = np.arange(60) % 2
    model = make_tree("gini", max_features=1, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("seed", range(8))
def test_a_row_that_counts_twice_is_that_row_twice_also_with_class_weights(seed):
    # Ties abound on so few values: a rounding of one sum that is not the double of the other's
    # would break them differently.
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (60, 5)).astype(float), rng.integers(0, 3, 60)
    counts = rng.integers(1, 4, 60)
    class_weight = {0: 0.1, 1: 1 / 3, 2: np.pi}
    tree = committee.DecisionTreeClassifier(class_weight=class_weight)
    weighted = clone(tree).fit(X, y, counts)
    repeated = clone(tree).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.tree_.feature.tolist() == repeated.tree_.feature.tolist()
    assert weighted.tree_.threshold.tolist() == repeated.tree_.threshold.tolist()
