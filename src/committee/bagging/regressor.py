"""`BaggingRegressor`: copies of a regressor, fitted to samples of rows and features."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import get_tags

from committee.bagging.bagging_model import BaggingModel
from committee.base.arrays import Floats
from committee.base.params import check_choice
from committee.base.work import FitLog
from committee.evaluation.oob import OobRecorder
from committee.evaluation.scored_target import ScoredTarget
from committee.members.loaded_members import check_regressor
from committee.tables.target import read_reals
from committee.trees.trees import DecisionTreeRegressor


class BaggingRegressor(RegressorMixin, BaggingModel):
    """Regressors fitted to samples of the table, and the mean or median of their predictions.

    Bootstrap samples make bagging, samples without replacement pasting; draws of features make
    random subspaces, draws of both random patches.

    Parameters
    ----------
    estimator : regressor or None, default=None
        Any regressor with scikit-learn's interface; None is `DecisionTreeRegressor`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int, float or None, default=None
        Draws in a sample: None as many as there are rows, an int that many, a float that share of
        the rows (of the sum of `sample_weight`). With replacement there may be more draws than
        rows (a float above 1.0, which scikit-learn refuses). With groups, groups are counted.
    max_features : int, float, {"sqrt", "log2", "log2+1"} or None, default=1.0
        Features drawn for each member: an int that many, at most all of them; a float in (0, 1]
        that share; None all.
    bootstrap : bool, default=True
        Draw rows with replacement.
    bootstrap_features : bool, default=False
        Draw features with replacement.
    oob_score : bool, callable or str, default=False
        Estimate the quality from out-of-bag rows. True is R2; or ``metric(y_true, y_pred)``; or the
        name of a scorer, such as "neg_mean_absolute_error".
    warm_start : bool, default=False
        Keep the members of the last fit and add more.
    n_jobs : int or None, default=None
        Workers. None uses all cores for estimators of this library and one worker for others
        (or what `joblib.parallel_config` sets). The model is the same for any number.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws, and of every `random_state` inside the members.
    verbose : int, default=0
        1 prints progress on stderr, 2 each member.
    partition : bool, default=False
        Deal the rows out in `n_estimators` portions without overlap instead of drawing.
    combine : {"mean", "median"}, default="mean"
        How predictions of the members become one.
    weighting : {"oob"} or None, default=None
        "oob" weighs members by the inverse of their out-of-bag mean squared error.

    Attributes
    ----------
    estimator_ : estimator
        What the members are copies of.
    estimators_ : list of estimators
        The fitted members.
    estimators_samples_ : list of ndarray
        The rows that each member has drawn; drawn again on each access.
    estimators_features_ : list of ndarray
        The features that each member has drawn.
    estimator_weights_ : ndarray of float64
        Weights of the members, with sum one; only with `weighting`.
    n_outputs_ : int
        Number of outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    oob_prediction_ : ndarray of float64, shape (n_rows,) or (n_rows, n_outputs)
        Common prediction of the members that have not drawn the row; NaN if all have. This and
        what follows only with `oob_score`.
    oob_score_ : float
        Score of these predictions, on the rows that have one.
    oob_curve_ : OobCurve
        `n_members` and `score`: the score of the first so many members.
    oob_member_errors_ : ndarray of float64, shape (n_estimators,)
        Mean squared error of each member on its own out-of-bag rows; also with `weighting`.
    oob_member_error_ : float
        Their mean.
    oob_never_ : int
        Rows that every member has drawn.
    oob_score_632_, oob_score_632_plus_ : float
        The .632 and .632+ estimates, between the scores in training and out of bag.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from committee.bagging.regressor import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(
    ...     KNeighborsRegressor(), 50, max_features=0.5, oob_score=True, random_state=0
    ... ).fit(X, y)
    >>> 0.3 < model.oob_score_ < 0.6
    True
    """

    n_outputs_: int

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float | str | None = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        partition: bool = False,
        combine: str = "mean",
        weighting: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.partition = partition
        self.combine = combine
        self.weighting = weighting

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> BaggingRegressor:
        """Fit the members.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
            Members get rows and columns of it as a table of the same kind.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Draw probabilities, up to a factor; a row of weight zero is never drawn. Out-of-bag
            scores are weighted too.
        groups : array-like of shape (n_rows,) or None, default=None
            Rows with the same value are drawn together, or not at all.
        **fit_params : dict
            Arguments for the `fit` of members that request them, with scikit-learn's metadata
            routing switched on.

        Returns
        -------
        self : BaggingRegressor
            The fitted estimator.
        """
        with FitLog(type(self).__name__):
            self._fit(X, y, sample_weight, groups, fit_params)
        return self

    def predict(self, X: Any, **params: Any) -> Floats:
        """Predict the mean or median of the predictions of the members.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.
        **params : dict
            Arguments for members that request them, by metadata routing.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,) or (n_rows, n_outputs)
            Predictions.
        """
        values = self._combined(X, self._routed("predict", params))
        return values[:, 0] if self.n_outputs_ == 1 else values

    # ---- for the base class ----

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            member = get_tags(self._get_estimator())
        except Exception:  # fit refuses an estimator that cannot be used
            return tags
        tags.target_tags.multi_output = member.target_tags.multi_output
        return tags

    def _get_estimator(self) -> Any:
        return DecisionTreeRegressor() if self.estimator is None else self.estimator

    def _check_switches(self) -> None:
        super()._check_switches()
        check_choice("combine", self.combine, ("mean", "median"))

    def _read_target(self, y: Any) -> tuple[ScoredTarget, NDArray[Any], dict[str, Any]]:
        reals, is_1d = read_reals(y)
        y_members = reals[:, 0] if is_1d else reals
        return ScoredTarget(reals=reals), y_members, {"n_outputs_": reals.shape[1]}

    @property
    def _n_values(self) -> int:
        return self.n_outputs_

    def _uses_median(self) -> bool:
        return self.combine == "median"

    def _oob_attributes(self, recorder: OobRecorder) -> dict[str, Any]:
        estimates = recorder.finish()
        flat = estimates.values[:, 0] if estimates.values.shape[1] == 1 else estimates.values
        return estimates.attributes("oob_prediction_", flat)

    def _check_loaded_member(self, member: Any, n_columns: int) -> None:
        check_regressor(member, n_columns, self.n_outputs_)
