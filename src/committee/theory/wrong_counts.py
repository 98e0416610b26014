"""How many of the members are wrong on a row: the laws of their number.

Independent members with one error rate follow the binomial law, with several the Poisson binomial
law. Two models correlate them. In both a row has a difficulty, and given that, members are
independent: the beta-binomial law draws the error rate of a row from a beta law; the Gaussian
copula shifts the thresholds of normal variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, ndtr, ndtri

from committee.base.arrays import Floats

# The law of the number of wrong members has so many entries at most.
MOST_MEMBERS = 2**22

# Where the standard normal law ends: beyond lies a probability of 1e-17.
_FAR = 8.5
_N_PANELS = 48
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)

# Normal variables that correlate more are the same up to rounding.
_NEARLY_ONE = 1 - 2.0**-40


def tail_share(counts: Floats, tie: float) -> float:
    """Return the probability that a majority is wrong, from that of each number of wrong members.

    Parameters
    ----------
    counts : ndarray of float64, shape (n + 1,)
        Probability of 0, 1, ..., n wrong members.
    tie : float
        Share of ties that are wrong.

    Examples
    --------
    >>> tail_share(np.array([0.25, 0.5, 0.25]), tie=0.5)
    0.5
    """
    n_members = len(counts) - 1
    wrong = math.fsum(counts[n_members // 2 + 1 :])
    if n_members % 2 == 0:
        wrong += tie * float(counts[n_members // 2])
    return min(wrong, 1.0)


def poisson_binomial(p: Floats) -> Floats:
    """Return the probability of each number of events, for independent events of any probability.

    Members are added one by one; nothing is subtracted, so that small probabilities are exact.

    Parameters
    ----------
    p : ndarray of float64, shape (..., n)
        Probabilities.

    Returns
    -------
    counts : ndarray of float64, shape (..., n + 1)
        Probability of 0, 1, ..., n events.

    Examples
    --------
    >>> poisson_binomial(np.array([0.5, 0.5, 0.0])).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    n = p.shape[-1]
    counts = np.zeros((*p.shape[:-1], n + 1))
    counts[..., 0] = 1.0
    for k in range(n):
        happens = p[..., k : k + 1]
        moved = counts[..., : k + 1] * happens
        counts[..., : k + 1] *= 1.0 - happens
        counts[..., 1 : k + 2] += moved
    return counts


@dataclass(frozen=True)
class Binomial:
    """Independent members with one error rate.

    Examples
    --------
    >>> law = Binomial(0.3)
    >>> round(float(law.counts(21)[11]), 8), round(law.majority_error(21, 0.5), 8)
    (0.01764978, 0.02638994)
    """

    p: float

    def counts(self, n: int) -> Floats:
        """Return the probability of 0, 1, ..., n wrong members."""
        if self.p in (0.0, 1.0):
            return np.asarray(np.eye(n + 1)[n * int(self.p)])
        k = np.arange(n)
        return _from_ratios(np.log((n - k) / (k + 1)) + math.log(self.p) - math.log1p(-self.p))

    def majority_error(self, n: float, tie: float) -> float:
        """Return the probability that the majority is wrong."""
        if math.isinf(n):
            return _limit(self.p)
        return float(_majority_error(int(n), np.array([self.p]), tie)[0])


@dataclass(frozen=True)
class BetaBinomial:
    """Members with one error rate, which differs from row to row by a beta law.

    Parameters
    ----------
    p : float
        Mean of the error rate.
    correlation : float
        Correlation of the errors of two members, 1 / (a + b + 1) of the beta law.

    Examples
    --------
    >>> law = BetaBinomial(0.5, 1 / 3)  # uniform error rates, uniform numbers
    >>> law.counts(4).round(12).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """

    p: float
    correlation: float

    @property
    def shape(self) -> tuple[float, float]:
        """The parameters a and b of the beta law."""
        size = (1.0 - self.correlation) / self.correlation
        return self.p * size, (1.0 - self.p) * size

    def counts(self, n: int) -> Floats:
        """Return the probability of 0, 1, ..., n wrong members."""
        a, b = self.shape
        k = np.arange(n)
        return _from_ratios(np.log((n - k) / (k + 1)) + np.log((k + a) / (n - k - 1 + b)))

    def majority_error(self, n: float, tie: float) -> float:
        """Return the probability that the majority is wrong."""
        if math.isinf(n):  # the share of wrong members is the error rate of the row
            a, b = self.shape
            return float(betainc(b, a, 0.5))  # 1 - betainc(a, b, 0.5)
        return tail_share(self.counts(int(n)), tie)


