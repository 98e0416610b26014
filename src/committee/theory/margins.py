"""How sure an ensemble is of the right class, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.tables.target import check_same_length, read_classes, read_known_classes


def margins(shares: Any, y: Any, classes: Any = None) -> Floats:
    r"""Margin of each row: the share of votes for its class, less the largest share of another.

    Parameters
    ----------
    shares : array-like of shape (n_rows, n_classes)
        Votes for each class, at least zero, or probabilities: what `predict_proba` returns. Each
        row is divided by its sum. A forest's `predict_proba` are shares of votes with
        ``voting="hard"``.
    y : array-like of shape (n_rows,)
        The true classes.
    classes : array-like of shape (n_classes,) or None, default=None
        The class of each column, ``model.classes_``; None are the sorted labels in y.

    Returns
    -------
    margins : ndarray of float64, shape (n_rows,)
        From -1, where all votes are for one wrong class, to 1, where all are right. The ensemble
        is right where the margin is positive; at zero there is a tie.

    Notes
    -----
    Limits: for `AdaBoostClassifier` use its method `margins`, or `predict_proba` is bent to be a
    probability; there the margin is :math:`y \sum_t \alpha_t h_t(x) / \sum_t |\alpha_t|`.
    Large margins on training rows are a part of why boosting goes on to improve after its training
    error is zero (Schapire and others 1998), not all of it (Breiman 1999).

    References
    ----------
    Schapire, Freund, Bartlett and Lee (1998), Boosting the margin: a new explanation for the
    effectiveness of voting methods. Annals of Statistics 26, 1651-1686.

    Examples
    --------
    >>> from committee.theory import margins
    >>> margins([[3, 1, 1], [1, 2, 2]], ["a", "b"], classes=["a", "b", "c"]).tolist()
    [0.4, 0.0]
    """
    votes = np.asarray(shares, np.float64)
    if votes.ndim != 2 or votes.shape[1] < 2:
        raise ValueError(f"shares must have a column for each class; got shape {votes.shape}")
    if not (np.isfinite(votes) & (votes >= 0)).all():
        raise ValueError("shares must hold finite numbers of at least zero")
    totals = votes.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        row = int(np.flatnonzero(totals[:, 0] == 0)[0])
        raise ValueError(f"shares must have a vote in each row; row {row} has none")
    known = read_classes(y).classes[0] if classes is None else np.asarray(classes)
    if len(known) != votes.shape[1]:
        raise ValueError(
            f"classes must name the {votes.shape[1]} columns of shares; got {len(known)} classes"
        )
    codes = read_known_classes(y, known)[:, 0]
    check_same_length(len(votes), len(codes))
    return np.asarray(margins_of_codes(votes, codes) / totals[:, 0])


def margins_of_codes(shares: Floats, codes: Any) -> Floats:
    """Return the score of the own class of each row, less the best of the others.

    Examples
    --------
    >>> margins_of_codes(np.array([[0.5, 0.25, 0.25]]), np.array([1])).tolist()
    [-0.25]
    """
    rows = np.arange(len(shares))
    others = shares.copy()
    others[rows, codes] = -np.inf
    # A class that is the only one has a margin of its whole score.
    best = others.max(axis=1, initial=0.0 if shares.shape[1] == 1 else -np.inf)
    return np.asarray(shares[rows, codes] - best)
