"""Long work: how many threads it may use, how far it has come, its log, how it is interrupted.

A process is limited by its CPU affinity, by the quota of its container (cgroup) and by
OMP_NUM_THREADS. Inside a worker process of joblib, loky or multiprocessing one thread is used,
because the parent already runs one process for each core. Ctrl-C reaches the main thread of Python
only; `WorkingThreads` passes it on to the others.
"""

from __future__ import annotations

import ctypes
import logging
import math
import mmap
import multiprocessing
import numbers
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, copy_context
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

import joblib
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from committee.base.warn import warn

_CGROUPS = Path("/sys/fs/cgroup")

# More threads than this are never of use, and their number must fit the engine.
_MAX_THREADS = 1024

# Up to this many cells of a table, linear algebra is not worth a second thread.
_SMALL_TABLE = 2**20


def resolve_threads(n_jobs: Any) -> int:
    """Turn `n_jobs` into a number of threads.

    Parameters
    ----------
    n_jobs : int or None
        None: all usable cores, one inside a worker process. A positive number: that many threads.
        -1: all usable cores, -2: all but one, and so on, at least one.

    Returns
    -------
    n_threads : int
        At least 1.

    Examples
    --------
    >>> resolve_threads(2)
    2
    >>> resolve_threads(-1) >= 1
    True
    """
    if n_jobs is None:
        return 1 if is_worker_process() else usable_cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise TypeError(f"n_jobs must be None or an int other than 0; got {n_jobs!r}")
    wanted = int(n_jobs)
    if wanted == 0:
        raise ValueError("n_jobs must be None or an int other than 0; got 0")
    if wanted < 0:
        return max(1, usable_cores() + 1 + wanted)
    return min(wanted, _MAX_THREADS)


def usable_cores() -> int:
    """Count the cores this process may keep busy."""
    limits = [_affinity(), _quota(_CGROUPS), _openmp_limit()]
    return max(1, min(limit for limit in limits if limit is not None))


def is_worker_process() -> bool:
    """Whether a pool of processes (joblib, loky, multiprocessing) runs this code."""
    process = multiprocessing.current_process()
    # Pools of multiprocessing start daemons; loky's workers are no daemons but have a class of
    # their own, in joblib.externals.loky or in loky.
    return process.daemon or "loky" in type(process).__module__.split(".")


def _affinity() -> int:
    if hasattr(os, "process_cpu_count"):  # Python 3.13; also honours -X cpu_count
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _openmp_limit() -> int | None:
    # OpenMP allows a list, one number for each level of nesting.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


@cache  # files of the system are slow to open, and a prediction takes microseconds
def _quota(root: Path) -> int | None:
    """Cores granted by the container: version 2 of cgroups, else version 1."""
    maximum = _read_words(root / "cpu.max")
    if len(maximum) == 2:
        return _cores(*maximum)
    quota = _read_words(root / "cpu" / "cpu.cfs_quota_us")
    period = _read_words(root / "cpu" / "cpu.cfs_period_us")
    if len(quota) == len(period) == 1:
        return _cores(quota[0], period[0])
    return None


def _cores(quota: str, period: str) -> int | None:
    """Quota over period, rounded up: half a core is better used by one thread than by none."""
    try:
        share = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):  # "max" means no limit
        return None
    return math.ceil(share) if share > 0 else None


def _read_words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except (OSError, UnicodeDecodeError):
        return []


class Progress:
    """Prints on stderr how many are done: about ten times, or more often with verbose=2.

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
        """Return what is called with a number of new ones; None if nothing is printed."""
        return (lambda n_done: self.show(begin + n_done)) if self._step else None

    def advance(self) -> None:
        """Count one more."""
        self._n_done += 1
        self.show(self._n_done)

    def show(self, n_done: int, detail: str = "") -> None:
        """Print, if enough were done since the last time; `detail` is more to say."""
        is_last = n_done == self._n_all and self._shown < n_done
        if self._step == 0 or (n_done // self._step == self._shown // self._step and not is_last):
            return
        self._shown = n_done
        seconds = time.monotonic() - self._begin
        more = f"{detail}, " if detail else ""
        line = f"{self._name}: {n_done} of {self._n_all} {self._noun}, {more}{seconds:.1f} s\n"
        sys.stderr.write(line)


_log = logging.getLogger("committee")


class FitLog:
    """Logs the begin and the end of a fit: at level INFO, inside of another fit at DEBUG.

    Used as a context manager; `running_fit` returns it inside of the ``with`` statement.

    Parameters
    ----------
    name : str
        The class of the estimator.

    Examples
    --------
    >>> with FitLog("RandomForestClassifier") as log:
    ...     log.begin(1000, 20)
    ...     log.end("%d trees", 100)
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._seconds_before = time.monotonic()
        self._level = logging.DEBUG
        self._result: tuple[Any, ...] | None = None

    def __enter__(self) -> Self:
        if _running_fit.get() is None:
            self._level = logging.INFO
        self._token = _running_fit.set(self)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        _running_fit.reset(self._token)
        if self._result is not None and kind is None:
            seconds = time.monotonic() - self._seconds_before
            text, *values = self._result
            _log.log(self._level, f"%s: {text}, %.2f s", self._name, *values, seconds)

    def begin(self, n_rows: int, n_columns: int) -> None:
        """Log the size of the training table, as soon as it is known."""
        _log.log(self._level, "%s: %d rows, %d columns", self._name, n_rows, n_columns)

    def end(self, result: str, *values: object) -> None:
        """Note what the fit made, in the format of `logging`; it is logged if nothing fails."""
        self._result = (result, *values)


