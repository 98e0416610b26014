"""`VotingRegressor`: means or medians of different regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from committee.base.arrays import Floats
from committee.combining.combiner import OfRegressors
from committee.combining.convex_weights import blend_weights
from committee.combining.voting.means import combine
from committee.combining.voting.votes import VoteExplanation, Votes
from committee.combining.voting.voting_model import VotingModel


class VotingRegressor(RegressorMixin, OfRegressors, VotingModel):
    """Regressors whose predictions are combined.

    Parameters
    ----------
    estimators : list of (str, regressor)
        The members: any regressors with scikit-learn's interface. "drop" leaves one out.
    weights : array-like, "inverse_error", "learned" or None, default=None
        How much each member counts: given; or, from rows that it was not fitted to (see `cv`), one
        over its mean squared error, or the weights (not negative, with a sum of one) of the mean
        with the least squared error. None counts all alike.
    n_jobs : int or None, default=None
        Workers. None uses all cores for members of this library and one worker for others. The
        model is the same for any number, as far as members are.
    verbose : bool or int, default=False
        1 prints progress on stderr, 2 each fit.
    combine : {"mean", "median", "trimmed", "geometric"}, default="mean"
        The mean; the weighted median, which one member that is far off does not move; the mean
        without the extremes; or the geometric mean of positive predictions.
    trim : float, default=0.2
        Share of the weight that "trimmed" leaves out at either end.
    cv : int, float, str, splitter, iterable or None, default=None
        Rows from which weights are learnt: as in `StackingRegressor`, five folds by default.
        "prefit" takes members that are fitted already, and all rows of `fit` for the weights.
    random_state : int, RandomState, Generator or None, default=None
        Seed of held-out rows, and of members whose own random_state is None.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members, without those dropped.
    named_estimators_ : Bunch
        The same by name.
    weights_ : ndarray of float64
        Weights of these members, with a sum of one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from committee import VotingRegressor
    >>> values = [2.3, 9.1, 4.3, 4.1, 3.8]
    >>> members = [
    ...     (f"m{k}", DummyRegressor(strategy="constant", constant=c)) for k, c in enumerate(values)
    ... ]
    >>> team = VotingRegressor(members, combine="median").fit([[0.0], [1.0]], [4.0, 4.2])
    >>> team.predict([[0.5]]).tolist()
    [4.1]
    """

    _learnt_weights = ("inverse_error", "learned")

    def __init__(
        self,
        estimators: Any,
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        combine: str = "mean",
        trim: float = 0.2,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.combine = combine
        self.trim = trim
        self.cv = cv
        self.random_state = random_state

    def predict(self, X: Any) -> Floats:
        """Predict the combination of what members predict.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            Predictions.
        """
        return self._combined(self._predictions(X), self._counts)

    def transform(self, X: Any) -> Floats:
        """Return the predictions of each member.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        predicted : ndarray of float64, shape (n_rows, n_members)
            Predictions.
        """
        return np.asarray(self._predictions(X)[:, :, 0].T)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        names : ndarray of str
            The name of this class in small letters, and the name of the member.
        """
        self._check_fitted()
        name = type(self).__name__.lower()
        return np.array([f"{name}_{member}" for member in self._names], dtype=object)

    def votes(self, X: Any) -> Votes:
        """Return the predictions of all members.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        votes : Votes
            The prediction of each member for each row, the weights, and the combined predictions.
        """
        predicted = self._predictions(X)
        prediction = self._combined(predicted, self._counts)
        return Votes(tuple(self._names), self.weights_, predicted[:, :, 0].T, prediction)

    def explain_vote(self, X: Any) -> VoteExplanation:
        """Explain the prediction for one row: of each member, and of the committee without it.

        Parameters
        ----------
        X : table of shape (1, n_features)
            One row with the columns of `fit`.

        Returns
        -------
        explanation : VoteExplanation
            Prints as text; see its attributes.
        """
        predicted = self._predictions(X)
        if predicted.shape[1] != 1:
            raise ValueError(f"explain_vote takes one row; got {predicted.shape[1]}")
        prediction = float(self._combined(predicted, self._counts)[0])
        without = []
        for place in range(len(predicted)):
            weights = self._counts.copy()
            weights[place] = 0.0
            left = float(self._combined(predicted, weights)[0]) if weights.any() else prediction
            without.append(left)
        return VoteExplanation(
            prediction,
            None,
            {},
            tuple(self._names),
            tuple(predicted[:, 0, 0].tolist()),
            (np.nan,) * len(predicted),
            tuple(self.weights_.tolist()),
            tuple(without),
            (),
        )

    # ---- for the base class ----

    def _combined(self, predicted: Floats, weights: Floats) -> Floats:
        present = np.flatnonzero(weights)
        predicted, weights = predicted[present], weights[present]
        if self.combine == "geometric" and (predicted <= 0).any():
            member, row = np.argwhere(predicted[:, :, 0] <= 0)[0]
            raise ValueError(
                'combine="geometric" needs positive predictions; '
                f"{self._names[present[member]]} predicts "
                f"{predicted[member, row, 0]:.4g} for row {row}"
            )
        return combine(predicted, weights, self.combine, self.trim)[:, 0]

    def _learn_weights(
        self, choice: str, predicted: Floats, y: NDArray[Any], weights: Floats | None
    ) -> Floats:
        values = predicted[:, :, 0].T
        if choice == "learned":
            return blend_weights(values, y, weights)
        misses = values - y[:, np.newaxis]
        largest = float(np.abs(misses).max())
        if largest == 0:
            return np.ones(len(predicted))
        errors = np.average((misses / largest) ** 2, axis=0, weights=weights)
        return np.asarray(1 / np.maximum(errors, 1e-12))
