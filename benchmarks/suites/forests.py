"""Forests: fit, scores, prediction, files, memory, importances, bagging and real tables.

Every figure of a promise was fixed before the first result. scikit-learn-intelex runs in an
environment of its own, named by COMMITTEE_SKLEARNEX_PYTHON.
"""

from __future__ import annotations

import math
from typing import Any

from benchmarks.contestants.contestant import Contestant, nested, ours
from benchmarks.parts.fit import answers_within, fits_faster
from benchmarks.parts.memory import MemoryPart, MemoryShare, MemorySize
from benchmarks.parts.race import (
    RacePart,
    RaceSize,
    predicts_faster_than_all,
    scores_as_well,
    stores_within,
)
from benchmarks.parts.repeated import OperationsPart, Ratio, Repeats, SmallFitsPart
from benchmarks.parts.tables import Duel, TablesPart, TablesSize
from benchmarks.report.markdown import Part

THREADS = 2
SKLEARNEX_PYTHON = "COMMITTEE_SKLEARNEX_PYTHON"
CLASS_METRICS = ("log_loss", "brier", "auc")  # and accuracy, reported without a promise
QUICK = RaceSize(n_train=5_000, n_test=5_000, resamples=2, single_row_calls=100)


def _ours(label: str, estimator: str, threads: int = THREADS, /, **params: Any) -> Contestant:
    return ours(label, estimator, threads=threads, random_state=0, **params)


def _sklearn(label: str, estimator: str, threads: int = THREADS, /, **params: Any) -> Contestant:
    return Contestant(
        f"scikit-learn {label}".strip(),
        f"sklearn.ensemble:{estimator}",
        {"random_state": 0, **params},
        threads,
        "n_jobs",
    )


def _sklearnex(label: str, estimator: str, **params: Any) -> Contestant:
    return Contestant(
        f"scikit-learn-intelex {label}".strip(),
        f"sklearnex.ensemble:{estimator}",
        {"random_state": 0, **params},
        THREADS,
        "n_jobs",
        python_variable=SKLEARNEX_PYTHON,
    )


def _ydf(label: str, **params: Any) -> Contestant:
    return Contestant(
        f"YDF {label}".strip(),
        "benchmarks.contestants.ydf_forests:YdfForestClassifier",
        params,
        THREADS,
        "num_threads",
        package="ydf",
    )


# ---- random forests: 100 trees to full depth, the square root of the features, bootstrap ----

_SETTINGS: dict[str, Any] = {"n_estimators": 100, "max_features": "sqrt"}
_FOREST, _FOREST_1, _SKLEARN, _SKLEARN_1 = (
    library("forest", "RandomForestClassifier", threads, **_SETTINGS)
    for library in (_ours, _sklearn)
    for threads in (2, 1)
)
_SKLEARNEX = _sklearnex("forest", "RandomForestClassifier", **_SETTINGS)
_YDF = _ydf("forest")


def _ydf_equal(n_features: int) -> Contestant:
    """YDF made to look at as many features in a node as the others (see ydf_forests.py)."""
    n_candidates = int(n_features**0.5)
    return _ydf(f"forest, {n_candidates} features", num_candidate_attributes=n_candidates - 1)


def _like_ydf(n_features: int) -> Contestant:
    """Ours with YDF's own settings: entropy, and as many features in a node as YDF looks at."""
    settings = {"criterion": "entropy", "max_features": math.ceil(n_features**0.5) + 1}
    return _ours("forest like YDF's", "RandomForestClassifier", n_estimators=100, **settings)


def _race_promises(*ydf: Contestant) -> tuple[Any, ...]:
    key = _FOREST.key
    return (
        fits_faster(key, 20),
        fits_faster(key, 4, _SKLEARNEX.key),
        *(fits_faster(key, 4, each.key) for each in ydf),
        *scores_as_well(key, _SKLEARN.key, *CLASS_METRICS),
        *scores_as_well(key, _YDF.key, *CLASS_METRICS),
        predicts_faster_than_all(
            key, (_SKLEARN.key, _SKLEARNEX.key, *(each.key for each in ydf)), 2
        ),
    )


_BINARY_PROMISES = (answers_within(_FOREST.key, "core", 30), stores_within(_FOREST.key, 16))


