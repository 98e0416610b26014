"""What `ID3Classifier` and `C45Classifier` share: fitting, and predictions in shares."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from committee import _core
from committee.base.arrays import Floats
from committee.files.parts import LABELS, NOTHING, Part, instance, whole
from committee.tables.table import TableSchema, read_table
from committee.tables.target import (
    are_repetitions,
    check_same_length,
    read_classes,
    read_known_classes,
    read_weights,
    warn_of_column,
)
from committee.trees.quinlan.explain_growth import Growth, make_growth
from committee.trees.quinlan.nominal_table import NominalCodes
from committee.trees.quinlan.pessimistic import check_confidence
from committee.trees.quinlan.quinlan_view import QuinlanView, share_matrix
from committee.trees.quinlan.rule_list import RuleList, TestedRows, TrainingRows, extract_rules
from committee.trees.single_tree import SingleTree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_LEAST_SUM = 1e-290  # of all weights: what they are multiplied by has to be finite
_LEAST_SHARE = 1e-290  # of the largest weight: less beside it is nothing


@dataclass(frozen=True, eq=False)
class ClassTable:
    """What a tree is grown on.

    Parameters
    ----------
    table : _core.Table
        The features.
    schema : TableSchema
        Names, kinds and levels of the features.
    codes : ndarray of int32, shape (n_rows, 1)
        Class codes.
    classes : ndarray
        Class labels.
    weights : ndarray of float64 or None
        Weights of the rows, None for all one.
    """

    table: _core.Table
    schema: TableSchema
    codes: NDArray[np.int32]
    classes: NDArray[Any]
    weights: Floats | None


class QuinlanModel(ClassifierMixin, SingleTree):
    """Base class of the trees after Quinlan."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "classes_": LABELS,
        "n_classes_": whole(1),
        "_codes": NOTHING | instance(NominalCodes),
    }

    categorical_features: Any
    numeric_text: str
    _impurity_name = "entropy"
    _reads_ranks = True  # of ordered levels, to split them by thresholds

    # Fitted attributes.
    classes_: NDArray[Any]
    tree_: QuinlanView
    _codes: NominalCodes | None

    # ---- fitting ----

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Check the parameters; return what the engine needs of them."""

    @abstractmethod
    def _prepare(
        self, data: ClassTable, n_threads: int
    ) -> tuple[_core.BinnedDataset, TableSchema, NominalCodes | None]:
        """Return the dataset, the schema with what training saw, and how cells became levels."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            A row of weight two counts as that row twice, a row of weight zero is absent.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        data = self._read_training(X, y, sample_weight)
        tree, view, _ = self._grow(data, records=False)
        self._set_fitted(
            tree, view, classes_=data.classes, n_classes_=len(data.classes), _codes=view.codes
        )
        return self

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> ClassTable:
        table, schema = read_table(
            X, self.categorical_features, self.numeric_text, ranks=self._reads_ranks
        )
        warn_of_column(y)
        labels = read_classes(y)
        if labels.n_outputs > 1:
            raise ValueError(
                f"y should be a 1d array, got {labels.n_outputs} columns instead: "
                "sklearn.multioutput.MultiOutputClassifier fits a tree for each of them"
            )
        check_same_length(table.n_rows, len(labels.codes))
        weights = _read_weights(sample_weight, table.n_rows)
        return ClassTable(table, schema, labels.codes, labels.classes[0], weights)

    def _grow(
        self, data: ClassTable, *, records: bool
    ) -> tuple[_core.Tree, QuinlanView, dict[str, NDArray[Any]]]:
        n_threads = self._threads()
        settings = self._settings() | {"n_threads": n_threads, "records": records}
        dataset, schema, codes = self._prepare(data, n_threads)
        tree, record = _core.grow_quinlan(
            dataset,
            classes=data.codes,
            n_classes=[len(data.classes)],
            weights=data.weights,
            settings=settings,
        )
        return tree, QuinlanView(tree, schema, [data.classes], codes), record

    def explain_growth(self, X: Any, y: Any, sample_weight: Any = None) -> Growth:
        """Return how the tree was chosen, node by node.

        The tree is grown once more on the same table, and everything that was considered is
        written down, so that each number can be checked by hand.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        growth : Growth
            For each node why it was split or not, and for each feature entropy, gain, split
            information and gain ratio. ``print`` shows tables, ``to_frame`` gives a data frame.
        """
        data = self._read_training(X, y, sample_weight)
        tree, view, record = self._grow(data, records=True)
        if hasattr(self, "_tree") and not _same_tree(tree, self._tree):
            raise ValueError(
                "another tree grows on this table: give the X, y and sample_weight of fit, or "
                "call explain_growth of a clone"
            )
        return make_growth(view, record, is_pruned=bool(self._settings()["prunes"]))

    def extract_rules(
        self, X: Any, y: Any, sample_weight: Any = None, *, confidence: float = 0.25
    ) -> RuleList:
        """Turn the tree into a short list of rules, after C4.5rules.

        Each way to a leaf loses the tests without which it is expected to make no more errors;
        for each class the rules are kept that describe its rows in the fewest bits. More is found
        in a tree that was not pruned.

        Parameters
        ----------
        X, y, sample_weight
            The rows that rules are tested on: those of `fit`, or others.
        confidence : float, default=0.25
            Confidence of the upper limit of errors, in (0, 0.5]; smaller values give fewer rules.

        Returns
        -------
        rules : RuleList
            Rules in order, each with its support and the accuracy to expect, and a default class.
            A missing value passes no test.
        """
        check_confidence(confidence)
        table = self._read(X)
        codes = read_known_classes(y, self.classes_).ravel()
        check_same_length(table.n_rows, len(codes))
        weights = _read_weights(sample_weight, table.n_rows)
        rows = TrainingRows(
            TestedRows(self.tree_, table),
            codes,
            len(self.classes_),
            _as_cases(weights, table.n_rows),
            confidence,
        )
        return extract_rules(self.tree_, rows)

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other, and make the derived ones."""
        if not hasattr(self, "_tree"):
            return
        self.schema_.check_model(self)
        if self._tree.n_values != len(self.classes_):
            raise ValueError("the tree does not fit the classes")
        view = QuinlanView(self._tree, self.schema_, [self.classes_], self._codes)
        view.check()
        self._tree.predict(view.recode(self.schema_.empty_table()))  # compares kinds
        self.tree_ = view

    # ---- predicting ----

    def _read(self, X: Any) -> _core.Table:
        table = super()._read(X)
        return self.tree_.recode(table)

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities: the weighted shares of the classes where a row ends.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes)
            One column a class, in the order of `classes_`.
        """
        table = self._read(X)
        return _core.predict_shares(self._tree, table, self._threads())

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        log_p : ndarray of float64, shape (n_rows, n_classes)
            Minus infinity for classes without a share.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row: the one of the largest share.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            Class labels. A tie goes to the class that comes first in `classes_`.
        """
        table = self._read(X)
        shares = _core.predict_shares(self._tree, table, self._threads())
        labels: NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return labels

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the node where each row ends, or the largest share of it.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ends : ndarray of int64, shape (n_rows,)
            Node numbers in `tree_`: leaves, or nodes that have no branch for the row.
        """
        table = self._read(X)
        return _core.apply_shares(self._tree, table, self._threads()).astype(np.int64)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        path : sparse matrix of shape (n_rows, node_count)
            The share of the row that passes the node: 1, or less below a split on a value that
            the row misses.
        """
        table = self._read(X)
        return share_matrix(self._tree, table)


def _read_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Read weights that can be brought to a mean of one without overflow or underflow."""
    weights = read_weights(sample_weight, n_rows)
    if weights is None:
        return None
    if weights.sum() < _LEAST_SUM:
        raise ValueError("the sum of sample_weight is too small for float64; scale it up")
    weights[weights < _LEAST_SHARE * weights.max()] = 0.0
    return weights


def _as_cases(weights: Floats | None, n_rows: int) -> Floats:
    """Return weights that count cases: whole ones as they are, others with a mean of one."""
    if weights is None:
        return np.ones(n_rows)
    if are_repetitions(weights):
        return weights
    scaled: Floats = weights * (np.count_nonzero(weights) / weights.sum())
    return scaled


def _same_tree(tree: _core.Tree, other: _core.Tree) -> bool:
    ours, theirs = tree.arrays(), other.arrays()
    return all(np.array_equal(ours[name], theirs[name]) for name in ours)
