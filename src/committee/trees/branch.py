"""`Branch`: the condition on the way from a node of a tree to one of its children."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Branch:
    """The condition on the way from a node to one of its children.

    Attributes
    ----------
    feature : int
        Column of the split.
    kind : str
        How its values read: "number", "integer", "boolean", "datetime", "timedelta", "ordered" or
        "category".
    operator : {"<=", ">", "in"}
        Comparison with ``threshold``, or membership in ``levels`` or in an interval.
    threshold : float, int or None
        Exact threshold; dates and durations in microseconds, ordered levels as ranks. None for
        categories. The upper end of an interval, None where it has none.
    levels : tuple or None
        Levels known from training that go this way. None for numbers.
    takes_missing : bool
        Whether missing values go this way.
    takes_unseen : bool
        Whether levels that training never saw go this way.
    is_default : bool
        Whether this is the default branch of its node.
    lower : float, int or None, default=None
        Lower end of an interval, which does not belong to it.
    """

    feature: int
    kind: str
    operator: str
    threshold: float | int | None
    levels: tuple[Any, ...] | None
    takes_missing: bool
    takes_unseen: bool
    is_default: bool
    lower: float | int | None = None

    @property
    def asks_presence(self) -> bool:
        """Whether the split is by presence of a value: the threshold lies above all values."""
        top = 2**63 - 1 if isinstance(self.threshold, int) else math.inf
        return self.threshold is not None and self.threshold == top
