"""What a search has done, in whole numbers, and how much it may still do.

Steps of a search are counted in millionths of a unit. They are whole numbers, so that a search with
the units that another one used takes the same decisions to the last step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

MICRO = 1_000_000  # millionths in a unit


def micro(units: float) -> int:
    """Return units as a whole number of millionths, at least one.

    Examples
    --------
    >>> micro(0.25), micro(1e-12)
    (250000, 1)
    """
    return max(1, round(units * MICRO))


# When the call began that the next fit belongs to, where it did something before the fit.
_call_began: ContextVar[float | None] = ContextVar("call began", default=None)


@contextmanager
def counted_from(begin: float) -> Iterator[None]:
    """Let the time limit of the fit in the block count from a moment before it.

    Examples
    --------
    >>> with counted_from(5.0):
    ...     began(), began() > 5.0  # what is fitted inside of the fit has a time of its own
    (5.0, True)
    """
    token = _call_began.set(begin)
    try:
        yield
    finally:
        _call_began.reset(token)


def began() -> float:
    """Return when the call began that a fit belongs to, which is now unless it is known."""
    begin = _call_began.get()
    _call_began.set(None)
    return time.monotonic() if begin is None else begin


@dataclass
class Ledger:
    """Work that was done and may be done, and the clock.

    A step that does not fit is passed over, and smaller ones may still fit. When time runs out,
    `most` drops to just below this step's cost, so a rerun with that limit decides alike.

    Parameters
    ----------
    most : int or None
        Millionths of a unit that may be used; None is no limit.
    time_limit : float or None
        Seconds from the beginning to the end of the whole fit.
    used : int
        Millionths that were used.
    begin : float
        When the fit began.
    reserve : float
        Seconds that what comes after the search will take.
    is_late : bool
        Whether the clock has made a step not fit.

    Examples
    --------
    >>> ledger = Ledger(100)
    >>> ledger.fits(80, 0.0), ledger.fits(120, 0.0)
    (True, False)
    """

    most: int | None
    time_limit: float | None = None
    used: int = 0
    begin: float = field(default_factory=time.monotonic)
    reserve: float = 0.0
    is_late: bool = False

    def fits(self, cost: int, seconds: float) -> bool:
        """Whether a step may be done that costs so much and is expected to take so long."""
        if self.most is not None and self.used + cost > self.most:
            return False
        if self.time_limit is not None and seconds > self.seconds_left:
            self.most = self.used + cost - 1
            self.is_late = True
            return False
        return True

    @property
    def seconds(self) -> float:
        """Return the time since the beginning."""
        return time.monotonic() - self.begin

    @property
    def seconds_left(self) -> float:
        """Return the time that the search still has."""
        if self.time_limit is None:
            return math.inf
        return self.time_limit - self.seconds - self.reserve

    @property
    def units(self) -> float:
        """Return the work that was done, in units."""
        return self.used / MICRO
