"""Fits every estimator in less and less address space; a line of JSON for each.

Memory must run out as a MemoryError, or as the system's word that there is no room for a thread,
and leave the estimator as it was. Run in a process of its own: `python memory_child.py`, with
`MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=65536`, so that the C library has no room of its own.
"""

import faulthandler
import json
import os
import resource
import signal
import sys
import warnings
from functools import partial
from pathlib import Path

from fault_models import NAMES, answers, estimators, fit, table, target

ROWS = table(10_000)
SMALL = ROWS[:300]


def address_space():
    """Bytes that this process has mapped."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def within(n_more, work):
    """Return what comes of work that may map so many bytes more."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = address_space() + n_more
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    try:
        work()
    except MemoryError:
        return "MemoryError"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return "fitted"


def try_out(name):
    """Print what comes of fits of an estimator in more and more room, until one succeeds."""
    model = fit(estimators()[name], SMALL, target(estimators()[name], SMALL))
    y = target(model, ROWS, flipped=True)
    before, state = answers(model, SMALL), vars(model).copy()
    outcomes, changed = [], False
    for megabytes in (0, 0.5, 1, 2, 4, 8, 16, 64, 256):
        outcome = within(int(megabytes * 2**20), partial(fit, model, ROWS, y))
        outcomes.append(outcome)
        if outcome == "fitted":
            break
        changed |= vars(model) != state or answers(model, SMALL) != before
    fit(model, SMALL, target(model, SMALL))
    works = answers(model, SMALL) == before
    sys.stdout.write(json.dumps([name, outcomes, changed, works]) + "\n")
    sys.stdout.flush()


def run_apart(name):
    """Try an estimator out in a process that has used little memory; return how it ended."""
    child = os.fork()
    if child == 0:
        signal.alarm(100)  # it must not wait forever either
        try_out(name)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(names):
    warnings.simplefilter("ignore")
    faulthandler.enable()
    for name in names:
        ended = run_apart(name)
        if ended == -signal.SIGSEGV:
            # NumPy 2.4 crashes where an array of indices of 32 bits finds no room to be converted.
            # That needs luck: a crash of ours comes again.
            ended = run_apart(name) and run_apart(name)
        if ended:
            sys.stdout.write(json.dumps([name, [f"ended with {ended}"], True, False]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
