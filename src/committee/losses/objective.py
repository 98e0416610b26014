"""What boosting minimises: a loss, the target, and the weights of the rows.

Scores are a Fortran-ordered array with one column for each tree of a round. A loss with several
scores (classes, quantiles) takes all of them; for several outputs each output has one column, and
the objective is the mean over the outputs. Frequent losses are computed by the engine, with the
results of the loss classes: one pass gives the loss of the rows and the derivatives that the next
round starts from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.losses.arithmetic import LARGEST, mean_loss
from committee.losses.classes import BinaryLogLoss, MultinomialLogLoss
from committee.losses.loss import Loss
from committee.losses.residual import SquaredError, offset_of
from committee.losses.returned import (
    constants,
    derivatives,
    losses_of_rows,
    steps_of_leaves,
)

Pair = tuple[Floats, Floats | None]


def fast_loss(loss: Loss, target: NDArray[Any], n_threads: int) -> FastLoss | None:
    """Return the fast form of a loss; None if it has none.

    Parameters
    ----------
    loss : Loss
        The loss. Of classes derived from those of this library their own methods are used.
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
        The loss. Of classes derived from those of this library their own methods are used.
    scores : ndarray of float64, shape (n_rows,) or (n_rows, n_scores)
        Raw scores.

    Returns
    -------
    shares : ndarray of float64, shape (n_rows, n_classes), or None
        As `Loss.probabilities`, within rounding.

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
        self.gradient = np.empty((len(target), n_scores), order="F")
        self._knows_derivatives = False  # of the last scores given to `mean_loss`

    def mean_loss(self, scores: Floats, weights: Floats | None) -> float | None:
        """Return the mean loss of rows that weigh 0 or 1; None if it is not finite.

        The derivatives are found on the way: the next call of `gradients` must be for the same
        scores, and is free.
        """
        total = self._pass(scores, weights)
        self._knows_derivatives = True
        mean = total / (len(self.target) if weights is None else float(weights.sum()))
        return mean if np.isfinite(mean) else None

    def gradients(self, scores: Floats) -> list[Pair]:
        """Return gradient and hessian of each column; the arrays are used again later."""
        if not self._knows_derivatives:
            self._pass(scores, None)
        self._knows_derivatives = False
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
        gradient = self.gradient[:, 0]
        return _core.squared_error_gradients(
            self.target, scores[:, 0], gradient, weights, self.n_threads
        )

    def _pairs(self) -> list[Pair]:
        return [(self.gradient[:, 0], None)]

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
        self.hessian = np.empty_like(self.gradient)

    def _prepared(self, target: NDArray[Any]) -> NDArray[np.uint8]:
        return np.asarray(target == 1, np.uint8)

    def _pass(self, scores: Floats, weights: Floats | None) -> float:
        gradient, hessian = self.gradient[:, 0], self.hessian[:, 0]
        return _core.log_loss_gradients(
            self.target, scores[:, 0], gradient, hessian, weights, self.n_threads
        )

    def _pairs(self) -> list[Pair]:
        return [(self.gradient[:, 0], self.hessian[:, 0])]

    def row_losses(self, scores: Floats, into: Floats) -> Floats:
        """Write the loss of each row, and return it."""
        _core.log_losses(self.target, scores[:, 0], into, self.n_threads)
        return into


class FastClassLoss(FastLoss):
    """The log loss of several classes."""

    def __init__(self, target: NDArray[Any], n_scores: int, n_threads: int) -> None:
        super().__init__(target, n_scores, n_threads)
        self.hessian = np.empty_like(self.gradient)

    def _prepared(self, target: NDArray[Any]) -> NDArray[np.int32]:
        return np.ascontiguousarray(target, np.int32)

    def _pass(self, scores: Floats, weights: Floats | None) -> float:
        return _core.multinomial_gradients(
            self.target, scores, self.gradient, self.hessian, weights, self.n_threads
        )

    def _pairs(self) -> list[Pair]:
        return [(self.gradient[:, k], self.hessian[:, k]) for k in range(self.gradient.shape[1])]

    def row_losses(self, scores: Floats, into: Floats) -> Floats:
        """Write the loss of each row, and return it."""
        _core.multinomial_losses(self.target, scores, into, self.n_threads)
        return into


