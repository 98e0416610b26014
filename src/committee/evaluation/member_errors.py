r"""Squared errors of the members of a committee, two by two, and what follows for their mean.

With the error :math:`e_i` of member i on a row and weights that add up to one, the error of the
mean is :math:`\bar e = \sum_i w_i e_i`, and all that is known of combining squared errors is in the
mean products :math:`E[e_i e_j]`: the error of each member (the diagonal), that of the mean
(:math:`w^T E w`), and those of means of fewer or more members like these. Errors of probabilities
are vectors with an entry for each class, and products add up over them: squared errors are Brier
scores.

All are sums over rows: rows come in blocks, a row of weight two is that row twice, and one of
weight zero is absent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from committee.base.arrays import Floats
from committee.base.products import row_products, weighted_products
from committee.files.codec_classes import register
from committee.files.parts import Part, array, real, whole
from committee.tables.target import are_repetitions

_ROUNDING = 1e-28  # of squared errors: what is left of a constant after its mean was taken off


@register("MemberErrors")
@dataclass(frozen=True, eq=False)
class MemberErrors:
    """Squared errors of members, of their mean, and of means of other numbers of them.

    Attributes
    ----------
    weights : ndarray of float64, shape (n_members,)
        Weights of the members, with a sum of one.
    products : ndarray of float64, shape (n_members, n_members)
        Mean products of the errors of two members; on the diagonal their squared errors.
    covariances : ndarray of float64, shape (n_members, n_members)
        The same of errors less their means.
    distances : ndarray of float64, shape (n_members, n_members)
        Mean squared distances of the predictions of two members.
    ambiguity : float
        Weighted mean squared distance of the members from their mean.
    combined_error : float
        Squared error of the weighted mean of the members.
    committee_error : float
        Squared error of what the committee predicts, which need not be the mean; NaN if it is not
        known.
    gap, gap_error : float
        Squared error of what the committee predicts less that of the mean, and the standard error
        of the difference.
    constant_error : float
        Squared error of the best constant: the mean, or the shares of the classes.
    harm, harm_error : ndarray of float64, shape (n_members,)
        Squared error of the mean less that of the mean without a member, and the standard error of
        the difference. A member with positive harm makes the mean worse.
    excess, excess_error : ndarray of float64, shape (n_members,)
        Squared error of a member less that of the committee, and the standard error.
    n_rows : int
        Rows of positive weight.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "weights": array("f8", "members", finite=True),
        "products": array("f8", "members", "members", finite=True),
        "covariances": array("f8", "members", "members", finite=True),
        "distances": array("f8", "members", "members", finite=True),
        "ambiguity": real(),
        "combined_error": real(0.0),
        "committee_error": real(0.0, may_be_nan=True),
        "gap": real(may_be_nan=True),
        "gap_error": real(0.0, may_be_nan=True),
        "constant_error": real(0.0),
        "harm": array("f8", "members"),
        "harm_error": array("f8", "members"),
        "excess": array("f8", "members"),
        "excess_error": array("f8", "members"),
        "n_rows": whole(1),
    }

    weights: Floats
    products: Floats
    covariances: Floats
    distances: Floats
    ambiguity: float
    combined_error: float
    committee_error: float
    gap: float
    gap_error: float
    constant_error: float
    harm: Floats
    harm_error: Floats
    excess: Floats
    excess_error: Floats
    n_rows: int

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def errors(self) -> Floats:
        """Squared error of each member."""
        return np.diag(self.products).copy()

    @property
    def mean_error(self) -> float:
        """Weighted mean of the squared errors: E_av."""
        return float((self.weights * self.errors).sum())

    @property
    def correlation(self) -> Floats:
        """Correlation of the errors of two members; NaN where errors are always the same."""
        squares = np.diag(self.covariances)
        spread = np.sqrt(np.where(squares > _ROUNDING * self.errors, squares, 0.0))
        return np.clip(ratio(self.covariances, np.outer(spread, spread)), -1.0, 1.0)

    @property
    def gain(self) -> float:
        """Share of the average member's error that the mean takes away: A / E_av."""
        return self.ambiguity / self.mean_error if self.mean_error > 0 else 0.0

    @property
    def limit(self) -> float:
        """Squared error that a mean of infinitely many members like these would have.

        The mean product of the errors of two different members; NaN for a single one.
        """
        n_members = len(self)
        if n_members < 2:
            return math.nan
        of_pairs = float(self.products.sum() - self.errors.sum())
        return of_pairs / (n_members * (n_members - 1))

    def at(self, n_members: int) -> float:
        """Return the squared error of a mean of so many members, with equal weights.

        This is `limit + (mean - limit) / n_members` with the mean squared error of a member: what
        random members of these have on average, and for more members what to expect of more of
        the same kind.
        """
        if n_members == 1:
            return float(self.errors.mean())
        return self.limit + (float(self.errors.mean()) - self.limit) / n_members

    def members_for(self, excess: float) -> float:
        """Return how many members bring the error within a share of the limit; maybe infinite."""
        if not self.limit > 0:
            return math.inf
        room = float(self.errors.mean()) - self.limit
        return max(1, math.ceil(room / (excess * self.limit) - 1e-9))

    @property
    def worth(self) -> float:
        """As many members with uncorrelated errors would do as well as these: E_av / E_c."""
        return self.mean_error / self.combined_error if self.combined_error > 0 else math.inf