@dataclass(frozen=True, eq=False)
class GaussianCopula:
    """Members of any error rates, wrong where a normal variable falls below a threshold.

    The variables of two members have the correlation `latent`, because they share a part: the
    difficulty of the row.

    Parameters
    ----------
    p : ndarray of float64, shape (n,)
        Error rates; one for any number of members.
    latent : float
        Below one.

    Examples
    --------
    >>> law = GaussianCopula.of_correlation(np.array([0.3]), 0.2)
    >>> round(law.majority_error(math.inf, 0.5), 3), round(law.correlation(), 12)
    (0.18, 0.2)
    """

    p: Floats
    latent: float

    @classmethod
    def of_correlation(cls, p: Floats, correlation: float) -> GaussianCopula:
        """Return the law for which the errors of two members correlate so much on average."""
        highest = _highest_correlation(p)
        if not correlation < highest:
            raise ValueError(
                f"correlation must be below {highest:.6g}, the mean of members with these error "
                f"rates whose errors are nested in each other; got {correlation!r}"
            )

        def excess(latent: float) -> float:
            return cls(p, latent).correlation() - correlation

        if excess(_NEARLY_ONE) <= 0:
            return cls(p, _NEARLY_ONE)
        return cls(p, float(brentq(excess, 0.0, _NEARLY_ONE, xtol=1e-15)))

    def correlation(self) -> float:
        """Return the mean correlation of the errors of two members."""
        z, weights = self._difficulties()
        p = np.repeat(self.p, 2) if len(self.p) == 1 else self.p
        off = (self.rates(z, p) - p) / np.sqrt(p * (1 - p))
        pairs = off.sum(axis=1) ** 2 - (off**2).sum(axis=1)
        return float((weights * pairs).sum()) / (len(p) * (len(p) - 1))

    def rates(self, z: Floats, p: Floats) -> Floats:
        """Return the error rates of members on rows of some difficulties, n_rows x n_members."""
        share = math.sqrt(self.latent)
        return np.asarray(ndtr((ndtri(p) - share * z[:, np.newaxis]) / math.sqrt(1 - self.latent)))

    def counts(self, n: int) -> Floats:
        """Return the probability of 0, 1, ..., n wrong members."""
        p = np.repeat(self.p, n) if len(self.p) == 1 else self.p
        return self._mean(lambda z: poisson_binomial(self.rates(z, p)))

    def majority_error(self, n: float, tie: float) -> float:
        """Return the probability that the majority is wrong."""
        if len(self.p) > 1:
            return tail_share(self.counts(len(self.p)), tie)
        if math.isinf(n):  # the members are wrong on the rows where their rate is above one half
            return float(ndtr(ndtri(self.p[0]) / math.sqrt(self.latent)))

        size = int(n)
        return float(self._mean(lambda z: _majority_error(size, self.rates(z, self.p)[:, 0], tie)))

    def _mean(self, values: Callable[[Floats], Floats]) -> Floats:
        """Return the mean of a function of the difficulty, some of them at a time."""
        z, weights = self._difficulties()
        total: Floats | None = None
        for begin in range(0, len(z), 256):
            rows = slice(begin, begin + 256)
            found = values(z[rows])
            part = (weights[rows].reshape(-1, *[1] * (found.ndim - 1)) * found).sum(axis=0)
            total = part if total is None else total + part
        assert total is not None
        return total

    def _difficulties(self) -> tuple[Floats, Floats]:
        """Return difficulties and their probabilities, by Gauss's rule on panels.

        Panels are narrow where a member is wrong with probability one half: there the majority
        turns, the faster the more members there are and the more they have in common.
        """
        ends = [np.linspace(-_FAR, _FAR, _N_PANELS + 1)]
        if self.latent > 0:
            steps: Floats = np.exp2(np.arange(-22.0, 2.0))
            for p in np.unique(np.quantile(self.p, [0, 0.25, 0.5, 0.75, 1])):
                turn = float(ndtri(p)) / math.sqrt(self.latent)
                ends += [turn - steps, np.array([turn]), turn + steps]
        places = np.unique(np.clip(np.concatenate(ends), -_FAR, _FAR))
        width = np.diff(places)[:, np.newaxis] / 2
        z = (places[:-1, np.newaxis] + width * (1 + _NODES)).ravel()
        density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        weights = density * (width * _WEIGHTS).ravel()
        return z, weights / weights.sum()


def _majority_error(n: int, p: Floats, tie: float) -> Floats:
    """Return the errors of majorities of n independent members, for some error rates."""
    half = n // 2
    wrong = betainc(half + 1, n - half, p)  # half + 1 or more are wrong
    if n % 2 == 0:
        wrong = (1 - tie) * wrong + tie * betainc(half, half + 1, p)
    return np.asarray(wrong)


def _from_ratios(log_ratios: Floats) -> Floats:
    """Return probabilities with a sum of one, from the logarithms of their successive ratios."""
    logs = np.concatenate([[0.0], np.cumsum(log_ratios)])
    values = np.exp(logs - logs.max())
    return np.asarray(values / math.fsum(values))


def _limit(p: float) -> float:
    """Return the error of infinitely many independent members."""
    return 0.0 if p < 0.5 else 0.5 if p == 0.5 else 1.0


def _highest_correlation(p: Floats) -> float:
    """Return the mean correlation of members of whom the better err only where the worse do."""
    if len(p) < 2:
        return 1.0
    low = np.minimum.outer(p, p)
    spread = np.sqrt(p * (1 - p))
    matrix = (low - np.multiply.outer(p, p)) / np.multiply.outer(spread, spread)
    return float((matrix.sum() - np.trace(matrix)) / (len(p) * (len(p) - 1)))
