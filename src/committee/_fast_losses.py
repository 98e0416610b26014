"""Log losses and their derivatives by the engine, for boosting: each round passes all rows.

They say what the losses say in NumPy, several times faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee._class_losses import BinaryLogLoss, MultinomialLogLoss
from committee._loss import Loss

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats | None]


def fast_loss(
    loss: Loss, codes: NDArray[Any], n_threads: int
) -> FastBinaryLoss | FastClassLoss | None:
    """Return the engine's form of a loss; None if it has none.

    Parameters
    ----------
    loss : Loss
        The loss. Classes derived from those of this library are asked themselves.
    codes : ndarray of shape (n_rows,)
        Classes of the rows.
    n_threads : int
        Threads to use.

    Returns
    -------
    fast : FastBinaryLoss, FastClassLoss or None
        Takes Fortran-ordered scores.

    Examples
    --------
    >>> fast = fast_loss(BinaryLogLoss(), np.array([0, 1]), 1)
    >>> scores = np.zeros((2, 1), order="F")
    >>> (gradient, hessian), = fast.gradients(scores)
    >>> gradient.tolist(), hessian.tolist()
    ([0.5, -0.5], [0.25, 0.25])
    >>> fast.row_losses(scores).round(3).tolist()
    [0.693, 0.693]
    """
    if type(loss) is BinaryLogLoss:
        target = (codes == 1).astype(np.float64)
        return FastBinaryLoss(target, n_threads, np.empty_like(target), np.empty_like(target))
    if type(loss) is MultinomialLogLoss:
        classes = np.ascontiguousarray(codes, np.int32)
        slopes, bends = (np.empty((len(codes), loss.n_scores), order="F") for _ in range(2))
        return FastClassLoss(classes, n_threads, slopes, bends)
    return None


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

    def row_losses(self, scores: Floats) -> Floats:
        """Return the loss of each row."""
        losses = np.empty_like(self.target)
        _core.log_losses(self.target, scores[:, 0], losses, self.n_threads)
        return losses


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

    def row_losses(self, scores: Floats) -> Floats:
        """Return the loss of each row."""
        losses = np.empty(len(self.classes))
        _core.multinomial_losses(self.classes, scores, losses, self.n_threads)
        return losses
