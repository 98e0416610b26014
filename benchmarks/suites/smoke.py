"""A few rows through every generic part: shows that the runner works, measures nothing of use."""

from __future__ import annotations

from parts.fit import FitPart, FitSize, fits_faster, scores_equal
from parts.memory import MemoryPart, MemorySize
from peers import Contestant, ours
from report import Part

_CONTESTANTS = (
    ours("hist", "DecisionTreeClassifier", split_finding="hist", threads=2),
    Contestant("scikit-learn", "sklearn.tree:DecisionTreeClassifier", {"random_state": 0}),
)
_FIT = FitSize(n_train=300, n_test=200, resamples=1, predict_rounds=2, single_row_calls=20)
_MEMORY = MemorySize(n_rows=2000, repeats=1)

PARTS: tuple[Part, ...] = (
    FitPart(
        "fit",
        "A tiny tree",
        "higgs",
        _CONTESTANTS,
        "scikit-learn, 1 thread",
        {"quick": _FIT, "full": _FIT},
        promises=(
            fits_faster("committee hist, 2 threads", 1),
            scores_equal("committee hist, 2 threads"),
        ),
    ),
    MemoryPart(
        "memory",
        "Memory of a tiny tree",
        "higgs",
        _CONTESTANTS[:1],
        {"quick": _MEMORY, "full": _MEMORY},
    ),
)
