r"""Forward stagewise additive modelling, the greedy algorithm behind boosting.

A reference to be read and compared with, not a fast method: every function of the basis is tried in
every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_int, check_real
from committee.base.products import weighted_sum
from committee.losses import Exponential, Loss, get_loss
from committee.tables.target import check_same_length, read_reals

# A basis that depends on what is left to explain: the target and the scores so far are given.
Learner = Callable[[Floats, Floats], Any]

# Losses that differ by less, relatively, are equal: the difference is rounding.
_EQUAL = 1e-12

# Coefficients are searched for up to 2^6: the exponential loss of rows that are all right falls for
# ever. Then the interval is halved until it has the width of a rounding.
_DOUBLINGS = 6
_HALVINGS = 60


@dataclass(frozen=True, eq=False, repr=False)
class StagewiseModel:
    """A sum of functions, chosen one by one; see `forward_stagewise`.

    Attributes
    ----------
    start : float
        What scores begin with.
    chosen : ndarray of int64, shape (n_steps,)
        Which function of the basis each step has taken.
    coefficients : ndarray of float64, shape (n_steps,)
        What it is multiplied by.
    losses : ndarray of float64, shape (n_steps,)
        Mean loss after each step.
    scores : ndarray of float64, shape (n_steps, n_rows)
        Scores of the rows after each step.
    n_functions : int or None
        Functions of the basis; None if it was made anew in each step.
    """

    start: float
    chosen: NDArray[np.int64]
    coefficients: Floats
    losses: Floats
    scores: Floats
    n_functions: int | None

    def predict(self, basis: Any) -> Floats:
        """Return the scores of other rows.

        Parameters
        ----------
        basis : array-like of shape (n_functions, n_rows)
            The same functions on these rows.

        Returns
        -------
        scores : ndarray of float64, shape (n_rows,)
            The sum.
        """
        if self.n_functions is None:
            raise ValueError("predict needs a basis that is the same in each step: an array")
        values = _matrix(basis)
        if len(values) != self.n_functions:
            raise ValueError(
                f"basis must have the {self.n_functions} functions of the fit; got {len(values)}"
            )
        return self.start + weighted_sum(self.coefficients, values[self.chosen])

    def __repr__(self) -> str:
        steps = len(self.chosen)
        return f"StagewiseModel({steps} steps, mean loss {self.losses[-1]:.4g})"


def forward_stagewise(
    basis: Any,
    y: Any,
    *,
    loss: str | Loss = "squared_error",
    n_steps: int = 10,
    learning_rate: float = 1.0,
    start: float = 0.0,
) -> StagewiseModel:
    r"""Fit an additive model step by step, as the lecture writes it.

    Lecture: Tor Vergata. From :math:`y_0(x)` = `start`, step k finds

    .. math:: (\hat\alpha_k, \hat w_k) = \arg\min_{\alpha, w}
        \sum_i L\bigl(t_i, \, y_{k-1}(x_i) + \alpha \, h(x_i; w)\bigr), \qquad
        y_k = y_{k-1} + \hat\alpha_k h(\cdot; \hat w_k)

    and never changes what it has added before.

    Parameters
    ----------
    basis : array-like of shape (n_functions, n_rows), or callable
        The values of every function h(x; w) on the rows, such as `stump_basis`. A callable
        ``basis(y, scores)`` makes them anew in each step, for functions that are fitted to what is
        left.
    y : array-like of shape (n_rows,)
        The target; -1 and 1 for the exponential loss, 0 and 1 for others of two classes.
    loss : str or Loss, default="squared_error"
        A loss of numbers by its name, "exponential" or "log_loss" for two classes, or any `Loss`
        with one score a row, of one's own as well.
    n_steps : int, default=10
        Functions to add.
    learning_rate : float, default=1.0
        Factor of each coefficient, after it was found.
    start : float, default=0.0
        First score of all rows.

    Returns
    -------
    model : StagewiseModel
        `chosen`, `coefficients`, `losses` and `scores`, an entry for each step.

    Notes
    -----
    With stumps of -1 and 1 and the exponential loss this is discrete AdaBoost: the same stumps, and
    coefficients of half the log-odds. With stumps whose two leaves hold the mean residuals and the
    squared error it is gradient boosting with ``max_splits=1``. Limits: convex losses; the best
    coefficient is where the derivative changes its sign, searched for between -64 and 64. Functions
    that are equally good are taken in the order of the basis. Memory and time grow with the number
    of functions times rows.

    Examples
    --------
    >>> from committee import AdaBoostClassifier
    >>> from committee.datasets import load_ten_points
    >>> from committee.theory import forward_stagewise, stump_basis
    >>> X, y = load_ten_points()
    >>> model = forward_stagewise(stump_basis(X), y, loss="exponential", n_steps=3)
    >>> abs(model.coefficients).round(2).tolist()  # the betas of the ten points
    [0.42, 0.65, 0.92]
    >>> boosted = AdaBoostClassifier(n_estimators=3, criterion="error").fit(X, y)
    >>> bool(abs(model.losses - boosted.trace_.bound).max() < 1e-12)
    True
    """
    values, _ = read_reals(y)
    if values.shape[1] != 1:
        raise ValueError(f"y should be a 1d array, got {values.shape[1]} columns instead")
    target = values[:, 0]
    objective = _one_score_loss(loss)
    if isinstance(objective, Exponential):
        if not np.isin(target, (-1, 1)).all():
            raise ValueError('y must hold -1 and 1 for loss "exponential"')
        target = (target > 0).astype(np.float64)
    objective.check_target(target)
    rate = check_real("learning_rate", learning_rate, 0.0, include_low=False)
    first = check_real("start", start)
    fixed = None if callable(basis) else _matrix(basis)
    scores = np.full(len(target), first)
    chosen, coefficients, losses, stages = [], [], [], []
    for _ in range(check_int("n_steps", n_steps, 1)):
        functions = _matrix(basis(values[:, 0], scores)) if fixed is None else fixed
        check_same_length(functions.shape[1], len(target))
        objective = objective.prepare(target, scores, None)
        line = _Lines(objective, target, scores, functions)
        best = line.best_coefficients()
        number = _first_least(line.mean_losses(best))
        scores = scores + rate * best[number] * functions[number]
        chosen.append(number)
        coefficients.append(rate * best[number])
        losses.append(objective.mean_loss(target, scores, None))
        stages.append(scores)
    return StagewiseModel(
        first,
        np.array(chosen),
        np.array(coefficients),
        np.array(losses),
        np.array(stages),
        None if fixed is None else len(fixed),
    )


def stump_basis(X: Any, at: Any = None) -> Floats:
    """Values of all stumps of -1 and 1: a basis for `forward_stagewise`.

    A stump says -1 up to a threshold of one column, and 1 above it. There is one for each gap
    between values of a column, column by column; a negative coefficient turns it around.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows that give the thresholds: numbers without missing values.
    at : array-like of shape (n_others, n_features) or None, default=None
        Rows to evaluate the same stumps on; None is X.

    Returns
    -------
    basis : ndarray of float64, shape (n_stumps, n_others)
        -1 and 1.

    Examples
    --------
    >>> from committee.theory import stump_basis
    >>> stump_basis([[1.0], [2.0], [5.0]]).tolist()
    [[-1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]]
    """
    rows = _matrix(X, "X")
    others = rows if at is None else _matrix(at, "at")
    if others.shape[1] != rows.shape[1]:
        raise ValueError(f"at must have {rows.shape[1]} columns; got {others.shape[1]}")
    stumps = []
    for column, other in zip(rows.T, others.T, strict=True):
        distinct = np.unique(column)
        thresholds = (distinct[:-1] + distinct[1:]) / 2
        stumps.append(np.where(other > thresholds[:, np.newaxis], 1.0, -1.0))
    if not any(len(each) for each in stumps):
        raise ValueError("X must have a column of two values or more; got constants only")
    return np.concatenate(stumps)


def _matrix(given: Any, name: str = "basis") -> Floats:
    values = np.asarray(given, np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"{name} must have two dimensions; got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must hold finite numbers")
    return values


def _one_score_loss(loss: Any) -> Loss:
    is_of_classes = isinstance(loss, str) and loss in ("exponential", "log_loss")
    if not is_of_classes and isinstance(loss, Loss) and loss.n_classes is not None:
        is_of_classes = True
    found = get_loss(loss, n_classes=2 if is_of_classes else None)
    if found.n_scores != 1:
        raise ValueError(f"loss must have one score a row; got {found!r}")
    return found


@dataclass(frozen=True, eq=False)
class _Lines:
    """The loss along the line ``scores + alpha * h`` for each function h of a basis.

    Losses are taken row by row, so all lines are one long table.
    """

    loss: Loss
    y: Floats
    scores: Floats
    functions: Floats

    def mean_losses(self, alphas: Floats) -> Floats:
        """Return the mean loss at a coefficient for each function."""
        losses = self.loss.row_losses(*self._at(alphas))
        return np.asarray(losses.reshape(self.functions.shape).mean(axis=1))

    def best_coefficients(self) -> Floats:
        """Return the coefficients with the least loss: the slope changes its sign there."""
        signs = -np.sign(self._slopes(np.zeros(len(self.functions))))
        low, high = np.zeros(len(signs)), np.ones(len(signs))
        for _ in range(_DOUBLINGS):
            falls = signs * self._slopes(signs * high) < 0
            low, high = np.where(falls, high, low), np.where(falls, 2 * high, high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            falls = signs * self._slopes(signs * middle) < 0
            low, high = np.where(falls, middle, low), np.where(falls, high, middle)
        return np.asarray(signs * (low + high) / 2)

    def _slopes(self, alphas: Floats) -> Floats:
        gradients, _ = self.loss.gradients(*self._at(alphas))
        products = gradients.reshape(self.functions.shape) * self.functions
        return np.asarray(products.sum(axis=1))

    def _at(self, alphas: Floats) -> tuple[Floats, Floats]:
        scores = self.scores + alphas[:, np.newaxis] * self.functions
        return np.tile(self.y, len(self.functions)), scores.ravel()


def _first_least(values: Floats) -> int:
    least = values.min()
    return int(np.flatnonzero(values <= least + _EQUAL * abs(least))[0])
