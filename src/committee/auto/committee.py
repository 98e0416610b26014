"""The committee in one line, for classes and for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from committee.auto.answers import ClassifierAnswers, RegressorAnswers
from committee.auto.decision_rules import DecisionRules, scoring_of
from committee.auto.model import AutoModel
from committee.base.arrays import Floats
from committee.evaluation.scored_target import ScoredTarget
from committee.tables.target import read_classes, read_reals


class CommitteeClassifier(ClassifierMixin, AutoModel, ClassifierAnswers):
    """The best committee of classifiers that a budget allows, from a raw table.

    Parameters
    ----------
    quality : {"fast", "good", "best"}, default="good"
        How much work an automatic budget allows: "fast" a sixth of "good", "best" six times as
        much. With `budget` or `time_limit` it is not looked at.
    budget : float or "auto", default="auto"
        Units of work; one is about a second of one core. Work is counted by the sizes of what is
        fitted and never by a clock, so that the same call makes the same committee, for any
        `n_jobs`. "auto" grows with the square root of the number of cells: 60 units for 10,000
        rows and 20 columns, about half a minute on two cores.
    time_limit : float or None, default=None
        Seconds from the call to the result. The clock decides only after which step the search
        ends: ``budget=model.budget_`` without a time limit makes the same committee again. With a
        budget and a time limit, what comes first ends the search; with a time limit alone there is
        no other limit. At least one model is fitted in any case.
    scoring : str, callable or None, default=None
        What members are chosen by: a scorer of scikit-learn or its name. None is minus the
        log loss.
    members : "auto", list or dict, default="auto"
        What is tried. A list has "auto" for the models of the library, names of some of these as
        on `leaderboard_`, and (name, estimator) pairs of your own; a dict has only your own. An
        estimator of another library gets the rows as they came in class codes or numbers, and is
        left out with a warning where it fails. A committee with such a member cannot be saved by
        `committee.save`.
    max_latency : float or None, default=None
        Seconds that predictions of 10,000 rows may take on one core: members are chosen so that
        they stay within it. Counted by the sizes of members and not by a clock, so that the choice
        is the same everywhere; see `latency_`.
    threshold : "auto", float or None, default="auto"
        From which probability on the positive of two classes is predicted. "auto": where `scoring`
        looks at predicted classes, as "f1" and "balanced_accuracy" do, the best threshold by
        rows that models have not seen (of more classes, the best weights of classes); the score to
        expect is corrected for that choice as for the others. Otherwise, and for accuracy,
        precision and recall, as None: the most probable class is predicted.
    costs : array-like of shape (n_classes, n_classes), dict or None, default=None
        What each true (row) and predicted (column) class costs, in the order of `classes_`; or a
        dict from pairs of labels (true, predicted), where missing pairs cost 1 and right
        predictions 0. The prediction is the class with the least expected cost.
    positive : label or None, default=None
        The positive of two classes: what `threshold` is about, and metrics such as "f1". None is
        the second of `classes_`.
    random_state : int, RandomState or None, default=None
        Sets folds and draws of members.
    n_jobs : int or None, default=None
        Threads; None is all usable cores.
    verbose : int, default=0
        1 writes a line to stderr for each model.

    Attributes
    ----------
    leaderboard_ : Leaderboard
        All models that were tried, with scores of rows that they were not fitted to; `to_frame()`.
    members_, member_names_ : list
        The members: means of models that were fitted to folds.
    weights_ : ndarray of float64
        Their weights, which add up to one.
    score_ : ScoreEstimate
        The score to expect on new rows: `score` is corrected for the choice of members and for
        what the mean of the models of all folds gains, `naive` is not; `interval(coverage, n_new)`.
    decision_ : Decision
        How probabilities become a class; `print` says it in words. With costs, its `cost` is the
        mean cost of a row on rows that models have not seen.
    columns_ : tuple of ColumnUse
        What was done to each column, and why.
    leaks_ : tuple of Leak
        Columns that give the target away: each alone predicts unseen rows almost perfectly. `fit`
        warns of them.
    importances_ : ColumnImportances
        Loss of score where a column is shuffled, on rows that the models have not seen.
    findings_ : Findings
        How predictions and truth agree on such rows; for the report.
    small_tree_ : SmallTree
        The committee in one tree of eight leaves, fitted to its predictions of unseen rows; with
        how well it agrees, and its score beside that of the committee. Absent below 60 rows.
    budget_ : float
        Units of work that were done.
    latency_ : float
        Seconds that predictions of 10,000 rows take on one core, counted.
    interrupted_ : bool
        Whether Ctrl-C ended the search early.
    classes_ : ndarray
        The sorted labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, where the table has names.

    See Also
    --------
    committee.train : Finds out what kind of target a column is, and reads files.

    Notes
    -----
    Every candidate is fitted to the rows outside of each of eight folds (five below 60 rows), and
    predicts the fold. Members are chosen greedily by these predictions, with replacement, so that
    how often one is chosen is its weight (Caruana et al. 2004). A temperature
    makes their mean probabilities bolder or more careful. The score of the
    committee is corrected for that choice: rows are drawn with replacement, members are chosen
    again by the rows drawn, and scored on the others (Tsamardinos et al. 2018).

    After the first model, Ctrl-C ends the search and keeps what there is, with a warning.

    Examples
    --------
    >>> from committee.datasets import load_penguins
    >>> table, species = load_penguins(backend="pandas")
    >>> model = CommitteeClassifier(budget=1.0, random_state=0).fit(table, species)
    >>> model.predict(table.head(2)).tolist()
    ['Adelie', 'Adelie']
    >>> model.score_.score > model.findings_.constant_score
    True
    """

    _default_scoring = "neg_log_loss"

    def __init__(
        self,
        *,
        quality: str = "good",
        budget: float | str = "auto",
        time_limit: float | None = None,
        scoring: Any = None,
        members: Any = "auto",
        max_latency: float | None = None,
        threshold: float | str | None = "auto",
        costs: Any = None,
        positive: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.quality = quality
        self.budget = budget
        self.time_limit = time_limit
        self.scoring = scoring
        self.members = members
        self.max_latency = max_latency
        self.threshold = threshold
        self.costs = costs
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        target = read_classes(y)
        return ScoredTarget(target.codes, target.classes, weights=weights)

    def _read_target_again(self, y: Any, weights: Floats | None) -> ScoredTarget:
        target, labels = read_classes(y), self.classes_.tolist()
        unknown = [label for label in target.classes[0].tolist() if label not in labels]
        if unknown:
            raise ValueError(f"y has the class {unknown[0]!r}, but fit has seen {labels[:20]}")
        codes = np.array([labels.index(label) for label in target.classes[0].tolist()], np.int32)
        return ScoredTarget(codes[target.codes], [self.classes_], weights=weights)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, in the order of `classes_`."""
        return self._predict_values(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that `decision_` makes of the probabilities of each row."""
        values = self._predict_values(X)
        return np.asarray(self.classes_[self.decision_.codes(values)])

    def _scoring_for(self, scoring: Any, target: ScoredTarget) -> Any:
        if len(target.classes) != 1:
            return scoring
        return scoring_of(scoring, self.positive, target.classes[0])

    def _decision_rules(self, target: ScoredTarget) -> DecisionRules | None:
        if len(target.classes) != 1 or len(target.classes[0]) < 2:
            return None  # such targets are refused in words
        scoring = self._default_scoring if self.scoring is None else self.scoring
        scoring = self._scoring_for(scoring, target)
        classes = target.classes[0]
        return DecisionRules(classes, scoring, self.threshold, self.costs, self.positive)


class CommitteeRegressor(RegressorMixin, AutoModel, RegressorAnswers):
    """The best committee of regressors that a budget allows, from a raw table.

    Parameters
    ----------
    quality : {"fast", "good", "best"}, default="good"
        How much work an automatic budget allows: "fast" a sixth of "good", "best" six times as
        much. With `budget` or `time_limit` it is not looked at.
    budget : float or "auto", default="auto"
        Units of work; one is about a second of one core. Work is counted by the sizes of what is
        fitted and never by a clock, so that the same call makes the same committee, for any
        `n_jobs`. "auto" grows with the square root of the number of cells: 60 units for 10,000
        rows and 20 columns, about half a minute on two cores.
    time_limit : float or None, default=None
        Seconds from the call to the result. The clock decides only after which step the search
        ends: ``budget=model.budget_`` without a time limit makes the same committee again. With a
        budget and a time limit, what comes first ends the search; with a time limit alone there is
        no other limit. At least one model is fitted in any case.
    scoring : str, callable or None, default=None
        What members are chosen by: a scorer of scikit-learn or its name. None is minus the root
        mean squared error.
    members : "auto", list or dict, default="auto"
        What is tried. A list has "auto" for the models of the library, names of some of these as
        on `leaderboard_`, and (name, estimator) pairs of your own; a dict has only your own. An
        estimator of another library gets the rows as they came in class codes or numbers, and is
        left out with a warning where it fails. A committee with such a member cannot be saved by
        `committee.save`.
    max_latency : float or None, default=None
        Seconds that predictions of 10,000 rows may take on one core: members are chosen so that
        they stay within it. Counted by the sizes of members and not by a clock, so that the choice
        is the same everywhere; see `latency_`.
    random_state : int, RandomState or None, default=None
        Sets folds and draws of members.
    n_jobs : int or None, default=None
        Threads; None is all usable cores.
    verbose : int, default=0
        1 writes a line to stderr for each model.

    Attributes
    ----------
    leaderboard_ : Leaderboard
        All models that were tried, with scores of rows that they were not fitted to; `to_frame()`.
    members_, member_names_ : list
        The members: means of models that were fitted to folds.
    weights_ : ndarray of float64
        Their weights, which add up to one.
    score_ : ScoreEstimate
        The score to expect on new rows: `score` is corrected for the choice of members and for
        what the mean of the models of all folds gains, `naive` is not; `interval(coverage, n_new)`.
    columns_ : tuple of ColumnUse
        What was done to each column, and why.
    leaks_ : tuple of Leak
        Columns that give the target away: each alone predicts unseen rows almost perfectly. `fit`
        warns of them.
    importances_ : ColumnImportances
        Loss of score where a column is shuffled, on rows that the models have not seen.
    findings_ : Findings
        How predictions and truth agree on such rows; for the report.
    small_tree_ : SmallTree
        The committee in one tree of eight leaves, fitted to its predictions of unseen rows; with
        how well it agrees, and its score beside that of the committee. Absent below 60 rows.
    budget_ : float
        Units of work that were done.
    latency_ : float
        Seconds that predictions of 10,000 rows take on one core, counted.
    interrupted_ : bool
        Whether Ctrl-C ended the search early.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, where the table has names.

    See Also
    --------
    committee.train : Finds out what kind of target a column is, and reads files.

    Notes
    -----
    Every candidate is fitted to the rows outside of each of eight folds (five below 60 rows), and
    predicts the fold. Members are chosen greedily by these predictions, with replacement, so that
    how often one is chosen is its weight (Caruana et al. 2004). The score of the
    committee is corrected for that choice: rows are drawn with replacement, members are chosen
    again by the rows drawn, and scored on the others (Tsamardinos et al. 2018).

    After the first model, Ctrl-C ends the search and keeps what there is, with a warning.

    Examples
    --------
    >>> X = np.linspace(0, 6, 100)[:, np.newaxis]
    >>> model = CommitteeRegressor(budget=1.0, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> abs(model.predict([[1.5]]) - np.sin(1.5)).item() < 0.1
    True
    """

    _default_scoring = "neg_root_mean_squared_error"

    def __init__(
        self,
        *,
        quality: str = "good",
        budget: float | str = "auto",
        time_limit: float | None = None,
        scoring: Any = None,
        members: Any = "auto",
        max_latency: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.quality = quality
        self.budget = budget
        self.time_limit = time_limit
        self.scoring = scoring
        self.members = members
        self.max_latency = max_latency
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        return ScoredTarget(reals=read_reals(y)[0], weights=weights)

    def _read_target_again(self, y: Any, weights: Floats | None) -> ScoredTarget:
        return self._read_target(y, weights)

    def predict(self, X: Any) -> Floats:
        """Return the prediction for each row."""
        return np.asarray(self._predict_values(X)[:, 0])
