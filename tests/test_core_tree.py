"""The tree of the core: every way to walk it agrees with a naive walk, hostile arrays are refused.

Features of the random trees: 0-2 real, 3-4 integers beyond 2**53, 5-6 categories.
"""

import gc
from itertools import pairwise

import numpy as np
import pytest
from hand_trees import (
    FAN_OUT,
    INTEGER,
    NO_CHILD,
    REAL,
    SUBSET,
    TreeBuilder,
    bit_set,
    child_of,
    level_list,
)

from committee import _core

KINDS = [0, 0, 0, 1, 1, 2, 2]
N_LEVELS = 70  # three words of a bit set
BIG = 2**60


def finish(builder, rng, kinds, n_values=2):
    n = len(builder.threshold)
    arrays = builder.arrays(
        rng.normal(size=(n, n_values)), rng.random(n), rng.random(n), rng.integers(1, 9, n)
    )
    return _core.Tree(len(kinds), kinds, arrays)


def random_split(rng, builder, node, feature, kind, left):
    if kind == 0:
        threshold = rng.integers(0, 200) / 2
        if rng.random() < 0.05:
            threshold = rng.choice([1e300, -np.inf, np.inf, 0.1])
        builder.split(node, feature, REAL, threshold, missing_left=left)
    elif kind == 1:
        builder.split(node, feature, INTEGER, BIG + rng.integers(-50, 50), missing_left=left)
    elif rng.random() < 0.3:
        n_children = int(rng.integers(2, 6))
        children = rng.integers(0, n_children, N_LEVELS - 10)
        children = np.where(rng.random(len(children)) < 0.2, NO_CHILD, children).tolist()
        data = [n_children, int(rng.integers(n_children)), len(children), *children]
        builder.split(node, feature, FAN_OUT, data, missing_left=left, n_children=n_children)
    else:
        listed = np.flatnonzero(rng.random(N_LEVELS) < 0.5).tolist()
        data = bit_set(listed, N_LEVELS) if rng.random() < 0.5 else level_list(listed)
        builder.split(node, feature, SUBSET, data, missing_left=left)


def random_tree(rng, kinds=KINDS, n_splits=120):
    builder = TreeBuilder()
    for _ in range(n_splits):
        leaves = [node for node, first in enumerate(builder.first_child) if first == 0]
        feature = int(rng.integers(len(kinds)))
        node = int(rng.choice(leaves[:20]))
        random_split(rng, builder, node, feature, kinds[feature], bool(rng.integers(2)))
    return finish(builder, rng, kinds)


def random_columns(rng, n_rows):
    """Columns as lists; None is missing. Real ones are whole numbers that fit in a byte."""
    columns = [rng.integers(0, 100, n_rows).tolist() for _ in range(3)]
    columns += [(BIG + rng.integers(-60, 60, n_rows)).tolist() for _ in range(2)]
    columns += [rng.integers(-1, N_LEVELS + 40, n_rows).tolist() for _ in range(2)]
    for column in columns[:5]:
        for row in np.flatnonzero(rng.random(n_rows) < 0.2):
            column[row] = None
    return columns


def table_of(columns, real_type, layout=np.ascontiguousarray):
    """A Table of such columns: reals as `real_type`, arrays as `layout` makes them."""
    table = _core.Table(len(columns[0]))
    for column, kind in zip(columns, KINDS, strict=True):
        mask = layout(np.array([value is None for value in column], dtype=np.uint8))
        filled = [77 if value is None else value for value in column]
        if kind == 0 and np.dtype(real_type).kind == "f":
            filled = [np.nan if value is None else value for value in column]
            table.add_column(0, layout(np.array(filled, dtype=real_type)))
        elif kind == 0:
            table.add_column(0, layout(np.array(filled, dtype=real_type)), mask)
        elif kind == 1:
            table.add_column(1, layout(np.array(filled, dtype=np.int64)), mask)
        else:
            table.add_column(2, layout(np.array(column, dtype=np.int32)))
    return table


def walk(arrays, row):
    """The nodes that a row (Python numbers, None is missing) passes, by the book."""
    node, path = 0, [0]
    while arrays["first_child"][node] != 0:
        node = int(arrays["first_child"][node]) + child_of(arrays, node, row)
        path.append(node)
    return path


