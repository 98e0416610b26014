"""`ExtraTreesClassifier`, `ExtraTreesRegressor`: trees with random thresholds."""

from __future__ import annotations

from typing import Any

from committee.forests.task import ForestClassifier, ForestRegressor


class ExtraTreesClassifier(ForestClassifier):
    """Extra-trees that classify rows of a raw table.

    A node draws one threshold for each of its drawn features and keeps the best of them. The trees
    differ more than those of a random forest and grow faster; each learns from all rows.

    Parameters
    ----------
    bootstrap : bool, default=False
        Each tree learns from rows drawn with replacement. False: from all rows, or from
        `max_samples` rows drawn without replacement. Out-of-bag estimates need drawn rows.
    **others
        The other parameters, the attributes and the methods are those of `RandomForestClassifier`.

    See Also
    --------
    RandomForestClassifier : Searches for the best threshold.

    Examples
    --------
    >>> from committee import ExtraTreesClassifier
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = ExtraTreesClassifier(random_state=0).fit(X, y)
    >>> model.predict_proba(X.head(1)).round(2).tolist()
    [[1.0, 0.0, 0.0]]
    """

    _splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        draw_features: str = "node",
        count_constant: bool = False,
        leaf_smoothing: float = 0.0,
        voting: str = "soft",
        stratify: str | None = None,
        early_stopping: bool = False,
        n_iter_no_change: int = 5,
        tol: float = 0.01,
        uncertainty: bool = False,
        split_finding: str = "auto",
        max_bins: int = 255,
        category_split: str = "subset",
        level_penalty: float = 2.0,
        categorical_features: Any = None,
        numeric_text: str = "auto",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.draw_features = draw_features
        self.count_constant = count_constant
        self.leaf_smoothing = leaf_smoothing
        self.voting = voting
        self.stratify = stratify
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.uncertainty = uncertainty
        self.split_finding = split_finding
        self.max_bins = max_bins
        self.category_split = category_split
        self.level_penalty = level_penalty
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text


class ExtraTreesRegressor(ForestRegressor):
    """Extra-trees that predict numbers from rows of a raw table.

    A node draws one threshold for each of its drawn features and keeps the best of them. The trees
    differ more than those of a random forest and grow faster; each learns from all rows.

    Parameters
    ----------
    bootstrap : bool, default=False
        Each tree learns from rows drawn with replacement. False: from all rows, or from
        `max_samples` rows drawn without replacement. Out-of-bag estimates need drawn rows.
    **others
        The other parameters, the attributes and the methods are those of `RandomForestRegressor`.

    See Also
    --------
    RandomForestRegressor : Searches for the best threshold.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from committee import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ExtraTreesRegressor(bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    >>> 0.4 < model.oob_score_ < 0.5
    True
    """

    _splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        draw_features: str = "node",
        count_constant: bool = False,
        early_stopping: bool = False,
        n_iter_no_change: int = 5,
        tol: float = 0.01,
        uncertainty: bool = False,
        split_finding: str = "auto",
        max_bins: int = 255,
        category_split: str = "subset",
        level_penalty: float = 2.0,
        categorical_features: Any = None,
        numeric_text: str = "auto",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.draw_features = draw_features
        self.count_constant = count_constant
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.uncertainty = uncertainty
        self.split_finding = split_finding
        self.max_bins = max_bins
        self.category_split = category_split
        self.level_penalty = level_penalty
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text
