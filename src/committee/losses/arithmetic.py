"""The arithmetic of losses: weighted means, quantiles and sums, and numbers that stay finite.

Means and quantiles are of all rows or of the rows of each group (a leaf, say). A row of weight zero
is absent and a row of weight two counts as the row twice. Only the ratios of weights matter, so
they are brought to a common size by powers of two first, group by group: weights of 1e-300 or 1e300
neither vanish nor overflow.

The *q-quantile* is the least value such that the rows of that value or less hold at least the
share q of the weight. Where they hold exactly q, every number up to the next value is as good, and
the quantile is the middle of the two: the median of 1, 2, 3, 4 is 2.5. (This is "averaged
inverted CDF", type 2 of Hyndman and Fan 1996; NumPy's default interpolates otherwise.)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats

Groups = NDArray[np.integer]
# Numbers, or codes of classes.
Target = NDArray[Any]

# Exponents are clipped to +-300: e^300 is about 2e130, so that squares of gradients, and sums of
# them over any number of rows, are still finite.
MAX_EXPONENT = 300.0
# Losses and residuals of a row saturate here, so that weighted means of them are finite.
LARGEST = 1e300
# Probabilities and means are kept this far from zero before their logarithm is taken. It is smaller
# than one row in any table that fits into memory.
LEAST_PREDICTED = 1e-12


def weighted_mean(values: Floats, weights: Floats | None = None) -> float:
    """Return the weighted mean; the mean of equal values is that value.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows,)
        Numbers.
    weights : ndarray of float64 or None
        Weights of the rows, some of them positive; None: each row once.

    Returns
    -------
    mean : float
        Finite for finite values.

    Examples
    --------
    >>> weighted_mean(np.array([1.0, 5.0, 100.0]), np.array([3e300, 1e300, 0.0]))
    2.0
    """
    values, weights = _present(values, weights)
    if weights is None:
        shares = np.full(len(values), 1.0 / len(values))
    else:
        scaled = _times_power(weights, -np.frexp(weights.max())[1])
        shares = scaled / scaled.sum()
    # Values times shares cannot overflow. The second pass takes off what rounding left over, so
    # that y = 1e9 +- 1 keeps its resolution.
    mean = float((values * shares).sum())
    with np.errstate(over="ignore", invalid="ignore"):
        rest = float(((values - mean) * shares).sum())
    return mean + rest if np.isfinite(mean + rest) else mean


def mean_loss(losses: Floats, weights: Floats | None) -> float:
    """Return the weighted mean of losses in one pass; as `weighted_mean`, but for rounding.

    No temporary array is made without weights.

    Examples
    --------
    >>> mean_loss(np.array([1.0, 2.0, 6.0]), None)
    3.0
    >>> mean_loss(np.array([1.0, np.inf]), np.array([2.0, 0.0]))
    1.0
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if weights is None:
            mean = float(losses.mean())
        else:
            mean = float((losses * weights).sum() / weights.sum())
    return mean if np.isfinite(mean) else weighted_mean(losses, weights)


def weighted_quantile(values: Floats, weights: Floats | None, share: float) -> float:
    """Return a weighted quantile, as defined at the top of this file.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows,)
        Numbers.
    weights : ndarray of float64 or None
        Weights of the rows, some of them positive; None: each row once.
    share : float
        In [0, 1]; 0.5 is the median.

    Returns
    -------
    quantile : float
        A value, or the middle of two neighbouring ones.

    Examples
    --------
    >>> weighted_quantile(np.array([4.0, 1.0, 3.0, 2.0]), None, 0.5)
    2.5
    >>> weighted_quantile(np.array([4.0, 1.0, 3.0]), np.array([0.0, 2.0, 1.0]), 0.5)
    1.0
    """
    values, weights = _present(values, weights)
    return float(group_quantiles(values, weights, np.zeros(len(values), np.uint32), 1, share)[0])


def group_quantiles(
    values: Floats, weights: Floats | None, groups: Groups, n_groups: int, share: float
) -> Floats:
    """Return the weighted quantile of each group of rows, all groups in one go.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows,)
        Numbers.
    weights : ndarray of float64 or None
        Weights of the rows; None: each row once.
    groups : ndarray of int, shape (n_rows,)
        Group of each row, from 0.
    n_groups : int
        Number of groups.
    share : float
        In [0, 1]; 0.5 is the median.

    Returns
    -------
    quantiles : ndarray of float64, shape (n_groups,)
        Zero for a group without rows.

    Examples
    --------
    >>> values, groups = np.array([5.0, 1.0, 7.0, 2.0]), np.array([0, 2, 0, 2])
    >>> group_quantiles(values, None, groups, 3, 0.5).tolist()
    [6.0, 0.0, 1.5]
    """
    return _core.group_quantiles(
        values,
        np.ascontiguousarray(groups, np.uint32),
        n_groups,
        share,
        weights,
    )


