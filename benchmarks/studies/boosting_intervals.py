"""How many targets of new rows the intervals of boosting hold, on real tables of numbers.

    COMMITTEE_DATA=folder python -m benchmarks.studies.boosting_intervals   # print the table

The tables are those of the tuning half (`halves.py`). Of each, 1,500 rows are drawn for the fit and
up to 5,000 others for the count, for each of three seeds. Widths are in units of the interquartile
range of the target. Quantiles alone, without held-out rows, are counted too.
"""

from __future__ import annotations

import warnings

import numpy as np
from benchmarks.harness.datasets import list_tables, read_table
from benchmarks.harness.halves import half_of
from numpy.typing import NDArray

N_TRAIN, N_TEST = 1_500, 5_000
SEEDS = (0, 1, 2)
COVERAGE = 0.8
QUANTILES = [0.1, 0.9]


def held(bounds: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Return the share of targets inside of their bounds, and the mean width."""
    low, high = bounds.T
    unit = np.subtract(*np.quantile(y, [0.75, 0.25])) or y.std()
    return float(((low <= y) & (y <= high)).mean()), float((high - low).mean() / unit)


def main() -> None:
    """Fit, count, print a line for each table and the means."""
    import committee

    print(f"{'table':22} {'plain':>13} {'quantiles':>13} {'widened':>13}")
    every = []
    for info in list_tables(100_000):
        if info.is_classification or half_of(info.name) != "tune":
            continue
        X, y = read_table(info)
        y, found = np.asarray(y, float), []
        for seed in SEEDS:
            rows = np.random.default_rng(seed).permutation(len(y))[: N_TRAIN + N_TEST]
            train, test = rows[:N_TRAIN], rows[N_TRAIN:]
            if len(test) < 200:
                break
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                plain = committee.GradientBoostingRegressor(random_state=seed)
                between = committee.GradientBoostingRegressor(
                    loss="quantile", quantiles=QUANTILES, random_state=seed
                )
                for model in (plain, between):
                    model.fit(X.iloc[train], y[train])
                new, truth = X.iloc[test], y[test]
                found.append(
                    [
                        held(plain.predict_interval(new, COVERAGE), truth),
                        held(between.predict(new), truth),
                        held(between.predict_interval(new, COVERAGE), truth),
                    ]
                )
        if found:
            every.append(np.mean(found, axis=0))
            print(_line(info.name, every[-1]), flush=True)
    print(_line("mean", np.mean(every, axis=0)))
    shares = np.array(every)[:, :, 0]
    print(
        "least and most:",
        *[f"{a:.3f} to {b:.3f}" for a, b in zip(shares.min(0), shares.max(0), strict=True)],
    )


def _line(name: str, cells: NDArray[np.float64]) -> str:
    return f"{name:22} " + " ".join(f"{share:.3f} ({width:5.2f})" for share, width in cells)


if __name__ == "__main__":
    main()
