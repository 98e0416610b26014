"""Stacks of a random forest, extra-trees and gradient boosting, of this library and scikit-learn.

Both have 100 trees in each forest, 100 rounds of boosting with a learning rate of 0.1, five folds
and logistic regression on top. All else is the default of the library.
"""

from __future__ import annotations

from typing import Any

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

N_FOLDS = 5


def own_members(n_jobs: int | None = None) -> list[tuple[str, Any]]:
    """Return the members of ours."""
    import committee

    return [
        ("forest", committee.RandomForestClassifier(100, n_jobs=n_jobs, random_state=0)),
        ("extra", committee.ExtraTreesClassifier(100, n_jobs=n_jobs, random_state=0)),
        (
            "boosting",
            committee.GradientBoostingClassifier(
                n_estimators=100, learning_rate=0.1, n_jobs=n_jobs, random_state=0
            ),
        ),
    ]


def own_stack(n_jobs: int, **params: Any) -> Any:
    """Return a stack of ours."""
    import committee

    return committee.StackingClassifier(
        own_members(), LogisticRegression(), cv=N_FOLDS, n_jobs=n_jobs, **params
    )


class _LimitedStack(StackingClassifier):
    """Keeps OpenMP to the number of threads that everybody has."""

    n_threads = 1

    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        with threadpool_limits(limits=self.n_threads):
            return super().fit(X, y, **params)

    def predict_proba(self, X: Any) -> Any:
        with threadpool_limits(limits=self.n_threads):
            return super().predict_proba(X)


class _TwoThreadStack(_LimitedStack):
    n_threads = 2


def peer_stack(n_jobs: int, side_by_side: bool = False, categorical: Any = "from_dtype") -> Any:
    """Return a stack of scikit-learn: members with all threads, or members side by side."""
    within = 1 if side_by_side else n_jobs
    kind = _LimitedStack if n_jobs == 1 else _TwoThreadStack
    return kind(
        [
            ("forest", RandomForestClassifier(100, n_jobs=within, random_state=0)),
            ("extra", ExtraTreesClassifier(100, n_jobs=within, random_state=0)),
            (
                "boosting",
                HistGradientBoostingClassifier(random_state=0, categorical_features=categorical),
            ),
        ],
        LogisticRegression(),
        cv=N_FOLDS,
        n_jobs=n_jobs if side_by_side else None,
    )


def prepared_peer_stack(n_jobs: int, side_by_side: bool = False, n_text: int = 0) -> Any:
    """Return a stack of scikit-learn for a raw table whose text columns are numbered once.

    Boosting is told which columns are categories; the forests take numbers of levels, and missing
    values as they are.
    """
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    is_text = make_column_selector(dtype_include=["category", "object", "string"])
    columns = make_column_transformer((encoder, is_text), remainder="passthrough")
    return make_pipeline(columns, peer_stack(n_jobs, side_by_side, list(range(n_text))))
