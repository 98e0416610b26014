"""How long the page of `committee play` waits for an answer, from request to content.

Each method at its default settings on 500 points of two and of three classes, and the largest run
that is accepted: 1,000 points of four classes, 100 rounds. Requests go through the server.

    python -m benchmarks.studies.playground
"""

from __future__ import annotations

import http.client
import json
import statistics
import threading
import time
from typing import Any

import numpy as np

from committee.play.examples import example_points
from committee.play.methods import METHODS
from committee.play.server import TOKEN, PlayServer

TURNS = 21
LIMIT = 100  # milliseconds for 500 points
KINDS = {"moons": "two classes", "clouds": "three classes", "largest": "largest"}


def question(points: dict[str, Any], method: str, **more: Any) -> bytes:
    """Return what the page would send."""
    given = {key: points[key] for key in ("x", "y", "class")}
    content = {"points": given, "axes": points["axes"], "method": method, "held_out": 0.3}
    return json.dumps(content | more).encode()


def questions() -> dict[tuple[str, str], bytes]:
    """Return the request of each method and set of points."""
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 1000)).round(4).tolist()
    codes = rng.integers(0, 4, 1000).tolist()
    noise = {"x": x, "y": y, "class": codes, "axes": {"x": [0, 1], "y": [0, 1]}}
    found = {}
    for name, method in METHODS.items():
        for example in ("moons", "clouds"):
            points = example_points(example, 500, 0.15, seed=0).to_json()
            found[name, example] = question(points, name)
        largest = {} if method.rounds is None else {"rounds": method.rounds.high}
        found[name, "largest"] = question(noise, name, **largest)
    return found


def milliseconds(
    connection: http.client.HTTPConnection, token: str, body: bytes
) -> tuple[float, float]:
    """Ask once; return what the clock says, and the work of the processor."""
    headers = {TOKEN: token, "Content-Type": "application/json"}
    begin, work = time.perf_counter(), time.process_time()
    connection.request("POST", "/ask/run", body, headers)
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        raise RuntimeError(f"status {response.status}")
    return 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - work)


def main() -> None:
    """Print the median answer in milliseconds, and that of a core for itself."""
    asked = questions()
    taken: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in asked}
    with PlayServer(0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
        for turn in range(TURNS + 1):
            for key, body in asked.items():
                if key[1] == "largest" and turn > TURNS // 4:
                    continue
                found = milliseconds(connection, server.token, body)
                if turn > 0:  # the first one imports
                    taken[key].append(found)
        connection.close()
        server.shutdown()
    medians = {
        key: [statistics.median(each) for each in zip(*found, strict=True)]
        for key, found in taken.items()
    }
    print("milliseconds: by the clock / of one core, which is the same on a machine that is idle")
    print(f"{'method':12s}" + "".join(f"{kind:>16s}" for kind in KINDS.values()))
    for name in METHODS:
        cells = [medians[name, kind] for kind in KINDS]
        print(
            f"{name:12s}" + "".join(f"{f'{clock:.0f} / {core:.0f}':>16s}" for clock, core in cells)
        )
    slow = [key for key, (clock, _) in medians.items() if key[1] != "largest" and clock > LIMIT]
    print(f"over {LIMIT} ms: {', '.join(' on '.join(key) for key in slow) or 'none'}")


if __name__ == "__main__":
    main()
