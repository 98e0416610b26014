r"""How good a majority of members is, and how many members a wanted error takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_choice, check_int, check_real, is_real
from committee.theory.wrong_counts import (
    MOST_MEMBERS,
    BetaBinomial,
    Binomial,
    GaussianCopula,
    poisson_binomial,
    tail_share,
)

_TIES = {"half": 0.5, "wrong": 1.0, "right": 0.0}
_MODELS = ("beta_binomial", "gaussian_copula")

Law = Binomial | BetaBinomial | GaussianCopula


def majority_error(
    n: float,
    p: float | Sequence[float] | Floats,
    *,
    tie: str = "half",
    correlation: float = 0.0,
    dependence: str | None = None,
) -> float:
    r"""Error of the majority vote of members with known error rates.

    Lectures: 21 members at 0.3 (Charles), B members at 0.4 (Tor Vergata), 11 at 0.25 (Sharif).

    .. math:: \sum_{k > n/2} \binom{n}{k} p^k (1 - p)^{n - k}
        \; + \; t \binom{n}{n/2} \bigl(p (1 - p)\bigr)^{n/2} \; [n \text{ even}]

    with t = 1/2, 1 or 0 by `tie`; the sum of the Poisson binomial law for unequal members.

    Parameters
    ----------
    n : int
        Number of members. ``math.inf`` gives what infinitely many members reach.
    p : float, or sequence of float of length n
        Probability that a member is wrong, between 0 and 1; one for all members, or one each.
    tie : {"half", "wrong", "right"}, default="half"
        What a tie of an even number is: a coin is tossed, always wrong, or always right. The sum
        that starts at n / 2 + 1, as some slides write it, takes all ties as right.
    correlation : float, default=0.0
        Correlation of the errors of two members: of the 0-1 variables "is wrong", as `diversity`
        measures it. For unequal members their mean over pairs.
    dependence : {"beta_binomial", "gaussian_copula"} or None, default=None
        How members are correlated. "beta_binomial": rows differ in difficulty, so that the error
        rate of a row is drawn from a beta law with the mean p. "gaussian_copula": member i is
        wrong where a normal variable is below its threshold, and a part of these variables is
        common to all members; only this one knows unequal members. None is "beta_binomial" for one
        p and "gaussian_copula" for several.

    Returns
    -------
    error : float
        Probability that the majority is wrong.

    Notes
    -----
    Limits: two classes (with more, wrong members may disagree with each other, and the majority is
    better than this says); equal votes; members that are as good on every row, or whose rows
    differ as the model of `dependence` has it. Both models correlate all pairs alike and know no
    negative correlation, with which members make up for each other and do better than independent
    ones. With correlated errors the majority does not go to zero: `n` = ``math.inf`` gives the
    limit. The copula is integrated numerically, to about 1e-12.

    Examples
    --------
    >>> from committee.theory import majority_error
    >>> round(majority_error(21, 0.3), 8)
    0.02638994
    >>> [round(majority_error(20, 0.4, tie=tie), 4) for tie in ("right", "half", "wrong")]
    [0.1275, 0.1861, 0.2447]
    >>> round(majority_error(3, [0.1, 0.2, 0.3]), 3)
    0.098
    >>> round(majority_error(21, 0.3, correlation=0.2), 3)
    0.199
    """
    law = _law(n, p, correlation, dependence)
    check_choice("tie", tie, tuple(_TIES))
    if isinstance(law, Binomial | BetaBinomial | GaussianCopula):
        return law.majority_error(n, _TIES[tie])
    return tail_share(law, _TIES[tie])


def wrong_members(
    n: int,
    p: float | Sequence[float] | Floats,
    *,
    correlation: float = 0.0,
    dependence: str | None = None,
) -> Floats:
    """Probability of each number of wrong members: the bars of the Charles lecture.

    Parameters
    ----------
    n : int
        Number of members.
    p : float, or sequence of float of length n
        Probability that a member is wrong, one for all or one each.
    correlation : float, default=0.0
        Correlation of the errors of two members, see `majority_error`.
    dependence : {"beta_binomial", "gaussian_copula"} or None, default=None
        How members are correlated, see `majority_error`.

    Returns
    -------
    probabilities : ndarray of float64, shape (n + 1,)
        Of 0, 1, ..., n wrong members.

    Examples
    --------
    >>> from committee.theory import wrong_members
    >>> bars = wrong_members(21, 0.3)
    >>> round(float(bars[11]), 8), round(float(bars[:11].sum()), 7)
    (0.01764978, 0.9736101)
    """
    if is_real(n) and math.isinf(n):
        raise ValueError(f"n must be an int in [1, {MOST_MEMBERS}]; got {n!r}")
    law = _law(n, p, correlation, dependence)
    if isinstance(law, Binomial | BetaBinomial | GaussianCopula):
        return law.counts(check_int("n", n, 1, MOST_MEMBERS))
    return law


def members_needed(
    error: float,
    p: float,
    *,
    correlation: float = 0.0,
    dependence: str | None = None,
) -> int | None:
    """Fewest members whose majority has at most a wanted error.

    Only odd numbers are considered: with a coin for ties, one member more than an odd number
    changes nothing.

    Parameters
    ----------
    error : float
        The error that is wanted.
    p : float
        Probability that a member is wrong.
    correlation : float, default=0.0
        Correlation of the errors of two members, see `majority_error`.
    dependence : {"beta_binomial", "gaussian_copula"} or None, default=None
        How members are correlated, see `majority_error`.

    Returns
    -------
    n : int or None
        The number of members; None if no number of them reaches the error.

    Notes
    -----
    Limits: those of `majority_error`. The formula asks for new members that are as good as the old
    ones and no more alike; members of a real ensemble come from the same rows.

    Examples
    --------
    >>> from committee.theory import members_needed
    >>> members_needed(0.01, 0.3), members_needed(0.01, 0.4)
    (31, 133)
    >>> members_needed(0.01, 0.3, correlation=0.2) is None
    True
    """
    wanted = check_real("error", error, 0.0, 1.0)
    p = check_real("p", p, 0.0, 1.0)

    def found(n: float) -> float:
        return majority_error(n, p, correlation=correlation, dependence=dependence)

    if found(1) <= wanted:
        return 1
    if p >= 0.5 or found(math.inf) >= wanted:
        return None
    most = 2**52 if correlation == 0 else MOST_MEMBERS // 2 - 1
    low, high = 0, 1  # numbers 2 k + 1 of members: too few, and perhaps enough
    while found(2 * high + 1) > wanted:
        if high >= most:
            raise ValueError(
                f"error must leave room above its limit {found(math.inf):.6g}: more than "
                f"{2 * most + 1} correlated members are needed; got {error!r}"
            )
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if found(2 * middle + 1) > wanted else (low, middle)
    return 2 * high + 1


def _law(n: Any, p: Any, correlation: Any, dependence: Any) -> Law | Floats:
    """Check what was given; return the law, or the law's values for unequal independent members."""
    check_choice("dependence", dependence, _MODELS, none=True)
    rho = check_real("correlation", correlation, 0.0, 1.0)
    is_infinite = is_real(n) and math.isinf(n) and n > 0
    size = 0 if is_infinite else check_int("n", n, 1)
    if np.ndim(p) == 0:
        rate = check_real("p", p, 0.0, 1.0)
        if rho == 0 or rate in (0.0, 1.0):
            return Binomial(rate)
        if rho == 1:  # all members are one
            return BetaBinomial(rate, np.nextafter(1.0, 0.0))
        if dependence == "gaussian_copula":
            return GaussianCopula.of_correlation(np.array([rate]), rho)
        if size > MOST_MEMBERS:
            raise ValueError(
                f"n must be an int in [1, {MOST_MEMBERS}] or math.inf for correlated members; got "
                f"{n!r}"
            )
        return BetaBinomial(rate, rho)
    rates = _rates(n, size, p)
    if rho == 0:
        return poisson_binomial(rates)
    if dependence == "beta_binomial":
        raise ValueError(
            'dependence must be "gaussian_copula" or None for members with error rates of their '
            f"own; got {dependence!r}"
        )
    if ((rates == 0) | (rates == 1)).any():
        raise ValueError("p must be above 0 and below 1 for correlated members; got 0 or 1")
    return GaussianCopula.of_correlation(rates, rho)


def _rates(n: Any, size: int, p: Any) -> Floats:
    rates = np.asarray(p, np.float64)
    if rates.shape != (size,):
        raise ValueError(f"p must be one number or n = {n} of them; got shape {rates.shape}")
    if not ((rates >= 0) & (rates <= 1)).all():
        raise ValueError(
            f"p must hold numbers in [0, 1]; got {rates[~((rates >= 0) & (rates <= 1))][0]}"
        )
    return rates
