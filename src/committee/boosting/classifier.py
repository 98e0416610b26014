"""`GradientBoostingClassifier`: boosted trees that predict classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier

from committee.base.arrays import Floats
from committee.boosting.fit import BoostingModel
from committee.boosting.task import ClassTask
from committee.losses.loss import Loss


class GradientBoostingClassifier(ClassifierMixin, BoostingModel):
    """Gradient boosting that classifies rows of a raw table.

    Trees are added one round after another, each grown on the gradients and hessians of the loss
    (Newton steps). Two classes have one tree a round, K classes K trees. Numbers, text, categories,
    dates and missing values are used as they are.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or Loss, default="log_loss"
        What is minimised. "exponential" is for two classes and gives each leaf a Newton step: that
        is Gentle AdaBoost, not discrete AdaBoost. ``losses.Exponential(refits_leaves=True)`` is
        the confidence-rated boosting of Schapire and Singer.
    learning_rate : float or "auto", default="auto"
        Factor of each step; smaller steps need more rounds and often do better. "auto" goes by the
        size of the table where the number of rounds is automatic, else it is 0.1. Zero keeps the
        first scores.
    n_estimators : int or "auto", default="auto"
        Number of rounds, the most of them with early stopping. "auto" holds rows out in turns to
        see how many rounds are best for new rows, then fits all rows with that number; see Notes.
    subsample : float or "auto", default="auto"
        Share of the rows that each round draws to learn from, without replacement. Below one, the
        rows left out show how much each round helped (`oob_improvement_`).
    criterion : {"friedman_mse", "squared_error"}, default="friedman_mse"
        Accepted for scikit-learn's sake. Splits are found by second-order gain in any case.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a fraction of the rows of a round. More than
        there are leave trees of one leaf.
    min_samples_leaf : int, float or "auto", default="auto"
        Rows a leaf needs; a float below 1 is a fraction of the rows of a round. More than half of
        them leave trees of one leaf.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of its round that a leaf needs.
    max_depth : int or None, default=None
        Largest number of splits above a leaf.
    min_impurity_decrease : float, default=0.0
        What a split must bring: twice the decrease of the loss, to second order, for each unit of
        weight. For squared error that is the decrease of the mean squared error.
    init : None, "zero", "mean" or estimator, default=None
        Where to start: None from the constant that minimises the loss, "zero" from scores of zero,
        "mean" from the share of each class (the minimum, for the losses of this library), an
        estimator (fitted here) from its predictions.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all draws; an int may have up to 64 bits.
    max_features : int, float, {"sqrt", "log2", "log2+1"}, None or "auto", default="auto"
        Features drawn at each node; None, and a number above theirs, is all of them.
    verbose : int, default=0
        1 prints progress with the losses of training and validation rows on stderr about ten
        times, 2 after each round.
    max_leaf_nodes : int, None or "auto", default="auto"
        Most leaves of a tree. "auto" is no limit where `max_depth` or `max_splits` is given.
    warm_start : bool, default=False
        Keep the rounds of the last fit and add more: the same model as one fit with as many.
        Values that are "auto" stay what they were, `n_estimators` too: set it to add rounds.
        Other parameters of trees than before are used for the new rounds, with a warning that names
        them; `learning_rate` may change without one.
    validation_fraction : float, default=0.1
        Share of the rows that early stopping holds out, or the choice of the number of rounds
        where one part is enough for it.
    n_iter_no_change : int or None, default=None
        Stop after so many rounds without an improvement. None: no early stopping. With
        ``early_stopping=True`` None is 10 rounds, or more with ``n_estimators="auto"``.
    tol : float, default=1e-4
        Least improvement that counts, as a share of the loss of the start; absolute for a score.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning of each tree, in units of
        `min_impurity_decrease`.
    split_finding : {"hist", "exact"}, default="hist"
        Look at up to `max_bins` bins of each feature, or at every distinct value.
    growth : {"best", "level", "depth"}, default="best"
        Which node is split next: that of the largest gain, level by level, or depth first.
    max_splits : int or None, default=None
        Most splits of a tree; one makes stumps.
    min_child_weight : float, default=1e-3
        Least sum of weighted hessians in a leaf.
    l1_regularization : float, default=0.0
        How much closer to zero the sum of the gradients of a leaf is taken to be.
    l2_regularization : float or "auto", default="auto"
        Added to the sum of the hessians of a leaf: leaves of few rows take shorter steps.
    max_bins : int, default=255
        Most bins of a numeric feature with "hist".
    features_per_tree, features_per_level : int, float, str or None, default=None
        Features drawn for each tree, and of these for each level of it; as `max_features`, which
        draws of these at each node. A fraction is of what is drawn from.
    monotonic_cst : array-like of int, dict or None, default=None
        For each feature 1 (scores rise with it), -1 (fall) or 0, or a dict by names.
    interaction_cst : {"no_interactions", "pairwise"}, list of groups of features or None, \
default=None
        Which features may meet in a branch of a tree.
    categorical_features : list of names, positions or booleans, "from_dtype" or None, default=None
        Numeric columns to treat as categories; text and category columns always are.
    numeric_text : {"auto", "number", "category"}, default="auto"
        What numbers written as text are. "auto" makes numbers of them, with a warning, where a
        column of an array or a list holds nothing else, and keeps text of data frames. "number"
        makes numbers of both, and missing values of marks such as "?". "category" keeps text.
    category_smoothing : float, default=10.0
        Added to the sum of the hessians of a level when levels are put in order.
    category_encoding : {"auto", "subsets", "target"}, default="auto"
        How categories are used: by subsets of their levels, or by target statistics, numbers in
        place of levels that no row's own target is in. "auto" takes statistics for categories of
        more than 16 levels, "target" for all. Their random order is drawn with `random_state`.
    early_stopping : bool or "auto", default="auto"
        Stop when validation rows show no improvement, and go back to the best round. "auto" does
        so if `n_iter_no_change` is given, or an `eval_set` with ``n_estimators="auto"``.
    validation_part : {"random", "last"}, default="random"
        Which rows early stopping holds out: random ones, where there are classes of each its share,
        or the last ones of a table in the order of time.
    scoring : str, callable or None, default=None
        What early stopping and the choice of the number of rounds look at: None the loss, else the
        name of a scorer, a metric of scikit-learn, or any other ``metric(y_true, y_pred)`` of
        numbers or labels, the greater the better. Names of LightGBM and XGBoost are known too:
        "auc" is "roc_auc", and an error such as "rmse" stands for minus the error.
    estimator : regressor or None, default=None
        A weak learner of your own, with scikit-learn's interface, in place of trees: it is fitted
        to the negative gradients. Parameters of trees are then not looked at, constraints refused,
        and ``n_estimators="auto"`` is 100: it is not for us to tune.
    callbacks : callable, list of callables or None, default=None
        Called after each round with the number of rounds and the `TrainingLog` so far; a fit ends
        when one returns True. While folds choose the number of rounds, they are called too, with
        the mean validation loss over ``log.n_folds`` folds; True ends that search. In the fit of
        the model that follows, `n_folds` is 0.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply `sample_weight`.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The model is the same for any number.

    Attributes
    ----------
    n_estimators_ : int
        Number of rounds kept.
    best_iteration_ : int
        Number of rounds at which validation rows were predicted best; all without such rows.
    training_log_ : TrainingLog
        Losses and time after each round that was run; ``training_log_.to_frame()`` is a table.
    round_choice_ : RoundChoice or None
        How well held-out rows were predicted after each number of rounds, where that has chosen
        the number: `mean` and `standard_error` over the folds; ``to_frame()`` is a table.
    chosen_params_ : dict
        The values that were used for parameters that can be "auto": an estimator with these
        parameters and the same seed does the same, unless early stopping has held out rows.
    train_score_ : ndarray of float64, shape (n_rounds,)
        Loss of the training rows after each round.
    oob_improvement_, oob_scores_ : ndarray of float64, shape (n_rounds,)
        By how much each round lowered the loss of the rows it had not drawn, and that loss; only
        where `subsample` is less than one.
    oob_score_ : float
        The last of `oob_scores_`.
    init_ : estimator or "zero"
        Where boosting started.
    estimators_ : ndarray of estimators, shape (n_rounds, n_trees)
        The trees as regressors, made when looked at.
    n_trees_per_iteration_ : int
        Number of trees in a round.
    feature_importances_ : ndarray of float64
        Share of each feature in the decrease of the loss; see `importances` for other kinds.
    learning_rate_ : float
        The learning rate that was used.
    max_features_ : int
        Features drawn at each node.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    n_outputs_ : int
        Number of outputs.
    classes_ : ndarray
        Class labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    schema_ : TableSchema
        Names, kinds and levels of the features.

    Notes
    -----
    With ``n_estimators="auto"`` the rows are dealt into five folds, three in tables of medium size,
    and in large ones `validation_fraction` of them is held out once; a fit for each part learns
    from the other rows, all of them side by side. Their mean validation loss (or score) chooses the
    number of rounds. Each class keeps its share in each part, groups are not divided, and
    ``validation_part="last"`` holds out the last rows once. With an `eval_set` that chooses instead
    and nothing is held out; ``early_stopping=True`` holds out a part, stops, and does not learn
    from that part; with an `estimator`, "auto" is 100 rounds; with a single row or class, one.
    Which rows are held out and drawn depends on what they hold and on `random_state`, not on their
    order, and a row of weight two is the row twice. Equal rows are held out together, unless rows
    with equal cells often differ in the target.

    What "auto" stands for goes with the number of rounds. With a given number it is a learning rate
    of 0.1, 31 leaves, 20 rows a leaf, an L2 regularization of 1, all rows and all features. With an
    automatic one: at most 2,000 rounds, fewer in large tables; a learning rate of 0.05, more where
    fewer rounds are allowed; 8 to 127 leaves by the number of rows; 10 rows a leaf; half of the
    features at each node, a quarter where a round has several trees; up to 2,500 rows 0.8 of them
    in each round. `chosen_params_` has the values. A fit draws by default: `random_state`
    makes it repeatable.

    Examples
    --------
    >>> from committee import GradientBoostingClassifier
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = GradientBoostingClassifier(n_estimators=50).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    >>> model.predict(X.head(2)).tolist()
    ['Adelie', 'Adelie']
    """

    _task = ClassTask

    classes_: NDArray[Any]
    n_classes_: int

    def __init__(
        self,
        *,
        loss: str | Loss = "log_loss",
        learning_rate: float | str = "auto",
        n_estimators: int | str = "auto",
        subsample: float | str = "auto",
        criterion: str = "friedman_mse",
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float | str = "auto",
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = "auto",
        verbose: int = 0,
        max_leaf_nodes: int | str | None = "auto",
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        split_finding: str = "hist",
        growth: str = "best",
        max_splits: int | None = None,
        min_child_weight: float = 1e-3,
        l1_regularization: float = 0.0,
        l2_regularization: float | str = "auto",
        max_bins: int = 255,
        features_per_tree: int | float | str | None = None,
        features_per_level: int | float | str | None = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        categorical_features: Any = None,
        numeric_text: str = "auto",
        category_smoothing: float = 10.0,
        category_encoding: str = "auto",
        early_stopping: bool | str = "auto",
        validation_part: str = "random",
        scoring: Any = None,
        estimator: Any = None,
        callbacks: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.split_finding = split_finding
        self.growth = growth
        self.max_splits = max_splits
        self.min_child_weight = min_child_weight
        self.l1_regularization = l1_regularization
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.features_per_tree = features_per_tree
        self.features_per_level = features_per_level
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text
        self.category_smoothing = category_smoothing
        self.category_encoding = category_encoding
        self.early_stopping = early_stopping
        self.validation_part = validation_part
        self.scoring = scoring
        self.estimator = estimator
        self.callbacks = callbacks
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _validate_loaded(self) -> None:
        super()._validate_loaded()
        if not hasattr(self, "_sum"):
            return
        if self.n_outputs_ != 1 or self._loss.n_classes != max(len(self.classes_), 2):
            raise ValueError("the classes do not fit the loss")

    def _constant_model(self) -> Any:
        start = self._start.constants[np.newaxis]
        shares = self._shares_of(np.asfortranarray(start))[0]
        rows = np.zeros((self.n_classes_, self.n_features_in_))
        return DummyClassifier(strategy="prior").fit(rows, self.classes_, shares)

    # ---- predictions ----

    def _labels_of(self, scores: Floats) -> NDArray[Any]:
        codes = self._objective.predictions(scores).astype(np.intp)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def _shares_of(self, scores: Floats) -> Floats:
        shares = self._objective.probabilities(scores)
        return np.ones((len(shares), 1)) if self.n_classes_ == 1 else shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the likeliest class.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            Class labels. A tie goes to the class that comes first in `classes_`.
        """
        return self._labels_of(self._scores(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes)
            One column a class, in the order of `classes_`.
        """
        return self._shares_of(self._scores(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        log_p : ndarray of float64, shape (n_rows, n_classes)
            Finite.
        """
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    def decision_function(self, X: Any) -> Floats:
        """Return the raw scores.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            For two classes the logarithm of the odds of the second one (half of it with
            exponential loss), else logarithms of probabilities up to a number for each row.
        """
        return _flat(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield predictions after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        y : ndarray of shape (n_rows,)
            Class labels; the last are those of `predict`.
        """
        return (self._labels_of(scores) for scores in self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield probabilities after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        p : ndarray of float64, shape (n_rows, n_classes)
            The last are those of `predict_proba`.
        """
        return (self._shares_of(scores) for scores in self._staged_scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield raw scores after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            The last are those of `decision_function`.
        """
        return (_flat(scores) for scores in self._staged_scores(X))


def _flat(scores: Floats) -> Floats:
    return scores[:, 0] if scores.shape[1] == 1 else scores
