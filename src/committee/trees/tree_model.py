"""What the tree estimators share: from a table to a grown tree, and from a tree to predictions.

An estimator checks its parameters into the settings of `tree_settings` and its target into an
`EngineTarget`; the
functions here read the table, bin it and grow the tree. Fitted attributes are set together at the
very end, so a fit that fails or is interrupted leaves the estimator as it was.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import UNUSED

from committee import _core
from committee.base.arrays import Floats
from committee.base.params import check_choice, check_max_features, check_real, check_seed
from committee.base.work import resolve_threads
from committee.files.parts import Part, whole
from committee.tables.table import TableSchema, bin_table, read_table
from committee.tables.target import RowWeights
from committee.trees.contributions import ContributionsMixin
from committee.trees.engine_settings import EngineTarget, tree_settings
from committee.trees.single_tree import SingleTree
from committee.trees.tree_view import TreeView

# With split_finding="auto", tables up to this many rows are searched exactly: it costs little
# there, and every distinct value counts when there are few.
AUTO_EXACT_ROWS = 2**14


class TreeModel(SingleTree, ContributionsMixin):
    """Base class of decision trees (CART) for classes and for numbers."""

    # `check_input` is an argument of scikit-learn's that changes nothing here: no metadata.
    __metadata_request__fit: ClassVar = {"check_input": UNUSED}
    __metadata_request__predict: ClassVar = {"check_input": UNUSED}

    criterion: str
    splitter: str
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_features: int | float | str | None
    random_state: Any
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    ccp_alpha: float
    monotonic_cst: Any
    split_finding: str
    max_bins: int
    category_split: str
    level_penalty: float
    categorical_features: Any
    numeric_text: str

    _criteria: tuple[str, ...] = ()

    n_outputs_: int

    _stored_parts: ClassVar[dict[str, Part]] = {"n_outputs_": whole(1)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # ---- fitting ----

    def _settings(
        self, schema: TableSchema, target: EngineTarget, rows: RowWeights
    ) -> dict[str, Any]:
        """Check the parameters; return what the engine needs of them."""
        settings = tree_settings(self, schema, target, rows.n_counted, rows.total)
        return settings | {
            "random_thresholds": check_choice("splitter", self.splitter, ("best", "random"))
            == "random",
            "seed": check_seed(self.random_state),
            "n_threads": resolve_threads(self.n_jobs),
        }

    def _is_exact(self, n_rows: int) -> bool:
        choice = check_choice("split_finding", self.split_finding, ("auto", "hist", "exact"))
        return choice == "exact" or (choice == "auto" and n_rows <= AUTO_EXACT_ROWS)

    def _grow(
        self, table: _core.Table, schema: TableSchema, target: EngineTarget, rows: RowWeights
    ) -> tuple[_core.Tree, TableSchema]:
        """Grow the tree; return it with the schema completed by what training saw."""
        settings = self._settings(schema, target, rows)
        alpha = check_real("ccp_alpha", self.ccp_alpha, 0.0)
        dataset, schema = bin_table(
            self,
            table,
            schema,
            rows.weights,
            exact=self._is_exact(table.n_rows),
            n_threads=settings["n_threads"],
        )
        tree = _core.grow_tree(
            dataset,
            classes=target.classes,
            n_classes=target.n_classes,
            reals=target.reals,
            weights=rows.weights,
            counts=rows.counts,
            settings=settings,
        )
        return tree.prune(alpha) if alpha > 0 else tree, schema

    def _read_table(self, X: Any) -> tuple[_core.Table, TableSchema]:
        return read_table(X, self.categorical_features, self.numeric_text)

    def _adopt(
        self,
        tree: _core.Tree,
        schema: TableSchema,
        labels: list[NDArray[Any]] | None,
        **attributes: Any,
    ) -> None:
        """Set all fitted attributes together, when nothing can fail any more."""
        attributes["max_features_"] = check_max_features(self.max_features, schema.n_features)
        self._set_fitted(tree, TreeView(tree, schema, labels), **attributes)

    def _class_labels(self) -> list[NDArray[Any]] | None:
        """Class labels of each output, None for regression."""
        return None

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other, and make the derived ones."""
        if not hasattr(self, "_tree"):
            return
        labels = self._class_labels()
        n_values = self.n_outputs_ if labels is None else sum(len(each) for each in labels)
        self.schema_.check_model(self)
        self.schema_.check_trees(self._tree)
        if self._tree.n_values != n_values:
            raise ValueError("the tree does not fit the classes or outputs")
        self.tree_ = TreeView(self._tree, self.schema_, labels)

    # ---- predicting ----

    def _contributions(self, table: _core.Table) -> Floats:
        return self._tree.contributions(table, self._threads())

    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.int64]:
        """Return the leaf that each row reaches.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.
        check_input : bool, default=True
            Accepted for scikit-learn's sake; the input is always checked.

        Returns
        -------
        leaves : ndarray of int64, shape (n_rows,)
            Node numbers in `tree_`.
        """
        table = self._read(X)
        return self._tree.apply(table, self._threads()).astype(np.int64)

    def decision_path(self, X: Any, check_input: bool = True) -> csr_matrix:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.
        check_input : bool, default=True
            Accepted for scikit-learn's sake; the input is always checked.

        Returns
        -------
        path : sparse matrix of shape (n_rows, node_count)
            One where the row passes the node.
        """
        table = self._read(X)
        offsets, indices = self._tree.decision_path(table)
        ones = np.ones(len(indices), dtype=np.int64)
        return csr_matrix((ones, indices, offsets), shape=(table.n_rows, self._tree.n_nodes))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the effective alphas at which cost-complexity pruning cuts a subtree.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        path : Bunch
            `ccp_alphas`, ascending, and `impurities`, the total impurity of the leaves of the
            tree pruned with each alpha.
        """
        params = {**self.get_params(deep=False), "ccp_alpha": 0.0}
        unpruned = type(self)(**params).fit(X, y, sample_weight)
        alphas, impurities = unpruned._tree.pruning_path()
        return Bunch(ccp_alphas=alphas, impurities=impurities)
