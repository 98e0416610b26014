"""Gradient boosting: fit, loss, prediction, memory, and defaults on real tables.

The settings of the contestants are in boosters.py and default_boosters.py; they and every figure
of a promise were fixed before the first result. How ours is called stands here only.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.contestants.boosters import BINS, DEPTH, L2, LEAVES, MIN_ROWS, RATE, ROUNDS
from benchmarks.contestants.contestant import Contestant, allowed_threads
from benchmarks.contestants.stand_in import STAND_IN
from benchmarks.parts.accuracy import AccuracyPart, AccuracySize, Entrant
from benchmarks.parts.equal_loss import EqualLossPart, Series
from benchmarks.parts.fit import answers_within, fits_faster, predicts_faster
from benchmarks.parts.memory import MemoryPart, MemoryShare, MemorySize
from benchmarks.parts.race import (
    RacePart,
    RaceSize,
    fits_faster_than_all,
    predicts_faster_than_all,
    scores_as_well,
    scores_as_well_as_the_fastest,
)
from benchmarks.parts.repeated import Ratio, Repeats, SmallFitsPart
from benchmarks.report.markdown import Part

THREADS = allowed_threads(1, 2)
TOLERANCE = 0.002  # losses that differ by less than this share are equal
QUICK = RaceSize(500, 500, resamples=2, predict_rounds=1, single_row_calls=20)
NOUN = "100 trees"
METRICS = {"classes": "log_loss", "numbers": "rmse"}

# ---- ours ----

_SETTINGS: dict[str, Any] = {
    "n_estimators": ROUNDS,
    "learning_rate": RATE,
    "max_leaf_nodes": LEAVES,
    "l2_regularization": L2,
    "min_samples_leaf": MIN_ROWS,
    "max_bins": BINS,
    "random_state": 0,
}
# For classes also XGBoost's limit: LightGBM estimates the rows of a leaf from its hessians, so that
# its limit of rows is such a limit in effect. HistGradientBoosting counts rows, as ours does:
# beside it alone, on the small table, ours goes without.
_CLASSES = {"min_child_weight": MIN_ROWS / 4}
# At most 32 leaves in 5 levels: the trees of XGBoost's exact search.
_EXACT = {"split_finding": "exact", "max_depth": DEPTH, "max_leaf_nodes": 2**DEPTH}
_ESTIMATORS = {
    "classes": "GradientBoostingClassifier",
    "numbers": "GradientBoostingRegressor",
}
_HAS_STAND_IN = STAND_IN in os.environ
_OUR_NAME = "stand-in" if _HAS_STAND_IN else "committee"


def _call_ours(label: str, task: str, threads: int, params: dict[str, Any]) -> Contestant:
    module = "benchmarks.contestants.stand_in" if _HAS_STAND_IN else "committee"
    package = "sklearn" if _HAS_STAND_IN else ""
    estimator = f"{module}:{_ESTIMATORS[task]}"
    name = f"{_OUR_NAME} {label}".strip()
    return Contestant(name, estimator, params, threads, "n_jobs", package=package)


def _settings(task: str) -> dict[str, Any]:
    return {**_SETTINGS, **(_CLASSES if task == "classes" else {})}


def _ours(task: str, threads: int) -> Contestant:
    return _call_ours("", task, threads, _settings(task))


def _ours_with(simd: str, task: str, threads: int) -> Contestant:
    return replace(_call_ours(simd, task, threads, _settings(task)), simd=simd)


def _our_simd(task: str) -> tuple[Contestant, ...]:
    """Return the slower paths of ours; AVX2 is also the best of many processors."""
    if _HAS_STAND_IN:
        return ()
    avx2 = tuple(_ours_with("avx2", task, threads) for threads in THREADS)
    return (*avx2, _ours_with("scalar", task, max(THREADS)))


# ---- peers ----

_QUANTISED: dict[str, Any] = {
    "use_quantized_grad": True,
    "num_grad_quant_bins": 16,
    "quant_train_renew_leaf": True,
}
Maker = Callable[[str, int], Contestant]


def _peer(label: str, adapter: str, package: str, layout: str = "C", **params: Any) -> Maker:
    def make(task: str, threads: int) -> Contestant:
        return Contestant(
            label,
            f"benchmarks.contestants.boosters:{adapter}",
            {"task": task, **params},
            threads,
            "n_jobs",
            package=package,
            layout=layout,
        )

    return make


_LIGHTGBM = _peer("LightGBM", "LightGBM", "lightgbm")
_QUANTISED_LIGHTGBM = _peer("LightGBM quantised", "LightGBM", "lightgbm", **_QUANTISED)
_XGBOOST = _peer("XGBoost", "XGBoost", "xgboost")
_CATBOOST = _peer("CatBoost", "CatBoost", "catboost", "F")
_SYMMETRIC = _peer("CatBoost symmetric", "CatBoostSymmetric", "catboost", "F")
_SKLEARN = _peer("HistGradientBoosting", "HistGradientBoosting", "sklearn", "F")
# The peers that grow the same trees; the fastest of them is the one to beat.
_PEERS = (_LIGHTGBM, _QUANTISED_LIGHTGBM, _XGBOOST, _CATBOOST, _SKLEARN)


def _keys(makers: tuple[Maker, ...], task: str, threads: int) -> tuple[str, ...]:
    return tuple(make(task, threads).key for make in makers)


# ---- speed and loss ----


def _speed_promises(task: str, threads: int) -> tuple[Any, ...]:
    mine = _ours(task, threads).key
    peers = _keys(_PEERS, task, threads)
    promises = (
        fits_faster_than_all(mine, peers, 2),
        scores_as_well_as_the_fastest(mine, peers, METRICS[task], TOLERANCE),
        *scores_as_well(mine, _LIGHTGBM(task, threads).key, METRICS[task], tolerance=TOLERANCE),
        fits_faster(mine, 2, _SYMMETRIC(task, threads).key),
    )
    if _HAS_STAND_IN:
        return promises
    return (*promises, fits_faster_than_all(_ours_with("avx2", task, threads).key, peers, 1.5))


def _speed(name: str, title: str, problem: str, task: str, full: RaceSize) -> RacePart:
    makers = (_ours, *_PEERS, _SYMMETRIC)
    contestants = tuple(make(task, threads) for threads in THREADS for make in makers)
    return RacePart(
        name,
        title,
        problem,
        (*contestants, *_our_simd(task)),
        _LIGHTGBM(task, max(THREADS)).key,
        {"quick": QUICK, "full": full},
        metric=METRICS[task],
        noun=NOUN,
        note="100 rounds of 31 leaves, learning rate 0.1, 255 bins, L2 penalty 1, at least 20 rows "
        "a leaf, binning included. CatBoost symmetric has trees of another kind (depth 5, 32 "
        "leaves) and is compared apart.",
        promises=tuple(
            promise for threads in THREADS for promise in _speed_promises(task, threads)
        ),
    )


def _race_size(n_train: int, n_test: int) -> RaceSize:
    return RaceSize(n_train, n_test, resamples=10, predict_rounds=0, single_row_calls=0)


_SHAPES = (
    ("l", "1,000,000 x 28", _race_size(1_000_000, 200_000), "higgs", "higgs regression"),
    ("m", "100,000 x 100", _race_size(100_000, 100_000), "classification M", "higgs regression M"),
    ("s", "20,000 x 20", _race_size(20_000, 20_000), "classification S", "higgs regression S"),
)
_SPEED = tuple(
    _speed(f"speed-{letter}", f"Boosting, binary log loss, {shape}", classes, "classes", size)
    for letter, shape, size, classes, _ in _SHAPES
)
_REGRESSION = tuple(
    _speed(f"regression-{letter}", f"Boosting, squared error, {shape}", numbers, "numbers", size)
    for letter, shape, size, _, numbers in _SHAPES
)

# ---- seven classes: peers need different numbers of rounds for the same loss ----


def _rounds(label: str, adapter: str, package: str, rounds: tuple[int, ...], **params: Any) -> Any:
    return tuple(
        _peer(f"{label}, {n} rounds", adapter, package, n_rounds=n, **params)(
            "classes", max(THREADS)
        )
        for n in rounds
    )


_SERIES = {
    "LightGBM": _rounds("LightGBM", "LightGBM", "lightgbm", (50, 100, 200)),
    "LightGBM quantised": _rounds(
        "LightGBM quantised", "LightGBM", "lightgbm", (50, 100, 200), **_QUANTISED
    ),
    "XGBoost": _rounds("XGBoost", "XGBoost", "xgboost", (50, 100, 200)),
    "HistGradientBoosting": _rounds(
        "HistGradientBoosting", "HistGradientBoosting", "sklearn", (50, 100, 200)
    ),
    "CatBoost": _rounds("CatBoost", "CatBoost", "catboost", (100, 200, 400)),
    "CatBoost symmetric, depth 6, rate 0.3": _rounds(
        "CatBoost symmetric, depth 6, rate 0.3",
        "CatBoostSymmetric",
        "catboost",
        (100, 300, 900),
        depth=6,
        learning_rate=0.3,
    ),
}
_REFERENCE = _SERIES["LightGBM"][1].key


def _covertype() -> EqualLossPart:
    mine = _ours("classes", max(THREADS))
    peers = tuple(each for contestants in _SERIES.values() for each in contestants)
    return EqualLossPart(
        "covertype",
        "Boosting, covertype, 7 classes",
        "covertype",
        (mine, *peers),
        _REFERENCE,
        {
            "quick": replace(QUICK, resamples=1),
            "full": RaceSize(500_000, 81_012, 2, predict_rounds=0, single_row_calls=0),
        },
        noun=NOUN,
        note="Trees of CatBoost hold a value for each class, so that it needs more rounds.",
        mine=mine.key,
        reference=_REFERENCE,
        series=tuple(
            Series(label, tuple(each.key for each in contestants))
            for label, contestants in _SERIES.items()
        ),
    )


# ---- exact search ----


def _exact() -> RacePart:
    contestants: list[Contestant] = []
    promises: list[Any] = []
    for threads in THREADS:
        mine = _call_ours("exact", "classes", threads, {**_settings("classes"), **_EXACT})
        theirs = _peer("XGBoost exact", "XGBoostExact", "xgboost")("classes", threads)
        contestants += [mine, theirs]
        promises.append(fits_faster(mine.key, 1, theirs.key))
        promises += scores_as_well(mine.key, theirs.key, "log_loss", tolerance=TOLERANCE)
    return RacePart(
        "exact",
        "Boosting, exact search, 100,000 x 28",
        "higgs",
        tuple(contestants),
        contestants[-1].key,
        {
            "quick": QUICK,
            "full": RaceSize(100_000, 100_000, 5, predict_rounds=0, single_row_calls=0),
        },
        noun=NOUN,
        note="100 rounds of 5 levels: XGBoost's exact search does not grow best first.",
        promises=tuple(promises),
    )


# ---- prediction ----


def _predict_promises(threads: int) -> tuple[Any, ...]:
    mine = _ours("classes", threads).key
    return (
        predicts_faster(mine, _LIGHTGBM("classes", threads).key, 5),
        predicts_faster_than_all(mine, _keys(_PEERS, "classes", threads), 2),
        predicts_faster(mine, _SYMMETRIC("classes", threads).key, 2),
    )


def _predict() -> RacePart:
    makers = (_ours, _LIGHTGBM, _XGBOOST, _CATBOOST, _SYMMETRIC, _SKLEARN)
    mine = _ours("classes", 1).key
    return RacePart(
        "predict",
        "Boosting, prediction of 100,000 x 28",
        "higgs",
        tuple(make("classes", threads) for threads in THREADS for make in makers),
        _LIGHTGBM("classes", 1).key,
        {"quick": QUICK, "full": RaceSize(100_000, 100_000, 2, 10, 2000)},
        noun=NOUN,
        promises=(
            *(promise for threads in THREADS for promise in _predict_promises(threads)),
            answers_within(mine, "core", 15),
            answers_within(mine, "predict", 100),
        ),
    )


# ---- small tables, memory ----


def _ours_counting(task: str, threads: int) -> Contestant:
    return _call_ours("", task, threads, _SETTINGS)


_SMALL = tuple(
    make("classes", threads)
    for make in (_ours_counting, _SKLEARN, _LIGHTGBM)
    for threads in THREADS
)
_MEMORY = tuple(
    make("classes", threads)
    for threads in THREADS
    for make in (_ours, _LIGHTGBM, _QUANTISED_LIGHTGBM, _XGBOOST, _SKLEARN)
)


def _small_promises() -> tuple[Ratio, ...]:
    one, two = (_ours_counting("classes", threads).key for threads in (1, 2))
    peer_one, peer_two = (_SKLEARN("classes", threads).key for threads in (1, 2))
    return (
        Ratio(one, peer_one, 0.2),
        Ratio(two, peer_two, 0.2),
        Ratio(two, peer_one, 0.2),
        Ratio(two, one, 1.05),  # 5 % is the noise between two such runs
    )


# ---- which layout and which options suit the peers: measured before the rest, without ours ----


_WAYS: tuple[dict[str, Any], ...] = ({}, {"force_row_wise": True}, {"force_col_wise": True})


def _variants() -> tuple[Contestant, ...]:
    found = []
    for layout in ("C", "F"):
        for options in _WAYS:
            label = " ".join(["LightGBM", layout, *options])
            found.append(_peer(label, "LightGBM", "lightgbm", layout, **options))
        found.append(
            _peer(f"LightGBM quantised {layout}", "LightGBM", "lightgbm", layout, **_QUANTISED)
        )
        found.append(_peer(f"XGBoost {layout}", "XGBoost", "xgboost", layout))
        found.append(_peer(f"CatBoost symmetric {layout}", "CatBoostSymmetric", "catboost", layout))
        found.append(
            _peer(f"HistGradientBoosting {layout}", "HistGradientBoosting", "sklearn", layout)
        )
    return tuple(make("classes", max(THREADS)) for make in found)


# ---- defaults on real tables: one thread each, so that the machine may be shared ----

ONE_THREAD = 1


def _entrant(label: str, adapter: str, package: str) -> Entrant:
    def side(task: str) -> Contestant:
        return Contestant(
            label,
            f"benchmarks.contestants.default_boosters:{adapter}",
            {"task": task},
            ONE_THREAD,
            "n_jobs",
            package=package,
        )

    return Entrant(label, side("classes"), side("numbers"))


_OUR_DEFAULTS = Entrant(
    _OUR_NAME,
    _call_ours("", "classes", ONE_THREAD, {}),
    _call_ours("", "numbers", ONE_THREAD, {}),
)
_ENTRANTS = (
    _OUR_DEFAULTS,
    _entrant("LightGBM", "LightGBM", "lightgbm"),
    _entrant("XGBoost", "XGBoost", "xgboost"),
    _entrant("CatBoost", "CatBoost", "catboost"),
    _entrant("HistGradientBoosting", "HistGradientBoosting", "sklearn"),
    _entrant("constant", "Constant", "sklearn"),
)

PARTS: tuple[Part, ...] = (
    *_SPEED,
    *_REGRESSION,
    _covertype(),
    _exact(),
    _predict(),
    SmallFitsPart(
        "small",
        "Boosting, small table, 569 x 30",
        "breast cancer",
        _SMALL,
        {"quick": Repeats(n_rows=569, rounds=3), "full": Repeats(n_rows=569, rounds=30)},
        _small_promises(),
    ),
    MemoryPart(
        "memory",
        "Peak memory of fit, boosting, 1,000,000 x 28",
        "higgs",
        _MEMORY,
        {
            "quick": MemorySize(n_rows=2_000, repeats=1),
            "full": MemorySize(n_rows=1_000_000, repeats=2),
        },
        shares=tuple(
            MemoryShare(_ours("classes", n).key, _LIGHTGBM("classes", n).key, 1) for n in THREADS
        ),
    ),
    AccuracyPart(
        "accuracy",
        "Boosting, defaults on real tables",
        _ENTRANTS,
        {
            "quick": AccuracySize(seeds=1, seconds=60, max_rows=1_000, tables_per_task=1),
            "full": AccuracySize(
                seeds=2, seconds=400, large=10_000, large_seeds=1, train_rows=20_000
            ),
        },
        slowest="CatBoost",
    ),
    RacePart(
        "peers",
        "Boosting, layouts and options of the peers, 100,000 x 28",
        "higgs",
        _variants(),
        _variants()[0].key,
        {
            "quick": QUICK,
            "full": RaceSize(100_000, 20_000, 3, predict_rounds=0, single_row_calls=0),
        },
        noun=NOUN,
        note="Ours is not in it: it decides how the peers are called in the other parts.",
    ),
)
