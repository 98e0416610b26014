"""`AdaBoostClassifier`: votes of weak learners, each fitted where those before it erred."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from committee.adaboost.learners import codes_of
from committee.adaboost.vote_fit import VoteFit
from committee.adaboost.vote_predictions import VotePredictions
from committee.adaboost.vote_rule import MULTICLASS, VARIANTS, VoteRule
from committee.adaboost.votes import make_votes
from committee.base.params import check_choice
from committee.base.work import FitLog
from committee.files.parts import LABELS, Part, instance, real, whole
from committee.members.loaded_members import check_classifier
from committee.trees.tree_members import TreeMembers
from committee.trees.trees import DecisionTreeClassifier


class AdaBoostClassifier(ClassifierMixin, VotePredictions):
    """AdaBoost that classifies rows of a raw table.

    A weak learner is fitted to the weighted rows, gets a vote whose weight grows with its accuracy,
    and the rows it got wrong get more weight for the next one. Numbers, text, categories, dates and
    missing values are used as they are.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The weak learner. None is a stump: a tree with one split. Our trees run in the engine, any
        other classifier by its `fit` and `predict`.
    n_estimators : int, default=50
        Number of rounds, the most of them: fewer when a learner is perfect or none beats chance.
    learning_rate : float, default=1.0
        Factor of the weight of every vote, above zero; see Notes.
    random_state : int, RandomState, Generator or None, default=None
        Seed of draws: rows where they are drawn, validation rows, and the learners' own.
    variant : {"discrete", "real", "gentle"}, default="discrete"
        Learners vote for a class, with logarithms of their probabilities, or with their
        probabilities. The last two need learners with `predict_proba`. Probabilities of "real" are
        smoothed by 0.02 of the weight for each class.
    multiclass : {"SAMME", "M1"}, default="SAMME"
        With K > 2 classes, a learner that votes for a class is of use if its error is less than
        1 - 1/K, or less than one half. With two classes both are the same.
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        What the default stump should reduce; "error" is the weighted error itself.
    resampling : bool or "auto", default="auto"
        Fit learners to rows drawn by their weights instead of weighing them. "auto" does so for
        learners that do not take weights.
    calibration : {"auto", "folds", "train"} or None, default="auto"
        From which rows the temperature of probabilities is chosen: three folds held out in turns,
        or the training rows. "auto" takes validation rows where there are some, training rows
        where there are 50 or more for each leaf of all members together, else folds: the whole fit
        then takes three to four times as long. None leaves the temperature at one.
    n_iter_no_change : int or None, default=None
        Stop after so many rounds without a better score on validation rows, and go back to the best
        round. None runs all rounds, and goes back only if `fit` is given an `eval_set`.
    validation_fraction : float, default=0.1
        Share of the rows that are held out for that, unless `fit` is given an `eval_set`.
    tol : float, default=0.0
        Least improvement of the score that counts.
    scoring : str, callable or None, default=None
        The score: None is accuracy, else the name of a scorer, a metric of scikit-learn, or any
        other ``metric(y_true, y_pred)``, the greater the better.
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
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply `sample_weight`, also of rows that are held out.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The model is the same for any number.
    verbose : int, default=0
        1 prints progress to stderr about ten times, 2 after each round.

    Attributes
    ----------
    estimators_ : sequence of estimators
        The members.
    estimator_weights_ : ndarray of float64
        Weight of the vote of each; negative for a learner that was wrong more often than right.
    estimator_errors_ : ndarray of float64
        Weighted error of each, in the distribution it was fitted to.
    trace_ : AdaBoostTrace
        Error, weight, normalizer, bound, training error and rule of each round;
        ``trace_.to_frame()`` is a table.
    validation_scores_ : ndarray of float64
        Score of the validation rows after each round that was run; only with such rows.
    temperature_ : float
        What sums of votes are divided by in `predict_proba`.
    estimator_ : estimator
        The weak learner, not fitted.
    classes_ : ndarray
        Class labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    feature_importances_ : ndarray of float64
        Share of each feature in the decrease of impurity, averaged by the weights of the members.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    schema_ : TableSchema
        Names, kinds and levels of the features; only with trees of this library.

    Notes
    -----
    With the weighted error e of a learner, its vote has the weight a = learning_rate * (log((1 - e)
    / e) + log(K - 1)), without the last term for "M1", and wrong rows are multiplied by exp(a).
    Many texts use half of it, b = a / 2, and multiply right rows by exp(-b) and wrong rows by
    exp(b): the same distribution of weights and the same committee, for any learning rate. The
    trace has both, `weight` and `beta`.

    A perfect learner, whose weight would be infinite, gets one more than all before it together,
    and is the last. With two classes a learner that is mostly wrong votes with a negative weight,
    that is, for the other class. Boosting stops when a learner is no better than chance (with "M1",
    when its error is not below one half).

    Examples
    --------
    >>> from committee import AdaBoostClassifier
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.predict(X.head(2)).tolist()
    ['Adelie', 'Adelie']
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "classes_": LABELS,
        "n_classes_": whole(1),
        "temperature_": real(5e-324),
        "_rule": instance(VoteRule),
    }
    _derived_attributes = ("_votes",)
    _default_criterion = "gini"

    variant: str
    multiclass: str
    calibration: str | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        variant: str = "discrete",
        multiclass: str = "SAMME",
        criterion: str = "gini",
        resampling: bool | str = "auto",
        calibration: str | None = "auto",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 0.0,
        scoring: Any = None,
        keep_weights: bool = False,
        split_finding: str = "auto",
        max_bins: int = 255,
        categorical_features: Any = None,
        numeric_text: str = "auto",
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.variant = variant
        self.multiclass = multiclass
        self.criterion = criterion
        self.resampling = resampling
        self.calibration = calibration
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.scoring = scoring
        self.keep_weights = keep_weights
        self.split_finding = split_finding
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ---- fitting ----

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Scikit-learn's check of class weights gives one class ten million times the weight of the
        # others, and wants the estimator to say nothing else. A stump says something else where
        # that class has no rows at all, and the second round makes all weights alike.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        **fit_params: Any,
    ) -> AdaBoostClassifier:
        """Fit the members, one round after another.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Where weights start. A row of weight two counts as that row twice, a row of weight zero
            is absent.
        eval_set : tuple (X, y) or (X, y, sample_weight), or None, default=None
            Validation rows, instead of rows held out.
        **fit_params : dict
            Arguments for learners that request them, by metadata routing.

        Returns
        -------
        self : AdaBoostClassifier
            The fitted estimator.
        """
        self._check_params()
        routed = self._routed("fit", fit_params)
        with FitLog(type(self).__name__):
            self._replace_fitted(VoteFit(self, X, y, sample_weight, eval_set, routed).run())
        return self

    def _default_tree(self) -> Any:
        return DecisionTreeClassifier(
            max_depth=1,
            criterion=self.criterion,
            split_finding=self.split_finding,
            max_bins=self.max_bins,
            categorical_features=self.categorical_features,
            numeric_text=self.numeric_text,
        )

    def _check_params(self) -> None:
        super()._check_params()
        check_choice("variant", self.variant, VARIANTS)
        check_choice("multiclass", self.multiclass, MULTICLASS)
        check_choice("criterion", self.criterion, DecisionTreeClassifier._criteria)
        check_choice("calibration", self.calibration, ("auto", "folds", "train"), none=True)
        if self.variant != "discrete" and self.multiclass != "SAMME":
            raise ValueError(
                f'multiclass must be "SAMME" with variant={self.variant!r}: only votes for a class '
                f"are weighed by errors; got {self.multiclass!r}"
            )
        learner = self._get_estimator()
        if self.variant != "discrete" and not hasattr(learner, "predict_proba"):
            raise ValueError(
                f'variant must be "discrete" with an estimator that has no predict_proba; got '
                f"{self.variant!r} with {learner!r}"
            )

    def _validate_loaded(self) -> None:
        super()._validate_loaded()
        if not hasattr(self, "estimators_"):
            return
        if self._rule.n_classes != len(self.classes_):
            raise ValueError("the rule does not fit the classes")
        if not np.array_equal(codes_of(self.classes_, self.classes_), np.arange(self.n_classes_)):
            raise ValueError("the classes are not sorted")
        members = self.estimators_
        if not isinstance(members, TreeMembers):
            method = "predict" if self._rule.variant == "discrete" else "predict_proba"
            for member in members:
                check_classifier(member, self._n_features, self.classes_, method)
        elif type(members.template) is not DecisionTreeClassifier or not np.array_equal(
            self.classes_ if members.classes is None else members.classes, self.classes_
        ):
            raise ValueError("the trees do not fit the classes")
        self._votes = make_votes(members, self.estimator_weights_, self.classes_, self._rule)
