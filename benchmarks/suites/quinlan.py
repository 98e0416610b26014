"""ID3 and C4.5: speed on levels, against a port in Python, and error rates beside published ones.

imodels runs in an environment of its own, named by COMMITTEE_IMODELS_PYTHON.
"""

from __future__ import annotations

from benchmarks.contestants.contestant import Contestant, nested, ours
from benchmarks.parts.ensembles import EnsemblesPart, EnsemblesSize
from benchmarks.parts.levels import LevelsPart, LevelsSize
from benchmarks.parts.published import PublishedPart, PublishedSize
from benchmarks.report.markdown import Part

IMODELS_PYTHON = "COMMITTEE_IMODELS_PYTHON"

_ID3 = ours("ID3", "ID3Classifier")
_C45 = ours("C4.5", "C45Classifier")
_GROUPED = ours("C4.5, grouped levels", "C45Classifier", category_split="grouped")
_CART = ours("CART, entropy", "DecisionTreeClassifier", criterion="entropy")
_IMODELS = Contestant(
    "imodels C4.5",
    "imodels:C45TreeClassifier",
    {"max_rules": 10**9},
    python_variable=IMODELS_PYTHON,
)

_BAGGED = "committee bagged C4.5"
_MEMBER = "committee:C45Classifier"
_ENSEMBLES = tuple(
    contestant
    for threads in (1, 2)
    for contestant in (
        ours(
            "bagged C4.5",
            "BaggingClassifier",
            threads=threads,
            estimator=nested(_MEMBER),
            n_estimators=50,
            random_state=0,
        ),
        ours(
            "boosted C4.5",
            "AdaBoostClassifier",
            threads=threads,
            estimator=nested(_MEMBER, n_jobs=threads),
            n_estimators=50,
            random_state=0,
        ),
    )
)

# C4.5 Release 8: J. R. Quinlan, Bagging, Boosting, and C4.5, AAAI 1996, table 1. Quoted from
# memory; nobody has checked them against the paper.
_PUBLISHED = {
    "car_evaluation": None,
    "kr_vs_kp": None,
    "credit_g": 28.44,
    "pima_diabetes": 25.39,
    "glass": 32.48,
    "letter": 11.99,
    "segment": 3.21,
    "soybean": 7.73,
    "vehicle": 27.09,
}

PARTS: tuple[Part, ...] = (
    LevelsPart(
        "levels",
        "A table of levels, 100,000 x 20",
        (
            _ID3,
            _C45,
            _GROUPED,
            _CART,
        ),
        {
            "quick": LevelsSize(n_rows=5_000, n_features=20, rounds=2),
            "full": LevelsSize(n_rows=100_000, n_features=20, rounds=5),
        },
        limit=2.0,
    ),
    LevelsPart(
        "port",
        "A port in Python, 2,000 x 20",
        (_C45, _ID3, _IMODELS),
        {
            "quick": LevelsSize(n_rows=300, n_features=6, rounds=2),
            "full": LevelsSize(n_rows=2_000, n_features=20, rounds=3),
        },
        peer=_IMODELS.key,
        speed=50.0,
    ),
    PublishedPart(
        "published",
        "Error rates beside published ones",
        (
            _C45,
            _GROUPED,
            ours("C4.5, not pruned", "C45Classifier", pruning=None),
            _ID3,
            ours("CART", "DecisionTreeClassifier"),
            _CART,
        ),
        _PUBLISHED,
        "C4.5 Release 8, quoted from memory of Quinlan 1996 (Bagging, Boosting, and C4.5, AAAI, "
        "table 1) and not checked against the paper. The normal deviate of the pruning was chosen "
        "after J48's tree of pima_diabetes had been seen",
        {
            "quick": PublishedSize(repeats=1, max_rows=1_000),
            "full": PublishedSize(repeats=3, max_rows=25_000),
        },
        tolerance=0.5,
    ),
    EnsemblesPart(
        "ensembles",
        "Bagging and AdaBoost of 50 C4.5",
        _ENSEMBLES,
        ("soybean", "kr_vs_kp", "car_evaluation", "credit_g", "adult"),
        {
            "quick": EnsemblesSize(rounds=1, max_rows=2_000),
            "full": EnsemblesSize(rounds=3, max_rows=50_000),
        },
        share=0.7,
        promised=_BAGGED,
    ),
)