def _forest(
    name: str, title: str, problem: str, n_features: int, full: RaceSize, *more: Contestant
) -> RacePart:
    ydf = (_YDF, _ydf_equal(n_features))
    like_ydf = _like_ydf(n_features)
    contestants = (_FOREST, _FOREST_1, like_ydf, _SKLEARN, *more, _SKLEARNEX, *ydf)
    promises = (
        *_race_promises(*ydf),
        *scores_as_well(like_ydf.key, _YDF.key, *CLASS_METRICS),
        *_BINARY_PROMISES,
    )
    sizes = {"quick": QUICK, "full": full}
    return RacePart(name, title, problem, contestants, _SKLEARN.key, sizes, promises=promises)


_FORESTS = (
    _forest(
        "forest-s",
        "Random forest, 20,000 x 20",
        "classification S",
        20,
        RaceSize(n_train=20_000, n_test=20_000, resamples=10),
        _SKLEARN_1,
    ),
    _forest(
        "forest-100k",
        "Random forest, 100,000 x 28",
        "higgs",
        28,
        RaceSize(n_train=100_000, n_test=100_000, resamples=10),
    ),
    _forest(
        "forest-m",
        "Random forest, 100,000 x 100",
        "classification M",
        100,
        RaceSize(n_train=100_000, n_test=100_000, resamples=10),
    ),
    # Scores need ten resamples, which all rows of this table do not allow in a reasonable time.
    RacePart(
        "covertype",
        "Random forest, covertype, 7 classes",
        "covertype",
        (_FOREST, _FOREST_1, _SKLEARN, _SKLEARNEX, _YDF),
        _SKLEARN.key,
        {"full": RaceSize(n_train=500_000, n_test=81_012, resamples=2, single_row_calls=200)},
        promises=_race_promises(_YDF),
    ),
    RacePart(
        "covertype-50k",
        "Random forest, covertype, scores on 50,000 rows",
        "covertype",
        (_FOREST, _like_ydf(54), _SKLEARN, _SKLEARNEX, _YDF),
        _SKLEARN.key,
        {"quick": QUICK, "full": RaceSize(50_000, 50_000, resamples=10, single_row_calls=0)},
        promises=(
            *scores_as_well(_FOREST.key, _SKLEARN.key, *CLASS_METRICS),
            *scores_as_well(_FOREST.key, _YDF.key, *CLASS_METRICS),
            *scores_as_well(_like_ydf(54).key, _YDF.key, *CLASS_METRICS),
        ),
    ),
)

# ---- extra-trees ----

_EXTRA = _ours("extra-trees", "ExtraTreesClassifier", **_SETTINGS)
_SKLEARN_EXTRA = _sklearn("extra-trees", "ExtraTreesClassifier", **_SETTINGS)
_SKLEARNEX_EXTRA = _sklearnex("extra-trees", "ExtraTreesClassifier", **_SETTINGS)


def _extra_trees(name: str, title: str, problem: str, full: RaceSize) -> RacePart:
    peers = (_SKLEARN_EXTRA, _SKLEARNEX_EXTRA)
    return RacePart(
        name,
        title,
        problem,
        (_EXTRA, *peers),
        _SKLEARN_EXTRA.key,
        {"quick": QUICK, "full": full},
        promises=(
            fits_faster(_EXTRA.key, 4),
            *scores_as_well(_EXTRA.key, _SKLEARN_EXTRA.key, *CLASS_METRICS, "accuracy"),
            predicts_faster_than_all(_EXTRA.key, tuple(each.key for each in peers), 1),
        ),
    )


_EXTRA_TREES = (
    _extra_trees(
        "extra-s",
        "Extra-trees, 20,000 x 20",
        "classification S",
        RaceSize(n_train=20_000, n_test=20_000, resamples=10),
    ),
    _extra_trees(
        "extra-100k",
        "Extra-trees, 100,000 x 28",
        "higgs",
        RaceSize(n_train=100_000, n_test=100_000, resamples=5),
    ),
)

# ---- regression: all features in each node (the default), or a third of them ----

_SHARES = {"all": 1.0, "a third": 1 / 3}


def _regression(name: str, title: str, full: RaceSize, share: str) -> RacePart:
    label = f"regression forest, {share}"
    params = {"n_estimators": 100, "max_features": _SHARES[share]}
    mine = _ours(label, "RandomForestRegressor", **params)
    theirs = _sklearn(label, "RandomForestRegressor", **params)
    intelex = _sklearnex(label, "RandomForestRegressor", **params)
    return RacePart(
        name,
        title,
        "higgs regression",
        (mine, theirs, intelex),
        theirs.key,
        {"quick": RaceSize(3_000, 3_000, resamples=2, single_row_calls=100), "full": full},
        metric="rmse",
        promises=(
            fits_faster(mine.key, 20),
            *scores_as_well(mine.key, theirs.key, "rmse"),
            predicts_faster_than_all(mine.key, (theirs.key, intelex.key), 2),
        ),
    )


