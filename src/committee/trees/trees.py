"""Classification and regression trees (CART) on the engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metadata_routing import UNUSED

from committee.base.arrays import Floats
from committee.files.parts import CLASS_PARTS, Part
from committee.tables.class_weights import class_weights
from committee.tables.target import (
    RowWeights,
    check_same_length,
    read_classes,
    read_reals,
    read_weights,
)
from committee.trees.engine_settings import EngineTarget, check_reals
from committee.trees.tree_model import TreeModel


class DecisionTreeClassifier(ClassifierMixin, TreeModel):
    """Classification tree from a raw table.

    Numbers, text, categories, dates and missing values are used as they are. Missing values go to
    the side of a split that suits them best; levels never seen in training go with them.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        What a split should reduce. "entropy" and "log_loss" are the same, in bits; "error" is the
        share of rows outside the largest class.
    splitter : {"best", "random"}, default="best"
        "random" draws one threshold for each feature and keeps the best of them.
    max_depth : int or None, default=None
        Largest number of splits above a leaf.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a fraction of all rows. Whole sample weights
        count as repetitions of a row.
    min_samples_leaf : int or float, default=1
        Rows a leaf needs; a float below 1 is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight a leaf needs.
    max_features : int, float, {"sqrt", "log2", "log2+1"} or None, default=None
        Features drawn at each node; None, or an int beyond their number, looks at all.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws, below 2**64 if it is an int. Without draws (`max_features=None`,
        `splitter="best"`) it has no effect.
    max_leaf_nodes : int or None, default=None
        Grow best-first until there are this many leaves: d splits make d + 1 leaves.
    min_impurity_decrease : float, default=0.0
        Weighted decrease of impurity that a split must bring.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of the classes.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning.
    monotonic_cst : array-like of int, dict or None, default=None
        For each feature 1 (probability of the second class rises with it), -1 (falls) or 0.
    split_finding : {"auto", "hist", "exact"}, default="auto"
        "exact" looks at every distinct value; "hist" at up to `max_bins` bins of each feature,
        much faster on large tables; "auto" is exact up to 16,384 rows.
    max_bins : int, default=255
        Most bins of a numeric feature with "hist".
    category_split : {"subset", "fanout"}, default="subset"
        Split a category in two sets of levels, or in one branch for each level.
    level_penalty : float, default=2.0
        What a category pays for each level beyond two when its best subset is compared with other
        splits, in impurities of an average row. A category with a level for every few rows would
        win by chance otherwise. 2 is the price of a parameter in Akaike's criterion, 0 compares
        raw gains.
    categorical_features : list of names, positions or booleans, "from_dtype" or None, default=None
        Numeric columns to treat as categories; text and category columns always are.
    numeric_text : {"auto", "number", "category"}, default="auto"
        What numbers written as text are. "auto" makes numbers of them, with a warning, where a
        column of an array or a list holds nothing else, and keeps text of data frames. "number"
        makes numbers of both, and missing values of marks such as "?". "category" keeps text.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The model is the same for any number.

    Attributes
    ----------
    classes_ : ndarray or list of ndarray
        Class labels, in the order of the columns of `predict_proba`.
    n_classes_ : int or list of int
        Number of classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    n_outputs_ : int
        Number of outputs.
    max_features_ : int
        Features drawn at each node.
    feature_importances_ : ndarray of float64
        Share of each feature in the decrease of impurity.
    tree_ : TreeView
        The nodes, with scikit-learn's field names.
    schema_ : TableSchema
        Names, kinds and levels of the features.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> X = [["red", 3.0], ["red", None], ["green", 1.0], ["green", 9.0]]
    >>> model = DecisionTreeClassifier().fit(X, ["stop", "stop", "go", "go"])
    >>> model.predict([["red", 7.0], ["green", None]]).tolist()
    ['stop', 'go']
    """

    __metadata_request__predict_proba: ClassVar = {"check_input": UNUSED}  # see TreeModel

    _criteria = ("gini", "entropy", "log_loss", "error")
    _stored_parts: ClassVar[dict[str, Part]] = CLASS_PARTS

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        split_finding: str = "auto",
        max_bins: int = 255,
        category_split: str = "subset",
        level_penalty: float = 2.0,
        categorical_features: Any = None,
        numeric_text: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.split_finding = split_finding
        self.max_bins = max_bins
        self.category_split = category_split
        self.level_penalty = level_penalty
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True
    ) -> DecisionTreeClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Class labels.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            A row of weight two counts as that row twice, a row of weight zero is absent.
        check_input : bool, default=True
            Accepted for scikit-learn's sake; the input is always checked.

        Returns
        -------
        self : DecisionTreeClassifier
            The fitted estimator.
        """
        table, schema = self._read_table(X)
        labels = read_classes(y)
        check_same_length(table.n_rows, len(labels.codes))
        weights = read_weights(sample_weight, table.n_rows)
        factors = class_weights(self.class_weight, labels, weights)
        n_classes = [len(classes) for classes in labels.classes]
        tree, schema = self._grow(
            table,
            schema,
            EngineTarget(labels.codes, n_classes, None),
            RowWeights.combine(table.n_rows, weights, factors),
        )
        is_single = labels.n_outputs == 1
        self._adopt(
            tree,
            schema,
            labels.classes,
            classes_=labels.classes[0] if is_single else labels.classes,
            n_classes_=n_classes[0] if is_single else n_classes,
            n_outputs_=labels.n_outputs,
        )
        return self

    def _class_labels(self) -> list[NDArray[Any]]:
        return [self.classes_] if self.n_outputs_ == 1 else self.classes_

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Predict the class of each row: the largest class of its leaf.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.
        check_input : bool, default=True
            Accepted for scikit-learn's sake; the input is always checked.

        Returns
        -------
        y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Class labels. A tie goes to the class that comes first in `classes_`.
        """
        table = self._read(X)
        leaves = self._tree.apply(table, self._threads())
        best = self.tree_.best_class
        columns = [labels[best[k][leaves]] for k, labels in enumerate(self._class_labels())]
        return columns[0] if self.n_outputs_ == 1 else np.column_stack(columns)

    def predict_proba(self, X: Any, check_input: bool = True) -> Floats | list[Floats]:
        """Predict class probabilities: the weighted shares of the classes in the leaf.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        check_input : bool, default=True
            Accepted for scikit-learn's sake; the input is always checked.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes), or a list of these
            One column a class, in the order of `classes_`; a list for several outputs.
        """
        table = self._read(X)
        values = self._tree.predict(table, self._threads())
        if self.n_outputs_ == 1:
            return values
        ends = np.cumsum(self.n_classes_)[:-1]
        return [np.ascontiguousarray(part) for part in np.split(values, ends, axis=1)]

    def predict_log_proba(self, X: Any) -> Floats | list[Floats]:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        log_p : ndarray of float64, shape (n_rows, n_classes), or a list of these
            Minus infinity for classes that the leaf does not hold.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if isinstance(shares, list):
                return [np.log(each) for each in shares]
            return np.log(shares)


class DecisionTreeRegressor(RegressorMixin, TreeModel):
    """Regression tree from a raw table.

    Numbers, text, categories, dates and missing values are used as they are. Missing values go to
    the side of a split that suits them best; levels never seen in training go with them.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson", "friedman_mse"}, \
default="squared_error"
        What a split should reduce. Leaves predict the mean, the median for "absolute_error".
        "poisson" is half the Poisson deviance, for counts; "friedman_mse" chooses the same splits
        as "squared_error" and is accepted for scikit-learn's sake.
    splitter : {"best", "random"}, default="best"
        "random" draws one threshold for each feature and keeps the best of them.
    max_depth : int or None, default=None
        Largest number of splits above a leaf.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a fraction of all rows. Whole sample weights
        count as repetitions of a row.
    min_samples_leaf : int or float, default=1
        Rows a leaf needs; a float below 1 is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight a leaf needs.
    max_features : int, float, {"sqrt", "log2", "log2+1"} or None, default=None
        Features drawn at each node; None, or an int beyond their number, looks at all.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws, below 2**64 if it is an int. Without draws (`max_features=None`,
        `splitter="best"`) it has no effect.
    max_leaf_nodes : int or None, default=None
        Grow best-first until there are this many leaves: d splits make d + 1 leaves.
    min_impurity_decrease : float, default=0.0
        Weighted decrease of impurity that a split must bring.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning.
    monotonic_cst : array-like of int, dict or None, default=None
        For each feature 1 (predictions rise with it), -1 (they fall) or 0.
    split_finding : {"auto", "hist", "exact"}, default="auto"
        "exact" looks at every distinct value; "hist" at up to `max_bins` bins of each feature,
        much faster on large tables; "auto" is exact up to 16,384 rows.
    max_bins : int, default=255
        Most bins of a numeric feature with "hist".
    category_split : {"subset", "fanout"}, default="subset"
        Split a category in two sets of levels, or in one branch for each level.
    level_penalty : float, default=2.0
        What a category pays for each level beyond two when its best subset is compared with other
        splits, in impurities of an average row. A category with a level for every few rows would
        win by chance otherwise. 2 is the price of a parameter in Akaike's criterion, 0 compares
        raw gains.
    categorical_features : list of names, positions or booleans, "from_dtype" or None, default=None
        Numeric columns to treat as categories; text and category columns always are.
    numeric_text : {"auto", "number", "category"}, default="auto"
        What numbers written as text are. "auto" makes numbers of them, with a warning, where a
        column of an array or a list holds nothing else, and keeps text of data frames. "number"
        makes numbers of both, and missing values of marks such as "?". "category" keeps text.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The model is the same for any number.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    n_outputs_ : int
        Number of outputs.
    max_features_ : int
        Features drawn at each node.
    feature_importances_ : ndarray of float64
        Share of each feature in the decrease of impurity.
    tree_ : TreeView
        The nodes, with scikit-learn's field names.
    schema_ : TableSchema
        Names, kinds and levels of the features.

    Examples
    --------
    >>> from committee import DecisionTreeRegressor
    >>> X = [["small", 1.0], ["small", None], ["large", 5.0], ["large", 6.0]]
    >>> model = DecisionTreeRegressor(max_depth=1).fit(X, [10.0, 12.0, 30.0, 34.0])
    >>> model.predict([["small", 2.0], ["large", 2.0]]).tolist()
    [11.0, 32.0]
    """

    _criteria = ("squared_error", "absolute_error", "poisson", "friedman_mse")

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        split_finding: str = "auto",
        max_bins: int = 255,
        category_split: str = "subset",
        level_penalty: float = 2.0,
        categorical_features: Any = None,
        numeric_text: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.split_finding = split_finding
        self.max_bins = max_bins
        self.category_split = category_split
        self.level_penalty = level_penalty
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True
    ) -> DecisionTreeRegressor:
        """Grow the tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Finite numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            A row of weight two counts as that row twice, a row of weight zero is absent.
        check_input : bool, default=True
            Accepted for scikit-learn's sake; the input is always checked.

        Returns
        -------
        self : DecisionTreeRegressor
            The fitted estimator.
        """
        table, schema = self._read_table(X)
        values, _ = read_reals(y)
        check_same_length(table.n_rows, len(values))
        weights = read_weights(sample_weight, table.n_rows)
        check_reals(self.criterion, values, weights)
        tree, schema = self._grow(
            table,
            schema,
            EngineTarget(None, [], values),
            RowWeights.combine(table.n_rows, weights, None),
        )
        self._adopt(tree, schema, None, n_outputs_=values.shape[1])
        return self

    def predict(self, X: Any, check_input: bool = True) -> Floats:
        """Predict the target of each row: the mean (or median) of its leaf.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.
        check_input : bool, default=True
            Accepted for scikit-learn's sake; the input is always checked.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,) or (n_rows, n_outputs)
            Predictions.
        """
        table = self._read(X)
        values = self._tree.predict(table, self._threads())
        return values[:, 0] if self.n_outputs_ == 1 else values