def group_scaled_weights(weights: Floats, groups: Groups, n_groups: int) -> Floats:
    """Return the weights, in each group times the power of two that makes the largest about one.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    groups : ndarray of int, shape (n_rows,)
        Group of each row, from 0.
    n_groups : int
        Number of groups.

    Returns
    -------
    scaled : ndarray of float64, shape (n_rows,)
        In [0, 1).

    Examples
    --------
    >>> group_scaled_weights(np.array([1e300, 3e300, 4.0]), np.array([0, 0, 1]), 2).tolist()[2]
    0.5
    """
    largest = np.zeros(n_groups)
    np.maximum.at(largest, groups, weights)
    return _times_power(weights, -np.frexp(largest)[1], groups)


def group_sums(values: Floats, groups: Groups, n_groups: int) -> Floats:
    """Return the sum of the values of each group.

    Examples
    --------
    >>> group_sums(np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), 3).tolist()
    [2.0, 0.0, 5.0]
    """
    return np.bincount(groups, values, minlength=n_groups).astype(np.float64, copy=False)


def _present(values: Floats, weights: Floats | None) -> tuple[Floats, Floats | None]:
    """Return rows of positive weight; all rows once if there are none, for want of better."""
    if weights is None:
        return values, None
    present = weights > 0
    if present.all():
        return values, weights
    if not present.any():
        return values, None
    return values[present], weights[present]


def _times_power(weights: Floats, exponents: Any, groups: Groups | None = None) -> Floats:
    """Return the weights times two to a power, that of the row's group if there are groups.

    Exact but for what vanishes, and faster than `np.ldexp` row by row. Extreme powers are two
    factors, since 2^1100 is no double while 2^1100 times the least double is.
    """
    half = exponents // 2 if np.abs(exponents).max() > 1000 else exponents
    product: Floats = weights * _of_rows(np.ldexp(1.0, half), groups)
    if half is not exponents:
        product *= _of_rows(np.ldexp(1.0, exponents - half), groups)
    return product


def _of_rows(factors: Any, groups: Groups | None) -> Any:
    return factors if groups is None else factors[groups]


# ---- leaves and numbers that stay finite -------------------------------------------------------


def sums_of_leaves(
    columns: Sequence[Floats], weights: Floats | None, leaf: NDArray[np.integer], n_leaves: int
) -> list[Floats]:
    """Return weighted sums over the rows of each leaf, in a unit of weight that differs by leaf.

    Ratios of sums are what counts, and the unit keeps them finite.

    Examples
    --------
    >>> leaf, weights = np.array([0, 0, 1]), np.array([1e300, 1e300, 1e-300])
    >>> columns = [np.array([1.0, 2.0, 5.0]), np.ones(3)]
    >>> top, bottom = sums_of_leaves(columns, weights, leaf, 2)
    >>> (top / bottom).round(9).tolist()
    [1.5, 5.0]
    """
    leaf = leaf.astype(np.intp, copy=False)
    if weights is not None:
        scaled = group_scaled_weights(weights, leaf, n_leaves)
        columns = [column * scaled for column in columns]
    return [group_sums(column, leaf, n_leaves) for column in columns]