# Threads of `in_order` see the fit that has started them.
_running_fit: ContextVar[FitLog | None] = ContextVar("running fit", default=None)


def running_fit() -> FitLog:
    """Return the log of the innermost fit that is running."""
    return _running_fit.get() or FitLog("fit")


class WorkingThreads:
    """The threads that are inside a ``with`` statement of this object, to be interrupted.

    Examples
    --------
    >>> working = WorkingThreads()
    >>> with working:
    ...     len(working)
    1
    """

    def __init__(self) -> None:
        self._idents: set[int] = set()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._idents)

    def __enter__(self) -> None:
        with self._lock:
            self._idents.add(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._idents.discard(threading.get_ident())

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in all of them, as soon as they run Python again."""
        with self._lock:  # no thread leaves meanwhile and is hit elsewhere
            for ident in self._idents:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(ident), ctypes.py_object(KeyboardInterrupt)
                )


# --- side by side -------------------------------------------------------------------------------

# The category of a warning, and its message.
Notice = tuple[type[Warning], str]


def count_workers(n_jobs: int | None, own: bool) -> int:
    """Return how many members are worked on side by side.

    Members of this library (`own`) use threads, by default one for each core. Others follow joblib,
    whose default is one worker.
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
    """Yield the results of calls that run side by side, in the order of the calls.

    Work with estimators of other libraries, ``own=False``, gives a warning once, at the end, and
    not once a call.
    """
    if own and n_workers == 1:
        for arguments in calls:
            yield work(*arguments)
    elif own and use_threads:
        yield from _in_threads(work, calls, n_workers)
    else:
        notices: list[Notice] = []
        for result, more in _with_notices(work, calls, n_workers, use_threads, own):
            notices += more
            yield result
        for category, message in dict.fromkeys(notices):
            warn(message, category)


def _with_notices(
    work: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    n_workers: int,
    use_threads: bool,
    own: bool,
) -> Iterator[tuple[Any, list[Notice]]]:
    """Yield the results of calls and the warnings of each, by joblib where there are workers."""
    if n_workers == 1:
        for arguments in calls:
            yield _recorded(work, *arguments)
        return
    prefer = "threads" if use_threads else "processes"
    backend, _ = get_active_backend(prefer=prefer)
    # Results are used as they come, where the backend can; else they wait for the last one.
    kind = "generator" if getattr(backend, "supports_return_generator", False) else "list"
    parallel = Parallel(n_jobs=n_workers, prefer=prefer, return_as=kind)
    in_threads = bool(getattr(backend, "uses_threads", False))
    # joblib shares the cores among processes, but not among threads.
    is_crowded = in_threads and not own
    n_inner = max(1, usable_cores() // n_workers)
    call = partial(_unrecorded if in_threads else _recorded, work)
    with _controller().limit(limits=n_inner) if is_crowded else nullcontext():
        yield from parallel(delayed(call)(*arguments) for arguments in calls)


def _recorded(work: Callable[..., Any], *arguments: Any) -> tuple[Any, list[Notice]]:
    """Do some work; return its result, and its warnings instead of giving them.

    For processes, and for one thread alone: what Python does with warnings is the same for all
    threads.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # the user\'s filters count when they are given
        result = work(*arguments)
    return result, [(each.category, str(each.message)) for each in caught]


def _unrecorded(work: Callable[..., Any], *arguments: Any) -> tuple[Any, list[Notice]]:
    """Do some work that gives its warnings itself."""
    return work(*arguments), []


# The stack of a thread, and what the C library maps for what it allocates.
_THREAD_BYTES = 160 * 2**20


def _in_threads(
    work: Callable[..., Any], calls: Iterable[tuple[Any, ...]], n_workers: int
) -> Iterator[Any]:
    """Yield the same by plain threads, which are there at once; joblib takes 10 ms to look."""
    config = get_config()  # of scikit-learn; each thread has its own
    context = copy_context()
    working = WorkingThreads()

    def call(arguments: tuple[Any, ...]) -> Any:
        with working, config_context(**config):
            return work(*arguments)

    if not _has_room(n_workers * _THREAD_BYTES):
        yield from map(call, calls)
        return
    are_born = threading.Event()
    with ThreadPoolExecutor(n_workers, initializer=are_born.wait) as pool:
        try:
            try:
                results = pool.map(lambda arguments: context.copy().run(call, arguments), calls)
            finally:
                are_born.set()
            yield from results
        except BaseException:
            # What waits is called off; who works would be waited for.
            pool.shutdown(wait=False, cancel_futures=True)
            working.interrupt()
            raise


def _has_room(n_bytes: int) -> bool:
    """Whether the process may map so much more.

    Python waits forever for a thread that is born where no memory is left, so threads start where
    there is room for all of them, and work only when all have started.
    """
    try:
        mmap.mmap(-1, n_bytes).close()
    except OSError:
        return False
    return True


def plain_algebra(n_cells: int, own: bool) -> AbstractContextManager[Any]:
    """Keep linear algebra on a small table to one thread.

    More threads cost more than they bring there, most of all on a machine that is busy, and they
    would round differently in one process and in several.
    """
    if own or n_cells > _SMALL_TABLE:
        return nullcontext()
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


def limited_threads(n_threads: int) -> AbstractContextManager[Any]:
    """Keep libraries that take no number of threads to so many."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=n_threads)
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
