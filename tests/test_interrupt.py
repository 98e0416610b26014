"""Ctrl-C ends a fit soon and leaves the estimator as it was."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from committee import DecisionTreeClassifier, DecisionTreeRegressor


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


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cls", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(cls, n_jobs, ctrl_c, rng):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    X = rng.normal(size=(400_000, 30)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    model = cls(n_jobs=n_jobs, max_depth=3).fit(X[:500], y[:500])
    before = model.predict(X[:1000])
    model.set_params(max_depth=None)
    ctrl_c(0.1)  # the fit would take half a second and more
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - begin < 10
    np.testing.assert_array_equal(model.predict(X[:1000]), before)
