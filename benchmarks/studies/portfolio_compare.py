"""Whole committees with one portfolio and with another, at equal budgets.

    COMMITTEE_DATA=tables python -m benchmarks.studies.portfolio_compare results.json --minutes 8
    python -m benchmarks.studies.portfolio_compare results.json --render

Rows are cut by another seed than those that the portfolio was learnt on. What was measured is kept,
and only what is missing is measured.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from benchmarks.harness.datasets import TableInfo
from benchmarks.studies.portfolio import tune_tables
from benchmarks.studies.portfolio_order import standard_error
from benchmarks.studies.portfolio_pool import GUESSED, POOL
from benchmarks.studies.portfolio_table import cut

from committee.auto.portfolio import Candidate, Size, portfolio

PORTFOLIOS = ("guessed", "learnt")
SEED = 10
MOST_ROWS = 5_000


def guessed(size: Size) -> Iterator[Candidate]:
    """Yield the candidates of the former portfolio."""
    for name in GUESSED:
        made = POOL[name](size)
        if made is not None:
            yield replace(made, name=name)


def measure_one(info: TableInfo, which: str, budget: float) -> dict[str, Any]:
    """Return the loss of a committee on held-out rows."""
    from sklearn.metrics import log_loss, root_mean_squared_error

    from committee import CommitteeClassifier, CommitteeRegressor

    X_train, X_test, y_train, y_test = cut(info, SEED, MOST_ROWS)
    kind: Any = CommitteeClassifier if info.is_classification else CommitteeRegressor
    model = kind(budget=budget, random_state=0, n_jobs=1)
    begin = time.process_time()
    with (
        warnings.catch_warnings(),
        patch("committee.auto.fit.portfolio", guessed if which == "guessed" else portfolio),
    ):
        warnings.simplefilter("ignore")
        model.fit(X_train, y_train)
    seconds = time.process_time() - begin
    if info.is_classification:
        known = np.isin(y_test, model.classes_)
        shares = model.predict_proba(X_test[known])
        loss = log_loss(y_test[known], shares, labels=model.classes_)
    else:
        loss = root_mean_squared_error(y_test, model.predict(X_test))
    return {
        "table": info.name,
        "portfolio": which,
        "budget": budget,
        "loss": float(f"{loss:.6g}"),
        "units": model.budget_,
        "seconds": round(seconds, 2),
        "members": dict(zip(model.member_names_, model.weights_.round(2).tolist(), strict=True)),
    }


def measure(
    path: Path, budgets: list[float], portfolios: list[str], minutes: float
) -> list[dict[str, Any]]:
    """Measure what is missing, until the time is up."""
    entries = json.loads(path.read_text()) if path.exists() else []
    known = {(e["table"], e["portfolio"], e["budget"]) for e in entries}
    began = time.monotonic()
    for budget in budgets:
        for info in tune_tables():
            for which in portfolios:
                if (info.name, which, budget) in known:
                    continue
                if time.monotonic() - began > 60 * minutes:
                    return entries
                entries.append(measure_one(info, which, budget))
                path.write_text(json.dumps(entries, indent=1) + "\n")
                print(entries[-1], flush=True)
    return entries


def render(entries: list[dict[str, Any]]) -> str:
    """Return a table: the loss with the learnt portfolio relative to that with the guessed one."""
    lines = ["| budget | tables | relative loss | lower |", "|---|---|---|---|"]
    for budget in sorted({e["budget"] for e in entries}):
        found = {(e["table"], e["portfolio"]): e for e in entries if e["budget"] == budget}
        tables = [t for t, p in found if p == "learnt" and (t, "guessed") in found]
        logs = [
            float(np.log(found[t, "learnt"]["loss"] / found[t, "guessed"]["loss"])) for t in tables
        ]
        lines.append(
            f"| {budget:g} | {len(logs)} | {np.exp(np.mean(logs)) - 1:+.1%} "
            f"± {standard_error(logs):.1%} | {sum(each < 0 for each in logs)} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--budgets", nargs="*", type=float, default=[10.0, 60.0])
    parser.add_argument("--portfolios", nargs="*", default=list(PORTFOLIOS))
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--render", action="store_true", help="from what was measured")
    options = parser.parse_args()
    if options.render:
        entries = json.loads(options.results.read_text())
    else:
        wanted = options.portfolios
        entries = measure(options.results, options.budgets, wanted, options.minutes)
    print(render(entries))


if __name__ == "__main__":
    main()
