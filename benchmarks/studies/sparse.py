"""Sparse tables: time, memory and loss of boosting and forests, beside peers that take them too.

    python -m benchmarks.studies.sparse            # all tables, results/sparse.json
    python -m benchmarks.studies.sparse tfidf      # one of them, shown only

Everyone fits the same matrix with two threads, in turns, five times; the best time counts. Settings
of boosting are those of the race on dense tables (contestants/boosters.py). Memory is what a fit
adds to the most that a fresh process has held.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from benchmarks.harness.measure import measure_memory

RESULTS = Path(__file__).resolve().parents[1] / "results" / "sparse.json"
THREADS, REPEATS, ROUNDS, TREES = 2, 5, 100, 10
SHARED: dict[str, Any] = {"learning_rate": 0.1, "random_state": 0}


def _labels(X: Any, rng: Any, n_used: int) -> Any:
    weights = np.zeros(X.shape[1])
    used = np.argsort(-np.diff(X.tocsc().indptr))[:n_used]  # columns with many values
    weights[used] = rng.normal(size=n_used)
    score = np.asarray(X @ weights).ravel()
    score = (score - score.mean()) / score.std()
    return (score + rng.normal(size=len(score)) * 0.5 > 0).astype(int)


def _csr(values: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    X = sp.coo_matrix((values, (rows, columns)), shape=shape).tocsr()
    X.sum_duplicates()
    return X


def scattered(n_rows: int, n_columns: int, share: float, seed: int = 0) -> tuple[Any, Any]:
    """Numbers at random places, some columns with many and most with few."""
    rng = np.random.default_rng(seed)
    n = int(n_rows * n_columns * share)
    columns = (n_columns * rng.random(n) ** 3).astype(int)
    X = _csr(rng.normal(size=n), rng.integers(0, n_rows, n), columns, (n_rows, n_columns))
    return X, _labels(X, rng, n_columns // 20)


def one_hot(n_rows: int, n_groups: int, n_levels: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, n_levels, (n_groups, n_rows)) + n_levels * np.arange(n_groups)[:, None]
    rows = np.tile(np.arange(n_rows), n_groups)
    X = _csr(np.ones(levels.size), rows, levels.ravel(), (n_rows, n_groups * n_levels))
    return X, _labels(X, rng, n_groups * n_levels)


def tfidf(n_rows: int = 20_000, seed: int = 0) -> tuple[Any, Any]:
    """Documents of words whose frequencies fall with their ranks, weighted as text is."""
    from sklearn.feature_extraction.text import TfidfTransformer

    rng = np.random.default_rng(seed)
    lengths = rng.poisson(80, n_rows) + 10
    words = rng.zipf(1.3, lengths.sum())
    rows = np.repeat(np.arange(n_rows), lengths)[words <= 50_000]
    words = words[words <= 50_000] - 1
    counts = _csr(np.ones(len(words)), rows, words, (n_rows, 50_000))
    return TfidfTransformer().fit_transform(counts), _labels(counts, rng, 500)


TABLES: dict[str, tuple[str, Callable[[], tuple[Any, Any]]]] = {
    "forest 3,000 x 20,000": ("forest", lambda: scattered(3_000, 20_000, 0.005)),
    "boosting 10,000 x 10,000": ("boosting", lambda: scattered(10_000, 10_000, 0.001)),
    "boosting 50,000 x 1,000 one-hot": ("boosting", lambda: one_hot(50_000, 20, 50)),
    "forest 50,000 x 1,000 one-hot": ("forest", lambda: one_hot(50_000, 20, 50)),
    "boosting tfidf 20,000 documents": ("boosting", tfidf),
}


def ours(method: str) -> Any:
    import committee

    if method == "forest":
        return committee.RandomForestClassifier(TREES, n_jobs=THREADS, random_state=0)
    return committee.GradientBoostingClassifier(
        n_estimators=ROUNDS,
        max_leaf_nodes=31,
        min_samples_leaf=20,
        l2_regularization=1.0,
        n_jobs=THREADS,
        **SHARED,
    )


def sklearn(method: str) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, n_jobs=THREADS, random_state=0)


def lightgbm(method: str) -> Any:
    from lightgbm import LGBMClassifier

    options = {"num_leaves": 31, "min_child_samples": 20, "reg_lambda": 1.0, "verbose": -1}
    return LGBMClassifier(n_estimators=ROUNDS, n_jobs=THREADS, **options, **SHARED)


def xgboost(method: str) -> Any:
    from xgboost import XGBClassifier

    options = {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0}
    more = options | SHARED | {"n_estimators": ROUNDS, "min_child_weight": 5, "n_jobs": THREADS}
    return XGBClassifier(**more)


MAKERS = {"committee": ours, "scikit-learn": sklearn, "LightGBM": lightgbm, "XGBoost": xgboost}
PEERS = {"forest": ["committee", "scikit-learn"], "boosting": ["committee", "LightGBM", "XGBoost"]}


def measure(name: str) -> dict[str, Any]:
    """Return by library the seconds of a fit, the loss on unseen rows and the memory of a fit."""
    from sklearn.metrics import log_loss

    method, make = TABLES[name]
    X, y = make()
    cut = len(y) * 4 // 5
    train, test = (X[:cut], y[:cut]), (X[cut:], y[cut:])
    found: dict[str, Any] = {each: {"seconds": []} for each in PEERS[method]}
    for _ in range(REPEATS):
        for each, result in found.items():
            model = MAKERS[each](method)
            begin = time.perf_counter()
            model.fit(*train)
            result["seconds"].append(time.perf_counter() - begin)
            begin = time.perf_counter()
            shares = model.predict_proba(test[0])
            result.setdefault("predict", []).append(time.perf_counter() - begin)
            result["loss"] = float(log_loss(test[1], shares))
    for each, result in found.items():
        result["seconds"], result["predict"] = min(result["seconds"]), min(result["predict"])
        command = [sys.executable, "-m", "benchmarks.studies.sparse", name, "--memory", each]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        result["megabytes"] = float(shown.split()[-1])
    return found


def memory_of_fit(name: str, library: str) -> float:
    """Return how many mebibytes a fit needs at most, beyond what there was before."""
    method, make = TABLES[name]
    X, y = make()
    model = MAKERS[library](method)
    model.fit(X[:200], np.arange(200) % 2)  # what is loaded once
    cut = len(y) * 4 // 5
    memory, _ = measure_memory(lambda: model.fit(X[:cut], y[:cut]))
    return memory.added / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help="parts of names")
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    asked = options.tables or [""]
    names = [name for name in TABLES if any(each in name for each in asked)]
    if options.memory:
        print(memory_of_fit(options.tables[0], options.memory))
        return
    found = {}
    for name in names:
        found[name] = measure(name)
        for library, result in found[name].items():
            values = ", ".join(f"{key} {value:.4g}" for key, value in result.items())
            print(f"{name}, {library}: {values}", flush=True)
    if not options.tables:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
