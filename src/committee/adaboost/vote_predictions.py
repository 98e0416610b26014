"""Predictions of AdaBoost for classes: sums of votes, and what is derived from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from committee.adaboost.fitted import FittedAdaBoost
from committee.adaboost.vote_link import link
from committee.adaboost.vote_rule import VoteRule
from committee.adaboost.votes import AnyVotes, TreeVotes, make_votes
from committee.base.arrays import Floats
from committee.tables.target import read_known_classes
from committee.theory.margins import margins_of_codes
from committee.trees.tree_members import TreeMembers


class VotePredictions(FittedAdaBoost):
    """Base class of the AdaBoost classifier, as far as it does not fit."""

    # Fitted attributes.
    classes_: NDArray[Any]
    n_classes_: int
    temperature_: float
    _rule: VoteRule
    _votes: TreeVotes | AnyVotes

    def _class_labels(self) -> list[NDArray[Any]]:
        return [self.classes_]

    def _trace_kind(self) -> str:
        return "votes" if self._rule.variant == "discrete" else "equal"

    def _edge_rate(self) -> float | None:
        rule = self._rule
        return rule.learning_rate if rule.variant == "discrete" and rule.has_bound else None

    def _total(self, X: Any) -> Floats:
        """Return the sums of votes, n_rows x n_classes."""
        table = self._open(X)
        return self._votes_now().total(table, self._threads())

    def _staged(self, X: Any) -> Iterator[Floats]:
        table = self._open(X)
        return self._votes_now().staged(table, self._threads())

    def _votes_now(self) -> TreeVotes | AnyVotes:
        """Return the votes of members and weights as they are, which users may have shortened."""
        members, weights, votes = self.estimators_, self.estimator_weights_, self._votes
        is_same = (
            isinstance(members, TreeMembers)
            and isinstance(votes, TreeVotes)
            and votes.are_of(members.forest, weights)
        )
        return votes if is_same else make_votes(members, weights, self.classes_, self._rule)

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
        """Return the votes for a class, less those for others.

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
        return np.asarray(margins_of_codes(votes, codes) / np.abs(self.estimator_weights_).sum())

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
            Of shape (n_rows, n_features + 1) for two classes: votes for the second class less those
            for the first; else (n_rows, n_features + 1, n_classes). The last entry of the second
            axis is the mean of the members over the rows as they were weighted.
        """
        table = self._open(X)
        votes = self._votes_now()
        if not isinstance(votes, TreeVotes):
            raise AttributeError(
                "predict_contributions is for trees of this library; estimator must be one"
            )
        values = votes.contributions(table, self._threads())
        return values[:, :, 1] - values[:, :, 0] if self.n_classes_ == 2 else values
