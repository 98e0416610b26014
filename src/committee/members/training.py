"""The rows that members are fitted to, and the one way to fit them.

Members of this library share one reading and one binning of the table. The rows that a fit does not
use have a weight of zero there; where they are many and the table is not huge, the codes of the
others are copied, once for all members of a split. Only what depends on the cells alone is shared.
Other estimators get rows of the table as it came, through joblib; those that need class codes
without gaps get them.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor

from committee.base.arrays import Floats, Rows
from committee.base.sampling import member_seed, parameter_seed
from committee.base.work import Progress, count_workers, in_order, plain_algebra, resolve_threads
from committee.members.output import Output
from committee.members.renumbered import without_gaps
from committee.tables.native_table import AnyTable, reads_tables, shown_target, take_rows
from committee.tables.source import SharedSource
from committee.tables.target import are_repetitions

_log = logging.getLogger(__name__)

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

# Weights with a smaller mean are scaled for estimators of other libraries: penalties are absolute
# there, such as those of logistic regression, and would be all that counts.
_LEAST_MEAN_WEIGHT = 2.0**-10


def is_own(estimator: Any) -> bool:
    """Whether the estimator is one of this library, whose work needs no other process."""
    return type(estimator).__module__.startswith("committee.")


@dataclass(frozen=True, eq=False)
class Template:
    """An estimator of which copies are fitted.

    Parameters
    ----------
    name : str
        Of the member; empty where members have numbers only.
    number : int
        Its place in the ensemble.
    estimator : estimator
        Not fitted, see `prepared`.
    seeds : mapping
        Values of its random states.
    n_jobs : tuple of one value, or None
        What `n_jobs` of fitted members is set to; None leaves it as it was for the fit.
    """

    name: str
    number: int
    estimator: Any
    seeds: Mapping[str, int]
    n_jobs: tuple[Any] | None = None

    @property
    def title(self) -> str:
        """The member in messages."""
        return f"the member {self.name!r}" if self.name else f"member {self.number} of the ensemble"

    def copy(self, n_threads: int) -> Any:
        """Return a copy that is to be fitted with so many threads."""
        changes: dict[str, Any] = dict(self.seeds)
        if self.n_jobs is not None:
            changes["n_jobs"] = n_threads
        member = clone(self.estimator)
        return member.set_params(**changes) if changes else member


def prepared(estimator: Any, classes: NDArray[Any] | None) -> tuple[Any, tuple[str, ...]]:
    """Return a template for members, and the names of its random states.

    Members are fitted to class codes, so class weights by label become class weights by code.
    Members of this library use one thread each, because several of them run side by side.
    """
    template = clone(estimator)
    params = template.get_params(deep=True)
    changes: dict[str, Any] = {"n_jobs": 1} if is_own(template) and "n_jobs" in params else {}
    for name, value in params.items():
        if classes is not None and name.endswith("class_weight") and isinstance(value, Mapping):
            code_of = {label: code for code, label in enumerate(classes.tolist())}
            by_code = {code_of[label]: value[label] for label in value if label in code_of}
            changes[name] = by_code or value
    seeded = [name for name in params if name.rpartition("__")[2] == "random_state"]
    return (template.set_params(**changes) if changes else template), tuple(sorted(seeded))


@dataclass(frozen=True, eq=False)
class Task:
    """One fit of one member.

    Parameters
    ----------
    template : Template
        What is copied and fitted.
    train : ndarray of int or None
        Rows to fit to; None is all.
    weights : ndarray of float64 or None
        Weights of these rows; None is those of the data.
    columns : ndarray of int or None
        Columns to fit to; None is all.
    test : ndarray of int or None
        Rows to predict afterwards; None is none.
    output : Output or None
        What to predict there.
    keeps : bool
        Whether the fitted member is wanted.
    """

    template: Template
    train: Rows | None = None
    weights: Floats | None = None
    columns: Rows | None = None
    test: Rows | None = None
    output: Output | None = None
    keeps: bool = True


@dataclass(eq=False)
class TrainingData:
    """The rows that members are fitted to.

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
        The values of each of several labels, by code, where rows can have several.
    declined : frozenset of str
        Names of members that have declined the weights of rows: they learn from those of positive
        weight.
    shows_ones : bool, default=False
        Whether to give estimators of other libraries weights that are all one.
    """

    table: AnyTable
    y: NDArray[Any]
    labels: NDArray[Any] | None
    weights: Floats | None = None
    n_jobs: int | None = None
    seed: int | None = None
    fit_params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    values: list[NDArray[Any]] | None = None
    declined: frozenset[str] = frozenset()
    shows_ones: bool = False

    @cached_property
    def shared(self) -> SharedSource:
        """The table for members that read it themselves."""
        return SharedSource(self.table.opened(), self.weights)

    @cached_property
    def foreign_weights(self) -> Floats | None:
        """The weights for estimators of other libraries.

        Tiny weights are multiplied by the power of two that brings their mean next to one. Others
        stay as they are, and whole weights always: a row of weight two is that row twice.
        """
        if self.weights is None:
            return np.ones(len(self.y)) if self.shows_ones else None
        if are_repetitions(self.weights):
            return self.weights
        mean = math.fsum(self.weights) / len(self.weights)
        if mean >= _LEAST_MEAN_WEIGHT:
            return self.weights
        return np.ldexp(self.weights, -round(math.log2(mean)))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("shared", None)  # other processes read for themselves
        return state

    def part(self, rows: Rows, table: AnyTable) -> TrainingData:
        """Return some of the rows, whose cells are those of another table."""
        n_rows = len(self.y)
        weights = None if self.weights is None else self.weights[rows]
        params = {
            name: {key: rows_of(value, rows, n_rows) for key, value in own.items()}
            for name, own in self.fit_params.items()
        }
        return replace(self, table=table, y=self.y[rows], weights=weights, fit_params=params)

    def template(self, name: str, number: int, estimator: Any) -> Template:
        """Return the template of a member, with seeds for the random states that have none."""
        template, seeded = prepared(estimator, self.labels)
        seeds: dict[str, int] = {}
        if self.seed is not None:
            own, values = member_seed(self.seed, number), template.get_params()
            seeds = {
                parameter: parameter_seed(own, place)
                for place, parameter in enumerate(seeded)
                if values[parameter] is None
            }
        has_jobs = is_own(template) and "n_jobs" in template.get_params(deep=False)
        return Template(name, number, template, seeds, (estimator.n_jobs,) if has_jobs else None)

    def weights_for(self, estimator: Any, rows: Rows | None) -> Floats | None:
        """Return the weights of rows in the scale that suits an estimator; None is all rows."""
        weights = self.weights if is_own(estimator) else self.foreign_weights
        return weights if weights is None or rows is None else weights[rows]

    # ---- one member ----

    def fit(self, task: Task, n_threads: int = 1, parts: SplitTables | None = None) -> Any:
        """Return a fitted member.

        Parameters
        ----------
        task : Task
            The member and its rows.
        n_threads : int, default=1
            Threads of a member of this library.
        parts : SplitTables or None, default=None
            The binned table that members share; None bins the table for this member alone.
        """
        member, template = task.template.copy(n_threads), task.template
        try:
            if reads_tables(member) and task.columns is None and not self._params(task):
                self._fit_source(member, task, parts)
            else:
                member = self._fit_rows(member, task)
        except Exception as error:  # other libraries have kinds of their own
            alone = one_class_error(template.title, self.labels, error)
            if alone is not None:
                raise alone from error
            error.add_note(f"This is {template.title}, fitted to {self._size(task.train)}")
            raise
        if template.n_jobs is not None:
            member.set_params(n_jobs=template.n_jobs[0])
        return member

    def predict(
        self, member: Any, output: Output, rows: Rows | None = None, columns: Rows | None = None
    ) -> Floats:
        """Return the predictions of a fitted member on rows of the table; None is all."""
        if columns is None and reads_tables(member):
            source = self.table.opened()
            return output.predict(member, source if rows is None else source.take(rows, None))
        with plain_algebra(self._n_cells, is_own(member)):
            return output.predict(member, self.table.take(rows, columns))

    def out_of_bag(self, member: Any, output: Output) -> Floats:
        """Return the out-of-bag predictions of a fitted member on all rows; NaN where it has none.

        The member may have been fitted to the rows of positive weight.
        """
        predicted = output.out_of_bag(member)
        if self.weights is None or len(predicted) == len(self.y):
            return predicted
        values = np.full((len(self.y), predicted.shape[1]), np.nan)
        values[self.weights > 0] = predicted
        return values

    def fit_and_predict(
        self, task: Task, n_threads: int = 1, parts: SplitTables | None = None
    ) -> tuple[Any, Floats | None]:
        """Do a task; return the member, if it is kept, and its predictions on the test rows."""
        begin = time.monotonic()
        member = self.fit(task, n_threads, parts)
        if _log.isEnabledFor(logging.DEBUG):
            size, seconds = self._size(task.train), time.monotonic() - begin
            _log.debug("%s: fitted to %s, %.2f s", task.template.title, size, seconds)
        if parts is not None:
            parts.leave(task.train)
        predicted = None
        if task.test is not None and task.output is not None:
            predicted = self.predict(member, task.output, task.test, task.columns)
        return (member if task.keeps else None), predicted

    def _params(self, task: Task) -> Mapping[str, Any]:
        return self.fit_params.get(task.template.name, {})

    def _size(self, train: Rows | None) -> str:
        """Return the number of rows and classes that a member was fitted to, in words."""
        y = self.y if train is None else self.y[train]
        if self.labels is None:
            return f"{len(y)} rows"
        n_classes = len(np.unique(y))
        return f"{len(y)} rows of {n_classes} class{'es' * (n_classes > 1)}"

    def _fit_source(self, member: Any, task: Task, parts: SplitTables | None) -> None:
        """Fit a member that reads an opened table; rows of weight zero are absent for it."""
        if parts is None:
            y = self._opened_target(member)
            member.fit(self.table.opened(), y, sample_weight=self._all_weights(task))
            return
        part = None if task.train is None else parts.of(task.train)
        if part is None:
            member.fit(self.shared, self.y, sample_weight=self._all_weights(task))
        else:
            weights = None if task.template.name in self.declined else part.weights
            member.fit(part, self.y[part.rows], sample_weight=weights)

    def _opened_target(self, member: Any) -> Any:
        """Return the target in the form that suits the members, which are of one kind."""
        if "_opened_y" not in self.__dict__:
            self.__dict__["_opened_y"] = shown_target(member, self.y)
        return self.__dict__["_opened_y"]

    def _all_weights(self, task: Task) -> Floats | None:
        """Return the weights of all rows in a fit: zero for rows that are not fitted to."""
        if task.weights is not None:
            weights = np.zeros(self.table.n_rows)
            weights[slice(None) if task.train is None else task.train] = task.weights
            return weights
        own = self.weights
        if own is not None and task.template.name in self.declined:
            own = (own > 0).astype(np.float64)
        if task.train is None:
            return own
        counts = np.bincount(task.train, minlength=self.table.n_rows).astype(np.float64)
        return counts if own is None else counts * own

    def _fit_rows(self, member: Any, task: Task) -> Any:
        n_rows, rows, weights = self.table.n_rows, task.train, task.weights
        if rows is None and self.weights is not None and (self.weights == 0).any():
            rows = np.flatnonzero(self.weights)  # the others are absent
        elif rows is not None and len(rows) == n_rows and (rows == np.arange(n_rows)).all():
            rows = None  # needs no copy
        params = {
            key: value if rows is None else rows_of(value, rows, n_rows)
            for key, value in self._params(task).items()
        }
        if weights is None and task.template.name not in self.declined:
            weights = self.weights_for(member, rows)
        if weights is not None:
            params["sample_weight"] = weights
        y = self.y if rows is None else self.y[rows]
        with plain_algebra(self._n_cells, is_own(member)):
            X = self.table.take(rows, task.columns)
            return fit_estimator(member, X, y, params, is_classifier=self.labels is not None)

    # ---- several members ----

    def run(self, tasks: Sequence[Task], progress: Progress) -> list[tuple[Any, Floats | None]]:
        """Fit members; return them, where they are kept, and their predictions on test rows."""
        results: list[Any] = [None] * len(tasks)
        for place, result in self.each(tasks):
            results[place] = result
            progress.advance()
        return results

    def each(self, tasks: Sequence[Task]) -> Iterator[tuple[int, tuple[Any, Floats | None]]]:
        """Fit members; yield the place of each task with what `run` returns for it, as they end."""
        for places, found in self._all(tasks):
            yield from zip(places, found, strict=True)

    def _all(self, tasks: Sequence[Task]) -> Iterator[tuple[list[int], Iterator[Any]]]:
        own = [place for place, task in enumerate(tasks) if is_own(task.template.estimator)]
        foreign = [place for place in range(len(tasks)) if place not in set(own)]
        if own:
            self.shared  # noqa: B018  made before several threads use it
            n_threads = resolve_threads(self.n_jobs)
            is_beside = self._n_cells <= _SMALL_TABLE or (
                self._n_cells <= _LARGE_TABLE and len(own) >= 4 * n_threads
            )
            n_workers = min(n_threads, len(own)) if is_beside else 1
            # Split by split, so that few copies of rows are alive.
            order = {id(task.train): place for place, task in reversed(list(enumerate(tasks)))}
            own.sort(key=lambda place: order[id(tasks[place].train)])
            parts = SplitTables(self.shared, [tasks[place].train for place in own])
            share = max(1, n_threads // n_workers)
            calls: list[Any] = [(tasks[place], share, parts) for place in own]
            yield own, in_order(self.fit_and_predict, calls, n_workers, use_threads=True, own=True)
        if foreign:
            calls = [(tasks[place],) for place in foreign]
            n_workers = min(count_workers(self.n_jobs, own=False), len(foreign))
            work = self.fit_and_predict
            yield foreign, in_order(work, calls, n_workers, use_threads=False, own=False)

    @property
    def _n_cells(self) -> int:
        return int(self.table.n_rows * max(self.table.n_features, 1))


class SplitTables:
    """The rows of splits, copied for the first member of a split and kept until its last fit.

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
        """Return the rows of a split, without those of weight zero; None if they are not copied.

        Rows that are drawn more than once are copied so often: to estimators that draw rows
        themselves, weights are something else.
        """
        source = self._shared.source
        with self._lock:
            if id(train) in self._parts:
                return self._parts[id(train)]
        is_small = source.n_rows * source.n_features <= _COPIED_CELLS
        is_nearly_all = len(train) > _COPIED_SHARE * source.n_rows
        if not is_small or (is_nearly_all and len(np.unique(train)) == len(train)):
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


