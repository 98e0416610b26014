"""The models that the portfolio of the committee in one line was chosen from.

Each is a function of the size of a problem. `LEARNT` is the portfolio of the library by the names
here, `GUESSED` what the library tried before an order was learnt.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from committee.auto.budget import forest_cost, linear_cost, round_cost
from committee.auto.portfolio import MATRIX, Candidate, Size

Maker = Callable[[Size], "Candidate | None"]


def _boosting(**params: Any) -> Maker:
    def make(size: Size) -> Candidate:
        from committee import GradientBoostingClassifier, GradientBoostingRegressor

        own = {name: value(size) if callable(value) else value for name, value in params.items()}
        kind: Any = GradientBoostingClassifier if size.n_classes else GradientBoostingRegressor
        leaves = own.get("max_leaf_nodes", "auto")
        if leaves == "auto":
            leaves = 8 if size.n_rows <= 2_500 else 16
        n_leaves = int(leaves or 2 ** own.get("max_depth", 6))
        cost = round_cost(size.n_rows, size.n_features, size.n_trees, n_leaves)
        return Candidate("", kind(**own), cost)

    return make


def _forest(family: str, n_trees: int, share: Any, leaf: Any = None, **params: Any) -> Maker:
    def make(size: Size) -> Candidate:
        import committee

        kind = getattr(committee, family + ("Classifier" if size.n_classes else "Regressor"))
        own = max(2 if size.n_classes else 1, size.n_rows // 10_000) if leaf is None else leaf
        fitting = {key: value for key, value in params.items() if size.n_classes}
        tried = size.n_features * share if share != "sqrt" else math.sqrt(size.n_features)
        estimator = kind(n_trees, max_features=share, min_samples_leaf=own, **fitting)
        return Candidate(
            "", estimator, forest_cost(size.n_rows, tried, n_trees, is_numbers=not size.n_classes)
        )

    return make


def _matrix(make_class: Callable[[], Any], make_number: Callable[[], Any], most: int) -> Maker:
    """Return what reads the matrix of numbers, for tables of at most so many rows."""

    def make(size: Size) -> Candidate | None:
        if size.n_rows > most:
            return None
        estimator = make_class() if size.n_classes else make_number()
        cost = linear_cost(size.n_rows, size.n_columns, size.n_classes)
        return Candidate("", estimator, cost, MATRIX)

    return make


def _is_small(size: Size) -> bool:
    return size.n_rows <= 2_500


def by_rows(size: Size) -> float:
    """Return a learning rate that grows with the rows, as CatBoost's does."""
    slope, start = (0.157, -4.062) if not size.n_classes else (0.247, -5.158)
    if size.n_classes > 2:
        slope, start = 0.02, -2.364
    return min(math.exp(slope * math.log(size.n_rows) + start), 0.1)


def _of(classes: Any, numbers: Any) -> Callable[[Size], Any]:
    return lambda size: classes if size.n_classes else numbers


def _bins(model: Callable[[], Any]) -> Callable[[], Any]:
    """Return a model of quantile bins, each a column."""

    def make() -> Any:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import KBinsDiscretizer

        bins = KBinsDiscretizer(
            16, encode="onehot", strategy="quantile", quantile_method="averaged_inverted_cdf"
        )
        return make_pipeline(bins, model())

    return make


def _logistic(strength: float = 1.0) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=strength, max_iter=300)

    return make


def _ridge(alpha: float = 1.0) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.linear_model import Ridge

        return Ridge(alpha)

    return make


def _net(kind: str) -> Callable[[], Any]:
    def make() -> Any:
        import sklearn.neural_network

        net = getattr(sklearn.neural_network, kind)(
            hidden_layer_sizes=(64,),
            alpha=1e-3,
            early_stopping=True,
            max_iter=100,
            n_iter_no_change=8,
        )
        if kind == "MLPClassifier":
            return net
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.preprocessing import StandardScaler

        return TransformedTargetRegressor(net, transformer=StandardScaler())

    return make


def _small_net(size: Size) -> Candidate:
    """Return the net of the library; each fold stops by rows that it holds out itself."""
    from committee.nets.classifier import NetClassifier
    from committee.nets.cost import epoch_cost
    from committee.nets.regressor import NetRegressor

    kind: Any = NetClassifier if size.n_classes else NetRegressor
    n_epochs = 40
    cost = n_epochs * epoch_cost(size.n_rows, size.n_features, max(size.n_classes, 1))
    return Candidate("", kind(), cost)


