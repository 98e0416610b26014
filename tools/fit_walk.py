"""Shows which files of the package a fit enters, in the order in which it enters them.

Run `python tools/fit_walk.py` for a line a fit with the number of files, or name fits (forest,
boosting, stack) to see the files, and the functions of each in the order of their first calls.

Only calls count: a file that is merely imported is not entered. The first fit is not looked at,
because it also imports modules and fills caches.
"""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import committee

PACKAGE = Path(committee.__file__).parent
# How many files each fit should enter at most; tests/test_walks.py holds what is reached.
GOALS = {"forest": 12, "boosting": 18, "stack": 20}


def estimators() -> dict[str, Any]:
    forest = committee.RandomForestClassifier(5, random_state=0, n_jobs=1)
    members = [("forest", forest), ("logistic", LogisticRegression())]
    return {
        "forest": forest,
        "boosting": committee.GradientBoostingClassifier(random_state=0, n_jobs=1),
        "stack": committee.StackingClassifier(members, random_state=0, n_jobs=1),
    }


def walk(estimator: Any) -> dict[str, list[str]]:
    """Fit once unobserved, then again; return the functions called in each file, in order."""
    X, y = make_classification(200, random_state=0)
    estimator.fit(X, y)
    entered: dict[str, list[str]] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            functions = entered.setdefault(path.relative_to(PACKAGE).as_posix(), [])
            name = frame.f_code.co_qualname
            if "<" not in name and name not in functions:
                functions.append(name)

    sys.setprofile(note)
    try:
        estimator.fit(X, y)
    finally:
        sys.setprofile(None)
    return entered


def main(names: list[str]) -> None:
    for name, estimator in estimators().items():
        files = walk(estimator)
        if not names or name in names:
            print(f"{name}: {len(files)} files (goal {GOALS[name]})")
        if name in names:
            for file, functions in files.items():
                print(f"  {file}: {', '.join(functions)}")


if __name__ == "__main__":
    main(sys.argv[1:])
