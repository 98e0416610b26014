"""What every estimator that is one tree has: reading tables, sizes, importances, pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from committee import _core
from committee.base.arrays import Floats
from committee.base.params import Estimator
from committee.base.work import resolve_threads
from committee.files.parts import Part, instance, whole
from committee.tables.table import TableSchema
from committee.trees.svg import TreeReprMixin

if TYPE_CHECKING:
    from committee.trees.tree_view import TreeView


class SingleTree(TreeReprMixin, Estimator):
    """What CART and Quinlan trees share: a fitted tree, its files and its picture."""

    _reads_tables = True  # also those that were opened before, see tables/native_table.py
    _stored_parts: ClassVar[dict[str, Part]] = {
        "_tree": instance(_core.Tree),
        "schema_": instance(TableSchema),
        "n_features_in_": whole(1, size="features"),
    }
    _derived_attributes = ("tree_",)
    _fitted_attribute = "_tree"

    n_jobs: int | None

    @property
    def _impurity_name(self) -> str:
        """What the impurity of the nodes is called in pictures."""
        return str(getattr(self, "criterion", "impurity"))

    # Fitted attributes; see _set_fitted.
    _tree: _core.Tree
    tree_: TreeView
    schema_: TableSchema

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _set_fitted(self, tree: _core.Tree, view: TreeView, **attributes: Any) -> None:
        """Set all fitted attributes together, when nothing can fail any more."""
        schema = view.schema
        attributes |= {
            "_tree": tree,
            "tree_": view,
            "schema_": schema,
            "n_features_in_": schema.n_features,
        }
        if schema.names is not None:
            attributes["feature_names_in_"] = np.array(schema.names, dtype=object)
        self._replace_fitted(attributes)

    def _read(self, X: Any) -> _core.Table:
        self._check_fitted()
        return self.schema_.read(X, type(self).__name__)

    def _threads(self) -> int:
        return resolve_threads(self.n_jobs)

    def get_depth(self) -> int:
        """Return the depth of the tree: the number of splits above its deepest leaf."""
        self._check_fitted()
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the tree."""
        self._check_fitted()
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the decrease of impurity (also called Gini importance).

        High-cardinality features are favoured; permutation importance is not fooled by them.
        """
        self._check_fitted()
        return self.tree_.compute_feature_importances()
