"""Weak learners with a known edge: tables on which the theory of boosting can be watched."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.params import check_int, check_seed


def majority_table(
    n_rows: int, n_voters: int, *, n_others: int = 0, random_state: Any = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""Table on which every distribution of the rows leaves stumps an edge: a majority of columns.

    Lecture: Oxford, on weak and strong learners. The class is the sign of the sum of `n_voters`
    columns of -1 and 1. Whatever weights the rows have, one of these columns by itself is right
    with at least

    .. math:: \frac12 + \gamma, \qquad \gamma = \frac{1}{2 k}, \quad k = \text{n\_voters}

    of the weight: the sum over columns of :math:`E[y x_j]` is :math:`E|\sum_j x_j| \ge 1`, so one
    of them is at least 1 / k. So stumps are weak learners with this edge for good, and boosting
    them has no training error after `rounds_needed(1 / (2 * n_voters), n_rows)` rounds.

    Parameters
    ----------
    n_rows : int
        Rows, drawn independently; all values are equally likely.
    n_voters : int
        Columns that decide, an odd number.
    n_others : int, default=0
        Columns more that have nothing to do with the class.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    X : ndarray of int64, shape (n_rows, n_voters + n_others)
        -1 and 1.
    y : ndarray of int64, shape (n_rows,)
        -1 and 1.

    Notes
    -----
    Limits: a demonstration. Of real tables nobody knows that weak learners keep their edge; it
    shrinks from round to round, and where it is gone, boosting stops.

    Examples
    --------
    >>> from committee import AdaBoostClassifier
    >>> from committee.theory import majority_table, rounds_needed
    >>> X, y = majority_table(500, 5, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=100, criterion="error").fit(X, y)
    >>> bool((0.5 - model.trace_.error).min() >= 1 / 10), rounds_needed(1 / 10, 500)
    (True, 305)
    >>> int(model.trace_.train_error.nonzero()[0][-1]) + 2  # far fewer are enough
    5
    """
    size = check_int("n_rows", n_rows, 1)
    deciding = check_int("n_voters", n_voters, 1)
    if deciding % 2 == 0:
        raise ValueError(f"n_voters must be odd, or there are ties; got {n_voters}")
    width = deciding + check_int("n_others", n_others, 0)
    rng = np.random.default_rng(check_seed(random_state))
    X = 2 * rng.integers(0, 2, (size, width)) - 1
    return X, np.sign(X[:, :deciding].sum(axis=1))
