"""Eight threads predict while another one fits again: each prediction is of one fit."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from fault_models import NAMES, answers, estimators, fit, table, target, times

ROWS = table()
FEW = ROWS[:5]


@pytest.mark.parametrize("name", NAMES)
def test_predictions_are_of_one_fit(name):
    model = estimators()[name]
    targets = [target(model, ROWS), target(model, ROWS, flipped=True)]
    known = {answers(fit(model, ROWS, y), FEW) for y in targets}
    assert len(known) == 2
    done = threading.Event()

    def predict():
        seen = {answers(model, FEW)}
        while not done.is_set():
            seen.add(answers(model, FEW))
        return seen

    with ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(predict) for _ in range(8)]
        try:
            for _ in range(times(1)):
                for y in targets:
                    fit(model, ROWS, y)
        finally:
            done.set()
    assert set().union(*(reader.result() for reader in readers)) <= known
