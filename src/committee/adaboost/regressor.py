"""`AdaBoostRegressor`: AdaBoost.R2, a weighted median of regressors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from committee.adaboost.fitted import FittedAdaBoost
from committee.adaboost.median import RunningMedian, weighted_lower_median
from committee.adaboost.r2_fit import LOSSES, R2Fit
from committee.base.arrays import Floats
from committee.base.params import check_choice
from committee.base.work import FitLog
from committee.members.loaded_members import check_regressor
from committee.trees.tree_members import TreeMembers
from committee.trees.trees import DecisionTreeRegressor


class AdaBoostRegressor(RegressorMixin, FittedAdaBoost):
    """AdaBoost.R2: boosting of regressors on a raw table.

    A learner is fitted to rows that are drawn by their weights; rows with small errors lose weight
    for the next one. The prediction is the weighted median of the members' predictions, so that a
    few bad members do no harm. Numbers, text, categories, dates and missing values are used as they
    are.

    Parameters
    ----------
    estimator : regressor or None, default=None
        The weak learner. None is a tree of depth 3, as in scikit-learn;
        ``DecisionTreeRegressor(max_depth=8)`` was better on each of nine real tables. Our trees run
        in the engine, any other regressor by its `fit` and `predict`.
    n_estimators : int, default=50
        Number of rounds, the most of them: fewer when a learner is perfect or none is of use.
    learning_rate : float, default=1.0
        Factor of the weight of every member and of how fast weights change, above zero.
    loss : {"linear", "square", "exponential"}, default="linear"
        Loss of a row as a function of its share e in the largest error: e, e^2, or 1 - exp(-e).
    random_state : int, RandomState, Generator or None, default=None
        Seed of draws: rows where they are drawn, validation rows, and the learners' own.
    criterion : {"squared_error", "absolute_error", "poisson", "friedman_mse"}, \
default="squared_error"
        What splits of the default tree should reduce.
    resampling : bool or "auto", default=True
        Fit learners to rows drawn by their weights, as Drucker does. False weighs the rows
        instead: nothing is drawn then. "auto" draws for learners that do not take weights.
    n_iter_no_change : int or None, default=None
        Stop after so many rounds without a better score on validation rows, and go back to the best
        round. None runs all rounds, and goes back only if `fit` is given an `eval_set`.
    validation_fraction : float, default=0.1
        Share of the rows that are held out for that, unless `fit` is given an `eval_set`.
    tol : float, default=0.0
        Least improvement of the score that counts.
    scoring : str, callable or None, default=None
        The score: None is R2, else the name of a scorer, a metric of scikit-learn, or any other
        ``metric(y_true, y_pred)``, the greater the better.
    keep_weights : bool, default=False
        Keep the weights of all rows in all rounds: ``trace_.distributions``.
    split_finding : {"auto", "hist", "exact"}, default="auto"
        How the default tree splits numbers: at any distinct value, or between up to `max_bins`
        bins. "auto" is exact up to 16,384 rows.
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
    verbose : int, default=0
        1 prints progress to stderr about ten times, 2 after each round.

    Attributes
    ----------
    estimators_ : sequence of estimators
        The members.
    estimator_weights_ : ndarray of float64
        Weight of each.
    estimator_errors_ : ndarray of float64
        Weighted mean loss of each.
    trace_ : AdaBoostTrace
        Error, weight and beta of each round; ``trace_.to_frame()`` is a table.
    validation_scores_ : ndarray of float64
        Score of the validation rows after each round that was run; only with such rows.
    estimator_ : estimator
        The weak learner, not fitted.
    feature_importances_ : ndarray of float64
        Share of each feature in the decrease of impurity, averaged by the weights of the members.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    schema_ : TableSchema
        Names, kinds and levels of the features; only with trees of this library.

    Examples
    --------
    >>> from committee import AdaBoostRegressor
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins("body_mass_g")
    >>> model = AdaBoostRegressor(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """

    _default_criterion = "squared_error"

    loss: str

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Any = None,
        criterion: str = "squared_error",
        resampling: bool | str = True,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 0.0,
        scoring: Any = None,
        keep_weights: bool = False,
        split_finding: str = "auto",
        max_bins: int = 255,
        categorical_features: Any = None,
        numeric_text: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.criterion = criterion
        self.resampling = resampling
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.scoring = scoring
        self.keep_weights = keep_weights
        self.split_finding = split_finding
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        **fit_params: Any,
    ) -> AdaBoostRegressor:
        """Fit the members, one round after another.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,)
            Finite numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Where weights start: how likely rows are drawn in the first round. A row of weight zero
            is absent.
        eval_set : tuple (X, y) or (X, y, sample_weight), or None, default=None
            Validation rows, instead of rows held out.
        **fit_params : dict
            Arguments for learners that request them, by metadata routing.

        Returns
        -------
        self : AdaBoostRegressor
            The fitted estimator.
        """
        self._check_params()
        routed = self._routed("fit", fit_params)
        with FitLog(type(self).__name__):
            self._replace_fitted(R2Fit(self, X, y, sample_weight, eval_set, routed).run())
        return self

    def _default_tree(self) -> Any:
        return DecisionTreeRegressor(
            max_depth=3,
            criterion=self.criterion,
            split_finding=self.split_finding,
            max_bins=self.max_bins,
            categorical_features=self.categorical_features,
            numeric_text=self.numeric_text,
        )

    def _check_params(self) -> None:
        super()._check_params()
        check_choice("loss", self.loss, LOSSES)
        check_choice("criterion", self.criterion, DecisionTreeRegressor._criteria)

    def _validate_loaded(self) -> None:
        super()._validate_loaded()
        members = getattr(self, "estimators_", ())
        if not isinstance(members, TreeMembers):
            for member in members:
                check_regressor(member, self._n_features)
        elif type(members.template) is not DecisionTreeRegressor or members.forest.n_values != 1:
            raise ValueError("the members do not predict one number")

    # ---- predictions ----

    def _trace_kind(self) -> str:
        return "losses"

    def _predicted(self, X: Any) -> Floats:
        """Return the predictions of members, n_rows x n_members."""
        table = self._open(X)
        members = self.estimators_
        if isinstance(members, TreeMembers):
            return members.forest.predict_each(table, self._threads())[:, :, 0]
        if table.n_rows == 0:  # which many estimators refuse
            return np.empty((0, len(members)))
        return np.column_stack(
            [np.asarray(each.predict(table.native), np.float64).ravel() for each in members]
        )

    def predict(self, X: Any) -> Floats:
        """Predict the weighted median of the members' predictions.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            Predictions, each that of some member.
        """
        predicted = self._predicted(X)
        return weighted_lower_median(predicted, np.asarray(self.estimator_weights_, np.float64))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the predictions of the first member, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        y : ndarray of float64, shape (n_rows,)
            The last are those of `predict`.
        """
        each = self._predicted(X)
        running = RunningMedian(len(each))
        for predicted, weight in zip(each.T, self.estimator_weights_, strict=True):
            running.add(predicted, float(weight))
            yield running.medians()

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield R2 after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.

        Yields
        ------
        score : float
            The last is `score`.
        """
        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))