def every_other(array):
    wide = np.zeros(2 * len(array), dtype=array.dtype)
    wide[::2] = array
    return wide[::2]


def backwards(array):
    return np.ascontiguousarray(array[::-1])[::-1]


def packed_field(array):
    records = np.zeros(len(array), dtype=[("pad", "u1"), ("value", array.dtype)])
    records["value"] = array
    return records["value"]


@pytest.mark.parametrize("n_rows", [0, 1, 5, 16, 17, 200])
def test_mixed_tables_of_every_type_and_layout_reach_the_leaves_of_a_naive_walk(rng, n_rows):
    for _ in range(5):
        tree = random_tree(rng)
        columns = random_columns(rng, n_rows)
        paths = [walk(tree.arrays(), row) for row in zip(*columns, strict=True)]
        leaves = [path[-1] for path in paths]
        for real_type in (np.float64, np.float32, np.int64, np.int32, np.uint8):
            for layout in (np.ascontiguousarray, every_other, backwards, packed_field):
                table = table_of(columns, real_type, layout)
                assert tree.apply(table).tolist() == leaves
        table = table_of(columns, np.float64)
        np.testing.assert_array_equal(tree.predict(table), tree.arrays()["values"][leaves])
        offsets, indices = tree.decision_path(table)
        found = [indices[a:b].tolist() for a, b in pairwise(offsets)]
        assert found == paths


@pytest.mark.parametrize("n_features", [1, 3, 300])
def test_matrices_of_every_type_and_layout_reach_the_leaves_of_a_naive_walk(rng, n_features):
    tree = random_tree(rng, [0] * n_features, n_splits=100)
    small = rng.integers(0, 100, size=(130, n_features))
    expected = [walk(tree.arrays(), row)[-1] for row in small.tolist()]
    for dtype in (np.float64, np.float32, np.int64, np.int32, np.uint8):
        X = small.astype(dtype)
        padded = np.zeros((260, n_features + 3), dtype=dtype)
        padded[::2, 2 : 2 + n_features] = X
        layouts = {
            "rows": X,
            "columns": np.asfortranarray(X),
            "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
            "part of a larger matrix": padded[::2, 2 : 2 + n_features],
        }
        for name, matrix in layouts.items():
            table = _core.Table.from_matrix(matrix)
            assert tree.apply(table).tolist() == expected, (dtype, name)
            assert tree.apply(_core.Table.from_matrix(matrix[:3])).tolist() == expected[:3]


