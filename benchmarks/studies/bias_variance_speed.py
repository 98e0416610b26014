"""`bias_variance` beside mlxtend's `bias_variance_decomp`: equal answers, and how much faster.

    python -m benchmarks.studies.bias_variance_speed   # measure, print the table
    python -m benchmarks.studies.bias_variance_speed --render   # the table again

Both draw the same bootstrap samples. mlxtend runs scikit-learn's estimators, as its users do, and
once more those of this library; `bias_variance` runs those of this library, which share one
binning of the table and run side by side. Where the estimators are the same, so are the answers.
CPU seconds are those of all threads, the least of two runs: the machine was busy, and times by the
clock say little. scikit-learn's gradient boosting has one thread: its threads wait by spinning, and
with two it took 16 times as many CPU seconds. What is in the results is not measured again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import higgs
from benchmarks.studies.study import Entries, run

RESULTS = Path(__file__).resolve().parents[1] / "results" / "bias_variance_speed.json"
N_REPEATS = 2
SIZES = {"1,000 x 20": (1_000, 20, 50), "10,000 x 28": (10_000, 28, 4)}  # rows, columns, fits
N_TEST = 1_000


def pairs() -> dict[str, tuple[Any, Any]]:
    """Return estimators of scikit-learn, and those of this library that do the same."""
    import sklearn.ensemble as theirs
    import sklearn.tree as their_trees

    import committee as ours

    stump = their_trees.DecisionTreeClassifier(max_depth=1)
    return {
        "a tree": (
            their_trees.DecisionTreeClassifier(random_state=0),
            ours.DecisionTreeClassifier(random_state=0),
        ),
        "random forest, 50 trees": (
            theirs.RandomForestClassifier(50, random_state=0, n_jobs=2),
            ours.RandomForestClassifier(50, random_state=0, n_jobs=2),
        ),
        "AdaBoost, 50 stumps": (
            theirs.AdaBoostClassifier(stump, n_estimators=50, random_state=0),
            ours.AdaBoostClassifier(n_estimators=50, random_state=0, n_jobs=2),
        ),
        "gradient boosting, 50 rounds": (
            theirs.HistGradientBoostingClassifier(max_iter=50, early_stopping=False),
            ours.GradientBoostingClassifier(n_estimators=50, random_state=0, n_jobs=2),
        ),
    }


def timed(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Return the least wall time and CPU time of some runs, and the result."""
    walls, cores, result = [], [], None
    for _ in range(N_REPEATS):
        wall, core = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        cores.append(time.process_time() - core)
    return {"seconds": round(min(walls), 3), "cpu": round(min(cores), 3)}, result


def measure(n_seeds: int) -> Entries:
    """Return seconds and answers; a seed is another table."""
    from mlxtend.evaluate import bias_variance_decomp
    from threadpoolctl import threadpool_limits

    from committee.theory import bias_variance

    entries: Entries = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    known = {(each["size"], each["estimator"]) for each in entries}
    for size, (n_rows, n_columns, n_rounds) in SIZES.items():
        X, y = higgs(n_rows + N_TEST, n_columns, seed=n_seeds)
        X = X.astype(np.float64)
        train, test = (X[:n_rows], y[:n_rows]), (X[n_rows:], y[n_rows:])
        random = np.random.RandomState(1)
        samples = [random.choice(np.arange(n_rows), n_rows) for _ in range(n_rounds)]
        for name, (theirs, ours) in pairs().items():
            if (size, name) in known:
                continue

            def peer(model: Any, n_rounds: int = n_rounds, data: Any = (*train, *test)) -> Any:
                with threadpool_limits(1, user_api="openmp"):
                    return bias_variance_decomp(model, *data, num_rounds=n_rounds, random_seed=1)

            def own(
                samples: Any = samples, data: Any = train, test: Any = test, m: Any = ours
            ) -> Any:
                found = bias_variance(m, *data, test=test, samples=samples, n_jobs=2)
                return found.error, found.bias, found.variance

            for who, work in (
                ("mlxtend, scikit-learn", lambda m=theirs, peer=peer: peer(m)),
                ("mlxtend, committee", lambda m=ours, peer=peer: peer(m)),
                ("committee", own),
            ):
                seconds, parts = timed(work)
                parts = dict(zip(("error", "bias", "variance"), map(float, parts), strict=True))
                entries.append({"size": size, "estimator": name, "who": who} | seconds | parts)
                print(entries[-1], flush=True)
    return entries


def render(entries: Entries) -> str:
    """Return the table of the guide, in CPU seconds."""
    lines = [
        "| rows | estimator | mlxtend, scikit-learn | mlxtend, committee | `bias_variance` "
        "| faster than the first | answer of the second |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for size in dict.fromkeys(each["size"] for each in entries):
        for name in dict.fromkeys(each["estimator"] for each in entries):
            found = {
                each["who"]: each
                for each in entries
                if each["size"] == size and each["estimator"] == name
            }
            names = ("mlxtend, scikit-learn", "mlxtend, committee", "committee")
            theirs, same, ours = (found[who] for who in names)
            off = max(abs(same[part] - ours[part]) for part in ("error", "bias", "variance"))
            answer = "the same" if off < 1e-9 else f"within {off:.1g}"
            seconds = " | ".join(f"{each['cpu']:.2f}" for each in (theirs, same, ours))
            faster = theirs["cpu"] / ours["cpu"]
            lines.append(f"| {size} | {name} | {seconds} | {faster:.1f}x | {answer} |")
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, RESULTS, measure, render)
