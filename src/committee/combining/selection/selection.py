"""Ensemble selection: a small committee, picked greedily from a library of models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from committee.base.arrays import Floats
from committee.combining.combiner import OfClassifiers, OfRegressors
from committee.combining.selection.selection_model import SelectionModel


class EnsembleSelectionClassifier(ClassifierMixin, OfClassifiers, SelectionModel):
    """Classifiers picked one after the other, each time the one that helps the committee most.

    A model may be picked again; how often it was picked is its weight in the mean of the
    probabilities (Caruana et al. 2004). Models that do not help are not in the committee, so that
    a library may hold many models, also poor ones.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The library: any classifiers with scikit-learn's interface, fitted to class codes. "drop"
        leaves one out. Those without `predict_proba` vote.
    n_rounds : int, default=50
        Picks, the same model more than once. In the end the selection goes back to the round with
        the best score.
    scoring : str, callable or None, default=None
        What picks maximize. None is minus the log loss; or the name of a scorer, a
        ``metric(y_true, y_pred)`` that grows as predictions get better, or a scorer.
        "neg_log_loss" and "accuracy" are computed for all models at once, others one by one.
    sorted_init : int or "auto", default="auto"
        Begin with so many of the best models, and then pick. "auto" begins with as many as are best
        together, 0 with an empty committee.
    n_bags : int, default=1
        Selections, of which each picks from some of the models; their weights are averaged.
    bag_fraction : float, default=0.5
        Share of the models that each selection may pick from, if there are several.
    cv : int, float, str, splitter, iterable or None, default=None
        Where predictions on rows come from that a model has not seen: None five folds, an int so
        many, a float a share of rows to hold out, "loo", "time", "oob", "prefit" for models that
        are fitted already to other rows than these, a splitter, or a list of (train, test) rows;
        see `StackingClassifier`.
    refit : bool, default=True
        Fit the chosen models to all rows in the end. False keeps their models of the folds, whose
        mean predicts.
    n_jobs : int or None, default=None
        Workers. None uses all cores for members of this library and one worker for others. The
        model is the same for any number, as far as members are.
    verbose : int, default=0
        1 prints progress on stderr, 2 each fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of held-out rows and bags, and of members whose own random_state is None.

    Attributes
    ----------
    classes_ : ndarray
        Class labels, in the order of the columns of `predict_proba`.
    estimators_ : list of estimators
        The chosen models, fitted.
    named_estimators_ : Bunch
        The same by name; "drop" for models that were not chosen, which are not fitted again.
    weights_ : ndarray of float64
        The weight of each model of the library (without those dropped), with sum one.
    selection_ : Selection
        What was picked when, and what that is worth. `to_frame()` has the score and the weight of
        each model, `steps()` the picks, `curve()` the score after each round: as promised by the
        rows that picked, and as found on other rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from committee import EnsembleSelectionClassifier, RandomForestClassifier
    >>> from committee import GradientBoostingClassifier
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> library = [
    ...     ("forest", RandomForestClassifier(random_state=0)),
    ...     ("boosting", GradientBoostingClassifier(n_estimators=50, random_state=0)),
    ...     ("guess", DummyClassifier()),
    ... ]
    >>> model = EnsembleSelectionClassifier(library, random_state=0).fit(X, y)
    >>> model.weights_[2].item(), model.named_estimators_.guess
    (0.0, 'drop')
    """

    classes_: NDArray[Any]

    _default_scoring = "neg_log_loss"

    def __init__(
        self,
        estimators: Any,
        *,
        n_rounds: int = 50,
        scoring: Any = None,
        sorted_init: int | str = "auto",
        n_bags: int = 1,
        bag_fraction: float = 0.5,
        cv: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.n_rounds = n_rounds
        self.scoring = scoring
        self.sorted_init = sorted_init
        self.n_bags = n_bags
        self.bag_fraction = bag_fraction
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest mean probability.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            Class labels. A tie goes to the class that comes first in `classes_`.
        """
        shares = self._mean(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """Return the weighted mean of the probabilities of the chosen models.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes)
            One column a class, in the order of `classes_`.
        """
        return self._mean(X)

    # ---- for the base class ----

    @property
    def _output_methods(self) -> tuple[str, ...]:
        return ("predict_proba", "predict")


class EnsembleSelectionRegressor(RegressorMixin, OfRegressors, SelectionModel):
    """Regressors picked one after the other, each time the one that helps the committee most.

    A model may be picked again; how often it was picked is its weight in the mean (Caruana et al.
    2004). Models that do not help are not in the committee, so that a library may hold many models,
    also poor ones.

    Parameters
    ----------
    estimators : list of (str, regressor)
        The library: any regressors with scikit-learn's interface. "drop" leaves one out.
    n_rounds : int, default=50
        Picks, the same model more than once. In the end the selection goes back to the round with
        the best score.
    scoring : str, callable or None, default=None
        What picks maximize. None is minus the mean squared error; or the name of a scorer, a
        ``metric(y_true, y_pred)`` that grows as predictions get better, or a scorer.
        "neg_mean_squared_error", "neg_root_mean_squared_error" and "r2" are computed for all
        models at once, others one by one.
    sorted_init : int or "auto", default="auto"
        Begin with so many of the best models, and then pick. "auto" begins with as many as are best
        together, 0 with an empty committee.
    n_bags : int, default=1
        Selections, of which each picks from some of the models; their weights are averaged.
    bag_fraction : float, default=0.5
        Share of the models that each selection may pick from, if there are several.
    cv : int, float, str, splitter, iterable or None, default=None
        Where predictions on rows come from that a model has not seen: None five folds, an int so
        many, a float a share of rows to hold out, "loo", "time", "oob", "prefit" for models that
        are fitted already to other rows than these, a splitter, or a list of (train, test) rows;
        see `StackingRegressor`.
    refit : bool, default=True
        Fit the chosen models to all rows in the end. False keeps their models of the folds, whose
        mean predicts.
    n_jobs : int or None, default=None
        Workers. None uses all cores for members of this library and one worker for others. The
        model is the same for any number, as far as members are.
    verbose : int, default=0
        1 prints progress on stderr, 2 each fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of held-out rows and bags, and of members whose own random_state is None.

    Attributes
    ----------
    estimators_ : list of estimators
        The chosen models, fitted.
    named_estimators_ : Bunch
        The same by name; "drop" for models that were not chosen, which are not fitted again.
    weights_ : ndarray of float64
        The weight of each model of the library (without those dropped), with sum one.
    selection_ : Selection
        What was picked when, and what that is worth. `to_frame()` has the score and the weight of
        each model, `steps()` the picks, `curve()` the score after each round: as promised by the
        rows that picked, and as found on other rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import EnsembleSelectionRegressor, RandomForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = 3 * X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(0, 0.1, 300)
    >>> library = [("line", LinearRegression()), ("forest", RandomForestRegressor(random_state=0))]
    >>> model = EnsembleSelectionRegressor(library, random_state=0).fit(X, y)
    >>> bool((model.weights_ > 0.1).all()), model.weights_.sum().item()
    (True, 1.0)
    """

    _default_scoring = "neg_mean_squared_error"

    def __init__(
        self,
        estimators: Any,
        *,
        n_rounds: int = 50,
        scoring: Any = None,
        sorted_init: int | str = "auto",
        n_bags: int = 1,
        bag_fraction: float = 0.5,
        cv: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.n_rounds = n_rounds
        self.scoring = scoring
        self.sorted_init = sorted_init
        self.n_bags = n_bags
        self.bag_fraction = bag_fraction
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def predict(self, X: Any) -> Floats:
        """Predict the weighted mean of what the chosen models predict.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            Predictions.
        """
        return self._mean(X)[:, 0]

    # ---- for the base class ----
