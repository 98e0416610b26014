"""What boosting minimises: a loss, the target, and the weights of the rows.

Scores are a Fortran-ordered array with one column for each tree of a round. A loss with several
scores (classes, quantiles) takes all of them; for several outputs each output has one column, and
the objective is the mean over the outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.losses.fast import FastLoss, Pair, fast_loss, fast_probabilities
from committee.losses.loss import Loss
from committee.losses.weighted_statistics import mean_loss

Floats = NDArray[np.float64]


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
        parts = [loss.prepare(y, each, self.weights) for loss, y, each in self._outputs(scores)]
        is_same = all(a is b for a, b in zip(parts, self.losses, strict=True))
        return self if is_same else replace(self, losses=tuple(parts))

    def initial_scores(self) -> Floats:
        """Return the constant scores that minimise the objective."""
        pairs = zip(self.losses, self.y.T, strict=True)
        return np.concatenate([loss.initial_scores(y, self.weights) for loss, y in pairs])

    def gradients(self, scores: Floats) -> list[Pair]:
        """Return gradient and hessian of each column; None for a hessian of ones.

        The arrays may be written to by the next call.
        """
        if self._fast is not None:
            return self._fast.gradients(scores)
        pairs: list[Pair] = []
        for loss, y, part in self._outputs(scores):
            gradient, hessian = loss.gradients(y, part)
            if np.shape(gradient) != part.shape or np.shape(hessian) != part.shape:
                raise ValueError(
                    f"loss {loss!r} must return a gradient and a hessian of shape {part.shape}; "
                    f"got {np.shape(gradient)} and {np.shape(hessian)}"
                )
            for k in range(loss.n_scores):
                slope = _column(gradient, k, loss)
                pairs.append((slope, None if loss.has_unit_hessian else _bend(hessian, k, loss)))
        return pairs

    @cached_property
    def _fast(self) -> FastLoss | None:
        """The fast form of the loss, where it has one."""
        if self.n_outputs > 1:
            return None
        return fast_loss(self.losses[0], self.y[:, 0], self.n_threads)

    @cached_property
    def _work(self) -> Floats:
        """Memory for losses of rows that nobody keeps: new memory is slow in each round."""
        return np.empty(len(self.y))

    def row_losses(self, scores: Floats) -> Floats:
        """Return the loss of each row, the mean over the outputs."""
        if self._fast is not None:
            return self._fast.row_losses(scores, np.empty(len(self.y)))
        losses = [loss.row_losses(y, part) for loss, y, part in self._outputs(scores)]
        return losses[0] if len(losses) == 1 else np.mean(losses, axis=0)

    def mean_loss(self, scores: Floats) -> float:
        """Return the weighted mean of the losses of the rows.

        `gradients` of the same scores may be known by then, see `FastLoss.mean_loss`.
        """
        if self._fast is None:
            return mean_loss(self.row_losses(scores), self.weights)
        found = self._fast.mean_loss(scores, self.weights) if self._weighs_simply else None
        if found is not None:
            return found
        return mean_loss(self._fast.row_losses(scores, self._work), self.weights)

    @cached_property
    def _weighs_simply(self) -> bool:
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
        return loss.leaf_values(y, part, weights, leaf[rows], n_leaves, k)

    def predictions(self, scores: Floats) -> Floats:
        """Return what scores predict, (n_rows,) for one output and a loss of one prediction."""
        if self.n_outputs == 1:
            return self.losses[0].predictions(self._scores_of_first(scores))
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


def _bend(table: Any, k: int, loss: Loss) -> Floats:
    values = _column(table, k, loss)
    if len(values) and values.min() < 0:
        row = int(values.argmin())
        raise ValueError(f"loss {loss!r} has a negative hessian, {values[row]}, in row {row}")
    return values
