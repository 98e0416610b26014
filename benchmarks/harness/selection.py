"""What the command line chooses among real tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from benchmarks.report.markdown import Part


@dataclass(frozen=True, slots=True)
class Selection:
    """Tables, libraries and one half; empty is all of them."""

    folder: Path  # where the scores of earlier runs are
    tables: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    half: str = ""
    seconds: float | None = None  # time limit of one fit

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not (self.tables or self.libraries or self.half)


@runtime_checkable
class Selecting(Protocol):
    """A part that lets choose."""

    def select(self, selection: Selection) -> Part:
        """Return the part with what was chosen."""
