"""Contestants that need different numbers of rounds for the same loss: seconds to reach it.

Each peer is fitted with several numbers of rounds. The loss to reach is that of the contestant of
this library, or that of a reference peer while there is none; what a peer takes to reach it is read
between its fits.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.parts.race import RacePart, RaceResult
from benchmarks.report import markdown
from benchmarks.report.markdown import Goal, not_measured


@dataclass(frozen=True, slots=True)
class Series:
    """A peer with growing numbers of rounds."""

    label: str
    keys: tuple[str, ...]  # of contestants, fewest rounds first


def seconds_to_reach(target: float, fits: Sequence[tuple[float, float]]) -> float | None:
    """Return the seconds at which a loss is reached; None: it is not.

    `fits` are pairs of seconds and loss, fewest rounds first. Between two fits the seconds are
    linear in the loss. A first fit that is good enough counts as it is, too long rather than too
    short.
    """
    before: tuple[float, float] | None = None
    for seconds, loss in fits:
        if loss <= target:
            if before is None or before[1] == loss:
                return seconds
            share = (before[1] - target) / (before[1] - loss)
            return before[0] + share * (seconds - before[0])
        before = seconds, loss
    return None


@dataclass(frozen=True)
class EqualLossPart(RacePart):
    """A race whose peers are compared at the loss of one contestant, or of `reference`."""

    mine: str = ""  # key of the contestant of this library
    reference: str = ""  # key of a peer
    series: tuple[Series, ...] = ()
    times: float = 2.0

    def render(self, result: Mapping[str, Any]) -> list[str]:
        """Return the tables of a race and that of seconds at equal loss."""
        reader = RaceResult(result)
        key, target, found = self._read(reader)
        rows = []
        for label, seconds in found.items():
            cell = "not reached" if seconds is None else markdown.number(seconds)
            rows.append((label, cell))
        rows.insert(0, (key, markdown.number(markdown.best(reader.fits(key)))))
        lines = markdown.table((f"fit to a {reader.metric} of {target:.4f}", "s"), rows)
        return [*super().render(result), *lines]

    def goals(self, result: Mapping[str, Any]) -> list[Goal]:
        """Compare with the peer that reaches the loss first."""
        reader = RaceResult(result)
        text = (
            f"fit {reader.subject}: {self.mine} at least {self.times:g}x faster than the fastest "
            f"peer at equal {reader.metric}"
        )
        _, _, found = self._read(reader)
        known = {label: seconds for label, seconds in found.items() if seconds is not None}
        if not reader.has(self.mine):
            goal = not_measured(text)
        elif not known:
            goal = Goal(text, "no peer reached it", True)
        else:
            fastest = min(known, key=known.__getitem__)
            ratio = known[fastest] / markdown.best(reader.fits(self.mine))
            goal = Goal(text, f"{ratio:.2f}x ({fastest})", ratio >= self.times)
        return [goal, *super().goals(result)]

    def _read(self, result: RaceResult) -> tuple[str, float, dict[str, float | None]]:
        """Return whose loss is to be reached, that loss, and the seconds of each peer."""
        key = self.mine if result.has(self.mine) else self.reference
        target = _loss(result, key)
        found = {}
        for each in self.series:
            present = [name for name in each.keys if result.has(name)]
            fits = [(markdown.best(result.fits(name)), _loss(result, name)) for name in present]
            if fits:
                found[each.label] = seconds_to_reach(target, fits)
        return key, target, found


def _loss(result: RaceResult, key: str) -> float:
    return statistics.fmean(result.scores(key, result.metric))
