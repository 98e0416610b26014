"""Rows by which a committee is judged: the truth, its own predictions, and those of its members."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.inspection.ensemble_members import EnsembleMembers
from committee.tables.native_table import AnyTable
from committee.tables.target import check_same_length, read_classes, read_reals, read_weights

Codes = NDArray[np.intp]

_BLOCK_CELLS = 2**24  # predictions held at a time


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows.

    Attributes
    ----------
    weights : ndarray of float64, shape (n_rows,)
        All positive.
    truth : ndarray of float64, shape (n_rows, n_values)
        Numbers, or a one for the class of a row.
    true_codes : ndarray of int, shape (n_rows,), or None
        The classes; None for numbers.
    predictions : ndarray of float64, shape (n_members, n_rows, n_values)
        Probabilities, votes or numbers of the members.
    codes : ndarray of int, shape (n_rows, n_members), or None
        The classes that they predict.
    own : ndarray of float64, shape (n_rows, n_values)
        Probabilities or numbers of the committee; NaN where it has no probabilities.
    own_codes : ndarray of int, shape (n_rows,), or None
        The class that it predicts.
    """

    weights: Floats
    truth: Floats
    true_codes: Codes | None
    predictions: Floats
    codes: Codes | None
    own: Floats
    own_codes: Codes | None


class StudiedRows:
    """A table, its truth and weights; rows of weight zero are absent.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,)
        Class labels or numbers.
    sample_weight : array-like of shape (n_rows,) or None
        Weights.
    labels : ndarray or None
        The classes that the committee knows; None for numbers. Other classes in `y` come after
        these.

    Examples
    --------
    >>> rows = StudiedRows([[1.0], [2.0], [3.0]], ["a", "c", "a"], [1, 2, 0], np.array(["a", "b"]))
    >>> rows.numbers.tolist(), rows.n_classes, rows.codes.tolist()
    ([0, 1], 3, [0, 2])
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any, labels: NDArray[Any] | None) -> None:
        self.table = AnyTable(X)
        self._code_of: dict[Any, int] = {}
        if labels is None:
            values, _ = read_reals(y)
            self._check(values.shape[1], len(values))
            self._truth: NDArray[Any] = values
        else:
            self._read_classes(y, labels)
        weights = read_weights(sample_weight, self.table.n_rows)
        self._weights = np.ones(self.table.n_rows) if weights is None else weights
        self.numbers: NDArray[np.int64] = np.flatnonzero(self._weights)

    def _read_classes(self, y: Any, labels: NDArray[Any]) -> None:
        found = read_classes(y)
        self._check(found.n_outputs, len(found.codes))
        known = found.classes[0].tolist()
        for label in [*labels.tolist(), *known]:
            self._code_of.setdefault(label, len(self._code_of))
        codes = np.array([self._code_of[label] for label in known], np.intp)
        self._truth = codes[found.codes[:, 0]]

    def _check(self, n_outputs: int, n_rows: int) -> None:
        if n_outputs > 1:
            raise ValueError(f"y should be a 1d array, got {n_outputs} columns instead")
        check_same_length(self.table.n_rows, n_rows)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for numbers."""
        return len(self._code_of)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes, in the order of their codes."""
        return tuple(self._code_of)

    @property
    def n_values(self) -> int:
        """Number of values of a prediction."""
        return max(self.n_classes, 1)

    @property
    def codes(self) -> Codes | None:
        """The classes of the studied rows; None for numbers."""
        return self._truth[self.numbers] if self.n_classes else None

    @property
    def truth(self) -> Floats:
        """Numbers, or a one for the class of each studied row."""
        return self._as_values(self.numbers)

    @property
    def weights(self) -> Floats:
        """Weights of the studied rows."""
        return self._weights[self.numbers]

    def _as_values(self, rows: NDArray[np.int64]) -> Floats:
        truth = self._truth[rows]
        return np.eye(self.n_classes)[truth] if self.n_classes else truth

    def sample(self, n_rows: int, rng: np.random.Generator) -> Self:
        """Keep so many rows, drawn at random where there are more."""
        if len(self.numbers) > n_rows:
            self.numbers = np.sort(rng.choice(self.numbers, n_rows, replace=False))
        return self

    def native(self) -> Any:
        """Return the table of the studied rows."""
        whole = len(self.numbers) == self.table.n_rows
        return self.table.take(None if whole else self.numbers, None)

    def codes_of(self, predicted: Any) -> Codes:
        """Return the codes of predicted labels."""
        labels = np.asarray(predicted).reshape(-1).tolist()
        return np.array([self._code_of[label] for label in labels], np.intp)

    def spread(self, prediction: Floats) -> Floats:
        """Return probabilities with a column for every class."""
        n_more = self.n_classes - prediction.shape[1]
        return np.pad(prediction, ((0, 0), (0, n_more))) if n_more > 0 else prediction

    def own_prediction(self, committee: Any) -> tuple[Floats, Codes | None] | None:
        """Return what a committee predicts for the studied rows; None for a list of members."""
        if isinstance(committee, list | tuple):
            return None
        X = self.native()
        predicted = np.asarray(committee.predict(X))
        if not self.n_classes:
            if predicted.size != len(self.numbers):
                raise ValueError("the ensemble must predict one number for a row; it gives several")
            return np.asarray(predicted, np.float64).reshape(-1, 1), None
        codes = self.codes_of(predicted)
        if not hasattr(committee, "predict_proba"):
            return np.full((len(codes), self.n_classes), np.nan), codes
        return self.spread(np.asarray(committee.predict_proba(X), np.float64)), codes

    def blocks(self, committee: Any, members: EnsembleMembers) -> Iterator[Block]:
        """Yield the predictions of all members, some rows at a time."""
        own = self.own_prediction(committee)
        size = max(1, _BLOCK_CELLS // (len(members) * self.n_values))
        for begin in range(0, len(self.numbers), size):
            part = slice(begin, begin + size)
            rows = self.numbers[part]
            pairs = members.predict_all(AnyTable(self.table.take(rows, None)))
            predictions = np.stack([self.spread(prediction) for prediction, _ in pairs])
            codes = [found for _, found in pairs if found is not None]
            if own is None:
                mean = np.einsum("m,mrv->rv", members.weights, predictions)
                mixture, chosen = mean, mean.argmax(axis=1) if codes else None
            else:
                mixture, chosen = own[0][part], None if own[1] is None else own[1][part]
            yield Block(
                self._weights[rows],
                self._as_values(rows),
                self._truth[rows] if self.n_classes else None,
                predictions,
                np.column_stack(codes) if codes else None,
                mixture,
                chosen,
            )
