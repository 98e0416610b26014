"""What a member predicts, as columns: probabilities, votes, decision values or numbers.

Labels become codes here too, one column of codes where rows have one label and several where rows
can have several labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from committee.files.codec_classes import register
from committee.members.named_members import Named, will_answer
from committee.tables.target import read_classes

Floats = NDArray[np.float64]

METHODS = ("predict_proba", "decision_function", "predict")


@register("Voice")
@dataclass(frozen=True, eq=False)
class Output:
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
    >>> Output("predict_proba", 3).ask(member, [[5]]).round(2).tolist()
    [[0.33, 0.0, 0.67]]
    >>> Output("predict", 3).ask(member, [[5]]).tolist()
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

    def _codes(self, predicted: NDArray[Any]) -> NDArray[np.intp]:
        if self.labels is None:
            return predicted.astype(np.intp)
        places = {label: code for code, label in enumerate(self.labels.tolist())}
        unknown = sorted({str(each) for each in predicted.tolist() if each not in places})
        if unknown:
            raise ValueError(
                f"a fitted member speaks of the class(es) {unknown[:5]}, which are not among "
                f"{self.labels.tolist()[:5]}"
            )
        return np.array([places[each] for each in predicted.tolist()], np.intp)

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


def read_labels(y: Any, fitted: Named, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return class codes and labels; labels that fitted members know are among them.

    Parameters
    ----------
    y : array-like
        Labels.
    fitted : list of (name, estimator)
        Members that are fitted already.
    name : str
        Who asks, for messages.

    Returns
    -------
    codes : ndarray of int32
        Class codes.
    labels : ndarray
        Sorted labels.
    """
    target = read_classes(y)
    if target.n_outputs > 1:
        raise ValueError(
            f"y should be a 1d array, got {target.n_outputs} columns instead: {name} has one "
            "output; sklearn.multioutput.MultiOutputClassifier makes one for each"
        )
    codes, labels = target.codes[:, 0], target.classes[0]
    known = [(name, np.asarray(m.classes_)) for name, m in fitted if hasattr(m, "classes_")]
    for member, own in known:
        if not set(own.tolist()) & set(labels.tolist()):
            raise ValueError(
                f"the fitted member {member!r} speaks of the classes {own.tolist()[:5]}, none of "
                f"which are among the labels of y: {labels.tolist()[:5]}"
            )
    everything = np.unique(np.concatenate([labels, *(own for _, own in known)]))
    if len(everything) == len(labels):
        return codes, labels
    return np.searchsorted(everything, labels)[codes].astype(np.int32), everything


def first_method(name: str, estimator: Any, methods: Sequence[str]) -> str:
    """Return the first of some methods that a member has."""
    method = next((each for each in methods if will_answer(estimator, each)), None)
    if method is None:
        raise ValueError(f"Underlying estimator {name} does not implement the method {methods[0]}.")
    return method


def class_output(
    name: str, estimator: Any, labels: NDArray[Any], methods: Sequence[str], *, is_prefit: bool
) -> Output:
    """Return how a classifier is asked.

    Parameters
    ----------
    name : str
        Of the member.
    estimator : classifier
        The member.
    labels : ndarray
        Labels of all classes.
    methods : sequence of str
        Methods to take the first of that the member has.
    is_prefit : bool
        Whether members are fitted already; they then speak of labels.

    Returns
    -------
    output : Output
        How to ask.
    """
    method = first_method(name, estimator, methods)
    speaks_labels = is_prefit or isinstance(estimator, FrozenEstimator)
    return Output(method, len(labels), labels if speaks_labels else None)


def read_label_sets(y: Any) -> tuple[NDArray[np.int64], list[NDArray[Any]]] | None:
    """Return codes, a column for each label, and the values that they stand for.

    None if the target is of another sort: there is one column, or there are more than two values,
    or other values than whole numbers.

    Examples
    --------
    >>> codes, values = read_label_sets([[0, 1], [1, 1]])
    >>> codes.tolist(), [each.tolist() for each in values]
    ([[0, 0], [1, 0]], [[0, 1], [1]])
    >>> read_label_sets([0, 1]), read_label_sets([["a", "b"]])
    (None, None)
    """
    numbers = _whole_numbers(y)
    if numbers is None or numbers.shape[1] < 2 or len(np.unique(numbers)) > 2:
        return None
    found = [np.unique(column, return_inverse=True) for column in numbers.T]
    return np.column_stack([codes for _, codes in found]), [values for values, _ in found]


def _whole_numbers(y: Any) -> NDArray[Any] | None:
    """Return a table of whole numbers or booleans as an array; None for anything else."""
    try:
        values = np.asarray(y)
    except ValueError:  # rows of different lengths
        return None
    if values.ndim != 2 or values.dtype.kind not in "biufO":
        return None
    if values.dtype.kind == "O":
        if not all(isinstance(each, Real | np.bool_) for each in values.ravel().tolist()):
            return None
        values = values.astype(np.float64)
    is_real = values.dtype.kind == "f"
    if is_real and (not np.isfinite(values).all() or (values != np.floor(values)).any()):
        return None
    return values


def label_output(
    name: str,
    estimator: Any,
    values: Sequence[NDArray[Any]],
    methods: Sequence[str],
    *,
    is_prefit: bool,
) -> Output:
    """Return how a classifier is asked about several labels; see `class_voice`."""
    method = first_method(name, estimator, methods)
    speaks_values = is_prefit or isinstance(estimator, FrozenEstimator)
    # A label that all rows have, or none, has no second value.
    seconds = np.array([own[1] if len(own) > 1 else np.nan for own in values], np.float64)
    return Output(method, 0, seconds if speaks_values else None, len(values))


def named_label_sets(codes: Any, values: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return what codes stand for."""
    columns = np.asarray(codes).astype(np.intp).T
    return np.column_stack([own[column] for own, column in zip(values, columns, strict=True)])


def first_shares(final: Any, answer: Any, n_labels: int) -> Floats:
    """Return the probabilities of the first value of each label, as scikit-learn tells them."""
    return 1.0 - Output("predict_proba", 0, n_labels=n_labels).label_columns(final, answer)


def refuse_label_sets(switches: dict[str, bool]) -> None:
    """Raise if something is switched on that knows of one class a row only."""
    for name, is_on in switches.items():
        if is_on:
            raise ValueError(
                f"{name} takes a y with one class for each row; got several labels. "
                "sklearn.multioutput.MultiOutputClassifier makes a stack for each label"
            )


def check_label_codes(codes: Any, values: list[Any]) -> None:
    """Raise unless the labels of a loaded model and of its meta-learner fit each other."""
    for own in values:
        if not isinstance(own, np.ndarray) or own.ndim != 1 or len(own) not in (1, 2):
            raise ValueError("a label has one or two values")
    if type(codes) is not list or len(codes) != len(values):
        raise ValueError("the meta-learner has learnt other labels")
    for own, known in zip(values, codes, strict=True):
        if not set(np.ravel(known).tolist()) <= set(range(len(own))):
            raise ValueError("the meta-learner has learnt other values of a label")
