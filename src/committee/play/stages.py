"""What a method is asked, and what it tells about its rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.play.points import Codes

# Shares of the classes at some places, after each round or of each member: (n_places, n_classes).
Shares = Iterable[Floats]


@dataclass(frozen=True, eq=False)
class Task:
    """Training points, and how a method is to be fitted to them.

    Attributes
    ----------
    X : ndarray of float64, shape (n_points, 2)
        The points.
    y : ndarray of int
        Their classes, from zero on; each occurs.
    names : tuple of two str
        Of the features.
    n_classes : int
        Number of classes.
    n_rounds : int
        Most rounds.
    seed : int
        Of all draws.
    settings : mapping
        Values of the settings of the method.
    """

    X: Floats
    y: Codes
    names: tuple[str, str]
    n_classes: int
    n_rounds: int
    seed: int
    settings: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Stages:
    """A fitted method, round by round.

    Attributes
    ----------
    committee : callable
        Returns, for an array of places, the shares of the classes after each round. The largest
        share is the prediction, the first of equal ones.
    members : callable
        The same of what each round has added.
    weights : ndarray of float64, shape (n_rounds, n_points)
        Of the training points in each round; all zeros where a round has no weights.
    rounds : list of dict
        The numbers of the formula of each round.
    labels : list of str
        A name of what each round has added.
    trees : list or None
        Arrays of all trees, whose thresholds are the only borders; None where there are others.
    unseen : list of ndarray or None
        Shares of members at the training points by fits that have not seen these, where a method
        has them.
    """

    committee: Callable[[Floats], Shares]
    members: Callable[[Floats], Shares]
    weights: Floats
    rounds: list[dict[str, Any]]
    labels: list[str]
    trees: list[Any] | None = None
    unseen: list[Floats] | None = field(default=None)


def error_of(shares: Floats, y: Codes) -> float | None:
    """Return the share of wrong predictions; None where there are no points.

    Examples
    --------
    >>> error_of(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([1, 1]))
    0.5
    """
    return float(np.mean(shares.argmax(axis=1) != y)) if len(y) else None


def margins_of(shares: Floats, y: Codes) -> Floats:
    """Return by how much the share of the right class exceeds the largest other one.

    Examples
    --------
    >>> margins_of(np.array([[0.5, 0.25, 0.25], [0.25, 0.75, 0]]), np.array([0, 0])).tolist()
    [0.25, -0.5]
    """
    rows = np.arange(len(y))
    others = shares.copy()
    others[rows, y] = -np.inf
    found: Floats = shares[rows, y] - others.max(axis=1)
    return found


def split_text(names: tuple[str, str], feature: int, threshold: float) -> str:
    """Return a split in a few characters.

    Examples
    --------
    >>> split_text(("x", "y"), 1, -0.25)
    'y ≤ −0.25'
    """
    return f"{names[feature]} ≤ {f'{threshold:.3g}'.replace('-', '−')}"


def one_hot(codes: Codes, n_classes: int) -> Floats:
    """Return shares of predictions that are one class each."""
    return np.asarray(np.eye(n_classes)[codes])
