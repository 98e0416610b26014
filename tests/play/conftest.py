"""Points to ask about, and a server of the playground."""

import threading

import pytest

from committee.play.examples import example_points
from committee.play.server import PlayServer


@pytest.fixture(scope="session")
def moons():
    return example_points("moons", 120, 0.2, seed=1)


@pytest.fixture(scope="session")
def clouds():
    return example_points("clouds", 90, 0.2, seed=1)


@pytest.fixture(scope="module")
def server():
    """A server in a thread of its own."""
    with PlayServer(0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