def test_missing_values_of_a_matrix_follow_the_default_child(rng):
    tree = random_tree(rng, [0, 0, 0])
    X = rng.integers(0, 100, size=(300, 3)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    rows = [[None if np.isnan(value) else value for value in row] for row in X.tolist()]
    expected = [walk(tree.arrays(), row)[-1] for row in rows]
    for matrix in (X, X.astype(np.float32), np.asfortranarray(X)):
        assert tree.apply(_core.Table.from_matrix(matrix)).tolist() == expected


def test_the_number_of_threads_does_not_change_the_answer(rng):
    tree = random_tree(rng, [0, 0, 0], n_splits=200)
    X = rng.random(size=(20_000, 3)) * 100
    table = _core.Table.from_matrix(X)
    leaves = tree.apply(table, 1)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(tree.apply(table, n_threads), leaves)
        np.testing.assert_array_equal(
            tree.predict(table, n_threads), tree.arrays()["values"][leaves]
        )


def test_a_float32_is_compared_as_the_double_it_is(rng):
    builder = TreeBuilder()
    builder.split(0, 0, REAL, 0.1, missing_left=False)
    tree = finish(builder, rng, [0])
    below, above = np.float64(0.1), np.float32(0.1)  # float32(0.1) = 0.100000001...
    assert tree.apply(_core.Table.from_matrix(np.array([[below]]))).tolist() == [1]
    assert tree.apply(_core.Table.from_matrix(np.array([[above]]))).tolist() == [2]


def test_infinite_values_are_on_the_side_of_their_sign(rng):
    builder = TreeBuilder()
    builder.split(0, 0, REAL, 1e308, missing_left=True)
    tree = finish(builder, rng, [0])
    X = np.array([[-np.inf], [np.inf], [np.nan]])
    assert tree.apply(_core.Table.from_matrix(X)).tolist() == [1, 2, 1]


def test_neighbouring_integers_beyond_2_to_53_stay_apart(rng):
    builder = TreeBuilder()
    builder.split(0, 0, INTEGER, 2**53, missing_left=False)
    tree = finish(builder, rng, [1])
    table = _core.Table(4)
    table.add_column(1, np.array([2**53, 2**53 + 1, -(2**63), 2**63 - 1]))
    assert tree.apply(table).tolist() == [1, 2, 1, 2]
    as_floats = _core.Table(4)
    as_floats.add_column(1, np.array([2.0**53 - 0.5, np.inf, -np.inf, np.nan]))
    assert tree.apply(as_floats).tolist() == [1, 2, 1, 2]


def test_a_single_leaf_needs_no_features(rng):
    tree = finish(TreeBuilder(), rng, [])
    table = _core.Table.from_matrix(np.zeros((3, 0)))
    assert tree.apply(table).tolist() == [0, 0, 0]
    assert tree.predict(table).shape == (3, 2)


def test_depths_count_the_steps_from_the_root(rng):
    tree = random_tree(rng)
    first_child, depths = tree.arrays()["first_child"], tree.depths()
    assert depths[0] == 0
    for row in zip(*random_columns(rng, 50), strict=True):
        path = walk(tree.arrays(), row)
        assert depths[path].tolist() == list(range(len(path)))
    assert depths[first_child[first_child > 0]].min() == 1


# ---- arrays in and out ----


def test_arrays_make_the_same_tree_again(rng):
    tree = random_tree(rng)
    arrays = tree.arrays()
    again = _core.Tree(len(KINDS), KINDS, arrays)
    for name, array in again.arrays().items():
        np.testing.assert_array_equal(array, arrays[name])
    assert (again.n_nodes, again.n_values, again.n_features) == (tree.n_nodes, 2, len(KINDS))


def test_arrays_are_read_only_and_outlive_the_tree(rng):
    tree = random_tree(rng)
    arrays = tree.arrays()
    copies = {name: array.copy() for name, array in arrays.items()}
    del tree
    gc.collect()
    random_tree(rng)  # would reuse the memory
    for name, array in arrays.items():
        assert not array.flags.writeable
        np.testing.assert_array_equal(array, copies[name])


def test_a_table_keeps_its_arrays_alive(rng):
    tree = random_tree(rng, [0])
    table = _core.Table(1000)
    table.add_column(0, np.full(1000, 3.0))
    expected = tree.apply(table)
    gc.collect()
    np.full(1000, 99.0)
    np.testing.assert_array_equal(tree.apply(table), expected)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (np.zeros(4, np.float16), TypeError, "column 0 must be float64.*got float16"),
        (np.zeros(4, ">f8"), TypeError, "byte order of this machine; got >f8"),
        (np.zeros(4, object), TypeError, "got object"),
        (np.array(["a"] * 4), TypeError, "got <U1"),
        (np.zeros(4, complex), TypeError, "got complex128"),
        (np.zeros(4, "M8[us]"), TypeError, "column 0 must be an array of numbers"),
        ([1, 2, 3, 4], TypeError, "column 0 must be an array of numbers; got list"),
        (np.zeros((4, 1)), ValueError, "column 0 must have 1 dimension"),
        (np.zeros(5), ValueError, "column 0 has 5 entries; the table has 4 rows"),
    ],
)
def test_a_column_that_cannot_be_read_is_refused_by_name(values, error, message):
    with pytest.raises(error, match=message):
        _core.Table(4).add_column(0, values)


def test_kinds_and_masks_are_checked():
    table = _core.Table(2)
    with pytest.raises(ValueError, match=r"kind must be 0 \(real\).*got 3"):
        table.add_column(3, np.zeros(2))
    with pytest.raises(TypeError, match="levels of a category must be int32; got int64"):
        table.add_column(2, np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="a category has no mask"):
        table.add_column(2, np.zeros(2, np.int32), np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match="the mask has 3 entries"):
        table.add_column(1, np.zeros(2, np.int64), np.zeros(3, np.uint8))
    with pytest.raises(TypeError, match="the mask must be uint8 or bool; got float64"):
        table.add_column(1, np.zeros(2, np.int64), np.zeros(2))
    with pytest.raises(ValueError, match="n_rows must be an int >= 0; got -1"):
        _core.Table(-1)
    with pytest.raises(ValueError, match="the matrix must have 2 dimension"):
        _core.Table.from_matrix(np.zeros(3))
    assert table.n_features == 0


