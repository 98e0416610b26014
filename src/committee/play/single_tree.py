"""A tree, grown split by split: the next split is the one that gains most."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from committee import DecisionTreeClassifier
from committee.base.arrays import Floats
from committee.play.stages import Shares, Stages, Task, split_text


def tree_stages(task: Task) -> Stages:
    """Grow trees of two, three, ... leaves; each has one split more than the one before."""
    trees: list[Any] = []
    for n_splits in range(1, task.n_rounds + 1):
        tree = DecisionTreeClassifier(
            criterion=task.settings["criterion"],
            min_samples_leaf=task.settings["min_samples_leaf"],
            max_leaf_nodes=n_splits + 1,
            n_jobs=1,
        ).fit(task.X, task.y)
        if tree.get_n_leaves() <= n_splits:  # nothing is left to split
            break
        trees.append(tree)
    if not trees:
        raise ValueError("the tree has no split: no line across or up parts these points")
    splits = _newest_splits([tree.tree_ for tree in trees])

    def committee(places: Floats) -> Shares:
        return (tree.predict_proba(places) for tree in trees)

    def members(places: Floats) -> Shares:
        return (_halves(*each, places) for each in zip(trees, splits, strict=True))

    inside = [
        np.asarray(tree.decision_path(task.X)[:, node].toarray().ravel(), np.float64)
        for tree, node in zip(trees, splits, strict=True)
    ]
    rounds = [_numbers(tree.tree_, node) for tree, node in zip(trees, splits, strict=True)]
    labels = [split_text(task.names, each["feature"], each["threshold"]) for each in rounds]
    return Stages(committee, members, np.array(inside), rounds, labels, trees=[trees[-1].tree_])


# The way from the root to a node: feature, threshold and side of each split on it.
Path = tuple[tuple[int, float, str], ...]


def _newest_splits(trees: list[Any]) -> list[int]:
    """Return, of each tree, the split that the tree before does not have."""
    found, before = [], set[Path]()
    for tree in trees:
        splits = dict(_splits(tree))
        (newest,) = splits.keys() - before
        found.append(splits[newest])
        before = set(splits)
    return found


def _splits(tree: Any, node: int = 0, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """Yield the way to each split of a tree, and its node."""
    if tree.children_left[node] < 0:
        return
    yield path, node
    split = int(tree.feature[node]), float(tree.threshold[node])
    for side in ("left", "right"):
        child = int(getattr(tree, f"children_{side}")[node])
        yield from _splits(tree, child, (*path, (*split, side)))


def _halves(tree: Any, node: int, places: Floats) -> Floats:
    """Return the shares of the two new leaves in their places, and equal ones elsewhere."""
    found = np.full((len(places), len(tree.classes_)), 1 / len(tree.classes_))
    is_inside = tree.decision_path(places)[:, node].toarray().ravel() > 0
    found[is_inside] = tree.predict_proba(places[is_inside])
    return found


def _numbers(tree: Any, node: int) -> dict[str, Any]:
    left, right = int(tree.children_left[node]), int(tree.children_right[node])
    sides = {"node": node, "left": left, "right": right}
    n_rows = {name: int(tree.n_node_samples[at]) for name, at in sides.items()}
    impurity = {name: float(tree.impurity[at]) for name, at in sides.items()}
    rest = sum(n_rows[side] * impurity[side] for side in ("left", "right")) / n_rows["node"]
    return {
        "feature": int(tree.feature[node]),
        "threshold": float(tree.threshold[node]),
        "n": n_rows,
        "impurity": impurity,
        "gain": impurity["node"] - rest,
        "n_leaves": (len(tree.feature) + 1) // 2,
    }
