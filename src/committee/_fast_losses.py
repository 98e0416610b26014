"""Frequent losses and their derivatives without temporary arrays: each round passes all rows.

They say what the loss classes say. Log losses are the engine's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee._class_losses import BinaryLogLoss, MultinomialLogLoss
from committee._loss import LARGEST, Loss
from committee._residual_losses import SquaredError

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats | None]


def fast_loss(
    loss: Loss, target: NDArray[Any], n_threads: int
) -> FastSquaredError | FastBinaryLoss | FastClassLoss | None:
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
    fast : FastSquaredError, FastBinaryLoss, FastClassLoss or None
        Takes Fortran-ordered scores.

    Examples
    --------
    >>> fast = fast_loss(BinaryLogLoss(), np.array([0, 1]), 1)
    >>> scores = np.zeros((2, 1), order="F")
    >>> (gradient, hessian), = fast.gradients(scores)
    >>> gradient.tolist(), hessian.tolist()
    ([0.5, -0.5], [0.25, 0.25])
    >>> fast.row_losses(scores, np.empty(2)).round(3).tolist()
    [0.693, 0.693]
    """
    if type(loss) is SquaredError:
        numbers = np.ascontiguousarray(target, np.float64)
        return FastSquaredError(numbers, np.empty_like(numbers))
    if type(loss) is BinaryLogLoss:
        is_second = (target == 1).astype(np.float64)
        work = np.empty_like(is_second), np.empty_like(is_second)
        return FastBinaryLoss(is_second, n_threads, *work)
    if type(loss) is MultinomialLogLoss:
        classes = np.ascontiguousarray(target, np.int32)
        slopes, bends = (np.empty((len(target), loss.n_scores), order="F") for _ in range(2))
        return FastClassLoss(classes, n_threads, slopes, bends)
    return None


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


@dataclass(frozen=True, eq=False)
class FastSquaredError:
    """Half the squared error.

    Parameters
    ----------
    target : ndarray of float64, shape (n_rows,)
        Numbers.
    slopes : ndarray of float64
        Where derivatives are written.
    """

    target: Floats
    slopes: Floats

    def gradients(self, scores: Floats) -> list[Pair]:
        """Return score - y, and None for ones; the array is used again by the next call."""
        with np.errstate(over="ignore"):
            np.subtract(scores[:, 0], self.target, out=self.slopes)
        np.clip(self.slopes, -LARGEST, LARGEST, out=self.slopes)
        return [(self.slopes, None)]

    def row_losses(self, scores: Floats, into: Floats) -> Floats:
        """Write the loss of each row, and return it."""
        with np.errstate(over="ignore"):
            np.subtract(scores[:, 0], self.target, out=into)
            np.multiply(into, into, out=into)
        np.divide(into, 2, out=into)
        return np.minimum(into, LARGEST, out=into)


@dataclass(frozen=True, eq=False)
class FastBinaryLoss:
    """The log loss of two classes.

    Parameters
    ----------
    target : ndarray of float64, shape (n_rows,)
        0 or 1.
    n_threads : int
        Threads to use.
    slopes, bends : ndarray of float64
        Where derivatives are written.
    """

    target: Floats
    n_threads: int
    slopes: Floats
    bends: Floats

    def gradients(self, scores: Floats) -> list[Pair]:
        """Return gradient and hessian; the arrays are used again by the next call."""
        _core.log_loss_gradients(self.target, scores[:, 0], self.slopes, self.bends, self.n_threads)
        return [(self.slopes, self.bends)]

    def row_losses(self, scores: Floats, into: Floats) -> Floats:
        """Write the loss of each row, and return it."""
        _core.log_losses(self.target, scores[:, 0], into, self.n_threads)
        return into


@dataclass(frozen=True, eq=False)
class FastClassLoss:
    """The log loss of several classes.

    Parameters
    ----------
    classes : ndarray of int32, shape (n_rows,)
        Codes.
    n_threads : int
        Threads to use.
    slopes, bends : ndarray of float64, shape (n_rows, n_classes), Fortran-ordered
        Where derivatives are written.
    """

    classes: NDArray[np.int32]
    n_threads: int
    slopes: Floats
    bends: Floats

    def gradients(self, scores: Floats) -> list[Pair]:
        """Return gradients and hessians; the arrays are used again by the next call."""
        _core.multinomial_gradients(self.classes, scores, self.slopes, self.bends, self.n_threads)
        return [(self.slopes[:, k], self.bends[:, k]) for k in range(self.slopes.shape[1])]

    def row_losses(self, scores: Floats, into: Floats) -> Floats:
        """Write the loss of each row, and return it."""
        _core.multinomial_losses(self.classes, scores, into, self.n_threads)
        return into
