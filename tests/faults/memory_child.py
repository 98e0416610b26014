"""Fits every estimator in less and less address space; a line of JSON for each.

Memory must run out as a MemoryError, or as the system's word that there is no room for a thread,
and leave the estimator as it was. Run in a process of its own: `python memory_child.py`.
"""

import json
import resource
import sys
import warnings
from pathlib import Path

from fault_models import NAMES, answers, estimators, fit, table, target, times

ROWS = table(20_000)
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


def main(names):
    warnings.simplefilter("ignore")
    for name in names:
        model = fit(estimators()[name], SMALL, target(estimators()[name], SMALL))
        y = target(model, ROWS, flipped=True)
        before, state = answers(model, SMALL), vars(model).copy()
        outcomes, changed = [], False
        for megabytes in (0, 1, 3, 8, *(range(2, 2 + times(1) - 1))):
            outcome = within(megabytes << 20, lambda: fit(model, ROWS, y))
            outcomes.append(outcome)
            if outcome == "fitted":
                break
            changed |= vars(model) != state or answers(model, SMALL) != before
        fit(model, SMALL, target(model, SMALL))
        works = answers(model, SMALL) == before
        print(json.dumps([name, outcomes, changed, works]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
