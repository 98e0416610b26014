"""Time and memory of one call, with what shows whether the machine was quiet.

Wall seconds are what a user waits; CPU seconds (all threads of the process) and the cores that
other processes kept busy meanwhile say how far the wall seconds can be trusted.
"""

from __future__ import annotations

import gc
import math
import os
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

# OpenMP threads of a peer spin for a while after their work: the next measurement waits for them.
PAUSE_SECONDS = 0.05
# The kernel counts busy cores in steps of 10 ms, too coarse for shorter measurements.
SHORTEST_FOR_OTHERS = 0.2


@dataclass(frozen=True, slots=True)
class Reading:
    """One measured call."""

    wall: float
    cpu: float
    other_cores: float | None  # cores kept busy by other processes; None if too short to tell


def say(text: str) -> None:
    """Print progress; results go to files, so that progress can be watched or dropped."""
    print(text, file=sys.stderr, flush=True)


def measure_call(call: Callable[[], T]) -> tuple[Reading, T]:
    """Measure one call and return its result, so that freeing it is not measured."""
    gc.collect()
    time.sleep(PAUSE_SECONDS)
    busy = _busy_seconds()
    cpu = time.process_time()
    wall = time.perf_counter()
    result = call()
    wall = time.perf_counter() - wall
    cpu = time.process_time() - cpu
    now = _busy_seconds()
    other = None
    if busy is not None and now is not None and wall >= SHORTEST_FOR_OTHERS:
        other = round(max(0.0, now - busy - cpu) / wall, 2)
    return Reading(wall, cpu, other), result


def interleave(
    calls: Mapping[str, Callable[[], Any]], rounds: int, title: str
) -> dict[str, list[dict[str, Any]]]:
    """Measure calls in turn (A B A B ...), so that a slow minute hits all of them."""
    readings: dict[str, list[dict[str, Any]]] = {label: [] for label in calls}
    for _ in range(rounds):
        for label, call in calls.items():
            reading, result = measure_call(call)
            del result
            readings[label].append(asdict(reading))
    for label, values in readings.items():
        best = min(value["wall"] for value in values)
        say(f"  {title}, {label}: best {best:.4g} s of {rounds}")
    return readings


def median_microseconds(call: Callable[[int], Any], n_calls: int) -> float:
    """Return the median time of many short calls; each is given its number."""
    for i in range(min(n_calls, 100)):
        call(i)
    clock = time.perf_counter_ns
    times = []
    for i in range(n_calls):
        start = clock()
        call(i)
        times.append(clock() - start)
    return round(statistics.median(times) / 1000, 3)


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """Memory of one call in bytes: resident before it, and the most it added."""

    before: int
    added: int
    method: str


def measure_memory(call: Callable[[], T]) -> tuple[MemoryReading, T]:
    """Measure the peak of resident memory during a call, beyond what was resident before.

    Linux lets a process forget its peak; elsewhere the growth of the peak over the whole life of
    the process is what is left, a lower bound.
    """
    gc.collect()
    method = "growth of ru_maxrss"
    before = _peak_bytes()
    if _forget_peak():
        method = "VmHWM after a reset"
        before = _status_bytes("VmRSS")
    result = call()
    peak = _status_bytes("VmHWM") if method.startswith("VmHWM") else _peak_bytes()
    return MemoryReading(before, max(0, peak - before), method), result


def paired_difference(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Return the mean of the differences of pairs and its standard error (NaN for one pair)."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    mean = statistics.fmean(differences)
    if len(differences) < 2:
        return mean, math.nan
    return mean, statistics.stdev(differences) / len(differences) ** 0.5


def _busy_seconds() -> float | None:
    """Seconds that all cores of the machine were busy (or stolen by its host) since boot."""
    try:
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    except OSError:
        return None
    user, nice, system, _, _, irq, softirq, steal = (int(word) for word in words[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _forget_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status_bytes(key: str) -> int:
    match = re.search(rf"^{key}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    if match is None:
        raise RuntimeError(f"/proc/self/status has no {key}")
    return int(match[1]) * 1024


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
