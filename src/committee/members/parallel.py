"""Members of a bagged ensemble: any estimator, fitted to its sample and asked for its opinion.

A `MemberJob` holds all that is needed to fit one, so that it can be sent to another process. Work
is cut into chunks whose results come back in order: the ensemble is the same for any number of
workers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from committee.base.interrupts import WorkingThreads
from committee.base.sampling import RowSampler, member_seed, parameter_seed
from committee.base.threads import resolve_threads, usable_cores
from committee.members.readings import Floats, Reading
from committee.tables.native_table import AnyTable, reads_tables, shown_target

# Up to this many cells, linear algebra is not worth a second thread.
_SMALL_TABLE = 2**20


def is_own(estimator: Any) -> bool:
    """Whether the estimator is one of this library, whose work needs no other process."""
    return type(estimator).__module__.startswith("committee.")


@dataclass(frozen=True, eq=False)
class MemberJob:
    """What to fit members with.

    Parameters
    ----------
    estimator : object
        Template of the members, see `prepared`.
    table : AnyTable
        The training table.
    y : ndarray
        Class codes, or numbers.
    rows, features : RowSampler
        Draws of rows, and of features; None for the latter takes all.
    seed : int
        Seed of the ensemble.
    seeded : tuple of str
        Parameters of the template that are random states.
    takes_weights : bool
        Whether `fit` takes a sample_weight: then a row is passed once, with its number of draws.
    fit_params : dict
        More arguments of `fit`.
    reading : Reading
        How opinions are read.
    wants_values : bool
        Whether to return the opinion on all training rows.
    """

    estimator: Any
    table: AnyTable
    y: NDArray[Any]
    rows: RowSampler
    features: RowSampler | None
    seed: int
    seeded: tuple[str, ...]
    takes_weights: bool
    fit_params: Mapping[str, Any]
    reading: Reading
    wants_values: bool

    def fit(self, number: int) -> tuple[Any, Floats | None]:
        """Fit a member; return it and, if wanted, its opinion on the training rows."""
        counts = self.rows.counts(number)
        try:
            member = self._fit_sample(self._fresh(number), number, counts)
        except ValueError as error:
            member = self._fit_one_class(number, counts)
            if member is None:
                raise _explained(error, number, counts, self._n_classes(counts)) from error
        return member, self.read(member, number) if self.wants_values else None

    def read(self, member: Any, number: int) -> Floats:
        """Return the opinion of a member on the training rows."""
        return self.reading.values(member, self.table.shown_to(member, self.columns(number)))

    def columns(self, number: int) -> NDArray[np.int64] | None:
        return None if self.features is None else self.features.rows(number)

    def _fresh(self, number: int) -> Any:
        member = clone(self.estimator)
        seed = member_seed(self.seed, number)
        if is_own(member) and self.seeded == ("random_state",):
            return member.set_params(random_state=seed)
        seeds = {name: parameter_seed(seed, k) for k, name in enumerate(self.seeded)}
        return member.set_params(**seeds) if seeds else member

    def _fit_sample(self, member: Any, number: int, counts: NDArray[np.uint32]) -> Any:
        drawn = np.flatnonzero(counts)
        is_repeated = bool((counts[drawn] > 1).any())
        if is_repeated and not self.takes_weights:
            return self._fit_rows(member, number, np.repeat(drawn, counts[drawn]), None)
        weights = counts[drawn].astype(np.float64) if is_repeated else None
        return self._fit_rows(member, number, drawn, weights)

    def _fit_one_class(self, number: int, counts: NDArray[np.uint32]) -> Any | None:
        """Show a member whose sample has a single class the others too, with weight zero.

        Many classifiers refuse a single class and take this.
        """
        if not (self.takes_weights and self._n_classes(counts) == 1 < self.reading.n_values):
            return None
        firsts = np.unique(self.y, return_index=True)[1]
        rows = np.union1d(np.flatnonzero(counts), firsts)
        try:
            return self._fit_rows(self._fresh(number), number, rows, counts[rows].astype(float))
        except ValueError:
            return None

    def _fit_rows(
        self, member: Any, number: int, rows: NDArray[np.int64], weights: Floats | None
    ) -> Any:
        n_rows = self.table.n_rows
        if self.features is None and not self.fit_params and reads_tables(member):
            everywhere = np.zeros(n_rows)
            everywhere[rows] = 1.0 if weights is None else weights
            table = self.table.shown_to(member)
            return member.fit(table, self._shown_y, sample_weight=everywhere)
        # All rows in their order need no copy.
        chosen = None if len(rows) == n_rows and (rows == np.arange(n_rows)).all() else rows
        params = {
            name: rows_of(value, rows, n_rows) if chosen is not None else value
            for name, value in self.fit_params.items()
        }
        if weights is not None:
            params["sample_weight"] = weights
        y = self.y if chosen is None else self.y[chosen]
        member.fit(self.table.take(chosen, self.columns(number)), y, **params)
        return member

    @cached_property
    def _shown_y(self) -> Any:
        return shown_target(self.estimator, self.y)

    def _n_classes(self, counts: NDArray[np.uint32]) -> int:
        return len(np.unique(self.y[counts > 0])) if self.reading.is_classifier else 0


def rows_of(value: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    """Return the rows of an argument that has an entry for each row; others are left alone."""
    if isinstance(value, list | tuple):
        return [value[row] for row in rows] if len(value) == n_rows else value
    shape = getattr(value, "shape", None)
    if not shape or shape[0] != n_rows:
        return value
    return value.iloc[rows] if hasattr(value, "iloc") else value[rows]


def _explained(
    error: ValueError, number: int, counts: NDArray[np.uint32], n_classes: int
) -> ValueError:
    sample = f"{int((counts > 0).sum())} of {len(counts)} rows"
    if n_classes:
        sample += f", {n_classes} classes"
    hint = '; stratify="classes" keeps every class in every sample' if n_classes == 1 else ""
    error.add_note(f"This is member {number} of the ensemble (its sample: {sample}){hint}")
    return error


def prepared(estimator: Any, classes: NDArray[Any] | None) -> tuple[Any, tuple[str, ...]]:
    """Return a template for members, and the names of its random states.

    Members see class codes, so class weights by label become class weights by code. Members of
    this library use one thread each, because several of them run side by side.
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


