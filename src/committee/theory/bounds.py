r"""How fast boosting lowers the training error: the bounds that follow from errors of learners."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_int, check_real


@dataclass(frozen=True, eq=False)
class BoostingBound:
    """Bounds of the training error after each round; see `boosting_bound`.

    Attributes
    ----------
    product : ndarray of float64, shape (n_rounds,)
        Product of the normalizers Z of the rounds so far.
    exponential : ndarray of float64, shape (n_rounds,)
        Exponential of minus twice the sum of the squared edges: simpler, and never below `product`.
    edges : ndarray of float64, shape (n_rounds,)
        By how much each learner is better than one half, gamma; negative where it is worse, and
        votes for the other class.
    """

    product: Floats
    exponential: Floats
    edges: Floats


def boosting_bound(errors: Any, *, learning_rate: float = 1.0) -> BoostingBound:
    r"""Bounds of AdaBoost's training error by the weighted errors of its learners.

    Lecture: Oxford. Each round multiplies the mean of the exponential loss, which is above the
    training error, by its Z. With edges :math:`\gamma_t = \frac12 - \epsilon_t`,

    .. math:: \text{training error} \le \prod_t 2 \sqrt{\epsilon_t (1 - \epsilon_t)}
        \le \exp\Bigl(-2 \sum_t \gamma_t^2\Bigr)

    Parameters
    ----------
    errors : array-like of float, shape (n_rounds,)
        Weighted error of each learner in the distribution it was fitted to, between 0 and 1:
        ``trace_.error`` of a fitted `AdaBoostClassifier`.
    learning_rate : float, default=1.0
        Factor :math:`\eta` of the weights of votes, above 0 and at most 2. Then Z is
        :math:`\epsilon^{1 - \eta/2} (1 - \epsilon)^{\eta/2} + \epsilon^{\eta/2}
        (1 - \epsilon)^{1 - \eta/2}`, and the exponent :math:`-2 \eta (2 - \eta) \sum \gamma_t^2`.

    Returns
    -------
    bound : BoostingBound
        `product`, `exponential` and `edges`, an entry for each round.

    Notes
    -----
    Limits: two classes, or several with errors below one half (AdaBoost.M1), and members that vote
    for a class. It is about the rows of training. It shows that the error falls exponentially as
    long as learners keep an edge, and it is far above the error itself; no forecast.

    For other learning rates: Z = cosh((1 - eta) b) / cosh(b) with b half the log-odds and tanh(b)
    = 2 gamma, and log cosh(b) - log cosh(x b) is at least tanh(b)^2 (1 - x^2) / 2 for x in [-1, 1].

    Examples
    --------
    >>> from committee import AdaBoostClassifier
    >>> from committee.datasets import load_ten_points
    >>> from committee.theory import boosting_bound
    >>> model = AdaBoostClassifier(n_estimators=3, criterion="error").fit(*load_ten_points())
    >>> bound = boosting_bound(model.trace_.error)
    >>> bound.product.round(3).tolist(), bound.exponential.round(3).tolist()
    ([0.917, 0.752, 0.516], [0.923, 0.784, 0.602])
    >>> model.trace_.train_error.round(3).tolist()
    [0.3, 0.3, 0.0]
    """
    epsilon = _errors(errors)
    eta = check_real("learning_rate", learning_rate, 0.0, 2.0, include_low=False)
    right = 1.0 - epsilon
    normalizers = epsilon ** (1 - eta / 2) * right ** (eta / 2)
    normalizers += epsilon ** (eta / 2) * right ** (1 - eta / 2)
    edges = 0.5 - epsilon
    exponent: Floats = -2 * eta * (2 - eta) * np.cumsum(edges**2)
    products = np.asarray(np.cumprod(normalizers), np.float64)
    return BoostingBound(products, np.exp(exponent), np.asarray(edges))


def margin_bound(errors: Any, margin: float) -> Floats:
    r"""Bound of the share of training rows with at most a margin, after each round.

    .. math:: \prod_t 2 \sqrt{\epsilon_t^{1 - \theta} (1 - \epsilon_t)^{1 + \theta}}

    for the margin :math:`\theta` (Schapire, Freund, Bartlett and Lee 1998, theorem 5). With a
    margin of zero this is the product of `boosting_bound`.

    Parameters
    ----------
    errors : array-like of float, shape (n_rounds,)
        Weighted error of each learner, see `boosting_bound`.
    margin : float
        At least 0 and below 1, in the units of `margins`: the sum of the votes for a row's class
        less those against it, over the sum of all.

    Returns
    -------
    bound : ndarray of float64, shape (n_rounds,)
        It falls to zero if all edges are above the margin.

    Notes
    -----
    Limits: those of `boosting_bound`, with a learning rate of one. The theory of margins bounds the
    error on new rows, too, by this share and a term that does not grow with the number of rounds;
    that term is above one for most tables, and so it explains more than it forecasts.

    Examples
    --------
    >>> from committee.theory import margin_bound
    >>> [round(float(margin_bound([0.3] * 100, margin)[-1]), 4) for margin in (0.0, 0.1, 0.2)]
    [0.0002, 0.0113, 0.7829]
    """
    epsilon = np.minimum(_errors(errors), 1.0 - _errors(errors))  # of the reversed learner
    theta = check_real("margin", margin, 0.0, 1.0, include_high=False)
    factors = 2 * np.sqrt(epsilon ** (1 - theta) * (1 - epsilon) ** (1 + theta))
    return np.asarray(np.cumprod(factors))


def rounds_needed(edge: float, n_rows: int) -> int:
    r"""Return how many rounds leave boosting no training error, if all learners have an edge.

    Lecture: Oxford, on weak and strong learning. An error below 1 / n is none, so

    .. math:: T > \frac{\ln n}{-\ln(2 \sqrt{(1/2 - \gamma)(1/2 + \gamma)})}
        \quad\text{suffices, which is at most}\quad \frac{\ln n}{2 \gamma^2}

    Parameters
    ----------
    edge : float
        By how much every learner is better than one half, gamma, above 0 and below 1/2.
    n_rows : int
        Training rows.

    Returns
    -------
    n_rounds : int
        The least T for which the product of `boosting_bound` is below 1 / n.

    Notes
    -----
    Limits: the edge has to hold in every round, for whatever weights boosting comes to. That is
    what weak learnability means, and `majority_table` has tables for which it is known. Boosting
    usually needs far fewer rounds.

    Examples
    --------
    >>> from committee.theory import rounds_needed
    >>> rounds_needed(0.1, 1000), rounds_needed(0.01, 1000)
    (339, 34532)
    """
    gamma = check_real("edge", edge, 0.0, 0.5, include_low=False, include_high=False)
    size = check_int("n_rows", n_rows, 1)
    per_round = -0.5 * math.log1p(-4 * gamma * gamma)
    return int(math.log(size) / per_round) + 1


def _errors(errors: Any) -> Floats:
    epsilon = np.asarray(errors, np.float64)
    if epsilon.ndim != 1:
        raise ValueError(f"errors must be a list of numbers; got shape {epsilon.shape}")
    if not ((epsilon >= 0) & (epsilon <= 1)).all():
        wrong = epsilon[~((epsilon >= 0) & (epsilon <= 1))][0]
        raise ValueError(f"errors must hold numbers in [0, 1]; got {wrong}")
    return epsilon
