"""Votes of members: `Votes` on many rows, and `VoteExplanation` of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.products import weighted_sum


@dataclass(frozen=True, eq=False, repr=False)
class Votes:
    """The predictions of members on rows.

    Attributes
    ----------
    names : tuple of str
        The members.
    weights : ndarray of float64, shape (n_members,)
        Their weights, which add up to one.
    predicted : ndarray of shape (n_rows, n_members)
        The class that each member votes for, or the number that it predicts.
    prediction : ndarray of shape (n_rows,)
        The prediction of the committee.
    """

    names: tuple[str, ...]
    weights: Floats
    predicted: NDArray[Any]
    prediction: NDArray[Any]

    @property
    def agreement(self) -> Floats:
        """Share of the weight, for each row, of members that predict what the committee does."""
        return weighted_sum(self.weights, (self.predicted == self.prediction[:, np.newaxis]).T)

    def to_frame(self) -> Any:
        """Return a pandas data frame: a column for each member, and their prediction."""
        import pandas as pd

        columns = {name: self.predicted[:, k] for k, name in enumerate(self.names)}
        return pd.DataFrame(columns).assign(committee=self.prediction)

    def __repr__(self) -> str:
        return f"Votes({self.predicted.shape[0]} rows, {len(self.names)} members)"


@dataclass(frozen=True, eq=False, repr=False)
class VoteExplanation:
    """How the prediction for one row came about.

    Attributes
    ----------
    prediction : object
        The prediction of the committee.
    runner_up : object
        The class with the second largest score; None for numbers.
    scores : dict
        Score of each class, as shares; empty for numbers.
    names : tuple of str
        The members.
    predicted : tuple
        The vote, or the number, of each.
    confidence : tuple of float
        The probability that each gives to its vote; NaN where there is none.
    weights : tuple of float
        The weights, which add up to one.
    without : tuple
        The prediction of the committee without each member.
    flips : tuple of str
        The smallest set of members that, if they predicted the runner-up, would make it the
        prediction; of large committees a small one. Empty if all of them could not.
    """

    prediction: Any
    runner_up: Any
    scores: dict[Any, float]
    names: tuple[str, ...]
    predicted: tuple[Any, ...]
    confidence: tuple[float, ...]
    weights: tuple[float, ...]
    without: tuple[Any, ...]
    flips: tuple[str, ...]

    @property
    def decisive(self) -> tuple[str, ...]:
        """Members without whom the prediction would be another."""
        pairs = zip(self.names, self.without, strict=True)
        return tuple(name for name, other in pairs if other != self.prediction)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each member."""
        import pandas as pd

        columns = {
            "predicted": list(self.predicted),
            "confidence": list(self.confidence),
            "weight": list(self.weights),
            "without": list(self.without),
        }
        return pd.DataFrame(columns, index=pd.Index(self.names, name="member"))

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = [self._headline()]
        for name, predicted, sure, weight, without in zip(
            self.names, self.predicted, self.confidence, self.weights, self.without, strict=True
        ):
            line = f"  {name:<{width}}  predicts {_shown(predicted)}"
            line += "" if np.isnan(sure) else f" (probability {sure:.0%})"
            line += f", weight {weight:.3g}"
            changes = without != self.prediction and bool(self.scores)
            if changes or not self.scores:
                line += f"; without it: {_shown(without)}"
            lines.append(line)
        if self.flips:
            names = " and ".join(self.flips)
            lines.append(f"it would be {_shown(self.runner_up)} if {names} predicted it")
        return "\n".join(lines)

    def _headline(self) -> str:
        if not self.scores:
            return f"the committee predicts {_shown(self.prediction)}"
        ranked = sorted(self.scores.items(), key=lambda pair: -pair[1])
        shares = ", ".join(f"{_shown(label)} {score:.3g}" for label, score in ranked[:5])
        return f"the committee predicts {_shown(self.prediction)} ({shares})"

    def __repr__(self) -> str:
        return str(self)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def fewest_that(
    is_enough: Callable[[NDArray[np.bool_]], NDArray[np.bool_]], gains: Floats, n_sets: int
) -> tuple[int, ...]:
    """Return the fewest members that are enough for something; none if all of them are not.

    Sets of a size are all tried as long as there are no more than `n_sets` of them. Beyond that,
    members are taken in the order of their gains.

    Parameters
    ----------
    is_enough : callable
        Gets sets of members, (n_sets, n_members); returns which are enough.
    gains : ndarray of float64
        About how much each member would bring. Of sets that are enough, the one with the largest
        gains is taken.
    n_sets : int
        Most sets to try at a time.

    Examples
    --------
    >>> gains = np.array([0.2, 0.6, 0.4])
    >>> fewest_that(lambda sets: sets @ gains > 0.7, gains, 100)
    (1, 2)
    """
    n_members = len(gains)
    order = np.argsort(-gains, kind="stable")
    for size in range(1, n_members + 1):
        if comb(n_members, size) > n_sets:
            break
        places = np.array(list(combinations(order.tolist(), size)))
        sets = np.zeros((len(places), n_members), bool)
        np.put_along_axis(sets, places, True, axis=1)
        found = np.flatnonzero(is_enough(sets))
        if len(found):
            best = found[weighted_sum(gains, sets[found].T).argmax()]
            return tuple(sorted(places[best].tolist()))
    first = np.zeros((n_members, n_members), bool)
    first[:, order] = np.tri(n_members, dtype=bool)
    found = np.flatnonzero(is_enough(first))
    return tuple(np.flatnonzero(first[found[0]]).tolist()) if len(found) else ()
