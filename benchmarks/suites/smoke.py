"""A few rows through every generic part: shows that the runner works, measures nothing of use."""

from __future__ import annotations

from benchmarks.contestants.contestant import Contestant, ours
from benchmarks.parts.fit import FitPart, FitSize, fits_faster, scores_equal
from benchmarks.parts.memory import MemoryPart, MemorySize
from benchmarks.parts.race import (
    RacePart,
    RaceSize,
    predicts_faster_than_all,
    scores_as_well,
    stores_within,
)
from benchmarks.parts.repeated import OperationsPart, Ratio, Repeats, SmallFitsPart
from benchmarks.report.markdown import Part

_CONTESTANTS = (
    ours("hist", "DecisionTreeClassifier", split_finding="hist", threads=2),
    Contestant("scikit-learn", "sklearn.tree:DecisionTreeClassifier", {"random_state": 0}),
)
_FIT = FitSize(n_train=300, n_test=200, resamples=1, predict_rounds=2, single_row_calls=20)
_RACE = RaceSize(n_train=300, n_test=200, resamples=2, predict_rounds=1, single_row_calls=20)
_MEMORY = MemorySize(n_rows=2000, repeats=1)
_REPEATS = Repeats(n_rows=300, rounds=2)
_OURS, _PEER = (contestant.key for contestant in _CONTESTANTS)

PARTS: tuple[Part, ...] = (
    FitPart(
        "fit",
        "A tiny tree",
        "higgs",
        _CONTESTANTS,
        _PEER,
        {"quick": _FIT, "full": _FIT},
        promises=(
            fits_faster(_OURS, 1),
            scores_equal(_OURS),
        ),
    ),
    MemoryPart(
        "memory",
        "Memory of a tiny tree",
        "higgs",
        _CONTESTANTS[:1],
        {"quick": _MEMORY, "full": _MEMORY},
    ),
    RacePart(
        "race",
        "A tiny tree in a process of its own",
        "higgs",
        _CONTESTANTS,
        _PEER,
        {"quick": _RACE, "full": _RACE},
        noun="tree",
        promises=(
            fits_faster(_OURS, 0.95),
            *scores_as_well(_OURS, _PEER, "log_loss", "auc"),
            predicts_faster_than_all(_OURS, (_PEER,), 2),
            stores_within(_OURS, 16),
        ),
    ),
    SmallFitsPart(
        "small",
        "Many tiny trees",
        "breast cancer",
        _CONTESTANTS,
        {"quick": _REPEATS, "full": _REPEATS},
        (Ratio(_OURS, _PEER, 1),),
    ),
    OperationsPart(
        "operations",
        "A tiny tree once more",
        "higgs",
        _CONTESTANTS[0],
        ("fit",),
        {"quick": _REPEATS, "full": _REPEATS},
    ),
)
