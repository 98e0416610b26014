"""The committee in one line, beside libraries that search for the best model of a table.

Rivals have environments of their own, named by COMMITTEE_AUTOGLUON_PYTHON (with
`autogluon.tabular[all]`, the full install) and COMMITTEE_FLAML_PYTHON (with `flaml[automl]`); each
needs pandas and pyarrow. Settings were fixed before the first result: the presets that AutoGluon
recommends for accuracy and for speed, FLAML as it is, single models at their defaults.
"""

from __future__ import annotations

from typing import Any

from benchmarks.contestants.contestant import Contestant
from benchmarks.parts.accuracy import AccuracySize
from benchmarks.parts.searches import Searcher, SearchPart
from benchmarks.report.markdown import Part

THREADS = 2
SECONDS, FEW_SECONDS = 30.0, 5.0
_LIMIT = 300.0  # of a rival that does not keep its time


def _search(
    label: str, adapter: str, package: str, seconds: float, variable: str = "", **options: Any
) -> Searcher:
    contestant = Contestant(
        label,
        f"benchmarks.contestants.automl:{adapter}",
        {"metric": "", "seconds": seconds, **options},
        THREADS,
        "n_jobs",
        package=package,
        python_variable=variable,
    )
    return Searcher(label, contestant, contestant, seconds)


def _single(label: str, adapter: str, package: str) -> Searcher:
    def side(task: str) -> Contestant:
        return Contestant(
            label,
            f"benchmarks.contestants.default_boosters:{adapter}",
            {"task": task},
            THREADS,
            "n_jobs",
            package=package,
        )

    return Searcher(label, side("classes"), side("numbers"))


def _own(label: str, estimator: str) -> Searcher:
    sides = (
        Contestant(label, f"committee:{estimator}{kind}", {}, THREADS, "n_jobs")
        for kind in ("Classifier", "Regressor")
    )
    return Searcher(label, *sides)


_AUTOGLUON = ("AutoGluon", "autogluon.tabular", SECONDS, "COMMITTEE_AUTOGLUON_PYTHON")
_ENTRANTS = (
    _search("committee, 30 s", "Committee", "committee", SECONDS),
    _search("AutoGluon best, 30 s", *_AUTOGLUON, presets="best_quality"),
    _search("AutoGluon medium, 30 s", *_AUTOGLUON, presets="medium_quality"),
    _search("FLAML, 30 s", "FLAML", "flaml", SECONDS, "COMMITTEE_FLAML_PYTHON"),
    _search("committee, 5 s", "Committee", "committee", FEW_SECONDS),
    _own("our boosting", "GradientBoosting"),
    _own("our forest", "RandomForest"),
    _own("our extra-trees", "ExtraTrees"),
    _single("CatBoost", "CatBoost", "catboost"),
    _single("LightGBM", "LightGBM", "lightgbm"),
    _single("XGBoost", "XGBoost", "xgboost"),
    _single("HistGradientBoosting", "HistGradientBoosting", "sklearn"),
    _single("constant", "Constant", "sklearn"),
)
_RIVALS = tuple(
    entrant.label
    for entrant in _ENTRANTS
    if entrant.label not in ("committee, 30 s", "committee, 5 s", "constant")
)

PARTS: tuple[Part, ...] = (
    SearchPart(
        "searches",
        "Searches for the best model, real tables",
        _ENTRANTS,
        _RIVALS,
        "committee, 5 s",
        "CatBoost",
        {
            "quick": AccuracySize(seeds=1, seconds=120, max_rows=1_000, tables_per_task=1),
            "full": AccuracySize(seeds=3, seconds=_LIMIT, max_rows=50_000),
        },
    ),
)
