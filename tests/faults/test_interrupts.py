"""Ctrl-C at any moment: the estimator is what it was or what it would have become, and soon so."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from fault_models import NAMES, answers, estimators, fit, table, target, times
from sklearn.base import clone

import committee

ROWS = table(1500)


def interrupted_after(seconds, work):
    """Send SIGINT while something works; returns the seconds it took to end then.

    A KeyboardInterrupt may come as late as after the work: then it is as if it had not come.
    """
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, send)
    try:
        timer.start()
        work()
        timer.cancel()
        timer.join()
        time.sleep(0)  # a signal that is on its way is handled here
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    return None


@pytest.fixture
def ctrl_c_raises():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("ctrl_c_raises")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupted_fit_changes_nothing_or_is_whole(name, rng):
    model = estimators()[name]
    y, flipped = target(model, ROWS), target(model, ROWS, flipped=True)
    begin = time.perf_counter()
    fit(model, ROWS, y)
    seconds = time.perf_counter() - begin
    before = answers(model, ROWS)
    after = answers(fit(clone(model), ROWS, flipped), ROWS)
    for moment in rng.uniform(0, 1.1 * seconds, times(2)):
        state = vars(model).copy()
        interrupted_after(moment, lambda: fit(model, ROWS, flipped))
        keeps_what_there_is = isinstance(
            model, committee.CommitteeClassifier | committee.CommitteeRegressor
        ) and getattr(model, "interrupted_", False)
        if keeps_what_there_is:
            assert np.isin(model.predict(ROWS), flipped).all() or name == "CommitteeRegressor"
        elif answers(model, ROWS) != after:
            assert vars(model) == state
            assert answers(model, ROWS) == before
        fit(model, ROWS, y)
        assert answers(model, ROWS) == before
    assert threading.active_count() < 10
