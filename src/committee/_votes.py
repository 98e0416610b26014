"""Who voted what: `Votes` of many rows, and `VoteExplanation` of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Votes:
    """What each member said about each row.

    Attributes
    ----------
    names : tuple of str
        The members.
    weights : ndarray of float64, shape (n_members,)
        Their weights, which add up to one.
    said : ndarray of shape (n_rows, n_members)
        The class that each member votes for, or the number that it predicts.
    answer : ndarray of shape (n_rows,)
        What the committee says.
    """

    names: tuple[str, ...]
    weights: Floats
    said: NDArray[Any]
    answer: NDArray[Any]

    @property
    def agreement(self) -> Floats:
        """Share of the weight, for each row, of the members that say what the committee says."""
        return np.asarray((self.said == self.answer[:, np.newaxis]) @ self.weights)

    def to_frame(self) -> Any:
        """Return a pandas data frame: a column for each member, and the answer."""
        import pandas as pd

        columns = {name: self.said[:, k] for k, name in enumerate(self.names)}
        return pd.DataFrame(columns).assign(committee=self.answer)

    def __repr__(self) -> str:
        return f"Votes({self.said.shape[0]} rows, {len(self.names)} members)"


@dataclass(frozen=True, eq=False, repr=False)
class VoteExplanation:
    """How the answer for one row came about.

    Attributes
    ----------
    answer : object
        What the committee says.
    runner_up : object
        The class with the second largest score; None for numbers.
    scores : dict
        Score of each class, as shares; empty for numbers.
    names : tuple of str
        The members.
    said : tuple
        The vote, or the number, of each.
    confidence : tuple of float
        The probability that each gives to its vote; NaN where it was not asked for.
    weights : tuple of float
        The weights, which add up to one.
    without : tuple
        What the committee would say without each member.
    flips : tuple of str
        The smallest set of members that, if they spoke for the runner-up, would change the
        answer.
    """

    answer: Any
    runner_up: Any
    scores: dict[Any, float]
    names: tuple[str, ...]
    said: tuple[Any, ...]
    confidence: tuple[float, ...]
    weights: tuple[float, ...]
    without: tuple[Any, ...]
    flips: tuple[str, ...]

    @property
    def decisive(self) -> tuple[str, ...]:
        """Members without whom the answer would be another."""
        pairs = zip(self.names, self.without, strict=True)
        return tuple(name for name, answer in pairs if answer != self.answer)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each member."""
        import pandas as pd

        columns = {
            "said": list(self.said),
            "confidence": list(self.confidence),
            "weight": list(self.weights),
            "without": list(self.without),
        }
        return pd.DataFrame(columns, index=pd.Index(self.names, name="member"))

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = [self._headline()]
        for name, said, sure, weight, without in zip(
            self.names, self.said, self.confidence, self.weights, self.without, strict=True
        ):
            line = f"  {name:<{width}}  says {_told(said)}"
            line += "" if np.isnan(sure) else f" ({sure:.0%} sure)"
            line += f", weight {weight:.3g}"
            changes = without != self.answer and bool(self.scores)
            if changes or not self.scores:
                line += f"; without it: {_told(without)}"
            lines.append(line)
        if self.flips:
            who = " and ".join(self.flips)
            lines.append(f"it would be {_told(self.runner_up)} if {who} spoke for it")
        return "\n".join(lines)

    def _headline(self) -> str:
        if not self.scores:
            return f"the committee says {_told(self.answer)}"
        ranked = sorted(self.scores.items(), key=lambda pair: -pair[1])
        shares = ", ".join(f"{_told(label)} {score:.3g}" for label, score in ranked[:5])
        return f"the committee says {_told(self.answer)} ({shares})"

    def __repr__(self) -> str:
        return str(self)


def _told(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def smallest_flip(gains: Floats, margin: float) -> list[int] | None:
    """Return the fewest members whose change of mind closes a margin; None if all do not.

    Parameters
    ----------
    gains : ndarray of float64
        What each member would move the margin by.
    margin : float
        Lead of the winner. A tie is not enough.

    Examples
    --------
    >>> smallest_flip(np.array([0.2, 0.6, 0.4]), 0.7)
    [1, 2]
    """
    order = np.argsort(-gains, kind="stable")
    reached = np.cumsum(gains[order]) > margin + 1e-12 * max(1.0, abs(margin))
    if not reached.any():
        return None
    return [int(place) for place in order[: int(reached.argmax()) + 1]]
