"""`Kept` makes a value once for each key, and unrelated values side by side."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from committee.tables.source import Kept


def test_values_of_different_keys_are_made_at_the_same_time():
    kept, both_run = Kept(), threading.Barrier(2, timeout=5)

    def make(key):
        both_run.wait()  # breaks unless the other value is being made too
        return key.upper()

    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda key: kept.once(key, lambda: make(key)), ["a", "b"])
        assert list(found) == ["A", "B"]


def test_a_value_is_made_once_however_many_threads_want_it():
    kept, calls, all_want_it = Kept(), [], threading.Barrier(4, timeout=5)

    def want(_):
        all_want_it.wait()
        return kept.once("key", lambda: calls.append(1) or object())

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(want, range(4)))
    assert len(calls) == 1
    assert len(set(map(id, found))) == 1


def test_a_value_that_could_not_be_made_is_tried_again():
    kept = Kept()
    with pytest.raises(ValueError, match="no"):
        kept.once("key", lambda: (_ for _ in ()).throw(ValueError("no")))
    assert kept.once("key", lambda: 3) == 3
