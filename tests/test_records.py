"""Blocks of records grow the trees that blocks of columns grow: the slow twin of fast kernels."""

import numpy as np
import pytest

from committee import _core
from committee.tables.table import read_table


@pytest.fixture(autouse=True)
def restored_simd_level():
    yield
    _core.set_simd_level("auto")


def make_dataset(rng, n_rows, kinds, max_bins=255):
    """A binned table; kinds: n(umbers), f(ew values), b(inary), m(issing), and categories:
    c(ategory), l(ong: more than a word of levels), g(aps: with missing values)."""
    columns = []
    for kind in kinds:
        values = rng.normal(size=n_rows)
        if kind == "f":
            values = rng.integers(0, 7, n_rows).astype(float)
        elif kind == "b":
            values = (rng.random(n_rows) < 0.1).astype(float)
        elif kind == "m":
            values[rng.random(n_rows) < 0.2] = np.nan
        columns.append(values)
    finest = {"c": 3, "g": 4, "l": 60}

    def cell(kind, value):
        if kind not in finest:
            return value
        return None if kind == "g" and value > 1 else f"level {int(abs(value) * finest[kind])}"

    table = [[cell(kinds[j], columns[j][i]) for j in range(len(kinds))] for i in range(n_rows)]
    core_table, schema = read_table(table)
    levels = [len(feature.levels or ()) for feature in schema.features]
    signal = np.nan_to_num(columns[0]) + (np.nan_to_num(columns[1]) > 0.5)
    return _core.BinnedDataset(core_table, None, levels, max_bins=max_bins), signal


def assert_same_trees(dataset, target, weights, settings):
    trees = [
        _core.grow_tree(dataset, **target, weights=weights, settings=settings, use_records=records)
        for records in (True, False)
    ]
    first, second = (tree.arrays() for tree in trees)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    return trees[0]


def classes_of(rng, signal, n_classes, noise=0.7):
    noisy = signal + noise * rng.normal(size=len(signal))
    cuts = np.quantile(noisy, np.linspace(0, 1, n_classes + 1)[1:-1])
    codes = np.searchsorted(cuts, noisy).astype(np.int32).reshape(-1, 1)
    return {"classes": codes, "n_classes": [n_classes]}


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
@pytest.mark.parametrize("n_classes", [2, 3, 7, 12])
@pytest.mark.parametrize("kinds", ["nnnnn", "nfbbb", "nmcfb"])
def test_classification_trees_are_the_same_in_records(rng, criterion, n_classes, kinds):
    dataset, signal = make_dataset(rng, 700, kinds)
    target = classes_of(rng, signal, n_classes)
    counts = rng.poisson(1.0, 700).astype(float)
    for max_features in (2, 5):
        settings = {"criterion": criterion, "max_features": max_features, "seed": 5}
        tree = assert_same_trees(dataset, target, counts, settings)
        assert tree.n_nodes > 50


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize(
    "limits",
    [
        {"min_rows_leaf": 7},
        {"max_depth": 4},
        {"min_impurity_decrease": 0.001},
        {"count_constant": False},
        {"allowed": [0, 2, 3], "max_features": 2},
        {"shuffle_features": True, "max_features": 5},
        {"shuffle_features": True, "max_features": 5, "random_thresholds": True},
        {"random_thresholds": True},
        {"random_thresholds": True, "min_rows_leaf": 4},
    ],
    ids=lambda limits: "-".join(limits),
)
def test_limits_and_random_thresholds_hold_in_records(rng, n_classes, limits):
    dataset, signal = make_dataset(rng, 900, "nfbmn")
    target = classes_of(rng, signal, n_classes)
    counts = rng.poisson(1.0, 900).astype(float)
    settings = {"criterion": "gini", "max_features": 3, "seed": 11} | limits
    assert_same_trees(dataset, target, counts, settings)


LEVEL_SETTINGS = [
    {"level_penalty": 0.0},
    {"level_penalty": 0.1},
    {"level_penalty": 0.1, "shuffle_features": True},
    {"level_penalty": 2.0, "count_constant": False},
    {"level_penalty": 0.5, "min_rows_leaf": 4, "max_depth": 9},
    {"fan_out_categories": True},
    {"random_thresholds": True},
    {"random_thresholds": True, "min_rows_leaf": 3, "count_constant": False},
]


