"""Frequent losses and their derivatives by the engine: each round passes all rows.

They say what the loss classes say. One pass gives the loss of the rows and the derivatives that the
next round starts from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.losses.classes import BinaryLogLoss, MultinomialLogLoss
from committee.losses.loss import LARGEST, Loss
from committee.losses.residual import SquaredError

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats | None]


def fast_loss(loss: Loss, target: NDArray[Any], n_threads: int) -> FastLoss | None:
    """Return the fast form of a loss; None if it has none.

    Parameters
    ----------
    loss : Loss
        The loss. Classes derived from those of this library are asked themselves.
    target : ndarray of shape (n_rows,)
        Numbers, or codes of classes.
    n_threads : int
        Threads to use.

    Returns
    -------
    fast : FastLoss or None
        Takes Fortran-ordered scores.

    Examples
    --------
    >>> fast = fast_loss(BinaryLogLoss(), np.array([0, 1]), 1)
    >>> scores = np.zeros((2, 1), order="F")
    >>> round(fast.mean_loss(scores, None), 3)
    0.693
    >>> (gradient, hessian), = fast.gradients(scores)
    >>> gradient.tolist(), hessian.tolist()
    ([0.5, -0.5], [0.25, 0.25])
    >>> fast.row_losses(scores, np.empty(2)).round(3).tolist()
    [0.693, 0.693]
    """
    kinds: dict[type, type[FastLoss]] = {
        SquaredError: FastSquaredError,
        BinaryLogLoss: FastBinaryLoss,
        MultinomialLogLoss: FastClassLoss,
    }
    kind = kinds.get(type(loss))
    return None if kind is None else kind(target, loss.n_scores, n_threads)


def fast_probabilities(loss: Loss, scores: Floats) -> Floats | None:
    """Return the probabilities of classes in one pass; None if the loss has no fast form.

    Parameters
    ----------
    loss : Loss
        The loss. Classes derived from those of this library are asked themselves.
    scores : ndarray of float64, shape (n_rows,) or (n_rows, n_scores)
        Raw scores.

    Returns
    -------
    shares : ndarray of float64, shape (n_rows, n_classes), or None
        As `Loss.probabilities` says, within rounding.

    Examples
    --------
    >>> fast_probabilities(BinaryLogLoss(), np.array([0.0, np.log(3.0)])).round(3).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    if type(loss) is not BinaryLogLoss:
        return None
    return _core.log_loss_shares(np.ascontiguousarray(scores, np.float64))


class FastLoss(ABC):
    """A loss with the target of its rows, and memory for the derivatives.

    Parameters
    ----------
    target : ndarray of shape (n_rows,)
        Numbers, or codes of classes.
    n_scores : int
        Scores of a row.
    n_threads : int
        Threads to use.
    """

    def __init__(self, target: NDArray[Any], n_scores: int, n_threads: int) -> None:
        self.target = self._prepared(target)
        self.n_threads = n_threads
        self.slopes = np.empty((len(target), n_scores), order="F")
        self._knows_slopes = False  # of the scores that `mean_loss` has seen last

    def mean_loss(self, scores: Floats, weights: Floats | None) -> float | None:
        """Return the mean loss of rows that weigh 0 or 1; None if it is not finite.

        The derivatives are found on the way: the next call of `gradients` must be for the same
        scores, and is free.
        """
        total = self._pass(scores, weights)
        self._knows_slopes = True
        mean = total / (len(self.target) if weights is None else float(weights.sum()))
        return mean if np.isfinite(mean) else None

    def gradients(self, scores: Floats) -> list[Pair]:
        """Return gradient and hessian of each column; the arrays are used again later."""
        if not self._knows_slopes:
            self._pass(scores, None)
        self._knows_slopes = False
        return self._pairs()

    @abstractmethod
    def row_losses(self, scores: Floats, into: Floats) -> Floats:
        """Write the loss of each row, and return it."""

    @abstractmethod
    def _prepared(self, target: NDArray[Any]) -> NDArray[Any]:
        """Return the target as the engine takes it."""

    @abstractmethod
    def _pass(self, scores: Floats, weights: Floats | None) -> float:
        """Write the derivatives, and return the sum of the losses."""

    @abstractmethod
    def _pairs(self) -> list[Pair]:
        """Return what has been written."""


class FastSquaredError(FastLoss):
    """Half the squared error."""

    def _prepared(self, target: NDArray[Any]) -> Floats:
        return np.ascontiguousarray(target, np.float64)

    def _pass(self, scores: Floats, weights: Floats | None) -> float:
        slopes = self.slopes[:, 0]
        return _core.squared_error_gradients(
            self.target, scores[:, 0], slopes, weights, self.n_threads
        )

    def _pairs(self) -> list[Pair]:
        return [(self.slopes[:, 0], None)]

    def row_losses(self, scores: Floats, into: Floats) -> Floats:
        """Write the loss of each row, and return it."""
        with np.errstate(over="ignore"):
            np.subtract(scores[:, 0], self.target, out=into)
            np.multiply(into, into, out=into)
        np.divide(into, 2, out=into)
        return np.minimum(into, LARGEST, out=into)


class FastBinaryLoss(FastLoss):
    """The log loss of two classes."""

    def __init__(self, target: NDArray[Any], n_scores: int, n_threads: int) -> None:
        super().__init__(target, n_scores, n_threads)
        self.bends = np.empty_like(self.slopes)

    def _prepared(self, target: NDArray[Any]) -> NDArray[np.uint8]:
        return np.asarray(target == 1, np.uint8)

    def _pass(self, scores: Floats, weights: Floats | None) -> float:
        slopes, bends = self.slopes[:, 0], self.bends[:, 0]
        return _core.log_loss_gradients(
            self.target, scores[:, 0], slopes, bends, weights, self.n_threads
        )

    def _pairs(self) -> list[Pair]:
        return [(self.slopes[:, 0], self.bends[:, 0])]

    def row_losses(self, scores: Floats, into: Floats) -> Floats:
        """Write the loss of each row, and return it."""
        _core.log_losses(self.target, scores[:, 0], into, self.n_threads)
        return into


class FastClassLoss(FastLoss):
    """The log loss of several classes."""

    def __init__(self, target: NDArray[Any], n_scores: int, n_threads: int) -> None:
        super().__init__(target, n_scores, n_threads)
        self.bends = np.empty_like(self.slopes)

    def _prepared(self, target: NDArray[Any]) -> NDArray[np.int32]:
        return np.ascontiguousarray(target, np.int32)

    def _pass(self, scores: Floats, weights: Floats | None) -> float:
        return _core.multinomial_gradients(
            self.target, scores, self.slopes, self.bends, weights, self.n_threads
        )

    def _pairs(self) -> list[Pair]:
        return [(self.slopes[:, k], self.bends[:, k]) for k in range(self.slopes.shape[1])]

    def row_losses(self, scores: Floats, into: Floats) -> Floats:
        """Write the loss of each row, and return it."""
        _core.multinomial_losses(self.target, scores, into, self.n_threads)
        return into
