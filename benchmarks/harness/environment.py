"""Where and with what a result was measured. No host names, no paths."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.contestants.contestant import versions

_ROOT = Path(__file__).resolve().parents[2]
# What a run itself writes does not make its commit a modified one.
_WRITTEN = ("benchmarks/results/", "docs/benchmarks")


def describe_environment(libraries: Iterable[str]) -> dict[str, Any]:
    """Describe machine, versions and commit."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "cpu": _cpu_model(),
        "cores": _cores(),
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions(libraries),
    }


def load_average() -> list[float] | None:
    """Return the load of the machine over the last 1, 5 and 15 minutes."""
    return [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    fields = dict(line.split(":", 1) for line in lines[:40] if ":" in line)
    known = {key.strip(): value.strip() for key, value in fields.items()}
    name = known.get("model name", "unknown")
    family = [known[key] for key in ("cpu family", "model") if key in known]
    return f"{name} (family {family[0]} model {family[1]})" if len(family) == 2 else name


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError):
        return None


def _commit() -> str:
    head = _git("rev-parse", "--short=12", "HEAD")
    if not head:
        return "unknown"
    changed = [
        line[3:]
        for line in _git("status", "--porcelain", "--untracked-files=no").splitlines()
        if not line[3:].startswith(_WRITTEN)
    ]
    return f"{head} with changes" if changed else head


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(_ROOT), *words], capture_output=True, text=True, check=False
        )
    except OSError:  # no git
        return ""
    return done.stdout.rstrip()
