"""Fitting different estimators to one table, to all of its rows or to some, and asking them.

Members of this library share one reading and one binning of the table. The rows that a fit does not
learn from have a weight of zero there; where they are many and the table is not huge, the codes of
the others are copied, once for all members of a split. Only what depends on the cells alone is
shared. Others get rows of the table as it came, through joblib.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.progress import Progress
from committee.base.sampling import member_seed, parameter_seed
from committee.base.threads import resolve_threads
from committee.members.class_codes import fit_codes, one_class_error
from committee.members.meta_estimator import wants_weights
from committee.members.output import Voice
from committee.members.parallel import (
    count_workers,
    in_order,
    is_own,
    plain_algebra,
    prepared,
    rows_of,
)
from committee.tables.native_table import AnyTable, reads_tables
from committee.tables.source import SharedSource

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Up to this many cells, members of this library run side by side, one thread each; above it they
# run one after the other, each with all threads.
_SMALL_TABLE = 2**18
# The same for a table up to so large, if there are many more members than threads.
_LARGE_TABLE = 2**22
# Up to this many cells, the rows of a split are copied. To pass over the others costs forests a
# tenth and boosting a third of their time; above, memory matters more.
_COPIED_CELLS = 2**25
# Unless a split has nearly all rows.
_COPIED_SHARE = 0.95


@dataclass(frozen=True, eq=False)
class Task:
    """One fit of one member.

    Parameters
    ----------
    name : str
        Of the member.
    number : int
        Its place, which its seed depends on.
    estimator : estimator
        What is copied and fitted.
    train : ndarray of int or None
        Rows to learn from; None is all.
    test : ndarray of int or None
        Rows to ask about afterwards; None is none.
    voice : Voice or None
        How to ask.
    keeps : bool
        Whether the fitted member is wanted.
    """

    name: str
    number: int
    estimator: Any
    train: Rows | None = None
    test: Rows | None = None
    voice: Voice | None = None
    keeps: bool = True


@dataclass(eq=False)
class Team:
    """What members are fitted with.

    Parameters
    ----------
    table : AnyTable
        The rows.
    y : ndarray
        Class codes, or numbers.
    labels : ndarray or None
        Labels of the codes; None for numbers.
    weights : ndarray of float64 or None
        Weights of the rows.
    n_jobs : int or None
        Workers, see `VotingClassifier`.
    seed : int or None
        Sets the random states of members that have none.
    fit_params : mapping
        More arguments of `fit`, by the names of members.
    values : list of ndarray or None
        What the codes of each of several labels stand for, where rows can have several.
    """

    table: AnyTable
    y: NDArray[Any]
    labels: NDArray[Any] | None
    weights: Floats | None
    n_jobs: int | None
    seed: int | None
    fit_params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    values: list[NDArray[Any]] | None = None

    @cached_property
    def shared(self) -> SharedSource:
        """The table for members that read it themselves."""
        return SharedSource(self.table.opened(), self.weights)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("shared", None)  # other processes read for themselves
        return state

    def part(self, rows: Rows, table: AnyTable) -> Team:
        """Return the team for some rows, which another table shows."""
        n_rows = len(self.y)
        weights = None if self.weights is None else self.weights[rows]
        params = {
            name: {key: rows_of(value, rows, n_rows) for key, value in own.items()}
            for name, own in self.fit_params.items()
        }
        return replace(self, table=table, y=self.y[rows], weights=weights, fit_params=params)

    def run(self, tasks: Sequence[Task], progress: Progress) -> list[tuple[Any, Floats | None]]:
        """Fit members; return them, where they are kept, and their opinions on test rows."""
        results: list[Any] = [None] * len(tasks)
        for places, found in self._all(tasks):
            for place, result in zip(places, found, strict=True):
                results[place] = result
                progress.advance()
        return results

    def _all(self, tasks: Sequence[Task]) -> Iterator[tuple[list[int], Iterator[Any]]]:
        own = [place for place, task in enumerate(tasks) if is_own(task.estimator)]
        foreign = [place for place in range(len(tasks)) if place not in set(own)]
        if own:
            self.shared  # noqa: B018  made before threads ask for it
            n_threads = resolve_threads(self.n_jobs)
            is_beside = self._n_cells <= _SMALL_TABLE or (
                self._n_cells <= _LARGE_TABLE and len(own) >= 4 * n_threads
            )
            n_workers = min(n_threads, len(own)) if is_beside else 1
            # Split by split, so that few copies of rows are alive.
            order = {id(task.train): place for place, task in reversed(list(enumerate(tasks)))}
            own.sort(key=lambda place: order[id(tasks[place].train)])
            parts = Parts(self.shared, [tasks[place].train for place in own])
            share = max(1, n_threads // n_workers)
            calls: list[Any] = [(self, tasks[place], share, parts) for place in own]
            yield own, in_order(fit_and_ask, calls, n_workers, use_threads=True, own=True)
        if foreign:
            calls = [(self, tasks[place], 1, None) for place in foreign]
            n_workers = min(count_workers(self.n_jobs, own=False), len(foreign))
            yield foreign, in_order(fit_and_ask, calls, n_workers, use_threads=False, own=False)

    # ---- one member ----

    @property
    def _n_cells(self) -> int:
        return int(self.table.n_rows * self.table.n_features)

    def fit(self, task: Task, n_threads: int, parts: Parts | None) -> Any:
        """Return a fitted member."""
        member, n_jobs = self._fresh(task, n_threads)
        params = self.fit_params.get(task.name, {})
        try:
            if parts is not None and reads_tables(member) and not params:
                self._fit_shared(member, task.train, parts)
            else:
                member = self._fit_rows(member, task, params)
        except (TypeError, ValueError) as error:
            alone = one_class_error(f"the member {task.name!r}", self.labels, error)
            if alone is not None:
                raise alone from error
            error.add_note(f"This is the member {task.name!r}, fitted to {self._told(task.train)}")
            raise
        if n_jobs is not None:
            member.set_params(n_jobs=n_jobs[0])
        return member

    def _told(self, train: Rows | None) -> str:
        """Return how many rows and classes a member was fitted to."""
        y = self.y if train is None else self.y[train]
        if self.labels is None:
            return f"{len(y)} rows"
        n_classes = len(np.unique(y))
        return f"{len(y)} rows of {n_classes} class{'es' * (n_classes > 1)}"

    def _fresh(self, task: Task, n_threads: int) -> tuple[Any, tuple[Any] | None]:
        """Return a copy to be fitted, and its own number of workers where it was changed."""
        template, seeded = prepared(task.estimator, self.labels)
        changes: dict[str, Any] = {}
        n_jobs = None
        if is_own(template) and "n_jobs" in template.get_params(deep=False):
            n_jobs = (task.estimator.n_jobs,)
            changes["n_jobs"] = n_threads
        if self.seed is not None:
            own, values = member_seed(self.seed, task.number), template.get_params()
            changes |= {
                name: parameter_seed(own, place)
                for place, name in enumerate(seeded)
                if values[name] is None
            }
        return (template.set_params(**changes) if changes else template), n_jobs

    def _fit_shared(self, member: Any, train: Rows | None, parts: Parts) -> None:
        part = None if train is None else parts.of(train)
        if part is None:
            member.fit(self.shared, self.y, sample_weight=self._weights_on(train))
        else:
            member.fit(part, self.y[part.rows], sample_weight=part.weights)

    def _weights_on(self, train: Rows | None) -> Floats | None:
        if train is None:
            return self.weights
        counts = np.bincount(train, minlength=self.table.n_rows).astype(np.float64)
        return counts if self.weights is None else counts * self.weights

    def _fit_rows(self, member: Any, task: Task, params: Mapping[str, Any]) -> Any:
        n_rows, rows = self.table.n_rows, task.train
        if rows is None and self.weights is not None and (self.weights == 0).any():
            rows = np.flatnonzero(self.weights)  # the others are absent
        own = {k: v if rows is None else rows_of(v, rows, n_rows) for k, v in params.items()}
        if self.weights is not None and wants_weights(task.name, task.estimator):
            own["sample_weight"] = self.weights if rows is None else self.weights[rows]
        y = self.y if rows is None else self.y[rows]
        with plain_algebra(self.table, is_own(member)):
            if self.labels is not None and not is_own(member):
                return fit_codes(member, self.table.take(rows, None), y, own)
            member.fit(self.table.take(rows, None), y, **own)
        return member

    def ask(self, member: Any, voice: Voice, rows: Rows | None) -> Floats:
        """Return what a member says about rows of the table; None is all."""
        if reads_tables(member):
            source = self.shared.source
            return voice.ask(member, source if rows is None else source.take(rows, None))
        with plain_algebra(self.table, is_own(member)):
            return voice.ask(member, self.table.take(rows, None))


class Parts:
    """The rows of splits, copied when the first member asks and kept until the last is fitted.

    Parameters
    ----------
    shared : SharedSource
        The whole table.
    trains : sequence of (ndarray of int or None)
        The rows of each fit; the same array is the same split.
    """

    def __init__(self, shared: SharedSource, trains: Sequence[Rows | None]) -> None:
        self._shared = shared
        self._n_left = Counter(id(train) for train in trains)
        self._parts: dict[int, SharedSource] = {}
        self._lock = threading.Lock()

    def of(self, train: Rows) -> SharedSource | None:
        """Return the rows of a split, without those of weight zero; None if they are not copied."""
        source = self._shared.source
        is_small = source.n_rows * source.n_features <= _COPIED_CELLS
        if not is_small or len(train) > _COPIED_SHARE * source.n_rows:
            return None
        with self._lock:
            if id(train) not in self._parts:
                weights = self._shared.weights
                rows = train if weights is None else train[weights[train] > 0]
                self._parts[id(train)] = self._shared.part(rows)
            return self._parts[id(train)]

    def leave(self, train: Rows | None) -> None:
        """Take note that one of the fits is done."""
        with self._lock:
            self._n_left[id(train)] -= 1
            if self._n_left[id(train)] == 0:
                self._parts.pop(id(train), None)


def fit_and_ask(
    team: Team, task: Task, n_threads: int, parts: Parts | None
) -> tuple[Any, Floats | None]:
    """Do a task; return the member, if it is kept, and its opinion on the test rows."""
    member = team.fit(task, n_threads, parts)
    if parts is not None:
        parts.leave(task.train)
    opinion = None
    if task.test is not None:
        assert task.voice is not None
        opinion = team.ask(member, task.voice, task.test)
    return (member if task.keeps else None), opinion
