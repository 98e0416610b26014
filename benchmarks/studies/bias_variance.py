"""What lectures claim about bias and variance, measured on real tables.

    COMMITTEE_DATA=folder python -m benchmarks.studies.bias_variance --seeds 1   # measure, print
    python -m benchmarks.studies.bias_variance --render   # the table again

Each estimator is fitted to 20 samples of 1,000 rows, drawn without replacement from what is left of
a table when 2,000 rows are held out to be predicted: nearly fresh samples, as the tables have 4,500
rows or more. Tables are those of the tuning half (`halves.py`). Errors are squared: of numbers, and
of the probabilities of classes (Brier score). Noise is a part of the bias. Bias and
variance are shares of the error of the first estimator of a grid, means over the tables.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import list_tables, read_table
from benchmarks.harness.halves import half_of
from benchmarks.studies.study import Entries, run

RESULTS = Path(__file__).resolve().parents[1] / "results" / "bias_variance.json"
N_ROUNDS, N_TRAIN, N_TEST = 20, 1_000, 2_000
LEAST_ROWS, MOST_ROWS, MOST_COLUMNS = 4_500, 60_000, 36
N_TREES = 30

# A grid of estimators, its base first, and what it is about.
GRIDS = {
    "ways": "ways to make 30 trees differ",
    "size": "trees of a bag",
    "depth": "depth of a tree",
    "rounds": "rounds of boosted stumps, learning rate 0.3",
    "rate": "learning rate, 100 rounds, 7 splits a tree",
}


PARTS = ("error", "bias", "variance")

# Grid, who has more, than whom, of what.
CLAIMS = (
    ("ways", "bagging", "tree", "bias"),
    ("ways", "bagging", "pasting", "bias"),
    ("ways", "pasting", "bagging", "variance"),
    ("ways", "patches", "bagging", "bias"),
    ("ways", "bagging", "patches", "variance"),
    ("ways", "subspaces", "bagging", "bias"),
    ("ways", "bagging", "subspaces", "variance"),
    ("ways", "extra-trees", "random forest", "bias"),
    ("ways", "extra-trees", "random forest", "variance"),
    ("size", "50", "1", "bias"),
)


def grids(is_classification: bool) -> dict[str, dict[str, Any]]:
    """Return the estimators of each grid."""
    import committee

    def make(name: str, *values: Any, **params: Any) -> Any:
        kind = "Classifier" if is_classification else "Regressor"
        return getattr(committee, name + kind)(*values, **params)

    def bag(n_estimators: int = N_TREES, **params: Any) -> Any:
        return make("Bagging", make("DecisionTree"), n_estimators, **params)

    def boost(n_rounds: int, rate: float, n_splits: int) -> Any:
        return make(
            "GradientBoosting",
            n_estimators=n_rounds,
            learning_rate=rate,
            max_splits=n_splits,
        )

    forest = {"max_features": "sqrt" if is_classification else 1 / 3}
    return {
        "ways": {
            "tree": make("DecisionTree"),
            "bagging": bag(),
            "pasting": bag(bootstrap=False, max_samples=0.632),
            "patches": bag(max_features=0.5),
            "subspaces": bag(bootstrap=False, max_features=0.5),
            "random forest": make("RandomForest", N_TREES, **forest),
            "extra-trees": make("ExtraTrees", N_TREES, **forest),
        },
        "size": {str(n): bag(n) for n in (1, 5, 20, 50)},
        "depth": {str(d): make("DecisionTree", max_depth=d) for d in (2, 4, 6, 8, 12)},
        "rounds": {str(n): boost(n, 0.3, 1) for n in (5, 20, 50, 200)},
        "rate": {str(rate): boost(100, rate, 7) for rate in (0.03, 0.1, 0.3, 1.0)},
    }


def measure(n_seeds: int) -> Entries:
    """Return bias and variance of all estimators on all tables."""
    from committee.theory import bias_variance_curve

    entries: Entries = []
    for info in sorted(list_tables(MOST_ROWS), key=lambda info: info.n_rows):
        if half_of(info.name) != "tune" or info.n_rows < LEAST_ROWS:
            continue
        X, y = read_table(info)
        if X.shape[1] > MOST_COLUMNS:
            continue
        began = time.perf_counter()
        for seed in range(n_seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            held, pool = order[:N_TEST], order[N_TEST:]
            for grid, estimators in grids(info.is_classification).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = bias_variance_curve(
                        estimators,
                        X.iloc[pool],
                        y[pool],
                        test=(X.iloc[held], y[held]),
                        samples="subsample",
                        sample_size=N_TRAIN,
                        n_rounds=N_ROUNDS,
                        loss="squared_error",
                        ddof=1,
                        random_state=seed,
                    )
                where = {"table": info.name, "seed": seed, "grid": grid}
                entries += [
                    where | {"name": name} | {part: _short(getattr(each, part)) for part in PARTS}
                    for name, each in found.items()
                ]
        print(f"{info.name}: {time.perf_counter() - began:.1f} s", flush=True)
    return entries


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def ratios(entries: Entries, grid: str) -> dict[str, dict[str, Any]]:
    """Return what each estimator has beside the first of its grid: means over the tables.

    Bias and variance are relative to the error of the first: so they add up.
    """
    chosen = [each for each in entries if each["grid"] == grid]
    names = list(dict.fromkeys(each["name"] for each in chosen))
    found = {(each["table"], each["seed"], each["name"]): each for each in chosen}
    bases = [key[:2] for key in found if key[2] == names[0]]
    result = {}
    for name in names:
        pairs = [(found[(*key, name)], found[(*key, names[0])]) for key in bases]
        shares = {
            part: float(np.mean([own[part] / base["error"] for own, base in pairs]))
            for part in PARTS
        }
        lower = {
            part: float(np.mean([own[part] < base[part] for own, base in pairs])) for part in PARTS
        }
        result[name] = shares | {"lower": lower}
    return result


def claim(entries: Entries, grid: str, more: str, less: str, part: str) -> str:
    """Return on how many tables one estimator has more of a part than another."""
    found = {(e["table"], e["seed"], e["name"]): e[part] for e in entries if e["grid"] == grid}
    pairs = [(found[(*key[:2], less)], value) for key, value in found.items() if key[2] == more]
    return f"on {sum(value > other for other, value in pairs)} of {len(pairs)}"


def render(entries: Entries) -> str:
    """Return the tables of the guide."""
    n_tables = len({entry["table"] for entry in entries})
    lines = [f"{n_tables} tables", ""]
    for grid, title in GRIDS.items():
        lines += [f"{title}:", "", "| | error | bias | variance | less bias | less variance |"]
        lines += ["|---|---:|---:|---:|---:|---:|"]
        for name, each in ratios(entries, grid).items():
            lower = each["lower"]
            lines.append(
                f"| {name} | {each['error']:.3f} | {each['bias']:.3f} | {each['variance']:.3f} "
                f"| {lower['bias']:.0%} | {lower['variance']:.0%} |"
            )
        lines.append("")
    for grid, more, less, part in CLAIMS:
        lines.append(
            f"{more} has more {part} than {less}: {claim(entries, grid, more, less, part)}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, RESULTS, measure, render)
