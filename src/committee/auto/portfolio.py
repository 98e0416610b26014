"""The models that a committee is chosen from, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from committee.auto.budget import forest_cost, linear_cost, round_cost
from committee.auto.folds import N_FOLDS
from committee.nets.cost import epoch_cost

# What a member learns from: features, the same as a matrix of numbers, or the table as it came.
FEATURES, MATRIX, TABLE = "features", "matrix", "table"


@dataclass(frozen=True)
class Size:
    """The size of a problem.

    Attributes
    ----------
    n_rows : int
        Rows to learn from.
    n_features : int
        Features that trees see.
    n_columns : int
        Columns of the matrix of numbers.
    n_classes : int
        Number of classes; 0 for numbers.
    """

    n_rows: int
    n_features: int
    n_columns: int
    n_classes: int

    @property
    def n_trees(self) -> int:
        """Trees of a round of boosting."""
        return self.n_classes if self.n_classes > 2 else 1


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model that may become a member.

    Attributes
    ----------
    name : str
        As on the leaderboard.
    estimator : estimator
        Not fitted.
    cost : float
        Units of a fit to all rows; of one round of boosting, of one epoch of a net.
    reads : {"features", "matrix", "table"}
        What it learns from.
    """

    name: str
    estimator: Any
    cost: float
    reads: str = FEATURES


_FOREST_TREES, _LEAST_TREES = 60, 20  # in the model of one fold
_MOST_LEAVES = 1_000_000  # of the forests of all folds: files stay small

# --- the portfolio ------------------------------------------------------------------------------
#
# The order was learnt on 24 real tables, none of them of the half that tests the library: the next
# member is the one with which the committee gains most for its seconds
# (`benchmarks/studies/portfolio.py`). In parentheses: seconds relative to boosting at its defaults,
# and by how many thousandths the loss is larger where the member is left out of the whole
# portfolio, with the standard error over the tables. One order does for all tasks and sizes: what
# differed was within the errors.

_BOOSTING: dict[str, dict[str, Any]] = {
    # (0.4; 7.7 ± 6.9) Long steps: no worse alone than the defaults, in less than half the time.
    "boosting": {"learning_rate": 0.15, "max_features": 0.5, "subsample": 0.7},
    # (1.3; 6.9 ± 4.8) Of all members it does most above 2,500 rows: 3.6 ± 1.6.
    "boosting, deep": {"max_leaf_nodes": 64, "min_samples_leaf": 3},
    # (1.9; 1.2 ± 0.6) Few features for each node and tree: better alone than the defaults.
    "boosting, few features": {
        "learning_rate": 0.03,
        "max_features": "sqrt",
        "features_per_tree": 0.7,
        "subsample": 0.8,
    },
    # (1.3; 0.9 ± 1.0) At most pairs of features meet.
    "boosting, shallow": {"max_depth": 2, "max_leaf_nodes": None},
    # (2.3; 1.2 ± 0.9) Few thresholds, many leaves: weak alone, but different.
    "boosting, coarse bins": {
        "learning_rate": 0.03,
        "max_leaf_nodes": 39,
        "max_features": 0.46,
        "subsample": 0.88,
        "min_samples_leaf": 3,
        "l1_regularization": 0.24,
        "l2_regularization": 0.36,
        "max_bins": 16,
    },
    # (1.6; 0.4 ± 0.2) For budgets that the others leave something of.
    "boosting, a fifth of the features": {
        "learning_rate": 0.05,
        "max_leaf_nodes": 32,
        "max_features": 0.2,
        "min_samples_leaf": 3,
        "subsample": 0.7,
    },
}


def portfolio(size: Size) -> Iterator[Candidate]:
    """Yield candidates, those first that do most for a committee in their time."""
    yield _boosting("boosting", size)
    # (0.1; 3.2 ± 2.2) Costs next to nothing. By gain for seconds it is first; but a committee that
    # ends with its first member is better with boosting.
    yield _linear(size)
    yield _boosting("boosting, deep", size)
    yield _net(size)
    # (0.4; -0.1 ± 0.7) The only trees that are not boosted: a member of 4 committees in 10. All
    # features at each node cost half as much again and gained nothing; random forests neither.
    yield _extra_trees(size)
    for name in (
        "boosting, few features",
        "boosting, shallow",
        "boosting, coarse bins",
        "boosting, a fifth of the features",
    ):
        yield _boosting(name, size)


def _boosting(name: str, size: Size) -> Candidate:
    from committee.boosting.classifier import GradientBoostingClassifier
    from committee.boosting.defaults import automatic_values
    from committee.boosting.regressor import GradientBoostingRegressor

    kind: Any = GradientBoostingClassifier if size.n_classes else GradientBoostingRegressor
    params = _BOOSTING[name]
    automatic = automatic_values(size.n_rows, size.n_features, size.n_trees, True)
    n_leaves = (automatic | params)["max_leaf_nodes"] or 2 ** params["max_depth"]
    cost = round_cost(size.n_rows, size.n_features, size.n_trees, n_leaves)
    return Candidate(name, kind(**params), cost)


def _extra_trees(size: Size) -> Candidate:
    from committee.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor

    kind: Any = ExtraTreesClassifier if size.n_classes else ExtraTreesRegressor
    # Leaves grow slowly with the table: files stay small, and shares of classes are steadier.
    leaf = max(2 if size.n_classes else 1, size.n_rows // 10_000)
    n_trees = _forest_trees(size, leaf)
    estimator = kind(n_trees, max_features="sqrt", min_samples_leaf=leaf)
    tried, is_numbers = size.n_features**0.5, not size.n_classes
    cost = forest_cost(size.n_rows, tried, n_trees, is_numbers=is_numbers)
    return Candidate("extra-trees", estimator, cost)


def _forest_trees(size: Size, leaf: int) -> int:
    """Return how many trees a fold has: a new row is predicted by those of all folds."""
    n_folds = next((folds for limit, folds in N_FOLDS if size.n_rows <= limit), 1)
    # As measured: classes are pure before leaves are as small as they may be.
    fullness = 0.35 if size.n_classes else (1.0 if leaf == 1 else 0.65)
    n_leaves = n_folds * fullness * size.n_rows / leaf
    return round(min(max(_MOST_LEAVES / n_leaves, _LEAST_TREES), _FOREST_TREES))


def _net(size: Size) -> Candidate:
    from committee.nets.classifier import NetClassifier
    from committee.nets.regressor import NetRegressor

    kind: Any = NetClassifier if size.n_classes else NetRegressor
    cost = epoch_cost(size.n_rows, size.n_features, size.n_classes or 1)
    return Candidate("net", kind(), cost)


def _linear(size: Size) -> Candidate:
    from sklearn.linear_model import LogisticRegression, Ridge

    model = LogisticRegression(max_iter=300) if size.n_classes else Ridge()
    return Candidate(
        "linear", model, linear_cost(size.n_rows, size.n_columns, size.n_classes), MATRIX
    )
