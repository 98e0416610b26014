"""A tree after Quinlan as read-only arrays: branches without defaults, rows in shares.

A level for which a node has no branch ends the walk there; no branch takes unseen levels. Missing
values are levels of their own (ID3), or go down all branches in shares (C4.5).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.trees.branch import Branch
from committee.trees.tree_view import FAN_OUT, SUBSET, TreeView

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from committee.tables.table import TableSchema
    from committee.trees.quinlan.nominal_table import NominalCodes


class QuinlanView(TreeView):
    """Read-only view of a tree of `ID3Classifier` or `C45Classifier`.

    Parameters
    ----------
    tree : committee._core.Tree
        The grown tree.
    schema : TableSchema
        Names, kinds and levels of the features.
    classes : list of ndarray
        Class labels.
    codes : NominalCodes or None
        How cells became levels before the tree was grown; None if they are as they were given.
    """

    def __init__(
        self,
        tree: _core.Tree,
        schema: TableSchema,
        classes: list[NDArray[Any]],
        codes: NominalCodes | None = None,
    ) -> None:
        super().__init__(tree, schema, classes)
        self._codes = codes

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_codes": self._codes}

    @property
    def tree(self) -> _core.Tree:
        """The tree in the engine."""
        return self._tree

    @property
    def codes(self) -> NominalCodes | None:
        """How cells became levels before the tree was grown."""
        return self._codes

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
        plain = super().branch(node, child)
        feature, kind = plain.feature, plain.kind
        if plain.levels is None:
            return _branch(feature, kind, plain.operator, plain.threshold)
        codes = np.flatnonzero(self._child_of_level(node) == child - self.children(node).start)
        cuts = None if self._codes is None else self._codes.cuts[feature]
        if cuts is not None:
            return _interval(feature, kind, cuts, int(codes[0]))
        known = self.schema.features[feature].levels or ()
        levels = tuple(known[code] for code in codes if code < len(known))
        return _branch(feature, kind, "in", None, levels, takes_missing=len(levels) < len(codes))

    def compute_feature_importances(self, normalize: bool = True) -> Floats:
        """Entropy that the splits on each feature removed.

        Parameters
        ----------
        normalize : bool, default=True
            Scale the importances to sum to one.

        Returns
        -------
        importances : ndarray of shape (n_features,)
            Weighted decrease of entropy, summed over the nodes that split by the feature. Where
            many values are missing it may be negative and counts as zero.
        """
        sums = np.maximum(super().compute_feature_importances(normalize=False), 0.0)
        total = float(sums.sum())
        return sums / total if normalize and total > 0 else sums

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Node where the largest share of each row ends.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Anything the schema of the training table reads.

        Returns
        -------
        ends : ndarray of shape (n_rows,)
            Node numbers: leaves, or nodes that have no branch for the row.
        """
        return _core.apply_shares(self._tree, self._read(X), 1).astype(np.int64)

    def predict(self, X: Any) -> Floats:
        """Class shares of each row, over all nodes where it ends.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Anything the schema of the training table reads.

        Returns
        -------
        value : ndarray of shape (n_rows, max_n_classes)
            Class shares.
        """
        return _core.predict_shares(self._tree, self._read(X), 1)

    def decision_path(self, X: Any) -> csr_matrix:
        """Nodes that each row passes, and its share there.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Anything the schema of the training table reads.

        Returns
        -------
        shares : csr_matrix of shape (n_rows, node_count)
            The share of the row that passes the node.
        """
        return share_matrix(self._tree, self._read(X))

    def read(self, X: Any) -> _core.Table:
        """Return a table as the tree was grown on it."""
        return self._read(X)

    def recode(self, table: _core.Table) -> _core.Table:
        """Return a table that was read by the schema as the tree was grown on it."""
        return table if self._codes is None else self._codes.recode(table)

    def check(self) -> None:
        """Raise ValueError unless every split fits its feature."""
        if self._codes is not None and self._codes.schema != self.schema:
            raise ValueError("the levels do not fit the schema")
        for node in range(self.node_count):
            if self.children(node) and self._kind[node] >= SUBSET:
                self._check_fan_out(node)

    def _check_fan_out(self, node: int) -> None:
        feature = int(self.feature[node])
        if self._codes is None:
            n_levels = len(self.schema.features[feature].levels or ())
        else:
            n_levels = self._codes.n_levels(feature)
        child_of_level = self._child_of_level(node)
        if self._kind[node] != FAN_OUT or len(child_of_level) > n_levels:
            raise ValueError(f"node {node} does not fan out over the levels of its feature")
        if set(child_of_level[child_of_level >= 0].tolist()) != set(
            range(len(self.children(node)))
        ):
            raise ValueError(f"node {node} has a branch that no level takes")

    def _child_of_level(self, node: int) -> NDArray[np.int64]:
        """Branch of each level of a fan-out, negative where there is none."""
        data = self._category_data(node)
        child = data[3 : 3 + int(data[2])].astype(np.int64)
        return np.where(child < int(data[0]), child, -1)

    def _read(self, X: Any) -> _core.Table:
        return self.recode(super()._read(X))


def share_matrix(tree: _core.Tree, table: _core.Table) -> csr_matrix:
    """Return the share of each row that passes each node, as a sparse matrix."""
    from scipy.sparse import csr_matrix

    offsets, nodes, shares = _core.share_path(tree, table)
    return csr_matrix((shares, nodes, offsets), shape=(table.n_rows, tree.n_nodes))


def _interval(feature: int, kind: str, cuts: NDArray[Any], code: int) -> Branch:
    """Return the condition of an interval; the one after the last is that of missing values."""
    if code > len(cuts):
        top = 2**63 - 1 if cuts.dtype == np.int64 else math.inf  # above all values
        return _branch(feature, kind, ">", top, takes_missing=True)
    lower = None if code == 0 else cuts[code - 1].item()
    upper = None if code == len(cuts) else cuts[code].item()
    return _branch(feature, kind, "in", upper, lower=lower)


def _branch(
    feature: int,
    kind: str,
    operator: str,
    threshold: float | int | None,
    levels: tuple[Any, ...] | None = None,
    *,
    takes_missing: bool = False,
    lower: float | int | None = None,
) -> Branch:
    """Return a condition; a node has no default branch, nor one for unseen levels."""
    return Branch(
        feature,
        kind,
        operator,
        threshold,
        levels,
        takes_missing=takes_missing,
        takes_unseen=False,
        is_default=False,
        lower=lower,
    )
