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
    n_estimators : int, default=100
        Number of trees; the most of them with `early_stopping`.
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        What a split should reduce, see `DecisionTreeClassifier`.
    max_depth : int or None, default=None
        Largest number of splits above a leaf.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a row drawn twice counts twice. A float is a fraction of
        the rows that a tree learns from.
    min_samples_leaf : int or float, default=1
        Rows a leaf needs, counted in the same way.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of its tree that a leaf needs.
    max_features : int, float, {"sqrt", "log2", "log2+1"} or None, default="sqrt"
        Features drawn at each node, or for each tree with `draw_features="tree"`. A float is a
        fraction, None means all, and so does an int above their number.
    max_leaf_nodes : int or None, default=None
        Grow each tree best-first until it has this many leaves.
    min_impurity_decrease : float, default=0.0
        Weighted decrease of impurity that a split must bring.
    bootstrap : bool, default=False
        Each tree learns from rows drawn with replacement. False: from all rows, or from
        `max_samples` rows drawn without replacement. Out-of-bag estimates need drawn rows.
    oob_score : bool, callable or str, default=False
        Estimate the quality from out-of-bag rows. True is accuracy; or ``metric(y_true, y_pred)``
        on labels; or the name of a scorer, such as "roc_auc".
    n_jobs : int or None, default=None
        Threads; None uses all cores. The model is the same for any number.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all draws.
    verbose : int, default=0
        1 prints progress on stderr about ten times, 2 more often.
    warm_start : bool, default=False
        Keep the trees of the last fit and add more: the same forest as one fit with as many.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes, which multiply `sample_weight`. "balanced_subsample" weighs the
        classes of each sample anew.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning of each tree.
    max_samples : int, float or None, default=None
        Rows that a tree draws: None as many as there are, an int that many, a float that share of
        the rows (with `bootstrap` of the sum of the weights). More than all rows is fine with
        replacement. With groups, groups are counted.
    monotonic_cst : array-like of int, dict or None, default=None
        For each feature 1 (probability of the second class rises with it), -1 (falls) or 0.
    draw_features : {"node", "tree"}, default="node"
        Draw `max_features` anew at each node, or once for each tree (random subspaces).
    leaf_smoothing : float, default=0.0
        Draw the probabilities of each leaf to those of its parent, as if so many rows with the
        parent's shares of classes were in the leaf too. 0.3 is a good start where the log loss
        matters: no leaf is then sure of a class on the word of one row.
    voting : {"soft", "hard"}, default="soft"
        Average the probabilities of the trees, or count their votes.
    stratify : {"classes", "balanced"} or None, default=None
        "classes" keeps the share of each class in every sample, "balanced" draws the same number
        from each class.
    early_stopping : bool, default=False
        Stop adding trees when the out-of-bag error is flat. It is looked at every ten trees.
    n_iter_no_change : int, default=5
        Stop after so many looks without an improvement.
    tol : float, default=0.01
        Smallest relative decrease of the error that counts as an improvement.
    uncertainty : bool, default=False
        Keep the training target, its out-of-bag predictions and the leaves of the training rows,
        which `predict_set` and other answers need.
    count_constant : bool, default=False
        Whether a drawn feature that is constant in the node counts as one of `max_features`. With
        False, drawing goes on until `max_features` features that vary have been found, which makes
        better trees where features have few values; True is what scikit-learn does.
    split_finding : {"auto", "hist", "exact"}, default="auto"
        "hist" looks at up to `max_bins` bins of each feature, "exact" at every distinct value.
        "auto" is "hist" for any number of rows: unlike a single tree, a forest averages over what
        bins blur, and 255 of them cost no measurable accuracy.
    max_bins : int, default=255
        Most bins of a numeric feature with "hist".
    category_split : {"subset", "fanout"}, default="subset"
        Split a category in two sets of levels, or in one branch for each level.
    level_penalty : float, default=2.0
        What a category pays for each level beyond two when its best subset is compared with other
        splits; see `DecisionTreeClassifier`.
    categorical_features : list of names, positions or booleans, "from_dtype" or None, default=None
        Numeric columns to treat as categories; text and category columns always are.
    numeric_text : {"auto", "number", "category"}, default="auto"
        What numbers written as text are. "auto" makes numbers of them, with a warning, where a
        column of an array or a list holds nothing else, and keeps text of data frames. "number"
        makes numbers of both, and missing values of marks such as "?". "category" keeps text.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeClassifier
        The trees, made when they are looked at.
    estimator_ : DecisionTreeClassifier
        An unfitted tree with the parameters of the trees.
    estimators_samples_, estimators_features_ : list of ndarray
        The rows and the features that each tree has drawn; drawn again on each access.
    n_trees_ : int
        Number of trees.
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
    feature_importances_ : ndarray of float64
        Share of each feature in the decrease of impurity, the mean over the trees.
    schema_ : TableSchema
        Names, kinds and levels of the features.
    oob_decision_function_ : ndarray of float64, shape (n_rows, n_classes), or a list of these
        Average over the trees that have not drawn the row; NaN if all have. This and what follows
        only with `oob_score`.
    oob_score_ : float
        Score of these predictions, on the rows that have one.
    oob_curve_ : OobCurve
        `n_members` and `score`: the score of the first so many trees.
    oob_member_errors_ : ndarray of float64, shape (n_trees,)
        Error rate of each tree on its own out-of-bag rows.
    oob_member_error_ : float
        Their mean.
    oob_never_ : int
        Rows that every tree has drawn.
    oob_score_632_, oob_score_632_plus_ : float
        The .632 and .632+ estimates, between the scores in training and out of bag.

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
    n_estimators : int, default=100
        Number of trees; the most of them with `early_stopping`.
    criterion : {"gini", "entropy", "log_loss", "error"}, default="squared_error"
        What a split should reduce, see `DecisionTreeRegressor`.
    max_depth : int or None, default=None
        Largest number of splits above a leaf.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a row drawn twice counts twice. A float is a fraction of
        the rows that a tree learns from.
    min_samples_leaf : int or float, default=1
        Rows a leaf needs, counted in the same way.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of its tree that a leaf needs.
    max_features : int, float, {"sqrt", "log2", "log2+1"} or None, default=1.0
        Features drawn at each node, or for each tree with `draw_features="tree"`. A float is a
        fraction, None means all, and so does an int above their number.
    max_leaf_nodes : int or None, default=None
        Grow each tree best-first until it has this many leaves.
    min_impurity_decrease : float, default=0.0
        Weighted decrease of impurity that a split must bring.
    bootstrap : bool, default=False
        Each tree learns from rows drawn with replacement. False: from all rows, or from
        `max_samples` rows drawn without replacement. Out-of-bag estimates need drawn rows.
    oob_score : bool, callable or str, default=False
        Estimate the quality from out-of-bag rows. True is accuracy; or ``metric(y_true, y_pred)``
        on labels; or the name of a scorer, such as "roc_auc".
    n_jobs : int or None, default=None
        Threads; None uses all cores. The model is the same for any number.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all draws.
    verbose : int, default=0
        1 prints progress on stderr about ten times, 2 more often.
    warm_start : bool, default=False
        Keep the trees of the last fit and add more: the same forest as one fit with as many.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning of each tree.
    max_samples : int, float or None, default=None
        Rows that a tree draws: None as many as there are, an int that many, a float that share of
        the rows (with `bootstrap` of the sum of the weights). More than all rows is fine with
        replacement. With groups, groups are counted.
    monotonic_cst : array-like of int, dict or None, default=None
        For each feature 1 (probability of the second class rises with it), -1 (falls) or 0.
    draw_features : {"node", "tree"}, default="node"
        Draw `max_features` anew at each node, or once for each tree (random subspaces).
    early_stopping : bool, default=False
        Stop adding trees when the out-of-bag error is flat. It is looked at every ten trees.
    n_iter_no_change : int, default=5
        Stop after so many looks without an improvement.
    tol : float, default=0.01
        Smallest relative decrease of the error that counts as an improvement.
    uncertainty : bool, default=False
        Keep the training target, its out-of-bag predictions and the leaves of the training rows,
        which `predict_set` and other answers need.
    count_constant : bool, default=False
        Whether a drawn feature that is constant in the node counts as one of `max_features`. With
        False, drawing goes on until `max_features` features that vary have been found, which makes
        better trees where features have few values; True is what scikit-learn does.
    split_finding : {"auto", "hist", "exact"}, default="auto"
        "hist" looks at up to `max_bins` bins of each feature, "exact" at every distinct value.
        "auto" is "hist" for any number of rows: unlike a single tree, a forest averages over what
        bins blur, and 255 of them cost no measurable accuracy.
    max_bins : int, default=255
        Most bins of a numeric feature with "hist".
    category_split : {"subset", "fanout"}, default="subset"
        Split a category in two sets of levels, or in one branch for each level.
    level_penalty : float, default=2.0
        What a category pays for each level beyond two when its best subset is compared with other
        splits; see `DecisionTreeRegressor`.
    categorical_features : list of names, positions or booleans, "from_dtype" or None, default=None
        Numeric columns to treat as categories; text and category columns always are.
    numeric_text : {"auto", "number", "category"}, default="auto"
        What numbers written as text are. "auto" makes numbers of them, with a warning, where a
        column of an array or a list holds nothing else, and keeps text of data frames. "number"
        makes numbers of both, and missing values of marks such as "?". "category" keeps text.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeRegressor
        The trees, made when they are looked at.
    estimator_ : DecisionTreeRegressor
        An unfitted tree with the parameters of the trees.
    estimators_samples_, estimators_features_ : list of ndarray
        The rows and the features that each tree has drawn; drawn again on each access.
    n_trees_ : int
        Number of trees.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    n_outputs_ : int
        Number of outputs.
    feature_importances_ : ndarray of float64
        Share of each feature in the decrease of impurity, the mean over the trees.
    schema_ : TableSchema
        Names, kinds and levels of the features.
    oob_prediction_ : ndarray of float64, shape (n_rows,) or (n_rows, n_outputs)
        Average over the trees that have not drawn the row; NaN if all have. This and what follows
        only with `oob_score`.
    oob_score_ : float
        Score of these predictions, on the rows that have one.
    oob_curve_ : OobCurve
        `n_members` and `score`: the score of the first so many trees.
    oob_member_errors_ : ndarray of float64, shape (n_trees,)
        Error rate of each tree on its own out-of-bag rows.
    oob_member_error_ : float
        Their mean.
    oob_never_ : int
        Rows that every tree has drawn.
    oob_score_632_, oob_score_632_plus_ : float
        The .632 and .632+ estimates, between the scores in training and out of bag.

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
