"""`AdaBoostClassifier`: votes of weak learners, each fitted where those before it erred."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from committee.adaboost.fit import AdaBoostFit
from committee.adaboost.fitted import FittedAdaBoost
from committee.adaboost.learners import codes_of
from committee.adaboost.vote_link import link
from committee.adaboost.vote_rule import MULTICLASS, VARIANTS, VoteRule
from committee.adaboost.votes import AnyVotes, TreeVotes, make_votes
from committee.base.params import check_choice
from committee.files.parts import LABELS, Part, instance, real, whole
from committee.files.tree_arrays import register_pickling
from committee.members.loaded_members import check_classifier
from committee.tables.target import read_known_classes
from committee.trees.tree_members import TreeMembers
from committee.trees.trees import DecisionTreeClassifier

register_pickling()


Floats = NDArray[np.float64]


class AdaBoostClassifier(ClassifierMixin, FittedAdaBoost):
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
        Factor of the weight of every vote; see Notes.
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
        How the default stump looks at numbers: every distinct value, or up to `max_bins` bins.
        "auto" is exact up to 16,384 rows.
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
        1 tells about progress on stderr about ten times, 2 after each round.

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

    # Fitted attributes.
    classes_: NDArray[Any]
    n_classes_: int
    temperature_: float
    _rule: VoteRule
    _votes: TreeVotes | AnyVotes

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
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ---- fitting ----

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
        attributes = AdaBoostFit(self, X, y, sample_weight, eval_set, routed).attributes()
        self._replace_fitted(attributes)
        self._votes = self._make_votes()
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

    def _make_votes(self) -> TreeVotes | AnyVotes:
        return make_votes(self.estimators_, self.estimator_weights_, self.classes_, self._rule)

    def _votes_now(self) -> TreeVotes | AnyVotes:
        """Return the votes of members and weights as they are, which users may have shortened."""
        members, votes = self.estimators_, self._votes
        is_same = (
            isinstance(members, TreeMembers)
            and isinstance(votes, TreeVotes)
            and votes.are_of(members.forest, self.estimator_weights_)
        )
        return votes if is_same else self._make_votes()

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
                check_classifier(member, self.n_features_in_, self.classes_, method)
        elif type(members.template) is not DecisionTreeClassifier or not np.array_equal(
            self.classes_ if members.classes is None else members.classes, self.classes_
        ):
            raise ValueError("the trees do not fit the classes")
        self._votes = self._make_votes()

    # ---- answers ----

    def _class_labels(self) -> list[NDArray[Any]]:
        return [self.classes_]

    def _trace_kind(self) -> str:
        return "votes" if self._rule.variant == "discrete" else "equal"

    def _total(self, X: Any) -> Floats:
        """Return the sums of votes, n_rows x n_classes."""
        table = self._open(X)
        return self._votes_now().total(table, self._threads())

    def _staged(self, X: Any) -> Iterator[Floats]:
        table = self._open(X)
        return self._votes_now().staged(table, self._threads())

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the most votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            Class labels. A tie goes to the class that comes first in `classes_`.
        """
        votes = self._total(X)
        labels: NDArray[Any] = self.classes_[votes.argmax(axis=1)]
        return labels

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions of the first member, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        y : ndarray of shape (n_rows,)
            Class labels; the last are those of `predict`.
        """
        for votes in self._staged(X):
            yield self.classes_[votes.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes: the softmax of votes over `temperature_`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes)
            One column a class, in the order of `classes_`. The largest is that of `predict`.
        """
        return link(self._total(X), self.temperature_)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        p : ndarray of float64, shape (n_rows, n_classes)
            The last are those of `predict_proba`; all have the same temperature.
        """
        for votes in self._staged(X):
            yield link(votes, self.temperature_)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        log_p : ndarray of float64, shape (n_rows, n_classes)
            Minus infinity for probabilities that are zero.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Floats:
        """Return how far the votes speak for a class.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            For two classes, positive where the second has more votes, in [-2, 2]; else one score
            for each class, in [-1, 1] (in the variants that vote with probabilities, of any size).
            As scikit-learn scales them.
        """
        return self._decision(self._total(X), len(self.estimators_))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the decision function after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        scores : ndarray of float64
            The last is `decision_function`.
        """
        for number, votes in enumerate(self._staged(X)):
            yield self._decision(votes, number + 1)

    def _decision(self, votes: Floats, n_members: int) -> Floats:
        """Scale sums of votes of the first members."""
        weights = self.estimator_weights_[:n_members]
        size = float(np.abs(weights).sum())
        scores: Floats
        if self.n_classes_ == 1:
            return np.zeros((len(votes), 1))
        if self.n_classes_ == 2:
            scores = 2 * (votes[:, 1] - votes[:, 0])
        elif self._rule.variant != "discrete":
            scores = votes
        else:
            scores = votes - (weights.sum() - votes) / (self.n_classes_ - 1)
        return scores / size

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy after the first round, the first two, and so on.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.

        Yields
        ------
        score : float
            The last is `score`.
        """
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def margins(self, X: Any, y: Any) -> Floats:
        """Return by how much votes for the right class outweigh those for the next best.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        y : array-like of shape (n_rows,)
            Their classes.

        Returns
        -------
        margins : ndarray of float64, shape (n_rows,)
            In [-1, 1] for members that vote for a class, as a share of all votes; negative where
            the committee is wrong.

        Examples
        --------
        >>> from committee import AdaBoostClassifier
        >>> from committee.datasets import load_ten_points
        >>> X, y = load_ten_points()
        >>> model = AdaBoostClassifier(n_estimators=3, criterion="error").fit(X, y)
        >>> bool((model.margins(X, y) > 0).all())
        True
        """
        votes = self._total(X)
        codes = read_known_classes(y, self.classes_)[:, 0]
        own = votes[np.arange(len(votes)), codes]
        votes[np.arange(len(votes)), codes] = -np.inf
        others = votes.max(axis=1, initial=0.0 if self.n_classes_ == 1 else -np.inf)
        margins: Floats = (own - others) / np.abs(self.estimator_weights_).sum()
        return margins

    def predict_contributions(self, X: Any) -> Floats:
        """Return what each feature adds to the votes of each row.

        These are Shapley values (SHAP values, by the path-dependent TreeSHAP): the difference
        between the votes of a row and their mean, shared out fairly among the features. A
        committee of stumps is a sum of functions of one feature each: these are their values.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        contributions : ndarray of float64
            Of shape (n_rows, n_features + 1) for two classes: what speaks for the second, in units
            of the weights of votes; else (n_rows, n_features + 1, n_classes). The last entry of the
            second axis is the mean of the members over the rows as they were weighted.
        """
        table = self._open(X)
        votes = self._votes_now()
        if not isinstance(votes, TreeVotes):
            raise AttributeError(
                "predict_contributions is for trees of this library; estimator must be one"
            )
        values = votes.contributions(table, self._threads())
        return values[:, :, 1] - values[:, :, 0] if self.n_classes_ == 2 else values
