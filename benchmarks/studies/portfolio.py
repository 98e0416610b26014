"""Learn which models the committee in one line should try, and in which order.

COMMITTEE_DATA=tables python -m benchmarks.studies.portfolio measure folder --minutes 8
COMMITTEE_DATA=tables python -m benchmarks.studies.portfolio learn folder
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import TableInfo, list_tables
from benchmarks.harness.halves import half_of
from benchmarks.studies.portfolio_order import (
    Cut,
    by_table,
    costs,
    left_out,
    mean_loss,
    order,
    read_cuts,
    standard_error,
    within,
)
from benchmarks.studies.portfolio_pool import GUESSED, LEARNT, POOL
from benchmarks.studies.portfolio_table import Cache, fit, pose

RESULTS = Path(__file__).resolve().parents[1] / "results" / "portfolio.json"
N_MEMBERS = 10
SECONDS = (1, 2, 5, 10, 30)
N_GROUPS = 5
# What cannot be a member, because model files would hold training rows or cannot hold it.
STRANGERS = ("net", "neighbours")

Chooser = Callable[[Cut], Sequence[str]]


def tune_tables() -> list[TableInfo]:
    """Return the tables of the tuning half, small ones first."""
    tables = [info for info in list_tables(10**9) if half_of(info.name) == "tune"]
    return sorted(tables, key=lambda info: info.n_rows)


def n_cuts(info: TableInfo) -> int:
    """Return how many times a table is cut: the errors of few held-out rows are large."""
    return 4 if info.n_rows <= 1_000 else 1


def measure(cache: Cache, names: list[str], tables: list[str], minutes: float) -> None:
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


def learn(cache: Cache, names: list[str]) -> dict[str, Any]:
    """Return the order of the candidates, and how good committees of the first of them are."""
    cuts = read_cuts(cache, names)
    own = [name for name in names if name not in STRANGERS]
    price = costs(cuts, names)
    alone = {name: mean_loss(cuts, [name]) for name in names}
    learnt = order(cuts, own, N_MEMBERS)
    print(learnt, flush=True)
    found: dict[str, Any] = {
        "tables": sorted({cut.table for cut in cuts}),
        "candidates": {
            name: {"seconds": round(price[name], 3), "alone": round(alone[name], 4)}
            for name in names
        },
        "all": round(mean_loss(cuts, own), 4),
        "all with strangers": round(mean_loss(cuts, names), 4),
        "portfolio": [
            entry_of(cuts, list(LEARNT[: place + 1]), price) | left_out_of(cuts, LEARNT, name)
            for place, name in enumerate(LEARNT)
        ],
        "seconds": {str(seconds): versus(cuts, seconds) for seconds in SECONDS},
        "order": [entry_of(cuts, learnt[: place + 1], price) for place in range(len(learnt))],
    }
    unseen: dict[str, list[float]] = {}
    orders = []
    for others, some in left_out(cuts, N_GROUPS):
        elsewhere = order(others, own, N_MEMBERS)
        orders.append(elsewhere)
        print(elsewhere, flush=True)
        for n_members in range(1, N_MEMBERS + 1):
            losses = by_table(some, [cut.loss(elsewhere[:n_members]) for cut in some])
            unseen.setdefault(str(n_members), []).extend(losses.values())
    found["orders without some tables"] = orders
    found["of tables left out"] = {
        n: [round(float(np.mean(own)), 4), round(standard_error(own), 4)]
        for n, own in unseen.items()
    }
    return found


def difference(cuts: list[Cut], names: Chooser, others: Chooser) -> list[float]:
    """Return by how much the losses of the committees of some names are larger, by table."""
    return list(
        by_table(cuts, [cut.loss(names(cut)) - cut.loss(others(cut)) for cut in cuts]).values()
    )


def left_out_of(cuts: list[Cut], portfolio: tuple[str, ...], name: str) -> dict[str, float]:
    """Return how much larger the loss is without a member of a portfolio."""
    rest = [each for each in portfolio if each != name]
    found = difference(cuts, lambda cut: rest, lambda cut: portfolio)
    return {
        "without": round(float(np.mean(found)), 4),
        "without_error": round(standard_error(found), 4),
    }


def versus(cuts: list[Cut], seconds: float) -> dict[str, Any]:
    """Return how much the learnt portfolio is better than the guessed one in so many seconds."""
    found = difference(
        cuts,
        lambda cut: within(cut, LEARNT, seconds),
        lambda cut: within(cut, GUESSED, seconds),
    )
    return {
        "loss": round(float(np.mean(found)), 4),
        "standard_error": round(standard_error(found), 4),
        "median": round(float(np.median(found)), 4),
        "lower": sum(each < 0 for each in found),
        "tables": len(found),
    }


def entry_of(cuts: list[Cut], names: list[str], price: dict[str, float]) -> dict[str, Any]:
    """Return how good the committee of the first candidates is, and what the last one does."""
    losses = list(by_table(cuts, [cut.loss(names) for cut in cuts]).values())
    last = names[-1]
    before = list(by_table(cuts, [cut.loss(names[:-1]) for cut in cuts]).values())
    gains = [0.0] if len(names) == 1 else np.subtract(before, losses).tolist()
    uses = [cut.committee(names)[1].get(last, 0.0) > 0 for cut in cuts]
    return {
        "member": last,
        "loss": round(float(np.mean(losses)), 4),
        "standard_error": round(standard_error(losses), 4),
        "gain": round(float(np.mean(gains)), 4),
        "gain_error": round(standard_error(gains) if len(gains) > 1 else 0.0, 4),
        "used": round(float(np.mean(list(by_table(cuts, uses).values()))), 2),
        "seconds": round(price[last], 2),
    }


def main() -> None:
    """Measure or learn."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("action", choices=("measure", "learn"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--first", type=int, default=None, help="so many candidates of the pool")
    parser.add_argument("--tables", nargs="*", default=[])
    options = parser.parse_args()
    cache, names = Cache(options.folder), list(POOL)[: options.first]
    if options.action == "measure":
        measure(cache, names, options.tables, options.minutes)
        return
    RESULTS.write_text(json.dumps(learn(cache, names), indent=1) + "\n")


if __name__ == "__main__":
    main()
