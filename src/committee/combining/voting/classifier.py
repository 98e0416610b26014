"""`VotingClassifier`: votes or mean probabilities of different classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import column_or_1d

from committee.base.arrays import Floats
from committee.base.params import check_bool, check_choice
from committee.combining.combiner import OfClassifiers
from committee.combining.convex_weights import blend_weights, mixture_weights
from committee.combining.level_one import Named
from committee.combining.voting.means import best_classes, combine, combine_shares, confident_votes
from committee.combining.voting.votes import VoteExplanation, Votes, fewest_that
from committee.combining.voting.voting_model import VotingModel
from committee.evaluation.oob import vote_weight
from committee.evaluation.scored_target import ScoredTarget
from committee.members.output import OutputRule, first_method
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable
from committee.tables.target import RowWeights, check_same_length

_RULES = ("hard", "soft", "majority", "plurality", "weighted", "confidence")


_TIES = ("first", "prior", "soft", "abstain")


_MOST_CELLS = 2**21  # predictions that `explain_vote` tries at a time


class VotingClassifier(ClassifierMixin, OfClassifiers, VotingModel):
    """Classifiers that vote.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The members: any classifiers with scikit-learn's interface, fitted to class codes. "drop"
        leaves one out.
    voting : str, default="hard"
        The rule:

        - "hard" or "plurality": the class with the most votes.
        - "majority": the class that more than half of the votes are for. Where there is none, the
          committee abstains if `abstain_label` is given, else "plurality" decides.
        - "soft": the class with the largest combined probability, see `combine`.
        - "confidence": each member votes for one class, with the probability that it gives it.
        - "weighted": "plurality" with weights, by default `weights="log_odds"`.
    weights : array-like, "accuracy", "log_odds", "learned" or None, default=None
        How much each member counts: given; or, from rows that it was not fitted to (see `cv`), its
        accuracy, the log-odds of its accuracy against chance, or the weights (not negative, with a
        sum of one) that make the committee best: least log loss of "soft", least squared error of
        the shares of votes otherwise. None counts all alike.
    n_jobs : int or None, default=None
        Workers. None uses all cores for members of this library and one worker for others. The
        model is the same for any number, as far as members are.
    flatten_transform : bool, default=True
        Whether `transform` with soft votes gives one row for each row of the table.
    verbose : bool or int, default=False
        1 prints progress on stderr, 2 each fit.
    combine : {"mean", "median", "trimmed", "geometric"}, default="mean"
        How "soft" combines probabilities, which are then brought to a sum of one. "trimmed" leaves
        out the extremes, "geometric" multiplies.
    trim : float, default=0.2
        Share of the weight that "trimmed" leaves out at either end.
    tie_break : {"first", "prior", "soft", "abstain"}, default="first"
        Which of several classes with the same score is taken: the first in `classes_`, the one
        that training rows had most often, the one with the larger mean probability, or none of
        them (`abstain_label`).
    abstain_label : object, default=None
        What `predict` returns where the committee abstains.
    cv : int, float, str, splitter, iterable or None, default=None
        Rows from which weights are learnt: as in `StackingClassifier`, five folds by default.
        "prefit" takes members that are fitted already, and all rows of `fit` for the weights.
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
    weights_ : ndarray of float64
        Weights of these members, with a sum of one.
    class_prior_ : ndarray of float64
        Share of each class in the training rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from committee import ExtraTreesClassifier, RandomForestClassifier, VotingClassifier
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> members = [
    ...     ("forest", RandomForestClassifier(random_state=0)),
    ...     ("extra", ExtraTreesClassifier(random_state=0)),
    ... ]
    >>> team = VotingClassifier(members, voting="soft").fit(X, y)
    >>> print(team.explain_vote(X[:1]))
    the committee predicts Adelie (Adelie 1, Chinstrap 0, Gentoo 0)
      forest  predicts Adelie (probability 100%), weight 0.5
      extra   predicts Adelie (probability 100%), weight 0.5
    it would be Chinstrap if forest and extra predicted it
    """

    classes_: NDArray[Any]
    class_prior_: Floats

    _learnt_weights = ("accuracy", "log_odds", "learned")

    def __init__(
        self,
        estimators: Any,
        *,
        voting: str = "hard",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
        combine: str = "mean",
        trim: float = 0.2,
        tie_break: str = "first",
        abstain_label: Any = None,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose
        self.combine = combine
        self.trim = trim
        self.tie_break = tie_break
        self.abstain_label = abstain_label
        self.cv = cv
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class that the rule gives.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            Class labels, and `abstain_label` where the committee abstains.
        """
        table = self._open(X)
        predicted = self._predictions(table)
        return self._decided(predicted, self._tie_shares(table, predicted), self._counts)

    def predict_proba(self, X: Any) -> Floats:
        """Return the combined probabilities, or the shares of the votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes)
            One column a class, in the order of `classes_`; rows add up to one.
        """
        scores = self._scores(self._predictions(X), self._counts)
        if self.voting == "soft":
            return scores
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; an abstention is an error.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.

        Returns
        -------
        accuracy : float
            Share of the rows whose class is predicted.
        """
        prediction, truth = self.predict(X), column_or_1d(y)
        check_same_length(len(prediction), len(truth))
        # scikit-learn's metrics refuse labels beside an `abstain_label` of another type.
        return float(np.average(np.asarray(prediction == truth, bool), weights=sample_weight))

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the predictions of each member.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        predicted : ndarray
            With soft votes the probabilities of each member side by side, or one above the other,
            (n_members, n_rows, n_classes), without `flatten_transform`; else the class codes that
            the members vote for, (n_rows, n_members).
        """
        predicted = self._predictions(X)
        if self._uses_probabilities:
            return np.hstack(list(predicted)) if self.flatten_transform else predicted
        return np.asarray(predicted.argmax(axis=2).T)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        names : ndarray of str
            The name of this class in small letters, the name of the member, and with soft votes
            the number of the class.
        """
        self._check_fitted()
        name = type(self).__name__.lower()
        if not self._uses_probabilities:
            return np.array([f"{name}_{member}" for member in self._names], dtype=object)
        if not self.flatten_transform:
            raise ValueError(
                "get_feature_names_out is not supported when `voting='soft'` and "
                "`flatten_transform=False`"
            )
        numbers = range(len(self.classes_))
        return np.array([f"{name}_{m}{k}" for m in self._names for k in numbers], dtype=object)

    def votes(self, X: Any) -> Votes:
        """Return the votes of all members.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        votes : Votes
            The vote of each member on each row, the weights, and the predictions.
        """
        table = self._open(X)
        predicted = self._predictions(table)
        prediction = self._decided(predicted, self._tie_shares(table, predicted), self._counts)
        named = self.classes_[predicted.argmax(axis=2).T]
        return Votes(tuple(self._names), self.weights_, named, prediction)

    def explain_vote(self, X: Any) -> VoteExplanation:
        """Explain the prediction for one row: the votes, and what would change it.

        Parameters
        ----------
        X : table of shape (1, n_features)
            One row with the columns of `fit`.

        Returns
        -------
        explanation : VoteExplanation
            Prints as text; see its attributes.
        """
        table = self._open(X)
        predicted = self._one_row(table)
        shares = self._tie_shares(table, predicted)
        scores = self._scores(predicted, self._counts)[0]
        prediction = self._decided(predicted, shares, self._counts)[0]
        order = np.argsort(-scores, kind="stable").tolist()
        labels = self.classes_.tolist()
        winner = labels.index(prediction) if prediction in labels else order[0]
        others = [code for code in order if code != winner]
        sure = (
            predicted.max(axis=2)[:, 0]
            if self._uses_probabilities
            else np.full(len(predicted), np.nan)
        )
        flips = self._flips(predicted, shares, winner, others[0]) if others else ()
        return VoteExplanation(
            prediction,
            labels[others[0]] if others else None,
            dict(zip(labels, (scores / scores.sum()).tolist(), strict=True)),
            tuple(self._names),
            tuple(self.classes_[predicted[:, 0].argmax(axis=1)].tolist()),
            tuple(sure.tolist()),
            tuple(self.weights_.tolist()),
            tuple(
                self._without(predicted, shares, place, prediction)
                for place in range(len(predicted))
            ),
            tuple(self._names[place] for place in flips),
        )

    # ---- rules ----

    @property
    def le_(self) -> LabelEncoder:
        """What turns labels into class codes and back, as in scikit-learn."""
        self._check_fitted()
        return LabelEncoder().fit(self.classes_)

    @property
    def _uses_probabilities(self) -> bool:
        return self.voting in ("soft", "confidence")

    def _scores(self, predicted: Floats, weights: Floats) -> Floats:
        """Return the score of each class."""
        if self.voting == "soft":
            return combine_shares(predicted, weights, self.combine, self.trim)
        votes = confident_votes(predicted) if self.voting == "confidence" else predicted
        return combine(votes, weights, "mean", self.trim)

    def _tie_shares(self, table: AnyTable, predicted: Floats) -> Floats | None:
        """Return the probabilities that decide ties; None if others do."""
        if self.tie_break != "soft" or self._uses_probabilities:
            return predicted if self.tie_break == "soft" else None
        rules = [
            OutputRule(("predict_proba",), output.labels is not None) for output in self._outputs
        ]
        members = zip(rules, self._names, self.estimators_, strict=True)
        outputs = [rule.output(name, member, self.classes_) for rule, name, member in members]
        return self._predictions(table, outputs)

    def _decided(self, predicted: Floats, shares: Floats | None, weights: Floats) -> NDArray[Any]:
        """Return the predictions of the committee; `shares` decide ties."""
        ranks = self.class_prior_ if self.tie_break == "prior" else None
        if shares is not None:
            ranks = combine(shares, weights, "mean", self.trim)
        return self._decide(self._scores(predicted, weights), ranks)

    def _decide(self, scores: Floats, ranks: Floats | None) -> NDArray[Any]:
        best, is_tied = best_classes(scores, ranks)
        abstains = is_tied & (self.tie_break == "abstain")
        if self.voting == "majority" and self.abstain_label is not None:
            share = np.take_along_axis(scores, best[:, np.newaxis], axis=1)[:, 0]
            abstains |= share <= 0.5 * (1 + 1e-12)
        prediction = self.classes_[best]
        if not abstains.any():
            return np.asarray(prediction)
        mixed = [*self.classes_.tolist(), self.abstain_label]
        is_plain = len({type(each) for each in mixed}) == 1
        labels = np.array(mixed) if is_plain else np.array(mixed, dtype=object)
        return np.asarray(labels[np.where(abstains, len(self.classes_), best)])

    def _one_row(self, table: AnyTable) -> Floats:
        predicted = self._predictions(table)
        if predicted.shape[1] != 1:
            raise ValueError(f"explain_vote takes one row; got {predicted.shape[1]}")
        return predicted

    def _without(self, predicted: Floats, shares: Floats | None, place: int, whole: Any) -> Any:
        weights = self._counts.copy()
        weights[place] = 0.0
        return self._decided(predicted, shares, weights)[0] if weights.any() else whole

    def _flips(
        self, predicted: Floats, shares: Floats | None, winner: int, rival: int
    ) -> tuple[int, ...]:
        """Return the fewest members that would have to predict the rival; none if all cannot."""
        sure = np.eye(len(self.classes_))[rival]
        votes = confident_votes(predicted) if self.voting == "confidence" else predicted
        lead = votes[:, 0, winner] - votes[:, 0, rival]

        def is_flipped(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
            # Every set of members is a row: (n_members, n_sets, n_classes).
            changed = np.where(sets.T[..., np.newaxis], sure, predicted)
            ties = None if shares is None else np.where(sets.T[..., np.newaxis], sure, shares)
            predictions = self._decided(changed, ties, self._counts)
            return np.asarray(predictions == self.classes_[rival], bool)

        n_sets = max(_MOST_CELLS // (len(predicted) * len(sure)), 1)
        return fewest_that(is_flipped, self.weights_ * (1 + lead), n_sets)

    # ---- for the base class ----

    def _check_switches(self) -> None:
        super()._check_switches()
        check_choice("voting", self.voting, _RULES)
        check_choice("tie_break", self.tie_break, _TIES)
        check_bool("flatten_transform", self.flatten_transform)
        if self.tie_break == "abstain" and self.abstain_label is None:
            raise ValueError('tie_break="abstain" needs an abstain_label; got None')
        if self.combine != "mean" and self.voting != "soft":
            raise ValueError(
                f'combine={self.combine!r} is for voting="soft"; got voting={self.voting!r}'
            )

    def _weight_choice(self) -> Any:
        if self.voting == "weighted" and self.weights is None:
            return "log_odds"
        return super()._weight_choice()

    @property
    def _output_methods(self) -> tuple[str, ...]:
        return ("predict_proba",) if self._uses_probabilities else ("predict",)

    def _check_members(self, pairs: Named) -> None:
        if self.tie_break == "soft":  # predicted later, but refused here
            for name, estimator in pairs:
                first_method(name, estimator, ("predict_proba",))

    def _validate_loaded(self) -> None:
        super()._validate_loaded()
        if hasattr(self, "estimators_") and self.class_prior_.shape != self.classes_.shape:
            raise ValueError("there must be a share for each class")

    def _more_attributes(self, data: TrainingData) -> dict[str, Any]:
        assert data.labels is not None
        counts = np.bincount(data.y, data.weights, minlength=len(data.labels))
        return {"class_prior_": counts / counts.sum()}

    def _learn_weights(
        self, choice: str, predicted: Floats, y: NDArray[Any], weights: Floats | None
    ) -> Floats:
        rows = np.arange(len(y))
        n_classes = predicted.shape[2]
        if choice == "learned":
            if self.voting == "soft":
                return mixture_weights(predicted[:, rows, y].T, weights)
            flat = predicted.transpose(1, 2, 0).reshape(-1, len(predicted))
            truth = np.eye(n_classes)[y].ravel()
            return blend_weights(
                flat, truth, None if weights is None else np.repeat(weights, n_classes)
            )
        is_wrong = predicted.argmax(axis=2) != y
        errors = np.average(is_wrong, axis=1, weights=weights)
        if choice == "accuracy":
            return np.asarray(np.maximum(1 - errors, 1e-12))
        target = ScoredTarget(y[:, np.newaxis], [np.arange(n_classes)], None, weights)
        n_counted = RowWeights(len(y), weights, None).n_counted
        return np.array([vote_weight(target, error, n_counted) for error in errors])
