"""The committee in one line, for classes and for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from committee.auto.model import AutoModel
from committee.base.arrays import Floats
from committee.evaluation.scored_target import ScoredTarget
from committee.tables.target import read_classes, read_reals


class CommitteeClassifier(ClassifierMixin, AutoModel):
    """The best committee of classifiers that a budget allows, from a raw table.

    Parameters
    ----------
    quality : {"fast", "good", "best"}, default="good"
        How much work an automatic budget allows: "fast" a sixth of "good", "best" six times as
        much.
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
        The score to expect on new rows: `score` is corrected for the choice of members, `naive`
        is not; `interval(coverage, n_new)`.
    columns_ : tuple of ColumnUse
        What was done to each column, and why.
    importances_ : ColumnImportances
        Loss of score where a column is shuffled, on rows that the models have not seen.
    findings_ : Findings
        How predictions and truth agree on such rows; for the report.
    budget_ : float
        Units of work that were done.
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
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.quality = quality
        self.budget = budget
        self.time_limit = time_limit
        self.scoring = scoring
        self.members = members
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        target = read_classes(y)
        return ScoredTarget(target.codes, target.classes, weights=weights)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, in the order of `classes_`."""
        return self._predict_values(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        best = self._predict_values(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


class CommitteeRegressor(RegressorMixin, AutoModel):
    """The best committee of regressors that a budget allows, from a raw table.

    Parameters
    ----------
    quality : {"fast", "good", "best"}, default="good"
        How much work an automatic budget allows: "fast" a sixth of "good", "best" six times as
        much.
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
        The score to expect on new rows: `score` is corrected for the choice of members, `naive`
        is not; `interval(coverage, n_new)`.
    columns_ : tuple of ColumnUse
        What was done to each column, and why.
    importances_ : ColumnImportances
        Loss of score where a column is shuffled, on rows that the models have not seen.
    findings_ : Findings
        How predictions and truth agree on such rows; for the report.
    budget_ : float
        Units of work that were done.
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
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.quality = quality
        self.budget = budget
        self.time_limit = time_limit
        self.scoring = scoring
        self.members = members
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        return ScoredTarget(reals=read_reals(y)[0], weights=weights)

    def predict(self, X: Any) -> Floats:
        """Return the prediction for each row."""
        return np.asarray(self._predict_values(X)[:, 0])
