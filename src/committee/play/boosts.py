"""AdaBoost and gradient boosting: each member mends what those before it got wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee import AdaBoostClassifier, DecisionTreeClassifier, GradientBoostingClassifier
from committee.base.arrays import Floats
from committee.play.stages import Shares, Stages, Task, one_hot, split_text


def adaboost_stages(task: Task) -> Stages:
    """Boost stumps, or trees, by weights of points."""
    learner = DecisionTreeClassifier(
        max_depth=task.settings["max_depth"], criterion="error", n_jobs=1
    )
    model = AdaBoostClassifier(
        learner,
        n_estimators=task.n_rounds,
        learning_rate=task.settings["learning_rate"],
        keep_weights=True,
        calibration=None,
        random_state=task.seed,
        n_jobs=1,
    ).fit(task.X, task.y)

    def committee(places: Floats) -> Shares:
        return (_vote_shares(each) for each in model.staged_decision_function(places))

    def members(places: Floats) -> Shares:
        return (one_hot(each.predict(places), task.n_classes) for each in model.estimators_)

    trace = model.trace_
    rounds = [
        {
            "error": float(trace.error[number]),
            "beta": float(trace.beta[number]),
            "normalizer": float(trace.normalizer[number]),
            "learning_rate": task.settings["learning_rate"],
        }
        for number in range(len(trace))
    ]
    trees = [member.tree_ for member in model.estimators_]
    labels = [_rule(tree, task.names) for tree in trees]
    weights = np.asarray(trace.distributions, np.float64)
    return Stages(committee, members, weights, rounds, labels, trees)


def _vote_shares(scores: Floats) -> Floats:
    """Return shares of the weight of all votes.

    Scores add the weight of a vote to its class, take 1 / (K - 1) of it from the others, and divide
    by the weight of all votes; of two classes there is one score, of the second less the first.
    """
    if scores.ndim == 1:
        second = (scores / 2 + 1) / 2
        return np.column_stack([1 - second, second])
    n_classes = scores.shape[1]
    found: Floats = (scores * (n_classes - 1) + 1) / n_classes
    return found


def _rule(tree: Any, names: tuple[str, str]) -> str:
    if len(tree.feature) != 3:
        return f"{(len(tree.feature) + 1) // 2} leaves"
    return split_text(names, int(tree.feature[0]), float(tree.threshold[0]))


def boosting_stages(task: Task) -> Stages:
    """Boost trees by gradients of the log loss; the weight of a point is its residual."""
    rate, l2 = task.settings["learning_rate"], task.settings["l2_regularization"]
    model = GradientBoostingClassifier(
        n_estimators=task.n_rounds,
        learning_rate=rate,
        max_depth=task.settings["max_depth"],
        l2_regularization=l2,
        min_samples_leaf=1,
        random_state=task.seed,
        n_jobs=1,
    ).fit(task.X, task.y)
    trees = model.estimators_  # rounds x trees of a round
    start = np.bincount(task.y) / len(task.y)
    before = [np.broadcast_to(start, (len(task.y), task.n_classes))]
    before += list(model.staged_predict_proba(task.X))
    rows = np.arange(len(task.y))
    own = np.array([shares[rows, task.y] for shares in before])
    losses = -np.log(np.maximum(own, np.finfo(float).tiny)).mean(axis=1)
    largest = [float(max(np.abs(tree.tree_.value).max() for tree in each)) for each in trees]
    scale = max(largest) or 1.0

    def members(places: Floats) -> Shares:
        for each in trees:
            steps = np.column_stack([tree.predict(places) for tree in each])
            yield _step_shares(steps / scale)

    rounds = [
        {
            "loss_before": float(losses[number]),
            "loss": float(losses[number + 1]),
            "learning_rate": rate,
            "l2": l2,
            "scale": scale,
            "start": start.tolist(),
            "leaf": _steepest_leaf(task, each, before[number]),
        }
        for number, each in enumerate(trees)
    ]
    labels = [f"step {number}" for number in range(1, len(rounds) + 1)]
    every = [tree.tree_ for each in trees for tree in each]
    return Stages(model.staged_predict_proba, members, 1 - own[:-1], rounds, labels, every)


def _step_shares(steps: Floats) -> Floats:
    """Return steps of scores, of at most one, as shares: equal ones where nothing is added."""
    if steps.shape[1] == 1:
        second = (1 + steps[:, 0]) / 2
        return np.column_stack([1 - second, second])
    found: Floats = (1 + steps) / steps.shape[1]
    return found


def _steepest_leaf(task: Task, trees: Any, shares: Floats) -> dict[str, Any]:
    """Return the leaf with the largest sum of residuals, and how its value comes about."""
    best: dict[str, Any] = {"residuals": 0.0}
    for place, tree in enumerate(trees):
        label = 1 if len(trees) == 1 else place
        leaves = tree.apply(task.X)
        residuals = (task.y == label) - shares[:, label]
        curvature = shares[:, label] * (1 - shares[:, label])
        sums = np.bincount(leaves, residuals)
        leaf = int(np.argmax(np.abs(sums)))
        if abs(sums[leaf]) >= abs(best["residuals"]):
            best = {
                "class": label,
                "residuals": float(sums[leaf]),
                "curvature": float(np.bincount(leaves, curvature)[leaf]),
                "value": float(tree.tree_.value[leaf].ravel()[0]),
                "n_points": int(np.sum(leaves == leaf)),
            }
    return best