# --- side by side -------------------------------------------------------------------------------


def count_workers(n_jobs: int | None, own: bool) -> int:
    """Return how many members are worked on side by side.

    Members of this library use threads, by default one for each core. Others follow joblib, whose
    default is one worker.
    """
    if own:
        return resolve_threads(n_jobs)
    return int(joblib.effective_n_jobs(None if n_jobs is None else resolve_threads(n_jobs)))


def in_order(
    work: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    n_workers: int,
    *,
    use_threads: bool,
    own: bool,
) -> Iterator[Any]:
    """Yield the results of calls that run side by side, in the order of the calls."""
    if n_workers == 1:
        for arguments in calls:
            yield work(*arguments)
        return
    if own and use_threads:
        yield from _in_threads(work, calls, n_workers)
        return
    prefer = "threads" if use_threads else "processes"
    backend, _ = get_active_backend(prefer=prefer)
    # Results are used as they come, where the backend can; else they wait for the last one.
    kind = "generator" if getattr(backend, "supports_return_generator", False) else "list"
    parallel = Parallel(n_jobs=n_workers, prefer=prefer, return_as=kind)
    # joblib shares the cores among processes, but not among threads.
    is_crowded = getattr(backend, "uses_threads", False) and not own
    n_inner = max(1, usable_cores() // n_workers)
    with _controller().limit(limits=n_inner) if is_crowded else nullcontext():
        yield from parallel(delayed(work)(*arguments) for arguments in calls)


def _in_threads(
    work: Callable[..., Any], calls: Iterable[tuple[Any, ...]], n_workers: int
) -> Iterator[Any]:
    """Yield the same by plain threads, which are there at once; joblib takes 10 ms to look."""
    config = get_config()  # of scikit-learn; each thread has its own
    working = WorkingThreads()

    def call(arguments: tuple[Any, ...]) -> Any:
        with working, config_context(**config):
            return work(*arguments)

    with ThreadPoolExecutor(n_workers) as pool:
        try:
            yield from pool.map(call, calls)
        except BaseException:
            # What waits was called off by `map`; who works would be waited for.
            working.interrupt()
            raise


def plain_algebra(table: AnyTable, own: bool) -> AbstractContextManager[Any]:
    """Keep linear algebra on a small table to one thread.

    More threads cost more than they bring there, most of all on a machine that is busy, and they
    would round differently in one process and in several.
    """
    if own or table.n_rows * table.n_features > _SMALL_TABLE:
        return nullcontext()
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


def _controller() -> Any:
    return _find_controller("scipy.linalg" in sys.modules)


@cache  # the search takes milliseconds; SciPy brings a library of its own
def _find_controller(has_scipy: bool) -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def chunks(numbers: Sequence[int], n_workers: int) -> list[Sequence[int]]:
    """Cut work into a few chunks for each worker, so that none waits long for the last.

    Examples
    --------
    >>> [len(chunk) for chunk in chunks(range(20), 2)]
    [3, 3, 3, 3, 3, 3, 2]
    """
    size = 1 if n_workers == 1 else max(1, -(-len(numbers) // (4 * n_workers)))
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def fit_chunk(job: MemberJob, numbers: Sequence[int]) -> list[tuple[Any, Floats | None]]:
    """Fit some members."""
    with plain_algebra(job.table, is_own(job.estimator)):
        return [job.fit(number) for number in numbers]


def read_chunk(job: MemberJob, members: Sequence[Any], numbers: Sequence[int]) -> list[Floats]:
    """Return the opinions of fitted members on the training rows."""
    with plain_algebra(job.table, is_own(job.estimator)):
        return [job.read(member, number) for member, number in zip(members, numbers, strict=True)]
