"""`BaggingClassifier`: copies of a classifier, fitted to samples of rows and features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from committee.bagging.bagging_model import BaggingModel
from committee.base.arrays import Floats
from committee.base.params import check_choice, reads_one_fit
from committee.base.work import FitLog
from committee.evaluation.oob import OobRecorder
from committee.evaluation.scored_target import ScoredTarget
from committee.members.loaded_members import check_classifier
from committee.members.output import MemberBlock, first_method, fitted_output
from committee.tables.target import read_classes, warn_of_column
from committee.trees.tree_members import TreeMembers
from committee.trees.trees import DecisionTreeClassifier


def _members_decide(model: BaggingClassifier) -> bool:
    """Whether the members have a decision function, and are not counted as votes."""
    if model.voting == "hard":
        return False
    member = model.estimators_[0] if hasattr(model, "estimators_") else model._get_estimator()
    return hasattr(member, "decision_function")


class BaggingClassifier(ClassifierMixin, BaggingModel):
    """Classifiers fitted to samples of the table, and their averaged probabilities or votes.

    Bootstrap samples make bagging, samples without replacement pasting; draws of features make
    random subspaces, draws of both random patches.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any classifier with scikit-learn's interface; None is `DecisionTreeClassifier`. Members are
        fitted to class codes 0, 1, ... in the order of `classes_`.
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
        Estimate the quality from out-of-bag rows. True is accuracy; or ``metric(y_true, y_pred)``
        on labels; or the name of a scorer, such as "roc_auc".
    warm_start : bool, default=False
        Keep the members of the last fit and add more.
    n_jobs : int or None, default=None
        Workers. None uses all cores for estimators of this library and one worker for others
        (or what `joblib.parallel_config` sets). The model is the same for any number.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws, and of every `random_state` inside the members.
    verbose : int, default=0
        1 prints progress on stderr, 2 each member.
    stratify : {"classes", "balanced"} or None, default=None
        "classes" keeps the share of each class in every sample, "balanced" draws the same number
        from each class.
    partition : bool, default=False
        Deal the rows out in `n_estimators` portions without overlap instead of drawing.
    voting : {"soft", "hard"}, default="soft"
        Average the probabilities of the members, or count votes. Members without `predict_proba`
        vote in either case.
    weighting : {"oob"} or None, default=None
        "oob" weighs members by the log-odds of their out-of-bag accuracy against chance.

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
    classes_ : ndarray
        Class labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    oob_decision_function_ : ndarray of float64, shape (n_rows, n_classes)
        Average over the members that have not drawn the row; NaN if all have. This and what
        follows only with `oob_score`.
    oob_score_ : float
        Score of these predictions, on the rows that have one.
    oob_curve_ : OobCurve
        `n_members` and `score`: the score of the first so many members.
    oob_member_errors_ : ndarray of float64, shape (n_estimators,)
        Error rate of each member on its own out-of-bag rows; also with `weighting`.
    oob_member_error_ : float
        Their mean.
    oob_never_ : int
        Rows that every member has drawn.
    oob_score_632_, oob_score_632_plus_ : float
        The .632 and .632+ estimates, between the scores in training and out of bag.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from committee.bagging.classifier import BaggingClassifier
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> trees = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> trees.oob_score_ > 0.95
    True
    >>> lines = BaggingClassifier(LogisticRegression(), random_state=0)
    >>> lines.fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]).predict([[9.0]]).item()
    'yes'
    """

    classes_: NDArray[Any]
    n_classes_: int

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
        stratify: str | None = None,
        partition: bool = False,
        voting: str = "soft",
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
        self.stratify = stratify
        self.partition = partition
        self.voting = voting
        self.weighting = weighting

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> BaggingClassifier:
        """Fit the members.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
            Members get rows and columns of it as a table of the same kind.
        y : array-like of shape (n_rows,)
            Class labels.
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
        self : BaggingClassifier
            The fitted estimator.
        """
        with FitLog(type(self).__name__):
            self._fit(X, y, sample_weight, groups, fit_params)
        return self

    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """Predict the class with the largest averaged probability, or the most votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.
        **params : dict
            Arguments for members that request them, by metadata routing.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            Class labels. A tie goes to the class that comes first in `classes_`.
        """
        shares = self._combined(X, self._routed("predict", params))
        labels: NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any, **params: Any) -> Floats:
        """Return the averaged probabilities of the members, or the shares of their votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        **params : dict
            Arguments for members that request them, by metadata routing.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes)
            One column a class, in the order of `classes_`.
        """
        return self._combined(X, self._routed("predict_proba", params))

    def predict_log_proba(self, X: Any, **params: Any) -> Floats:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        **params : dict
            Arguments for members that request them, by metadata routing.

        Returns
        -------
        log_p : ndarray of float64, shape (n_rows, n_classes)
            Also for probabilities too small for `predict_proba`, where members know them.
        """
        routed = self._routed("predict_log_proba", params)
        with np.errstate(divide="ignore"):
            in_engine = isinstance(self.__dict__.get("estimators_"), TreeMembers)
            if in_engine or self._callee("predict_log_proba") != "predict_log_proba":
                return np.asarray(np.log(self._combined(X, routed)))
            table = self._open(X)
            total = np.full((table.n_rows, self.n_classes_), -np.inf)
            logs = ("predict_log_proba",)
            for part in self._in_blocks(MemberBlock.log_sum, table, routed, logs):
                total = np.logaddexp(total, part)
            return np.asarray(total - np.log(self._weights().sum()))

    @available_if(_members_decide)  # type: ignore[untyped-decorator]
    @reads_one_fit
    def decision_function(self, X: Any, **params: Any) -> Floats:
        """Average the decision functions of the members.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        **params : dict
            Arguments for members that request them, by metadata routing.

        Returns
        -------
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            As the members have it: one score for two classes, else one for each.
        """
        routed = self._routed("decision_function", params)
        scores = ("decision_function",)
        parts = list(self._in_blocks(MemberBlock.sum, self._open(X), routed, scores))
        mean = np.asarray(sum(parts[1:], start=parts[0]) / self._weights().sum())
        return mean[:, 0] if mean.shape[1] == 1 else mean

    # ---- for the base class ----

    def _get_estimator(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _check_switches(self) -> None:
        super()._check_switches()
        check_choice("voting", self.voting, ("soft", "hard"))
        check_choice("stratify", self.stratify, ("classes", "balanced"), none=True)
        if self.partition and self.stratify == "balanced":
            raise ValueError(
                'stratify must be None or "classes" with partition=True, which deals out every '
                'row once; got "balanced"'
            )

    def _read_target(self, y: Any) -> tuple[ScoredTarget, NDArray[Any], dict[str, Any]]:
        labels = read_classes(y)
        if labels.n_outputs > 1:
            raise ValueError(
                "y should be a 1d array, got an array of shape "
                f"{labels.codes.shape} instead: {type(self).__name__} has one output"
            )
        warn_of_column(y)
        codes = labels.codes[:, 0].astype(np.int64)
        classes = labels.classes[0]
        attributes = {"classes_": classes, "n_classes_": len(classes)}
        return ScoredTarget(labels.codes, labels.classes), codes, attributes

    def _strata(self, target: ScoredTarget) -> tuple[NDArray[np.int32] | None, bool]:
        if self.stratify is None or target.codes is None:
            return None, False
        return np.ascontiguousarray(target.codes[:, 0]), self.stratify == "balanced"

    @property
    def _counts_votes(self) -> bool:
        return bool(self.voting == "hard")

    @property
    def _methods(self) -> tuple[str, ...]:
        return ("predict",) if self._counts_votes else ("predict_proba", "predict")

    @property
    def _n_classes(self) -> int:
        return self.n_classes_

    @property
    def _n_values(self) -> int:
        return self.n_classes_

    def _oob_attributes(self, recorder: OobRecorder) -> dict[str, Any]:
        return recorder.finish().attributes("oob_decision_function_")

    def _callee(self, method: str) -> str:
        if method == "decision_function":
            return method
        member = self._get_estimator()
        own = first_method("estimator", member, self._methods)
        has_logs = hasattr(member, "predict_log_proba")
        if method == "predict_log_proba" and own == "predict_proba" and has_logs:
            return method
        return own

    def _check_loaded_member(self, member: Any, n_columns: int) -> None:
        known = np.arange(self.n_classes_)
        if isinstance(self.estimators_, TreeMembers) and self.estimators_.classes is not None:
            known = self.classes_
        method = fitted_output(member, self._methods, self.n_classes_).method
        check_classifier(member, n_columns, known, method)