class MemberTally:
    """Adds up what `MemberErrors` needs, block of rows by block.

    Parameters
    ----------
    weights : ndarray of float64
        Of the members, with a sum of one.
    n_values : int
        Values of a prediction: classes, or one number.

    Examples
    --------
    >>> tally = MemberTally(np.array([0.5, 0.5]), 1)
    >>> predictions = np.array([[1.0, 4.0], [3.0, 2.0]])[:, :, np.newaxis]
    >>> tally.add(predictions, np.array([[1.0], [2.0]]), np.ones(2))
    >>> found = tally.result()
    >>> found.errors.tolist(), found.combined_error, found.ambiguity
    ([2.0, 2.0], 1.0, 1.0)
    >>> found.limit, found.at(2), found.harm.tolist()
    (0.0, 1.0, [-1.0, -1.0])
    """

    def __init__(self, weights: Floats, n_values: int) -> None:
        n_members = len(weights)
        self._weights, self._n_rows = weights, 0
        self._spread = np.zeros((n_members, n_members))  # products of distances from the mean
        self._cross = np.zeros(n_members)  # of these distances and the error of the mean
        self._combined, self._ambiguity = 0.0, 0.0
        self._squares = np.zeros(n_members)
        self._errors = _Moments((n_members, n_values))
        self._truth = _Moments((1, n_values))
        self._harm, self._excess = _Moments((n_members, 1)), _Moments((n_members, 1))
        self._own, self._gap = _Moments((1, 1)), _Moments((1, 1))

    def add(
        self, predictions: Floats, truth: Floats, weights: Floats, own: Floats | None = None
    ) -> None:
        """Add rows.

        Parameters
        ----------
        predictions : ndarray of float64, shape (n_members, n_rows, n_values)
            Predictions of the members.
        truth : ndarray of float64, shape (n_rows, n_values)
            Numbers, or a one for the class of a row.
        weights : ndarray of float64, shape (n_rows,)
            All positive.
        own : ndarray of float64, shape (n_rows, n_values), or None
            What the committee predicts; None is the mean.
        """
        errors = predictions - truth  # first, or small errors of large numbers lose their digits
        mean = np.einsum("m,mrv->rv", self._weights, errors)
        away = errors - mean
        n_members, _, n_values = away.shape
        flat = away.reshape(n_members, -1)
        by_value = np.repeat(weights, n_values)
        cross, squares = np.einsum("mrv,rv->mr", away, mean), (away**2).sum(axis=2)
        self._spread += weighted_products(flat, by_value)
        self._cross += _weighted_sum(cross, weights)
        self._squares += _weighted_sum((errors**2).sum(axis=2), weights)
        self._ambiguity += float((self._weights * _weighted_sum(squares, weights)).sum())
        combined = (mean**2).sum(axis=1)
        self._combined += float(_weighted_sum(combined, weights))
        found = combined if own is None else ((own - truth) ** 2).sum(axis=1)
        self._own.add(found[np.newaxis, :, np.newaxis], weights)
        self._gap.add((found - combined)[np.newaxis, :, np.newaxis], weights)
        self._n_rows += len(weights)
        self._errors.add(errors, weights, products=True)
        self._truth.add(truth[np.newaxis], weights)
        share = (self._weights / np.where(self._weights < 1, 1 - self._weights, np.nan))[:, None]
        # The mean without a member is off by `mean - share * away`.
        self._harm.add((2 * share * cross - share**2 * squares)[:, :, np.newaxis], weights)
        self._excess.add((2 * cross + squares + combined - found)[:, :, np.newaxis], weights)

    def result(self) -> MemberErrors:
        """Return the errors of all rows that were added."""
        total = self._errors.weight
        spread, cross, combined = self._spread / total, self._cross / total, self._combined / total
        diagonal = np.diag(spread)
        products = spread + cross + cross[:, np.newaxis] + combined
        np.fill_diagonal(products, self._squares / total)  # exactly zero for no error
        harm, harm_error = self._harm.mean_and_error()
        excess, excess_error = self._excess.mean_and_error()
        gap, gap_error = self._gap.mean_and_error()
        return MemberErrors(
            weights=self._weights,
            products=products,
            covariances=self._errors.products / total,
            distances=np.maximum(diagonal + diagonal[:, np.newaxis] - 2 * spread, 0.0),
            ambiguity=self._ambiguity / total,
            combined_error=combined,
            committee_error=self._own.mean_and_error()[0].item(),
            gap=gap.item(),
            gap_error=gap_error.item(),
            constant_error=float(self._truth.squares.sum()) / total,
            harm=harm,
            harm_error=harm_error,
            excess=excess,
            excess_error=excess_error,
            n_rows=self._n_rows,
        )


