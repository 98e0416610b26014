"""Voting and stacking: a few different models, and how their predictions become one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from committee import (
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from committee.base.arrays import Floats
from committee.play.stages import Shares, Stages, Task, error_of, one_hot

_NEIGHBORS = 7

# Members by their names: the words of the page, and how one is made for so many points and a seed.
MEMBERS: dict[str, tuple[str, Callable[[int, int], Any]]] = {
    "tree": ("Tree", lambda n, seed: DecisionTreeClassifier(max_depth=4, n_jobs=1)),
    "logistic": (
        "Logistic regression",
        lambda n, seed: make_pipeline(StandardScaler(), LogisticRegression()),
    ),
    "neighbors": (
        "Neighbours",
        lambda n, seed: make_pipeline(
            StandardScaler(), KNeighborsClassifier(max(1, min(_NEIGHBORS, n // 2)))
        ),
    ),
    "bayes": ("Naive Bayes", lambda n, seed: GaussianNB()),
    "forest": (
        "Forest",
        lambda n, seed: RandomForestClassifier(n_estimators=20, random_state=seed, n_jobs=1),
    ),
    "boosting": (
        "Boosting",
        lambda n, seed: GradientBoostingClassifier(
            n_estimators=20, max_depth=2, min_samples_leaf=1, random_state=seed, n_jobs=1
        ),
    ),
}


def _team(task: Task) -> list[tuple[str, Any]]:
    """Return unfitted members."""
    return [(name, MEMBERS[name][1](len(task.y), task.seed)) for name in task.settings["members"]]


def voting_stages(task: Task) -> Stages:
    """Let the first member vote, the first two, and so on."""
    rule = task.settings["voting"]
    weights = [task.settings["weights"][name] for name, _ in _team(task)]
    fitted = [(name, member.fit(task.X, task.y)) for name, member in _team(task)]
    votes = [
        VotingClassifier(
            fitted[:number], voting=rule, weights=weights[:number], cv="prefit", n_jobs=1
        ).fit(task.X, task.y)
        for number in range(1, len(fitted) + 1)
    ]

    def members(places: Floats) -> Shares:
        for _, member in fitted:
            shares = member.predict_proba(places)
            yield one_hot(shares.argmax(axis=1), task.n_classes) if rule == "hard" else shares

    def committee(places: Floats) -> Shares:
        return (vote.predict_proba(places) for vote in votes)

    rounds = [
        {"weight": weights[number], "total": sum(weights[: number + 1])}
        for number in range(len(fitted))
    ]
    labels = [MEMBERS[name][0] for name, _ in fitted]
    return Stages(committee, members, np.zeros((len(fitted), len(task.y))), rounds, labels)


def stacking_stages(task: Task) -> Stages:
    """Show each member with its predictions of points it has not seen, and last the stack."""
    if np.bincount(task.y).min() < 2:
        raise ValueError("stacking needs two points of each class or more, one of them in a fold")
    members_of_team = _team(task)
    final = task.settings["final"]
    stack = StackingClassifier(
        members_of_team,
        final_estimator="convex" if final == "convex" else None,
        cv=task.settings["folds"],
        stack_method="predict_proba",
        keep_level_one=True,
        random_state=task.seed,
        n_jobs=1,
    ).fit(task.X, task.y)

    def each(places: Floats) -> Shares:
        yield from (member.predict_proba(places) for member in stack.estimators_)
        yield stack.predict_proba(places)

    unseen = [*_level_one(stack, task), stack.predict_proba(task.X)]
    rounds: list[dict[str, Any]] = [
        {"fold_error": error_of(shares, task.y), "folds": task.settings["folds"]}
        for shares in unseen[:-1]
    ]
    rounds.append({"final": final, **_coefficients(stack, task.n_classes)})
    labels = [*(MEMBERS[name][0] for name, _ in members_of_team), "Stack"]
    weights = np.zeros((len(rounds), len(task.y)))
    return Stages(each, each, weights, rounds, labels, unseen=unseen)


def _level_one(stack: Any, task: Task) -> list[Floats]:
    """Return what each member predicts for points that its fit has not seen."""
    columns = stack.level_one_
    if task.n_classes == 2:
        return [np.column_stack([1 - column, column]) for column in columns.T]
    parts: list[Floats] = np.split(columns, len(task.settings["members"]), axis=1)
    return parts


def _coefficients(stack: Any, n_classes: int) -> dict[str, Any]:
    """Return how much the meta-learner makes of each member; of its formula for two classes."""
    final = stack.final_estimator_
    if hasattr(final, "weights_"):
        return {"coefficients": final.weights_.tolist(), "intercept": 0.0}
    n_members = len(stack.estimators_)
    if n_classes == 2:
        return {"coefficients": final.coef_[0].tolist(), "intercept": float(final.intercept_[0])}
    sizes = np.abs(final.coef_).reshape(n_classes, n_members, n_classes).mean(axis=(0, 2))
    return {"coefficients": sizes.tolist(), "intercept": None}