@pytest.mark.parametrize("settings", LEVEL_SETTINGS, ids=lambda one: "-".join(one))
@pytest.mark.parametrize("n_classes", [2, 3, 5, 12])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_levels_are_split_the_same_way_in_records(rng, settings, n_classes, criterion):
    dataset, signal = make_dataset(rng, 1200, "cglgcn")
    target = classes_of(rng, signal, n_classes, noise=1.5)
    counts = rng.poisson(1.0, 1200).astype(float)
    for max_features in (2, 6):
        for seed in (1, 2):
            full = {"criterion": criterion, "max_features": max_features, "seed": seed} | settings
            tree = assert_same_trees(dataset, target, counts, full)
            assert tree.n_nodes > 50


@pytest.mark.parametrize(
    "settings",
    [one for one in LEVEL_SETTINGS if "fan_out_categories" not in one],
    ids=lambda one: "-".join(one),
)
def test_levels_of_a_real_target_are_split_the_same_way_in_records(rng, settings):
    # Whole targets, as below; many branches add up their scores, which rounds.
    dataset, signal = make_dataset(rng, 1200, "cglgcn")
    reals = np.round(signal * 3 + rng.poisson(2.0, 1200)).reshape(-1, 1)
    counts = rng.poisson(1.0, 1200).astype(float)
    for max_features in (2, 6):
        full = {"criterion": "squared_error", "max_features": max_features, "seed": 3} | settings
        tree = assert_same_trees(dataset, {"reals": reals}, counts, full)
        assert tree.n_nodes > 50


def plain_table(rng, kind, n_rows, n_features):
    """Tables of reals, of integers, and of a few values each; features in records of any width."""
    values = rng.normal(size=(n_rows, n_features))
    if kind == "integers":
        values = (values * 30).astype(np.int64)
    elif kind == "few":
        values = values.round()
    table, _ = read_table(values)
    return _core.BinnedDataset(table), np.asarray(values[:, 0] + values[:, 1], float)


def assert_same_sums(dataset, reals, weights, settings):
    """The same for a target: a gain asked for leaves the nodes of few rows to the general search.

    Both add up on the same grid, where blocks of columns may break near ties differently.
    """
    settings = settings | {"criterion": "squared_error"}
    trees = [
        _core.grow_tree(
            dataset,
            reals=reals.reshape(-1, 1),
            weights=weights,
            settings=settings | {"min_impurity_decrease": least},
            use_records=True,
        )
        for least in (0.0, 1e-300)
    ]
    first, second = (tree.arrays() for tree in trees)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    return trees[0]


@pytest.mark.parametrize("target", ["gini 2", "entropy 2", "gini 4", "gini 12", "sums"])
@pytest.mark.parametrize("kind", ["reals", "integers", "few"])
@pytest.mark.parametrize("n_features", [3, 20, 40, 70])
def test_random_thresholds_are_the_same_in_records(rng, target, kind, n_features):
    # The nodes of few rows are sets of bits; the twin adds up rows by code.
    dataset, signal = plain_table(rng, kind, 1500, n_features)
    settings = {"random_thresholds": True, "count_constant": False}
    if target != "sums":
        settings["criterion"], n_classes = target.split()
        of_rows = classes_of(rng, signal, int(n_classes), noise=1.0)
    for seed, weights in enumerate(
        (np.ones(1500), rng.poisson(1.0, 1500), rng.integers(0, 90, 1500))
    ):
        for limits in ({"max_features": 2}, {}, {"max_features": 1, "min_rows_leaf": 3}):
            arguments = weights.astype(float), settings | limits | {"seed": seed}
            if target == "sums":
                tree = assert_same_sums(dataset, signal + rng.normal(size=1500), *arguments)
            else:
                tree = assert_same_trees(dataset, of_rows, *arguments)
            assert tree.n_nodes > 50


@pytest.mark.parametrize("n_rows", [2, 3, 4, 5, 16, 17, 63, 64, 65, 300])
def test_random_thresholds_of_few_rows_are_the_same_in_records(rng, n_rows):
    for seed in range(30):
        dataset, signal = plain_table(rng, ["reals", "integers", "few"][seed % 3], n_rows, 4)
        settings = {"random_thresholds": True, "max_features": 2, "seed": seed}
        target = {"classes": rng.integers(0, 2, (n_rows, 1)).astype(np.int32), "n_classes": [2]}
        for weights in (np.ones(n_rows), rng.integers(1, 4, n_rows).astype(float)):
            assert_same_trees(dataset, target, weights, settings)
            assert_same_sums(dataset, signal + rng.normal(size=n_rows), weights, settings)