@dataclass(frozen=True, eq=False)
class Objective:
    """A loss with the rows it is taken over.

    Parameters
    ----------
    losses : tuple of Loss
        One for each output.
    y : ndarray of shape (n_rows, n_outputs)
        Numbers, or codes of classes.
    weights : ndarray of float64, shape (n_rows,), or None
        Weights of the rows.
    n_threads : int, default=1
        Threads to use for derivatives; they do not depend on it.
    offsets : ndarray of float64, shape (n_outputs,), or None, default=None
        Subtracted from `y` and from the scores; see `centred`.

    Examples
    --------
    >>> from committee.losses import SquaredError
    >>> objective = Objective((SquaredError(),), np.array([[1.0], [3.0]]), None)
    >>> objective.initial_scores().tolist()
    [2.0]
    >>> gradient, hessian = objective.gradients(np.zeros((2, 1), order="F"))[0]
    >>> gradient.tolist(), hessian is None
    ([-1.0, -3.0], True)
    """

    losses: tuple[Loss, ...]
    y: NDArray[Any]
    weights: Floats | None
    n_threads: int = 1
    offsets: Floats | None = None

    @classmethod
    def centred(
        cls, losses: tuple[Loss, ...], y: NDArray[Any], weights: Floats | None, n_threads: int
    ) -> Objective:
        """Return an objective that subtracts the median from targets that are far from zero.

        Examples
        --------
        >>> from committee.losses import SquaredError
        >>> y = np.array([[1e15], [1e15 + 2]])
        >>> objective = Objective.centred((SquaredError(),), y, None, 1)
        >>> objective.y.ravel().tolist(), objective.to_scores(objective.initial_scores()).tolist()
        ([-1.0, 1.0], [1000000000000001.0])
        """
        if losses[0].n_classes is not None:
            return cls(losses, y, weights, n_threads)
        pairs = zip(losses, y.T, strict=True)
        offsets = np.array([offset_of(loss, column, weights) for loss, column in pairs])
        if not offsets.any():
            return cls(losses, y, weights, n_threads)
        return cls(losses, np.asfortranarray(y - offsets), weights, n_threads, offsets)

    def of_rows(self, y: NDArray[Any], weights: Floats | None) -> Objective:
        """Return the objective of other rows."""
        own = y if self.offsets is None else np.asfortranarray(y - self.offsets)
        return replace(self, y=own, weights=weights)

    def to_scores(self, centred: Floats) -> Floats:
        """Return the scores of a model; `centred` are those of this objective."""
        return centred if self.offsets is None else centred + self._column_offsets

    def from_scores(self, scores: Floats) -> Floats:
        """Return the scores as this objective takes them; see `to_scores`."""
        return scores if self.offsets is None else scores - self._column_offsets

    @property
    def _column_offsets(self) -> Floats:
        assert self.offsets is not None
        return np.repeat(self.offsets, [loss.n_scores for loss in self.losses])

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.losses)

    @property
    def n_columns(self) -> int:
        """Number of scores of a row."""
        return sum(loss.n_scores for loss in self.losses)

    def part(self, rows: Any, weights: Floats | None) -> Objective:
        """Return the objective of some rows, with other weights."""
        return replace(self, y=np.asfortranarray(self.y[rows]), weights=weights)

    def prepared(self, scores: Floats) -> Objective:
        """Return the objective of the coming round, see `Loss.prepare`."""
        if all(type(loss).prepare is Loss.prepare for loss in self.losses):
            return self  # most losses are the same in every round
        parts = [loss.prepare(y, each, self.weights) for loss, y, each in self._outputs(scores)]
        for loss, part in zip(self.losses, parts, strict=True):
            if not isinstance(part, Loss):
                raise ValueError(f"prepare of the loss {loss!r} must return a loss; got {part!r}")
        is_same = all(a is b for a, b in zip(parts, self.losses, strict=True))
        return self if is_same else replace(self, losses=tuple(parts))

    def initial_scores(self) -> Floats:
        """Return the constant scores that minimise the objective."""
        pairs = zip(self.losses, self.y.T, strict=True)
        starts = [(loss, loss.initial_scores(y, self.weights)) for loss, y in pairs]
        return np.concatenate([constants(each, loss, "initial_scores") for loss, each in starts])

    def mean_scores(self) -> Floats:
        """Return the constant scores that predict the mean of the target."""
        pairs = zip(self.losses, self.y.T, strict=True)
        starts = [(loss, loss.mean_scores(y, self.weights)) for loss, y in pairs]
        return np.concatenate([constants(each, loss, "mean_scores") for loss, each in starts])

    def gradients(self, scores: Floats) -> list[Pair]:
        """Return gradient and hessian of each column; None for a hessian of ones.

        The arrays may be written to by the next call.
        """
        if self._fast is not None:
            return self._fast.gradients(scores)
        pairs: list[Pair] = []
        for loss, y, part in self._outputs(scores):
            gradient, hessian = derivatives(loss, y, part)
            for k in range(loss.n_scores):
                column = _column(gradient, k, loss)
                pairs.append(
                    (column, None if loss.has_unit_hessian else _hessian_column(hessian, k, loss))
                )
        return pairs

    @cached_property
    def _fast(self) -> FastLoss | None:
        """The fast form of the loss, where it has one."""
        if self.n_outputs > 1:
            return None
        return fast_loss(self.losses[0], self.y[:, 0], self.n_threads)

    @cached_property
    def _work(self) -> Floats:
        """Scratch for row losses; allocating each round is slow."""
        return np.empty(len(self.y))

    def row_losses(self, scores: Floats) -> Floats:
        """Return the loss of each row, the mean over the outputs."""
        if self._fast is not None:
            return self._fast.row_losses(scores, np.empty(len(self.y)))
        losses = [losses_of_rows(loss, y, part) for loss, y, part in self._outputs(scores)]
        return losses[0] if len(losses) == 1 else np.mean(losses, axis=0)

    def mean_loss(self, scores: Floats) -> float:
        """Return the weighted mean of the losses of the rows.

        `gradients` of the same scores may be known by then, see `FastLoss.mean_loss`.
        """
        if self._fast is None:
            return mean_loss(self.row_losses(scores), self.weights)
        found = self._fast.mean_loss(scores, self.weights) if self._weights_are_0_or_1 else None
        if found is not None:
            return found
        return mean_loss(self._fast.row_losses(scores, self._work), self.weights)

    @cached_property
    def _weights_are_0_or_1(self) -> bool:
        """Whether each row counts once or not at all."""
        weights = self.weights
        return weights is None or bool(((weights == 0) | (weights == 1)).all())

    def loss_of(self, column: int) -> tuple[Loss, int]:
        """Return the loss that a column of scores belongs to, and which of its scores it is."""
        return (self.losses[column], 0) if self.n_outputs > 1 else (self.losses[0], column)

    def leaf_values(
        self, scores: Floats, column: int, rows: Any, leaf: NDArray[Any], n_leaves: int
    ) -> Floats:
        """Return the best step of each leaf for one column, see `Loss.leaf_values`."""
        loss, k = self.loss_of(column)
        weights = None if self.weights is None else self.weights[rows]
        y = self.y[rows, column if self.n_outputs > 1 else 0]
        part = scores[rows, column] if loss.n_scores == 1 else scores[rows]
        steps = loss.leaf_values(y, part, weights, leaf[rows], n_leaves, k)
        return steps_of_leaves(steps, loss, n_leaves)

    def predictions(self, scores: Floats) -> Floats:
        """Return what scores predict, (n_rows,) for one output and a loss of one prediction."""
        scores = self.to_scores(scores)
        if self.n_outputs == 1:
            found = self.losses[0].predictions(self._scores_of_first(scores))
            if len(found) != len(scores):
                raise ValueError(
                    f"predictions of the loss {self.losses[0]!r} must return an entry for each of "
                    f"{len(scores)} rows; got {len(found)}"
                )
            return found
        parts = [loss.predictions(scores[:, k]) for k, loss in enumerate(self.losses)]
        return np.column_stack(parts)

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities of the classes."""
        loss, own = self.losses[0], self._scores_of_first(scores)
        shares = fast_probabilities(loss, own)
        return loss.probabilities(own) if shares is None else shares

    def _scores_of_first(self, scores: Floats) -> Floats:
        return scores[:, 0] if self.losses[0].n_scores == 1 else scores

    def _outputs(self, scores: Floats) -> Iterator[tuple[Loss, NDArray[Any], Floats]]:
        """Yield the loss, the target and the scores of each output."""
        if self.n_outputs == 1:
            yield self.losses[0], self.y[:, 0], self._scores_of_first(scores)
            return
        for k, loss in enumerate(self.losses):
            yield loss, self.y[:, k], scores[:, k]


def _column(table: Any, k: int, loss: Loss) -> Floats:
    """Return one column of derivatives as the engine takes it; ValueError unless it is finite."""
    values = np.ascontiguousarray(table if np.ndim(table) == 1 else table[:, k], np.float64)
    # A sum shows at once that all is well; it may also overflow where every number is finite.
    with np.errstate(over="ignore"):
        if not np.isfinite(values.sum()) and not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"loss {loss!r} has a derivative of {values[row]} in row {row}")
    return values


def _hessian_column(table: Any, k: int, loss: Loss) -> Floats:
    values = _column(table, k, loss)
    if len(values) and values.min() < 0:
        row = int(values.argmin())
        raise ValueError(f"loss {loss!r} has a negative hessian, {values[row]}, in row {row}")
    return values