def fit_estimator(
    estimator: Any, X: Any, y: NDArray[Any], params: Mapping[str, Any], *, is_classifier: bool
) -> Any:
    """Fit an estimator, and return it; of other libraries, `fit` may return anything.

    A classifier that refuses class codes with gaps is fitted to other codes, see `without_gaps`.
    """
    if not is_classifier or is_own(estimator) or is_regressor(estimator):
        estimator.fit(X, y, **params)
        return estimator
    try:
        estimator.fit(X, y, **params)
    except (LookupError, ValueError):
        other = without_gaps(estimator, X, y, params)
        if other is None:
            raise
        return other
    return estimator


def rows_of(value: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    """Return the rows of an argument that has an entry for each row; others are left alone."""
    if isinstance(value, list | tuple):
        return take_rows(value, rows) if len(value) == n_rows else value
    shape = getattr(value, "shape", None)
    return take_rows(value, rows) if shape and shape[0] == n_rows else value


def one_class_error(title: str, labels: NDArray[Any] | None, error: Exception) -> ValueError | None:
    """Return the error to raise where an estimator refused a target of a single class."""
    if labels is None or len(labels) != 1 or isinstance(error, TypeError):
        return None
    label = labels.tolist()[0]
    return ValueError(f"y has 1 class, {label!r}, and {title} could not be fitted to it: {error}")
