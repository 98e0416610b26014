"""Who watches a search: it is told of each model, while it goes on."""

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
    """Tell a watcher of the steps of searches in the block.

    Examples
    --------
    >>> seen = []
    >>> with watched(seen.append):
    ...     tell(lambda: SearchStep("forest", "r2", 0.8, 1.0, 6.0))
    >>> seen[0].name
    'forest'
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell(step: Callable[[], SearchStep]) -> None:
    """Tell of a step; it is made only for a watcher."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(step())