def _neighbours(kind: str) -> Callable[[], Any]:
    def make() -> Any:
        import sklearn.neighbors

        return getattr(sklearn.neighbors, kind)(15, weights="distance")

    return make


POOL: dict[str, Maker] = {
    "boosting": _boosting(),
    "extra-trees .75": _forest("ExtraTrees", 60, 0.75),
    "linear": _matrix(_logistic(), _ridge(), 10**9),
    "boosting, small steps": _boosting(learning_rate=0.02),
    "forest .5": _forest("RandomForest", 60, 0.5),
    "boosting, depth 2": _boosting(max_depth=2, max_leaf_nodes=None),
    "boosting, deep": _boosting(max_leaf_nodes=64, min_samples_leaf=3),
    "boosting, rate by rows": _boosting(
        learning_rate=by_rows, max_depth=6, growth="level", max_leaf_nodes=None, l2_regularization=3
    ),
    "boosting, few features": _boosting(
        max_features="sqrt", features_per_tree=0.7, subsample=0.8, learning_rate=0.03
    ),
    "boosting, large steps": _boosting(learning_rate=0.15, max_features=0.5, subsample=0.7),
    "net": _matrix(_net("MLPClassifier"), _net("MLPRegressor"), 10**9),
    "extra-trees 1": _forest("ExtraTrees", 60, 1.0, 1),
    # --- what was tried after the first dozen had been measured
    "boosting, deep, large steps": _boosting(
        learning_rate=0.1, max_leaf_nodes=64, min_samples_leaf=3, max_features=0.5, subsample=0.7
    ),
    "boosting, coarse bins": _boosting(
        learning_rate=0.03,
        max_leaf_nodes=39,
        max_features=0.46,
        subsample=0.88,
        min_samples_leaf=3,
        l1_regularization=0.24,
        l2_regularization=0.36,
        max_bins=16,
    ),
    "boosting, 32 leaves, few features": _boosting(
        max_leaf_nodes=32, max_features=0.2, min_samples_leaf=3, subsample=0.7, learning_rate=0.05
    ),
    "extra-trees sqrt": _forest("ExtraTrees", 60, "sqrt", 1),
    "extra-trees sqrt, leaf 2": _forest("ExtraTrees", 60, "sqrt"),
    "extra-trees 1, leaf 2": _forest("ExtraTrees", 60, 1.0),
    "linear, quantile bins": _matrix(_bins(_logistic(0.1)), _bins(_ridge(3.0)), 10**9),
    "boosting, large": _boosting(
        learning_rate=0.03, max_leaf_nodes=128, max_features=0.9, min_samples_leaf=3
    ),
    "boosting, LightGBM tuned": _boosting(
        learning_rate=_of(0.04, 0.05),
        max_leaf_nodes=_of(50, 100),
        min_samples_leaf=_of(40, 3),
        subsample=_of(0.75, 0.7),
        max_features=None,
    ),
    "boosting, small leaves": _boosting(
        max_leaf_nodes=16, min_samples_leaf=1, l2_regularization=0.1, subsample=0.6
    ),
    "boosting, target statistics": _boosting(
        category_encoding="target", learning_rate=0.1, min_samples_leaf=3, subsample=0.7
    ),
    "boosting, three leaves": _boosting(max_leaf_nodes=3, learning_rate=0.1),
    "extra-trees 1, 25 trees": _forest("ExtraTrees", 25, 1.0, 1),
    "forest .75, entropy": _forest("RandomForest", 60, 0.75, criterion="entropy"),
    "small net": _small_net,
    "neighbours": _matrix(
        _neighbours("KNeighborsClassifier"), _neighbours("KNeighborsRegressor"), 5_000
    ),
}

LEARNT = (
    "boosting, large steps",
    "linear",
    "boosting, deep",
    "extra-trees sqrt, leaf 2",
    "boosting, few features",
    "boosting, depth 2",
    "boosting, coarse bins",
    "boosting, 32 leaves, few features",
)
GUESSED = (
    "boosting",
    "extra-trees .75",
    "linear",
    "boosting, small steps",
    "forest .5",
    "boosting, depth 2",
    "boosting, deep",
)
