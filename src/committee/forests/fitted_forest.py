"""A fitted forest: its trees, its importances, predictions, and the leaves of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from committee import _core
from committee.base.arrays import Floats
from committee.base.params import Estimator
from committee.base.sampling import RowSampler, member_seed
from committee.base.slicing import Draws, JoinedSampler, join_draws, sliced
from committee.base.work import resolve_threads
from committee.evaluation.oob import OOB_ATTRIBUTES
from committee.files.parts import NOTHING, Part, instance, whole
from committee.forests.diagnostics import ForestDiagnostics
from committee.forests.forest_oob import TrainingRecord
from committee.members.alike import check_alike, common_schema
from committee.tables.table import TableSchema
from committee.trees.contributions import ContributionsMixin

# A prediction of fewer rows is not worth asking how many threads there are.
_FEW_ROWS = 32


class FittedForest(ForestDiagnostics, ContributionsMixin, Estimator):
    """Base class of the forest estimators, as far as it does not fit."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "schema_": instance(TableSchema),
        "n_features_in_": whole(1, size="features"),
        "n_outputs_": whole(1),
        "_forest": instance(_core.Forest),
        "_row_sampler": NOTHING | instance(RowSampler, JoinedSampler),
        "_feature_sampler": NOTHING | instance(RowSampler, JoinedSampler),
        "_seed": whole(),
        "_n_rows": whole(1, 2**32),
        "_fingerprint": whole(-1),
        "_train": NOTHING | instance(TrainingRecord),
    }

    n_jobs: int | None
    draw_features: str
    split_finding: str

    _tree_class: Any
    _splitter = "best"

    # Fitted attributes.
    _forest: _core.Forest
    _row_sampler: Draws | None
    _feature_sampler: Draws | None
    _seed: int
    _n_rows: int
    _fingerprint: int
    _train: TrainingRecord | None
    schema_: TableSchema
    n_features_in_: int
    n_outputs_: int
    feature_names_in_: NDArray[Any]

    _fitted_attribute = "_forest"

    def _class_labels(self) -> list[NDArray[Any]] | None:
        """Class labels of each output, None for regression."""
        return None

    @property
    def _is_hard(self) -> bool:
        """Whether trees vote instead of telling probabilities."""
        return False

    # ---- the trees ----

    def _sampler(self) -> Draws | None:
        """Return the draws of rows; None if every tree learnt from all rows."""
        self._check_fitted()
        return self._row_sampler

    @property
    def n_trees_(self) -> int:
        """Number of trees: `n_estimators`, or fewer after early stopping."""
        self._check_fitted()
        return self._forest.n_trees

    @property
    def estimator_(self) -> Any:
        """A tree with the parameters of the trees of the forest, not fitted."""
        self._check_fitted()
        return self._template()

    @property
    def estimators_(self) -> TreeList:
        """The trees as estimators, made when one is first looked at."""
        self._check_fitted()
        return TreeList(self)

    @estimators_.setter
    def estimators_(self, trees: TreeList) -> None:
        if not isinstance(trees, TreeList) or type(trees.forest) is not type(self):
            raise AttributeError(
                f"estimators_ of {type(self).__name__} can be set to a slice of estimators_, or to "
                "a sum of those of two such forests; the trees are kept in one piece. forest[:50] "
                "is a forest of the first 50 trees, committee.join(a, b) one of all trees of both"
            )
        own = {name for name in vars(self) if name.startswith("_") or name.endswith("_")}
        kept = {name: value for name, value in vars(self).items() if name not in own}
        self.__dict__ = vars(trees.forest) | kept | {"n_estimators": len(trees)}

    def _each_prediction(self, X: Any) -> Floats:
        """Return the prediction of each tree, shape (n_trees, n_rows, n_values)."""
        predicted = self._forest.predict_each(self._read(X), self._threads()).transpose(1, 0, 2)
        if not self._is_hard:
            return predicted
        ends = np.cumsum([len(each) for each in self._class_labels() or []])[:-1]
        parts = np.split(predicted, ends, axis=2)
        votes = [np.eye(part.shape[2])[part.argmax(axis=2)] for part in parts]
        return np.concatenate(votes, axis=2)

    def __len__(self) -> int:
        """Return the number of trees."""
        return self.n_trees_

    def __getitem__(self, index: int | slice) -> Any:
        """Return a tree as an estimator, or a forest: ``forest[:50]`` has the first 50 trees."""
        if isinstance(index, slice):
            return self._picked(sliced(index, len(self), type(self).__name__))
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows that each tree has drawn, ascending, a row drawn twice twice.

        Samples are not stored: this draws them again.
        """
        sampler = self._sampler()
        if sampler is None:
            n_rows = self._n_rows
            return [np.arange(n_rows) for _ in range(self.n_trees_)]
        return [sampler.rows(tree) for tree in range(self.n_trees_)]

    @property
    def estimators_features_(self) -> list[NDArray[np.int64]]:
        """The features that each tree may split, ascending."""
        self._check_fitted()
        sampler = self._feature_sampler
        if sampler is None:
            return [np.arange(self.n_features_in_) for _ in range(self.n_trees_)]
        return [sampler.rows(tree) for tree in range(self.n_trees_)]

    def _template(self, **params: Any) -> Any:
        names = set(self._tree_class().get_params()) & set(self.get_params(deep=False))
        shared = {name: getattr(self, name) for name in names - {"class_weight", "random_state"}}
        shared["splitter"] = self._splitter
        if self.split_finding == "auto":
            shared["split_finding"] = "hist"
        if self.draw_features == "tree":
            shared["max_features"] = None
        return self._tree_class(**{**shared, **params})

    def _member(self, index: int) -> Any:
        rows = self._row_sampler
        seed, number = (self._seed, index) if rows is None else rows.origin(index)
        model = self._template(random_state=member_seed(seed, number))
        names = ("classes_", "n_classes_", "n_outputs_")
        attributes = {name: getattr(self, name) for name in names if hasattr(self, name)}
        model._adopt(self._forest.tree(index), self.schema_, self._class_labels(), **attributes)
        return model

    def _picked(self, trees: NDArray[np.int64]) -> Self:
        """Return a forest of some of the trees; what is known of training rows is of all trees."""
        forest, small = self._forest, copy(self)
        for name in OOB_ATTRIBUTES:
            small.__dict__.pop(name, None)
        rows, features, train = self._row_sampler, self._feature_sampler, self._train
        small._forest = _core.Forest.join([forest.part(int(k), int(k) + 1) for k in trees])
        if train is not None:
            small._train = replace(train, leaves=train.leaves[:, trees], oob_values=None)
        if (trees != np.arange(len(trees))).any():  # the first trees are those of a smaller fit
            small._row_sampler = None if rows is None else rows.picked(trees)
            small._feature_sampler = None if features is None else features.picked(trees)
            small._fingerprint = -1  # of no table: trees can no longer join those of the last fit
        small.set_params(n_estimators=len(trees), warm_start=False)
        return small

    def _joined(self, others: Sequence[Self]) -> Self:
        """Return a forest of the trees of several forests."""
        forests, whole = [self, *others], copy(self)
        for name in OOB_ATTRIBUTES:
            whole.__dict__.pop(name, None)
        sizes = [forest.n_trees_ for forest in forests]
        n_rows = [forest._n_rows for forest in forests]
        n_features = [forest.n_features_in_ for forest in forests]
        rows = [forest._row_sampler for forest in forests]
        features = [forest._feature_sampler for forest in forests]
        whole._forest = _core.Forest.join([forest._forest for forest in forests])
        whole._row_sampler = join_draws(rows, sizes, n_rows)
        whole._feature_sampler = join_draws(features, sizes, n_features)
        whole.schema_ = common_schema([forest.schema_ for forest in forests])
        whole._train, whole._fingerprint = None, -1  # they learnt from different rows
        whole.set_params(n_estimators=sum(sizes), warm_start=False)
        return whole

    @property
    def feature_importances_(self) -> Floats:
        """Mean over the trees of the share of each feature in the decrease of impurity.

        Also called Gini importance. High-cardinality features are favoured.
        """
        self._check_fitted()
        decreases = self._forest.impurity_decreases(self._threads())
        totals = decreases.sum(axis=1)
        has_splits = self._forest.node_counts() > 1
        shares = decreases[has_splits] / np.where(totals > 0, totals, 1.0)[has_splits, None]
        importances = shares.sum(axis=0)
        total = float(importances.sum())
        return np.asarray(importances / total if total > 0 else np.zeros_like(importances))

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "_forest"):
            return
        forest, schema, train = self._forest, self.schema_, self._train
        schema.check_model(self)
        schema.check_trees(forest)
        labels = self._class_labels()
        n_classes = None if labels is None else [len(each) for each in labels]
        n_values = self.n_outputs_ if n_classes is None else sum(n_classes)
        if forest.n_trees == 0 or forest.n_values != n_values:
            raise ValueError("the forest does not fit the classes or outputs")
        if self._row_sampler is not None and self._row_sampler.n_rows != self._n_rows:
            raise ValueError("the draws do not fit the table")
        if self._feature_sampler is not None:
            self._feature_sampler.check_columns(schema.n_features, forest.n_trees)
        if train is not None and not (
            train.n_rows == self._n_rows and train.fits(forest, n_classes, self.n_outputs_)
        ):
            raise ValueError("what is kept of the training rows does not fit the forest")

    # ---- predicting ----

    def _read(self, X: Any) -> _core.Table:
        self._check_fitted()
        return self.schema_.read(X, type(self).__name__)

    def _threads(self) -> int:
        return resolve_threads(self.n_jobs)

    def _means(self, X: Any) -> Floats:
        """Return the mean predictions of the trees, one column a class or output."""
        table = self._read(X)
        n_threads = 1 if table.n_rows < _FEW_ROWS else self._threads()
        values = self._forest.predict(table, hard=self._is_hard, n_threads=n_threads)
        values /= self._forest.n_trees
        return values

    def _contributions(self, table: _core.Table) -> Floats:
        forest = self._forest
        weights = np.full(forest.n_trees, 1.0 / forest.n_trees)
        return forest.contributions(
            table, hard=self._is_hard, tree_weights=weights, n_threads=self._threads()
        )

    def _staged_means(self, X: Any) -> Iterator[Floats]:
        """Yield the means over the first tree, the first two, and so on."""
        table = self._read(X)
        n_threads = self._threads()
        total = np.zeros((table.n_rows, self._forest.n_values))
        for index in range(self.n_trees_):
            tree = self._forest.part(index, index + 1)
            total += tree.predict(table, hard=self._is_hard, n_threads=n_threads)
            yield total / (index + 1)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        leaves : ndarray of int64, shape (n_rows, n_trees)
            Node numbers in the `tree_` of each tree.
        """
        table = self._read(X)
        return self._forest.apply(table, n_threads=self._threads()).astype(np.int64)

    def decision_path(self, X: Any) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        path : sparse matrix of shape (n_rows, n_nodes)
            One where the row passes the node; the nodes of all trees side by side.
        ends : ndarray of int64, shape (n_trees + 1,)
            Tree i has the columns from ``ends[i]`` to before ``ends[i + 1]``.
        """
        table = self._read(X)
        ends = np.concatenate([[0], np.cumsum(self._forest.node_counts())])
        parts = []
        for index in range(self.n_trees_):
            tree = self._forest.tree(index)
            offsets, nodes = tree.decision_path(table)
            ones = np.ones(len(nodes), dtype=np.int64)
            parts.append(csr_matrix((ones, nodes, offsets), shape=(table.n_rows, tree.n_nodes)))
        return hstack(parts, format="csr"), ends


class TreeList(Sequence[Any]):
    """The trees of a forest as estimators; each is made on access, and not kept.

    Slices and sums are such lists too, of smaller and larger forests.

    Parameters
    ----------
    forest : FittedForest
        A fitted forest.
    """

    def __init__(self, forest: FittedForest) -> None:
        self.forest = forest

    def __len__(self) -> int:
        return self.forest.n_trees_

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        numbers = range(len(self))[index]  # raises IndexError, knows negative numbers and slices
        if isinstance(numbers, range):
            return TreeList(self.forest[index]) if len(numbers) else []
        return self.forest._member(numbers)

    def __add__(self, other: Sequence[Any]) -> Sequence[Any]:
        if isinstance(other, TreeList):
            check_alike([self.forest, other.forest])
            return TreeList(self.forest._joined([other.forest]))
        return [*self, *other]

    def __repr__(self) -> str:
        return f"<{len(self)} trees: {self.forest._template()!r}>"