def test_a_table_that_does_not_fit_the_tree_is_refused(rng):
    builder = TreeBuilder()
    builder.split(0, 1, SUBSET, bit_set([1], 4), missing_left=False)
    tree = finish(builder, rng, [0, 2])
    with pytest.raises(ValueError, match="table has 3 features; the tree was grown on 2"):
        tree.apply(_core.Table.from_matrix(np.zeros((1, 3))))
    with pytest.raises(ValueError, match=r"feature 1 is of kind real; .* kind category"):
        tree.predict(_core.Table.from_matrix(np.zeros((1, 2), dtype=np.uint8)))
    with pytest.raises(ValueError, match="n_threads must be an int >= 1; got 0"):
        tree.predict(_core.Table.from_matrix(np.zeros((1, 2))), 0)


# ---- hostile arrays ----


def small_arrays():
    """Node 0 real, 1 subset bit set (3, 4), 2 fan-out (5, 6, 7), 3 subset list (8, 9)."""
    builder = TreeBuilder()
    builder.split(0, 0, REAL, 1.5, missing_left=False)
    builder.split(1, 1, SUBSET, bit_set([1, 3], 5), missing_left=True)
    builder.split(2, 1, FAN_OUT, [3, 1, 4, 0, 1, 2, NO_CHILD], missing_left=False, n_children=3)
    builder.split(3, 1, SUBSET, level_list([0, 2]), missing_left=True)
    n = len(builder.threshold)
    return builder.arrays(np.ones((n, 1)), np.ones(n), np.ones(n), np.ones(n))


def test_the_arrays_that_are_spoiled_below_are_sound():
    assert _core.Tree(2, [0, 2], small_arrays()).n_nodes == 10


SPOILED = {
    "child before parent": ("first_child", 1, 1, "node 1 has a child that does not come after"),
    "child beyond the end": ("first_child", 3, 9, "node 3 has children beyond the last node"),
    "largest child": ("first_child", 2, 2**32 - 1, "children beyond the last node"),
    "two parents": ("first_child", 3, 6, "more than one parent"),
    "no parent": ("first_child", 3, 0, "split flags"),
    "flags on a leaf": ("feature_and_flags", 9, 1, "node 9 is a leaf with split flags"),
    "unknown flags": ("feature_and_flags", 0, 1 << 31, "node 0 has unknown split flags"),
    "feature too large": ("feature_and_flags", 0, 2, "node 0 splits feature 2; there are 2"),
    "kind of another feature": ("feature_and_flags", 0, 1, "does not fit the kind of feature 1"),
    "threshold": ("threshold", 0, 0x7FF8 << 48, "threshold that is not a number"),
    "offset": ("threshold", 1, 12, "category data beyond the end|shares"),
    "largest offset": ("threshold", 2, 2**64 - 1, "category data beyond the end"),
    "bit set too long": ("category_data", 0, 2**31 - 1, "node 1 lists too many levels"),
    "bit set beyond end": ("category_data", 0, 100, "node 1 has category data beyond the end"),
    "list too long": ("category_data", 9, 2**32 - 1, "node 3 lists too many levels"),
    "list not sorted": ("category_data", 10, 2, "levels not in ascending order"),
    "level too large": ("category_data", 11, 65536, "level beyond the largest"),
    "one child": ("category_data", 2, 1, "node 2 fans out to 1 children"),
    "too many children": ("category_data", 2, 2**32 - 1, "fans out to 4294967295 children"),
    "children beyond": ("category_data", 2, 60000, "children beyond the last node"),
    "default child": ("category_data", 3, 3, "default child that does not exist"),
    "levels": ("category_data", 4, 65537, "too many levels"),
    "levels beyond the end": ("category_data", 4, 9, "category data beyond the end|shares"),
    "child of a level": ("category_data", 5, 3, "child that does not exist"),
    "value": ("values", 4, np.nan, "node 4 has a value not finite"),
    "infinite value": ("values", 4, np.inf, "node 4 has a value not finite"),
    "impurity": ("impurity", 4, np.nan, "node 4 has an impurity that is not finite"),
    "weight": ("weight", 4, -1.0, "node 4 has a weight that is negative or not finite"),
    "infinite weight": ("weight", 4, np.inf, "node 4 has a weight"),
    "rows": ("n_rows", 4, -1, "node 4 has a negative number of rows"),
}


