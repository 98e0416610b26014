"""The C++ engine of committee. A test compares this stub with the compiled module."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Table:
    """Columns of a table, looked at where they are."""

    def __init__(self, n_rows: int) -> None: ...
    def add_column(
        self, kind: int, values: NDArray[Any], mask: NDArray[np.uint8] | None = None
    ) -> None: ...
    @staticmethod
    def from_matrix(matrix: NDArray[Any]) -> Table: ...
    @staticmethod
    def from_sparse(
        n_rows: int,
        begins: NDArray[np.int64],
        rows: NDArray[np.int32],
        values: NDArray[np.float64],
    ) -> Table:
        """Return the columns of a CSC matrix: zero where no value is stored."""

    def add_from(self, table: Table, feature: int) -> None: ...
    def levels(self, feature: int) -> NDArray[np.int32]: ...
    def row_keys(
        self, keys: NDArray[np.uint64], level_keys: Sequence[Sequence[int]], n_threads: int = 1
    ) -> NDArray[np.uint64]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def has_sparse(self) -> bool: ...
    @property
    def kinds(self) -> list[int]: ...

class Tree:
    """A grown tree. The layout of its arrays is in src/core/tree/tree.hpp."""

    def __init__(
        self, n_features: int, kinds: Sequence[int], arrays: dict[str, NDArray[Any]]
    ) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def kinds(self) -> list[int]: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def n_values(self) -> int: ...
    def arrays(self) -> dict[str, NDArray[Any]]: ...
    def depths(self) -> NDArray[np.uint32]: ...
    def predict(self, table: Table, n_threads: int = 1) -> NDArray[np.float64]: ...
    def apply(self, table: Table, n_threads: int = 1) -> NDArray[np.uint32]: ...
    def decision_path(self, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def contributions(self, table: Table, n_threads: int = 1) -> NDArray[np.float64]: ...
    def prune(self, alpha: float) -> Tree: ...
    def pruning_path(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class BinnedDataset:
    """A table with one small integer, a code, for each cell."""

    def __init__(
        self,
        table: Table,
        weights: NDArray[np.float64] | None = None,
        n_levels: Sequence[int] = ...,
        max_bins: int = 255,
        exact: bool = False,
        n_threads: int = 1,
        spread: bool = True,
        progress: Callable[[int], object] | None = None,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    def take(self, table: Table, rows: NDArray[np.int64], n_threads: int = 1) -> BinnedDataset: ...
    def codes(self, feature: int) -> NDArray[np.uint32]: ...
    def n_codes(self, feature: int) -> int: ...
    def has_missing(self, feature: int) -> bool: ...

def row_sums(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    *,
    kind: str = "product",
    upper_only: bool = False,
    n_threads: int = 1,
) -> NDArray[np.float64]:
    """Return sums over the columns for each pair of rows, in an order that nothing changes."""

def row_matches(
    left: NDArray[np.uint8], right: NDArray[np.uint8], n_threads: int = 1
) -> NDArray[np.uint32]:
    """Return the number of equal codes of each pair of rows."""

def pairs_in_order(
    values: NDArray[np.float64],
    second: NDArray[np.float64],
    first: NDArray[np.float64],
    n_threads: int = 1,
) -> NDArray[np.float64]:
    """Return the weight of pairs of rows of two classes that are in order; ties count half."""

def grow_tree(
    dataset: BinnedDataset,
    *,
    classes: NDArray[np.int32] | None = None,
    n_classes: Sequence[int] = ...,
    reals: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
    counts: NDArray[np.uint32] | None = None,
    settings: dict[str, Any] = ...,
    progress: Callable[[int], object] | None = None,
) -> Tree: ...
def simd_level() -> str: ...
def set_simd_level(level: str) -> None: ...
def pool_sum(n_tasks: int, n_threads: int, work_per_task: int, parts: bool = False) -> int: ...
def pool_raise(n_tasks: int, n_threads: int, first_bad: int, parts: bool = False) -> int: ...
def pool_nested(n_outer: int, n_inner: int, n_threads: int, parts: bool = False) -> int: ...
def pool_sleep(
    n_tasks: int,
    n_threads: int,
    milliseconds: int,
    progress: Callable[[int], object] | None = None,
    parts: bool = False,
) -> int: ...
def chunks(n_items: int, min_chunk: int, n_threads: int) -> list[tuple[int, int]]: ...

class SamplingPlan:
    """Which rows the members of an ensemble draw; see sampling.hpp."""

    def __init__(
        self,
        n_rows: int,
        strata: Sequence[tuple[NDArray[np.uint32], int]],
        *,
        unit_of_row: NDArray[np.uint32] | None = None,
        unit_weights: NDArray[np.float64] | None = None,
        with_replacement: bool = True,
        n_portions: int = 0,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    def draw(self, seed: int, index: int) -> NDArray[np.uint32]:
        """How often member `index` of an ensemble with this seed draws each row."""

def derive_key(key: int, index: int) -> int:
    """Return the key of child number `index` of `key`."""

class Forest:
    """Many trees in little memory; see src/core/forest/forest.hpp."""

    @staticmethod
    def from_trees(
        trees: Sequence[Tree], criterion: str, n_classes: Sequence[int], keep_all: bool = False
    ) -> Forest:
        """Make a forest of grown trees; n_classes is empty for regression."""

    @staticmethod
    def join(forests: Sequence[Forest]) -> Forest:
        """Return all trees of some forests, one after another."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Make a forest from its flat arrays; ValueError unless they are sound."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the forest as flat arrays, see src/core/forest/forest_arrays.hpp."""

    @property
    def n_trees(self) -> int: ...
    @property
    def has_leaf_masks(self) -> bool: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_values(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    def node_counts(self) -> NDArray[np.int64]: ...
    def leaf_counts(self) -> NDArray[np.int64]: ...
    def part(self, begin: int, end: int) -> Forest: ...
    def tree(self, index: int) -> Tree: ...
    def impurity_decreases(self, n_threads: int = 1) -> NDArray[np.float64]: ...
    def predict(
        self,
        table: Table,
        *,
        hard: bool = False,
        tree_weights: NDArray[np.float64] | None = None,
        stages: Sequence[int] | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Return sums of the trees' values or votes, n_rows x n_values, or one for each stage."""

    def predict_each(self, table: Table, n_threads: int = 1) -> NDArray[np.float64]: ...
    def apply(
        self, table: Table, leaf_numbers: bool = False, n_threads: int = 1
    ) -> NDArray[np.uint32]: ...
    def contributions(
        self,
        table: Table,
        *,
        hard: bool = False,
        tree_weights: NDArray[np.float64] | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Return what each feature adds to `predict`, n_rows x (n_features + 1) x n_values."""

    def add_out_of_bag(
        self,
        table: Table,
        plan: SamplingPlan,
        row_seed: int,
        sums: NDArray[np.float64],
        n_votes: NDArray[np.uint32],
        *,
        begin: int = 0,
        end: int | None = None,
        classes: NDArray[np.int32] | None = None,
        reals: NDArray[np.float64] | None = None,
        weights: NDArray[np.float64] | None = None,
        hard: bool = False,
        n_threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Add what trees say about the rows they left out; return each tree's loss and weight."""

    def permute_features(
        self,
        table: Table,
        plan: SamplingPlan,
        row_seed: int,
        *,
        groups: NDArray[np.uint32],
        n_groups: int,
        seed: int,
        loss: str,
        classes: NDArray[np.int32] | None = None,
        reals: NDArray[np.float64] | None = None,
        weights: NDArray[np.float64] | None = None,
        n_threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the increase of each tree's loss by permuting each group, its loss and weight."""

    def leaf_members(
        self,
        table: Table,
        plan: SamplingPlan | None = None,
        row_seed: int = 0,
        *,
        weights: NDArray[np.float64] | None = None,
        n_threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the training rows in each leaf of each tree: offsets, rows, counts."""

    def predict_quantiles(
        self,
        table: Table,
        members: tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]],
        targets: NDArray[np.float64],
        quantiles: NDArray[np.float64],
        *,
        weights: NDArray[np.float64] | None = None,
        n_threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> NDArray[np.float64]:
        """Return quantiles of the targets in the leaves of each row, n_rows x n_quantiles."""

def grow_forest(
    dataset: BinnedDataset,
    n_trees: int,
    *,
    classes: NDArray[np.int32] | None = None,
    n_classes: Sequence[int] = ...,
    reals: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
    counts: NDArray[np.uint32] | None = None,
    settings: dict[str, Any] = ...,
    first_tree: int = 0,
    tree_seed: int = 0,
    plan: SamplingPlan | None = None,
    row_seed: int = 0,
    feature_plan: SamplingPlan | None = None,
    feature_seed: int = 0,
    balance_classes: bool = False,
    ccp_alpha: float = 0.0,
    leaf_smoothing: float = 0.0,
    use_records: bool = True,
    n_threads: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Forest:
    """Grow trees first_tree, first_tree + 1, ... of a forest; progress counts trees."""

def log_loss_gradients(
    target: NDArray[np.uint8],
    scores: NDArray[np.float64],
    gradients: NDArray[np.float64],
    hessians: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    n_threads: int = 1,
) -> float:
    """Write the derivatives of the log loss of two classes in place; return the sum of losses."""

def squared_error_gradients(
    target: NDArray[np.float64],
    scores: NDArray[np.float64],
    gradients: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    n_threads: int = 1,
) -> float:
    """Write the derivatives of half the squared error in place; return the sum of losses."""

def log_loss_shares(scores: NDArray[np.float64], n_threads: int = 1) -> NDArray[np.float64]:
    """Return the probabilities of two classes, n_rows x 2, for logarithms of odds."""

def log_losses(
    target: NDArray[np.uint8],
    scores: NDArray[np.float64],
    losses: NDArray[np.float64],
    n_threads: int = 1,
) -> None:
    """Write the log loss of each row, two classes, in place."""

def multinomial_losses(
    classes: NDArray[np.int32],
    scores: NDArray[np.float64],
    losses: NDArray[np.float64],
    n_threads: int = 1,
) -> None:
    """Write the log loss of each row, several classes, Fortran-ordered scores, in place."""

def multinomial_gradients(
    classes: NDArray[np.int32],
    scores: NDArray[np.float64],
    gradients: NDArray[np.float64],
    hessians: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    n_threads: int = 1,
) -> float:
    """Write the derivatives for several classes, Fortran-ordered; return the sum of losses."""

class Booster:
    """Grows the trees of gradient boosting; see src/core/boost/booster.hpp."""

    def __init__(
        self,
        dataset: BinnedDataset,
        settings: dict[str, Any] = ...,
        weights: NDArray[np.float64] | None = None,
        n_threads: int = 1,
    ) -> None: ...
    def grow(
        self,
        gradients: NDArray[np.float64],
        hessians: NDArray[np.float64] | None = None,
        *,
        learning_rate: float = 1.0,
        seed: int = 0,
        sample: NDArray[np.uint8] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Tree:
        """Grow a tree on the derivatives of a loss."""

    def weigh(self, weights: NDArray[np.float64]) -> None:
        """Weigh the rows otherwise in the next trees; whole weights stay whole."""

    def leaves(self) -> NDArray[np.uint32]:
        """Return the node of the last tree that each row has reached."""

    def add_to(self, tree: Tree, scores: NDArray[np.float64], n_threads: int = 1) -> None:
        """Add the steps of the last tree to the scores of its rows, in place."""

    @staticmethod
    def with_leaf_values(tree: Tree, values: NDArray[np.float64]) -> Tree:
        """Return the same tree with other values, one a node."""

def ordered_means(
    levels: NDArray[np.int32],
    n_levels: int,
    order: NDArray[np.uint32],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    *,
    smoothing: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means by level: of each row from those before it, and of each level."""

def group_quantiles(
    values: NDArray[np.float64],
    groups: NDArray[np.uint32],
    n_groups: int,
    share: float,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the weighted quantile of each group of rows; zero for a group without rows."""

class BoostedRows:
    """Classes, weights and scores of the rows of AdaBoost (adaboost/boosted_rows.hpp)."""

    def __init__(
        self,
        classes: NDArray[np.int32],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
        n_threads: int = 1,
    ) -> None: ...
    def shares(self, groups: NDArray[np.uint32], n_groups: int) -> NDArray[np.float64]:
        """Return shares of all weight by group and class, n_groups x n_classes."""

    def reweigh(
        self, groups: NDArray[np.uint32], factors: NDArray[np.float64], growth: float
    ) -> None:
        """Multiply weights by factors of group and class; growth is that of their sum."""

    def add_votes(self, groups: NDArray[np.uint32], votes: NDArray[np.float64]) -> float:
        """Add votes of groups to the scores of rows; return the share of rows now wrong."""

    def distribution(self) -> NDArray[np.float64]:
        """Return the weight of each row as a share of all."""

    def scores(self) -> NDArray[np.float64]:
        """Return the sums of votes, n_rows x n_classes."""

class StumpBooster:
    """Finds the stump of each round of AdaBoost; see src/core/adaboost/stump_booster.hpp."""

    def __init__(
        self,
        dataset: BinnedDataset,
        rows: BoostedRows,
        *,
        criterion: str = "gini",
        level_penalty: float = 0.0,
        n_threads: int = 1,
    ) -> None: ...
    def find(
        self,
    ) -> tuple[Tree, NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64]]:
        """Return the best stump, the node of each row (a view), shares and classes of nodes."""

def grow_quinlan(
    dataset: BinnedDataset,
    *,
    classes: NDArray[np.int32] | None,
    n_classes: Sequence[int],
    weights: NDArray[np.float64] | None = None,
    settings: dict[str, Any] = ...,
    progress: Callable[[int], object] | None = None,
) -> tuple[Tree, dict[str, NDArray[Any]]]: ...
def predict_shares(tree: Tree, table: Table, n_threads: int) -> NDArray[np.float64]: ...
def apply_shares(tree: Tree, table: Table, n_threads: int) -> NDArray[np.uint32]: ...
def share_path(
    tree: Tree, table: Table
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
def node_branches(tree: Tree, table: Table, node: int) -> NDArray[np.int32]: ...
def interval_cuts(
    dataset: BinnedDataset,
    feature: int,
    *,
    classes: NDArray[np.int32] | None,
    n_classes: Sequence[int],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[Any]: ...
def nominal_codes(
    table: Table, feature: int, cuts: NDArray[Any], missing_level: int
) -> NDArray[np.int32]: ...

class NetShape:
    """The sizes of a net. See src/core/net/net_shape.hpp."""

    def __init__(
        self,
        features: Sequence[tuple[int, int]],
        knots: NDArray[np.float32],
        *,
        n_units: int,
        n_layers: int,
        n_members: int,
        n_outputs: int,
    ) -> None: ...
    @property
    def n_parameters(self) -> int: ...

class NetTrainer:
    """Fits a net to rows, epoch by epoch."""

    def __init__(
        self,
        shape: NetShape,
        codes: NDArray[np.uint32],
        fractions: NDArray[np.float32],
        settings: dict[str, Any],
        *,
        classes: NDArray[np.int32] | None = None,
        reals: NDArray[np.float32] | None = None,
        weights: NDArray[np.float32] | None = None,
    ) -> None: ...
    def run_epoch(
        self, rows: NDArray[np.uint32], learning_rate: float, n_threads: int = 1
    ) -> None: ...
    def parameters(self) -> NDArray[np.float32]: ...
    def average(self) -> NDArray[np.float32]: ...

class Net:
    """A fitted net."""

    def __init__(self, shape: NetShape, parameters: NDArray[np.float32]) -> None: ...
    def predict(
        self,
        codes: NDArray[np.uint32],
        fractions: NDArray[np.float32],
        *,
        is_class: bool,
        n_threads: int = 1,
    ) -> NDArray[np.float64]: ...

def minus_logs(shares: NDArray[np.float64]) -> NDArray[np.float64]: ...

class CsvCells:
    """The cells of a text with delimiters.

    `marks` are texts in lower case that stand for a missing value.
    """

    def __init__(
        self,
        text: bytes,
        delimiter: str,
        *,
        begin: int = 0,
        has_header: bool = True,
        n_threads: int = 1,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def header(self) -> list[str]: ...
    @property
    def fault(self) -> tuple[int, int] | None: ...
    def line(self, row: int) -> int: ...
    def cell(self, row: int, column: int) -> str: ...
    def numbers(
        self, columns: Sequence[int], marks: Sequence[str], decimal: str = ".", thousands: str = ""
    ) -> list[tuple[NDArray[np.float64] | None, dict[str, Any]]]: ...
    def integers(
        self, column: int, marks: Sequence[str], decimal: str = ".", thousands: str = ""
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8], int | None]: ...
    def dates(
        self, column: int, marks: Sequence[str], order: str
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8], int | None]: ...
    def levels(self, column: int, trimmed: bool = True) -> tuple[NDArray[np.int32], list[str]]: ...
