"""What a fitted member predicts, as columns: probabilities, votes, scores or numbers.

This is the one way to the predictions of a member. Members of a classifier know classes as codes
0, 1, ... or by their labels, and may have seen fewer classes than there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from committee.base.arrays import Floats
from committee.base.params import is_int, is_real
from committee.files.codec_classes import register
from committee.files.parts import FLAG, LABELS, NOTHING, Part, array, one_of, whole
from committee.tables.native_table import AnyTable

Columns = NDArray[np.int64] | None

METHODS = ("predict_proba", "decision_function", "predict")

# Log-odds are given of probabilities up to so near to zero and one: a forest of a hundred trees
# that predicts zero may be wrong once in a while, and infinite columns would decide everything.
LEAST_SHARE = 0.01


def none_predicted(estimator: Any, method: str) -> NDArray[Any]:
    """Return what an estimator would predict for no rows, which many refuse."""
    classes = getattr(estimator, "classes_", None)
    if method == "predict":
        return np.empty(0, np.float64 if classes is None else np.asarray(classes).dtype)
    n_classes = len(np.asarray(classes))
    is_one_score = method == "decision_function" and n_classes == 2
    return np.empty(0) if is_one_score else np.empty((0, n_classes))


@register("Voice")
@dataclass(frozen=True, eq=False)
class Output:
    """Which method of a member predicts, and what its result means.

    Parameters
    ----------
    method : {"predict_proba", "decision_function", "predict", "predict_log_proba"}
        What is called.
    n_classes : int
        Number of classes; 0 for a regressor.
    labels : ndarray or None
        The labels of all classes, for a member that was fitted to labels and not to codes.
    n_labels : int, default=0
        Number of labels where a row can have several, each a column of 0 and 1; n_classes is then
        0. Predictions are about the 1 of each, or about `labels`, for a member that was fitted
        before.
    as_log_odds : bool, default=False
        Whether a meta-learner is given the log-odds of the probabilities.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> member = DummyClassifier().fit([[0], [1], [2]], [2, 2, 0])
    >>> Output("predict_proba", 3).predict(member, [[5]]).round(2).tolist()
    [[0.33, 0.0, 0.67]]
    >>> Output("predict", 3).predict(member, [[5]]).tolist()
    [[0.0, 0.0, 1.0]]
    """

    method: str
    n_classes: int
    labels: NDArray[Any] | None = None
    n_labels: int = 0
    as_log_odds: bool = False

    _later_fields = ("n_labels", "as_log_odds")
    _stored_parts: ClassVar[dict[str, Part]] = {
        "method": one_of(*METHODS),
        "n_classes": whole(0, 2**20),
        "labels": NOTHING | LABELS | array("f8", None),
        "n_labels": whole(0, 2**20),
        "as_log_odds": FLAG,
    }

    def _validate_loaded(self) -> None:
        if self.n_labels * self.n_classes:
            raise ValueError("a row has several labels, or one class")
        is_number = not self.n_classes and not self.n_labels
        if is_number and (self.method != "predict" or self.labels is not None):
            raise ValueError("numbers have no classes")
        n_named = self.n_labels or self.n_classes
        if self.labels is not None and len(self.labels) != n_named:
            raise ValueError("there must be a label for each class")

    @property
    def form(self) -> str:
        """The form in which a meta-learner is given the predictions."""
        return "log_odds" if self.as_log_odds else self.method

    def predict(self, member: Any, X: Any, params: Mapping[str, Any] | None = None) -> Floats:
        """Return probabilities, votes (one for a class), scores or numbers, a row for each row.

        Scores of two classes are one column.
        """
        if _count_rows(X) == 0:  # which many estimators of other libraries refuse
            is_one_score = self.method == "decision_function" and self.n_classes == 2
            return np.empty((0, 1 if is_one_score else self.n_labels or self.n_classes or 1))
        predicted = getattr(member, self.method)(X, **(params or {}))
        if self.n_labels:
            return self.label_columns(member, predicted)
        if self.method == "predict":
            return self._votes(predicted) if self.n_classes else _as_columns(predicted)
        values = np.asarray(predicted, np.float64)
        if values.ndim == 1:
            return self._two_classes(member, values)
        return self.aligned(member, values)

    def codes_of(self, member: Any) -> NDArray[np.intp]:
        """Return the codes of the classes that a member has seen."""
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
                f"a fitted member predicts the class(es) {unknown[:5]}, which are not among "
                f"{self.labels.tolist()[:5]}"
            )
        return np.array([places[each] for each in predicted.tolist()], np.intp)

    def _votes(self, predicted: Any) -> Floats:
        codes = self._codes(np.asarray(predicted).reshape(-1))
        votes = np.zeros((len(codes), self.n_classes))
        votes[np.arange(len(codes)), codes] = 1.0
        return votes

    def aligned(self, member: Any, values: Floats) -> Floats:
        """Return the columns of a member in the order of all classes; it may have seen fewer."""
        codes = self.codes_of(member)
        if len(codes) == 1 < values.shape[1] and self.method == "predict_proba":
            values = np.ones((len(values), 1))  # of two columns, as if there were another class
        if len(codes) == self.n_classes and (codes == np.arange(self.n_classes)).all():
            return values
        if values.shape[1] != len(codes):
            raise self._not_comparable(
                f"{self.method} of a member gives {values.shape[1]} columns for {len(codes)} "
                "classes"
            )
        result = np.empty((len(values), self.n_classes))
        # A class that the member has not seen is impossible, or no likelier than the others.
        lowest = {"predict_proba": 0.0, "predict_log_proba": -np.inf}
        result[:] = lowest.get(self.method, values.min(axis=1)[:, np.newaxis])
        result[:, codes] = values
        return result

    def _two_classes(self, member: Any, scores: Floats) -> Floats:
        """Return the one score of two classes: one column, or two where there are more classes."""
        if self.n_classes <= 2:
            n_seen = len(self.codes_of(member))
            if n_seen < self.n_classes:
                raise self._not_comparable(
                    f"{self.method} of a member that saw {n_seen} of {self.n_classes} classes "
                    "cannot be combined with others"
                )
            return scores[:, np.newaxis]
        return self.aligned(member, np.column_stack([-scores, scores]))

    def _not_comparable(self, what: str) -> ValueError:
        return ValueError(
            f'{what}; use predict_proba or predict (stack_method="predict_proba" or "predict"), '
            'or samples that hold every class (stratify="classes")'
        )

    # ---- columns of a meta-learner ----

    @property
    def n_meta_columns(self) -> int:
        """Number of columns that a prediction is for a meta-learner."""
        if self.n_labels:
            return self.n_labels
        return 1 if self.n_classes in (0, 2) or self.method == "predict" else self.n_classes

    def meta_columns(self, prediction: Floats) -> Floats:
        """Return a prediction as columns of a meta-learner, as scikit-learn has them.

        Examples
        --------
        >>> shares = np.array([[0.5, 0.5], [1.0, 0.0]])
        >>> Output("predict_proba", 2).meta_columns(shares).tolist()
        [[0.5], [0.0]]
        >>> log_odds = Output("predict_proba", 2, as_log_odds=True)
        >>> log_odds.meta_columns(shares).round(2).tolist()
        [[0.0], [-4.6]]
        """
        if self.n_classes and self.method == "predict":
            return np.asarray(prediction.argmax(axis=1)[:, np.newaxis], np.float64)
        if self.n_classes == 2 and prediction.shape[1] == 2:
            prediction = prediction[:, 1:]  # the other is what is left to one
        if not self.as_log_odds:
            return prediction
        inner = np.clip(prediction, LEAST_SHARE, 1 - LEAST_SHARE)
        return np.asarray(np.log(inner) - np.log1p(-inner))

    # ---- more forms of predictions ----

    def out_of_bag(self, member: Any) -> Floats:
        """Return the out-of-bag predictions of a fitted member; NaN for rows without."""
        if not self.n_classes:
            return np.asarray(member.oob_prediction_, np.float64).reshape(-1, 1)
        shares = np.array(member.oob_decision_function_, np.float64)
        shares[shares.sum(axis=1) == 0] = np.nan  # scikit-learn's mark of a row without prediction
        is_known = ~np.isnan(shares[:, :1])
        values = np.zeros((len(shares), self.n_classes))
        values[:, self.codes_of(member)] = shares
        if self.method == "predict":
            values = np.eye(self.n_classes)[np.nan_to_num(values).argmax(axis=1)]
        return np.where(is_known, values, np.nan)

    def label_columns(self, member: Any, predicted: Any) -> Floats:
        """Return a column for each label."""
        ones = [1] * self.n_labels if self.labels is None else self.labels.tolist()
        is_list = isinstance(predicted, list)
        width = len(predicted) if is_list else _as_columns(predicted).shape[1]
        if width != self.n_labels:
            raise ValueError(f"a member predicts {width} labels, and y has {self.n_labels}")
        if is_list:
            parts = zip(predicted, member.classes_, ones, strict=True)
            # A fold may lack a value.
            return np.column_stack([_share_of(one, shares, known) for shares, known, one in parts])
        if self.method == "predict":
            return np.asarray(np.asarray(predicted) == ones, np.float64)
        columns = _as_columns(predicted)
        return 1.0 - columns if self.method == "predict_proba" and _gives_zeros(member) else columns


def _count_rows(X: Any) -> int:
    if hasattr(X, "shape"):
        return int(X.shape[0])
    return int(X.n_rows) if hasattr(X, "n_rows") else len(X)


def _gives_zeros(member: Any) -> bool:
    """Whether the columns of several labels are probabilities of their 0, as those of stacks."""
    from sklearn.ensemble import StackingClassifier  # few models have several labels

    while hasattr(member, "steps") or hasattr(member, "best_estimator_"):
        member = member.steps[-1][1] if hasattr(member, "steps") else member.best_estimator_
    own = getattr(member, "_label_columns_are_zeros", False)
    return bool(own) or isinstance(member, StackingClassifier)


def _share_of(value: Any, shares: Any, known: Any) -> Floats:
    return np.asarray(np.asarray(shares, np.float64)[:, np.asarray(known) == value].sum(axis=1))


def _as_columns(predicted: Any) -> Floats:
    values = np.asarray(predicted, np.float64)
    return values[:, np.newaxis] if values.ndim == 1 else values.reshape(len(values), -1)


# --- choosing the method ------------------------------------------------------------------------


@dataclass(frozen=True)
class OutputRule:
    """How the outputs of members follow from their methods.

    Parameters
    ----------
    methods : tuple of str
        Methods of which the first that a member has predicts.
    is_prefit : bool, default=False
        Whether members are fitted already; they then predict labels.
    as_log_odds : bool, default=False
        See `Output`.
    """

    methods: tuple[str, ...]
    is_prefit: bool = False
    as_log_odds: bool = False

    def output(
        self,
        name: str,
        estimator: Any,
        labels: NDArray[Any] | None,
        values: Sequence[NDArray[Any]] | None = None,
    ) -> Output:
        """Return the output of a member: of numbers, of classes or of several labels a row.

        Parameters
        ----------
        name : str
            Of the member.
        estimator : estimator
            The member.
        labels : ndarray or None
            Labels of all classes.
        values : list of ndarray or None, default=None
            The values of each of several labels.
        """
        if labels is not None and is_regressor(estimator):
            return Output("predict", 0)  # of a number for each class, see `StackingClassifier`
        method = first_method(name, estimator, self.methods)
        has_labels = self.is_prefit or isinstance(estimator, FrozenEstimator)
        if values is not None:
            # A label that all rows have, or none, has no second value.
            seconds = np.array([own[1] if len(own) > 1 else np.nan for own in values], np.float64)
            known = seconds if has_labels else None
            return Output(method, 0, known, len(values), self.as_log_odds)
        if labels is None:
            return Output(method, 0)
        known = labels if has_labels else None
        return Output(method, len(labels), known, as_log_odds=self.as_log_odds)


def first_method(name: str, estimator: Any, methods: Sequence[str]) -> str:
    """Return the first of some methods that a member has."""
    method = next((each for each in methods if will_have(estimator, each)), None)
    if method is None:
        raise ValueError(f"Underlying estimator {name} does not implement the method {methods[0]}.")
    return method


def fitted_output(member: Any, methods: Sequence[str], n_classes: int) -> Output:
    """Return the output of a fitted member by the first of some methods that it has."""
    return Output(next(each for each in methods if hasattr(member, each)), n_classes)


def has_out_of_bag(estimator: Any, n_rows: int, *, is_own: bool) -> bool:
    """Whether a member leaves rows out that it can predict after one fit."""
    if isinstance(estimator, FrozenEstimator) or not hasattr(estimator, "get_params"):
        return False
    params = estimator.get_params(deep=False)
    if "oob_score" not in params or params.get("bootstrap", False) or not is_own:
        return "oob_score" in params and bool(params.get("bootstrap", False))
    drawn = params.get("max_samples")  # without replacement
    return (is_int(drawn) and drawn < n_rows) or (is_real(drawn) and 0 < drawn < 1)


def will_have(member: Any, method: str) -> bool:
    """Whether a member has a method, once it is fitted."""
    if hasattr(member, method):
        return True
    # Before they are fitted, scikit-learn's stacks hide what their default meta-learner can.
    params = member.get_params() if hasattr(member, "get_params") else {}
    unset = [
        name
        for name, value in params.items()
        if value is None and name.split("__")[-1] == "final_estimator"
    ]
    if not unset:
        return False
    whole = clone(member).set_params(**{name: LogisticRegression() for name in unset})
    return hasattr(whole, method)


# --- several members ----------------------------------------------------------------------------


def predict_each(
    members: Sequence[Any], outputs: Sequence[Output], table: AnyTable
) -> Iterator[Floats]:
    """Yield the predictions of each fitted member on the rows of a table."""
    for member, output in zip(members, outputs, strict=True):
        with table.quiet():
            predicted = output.predict(member, table.shown_to(member))
        yield predicted


@dataclass(frozen=True, eq=False)
class MemberBlock:
    """Some members of one kind and the rows that they predict, for one of several threads.

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
    output : Output
        What they predict.
    params : dict
        More arguments of the method that predicts.
    """

    members: Sequence[Any]
    columns: Sequence[Columns]
    weights: Floats
    table: AnyTable
    output: Output
    params: Mapping[str, Any]

    def _each(self) -> Iterator[Floats]:
        for member, columns in zip(self.members, self.columns, strict=True):
            yield self.output.predict(member, self.table.shown_to(member, columns), self.params)

    def sum(self) -> Floats:
        """Add up the weighted predictions, in the order of the members."""
        parts = (weight * each for weight, each in zip(self.weights, self._each(), strict=True))
        total = next(parts)
        for part in parts:
            total += part
        return np.asarray(total)

    def each(self) -> Floats:
        """Return the predictions, one after the other."""
        return np.stack(list(self._each()))

    def log_sum(self) -> Floats:
        """Return the logarithm of the weighted sum of probabilities given by their logarithms."""
        total = np.full((self.table.n_rows, self.output.n_classes), -np.inf)
        for weight, logs in zip(self.weights, self._each(), strict=True):
            total = np.logaddexp(total, np.log(weight) + logs)
        return total