class _Moments:
    """Means and squares about them, block by block without cancellation."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.weight = 0.0
        self._means, self.squares = np.zeros(shape), np.zeros(shape)
        self.products = np.zeros((shape[0], shape[0]))
        self._weights: list[Floats] = []

    def add(self, values: Floats, weights: Floats, *, products: bool = False) -> None:
        """Add rows of shape (n_members, n_rows, n_values)."""
        weight = float(weights.sum())
        means = np.einsum("mrv,r->mv", values, weights) / weight
        rest = values - means[:, np.newaxis]
        step = means - self._means
        both = self.weight + weight
        factor = self.weight * weight / both
        self.squares += np.einsum("mrv,r->mv", rest**2, weights) + step**2 * factor
        if products:
            flat = rest.reshape(len(rest), -1)
            self.products += weighted_products(flat, np.repeat(weights, values.shape[2]))
            self.products += row_products(step, step) * factor
        self._means += step * (weight / both)
        self.weight = both
        self._weights.append(weights)

    def mean_and_error(self) -> tuple[Floats, Floats]:
        """Return the means of single values and their standard errors."""
        counts = as_counts(np.concatenate(self._weights)).sum()
        variance = self.squares[:, 0] / self.weight
        return self._means[:, 0].copy(), np.sqrt(variance / max(counts - 1.0, 1e-300))


def as_counts(weights: Floats) -> Floats:
    """Return weights as numbers of rows: whole ones as they are, others with a mean of one."""
    return weights if are_repetitions(weights) else weights / weights.mean()


def ratio(above: Floats, below: Floats) -> Floats:
    """Return quotients; NaN where there is nothing to divide by."""
    return np.asarray(np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0))


def _weighted_sum(values: Floats, weights: Floats) -> Floats:
    """Return the sum over the last axis."""
    return np.asarray(np.einsum("...r,r->...", values, weights))
