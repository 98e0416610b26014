"""What fitted members say about rows, and sums of it over blocks of members.

An *prediction* is an array with a row for each row of the table and a column for each class
(probabilities, or one for the class voted for) or each output of a regression. Members of a
classifier know classes as codes 0, 1, ..., and may have seen fewer classes than there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.tables.native_table import AnyTable

Floats = NDArray[np.float64]
Columns = Sequence[NDArray[np.int64] | None]


@dataclass(frozen=True)
class Reading:
    """How the predictions of members are read.

    Parameters
    ----------
    n_values : int
        Columns of a prediction: classes, or outputs of a regression.
    is_classifier : bool
        Whether members predict class codes.
    use_votes : bool
        Take the predicted class instead of probabilities.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> member = DummyClassifier().fit([[0], [1], [2]], [2, 2, 0])
    >>> Reading(3, True, use_votes=False).values(member, [[5]]).round(2).tolist()
    [[0.33, 0.0, 0.67]]
    """

    n_values: int
    is_classifier: bool
    use_votes: bool

    def method(self, member: Any) -> str:
        """Return the name of the method that is asked."""
        asks_shares = self.is_classifier and not self.use_votes
        return "predict_proba" if asks_shares and hasattr(member, "predict_proba") else "predict"

    def values(self, member: Any, X: Any, params: Mapping[str, Any] | None = None) -> Floats:
        """Return a prediction: probabilities, one for the class voted for, or numbers."""
        method = self.method(member)
        answer = getattr(member, method)(X, **(params or {}))
        if method == "predict_proba":
            return self.aligned(member, np.asarray(answer, np.float64), 0.0)
        if not self.is_classifier:
            return np.asarray(answer, np.float64).reshape(-1, self.n_values)
        codes = np.asarray(answer).reshape(-1).astype(np.intp)
        votes = np.zeros((len(codes), self.n_values))
        votes[np.arange(len(codes)), codes] = 1.0
        return votes

    def aligned(self, member: Any, columns: Floats, missing: float) -> Floats:
        """Return the columns of a member in the order of all classes; it may have seen fewer."""
        if columns.shape[1] == self.n_values:
            return columns
        result = np.full((len(columns), self.n_values), missing)
        result[:, np.asarray(member.classes_).astype(np.intp)] = columns
        return result

    def decision(self, member: Any, X: Any, params: Mapping[str, Any]) -> Floats:
        """Return the decision function; a class that the member has not seen is the least likely.

        Two classes have one column, the score of the second.
        """
        scores = np.asarray(member.decision_function(X, **params), np.float64)
        classes = getattr(member, "classes_", None)
        if classes is None or len(classes) == self.n_values:
            return scores
        if len(classes) == 2 and scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        if self.n_values == 2 or scores.shape[1:] != (len(classes),):
            raise ValueError(
                f"decision_function of a member that saw {len(classes)} of {self.n_values} classes "
                'cannot be averaged with others; fit with stratify="classes", or use predict_proba'
            )
        aligned = self.aligned(member, scores, -np.inf)
        return np.where(np.isneginf(aligned), scores.min(axis=1, keepdims=True), aligned)


@dataclass(frozen=True, eq=False)
class MemberBlock:
    """Some members and a table that they are asked about, so that another thread can ask them.

    Parameters
    ----------
    members : sequence of estimators
        In the order of the ensemble.
    columns : sequence of ndarray or None
        The columns of each; None for all.
    weights : ndarray of float64
        The weight of each.
    table : AnyTable
        The rows.
    reading : Reading
        How predictions are read.
    params : dict
        More arguments of the method that is asked.
    """

    members: Sequence[Any]
    columns: Columns
    weights: Floats
    table: AnyTable
    reading: Reading
    params: Mapping[str, Any]

    def _each(self) -> Iterator[tuple[Any, Any, float]]:
        """Yield members, their tables and their weights."""
        for member, chosen, weight in zip(self.members, self.columns, self.weights, strict=True):
            yield member, self.table.shown_to(member, chosen), weight

    def sum(self) -> Floats:
        """Add up the weighted predictions, in the order of the members."""
        total = np.zeros((self.table.n_rows, self.reading.n_values))
        for member, table, weight in self._each():
            total += weight * self.reading.values(member, table, self.params)
        return total

    def each(self) -> Floats:
        """Return the predictions, one after the other."""
        predicted = [self.reading.values(member, X, self.params) for member, X, _ in self._each()]
        return np.stack(predicted)

    def log_sum(self) -> Floats:
        """Return the logarithm of the weighted sum of probabilities that may be tiny."""
        total = np.full((self.table.n_rows, self.reading.n_values), -np.inf)
        for member, table, weight in self._each():
            logs = np.asarray(member.predict_log_proba(table, **self.params), np.float64)
            total = np.logaddexp(
                total, np.log(weight) + self.reading.aligned(member, logs, -np.inf)
            )
        return total

    def decision(self) -> Floats:
        """Add up the weighted decision functions."""
        parts = [
            weight * self.reading.decision(member, table, self.params)
            for member, table, weight in self._each()
        ]
        return np.asarray(sum(parts[1:], start=parts[0]))
