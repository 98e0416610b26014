"""How a member is asked, and how its answer becomes columns of numbers.

Members of a classifier are fitted to class codes 0, 1, ...; members that somebody else has fitted
speak of labels. A member may know fewer classes than there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.files.codec_classes import register

Floats = NDArray[np.float64]

METHODS = ("predict_proba", "decision_function", "predict")


@register("Voice")
@dataclass(frozen=True, eq=False)
class Voice:
    """How one member is asked.

    Parameters
    ----------
    method : {"predict_proba", "decision_function", "predict"}
        What is called.
    n_classes : int
        Number of classes; 0 for a regressor.
    labels : ndarray or None
        The labels of all classes, for a member that speaks of labels and not of codes.
    n_labels : int, default=0
        Number of labels where a row can have several, each a column of 0 and 1; n_classes is then
        0. Answers are about the 1 of each, or about `labels`, for a member that was fitted by
        somebody else.
    as_log_odds : bool, default=False
        Whether learners are told the log-odds of the probabilities.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> member = DummyClassifier().fit([[0], [1], [2]], [2, 2, 0])
    >>> Voice("predict_proba", 3).ask(member, [[5]]).round(2).tolist()
    [[0.33, 0.0, 0.67]]
    >>> Voice("predict", 3).ask(member, [[5]]).tolist()
    [[0.0, 0.0, 1.0]]
    """

    method: str
    n_classes: int
    labels: NDArray[Any] | None = None
    n_labels: int = 0
    as_log_odds: bool = False

    _later_fields = ("n_labels", "as_log_odds")

    def _validate_loaded(self) -> None:
        """Check what a file says: a method is called by its name."""
        if self.method not in METHODS or type(self.n_classes) is not int or self.n_classes < 0:
            raise ValueError("a member cannot be asked in this way")
        if type(self.n_labels) is not int or self.n_labels < 0 or self.n_labels * self.n_classes:
            raise ValueError("a row has several labels, or one class")
        is_number = not self.n_classes and not self.n_labels
        if is_number and (self.method != "predict" or self.labels is not None):
            raise ValueError("numbers have no classes")
        if type(self.as_log_odds) is not bool:
            raise ValueError("members answer with log-odds, or do not")
        n_named = self.n_labels or self.n_classes
        if self.labels is not None and np.shape(self.labels) != (n_named,):
            raise ValueError("there must be a label for each class")

    @property
    def form(self) -> str:
        """In which form learners are told what the member says."""
        return "log_odds" if self.as_log_odds else self.method

    def ask(self, member: Any, X: Any) -> Floats:
        """Return what a member says: probabilities, votes (one for a class), scores or numbers."""
        answer = getattr(member, self.method)(X)
        if self.n_labels:
            return self.label_columns(member, answer)
        if self.method == "predict":
            return self._votes(answer) if self.n_classes else _column(answer)
        values = np.asarray(answer, np.float64)
        if values.ndim == 1:
            return self._spread(member, values)
        return self._aligned(member, values)

    def codes_of(self, member: Any) -> NDArray[np.intp]:
        """Return the codes of the classes that a member knows."""
        known = getattr(member, "classes_", None)
        if known is None:
            return np.arange(self.n_classes)
        return self._codes(np.asarray(known))

    def _codes(self, said: NDArray[Any]) -> NDArray[np.intp]:
        if self.labels is None:
            return said.astype(np.intp)
        places = {label: code for code, label in enumerate(self.labels.tolist())}
        unknown = sorted({str(each) for each in said.tolist() if each not in places})
        if unknown:
            raise ValueError(
                f"a fitted member speaks of the class(es) {unknown[:5]}, which are not among "
                f"{self.labels.tolist()[:5]}"
            )
        return np.array([places[each] for each in said.tolist()], np.intp)

    def _votes(self, answer: Any) -> Floats:
        codes = self._codes(np.asarray(answer).reshape(-1))
        votes = np.zeros((len(codes), self.n_classes))
        votes[np.arange(len(codes)), codes] = 1.0
        return votes

    def _aligned(self, member: Any, values: Floats) -> Floats:
        codes = self.codes_of(member)
        if len(codes) == 1 < values.shape[1] and self.method == "predict_proba":
            values = np.ones((len(values), 1))  # of two columns, as if there were another class
        if len(codes) == self.n_classes and (codes == np.arange(self.n_classes)).all():
            return values
        if values.shape[1] != len(codes):
            raise ValueError(
                f"{self.method} of a member gives {values.shape[1]} columns for {len(codes)} "
                'classes; take stack_method="predict_proba" or "predict"'
            )
        # A class that the member has not seen is unlikely, or the least likely.
        missing = 0.0 if self.method == "predict_proba" else values.min(initial=0.0)
        result = np.full((len(values), self.n_classes), missing)
        result[:, codes] = values
        return result

    def label_columns(self, member: Any, answer: Any) -> Floats:
        """Return a column for each label."""
        ones = [1] * self.n_labels if self.labels is None else self.labels.tolist()
        is_list = isinstance(answer, list)
        width = len(answer) if is_list else _column(answer).shape[1]
        if width != self.n_labels:
            raise ValueError(f"a member tells of {width} labels, and y of {self.n_labels}")
        if is_list:
            parts = zip(answer, member.classes_, ones, strict=True)
            # A fold may lack a value.
            return np.column_stack([_share_of(one, shares, known) for shares, known, one in parts])
        if self.method == "predict":
            return np.asarray(np.asarray(answer) == ones, np.float64)
        # Stacks tell, as scikit-learn's, how likely the other value is.
        is_other = self.method == "predict_proba" and hasattr(member, "final_estimator_")
        return 1.0 - _column(answer) if is_other else _column(answer)

    def _spread(self, member: Any, scores: Floats) -> Floats:
        """Return the one score of two classes: one column, or two where there are more classes."""
        if self.n_classes == 2:
            return scores[:, np.newaxis]
        return self._aligned(member, np.column_stack([-scores, scores]))


def _share_of(value: Any, shares: Any, known: Any) -> Floats:
    return np.asarray(np.asarray(shares, np.float64)[:, np.asarray(known) == value].sum(axis=1))


def _column(answer: Any) -> Floats:
    values = np.asarray(answer, np.float64)
    return values.reshape(len(values), -1)
