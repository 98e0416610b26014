"""Predictions as sums: a base, and what each feature adds to it.

Trees, forests and boosting of this library know Shapley values exactly. What boosting and AdaBoost
add up are scores, not probabilities: contributions to what is bent are multiplied by the mean slope
on the straight way from base to prediction (Aumann and Shapley 1974), which again adds up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.members.output import Output

_NODES = 24  # of the mean slope
_CLOSE = 1e-6  # contributions that add up so nearly are exact

Values = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Parts:
    """A prediction as a sum.

    Attributes
    ----------
    base : ndarray of float64, shape (n_values,)
        What is predicted where nothing is known of a row.
    of_columns : ndarray of float64, shape (n_rows, n_columns, n_values)
        What each column adds.
    """

    base: Floats
    of_columns: Floats

    @property
    def total(self) -> Floats:
        return np.asarray(self.base + self.of_columns.sum(axis=1))

    def add_up_to(self, predicted: Floats) -> bool:
        """Whether base and contributions are a prediction, shape (n_rows, n_values)."""
        total = self.total
        if total.shape != predicted.shape:
            return False
        scale = max(float(np.abs(predicted).max(initial=0.0)), 1e-300)
        return bool(np.abs(total - predicted).max(initial=0.0) <= _CLOSE * scale)

    @classmethod
    def of_contributions(cls, values: Floats) -> Parts | None:
        """Return what `predict_contributions` gives as parts; None if each row has its own base."""
        values = values[:, :, np.newaxis] if values.ndim == 2 else values
        base = values[:, -1]
        if len(base) == 0 or not np.allclose(base, base[0], rtol=1e-9, atol=0.0):
            return None
        return cls(base[0], values[:, :-1])


def exact_parts(model: Any, output: Output, X: Any) -> Parts | None:
    """Return the parts of what a model predicts; None if it knows no Shapley values.

    Parameters
    ----------
    model : fitted estimator
        A member of a committee.
    output : Output
        What it predicts: numbers or probabilities, of which the parts are.
    X : table
        Rows, as the model reads them.
    """
    if not hasattr(model, "predict_contributions"):
        return None
    values = model.predict_contributions(X)
    if isinstance(values, list):
        return None
    parts, predicted = Parts.of_contributions(values), output.predict(model, X)
    if parts is None:
        return None
    if output.n_classes and not parts.add_up_to(predicted):
        parts = softmax_parts(_all_scores(parts))
        columns = output.aligned(model, parts.of_columns.reshape(-1, len(parts.base)))
        shape = (*parts.of_columns.shape[:2], output.n_classes)
        known = output.aligned(model, parts.base[np.newaxis])[0]
        parts = Parts(known, columns.reshape(shape))
    return parts if parts.add_up_to(predicted) else None


# --- from scores to probabilities -----------------------------------------------------------------


def _all_scores(parts: Parts) -> Parts:
    """Return scores of all classes; of two classes there is one score."""
    if len(parts.base) > 1:
        return parts
    zero = np.zeros_like(parts.of_columns)
    return Parts(np.append(0.0, parts.base), np.concatenate([zero, parts.of_columns], axis=2))


def softmax_parts(scores: Parts) -> Parts:
    """Return parts of probabilities from those of scores."""
    return bent_parts(scores, softmax, np.ones_like)


def softmax(scores: Floats) -> Floats:
    """Return the probabilities of scores, shape (n_rows, n_classes)."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def bent_parts(parts: Parts, shares_of: Values, slopes_of: Values) -> Parts:
    """Return parts of probabilities, which are the softmax of something of each input.

    Parameters
    ----------
    parts : Parts
        Of the inputs.
    shares_of : callable
        The probabilities of inputs, shape (n_rows, n_classes).
    slopes_of : callable
        The slope of what the softmax is taken of, by the input.
    """
    begin, total = parts.base[np.newaxis], parts.total
    places, lengths = np.polynomial.legendre.leggauss(_NODES)
    result = np.zeros_like(parts.of_columns)
    for at, length in zip((places + 1) / 2, lengths / 2, strict=True):
        inputs = begin + at * (total - begin)
        shares = shares_of(inputs)[:, np.newaxis]
        moved = parts.of_columns * slopes_of(inputs)[:, np.newaxis]
        result += length * shares * (moved - (shares * moved).sum(axis=2, keepdims=True))
    base = shares_of(begin)[0]
    # What the numeric integral misses is shared out by the sizes of the parts.
    missed = shares_of(total) - base - result.sum(axis=1)
    sizes = np.abs(result)
    sums = sizes.sum(axis=1, keepdims=True)
    shared = np.divide(sizes, sums, out=np.zeros_like(sizes), where=sums > 0)
    return Parts(base, result + shared * missed[:, np.newaxis])
