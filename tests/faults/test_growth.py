"""Fits that are thrown away leave nothing behind."""

import gc
import resource
import sys
import weakref
from pathlib import Path

import pytest
from fault_models import LONG, NAMES, answers, estimators, fit, table, target

ROWS = table(150)
N_FITS = 300 if LONG else 6


def resident():
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("name", NAMES)
def test_many_fits_take_no_more_memory_than_a_few(name):
    model = estimators()[name]
    y = target(model, ROWS)

    def work(n_fits):
        for _ in range(n_fits):
            answers(fit(model, ROWS, y), ROWS)
        gc.collect()
        # pandas keeps a weak reference for each look at a column, and tidies up from time to time.
        return sum(type(each) is not weakref.ref for each in gc.get_objects()), resident()

    work(2)
    objects, n_bytes = work(N_FITS // 2)
    more_objects, more_bytes = work(N_FITS)
    assert more_objects - objects < N_FITS // 3  # not one in each fit
    assert more_bytes - n_bytes < 4 * 2**20
