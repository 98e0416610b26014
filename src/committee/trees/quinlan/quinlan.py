"""Trees after Quinlan: ID3 and C4.5, with rules and an account of how a tree was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee import _core
from committee.base.params import check_bool, check_choice, check_int, check_real
from committee.tables.table import Kind, TableSchema, bin_table
from committee.trees.quinlan.nominal_table import NominalCodes, discretize
from committee.trees.quinlan.pessimistic import check_confidence, normal_deviate
from committee.trees.quinlan.quinlan_model import ClassTable, QuinlanModel
from committee.trees.tree_model import AUTO_EXACT_ROWS

_MAX_DEPTH = 2**32 - 1


class ID3Classifier(QuinlanModel):
    """Quinlan's ID3: information gain, and a branch for each level.

    Every node splits by the attribute of the largest information gain, in bits; each of its levels
    gets a branch, and it is not used again below. A node is a leaf when
    its rows have one class or no attribute is left. A level that training did not see at a node
    gets the answer of the node itself: the majority of the parent.

    Parameters
    ----------
    numeric : {"discretize", "refuse"}, default="discretize"
        What to do with numeric columns. "discretize" cuts them into intervals before the tree is
        grown, by minimal description length (Fayyad and Irani 1993): where it lowers the entropy
        of the classes by more than it takes to describe the cut. A column without such a cut is
        asked at most whether it has a value. "refuse" raises an error. Booleans are two levels in
        any case.
    max_depth : int or None, default=None
        Largest number of splits above a leaf.
    min_samples_split : int, default=2
        Rows a node needs to be split, counted by weight.
    min_gain : float, default=0.0
        Information gain in bits that a split must bring. With 0 a node is split as long as there
        are attributes, as in the textbook: a split that gains nothing may make others possible.
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
    classes_ : ndarray
        Class labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    feature_importances_ : ndarray of float64
        Share of each feature in the decrease of entropy.
    tree_ : QuinlanView
        The nodes, with scikit-learn's field names.
    schema_ : TableSchema
        Names, kinds and levels of the features.

    Notes
    -----
    Missing values are a level of their own, in a table that has some. Ties go to the first column.

    Examples
    --------
    >>> from committee import ID3Classifier, export_text
    >>> X = [["sunny", "high"], ["sunny", "normal"], ["rainy", "high"], ["rainy", "normal"]]
    >>> model = ID3Classifier().fit(X, ["no", "yes", "yes", "yes"])
    >>> print(export_text(model, feature_names=["outlook", "humidity"]), end="")
    |--- outlook in {rainy}
    |   |--- class: yes
    |--- outlook in {sunny}
    |   |--- humidity in {high}
    |   |   |--- class: no
    |   |--- humidity in {normal}
    |   |   |--- class: yes
    """

    def __init__(
        self,
        *,
        numeric: str = "discretize",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_gain: float = 0.0,
        categorical_features: Any = None,
        numeric_text: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.numeric = numeric
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_gain = min_gain
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text
        self.n_jobs = n_jobs

    _reads_ranks = False

    def _settings(self) -> dict[str, Any]:
        check_choice("numeric", self.numeric, ("discretize", "refuse"))
        return {
            "use_ratio": False,
            "prunes": False,
            "min_weight_leaf": np.nextafter(0.0, 1.0),  # every level has a branch
            "min_weight_split": float(check_int("min_samples_split", self.min_samples_split, 2)),
            "min_gain": check_real("min_gain", self.min_gain, 0.0),
            "max_depth": _depth(self.max_depth),
        }

    def _prepare(
        self, data: ClassTable, n_threads: int
    ) -> tuple[_core.BinnedDataset, TableSchema, NominalCodes | None]:
        if self.numeric == "refuse":
            _refuse_numbers(data.schema)
        codes = discretize(
            data.table, data.schema, data.codes, len(data.classes), data.weights, n_threads
        )
        dataset = _core.BinnedDataset(
            codes.recode(data.table),
            data.weights,
            [codes.n_levels(feature) for feature in range(data.schema.n_features)],
            n_threads=n_threads,
        )
        return dataset, codes.schema, codes


class C45Classifier(QuinlanModel):
    """Quinlan's C4.5: gain ratio, thresholds, missing values in shares, pessimistic pruning.

    Categories have a branch for each level, or for groups of levels; numbers are split by
    thresholds. A row whose value is missing goes down all branches with a part of its weight, in
    training and in prediction. Then the tree is pruned by the errors that its leaves may be
    expected to make.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}, default="gain_ratio"
        "gain_ratio" takes the best ratio of gain and split information among the features whose
        gain is at least the average; "gain" the best information gain, as ID3 does.
    max_depth : int or None, default=None
        Largest number of splits above a leaf.
    min_samples_leaf : int, default=2
        At least two branches of a split have this many rows, counted by weight.
    category_split : {"fanout", "grouped"}, default="fanout"
        A branch for each level, or for groups of levels: the two groups whose merger gives the
        best gain ratio are merged as long as that raises it. Takes long for columns of many
        hundred levels: the time grows with the third power of their number.
    threshold_correction : bool, default=True
        Take log2(number of thresholds tried) / (number of rows) bits off the gain of a threshold,
        and have a tenth of an average class, at most 25 rows, on both sides of it.
    pruning : {"pessimistic", None}, default="pessimistic"
        Replace subtrees that are expected to make no fewer errors than a leaf; None keeps the
        grown tree.
    confidence : float, default=0.25
        Confidence of the upper limit of errors, in (0, 0.5]; smaller values prune more.
    subtree_raising : bool, default=True
        A subtree may also be replaced by its heaviest branch. Takes long where values are missing
        and the tree is hundreds of splits deep, for every branch is tried with more rows.
    split_finding : {"auto", "hist", "exact"}, default="auto"
        "exact" looks at every distinct value; "hist" at up to `max_bins` bins of each feature;
        "auto" is exact up to 16,384 rows.
    max_bins : int, default=255
        Most bins of a numeric feature with "hist".
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
    classes_ : ndarray
        Class labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    feature_importances_ : ndarray of float64
        Share of each feature in the decrease of entropy.
    tree_ : QuinlanView
        The nodes, with scikit-learn's field names.
    schema_ : TableSchema
        Names, kinds and levels of the features.

    Notes
    -----
    Rows are counted by weight. Whole weights are repetitions; others are brought to a mean of one.
    A level that training did not see at a node gets the answer of the node. Ties go to the first
    column and the lowest threshold.

    Examples
    --------
    >>> from committee import C45Classifier
    >>> X = [["red", 3.0], ["red", None], [None, 1.0], ["green", 9.0], ["green", 8.0]]
    >>> model = C45Classifier().fit(X, ["stop", "stop", "stop", "go", "go"])
    >>> model.predict([["red", 7.0], ["green", None]]).tolist()
    ['stop', 'go']
    """

    def __init__(
        self,
        *,
        criterion: str = "gain_ratio",
        max_depth: int | None = None,
        min_samples_leaf: int = 2,
        category_split: str = "fanout",
        threshold_correction: bool = True,
        pruning: str | None = "pessimistic",
        confidence: float = 0.25,
        subtree_raising: bool = True,
        split_finding: str = "auto",
        max_bins: int = 255,
        categorical_features: Any = None,
        numeric_text: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.category_split = category_split
        self.threshold_correction = threshold_correction
        self.pruning = pruning
        self.confidence = confidence
        self.subtree_raising = subtree_raising
        self.split_finding = split_finding
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text
        self.n_jobs = n_jobs

    def _settings(self) -> dict[str, Any]:
        criterion = check_choice("criterion", self.criterion, ("gain_ratio", "gain"))
        splits = check_choice("category_split", self.category_split, ("fanout", "grouped"))
        pruning = check_choice("pruning", self.pruning, ("pessimistic",), none=True)
        confidence = check_confidence(self.confidence)
        corrects = check_bool("threshold_correction", self.threshold_correction)
        smallest = float(check_int("min_samples_leaf", self.min_samples_leaf, 1))
        return {
            "use_ratio": criterion == "gain_ratio",
            "groups_levels": splits == "grouped",
            "corrects_thresholds": corrects,
            "min_weight_leaf": smallest,
            "min_weight_split": 2 * smallest,
            "max_depth": _depth(self.max_depth),
            "prunes": pruning is not None,
            "raises": check_bool("subtree_raising", self.subtree_raising),
            "confidence": confidence,
            "deviate": normal_deviate(confidence),
        }

    def _prepare(
        self, data: ClassTable, n_threads: int
    ) -> tuple[_core.BinnedDataset, TableSchema, NominalCodes | None]:
        choice = check_choice("split_finding", self.split_finding, ("auto", "hist", "exact"))
        is_small = data.table.n_rows <= AUTO_EXACT_ROWS
        dataset, schema = bin_table(
            self,
            data.table,
            data.schema,
            data.weights,
            exact=choice == "exact" or (choice == "auto" and is_small),
            n_threads=n_threads,
        )
        return dataset, schema, None


def _depth(max_depth: int | None) -> int:
    depth = check_int("max_depth", max_depth, 1, none=True)
    return _MAX_DEPTH if depth is None else min(depth, _MAX_DEPTH)


def _refuse_numbers(schema: TableSchema) -> None:
    for info in schema.features:
        if info.kind != Kind.CATEGORY and info.label != "boolean":
            raise ValueError(
                f"column {info.name!r} holds numbers (or dates) and numeric='refuse': ID3 asks for "
                "levels. Name the column in categorical_features, cut it into intervals, or set "
                "numeric='discretize'"
            )