_REGRESSIONS = tuple(
    _regression(f"{name}-{size}", f"Regression forest, {text}, {rows:,} x 28", full, share)
    for size, rows, full in (
        ("20k", 20_000, RaceSize(n_train=20_000, n_test=20_000, resamples=10)),
        ("100k", 100_000, RaceSize(n_train=100_000, n_test=100_000, resamples=2)),
    )
    for name, text, share in (
        ("regression", "all features in each node", "all"),
        ("third", "a third of the features in each node", "a third"),
    )
)

# ---- what is left: memory, importances, search, bagging, small tables, real tables ----


def _bagging(library: Any) -> Contestant:
    member = nested("sklearn.linear_model:LogisticRegression", max_iter=200)
    bag: Contestant = library("bagging", "BaggingClassifier", estimator=member, n_estimators=50)
    return bag


_BAGS = (_bagging(_ours), _bagging(_sklearn))
_SMALL = tuple(
    library("forest", "RandomForestClassifier", threads)
    for library in (_ours, _sklearn)
    for threads in (1, 2)
)


def _duel(name: str, kind: str) -> Duel:
    def sides(estimator: str) -> tuple[Contestant, Contestant]:
        path = f"sklearn.ensemble:{estimator}"
        seed = {"random_state": 0}
        theirs = Contestant("scikit-learn", path, seed, THREADS, "n_jobs", encode=True)
        return _ours("", estimator), theirs

    return Duel(name, sides(f"{kind}Classifier"), sides(f"{kind}Regressor"))


PARTS: tuple[Part, ...] = (
    *_FORESTS,
    *_EXTRA_TREES,
    *_REGRESSIONS,
    MemoryPart(
        "memory",
        "Peak memory of fit, random forest, 100,000 x 28",
        "higgs",
        (_FOREST_1, _FOREST, _SKLEARN, _SKLEARNEX, _YDF),
        {
            "quick": MemorySize(n_rows=10_000, repeats=1),
            "full": MemorySize(n_rows=100_000, repeats=2),
        },
        shares=(MemoryShare(_FOREST.key, _SKLEARN.key, 0.5),),
    ),
    OperationsPart(
        "importance",
        "Out-of-bag permutation importance, 100,000 x 28",
        "higgs",
        _FOREST,
        ("fit", "permutation_importance"),
        {"quick": Repeats(n_rows=5_000, rounds=2), "full": Repeats(n_rows=100_000, rounds=5)},
        (Ratio("permutation_importance", "fit", 1),),
    ),
    OperationsPart(
        "search",
        "Choice of max_features, 20,000 x 28",
        "higgs",
        _FOREST,
        ("out_of_bag_search", "cross_validated_search"),
        {"quick": Repeats(n_rows=3_000, rounds=1), "full": Repeats(n_rows=20_000, rounds=3)},
        (Ratio("out_of_bag_search", "cross_validated_search", 0.5),),
    ),
    RacePart(
        "bagging",
        "Bagging of 50 logistic regressions, 20,000 x 28",
        "higgs",
        _BAGS,
        _BAGS[1].key,
        {
            "quick": RaceSize(3_000, 3_000, resamples=2, single_row_calls=0),
            "full": RaceSize(20_000, 20_000, resamples=10, single_row_calls=0),
        },
        noun="bag",
        note="CPU seconds of processes that joblib starts are not counted in the CPU seconds here, "
        "but among those of other processes.",
        promises=(
            # Both do the same work in the members: 5 % is the noise between two such runs.
            fits_faster(_BAGS[0].key, 0.95),
            *scores_as_well(_BAGS[0].key, _BAGS[1].key, *CLASS_METRICS),
        ),
    ),
    SmallFitsPart(
        "small",
        "Small table, 569 x 30",
        "breast cancer",
        _SMALL,
        {"quick": Repeats(n_rows=569, rounds=3), "full": Repeats(n_rows=569, rounds=30)},
        (Ratio(_SMALL[1].key, _SMALL[0].key, 1.05),),
    ),
    TablesPart(
        "tables",
        "Real tables",
        (_duel("random forest", "RandomForest"), _duel("extra-trees", "ExtraTrees")),
        {
            "quick": TablesSize(max_rows=1_000, resamples=2, max_tables=3),
            "full": TablesSize(max_rows=60_000, resamples=3),
        },
    ),
)
