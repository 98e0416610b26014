"""Real tables in two halves: one to tune defaults on, one to test them on.

The halves were made once, by `alternate`, before anything was tuned, and are written down here so
that a table more in the folder does not move the others. Nothing measured on the test half may
decide a default.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from benchmarks.harness.datasets import TableInfo

TUNE = frozenset(
    [
        "abalone",
        "adult",
        "airlines_1m",
        "ames",
        "auto_imports",
        "california_housing",
        "car_crash_death",
        "car_evaluation",
        "census_income_kdd",
        "covertype",
        "default_credit_card",
        "diabetes130",
        "diamonds",
        "gss_wages",
        "higgs_sample",
        "imdb_movies",
        "loan_interest",
        "mammography",
        "online_shoppers",
        "optdigits",
        "parkinson_speech",
        "pima_diabetes",
        "satimage",
        "seoul_bike",
        "shelter_animals",
        "spambase",
        "titanic",
        "vehicle",
        "wine",
    ]
)
TEST = frozenset(
    [
        "amazon_access",
        "arrhythmia",
        "beijing_pm25",
        "bike_sharing",
        "brazil_rent",
        "breast_cancer_wdbc",
        "concrete",
        "cpu_act",
        "credit_g",
        "dry_bean",
        "electricity",
        "give_me_credit",
        "glass",
        "hitters",
        "hotel_bookings",
        "hpc_jobs",
        "kr_vs_kp",
        "lending_club",
        "letter",
        "magic_telescope",
        "nyc_flights",
        "parkinsons_updrs",
        "phishing_websites",
        "policy_lapse",
        "protein_casp",
        "segment",
        "soybean",
    ]
)
HALVES = ("tune", "test")


def half_of(name: str) -> str:
    """Return the half of a table; one that came later is in the test half."""
    return "tune" if name in TUNE else "test"


def alternate(tables: Iterable[TableInfo]) -> dict[str, str]:
    """Return the half of each table by the rule that made `TUNE` and `TEST`.

    Within a task the tables are put in order of their rows (then of their names) and dealt like
    cards: tune, test, test, tune, and so on, so that both halves have the same tasks and sizes.
    """
    halves = {}
    for _, group in groupby(sorted(tables, key=_order), key=lambda table: table.task):
        for i, table in enumerate(group):
            halves[table.name] = HALVES[(i + 1) // 2 % 2]
    return halves


def _order(table: TableInfo) -> tuple[str, int, str]:
    return table.task, table.n_rows, table.name
