"""`Loss`: the interface of the losses of gradient boosting, and the base of every loss.

A model adds up *raw scores*, real numbers without bounds. A loss measures how far scores are from
a target (`row_losses`), in which direction they should move and how far (`gradients`), and turns
them into predictions (`predictions`, `probabilities`). Arrays have one entry for each row, (n,),
where a row has one score, else (n, n_scores); a tree belongs to one of the scores, its `column`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.losses.arithmetic import Target, safe_ratio, sums_of_leaves, weighted_mean
from committee.losses.returned import derivatives, losses_of_rows

Self = TypeVar("Self", bound="Loss")


class Loss(ABC):
    """A loss for gradient boosting; derive from this class to make a loss of your own.

    A loss of your own needs two methods: `gradients` and `row_losses`. The others have a sensible
    default: the first scores are searched for numerically, leaves take Newton steps (with
    `refits_leaves`, those of `leaf_value`), and a score is the prediction. A loss object is not
    changed by fitting: make it a frozen dataclass, or set attributes in ``__init__`` only.

    Attributes
    ----------
    n_scores : int
        Number of raw scores of a row, and of trees in a round; 1 unless overridden.
    n_classes : int or None
        Number of classes for a classifier; None for a loss of numbers.
    refits_leaves : bool
        Whether the values of leaves are found by `leaf_values`, rather than as the Newton step
        ``-sum(gradient) / (sum(hessian) + l2)`` of the rows in a leaf.
    has_unit_hessian : bool
        Whether every hessian is 1, and need not be stored.
    depends_on_residual_only : bool
        Whether losses, derivatives and steps depend on ``y - scores`` only. Targets far from zero,
        such as 1e15 and a little, are then moved to zero for the fit, because short steps would
        vanish in the rounding of such scores. A class derived from one that sets it has to set it
        again.
    least_prediction : float
        What no prediction and no target is below; minus infinity unless overridden.

    Examples
    --------
    Errors that grow like their logarithm, so that gross outliers hardly count:

    >>> import numpy as np
    >>> class Cauchy(Loss):
    ...     def row_losses(self, y, scores):
    ...         return np.log1p((y - scores) ** 2) / 2
    ...
    ...     def gradients(self, y, scores):
    ...         residual = y - scores
    ...         bound = 1 + residual**2
    ...         return -residual / bound, 1 / bound
    >>> loss = Cauchy()
    >>> y = np.array([1.0, 2.0, 3.0, 1000.0])
    >>> float(loss.initial_scores(y, None)[0].round(2))
    2.0
    >>> round(loss.mean_loss(y, np.full(4, 2.0), None), 2)
    1.9
    """

    n_scores: int = 1
    n_classes: int | None = None
    refits_leaves: bool = False
    has_unit_hessian: bool = False
    depends_on_residual_only: bool = False
    least_prediction: float = -np.inf

    # --- to be written for every loss ---------------------------------------------------------

    @abstractmethod
    def row_losses(self, y: Target, scores: Floats) -> Floats:
        """Return the loss of each row.

        Parameters
        ----------
        y : ndarray, shape (n_rows,)
            Target: numbers, or codes of classes from 0.
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_scores)
            Raw scores.

        Returns
        -------
        losses : ndarray of float64, shape (n_rows,)
            Without weights.
        """

    @abstractmethod
    def gradients(self, y: Target, scores: Floats) -> tuple[Floats, Floats]:
        """Return the first and second derivative of each row's loss by its scores.

        Parameters
        ----------
        y : ndarray, shape (n_rows,)
            Target: numbers, or codes of classes from 0.
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_scores)
            Raw scores.

        Returns
        -------
        gradient, hessian : ndarray of float64, shape of `scores`
            Without weights. The hessian is at least zero; of a row with several scores it is the
            diagonal. Where the second derivative is of no use (absolute errors) or fades far from
            the target, return ones and set `refits_leaves` and `has_unit_hessian`, as `Huber`
            does: steps divided by a vanishing hessian are far too long.
        """

    # --- with defaults ------------------------------------------------------------------------

    def check_target(self, y: Target) -> None:  # noqa: B027 (a hook: any numbers will do)
        """Raise ValueError if the loss is not defined for the target."""

    def prepare(self: Self, y: Target, scores: Floats, weights: Floats | None) -> Self:
        """Return the loss of the coming round; called once before each round.

        Parameters
        ----------
        y : ndarray, shape (n_rows,)
            Target of the training rows.
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_scores)
            Their raw scores so far.
        weights : ndarray of float64 or None
            Their weights.

        Returns
        -------
        loss : Loss
            The loss itself, or one with settings found from the rows (see `Huber`).
        """
        return self

    def hessian_unit(self, initial: Floats) -> float:
        """Return what the hessian of one row is measured in, from the first scores.

        Penalties and limits of sums of hessians are counted in rows. Where hessians have the unit
        of the target, such as those of Poisson, they are multiplied by this.
        """
        return 1.0

    def initial_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return the constant scores that minimise the loss.

        The default searches for them by Newton steps from zero, halved while that lowers the loss.

        Parameters
        ----------
        y : ndarray, shape (n_rows,)
            Target.
        weights : ndarray of float64 or None
            Weights of the rows; None: each row once.

        Returns
        -------
        scores : ndarray of float64, shape (n_scores,)
            Finite.
        """
        best = np.zeros(self.n_scores)
        least = self.mean_loss(y, self._same_scores(best, len(y)), weights)
        for _ in range(100):
            scores, before = best, least
            steps = self._newton_steps(y, scores, weights)
            for _ in range(60):
                loss = self.mean_loss(y, self._same_scores(scores + steps, len(y)), weights)
                if loss < least:
                    best, least = scores + steps, loss
                elif least < before:  # half the step was better
                    break
                steps = steps / 2
            if least == before:  # no step lowers the loss: this is the minimum, up to rounding
                break
        return best

    def mean_scores(self, y: Target, weights: Floats | None) -> Floats:
        """Return the constant scores that predict the mean of the target, for ``init="mean"``.

        For numbers they are the `scores_of` of the mean, for classes `initial_scores`.

        Parameters
        ----------
        y : ndarray, shape (n_rows,)
            Target.
        weights : ndarray of float64 or None
            Weights of the rows; None: each row once.

        Returns
        -------
        scores : ndarray of float64, shape (n_scores,)
            Finite.
        """
        if self.n_classes is not None:
            return self.initial_scores(y, weights)
        mean = weighted_mean(np.asarray(y, np.float64), weights)
        return np.asarray(self.scores_of(np.full((1, self.n_scores), mean))[0])

    def spread(self, predictions: Floats) -> Floats:
        """Return what errors are proportional to, by the idea of the loss; for intervals.

        Parameters
        ----------
        predictions : ndarray of float64
            Of rows.

        Returns
        -------
        spread : ndarray of float64, shape of `predictions`
            Positive; ones by default.
        """
        return np.ones_like(predictions)

    def mean_loss(self, y: Target, scores: Floats, weights: Floats | None) -> float:
        """Return the weighted mean of `row_losses`.

        Parameters
        ----------
        y : ndarray, shape (n_rows,)
            Target.
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_scores)
            Raw scores.
        weights : ndarray of float64 or None
            Weights of the rows; None: each row once.

        Returns
        -------
        loss : float
            The mean.
        """
        return weighted_mean(losses_of_rows(self, y, scores), weights)

    def leaf_value(
        self, y: Target, scores: Floats, weights: Floats | None, column: int = 0
    ) -> float:
        """Return the best step for the rows of one leaf.

        A loss of your own with `refits_leaves` may define this instead of `leaf_values`, which
        then calls it leaf by leaf.

        Parameters
        ----------
        y : ndarray, shape (n_rows,)
            Target of the rows in the leaf.
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_scores)
            Their raw scores so far.
        weights : ndarray of float64 or None
            Their weights, all positive; None: each row once.
        column : int, default=0
            Which of the scores the tree is for.

        Returns
        -------
        step : float
            Finite; before shrinkage.
        """
        leaf = np.zeros(len(y), np.intp)
        if type(self).leaf_values is Loss.leaf_values:
            return float(self._newton_leaves(y, scores, weights, leaf, 1, column)[0])
        return float(self.leaf_values(y, scores, weights, leaf, 1, column)[0])

    def leaf_values(
        self,
        y: Target,
        scores: Floats,
        weights: Floats | None,
        leaf: NDArray[np.integer],
        n_leaves: int,
        column: int = 0,
    ) -> Floats:
        """Return the best constant step of each leaf, before shrinkage.

        The default calls `leaf_value` for each leaf where a loss defines it; else it is a Newton
        step, shortened by `safe_steps`. A loss with `refits_leaves` gives the exact minimum, or
        nearly so.

        Parameters
        ----------
        y : ndarray, shape (n_rows,)
            Target.
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_scores)
            Raw scores so far.
        weights : ndarray of float64 or None
            Weights of the rows; None: each row once.
        leaf : ndarray of int, shape (n_rows,)
            Leaf of each row, from 0.
        n_leaves : int
            Number of leaves.
        column : int, default=0
            Which of the scores the tree is for.

        Returns
        -------
        steps : ndarray of float64, shape (n_leaves,)
            Finite; zero for a leaf without rows.
        """
        if type(self).leaf_value is Loss.leaf_value:
            return self._newton_leaves(y, scores, weights, leaf, n_leaves, column)
        present = slice(None) if weights is None else np.flatnonzero(weights > 0)
        places = np.arange(len(y))[present]
        places = places[np.argsort(leaf[places], kind="stable")]
        filled, starts = np.unique(leaf[places], return_index=True)
        steps = np.zeros(n_leaves)
        for number, rows in zip(filled, np.split(places, starts[1:]), strict=True):
            some = None if weights is None else weights[rows]
            steps[number] = self.leaf_value(y[rows], scores[rows], some, column)
            if not np.isfinite(steps[number]):
                raise ValueError(
                    f"loss {self!r} must have a finite leaf_value; got {steps[number]} for a leaf "
                    f"of {len(rows)} rows"
                )
        return steps

    def _newton_leaves(
        self,
        y: Target,
        scores: Floats,
        weights: Floats | None,
        leaf: NDArray[np.integer],
        n_leaves: int,
        column: int,
    ) -> Floats:
        gradient, hessian = derivatives(self, y, scores)
        if gradient.ndim == 2:
            gradient, hessian = gradient[:, column], hessian[:, column]
        gradients, hessians = sums_of_leaves([gradient, hessian], weights, leaf, n_leaves)
        return self.safe_steps(-safe_ratio(gradients, hessians))

    def safe_steps(self, steps: Floats) -> Floats:
        """Return Newton steps, shortened where they could overshoot the minimum.

        Where a row is badly wrong and the loss is nearly straight, its hessian is tiny and a
        Newton step is far too long. Losses with exponentials override this.

        Parameters
        ----------
        steps : ndarray of float64
            ``-sum(gradient) / (sum(hessian) + l2)`` of leaves, before shrinkage.

        Returns
        -------
        steps : ndarray of float64
            The same by default.
        """
        return steps

    def predictions(self, scores: Floats) -> Floats:
        """Return what scores predict, in units of the target; codes of classes for a classifier."""
        return scores

    def scores_of(self, predicted: Floats) -> Floats:
        """Return the scores that predict this, from which boosting starts with an `init` model.

        A loss with `predictions` or classes of its own has to say how they become scores.

        Parameters
        ----------
        predicted : ndarray of float64, shape (n_rows, n_scores) or (n_rows, n_classes)
            Predictions of another model: numbers, or probabilities of classes.

        Returns
        -------
        scores : ndarray of float64, shape (n_rows, n_scores)
            Finite raw scores; numbers themselves by default.
        """
        if self.n_classes is not None or type(self).predictions is not Loss.predictions:
            raise ValueError(
                f'init must be None or "zero" with {self!r}, which does not define '
                "scores_of: how predictions of another model become its scores"
            )
        return predicted

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each class, shape (n_rows, n_classes); rows add up to one."""
        raise TypeError(f"{type(self).__name__} is a loss of numbers, not of classes")

    def _same_scores(self, scores: Floats, n_rows: int) -> Floats:
        """Return an array with the same scores in each row."""
        return np.full(n_rows, scores[0]) if self.n_scores == 1 else np.tile(scores, (n_rows, 1))

    def _newton_steps(self, y: Target, scores: Floats, weights: Floats | None) -> Floats:
        leaf = np.zeros(len(y), np.intp)
        everywhere = self._same_scores(scores, len(y))
        columns = range(self.n_scores)
        steps = [self._newton_leaves(y, everywhere, weights, leaf, 1, k) for k in columns]
        return np.concatenate(steps)
