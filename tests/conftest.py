"""Seeds for all tests: one fixed seed by default, another through an environment variable."""

import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

# `reference` and `tree_tools` are imported by name from every folder of tests.
sys.path.insert(0, str(Path(__file__).parent))

# Pictures need no window, in processes that tests start neither.
os.environ["MPLBACKEND"] = "Agg"

# A shell that starts pytest in the background lets it ignore Ctrl-C, and processes inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def seed():
    """The seed of a test; COMMITTEE_TEST_SEED=7 runs the suite with another one."""
    return int(os.environ.get("COMMITTEE_TEST_SEED", "0"))


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)


@pytest.fixture
def ctrl_c():
    """Sends SIGINT after a while; the handler is put back afterwards."""
    usual_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def send(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield send
    for timer in timers:
        timer.cancel()
        timer.join()
    signal.signal(signal.SIGINT, usual_handler)


@pytest.fixture(scope="session")
def window(tmp_path_factory):
    """A window of a real browser, where there is one."""
    from browser_tools import browser, missing

    if missing():
        pytest.skip(missing())
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened
