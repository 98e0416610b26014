r"""What the mean of several predictions gains: `committee_error` and `average_variance`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_int, check_real, is_real
from committee.base.products import weighted_sum
from committee.tables.target import read_weights


def average_variance(rho: float, sigma2: float, n_members: float) -> float:
    r"""Variance of the mean of correlated members.

    Lecture: Littoral, for trees of a forest.

    .. math:: \rho \sigma^2 + \frac{1 - \rho}{B} \sigma^2

    Parameters
    ----------
    rho : float
        Correlation of two members. It may be negative, but not below -1 / (B - 1).
    sigma2 : float
        Variance of a member.
    n_members : int
        Number of members, B. ``math.inf`` gives the limit, rho sigma2.

    Returns
    -------
    variance : float
        Of their mean.

    Notes
    -----
    Limits: all members vary as much, and all pairs correlate alike; for others the formula holds
    with the means over members and pairs. More members remove the second part only. With mean
    squares and mean products of errors in place of variances it gives the error of a committee,
    see `committee_error`; `RandomForestClassifier.variance_decomposition` measures both for
    forests.

    Examples
    --------
    >>> from committee.theory import average_variance
    >>> round(average_variance(0.3, 1.0, 10), 3), round(average_variance(0.3, 1.0, 100), 3)
    (0.37, 0.307)
    """
    rho = check_real("rho", rho, -1.0, 1.0)
    sigma2 = check_real("sigma2", sigma2, 0.0)
    if not (is_real(n_members) and n_members == math.inf):
        check_int("n_members", n_members, 1)
    variance = variance_of_mean(rho, sigma2, n_members)
    if variance < -1e-12 * sigma2:
        raise ValueError(
            f"rho must be at least -1 / (n_members - 1) = {-1 / (n_members - 1):.6g}, or the mean "
            f"would have a negative variance; got {rho!r}"
        )
    return max(variance, 0.0)


def variance_of_mean(rho: float, sigma2: float, n_members: float) -> float:
    """Return `average_variance` of estimates, which may be out of range by chance, or NaN.

    Examples
    --------
    >>> round(variance_of_mean(-0.01, 1.0, 1000), 4)
    -0.009
    """
    return rho * sigma2 + (1 - rho) / n_members * sigma2


@dataclass(frozen=True, repr=False)
class CommitteeError:
    """What averaging does to squared errors; see `committee_error`.

    Attributes
    ----------
    committee : float
        Error of the mean of the members, E_c.
    average : float
        Mean error of the members, E_av.
    ambiguity : float
        Mean squared distance of the members from their mean; E_c = E_av - ambiguity.
    correlation : float
        Mean product of the errors of two members over E_av: what they have in common. It counts
        a common bias, unlike a correlation of centred errors. NaN for one member or none wrong.
    n_members : float
        Number of members; with weights the number of equal ones that would count as much,
        1 / sum of squared weights.
    n_rows : int
        Rows of positive weight.
    """

    committee: float
    average: float
    ambiguity: float
    correlation: float
    n_members: float
    n_rows: int

    @property
    def independent(self) -> float:
        """What the committee would have if errors were uncorrelated: E_av / m."""
        return self.average / self.n_members

    @property
    def limit(self) -> float:
        """What more members of this kind lead to: correlation times E_av."""
        return self.correlation * self.average

    def at(self, n_members: float) -> float:
        """Return the expected error of so many members of this kind.

        Parameters
        ----------
        n_members : int
            With ``math.inf`` this is `limit`.

        Returns
        -------
        error : float
            By the formula of `average_variance`. With equal weights, ``at(n_members)`` of the
            committee itself is its error.
        """
        if not (is_real(n_members) and n_members == math.inf):
            check_int("n_members", n_members, 1)
        return variance_of_mean(self.correlation, self.average, n_members)

    def __repr__(self) -> str:
        return (
            f"CommitteeError of {self.n_members:.4g} members on {self.n_rows} rows: E_c "
            f"{self.committee:.4g} = E_av {self.average:.4g} - ambiguity {self.ambiguity:.4g}\n"
            f"  uncorrelated errors would give {self.independent:.4g}; correlation "
            f"{self.correlation:.3g}, so more members lead to {self.limit:.4g}"
        )


def committee_error(
    predictions: Any, y: Any, *, weights: Any = None, sample_weight: Any = None
) -> CommitteeError:
    r"""Squared error of a mean of predictions beside that of the members.

    Lecture: Tor Vergata. With errors :math:`\varepsilon_i(x)` of m members,

    .. math:: E_{av} = \frac1m \sum_i E_x[\varepsilon_i(x)^2], \qquad
        E_c = E_x\Bigl[\bigl(\tfrac1m \sum_i \varepsilon_i(x)\bigr)^2\Bigr]
        = E_{av} - \text{ambiguity} = \frac{E_{av}}{m} + \Bigl(1 - \frac1m\Bigr) \rho E_{av}

    where the ambiguity is the mean squared distance of the members from their mean (Krogh and
    Vedelsby 1995), and rho E_av the mean of :math:`E_x[\varepsilon_i \varepsilon_j]` over pairs.
    Uncorrelated errors of mean zero give E_c = E_av / m. Usually they are not, as the slide says.

    Parameters
    ----------
    predictions : array-like of shape (n_members, n_rows) or (n_members, n_rows, n_values)
        What each member predicts: numbers, or probabilities of classes.
    y : array-like of shape (n_rows,) or (n_rows, n_values)
        The truth; for probabilities one for the class of a row, and zero for the others. Squares
        are summed over values: the Brier score of classes.
    weights : array-like of shape (n_members,) or None, default=None
        Weights of the members, at least zero, scaled to a sum of one; None is equal.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows; a row of weight zero is absent.

    Returns
    -------
    result : CommitteeError
        `committee`, `average`, `ambiguity`, `correlation`, `independent`, `limit`, `at(n)`.

    Notes
    -----
    Limits: the identities hold exactly for squared errors and the mean, with any members; not for
    votes or medians. `at(n)` is a forecast for members of the same kind. `diversity` takes a fitted
    committee and compares its pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from committee.theory import committee_error
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=5000)
    >>> found = committee_error(y + rng.normal(size=(10, 5000)), y)  # independent errors
    >>> round(found.average, 2), round(found.committee, 3), round(found.independent, 3)
    (1.0, 0.098, 0.1)
    >>> found = committee_error(y + rng.normal(size=5000) + rng.normal(size=(10, 5000)), y)
    >>> round(found.average, 1), round(found.committee, 1), round(found.limit, 1)
    (2.0, 1.1, 1.0)
    """
    values = _finite("predictions", predictions)
    truth = _finite("y", y)
    if values.ndim not in (2, 3) or 0 in values.shape:
        raise ValueError(
            "predictions must have the shape (n_members, n_rows) or (n_members, n_rows, "
            f"n_values); got {values.shape}"
        )
    if truth.shape != values.shape[1:]:
        raise ValueError(f"y must have the shape {values.shape[1:]}; got {truth.shape}")
    shares = _member_weights(weights, len(values))
    rows = read_weights(sample_weight, values.shape[1])
    rows = np.ones(values.shape[1]) if rows is None else rows
    total = math.fsum(rows)
    # Errors first, or small errors of large numbers lose their digits.
    errors = (values - truth).reshape(len(values), values.shape[1], -1)
    mean = weighted_sum(shares, errors)

    def over_rows(squares: Floats) -> float:
        return math.fsum(rows * squares.sum(axis=-1)) / total

    each = np.array([over_rows(error**2) for error in errors])
    spread = np.array([over_rows((error - mean) ** 2) for error in errors])
    average, ambiguity = math.fsum(shares * each), math.fsum(shares * spread)
    own = math.fsum(shares**2)
    committee = over_rows(mean**2)
    # E_c less the squares, over the products of the weights of two members.
    cross = committee - math.fsum(shares**2 * each)
    correlation = cross / (1 - own) / average if own < 1 and average > 0 else math.nan
    n_rows = int((rows > 0).sum())
    n_members = float(len(shares)) if weights is None else 1 / own
    return CommitteeError(committee, average, ambiguity, correlation, n_members, n_rows)


def _finite(name: str, given: Any) -> Floats:
    values = np.asarray(given, np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must hold finite numbers; got {values[~np.isfinite(values)][0]}")
    return values


def _member_weights(weights: Any, n_members: int) -> Floats:
    if weights is None:
        return np.full(n_members, 1 / n_members)
    values = _finite("weights", weights)
    if values.shape != (n_members,):
        raise ValueError(f"weights must hold {n_members} numbers; got shape {values.shape}")
    if (values < 0).any() or not values.any():
        raise ValueError(f"weights must be at least zero, and not all zero; got {weights!r}")
    return np.asarray(values / math.fsum(values))
