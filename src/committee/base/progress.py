"""How far a long fit has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


class Progress:
    """Tells on stderr how many are done: about ten times, or more often with verbose=2.

    Parameters
    ----------
    name : str
        Who is fitted.
    noun : str
        What is counted: trees, members.
    n_all : int
        How many there will be.
    verbose : int
        0 is silent.
    """

    def __init__(self, name: str, noun: str, n_all: int, verbose: int) -> None:
        self._name, self._noun, self._n_all = name, noun, n_all
        self._step = 0 if verbose == 0 else 1 if verbose > 1 else max(1, n_all // 10)
        self._shown = self._n_done = 0
        self._begin = time.monotonic()

    def counting_from(self, begin: int) -> Callable[[int], object] | None:
        """Return what is called with a number of new ones; None if nothing is told."""
        return (lambda n_done: self.show(begin + n_done)) if self._step else None

    def advance(self) -> None:
        """Count one more."""
        self._n_done += 1
        self.show(self._n_done)

    def show(self, n_done: int) -> None:
        """Tell, if enough were done since the last time."""
        is_last = n_done == self._n_all and self._shown < n_done
        if self._step == 0 or (n_done // self._step == self._shown // self._step and not is_last):
            return
        self._shown = n_done
        seconds = time.monotonic() - self._begin
        line = f"{self._name}: {n_done} of {self._n_all} {self._noun}, {seconds:.1f} s\n"
        sys.stderr.write(line)
