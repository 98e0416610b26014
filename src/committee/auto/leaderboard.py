"""The models that were tried, and how good each is on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from committee.files.codec_classes import register
from committee.files.parts import NUMBER, TEXT, Part, instance, real, tuple_of


@register("auto.Entry")
@dataclass(frozen=True)
class Entry:
    """One model.

    Attributes
    ----------
    name : str
        Of the model.
    score : float
        Out of fold; the greater the better.
    standard_error : float
        Of the score, from the spread over the folds.
    weight : float
        In the committee; 0 for models that are no members.
    seconds : float
        What fitting took.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "name": TEXT,
        "score": NUMBER,
        "standard_error": NUMBER,
        "weight": real(0.0),
        "seconds": real(0.0),
    }

    name: str
    score: float
    standard_error: float
    weight: float
    seconds: float


@register("auto.Leaderboard")
@dataclass(frozen=True)
class Leaderboard:
    """Models in the order of their scores, the best first.

    Attributes
    ----------
    metric : str
        What the scores are; the greater the better.
    entries : tuple of Entry
        The models.

    Examples
    --------
    >>> board = Leaderboard("r2", (Entry("forest", 0.81, 0.02, 1.0, 0.5),))
    >>> print(board)
    model    r2             weight  seconds
    forest   0.81 ± 0.02      1.00      0.5
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "metric": TEXT,
        "entries": tuple_of(instance(Entry), least=1),
    }

    metric: str
    entries: tuple[Entry, ...]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        scores = [f"{entry.score:.4g} ± {entry.standard_error:.2g}" for entry in self]
        wide = max(map(len, ["model", *(entry.name for entry in self)])) + 2
        middle = max(map(len, [self.metric, *scores])) + 2
        lines = [f"{'model':{wide}} {self.metric:{middle}} weight  seconds"]
        for entry, score in zip(self, scores, strict=True):
            numbers = f"{entry.weight:6.2f} {entry.seconds:8.1f}"
            lines.append(f"{entry.name:{wide}} {score:{middle}} {numbers}")
        return "\n".join(lines)

    __repr__ = __str__

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each model."""
        import pandas as pd

        return pd.DataFrame([vars(entry) for entry in self])
