"""Dynamic selection: members that did well on rows like a new one predict it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from committee.base.arrays import Floats
from committee.base.params import check_choice
from committee.combining.combiner import OfClassifiers, OfRegressors
from committee.combining.dynamic.competence import mean_weights, vote_weights
from committee.combining.dynamic.dynamic_model import DynamicModel


class DynamicSelectionClassifier(ClassifierMixin, OfClassifiers, DynamicModel):
    """Classifiers of which those predict a row that were right on its nearest neighbours.

    Each member predicts rows that it has not seen. A new row is compared with these rows,
    and the nearest ones decide which members vote, and with which weight.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The members: any classifiers with scikit-learn's interface, fitted to class codes. "drop"
        leaves one out.
    method : {"knora-u", "knora-e", "ola"}, default="knora-u"
        What the neighbours decide (Ko, Sabourin and Britto 2008; Woods, Kegelmeyer and Bowyer
        1997):

        - "knora-u": each member has a vote for each neighbour that it was right on.
        - "knora-e": members that were right on all neighbours vote; where there are none, the
          furthest neighbours are left out until there are some. If none was even right on the
          nearest, as "knora-u".
        - "ola": the member that was right on most neighbours decides, several if they are equally
          good.

        If none was right on any neighbour, all members vote.
    n_neighbors : int, default=7
        Neighbours. They are counted with their weights: a row of weight two is two neighbours.
    voting : {"soft", "hard"}, default="soft"
        Votes are probabilities, of members that have them, or predicted classes.
    weights : {"uniform", "distance"}, default="uniform"
        Neighbours count equally, or by the inverse of their distance.
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distance of rows: the root of the sum of squares of the differences in the columns, or
        their sum. Levels of a category, and a missing and a known value, differ by one.
    scale : bool, default=True
        Divide numbers by their standard deviation first. At most ten of them count.
    cv : int, float, str, splitter, iterable or None, default=None
        Where the predictions come from that members are scored by, as in `StackingClassifier`: None
        is five folds, a number of folds, a share of rows to hold out, "loo", "time", "oob",
        "prefit" for members that are fitted already to other rows than these, a splitter or a list
        of (train, test) rows.
    refit : bool, default=True
        Fit the members to all rows in the end. False keeps the models of the folds, whose mean
        predicts.
    n_jobs : int or None, default=None
        Workers. None uses all cores for members of this library and one worker for others. The
        model is the same for any number, as far as members are.
    verbose : int, default=0
        1 prints progress on stderr, 2 each fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of held-out rows, and of members whose own random_state is None.

    Attributes
    ----------
    classes_ : ndarray
        Class labels, in the order of the columns of `predict_proba`.
    estimators_ : list of estimators
        The fitted members, without those dropped.
    named_estimators_ : Bunch
        The same by name.
    n_level_one_rows_ : int
        Rows that members were scored on, and that neighbours are taken from.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.

    Notes
    -----
    Rows that are alike in all columns are one neighbour, with the share of them that a member was
    right on. Of a category with many levels the 64 most frequent are distinguished.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from committee import DynamicSelectionClassifier
    >>> X = np.random.default_rng(0).uniform(size=(200, 1))
    >>> y = np.where(X[:, 0] < 0.5, "left", "right")
    >>> members = [
    ...     (f"always {code}", DummyClassifier(strategy="constant", constant=code))
    ...     for code in (0, 1)
    ... ]
    >>> model = DynamicSelectionClassifier(members, method="knora-e").fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.explain([[0.1]]).weight.tolist()
    [[1.0, 0.0]]
    """

    classes_: NDArray[Any]

    _methods = ("knora-u", "knora-e", "ola")

    def __init__(
        self,
        estimators: Any,
        *,
        method: str = "knora-u",
        n_neighbors: int = 7,
        voting: str = "soft",
        weights: str = "uniform",
        metric: str = "euclidean",
        scale: bool = True,
        cv: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.method = method
        self.n_neighbors = n_neighbors
        self.voting = voting
        self.weights = weights
        self.metric = metric
        self.scale = scale
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            Class labels.
        """
        codes = self._mixed(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes: the weighted mean of the votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes)
            One column a class, in the order of `classes_`.
        """
        return self._mixed(X)

    # ---- for the base class ----

    def _check_switches(self) -> None:
        super()._check_switches()
        check_choice("voting", self.voting, ("soft", "hard"))

    @property
    def _output_methods(self) -> tuple[str, ...]:
        return ("predict_proba", "predict") if self.voting == "soft" else ("predict",)

    def _scorer(
        self, predictions: Sequence[Floats], y: NDArray[Any]
    ) -> tuple[Floats, dict[str, Any]]:
        right = [each.argmax(axis=1) == y for each in predictions]
        return np.column_stack(right).astype(np.float64), {}

    def _weigh(self, values: Floats, counts: Floats) -> Floats:
        return vote_weights(self.method, values, counts)

    def _shown(self, values: Floats) -> Floats:
        return values


class DynamicSelectionRegressor(RegressorMixin, OfRegressors, DynamicModel):
    """Regressors weighted on each row by how well they did on its nearest neighbours.

    Each member predicts rows that it has not seen. A new row is compared with these rows,
    and the errors on the nearest ones decide the weights of the members.

    Parameters
    ----------
    estimators : list of (str, regressor)
        The members: any regressors with scikit-learn's interface. "drop" leaves one out.
    method : {"weighted", "best"}, default="weighted"
        "weighted": members count by the inverse of their mean squared error on the neighbours.
        "best": the member with the smallest one predicts alone.
    n_neighbors : int, default=7
        Neighbours. They are counted with their weights: a row of weight two is two neighbours.
    weights : {"uniform", "distance"}, default="uniform"
        Neighbours count equally, or by the inverse of their distance.
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distance of rows: the root of the sum of squares of the differences in the columns, or
        their sum. Levels of a category, and a missing and a known value, differ by one.
    scale : bool, default=True
        Divide numbers by their standard deviation first. At most ten of them count.
    cv : int, float, str, splitter, iterable or None, default=None
        Where the predictions come from that members are scored by, as in `StackingRegressor`: None
        is five folds, a number of folds, a share of rows to hold out, "loo", "time", "oob",
        "prefit" for members that are fitted already to other rows than these, a splitter or a list
        of (train, test) rows.
    refit : bool, default=True
        Fit the members to all rows in the end. False keeps the models of the folds, whose mean
        predicts.
    n_jobs : int or None, default=None
        Workers. None uses all cores for members of this library and one worker for others. The
        model is the same for any number, as far as members are.
    verbose : int, default=0
        1 prints progress on stderr, 2 each fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of held-out rows, and of members whose own random_state is None.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members, without those dropped.
    named_estimators_ : Bunch
        The same by name.
    n_level_one_rows_ : int
        Rows that members were scored on, and that neighbours are taken from.
    error_unit_ : float
        The largest error of a member; squared errors are kept in this unit, so that none overflows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import DecisionTreeRegressor, DynamicSelectionRegressor
    >>> x = np.random.default_rng(0).uniform(0, 2, 300)
    >>> y = np.where(x < 1, 5 * x, np.round(x * 3) % 2)
    >>> members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3))]
    >>> model = DynamicSelectionRegressor(members).fit(x.reshape(-1, 1), y)
    >>> model.explain([[1.8]]).weight.tolist()
    [[0.0, 1.0]]
    """

    error_unit_: float

    _methods = ("weighted", "best")

    def __init__(
        self,
        estimators: Any,
        *,
        method: str = "weighted",
        n_neighbors: int = 7,
        weights: str = "uniform",
        metric: str = "euclidean",
        scale: bool = True,
        cv: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.method = method
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.scale = scale
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def predict(self, X: Any) -> Floats:
        """Predict numbers.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            Predictions.
        """
        return np.asarray(self._mixed(X)[:, 0])

    # ---- for the base class ----

    def _scorer(
        self, predictions: Sequence[Floats], y: NDArray[Any]
    ) -> tuple[Floats, dict[str, Any]]:
        errors = np.column_stack([each[:, 0] - y for each in predictions])
        unit = float(np.abs(errors).max(initial=0.0)) or 1.0
        return (errors / unit) ** 2, {"error_unit_": unit}

    def _weigh(self, values: Floats, counts: Floats) -> Floats:
        return mean_weights(self.method, values, counts)

    def _shown(self, values: Floats) -> Floats:
        return np.asarray(np.sqrt(values) * self.error_unit_)
