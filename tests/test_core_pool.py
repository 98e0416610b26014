"""The thread pool of the core: every task once, no deadlock, no hang, an end on request."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from itertools import pairwise

import pytest

from committee import _core


def run_script(text: str) -> str:
    """Run a script in a fresh interpreter; a hang is a failure."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("n_threads", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("n_tasks", [0, 1, 2, 7, 1000])
def test_every_task_runs_exactly_once(n_tasks: int, n_threads: int, parts: bool) -> None:
    assert _core.pool_sum(n_tasks, n_threads, 10, parts) == n_tasks * (n_tasks - 1) // 2


@pytest.mark.parametrize("parts", [False, True])
def test_many_short_calls_in_a_row_lose_nothing(parts: bool) -> None:
    assert all(_core.pool_sum(5, 3, 0, parts) == 10 for _ in range(3000))


@pytest.mark.parametrize("parts", [False, True])
def test_helpers_really_work_and_never_more_than_asked_for(parts: bool) -> None:
    assert 2 <= _core.pool_sleep(40, 4, 5, parts=parts) <= 4
    assert _core.pool_sleep(60, 2, 3, parts=parts) == 2
    assert _core.pool_sleep(20, 1, 1, parts=parts) == 1


@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("first_bad", [0, 3, 99])
def test_the_exception_of_the_first_failing_task_is_raised(n_threads: int, first_bad: int) -> None:
    for _ in range(20):
        with pytest.raises(RuntimeError, match=rf"^task {first_bad} failed$"):
            _core.pool_raise(100, n_threads, first_bad)
    assert _core.pool_raise(100, n_threads, 100) == 100


@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("first_bad", [0, 3, 99])
def test_a_failing_part_ends_the_call_with_its_exception(n_threads: int, first_bad: int) -> None:
    # Parts are taken from both ends: which of several failing ones runs is not fixed.
    for _ in range(20):
        with pytest.raises(RuntimeError, match=r"^task \d+ failed$") as caught:
            _core.pool_raise(100, n_threads, first_bad, True)
        assert first_bad <= int(str(caught.value).split()[1]) < 100
    assert _core.pool_raise(100, n_threads, 100, True) == 100


@pytest.mark.parametrize("parts", [False, True])
def test_the_pool_works_after_a_failure(parts: bool) -> None:
    with pytest.raises(RuntimeError):
        _core.pool_raise(10, 2, 1, parts)
    assert _core.pool_sum(100, 2, 10, parts) == 4950


@pytest.mark.parametrize("n_threads", [2, 4])
@pytest.mark.parametrize("parts", [False, True])
def test_a_call_from_inside_a_task_stays_on_its_thread(n_threads: int, parts: bool) -> None:
    assert _core.pool_nested(16, 50, n_threads, parts) == 0


def test_several_python_threads_may_use_the_pool_at_once() -> None:
    sums: list[int] = []

    def use_the_pool() -> None:
        sums.extend(_core.pool_sum(200, 3, 50, i % 2 == 0) for i in range(100))

    callers = [threading.Thread(target=use_the_pool) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert sums == [19900] * 600


def test_an_exception_in_one_caller_leaves_the_others_alone() -> None:
    results: list[str] = []

    def fail() -> None:
        for _ in range(100):
            try:
                _core.pool_raise(50, 3, 10)
            except RuntimeError as error:
                results.append(str(error))

    callers = [threading.Thread(target=fail) for _ in range(2)]
    for caller in callers:
        caller.start()
    sums = [_core.pool_sum(50, 3, 20) for _ in range(200)]
    for caller in callers:
        caller.join(timeout=60)
    assert sums == [1225] * 200
    assert results == ["task 10 failed"] * 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_gets_a_pool_of_its_own_even_while_the_parent_is_busy() -> None:
    out = run_script(
        """
        import os, threading
        from committee import _core

        stop = threading.Event()

        def keep_busy():
            while not stop.is_set():
                _core.pool_sum(8, 3, 0)  # takes and gives the pool's mutex all the time
                _core.pool_sum(8, 3, 0, True)

        callers = [threading.Thread(target=keep_busy) for _ in range(2)]
        for caller in callers:
            caller.start()
        codes = []
        for _ in range(30):
            pid = os.fork()
            if pid == 0:
                good = _core.pool_sum(100, 3, 10) == 4950 and _core.pool_sleep(8, 2, 1) <= 2
                good = good and _core.pool_sum(100, 3, 10, True) == 4950
                os._exit(0 if good else 1)
            codes.append(os.waitpid(pid, 0)[1])
        stop.set()
        for caller in callers:
            caller.join()
        print(codes == [0] * 30, _core.pool_sum(100, 3, 10))
        """
    )
    assert out == "True 4950"


@pytest.mark.parametrize(
    "job", ["_core.pool_sum, args=(10**6, 4, 10**4)", "_core.pool_sleep, args=(10**6, 2, 1)"]
)
def test_the_interpreter_exits_while_daemon_threads_use_the_pool(job: str) -> None:
    begin = time.monotonic()
    out = run_script(
        f"""
        import threading
        from committee import _core

        for _ in range(3):
            threading.Thread(target={job}, daemon=True).start()
        print(_core.pool_sleep(20, 2, 5) <= 2)
        """
    )
    assert out == "True"
    assert time.monotonic() - begin < 30


def test_the_core_still_works_in_functions_called_at_exit() -> None:
    out = run_script(
        """
        import atexit
        atexit.register(lambda: print(_core.pool_sum(100, 2, 10), _core.pool_sleep(5, 1, 1)))
        from committee import _core
        """
    )
    assert out == "4950 1"


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_ends_a_long_job_quickly(n_threads: int, parts: bool) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    # A shell that starts the tests in the background has made them ignore Ctrl-C.
    usual_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            _core.pool_sleep(100_000, n_threads, 1, parts=parts)
    finally:
        signal.signal(signal.SIGINT, usual_handler)
    assert time.monotonic() - begin < 5
    timer.join()
    assert _core.pool_sum(100, 2, 10) == 4950


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_exception_of_the_progress_callback_ends_the_job(n_threads: int, parts: bool) -> None:
    def give_up(done: int) -> None:
        raise LookupError(f"enough after {done}")

    with pytest.raises(LookupError, match="enough after"):
        _core.pool_sleep(100_000, n_threads, 1, give_up, parts)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_progress_is_told_on_the_calling_thread_and_never_goes_back(n_threads: int) -> None:
    told: list[tuple[int, int]] = []
    _core.pool_sleep(60, n_threads, 5, lambda done: told.append((threading.get_ident(), done)))
    assert len(told) >= 2
    assert {thread for thread, _ in told} == {threading.get_ident()}
    counts = [done for _, done in told]
    assert counts == sorted(counts)
    assert counts[-1] <= 60


@pytest.mark.parametrize("n_items", [0, 1, 10, 4097, 100_000])
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_chunks_cover_all_items_in_order_and_differ_by_at_most_one(
    n_items: int, n_threads: int
) -> None:
    ranges = _core.chunks(n_items, 16, n_threads)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == n_items
    assert all(left[1] == right[0] for left, right in pairwise(ranges))
    lengths = [end - begin for begin, end in ranges]
    assert max(lengths) - min(lengths) <= 1
    assert len(ranges) == 1 or min(lengths) >= 16
    assert n_threads > 1 or len(ranges) == 1
