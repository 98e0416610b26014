"""A grown tree as read-only arrays, under scikit-learn's names.

A *view* decodes the packed nodes of the core (16 bytes each) once, on first use, and
keeps the result. A *branch* is the way from a node to one of its children and carries the
condition that a row must meet to take it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.trees.branch import Branch
from committee.trees.importances import impurity_decreases

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from committee import _core
    from committee.tables.table import FeatureInfo, TableSchema

TREE_LEAF = -1
TREE_UNDEFINED = -2

# The packing of `feature_and_flags` and `category_data`, as in src/core/tree/tree.hpp.
_FEATURE_MASK = (1 << 24) - 1
_KIND_SHIFT = 24
_MISSING_SHIFT = 26
INTEGER, SUBSET, FAN_OUT = 1, 2, 3
_LIST_FLAG = 1 << 31
_NO_CHILD = 0xFFFFFFFF


class TreeView:
    """Read-only view of a grown tree with scikit-learn's ``tree_`` fields.

    Parameters
    ----------
    tree : committee._core.Tree
        The grown tree.
    schema : TableSchema
        Names, kinds and levels of the features.
    classes : list of ndarray or None
        Class labels of each output; None for regression.

    Attributes
    ----------
    node_count, n_leaves, max_depth, n_features, n_outputs, max_n_classes : int
        Sizes of the tree.
    n_classes : ndarray of shape (n_outputs,)
        Number of classes of each output, 1 for regression.
    children_left, children_right : ndarray of shape (node_count,)
        Children of a node, -1 at leaves. A node that fans out over the levels of a category may
        have more of them, see ``children``: then reading ``children_right`` is a ValueError.
    feature : ndarray of shape (node_count,)
        Feature of a node's split, -2 at leaves.
    threshold : ndarray of shape (node_count,)
        Rows with a value <= threshold go left; -2 at leaves. A ValueError for a tree in which
        levels decide somewhere, see ``branch`` for these.
    splits_levels : bool
        Whether levels decide somewhere.
    missing_go_to_left : ndarray of shape (node_count,)
        1 where missing values take the first child.
    value : ndarray of shape (node_count, n_outputs, max_n_classes)
        Fraction of each class, or the predicted number.
    impurity, weighted_n_node_samples, n_node_samples : ndarray of shape (node_count,)
        Impurity, weight and number of the training rows of each node.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> model.tree_.node_count
    3
    >>> model.tree_.threshold.tolist()
    [5.0, -2.0, -2.0]
    >>> model.tree_.branch(0, 2).operator
    '>'
    """

    def __init__(
        self,
        tree: _core.Tree,
        schema: TableSchema,
        classes: list[NDArray[Any]] | None,
    ) -> None:
        self._tree = tree
        self._schema = schema
        self._classes = classes

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(node_count={self.node_count}, n_leaves={self.n_leaves}, "
            f"max_depth={self.max_depth})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("_tree", "_schema", "_classes")}

    @property
    def schema(self) -> TableSchema:
        """Names, kinds and levels of the features."""
        return self._schema

    @property
    def classes(self) -> list[NDArray[Any]] | None:
        """Class labels of each output, None for regression."""
        return self._classes

    # ---- sizes ----

    @cached_property
    def node_count(self) -> int:
        """Number of nodes, leaves included."""
        return int(self._tree.n_nodes)

    @property
    def n_features(self) -> int:
        """Number of features of the training table."""
        return int(self._tree.n_features)

    @property
    def n_outputs(self) -> int:
        """Number of targets that are predicted together."""
        return int(self._tree.n_values) if self._classes is None else len(self._classes)

    @cached_property
    def n_classes(self) -> NDArray[np.intp]:
        """Number of classes of each output, 1 for regression."""
        if self._classes is None:
            return _frozen(np.ones(self.n_outputs, dtype=np.intp))
        return _frozen(np.array([len(labels) for labels in self._classes], dtype=np.intp))

    @property
    def max_n_classes(self) -> int:
        """Largest number of classes of an output."""
        return int(self.n_classes.max())

    @cached_property
    def max_depth(self) -> int:
        """Depth of the deepest leaf; a tree of one node has depth 0."""
        return int(self.depths.max())

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self._is_leaf))

    # ---- nodes ----

    @cached_property
    def children_left(self) -> NDArray[np.int64]:
        """First child of each node, -1 at leaves."""
        return _frozen(np.where(self._is_leaf, TREE_LEAF, self._first_child))

    @cached_property
    def children_right(self) -> NDArray[np.int64]:
        """Second child of each node, -1 at leaves; ValueError where a node has more."""
        inner = ~self._is_leaf
        self._refuse(inner & (self.n_children != 2), "children_right", "children(node)")
        return _frozen(np.where(inner, self._first_child + 1, TREE_LEAF))

    @cached_property
    def n_children(self) -> NDArray[np.int64]:
        """Number of children of each node, 0 at leaves."""
        n_children = np.where(self._is_leaf, 0, 2)
        fans = self._kind == FAN_OUT
        offsets = np.asarray(self._arrays["threshold"])[fans].astype(np.int64)
        n_children[fans] = self._arrays["category_data"][offsets]
        return _frozen(n_children)

    @cached_property
    def feature(self) -> NDArray[np.int64]:
        """Feature of each node's split, -2 at leaves."""
        feature = self._flags & _FEATURE_MASK
        # scikit-learn's type in C, which tools ask for
        return _frozen(np.where(self._is_leaf, TREE_UNDEFINED, feature).astype(np.longlong))

    @property
    def splits_levels(self) -> bool:
        """Whether some node divides the levels of a category."""
        return bool((self._kind >= SUBSET).any())

    @cached_property
    def threshold(self) -> Floats:
        """Threshold of each node, -2 at leaves; ValueError where levels decide."""
        self._refuse(self._kind >= SUBSET, "threshold", "branch(node, child)")
        bits = np.ascontiguousarray(self._arrays["threshold"], dtype=np.uint64)
        threshold = bits.view(np.float64).copy()
        integer = self._kind == INTEGER
        threshold[integer] = bits.view(np.int64)[integer].astype(np.float64)
        threshold[self._is_leaf] = TREE_UNDEFINED
        return _frozen(threshold)

    @cached_property
    def missing_go_to_left(self) -> NDArray[np.uint8]:
        """1 where missing values take the first child."""
        to_first = ((self._flags >> _MISSING_SHIFT) & 1).astype(np.uint8)
        for node in np.flatnonzero(self._kind == FAN_OUT):
            to_first[node] = self._default_child(int(node)) == 0
        to_first[self._is_leaf] = 0
        return _frozen(to_first)

    @cached_property
    def value(self) -> Floats:
        """Class fractions or predicted numbers, (node_count, n_outputs, max_n_classes)."""
        flat = np.asarray(self._arrays["values"], dtype=np.float64).reshape(self.node_count, -1)
        value = np.zeros((self.node_count, self.n_outputs, self.max_n_classes))
        begin = 0
        for output, n_classes in enumerate(self.n_classes):
            value[:, output, :n_classes] = flat[:, begin : begin + n_classes]
            begin += n_classes
        return _frozen(value)

    @cached_property
    def best_class(self) -> list[NDArray[np.int64]]:
        """For each output, the code of the largest class of each node; ties go to the first."""
        value = self.value
        return [
            np.argmax(value[:, k, :n], axis=1).astype(np.int64)
            for k, n in enumerate(self.n_classes)
        ]

    @cached_property
    def impurity(self) -> Floats:
        """Impurity of the training rows of each node."""
        return _frozen(np.array(self._arrays["impurity"], dtype=np.float64))

    @cached_property
    def n_node_samples(self) -> NDArray[np.int64]:
        """Number of training rows of each node."""
        return _frozen(np.array(self._arrays["n_rows"], dtype=np.int64))

    @cached_property
    def weighted_n_node_samples(self) -> Floats:
        """Weight of the training rows of each node."""
        return _frozen(np.array(self._arrays["weight"], dtype=np.float64))

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """Depth of each node; the root has depth 0."""
        return _frozen(np.asarray(self._tree.depths()).astype(np.int64))

    # ---- branches ----

    def children(self, node: int) -> range:
        """Children of a node in order; empty for a leaf.

        Parameters
        ----------
        node : int
            Node number.

        Returns
        -------
        children : range
            Node numbers of the children, which are neighbours.
        """
        node = self._check_node(node)
        if self._is_leaf[node]:
            return range(0)
        first = int(self._first_child[node])
        return range(first, first + int(self.n_children[node]))

    def branch(self, node: int, child: int) -> Branch:
        """Condition that a row of ``node`` meets to go on to ``child``.

        Parameters
        ----------
        node : int
            Node number.
        child : int
            Node number of one of its children.

        Returns
        -------
        branch : Branch
            The condition in structured form.
        """
        children = self.children(node)
        if child not in children:
            raise ValueError(f"child must be one of the children of node {node}; got {child}")
        number = child - children.start
        feature = int(self.feature[node])
        info = self._schema.features[feature]
        is_default = number == self._default_child(node)
        if self._kind[node] >= SUBSET:
            levels = self._branch_levels(node, number, info)
            return Branch(
                feature, info.label, "in", None, levels, is_default, is_default, is_default
            )
        threshold = self._exact_threshold(node)
        operator = "<=" if number == 0 else ">"
        return Branch(feature, info.label, operator, threshold, None, is_default, False, is_default)

    def compute_node_depths(self) -> NDArray[np.int64]:
        """Return the depth of each node; the root has 1, as in scikit-learn."""
        return self.depths + 1

    # ---- rows ----

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Leaf that each row reaches.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Anything the schema of the training table reads.

        Returns
        -------
        leaves : ndarray of shape (n_rows,)
            Node number of the leaf of each row.
        """
        return np.asarray(self._tree.apply(self._read(X), 1)).astype(np.int64)

    def predict(self, X: Any) -> Floats:
        """Value of the leaf that each row reaches.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Anything the schema of the training table reads.

        Returns
        -------
        value : ndarray of shape (n_rows, max_n_classes) or (n_rows, n_outputs, max_n_classes)
            Class fractions or predicted numbers; three axes when there are several outputs.
        """
        value = self.value[self.apply(X)]
        return value[:, 0, :] if self.n_outputs == 1 else value

    def decision_path(self, X: Any) -> csr_matrix:
        """Nodes that each row passes, root and leaf included.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Anything the schema of the training table reads.

        Returns
        -------
        indicator : csr_matrix of shape (n_rows, node_count)
            1 where the row passes the node.
        """
        from scipy.sparse import csr_matrix

        offsets, indices = self._tree.decision_path(self._read(X))
        ones = np.ones(len(indices), dtype=np.int64)
        return csr_matrix((ones, indices, offsets), shape=(len(offsets) - 1, self.node_count))

    def compute_feature_importances(self, normalize: bool = True) -> Floats:
        """Impurity that the splits on each feature removed.

        Parameters
        ----------
        normalize : bool, default=True
            Scale the importances to sum to one.

        Returns
        -------
        importances : ndarray of shape (n_features,)
            Weighted decrease of impurity, summed over the nodes that split by the feature.
        """
        sums, unit = impurity_decreases(self._arrays, self.n_children, self.n_features)
        total = float(sums.sum())
        factor = 1 / total if normalize and total > 0 else unit
        return np.asarray(sums * factor, dtype=np.float64)

    # ---- decoding ----

    @cached_property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        return dict(self._tree.arrays())

    @cached_property
    def _flags(self) -> NDArray[np.int64]:
        return np.asarray(self._arrays["feature_and_flags"]).astype(np.int64)

    @cached_property
    def _kind(self) -> NDArray[np.int64]:
        return np.where(self._is_leaf, 0, (self._flags >> _KIND_SHIFT) & 3)

    @cached_property
    def _first_child(self) -> NDArray[np.int64]:
        return np.asarray(self._arrays["first_child"]).astype(np.int64)

    @cached_property
    def _is_leaf(self) -> NDArray[np.bool_]:
        return np.equal(self._first_child, 0)

    def _default_child(self, node: int) -> int:
        if self._kind[node] == FAN_OUT:
            return int(self._category_data(node)[1])
        return 0 if (self._flags[node] >> _MISSING_SHIFT) & 1 else 1

    def _exact_threshold(self, node: int) -> float | int:
        bits = self._arrays["threshold"][node : node + 1].view()
        if self._kind[node] == INTEGER:
            return int(bits.view(np.int64)[0])
        return float(bits.view(np.float64)[0])

    def _category_data(self, node: int) -> NDArray[np.uint32]:
        """Words of a node's category data, up to the end of the whole array."""
        offset = int(self._arrays["threshold"][node])
        data: NDArray[np.uint32] = self._arrays["category_data"][offset:]
        return data

    def _branch_levels(self, node: int, number: int, info: FeatureInfo) -> tuple[Any, ...]:
        levels = info.levels or ()
        data = self._category_data(node)
        default = self._default_child(node)
        child_of_level = np.full(len(levels), default, dtype=np.int64)
        if self._kind[node] == FAN_OUT:
            known = data[3 : 3 + int(data[2])][: len(levels)].astype(np.int64)
            child_of_level[: len(known)] = np.where(known == _NO_CHILD, default, known)
        else:
            leaving = _listed_levels(data)
            child_of_level[leaving[leaving < len(levels)]] = 1 - default
        return tuple(levels[code] for code in np.flatnonzero(child_of_level == number))

    def _read(self, X: Any) -> _core.Table:
        return self._schema.read(X, "TreeView")

    def _refuse(self, nodes: NDArray[np.bool_], array: str, instead: str) -> None:
        """Raise if an array cannot hold the branches of some nodes.

        Tools that read scikit-learn's arrays would show another tree.
        """
        if nodes.any():
            node = int(np.argmax(nodes))
            name = self._schema.features[int(self.feature[node])].name
            raise ValueError(
                f"{array} cannot hold how node {node} divides the levels of {name!r}; use "
                f"{instead}, or plot_tree, export_text or export_rules of committee"
            )

    def _check_node(self, node: int) -> int:
        if not 0 <= node < self.node_count:
            raise ValueError(f"node must be in [0, {self.node_count}); got {node}")
        return int(node)


def _listed_levels(data: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Levels that leave the default child, from a bit set or an ascending list."""
    head = int(data[0])
    if head & _LIST_FLAG:
        return data[1 : 1 + (head & ~_LIST_FLAG)].astype(np.int64)
    words = data[1 : 1 + head]
    bits = (words[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    return np.flatnonzero(bits.ravel())


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only: a view must not change the tree it shows."""
    array.flags.writeable = False
    return array
