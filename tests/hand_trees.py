"""Trees made by hand for the tests of views and exports: random ones, and copies of scikit-learn's.

Random trees hold every kind of split that the engine knows, also those no estimator makes yet.
"""

import numpy as np

from committee import _core
from committee.tables.table import FeatureInfo, Kind, TableSchema
from committee.trees.tree_view import TreeView

LIST_FLAG = 1 << 31
NO_CHILD = 0xFFFFFFFF
REAL, INTEGER, SUBSET, FAN_OUT = range(4)


class TreeBuilder:
    """Collects nodes; children are appended as neighbours after their parent."""

    def __init__(self):
        self.threshold, self.flags, self.first_child = [0], [0], [0]
        self.category_data = []

    def split(self, node, feature, kind, payload, *, missing_left, n_children=2):
        first = len(self.threshold)
        if kind == REAL:
            bits = int(np.float64(payload).view(np.uint64))
        elif kind == INTEGER:
            bits = int(np.int64(payload).view(np.uint64))
        else:
            bits = len(self.category_data)
            self.category_data += payload
        self.threshold[node] = bits
        self.flags[node] = feature | kind << 24 | int(missing_left) << 26
        self.first_child[node] = first
        self.threshold += [0] * n_children
        self.flags += [0] * n_children
        self.first_child += [0] * n_children
        return range(first, first + n_children)

    def arrays(self, values, impurity, weight, n_rows):
        return {
            "threshold": np.array(self.threshold, dtype=np.uint64),
            "feature_and_flags": np.array(self.flags, dtype=np.uint32),
            "first_child": np.array(self.first_child, dtype=np.uint32),
            "category_data": np.array(self.category_data, dtype=np.uint32),
            "values": np.asarray(values, dtype=np.float64),
            "impurity": np.asarray(impurity, dtype=np.float64),
            "weight": np.asarray(weight, dtype=np.float64),
            "n_rows": np.asarray(n_rows, dtype=np.int64),
        }


def bit_set(levels, n_levels):
    """Category data of a subset as a bit set."""
    words = [0] * ((n_levels + 31) // 32)
    for level in levels:
        words[level // 32] |= 1 << (level % 32)
    return [len(words), *words]


def level_list(levels):
    """Category data of a subset as a list."""
    return [len(levels) | LIST_FLAG, *sorted(levels)]


def child_of(arrays, node, row):
    """Which child of a node a row (Python numbers, None is missing) takes, by the book."""
    flags = int(arrays["feature_and_flags"][node])
    value, kind, missing_left = row[flags & 0xFFFFFF], flags >> 24 & 3, flags >> 26 & 1
    bits = arrays["threshold"][node]
    data = arrays["category_data"][int(bits) :].tolist() if kind >= SUBSET else None
    default = 0 if missing_left else 1
    if kind == REAL:
        return default if value is None else int(not value <= float(bits.view(np.float64)))
    if kind == INTEGER:
        return default if value is None else int(not value <= int(bits.view(np.int64)))
    if kind == SUBSET:
        if data[0] & LIST_FLAG:
            listed = value in data[1 : 1 + (data[0] & ~LIST_FLAG)]
        else:
            listed = 0 <= value < 32 * data[0] and data[1 + value // 32] >> (value % 32) & 1
        return 1 - default if listed else default
    child = data[3 + value] if 0 <= value < data[2] else NO_CHILD
    return data[1] if child == NO_CHILD else child


def random_view(rng, schema, pick_threshold, n_splits=12, classes=("no", "yes")):
    """A tree with random splits of all kinds on the features of a schema."""
    builder = TreeBuilder()
    for _ in range(n_splits):
        leaves = [node for node, first in enumerate(builder.first_child) if first == 0]
        node = int(rng.choice(leaves))
        feature = int(rng.integers(len(schema.features)))
        info = schema.features[feature]
        left = bool(rng.integers(2))
        if info.kind == Kind.CATEGORY:
            _random_level_split(rng, builder, node, feature, len(info.levels), left)
        else:
            builder.split(
                node, feature, int(info.kind), pick_threshold(rng, feature), missing_left=left
            )
    n_nodes = len(builder.threshold)
    shares = rng.dirichlet(np.ones(len(classes)), n_nodes)
    n_rows = rng.integers(1, 100, n_nodes)
    arrays = builder.arrays(shares, rng.random(n_nodes), n_rows, n_rows)
    kinds = [int(info.kind) for info in schema.features]
    tree = _core.Tree(len(kinds), kinds, arrays)
    return TreeView(tree, schema, [np.array(classes)])


def _random_level_split(rng, builder, node, feature, n_levels, left):
    form = rng.integers(3)
    if form == 2:
        n_children = int(rng.integers(2, 5))
        child = [int(c) for c in rng.integers(0, n_children, n_levels)]
        for level in range(n_levels):
            if rng.random() < 0.3:
                child[level] = NO_CHILD
        default = int(rng.integers(n_children))
        payload = [n_children, default, n_levels, *child]
        builder.split(
            node, feature, FAN_OUT, payload, missing_left=default == 0, n_children=n_children
        )
        return
    listed = np.flatnonzero(rng.random(n_levels) < 0.5).tolist() or [0]
    payload = bit_set(listed, n_levels) if form == 0 else level_list(listed)
    builder.split(node, feature, SUBSET, payload, missing_left=left)


def view_of_sklearn(model, names=None):
    """A fitted tree of scikit-learn as a view, and its node number for each of ours."""
    theirs = model.tree_
    builder = TreeBuilder()
    order = [0]
    for node, origin in enumerate(order):  # grows while it runs
        if theirs.children_left[origin] != -1:
            builder.split(
                node,
                int(theirs.feature[origin]),
                REAL,
                theirs.threshold[origin],
                missing_left=bool(theirs.missing_go_to_left[origin]),
            )
            order += [theirs.children_left[origin], theirs.children_right[origin]]
    order = np.array(order)
    classes = None
    values = theirs.value[order][:, :, 0]
    if hasattr(model, "classes_"):
        classes = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
        parts = [theirs.value[order][:, k, : len(labels)] for k, labels in enumerate(classes)]
        values = np.concatenate(parts, axis=1)
    arrays = builder.arrays(
        values,
        theirs.impurity[order],
        theirs.weighted_n_node_samples[order],
        theirs.n_node_samples[order],
    )
    n_features = theirs.n_features
    tree = _core.Tree(n_features, [0] * n_features, arrays)
    infos = [
        FeatureInfo(names[i] if names else f"x{i}", Kind.REAL, None, "number")
        for i in range(n_features)
    ]
    schema = TableSchema(tuple(infos), tuple(names) if names else None)
    return TreeView(tree, schema, classes), order
