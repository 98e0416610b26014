"""Watchers of a search, which are called after each of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class SearchStep:
    """A model that a search has just worked on.

    Attributes
    ----------
    name : str
        Of the model.
    metric : str
        What the score is; the greater the better.
    score : float
        On rows that the model was not fitted to.
    units : float
        Work done so far, by all models.
    budget : float
        All of the work that may be done; infinite if there is no limit.
    """

    name: str
    metric: str
    score: float
    units: float
    budget: float


Watcher = Callable[[SearchStep], None]

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher | None) -> Iterator[None]:
    """Call a watcher after each step of the searches in the block.

    Examples
    --------
    >>> seen = []
    >>> with watched(seen.append):
    ...     notify(lambda: SearchStep("forest", "r2", 0.8, 1.0, 6.0))
    >>> seen[0].name
    'forest'
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def notify(step: Callable[[], SearchStep]) -> None:
    """Call the watcher with a step, which is made only if there is one."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(step())