def test_weights_that_are_not_whole_give_the_same_trees_in_records(rng):
    dataset, signal = make_dataset(rng, 600, "nfbmc")
    weights = rng.choice([0.0, 0.5, 1.25, 3.0], 600)
    for n_classes in (2, 4):
        target = classes_of(rng, signal, n_classes)
        assert_same_trees(dataset, target, weights, {"max_features": 2, "seed": 3})


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_regression_trees_are_the_same_in_records(rng, criterion):
    # Few whole targets: sums are exact on any grid, so no rounding decides between equal splits.
    dataset, signal = make_dataset(rng, 800, "nfbmn")
    reals = np.round(np.abs(signal) * 3 + rng.poisson(1.0, 800)).reshape(-1, 1)
    counts = rng.poisson(1.0, 800).astype(float)
    settings = {"criterion": criterion, "max_features": 2, "seed": 1, "min_rows_leaf": 3}
    tree = assert_same_trees(dataset, {"reals": reals}, counts, settings)
    assert tree.n_nodes > 20


def test_a_large_node_has_the_same_split_in_records(rng):
    # Weights above a byte and nodes above the small ones; many ties between cuts.
    dataset, signal = make_dataset(rng, 3000, "nfb", max_bins=20)
    for n_classes in (2, 3):
        target = classes_of(rng, signal, n_classes, noise=2.0)
        weights = rng.integers(0, 400, 3000).astype(float)
        assert_same_trees(dataset, target, weights, {"max_features": 1, "max_depth": 6})


@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize("random_thresholds", [False, True])
def test_vector_and_plain_code_give_the_same_bits_in_records(rng, n_classes, random_thresholds):
    dataset, signal = make_dataset(rng, 1000, "nnfbmcgl")
    target = classes_of(rng, signal, n_classes) if n_classes else {"reals": signal.reshape(-1, 1)}
    settings = {
        "criterion": "gini" if n_classes else "squared_error",
        "max_features": 2,
        "random_thresholds": random_thresholds,
    }
    counts = rng.poisson(1.0, 1000).astype(float)
    trees = []
    for level in ("auto", "scalar"):
        _core.set_simd_level(level)
        trees.append(
            _core.grow_tree(dataset, **target, weights=counts, settings=settings, use_records=True)
        )
    first, second = (tree.arrays() for tree in trees)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


def test_records_refuse_more_codes_than_a_byte_holds(rng):
    table, _ = read_table(rng.normal(size=(1000, 2)))
    dataset = _core.BinnedDataset(table, exact=True)
    with pytest.raises(ValueError, match="codes do not fit records"):
        _core.grow_tree(
            dataset,
            reals=rng.normal(size=(1000, 1)),
            settings={"criterion": "squared_error"},
            use_records=True,
        )


def test_limits_are_exact_for_weights_beyond_single_precision():
    # 2**24 and more: sums in float32 would take a leaf of 3 for one of 8.
    values = np.zeros((200, 1))
    values[0] = 1.0
    table, _ = read_table(values)
    dataset = _core.BinnedDataset(table)
    target = {"classes": (np.arange(200) % 3).astype(np.int32).reshape(-1, 1), "n_classes": [3]}
    for light, least, n_nodes in ((3.0, 8, 1), (3.0, 2, 3)):
        weights = np.full(200, 2_000_003.0)
        weights[0] = light
        tree = assert_same_trees(dataset, target, weights, {"min_rows_leaf": least})
        assert tree.n_nodes == n_nodes


def test_a_repeated_row_is_a_row_of_weight_two_at_full_depth(rng):
    # Two rows can be divided by several features, and the first must win however often they occur.
    for _ in range(20):
        values = rng.integers(0, 4, (40, 5)).astype(float)
        reals = rng.normal(size=(40, 1))
        counts = rng.integers(0, 4, 40)
        settings = {"criterion": "squared_error"}
        trees = []
        for rows, weights in (
            (np.arange(40), counts.astype(float)),
            (np.repeat(np.arange(40), counts), None),
        ):
            table, _ = read_table(values[rows])
            dataset = _core.BinnedDataset(table, weights)
            trees.append(
                _core.grow_tree(
                    dataset, reals=reals[rows], weights=weights, settings=settings, use_records=True
                )
            )
        first, second = (tree.arrays() for tree in trees)
        for name in ("feature_and_flags", "threshold", "first_child", "n_rows"):
            np.testing.assert_array_equal(first[name], second[name], err_msg=name)