def safe_ratio(top: Floats, bottom: Floats) -> Floats:
    """Divide; zero where the bottom is zero, and at most 1e300 in size.

    Examples
    --------
    >>> safe_ratio(np.array([1.0, 1.0, -1e200]), np.array([2.0, 0.0, 1e-200])).tolist()
    [0.5, 0.0, -1e+300]
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = np.where(bottom > 0, top / bottom, 0.0)
    return np.clip(ratio, -LARGEST, LARGEST)


def shorten(steps: Floats) -> Floats:
    """Return ``sign(step) log(1 + |step|)``: Newton steps that do not overshoot.

    For losses made of exponentials and logarithms of sums of them, the second derivative changes
    by no more than the factor e^|c| over a step c (the third derivative is at most the second).
    So the slope after a step c > 0 is at most g + h (e^c - 1), which is zero at c = log(1 - g / h):
    up to there the loss has been falling, whatever the rows are. For Poisson and a rising step
    this is the minimum itself. (Bach 2010, Self-concordant analysis for logistic regression.)

    Examples
    --------
    >>> shorten(np.array([0.01, -1.0, 1e6])).round(3).tolist()
    [0.01, -0.693, 13.816]
    """
    return np.sign(steps) * np.log1p(np.abs(steps))


def bounded_exp(exponents: Floats) -> Floats:
    """Return e to the power of exponents clipped to +-300, so that it is neither inf nor zero.

    Examples
    --------
    >>> bounded_exp(np.array([0.0, 1000.0, -1000.0])).tolist()
    [1.0, 1.9424263952412558e+130, 5.148200222412013e-131]
    """
    return np.exp(np.clip(exponents, -MAX_EXPONENT, MAX_EXPONENT))


def saturated(losses: Floats) -> Floats:
    """Return losses, those beyond 1e300 as 1e300.

    Examples
    --------
    >>> saturated(np.array([1.0, np.inf])).tolist()
    [1.0, 1e+300]
    """
    return np.minimum(losses, LARGEST)


def residuals(y: Target, scores: Floats) -> Floats:
    """Return y - scores, at most 1e300 in size.

    Examples
    --------
    >>> residuals(np.array([3.0, 1e308]), np.array([1.0, -1e308])).tolist()
    [2.0, 1e+300]
    """
    with np.errstate(over="ignore"):
        difference = np.subtract(y, scores, dtype=np.float64)
    return np.clip(difference, -LARGEST, LARGEST, out=difference)


def check_numbers(y: Target, name: str) -> Floats:
    """Return the target as float64; ValueError unless it is a column of finite numbers.

    Examples
    --------
    >>> check_numbers(np.array([1, 2]), "poisson").tolist()
    [1.0, 2.0]
    """
    accepted = f'loss "{name}" needs a target of finite numbers, one for each row'
    values = np.asarray(y)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{accepted}; got an array of {values.dtype}")
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{accepted}; got an array of shape {values.shape}")
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong) > 0:
        raise ValueError(f"{accepted}; got {values[wrong[0]]} in row {wrong[0]}")
    return values.astype(np.float64)


# --- what losses of one's own return, checked ----------------------------------------------------


def losses_of_rows(loss: Any, y: NDArray[Any], scores: Floats) -> Floats:
    """Return `row_losses`; ValueError unless there is a number for each row."""
    found = loss.row_losses(y, scores)
    return _returned(found, (len(y),), loss, "row_losses", "an array of the losses of the rows")


def derivatives(loss: Any, y: NDArray[Any], scores: Floats) -> tuple[Floats, Floats]:
    """Return `gradients`; ValueError unless they are two arrays of the shape of the scores."""
    found = loss.gradients(y, scores)
    if not isinstance(found, tuple | list) or len(found) != 2:
        size = f" of {len(found)}" if isinstance(found, tuple | list) else ""
        raise ValueError(
            f"gradients of the loss {loss!r} must return a pair, (gradient, hessian); got "
            f"{type(found).__name__}{size}"
        )
    names = ("the gradient", "the hessian")
    pairs = zip(found, names, strict=True)
    gradient, hessian = (_returned(each, scores.shape, loss, "gradients", n) for each, n in pairs)
    return gradient, hessian


def constants(found: Any, loss: Any, method: str) -> Floats:
    """Return first scores; ValueError unless there is a finite one for each score of a row."""
    values = _returned(found, (loss.n_scores,), loss, method, "an array of the scores of a row")
    if not np.isfinite(values).all():
        raise ValueError(f"{method} of the loss {loss!r} must be finite; got {values.tolist()}")
    return values


def steps_of_leaves(found: Any, loss: Any, n_leaves: int) -> Floats:
    """Return the steps of leaves; ValueError unless there is a finite one for each leaf."""
    steps = _returned(
        found, (n_leaves,), loss, "leaf_values", "an array of the steps of the leaves"
    )
    if not np.isfinite(steps).all():
        leaf = int(np.argmin(np.isfinite(steps)))
        raise ValueError(
            f"leaf_values of the loss {loss!r} must be finite; got {steps[leaf]} for leaf {leaf}"
        )
    return steps


def _returned(found: Any, shape: tuple[int, ...], loss: Any, method: str, what: str) -> Floats:
    is_plain = isinstance(found, np.ndarray) and found.dtype == np.float64
    if is_plain and found.shape == shape:
        return np.asarray(found)
    try:
        values = np.asarray(found)
    except ValueError:  # rows of different lengths
        values = np.empty(0, object)
    if values.shape == shape and values.dtype.kind in "fiub":
        return values.astype(np.float64)
    given = f"{values.dtype} of shape {values.shape}" if values.ndim else repr(found)
    raise ValueError(
        f"{method} of the loss {loss!r} must return {what}, real numbers of shape {shape}; got "
        f"{given}"
    )
