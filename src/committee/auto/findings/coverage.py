"""How often intervals and sets of classes from errors on unseen rows hold the truth.

The rows of each fold get intervals from the errors in all other folds (conformal prediction), so
that the coverage measured here is the one to expect on new rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from committee.auto.findings.unseen import Unseen
from committee.base.arrays import Floats, Rows
from committee.losses.arithmetic import weighted_quantile

PROMISED = (0.8, 0.9, 0.95)


def measured_coverage(unseen: Unseen, difficulty: Floats | None = None) -> Floats:
    """Return for each promise what came of it, shape (n_promises, 4).

    Parameters
    ----------
    unseen : Unseen
        The committee on rows that its models have not seen.
    difficulty : ndarray of float64 or None, default=None
        For numbers, what errors are divided by, one for each row; None is one for all.

    Returns
    -------
    coverage : ndarray of float64
        The promise, the share of rows whose interval or set holds the truth, its standard error,
        and the mean width of the intervals or the mean number of classes in the sets.
    """
    n_rows = unseen.target.n_rows
    tests = unseen.tests if len(unseen.tests) > 1 else np.array_split(np.arange(n_rows), 2)
    hard = np.ones(n_rows) if difficulty is None else difficulty
    scores, sizes_of = _scores(unseen, hard)
    found = []
    for promise in PROMISED:
        holds, sizes = np.zeros(n_rows), np.zeros(n_rows)
        for test in tests:
            rest = np.setdiff1d(np.arange(n_rows), test)
            # As if the new row was one of the others.
            share = min(promise * (1 + 1 / max(len(rest), 1)), 1.0)
            limit = weighted_quantile(scores[rest], unseen.weights[rest], share)
            holds[test], sizes[test] = scores[test] <= limit, sizes_of(test, limit)
        seen = np.concatenate(list(tests))
        weights = unseen.weights[seen]
        mean = float(np.average(holds[seen], weights=weights))
        error = (max(mean * (1 - mean), 1e-12) * (weights**2).sum()) ** 0.5 / weights.sum()
        found.append([promise, mean, error, np.average(sizes[seen], weights=weights)])
    return np.array(found)


def _scores(unseen: Unseen, hard: Floats) -> tuple[Floats, Callable[[Rows, float], Floats]]:
    """Return how far off each row is, and what gives the sizes of intervals or sets."""
    if unseen.target.codes is None:
        scores = np.abs(unseen.combined[:, 0] - unseen.truth[:, 0]) / hard
        return scores, lambda rows, limit: 2 * limit * hard[rows]
    codes, shares = unseen.target.codes[:, 0], unseen.combined
    scores = 1 - shares[np.arange(len(codes)), codes]
    return scores, lambda rows, limit: (1 - shares[rows] <= limit).sum(axis=1)
