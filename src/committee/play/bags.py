"""Bagging and forests: members fitted to drawn points, and what those left out say about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from committee import (
    BaggingClassifier,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from committee.base.arrays import Floats
from committee.play.stages import Shares, Stages, Task, error_of, one_hot


def bagging_stages(task: Task) -> Stages:
    """Bag trees."""
    tree = DecisionTreeClassifier(max_depth=task.settings["max_depth"], n_jobs=1)
    model = BaggingClassifier(
        tree,
        n_estimators=task.n_rounds,
        max_samples=task.settings["max_samples"],
        voting=task.settings["voting"],
        random_state=task.seed,
        n_jobs=1,
    ).fit(task.X, task.y)
    is_hard = task.settings["voting"] == "hard"

    def members(places: Floats) -> Shares:
        return (_shares(member, places, is_hard) for member in model.estimators_)

    def committee(places: Floats) -> Shares:
        total = np.zeros((len(places), task.n_classes))
        for number, shares in enumerate(members(places), start=1):
            total += shares
            yield total / number

    return _stages(task, model, committee, members)


def forest_stages(task: Task) -> Stages:
    """Grow a random forest, or extra-trees from drawn points."""
    kinds = {"best": RandomForestClassifier, "random": ExtraTreesClassifier}
    model = kinds[task.settings["thresholds"]](
        n_estimators=task.n_rounds,
        max_depth=task.settings["max_depth"],
        max_features=task.settings["max_features"],
        bootstrap=True,
        random_state=task.seed,
        n_jobs=1,
    ).fit(task.X, task.y)
    return _stages(
        task,
        model,
        model.staged_predict_proba,
        lambda places: (tree.predict_proba(places) for tree in model.estimators_),
    )


def _shares(member: Any, places: Floats, is_hard: bool) -> Floats:
    found: Floats = member.predict_proba(places)
    return one_hot(found.argmax(axis=1), found.shape[1]) if is_hard else found


def _stages(task: Task, model: Any, committee: Any, members: Any) -> Stages:
    n_points = len(task.y)
    drawn = np.array([np.bincount(rows, minlength=n_points) for rows in model.estimators_samples_])
    rounds = [
        {"n_points": n_points, "n_draws": int(counts.sum()), "n_left_out": int(sum(counts == 0))}
        | errors
        for counts, errors in zip(drawn, _unseen_errors(task, members, drawn), strict=True)
    ]
    labels = [f"tree {number}" for number in range(1, len(drawn) + 1)]
    trees = [member.tree_ for member in model.estimators_]
    return Stages(committee, members, drawn.astype(np.float64), rounds, labels, trees)


def _unseen_errors(task: Task, members: Any, drawn: Any) -> Iterator[dict[str, float | None]]:
    """Return out-of-bag errors of each member, and of the committee so far.

    Models have the errors of their members, but points of the curve only for some numbers of these.
    """
    votes = np.zeros((len(task.y), task.n_classes))
    for counts, shares in zip(drawn, members(task.X), strict=True):
        is_out = counts == 0
        votes[is_out] += shares[is_out]
        has_votes = votes.sum(axis=1) > 0
        yield {
            "member_oob_error": error_of(shares[is_out], task.y[is_out]),
            "oob_error": error_of(votes[has_votes], task.y[has_votes]),
        }
