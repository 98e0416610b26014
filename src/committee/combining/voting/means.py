"""How the predictions of members become one: means of several kinds, and votes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.evaluation.oob import weighted_median

COMBINATIONS = ("mean", "median", "trimmed", "geometric")


def combine(predicted: Floats, weights: Floats, how: str, trim: float) -> Floats:
    """Return one value for each row and column.

    Parameters
    ----------
    predicted : ndarray of float64, shape (n_members, n_rows, n_columns)
        Predictions of the members.
    weights : ndarray of float64, shape (n_members,)
        Their weights.
    how : {"mean", "median", "trimmed", "geometric"}
        Which mean.
    trim : float
        Share of the weight that "trimmed" leaves out at either end.

    Returns
    -------
    combined : ndarray of float64, shape (n_rows, n_columns)
        The combination.

    Examples
    --------
    >>> predicted = np.array([2.3, 9.1, 4.3, 4.1, 3.8]).reshape(5, 1, 1)
    >>> even = np.ones(5)
    >>> for how in COMBINATIONS:
    ...     print(how, round(combine(predicted, even, how, 0.2).item(), 3))
    mean 4.72
    median 4.1
    trimmed 4.067
    geometric 4.26
    """
    if how == "median":
        flat = predicted.reshape(len(predicted), -1)
        wide = np.repeat(weights[:, np.newaxis], predicted.shape[1], axis=1)
        columns = [
            weighted_median(predicted[:, :, [k]], wide)[:, 0] for k in range(predicted.shape[2])
        ]
        return np.column_stack(columns) if flat.size else predicted[0]
    if how == "trimmed":
        return _trimmed(predicted, weights / weights.sum(), trim)
    if how == "geometric":
        with np.errstate(divide="ignore"):
            logs = np.log(predicted)
        return np.asarray(np.exp(_mean(logs, weights)))
    return _mean(predicted, weights)


def _mean(predicted: Floats, weights: Floats) -> Floats:
    total = np.zeros(predicted.shape[1:])
    for each, weight in zip(predicted, weights, strict=True):
        if weight:  # zero times infinity is nothing
            total += weight * each
    return np.asarray(total / weights.sum())


def _trimmed(predicted: Floats, shares: Floats, trim: float) -> Floats:
    """Leave out a share of the weight at either end; a member may count in part."""
    order = predicted.argsort(axis=0, kind="stable")
    values, own = np.take_along_axis(predicted, order, axis=0), shares[order]
    ends = own.cumsum(axis=0)
    kept = np.clip(np.minimum(ends, 1 - trim) - np.maximum(ends - own, trim), 0.0, None)
    return np.asarray((kept * values).sum(axis=0) / kept.sum(axis=0))


def combine_shares(predicted: Floats, weights: Floats, how: str, trim: float) -> Floats:
    """Return probabilities that add up to one.

    Where the geometric mean is zero for every class, the arithmetic mean is taken.

    Examples
    --------
    >>> predicted = np.array([[[0.9, 0.1]], [[0.8, 0.2]], [[0.3, 0.7]]])
    >>> combine_shares(predicted, np.array([0.2, 0.3, 0.5]), "mean", 0.0).round(2).tolist()
    [[0.57, 0.43]]
    """
    shares = combine(predicted, weights, how, trim)
    if how == "mean":
        return shares
    totals = shares.sum(axis=1, keepdims=True)
    is_nothing = totals[:, 0] <= 0
    if is_nothing.any():
        shares[is_nothing] = combine(predicted[:, is_nothing], weights, "mean", trim)
        totals = shares.sum(axis=1, keepdims=True)
    return np.asarray(shares / totals)


def confident_votes(predicted: Floats) -> Floats:
    """Return votes for the likeliest class of each member, weighted by the member's probability.

    Examples
    --------
    >>> confident_votes(np.array([[[0.2, 0.8]], [[0.7, 0.3]]])).tolist()
    [[[0.0, 0.8]], [[0.7, 0.0]]]
    """
    named = predicted.argmax(axis=2)[..., np.newaxis]
    votes = np.zeros_like(predicted)
    np.put_along_axis(votes, named, np.take_along_axis(predicted, named, axis=2), axis=2)
    return votes


def best_classes(
    scores: Floats, ranks: Floats | None
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the class with the largest score, and whether several share it.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, n_classes)
        Votes.
    ranks : ndarray of float64, shape (n_rows, n_classes) or (n_classes,), or None
        Of classes that share the largest score, the one with the largest rank is taken; else the
        first.

    Examples
    --------
    >>> best_classes(np.array([[1.0, 2.0, 2.0]]), np.array([3, 1, 2]))
    (array([2]), array([ True]))
    """
    largest = scores.max(axis=1, keepdims=True)
    # Sums of weights are rounded: shares that differ by less are the same.
    is_best = scores >= largest - 1e-12 * np.abs(scores).sum(axis=1, keepdims=True)
    is_tied = is_best.sum(axis=1) > 1
    order = np.zeros(scores.shape) if ranks is None else np.broadcast_to(ranks, scores.shape)
    return np.where(is_best, order, -np.inf).argmax(axis=1), is_tied