@pytest.mark.parametrize("case", SPOILED)
def test_spoiled_arrays_are_refused(case):
    name, index, value, message = SPOILED[case]
    arrays = small_arrays()
    arrays[name][index] = value
    with pytest.raises(ValueError, match=message):
        _core.Tree(2, [0, 2], arrays)


def test_nodes_that_nobody_reaches_are_refused():
    arrays = small_arrays()
    arrays["first_child"][3] = arrays["feature_and_flags"][3] = 0
    with pytest.raises(ValueError, match="a tree of 10 nodes has 2 nodes without a parent"):
        _core.Tree(2, [0, 2], arrays)


@pytest.mark.parametrize("name", list(small_arrays()))
def test_arrays_of_wrong_length_type_or_shape_are_refused(name):
    good = small_arrays()
    for spoil in (lambda a: a[:-1], lambda a: np.concatenate([a, a[:1]]), lambda a: a[:0]):
        if name == "category_data" and len(spoil(good[name])) > len(good[name]):
            continue  # words that nobody uses do no harm
        with pytest.raises(ValueError, match=r"entries|entry|node"):
            _core.Tree(2, [0, 2], {**good, name: spoil(good[name])})
    with pytest.raises(TypeError, match=f"{name} must be .*; got float32"):
        _core.Tree(2, [0, 2], {**good, name: good[name].astype(np.float32)})
    with pytest.raises(ValueError, match=f"{name} must have . dimension"):
        _core.Tree(2, [0, 2], {**good, name: good[name][None, None]})
    with pytest.raises(ValueError, match=f"arrays has no entry {name}"):
        _core.Tree(2, [0, 2], {k: v for k, v in good.items() if k != name})


def test_kinds_must_be_known_and_one_for_each_feature():
    with pytest.raises(ValueError, match="kinds has 1 entries; the tree needs 2"):
        _core.Tree(2, [0], small_arrays())
    with pytest.raises(ValueError, match="kinds must hold 0"):
        _core.Tree(2, [0, 5], small_arrays())
    with pytest.raises(ValueError, match="at most 16777216 features"):
        _core.Tree(2**24 + 1, [0, 2], small_arrays())
    with pytest.raises(ValueError, match="at least one value"):
        _core.Tree(2, [0, 2], {**small_arrays(), "values": np.ones((10, 0))})


def test_nodes_that_share_large_category_data_cost_no_time():
    """A chain of fan-outs that all point at the same 65,536 levels: refused at the second one."""
    n_inner = 20_000
    nodes = np.arange(2 * n_inner + 1)
    is_inner = (nodes % 2 == 0) & (nodes < 2 * n_inner)
    n = len(nodes)
    arrays = {
        "threshold": np.zeros(n, np.uint64),
        "feature_and_flags": np.where(is_inner, FAN_OUT << 24, 0).astype(np.uint32),
        "first_child": np.where(is_inner, nodes + 1, 0).astype(np.uint32),
        "category_data": np.array([2, 0, 65536, *([1] * 65536)], np.uint32),
        "values": np.ones((n, 1)),
        "impurity": np.ones(n),
        "weight": np.ones(n),
        "n_rows": np.ones(n, np.int64),
    }
    with pytest.raises(ValueError, match="node 2 shares its category data with other nodes"):
        _core.Tree(1, [2], arrays)


def test_flipped_bits_are_refused_or_harmless(rng):
    table = _core.Table(3)
    table.add_column(0, np.array([0.0, 5.0, np.nan]))
    table.add_column(2, np.array([-1, 2, 900], dtype=np.int32))
    n_refused = 0
    for _ in range(3000):
        arrays = small_arrays()
        name = rng.choice(["threshold", "feature_and_flags", "first_child", "category_data"])
        words = arrays[name].view(np.uint32)
        for _ in range(rng.integers(1, 4)):
            words[rng.integers(len(words))] ^= np.uint32(1 << rng.integers(32))
        try:
            tree = _core.Tree(2, [0, 2], arrays)
        except ValueError:
            n_refused += 1
            continue
        leaves = tree.apply(table)
        assert (arrays["first_child"][leaves] == 0).all()
        tree.decision_path(table)
        tree.prune(0.1)
    assert 1000 < n_refused < 3000
