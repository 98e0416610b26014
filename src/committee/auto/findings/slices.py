"""Slices of the table where the committee does worse than elsewhere.

Each column is cut into groups, and the losses of the rows of a group are compared with those of all
other rows. Among hundreds of groups some look bad by chance, so probabilities are corrected for
their number (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from committee.auto.findings.groups import Groups
from committee.auto.findings.unseen import Unseen
from committee.base.arrays import Floats
from committee.evaluation.calibration import equal_parts
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, TEXT, Part, instance, real, tuple_of, whole

_LEAST_ROWS = 30  # rows of a slice at least: means of fewer are far from normal
_LEAST_SHARE = 0.01  # share of all rows that a slice has at least
_LEVEL = 0.05  # level of the test of all slices together
_LEAST_EXCESS = 1.1  # a slice is weak where losses are so many times those elsewhere
_LEAST_PROBABILITY = 0.01  # smaller ones count as this, or one row would decide
_MOST = 10  # slices that are kept at most
_MOST_OF_COLUMN = 2  # of these, slices of one column


@register("auto.WeakSlice")
@dataclass(frozen=True)
class WeakSlice:
    """Rows for which predictions are worse.

    Attributes
    ----------
    column, group : str
        Name of the column, and what the rows have there.
    n_rows : int
        Number of rows, among those that were looked at.
    share : float
        Their share.
    loss, loss_elsewhere : float
        Mean loss of these rows and of all others: minus the logarithm of the probability of the
        true class, which counts as 0.01 at least; for numbers the absolute error, divided by the
        mean of those of the rows predicted alike.
    chance : float
        Probability of such a difference if there was none, corrected for the number of slices.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "column": TEXT,
        "group": TEXT,
        "n_rows": whole(1),
        "share": real(0.0),
        "loss": NUMBER,
        "loss_elsewhere": NUMBER,
        "chance": real(0.0),
    }

    column: str
    group: str
    n_rows: int
    share: float
    loss: float
    loss_elsewhere: float
    chance: float


@register("auto.SliceFindings")
@dataclass(frozen=True)
class SliceFindings:
    """Weak slices.

    Attributes
    ----------
    n_tested : int
        Number of slices that were compared.
    weak : tuple of WeakSlice
        Those that are worse, the one with the most loss in excess first.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_tested": whole(0),
        "weak": tuple_of(instance(WeakSlice)),
    }

    n_tested: int
    weak: tuple[WeakSlice, ...]


def row_losses(unseen: Unseen) -> Floats:
    """Return the loss of each row."""
    if unseen.target.codes is None:
        return np.asarray(np.abs(unseen.combined[:, 0] - unseen.truth[:, 0]))
    rows = np.arange(unseen.target.n_rows)
    shares = unseen.combined[rows, unseen.target.codes[:, 0]]
    return np.asarray(-np.log(np.maximum(shares, _LEAST_PROBABILITY)))


def slice_losses(unseen: Unseen) -> Floats:
    """Return the losses that slices are compared by.

    Errors grow with the prediction, so each is divided by the mean error of rows with similar
    predictions.
    """
    losses = row_losses(unseen)
    if unseen.target.codes is not None:
        return losses
    relative = np.ones(len(losses))
    for rows in equal_parts(unseen.combined[:, 0], unseen.weights):
        mean = float(np.average(losses[rows], weights=unseen.weights[rows]))
        if mean > 0:
            relative[rows] = losses[rows] / mean
    return relative


def weak_slices(
    columns: Iterable[tuple[str, Groups]], losses: Floats, weights: Floats
) -> SliceFindings:
    """Compare the losses of each group of each column with those of the other rows.

    Parameters
    ----------
    columns : iterable of (name, Groups)
        Columns in groups.
    losses, weights : ndarray of float64
        Of the rows.

    Examples
    --------
    >>> from committee.tables.column import Column
    >>> generator = np.random.default_rng(0)
    >>> size = Column("number", generator.integers(0, 2, 400).astype(float))
    >>> losses = 1.0 + size.values + 0.1 * generator.normal(size=400)
    >>> groups = Groups.of(size, np.ones(400))
    >>> [each.group for each in weak_slices([("size", groups)], losses, np.ones(400)).weak]
    ['1']
    """
    found, chances = [], []
    for name, groups in columns:
        for slice_, chance in _compared(name, groups, losses, weights):
            found.append(slice_)
            chances.append(chance)
    corrected = _holm(np.array(chances))
    weak = [
        WeakSlice(**{**vars(slice_), "chance": float(chance)})
        for slice_, chance in zip(found, corrected.tolist(), strict=True)
        if chance < _LEVEL and slice_.loss >= _LEAST_EXCESS * slice_.loss_elsewhere
    ]
    weak.sort(key=lambda each: each.share * (each.loss_elsewhere - each.loss))
    shown: list[WeakSlice] = []
    for each in weak:
        if sum(other.column == each.column for other in shown) < _MOST_OF_COLUMN:
            shown.append(each)
    return SliceFindings(len(found), tuple(shown[:_MOST]))


def _compared(
    name: str, groups: Groups, losses: Floats, weights: Floats
) -> Iterable[tuple[WeakSlice, float]]:
    """Yield the groups that are large enough, with the probability of their loss by chance."""
    n_groups = len(groups.labels)

    def sums(values: Floats) -> Floats:
        return np.bincount(groups.codes, values, minlength=n_groups).astype(np.float64)

    counts, own = sums(np.ones(len(losses))), sums(weights)
    mean, spread = _moments(own, sums(weights * losses), sums(weights * losses**2))
    squares = sums(weights**2)
    rest, rest_squares = own.sum() - own, squares.sum() - squares
    least = max(_LEAST_ROWS, _LEAST_SHARE * len(losses))
    is_large = (counts >= least) & (len(losses) - counts >= least)
    other, other_spread = _moments(
        rest,
        (weights * losses).sum() - sums(weights * losses),
        (weights * losses**2).sum() - sums(weights * losses**2),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        # Row variance divided by the effective number of rows.
        error = np.sqrt(spread * squares / own**2 + other_spread * rest_squares / rest**2)
        chances = ndtr((other - mean) / error)
    for place in np.flatnonzero(is_large & (error > 0)).tolist():
        share = float(own[place] / own.sum())
        pair = float(mean[place]), float(other[place])
        slice_ = WeakSlice(name, groups.labels[place], int(counts[place]), share, *pair, 0.0)
        yield slice_, float(chances[place])


def _moments(whole: Floats, sums: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return means and variances from sums over groups, which may be empty."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / whole
        return mean, np.maximum(squares / whole - mean**2, 0.0)


def _holm(chances: NDArray[np.float64]) -> Floats:
    """Return probabilities corrected for their number (Holm 1979).

    Examples
    --------
    >>> _holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(chances, kind="stable")
    factors = np.arange(len(chances), 0, -1)
    corrected = np.empty(len(chances))
    corrected[order] = np.minimum(np.maximum.accumulate(chances[order] * factors), 1.0)
    return corrected
