"""Learn which models the committee in one line should try, and in which order.

    COMMITTEE_DATA=tables python -m benchmarks.studies.portfolio measure folder --minutes 8
    COMMITTEE_DATA=tables python -m benchmarks.studies.portfolio learn folder
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks.harness.datasets import TableInfo, list_tables
from benchmarks.harness.halves import half_of
from benchmarks.studies.portfolio_pool import POOL
from benchmarks.studies.portfolio_table import Cache, fit, pose


def tune_tables() -> list[TableInfo]:
    """Return the tables of the tuning half, small ones first."""
    tables = [info for info in list_tables(10**9) if half_of(info.name) == "tune"]
    return sorted(tables, key=lambda info: info.n_rows)


def n_cuts(info: TableInfo) -> int:
    """Return how many times a table is cut: the errors of few held-out rows are large."""
    return 4 if info.n_rows <= 1_000 else 1


def measure(
    cache: Cache, names: list[str], tables: list[str], minutes: float
) -> None:
    """Fit what is missing, until the time is up."""
    began = time.monotonic()
    for info in tune_tables():
        if tables and info.name not in tables:
            continue
        for seed in range(n_cuts(info)):
            key = f"{info.name}-{seed}"
            missing = [name for name in names if not cache.has(key, name)]
            if not missing:
                continue
            problem = pose(info, seed)
            cache.keep_truth(key, problem)
            spent = []
            for name in missing:
                if time.monotonic() - began > 60 * minutes:
                    print(f"the time is up: {info.name} {seed}, {name}", flush=True)
                    return
                found = fit(problem, name, POOL[name])
                cache.keep(key, name, found)
                if found is not None:
                    spent.append(found[0]["seconds"])
            print(f"{key} {problem.size}: {[round(each, 1) for each in spent]}", flush=True)
    print("all is measured", flush=True)


def main() -> None:
    """Measure or learn."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("action", choices=("measure", "learn"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--first", type=int, default=None, help="so many candidates of the pool")
    parser.add_argument("--tables", nargs="*", default=[])
    options = parser.parse_args()
    cache = Cache(options.folder)
    if options.action == "measure":
        measure(cache, list(POOL)[: options.first], options.tables, options.minutes)


if __name__ == "__main__":
    main()
