"""Strength and correlation of members that vote, after Breiman (2001), and the margins of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.base.arrays import Floats
from committee.inspection.studied_rows import Block
from committee.theory.margins import margins_of_codes


@dataclass(frozen=True)
class VoteStrength:
    """How sure a vote is, and what follows for its error.

    The margin of a row is the share of votes for its class, less the largest share of another.

    Attributes
    ----------
    strength : float
        Mean margin, s.
    correlation : float
        Correlation of two members in being right or predicting the strongest of the wrong classes:
        the variance of the margin over the squared mean of the deviations of members. NaN if all
        members are right on every row.
    majority_error : float
        Share of rows for which the weighted majority is wrong. A tie goes to the first class.
    """

    strength: float
    correlation: float
    majority_error: float

    @property
    def bound(self) -> float:
        """Breiman's bound of the error, correlation (1 - s^2) / s^2; one where it says nothing."""
        if not self.strength > 0:
            return 1.0
        if np.isnan(self.correlation):
            return 0.0
        return min(1.0, self.correlation * (1 - self.strength**2) / self.strength**2)


class VoteTally:
    """Adds up margins, block of rows by block.

    Parameters
    ----------
    weights : ndarray of float64
        Of the members, with a sum of one.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1], [1, 1, 1]])  # of two rows, by three members
    >>> truth, predictions = np.array([0, 1]), np.eye(2)[codes].transpose(1, 0, 2)
    >>> tally = VoteTally(np.full(3, 1 / 3))
    >>> block = Block(np.ones(2), np.eye(2)[truth], truth, predictions, codes, None, truth)
    >>> tally.add(block).round(2).tolist()
    [0.33, 1.0]
    >>> round(tally.result().strength, 3)
    0.667
    """

    def __init__(self, weights: Floats) -> None:
        self._weights, self._total = weights, 0.0
        self._sum, self._square, self._wrong = 0.0, 0.0, 0.0
        self._sums, self._squares = np.zeros(len(weights)), np.zeros(len(weights))

    def add(self, block: Block) -> Floats:
        """Add rows, and return their margins."""
        assert block.codes is not None
        assert block.true_codes is not None
        n_rows = len(block.weights)
        rows = np.arange(n_rows)
        shares = np.zeros(block.truth.shape)
        for weight, codes in zip(self._weights, block.codes.T, strict=True):
            shares[rows, codes] += weight
        margins = margins_of_codes(shares, block.true_codes)
        others = shares.copy()
        others[rows, block.true_codes] = -np.inf
        rival = others.argmax(axis=1)[:, np.newaxis]
        truth = block.true_codes[:, np.newaxis]
        raw = (block.codes == truth).astype(np.float64) - (block.codes == rival)
        self._total += float(block.weights.sum())
        self._sum += float((margins * block.weights).sum())
        self._square += float((margins**2 * block.weights).sum())
        self._wrong += float(block.weights[shares.argmax(axis=1) != block.true_codes].sum())
        self._sums += (raw * block.weights[:, np.newaxis]).sum(axis=0)
        self._squares += (raw**2 * block.weights[:, np.newaxis]).sum(axis=0)
        return margins

    def result(self) -> VoteStrength:
        """Return what all rows that were added say."""
        mean = self._sum / self._total
        variance = max(self._square / self._total - mean**2, 0.0)
        means = self._sums / self._total
        deviations = np.sqrt(np.maximum(self._squares / self._total - means**2, 0.0))
        spread = float((self._weights * deviations).sum())
        correlation = variance / spread**2 if spread > 0 else np.nan
        return VoteStrength(mean, correlation, self._wrong / self._total)
