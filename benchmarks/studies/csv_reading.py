"""How long reading a CSV file takes, beside pandas, pyarrow and Python's csv module, in one run.

Ours includes what the others leave to later: each column is decided on by all of its cells, and
text comes as codes and levels. The readers take turns, and the best of each counts.

    COMMITTEE_DATA=folder python -m benchmarks.studies.csv_reading adult covertype
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from pyarrow import csv as arrow_csv

from committee.io.reading import open_files

TURNS = 7
TABLES = ("adult", "default_credit_card", "covertype")


def ours(path: Path) -> None:
    """Read with committee."""
    source = open_files([path]).source
    for place in range(source.n_features):
        source.column(place)


def python(path: Path) -> None:
    """Split into cells of text, and no more."""
    with path.open(newline="") as file:
        list(csv.reader(file))


READERS: dict[str, Callable[[Path], object]] = {
    "committee": ours,
    "pandas": pd.read_csv,
    "pyarrow": arrow_csv.read_csv,
    "csv module": python,
}


def main() -> None:
    """Print seconds, and how many times as long as ours the others take."""
    folder = Path(os.environ["COMMITTEE_DATA"])
    for name in sys.argv[1:] or TABLES:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch, "table.csv")
            table = pd.read_parquet(folder / f"{name}.parquet")
            table.to_csv(path, index=False)
            best = dict.fromkeys(READERS, float("inf"))
            for _ in range(TURNS):
                for reader, read in READERS.items():
                    begin = time.perf_counter()
                    read(path)
                    best[reader] = min(best[reader], time.perf_counter() - begin)
            size = f"{name}, {len(table):,} x {table.shape[1]}, {path.stat().st_size / 1e6:.1f} MB"
            times = [
                f"{reader} {seconds:.3f} s ({seconds / best['committee']:.1f})"
                for reader, seconds in best.items()
            ]
            print(f"{size}: {', '.join(times)}")


if __name__ == "__main__":
    main()
