"""How many threads to use: what the user asks for, within what the process may use.

A process is limited by its CPU affinity, by the quota of its container (cgroup) and by
OMP_NUM_THREADS. Inside a worker process of joblib, loky or multiprocessing one thread is used,
because the parent already runs one process for each core.
"""

import math
import multiprocessing
import numbers
import os
from functools import cache
from pathlib import Path
from typing import Any

_CGROUPS = Path("/sys/fs/cgroup")

# More threads than this are never of use, and their number must fit the engine.
_MAX_THREADS = 1024


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
