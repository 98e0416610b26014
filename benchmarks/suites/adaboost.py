"""AdaBoost: fit, scores, prediction, what a round costs, small and real tables.

Every figure of a promise was fixed before the first result. The only peer is scikit-learn, whose
stumps sort every feature anew in each round and use one thread: it is a weak one, so that what a
round costs for each row and feature stands beside it.
"""

from __future__ import annotations

from typing import Any

from benchmarks.contestants.contestant import Contestant, nested, ours
from benchmarks.parts.fit import fits_faster
from benchmarks.parts.race import RacePart, RaceSize, predicts_faster_than_all, scores_as_well
from benchmarks.parts.repeated import Ratio, Repeats, SmallFitsPart
from benchmarks.parts.rounds import RoundsPart, RoundsSize
from benchmarks.parts.tables import Duel, TablesPart, TablesSize
from benchmarks.report.markdown import Part

_ROUNDS = 200
_BINS: dict[str, Any] = {"n_estimators": _ROUNDS, "split_finding": "hist"}
_EXACT: dict[str, Any] = {"n_estimators": _ROUNDS, "split_finding": "exact"}
_QUICK = RaceSize(n_train=2_000, n_test=2_000, resamples=2, single_row_calls=20)


def _ours(label: str, threads: int, /, **params: Any) -> Contestant:
    return ours(label, "AdaBoostClassifier", threads=threads, random_state=0, **params)


_STUMPS, _STUMPS_1 = (_ours("stumps", threads, **_BINS) for threads in (2, 1))
_EXACT_STUMPS, _EXACT_STUMPS_1 = (_ours("exact stumps", threads, **_EXACT) for threads in (2, 1))
_SKLEARN = Contestant(
    "scikit-learn", "sklearn.ensemble:AdaBoostClassifier", {"random_state": 0, "n_estimators": 200}
)


def _race(name: str, title: str, problem: str, full: RaceSize) -> RacePart:
    four = (_STUMPS, _STUMPS_1, _EXACT_STUMPS, _EXACT_STUMPS_1)
    return RacePart(
        name,
        title,
        problem,
        (*four, _SKLEARN),
        _SKLEARN.key,
        {"quick": _QUICK, "full": full},
        noun="committee",
        promises=(
            *(fits_faster(each.key, 100) for each in (_STUMPS, _STUMPS_1)),
            *(fits_faster(each.key, 20) for each in (_EXACT_STUMPS, _EXACT_STUMPS_1)),
            *scores_as_well(_STUMPS.key, _SKLEARN.key, "accuracy", "auc", "log_loss"),
            *scores_as_well(_EXACT_STUMPS.key, _SKLEARN.key, "accuracy", "auc", "log_loss"),
            predicts_faster_than_all(_STUMPS.key, (_SKLEARN.key,), 20),
            predicts_faster_than_all(_STUMPS_1.key, (_SKLEARN.key,), 20),
        ),
    )


# ---- AdaBoost.R2: trees of depth 3, rows drawn ----

_R2 = ours("R2", "AdaBoostRegressor", threads=2, random_state=0)
_R2_1 = ours("R2", "AdaBoostRegressor", threads=1, random_state=0)
_SKLEARN_R2 = Contestant(
    "scikit-learn R2", "sklearn.ensemble:AdaBoostRegressor", {"random_state": 0}
)

# ---- deeper trees, and learners of other libraries ----

_DEPTH_3 = _ours(
    "depth 3",
    2,
    n_estimators=50,
    calibration=None,
    estimator=nested("committee:DecisionTreeClassifier", max_depth=3),
)
_SKLEARN_DEPTH_3 = Contestant(
    "scikit-learn depth 3",
    "sklearn.ensemble:AdaBoostClassifier",
    {
        "random_state": 0,
        "n_estimators": 50,
        "estimator": nested("sklearn.tree:DecisionTreeClassifier", max_depth=3),
    },
)

# ---- 569 x 30: at the defaults but for the number of rounds, and without calibration ----

_SMALL = tuple(
    _ours(label, threads, n_estimators=_ROUNDS, **params)
    for label, params in (("", {}), ("without calibration", {"calibration": None}))
    for threads in (1, 2)
)


def _duel(name: str, n_estimators: int, **params: Any) -> Duel:
    settings = {"n_estimators": n_estimators, "random_state": 0}
    return Duel(
        name,
        (
            _ours("", 2, n_estimators=n_estimators, **params),
            Contestant(
                "scikit-learn",
                "benchmarks.contestants.adaboosts:prepared_classifier",
                settings,
                package="sklearn",
            ),
        ),
        (
            ours("", "AdaBoostRegressor", threads=2, **settings),
            Contestant(
                "scikit-learn",
                "benchmarks.contestants.adaboosts:prepared_regressor",
                settings,
                package="sklearn",
            ),
        ),
    )


PARTS: tuple[Part, ...] = (
    _race(
        "stumps-s",
        "AdaBoost, 200 stumps, 20,000 x 20",
        "classification S",
        RaceSize(n_train=20_000, n_test=20_000, resamples=5, single_row_calls=200),
    ),
    _race(
        "stumps-100k",
        "AdaBoost, 200 stumps, 100,000 x 28",
        "higgs",
        RaceSize(n_train=100_000, n_test=100_000, resamples=3, single_row_calls=200),
    ),
    RacePart(
        "depth",
        "AdaBoost, 50 trees of depth 3, 20,000 x 20",
        "classification S",
        (_DEPTH_3, _SKLEARN_DEPTH_3),
        _SKLEARN_DEPTH_3.key,
        {"quick": _QUICK, "full": RaceSize(20_000, 20_000, resamples=3, single_row_calls=0)},
        noun="committee",
        promises=(*scores_as_well(_DEPTH_3.key, _SKLEARN_DEPTH_3.key, "accuracy"),),
    ),
    RacePart(
        "regression",
        "AdaBoost.R2, 50 trees of depth 3, 20,000 x 20",
        "higgs regression S",
        (_R2, _R2_1, _SKLEARN_R2),
        _SKLEARN_R2.key,
        {"quick": _QUICK, "full": RaceSize(20_000, 20_000, resamples=5, single_row_calls=0)},
        metric="rmse",
        noun="committee",
        promises=(*scores_as_well(_R2.key, _SKLEARN_R2.key, "rmse"),),
    ),
    RoundsPart(
        "rounds",
        "What a round costs",
        (_STUMPS_1, _EXACT_STUMPS_1),
        {
            "quick": RoundsSize((1_000, 2_000), (8, 16), (5, 25), repeats=1),
            "full": RoundsSize((10_000, 30_000, 100_000, 300_000), (10, 30, 90), (10, 60), 2),
        },
        most_spread=2.0,
    ),
    SmallFitsPart(
        "small",
        "Small table, 569 x 30, 200 rounds",
        "breast cancer",
        (*_SMALL, _SKLEARN),
        {"quick": Repeats(n_rows=569, rounds=2), "full": Repeats(n_rows=569, rounds=10)},
        tuple(Ratio(each.key, _SKLEARN.key, 1 / 20) for each in _SMALL),
    ),
    TablesPart(
        "tables",
        "Real tables: log loss of probabilities, RMSE",
        (_duel("50 rounds", 50), _duel("200 rounds", 200)),
        {
            "quick": TablesSize(max_rows=300, resamples=2, max_tables=3),
            "full": TablesSize(max_rows=12_000, resamples=2),
        },
        class_metric="log_loss",
    ),
)
