"""How far a search has come: members, the best score so far, the time left.

On a terminal it is one line that changes, elsewhere a line for each model, when asked nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from committee.auto.watching import SearchStep, watched
from committee.cli.words import score_words


@dataclass
class Progress:
    """What has been seen of a search.

    Attributes
    ----------
    time_limit : float or None
        Seconds that it may take.
    """

    time_limit: float | None
    begin: float = field(default_factory=time.monotonic)
    names: set[str] = field(default_factory=set)
    best: SearchStep | None = None

    def see(self, step: SearchStep) -> bool:
        """Take a step into account; return whether its model is the best so far."""
        self.names.add(step.name)
        is_best = self.best is None or step.score > self.best.score
        if is_best:
            self.best = step
        return is_best

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.begin

    def share(self, step: SearchStep) -> float | None:
        """Return how much of the search is over; None if it is not known."""
        if self.time_limit is not None:
            return min(1.0, self.seconds / self.time_limit)
        if 0 < step.budget < float("inf"):
            return min(1.0, step.units / step.budget)
        return None

    def seconds_left(self, step: SearchStep) -> float | None:
        """Return about how many seconds are left; None if it is not known."""
        share = self.share(step)
        if not share:
            return None
        return self.seconds * (1 - share) / share


@contextmanager
def shown_progress(time_limit: float | None, *, is_quiet: bool) -> Iterator[None]:
    """Show the progress of searches in the block on standard error."""
    if is_quiet:
        yield
    elif sys.stderr.isatty():
        with _on_terminal(Progress(time_limit)):
            yield
    else:
        with _in_lines(Progress(time_limit)):
            yield


@contextmanager
def _in_lines(progress: Progress) -> Iterator[None]:
    def see(step: SearchStep) -> None:
        is_best = progress.see(step)
        left = progress.seconds_left(step)
        words = [f"{progress.seconds:.1f} s: {step.name}, {score_words(step.metric, step.score)}"]
        if is_best:
            words.append("the best so far")
        if left is not None:
            words.append(f"about {left:.0f} s left")
        sys.stderr.write(f"committee: {'; '.join(words)}\n")
        sys.stderr.flush()

    with watched(see):
        yield


@contextmanager
def _on_terminal(progress: Progress) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), BarColumn(bar_width=20), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True, highlight=False), transient=True) as bar:
        task = bar.add_task("the first model", total=None)

        def see(step: SearchStep) -> None:
            progress.see(step)
            assert progress.best is not None
            n_models = len(progress.names)
            words = [
                f"{n_models} model{'s' * (n_models > 1)}",
                f"best {score_words(step.metric, progress.best.score)} ({progress.best.name})",
            ]
            left = progress.seconds_left(step)
            if left is not None:
                words.append(f"about {left:.0f} s left")
            bar.update(
                task, total=1.0, completed=progress.share(step) or 0.0, description=", ".join(words)
            )

        with watched(see):
            yield
