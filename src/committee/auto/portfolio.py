"""The models that a committee is chosen from, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from committee.auto.budget import forest_cost, linear_cost, round_cost

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
        Units of a fit to all rows; of one round for boosting.
    reads : {"features", "matrix", "table"}
        What it learns from.
    """

    name: str
    estimator: Any
    cost: float
    reads: str = FEATURES


_FOREST_TREES = 60  # in the model of one fold


def portfolio(size: Size) -> Iterator[Candidate]:
    """Yield candidates, those first that do most for a committee in their time."""
    yield _boosting(
        "boosting, large steps", size, 16, learning_rate=0.15, max_features=0.5, subsample=0.7
    )
    yield _linear(size)
    yield _boosting("boosting, deep", size, 64, max_leaf_nodes=64, min_samples_leaf=3)
    yield _forest("extra-trees", size, is_extra=True, share=1.0)
    yield _boosting(
        "boosting, few features",
        size,
        16,
        learning_rate=0.03,
        max_features="sqrt",
        features_per_tree=0.7,
        subsample=0.8,
    )
    yield _boosting("boosting, shallow", size, 4, max_depth=2, max_leaf_nodes=None)
    yield _boosting("boosting", size, 16)
    yield _forest("random forest", size, is_extra=False, share=0.5)


def _boosting(name: str, size: Size, n_leaves: int, **params: Any) -> Candidate:
    from committee.boosting.classifier import GradientBoostingClassifier
    from committee.boosting.regressor import GradientBoostingRegressor

    kind: Any = GradientBoostingClassifier if size.n_classes else GradientBoostingRegressor
    cost = round_cost(size.n_rows, size.n_features, size.n_trees, n_leaves)
    return Candidate(name, kind(**params), cost)


def _forest(name: str, size: Size, *, is_extra: bool, share: float) -> Candidate:
    from committee.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from committee.forests.random_forest import RandomForestClassifier, RandomForestRegressor

    kinds: Any = (
        (ExtraTreesRegressor, ExtraTreesClassifier)
        if is_extra
        else (RandomForestRegressor, RandomForestClassifier)
    )
    # Leaves grow slowly with the table: files stay small, and shares of classes are steadier.
    leaf = max(2 if size.n_classes else 1, size.n_rows // 10_000)
    estimator = kinds[size.n_classes > 0](_FOREST_TREES, max_features=share, min_samples_leaf=leaf)
    tried = size.n_features * share
    cost = forest_cost(size.n_rows, tried, _FOREST_TREES, is_numbers=not size.n_classes)
    return Candidate(name, estimator, cost)


def _linear(size: Size) -> Candidate:
    from sklearn.linear_model import LogisticRegression, Ridge

    model = LogisticRegression(max_iter=300) if size.n_classes else Ridge()
    return Candidate(
        "linear", model, linear_cost(size.n_rows, size.n_columns, size.n_classes), MATRIX
    )
