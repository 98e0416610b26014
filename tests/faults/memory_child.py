"""Fits every estimator while one of its large allocations fails; a line of JSON for each.

That must be a MemoryError, or no matter where somebody can do without, and leave the estimator as
it was. Run in a process of its own, with failing_malloc.c compiled and loaded before the C library:
`LD_PRELOAD=failing_malloc.so python memory_child.py failing_malloc.so`.

Allocations count from 128 KiB: NumPy 2.4 does not check those of its own buffers of 64 KiB.
"""

import ctypes
import faulthandler
import json
import os
import signal
import sys
import warnings
from functools import partial

import numpy as np
from fault_models import NAMES, answers, estimators, fit, table, target

ROWS = table(20_000)
SMALL = ROWS[:300]
LARGE = 128 * 1024
NEVER = 2**62
N_FAILURES = 10


def without(library, number, work):
    """Return what comes of work whose large allocation of this number fails, and their count."""
    library.fail_malloc(number, LARGE)
    try:
        work()
        outcome = "fitted"
    except MemoryError:
        outcome = "MemoryError"
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    finally:
        n_made = library.count_malloc()
    return outcome, n_made


def try_out(name, library):
    """Print what comes of fits of an estimator whose early and late allocations fail in turn."""
    y = target(estimators()[name], ROWS, flipped=True)
    outcome, n_made = without(library, NEVER, lambda: fit(estimators()[name], ROWS, y))
    outcomes, changed = [outcome], False
    model = fit(estimators()[name], SMALL, target(estimators()[name], SMALL))
    before, state = answers(model, SMALL), vars(model).copy()
    for number in np.unique(np.geomspace(1, n_made, N_FAILURES).astype(int)) - 1:
        outcome, _ = without(library, int(number), partial(fit, model, ROWS, y))
        outcomes.append(outcome)
        if outcome == "fitted":  # start again from the small table
            model = fit(estimators()[name], SMALL, target(estimators()[name], SMALL))
            state = vars(model).copy()
        else:
            changed |= vars(model) != state or answers(model, SMALL) != before
    fit(model, SMALL, target(model, SMALL))
    works = answers(model, SMALL) == before
    sys.stdout.write(json.dumps([name, outcomes, changed, works]) + "\n")
    sys.stdout.flush()


def run_apart(name, library):
    """Try an estimator out in a process of its own; return how that ended."""
    child = os.fork()
    if child == 0:
        signal.alarm(100)  # it must not wait forever either
        try_out(name, library)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(path, names):
    warnings.simplefilter("ignore")
    faulthandler.enable()
    library = ctypes.CDLL(path)
    library.fail_malloc.argtypes = [ctypes.c_long, ctypes.c_size_t]
    library.count_malloc.restype = ctypes.c_long
    for name in names:
        ended = run_apart(name, library)
        if ended:
            sys.stdout.write(json.dumps([name, [f"ended with {ended}"], True, False]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or NAMES)
