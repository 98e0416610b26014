"""From n_jobs to a number of threads."""

import math
import multiprocessing

import numpy as np
import pytest
from joblib import Parallel, delayed

from committee.base import threads as _threads
from committee.base.threads import is_worker_process, resolve_threads, usable_cores


@pytest.fixture
def eight_cores(monkeypatch, tmp_path):
    monkeypatch.setattr(_threads, "_affinity", lambda: 8)
    monkeypatch.setattr(_threads, "_CGROUPS", tmp_path)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return tmp_path


@pytest.mark.usefixtures("eight_cores")
@pytest.mark.parametrize(
    ("n_jobs", "threads"),
    [(None, 8), (1, 1), (3, 3), (20, 20), (np.int64(2), 2), (-1, 8), (-2, 7), (-8, 1), (-50, 1)],
)
def test_n_jobs_counts_threads_or_cores_to_leave_free(n_jobs, threads):
    assert resolve_threads(n_jobs) == threads


@pytest.mark.parametrize(
    ("n_jobs", "error"),
    [(0, ValueError), (1.5, TypeError), (True, TypeError), ("2", TypeError), (math.nan, TypeError)],
)
def test_what_is_no_number_of_jobs_is_refused(n_jobs, error):
    with pytest.raises(error, match=f"n_jobs must be None or an int other than 0; got {n_jobs!r}"):
        resolve_threads(n_jobs)


@pytest.mark.parametrize(
    ("variable", "threads"),
    [("3", 3), ("100", 8), ("2,4", 2), ("", 8), ("many", 8), ("0", 8), ("-1", 8), (" 4 ", 4)],
)
def test_omp_num_threads_is_an_upper_limit(eight_cores, monkeypatch, variable, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert resolve_threads(None) == threads
    assert resolve_threads(5) == 5  # an explicit number is the user's word


@pytest.mark.parametrize(
    ("quota", "threads"),
    [
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("50000 100000", 1),
        ("max 100000", 8),
        ("", 8),
        ("10000000 100000", 8),
        ("1 0", 8),
    ],
)
def test_the_quota_of_a_container_is_an_upper_limit(eight_cores, quota, threads):
    (eight_cores / "cpu.max").write_text(quota)
    assert resolve_threads(-1) == threads


@pytest.mark.parametrize(("quota", "threads"), [("300000", 3), ("-1", 8)])
def test_the_older_form_of_a_quota_is_read_too(eight_cores, quota, threads):
    folder = eight_cores / "cpu"
    folder.mkdir()
    (folder / "cpu.cfs_quota_us").write_text(quota)
    (folder / "cpu.cfs_period_us").write_text("100000")
    assert resolve_threads(None) == threads


def test_this_machine_has_at_least_one_core():
    assert 1 <= usable_cores() <= multiprocessing.cpu_count()


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_worker_processes_use_one_thread(backend):
    run = Parallel(n_jobs=2, backend=backend)
    # joblib also sets OMP_NUM_THREADS for its workers; the rule does not depend on it.
    assert run(delayed(is_worker_process)() for _ in range(2)) == [True, True]
    assert run(delayed(resolve_threads)(None) for _ in range(2)) == [1, 1]


@pytest.mark.usefixtures("eight_cores")
def test_a_daemon_or_loky_process_is_a_worker(monkeypatch):
    for daemon, module in [(True, "multiprocessing.process"), (False, "loky.backend.process")]:
        process = type("Process", (), {"daemon": daemon, "__module__": module})()
        monkeypatch.setattr(_threads.multiprocessing, "current_process", lambda p=process: p)
        assert resolve_threads(None) == 1
        assert resolve_threads(-1) == 8


def test_threads_of_joblib_are_no_worker_processes(monkeypatch, eight_cores):
    run = Parallel(n_jobs=2, backend="threading")
    assert run(delayed(resolve_threads)(None) for _ in range(2)) == [8, 8]
