"""Single trees: fit, accuracy, prediction, binning, import, memory and real tables."""

from __future__ import annotations

from typing import Any

from benchmarks.contestants.contestant import Contestant, ours
from benchmarks.parts.binning import BinningPart, BinningSize
from benchmarks.parts.fit import (
    FitPart,
    FitSize,
    answers_within,
    fits_faster,
    predicts_faster,
    scores_equal,
)
from benchmarks.parts.memory import MemoryPart, MemorySize
from benchmarks.parts.startup import StartupPart
from benchmarks.parts.tables import Duel, TablesPart, TablesSize
from benchmarks.report.markdown import Part

# scikit-learn's tree is the fastest with C-ordered float32, which it is given; it has one thread.
PEER = "scikit-learn, 1 thread"
PEER_HALVES = "scikit-learn, halves in 2 threads"


def _trees(estimator: str) -> tuple[Contestant, ...]:
    return (
        *(
            ours(search, estimator, split_finding=search, threads=threads)
            for search in ("hist", "exact")
            for threads in (1, 2)
        ),
        Contestant("scikit-learn", f"sklearn.tree:{estimator}", {"random_state": 0}),
    )


_CLASSIFIERS = _trees("DecisionTreeClassifier")
_HIST, _HIST_2, _EXACT, _EXACT_2 = (contestant.key for contestant in _CLASSIFIERS[:4])
_PROMISES = (
    fits_faster(_HIST, 10),
    fits_faster(_HIST_2, 10),
    fits_faster(_EXACT, 1),
    scores_equal(_HIST),
    scores_equal(_EXACT),
    predicts_faster(_HIST, PEER, 3),
    predicts_faster(_HIST_2, PEER_HALVES, 3),
    answers_within(_HIST, "core", 15),
    answers_within(_HIST, "predict", 100),
    answers_within(_HIST, "default", 100),
)


def _classification(
    name: str, title: str, problem: str, full: FitSize, promises: tuple[Any, ...] = ()
) -> FitPart:
    quick = FitSize(n_train=10_000, n_test=10_000, resamples=2, single_row_calls=500)
    sizes = {"quick": quick, "full": full}
    return FitPart(name, title, problem, _CLASSIFIERS, PEER, sizes, promises=promises)


def _duel(name: str, **params: Any) -> Duel:
    def sides(estimator: str) -> tuple[Contestant, Contestant]:
        path = f"sklearn.tree:{estimator}"
        theirs = Contestant("scikit-learn", path, {**params, "random_state": 0}, encode=True)
        return ours("", estimator, **params), theirs

    return Duel(name, sides("DecisionTreeClassifier"), sides("DecisionTreeRegressor"))


PARTS: tuple[Part, ...] = (
    _classification(
        "fit-100k",
        "Full-depth classification tree, 100,000 x 28",
        "higgs",
        FitSize(n_train=100_000, n_test=100_000, resamples=10),
        _PROMISES,
    ),
    _classification(
        "fit-1m",
        "Full-depth classification tree, 1,000,000 x 28",
        "higgs",
        FitSize(n_train=1_000_000, n_test=500_000, resamples=3),
        _PROMISES,
    ),
    _classification(
        "fit-s",
        "Full-depth classification tree, 20,000 x 20",
        "classification S",
        FitSize(n_train=20_000, n_test=20_000, resamples=5),
    ),
    _classification(
        "fit-m",
        "Full-depth classification tree, 100,000 x 100",
        "classification M",
        FitSize(n_train=100_000, n_test=100_000, resamples=3),
    ),
    FitPart(
        "regression",
        "Full-depth regression tree, squared error, 100,000 x 28",
        "higgs regression",
        _trees("DecisionTreeRegressor"),
        PEER,
        {
            "quick": FitSize(n_train=10_000, n_test=10_000, resamples=2, single_row_calls=500),
            "full": FitSize(n_train=100_000, n_test=100_000, resamples=5),
        },
        metric="rmse",
    ),
    BinningPart(
        "binning",
        "Binning, 1,000,000 x 28",
        {
            "quick": BinningSize(n_rows=50_000, processes=1, rounds=3),
            "full": BinningSize(n_rows=1_000_000, processes=3, rounds=5),
        },
    ),
    StartupPart(
        "import",
        "Import",
        before="import sklearn",
        statements=(
            "import committee",
            "from committee import DecisionTreeClassifier",
            "from sklearn.tree import DecisionTreeClassifier",
        ),
        limits={"import committee": 0.15},
        repeats={"quick": 3, "full": 7},
    ),
    MemoryPart(
        "memory",
        "Peak memory of fit, 1,000,000 x 28",
        "higgs",
        _CLASSIFIERS,
        {
            "quick": MemorySize(n_rows=50_000, repeats=1),
            "full": MemorySize(n_rows=1_000_000, repeats=1),
        },
    ),
    TablesPart(
        "tables",
        "Real tables",
        (
            _duel("full depth"),
            _duel("at least 20 rows a leaf", min_samples_leaf=20),
        ),
        {
            "quick": TablesSize(max_rows=2_000, resamples=2),
            "full": TablesSize(max_rows=60_000, resamples=3),
        },
    ),
)
